/* Two runs in one page: device_perf.html of each in a frame of its own, one above the other, what `devlog diff` says of them as the way
 * in, and views that go together. What belongs to what is worked out in align.js. */

import { aligned, change, classOf, matched, NOTABLE } from "./align.js";
import { unitText } from "./answers.js";
import { answerTable, tableBar, tableState } from "./answer_table.js";
import { byId, make } from "./dom.js";
import { counted, duration } from "./format.js";
import { kindColour, setColours } from "./theme.js";

const SIDES = ["a", "b"], FRAMES = { a: "old", b: "new" };
const NO_MODEL = { sites: [] };
const TABLE = { id: "pair", label: "What has changed" };

/* Both runs: { a, b } are the frames' own programs (handle.js); null where a page has no time line. */
export const pair = { diff: null, a: null, b: null, ops: [], steps: [], by: "op", last: { a: null, b: null }, shown: "op", chosen: null, dark: false };

function json(id) {
  return JSON.parse(byId(id).textContent);
}

/* ---- The frames --- */

function load(side) {
  const frame = byId(FRAMES[side]), source = byId(FRAMES[side] + "-page");
  return new Promise((done) => {
    const look = () => {
      const root = frame.contentDocument && frame.contentDocument.documentElement, ready = root && root.dataset.ready;
      if (!ready) return setTimeout(look, 30);
      root.dataset.beside = "yes";
      const page = frame.contentWindow.devlog;
      if (!page || !page.timeline.ready) return done(null);
      page.showTab("time");
      page.measureTimeline();
      page.viewAll();
      done(page);
    };
    frame.srcdoc = JSON.parse(source.textContent);
    source.remove();
    setTimeout(look, 30);
  });
}

/* Units of the axis of `to` in one of `from`. */
function scale(from, to) {
  const { axis, toNs } = pair[from].timeline.model, there = pair[to].timeline.model;
  return axis !== there.axis && toNs && there.toNs ? toNs / there.toNs : 1;
}

function pairsNow() {
  return pair.by === "op" ? pair.ops : pair.by === "step" ? pair.steps : [];
}

/* The view of one has changed: the other goes with it. */
function follow(side) {
  const other = side === "a" ? "b" : "a", { view } = pair[side], last = pair.last[side];
  if (last && last[0] === view.t0 && last[1] === view.t1) return;
  pair.last[side] = [view.t0, view.t1];
  if (pair.by === "none" || !pair[other]) return;
  pair[other].setView(...aligned(pairsNow(), side, [view.t0, view.t1], scale(side, other)));
  pair.last[other] = [pair[other].view.t0, pair[other].view.t1];
}

function link(side) {
  const page = pair[side], before = page.timeline.moved;
  page.timeline.moved = () => {
    before();
    follow(side);
  };
}

/* ---- What belongs to what, and its colours --- */

function lengthText(side, item) {
  const { toNs } = pair[side].timeline.model, length = item.end - item.start;
  return toNs ? duration(length * toNs) : unitText(Math.round(length), "cycles");
}

function pairText(one, mine, factor) {
  const other = mine === "a" ? "b" : "a", more = change(one, factor);
  if (!one[other]) return "has no such op";
  return lengthText(other, one[other]) + (more === null ? "" : "; the new one takes " + (more < 0 ? "" : "+") + more.toFixed(2) + " %");
}

function matchUp() {
  const { diff } = pair, ops = diff.old[0].op_report && diff.new[0].op_report, factor = scale("b", "a");
  const verdicts = new Map(diff.lines.filter((l) => l.kind === "op").map((l) => [ops ? l.name : "launch", l.verdict]));
  pair.ops = matched(pair.a.besideItems(ops), pair.b.besideItems(ops));
  pair.steps = matched(pair.a.besideSteps(), pair.b.besideSteps());
  for (const one of pair.ops) {
    one.kind = classOf(one, verdicts.get(ops ? one.key : "launch"), factor);
    one.change = change(one, factor);
  }
  for (const side of SIDES)
    pair[side].setBeside(pair.ops.filter((p) => p[side]).map((p) => ({ items: p[side].items, kind: p.kind, text: pairText(p, side, factor) })));
  if (!pair.steps.some((p) => p.a && p.b)) byId("align").querySelector("[value=step]").remove();
}

function showKinds() {
  const entries = [["slower", "slower"], ["faster", "faster"], ["perhaps slower", "slower by " + NOTABLE + " % and more, which may be chance"], ["perhaps faster", "faster, likewise"], ["new", "only in one run"], ["same", "as before"]];
  byId("kinds").replaceChildren("Launches: ", ...entries.map(([kind, text]) => {
    const mark = make("i", { class: "swatch" });
    mark.style.background = kindColour(kind);
    return make("span", {}, mark, text);
  }));
}

/* ---- The table --- */

const COLUMNS = [["what", null], ["verdict", null], ["change", "percent"], ["in_a_run", "own"], ["old", "own"], ["new", "own"], ["chance", "ratio"], ["where", null]].map(([key, unit]) => ({ key, unit }));

function rowOf(line) {
  return {
    what: (line.risc ? line.risc + " " : "") + (line.name || "kernel") + (line.place ? " #" + (line.place + 1) : ""), verdict: line.verdict, old: line.old.mean, new: line.new.mean, change: line.change_percent,
    in_a_run: line.difference_per_run, chance: line.p_corrected, where: line.moved_to || line.where || null, unit: line.unit, line,
  };
}

const rows = { all: [] };

function shownSection() {
  return { columns: COLUMNS, rows: rows.all.filter((r) => pair.shown === "all" || r.line.kind === pair.shown), more: 0 };
}

function showLines() {
  const section = shownSection();
  byId("line-table").replaceChildren(answerTable(section, { ...TABLE, click: choose, changed: showLines, mark: (r) => r.verdict }));
}

function showBar() {
  const kinds = [["op", "ops"], ["zone", "zones"], ["all", "everything"]].filter(([k]) => k === "all" || rows.all.some((r) => r.line.kind === k));
  if (!kinds.some(([k]) => k === pair.shown)) pair.shown = kinds[0][0];
  const menu = make("select", { "aria-label": "Which lines" }, ...kinds.map(([value, text]) => make("option", { value }, text)));
  menu.value = pair.shown;
  menu.addEventListener("change", () => {
    pair.shown = menu.value;
    showLines();
  });
  byId("line-bar").replaceChildren(menu, ...tableBar(shownSection(), { ...TABLE, changed: showLines }));
}

function showTotals() {
  byId("totals").replaceChildren(...rows.all.filter((r) => r.line.kind === "total").map((row) => {
    const text = row.change === null ? "" : (row.change < 0 ? "" : "+") + row.change.toFixed(2) + " %";
    const button = make("button", { type: "button", class: "total" }, row.what, make("b", { class: row.verdict }, text || row.verdict), unitText(row.old, row.unit) + " → " + unitText(row.new, row.unit));
    button.addEventListener("click", () => choose(row));
    return button;
  }));
}

/* ---- The way in --- */

/* The pair of this line that differs most. */
function mostOf(line) {
  const ops = pair.diff.old[0].op_report && pair.diff.new[0].op_report;
  const list = pair.ops.filter((p) => !ops || p.key === line.name), away = (p) => (p.change === null ? -1 : Math.abs(p.change));
  return { list, most: list.reduce((best, p) => (!best || away(p) > away(best) ? p : best), null) };
}

function showItem(side, item) {
  pair[side].select(item, true);
  pair[side].reveal(pair[side].selection.band);
}

/* Both time lines at this pair, with the same scale. */
export function showPair(one) {
  const side = one.a ? "a" : "b", item = one[side];
  const long = Math.max(...SIDES.filter((s) => one[s]).map((s) => (one[s].end - one[s].start) * (s === side ? 1 : scale(s, side))));
  for (const s of SIDES) if (one[s]) showItem(s, one[s].items[0]);
  pair[side].setView(item.start - long * 0.4, item.start + long * 1.4);
  pair[side].repaint();
}

function showZone(line) {
  const found = SIDES.map((side) => {
    const where = side === "b" && line.moved_to ? line.moved_to : line.where;
    return pair[side].showPlace({ zone: line.name, line: where, risc: line.risc }) ? pair[side].selection.item : null;
  });
  const side = found[0] ? "a" : "b", item = found[side === "a" ? 0 : 1];
  if (!item) return;
  /* The instances may be of different launches: each run shows its own, on the same scale. */
  const page = pair[side], size = (page.itemEnd(item) - page.itemStart(item)) * 1.8;
  SIDES.forEach((s, k) => {
    if (!found[k]) return;
    const middle = (pair[s].itemStart(found[k]) + pair[s].itemEnd(found[k])) / 2, half = (size * (s === side ? 1 : scale(side, s))) / 2;
    pair[s].setView(middle - half, middle + half);
    pair.last[s] = [pair[s].view.t0, pair[s].view.t1];
    pair[s].repaint();
  });
}

function causeLine(line) {
  const row = rowOf(line), button = make("button", { type: "button" }, row.what);
  button.addEventListener("click", () => pair.a && pair.b && showZone(line));
  return make("p", {}, button, " " + unitText(row.old, row.unit) + " → " + unitText(row.new, row.unit) + (row.in_a_run === null ? "" : " (" + (row.in_a_run > 0 ? "+" : "") + unitText(row.in_a_run, row.unit) + " in a run)"));
}

function showWhy(row, list) {
  const causes = row.line.causes || [];
  byId("why").replaceChildren(make("h2", {}, row.what), make("p", { class: "faint" }, list ? counted(list.length, "pair") + " in the time lines; shown is the one that differs most." : row.line.kind === "zone" ? "Shown is the longest of each run." : "Both runs, whole."),
    ...(causes.length ? [make("p", {}, "It changed because of:"), ...causes.map(causeLine)] : []));
}

/* A line was chosen: both time lines go there. */
export function choose(row) {
  pair.chosen = tableState(TABLE.id).chosen = row;
  showLines();
  history.replaceState(null, "", "#" + rows.all.indexOf(row));
  const { line } = row, ops = line.kind === "op" ? mostOf(line) : null;
  showWhy(row, ops && ops.list);
  if (!pair.a || !pair.b) return;
  for (const side of SIDES) {
    pair[side].showTab("time");
    pair[side].bringOutItems(ops ? ops.list.filter((p) => p[side]).map((p) => p[side]) : []);
  }
  if (ops && ops.most) showPair(ops.most);
  else if (line.kind === "zone") showZone(line);
  else if (line.kind === "total") pair.a.viewAll();
  else byId("say").textContent = "this is not in the time lines";
}

/* ---- The rest --- */

function runName(run) {
  return run.name.split("/").slice(-2).join("/");
}

function showRuns() {
  const { diff } = pair, banner = byId("banner"), lost = [];
  for (const side of SIDES) {
    const run = diff[FRAMES[side]][0];
    byId(FRAMES[side] + "-name").textContent = FRAMES[side] + ": " + runName(run);
    byId(FRAMES[side] + "-name").title = run.name;
    if (run.losses) lost.push("the " + FRAMES[side] + " run lost something (" + counted(run.losses, "kind") + "): see its Log");
    if (!pair[side]) lost.push("the " + FRAMES[side] + " run has no time line");
  }
  banner.hidden = !lost.length;
  banner.textContent = lost.join("; ");
  const changed = diff.lines.filter((l) => l.kind !== "total" && (l.verdict === "slower" || l.verdict === "faster" || l.verdict === "new" || l.verdict === "gone")).length;
  byId("facts").replaceChildren(make("li", {}, runName(diff.old[0]) + " → " + runName(diff.new[0])), make("li", {}, changed ? counted(changed, "line") + " changed" : "no line changed more than chance"),
    ...(diff.undecided ? [make("li", { title: "so few samples cannot tell change from chance" }, counted(diff.undecided, "line") + " undecided")] : []));
}

function setTheme(dark) {
  pair.dark = dark;
  document.documentElement.dataset.theme = dark ? "dark" : "light";
  byId("theme").textContent = dark ? "light" : "dark";
  setColours(NO_MODEL, dark);
  showKinds();
  for (const side of SIDES) {
    const root = byId(FRAMES[side]).contentDocument.documentElement;
    if (root.dataset.theme && (root.dataset.theme === "dark") !== dark) root.querySelector("#theme").click();
  }
}

function startTheme() {
  const system = matchMedia("(prefers-color-scheme: dark)");
  system.addEventListener("change", () => setTheme(system.matches));
  byId("theme").addEventListener("click", () => setTheme(!pair.dark));
  for (const side of SIDES) {
    const button = byId(FRAMES[side]).contentDocument.getElementById("theme");
    if (button) button.addEventListener("click", () => setTheme(byId(FRAMES[side]).contentDocument.documentElement.dataset.theme === "dark"));
  }
  setTheme(system.matches);
}

async function start() {
  pair.diff = json("diff");
  rows.all = pair.diff.lines.map(rowOf);
  pair.shown = pair.diff.lines.some((l) => l.kind === "op") ? "op" : "zone";
  setColours(NO_MODEL, false);
  showTotals();
  showBar();
  showLines();
  [pair.a, pair.b] = await Promise.all(SIDES.map(load));
  startTheme();
  showRuns();
  byId("align").addEventListener("change", (event) => {
    pair.by = event.target.value;
    pair.last.a = null;
    if (pair.a && pair.b) follow("a");
  });
  if (pair.a && pair.b) {
    matchUp();
    SIDES.forEach(link);
  }
  const linked = rows.all[Number(location.hash.slice(1) || -1)];
  if (linked) choose(linked);
  document.documentElement.dataset.ready = "yes";
}

/** @type {any} */ (globalThis).devlog = { pair, rows, choose, showPair, aligned, matched };
start().catch((error) => {
  byId("banner").hidden = false;
  byId("banner").textContent = "This page could not be shown: " + error.message + ". It needs a browser of 2023 or later; if it is one, the file may be cut off.";
  document.documentElement.dataset.ready = "failed";
  throw error;
});
