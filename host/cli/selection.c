/* What a selection means in given logs, and what is said of it. See filters.h. */
#include <stdio.h>

#include "answers/run_select.h"
#include "cli/filters.h"

devlog_status cli_select(const cli_command *c, const cli_filters *f, dl_filter *filter, char *const *logs,
                         size_t n, op_selected *selected, devlog_error *err)
{
    const op_selection s = cli_selection_of(f, filter);
    const devlog_status status = run_select(selected, &s, filter, logs, n, err);
    dl_str said = {0};
    char before[64];
    snprintf(before, sizeof before, "devlog %s: ", c->name);
    if (!status) dl_warm_up_describe(&selected->warm_up, before, &said);
    if (said.text && !said.failed) fputs(said.text, stderr);
    dl_str_free(&said);
    return status;
}
