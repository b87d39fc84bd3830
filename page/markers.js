/* The panel of what is no zone: sums, values, counters and events by name, of the whole log, and what kernels
 * printed. A click on a line of text shows where it was printed. */

import { POINT_TEXT } from "./data.js";
import { curveFor, curveOfCore, curves, toggleCurve } from "./curves.js";
import { byId, make } from "./dom.js";
import { counted, cyclesAndTime, grouped } from "./format.js";
import { goTo, itemStart } from "./select.js";
import { changed } from "./state.js";
import { measureTimeline, repaint, timeline } from "./timeline.js";

const MARKERS_SHOWN = 300;
const MARKER_COLUMNS = ["kind", "name", "RISC", "count", "passes", "last", "min", "max", "mean", "total", "curve"];

/* What a point of text says; null: it is no text. */
export function textOf(lane, i) {
  if (!lane.points || lane.kind[i] !== POINT_TEXT || !lane.value[i]) return null;
  return timeline.model.meta.texts[Number(lane.value[i]) - 1];
}

/* Curves whose cores are listed below their line. */
const listed = new Set();

/* The table once more; what had the focus has it again. */
function again(model, of) {
  showMarkers(model);
  const button = document.querySelector('#markers [data-of="' + of + '"]');
  if (button) /** @type {any} */ (button).focus();
}

/* Shows a curve, or takes it away. */
function drawButton(model, of, curve, text) {
  const shown = curves.shown.includes(curve), button = make("button", { type: "button", "aria-pressed": String(shown), "data-of": of, title: "as a curve in the time line" }, text || (shown ? "hide" : "draw"));
  button.addEventListener("click", () => {
    toggleCurve(curve);
    again(model, of);
    measureTimeline();
    repaint();
    changed();
  });
  return button;
}

function coresButton(model, of, curve) {
  const drawn = curves.shown.filter((c) => c.core && c === curveOfCore(curve, c.core)).length, button = make("button", { type: "button", "aria-expanded": String(listed.has(curve)), "data-of": of, title: "curves of single cores" }, drawn ? counted(drawn, "core") : "cores");
  button.addEventListener("click", () => {
    if (!listed.delete(curve)) listed.add(curve);
    again(model, of);
  });
  return button;
}

/* The line of one, and below it its cores, if they are listed. */
function markerRows(model, at, [chip, risc, name, kind, count, passes, last, min, max, mean, total]) {
  const number = (value) => make("td", { class: "n" }, value === "" ? "" : grouped(typeof value === "string" ? BigInt(value) : value));
  const line = make("tr", {}, make("td", {}, kind), make("td", { title: name.slice(0, 1000) }, name.slice(0, 200)), make("td", {}, risc),
    ...[count, passes, last, min, max, mean, total].map(number));
  if (model.usedChips.size > 1) line.firstChild.append(make("span", { class: "faint" }, " " + model.chips[chip].title));
  const curve = curveFor(chip, risc, name, kind), several = curve && curve.cores.length > 1;
  line.append(make("td", {}, curve ? drawButton(model, at + "", curve, "") : "", several ? coresButton(model, at + "-cores", curve) : ""));
  if (!several || !listed.has(curve)) return [line];
  const buttons = curve.cores.map((core) => drawButton(model, at + "-" + core.index, curveOfCore(curve, core), core.title));
  return [line, make("tr", {}, make("td", { colspan: String(MARKER_COLUMNS.length), class: "cores" }, ...buttons))];
}

/* The first texts of the page, by time. */
function textList(model) {
  const list = [];
  for (const row of model.rows)
    for (const lane of row.lanes)
      for (let i = 0; lane.points && i < lane.n; i++) if (textOf(lane, i) !== null) list.push({ lane, i });
  list.sort((a, b) => itemStart(a) - itemStart(b));
  return list;
}

function textRow(item) {
  const { row } = item.lane;
  const line = make("tr", { tabindex: "0" }, make("td", { class: "n" }, cyclesAndTime(item.lane.start[item.i], timeline.model.chips[row.chip].khz)),
    make("td", {}, row.core.title + ", " + row.risc), make("td", {}, textOf(item.lane, item.i).slice(0, 1000)));
  line.addEventListener("click", () => goTo(item));
  line.addEventListener("keydown", (event) => event.key === "Enter" && goTo(item));
  return line;
}

function more(n, where) {
  return n > 0 ? make("p", { class: "faint" }, "and " + grouped(n) + " more: " + where + " has all") : "";
}

export function showMarkers(model) {
  const { markers, all_markers: all, wait_records: waits } = model.meta, texts = textList(model);
  const head = make("tr", {}, ...MARKER_COLUMNS.map((c, i) => make("th", { scope: "col", class: i > 2 ? "n" : "" }, c)));
  const table = make("table", { id: "markers" }, make("thead", {}, head), make("tbody", {}, ...markers.slice(0, MARKERS_SHOWN).flatMap((m, i) => markerRows(model, i + 1, m))));
  const said = make("table", { id: "texts" }, make("tbody", {}, ...texts.slice(0, MARKERS_SHOWN).map(textRow)));
  byId("tab-markers").textContent = "Values and text" + (all ? " (" + grouped(all) + ")" : "");
  byId("pane-markers").replaceChildren(
    make("div", {}, make("h2", {}, markers.length ? "Sums, values, counters and events" : "There are no sums, values or events in this log"),
      markers.length ? table : "", more(all - Math.min(markers.length, MARKERS_SHOWN), "device_stats.txt"),
      waits === "0" ? "" : make("p", { class: "faint" }, grouped(BigInt(waits)) + " record" + (waits === "1" ? "" : "s") + " of waits: in no table here, devlog causes reads them")),
    make("div", {}, make("h2", {}, texts.length ? "Text" : "No kernel printed text"), texts.length ? said : "", more(texts.length - Math.min(texts.length, MARKERS_SHOWN), "device_stats.txt")));
}
