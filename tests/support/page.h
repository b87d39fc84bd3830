/* device_perf.html for tests: made-up logs of every kind, their pages in a browser, and what must be on them.
 */
#ifndef DEVLOG_TESTS_PAGE_H
#define DEVLOG_TESTS_PAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "support/browser.h"

/* With the zones beside the time line. */
#define PAGE_READY "document.documentElement.dataset.ready === 'yes' && (showTab('zones'), true)"

typedef struct page_log {
    unsigned chips, columns, rows, riscs, launches,
        zones;                 /* zones in each kernel; every other holds one more */
    size_t name;               /* bytes of a zone's name; 0: a few */
    bool drops;                /* markers were dropped in every other launch */
    bool values;               /* values, events, sums between the zones */
    bool texts;                /* kernels print */
    bool shuffled;             /* zones in random order, instead of taking turns */
    unsigned slow, slower;     /* of the launch `slow` (from 1), core 0,0 takes this many cycles more */
    unsigned apart, staggered; /* cycles between launches (0: 20,000), and between the starts of two cores */
} page_log;

/* A launch's kernel takes 500 cycles and 300 for each zone. */
void page_log_write(const char *path, const page_log *log);

/* capture.devlog of three launches with what the host called: a counter of 1 GHz that is 5 ms behind the
 * host's clock. */
void page_capture_write(const char *folder);

/* `devlog decode LOG -o OUT`, which must end with this exit status; -1: any. */
void page_decode(const char *log, const char *out, int exit_status);
/* The same, then opens the page from the file and waits until it is drawn. */
void page_open(browser *b, const char *log, const char *out, int exit_status);
/* The capture of two steps of the example network: ops, steps, signposts, shapes; in the folder `network` of the scratch. */
const char *page_network(void);
/* The page of the demo, with what its kernels waited for; its run is the folder `waits` of the scratch. */
void page_open_waits(browser *b);
/* A process with zones of its own, of two threads; it leaves host_PID.devlog in the folder, and has ended. */
pid_t page_host_program(const char *folder);
/* Runs a script, which may not fail, and waits for two frames. */
void page_run(browser *b, const char *script);
/* Waits for two frames. */
void page_settle(browser *b);

/* Each fails the test, and says what is there instead. */
void page_has_text(browser *b, const char *expression, const char *expected);
void page_has_number(browser *b, const char *expression, double expected);
void page_has_no_problems(browser *b, const char *where);

/* Every text on every tab and canvas has a contrast of 4.5 or more; leaves the page at its zones. */
void page_is_legible(browser *b, const char *what);

/* Sizes of the window: 1440, 1024 and 390 pixels wide. */
enum {
    PAGE_DESK = 1,
    PAGE_LAPTOP = 2,
    PAGE_TELEPHONE = 4,
    PAGE_ALL_SIZES = 7,
    PAGE_LIGHT_AND_DARK = 8, /* both; otherwise in turn */
};
/* The contents of every tab stay inside the window, or scroll in a box of their own. Leaves it 1440 wide. */
void page_fits(browser *b, const char *what, int at);

#endif
