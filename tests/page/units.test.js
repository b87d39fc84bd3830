/* What of the page needs no browser: its data, its arithmetic and where its rows lie. `node --test`. */
import assert from "node:assert/strict";
import { test } from "node:test";

import { loadModel, lowerBound, upperBound } from "../../page/data.js";
import { cyclesAndTime, duration, niceStep, short, shortTime } from "../../page/format.js";
import { enough } from "../../page/levels.js";
import { paintLane, paintLanes, paintPoints } from "../../page/paint.js";
import { bandAt, bandOfRow, laneBox, layoutRows, rowsLayout } from "../../page/rows.js";
import { giveShares } from "../../page/shares.js";
import { contrast, inkOn, setColours, theme } from "../../page/theme.js";
import { pan, setView, view, viewAll, viewRange, zoom } from "../../page/view.js";
import { blocks, numbers } from "./blocks.js";

function lane(level, items, points) {
  return { level, points, items };
}

test("what was packed is what is read, at any size and order of launches", async () => {
  const next = numbers(7);
  for (let round = 0; round < 40; round++) {
    const rows = [], n = 1 + next(5);
    for (let r = 0; r < n; r++) {
      const base = 1000 + next(100000), lanes = [];
      for (let level = 0; level < 1 + next(3); level++) {
        const items = [];
        let at = base;
        for (let i = 0; i < 1 + next(30); i++) {
          const start = at + next([1, 2, 200, 40000, 3000000][next(5)]), end = start + next([1, 128, 70000][next(3)]);
          items.push([start, end, next(300), next(4) - 1]);
          at = end;
        }
        lanes.push(lane(level, items));
      }
      rows.push({ chip: 0, x: r, y: 0, risc: "BRISC", base, lanes });
    }
    const first = Math.min(...rows.map((r) => r.base));
    for (const row of rows) for (const l of row.lanes) for (const item of l.items) [item[0], item[1]] = [item[0] - first, item[1] - first];
    const sites = Array.from({ length: 300 }, (_, i) => ["zone " + i, "k.c", i, 0]);
    const model = await loadModel(...blocks({ sites }, rows));
    assert.equal(model.cores.length, n);
    let total = 0, span = 1;
    rows.forEach((row, r) => row.lanes.forEach((l, k) => {
      const got = model.cores[r].rows[0].lanes[k];
      assert.deepEqual([...got.start], l.items.map((i) => i[0]));
      assert.deepEqual([...got.end], l.items.map((i) => i[1]));
      assert.deepEqual([...got.site], l.items.map((i) => i[2]));
      assert.deepEqual([...got.launch], l.items.map((i) => i[3]));
      total += l.items.length;
      span = Math.max(span, ...l.items.map((i) => i[1]));
    }));
    assert.equal(model.intervals, total);
    assert.equal(model.span, span);
    assert.equal(model.axis, "cycles");
    assert.equal(model.toNs, 1);
  }
});

test("values of points are exact to 64 bits, and say what they are", async () => {
  const all = (1n << 64n) - 1n;
  const [json, columns] = blocks({ sites: [["value", "", 0, 0]] }, [{ chip: 0, x: 0, y: 0, risc: "BRISC", base: 5,
    lanes: [lane(0, [[0, 9, 0, 0]]), lane(0, [[3, all, 0 * 8 + 2, 0], [4, 7, 0 * 8 + 4, 0]], true)] }]);
  const model = await loadModel(json, columns), points = model.rows[0].lanes[1];
  assert.equal(points.value[0], all);
  assert.deepEqual([...points.kind], [2, 4]);
  assert.deepEqual([...points.end], [3, 4]);
});

test("a log without rows is a model without intervals", async () => {
  const model = await loadModel(...blocks({}, []));
  assert.equal(model.intervals, 0);
  assert.deepEqual(model.cores, []);
});

test("chips whose clocks differ share an axis of nanoseconds", async () => {
  const row = (chip) => ({ chip, x: 0, y: 0, risc: "BRISC", base: 100, lanes: [lane(0, [[0, 1000, 0, 0]])] });
  const chips = [{ id: 0, khz: 1000000 }, { id: 1, khz: 500000 }];
  const model = await loadModel(...blocks({ chips, sites: [["z", "", 0, 0]] }, [row(0), row(1)]));
  assert.equal(model.axis, "ns");
  assert.equal(model.span, 2000);
  assert.equal(model.toCycles, 0);
});

test("bounds are those of a search from the left", () => {
  const next = numbers(3);
  for (let round = 0; round < 300; round++) {
    const array = Array.from({ length: next(12) }, () => next(8)).sort((a, b) => a - b), value = next(9);
    const above = array.findIndex((v) => v > value), from = array.findIndex((v) => v >= value);
    assert.equal(upperBound(array, value), above < 0 ? array.length : above);
    assert.equal(lowerBound(array, value), from < 0 ? array.length : from);
  }
});

test("numbers are as people read them", () => {
  assert.equal(duration(921), "921 ns");
  assert.equal(duration(5228), "5.228 µs");
  assert.equal(duration(-1204000), "-1.204 ms");
  assert.equal(cyclesAndTime(1, 0), "1 cycle");
  assert.equal(cyclesAndTime(2000, 1000000), "2,000 cycles = 2.000 µs");
  assert.deepEqual([1, 2, 3, 7, 11].map(niceStep), [1, 2, 5, 10, 20]);
  assert.equal(short(12500, 500), "12.5k");
  assert.equal(shortTime(1500, 100), "1.5 µs");
});

test("rows neither overlap nor leave holes, and every place finds its own", async () => {
  const rows = [];
  for (let core = 0; core < 20; core++)
    for (const risc of ["BRISC", "NCRISC"])
      rows.push({ chip: 0, x: core, y: 0, risc, base: 0, lanes: [lane(0, [[0, 9, 0, 0]]), lane(1, [[1, 2, 0, 0]])] });
  const model = await loadModel(...blocks({ sites: [["z", "", 0, 0]] }, rows));
  for (const open of [[], [0], [0, 7, 19]]) {
    rowsLayout.open.clear();
    for (const i of open) rowsLayout.open.add(model.cores[i]);
    layoutRows(model, 400);
    let y = 0;
    for (const band of rowsLayout.bands) {
      assert.equal(band.y, y);
      assert.equal(bandAt(band.y), band);
      assert.equal(bandAt(band.y + band.h - 0.01), band);
      if (band.kind === "risc")
        for (const l of band.row.lanes) {
          const box = laneBox(band, l);
          assert.ok(box.y >= band.y && box.y + box.h <= band.y + band.h);
        }
      y += band.h;
    }
    assert.equal(rowsLayout.height, y);
    assert.equal(bandAt(y), null);
    for (const row of model.rows) assert.ok(bandOfRow(row));
  }
  rowsLayout.open.clear();
});

test("the view stays inside the log, whatever is asked of it", () => {
  const next = numbers(11);
  view.span = 100000;
  view.changed = () => {};
  viewAll();
  for (let i = 0; i < 2000; i++) {
    [() => zoom(0.1 + next(30) / 10, next(100) / 100), () => pan(next(20) - 10), () => viewRange(next(100000), next(100000)),
      () => setView(next(300000) - 100000, next(300000) - 100000)][next(4)]();
    assert.ok(view.t1 > view.t0 && view.t1 - view.t0 <= view.span * 1.1 + 1e-6);
    assert.ok(view.t1 >= view.span * -0.01 && view.t0 <= view.span * 1.01);
  }
});

test("what is narrower than a pixel is painted all the same, and nothing beside its row", () => {
  const next = numbers(5), width = 64, pixels = new Uint32Array(width * 3);
  for (let round = 0; round < 200; round++) {
    const start = [], end = [];
    for (let i = 0, at = 0; i < 50; i++) {
      start.push((at += next(20)));
      end.push((at += next(8)));
    }
    const one = { start, end, site: start.map(() => 0), launch: start.map(() => 0), n: 50 };
    const t0 = next(100), k = (1 + next(40)) / 20;
    pixels.fill(0);
    paintLane(pixels, width, width, one, t0, k, [7], Infinity, () => {});
    for (let i = 0; i < 50; i++) {
      const x = Math.floor((start[i] - t0) * k);
      if (start[i] >= t0 && x >= 0 && x < width) assert.equal(pixels[width + x], 7);
    }
    assert.ok(pixels.subarray(0, width).every((p) => p === 0) && pixels.subarray(2 * width).every((p) => p === 0));
    paintPoints(pixels, width, width, one, t0, k, [9]);
    assert.ok(pixels.subarray(0, width).every((p) => p === 0) && pixels.subarray(2 * width).every((p) => p === 0));
  }
});

test("a level of detail paints what all intervals do, a pixel apart at most", () => {
  const next = numbers(23), width = 200;
  let fewer = 0;
  for (let round = 0; round < 60; round++) {
    const n = 5000 + next(5000), start = new Float64Array(n), end = new Float64Array(n), site = new Uint32Array(n), longest = [1, 30, 4000][next(3)];
    let at = next(1000000);
    for (let i = 0; i < n; i++) {
      start[i] = at += next([1, 50, 300][next(3)]);
      end[i] = at += next(next(40) ? longest : 50 * longest);
      site[i] = 1 + next(9);
    }
    const lane = { row: {}, start, end, site, launch: new Int32Array(n), n }, palette = Uint32Array.from({ length: 10 }, (_, i) => 100 + i);
    const size = (at - start[0]) / [1, 1, 7, 300][next(4)], t0 = start[0] + next(1 + Math.floor(at - start[0] - size)), k = width / size;
    const all = new Uint32Array(width), some = new Uint32Array(width), texts = [[], []];
    paintLane(all, 0, width, lane, t0, k, palette, 26, (i, x0, x1) => texts[0].push(i, x0, x1));
    const level = enough(lane, 1 / k);
    assert.equal(enough(lane, 1 / k), level);
    paintLane(some, 0, width, level, t0, k, palette, 26, (i, x0, x1) => texts[1].push(level.index ? level.index[i] : i, x0, x1));
    assert.deepEqual(texts[1], texts[0]); /* what is wide is there, with its own number */
    fewer += level !== lane;
    if (level !== lane) assert.ok(level.start.length <= n / 2);
    for (let x = 0; x < width; x++) {
      assert.ok(!some[x] || all[x], "nothing is painted where nothing is");
      if (all[x] && !some[x]) {
        assert.ok(some[x - 1] || x === 0, "round " + round + ", pixel " + x);
        assert.ok(!start.some((s, i) => (end[i] - s) * k >= 1 && (s - t0) * k < x + 1 && (end[i] - t0) * k >= x + 1), "a wide one is missing");
      }
      const from = t0 + x / k, to = t0 + (x + 1) / k;
      if (some[x]) assert.ok(start.some((s, i) => 100 + site[i] === some[x] && Math.floor((s - t0) * k) <= x && (Math.max(Math.floor((end[i] - t0) * k), Math.floor((s - t0) * k)) >= x || end[i] >= to) && s < to + 1 && end[i] >= from - 1), "a colour of what is there");
    }
  }
  assert.ok(fewer > 10, fewer + " had a level");
});

test("lanes that share a row are painted as one over the other, though what is hidden is not", () => {
  const next = numbers(31), width = 120, palette = Uint32Array.from({ length: 60 }, (_, i) => 0xff000000 + i);
  let hidden = 0;
  for (let round = 0; round < 400; round++) {
    const lanes = Array.from({ length: 1 + next(6) }, (_, level) => {
      const n = next(3) ? next(60) : next(3), start = [], end = [], longest = [1, 8, 60, 400][next(4)], apart = [1, 3, 40, 300][next(4)];
      for (let i = 0, at = next(200); i < n; i++) {
        start.push((at += next(apart)));
        end.push((at += next(longest)));
      }
      return { row: { scale: [1, 0.7, 3][next(3)], offset: next(50) - 20 }, level, start, end, site: start.map(() => next(60)), launch: start.map(() => 0), n, near: next(Math.max(1, n)) };
    });
    const from = next(400) - 30, size = [1, 20, 400, 6000][next(4)], perPixel = (size + next(20) + 0.3) / width;
    const placed = (lane) => [lane, (from - lane.row.offset) / lane.row.scale, lane.row.scale / perPixel];
    const asked = new Set(), spied = lanes.map((lane, i) => ({ ...lane, get site() {
      asked.add(i);
      return lane.site;
    } }));
    const ground = new Uint32Array(width * 3).fill(7), all = ground.slice(), once = ground.slice();
    for (const lane of lanes) paintLane(all, width, width, ...placed(lane), palette, Infinity, () => {});
    paintLanes(once, width, width, spied, from, perPixel, palette);
    assert.deepEqual(once, all, "round " + round);
    hidden += lanes.length - asked.size;
  }
  assert.ok(hidden > 50, hidden + " lanes were hidden");
});

test("what is painted is what is there, however far a log reaches beyond the screen", () => {
  const width = 100, start = [0, 4e15, 6e15], end = [3e15, 5e15, 9e15], one = { start, end, site: [0, 1, 2], launch: [0, 0, 0], n: 3 };
  for (const [t0, size] of [[0, 9e15], [2.9e15, 2e14], [1e15, 10], [4.5e15, 1e6], [3.5e15, 10], [6e15 - 50, 100], [6e15 - 1, 1e9]]) {
    const pixels = new Uint32Array(width * 3), k = width / size;
    paintLane(pixels, width, width, one, t0, k, [7, 8, 9], Infinity, () => {});
    for (let x = 0; x < width; x++) {
      const from = t0 + x / k, to = t0 + (x + 1) / k, i = start.findIndex((s, n) => s <= from && end[n] >= to);
      if (i >= 0) assert.equal(pixels[width + x], 7 + i, size + " from " + t0 + ", pixel " + x);
      if (!start.some((s, n) => s < to && end[n] >= from)) assert.equal(pixels[width + x], 0);
    }
    assert.ok(pixels.subarray(0, width).every((p) => p === 0) && pixels.subarray(2 * width).every((p) => p === 0));
  }
  /* Of several in one pixel it is the first, and one that begins there is not lost behind a longer one. */
  const pixels = new Uint32Array(10);
  paintLane(pixels, 0, 10, { start: [10, 12, 14], end: [11, 13, 50], site: [0, 1, 2], launch: [0, 0, 0], n: 3 }, 0, 0.1, [7, 8, 9], Infinity, () => {});
  assert.deepEqual([...pixels], [0, 7, 9, 9, 9, 0, 0, 0, 0, 0]);
});

test("names can be read on every colour, in light and dark", async () => {
  const sites = Array.from({ length: 30 }, (_, i) => [(i % 3 ? "zone " : "wait ") + i, "", i, i < 3 ? i : 0]);
  const model = await loadModel(...blocks({ sites }, []));
  for (const dark of [false, true]) {
    setColours(model, dark);
    for (const colour of [...theme.css]) assert.ok(contrast(inkOn(colour), colour) >= 4.5, colour);
    for (const ink of [theme.colours.ink, theme.colours.faint])
      for (const ground of [theme.colours.page, theme.colours.band]) assert.ok(contrast(ink, ground) >= 4.5, ink + " on " + ground);
  }
});

test("shares are of the firmware's time, or of the kernel's where firmware zones were lost", () => {
  const row = (chip, risc, role, count, sum) => ({ chip, risc, role, count, sum, share: 0 });
  const shares = (...rows) => (giveShares(rows), rows.map((r) => Math.round(r.share)));
  assert.deepEqual(shares(row(0, "BRISC", 1, 4, 2000), row(0, "BRISC", 2, 4, 1000), row(0, "BRISC", 0, 8, 500)), [100, 50, 25]);
  assert.deepEqual(shares(row(0, "BRISC", 2, 4, 1000), row(0, "BRISC", 0, 8, 500)), [100, 50]);
  assert.deepEqual(shares(row(0, "BRISC", 1, 3, 1500), row(0, "BRISC", 2, 4, 1000)), [150, 100]);
  assert.deepEqual(shares(row(0, "BRISC", 1, 4, 400), row(0, "BRISC", 2, 4, 1000)), [40, 100]);
  assert.deepEqual(shares(row(0, "A", 1, 1, 100), row(1, "A", 1, 1, 200), row(1, "A", 0, 1, 50), row(2, "A", 0, 1, 50)), [100, 100, 25, 0]);
});
