/* Search: zones by name or source file, cores ("3,1"), launches ("launch 12"). What is found keeps its colour,
 * the rest fades; Enter and Shift+Enter go from one to the next. */
"use strict";

const search = { text: "", names: null, sites: null, hits: [], at: -1, colours: null };
const MAX_HITS = 100000;

function matchingSites(model, text) {
  const low = text.toLowerCase();
  return new Set(model.sites.filter((s) => s.name.toLowerCase().includes(low) || s.file.toLowerCase().includes(low)).map((s) => s.index));
}

/* Intervals of these sites, in the order of time; of a zone everywhere, so rows do not matter. */
function findIntervals(rows, wanted) {
  const hits = [];
  for (const row of rows)
    for (const lane of row.lanes)
      for (let i = 0; i < lane.n && hits.length < MAX_HITS; i++)
        if (wanted(lane, i)) hits.push({ lane, i });
  const time = (h) => h.lane.start[h.i] * h.lane.row.scale + h.lane.row.offset;
  return hits.sort((a, b) => time(a) - time(b) || a.lane.row.index - b.lane.row.index);
}

function runSearch(text) {
  const model = timeline.model;
  search.text = text = text.trim();
  search.at = -1;
  search.hits = [];
  search.names = search.sites = null;
  const core = /^(?:core\s+)?(\d+)\s*,\s*(\d+)$/i.exec(text), launch = /^launch\s+(\S.*)$/i.exec(text);
  if (core) {
    search.hits = model.cores.filter((c) => c.x === Number(core[1]) && c.y === Number(core[2])).map((c) => ({ core: c }));
  } else if (launch) {
    const number = model.launches.findIndex((l) => l.name === launch[1] || l.name === "#" + launch[1]);
    search.hits = number < 0 ? [] : findIntervals(model.tops, (lane, i) => lane.launch[i] === number);
  } else if (text) {
    const found = matchingSites(model, text);
    search.hits = findIntervals([...model.rows, ...model.hosts], (lane, i) => found.has(lane.site[i]));
    if (found.size) { /* where nothing is found, nothing fades */
      search.sites = found;
      search.names = new Set([...found].map((i) => model.sites[i].name));
    }
  }
  showFound();
  refreshColours();
  showTable();
}

function showFound() {
  const n = search.hits.length, many = n >= MAX_HITS ? "over " : "";
  byId("found").textContent = !search.text ? "" : n === 0 ? "nothing found" : search.at < 0 ? many + grouped(n) + " found" : grouped(search.at + 1) + " of " + many + grouped(n);
}

function goToCore(core) {
  if (!rowsLayout.open.has(core)) toggleCore(core);
  selection.band = rowsLayout.bands.find((b) => b.core === core);
  reveal(selection.band);
  repaint();
}

function nextHit(step) {
  const n = search.hits.length;
  if (!n) return;
  search.at = search.at < 0 ? (step > 0 ? 0 : n - 1) : (search.at + step + n) % n;
  const hit = search.hits[search.at];
  if (hit.core) goToCore(hit.core);
  else goTo(hit);
  showFound();
}

/* Colours of the timeline: faded but for what was searched, or chosen in the table. */
function refreshColours() {
  let keep = search.sites;
  if (!keep && table.chosen) keep = new Set(timeline.model.sites.filter((s) => s.name === table.chosen.name).map((s) => s.index));
  timeline.faded = keep ? theme.packed.map((c, i) => (keep.has(i) ? c : theme.dimmed[i])) : null;
  timeline.colours = () => timeline.faded || theme.packed;
  repaint();
}

function startSearch() {
  const box = byId("search");
  let due = 0;
  box.addEventListener("input", () => {
    clearTimeout(due);
    due = setTimeout(() => runSearch(box.value), timeline.model.intervals > 200000 ? 200 : 0);
  });
  box.addEventListener("keydown", (event) => {
    event.stopPropagation();
    if (event.key === "Enter") {
      if (search.text !== box.value.trim()) runSearch(box.value);
      nextHit(event.shiftKey ? -1 : 1);
    } else if (event.key === "Escape") {
      box.value = "";
      runSearch("");
      byId("rows").focus();
    }
  });
}
