/* The tab of memory: what `devlog memory` says of the run, with each memory over time as a picture: who held how much of it. What is
 * under the pointer, or under the mark that arrow keys move, is listed below. */

import { answers, section, unitText } from "./answers.js";
import { sectionBlock } from "./answer_table.js";
import { byId, make } from "./dom.js";
import { grouped } from "./format.js";
import { momentAt, ownersOver } from "./owners.js";
import { svg } from "./svg.js";
import { theme } from "./theme.js";

const TITLES = [["memory", "Memories"], ["leaks", "Not freed"], ["at_peak", "Who held it at the peak"], ["sources", "By source line"], ["buffers", "Buffers"]];
const OWNERS = ["#4f83c4", "#4aa36b", "#8f6fc0", "#3fa3a8", "#c0648f", "#7a8f3a", "#d07a2c", "#8a9aa8"];

export function hasMemory() {
  return Boolean(answers.all.memory);
}

/* The area of each owner, one above the other, as points of a polygon over 0..width, 0..100. */
export function areas({ times, owners }, most, end, width) {
  const low = new Float64Array(times.length), x = (t) => ((t / end) * width).toFixed(2), y = (v) => (100 - (v / most) * 100).toFixed(2);
  return owners.map((o) => {
    const up = [], down = [];
    times.forEach((t, i) => {
      const until = i + 1 < times.length ? times[i + 1] : end;
      up.push(x(t) + "," + y(low[i] + o.bytes[i]), x(until) + "," + y(low[i] + o.bytes[i]));
      down.push(x(until) + "," + y(low[i]), x(t) + "," + y(low[i]));
    });
    o.bytes.forEach((v, i) => (low[i] += v));
    const back = [];
    for (let i = down.length - 2; i >= 0; i -= 2) back.push(down[i], down[i + 1]);
    return up.concat(back).join(" ");
  });
}

/* Who held what at a moment, the most first. */
function heldAt(model, i, colours) {
  const held = model.owners.map((o, k) => ({ name: o.name, bytes: o.bytes[i], colour: colours[k] })).filter((o) => o.bytes > 0).sort((a, b) => b.bytes - a.bytes);
  return held.map((o) => {
    const mark = make("i", { class: "swatch" });
    mark.style.background = o.colour;
    return make("span", {}, mark, o.name.slice(0, 60) + " " + unitText(o.bytes, "bytes"));
  });
}

/* One memory over time. `rows`: of the answer's time line, whose steps have the fullest moment of each. */
function picture(name, rows, space, buffers) {
  const end = rows[rows.length - 1].to, most = Math.max(...rows.map((r) => r.most || 0), 1), WIDTH = 1000;
  const model = ownersOver(buffers, end, OWNERS.length), colours = model.owners.map((_, i) => OWNERS[i]);
  const total = rows.map((r) => ((r.from / end) * WIDTH).toFixed(2) + "," + (100 - ((r.most || 0) / most) * 100).toFixed(2) + " " + ((r.to / end) * WIDTH).toFixed(2) + "," + (100 - ((r.most || 0) / most) * 100).toFixed(2)).join(" ");
  const text = name + ": at most " + unitText(space.peak, "bytes") + (space.peak_share === null ? "" : ", " + unitText(space.peak_share, "percent") + " of it") + ", " + unitText(space.when, "ns") + " after the start";
  const mark = svg("line", { class: "at", x1: 0, x2: 0, y1: 0, y2: 100, visibility: "hidden" });
  const box = svg("svg", { viewBox: "0 0 " + WIDTH + " 100", preserveAspectRatio: "none", class: "over-time", tabindex: 0, role: "slider", "aria-label": text + "; arrow keys move over time", "aria-valuemin": 0, "aria-valuemax": Math.round(end), "aria-valuenow": 0 },
    ...areas(model, most, end, WIDTH).map((points, i) => svg("polygon", { points, fill: colours[i] })), svg("polyline", { points: total, class: "total" }), mark);
  const said = make("output", { class: "legend" });
  const show = (time) => {
    const at = Math.max(0, Math.min(end, time)), i = momentAt(model.times, at);
    mark.setAttribute("visibility", "visible");
    for (const key of ["x1", "x2"]) mark.setAttribute(key, String((at / end) * WIDTH));
    const held = model.owners.reduce((sum, o) => sum + o.bytes[i], 0);
    box.setAttribute("aria-valuenow", String(Math.round(at)));
    box.setAttribute("aria-valuetext", unitText(at, "ns") + ": " + unitText(held, "bytes"));
    said.replaceChildren(make("b", {}, unitText(at, "ns") + ": " + unitText(held, "bytes")), ...heldAt(model, i, colours));
  };
  const x = (event) => ((event.clientX - box.getBoundingClientRect().left) / box.getBoundingClientRect().width) * end;
  box.addEventListener("pointermove", (event) => show(x(event)));
  box.addEventListener("keydown", (event) => {
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (!step) return;
    event.preventDefault();
    event.stopPropagation();
    const i = momentAt(model.times, Number(box.getAttribute("aria-valuenow")));
    show(model.times[Math.max(0, Math.min(model.times.length - 1, i + step))]);
  });
  show(space.when);
  const left = answers.all.memory.sections.buffers?.more || 0;
  return make("figure", {}, make("figcaption", {}, text), box, make("div", { class: "ends faint" }, make("span", {}, unitText(rows[0].from, "ns")), make("span", {}, unitText(end, "ns"))), said,
    left ? make("p", { class: "faint" }, "By owner: of the first " + grouped(answers.all.memory.sections.buffers.rows.length) + " buffers; the line is of all.") : "");
}

export function showMemory() {
  const blocks = [], line = section("memory", "timeline"), all = section("memory", "memory"), buffers = section("memory", "buffers");
  const pictures = make("div", { class: "block" }, make("h2", {}, "Who held how much, over the run"));
  for (const space of all ? all.rows : []) {
    const of = (r) => r.chip === space.chip && r.memory === space.memory && r.open === space.open, rows = (line ? line.rows : []).filter(of);
    if (rows.length) pictures.append(picture("chip " + space.chip + ", " + space.memory + (space.open > 1 ? ", opened for the time " + space.open : ""), rows, space, (buffers ? buffers.rows : []).filter(of)));
  }
  if (pictures.children.length > 1) blocks.push(pictures);
  for (const [key, title] of TITLES) {
    const found = section("memory", key);
    if (found) blocks.push(sectionBlock(found, { id: "memory " + key, label: title, title }));
  }
  blocks.push(make("p", { class: "faint" }, "As devlog memory says it of the whole run, whatever part of it this page shows."));
  byId("pane-memory").replaceChildren(...blocks);
  byId("pane-memory").dataset.theme = theme.dark ? "dark" : "light";
}
