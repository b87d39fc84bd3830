/* What device_perf.html shows is so, and can be read: sums, outliers, search and names on logs that are large
 * in one way or another; contrast of all text, light and dark; room for everything in narrow windows. Skipped
 * where there is no chromium. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/device.h"
#include "support/page_group.h"

static char folder[64], out[80];

static int start(void **state)
{
    snprintf(folder, sizeof folder, "%s", test_folder());
    snprintf(out, sizeof out, "%s/out", folder);
    return start_browser(state);
}

static int stop(void **state)
{
    char command[100];
    stop_browser(state);
    snprintf(command, sizeof command, "rm -rf %s", folder);
    return system(command);
}

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
    page_is_legible(b, "light");
    browser_key(b, "t");
    page_has_text(b, "document.documentElement.dataset.theme", "dark");
    page_is_legible(b, "dark");
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
    return cmocka_run_group_tests(tests, start, stop);
}
