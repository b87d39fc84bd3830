/* axe-core finds no serious fault on any tab of device_perf.html, on the page of two runs, on the list of `devlog serve`, and on the history of an archive: at every
 * size, light and dark. Not for contrast of what canvases hold, which axe cannot see (support/legible.c). axe-core is no part of devlog
 * and of no Debian package: where DEVLOG_TEST_AXE does not name an axe.min.js, or where there is no chromium, this says SKIPPED. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/cli.h"
#include "support/device.h"
#include "support/files.h"
#include "support/page_group.h"
#include "support/serve.h"

static char *axe; /* its source */

static int start(void **state)
{
    const char *path = getenv("DEVLOG_TEST_AXE");
    if (path && *path) axe = read_bytes(path, NULL);
    return axe ? start_browser(state) : 0;
}

static int stop(void **state)
{
    free(axe);
    if (b) stop_browser(state);
    return 0;
}

#define NEEDS_AXE()                                                                                          \
    do {                                                                                                     \
        NEEDS_BROWSER();                                                                                     \
        if (!axe) skip();                                                                                    \
    } while (0)

/* The faults that axe calls serious or critical, each with the first place that has it; "" when there is none. */
static const char faults[] =
    "axe.run(document, { resultTypes: ['violations'] }).then((r) => { if (!r.passes.length) throw new Error('axe looked at nothing'); "
    "return r.violations.filter((v) => v.impact === 'serious' || v.impact === 'critical').map((v) => "
    "v.id + ' (' + v.nodes.length + '): ' + v.nodes[0].html.slice(0, 150) + ' ' + (v.nodes[0].failureSummary || '').slice(0, 200)).join('\\n'); })";

static void no_fault(const char *where)
{
    char *found = browser_js(b, "%s", faults);
    if (*found) fail_msg("%s:\n%s", where, found);
    free(found);
}

static void load_axe(void)
{
    cJSON *params = cJSON_CreateObject();
    cJSON_AddStringToObject(params, "expression", axe);
    char *text = cJSON_PrintUnformatted(params);
    cJSON_Delete(browser_call(b, "Runtime.evaluate", text));
    page_has_text(b, "typeof axe.run", "function");
    cJSON_free(text);
    cJSON_Delete(params);
}

/* Every tab is looked at, or the one page without tabs, by its button for light and dark or, where it has none, by what the system
 * prefers. */
static void look(const char *what, bool has_tabs)
{
    static const int sizes[][2] = {{1440, 900}, {1024, 768}, {390, 844}};
    char where[200], script[200];
    load_axe();
    const bool has_button = browser_number(b, "document.querySelectorAll('#theme').length") == 1;
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        browser_size(b, sizes[i][0], sizes[i][1]);
        for (int mode = 0; mode < 2; mode++) {
            snprintf(script, sizeof script,
                     "{\"features\":[{\"name\":\"prefers-color-scheme\",\"value\":\"%s\"}]}",
                     mode ? "dark" : "light");
            if (has_button)
                page_run(b, "document.getElementById('theme').click()");
            else
                cJSON_Delete(browser_call(b, "Emulation.setEmulatedMedia", script));
            char *names = browser_js(b, "%s", has_tabs ? "tabNames().join(' ')" : "'page'"), *rest = names;
            for (char *name = strtok_r(rest, " ", &rest); name; name = strtok_r(rest, " ", &rest)) {
                snprintf(script, sizeof script, "showTab('%s')", name);
                if (has_tabs) page_run(b, script);
                snprintf(where, sizeof where, "%s, %s, %d pixels wide, %s", what, name, sizes[i][0],
                         mode ? "as at first, or dark" : "the other colours, or light");
                no_fault(where);
            }
            free(names);
        }
    }
    cJSON_Delete(browser_call(b, "Emulation.setEmulatedMedia", "{\"features\":[]}"));
    browser_size(b, 1440, 900);
}

static void page_of_a_network(void **state)
{
    NEEDS_AXE();
    page_open(b, page_network(), in_scratch("out"), 0);
    /* With an op, a zone and an area chosen, and the list of keys open, there is more to look at. */
    page_run(b, "Object.assign(globalThis, devlog), measure(view.t0, view.t1), chooseRow(table.rows[0]), 1");
    page_run(
        b,
        "document.getElementById('heat-as').value = 'chip', 1"); /* under Cores, with the grid of its capture */
    look("a network", true);
    page_run(b, "showTab('time')");
    browser_key(b, "?");
    no_fault("the list of keys");
}

static void page_with_drops_chips_and_values(void **state)
{
    NEEDS_AXE();
    char path[700];
    const page_log log = {.chips = 2,
                          .columns = 3,
                          .rows = 2,
                          .riscs = 3,
                          .launches = 4,
                          .zones = 6,
                          .drops = true,
                          .values = true,
                          .name = 5000};
    snprintf(path, sizeof path, "%s", in_scratch("rich.csv"));
    page_log_write(path, &log);
    page_open(b, path, in_scratch("out"), 3);
    page_run(b,
             "Object.assign(globalThis, devlog), measure(view.t0, view.t1), runSearch('a'), nextHit(1), 1");
    look("a log with drops", true);
}

static void page_of_waits(void **state)
{
    NEEDS_AXE();
    page_open_waits(b);
    look("waits", true);
}

static void two_runs_beside_one_another(void **state)
{
    NEEDS_AXE();
    char line[1500], url[700];
    page_network();
    snprintf(line, sizeof line, "diff --page --exact %s %s -o %s", in_scratch("network"),
             in_scratch("network"), in_scratch("pair.html"));
    free(devlog_ok(line, 0));
    snprintf(url, sizeof url, "file://%s", in_scratch("pair.html"));
    assert_true(browser_go(b, "about:blank", "true"));
    assert_true(browser_go(b, url, "document.documentElement.dataset.ready === 'yes'"));
    look("two runs", false);
}

static void history_of_an_archive(void **state)
{
    NEEDS_AXE();
    char line[2000], url[700];
    page_network();
    for (int i = 0; i < 3; i++) {
        snprintf(line, sizeof line, "archive add -a runs.sqlite --label run=%d --date 2026-01-0%d network", i,
                 i + 1);
        free(devlog_ok(line, 0));
    }
    free(devlog_ok("archive page runs.sqlite -o history.html", 0));
    snprintf(url, sizeof url, "file://%s", in_scratch("history.html"));
    assert_true(browser_go(b, "about:blank", "true"));
    assert_true(browser_go(b, url, "document.documentElement.dataset.ready === 'yes'"));
    look("history", false);
}

static void list_of_logs(void **state)
{
    NEEDS_AXE();
    char url[100];
    page_network();
    served server = serve_start(in_scratch("network"), NULL);
    snprintf(url, sizeof url, "http://127.0.0.1:%d/", server.port);
    assert_true(browser_go(b, "about:blank", "true"));
    assert_true(browser_go(b, url, "document.querySelectorAll('#logs tr').length >= 1"));
    look("the list of logs", false);
    assert_int_equal(serve_stop(&server), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(page_of_a_network), cmocka_unit_test(page_with_drops_chips_and_values),
        cmocka_unit_test(page_of_waits),     cmocka_unit_test(two_runs_beside_one_another),
        cmocka_unit_test(list_of_logs),      cmocka_unit_test(history_of_an_archive),
    };
    return cmocka_run_group_tests(tests, start, stop);
}
