/* The tabs: which there are, and what is on the screen. A tab without data is not there. */

import { byId } from "./dom.js";

/* With the time line above them, or by themselves; `show` is called when it comes to the screen. */
export const tabs = { now: "overview", shown: new Map(), timeline: () => {}, changed: null };
const ALL = ["overview", "time", "ops", "zones", "heat", "memory", "roofline", "causes", "markers", "log"];
const BESIDE = new Set(["time", "ops", "zones", "heat", "markers"]);

/* This one has something to show; `show` (if any) draws it whenever it comes to the screen. */
export function offerTab(name, show) {
  tabs.shown.set(name, show || (() => {}));
  byId("tab-" + name).hidden = false;
}

export function tabNames() {
  return ALL.filter((t) => tabs.shown.has(t));
}

export function showTab(name) {
  if (!tabs.shown.has(name)) return;
  tabs.now = name;
  for (const tab of ALL) {
    byId("tab-" + tab).setAttribute("aria-selected", String(tab === name));
    byId("tab-" + tab).tabIndex = tab === name ? 0 : -1;
    byId("pane-" + tab).hidden = tab !== name;
  }
  if (tabs.changed) tabs.changed(); /* the address is a link to it */
  byId("main").dataset.tab = name;
  byId("main").dataset.beside = String(BESIDE.has(name));
  if (name === "time") byId("pane-time").append(byId("details"));
  if (name === "zones") byId("zone-side").prepend(byId("details"));
  byId("tab-" + name).scrollIntoView({ block: "nearest", inline: "nearest" });
  if (BESIDE.has(name)) tabs.timeline();
  tabs.shown.get(name)();
}

/* The nth tab that there is, from 0. */
export function showNth(n) {
  const name = tabNames()[n];
  if (name) showTab(name);
}

export function startTabs() {
  for (const tab of ALL) byId("tab-" + tab).addEventListener("click", () => showTab(tab));
  byId("tabs").addEventListener("keydown", (event) => {
    const names = tabNames(), at = names.indexOf(tabs.now);
    const next = { ArrowRight: at + 1, ArrowLeft: at - 1 + names.length, Home: 0, End: names.length - 1 }[event.key];
    if (next === undefined) return;
    showTab(names[next % names.length]);
    byId("tab-" + tabs.now).focus();
    event.preventDefault();
    event.stopPropagation();
  });
}
