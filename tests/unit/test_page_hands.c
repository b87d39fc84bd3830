/* What hands do on device_perf.html: search with expressions, bookmarks that survive a reload and travel in the address, the screen in
 * the address, undo, rows pinned, hidden and moved, tables copied, two fingers; by keyboard alone where there are keys. Forms and
 * arithmetic are tested in tests/page/hands.test.js. Skipped where there is no chromium. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/cli.h"
#include "support/device.h"
#include "support/files.h"
#include "support/page_group.h"

#define LOADED "document.documentElement.dataset.ready === 'yes'"

static void open_log(void)
{
    const page_log log = {.chips = 2,
                          .columns = 3,
                          .rows = 2,
                          .riscs = 2,
                          .launches = 4,
                          .zones = 4,
                          .drops = true,
                          .values = true};
    const char *path = in_scratch("profile_log_device.csv");
    page_log_write(path, &log);
    page_open(b, path, in_scratch("out"), 3);
    page_run(b, "localStorage.clear(), showTab('time'), clearAll(), viewAll()");
}

/* Waits until the address says what is on the screen. */
static void rest(void)
{
    assert_true(browser_wait(b, "location.hash.slice(1) === taken()"));
}

static void reload(void)
{
    rest();
    free(browser_js(b, "window.gone = true, location.reload(), 1"));
    assert_true(browser_wait(b, LOADED " && !window.gone"));
    page_settle(b);
}

static void searches_with_expressions(void **state)
{
    NEEDS_BROWSER();
    page_open(b, page_network(), in_scratch("out"), 0);
    /* All of them are counted: zones, launches by their ops, steps. */
    static const char *const texts[] = {"row",     "/^row|^reduce/", "/matmul/", "/^step [01]$/",
                                        "layer 1", "/RISC.*FW$/",    "/(/"};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        char script[900];
        snprintf(
            script, sizeof script,
            "(() => { runSearch('%s'); const is = matcher('%s') || (() => false), m = timeline.model; let n = 0; for (const row of [...m.rows, ...m.hosts]) for (const "
            "lane of row.lanes) for (let i = 0; i < lane.n; i++) { const s = m.sites[lane.site[i]]; n += is(s.name) || is(s.file) || (textOf(lane, i) !== null && "
            "is(textOf(lane, i))) ? 1 : 0; } for (const row of m.tops) for (const lane of row.lanes) for (let i = 0; i < lane.n; i++) n += is(m.launches[lane.launch[i]].name) "
            "? 1 : 0; for (const row of m.ranges) n += row.names.filter(is).length; return search.count === n ? 'all ' + (n > 0) : search.count + ' of ' + n })()",
            texts[i], texts[i]);
        page_has_text(b, script, i + 1 < sizeof texts / sizeof texts[0] ? "all true" : "all false");
    }
    page_has_text(b, "document.getElementById('found').textContent", "no regular expression");
    /* With nothing on the screen: the nearest, on whichever side. */
    page_run(
        b,
        "runSearch('/^step [01]$/'), (() => { const lane = timeline.model.ranges[0].lanes[0]; setView(lane.start[1] + 50, lane.start[1] + 70); })(), nextHit(1)");
    page_has_text(b, "itemName(selection.item)", "step 1");
    page_run(b, "runSearch('/^Matmul/'), viewAll(), nextHit(1), window.first = search.at, nextHit(1)");
    page_has_text(b, "String(search.at === first + 1) + itemName(selection.item)", "truelaunch Matmul");
    page_has_no_problems(b, "search");
}

static void bookmarks_survive_and_travel(void **state)
{
    NEEDS_BROWSER();
    open_log();
    page_run(
        b,
        "goTo({ lane: timeline.model.rows[3].lanes[1], i: 2 }), window.middle = (itemStart(selection.item) + itemEnd(selection.item)) / 2");
    browser_key(b, "b");
    page_has_text(b, "document.getElementById('note').open + document.activeElement.tagName", "trueINPUT");
    cJSON_Delete(browser_call(b, "Input.insertText", "{\"text\":\"why so slow? <b> & 50 %, 1;2\"}"));
    browser_key(b, "Enter");
    page_has_text(
        b, "bookmarks.list.length + (Math.abs(bookmarks.list[0].t - middle) < 1 ? ' there' : ' elsewhere')",
        "1 there");
    page_has_text(b, "document.getElementById('marks-list').innerText", "why so slow? <b> & 50 %, 1;2");
    reload();
    page_has_text(b, "bookmarks.list.length + bookmarks.list[0].text", "1why so slow? <b> & 50 %, 1;2");
    /* Painted on the ruler. */
    page_has_text(
        b,
        "(() => { const x = axisToX(bookmarks.list[0].t), d = document.getElementById('ruler').getContext('2d').getImageData((x + 1) * timeline.ratio, 4 * timeline.ratio, 1, "
        "1).data; return d[0] > d[2] + 40 ? 'flag' : [...d].join() })()",
        "flag");
    /* In another browser, which kept nothing, by the address alone; and in this one, by what it kept, without the address. */
    rest();
    free(browser_js(b, "window.gone = true, localStorage.clear(), location.reload(), 1"));
    assert_true(browser_wait(b, LOADED " && !window.gone"));
    page_has_text(b, "String(bookmarks.list.length)", "1");
    page_run(b, "setMarks(bookmarks.list)");
    rest();
    free(browser_js(
        b,
        "window.gone = true, removeEventListener('pagehide', () => {}), history.replaceState(null, '', '#time'), state.quiet = true, state.now = taken(), location.reload(), 1"));
    assert_true(browser_wait(b, LOADED " && !window.gone"));
    page_has_text(b, "String(bookmarks.list.length)", "1");
    /* Go there, change it, take it away: by keyboard. */
    page_run(b, "showTab('time'), setView(0, view.span / 50)");
    browser_key(b, "v");
    page_has_text(
        b,
        "Math.abs((view.t0 + view.t1) / 2 - bookmarks.list[0].t) < view.span / 1000 ? 'there' : 'elsewhere'",
        "there");
    page_run(b, "document.querySelector('#marks-list span button:last-child').focus()");
    browser_key(b, "Enter");
    page_run(b, "document.querySelector('#note button[type=button]').click()");
    page_has_text(b, "bookmarks.list.length + ' ' + document.getElementById('marks-list').hidden", "0 true");
    /* More than an address has room for: a reload and undo lose none, what a link does not take along is said, and somebody's link takes
     * nothing away. */
    page_run(
        b,
        "localStorage.clear(), window.many = Array.from({ length: 60 }, (_, i) => ({ t: i * 7 + 0.5, text: i + ' \u4e2d 50 %; '.repeat(30) })), setMarks(many)");
    assert_true(browser_wait(b, "bookmarks.unlinked > 0"));
    for (int dark = 0; dark < 2; dark++, browser_key(b, "t")) {
        page_fits(b, "many bookmarks", PAGE_ALL_SIZES);
        page_is_legible(b, "many bookmarks");
        page_run(b, "showTab('time')");
    }
    assert_true(browser_wait(b, "state.now === taken()"));
    page_has_text(
        b,
        "location.href.length < 8400 && decodeMarks(decode(location.hash.slice(1)).parts.m).length + bookmarks.unlinked === 60 && "
        "document.getElementById('marks-list').innerText.includes('no room for the last ' + bookmarks.unlinked + ' bookmarks') ? 'said' : location.hash.length + ' ' + bookmarks.unlinked",
        "said");
    page_run(b, "window.view0 = view.t0, viewRange(view.span * 0.2, view.span * 0.3)");
    assert_true(browser_wait(b, "state.now === taken() && state.before.length > 0"));
    browser_key(b, "z");
    page_has_number(b, "bookmarks.list.length", 60);
    assert_true(browser_wait(b, "state.now === taken()"));
    free(browser_js(b, "window.gone = true, location.reload(), 1"));
    assert_true(browser_wait(b, LOADED " && !window.gone"));
    page_has_number(b, "bookmarks.list.length", 60);
    page_run(b, "setMarks([{ t: 3, text: 'mine' }])");
    rest();
    free(browser_js(
        b,
        "window.gone = true, state.quiet = true, history.replaceState(null, '', '#time?v=1,500&m=9~yours'), state.now = taken(), location.reload(), 1"));
    assert_true(browser_wait(b, LOADED " && !window.gone"));
    page_has_text(b, "bookmarks.list.map((m) => m.t + m.text).join()", "3mine,9yours");
    page_run(b, "document.querySelector('#marks-list .copy button').click()");
    page_has_text(b, "copied.text.split('\\r\\n')[2].split(',').pop()", "yours");
    page_run(b, "setMarks([])");
    page_has_no_problems(b, "bookmarks");
}

static void the_address_is_the_screen(void **state)
{
    NEEDS_BROWSER();
    open_log();
    page_run(
        b,
        "showTab('zones'), rowsLayout.open.clear(), chooseRow(table.rows[3]), toggleCore(timeline.model.cores[2]), togglePin(timeline.model, timeline.model.cores[4]), "
        "hideRow(timeline.model.cores[1]), (document.getElementById('search').value = 'INNER', runSearch('inner')), viewRange(view.span * 0.3, view.span * 0.4), "
        "select({ lane: timeline.model.rows[4].lanes[1], i: 1 }, false)");
    rest();
    char *before = browser_js(b, "taken()");
    for (const char *const *part =
             (const char *const[]){"zones?", "v=", "o=2", "s=", "z=", "h=1", "p=4,", "n=1", "q=inner", NULL};
         *part; part++)
        if (!strstr(before, *part)) fail_msg("%s is not in %s", *part, before);
    reload();
    char *after = browser_js(b, "taken()");
    assert_string_equal(after, before);
    page_has_text(
        b,
        "tabs.now + [...rowsLayout.open].map((c) => c.name) + shownCores(timeline.model)[0].name + order.hidden.size + search.text + table.chosen.name",
        "zones");
    page_has_text(
        b,
        "document.getElementById('search').value + shownCores(timeline.model)[0].index + order.hidden.size",
        "inner41");
    free(before);
    free(after);
    /* An address of nonsense, and one of another log. */
    char *url = browser_js(b, "location.href.split('#')[0]");
    static const char *const nonsense[] = {
        "#zones?v=9,1&o=99,x&s=9.9.9&r=a&z=7.X.none&h=0,1,2,3,4,5,6,7,8,9,10,11&m=%E0&c=zzz", "#nothing?v=%",
        "#time?v=1e99,2e99&s=-1.-1.-1"};
    for (size_t i = 0; i < 3; i++) {
        char line[900];
        snprintf(line, sizeof line, "%s%s", url, nonsense[i]);
        assert_true(browser_go(b, "about:blank", "true"));
        assert_true(browser_go(b, line, LOADED));
        page_has_no_problems(b, nonsense[i]);
        page_has_text(
            b,
            "shownCores(timeline.model).length > 0 && view.t1 > view.t0 && isFinite(view.t0) ? 'a page' : 'none'",
            "a page");
    }
    free(url);
}

/* Also the rows of a measured part, and a step. */
static void parts_of_rows_and_steps_are_in_the_address(void **state)
{
    NEEDS_BROWSER();
    open_log();
    page_run(
        b,
        "measure(view.span * 0.2, view.span * 0.5, new Set([1, 2, 3, 7].map((i) => timeline.model.rows[i])))");
    char *before = browser_js(b, "document.getElementById('details').innerText");
    rest();
    reload();
    page_has_text(b, "[...selection.rows].map((r) => timeline.model.rows.indexOf(r)).join()", "1,2,3,7");
    char *after = browser_js(b, "document.getElementById('details').innerText");
    assert_string_equal(after, before);
    free(before);
    free(after);
    page_open(b, page_network(), in_scratch("out"), 0);
    page_run(b, "showTab('time'), select({ lane: timeline.model.ranges[1].lanes[0], i: 2 }, false)");
    reload();
    page_has_text(b, "selection.item.lane.row.risc + ' ' + selection.item.i", "signposts 2");
    page_has_no_problems(b, "rows and steps");
}

/* What takes longer than a frame: the search and the statistics of a part go on in slices, are complete in the end, and wait for nobody;
 * who changes his mind meanwhile gets what he wants now. */
static void long_work_comes_in_slices(void **state)
{
    NEEDS_BROWSER();
    open_log();
    page_run(
        b,
        "window.whole = (runSearch('inner'), search.count), runSearch(''), window.area0 = JSON.stringify(areaOf(timeline.model, 0, view.span / 2, null).zones.map((z) => [z.name, z.count])), "
        "window.posted = 0, window.post = MessagePort.prototype.postMessage, MessagePort.prototype.postMessage = function (m) { posted++; return post.call(this, m); }, slices.most = 1, viewAll()");
    page_has_text(
        b,
        "(runSearch('inner'), nextHit(1), document.getElementById('found').textContent + ' ' + search.busy)",
        "searching ... true");
    assert_true(browser_wait(b, "!search.busy"));
    page_has_text(b, "search.count === whole && posted > 20 ? 'all' : search.count + ' ' + posted", "all");
    /* Enter, which was pressed before there was a hit, goes to the first. */
    page_has_text(b, "document.getElementById('found').textContent + itemName(selection.item)", "1 of ");
    page_has_text(b, "itemName(selection.item)", "inner");
    page_run(b, "runSearch('inner'), runSearch('no such'), posted = 0");
    assert_true(browser_wait(b, "!search.busy"));
    page_has_text(b, "document.getElementById('found').textContent + search.lanes.length", "nothing found0");
    page_has_text(
        b, "(measure(0, view.span / 2), document.getElementById('details').innerText.replace(/\\s+/g, ' '))",
        "counting its zones");
    page_run(b, "measure(5, 9), measure(0, view.span / 2)");
    assert_true(browser_wait(b, "!!document.querySelector('#details table')"));
    page_has_text(
        b,
        "JSON.stringify([...document.querySelectorAll('#details tbody tr')].map((r) => [r.cells[0].textContent, Number(r.cells[1].textContent.replaceAll(',', ''))])) === area0 && posted > 20 ? "
        "'the same' : document.getElementById('details').innerText",
        "the same");
    /* What was asked for and is no longer wanted does not come. */
    page_run(b, "measure(0, view.span), clearAll()");
    assert_true(browser_wait(b, "slices.running.size === 0"));
    page_has_text(b, "document.getElementById('details').innerText", "Click a zone");
    page_has_no_problems(b, "slices");
}

static void undo_goes_back_and_forth(void **state)
{
    NEEDS_BROWSER();
    open_log();
    rest();
    char *first = browser_js(b, "taken()");
    page_run(b, "viewRange(view.span * 0.2, view.span * 0.3)");
    rest();
    char *second = browser_js(b, "taken()");
    page_run(b, "hideRow(timeline.model.cores[0])");
    rest();
    char *third = browser_js(b, "taken()");
    browser_key(b, "z");
    page_has_text(b, "taken()", second);
    browser_key(b, "z");
    page_has_text(b, "taken()", first);
    browser_key(b, "y");
    browser_key(b, "y");
    page_has_text(b, "taken()", third);
    page_has_number(b, "order.hidden.size", 1);
    page_run(b, "(() => { for (let i = 0; i < 300; i++) undo(-1); })()");
    page_has_text(b, "document.getElementById('say').textContent", "nothing to undo");
    free(first);
    free(second);
    free(third);
    page_has_no_problems(b, "undo");
}

static void rows_are_pinned_hidden_and_moved(void **state)
{
    NEEDS_BROWSER();
    open_log();
    page_run(
        b,
        "rowsLayout.open.clear(), measureTimeline(), select({ lane: timeline.model.cores[7].rows[0].lanes[1], i: 0 }, false), document.getElementById('rows').focus()");
    browser_key(b, "i");
    page_has_text(b, "rowsLayout.bands[0].core.name + ' ' + isPinned(rowsLayout.bands[0].core)",
                  "1:1,0 true");
    page_has_number(b, "rowsLayout.bands.filter((d) => d.kind === 'chip').length", 2);
    browser_key(b, "i");
    page_has_text(b, "shownCores(timeline.model).map((c) => c.index).join()", "0,1,2,3,4,5,6,7,8,9,10,11");
    browser_key(b, "K");
    page_has_text(b, "shownCores(timeline.model).map((c) => c.index).join()", "0,1,2,3,4,5,7,6,8,");
    browser_key(b, "J");
    browser_key(b, "h");
    page_has_text(b, "shownCores(timeline.model).length + document.getElementById('hidden-rows').innerText",
                  "111 core hidden: show");
    /* Who is sent to a hidden core sees it. */
    page_run(b, "goTo({ lane: timeline.model.cores[7].rows[0].lanes[1], i: 0 })");
    page_has_text(b, "itemBox(selection.item) && !order.hidden.size ? 'seen' : 'not'", "seen");
    /* By the right button on its name, and by keys in that menu. */
    page_run(
        b,
        "rowsLayout.open.clear(), measureTimeline(), window.band = rowsLayout.bands.filter((d) => d.core)[2], window.box = document.getElementById('gutter').getBoundingClientRect(), "
        "document.getElementById('rows').dispatchEvent(new MouseEvent('contextmenu', { clientX: box.left + 20, clientY: box.top + band.y + 3, bubbles: true, cancelable: true }))");
    page_has_text(b, "document.getElementById('row-menu').innerText", "core 0:2,0");
    browser_key(b, "ArrowDown");
    browser_key(b, "Enter");
    page_has_text(b,
                  "[...order.hidden].map((c) => c.name).join() + document.getElementById('row-menu').hidden",
                  "0:2,0true");
    browser_key(b, "H");
    page_has_number(b, "order.hidden.size", 0);
    page_has_no_problems(b, "rows");
}

/* Names of rows are not painted in every frame: after whatever moves or changes them they are those that a painting anew gives, and other
 * ones than before. */
static void names_of_rows_stay_true(void **state)
{
    NEEDS_BROWSER();
    open_log();
    page_run(
        b,
        "window.gutter = document.getElementById('gutter'), rowsLayout.open.clear(), measureTimeline(), repaint()");
    static const char *const changes[] = {
        "toggleCore(null)",
        "document.getElementById('rows').scrollTop = 150",
        "togglePin(timeline.model, timeline.model.cores[5]), measureTimeline(), repaint()",
        "document.getElementById('rows').scrollTop = 0",
        "select({ lane: timeline.model.cores[5].rows[0].lanes[0], i: 0 }, false)",
        "hideRow(timeline.model.cores[2]), document.getElementById('rows').scrollTop = 30",
        "document.getElementById('theme').click()",
        "setCurves([curveKey(curves.all[0])]), measureTimeline(), repaint()",
        "setCurves([]), rowsLayout.open.clear(), measureTimeline(), repaint()",
        "document.getElementById('theme').click()"};
    for (size_t i = 0; i < sizeof changes / sizeof changes[0]; i++) {
        char script[400];
        page_run(b, "window.was = gutter.toDataURL()");
        page_run(b, changes[i]);
        page_settle(b);
        snprintf(
            script, sizeof script,
            "(() => { const now = gutter.toDataURL(); timeline.gutter = null; paintGutter(); return now === was ? 'as before' : now === gutter.toDataURL() ? 'true' : 'out of date' })()");
        char *found = browser_js(b, "%s", script);
        if (strcmp(found, "true") != 0) fail_msg("%s: %s", changes[i], found);
        free(found);
    }
    page_run(b, "window.high = gutter.height");
    browser_size(b, 1440, 700);
    page_settle(b);
    page_settle(b);
    page_has_text(
        b,
        "(() => { const now = gutter.toDataURL(); timeline.gutter = null; paintGutter(); return now === gutter.toDataURL() && gutter.height !== high ? 'true' : 'out of date' })()",
        "true");
    browser_size(b, 1440, 900);
    page_has_no_problems(b, "names of rows");
}

static void tables_are_copied(void **state)
{
    NEEDS_BROWSER();
    open_log();
    page_run(b, "showTab('zones'), document.querySelector('#table .copy button').click()");
    page_has_text(
        b,
        "copied.text.split('\\r\\n').length - 2 === table.rows.length ? copied.text.split('\\r\\n')[0] : 'not all'",
        "chip,zone,RISC,count,total (cycles)");
    page_has_text(
        b,
        "copied.text.split('\\r\\n').filter((l) => l.endsWith(',' + table.rows[0].max)).length > 0 ? 'numbers' : copied.text",
        "numbers");
    /* A table of answers: as JSON has its numbers, in the order of the screen, all rows. */
    page_run(b, "showTab('ops'), document.querySelectorAll('#op-bar .copy button')[1].click()");
    page_has_text(b, "copied.text.split('\\n')[0]", " | count | total (");
    page_has_text(
        b,
        "copied.text.split('\\n').length - 3 + ' of ' + answers.all.report.sections.op_statistics.rows.length",
        "1 of 1");
    page_run(
        b, "showTab('time'), measure(0, view.span), document.querySelector('#details .copy button').click()");
    page_has_text(b, "copied.text.split('\\r\\n')[0]", "zone,count,inside,itself");
    page_has_no_problems(b, "copy");
}

static void two_fingers_zoom(void **state)
{
    NEEDS_BROWSER();
    open_log();
    page_run(
        b,
        "window.box = document.getElementById('paint').getBoundingClientRect(), window.was = view.t1 - view.t0");
    const double x = browser_number(b, "box.left"), y = browser_number(b, "box.top") + 60;
    static const double apart[][2] = {{300, 500}, {250, 550}, {200, 600}};
    for (int i = 0; i < 4; i++) {
        char params[400];
        if (i < 3)
            snprintf(
                params, sizeof params,
                "{\"type\":\"%s\",\"touchPoints\":[{\"x\":%.0f,\"y\":%.0f,\"id\":1},{\"x\":%.0f,\"y\":%.0f,\"id\":2}]}",
                i ? "touchMove" : "touchStart", x + apart[i][0], y, x + apart[i][1], y + 30);
        else
            snprintf(params, sizeof params, "{\"type\":\"touchEnd\",\"touchPoints\":[]}");
        cJSON_Delete(browser_call(b, "Input.dispatchTouchEvent", params));
        page_settle(b);
    }
    page_has_text(
        b, "Math.abs((view.t1 - view.t0) / was - 0.5) < 0.02 ? 'half' : String((view.t1 - view.t0) / was)",
        "half");
    page_has_text(b, "selection.item || selection.range ? 'selected' : 'nothing'", "nothing");
    page_has_no_problems(b, "fingers");
}

/* The end of a measured part is an edge that is hardly away. */
static void edges_snap(void **state)
{
    NEEDS_BROWSER();
    open_log();
    page_run(
        b,
        "rowsLayout.open.clear(), toggleCore(timeline.model.cores[0]), window.lane = timeline.model.cores[0].rows[0].lanes[1], viewRange(lane.start[0], lane.end[0]), window.item = { lane, i: 0 }");
    page_run(
        b,
        "window.place = itemBox(item), window.box = document.getElementById('paint').getBoundingClientRect()");
    const double x0 = browser_number(b, "box.left + place.x + 3"),
                 x1 = browser_number(b, "box.left + place.x + place.w - 4"),
                 y = browser_number(b, "box.top + place.y + 5");
    browser_mouse(b, "mousePressed", x0, y, 8);
    browser_mouse(b, "mouseDragged", x1, y, 8);
    browser_mouse(b, "mouseReleased", x1, y, 8);
    page_settle(b);
    page_has_text(
        b,
        "selection.range && selection.range[0] === itemStart(item) && selection.range[1] === itemEnd(item) ? 'snapped' : JSON.stringify(selection.range)",
        "snapped");
}

static void every_key_is_listed_and_fits(void **state)
{
    NEEDS_BROWSER();
    open_log();
    browser_key(b, "?");
    page_has_text(b, "document.getElementById('help').innerText", "bookmark");
    page_has_text(b, "document.getElementById('help').innerText", "undo");
    page_run(
        b,
        "document.getElementById('help').close(), setMarks([{ t: view.span / 2, text: 'a note that is as long as notes are, and then some more of it' }, { t: 5, text: 'b' }]), hideRow(timeline.model.cores[1])");
    page_fits(b, "bookmarks", PAGE_ALL_SIZES);
    page_is_legible(b, "bookmarks");
    browser_key(b, "t");
    page_is_legible(b, "bookmarks, the other light");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(searches_with_expressions),
        cmocka_unit_test(bookmarks_survive_and_travel),
        cmocka_unit_test(the_address_is_the_screen),
        cmocka_unit_test(parts_of_rows_and_steps_are_in_the_address),
        cmocka_unit_test(long_work_comes_in_slices),
        cmocka_unit_test(undo_goes_back_and_forth),
        cmocka_unit_test(rows_are_pinned_hidden_and_moved),
        cmocka_unit_test(names_of_rows_stay_true),
        cmocka_unit_test(tables_are_copied),
        cmocka_unit_test(two_fingers_zoom),
        cmocka_unit_test(edges_snap),
        cmocka_unit_test(every_key_is_listed_and_fits),
    };
    return cmocka_run_group_tests(tests, start_browser, stop_browser);
}
