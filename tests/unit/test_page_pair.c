/* devlog diff --page: two runs in one page, matched, coloured, and moved together; from the table into both time lines; and what cannot
 * be compared. The arithmetic is tested in tests/page/align.test.js, the diff itself in test_cli_diff.c. Skipped where there is no
 * chromium. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/str.h"
#include "support/cli.h"
#include "support/device.h"
#include "support/files.h"
#include "support/page_group.h"

#define BOTH "Object.assign(globalThis, devlog), "

/* `devlog diff --page ARGUMENTS`, which must end so, and its page on the screen. */
static void open_pair(const char *arguments, int exit_status)
{
    char line[2000], url[700];
    snprintf(line, sizeof line, "diff --page %s -o %s", arguments, in_scratch("pair.html"));
    free(devlog_ok(line, exit_status));
    snprintf(url, sizeof url, "file://%s", in_scratch("pair.html"));
    assert_true(browser_go(b, "about:blank", "true"));
    assert_true(browser_go(b, url, "document.documentElement.dataset.ready === 'yes'"));
    free(browser_js(b, BOTH "localStorage.clear(), 1"));
}

/* Of one step less. */
static const char *shorter(void)
{
    static char folder[600];
    char line[1500];
    const char *own = getenv("DEVLOG_BIN");
    if (folder[0]) return folder;
    snprintf(folder, sizeof folder, "%s", in_scratch("shorter"));
    snprintf(line, sizeof line, "run -o shorter -- %.*snn 1", own ? (int)(strlen(own) - strlen("devlog")) : 0,
             own ? own : "");
    free(devlog_ok(line, 0));
    return folder;
}

static void two_networks(const char *first)
{
    char line[1500];
    page_network();
    snprintf(line, sizeof line, "--exact %s %s", in_scratch("network"), shorter());
    open_pair(line, 0);
    if (first) page_run(b, first);
}

#define WHERE(side)                                                                                          \
    "((pair." side ".itemStart(pair." side ".selection.item) - pair." side ".view.t0) / (pair." side         \
    ".view.t1 - pair." side ".view.t0)).toFixed(4)"
#define SPAN(side) "(pair." side ".view.t1 - pair." side ".view.t0).toFixed(2)"

static void a_line_leads_into_both(void **state)
{
    NEEDS_BROWSER();
    two_networks(NULL);
    page_has_text(b, "document.getElementById('old-name').textContent", "old: ");
    page_has_text(b, "document.getElementById('facts').innerText", "network → ");
    page_has_text(b, "String(rows.all.length === pair.diff.lines.length && rows.all.length > 9)", "true");
    /* By keyboard alone: a row, then what is in its time lines. */
    page_run(b, "document.querySelector('#line-table tbody tr').focus()");
    for (int i = 0; i < 3; i++) {
        browser_key(b, "Enter");
        page_settle(b);
        page_has_text(
            b,
            "pair.a.itemName(pair.a.selection.item).replace(/ \\(.*/, '') === pair.b.itemName(pair.b.selection.item).replace(/ \\(.*/, '') && "
            "pair.chosen.what.startsWith(pair.a.itemName(pair.a.selection.item).slice(7).replace(/ \\(.*/, '')) ? 'one op' : pair.chosen.what + ' | ' + "
            "pair.a.itemName(pair.a.selection.item) + ' | ' + pair.b.itemName(pair.b.selection.item)",
            "one op");
        page_has_text(b,
                      WHERE("a") " === " WHERE("b") " && " SPAN("a") " === " SPAN(
                          "b") " ? 'same place' : " WHERE("a") " + ' ' + " WHERE("b"),
                      "same place");
        page_has_text(
            b,
            "pair.a.timeline.chosenLaunches.size > 0 && pair.b.timeline.chosenLaunches.size > 0 ? 'brought out' : 'not'",
            "brought out");
        page_has_text(b, "document.getElementById('why').innerText", "in the time lines");
        browser_key(b, "ArrowDown");
    }
    /* The address remembers the line. */
    page_run(b, "window.line = pair.chosen.what, location.reload()");
    assert_true(browser_wait(b, "document.documentElement.dataset.ready === 'yes' && !window.line"));
    free(browser_js(b, BOTH "1"));
    page_has_text(b, "location.hash.slice(1) === String(rows.all.indexOf(pair.chosen)) ? 'kept' : 'lost'",
                  "kept");
    page_has_no_problems(b, "two networks");
}

static void views_go_together(void **state)
{
    NEEDS_BROWSER();
    two_networks("choose(rows.all.find((r) => r.line.kind === 'op' && r.what.startsWith('Matmul')))");
    page_run(b, "pair.a.zoom(0.5, 0.5)");
    page_has_text(b,
                  SPAN("a") " === " SPAN("b") " && " WHERE("a") " === " WHERE("b") " ? 'together' : 'apart'",
                  "together");
    /* The other leads, too. */
    page_run(
        b,
        "pair.b.select(pair.ops.filter((p) => p.a && p.b)[5].b.items[0], false), pair.a.select(pair.ops.filter((p) => p.a && p.b)[5].a.items[0], false), "
        "pair.b.viewRange(pair.b.itemStart(pair.b.selection.item), pair.b.itemEnd(pair.b.selection.item))");
    page_has_text(b,
                  SPAN("a") " === " SPAN("b") " && " WHERE("a") " === " WHERE("b") " ? 'together' : 'apart'",
                  "together");
    page_run(
        b,
        "document.getElementById('align').value = 'step', document.getElementById('align').dispatchEvent(new Event('change')), pair.a.viewRange(pair.steps[0].a.start, pair.steps[0].a.start + 900)");
    page_has_text(
        b,
        "Math.abs((pair.steps[0].a.start - pair.a.view.t0) - (pair.steps[0].b.start - pair.b.view.t0)) < 1 ? 'by step' : 'not'",
        "by step");
    page_run(
        b,
        "document.getElementById('align').value = 'none', document.getElementById('align').dispatchEvent(new Event('change')), window.was = pair.b.view.t0, pair.a.viewAll()");
    page_has_text(b, "pair.b.view.t0 === was ? 'by itself' : 'moved'", "by itself");
    page_has_no_problems(b, "views");
}

/* The colour in the middle of a launch, in the row of launches: which of the legend's it is. */
#define PAINTED(side, item)                                                                                                                                                         \
    "((p) => { const v = p.view, it = " item                                                                                                                                        \
    ", band = p.rowsLayout.bands.find((d) => d.kind === 'chip' && d.row && !d.host && !d.ranges); p.viewRange(p.itemStart(it), "                                                    \
    "p.itemEnd(it)); return new Promise((done) => p.timeline.model && requestAnimationFrame(() => requestAnimationFrame(() => { const r = p.timeline.ratio, d = "                   \
    "document.getElementById('" side                                                                                                                                                \
    "').contentDocument.getElementById('paint').getContext('2d').getImageData((p.axisToX(p.itemEnd(it)) - 4) * r, (band.y + 4) * r, 1, 1).data; const hex = '#' + [...d].slice(0, " \
    "3).map((c) => c.toString(16).padStart(2, '0')).join(''); const kinds = ['slower', 'faster', 'perhaps slower', 'perhaps faster', 'new', 'same']; "                              \
    "done(kinds.find((k) => p.kindColour(k) === hex) || hex); }))); })"

static void what_differs_is_coloured(void **state)
{
    NEEDS_BROWSER();
    page_log log = {.chips = 1, .columns = 2, .rows = 2, .riscs = 2, .launches = 6, .zones = 3};
    char line[1500], was[600];
    snprintf(was, sizeof was, "%s", in_scratch("was.csv"));
    page_log_write(was, &log);
    log.slow = 3;
    log.slower = 5000;
    log.launches = 7;
    page_log_write(in_scratch("is.csv"), &log);
    snprintf(line, sizeof line, "%s %s", was, in_scratch("is.csv"));
    open_pair(line, 0);
    page_has_text(b, "pair.ops.map((p) => p.kind).join()", "same,same,perhaps slower,same,same,same,new");
    page_has_text(b, PAINTED("old", "pair.ops[2].a.items[0]") "(pair.a)", "perhaps slower");
    page_has_text(b, PAINTED("new", "pair.ops[2].b.items[0]") "(pair.b)", "perhaps slower");
    page_has_text(b, PAINTED("new", "pair.ops[0].b.items[0]") "(pair.b)", "same");
    page_has_text(b, PAINTED("new", "pair.ops[6].b.items[0]") "(pair.b)", "new");
    page_run(b, "document.getElementById('theme').click()");
    page_has_text(b, "pair.a.theme.dark && pair.b.theme.dark ? 'dark' : 'not both'", "dark");
    page_has_text(b, PAINTED("new", "pair.ops[2].b.items[0]") "(pair.b)", "perhaps slower");
    /* A launch says what became of it; its row leads to it, as it differs most. */
    page_run(b, "choose(rows.all.find((r) => r.line.kind === 'op'))");
    page_has_text(
        b,
        "pair.b.selection.item.lane.launch[pair.b.selection.item.i] + ' ' + pair.a.selection.item.lane.launch[pair.a.selection.item.i]",
        "2 2");
    page_has_text(b, "document.getElementById('new').contentDocument.getElementById('details').innerText",
                  "the new one takes +");
    /* A zone: the longest of each. */
    page_run(
        b,
        "choose(rows.all.find((r) => r.line.kind === 'zone' && r.line.name.startsWith('INNER')) || rows.all.find((r) => r.line.kind === 'zone'))");
    page_has_text(
        b,
        "pair.a.itemSite(pair.a.selection.item).name === pair.chosen.line.name && pair.b.itemSite(pair.b.selection.item).name === pair.chosen.line.name && "
        "pair.a.selection.item.lane.row.risc === pair.chosen.line.risc ? 'zone' : 'other'",
        "zone");
    page_has_no_problems(b, "colours");
}

/* Texts that programs and markup are made of stay texts, in a page inside of a page. */
static void names_stay_names(void **state)
{
    NEEDS_BROWSER();
    char line[1500], path[2][600];
    for (int i = 0; i < 2; i++) {
        snprintf(path[i], sizeof path[i], "%s", in_scratch(i ? "b.csv" : "a.csv"));
        dl_str out = {0};
        dl_str_add(
            &out,
            "ARCH: wormhole_b0, CHIP_FREQ[MHz]: 1000\nPCIe slot, core_x, core_y, RISC processor type, timer_id, time[cycles since reset], data, run host ID,  zone name, "
            "type, source line, source file, meta data\n");
        for (unsigned k = 0; k < 4; k++)
            dl_str_fmt(
                &out,
                "0,1,1,BRISC,7,%u,0,1,</script><script>window.bad=1</script>\\u003c,%s,3,/src/</style><b>.cc,\n",
                1000 + k * (100 + 50 * (unsigned)i), k % 2 ? "ZONE_END" : "ZONE_START");
        write_text(path[i], out.text);
        dl_str_free(&out);
    }
    snprintf(line, sizeof line, "%s %s", path[0], path[1]);
    open_pair(line, 0);
    page_has_text(
        b,
        "String(window.bad) + document.getElementById('old').contentWindow.bad + (pair.a ? pair.a.timeline.model.sites[0].name : '')",
        "undefinedundefined</script><script>window.bad=1</script>\\u003c");
    page_has_text(b, "rows.all.map((r) => r.what).join()", "</script><script>");
    page_has_no_problems(b, "names");
}

static void says(const char *arguments, int exit_status, const char *expected)
{
    char line[2500];
    const char *page = in_scratch("none.html");
    unlink(page);
    snprintf(line, sizeof line, "diff %s -o %s", arguments, page);
    devlog_fails(line, exit_status, expected);
    assert_int_not_equal(access(page, F_OK), 0);
}

static void what_cannot_be_shown(void **state)
{
    (void)state;
    const page_log log = {.chips = 1, .columns = 1, .rows = 1, .riscs = 1, .launches = 3, .zones = 2};
    char one[600], line[2000], report[700];
    snprintf(one, sizeof one, "%s", in_scratch("one.csv"));
    page_log_write(one, &log);
    snprintf(report, sizeof report, "%s/ops_perf_results.csv", shorter());
    snprintf(line, sizeof line, "%s %s", one, one);
    says(line, 2, "-o is the file of --page");
    snprintf(line, sizeof line, "--page %s %s", report, report);
    says(line, 1, "--page needs a device log of the old run");
    snprintf(line, sizeof line, "--page --old %s --new %s --new %s", one, one, one);
    says(line, 1, "the new side has 2");
    snprintf(line, sizeof line, "--page %s %s.not", one, one);
    says(line, 1, ".not");
    /* A log in which nothing is: no run. */
    write_text(
        in_scratch("empty.csv"),
        "ARCH: wormhole_b0, CHIP_FREQ[MHz]: 1000\nPCIe slot, core_x, core_y, RISC processor type, timer_id, time[cycles since reset], data, run host "
        "ID,  zone name, type, source line, source file, meta data\n");
    snprintf(line, sizeof line, "--page %s %s", one, in_scratch("empty.csv"));
    says(line, 1, "empty.csv");
}

static void what_was_lost_is_said(void **state)
{
    NEEDS_BROWSER();
    page_log log = {.chips = 1, .columns = 2, .rows = 1, .riscs = 2, .launches = 4, .zones = 3};
    char line[1500], whole[600];
    snprintf(whole, sizeof whole, "%s", in_scratch("whole.csv"));
    page_log_write(whole, &log);
    /* With itself. */
    snprintf(line, sizeof line, "%s %s", whole, whole);
    open_pair(line, 0);
    page_has_text(b, "document.getElementById('facts').innerText", "no line changed more than chance");
    page_has_text(b, "document.getElementById('banner').hidden + pair.ops.map((p) => p.kind).join()",
                  "truesame,same,same,same");
    /* With drops, and with one that ends in the middle of a line. */
    log.drops = true;
    page_log_write(in_scratch("drops.csv"), &log);
    snprintf(line, sizeof line, "%s %s", whole, in_scratch("drops.csv"));
    open_pair(line, 3);
    page_has_text(b, "document.getElementById('banner').innerText", "the new run lost something");
    struct stat st;
    assert_int_equal(stat(in_scratch("drops.csv"), &st), 0);
    assert_int_equal(truncate(in_scratch("drops.csv"), st.st_size * 15 / 100), 0);
    open_pair(line, 3);
    page_has_text(b, "document.getElementById('banner').innerText", "the new run lost something");
    page_has_text(b, "pair.ops.map((p) => p.kind).join()", "gone");
    page_has_no_problems(b, "losses");
}

/* At three widths, light and dark: nothing sticks out, texts can be read, and both time lines are there. */
static void it_fits(void **state)
{
    NEEDS_BROWSER();
    static const int widths[] = {1440, 1024, 390};
    two_networks("choose(rows.all.find((r) => r.line.kind === 'op'))");
    for (int i = 0; i < 6; i++) {
        browser_size(b, widths[i % 3], 900);
        if (i == 3) page_run(b, "document.getElementById('theme').click()");
        page_settle(b);
        page_has_text(
            b,
            "document.documentElement.scrollWidth <= innerWidth ? 'fits' : 'sticks out ' + document.documentElement.scrollWidth",
            "fits");
        page_has_text(
            b,
            "['old', 'new'].every((id) => document.getElementById(id).clientHeight > 300 && document.getElementById(id).contentDocument.getElementById('rows').clientHeight > 60) ? 'room' : "
            "'no room'",
            "room");
        page_has_text(
            b,
            "['old', 'new'].every((id) => { const d = document.getElementById(id).contentDocument.documentElement; return d.scrollWidth <= d.clientWidth; }) ? 'fits' : 'sticks out'",
            "fits");
        page_has_text(
            b,
            "(() => { const p = pair.a, of = (e) => getComputedStyle(e), hex = (c) => '#' + c.match(/\\d+/g).slice(0, 3).map((v) => Number(v).toString(16).padStart(2, '0')).join(''); const page = "
            "hex(of(document.body).backgroundColor); const bad = [...document.querySelectorAll('#lines *, #top *')].filter((e) => [...e.childNodes].some((n) => n.nodeType === 3 && n.data.trim()) && "
            "p.contrast(hex(of(e).color), page) < 4.5); return bad.length ? bad[0].outerHTML.slice(0, 200) : 'legible'; })()",
            "legible");
        page_has_text(
            b,
            "['slower', 'faster', 'perhaps slower', 'perhaps faster', 'new', 'gone', 'same'].every((k) => pair.a.contrast(pair.a.theme.colours.ink, pair.a.kindColour(k)) >= 4.5) ? 'legible' : 'faint'",
            "legible");
    }
    browser_size(b, 1440, 900);
    page_has_no_problems(b, "sizes");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_line_leads_into_both),
        cmocka_unit_test(views_go_together),
        cmocka_unit_test(what_differs_is_coloured),
        cmocka_unit_test(names_stay_names),
        cmocka_unit_test(what_cannot_be_shown),
        cmocka_unit_test(what_was_lost_is_said),
        cmocka_unit_test(it_fits),
    };
    return cmocka_run_group_tests(tests, start_browser, stop_browser);
}
