/* Fills pixels: lanes of intervals into a 32-bit buffer. The one place where time is short: a million
 * intervals a frame. Device pixels throughout. What covers several rows of pixels is painted into the first and
 * copied to the others (repeatRow); of lanes that share a row, only what no other one hides (paintLanes). */

import { lowerBound, upperBound } from "./data.js";
import { enough } from "./levels.js";
import { theme } from "./theme.js";

/* Paints the intervals of `lane` into the row of `width` pixels that begins at pixels[row]. `k` is pixels per
 * cycle, `t0` the cycle at x = 0; `colours` is by site, or null for launches: two greys in turn, or
 * their own colours beside another run. Calls
 * wide(i, x0, x1) for those that have room for a text of `room` pixels. */
export function paintLane(pixels, row, width, lane, t0, k, colours, room, wide) {
  const start = lane.start, end = lane.end, site = colours ? lane.site : lane.launch, own = !colours && theme.ofLaunch && !lane.row.names && !lane.row.host;
  const palette = own ? theme.ofLaunch : colours || theme.launches, mask = own || colours ? -1 : 1;
  const stop = upperBound(start, t0 + width / k), first = lowerBound(end, t0);
  /* Backwards, so that of several in one pixel the first is seen without asking what has been painted: a branch that cannot be
   * foretold costs more than all the rest. */
  for (let i = stop - 1; i >= first; i--) {
    let x0 = (start[i] - t0) * k, x1 = (end[i] - t0) * k;
    x0 = x0 < 0 ? 0 : x0 | 0; /* in this order: what begins far to the left has no 32 bits */
    if (x0 >= width) continue;
    x1 = x1 > width ? width : x1 | 0;
    const colour = palette[site[i] & mask];
    pixels[row + x0] = colour;
    if (x1 - x0 <= 1) continue;
    if (x1 - x0 > 24) {
      pixels.fill(colour, row + x0, row + x1);
      if (x1 - x0 >= room) wide(i, x0, x1);
    } else {
      for (let at = row + x0 + 1, last = row + x1; at < last; at++) pixels[at] = colour;
    }
  }
}

/* The last interval that begins left of pixel `to`, looked for from `near` on, in both directions: the next frame asks for almost the
 * same, and every place of the memory that one need not look at is worth as much as painting a zone. -1: none does. */
function lastLeftOf(start, near, t0, k, to) {
  const n = start.length;
  let low = near, high = near; /* low: -1 or left of it; high: n or not */
  if (n && (start[near] - t0) * k < to) {
    for (let step = 1; (high = low + step) < n && (start[high] - t0) * k < to; step *= 2) low = high;
    high = Math.min(high, n);
  } else {
    for (let step = 1; (low = high - step) >= 0 && (start[low] - t0) * k >= to; step *= 2) high = low;
    low = Math.max(low, -1);
  }
  while (high - low > 1) {
    const middle = (low + high) >>> 1;
    if ((start[middle] - t0) * k < to) low = middle;
    else high = middle;
  }
  return low;
}

/* Paints the intervals of a lane into `gaps`, which are [to, from, to, from, ...] from right to left; returns what is left of them. */
function paintGaps(pixels, row, gaps, lane, t0, k, colours) {
  const { start, end, site } = lane, left = [];
  let i = lane.near;
  for (let g = 0; g < gaps.length; g += 2) {
    let to = gaps[g];
    const from = gaps[g + 1], room = to;
    let j = (i = lastLeftOf(start, Math.max(0, i), t0, k, to));
    if (g === 0) lane.near = Math.max(0, i);
    for (; j >= 0; j--) {
      let x0 = (start[j] - t0) * k, x1 = (end[j] - t0) * k;
      if (x1 < 0) break;
      x0 = x0 < 0 ? 0 : x0 | 0;
      x1 = x1 > room ? room : x1 | 0;
      if (x1 <= x0) x1 = x0 + 1;
      if (x1 <= from) break;
      if (x0 < from) x0 = from;
      if (x1 < to) left.push(to, x1);
      to = x0;
      const colour = colours[site[j]];
      if (x1 - x0 > 24) pixels.fill(colour, row + x0, row + x1);
      else for (let at = row + x0, last = row + x1; at < last; at++) pixels[at] = colour;
    }
    if (from < to) left.push(to, from);
    i = Math.min(i, j + 1); /* that one may reach into the gap before, too */
  }
  return left;
}

/* Paints lanes that lie over one another, the last on top, into a row that begins at `from` of the axis: the picture is that of paintLane of one
 * after the other, but from the top down, so that of what is hidden nothing is painted. */
export function paintLanes(pixels, row, width, lanes, from, perPixel, colours) {
  let gaps = [width, 0];
  for (let i = lanes.length - 1; i >= 0 && gaps.length; i--) {
    const lane = lanes[i], { scale, offset } = lane.row;
    gaps = paintGaps(pixels, row, gaps, enough(lane, perPixel / scale), (from - offset) / scale, scale / perPixel, colours);
  }
}

/* Copies the row y0 to those below it, up to y1. */
export function repeatRow(pixels, width, y0, y1) {
  for (let y = y0 + 1; y < y1; y++) pixels.copyWithin(y * width, y0 * width, (y0 + 1) * width);
}

/* One column of pixels per point, or nothing where one has been painted. */
export function paintPoints(pixels, row, width, lane, t0, k, colours) {
  const start = lane.start, stop = upperBound(start, t0 + width / k);
  let last = -1;
  for (let i = lowerBound(start, t0); i < stop; i++) {
    const x = ((start[i] - t0) * k) | 0;
    if (x === last || x >= width) continue;
    last = x;
    pixels[row + x] = colours[lane.site[i]];
    if (x + 1 < width) pixels[row + x + 1] = colours[lane.site[i]];
  }
}

/* Thin lines between neighbours in open rows, so that zones that follow at once can be told apart. */
export function paintEdges(pixels, row, width, lane, t0, k, colour) {
  const start = lane.start, stop = upperBound(start, t0 + width / k), first = lowerBound(start, t0);
  if (stop - first > width / 4) return; /* would be nothing but edges */
  for (let i = first; i < stop; i++) {
    if ((lane.end[i] - start[i]) * k < 3) continue; /* would be hidden by its edge */
    const x = ((start[i] - t0) * k) | 0;
    if (x < width) pixels[row + x] = colour;
  }
}
