/* Two runs beside one another: what belongs to what, by how much it differs, and which part of the one axis belongs to a part of the
 * other. `node --test`. */
import assert from "node:assert/strict";
import { test } from "node:test";

import { aligned, change, classOf, matched } from "../../page/align.js";
import { numbers } from "./blocks.js";

function run(next, n) {
  let t = 0;
  return Array.from({ length: n }, () => {
    const start = (t += next(50)), end = (t += 1 + next(100));
    return { key: "op " + next(4), start, end };
  });
}

test("each op of both runs is in one pair, with the op of its key and place", () => {
  const next = numbers(3);
  for (let round = 0; round < 200; round++) {
    const old = run(next, next(30)), now = run(next, next(30)), pairs = matched(old, now);
    assert.deepEqual(pairs.filter((p) => p.a).map((p) => p.a), old);
    assert.deepEqual(new Set(pairs.filter((p) => p.b).map((p) => p.b)), new Set(now));
    assert.equal(pairs.filter((p) => p.b).length, now.length);
    for (const { key, a, b } of pairs) {
      if (a && b) assert.equal(old.filter((o) => o.key === key).indexOf(a), now.filter((o) => o.key === key).indexOf(b));
      if (!a) assert.ok(old.filter((o) => o.key === key).length < now.filter((o) => o.key === key).length);
      if (!b) assert.ok(now.filter((o) => o.key === key).length < old.filter((o) => o.key === key).length);
    }
  }
});

test("the diff's verdict goes before what a pair looks like; units of axes may differ", () => {
  const one = { a: { start: 0, end: 100 }, b: { start: 7, end: 67 } };
  assert.equal(change(one, 1), -40);
  assert.equal(change(one, 2).toFixed(6), "20.000000");
  assert.equal(classOf(one, "undecided", 1), "perhaps faster");
  assert.equal(classOf(one, "same", 2), "perhaps slower");
  assert.equal(classOf(one, "slower", 1), "slower");
  assert.equal(classOf({ a: one.a, b: { start: 0, end: 104 } }, "undecided", 1), "same");
  assert.equal(classOf({ a: null, b: one.b }, "slower", 1), "new");
  assert.equal(classOf({ a: one.a, b: null }, "faster", 1), "gone");
  assert.equal(change({ a: { start: 5, end: 5 }, b: one.b }, 1), null);
});

test("the pair at the middle of the screen lies at the same place of both, at the same scale", () => {
  const next = numbers(9);
  for (let round = 0; round < 300; round++) {
    const pairs = matched(run(next, 20), run(next, 20)), both = pairs.filter((p) => p.a && p.b), scale = [1, 2, 0.5][next(3)];
    if (!both.length) continue;
    const { a, b } = both[next(both.length)], half = 1 + next(300), middle = (a.start + a.end) / 2;
    const [from, to] = aligned(pairs, "a", [middle - half, middle + half], scale);
    assert.ok(Math.abs(to - from - 2 * half * scale) < 1e-6);
    assert.ok(Math.abs(b.start - from - (a.start - middle + half) * scale) < 1e-6);
  }
  assert.deepEqual(aligned([], "b", [10, 30], 2), [20, 60]);
  assert.deepEqual(aligned([{ a: { start: 1, end: 2 }, b: null }], "a", [0, 4], 1), [0, 4]);
});
