/* The figures of a run, as devlog report works them out. Not for keeping them (store.c). */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "answers/medians.h"
#include "answers/report_job.h"
#include "archive/archive.h"

static devlog_status no_memory(devlog_error *err)
{
    return dl_fail(err, DEVLOG_ERR_MEMORY, "out of memory");
}

void archive_run_free(archive_run *run)
{
    for (size_t i = 0; i < run->n_figures; i++) {
        free(run->figures[i].kind);
        free(run->figures[i].name);
        free(run->figures[i].unit);
    }
    for (size_t i = 0; i < run->n_files; i++) {
        free(run->files[i].name);
        free(run->files[i].path);
    }
    free(run->figures);
    free(run->files);
    free(run->commit);
    free(run->board);
    free(run->host);
    free(run->name);
    free(run->labels);
    run_inputs_free(&run->in);
    *run = (archive_run){0};
}

static bool add(archive_run *run, const char *kind, const char *name, const char *unit, archive_figure f)
{
    if ((run->n_figures & (run->n_figures - 1)) == 0) {
        archive_figure *grown =
            realloc(run->figures, (run->n_figures ? run->n_figures * 2 : 1) * sizeof *grown);
        if (!grown) return false;
        run->figures = grown;
    }
    f.kind = strdup(kind);
    f.name = strdup(name);
    f.unit = strdup(unit);
    run->figures[run->n_figures++] = f;
    return f.kind && f.name && f.unit;
}

static size_t column(const answer_section *s, const char *key)
{
    for (size_t i = 0; i < s->n_columns; i++)
        if (strcmp(s->columns[i].key, key) == 0) return i;
    return SIZE_MAX;
}

static double number(const answer_section *s, size_t row, size_t of)
{
    const answer_cell *c = of == SIZE_MAX ? NULL : &s->cells[row * s->n_columns + of];
    return c && c->known ? c->number : NAN;
}

/* Rows of a table whose first column is the name; of zones with the same name and another RISC the RISC is part of it. */
static bool add_table(archive_run *run, const answer *a, const char *section, const char *kind,
                      const char *total)
{
    const answer_section *s = answer_find(a, section);
    if (!s) return true;
    const size_t at = column(s, total), count = column(s, "count"), least = column(s, "min"),
                 most = column(s, "max"), risc = column(s, "risc");
    bool good = true;
    for (size_t i = 0; i < answer_rows(s) && good; i++) {
        const answer_cell *row = &s->cells[i * s->n_columns];
        const double sum = number(s, i, at), n = number(s, i, count);
        if (!row[0].known || !(n > 0) || !isfinite(sum)) continue;
        dl_str name = {0};
        if (risc != SIZE_MAX && row[risc].known) dl_str_fmt(&name, "%s ", row[risc].text);
        dl_str_add(&name, row[0].text);
        good = !name.failed && add(run, kind, name.text, a->cycles ? "cycles" : "ns",
                                   (archive_figure){.value = sum / n,
                                                    .median = NAN,
                                                    .count = n,
                                                    .least = number(s, i, least),
                                                    .most = number(s, i, most),
                                                    .total = sum});
        dl_str_free(&name);
    }
    return good;
}

static bool add_whole(archive_run *run, const answer *a)
{
    static const char *const wanted[] = {"wall", "busy", "gaps", "ops_time", "host_time"};
    const answer_section *s = answer_find(a, "verdict");
    bool good = true;
    for (size_t i = 0; s && i < answer_rows(s) && good; i++) {
        const answer_cell *row = &s->cells[i * s->n_columns];
        for (size_t k = 0; k < sizeof wanted / sizeof wanted[0] && good; k++)
            if (strcmp(row[0].text, wanted[k]) == 0 && row[2].known && row[2].unit == ANSWER_TIME)
                good = add(run, "run", wanted[k], a->cycles ? "cycles" : "ns",
                           (archive_figure){.value = row[2].number,
                                            .median = row[2].number,
                                            .count = 1,
                                            .least = NAN,
                                            .most = NAN,
                                            .total = NAN});
    }
    return good;
}

static bool add_file(archive_run *run, const char *path, const char *name)
{
    struct stat st;
    archive_file *grown = realloc(run->files, (run->n_files + 1) * sizeof *grown);
    if (!grown) return false;
    run->files = grown;
    grown[run->n_files] = (archive_file){.name = strdup(name), .path = strdup(path)};
    if (!run->date && stat(path, &st) == 0) run->date = (int64_t)st.st_mtime;
    return grown[run->n_files].name && grown[run->n_files++].path;
}

static int by_kind_and_name(const void *a, const void *b)
{
    const archive_figure *const *x = a, *const *y = b;
    const int kinds = strcmp((*x)->kind, (*y)->kind);
    return kinds ? kinds : strcmp((*x)->name, (*y)->name);
}

/* Rows of a table with one name are one figure, and its median is of all of them. */
static bool set_medians(archive_run *run, const run_medians *ops, const run_medians *zones)
{
    archive_figure **all = malloc((run->n_figures + 1) * sizeof(archive_figure *));
    if (!all) return false;
    for (size_t i = 0; i < run->n_figures; i++)
        all[i] = &run->figures[i];
    qsort(all, run->n_figures, sizeof(archive_figure *), by_kind_and_name);
    for (size_t i = 0, end; i < run->n_figures; i = end) {
        double count = 0, total = 0;
        for (end = i; end < run->n_figures && by_kind_and_name(&all[i], &all[end]) == 0; end++) {
            count += all[end]->count;
            total += all[end]->total;
        }
        if (strcmp(all[i]->kind, "run") == 0) continue;
        const run_medians *m = strcmp(all[i]->kind, "op") == 0 ? ops : zones;
        for (size_t k = i; k < end; k++)
            all[k]->median = run_median_of(m, all[k]->name, count, total);
    }
    free(all);
    return true;
}

static devlog_status find_medians(archive_run *run, report_job *j, devlog_error *err)
{
    run_medians ops = {0}, zones = {0};
    devlog_status status = run_medians_of_ops(j, &ops, err);
    if (!status) status = run_medians_of_zones(j, &zones, err);
    if (!status && !set_medians(run, &ops, &zones)) status = no_memory(err);
    run_medians_free(&ops);
    run_medians_free(&zones);
    return status;
}

devlog_status archive_read_run(archive_run *run, const char *path, devlog_error *err)
{
    report_job j = {0};
    const op_selection everything = {0};
    const report_options o = {.selection = &everything, .group = GROUP_SHAPE};
    devlog_status status = report_job_run(&j, path, &o, "", err);
    if (!status) {
        const run_input *in = &j.in.items[0];
        const char *slash = in->log ? strrchr(in->log, '/') : NULL;
        bool good = add_whole(run, &j.a) && add_table(run, &j.a, "op_statistics", "op", "total") &&
                    add_table(run, &j.a, "zones", "zone", "total");
        if (good && in->log) good = add_file(run, in->log, slash ? slash + 1 : in->log);
        if (good && in->report) good = add_file(run, in->report, "ops_perf_results.csv");
        if (j.run.n_chips && *j.run.chips[0].arch) {
            run->board = strdup(j.run.chips[0].arch);
            good &= run->board != NULL;
        }
        run->lost = j.lost;
        status = good ? find_medians(run, &j, err) : no_memory(err);
        /* A report that was made lies in a folder that goes with its inputs. */
        run->in = j.in;
        j.in = (run_inputs){0};
    }
    report_job_free(&j);
    if (!status && !run->n_figures)
        return dl_fail(err, DEVLOG_ERR_NOT_FOUND,
                       "%s: nothing in it took time on a device, so there is nothing to keep", path);
    return status;
}
