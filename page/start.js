/* Starts the page: reads the data, then wires the parts together. What goes wrong is said on the page. */

import { answers, readAnswers, section } from "./answers.js";
import { readIntervals, readMeta, ROLE_FW, ROLE_KERNEL } from "./data.js";
import { showCausesBar, startCauses } from "./causes_draw.js";
import { curves, curvesOf } from "./curves.js";
import { byId, make } from "./dom.js";
import { findMoved, showHistogram } from "./findzone.js";
import { offerHeat, showHeat, startHeat, worstStraggler } from "./heatmap.js";
import { handle } from "./handle.js";
import { startKeys } from "./keys.js";
import { showEmpty, showFacts, showHealth, showLog } from "./losses.js";
import { showMarkers } from "./markers.js";
import { hasMemory, showMemory } from "./memory.js";
import { hasOps, showOps, timeChanged } from "./ops.js";
import { showOverview, showStraggler, showThreads } from "./overview.js";
import { showCauses } from "./panes.js";
import { opNames, opOf } from "./places.js";
import { addRanges } from "./ranges.js";
import { showRoofline } from "./roofline.js";
import { refreshColours, startSearch } from "./search.js";
import { showDetails, startSelect } from "./select.js";
import { changed, startState } from "./state.js";
import { showTable, startTable } from "./table.js";
import { offerTab, showTab, startTabs, tabs } from "./tabs.js";
import { recolour, startTheme, theme } from "./theme.js";
import { measureTimeline, startTimeline, timeline } from "./timeline.js";

/* Zones that devlog's own functions write, as the tables call them. */
const CALLED = { "DEVLOG-WAIT-FULL": "wait: buffer full", "DEVLOG-WAIT-EMPTY": "wait: buffer empty", "DEVLOG-WAIT-SEMAPHORE": "wait: semaphore", "DEVLOG-WAIT-NOC": "wait: NoC" };

function showLegend(model) {
  const legend = byId("legend"), names = [...theme.ofName.keys()].slice(0, 9);
  const entry = (colour, text) => {
    const shown = CALLED[text] || text;
    const mark = make("i", { class: "swatch" });
    mark.style.background = colour;
    return make("span", { title: text === shown ? text : shown + " (" + text + ")" }, mark, shown.length > 24 ? shown.slice(0, 23) + "…" : shown);
  };
  const entries = [];
  if (model.sites.some((s) => s.role === ROLE_FW)) entries.push(entry(theme.colours.fw, "firmware"));
  if (model.sites.some((s) => s.role === ROLE_KERNEL)) entries.push(entry(theme.colours.kernel, "kernel"));
  legend.replaceChildren(...entries, ...names.map((n) => entry(theme.ofName.get(n), n)));
  if (theme.ofName.size > names.length) legend.append(make("span", { class: "faint" }, "and " + (theme.ofName.size - names.length) + " more"));
}

function themeChanged(model) {
  showLegend(model);
  if (!model.intervals) return;
  refreshColours();
  showTable();
  showDetails();
  showCausesBar();
  tabs.shown.get(tabs.now)();
}

/* The tabs whose data are in the page. */
function offerTabs(model) {
  offerTab("time");
  if (hasOps()) offerTab("ops", showOps);
  if (answers.made) byId("tab-ops").textContent = "Launches";
  offerTab("zones", showHistogram);
  if (model.launches.length) offerTab("heat", showHeat);
  if (hasMemory()) offerTab("memory", showMemory);
  if (section("report", "roofline")) offerTab("roofline", showRoofline);
  if (section("causes", "path") || section("report", "waits")) offerTab("causes", showCauses);
  if (model.meta.all_markers || model.meta.texts.length || (model.meta.wait_records !== "0" && !tabs.shown.has("causes"))) offerTab("markers");
}

/* Launches are called after their ops, where those are known. */
function nameLaunches(model) {
  const names = opNames();
  for (const launch of model.launches) {
    const name = names.get(opOf(launch));
    if (name) launch.name = name + " (" + opOf(launch) + ")";
  }
}

function frame() {
  return new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
}

async function start() {
  const linked = location.hash.slice(1);
  const meta = JSON.parse(byId("meta").textContent), columns = byId("columns"), text = columns.textContent;
  columns.remove(); /* the browser may forget the text */
  await readAnswers(byId("answers").textContent);
  const model = readMeta(meta);
  timeline.model = model;
  startTabs();
  offerTab("log");
  showFacts(model);
  startTheme(model, () => timeline.ready && themeChanged(model));
  showHealth(model);
  if (!meta.rows.length) return showEmpty(model);
  offerTab("overview");
  showOverview(model);
  showTab("overview");
  await frame(); /* the verdict is there before the intervals are read */
  timeline.overview = performance.now(); /* since the page was asked for */
  await readIntervals(model, text);
  if (!model.intervals) return showEmpty(model);
  nameLaunches(model);
  addRanges(model);
  startCauses(model);
  showFacts(model);
  recolour(model);
  tabs.timeline = measureTimeline;
  startTimeline(model);
  startSelect();
  startTable(model);
  startHeat();
  startSearch();
  startKeys();
  timeline.ready = true;
  themeChanged(model);
  offerHeat();
  curves.all = curvesOf(model);
  showMarkers(model);
  showLog(model);
  offerTabs(model);
  timeline.moved = () => {
    timeChanged();
    findMoved();
    changed();
  };
  if (linked && tabs.now === "overview") showTab(linked.split("?")[0]);
  startState(linked);
  requestIdleCallback(() => {
    showStraggler(worstStraggler());
    showThreads(model);
  }, { timeout: 1000 });
  let due = 0;
  addEventListener("resize", () => {
    clearTimeout(due);
    due = setTimeout(() => tabs.shown.get(tabs.now)(), 100);
  });
  await frame();
  timeline.shown = performance.now();
  document.documentElement.dataset.ready = "yes";
}

/** @type {any} */ (globalThis).devlog = handle;
start().catch((error) => {
  const banner = byId("banner");
  banner.hidden = false;
  banner.textContent = "This page could not be shown: " + error.message + ". It needs a browser of 2023 or later; if it is one, the file may be cut off.";
  document.documentElement.dataset.ready = "failed";
  throw error;
});
