/* The pictures of docs/page.md and README.md that are of examples everybody has: made anew in the folder DEVLOG_TEST_PICTURES, and what
 * they are to show is there. Without that folder, or without chromium, this says SKIPPED. What views look like is tested in
 * test_page_matrix.c. */
#include <stdio.h>
#include <stdlib.h>

#include "support/cli.h"
#include "support/page_group.h"

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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(of_the_network),
        cmocka_unit_test(of_the_demo),
    };
    return cmocka_run_group_tests(tests, start_browser, stop_browser);
}
