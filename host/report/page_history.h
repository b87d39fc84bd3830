/* The history of an archive as one page, that asks the network for nothing. Not for what is in it (archive/page.c): that is handed in. */
#ifndef DEVLOG_REPORT_PAGE_HISTORY_H
#define DEVLOG_REPORT_PAGE_HISTORY_H

#include "report/page.h"

/* Appends the whole page to *out; `json` is what page/history.js reads. */
devlog_status dl_page_history_text(const dl_str *json, dl_str *out, devlog_error *err);

#endif
