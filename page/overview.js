/* The first thing to see: the verdict with its numbers, what would save most, what to do, steps, and how far all of it can be
 * trusted. Every number is one of the answers'. */

import { answers, fact, section, unitText } from "./answers.js";
import { sectionBlock } from "./answer_table.js";
import { areaOf } from "./area.js";
import { byId, make } from "./dom.js";
import { ROLE_FW, ROLE_KERNEL } from "./data.js";
import { counted, duration, grouped } from "./format.js";
import { costOff, costUnknown } from "./losses.js";
import { showPlace } from "./places.js";
import { showTab } from "./tabs.js";
import { chainText, longestText } from "./why.js";

function tile(title, value, note, grade) {
  return make("div", { class: "tile" + (grade ? " " + grade : "") }, make("span", { class: "faint" }, title), make("b", {}, value), make("span", { class: "faint note" }, note || ""));
}

/* A tile with a way on; returns it. */
function leads(tile, text, go) {
  const link = make("button", { type: "button", class: "go" }, text);
  link.addEventListener("click", go);
  tile.lastChild.append(" ", link);
  return tile;
}

function factTile(title, key, note) {
  const found = fact(key);
  return found ? tile(title, unitText(found.value, found.unit), note === undefined ? found.note : note, gradeOf(key)) : null;
}

/* Facts of the verdict that an indicator grades. */
function gradeOf(key) {
  const names = { busy_share: "busy", compile_time: "compile", core_error: "core_error", lost: "lost" }, found = section("report", "indicators");
  const row = found && found.rows.find((r) => r.indicator === names[key]);
  return row ? row.grade : "";
}

/* A run whose launches no op calls by a name: one row for all of them. */
function withoutOps() {
  const ops = section("report", "op_statistics");
  return !!ops && ops.rows.length === 1 && (!!answers.made || ops.rows[0].op.startsWith("("));
}

/* The op of which one took longest, and beside it the one that took most in all. */
function slowest(onChips) {
  const ops = section("report", "op_statistics"), row = ops && ops.rows.find((r) => r.total !== null);
  if (!row) return null;
  const unit = ops.columns.find((c) => c.key === "total").unit;
  if (withoutOps()) return slowestLaunch(row, unit, onChips);
  const most = ops.rows.reduce((a, r) => (r.total > a.total ? r : a), row), worst = ops.rows.reduce((a, r) => (r.total !== null && r.max > a.max ? r : a), row);
  const inAll = unitText(most.total, unit) + " in " + counted(most.count, "launch") + (most.share === null ? "" : ", " + most.share.toFixed(1) + " % of all ops");
  return leads(tile("slowest op", worst.op.slice(0, 60), (worst.slowest === null ? "" : "op " + worst.slowest + ": ") + unitText(worst.max, unit) + (worst.bound_by ? ", bound by " + worst.bound_by : "") +
    (most === worst ? "; it also took most in all: " : "; in all " + most.op.slice(0, 60) + " took most: ") + inAll), "show", () => showPlace(worst.slowest === null ? { op: worst.op } : { op_id: worst.slowest }));
}

/* Where launches are called after no op. */
function slowestLaunch(all, unit, onChips) {
  if (all.count < 2 || all.slowest === null) return null;
  return leads(tile("slowest launch", "launch " + all.slowest, unitText(all.max, unit) + " in kernels; the average of " + counted(all.count, "launch") + onChips + " is " + unitText(all.average, unit)), "show", () => showPlace({ op_id: all.slowest }));
}

/* Who waited longest, and for what. */
function waited() {
  const waits = section("report", "waits"), row = waits && waits.rows[0];
  if (!row) return section("report", "op_statistics") && fact("ops_time") ? tile("waits in kernels", "not recorded", "so why RISCs waited is not known") : null;
  return leads(tile("longest waits", row.risc + ": " + row.why, counted(row.count, "wait") + ", " + unitText(row.cycles, "cycles") + " on all cores together; " + longestText(row) + "; " + chainText(waits.rows, row)), "why", () => showTab("causes"));
}

function tiles(model) {
  const chips = model.chips.filter((c) => !c.process && model.usedChips.has(c.rank)).length, onChips = chips > 1 ? " on each of " + chips + " chips" : "";
  const busy = fact("busy_share"), idle = fact("gaps");
  const ops = fact("ops");
  return [
    factTile("wall time", "wall"),
    busy ? factTile("device busy", "busy_share", idle ? "idle " + unitText(idle.value, idle.unit) + ", between launches" : undefined) : null,
    factTile("in kernels", "ops_time", ops ? "all of " + (withoutOps() ? counted(ops.value, "launch") : counted(ops.value, "op")) + onChips + " added up" + (onChips ? ", the longest chip of each" : "") : undefined),
    slowest(onChips), waited(),
    hostTile(), factTile("compiling", "compile_time", fact("compile_share") ? unitText(fact("compile_share").value, "percent") + " of the host's time" : undefined),
  ].filter(Boolean);
}

/* With the device's wall time beside it where that is a small part: then the host comes first. */
function hostTile() {
  const span = fact("host_span"), wall = fact("wall"), small = span && wall && span.unit === wall.unit && wall.value < span.value / 2;
  return factTile("host", "host_span", small ? span.note + "; the device's wall time is " + unitText((100 * wall.value) / span.value, "percent") + " of it" : undefined);
}

function saving(row, columns, most) {
  const unit = columns.find((c) => c.key === "saving").unit;
  const card = make("li", { class: "saving" },
    make("div", { class: "amount" }, make("b", {}, unitText(row.saving, unit)), make("span", { class: "faint" }, row.share === null ? "" : unitText(row.share, "percent") + " of the wall time")),
    make("div", {}, make("h3", {}, row.what), make("p", {}, (row.evidence || "").replace(/(\d) us\b/g, "$1 µs") /* as all other times of the page */)));
  card.style.setProperty("--part", Math.min(100, row.share === null ? (row.saving / most) * 100 : row.share) + "%");
  if (row.op_id !== null || row.core !== null || row.line !== null) {
    const link = make("button", { type: "button", class: "go" }, "show in the time line");
    link.addEventListener("click", () => showPlace(row));
    card.append(link);
  }
  return card;
}

/* Of a log without ops: the zones in which it was longest, all RISCs and threads together. */
function zones(model) {
  if (section("report", "op_statistics")) return null;
  const sums = new Map();
  for (const [chip, , name, role, count, sum, , max] of model.meta.statistics) {
    if (role === ROLE_FW || role === ROLE_KERNEL) continue;
    const khz = model.chips[chip].khz, to = sums.get(name) || { name, count: 0, sum: 0, max: 0, khz };
    sums.set(name, Object.assign(to, { count: to.count + count, sum: to.sum + sum, max: Math.max(to.max, max) }));
  }
  const most = [...sums.values()].sort((a, b) => b.sum - a.sum).slice(0, 10);
  if (!most.length) return null;
  const time = (z, cycles) => (z.khz ? duration((cycles * 1e6) / z.khz) : grouped(Math.round(cycles)) + " cycles");
  const rows = most.map((z) => {
    const total = make("td", { class: "n share" }, time(z, z.sum));
    total.style.setProperty("--part", (z.sum / most[0].sum) * 100 + "%");
    const line = make("tr", { tabindex: "0" }, make("td", { title: z.name.slice(0, 1000) }, z.name.slice(0, 80)), make("td", { class: "n" }, grouped(z.count)), total, make("td", { class: "n" }, time(z, z.sum / z.count)), make("td", { class: "n" }, time(z, z.max)));
    const show = () => showPlace({ zone: z.name });
    line.addEventListener("click", show);
    line.addEventListener("keydown", (event) => event.key === "Enter" && show());
    return line;
  });
  return make("section", { class: "card wide2" }, make("h2", {}, "Zones with most time"), make("div", { class: "scroll" }, make("table", { class: "list", id: "most-zones" },
    make("thead", {}, make("tr", {}, ...[["zone", ""], ["count", "n"], ["total", "n"], ["average", "n"], ["longest", "n"]].map(([t, c]) => make("th", { scope: "col", class: c }, t)))), make("tbody", {}, ...rows))),
    sums.size > 10 ? make("p", { class: "faint" }, "and " + grouped(sums.size - 10) + " more under Zones") : "");
}

/* Threads of the host's processes, when intervals have been read: how much of the time each was in a zone, and in which. */
export function showThreads(model) {
  const all = areaOf(model, 0, model.span, new Set(model.rows.filter((r) => model.chips[r.chip].process))).rows;
  if (!all.length) return;
  const ns = (time) => (model.toNs ? duration(time * model.toNs) : grouped(Math.round(time)) + " cycles");
  const rows = [...all].sort((a, b) => b.time - a.time).slice(0, 40).map((r) => {
    const part = make("td", { class: "n share" }, ((r.time / r.length) * 100).toFixed(1) + " %");
    part.style.setProperty("--part", (r.time / r.length) * 100 + "%");
    return make("tr", {}, make("td", {}, r.row.risc), make("td", {}, r.row.core.title), make("td", { class: "n" }, grouped(r.count)), make("td", { class: "n" }, ns(r.time)), part, make("td", {}, r.zone.name.slice(0, 60)));
  });
  const processes = model.chips.filter((c) => c.process && model.usedChips.has(c.rank));
  byId("verdict").append(tile("host", counted(all.length, "thread"), counted(processes.length, "process") + ", " + counted(all.reduce((n, r) => n + r.count, 0), "zone") + " in " + ns(model.span)));
  const cards = byId("pane-overview").querySelector(".cards"), card = make("section", { class: "card wide2", id: "threads" }, make("h2", {}, "Threads"), make("div", { class: "scroll" }, make("table", { class: "list" },
    make("thead", {}, make("tr", {}, ...[["thread", ""], ["process", ""], ["zones", "n"], ["in zones", "n"], ["of the time", "n"], ["most time in", ""]].map(([t, c]) => make("th", { scope: "col", class: c }, t)))), make("tbody", {}, ...rows))),
    all.length > 40 ? make("p", { class: "faint" }, "and " + grouped(all.length - 40) + " more") : "");
  if (answers.made && !section("report", "op_statistics")) cards.prepend(card);
  else cards.append(card);
}

function savings() {
  const found = section("report", "savings");
  if (!found && !section("report", "op_statistics")) return null; /* nothing ran on a device */
  const box = make("section", { class: "card wide2" }, make("h2", {}, "What would save most"));
  if (!found) {
    box.append(make("p", { class: "faint" }, section("report", "verdict") ? "Nothing stands out: no gap, no unused core, no straggler that would be worth it." : "Not known."));
    return box;
  }
  box.append(make("ol", { class: "savings" }, ...found.rows.map((r) => saving(r, found.columns, Math.max(...found.rows.map((x) => x.saving))))));
  for (const note of found.notes || []) box.append(make("p", { class: "faint" }, note));
  return box;
}

function advice() {
  const found = section("report", "advice");
  if (!found) return null;
  return make("section", { class: "card" }, make("h2", {}, "What to do"), make("dl", { class: "advice" }, ...found.rows.slice(0, 6).flatMap((r) => {
    const name = make("dt", {}, r.title);
    if (r.op_id !== null) {
      const link = make("button", { type: "button", class: "go" }, "show");
      link.addEventListener("click", () => showPlace(r));
      name.append(" ", link);
    }
    return [name, make("dd", {}, r.do, make("span", { class: "faint" }, " " + r.means))];
  })));
}

/* Steps one below the other, as long as their time on the device. */
function steps() {
  const found = section("report", "steps") || section("report", "signposts");
  if (!found) return null;
  const unit = found.columns.find((c) => c.key === "device_time").unit, most = Math.max(...found.rows.map((r) => r.device_time || 0), 1);
  const rows = found.rows.slice(0, 60).map((r) => {
    const bar = make("td", { class: "share n" }, unitText(r.device_time, unit));
    bar.style.setProperty("--part", ((r.device_time || 0) / most) * 100 + "%");
    return make("tr", {}, make("td", {}, r.name.slice(0, 80)), make("td", { class: "n" }, counted(r.ops, "op")), bar, make("td", { class: "n" }, unitText(r.gap, unit)), make("td", { class: "n" }, unitText(r.host_time, unit)));
  });
  const head = make("tr", {}, ...[["", ""], ["ops", "n"], ["on the device", "n"], ["gaps", "n"], ["on the host", "n"]].map(([t, c]) => make("th", { scope: "col", class: c }, t)));
  return make("section", { class: "card" }, make("h2", {}, found.title === "STEPS" ? "Steps" : "Between signposts"),
    make("div", { class: "scroll" }, make("table", { class: "steps" }, make("thead", {}, head), make("tbody", {}, ...rows))),
    found.rows.length > 60 ? make("p", { class: "faint" }, "and " + grouped(found.rows.length - 60) + " more: devlog report has all") : "");
}

function trust(model) {
  const lost = model.meta.findings.filter((f) => f[0]), list = make("ul", {});
  for (const [, count, what] of lost) list.append(make("li", { class: "bad" }, grouped(BigInt(count)) + " " + what));
  if (model.meta.left_out) list.append(make("li", { class: "warn" }, counted(model.meta.left_out, "interval") + " of later launches are not in the time line of this page"));
  if (!lost.length) list.append(make("li", { class: "good" }, "Nothing was lost."));
  for (const chip of model.chips.filter((c) => model.usedChips.has(c.rank))) {
    const clock = (model.meta.clocks || []).find((c) => c[0] === chip.id);
    const known = chip.aligned ? "known to ±" + duration(chip.residual) + " of the host's" : "of this " + (chip.process ? "process" : "chip") + " alone: not compared with the host's";
    list.append(make("li", {}, "Clock of " + chip.title + (chip.khz ? " (" + grouped(chip.khz / 1000) + " MHz)" : " (frequency unknown)") + ": " + known +
      (clock && clock[1] ? "; markers of two cores to " + counted(clock[1], "cycle") : "") + "."));
  }
  const cost = model.meta.cost;
  if (cost) list.append(make("li", { class: cost.most ? "warn" : "" }, (cost.of ? "The markers themselves took " + ((cost.within / cost.of) * 100).toFixed(2) + " % of the kernels' time" + costOff(cost) + (cost.subtracted ? ", which is subtracted." : ", which is part of the figures.") : "What the markers took of the kernels' time cannot be stated.") + costUnknown(cost)));
  for (const note of answers.notes) list.append(make("li", { class: "warn" }, note));
  const more = make("button", { type: "button", class: "go" }, "what was lost, repaired and noticed");
  more.addEventListener("click", () => showTab("log"));
  return make("section", { class: "card", id: "trust" }, make("h2", {}, "How far this can be trusted"), list, more);
}

function indicators() {
  const found = section("report", "indicators");
  if (!found) return null;
  return make("section", { class: "card" }, make("h2", {}, "Indicators"), make("div", { class: "scroll" }, make("table", {}, make("tbody", {}, ...found.rows.filter((r) => r.value !== null).map((r) =>
    make("tr", { title: r.means + (r.do ? ": " + r.do : "") }, make("td", { class: "grade " + r.grade }, r.grade), make("td", {}, r.title), make("td", { class: "n" }, unitText(r.value, r.unit)), make("td", { class: "faint means" }, r.means)))))));
}

function kernels() {
  const found = section("report", "kernel_statistics");
  if (!found) return null;
  const card = make("section", { class: "card wide2" }, sectionBlock({ ...found, notes: [] }, { id: "kernels", label: "Kernels", title: "Kernels" }));
  return card;
}

/* The core that launches wait for most, or that there is none, when intervals have been read. */
export function showStraggler(worst) {
  if (!worst) return;
  const time = (cycles) => (worst.khz ? duration((cycles * 1e6) / worst.khz) : counted(Math.round(cycles), "cycle"));
  const wall = fact("wall"), part = wall && wall.unit === "ns" && worst.khz && !worst.several ? (worst.cycles * 1e8) / worst.khz / wall.value : null;
  const most = "in " + (worst.of_op ? "" : "launch ") + worst.launch + ", " + time(worst.peak) + " longer than the median core";
  const text = worst.times === 1 ? "one time in " + counted(worst.launches, "launch") + ": " + most :
    "took longest, from its own start to its end, in " + worst.times + " of " + counted(worst.launches, "launch") + ", " + time(worst.cycles) + " lost in all" + (part === null ? "" : " (" + unitText(part, "percent") + " of the wall time)") + "; most " + most;
  const none = worst.alone ? "there is one core" : worst.name ? "no core costs launches 1 % more than the median core; most " + worst.name + ", " + ((100 * worst.excess) / worst.times).toFixed(2) + " %" : "no core took longer than the median core of its launch";
  const found = worst.none ? tile("straggler", "none", none) : tile("straggler", worst.name, text);
  found.id = "straggler";
  byId("verdict").append(leads(found, "show", () => {
    showTab("heat");
    worst.show();
  }));
}

export function showOverview(model) {
  const device = fact("device");
  byId("pane-overview").replaceChildren(
    make("div", { id: "verdict", "aria-label": "Verdict" }, ...tiles(model)),
    device ? make("p", { class: "faint", id: "device" }, String(device.value)) : "",
    make("div", { class: "cards" }, ...[savings(), zones(model), trust(model), advice(), steps(), indicators(), kernels()].filter(Boolean)));
}
