/* The tabs of device_perf.html: what the overview says is what `devlog report` says, its links lead into the time line, ops
 * stand beside time, and a tab without data is not there; at every size, light and dark, by mouse and keyboard, of every kind
 * of log. Skipped where there is no chromium. */
#include "support/cli.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/device.h"
#include "support/files.h"
#include "support/page_group.h"

static void open_network(void)
{
    page_open(b, page_network(), in_scratch("out"), 0);
    free(browser_js(b, "showTab('overview')"));
}

/* Every section of the page's answers is that of the command, but for the input's name. */
static void same_answers(const char *command, const char *of)
{
    char *said = devlog_ok(command, 0), script[200];
    snprintf(script, sizeof script, "JSON.stringify(answers.all.%s)", of);
    char *shown = browser_js(b, "%s", script);
    cJSON *wanted = cJSON_Parse(said), *found = cJSON_Parse(shown), *section;
    assert_non_null(wanted);
    assert_non_null(found);
    int n = 0;
    cJSON_ArrayForEach(section, cJSON_GetObjectItem(wanted, "sections"))
    {
        cJSON *there = cJSON_GetObjectItem(cJSON_GetObjectItem(found, "sections"), section->string);
        cJSON_DeleteItemFromObject(cJSON_GetObjectItem(section, "facts"), "input");
        cJSON_DeleteItemFromObject(cJSON_GetObjectItem(there, "facts"), "input");
        if (!cJSON_Compare(section, there, true)) {
            char *a = cJSON_PrintUnformatted(section), *c = cJSON_PrintUnformatted(there);
            fail_msg("%s of %s: the page has\n%s\nand not\n%s", section->string, command, c ? c : "nothing",
                     a);
        }
        n++;
    }
    assert_true(n > 3);
    assert_string_equal(cJSON_GetStringValue(cJSON_GetObjectItem(wanted, "format")),
                        cJSON_GetStringValue(cJSON_GetObjectItem(found, "format")));
    cJSON_Delete(wanted);
    cJSON_Delete(found);
    free(said);
    free(shown);
}

static void answers_are_those_of_the_commands(void **state)
{
    NEEDS_BROWSER();
    open_network();
    same_answers("report --format json network", "report");
    same_answers("memory --format json --steps 200 --top 2000 network", "memory");
    page_has_text(b, "answers.notes.length + ' notes'", "0 notes");
    page_has_text(b, "answers.made ? 'launches' : 'ops'", "ops");
    page_open_waits(b);
    same_answers("report --format json waits", "report");
    same_answers("causes --format json waits", "causes");
    page_has_text(b, "answers.made ? 'launches' : 'ops'", "ops");
    page_has_text(b, "document.getElementById('verdict').innerText", "longest waits");
    page_has_text(b, "document.getElementById('verdict').innerText",
                  "TRISC_2, which waited most for TRISC_1, that for TRISC_0, that for BRISC");
    page_has_text(b, "showTab('causes'), document.querySelector('#pane-causes .short').innerText",
                  "most of its path, ");
    /* Of one op both are told: what more cores would save, and what its launches wait for. */
    page_has_text(b, "section('report', 'savings').rows.map((r) => r.kind).join()", "unused_cores,path");
    assert_true(browser_wait(b, "!!document.getElementById('straggler')"));
    page_has_text(b, "document.getElementById('straggler').innerText", "none");
}

/* With its numbers as a terminal has them. */
static void the_overview_comes_first(void **state)
{
    NEEDS_BROWSER();
    page_open(b, page_network(), in_scratch("out"), 0);
    page_run(b, "location.reload(), 1");
    assert_true(browser_wait(b, "document.documentElement.dataset.ready === 'yes'"));
    page_has_text(b, "tabs.now", "zones"); /* the address remembers */
    free(browser_js(b, "history.replaceState(null, '', '#')"));
    page_run(b, "location.reload(), 1");
    assert_true(browser_wait(b, "document.documentElement.dataset.ready === 'yes'"));
    page_has_text(b, "tabs.now", "overview");
    page_has_text(b, "tabNames().join()", "overview,time,ops,zones,heat,memory,roofline,log");
    page_has_text(b, "document.getElementById('timeline').offsetHeight + ' px'", "0 px");
    page_has_text(
        b,
        "(() => { const facts = answers.all.report.sections.verdict.facts, text = "
        "document.getElementById('verdict').innerText; return ['wall', 'busy_share', 'ops_time', "
        "'compile_time'].filter((k) => !text.includes(unitText(facts[k].value, facts[k].unit))).join() + "
        "'.' })()",
        ".");
    /* The op that took longest, and the one that took most in all. */
    page_has_text(b, "document.getElementById('verdict').innerText", "slowest op\nSoftmax\nop ");
    page_has_text(b, "document.getElementById('verdict').innerText", "in all Matmul took most: ");
    page_has_text(b, "document.getElementById('verdict').innerText", "the device's wall time is ");
    page_has_text(b, "document.querySelectorAll('.saving').length + ' savings'", "4 savings");
    page_has_text(b, "[...document.querySelectorAll('.saving h3')].pop().innerText",
                  "Small gaps between launches add up");
    page_has_text(b, "document.querySelector('.steps').innerText", "step 1");
    page_has_text(b, "document.getElementById('trust').innerText", "Nothing was lost");
    page_has_text(b, "document.getElementById('trust').innerText", "of the host's");
    page_has_no_problems(b, "overview");
}

/* Each link of the overview shows the op that it speaks of. */
static void savings_lead_into_the_time_line(void **state)
{
    NEEDS_BROWSER();
    open_network();
    const int n = (int)browser_number(b, "document.querySelectorAll('.saving .go').length");
    assert_true(n > 0);
    for (int i = 0; i < n; i++) {
        char script[600];
        snprintf(script, sizeof script,
                 "showTab('overview'), clearAll(), viewAll(), document.querySelectorAll('.saving "
                 ".go')[%d].click()",
                 i);
        page_run(b, script);
        page_has_text(b, "tabs.now", "time");
        page_has_text(b, "view.t1 - view.t0 < view.span * 0.9 ? 'near' : 'far'", "near");
        snprintf(script, sizeof script,
                 "(() => { const row = answers.all.report.sections.savings.rows[%d], item = selection.item; "
                 "if (selection.range) return 'range'; if (!item) return 'nothing'; const launch = "
                 "timeline.model.launches[item.lane.launch[item.i]]; return row.op_id === null || "
                 "opOf(launch) === row.op_id ? 'its op' : 'op ' + opOf(launch) + ' for ' + row.op_id; })()",
                 i);
        char *shown = browser_js(b, "%s", script);
        if (strcmp(shown, "its op") != 0 && strcmp(shown, "range") != 0) fail_msg("saving %d: %s", i, shown);
        free(shown);
    }
    page_has_no_problems(b, "savings");
}

/* Steps and signposts are rows, and hold the launches of their ops. */
static void steps_are_rows(void **state)
{
    NEEDS_BROWSER();
    open_network();
    page_has_text(b, "timeline.model.ranges.map((r) => r.risc + ' ' + r.names.join('|')).join('; ') + '.'",
                  "steps step 0|step 1; signposts layer 0|layer 1|layer 0|layer 1.");
    page_has_text(
        b,
        "(() => { const lane = timeline.model.ranges[0].lanes[0], half = timeline.model.launches.length / 2; "
        "const inside = [0, 0]; for (const top of timeline.model.tops[0].lanes) for (let i = 0; i < top.n; "
        "i++) for (const k of [0, 1]) if (itemStart({ lane: top, i }) >= lane.start[k] && itemEnd({ lane: "
        "top, i }) <= lane.end[k]) inside[k]++; return inside.join() + ' of ' + half; })()",
        "11,11 of 11");
    page_run(b, "select({ lane: timeline.model.ranges[0].lanes[0], i: 1 }, true)");
    page_has_text(b, "document.getElementById('details').innerText", "step 1");
    page_has_text(b, "document.getElementById('say').textContent", "step 1, what step, duration");
    page_run(b, "fitSelection()");
    page_has_text(b, "itemBox(selection.item) ? 'drawn' : 'not'", "drawn");
    page_has_no_problems(b, "steps");
}

static void ops_stand_beside_time(void **state)
{
    NEEDS_BROWSER();
    open_network();
    page_run(b, "showTab('ops')");
    assert_true(browser_number(b, "document.getElementById('timeline').offsetHeight") > 100);
    /* As the report has them, then by their names, then one of them. */
    page_has_text(b, "document.querySelector('#op-table tbody tr').cells[0].textContent", "Matmul");
    page_run(b, "document.querySelector('#op-table th button').click()");
    page_has_text(b, "document.querySelector('#op-table th').ariaSort", "ascending");
    page_has_text(b,
                  "[...document.querySelectorAll('#op-table tbody tr')].map((r) => "
                  "r.cells[0].textContent).join('|') === answers.all.report.sections.op_statistics.rows"
                  ".map((r) => r.op).sort().join('|') ? 'sorted' : 'not'",
                  "sorted");
    page_run(b, "(() => { const box = document.querySelector('#op-bar input'); box.value = 'matmul'; "
                "box.dispatchEvent(new Event('input')); })()");
    page_has_number(b, "document.querySelectorAll('#op-table tbody tr').length", 1);
    /* Its launches: as many as it has, the slowest first; a click shows one. */
    page_run(b, "document.querySelector('#op-table tbody tr').click()");
    page_has_text(
        b,
        "(() => { const n = answers.all.report.sections.op_statistics.rows.find((r) => r.op === "
        "'Matmul').count; return document.querySelectorAll('#op-launches tbody tr').length === n && "
        "timeline.chosenLaunches.size === n ? 'all' : 'not all'; })()",
        "all");
    page_run(b, "document.querySelector('#op-launches tbody tr').click()");
    page_has_text(b, "itemName(selection.item)", "launch Matmul (");
    page_has_text(
        b, "view.t0 <= itemStart(selection.item) && view.t1 >= itemEnd(selection.item) ? 'seen' : 'no'",
        "seen");
    /* Columns that were taken away stay away. */
    page_run(b, "[...document.querySelectorAll('#op-bar .menu label')].find((l) => l.textContent === "
                "'gap').firstChild.click()");
    page_has_text(b, "document.querySelector('#op-table thead').innerText.includes('gap') ? 'there' : 'gone'",
                  "gone");
    page_open(b, page_network(), in_scratch("out"), 0);
    page_run(b, "showTab('ops')");
    page_has_text(b, "document.querySelector('#op-table thead').innerText.includes('gap') ? 'there' : 'gone'",
                  "gone");
    page_run(b, "localStorage.clear()");
    page_has_no_problems(b, "ops");
}

/* Put together in other ways, every op is in one line; and what is selected in the time line has its ops. */
static void ops_of_groups_and_of_times(void **state)
{
    NEEDS_BROWSER();
    open_network();
    page_run(b, "showTab('ops')");
    for (const char *const *group = (const char *const[]){"report", "by_shape", "by_category", NULL}; *group;
         group++) {
        char script[400];
        snprintf(script, sizeof script,
                 "(() => { ops.group = '%s', showOps(); const rows = "
                 "answers.all.%s.sections.op_statistics.rows; return rows.filter((r) => opsOfRow(r).length "
                 "!== r.count).map((r) => r.op).join() + '.' + (rows.length > 1 ? 'several' : ''); })()",
                 *group, *group);
        char *text = browser_js(b, "%s", script);
        if (strcmp(text, ".several") != 0) fail_msg("%s: other counts than its ops: %s", *group, text);
        free(text);
    }
    page_run(
        b,
        "ops.group = 'report', showOps(), (() => { const item = launchesOf(3)[0]; measure(itemStart(item), "
        "itemEnd(item)); })()");
    page_has_text(
        b, "[...document.querySelectorAll('#op-table tbody tr')].map((r) => r.cells[0].textContent).join()",
        "3 Matmul");
    page_has_number(b, "document.querySelectorAll('#op-table tbody tr').length", 1);
    page_run(b, "clearAll()");
    page_has_text(b, "ops.within", "all");
    page_has_no_problems(b, "groups");
}

#define DEEP        " < a&b.py:22 \"q\" '</script>' < deep.py:123 " NAME " < deeper.py:4 <module>"
#define DEEP_IN_LOG ",\"a&b.py:22 \\\"q\\\" '</script>'\",\"deep.py:123 " NAME "\",\"deeper.py:4 <module>\""
#define DEEP_IN_JS  " < deeper.py:4 <module>"
#define NAME        "a_function_of_a_class_with_a_name_that_is_longer_than_its_place_by_far"

/* Where the log says who called: a group more, and each op of the list says it. */
static void ops_say_who_called(void **state)
{
    NEEDS_BROWSER();
    open_network();
    page_run(b, "showTab('ops')");
    page_has_text(
        b, "document.querySelector('#op-bar select').textContent.includes('call stack') ? 'there' : 'no'",
        "no");
    const char *own = getenv("DEVLOG_BIN");
    char line[700];
    snprintf(line, sizeof line, "run --once -o stacks -- %.*snn 1",
             own ? (int)(strlen(own) - strlen("devlog")) : 0, own ? own : "");
    free(devlog_ok(line, 0));
    FILE *log = fopen(in_scratch("stacks/logs/profile_log_ops.jsonl"), "a");
    assert_non_null(log);
    /* Deep ones, too, with what HTML and JSON have to escape. */
    for (int op = 1; op <= 6; op++)
        fprintf(log,
                "{\"e\":\"stack\",\"id\":%d,\"frames\":[\"net.py:%d layer\",\"<b>.py:1 main\"" DEEP_IN_LOG
                "]}\n",
                op, op < 4 ? 7 : 9);
    fclose(log);
    free(devlog_ok("ops -i stacks/logs -o stacks", 0));
    page_open(b, in_scratch("stacks/logs/capture.devlog"), in_scratch("out"), 0);
    page_run(b, "showTab('ops')");
    page_has_text(
        b, "document.querySelector('#op-bar select').textContent.includes('call stack') ? 'there' : 'no'",
        "there");
    page_run(b, "document.querySelector('#op-table tbody tr').click()"); /* Matmul */
    page_has_text(
        b,
        "[...new Set([...document.querySelectorAll('#op-launches .faint')].map((e) => e.textContent).filter((t) => "
        "t.includes('layer')))].sort().join('|')",
        "net.py:7 layer < <b>.py:1 main" DEEP "|net.py:9 layer < <b>.py:1 main" DEEP);
    /* What is copied of the list has it all; who selects a stack to copy it stays where he is; its width is that of its place. */
    page_has_text(b,
                  "shownText(document.querySelector('#op-launches table')).rows.filter((r) => "
                  "r[1].includes('layer') && r[1].endsWith('' + '" DEEP_IN_JS
                  "')).length === 2 ? 'all' : 'cut'",
                  "all");
    page_has_text(
        b,
        "(() => { const line = document.querySelector('#op-launches tr[tabindex]'), stack = line.querySelector('.stack'), "
        "at = () => [view.t0, view.t1].join(), clicked = () => { const before = at(); line.click(); return at() !== before; }; "
        "setView(0, view.span); getSelection().selectAllChildren(stack); const said = "
        "[String(getSelection()).includes('script'), clicked(), stack.scrollWidth <= stack.clientWidth]; "
        "getSelection().removeAllRanges(); return [...said, clicked()].join(); })()",
        "true,false,true,true");
    page_run(b, "ops.group = 'by_stack', showOps()");
    page_has_text(
        b,
        "[...document.querySelectorAll('#op-table tbody tr')].map((r) => r.cells[0].textContent).filter((t) => "
        "t.startsWith('Matmul net.py:7')).join()",
        "Matmul net.py:7 layer < <b>.py:1 main" DEEP);
    page_has_no_problems(b, "stacks");
}

/* The path of the longest launch: a part of it is shown where it was. */
static void causes_lead_into_the_time_line(void **state)
{
    NEEDS_BROWSER();
    page_open_waits(b);
    page_run(b, "showTab('causes')");
    page_has_text(b,
                  "document.querySelectorAll('.path span').length === "
                  "answers.all.causes.sections.path.rows.length ? 'all parts' : 'not all'",
                  "all parts");
    page_run(b, "document.querySelector('.path span:nth-child(3)').click()");
    page_has_text(b, "tabs.now", "time");
    page_has_text(
        b,
        "(() => { const row = answers.all.causes.sections.path.rows[2], length = selection.range[1] - "
        "selection.range[0]; return Math.abs(length * timeline.model.toCycles - row.cycles) < 2 ? "
        "'as long' : length + ' for ' + row.cycles; })()",
        "as long");
    page_has_no_problems(b, "causes");
}

/* Tabs, rows and links by keyboard alone. */
static void keys_reach_everything(void **state)
{
    NEEDS_BROWSER();
    open_network();
    browser_key(b, "3");
    page_has_text(b, "tabs.now", "ops");
    page_run(b, "document.getElementById('tab-ops').focus()");
    browser_key(b, "ArrowRight");
    page_has_text(b, "tabs.now + ' ' + document.activeElement.id", "zones tab-zones");
    browser_key(b, "ArrowLeft");
    browser_key(b, "ArrowLeft");
    browser_key(b, "ArrowLeft");
    page_has_text(b, "tabs.now", "overview");
    page_run(b, "document.querySelector('.saving .go').focus()");
    browser_key(b, "Enter");
    page_has_text(b, "tabs.now", "time");
    browser_key(b, "3");
    page_run(b, "document.querySelector('#op-table tbody tr').focus()");
    browser_key(b, "ArrowDown");
    page_has_text(b, "document.activeElement.cells[0].textContent", "Softmax");
    browser_key(b, "Enter");
    page_has_text(b, "document.getElementById('op-launches').innerText", "Softmax");
    /* What can be clicked can be reached. */
    for (const char *const *tab =
             (const char *const[]){"overview", "ops", "memory", "roofline", "causes", NULL};
         *tab; tab++) {
        char script[300];
        snprintf(
            script, sizeof script,
            "(showTab('%s'), [...document.querySelectorAll('#pane-%s .go, #pane-%s tbody tr')].filter((e) => "
            "getComputedStyle(e).cursor === 'pointer' && e.tabIndex < 0).length)",
            *tab, *tab, *tab);
        page_has_number(b, script, 0);
    }
    page_has_no_problems(b, "keys");
}

static void everything_can_be_read(void **state)
{
    NEEDS_BROWSER();
    open_network();
    page_is_legible(b, "network, light");
    browser_key(b, "t");
    page_is_legible(b, "network, dark");
}

/* At the narrowest, where what does not fit is found; the richest at all sizes. */
static void every_log_fits(void **state)
{
    NEEDS_BROWSER();
    static const struct {
        const char *what, *tabs;
        page_log log;
        int exit_status;
    } logs[] = {
        {"drops",
         "overview,time,ops,zones,heat,markers,log",
         {.chips = 1,
          .columns = 4,
          .rows = 2,
          .riscs = 5,
          .launches = 6,
          .zones = 3,
          .drops = true,
          .values = true},
         3},
        {"10,000 launches",
         "overview,time,ops,zones,heat,log",
         {.chips = 1, .columns = 2, .rows = 1, .riscs = 1, .launches = 10000, .zones = 1},
         0},
        {"4 chips",
         "overview,time,ops,zones,heat,log",
         {.chips = 4, .columns = 2, .rows = 2, .riscs = 2, .launches = 5, .zones = 3},
         0},
        {"128 cores",
         "overview,time,ops,zones,heat,log",
         {.chips = 1, .columns = 16, .rows = 8, .riscs = 2, .launches = 2, .zones = 2},
         0},
        {"long names",
         "overview,time,ops,zones,heat,log",
         {.chips = 1, .columns = 2, .rows = 1, .riscs = 2, .launches = 2, .zones = 2, .name = 5000},
         0},
    };
    const char *path = in_scratch("profile_log_device.csv"), *out = in_scratch("out");
    for (size_t i = 0; i < sizeof logs / sizeof logs[0]; i++) {
        page_log_write(path, &logs[i].log);
        page_open(b, path, out, logs[i].exit_status);
        page_has_text(b, "tabNames().join() + '.'", logs[i].tabs);
        page_has_text(b, "document.getElementById('tab-ops').textContent", "Launches");
        page_fits(b, logs[i].what, PAGE_TELEPHONE);
    }
    page_open(b, page_network(), out, 0);
    page_fits(b, "network", PAGE_ALL_SIZES | PAGE_LIGHT_AND_DARK);
}

/* What was lost stands in the overview, and where the answers say it too they agree. */
static void losses_and_damage_are_told(void **state)
{
    NEEDS_BROWSER();
    const page_log log = {
        .chips = 1, .columns = 2, .rows = 1, .riscs = 2, .launches = 4, .zones = 3, .drops = true};
    const char *path = in_scratch("profile_log_device.csv"), *out = in_scratch("out");
    page_log_write(path, &log);
    page_open(b, path, out, 3);
    page_has_text(b, "document.querySelector('#trust .bad').textContent", "dropped");
    page_has_text(b, "answers.all.report.sections.losses.rows.length > 0 ? 'told' : 'not'", "told");
    /* Cut in the middle of a line. */
    struct stat st;
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(truncate(path, st.st_size * 2 / 3), 0);
    page_open(b, path, out, 3);
    page_has_text(b, "document.getElementById('trust').querySelectorAll('.bad').length > 0 ? 'told' : 'not'",
                  "told");
    page_fits(b, "a cut log", PAGE_LAPTOP);
    /* Without a zone that was closed. */
    write_text(
        path,
        "ARCH: wormhole_b0, CHIP_FREQ[MHz]: 500\nPCIe slot, core_x, core_y, RISC processor type, timer_id, "
        "time[cycles since reset], data, run host ID, zone name, type, source line, source file, meta data\n"
        "0,1,1,BRISC,1,1000,0,1,BRISC-FW,ZONE_START,1,fw.c,\n");
    page_decode(path, out, 3);
    char url[700];
    snprintf(url, sizeof url, "file://%s/device_perf.html", out);
    assert_true(
        browser_go(b, url, "document.getElementById('empty') && !document.getElementById('empty').hidden"));
    page_has_text(b, "document.getElementById('empty').innerText", "There is no zone to show");
    page_has_text(b, "document.getElementById('tabs').hidden ? 'no tabs' : 'tabs'", "no tabs");
    page_has_no_problems(b, "a log without a zone");
}

/* Another selection: the answers are of it, too; filters of parts are said. */
static void a_selection_is_that_of_the_answers(void **state)
{
    NEEDS_BROWSER();
    char url[700];
    page_network();
    free(devlog_ok("decode --launches 3 --riscs TRISC* -o chosen network/logs_device/capture.devlog", 0));
    snprintf(url, sizeof url, "file://%s", in_scratch("chosen/device_perf.html"));
    assert_true(browser_go(b, url, PAGE_READY));
    char *said = devlog_ok("report --launches 3 --format json network", 0);
    cJSON *json = cJSON_Parse(said);
    const cJSON *facts =
        cJSON_GetObjectItem(cJSON_GetObjectItem(cJSON_GetObjectItem(json, "sections"), "verdict"), "facts");
    page_has_number(b, "fact('ops').value",
                    cJSON_GetNumberValue(cJSON_GetObjectItem(cJSON_GetObjectItem(facts, "ops"), "value")));
    page_has_text(b, "document.getElementById('trust').innerText", "Filters by core, RISC, zone and time");
    cJSON_Delete(json);
    free(said);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(answers_are_those_of_the_commands),
        cmocka_unit_test(the_overview_comes_first),
        cmocka_unit_test(savings_lead_into_the_time_line),
        cmocka_unit_test(steps_are_rows),
        cmocka_unit_test(ops_stand_beside_time),
        cmocka_unit_test(ops_of_groups_and_of_times),
        cmocka_unit_test(ops_say_who_called),
        cmocka_unit_test(causes_lead_into_the_time_line),
        cmocka_unit_test(keys_reach_everything),
        cmocka_unit_test(everything_can_be_read),
        cmocka_unit_test(every_log_fits),
        cmocka_unit_test(losses_and_damage_are_told),
        cmocka_unit_test(a_selection_is_that_of_the_answers),
    };
    return cmocka_run_group_tests(tests, start_browser, stop_browser);
}
