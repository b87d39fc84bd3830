/* What a rank's folder says of itself: by its log of ops, else by its captures. Not for its name (find.c), which goes before. */
#include <dirent.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "decode/capture/capture.h"
#include "decode/input.h"
#include "ops/jsonline.h"
#include "ops/op_log.h"
#include "ranks/ranks.h"

static void by_op_log(const char *folder, rank_said *said)
{
    enum { HEAD = 8192 };
    char *block = malloc(HEAD), *log = op_log_in(folder);
    dl_input *in = NULL;
    devlog_error unheard;
    size_t n = 0;
    if (block && log && dl_input_open(&in, log, &unheard) == DEVLOG_OK &&
        dl_input_read(in, block, HEAD, &n, &unheard) == DEVLOG_OK) {
        jl_reader line;
        jl_value v;
        const char *end = memchr(block, '\n', n);
        if (end && jl_line(&line, block, (size_t)(end - block)))
            while (jl_next(&line, &v) > JL_BAD) {
                if (v.kind == JL_NUMBER && jl_key_is(&v, "rank") && v.number < RANKS_MOST) {
                    said->number = (unsigned)v.number;
                    said->by = "log of ops";
                }
                if (!said->host && v.kind == JL_TEXT && jl_key_is(&v, "host"))
                    said->host = strndup(v.text, v.len);
            }
    }
    if (in) dl_input_close(in);
    free(block);
    free(log);
}

static devlog_status on_rank(void *ctx, const dl_capture_rank *rank, devlog_error *err)
{
    rank_said *said = ctx;
    if (rank->rank < RANKS_MOST && !said->by) {
        said->number = rank->rank;
        said->by = "capture";
    }
    if (rank->ranks <= RANKS_MOST) said->ranks = rank->ranks;
    if (!said->host && rank->host && *rank->host) said->host = strdup(rank->host);
    return dl_fail(err, DEVLOG_ERR_NOT_FOUND, "that is all that is asked");
}

/* Whoever begins to tell what ran has said before who it is. */
static devlog_status on_elf(void *ctx, const dl_capture_elf *elf, devlog_error *err)
{
    (void)ctx;
    (void)elf;
    return dl_fail(err, DEVLOG_ERR_NOT_FOUND, "it says no rank");
}

static devlog_status on_samples(void *ctx, const dl_clock_samples *samples, devlog_error *err)
{
    (void)ctx;
    (void)samples;
    return dl_fail(err, DEVLOG_ERR_NOT_FOUND, "it says no rank");
}

static devlog_status on_core(void *ctx, const dl_capture_core *core, devlog_error *err)
{
    (void)ctx;
    (void)core;
    return dl_fail(err, DEVLOG_ERR_NOT_FOUND, "it says no rank");
}

static void by_capture(const char *path, rank_said *said)
{
    dl_input *in = NULL;
    devlog_error unheard = {0};
    dl_capture_state state;
    const dl_capture_sink sink = {said, .rank = on_rank, .elf = on_elf, .samples = on_samples,
                                  .core = on_core};
    const void *first;
    size_t n = DL_CAPTURE_MAGIC_BYTES;
    if (dl_input_open(&in, path, &unheard) != DEVLOG_OK) return;
    if (dl_input_peek(in, &first, &n, &unheard) == DEVLOG_OK && dl_capture_is(first, n))
        (void)dl_capture_read(in, &sink, false, &state, &unheard);
    dl_input_close(in);
}

/* capture.devlog before host_<pid>.devlog, both perhaps compressed; of several the last by name, which does not depend on the
 * folder's order. */
static char *capture_in(const char *folder)
{
    DIR *d = opendir(folder);
    char *best = NULL;
    for (struct dirent *e; d && (e = readdir(d)) != NULL;) {
        const bool of_host = strncmp(e->d_name, "host_", 5) == 0 && strstr(e->d_name, ".devlog");
        if (strncmp(e->d_name, DL_CAPTURE_NAME, strlen(DL_CAPTURE_NAME)) != 0 && !of_host) continue;
        if (best && (best[0] == 'c') >= !of_host && (best[0] == 'c' || strcmp(best, e->d_name) > 0)) continue;
        free(best);
        best = strdup(e->d_name);
    }
    if (d) closedir(d);
    char *path = best ? dl_path_join(folder, best) : NULL;
    free(best);
    return path;
}

void ranks_said(const char *folder, rank_said *said)
{
    static const char *const places[] = {"", "logs", "logs_device", ".logs"};
    *said = (rank_said){0};
    for (size_t i = 0; i < sizeof places / sizeof places[0] && !(said->by && said->ranks); i++) {
        char *inner = *places[i] ? dl_path_join(folder, places[i]) : strdup(folder);
        char *capture = inner ? capture_in(inner) : NULL;
        if (inner && !said->by) by_op_log(inner, said);
        if (capture) by_capture(capture, said);
        free(capture);
        free(inner);
    }
}

void rank_said_free(rank_said *said)
{
    free(said->host);
    *said = (rank_said){0};
}
