/* Who holds what of a memory over time, from the list of buffers: of each owner the bytes at the moments at which any of it
 * changes. Knows nothing of how it is shown. */

/* A buffer's owner: the line that made it, with the op in which that was; else its name. */
export function ownerOf(buffer) {
  const source = buffer.source ? buffer.source.split("/").pop() : buffer.name || "unknown";
  return buffer.op ? source + " (" + buffer.op + ")" : source;
}

/* Buffers of one memory -> { times: [ns], owners: [{ name, most, bytes: [at each of times] }], the one that held most first, the last
 * of them all others together }. `end`: where those end that were never freed. */
export function ownersOver(buffers, end, most) {
  const edges = new Set([0, end]), sums = new Map();
  const until = (b) => (b.life === null || b.life === undefined ? end : Math.min(end, b.made + b.life));
  for (const b of buffers) {
    edges.add(b.made);
    edges.add(until(b));
    const name = ownerOf(b);
    if (!sums.has(name)) sums.set(name, []);
    sums.get(name).push(b);
  }
  const times = [...edges].filter((t) => t >= 0 && t <= end).sort((a, b) => a - b), at = new Map(times.map((t, i) => [t, i]));
  const owners = [...sums].map(([name, list]) => {
    const bytes = new Float64Array(times.length);
    for (const b of list) {
      bytes[at.get(b.made)] += b.held;
      if (until(b) < end) bytes[at.get(until(b))] -= b.held;
    }
    for (let i = 1; i < bytes.length; i++) bytes[i] += bytes[i - 1];
    return { name, bytes, most: bytes.reduce((a, v) => Math.max(a, v), 0) };
  }).sort((a, b) => b.most - a.most || (a.name < b.name ? -1 : 1));
  if (owners.length > most) {
    const rest = owners.splice(most - 1), bytes = new Float64Array(times.length);
    for (const o of rest) o.bytes.forEach((v, i) => (bytes[i] += v));
    owners.push({ name: rest.length + " others", bytes, most: bytes.reduce((a, v) => Math.max(a, v), 0) });
  }
  return { times, owners };
}

/* The number of the moment that holds at a time: the last that is not behind it. */
export function momentAt(times, time) {
  let i = 0;
  while (i + 1 < times.length && times[i + 1] <= time) i++;
  return i;
}
