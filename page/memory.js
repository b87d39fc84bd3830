/* The tab of memory: what `devlog memory` says of the run, with its time line as a picture: bytes that the fullest moment of each
 * step held. */

import { answers, section, unitText } from "./answers.js";
import { sectionBlock } from "./answer_table.js";
import { byId, make } from "./dom.js";

const TITLES = [["memory", "Memories"], ["leaks", "Not freed"], ["at_peak", "Who held it at the peak"], ["sources", "By source line"], ["buffers", "Buffers"]];

/** The name space of pictures, which is an address that nobody visits: the page has no address in it. */
function nameSpace() {
  const template = document.createElement("template");
  template.innerHTML = "<svg></svg>";
  return template.content.firstElementChild?.namespaceURI ?? null;
}

export function hasMemory() {
  return Boolean(answers.all.memory);
}

function svg(tag, attributes, ...children) {
  const element = document.createElementNS(nameSpace(), tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, String(value));
  element.append(...children);
  return element;
}

/* One memory over time; a step as wide as every other. */
function picture(name, rows, peak) {
  const most = Math.max(...rows.map((r) => r.most || 0), 1), n = rows.length;
  const points = rows.map((r, i) => i + "," + (100 - ((r.most || 0) / most) * 100) + " " + (i + 1) + "," + (100 - ((r.most || 0) / most) * 100)).join(" ");
  const at = rows.findIndex((r) => r.most === most), text = name + ": at most " + unitText(peak, "bytes");
  const box = svg("svg", { viewBox: "0 0 " + n + " 100", preserveAspectRatio: "none", class: "over-time", role: "img", "aria-label": text + ", reached in step " + (at + 1) + " of " + n },
    svg("polygon", { points: "0,100 " + points + " " + n + ",100" }));
  return make("figure", {}, make("figcaption", {}, text), box,
    make("div", { class: "ends faint" }, make("span", {}, unitText(rows[0].from, "ns")), make("span", {}, unitText(rows[n - 1].to, "ns"))));
}

export function showMemory() {
  const blocks = [], line = section("memory", "timeline"), all = section("memory", "memory");
  const pictures = make("div", { class: "block" }, make("h2", {}, "Bytes held, over the run"));
  for (const space of all ? all.rows : []) {
    const rows = (line ? line.rows : []).filter((r) => r.chip === space.chip && r.memory === space.memory && r.open === space.open);
    if (rows.length) pictures.append(picture("chip " + space.chip + ", " + space.memory + (space.open > 1 ? ", opened for the time " + space.open : ""), rows, space.peak));
  }
  if (pictures.children.length > 1) blocks.push(pictures);
  for (const [key, title] of TITLES) {
    const found = section("memory", key);
    if (found) blocks.push(sectionBlock(found, { id: "memory " + key, label: title, title }));
  }
  blocks.push(make("p", { class: "faint" }, "As devlog memory says it of the whole run, whatever part of it this page shows."));
  byId("pane-memory").replaceChildren(...blocks);
}
