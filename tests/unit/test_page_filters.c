/* Filters on the command line reach what the page shows: its time line, its statistics, and its answers, which are of the ops in
 * which something got past them; and the page of a program of the host alone. Skipped where there is no chromium. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "support/cli.h"
#include "support/files.h"
#include "support/page_group.h"

static void open_filtered(const char *log, const char *filter)
{
    char line[1400], url[700];
    snprintf(line, sizeof line, "decode %s -o filtered %s", filter, log);
    free(devlog_ok(line, 0));
    snprintf(url, sizeof url, "file://%s", in_scratch("filtered/device_perf.html"));
    assert_true(browser_go(b, url, PAGE_READY));
}

/* Ops of the answers are those that have an interval in the page, of those that ran on the device; zones have the counts of the
 * statistics, which the decoder filtered. */
static void answers_are_of_what_is_shown(const char *filter)
{
    char *wrong = browser_js(
        b,
        "(() => { const here = new Set(); for (const row of timeline.model.rows) for (const lane of row.lanes) for (let i = 0; i < "
        "lane.n; i++) if (lane.launch[i] >= 0) here.add(opOf(timeline.model.launches[lane.launch[i]])); "
        "const said = answers.all.by_op.sections.op_statistics.rows.filter((r) => r.total !== null).map((r) => Number(r.op.split(' ')[0])); "
        "const wrong = []; if (!here.size) wrong.push('nothing is shown'); "
        "for (const id of here) if (!answers.made && !said.includes(id)) wrong.push('op ' + id + ' is not in the answers'); "
        "if (!answers.made) for (const id of said) if (!here.has(id)) wrong.push('op ' + id + ' is not shown'); "
        "if (fact('ops').value < here.size) wrong.push(fact('ops').value + ' ops'); "
        "const sums = new Map(); for (const z of answers.all.report.sections.zones.rows) { const key = z.risc + ' ' + z.zone; "
        "sums.set(key, (sums.get(key) || 0) + z.count); } "
        "for (const r of table.rows) { const n = sums.get(r.risc + ' ' + r.name); if (r.role === 0 && n !== r.count) "
        "wrong.push(r.risc + ' ' + r.name + ': ' + n + ', not ' + r.count); } "
        "return wrong.slice(0, 4).join('; ') + '.' })()");
    if (strcmp(wrong, ".") != 0) fail_msg("%s: %s", filter, wrong);
    free(wrong);
    page_has_no_problems(b, filter);
}

static void filters_reach_the_answers(void **state)
{
    NEEDS_BROWSER();
    static const char *const filters[] = {"--core 1,1",
                                          "--riscs NCRISC",
                                          "--riscs TRISC*",
                                          "--zone move",
                                          "--zone 'row of*'",
                                          "--min-cycles 200",
                                          "--core 0,0-3,0 --riscs BRISC --skip-launches 3"};
    const char *log = page_network();
    for (size_t i = 0; i < sizeof filters / sizeof filters[0]; i++) {
        open_filtered(log, filters[i]);
        answers_are_of_what_is_shown(filters[i]);
    }
    page_has_text(b, "document.getElementById('trust').innerText",
                  "ops are those in which something got past");
    /* The first third of the time. */
    open_filtered(log, "");
    const double all = browser_number(b, "fact('ops').value");
    char *third = browser_js(
        b,
        "'--until ' + (BigInt(timeline.model.chips[0].base) + BigInt(Math.round(Math.max(...timeline.model.rows"
        ".flatMap((r) => r.lanes.map((l) => l.end[l.n - 1]))) / 3)))");
    open_filtered(log, third);
    answers_are_of_what_is_shown(third);
    assert_true(browser_number(b, "fact('ops').value") < all);
    free(third);
}

/* Without an op report, and with causes: those of the launches that are left. */
static void causes_are_of_the_launches_that_are_left(void **state)
{
    NEEDS_BROWSER();
    page_open_waits(b);
    char log[600];
    snprintf(log, sizeof log, "%s", in_scratch("waits/logs_device/capture.devlog"));
    page_has_text(b, "String(answers.all.causes.sections.launches.rows.length)", "2");
    open_filtered(log, "--zone 'compute page'");
    page_has_text(b, "answers.all.causes.sections.launches.rows.map((r) => r.launch).join() + '.'", "2.");
    page_has_text(b, "tabNames().join()", "causes");
    page_has_number(b, "fact('ops').value", 1);
    open_filtered(log, "--launches 1");
    page_has_text(b, "answers.all.causes.sections.launches.rows.map((r) => r.launch).join() + '.'", "1.");
    page_has_no_problems(b, "causes");
}

/* Of what there is chips come first, then processes with the number that a filter takes; a log may have either alone. */
static void chips_and_processes_that_are_not_there(void **state)
{
    (void)state;
    char line[2000], says[200], folder[600], log[700];
    const page_log chips = {.chips = 3, .columns = 1, .rows = 1, .riscs = 1, .launches = 1, .zones = 1};
    snprintf(folder, sizeof folder, "%s", in_scratch("."));
    snprintf(log, sizeof log, "%s", in_scratch("three.csv"));
    page_log_write(log, &chips);
    const long child = page_host_program(folder);
    const unsigned id = 0x40000000u + (unsigned)child;
    for (int both = 0; both < 2; both++) {
        snprintf(line, sizeof line, "decode --no-files --chips 7 %s %s/host_%ld.devlog", both ? log : "",
                 folder, child);
        snprintf(says, sizeof says, "--chips 7: no such chip; the log has %s%u (process %ld)",
                 both ? "0-2, " : "", id, child);
        devlog_fails(line, 1, says);
        snprintf(line, sizeof line, "decode --no-files --chips %u %s %s/host_%ld.devlog", id, both ? log : "",
                 folder, child);
        char *text = devlog_ok(line, 0);
        if (!strstr(text, "loader") || strstr(text, "BRISC")) fail_msg("%s: %s", line, text);
        free(text);
    }
}

static void a_program_of_the_host_alone(void **state)
{
    NEEDS_BROWSER();
    char name[64], title[64];
    char folder[600], path[700];
    snprintf(folder, sizeof folder, "%s", in_scratch("."));
    const pid_t child = page_host_program(folder);
    snprintf(name, sizeof name, "host_%ld.devlog", (long)child);
    snprintf(path, sizeof path, "%s/%s", folder, name);
    snprintf(title, sizeof title, "process %ld", (long)child);
    page_open(b, path, in_scratch("out"), 0);
    page_run(b, "showTab('overview')");
    page_has_text(b, "tabNames().join() + '.'", "overview,time,zones,markers,log.");
    page_has_text(b, "document.getElementById('trust').innerText", title);
    assert_true(browser_wait(b, "!!document.getElementById('threads')"));
    page_has_text(b, "document.getElementById('verdict').innerText.replace(/\\s+/g, ' ')",
                  "2 threads 1 process, 80 zones in ");
    page_has_text(b, "document.getElementById('threads').innerText", "loader");
    page_has_text(b, "document.getElementById('threads').innerText", title);
    page_has_text(b, "document.getElementById('most-zones').innerText.replace(/\\s+/g, ' ')", "prepare 40 ");
    page_has_text(b, "document.getElementById('facts').innerText", "2 threads of 1 process");
    /* By keyboard from a zone to where it was. */
    page_run(b, "document.querySelector('#most-zones tbody tr').focus()");
    browser_key(b, "Enter");
    page_has_text(b, "tabs.now + ' ' + itemName(selection.item)", "time prepare");
    page_has_text(b, "document.getElementById('details').innerText", title);
    /* No number of a slot of chips anywhere. */
    page_has_text(
        b,
        "tabNames().map((t) => (showTab(t), document.getElementById('pane-' + t).innerText + document.body.innerText)).some((t) => /10737\\d{5}/.test(t)) ? 'a slot' : 'no slot'",
        "no slot");
    page_has_text(b, "rowsLayout.bands.map((d) => d.kind).join()", "core,risc,risc");
    page_has_no_problems(b, "the host alone");
    page_fits(b, "the host alone", PAGE_ALL_SIZES | PAGE_LIGHT_AND_DARK);
    page_is_legible(b, "the host alone");
}

/* The host's zones stand above the chip's rows, and are no cores of it. */
static void a_program_of_the_host_above_a_chip(void **state)
{
    NEEDS_BROWSER();
    static const int widths[] = {1440, 1024, 390};
    char line[2000], folder[600], url[700];
    snprintf(folder, sizeof folder, "%s", in_scratch("."));
    const pid_t child = page_host_program(folder);
    snprintf(line, sizeof line, "decode %s %s/host_%ld.devlog -o %s", page_network(), folder, (long)child,
             in_scratch("both"));
    free(devlog_ok(line, 0));
    snprintf(url, sizeof url, "file://%s/device_perf.html", in_scratch("both"));
    assert_true(browser_go(b, "about:blank", "true"));
    assert_true(browser_go(b, url, PAGE_READY));
    page_run(b, "Object.assign(globalThis, devlog), showTab('time'), viewAll()");
    for (int dark = 0; dark < 2; dark++) {
        for (int i = 0; i < 3; i++) {
            browser_size(b, widths[i], 900);
            page_settle(b);
            page_has_text(
                b,
                "(() => { const own = (d) => timeline.model.chips[d.chip ?? d.core.chip].process ? 'P' : 'c'; return rowsLayout.bands.filter((d) => d.kind !== 'risc' && !d.ranges).map(own).join('') + '.'; })()",
                "Pcccccccc.");
        }
        browser_key(b, "t");
    }
    browser_size(b, 1440, 900);
    page_settle(b);
    page_has_text(b, "document.getElementById('strip-label').innerText", " of 6");
    page_has_number(b, "timeline.model.processes", 1);
    /* The first core of the chip is the one that is open at first; up and down go as rows stand. */
    page_run(
        b,
        "goTo({ lane: timeline.model.rows.filter((r) => r.core.index === 0).at(-1).lanes.at(-1), i: 0 }), walk(0, 1)");
    page_has_text(b, "selection.item.lane.row.risc", "launches");
    page_run(b, "walk(0, -1)");
    page_has_text(b, "String(selection.item.lane.row.core.index)", "0");
    /* No row of the heat map is a process. */
    page_run(b, "showTab('heat')");
    page_has_number(b, "heat.cores.length", 6);
    page_has_number(b, "[...heat.cells].filter((v) => !isNaN(v)).length > 6 * 15 ? 1 : 0", 1);
    page_has_no_problems(b, "the host above a chip");
    page_fits(b, "the host above a chip", PAGE_ALL_SIZES | PAGE_LIGHT_AND_DARK);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(filters_reach_the_answers),
        cmocka_unit_test(causes_are_of_the_launches_that_are_left),
        cmocka_unit_test(chips_and_processes_that_are_not_there),
        cmocka_unit_test(a_program_of_the_host_alone),
        cmocka_unit_test(a_program_of_the_host_above_a_chip),
    };
    return cmocka_run_group_tests(tests, start_browser, stop_browser);
}
