/* Two runs in one page: device_perf.html of each, one above the other, and what has changed between them as the way in. The page
 * holds all of it and asks the network for nothing. Not for what has changed (answers/diff.h): that is handed in. */
#ifndef DEVLOG_REPORT_PAGE_PAIR_H
#define DEVLOG_REPORT_PAGE_PAIR_H

#include "report/page.h"

typedef struct dl_page_pair {
    const char *diff;        /* JSON of `devlog diff` */
    const dl_str *old, *now; /* pages, as dl_page_text makes them */
} dl_page_pair;

/* Appends the whole page to *out. */
devlog_status dl_page_pair_text(const dl_page_pair *pair, dl_str *out, devlog_error *err);
/* Its content security policy, for whoever serves it; it is in the page, too. */
void dl_page_pair_policy(dl_str *out);

#endif
