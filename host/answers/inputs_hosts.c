/* Zones of host code in a run's folder, host_<pid>.devlog, and whether they are of that run: by its id, else by when they were recorded.
 * See inputs.h and inputs_internal.h. */
#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "answers/inputs_internal.h"
#include "base/file.h"
#include "decode/capture/capture.h"
#include "decode/input.h"
#include "ops/op_log.h"

enum { HEAD = 4096 };

#define SECOND UINT64_C(1000000000)

static devlog_status known(devlog_error *err)
{
    return dl_fail(err, DEVLOG_ERR_STATE, "it is known");
}

static devlog_status on_chip(void *ctx, const dl_capture_chip *chip, devlog_error *err)
{
    (void)err;
    run_age *a = ctx;
    if (!a->run) a->run = chip->run;
    return DEVLOG_OK;
}

static devlog_status on_clocks(void *ctx, const dl_capture_host_clocks *clocks, devlog_error *err)
{
    run_age *a = ctx;
    if (clocks->n) a->from = clocks->items[0].real;
    return known(err);
}

/* Who says when it began says it before anything is recorded. */
static devlog_status on_core(void *ctx, const dl_capture_core *core, devlog_error *err)
{
    (void)ctx, (void)core;
    return known(err);
}

static devlog_status on_records(void *ctx, const dl_host_records *records, devlog_error *err)
{
    (void)ctx, (void)records;
    return known(err);
}

/* The number behind a word; 0: the word is not there. */
static uint64_t behind(const char *text, const char *word, int base)
{
    const char *at = strstr(text, word);
    return at ? strtoull(at + strlen(word), NULL, base) : 0;
}

/* The first lines of a device log or a log of ops. */
static void read_head(run_age *a, const char *bytes, size_t n)
{
    char text[HEAD + 1];
    memcpy(text, bytes, n);
    text[n] = 0;
    if (text[0] == '{') {
        a->run = behind(text, "\"run\":\"", 16);
        a->from = behind(text, "\"wall_ns\":", 10);
    } else {
        text[strcspn(text, "\n")] = 0;
        a->run = behind(text, ", Run: ", 16);
    }
}

/* When it was written last; 0: it is not there. */
static uint64_t written(const char *path)
{
    struct stat st;
    return stat(path, &st) ? 0 : (uint64_t)st.st_mtim.tv_sec * SECOND + (uint64_t)st.st_mtim.tv_nsec;
}

static bool age_of(const char *path, run_age *a)
{
    const dl_capture_sink sink = {
        .ctx = a, .chip = on_chip, .host_clocks = on_clocks, .core = on_core, .host_records = on_records};
    dl_capture_state state = {0};
    dl_input *in;
    devlog_error unheard;
    const void *first;
    size_t n = HEAD;
    *a = (run_age){.to = written(path)};
    if (!a->to) return false;
    if (dl_input_open(&in, path, &unheard)) return true;
    if (dl_input_peek(in, &first, &n, &unheard) == DEVLOG_OK) {
        if (n >= DL_CAPTURE_MAGIC_BYTES && dl_capture_is(first, DL_CAPTURE_MAGIC_BYTES))
            (void)dl_capture_read(in, &sink, false, &state, &unheard);
        else
            read_head(a, first, n);
    }
    dl_input_close(in);
    return true;
}

static bool within_a_minute(const run_age *a, const run_age *b)
{
    return a->to <= b->to + 60 * SECOND && b->to <= a->to + 60 * SECOND;
}

/* Neither ended before the other began. Times of files are those of the kernel's last tick, or whole seconds. */
static bool overlap(const run_age *a, const run_age *b)
{
    const uint64_t blur_a = a->to % SECOND ? SECOND / 100 : SECOND,
                   blur_b = b->to % SECOND ? SECOND / 100 : SECOND;
    return a->from && b->from && a->from <= b->to + blur_b && b->from <= a->to + blur_a;
}

/* By ids, where both say one. */
static bool together(const run_age *a, const run_age *b)
{
    return a->run && b->run ? a->run == b->run : overlap(a, b);
}

/* A device log does not say when it began: a capture beside it does, of the run that it is of, and a log of ops that says its id. */
static void ask_beside(const char *log, const char *name, run_age *a)
{
    const char *slash = strrchr(log, '/');
    char *folder = slash ? strndup(log, (size_t)(slash - log)) : strdup("."),
         *path = folder ? dl_path_join(folder, name) : NULL;
    run_age other;
    if (path && age_of(path, &other) && other.from && a->run == other.run &&
        (a->run || within_a_minute(a, &other)) && (!a->from || other.from < a->from))
        a->from = other.from;
    free(path);
    free(folder);
}

static bool age_of_run(run_ages *known, const char *log, run_age *a)
{
    for (size_t i = 0; known && i < RUN_AGES; i++)
        if (known->logs[i] && strcmp(known->logs[i], log) == 0) {
            *a = known->of[i];
            return a->to;
        }
    if (age_of(log, a)) {
        if (!a->from) ask_beside(log, RUN_CAPTURE, a);
        if (a->run) ask_beside(log, OP_LOG_NAME, a);
    }
    char **place = known ? &known->logs[known->next % RUN_AGES] : NULL;
    if (place) {
        free(*place);
        *place = strdup(log);
        known->of[known->next++ % RUN_AGES] = *a;
    }
    return a->to;
}

void run_ages_free(run_ages *known)
{
    for (size_t i = 0; i < RUN_AGES; i++)
        free(known->logs[i]);
    *known = (run_ages){0};
}

static int of_host(const struct dirent *e)
{
    return run_is_host_log(e->d_name);
}

/* Whether another process beside it is of the log's run and of this one's. There may be hundreds, of runs before: what ended before the
 * log began is not opened. */
static bool joined_by_another(const char *host, const run_age *h, const run_age *log)
{
    struct dirent **found = NULL;
    const char *slash = strrchr(host, '/');
    char *folder = slash ? strndup(host, (size_t)(slash - host)) : strdup(".");
    const int n = folder ? scandir(folder, &found, of_host, alphasort) : 0;
    bool is = false;
    for (int i = 0; i < n; i++) {
        run_age other;
        char *path = is ? NULL : dl_path_join(folder, found[i]->d_name);
        is = is || (path && written(path) + SECOND >= log->from && age_of(path, &other) &&
                    together(&other, log) && together(&other, h));
        free(path);
        free(found[i]);
    }
    free(found);
    free(folder);
    return is;
}

bool run_host_is_of(run_ages *known, const char *host, const char *log)
{
    run_age h, l;
    if (!age_of(host, &h) || !age_of_run(known, log, &l)) return false;
    if (h.run && l.run) return h.run == l.run;
    if (h.from && l.from) return overlap(&h, &l) || joined_by_another(host, &h, &l);
    return within_a_minute(&h, &l) || (h.from && h.from <= l.to && h.to > l.to);
}

bool run_hosts_overlap(const char *a, const char *b)
{
    run_age of_a, of_b;
    return age_of(a, &of_a) && age_of(b, &of_b) && together(&of_a, &of_b);
}

bool run_is_host_log(const char *path)
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    const size_t n = strlen(name);
    return strncmp(name, "host_", 5) == 0 && n > 7 && strcmp(name + n - 7, ".devlog") == 0;
}

devlog_status run_add_hosts(run_input *r, const char *ops, devlog_error *err)
{
    struct dirent **found = NULL;
    devlog_status status = DEVLOG_OK;
    const char *log = r->log ? r->log : ops, *slash = log ? strrchr(log, '/') : NULL;
    char *folder = slash ? strndup(log, (size_t)(slash - log)) : NULL;
    const int n = folder ? scandir(folder, &found, of_host, alphasort) : 0;
    run_ages known = {0};
    if (n > 0 && !(r->hosts = calloc((size_t)n, sizeof *r->hosts)))
        status = dl_fail(err, DEVLOG_ERR_MEMORY, "out of memory");
    for (int i = 0; i < n; i++) {
        char *path = status ? NULL : dl_path_join(folder, found[i]->d_name);
        if (path && r->hosts && run_host_is_of(&known, path, log)) {
            r->hosts[r->n_hosts++] = path;
            path = NULL;
        }
        free(path);
        free(found[i]);
    }
    free(found);
    free(folder);
    if (!r->log && r->hosts && r->n_hosts) {
        r->log = r->hosts[0];
        memmove(r->hosts, r->hosts + 1, --r->n_hosts * sizeof *r->hosts);
    }
    run_ages_free(&known);
    return status;
}

devlog_status run_join_hosts(run_inputs *in, size_t from, const char *folder, devlog_error *err)
{
    size_t last = from, n = from;
    for (size_t i = from; i < in->n; i++) {
        const run_input *r = &in->items[i];
        if (r->report || !r->log || !run_is_host_log(r->log)) return DEVLOG_OK;
        if (written(r->log) > written(in->items[last].log)) last = i;
    }
    if (in->n < from + 2) return DEVLOG_OK;
    run_input *whole = &in->items[last];
    const run_input none = {0};
    whole->hosts = calloc(in->n - from, sizeof *whole->hosts);
    if (!whole->hosts) return dl_fail(err, DEVLOG_ERR_MEMORY, "out of memory");
    for (size_t i = from; i < in->n; i++) {
        run_input *r = &in->items[i];
        if (r == whole || !run_hosts_overlap(r->log, whole->log)) continue;
        whole->hosts[whole->n_hosts++] = r->log;
        free(r->name);
        *r = none;
    }
    for (size_t i = from; i < in->n; i++)
        if (in->items[i].name) in->items[n++] = in->items[i];
    in->n = n;
    if (n > from + 1) return DEVLOG_OK;
    free(in->items[from].name);
    in->items[from].name = strdup(folder);
    return in->items[from].name ? DEVLOG_OK : dl_fail(err, DEVLOG_ERR_MEMORY, "out of memory");
}
