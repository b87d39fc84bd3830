/* Artifacts: the table of files, their names, and who gets the runs. */
#include "report/artifacts.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/room.h"
#include "decode/pipeline.h"
#include "report/bundle.h"
#include "report/page.h"
#include "report/rearranged.h"
#include "report/stats.h"

static const dl_artifact *const table[DL_ARTIFACT_KINDS] = {
    [DL_ARTIFACT_STATS] = &dl_artifact_stats,
    [DL_ARTIFACT_REARRANGED] = &dl_artifact_rearranged,
    [DL_ARTIFACT_PAGE] = &dl_artifact_page,
};

/* Those of the table, the analyzer and the page's answers. */
enum { MAX_SINKS = DL_ARTIFACT_KINDS + 2 };

static const char tar_name[] = "device_perf_results.tar";

/* What an artifact makes beside the others. */
typedef struct making {
    dl_artifacts *set;
    size_t kind;
    bool apart; /* on a thread, which has not been waited for */
    pthread_t thread;
    devlog_status status;
    devlog_error err;
} making;

struct dl_artifacts {
    dl_decode *decode;
    dl_artifacts_options options;
    void *states[DL_ARTIFACT_KINDS];
    dl_run_sink sinks[MAX_SINKS];
    size_t n_sinks;
    char *paths[DL_ARTIFACT_KINDS + 2]; /* written; the last is NULL */
    size_t n_paths;
    char note[256]; /* dl_artifacts_say */
    making made[DL_ARTIFACT_KINDS];
    size_t table;    /* which of the files the rearranged table is */
    uint64_t tar_at; /* where it is in the tar */
};

static devlog_status hand_runs(void *ctx, const dl_run *runs, size_t n, devlog_error *err)
{
    dl_artifacts *set = ctx;
    devlog_status status = DEVLOG_OK;
    for (size_t i = 0; i < set->n_sinks && !status; i++)
        status = set->sinks[i].runs(set->sinks[i].ctx, runs, n, err);
    return status;
}

static bool marks_of(const void *ctx, uint32_t stream, const dl_kind *kind)
{
    const dl_artifacts *set = ctx;
    for (size_t i = 0; i < set->n_sinks; i++)
        if (dl_run_sink_wants(&set->sinks[i], stream, kind)) return true;
    return false;
}

const char *dl_artifacts_note(const dl_artifacts *set)
{
    return set->note[0] ? set->note : NULL;
}

void dl_artifacts_say(dl_artifacts *set, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    vsnprintf(set->note, sizeof set->note, fmt, args);
    va_end(args);
}

const dl_artifacts_options *dl_artifacts_get(const dl_artifacts *set)
{
    return &set->options;
}

dl_decode *dl_artifacts_decode(dl_artifacts *set)
{
    return set->decode;
}

devlog_status dl_artifacts_runs(dl_artifacts *set, dl_run_sink sink, devlog_error *err)
{
    dl_run_sink all = {.ctx = set, .runs = hand_runs, .apart = true, .marks_of = marks_of};
    if (set->n_sinks == MAX_SINKS) return dl_fail(err, DEVLOG_ERR_ARGUMENT, "too many consumers of runs");
    set->sinks[set->n_sinks++] = sink;
    size_t n_lists = 0;
    const _Atomic uint32_t *none = NULL;
    bool items = true;
    for (size_t i = 0; i < set->n_sinks; i++) {
        const dl_run_sink *one = &set->sinks[i];
        all.wants |= one->wants;
        all.apart = all.apart && one->apart;
        if (!(one->wants & DL_WANT_EVENTS)) continue;
        items = items && one->wants & DL_WANT_ITEMS;
        all.sums |= one->sums;
        if (one->sums)
            none = one->events_end;
        else
            all.events_end = n_lists++ ? NULL : one->events_end;
    }
    if (!n_lists) all.events_end = none;
    if (!items) all.wants &= ~(unsigned)DL_WANT_ITEMS;
    return dl_decode_run_sink(set->decode, all, err);
}

devlog_status dl_artifacts_new(dl_artifacts **out, dl_decode *decode, const dl_artifacts_options *options,
                               devlog_error *err)
{
    dl_artifacts *set = calloc(1, sizeof *set);
    if (!set) return dl_fail(err, DEVLOG_ERR_MEMORY, "out of memory");
    set->decode = decode;
    set->options = *options;
    devlog_status status = DEVLOG_OK;
    if (options->analyzer) status = dl_artifacts_runs(set, dl_analyzer_sink(options->analyzer), err);
    for (size_t i = 0; i < DL_ARTIFACT_KINDS && !status; i++)
        if (options->wanted[i] && table[i]->begin) status = table[i]->begin(set, &set->states[i], err);
    if (status) {
        dl_artifacts_free(set);
        return status;
    }
    *out = set;
    return DEVLOG_OK;
}

dl_analyzer *dl_artifacts_analyzer(const dl_artifacts *set)
{
    return set->options.analyzer;
}

dl_stamps *dl_artifacts_stamps(const dl_artifacts *set)
{
    const void *state = set->states[DL_ARTIFACT_REARRANGED];
    return state ? dl_rearranged_stamps(state) : NULL;
}

static void *make(void *ctx)
{
    making *m = ctx;
    m->status = table[m->kind]->make(m->set, m->set->states[m->kind], &m->err);
    return NULL;
}

static void wait_for(making *m)
{
    if (m->apart) pthread_join(m->thread, NULL);
    m->apart = false;
}

static devlog_status begin_making(dl_artifacts *set, size_t kind, devlog_error *err)
{
    making *m = &set->made[kind];
    devlog_status status = table[kind]->ready ? table[kind]->ready(set->states[kind], err) : DEVLOG_OK;
    if (status || !table[kind]->make) return status;
    *m = (making){.set = set, .kind = kind};
    m->apart = dl_pipeline_processors() > 1 && pthread_create(&m->thread, NULL, make, m) == 0;
    if (!m->apart) make(m);
    return DEVLOG_OK;
}

devlog_status dl_artifacts_finish(dl_artifacts *set, devlog_error *err)
{
    devlog_status status = DEVLOG_OK;
    for (size_t i = 0; i < DL_ARTIFACT_KINDS && !status; i++)
        if (set->options.wanted[i]) status = begin_making(set, i, err);
    return status || !set->options.analyzer ? status : dl_analyzer_finish(set->options.analyzer, err);
}

void dl_artifacts_free(dl_artifacts *set)
{
    if (!set) return;
    for (size_t i = 0; i < DL_ARTIFACT_KINDS; i++)
        wait_for(&set->made[i]);
    for (size_t i = 0; i < DL_ARTIFACT_KINDS; i++)
        if (set->states[i] && table[i]->free) table[i]->free(set->states[i]);
    for (size_t i = 0; i < set->n_paths; i++)
        free(set->paths[i]);
    free(set);
}

const char *dl_artifacts_path(const dl_artifacts *set, size_t i)
{
    return i < set->n_paths ? set->paths[i] : NULL;
}

/* folder/PREFIXname_SUFFIX.extension; NULL when out of memory. */
static char *path_of(const dl_artifacts *set, const char *file)
{
    const dl_artifacts_options *o = &set->options;
    const char *dot = strrchr(file, '.');
    dl_str name = {0};
    if (o->prefix) dl_str_add(&name, o->prefix);
    dl_str_add_n(&name, file, dot ? (size_t)(dot - file) : strlen(file));
    if (o->suffix) dl_str_fmt(&name, "_%s", o->suffix);
    if (dot) dl_str_add(&name, dot);
    char *path = name.failed ? NULL : dl_path_join(o->folder, name.text);
    dl_str_free(&name);
    return path;
}

/* Writes a file, and into the tar when there is one. */
static devlog_status write_file(dl_artifacts *set, size_t kind, dl_bundle *tar, dl_file_set *files,
                                devlog_error *err)
{
    char *path = path_of(set, table[kind]->file);
    if (!path) return dl_fail(err, DEVLOG_ERR_MEMORY, "out of memory");
    const char *slash = strrchr(path, '/');
    dl_file_writer out;
    devlog_status status = dl_file_create(&out, path, err);
    if (!status) {
        if (tar->out) status = dl_bundle_begin(tar, slash ? slash + 1 : path, err);
        out.copy = tar->out;
        if (kind == DL_ARTIFACT_REARRANGED) {
            set->table = files->n;
            set->tar_at = tar->out ? dl_file_written(tar->out) : 0;
        }
        wait_for(&set->made[kind]);
        if (!status && set->made[kind].status) {
            status = set->made[kind].status;
            if (err) *err = set->made[kind].err;
        }
        if (!status) status = table[kind]->write(set, set->states[kind], &out, err);
        if (status)
            dl_file_abandon(&out);
        else
            status = dl_file_set_take(files, &out, err);
        if (!status && tar->out) dl_bundle_end(tar);
    }
    if (status)
        free(path);
    else
        set->paths[set->n_paths++] = path;
    return status;
}

static devlog_status create_tar(dl_artifacts *set, char **path, dl_file_writer *out, devlog_error *err)
{
    *path = path_of(set, tar_name);
    return *path ? dl_file_create(out, *path, err) : dl_fail(err, DEVLOG_ERR_MEMORY, "out of memory");
}

static devlog_status end_tar(dl_artifacts *set, char **path, dl_bundle *tar, dl_file_set *files,
                             devlog_error *err)
{
    dl_bundle_close(tar);
    devlog_status status = dl_file_set_take(files, tar->out, err);
    if (status) return status;
    set->paths[set->n_paths++] = *path;
    *path = NULL;
    return DEVLOG_OK;
}

devlog_status dl_artifacts_room(const dl_artifacts *set, double part, devlog_error *err)
{
    uint64_t all = 0, largest = 0;
    enum { LITTLE = 1000 * 1000 }; /* bytes: whether there is room for so few shows when they are written */
    if (!(part > 0)) return DEVLOG_OK;
    for (size_t i = 0; i < DL_ARTIFACT_KINDS; i++) {
        if (!set->options.wanted[i] || !table[i]->bytes) continue;
        const uint64_t bytes = (uint64_t)((double)table[i]->bytes(set->states[i]) / part);
        all += bytes;
        if (bytes > largest) largest = bytes;
    }
    if (set->options.tar) { /* all of them once more */
        largest = all;
        all *= 2;
    }
    if (all < LITTLE) return DEVLOG_OK;
    devlog_status status = dl_room_check(set->options.folder, all, largest, err);
    if (!status) return status;
    char what[sizeof err->text];
    snprintf(what, sizeof what, "%.400s", err->text);
    return dl_fail(err, status, "%s: make room, write elsewhere (--output), or less (%s--no-files)", what,
                   set->options.tar                              ? "--no-tar, --no-rearranged, "
                   : set->options.wanted[DL_ARTIFACT_REARRANGED] ? "--no-rearranged, "
                                                                 : "");
}

/* What other processes have of the rearranged table. */
static devlog_status write_far(const dl_artifacts *set, const dl_file_set *files, devlog_error *err)
{
    const dl_artifacts_far *far = set->options.far;
    if (!far || !set->options.wanted[DL_ARTIFACT_REARRANGED]) return DEVLOG_OK;
    const dl_file_writer *csv = &files->files[set->table], *tar = &files->files[files->n - 1];
    if (!csv->temporary || !tar->temporary)
        return dl_fail(err, DEVLOG_ERR_ARGUMENT, "%s: no file, so ranks cannot write it together",
                       csv->temporary ? tar->path : csv->path);
    return far->write(far->ctx, csv->temporary, set->options.tar ? tar->temporary : NULL, set->tar_at, err);
}

devlog_status dl_artifacts_write(dl_artifacts *set, devlog_error *err)
{
    const char *folder = set->options.folder;
    bool any = false, has_tar = set->options.tar;
    dl_file_set files = {0};
    dl_file_writer tar = {.fd = -1};
    dl_bundle bundle = {.out = has_tar ? &tar : NULL};
    char *tar_path = NULL;
    for (size_t i = 0; i < DL_ARTIFACT_KINDS; i++)
        any |= set->options.wanted[i];
    if (!any) return DEVLOG_OK;
    size_t there = dl_folder_there(folder);
    devlog_status status = dl_artifacts_room(set, 1, err);
    if (status) return status;
    status = dl_folder_make(folder, err);
    if (!status && has_tar) status = create_tar(set, &tar_path, &tar, err);
    for (size_t i = 0; i < DL_ARTIFACT_KINDS && !status; i++)
        if (set->options.wanted[i]) status = write_file(set, i, &bundle, &files, err);
    if (!status && has_tar) status = end_tar(set, &tar_path, &bundle, &files, err);
    if (!status) status = write_far(set, &files, err);
    if (!status) status = dl_file_set_commit(&files, err);
    if (!status) return DEVLOG_OK;
    free(tar_path);
    dl_file_abandon(&tar);
    dl_file_set_abandon(&files);
    while (set->n_paths)
        free(set->paths[--set->n_paths]);
    dl_folder_unmake(folder, there);
    return status;
}
