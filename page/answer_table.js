/* A table of an answer: sorted, filtered, with the columns that were chosen, which the browser keeps. Not for what a click on
 * a row does: its caller says that. */

import { unitText } from "./answers.js";
import { copyButtons } from "./copy.js";
import { make } from "./dom.js";
import { grouped } from "./format.js";

const SHOWN = 300; /* rows; more would only be scrolled over */
const states = new Map(); /* by the table's id */

function kept(id) {
  try {
    return JSON.parse(localStorage.getItem("devlog " + id) || "[]");
  } catch {
    return []; /* a browser that keeps nothing */
  }
}

function keep(id, hidden) {
  try {
    localStorage.setItem("devlog " + id, JSON.stringify([...hidden]));
  } catch {
    /* then they are chosen anew the next time */
  }
}

export function tableState(id) {
  if (!states.has(id)) states.set(id, { sort: null, up: false, text: "", hidden: new Set(kept(id)), chosen: null });
  return states.get(id);
}

/* Rows that have the text in one of their texts, in the order that was asked for. */
export function arranged(section, state) {
  const words = state.text.toLowerCase().split(/\s+/).filter(Boolean);
  const rows = section.rows.filter((r) => words.every((w) => Object.values(r).some((v) => typeof v === "string" && v.toLowerCase().includes(w))));
  if (state.sort === null || !section.columns.some((c) => c.key === state.sort)) return rows;
  const key = state.sort, by = state.up ? 1 : -1;
  return rows.sort((a, b) => {
    const x = a[key], y = b[key];
    if (x === null || y === null) return (x === null ? 1 : 0) - (y === null ? 1 : 0); /* what is not known is last */
    return x < y ? -by : x > y ? by : 0;
  });
}

/* Where a key says too little by itself. */
const TITLES = { by: "ended by", on_path: "on the path", why: "waited for", longest_core: "on core", longest_launch: "in launch", saves_share: "saves %" };

export function columnTitle(key) {
  return TITLES[key] || key.replaceAll("_", " ");
}

function isNumber(column) {
  return column.unit !== null;
}

function shareCell(text, part) {
  const bar = make("td", { class: "n share" }, text);
  bar.style.setProperty("--part", Math.max(0, Math.min(100, part || 0)) + "%");
  return bar;
}

function cellOf(row, column) {
  const value = row[column.key], unit = (column.key === "value" || column.unit === "own") && typeof row.unit === "string" ? row.unit : column.unit;
  const text = unitText(value, unit);
  if (column.unit === "percent") return shareCell(text, value);
  if (isNumber(column)) return make("td", { class: "n" }, text);
  return make("td", { title: text.length > 40 ? text.slice(0, 2000) : undefined }, text.slice(0, 200));
}

function line(row, columns, state, options) {
  const tr = make("tr", options.click ? { tabindex: "0", "aria-selected": String(row === state.chosen) } : {}, ...columns.map((c) => cellOf(row, c)));
  if (options.mark) tr.dataset.kind = options.mark(row);
  if (!options.click) return tr;
  const act = () => {
    state.chosen = row;
    options.click(row);
  };
  tr.addEventListener("click", act);
  tr.addEventListener("keydown", (event) => {
    const step = event.key === "ArrowDown" ? "nextElementSibling" : event.key === "ArrowUp" ? "previousElementSibling" : "";
    if (event.key === "Enter") act();
    else if (step && tr[step]) /** @type {any} */ (tr[step]).focus();
    else return;
    event.preventDefault();
    event.stopPropagation();
  });
  return tr;
}

/* options: { id, label, skip: [keys], click(row), mark(row), changed(), all: who has those that are not shown }; `changed` draws it again, `mark` says which kind a row is. A
 * column whose unit is "own" has that of its row. */
export function answerTable(section, options) {
  const state = tableState(options.id), skip = options.skip || [];
  const known = section.columns.filter((c) => !skip.includes(c.key) && section.rows.some((r) => r[c.key] !== null));
  const columns = known.filter((c) => !state.hidden.has(c.key)), rows = arranged(section, state);
  const head = make("tr", {}, ...columns.map((column) => {
    const sorted = state.sort === column.key, button = make("button", { type: "button" }, columnTitle(column.key));
    button.addEventListener("click", () => {
      state.up = sorted ? !state.up : !isNumber(column);
      state.sort = column.key;
      options.changed();
    });
    return make("th", { scope: "col", class: isNumber(column) ? "n" : "", "aria-sort": sorted ? (state.up ? "ascending" : "descending") : undefined }, button);
  }));
  const body = make("tbody", {}, ...rows.slice(0, SHOWN).map((r) => line(r, columns, state, options)));
  const left = rows.length - Math.min(rows.length, SHOWN) + (section.more || 0);
  if (left) body.append(make("tr", { class: "faint" }, make("td", { colspan: columns.length }, "and " + grouped(left) + " more: " + (options.all || "devlog report has all"))));
  if (!rows.length) body.append(make("tr", { class: "faint" }, make("td", { colspan: Math.max(1, columns.length) }, "nothing has this text")));
  return make("table", { class: "answer", "aria-label": options.label }, make("thead", {}, head), body);
}

/* What stands above such a table: a filter, and which columns there are. */
export function tableBar(section, options) {
  const state = tableState(options.id);
  const text = make("input", { type: "search", placeholder: "filter", value: state.text, "aria-label": "Filter " + options.label });
  text.addEventListener("input", () => {
    state.text = text.value;
    options.changed();
  });
  text.addEventListener("keydown", (event) => event.stopPropagation());
  const menu = make("div", { class: "menu" }, ...section.columns.map((c) => {
    const box = make("input", { type: "checkbox" });
    box.checked = !state.hidden.has(c.key);
    box.addEventListener("change", () => {
      if (box.checked) state.hidden.delete(c.key);
      else state.hidden.add(c.key);
      keep(options.id, state.hidden);
      options.changed();
    });
    return make("label", {}, box, columnTitle(c.key));
  }));
  const copied = () => {
    const columns = section.columns.filter((c) => !state.hidden.has(c.key) && section.rows.some((r) => r[c.key] !== null));
    return { names: columns.map((c) => columnTitle(c.key) + (c.unit && c.unit !== "count" ? " (" + c.unit + ")" : "")), rows: arranged(section, state).map((r) => columns.map((c) => r[c.key])) };
  };
  return [text, copyButtons(copied), make("details", { class: "columns" }, make("summary", {}, "columns"), menu)];
}

/* A section as it is: heading, table, notes. */
export function sectionBlock(found, options) {
  const box = make("div", { class: "block" });
  const draw = () => {
    const at = box.querySelector("table");
    const table = answerTable(found, { ...options, changed: draw });
    if (at) at.replaceWith(make("div", {}, table).firstChild);
    return table;
  };
  const title = options.title || found.title.charAt(0) + found.title.slice(1).toLowerCase();
  const columns = found.columns.filter((c) => found.rows.some((r) => r[c.key] !== null)), names = columns.map((c) => columnTitle(c.key) + (c.unit && c.unit !== "count" ? " (" + c.unit + ")" : ""));
  const copied = () => ({ names, rows: arranged(found, tableState(options.id)).map((r) => columns.map((c) => r[c.key])) });
  /* What terms mean is under a table, and over one that is so long that nobody would see it there. */
  const notes = (found.notes || []).map((n) => make("p", { class: "faint" }, n)), table = make("div", { class: "wide" }, draw());
  box.append(make("h2", {}, title, " ", copyButtons(copied)), ...(found.rows.length > 12 ? [...notes, table] : [table, ...notes]));
  return box;
}
