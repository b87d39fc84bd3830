/* The pictures of docs/page.md and README.md that are of examples everybody has: made anew in the folder DEVLOG_TEST_PICTURES, and what
 * they are to show is there. Without that folder, or without chromium, this says SKIPPED. What views look like is tested in
 * test_page_matrix.c. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/cli.h"
#include "support/files.h"
#include "support/page_group.h"
#include "support/serve.h"

static void picture(const char *name)
{
    char path[600];
    snprintf(path, sizeof path, "%.500s/%s.png", getenv("DEVLOG_TEST_PICTURES"), name);
    page_settle(b);
    page_has_no_problems(b, name);
    assert_true(browser_picture(b, path));
}

static bool wanted(void)
{
    const char *folder = getenv("DEVLOG_TEST_PICTURES");
    return b && folder && *folder;
}

static void of_the_network(void **state)
{
    (void)state;
    if (!wanted()) skip();
    page_open(b, page_network(), in_scratch("out"), 0);
    page_run(b, "showTab('overview')");
    assert_true(browser_wait(b, "!!document.getElementById('straggler')"));
    page_has_text(b, "document.getElementById('verdict').innerText", "Matmul");
    picture("page_overview");
    page_run(b, "showTab('ops'), document.querySelector('#op-table tbody tr').click()");
    page_has_text(b, "document.getElementById('op-launches').innerText", "the slowest first");
    picture("page_ops");
}

static void of_the_demo(void **state)
{
    (void)state;
    if (!wanted()) skip();
    page_open_waits(b);
    page_run(
        b,
        "showTab('time'), rowsLayout.open.clear(), toggleCore(timeline.model.cores.find((c) => c.name === '1,1')), "
        "setView(view.span * 0.38, view.span * 0.88), toggleCauses()");
    page_has_text(b, "document.getElementById('causes-bar').innerText", "ended by TRISC_1");
    picture("page_causes");
    page_run(
        b, "toggleCauses(), showTab('zones'), rowsLayout.open.clear(), toggleCore(timeline.model.cores[0]), "
           "chooseRow(table.rows.find((r) => r.name === 'wait for page' && r.risc === 'TRISC_2')), "
           "setView(view.span * 0.38, view.span * 0.88)");
    page_has_text(b, "document.getElementById('chart').innerText", "wait for page on TRISC_2");
    picture("page");
}

/* `devlog run ARGUMENTS -o FOLDER` of an example. */
static void run(const char *arguments, const char *folder, const char *program)
{
    char line[1024];
    const char *own = getenv("DEVLOG_BIN");
    snprintf(line, sizeof line, "run %s -o %s -- %.*s%s", arguments, folder,
             own ? (int)(strlen(own) - strlen("devlog")) : 0, own ? own : "", program);
    free(devlog_ok(line, 0));
}

/* A chip of which a column and a row are left out. */
static void of_a_chip(void **state)
{
    (void)state;
    if (!wanted()) skip();
    setenv("DEVLOG_GRID", "columns=1-4+7-9,rows=1-5+7-10", 1);
    run("--device-only --waits --recording stream", "chip", "net20 3");
    unsetenv("DEVLOG_GRID");
    page_open(b, in_scratch("chip/logs/capture.devlog"), in_scratch("out"), 0);
    page_run(b, "showTab('heat'), document.getElementById('heat-as').value = 'chip', "
                "document.getElementById('heat-as').dispatchEvent(new Event('change'))");
    page_run(b, "document.getElementById('chip-what').value = 'waited', "
                "document.getElementById('chip-what').dispatchEvent(new Event('change'))");
    page_has_text(b, "document.getElementById('chips').innerText", "column 6; row 11");
    page_has_text(b, "document.getElementById('chips').innerText", "cycles waited");
    picture("page_chip");
}

/* Two runs, one of them packed, and an op report by itself. */
static void of_the_list(void **state)
{
    (void)state;
    if (!wanted()) skip();
    char line[3000], url[100];
    run("", "runs/old", "nn 2");
    run("", "runs/new", "nn 3");
    snprintf(line, sizeof line, "pack %s -o %s", in_scratch("runs/old/logs_device/profile_log_device.csv"),
             in_scratch("packed"));
    free(devlog_ok(line, 0));
    snprintf(
        line, sizeof line,
        "cd %s && mkdir -p archive report && mv %s archive/profile_log_device.csv.pack && cp new/ops_perf_results.csv report/ops_perf_results.csv",
        in_scratch("runs"), in_scratch("packed"));
    assert_int_equal(system(line), 0);
    served server = serve_start(in_scratch("runs"), NULL);
    snprintf(url, sizeof url, "http://127.0.0.1:%d/", server.port);
    browser_size(b, 1440, 500);
    assert_true(browser_go(
        b, url,
        "[...document.querySelectorAll('#logs tr')].filter((r) => /^[\\d,]+/.test(r.cells[3].innerText)).length >= 4"));
    static const char *const ticked[] = {"old", "new"};
    for (int i = 0; i < 2; i++) {
        snprintf(
            line, sizeof line,
            "[...document.querySelectorAll('#logs tr')].find((r) => r.cells[1].innerText.startsWith('%s/')).querySelector('input').click()",
            ticked[i]);
        page_run(b, line);
    }
    page_has_text(b, "document.body.innerText", "packed log");
    page_has_text(b, "document.body.innerText", "op report");
    page_has_text(b, "document.body.innerText",
                  "old/logs_device/capture.devlog → new/logs_device/capture.devlog");
    picture("serve");
    browser_size(b, 1440, 900);
    assert_int_equal(serve_stop(&server), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(of_the_network),
        cmocka_unit_test(of_the_demo),
        cmocka_unit_test(of_a_chip),
        cmocka_unit_test(of_the_list),
    };
    return cmocka_run_group_tests(tests, start_browser, stop_browser);
}
