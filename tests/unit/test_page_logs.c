/* device_perf.html of every kind of log: dropped markers, several chips, values, very many launches, very
 * many cores, very long names, a capture and its CSV. Everything on the page is used once, and nothing may go
 * wrong. Skipped where there is no chromium. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/process.h"
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

/* Texts of the ruler that are cut at its edge would be other numbers. */
static void ruler_is_whole(const char *where)
{
    char *cut = browser_js(
        b,
        "(() => { let cut = 0; const canvas = CanvasRenderingContext2D.prototype, was = canvas.fillText; "
        "canvas.fillText = function (text, x, y) { if (this.canvas.id === 'ruler' && x + "
        "this.measureText(text).width > timeline.width) cut++; return was.call(this, text, x, y); }; "
        "const end = view.t1; for (let i = 0; i < 200; i++) { view.t1 = view.t0 + (end - view.t0) * (1 + i / "
        "50); paintRuler(); } canvas.fillText = was; view.t1 = end; paintRuler(); return String(cut); })()");
    if (strcmp(cut, "0") != 0) fail_msg("%s: %s texts of the ruler are cut", where, cut);
    free(cut);
}

/* Every panel, key and kind of item once. */
static void use_everything(const char *where)
{
    ruler_is_whole(where);
    static const char *const steps[] = {
        "viewAll(), toggleCore(null)", /* all cores open */
        "toggleCore(null)",
        "toggleCore(timeline.model.cores[timeline.model.cores.length - 1])",
        /* The first and last of every line of the first and last cores: selected, and their tooltip. */
        "(() => { const rows = timeline.model.rows; for (const row of [...rows.slice(0, 5), "
        "...rows.slice(-5), "
        "...timeline.model.tops, ...timeline.model.hosts]) for (const lane of row.lanes) for (const i of [0, "
        "lane.n - 1]) { goTo({ lane, i }); showTip({ lane, i }, 700, 300); } showTip(null); })()",
        "measure(view.t0, view.t1)",
        "runSearch('a'), nextHit(1), nextHit(1), nextHit(-1), runSearch('0,0'), nextHit(1), "
        "runSearch('launch 1024'), "
        "nextHit(-1), runSearch('')",
        "table.rows.slice(0, 40).forEach((r) => chooseRow(r)), chooseRow(null)",
        "zoom(0.01, 0.5), pan(1), nextLaunch(1), nextLaunch(-1), walk(1, 0), walk(0, 1), sameZone(1), "
        "viewAll()",
    };
    static const char *const keys[] = {"1", "2", "u", "t", "3", "2", "u", "1", "t", "e", "e", "Escape"};
    for (size_t i = 0; i < sizeof steps / sizeof steps[0]; i++) {
        char *failed = browser_js(b, "%s", steps[i]);
        if (strncmp(failed, "exception", 9) == 0) fail_msg("%s: %s: %s", where, steps[i], failed);
        free(failed);
        page_settle(b);
    }
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        browser_key(b, keys[i]);
        page_settle(b);
    }
    page_has_no_problems(b, where);
    page_has_text(b, "String(document.documentElement.scrollWidth <= innerWidth)", "true");
}

static void open_log(const char *name, const page_log *log, int exit_status)
{
    char path[200];
    snprintf(path, sizeof path, "%s/%s.csv", folder, name);
    page_log_write(path, log);
    page_open(b, path, out, exit_status);
}

static void dropped_markers(void **state)
{
    NEEDS_BROWSER();
    const page_log log = {
        .chips = 1, .columns = 2, .rows = 1, .riscs = 2, .launches = 3, .zones = 4, .drops = true};
    open_log("drops", &log, 3);
    page_has_text(b, "document.getElementById('health').textContent", "336 lost");
    page_has_number(b, "theme.css.filter((c) => !/^#[0-9a-f]{6}$/.test(c)).length", 0);
    /* The mark says what it is, and how many. */
    free(browser_js(
        b, "window.at = timeline.model.rows[0].lanes.find((l) => l.points), goTo({ lane: at, i: 0 })"));
    page_has_text(b, "document.getElementById('details').innerText", "41 markers");
    page_has_text(b, "itemName(selection.item)", "markers dropped");
    use_everything("drops");
}

static void several_chips(void **state)
{
    NEEDS_BROWSER();
    const page_log log = {.chips = 4, .columns = 2, .rows = 2, .riscs = 3, .launches = 4, .zones = 4};
    open_log("chips", &log, 0);
    page_has_number(b, "timeline.model.usedChips.size", 4);
    page_has_number(b, "timeline.model.cores.length", 16);
    /* A zone of the last chip chooses its own row, though the first has one of that name. */
    free(browser_js(b, "goTo({ lane: timeline.model.rows.at(-1).lanes.find((l) => l.level === 2), i: 0 })"));
    page_has_number(b, "table.chosen.chip", 3);
    page_has_text(b, "String(/ of chip 3 /.test(document.querySelector('#chart h2').textContent))", "true");
    free(browser_js(b, "chooseRow(null)"));
    use_everything("chips");
}

static void values_events_and_sums(void **state)
{
    NEEDS_BROWSER();
    const page_log log = {
        .chips = 1, .columns = 2, .rows = 2, .riscs = 2, .launches = 2, .zones = 6, .values = true};
    open_log("values", &log, 0);
    free(browser_js(b, "window.at = timeline.model.rows[0].lanes.find((l) => l.points)"));
    page_has_text(b, "[...at.value].join(' ')", "18446744073709551615");
    use_everything("values");
}

static void ten_thousand_launches(void **state)
{
    NEEDS_BROWSER();
    const page_log log = {.chips = 1, .columns = 4, .rows = 1, .riscs = 1, .launches = 10000, .zones = 1};
    open_log("launches", &log, 0);
    page_has_number(b, "timeline.model.launches.length", 10000);
    use_everything("launches");
}

static void a_hundred_and_twenty_eight_cores(void **state)
{
    NEEDS_BROWSER();
    const page_log log = {
        .chips = 1, .columns = 16, .rows = 8, .riscs = 5, .launches = 3, .zones = 6, .shuffled = true};
    open_log("cores", &log, 0);
    page_has_number(b, "timeline.model.cores.length", 128);
    use_everything("cores");
}

static void names_of_five_thousand_characters(void **state)
{
    NEEDS_BROWSER();
    const page_log log = {
        .chips = 1, .columns = 2, .rows = 2, .riscs = 2, .launches = 2, .zones = 6, .name = 5000};
    open_log("names", &log, 0);
    use_everything("names");
}

static void all_of_it_at_once(void **state)
{
    NEEDS_BROWSER();
    const page_log log = {.chips = 2,
                          .columns = 8,
                          .rows = 8,
                          .riscs = 5,
                          .launches = 4,
                          .zones = 6,
                          .name = 300,
                          .drops = true,
                          .values = true,
                          .shuffled = true,
                          .slow = 2,
                          .slower = 3000,
                          .staggered = 20};
    open_log("all", &log, 3);
    use_everything("all");
}

/* What a run of the demo leaves, its records full, so that markers were dropped: both logs have their page.
 */
static void a_capture_and_its_csv(void **state)
{
    NEEDS_BROWSER();
    static const char *const names[] = {"profile_log_device.csv", "capture.devlog"};
    char demo[300], logs[100], path[200];
    devlog_error err;
    dl_output printed;
    snprintf(demo, sizeof demo, "%.200s/demo", getenv("DEVLOG_BIN"));
    memcpy(strstr(demo, "/devlog/demo"), "/demo", 6);
    snprintf(logs, sizeof logs, "%s/logs", folder);
    setenv("DEVLOG_LOG_FOLDER", logs, 1);
    setenv("TT_METAL_DEVICE_PROFILER", "1", 1);
    const char *argv[] = {demo, "3", NULL};
    check_ok(dl_process_run(argv, &printed, &err), &err);
    assert_int_equal(printed.exit, 0);
    free(printed.text);
    unsetenv("TT_METAL_DEVICE_PROFILER");
    for (int i = 0; i < 2; i++) {
        snprintf(path, sizeof path, "%s/%s", logs, names[i]);
        page_open(b, path, out, -1);
        page_has_number(b, "timeline.model.hosts.length", i);
        use_everything(names[i]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(dropped_markers),
        cmocka_unit_test(several_chips),
        cmocka_unit_test(values_events_and_sums),
        cmocka_unit_test(ten_thousand_launches),
        cmocka_unit_test(a_hundred_and_twenty_eight_cores),
        cmocka_unit_test(names_of_five_thousand_characters),
        cmocka_unit_test(all_of_it_at_once),
        cmocka_unit_test(a_capture_and_its_csv),
    };
    return cmocka_run_group_tests(tests, start, stop);
}
