/* Figures of logs for a list. See log_figures.h. */
#include "cli/log_figures.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "devlog/decode.h"
#include "ops/op_table.h"

typedef struct entry {
    char id[17];
    uint64_t bytes;
    int64_t time_ns;
    char *path; /* while it has to be read */
    bool report;
    log_figure figure;
} entry;

struct log_figures {
    pthread_mutex_t lock;
    pthread_cond_t asked;
    pthread_t thread;
    bool end;
    entry *entries[LOG_FIGURES_KEPT]; /* those that were asked for last are behind the others */
    size_t n;
};

static devlog_status read_report(const char *path, log_figure *to, devlog_error *err)
{
    op_table t = {0};
    to->has_ops = true;
    const devlog_status status = op_table_read(&t, path, err);
    if (!status) {
        for (size_t i = 0; i < t.n; i++)
            to->ops += !(t.rows[i].has & OP_IS_POINT);
        to->lost = t.bad_cells + t.short_rows + t.cut;
    }
    op_table_free(&t);
    return status;
}

static devlog_status read_log(log_figures *f, const char *path, log_figure *to, devlog_error *err)
{
    const devlog_log_options o = DEVLOG_LOG_OPTIONS(.no_quantiles = true, .threads = 1);
    devlog_log *log = NULL;
    devlog_batch b = {0};
    bool end = false;
    devlog_status status = devlog_log_open(&path, 1, &o, &log, err);
    while (!status && !end && !(status = devlog_log_next(log, &b, err)) && !b.last) {
        pthread_mutex_lock(&f->lock);
        end = f->end;
        pthread_mutex_unlock(&f->lock);
    }
    if (!status && !end) {
        to->launches = devlog_log_launches(log);
        to->chips = devlog_log_chips(log);
        for (size_t i = 0; i < devlog_log_findings(log); i++) {
            const devlog_finding found = devlog_log_finding(log, i);
            to->lost += found.loss ? found.count : 0;
        }
    }
    devlog_log_close(log);
    return status;
}

/* The newest of those that have to be read; NULL: none. */
static entry *next(log_figures *f)
{
    entry *newest = NULL;
    for (size_t i = 0; i < f->n; i++)
        if (f->entries[i]->path && (!newest || f->entries[i]->time_ns > newest->time_ns))
            newest = f->entries[i];
    return newest;
}

static void *work(void *ctx)
{
    log_figures *f = ctx;
    pthread_mutex_lock(&f->lock);
    while (!f->end) {
        entry *e = next(f);
        if (!e) {
            pthread_cond_wait(&f->asked, &f->lock);
            continue;
        }
        entry of = *e; /* the list may change meanwhile */
        e->path = NULL;
        pthread_mutex_unlock(&f->lock);
        log_figure found = {.state = LOG_FIGURES_THERE};
        devlog_error err = {0};
        if (of.report ? read_report(of.path, &found, &err) : read_log(f, of.path, &found, &err)) {
            found = (log_figure){.state = LOG_FIGURES_FAILED, .has_ops = of.report};
            snprintf(found.why, sizeof found.why, "%s", err.text);
        }
        free(of.path);
        pthread_mutex_lock(&f->lock);
        for (size_t i = 0; i < f->n; i++)
            if (strcmp(f->entries[i]->id, of.id) == 0 && f->entries[i]->bytes == of.bytes &&
                f->entries[i]->time_ns == of.time_ns)
                f->entries[i]->figure = found;
    }
    pthread_mutex_unlock(&f->lock);
    return NULL;
}

devlog_status log_figures_new(log_figures **out, devlog_error *err)
{
    log_figures *f = calloc(1, sizeof *f);
    *out = NULL;
    if (!f) return dl_fail(err, DEVLOG_ERR_MEMORY, "out of memory");
    pthread_mutex_init(&f->lock, NULL);
    pthread_cond_init(&f->asked, NULL);
    if (pthread_create(&f->thread, NULL, work, f) != 0) {
        pthread_cond_destroy(&f->asked);
        pthread_mutex_destroy(&f->lock);
        free(f);
        return dl_fail(err, DEVLOG_ERR_MEMORY, "cannot start a thread");
    }
    *out = f;
    return DEVLOG_OK;
}

static void forget(entry *e)
{
    if (e) free(e->path);
    free(e);
}

void log_figures_free(log_figures *f)
{
    if (!f) return;
    pthread_mutex_lock(&f->lock);
    f->end = true;
    pthread_cond_signal(&f->asked);
    pthread_mutex_unlock(&f->lock);
    pthread_join(f->thread, NULL);
    for (size_t i = 0; i < f->n; i++)
        forget(f->entries[i]);
    pthread_cond_destroy(&f->asked);
    pthread_mutex_destroy(&f->lock);
    free(f);
}

static entry *entry_of(const cli_log *log)
{
    entry *e = calloc(1, sizeof *e);
    if (!e) return NULL;
    *e = (entry){.bytes = log->bytes, .time_ns = log->time_ns, .report = log->report};
    snprintf(e->id, sizeof e->id, "%s", log->id);
    if (log->bytes > LOG_FIGURES_BYTES)
        e->figure.state = LOG_FIGURES_LARGE;
    else
        e->path = strdup(log->path);
    return e;
}

log_figure log_figures_of(log_figures *f, const cli_log *log)
{
    log_figure figure = {0};
    pthread_mutex_lock(&f->lock);
    size_t i = 0;
    while (i < f->n && strcmp(f->entries[i]->id, log->id) != 0)
        i++;
    if (i < f->n && f->entries[i]->bytes == log->bytes && f->entries[i]->time_ns == log->time_ns) {
        figure = f->entries[i]->figure;
    } else {
        entry *e = entry_of(log);
        if (e && i == f->n && f->n == LOG_FIGURES_KEPT) i = 0; /* the oldest question */
        if (e && i < f->n) {
            forget(f->entries[i]);
            memmove(&f->entries[i], &f->entries[i + 1], (f->n - i - 1) * sizeof f->entries[0]);
            f->n--;
        }
        if (e) {
            f->entries[f->n++] = e;
            figure = e->figure;
        }
        pthread_cond_signal(&f->asked);
    }
    pthread_mutex_unlock(&f->lock);
    return figure;
}
