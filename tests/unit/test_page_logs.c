/* device_perf.html of every kind of log: dropped markers, several chips, values, very many launches, very
 * many cores, very long names, a capture and its CSV, a network's ops, a cut log. Everything on the page is used once, what tabs say agrees
 * with the statistics and with one another at every size, light and dark, and nothing may go wrong. Skipped where there is no chromium. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

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

/* What every tab says of a log, against the statistics of the decoder and against one another; true at every size, light and dark. */
static const char tour[] =
    "(async () => { const wrong = [], is = (what, a, c) => { if (a !== c) wrong.push(tabs.now + ': ' + what + ': ' + a + ' and not ' + c); };"
    " const frame = () => new Promise((r) => requestAnimationFrame(() => requestAnimationFrame(r))), el = (id) => document.getElementById(id);"
    " const { model } = timeline, meta = model.meta, names = tabNames();"
    " for (let modes = 2; modes--;) { el('theme').click(); clearAll(); chooseRow(null); viewAll();"
    " showTab('overview'); is('losses', el('trust').innerText.includes('Nothing was lost.'), !meta.lost && !meta.findings.some((f) => f[0]));"
    " is('the badge', el('health').classList.contains('bad'), Boolean(meta.lost));"
    " is('values', names.includes('markers'), Boolean(meta.all_markers || meta.texts.length || (meta.wait_records !== '0' && !names.includes('causes'))));"
    /* The time line: what is measured are the statistics; a pinned and a hidden row come back. */
    " showTab('time'); await frame(); const all = areaOf(model, 0, model.span, null), sums = new Map();"
    " for (const r of table.rows) { const z = sums.get(r.name) || { count: 0, sum: 0 }; z.count += r.count; z.sum += r.sum; sums.set(r.name, z); }"
    " if (!meta.left_out && table.rows.length === meta.all_statistics) { is('zones', all.zones.length, sums.size); for (const z of all.zones) is('count of ' + z.name.slice(0, 20), z.count, (sums.get(z.name) || {}).count); }"
    " const core = model.cores[model.cores.length - 1]; togglePin(model, core); is('pinned', shownCores(model)[0], core); togglePin(model, core);"
    " hideRow(core); is('hidden', shownCores(model).includes(core), model.cores.length === 1); setOrder(model, [], 0, []); is('rows', shownCores(model).length, model.cores.length); measureTimeline();"
    /* Find zone: its instances are those of the table, in the bins, the list, and by jumps; of two zones at each size and colour, so that in
     * the end it is of those twelve that take most time. */
    " showTab('zones'); window.turn = (window.turn ?? -1) + 1; const most = [...table.rows].sort((a, c) => c.sum - a.sum);"
    " for (const row of new Set([0, 1].map((k) => most[(window.turn * 2 + k) % most.length]))) { chooseRow(row); const found = find.found; if (meta.left_out) continue; is('instances', found.n, row.count);"
    " is('their sum', [...found.length].reduce((a, c) => a + c, 0), row.sum); const { counts } = histogram.drawn; is('bins', counts.reduce((a, c) => a + c, 0), row.count);"
    " chooseBin(counts.findIndex((n) => n > 0)); is('of a bin', document.querySelectorAll('#instances table:last-of-type tbody tr').length, Math.min(200, counts.find((n) => n > 0))); chooseBin(-1);"
    " for (const [where, what] of [['max', row.max], ['min', row.min]]) { jump(where); const { lane, i } = selection.item; is(where, lane.end[i] - lane.start[i], what); }"
    " runSearch(row.name); is('found', search.count >= row.count, true); nextHit(1); is('a hit', itemName(selection.item).includes(row.name.slice(0, 20)), true); runSearch(''); }"
    " chooseRow(null);"
    /* Cores: a cell for each launch and core, a place for each core. */
    " showTab('heat'); if (names.includes('heat')) { const as = el('heat-as'), show = (v) => { as.value = v; as.dispatchEvent(new Event('change')); };"
    " show('launches'); if (!as.value) as.selectedIndex = 0, as.dispatchEvent(new Event('change')); is('cells', heat.cells.length, heat.launches.length * model.cores.length);"
    " show('chip'); is('places', document.querySelectorAll('#chips button.core').length, model.cores.length); is('grids', document.querySelectorAll('#chips .chip-grid').length, new Set(model.cores.map((c) => c.chip)).size); as.selectedIndex = 0; as.dispatchEvent(new Event('change')); }"
    /* Values and text: all of them listed, each curve drawn and taken away. */
    " if (names.includes('markers')) { showTab('markers'); is('listed', document.querySelectorAll('#markers tbody tr').length, Math.min(300, meta.markers.length));"
    " const first = document.querySelector('#markers button'); is('curves', Boolean(first), curves.all.length > 0); if (first) { first.click(); is('drawn', curves.shown.length, 1); showTab('time'); await frame(); setCurves([]); measureTimeline(); showMarkers(model); } }"
    " showTab('ops'); if (names.includes('ops')) { await frame(); is('ops', document.querySelectorAll('#op-table tbody tr').length > 0, true); document.querySelector('#op-table tbody tr').click(); is('launches', document.querySelectorAll('#op-launches tbody tr').length > 0, true); document.querySelector('#op-table tbody tr').click(); }"
    " } return [...new Set(wrong)].slice(0, 6).join('; ') + '.'; })()";

static void is_true_at_every_size(const char *where)
{
    static const int sizes[][2] = {{1440, 900}, {1024, 768}, {390, 844}};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        browser_size(b, sizes[i][0], sizes[i][1]);
        page_settle(b);
        char *wrong = browser_js(b, "%s", tour);
        if (strcmp(wrong, ".") != 0) fail_msg("%s, %d pixels wide: %s", where, sizes[i][0], wrong);
        free(wrong);
        page_has_no_problems(b, where);
    }
    browser_size(b, 1440, 900);
    page_settle(b);
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
        ("runSearch('a'), nextHit(1), nextHit(1), nextHit(-1), runSearch('0,0'), nextHit(1), "
         "runSearch('launch 1024'), "
         "nextHit(-1), runSearch('')"),
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
    is_true_at_every_size(where);
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

/* Ops, steps, signposts, shapes, memory; and a log that ends in mid-line, of drops, values and long names. */
static void a_network_and_a_cut_log(void **state)
{
    NEEDS_BROWSER();
    page_open(b, page_network(), out, 0);
    page_has_text(b, "tabNames().join()", "overview,time,ops,zones,heat,memory,roofline,log");
    use_everything("network");
    const page_log log = {.chips = 2,
                          .columns = 2,
                          .rows = 2,
                          .riscs = 3,
                          .launches = 5,
                          .zones = 4,
                          .name = 200,
                          .drops = true,
                          .values = true};
    char path[200];
    struct stat st;
    snprintf(path, sizeof path, "%s/cut.csv", folder);
    page_log_write(path, &log);
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(truncate(path, st.st_size * 2 / 3), 0);
    page_open(b, path, out, 3);
    use_everything("cut");
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
        cmocka_unit_test(a_network_and_a_cut_log),
    };
    return cmocka_run_group_tests(tests, start, stop);
}
