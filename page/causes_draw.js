/* Causes over the time line: the path of work that decided how long each launch took, drawn through the rows; waits in the
 * colour of the RISC that ended them; and slack, how much later a RISC could have ended. Switched on above the details of the time
 * line, or with `p`. What it draws comes from waits.js. */

import { answers } from "./answers.js";
import { byId, make } from "./dom.js";
import { cyclesAndTime, grouped } from "./format.js";
import { laneBox, rowsLayout, stripBox } from "./rows.js";
import { theme } from "./theme.js";
import { axisToX, repaint, timeline } from "./timeline.js";
import { view } from "./view.js";
import { onPath, readLines, waitInside } from "./waits.js";

export const drawn = { lines: null, path: false, waits: false, slack: false, painted: { path: 0, waits: 0, slack: 0 } };
/* Of RISCs, in the order in which they come; each has 3 to 1 and more with white and with the dark page. */
const ENDERS = ["#c2410c", "#1d7fd1", "#15803d", "#a21caf", "#b08900", "#0f8a8a", "#d6336c", "#5b6ee1"];
const KINDS = [["path", "path that decided how long it took"], ["waits", "waits, by who ended them"], ["slack", "slack at the end"]];

/* Boxes on the screen, by row: { y, h }; those out of sight are not there. */
function boxes() {
  const found = new Map(), top = byId("rows").scrollTop;
  for (const band of rowsLayout.bands) {
    if (band.y + band.h < top || band.y > top + timeline.height) continue;
    if (band.kind === "risc") {
      const levels = band.row.lanes.filter((l) => !l.points), last = levels[levels.length - 1];
      if (!last) continue;
      const box = laneBox(band, last);
      found.set(band.row, { y: band.y - top, h: box.y + box.h - band.y });
    } else if (band.kind === "core" && !band.open) {
      band.core.rows.forEach((row, i) => {
        const box = band.h >= band.core.rows.length ? stripBox(band, i) : band;
        found.set(row, { y: box.y - top, h: box.h });
      });
    }
  }
  return found;
}

export function enderColour(risc) {
  const names = [...new Set(timeline.model.rows.map((r) => r.risc))];
  return ENDERS[names.indexOf(risc) % ENDERS.length];
}

function xOf(row, cycles) {
  return axisToX(cycles * row.scale + row.offset);
}

function paintWaits(context, places) {
  drawn.painted.waits = 0;
  for (const [row, box] of places) {
    const waits = drawn.lines.waits.get(row);
    if (!waits) continue;
    const high = Math.max(1.5, Math.min(box.h > 20 ? 3 : 5, box.h / 3)); /* below the names of open rows */;
    let last = -Infinity;
    for (let i = 0; i < waits.n; i++) {
      const x0 = xOf(row, waits.from[i]), x1 = xOf(row, waits.to[i]);
      if (x1 < 0 || x1 - last < 0.5) continue;
      if (x0 > timeline.width) break;
      context.fillStyle = waits.by[i] ? enderColour(waits.by[i].risc) : theme.colours.faint;
      context.fillRect(Math.max(0, x0), box.y + box.h - high, Math.max(1.5, Math.min(x1, timeline.width) - Math.max(0, x0)), high);
      drawn.painted.waits++;
      last = x1;
    }
  }
}

function paintPath(context, places) {
  drawn.painted.path = 0;
  context.strokeStyle = theme.colours.lost;
  context.lineJoin = "round";
  for (const { parts } of drawn.lines.paths) {
    const [first] = parts, end = parts[parts.length - 1];
    if (end.to * end.row.scale + end.row.offset < view.t0 || first.from * first.row.scale + first.row.offset > view.t1) continue;
    let before = null;
    for (const part of parts) {
      const box = places.get(part.row);
      const at = box && { x0: xOf(part.row, part.from), x1: xOf(part.row, part.to), y: box.y + Math.min(box.h - 1, box.h > 20 ? 1.5 : box.h / 2) };
      if (at && at.x1 > -1e4 && at.x0 < timeline.width + 1e4) {
        context.lineWidth = Math.min(3, Math.max(2, box.h / 3));
        context.beginPath();
        context.moveTo(Math.max(-5, at.x0), at.y);
        context.lineTo(Math.min(timeline.width + 5, Math.max(at.x1, at.x0 + 1)), at.y);
        context.stroke();
        drawn.painted.path++;
        if (before && before.y !== at.y) { /* it went over to another row */
          context.lineWidth = 1.5;
          context.beginPath();
          context.moveTo(at.x0, before.y);
          context.lineTo(at.x0, at.y);
          context.stroke();
        }
      }
      before = at;
    }
  }
}

function paintSlack(context, places) {
  drawn.painted.slack = 0;
  context.strokeStyle = theme.colours.faint;
  context.lineWidth = 1.5;
  context.setLineDash([3, 3]);
  for (const [row, box] of places)
    for (const { at, cycles } of drawn.lines.slack.get(row) || []) {
      const x0 = xOf(row, at), x1 = xOf(row, at + cycles), y = box.y + Math.min(7, box.h / 2);
      if (x1 < 0 || x0 > timeline.width || x1 - x0 < 1) continue;
      context.beginPath();
      context.moveTo(Math.max(0, x0), y);
      context.lineTo(Math.min(timeline.width, x1), y);
      context.moveTo(x1, y - 3);
      context.lineTo(x1, y + 3);
      context.stroke();
      drawn.painted.slack++;
    }
  context.setLineDash([]);
}

export function paintCauses(context) {
  if (!drawn.lines || !(drawn.path || drawn.waits || drawn.slack)) return;
  const places = boxes();
  if (drawn.waits) paintWaits(context, places);
  if (drawn.slack) paintSlack(context, places);
  if (drawn.path) paintPath(context, places);
}

/* What causes say of an interval: [name, value] pairs. */
export function causesOf(item) {
  const { row } = item.lane, facts = [];
  if (!drawn.lines || !row.core || item.lane.points) return facts;
  const from = item.lane.start[item.i], to = item.lane.end[item.i], waits = drawn.lines.waits.get(row), i = waitInside(waits, from, to);
  const khz = timeline.model.chips[row.chip].khz;
  if (i >= 0) {
    const by = waits.by[i], own = by && by.core === row.core ? by.risc : by && by.risc + " of " + by.core.title;
    facts.push([to - from > (waits.to[i] - waits.from[i]) * 1.5 ? "longest wait" : "waited", waits.why[i] + ", " + cyclesAndTime(waits.to[i] - waits.from[i], khz) + (by ? ", ended by " + own : ", nobody knows who ended it")]);
  }
  const path = onPath(drawn.lines, row, from, to);
  if (path) facts.push(["on the path", cyclesAndTime(path, khz)]);
  return facts;
}

/* All three on, or off. */
export function toggleCauses(on) {
  if (!drawn.lines) return;
  const now = on === undefined ? !(drawn.path || drawn.waits || drawn.slack) : on;
  for (const [kind] of KINDS) drawn[kind] = now;
  showCausesBar();
  repaint();
}

export function showCausesBar() {
  const box = byId("causes-bar");
  box.hidden = !drawn.lines;
  if (!drawn.lines) return;
  const riscs = [...new Set([...drawn.lines.waits.values()].flatMap((w) => w.by).filter(Boolean).map((r) => r.risc))];
  const checks = KINDS.filter(([kind]) => kind !== "waits" || riscs.length).map(([kind, text]) => {
    const check = make("input", { type: "checkbox" });
    check.checked = drawn[kind];
    check.addEventListener("change", () => {
      drawn[kind] = check.checked;
      showCausesBar();
      repaint();
      /** @type {any} */ (box.querySelectorAll("input")[KINDS.findIndex((k) => k[0] === kind)] || box).focus();
    });
    const mark = make("i", { class: "swatch" });
    mark.style.background = kind === "path" ? theme.colours.lost : kind === "slack" ? theme.colours.faint : "none";
    return make("label", {}, check, " ", kind === "waits" ? "" : mark, text);
  });
  const legend = drawn.waits ? riscs.map((risc) => {
    const mark = make("i", { class: "swatch" });
    mark.style.background = enderColour(risc);
    return make("span", {}, mark, "ended by " + risc);
  }) : [];
  box.replaceChildren(make("b", {}, "Causes"), ...checks, ...legend, drawn.lines.leftOut ? make("span", { class: "faint" }, "of the first launches; " + grouped(drawn.lines.leftOut) + " are left out") : "");
}

export function startCauses(model) {
  drawn.lines = readLines(model, answers.all.causes_lines);
  showCausesBar();
}
