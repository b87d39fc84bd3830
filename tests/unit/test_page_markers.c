/* device_perf.html shows what is no zone: sums, values and counters by name, and text, which names its event
 * and leads to it. Skipped where there is no chromium. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/device.h"
#include "support/page.h"

static const char log_text[] =
    "ARCH: wormhole_b0, CHIP_FREQ[MHz]: 1000, Max Compute Cores: 64\n"
    "PCIe slot, core_x, core_y, RISC processor type, timer_id, time[cycles since reset], data, run host ID, "
    "trace "
    "id, trace id counter, zone name, type, source line, source file, meta data\n"
    "0,1,1,BRISC,1,1000,0,7,,,BRISC-FW,ZONE_START,1,fw.cc,\n"
    "0,1,1,BRISC,9,1100,18446744073709551615,7,,,bytes,TS_DATA,9,k.cc,\n"
    "0,1,1,BRISC,9,1150,5,7,,,bytes,TS_DATA,9,k.cc,\n"
    "0,1,1,BRISC,11,1200,3,7,,,queue,TS_DATA,9,k.cc,{\"counter\":1}\n"
    "0,1,1,BRISC,13,1300,0,7,,,print,TS_EVENT,9,k.cc,{\"text\":\"<b>tile 5\\u002c \\\"done\\\"</b>\"}\n"
    "0,1,1,BRISC,13,1400,0,7,,,print,TS_EVENT,9,k.cc,{\"text\":\"tile 6 \\ud83c\\udf89\\ud83c\"}\n"
    "0,1,1,BRISC,15,1500,400,7,,,wait,ZONE_TOTAL,9,k.cc,{\"count\":8;\"min\":20;\"max\":90}\n"
    "0,1,1,BRISC,19,1550,18446744073709551615,7,,,huge,ZONE_TOTAL,9,k.cc,\n"
    "0,1,1,BRISC,19,1560,18446744073709551615,7,,,huge,ZONE_TOTAL,9,k.cc,\n"
    "0,1,1,BRISC,17,1600,4,7,,,DEVLOG-DROPPED,ZONE_TOTAL,0,,\n"
    "0,1,1,BRISC,1,9000,0,7,,,BRISC-FW,ZONE_END,1,fw.cc,\n";

static void markers_and_text_are_on_the_page(void **state)
{
    (void)state;
    browser *b = browser_start(1440, 900);
    if (!b) skip();
    char folder[64], path[100], out[100], command[100];
    snprintf(folder, sizeof folder, "%s", test_folder());
    snprintf(path, sizeof path, "%s/profile_log_device.csv", folder);
    snprintf(out, sizeof out, "%s/out", folder);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs(log_text, f);
    fclose(f);
    page_open(b, path, out, 3);
    free(browser_js(b, "document.getElementById('tab-markers').click()"));
    const char *rows =
        "[...document.querySelectorAll('#markers tbody tr')].map((r) => [...r.cells].map((c) => "
        "c.textContent).join('/')).join('|') + '|'";
    page_has_text(b, rows, "value/bytes/BRISC/2//5/5/18,446,744,073,709,551,615/9,223,372,036,854,775,810/");
    page_has_text(b, rows, "counter/queue/BRISC/1//3/3/3/3//draw|");
    page_has_text(b, rows, "sum/wait/BRISC/1/8//20/90/50/400/draw|");
    page_has_text(b, rows, "/36,893,488,147,419,103,230/draw|"); /* the total of huge */
    page_has_text(b, rows, "text/print/BRISC/2");
    const char *texts =
        "[...document.querySelectorAll('#texts tbody tr')].map((r) => r.cells[1].textContent + ': ' + "
        "r.cells[2].textContent).join('|')";
    page_has_text(
        b, texts,
        "core 1,1, BRISC: <b>tile 5, \"done\"</b>|core 1,1, BRISC: tile 6 \xF0\x9F\x8E\x89\xEF\xBF\xBD");
    page_has_text(b, "document.getElementById('pane-markers').hidden + ''", "false");
    free(browser_js(b, "document.querySelector('#texts tbody tr').click()"));
    page_has_text(b, "document.getElementById('details').textContent", "<b>tile 5, \"done\"</b>");
    page_has_text(b, "document.getElementById('details').textContent", "text ofprint");
    assert_string_equal(browser_problems(b), "");
    browser_stop(b);
    snprintf(command, sizeof command, "rm -rf %s", folder);
    assert_int_equal(system(command), 0);
}

/* A value is drawn as a row of the time line, by keyboard; its points are where its values are, at three widths, light and dark. */
static void values_are_curves(void **state)
{
    (void)state;
    browser *b = browser_start(1440, 900);
    if (!b) skip();
    char folder[64], path[100], out[100];
    snprintf(folder, sizeof folder, "%s", test_folder());
    snprintf(path, sizeof path, "%s/profile_log_device.csv", folder);
    snprintf(out, sizeof out, "%s/out", folder);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs(
        "ARCH: wormhole_b0, CHIP_FREQ[MHz]: 1000, Max Compute Cores: 64\nPCIe slot, core_x, core_y, RISC processor type, timer_id, time[cycles since reset], data, run host ID, "
        "trace id, trace id counter, zone name, type, source line, source file, meta data\n",
        f);
    for (int core = 1; core <= 2; core++) {
        fprintf(f, "0,%d,1,BRISC,1,1000,0,7,,,BRISC-FW,ZONE_START,1,fw.cc,\n", core);
        for (int i = 0; i < 50; i++)
            fprintf(f, "0,%d,1,BRISC,9,%d,%d,7,,,fill,TS_DATA,9,k.cc,\n", core, 1100 + i * 100 + core,
                    i % 10 * core);
        fprintf(
            f,
            "0,%d,1,BRISC,13,6300,0,7,,,print,TS_EVENT,9,k.cc,{\"text\":\"tile 5 done\"}\n0,%d,1,BRISC,1,9000,0,7,,,BRISC-FW,ZONE_END,1,fw.cc,\n",
            core, core);
    }
    fclose(f);
    page_open(b, path, out, 0);
    page_run(
        b,
        "localStorage.clear(), showTab('markers'), document.querySelector('#markers tbody button').focus()");
    browser_key(b, "Enter");
    page_has_text(b, "document.activeElement.textContent + ' ' + curves.shown.length", "hide 1");
    page_run(
        b,
        "showTab('time'), viewAll(), window.band = rowsLayout.bands.find((d) => d.kind === 'curve'), window.curve = band.curve");
    page_has_text(
        b, "[curve.n, curve.low, curve.high, curve.t.every((t, i) => !i || t >= curve.t[i - 1])].join()",
        "100,0,18,true");
    /* Least and greatest of each pixel are those of its points, whatever is on the screen. */
    page_has_text(
        b,
        "[[0, view.span], [curve.t[30], curve.t[44]], [curve.t[3] - 5, curve.t[3] + 5]].map(([a, c]) => { const list = columnsOf(curve, a, c, 300), own = [...curve.t.keys()].filter((i) => curve.t[i] >= a && "
        "curve.t[i] <= c).map((i) => curve.v[i]), in_sight = list.filter((p) => p.x >= 0); return Math.max(...in_sight.map((p) => p.greatest)) === Math.max(...own) && Math.min(...in_sight.map((p) => "
        "p.least)) === Math.min(...own) && list.length <= 301; }).join()",
        "true,true,true");
    for (int dark = 0; dark < 2; dark++) {
        static const int widths[] = {1440, 1024, 390};
        for (int i = 0; i < 3; i++) {
            browser_size(b, widths[i], 900);
            page_settle(b);
            page_run(b, "viewRange(curve.t[0], curve.t[99])");
            page_has_text(
                b,
                "(() => { const r = timeline.ratio, y = band.y - document.getElementById('rows').scrollTop, d = document.getElementById('paint').getContext('2d').getImageData(0, y * r, timeline.width * r, band.h * "
                "r).data, hex = curveColour(), want = [1, 3, 5].map((k) => parseInt(hex.slice(k, k + 2), 16)); let n = 0; for (let k = 0; k < d.length; k += 4) n += want.every((v, c) => Math.abs(d[k + c] - v) < 25) ? 1 : "
                "0; return n > timeline.width / 3 ? 'a curve' : 'no curve: ' + n; })()",
                "a curve");
        }
        browser_size(b, 1440, 900);
        page_settle(b);
        page_is_legible(b, dark ? "curves, the other light" : "curves");
        page_run(b, "showTab('time')");
        browser_key(b, "t");
    }
    /* What a kernel printed stands where it did. */
    page_run(
        b,
        "window.texts = [], window.plain = CanvasRenderingContext2D.prototype.fillText, CanvasRenderingContext2D.prototype.fillText = function (t, x, y) { if (this.canvas.id === 'paint') texts.push([t, x]); return "
        "plain.apply(this, arguments); }, rowsLayout.open.add(timeline.model.cores[0]), measureTimeline(), viewAll(), repaint()");
    page_has_text(
        b,
        "(() => { const found = texts.find(([t]) => t === 'tile 5 done'); return found && Math.abs(found[1] - axisToX(5300)) < 8 ? 'there' : JSON.stringify(texts); })()",
        "there");
    /* The pointer on the row says the value; the address brings the curve back, and undo takes it away. */
    page_run(
        b,
        "CanvasRenderingContext2D.prototype.fillText = plain, rowsLayout.open.clear(), measureTimeline(), repaint(), band = rowsLayout.bands.find((d) => d.kind === 'curve'), window.box = "
        "document.getElementById('paint').getBoundingClientRect()");
    browser_mouse(b, "mouseMoved", browser_number(b, "box.left + axisToX(curve.t[20])"),
                  browser_number(b, "box.top + band.y + 20"), 0);
    page_settle(b);
    page_has_text(b, "document.getElementById('tip').innerText", "fill");
    assert_true(browser_wait(b, "location.hash.slice(1) === taken()"));
    page_run(b, "window.gone = true, location.reload()");
    assert_true(browser_wait(b, "document.documentElement.dataset.ready === 'yes' && !window.gone"));
    page_has_text(b, "curves.shown.map((c) => c.name).join()", "fill");
    /* A core's own curve, by keyboard: its points alone, on the scale of all; the address has it beside the other. */
    page_run(b, "showTab('markers'), document.querySelector('#markers tbody [aria-expanded]').focus()");
    browser_key(b, "Enter");
    page_has_text(
        b,
        "document.activeElement.ariaExpanded + ' ' + [...document.querySelectorAll('#markers .cores button')].map((o) => o.textContent + ' ' + o.ariaPressed)",
        "true core 1,1 false,core 2,1 false");
    page_run(b, "document.querySelectorAll('#markers .cores button')[1].focus()");
    browser_key(b, "Enter");
    page_has_text(
        b,
        "document.activeElement.textContent + ' ' + document.activeElement.ariaPressed + ' ' + document.querySelector('#markers tbody [aria-expanded]').textContent",
        "core 2,1 true 1 core");
    static const char of_core[] =
        "curves.shown.map((c) => [c.core && c.core.name, c.n, c.low, c.high, [...c.v].slice(0, 3).join(' '), "
        "c.items.every((p) => !c.core || p.lane.row.core === c.core)].join()).join(';')";
    page_has_text(b, of_core, ",100,0,18,0 0 1,true;2,1,50,0,18,0 2 4,true");
    for (int dark = 0; dark < 2; dark++) {
        static const int widths[] = {1440, 1024, 390};
        for (int i = 0; i < 3; i++) {
            browser_size(b, widths[i], 900);
            page_settle(b);
            page_run(
                b,
                "showTab('time'), viewAll(), window.plain = window.plain || CanvasRenderingContext2D.prototype.fillText, window.said = [], CanvasRenderingContext2D.prototype.fillText = function (t) { said.push(t); return plain.apply(this, arguments); }, measureTimeline(), repaint()");
            page_settle(b);
            page_has_text(b, "said.includes('2,1 BRISC') && said.includes('BRISC') ? 'both' : said.join()",
                          "both");
            page_run(b, "CanvasRenderingContext2D.prototype.fillText = plain, showTab('markers')");
            page_has_text(b, "String(document.documentElement.scrollWidth <= innerWidth)", "true");
        }
        browser_size(b, 1440, 900);
        page_settle(b);
        page_is_legible(b, dark ? "curves of cores, the other light" : "curves of cores");
        browser_key(b, "t");
    }
    assert_true(browser_wait(b, "location.hash.slice(1) === taken() && taken().includes('BRISC.v1.fill')"));
    page_run(b, "window.gone = true, location.reload()");
    assert_true(browser_wait(b, "document.documentElement.dataset.ready === 'yes' && !window.gone"));
    page_has_text(b, of_core, ",100,0,18,0 0 1,true;2,1,50,0,18,0 2 4,true");
    page_run(b, "setCurves([curveKey(curves.all[0])]), showMarkers(timeline.model)");
    page_has_text(b, of_core, ",100,0,18,0 0 1,true");
    page_has_no_problems(b, "curves");
    browser_stop(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(markers_and_text_are_on_the_page),
                                       cmocka_unit_test(values_are_curves)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
