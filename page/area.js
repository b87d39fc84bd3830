/* Statistics of a part of the time line, all rows or some: by zone, with the time of a zone itself, and by row. Times are on
 * the axis and inside the part. Knows nothing of how it is shown. */

import { lowerBound, upperBound } from "./data.js";
import { atOnce } from "./slices.js";

const STEP = 8192; /* intervals */

/* What is counted of one row, by site; `met`: the sites of which there are any, as they came. */
function counters(n) {
  return { count: new Uint32Array(n), time: new Float64Array(n), self: new Float64Array(n), met: [] };
}

/* Counts intervals from..to of a lane, and what zones of `inner`, the line below, take of them; `at` is where to look on from there, and
 * comes back. a..b is the part, in cycles of the row. */
function count(sums, lane, from, to, inner, at, a, b) {
  const { start, end, site } = lane, { count: counts, time: times, self: selves, met } = sums;
  for (let i = from; i < to; i++) {
    const s = start[i], e = end[i], z = site[i], time = (e < b ? e : b) - (s > a ? s : a);
    let below = 0;
    if (inner) {
      const { start: starts, end: ends, n } = inner;
      for (; at < n && starts[at] < e && starts[at] < b; at++) {
        if (starts[at] < s || ends[at] > e) continue; /* of another */
        below += (ends[at] < b ? ends[at] : b) - (starts[at] > a ? starts[at] : a);
      }
    }
    if (!counts[z]++) met.push(z);
    times[z] += time;
    selves[z] += time - below;
  }
  return at;
}

/* Puts what was counted of a row to the zones of all, and makes its line; the counters are 0 again. */
function rowLine(model, zones, sums, row, length) {
  const line = { row, count: 0, time: 0, zone: null, length };
  let most = -Infinity;
  for (const z of sums.met) {
    const site = model.sites[z];
    if (!zones.has(site.name)) zones.set(site.name, { name: site.name, site, count: 0, time: 0, self: 0 });
    const sum = zones.get(site.name);
    sum.count += sums.count[z];
    sum.time += sums.time[z] * row.scale;
    sum.self += sums.self[z] * row.scale;
    line.count += sums.count[z];
    if (sums.self[z] > most) [line.zone, most] = [site, sums.self[z]];
    sums.count[z] = sums.time[z] = sums.self[z] = 0;
  }
  sums.met = [];
  return line;
}

/* How much of a..b the zones of a line cover. */
function covered({ start, end }, from, to, a, b) {
  let sum = 0;
  for (let i = from; i < to; i++) sum += Math.min(end[i], b) - Math.max(start[i], a);
  return sum;
}

/* { zones: [{ name, site, count, time, self }] most time first, rows: [{ row, count, time: covered by zones, zone: the one with
 * most time in it itself, length }] as they lie, count }; `rows`: null: all. Step by step: yields how many intervals one was. */
export function* areaSteps(model, t0, t1, rows) {
  const zones = new Map(), list = [], sums = counters(model.sites.length);
  let all = 0;
  for (const row of model.rows) {
    if (rows && !rows.has(row)) continue;
    const a = (t0 - row.offset) / row.scale, b = (t1 - row.offset) / row.scale;
    let time = 0;
    for (const lane of row.lanes) {
      if (lane.points) continue;
      const inner = row.lanes.find((l) => !l.points && l.level === lane.level + 1), stop = lowerBound(lane.start, b);
      let at = inner ? lowerBound(inner.end, a) : 0;
      for (let i = upperBound(lane.end, a); i < stop; i += STEP) {
        const to = Math.min(stop, i + STEP);
        at = count(sums, lane, i, to, inner, at, a, b);
        if (lane.level === 0) time += covered(lane, i, to, a, b) * row.scale;
        yield to - i;
      }
    }
    const line = rowLine(model, zones, sums, row, t1 - t0);
    if (!line.count) continue;
    all += line.count;
    list.push({ ...line, time });
  }
  return { zones: [...zones.values()].sort((x, y) => y.time - x.time), rows: list, count: all };
}

export function areaOf(model, t0, t1, rows) {
  return atOnce(areaSteps(model, t0, t1, rows));
}
