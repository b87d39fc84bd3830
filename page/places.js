/* From a word of an answer to the place in the time line: ops and launches by their numbers, cores and lines by their names. */

import { answers, section } from "./answers.js";
import { rowsLayout } from "./rows.js";
import { say } from "./say.js";
import { goTo, itemEnd, itemStart, measure, reveal, select, selection } from "./select.js";
import { showTab } from "./tabs.js";
import { measureTimeline, repaint, timeline } from "./timeline.js";
import { viewRange } from "./view.js";

const places = { byOp: null, codes: null, owners: null };

/* Where ops and launches are numbered apart, ops by chip and launch; null: a launch has the number of its op. */
function owners() {
  if (places.owners === null && answers.all && answers.all.owners) places.owners = new Map(answers.all.owners.map(([chip, launch, op]) => [chip + " " + launch, op]));
  return places.owners;
}

/* The number that answers know a launch by; -1: it is in none. */
export function opOf(launch) {
  if (answers.made) return launch.id;
  if (launch.op || !owners()) return launch.op || launch.id;
  const op = owners().get(timeline.model.chips[launch.chip].id + " " + launch.id);
  return op === undefined ? -1 : op;
}

/* Names of ops by their numbers. */
export function opNames() {
  if (places.codes) return places.codes;
  places.codes = new Map();
  const found = answers.made ? null : section("by_op", "op_statistics");
  for (const row of found ? found.rows : []) {
    const at = row.op.indexOf(" ");
    places.codes.set(Number(row.op.slice(0, at)), row.op.slice(at + 1));
  }
  return places.codes;
}

/* Launches in the time line by the number of their op: [{ lane, i }]. */
function launchesByOp() {
  if (places.byOp) return places.byOp;
  places.byOp = new Map();
  for (const row of timeline.model.tops)
    for (const lane of row.lanes)
      for (let i = 0; i < lane.n; i++) {
        const launch = timeline.model.launches[lane.launch[i]];
        if (!launch) continue;
        const op = opOf(launch);
        if (!places.byOp.has(op)) places.byOp.set(op, []);
        places.byOp.get(op).push({ lane, i });
      }
  return places.byOp;
}

export function launchesOf(op) {
  return (op !== null && op !== undefined && launchesByOp().get(op)) || [];
}

/* "0: 1-1", "1-1", "1,1": a core of the page; null. */
export function coreOf(text) {
  const parts = /^(?:(\d+):\s*)?(\d+)[-,](\d+)$/.exec(text || "");
  if (!parts) return null;
  const { cores, chips } = timeline.model;
  return cores.find((c) => c.x === Number(parts[2]) && c.y === Number(parts[3]) && (parts[1] === undefined || chips[c.chip].id === Number(parts[1]))) || null;
}

/* Zones of this line of source, or of this name. */
function sitesOf({ line, zone }) {
  const found = new Set();
  for (const site of timeline.model.sites) {
    const place = site.file.split("/").pop() + ":" + site.line;
    if ((line && place === line.split("/").pop()) || (!line && zone && site.name === zone)) found.add(site.index);
  }
  return found;
}

/* The longest interval of these zones, on these cores, between t0 and t1. */
function longest(sites, rows, t0, t1) {
  let best = null, length = -1;
  for (const row of rows)
    for (const lane of row.lanes) {
      if (lane.points) continue;
      for (let i = 0; i < lane.n; i++) {
        if (!sites.has(lane.site[i])) continue;
        const item = { lane, i }, start = itemStart(item), end = itemEnd(item);
        if (start >= t0 && end <= t1 && end - start > length) [best, length] = [item, end - start];
      }
    }
  return best;
}

export function openCore(core) {
  if (!rowsLayout.open.has(core)) {
    rowsLayout.open.add(core);
    measureTimeline();
  }
  selection.band = rowsLayout.bands.find((b) => b.core === core) || null;
  reveal(selection.band);
}

export function showLaunch(item) {
  showTab("time");
  viewRange(itemStart(item), itemEnd(item));
  select(item, true);
}

/* The time before a launch in which its chip ran nothing. */
function gapBefore(item) {
  let end = -Infinity;
  const start = itemStart(item);
  for (const lane of item.lane.row.lanes)
    for (let i = 0; i < lane.n; i++) {
      const before = itemEnd({ lane, i });
      if (before <= start && before > end) end = before;
    }
  return end === -Infinity ? null : [end, start];
}

/* The op of this code that took longest; null. */
function slowestOf(code) {
  const found = section("by_op", "op_statistics");
  let best = null;
  for (const row of code && found ? found.rows : []) {
    const at = row.op.indexOf(" "), id = Number(row.op.slice(0, at));
    if (row.op.slice(at + 1) === code && (!best || row.total > best.total) && launchesOf(id).length) best = { id, total: row.total };
  }
  return best ? best.id : null;
}

/* Shows what a row of an answer is about: { op_id, core, line, zone, risc, kind }. False: it is nowhere in the page. */
export function showPlace(row) {
  const op = row.op_id === null || row.op_id === undefined ? slowestOf(row.op) : row.op_id;
  const launch = launchesOf(op)[0], core = coreOf(row.core);
  if (row.kind === "gaps" && launch && gapBefore(launch)) {
    const [from, to] = gapBefore(launch);
    showTab("time");
    viewRange(from, to);
    measure(from, to);
    return true;
  }
  const sites = sitesOf(row), all = core ? core.rows : timeline.model.rows;
  const rows = row.risc ? all.filter((r) => r.risc === row.risc) : all;
  const parts = launchesOf(op); /* an op may be several */
  const range = launch ? [Math.min(...parts.map(itemStart)), Math.max(...parts.map(itemEnd))] : [-Infinity, Infinity];
  const item = sites.size ? longest(sites, rows, ...range) || longest(sites, rows, -Infinity, Infinity) || longest(sites, timeline.model.rows, -Infinity, Infinity) : null;
  if (!item && !launch && !core) {
    say("this is not in the time line");
    return false;
  }
  showTab("time");
  if (launch) viewRange(...range);
  if (item) goTo(item);
  else if (launch) select(launch, true);
  if (core && !item) openCore(core);
  repaint();
  return true;
}
