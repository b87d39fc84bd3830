/* What each core of a chip did, as one number, for the picture of the chip: how much of the time it ran kernels, how long it waited, a
 * zone's median, how many markers it dropped. And which cores stand out. Knows nothing of how it is shown. */

import { POINT_DROPPED, ROLE_FW, ROLE_KERNEL, ROLE_USER } from "./data.js";
import { groupsOf, instancesOf } from "./instances.js";

const WAITS = /wait|stall|reserve|barrier|idle|poll|spin|blocked/i; /* as theme.js colours them */

/* Length of what these intervals cover together; [start, end] each. */
export function covered(intervals) {
  let sum = 0, until = -Infinity;
  for (const [start, end] of [...intervals].sort((a, b) => a[0] - b[0])) {
    if (end <= until) continue;
    sum += end - Math.max(start, until);
    until = end;
  }
  return sum;
}

/* [start, end] on the axis of a row's zones whose site is wanted. */
function intervals(row, wanted) {
  const list = [];
  for (const lane of row.lanes)
    for (let i = 0; !lane.points && i < lane.n; i++)
      if (wanted[lane.site[i]]) list.push([lane.start[i] * row.scale + row.offset, lane.end[i] * row.scale + row.offset]);
  return list;
}

/* Of each core: part of the whole time (0 to 1) in which any of its RISCs ran a kernel; where there are none firmware; else any zone. */
function busy(model) {
  const role = [ROLE_KERNEL, ROLE_FW, ROLE_USER].find((r) => model.sites.some((s) => s.role === r)), wanted = model.sites.map((s) => s.role === role);
  return model.cores.map((core) => covered(core.rows.flatMap((row) => intervals(row, wanted))) / model.span);
}

/* Of each core: cycles in which its RISCs waited, one after the other; a wait in a wait counts once. */
function waited(model) {
  const wanted = model.sites.map((s) => s.role === ROLE_USER && !s.host && WAITS.test(s.name));
  return model.cores.map((core) => core.rows.reduce((sum, row) => sum + covered(intervals(row, wanted)) / row.scale, 0));
}

function dropped(model) {
  return model.cores.map((core) => {
    let sum = 0;
    for (const row of core.rows) for (const lane of row.lanes) for (let i = 0; lane.points && i < lane.n; i++) if (lane.kind[i] === POINT_DROPPED) sum += Number(lane.value[i]);
    return sum;
  });
}

/* Of each core: the median of a zone's durations, of all its RISCs; NaN where it did not run. `zone`: { name, chip, risc }. */
function median(model, zone) {
  const values = model.cores.map(() => NaN);
  for (const g of groupsOf(instancesOf(model, { name: zone.name, chip: zone.chip, risc: zone.risc }), "core")) values[g.key.index] = g.median;
  return values;
}

export function valuesOf(model, what, zone) {
  return what === "busy" ? busy(model) : what === "waited" ? waited(model) : what === "dropped" ? dropped(model) : zone ? median(model, zone) : model.cores.map(() => NaN);
}

function middle(sorted) {
  return sorted.length ? (sorted[(sorted.length - 1) >> 1] + sorted[sorted.length >> 1]) / 2 : NaN;
}

/* Cores by how far they are from the median of all: [{ i, value, away: in parts of the median (of all zero: the value) }], those first
 * that are furthest; only those that are beyond what most are: five times the median distance, and 1 %. */
export function outliers(values) {
  const known = values.map((value, i) => ({ i, value })).filter((v) => !isNaN(v.value)), centre = middle(known.map((v) => v.value).sort((a, b) => a - b));
  const spread = middle(known.map((v) => Math.abs(v.value - centre)).sort((a, b) => a - b));
  return known.filter((v) => Math.abs(v.value - centre) > Math.max(spread * 5, Math.abs(centre) * 0.01))
    .map((v) => ({ ...v, away: centre ? v.value / centre - 1 : v.value })).sort((a, b) => Math.abs(b.value - centre) - Math.abs(a.value - centre));
}

/* What colours go by: the median of all, and how far away the strongest colour is: the furthest, but at least 5 % of the median, so
 * that cores that are alike look alike. */
export function scaleOf(values) {
  const known = values.filter((v) => !isNaN(v)).sort((a, b) => a - b), median = middle(known), low = known[0], high = known[known.length - 1];
  return { median, low, high, most: Math.max(high - median, median - low, Math.abs(median) * 0.05) || 1 };
}

/* Chips as grids: [{ chip, columns, rows, cells: [core or null, row by row] }], of what the log has coordinates of. */
export function gridsOf(model) {
  const grids = [];
  for (const [rank, chip] of model.chips.entries()) {
    const cores = model.cores.filter((c) => c.chip === rank);
    if (!cores.length || chip.process) continue;
    const columns = Math.max(...cores.map((c) => c.x)) + 1, rows = Math.max(...cores.map((c) => c.y)) + 1, cells = new Array(columns * rows).fill(null);
    for (const core of cores) cells[core.y * columns + core.x] = core;
    grids.push({ chip, columns, rows, cells });
  }
  return grids;
}
