/* Logs of any bytes that grow in pieces. Decoded while they do, they come to what the whole log comes to. Packed while they do, by
 * one command or by several of which each may have been killed while it wrote, they come back to the byte, also where the log's
 * room is given back; and a packed file or a log that somebody has changed is refused, or told. The first four bytes say where the log is
 * cut, and what happens there. */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "decode/decode_internal.h"
#include "fuzz/fuzz.h"
#include "pack/follow.h"
#include "pack/unpack.h"
#include "report/decode_table.h"
#include "report/stats.h"
#include "support/packed.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { PIECES = 3, CHOICES = 4 };

static char folder[64], log_path[80], packed_path[80];

static void remove_folder(void)
{
    unlink(log_path);
    unlink(packed_path);
    rmdir(folder);
}

/* Real files, for they are locked, synced and have holes. */
static void make_folder(void)
{
    if (folder[0]) return;
    snprintf(folder, sizeof folder, "%s/devlog-fuzz-XXXXXX", access("/dev/shm", W_OK) ? "/tmp" : "/dev/shm");
    if (!mkdtemp(folder)) abort();
    snprintf(log_path, sizeof log_path, "%s/log.csv", folder);
    snprintf(packed_path, sizeof packed_path, "%s/log.pack", folder);
    atexit(remove_folder);
}

typedef struct growing {
    const char *text;
    size_t n, written, ends[PIECES];
    int fd;
} growing;

static void write_to(growing *g, size_t end)
{
    if (pwrite(g->fd, g->text + g->written, end - g->written, (off_t)g->written) !=
        (ssize_t)(end - g->written))
        abort();
    g->written = end;
}

static void begin(growing *g, const uint8_t *data, size_t size)
{
    make_folder();
    *g = (growing){.text = (const char *)data + CHOICES, .n = size - CHOICES};
    g->ends[0] = g->n * data[0] / 256;
    g->ends[1] = g->ends[0] + (g->n - g->ends[0]) * data[1] / 256;
    g->ends[2] = g->n;
    g->fd = open(log_path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (g->fd < 0) abort();
    write_to(g, g->ends[0]);
}

/* At the log's end: a piece more, until it is whole. */
static bool at_end(void *ctx)
{
    growing *g = ctx;
    if (g->written == g->n) return true;
    write_to(g, g->written < g->ends[1] ? g->ends[1] : g->n);
    return false;
}

/* ---- Decoded ------------------------------------------------------------------------------------------- */

static devlog_status decode(const dl_decode_options *how, dl_str *out)
{
    dl_decode *d;
    devlog_error err;
    const dl_table_options table = {.width = 100, .max_launches = 3};
    if (dl_decode_new(&d, how, &err) != DEVLOG_OK) abort();
    devlog_status status = dl_decode_file(d, log_path, &err);
    if (!status && dl_decode_finish(d, &err) != DEVLOG_OK) abort();
    if (!status && (dl_report_stats(d, NULL, out, &err) || dl_report_table(d, &table, out, &err))) abort();
    if (!status && dl_decode_losses(d)->rows) fuzz_got_inside();
    if (!status && dl_decode_losses(d)->stopped && how->follow) abort(); /* nothing has happened to it */
    dl_decode_free(d);
    return status;
}

/* What is packed, or a capture, cannot be followed, and a log in disorder is put in order as a whole. */
static bool is_followed(void)
{
    dl_input *in;
    devlog_error err;
    if (dl_input_open(&in, log_path, &err) != DEVLOG_OK) return false;
    bool is = dl_input_is_plain(in) && !decode_is_capture(in) && !decode_is_disordered(in);
    dl_input_close(in);
    return is;
}

static void decode_growing(const uint8_t *data, size_t size)
{
    growing g;
    dl_str grown = {0}, whole = {0};
    begin(&g, data, size);
    const dl_follow follow = {.stop = at_end, .ctx = &g, .poll_ms = 1};
    const size_t block = data[2] & 1 ? 0 : 70000; /* more than the longest line */
    const dl_decode_options growing_how = {.threads = 1 + (data[2] & 2) / 2,
                                           .block = block,
                                           .follow = &follow},
                            whole_how = {.threads = 1};
    const bool begins = is_followed();
    const devlog_status status = decode(&growing_how, &grown);
    write_to(&g, g.n);
    if (!status && begins && is_followed()) {
        if (decode(&whole_how, &whole)) abort();
        fuzz_same(&whole, &grown);
    }
    close(g.fd);
    dl_str_free(&grown);
    dl_str_free(&whole);
}

/* ---- Packed -------------------------------------------------------------------------------------------- */

static void read_file(const char *path, dl_str *out)
{
    char bytes[4096];
    ssize_t n;
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) abort();
    while ((n = read(fd, bytes, sizeof bytes)) > 0)
        dl_str_add_n(out, bytes, (size_t)n);
    close(fd);
}

/* Whether the packed file gives back what has been written of the log, and nothing else. */
static bool comes_back(const growing *g)
{
    dl_str packed = {0}, back = {0};
    pk_damage damage = {0};
    read_file(packed_path, &packed);
    bool same = test_unpack(packed.text, packed.len, 1, &back, &damage) == DEVLOG_OK && !damage.findings &&
                back.len == g->written && (!g->written || memcmp(back.text, g->text, g->written) == 0);
    dl_str_free(&packed);
    dl_str_free(&back);
    return same;
}

static pk_follow_options pack_options(const uint8_t *data)
{
    return (pk_follow_options){
        .text = 64 + 16 * (size_t)data[2], .drop_read = data[3] & 1, .drop_step = 256, .poll_ms = 1};
}

static void pack_growing(const uint8_t *data, size_t size)
{
    growing g;
    pk_followed result;
    devlog_error err;
    begin(&g, data, size);
    pk_follow_options how = pack_options(data);
    how.follow = true;
    how.stop = at_end;
    how.ctx = &g;
    unlink(packed_path);
    if (pk_follow(log_path, packed_path, &how, &result, &err) || result.changed[0] || !comes_back(&g))
        abort();
    close(g.fd);
}

static off_t size_of(const char *path)
{
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    const off_t n = fd < 0 ? 0 : lseek(fd, 0, SEEK_END);
    if (fd >= 0) close(fd);
    return n;
}

static void flip(const char *path, uint64_t at)
{
    char c;
    const int fd = open(path, O_RDWR | O_CLOEXEC);
    if (fd < 0 || pread(fd, &c, 1, (off_t)at) != 1) abort();
    c ^= 0x20;
    if (pwrite(fd, &c, 1, (off_t)at) != 1) abort();
    close(fd);
}

/* Who packed was killed while it wrote, or nothing happened, or somebody has changed the packed file or the log. */
typedef enum between { NOTHING, KILLED, FILE_CHANGED, LOG_CHANGED, LOG_CUT, BETWEEN } between;

static void pack_resumed(const uint8_t *data, size_t size)
{
    growing g;
    pk_followed result;
    devlog_error err;
    begin(&g, data, size);
    const pk_follow_options how = pack_options(data);
    unlink(packed_path);
    if (pk_follow(log_path, packed_path, &how, &result, &err) || result.changed[0] || !comes_back(&g))
        abort();
    const between what = (between)((data[3] >> 1) % BETWEEN);
    const uint8_t where = data[3] / 2 * 37 ^ data[2];
    const uint64_t had = g.written;
    const off_t n = size_of(packed_path);
    if (what == KILLED && truncate(packed_path, n * where / 256)) abort();
    if (what == FILE_CHANGED) flip(packed_path, (uint64_t)n * where / 256);
    if (what == LOG_CHANGED && had) flip(log_path, had - 1 - where % (had < 4096 ? had : 4096));
    if (what == LOG_CUT && truncate(log_path, (off_t)(had * where / 256))) abort();
    if (what == LOG_CUT) g.written = had * where / 256;
    if (what != LOG_CUT) write_to(&g, g.ends[1]);
    const devlog_status status = pk_follow(log_path, packed_path, &how, &result, &err);
    if (!status && !result.changed[0]) {
        if (what == LOG_CHANGED && had) abort();
        if (!comes_back(&g)) abort();
    }
    /* A part of a block, an index and an end are written anew; with the log's room given back a log is not there twice. */
    if (status && (what == NOTHING || (what == KILLED && !how.drop_read))) abort();
    if (!status && result.changed[0] && what != LOG_CUT) abort();
    if (what == NOTHING) {
        write_to(&g, g.n);
        if (pk_follow(log_path, packed_path, &how, &result, &err) || result.changed[0] || !comes_back(&g))
            abort();
        if (result.totals.lines) fuzz_got_inside();
    }
    close(g.fd);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static void (*const all[])(const uint8_t *data, size_t size) = {decode_growing, pack_growing,
                                                                    pack_resumed};
    if (size < CHOICES) return 0;
    const uint32_t ways = fuzz_ways(data, size, sizeof all / sizeof all[0]);
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        if (ways >> i & 1) all[i](data, size);
    return 0;
}
