/* Packed logs say what the logs say: marks from numbers are those from text, on regular logs and on damaged
 * ones, whatever is kept, on one thread and on two. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/cmocka_all.h"
#include "support/digest.h"
#include "support/logs.h"
#include "support/random.h"

static void says_the_same(const char *text, size_t n, size_t block, const dl_decode_options *options)
{
    test_digest one, two;
    assert_int_equal(test_digest_of(&one, text, n, options),
                     test_digest_of_packed(&two, text, n, block, true, options));
    if (memcmp(&one, &two, sizeof one) != 0) {
        FILE *out = fopen("/tmp/test_pack_decode.csv", "w");
        if (out) fwrite(text, 1, n, out);
        if (out) fclose(out);
        fail_msg(
            "%u threads, blocks of %zu: events %d markers %d tables %d launches %d losses %d keys %d differ; see "
            "/tmp/test_pack_decode.csv",
            options->threads, block, one.events != two.events, one.markers != two.markers,
            one.tables != two.tables, one.launches != two.launches, one.losses != two.losses,
            one.keys != two.keys);
    }
    assert_int_equal(test_digest_of_statistics(&one, text, n, options),
                     test_digest_of_packed(&two, text, n, block, false, options));
    assert_memory_equal(&one, &two, sizeof one);
}

static const dl_decode_options ways[] = {
    {.threads = 1},
    {.threads = 2},
    {.threads = 1, .keep_meta = true},
    {.threads = 2, .keep_meta = true, .no_samples = true},
};

enum { WAYS = sizeof ways / sizeof ways[0] };

static void regular_logs(void **state)
{
    (void)state;
    for (int kind = 0; kind < TEST_LOG_KINDS; kind++) {
        dl_str log = {0};
        test_log(&log, kind, 5, 3);
        for (size_t way = 0; way < WAYS; way++) {
            if ((kind + (int)way) % 2 == 0) says_the_same(log.text, log.len, way & 2 ? 6000 : 0, &ways[way]);
        }
        dl_str_free(&log);
    }
}

/* Several logs in one, with other columns and other clocks. */
static void logs_behind_logs(void **state)
{
    (void)state;
    uint64_t seed = 8;
    for (int i = 0; i < 6; i++) {
        dl_str log = {0};
        for (int k = 0; k < 3; k++)
            test_log(&log, (int)(test_random(&seed) % TEST_LOG_KINDS), 2, test_random(&seed) % 50);
        says_the_same(log.text, log.len, i % 2 ? 3000 : 0, &ways[i % WAYS]);
        dl_str_free(&log);
    }
}

static void damaged_logs(void **state)
{
    (void)state;
    const unsigned long cases = test_cases(40);
    uint64_t seed = 13;
    for (unsigned long i = 0; i < cases; i++) {
        dl_str log = {0};
        const size_t n = test_damaged_log(&log, i, 4, &seed);
        says_the_same(log.text, n, i & 1 ? 200 + test_random(&seed) % 4000 : 0,
                      &ways[i / TEST_LOG_KINDS % WAYS]);
        dl_str_free(&log);
    }
}

/* More RISCs, places and templates than a block can tell apart. */
static void crowded_logs(void **state)
{
    (void)state;
    dl_str log = {0};
    dl_str_add(
        &log,
        "ARCH: wormhole_b0, CHIP_FREQ[MHz]: 1000\nPCIe slot, core_x, core_y, RISC processor type, timer_id, "
        "time[cycles since reset], data, run host ID, trace id, trace id counter, zone name, type, source "
        "line, source file, meta data\n");
    for (int i = 0; i < 3000; i++) {
        const int z = i / 2;
        dl_str_fmt(&log, "0,%d,1,RISC%d,%d,%d,%d,%d,%s,,%d,ZONE_%s,%d,a.cc,\n", 1 + z % 70, z % 24,
                   z % 900 + 1, 1000 + 10 * i, z % 3, 1 + z / 400, z % 5 ? "" : "4294967295", z % 900,
                   i & 1 ? "END" : "START", z % 900);
    }
    for (size_t way = 1; way < 3; way++)
        says_the_same(log.text, log.len, 0, &ways[way]);
    dl_str_free(&log);
}

/* One launch of a RISC: its zones in order, some of them several times, now and then with what breaks the order: a stamp
 * before the last, one far away, data, another launch id or another core in the middle. */
static void odd_launch(dl_str *log, uint64_t *seed, int risc, int launch, uint64_t *time)
{
    static const char *const names[] = {"BRISC", "NCRISC", "TRISC_0", "TRISC_1", "TRISC_2"};
    const uint64_t zones = 2 + test_random(seed) % 3;
    int core = 1 + launch % 2;
    for (uint64_t i = 0; i < 2 * zones; i++) {
        const bool ends = i >= zones;
        const uint64_t zone = ends ? 2 * zones - 1 - i : i, times = test_random(seed) % 8 ? 1 : 3;
        for (uint64_t k = 0; k < times; k++) {
            const uint64_t odd = test_random(seed) % 200;
            *time += odd == 0 ? 70000 : odd == 1 ? 0 - UINT64_C(40) : 5 + odd % 50;
            if (odd == 2) launch++;
            if (odd == 3) core ^= 3;
            dl_str_fmt(log, "0,%d,1,%s,%d,%llu,%d,%d,,,%s-%d,ZONE_%s,%d,a.cc,\n", core, names[risc],
                       risc * 10 + (int)zone, (unsigned long long)*time, odd == 4 ? 7 : 0, launch,
                       zone ? "zone" : "FW", (int)zone, ends ? "END" : "START", risc + (int)zone);
        }
    }
}

/* Blocks in which the same template is another one's each time, and rows that come as foretold until they do not. */
static void foretold_until_not(void **state)
{
    (void)state;
    const unsigned long cases = test_cases(12);
    uint64_t seed = 21;
    for (unsigned long i = 0; i < cases; i++) {
        dl_str log = {0};
        uint64_t times[5] = {1000, 1000, 1000, 1000, 1000};
        dl_str_add(
            &log,
            "ARCH: wormhole_b0, CHIP_FREQ[MHz]: 1000\nPCIe slot, core_x, core_y, RISC processor type, "
            "timer_id, time[cycles since reset], data, run host ID, trace id, trace id counter, zone name, "
            "type, source line, source file, meta data\n");
        for (int launch = 1; launch <= 60; launch++) {
            const int first = (int)(test_random(&seed) % 5), n = 1 + (int)(test_random(&seed) % 5);
            for (int risc = first; risc < first + n; risc++)
                odd_launch(&log, &seed, risc % 5, launch, &times[risc % 5]);
        }
        says_the_same(log.text, log.len, i % 3 ? 2000 + test_random(&seed) % 9000 : 0, &ways[i % WAYS]);
        dl_str_free(&log);
    }
}

/* A line within which a line ends (CR) is two for libcsv: a row, and what is no row, or a header, or another row. */
static void lines_within_lines(void **state)
{
    (void)state;
    static const char *const within[] = {
        "\r365",
        "\r1,2",
        "\r0, 1, 1, BRISC, 4, 99",
        "\rPCIe slot, core_x, core_y, RISC processor type, time[cycles since reset], timer_id",
        "\r",
        "\r\r"};
    for (size_t i = 0; i < sizeof within / sizeof within[0]; i++)
        for (int k = 0; k < 2; k++) {
            dl_str log = {0};
            dl_str_add(
                &log,
                "ARCH: grayskull, CHIP_FREQ[MHz]: 1202\nPCIe slot, core_x, core_y, RISC processor type, "
                "timer_id, time[cycles since reset]\n");
            for (int row = 0; row < 200; row++)
                dl_str_fmt(&log, "0, %d, 1, BRISC, %d, %d%s\n", 1 + row / 80, 1 + row % 4, 10000 + 100 * row,
                           row % 8 == 5 || (k && row % 2) ? within[i] : "");
            for (size_t way = 0; way < WAYS; way++)
                says_the_same(log.text, log.len, k ? 1500 : 0, &ways[way]);
            dl_str_free(&log);
        }
}

/* Whether a log is in disorder its beginning says, of which a line may be longer than the packed file. */
static void disorder_behind_a_long_line(void **state)
{
    (void)state;
    dl_str log = {0};
    dl_str_add(&log, "ARCH: wormhole_b0, CHIP_FREQ[MHz]: 1000\n");
    for (unsigned i = 0; i < 90; i++) {
        const unsigned k = i == 5    ? 80
                           : i == 24 ? 60
                           : i == 29 ? 70
                                     : i; /* three of them are behind later ones */
        dl_str_fmt(&log, "0,1,%u,BRISC,100,%u,0,%u,BRISC-FW,ZONE_%s,10,k.cc,", 1 + k % 2, 1000 + 100 * k,
                   k / 4, k / 2 % 2 ? "END" : "START");
        if (i == 5) dl_str_fmt(&log, ",%05000d", 0);
        dl_str_add(&log, "\n");
    }
    for (size_t way = 0; way < WAYS; way++)
        says_the_same(log.text, log.len, 0, &ways[way]);
    dl_str_free(&log);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(regular_logs),
        cmocka_unit_test(logs_behind_logs),
        cmocka_unit_test(damaged_logs),
        cmocka_unit_test(crowded_logs),
        cmocka_unit_test(foretold_until_not),
        cmocka_unit_test(lines_within_lines),
        cmocka_unit_test(disorder_behind_a_long_line),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
