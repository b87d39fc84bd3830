/* Ops beside time: the table of ops, put together by code, shape or kind of work as `devlog report` does, and the launches of
 * the one that was clicked. What is selected in the time line narrows it. */

import { answers, section, unitText } from "./answers.js";
import { answerTable, tableBar, tableState } from "./answer_table.js";
import { copyButtons, shownText } from "./copy.js";
import { byId, make } from "./dom.js";
import { counted, grouped } from "./format.js";
import { launchesOf } from "./places.js";
import { goTo, itemEnd, itemStart, selection } from "./select.js";
import { tabs } from "./tabs.js";
import { repaint, timeline } from "./timeline.js";
import { view, viewRange } from "./view.js";

const GROUPS = [["report", "op code"], ["by_shape", "shape"], ["by_category", "kind of work"], ["by_stack", "call stack"], ["by_op", "each op"]];
const MOST = 200; /* launches in the list */

export const ops = { group: "report", within: "all", chosen: null };

export function hasOps() {
  return section("report", "op_statistics") !== null;
}

/* "3 Matmul": its number and code. */
function parts(row) {
  const at = row.op.indexOf(" ");
  return { id: Number(row.op.slice(0, at)), code: row.op.slice(at + 1), row };
}

/* The part of the axis that ops are asked of; null: all of it. */
function range() {
  if (ops.within === "all") return null;
  return ops.within === "selection" && selection.range ? selection.range : [view.t0, view.t1];
}

function isIn(id, [from, to]) {
  return launchesOf(id).some((item) => itemEnd(item) > from && itemStart(item) < to);
}

/* The table that is shown: of each op, only those that ran then. */
function shown() {
  const found = section(range() ? "by_op" : ops.group, "op_statistics"), within = range();
  return found && within ? { ...found, more: 0, rows: found.rows.filter((r) => isIn(parts(r).id, within)) } : found;
}

/* Ops of a row of the table, with their launches. */
export function opsOfRow(row) {
  const each = section("by_op", "op_statistics");
  if (!each) return [];
  const all = each.rows.map(parts);
  if (ops.group === "by_op" || range()) return all.filter((o) => o.row.op === row.op);
  if (ops.group === "report") return all.filter((o) => o.code === row.op);
  const groups = answers.all["groups_" + ops.group.slice(3)] || [];
  return all.filter((_, i) => groups[i] === row.op);
}

/* Who called an op, where the log says it: "nn.py:12 softmax < nn.py:30 main"; else "". */
function stackOf(op) {
  const each = section("by_op", "op_statistics"), name = (answers.all.groups_stack || [])[each.rows.indexOf(op.row)] || "";
  return name.slice(op.code.length + 1);
}

function launchLine(op, unit) {
  const item = launchesOf(op.id)[0], stack = stackOf(op);
  const line = make("tr", item ? { tabindex: "0" } : {}, make("td", { class: "n" }, String(op.id)), make("td", {}, op.code.slice(0, 80), stack ? make("div", { class: "faint stack" }, stack) : ""),
    make("td", { class: "n" }, unitText(op.row.total, unit)), make("td", { class: "n" }, unitText(op.row.gap, unit)), make("td", {}, item ? "" : "not on the device"));
  if (!item) return line;
  const show = () => {
    viewRange(itemStart(item), itemEnd(item));
    goTo(item);
  };
  line.addEventListener("click", () => {
    if (getSelection().isCollapsed) show(); // else somebody selects a call stack to copy it
  });
  line.addEventListener("keydown", (event) => {
    if (event.key !== "Enter") return;
    event.stopPropagation();
    show();
  });
  return line;
}

function showLaunches() {
  const box = byId("op-launches"), row = ops.chosen, found = section("by_op", "op_statistics");
  if (!row || !found) return box.replaceChildren(make("h2", {}, "Launches"), make("p", { class: "faint" }, "Click an op to see its launches."));
  const unit = found.columns.find((c) => c.key === "total").unit, list = opsOfRow(row);
  const slow = [...list].sort((a, b) => (b.row.total || 0) - (a.row.total || 0));
  const head = make("tr", {}, ...[["op", "n"], ["", ""], ["time", "n"], ["gap before", "n"], ["", ""]].map(([t, c]) => make("th", { scope: "col", class: c }, t)));
  box.replaceChildren(make("h2", {}, row.op, " ", copyButtons(() => shownText(box.querySelector("table")))), make("p", { class: "faint" }, counted(list.length, "op") + ", the slowest first" + (found.more ? "; of the first " + grouped(found.rows.length) + " ops of the run" : "")),
    make("table", {}, make("thead", {}, head), make("tbody", {}, ...slow.slice(0, MOST).map((o) => launchLine(o, unit)))),
    slow.length > MOST ? make("p", { class: "faint" }, "and " + grouped(slow.length - MOST) + " more") : "");
}

/* Brings out the launches of these ops in the time line. */
function bringOut() {
  timeline.chosenLaunches = null;
  if (ops.chosen) timeline.chosenLaunches = new Set(opsOfRow(ops.chosen).flatMap((o) => launchesOf(o.id).map((item) => item.lane.launch[item.i])));
  repaint();
}

function choose(row) {
  ops.chosen = ops.chosen === row ? null : row;
  tableState("ops").chosen = ops.chosen;
  showOpTable();
  showLaunches();
  bringOut();
}

function chooser(label, options, value, changed) {
  const menu = make("select", {}, ...options.map(([v, text]) => make("option", { value: v }, text)));
  menu.value = value;
  menu.addEventListener("change", () => changed(menu.value));
  return make("label", {}, label + " ", menu);
}

export function showOpTable() {
  const found = shown(), box = byId("op-table");
  const options = { id: "ops", label: "Ops", click: choose, changed: showOpTable };
  if (!found) return box.replaceChildren(make("p", { class: "faint" }, "No op ran then."));
  box.replaceChildren(answerTable(found, options), ...(found.notes || []).map((n) => make("p", { class: "faint" }, n)));
}

export function showOps() {
  const groups = GROUPS.filter(([g]) => section(g, "op_statistics")), found = section(ops.group, "op_statistics");
  const again = () => {
    ops.chosen = tableState("ops").chosen = null;
    showOps();
    bringOut();
  };
  byId("op-bar").replaceChildren(
    chooser("one line is", groups, ops.group, (value) => {
      ops.group = value;
      again();
    }),
    chooser("of", [["all", "the whole run"], ["screen", "what is on the screen"], ["selection", "the time selected with Shift"]], ops.within, (value) => {
      ops.within = value;
      again();
    }),
    ...(found ? tableBar(found, { id: "ops", label: "ops", changed: showOpTable }) : []));
  showOpTable();
  showLaunches();
}

/* After the time line has moved, or a time was selected. */
export function timeChanged() {
  if (tabs.now !== "ops") return;
  const within = selection.range ? "selection" : ops.within === "selection" ? "all" : ops.within;
  if (within !== ops.within) {
    ops.within = within;
    showOps();
  } else if (within !== "all") showOpTable();
}
