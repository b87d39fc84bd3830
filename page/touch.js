/* Two fingers on the time line: apart and together zooms, both together pan. One finger is a mouse (select.js). */

import { byId } from "./dom.js";
import { timeline } from "./timeline.js";
import { setView, view } from "./view.js";

const fingers = new Map(); /* x on the canvas by pointer */
let pinch = null;

export function pinching() {
  return pinch !== null;
}

function x(event) {
  return event.clientX - byId("paint").getBoundingClientRect().left;
}

/* The places of the axis that were under two fingers stay under them. */
export function pinchedView({ t0, t1, a, b }, now, width) {
  const [p, q] = [a, b].map((v) => t0 + (v / width) * (t1 - t0)), apart = Math.max(8, Math.abs(now[1] - now[0])) * Math.sign(now[1] - now[0] || 1);
  const per = (q - p) / apart, from = p - now[0] * per;
  return per > 0 ? [from, from + per * width] : null;
}

function onDown(event) {
  if (event.pointerType !== "touch") return;
  fingers.set(event.pointerId, x(event));
  if (fingers.size !== 2) return;
  const [a, b] = [...fingers.values()];
  pinch = { t0: view.t0, t1: view.t1, a, b };
}

function onMove(event) {
  if (!fingers.has(event.pointerId)) return;
  fingers.set(event.pointerId, x(event));
  const next = pinch && fingers.size === 2 && pinchedView(pinch, [...fingers.values()], timeline.width);
  if (next) setView(...next);
}

function onUp(event) {
  fingers.delete(event.pointerId);
  if (!fingers.size) pinch = null; /* the finger that is left does not drag */
}

/* Before the listeners of select.js. */
export function startTouch() {
  const rows = byId("rows");
  rows.addEventListener("pointerdown", onDown);
  rows.addEventListener("pointermove", onMove);
  for (const type of ["pointerup", "pointercancel"]) rows.addEventListener(type, onUp);
}
