/* What `devlog diff --page` writes, and what `devlog serve` shows of two logs: the diff as the way into both time lines. Not for the
 * diff itself (answers/diff_job.h), nor for how the page is put together (report/page_pair.h). */
#ifndef DEVLOG_CLI_DIFF_PAGE_H
#define DEVLOG_CLI_DIFF_PAGE_H

#include "answers/diff_job.h"

/* Whether the inputs can be: one run on each side, with a device log. ARGUMENT says what is missing, and what to do. */
devlog_status cli_diff_page_check(const diff_job *j, devlog_error *err);
/* After diff_job_run: writes the page, which appears whole or not at all. */
devlog_status cli_diff_page_write(const diff_job *j, const char *path, devlog_error *err);
/* The same of two logs whose pages are there already; appends to *out. */
devlog_status cli_diff_page_of(const char *const logs[DIFF_SIDES], const dl_str pages[DIFF_SIDES],
                               dl_str *out, devlog_error *err);
/* Two runs of which one has no device log: what `devlog diff` prints. */
devlog_status cli_diff_text_of(const char *const paths[DIFF_SIDES], dl_str *out, devlog_error *err);

#endif
