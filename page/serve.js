/* The list of logs of `devlog serve`: asks for it every two seconds and shows what has changed. What is shown in which order is worked
 * out in list.js. */

import { byId, make } from "./dom.js";
import { counted, grouped } from "./format.js";
import { COLUMNS, compared, filtered, kindOf, sorted } from "./list.js";

export const list = { text: "", due: 0, logs: [], more: false, picked: new Set(), sort: { key: "time_ms", up: false }, labels: labelsKept() };

const PERFETTO = "https://ui.perfetto.dev";

/* By the log's id; this browser's own. */
function labelsKept() {
  try {
    return JSON.parse(localStorage.getItem("devlog labels") || "{}");
  } catch {
    return {};
  }
}

function keepLabels() {
  try {
    localStorage.setItem("devlog labels", JSON.stringify(list.labels));
  } catch {
    /* then they last as long as the page */
  }
}

function size(bytes) {
  return bytes < 1e3 ? bytes + " B" : bytes < 1e6 ? (bytes / 1e3).toFixed(1) + " kB" : bytes < 1e9 ? (bytes / 1e6).toFixed(1) + " MB" : (bytes / 1e9).toFixed(2) + " GB";
}

function link(log, file, text, attributes) {
  return make("a", { href: "/log/" + log.id + "/" + file, ...attributes }, text);
}

/* ---- Perfetto --- */

/* Hands a trace to a window of ui.perfetto.dev, by the messages that it asks for: it says PONG when it is there. The trace does not leave
 * the browser. */
export async function openPerfetto(log) {
  const other = open(PERFETTO), state = byId("state");
  if (!other) {
    state.textContent = "the browser does not let this page open a window";
    return;
  }
  const answer = await fetch("/log/" + log.id + "/trace.perfetto-trace");
  if (!answer.ok) {
    other.close();
    state.textContent = await answer.text();
    return;
  }
  const buffer = await answer.arrayBuffer(), ping = setInterval(() => other.postMessage("PING", PERFETTO), 50);
  const heard = (event) => {
    if (event.source !== other || event.data !== "PONG") return;
    clearInterval(ping);
    removeEventListener("message", heard);
    other.postMessage({ perfetto: { buffer, title: log.name, fileName: "trace.perfetto-trace" } }, PERFETTO);
  };
  addEventListener("message", heard);
  setTimeout(() => clearInterval(ping), 120000);
}

/* ---- The list --- */

function labelCell(log) {
  const input = make("input", { type: "text", value: list.labels[log.id] || "", placeholder: "–", "aria-label": "Label of " + log.name, maxlength: "80", "data-part": "label" });
  input.addEventListener("change", () => {
    if (input.value.trim()) list.labels[log.id] = input.value.trim();
    else delete list.labels[log.id];
    keepLabels();
  });
  return make("td", {}, input);
}

const UNREAD = { reading: ["…", "is being read"], large: ["large", "more than 512 MiB: not read for this list"], failed: ["not read", ""] };

function figureCells(log) {
  const unread = UNREAD[log.figures];
  if (unread) return [make("td", { class: "n faint", title: log.why || unread[1] }, unread[0]), make("td", { class: "n" }, "")];
  const n = log.report ? counted(log.ops, "op") : grouped(log.launches), title = log.report ? undefined : counted(log.launches, "launch") + " on " + counted(log.chips, "chip");
  return [make("td", { class: "n", title }, n), make("td", { class: log.lost ? "n bad" : "n", title: log.lost ? "what was lost is in its page, under Log" : "nothing was lost" }, log.lost ? grouped(log.lost) : "0")];
}

function looks(log) {
  if (log.report) return [link(log, "report.txt", "report", { "data-part": "report" })];
  const perfetto = make("button", { type: "button", class: "link", "data-part": "perfetto", title: "open in ui.perfetto.dev; the trace stays in this browser" }, "Perfetto");
  perfetto.addEventListener("click", () => openPerfetto(log));
  return [link(log, "device_perf.html", "timeline", { "data-part": "time" }), link(log, "device_stats.txt", "statistics", { "data-part": "stats" }), perfetto];
}

function row(log) {
  const pick = make("input", { type: "checkbox", "aria-label": "Compare " + log.name, "data-part": "pick" });
  pick.checked = list.picked.has(log.id);
  pick.addEventListener("change", () => {
    if (pick.checked) list.picked.add(log.id);
    else list.picked.delete(log.id);
    showPicked();
  });
  const name = make("td", { title: log.name }, link(log, log.report ? "report.txt" : "device_perf.html", log.name, { "data-part": "name" }), make("span", { class: "kind" }, kindOf(log)));
  const when = new Date(log.time_ms), time = make("time", { datetime: when.toISOString() }, when.toLocaleString());
  return make("tr", { "data-id": log.id }, make("td", {}, pick), name, labelCell(log), ...figureCells(log), make("td", { class: "n" }, size(log.bytes)), make("td", {}, time), make("td", {}, ...looks(log)),
    make("td", {}, log.report ? "" : link(log, "device_perf_results.tar", "DOWNLOAD ARTIFACTS", { class: "get", download: "device_perf_results.tar", "data-part": "get" })));
}

function showHeads() {
  const heads = COLUMNS.map((column) => {
    const is = list.sort.key === column.key, button = make("button", { type: "button", "data-part": column.key }, column.title);
    button.addEventListener("click", () => {
      list.sort = { key: column.key, up: is ? !list.sort.up : !column.number };
      showRows();
    });
    return make("th", { scope: "col", class: column.number && column.key !== "time_ms" ? "n" : "", "aria-sort": is ? (list.sort.up ? "ascending" : "descending") : undefined }, button);
  });
  byId("heads").replaceChildren(make("th", { scope: "col" }, make("span", { class: "away" }, "compare")), ...heads, make("th", { scope: "col" }, "look"), make("th", { scope: "col" }, "keep"));
}

function showPicked() {
  const two = compared(list.logs, list.picked), button = byId("compare");
  button.disabled = !two;
  byId("picked").textContent = two ? two[0].name + " → " + two[1].name : list.picked.size ? "tick two: " + list.picked.size + " now" : "";
}

/* Draws the list anew; who was in it stays where he was. */
function showRows() {
  const active = /** @type {any} */ (document.activeElement), part = active && active.dataset ? active.dataset.part : null, of = part && active.closest("tr"), id = of && of.dataset.id;
  if (part === "label" && active.value !== (list.labels[id] || "")) return; /* being written: the next time */
  const shown = sorted(filtered(list.logs, byId("filter").value, list.labels), list.sort, list.labels);
  showHeads();
  byId("logs").replaceChildren(...shown.map(row));
  if (part) {
    const again = document.querySelector((id ? 'tr[data-id="' + id + '"] ' : "#heads ") + '[data-part="' + part + '"]');
    if (again) /** @type {any} */ (again).focus();
  }
  const none = byId("none");
  none.hidden = shown.length > 0;
  none.textContent = list.logs.length ? "No log has all of these words in its name, kind or label."
    : "No log here yet. Run a program with TT_METAL_DEVICE_PROFILER=1 and kernels compiled with -DPROFILE_DEVICE; its profile_log_device.csv appears here by itself.";
  showPicked();
}

function show(text) {
  const state = byId("state"), answer = JSON.parse(text), ids = new Set(answer.logs.map((l) => l.id));
  list.logs = answer.logs;
  for (const id of list.picked) if (!ids.has(id)) list.picked.delete(id);
  byId("folder").textContent = answer.folder || "";
  state.className = answer.error ? "bad" : "";
  state.textContent = answer.error || counted(answer.logs.length, "log") + (answer.more ? " and more" : "");
  showRows();
}

async function refresh() {
  clearTimeout(list.due);
  try {
    const text = await (await fetch("/logs.json")).text();
    if (text !== list.text) show(text);
    list.text = text;
  } catch (error) {
    byId("state").className = "bad";
    byId("state").textContent = "the server does not answer; is devlog serve still running?";
    list.text = "";
  }
  list.due = setTimeout(refresh, document.hidden ? 10000 : 2000);
}

byId("filter").addEventListener("input", showRows);
byId("compare").addEventListener("click", () => {
  const two = compared(list.logs, list.picked);
  if (two) location.href = "/diff/" + two[0].id + "/" + two[1].id;
});
document.addEventListener("keydown", (event) => {
  if (event.key !== "/" || /** @type {any} */ (event.target).tagName === "INPUT") return;
  event.preventDefault();
  byId("filter").focus();
});
document.addEventListener("visibilitychange", () => document.hidden || refresh());
/** @type {any} */ (globalThis).devlog = { list, openPerfetto };
refresh();
