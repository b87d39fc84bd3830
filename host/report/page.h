/* device_perf.html: one self-contained page with an interactive timeline, statistics, histogram and heat map.
 * The page holds its data, its program and its style; it asks the network for nothing.
 *
 *     dl_page *p;
 *     dl_page_new(&p, &options, err);
 *     dl_decode_event_sink(d, dl_page_sink(p));     before the first input
 *     ... dl_decode_file, dl_decode_finish ...
 *     dl_page_text(p, d, &html, err);
 *     dl_page_free(p);
 *
 * What runs in the browser is in page/; this file and its neighbours page_*.c only pack and write. The same
 * events give the same bytes. */
#ifndef DEVLOG_REPORT_PAGE_H
#define DEVLOG_REPORT_PAGE_H

#include "decode/decode.h"

typedef struct dl_page dl_page;

typedef struct dl_page_options {
    const char *title;      /* shown at the top: the log's name; borrowed; NULL: none */
    uint32_t max_intervals; /* 0: DL_PAGE_INTERVALS. What is left out is counted, and the page says so */
} dl_page_options;

/* As many as a browser draws without a stutter, and a mail attachment holds. Statistics in the page are of
 * the whole log, whatever this is. */
enum { DL_PAGE_INTERVALS = 2000000 };

devlog_status dl_page_new(dl_page **page, const dl_page_options *options, devlog_error *err);
void dl_page_free(dl_page *p);
/* Takes zones, points, values and sums, 32 bytes each while it gathers. */
dl_event_sink dl_page_sink(dl_page *p);
/* After dl_decode_finish of the decoder that fed the sink: appends the whole page to *out. */
devlog_status dl_page_text(dl_page *p, dl_decode *d, dl_str *out, devlog_error *err);
/* The same into a file, which appears whole or not at all. */
devlog_status dl_page_file(dl_page *p, dl_decode *d, const char *path, devlog_error *err);

#endif
