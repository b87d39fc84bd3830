/* What the user points at: hover and tooltip, the selected interval, the measured range, and the keyboard's
 * walk from zone to zone. */

import { lowerBound, POINT_DROPPED, POINT_SUM, POINT_VALUE, upperBound } from "./data.js";
import { paintFlags } from "./bookmarks.js";
import { causesOf, paintCauses } from "./causes_draw.js";
import { curvePoint } from "./curves.js";
import { byId, make } from "./dom.js";
import { paintFlows } from "./flows.js";
import { counted, cyclesAndTime } from "./format.js";
import { textOf } from "./markers.js";
import { showArea } from "./area_table.js";
import { order } from "./order.js";
import { rooflineOf } from "./roofline.js";
import { say } from "./say.js";
import { bandAt, bandOfRow, laneBox, rowsLayout, stripBox } from "./rows.js";
import { stopSlices } from "./slices.js";
import { inkOn, theme } from "./theme.js";
import { pinching, startTouch } from "./touch.js";
import { axisTextUnit, axisToX, fitCanvas, laneName, measureTimeline, repaint, timeline, toggleCore, xToAxis } from "./timeline.js";
import { pan, setView, view, viewRange, zoom } from "./view.js";

/* `range`: [from, to] that is measured, on the axis, and `rows` in it (a Set; null: all). */
export const selection = { item: null, hover: null, range: null, rows: null, band: null, drag: null };

/* Its zone; null for a launch and for a call of the host. */
export function itemSite(item) {
  return item.lane.row.core ? timeline.model.sites[item.lane.site[item.i]] : null;
}

export function itemName(item) {
  return (item.lane.row.core || item.lane.row.host || item.lane.row.names ? "" : "launch ") + laneName(item.lane, item.i).slice(0, 200);
}

export function itemStart(item) {
  return item.lane.start[item.i] * item.lane.row.scale + item.lane.row.offset;
}

export function itemEnd(item) {
  return item.lane.end[item.i] * item.lane.row.scale + item.lane.row.offset;
}

/* The interval of a lane at cycle t, or the nearest that is at most `near` cycles away. */
function inLane(lane, t, near) {
  const i = lowerBound(lane.end, t);
  let best = -1, distance = Infinity;
  for (let k = Math.max(0, i - 1); k < Math.min(lane.n, i + 2); k++) {
    const away = Math.max(lane.start[k] - t, t - lane.end[k], 0);
    if (away < distance) [best, distance] = [k, away];
  }
  return best >= 0 && distance <= near ? { lane, i: best } : null;
}

/* What is under the mouse: in open rows the lane there, in closed cores the deepest zone of the strip there. */
function itemAt(x, y) {
  const band = bandAt(y);
  if (!band || (band.kind === "core" && band.open)) return null;
  const find = (lane) => {
    const { scale, offset } = lane.row, near = ((view.t1 - view.t0) / timeline.width / scale) * (lane.points ? 3 : 1);
    return inLane(lane, (xToAxis(x) - offset) / scale, near);
  };
  if (band.kind === "curve") return curvePoint(band.curve, xToAxis(x), ((view.t1 - view.t0) / timeline.width) * 20);
  if (band.kind !== "core") {
    const lane = band.row && band.row.lanes.find((l) => {
      const box = laneBox(band, l);
      return y >= box.y && y < box.y + box.h + 1;
    });
    return lane ? find(lane) : null;
  }
  const rows = band.core.rows;
  const merged = band.h < rows.length;
  const at = Math.min(rows.length - 1, Math.floor(((y - band.y) / band.h) * rows.length));
  let best = null;
  for (const row of merged ? rows : [rows[at]])
    for (const lane of row.lanes) {
      const item = lane.points ? null : find(lane);
      if (item && (!best || lane.level >= best.lane.level)) best = item;
    }
  return best;
}

/* Cycles of an interval that are not in zones nested in it. */
function selfTime(item) {
  const { lane, i } = item;
  const inner = lane.row.lanes.find((l) => !l.points && l.level === lane.level + 1);
  let self = lane.end[i] - lane.start[i];
  if (inner)
    for (let k = lowerBound(inner.start, lane.start[i]); k < inner.n && inner.end[k] <= lane.end[i]; k++)
      self -= inner.end[k] - inner.start[k];
  return self;
}

/* [name, value] pairs that describe an interval; the same for tooltip, details and screen readers. */
function describe(item) {
  const { lane, i } = item, site = itemSite(item), chip = timeline.model.chips[lane.row.chip];
  if (lane.row.names) return [["what", lane.row.risc.slice(0, -1)], ["duration", axisTextUnit(lane.end[i] - lane.start[i], (lane.end[i] - lane.start[i]) / 1000)], ["start", axisTextUnit(lane.start[i], view.span / 1e5)]];
  const launch = timeline.model.launches[lane.launch[i]];
  const place = site ? lane.row.core.title + ", " + lane.row.risc : lane.row.host ? "the host" : "the whole chip";
  const facts = [["where", !site && !lane.row.host && timeline.model.usedChips.size > 1 ? chip.title : place]];
  if (site && site.file) facts.push(["source", site.file + (site.line ? ":" + site.line : "")]);
  facts.push(["launch", launch ? launch.name : "none"]);
  if (lane.points) {
    if (textOf(lane, i) !== null) facts.push(["text of", site.name]);
    if (lane.kind[i] === POINT_VALUE) facts.push(["value", lane.value[i].toString() + " (0x" + lane.value[i].toString(16) + ")"]);
    if (lane.kind[i] === POINT_DROPPED) facts.push(["dropped", counted(Number(lane.value[i]), "marker")]);
    if (lane.kind[i] === POINT_SUM) facts.push(["sum", cyclesAndTime(Number(lane.value[i]), chip.khz)]);
  } else {
    facts.push(["duration", cyclesAndTime(lane.end[i] - lane.start[i], chip.khz)]);
    const self = site ? selfTime(item) : lane.end[i] - lane.start[i];
    if (self !== lane.end[i] - lane.start[i]) facts.push(["of it itself", cyclesAndTime(self, chip.khz)]);
  }
  facts.push(...causesOf(item));
  const bound = !site && !lane.row.host && launch && rooflineOf(launch.name.replace(/ \(\d+\)$/, ""));
  if (bound) facts.push(["bound by", bound]);
  const beside = !site && !lane.row.host && timeline.beside && timeline.beside.get(lane.launch[i]);
  if (beside) facts.push(["other run", beside]);
  facts.push(["start", cyclesAndTime(lane.start[i], chip.khz)]);
  facts.push(["clock", (BigInt(chip.base) + BigInt(Math.round(lane.start[i]))).toString()]);
  return facts;
}

function factList(item) {
  const list = make("dl", {});
  for (const [name, value] of describe(item)) list.append(make("dt", {}, name), make("dd", {}, value));
  return list;
}

export function swatch(site) {
  if (!site) return "";
  const mark = make("i", { class: "swatch" });
  mark.style.background = theme.css[site.index];
  return mark;
}

export function showTip(item, x, y) {
  const tip = byId("tip");
  tip.hidden = !item;
  if (!item) return;
  tip.replaceChildren(make("b", {}, swatch(itemSite(item)), itemName(item)), factList(item));
  const width = tip.offsetWidth, height = tip.offsetHeight;
  tip.style.left = Math.max(4, x + 14 + width > innerWidth ? x - width - 14 : x + 14) + "px";
  tip.style.top = Math.max(4, y + 16 + height > innerHeight ? y - height - 10 : y + 16) + "px";
}

export function showDetails() {
  const box = byId("details");
  if (selection.range) return showArea(box);
  stopSlices("area");
  if (!selection.item) {
    box.replaceChildren(make("h2", {}, "Selection"), make("p", { class: "faint" }, "Click a zone for its figures. Hold Shift and drag to measure a range."));
    return;
  }
  box.replaceChildren(make("h2", {}, swatch(itemSite(selection.item)), itemName(selection.item)), factList(selection.item));
}

export function select(item, announce) {
  selection.item = item;
  selection.range = selection.rows = null;
  if (item) {
    selection.band = bandOfRow(item.lane.row);
    if (announce) say(itemName(item) + ", " + describe(item).map((f) => f.join(" ")).join(", "));
    if (itemSite(item)) timeline.chosen(itemSite(item), item.lane.row);
  }
  showDetails();
  repaint();
}

let detailsDue = 0;

export function measure(t0, t1, rows) {
  selection.range = t0 < t1 ? [t0, t1] : [t1, t0];
  selection.rows = rows && rows.size ? rows : null;
  selection.item = null;
  clearTimeout(detailsDue);
  /* While the mouse moves over a million intervals the picture comes first. */
  if (timeline.model.intervals > 200000) detailsDue = setTimeout(showDetails, 60);
  else showDetails();
  repaint();
}

/* The place of the axis under the pointer, or the edge of a zone there that is hardly away. */
export function snapped(at) {
  const t = xToAxis(at.x), near = (6 / timeline.width) * (view.t1 - view.t0), item = itemAt(at.x, at.rowsY) || itemAt(at.x - 6, at.rowsY) || itemAt(at.x + 6, at.rowsY);
  const edges = item ? [itemStart(item), itemEnd(item)] : [];
  return edges.filter((e) => Math.abs(e - t) <= near).sort((a, b) => Math.abs(a - t) - Math.abs(b - t))[0] ?? t;
}

/* RISCs between two places of the rows; null: as good as one place, which is to say all of them. */
function rowsBetween(y0, y1) {
  const [top, bottom] = y0 < y1 ? [y0, y1] : [y1, y0], rows = new Set();
  if (bottom - top < 6) return null;
  for (const band of rowsLayout.bands)
    if (band.y < bottom && band.y + band.h > top) for (const row of band.kind === "risc" ? [band.row] : band.kind === "core" && !band.open ? band.core.rows : []) rows.add(row);
  return rows;
}

/* Scrolls a band into sight. */
export function reveal(band) {
  const box = byId("rows");
  if (!band) return;
  if (band.y < box.scrollTop) box.scrollTop = band.y;
  else if (band.y + band.h > box.scrollTop + box.clientHeight) box.scrollTop = band.y + band.h - box.clientHeight;
}

/* Selects an interval and brings it into sight, opening its core. */
export function goTo(item) {
  if (item.lane.row.core && (!rowsLayout.open.has(item.lane.row.core) || order.hidden.has(item.lane.row.core))) {
    rowsLayout.open.add(item.lane.row.core);
    order.hidden.delete(item.lane.row.core); /* who is sent there wants to see it */
    measureTimeline();
  }
  const t0 = itemStart(item), t1 = itemEnd(item), size = view.t1 - view.t0;
  if (t0 < view.t0 || t1 > view.t1 || t1 - t0 < size / 200) viewRange(t0, t1);
  select(item, true);
  reveal(selection.band);
}

export function itemBox(item) {
  const band = bandOfRow(item.lane.row);
  if (!band) return null;
  const box = band.kind !== "core" ? laneBox(band, item.lane) : band.h < band.core.rows.length ? { y: band.y, h: band.h } : stripBox(band, band.core.rows.indexOf(item.lane.row));
  const x0 = axisToX(itemStart(item)), x1 = axisToX(itemEnd(item));
  return { x: x0, w: Math.max(2, x1 - x0), y: box.y - byId("rows").scrollTop, h: box.h };
}

/* Launches of the op that was chosen. */
function paintChosen(context) {
  if (!timeline.chosenLaunches) return;
  const top = byId("rows").scrollTop;
  context.fillStyle = theme.colours.accent;
  for (const band of rowsLayout.bands) {
    if (band.kind !== "chip" || band.host || band.ranges || !band.row || band.y + band.h < top || band.y > top + timeline.height) continue;
    const { row } = band;
    for (const lane of row.lanes) {
      const stop = upperBound(lane.start, (view.t1 - row.offset) / row.scale);
      let last = -2;
      for (let i = lowerBound(lane.end, (view.t0 - row.offset) / row.scale); i < stop; i++) {
        if (!timeline.chosenLaunches.has(lane.launch[i])) continue;
        const x0 = axisToX(itemStart({ lane, i })), x1 = axisToX(itemEnd({ lane, i }));
        if (x1 - last < 1) continue;
        context.fillRect(Math.max(0, x0), band.y - top + band.h - 4, Math.max(1.5, x1 - Math.max(0, x0)), 3);
        last = x1;
      }
    }
  }
}

/* The rows that are part of what is measured. */
function paintArea(context, x0, x1) {
  const top = byId("rows").scrollTop;
  for (const band of rowsLayout.bands)
    if (band.kind === "risc" ? selection.rows.has(band.row) : band.kind === "core" && !band.open && band.core.rows.some((r) => selection.rows.has(r)))
      context.fillRect(x0, band.y - top, x1 - x0, band.h);
}

function paintMarks() {
  const context = fitCanvas(byId("marks"), timeline.width, timeline.height, timeline.ratio);
  const colours = theme.colours;
  context.clearRect(0, 0, timeline.width, timeline.height);
  paintFlows(context);
  paintChosen(context);
  paintCauses(context);
  paintFlags(byId("ruler").getContext("2d"), context);
  for (const [item, colour, line] of [[selection.hover, colours.ink, 1], [selection.item, colours.accent, 2]]) {
    const box = item && itemBox(item);
    if (!box) continue;
    context.strokeStyle = colour;
    context.lineWidth = line;
    context.strokeRect(Math.max(-4, box.x), box.y, Math.min(box.w, timeline.width + 8), box.h);
  }
  if (selection.range) {
    const x0 = axisToX(selection.range[0]), x1 = axisToX(selection.range[1]);
    context.fillStyle = theme.dark ? "#5aa2ff22" : "#1f6feb18";
    if (selection.rows) paintArea(context, x0, x1);
    else context.fillRect(x0, 0, x1 - x0, timeline.height);
    context.fillStyle = colours.accent;
    context.fillRect(x0, 0, 1, timeline.height);
    context.fillRect(x1, 0, 1, timeline.height);
    const length = selection.range[1] - selection.range[0], text = axisTextUnit(length, length / 1000);
    context.font = "600 11px system-ui, sans-serif";
    const width = context.measureText(text).width + 10, middle = Math.min(Math.max((x0 + x1) / 2, width / 2), timeline.width - width / 2);
    context.fillRect(middle - width / 2, 4, width, 17);
    context.fillStyle = inkOn(colours.accent);
    context.textBaseline = "middle";
    context.fillText(text, middle - width / 2 + 5, 13);
  }
}

function pointer(event) {
  const box = byId("paint").getBoundingClientRect();
  return { x: event.clientX - box.left, y: event.clientY - box.top, rowsY: event.clientY - box.top + byId("rows").scrollTop };
}

function onDown(event) {
  if (event.button !== 0) return;
  const at = pointer(event);
  byId("rows").focus({ preventScroll: true });
  if (at.x < 0) {
    const band = bandAt(at.rowsY);
    if (band && band.kind === "core") toggleCore(band.core);
    return;
  }
  if (at.x > timeline.width) return; /* the scroll bar */
  selection.drag = { x: at.x, y: at.y, t0: view.t0, t1: view.t1, top: byId("rows").scrollTop, rowsY: at.rowsY, measure: event.shiftKey, from: snapped(at), moved: false };
  byId("rows").setPointerCapture(event.pointerId);
  event.preventDefault();
}

function onMove(event) {
  const at = pointer(event), drag = selection.drag;
  if (drag && pinching()) return;
  if (drag) {
    drag.moved = drag.moved || Math.abs(at.x - drag.x) + Math.abs(at.y - drag.y) > 3;
    if (!drag.moved) return;
    showTip(null);
    if (drag.measure) return measure(drag.from, snapped(at), rowsBetween(drag.rowsY, at.rowsY));
    const step = ((drag.x - at.x) / timeline.width) * (drag.t1 - drag.t0);
    byId("rows").scrollTop = drag.top + drag.y - at.y;
    setView(drag.t0 + step, drag.t1 + step);
    return;
  }
  const item = at.x >= 0 && at.x < timeline.width ? itemAt(at.x, at.rowsY) : null;
  const same = item && selection.hover && item.lane === selection.hover.lane && item.i === selection.hover.i;
  selection.hover = item;
  showTip(item, event.clientX, event.clientY);
  if (!same) paintMarks();
}

function onUp(event) {
  const drag = selection.drag;
  selection.drag = null;
  if (drag && !drag.moved && event.type === "pointerup") {
    const at = pointer(event);
    select(itemAt(at.x, at.rowsY), false);
  }
}

function onWheel(event) {
  const at = pointer(event);
  if (at.x < 0) return; /* over the gutter the rows scroll */
  event.preventDefault();
  const unit = event.deltaMode === 1 ? 30 : event.deltaMode === 2 ? 300 : 1;
  const across = event.shiftKey ? event.deltaY || event.deltaX : event.deltaX;
  if (Math.abs(across) > Math.abs(event.shiftKey ? 0 : event.deltaY)) return pan((across * unit) / 1000);
  zoom(Math.exp(Math.max(-400, Math.min(400, event.deltaY * unit)) * 0.0022), at.x / timeline.width);
}

export function startSelect() {
  const rows = byId("rows");
  timeline.marked = paintMarks;
  startTouch();
  rows.addEventListener("pointerdown", onDown);
  rows.addEventListener("pointermove", onMove);
  rows.addEventListener("pointerup", onUp);
  rows.addEventListener("pointercancel", onUp);
  rows.addEventListener("pointerleave", () => {
    selection.hover = null;
    showTip(null);
    paintMarks();
  });
  rows.addEventListener("wheel", onWheel, { passive: false });
  const overview = byId("overview");
  const move = (event) => {
    if (!(event.buttons & 1)) return;
    const box = overview.getBoundingClientRect(), at = ((event.clientX - box.left) / box.width) * view.span;
    const half = (view.t1 - view.t0) / 2;
    setView(at - half, at + half);
  };
  overview.addEventListener("pointerdown", (event) => {
    overview.setPointerCapture(event.pointerId);
    move(event);
  });
  overview.addEventListener("pointermove", move);
  overview.addEventListener("wheel", (event) => {
    event.preventDefault();
    zoom(Math.exp(event.deltaY * 0.0022), 0.5);
  }, { passive: false });
  showDetails();
}
