/* One browser for all tests of a program, which wants cmocka_run_group_tests(tests, start_browser, stop_browser). Included by
 * such programs only: what is here is theirs. */
#ifndef DEVLOG_TESTS_PAGE_GROUP_H
#define DEVLOG_TESTS_PAGE_GROUP_H

#include "support/cmocka_all.h"
#include "support/page.h"

static browser *b; /* NULL: there is no chromium here */

static int start_browser(void **state)
{
    (void)state;
    b = browser_start(1440, 900);
    if (!b) print_message("skipped: no chromium here\n");
    return 0;
}

static int stop_browser(void **state)
{
    (void)state;
    browser_stop(b);
    return 0;
}

#define NEEDS_BROWSER()                                                                                      \
    do {                                                                                                     \
        (void)state;                                                                                         \
        if (!b) skip();                                                                                      \
    } while (0)

#endif
