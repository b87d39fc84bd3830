/* Colours, light and dark. Firmware and kernels are quiet, zones have the colours, and what waits is warm: a
 * screen that is amber is a screen that waits. */

import { ROLE_FW, ROLE_KERNEL, ROLE_USER } from "./data.js";
import { byId } from "./dom.js";

const PALETTE = ["#4f83c4", "#4aa36b", "#8f6fc0", "#3fa3a8", "#c0648f", "#7a8f3a", "#6a78d1", "#a2775a", "#5aa0d8", "#8a9aa8"];
const WAITING = ["#e0a030", "#d07a2c", "#c4963f", "#b8642a"];
const WAITS = /wait|stall|reserve|barrier|idle|poll|spin|blocked/i;
const QUIET = {
  light: { page: "#ffffff", fw: "#dce1e7", kernel: "#bcc7d5", ink: "#1d2329", faint: "#586270", line: "#e6e9ed", band: "#f6f7f9", accent: "#1f6feb", lost: "#c4302b", good: "#1a7f4b" },
  dark: { page: "#15181c", fw: "#2b3037", kernel: "#3d4652", ink: "#dfe3e8", faint: "#9aa5b2", line: "#262b31", band: "#1b1f24", accent: "#5aa2ff", lost: "#ff7b72", good: "#56c98d" },
};

export const theme = { dark: false, colours: QUIET.light, css: [], packed: new Uint32Array(0), dimmed: new Uint32Array(0), inks: [], dimmedInks: [], launches: [0, 0], ofName: new Map(), kinds: null, ofLaunch: null };

function rgb(hex) {
  return [1, 3, 5].map((i) => parseInt(hex.slice(i, i + 2), 16));
}

/* As ImageData's bytes lie in a 32-bit word on a little-endian machine. */
export function packed(hex) {
  const [r, g, b] = rgb(hex);
  return ((255 << 24) | (b << 16) | (g << 8) | r) >>> 0;
}

export function mixed(hex, other, part) {
  const a = rgb(hex), b = rgb(other);
  return "#" + a.map((v, i) => Math.round(v + (b[i] - v) * part).toString(16).padStart(2, "0")).join("");
}

/* How much light a colour gives off, and the contrast of two, as WCAG 2 defines them. */
function luminance(hex) {
  const [r, g, b] = rgb(hex).map((v) => (v <= 10 ? v / 255 / 12.92 : Math.pow((v / 255 + 0.055) / 1.055, 2.4)));
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

export function contrast(a, b) {
  const [low, high] = [luminance(a), luminance(b)].sort((x, y) => x - y);
  return (high + 0.05) / (low + 0.05);
}

/* Black or white: one of the two always has a contrast of 4.58 or more. */
export function inkOn(hex) {
  return contrast("#ffffff", hex) >= 4.5 ? "#ffffff" : "#000000";
}

/* Colours go to names, not sites: the same zone in two files is one zone to the eye. Most time first. */
function namesByTime(model) {
  const total = new Map();
  for (const site of model.sites)
    if (site.role === ROLE_USER && !site.host) total.set(site.name, (total.get(site.name) || 0) + site.total);
  return [...total.keys()].sort((a, b) => total.get(b) - total.get(a) || (a < b ? -1 : 1));
}

/* Of all that is painted. */
export function setColours(model, dark) {
  const colours = dark ? QUIET.dark : QUIET.light;
  theme.dark = dark;
  theme.colours = colours;
  const ofName = new Map();
  let cold = 0, warm = 0;
  for (const name of namesByTime(model))
    ofName.set(name, WAITS.test(name) ? WAITING[warm++ % WAITING.length] : PALETTE[cold++ % PALETTE.length]);
  theme.css = model.sites.map((s) =>
    s.role === ROLE_FW ? colours.fw : s.role === ROLE_KERNEL || s.host ? colours.kernel : ofName.get(s.name) || colours.lost);
  theme.packed = Uint32Array.from(theme.css, packed);
  theme.inks = theme.css.map(inkOn);
  const dimmed = theme.css.map((c) => mixed(c, colours.page, 0.8));
  theme.dimmed = Uint32Array.from(dimmed, packed);
  theme.dimmedInks = dimmed.map(inkOn);
  theme.launches = [packed(colours.fw), packed(colours.kernel)];
  theme.ofName = ofName;
  theme.ofLaunch = theme.kinds && Uint32Array.from(theme.kinds, (kind) => packed(kindColour(kind)));
}

/* Of curves of values. */
export function curveColour() {
  return theme.dark ? "#6fb1d6" : "#2f6f9f";
}

/* What became of a launch in another run, as a colour that text can be read on. */
export function kindColour(kind) {
  const { colours } = theme, tints = { slower: [colours.lost, 0.5], faster: [colours.good, 0.5], "perhaps slower": [colours.lost, 0.76], "perhaps faster": [colours.good, 0.76], new: [colours.accent, 0.6], gone: [colours.accent, 0.6] };
  if (!tints[kind]) return colours.fw;
  const colour = tints[kind][0];
  let part = tints[kind][1];
  while (contrast(colours.ink, mixed(colour, colours.page, part)) < 4.6) part += 0.02;
  return mixed(colour, colours.page, part);
}

/* By launch: its kind. */
export function colourLaunches(kinds) {
  theme.kinds = kinds;
  theme.ofLaunch = Uint32Array.from(kinds, (kind) => packed(kindColour(kind)));
}

/* Of a zone by its name; grey when it is none. */
export function colourOfName(name) {
  return theme.ofName.get(name) || (/-FW$/.test(name) ? theme.colours.fw : theme.colours.kernel);
}

/* Anew, when the data have changed. */
export function recolour(model) {
  setColours(model, theme.dark);
}

export function startTheme(model, changed) {
  const system = matchMedia("(prefers-color-scheme: dark)");
  let chosen = null;
  const apply = () => {
    setColours(model, chosen === null ? system.matches : chosen);
    document.documentElement.dataset.theme = theme.dark ? "dark" : "light";
    byId("theme").textContent = theme.dark ? "light" : "dark";
    changed();
  };
  system.addEventListener("change", apply);
  byId("theme").addEventListener("click", () => {
    chosen = !theme.dark;
    apply();
  });
  apply();
}
