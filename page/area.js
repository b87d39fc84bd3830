/* Statistics of a part of the time line, all rows or some: by zone, with the time of a zone itself, and by row. Times are on
 * the axis and inside the part. Knows nothing of how it is shown. */

import { lowerBound, upperBound } from "./data.js";

/* Of a lane's interval i: the part of a..b (cycles of its row) that it covers. */
function inside(lane, i, a, b) {
  return Math.min(lane.end[i], b) - Math.max(lane.start[i], a);
}

/* Time inside a..b that the zones of `inner` cover of the interval from..to of the line above; `at` is where to look on from,
 * and comes back. */
function nested(inner, from, to, a, b, at) {
  let sum = 0, i = at;
  for (; i < inner.n && inner.start[i] < to && inner.start[i] < b; i++) {
    if (inner.start[i] < from || inner.end[i] > to) continue; /* of another */
    sum += inside(inner, i, a, b);
  }
  return [sum, i];
}

/* { zones: [{ name, site, count, time, self }] most time first, rows: [{ row, count, time: covered by zones, zone: the one with
 * most time in it itself, length }] as they lie, count }; `rows`: null: all. */
export function areaOf(model, t0, t1, rows) {
  const zones = new Map(), list = [];
  let count = 0;
  for (const row of model.rows) {
    if (rows && !rows.has(row)) continue;
    const a = (t0 - row.offset) / row.scale, b = (t1 - row.offset) / row.scale, own = new Map();
    const line = { row, count: 0, time: 0, zone: null, length: t1 - t0 };
    for (const lane of row.lanes) {
      if (lane.points) continue;
      const inner = row.lanes.find((l) => !l.points && l.level === lane.level + 1);
      let at = inner ? lowerBound(inner.end, a) : 0;
      for (let i = upperBound(lane.end, a); i < lane.n && lane.start[i] < b; i++) {
        const site = model.sites[lane.site[i]], time = inside(lane, i, a, b);
        let below = 0;
        if (inner) [below, at] = nested(inner, lane.start[i], lane.end[i], a, b, at);
        const sum = zones.get(site.name) || { name: site.name, site, count: 0, time: 0, self: 0 };
        sum.count++;
        sum.time += time * row.scale;
        sum.self += (time - below) * row.scale;
        zones.set(site.name, sum);
        own.set(site, (own.get(site) || 0) + time - below);
        line.count++;
        if (lane.level === 0) line.time += time * row.scale;
      }
    }
    if (!line.count) continue;
    count += line.count;
    for (const [site, time] of own) if (!line.zone || time > own.get(line.zone)) line.zone = site;
    list.push(line);
  }
  return { zones: [...zones.values()].sort((x, y) => y.time - x.time), rows: list, count };
}
