/* Two runs as one page. See diff_page.h. */
#include "cli/diff_page.h"

#include <stdlib.h>

#include "answers/diff_print.h"
#include "cli/page_answers.h"
#include "report/page_pair.h"
#include "report/view.h"

static const char *const sides[DIFF_SIDES] = {"old", "new"};

static const run_input *input_of(const diff_job *j, uint32_t side)
{
    for (size_t i = 0; i < j->in.n; i++)
        if (j->in.items[i].side == side) return &j->in.items[i];
    return NULL;
}

devlog_status cli_diff_page_check(const diff_job *j, devlog_error *err)
{
    size_t runs[DIFF_SIDES] = {0};
    for (size_t i = 0; i < j->in.n; i++)
        runs[j->in.items[i].side]++;
    for (uint32_t side = 0; side < DIFF_SIDES; side++) {
        const run_input *in = input_of(j, side);
        if (runs[side] != 1)
            return dl_fail(
                err, DEVLOG_ERR_ARGUMENT,
                "--page shows one run beside one other, and the %s side has %zu; give one of its runs",
                sides[side], runs[side]);
        if (!in->log)
            return dl_fail(err, DEVLOG_ERR_ARGUMENT,
                           "--page needs a device log of the %s run, and %s has none: give the run's folder, "
                           "or its log",
                           sides[side], in->name);
    }
    return DEVLOG_OK;
}

/* device_perf.html of a log, as `devlog decode` makes it. */
static devlog_status page_of(const char *log, dl_str *out, devlog_error *err)
{
    const dl_decode_options how = {.only_input = true};
    const dl_view_options viewing = {.most = DL_PAGE_INTERVALS, .cycles = true};
    const cli_filters none = {0};
    const dl_filter all = {0};
    char *logs[] = {(char *)log};
    cli_page_asked asked = cli_page_ask(logs, 1, NULL, &none, &all);
    dl_decode *d = NULL;
    dl_view *v = NULL;
    dl_str answers = {0};
    devlog_status status = dl_decode_new(&d, &how, err);
    if (!status) status = dl_view_new(&v, d, &viewing, err);
    if (!status) status = dl_decode_run_sink(d, dl_view_runs(v), err);
    if (!status) status = dl_decode_file(d, log, err);
    if (!status) status = dl_decode_finish(d, err);
    if (!status) status = dl_view_ready(v, err);
    asked.decode = d;
    if (!status) status = cli_page_answers(&asked, &answers, err);
    if (!status)
        status = dl_page_text(v, &(dl_page_options){.title = asked.title, .answers = answers.text}, out, err);
    cli_page_asked_free(&asked);
    dl_str_free(&answers);
    dl_view_free(v);
    dl_decode_free(d);
    return status;
}

static devlog_status put_together(const diff_job *j, const dl_str pages[DIFF_SIDES], dl_str *out,
                                  devlog_error *err)
{
    const diff_shown shown = {.d = &j->d, .gates = j->gates, .n_gates = j->n_gates};
    dl_str json = {0};
    diff_print_json(&shown, &json);
    devlog_status status = dl_str_status(&json, err);
    const dl_page_pair pair = {json.text, &pages[DIFF_OLD], &pages[DIFF_NEW]};
    if (!status) status = dl_page_pair_text(&pair, out, err);
    dl_str_free(&json);
    return status;
}

devlog_status cli_diff_page_write(const diff_job *j, const char *path, devlog_error *err)
{
    dl_str pages[DIFF_SIDES] = {{0}};
    dl_file_writer w;
    devlog_status status = DEVLOG_OK;
    for (uint32_t side = 0; side < DIFF_SIDES && !status; side++)
        status = page_of(input_of(j, side)->log, &pages[side], err);
    if (!status) status = dl_file_create(&w, path, err);
    if (!status) {
        status = put_together(j, pages, &w.buffer, err);
        if (status)
            dl_file_abandon(&w);
        else
            status = dl_file_commit(&w, err);
    }
    for (uint32_t side = 0; side < DIFF_SIDES; side++)
        dl_str_free(&pages[side]);
    return status;
}

/* A run with ops and one without have launches in common. */
static void same_kind(diff_job *j)
{
    bool all = true;
    for (size_t i = 0; i < j->in.n; i++)
        all &= j->in.items[i].report != NULL;
    for (size_t i = 0; i < j->in.n && !all; i++) {
        free(j->in.items[i].report);
        j->in.items[i].report = NULL;
    }
}

/* Both runs, with their reports where they have any. */
static devlog_status find_both(diff_job *j, const char *const paths[DIFF_SIDES], devlog_error *err)
{
    devlog_status status = diff_job_gates(j, NULL, 0, err);
    j->in.items = calloc(DIFF_SIDES, sizeof *j->in.items);
    if (!status && !j->in.items) status = dl_fail(err, DEVLOG_ERR_MEMORY, "out of memory");
    j->in.cap = j->in.items ? DIFF_SIDES : 0;
    for (uint32_t side = 0; side < DIFF_SIDES && !status; side++) {
        run_inputs one = {0};
        devlog_error why = {0}; /* there is no report: launches are compared */
        status = run_inputs_of_log(&one, paths[side], &why, err);
        if (!status && one.n == 1) {
            j->in.items[j->in.n] = one.items[0];
            j->in.items[j->in.n++].side = side;
            one.n = 0; /* it is the job's now */
        }
        run_inputs_free(&one);
    }
    return status;
}

devlog_status cli_diff_page_of(const char *const logs[DIFF_SIDES], const dl_str pages[DIFF_SIDES],
                               dl_str *out, devlog_error *err)
{
    static const diff_job_options how = {.confidence = 99.9};
    diff_job j = {0};
    devlog_status status = find_both(&j, logs, err);
    if (!status) status = cli_diff_page_check(&j, err);
    if (!status) same_kind(&j);
    if (!status) status = diff_job_run(&j, &how, "", err);
    if (!status) status = put_together(&j, pages, out, err);
    diff_job_free(&j);
    return status;
}

devlog_status cli_diff_text_of(const char *const paths[DIFF_SIDES], dl_str *out, devlog_error *err)
{
    static const diff_job_options how = {.confidence = 99.9};
    diff_job j = {0};
    devlog_status status = diff_job_gates(&j, NULL, 0, err);
    for (uint32_t side = 0; side < DIFF_SIDES && !status; side++)
        status = diff_job_add(&j, paths[side], side, err);
    if (!status) status = diff_job_run(&j, &how, "", err);
    if (!status && j.troubles.text && !j.troubles.failed) dl_str_add(out, j.troubles.text);
    if (!status) diff_print_text(&(diff_shown){.d = &j.d}, out);
    if (!status) status = dl_str_status(out, err);
    diff_job_free(&j);
    return status;
}
