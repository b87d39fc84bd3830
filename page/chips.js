/* The chips of a log as grids, each core where it is, coloured by what is asked; cores that stand out are listed. A click, or Enter,
 * opens the core in the time line. */

import { byId, make } from "./dom.js";
import { cyclesAndTime, grouped } from "./format.js";
import { gridsOf, outliers, scaleOf, valuesOf } from "./grid.js";
import { openCore } from "./places.js";
import { rowPlace, table } from "./table.js";
import { inkOn, mixed, theme } from "./theme.js";
import { repaint, timeline } from "./timeline.js";

export const chips = { what: "busy", values: null };
const RAMP = { light: ["#2c6fbb", "#8bb8e0", "#e4e7eb", "#f0b070", "#c4402a"], dark: ["#4a9be8", "#2f5f8f", "#2b3037", "#9a6430", "#f0603f"] };

function textOf(value, core) {
  if (isNaN(value)) return "not there";
  if (chips.what === "busy") return (value * 100).toFixed(1) + " %";
  if (chips.what === "dropped") return grouped(value) + " dropped";
  return cyclesAndTime(value, timeline.model.chips[core.chip].khz);
}

function shortOf(value) {
  if (isNaN(value)) return "";
  return chips.what === "busy" ? (value * 100).toFixed(0) + "%" : value >= 1e6 ? (value / 1e6).toFixed(1) + "M" : value >= 1e4 ? (value / 1e3).toFixed(0) + "k" : grouped(Math.round(value));
}

function shade(part) {
  const ramp = theme.dark ? RAMP.dark : RAMP.light, at = Math.min(0.9999, Math.max(0, part)) * (ramp.length - 1), i = Math.floor(at);
  return mixed(ramp[i], ramp[i + 1], at - i);
}

function show(core) {
  openCore(core);
  repaint();
}

function tileOf(core, value, scale, odd) {
  if (!core) return make("span", { class: "tile-none", "aria-hidden": "true" });
  const colour = isNaN(value) ? theme.colours.band : shade(0.5 + (value - scale.median) / scale.most / 2);
  const tile = make("button", { type: "button", class: odd ? "core odd" : "core", title: core.title + ": " + textOf(value, core), "aria-label": core.x + "," + core.y + " " + shortOf(value) + ", " + core.title + ": " + textOf(value, core) + (odd ? ", stands out" : "") }, make("span", {}, core.x + "," + core.y), " ", make("b", {}, shortOf(value)));
  tile.style.background = colour;
  tile.style.color = inkOn(colour);
  tile.addEventListener("click", () => show(core));
  return tile;
}

function gridOf(grid, scale, odd) {
  const box = make("div", { class: "chip-grid", role: "group", "aria-label": grid.chip.title });
  box.style.gridTemplateColumns = "repeat(" + grid.columns + ", minmax(30px, 62px))";
  box.append(...grid.cells.map((core) => tileOf(core, core ? chips.values[core.index] : NaN, scale, core && odd.has(core.index))));
  box.addEventListener("keydown", (event) => {
    const step = { ArrowRight: 1, ArrowLeft: -1, ArrowDown: grid.columns, ArrowUp: -grid.columns }[event.key], all = [...box.children];
    if (!step) return;
    event.preventDefault();
    event.stopPropagation();
    for (let at = all.indexOf(/** @type {any} */ (document.activeElement)) + step; at >= 0 && at < all.length; at += step)
      if (all[at].tagName === "BUTTON") return /** @type {any} */ (all[at]).focus();
  });
  return make("figure", {}, make("figcaption", {}, make("b", {}, grid.chip.title), " " + grid.chip.name), box);
}

/* Ways to colour, of those that there is something of. */
function ways() {
  const { model } = timeline, row = table.chosen || table.suggested, list = [["busy", "part of the time in kernels"]];
  if (valuesOf(model, "waited").some((v) => v > 0)) list.push(["waited", "cycles waited, all RISCs"]);
  if (row) list.push(["zone", "median of " + row.name.slice(0, 40) + " on " + rowPlace(row)]);
  if (valuesOf(model, "dropped").some((v) => v > 0)) list.push(["dropped", "markers dropped"]);
  return list;
}

export function showChips() {
  const { model } = timeline, list = ways(), box = byId("chips");
  if (!list.some((w) => w[0] === chips.what)) chips.what = "busy";
  chips.values = valuesOf(model, chips.what, table.chosen || table.suggested);
  const odd = outliers(chips.values), scale = scaleOf(chips.values);
  const menu = make("select", { id: "chip-what" }, ...list.map(([value, text]) => make("option", { value }, text)));
  menu.value = chips.what;
  menu.addEventListener("change", () => {
    chips.what = menu.value;
    showChips();
    byId("chip-what").focus();
  });
  const lines = odd.slice(0, 30).map((o) => {
    const core = model.cores[o.i], line = make("tr", { tabindex: "0" }, make("td", {}, core.name), make("td", { class: "n" }, textOf(o.value, core)), make("td", { class: "n" }, (o.away > 0 ? "+" : "") + (Math.abs(o.away) < 100 && chips.what !== "dropped" ? (o.away * 100).toFixed(1) + " %" : grouped(o.away))));
    line.addEventListener("click", () => show(core));
    line.addEventListener("keydown", (event) => event.key === "Enter" && show(core));
    return line;
  });
  box.replaceChildren(make("div", { class: "bar" }, make("label", {}, "Colour by ", menu), make("span", { class: "faint" }, isNaN(scale.median) ? "" : "grey: as the median core, " + textOf(scale.median, model.cores[0]) + "; red: more, up to " + textOf(scale.high, model.cores[0]) + "; blue: less, from " + textOf(scale.low, model.cores[0]))),
    make("div", { class: "chip-box" }, ...gridsOf(model).map((g) => gridOf(g, scale, new Set(odd.map((o) => o.i)))), make("div", { id: "odd-cores" }, make("h2", {}, "Cores that stand out"), lines.length ? make("table", { class: "list" }, make("thead", {}, make("tr", {}, ...[["core", ""], ["", "n"], ["from the median", "n"]].map(([t, c]) => make("th", { scope: "col", class: c }, t)))), make("tbody", {}, ...lines)) : make("p", { class: "faint" }, "None: all are about as the median core."))));
}
