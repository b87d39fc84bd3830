/* Device logs of tt-metal in which cores do not come one after the other: what launches and cores did is the same, however many
 * of them are kept at once, and no more are kept than that. Not for logs core by core (tests/ttmetal). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/cmocka_all.h"
#include "support/logs.h"
#include "tt_metal/exec.h"

/* ---- Places --- */

enum { MOST = 100, PLACES_OF_A_LAUNCH = 24 };

typedef struct handed {
    tt_place *places;
    size_t n, cap;
    uint32_t launch; /* the last one's */
} handed;

static bool keep(void *ctx, const tt_place *place)
{
    handed *h = ctx;
    if (h->n == h->cap)
        h->places = realloc(h->places, (h->cap = h->cap ? 2 * h->cap : 1024) * sizeof *h->places);
    assert_non_null(h->places);
    h->places[h->n++] = *place;
    return true;
}

static int by_launch_and_core(const void *a, const void *b)
{
    const tt_place *x = a, *y = b;
    if (x->launch != y->launch) return x->launch < y->launch ? -1 : 1;
    return x->core < y->core ? -1 : x->core > y->core;
}

/* Launches come `near` one another, and some of them far from where they were; what is handed on. */
static handed handed_on(uint64_t seed, size_t most, unsigned near, bool far, bool *late, size_t *rooms)
{
    enum { LAUNCHES = 3000 };
    handed h = {0};
    tt_places p = {.most = most, .take = keep, .ctx = &h};
    for (unsigned i = 0; i < LAUNCHES * 6; i++) {
        uint32_t launch = i / 6 + (uint32_t)(test_random(&seed) % near);
        if (far && i % 5000 == 4999) launch = i / 12;
        const uint64_t core = test_random(&seed) % PLACES_OF_A_LAUNCH << (launch % 2 ? 32 : 16);
        tt_place *x = tt_places_at(&p, core, launch);
        if (!x) {
            assert_true(p.late);
            break;
        }
        assert_true(x->core == core && x->launch == launch);
        if (x->begin > 10 * i) x->begin = 10 * i;
        x->end++; /* how often it was met */
    }
    *late = p.late;
    if (!p.late) assert_true(tt_places_end(&p));
    *rooms = p.n;
    tt_places_free(&p);
    if (h.n) qsort(h.places, h.n, sizeof *h.places, by_launch_and_core);
    return h;
}

static void a_few_launches_are_open(void **state)
{
    (void)state;
    unsigned too_late = 0;
    for (uint64_t seed = 1; seed < 41; seed++)
        for (int far = 0; far < 2; far++) {
            bool late, never;
            size_t rooms, all_rooms;
            handed all = handed_on(seed, 0, 3 + seed % 4, far, &never, &all_rooms);
            handed some = handed_on(seed, MOST, 3 + seed % 4, far, &late, &rooms);
            assert_false(never);
            assert_int_equal(all_rooms, all.n);
            if (rooms > MOST + PLACES_OF_A_LAUNCH) fail_msg("room for %zu places", rooms);
            if (!far) assert_false(late);
            too_late += late;
            if (!late) {
                assert_int_equal(some.n, all.n);
                for (size_t i = 0; i < all.n; i++)
                    assert_true(some.places[i].core == all.places[i].core &&
                                some.places[i].launch == all.places[i].launch &&
                                some.places[i].begin == all.places[i].begin &&
                                some.places[i].end == all.places[i].end);
            }
            free(all.places);
            free(some.places);
        }
    assert_int_equal(too_late, 40);
}

/* ---- Logs --- */

enum {
    LAUNCHES = 60,
    CHIPS = 2,
    CORES = 6,
    RISCS = 3,
    ROWS = 4,
    MOST_ROWS = CHIPS * LAUNCHES * CORES * RISCS * ROWS
};

typedef struct timed_row {
    uint64_t at, order;
    char text[120];
} timed_row;

static int by_time(const void *a, const void *b)
{
    const timed_row *x = a, *y = b;
    if (x->at != y->at) return x->at < y->at ? -1 : 1;
    return x->order < y->order ? -1 : 1;
}

/* In the order of time. `long_ones`: some launches on one chip go on while very many run on the other. `traces`: a RISC names
 * another trace now and then. */
static void make_log(dl_str *log, uint64_t seed, bool long_ones, bool traces)
{
    static const char *const riscs[RISCS] = {"BRISC", "NCRISC", "TRISC_0"};
    static const char *const kinds[ROWS] = {"FW,ZONE_START", "KERNEL,ZONE_START", "KERNEL,ZONE_END",
                                            "FW,ZONE_END"};
    timed_row *rows = malloc(MOST_ROWS * sizeof *rows);
    size_t n = 0;
    assert_non_null(rows);
    for (unsigned chip = 0; chip < CHIPS; chip++) {
        uint64_t clock = 100000;
        for (unsigned i = 0; i < LAUNCHES; i++) {
            const bool is_long = long_ones && chip && i % 20 == 7; /* on BRISC */
            const uint64_t length = is_long ? 300000 : 2000 + test_random(&seed) % 2000;
            const bool other = traces && i % 9 == 4;
            for (unsigned core = 0; core < CORES; core++)
                for (unsigned risc = 0; risc < RISCS && test_random(&seed) % 11; risc++)
                    for (unsigned k = 0; k < ROWS; k++) {
                        const uint64_t whole = is_long && risc ? 2500 : length;
                        const uint64_t into = k == 0 ? 0 : k == 1 ? 50 : k == 2 ? whole - 300 : whole - 200;
                        timed_row *r = &rows[n];
                        r->at = clock + into + test_random(&seed) % 40 + (risc ? 0 : k == 3 ? 100 : 0);
                        r->order = n++;
                        snprintf(r->text, sizeof r->text, "%u,%u,1,%s,%u,%llu,0,%u,%s,%s,%s-%s,%u,k.cc,\n",
                                 chip, core, riscs[risc], 7 + k, (unsigned long long)r->at,
                                 1024 * (i + 1) + chip, other ? (risc ? "3" : "2") : "", other ? "1" : "",
                                 riscs[risc], kinds[k], 10 + (k < 2 ? k : 3 - k));
                    }
            clock += length + 100 + test_random(&seed) % 300;
        }
    }
    qsort(rows, n, sizeof *rows, by_time);
    dl_str_add(
        log,
        "ARCH: wormhole_b0, CHIP_FREQ[MHz]: 1000, Max Compute Cores: 64\n"
        "PCIe slot, core_x, core_y, RISC processor type, timer_id, time[cycles since reset], data, run host "
        "ID, trace id, trace id counter, zone name, type, source line, source file, meta data\n");
    for (size_t i = 0; i < n; i++)
        dl_str_add(log, rows[i].text);
    free(rows);
}

static devlog_status no_flush(void *ctx, devlog_error *err)
{
    (void)ctx, (void)err;
    return DEVLOG_OK;
}

/* All that is known of launches, as text, and the waits between them on each core. */
static void told(const dl_str *log, size_t most, dl_str *out, bool *kept)
{
    tt_found found = {0};
    tt_execs e;
    devlog_error err = {0};
    tt_execs_begin(&e, &found, NULL);
    e.most_places = most;
    if (tt_execs_parse_log(&e, log->text, log->len, &err)) fail_msg("%s", err.text);
    *kept = e.all_places;
    for (size_t i = 0; i < e.n; i++) {
        const tt_exec *x = tt_execs_at(&e, i);
        const tt_cycles *c = &e.cycles[x->cycles];
        dl_str_fmt(
            out, "%u %llu: %llu, %u cores of %u, %llu to %llu, in all %llu, lead %llu at %llu; %u %d\n",
            x->device, (unsigned long long)x->id, (unsigned long long)x->start, c->core_n, c->cores,
            (unsigned long long)c->core_min, (unsigned long long)c->core_max, (unsigned long long)c->core_sum,
            (unsigned long long)c->lead, (unsigned long long)c->lead_at, x->disagree, x->trace_repaired);
    }
    assert_int_equal(tt_gaps_write(&e.gaps, out, no_flush, NULL, &err), DEVLOG_OK);
    tt_execs_free(&e);
    tt_found_free(&found);
}

static void reports_are_the_same(void **state)
{
    (void)state;
    unsigned kept_all = 0;
    for (unsigned i = 0; i < 24; i++) {
        dl_str log = {0}, all = {0}, some = {0};
        bool unused, kept;
        make_log(&log, 3 + i, i % 4 >= 2, i % 2);
        told(&log, 0, &all, &unused);
        told(&log, 5 * CORES, &some, &kept);
        if (strcmp(all.text, some.text) != 0) fail_msg("log %u:\n%s\nand not\n%s", i, some.text, all.text);
        assert_non_null(strstr(all.text, "2048 -> 3072,")); /* waits are told */
        assert_non_null(strstr(all.text, ", 6 cores of 6,"));
        /* Only launches that go on behind many others want them all. */
        if (i % 4 < 2) assert_false(kept);
        kept_all += kept;
        dl_str_free(&log);
        dl_str_free(&all);
        dl_str_free(&some);
    }
    assert_int_equal(kept_all, 12);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_few_launches_are_open),
        cmocka_unit_test(reports_are_the_same),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
