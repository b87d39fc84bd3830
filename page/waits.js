/* Waits, paths and slack of launches, as host/cli/page_causes.c wrote them, put to the rows of the time line. Knows nothing of how
 * they are drawn.
 *
 *   lines.waits   Map of row to { n, from, to, by: row or null by number, why: text by number }, in order of time
 *   lines.paths   [{ parts: [{ row, from, to }] }], a path for each launch, in order of time
 *   lines.slack   Map of row to [{ at, cycles }]
 *   lines.leftOut launches of which nothing is known here
 * Times are cycles since the chip's base, as those of intervals. */

import { lowerBound } from "./data.js";

function rowOf(model, [chip, x, y, risc]) {
  return model.rows.find((r) => model.chips[r.chip].id === chip && r.core.x === x && r.core.y === y && r.risc === risc) || null;
}

export function readLines(model, data) {
  if (!data || !data.launches.length) return null;
  const rows = data.streams.map((s) => rowOf(model, s)), waits = new Map(), slack = new Map(), paths = [];
  for (const launch of data.launches) {
    const chip = model.chips.find((c) => c.id === launch.chip);
    if (!chip || chip.base === undefined) continue;
    const start = Number(BigInt(launch.start) - BigInt(chip.base)), parts = [];
    for (let i = 0; i < launch.waits.length; i += 5) {
      const [stream, from, cycles, by, why] = launch.waits.slice(i, i + 5), row = rows[stream];
      if (!row) continue; /* left out of the page */
      if (!waits.has(row)) waits.set(row, []);
      waits.get(row).push({ from: start + from, to: start + from + cycles, by: by < 0 ? null : rows[by], why: data.whys[why] });
    }
    for (let i = 0; i < launch.path.length; i += 3) {
      const row = rows[launch.path[i]], from = start + launch.path[i + 1];
      if (row) parts.push({ row, from, to: from + launch.path[i + 2] });
    }
    for (let i = 0; i < launch.slack.length; i += 3) {
      const row = rows[launch.slack[i]];
      if (!row) continue;
      if (!slack.has(row)) slack.set(row, []);
      slack.get(row).push({ at: start + launch.slack[i + 1], cycles: launch.slack[i + 2] });
    }
    if (parts.length) paths.push({ parts });
  }
  const columns = new Map();
  for (const [row, list] of waits) {
    list.sort((a, b) => a.from - b.from);
    columns.set(row, { n: list.length, from: Float64Array.from(list.map((w) => w.from)), to: Float64Array.from(list.map((w) => w.to)), by: list.map((w) => w.by), why: list.map((w) => w.why) });
  }
  paths.sort((a, b) => a.parts[0].from * a.parts[0].row.scale + a.parts[0].row.offset - b.parts[0].from * b.parts[0].row.scale - b.parts[0].row.offset);
  return { waits: columns, paths, slack, leftOut: data.left_out };
}

/* The longest wait of a row inside from..to: its number; -1: there is none. */
export function waitInside(waits, from, to) {
  let best = -1;
  if (!waits) return best;
  for (let i = lowerBound(waits.from, from); i < waits.n && waits.from[i] < to; i++)
    if (waits.to[i] <= to && (best < 0 || waits.to[i] - waits.from[i] > waits.to[best] - waits.from[best])) best = i;
  return best;
}

/* Cycles of from..to of a row that are on a path. */
export function onPath(lines, row, from, to) {
  let sum = 0;
  for (const { parts } of lines.paths)
    for (const p of parts) if (p.row === row && p.to > from && p.from < to) sum += Math.min(p.to, to) - Math.max(p.from, from);
  return sum;
}
