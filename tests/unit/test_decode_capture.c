/* Captures: what is written is read; cut at any byte, damaged anywhere, appended, of a newer version. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <xxhash.h>

#include "decode/capture/capture.h"
#include "support/cmocka_all.h"
#include "support/files.h"

static char folder[64];

/* What a reader has been told, as a text that can be compared. */
typedef struct heard {
    char *text;
    size_t size;
    FILE *out;
    uint64_t cores, missing;
} heard;

static devlog_status on_chip(void *ctx, const dl_capture_chip *c, devlog_error *err)
{
    (void)err;
    fprintf(((heard *)ctx)->out, "chip %u %u %llu %u %s %s %s %s\n", c->slot, c->max_cores,
            (unsigned long long)c->freq_khz, c->together, c->arch, c->board, c->transport, c->boot);
    return DEVLOG_OK;
}

static devlog_status on_elf(void *ctx, const dl_capture_elf *e, devlog_error *err)
{
    (void)err;
    fprintf(((heard *)ctx)->out, "elf %u %u %s %s %u %02x\n", e->slot, e->number, e->path, e->source,
            e->build_id_size, e->build_id[e->build_id_size - 1]);
    return DEVLOG_OK;
}

static devlog_status on_launch(void *ctx, const dl_capture_launch *l, devlog_error *err)
{
    (void)err;
    fprintf(((heard *)ctx)->out, "launch %u %u %u %llu %llu %llu %llu\n", l->slot, l->number, l->op,
            (unsigned long long)l->call_start, (unsigned long long)l->call_end,
            (unsigned long long)l->pull_start, (unsigned long long)l->pull_end);
    return DEVLOG_OK;
}

static uint64_t sum_of(const uint32_t *words, size_t n)
{
    uint64_t sum = n;
    for (size_t i = 0; i < n; i++)
        sum = sum * 31 + words[i];
    return sum;
}

static devlog_status on_core(void *ctx, const dl_capture_core *c, devlog_error *err)
{
    heard *h = ctx;
    (void)err;
    h->cores++;
    fprintf(h->out, "core %u %u %u %llu events %u %llx\n", c->slot, c->x, c->y,
            (unsigned long long)c->events_from, c->n_events,
            (unsigned long long)sum_of(c->events, c->n_events));
    for (uint32_t i = 0; i < c->n_riscs; i++) {
        const dl_capture_risc *r = &c->riscs[i];
        fprintf(h->out, "  %s %u %u %u:", r->name, r->index, r->elf, r->control.launch);
        for (uint32_t s = 0; s < r->n_spans; s++)
            fprintf(h->out, " %u %llx", r->spans[s].n,
                    (unsigned long long)sum_of(r->spans[s].words, r->spans[s].n));
        fputc('\n', h->out);
        h->missing += r->missing;
    }
    return DEVLOG_OK;
}

static devlog_status on_samples(void *ctx, const dl_clock_samples *s, devlog_error *err)
{
    (void)err;
    fprintf(((heard *)ctx)->out, "samples %u %u %zu %llu\n", s->slot, s->peer, s->n,
            (unsigned long long)s->items[s->n - 1].cycles);
    return DEVLOG_OK;
}

static devlog_status on_offsets(void *ctx, const dl_clock_offsets *o, devlog_error *err)
{
    (void)err;
    fprintf(((heard *)ctx)->out, "offsets %u %u,%u %zu %lld\n", o->slot, o->reference_x, o->reference_y, o->n,
            o->n ? (long long)o->items[o->n - 1].lo : 0);
    return DEVLOG_OK;
}

static devlog_status on_grid(void *ctx, const dl_capture_grid *grid, devlog_error *err)
{
    dl_str json = {0};
    (void)err;
    assert_true(chip_grid_valid(grid->grid));
    chip_grid_json(grid->grid, &json);
    fprintf(((heard *)ctx)->out, "grid %u %s\n", grid->slot, json.text);
    dl_str_free(&json);
    return DEVLOG_OK;
}

static devlog_status on_rank(void *ctx, const dl_capture_rank *r, devlog_error *err)
{
    (void)err;
    fprintf(((heard *)ctx)->out, "rank %u %u %u %s\n", r->slot, r->rank, r->ranks, r->host);
    return DEVLOG_OK;
}

static devlog_status on_host_clocks(void *ctx, const dl_capture_host_clocks *c, devlog_error *err)
{
    (void)err;
    fprintf(((heard *)ctx)->out, "clocks %u %llu %zu", c->slot, (unsigned long long)c->time_namespace, c->n);
    for (size_t i = 0; i < c->n; i++)
        fprintf(((heard *)ctx)->out, " %llu %llu %llu %llu %llu", (unsigned long long)c->items[i].before,
                (unsigned long long)c->items[i].after, (unsigned long long)c->items[i].real,
                (unsigned long long)c->items[i].most, (unsigned long long)c->items[i].likely);
    fputc('\n', ((heard *)ctx)->out);
    return DEVLOG_OK;
}

static devlog_status on_exchanges(void *ctx, const dl_capture_exchanges *x, devlog_error *err)
{
    (void)err;
    fprintf(((heard *)ctx)->out, "exchanges %u %u %s %llu %zu", x->slot, x->peer, x->boot,
            (unsigned long long)x->time_namespace, x->n);
    for (size_t i = 0; i < x->n; i++)
        fprintf(((heard *)ctx)->out, " %llu %llu %llu %llu", (unsigned long long)x->items[i].sent,
                (unsigned long long)x->items[i].received, (unsigned long long)x->items[i].answered,
                (unsigned long long)x->items[i].arrived);
    fputc('\n', ((heard *)ctx)->out);
    return DEVLOG_OK;
}

static heard listen_on(bool two_threads, const void *bytes, size_t n, dl_capture_state *state)
{
    heard h = {0};
    devlog_error err = {0};
    h.out = open_memstream(&h.text, &h.size);
    const dl_capture_sink sink = {&h,
                                  on_chip,
                                  on_elf,
                                  on_launch,
                                  on_core,
                                  on_samples,
                                  on_offsets,
                                  .grid = on_grid,
                                  .rank = on_rank,
                                  .host_clocks = on_host_clocks,
                                  .exchanges = on_exchanges};
    dl_input *in;
    assert_int_equal(dl_input_memory(&in, "test", bytes, n, &err), DEVLOG_OK);
    assert_int_equal(dl_capture_read(in, &sink, two_threads, state, &err), DEVLOG_OK);
    dl_input_close(in);
    fclose(h.out);
    return h;
}

/* Now and then on two threads as well, which must hear the same. */
static heard listen(const void *bytes, size_t n, dl_capture_state *state)
{
    enum { OFTEN = 16 };
    static unsigned times;
    heard h = listen_on(false, bytes, n, state);
    if (times++ % OFTEN) return h;
    dl_capture_state again;
    heard two = listen_on(true, bytes, n, &again);
    assert_string_equal(two.text, h.text);
    assert_int_equal(two.missing, h.missing);
    assert_memory_equal(&again, state, offsetof(dl_capture_state, closed));
    assert_int_equal(again.closed, state->closed);
    free(two.text);
    return h;
}

static uint64_t seed;

static uint32_t chance(uint32_t below)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(seed >> 33) % below;
}

/* Puts one core with random records; big ones take several frames. */
static void put_core(dl_capture *c, uint32_t most_words)
{
    devlog_error err = {0};
    uint32_t n = 1 + chance(5), *words[5][2], n_events = chance(20) * 2;
    uint32_t *events = calloc(n_events + 1, 4);
    record_span spans[5][2];
    dl_capture_risc riscs[5];
    static const char *const names[] = {"BRISC", "NCRISC", "TRISC0", "TRISC1", "TRISC2"};
    for (uint32_t i = 0; i < n_events; i++)
        events[i] = chance(1 << 30);
    for (uint32_t i = 0; i < n; i++) {
        riscs[i] = (dl_capture_risc){.name = names[i], .index = i, .elf = chance(3), .n_spans = chance(3)};
        riscs[i].control.launch = chance(1000);
        for (uint32_t s = 0; s < 2; s++) {
            uint32_t k = chance(most_words);
            words[i][s] = calloc(k + 1, 4);
            for (uint32_t w = 0; w < k; w++)
                words[i][s][w] = chance(1 << 20);
            spans[i][s] = (record_span){words[i][s], k};
        }
        riscs[i].spans = spans[i];
    }
    const dl_capture_core core = {.slot = chance(2),
                                  .x = (uint16_t)chance(10),
                                  .y = (uint16_t)chance(10),
                                  .n_riscs = n,
                                  .riscs = riscs,
                                  .events = events,
                                  .n_events = n_events,
                                  .events_from = chance(1 << 30)};
    assert_int_equal(dl_capture_put_core(c, &core, &err), DEVLOG_OK);
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t s = 0; s < 2; s++)
            free(words[i][s]);
    free(events);
}

/* Writes a capture with everything in it; returns its bytes. */
static char *make(size_t *size, unsigned cores, uint32_t most_words, bool closed)
{
    devlog_error err = {0};
    dl_capture *c;
    assert_int_equal(dl_capture_open(&c, folder, DL_CAPTURE_NAME, false, &err), DEVLOG_OK);
    const dl_capture_chip chip = {0, 80, 1000000, 1, "wormhole_b0", "wormhole_b0", "sim", "boot-1"};
    assert_int_equal(dl_capture_put_chip(c, &chip, &err), DEVLOG_OK);
    const chip_grid grid = {.width = 4,
                            .height = 3,
                            .n_columns = 2,
                            .columns = {1, 3},
                            .n_rows = 1,
                            .rows = {2},
                            .off_known = true,
                            .off_columns = 1 << 2,
                            .off_rows = 1 << 1,
                            .n_tiles = 3,
                            .tiles = {{0, 0, CHIP_TILE_ARC}, {3, 0, CHIP_TILE_DRAM}, {0, 2, CHIP_TILE_DRAM}}};
    assert_int_equal(dl_capture_put_grid(c, &(dl_capture_grid){0, &grid}, &err), DEVLOG_OK);
    const dl_clock_reading readings[2] = {{1, 2, 3, DL_CLOCK_UNKNOWN, 5}, {11, 12, 13, 14, 15}};
    assert_int_equal(dl_capture_put_host_clocks(c, &(dl_capture_host_clocks){0, 99, readings, 2}, &err),
                     DEVLOG_OK);
    const devlog_clock_stamps stamps[2] = {{1, 2, 3, 4}, {5, 6, UINT64_MAX, 8}};
    assert_int_equal(
        dl_capture_put_exchanges(c, &(dl_capture_exchanges){0, 7, "boot-2", 98, stamps, 2}, &err), DEVLOG_OK);
    const uint8_t id[20] = {1, 2, 3, [19] = 0xAB};
    const dl_capture_elf elf = {0, 1, "/tmp/a.elf", "kernels/a.c", id, 20};
    assert_int_equal(dl_capture_put_elf(c, &elf, &err), DEVLOG_OK);
    for (unsigned i = 0; i < cores; i++) {
        put_core(c, most_words);
        const dl_capture_launch launch = {0, i + 1, 7, 100, 200, 300, UINT64_MAX};
        assert_int_equal(dl_capture_put_launch(c, &launch, &err), DEVLOG_OK);
        dl_clock_sample samples[3] = {{1, 2, 3, 0}, {4, 5, 6, 0}, {7, 8, UINT64_MAX - i, 1}};
        const dl_clock_samples s = {0, DL_CLOCK_HOST, samples, 3};
        assert_int_equal(dl_capture_put_samples(c, &s, &err), DEVLOG_OK);
        assert_int_equal(dl_capture_commit(c, &err), DEVLOG_OK);
    }
    const dl_clock_offset items[2] = {{1, 0, 0, -5, 9}, {2, 3, 1, INT64_MIN, 7}};
    const dl_clock_offsets offsets = {0, 0, 0, items, 2};
    assert_int_equal(dl_capture_put_offsets(c, &offsets, &err), DEVLOG_OK);
    if (closed) assert_int_equal(dl_capture_put_end(c, 0, &err), DEVLOG_OK);
    assert_int_equal(dl_capture_commit(c, &err), DEVLOG_OK);
    char path[256];
    snprintf(path, sizeof path, "%s", dl_capture_path(c));
    dl_capture_close(c);
    return read_bytes(path, size);
}

static void comes_back(void **state)
{
    (void)state;
    for (seed = 1; seed < 60; seed++) {
        uint64_t kept = seed;
        size_t n;
        char *bytes = make(&n, 3, kept % 8 == 0 ? 150000 : 300, true);
        seed = kept;
        dl_capture_state s;
        heard h = listen(bytes, n, &s);
        assert_true(s.closed);
        assert_int_equal(s.damaged_bytes + s.unknown + s.cut_bytes + s.malformed, 0);
        assert_int_equal(h.cores, 3);
        assert_int_equal(h.missing, 0);
        assert_non_null(strstr(h.text, "chip 0 80 1000000 1 wormhole_b0 wormhole_b0 sim boot-1\n"));
        assert_non_null(strstr(h.text, "grid 0 {\"noc\":[4,3],\"columns\":[1,3],\"rows\":[2],"
                                       "\"off\":{\"columns\":[2],\"rows\":[1]},"
                                       "\"tiles\":{\"dram\":[[3,0],[0,2]],\"arc\":[[0,0]]}}\n"));
        assert_non_null(strstr(h.text, "clocks 0 99 2 1 2 3 18446744073709551615 5 11 12 13 14 15\n"
                                       "exchanges 0 7 boot-2 98 2 1 2 3 4 5 6 18446744073709551615 8\n"));
        assert_non_null(strstr(h.text, "elf 0 1 /tmp/a.elf kernels/a.c 20 ab\n"));
        assert_non_null(strstr(h.text, "launch 0 3 7 100 200 300 18446744073709551615\n"));
        assert_non_null(strstr(h.text, "samples 0 4294967295 3 18446744073709551613\n"));
        assert_non_null(strstr(h.text, "offsets 0 0,0 2 -9223372036854775808\n"));
        /* The same once more gives the same bytes. */
        size_t again_n;
        char *again = make(&again_n, 3, kept % 8 == 0 ? 150000 : 300, true);
        assert_int_equal(n, again_n);
        assert_memory_equal(bytes, again, n);
        seed = kept;
        free(again);
        free(h.text);
        free(bytes);
    }
}

/* What is read of the first k bytes is a beginning of what is read of all, and what lacks is counted. */
static void cut_at_every_byte(void **state)
{
    (void)state;
    size_t n;
    seed = 42;
    char *bytes = make(&n, 4, 120, true);
    dl_capture_state s;
    heard whole = listen(bytes, n, &s);
    size_t longest = 0;
    for (size_t k = 0; k < n; k++) {
        heard h = listen(bytes, k, &s);
        if (k < DL_CAPTURE_MAGIC_BYTES)
            assert_int_equal(s.damaged_bytes + s.cut_bytes, k);
        else
            assert_int_equal(s.damaged_bytes, 0);
        assert_int_equal(s.malformed, 0);
        assert_true(h.size <= whole.size);
        assert_memory_equal(h.text, whole.text, h.size);
        assert_true(h.size >= longest); /* nothing whole is ever lost by having more */
        longest = h.size;
        assert_true(k < 9 || !s.closed);
        free(h.text);
    }
    free(whole.text);
    free(bytes);
}

/* Words of a long core that arrived are kept, and those that did not are counted. */
static void cut_in_a_long_core(void **state)
{
    (void)state;
    devlog_error err = {0};
    dl_capture *c;
    enum { WORDS = 500000 };
    uint32_t *words = calloc(WORDS, 4);
    for (uint32_t i = 0; i < WORDS; i++)
        words[i] = i * 2654435761u;
    const record_span span = {words, WORDS};
    dl_capture_risc risc = {.name = "BRISC", .spans = &span, .n_spans = 1};
    const dl_capture_core core = {.n_riscs = 1, .riscs = &risc};
    assert_int_equal(dl_capture_open(&c, folder, "long", false, &err), DEVLOG_OK);
    assert_int_equal(dl_capture_put_core(c, &core, &err), DEVLOG_OK);
    assert_int_equal(dl_capture_commit(c, &err), DEVLOG_OK);
    size_t n;
    char *bytes = read_bytes(dl_capture_path(c), &n);
    dl_capture_close(c);
    dl_capture_state s;
    heard h = listen(bytes, n / 2, &s);
    assert_int_equal(h.cores, 1);
    assert_true(h.missing > WORDS / 3 && h.missing < WORDS * 2 / 3);
    assert_true(s.cut_bytes > 0);
    free(h.text);
    free(bytes);
    free(words);
}

/* One wrong byte costs the frame that it is in. */
static void damage(void **state)
{
    (void)state;
    size_t n;
    seed = 43;
    char *bytes = make(&n, 4, 100, true);
    dl_capture_state s;
    heard whole = listen(bytes, n, &s);
    uint64_t frames = s.frames;
    for (size_t at = DL_CAPTURE_MAGIC_BYTES; at < n; at += 1 + at % 3) {
        char kept = bytes[at];
        bytes[at] = (char)(kept ^ (1 << at % 8));
        heard h = listen(bytes, n, &s);
        assert_int_equal(s.frames, frames - 1);
        assert_true(s.damaged_bytes + s.cut_bytes > 0);
        assert_true(h.size < whole.size || at > n - 40); /* the last frame says nothing */
        bytes[at] = kept;
        free(h.text);
    }
    free(whole.text);
    free(bytes);
}

static void appended_and_open(void **state)
{
    (void)state;
    size_t n, m;
    seed = 44;
    char *a = make(&n, 1, 50, true), *b = make(&m, 1, 50, false);
    char *both = malloc(n + m);
    memcpy(both, a, n);
    memcpy(both + n, b, m);
    dl_capture_state s;
    heard h = listen(both, n + m, &s);
    assert_int_equal(h.cores, 2);
    assert_int_equal(s.damaged_bytes, 0);
    assert_false(s.closed); /* the second never said that it was done */
    free(h.text);
    free(a);
    free(b);
    free(both);
}

/* Two devices of one program write to one file; a program that starts anew begins anew. */
static void shared_file(void **state)
{
    (void)state;
    devlog_error err = {0};
    dl_capture *c[2];
    const dl_capture_chip chips[2] = {{.slot = 0, .arch = "a"}, {.slot = 1, .arch = "b"}};
    for (int pass = 0; pass < 2; pass++) {
        for (int i = 0; i < 2; i++) {
            assert_int_equal(dl_capture_open(&c[i], folder, "shared", false, &err), DEVLOG_OK);
            assert_int_equal(dl_capture_put_chip(c[i], &chips[i], &err), DEVLOG_OK);
            assert_int_equal(dl_capture_commit(c[i], &err), DEVLOG_OK);
        }
        size_t n;
        char *bytes = read_bytes(dl_capture_path(c[0]), &n);
        dl_capture_state s;
        heard h = listen(bytes, n, &s);
        assert_int_equal(s.frames, 2);
        free(h.text);
        free(bytes);
        dl_capture_close(c[0]);
        dl_capture_close(c[1]);
    }
}

/* Whole frames with grids that cannot be: counted, and not handed on. */
static void grids_that_cannot_be(void **state)
{
    (void)state;
    devlog_error err = {0};
    dl_capture *c;
    const chip_grid good = {.width = 64,
                            .height = 2,
                            .n_columns = 1,
                            .columns = {63},
                            .n_rows = 1,
                            .off_columns = 1,
                            .n_tiles = 1,
                            .tiles = {{5, 1, CHIP_TILE_KINDS + 3}}}; /* of a newer devlog */
    chip_grid bad[] = {good, good, good, good, good, good, good, good};
    bad[0].width = 65;
    bad[1].height = 0;
    bad[2].columns[0] = 64;
    bad[3].off_rows = 1; /* also used */
    bad[4].off_rows = 1 << 2;
    bad[5].n_columns = 2, bad[5].columns[1] = 63;
    bad[6].tiles[0].y = 2;
    bad[7].n_tiles = CHIP_GRID_TILES; /* the others lie at 0,0 */
    bad[7].tiles[CHIP_GRID_TILES - 1].x = 64;
    const size_t n_bad = sizeof bad / sizeof *bad;
    assert_int_equal(dl_capture_open(&c, folder, "grids", false, &err), DEVLOG_OK);
    for (size_t i = 0; i < n_bad; i++)
        assert_int_equal(dl_capture_put_grid(c, &(dl_capture_grid){0, &bad[i]}, &err), DEVLOG_OK);
    assert_int_equal(dl_capture_put_grid(c, &(dl_capture_grid){7, &good}, &err), DEVLOG_OK);
    assert_int_equal(dl_capture_commit(c, &err), DEVLOG_OK);
    size_t n;
    char *bytes = read_bytes(dl_capture_path(c), &n);
    dl_capture_close(c);
    dl_capture_state s;
    heard h = listen(bytes, n, &s);
    assert_int_equal(s.frames, n_bad + 1);
    assert_int_equal(s.malformed, n_bad);
    assert_int_equal(s.unknown, 0);
    assert_string_equal(h.text, "grid 7 {\"noc\":[64,2],\"columns\":[63],\"rows\":[0],\"tiles\":{}}\n");
    free(h.text);
    free(bytes);
}

/* What a launcher says: of this process by its variables, and one that cannot be. */
static void ranks_of_launchers(void **state)
{
    (void)state;
    static const char *const names[] = {"TT_RUN_RANK",  "OMPI_COMM_WORLD_RANK", "PMI_RANK",
                                        "SLURM_PROCID", "OMPI_COMM_WORLD_SIZE", "PMI_SIZE",
                                        "SLURM_NTASKS"};
    devlog_error err = {0};
    dl_capture *c;
    char host[256] = "", expected[900];
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        unsetenv(names[i]);
    assert_int_equal(dl_capture_open(&c, folder, "ranks", false, &err), DEVLOG_OK);
    assert_int_equal(dl_capture_put_launched(c, 5, &err), DEVLOG_OK); /* none: no frame */
    setenv("SLURM_PROCID", "7", 1);
    assert_int_equal(dl_capture_put_launched(c, 5, &err), DEVLOG_OK);
    setenv("SLURM_NTASKS", "7", 1); /* there is no rank 7 of 7 */
    assert_int_equal(dl_capture_put_launched(c, 6, &err), DEVLOG_OK);
    setenv("OMPI_COMM_WORLD_RANK", "3", 1);
    setenv("OMPI_COMM_WORLD_SIZE", "16", 1);
    assert_int_equal(dl_capture_put_launched(c, 1u << 30, &err), DEVLOG_OK);
    assert_int_equal(dl_capture_put_rank(c, &(dl_capture_rank){1, 4, 4, "h"}, &err), DEVLOG_OK);
    assert_int_equal(dl_capture_put_rank(c, &(dl_capture_rank){2, 1, 2, "\xc3\xa4 b"}, &err), DEVLOG_OK);
    assert_int_equal(dl_capture_commit(c, &err), DEVLOG_OK);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        unsetenv(names[i]);
    size_t n;
    char *bytes = read_bytes(dl_capture_path(c), &n);
    dl_capture_close(c);
    dl_capture_state s;
    heard h = listen(bytes, n, &s);
    assert_int_equal(gethostname(host, sizeof host - 1), 0);
    snprintf(expected, sizeof expected,
             "rank 5 7 0 %s\nrank 6 7 0 %s\nrank 1073741824 3 16 %s\nrank 2 1 2 \xc3\xa4 b\n", host, host,
             host);
    assert_string_equal(h.text, expected);
    assert_int_equal(s.malformed, 1);
    /* Cut anywhere it is no frame, and nothing is handed on that is not whole. */
    for (size_t cut = 8; cut < n; cut += 7) {
        heard part = listen_on(false, bytes, cut, &s);
        assert_true(strncmp(h.text, part.text, part.size) == 0);
        free(part.text);
    }
    free(h.text);
    free(bytes);
}

/* Any bytes in a frame whose check is right: handed on, or malformed, and what is handed on is a grid. */
static void grids_of_any_bytes(void **state)
{
    (void)state;
    devlog_error err = {0};
    dl_capture *c;
    chip_grid grid = {.width = 5,
                      .height = 4,
                      .n_columns = 2,
                      .columns = {1, 4},
                      .n_rows = 2,
                      .rows = {1, 3},
                      .off_columns = 4,
                      .n_tiles = 3,
                      .tiles = {{0, 0, 1}, {3, 3, 2}, {1, 0, 4}}};
    assert_int_equal(dl_capture_open(&c, NULL, NULL, false, &err), DEVLOG_OK);
    assert_int_equal(dl_capture_put_grid(c, &(dl_capture_grid){3, &grid}, &err), DEVLOG_OK);
    const dl_str *hand = dl_capture_hand(c);
    const size_t payload = hand->len - DL_FRAME_HEADER_BYTES;
    unsigned handed = 0, malformed = 0;
    char bytes[2000] = {0}; /* more than a grid may have of tiles */
    assert_true(8 + hand->len < sizeof bytes);
    for (seed = 1; seed < 30000;) {
        const uint64_t kept = seed;
        dl_capture_state s;
        memcpy(bytes, DL_CAPTURE_MAGIC, 8);
        memcpy(bytes + 8, hand->text, hand->len);
        uint8_t *body = (uint8_t *)bytes + 32;
        const uint32_t how = chance(6);
        const size_t n = how == 0 ? chance((uint32_t)payload + 1) : how == 1 ? sizeof bytes - 32 : payload;
        for (uint32_t k = chance(3) + 1; k-- > 0;)
            body[chance((uint32_t)payload)] = (uint8_t)(chance(2) ? chance(256) : chance(6));
        for (int k = 0; k < 4; k++)
            bytes[8 + 8 + k] = bytes[8 + 12 + k] = (char)(n >> 8 * k);
        const uint64_t check = XXH64(body, n, XXH64(bytes + 8, 16, 0));
        for (int k = 0; k < 8; k++)
            bytes[8 + 16 + k] = (char)(check >> 8 * k);
        heard h = listen_on(false, bytes, 32 + n, &s);
        assert_int_equal(s.frames, 1);
        assert_int_equal(s.malformed, h.size == 0);
        handed += h.size != 0;
        malformed += s.malformed != 0;
        free(h.text);
        seed = kept + 1;
    }
    assert_true(handed > 1000 && malformed > 1000);
    dl_capture_close(c);
}

static void cannot_be_written(void **state)
{
    (void)state;
    devlog_error err = {0};
    dl_capture *c;
    assert_int_equal(dl_capture_open(&c, "/dev/null/x", DL_CAPTURE_NAME, false, &err), DEVLOG_ERR_IO);
    char name[128];
    snprintf(name, sizeof name, "%s/is-a-folder", folder);
    mkdir(name, 0777);
    assert_int_equal(dl_capture_open(&c, folder, "is-a-folder", false, &err), DEVLOG_ERR_IO);
    snprintf(name, sizeof name, "%s/full", folder);
    assert_int_equal(symlink("/dev/full", name), 0);
    assert_int_equal(dl_capture_open(&c, folder, "full", false, &err), DEVLOG_OK);
    assert_int_equal(dl_capture_put_end(c, 0, &err), DEVLOG_OK);
    assert_int_equal(dl_capture_commit(c, &err), DEVLOG_ERR_IO);
    assert_non_null(strstr(err.text, "full"));
    dl_capture_close(c);
}

int main(void)
{
    snprintf(folder, sizeof folder, "/tmp/devlog-capture-XXXXXX");
    if (!mkdtemp(folder)) return 1;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(comes_back),         cmocka_unit_test(cut_at_every_byte),
        cmocka_unit_test(cut_in_a_long_core), cmocka_unit_test(damage),
        cmocka_unit_test(appended_and_open),  cmocka_unit_test(shared_file),
        cmocka_unit_test(cannot_be_written),  cmocka_unit_test(grids_that_cannot_be),
        cmocka_unit_test(ranks_of_launchers), cmocka_unit_test(grids_of_any_bytes),
    };
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    char command[sizeof folder + 16];
    snprintf(command, sizeof command, "rm -rf %s", folder);
    return failed || system(command);
}
