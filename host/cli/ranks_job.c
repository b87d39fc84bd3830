/* Many ranks from their folders to what is printed and written. See ranks_job.h. */
#include "cli/ranks_job.h"

#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "base/term.h"
#include "cli/answer_out.h"
#include "cli/cli.h"
#include "cli/logs.h"
#include "ranks/ranks.h"

bool cli_are_ranks(const cli_args *rest)
{
    return rest->n > 1 || (rest->n == 1 && ranks_are_in(rest->items[0]));
}

static devlog_status read_all(ranks *r, const cli_ranks *c, const cli_args *rest, devlog_error *err)
{
    devlog_status status = cli_logs_apart(rest->items, (size_t)rest->n, err);
    if (!status) status = ranks_find(r, (const char *const *)rest->items, (size_t)rest->n, err);
    const cli_list *hosts = c->hosts;
    if (!status && hosts && hosts->n) status = ranks_name_hosts(r, hosts->items, hosts->n, err);
    if (!status && c->find) status = c->find(c->ctx, r, err);
    if (!status) status = ranks_read(r, err);
    if (!status) status = ranks_match(r, err);
    if (!status) status = ranks_align(r, err);
    if (!status) status = ranks_align_hosts(r, err);
    return status;
}

static devlog_status show(const ranks *r, const cli_ranks *c, devlog_error *err)
{
    answer answers;
    devlog_status status = answer_begin(&answers, err);
    if (status) return status;
    status = ranks_answer(&answers, r, &(ranks_wishes){.top = cli_answer_top(c->format, c->top)}, err);
    for (size_t i = 0; c->tables && i < c->tables->n && !status; i++)
        if (!answer_find(&answers, c->tables->items[i]))
            status = dl_fail(
                err, DEVLOG_ERR_NOT_FOUND,
                "--tables: there is no table '%s' of these ranks (devlog ranks --help lists them; those of "
                "collective ops are there when there are any)",
                c->tables->items[i]);
    if (!status)
        status = cli_answer_print(&answers,
                                  &(cli_answer_out){.kind = "ranks",
                                                    .version = RANKS_VERSION,
                                                    .format = c->format,
                                                    .plain = c->plain,
                                                    .tables = c->tables,
                                                    .output = c->output},
                                  err);
    answer_free(&answers);
    return status;
}

int cli_ranks_run(const cli_ranks *c, const cli_args *rest)
{
    devlog_error err = {0};
    ranks r = {0};
    uint64_t rows = 0, left_out = 0;
    char digits[DL_GROUPED_SIZE];
    devlog_status status = read_all(&r, c, rest, &err);
    if (!status && !c->quiet) status = show(&r, c, &err);
    if (!status && c->merge) status = ranks_merge(&r, c->merge, &rows, &err);
    if (!status && c->merge)
        fprintf(stderr, "%s rows of %zu ranks in %s\n", dl_u64_grouped(digits, rows), r.n, c->merge);
    if (!status && c->trace) status = ranks_trace(&r, c->trace, &left_out, &err);
    if (left_out)
        fprintf(stderr, "devlog %s: %s ops are not in %s: nothing says where the clocks of their chips lie\n",
                c->command, dl_u64_grouped(digits, left_out), c->trace);
    for (size_t i = 0; i < r.n && !status; i++)
        if (r.items[i].silent)
            fprintf(stderr, "devlog %s: rank %u is left out: %s\n", c->command, r.items[i].number,
                    r.items[i].silent);
    if (status) fprintf(stderr, "devlog %s: %s\n", c->command, err.text);
    const int exit_status = status ? CLI_FAILED : ranks_incomplete(&r) || left_out ? CLI_PARTIAL : CLI_OK;
    ranks_free(&r);
    return exit_status;
}
