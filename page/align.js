/* Two runs beside one another, as numbers: which op of the one is which of the other, how much longer it took, and what part of
 * the one axis belongs to a part of the other. No drawing here. */

/* What differs by less is not coloured unless the diff itself says that it is no chance, in percent. */
export const NOTABLE = 5;

/* Items of two runs, [{ key, start, end }] in their order, matched as `devlog diff` does: the same key, and of equal ones the
 * same place. [{ key, a, b }] in the order of the old run, then what only the new one has; `a` or `b` is null where there is none. */
export function matched(old, now) {
  const places = new Map(), pairs = [];
  const place = (met, item) => {
    const n = met.get(item.key) || 0;
    met.set(item.key, n + 1);
    return item.key + "\u0000" + n;
  };
  let met = new Map();
  for (const item of now) places.set(place(met, item), item);
  met = new Map();
  for (const item of old) {
    const key = place(met, item), b = places.get(key) || null;
    places.delete(key);
    pairs.push({ key: item.key, a: item, b });
  }
  for (const b of places.values()) pairs.push({ key: b.key, a: null, b });
  return pairs;
}

/* By how much `b` is longer than `a`, in percent; null: one is not there, or has no length. `factor`: units of the old axis in one
 * of the new. */
export function change({ a, b }, factor) {
  const was = a ? a.end - a.start : 0;
  return a && b && was > 0 ? (((b.end - b.start) * factor) / was - 1) * 100 : null;
}

/* The class of a pair: the diff's own verdict where it has one, otherwise what it looks like. */
export function classOf(pair, verdict, factor) {
  if (!pair.a) return "new";
  if (!pair.b) return "gone";
  if (verdict === "slower" || verdict === "faster") return verdict;
  const more = change(pair, factor);
  return more === null || Math.abs(more) < NOTABLE ? "same" : more > 0 ? "perhaps slower" : "perhaps faster";
}

function middleAway(item, t) {
  return t < item.start ? item.start - t : t > item.end ? t - item.end : 0;
}

/* What the other run shows while one shows from..to: the pair at the middle of the screen lies at the same place of it, and a
 * millimetre is the same time. `side` is "a" or "b"; `scale` is units of the other axis in one of this one. */
export function aligned(pairs, side, [from, to], scale) {
  const middle = (from + to) / 2, other = side === "a" ? "b" : "a";
  let best = null, least = Infinity;
  for (const pair of pairs) {
    if (!pair.a || !pair.b) continue;
    const away = middleAway(pair[side], middle);
    if (away < least) [best, least] = [pair, away];
    if (away === 0) break;
  }
  const at = best ? best[side].start : 0, there = best ? best[other].start : 0;
  return [there + (from - at) * scale, there + (to - at) * scale];
}
