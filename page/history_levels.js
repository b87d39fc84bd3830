/* Where a series of figures changed: the arithmetic of host/archive/change.h, host/answers/rank_test.h and host/archive/history.c once
 * more, for runs that the page's reader chooses; a test holds the two against one another. No elements here. */

const AROUND = 50; /* so many figures around a place are asked, exactly */
const FAR = 1.6448536269514722; /* what is nearer to the mean has a probability of more than 0.1 */

/* How many ways there are to choose k of these ranks (twice) by their sum. */
function countWays(ranks, k) {
  const n = ranks.length, width = 2 * k * n + 1, ways = new Float64Array((k + 1) * width);
  ways[0] = 1;
  let most = 0;
  for (let i = 0; i < n; i++) {
    const rank = ranks[i];
    most = Math.min(most + rank, width - 1);
    for (let j = Math.min(i + 1, k); j > 0; j--) {
      const to = j * width, from = to - width - rank;
      for (let s = rank; s <= most; s++) ways[to + s] += ways[from + s];
    }
  }
  return ways.subarray(k * width);
}

const kept = new Map(); /* without ties: by both numbers */

function waysOf(ranks, k, ties) {
  if (ties) return countWays(ranks, k);
  const key = ranks.length * 1000 + k;
  if (!kept.has(key)) kept.set(key, countWays(ranks, k));
  return kept.get(key);
}

/* Mann-Whitney's U, two-sided: the first `cut` of these values against the others. What is over 0.1 and of more than 16 is said as 1. */
export function rankTest(values, cut) {
  const n = values.length, k = n - cut;
  if (!cut || !k) return 1;
  const order = Array.from(values, (_, i) => i).sort((a, b) => values[a] - values[b]), ranks = new Array(n);
  let ties = 0, sum = 0;
  for (let from = 0, to; from < n; from = to) {
    for (to = from + 1; to < n && values[order[to]] <= values[order[from]]; ) to++;
    const equal = to - from;
    ties += equal * equal * equal - equal;
    for (let i = from; i < to; i++) {
      ranks[i] = from + to + 1;
      if (order[i] >= cut) sum += ranks[i];
    }
  }
  if (values[order[0]] >= values[order[n - 1]]) return 1;
  const mean = k * (n + 1), apart = Math.abs(sum - mean);
  if (n > 16) {
    const variance = ((cut * k) / 12) * (n + 1 - ties / (n * (n - 1)));
    if (variance <= 0 || (apart / 2 - 0.5) / Math.sqrt(variance) < FAR) return 1;
  }
  const ways = waysOf(ranks, k, ties > 0);
  let all = 0, far = 0;
  for (let s = 0; s < ways.length; s++) {
    all += ways[s];
    if (Math.abs(s - mean) >= apart) far += ways[s];
  }
  return far / all;
}

/* The likeliest change: { at, p }. */
export function likeliest(values) {
  const n = values.length;
  let best = { at: 0, p: 1 };
  for (let at = 1; at < n; at++) {
    let behind = Math.min(n - at, AROUND / 2);
    const before = Math.min(at, AROUND - behind);
    behind = Math.min(n - at, AROUND - before);
    const p = rankTest(values.slice(at - before, at + behind), before);
    if (p < best.p) best = { at, p };
  }
  return { at: best.at, p: Math.min(1, best.p * (n - 1)) };
}

function divide(values, from, to, most, out, first) {
  const c = first || likeliest(values.slice(from, to));
  if (!c.at || c.p > most) return;
  const at = from + c.at;
  divide(values, from, at, most, out, null);
  out.push({ at, p: c.p });
  divide(values, at, to, most, out, null);
}

export function median(values) {
  const sorted = [...values].sort((a, b) => a - b), n = sorted.length;
  return n ? (sorted[(n - 1) >> 1] + sorted[n >> 1]) / 2 : 0;
}

/* All changes whose p is at most `most`, with the medians of the parts beside them and the change in per cent. */
export function changesOf(values, most, first) {
  const out = [];
  divide(values, 0, values.length, most, out, first);
  const ends = [0, ...out.map((c) => c.at), values.length], levels = ends.slice(1).map((end, i) => median(values.slice(ends[i], end)));
  return out.map((c, i) => ({ ...c, before: levels[i], behind: levels[i + 1], percent: levels[i] > 0 ? (100 * (levels[i + 1] - levels[i])) / levels[i] : null }));
}

/* Holm's correction. */
export function holm(p) {
  const order = p.map((_, i) => i).sort((a, b) => p[a] - p[b] || a - b), out = [...p];
  let soFar = 0;
  order.forEach((i, place) => (out[i] = soFar = Math.max(soFar, Math.min(1, p[i] * (p.length - place)))));
  return out;
}

/* The changes of all series that are told, from the likeliest of each: those that Holm leaves, of at least `least` per cent. */
export function judged(series, likely, alpha, least) {
  const p = holm(likely.map((c) => c.p)), most = Math.max(0, ...likely.filter((_, i) => p[i] <= alpha).map((c) => c.p));
  return series.map((values, i) => (p[i] <= alpha ? changesOf(values, most, likely[i]).filter((c) => !(Math.abs(c.percent) < least) || c.percent === null) : []));
}
