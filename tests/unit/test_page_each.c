/* The list of `devlog serve` and the page of two runs with every kind of log: each log is in the list with what it holds, opens from
 * there, and stands beside itself, at three sizes, light and dark. What the two do is tested in test_serve_list.c and test_page_pair.c,
 * the page of each log in test_page_logs.c. Skipped where there is no chromium. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/cli.h"
#include "support/device.h"
#include "support/files.h"
#include "support/page_group.h"
#include "support/serve.h"

static const struct each_log {
    const char *name;
    page_log log;
    bool cut, lossy;
} logs[] = {
    {"drops",
     {.chips = 1, .columns = 2, .rows = 1, .riscs = 2, .launches = 3, .zones = 4, .drops = true},
     false,
     true},
    {"chips", {.chips = 4, .columns = 2, .rows = 2, .riscs = 3, .launches = 4, .zones = 4}, false, false},
    {"values",
     {.chips = 1, .columns = 2, .rows = 2, .riscs = 2, .launches = 2, .zones = 6, .values = true},
     false,
     false},
    {"launches",
     {.chips = 1, .columns = 4, .rows = 1, .riscs = 1, .launches = 10000, .zones = 1},
     false,
     false},
    {"cores",
     {.chips = 1, .columns = 16, .rows = 8, .riscs = 5, .launches = 3, .zones = 6, .shuffled = true},
     false,
     false},
    {"names",
     {.chips = 1, .columns = 2, .rows = 2, .riscs = 2, .launches = 2, .zones = 6, .name = 5000},
     false,
     false},
    {"all",
     {.chips = 2,
      .columns = 4,
      .rows = 4,
      .riscs = 5,
      .launches = 4,
      .zones = 6,
      .name = 300,
      .drops = true,
      .values = true,
      .shuffled = true},
     false,
     true},
    {"cut",
     {.chips = 2,
      .columns = 2,
      .rows = 2,
      .riscs = 3,
      .launches = 5,
      .zones = 4,
      .name = 200,
      .drops = true,
      .values = true},
     true,
     true},
};
enum { LOGS = sizeof logs / sizeof logs[0] };

static const int sizes[][2] = {{1440, 900}, {1024, 768}, {390, 844}};

static void make_logs(void)
{
    char path[700], command[1500];
    struct stat st;
    snprintf(command, sizeof command, "mkdir -p %s", in_scratch("each/empty"));
    assert_int_equal(system(command), 0);
    for (size_t i = 0; i < LOGS; i++) {
        snprintf(path, sizeof path, "each/%s", logs[i].name);
        assert_int_equal(mkdir(in_scratch(path), 0755), 0);
        snprintf(path, sizeof path, "%s/profile_log_device.csv", in_scratch(path));
        page_log_write(path, &logs[i].log);
        assert_int_equal(stat(path, &st), 0);
        if (logs[i].cut) assert_int_equal(truncate(path, st.st_size * 2 / 3), 0);
    }
    write_text(in_scratch("each/empty/profile_log_device.csv"), "ARCH: wormhole_b0, CHIP_FREQ[MHz]: 1000\n");
    page_network();
    snprintf(command, sizeof command, "cp -r %s %s", in_scratch("network"), in_scratch("each/network"));
    assert_int_equal(system(command), 0);
}

static int start(void **state)
{
    start_browser(state);
    if (b) make_logs();
    return 0;
}

static void in_light(bool dark)
{
    char params[120];
    snprintf(params, sizeof params, "{\"features\":[{\"name\":\"prefers-color-scheme\",\"value\":\"%s\"}]}",
             dark ? "dark" : "light");
    cJSON_Delete(browser_call(b, "Emulation.setEmulatedMedia", params));
}

static const char in_window[] =
    "(() => { const root = document.documentElement; return root.scrollWidth <= innerWidth ? 'fits' : 'sticks out ' + root.scrollWidth; })()";

/* Texts of the page, not of its time lines, against its background. */
static const char readable[] =
    "(() => { const light = (c) => { const v = c.match(/[\\d.]+/g).slice(0, 3).map((x) => (x / 255 <= 0.04045 ? x / 255 / 12.92 : ((x / 255 + 0.055) / 1.055) ** 2.4)); "
    "return 0.2126 * v[0] + 0.7152 * v[1] + 0.0722 * v[2]; }; const page = light(getComputedStyle(document.body).backgroundColor); "
    "const bad = [...document.querySelectorAll('body *')].filter((e) => !e.disabled && e.getClientRects().length && [...e.childNodes].some((n) => n.nodeType === 3 && n.data.trim()) && "
    "(() => { const t = light(getComputedStyle(e).color); return (Math.max(t, page) + 0.05) / (Math.min(t, page) + 0.05) < 4.5; })()); "
    "return bad.length ? bad[0].outerHTML.slice(0, 200) : 'legible'; })()";

/* `plain`: all texts stand on the background of the page; of one log's page, where they do not, test_page_logs.c asks. */
static void at_every_size(const char *what, bool plain, const char *more)
{
    for (int i = 0; i < 6; i++) {
        browser_size(b, sizes[i % 3][0], sizes[i % 3][1]);
        in_light(i >= 3);
        page_settle(b);
        page_has_text(b, in_window, "fits");
        if (plain) page_has_text(b, readable, "legible");
        if (more) page_has_text(b, more, "right");
        page_has_no_problems(b, what);
    }
    browser_size(b, 1440, 900);
    cJSON_Delete(browser_call(b, "Emulation.setEmulatedMedia", "{\"features\":[]}"));
}

/* Both time lines are there, have room, and end inside of the window. */
static const char both_lines[] =
    "(() => { for (const id of ['old', 'new']) { const d = document.getElementById(id).contentDocument, rows = d.getElementById('rows'); "
    "if (rows.clientHeight < 60) return id + ' has no room: ' + rows.clientHeight; "
    "if (d.documentElement.scrollWidth > d.documentElement.clientWidth) return id + ' sticks out'; } return 'right'; })()";

static void beside_itself(const char *path, bool lossy, const char *what)
{
    char line[2000], url[700];
    snprintf(line, sizeof line, "diff --page --exact %s %s -o %s", path, path, in_scratch("pair.html"));
    free(devlog_ok(line, lossy ? 3 : 0));
    snprintf(url, sizeof url, "file://%s", in_scratch("pair.html"));
    assert_true(browser_go(b, "about:blank", "true"));
    assert_true(browser_go(b, url, "document.documentElement.dataset.ready === 'yes'"));
    page_run(b, "Object.assign(globalThis, devlog), localStorage.clear(), 1");
    page_has_text(
        b,
        "pair.ops.every((p) => p.kind === 'same') ? pair.ops.length > 0 : pair.ops.map((p) => p.kind).join()",
        "true");
    page_has_text(b, "document.getElementById('banner').hidden ? 'whole' : 'lost'", lossy ? "lost" : "whole");
    page_run(b, "pair.a.zoom(0.1, 0.5), pair.a.viewAll()");
    at_every_size(what, true, both_lines);
}

static void each_stands_beside_itself(void **state)
{
    NEEDS_BROWSER();
    char path[700];
    for (size_t i = 0; i < LOGS; i++) {
        snprintf(path, sizeof path, "each/%s/profile_log_device.csv", logs[i].name);
        snprintf(path, sizeof path, "%s", in_scratch(path));
        beside_itself(path, logs[i].lossy, logs[i].name);
    }
    beside_itself(in_scratch("each/network"), false, "network");
}

/* What the list says of a log: launches and lost markers; and where a click on its name leads. */
#define ROW(name)                                                                                            \
    "[...document.querySelectorAll('#logs tr')].find((r) => r.cells[1].innerText.startsWith('" name "/'))"

static void open_list(const served *server)
{
    char url[100];
    snprintf(url, sizeof url, "http://127.0.0.1:%d/", server->port);
    assert_true(browser_go(b, "about:blank", "true"));
    assert_true(browser_go(b, url, "document.querySelectorAll('#logs tr').length >= 10"));
    assert_true(browser_wait(
        b,
        "[...document.querySelectorAll('#logs tr')].filter((r) => /^[\\d,]+$/.test(r.cells[3].innerText)).length >= 10"));
}

static void each_is_served(void **state)
{
    NEEDS_BROWSER();
    char url[500], script[700], expected[100];
    served server = serve_start(in_scratch("each"), NULL);
    open_list(&server);
    at_every_size("the list", true, NULL);
    for (size_t i = 0; i < LOGS; i++) {
        const struct each_log *l = &logs[i];
        open_list(&server);
        snprintf(script, sizeof script,
                 ROW("%s") ".cells[3].innerText.replace(',', '') + (" ROW(
                     "%s") ".cells[4].innerText === '0' ? ' whole' : ' lost')",
                 l->name, l->name);
        snprintf(expected, sizeof expected, "%u %s", l->log.chips * l->log.launches,
                 l->lossy ? "lost" : "whole");
        page_has_text(b, script, expected);
        snprintf(script, sizeof script, ROW("%s") ".querySelector('a').href", l->name);
        char *there = browser_js(b, "%s", script);
        snprintf(url, sizeof url, "%s", there);
        free(there);
        assert_true(browser_go(b, url, "document.documentElement.dataset.ready === 'yes'"));
        page_run(b, "Object.assign(globalThis, devlog), showTab('time'), 1");
        if (!l->cut)
            page_has_number(b, "timeline.model.cores.length", l->log.chips * l->log.columns * l->log.rows);
        page_has_text(b, "document.getElementById('health').classList.contains('bad') ? 'lost' : 'whole'",
                      l->lossy ? "lost" : "whole");
        at_every_size(l->name, false, NULL);
    }
    assert_int_equal(serve_stop(&server), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_stands_beside_itself),
        cmocka_unit_test(each_is_served),
    };
    return cmocka_run_group_tests(tests, start, stop_browser);
}
