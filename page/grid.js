/* What each core of a chip did, as one number, for the picture of the chip: how much of the time it ran kernels, how long it waited, a
 * zone's median, how many markers it dropped, how many bytes it moved. Where cores are on the chip, and what stands where none is. And which
 * cores stand out. Knows nothing of how it is shown. */

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
  return what === "busy" ? busy(model) : what === "bytes" ? bytes(model) : what === "waited" ? waited(model) : what === "dropped" ? dropped(model) : zone ? median(model, zone) : model.cores.map(() => NaN);
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

/* What a kernel's records of transfers say: bytes (devlog/transfers.h), and the tile at the other end. */
const TRANSFERS = /^DEVLOG-NOC-(READ|WRITE)$/;

/* [core, bytes, x, y] of each transfer that is recorded. */
function* transfers(model) {
  const wanted = model.sites.map((s) => TRANSFERS.test(s.name));
  if (!wanted.includes(true)) return;
  for (const core of model.cores)
    for (const row of core.rows)
      for (const lane of row.lanes)
        for (let i = 0; lane.points && i < lane.n; i++) {
          if (!wanted[lane.site[i]]) continue;
          const high = Number(lane.value[i] >> 32n);
          yield [core, high & 0x7fff, (high >>> 16) & 63, (high >>> 22) & 63];
        }
}

/* Of each core: bytes that its RISCs read and wrote over the NoC. */
function bytes(model) {
  const sums = model.cores.map(() => 0);
  for (const [core, n] of transfers(model)) sums[core.index] += n;
  return sums;
}

/* Of a chip's tiles, those without cores too, by "x,y" of NoC 0: bytes that cores read from them and wrote to them. */
export function bytesThere(model, chip) {
  const sums = new Map();
  for (const [core, n, x, y] of transfers(model)) if (core.chip === chip) sums.set(x + "," + y, (sums.get(x + "," + y) || 0) + n);
  return sums;
}

/* Places of cores on the chip: of a capture's grid by logical coordinates; of an architecture's (a log that has no more) as they are.
 * null: one of them has no such place, so the log means something else by its coordinates. */
function placesOf(cores, grid, logical) {
  const eth = new Set((grid.tiles.eth || []).map(String)), places = new Map();
  for (const core of cores) {
    const at = logical ? [grid.columns[core.x], grid.rows[core.y]] : [core.x, core.y];
    const compute = grid.columns.includes(at[0]) && grid.rows.includes(at[1]);
    if (!compute && !(!logical && eth.has(String(at)))) return null;
    places.set(String(at), core);
  }
  return places;
}

/* { x, y, kind, core }; kind: "tensix", "off" (switched off, or left out by the user), "dram", "arc", "pcie", "eth", "router"; "": nobody
 * has said. */
function tilesOf(grid, places) {
  const kinds = new Map(), off = grid.off || { columns: [], rows: [] }, cells = [];
  for (const [kind, list] of Object.entries(grid.tiles)) for (const at of list) kinds.set(String(at), kind);
  const columns = new Set([...grid.columns, ...off.columns]), rows = new Set([...grid.rows, ...off.rows]);
  for (let y = 0; y < grid.noc[1]; y++)
    for (let x = 0; x < grid.noc[0]; x++) {
      const compute = columns.has(x) && rows.has(y), dead = off.columns.includes(x) || off.rows.includes(y), at = x + "," + y;
      cells.push({ x, y, kind: compute ? (dead ? "off" : "tensix") : kinds.get(at) || "", core: places.get(at) || null });
    }
  return cells;
}

function lines(what, list) {
  return list.length ? what + (list.length > 1 ? "s " : " ") + list.join(", ") : "";
}

/* What is known of tiles that are not there. */
function harvested(grid) {
  if (!grid.off) return "harvested tiles: unknown";
  const all = [lines("column", grid.off.columns), lines("row", grid.off.rows)].filter(Boolean);
  return all.length ? "switched off (harvested), or left out: " + all.join("; ") : "no column or row is switched off";
}

/* Chips as grids: [{ chip, columns, rows, cells (row by row), placed, note }]. `placed`: where they are on the chip, by NoC 0 coordinates;
 * otherwise by those of the log. `grids`: of architectures, for logs whose cores have such coordinates (host/cli/page_grids.h). */
export function gridsOf(model, grids = {}) {
  const list = [];
  for (const [rank, chip] of model.chips.entries()) {
    const cores = model.cores.filter((c) => c.chip === rank);
    if (!cores.length || chip.process) continue;
    const grid = chip.grid || (Object.hasOwn(grids, chip.arch) ? grids[chip.arch] : null), places = grid && placesOf(cores, grid, Boolean(chip.grid));
    if (places) {
      list.push({ chip, columns: grid.noc[0], rows: grid.noc[1], cells: tilesOf(grid, places), placed: true, note: (chip.grid ? "" : "any " + chip.arch + "; ") + harvested(grid) });
      continue;
    }
    const columns = Math.max(...cores.map((c) => c.x)) + 1, rows = Math.max(...cores.map((c) => c.y)) + 1, cells = [];
    for (let y = 0; y < rows; y++) for (let x = 0; x < columns; x++) cells.push({ x, y, kind: "", core: null });
    for (const core of cores) cells[core.y * columns + core.x].core = core;
    list.push({ chip, columns, rows, cells, placed: false, note: "where on the chip: unknown; harvested tiles: unknown" });
  }
  return list;
}
