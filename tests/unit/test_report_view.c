/* The view: order, lanes of zones that overlap, the time axis, and the same stream with little memory. */
#include "support/cmocka_all.h"

#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "report/view.h"

typedef struct kept {
    dl_view_item *items;
    size_t n;
} kept;

static devlog_status keep(void *ctx, const dl_view_item *items, size_t n, devlog_error *err)
{
    (void)err;
    kept *k = ctx;
    k->items = realloc(k->items, (k->n + n) * sizeof *k->items);
    assert_non_null(k->items);
    memcpy(k->items + k->n, items, n * sizeof *items);
    k->n += n;
    return DEVLOG_OK;
}

typedef struct fixture {
    dl_decode *decode;
    dl_view *view;
} fixture;

static fixture view_of(const char *log, const dl_view_options *options)
{
    devlog_error err;
    fixture f;
    assert_int_equal(dl_decode_new(&f.decode, NULL, &err), DEVLOG_OK);
    assert_int_equal(dl_view_new(&f.view, f.decode, options, &err), DEVLOG_OK);
    assert_int_equal(dl_decode_run_sink(f.decode, dl_view_runs(f.view), &err), DEVLOG_OK);
    assert_int_equal(dl_decode_memory(f.decode, "log", log, strlen(log), &err), DEVLOG_OK);
    assert_int_equal(dl_decode_finish(f.decode, &err), DEVLOG_OK);
    assert_int_equal(dl_view_ready(f.view, &err), DEVLOG_OK);
    return f;
}

static kept run(const fixture *f, dl_view_order order)
{
    devlog_error err;
    kept k = {0};
    assert_int_equal(dl_view_run(f->view, order, (dl_view_sink){.ctx = &k, .items = keep}, &err), DEVLOG_OK);
    return k;
}

static void end(fixture *f, kept *k)
{
    free(k->items);
    dl_view_free(f->view);
    dl_decode_free(f->decode);
}

#define HEAD                                                                                                 \
    "ARCH: wormhole_b0, CHIP_FREQ[MHz]: 500\n"                                                               \
    "PCIe slot, core_x, core_y, RISC processor type, timer_id, time[cycles since reset], data, run host ID," \
    "trace id, trace id counter, zone name, type, source line, source file, meta data\n"

/* Core 1,0 before core 0,0, NCRISC before BRISC: the tracks come in the order of reports. */
static const char two_cores[] = HEAD "0,1,0,NCRISC,1,1000,0,7,,,NCRISC-FW,ZONE_START,1,f.c,\n"
                                     "0,1,0,NCRISC,1,2000,0,7,,,NCRISC-FW,ZONE_END,1,f.c,\n"
                                     "0,0,0,BRISC,2,1000,0,7,,,BRISC-FW,ZONE_START,1,f.c,\n"
                                     "0,0,0,BRISC,3,1000,0,7,,,inner,ZONE_START,1,f.c,\n"
                                     "0,0,0,BRISC,3,1500,0,7,,,inner,ZONE_END,1,f.c,\n"
                                     "0,0,0,BRISC,4,1200,99,7,,,value,TS_DATA,1,f.c,\n"
                                     "0,0,0,BRISC,2,3000,0,7,,,BRISC-FW,ZONE_END,1,f.c,\n";

static void order_and_time_axis(void **state)
{
    (void)state;
    fixture f = view_of(two_cores, NULL);
    uint32_t n;
    const dl_view_track *tracks = dl_view_tracks(f.view, &n);
    assert_int_equal(n, 3);
    assert_string_equal(tracks[0].name, "launches");
    assert_string_equal(tracks[1].name, "BRISC");
    assert_string_equal(tracks[2].name, "NCRISC");
    kept k = run(&f, DL_VIEW_BY_TRACK);
    static const struct {
        uint32_t track, kind;
        uint64_t start, end, cycle;
        uint16_t depth;
    } expected[] = {
        {0, DL_VIEW_LAUNCH, 2000, 6000, 1000, 0}, {1, DL_VIEW_ZONE, 2000, 6000, 1000, 0},
        {1, DL_VIEW_ZONE, 2000, 3000, 1000, 1},   {1, DL_VIEW_VALUE, 2400, 2400, 1200, 2},
        {2, DL_VIEW_ZONE, 2000, 4000, 1000, 0},
    };
    assert_int_equal(k.n, 5);
    for (size_t i = 0; i < k.n; i++) {
        assert_int_equal(k.items[i].track, expected[i].track);
        assert_int_equal(k.items[i].kind, expected[i].kind);
        assert_int_equal(k.items[i].start, expected[i].start);
        assert_int_equal(k.items[i].end, expected[i].end);
        assert_int_equal(k.items[i].cycle, expected[i].cycle);
        assert_int_equal(k.items[i].depth, expected[i].depth);
        assert_int_equal(k.items[i].lane, 0);
    }
    free(k.items);
    k = run(&f, DL_VIEW_BY_TIME);
    static const uint32_t by_time[] = {0, 1, 2, 1, 1};
    assert_int_equal(k.n, 5);
    for (size_t i = 0; i < k.n; i++)
        assert_int_equal(k.items[i].track, by_time[i]);
    char name[256];
    dl_view_launch_name(f.view, 0, name);
    assert_string_equal(name, "launch 7");
    end(&f, &k);
}

static const char overlapping[] = HEAD "0,0,0,BRISC,1,10,0,7,,,BRISC-FW,ZONE_START,1,f.c,\n"
                                       "0,0,0,BRISC,2,20,0,7,,,a,ZONE_START,1,f.c,\n"
                                       "0,0,0,BRISC,3,30,0,7,,,b,ZONE_START,1,f.c,\n"
                                       "0,0,0,BRISC,2,40,0,7,,,a,ZONE_END,1,f.c,\n"
                                       "0,0,0,BRISC,3,50,0,7,,,b,ZONE_END,1,f.c,\n"
                                       "0,0,0,BRISC,4,60,0,7,,,c,ZONE_START,1,f.c,\n"
                                       "0,0,0,BRISC,4,60,0,7,,,c,ZONE_END,1,f.c,\n"
                                       "0,0,0,BRISC,1,70,0,7,,,BRISC-FW,ZONE_END,1,f.c,\n";

static void zones_that_overlap_get_a_lane(void **state)
{
    (void)state;
    fixture f = view_of(overlapping, NULL);
    kept k = run(&f, DL_VIEW_BY_TRACK);
    static const struct {
        const char *name;
        uint16_t lane, depth;
    } expected[] = {{"launch", 0, 0}, {"BRISC-FW", 0, 0}, {"a", 0, 1}, {"c", 0, 1}, {"b", 1, 0}};
    char buffer[32];
    assert_int_equal(k.n, 5);
    for (size_t i = 0; i < k.n; i++) {
        assert_string_equal(dl_view_name(f.view, &k.items[i], buffer), expected[i].name);
        assert_int_equal(k.items[i].lane, expected[i].lane);
        assert_int_equal(k.items[i].depth, expected[i].depth);
    }
    assert_int_equal(dl_view_left_out(f.view), 0);
    end(&f, &k);
}

static void no_clock_no_nanoseconds(void **state)
{
    (void)state;
    fixture f = view_of("0, 0, 0, NCRISC, 1, 100\n0, 0, 0, NCRISC, 4, 103\n", NULL);
    uint32_t n;
    assert_false(dl_view_chips(f.view, &n)[0].has_ns);
    kept k = run(&f, DL_VIEW_BY_TRACK);
    assert_int_equal(k.n, 2);
    assert_int_equal(k.items[1].start, 100);
    assert_int_equal(k.items[1].end, 103);
    end(&f, &k);
}

/* 20,000 events where room is for 4,096, of cores and launches in an order that no report has. */
static char *big_log(void)
{
    dl_str s = {0};
    uint32_t random = 1;
    dl_str_add(&s, HEAD);
    for (int i = 0; i < 10000; i++) {
        random = random * 1664525 + 1013904223;
        unsigned core = random >> 29, at = 1000000 + (unsigned)i * 100;
        dl_str_fmt(&s, "%u,%u,0,BRISC,1,%u,0,%d,,,BRISC-FW,ZONE_START,1,f.c,\n", core & 1, core, at, i / 8);
        dl_str_fmt(&s, "%u,%u,0,BRISC,2,%u,0,%d,,,a,ZONE_START,1,f.c,\n", core & 1, core, at + 10, i / 8);
        dl_str_fmt(&s, "%u,%u,0,BRISC,2,%u,0,%d,,,a,ZONE_END,1,f.c,\n", core & 1, core, at + 10 + random % 80,
                   i / 8);
        dl_str_fmt(&s, "%u,%u,0,BRISC,1,%u,0,%d,,,BRISC-FW,ZONE_END,1,f.c,\n", core & 1, core, at + 95,
                   i / 8);
    }
    assert_false(s.failed);
    return s.text;
}

static void little_memory_gives_the_same_stream(void **state)
{
    (void)state;
    char *log = big_log();
    static const dl_view_options small = {.memory = 1};
    fixture f = view_of(log, NULL), g = view_of(log, &small);
    static const dl_view_order orders[] = {DL_VIEW_BY_TRACK, DL_VIEW_BY_TIME, DL_VIEW_BY_TRACK};
    uint32_t n_tracks;
    const dl_view_track *tracks = dl_view_tracks(f.view, &n_tracks);
    for (size_t o = 0; o < 3; o++) {
        kept a = run(&f, orders[o]), b = run(&g, orders[o]);
        assert_true(a.n > 20000);
        assert_int_equal(a.n, b.n);
        for (size_t i = 0; i < a.n; i++) {
            assert_memory_equal(&a.items[i], &b.items[i], sizeof a.items[i]);
            if (i == 0) continue;
            const dl_view_item *last = &a.items[i - 1], *item = &a.items[i];
            bool by_track = orders[o] == DL_VIEW_BY_TRACK;
            bool same = by_track ? last->track == item->track && last->lane == item->lane
                                 : tracks[last->track].chip == tracks[item->track].chip;
            if (by_track) assert_true(last->track <= item->track);
            if (!same) continue;
            assert_true(last->start < item->start || (last->start == item->start && last->end >= item->end));
        }
        free(a.items);
        free(b.items);
    }
    kept none = {0};
    end(&f, &none);
    end(&g, &none);
    free(log);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(order_and_time_axis),
        cmocka_unit_test(zones_that_overlap_get_a_lane),
        cmocka_unit_test(no_clock_no_nanoseconds),
        cmocka_unit_test(little_memory_gives_the_same_stream),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
