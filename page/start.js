/* Starts the page: reads the data, then wires the parts together. What goes wrong is said on the page. */

import { loadModel, ROLE_FW, ROLE_KERNEL } from "./data.js";
import { byId, make } from "./dom.js";
import { offerHeat, showHeat, startHeat } from "./heatmap.js";
import { handle } from "./handle.js";
import { showHistogram } from "./histogram.js";
import { startKeys } from "./keys.js";
import { showEmpty, showFacts, showHealth, showLog } from "./losses.js";
import { showMarkers } from "./markers.js";
import { refreshColours, startSearch } from "./search.js";
import { showDetails, startSelect } from "./select.js";
import { showTable, startTable } from "./table.js";
import { startTheme, theme } from "./theme.js";
import { startTimeline, timeline } from "./timeline.js";

function showLegend(model) {
  const legend = byId("legend"), names = [...theme.ofName.keys()].slice(0, 9);
  const entry = (colour, text) => {
    const mark = make("i", { class: "swatch" });
    mark.style.background = colour;
    return make("span", { title: text }, mark, text.slice(0, 24));
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
  showHistogram();
  showDetails();
  if (!byId("pane-heat").hidden) showHeat();
}

export async function start() {
  const columns = byId("columns"), model = await loadModel(JSON.parse(byId("meta").textContent), columns.textContent);
  columns.remove(); /* the browser may forget the text */
  timeline.model = model;
  showFacts(model);
  startTheme(model, () => timeline.ready && themeChanged(model));
  showHealth(model);
  if (!model.intervals) return showEmpty(model);
  startTimeline(model);
  startSelect();
  startTable(model);
  startHeat();
  startSearch();
  startKeys();
  timeline.ready = true;
  themeChanged(model);
  offerHeat();
  showMarkers(model);
  showLog(model);
  let due = 0;
  addEventListener("resize", () => {
    clearTimeout(due);
    due = setTimeout(showHistogram, 100);
  });
  byId("rows").focus({ preventScroll: true });
  requestAnimationFrame(() => requestAnimationFrame(() => {
    timeline.shown = performance.now(); /* since the page was asked for */
    document.documentElement.dataset.ready = "yes";
  }));
}

/** @type {any} */ (globalThis).devlog = handle;
start().catch((error) => {
  const banner = byId("banner");
  banner.hidden = false;
  banner.textContent = "This page could not be shown: " + error.message + ". It needs a browser of 2023 or later; if it is one, the file may be cut off.";
  document.documentElement.dataset.ready = "failed";
  throw error;
});
