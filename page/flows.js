/* From the call of the host to the launch that it made, and from there to its pull: thin lines between the rows
 * at the top of a chip, where the log knows when the host called. From the launch that is selected, or that what is
 * selected belongs to, lines lead to its kernels; and keys go along them. Not for links between chips: no log has them. */

import { ROLE_KERNEL, lowerBound, upperBound } from "./data.js";
import { byId } from "./dom.js";
import { shownCores } from "./order.js";
import { FLOWS, rowsLayout } from "./rows.js";
import { say } from "./say.js";
import { itemBox, itemEnd, itemStart, reveal, select, selection } from "./select.js";
import { theme } from "./theme.js";
import { axisToX, laneName, timeline } from "./timeline.js";
import { view, viewRange } from "./view.js";

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

const withKernels = new WeakMap(); /* lanes: whether they have any */

function hasKernels(lane) {
  const { sites } = timeline.model;
  if (!withKernels.has(lane)) withKernels.set(lane, !lane.points && lane.site.some((s) => sites[s].role === ROLE_KERNEL));
  return withKernels.get(lane);
}

/* A kernel of this launch in a lane, which begins between the launch's first and last stamp; -1: none. */
function kernelIn(lane, launch, from, to) {
  const { row } = lane, sites = timeline.model.sites, end = (to - row.offset) / row.scale;
  if (!hasKernels(lane)) return -1;
  for (let i = lowerBound(lane.start, (from - row.offset) / row.scale - 1); i < lane.n && lane.start[i] <= end; i++)
    if (lane.launch[i] === launch && sites[lane.site[i]].role === ROLE_KERNEL) return i;
  return -1;
}

/* Of each core that is shown the kernel that began first, as they began. */
function kernelsOf(chip, launch, made) {
  const kernels = [];
  for (const core of shownCores(timeline.model)) {
    if (core.chip !== chip) continue;
    const own = core.rows.flatMap((row) => row.lanes).map((lane) => ({ lane, i: kernelIn(lane, launch, itemStart(made), itemEnd(made)) })).filter((k) => k.i >= 0);
    if (own.length) kernels.push(own.reduce((a, b) => (itemStart(b) < itemStart(a) ? b : a)));
  }
  return kernels.sort((a, b) => itemStart(a) - itemStart(b));
}

/* Whatever of a launch is in the lanes of a row: [{ lane, i }]. */
function ofLaunch(row, launch) {
  return row ? row.lanes.flatMap((lane) => [...lane.launch.keys()].filter((i) => lane.launch[i] === launch).map((i) => ({ lane, i }))) : [];
}

/* The flow that an item is part of: the host's call, its launch, the first kernel of each core, the host's pull; those that the log
 * has. `at` is the item's place among them: a zone inside a kernel stands where its core's kernel does. */
let known = { launch: -1, shown: "", steps: [], kernels: [], made: null };
export function flowOf(item) {
  const { row } = item.lane, launch = item.lane.launch[item.i], { model } = timeline;
  if (launch < 0 || !model.launches[launch] || row.names) return null;
  const shown = shownCores(model).map((c) => c.index).join();
  if (known.launch !== launch || known.shown !== shown) {
    const of = (rows) => ofLaunch(rows.find((r) => r.chip === row.chip), launch), made = of(model.tops)[0] || null, calls = of(model.hosts);
    const kernels = made ? kernelsOf(row.chip, launch, made) : [], isCall = (c) => laneName(c.lane, c.i) === "LaunchProgram";
    known = { launch, shown, made, kernels, steps: [...calls.filter(isCall), ...(made ? [made] : []), ...kernels, ...calls.filter((c) => !isCall(c))] };
  }
  return { ...known, at: known.steps.findIndex((s) => (row.core ? s.lane.row.core === row.core : s.lane === item.lane && s.i === item.i)) };
}

/* The next step of the flow of what is selected, or the one before. */
export function alongFlow(step) {
  if (!selection.item) return say("select a call, a launch or a kernel first");
  const flow = flowOf(selection.item);
  if (!flow || flow.at < 0) return say("it is of no launch that is shown");
  const next = flow.steps[flow.at + step];
  if (!next) return say(step > 0 ? "the flow ends here" : "the flow begins here");
  const t0 = itemStart(next), t1 = itemEnd(next);
  if (t0 < view.t0 || t1 > view.t1) viewRange(Math.min(t0, view.t0), Math.max(t1, view.t1));
  select(next, true);
  reveal(selection.band);
}

function paintFlow(context, x0, y0, x1, y1) {
  const middle = (y0 + y1) / 2;
  context.beginPath();
  context.moveTo(x0, y0);
  context.bezierCurveTo(x0, middle, x1, middle, x1, y1);
  context.stroke();
}

/* From the launch of the selection to its kernels. */
function paintKernelFlows(context) {
  const flow = selection.item && flowOf(selection.item), from = flow && flow.made && itemBox(flow.made);
  timeline.kernelFlows = 0;
  if (!from || flow.kernels.length > MOST_FLOWS) return;
  context.strokeStyle = theme.colours.accent;
  context.lineWidth = 1;
  for (const kernel of flow.kernels) {
    const to = itemBox(kernel);
    if (!to || to.y + to.h < 0 || to.y > timeline.height) continue;
    paintFlow(context, from.x, from.y + from.h, to.x, to.y);
    timeline.kernelFlows++;
  }
}

export function paintFlows(context) {
  const top = byId("rows").scrollTop, chosen = [selection.item, selection.hover].filter((s) => s && !s.lane.points).map((s) => s.lane.launch[s.i]);
  timeline.flows = 0; /* painted */
  paintKernelFlows(context);
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
