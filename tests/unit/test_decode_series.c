/* Sums, values, hardware counters and events of tt-metal's own logs: every one is counted, by name, however
 * the log is read. */
#include "decode/decode.h"
#include "support/cmocka_all.h"

#include "support/events.h"
#include <stdio.h>
#include <string.h>

/* Forms of rows: tt_metal/impl/profiler/profiler.cpp (dumpDeviceResultsToCSV); meta data of counters: 9090 is
 * the timer id of perf_counters.hpp. */
static const char header[] =
    "ARCH: blackhole, CHIP_FREQ[MHz]: 1350, Max Compute Cores: 140\n"
    "PCIe slot, core_x, core_y, RISC processor type, timer_id, time[cycles since reset], data, run host ID, "
    "trace id, trace id counter, zone name, type, source line, source file, meta data\n";

enum { LAUNCHES = 7 };

static void add_launch(dl_str *log, unsigned launch)
{
    uint64_t at = 5000 + launch * 10000;
    const char *place = "0,1,2,TRISC_0";
#define ROW(timer, time, data, zone, type, meta)                                                             \
    dl_str_fmt(log, "%s,%u,%llu,%llu,%u,,,%s,%s,7,k.cc,%s\n", place, timer, (unsigned long long)(time),      \
               (unsigned long long)(data), 1024 + launch, zone, type, meta)
    ROW(10, at, 0, "TRISC-FW", "ZONE_START", "");
    ROW(11, at + 10, 0, "TRISC-KERNEL", "ZONE_START", "");
    ROW(20, at + 10, 400 + launch, "CB-COMPUTE-WAIT-FRONT", "ZONE_TOTAL", "");
    ROW(21, at + 10, 30, "CB-COMPUTE-RESERVE-BACK", "ZONE_TOTAL", "{\"count\":3;\"min\":9;\"max\":12}");
    ROW(30, at + 20, 64 * launch, "bytes", "TS_DATA", "");
    ROW(31, at + 21, 7, "", "TS_DATA", "");
    ROW(32, at + 22, 0, "", "TS_EVENT", "");
    ROW(9090, at + 30, UINT64_MAX, "", "TS_DATA_16B",
        "{\"counter type\":\"FPU_COUNTER\";\"ref cnt\":900;\"value\":50}");
    ROW(9090, at + 31, UINT64_MAX, "", "TS_DATA_16B",
        "{\"counter type\":\"SFPU_COUNTER\";\"ref cnt\":900;\"value\":6}");
    ROW(11, at + 1000, 0, "TRISC-KERNEL", "ZONE_END", "");
    ROW(10, at + 1100, 0, "TRISC-FW", "ZONE_END", "");
#undef ROW
}

static devlog_status ignore(void *ctx, const dl_event *events, size_t n, devlog_error *err)
{
    (void)err, (void)events;
    *(size_t *)ctx += n;
    return DEVLOG_OK;
}

static const dl_series *find(const dl_decode *d, dl_tables *t, const char *name)
{
    for (size_t i = 0; i < dl_decode_n_series(d); i++)
        if (strcmp(dl_site_text(t, dl_decode_series(d, i)->site), name) == 0) return dl_decode_series(d, i);
    fail_msg("no series '%s'", name);
    return NULL;
}

static void check(const dl_str *log, const dl_decode_options *options, bool by_events)
{
    devlog_error err;
    dl_decode *d;
    size_t events = 0;
    assert_int_equal(dl_decode_new(&d, options, &err), DEVLOG_OK);
    if (by_events) test_events_to(d, &events, ignore);
    assert_int_equal(dl_decode_memory(d, "log.csv", log->text, log->len, &err), DEVLOG_OK);
    assert_int_equal(dl_decode_finish(d, &err), DEVLOG_OK);
    assert_false(dl_losses_any(dl_decode_losses(d)));
    static const struct {
        const char *name;
        dl_event_kind kind;
        uint64_t last, min, max, sum, passes;
    } expected[] = {
        {"CB-COMPUTE-WAIT-FRONT", DL_EVENT_SUM, 406, 400, 406, 2821, 0},
        {"CB-COMPUTE-RESERVE-BACK", DL_EVENT_SUM, 30, 30, 30, 210, 21},
        {"bytes", DL_EVENT_VALUE, 384, 0, 384, 1344, 0},
        {"MARKER-31", DL_EVENT_VALUE, 7, 7, 7, 49, 0},
        {"MARKER-32", DL_EVENT_POINT, 0, 0, 0, 0, 0},
        {"FPU_COUNTER", DL_EVENT_VALUE, 50, 50, 50, 350, 0},
        {"SFPU_COUNTER", DL_EVENT_VALUE, 6, 6, 6, 42, 0},
    };
    const size_t n = sizeof expected / sizeof expected[0];
    assert_int_equal(dl_decode_n_series(d), n);
    for (size_t i = 0; i < n; i++) {
        const dl_series *s = find(d, dl_decode_tables(d), expected[i].name);
        assert_int_equal(s->kind, expected[i].kind);
        assert_int_equal(s->count, LAUNCHES);
        assert_int_equal(s->last, expected[i].last);
        assert_int_equal(s->min, expected[i].min);
        assert_int_equal(s->max, expected[i].max);
        assert_int_equal((uint64_t)s->sum, expected[i].sum);
        assert_int_equal(s->passes, expected[i].passes);
    }
    if (by_events) assert_int_equal(events, LAUNCHES * (2 + n));
    dl_decode_free(d);
}

static void what_is_no_zone_is_counted(void **state)
{
    (void)state;
    static const dl_parse_path paths[] = {DL_PARSE_BEST, DL_PARSE_SCALAR, DL_PARSE_SLOW, DL_PARSE_CSV};
    dl_str log = {0};
    dl_str_add(&log, header);
    for (unsigned i = 0; i < LAUNCHES; i++)
        add_launch(&log, i);
    for (unsigned i = 0; i < 32; i++) {
        const dl_decode_options options = {
            .path = paths[i % 4], .threads = 1 + i / 4 % 2, .keep_meta = i / 8 % 2, .block = 400};
        check(&log, &options, i / 16);
    }
    dl_str_free(&log);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(what_is_no_zone_is_counted)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
