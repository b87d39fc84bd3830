/* The answers that the page shows: those of `devlog report` and `devlog causes`, of the same run and selection, as JSON. Not for
 * what a browser makes of them (page/). */
#ifndef DEVLOG_CLI_PAGE_ANSWERS_H
#define DEVLOG_CLI_PAGE_ANSWERS_H

#include "cli/filters.h"
#include "report/artifacts.h"

typedef struct cli_page_asked {
    char *const *logs; /* borrowed, as are: */
    size_t n_logs;
    const char *title;            /* NULL asked for: the name of the first */
    bool once;                    /* the log cannot be read again: it is still written */
    bool parts;                   /* filters leave out parts of launches */
    bool all;                     /* they leave out nothing, and zones are what they are in the log */
    dl_filter filter;             /* with those parts */
    op_selection selection;       /* before cli_select has looked anything up */
    dl_decode *decode;            /* of the page: cli_page_runs keeps it; NULL: chips have no grids */
    struct cli_page_begun *begun; /* cli_page_runs: what has been begun; or NULL */
} cli_page_asked;

cli_page_asked cli_page_ask(char *const *logs, size_t n, const char *title, const cli_filters *f,
                            const dl_filter *filter);
void cli_page_asked_free(cli_page_asked *asked);
/* For dl_artifacts_options, before the log is decoded: answers of all of a log are made of the runs that its page is made of, so that
 * it is not read once more. */
bool cli_page_runs(void *ctx, dl_decode *decode, dl_run_sink *out);
/* For dl_artifacts_options; `ctx` is a cli_page_asked. Appends a JSON object: {"report":...,"by_shape":...,"by_category":...,
 * "by_op":...,"groups_shape":[...],"groups_category":[...],"by_stack":...,"groups_stack":[...],"points":[...],"made":false,"causes":...,"causes_lines":...,"memory":...,"grids":{...},"notes":[...]}; what there is not is left out. A run that cannot be answered has a note. */
devlog_status cli_page_answers(void *ctx, dl_str *out, devlog_error *err);

#endif
