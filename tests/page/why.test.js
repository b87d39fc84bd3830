/* Who waited for whom, in words. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { chainOf, chainText, longestText } from "../../page/why.js";

const row = (risc, by, cycles, more) => ({ risc, by, cycles, why: "buffer empty", count: 1, longest: 2050, longest_core: "1,1", longest_launch: 2, ...more });

test("a chain goes on by whom each waited for most, and ends where one comes again or did not wait", () => {
  const rows = [row("NCRISC", "TRISC_2", 500), row("TRISC_2", "TRISC_1", 300), row("TRISC_2", "NCRISC", 400), row("TRISC_1", "BRISC", 1)];
  assert.deepEqual(chainOf(rows, rows[0]), ["TRISC_2"]);
  rows[2].cycles = 200;
  assert.deepEqual(chainOf(rows, rows[0]), ["TRISC_2", "TRISC_1", "BRISC"]);
  assert.equal(chainText(rows, rows[0]), "ended by TRISC_2, which waited most for TRISC_1, that for BRISC");
  assert.equal(chainText(rows, rows[3]), "ended by BRISC");
});

test("where nobody knows who ended it, the words of the table stand", () => {
  const rows = [row("NCRISC", "unknown: no record of who gave it", 5), row("BRISC", "", 4), row("TRISC_0", "NCRISC", 3)];
  assert.equal(chainText(rows, rows[0]), "unknown: no record of who gave it");
  assert.equal(chainText(rows, rows[1]), "");
  assert.deepEqual(chainOf(rows, rows[2]), ["NCRISC"]);
});

test("the longest wait has its place", () => {
  assert.equal(longestText(row("BRISC", "", 4)), "the longest 2,050 cycles, on core 1,1, in launch 2");
  assert.equal(longestText(row("BRISC", "", 4, { longest_core: "" })), "the longest 2,050 cycles, in launch 2");
});
