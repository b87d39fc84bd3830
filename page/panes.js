/* The tab of causes: tables of answers, the path as a strip, and the way to it in the time line. */

import { section, unitText } from "./answers.js";
import { sectionBlock } from "./answer_table.js";
import { drawn, toggleCauses } from "./causes_draw.js";
import { byId, make } from "./dom.js";
import { counted, grouped } from "./format.js";
import { coreOf, launchesOf, openCore, showPlace } from "./places.js";
import { rowsLayout } from "./rows.js";
import { itemEnd, itemStart, measure } from "./select.js";
import { showTab } from "./tabs.js";
import { colourOfName } from "./theme.js";
import { timeline } from "./timeline.js";
import { chainText, longestText } from "./why.js";
import { viewRange } from "./view.js";

/* The launch whose path is shown: the longest. */
function launchOfPath() {
  const all = section("causes", "launches"), title = section("causes", "path").title;
  const number = /LAUNCH (\d+)/.exec(title), row = number && all && all.rows.find((r) => String(r.launch) === number[1]);
  return launchesOf(number ? Number(number[1]) : null).find((item) => !row || timeline.model.chips[item.lane.row.chip].id === row.chip) || null;
}

/* A part of the path, in the time line. */
function showPart(row) {
  const item = launchOfPath(), core = coreOf(row.core);
  if (!item) return showPlace(row);
  const unit = item.lane.row.scale, from = itemStart(item) + row.from * unit;
  showTab("time");
  if (core) openCore(core);
  viewRange(from, from + row.cycles * unit);
  measure(from, from + row.cycles * unit);
  return true;
}

/* The path as a strip: each part as long as it took, in the colour of its zone. */
function strip(found) {
  const box = make("div", { class: "path", role: "img", "aria-label": "Path of the longest launch, part by part; the table below has the same" });
  for (const row of found.rows) {
    const part = make("span", { title: (row.core || "") + " " + (row.risc || "") + " " + (row.zone || "") + ": " + grouped(row.cycles) + " cycles" + (row.then ? "; then " + row.then : "") });
    part.style.flexGrow = String(row.cycles);
    part.style.background = colourOfName(row.zone || "");
    part.addEventListener("click", () => showPart(row));
    box.append(part);
  }
  return box;
}

/* Who had the path for how long, in words under the strip. */
function legend(found) {
  const sums = new Map();
  for (const row of found.rows) sums.set(row.zone, (sums.get(row.zone) || 0) + row.cycles);
  const most = [...sums].sort((a, b) => b[1] - a[1]).slice(0, 6);
  return make("p", { class: "faint legend" }, ...most.map(([name, cycles]) => {
    const mark = make("i", { class: "swatch" });
    mark.style.background = colourOfName(name || "");
    return make("span", {}, mark, (name || "?").slice(0, 40) + " " + grouped(cycles));
  }));
}

/* The same over the time line: with the longest launch on the screen, and a core that its path goes over open. */
function drawButton() {
  const button = make("button", { type: "button", class: "go" }, "draw it over the time line");
  button.addEventListener("click", () => {
    const item = launchOfPath(), last = drawn.lines.paths.find((p) => item && p.parts[0].row.chip === item.lane.row.chip);
    toggleCauses(true);
    showTab("time");
    const path = section("causes", "path"), core = path && coreOf([...path.rows].reverse().find((r) => coreOf(r.core))?.core);
    rowsLayout.open.clear(); /* so that all of it is on the screen */
    if (core || last) openCore(core || last.parts[0].row.core);
    if (item) viewRange(itemStart(item), itemEnd(item));
  });
  return button;
}

/* As `devlog causes` calls them. */
const FACTS = { cycles: "cycles of all launches", known: "of them explained", wants: "looks at buffers and semaphores" };

function facts(found) {
  return make("dl", { class: "facts" }, ...Object.entries(found.facts).filter(([, f]) => f.value !== null).flatMap(([key, f]) =>
    [make("dt", {}, FACTS[key] || key.replaceAll("_", " ")), make("dd", {}, unitText(f.value, f.unit), make("span", { class: "faint" }, f.note ? " " + f.note : ""))]));
}

/* Of the longest launch: the zone in which most of its path is. */
function mostOfPath() {
  const path = section("causes", "path"), sums = new Map();
  for (const r of path ? path.rows : []) {
    const key = r.risc + "\n" + r.zone;
    sums.set(key, (sums.get(key) || 0) + r.cycles);
  }
  const [most] = [...sums].sort((a, b) => b[1] - a[1]);
  return most ? "; most of its path, " + unitText(most[1], "cycles") + ", is in \"" + most[0].split("\n")[1].slice(0, 60) + "\" of " + most[0].split("\n")[0] : "";
}

/* The answer in a few lines, of what stands in the tables below. */
function inShort() {
  const waits = section("causes", "waits") || section("report", "waits"), zones = section("causes", "path_zones") || section("report", "path_zones"), lines = [];
  const row = waits && waits.rows[0], best = zones && [...zones.rows].filter((r) => r.saves).sort((a, b) => b.saves - a.saves)[0];
  if (row) lines.push(make("li", {}, make("b", {}, row.risc + " waited most: "), row.why + ", " + counted(row.count, "wait") + " of " + unitText(row.cycles, "cycles") + ", " + longestText(row) + "; " + chainText(waits.rows, row) + "."));
  if (best) lines.push(make("li", {}, make("b", {}, best.risc + ", zone \"" + best.zone.slice(0, 60) + "\" "), "would save most if it took no time: " + unitText(best.saves, "cycles") + (best.saves_share === null ? "" : ", " + unitText(best.saves_share, "percent") + " of all launches") + "; it is on the paths of " + counted(best.launches, "launch") + "."));
  const all = section("causes", "launches"), last = all && [...all.rows].sort((a, b) => b.cycles - a.cycles)[0];
  if (last && last.core) lines.push(make("li", {}, make("b", {}, "Launch " + last.launch + " took longest, "), unitText(last.cycles, "cycles") + " from its first RISC's start to its last core's end; core " + last.core + " (" + last.risc + ") ended it" + mostOfPath() + "."));
  return lines.length ? make("ul", { class: "short" }, ...lines) : "";
}

export function showCauses() {
  const path = section("causes", "path"), known = section("causes", "causes"), box = [];
  if (known) box.push(make("div", { class: "block" }, make("h2", {}, "Why it waited"), inShort(), facts(known), ...(known.notes || []).map((n) => make("p", { class: "faint" }, n))));
  const add = (of, key, title, click) => {
    const found = section(of, key) || section("report", key);
    if (found) box.push(sectionBlock(found, { id: key, label: title, title, click }));
  };
  add("causes", "waits", "Waits, the longest together first");
  add("causes", "path_zones", "On the paths of all launches: what decided how long they took", showPlace);
  if (path) {
    const shown = sectionBlock(path, { id: "path", label: "Path", title: path.title.charAt(0) + path.title.slice(1).toLowerCase(), click: showPart });
    if (drawn.lines) shown.insertBefore(drawButton(), shown.children[1]);
    shown.insertBefore(strip(path), shown.children[drawn.lines ? 2 : 1]);
    shown.insertBefore(legend(path), shown.children[drawn.lines ? 3 : 2]);
    box.push(shown);
  }
  add("causes", "slack", "Off the paths, the least slack first", showPlace);
  add("causes", "launches", "Launches");
  byId("pane-causes").replaceChildren(...box);
}
