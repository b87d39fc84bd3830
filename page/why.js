/* Who waited for whom, in words: from the table of waits (`devlog causes`), one row for each RISC, cause and ender, the most
 * cycles first. Not for one launch: its path says that. */

import { grouped } from "./format.js";

/* The RISCs behind a wait: who ended it, for whom that one waited most itself, and so on, until one did not wait or comes again.
 * Where nobody knows who ended a wait `by` says why, in words. */
export function chainOf(rows, row) {
  const chain = [], seen = new Set([row.risc]);
  for (let at = row; at && at.by && !at.by.includes(" ") && !seen.has(at.by); ) {
    const by = at.by;
    chain.push(by);
    seen.add(by);
    at = rows.filter((r) => r.risc === by).sort((a, b) => b.cycles - a.cycles)[0];
  }
  return chain;
}

/* "ended by TRISC_2, which waited most for TRISC_1, that for BRISC" */
export function chainText(rows, row) {
  const [first, ...rest] = chainOf(rows, row);
  if (!first) return row.by || "";
  return "ended by " + first + rest.map((risc, i) => (i ? ", that for " : ", which waited most for ") + risc).join("");
}

/* Where the longest of a row's waits was. */
export function longestText(row) {
  return "the longest " + grouped(row.longest) + " cycles" + (row.longest_core ? ", on core " + row.longest_core : "") + ", in launch " + row.longest_launch;
}
