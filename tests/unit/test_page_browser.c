/* device_perf.html and the dashboard in a browser: opened from a file and from `devlog serve`, used by mouse
 * and keyboard, with everything but this machine out of reach. Skipped where there is no chromium. */
#include "support/cmocka_all.h"

#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/process.h"
#include "decode/capture/capture.h"
#include "support/browser.h"
#include "support/device.h"
#include "support/files.h"
#include "support/page_group.h"
#include "support/serve.h"

/* With the zones beside the time line. */
#define READY "document.documentElement.dataset.ready === 'yes' && (showTab('zones'), true)"

enum { CORES = 16, LAUNCHES = 6, ZONES = 4 };
#define SLOW_CORE "2,3"

static void zone(dl_str *log, int x, int y, const char *risc, int launch, const char *name, int line,
                 uint64_t from, uint64_t to)
{
    for (int end = 0; end < 2; end++)
        dl_str_fmt(log, "0,%d,%d,%s,%d,%llu,0,%d,%s,%s,%d,kernels/k.c,\n", x, y, risc, line,
                   (unsigned long long)(end ? to : from), launch, name, end ? "ZONE_END" : "ZONE_START",
                   line);
}

/* Launches on 4 by 4 cores of two RISCs; core 2,3 is slower. A name that would like to be markup. */
static void write_log(const char *path, const char *name)
{
    dl_str log = {0};
    dl_str_add(
        &log, "ARCH: wormhole_b0, CHIP_FREQ[MHz]: 500\n"
              "PCIe slot, core_x, core_y, RISC processor type, timer_id, time[cycles since reset], data, run "
              "host ID, zone name, type, source line, source file, meta data\n");
    for (int core = 0; core < CORES; core++) {
        for (int risc = 0; risc < 2; risc++) {
            int x = core % 4, y = core / 4;
            const char *r = risc ? "NCRISC" : "BRISC";
            for (int launch = 1; launch <= LAUNCHES; launch++) {
                uint64_t t = 1000 + (uint64_t)launch * 10000, more = x == 2 && y == 3 ? 800 : 0;
                /* Pairing wants the rows of a RISC in order: a zone inside closes before the one around it.
                 */
                char row[32];
                snprintf(row, sizeof row, "%s-FW", r);
                dl_str_fmt(&log, "0,%d,%d,%s,1,%llu,0,%d,%s,ZONE_START,1,fw.c,\n", x, y, r,
                           (unsigned long long)t, launch, row);
                snprintf(row, sizeof row, "%s-KERNEL", r);
                dl_str_fmt(&log, "0,%d,%d,%s,2,%llu,0,%d,%s,ZONE_START,2,fw.c,\n", x, y, r,
                           (unsigned long long)(t + 100), launch, row);
                for (int i = 0; i < ZONES; i++)
                    zone(&log, x, y, r, launch, i % 2 ? "wait for page" : name, 10 + i,
                         t + 200 + (uint64_t)i * 1000, t + 900 + (uint64_t)i * 1000);
                dl_str_fmt(&log, "0,%d,%d,%s,2,%llu,0,%d,%s,ZONE_END,2,fw.c,\n", x, y, r,
                           (unsigned long long)(t + 5000 + more), launch, row);
                snprintf(row, sizeof row, "%s-FW", r);
                dl_str_fmt(&log, "0,%d,%d,%s,1,%llu,0,%d,%s,ZONE_END,1,fw.c,\n", x, y, r,
                           (unsigned long long)(t + 5200 + more), launch, row);
            }
        }
    }
    assert_false(log.failed);
    write_text(path, log.text);
    dl_str_free(&log);
}

static void decode(const char *log, const char *out)
{
    devlog_error err;
    dl_output printed;
    const char *argv[] = {getenv("DEVLOG_BIN"), "decode", log, "-o", out, NULL};
    check_ok(dl_process_run(argv, &printed, &err), &err);
    if (printed.exit) print_message("%s\n", printed.text);
    assert_int_equal(printed.exit, 0);
    free(printed.text);
}

static void settle(void)
{
    free(browser_js(b, "new Promise((r) => requestAnimationFrame(() => requestAnimationFrame(() => r(1))))"));
}

/* Makes a log whose zones are called `name`, decodes it, opens its page from the file. */
static void open_page(const char *name)
{
    char log[300], out[300], url[400];
    const char *folder = test_folder();
    snprintf(log, sizeof log, "%s/profile_log_device.csv", folder);
    snprintf(out, sizeof out, "%s/out", folder);
    write_log(log, name);
    decode(log, out);
    snprintf(url, sizeof url, "file://%s/device_perf.html", out);
    assert_true(browser_go(b, url, READY));
    settle(); /* painting is of the next frame */
}

static void expect_text(const char *expression, const char *expected)
{
    char *text = browser_js(b, "%s", expression);
    if (!strstr(text, expected))
        print_message("%s\n  is        '%s'\n  without   '%s'\n", expression, text, expected);
    assert_non_null(strstr(text, expected));
    free(text);
}

static void expect_number(const char *expression, double expected)
{
    double value = browser_number(b, expression);
    if (value != expected) print_message("%s is %g, not %g\n", expression, value, expected);
    assert_true(value == expected);
}

static void opens_from_a_file_and_asks_for_nothing(void **state)
{
    NEEDS_BROWSER();
    open_page("compute");
    expect_number("timeline.model.intervals", CORES * 2 * LAUNCHES * (ZONES + 2));
    expect_number("timeline.model.cores.length", CORES);
    expect_text("document.getElementById('facts').textContent", "wormhole_b0, 500 MHz");
    expect_text("document.getElementById('facts').textContent", "6 launches");
    expect_text("document.getElementById('health').textContent", "nothing lost");
    /* Something has been drawn: the colours of zones are there. */
    assert_true(browser_number(b, "new Set(timeline.pixels).size") >= 5);
    assert_string_equal(browser_problems(b), "");
    const char *requests = browser_requests(b), *first = strstr(requests, "device_perf.html\n");
    assert_non_null(first);
    assert_string_equal(first + strlen("device_perf.html\n"), "");
    /* And it could not if it wanted to. */
    expect_text("fetch('http://127.0.0.1:9/').then(() => 'reached', (e) => 'refused ' + e)", "refused");
    expect_text(
        "(() => { const s = document.createElement('script'); s.textContent = 'window.ran = \\'ran\\''; "
        "document.body.append(s); return window.ran || 'refused' })()",
        "refused");
}

static void zooms_and_pans(void **state)
{
    NEEDS_BROWSER();
    open_page("compute");
    double whole = browser_number(b, "view.t1 - view.t0");
    browser_wheel(b, 700, 300, -240);
    settle();
    double near = browser_number(b, "view.t1 - view.t0");
    assert_true(near < whole * 0.8);
    browser_key(b, "w");
    settle();
    assert_true(browser_number(b, "view.t1 - view.t0") < near);
    double left = browser_number(b, "view.t0");
    browser_key(b, "d");
    assert_true(browser_number(b, "view.t0") > left);
    browser_mouse(b, "mousePressed", 700, 300, 0);
    browser_mouse(b, "mouseDragged", 500, 300, 0);
    double dragged = browser_number(b, "view.t0");
    browser_mouse(b, "mouseReleased", 500, 300, 0);
    assert_true(dragged > left);
    browser_key(b, "Home");
    settle();
    assert_true(browser_number(b, "view.t1 - view.t0") >= whole * 0.999);
    assert_string_equal(browser_problems(b), "");
}

static void searches(void **state)
{
    NEEDS_BROWSER();
    open_page("compute");
    browser_key(b, "/");
    cJSON_Delete(browser_call(b, "Input.insertText", "{\"text\":\"comp\"}"));
    assert_true(browser_wait(b, "document.getElementById('found').textContent === '384 found'"));
    static const char lines[] = "document.querySelectorAll('#table tbody tr').length";
    const double compute = browser_number(b, "table.rows.filter((r) => r.name === 'compute').length");
    assert_true(compute > 0 && browser_number(b, "table.rows.length") > compute);
    assert_true(browser_number(b, lines) == compute); /* the table of zones is narrowed, too */
    browser_key(b, "Enter");
    expect_text("document.getElementById('found').textContent", "1 of 384");
    expect_text("selection.item && itemSite(selection.item).name", "compute");
    expect_text("document.getElementById('say').textContent", "compute, where core");
    free(browser_js(b, "runSearch('2,3'), nextHit(1)"));
    expect_text("[...rowsLayout.open].map((c) => c.name).join(' ')", SLOW_CORE);
    free(browser_js(b, "runSearch('launch 3')"));
    expect_text("document.getElementById('found').textContent", "1 found");
    free(browser_js(b, "runSearch('no such thing')"));
    expect_text("document.getElementById('found').textContent", "nothing found");
    assert_true(browser_number(b, lines) > compute);
    assert_string_equal(browser_problems(b), "");
}

static void tooltip_and_selection_tell_everything(void **state)
{
    NEEDS_BROWSER();
    open_page("compute");
    free(browser_js(b, "rowsLayout.open.clear(), toggleCore(timeline.model.cores[1]), viewRange(0, 5200)"));
    settle();
    /* The third zone of launch 1 on BRISC: from 2200 to 2900 cycles after its start, line 12. */
    free(browser_js(
        b,
        "window.item = { lane: timeline.model.cores[1].rows[0].lanes[2], i: 2 }, window.box = itemBox(item), "
        "window.at = document.getElementById('paint').getBoundingClientRect()"));
    double x = browser_number(b, "at.left + box.x + box.w / 2"),
           y = browser_number(b, "at.top + box.y + box.h / 2");
    browser_mouse(b, "mouseMoved", x, y, 0);
    settle();
    static const char *const facts[] = {"compute", "core 1,0, BRISC", "kernels/k.c:12",
                                        "700 cycles = 1.400 µs", "13200"};
    for (size_t i = 0; i < sizeof facts / sizeof facts[0]; i++)
        expect_text(
            "document.getElementById('tip').hidden ? 'hidden' : document.getElementById('tip').innerText",
            facts[i]);
    browser_mouse(b, "mousePressed", x, y, 0);
    browser_mouse(b, "mouseReleased", x, y, 0);
    settle();
    expect_text("document.getElementById('details').innerText", "700 cycles = 1.400 µs");
    browser_key(b, "}");
    expect_text("String(selection.item.i)", "6");
    browser_key(b, "m");
    expect_text("document.getElementById('details').innerText", "Measured: 700 cycles");
    browser_mouse(b, "mousePressed", 400, y, 8);
    browser_mouse(b, "mouseDragged", 900, y, 8);
    browser_mouse(b, "mouseReleased", 900, y, 8);
    settle();
    expect_text("document.getElementById('details').innerText", "Measured:");
    assert_true(browser_number(b, "selection.range[1] - selection.range[0]") > 200);
    browser_key(b, "Escape");
    expect_text("String(selection.range)", "null");
    assert_string_equal(browser_problems(b), "");
}

static void the_host_and_what_it_called(void **state)
{
    NEEDS_BROWSER();
    char log[300], out[300], url[400];
    const char *folder = test_folder();
    page_capture_write(folder);
    snprintf(log, sizeof log, "%s/" DL_CAPTURE_NAME, folder);
    snprintf(out, sizeof out, "%s/out", folder);
    decode(log, out);
    snprintf(url, sizeof url, "file://%s/device_perf.html", out);
    assert_true(browser_go(b, url, READY));
    free(browser_js(b, "viewAll()"));
    settle();
    expect_number("rowsLayout.bands.filter((b) => b.host).length", 1);
    expect_number("timeline.model.hosts[0].lanes[0].n", 6);
    /* Call to launch and launch to pull, three times. */
    expect_number("timeline.flows", 6);
    /* The host called 200 us before the firmware of launch 2 began, and pulled 125 us after it had ended. */
    free(browser_js(b, "window.flow = flowsOfChip(0).get(1)"));
    assert_true(fabs(browser_number(b, "itemStart(flow.launch) - itemStart(flow.call)") - 200000) < 200);
    assert_true(fabs(browser_number(b, "itemStart(flow.pull) - itemEnd(flow.launch)") - 125000) < 200);
    free(browser_js(b, "select(flow.call, true)"));
    settle();
    expect_text("document.getElementById('details').innerText", "LaunchProgram");
    expect_text("document.getElementById('details').innerText", "the host");
    /* Keys and search keep to launches. */
    free(browser_js(b, "viewAll(), nextLaunch(1)"));
    expect_text("itemName(selection.item)", "launch 3");
    free(browser_js(b, "runSearch('launch 2')"));
    expect_text("document.getElementById('found').textContent", "1 found");
    free(browser_js(b, "runSearch('LaunchProgram')"));
    expect_text("document.getElementById('found').textContent", "3 found");
    assert_string_equal(browser_problems(b), "");
}

static void statistics_and_stragglers(void **state)
{
    NEEDS_BROWSER();
    open_page("compute");
    expect_text("document.querySelector('#table tbody').innerText", "wait for page");
    expect_number("table.rows.find((r) => r.name === 'compute' && r.risc === 'BRISC').count",
                  CORES * LAUNCHES * 2);
    expect_number("document.querySelectorAll('#chart canvas').length", 1);
    /* Bins hold every duration once, and the mouse tells them. */
    expect_number("histogram.drawn.counts.reduce((a, n) => a + n)", CORES * LAUNCHES * 2);
    expect_text("binText(histogram.drawn.frame.x(700))", "700 cycles: 192");
    expect_text("binText(0) || 'nothing'", "nothing");
    browser_key(b, "5");
    expect_number("heat.launches.length", LAUNCHES);
    expect_text("document.getElementById('stragglers').innerText", SLOW_CORE);
    expect_text("document.getElementById('stragglers').innerText", "6 of 6");
    expect_text("cellText(14, 0)", "5,700 cycles = 11.400 µs (16.3 % from the median)");
    browser_key(b, "6");
    expect_text("document.getElementById('pane-log').innerText", "Nothing was lost");
    browser_key(b, "u");
    expect_text("document.getElementById('unit').textContent", "time");
    assert_string_equal(browser_problems(b), "");
}

static void light_and_dark(void **state)
{
    NEEDS_BROWSER();
    open_page("compute");
    cJSON_Delete(browser_call(b, "Emulation.setEmulatedMedia",
                              "{\"features\":[{\"name\":\"prefers-color-scheme\",\"value\":\"dark\"}]}"));
    assert_true(browser_wait(b, "document.documentElement.dataset.theme === 'dark'"));
    browser_key(b, "t");
    expect_text("document.documentElement.dataset.theme", "light");
    cJSON_Delete(browser_call(b, "Emulation.setEmulatedMedia", "{\"features\":[]}"));
    assert_string_equal(browser_problems(b), "");
}

static void hostile_names_stay_text(void **state)
{
    NEEDS_BROWSER();
    dl_str name = {0};
    dl_str_add(&name,
               "</script><img src=x onerror=alert(1)> \"quoted\" 'single' \xf0\x9f\x94\xa5 \xff\xfe &amp; ");
    while (name.len < 10000)
        dl_str_add(&name, "long ");
    open_page(name.text);
    expect_number("document.images.length", 0);
    free(browser_js(b, "goTo({ lane: timeline.model.rows[0].lanes[2], i: 0 })"));
    settle();
    expect_text("document.getElementById('details').innerText", "</script><img src=x onerror=alert(1)>");
    browser_key(b, "5");
    browser_key(b, "6");
    expect_number("document.images.length", 0);
    expect_number("document.documentElement.scrollWidth", 1440);
    assert_string_equal(browser_problems(b), "");
    dl_str_free(&name);
}

static void a_page_without_zones_says_why(void **state)
{
    NEEDS_BROWSER();
    char log[300], out[300], url[400];
    snprintf(log, sizeof log, "%s/profile_log_device.csv", test_folder());
    snprintf(out, sizeof out, "%s/out", test_folder());
    write_text(log, "ARCH: wormhole_b0, CHIP_FREQ[MHz]: 1000\n"
                    "PCIe slot, core_x, core_y, RISC processor type, timer_id, time[cycles since reset]\n"
                    "0, 1, 2, BRISC, 1, 1000\n");
    devlog_error err;
    dl_output printed;
    const char *argv[] = {getenv("DEVLOG_BIN"), "decode", log, "-o", out, NULL};
    check_ok(dl_process_run(argv, &printed, &err), &err);
    free(printed.text);
    snprintf(url, sizeof url, "file://%s/device_perf.html", out);
    assert_true(browser_go(b, url, "!document.getElementById('empty').hidden"));
    expect_text("document.getElementById('empty').innerText", "There is no zone to show");
    expect_text("document.getElementById('empty').innerText", "no zone in it was closed");
    expect_text("document.getElementById('health').textContent", "1 lost");
    assert_string_equal(browser_problems(b), "");
}

static void the_dashboard(void **state)
{
    NEEDS_BROWSER();
    char home[64], folder[300], log[400], out[300], url[100], saved[400], params[600];
    devlog_error err;
    snprintf(home, sizeof home, "%s", test_folder());
    snprintf(folder, sizeof folder, "%s/runs", home);
    check_ok(dl_folder_make(folder, &err), &err);
    snprintf(log, sizeof log, "%s/profile_log_device.csv", folder);
    served s = serve_start(folder, NULL);
    snprintf(url, sizeof url, "http://127.0.0.1:%d/", s.port);
    assert_true(browser_go(b, url, "!document.getElementById('none').hidden"));
    write_log(log, "compute"); /* a run ends while somebody looks */
    assert_true(browser_wait(b, "document.querySelectorAll('#logs tr').length === 1"));
    expect_text("document.querySelector('#logs').innerText", "profile_log_device.csv");

    snprintf(params, sizeof params, "{\"behavior\":\"allow\",\"downloadPath\":\"%s\"}", home);
    cJSON_Delete(browser_call(b, "Browser.setDownloadBehavior", params));
    snprintf(saved, sizeof saved, "%s/device_perf_results.tar", home);
    free(browser_js(b, "document.querySelector('a.get').click()"));
    snprintf(out, sizeof out, "%s/out", home);
    decode(log, out);
    struct stat st = {0};
    for (int i = 0; i < 300 && (stat(saved, &st) != 0 || st.st_size == 0); i++)
        usleep(50000);
    size_t n, expected;
    char *got = read_bytes(saved, &n), *tar;
    snprintf(params, sizeof params, "%s/device_perf_results.tar", out);
    tar = read_bytes(params, &expected);
    assert_int_equal(n, expected);
    assert_memory_equal(got, tar, n);
    free(got);
    free(tar);

    char *link = browser_js(b, "document.querySelector('#logs a').href");
    assert_true(browser_go(b, link, READY));
    free(link);
    expect_number("timeline.model.intervals", CORES * 2 * LAUNCHES * (ZONES + 2));
    assert_string_equal(browser_problems(b), "");
    assert_int_equal(serve_stop(&s), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(opens_from_a_file_and_asks_for_nothing),
        cmocka_unit_test(zooms_and_pans),
        cmocka_unit_test(searches),
        cmocka_unit_test(tooltip_and_selection_tell_everything),
        cmocka_unit_test(the_host_and_what_it_called),
        cmocka_unit_test(statistics_and_stragglers),
        cmocka_unit_test(light_and_dark),
        cmocka_unit_test(hostile_names_stay_text),
        cmocka_unit_test(a_page_without_zones_says_why),
        cmocka_unit_test(the_dashboard),
    };
    return cmocka_run_group_tests(tests, start_browser, stop_browser);
}
