/* The keyboard: every key in one table, which is also the help. */

import { editMark, nextMark } from "./bookmarks.js";
import { toggleCauses } from "./causes_draw.js";
import { lowerBound } from "./data.js";
import { byId, make } from "./dom.js";
import { alongFlow } from "./flows.js";
import { hideRow, moveRow, pinRow, rowMenu, showAllRows, startRowMenu } from "./row_menu.js";
import { rowsLayout } from "./rows.js";
import { nextHit, runSearch } from "./search.js";
import { say } from "./say.js";
import { goTo, itemEnd, itemStart, measure, select, selection, showDetails } from "./select.js";
import { undo } from "./state.js";
import { chooseRow, showTable, table } from "./table.js";
import { showNth, tabs } from "./tabs.js";
import { repaint, timeline, toggleCore } from "./timeline.js";
import { pan, view, viewAll, viewRange, zoom } from "./view.js";

/* The neighbour of the selection: in its lane (sideways) or on another row or level (up and down). */
export function walk(across, down) {
  const item = selection.item;
  if (!item) {
    const rows = timeline.model.rows.filter((r) => rowsLayout.open.has(r.core));
    const row = (rows.length ? rows : timeline.model.rows)[0], lane = row && row.lanes.find((l) => !l.points);
    if (!lane) return;
    return goTo({ lane, i: Math.min(lane.n - 1, lowerBound(lane.end, (view.t0 - row.offset) / row.scale)) });
  }
  if (across) {
    const i = item.i + across;
    if (i >= 0 && i < item.lane.n) goTo({ lane: item.lane, i });
    return;
  }
  const { ranges, tops, hosts, rows, processes } = timeline.model, own = rows.filter((r) => r.core.index < processes);
  const lanes = [...ranges, ...own, ...[...tops, ...hosts, ...rows.filter((r) => r.core.index >= processes)].sort((a, b) => a.index - b.index)].flatMap((r) => r.lanes);
  const lane = lanes[lanes.indexOf(item.lane) + down];
  if (!lane) return;
  const t = (itemStart(item) - lane.row.offset) / lane.row.scale;
  goTo({ lane, i: Math.min(lane.n - 1, lowerBound(lane.end, t)) });
}

/* The next interval of the same zone on the same row. */
export function sameZone(step) {
  const item = selection.item;
  if (!item) return;
  const site = item.lane.site[item.i];
  for (let i = item.i + step; i >= 0 && i < item.lane.n; i += step)
    if (item.lane.site[i] === site) return goTo({ lane: item.lane, i });
}

/* The launch after (1) or before (-1) what is on the screen, over all of its width. */
export function nextLaunch(step) {
  const middle = (view.t0 + view.t1) / 2;
  let best = null;
  for (const row of timeline.model.tops)
    for (const lane of row.lanes)
      for (let i = 0; i < lane.n; i++) {
        const item = { lane, i }, away = ((itemStart(item) + itemEnd(item)) / 2 - middle) * step;
        if (away > (itemEnd(item) - itemStart(item)) * 0.01 && (!best || away < best.away)) best = { away, item };
      }
  if (!best) return say(step > 0 ? "no further launch" : "no launch before");
  viewRange(itemStart(best.item), itemEnd(best.item));
  select(best.item, true);
}

export function fitSelection() {
  if (selection.range) viewRange(...selection.range);
  else if (selection.item) viewRange(itemStart(selection.item), itemEnd(selection.item));
}

export function clearAll() {
  selection.item = selection.range = null;
  byId("search").value = "";
  runSearch("");
  if (table.chosen) chooseRow(null);
  showDetails();
  repaint();
}

export function toggleUnit() {
  if (!timeline.model.toNs) return say("The clock's frequency is unknown: cycles only.");
  timeline.unit = timeline.unit === "cycles" ? "time" : "cycles";
  byId("unit").textContent = timeline.unit;
  showTable();
  showDetails();
  repaint();
  tabs.shown.get(tabs.now)();
}

/** @type {[string[], string, string, () => void][]} */
const KEYS = [
  [["w", "+", "="], "w", "zoom in", () => zoom(0.7, 0.5)],
  [["s", "-"], "s", "zoom out", () => zoom(1 / 0.7, 0.5)],
  [["a"], "a", "pan left", () => pan(-0.15)],
  [["d"], "d", "pan right", () => pan(0.15)],
  [["Home", "0"], "Home", "the whole log", viewAll],
  [["f"], "f", "fit what is selected or measured", fitSelection],
  [["ArrowLeft"], "← →", "the zone before, after, in the same row", () => walk(-1, 0)],
  [["ArrowRight"], "", "", () => walk(1, 0)],
  [["ArrowUp"], "↑ ↓", "the level or row above, below", () => walk(0, -1)],
  [["ArrowDown"], "", "", () => walk(0, 1)],
  [["["], "[ ]", "along the flow: the host's call, its launch, the kernel of each core as they began, the pull", () => alongFlow(-1)],
  [["]"], "", "", () => alongFlow(1)],
  [["{"], "{ }", "the same zone before, after", () => sameZone(-1)],
  [["}"], "", "", () => sameZone(1)],
  [["Enter"], "Enter", "open or close the core of the selection", () => selection.band && selection.band.core && toggleCore(selection.band.core)],
  [["e"], "e", "open or close all cores", () => toggleCore(null)],
  [["."], ". ,", "the next launch, the one before", () => nextLaunch(1)],
  [[","], "", "", () => nextLaunch(-1)],
  [["m"], "m", "measure the selected zone", () => selection.item && measure(itemStart(selection.item), itemEnd(selection.item))],
  [["/"], "/", "search, also for /regular expressions/; then Enter, Shift+Enter: next, previous", () => byId("search").focus()],
  [["n"], "n N", "next, previous found", () => nextHit(1)],
  [["N"], "", "", () => nextHit(-1)],
  ...Array.from({ length: 9 }, (_, n) => /** @type {[string[], string, string, () => void]} */ ([[String(n + 1)], n ? "" : "1 ... 9", "the tabs, from the left", () => showNth(n)])),
  [["p"], "p", "path, waits and slack over the time line, on or off", () => toggleCauses()],
  [["b"], "b", "a bookmark with a note, where the selection is", () => editMark(null)],
  [["v"], "v V", "the next bookmark, the one before", () => nextMark(1)],
  [["V"], "", "", () => nextMark(-1)],
  [["i"], "i", "pin the selected core to the top, or put it back", () => pinRow()],
  [["h"], "h H", "hide the selected core; show all", () => hideRow()],
  [["H"], "", "", showAllRows],
  [["K"], "K J", "move the selected core up, down", () => moveRow(-1)],
  [["J"], "", "", () => moveRow(1)],
  [["r"], "r", "the menu of the selected core", rowMenu],
  [["z"], "z y", "undo, do again; Ctrl+Z and Ctrl+Y too", () => undo(-1)],
  [["y"], "", "", () => undo(1)],
  [["u"], "u", "cycles or time", toggleUnit],
  [["t"], "t", "light or dark", () => byId("theme").click()],
  [["Escape"], "Esc", "clear selection, measure and search", clearAll],
  [["?"], "?", "this list", () => byId("help").showModal()],
];
const MOUSE = [
  ["wheel", "zoom at the mouse; Shift+wheel pans; over the core names it scrolls"],
  ["drag", "pan; Shift+drag measures a range, over several rows those rows; its ends snap to zones"],
  ["two fingers", "zoom and pan"],
  ["click", "select a zone; on a core's name, open or close it; the right button there pins, hides and moves it"],
];

function onKey(event) {
  if (byId("help").open || byId("note").open) return;
  if (/^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName) && event.target.type !== "checkbox") return;
  if ((event.ctrlKey || event.metaKey) && !event.altKey && /^[zy]$/i.test(event.key)) {
    event.preventDefault();
    return undo(event.key === "z" ? -1 : 1);
  }
  if (event.ctrlKey || event.altKey || event.metaKey) return;
  const onControl = event.target.tagName === "BUTTON" || event.target.closest("tr[tabindex]");
  if (onControl && (event.key === "Enter" || event.key.startsWith("Arrow"))) return;
  const entry = KEYS.find((k) => k[0].includes(event.key));
  if (!entry) return;
  event.preventDefault();
  entry[3]();
}

export function startKeys() {
  document.addEventListener("keydown", onKey);
  byId("unit").addEventListener("click", toggleUnit);
  const list = make("dl", {});
  for (const [name, text] of MOUSE.concat(KEYS.filter((k) => k[1]).map((k) => [k[1], k[2]]))) list.append(make("dt", {}, name), make("dd", {}, text));
  const close = make("button", { type: "button" }, "close");
  close.addEventListener("click", () => byId("help").close());
  byId("help").replaceChildren(make("h2", {}, "Keys and mouse"), list, close);
  byId("ask").addEventListener("click", () => byId("help").showModal());
  startSplit();
  startRowMenu();
}

/* The line between timeline and panel: by mouse, or by arrow keys. */
function startSplit() {
  const split = byId("split");
  const set = (y) => {
    const top = byId("main").getBoundingClientRect().top;
    byId("main").style.setProperty("--timeline", Math.max(140, Math.min(innerHeight - 120, y)) - top + "px");
    split.setAttribute("aria-valuenow", String(Math.round((Math.max(140, Math.min(innerHeight - 120, y)) / innerHeight) * 100)));
    tabs.shown.get(tabs.now)();
  };
  split.addEventListener("pointerdown", (event) => split.setPointerCapture(event.pointerId));
  split.addEventListener("pointermove", (event) => event.buttons & 1 && set(event.clientY));
  split.addEventListener("keydown", (event) => {
    const step = event.key === "ArrowUp" ? -24 : event.key === "ArrowDown" ? 24 : 0;
    if (!step) return;
    event.preventDefault();
    event.stopPropagation();
    set(split.getBoundingClientRect().top + step);
  });
}
