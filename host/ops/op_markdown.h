/* An op report, as CSV, once more as a table of Markdown: for the comment of a pull request. Columns that no row has anything
 * in are left out. Not for grouping ops (op_summary.h), nor for what is in a report (op_report.h). */
#ifndef DEVLOG_OPS_OP_MARKDOWN_H
#define DEVLOG_OPS_OP_MARKDOWN_H

#include "devlog/devlog.h"

/* Reads the CSV twice, and replaces the file `to` when all of it is written. */
devlog_status op_markdown_write(const char *csv, const char *to, devlog_error *err);
/* The same into the file beside it that has its name, with .md; *to is the caller's, also after a failure. */
devlog_status op_markdown_beside(const char *csv, char **to, devlog_error *err);

#endif
