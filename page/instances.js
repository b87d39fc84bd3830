/* Instances of one zone: which there are, how long each took, and what they are together; bins of their durations. Of the
 * intervals that are in the page, in cycles. Knows nothing of how it is shown. */

import { lowerBound, upperBound } from "./data.js";

const BINS = 60;

/* The first and the last number of a lane's intervals that overlap range, [from, to] on the axis; null: all of them. */
export function withinLane(lane, range) {
  if (!range) return [0, lane.n];
  const { scale, offset } = lane.row;
  return [upperBound(lane.end, (range[0] - offset) / scale), lowerBound(lane.start, (range[1] - offset) / scale)];
}

/* Instances of the zone `name` on a chip: on one core, one RISC, in a part of the axis, or (null) on all of them. Lane and
 * number in it of each, by row and lane: { lanes, of: lane's number, at, length, n }. */
export function instancesOf(model, { name, chip, core = null, risc = null, range = null }) {
  const wanted = Uint8Array.from(model.sites.map((s) => (s.name === name ? 1 : 0))), lanes = [];
  let room = 0;
  for (const row of model.rows) {
    if (row.chip !== chip || (core && row.core !== core) || (risc && row.risc !== risc)) continue;
    for (const lane of row.lanes) {
      if (lane.points) continue;
      const [from, to] = withinLane(lane, range);
      if (to > from) lanes.push({ lane, from, to });
      room += Math.max(0, to - from);
    }
  }
  const of = new Uint32Array(room), at = new Int32Array(room), length = new Float64Array(room);
  let n = 0;
  lanes.forEach(({ lane, from, to }, k) => {
    const { site, start, end } = lane;
    for (let i = from; i < to; i++) {
      if (!wanted[site[i]]) continue;
      of[n] = k;
      at[n] = i;
      length[n++] = end[i] - start[i];
    }
  });
  return { lanes: lanes.map((l) => l.lane), of: of.subarray(0, n), at: at.subarray(0, n), length: length.subarray(0, n), n };
}

export function itemOf(found, k) {
  return { lane: found.lanes[found.of[k]], i: found.at[k] };
}

/* Where an instance begins, on the axis. */
export function startOf(found, k) {
  const lane = found.lanes[found.of[k]];
  return lane.start[found.at[k]] * lane.row.scale + lane.row.offset;
}

/* Of values in order: the one that this part of them does not pass. */
function rank(sorted, part) {
  return sorted[Math.max(0, Math.ceil(sorted.length * part) - 1)];
}

/* Null: there is none. */
export function figuresOf(lengths) {
  const n = lengths.length;
  if (!n) return null;
  const sorted = Float64Array.from(lengths).sort();
  let sum = 0;
  for (const v of sorted) sum += v;
  return { count: n, sum, average: sum / n, min: sorted[0], median: (sorted[(n - 1) >> 1] + sorted[n >> 1]) / 2, p95: rank(sorted, 0.95), p99: rank(sorted, 0.99), max: sorted[n - 1] };
}

/* The number of the instance that is longest; whose duration is nearest to the median, the first of them. -1: there is none. */
export function extremeOf(found, which) {
  const figures = figuresOf(found.length);
  if (!figures) return -1;
  const goal = which === "max" ? figures.max : which === "min" ? figures.min : figures.median;
  let best = 0;
  for (let k = 1; k < found.n; k++) if (Math.abs(found.length[k] - goal) < Math.abs(found.length[best] - goal)) best = k;
  return best;
}

/* The number of the instance that begins next after (1) or before (-1) the one at `item`, over all cores; null: the first or
 * last of all. -1: there is none. */
export function besideOf(found, item, step) {
  if (!item) {
    let end = found.n ? (step > 0 ? 0 : found.n - 1) : -1;
    for (let k = 0; k < found.n; k++) if ((startOf(found, end) - startOf(found, k)) * step > 0) end = k;
    return end;
  }
  const from = item.lane.start[item.i] * item.lane.row.scale + item.lane.row.offset;
  let own = step > 0 ? -1 : found.n, best = -1, least = Infinity;
  for (let k = 0; k < found.n; k++) if (found.at[k] === item.i && found.lanes[found.of[k]] === item.lane) own = k;
  for (let j = 0; j < found.n; j++) {
    const k = step > 0 ? j : found.n - 1 - j, away = (startOf(found, k) - from) * step;
    if (away < 0 || away >= least || (away === 0 && (k - own) * step <= 0)) continue; /* what begins with it goes by its number */
    [best, least] = [k, away];
  }
  return best;
}

/* Edges of bins over low..high in whole cycles: equally wide, or equally wide in the logarithm. The last is behind high. */
export function edgesOf(low, high, log) {
  const edges = [low];
  if (!log) {
    const width = Math.max(1, Math.ceil((high - low + 1) / BINS));
    while (edges[edges.length - 1] <= high) edges.push(edges[edges.length - 1] + width);
    return edges;
  }
  const first = Math.max(1, low), by = Math.pow((high + 1) / first, 1 / BINS);
  for (let i = 1; edges[edges.length - 1] <= high; i++) {
    const next = Math.round(first * Math.pow(by, i));
    if (next > edges[edges.length - 1]) edges.push(next);
  }
  return edges;
}

/* The bin that a value is in; -1, or as many as there are: in none. */
export function binOf(edges, value) {
  return upperBound(edges, value) - 1;
}

/* How many values each bin has, and how many cycles they are together. */
export function binsOf(values, edges) {
  const n = edges.length - 1, counts = new Array(n).fill(0), times = new Array(n).fill(0);
  for (const v of values) {
    const i = binOf(edges, v);
    if (i < 0 || i >= n) continue;
    counts[i]++;
    times[i] += v;
  }
  return { counts, times };
}

/* Of each core, or each RISC, that has instances: [{ key, core, risc, count, sum, median, max, k: its longest }], the largest
 * median first. */
export function groupsOf(found, by) {
  const numbers = new Map(), keys = [], group = found.lanes.map(({ row }) => {
    const key = by === "core" ? row.core : row.risc;
    if (!numbers.has(key)) numbers.set(key, keys.push(key) - 1);
    return numbers.get(key);
  });
  const counts = new Uint32Array(keys.length), longest = new Int32Array(keys.length).fill(-1);
  for (let k = 0; k < found.n; k++) {
    const g = group[found.of[k]];
    counts[g]++;
    if (longest[g] < 0 || found.length[k] > found.length[longest[g]]) longest[g] = k;
  }
  const lengths = Array.from(counts, (n) => new Float64Array(n)), filled = new Uint32Array(keys.length);
  for (let k = 0; k < found.n; k++) {
    const g = group[found.of[k]];
    lengths[g][filled[g]++] = found.length[k];
  }
  return keys.map((key, g) => ({ key, k: longest[g], figures: figuresOf(lengths[g]) })).filter((g) => g.figures)
    .map(({ key, k, figures }) => ({ key, count: figures.count, sum: figures.sum, median: figures.median, max: figures.max, k })).sort((a, b) => b.median - a.median || b.max - a.max);
}

/* Numbers of the `most` longest instances of which `wanted` (of a length) is true, the longest first, then by time; and how many there are
 * in all: { list, n }. Not by sorting all of them: there may be millions. */
export function longestOf(found, most, wanted) {
  const before = (a, b) => found.length[b] - found.length[a] || startOf(found, a) - startOf(found, b) || a - b;
  let list = [], n = 0, least = -1; /* what is shorter is not among them */
  for (let k = 0; k < found.n; k++) {
    const length = found.length[k];
    if (!wanted(length)) continue;
    n++;
    if (length < least) continue;
    list.push(k);
    if (list.length < most * 8) continue;
    list = list.sort(before).slice(0, most);
    least = found.length[list[most - 1]];
  }
  return { list: list.sort(before).slice(0, most), n };
}
