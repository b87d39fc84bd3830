/* The list of logs of `devlog serve`: asks for it every two seconds and shows what has changed. */

import { byId, make } from "./dom.js";
import { counted } from "./format.js";

const list = { text: "", due: 0 };

function size(bytes) {
  return bytes < 1e3 ? bytes + " B" : bytes < 1e6 ? (bytes / 1e3).toFixed(1) + " kB" : bytes < 1e9 ? (bytes / 1e6).toFixed(1) + " MB" : (bytes / 1e9).toFixed(2) + " GB";
}

function link(log, file, text, attributes) {
  return make("a", { href: "/log/" + log.id + "/" + file, ...attributes }, text);
}

function row(log) {
  const name = make("td", { title: log.name }, link(log, "device_perf.html", log.name), make("span", { class: "kind" }, log.capture ? "capture" : "device log"));
  const when = new Date(log.time_ms), time = make("time", { datetime: when.toISOString() }, when.toLocaleString());
  return make("tr", { "data-id": log.id }, name, make("td", { class: "n" }, size(log.bytes)), make("td", {}, time),
    make("td", {}, link(log, "device_perf.html", "timeline"), link(log, "device_stats.txt", "statistics")),
    make("td", {}, link(log, "device_perf_results.tar", "DOWNLOAD ARTIFACTS", { class: "get", download: "device_perf_results.tar" })));
}

function show(text) {
  const state = byId("state"), answer = JSON.parse(text), logs = answer.logs;
  byId("folder").textContent = answer.folder || "";
  state.className = answer.error ? "bad" : "";
  state.textContent = answer.error || counted(logs.length, "log") + (answer.more ? " and more" : "");
  byId("logs").replaceChildren(...logs.map(row));
  const none = byId("none");
  none.hidden = logs.length > 0;
  none.textContent = "No log here yet. Run a program with TT_METAL_DEVICE_PROFILER=1 and kernels compiled with -DPROFILE_DEVICE; its profile_log_device.csv appears here by itself.";
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

document.addEventListener("visibilitychange", () => document.hidden || refresh());
refresh();
