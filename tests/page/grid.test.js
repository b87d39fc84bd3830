/* Numbers of cores for the picture of a chip, and which of them stand out. `node --test`. */
import assert from "node:assert/strict";
import { test } from "node:test";

import { loadModel } from "../../page/data.js";
import { covered, gridsOf, outliers, scaleOf, valuesOf } from "../../page/grid.js";
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
  assert.deepEqual([grid.columns, grid.rows, grid.cells.map((c) => c && c.name)], [3, 2, ["0,0", null, null, null, null, "2,1"]]);
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
