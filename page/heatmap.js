/* Launches by core: one cell is the time of one launch on one core; where there are more launches than room, of that
 * one of several that stands out most. What stands out is a straggler. */

import { ROLE_FW, ROLE_KERNEL } from "./data.js";
import { showChips } from "./chips.js";
import { byId, make } from "./dom.js";
import { counted, cyclesAndTime, grouped } from "./format.js";
import { rowsLayout } from "./rows.js";
import { say } from "./say.js";
import { reveal, selection } from "./select.js";
import { rowPlace, table } from "./table.js";
import { mixed, theme } from "./theme.js";
import { fitCanvas, timeline, toggleCore } from "./timeline.js";
import { viewRange } from "./view.js";

export const heat = { what: "kernel", by: "median", cells: null, launches: [], cores: [], w: 0, h: 0, at: null, per: 1, columns: 0, shown: null };
const COOL_WARM = { light: ["#2c6fbb", "#8bb8e0", "#e4e7eb", "#f0b070", "#c4402a"], dark: ["#4a9be8", "#2f5f8f", "#2b3037", "#9a6430", "#f0603f"] };
const FONT = "11px system-ui, sans-serif";
const MOST_PIXELS = 16000; /* of a canvas */
const VIRIDIS = ["#440154", "#3b528b", "#21918c", "#5ec962", "#fde725"];

export function offerHeat() {
  const menu = byId("heat-what"), before = menu.value, model = timeline.model;
  const options = [];
  if (model.sites.some((s) => s.role === ROLE_KERNEL)) options.push(["kernel", "kernels: first start to last end"]);
  if (model.sites.some((s) => s.role === ROLE_FW)) options.push(["fw", "firmware: first start to last end"]);
  const row = table.chosen || table.suggested;
  if (row) options.push(["zone", row.name.slice(0, 60) + " on " + rowPlace(row) + ", sum"]);
  menu.replaceChildren(...options.map(([value, text]) => make("option", { value }, text)));
  menu.value = options.some((o) => o[0] === before) ? before : options.length ? options[0][0] : "";
  heat.what = menu.value;
  if (!byId("pane-heat").hidden) showHeat();
}

/* Fills cells[core * launches + launch] with cycles; NaN where the core had no part in the launch. */
function computeHeat() {
  const model = timeline.model, row = table.chosen || table.suggested;
  const wanted = model.sites.map((s) => (heat.what === "kernel" ? s.role === ROLE_KERNEL : heat.what === "fw" ? s.role === ROLE_FW : row && s.name === row.name));
  const all = model.launches.length, cores = model.cores.length - model.processes;
  const first = new Float64Array(all * cores).fill(Infinity), last = new Float64Array(all * cores).fill(-Infinity), sum = new Float64Array(all * cores);
  const used = new Uint8Array(all);
  for (const line of model.rows) {
    if (line.core.index < model.processes) continue;
    if (heat.what === "zone" && row && (line.risc !== row.risc || line.chip !== row.chip)) continue;
    for (const lane of line.lanes) {
      if (lane.points) continue;
      for (let i = 0; i < lane.n; i++) {
        const launch = lane.launch[i];
        if (launch < 0 || !wanted[lane.site[i]]) continue;
        const at = (line.core.index - model.processes) * all + launch;
        if (lane.start[i] < first[at]) first[at] = lane.start[i];
        if (lane.end[i] > last[at]) last[at] = lane.end[i];
        sum[at] += lane.end[i] - lane.start[i];
        used[launch] = 1;
      }
    }
  }
  heat.launches = [];
  for (let l = 0; l < all; l++) if (used[l]) heat.launches.push(l);
  const n = heat.launches.length;
  heat.cores = model.cores.slice(model.processes);
  heat.cells = new Float64Array(n * cores);
  heat.starts = new Float64Array(n * cores);
  heat.ends = new Float64Array(n * cores);
  for (let c = 0; c < cores; c++)
    for (let k = 0; k < n; k++) {
      const at = c * all + heat.launches[k], time = heat.what === "zone" ? sum[at] : last[at] - first[at];
      heat.cells[c * n + k] = last[at] === -Infinity ? NaN : time;
      heat.starts[c * n + k] = first[at];
      heat.ends[c * n + k] = last[at];
    }
  heat.medians = heat.launches.map((_, k) => {
    const values = [];
    for (let c = 0; c < cores; c++) if (!isNaN(heat.cells[c * n + k])) values.push(heat.cells[c * n + k]);
    values.sort((a, b) => a - b);
    return values.length ? (values[(values.length - 1) >> 1] + values[values.length >> 1]) / 2 : NaN;
  });
}

function ramp(colours, part) {
  const at = Math.min(0.99999, Math.max(0, part)) * (colours.length - 1), i = Math.floor(at);
  return mixed(colours[i], colours[i + 1], at - i);
}

/* How far a cell is from the median of its launch: 0.1 is 10 % above. */
function fromMedian(c, k) {
  const v = heat.cells[c * heat.launches.length + k];
  return heat.medians[k] > 0 ? v / heat.medians[k] - 1 : isNaN(v) ? NaN : 0;
}

/* For each core and column the launch that is drawn there, or -1: of heat.per launches the one that stands out. */
function chooseLaunches() {
  const n = heat.launches.length, cores = heat.cores.length;
  heat.columns = Math.ceil(n / heat.per);
  heat.shown = new Int32Array(cores * heat.columns).fill(-1);
  for (let c = 0; c < cores; c++)
    for (let k = 0; k < n; k++) {
      const at = c * heat.columns + Math.floor(k / heat.per), best = heat.shown[at];
      if (isNaN(heat.cells[c * n + k])) continue;
      const size = (l) => (heat.by === "median" ? Math.abs(fromMedian(c, l)) : heat.cells[c * n + l]);
      if (best < 0 || size(k) > size(best)) heat.shown[at] = k;
    }
}

/* The difference from the median that has the strongest colour: the 98th percentile of what is drawn, at least 2 %. */
function spread() {
  const away = new Float64Array(heat.shown.length);
  let n = 0;
  heat.shown.forEach((k, at) => k >= 0 && (away[n++] = Math.abs(fromMedian(Math.floor(at / heat.columns), k))));
  const sorted = away.subarray(0, n).sort();
  return Math.max(0.02, n ? sorted[Math.floor((n - 1) * 0.98)] : 0);
}

/* The launches that are furthest from the median of theirs, on any core: one among ten thousand is first here. */
export function oddLaunches(most) {
  const n = heat.launches.length, list = [];
  let least = 0.02; /* what is nearer is no outlier */
  for (let c = 0; c < heat.cores.length; c++)
    for (let k = 0; k < n; k++) {
      const away = fromMedian(c, k);
      if (!(Math.abs(away) > least)) continue;
      list.push({ c, k, away });
      if (list.length < most * 4) continue;
      list.sort((a, b) => Math.abs(b.away) - Math.abs(a.away)).length = most;
      least = Math.abs(list[most - 1].away);
    }
  return list.sort((a, b) => Math.abs(b.away) - Math.abs(a.away)).slice(0, most);
}

/* The chip instead of its launches, or the other way round. */
function showAs() {
  const chip = byId("heat-as").value === "chip";
  byId("main").dataset.heat = chip ? "chip" : "launches"; /* a chip is high */
  byId("heat-scroll").hidden = chip;
  byId("chips").hidden = !chip;
  for (const id of ["heat-what", "heat-by"]) byId(id).closest("label").hidden = chip;
  for (const id of ["heat-scale", "heat-tip", "stragglers"]) byId(id).hidden = chip;
  if (chip) showChips();
  return chip;
}

/* As much of a name as has room; of a number all or nothing. */
function fitting(context, text, room) {
  const wide = context.measureText(text).width, n = Math.floor(((room - 14) / wide) * text.length);
  if (wide <= room) return text;
  return /^#?[\d .t]+$/.test(text) || n < 3 ? "" : text.slice(0, n) + "…";
}

export function showHeat() {
  if (showAs()) return;
  computeHeat();
  const box = byId("heat-scroll"), n = heat.launches.length, cores = heat.cores.length;
  if (!n) {
    byId("heat").width = 0;
    byId("stragglers").replaceChildren(make("p", { class: "faint" }, "No launch in this page has times of this kind."));
    return;
  }
  const gutter = 58, head = 18;
  const room = Math.max(100, box.clientWidth - gutter - 14), most_cores = MOST_PIXELS - head;
  heat.per = Math.max(1, Math.ceil((n * 2) / room));
  chooseLaunches();
  heat.w = Math.max(2, Math.min(40, Math.floor(room / heat.columns)));
  heat.h = Math.max(5, Math.min(18, Math.floor(Math.max(box.clientHeight - head - 4, innerHeight / 4) / cores)));
  heat.h = Math.max(1, Math.min(heat.h, Math.floor(most_cores / cores)));
  heat.gutter = gutter;
  heat.head = head;
  const ink = byId("heat").getContext("2d");
  ink.font = FONT;
  /* Names of launches as wide as they are, up to a limit; a number that is cut would be another one. */
  const names = heat.launches.map((l) => timeline.model.launches[l].name), some = names.length > 200 ? [names[0], names[names.length >> 1], names[names.length - 1]] : names;
  const name = Math.min(110, Math.max(36, ...some.map((n) => ink.measureText(n).width)) + 8), across = Math.max(1, Math.ceil(name / heat.w));
  const width = gutter + Math.max(heat.columns * heat.w + 4, Math.min(room, ink.measureText(names[0]).width + 4)), height = Math.min(MOST_PIXELS, head + cores * heat.h + 2);
  const context = fitCanvas(byId("heat"), width, height, timeline.ratio), colours = theme.colours;
  context.clearRect(0, 0, width, height);
  let low = Infinity, high = -Infinity;
  for (const v of heat.cells) if (!isNaN(v)) [low, high] = [Math.min(low, v), Math.max(high, v)];
  const most = spread(), shades = new Map();
  const shade = (part, set) => {
    const step = Math.round(part * 64);
    if (!shades.has(step)) shades.set(step, ramp(set, step / 64));
    return shades.get(step);
  };
  const gap = heat.w > 6 && heat.h > 6 ? 1 : 0;
  for (let c = 0; c < cores; c++)
    for (let column = 0; column < heat.columns; column++) {
      const k = heat.shown[c * heat.columns + column], v = heat.cells[c * n + k];
      if (k < 0) continue;
      context.fillStyle = heat.by === "median" ? shade(fromMedian(c, k) / most / 2 + 0.5, theme.dark ? COOL_WARM.dark : COOL_WARM.light) : shade(high > low ? (v - low) / (high - low) : 0, VIRIDIS);
      context.fillRect(gutter + column * heat.w, head + c * heat.h, heat.w - gap, heat.h - gap);
    }
  context.fillStyle = colours.faint;
  context.font = FONT;
  context.textBaseline = "middle";
  const every = Math.max(1, Math.ceil(13 / heat.h));
  for (let c = 0; c < cores; c += every) context.fillText(heat.cores[c].name, 4, head + c * heat.h + heat.h / 2);
  for (let column = 0; column < heat.columns; column += across) {
    const x = gutter + column * heat.w, text = fitting(context, names[column * heat.per], Math.min(across * heat.w - 6, width - x));
    if (text) context.fillText(text, x, head / 2);
  }
  if (heat.at) {
    context.strokeStyle = colours.ink;
    context.lineWidth = 2;
    context.strokeRect(gutter + Math.floor(heat.at.k / heat.per) * heat.w, head + heat.at.c * heat.h, heat.w - gap, heat.h - gap);
  }
  byId("heat-scale").textContent = heat.by === "median" ? "blue: " + (most * 100).toFixed(1) + " % faster, red: slower" : grouped(low) + " to " + grouped(high) + " cycles";
  if (heat.per > 1) byId("heat-scale").textContent += "; a cell is the one of " + counted(heat.per, "launch") + " that " + (heat.by === "median" ? "is furthest from the median" : "took longest");
  if (cores > most_cores) byId("heat-scale").textContent += "; here are the first " + counted(most_cores, "core");
  showStragglers();
}

/* Per core: in how many of its launches it took longest, and how far it was above the median then; most cycles first. */
function stragglers() {
  const n = heat.launches.length, cores = heat.cores.length;
  const worst = new Map(), launches = new Uint32Array(cores);
  for (let k = 0; k < n; k++) {
    let slowest = -1, ran = 0;
    for (let c = 0; c < cores; c++) {
      if (isNaN(heat.cells[c * n + k])) continue;
      ran++;
      launches[c]++;
      if (slowest < 0 || heat.cells[c * n + k] > heat.cells[slowest * n + k]) slowest = c;
    }
    if (ran < 2 || slowest < 0 || !(heat.cells[slowest * n + k] > heat.medians[k])) continue;
    const entry = worst.get(slowest) || { c: slowest, times: 0, excess: 0, cycles: 0, k, peak: 0 };
    const over = heat.cells[slowest * n + k] - heat.medians[k];
    entry.times++;
    entry.excess += over / heat.medians[k];
    entry.cycles += over;
    if (over > entry.peak) [entry.peak, entry.k] = [over, k];
    worst.set(slowest, entry);
  }
  return [...worst.values()].map((e) => ({ ...e, launches: launches[e.c] })).sort((a, b) => b.cycles - a.cycles);
}

/* Above the median core by less than this part of it, on average, a core is no straggler. */
const STRAGGLES = 0.01;

/* The core whose kernels cost their launches most; `none`: that is too little to call it a straggler, or none took longer than the
 * median core (name: ""). null: no launch is known. */
export function worstStraggler() {
  heat.what = byId("heat-what").value;
  if (heat.what !== "kernel") return null;
  computeHeat();
  if (!heat.launches.length) return null;
  const all = stragglers(), worst = all.find((e) => e.excess / e.times >= STRAGGLES) || all[0];
  const several = worst && timeline.model.usedChips.size > 1, core = worst && heat.cores[worst.c];
  if (!worst) return { none: true, name: "", alone: heat.medians.length > 0 && heat.cores.length < 2, show: () => {} };
  return { ...worst, name: (several ? timeline.model.chips[core.chip].title + ", " : "") + "core " + core.x + "," + core.y, several, none: worst.excess / worst.times < STRAGGLES, launch: timeline.model.launches[heat.launches[worst.k]].name, of_op: !!timeline.model.launches[heat.launches[worst.k]].op, khz: timeline.model.chips[heat.cores[worst.c].chip].khz, show: () => showCell(worst.c, worst.k) };
}

function showStragglers() {
  const list = stragglers().slice(0, 30);
  const lines = list.map((e) => {
    const line = make("tr", { tabindex: "0" }, make("td", {}, heat.cores[e.c].name), make("td", { class: "n" }, e.times + " of " + e.launches),
      make("td", { class: "n" }, "+" + ((e.excess / e.times) * 100).toFixed(1) + " %"), make("td", { class: "n" }, grouped(Math.round(e.cycles))));
    const show = () => showCell(e.c, e.k);
    line.addEventListener("click", show);
    line.addEventListener("keydown", (event) => event.key === "Enter" && show());
    return line;
  });
  const odd = oddLaunches(20).map((o) => {
    const line = make("tr", { tabindex: "0" }, make("td", {}, heat.cores[o.c].name), make("td", {}, timeline.model.launches[heat.launches[o.k]].name.slice(0, 40)), make("td", { class: "n" }, (o.away > 0 ? "+" : "") + (o.away * 100).toFixed(1) + " %"));
    line.addEventListener("click", () => showCell(o.c, o.k));
    line.addEventListener("keydown", (event) => event.key === "Enter" && showCell(o.c, o.k));
    return line;
  });
  byId("stragglers").replaceChildren(make("h2", {}, "Stragglers"),
    list.length ? make("table", {}, make("tr", {}, make("th", {}, "core"), make("th", { class: "n" }, "longest in"), make("th", { class: "n" }, "over median"), make("th", { class: "n", title: "what the launches would gain if it were as fast as the median" }, "cycles lost")), ...lines)
      : make("p", { class: "faint" }, "None: in no launch did a core take longer than the median of its launch."),
    ...(odd.length ? [make("h2", {}, "Launches furthest from their median"), make("table", { class: "list", id: "odd-launches" }, make("thead", {}, make("tr", {}, ...[["core", ""], ["launch", ""], ["from the median", "n"]].map(([t, c]) => make("th", { scope: "col", class: c }, t)))), make("tbody", {}, ...odd))] : []));
}

export function cellText(c, k) {
  const n = heat.launches.length, v = heat.cells[c * n + k];
  const name = heat.cores[c].title + ", launch " + timeline.model.launches[heat.launches[k]].name + ": ";
  if (isNaN(v)) return name + "not in this launch";
  return name + cyclesAndTime(v, timeline.model.chips[heat.cores[c].chip].khz) + " (" + ((v / heat.medians[k] - 1) * 100).toFixed(1) + " % from the median)";
}

/* Brings a cell's launch into the timeline, with its core open. */
function showCell(c, k) {
  const core = heat.cores[c], at = c * heat.launches.length + k, row = core.rows[0];
  heat.at = { c, k };
  if (isNaN(heat.cells[at])) return;
  if (!rowsLayout.open.has(core)) toggleCore(core);
  viewRange(heat.starts[at] * row.scale + row.offset, heat.ends[at] * row.scale + row.offset);
  reveal(rowsLayout.bands.find((b) => b.core === core && b.kind === "core"));
  selection.band = rowsLayout.bands.find((b) => b.core === core) || null;
  showHeat();
}

function heatCell(event) {
  const box = byId("heat").getBoundingClientRect();
  const column = Math.floor((event.clientX - box.left - heat.gutter) / heat.w), c = Math.floor((event.clientY - box.top - heat.head) / heat.h);
  return column >= 0 && column < heat.columns && c >= 0 && c < heat.cores.length ? cellAt(c, column) : null;
}

/* What is drawn there, or where nothing is the first launch of the column. */
export function cellAt(c, column) {
  const k = heat.shown[c * heat.columns + column];
  return { c, k: k < 0 ? column * heat.per : k };
}

export function startHeat() {
  byId("heat-as").addEventListener("change", showHeat);
  byId("heat-what").addEventListener("change", (event) => {
    heat.what = event.target.value;
    showHeat();
  });
  byId("heat-by").addEventListener("change", (event) => {
    heat.by = event.target.value;
    showHeat();
  });
  byId("heat").addEventListener("pointermove", (event) => {
    const cell = heatCell(event);
    byId("heat-tip").textContent = cell ? cellText(cell.c, cell.k) : "";
  });
  byId("heat").addEventListener("click", (event) => {
    const cell = heatCell(event);
    if (cell) showCell(cell.c, cell.k);
  });
  byId("heat-scroll").addEventListener("keydown", (event) => {
    const step = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] }[event.key];
    if (!step && event.key !== "Enter") return;
    if (!heat.launches.length) return;
    event.preventDefault();
    event.stopPropagation();
    const at = heat.at || { c: 0, k: 0 };
    if (!step) return showCell(at.c, at.k);
    const column = Math.floor(at.k / heat.per) + step[1];
    heat.at = cellAt(Math.max(0, Math.min(heat.cores.length - 1, at.c + step[0])), Math.max(0, Math.min(heat.columns - 1, column)));
    showHeat();
    byId("heat-tip").textContent = cellText(heat.at.c, heat.at.k);
    say(cellText(heat.at.c, heat.at.k));
  });
}
