/* Bookmarks: places of the axis with a note, drawn on the ruler and listed below the time line. The browser keeps them for this log,
 * and they are in the address (state.js), so that a link takes them along. */

import { copyButtons } from "./copy.js";
import { byId, make } from "./dom.js";
import { counted } from "./format.js";
import { decodeMarks, encodeMarks } from "./link.js";
import { say } from "./say.js";
import { itemEnd, itemStart, selection } from "./select.js";
import { inkOn, theme } from "./theme.js";
import { axisTextUnit, axisToX, repaint, timeline } from "./timeline.js";
import { setView, view } from "./view.js";

/* `unlinked`: so many, the last ones, the address has no room for. */
export const bookmarks = { list: [], changed: () => {}, edited: null, unlinked: 0 };

/* Of the same log always the same; of two logs rarely. */
function logKey() {
  const { title, rows, all_launches: n, log_rows: m } = timeline.model.meta;
  return "devlog marks " + [title, rows.length, rows[0] && rows[0][4], n, m].join(" ");
}

function keep() {
  try {
    if (bookmarks.list.length) localStorage.setItem(logKey(), encodeMarks(bookmarks.list));
    else localStorage.removeItem(logKey());
  } catch {
    /* then only the address has them */
  }
  bookmarks.changed();
}

export function setMarks(list) {
  bookmarks.list = [...list].sort((a, b) => a.t - b.t);
  showMarks();
  keep();
  repaint();
}

export function keptMarks() {
  try {
    return decodeMarks(localStorage.getItem(logKey()) || "");
  } catch {
    return [];
  }
}

/* Where a new one would be: the middle of what is selected or measured, else of the screen. */
function place() {
  if (selection.range) return (selection.range[0] + selection.range[1]) / 2;
  if (selection.item) return (itemStart(selection.item) + itemEnd(selection.item)) / 2;
  return (view.t0 + view.t1) / 2;
}

/* Asks for the note of a bookmark; null: of a new one. */
export function editMark(mark) {
  bookmarks.edited = mark || { t: place(), text: "" };
  const dialog = byId("note"), text = make("input", { type: "text", maxlength: 500, "aria-label": "Note", value: bookmarks.edited.text });
  const done = make("button", { type: "submit" }, "keep"), off = make("button", { type: "button" }, mark ? "remove" : "cancel");
  const form = make("form", { method: "dialog" }, make("h2", {}, "Bookmark at " + axisTextUnit(bookmarks.edited.t, (view.t1 - view.t0) / 1000)), text, make("p", {}, done, " ", off));
  form.addEventListener("submit", () => setMarks(bookmarks.list.filter((m) => m !== mark).concat({ t: bookmarks.edited.t, text: text.value.trim() || "bookmark" })));
  off.addEventListener("click", () => {
    if (mark) setMarks(bookmarks.list.filter((m) => m !== mark));
    dialog.close();
  });
  text.addEventListener("keydown", (event) => event.stopPropagation());
  dialog.replaceChildren(form);
  dialog.showModal();
  text.focus();
}

/* The bookmark behind (1) or before (-1) the middle of the screen. */
export function nextMark(step) {
  const middle = (view.t0 + view.t1) / 2, size = view.t1 - view.t0;
  const found = bookmarks.list.filter((m) => (m.t - middle) * step > size / 1e6).sort((a, b) => (a.t - b.t) * step)[0];
  if (!found) return say("no further bookmark");
  showMark(found);
}

function showMark(mark) {
  const half = (view.t1 - view.t0) / 2;
  setView(mark.t - half, mark.t + half);
  say("bookmark: " + mark.text);
}

export function showMarks() {
  const box = byId("marks-list");
  box.hidden = !bookmarks.list.length;
  box.replaceChildren(make("b", {}, "Bookmarks"), ...bookmarks.list.map((mark) => {
    const go = make("button", { type: "button", class: "go", title: mark.text }, mark.text.slice(0, 40)), edit = make("button", { type: "button", "aria-label": "Change or remove: " + mark.text, title: "Change or remove" }, "✎");
    go.addEventListener("click", () => showMark(mark));
    edit.addEventListener("click", () => editMark(mark));
    return make("span", {}, go, edit);
  }), copyButtons(() => ({ names: ["place", "note"], rows: bookmarks.list.map((m) => [axisTextUnit(m.t, (view.t1 - view.t0) / 1000), m.text]) })));
  showUnlinked(bookmarks.unlinked);
}

/* A link takes along what fits; what does not is said. */
export function showUnlinked(n) {
  const box = byId("marks-list"), was = box.querySelector("p");
  bookmarks.unlinked = n;
  if (was) was.remove();
  if (n) box.append(make("p", { class: "faint" }, "The address has no room for the last " + counted(n, "bookmark") + ": this browser keeps them, a link does not."));
}

/* On the ruler: a flag with the beginning of the note; over the rows: a line. */
export function paintFlags(ruler, rows) {
  const colour = theme.dark ? "#e0b050" : "#9a6700";
  ruler.font = "600 10px system-ui, sans-serif";
  ruler.textBaseline = "middle";
  let free = -Infinity;
  for (const { t, text } of bookmarks.list) {
    const x = Math.round(axisToX(t));
    if (x < -200 || x > timeline.width) continue;
    rows.fillStyle = colour;
    rows.fillRect(x, 0, 1, timeline.height);
    if (x < free) continue;
    const short = text.slice(0, 24), wide = ruler.measureText(short).width + 8;
    ruler.fillStyle = colour;
    ruler.fillRect(x, 3, wide, 15);
    ruler.fillStyle = inkOn(colour);
    ruler.fillText(short, x + 4, 11);
    free = x + wide + 2;
  }
}
