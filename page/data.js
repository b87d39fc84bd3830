/* The page's data, as host/report/page_internal.h describes it, made ready for drawing. Knows nothing of how
 * it is shown.
 *
 *   model.cores   [{ chip, x, y, name, rows: [row] }]
 *   row           { core, risc, lanes: [lane], scale, offset }   one RISC; time on the axis = cycles * scale + offset
 *   lane          { row, level, points, n, start, end, site, launch, value }   times in cycles since the chip's base
 *   model.sites   [{ name, file, line, role }]
 *   model.span    the end of the axis; its unit is model.axis: "cycles" or "ns" */
"use strict";

const ROLE_USER = 0, ROLE_FW = 1, ROLE_KERNEL = 2;

async function inflate(base64) {
  let bytes;
  if (Uint8Array.fromBase64) {
    bytes = Uint8Array.fromBase64(base64);
  } else {
    const text = atob(base64);
    bytes = new Uint8Array(text.length);
    for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i);
  }
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

/* Calls each(i, value) for the next n varints of bytes at `at`; returns where they end. */
function varints(bytes, at, n, into) {
  for (let i = 0; i < n; i++) {
    let byte = bytes[at++];
    let value = byte & 127;
    for (let unit = 128; byte > 127; unit *= 128) {
      byte = bytes[at++];
      value += (byte & 127) * unit;
    }
    into[i] = value;
  }
  return at;
}

/* The same for values of 64 bits, exact. */
function bigVarints(bytes, at, n, into) {
  for (let i = 0; i < n; i++) {
    let value = 0n, shift = 0n, byte;
    do {
      byte = bytes[at++];
      value |= BigInt(byte & 127) << shift;
      shift += 7n;
    } while (byte > 127);
    into[i] = BigInt.asUintN(64, value);
  }
  return at;
}

function readLane(lane, bytes, at) {
  const n = lane.n, start = new Float64Array(n), end = new Float64Array(n), site = new Uint32Array(n);
  at[0] = varints(bytes, at[0], n, start);
  if (lane.points) {
    lane.value = new BigUint64Array(n);
    at[1] = bigVarints(bytes, at[1], n, lane.value);
  } else {
    at[1] = varints(bytes, at[1], n, end);
  }
  let time = 0;
  for (let i = 0; i < n; i++) {
    start[i] = time += start[i];
    end[i] = lane.points ? time : (time += end[i]);
  }
  at[2] = varints(bytes, at[2], n, site);
  if (lane.points) {
    lane.kind = new Uint8Array(n);
    for (let i = 0; i < n; i++) {
      lane.kind[i] = site[i] & 3;
      site[i] >>>= 2;
    }
  }
  const launch = new Int32Array(n);
  at[3] = varints(bytes, at[3], n, launch);
  for (let i = 0, now = 0; i < n; i++) launch[i] = now += launch[i] & 1 ? -(launch[i] + 1) / 2 : launch[i] / 2;
  Object.assign(lane, { start, end, site, launch });
}

function launchName(launch) {
  const [, number, id, trace, counter] = launch;
  let name = id < 0 ? "#" + number : String(id);
  if (trace >= 0) name += " t" + trace;
  if (counter >= 0) name += "." + counter;
  return name;
}

/* Rows by core, cores in the order of the data, with one clock for the axis. */
function buildCores(meta, model) {
  const known = model.chips.filter((c) => model.usedChips.has(c.index));
  const oneClock = known.every((c) => c.khz === known[0].khz);
  model.axis = oneClock || known.some((c) => !c.khz) ? "cycles" : "ns";
  model.khz = oneClock && known.length ? known[0].khz : 0;
  for (const [chip, x, y, risc, lanes] of meta.rows) {
    let core = model.cores[model.cores.length - 1];
    if (!core || core.chip !== chip || core.x !== x || core.y !== y) {
      core = { chip, x, y, name: x + "," + y, rows: [], index: model.cores.length };
      model.cores.push(core);
    }
    const khz = model.chips[chip].khz;
    const row = { core, risc, lanes: [], scale: model.axis === "ns" ? 1e6 / khz : 1, offset: 0, index: model.rows.length };
    for (let i = 0; i < lanes.length; i += 3)
      row.lanes.push({ row, level: lanes[i], points: lanes[i + 1] === 1, n: lanes[i + 2] });
    core.rows.push(row);
    model.rows.push(row);
  }
}

async function loadModel() {
  const meta = JSON.parse(byId("meta").textContent);
  const model = {
    meta, title: meta.title, cores: [], rows: [], intervals: 0, span: 0,
    chips: meta.chips.map((c, index) => ({ ...c, index, name: c.arch || "chip " + c.id })),
    usedChips: new Set(meta.rows.map((r) => r[0])),
    sites: meta.sites.map(([name, file, line, role], index) => ({ name, file, line, role, index, total: 0, count: 0 })),
    launches: meta.launches.map((l) => ({ chip: l[0], name: launchName(l) })),
  };
  buildCores(meta, model);
  if (model.rows.length) {
    const bytes = await inflate(byId("columns").textContent);
    const at = [0, 0, 0, 0];
    for (let i = 1; i < 4; i++) at[i] = at[i - 1] + meta.columns[i - 1];
    for (const row of model.rows)
      for (const lane of row.lanes) {
        readLane(lane, bytes, at);
        model.intervals += lane.n;
        if (!lane.n) continue;
        model.span = Math.max(model.span, lane.end[lane.n - 1] * row.scale + row.offset);
        if (!lane.points)
          for (let i = 0; i < lane.n; i++) {
            const site = model.sites[lane.site[i]];
            site.total += lane.end[i] - lane.start[i];
            site.count++;
          }
      }
  }
  byId("columns").remove(); /* the browser may forget the text */
  model.span = Math.max(model.span, 1);
  return model;
}

/* First i with array[i] > value, in a sorted array. */
function upperBound(array, value) {
  let low = 0, high = array.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (array[middle] > value) high = middle;
    else low = middle + 1;
  }
  return low;
}

/* First i with array[i] >= value. */
function lowerBound(array, value) {
  let low = 0, high = array.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (array[middle] >= value) high = middle;
    else low = middle + 1;
  }
  return low;
}
