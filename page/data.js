/* The page's data, as host/report/page_internal.h describes it, made ready for drawing. Knows nothing of how
 * it is shown.
 *
 *   model.cores   [{ chip, x, y, name, title, rows: [row] }]; a process stands where cores are, and its threads where RISCs are: the first
 *                 model.processes ones
 *   model.chips   [{ id, rank, title, process, name, khz, ... }]; title: "chip 3", "process 4711"
 *   row           { core, risc, lanes: [lane], scale, offset }   one RISC; time on the axis = cycles * scale + offset
 *   lane          { row, level, points, n, start, end, site, launch, value, near }   times in cycles since the chip's base; near: see paint.js
 *   model.tops    rows of launches, one for each chip; row.core is null
 *   model.hosts   rows of the host's calls, for each chip of which they are known; row.core is null, row.host true
 *   model.ranges  rows of steps and signposts (ranges.js); row.core is null, row.names are theirs
 *   model.sites   [{ name, file, line, role, host }]
 *   model.span    the end of the axis; its unit is model.axis: "cycles" or "ns"
 *   model.toNs, model.toCycles   what a unit of the axis is; 0: unknown */

export const ROLE_USER = 0, ROLE_FW = 1, ROLE_KERNEL = 2, ROLE_DROPPED = 3; /* as dl_role in host/decode/tables.h */
export const POINT_TEXT = 1, POINT_VALUE = 2, POINT_SUM = 3, POINT_DROPPED = 4; /* as dl_view_kind in host/report/view.h */

const PROCESS = 0x40000000; /* as dl_is_process in host/decode/tables.h */

/* What a chip is called, as dl_chip_title does: a process of the host has a number of its own. */
export function chipTitle(id) {
  return id >= PROCESS && id < 2 * PROCESS ? "process " + (id - PROCESS) : "chip " + id;
}

export async function inflate(base64) {
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
  let time = lane.row.from;
  for (let i = 0; i < n; i++) {
    start[i] = time += start[i];
    end[i] = lane.points ? time : (time += end[i]);
  }
  at[2] = varints(bytes, at[2], n, site);
  if (lane.points) {
    lane.kind = new Uint8Array(n);
    for (let i = 0; i < n; i++) {
      lane.kind[i] = site[i] & 7;
      site[i] >>>= 3;
    }
  }
  const launch = new Int32Array(n);
  at[3] = varints(bytes, at[3], n, launch);
  for (let i = 0, now = 0; i < n; i++) launch[i] = now += launch[i] & 1 ? -(launch[i] + 1) / 2 : launch[i] / 2;
  Object.assign(lane, { start, end, site, launch });
}

function launchName(launch) {
  const [, number, id, trace, counter, op] = launch;
  let name = id < 0 ? "#" + number : String(id);
  if (trace >= 0) name += " t" + trace;
  if (counter >= 0) name += "." + counter;
  return op ? op + " (" + name + ")" : name;
}

/* One axis for all: the synchronised clock where there is one; else cycles, when all chips count alike; else
 * nanoseconds since each chip's first marker. */
function chooseAxis(model) {
  const used = model.chips.filter((c) => model.usedChips.has(c.rank)), one = used.every((c) => c.khz === used[0].khz);
  model.khz = used.length && one ? used[0].khz : 0;
  model.aligned = used.length > 0 && used.every((c) => c.aligned);
  model.axis = model.aligned || (!one && used.every((c) => c.khz)) ? "ns" : "cycles";
  model.toNs = model.axis === "ns" ? 1 : model.khz ? 1e6 / model.khz : 0;
  model.toCycles = model.axis === "cycles" ? 1 : model.khz / 1e6;
}

/* Rows by core, cores in the order of the data; processes of the host above them. */
function buildRows(meta, model) {
  const bases = meta.rows.map((r) => BigInt(r[4])), times = meta.rows.map((r) => (r[6] ? BigInt(r[6][0]) : 0n));
  const least = (a, b) => (a === undefined || b < a ? b : a);
  meta.rows.forEach((r, i) => (model.chips[r[0]].base = least(model.chips[r[0]].base, bases[i])));
  const time0 = times.reduce(least, undefined);
  meta.rows.forEach(([chip, x, y, risc, , lanes, clock], i) => {
    let core = model.cores[model.cores.length - 1];
    if (x < 0) core = null;
    else if (!core || core.chip !== chip || core.x !== x || core.y !== y) {
      const { id, process, title } = model.chips[chip], name = process ? title : (model.usedChips.size > 1 ? id + ":" : "") + x + "," + y;
      core = { chip, x, y, name, title: process ? title : "core " + name, rows: [], index: model.cores.length };
      model.cores.push(core);
    }
    const khz = model.chips[chip].khz, from = Number(bases[i] - model.chips[chip].base);
    let scale = model.axis === "ns" ? 1e6 / khz : 1, offset = 0;
    if (model.aligned) {
      if (clock[1] > 0) scale = clock[2] / clock[1];
      offset = Number(times[i] - time0) - from * scale;
    }
    const row = { core, chip, risc, lanes: [], from, scale, offset, index: i, host: x < 0 && risc === "host" };
    for (let k = 0; k < lanes.length; k += 3)
      row.lanes.push({ row, level: lanes[k], points: lanes[k + 1] === 1, n: lanes[k + 2], near: 0 });
    if (core) core.rows.push(row);
    (core ? model.rows : row.host ? model.hosts : model.tops).push(row);
  });
  const [hosts, cores] = [true, false].map((process) => model.cores.filter((c) => model.chips[c.chip].process === process));
  model.cores = [...hosts, ...cores];
  model.cores.forEach((core, i) => (core.index = i));
  model.processes = hosts.length;
}

function readColumns(model, bytes) {
  const at = [0, 0, 0, 0];
  for (let i = 1; i < 4; i++) at[i] = at[i - 1] + model.meta.columns[i - 1];
  for (const row of [...model.rows, ...model.tops, ...model.hosts].sort((a, b) => a.index - b.index))
    for (const lane of row.lanes) {
      readLane(lane, bytes, at);
      model.span = Math.max(model.span, lane.end[lane.n - 1] * row.scale + row.offset);
      if (row.host) for (const site of new Set(lane.site)) model.sites[site].host = true; /* no zone of the device */
      if (!row.core) continue;
      model.intervals += lane.n;
      if (lane.points) continue;
      for (let i = 0; i < lane.n; i++) {
        const site = model.sites[lane.site[i]];
        site.total += lane.end[i] - lane.start[i];
        site.count++;
      }
    }
}

/* The model without intervals, of the page's JSON block. */
export function readMeta(meta) {
  const model = {
    meta, title: meta.title, cores: [], rows: [], tops: [], hosts: [], ranges: [], intervals: 0, span: 1,
    chips: meta.chips.map((c, rank) => ({ ...c, rank, name: c.arch || chipTitle(c.id), title: chipTitle(c.id), process: chipTitle(c.id).startsWith("p") })),
    usedChips: new Set(meta.rows.map((r) => r[0])),
    sites: meta.sites.map(([name, file, line, role], index) => ({ name: name || "marker", file, line, role, index, total: 0, count: 0 })),
    launches: meta.launches.map((l) => ({ name: launchName(l), chip: l[0], number: l[1], id: l[2] < 0 ? l[1] : l[2], op: l[6] || 0 })),
  };
  chooseAxis(model);
  buildRows(meta, model);
  return model;
}

/* Its intervals, of the text of the other block. */
export async function readIntervals(model, columns) {
  if (model.meta.rows.length) readColumns(model, await inflate(columns));
}

export async function loadModel(meta, columns) {
  const model = readMeta(meta);
  await readIntervals(model, columns);
  return model;
}

/* First i with array[i] > value, in a sorted array. */
export function upperBound(array, value) {
  let low = 0, high = array.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (array[middle] > value) high = middle;
    else low = middle + 1;
  }
  return low;
}

/* First i with array[i] >= value. */
export function lowerBound(array, value) {
  let low = 0, high = array.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (array[middle] >= value) high = middle;
    else low = middle + 1;
  }
  return low;
}
