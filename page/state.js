/* What is on the screen, in the address and back: a reload, or a link in a mail, shows the same. And undo, which goes back through
 * what was there. */

import { bookmarks, keptMarks, setMarks, showUnlinked } from "./bookmarks.js";
import { drawn, showCausesBar } from "./causes_draw.js";
import { curveKey, curves, setCurves } from "./curves.js";
import { byId } from "./dom.js";
import { beginning, decode, decodeMarks, decodeNumbers, decodeRange, decodeSpans, encode, encodeMarks, encodeSpans, joinedMarks, shortened } from "./link.js";
import { showMarkers } from "./markers.js";
import { order, orderText, setOrder } from "./order.js";
import { showHidden } from "./row_menu.js";
import { rowsLayout } from "./rows.js";
import { say } from "./say.js";
import { runSearch, search } from "./search.js";
import { measure, select, selection } from "./select.js";
import { chooseRow, table } from "./table.js";
import { showTab, tabs } from "./tabs.js";
import { measureTimeline, repaint, timeline } from "./timeline.js";
import { setView, view } from "./view.js";

export const state = { now: "", before: [], after: [], quiet: false };
const MOST_STEPS = 200, REST = 250; /* ms without a change make a step */

function round(t) {
  const digits = Math.max(0, Math.min(6, 4 - Math.floor(Math.log10(Math.max(1e-9, view.t1 - view.t0)))));
  return Number(t.toFixed(digits));
}

function allRows() {
  const { rows, tops, hosts, ranges } = timeline.model;
  return [...rows, ...tops, ...hosts, ...ranges];
}

function itemText(item) {
  return item ? [item.lane.row.index, item.lane.row.lanes.indexOf(item.lane), item.i].join(".") : "";
}

function itemFrom(text) {
  const [index, lane, i] = (text || "").split(".").map(Number), row = allRows().find((r) => r.index === index);
  return row && row.lanes[lane] && i >= 0 && i < row.lanes[lane].n ? { lane: row.lanes[lane], i } : null;
}

function rowsFrom(text) {
  const { rows, tops, hosts } = timeline.model, wanted = new Set(decodeSpans(text, rows.length + tops.length + hosts.length));
  return new Set(rows.filter((r) => wanted.has(r.index)));
}

/* The screen as text. */
export function taken() {
  const whole = view.t0 <= 0 && view.t1 >= view.span, row = table.chosen;
  return encode({ tab: tabs.now, parts: {
    v: whole ? "" : round(view.t0) + "," + round(view.t1),
    o: [...rowsLayout.open].map((c) => c.index).sort((a, b) => a - b).join(","),
    s: itemText(selection.item), r: selection.range ? selection.range.map(round).join(",") : "", a: selection.range && selection.rows ? encodeSpans([...selection.rows].map((r) => r.index)) : "", q: search.text,
    z: row ? row.chip + "." + row.risc + "." + beginning(row.name) : "",
    h: [...order.hidden].map((c) => c.index).join(","), p: orderText(), n: order.pinned ? String(order.pinned) : "",
    k: curves.shown.map((c) => encodeURIComponent(curveKey(c))).join("~"),
    c: (drawn.path ? "p" : "") + (drawn.waits ? "w" : "") + (drawn.slack ? "s" : ""), m: encodeMarks(bookmarks.list),
  } });
}

function applyRows(parts) {
  const { model } = timeline, n = model.cores.length;
  setOrder(model, decodeNumbers(parts.p, n), Number(parts.n) || 0, decodeNumbers(parts.h, n));
  rowsLayout.open.clear();
  for (const i of decodeNumbers(parts.o, n)) rowsLayout.open.add(model.cores[i]);
  timeline.opened = true;
}

function decoded(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return ""; /* cut in the middle */
  }
}

/* Makes the screen what a text says. */
export function apply(text) {
  const { tab, parts } = decode(text), range = decodeRange(parts.r);
  state.quiet = true;
  applyRows(parts);
  const [chip, risc, ...name] = (parts.z || "").split("."), row = table.rows.find((r) => String(r.chip) === chip && r.risc === risc && beginning(r.name) === name.join("."));
  if (row !== table.chosen && (row || table.chosen)) chooseRow(row || null);
  byId("search").value = parts.q || "";
  if ((parts.q || "") !== search.text) runSearch(parts.q || "");
  setCurves((parts.k || "").split("~").filter(Boolean).map(decoded));
  if (curves.all.length) showMarkers(timeline.model);
  [drawn.path, drawn.waits, drawn.slack] = ["p", "w", "s"].map((k) => (parts.c || "").includes(k));
  showCausesBar();
  showHidden();
  showTab(tab);
  measureTimeline();
  const sight = decodeRange(parts.v);
  if (sight) setView(...sight);
  else setView(-view.span * 0.005, view.span * 1.005);
  if (range) measure(range[0], range[1], rowsFrom(parts.a));
  else select(itemFrom(parts.s), false);
  if (parts.m !== undefined || bookmarks.list.length) setMarks(decodeMarks(parts.m));
  state.quiet = false;
  repaint();
}

let due = 0;
function settled() {
  const text = taken();
  if (text === state.now) return;
  if (state.now) state.before.push(state.now);
  if (state.before.length > MOST_STEPS) state.before.shift();
  state.after = [];
  state.now = text;
  write(text);
}

function write(text) {
  const short = shortened(text);
  showUnlinked(short === text ? 0 : bookmarks.list.length - decodeMarks(decode(short).parts.m).length);
  try {
    history.replaceState(null, "", "#" + short);
  } catch {
    /* where a page may not have one, or too often */
  }
}

/* Something has changed, or may have. */
export function changed() {
  if (state.quiet || !timeline.ready) return;
  clearTimeout(due);
  due = setTimeout(settled, REST);
}

/* Back (-1) and forth (1). */
export function undo(step) {
  clearTimeout(due);
  settled(); /* what has not come to rest is a step, too */
  const from = step < 0 ? state.before : state.after, to = step < 0 ? state.after : state.before, text = from.pop();
  if (text === undefined) return say(step < 0 ? "nothing to undo" : "nothing to do again");
  to.push(state.now);
  state.now = text;
  apply(text);
  write(text);
  say(step < 0 ? "undone" : "done again");
}

/* After everything is there: what the address asked for, or what the browser kept. */
export function startState(linked) {
  const { parts } = decode(linked), kept = keptMarks();
  if (Object.keys(parts).length) apply(linked);
  if (kept.length) setMarks(joinedMarks(bookmarks.list, kept)); /* somebody's link takes nobody's own away */
  state.now = taken();
  write(state.now);
  showHidden();
  bookmarks.changed = changed;
  tabs.changed = () => state.quiet || settled();
  addEventListener("pagehide", settled);
}
