/* Whether everything on the page can be read and stays inside the window: WCAG's contrast of each text with what it stands on, in the page and on its
 * canvases, on every tab. See page.h. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/cmocka_all.h"
#include "support/page.h"

/* Every text on the page and on its canvases against what it stands on. */
static const char contrast_of_all[] =
    "(async () => {"
    " const lum = (c) => { const f = c.slice(0, 3).map((v) => { v /= 255; return v <= 0.04045 ? v / 12.92 : "
    "((v + 0.055) / 1.055) ** 2.4; }); return 0.2126 * f[0] + 0.7152 * f[1] + 0.0722 * f[2]; };"
    " const ratio = (a, c) => { const [x, y] = [lum(a), lum(c)].sort((p, q) => p - q); return (y + 0.05) / "
    "(x + "
    "0.05); };"
    " const over = (top, base) => [0, 1, 2].map((i) => top[i] * top[3] + base[i] * (1 - top[3]));"
    " const read = (text) => { let m = /color\\(srgb ([\\d.e-]+) ([\\d.e-]+) ([\\d.e-]+)(?: \\/ "
    "([\\d.e-]+))?\\)/.exec(text); if (m) return [m[1] * 255, m[2] * 255, m[3] * 255, m[4] === undefined ? 1 "
    ": +m[4]]; m = "
    "/rgba?\\((\\d+), (\\d+), (\\d+)(?:, ([\\d.]+))?\\)/.exec(text); return m ? [+m[1], +m[2], +m[3], m[4] "
    "=== "
    "undefined ? 1 : +m[4]] : null; };"
    " const bad = new Map(); let seen = 0;"
    " const note = (r, what) => { seen++; if (r < 4.5 && !(bad.get(what) <= r)) bad.set(what, r); };"
    " const ground = (e) => { const layers = []; for (; e; e = e.parentElement) { const s = "
    "getComputedStyle(e); "
    "if (s.backgroundImage !== 'none') layers.push(read(s.backgroundImage)); "
    "layers.push(read(s.backgroundColor)); "
    "} return layers.reverse().reduce((base, l) => (l ? over(l, base) : base), [255, 255, 255]); };"
    " const dom = () => { const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT); for "
    "(let n; "
    "(n = walk.nextNode());) { const e = n.parentElement; if (!n.data.trim() || !e.getClientRects().length "
    "|| "
    "e.closest('script, .away, select')) continue; const base = ground(e), colour = "
    "read(getComputedStyle(e).color); note(ratio(over(colour, base), base), 'text ' + e.tagName + '#' + e.id "
    "+ '.' "
    "+ e.className + ' ' + n.data.slice(0, 30)); } };"
    " if (typeof timeline === 'undefined') { dom(); return JSON.stringify([seen, [...bad]]); }"
    " const paint = CanvasRenderingContext2D.prototype, plain = paint.fillText, parse = "
    "document.createElement('canvas').getContext('2d', { willReadFrequently: true });"
    " paint.fillText = function (text, x, y) { const m = this.getTransform(), wide = "
    "this.measureText(text).width, "
    "left = this.textAlign === 'right' ? x - wide : this.textAlign === 'center' ? x - wide / 2 : x; const "
    "counts = "
    "new Map(), down = this.textBaseline === 'top' ? 5 : 0; if (wide >= 1) { const image = "
    "this.getImageData(left * "
    "m.a + m.e, (y + down) * m.d + m.f, Math.max(1, wide * m.a), 1).data; const page = read(getComputedStyle("
    "document.body).backgroundColor); for (let i = 0; i < image.length; i += 4) { const c = over([image[i], "
    "image[i "
    "+ 1], image[i + 2], image[i + 3] / 255], page).map(Math.round).join(); counts.set(c, (counts.get(c) || "
    "0) + 1); "
    "} parse.fillStyle = this.fillStyle; parse.fillRect(0, 0, 1, 1); const ink = [...parse.getImageData(0, "
    "0, 1, "
    "1).data]; for (const [c, n] of counts) if (n * 4 > image.length * 0.2) note(ratio(ink, "
    "c.split(',').map(Number)), 'canvas ' + this.canvas.id + ' ' + this.fillStyle + ' on ' + c + ': ' + "
    "text.slice(0, 20)); } return plain.apply(this, arguments); };"
    /* Colours on their way from one to the other are not looked at. */
    " const frame = async () => { await new Promise((r) => requestAnimationFrame(() => requestAnimationFrame(r))); "
    "await Promise.all(document.getAnimations().map((a) => a.finished.catch(() => 0))); };"
    " const model = timeline.model;"
    " for (const name of [...tabNames(), 'zones']) { showTab(name); await frame(); dom(); }"
    " rowsLayout.open.clear(); toggleCore(model.cores[0]);"
    " const met = new Set();"
    " for (const lane of model.rows[0].lanes) if (!lane.points) for (let i = 0; i < lane.n; i++) if "
    "(!met.has(lane.site[i])) { met.add(lane.site[i]); goTo({ lane, i }); await frame(); }"
    " dom(); showTip(selection.item, 700, 300); dom();"
    " goTo({ lane: model.rows[0].lanes[0], i: 0 }); await frame();"
    " for (const row of table.rows.slice(0, 5)) { chooseRow(row); await frame(); dom(); }"
    " chooseRow(null); runSearch('compute'); await frame(); dom(); runSearch('');"
    " measure(view.t0, (view.t0 + view.t1) / 2); await frame(); dom(); clearAll();"
    " paint.fillText = plain; return JSON.stringify([seen, [...bad]]); })()";

void page_is_legible(browser *b, const char *what)
{
    char *text = browser_js(b, "%s", contrast_of_all);
    if (strncmp(text, "exception", 9) == 0) fail_msg("%s: %s", what, text);
    if (!strstr(text, ",[]]")) print_message("%s: less than 4.5:\n%s\n", what, text);
    print_message("%s: %d texts\n", what, atoi(text + 1));
    assert_true(atoi(text + 1) > 10);
    assert_non_null(strstr(text, ",[]]"));
    free(text);
}

void page_fits(browser *b, const char *what, int at)
{
    static const int sizes[][2] = {{1440, 900}, {1024, 768}, {390, 844}};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        if (!(at & 1 << i)) continue;
        browser_size(b, sizes[i][0], sizes[i][1]);
        page_settle(b);
        char *wrong = browser_js(
            b,
            "(async () => { const wrong = [], frame = () => new Promise((r) => requestAnimationFrame(() => "
            "requestAnimationFrame(r))); const names = typeof tabNames === 'function' && !document.getElementById('main').hidden ? tabNames() : []; "
            "for (let modes = %d; modes--;) { document.getElementById('theme').click(); "
            "for (const name of names) { showTab(name); await frame(); const pane = "
            "document.getElementById('pane-' + name), box = pane.getBoundingClientRect(); "
            "if (document.documentElement.scrollWidth > innerWidth || document.body.scrollHeight > innerHeight) wrong.push(name + ': wider or higher than the window'); "
            "if (box.height < 60 || box.width < innerWidth - 20) wrong.push(name + ': ' + Math.round(box.width) + ' by ' + Math.round(box.height)); "
            "if (!pane.innerText.trim()) wrong.push(name + ': empty'); "
            "const tab = document.getElementById('tab-' + name).getBoundingClientRect(); if (tab.left < -0.5 || tab.right > innerWidth + 0.5) wrong.push(name + ': its tab is cut'); "
            "const scrolls = (e) => { for (; e && e !== document.body; e = e.parentElement) if (/auto|scroll/.test(getComputedStyle(e).overflowX)) return e.getBoundingClientRect().right <= innerWidth + 0.5; return false; }; "
            "for (const e of pane.querySelectorAll('b, h2, h3, p, li, td, button, select, input, canvas')) { const r = e.getBoundingClientRect(); "
            "if (r.width && (r.right > innerWidth + 0.5 || r.left < -0.5) && !scrolls(e.parentElement)) wrong.push(name + ': ' + e.tagName + ' ' + e.textContent.slice(0, 20) + ' is cut'); } } } "
            "return [...new Set(wrong)].slice(0, 6).join('; ') + '.' })()",
            at & PAGE_LIGHT_AND_DARK ? 2 : 1);
        if (strcmp(wrong, ".") != 0) fail_msg("%s, %d pixels wide: %s", what, sizes[i][0], wrong);
        free(wrong);
        page_has_no_problems(b, what);
    }
    browser_size(b, 1440, 900);
    page_settle(b);
}
