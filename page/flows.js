/* From the call of the host to the launch that it made, and from there to its pull: thin lines between the rows
 * at the top of a chip, where the log knows when the host called. */

import { lowerBound, upperBound } from "./data.js";
import { byId } from "./dom.js";
import { FLOWS, rowsLayout } from "./rows.js";
import { itemEnd, itemStart, selection } from "./select.js";
import { theme } from "./theme.js";
import { axisToX, laneName, timeline } from "./timeline.js";
import { view } from "./view.js";

const MOST_FLOWS = 300; /* on the screen; more would be a grey mist */

/* [x of the call's start, x of the launch's start, x of its end, x of the pull's start] by launch; what is not
 * there is undefined. */
export function flowsOfChip(chip) {
  const flows = new Map();
  const host = timeline.model.hosts.find((r) => r.chip === chip), top = timeline.model.tops.find((r) => r.chip === chip);
  if (!host || !top) return flows;
  const of = (launch) => flows.get(launch) || flows.set(launch, {}).get(launch);
  for (const row of [host, top])
    for (const lane of row.lanes) {
      const a = (view.t0 - row.offset) / row.scale, b = (view.t1 - row.offset) / row.scale;
      /* Two more on each side: the ends of lines that cross the edge of the screen. */
      const first = Math.max(0, lowerBound(lane.end, a) - 2), last = Math.min(lane.n, upperBound(lane.start, b) + 2);
      for (let i = first; i < last && flows.size <= MOST_FLOWS; i++) {
        const flow = of(lane.launch[i]), item = { lane, i };
        if (row === top) flow.launch = item;
        else if (laneName(lane, i) === "LaunchProgram") flow.call = item;
        else flow.pull = item;
      }
    }
  return flows.size > MOST_FLOWS ? new Map() : flows;
}

function paintFlow(context, x0, y0, x1, y1) {
  const middle = (y0 + y1) / 2;
  context.beginPath();
  context.moveTo(x0, y0);
  context.bezierCurveTo(x0, middle, x1, middle, x1, y1);
  context.stroke();
}

export function paintFlows(context) {
  const top = byId("rows").scrollTop, chosen = [selection.item, selection.hover].filter((s) => s && !s.lane.points).map((s) => s.lane.launch[s.i]);
  timeline.flows = 0; /* painted */
  for (const band of rowsLayout.bands) {
    if (!band.host || band.y + band.h < top || band.y > top + timeline.height) continue;
    const y0 = band.y + 2 - top, y1 = band.y - FLOWS - 3 - top; /* the host's row lies below that of launches */
    for (const [launch, { call, launch: made, pull }] of flowsOfChip(band.chip)) {
      const marked = chosen.includes(launch);
      context.strokeStyle = marked ? theme.colours.accent : theme.colours.faint;
      context.lineWidth = marked ? 2 : 1;
      if (call && made) paintFlow(context, axisToX(itemStart(call)), y0, axisToX(itemStart(made)), y1);
      if (made && pull) paintFlow(context, axisToX(itemEnd(made)), y1, axisToX(itemStart(pull)), y0);
      timeline.flows += (call && made ? 1 : 0) + (made && pull ? 1 : 0);
    }
  }
}
