/* The histogram of one zone's durations, drawn by uPlot. Its durations are those in the page; when launches
 * were left out of the page, it says so. */
"use strict";

const histogram = { plot: null };
const BINS = 60;

/* Durations in cycles of a zone by name and RISC (of one chip). */
function durationsOf(row) {
  const durations = [];
  for (const line of timeline.model.rows) {
    if (line.core.chip !== row.chip || line.risc !== row.risc) continue;
    for (const lane of line.lanes) {
      if (lane.points) continue;
      for (let i = 0; i < lane.n; i++)
        if (timeline.model.sites[lane.site[i]].name === row.name) durations.push(lane.end[i] - lane.start[i]);
    }
  }
  return durations;
}

/* Bins of equal whole-cycle width over the values: { at: [left edges], counts, width }. */
function bins(values) {
  let low = Infinity, high = -Infinity;
  for (const v of values) {
    if (v < low) low = v;
    if (v > high) high = v;
  }
  const width = Math.max(1, Math.ceil((high - low + 1) / BINS));
  const n = Math.floor((high - low) / width) + 1;
  const counts = new Array(n).fill(0);
  for (const v of values) counts[Math.floor((v - low) / width)]++;
  return { at: counts.map((_, i) => low + i * width), counts, width };
}

function drawHistogram(box, row, values) {
  const { at, counts, width } = bins(values), colours = theme.colours;
  const khz = timeline.model.chips[row.chip].khz, inTime = timeline.unit === "time" && khz;
  const scale = inTime ? 1e6 / khz : 1;
  const axis = { stroke: colours.faint, grid: { stroke: colours.line, width: 1 }, ticks: { stroke: colours.line, width: 1 }, font: "11px system-ui, sans-serif" };
  const site = timeline.model.sites.find((s) => s.name === row.name);
  const colour = site && site.role === ROLE_USER ? theme.css[site.index] : theme.dark ? "#7d8a99" : "#8fa0b4";
  const marks = (u) => {
    for (const [value, text] of [[row.median, "median"], [row.p95, "p95"]]) {
      const x = u.valToPos(value * scale, "x", true);
      u.ctx.fillStyle = colours.ink;
      u.ctx.fillRect(x, u.bbox.top, 1, u.bbox.height);
      u.ctx.font = 10 * devicePixelRatio + "px system-ui, sans-serif";
      const right = x > u.bbox.left + u.bbox.width - 60; /* no room for it on that side */
      u.ctx.textAlign = right ? "right" : "left";
      u.ctx.textBaseline = "top";
      const y = u.bbox.top + (text === "median" ? 2 : 2 + 14 * devicePixelRatio), wide = u.ctx.measureText(text).width;
      u.ctx.fillStyle = colours.page;
      u.ctx.fillRect(right ? x - wide - 6 : x + 2, y - 1, wide + 4, 13 * devicePixelRatio);
      u.ctx.fillStyle = colours.ink;
      u.ctx.fillText(text, x + (right ? -4 : 4), y);
    }
  };
  histogram.plot = new uPlot({
    width: Math.max(120, box.clientWidth - 12), height: Math.max(80, box.clientHeight - 44),
    legend: { show: false }, cursor: { drag: { setScale: false }, points: { show: false } },
    padding: [4, 12, 0, 0],
    scales: { x: { time: false, range: [(at[0] - width * 0.5) * scale, (at[at.length - 1] + width * 1.5) * scale] }, y: { range: (u, low, high) => [0, Math.max(1, high * 1.08)] } },
    series: [{}, { stroke: colour, fill: colour, width: 0, points: { show: false }, paths: uPlot.paths.bars({ size: [0.92, 200], align: 1 }) }],
    axes: [
      { ...axis, size: 26, values: (u, ticks) => ticks.map((v) => short(v, ticks.length > 1 ? ticks[1] - ticks[0] : 1)) },
      { ...axis, size: 44, values: (u, ticks) => ticks.map((v) => (v % 1 ? "" : grouped(v))) },
    ],
    hooks: {
      draw: [marks],
      setCursor: [(u) => {
        const i = u.cursor.idx, note = byId("bin");
        if (note) note.textContent = i === null || i === undefined ? "" : grouped(at[i] * scale) + (width > 1 ? " to " + grouped((at[i] + width - 1) * scale) : "") + (inTime ? " ns: " : " cycles: ") + grouped(counts[i]);
      }],
    },
  }, [at.map((v) => v * scale), counts], box.lastChild);
}

function showHistogram() {
  const box = byId("chart"), row = table.chosen || table.suggested;
  if (histogram.plot) histogram.plot.destroy();
  histogram.plot = null;
  if (!row) return box.replaceChildren();
  const unit = timeline.unit === "time" && timeline.model.chips[row.chip].khz ? "ns" : "cycles";
  box.replaceChildren(make("h2", {}, row.name.slice(0, 60) + " on " + row.risc, make("span", { class: "faint" }, " durations, " + unit + " "), make("output", { id: "bin", class: "faint" })), make("div", {}));
  if (typeof uPlot === "undefined") {
    box.append(make("p", { class: "faint" }, "No charts: this devlog was built where its chart library could not be fetched. Build it again with npm and a network."));
    return;
  }
  const values = durationsOf(row);
  if (values.length) drawHistogram(box, row, values);
  else box.append(make("p", { class: "faint" }, "No interval of this zone is in the page."));
  if (values.length && values.length < row.count)
    box.firstChild.append(make("span", { class: "warn" }, grouped(values.length) + " of " + grouped(row.count) + " are in the page"));
}
