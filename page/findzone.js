/* Find zone: one zone's instances, on all cores or one, one RISC or all, in the whole log or a part of it: their histogram, a
 * bin's instances, the longest, the median, one after the other; by core and by RISC; and beside a selection that was kept. The
 * durations are those in the page; when launches were left out of it, it says so. */

import { copyButtons, shownText } from "./copy.js";
import { byId, make } from "./dom.js";
import { counted, grouped } from "./format.js";
import { barColour, binText, binTextOf, drawHistogram, histogram } from "./histogram.js";
import { besideOf, binOf, binsOf, edgesOf, extremeOf, figuresOf, groupsOf, instancesOf, itemOf, longestOf } from "./instances.js";
import { say } from "./say.js";
import { goTo, selection } from "./select.js";
import { rowPlace, table } from "./table.js";
import { tabs } from "./tabs.js";
import { timeline } from "./timeline.js";
import { view } from "./view.js";

/* `risc`: "" is that of the row that was chosen, "all" all; `core`: null is all; `kept`: { text, lengths } to compare with. */
export const find = { logX: false, logY: false, weight: "count", core: null, risc: "", within: "all", kept: null, bin: -1, by: "core", row: null, found: null, drawnRange: "null" };
const LISTED = 200;

function unitOf(row) {
  const khz = timeline.model.chips[row.chip].khz, inTime = timeline.unit === "time" && khz > 0;
  return { scale: inTime ? 1e6 / khz : 1, unit: inTime ? "ns" : "cycles" };
}

function range() {
  if (find.within === "selection") return selection.range;
  return find.within === "screen" ? [view.t0, view.t1] : null;
}

function whole() {
  return !find.core && !find.risc && !range();
}

/* In words: which instances these are. */
function scopeText(row) {
  const place = find.risc === "all" ? "all RISCs" : rowPlace(row), parts = range();
  return row.name.slice(0, 60) + " on " + place + (find.core ? ", " + find.core.title : "") + (parts ? (find.within === "screen" ? ", on the screen" : ", in the selected time") : "");
}

function gather(row) {
  find.row = row;
  find.found = instancesOf(timeline.model, { name: row.name, chip: row.chip, core: find.core, risc: find.risc === "all" ? null : row.risc, range: range() });
}

function chooser(label, options, value, changed) {
  const menu = make("select", { "aria-label": label }, ...options.map(([v, text]) => make("option", { value: v }, text)));
  menu.value = value;
  menu.addEventListener("change", () => changed(menu.value));
  return menu;
}

function button(text, title, act) {
  const made = make("button", { type: "button", title }, text);
  made.addEventListener("click", act);
  return made;
}

/* Shows an instance by its number; false: there is none. */
function goToInstance(k) {
  if (k < 0) return say("no further instance");
  goTo(itemOf(find.found, k));
}

/* "max", "median", "min"; or by time 1 or -1. */
export function jump(where) {
  if (!find.found) return;
  goToInstance(typeof where === "string" ? extremeOf(find.found, where) : besideOf(find.found, ownItem(), where));
}

/* What is selected, if it is one of them. */
function ownItem() {
  const item = selection.item;
  return item && item.lane.row.core && timeline.model.sites[item.lane.site[item.i]].name === find.row.name ? item : null;
}

/* A change of what is asked for: a bin of it is no bin of what was before. */
function again() {
  find.bin = -1;
  showHistogram();
}

function keep() {
  find.kept = find.kept ? null : { text: scopeText(find.row), name: find.row.name, lengths: find.found.length };
  showHistogram();
}

function scopeBar(row) {
  const { model } = timeline, cores = model.cores.filter((c) => c.chip === row.chip);
  const set = (key) => (value) => {
    find[key] = value;
    again();
  };
  return make("div", { class: "bar find" },
    chooser("RISC", [["", row.risc], ["all", "all RISCs"]], find.risc, set("risc")),
    chooser("Core", [["", "all cores"], ...cores.map((c) => [c.name, c.title])], find.core ? find.core.name : "", (name) => {
      find.core = cores.find((c) => c.name === name) || null;
      again();
    }),
    chooser("Time", [["all", "the whole log"], ["screen", "on the screen"], ["selection", "time selected with Shift"]], find.within, set("within")),
    chooser("Durations", [["linear", "durations linear"], ["log", "durations logarithmic"]], find.logX ? "log" : "linear", (v) => set("logX")(v === "log")),
    chooser("Bars", [["linear", "bars linear"], ["log", "bars logarithmic"]], find.logY ? "log" : "linear", (v) => set("logY")(v === "log")),
    chooser("Bars are", [["count", "count"], ["time", "time"]], find.weight, set("weight")),
    button("longest", "Show the longest instance", () => jump("max")), button("median", "Show the instance nearest to the median", () => jump("median")),
    button("‹ before", "The instance before, by time, on whichever core", () => jump(-1)), button("next ›", "The next instance, by time, on whichever core", () => jump(1)),
    button(find.kept ? "forget the kept" : "keep to compare", "Keep this selection, and compare the next one with it", keep));
}

/* The least and the greatest. */
function endsOf(lengths) {
  let low = Infinity, high = 0;
  for (const v of lengths) {
    if (v < low) low = v;
    if (v > high) high = v;
  }
  return [low, high];
}

/* The bins of both selections are the same. */
function draw(canvas, box, row) {
  const kept = find.kept && find.kept.lengths.length ? find.kept.lengths : null, ends = [find.found.length, ...(kept ? [kept] : [])].map(endsOf);
  const edges = edgesOf(Math.min(...ends.map((e) => e[0])), Math.max(...ends.map((e) => e[1])), find.logX);
  const own = binsOf(find.found.length, edges), beside = kept && binsOf(kept, edges), { scale, unit } = unitOf(row);
  const bars = (bins) => (find.weight === "time" ? bins.times.map((t) => t * scale) : bins.counts);
  const used = [...box.children].reduce((sum, e) => sum + (e === canvas ? 0 : e.offsetHeight), 0);
  const { median, p95 } = whole() ? row : figuresOf(find.found.length); /* to sort them takes long */
  drawHistogram(canvas, { w: box.clientWidth - 12, h: box.clientHeight - 18 - used }, {
    edges, at: edges.slice(0, -1), ...own, bars: bars(own), other: beside ? bars(beside) : null, scale, unit, weight: find.weight, logX: find.logX, logY: find.logY, bin: find.bin,
    colour: barColour(row.name), lines: [[median, "median"], [p95, "p95"]],
  });
}

export function chooseBin(i) {
  find.bin = i === find.bin || i < 0 || i >= histogram.drawn.counts.length ? -1 : i;
  if (find.bin >= 0) say(binTextOf(find.bin));
  showHistogram();
}

function onChartKey(event) {
  const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key], n = histogram.drawn.counts.length;
  if (!step) return;
  event.preventDefault();
  event.stopPropagation();
  let i = find.bin < 0 ? (step > 0 ? -1 : n) : find.bin;
  do i += step;
  while (i >= 0 && i < n && !histogram.drawn.counts[i]); /* empty ones have nothing to show */
  if (i < 0 || i >= n) return;
  chooseBin(i);
  byId("chart").querySelector("canvas").focus();
}

/* Where another tab is on the screen it is drawn when this one comes back. */
export function showHistogram() {
  const box = byId("chart"), row = table.chosen || table.suggested;
  if (tabs.now !== "zones") {
    Object.assign(find, { row, found: null });
    return;
  }
  histogram.drawn = null;
  find.found = null;
  byId("instances").replaceChildren();
  if (!row) return box.replaceChildren();
  if (find.core && find.core.chip !== row.chip) find.core = null;
  gather(row);
  const bin = make("output", { id: "bin", class: "faint" }), title = make("h2", {}, scopeText(row), make("span", { class: "faint" }, " " + counted(find.found.n, "duration") + " "));
  box.replaceChildren(title, scopeBar(row), bin);
  if (whole() && find.found.n < row.count)
    title.append(make("span", { class: "warn" }, grouped(find.found.n) + " of " + grouped(row.count) + " are in the page"));
  if (find.within === "selection" && !selection.range) title.append(make("span", { class: "warn" }, "no time is selected: hold Shift and drag"));
  if (!find.found.n) return box.append(make("p", { class: "faint" }, "It did not run there."));
  const canvas = make("canvas", { tabindex: "0", role: "application", "aria-label": "Histogram: arrow keys choose a bin, whose instances are listed beside it" });
  box.append(canvas);
  canvas.addEventListener("pointermove", (event) => (bin.textContent = binText(event.clientX - canvas.getBoundingClientRect().left)));
  canvas.addEventListener("pointerleave", () => (bin.textContent = binTextOf(find.bin) || "a bar: its instances"));
  canvas.addEventListener("click", (event) => chooseBin(histogram.drawn.frame.bin(event.clientX - canvas.getBoundingClientRect().left)));
  canvas.addEventListener("keydown", onChartKey);
  draw(canvas, box, row);
  bin.textContent = binTextOf(find.bin) || "a bar: its instances";
  showInstances();
}

/* A line of a list that can be clicked, by mouse and keyboard. */
function clickable(line, act) {
  line.tabIndex = 0;
  line.addEventListener("click", act);
  line.addEventListener("keydown", (event) => {
    if (event.key !== "Enter") return;
    event.stopPropagation();
    act();
  });
  return line;
}

function number(text) {
  return make("td", { class: "n" }, text);
}

function heading(names) {
  return make("thead", {}, make("tr", {}, ...names.map(([name, kind]) => make("th", { scope: "col", class: kind }, name))));
}

/* Of the bin that was chosen, or of all: the longest. */
function instanceTable() {
  const { found } = find, { edges, scale, unit } = histogram.drawn, most = find.bin < 0 ? 20 : LISTED;
  const { list, n } = longestOf(found, most, find.bin < 0 ? () => true : (length) => binOf(edges, length) === find.bin);
  const lines = list.map((k) => {
    const item = itemOf(found, k), { row } = item.lane, launch = timeline.model.launches[item.lane.launch[item.i]];
    return clickable(make("tr", {}, number(grouped(found.length[k] * scale)), make("td", {}, row.core.name), make("td", {}, row.risc), make("td", {}, launch ? launch.name.slice(0, 40) : "")), () => goTo(item));
  });
  const left = n - lines.length;
  return [make("h2", {}, find.bin < 0 ? "The longest" : "Of this bin, the longest first"),
    make("table", { class: "list" }, heading([[unit, "n"], ["core", ""], ["RISC", ""], ["launch", ""]]), make("tbody", {}, ...lines)),
    left ? make("p", { class: "faint" }, find.bin < 0 ? "Click a bar for its instances." : "and " + grouped(left) + " more") : ""];
}

/* By core or by RISC; a click goes to the longest there. */
function groupTable() {
  const { scale, unit } = histogram.drawn, groups = groupsOf(find.found, find.by);
  if (groups.length < 2 && find.by === "core" && find.risc !== "all") return [];
  const lines = groups.slice(0, LISTED).map((g) => clickable(make("tr", {}, make("td", {}, find.by === "core" ? g.key.name : g.key), number(grouped(g.count)), number(grouped(g.median * scale)), number(grouped(g.max * scale)),
    number(grouped(g.sum * scale))), () => goToInstance(g.k)));
  return [make("h2", {}, "By ", chooser("Put together by", [["core", "core"], ["risc", "RISC"]], find.by, (by) => {
    find.by = by;
    showHistogram();
  }), ", " + unit + ", the largest median first"), make("table", { class: "list" }, heading([[find.by === "core" ? "core" : "RISC", ""], ["count", "n"], ["median", "n"], ["max", "n"], ["total", "n"]]), make("tbody", {}, ...lines))];
}

/* The kept selection beside this one. */
function comparison() {
  if (!find.kept) return [];
  const { scale } = histogram.drawn, a = figuresOf(find.kept.lengths), b = figuresOf(find.found.length);
  const lines = ["count", "sum", "average", "min", "median", "p95", "p99", "max"].map((key) => {
    const by = key === "count" ? 1 : scale, change = a && a[key] ? ((b[key] / a[key] - 1) * 100) : NaN;
    return make("tr", { class: change > 2 ? "more" : change < -2 ? "less" : "" }, make("td", {}, key === "sum" ? "total" : key), number(a ? grouped(a[key] * by) : ""), number(grouped(b[key] * by)),
      number(isFinite(change) ? (change > 0 ? "+" : "") + change.toFixed(1) + " %" : ""));
  });
  return [make("h2", {}, "Beside what was kept"), make("p", { class: "faint" }, "kept: " + find.kept.text + " (dashed); now: " + scopeText(find.row)),
    make("table", { class: "list beside", id: "beside" }, heading([["", ""], ["kept", "n"], ["now", "n"], ["change", "n"]]), make("tbody", {}, ...lines))];
}

function showInstances() {
  byId("instances").replaceChildren(...comparison(), ...groupTable(), ...instanceTable());
  for (const list of byId("instances").querySelectorAll("table")) list.before(copyButtons(() => shownText(list)));
}

let due = 0;
/* The time line has moved, or a time was selected. */
export function findMoved() {
  if (tabs.now !== "zones" || find.within === "all") return;
  clearTimeout(due);
  due = setTimeout(() => {
    const now = range();
    if (find.drawnRange === String(now)) return;
    find.drawnRange = String(now);
    again();
  }, 120);
}

/* Whether an instance of this row of the table is one of those that are shown. */
export function isFound(row) {
  return find.row && find.risc === "all" && row.name === find.row.name && row.chip === find.row.chip;
}
