/* Tables as text, to paste them elsewhere: CSV (RFC 4180) or Markdown. */

import { make } from "./dom.js";
import { say } from "./say.js";

function csvCell(value) {
  const text = value === null || value === undefined ? "" : String(value);
  return /[",\r\n]/.test(text) ? '"' + text.replaceAll('"', '""') + '"' : text;
}

function markdownCell(value) {
  const text = value === null || value === undefined ? "" : String(value);
  return text.replaceAll("\\", "\\\\").replaceAll("|", "\\|").replace(/\r?\n/g, " ");
}

/* names: of columns; rows: values of each. */
export function tableText(names, rows, format) {
  if (format === "csv") return [names, ...rows].map((r) => r.map(csvCell).join(",")).join("\r\n") + "\r\n";
  const line = (cells) => "| " + cells.map(markdownCell).join(" | ") + " |";
  const right = names.map((_, i) => rows.length > 0 && rows.every((r) => r[i] === null || r[i] === undefined || typeof r[i] === "number" || typeof r[i] === "bigint"));
  return [line(names), "|" + right.map((r) => (r ? " ---: " : " --- ")).join("|") + "|", ...rows.map(line)].join("\n") + "\n";
}

/* What a table of the page shows. */
export function shownText(table) {
  const rows = [...table.rows].map((r) => [...r.cells].map((c) => c.innerText.trim().replace(/\s+/g, " ")));
  const head = table.tHead ? 1 : 0;
  return { names: rows[0] || [], rows: rows.slice(head || 1) };
}

/* Where a page may not write to the clipboard, a text that is selected can be copied all the same. */
function copyOldWay(text) {
  const box = make("textarea", { class: "away" });
  box.value = text;
  document.body.append(box);
  const before = /** @type {any} */ (document.activeElement);
  box.select();
  const done = document.execCommand("copy");
  box.remove();
  if (before) before.focus();
  return done;
}

export const copied = { text: "" }; /* the last */

export async function copy(text) {
  copied.text = text;
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    if (!copyOldWay(text)) return say("the browser does not let this page copy");
  }
  say("copied, " + (text.split("\n").length - 2) + " rows");
}

/* Two buttons; get() is { names, rows }. */
export function copyButtons(get) {
  return make("span", { class: "copy" }, ...[["csv", "CSV"], ["md", "Markdown"]].map(([format, name]) => {
    const button = make("button", { type: "button", title: "Copy this table as " + name }, "copy " + name);
    button.addEventListener("click", () => {
      const { names, rows } = get();
      copy(tableText(names, rows, format));
    });
    return button;
  }));
}
