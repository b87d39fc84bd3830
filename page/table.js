/* The table of statistics: exact figures of the whole log, as the decoder computed them. A click on a row
 * chooses that zone on that RISC for the histogram and the heat map, and brings it out in the timeline. */

import { ROLE_USER } from "./data.js";
import { copyButtons } from "./copy.js";
import { byId, make } from "./dom.js";
import { grouped } from "./format.js";
import { isFound, showHistogram } from "./findzone.js";
import { offerHeat } from "./heatmap.js";
import { refreshColours, search } from "./search.js";
import { swatch } from "./select.js";
import { giveShares } from "./shares.js";
import { timeline } from "./timeline.js";

const COLUMNS = [
  { key: "name", title: "zone" },
  { key: "risc", title: "RISC" },
  { key: "count", title: "count", number: true },
  { key: "sum", title: "total", number: true, time: true },
  { key: "share", title: "share", number: true, hint: "of the time of this RISC in its firmware zone, or in its kernel where firmware zones were lost" },
  { key: "average", title: "avg", number: true, time: true },
  { key: "min", title: "min", number: true, time: true },
  { key: "median", title: "median", number: true, time: true },
  { key: "p95", title: "p95", number: true, time: true },
  { key: "max", title: "max", number: true, time: true },
];
export const table = { rows: [], sort: "sum", up: false, chosen: null, shown: 300, lines: new Map() /* what is drawn, by row */, names: null /* to which search narrowed it */ };

function readStatistics(model) {
  table.rows = model.meta.statistics.map(([chip, risc, name, role, count, sum, min, max, average, median, p95, p99]) => ({
    chip, risc, name, role, count, sum, min, max, average, median, p95, p99, share: 0,
  }));
  giveShares(table.rows);
}

/* Where a row of the table is of: its RISC, and its chip where there are several. */
export function rowPlace(row) {
  const { usedChips, chips } = timeline.model;
  return row.risc + (usedChips.size > 1 ? " of " + chips[row.chip].title : "");
}

export function cell(row, column) {
  const value = row[column.key];
  if (column.key === "share") {
    const bar = make("td", { class: "n share" }, value ? value.toFixed(1) + " %" : "");
    bar.style.setProperty("--part", Math.min(100, value) + "%");
    return bar;
  }
  if (!column.number) return make("td", {}, String(value).slice(0, 200));
  const khz = timeline.model.chips[row.chip].khz;
  const inTime = column.time && timeline.unit === "time" && khz;
  return make("td", { class: "n" }, grouped(inTime ? (value * 1e6) / khz : value));
}

function tableRow(model, row) {
  const site = model.sites.find((s) => s.name === row.name);
  const line = make("tr", { tabindex: "-1", "aria-selected": row === table.chosen ? "true" : "false", class: row.role === ROLE_USER ? "" : "quiet" });
  for (const column of COLUMNS) {
    const td = cell(row, column);
    if (column.key === "name") {
      td.title = row.name.slice(0, 1000);
      if (site) td.prepend(swatch(site));
    }
    line.append(td);
  }
  if (model.usedChips.size > 1) line.firstChild.append(make("span", { class: "faint" }, " " + model.chips[row.chip].title));
  line.addEventListener("click", () => chooseRow(row === table.chosen ? null : row));
  return line;
}

/* All rows of it, as they are sorted, not only those that are drawn. */
function copiedRows() {
  const { model } = timeline, several = model.usedChips.size > 1;
  return { names: [...(several ? ["chip"] : []), ...COLUMNS.map((c) => c.title + (c.time ? " (cycles)" : c.key === "share" ? " (%)" : ""))],
    rows: sortedRows().map((r) => [...(several ? [model.chips[r.chip].id] : []), ...COLUMNS.map((c) => r[c.key])]) };
}

function sortedRows() {
  const by = COLUMNS.find((c) => c.key === table.sort), rows = table.rows.filter((r) => !search.names || search.names.has(r.name));
  return rows.sort((a, b) => {
    const order = by.number ? a[by.key] - b[by.key] : a[by.key] < b[by.key] ? -1 : a[by.key] > b[by.key] ? 1 : 0;
    return table.up ? order : -order;
  });
}

export function showTable() {
  const model = timeline.model, by = COLUMNS.find((c) => c.key === table.sort);
  const rows = sortedRows();
  const head = make("tr", {});
  for (const column of COLUMNS) {
    const unit = column.time ? (timeline.unit === "time" ? " ns" : " cyc") : "";
    const button = make("button", { type: "button" }, column.title + unit);
    const th = make("th", { scope: "col", class: column.number ? "n" : "", title: column.hint, "aria-sort": column === by ? (table.up ? "ascending" : "descending") : undefined }, button);
    button.addEventListener("click", () => {
      table.up = table.sort === column.key ? !table.up : !column.number;
      table.sort = column.key;
      showTable();
    });
    head.append(th);
  }
  table.names = search.names;
  table.lines = new Map(rows.slice(0, table.shown).map((r) => [r, tableRow(model, r)]));
  const body = make("tbody", {}, ...table.lines.values());
  const left = model.meta.all_statistics - table.rows.length;
  if (rows.length > table.shown || left > 0)
    body.append(make("tr", { class: "faint" }, make("td", { colspan: COLUMNS.length },
      "and " + grouped(rows.length - Math.min(rows.length, table.shown) + left) + " more: search narrows the table; device_stats.txt has all")));
  byId("table").replaceChildren(make("caption", {}, copyButtons(copiedRows)), make("thead", {}, head), body);
}

/* All that changes of the table when another row is chosen. */
function markRow(row) {
  const [was, is] = [table.lines.get(table.chosen), table.lines.get(row)];
  if (was) was.setAttribute("aria-selected", "false");
  if (is) is.setAttribute("aria-selected", "true");
  table.chosen = row;
}

export function chooseRow(row) {
  markRow(row);
  showHistogram();
  offerHeat();
  refreshColours();
}

/* A zone was picked in the timeline, on this RISC of a chip. */
function chooseSite(site, { chip, risc }) {
  const row = table.rows.find((r) => r.name === site.name && r.risc === risc && r.chip === chip);
  if (!row || row === table.chosen || isFound(row)) return;
  markRow(row);
  showHistogram();
  offerHeat();
  const line = table.lines.get(row);
  if (line) line.scrollIntoView({ block: "nearest" });
}

export function startTable(model) {
  readStatistics(model);
  timeline.chosen = chooseSite;
  byId("table-box").addEventListener("keydown", (event) => {
    const step = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
    if (!step) return;
    event.preventDefault();
    event.stopPropagation();
    const lines = [...byId("table").querySelectorAll("tbody tr[aria-selected]")];
    const at = lines.findIndex((l) => l.getAttribute("aria-selected") === "true");
    const next = lines[Math.max(0, Math.min(lines.length - 1, at + step))];
    if (!next) return;
    next.click();
    const chosen = byId("table").querySelector("[aria-selected=true]");
    if (chosen) chosen.scrollIntoView({ block: "nearest" });
  });
  const user = table.rows.filter((r) => r.role === ROLE_USER);
  const most = (user.length ? user : table.rows).reduce((a, b) => (!a || b.sum > a.sum ? b : a), null);
  table.chosen = null;
  table.suggested = most;
  showTable();
}
