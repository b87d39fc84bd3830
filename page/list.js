/* The list of logs as data: what is filtered, in which order, and which of two is the old one. No elements here. */

export const COLUMNS = [
  { key: "name", title: "log" }, { key: "label", title: "label" }, { key: "launches", title: "launches", number: true }, { key: "lost", title: "lost", number: true },
  { key: "bytes", title: "size", number: true }, { key: "time_ms", title: "changed", number: true },
];

export function kindOf(log) {
  return log.report ? "op report" : log.capture ? "capture" : /\.pack$/.test(log.name) ? "packed log" : "device log";
}

/* What a cell is sorted by; null: it is not known, and stands behind the others. */
export function valueOf(log, key, labels) {
  if (key === "label") return labels[log.id] || null;
  if (key === "launches") return log.report ? (log.ops ?? null) : (log.launches ?? null);
  return log[key] ?? null;
}

/* Logs whose name, kind or label has every word; "lost" is also those that lost something. */
export function filtered(logs, text, labels) {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  return logs.filter((log) => {
    const all = [log.name, kindOf(log), labels[log.id] || "", log.lost ? "lost" : ""].join(" ").toLowerCase();
    return words.every((word) => all.includes(word));
  });
}

/* In another list, equal ones as they were. */
export function sorted(logs, { key, up }, labels) {
  return [...logs].sort((a, b) => {
    const x = valueOf(a, key, labels), y = valueOf(b, key, labels);
    if (x === null || y === null) return (x === null ? 1 : 0) - (y === null ? 1 : 0);
    return (x < y ? -1 : x > y ? 1 : 0) * (up ? 1 : -1);
  });
}

/* The two that are compared, the one that was changed first before the other; null: there are not two. */
export function compared(logs, picked) {
  const two = logs.filter((log) => picked.has(log.id));
  return two.length === 2 ? two.sort((a, b) => a.time_ms - b.time_ms) : null;
}
