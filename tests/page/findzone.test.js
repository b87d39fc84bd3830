/* What is found of one zone, and in a part of the time line, against plain counting. `node --test`. */
import assert from "node:assert/strict";
import { test } from "node:test";

import { areaOf } from "../../page/area.js";
import { loadModel } from "../../page/data.js";
import { besideOf, binOf, binsOf, edgesOf, extremeOf, figuresOf, groupsOf, instancesOf, itemOf, startOf } from "../../page/instances.js";
import { blocks, numbers } from "./blocks.js";

const SITES = [["compute", "k.c", 1, 0], ["wait", "k.c", 2, 0], ["compute", "other.c", 3, 0], ["inner", "k.c", 4, 0]];

/* Rows of zones in zones: [{ core, risc, level, start, end, name }] beside the page's model of them. */
async function randomLog(seed, launches) {
  const next = numbers(seed), rows = [], flat = [];
  for (let x = 0; x < 3; x++)
    for (const risc of ["BRISC", "NCRISC"]) {
      const lines = [[], [], []], base = 100 * (1 + next(3));
      let at = base;
      for (let launch = 0; launch < launches; launch++)
        for (let i = 0; i < 5; i++) {
          const start = at + next(3) * next(50), parts = 1 + next(4);
          let end = start + 1 + next(20);
          const inner = [];
          for (let k = 0; k < parts; k++) {
            const from = end + next(4), to = from + 1 + next(30);
            inner.push([from, to, next(4), launch]);
            end = to + next(5);
          }
          lines[0].push([start, end, next(3), launch]);
          lines[1].push(...inner);
          for (const [from, to] of inner) if (to - from > 4) lines[2].push([from + 1, to - 1, 3, launch]);
          at = end;
        }
      rows.push({ chip: 0, x, y: 0, risc, base, lanes: lines.map((items, level) => ({ level, items })) });
    }
  const first = Math.min(...rows.map((r) => r.base));
  for (const row of rows)
    row.lanes.forEach((l) => l.items.forEach((item) => {
      item[0] -= first;
      item[1] -= first;
      flat.push({ core: row.x + ",0", risc: row.risc, level: l.level, start: item[0], end: item[1], name: SITES[item[2]][0] });
    }));
  return { model: await loadModel(...blocks({ sites: SITES }, rows)), flat };
}

const sum = (list) => list.reduce((a, b) => a + b, 0);

test("instances of a zone are those of plain counting: by core, RISC and time, whatever their source", async () => {
  for (let seed = 1; seed < 12; seed++) {
    const { model, flat } = await randomLog(seed, 4);
    for (const name of ["compute", "wait", "inner", "none"])
      for (const core of [null, model.cores[1]])
        for (const risc of [null, "NCRISC"])
          for (const range of [null, [150, 600]]) {
            const found = instancesOf(model, { name, chip: 0, core, risc, range });
            const wanted = flat.filter((z) => z.name === name && (!core || z.core === core.name) && (!risc || z.risc === risc) && (!range || (z.end > range[0] && z.start < range[1])));
            assert.equal(found.n, wanted.length);
            assert.deepEqual([...found.length].sort((a, b) => a - b), wanted.map((z) => z.end - z.start).sort((a, b) => a - b));
            if (!found.n) continue;
            const figures = figuresOf(found.length);
            assert.equal(figures.sum, sum(wanted.map((z) => z.end - z.start)));
            assert.equal(found.length[extremeOf(found, "max")], figures.max);
            assert.equal(found.length[extremeOf(found, "min")], figures.min);
            assert.equal(sum(groupsOf(found, "core").map((g) => g.count)), found.n);
            assert.equal(sum(groupsOf(found, "risc").map((g) => g.sum)), figures.sum);
            for (const g of groupsOf(found, "core")) assert.equal(found.length[g.k], g.max);
          }
  }
});

test("from one instance to the next all are met once, in the order of time, forwards and backwards", async () => {
  const { model } = await randomLog(3, 5), found = instancesOf(model, { name: "compute", chip: 0 });
  for (const step of [1, -1]) {
    const met = new Set();
    let k = besideOf(found, null, step), last = -Infinity;
    for (; k >= 0; k = besideOf(found, itemOf(found, k), step)) {
      assert.ok(!met.has(k));
      met.add(k);
      assert.ok(startOf(found, k) * step >= last);
      last = startOf(found, k) * step;
    }
    assert.equal(met.size, found.n);
  }
  assert.equal(besideOf(instancesOf(model, { name: "none", chip: 0 }), null, 1), -1);
});

test("bins hold every value once, linear and logarithmic, by count and by time", () => {
  const next = numbers(2);
  for (let round = 0; round < 300; round++) {
    const values = Array.from({ length: 1 + next(300) }, () => Math.floor(Math.pow(10, next(7)) * (next(100) / 30)));
    const low = Math.min(...values), high = Math.max(...values);
    for (const log of [false, true]) {
      const edges = edgesOf(low, high, log), { counts, times } = binsOf(values, edges);
      assert.ok(edges.length <= 63 && edges[0] === low && edges[edges.length - 1] > high);
      for (let i = 1; i < edges.length; i++) assert.ok(edges[i] > edges[i - 1]);
      assert.equal(sum(counts), values.length);
      assert.equal(sum(times), sum(values));
      counts.forEach((n, i) => assert.equal(n, values.filter((v) => v >= edges[i] && v < edges[i + 1]).length));
      for (const v of values) assert.ok(edges[binOf(edges, v)] <= v);
    }
  }
});

test("a part of the time line: counts, time inside and time of a zone itself are those of plain counting", async () => {
  for (let seed = 20; seed < 32; seed++) {
    const { model, flat } = await randomLog(seed, 3);
    for (const [t0, t1] of [[0, 1e9], [120, 340], [333, 334], [200, 900]])
      for (const rows of [null, new Set(model.cores[2].rows)]) {
        const area = areaOf(model, t0, t1, rows), here = flat.filter((z) => z.end > t0 && z.start < t1 && (!rows || z.core === "2,0"));
        const inside = (z) => Math.min(z.end, t1) - Math.max(z.start, t0);
        assert.equal(area.count, here.length);
        for (const zone of area.zones) {
          const own = here.filter((z) => z.name === zone.name);
          assert.equal(zone.count, own.length);
          assert.equal(zone.time, sum(own.map(inside)));
          const below = (z) => here.filter((o) => o.core === z.core && o.risc === z.risc && o.level === z.level + 1 && o.start >= z.start && o.end <= z.end);
          assert.equal(zone.self, sum(own.map((z) => inside(z) - sum(below(z).map(inside)))), zone.name);
        }
        assert.equal(sum(area.zones.map((z) => z.count)), here.length);
        for (const line of area.rows)
          assert.equal(line.time, sum(here.filter((z) => z.level === 0 && z.core === line.row.core.name && z.risc === line.row.risc).map(inside)));
        assert.equal(sum(area.zones.map((z) => z.self)), sum(area.rows.map((r) => r.time))); /* nothing twice, nothing left out */
      }
  }
});
