/* Steps and signposts as rows of the time line: from the first launch of the first op behind one to the last before the next.
 * A row here has `names`, and no core. */

import { answers } from "./answers.js";
import { lowerBound } from "./data.js";
import { opOf } from "./places.js";

function isStep(name) {
  return /^step \d/.test(name); /* as devlog_step writes them */
}

/* [{ op, start, end }] of the first chip, by op: times on the axis. */
function launchesByOp(model) {
  const list = [], row = model.tops[0];
  for (const lane of row ? row.lanes : [])
    for (let i = 0; i < lane.n; i++) {
      const launch = model.launches[lane.launch[i]];
      if (launch) list.push({ op: opOf(launch), start: lane.start[i] * row.scale + row.offset, end: lane.end[i] * row.scale + row.offset });
    }
  return list.sort((a, b) => a.op - b.op || a.start - b.start);
}

function rowOf(model, risc, parts) { /* its index: no other row has it */
  const n = parts.length, row = { core: null, chip: model.tops[0].chip, risc, lanes: [], scale: 1, offset: 0, from: 0, index: -2 - model.ranges.length, host: false, names: parts.map((p) => p.name) };
  row.lanes.push({
    row, level: 0, points: false, n, start: Float64Array.from(parts.map((p) => p.start)), end: Float64Array.from(parts.map((p) => p.end)),
    site: new Uint32Array(n), launch: Int32Array.from(parts, (_, i) => -1 - (i & 1)) /* of none; two greys in turn */,
  });
  return row;
}

/** @returns {{ name: string, start: number, end: number }[]} each of these points with its launches, which are in the order of their ops; those
 * in time order that have any. */
function parts(points, launches) {
  /** @type {{ name: string, start: number, end: number }[]} */
  const found = [];
  const ops = launches.map((l) => l.op);
  points.forEach(([name, op], k) => {
    const until = k + 1 < points.length ? points[k + 1][1] : Infinity;
    let start = Infinity, end = -Infinity;
    for (let i = lowerBound(ops, op); i < ops.length && ops[i] < until; i++) [start, end] = [Math.min(start, launches[i].start), Math.max(end, launches[i].end)];
    if (start <= end) found.push({ name, start, end });
  });
  found.sort((a, b) => a.start - b.start);
  for (let i = 1; i < found.length; i++) found[i - 1].end = Math.min(found[i - 1].end, found[i].start);
  return found;
}

export function addRanges(model) {
  model.ranges = [];
  const points = answers.all.points || [];
  if (!points.length || answers.made || !model.tops.length) return;
  const launches = launchesByOp(model);
  const steps = parts(points.filter((p) => isStep(p[0])), launches);
  /* A signpost goes on to the next point of any kind. */
  const all = parts(points, launches).filter((p) => !isStep(p.name));
  if (steps.length) model.ranges.push(rowOf(model, "steps", steps));
  if (all.length) model.ranges.push(rowOf(model, "signposts", all));
}
