/* The picture of one figure's history: a dot for each run with its least and most, levels, and where it changed. Not for what is in it. */

import { byId } from "./dom.js";
import { niceStep, short, shortTime } from "./format.js";
import { svg } from "./svg.js";

const LEFT = 74, RIGHT = 14, TOP = 22, BOTTOM = 22, R = 2.5;

/* places: pixels of each run, [x, y]. */
export const chart = { spread: true, places: [], drawn_ms: 0 };

function tickText(value, step, unit) {
  return unit === "ns" ? shortTime(value, step) : short(value, step);
}

/* What is shown of the axis of values: all values, and of least and most what is not far away from them. */
export function rangeOf({ values, least, most }, spread) {
  let low = Infinity, high = -Infinity;
  for (const v of values) {
    low = Math.min(low, v);
    high = Math.max(high, v);
  }
  const around = Math.max(high - low, Math.abs(high) * 0.02) || 1, far = [low - 2 * around, high + 2 * around];
  if (spread)
    for (let i = 0; i < values.length; i++) {
      if (least[i] !== null) low = Math.min(low, Math.max(far[0], least[i]));
      if (most[i] !== null) high = Math.max(high, Math.min(far[1], most[i]));
    }
  const room = (high - low || around) * 0.06;
  return [low - room, high + room];
}

function ticks(what, low, high, y, width, height) {
  const step = niceStep((high - low) / Math.max(2, Math.floor(height / 44))), out = [];
  for (let v = Math.ceil(low / step) * step; v <= high; v += step)
    out.push(svg("line", { class: "grid", x1: LEFT, x2: width - RIGHT, y1: y(v), y2: y(v) }), svg("text", { class: "right", x: LEFT - 6, y: y(v) + 4 }, tickText(v, step, what.unit)));
  return out;
}

function names(what, x, width, height) {
  const out = [];
  let free = LEFT - 40;
  what.x.forEach((_, i) => {
    const at = x(i);
    if (at < free + 40 || at > width - 30) return;
    out.push(svg("text", { class: "middle", x: Math.max(at, 36), y: height - 6 }, what.label(i)));
    free = at + 44;
  });
  return out;
}

/* what: { unit, values, least, most, x, levels, changes, at, label(i) }; null: nothing. */
export function drawChart(what) {
  const began = performance.now(), box = byId("picture"), width = Math.max(200, box.clientWidth), height = Math.max(120, box.clientHeight);
  chart.places = [];
  if (!what) return box.replaceChildren();
  const [low, high] = rangeOf(what, chart.spread), n = what.values.length, first = what.x[0], all = what.x[n - 1] - first;
  const x = (i) => LEFT + 8 + (all > 0 ? (what.x[i] - first) / all : 0.5) * (width - LEFT - RIGHT - 16);
  const y = (v) => TOP + ((high - Math.max(low, Math.min(high, v))) / (high - low)) * (height - TOP - BOTTOM);
  let dots = "", lines = "";
  for (let i = 0; i < n; i++) {
    const px = x(i).toFixed(1), py = y(what.values[i]).toFixed(1);
    chart.places.push([Number(px), Number(py)]);
    dots += "M" + (Number(px) - R) + " " + py + "a" + R + " " + R + " 0 1 0 " + 2 * R + " 0a" + R + " " + R + " 0 1 0 " + -2 * R + " 0";
    if (chart.spread && what.least[i] !== null && what.most[i] !== null) lines += "M" + px + " " + y(what.least[i]).toFixed(1) + "V" + y(what.most[i]).toFixed(1);
  }
  const levels = what.levels.map((l) => "M" + (x(l.from) - 4).toFixed(1) + " " + y(l.value).toFixed(1) + "H" + (x(l.to - 1) + 4).toFixed(1)).join("");
  const changes = what.changes.flatMap((c) => {
    const at = (x(c.at - 1) + x(c.at)) / 2, kind = c.percent > 0 ? "slower" : "faster";
    const text = c.percent === null ? "" : (c.percent > 0 ? "+" : "") + c.percent.toFixed(1) + " %";
    return [svg("line", { class: "change " + kind, x1: at, x2: at, y1: TOP - 4, y2: height - BOTTOM }), svg("text", { class: "middle " + kind, x: Math.max(LEFT, Math.min(width - 24, at)), y: TOP - 8 }, text)];
  });
  const here = what.at >= 0 && what.at < n ? [svg("circle", { class: "here", cx: x(what.at), cy: y(what.values[what.at]), r: 5 })] : [];
  box.replaceChildren(svg("svg", { viewBox: "0 0 " + width + " " + height, "aria-hidden": "true" }, ...ticks(what, low, high, y, width, height - TOP - BOTTOM), ...names(what, x, width, height), svg("path", { class: "spread", d: lines }), ...changes,
    svg("path", { class: "level", d: levels }), svg("path", { class: "points", d: dots }), ...here));
  chart.drawn_ms = performance.now() - began;
}

function nearest(event) {
  const box = byId("picture"), px = event.clientX - box.getBoundingClientRect().left;
  let best = -1;
  chart.places.forEach(([x], i) => {
    if (best < 0 || Math.abs(x - px) < Math.abs(chart.places[best][0] - px)) best = i;
  });
  return best;
}

/* go(i): to a run; at(): which it is; draw(): again. */
export function startChart(go, at, draw) {
  const box = byId("picture");
  box.addEventListener("pointermove", (event) => {
    const i = nearest(event);
    if (i >= 0 && i !== at()) go(i);
  });
  box.addEventListener("click", (event) => nearest(event) >= 0 && go(nearest(event)));
  box.addEventListener("keydown", (event) => {
    const last = chart.places.length - 1, to = { ArrowLeft: at() < 0 ? last : at() - 1, ArrowRight: at() + 1, Home: 0, End: last }[event.key];
    if (to === undefined || last < 0) return;
    event.preventDefault();
    go(to);
  });
  let size = "";
  new ResizeObserver(() => {
    const now = box.clientWidth + "x" + box.clientHeight;
    if (now !== size) draw();
    size = now;
  }).observe(box);
}
