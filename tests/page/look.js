/* What somebody who looks at the page would find wrong with the picture, whatever it shows: texts that are cut, lie on one another or
 * cannot be read; things outside of the window; a view with nothing in it; what only a mouse reaches. Evaluated in the page by
 * tests/unit/test_page_matrix.c, once; then `await look()` is a list of faults, at most a few. Not for what texts say. */
(() => {
  const read = (text) => {
    let m = /color\(srgb ([\d.e-]+) ([\d.e-]+) ([\d.e-]+)(?: \/ ([\d.e-]+))?\)/.exec(text);
    if (m) return [m[1] * 255, m[2] * 255, m[3] * 255, m[4] === undefined ? 1 : +m[4]];
    m = /rgba?\((\d+), (\d+), (\d+)(?:, ([\d.]+))?\)/.exec(text);
    return m ? [+m[1], +m[2], +m[3], m[4] === undefined ? 1 : +m[4]] : null;
  };
  const light = (c) => [0.2126, 0.7152, 0.0722].reduce((sum, part, i) => sum + part * (c[i] <= 10.31475 ? c[i] / 255 / 12.92 : ((c[i] / 255 + 0.055) / 1.055) ** 2.4), 0);
  const contrast = (a, c) => (Math.max(light(a), light(c)) + 0.05) / (Math.min(light(a), light(c)) + 0.05);
  const over = (top, base) => [0, 1, 2].map((i) => top[i] * top[3] + base[i] * (1 - top[3]));

  /* What canvases hold: the texts since each was last painted anew, where they stand, and how they differ from what is below them. */
  const drawn = new Map(), proto = CanvasRenderingContext2D.prototype, plain = proto.fillText, get = HTMLCanvasElement.prototype.getContext;
  const ink = get.call(document.createElement("canvas"), "2d", { willReadFrequently: true });
  HTMLCanvasElement.prototype.getContext = function (kind, options) {
    drawn.set(this, []);
    return get.call(this, kind, { ...options, willReadFrequently: true });
  };
  proto.fillText = function (text, x, y) {
    const list = drawn.get(this.canvas) || [], m = this.getTransform(), wide = this.measureText(text).width, high = parseFloat(/([\d.]+)px/.exec(this.font)[1]);
    const left = this.textAlign === "right" ? x - wide : this.textAlign === "center" ? x - wide / 2 : x, top = this.textBaseline === "middle" ? y - high / 2 : this.textBaseline === "top" ? y : y - high * 0.8;
    const one = { text: String(text), left: left * m.a + m.e, top: top * m.d + m.f, right: (left + wide) * m.a + m.e, bottom: (top + high) * m.d + m.f, least: 21 };
    if (list.length < 120 && wide >= 1 && one.bottom > 0 && one.top < this.canvas.height) {
      const { data } = this.getImageData(one.left, (one.top + one.bottom) / 2, Math.max(1, one.right - one.left), 1), counts = new Map(), page = read(getComputedStyle(document.body).backgroundColor);
      for (let i = 0; i < data.length; i += 4) {
        const key = (data[i] << 24) | (data[i + 1] << 16) | (data[i + 2] << 8) | data[i + 3];
        counts.set(key, (counts.get(key) || 0) + 1);
      }
      ink.fillStyle = this.fillStyle;
      ink.fillRect(0, 0, 1, 1);
      const own = [...ink.getImageData(0, 0, 1, 1).data];
      for (const [key, n] of counts)
        if (n * 4 > data.length * 0.2) one.least = Math.min(one.least, contrast(own, over([key >>> 24, (key >> 16) & 255, (key >> 8) & 255, (key & 255) / 255], page)));
    }
    list.push(one);
    drawn.set(this.canvas, list);
    return plain.apply(this, arguments);
  };

  const meet = (a, b) => ({ left: Math.max(a.left, b.left), top: Math.max(a.top, b.top), right: Math.min(a.right, b.right), bottom: Math.min(a.bottom, b.bottom) });
  const overlaps = (list, wrong, where) => {
    list.sort((a, b) => a.top - b.top);
    for (let i = 0; i < list.length; i++)
      for (let k = i + 1; k < list.length && list[k].top < list[i].bottom - 3; k++) {
        const common = meet(list[i], list[k]);
        if (list[i].node && list[i].node === list[k].node) continue; /* lines of one text */
        if (common.right - common.left > 2 && common.bottom - common.top > 3) wrong.push(where + "'" + list[i].text.slice(0, 24) + "' lies on '" + list[k].text.slice(0, 24) + "'");
      }
  };

  const canvases = (wrong) => {
    for (const [canvas, list] of drawn) {
      if (!canvas.isConnected || !canvas.getClientRects().length) continue;
      const name = "canvas " + (canvas.id || canvas.parentElement.id) + ": ", seen = list.filter((t) => t.bottom > 2 && t.top < canvas.height - 2 && t.right > t.left);
      for (const t of seen) {
        if (t.left < -1 || t.right > canvas.width + 1) wrong.push(name + "'" + t.text.slice(0, 24) + "' is cut");
        if (t.least < 4.5) wrong.push(name + "'" + t.text.slice(0, 24) + "' has a contrast of " + t.least.toFixed(2));
      }
      overlaps(seen, wrong, name);
    }
  };

  /* Of the legend as much is there as has room. What lies above all else is compared with itself. */
  const texts = (wrong) => {
    const clips = new Map(), grounds = new Map(), styles = new Map(), layers = new Map();
    const style = (e) => styles.get(e) || styles.set(e, getComputedStyle(e)).get(e);
    const ground = (e) => {
      if (!e) return [255, 255, 255];
      if (grounds.has(e)) return grounds.get(e);
      let base = ground(e.parentElement);
      for (const layer of [read(style(e).backgroundColor), style(e).backgroundImage === "none" ? null : read(style(e).backgroundImage)]) if (layer) base = over(layer, base);
      grounds.set(e, base);
      return base;
    };
    const layer = (e) => {
      if (!e || e === document.body) return document.body;
      if (!layers.has(e)) layers.set(e, /sticky|fixed|absolute/.test(style(e).position) || e.tagName === "DIALOG" ? e : layer(e.parentElement));
      return layers.get(e);
    };
    /* What of it is in sight; `hard` is the part that no scrolling makes larger, `scrolls` and `down` where scrolling does. */
    const clip = (e) => {
      if (!e || e === document.documentElement) return { left: 0, top: 0, right: innerWidth, bottom: innerHeight, hard: { left: 0, top: 0, right: innerWidth, bottom: innerHeight } };
      if (clips.has(e)) return clips.get(e);
      const s = style(e), outer = s.position === "fixed" ? clip(null) : clip(e.parentElement), cuts = /auto|scroll|hidden|clip/.test(s.overflowX + s.overflowY) && e !== document.body;
      let box = outer;
      if (cuts) {
        const own = e.getBoundingClientRect(), scrolls = /auto|scroll/.test(s.overflowX), down = /auto|scroll/.test(s.overflowY), far = { left: -1e9, top: -1e9, right: 1e9, bottom: 1e9 };
        const hard = { ...outer.hard };
        if (scrolls) Object.assign(hard, { left: far.left, right: far.right });
        else Object.assign(hard, { left: Math.max(hard.left, own.left), right: Math.min(hard.right, own.right) });
        if (down) Object.assign(hard, { top: far.top, bottom: far.bottom });
        else Object.assign(hard, { top: Math.max(hard.top, own.top), bottom: Math.min(hard.bottom, own.bottom) });
        box = { ...meet(outer, own), hard, ellipsis: s.textOverflow === "ellipsis" || (outer.ellipsis && !scrolls) };
      }
      clips.set(e, box);
      return box;
    };
    /* Rows of a table that are scrolled out of sight are not looked at, nor what is not there. */
    const inSight = (e) => {
      if (/^(SCRIPT|NOSCRIPT|SELECT|CANVAS)$/.test(e.tagName) || e.hidden || e.classList.contains("away")) return false;
      if (e.tagName !== "TR") return true;
      const r = e.getBoundingClientRect(), box = clip(e.parentElement);
      return r.bottom > box.top && r.top < box.bottom;
    };
    const byLayer = new Map(), walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT | NodeFilter.SHOW_ELEMENT, (n) => (n.nodeType === 3 ? 1 : inSight(n) ? 3 : 2)), range = document.createRange();
    const dialog = document.querySelector("dialog[open]");
    for (let n; (n = walk.nextNode());) {
      const e = n.parentElement;
      if (!n.data.trim() || e.closest("#legend") || style(e).visibility === "hidden" || (dialog && !dialog.contains(e))) continue;
      range.selectNodeContents(n);
      const box = clip(e), said = n.data.trim(), label = e.tagName.toLowerCase() + (e.id ? "#" + e.id : e.className && typeof e.className === "string" ? "." + e.className : "") + " '" + said.slice(0, 24) + "'";
      let any = false;
      for (const r of range.getClientRects()) {
        const part = meet(box, r), { hard } = box;
        if (r.width < 1) continue;
        if (!box.ellipsis && (r.right > hard.right + 1.5 || r.left < hard.left - 1.5)) wrong.push(label + " is cut");
        if (r.bottom > hard.bottom + 3 || r.top < hard.top - 3) wrong.push(label + " is cut above or below");
        if (part.right - part.left < 1 || part.bottom - part.top < 2) continue;
        any = true;
        const key = layer(e);
        if (!byLayer.has(key)) byLayer.set(key, []);
        byLayer.get(key).push({ text: said, node: n, ...part });
      }
      if (!any || e.closest("[disabled]")) continue;
      const base = ground(e), svg = e.namespaceURI.endsWith("svg"), c = contrast(over(read(svg ? style(e).fill : style(e).color), base), base);
      if (c < 4.5) wrong.push(label + " has a contrast of " + c.toFixed(2));
    }
    for (const list of byLayer.values()) overlaps(list, wrong, "");
  };

  /* Something that a mouse may click is reached by keys, or is in something that is; and is called something. */
  const hands = (wrong) => {
    for (const e of document.querySelectorAll("body *")) {
      if (!e.getClientRects().length || e.tagName === "CANVAS") continue;
      if (/^(BUTTON|SELECT|INPUT|A)$/.test(e.tagName) && !(e.textContent.trim() || e.getAttribute("aria-label") || e.title || (e.labels && e.labels.length))) wrong.push(e.outerHTML.slice(0, 60) + " has no name");
      if (getComputedStyle(e).cursor === "pointer" && !e.closest("button, a, input, select, label, summary, [tabindex]") && !e.querySelector("button, a, input, select, [tabindex]")) wrong.push(e.tagName + " '" + e.textContent.trim().slice(0, 24) + "' is for a mouse only");
    }
  };

  const blank = (canvas) => {
    const all = new Uint32Array(get.call(canvas, "2d").getImageData(0, 0, canvas.width, canvas.height).data.buffer);
    return all.every((pixel) => pixel === all[0]);
  };
  const emptiness = (wrong) => {
    const pane = document.querySelector("[role=tabpanel]:not([hidden])"), empty = document.getElementById("empty");
    if (empty && !empty.hidden) return void (empty.innerText.length > 60 || wrong.push("an empty page does not say why"));
    if (!pane) return;
    if (pane.scrollWidth > pane.clientWidth + 1 && getComputedStyle(pane).overflowX !== "visible") wrong.push("scrolls sideways as a whole: " + pane.scrollWidth + " pixels of " + pane.clientWidth);
    if (pane.innerText.trim().length < 20) wrong.push("says nothing: '" + pane.innerText.trim() + "'");
    for (const id of ["paint", "gutter", "ruler", "overview", "heat"]) {
      const canvas = document.getElementById(id);
      if (canvas.getClientRects().length && canvas.clientHeight > 1 && blank(canvas)) wrong.push("canvas " + id + " is empty");
    }
    for (const box of pane.querySelectorAll("svg, canvas")) if (box.getClientRects().length && (box.clientWidth < 40 || box.clientHeight < 20)) wrong.push((box.id || box.tagName) + " has no room");
    const box = pane.getBoundingClientRect();
    if (box.height < 60 || box.width < innerWidth - 20) wrong.push("has no room: " + Math.round(box.width) + " by " + Math.round(box.height));
  };

  /* Each view of the page: its tabs, and what they are after somebody has used them. */
  const page = globalThis.devlog, byId = (id) => document.getElementById(id);
  const set = (id, value) => {
    const e = byId(id);
    if (!e || !e.options || ![...e.options].some((o) => o.value === value && !o.disabled)) return false;
    e.value = value;
    e.dispatchEvent(new Event("change"));
    return true;
  };
  const longest = () => {
    let best = null;
    for (const row of page.timeline.model.rows)
      for (const lane of row.lanes) for (let i = 0; i < lane.n; i++) if (!lane.points && lane.level === row.lanes.length - 1 && (!best || lane.end[i] - lane.start[i] > best.lane.end[best.i] - best.lane.start[best.i])) best = { lane, i };
    return best || { lane: page.timeline.model.rows[0].lanes[0], i: 0 };
  };
  const click = (selector) => {
    const e = document.querySelector(selector);
    if (e) e.dispatchEvent(new MouseEvent("click", { bubbles: true }));
    return Boolean(e);
  };
  const views = {
    "overview": () => page.showTab("overview"),
    "time": () => (page.showTab("time"), page.viewAll()),
    "time, a zone selected": () => (page.showTab("time"), page.goTo(longest())),
    "time, measured": () => (page.showTab("time"), page.viewAll(), page.measure(page.view.span * 0.2, page.view.span * 0.6)),
    "time, all cores open": () => (page.showTab("time"), page.rowsLayout.open.clear(), page.toggleCore(null), page.viewAll()),
    "ops": () => page.showTab("ops"),
    "ops, one chosen": () => (page.showTab("ops"), click("#op-table tbody tr")),
    "zones": () => page.showTab("zones"),
    "zones, one chosen": () => (page.showTab("zones"), page.chooseRow([...page.table.rows].sort((a, c) => c.sum - a.sum)[0])),
    "heat": () => (page.showTab("heat"), set("heat-as", "launches")),
    "heat, by time": () => (page.showTab("heat"), set("heat-as", "launches"), set("heat-by", "time")),
    "heat, the chip": () => (page.showTab("heat"), set("heat-as", "chip")),
    "memory": () => page.showTab("memory"),
    "roofline": () => page.showTab("roofline"),
    "causes": () => page.showTab("causes"),
    "markers": () => page.showTab("markers"),
    "markers, drawn": () => (page.showTab("markers"), document.querySelector("#markers button[aria-pressed]") && click("#markers button") && page.showTab("time")),
    "log": () => page.showTab("log"),
    "keys": () => (page.showTab("time"), byId("help").showModal()),
  };
  globalThis.viewsOfPage = (used) => (page && page.timeline.ready ? Object.keys(views).filter((v) => (v === "keys" || page.tabNames().includes(v.split(",")[0])) && (used || (v !== "keys" && !v.includes(",")))) : ["empty"]);
  globalThis.viewOfPage = (name) => {
    if (!views[name]) return name === "empty";
    byId("help").close();
    if (page.curves.shown.length) page.setCurves([]), page.showMarkers(page.timeline.model);
    page.rowsLayout.open.clear();
    page.clearAll();
    page.measureTimeline();
    set("heat-by", "median");
    return views[name]() !== false;
  };

  /* What the list of keys says that they do. */
  globalThis.keysOfPage = () => {
    const wrong = [], { view, selection, rowsLayout, timeline, tabs } = page, size = () => view.t1 - view.t0;
    const press = (key) => document.body.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true }));
    const does = (key, what, test) => (press(key), test() || wrong.push("'" + key + "' does not " + what));
    byId("help").close();
    page.tabNames().slice(0, 9).forEach((name, i) => does(String(i + 1), "show " + name, () => tabs.now === name));
    page.showTab("time");
    page.clearAll();
    does("Home", "show everything", () => size() > view.span);
    let before = size(), t0 = view.t0;
    does("w", "zoom in", () => size() < before * 0.8);
    t0 = view.t0;
    does("d", "pan right", () => view.t0 > t0);
    does("a", "pan left", () => Math.abs(view.t0 - t0) < before / 1e6);
    does("s", "zoom out", () => Math.abs(size() - before) < before / 1e6);
    does("ArrowRight", "select a zone", () => selection.item);
    does("f", "fit it", () => size() < before * 0.9 || view.span < view.least * 3);
    does("m", "measure it", () => selection.range);
    does("ArrowDown", "go down", () => selection.item);
    does("Escape", "clear", () => !selection.item && !selection.range);
    rowsLayout.open.clear();
    does("e", "open all cores", () => rowsLayout.open.size === timeline.model.cores.length);
    does("e", "close them", () => rowsLayout.open.size === 0);
    if (timeline.model.launches.length > 1) does(".", "go to a launch", () => selection.item);
    before = timeline.unit;
    if (timeline.model.toNs) does("u", "change the unit", () => timeline.unit !== before), press("u");
    before = document.documentElement.dataset.theme;
    does("t", "change the colours", () => document.documentElement.dataset.theme !== before);
    press("t");
    does("/", "search", () => document.activeElement === byId("search"));
    byId("search").blur();
    does("?", "list the keys", () => byId("help").open);
    byId("help").close();
    does("b", "make a bookmark", () => byId("note").open);
    byId("note").close();
    press("Escape");
    does("Home", "show everything", () => size() > view.span);
    return wrong;
  };

  globalThis.look = async (withHands) => {
    const wrong = [];
    await new Promise((done) => requestAnimationFrame(done)); /* behind the page's own */
    await Promise.all(document.getAnimations().map((a) => a.finished.catch(() => 0)));
    if (Math.max(document.documentElement.scrollWidth, document.body.scrollWidth) > innerWidth) wrong.push("is wider than the window");
    if (document.documentElement.scrollHeight > innerHeight) wrong.push("is higher than the window");
    texts(wrong);
    canvases(wrong);
    if (withHands) hands(wrong);
    emptiness(wrong);
    return [...new Set(wrong)];
  };
})();
