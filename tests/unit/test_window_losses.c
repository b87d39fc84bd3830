/* What is told of a part of a packed log: what is wrong in the launches and the time that are wanted, and nothing of the blocks
 * around them, which are read with them. Statistics of parts: test_pack_window.c. */
#include <stdio.h>
#include <string.h>

#include "decode/decode.h"
#include "decode/pair/pair.h"
#include "support/cli.h"
#include "support/files.h"
#include "support/packed.h"

enum { LAUNCHES = 60, DEEP = 300 };

static void row(dl_str *log, uint64_t at, unsigned data, unsigned launch, const char *zone, const char *type)
{
    dl_str_fmt(log, "0,1,1,BRISC,7,%llu,%u,%u,,,%s,%s,5,k.cc,\n", (unsigned long long)at, data, launch, zone,
               type);
}

static void head(dl_str *log)
{
    dl_str_add(
        log,
        "ARCH: wormhole_b0, CHIP_FREQ[MHz]: 1000, Max Compute Cores: 64\n"
        "PCIe slot, core_x, core_y, RISC processor type, timer_id, time[cycles since reset], data, run host "
        "ID, trace id, trace id counter, zone name, type, source line, source file, meta data\n");
}

/* In every launch five markers are dropped; in every second one zone never ends; in every third an end has no start; in every
 * seventh more zones are open than are kept. */
static void make_log(dl_str *log)
{
    head(log);
    for (unsigned n = 1; n <= LAUNCHES; n++) {
        const uint64_t start = 10000ull * n;
        row(log, start, 0, n, "BRISC-FW", "ZONE_START");
        if (n % 3 == 0) row(log, start + 10, 0, n, "stray", "ZONE_END");
        if (n % 2) row(log, start + 20, 0, n, "open", "ZONE_START");
        row(log, start + 30, 0, n, "whole", "ZONE_START");
        row(log, start + 40, 0, n, "whole", "ZONE_END");
        for (unsigned k = 0; n % 7 == 0 && k < DEEP; k++)
            row(log, start + 50 + k, 0, n, "deep", "ZONE_START");
        for (unsigned k = 0; n % 7 == 0 && k < DEEP; k++)
            row(log, start + 400 + k, 0, n, "deep", "ZONE_END");
        row(log, start + 800, 5, n, "DEVLOG-DROPPED", "ZONE_TOTAL");
        row(log, start + 900, 0, n, "BRISC-FW", "ZONE_END");
    }
}

static void found_in(const dl_str *packed, const dl_filter *f, uint64_t found[DL_FINDINGS], dl_str *details)
{
    dl_decode *d;
    devlog_error err;
    const dl_decode_options o = {.filter = *f, .threads = 1, .only_input = true};
    write_bytes(in_scratch("log.pack"), packed->text, packed->len);
    assert_int_equal(dl_decode_new(&d, &o, &err), DEVLOG_OK);
    assert_int_equal(dl_decode_file(d, in_scratch("log.pack"), &err), DEVLOG_OK);
    assert_int_equal(dl_decode_finish(d, &err), DEVLOG_OK);
    const dl_losses *l = dl_decode_losses(d);
    assert_true(l->blocks > 10 && l->blocks_read < l->blocks);
    memcpy(found, l->found, sizeof l->found);
    for (int kind = 0; kind < DL_SKIPS + DL_FINDINGS; kind++)
        for (int i = 0; i < DL_DETAILS_PER_KIND && l->details[kind][i]; i++)
            dl_str_fmt(details, "%s\n", l->details[kind][i]);
    dl_decode_free(d);
}

static unsigned multiples(unsigned low, unsigned high, unsigned of)
{
    return high / of - (low - 1) / of;
}

/* Beside the firmware's zone and one that never ends. */
static unsigned deep_in(unsigned low, unsigned high)
{
    unsigned n = 0;
    for (unsigned i = low; i <= high; i++)
        if (i % 7 == 0) n += DEEP + 1 + i % 2 - DL_MAX_OPEN;
    return n;
}

static void what_is_wrong_around_a_part_is_not_told(void **state)
{
    (void)state;
    static const struct {
        unsigned low, high;
        bool by_time;
    } parts[] = {{22, 24, false}, {22, 24, true},  {29, 30, false}, {29, 30, true},  {20, 24, false},
                 {20, 24, true},  {21, 21, false}, {21, 21, true},  {35, 42, false}, {35, 42, true}};
    dl_str log = {0}, packed = {0};
    make_log(&log);
    assert_int_equal(test_pack(log.text, log.len, 1500, 1, &packed), DEVLOG_OK);
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        const unsigned low = parts[i].low, high = parts[i].high;
        const dl_filter_range launches = {low, high};
        const dl_filter of_launches = {.launches = &launches, .n_launches = 1},
                        of_time = {.from = 10000ull * low, .to = 10000ull * high + 999};
        uint64_t found[DL_FINDINGS];
        dl_str details = {0};
        found_in(&packed, parts[i].by_time ? &of_time : &of_launches, found, &details);
        const uint64_t told[] = {found[DL_FOUND_DROPPED], found[DL_FOUND_UNPAIRED_START],
                                 found[DL_FOUND_UNPAIRED_END], found[DL_FOUND_TOO_DEEP]},
                       wrong[] = {5 * (high - low + 1), high - low + 1 - multiples(low, high, 2),
                                  multiples(low, high, 3), deep_in(low, high)};
        for (int k = 0; k < 4; k++)
            if (told[k] != wrong[k])
                fail_msg("launches %u to %u, by %s, kind %d: %llu are told of %llu:\n%s", low, high,
                         parts[i].by_time ? "time" : "number", k, (unsigned long long)told[k],
                         (unsigned long long)wrong[k], details.text);
        dl_str_free(&details);
    }
    dl_str_free(&log);
    dl_str_free(&packed);
}

/* In every launch one stamp is 2^32 too low. */
static void what_was_repaired_around_a_part_is_not_told(void **state)
{
    (void)state;
    const uint64_t torn = UINT64_C(1) << 32;
    dl_str log = {0}, packed = {0};
    head(&log);
    for (unsigned n = 1; n <= LAUNCHES; n++) {
        row(&log, torn * n + 10, 0, n, "BRISC-FW", "ZONE_START");
        row(&log, torn * n + 20, 0, n, "whole", "ZONE_START");
        row(&log, torn * (n - 1) + 30, 0, n, "whole", "ZONE_END");
        for (unsigned k = 0; k < 12; k++) {
            row(&log, torn * n + 40 + 2 * k, 0, n, "more", "ZONE_START");
            row(&log, torn * n + 41 + 2 * k, 0, n, "more", "ZONE_END");
        }
        row(&log, torn * n + 900, 0, n, "BRISC-FW", "ZONE_END");
    }
    assert_int_equal(test_pack(log.text, log.len, 5000, 1, &packed), DEVLOG_OK);
    const dl_filter_range launches = {20, 24};
    uint64_t found[DL_FINDINGS];
    dl_str details = {0};
    found_in(&packed, &(dl_filter){.launches = &launches, .n_launches = 1}, found, &details);
    if (found[DL_FOUND_TORN] != 5) fail_msg("%s", details.text ? details.text : "nothing");
    dl_str_free(&details);
    dl_str_free(&log);
    dl_str_free(&packed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(what_is_wrong_around_a_part_is_not_told),
                                       cmocka_unit_test(what_was_repaired_around_a_part_is_not_told)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
