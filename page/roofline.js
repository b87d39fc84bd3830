/* The tab of the roofline: each op at its FLOPs by byte and its FLOPs by second, below the roofs that it could reach; what is under
 * the pointer is said beside it, and a click shows it in the time line. Every number is one of the answer's; where it says
 * nothing of FLOPs or bytes, the table has what there is. */

import { section, unitText } from "./answers.js";
import { columnTitle, sectionBlock } from "./answer_table.js";
import { byId, make } from "./dom.js";
import { showPlace } from "./places.js";
import { svg } from "./svg.js";

const W = 760, H = 320, LEFT = 88, RIGHT = 12, TOP = 12, BOTTOM = 40;

/* Peaks as the answer's rates and shares imply them: the highest of all ops; null: nobody knows. */
export function peaksOf(rows) {
  const best = (rate, share) => rows.reduce((most, r) => (r[rate] > 0 && r[share] > 0 ? Math.max(most, (r[rate] / r[share]) * 100) : most), 0) || null;
  return { compute: best("flop_rate", "of_compute"), dram: best("byte_rate", "of_dram") };
}

/* Where ops are: { row, x: FLOPs by byte or null (no bytes of DRAM), y: FLOPs by second }, of those whose FLOPs are known. */
export function pointsOf(rows) {
  return rows.filter((r) => r.flop_rate > 0).map((row) => ({ row, x: row.intensity > 0 ? row.intensity : null, y: row.flop_rate }));
}

/* Powers of ten around values, at least one. */
function decades(values) {
  const low = Math.floor(Math.log10(Math.min(...values)) - 0.15), high = Math.ceil(Math.log10(Math.max(...values)) + 0.15);
  return [low, Math.max(high, low + 1)];
}

function facts(row, columns) {
  return make("dl", {}, ...columns.filter((c) => row[c.key] !== null && c.key !== "op_id").flatMap((c) => [make("dt", {}, columnTitle(c.key)), make("dd", {}, unitText(row[c.key], c.unit))]));
}

function boundClass(row) {
  return "op " + (row.bound ? String(row.bound).toLowerCase().replace(/[^a-z]+/g, "-") : "unknown");
}

function picture(found, side) {
  const points = pointsOf(found.rows), peaks = peaksOf(found.rows);
  if (!points.length) return null;
  const ridge = peaks.compute && peaks.dram ? peaks.compute / peaks.dram : null, xs = points.map((p) => p.x).filter((x) => x !== null).concat(ridge ? [ridge / 30, ridge * 30] : [0.1, 1000]);
  const [x0, x1] = decades(xs), [y0, y1] = decades(points.map((p) => p.y).concat(peaks.compute ? [peaks.compute] : []));
  const x = (v) => LEFT + ((Math.log10(v) - x0) / (x1 - x0)) * (W - LEFT - RIGHT - 90), y = (v) => H - BOTTOM - ((Math.log10(v) - y0) / (y1 - y0)) * (H - TOP - BOTTOM);
  const parts = [], line = (a, b, c, d, kind) => parts.push(svg("line", { x1: a, y1: b, x2: c, y2: d, class: kind }));
  for (let p = y0; p <= y1; p++) {
    line(LEFT, y(10 ** p), W - RIGHT, y(10 ** p), "grid");
    parts.push(svg("text", { x: LEFT - 6, y: y(10 ** p) + 4, class: "right" }, unitText(10 ** p, "flops/s")));
  }
  for (let p = x0; p <= x1; p += Math.max(1, Math.ceil((x1 - x0) / 8))) {
    line(x(10 ** p), TOP, x(10 ** p), H - BOTTOM, "grid");
    parts.push(svg("text", { x: x(10 ** p), y: H - BOTTOM + 15, class: "middle" }, String(Number((10 ** p).toPrecision(2)))));
  }
  parts.push(svg("text", { x: (LEFT + x(10 ** x1)) / 2, y: H - 6, class: "middle" }, "FLOPs by byte of DRAM"), svg("text", { x: W - RIGHT, y: H - BOTTOM + 15, class: "right" }, "no DRAM"));
  if (peaks.compute) {
    line(ridge ? x(Math.max(ridge, 10 ** x0)) : LEFT, y(peaks.compute), W - RIGHT, y(peaks.compute), "roof");
    parts.push(svg("text", { x: W - RIGHT, y: y(peaks.compute) - 5, class: "right" }, "compute: " + unitText(peaks.compute, "flops/s")));
  }
  if (peaks.dram) {
    const from = Math.max(10 ** x0, 10 ** y0 / peaks.dram), to = ridge || 10 ** x1;
    line(x(from), y(from * peaks.dram), x(to), y(Math.min(to * peaks.dram, 10 ** y1)), "roof");
    parts.push(svg("text", { x: x(from) + 6, y: y(from * peaks.dram) - 6 }, "DRAM: " + unitText(peaks.dram, "bytes/s")));
  }
  const most = Math.max(...points.map((p) => p.row.time || 0), 1), texts = [];
  for (const p of [...points].sort((a, b) => (b.row.time || 0) - (a.row.time || 0))) {
    const at = { cx: p.x === null ? W - RIGHT - 24 : x(p.x), cy: y(p.y) };
    const dot = svg("circle", { ...at, r: 4 + 10 * Math.sqrt((p.row.time || 0) / most), class: boundClass(p.row), tabindex: 0, role: "button", "aria-label": p.row.op + ", bound by " + (p.row.bound || "nobody knows what") });
    const show = () => side.replaceChildren(make("h2", {}, String(p.row.op).slice(0, 80)), facts(p.row, found.columns));
    dot.addEventListener("pointerenter", show);
    dot.addEventListener("focus", show);
    dot.addEventListener("click", () => showPlace(p.row));
    dot.addEventListener("keydown", (event) => event.key === "Enter" && showPlace(p.row));
    parts.push(dot);
    if (texts.every((t) => Math.abs(t.cy - at.cy) > 13 || Math.abs(t.cx - at.cx) > 110) && texts.length < 12) {
      texts.push(at);
      const left = at.cx > W * 0.75;
      parts.push(svg("text", { x: at.cx + (left ? -14 : 14), y: at.cy + 4, class: left ? "name right" : "name" }, String(p.row.op).slice(0, 22)));
    }
  }
  return svg("svg", { viewBox: "0 0 " + W + " " + H, class: "roofline", role: "group", "aria-label": "Roofline: FLOPs by second of each op, by its FLOPs by byte" }, ...parts);
}

export function showRoofline() {
  const found = section("report", "roofline"), pane = byId("pane-roofline"), side = make("div", { id: "roofline-op", "aria-live": "polite" });
  const drawn = picture(found, side), known = pointsOf(found.rows).length;
  side.append(make("p", { class: "faint" }, "Point at an op for its figures; click it to see it in the time line. A larger one took more time."));
  const block = sectionBlock(found, { id: "roofline", label: "Roofline", title: "What limits each op: the part of the compute and of the DRAM peak that it reached", click: showPlace });
  pane.replaceChildren(...(drawn ? [make("div", { class: "block" }, make("h2", {}, "Roofline"), make("div", { class: "roofs" }, make("div", { class: "wide" }, drawn), side),
    known < found.rows.length ? make("p", { class: "faint" }, "FLOPs of " + (found.rows.length - known) + " of " + found.rows.length + " are not known: they are in the table only.") : "")] : []), block);
}

/* What the roofline says of an op, by its code: for the time line. */
export function rooflineOf(code) {
  const found = section("report", "roofline"), row = found && found.rows.find((r) => r.op === code);
  if (!row || !row.bound) return null;
  return row.bound + (row.of_compute === null ? "" : ", " + unitText(row.of_compute, "percent") + " of the compute peak") + (row.of_dram === null ? "" : ", " + unitText(row.of_dram, "percent") + " of DRAM");
}
