/* What the log is, and what is not in it: the facts at the top, the badge of losses, and their list. A page
 * that left something out says so where it cannot be overlooked. */

import { chipTitle } from "./data.js";
import { byId, make } from "./dom.js";
import { counted, duration, grouped } from "./format.js";
import { showTab } from "./tabs.js";

function fact(text, title) {
  return make("li", { title }, text);
}

/* The worst of the chips that are synchronised, in nanoseconds. */
function residual(model) {
  return Math.max(...model.chips.filter((c) => model.usedChips.has(c.rank)).map((c) => c.residual));
}

export function showFacts(model) {
  const launches = model.meta.all_launches, facts = [], kinds = new Map();
  for (const chip of model.chips.filter((c) => model.usedChips.has(c.rank))) {
    const kind = chip.name + (chip.khz ? ", " + grouped(chip.khz / 1000) + " MHz" : ", clock unknown") +
      (chip.aiclk ? ", AICLK " + grouped(chip.aiclk / 1000) + " MHz" : "") + (chip.instructions ? "; cycles are instructions" : "");
    kinds.set(kind, [...(kinds.get(kind) || []), chip.id]);
  }
  for (const [kind, ids] of kinds) /* chips that are alike stand together */
    facts.push(fact((model.usedChips.size === 1 ? "" : (ids.length > 4 ? counted(ids.length, "chip") : ids.length > 1 && ids.every((id) => chipTitle(id).startsWith("c")) ? "chips " + ids.join(", ") : ids.map(chipTitle).join(", ")) + ": ") + kind, ids.map(chipTitle).join(", ")));
  const cores = model.cores.filter((c) => !model.chips[c.chip].process), threads = model.rows.filter((r) => model.chips[r.chip].process).length;
  if (cores.length || !threads) facts.push(fact(counted(cores.length, "core")), fact(counted(launches, "launch")));
  if (threads) facts.push(fact(counted(threads, "thread") + " of " + counted(model.cores.length - cores.length, "process")));
  if (model.intervals) facts.push(fact(counted(model.intervals, "interval")));
  const ns = model.span * model.toNs;
  if (model.intervals) facts.push(fact(ns ? duration(ns) : grouped(model.span) + " cycles", "from the first to the last marker"));
  if (model.aligned) facts.push(fact("clock ±" + duration(residual(model)), "how far chips and cores may be from the host's clock"));
  const cost = model.meta.cost;
  if (cost) facts.push(fact("markers cost " + (cost.subtracted ? "subtracted: " : "") + (cost.of ? ((cost.within / cost.of) * 100).toFixed(2) + " %" + costOff(cost) : cost.most ? "more than half" : "unknown"), "cycles inside kernels that the markers themselves took, as the device measured it"));
  byId("facts").replaceChildren(...facts);
  byId("title").textContent = model.title.split("/").slice(-2).join("/");
  byId("title").title = model.title;
  document.title = (model.title ? model.title.split("/").pop() + " - " : "") + "devlog";
}

/* What the page itself cannot show, in words. */
function shortcomings(model) {
  const list = [];
  if (model.meta.left_out)
    list.push("This page holds " + grouped(model.intervals) + " intervals of the first " + counted(model.launches.length, "launch") + "; " +
      counted(model.meta.left_out, "interval") + " of later launches are left out. The statistics are of the whole log.");
  return list;
}

export function showHealth(model) {
  const lost = model.meta.findings.filter((f) => f[0]), badge = byId("health");
  badge.className = model.meta.lost ? "bad" : model.meta.findings.length ? "warn" : "good";
  const number = lost.reduce((sum, f) => sum + Number(f[1]), 0);
  badge.textContent = model.meta.lost ? (number ? grouped(number) + " lost" : "incomplete") : model.meta.findings.length ? "nothing lost, " + counted(model.meta.findings.length, "remark") : "nothing lost";
  badge.addEventListener("click", () => showTab("log"));
  const banner = byId("banner"), texts = lost.map((f) => grouped(Number(f[1])) + " " + f[2]).concat(shortcomings(model));
  banner.hidden = texts.length === 0;
  banner.replaceChildren(make("b", {}, model.meta.lost ? "Not everything is here: " : "Note: "), texts.join("; "));
}

/* By how much the share may be off; nothing where that is not known. */
export function costOff(cost) {
  return typeof cost.off === "number" ? ", give or take " + ((cost.off / cost.of) * 100).toFixed(2) + " %" : "";
}

/* Kernels of which it cannot be stated what markers took, and why. */
export function costUnknown(cost) {
  const not = cost.subtracted ? " Not known, and not subtracted, of " : " Not known of ", others = cost.unknown - cost.most;
  return (cost.most ? not + counted(cost.most, "kernel") + " of which they take more than half." : "") +
    (others ? not + counted(others, "kernel") + ": the ring kept other records than it wrote over, or records are damaged." : "");
}

function costText(cost) {
  if (!cost) return "What the markers themselves cost is not known of a device log; captures say it.";
  return (cost.of ? "The markers themselves took " + grouped(cost.within) + " of " + grouped(cost.of) + " cycles inside kernels" + costOff(cost) + "; " + (cost.subtracted ? "they have been subtracted from every zone." : "they are part of the zones here (devlog decode --subtract-cost leaves them out).") : "") + costUnknown(cost);
}

export function showLog(model) {
  const list = make("table", { class: "findings" });
  for (const [lost, count, what, details] of model.meta.findings)
    list.append(make("tr", { class: lost ? "bad" : "warn" }, make("td", { class: "n" }, grouped(BigInt(count))), make("td", {}, what, ...details.map((d) => make("div", { class: "faint" }, d)))));
  const clocks = make("ul", {});
  for (const chip of model.chips.filter((c) => model.usedChips.has(c.rank))) {
    const note = model.meta.clocks.find((c) => c[0] === chip.id);
    if (note && note[1]) clocks.append(make("li", {}, chip.title + ": markers of two cores are comparable within " + grouped(note[1]) + " cycles"));
    clocks.append(make("li", {}, chip.title + ": " + (chip.khz ? grouped(chip.khz / 1000) + " MHz" : "frequency unknown, so no nanoseconds") + ", first marker at cycle " + chip.base + (chip.aligned ? ", aligned with the host's clock within " + duration(chip.residual) : "")));
  }
  byId("pane-log").replaceChildren(
    make("div", {}, make("h2", {}, model.meta.lost ? "Lost, repaired and noticed" : "Nothing was lost"),
      make("p", { class: "faint" }, counted(model.meta.log_rows, "row") + (model.meta.log_lines ? " in " + counted(model.meta.log_lines, "line") : "") + " were read."),
      model.meta.findings.length ? list : "", ...shortcomings(model).map((t) => make("p", { class: "warn" }, t))),
    make("div", {}, make("h2", {}, "Clocks and cost"), clocks,
      make("p", {}, costText(model.meta.cost)),
      model.usedChips.size > 1 && !model.aligned ? make("p", { class: "warn" }, "The chips' clocks are not aligned in this log: each begins at its own first marker.") : ""));
}

/* A log without a zone: says so, why that may be, and what to do. */
export function showEmpty(model) {
  byId("main").hidden = byId("tabs").hidden = true;
  const why = model.meta.log_rows === 0
    ? [["The log has no rows.", "The device wrote nothing, or the driver was not asked to pull it: run with TT_METAL_DEVICE_PROFILER=1, and compile kernels with -DPROFILE_DEVICE."],
       ["The file was cut off or is not a device log.", "See what was skipped, below; decode the file that the driver wrote, profile_log_device.csv."]]
    : [["The log has rows, but no zone in it was closed.", "See below what became of them: a core that hangs leaves starts without ends; filters may leave out everything."]];
  const box = byId("empty");
  box.hidden = false;
  box.replaceChildren(make("h2", {}, "There is no zone to show"), make("dl", {}, ...why.flatMap(([a, b]) => [make("dt", {}, a), make("dd", {}, b)])));
  showLog(model);
  byId("pane-log").hidden = false;
  box.append(byId("pane-log"));
}
