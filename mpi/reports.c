/* devlog-mpi ops and report: folders of ranks, whose reports are found, or made, by all ranks of MPI at once; what follows from them
 * is rank 0's. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/file.h"
#include "base/settings.h"
#include "cli/cli.h"
#include "cli/cmd_mpi.h"
#include "cli/ranks_job.h"
#include "decode/wire.h"
#include "mpi_commands.h"
#include "ranks/ranks.h"

/* Rank 0. */
typedef struct reports {
    team *r;
    bool shared; /* the others have been told what to do */
    rank_found *found;
    size_t n;
    char *folder; /* of reports that others have made; NULL: none */
} reports;

/* ---- A folder's report as bytes --------------------------------------------------------------------------- */

static void wire_string(dl_wire *w, char **text)
{
    const char *bytes = *text ? *text : "";
    size_t n = strlen(bytes);
    dl_wire_bytes(w, &bytes, &n);
    if (!dl_wire_reads(w)) return;
    *text = w->bad || memchr(bytes, 0, n) ? NULL : strndup(bytes, n);
    if (!*text) w->bad = true;
}

/* What one folder came to; `made`: the text of a report that is in no file that others can read. */
static void wire_found(dl_wire *w, rank_found *f, bool *made, const char **text, size_t *n)
{
    uint32_t status = (uint32_t)f->status;
    dl_wire_below(w, &status, DEVLOG_ERR_PARTIAL + 1);
    f->status = (devlog_status)status;
    wire_string(w, &f->why);
    wire_string(w, &f->name);
    dl_wire_flag(w, &f->incomplete);
    dl_wire_flag(w, made);
    dl_wire_bytes(w, text, n);
}

static bool read_whole(const char *path, dl_str *text)
{
    char piece[65536];
    FILE *f = fopen(path, "rb");
    if (!f) return false;
    for (size_t n; (n = fread(piece, 1, sizeof piece, f)) > 0;)
        dl_str_add_n(text, piece, n);
    const bool ok = !ferror(f) && !text->failed;
    fclose(f);
    return ok;
}

/* Finds the report of a folder, or makes it. */
static void find_one(const char *folder, uint32_t number, dl_wire *out)
{
    ranks one = {0};
    rank_entry e = {.number = number, .folder = strdup(folder)};
    devlog_error err = {0};
    dl_str text = {0};
    rank_found found = {.status = e.folder ? ranks_find_report(&one, &e, &err)
                                           : dl_fail(&err, DEVLOG_ERR_MEMORY, "out of memory")};
    bool made = !found.status && one.inputs.n && one.inputs.items[0].temporary;
    if (made && !read_whole(e.report, &text))
        found.status = dl_fail_errno(&err, errno, "cannot read %s", e.report);
    found.why = err.text;
    found.name = e.report;
    found.incomplete = e.incomplete;
    const char *bytes = text.text ? text.text : "";
    size_t n = text.len;
    wire_found(out, &found, &made, &bytes, &n);
    free(e.folder);
    free(e.report);
    ranks_free(&one);
    dl_str_free(&text);
}

/* ---- Rank 0 ---------------------------------------------------------------------------------------------- */

static devlog_status no_memory(devlog_error *err)
{
    return dl_fail(err, DEVLOG_ERR_MEMORY, "out of memory");
}

static devlog_status write_made(reports *j, size_t i, const char *text, size_t n, devlog_error *err)
{
    rank_found *f = &j->found[i];
    const char *tmp = dl_setting_text(DL_SET_TMPDIR);
    if (!j->folder) {
        if (asprintf(&j->folder, "%s/devlog-mpi.XXXXXX", tmp ? tmp : "/tmp") < 0) return no_memory(err);
        if (!mkdtemp(j->folder))
            return dl_fail_errno(err, errno, "cannot make a folder in %s", tmp ? tmp : "/tmp");
    }
    if (asprintf(&f->report, "%s/%zu.csv", j->folder, i) < 0) return no_memory(err);
    FILE *out = fopen(f->report, "wb");
    const bool ok = out && fwrite(text, 1, n, out) == n;
    const int errnum = errno;
    if (out && fclose(out) == 0 && ok) return DEVLOG_OK;
    return dl_fail_errno(err, errnum, "cannot write %s", f->report);
}

static devlog_status hear_found(reports *j, size_t i, dl_wire *w, devlog_error *err)
{
    rank_found *f = &j->found[i];
    const char *text = NULL;
    size_t n = 0;
    bool made = false;
    wire_found(w, f, &made, &text, &n);
    if (w->bad) return dl_fail(err, DEVLOG_ERR_FORMAT, "what another rank found is damaged");
    if (f->status) return DEVLOG_OK;
    if (made) return write_made(j, i, text, n, err);
    f->report = strdup(f->name);
    return f->report ? DEVLOG_OK : no_memory(err);
}

/* Entry i is of rank i % n. */
static devlog_status share(void *ctx, ranks *r, devlog_error *err)
{
    reports *j = ctx;
    dl_str said = {0}, *all = calloc((size_t)j->r->n, sizeof *all);
    dl_wire w = {.out = &said};
    uint32_t n = (uint32_t)r->n;
    devlog_status status = DEVLOG_OK;
    j->found = calloc(r->n + 1, sizeof *j->found);
    if (!all || !j->found) team_die(j->r, "out of memory");
    j->n = r->n;
    dl_wire_u32(&w, &n);
    for (size_t i = 0; i < r->n; i++) {
        uint32_t number = r->items[i].number;
        dl_wire_u32(&w, &number);
        wire_string(&w, &r->items[i].folder);
    }
    if (said.failed) team_die(j->r, "out of memory");
    team_tell(j->r, &said);
    j->shared = true;
    dl_str_clear(&said);
    for (size_t i = 0; i < r->n; i += (size_t)j->r->n)
        find_one(r->items[i].folder, r->items[i].number, &w);
    if (said.failed) team_die(j->r, "out of memory");
    team_collect(j->r, &said, all);
    for (int rank = 0; rank < j->r->n; rank++) {
        dl_wire in = {.at = (const uint8_t *)all[rank].text,
                      .end = (const uint8_t *)all[rank].text + all[rank].len};
        for (size_t i = (size_t)rank; i < r->n && !status; i += (size_t)j->r->n) {
            status = hear_found(j, i, &in, err);
            r->items[i].found = &j->found[i];
        }
        dl_str_free(&all[rank]);
    }
    free(all);
    dl_str_free(&said);
    return status;
}

static void forget(reports *j)
{
    for (size_t i = 0; i < j->n; i++) {
        if (j->folder && j->found[i].report) {
            const size_t n = strlen(j->folder);
            if (strncmp(j->found[i].report, j->folder, n) == 0) unlink(j->found[i].report);
        }
        free(j->found[i].why);
        free(j->found[i].report);
        free(j->found[i].name);
    }
    if (j->folder) rmdir(j->folder);
    free(j->folder);
    free(j->found);
}

/* ---- The others ------------------------------------------------------------------------------------------ */

static void serve(team *r)
{
    dl_str said = {0}, found = {0};
    uint32_t n = 0;
    team_tell(r, &said);
    dl_wire w = {.at = (const uint8_t *)said.text, .end = (const uint8_t *)said.text + said.len},
            out = {.out = &found};
    dl_wire_count(&w, &n, RANKS_MOST, 2);
    for (uint32_t i = 0; i < n; i++) {
        uint32_t number = 0;
        char *folder = NULL;
        dl_wire_u32(&w, &number);
        wire_string(&w, &folder);
        if (w.bad) team_die(r, "what rank 0 said is damaged");
        if (i % (uint32_t)r->n == (uint32_t)r->rank) find_one(folder, number, &out);
        free(folder);
    }
    if (found.failed) team_die(r, "out of memory");
    if (n) team_collect(r, &found, NULL);
    dl_str_free(&said);
    dl_str_free(&found);
}

/* ---- The commands ---------------------------------------------------------------------------------------- */

static int run(team *r, const cli_command *command, cli_mpi_ranks *a, const cli_args *rest)
{
    reports j = {.r = r};
    dl_str merge = {0};
    devlog_error err = {0};
    const bool ops = command == &cmd_mpi_ops;
    if (ops)
        dl_str_fmt(&merge, "%s/ops_perf_results%s%s.csv", a->output, a->suffix ? "_" : "",
                   a->suffix ? a->suffix : "");
    cli_ranks how = {.command = command->name,
                     .top = a->top,
                     .format = a->format,
                     .plain = true,
                     .find = share,
                     .ctx = &j};
    if (ops) how.merge = merge.text;
    if (!ops) how.output = a->output;
    if (!ops) how.tables = &a->tables;
    int exit_status = CLI_FAILED;
    devlog_status status = dl_str_status(&merge, &err);
    if (!status && ops) status = dl_folder_make(a->output, &err);
    if (status)
        fprintf(stderr, "devlog-mpi %s: %s\n", command->name, err.text);
    else
        exit_status = cli_ranks_run(&how, rest);
    if (!j.shared) { /* nothing is to be done */
        dl_str none = {0};
        dl_wire w = {.out = &none};
        dl_wire_u32(&w, &(uint32_t){0});
        team_tell(r, &none);
        dl_str_free(&none);
    }
    forget(&j);
    dl_str_free(&merge);
    return exit_status;
}

static int command(team *r, const cli_command *c, int argc, char **argv)
{
    cli_mpi_ranks a = {.top = UINT64_MAX};
    cli_args rest;
    int exit_status = CLI_OK;
    if (c == &cmd_mpi_ops) a.output = "generated/profiler/output/ops";
    if (r->rank) {
        serve(r);
        return CLI_OK;
    }
    if (!cli_parse(c, argc, argv, &a, &rest, &exit_status)) {
        dl_str none = {0};
        dl_str_char(&none, 0); /* no folders */
        team_tell(r, &none);
        dl_str_free(&none);
        return exit_status;
    }
    exit_status = run(r, c, &a, &rest);
    cli_args_free(&rest);
    return exit_status;
}

int mpi_ops(team *r, int argc, char **argv)
{
    return command(r, &cmd_mpi_ops, argc, argv);
}

int mpi_report(team *r, int argc, char **argv)
{
    return command(r, &cmd_mpi_report, argc, argv);
}
