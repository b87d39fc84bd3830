/* The form of addresses, the order of rows, copied tables and two fingers. `node --test`. */
import assert from "node:assert/strict";
import { test } from "node:test";

import { tableText } from "../../page/copy.js";
import { decode, decodeMarks, decodeNumbers, decodeRange, encode, encodeMarks, joinedMarks, KEYS, MOST, shortened } from "../../page/link.js";
import { isPinned, moveCore, order, orderText, setOrder, shownCores, togglePin } from "../../page/order.js";
import { matcher } from "../../page/search.js";
import { pinchedView } from "../../page/touch.js";
import { numbers } from "./blocks.js";

const TEXTS = ["", "a b", "50 % & = ? # + ~ ; ,", "\u{1f525} <b>", "x".repeat(300), "%41", "a\nb"];

test("an address says what it was made of, whatever texts are in it", () => {
  const next = numbers(4);
  for (let round = 0; round < 300; round++) {
    const parts = {};
    for (const key of KEYS) if (next(2)) parts[key] = TEXTS[next(TEXTS.length)];
    const back = decode(encode({ tab: "zones", parts }));
    assert.equal(back.tab, "zones");
    for (const key of KEYS) assert.equal(back.parts[key] || "", parts[key] || "");
    const marks = Array.from({ length: next(5) }, () => ({ t: next(1e9) / 8, text: TEXTS[next(TEXTS.length)] }));
    const again = decodeMarks(decode(encode({ tab: "time", parts: { m: encodeMarks(marks) } })).parts.m);
    assert.deepEqual(again, marks);
  }
});

test("what is no address is no failure, and a long one is cut to what browsers keep", () => {
  for (const text of ["", "?", "ops?v", "ops?v=%E0%A4", "ops?x=1&v=2", "?=&&=&v==", "%"]) assert.ok(typeof decode(text).tab === "string");
  assert.deepEqual(decode("ops?x=1&v=2").parts, { v: "2" });
  assert.equal(decodeRange("5"), null);
  assert.equal(decodeRange("9,5"), null);
  assert.equal(decodeRange("1,zwei"), null);
  assert.deepEqual(decodeRange("-1.5,2"), [-1.5, 2]);
  assert.deepEqual(decodeNumbers("3,x,-1,99,3,1.5,0", 10), [3, 0]);
  assert.deepEqual(decodeMarks("x;1;~a;2~b;%~c;3~%E0"), [{ t: 0, text: "a" }, { t: 2, text: "b" }]);
  const long = shortened(encode({ tab: "time", parts: { v: "1,2", q: "x".repeat(MOST) } }));
  assert.ok(long.length <= MOST && decode(long).parts.v === "1,2");
});

test("of bookmarks an address has as many as fit; halves of characters are none, two lists are one", () => {
  const marks = Array.from({ length: 60 }, (_, t) => ({ t, text: (t + " \u4e2d; 50 % ~").repeat(40).slice(0, 480) }));
  const short = shortened(encode({ tab: "time", parts: { v: "1,2", c: "pw", m: encodeMarks(marks) } })), { tab, parts } = decode(short), fit = decodeMarks(parts.m);
  assert.ok(short.length <= MOST && short.length > MOST - 2000, String(short.length));
  assert.deepEqual([tab, parts.v, parts.c], ["time", "1,2", "pw"]);
  assert.deepEqual(fit, marks.slice(0, fit.length));
  assert.equal(shortened(short), short);
  assert.deepEqual(decodeMarks(decode(encode({ tab: "time", parts: { m: encodeMarks([{ t: 1, text: "a\ud83d" }]), q: "\ud83d" } })).parts.m), [{ t: 1, text: "a\ufffd" }]);
  /* Links of older versions. */
  assert.deepEqual(decodeMarks("5~" + encodeURIComponent("50 %; a~b\u4e2d")), [{ t: 5, text: "50 %; a~b\u4e2d" }]);
  assert.deepEqual(joinedMarks([{ t: 1, text: "a" }, { t: 2, text: "b" }], [{ t: 2, text: "b" }, { t: 1, text: "c" }]).map((m) => m.t + m.text), ["1a", "2b", "1c"]);
});

test("rows that are pinned, moved, hidden: each is there once, pinned ones first, and all can be put back", () => {
  const cores = Array.from({ length: 12 }, (_, index) => ({ index, chip: index < 6 ? 0 : 1 })), model = { cores }, next = numbers(8);
  setOrder(model, [], 0, []);
  for (let i = 0; i < 2000; i++) {
    const core = cores[next(12)];
    [() => togglePin(model, core), () => moveCore(model, core, next(2) ? 1 : -1), () => order.hidden.add(core), () => order.hidden.delete(core)][next(4)]();
    const shown = shownCores(model);
    assert.equal(new Set(shown).size, shown.length);
    assert.equal(shown.length, 12 - order.hidden.size);
    const pinned = shown.map(isPinned);
    assert.ok(pinned.every((p, k) => !p || pinned.slice(0, k).every(Boolean)));
    /* Behind the pinned ones a chip's cores stay together. */
    const chips = shown.filter((c) => !isPinned(c)).map((c) => c.chip);
    assert.ok(chips.every((c, k) => !k || c >= chips[k - 1]), chips.join());
    const text = orderText(), before = shownCores(model).map((c) => c.index).join(), hidden = [...order.hidden].map((c) => c.index), pins = order.pinned;
    if (hidden.length === 12) continue;
    setOrder(model, decodeNumbers(text, 12), pins, hidden);
    assert.equal(shownCores(model).map((c) => c.index).join(), before);
  }
  setOrder(model, [], 0, []);
  togglePin(model, cores[7]);
  togglePin(model, cores[7]);
  assert.equal(order.list, null);
});

test("copied tables: quotes, bars and lines stay inside their cells", () => {
  const rows = [["a,\"b\"", 1, null], ["x|y\nz", 2.5, "\\"]];
  assert.equal(tableText(["name", "n", "why"], rows, "csv"), 'name,n,why\r\n"a,""b""",1,\r\n"x|y\nz",2.5,\\\r\n');
  assert.equal(tableText(["name", "n", "why"], rows, "md"), "| name | n | why |\n| --- | ---: | --- |\n| a,\"b\" | 1 |  |\n| x\\|y z | 2.5 | \\\\ |\n");
});

test("texts, and expressions between slashes", () => {
  assert.ok(matcher("CoM")("compute"));
  assert.ok(!matcher("/^com/")("welcome"));
  assert.ok(matcher("/(read|write) page$/")("Write page"));
  assert.equal(matcher("/(/"), null);
  assert.ok(matcher("kernels/k")("a/kernels/k.c"));
});

test("what two fingers touch stays under them", () => {
  const next = numbers(6);
  for (let round = 0; round < 200; round++) {
    const t0 = next(1000), t1 = t0 + 1 + next(5000), a = next(300), b = a + 20 + next(300), now = [next(300), 0];
    now[1] = now[0] + 20 + next(300);
    const [u0, u1] = pinchedView({ t0, t1, a, b }, now, 800), at = (x, v0, v1) => v0 + (x / 800) * (v1 - v0);
    assert.ok(Math.abs(at(a, t0, t1) - at(now[0], u0, u1)) < 1e-6 * (t1 - t0) + 1e-6);
    assert.ok(Math.abs(at(b, t0, t1) - at(now[1], u0, u1)) < 1e-6 * (t1 - t0) + 1e-6);
  }
});
