/* What is shown of a measured part of the time line: its statistics (area.js) by zone, or by row, in the order that was asked
 * for. A click on a row goes there. */

import { areaSteps } from "./area.js";
import { copyButtons, shownText } from "./copy.js";
import { make } from "./dom.js";
import { counted, cyclesAndTime, duration, grouped } from "./format.js";
import { rowsLayout } from "./rows.js";
import { reveal, selection, swatch } from "./select.js";
import { inSlices } from "./slices.js";
import { measureTimeline, repaint, timeline } from "./timeline.js";

export const area = { by: "zone", sort: { zone: "time", row: "" } };
const SHOWN = { zone: 60, row: 700 };

function showRow(row) {
  rowsLayout.open.add(row.core);
  measureTimeline();
  selection.band = rowsLayout.bands.find((b) => b.row === row) || null;
  reveal(selection.band);
  repaint();
}

function zoneLine(z, unit) {
  return make("tr", {}, make("td", { title: z.name.slice(0, 1000) }, swatch(z.site), z.name.slice(0, 80)), ...[z.count, Math.round(z.time * unit), Math.round(z.self * unit)].map((v) => make("td", { class: "n" }, grouped(v))));
}

function rowLine(r, unit) {
  const line = make("tr", { tabindex: "0" }, make("td", {}, r.row.core.name + " " + r.row.risc), ...[r.count, Math.round(r.time * unit)].map((v) => make("td", { class: "n" }, grouped(v))),
    make("td", { class: "n" }, ((r.time / r.length) * 100).toFixed(1) + " %"), make("td", {}, swatch(r.zone), r.zone.name.slice(0, 40)));
  line.addEventListener("click", () => showRow(r.row));
  line.addEventListener("keydown", (event) => {
    if (event.key !== "Enter") return;
    event.stopPropagation();
    showRow(r.row);
  });
  return line;
}

const COLUMNS = {
  zone: [["zone", "", null], ["count", "n", "count"], ["inside", "n", "time"], ["itself", "n", "self"]],
  row: [["core, RISC", "", ""], ["zones", "n", "count"], ["covered", "n", "time"], ["part", "n", "time"], ["most time in", "", null]],
};

function lengthText(value) {
  const { model } = timeline;
  return model.toCycles === 0 ? duration(value) : cyclesAndTime(value * model.toCycles, model.khz);
}

/* How long it is stands there at once; its statistics as soon as they are counted. */
export function showArea(box) {
  const [t0, t1] = selection.range, { rows } = selection;
  let isCounted = false;
  inSlices("area", areaSteps(timeline.model, t0, t1, rows), (found) => {
    isCounted = true;
    if (selection.range && selection.range[0] === t0 && selection.range[1] === t1 && selection.rows === rows) showCounted(box, found);
  });
  if (!isCounted) box.replaceChildren(make("h2", {}, "Measured: " + lengthText(t1 - t0)), make("p", { class: "faint" }, "from " + lengthText(t0) + "; counting its zones ..."));
}

function showCounted(box, found) {
  const ns = timeline.model.toCycles === 0, unit = ns ? 1 : timeline.model.toCycles, [t0, t1] = selection.range, by = area.by;
  const list = by === "zone" ? found.zones : found.rows, sort = area.sort[by], again = () => showCounted(box, found);
  const rows = sort ? [...list].sort((a, b) => b[sort] - a[sort]) : list;
  const head = make("tr", {}, ...COLUMNS[by].map(([name, kind, key]) => {
    if (key === null) return make("th", { scope: "col", class: kind }, name);
    const button = make("button", { type: "button" }, name);
    button.addEventListener("click", () => {
      area.sort[by] = key;
      again();
    });
    return make("th", { scope: "col", class: kind, "aria-sort": key === sort ? (key ? "descending" : "ascending") : undefined }, button);
  }));
  const turn = make("button", { type: "button", class: "go" }, by === "zone" ? "by row" : "by zone");
  turn.addEventListener("click", () => {
    area.by = by === "zone" ? "row" : "zone";
    again();
    /** @type {any} */ (box.querySelector(".go")).focus();
  });
  const where = selection.rows ? counted(selection.rows.size, "row") : "all rows";
  box.replaceChildren(make("h2", {}, "Measured: " + lengthText(t1 - t0)),
    make("p", { class: "faint" }, "from " + lengthText(t0) + "; " + where + ", " + counted(found.count, "zone") + "; " + (ns ? "ns" : "cycles") + " ", turn, " ", copyButtons(() => shownText(box.querySelector("table")))),
    make("table", { class: "answer area" }, make("thead", {}, head), make("tbody", {}, ...rows.slice(0, SHOWN[by]).map((r) => (by === "zone" ? zoneLine : rowLine)(r, unit)))),
    rows.length > SHOWN[by] ? make("p", { class: "faint" }, "and " + grouped(rows.length - SHOWN[by]) + " more") : "");
}
