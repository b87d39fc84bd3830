/* The histogram of one zone's durations. Its durations are those in the page; when launches were left out of the
 * page, it says so. */

import { ROLE_USER } from "./data.js";
import { byId, make } from "./dom.js";
import { grouped, niceStep, short } from "./format.js";
import { rowPlace, table } from "./table.js";
import { theme } from "./theme.js";
import { fitCanvas, timeline } from "./timeline.js";

export const histogram = { drawn: null }; /* what is on the canvas, for the mouse */
const BINS = 60;

/* Durations in cycles of a zone by name and RISC (of one chip). */
function durationsOf(row) {
  const durations = [];
  for (const line of timeline.model.rows) {
    if (line.core.chip !== row.chip || line.risc !== row.risc) continue;
    for (const lane of line.lanes) {
      if (lane.points) continue;
      for (let i = 0; i < lane.n; i++)
        if (timeline.model.sites[lane.site[i]].name === row.name) durations.push(lane.end[i] - lane.start[i]);
    }
  }
  return durations;
}

/* Bins of equal whole-cycle width over the values: { at: [left edges], counts, width }. */
export function bins(values) {
  let low = Infinity, high = -Infinity;
  for (const v of values) {
    if (v < low) low = v;
    if (v > high) high = v;
  }
  const width = Math.max(1, Math.ceil((high - low + 1) / BINS));
  const n = Math.floor((high - low) / width) + 1;
  const counts = new Array(n).fill(0);
  for (const v of values) counts[Math.floor((v - low) / width)]++;
  return { at: counts.map((_, i) => low + i * width), counts, width };
}

/* The ticks of an axis from `low` to `high` in whole numbers, with their texts: at most `most` of them. */
function ticks(low, high, most, text) {
  const step = Math.max(1, niceStep((high - low) / Math.max(1, most))), list = [];
  for (let v = Math.ceil(low / step) * step; v <= high; v += step) list.push({ v, text: text(v, step) });
  return list;
}

/* Where things are on the canvas, in its pixels: as much room on the left as the longest count needs. */
function histogramFrame(context, box, { at, counts, width, scale, unit }) {
  const w = Math.max(120, box.clientWidth - 12), h = Math.max(80, box.clientHeight - 18 - box.firstChild.offsetHeight);
  const most = Math.max(1, ...counts), low = (at[0] - width / 2) * scale, high = (at[at.length - 1] + width * 1.5) * scale;
  const rows = ticks(0, most * 1.08, Math.max(2, Math.floor((h - 46) / 26)), grouped);
  const left = Math.ceil(Math.max(...rows.map((t) => context.measureText(t.text).width), context.measureText("count").width)) + 8;
  const wide = context.measureText(short(high, (high - low) / 8)).width + 18;
  const columns = ticks(low, high, Math.floor((w - left - 10) / wide), short);
  const frame = { left, top: 16, right: w - 10, bottom: h - 30, w, h, rows, columns, unit };
  frame.x = (v) => frame.left + ((v - low) / (high - low)) * (frame.right - frame.left);
  frame.y = (n) => frame.bottom - (n / (most * 1.08)) * (frame.bottom - frame.top);
  frame.bin = (x) => Math.floor(((low + ((x - frame.left) / (frame.right - frame.left)) * (high - low)) / scale - at[0]) / width);
  return frame;
}

function paintAxes(context, f) {
  const colours = theme.colours;
  context.textBaseline = "middle";
  for (const { v, text } of f.rows) {
    context.fillStyle = colours.line;
    context.fillRect(f.left, Math.round(f.y(v)), f.right - f.left, 1);
    context.fillStyle = colours.faint;
    context.textAlign = "right";
    context.fillText(text, f.left - 5, f.y(v));
  }
  for (const { v, text } of f.columns) {
    context.fillStyle = colours.line;
    context.fillRect(Math.round(f.x(v)), f.top, 1, f.bottom - f.top + 4);
    context.fillStyle = colours.faint;
    const half = context.measureText(text).width / 2;
    context.textAlign = "center";
    context.fillText(text, Math.min(Math.max(f.x(v), half), f.w - half), f.bottom + 11);
  }
  context.textAlign = "right";
  context.fillText("count", f.left - 5, 6);
  context.fillText(f.unit, f.right, f.bottom + 23);
}

/* A line with its name, which keeps inside the frame. */
function paintLine(context, f, value, text, y) {
  const x = Math.round(f.x(value)), wide = context.measureText(text).width, right = x + wide + 8 > f.right;
  context.fillStyle = theme.colours.ink;
  context.fillRect(x, f.top, 1, f.bottom - f.top);
  context.fillStyle = theme.colours.page;
  context.fillRect(right ? x - wide - 6 : x + 2, y - 1, wide + 4, 14);
  context.fillStyle = theme.colours.ink;
  context.textAlign = right ? "right" : "left";
  context.textBaseline = "top";
  context.fillText(text, x + (right ? -4 : 4), y + 1);
}

function drawHistogram(box, row, values) {
  const khz = timeline.model.chips[row.chip].khz, inTime = timeline.unit === "time" && khz > 0;
  const drawn = { ...bins(values), scale: inTime ? 1e6 / khz : 1, unit: inTime ? "ns" : "cycles" };
  const canvas = box.lastChild, context = canvas.getContext("2d");
  context.font = "11px system-ui, sans-serif";
  const f = histogramFrame(context, box, drawn);
  fitCanvas(canvas, f.w, f.h, timeline.ratio);
  context.font = "11px system-ui, sans-serif"; /* the canvas forgets it when its size changes */
  context.clearRect(0, 0, f.w, f.h);
  paintAxes(context, f);
  const site = timeline.model.sites.find((s) => s.name === row.name);
  context.fillStyle = site && site.role === ROLE_USER ? theme.css[site.index] : theme.dark ? "#7d8a99" : "#8fa0b4";
  drawn.counts.forEach((n, i) => {
    if (!n) return;
    const x0 = f.x(drawn.at[i] * drawn.scale), x1 = f.x((drawn.at[i] + drawn.width) * drawn.scale);
    const h = Math.max(1.5, f.bottom - f.y(n)); /* one among ten thousand is seen, too */
    context.fillRect(x0, f.bottom - h, Math.max(1, x1 - x0 - (x1 - x0 > 4 ? 1 : 0)), h);
  });
  paintLine(context, f, row.median * drawn.scale, "median", f.top + 2);
  paintLine(context, f, row.p95 * drawn.scale, "p95", f.top + 18);
  histogram.drawn = { ...drawn, frame: f };
}

/* What the bin under the mouse holds; empty outside of all bins. */
export function binText(x) {
  const { at, counts, width, scale, unit, frame } = histogram.drawn, i = frame.bin(x);
  if (i < 0 || i >= at.length) return "";
  const from = grouped(at[i] * scale), to = grouped((at[i] + width - 1) * scale);
  return from + (width > 1 ? " to " + to : "") + " " + unit + ": " + grouped(counts[i]);
}

export function showHistogram() {
  const box = byId("chart"), row = table.chosen || table.suggested;
  histogram.drawn = null;
  if (!row) return box.replaceChildren();
  const bin = make("output", { id: "bin", class: "faint" });
  box.replaceChildren(make("h2", {}, row.name.slice(0, 60) + " on " + rowPlace(row), make("span", { class: "faint" }, " durations "), bin));
  const values = durationsOf(row);
  if (values.length < row.count)
    box.firstChild.append(make("span", { class: "warn" }, grouped(values.length) + " of " + grouped(row.count) + " are in the page"));
  if (!values.length) return;
  const canvas = make("canvas", {});
  box.append(canvas);
  canvas.addEventListener("pointermove", (event) => (bin.textContent = binText(event.clientX - canvas.getBoundingClientRect().left)));
  canvas.addEventListener("pointerleave", () => (bin.textContent = ""));
  drawHistogram(box, row, values);
}
