/* Torn stamps are repaired: a clock of 64 bits whose two halves were read at different times gives a stamp that is
 * 2^32 off. Every stamp of a launch in turn, both ways, in every order of a log, in the first, the middle and the
 * last launch, with launch ids and without: the zones have their true times and one repair is told. Where two stamps
 * could explain it, or none, nothing is repaired: the zone is lost, and told. Not for random programs
 * (test_decode_truth.c). */
#include "support/cmocka_all.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/events.h"

#define TORN   (UINT64_C(1) << 32)
#define CHANGE (505 * TORN) /* the upper half of the clock changes here */

enum { MOST = 64, LAUNCHES = 3 };

typedef enum order {
    AS_IT_HAPPENED, /* the torn row stands where it was written */
    BY_TIME,        /* today's: sorted by what the stamps say */
    FW_FIRST, /* 2024 and 2025: rows of the firmware and the kernel first, the others as they happened */
    ENDS_FIRST,
    BACKWARDS,
    ORDERS
} order;

static const char *const order_names[] = {"as it happened", "by time", "firmware first", "ends first",
                                          "backwards"};

typedef struct row {
    const char *zone;
    uint64_t time;  /* as it was */
    uint64_t stamp; /* as it was read */
    unsigned launch, key;
    bool ends;
} row;

typedef struct zone {
    char name[24];
    uint64_t start, end;
} zone;

/* What is decoded. */
typedef struct found {
    zone zones[MOST];
    size_t n;
    uint64_t torn, ambiguous, other;
    bool loss;
    dl_decode *d;
} found;

static devlog_status on_events(void *ctx, const dl_event *events, size_t n, devlog_error *err)
{
    found *f = ctx;
    const dl_tables *t = dl_decode_tables(f->d);
    (void)err;
    for (size_t i = 0; i < n; i++) {
        if (events[i].kind != DL_EVENT_ZONE) continue;
        assert_true(f->n < MOST);
        zone *z = &f->zones[f->n++];
        snprintf(z->name, sizeof z->name, "%s", dl_site_text(t, events[i].site));
        z->start = events[i].start;
        z->end = events[i].end;
    }
    return DEVLOG_OK;
}

static int by_start(const void *a, const void *b)
{
    const zone *x = a, *y = b;
    if (x->start != y->start) return (x->start > y->start) - (x->start < y->start);
    return strcmp(x->name, y->name);
}

static int by_key(const void *a, const void *b)
{
    const row *x = a, *y = b;
    if (x->launch != y->launch) return x->launch < y->launch ? -1 : 1;
    if (x->key != y->key) return x->key < y->key ? -1 : 1;
    return (x->time > y->time) - (x->time < y->time);
}

static int by_stamp(const void *a, const void *b)
{
    const row *x = a, *y = b;
    return (x->stamp > y->stamp) - (x->stamp < y->stamp);
}

static bool is_of_fw(const row *r)
{
    return strncmp(r->zone, "BRISC-", 6) == 0;
}

static void write_log(const row *in, size_t n, order o, bool ids, dl_str *log)
{
    row rows[MOST];
    memcpy(rows, in, n * sizeof *rows);
    for (size_t i = 0; i < n; i++) {
        rows[i].key = o == FW_FIRST ? !is_of_fw(&rows[i]) : o == ENDS_FIRST ? !rows[i].ends : 0;
        if (o == BACKWARDS) rows[i].key = (unsigned)(n - i);
    }
    qsort(rows, n, sizeof *rows, o == BY_TIME ? by_stamp : by_key);
    dl_str_add(log,
               "ARCH: wormhole_b0, CHIP_FREQ[MHz]: 1000\n"
               "PCIe slot, core_x, core_y, RISC processor type, timer_id, time[cycles since reset], data, "
               "run host ID, zone name, type, source line, source file\n");
    for (size_t i = 0; i < n; i++)
        dl_str_fmt(log, "0,1,1,BRISC,7,%" PRIu64 ",0,%u,%s,%s,1,k.cc\n", rows[i].stamp,
                   ids ? 1024 + rows[i].launch : 0, rows[i].zone, rows[i].ends ? "ZONE_END" : "ZONE_START");
    assert_false(log->failed);
}

static void decode(found *f, const dl_str *log, const dl_decode_options *options)
{
    devlog_error err;
    *f = (found){0};
    assert_int_equal(dl_decode_new(&f->d, options, &err), DEVLOG_OK);
    test_events_to(f->d, f, on_events);
    assert_int_equal(dl_decode_memory(f->d, "log.csv", log->text, log->len, &err), DEVLOG_OK);
    assert_int_equal(dl_decode_finish(f->d, &err), DEVLOG_OK);
    const dl_losses *l = dl_decode_losses(f->d);
    f->torn = l->found[DL_FOUND_TORN];
    f->ambiguous = l->found[DL_FOUND_AMBIGUOUS];
    for (int i = 0; i < DL_FINDINGS; i++)
        if (i != DL_FOUND_TORN && i != DL_FOUND_AMBIGUOUS) f->other += l->found[i];
    f->loss = dl_losses_any(l);
    dl_decode_free(f->d);
    f->d = NULL;
    qsort(f->zones, f->n, sizeof *f->zones, by_start);
}

/* Both parsers, with one thread and two, in one block and in many; or one way. */
static void decode_all_ways(found *f, const dl_str *log, bool one)
{
    static const dl_parse_path paths[] = {DL_PARSE_BEST, DL_PARSE_CSV};
    for (unsigned i = 0; i < (one ? 1 : 8); i++) {
        const dl_decode_options options = {
            .path = paths[i % 2], .threads = 1 + i / 2 % 2, .block = i / 4 ? 400 : 0};
        found other;
        decode(i ? &other : f, log, &options);
        if (i && (other.n != f->n || other.torn != f->torn || other.ambiguous != f->ambiguous ||
                  other.other != f->other || memcmp(other.zones, f->zones, f->n * sizeof *f->zones) != 0))
            fail_msg("way %u gives something else", i);
    }
}

/* The launches of one RISC, as they happen from `time` on. */
static size_t launches(row *rows, uint64_t time)
{
    static const struct {
        const char *zone;
        bool ends;
        unsigned after;
    } launch[] = {{"BRISC-FW", false, 1000},
                  {"BRISC-KERNEL", false, 30},
                  {"a", false, 200},
                  {"b", false, 11},
                  {"b", true, 45},
                  {"b", false, 13},
                  {"b", true, 46},
                  {"a", true, 300},
                  {"c", false, 170},
                  {"c", true, 21},
                  {"BRISC-KERNEL", true, 90},
                  {"BRISC-FW", true, 40}};
    size_t n = 0;
    for (unsigned k = 0; k < LAUNCHES; k++) {
        for (size_t i = 0; i < sizeof launch / sizeof launch[0]; i++) {
            time += launch[i].after;
            rows[n++] = (row){launch[i].zone, time, time, k, 0, launch[i].ends};
        }
    }
    return n;
}

/* The zones that there were: by the rows as they happened. */
static size_t zones_of(const row *rows, size_t n, zone *zones)
{
    size_t open[MOST], n_open = 0, n_zones = 0;
    for (size_t i = 0; i < n; i++) {
        if (!rows[i].ends) {
            open[n_open++] = i;
            continue;
        }
        const row *start = &rows[open[--n_open]];
        assert_string_equal(start->zone, rows[i].zone);
        zones[n_zones] = (zone){.start = start->time, .end = rows[i].time};
        snprintf(zones[n_zones++].name, sizeof zones->name, "%s", start->zone);
    }
    qsort(zones, n_zones, sizeof *zones, by_start);
    return n_zones;
}

/* Tears stamp `at`: the clock of everything is moved so that its upper half changes right before or behind it. */
static size_t torn_launches(row *rows, size_t at, bool high)
{
    size_t n = launches(rows, CHANGE);
    uint64_t to = high ? CHANGE - 5 : CHANGE + 5, by = to - rows[at].time;
    for (size_t i = 0; i < n; i++)
        rows[i].stamp = rows[i].time += by;
    rows[at].stamp += high ? TORN : -TORN;
    return n;
}

static void show(const row *rows, size_t at, bool high, order o, bool ids, const found *f)
{
    print_error("%s of %s in launch %u, too %s, %s%s: torn %" PRIu64 ", ambiguous %" PRIu64 ", other %" PRIu64
                ", zones %zu\n",
                rows[at].ends ? "end" : "start", rows[at].zone, rows[at].launch, high ? "high" : "low",
                order_names[o], ids ? "" : ", without ids", f->torn, f->ambiguous, f->other, f->n);
}

/* How many of the decoded zones there were not. */
static size_t invented(const found *f, const zone *truth, size_t n)
{
    size_t count = 0;
    for (size_t i = 0; i < f->n; i++) {
        bool is_there = false;
        for (size_t k = 0; k < n && !is_there; k++)
            is_there = memcmp(&truth[k], &f->zones[i], sizeof *truth) == 0;
        count += !is_there;
    }
    return count;
}

/* Nothing before the log's first stamp, and nothing behind its last one, tells that it is off. */
static bool nothing_decides(size_t n, size_t at, bool high)
{
    return high ? at == n - 1 : at == 0;
}

/* Whether what was decoded is what has to be; counts what was repaired. */
static bool is_good(const found *f, const zone *truth, size_t n, order o, bool ids, bool undecided,
                    size_t *repaired)
{
    const bool right = f->n == n && memcmp(f->zones, truth, n * sizeof *truth) == 0;
    *repaired += right && f->torn == 1 && !f->ambiguous && !f->other;
    if (undecided) return f->ambiguous == 1 || (f->loss && f->other); /* kept as it is, and told */
    if (o == AS_IT_HAPPENED || o == FW_FIRST) return right && f->torn == 1 && !f->ambiguous && !f->other;
    if (right) return f->torn == 1;
    /* Its row stands far from its launch, or nothing says which launch it is of: a loss, and no other number. */
    return f->loss && (invented(f, truth, n) == 0 || !(ids || o == BY_TIME));
}

static void every_stamp_is_repaired_or_told(void **state)
{
    (void)state;
    /* Of 144 cases of an order. The two stamps that nothing decides are never repaired. */
    static const size_t least[ORDERS] = {140, 20, 140, 124, 124};
    row rows[MOST];
    zone truth[MOST];
    size_t n = launches(rows, CHANGE), bad = 0, repaired[ORDERS] = {0};
    for (size_t at = 0; at < n; at++) {
        for (unsigned how = 0; how < 4 * ORDERS; how++) {
            const bool high = how & 1, ids = how & 2;
            const order o = (order)(how / 4);
            torn_launches(rows, at, high);
            const size_t n_truth = zones_of(rows, n, truth);
            dl_str log = {0};
            found f;
            write_log(rows, n, o, ids, &log);
            decode_all_ways(&f, &log, (at + how) % 5);
            if (!is_good(&f, truth, n_truth, o, ids, nothing_decides(n, at, high), &repaired[o])) {
                bad++;
                show(rows, at, high, o, ids, &f);
            }
            dl_str_free(&log);
        }
    }
    for (int o = 0; o < ORDERS; o++) {
        if (repaired[o] >= least[o]) continue;
        print_error("%s: %zu repaired\n", order_names[o], repaired[o]);
        bad++;
    }
    assert_int_equal(bad, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_stamp_is_repaired_or_told)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
