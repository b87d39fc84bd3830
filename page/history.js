/* The history of every op and zone of an archive (devlog archive page): a list of figures, and of the chosen one its runs, as a picture
 * and as a table with the same numbers. What changed is history_levels.js, the picture history_chart.js; the data are described in
 * host/archive/page.c. */

import { unitText } from "./answers.js";
import { answerTable, arranged, tableBar, tableState } from "./answer_table.js";
import { inflate } from "./data.js";
import { byId, make } from "./dom.js";
import { counted } from "./format.js";
import { chart, drawChart, startChart } from "./history_chart.js";
import { judged, likeliest, median } from "./history_levels.js";
import { startTheme } from "./theme.js";

const LIST = { id: "history-list", label: "Ops and zones", all: "filter them" }, RUNS = { id: "history-runs", label: "Runs of the chosen figure", all: "devlog archive history --top 0 has all" };
const LIST_COLUMNS = [["figure", null], ["of", null], ["last_change", "percent"], ["changed", null], ["with_run", "count"], ["newest", "own"], ["runs", "count"]].map(([key, unit]) => ({ key, unit }));
const RUN_COLUMNS = [["run", "count"], ["date", null], ["value", "own"], ["level", "own"], ["change", "percent"], ["min", "own"], ["max", "own"], ["count", "count"], ["commit", null], ["name", null], ["labels", null], ["host", null], ["board", null], ["lost", null]].map(([key, unit]) => ({ key, unit }));
const listed = { columns: LIST_COLUMNS, rows: [], more: 0 }, ofRuns = { columns: RUN_COLUMNS, rows: [], more: 0 };
const FIELDS = ["board", "host", "name"], SLICE_MS = 12;

/* data: as it is in the page; rows: one for each series, with what the runs that are wanted say of it. */
export const page = { data: null, runs: [], series: [], rows: [], wanted: new Map(), by: "run", chosen: null, at: -1, judging: null, tooFew: false, byHand: false };

function dateText(seconds) {
  const date = new Date(seconds * 1000);
  return isNaN(date.getTime()) ? "" : date.toISOString().slice(0, 19).replace("T", " ");
}

/* ---- Which runs --- */

function labelsOf(run) {
  return run.labels ? run.labels.split(",") : [];
}

function isWanted(run) {
  return [...page.wanted].every(([field, value]) => value === null || (field === "label" ? labelsOf(run).includes(value) : run[field] === value));
}

function cut(text, most) {
  return text.length > most ? text.slice(0, most - 1) + "…" : text;
}

/* Choices are numbers, so that a text of any kind is one. */
function choice(field, values, all) {
  const menu = make("select", { "aria-label": field }, ...(all ? [make("option", { value: "" }, "all")] : []), ...values.map((v, i) => make("option", { value: i }, v === null ? "unknown" : cut(v, 60))));
  const now = page.wanted.get(field);
  menu.value = now === null || now === undefined ? (all ? "" : "0") : String(values.indexOf(now));
  menu.addEventListener("change", () => {
    page.wanted.set(field, menu.value === "" ? null : values[Number(menu.value)]);
    select();
  });
  return make("label", {}, field + " ", menu);
}

/* Boards have no history in common: with several of them one is chosen, that of the newest run. */
function showFilters() {
  const { runs } = page, boxes = [], different = (field) => [...new Set(runs.map((r) => r[field]))].sort((a, b) => (a === null ? 1 : b === null ? -1 : a < b ? -1 : 1));
  for (const field of FIELDS) {
    const values = different(field);
    if (values.length < 2) continue;
    if (field === "board") page.wanted.set(field, runs[runs.length - 1].board);
    boxes.push(choice(field, values, field !== "board"));
  }
  const labels = [...new Set(runs.flatMap(labelsOf))].sort();
  if (labels.length) boxes.push(choice("label", labels, true));
  const axis = make("select", { "aria-label": "axis" }, make("option", { value: "run" }, "runs"), make("option", { value: "date" }, "dates"));
  axis.addEventListener("change", () => {
    page.by = axis.value;
    draw();
  });
  const spread = make("input", { type: "checkbox" });
  spread.checked = true;
  spread.addEventListener("change", () => {
    chart.spread = spread.checked;
    draw();
  });
  byId("filters").replaceChildren(...boxes, make("label", {}, "axis ", axis), make("label", {}, spread, " least and most"));
  byId("filters").addEventListener("submit", (event) => event.preventDefault());
}

/* What of each series is of runs that are wanted. */
function select() {
  const keep = page.runs.map(isWanted);
  page.rows = [];
  for (const series of page.series) {
    const at = [];
    series.runs.forEach((run, i) => keep[run] && at.push(i));
    if (!at.length) continue;
    const values = at.map((i) => series.values[i]);
    page.rows.push({ figure: series.name, of: series.kind, last_change: null, changed: null, with_run: null, newest: values[values.length - 1], runs: at.length, unit: series.unit, series, at, values, changes: [] });
  }
  page.shown = keep.filter(Boolean).length;
  const old = page.chosen;
  page.chosen = (old && page.rows.find((r) => r.series === old.series)) || null;
  page.at = -1;
  showList();
  showOne();
  judge();
}

/* ---- What has changed: in slices, so that the page answers meanwhile --- */

function leastOf(n) {
  let p = 2;
  for (let i = 1, half = Math.floor(n / 2); i <= half; i++) p *= i / (n - half + i);
  return Math.min(1, p);
}

async function judge() {
  const token = (page.judging = {}), { rows } = page, alpha = 1 - page.data.confidence / 100, likely = [];
  document.documentElement.dataset.judged = "no";
  for (let i = 0; i < rows.length; ) {
    const until = performance.now() + SLICE_MS;
    while (i < rows.length && performance.now() < until) likely.push(likeliest(rows[i++].values));
    if (i < rows.length) showFacts(Math.floor((100 * i) / rows.length));
    await new Promise((done) => setTimeout(done, 0));
    if (page.judging !== token) return;
  }
  judged(rows.map((r) => r.values), likely, alpha, page.data.least).forEach((changes, i) => {
    const row = rows[i], last = changes[changes.length - 1], run = last && page.runs[row.series.runs[row.at[last.at]]];
    row.changes = changes;
    if (last) Object.assign(row, { last_change: last.percent, changed: run.date_text, with_run: run.id });
  });
  page.tooFew = page.shown > 1 && leastOf(Math.min(page.shown, 50)) * (page.shown - 1) * rows.length > alpha;
  showFacts(null);
  showList();
  const [top] = arranged(listed, tableState(LIST.id)); /* what changed last, until somebody chooses */
  if (top && (!page.byHand || !page.chosen)) show(top);
  else showOne();
  document.documentElement.dataset.judged = "yes";
}

function showFacts(progress) {
  const changed = page.rows.filter((r) => r.changes.length), slower = changed.filter((r) => r.last_change > 0).length;
  const texts = [page.shown === page.runs.length ? counted(page.shown, "run") : page.shown + " of " + counted(page.runs.length, "run"), counted(page.rows.length, "figure")];
  if (progress !== null) texts.push("looking for changes: " + progress + " %");
  else texts.push(changed.length ? changed.length + " changed, " + slower + " slower now" : "no change that is more than chance");
  if (progress === null && page.tooFew) texts.push("too few runs to tell a change of any of so many figures from chance");
  byId("facts").replaceChildren(...texts.map((t) => make("li", {}, t)));
}

/* ---- The list --- */

function kindOfChange(percent) {
  return percent > 0 ? "slower" : percent < 0 ? "faster" : "";
}

/* A table anew; who had the focus in it, has it again. */
function replaceTable(id, table) {
  const box = byId(id), inside = document.activeElement && document.activeElement !== box && box.contains(document.activeElement);
  box.replaceChildren(table);
  const row = inside && box.querySelector("tr[aria-selected='true']");
  if (row) row.focus();
}

/* The chosen row of a table that stays as it is; it is scrolled to. */
function markRow(id, section, options, chosen) {
  tableState(options.id).chosen = chosen;
  const box = byId(id), at = arranged(section, tableState(options.id)).indexOf(chosen);
  const old = box.querySelector("tr[aria-selected='true']"), row = at < 0 ? null : box.querySelectorAll("tbody tr[tabindex]")[at];
  if (old) old.setAttribute("aria-selected", "false");
  if (!row) return;
  row.setAttribute("aria-selected", "true");
  row.scrollIntoView({ block: "nearest" });
}

function showList() {
  listed.rows = page.rows;
  tableState(LIST.id).chosen = page.chosen;
  replaceTable("list-table", answerTable(listed, { ...LIST, click: choose, changed: showList, mark: (r) => kindOfChange(r.last_change) }));
}

/* ---- The chosen one --- */

function keyOf(row) {
  return "#" + encodeURIComponent(row.of + " " + row.figure);
}

/* By a hand, or a test of one. */
export function choose(row) {
  page.byHand = true;
  show(row);
}

function show(row) {
  page.chosen = row;
  page.at = -1;
  markRow("list-table", listed, LIST, row);
  showOne();
  if (!page.byHand) return;
  try {
    history.replaceState(null, "", keyOf(row));
  } catch {
    /* an address as long as that is none */
  }
}

/* The levels between changes: [{ from, to, value }], `to` is behind the last. */
export function levelsOf(row) {
  const ends = [0, ...row.changes.map((c) => c.at), row.values.length];
  return ends.slice(1).map((to, i) => ({ from: ends[i], to, value: median(row.values.slice(ends[i], to)) }));
}

function runOf(row, i) {
  return page.runs[row.series.runs[row.at[i]]];
}

function changeText(row, c) {
  const run = runOf(row, c.at), text = (v) => unitText(v, row.unit);
  return "run " + run.id + " (" + (run.commit ? cut(run.commit, 12) + ", " : "") + run.date_text.slice(0, 10) + "): " + text(c.before) + " → " + text(c.behind) + (c.percent === null ? "" : ", " + (c.percent > 0 ? "+" : "") + c.percent.toFixed(2) + " %");
}

function runRows(row) {
  const levels = levelsOf(row), { series } = row;
  return row.at.map((place, i) => {
    const run = runOf(row, i), change = row.changes.find((c) => c.at === i);
    return {
      run: run.id, date: run.date_text, value: series.values[place], level: levels.find((l) => i < l.to).value, change: change ? change.percent : null, min: series.least[place], max: series.most[place], count: series.counts[place],
      commit: run.commit, name: run.name, labels: run.labels, host: run.host, board: run.board, lost: run.lost ? "yes" : null, unit: row.unit, i,
    };
  }).reverse();
}

function showRuns() {
  ofRuns.rows = page.chosen ? runRows(page.chosen) : [];
  tableState(RUNS.id).chosen = ofRuns.rows.find((r) => r.i === page.at) || null;
  replaceTable("runs-table", answerTable(ofRuns, { ...RUNS, click: (r) => goTo(r.i), changed: showRuns, mark: (r) => kindOfChange(r.change) }));
}

function showOne() {
  const row = page.chosen;
  byId("name").textContent = row ? row.figure + " " : "nothing is chosen";
  if (row) byId("name").append(make("span", { class: "faint" }, row.of));
  byId("verdict").textContent = !row ? "" : row.changes.length ? "changed with " + row.changes.slice(-3).reverse().map((c) => changeText(row, c)).join("; before with ") : "no change that is more than chance";
  showRuns();
  draw();
}

function showAt() {
  const row = page.chosen;
  if (!row || page.at < 0) {
    byId("at").textContent = row ? "a dot: the " + page.data.of + " of a run; the line: the median of the runs between two changes" : "";
    return;
  }
  const run = runOf(row, page.at), place = row.at[page.at], { series } = row, text = (v) => unitText(v, row.unit);
  byId("at").textContent = "run " + run.id + ", " + run.date_text + (run.commit ? ", " + cut(run.commit, 40) : "") + ": " + text(series.values[place]) + (series.least[place] === null ? "" : ", from " + text(series.least[place]) + " to " + text(series.most[place])) + (series.counts[place] ? ", of " + series.counts[place] : "");
}

function draw() {
  const row = page.chosen;
  drawChart(row && {
    unit: row.unit, values: row.values, least: row.at.map((i) => row.series.least[i]), most: row.at.map((i) => row.series.most[i]), x: row.at.map((_, i) => (page.by === "date" ? runOf(row, i).date : i)), levels: levelsOf(row),
    changes: row.changes, at: page.at, label: (i) => (page.by === "date" || !runOf(row, i).commit ? runOf(row, i).date_text.slice(0, 10) : cut(runOf(row, i).commit, 8)),
  });
  showAt();
}

/* To a run of the chosen figure, by its place. */
export function goTo(i) {
  if (!page.chosen) return;
  page.at = Math.max(0, Math.min(page.chosen.values.length - 1, i));
  markRow("runs-table", ofRuns, RUNS, ofRuns.rows.find((r) => r.i === page.at));
  draw();
}

/* ---- All of it --- */

function runOfData([id, date, commit, board, host, name, labels, lost]) {
  return { id, date, date_text: dateText(date), commit, board, host, name, labels, lost };
}

function startKeys() {
  document.addEventListener("keydown", (event) => {
    const { target } = event;
    if (event.key !== "/" || event.ctrlKey || event.metaKey || event.altKey || /INPUT|SELECT|TEXTAREA/.test(/** @type {any} */ (target).tagName)) return;
    event.preventDefault();
    byId("list-bar").querySelector("input").focus();
  });
}

async function start() {
  const source = byId("history");
  page.data = JSON.parse(new TextDecoder().decode(await inflate(source.textContent)));
  source.remove();
  page.runs = page.data.runs.map(runOfData);
  page.series = page.data.series.map(([kind, name, unit, runs, values, counts, least, most]) => ({ kind, name, unit, runs, values, counts, least, most }));
  byId("title").textContent = page.data.title;
  byId("title").title = page.data.title.slice(0, 2000);
  document.title = "devlog: history of " + page.data.title;
  Object.assign(tableState(LIST.id), { sort: "changed", up: false });
  startChart(goTo, () => page.at, draw);
  showFilters();
  startTheme({ sites: [] }, draw);
  startKeys();
  byId("list-bar").replaceChildren(...tableBar(listed, { ...LIST, changed: showList }));
  byId("runs-bar").replaceChildren(...tableBar(ofRuns, { ...RUNS, changed: showRuns }));
  if (!page.runs.length) {
    byId("banner").hidden = false;
    byId("banner").textContent = "There is no run in this archive yet: devlog archive add keeps one.";
  } else if (page.data.without) {
    byId("banner").hidden = false;
    byId("banner").textContent = counted(page.data.without, "figure") + " of runs left out: without a median. A devlog that kept none has added them, and adding their files again fills them in; or it is not known.";
  }
  select();
  const linked = page.rows.find((r) => keyOf(r) === location.hash);
  if (linked) choose(linked);
  document.documentElement.dataset.ready = "yes";
}

/** @type {any} */ (globalThis).devlog = { page, chart, choose, goTo, levelsOf };
start().catch((error) => {
  byId("banner").hidden = false;
  byId("banner").textContent = "This page could not be shown: " + error.message + ". It needs a browser of 2023 or later; if it is one, the file may be cut off.";
  document.documentElement.dataset.ready = "failed";
  throw error;
});
