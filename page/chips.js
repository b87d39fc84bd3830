/* The chips of a log as grids, each core where it is on the chip, with what stands elsewhere and what is switched off, as far as that is known;
 * coloured by what is asked. Cores that stand out are listed. A click, or Enter, opens the core in the time line. */

import { answers, unitText } from "./answers.js";
import { byId, make } from "./dom.js";
import { counted, cyclesAndTime, grouped } from "./format.js";
import { bytesThere, gridsOf, outliers, scaleOf, valuesOf } from "./grid.js";
import { openCore } from "./places.js";
import { rowPlace, table } from "./table.js";
import { inkOn, mixed, theme } from "./theme.js";
import { repaint, timeline } from "./timeline.js";

export const chips = { what: "busy", values: null };
/* Of tiles that run no kernels: a letter, and what it is. */
const KINDS = { tensix: ["", "Tensix"], dram: ["D", "DRAM"], eth: ["E", "Ethernet"], pcie: ["P", "PCIe"], arc: ["A", "ARC (management)"], router: ["R", "router only"], off: ["×", "off"], "": ["?", "not known"] };
const RAMP = { light: ["#2c6fbb", "#8bb8e0", "#e4e7eb", "#f0b070", "#c4402a"], dark: ["#4a9be8", "#2f5f8f", "#2b3037", "#9a6430", "#f0603f"] };

function textOf(value, core) {
  if (isNaN(value)) return "not there";
  if (chips.what === "busy") return (value * 100).toFixed(1) + " %";
  if (chips.what === "bytes") return unitText(value, "bytes");
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

function coreOf(cell, placed, value, scale, odd) {
  const { core } = cell, colour = isNaN(value) ? theme.colours.band : shade(0.5 + (value - scale.median) / scale.most / 2);
  const title = core.title + (placed ? " at NoC " + cell.x + "," + cell.y : "") + ": " + textOf(value, core);
  const tile = make("button", { type: "button", class: odd ? "core odd" : "core", title, "aria-label": core.x + "," + core.y + " " + shortOf(value) + ", " + title + (odd ? ", stands out" : "") }, make("span", {}, core.x + "," + core.y), " ", make("b", {}, shortOf(value)));
  tile.style.background = colour;
  tile.style.color = inkOn(colour);
  tile.addEventListener("click", () => show(core));
  return tile;
}

/* What the legend below says in words is not said tile by tile to who listens. `moved`: bytes, coloured by the most of a tile without cores. */
function tileOf(cell, placed, moved, most) {
  if (!placed) return make("span", { class: "place tile-none", "aria-hidden": "true" });
  const [letter, name] = KINDS[cell.kind], about = name + " at NoC " + cell.x + "," + cell.y + (cell.kind === "tensix" ? ": nothing of it in this log" : cell.kind === "off" ? ": switched off (harvested), or left out" : "");
  const tile = make("span", { class: "place tile-" + (cell.kind || "unknown"), "aria-hidden": "true", title: about + (moved ? ": " + unitText(moved, "bytes") + " read and written by cores" : "") }, letter);
  if (!moved) return tile;
  const colour = mixed(theme.colours.page, shade(0.9), 0.2 + (0.8 * moved) / most);
  tile.append(make("b", {}, shortOf(moved)));
  tile.style.background = colour;
  tile.style.color = inkOn(colour);
  return tile;
}

/* How many there are of each kind. */
function legendOf(grid) {
  const counts = new Map(), ran = grid.cells.filter((c) => c.core).length;
  for (const cell of grid.cells) counts.set(cell.kind, (counts.get(cell.kind) || 0) + 1);
  const words = Object.keys(KINDS).filter((k) => counts.has(k)).map((k) => (KINDS[k][0] ? KINDS[k][0] + " " : "") + KINDS[k][1] + " " + counts.get(k) + (k === "tensix" ? " (" + ran + " in this log)" : ""));
  return make("p", { class: "faint chip-kinds" }, grid.placed ? words.join(" · ") : counted(ran, "core") + " at the log's own coordinates");
}

/* A row of a grid's tiles behind its number; columns without cores are narrow. */
function gridOf(grid, rank, scale, odd) {
  const box = make("div", { class: grid.placed ? "chip-grid placed" : "chip-grid", role: "group", "aria-label": grid.chip.title }), { columns, cells, placed } = grid, boxes = [];
  const moved = chips.what === "bytes" && placed ? bytesThere(timeline.model, rank) : new Map(), most = Math.max(0, ...cells.filter((c) => !c.core).map((c) => moved.get(c.x + "," + c.y) || 0));
  const wide = Array.from({ length: columns }, (_, x) => !placed || cells.some((c) => c.x === x && (c.core || c.kind === "tensix")));
  box.style.gridTemplateColumns = (placed ? "18px " : "") + wide.map((w) => (w ? "minmax(30px, 62px)" : "minmax(18px, 30px)")).join(" ");
  const axis = (text) => make("span", { class: "axis", "aria-hidden": "true" }, text);
  if (placed) box.append(axis(""), ...wide.map((_, x) => axis(String(x))));
  cells.forEach((cell, i) => {
    if (placed && i % columns === 0) box.append(axis(String(cell.y)));
    boxes.push(cell.core ? coreOf(cell, placed, chips.values[cell.core.index], scale, odd.has(cell.core.index)) : tileOf(cell, placed, moved.get(cell.x + "," + cell.y) || 0, most));
    box.append(boxes[i]);
  });
  box.addEventListener("keydown", (event) => {
    const step = { ArrowRight: 1, ArrowLeft: -1, ArrowDown: columns, ArrowUp: -columns }[event.key];
    if (!step) return;
    event.preventDefault();
    event.stopPropagation();
    for (let at = boxes.indexOf(/** @type {any} */ (document.activeElement)) + step; at >= 0 && at < boxes.length; at += step)
      if (boxes[at].tagName === "BUTTON") return /** @type {any} */ (boxes[at]).focus();
  });
  return make("figure", {}, make("figcaption", {}, make("b", {}, grid.chip.title), " " + grid.chip.name + " ", make("span", { class: "faint" }, (placed ? columns + " × " + grid.rows + " tiles, NoC 0 coordinates; " : "") + grid.note)), box, legendOf(grid));
}

/* Ways to colour, of those that there is something of. */
function ways() {
  const { model } = timeline, row = table.chosen || table.suggested, list = [["busy", "part of the time in kernels"]];
  if (valuesOf(model, "waited").some((v) => v > 0)) list.push(["waited", "cycles waited, all RISCs"]);
  if (row) list.push(["zone", "median of " + row.name.slice(0, 40) + " on " + rowPlace(row)]);
  if (valuesOf(model, "bytes").some((v) => v > 0)) list.push(["bytes", "bytes read and written over the NoC"]);
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
    make("div", { class: "chip-box" }, ...gridsOf(model, answers.all.grids).map((g) => gridOf(g, g.chip.rank, scale, new Set(odd.map((o) => o.i)))), make("div", { id: "odd-cores" }, make("h2", {}, "Cores that stand out"), lines.length ? make("table", { class: "list" }, make("thead", {}, make("tr", {}, ...[["core", ""], ["", "n"], ["from the median", "n"]].map(([t, c]) => make("th", { scope: "col", class: c }, t)))), make("tbody", {}, ...lines)) : make("p", { class: "faint" }, "None: all are about as the median core."))));
}
