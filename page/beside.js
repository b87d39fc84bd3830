/* What a page says of itself to the page of two runs that it stands in (pair.js), and what it is told: which of its launches became
 * slower or faster. */

import { answers, section } from "./answers.js";
import { launchesOf } from "./places.js";
import { itemEnd, itemStart } from "./select.js";
import { colourLaunches } from "./theme.js";
import { repaint, timeline } from "./timeline.js";

function spanOf(key, items) {
  return { key, items, start: Math.min(...items.map(itemStart)), end: Math.max(...items.map(itemEnd)) };
}

/* Its launches, each chip's by themselves, in their order. */
function launchItems() {
  const list = [];
  timeline.model.tops.forEach((row, k) => {
    for (const lane of row.lanes) for (let i = 0; i < lane.n; i++) list.push(spanOf("launch " + k, [{ lane, i }]));
  });
  return list.sort((a, b) => a.start - b.start);
}

/* Its ops that ran on the device, called as `devlog diff` calls them: code and shapes. */
function opItems() {
  const each = section("by_op", "op_statistics"), names = answers.all.groups_shape || [];
  return (each ? each.rows : []).flatMap((row, i) => {
    const at = row.op.indexOf(" "), items = launchesOf(Number(row.op.slice(0, at)));
    return items.length ? [spanOf(names[i] || row.op.slice(at + 1), items)] : [];
  });
}

/* `ops`: the diff is of ops. */
export function besideItems(ops) {
  return ops && !answers.made ? opItems() : launchItems();
}

export function besideSteps() {
  return timeline.model.ranges.flatMap((row) => row.lanes[0].start.length ? [...row.lanes[0].start].map((_, i) => spanOf(row.names[i], [{ lane: row.lanes[0], i }])) : []);
}

/* list: [{ item, kind, text }]. */
export function setBeside(list) {
  const { model } = timeline, kinds = new Array(model.launches.length).fill("same"), texts = new Map();
  for (const { items, kind, text } of list)
    for (const { lane, i } of items) {
      kinds[lane.launch[i]] = kind;
      texts.set(lane.launch[i], text);
    }
  timeline.beside = texts;
  colourLaunches(kinds);
  repaint();
}

/* Brings these out in the row of launches. */
export function bringOutItems(items) {
  timeline.chosenLaunches = new Set(items.flatMap((one) => one.items).map(({ lane, i }) => lane.launch[i]));
  repaint();
}
