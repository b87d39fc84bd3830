/* Waits, paths, owners of memory and the roofline: what pictures are drawn of. `node --test`. */
import assert from "node:assert/strict";
import { test } from "node:test";

import { loadModel } from "../../page/data.js";
import { areas } from "../../page/memory.js";
import { momentAt, ownerOf, ownersOver } from "../../page/owners.js";
import { peaksOf, pointsOf } from "../../page/roofline.js";
import { onPath, readLines, waitInside } from "../../page/waits.js";
import { blocks, numbers } from "./blocks.js";

test("waits and paths are put to their rows, at their cycles, whichever rows are in the page", async () => {
  const rows = ["BRISC", "TRISC_1"].map((risc) => ({ chip: 0, x: 1, y: 2, risc, base: 5000, lanes: [{ level: 0, items: [[0, 900, 0, 0]] }] }));
  const model = await loadModel(...blocks({ sites: [["z", "", 0, 0]] }, rows)), [brisc, trisc] = model.rows;
  const lines = readLines(model, {
    whys: ["buffer full", "buffer empty"], left_out: 3, streams: [[0, 1, 2, "TRISC_1"], [0, 1, 2, "BRISC"], [0, 9, 9, "BRISC"]],
    launches: [{ chip: 0, start: "5100", waits: [0, 300, 50, 1, 1, 0, 10, 20, -1, 0, 2, 5, 5, 0, 0], path: [1, 0, 300, 0, 300, 100], slack: [1, 300, 100, 2, 1, 1] },
      { chip: 7, start: "1", waits: [0, 1, 1, 1, 1], path: [0, 1, 1], slack: [] }],
  });
  assert.equal(lines.leftOut, 3);
  assert.deepEqual([...lines.waits.keys()], [trisc]);
  const waits = lines.waits.get(trisc);
  assert.deepEqual([...waits.from], [110, 400]);
  assert.deepEqual([...waits.to], [130, 450]);
  assert.deepEqual(waits.by, [null, brisc]);
  assert.deepEqual(waits.why, ["buffer full", "buffer empty"]);
  assert.deepEqual(lines.paths, [{ parts: [{ row: brisc, from: 100, to: 400 }, { row: trisc, from: 400, to: 500 }] }]);
  assert.deepEqual([...lines.slack], [[brisc, [{ at: 400, cycles: 100 }]]]);
  assert.equal(waitInside(waits, 0, 1000), 1);
  assert.equal(waitInside(waits, 0, 200), 0);
  assert.equal(waitInside(waits, 410, 1000), -1);
  assert.equal(waitInside(undefined, 0, 1), -1);
  assert.equal(onPath(lines, trisc, 450, 1000), 50);
  assert.equal(onPath(lines, brisc, 450, 1000), 0);
  assert.equal(readLines(model, undefined), null);
});

test("who held what at each moment is what plain counting says; others are put together", () => {
  const next = numbers(9);
  for (let round = 0; round < 100; round++) {
    const end = 1000, buffers = Array.from({ length: 1 + next(40) }, () => {
      const made = next(end), life = next(4) ? next(end) : null;
      return { made, life, held: 1 + next(5000), source: "a/b.c:" + next(6), op: next(2) ? "op" + next(3) : null };
    });
    const most = 3 + next(20), { times, owners } = ownersOver(buffers, end, most);
    assert.ok(owners.length <= most);
    assert.ok(times.every((t, i) => !i || t > times[i - 1]));
    for (let k = 0; k < 30; k++) {
      const time = next(end), i = momentAt(times, time), living = buffers.filter((b) => b.made <= time && (b.life === null || b.made + b.life > time));
      assert.equal(owners.reduce((sum, o) => sum + o.bytes[i], 0), living.reduce((sum, b) => sum + b.held, 0));
      for (const o of owners.slice(0, most - 1)) if (!o.name.endsWith(" others"))
        assert.equal(o.bytes[i], living.filter((b) => ownerOf(b) === o.name).reduce((sum, b) => sum + b.held, 0));
    }
    for (const points of areas({ times, owners }, 1e9, end, 1000)) for (const p of points.split(" ")) {
      const [x, y] = p.split(",").map(Number);
      assert.ok(x >= 0 && x <= 1000 && y >= 0 && y <= 100, p);
    }
  }
});

test("roofs are what rates and shares imply; ops without FLOPs are no points", () => {
  const rows = [{ op: "a", flop_rate: 5e11, of_compute: 50, byte_rate: 1e9, of_dram: 10, intensity: 500 }, { op: "b", flop_rate: 1e11, of_compute: 10, byte_rate: 0, of_dram: 0, intensity: null },
    { op: "c", flop_rate: null, of_compute: null, byte_rate: 9e9, of_dram: 90, intensity: null }];
  const peaks = peaksOf(rows);
  assert.equal(Math.round(peaks.compute), 1e12);
  assert.equal(Math.round(peaks.dram), 1e10);
  assert.deepEqual(pointsOf(rows).map((p) => [p.row.op, p.x]), [["a", 500], ["b", null]]);
  assert.deepEqual(peaksOf([{ op: "c", flop_rate: null, of_compute: null, byte_rate: null, of_dram: null }]), { compute: null, dram: null });
});
