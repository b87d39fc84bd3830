/* Search over everything that has a name or a text: zones and their source files, what kernels printed, the host's calls, launches and
 * their ops, steps and signposts; cores ("3,1") and launches ("launch 12"); "/a|b/" is a regular expression. What is found keeps its
 * colour, the rest fades; Enter and Shift+Enter go from one to the next. */

import { POINT_TEXT } from "./data.js";
import { byId } from "./dom.js";
import { grouped } from "./format.js";
import { rowsLayout } from "./rows.js";
import { goTo, itemEnd, itemStart, reveal, selection } from "./select.js";
import { inSlices } from "./slices.js";
import { showTable, table } from "./table.js";
import { theme } from "./theme.js";
import { repaint, timeline, toggleCore } from "./timeline.js";
import { view } from "./view.js";

/* `lanes` are those in which something was found; `cores` is instead of them when cores were looked for. `item` or
 * `core` is where one has gone to, `at` its number. `busy`: not all is counted; `then` is where one wants to go when it is. */
export const search = { text: "", names: null, sites: null, lanes: [], cores: [], count: 0, at: -1, item: null, wrong: false, busy: false, then: 0 };
const BLOCK = 4096; /* intervals whose hits are counted together */

/* Whether a text is what is looked for: contains it, or matches the expression between two slashes. Null: that is none. */
export function matcher(text) {
  const expression = /^\/(.+)\/([imsu]*)$/.exec(text), low = text.toLowerCase();
  if (!expression) return (name) => name.toLowerCase().includes(low);
  try {
    const regexp = new RegExp(expression[1], expression[2] || "i");
    return (name) => regexp.test(name);
  } catch {
    return null;
  }
}

function matchingSites(model, matches) {
  return new Set(model.sites.filter((s) => matches(s.name) || matches(s.file)).map((s) => s.index));
}

/* Those of from..to that are wanted. */
function hitsIn(lane, wanted, from, to) {
  let n = 0;
  for (let i = from; i < to; i++) n += wanted(lane, i) ? 1 : 0;
  return n;
}

/* What was found stays where it is: there may be millions; `before` is how many hits there are before each block. Step by step, as
 * slices.js wants it. */
function* findIntervals(rows, wanted) {
  for (const row of rows)
    for (const [k, lane] of row.lanes.entries()) {
      const before = [0];
      for (let from = 0; from < lane.n; from += BLOCK) {
        before.push(before[before.length - 1] + hitsIn(lane, wanted, from, Math.min(lane.n, from + BLOCK)));
        yield Math.min(lane.n - from, BLOCK) / 2;
      }
      const n = before[before.length - 1];
      if (n) search.lanes.push({ lane, order: row.index * 65536 + k, wanted, before });
      search.count += n;
    }
}

/* Each text is looked at once, however often it is there. */
function* searchTexts(model, matches) {
  const found = matchingSites(model, matches), texts = model.meta.texts.map(matches), launches = model.launches.map((l) => matches(l.name));
  const printed = texts.includes(true) ? (lane, i) => lane.points && lane.kind[i] === POINT_TEXT && texts[Number(lane.value[i]) - 1] === true : () => false;
  const ofSite = Uint8Array.from(model.sites.map((s) => (found.has(s.index) ? 1 : 0)));
  yield* findIntervals([...model.rows, ...model.hosts], (lane, i) => ofSite[lane.site[i]] === 1 || printed(lane, i));
  const named = search.count;
  if (launches.includes(true)) yield* findIntervals(model.tops, (lane, i) => launches[lane.launch[i]] === true);
  for (const row of model.ranges) yield* findIntervals([row], (_, i) => matches(row.names[i]));
  if (found.size && named) { /* where nothing is found, nothing fades */
    search.sites = found;
    search.names = new Set([...found].map((i) => model.sites[i].name));
  }
}

/** @returns {Generator<number, void, unknown>} */
function* nothing() {}

export function runSearch(text) {
  const model = timeline.model;
  Object.assign(search, { text: (text = text.trim()), names: null, sites: null, lanes: [], cores: [], count: 0, at: -1, item: null, wrong: false, busy: true, then: 0 });
  let steps = nothing();
  const core = /^(?:core\s+)?(\d+)\s*,\s*(\d+)$/i.exec(text), launch = /^launch\s+(\S.*)$/i.exec(text);
  if (core) {
    search.cores = model.cores.filter((c) => c.x === Number(core[1]) && c.y === Number(core[2]));
    search.count = search.cores.length;
  } else if (launch) {
    const found = model.launches.map((l) => l.name === launch[1] || l.name === "#" + launch[1]); /* one for each chip */
    steps = findIntervals(model.tops, (lane, i) => found[lane.launch[i]] === true);
  } else if (text) {
    const matches = matcher(text);
    if (matches) steps = searchTexts(model, matches);
    else search.wrong = true;
  }
  inSlices("search", steps, () => {
    search.busy = false;
    showFound();
    refreshColours();
    if (table.names !== search.names) showTable();
    if (search.then) nextHit(search.then);
  });
  if (search.busy) showFound();
}

function showFound() {
  const n = search.count;
  byId("found").textContent = !search.text ? "" : search.wrong ? "no regular expression" : search.busy ? "searching ..." : n === 0 ? "nothing found" : search.at < 0 ? grouped(n) + " found" : grouped(search.at + 1) + " of " + grouped(n);
}

/* The place of a hit in the order of all: time, then row and level, then its number there. */
function hitPlace({ lane, order }, i) {
  return { lane, order, i, time: lane.start[i] * lane.row.scale + lane.row.offset };
}

export function hitBefore(a, b) {
  return a.time !== b.time ? a.time < b.time : a.order !== b.order ? a.order < b.order : a.i < b.i;
}

/* First i of a lane that is not before `place`. */
function firstFrom(found, place) {
  let low = 0, high = found.lane.n;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (hitBefore(hitPlace(found, middle), place)) low = middle + 1;
    else high = middle;
  }
  return low;
}

/* The hit nearest to `place` on this side of it; not the one at the place itself. Null: none. Blocks without a hit are passed over. */
function hitBeside(place, step) {
  let best = null;
  for (const found of search.lanes) {
    const { before } = found;
    let i = firstFrom(found, place);
    if (step < 0) i--;
    else if (found.order === place.order && i === place.i) i++;
    for (; i >= 0 && i < found.lane.n; i += step) {
      const block = Math.floor(i / BLOCK);
      if (before[block] === before[block + 1]) {
        i = step > 0 ? (block + 1) * BLOCK - 1 : block * BLOCK;
        continue;
      }
      const hit = hitPlace(found, i);
      if (best && hitBefore(best, hit) === step > 0) break;
      if (!found.wanted(found.lane, i)) continue;
      best = hit;
      break;
    }
  }
  return best;
}

/* How many hits there are before this one. */
function hitNumber(place) {
  let n = 0;
  for (const found of search.lanes) {
    const to = firstFrom(found, place), block = Math.floor(to / BLOCK);
    n += found.before[block] + hitsIn(found.lane, found.wanted, block * BLOCK, to);
  }
  return n;
}

function goToCore(core) {
  if (!rowsLayout.open.has(core)) toggleCore(core);
  selection.band = rowsLayout.bands.find((b) => b.core === core);
  reveal(selection.band);
  repaint();
}

/* The first on the screen; where none is, the one that is nearest to it. */
function nearestHit(edge, step) {
  const ahead = hitBeside({ ...edge, time: step > 0 ? view.t0 : view.t1 }, step);
  if (ahead && ahead.time >= view.t0 && ahead.time <= view.t1) return ahead;
  const behind = hitBeside({ ...edge, time: step > 0 ? view.t0 : view.t1 }, -step), away = (h) => (h ? Math.max(view.t0 - h.time, h.time - view.t1) : Infinity);
  return away(behind) < away(ahead) ? behind : ahead;
}

/* From the hit where one is, as long as that is on the screen; otherwise from the screen's edge. */
export function nextHit(step) {
  const n = search.count, edge = { order: step > 0 ? -1 : Infinity, i: 0 };
  if (search.busy) search.then = step;
  if (search.busy || !n) return;
  if (search.cores.length) {
    search.at = search.at < 0 ? (step > 0 ? 0 : n - 1) : (search.at + step + n) % n;
    goToCore(search.cores[search.at]);
    return showFound();
  }
  const seen = search.item && itemEnd(search.item) >= view.t0 && itemStart(search.item) <= view.t1;
  const hit = (seen ? hitBeside(search.item, step) : nearestHit(edge, step)) || hitBeside({ ...edge, time: step > 0 ? -Infinity : Infinity }, step);
  search.item = hit;
  search.at = hitNumber(hit);
  goTo({ lane: hit.lane, i: hit.i });
  showFound();
}

/* Colours of the timeline: faded but for what was searched, or chosen in the table. */
export function refreshColours() {
  let keep = search.sites;
  if (!keep && table.chosen) keep = new Set(timeline.model.sites.filter((s) => s.name === table.chosen.name).map((s) => s.index));
  const faded = keep ? theme.packed.map((c, i) => (keep.has(i) ? c : theme.dimmed[i])) : theme.packed;
  const inks = keep ? theme.inks.map((c, i) => (keep.has(i) ? c : theme.dimmedInks[i])) : theme.inks;
  timeline.colours = () => faded;
  timeline.inks = () => inks;
  repaint();
}

export function startSearch() {
  const box = byId("search");
  let due = 0;
  box.addEventListener("input", () => {
    clearTimeout(due);
    due = setTimeout(() => runSearch(box.value), timeline.model.intervals > 200000 ? 200 : 0);
  });
  box.addEventListener("keydown", (event) => {
    event.stopPropagation();
    if (event.key === "Enter") {
      if (search.text !== box.value.trim()) runSearch(box.value);
      nextHit(event.shiftKey ? -1 : 1);
    } else if (event.key === "Escape") {
      box.value = "";
      runSearch("");
      byId("rows").focus();
    }
  });
}
