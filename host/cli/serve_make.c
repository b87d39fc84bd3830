/* Makers for the stores of `devlog serve`. See serve_make.h. */
#include "cli/serve_make.h"

#include <stdlib.h>
#include <string.h>

#include "answers/answer_print.h"
#include "answers/report_job.h"
#include "base/file.h"
#include "cli/logs.h"
#include "cli/page_answers.h"
#include "cli/trace.h"
#include "report/page.h"
#include "report/results.h"

/* Whether it is an op report: a device log is none. */
static bool is_report(const char *path)
{
    run_inputs in = {0};
    devlog_error unheard = {0};
    const bool report =
        !run_inputs_one(&in, path, &unheard) && in.n == 1 && in.items[0].report && !in.items[0].log;
    run_inputs_free(&in);
    return report;
}

static devlog_status write_report(const serve_maker *m, const char *path, const char *folder,
                                  devlog_error *err)
{
    const op_selection selection = cli_selection_of(m->filters, m->filter);
    report_job j = {0};
    dl_file_writer w;
    char *to = dl_path_join(folder, SERVE_REPORT);
    devlog_status status = to ? DEVLOG_OK : dl_fail(err, DEVLOG_ERR_MEMORY, "out of memory");
    if (!status) status = dl_folder_make(folder, err);
    if (!status)
        status = report_job_run(&j, path, &(report_options){.selection = &selection, .top = 200}, "", err);
    if (!status) status = dl_file_create(&w, to, err);
    if (!status) {
        const answer_shown shown = {.a = &j.a, .kind = "report", .version = REPORT_FORMAT_VERSION};
        if (j.troubles.text && !j.troubles.failed) dl_str_add(&w.buffer, j.troubles.text);
        answer_print_text(&shown, &w.buffer);
        status = dl_file_commit(&w, err);
    }
    report_job_free(&j);
    free(to);
    return status;
}

/* A log, and the zones of host code of its run beside it. */
typedef struct taken {
    cli_logs logs;
    char *alone[1];
    char **paths; /* n of them */
    size_t n;
} taken;

static devlog_status take(taken *t, const char *log, devlog_error *err)
{
    const char *slash = strrchr(log, '/');
    char *folder = slash ? strndup(log, slash == log ? 1 : (size_t)(slash - log)) : strdup(".");
    *t = (taken){.alone = {strdup(log)}, .n = 1};
    devlog_status status = folder && t->alone[0] ? cli_logs_find_all(folder, &t->logs, err)
                                                 : dl_fail(err, DEVLOG_ERR_MEMORY, "out of memory");
    for (size_t i = 0; i < t->logs.n && !status && !t->paths; i++) {
        if (strcmp(t->logs.items[i].path, log) != 0) continue;
        t->paths = cli_logs_with_hosts(&t->logs, &t->logs.items[i], &t->n);
        if (!t->paths) status = dl_fail(err, DEVLOG_ERR_MEMORY, "out of memory");
    }
    free(folder);
    return status;
}

static char **paths_of(taken *t)
{
    return t->paths ? t->paths : t->alone;
}

static void let_go(taken *t)
{
    free(t->paths);
    free(t->alone[0]);
    cli_logs_free(&t->logs);
}

devlog_status serve_make_results(void *ctx, const char *log, const char *folder, devlog_error *err)
{
    const serve_maker *m = ctx;
    cli_shown shown = {m->filters, *m->filter};
    op_selected selected;
    if (is_report(log)) return write_report(m, log, folder, err);
    taken all;
    devlog_status status = take(&all, log, err);
    if (status) {
        let_go(&all);
        return status;
    }
    char **paths = paths_of(&all);
    cli_page_asked page = cli_page_ask(paths, all.n, NULL, shown.filters, &shown.filter);
    status = cli_select(m->command, shown.filters, &shown.filter, paths, all.n, &selected, err);
    const dl_results_options how = {.filter = shown.filter,
                                    .check = cli_shown_check,
                                    .ctx = &shown,
                                    .answers = cli_page_answers,
                                    .answers_runs = cli_page_runs,
                                    .answers_ctx = &page,
                                    .page_intervals = DL_PAGE_SERVED,
                                    .also = paths + 1,
                                    .n_also = all.n - 1};
    if (!status) status = dl_results_make(log, folder, &how, NULL, err);
    cli_page_asked_free(&page);
    let_go(&all);
    op_selected_free(&selected);
    return status;
}

devlog_status serve_make_trace(void *ctx, const char *log, const char *folder, devlog_error *err)
{
    const serve_maker *m = ctx;
    cli_shown shown = {m->filters, *m->filter};
    op_selected selected = {0};
    taken all;
    char *path = dl_path_join(folder, SERVE_TRACE);
    devlog_status status = take(&all, log, err);
    if (!status && !path) status = dl_fail(err, DEVLOG_ERR_MEMORY, "out of memory");
    if (!status)
        status = cli_select(m->command, shown.filters, &shown.filter, paths_of(&all), all.n, &selected, err);
    if (!status) status = dl_folder_make(folder, err);
    if (!status)
        status =
            cli_trace_write(&(cli_trace){paths_of(&all), all.n, &shown, "perfetto", path, NULL}, NULL, err);
    op_selected_free(&selected);
    let_go(&all);
    free(path);
    return status;
}
