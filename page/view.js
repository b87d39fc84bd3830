/* The part of the axis that is on the screen, and how it moves. No drawing here: whoever changes the view calls
 * view.changed. */

export const view = { t0: 0, t1: 1, span: 1, least: 10, changed: () => {} };

export function setView(t0, t1) {
  const size = Math.min(Math.max(t1 - t0, view.least), view.span * 1.1);
  const middle = (t0 + t1) / 2;
  t0 = middle - size / 2;
  const margin = size * 0.5; /* the ends of the log may come to the middle of the screen, not further */
  t0 = Math.min(Math.max(t0, -margin), view.span + margin - size);
  view.t0 = t0;
  view.t1 = t0 + size;
  view.changed();
}

export function viewAll() {
  const margin = view.span * 0.005;
  setView(-margin, view.span + margin);
}

/* Zooms by `factor` (less than 1: in) around the place at `part` of the width. */
export function zoom(factor, part) {
  const size = view.t1 - view.t0, at = view.t0 + size * part;
  const next = Math.min(Math.max(size * factor, view.least), view.span * 1.1);
  setView(at - next * part, at + next * (1 - part));
}

export function pan(part) {
  const step = (view.t1 - view.t0) * part;
  setView(view.t0 + step, view.t1 + step);
}

/* Brings t0..t1 into sight with room around it. */
export function viewRange(t0, t1) {
  const room = Math.max((t1 - t0) * 0.4, view.least);
  setView(t0 - room, t1 + room);
}
