/* Where each row is: cores one above the other, closed (one strip per RISC, as high as the screen allows) or
 * open (a row per RISC, a line per level). Knows heights, not pixels' colours. */

import { CURVE, curves } from "./curves.js";
import { isPinned, shownCores } from "./order.js";

export const LINE = 14, POINTS = 12, HEAD = 18, CHIP = 20, FLOWS = 8, RISC_GAP = 3;

/* A band is one thing with a label in the gutter: { kind: "chip" | "core" | "risc" | "curve", y, h, ... }; a chip's band
 * holds its launches, and a second one, where `host` is true, what the host called. */
export const rowsLayout = { bands: [], height: 0, open: new Set() };

function closedHeight(model, height) {
  const cores = shownCores(model), closed = cores.filter((c) => !rowsLayout.open.has(c)).length;
  let free = height - CHIP * model.usedChips.size - (CHIP + FLOWS) * model.hosts.length - CHIP * model.ranges.length - CURVE * curves.shown.length;
  for (const core of cores) if (rowsLayout.open.has(core)) free -= openHeight(core);
  const fitting = Math.floor(free / Math.max(1, closed));
  return Math.max(cores.length > 64 ? 3 : 9, Math.min(26, fitting));
}

function riscHeight(row) {
  const levels = row.lanes.reduce((most, lane) => (lane.points ? most : Math.max(most, lane.level + 1)), 0);
  return levels * LINE + (row.lanes.some((l) => l.points) ? POINTS : 0) + RISC_GAP;
}

export function openHeight(core) {
  return HEAD + core.rows.reduce((sum, row) => sum + riscHeight(row), 0);
}

export function layoutRows(model, height) {
  const each = closedHeight(model, height);
  const bands = [];
  let y = 0, chip = -1;
  for (const row of model.ranges) {
    bands.push({ kind: "chip", chip: row.chip, row, ranges: true, y, h: CHIP });
    y += CHIP;
  }
  for (const curve of curves.shown) {
    bands.push({ kind: "curve", curve, y, h: CURVE });
    y += CURVE;
  }
  for (const core of shownCores(model)) {
    if (core.chip !== chip && !isPinned(core)) {
      if (!model.chips[core.chip].process) {
        bands.push({ kind: "chip", chip: core.chip, row: model.tops.find((r) => r.chip === core.chip), y, h: CHIP });
        y += CHIP;
      }
      const host = model.hosts.find((r) => r.chip === core.chip);
      if (host) {
        y += FLOWS;
        bands.push({ kind: "chip", chip: core.chip, row: host, host: true, y, h: CHIP });
        y += CHIP;
      }
    }
    if (!isPinned(core)) chip = core.chip;
    if (!rowsLayout.open.has(core)) {
      bands.push({ kind: "core", core, open: false, y, h: each });
      y += each;
      continue;
    }
    bands.push({ kind: "core", core, open: true, y, h: HEAD });
    y += HEAD;
    for (const row of core.rows) {
      const h = riscHeight(row);
      bands.push({ kind: "risc", core, row, y, h });
      y += h;
    }
  }
  rowsLayout.bands = bands;
  rowsLayout.height = y;
}

/* The band at y (of all rows, not of the screen), or null. */
export function bandAt(y) {
  let low = 0, high = rowsLayout.bands.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    const band = rowsLayout.bands[middle];
    if (y < band.y) high = middle;
    else if (y >= band.y + band.h) low = middle + 1;
    else return band;
  }
  return null;
}

/* Top and height of a lane inside its band. */
export function laneBox(band, lane) {
  if (band.kind === "chip") return { y: band.y + 2, h: band.h - 5 };
  if (lane.points) return { y: band.y + band.h - RISC_GAP - POINTS, h: POINTS };
  return { y: band.y + lane.level * LINE, h: LINE - 1 };
}

/* Top and height of one RISC's strip in a closed core. */
export function stripBox(band, index) {
  const n = band.core.rows.length, room = band.h - (band.h > 7 ? 2 : 1);
  return { y: band.y + (room * index) / n, h: room / n };
}

export function bandOfRow(row) {
  return rowsLayout.bands.find((b) => (b.kind === "curve" ? false : b.kind !== "core" ? b.row === row : row.core && b.core === row.core && !b.open)) || null;
}
