/* The answers that the page shows: those of `devlog report` and `devlog causes`, of the same run and selection, as JSON. Not for
 * what a browser makes of them (page/). */
#ifndef DEVLOG_CLI_PAGE_ANSWERS_H
#define DEVLOG_CLI_PAGE_ANSWERS_H

#include "cli/filters.h"
#include "report/artifacts.h"

typedef struct cli_page_asked {
    char *const *logs; /* borrowed, as are: */
    size_t n_logs;
    const char *title;      /* NULL asked for: the name of the first */
    bool once;              /* the log cannot be read again: it is still written */
    bool parts;             /* filters leave out parts of launches */
    dl_filter filter;       /* with those parts */
    op_selection selection; /* before cli_select has looked anything up */
} cli_page_asked;

cli_page_asked cli_page_ask(char *const *logs, size_t n, const char *title, const cli_filters *f,
                            const dl_filter *filter);
/* For dl_artifacts_options; `ctx` is a cli_page_asked. Appends a JSON object: {"report":...,"by_shape":...,"by_category":...,
 * "by_op":...,"groups_shape":[...],"groups_category":[...],"points":[...],"made":false,"causes":...,"causes_lines":...,"memory":...,"notes":[...]}; what there is not is left out. A run that cannot be answered has a note. */
devlog_status cli_page_answers(void *ctx, dl_str *out, devlog_error *err);

#endif
