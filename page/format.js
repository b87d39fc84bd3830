/* Numbers as people read them. Nothing here knows of the page or its data. */

const formatGrouped = new Intl.NumberFormat("en-US", { maximumFractionDigits: 1 });

/* 1,234,567.8 */
export function grouped(value) {
  return formatGrouped.format(value);
}

/* Nanoseconds with a unit that suits: 921 ns, 5.228 µs, 1.204 ms. */
export function duration(ns) {
  const size = Math.abs(ns);
  if (size < 1000) return grouped(ns) + " ns";
  if (size < 1e6) return (ns / 1e3).toFixed(3) + " µs";
  if (size < 1e9) return (ns / 1e6).toFixed(3) + " ms";
  return (ns / 1e9).toFixed(3) + " s";
}

/* Cycles, and time when the clock is known. */
export function cyclesAndTime(cycles, khz) {
  const text = grouped(Math.round(cycles)) + (Math.round(cycles) === 1 ? " cycle" : " cycles");
  return khz ? text + " = " + duration((cycles * 1e6) / khz) : text;
}

/* The step of a ruler: 1, 2 or 5 times a power of ten, at least `least`. */
export function niceStep(least) {
  const power = Math.pow(10, Math.floor(Math.log10(least)));
  for (const step of [1, 2, 5, 10]) if (step * power >= least) return step * power;
  return 10 * power;
}

/* A short form for ruler and axes: 12.5k, 3M. `step` tells how many digits differ. */
export function short(value, step) {
  const size = Math.max(Math.abs(value), step);
  if (value === 0) return "0";
  const [unit, name] = size >= 1e9 ? [1e9, "G"] : size >= 1e6 ? [1e6, "M"] : size >= 1e4 ? [1e3, "k"] : [1, ""];
  const digits = Math.max(0, Math.min(9, Math.ceil(-Math.log10(step / unit) - 1e-9)));
  return (value / unit).toFixed(digits) + name;
}

/* `short` for nanoseconds. */
export function shortTime(ns, step) {
  const size = Math.max(Math.abs(ns), step);
  const [unit, name] = size >= 1e9 ? [1e9, " s"] : size >= 1e6 ? [1e6, " ms"] : size >= 1e3 ? [1e3, " µs"] : [1, " ns"];
  const digits = Math.max(0, Math.min(9, Math.ceil(-Math.log10(step / unit) - 1e-9)));
  return (ns / unit).toFixed(digits) + name;
}

/* What a count is of: "1 core", "16 cores". */
export function counted(n, one) {
  return grouped(n) + " " + one + (n === 1 ? "" : /(ch|ss)$/.test(one) ? "es" : "s");
}
