/* Numbers of cores for the picture of a chip, and which of them stand out. `node --test`. */
import assert from "node:assert/strict";
import { test } from "node:test";

import { loadModel } from "../../page/data.js";
import { bytesThere, covered, gridsOf, outliers, scaleOf, valuesOf } from "../../page/grid.js";
import { blocks, numbers } from "./blocks.js";

test("what intervals cover together is what counting each cycle says", () => {
  const next = numbers(12);
  for (let round = 0; round < 300; round++) {
    const list = Array.from({ length: next(12) }, () => [next(60), 0]).map(([a]) => [a, a + next(20)]), cycles = new Set();
    for (const [a, b] of list) for (let t = a; t < b; t++) cycles.add(t);
    assert.equal(covered(list), cycles.size);
  }
});

test("cores have their part of the time, waits, medians and drops, and stand where they are", async () => {
  const sites = [["BRISC-KERNEL", "", 0, 2], ["wait for page", "", 1, 0], ["DEVLOG-WAIT", "", 2, 0], ["DEVLOG-DROPPED", "", 3, 3]];
  const row = (x, y, risc, length) => ({ chip: 0, x, y, risc, base: 0, lanes: [{ level: 0, items: [[0, length, 0, 0]] }, { level: 1, items: [[10, 30, 1, 0], [40, 50, 1, 0]] }, { level: 2, items: [[12, 20, 2, 0]] },
    { level: 0, points: true, items: x === 2 ? [[60, 7, 3 * 8 + 4, 0]] : [[60, 7, 3 * 8 + 2, 0]] }] });
  const model = await loadModel(...blocks({ sites }, [row(0, 0, "BRISC", 100), row(0, 0, "NCRISC", 50), row(2, 1, "BRISC", 200)]));
  assert.deepEqual(valuesOf(model, "busy"), [0.5, 1]);
  assert.deepEqual(valuesOf(model, "waited"), [60, 30]); /* a wait in a wait counts once */
  assert.deepEqual(valuesOf(model, "dropped"), [0, 7]);
  assert.deepEqual(valuesOf(model, "zone", { name: "wait for page", chip: 0, risc: "NCRISC" }), [15, NaN]);
  const [grid] = gridsOf(model);
  assert.deepEqual([grid.columns, grid.rows, grid.placed, grid.cells.map((c) => c.core && c.core.name)], [3, 2, false, ["0,0", null, null, null, null, "2,1"]]);
});

test("one that is different among thousands stands out, and is first; of those that are alike none does", () => {
  const next = numbers(3);
  for (let round = 0; round < 50; round++) {
    const values = Array.from({ length: 20 + next(3000) }, () => 1000 + next(5)), odd = next(values.length);
    assert.deepEqual(outliers(values), []);
    values[odd] = next(2) ? 1100 : 880;
    const found = outliers(values);
    assert.deepEqual(found.map((o) => o.i), [odd]);
    assert.equal(Math.sign(found[0].away), values[odd] > 1000 ? 1 : -1);
  }
  assert.deepEqual(scaleOf([100, NaN, 101, 99]), { median: 100, low: 99, high: 101, most: 5 });
  assert.deepEqual(scaleOf([0, 0, 9]), { median: 0, low: 0, high: 9, most: 9 });
  assert.equal(scaleOf([0]).most, 1);
  assert.deepEqual(outliers([]), []);
  assert.deepEqual(outliers([NaN, 0, 0, 0, 9]).map((o) => o.i), [4]);
});

/* 5 x 4 tiles of which columns 1, 2 and 4 and rows 1 to 3 had compute tiles; of column 2 and row 2 nothing is left. */
const GRID = { noc: [5, 4], columns: [1, 4], rows: [1, 3], off: { columns: [2], rows: [2] }, tiles: { dram: [[0, 0], [3, 3]], eth: [[1, 0]], arc: [[0, 1]] } };
const letters = (grid) => grid.cells.map((c) => (c.core ? c.core.name : c.kind.slice(0, 1) || "?")).join(" ");

test("a capture's grid puts logical cores where they are, with what is switched off and other kinds of tiles", async () => {
  const row = (chip, x, y) => ({ chip, x, y, risc: "BRISC", base: 0, lanes: [{ level: 0, items: [[0, 10, 0, 0]] }] });
  const sites = [["BRISC-FW", "firmware/run.h", 0, 1]], chips = [{ id: 0, arch: "a", khz: 1, grid: GRID }, { id: 1, arch: "a", khz: 1, grid: { ...GRID, off: { columns: [], rows: [] } } }];
  const model = await loadModel(...blocks({ sites, chips }, [row(0, 0, 0), row(0, 1, 1), row(1, 1, 0)])), [first, second] = gridsOf(model);
  assert.equal(letters(first), "d e ? ? ? a 0:0,0 o ? t ? o o ? o ? t o d 0:1,1");
  assert.deepEqual([first.placed, first.columns, first.rows, first.note], [true, 5, 4, "switched off (harvested), or left out: column 2; row 2"]);
  assert.equal(second.note, "no column or row is switched off");
  assert.equal(second.cells[9].core.name, "1:1,0");
  /* Cores that this grid has not got: nothing is known of where they are. */
  const [other] = gridsOf(await loadModel(...blocks({ sites, chips: chips.slice(0, 1) }, [row(0, 0, 0), row(0, 2, 0)])));
  assert.deepEqual([other.placed, other.columns, other.rows, other.note], [false, 3, 1, "where on the chip: unknown; harvested tiles: unknown"]);
});

test("a log that names cores by NoC coordinates is drawn by its architecture, where all of them fit", async () => {
  const { off, ...any } = GRID, row = (x, y, risc) => ({ chip: 0, x, y, risc: risc || "BRISC", base: 0, lanes: [{ level: 0, items: [[0, 10, 0, 0]] }] });
  assert.ok(off);
  const load = async (...cores) => gridsOf(await loadModel(...blocks({ sites: [["BRISC-FW", "brisc.cc", 0, 1]], chips: [{ id: 0, arch: "a", khz: 1 }] }, cores.map((c) => row(...c)))), { a: any })[0];
  const grid = await load([1, 1], [4, 3], [1, 0, "ERISC"]);
  assert.equal(letters(grid), "d 1,0 ? ? ? a 1,1 ? ? t ? ? ? ? ? ? t ? d 4,3");
  assert.equal(grid.note, "any a; harvested tiles: unknown");
  for (const odd of [[0, 0], [18, 18], [3, 3]]) assert.equal((await load([1, 1], odd)).placed, false);
  const model = await loadModel(...blocks({ sites: [["x", "", 0, 0]], chips: [{ id: 0, arch: "toString", khz: 1 }] }, [row(1, 1)]));
  assert.equal(gridsOf(model, { a: any })[0].placed, false);
});

test("bytes are those of recorded transfers, by the core that commanded them and by the tile at the other end", async () => {
  const sites = [["DEVLOG-NOC-READ", "", 0, 0], ["DEVLOG-NOC-WRITE", "", 1, 0], ["DEVLOG-WANTS", "", 2, 0]];
  const value = (n, x, y) => (BigInt(n | (x << 16) | (y << 22)) << 32n) | 0xfffffff0n;
  const row = (x, risc, items) => ({ chip: 0, x, y: 0, risc, base: 0, lanes: [{ level: 0, points: true, items: items.map(([site, n, tx, ty], i) => [i * 5, value(n, tx, ty), site * 8 + 1, 0]) }] });
  const model = await loadModel(...blocks({ sites }, [row(0, "BRISC", [[0, 8192, 5, 11], [1, 64, 0, 63], [2, 7, 1, 1]]), row(0, "NCRISC", [[0, 16, 5, 11]]), row(1, "BRISC", [[2, 9, 0, 0]])]));
  assert.deepEqual(valuesOf(model, "bytes"), [8272, 0]);
  assert.deepEqual([...bytesThere(model, 0)], [["5,11", 8208], ["0,63", 64]]);
  assert.equal(bytesThere(model, 1).size, 0);
});
