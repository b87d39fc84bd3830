/* device_perf.html: one self-contained page with an interactive timeline, statistics, histogram and heat map.
 * The page holds its data, its program and its style; it asks the network for nothing. What runs in the
 * browser is in page/; this file and its neighbours page_*.c only pack and write. The same log gives the same
 * bytes. */
#ifndef DEVLOG_REPORT_PAGE_H
#define DEVLOG_REPORT_PAGE_H

#include "report/artifacts.h"
#include "report/view.h"

typedef struct dl_page_options {
    const char *title;      /* shown at the top: the log's name; NULL: none */
    const char *answers;    /* what else is to be shown of the run: a JSON object; NULL: nothing */
    uint32_t max_intervals; /* 0: DL_PAGE_INTERVALS. What is left out is counted, and the page says so */
} dl_page_options;

/* As many as a mail attachment holds, and as many as a browser on the same machine opens in two or three seconds and draws without a
 * stutter (page/levels.js). Statistics in the page are of the whole log, whatever this is. */
enum { DL_PAGE_INTERVALS = 2000000, DL_PAGE_SERVED = 10000000 };

/* Appends the whole page to *out. After dl_view_ready; the decoder of the view must have kept samples. */
devlog_status dl_page_text(dl_view *v, const dl_page_options *options, dl_str *out, devlog_error *err);
/* The same into a file, which appears whole or not at all. */
devlog_status dl_page_file(dl_view *v, const dl_page_options *options, const char *path, devlog_error *err);

/* The page's content security policy, for whoever serves it; it is in the page, too. */
void dl_page_policy(dl_str *out);

extern const dl_artifact dl_artifact_page;

#endif
