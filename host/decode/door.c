/* The public door: devlog/decode.h on the decoder (decode.h). The decoder pushes events while it reads; here
 * it runs on a thread of its own that waits whenever a batch is full, so that callers can take one batch
 * after the other. Only one of the two runs at a time: what a caller looks up does not change meanwhile. */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/c_locale.h"
#include "base/options.h"
#include "decode/door_internal.h"
#include "decode/input.h"

enum { BATCH = 16 * 1024 };

/* ---- Columns ------------------------------------------------------------------------------------------ */

static bool columns_new(columns *c, size_t n_wide, size_t n_narrow)
{
    bool ok = true;
    for (size_t i = 0; i < n_wide; i++)
        ok &= (c->wide[i] = malloc(BATCH * sizeof *c->wide[i])) != NULL;
    for (size_t i = 0; i < n_narrow; i++)
        ok &= (c->narrow[i] = malloc(BATCH * sizeof *c->narrow[i])) != NULL;
    return ok;
}

static void columns_free(columns *c)
{
    for (size_t i = 0; i < COLUMNS_64; i++)
        free(c->wide[i]);
    for (size_t i = 0; i < COLUMNS_32; i++)
        free(c->narrow[i]);
}

static void add_zone(columns *c, const dl_event *e)
{
    size_t at = c->n++;
    c->wide[0][at] = e->start;
    c->wide[1][at] = e->end;
    c->narrow[0][at] = e->stream;
    c->narrow[1][at] = e->site;
    c->narrow[2][at] = e->launch;
    c->narrow[3][at] = e->depth;
    c->narrow[4][at] = e->own_cost;
}

static void add_value(columns *c, const dl_event *e)
{
    static const devlog_value_kind kinds[] = {[DL_EVENT_POINT] = DEVLOG_VALUE_EVENT,
                                              [DL_EVENT_VALUE] = DEVLOG_VALUE_DATA,
                                              [DL_EVENT_SUM] = DEVLOG_VALUE_SUM,
                                              [DL_EVENT_DROPPED] = DEVLOG_VALUE_DROPPED};
    size_t at = c->n++;
    c->wide[0][at] = e->end;
    c->wide[1][at] = e->data;
    c->narrow[0][at] = kinds[e->kind];
    c->narrow[1][at] = e->stream;
    c->narrow[2][at] = e->site;
    c->narrow[3][at] = e->launch;
    c->narrow[4][at] = e->meta;
}

/* ---- The reader ------------------------------------------------------------------------------------------
 */

/* Hands over to the caller and waits until it is the reader's turn again; false when the log is being closed.
 */
static bool hand_over(devlog_log *log)
{
    pthread_mutex_lock(&log->lock);
    log->turn = CALLER;
    pthread_cond_broadcast(&log->changed);
    while (log->turn != READER)
        pthread_cond_wait(&log->changed, &log->lock);
    bool goes_on = !log->cancelled;
    pthread_mutex_unlock(&log->lock);
    return goes_on;
}

static devlog_status take_run(devlog_log *log, const dl_run *run, devlog_error *err)
{
    for (uint32_t i = 0; i < run->n_events; i++) {
        if (log->zones.n == BATCH || log->values.n == BATCH) {
            if (!hand_over(log)) return dl_fail(err, DEVLOG_ERR_STATE, "the log was closed");
            log->zones.n = log->values.n = 0;
            if (log->discard) return DEVLOG_OK;
        }
        if (run->events[i].kind == DL_EVENT_ZONE)
            add_zone(&log->zones, &run->events[i]);
        else
            add_value(&log->values, &run->events[i]);
    }
    return DEVLOG_OK;
}

static devlog_status on_runs(void *ctx, const dl_run *runs, size_t n, devlog_error *err)
{
    devlog_log *log = ctx;
    devlog_status status = DEVLOG_OK;
    for (size_t i = 0; i < n && !status && !log->discard; i++)
        status = take_run(log, &runs[i], err);
    return status;
}

static void *read_all(void *ctx)
{
    DL_IN_C_LOCALE();
    devlog_log *log = ctx;
    devlog_error err = {0};
    devlog_status status = dl_decode_prepare(log->decode, log->paths, log->n_paths, &err);
    if (!status && log->filter.skip_launches && !log->once)
        status = dl_decode_warm_up(&log->first, log->paths, log->n_paths, log->filter.skip_launches, &err);
    if (!status && log->first.n) dl_decode_skip(log->decode, &log->first);
    for (size_t i = 0; i < log->n_paths && !status; i++)
        status = dl_decode_file(log->decode, log->paths[i], &err);
    if (!status) status = dl_decode_finish(log->decode, &err);
    pthread_mutex_lock(&log->lock);
    log->status = status;
    log->err = err;
    log->turn = ENDED;
    pthread_cond_broadcast(&log->changed);
    pthread_mutex_unlock(&log->lock);
    return NULL;
}

/* Lets the reader go on until it has a batch or has ended; starts it when it has not begun. */
static devlog_status let_read(devlog_log *log, devlog_error *err)
{
    if (log->started && log->process != getpid())
        return dl_fail(err, DEVLOG_ERR_STATE,
                       "the log was being read when this process was forked: open it again here");
    /* Under the lock from the first moment: the reader may have a batch before this thread looks again. */
    pthread_mutex_lock(&log->lock);
    if (log->turn == CALLER) {
        log->turn = READER;
        pthread_cond_broadcast(&log->changed);
    }
    int errnum = log->started ? 0 : pthread_create(&log->thread, NULL, read_all, log);
    if (errnum) {
        log->turn = CALLER;
        pthread_mutex_unlock(&log->lock);
        return dl_fail_errno(err, errnum, "cannot start a thread to read the log");
    }
    log->started = true;
    log->process = getpid();
    while (log->turn == READER)
        pthread_cond_wait(&log->changed, &log->lock);
    pthread_mutex_unlock(&log->lock);
    return DEVLOG_OK;
}

/* ---- Opening ----------------------------------------------------------------------------------------------
 */

static devlog_status copy_cores(devlog_log *log, const devlog_log_options *o, devlog_error *err)
{
    if (!o->n_cores) return DEVLOG_OK;
    dl_filter_core *cores = malloc(o->n_cores * sizeof *cores);
    if (!cores) return dl_fail(err, DEVLOG_ERR_MEMORY, "out of memory");
    for (size_t i = 0; i < o->n_cores; i++)
        cores[i] = (dl_filter_core){(uint16_t)o->cores[i].x, (uint16_t)o->cores[i].y};
    log->filter.cores = cores;
    log->filter.n_cores = o->n_cores;
    return DEVLOG_OK;
}

_Static_assert(sizeof(devlog_range) == sizeof(dl_filter_range), "ranges are handed on as they are");

static devlog_status take_options(devlog_log *log, const devlog_log_options *o, devlog_error *err)
{
    log->filter = (dl_filter){.chips = (const dl_filter_range *)o->chips,
                              .n_chips = o->n_chips,
                              .riscs = o->riscs,
                              .n_riscs = o->n_riscs,
                              .zones = o->zones,
                              .n_zones = o->n_zones,
                              .launches = (const dl_filter_range *)o->launches,
                              .n_launches = o->n_launches,
                              .from = o->from,
                              .to = o->until,
                              .min_cycles = o->min_cycles,
                              .skip_launches = o->skip_launches};
    for (size_t i = 0; i < o->n_cores; i++)
        if (o->cores[i].x > UINT16_MAX || o->cores[i].y > UINT16_MAX)
            return dl_fail(err, DEVLOG_ERR_ARGUMENT, "core %u,%u: coordinates are at most %u", o->cores[i].x,
                           o->cores[i].y, UINT16_MAX);
    devlog_status status = copy_cores(log, o, err);
    if (status) return status;
    const dl_decode_options how = {.filter = log->filter,
                                   .threads = o->threads,
                                   .keep_meta = true,
                                   .no_samples = o->no_quantiles,
                                   .subtract_cost = o->subtract_cost,
                                   .elf_folder = o->elf_folder};
    return dl_decode_new(&log->decode, &how, err);
}

/* Whether each file is there, before any is read. */
static devlog_status copy_paths(devlog_log *log, const char *const *paths, size_t n, devlog_error *err)
{
    log->paths = calloc(n, sizeof *log->paths);
    if (!log->paths) return dl_fail(err, DEVLOG_ERR_MEMORY, "out of memory");
    for (size_t i = 0; i < n; i++) {
        dl_input *in;
        log->paths[i] = strdup(paths[i]);
        if (!log->paths[i]) return dl_fail(err, DEVLOG_ERR_MEMORY, "out of memory");
        log->n_paths++;
        /* A pipe can be read once. */
        struct stat st;
        const bool there = stat(paths[i], &st) == 0, piped = strcmp(paths[i], "-") == 0;
        if (piped || (there && !S_ISREG(st.st_mode))) log->once = true;
        if (piped || (there && S_ISFIFO(st.st_mode))) continue;
        devlog_status status = dl_input_open(&in, paths[i], err);
        if (status) return status;
        dl_input_close(in);
    }
    return DEVLOG_OK;
}

devlog_status devlog_log_open(const char *const *paths, size_t n, const devlog_log_options *options,
                              devlog_log **out, devlog_error *err)
{
    devlog_log_options o;
    if (!paths || n == 0 || !out) return dl_fail(err, DEVLOG_ERR_ARGUMENT, "devlog_log_open: no files");
    devlog_status status = dl_options_take(&o, sizeof o, options, "devlog_log_options", err);
    if (status) return status;
    devlog_log *log = calloc(1, sizeof *log);
    if (!log) return dl_fail(err, DEVLOG_ERR_MEMORY, "out of memory");
    pthread_mutex_init(&log->lock, NULL);
    pthread_cond_init(&log->changed, NULL);
    status = take_options(log, &o, err);
    if (!status) status = copy_paths(log, paths, n, err);
    if (!status && !(columns_new(&log->zones, 2, 5) && columns_new(&log->values, 2, 5)))
        status = dl_fail(err, DEVLOG_ERR_MEMORY, "out of memory");
    if (status) {
        devlog_log_close(log);
        return status;
    }
    status = dl_decode_run_sink(log->decode,
                                (dl_run_sink){.ctx = log, .wants = DL_WANT_EVENTS, .runs = on_runs}, err);
    if (status) {
        devlog_log_close(log);
        return status;
    }
    *out = log;
    return DEVLOG_OK;
}

devlog_status door_of_decoded(dl_decode *decode, devlog_log **out, devlog_error *err)
{
    devlog_log *log = calloc(1, sizeof *log);
    if (!log) return dl_fail(err, DEVLOG_ERR_MEMORY, "out of memory");
    pthread_mutex_init(&log->lock, NULL);
    pthread_cond_init(&log->changed, NULL);
    log->decode = decode;
    log->started = log->without_reader = true;
    log->turn = ENDED;
    *out = log;
    return DEVLOG_OK;
}

devlog_status door_beside(dl_decode *decode, devlog_log **out, devlog_error *err)
{
    devlog_status status = door_of_decoded(decode, out, err);
    if (!status) (*out)->is_lent = true;
    return status;
}

void devlog_log_close(devlog_log *log)
{
    if (!log) return;
    const bool has_reader = log->started && !log->without_reader, is_here = log->process == getpid();
    /* In a forked child nobody waits for a thread that is not there, or knows what it had in hand. */
    if (has_reader && !is_here && !door_has_ended(log)) return;
    if (has_reader && is_here) {
        pthread_mutex_lock(&log->lock);
        log->cancelled = true;
        if (log->turn == CALLER) log->turn = READER;
        pthread_cond_broadcast(&log->changed);
        pthread_mutex_unlock(&log->lock);
        pthread_join(log->thread, NULL);
    }
    pthread_mutex_destroy(&log->lock);
    pthread_cond_destroy(&log->changed);
    if (!log->is_lent) dl_decode_free(log->decode);
    for (size_t i = 0; i < log->n_paths; i++)
        free(log->paths[i]);
    free(log->paths);
    free((void *)log->filter.cores);
    dl_warm_up_free(&log->first);
    columns_free(&log->zones);
    columns_free(&log->values);
    free(log->rows);
    free(log);
}

/* ---- Batches ------------------------------------------------------------------------------------------- */

static devlog_status reader_status(const devlog_log *log, devlog_error *err)
{
    if (log->status && err) *err = log->err;
    return log->status;
}

devlog_status devlog_log_next(devlog_log *log, devlog_batch *batch, devlog_error *err)
{
    columns *z = &log->zones, *v = &log->values;
    bool had_ended = door_has_ended(log);
    devlog_status status = had_ended ? DEVLOG_OK : let_read(log, err);
    if (!status && door_has_ended(log)) status = reader_status(log, err);
    if (status) return status;
    if (had_ended) z->n = v->n = 0; /* the last batch has been taken */
    *batch = (devlog_batch){.zones = {z->n, z->wide[0], z->wide[1], z->narrow[0], z->narrow[1], z->narrow[2],
                                      z->narrow[3], z->narrow[4]},
                            .values = {v->n, v->wide[0], v->wide[1], v->narrow[0], v->narrow[1], v->narrow[2],
                                       v->narrow[3], v->narrow[4]},
                            .last = door_has_ended(log) && z->n + v->n == 0};
    return DEVLOG_OK;
}

devlog_status devlog_log_finish(devlog_log *log, devlog_error *err)
{
    log->discard = true;
    while (!door_has_ended(log)) {
        devlog_status status = let_read(log, err);
        if (status) return status;
    }
    return reader_status(log, err);
}
