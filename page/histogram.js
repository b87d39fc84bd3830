/* The histogram of durations that findzone.js asks for: its axes, linear or logarithmic, its bars, and beside them those of
 * another selection. Only draws; what it draws is worked out in instances.js. */

import { ROLE_USER } from "./data.js";
import { grouped, niceStep, short } from "./format.js";
import { binOf } from "./instances.js";
import { theme } from "./theme.js";
import { fitCanvas, timeline } from "./timeline.js";

export const histogram = { drawn: null }; /* what is on the canvas, for the mouse */

/* The ticks of an axis from `low` to `high`, in whole numbers, with their texts: about `most` of them. */
function ticks(low, high, most, log, text) {
  const list = [];
  if (!log) {
    const step = Math.max(1, niceStep((high - low) / Math.max(1, most)));
    for (let v = Math.ceil(low / step) * step; v <= high; v += step) list.push({ v, text: text(v, step) });
    return list;
  }
  const tens = Math.log10(high / Math.max(1, low)), of = tens * 3 <= most ? [1, 2, 5] : [1], every = Math.max(1, Math.ceil(tens / Math.max(1, most)));
  for (let power = Math.floor(Math.log10(Math.max(1, low))); Math.pow(10, power) <= high; power += every)
    for (const m of of) {
      const v = m * Math.pow(10, power);
      if (v >= low && v <= high) list.push({ v, text: text(v, v) });
    }
  return list.length > 1 ? list : ticks(low, high, most, false, text); /* hardly a power of ten */
}

/* Where a value is between 0 (at low) and 1 (at high). */
function place(log, low, high) {
  return log ? (v) => Math.log(Math.max(v, low) / low) / Math.log(high / low) : (v) => (v - low) / (high - low);
}

function back(log, low, high) {
  return log ? (part) => low * Math.pow(high / low, part) : (part) => low + part * (high - low);
}

/* The ends of the axes: of durations half a bin more than there is; of bars from nothing, or where there is no nothing from
 * half of the least. */
function ends({ edges, bars, other, scale, logX, logY }) {
  const n = edges.length - 1, all = bars.concat(other || []).filter((v) => v > 0);
  const most = Math.max(1, ...all), first = edges[1] - edges[0], last = edges[n] - edges[n - 1];
  return {
    low: (logX ? Math.max(0.5, edges[0] * 0.95) : edges[0] - first / 2) * scale, high: (logX ? edges[n] * 1.05 : edges[n] + last / 2) * scale,
    least: logY ? Math.min(...all, most) / 2 : 0, most: logY ? most * 1.3 : most * 1.08,
  };
}

/* Where things are on the canvas, in its pixels: as much room on the left as the longest number needs. */
function frameOf(context, room, drawn) {
  const { scale, unit, logX, logY } = drawn, { low, high, least, most } = ends(drawn), w = Math.max(120, room.w), h = Math.max(80, room.h);
  const rows = ticks(least, most, Math.max(2, Math.floor((h - 46) / 26)), logY, (v, step) => (drawn.weight === "time" ? short(v, step) : grouped(v)));
  const what = drawn.weight === "time" ? "time" : "count";
  const left = Math.ceil(Math.max(...rows.map((t) => context.measureText(t.text).width), context.measureText(what).width)) + 8;
  const wide = context.measureText(short(high, (high - low) / 8)).width + 18;
  const columns = ticks(low, high, Math.floor((w - left - 10) / wide), logX, short);
  const frame = { left, top: 16, right: w - 10, bottom: h - 30, w, h, rows, columns, unit, what, x: null, y: null, bin: null };
  const across = place(logX, low, high), up = place(logY, least, most), value = back(logX, low, high);
  frame.x = (v) => frame.left + across(v) * (frame.right - frame.left);
  frame.y = (n) => frame.bottom - up(n) * (frame.bottom - frame.top);
  frame.bin = (x) => binOf(drawn.edges, value((x - frame.left) / (frame.right - frame.left)) / scale);
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
  let free = -Infinity;
  for (const { v, text } of f.columns) {
    context.fillStyle = colours.line;
    context.fillRect(Math.round(f.x(v)), f.top, 1, f.bottom - f.top + 4);
    const half = context.measureText(text).width / 2, x = Math.min(Math.max(f.x(v), half), f.w - half);
    if (x - half < free) continue;
    free = x + half + 6;
    context.fillStyle = colours.faint;
    context.textAlign = "center";
    context.fillText(text, x, f.bottom + 11);
  }
  context.textAlign = "right";
  context.fillText(f.what, f.left - 5, 6);
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

/* The colour of a zone's bars. */
export function barColour(name) {
  const site = timeline.model.sites.find((s) => s.name === name);
  return site && site.role === ROLE_USER ? theme.css[site.index] : theme.dark ? "#7d8a99" : "#8fa0b4";
}

function paintBars(context, f, drawn, colour) {
  const { edges, bars, scale, bin } = drawn;
  bars.forEach((n, i) => {
    if (!n) return;
    const x0 = f.x(edges[i] * scale), x1 = f.x(edges[i + 1] * scale);
    const h = Math.max(1.5, f.bottom - f.y(n)); /* one among ten thousand is seen, too */
    context.fillStyle = colour;
    context.fillRect(x0, f.bottom - h, Math.max(1, x1 - x0 - (x1 - x0 > 4 ? 1 : 0)), h);
    if (i !== bin) return;
    context.strokeStyle = theme.colours.ink;
    context.lineWidth = 2;
    context.strokeRect(x0, f.bottom - h, Math.max(2, x1 - x0), h);
  });
}

/* The other selection: a line over its bars. */
function paintOther(context, f, { edges, other, scale }) {
  if (!other) return;
  context.strokeStyle = theme.colours.ink;
  context.lineWidth = 1.5;
  context.setLineDash([4, 2]);
  context.beginPath();
  context.moveTo(f.x(edges[0] * scale), f.bottom);
  other.forEach((n, i) => {
    const y = n ? Math.min(f.y(n), f.bottom - 1.5) : f.bottom;
    context.lineTo(f.x(edges[i] * scale), y);
    context.lineTo(f.x(edges[i + 1] * scale), y);
  });
  context.lineTo(f.x(edges[edges.length - 1] * scale), f.bottom);
  context.stroke();
  context.setLineDash([]);
}

/* drawn: { edges, bars, other: bars or null, counts, times, scale, unit, weight: "count" or "time", logX, logY, bin, colour,
 * lines: [[cycles, name]] }; `room`: { w, h } that the canvas may have. */
export function drawHistogram(canvas, room, drawn) {
  const context = canvas.getContext("2d"), font = "11px system-ui, sans-serif";
  context.font = font;
  const f = frameOf(context, room, drawn);
  fitCanvas(canvas, f.w, f.h, timeline.ratio);
  context.font = font; /* the canvas forgets it when its size changes */
  context.clearRect(0, 0, f.w, f.h);
  paintAxes(context, f);
  paintBars(context, f, drawn, drawn.colour);
  paintOther(context, f, drawn);
  drawn.lines.forEach(([value, name], i) => paintLine(context, f, value * drawn.scale, name, f.top + 2 + i * 16));
  histogram.drawn = { ...drawn, frame: f };
}

/* What a bin holds; empty outside of all bins. */
export function binTextOf(i) {
  const { edges, counts, times, scale, unit, other, weight } = histogram.drawn;
  if (i < 0 || i >= counts.length) return "";
  const from = grouped(edges[i] * scale), to = grouped((edges[i + 1] - 1) * scale);
  const kept = other ? "; kept: " + (weight === "time" ? grouped(other[i]) + " " + unit : grouped(other[i])) : "";
  return from + (edges[i + 1] - edges[i] > 1 ? " to " + to : "") + " " + unit + ": " + grouped(counts[i]) + (counts[i] ? ", together " + grouped(times[i] * scale) + " " + unit : "") + kept;
}

/* The bin under the mouse, in words. */
export function binText(x) {
  return binTextOf(histogram.drawn.frame.bin(x));
}
