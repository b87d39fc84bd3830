/* What can be done with a core's rows: pinned to the top, hidden, moved; by a menu (the right mouse button on its name, or `r`), or by
 * keys. Which cores are where is in order.js. */

import { byId, make } from "./dom.js";
import { counted } from "./format.js";
import { isPinned, moveCore, order, shownCores, togglePin } from "./order.js";
import { bandAt, rowsLayout } from "./rows.js";
import { say } from "./say.js";
import { reveal, selection } from "./select.js";
import { measureTimeline, repaint, timeline, toggleCore } from "./timeline.js";

function again(core) {
  measureTimeline();
  selection.band = rowsLayout.bands.find((b) => b.core === core) || null;
  if (selection.band) reveal(selection.band);
  showHidden();
  repaint();
}

function chosenCore() {
  const core = selection.band && selection.band.core;
  if (!core) say("select a zone or open a core first");
  return core;
}

export function pinRow(core) {
  if (!core && !(core = chosenCore())) return;
  togglePin(timeline.model, core);
  say(core.title + (isPinned(core) ? " is pinned to the top" : " is back in its place"));
  again(core);
}

export function hideRow(core) {
  if (!core && !(core = chosenCore())) return;
  if (shownCores(timeline.model).length < 2) return say("one row stays");
  order.hidden.add(core);
  if (selection.item && selection.item.lane.row.core === core) selection.item = null;
  say(core.title + " is hidden");
  again(null);
}

export function showAllRows() {
  order.hidden.clear();
  say("all rows are shown");
  again(selection.band && selection.band.core);
}

export function moveRow(step, core) {
  if (!core && !(core = chosenCore())) return;
  say(moveCore(timeline.model, core, step) ? core.title + " is one place " + (step < 0 ? "up" : "down") : core.title + " cannot go further");
  again(core);
}

/* That there are hidden ones is said where rows are. */
export function showHidden() {
  const button = byId("hidden-rows"), n = order.hidden.size;
  button.hidden = n === 0;
  button.textContent = counted(n, "core") + " hidden: show";
}

function close() {
  byId("row-menu").hidden = true;
  byId("rows").focus({ preventScroll: true });
}

export function openRowMenu(core, x, y) {
  const menu = byId("row-menu");
  /** @type {[string, string, () => void][]} */
  const entries = [
    [isPinned(core) ? "put back" : "pin to the top", "i", () => pinRow(core)], ["hide", "h", () => hideRow(core)], ["move up", "K", () => moveRow(-1, core)], ["move down", "J", () => moveRow(1, core)],
    [rowsLayout.open.has(core) ? "close" : "open", "Enter", () => toggleCore(core)],
  ];
  if (order.hidden.size) entries.push(["show all " + order.hidden.size + " hidden", "H", showAllRows]);
  menu.replaceChildren(make("b", {}, core.title), ...entries.map(([text, key, act]) => {
    const entry = make("button", { type: "button", role: "menuitem" }, text, make("kbd", {}, key));
    entry.addEventListener("click", () => {
      close();
      act();
    });
    return entry;
  }));
  menu.hidden = false;
  menu.style.left = Math.max(4, Math.min(x, innerWidth - menu.offsetWidth - 4)) + "px";
  menu.style.top = Math.max(4, Math.min(y, innerHeight - menu.offsetHeight - 4)) + "px";
  menu.querySelector("button").focus();
}

/* Of the core that is selected. */
export function rowMenu() {
  const core = chosenCore(), band = core && rowsLayout.bands.find((b) => b.core === core), box = byId("rows").getBoundingClientRect();
  if (core) openRowMenu(core, box.left + 60, box.top + (band ? band.y - byId("rows").scrollTop + 10 : 10));
}

export function startRowMenu() {
  const menu = byId("row-menu"), rows = byId("rows");
  rows.addEventListener("contextmenu", (event) => {
    const box = byId("paint").getBoundingClientRect();
    if (event.clientX >= box.left) return; /* over the rows it is the browser's */
    const band = bandAt(event.clientY - box.top + rows.scrollTop);
    if (!band || !band.core) return;
    event.preventDefault();
    openRowMenu(band.core, event.clientX, event.clientY);
  });
  menu.addEventListener("keydown", (event) => {
    event.stopPropagation();
    const entries = [...menu.querySelectorAll("button")], at = entries.indexOf(document.activeElement);
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step) entries[(at + step + entries.length) % entries.length].focus();
    else if (event.key === "Escape" || event.key === "Tab") close();
    else return;
    event.preventDefault();
  });
  document.addEventListener("pointerdown", (event) => !menu.hidden && !menu.contains(/** @type {any} */ (event.target)) && (menu.hidden = true));
  byId("hidden-rows").addEventListener("click", showAllRows);
}
