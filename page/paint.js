/* Fills pixels: lanes of intervals into a 32-bit buffer. The one place where time is short: a million
 * intervals a frame. Device pixels throughout. */
"use strict";

/* Paints the intervals of `lane` into rows y0..y1 of `pixels` (width wide). `k` is pixels per cycle, `t0` the
 * cycle at x = 0; `colours` is by site, or null for launches: two greys in turn. Calls wide(i, x0, x1) for those that have room for a text of `room` pixels. */
function paintLane(pixels, width, y0, y1, lane, t0, k, colours, room, wide) {
  const start = lane.start, end = lane.end, site = lane.site;
  const stop = upperBound(start, t0 + width / k);
  const cyclesPerPixel = 1 / k;
  let covered = t0; /* the first cycle that is right of what has been painted */
  for (let i = lowerBound(end, t0); i < stop; i++) {
    if (end[i] < covered) continue;
    let x0 = (start[i] - t0) * k, x1 = (end[i] - t0) * k;
    x0 = x0 < 0 ? 0 : x0 | 0;
    x1 = x1 > width ? width : x1 | 0;
    if (x1 <= x0) x1 = x0 + 1;
    if (x1 > width) continue;
    const colour = colours ? colours[site[i]] : theme.launches[lane.launch[i] & 1];
    if (x1 - x0 > 24) {
      for (let y = y0; y < y1; y++) pixels.fill(colour, y * width + x0, y * width + x1);
      if (x1 - x0 >= room) wide(i, x0, x1);
    } else {
      for (let y = y0, row = y0 * width; y < y1; y++, row += width)
        for (let at = row + x0; at < row + x1; at++) pixels[at] = colour;
    }
    covered = t0 + x1 * cyclesPerPixel;
  }
}

/* One column of pixels per point, or nothing where one has been painted. */
function paintPoints(pixels, width, y0, y1, lane, t0, k, colours) {
  const start = lane.start, stop = upperBound(start, t0 + width / k);
  let last = -1;
  for (let i = lowerBound(start, t0); i < stop; i++) {
    const x = ((start[i] - t0) * k) | 0;
    if (x === last || x >= width) continue;
    last = x;
    const colour = colours[lane.site[i]];
    for (let y = y0; y < y1; y++) {
      pixels[y * width + x] = colour;
      if (x + 1 < width) pixels[y * width + x + 1] = colour;
    }
  }
}

/* Thin lines between neighbours in open rows, so that zones that follow at once can be told apart. */
function paintEdges(pixels, width, y0, y1, lane, t0, k, colour) {
  const start = lane.start, stop = upperBound(start, t0 + width / k), first = lowerBound(start, t0);
  if (stop - first > width / 4) return; /* would be nothing but edges */
  for (let i = first; i < stop; i++) {
    const x = ((start[i] - t0) * k) | 0;
    if (x < width) for (let y = y0; y < y1; y++) pixels[y * width + x] = colour;
  }
}
