/* What device_perf.html shows is so, and can be read: sums, outliers, search and names on logs that are large
 * in one way or another; contrast of all text, light and dark; room for everything in narrow windows. Skipped
 * where there is no chromium. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/device.h"
#include "support/page.h"

static browser *b;
static char folder[64], out[80];

static int start_browser(void **state)
{
    (void)state;
    b = browser_start(1440, 900);
    if (!b) print_message("skipped: no chromium here\n");
    snprintf(folder, sizeof folder, "%s", test_folder());
    snprintf(out, sizeof out, "%s/out", folder);
    return 0;
}

static int stop_browser(void **state)
{
    char command[100];
    (void)state;
    browser_stop(b);
    snprintf(command, sizeof command, "rm -rf %s", folder);
    return system(command);
}

#define NEEDS_BROWSER()                                                                                      \
    do {                                                                                                     \
        (void)state;                                                                                         \
        if (!b) skip();                                                                                      \
        browser_size(b, 1440, 900);                                                                          \
    } while (0)

static void open_log(const page_log *log, int exit_status)
{
    char path[200];
    snprintf(path, sizeof path, "%s/profile_log_device.csv", folder);
    page_log_write(path, log);
    page_open(b, path, out, exit_status);
}

/* Four cores of two RISCs that run together, 4,000 launches of 500 + 300 cycles each 2,600: several in each
 * of the thousand parts of the overview. Cores that run on several RISCs count once. */
static void cores_busy_is_a_sum(void **state)
{
    NEEDS_BROWSER();
    const page_log log = {
        .chips = 1, .columns = 4, .rows = 1, .riscs = 2, .launches = 4000, .zones = 1, .apart = 2600};
    open_log(&log, 0);
    /* The log's span: from the first firmware start to the last end. */
    const double span = 3999.0 * 2600 + 1000, truth = 4 * 4000 * 800.0 / span;
    double average = browser_number(b, "busyBetween(timeline.busy, 0, timeline.busy.length)");
    print_message("cores busy: %.4f of 4, where the truth is %.4f\n", average, truth);
    assert_true(average > truth * 0.999 && average < truth * 1.001);
    assert_true(browser_number(b, "Math.max(...timeline.busy)") <= 4);
    page_has_text(b, "document.getElementById('strip-label').innerText", "1.23 of 4");
    page_has_text(b, "document.getElementById('strip-label').title", "of 4 cores ran a kernel");
}

/* More than 100,000 hits: all are counted, on all cores, and the next is the next from what is on the screen.
 */
static void search_finds_all(void **state)
{
    NEEDS_BROWSER();
    const page_log log = {.chips = 1, .columns = 16, .rows = 8, .riscs = 2, .launches = 70, .zones = 6};
    open_log(&log, 0);
    free(browser_js(b, "runSearch('a')")); /* three of the six names */
    page_has_text(b, "document.getElementById('found').textContent", "53,760 found");
    free(browser_js(b, "runSearch('kernels/k')")); /* the source file of all */
    page_has_text(b, "document.getElementById('found').textContent", "197,120 found");
    page_has_number(b, "new Set(search.lanes.map((f) => f.lane.row.core)).size", 128);
    /* From the middle of the log on, not from its begin. */
    free(browser_js(b, "setView(view.span * 0.5, view.span * 0.52), window.edge = view.t0, nextHit(1)"));
    assert_true(browser_number(b, "itemStart(selection.item) - edge") >= 0);
    assert_true(browser_number(b, "itemStart(selection.item) - edge") < 20000);
    page_has_text(b, "document.getElementById('found').textContent", "of 197,120");
    assert_true(browser_number(b, "search.at") > 90000);
    /* And on, one by one, without leaving one out: numbers follow each other, places go up. */
    page_has_text(b,
                  "(() => { const wrong = []; for (let i = 0; i < 30; i++) { const at = search.at, place = "
                  "search.item; nextHit(1); if (search.at !== at + 1 || !hitBefore(place, search.item)) "
                  "wrong.push(at); } for (let i = 0; i < 30; i++) { const at = search.at; nextHit(-1); if "
                  "(search.at !== at - 1) wrong.push(at); } return 'wrong: ' + wrong.join(' ') + '.'; })()",
                  "wrong: .");
    /* The last is followed by the first. */
    free(browser_js(b, "viewAll(), search.item = null, nextHit(-1)"));
    page_has_text(b, "document.getElementById('found').textContent", "197,120 of 197,120");
    free(browser_js(b, "nextHit(1)"));
    page_has_text(b, "document.getElementById('found').textContent", "1 of 197,120");
    /* Launches of one number on several chips are all found. */
    const page_log chips = {.chips = 3, .columns = 2, .rows = 1, .riscs = 1, .launches = 3, .zones = 1};
    open_log(&chips, 0);
    free(browser_js(b, "runSearch('launch 2048')"));
    page_has_text(b, "document.getElementById('found').textContent", "3 found");
}

static void an_open_core_has_its_name(void **state)
{
    NEEDS_BROWSER();
    const page_log log = {.chips = 1, .columns = 16, .rows = 8, .riscs = 5, .launches = 2, .zones = 2};
    open_log(&log, 0);
    page_has_text(b,
                  "(async () => { const lost = []; for (const core of timeline.model.cores) { "
                  "rowsLayout.open.clear(); toggleCore(core); reveal(rowsLayout.bands.find((x) => x.core === "
                  "core)); paintGutter(); if (!timeline.named.has(core)) lost.push(core.name); } return "
                  "'without a name: ' + lost.join(' ') + '.'; })()",
                  "without a name: .");
}

/* 10,000 launches, one of which takes longer on core 0,0: it is in the map, in sight, and stands out. */
static void an_outlier_among_ten_thousand(void **state)
{
    NEEDS_BROWSER();
    const page_log log = {.chips = 1,
                          .columns = 4,
                          .rows = 1,
                          .riscs = 1,
                          .launches = 10000,
                          .zones = 1,
                          .slow = 9777,
                          .slower = 4000};
    open_log(&log, 0);
    browser_key(b, "5");
    page_settle(b);
    page_has_number(b, "heat.launches.length", 10000);
    page_has_number(b,
                    "document.getElementById('heat-scroll').scrollWidth > "
                    "document.getElementById('heat-scroll').clientWidth ? 1 : 0",
                    0);
    page_has_number(b, "heat.columns * heat.per >= 10000 ? 1 : 0", 1);
    /* The pixel of its column has the strongest red; the same column of another core has not. */
    free(browser_js(
        b, "window.pixel = (c) => { const k = 9776, x = heat.gutter + Math.floor(k / heat.per) * heat.w + "
           "0.5, y = heat.head + c * heat.h + heat.h / 2; return "
           "[...document.getElementById('heat').getContext('2d').getImageData(x, y, 1, 1).data].slice(0, "
           "3).map((v) => v.toString(16).padStart(2, '0')).join(''); }"));
    page_has_text(b, "'#' + pixel(0)", "#c4402a");
    page_has_text(b, "'#' + pixel(1)", "#e4e7eb");
    /* By duration it stands out as well, and a click on it says which launch it is. */
    free(browser_js(b, "heat.by = 'time', showHeat()"));
    page_has_text(b, "'#' + pixel(0)", "#fde725");
    free(browser_js(b, "heat.by = 'median', showHeat()"));
    page_has_text(b, "cellText(0, cellAt(0, Math.floor(9776 / heat.per)).k)",
                  "launch 10011648: 4,800 cycles");
    page_has_text(b, "document.getElementById('heat-scale').textContent", "is furthest from the median");
    page_has_text(b, "document.getElementById('stragglers').innerText", "+500.0 %");
    page_has_no_problems(b, "outlier");
}

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
    " const frame = () => new Promise((r) => requestAnimationFrame(() => requestAnimationFrame(r)));"
    " const model = timeline.model;"
    " for (const name of ['zones', 'heat', 'log', 'zones']) { showTab(name); await frame(); dom(); }"
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

static void legible(const char *what)
{
    char *text = browser_js(b, "%s", contrast_of_all);
    if (strncmp(text, "exception", 9) == 0) fail_msg("%s: %s", what, text);
    if (!strstr(text, ",[]]")) print_message("%s: less than 4.5:\n%s\n", what, text);
    print_message("%s: %d texts\n", what, atoi(text + 1));
    assert_true(atoi(text + 1) > 10);
    assert_non_null(strstr(text, ",[]]"));
    free(text);
}

/* Enough zones for every colour there is, cold and warm; losses, values, a straggler, several chips. */
static void every_text_can_be_read(void **state)
{
    NEEDS_BROWSER();
    const page_log log = {.chips = 2,
                          .columns = 2,
                          .rows = 1,
                          .riscs = 2,
                          .launches = 2,
                          .zones = 30,
                          .drops = true,
                          .values = true,
                          .slow = 2,
                          .slower = 3000};
    open_log(&log, 3);
    browser_key(b, "5");
    page_settle(b);
    page_has_text(b, "document.getElementById('stragglers').innerText", "of 2"); /* launches of its chip */
    browser_key(b, "4");
    page_has_number(b, "new Set(theme.css).size", 10 + 4 + 3);
    legible("light");
    browser_key(b, "t");
    page_has_text(b, "document.documentElement.dataset.theme", "dark");
    legible("dark");
    /* Black or white can be read on any colour whatever, faded or not. */
    page_has_text(
        b,
        "(() => { let least = 21; for (let c = 0; c < 4096; c++) { const hex = '#' + [c & 15, c >> 4 & 15, "
        "c >> 8].map((v) => (v * 17).toString(16).padStart(2, '0')).join(''); least = Math.min(least, "
        "contrast(inkOn(hex), hex)); } return least >= 4.5 ? 'all' : String(least); })()",
        "all");
}

/* At each width everything that is told is in sight: facts whole, the selection, the histogram with its
 * labels. */
static void fits_narrow_windows(void **state)
{
    NEEDS_BROWSER();
    static const int widths[] = {1400, 1000, 800};
    const page_log log = {.chips = 4, .columns = 2, .rows = 2, .riscs = 2, .launches = 2500, .zones = 3};
    open_log(&log, 0);
    page_has_text(b, "document.getElementById('facts').innerText", "chips 0, 1, 2, 3: wormhole_b0, 500 MHz");
    for (size_t i = 0; i < sizeof widths / sizeof widths[0]; i++) {
        browser_size(b, widths[i], 900);
        page_settle(b);
        free(browser_js(b, "showTab('zones'), measureTimeline(), showHistogram(), goTo({ lane: "
                           "timeline.model.rows[0].lanes[2], i: 1 })"));
        page_settle(b);
        page_has_text(b, "document.getElementById('details').innerText", "wait for page 1");
        page_has_text(
            b,
            "(() => { const cut = []; for (const e of [...document.querySelectorAll('#facts li, #health, "
            "#search, #unit, #theme, #ask, #details, #chart, #chart canvas, #details dd, #tabs "
            "[role=tab]:not([hidden]), #rows, #table-box')]) { const r = e.getBoundingClientRect(), p = "
            "e.parentElement.getBoundingClientRect(); if (!r.width || !r.height || r.left < 0 || r.right > "
            "innerWidth + 0.5 || r.top < 0 || r.bottom > innerHeight + 0.5 || (e.tagName === 'LI' && "
            "(r.right > p.right + 0.5 || r.bottom > p.bottom + 0.5))) cut.push(e.tagName + '#' + e.id + ' ' "
            "+ "
            "[r.left, r.top, r.right, r.bottom].map(Math.round) + ' ' + e.textContent.slice(0, 20)); } "
            "return 'cut: ' + cut.join('; ') + '.'; })()",
            "cut: .");
    }
    browser_size(b, 1440, 900);
}

/* The labels of counts from 10,000 on stand whole on the canvas, and axes have units. */
static void axes_are_labelled(void **state)
{
    NEEDS_BROWSER();
    const page_log log = {.chips = 1, .columns = 4, .rows = 2, .riscs = 1, .launches = 5000, .zones = 1};
    open_log(&log, 0);
    free(browser_js(
        b, "window.texts = [], window.plain = CanvasRenderingContext2D.prototype.fillText, "
           "CanvasRenderingContext2D.prototype.fillText = function (text, x, y) { const w = "
           "this.measureText(text).width, left = this.textAlign === 'right' ? x - w : this.textAlign === "
           "'center' ? x - w / 2 : x; texts.push({ text, left, right: left + w, canvas: this.canvas }); "
           "return plain.apply(this, arguments); }"));
    free(browser_js(b, "chooseRow(table.rows.find((r) => r.name === 'read page 0')), paintRuler()"));
    page_has_text(b, "texts.filter((t) => !t.canvas.id).map((t) => t.text).join('|')", "40,000");
    page_has_text(b, "texts.filter((t) => !t.canvas.id).map((t) => t.text).join('|')", "cycles");
    page_has_text(b, "texts.filter((t) => !t.canvas.id).map((t) => t.text).join('|')", "count");
    page_has_text(b,
                  "'cut: ' + texts.filter((t) => !t.canvas.id && (t.left < 0 || t.right > "
                  "parseFloat(t.canvas.style.width))).map((t) => t.text).join() + '.'",
                  "cut: .");
    page_has_text(b, "texts.filter((t) => t.canvas.id === 'ruler')[0].text", " cycles");
    page_has_text(b, "document.getElementById('view-label').textContent", " cycles");
    free(browser_js(b, "texts.length = 0, toggleUnit(), paintRuler(), 1"));
    page_has_text(b, "texts.filter((t) => !t.canvas.id).map((t) => t.text).join('|')", "ns");
    free(browser_js(b, "CanvasRenderingContext2D.prototype.fillText = plain, 1"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cores_busy_is_a_sum),       cmocka_unit_test(search_finds_all),
        cmocka_unit_test(an_open_core_has_its_name), cmocka_unit_test(an_outlier_among_ten_thousand),
        cmocka_unit_test(every_text_can_be_read),    cmocka_unit_test(fits_narrow_windows),
        cmocka_unit_test(axes_are_labelled),
    };
    return cmocka_run_group_tests(tests, start_browser, stop_browser);
}
