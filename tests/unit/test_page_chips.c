/* The chips of a log as grids on device_perf.html, coloured by what is asked, with the cores that stand out, and the launches that do.
 * The numbers are tested in tests/page/grid.test.js. Skipped where there is no chromium. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/cli.h"
#include "support/device.h"
#include "support/files.h"
#include "support/page_group.h"

static void open_log(const page_log *log, int exit_status)
{
    const char *path = in_scratch("profile_log_device.csv");
    page_log_write(path, log);
    page_open(b, path, in_scratch("out"), exit_status);
    page_run(
        b,
        "showTab('heat'), document.getElementById('heat-as').value = 'chip', document.getElementById('heat-as').dispatchEvent(new Event('change'))");
}

static void ask(const char *what)
{
    char script[300];
    snprintf(
        script, sizeof script,
        "(() => { const m = document.getElementById('chip-what'); m.value = '%s'; m.dispatchEvent(new Event('change')); })()",
        what);
    page_run(b, script);
    snprintf(script, sizeof script, "chips.what");
    page_has_text(b, script, what);
}

static void chips_are_grids(void **state)
{
    NEEDS_BROWSER();
    open_log(&(page_log){.chips = 4,
                         .columns = 4,
                         .rows = 3,
                         .riscs = 2,
                         .launches = 5,
                         .zones = 3,
                         .drops = true,
                         .slow = 2,
                         .slower = 20000},
             3);
    page_has_number(b, "document.querySelectorAll('.chip-grid').length", 4);
    page_has_number(b, "document.querySelectorAll('.chip-grid .core').length", 48);
    page_has_text(
        b,
        "[...document.querySelectorAll('.chip-grid')].map((g) => getComputedStyle(g).gridTemplateColumns.split(' ').length).join()",
        "4,4,4,4");
    /* The slow core of each chip: outlined, listed, and by keyboard in the time line. */
    page_has_text(
        b,
        "[...document.querySelectorAll('#odd-cores tbody tr')].map((r) => r.cells[0].textContent).sort().join()",
        "0:0,0,1:0,0,2:0,0,3:0,0");
    page_has_number(b, "document.querySelectorAll('.core.odd').length", 4);
    page_run(b, "rowsLayout.open.clear(), document.querySelectorAll('#odd-cores tbody tr')[1].focus()");
    browser_key(b, "Enter");
    page_has_number(b, "rowsLayout.open.size", 1);
    page_run(b, "document.querySelector('.chip-grid .core').focus()");
    browser_key(b, "ArrowRight");
    browser_key(b, "ArrowDown");
    page_has_text(b, "document.activeElement.getAttribute('aria-label')", "core 0:1,1: ");
    browser_key(b, "Enter");
    page_has_text(b, "[...rowsLayout.open].map((c) => c.name).join(' ')", "0:1,1");
    ask("dropped");
    page_has_text(b, "document.querySelector('.chip-grid .core').getAttribute('aria-label')", " dropped");
    ask("zone");
    page_has_text(b, "document.querySelector('.chip-grid .core').getAttribute('aria-label')", "cycles");
    page_has_no_problems(b, "chips");
    page_fits(b, "four chips", PAGE_ALL_SIZES);
    page_run(b, "showTab('heat')");
    page_is_legible(b, "four chips");
    browser_key(b, "t");
    page_is_legible(b, "four chips, the other light");
}

/* 10,000 launches of which one is slow on one core: first in the list, and a click goes there. */
static void one_launch_among_ten_thousand(void **state)
{
    NEEDS_BROWSER();
    open_log(&(page_log){.chips = 1,
                         .columns = 4,
                         .rows = 1,
                         .riscs = 1,
                         .launches = 10000,
                         .zones = 1,
                         .slow = 7777,
                         .slower = 300},
             0);
    page_run(b, "document.getElementById('heat-as').value = 'launches', showHeat()");
    page_has_number(b, "document.querySelectorAll('#odd-launches tbody tr').length", 1);
    page_has_text(b, "document.querySelector('#odd-launches tbody tr').innerText.replace(/\\s+/g, ' ')",
                  "0,0 7963648 +");
    page_run(b, "document.querySelector('#odd-launches tbody tr').focus()");
    browser_key(b, "Enter");
    page_has_text(
        b,
        "(() => { const lane = timeline.model.cores[0].rows[0].lanes[0]; let i = 0; while (timeline.model.launches[lane.launch[i]].name !== '7963648') i++; return itemStart({ lane, i }) >= "
        "view.t0 - 1000 && itemEnd({ lane, i }) <= view.t1 + 1000 && view.t1 - view.t0 < view.span / 100 ? 'seen' : 'elsewhere' })()",
        "seen");
    /* So is a launch that is searched, and of 40,000 hits the number is that of counting. */
    page_run(b, "showTab('time'), viewAll(), runSearch('launch 7963648'), nextHit(1)");
    page_has_text(b, "itemName(selection.item) + ' ' + search.at", "launch 7963648 0");
    page_run(
        b,
        "runSearch('BRISC-FW'), setView(view.span * 0.9, view.span * 0.901), nextHit(1), nextHit(1), nextHit(-1)");
    page_has_text(
        b,
        "(() => { const t = itemStart(selection.item), own = selection.item.lane.row.index; let n = 0; for (const { lane, wanted } of search.lanes) for (let i = 0; i < lane.n; i++) { const s = "
        "itemStart({ lane, i }); if (wanted(lane, i) && (s < t || (s === t && lane.row.index < own))) n++; } return n === search.at && n > 30000 && search.count === 40000 ? 'counted' : n + ' ' + search.at })()",
        "counted");
    page_has_no_problems(b, "10,000");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(chips_are_grids),
        cmocka_unit_test(one_launch_among_ten_thousand),
    };
    return cmocka_run_group_tests(tests, start_browser, stop_browser);
}
