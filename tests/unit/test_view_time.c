/* Items by time, which are taken window by window (report/view_time.c), are those by track, sorted: with more of them than a window
 * holds, bursts, equal starts, gaps, long zones, and logs that begin before the end of the log before. */
#include "support/cmocka_all.h"

#include <stdlib.h>
#include <string.h>

#include "report/view.h"
#include "support/random.h"

enum { MOST = 1 << 18, CORES = 12, RISCS = 2, LAUNCHES = 120, CASES = 8 };

typedef struct seen {
    dl_view_item *items;
    size_t n;
    const dl_view_track *tracks;
} seen;

static devlog_status keep(void *ctx, const dl_view_item *items, size_t n, devlog_error *err)
{
    seen *s = ctx;
    (void)err;
    assert_true(s->n + n <= MOST);
    memcpy(&s->items[s->n], items, n * sizeof *items);
    s->n += n;
    return DEVLOG_OK;
}

typedef struct wanted {
    dl_view_item item;
    uint32_t chip;
    size_t place;
} wanted;

static int by_time(const void *pa, const void *pb)
{
    const wanted *a = pa, *b = pb;
    if (a->chip != b->chip) return a->chip < b->chip ? -1 : 1;
    if (a->item.cycle != b->item.cycle) return a->item.cycle < b->item.cycle ? -1 : 1;
    if (a->item.end_cycle != b->item.end_cycle) return a->item.end_cycle > b->item.end_cycle ? -1 : 1;
    if (a->item.track != b->item.track) return a->item.track < b->item.track ? -1 : 1;
    return (a->place > b->place) - (a->place < b->place);
}

/* The items that are by time, made of those by track. */
static dl_view_item *sorted(const seen *by_track)
{
    wanted *all = malloc((by_track->n + 1) * sizeof *all);
    dl_view_item *items = malloc((by_track->n + 1) * sizeof *items);
    assert_non_null(all);
    assert_non_null(items);
    for (size_t i = 0; i < by_track->n; i++) {
        const dl_view_item *item = &by_track->items[i];
        all[i] = (wanted){*item, by_track->tracks[item->track].chip, i};
    }
    qsort(all, by_track->n, sizeof *all, by_time);
    for (size_t i = 0; i < by_track->n; i++)
        items[i] = all[i].item;
    free(all);
    return items;
}

/* Returns how many items there are. */
static size_t compare(const dl_str *logs, size_t n, size_t memory, unsigned number, uint64_t without_lane)
{
    devlog_error err;
    dl_decode *d;
    dl_view *v;
    uint32_t n_tracks;
    const dl_decode_options how = {.threads = 1, .no_samples = true, .no_shapes = number % 2};
    const dl_view_options options = {.memory = memory};
    seen by_track = {.items = malloc(MOST * sizeof *by_track.items)},
         in_time = {.items = malloc(MOST * sizeof *in_time.items)};
    assert_non_null(by_track.items);
    assert_non_null(in_time.items);
    assert_int_equal(dl_decode_new(&d, &how, &err), DEVLOG_OK);
    assert_int_equal(dl_view_new(&v, d, &options, &err), DEVLOG_OK);
    assert_int_equal(dl_decode_run_sink(d, dl_view_runs(v), &err), DEVLOG_OK);
    for (size_t i = 0; i < n; i++)
        assert_int_equal(dl_decode_memory(d, "log.csv", logs[i].text, logs[i].len, &err), DEVLOG_OK);
    assert_int_equal(dl_decode_finish(d, &err), DEVLOG_OK);
    assert_int_equal(dl_view_ready(v, &err), DEVLOG_OK);
    by_track.tracks = dl_view_tracks(v, &n_tracks);
    assert_int_equal(dl_view_run(v, DL_VIEW_BY_TRACK, (dl_view_sink){.ctx = &by_track, .items = keep}, &err),
                     DEVLOG_OK);
    assert_int_equal(dl_view_run(v, DL_VIEW_BY_TIME, (dl_view_sink){.ctx = &in_time, .items = keep}, &err),
                     DEVLOG_OK);
    assert_int_equal(dl_view_left_out(v), without_lane);
    assert_int_equal(by_track.n, in_time.n);
    dl_view_item *expected = sorted(&by_track);
    for (size_t i = 0; i < in_time.n; i++)
        if (memcmp(&expected[i], &in_time.items[i], sizeof *expected) != 0)
            fail_msg("case %u: item %zu of %zu differs: cycle %llu of track %u, not %llu of %u", number, i,
                     in_time.n, (unsigned long long)in_time.items[i].cycle, in_time.items[i].track,
                     (unsigned long long)expected[i].cycle, expected[i].track);
    free(expected);
    free(by_track.items);
    free(in_time.items);
    dl_view_free(v);
    dl_decode_free(d);
    return in_time.n;
}

static const char head[] =
    "ARCH: wormhole_b0, CHIP_FREQ[MHz]: 1000\n"
    "PCIe slot, core_x, core_y, RISC processor type, timer_id, time[cycles since reset], data, "
    "run host ID, zone name, type, source line, source file\n";

/* Launches of several cores of two chips. `step`: cycles between what happens, 0: all at once; `gap`: between launches. */
static void make_log(dl_str *log, uint64_t at, unsigned step, uint64_t gap, unsigned first, unsigned launches,
                     uint64_t *seed)
{
    static const char *const riscs[RISCS] = {"BRISC", "NCRISC"};
    dl_str_add(log, head);
    for (unsigned chip = 0; chip < 2; chip++)
        for (unsigned core = 0; core < CORES; core++)
            for (unsigned risc = 0; risc < RISCS; risc++)
                for (unsigned launch = 0; launch < launches; launch++) {
                    uint64_t t = at + launch * gap;
                    const unsigned zones = launch % 40 == 7 ? 24 : 3;
#define ROW(zone, type)                                                                                      \
    dl_str_fmt(log, "%u,%u,1,%s,7,%llu,0,%u,%s,%s,1,k.cc\n", chip, core, riscs[risc],                        \
               (unsigned long long)(t += test_random(seed) % (step + 1)), first + launch, zone, type)
                    ROW(risc ? "NCRISC-FW" : "BRISC-FW", "ZONE_START");
                    for (unsigned i = 0; i < zones; i++) {
                        ROW(i % 2 ? "a" : "b", "ZONE_START");
                        if (i % 5 == 0) ROW("e", "TS_EVENT");
                        ROW(i % 2 ? "a" : "b", "ZONE_END");
                    }
                    ROW(risc ? "NCRISC-FW" : "BRISC-FW", "ZONE_END");
#undef ROW
                }
}

static void items_by_time_are_those_by_track_sorted(void **state)
{
    (void)state;
    static const struct {
        unsigned step;
        uint64_t gap;
    } how[] = {{300, 40000},    {3, 100}, {1, 40}, {0, 40000}, {0, 0}, {90, UINT64_C(1) << 33},
               {40000, 9000000}};
    uint64_t seed = 3;
    for (unsigned i = 0; i < sizeof how / sizeof *how; i++)
        for (unsigned memory = 0; memory < 2; memory++) {
            dl_str log = {0};
            make_log(&log, 1000, how[i].step, how[i].gap, 1024, LAUNCHES, &seed);
            assert_true(compare(&log, 1, memory, i, 0) > (size_t)CORES * RISCS * LAUNCHES);
            dl_str_free(&log);
        }
}

/* So each source has two sequences, and zones of theirs lie between one another. */
static void logs_that_begin_before_the_end_of_others(void **state)
{
    (void)state;
    uint64_t seed = 4;
    for (unsigned i = 0; i < CASES; i++) {
        dl_str logs[2] = {{0}, {0}};
        make_log(&logs[0], 100000, 60, 40000, 1024, LAUNCHES, &seed);
        make_log(&logs[1], 100000 + i * 3000, 60, 40000, 4096, LAUNCHES, &seed);
        assert_true(compare(logs, 2, i % 2, i / 2, 0) > (size_t)CORES * RISCS * LAUNCHES);
        dl_str_free(&logs[0]);
        dl_str_free(&logs[1]);
    }
}

/* Zones that overlap, more than a track has lanes, in two sequences: so lanes are found when all that begins before is there, and
 * what has none is in neither order. */
static void more_than_there_are_lanes(void **state)
{
    (void)state;
    enum { MORE = 40, N = DL_VIEW_LANES + MORE };
    static dl_str logs[N];
    for (unsigned i = 0; i < N; i++) {
        const unsigned at = i < N / 2 ? 2 * i : 2 * (i - N / 2) + 1;
        dl_str_add(&logs[i], head);
        for (int end = 0; end < 2; end++)
            dl_str_fmt(&logs[i], "0,1,1,BRISC,7,%u,0,%u,BRISC-FW,ZONE_%s,1,k.cc\n",
                       1000 + end * 100000 + 10 * at, 1 + i, end ? "END" : "START");
    }
    /* A launch of each of them is an item, too. */
    assert_int_equal(compare(logs, N, 1, 0, 2 * MORE), 2 * DL_VIEW_LANES);
    for (unsigned i = 0; i < N; i++)
        dl_str_free(&logs[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(items_by_time_are_those_by_track_sorted),
        cmocka_unit_test(logs_that_begin_before_the_end_of_others),
        cmocka_unit_test(more_than_there_are_lanes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
