/* Random programs whose zones are known, in the order of every writer of device logs and in none: each zone
 * that the decoder gives is exactly one of them, and each that it does not give is counted as lost. Several
 * chips, cores and RISCs, nested zones, markers that the device dropped, wraps of the clock, launches of more
 * than 2^31 and 2^32 cycles, torn stamps. However a log is read, the statistics are the same.
 * DEVLOG_TRUTH_CASES=N runs N of them. */
#include "support/cmocka_all.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/digest.h"
#include "support/events.h"
#include "support/logs.h"

#define WRAP (UINT64_C(1) << 44)
#define TORN (UINT64_C(1) << 32)

enum { CASES = 900, MOST = 4096, DEEP = 4 };

/* What a writer does with the rows of one RISC's launch, and with launches. */
typedef enum order {
    BY_TIME,         /* today's: core by core, RISC by RISC, all launches, by time */
    FW_FIRST,        /* 2024 and 2025: launch by launch, firmware and kernel first */
    TOGETHER,        /* by time over all cores and RISCs */
    ENDS_FIRST,      /* every end before its start */
    USERS_FIRST,     /* firmware and kernel last */
    SHUFFLED_RUN,    /* what one RISC wrote in a launch, in any order */
    SHUFFLED_LAUNCH, /* what all wrote in a launch */
    SHUFFLED,        /* nothing stands where it was */
    ORDERS
} order;

typedef struct mark {
    uint64_t time;
    unsigned chip, core, risc, launch, zone, type; /* type 0: start, 1: end */
    unsigned key;                                  /* to sort by */
    unsigned of;                                   /* the zone that it is of: index in truth */
} mark;

typedef struct zone {
    uint64_t start, end;
    unsigned chip, core, risc, launch, zone;
    bool start_dropped, end_dropped, found;
} zone;

typedef struct program {
    mark marks[MOST];
    zone zones[MOST];
    size_t n_marks, n_zones;
    unsigned chips, cores, riscs, launches;
    bool ids, torn, dropped, long_ones;
    order order;
    uint64_t seed;
} program;

static const char *const riscs[] = {"BRISC", "NCRISC", "TRISC_0"};
static const char *const names[3][6] = {{"BRISC-FW", "BRISC-KERNEL", "a", "b", "c", "d"},
                                        {"NCRISC-FW", "NCRISC-KERNEL", "a", "b", "c", "d"},
                                        {"TRISC-FW", "TRISC-KERNEL", "a", "b", "c", "d"}};

static uint64_t any(program *p, uint64_t below)
{
    return test_random(&p->seed) % below;
}

static uint64_t step(program *p)
{
    if (p->long_ones && any(p, 12) == 0) return (UINT64_C(1) << (28 + any(p, 6))) + any(p, 1 << 20);
    return 1 + any(p, 200);
}

static void add_mark(program *p, const zone *z, unsigned type, uint64_t time)
{
    if (p->n_marks < MOST)
        p->marks[p->n_marks++] = (mark){.time = time,
                                        .chip = z->chip,
                                        .core = z->core,
                                        .risc = z->risc,
                                        .launch = z->launch,
                                        .zone = z->zone,
                                        .type = type,
                                        .of = (unsigned)(z - p->zones)};
}

/* Zones of one name within each other, of which one stamp is lost, are whichever of two: not where some are.
 */
static unsigned name_at(program *p, int depth)
{
    return p->torn ? 1 + (unsigned)depth : 2 + (unsigned)any(p, 4);
}

/* A zone and what is in it; returns when it ends. */
static uint64_t add_zone(program *p, zone like, unsigned name, uint64_t time, int depth)
{
    if (p->n_zones == MOST) return time;
    zone *z = &p->zones[p->n_zones++];
    *z = like;
    z->zone = name;
    z->start = time;
    add_mark(p, z, 0, time);
    time += step(p);
    if (name < 1)
        time = add_zone(p, like, 1, time, depth + 1) + step(p);
    else if (depth < DEEP)
        for (uint64_t n = any(p, name == 1 ? 7 : 3); n; n--)
            time = add_zone(p, like, name_at(p, depth), time, depth + 1) + step(p);
    z->end = time;
    add_mark(p, z, 1, time);
    return time;
}

/* The device had no room for the last user markers of a launch. */
static void drop(program *p, size_t from)
{
    size_t kept = from, users = 0;
    for (size_t i = from; i < p->n_marks; i++)
        users += p->marks[i].zone > 1;
    size_t room = users ? (size_t)any(p, users) : 0;
    for (size_t i = from; i < p->n_marks; i++) {
        const mark m = p->marks[i];
        zone *z = &p->zones[m.of];
        if (m.zone <= 1 || room > 0)
            p->marks[kept++] = m;
        else
            *(m.type ? &z->end_dropped : &z->start_dropped) = true;
        if (m.zone > 1 && room > 0) room--;
    }
    p->n_marks = kept;
}

static int by_key(const void *a, const void *b)
{
    const mark *x = a, *y = b;
    if (x->key != y->key) return x->key < y->key ? -1 : 1;
    return x->time != y->time ? (x->time > y->time) - (x->time < y->time) : (x > y) - (x < y);
}

/* The order in which the writer has the marks. */
static void put_in_order(program *p)
{
    for (size_t i = 0; i < p->n_marks; i++) {
        mark *m = &p->marks[i];
        unsigned place = (m->chip * 8 + m->core) * 8 + m->risc, run = (m->launch << 10 | place) << 8;
        bool user = m->zone > 1;
        if (p->order == BY_TIME) m->key = place;
        if (p->order == TOGETHER) m->key = 0;
        if (p->order == FW_FIRST) m->key = run + (user ? 2 : m->zone);
        if (p->order == ENDS_FIRST) m->key = run + !m->type;
        if (p->order == USERS_FIRST) m->key = run + !user;
        if (p->order == SHUFFLED_RUN) m->key = run + (unsigned)any(p, 256);
        if (p->order == SHUFFLED_LAUNCH) m->key = m->launch << 18 | (unsigned)any(p, 1 << 18);
        if (p->order == SHUFFLED) m->key = (unsigned)any(p, 1 << 30);
    }
    qsort(p->marks, p->n_marks, sizeof *p->marks, by_key);
}

/* The clock of everything is moved so that one stamp lies at a change of its upper half, and was read wrong.
 */
static void tear(program *p)
{
    mark *m = &p->marks[any(p, p->n_marks)];
    while (m->zone == 0) /* nothing in the log contradicts that of the first launch, or the last */
        m = &p->marks[any(p, p->n_marks)];
    bool high = any(p, 2);
    uint64_t low = high ? TORN - 1 - any(p, 20) : any(p, 20), by = (low - m->time) % TORN;
    for (size_t i = 0; i < p->n_marks; i++)
        p->marks[i].time += by;
    for (size_t i = 0; i < p->n_zones; i++) {
        p->zones[i].start += by;
        p->zones[i].end += by;
    }
    m->time += high ? TORN : -TORN;
}

static void make(program *p, uint64_t seed, order o)
{
    *p = (program){.seed = seed, .order = o};
    p->chips = 1 + (unsigned)any(p, 2);
    p->cores = 1 + (unsigned)any(p, 3);
    p->riscs = 1 + (unsigned)any(p, 3);
    p->launches = 1 + (unsigned)any(p, 5);
    p->ids = any(p, 3) > 0;
    /* A stamp is known to be torn by the rows of its launch, so these must be told from others, and be
     * neighbours. */
    p->torn = any(p, 4) == 0 && p->ids && o != TOGETHER;
    p->dropped = any(p, 4) == 0;
    /* In a launch of more than 2^32 cycles a torn stamp may lie where it makes sense. */
    p->long_ones = any(p, 2) && !p->torn;
    uint64_t from = any(p, 4) ? UINT64_C(2170879416545) : WRAP - any(p, 20000);
    if (p->torn) from = UINT64_C(2170879416545);
    for (unsigned chip = 0; chip < p->chips; chip++) {
        for (unsigned core = 0; core < p->cores; core++) {
            for (unsigned risc = 0; risc < p->riscs; risc++) {
                uint64_t time = from;
                for (unsigned launch = 0; launch < p->launches; launch++) {
                    size_t first = p->n_marks;
                    zone like = {.chip = chip, .core = core, .risc = risc, .launch = launch};
                    time = add_zone(p, like, 0, time, 0) + 1 + any(p, 3000);
                    if (p->dropped) drop(p, first);
                }
            }
        }
    }
    assert_true(p->n_marks < MOST);
    /* A few rows do not tell that they are in disorder. */
    if (p->order >= SHUFFLED_LAUNCH && p->n_marks < 100) p->order = BY_TIME;
    if (p->torn) tear(p);
    put_in_order(p);
}

static void write_log(const program *p, dl_str *out)
{
    dl_str_add(out,
               "ARCH: wormhole_b0, CHIP_FREQ[MHz]: 1000, Max Compute Cores: 64\n"
               "PCIe slot, core_x, core_y, RISC processor type, timer_id, time[cycles since reset], data, "
               "run host ID, trace id, trace id counter, zone name, type, source line, source file, "
               "meta data\n");
    for (size_t i = 0; i < p->n_marks; i++) {
        const mark *m = &p->marks[i];
        dl_str_fmt(out, "%u,%u,1,%s,%u,%" PRIu64 ",0,%u,,,%s,%s,%u,k.cc,\n", m->chip, 1 + m->core,
                   riscs[m->risc], 10 + m->zone, m->time % WRAP, p->ids ? 1024 + m->launch : 0,
                   names[m->risc][m->zone], m->type ? "ZONE_END" : "ZONE_START", m->zone);
    }
}

typedef struct reading {
    program *p;
    dl_decode *d;
    char wrong[200];
    size_t found;
} reading;

static devlog_status on_events(void *ctx, const dl_event *events, size_t n, devlog_error *err)
{
    reading *r = ctx;
    (void)err;
    const dl_tables *t = dl_decode_tables(r->d);
    for (size_t i = 0; i < n; i++) {
        const dl_event *e = &events[i];
        if (e->kind != DL_EVENT_ZONE) continue;
        const dl_stream *s = &t->streams[e->stream];
        const char *risc = dl_text(t, s->risc_name), *name = dl_site_text(t, e->site);
        zone *match = NULL;
        for (size_t k = 0; k < r->p->n_zones && !match; k++) {
            zone *z = &r->p->zones[k];
            if (!z->found && t->chips[s->chip].id == z->chip && s->core_x == 1 + z->core &&
                strcmp(risc, riscs[z->risc]) == 0 && strcmp(name, names[z->risc][z->zone]) == 0 &&
                e->end - e->start == z->end - z->start && e->start % WRAP == z->start % WRAP)
                match = z;
        }
        if (match)
            match->found = true;
        else if (!r->wrong[0])
            snprintf(r->wrong, sizeof r->wrong, "%s %s from %" PRIu64 " for %" PRIu64 " is no zone", risc,
                     name, e->start, e->end - e->start);
        r->found++;
    }
    return DEVLOG_OK;
}

static void keep_log(const dl_str *log)
{
    FILE *out = fopen("/tmp/test_decode_truth.csv", "w");
    if (!out) return;
    fwrite(log->text, 1, log->len, out);
    fclose(out);
}

/* Zones lost with at least one of their marks in the log; all are when `all`. */
static size_t check(program *p, uint64_t number, bool exact)
{
    dl_str log = {0};
    devlog_error err;
    reading r = {.p = p};
    const dl_decode_options options = {.threads = 1 + number % 2, .block = number % 3 ? 4096 : 400};
    write_log(p, &log);
    assert_int_equal(dl_str_status(&log, NULL), DEVLOG_OK);
    assert_int_equal(dl_decode_new(&r.d, &options, &err), DEVLOG_OK);
    test_events_to(r.d, &r, on_events);
    assert_int_equal(dl_decode_memory(r.d, "log.csv", log.text, log.len, &err), DEVLOG_OK);
    assert_int_equal(dl_decode_finish(r.d, &err), DEVLOG_OK);
    const dl_losses *l = dl_decode_losses(r.d);
    uint64_t told = l->found[DL_FOUND_UNPAIRED_START] + l->found[DL_FOUND_UNPAIRED_END] +
                    l->found[DL_FOUND_OTHER_LAUNCH] + l->found[DL_FOUND_OUT_OF_ORDER] +
                    l->found[DL_FOUND_NEGATIVE];
    size_t lost = 0, avoidable = 0;
    for (size_t i = 0; i < p->n_zones; i++) {
        const zone *z = &p->zones[i];
        lost += !z->found && !(z->start_dropped && z->end_dropped);
        avoidable += !z->found && !z->start_dropped && !z->end_dropped;
    }
    const char *wrong = r.wrong;
    if (!wrong[0] && lost > told) wrong = "zones are missing and not counted as lost";
    if (!wrong[0] && lost && !dl_losses_any(l)) wrong = "something is missing and nothing was lost";
    if (!wrong[0] && exact && avoidable) wrong = "zones are lost whose marks are there";
    if (!wrong[0] && exact && l->found[DL_FOUND_CLOCK_RESTART])
        wrong = "a restart of the clock that was none";
    if (wrong[0]) {
        keep_log(&log);
        fail_msg("case %" PRIu64 ", order %d%s%s%s: %s (%zu of %zu lost, %" PRIu64
                 " counted); see /tmp/test_decode_truth.csv",
                 number, (int)p->order, p->torn ? ", torn" : "", p->dropped ? ", dropped" : "",
                 p->long_ones ? ", long" : "", wrong, lost, p->n_zones, told);
    }
    dl_decode_free(r.d);
    test_digest rows, hits;
    const dl_decode_options slow = {.path = DL_PARSE_CSV, .threads = 1};
    assert_int_equal(test_digest_of(&rows, log.text, log.len, &slow), DEVLOG_OK);
    assert_int_equal(test_digest_of_statistics(&hits, log.text, log.len, &options), DEVLOG_OK);
    test_digest_only_statistics(&rows);
    if (memcmp(&rows, &hits, sizeof rows) != 0) {
        keep_log(&log);
        fail_msg("case %" PRIu64
                 ", order %d: statistics by hits differ (keys %d, losses %d, launches %d); see "
                 "/tmp/test_decode_truth.csv",
                 number, (int)p->order, rows.keys != hits.keys, rows.losses != hits.losses,
                 rows.launches != hits.launches);
    }
    dl_str_free(&log);
    return avoidable;
}

static void every_zone_is_right_or_lost(void **state)
{
    (void)state;
    const char *wanted = getenv("DEVLOG_TRUTH_CASES"), *first = getenv("DEVLOG_TRUTH_FIRST");
    uint64_t n = wanted ? strtoull(wanted, NULL, 10) : CASES, from = first ? strtoull(first, NULL, 10) : 0;
    size_t torn = 0, lost = 0;
    program *p = malloc(sizeof *p);
    assert_non_null(p);
    for (uint64_t i = from; i < from + n; i++) {
        make(p, i, (order)(i % ORDERS));
        /* Without torn stamps nothing need be lost but what the device had no room for. */
        lost += check(p, i, !p->torn);
        torn += p->torn;
    }
    print_message("%zu logs with a torn stamp, %zu zones lost in them\n", torn, lost);
    free(p);
}

/* One launch of one RISC, firmware and kernel first: `users` zones of 100 cycles, one every `each` cycles. */
static void one_long_launch(unsigned users, uint64_t each)
{
    static const dl_parse_path paths[] = {DL_PARSE_BEST, DL_PARSE_CSV};
    const uint64_t from = 1000, end = from + 200 + users * each + 1000;
    dl_str log = {0};
    dl_str_add(&log,
               "ARCH: wormhole_b0, CHIP_FREQ[MHz]: 1000\n"
               "PCIe slot, core_x, core_y, RISC processor type, timer_id, time[cycles since reset], data, "
               "run host ID, zone name, type, source line, source file\n");
#define ROW(time, zone, type)                                                                                \
    dl_str_fmt(&log, "0,1,1,BRISC,7,%" PRIu64 ",0,1024,%s,%s,1,k.cc\n", (uint64_t)(time), zone, type)
    ROW(from, "BRISC-FW", "ZONE_START");
    ROW(end, "BRISC-FW", "ZONE_END");
    ROW(from + 100, "BRISC-KERNEL", "ZONE_START");
    ROW(end - 100, "BRISC-KERNEL", "ZONE_END");
    for (unsigned i = 0; i < users; i++) {
        ROW(from + 200 + i * each, "work", "ZONE_START");
        ROW(from + 300 + i * each, "work", "ZONE_END");
    }
#undef ROW
    for (unsigned i = 0; i < 8; i++) {
        devlog_error err;
        dl_decode *d;
        const dl_decode_options options = {
            .path = paths[i / 2 % 2], .threads = 1 + i % 2, .no_samples = i / 4};
        assert_int_equal(dl_decode_new(&d, &options, &err), DEVLOG_OK);
        assert_int_equal(dl_decode_memory(d, "log.csv", log.text, log.len, &err), DEVLOG_OK);
        assert_int_equal(dl_decode_finish(d, &err), DEVLOG_OK);
        const uint64_t *found = dl_decode_losses(d)->found;
        for (int k = 0; k < DL_FINDINGS; k++)
            assert_int_equal(found[k], 0);
        assert_int_equal(dl_decode_n_keys(d), 3);
        for (size_t k = 0; k < 3; k++) {
            const dl_key *key = dl_decode_key(d, k);
            const uint64_t expected[] = {
                [DL_ROLE_USER] = 100, [DL_ROLE_FW] = end - from, [DL_ROLE_KERNEL] = end - from - 200};
            assert_int_equal(key->count, key->role == DL_ROLE_USER ? users : 1);
            assert_int_equal(key->min, expected[key->role]);
            assert_int_equal(key->max, expected[key->role]);
        }
        dl_decode_free(d);
    }
    dl_str_free(&log);
}

static void long_launches_with_firmware_first(void **state)
{
    (void)state;
    one_long_launch(1, UINT64_C(4999998000)); /* more than 2^32 cycles */
    one_long_launch(3, UINT64_C(1) << 30);
    one_long_launch(9000, 1900); /* 18,004 rows in 17 ms */
    one_long_launch(40000, 200000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(long_launches_with_firmware_first),
                                       cmocka_unit_test(every_zone_is_right_or_lost)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
