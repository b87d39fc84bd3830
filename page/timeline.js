/* The timeline's canvases: rows, gutter, ruler and overview, painted once a frame when something has changed.
 * Mouse and selection are in select.js. */

import { lowerBound, POINT_DROPPED, ROLE_FW, ROLE_KERNEL, ROLE_USER } from "./data.js";
import { byId, make } from "./dom.js";
import { counted, niceStep, short, shortTime } from "./format.js";
import { textOf } from "./markers.js";
import { paintCurve, paintCurveName } from "./curves.js";
import { isPinned } from "./order.js";
import { enough } from "./levels.js";
import { paintEdges, paintLane, paintLanes, paintPoints, repeatRow } from "./paint.js";
import { laneBox, layoutRows, LINE, openHeight, rowsLayout, stripBox } from "./rows.js";
import { selection } from "./select.js";
import { packed, theme } from "./theme.js";
import { view, viewAll } from "./view.js";

export const timeline = {
  model: null, width: 0, height: 0, ratio: 1, due: false, frames: [], busy: null, strip: null, unit: "cycles",
  gutter: null, opened: false, chosenLaunches: null, beside: null /* by launch: what another run says of it */, moved: () => {}, colours: () => theme.packed,
  inks: () => theme.inks, /* of names on them */
  marked: () => {}, /* draws what lies above the rows: selection, hover, measure */
};

export function fitCanvas(canvas, width, height, ratio) {
  const w = Math.round(width * ratio), h = Math.round(height * ratio);
  if (canvas.width !== w || canvas.height !== h) {
    canvas.width = w;
    canvas.height = h;
  }
  canvas.style.width = width + "px";
  canvas.style.height = height + "px";
  const context = canvas.getContext("2d");
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  return context;
}

function gutterWidth() {
  return 104;
}

/* When it comes to the screen for the first time, the first core is open if the others have room all the same. */
function openFirst(box) {
  const { cores, processes } = timeline.model, first = cores[processes] || cores[0];
  if (timeline.opened || !first) return;
  timeline.opened = true;
  if (box.clientHeight - openHeight(first) > (cores.length - 1) * 12) rowsLayout.open.add(first);
}

export function measureTimeline() {
  const box = byId("rows");
  if (!box.clientWidth) return; /* another tab is on the screen */
  openFirst(box);
  timeline.ratio = window.devicePixelRatio || 1;
  timeline.width = Math.max(50, box.clientWidth - gutterWidth());
  timeline.height = Math.max(20, box.clientHeight);
  layoutRows(timeline.model, timeline.height);
  byId("spacer").style.height = rowsLayout.height + "px";
}

export function axisToX(t) {
  return ((t - view.t0) / (view.t1 - view.t0)) * timeline.width;
}

export function xToAxis(x) {
  return view.t0 + (x / timeline.width) * (view.t1 - view.t0);
}

/* What a unit of the axis is in the unit that was chosen, nanoseconds or cycles. */
function axisInTime() {
  const { toNs, toCycles } = timeline.model;
  return timeline.unit === "time" ? toNs > 0 : toCycles === 0;
}

function axisUnit() {
  return axisInTime() ? timeline.model.toNs : timeline.model.toCycles;
}

/* Text of a place on the axis; a time has its unit in it. */
function axisText(value, step) {
  const unit = axisUnit();
  return (axisInTime() ? shortTime : short)(value * unit, step * unit);
}

/* The same with the unit in any case: of a length, and of the first place on the ruler. */
export function axisTextUnit(value, step) {
  return axisText(value, step) + (axisInTime() ? "" : " cycles");
}

function rulerStep() {
  return niceStep(((view.t1 - view.t0) * 90 * axisUnit()) / timeline.width) / axisUnit();
}

function zonesOf(row) {
  return row.lanes.filter((l) => !l.points);
}

/* The zones of a closed core: of each RISC by themselves, and together, the deepest on top. They are asked for in every frame. */
const lanesOfCores = new WeakMap();
function lanesOf(core) {
  let found = lanesOfCores.get(core);
  if (!found) {
    const each = core.rows.map(zonesOf);
    lanesOfCores.set(core, (found = { each, together: each.flat().sort((a, b) => a.level - b.level) }));
  }
  return found;
}

/* Calls paint(lanes, box, open) for what shares a strip of the screen; the last lane lies on top. */
function bandStrips(band, paint) {
  if (band.kind === "curve") return; /* is drawn above the pixels */
  if (band.kind === "chip") {
    if (band.row) paint(zonesOf(band.row).slice(0, 1), { y: band.y + 2, h: band.h - 5 }, true);
  } else if (band.kind === "risc") {
    for (const lane of band.row.lanes) paint([lane], laneBox(band, lane), true);
  } else if (!band.open && band.h >= band.core.rows.length) {
    lanesOf(band.core).each.forEach((lanes, i) => paint(lanes, stripBox(band, i), false));
  } else if (!band.open) {
    paint(lanesOf(band.core).together, { y: band.y, h: Math.max(1, band.h - 1) }, false);
  }
}

function background(pixels, width, height, ratio, top) {
  const colours = theme.colours;
  pixels.fill(packed(colours.page));
  const band = packed(colours.band), line = packed(colours.line);
  for (const b of rowsLayout.bands) {
    const y0 = Math.max(0, Math.round((b.y - top) * ratio)), y1 = Math.min(height, Math.round((b.y + b.h - top) * ratio));
    if (y1 <= y0) continue;
    if (b.kind === "chip" || (b.kind === "core" && b.open)) pixels.fill(band, y0 * width, y1 * width);
    if (b.kind !== "core" || b.open || b.h >= 9) pixels.fill(line, (y1 - 1) * width, y1 * width);
  }
}

function paintRows() {
  const canvas = byId("paint"), ratio = timeline.ratio, top = byId("rows").scrollTop;
  const context = fitCanvas(canvas, timeline.width, timeline.height, ratio);
  const width = canvas.width, height = canvas.height;
  if (!timeline.image || timeline.image.width !== width || timeline.image.height !== height) {
    timeline.image = context.createImageData(width, height);
    timeline.pixels = new Uint32Array(timeline.image.data.buffer);
  }
  const pixels = timeline.pixels, colours = timeline.colours(), texts = [], said = [];
  const edge = packed(theme.colours.page), perPixel = (view.t1 - view.t0) / width;
  background(pixels, width, height, ratio, top);
  for (const band of rowsLayout.bands) {
    if (band.y + band.h < top || band.y > top + timeline.height) continue;
    bandStrips(band, (lanes, box, open) => {
      const y0 = Math.max(0, Math.round((box.y - top) * ratio));
      const y1 = Math.min(height, Math.max(y0 + 1, Math.round((box.y + box.h - top) * ratio)));
      if (y1 <= y0 || y0 >= height) return;
      const row = y0 * width;
      if (!open) paintLanes(pixels, row, width, lanes, view.t0, perPixel, colours);
      for (const lane of open ? lanes : []) {
        const { scale, offset } = lane.row, t0 = (view.t0 - offset) / scale, k = scale / perPixel;
        if (lane.points) {
          paintPoints(pixels, row, width, lane, t0, k, colours);
          said.push(...textsOf(lane, box.y - top));
          continue;
        }
        const some = enough(lane, 1 / k);
        paintLane(pixels, row, width, some, t0, k, lane.row.core ? colours : null, 26 * ratio, (i, x0, x1) =>
          texts.push(lane, some.index ? some.index[i] : i, x0 / ratio, x1 / ratio, box.y - top));
        paintEdges(pixels, row, width, lane, t0, k, edge);
      }
      repeatRow(pixels, width, y0, y1);
    });
  }
  context.putImageData(timeline.image, 0, 0);
  paintTexts(context, texts);
  paintSaid(context, said);
  for (const band of rowsLayout.bands)
    if (band.kind === "curve" && band.y + band.h >= top && band.y <= top + timeline.height) paintCurve(context, band.curve, band.y - top, band.h, timeline.width);
}

/* What kernels printed, that is on the screen: [{ text, x, room, y }], each up to the next. */
function textsOf(lane, y) {
  if (!timeline.model.meta.texts.length) return [];
  const { scale, offset } = lane.row, first = lowerBound(lane.start, (view.t0 - offset) / scale), list = [];
  for (let i = first; i < lane.n; i++) {
    const x = axisToX(lane.start[i] * scale + offset);
    if (x > timeline.width || list.length > 400) break;
    const text = textOf(lane, i);
    if (list.length) list[list.length - 1].room = Math.min(list[list.length - 1].room, x - list[list.length - 1].x - 6);
    if (text) list.push({ text, x, room: timeline.width - x - 6, y });
  }
  return list;
}

function paintSaid(context, said) {
  if (!said.length) return;
  context.font = "10px ui-monospace, 'DejaVu Sans Mono', Menlo, Consolas, monospace";
  context.textBaseline = "middle";
  context.fillStyle = theme.colours.ink;
  const one = context.measureText("m").width;
  for (const { text, x, room, y } of said) {
    const n = Math.floor(room / one), line = text.replace(/\s+/g, " ");
    if (n >= 3) context.fillText(line.length > n ? line.slice(0, n - 1) + "…" : line, x + 5, y + 6);
  }
}

/* What an interval is called: its zone or call, or in a chip's row its launch. */
export function laneName(lane, i) {
  const site = timeline.model.sites[lane.site[i]];
  if (lane.points && lane.kind[i] === POINT_DROPPED) return "markers dropped";
  const text = textOf(lane, i);
  if (text) return text;
  if (lane.row.names) return lane.row.names[i];
  if (lane.row.core || lane.row.host) return site.name;
  const launch = timeline.model.launches[lane.launch[i]];
  return launch ? launch.name : "launch";
}

/* Names inside their zones. The font is of one width, so nothing has to be measured. */
function paintTexts(context, texts) {
  if (!texts.length) return;
  context.font = "10px ui-monospace, 'DejaVu Sans Mono', Menlo, Consolas, monospace";
  context.textBaseline = "middle";
  const one = context.measureText("m").width;
  for (let i = 0; i < texts.length; i += 5) {
    const [lane, k, x0, x1, y] = texts.slice(i, i + 5);
    const room = Math.floor((x1 - x0 - 6) / one), name = laneName(lane, k);
    if (room < 3) continue;
    context.fillStyle = lane.row.core ? timeline.inks()[lane.site[k]] : theme.colours.ink;
    context.fillText(name.length > room ? name.slice(0, room - 1) + "…" : name, x0 + 3, y + LINE / 2);
  }
}

/* Names of rows. They are the same in every frame in which rows stay where they are. */
export function paintGutter() {
  const key = [rowsLayout.bands, byId("rows").scrollTop, timeline.height, timeline.ratio, selection.band, theme.colours];
  if (timeline.gutter && key.every((part, i) => part === timeline.gutter[i])) return;
  timeline.gutter = key;
  const context = fitCanvas(byId("gutter"), gutterWidth(), timeline.height, timeline.ratio);
  const top = byId("rows").scrollTop, colours = theme.colours, several = timeline.model.usedChips.size > 1;
  context.fillStyle = colours.page;
  context.fillRect(0, 0, gutterWidth(), timeline.height);
  timeline.named = new Set(); /* cores whose names stand there */
  context.textBaseline = "middle";
  /* Where rows are lower than a text, not each has its name; an open core has it always. */
  const taken = rowsLayout.bands.filter((b) => b.kind === "core" && b.open).map((b) => b.y - top + b.h / 2);
  let free = -Infinity; /* below the last label */
  for (const band of rowsLayout.bands) {
    const y = band.y - top;
    if (y + band.h < 0 || y > timeline.height) continue;
    if (band === selection.band) {
      context.fillStyle = colours.accent;
      context.fillRect(0, y, 3, band.h);
    }
    if (band.kind === "chip") {
      context.fillStyle = several ? colours.ink : colours.faint;
      context.font = (several ? "600 " : "") + "11px system-ui, sans-serif";
      const name = band.ranges ? band.row.risc : band.host ? "host" : several ? timeline.model.chips[band.chip].title : "launches";
      context.fillText(name, band.host && several ? 12 : 6, y + band.h / 2);
    } else if (band.kind === "core") {
      const at = y + Math.max(band.h, band.h < 9 ? 8 : 0) / 2;
      if (!band.open && (y < free || taken.some((other) => Math.abs(other - at) < 12))) continue;
      context.fillStyle = band.open ? colours.ink : colours.faint;
      context.font = (band.open ? "600 " : "") + "11px system-ui, sans-serif";
      const x = several ? 12 : 6, name = (isPinned(band.core) ? "• " : "") + (band.open ? "▾ " : band.h >= 9 ? "▸ " : "") + band.core.name;
      context.fillText(x + context.measureText(name).width > gutterWidth() - 2 ? name.replace("process", "proc.") : name, x, at); /* half a number would be another one */
      timeline.named.add(band.core);
      if (!band.open) free = y + 12;
    } else if (band.kind === "curve") {
      paintCurveName(context, band.curve, y);
    } else {
      context.fillStyle = colours.faint;
      context.font = "11px system-ui, sans-serif";
      context.fillText(band.row.risc.slice(0, 12), several ? 30 : 24, y + LINE / 2);
    }
  }
  context.fillStyle = colours.line;
  context.fillRect(gutterWidth() - 1, 0, 1, timeline.height);
}

export function paintRuler() {
  const height = 22, context = fitCanvas(byId("ruler"), timeline.width, height, timeline.ratio);
  const colours = theme.colours, step = rulerStep();
  context.clearRect(0, 0, timeline.width, height);
  context.font = "11px system-ui, sans-serif";
  context.textBaseline = "middle";
  let text = axisTextUnit;
  for (let t = Math.ceil(view.t0 / step) * step; t <= view.t1; t += step) {
    const x = Math.round(axisToX(t));
    context.fillStyle = colours.line;
    context.fillRect(x, 0, 1, height);
    context.fillStyle = colours.faint;
    const label = text(Math.abs(t) < step / 1e6 ? 0 : t, step);
    /* What is cut at the edge would be another number. */
    if (x + 4 + context.measureText(label).width > timeline.width) continue;
    context.fillText(label, x + 4, height / 2);
    text = axisText;
  }
}

/* How much of the axis is on the screen. After all else: the next question for a size makes the browser lay out the page anew. */
function showLength() {
  const length = view.t1 - view.t0, text = axisTextUnit(length, length / 1000), label = byId("view-label");
  if (label.textContent !== text) label.textContent = text;
}

/* When one core ran zones of this role, on whichever of its RISCs: [start, end, start, end, ...] on the axis, which
 * neither touch nor overlap. */
function busyTimes(model, core, role) {
  const all = [];
  for (const row of core.rows)
    for (const lane of row.lanes) {
      if (lane.points) continue;
      for (let i = 0; i < lane.n; i++)
        if (model.sites[lane.site[i]].role === role) all.push([lane.start[i] * row.scale + row.offset, lane.end[i] * row.scale + row.offset]);
    }
  all.sort((a, b) => a[0] - b[0]);
  const times = [];
  for (const [start, end] of all) {
    if (times.length && start <= times[times.length - 1]) times[times.length - 1] = Math.max(times[times.length - 1], end);
    else times.push(start, end);
  }
  return times;
}

/* How many cores run a kernel (where there are none, firmware; else anything), on average in each of 1000 parts of
 * the log. */
function busyCores(model) {
  const parts = 1000, busy = new Float64Array(parts), per = parts / model.span;
  const role = [ROLE_KERNEL, ROLE_FW, ROLE_USER].find((r) => model.sites.some((s) => s.role === r));
  for (const core of model.cores.slice(busiest(model) < model.cores.length ? model.processes : 0)) {
    const times = busyTimes(model, core, role);
    for (let i = 0; i < times.length; i += 2) {
      const a = times[i] * per, b = Math.min(parts, times[i + 1] * per), last = Math.min(parts - 1, b | 0);
      for (let p = a | 0; p <= last; p++) busy[p] += Math.min(b, p + 1) - Math.max(a, p);
    }
  }
  return busy;
}

/* How many can be busy at once: cores of chips, or processes where there are no chips. */
function busiest(model) {
  return model.cores.length - model.processes || model.cores.length;
}

/* The average of parts from..to, which need not be whole. */
export function busyBetween(busy, from, to) {
  let sum = 0;
  for (let p = Math.floor(from); p < to && p < busy.length; p++) sum += busy[p] * (Math.min(to, p + 1) - Math.max(from, p));
  return sum / (to - from);
}

/* How busy the cores are, from the first to the last marker. It is the same in every frame until the window or the theme changes, so it
 * is kept as a picture. */
function busyStrip(width, height) {
  const colour = theme.dark ? "#4f83c4" : "#86aedb", key = [width, height, timeline.ratio, colour, theme.colours.band].join();
  if (timeline.strip && timeline.strip.key === key && timeline.strip.busy === timeline.busy) return timeline.strip.canvas;
  const canvas = make("canvas"), context = fitCanvas(canvas, width, height, timeline.ratio), busy = timeline.busy, most = Math.max(1, busiest(timeline.model));
  context.fillStyle = theme.colours.band;
  context.fillRect(0, 0, width, height);
  context.fillStyle = colour;
  for (let x = 0; x < width; x++) {
    const cores = busyBetween(busy, (x / width) * busy.length, ((x + 1) / width) * busy.length);
    const h = cores > 0 ? Math.max(3, (cores / most) * (height - 4)) : 0;
    context.fillRect(x, height - h, 1, h);
  }
  timeline.strip = { key, busy, canvas };
  return canvas;
}

function paintOverview() {
  const height = 34, width = timeline.width, context = fitCanvas(byId("overview"), width, height, timeline.ratio);
  const colours = theme.colours, span = timeline.model.span;
  context.drawImage(busyStrip(width, height), 0, 0, width, height);
  const x0 = (view.t0 / span) * width, x1 = Math.max((view.t1 / span) * width, x0 + 2);
  context.fillStyle = theme.dark ? "#15181caa" : "#ffffffaa";
  context.fillRect(0, 0, Math.max(0, x0), height);
  context.fillRect(x1, 0, Math.max(0, width - x1), height);
  context.strokeStyle = colours.accent;
  context.strokeRect(x0 + 0.5, 0.5, x1 - x0 - 1, height - 1);
}

function paintAll() {
  timeline.due = false;
  if (!byId("rows").clientWidth) return; /* not on the screen */
  const from = performance.now();
  paintRows();
  paintGutter();
  paintRuler();
  paintOverview();
  timeline.marked();
  showLength();
  timeline.last = performance.now() - from;
  timeline.moved();
}

/* Asks for one painting in the next frame, however often it is called. */
export function repaint() {
  if (timeline.due) return;
  timeline.due = true;
  requestAnimationFrame(paintAll);
}

export function startTimeline(model) {
  timeline.model = model;
  timeline.busy = busyCores(model);
  const average = busyBetween(timeline.busy, 0, timeline.busy.length), most = busiest(model);
  const processes = model.processes === model.cores.length;
  byId("strip-label").replaceChildren(processes ? "busy" : "cores busy", make("br"), average.toFixed(average < 10 ? 2 : 0) + " of " + most);
  byId("strip-label").title = "On average " + average.toFixed(3) + " of " + counted(most, processes ? "process" : "core") + (processes ? " was in a zone," : " ran a kernel,") + " from the first to the last marker";
  view.span = model.span;
  view.changed = repaint;
  measureTimeline();
  new ResizeObserver(() => {
    measureTimeline();
    repaint();
  }).observe(byId("rows"));
  byId("rows").addEventListener("scroll", repaint);
  viewAll();
}

/* Opens or closes a core; without one, all of them. */
export function toggleCore(core) {
  if (core) {
    if (!rowsLayout.open.delete(core)) rowsLayout.open.add(core);
  } else {
    const open = rowsLayout.open.size === 0;
    rowsLayout.open.clear();
    if (open) for (const each of timeline.model.cores) rowsLayout.open.add(each);
  }
  measureTimeline();
  repaint();
}
