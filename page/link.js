/* What is on the screen as text, for the address: short, readable, and the same text for the same screen. Only the form; what it
 * means for the page is in state.js.
 *
 *   #zones?v=0,17000&o=0,3&s=4.1.7&r=100,300&q=text&z=0.BRISC.name&h=5&p=2&c=pw&m=1200~a%20note
 *
 * v view; o open cores; s selected interval (row, lane, number); r measured part, a its rows where it is not all; q what is searched; z the zone that was chosen; h
 * hidden cores; k curves; p the order of rows, pinned ones first; c causes that are drawn; m bookmarks. */

export const KEYS = ["v", "o", "s", "r", "a", "q", "z", "h", "p", "n", "c", "k", "m"];

/* Room for no more than this: browsers and mail programs cut longer ones. */
export const MOST = 8000;

/* Without halves of characters, which no address has. */
function whole(text) {
  return text.replace(/[\ud800-\udfff]/gu, "\ufffd");
}

/* The beginning of a name, the same on the way into an address and back. */
export function beginning(text) {
  return whole(text.slice(0, 200));
}

function plain(text) {
  return encodeURIComponent(whole(text)).replaceAll("%2C", ",").replaceAll("%20", "+");
}

/* state: { tab, parts: { v: "0,17000", ... } }; what is "" is left out. */
export function encode({ tab, parts }) {
  const list = KEYS.filter((k) => parts[k]).map((k) => k + "=" + plain(parts[k]));
  return tab + (list.length ? "?" + list.join("&") : "");
}

/* The same for an address: of what is too long the last bookmarks go first, then whole parts. */
export function shortened(text) {
  if (text.length <= MOST) return text;
  const { tab, parts } = decode(text), marks = (parts.m || "").split(";").filter(Boolean), of = (keys) => ({ tab, parts: Object.fromEntries([...keys.map((k) => [k, parts[k]]), ["m", marks.join(";")]]) });
  let keys = KEYS.filter((k) => k !== "m" && parts[k]), short = encode(of(keys));
  while (short.length > MOST && (marks.length || keys.length)) {
    if (marks.length) marks.pop();
    else keys = keys.slice(0, -1);
    short = encode(of(keys));
  }
  return short;
}

/* Of any text; what makes no sense is left out. */
export function decode(text) {
  const at = text.indexOf("?"), parts = {};
  for (const part of at < 0 ? [] : text.slice(at + 1).split("&")) {
    const eq = part.indexOf("="), key = part.slice(0, eq);
    if (!KEYS.includes(key)) continue;
    try {
      parts[key] = decodeURIComponent(part.slice(eq + 1).replaceAll("+", " "));
    } catch {
      /* cut in the middle */
    }
  }
  return { tab: at < 0 ? text : text.slice(0, at), parts };
}

/* Bookmarks: [{ t: a place on the axis, text }]. A text has no ";" in this form. */
export function encodeMarks(marks) {
  return marks.map((m) => Number(m.t.toPrecision(12)) + "~" + whole(m.text).replace(/[%;]/g, (c) => (c === "%" ? "%25" : "%3B"))).join(";");
}

export function decodeMarks(text) {
  return (text || "").split(";").filter(Boolean).flatMap((part) => {
    const at = part.indexOf("~"), t = Number(part.slice(0, at));
    if (at < 0 || !isFinite(t)) return [];
    try {
      return [{ t, text: whole(decodeURIComponent(part.slice(at + 1)).slice(0, 500)) }];
    } catch {
      return [];
    }
  });
}

/* Both lists, what is in both once. */
export function joinedMarks(a, b) {
  const known = new Set(a.map((m) => encodeMarks([m])));
  return [...a, ...b.filter((m) => !known.has(encodeMarks([m])))];
}

/* Whole numbers from 0, below `n`; others are left out, and each is there once. */
export function decodeNumbers(text, n) {
  return [...new Set((text || "").split(",").filter(Boolean).map(Number).filter((v) => Number.isInteger(v) && v >= 0 && v < n))];
}

/* Whole numbers as "0-4,7", and back; of a text those below `n`. */
export function encodeSpans(numbers) {
  const spans = [];
  for (const v of [...numbers].sort((a, b) => a - b)) {
    const last = spans[spans.length - 1];
    if (last && last[1] === v - 1) last[1] = v;
    else spans.push([v, v]);
  }
  return spans.map(([a, b]) => (a === b ? String(a) : a + "-" + b)).join(",");
}

export function decodeSpans(text, n) {
  return (text || "").split(",").filter((part) => /^\d+(-\d+)?$/.test(part)).flatMap((part) => {
    const [a, b = a] = part.split("-").map(Number);
    return Array.from({ length: Math.max(0, Math.min(b, n - 1) - a + 1) }, (_, i) => a + i);
  });
}

/* [from, to] of an axis; null: it is none. */
export function decodeRange(text) {
  const [a, b] = (text || "").split(",").map(Number);
  return isFinite(a) && isFinite(b) && b > a ? [a, b] : null;
}
