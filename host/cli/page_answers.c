/* The answers that the page shows. See page_answers.h. */
#include "cli/page_answers.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "answers/answer_print.h"
#include "answers/causes_answer.h"
#include "answers/causes_job.h"
#include "answers/memory_answer.h"
#include "answers/report_job.h"
#include "answers/run_touched.h"
#include "cli/log_names.h"
#include "cli/page_causes.h"
#include "cli/page_grids.h"

enum {
    ROWS = 2000, /* of a table: more would only be scrolled over */
    MEMORY_STEPS = 200,
};

cli_page_asked cli_page_ask(char *const *logs, size_t n, const char *title, const cli_filters *f,
                            const dl_filter *filter)
{
    const char *slash = n ? strrchr(logs[0], '/') : NULL;
    if (!title && n) title = slash ? slash + 1 : logs[0];
    return (cli_page_asked){.logs = logs,
                            .n_logs = n,
                            .title = title,
                            .parts = run_has_parts(filter),
                            .all = !cli_filters_any(f),
                            .filter = *filter,
                            .selection = cli_selection_of(f, filter)};
}

static void key(const char *name, dl_str *out)
{
    dl_str_fmt(out, "%s\"%s\":", out->len > 1 ? ",\n" : "", name);
}

static void print(const answer *a, const char *kind, int version, const char *const *sections,
                  size_t n_sections, dl_str *out)
{
    answer_print_json(
        &(answer_shown){
            .a = a, .kind = kind, .version = version, .sections = sections, .n_sections = n_sections},
        out);
}

static devlog_status report(const report_job *r, dl_str *out, devlog_error *err)
{
    answer a = {0};
    answer_wishes w = report_job_wishes(r, &(report_options){.top = ROWS});
    devlog_status status = answer_make(&a, &r->run, &w, err);
    key("report", out);
    if (!status) print(&a, "report", REPORT_FORMAT_VERSION, NULL, 0, out);
    answer_free(&a);
    return status;
}

/* Ops put together in another way. */
static devlog_status ops_by(const report_job *r, const char *name, answer_group group, answer_sort sort,
                            dl_str *out, devlog_error *err)
{
    static const char *const section[] = {"op_statistics"};
    answer a;
    answer_wishes w = report_job_wishes(r, &(report_options){.top = ROWS});
    w.group = group;
    w.sort = sort;
    devlog_status status = answer_begin(&a, err);
    if (status) return status;
    a.cycles = r->run.cycles;
    if (!answer_add_ops(&a, &r->run, &w)) a.no_memory = true;
    status = answer_status(&a, err);
    key(name, out);
    if (!status) print(&a, "report", REPORT_FORMAT_VERSION, section, 1, out);
    answer_free(&a);
    return status;
}

/* Under which name each op of "by_op" stands in the table of another group. */
static devlog_status groups(const report_job *r, const char *name, answer_group group, dl_str *out,
                            devlog_error *err)
{
    answer a;
    devlog_status status = answer_begin(&a, err);
    if (status) return status;
    key(name, out);
    dl_str_char(out, '[');
    for (size_t i = 0; i < r->run.n_ops && i < ROWS; i++) {
        const char *text = answer_op_name(&a, &r->run, &r->run.ops[i], group);
        if (i) dl_str_char(out, ',');
        dl_str_json(out, text ? text : "", text ? strlen(text) : 0);
    }
    dl_str_char(out, ']');
    status = answer_status(&a, err);
    answer_free(&a);
    return status;
}

/* Steps and signposts with the number of the first op behind each: [[name, op], ...]. */
static void points(const report_job *r, dl_str *out)
{
    const op_table *t = r->run.table;
    bool any = false;
    key("points", out);
    dl_str_char(out, '[');
    for (size_t i = 0; i < r->run.n_points && i < ROWS; i++) {
        const op_table_row *point = &t->rows[r->run.points[i]];
        size_t k = r->run.points[i] + 1u;
        while (k < t->n && (t->rows[k].has & OP_IS_POINT))
            k++;
        if (k == t->n) continue;
        size_t n;
        const char *name = dl_intern_text(t->texts, point->code, &n);
        dl_str_add(out, any ? ",[" : "[");
        any = true;
        dl_str_json(out, name, n);
        dl_str_fmt(out, ",%llu]", (unsigned long long)t->rows[k].id);
    }
    dl_str_char(out, ']');
}

/* Where ops and launches are numbered apart, which op each launch is of: [[chip, launch, op], ...]. */
static devlog_status owners(const report_job *r, dl_str *out, devlog_error *err)
{
    launch_rows rows = {0};
    launch_key of;
    const op_table *t = r->run.table;
    bool good = true, any = false;
    for (size_t i = 0; i < t->n && good; i++) {
        const double *wide = t->wide[i].numbers;
        if (t->rows[i].has & OP_IS_POINT) continue;
        good = launch_rows_add(&rows, &t->rows[i], wide[OP_FW_START], wide[OP_FW_END], (uint32_t)i);
    }
    good = good && launch_rows_end(&rows, t);
    if (good && rows.apart) {
        key("owners", out);
        dl_str_char(out, '[');
        for (uint32_t i = 0; i < ROWS && run_log_launch(r->log, i, &of); i++) {
            const uint32_t row = launch_rows_find(&rows, &of);
            if (row == UINT32_MAX) continue;
            dl_str_fmt(out, "%s[%u,%llu,%llu]", any ? "," : "", of.chip, (unsigned long long)of.own,
                       (unsigned long long)t->rows[row].id);
            any = true;
        }
        dl_str_char(out, ']');
    }
    launch_rows_free(&rows);
    return good ? DEVLOG_OK : dl_fail(err, DEVLOG_ERR_MEMORY, "out of memory");
}

static devlog_status print_causes(const causes_reading *r, dl_str *out, devlog_error *err)
{
    answer a;
    devlog_status status = answer_begin(&a, err);
    if (status) return status;
    status = causes_answer(&a, &r->sums, ROWS, err);
    key("causes", out);
    if (!status) print(&a, "causes", CAUSES_FORMAT_VERSION, NULL, 0, out);
    answer_free(&a);
    key("causes_lines", out);
    return status ? status : cli_page_causes(r, out, err);
}

/* Of launches that are wanted, whole: a path goes over all RISCs, whichever are shown. */
static devlog_status why_it_waited(const report_job *r, const op_selection *selection, dl_str *out,
                                   devlog_error *err)
{
    causes_job j = {0};
    if (r->run.causes) return print_causes(&r->causes, out, err);
    if (!r->log || !run_log_has_waits(r->log)) return DEVLOG_OK;
    devlog_status status = causes_job_read(&j, r->in.items[0].log, selection, NULL, err);
    if (!status && j.reading.sums.n_launches) status = print_causes(&j.reading, out, err);
    causes_job_free(&j);
    return status;
}

/* Where the run's log of ops knows of buffers. */
static devlog_status memory(const char *log, dl_str *out, devlog_error *err)
{
    const memory_wishes wishes = {.top = ROWS, .steps = MEMORY_STEPS};
    char *folder = run_folder_of_log(NULL, log), *path = folder ? memory_log_in(folder) : NULL;
    devlog_status status = DEVLOG_OK;
    if (path && memory_log_has_buffers(path)) {
        memory_job j = {0};
        status = memory_job_read(&j, path, err);
        if (!status) status = memory_job_answer(&j, &wishes, err);
        if (!status) {
            key("memory", out);
            print(&j.a, "memory", MEMORY_FORMAT_VERSION, NULL, 0, out);
        }
        memory_job_free(&j);
    }
    free(path);
    free(folder);
    return status;
}

/* What is known of the run before its log is decoded, and why there is no more. */
struct cli_page_begun {
    report_job job;
    devlog_error why;    /* there is no report */
    devlog_error failed; /* there are no answers */
    devlog_status status;
    bool takes_runs; /* of the decoder: the log is not read again */
};

/* Whether the logs are one, with zones of host code of its run. */
static bool are_one_run(const cli_page_asked *asked)
{
    if (asked->n_logs == 1) return true;
    const bool of_host = asked->n_logs && run_is_host_log(asked->logs[0]);
    char *folder = of_host ? run_folder_of_log(NULL, asked->logs[0]) : NULL;
    bool all = asked->n_logs != 0;
    for (size_t i = 1; i < asked->n_logs && all; i++) {
        all = run_is_host_log(asked->logs[i]);
        char *its = all && folder ? run_folder_of_log(NULL, asked->logs[i]) : NULL;
        all = all && (folder    ? its && strcmp(its, folder) == 0
                      : of_host ? run_hosts_overlap(asked->logs[i], asked->logs[0])
                                : run_host_is_of(NULL, asked->logs[i], asked->logs[0]));
        free(its);
    }
    free(folder);
    return all;
}

/* Why the log cannot be read for them; NULL: it can be. */
static const char *not_read(const cli_page_asked *asked)
{
    struct stat st;
    return asked->once           ? "the log was still being written"
           : !are_one_run(asked) ? "it is of several logs"
           : stat(asked->logs[0], &st) != 0 || !S_ISREG(st.st_mode)
               ? "the log came through a pipe, which can be read once"
               : NULL;
}

/* Zones of host code that the page shows are those of the run. */
static devlog_status keep_hosts(run_input *in, const cli_page_asked *asked, devlog_error *err)
{
    if (asked->n_logs == 1 || in->n_hosts) return DEVLOG_OK;
    free(in->hosts);
    bool good = (in->hosts = calloc(asked->n_logs, sizeof *in->hosts)) != NULL;
    for (size_t i = 1; i < asked->n_logs && good; i++)
        good = (in->hosts[in->n_hosts++] = strdup(asked->logs[i])) != NULL;
    return good ? DEVLOG_OK : dl_fail(err, DEVLOG_ERR_MEMORY, "out of memory");
}

static struct cli_page_begun *find_run(const cli_page_asked *asked)
{
    struct cli_page_begun *b = calloc(1, sizeof *b);
    if (b) b->status = run_inputs_of_log(&b->job.in, asked->logs[0], &b->why, &b->failed);
    if (b && !b->status) b->status = keep_hosts(&b->job.in.items[0], asked, &b->failed);
    return b;
}

bool cli_page_runs(void *ctx, dl_decode *decode, dl_run_sink *out)
{
    cli_page_asked *asked = ctx;
    const report_options wanted = {.selection = &asked->selection};
    asked->decode = decode;
    /* Zones of host code would be among the runs. */
    if (!asked->all || asked->n_logs != 1 || asked->begun || not_read(asked)) return false;
    struct cli_page_begun *b = asked->begun = find_run(asked);
    if (!b || b->status) return false;
    b->status = report_job_begin(&b->job, &wanted, decode, &b->takes_runs, &b->failed);
    if (b->status || !b->takes_runs) return false;
    *out = report_job_runs(&b->job);
    return true;
}

void cli_page_asked_free(cli_page_asked *asked)
{
    if (!asked->begun) return;
    report_job_free(&asked->begun->job);
    free(asked->begun);
    asked->begun = NULL;
}

/* Whether ops say who called. */
static bool has_stacks(const report_job *r)
{
    for (size_t i = 0; i < r->run.n_ops; i++)
        if (*answer_wide_text(&r->run, &r->run.ops[i], OP_STACK)) return true;
    return false;
}

static devlog_status answers(const cli_page_asked *asked, report_job *r, dl_str *out, devlog_error *err)
{
    /* Answers are of launches: of those in which something gets past the filters. */
    op_selection selection = asked->selection, of_log = selection;
    run_touched touched = {0};
    const report_options wanted = {.selection = &selection,
                                   .touched = asked->parts ? &touched : NULL,
                                   .parts = asked->parts ? &asked->filter : NULL};
    devlog_status status = DEVLOG_OK;
    if (asked->parts) {
        status = run_touched_read(&touched, asked->logs[0], &asked->filter, err);
        of_log.filter.picks = true;
        of_log.filter.picked = touched.ids;
        of_log.filter.n_picked = touched.n_ids;
        of_log.filter.launches = touched.launches;
        of_log.filter.n_launches = touched.n_launches;
        /* These are left out already. */
        selection.filter.n_launches = 0;
        selection.filter.skip_launches = of_log.filter.skip_launches = 0;
    }
    if (!status) status = report_job_read(r, &wanted, "", err);
    r->run.name = asked->title; /* not where it lies: the same log gives the same page */
    if (!status) status = report(r, out, err);
    if (!status) status = ops_by(r, "by_shape", GROUP_SHAPE, SORT_TIME, out, err);
    if (!status) status = ops_by(r, "by_category", GROUP_CATEGORY, SORT_TIME, out, err);
    if (!status) status = ops_by(r, "by_op", GROUP_NONE, SORT_ORDER, out, err);
    if (!status) status = groups(r, "groups_shape", GROUP_SHAPE, out, err);
    if (!status) status = groups(r, "groups_category", GROUP_CATEGORY, out, err);
    if (!status && has_stacks(r)) {
        status = ops_by(r, "by_stack", GROUP_STACK, SORT_TIME, out, err);
        if (!status) status = groups(r, "groups_stack", GROUP_STACK, out, err);
    }
    if (!status && r->run.has_report && r->log) status = owners(r, out, err);
    if (!status) {
        points(r, out);
        key("made", out);
        dl_str_add(out, r->run.has_report ? "false" : "true");
    }
    if (!status) status = why_it_waited(r, &of_log, out, err);
    if (!status) status = memory(asked->logs[0], out, err);
    run_touched_free(&touched);
    return status;
}

/* What is said of the log, without the folder that it lies in. */
static const char *without_folder(const cli_page_asked *asked, const char *text)
{
    const char *log = asked->logs[0], *slash = strrchr(log, '/');
    const size_t n = slash ? (size_t)(slash - log) + 1 : 0;
    return strncmp(text, log, n) == 0 ? text + n : text;
}

static void note(bool *any, const char *before, const char *text, dl_str *out)
{
    dl_str line = {0};
    dl_str_fmt(&line, "%s%s", before, text);
    if (*any) dl_str_char(out, ',');
    *any = true;
    dl_str_json(out, line.text ? line.text : "", line.len);
    dl_str_free(&line);
}

devlog_status cli_page_answers(void *ctx, dl_str *out, devlog_error *err)
{
    cli_page_asked *asked = ctx;
    const char *unread = asked->begun ? NULL : not_read(asked);
    dl_str text = {0};
    bool any = false;
    if (!unread && !asked->begun) asked->begun = find_run(asked);
    if (!unread && !asked->begun) return dl_fail(err, DEVLOG_ERR_MEMORY, "out of memory");
    struct cli_page_begun *b = asked->begun;
    dl_str_char(&text, '{');
    /* A run that cannot be answered has its time line all the same, and says why it has no more. */
    if (!unread && !b->status) b->status = answers(asked, &b->job, &text, &b->failed);
    const bool bad = !unread && b->status;
    if (bad) {
        dl_str_clear(&text);
        dl_str_char(&text, '{');
    }
    dl_str grids = {0};
    if (asked->decode) cli_page_grids(asked->decode, &grids);
    if (grids.len) {
        key("grids", &text);
        dl_str_add_n(&text, grids.text, grids.len);
    }
    dl_str_free(&grids);
    key("notes", &text);
    dl_str_char(&text, '[');
    if (unread) note(&any, "What devlog report says of a run is not in this page: ", unread, &text);
    if (bad)
        note(&any,
             "What devlog report says of a run is not in this page: ", without_folder(asked, b->failed.text),
             &text);
    if (!unread && !bad && b->why.status)
        note(&any, "The ops of this run are not in this page: ", without_folder(asked, b->why.text), &text);
    if (asked->parts && !unread && !bad)
        note(
            &any, "",
            "Filters by core, RISC, zone and time: ops are those in which something got past the filters, and their times are of "
            "whole launches; so are causes. Zones, their statistics and the time line are of what got past.",
            &text);
    dl_str_add(&text, "]}");
    cli_page_asked_free(asked); /* before the decoder, beside which it may have been made */
    const devlog_status status = dl_str_status(&text, err);
    if (!status) dl_str_add_n(out, text.text, text.len);
    dl_str_free(&text);
    return status;
}
