/* What `devlog report` and `devlog causes` say of the run: their own JSON (share/devlog/schema), as host/cli/page_answers.c
 * put it into the page. Nothing is worked out here. */

import { inflate } from "./data.js";
import { duration, grouped } from "./format.js";

/* `made`: there is no op report, and each launch stands for an op. */
export const answers = { all: {}, notes: [], made: true };

export async function readAnswers(text) {
  if (!text) return;
  answers.all = JSON.parse(new TextDecoder().decode(await inflate(text)));
  answers.notes = answers.all.notes || [];
  answers.made = answers.all.made !== false;
}

/* A section with something in it; null: there is none. */
export function section(of, key) {
  const found = answers.all[of] && answers.all[of].sections[key];
  return found && (found.facts || found.rows.length) ? found : null;
}

export function fact(key) {
  const verdict = section("report", "verdict"), found = verdict && verdict.facts[key];
  return found && found.value !== null ? found : null;
}

/** @type {[number, string][]} */
const SCALES = [[1e12, "T"], [1e9, "G"], [1e6, "M"], [1e3, "k"]];

function scaled(value, unit) {
  const [by, name] = SCALES.find(([by]) => Math.abs(value) >= by) || /** @type {[number, string]} */ ([1, ""]);
  return grouped(value / by) + " " + name + unit;
}

/* A cell of an answer as people read it; "" where nobody knows. */
export function unitText(value, unit) {
  if (value === null || value === undefined) return "";
  switch (unit) {
    case "ns": return duration(value);
    case "cycles": return grouped(value) + (value === 1 ? " cycle" : " cycles");
    case "percent": return (Math.abs(value) < 10 ? value.toFixed(2) : value.toFixed(1)) + " %";
    case "bytes": return scaled(value, "B");
    case "bytes/s": return scaled(value, "B/s");
    case "flops": return scaled(value, "FLOP");
    case "flops/s": return scaled(value, "FLOP/s");
    case "MHz": return grouped(value) + " MHz";
    case "ratio": return Number(value.toPrecision(4)).toString();
    case "count": return grouped(value);
    default: return String(value);
  }
}
