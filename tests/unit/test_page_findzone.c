/* Find zone and measured parts of device_perf.html, by mouse and keyboard: bins and their instances, the longest, the median, the
 * next; by core, RISC and time; two selections beside one another; statistics by zone and by row. The arithmetic is tested in
 * tests/page/findzone.test.js. Skipped where there is no chromium. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/cli.h"
#include "support/device.h"
#include "support/files.h"
#include "support/page_group.h"

enum { CORES = 8, RISCS = 2, LAUNCHES = 5, ZONES = 4, SLOW = 3, SLOWER = 9000 };

/* With what is rich in everything: drops, values, two chips, one slow core. */
static void open_log(void)
{
    const page_log log = {.chips = 2,
                          .columns = 4,
                          .rows = 2,
                          .riscs = RISCS,
                          .launches = LAUNCHES,
                          .zones = ZONES,
                          .drops = true,
                          .values = true,
                          .slow = SLOW,
                          .slower = SLOWER};
    const char *path = in_scratch("profile_log_device.csv");
    page_log_write(path, &log);
    page_open(b, path, in_scratch("out"), 3);
    page_run(
        b, "showTab('zones'), chooseRow(table.rows.find((r) => r.name === 'BRISC-KERNEL' && r.chip === 0))");
}

static void choose(const char *label, const char *value)
{
    char script[400];
    snprintf(
        script, sizeof script,
        "(() => { const menu = document.querySelector('#chart select[aria-label=\"%s\"]'); menu.value = '%s'; if "
        "(menu.value !== '%s') throw new Error('no such choice'); menu.dispatchEvent(new Event('change')); })()",
        label, value, value);
    page_run(b, script);
}

static void press(const char *text)
{
    char script[300];
    snprintf(script, sizeof script,
             "[...document.querySelectorAll('#chart button')].find((e) => e.textContent === '%s').click()",
             text);
    page_run(b, script);
}

/* All bins together have every instance, in every way of drawing them. */
static void histograms_of_all_kinds(void **state)
{
    NEEDS_BROWSER();
    open_log();
    static const char *const ways[][2] = {{"Durations", "log"}, {"Bars", "log"}, {"Bars are", "time"}};
    for (int bits = 0; bits < 8; bits++) {
        for (int i = 0; i < 3; i++)
            if (bits & 1 << i) choose(ways[i][0], ways[i][1]);
        page_has_number(b, "histogram.drawn.counts.reduce((a, n) => a + n)", CORES * LAUNCHES);
        page_has_number(b, "histogram.drawn.times.reduce((a, n) => a + n) - table.chosen.sum", 0);
        /* Bars stand inside the frame, higher where there is more. */
        page_has_text(
            b,
            "(() => { const d = histogram.drawn, f = d.frame, top = Math.max(...d.bars); return d.bars.every((v, "
            "i) => !v || (f.y(v) > 0 && f.y(v) <= f.bottom && f.y(v) >= f.y(top) && f.x(d.edges[i] * d.scale) >= "
            "f.left - 1 && f.x(d.edges[i + 1] * d.scale) <= f.right + 1)) ? 'inside' : 'outside' })()",
            "inside");
        choose("Durations", "linear");
        choose("Bars", "linear");
        choose("Bars are", "count");
    }
    page_has_no_problems(b, "histograms");
}

static void a_bin_has_its_instances(void **state)
{
    NEEDS_BROWSER();
    open_log();
    /* The slowest is alone in the last bin: by mouse. */
    page_run(b,
             "window.at = document.querySelector('#chart canvas').getBoundingClientRect(), window.frame_of = "
             "histogram.drawn.frame, window.worst = table.chosen.max");
    const double x = browser_number(b, "at.left + frame_of.x(worst)"),
                 y = browser_number(b, "at.top + frame_of.bottom - 3");
    browser_mouse(b, "mousePressed", x, y, 0);
    browser_mouse(b, "mouseReleased", x, y, 0);
    page_settle(b);
    page_has_text(b, "document.getElementById('bin').textContent", ": 1, together ");
    page_has_number(b, "document.querySelectorAll('#instances table:last-of-type tbody tr').length", 1);
    page_run(b,
             "[...document.querySelectorAll('#instances table')].at(-1).querySelector('tbody tr').click()");
    page_has_text(b, "itemName(selection.item) + ' on ' + selection.item.lane.row.core.name",
                  "BRISC-KERNEL on 0:0,0");
    page_has_text(
        b,
        "String(selection.item.lane.end[selection.item.i] - selection.item.lane.start[selection.item.i] === worst)",
        "true");
    /* By keyboard: from the first bin to the last that has any, one by one. */
    page_run(b, "chooseBin(find.bin), document.querySelector('#chart canvas').focus()");
    browser_key(b, "ArrowRight");
    page_has_text(b, "document.activeElement.tagName + ' ' + find.bin", "CANVAS 0");
    browser_key(b, "ArrowRight");
    page_has_text(
        b, "histogram.drawn.counts[find.bin] > 0 && find.bin > 0 ? 'next with some' : 'bin ' + find.bin",
        "next with some");
    page_has_text(b, "document.getElementById('say').textContent", "cycles: ");
    page_has_no_problems(b, "bins");
}

static void from_instance_to_instance(void **state)
{
    NEEDS_BROWSER();
    open_log();
    press("longest");
    page_has_text(
        b,
        "String(selection.item.lane.end[selection.item.i] - selection.item.lane.start[selection.item.i] === table.chosen.max)",
        "true");
    press("median");
    page_has_text(
        b,
        "String(selection.item.lane.end[selection.item.i] - selection.item.lane.start[selection.item.i] === table.chosen.median)",
        "true");
    /* All of them, in order, and no other. */
    page_run(
        b,
        "clearAll(), chooseRow(table.rows.find((r) => r.name === 'BRISC-KERNEL' && r.chip === 0)), window.met = new Set()");
    page_run(
        b,
        "(() => { let last = -1; for (let i = 0; i < 1000; i++) { const before = selection.item; jump(1); if (selection.item === "
        "before) break; if (itemStart(selection.item) < last) throw new Error('back in time'); last = itemStart(selection.item); "
        "met.add(selection.item.lane.row.index + ' ' + selection.item.i); } })()");
    page_has_number(b, "met.size", CORES * LAUNCHES);
    press("‹ before");
    page_has_text(b, "itemName(selection.item)", "BRISC-KERNEL");
    /* All RISCs: an instance on another does not take the selection away. */
    choose("RISC", "all");
    page_has_number(b, "find.found.n", CORES * LAUNCHES);
    page_run(b, "chooseRow(table.rows.find((r) => r.role === 0 && r.chip === 1))");
    page_has_number(b, "find.found.n", CORES * LAUNCHES * RISCS);
    page_run(b, "window.before = table.chosen, goTo(itemOf(find.found, find.found.n - 1))");
    page_has_text(b,
                  "selection.item.lane.row.risc !== before.risc && table.chosen === before ? 'kept' : 'lost'",
                  "kept");
    page_has_no_problems(b, "instances");
}

static void by_core_by_risc_by_time_and_beside_what_was_kept(void **state)
{
    NEEDS_BROWSER();
    open_log();
    page_has_text(b, "document.querySelector('#instances tbody tr').innerText", "0:");
    page_has_number(b, "document.querySelectorAll('#instances table')[0].querySelectorAll('tbody tr').length",
                    CORES);
    press("keep to compare");
    choose("Core", "0:0,0");
    page_has_number(b, "find.found.n", LAUNCHES);
    page_has_text(b, "document.getElementById('beside').innerText.replace(/\\s+/g, ' ')",
                  "count 40 5 -87.5 %");
    page_has_text(b, "String(histogram.drawn.other.reduce((a, n) => a + n))", "40");
    /* Of the slow launch alone. */
    page_run(b, "jump('max'), measure(itemStart(selection.item) - 1, itemEnd(selection.item) + 1)");
    choose("Time", "selection");
    page_has_number(b, "find.found.n", 1);
    choose("Time", "all");
    press("forget the kept");
    page_has_text(b, "document.getElementById('beside') ? 'there' : 'gone'", "gone");
    choose("Core", "");
    choose("RISC", "all");
    page_run(
        b,
        "chooseRow(table.rows.find((r) => r.role === 0 && r.chip === 0)), find.by = 'risc', showHistogram()");
    page_has_number(b, "document.querySelectorAll('#instances table')[0].querySelectorAll('tbody tr').length",
                    RISCS);
    page_run(b, "viewRange(0, view.span / 10)");
    choose("Time", "screen");
    page_has_text(b, "find.found.n > 0 && find.found.n < 80 ? 'fewer' : 'n ' + find.found.n", "fewer");
    page_has_no_problems(b, "scopes");
}

static void a_measured_part_by_zone_and_by_row(void **state)
{
    NEEDS_BROWSER();
    open_log();
    page_run(b, "rowsLayout.open.clear(), measureTimeline(), viewAll(), showTab('time')");
    /* With Shift over two closed cores: of their rows alone. */
    page_run(
        b,
        "window.box = document.getElementById('paint').getBoundingClientRect(), window.two = rowsLayout.bands.filter((d) => d.kind "
        "=== 'core').slice(1, 3)");
    const double y0 = browser_number(b, "box.top + two[0].y + 2"),
                 y1 = browser_number(b, "box.top + two[1].y + two[1].h - 2");
    browser_mouse(b, "mousePressed", 300, y0, 8);
    browser_mouse(b, "mouseDragged", 900, y1, 8);
    browser_mouse(b, "mouseReleased", 900, y1, 8);
    page_settle(b);
    page_has_text(
        b, "[...new Set([...selection.rows].map((r) => r.core.name))].join() + ' ' + selection.rows.size",
        "0:1,0,0:2,0 4");
    page_has_text(b, "document.getElementById('details').innerText", "4 rows");
    page_has_text(
        b,
        "(() => { const x = (axisToX(selection.range[0]) + axisToX(selection.range[1])) / 2 + 90, at = (d) => document.getElementById('marks').getContext('2d').getImageData(x * timeline.ratio, "
        "(d.y + d.h - 2) * timeline.ratio, 1, 1).data[3] > 0; return [...two, rowsLayout.bands.filter((d) => d.kind === 'core')[4]].map(at).join() })()",
        "true,true,false");
    page_has_text(
        b,
        "(() => { const a = areaOf(timeline.model, ...selection.range, selection.rows), shown = "
        "[...document.querySelectorAll('#details tbody tr')].map((r) => r.cells[0].textContent + ' ' + "
        "r.cells[1].textContent).join(); return shown === a.zones.map((z) => z.name + ' ' + z.count).join() && a.zones.length > "
        "2 ? 'the same' : shown })()",
        "the same");
    page_run(b, "document.querySelector('#details .go').click()");
    page_has_number(b, "document.querySelectorAll('#details tbody tr').length", 4);
    page_run(b, "document.querySelector('#details tbody tr').focus()");
    browser_key(b, "Enter");
    page_has_text(b, "[...rowsLayout.open].map((c) => c.name).join()", "0:1,0");
    page_run(b, "document.querySelector('#details .go').click()");
    /* Sorted by the time of a zone itself. */
    page_run(b, "document.querySelectorAll('#details th button')[2].click()");
    page_has_text(
        b,
        "(() => { const a = [...document.querySelectorAll('#details tbody tr')].map((r) => Number(r.cells[3].textContent.replaceAll(',', "
        "''))); return a.every((v, i) => !i || v <= a[i - 1]) ? 'in order' : a.join() })()",
        "in order");
    page_has_no_problems(b, "a measured part");
}

static void it_fits_and_can_be_read(void **state)
{
    NEEDS_BROWSER();
    open_log();
    choose("Durations", "log");
    press("keep to compare");
    choose("RISC", "all");
    page_run(b, "chooseBin(0)");
    page_fits(b, "find zone", PAGE_ALL_SIZES);
    page_is_legible(b, "find zone");
    browser_key(b, "t");
    page_is_legible(b, "find zone, the other light");
    /* The histogram has room at every size. */
    static const int sizes[][2] = {{1440, 900}, {1024, 768}, {390, 844}};
    for (size_t i = 0; i < 3; i++) {
        browser_size(b, sizes[i][0], sizes[i][1]);
        page_settle(b);
        page_run(b, "showTab('zones')");
        if (browser_number(b, "document.querySelector('#chart canvas').offsetHeight") < 80 ||
            browser_number(b, "document.getElementById('chart').getBoundingClientRect().bottom - "
                              "document.querySelector('#chart canvas').getBoundingClientRect().bottom") < 0)
            fail_msg("no room for the histogram at %d", sizes[i][0]);
    }
    browser_size(b, 1440, 900);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(histograms_of_all_kinds),
        cmocka_unit_test(a_bin_has_its_instances),
        cmocka_unit_test(from_instance_to_instance),
        cmocka_unit_test(by_core_by_risc_by_time_and_beside_what_was_kept),
        cmocka_unit_test(a_measured_part_by_zone_and_by_row),
        cmocka_unit_test(it_fits_and_can_be_read),
    };
    return cmocka_run_group_tests(tests, start_browser, stop_browser);
}
