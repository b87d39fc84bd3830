/* The list of logs: filter, order, and which of two is the old one. `node --test`. */
import assert from "node:assert/strict";
import { test } from "node:test";

import { COLUMNS, compared, filtered, kindOf, sorted } from "../../page/list.js";

const LOGS = [
  { id: "1", name: "b/profile_log_device.csv.pack", bytes: 5, time_ms: 30, launches: 7, lost: 0 },
  { id: "2", name: "a/capture.devlog", capture: true, bytes: 50, time_ms: 10 },
  { id: "3", name: "a/ops_perf_results.csv", report: true, bytes: 1, time_ms: 20, ops: 100, lost: 2 },
  { id: "4", name: "c/profile_log_device.csv", bytes: 5, time_ms: 30, launches: 7, lost: 0 },
];
const LABELS = { 2: "Base line", 4: "after" };
const ids = (logs) => logs.map((l) => l.id).join("");

test("every word of the filter is in a name, a kind or a label", () => {
  assert.equal(ids(filtered(LOGS, "", LABELS)), "1234");
  assert.equal(ids(filtered(LOGS, "CAPTURE  base", LABELS)), "2");
  assert.equal(ids(filtered(LOGS, "packed", LABELS)), "1");
  assert.equal(ids(filtered(LOGS, "lost", LABELS)), "3");
  assert.equal(ids(filtered(LOGS, "report", LABELS)), "3");
  assert.equal(ids(filtered(LOGS, "a/ zzz", LABELS)), "");
  assert.deepEqual(LOGS.map(kindOf), ["packed log", "capture", "op report", "device log"]);
});

test("what is not known is behind the others, whichever way; equal ones stay", () => {
  const by = (key, up) => ids(sorted(LOGS, { key, up }, LABELS));
  assert.equal(by("launches", true), "1432");
  assert.equal(by("launches", false), "3142");
  assert.equal(by("time_ms", false), "1432");
  assert.equal(by("label", true), "2413");
  assert.equal(by("name", true), "2314");
  for (const { key } of COLUMNS) assert.equal(sorted(LOGS, { key, up: true }, LABELS).length, 4);
});

test("of two the older one is the old one", () => {
  assert.equal(compared(LOGS, new Set(["1"])), null);
  assert.equal(compared(LOGS, new Set(["1", "2", "3"])), null);
  assert.equal(ids(compared(LOGS, new Set(["1", "2"]))), "21");
  assert.equal(compared(LOGS, new Set(["1", "gone"])), null);
});
