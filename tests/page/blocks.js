/* A page's two blocks of data as devlog writes them (host/report/page_internal.h), made of plain lists: for tests of what
 * reads them. */
import { deflateSync } from "node:zlib";

function varint(out, value) {
  for (value = BigInt(value); value > 127n; value >>= 7n) out.push(Number(value & 127n) | 128);
  out.push(Number(value));
}

/* rows: [{ chip, x, y, risc, base, clock, lanes: [{ level, points, items: [[start, end or value, site, launch]] }] }]; starts
 * and ends are cycles since the chip's first base. */
export function blocks(meta, rows) {
  const columns = [[], [], [], []], first = new Map();
  for (const row of rows) first.set(row.chip, Math.min(row.base, first.get(row.chip) ?? Infinity));
  for (const row of rows)
    for (const lane of row.lanes) {
      let at = row.base - first.get(row.chip), launch = 0;
      for (const [start, end, site, of] of lane.items) {
        varint(columns[0], start - at);
        varint(columns[1], lane.points ? end : end - start);
        at = lane.points ? start : end;
        varint(columns[2], site);
        varint(columns[3], of < launch ? 2 * (launch - of) - 1 : 2 * (of - launch));
        launch = of;
      }
    }
  const json = {
    title: "a log", chips: [{ id: 0, arch: "wormhole_b0", khz: 1000000 }], sites: [], launches: [], statistics: [], ...meta,
    rows: rows.map((r) => [r.chip, r.x, r.y, r.risc, String(r.base), r.lanes.flatMap((l) => [l.level, l.points ? 1 : 0, l.items.length]), r.clock]),
    columns: columns.map((c) => c.length),
  };
  return [json, deflateSync(Buffer.from(columns.flat())).toString("base64")];
}

/* A generator of numbers that gives the same each time. */
export function numbers(seed) {
  return (below) => {
    seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0;
    return Math.floor((seed / 4294967296) * below);
  };
}
