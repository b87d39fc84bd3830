/* Values, counters and sums as curves: a row of the time line for each that was chosen in the table of Values and text. One curve is of
 * one name and one kind of RISC of a chip, of all its cores, or of one of them: where several values are in one pixel, the band from the
 * least to the greatest is filled, and the line is their mean. Curves of cores have the scale of that of all, so that they compare. */

import { POINT_SUM, POINT_VALUE, upperBound } from "./data.js";
import { grouped } from "./format.js";
import { beginning } from "./link.js";
import { curveColour, theme } from "./theme.js";
import { view } from "./view.js";

export const CURVE = 46;
export const curves = { all: [], shown: [] };

/* model: [{ chip, risc, name, n, t, v, items, cores }] by the number of their points; t is the axis, sorted. */
export function curvesOf(model) {
  const found = new Map();
  for (const row of model.rows)
    for (const lane of row.lanes)
      for (let i = 0; lane.points && i < lane.n; i++) {
        if (lane.kind[i] !== POINT_VALUE && lane.kind[i] !== POINT_SUM) continue;
        const { name } = model.sites[lane.site[i]], key = row.chip + " " + row.risc + " " + lane.kind[i] + " " + name;
        if (!found.has(key)) found.set(key, { chip: row.chip, risc: row.risc, name, sum: lane.kind[i] === POINT_SUM, cores: new Set(), points: [] });
        found.get(key).cores.add(row.core);
        found.get(key).points.push({ t: lane.start[i] * row.scale + row.offset, v: Number(lane.value[i]), lane, i });
      }
  return [...found.values()].map(({ points, cores, ...curve }) => {
    points.sort((a, b) => a.t - b.t);
    const v = Float64Array.from(points.map((p) => p.v)), t = Float64Array.from(points.map((p) => p.t));
    return { ...curve, core: null, cores: [...cores].sort((a, b) => a.index - b.index), n: points.length, t, v, low: v.reduce((a, b) => Math.min(a, b), Infinity), high: v.reduce((a, b) => Math.max(a, b), -Infinity), items: points.map(({ lane, i }) => ({ lane, i })) };
  }).sort((a, b) => b.n - a.n);
}

/* The part of a curve that is of one core. */
const ofCores = new WeakMap();
export function curveOfCore(curve, core) {
  if (!ofCores.has(curve)) ofCores.set(curve, new Map());
  const made = ofCores.get(curve);
  if (!made.has(core)) {
    const places = [...curve.items.keys()].filter((i) => curve.items[i].lane.row.core === core);
    made.set(core, { ...curve, core, cores: [core], n: places.length, t: Float64Array.from(places, (i) => curve.t[i]), v: Float64Array.from(places, (i) => curve.v[i]), items: places.map((i) => curve.items[i]) });
  }
  return made.get(core);
}

/* Without a number behind its kind it is of all cores. */
export function curveKey(curve, core = curve.core) {
  return curve.chip + "." + curve.risc + "." + (curve.sum ? "s" : "v") + (core ? core.index : "") + "." + beginning(curve.name);
}

export function curveFor(chip, risc, name, kind) {
  return curves.all.find((c) => c.chip === chip && c.risc === risc && c.name === name && c.sum === (kind === "sum")) || null;
}

/* Shows it, or takes it away again. */
export function toggleCurve(curve) {
  curves.shown = curves.shown.includes(curve) ? curves.shown.filter((c) => c !== curve) : [...curves.shown, curve];
}

export function setCurves(keys) {
  const wanted = new Set(keys), of = (c) => c.cores.filter((core) => wanted.has(curveKey(c, core))).map((core) => curveOfCore(c, core));
  curves.shown = wanted.size ? curves.all.flatMap((c) => (wanted.has(curveKey(c)) ? [c, ...of(c)] : of(c))) : [];
}

/* The points of each pixel: [{ x, least, greatest, mean }] from x to x. Also the last one before the screen, so that the line comes
 * from where it was. */
export function columnsOf(curve, t0, t1, width) {
  const list = [], k = width / (t1 - t0);
  let i = Math.max(0, upperBound(curve.t, t0) - 1);
  for (; i < curve.n && curve.t[i] <= t1; ) {
    const x = Math.floor((curve.t[i] - t0) * k);
    let least = Infinity, greatest = -Infinity, sum = 0, n = 0;
    for (; i < curve.n && Math.floor((curve.t[i] - t0) * k) === x; i++, n++) {
      least = Math.min(least, curve.v[i]);
      greatest = Math.max(greatest, curve.v[i]);
      sum += curve.v[i];
    }
    list.push({ x, least, greatest, mean: sum / n });
  }
  return list;
}

/* In the box of its row, of a canvas whose unit is a CSS pixel. The value holds until the next one. */
export function paintCurve(context, curve, y, height, width) {
  const span = curve.high - curve.low || 1, at = (v) => y + height - 4 - ((v - curve.low) / span) * (height - 8);
  context.fillStyle = context.strokeStyle = curveColour();
  context.globalAlpha = 0.35;
  const list = columnsOf(curve, view.t0, view.t1, width);
  for (const { x, least, greatest } of list) context.fillRect(x, at(greatest), 1.5, Math.max(1, at(least) - at(greatest)));
  context.globalAlpha = 1;
  context.lineWidth = 1.5;
  context.beginPath();
  list.forEach(({ x, mean }, i) => {
    if (!i) return context.moveTo(Math.max(0, x), at(mean));
    context.lineTo(x, at(list[i - 1].mean));
    context.lineTo(x, at(mean));
  });
  if (list.length && view.t1 <= curve.t[curve.n - 1]) context.lineTo(width, at(list[list.length - 1].mean));
  context.stroke();
  if (width > 2 * CURVE && list.length < width / 12) for (const { x, mean } of list) context.fillRect(x - 1.5, at(mean) - 1.5, 3, 3);
}

function shortNumber(v) {
  return Math.abs(v) >= 1e6 ? v.toExponential(1).replace("e+", "e") : grouped(v);
}

/* Its name, and between which values it goes. */
export function paintCurveName(context, curve, y) {
  context.fillStyle = theme.colours.ink;
  context.font = "11px system-ui, sans-serif";
  context.fillText(curve.name.slice(0, 14), 6, y + 9);
  context.fillStyle = theme.colours.faint;
  context.fillText((curve.core ? curve.core.name + " " : "") + curve.risc + (curve.sum ? ", sum" : ""), 6, y + 22, 92);
  context.fillText(shortNumber(curve.low) + " to " + shortNumber(curve.high), 6, y + 36, 92);
}

/* The point nearest to t; null: it has none at most `near` away. */
export function curvePoint(curve, t, near) {
  const i = upperBound(curve.t, t);
  const best = [i - 1, i].filter((k) => k >= 0 && k < curve.n).sort((a, b) => Math.abs(curve.t[a] - t) - Math.abs(curve.t[b] - t))[0];
  return best !== undefined && Math.abs(curve.t[best] - t) <= near ? curve.items[best] : null;
}
