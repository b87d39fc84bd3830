/* What an op report of tt-metal's files keeps for each core: records of counters and waits between programs. Given back as they
 * came, whatever they are, in a few bytes each where they are as devices write them. Not for what is made of them
 * (tests/ttmetal). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/cmocka_all.h"
#include "support/logs.h"
#include "tt_metal/exec.h"

enum { CORES = 48, PROGRAMS = 3000, KINDS = 3 };

static const char *const kinds[KINDS] = {"FPU_COUNTER", "SFPU_COUNTER", "MATH_COUNTER"};

static tt_log_row row_of(const tt_log_head *head, uint64_t program, unsigned core, unsigned kind,
                         uint64_t time, uint32_t value, uint32_t ref, char meta[160])
{
    const int n =
        snprintf(meta, 160, "{\"counter type\":\"%s\";\"ref cnt\":%u;\"value\":%u}", kinds[kind], ref, value);
    return (tt_log_row){.timer = 9090,
                        .time = time,
                        .program = program,
                        .trace = TT_NONE,
                        .session = TT_NONE,
                        .x = (uint16_t)(1 + core % 8),
                        .y = (uint16_t)(1 + core / 8),
                        .type = {"TS_DATA_16B", 11},
                        .meta = {meta, (size_t)n},
                        .head = head};
}

static void counters_in_a_few_bytes(void **state)
{
    (void)state;
    const tt_log_head head = {.wormhole = true, .max_cores = 64};
    uint64_t seed = 3;
    tt_counters c;
    tt_counters_begin(&c, NULL);
    for (unsigned core = 0; core < CORES; core++)
        for (unsigned i = 0; i < PROGRAMS; i++)
            for (unsigned k = 0; k < KINDS; k++) {
                char meta[160];
                const uint32_t length = 2000 + (uint32_t)(test_random(&seed) % 3000);
                const tt_log_row row = row_of(&head, 1024 + i, core, k, 100000 + 9000ull * i + core,
                                              length / (k + 2), 2000 + i % 700, meta);
                assert_true(tt_counters_take(&c, &row));
            }
    assert_true(tt_counters_end(&c));
    const size_t n = (size_t)CORES * PROGRAMS * KINDS;
    if (c.n_bytes > n * 8) fail_msg("%zu bytes for %zu records", c.n_bytes, n);
    for (unsigned i = 0; i < PROGRAMS; i++) {
        const tt_counted *p = tt_counters_of(&c, 0, 1024 + i, TT_NONE);
        tt_counter_walk w = tt_counters_walk(&c, p);
        for (unsigned core = CORES; core-- > 0;)
            for (unsigned k = KINDS; k-- > 0;) {
                const tt_counter *r = tt_counters_next(&w);
                assert_non_null(r);
                assert_int_equal(r->time, 100000 + 9000ull * i + core);
                assert_int_equal(r->core, (1 + core % 8) << 16 | (1 + core / 8));
                assert_int_equal(r->ref, 2000 + i % 700);
            }
        assert_null(tt_counters_next(&w));
    }
    tt_counters_free(&c);
}

/* Programs in any order, numbers of any size. */
static void any_counters(void **state)
{
    (void)state;
    enum { RECORDS = 300000, OF = 40 };
    const tt_log_head head = {.wormhole = true, .max_cores = 64};
    uint64_t seed = 8;
    tt_counters c;
    tt_counter *all = malloc(RECORDS * sizeof *all);
    uint8_t *of = malloc(RECORDS);
    tt_counters_begin(&c, NULL);
    for (size_t i = 0; i < RECORDS; i++) {
        char meta[160];
        const uint64_t bits = test_random(&seed) % 64;
        const uint64_t time = (test_random(&seed) << 31 ^ test_random(&seed)) >> bits;
        const uint32_t value = (uint32_t)test_random(&seed) >> bits % 32,
                       ref = (uint32_t)test_random(&seed) >> bits % 31;
        const unsigned core = (unsigned)(test_random(&seed) % 64),
                       kind = (unsigned)(test_random(&seed) % KINDS);
        of[i] = (uint8_t)(test_random(&seed) % OF);
        const tt_log_row row = row_of(&head, 7 + of[i], core, kind, time, value, ref, meta);
        all[i] =
            (tt_counter){.time = time, .value = value, .ref = ref, .core = (uint32_t)row.x << 16 | row.y};
        assert_true(tt_counters_take(&c, &row));
    }
    assert_true(tt_counters_end(&c));
    for (unsigned p = 0; p < OF; p++) {
        tt_counter_walk w = tt_counters_walk(&c, tt_counters_of(&c, 0, 7 + p, TT_NONE));
        for (size_t i = RECORDS; i-- > 0;) {
            if (of[i] != p) continue;
            const tt_counter *r = tt_counters_next(&w);
            assert_non_null(r);
            assert_true(r->time == all[i].time && r->value == all[i].value && r->ref == all[i].ref &&
                        r->core == all[i].core);
        }
        assert_null(tt_counters_next(&w));
    }
    tt_counters_free(&c);
    free(all);
    free(of);
}

/* ---- Waits between programs --- */

typedef struct ran {
    uint64_t start, end;
    uint32_t launch;
} ran;

static devlog_status no_flush(void *ctx, devlog_error *err)
{
    (void)ctx, (void)err;
    return DEVLOG_OK;
}

/* Launches of each core in order, `mixed` of them in batches that come out of order. The first launch of each batch follows the
 * last one that the core did before it. */
static void waits(bool mixed, size_t *bytes, dl_str *out)
{
    enum { LAUNCHES = 2000, BATCH = 100 };
    uint64_t seed = 77;
    devlog_error err = {0};
    tt_gaps g;
    dl_tables t = {0};
    uint64_t *ids = malloc(LAUNCHES * sizeof *ids);
    for (unsigned i = 0; i < LAUNCHES; i++)
        ids[i] = i % 31 == 5 ? 0 : 1024 * (uint64_t)(i + 1);
    tt_gaps_begin(&g, NULL);
    for (unsigned b = 0; b < LAUNCHES / BATCH; b++)
        for (unsigned core = 0; core < CORES; core++)
            for (unsigned k = 0; k < BATCH; k++) {
                const unsigned batch = mixed ? (b * 7 + 3) % (LAUNCHES / BATCH) : b, i = batch * BATCH + k;
                const uint64_t start = 100000 + 9000ull * i + test_random(&seed) % 50;
                const tt_place p = {.core = (uint64_t)(core % 2) << 32 | (uint64_t)(core / 2 % 6) << 16 |
                                            core / 12,
                                    .begin = start,
                                    .fw_start = start,
                                    .mover = start + 20,
                                    .start = start + 20,
                                    .end = start + 3000 + test_random(&seed) % 900,
                                    .launch = i};
                assert_true(tt_gaps_place(&g, &p));
            }
    assert_true(tt_gaps_end(&g, &t, ids, LAUNCHES));
    *bytes = g.n_bytes / (CORES * (size_t)LAUNCHES);
    assert_int_equal(tt_gaps_write(&g, out, no_flush, NULL, &err), DEVLOG_OK);
    tt_gaps_free(&g);
}

/* Rows are in order of time, each core's waits stand in the row of their programs, and none is missing. */
static void waits_in_a_few_bytes(void **state)
{
    (void)state;
    for (int mixed = 0; mixed < 2; mixed++) {
        size_t bytes, rows = 0, cells = 0;
        unsigned long long last = 0, device = 0;
        dl_str out = {0};
        waits(mixed, &bytes, &out);
        if (!mixed && bytes > 9) fail_msg("%zu bytes for a wait", bytes);
        char *line = strtok(out.text, "\n");
        while ((line = strtok(NULL, "\n")) != NULL) {
            unsigned long long of, from, to;
            assert_int_equal(sscanf(line, "%llu,%llu -> %llu", &of, &from, &to), 3);
            if (of != device) last = 0;
            device = of;
            if (!mixed) assert_true(from > last && to > from);
            last = from;
            rows++;
            for (char *at = strchr(strchr(line, ',') + 1, ','); at; at = strchr(at + 1, ','))
                cells += at[1] && at[1] != ',';
        }
        assert_int_equal(device, 1);
        assert_true(rows >= 2 * 1800);
        /* Without those to and from launches of no program, and without the first. */
        if (!mixed) assert_int_equal(cells, (size_t)CORES * (1999 - 2 * 65 + (1999 % 31 == 5)));
        if (!mixed) assert_int_equal(rows * CORES / 2, cells);
        dl_str_free(&out);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counters_in_a_few_bytes),
        cmocka_unit_test(any_counters),
        cmocka_unit_test(waits_in_a_few_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
