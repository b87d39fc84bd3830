/* A view keeps runs of a known shape whole (report/view_runs.h), and gives the items that it gives when it is handed their events
 * one by one: in both orders, with room in memory and without, all of them and the first of them. On random logs with odd
 * rows, and on stamps that are equal where the order of a shape is not that of its events. */
#include "support/cmocka_all.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/view_internal.h"
#include "support/logs.h"
#include "support/runs.h"

enum { LOGS = 160, MOST = 1 << 16 };

typedef struct seen {
    dl_view_item *items;
    size_t n, unwanted, runs;
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

static seen look(const dl_str *logs, size_t n, const dl_view_options *options, bool no_shapes,
                 unsigned threads)
{
    seen s = {malloc(MOST * sizeof *s.items), 0, 0, 0};
    assert_non_null(s.items);
    devlog_error err;
    dl_decode *d;
    dl_view *v;
    const dl_decode_options how = {
        .no_shapes = no_shapes, .threads = threads, .block = 4096, .no_samples = true};
    assert_int_equal(dl_decode_new(&d, &how, &err), DEVLOG_OK);
    assert_int_equal(dl_view_new(&v, d, options, &err), DEVLOG_OK);
    assert_int_equal(dl_decode_run_sink(d, dl_view_runs(v), &err), DEVLOG_OK);
    for (size_t i = 0; i < n; i++)
        assert_int_equal(dl_decode_memory(d, "log.csv", logs[i].text, logs[i].len, &err), DEVLOG_OK);
    assert_int_equal(dl_decode_finish(d, &err), DEVLOG_OK);
    assert_int_equal(dl_view_ready(v, &err), DEVLOG_OK);
    for (uint32_t i = 0; i < v->spool.shapes.n; i++)
        s.runs += v->spool.shapes.by_number[i] != NULL;
    assert_int_equal(dl_view_run(v, DL_VIEW_BY_TRACK, (dl_view_sink){.ctx = &s, .items = keep}, &err),
                     DEVLOG_OK);
    assert_int_equal(dl_view_run(v, DL_VIEW_BY_TIME, (dl_view_sink){.ctx = &s, .items = keep}, &err),
                     DEVLOG_OK);
    s.unwanted = dl_view_unwanted(v) + dl_view_left_out(v);
    dl_view_free(v);
    dl_decode_free(d);
    return s;
}

static size_t compare(const dl_str *logs, size_t n, const dl_view_options *options, unsigned number)
{
    seen by_event = look(logs, n, options, true, 1), by_run = look(logs, n, options, false, 1 + number % 2);
    assert_int_equal(by_event.runs, 0);
    if (by_event.n != by_run.n || by_event.unwanted != by_run.unwanted)
        fail_msg("log %u: %zu items and %zu left out, not %zu and %zu", number, by_run.n, by_run.unwanted,
                 by_event.n, by_event.unwanted);
    for (size_t i = 0; i < by_run.n; i++)
        if (memcmp(&by_run.items[i], &by_event.items[i], sizeof *by_run.items) != 0)
            fail_msg("log %u: item %zu differs", number, i);
    free(by_event.items);
    free(by_run.items);
    return by_run.runs;
}

static void runs_and_events_are_the_same(void **state)
{
    (void)state;
    size_t runs = 0;
    for (unsigned i = 0; i < LOGS; i++) {
        dl_str log = {0};
        test_runs(&log, 4 + i % 60, i % 4 * 2, i);
        const dl_view_options options = {
            .memory = i % 3 ? 1 : 0, .most = i % 5 ? 0 : 40 + 13 * i, .cycles = i % 2};
        runs += compare(&log, 1, &options, i);
        dl_str_free(&log);
    }
    assert_true(runs > LOGS);
}

/* A few launches of one shape whose stamps are next to one another, or equal, in two logs, of which the second begins before the
 * end of the first. */
static void equal_stamps_have_the_order_of_events(void **state)
{
    (void)state;
    enum { CASES = 400, LAUNCHES = 12 };
    static const char *const rows[] = {"BRISC-FW,ZONE_START", "a,ZONE_START",     "b,ZONE_START",
                                       "b,ZONE_END",          "e,TS_EVENT",       "c,ZONE_START",
                                       "d,ZONE_START",        "d,ZONE_END",       "c,ZONE_END",
                                       "a,ZONE_END",          "BRISC-FW,ZONE_END"};
    enum { ROWS = sizeof rows / sizeof *rows };
    uint64_t seed = 5, at = 1000;
    for (unsigned i = 0; i < CASES; i++) {
        dl_str logs[2] = {{0}, {0}};
        for (unsigned launch = 0; launch < LAUNCHES; launch++, at += test_random(&seed) % 3) {
            dl_str *log = &logs[launch >= LAUNCHES / 2];
            if (launch == LAUNCHES / 2) at -= test_random(&seed) % 9;
            if (launch % (LAUNCHES / 2) == 0)
                dl_str_add(
                    log,
                    "ARCH: wormhole_b0, CHIP_FREQ[MHz]: 1000\n"
                    "PCIe slot, core_x, core_y, RISC processor type, timer_id, time[cycles since reset], data, "
                    "run host ID, zone name, type, source line, source file\n");
            for (unsigned k = 0; k < ROWS; k++) {
                const char *comma = strchr(rows[k], ',');
                at += test_random(&seed) % 3 == 0;
                dl_str_fmt(log, "0,1,1,BRISC,%u,%llu,0,%u,%.*s,%s,%u,k.cc\n", 3 + k, (unsigned long long)at,
                           10 + launch, (int)(comma - rows[k]), rows[k], comma + 1, 1 + (unsigned)rows[k][0]);
            }
        }
        const dl_view_options options = {0};
        assert_true(compare(logs, 2, &options, i) > 0);
        dl_str_free(&logs[0]);
        dl_str_free(&logs[1]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(runs_and_events_are_the_same),
        cmocka_unit_test(equal_stamps_have_the_order_of_events),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
