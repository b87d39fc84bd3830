/* Long work in slices: when each is done, what becomes of the one before, and that its steps are small. `node --test`. */
import assert from "node:assert/strict";
import { test } from "node:test";

import { areaOf, areaSteps } from "../../page/area.js";
import { answers } from "../../page/answers.js";
import { addRanges } from "../../page/ranges.js";
import { atOnce, inSlices, slices, stopSlices } from "../../page/slices.js";

/* What stands behind everything that the browser has to do: called by hand. */
const tasks = [];
globalThis.MessageChannel = /** @type {any} */ (class {
  port1 = { onmessage: () => {} };
  port2 = { postMessage: () => tasks.push(() => this.port1.onmessage()) };
});

function* upTo(n, done) {
  for (let i = 0; i < n; i++) {
    done.push(i);
    yield 10;
  }
  return done.length;
}

test("little work is done at once; more than a slice goes on behind what the browser has to do, slice by slice", () => {
  const most = slices.most, done = [], said = [];
  slices.most = 30;
  inSlices("a", upTo(2, done), (n) => said.push(n));
  assert.deepEqual([said, tasks.length], [[2], 0]);
  done.length = 0;
  inSlices("a", upTo(7, done), (n) => said.push(n));
  assert.deepEqual([done.length, said, tasks.length], [3, [2], 1]);
  tasks.shift()();
  assert.deepEqual([done.length, tasks.length], [6, 1]);
  tasks.shift()();
  assert.deepEqual([done.length, said, tasks.length], [7, [2, 7], 0]);
  assert.equal(atOnce(upTo(9, [])), 9);
  slices.most = most;
});

test("of one kind of work the newest goes on, of others each; what is stopped says nothing", () => {
  const most = slices.most, said = [], go = (kind, n) => inSlices(kind, upTo(n, []), (all) => said.push(kind + all));
  slices.most = 20;
  go("a", 5);
  go("b", 5);
  go("a", 6);
  go("c", 9);
  stopSlices("c");
  while (tasks.length) tasks.shift()();
  assert.deepEqual(said.sort(), ["a6", "b5"]);
  assert.equal(slices.running.size, 0);
  slices.most = most;
});

/* Rows of zones that have others inside. */
function model(rows, zones) {
  const made = { sites: ["outer", "inner"].map((name, index) => ({ name, index })), rows: [] };
  for (let r = 0; r < rows; r++) {
    const row = { scale: 1, offset: r, lanes: [] };
    for (const level of [0, 1]) row.lanes.push({ row, level, points: false, n: zones, site: new Uint32Array(zones).fill(level), start: Float64Array.from({ length: zones }, (_, i) => i * 10 + level), end: Float64Array.from({ length: zones }, (_, i) => i * 10 + 8 - level) });
    made.rows.push(row);
  }
  return made;
}

test("statistics of a part come in small steps, which together are all of it", () => {
  const all = model(2, 30000), steps = areaSteps(all, 5, 250001, null), sizes = [];
  let step;
  while (!(step = steps.next()).done) sizes.push(step.value);
  assert.ok(sizes.every((n) => n > 0 && n <= 10000), sizes.join()); /* a slice is many times that */
  assert.ok(slices.most >= 100000);
  assert.equal(sizes.reduce((a, b) => a + b), step.value.count);
  assert.deepEqual(step.value, areaOf(all, 5, 250001, null));
  /* Cut on both sides; the inner zones of every outer one are found across the ends of steps. */
  const zones = Object.fromEntries(step.value.zones.map((z) => [z.name, z]));
  assert.deepEqual([zones.outer.count, zones.inner.count, zones.outer.self], [50001, 50000, zones.outer.time - zones.inner.time]);
  assert.deepEqual(step.value.rows.map((r) => [r.count, r.zone.name]), [[50001, "inner"], [50000, "inner"]]);
});

test("a step of very many launches is a row, and as many signposts as launches are one, too", () => {
  const n = 300000, row = { chip: 0, scale: 1, offset: 0, lanes: [] };
  row.lanes.push({ row, n, launch: Int32Array.from({ length: n }, (_, i) => i), start: Float64Array.from({ length: n }, (_, i) => i * 10), end: Float64Array.from({ length: n }, (_, i) => i * 10 + 7) });
  const log = { tops: [row], ranges: [], launches: Array.from({ length: n }, (_, i) => ({ id: i, op: i + 1, chip: 0 })), chips: [{ id: 0 }] };
  answers.all = { points: [["step 0", 1], ...Array.from({ length: n - 1 }, (_, i) => ["post " + i, i + 2])] };
  answers.made = false;
  addRanges(log);
  assert.deepEqual(log.ranges.map((r) => [r.risc, r.index, r.lanes[0].n, r.lanes[0].start[0], r.lanes[0].end[0]]), [["steps", -2, 1, 0, n * 10 - 3], ["signposts", -3, n - 1, 10, 17]]);
});
