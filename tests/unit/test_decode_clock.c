/* What is judged mark by mark: the last stamp of a log, stamps that are equal, and clocks that two logs of one chip say
 * differently. Torn stamps in every place of a launch: test_decode_torn.c. */
#include "support/cmocka_all.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "support/events.h"

#define TORN   (UINT64_C(1) << 32)
#define CHANGE (505 * TORN) /* the upper half of the clock changes here */

enum { MOST = 16 };

typedef struct found {
    uint64_t starts[MOST], ends[MOST];
    size_t n;
    uint64_t kinds[DL_FINDINGS], all;
    bool loss;
} found;

static devlog_status on_events(void *ctx, const dl_event *events, size_t n, devlog_error *err)
{
    found *f = ctx;
    (void)err;
    for (size_t i = 0; i < n; i++) {
        if (events[i].kind != DL_EVENT_ZONE) continue;
        assert_true(f->n < MOST);
        f->starts[f->n] = events[i].start;
        f->ends[f->n++] = events[i].end;
    }
    return DEVLOG_OK;
}

typedef struct row {
    const char *zone;
    uint64_t stamp;
    bool ends;
    const char *risc; /* NULL: BRISC */
} row;

static void add_log(dl_decode *d, unsigned mhz, const row *rows, size_t n)
{
    dl_str log = {0};
    devlog_error err;
    dl_str_fmt(&log,
               "ARCH: wormhole_b0, CHIP_FREQ[MHz]: %u\n"
               "PCIe slot, core_x, core_y, RISC processor type, timer_id, time[cycles since reset], data, "
               "run host ID, zone name, type, source line, source file\n",
               mhz);
    for (size_t i = 0; i < n; i++)
        dl_str_fmt(&log, "0,1,1,%s,7,%" PRIu64 ",0,0,%s,%s,1,k.cc\n", rows[i].risc ? rows[i].risc : "BRISC",
                   rows[i].stamp, rows[i].zone, rows[i].ends ? "ZONE_END" : "ZONE_START");
    assert_false(log.failed);
    assert_int_equal(dl_decode_memory(d, "log.csv", log.text, log.len, &err), DEVLOG_OK);
    dl_str_free(&log);
}

static dl_decode *begin(found *f)
{
    dl_decode *d;
    devlog_error err;
    assert_int_equal(dl_decode_new(&d, &(dl_decode_options){.threads = 1}, &err), DEVLOG_OK);
    test_events_to(d, f, on_events);
    return d;
}

static void finish(dl_decode *d, found *f)
{
    devlog_error err;
    assert_int_equal(dl_decode_finish(d, &err), DEVLOG_OK);
    const dl_losses *l = dl_decode_losses(d);
    for (int i = 0; i < DL_FINDINGS; i++) {
        f->kinds[i] = l->found[i];
        f->all += l->found[i];
    }
    f->loss = dl_losses_any(l);
    dl_decode_free(d);
}

/* One log for each clock, with the same rows, each behind the one before. */
static found decode(const unsigned *mhz, size_t n_logs, const row *rows, size_t n)
{
    found f = {0};
    dl_decode *d = begin(&f);
    for (size_t i = 0; i < n_logs; i++) {
        row later[MOST];
        for (size_t k = 0; k < n; k++)
            later[k] = (row){rows[k].zone, rows[k].stamp + 1000 * i, rows[k].ends, rows[k].risc};
        add_log(d, mhz[i], later, n);
    }
    finish(d, &f);
    return f;
}

static const unsigned one_clock[] = {1000};

static void clocks_of_a_chip(void **state)
{
    (void)state;
    static const row rows[] = {{"A", 5000, false, NULL},
                               {"A", 5010, true, NULL},
                               {"A", 5000, false, "NCRISC"},
                               {"A", 5010, true, "NCRISC"}};
    found f = decode((const unsigned[]){1000, 1000, 1000}, 3, rows, 4);
    assert_int_equal(f.n, 6);
    assert_int_equal(f.all, 0);
    f = decode((const unsigned[]){1000, 1000, 1350}, 3, rows, 4); /* told once, not for every RISC */
    assert_int_equal(f.n, 6);
    assert_int_equal(f.kinds[DL_FOUND_FREQUENCY], 1);
    assert_int_equal(f.all, 1);
}

/* What chip lines of several logs say of one chip: the first that says it holds, and one without timing is enough. */
static void chip_lines_of_a_chip(void **state)
{
    (void)state;
    static const char *const lines[] = {"", ", AICLK[MHz]: 800, Max Compute Cores: 80",
                                        ", AICLK[MHz]: 900, Max Compute Cores: 64, Cycles: instructions", ""};
    found f = {0};
    dl_decode *d = begin(&f);
    for (unsigned i = 0; i < 4; i++) {
        char log[600];
        devlog_error err;
        snprintf(
            log, sizeof log,
            "ARCH: wormhole_b0, CHIP_FREQ[MHz]: 1000%s\nPCIe slot, core_x, core_y, RISC processor type, timer_id, "
            "time[cycles since reset], data, run host ID, zone name, type, source line, source file\n"
            "0,1,1,BRISC,7,%u000,0,%u,A,ZONE_START,1,k.cc\n0,1,1,BRISC,7,%u010,0,%u,A,ZONE_END,1,k.cc\n",
            lines[i], i + 5, i + 1, i + 5, i + 1);
        assert_int_equal(dl_decode_memory(d, "log.csv", log, strlen(log), &err), DEVLOG_OK);
    }
    devlog_error err;
    assert_int_equal(dl_decode_finish(d, &err), DEVLOG_OK);
    const dl_chip *chip = &dl_decode_tables(d)->chips[0];
    assert_int_equal(chip->aiclk_khz, 800000);
    assert_int_equal(chip->max_cores, 80);
    assert_true(chip->instructions);
    dl_decode_free(d);
}

/* Without firmware rows between them, an end of launch 2 is not paired with a start of launch 1, and is told as what it is. */
static void an_end_in_another_launch(void **state)
{
    (void)state;
    static const char log[] =
        "ARCH: wormhole_b0, CHIP_FREQ[MHz]: 1000\nPCIe slot, core_x, core_y, RISC processor type, timer_id, "
        "time[cycles since reset], data, run host ID, zone name, type, source line, source file\n"
        "0,1,1,BRISC,7,1000,0,1,a,ZONE_START,1,k.cc\n0,1,1,BRISC,7,1100,0,2,a,ZONE_END,1,k.cc\n";
    devlog_error err;
    found f = {0};
    dl_decode *d = begin(&f);
    assert_int_equal(dl_decode_memory(d, "log.csv", log, sizeof log - 1, &err), DEVLOG_OK);
    assert_int_equal(dl_decode_finish(d, &err), DEVLOG_OK);
    const dl_losses *l = dl_decode_losses(d);
    assert_int_equal(f.n, 0);
    assert_int_equal(l->found[DL_FOUND_UNPAIRED_START], 1);
    assert_int_equal(l->found[DL_FOUND_OTHER_LAUNCH], 1);
    assert_int_equal(l->found[DL_FOUND_UNPAIRED_END], 0);
    assert_non_null(strstr(l->details[DL_SKIPS + DL_FOUND_OTHER_LAUNCH][0], "began in another launch"));
    dl_decode_free(d);
}

/* A log of three launches, and behind it the same from its first, second or third launch on. */
static void a_log_that_is_there_again_from_anywhere(void **state)
{
    (void)state;
    for (unsigned from = 1; from <= 3; from++) {
        devlog_error err;
        dl_decode *d;
        assert_int_equal(dl_decode_new(&d, NULL, &err), DEVLOG_OK);
        for (unsigned log = 0; log < 2; log++) {
            dl_str text = {0};
            dl_str_add(
                &text,
                "ARCH: wormhole_b0, CHIP_FREQ[MHz]: 1000\nPCIe slot, core_x, core_y, RISC processor type, timer_id, "
                "time[cycles since reset], data, run host ID, zone name, type, source line, source file\n");
            for (unsigned launch = log ? from : 1; launch <= 3; launch++)
                dl_str_fmt(&text,
                           "0,1,1,BRISC,7,%u0000000,0,%u,BRISC-FW,ZONE_START,1,k.cc\n"
                           "0,1,1,BRISC,7,%u0000100,0,%u,BRISC-FW,ZONE_END,1,k.cc\n",
                           3 * launch, launch, 3 * launch, launch);
            assert_int_equal(dl_decode_memory(d, "log.csv", text.text, text.len, &err), DEVLOG_OK);
            dl_str_free(&text);
        }
        assert_int_equal(dl_decode_finish(d, &err), DEVLOG_OK);
        if (dl_decode_losses(d)->found[DL_FOUND_REPEATED] != 1 ||
            dl_decode_losses(d)->found[DL_FOUND_CLOCK_RESTART])
            fail_msg("from launch %u on: %llu times, %llu restarts", from,
                     (unsigned long long)dl_decode_losses(d)->found[DL_FOUND_REPEATED],
                     (unsigned long long)dl_decode_losses(d)->found[DL_FOUND_CLOCK_RESTART]);
        dl_decode_free(d);
    }
}

/* Nothing is behind it, and it is earlier than the one before. */
static void the_last_stamp(void **state)
{
    (void)state;
    static const struct {
        int64_t start; /* from the change on */
        uint64_t took;
    } cases[] = {{20, 0}, {20, 1}, {20, 700}, {20, 100000}, {20, (1 << 20) - 21}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const uint64_t start = CHANGE + (uint64_t)cases[i].start, end = start + cases[i].took;
        const row low[] = {{"A", start, false, NULL}, {"A", end - TORN, true, NULL}};
        found f = decode(one_clock, 1, low, 2);
        assert_int_equal(f.n, 1);
        assert_int_equal(f.starts[0], start);
        assert_int_equal(f.ends[0], end);
        assert_int_equal(f.kinds[DL_FOUND_TORN], 1);
        assert_int_equal(f.all, 1);
    }
    /* Either of them may be off: before the change the first is as near to one that it would have been read with. */
    static const uint64_t before[] = {5, 100000};
    for (size_t i = 0; i < sizeof before / sizeof *before; i++) {
        const row either[] = {{"A", CHANGE - before[i], false, NULL},
                              {"A", CHANGE + 1000 - TORN, true, NULL}};
        const found f = decode(one_clock, 1, either, 2);
        assert_int_equal(f.n, 0);
        assert_int_equal(f.kinds[DL_FOUND_TORN], 0);
        assert_true(f.loss);
    }
    /* Far from a change of the upper half no stamp is torn. */
    static const uint64_t far[][2] = {{TORN / 2, TORN / 2 + 700}, {20, 1 << 20}};
    for (size_t i = 0; i < sizeof far / sizeof *far; i++) {
        const row disorder[] = {{"A", CHANGE + far[i][0], false, NULL},
                                {"A", CHANGE + far[i][1] - TORN, true, NULL}};
        const found f = decode(one_clock, 1, disorder, 2);
        assert_int_equal(f.n, 0);
        assert_int_equal(f.kinds[DL_FOUND_TORN], 0);
        assert_true(f.loss);
    }
}

/* A zone of 4.3 s and more that ends near a change of the upper half, and what is behind it has the same stamp: they say
 * the same, so neither is off. */
static void two_that_are_equal(void **state)
{
    (void)state;
    const uint64_t start = CHANGE - TORN - 900, end = CHANGE - 10;
    const row rows[] = {{"A", start, false, NULL}, {"A", end, true}, {"B", end, false}, {"B", end + 5, true}};
    const found f = decode(one_clock, 1, rows, 4);
    assert_int_equal(f.n, 2);
    assert_int_equal(f.starts[0], start);
    assert_int_equal(f.ends[0], end);
    assert_int_equal(f.all, 0);
}

/* A zone of 1,000 cycles less than 2^32 that ends near a change of the upper half: 2^32 before its end is before its start, so
 * no torn read explains the end, neither as the last stamp of all nor before another log that begins a little earlier. */
static void hardly_less_than_2_32(void **state)
{
    (void)state;
    const uint64_t end = CHANGE - 5, start = end - (TORN - 1000);
    const row first[] = {{"A", start, false, NULL}, {"A", end, true, NULL}};
    found f = decode(one_clock, 1, first, 2);
    assert_int_equal(f.n, 1);
    assert_int_equal(f.all, 0);

    f = (found){0};
    const row second[] = {{"B", end - 20, false, NULL}, {"B", end - 10, true, NULL}};
    dl_decode *d = begin(&f);
    add_log(d, 1000, first, 2);
    add_log(d, 1000, second, 2);
    finish(d, &f);
    assert_int_equal(f.starts[0], start);
    assert_int_equal(f.ends[0], end);
    assert_int_equal(f.kinds[DL_FOUND_TORN] + f.kinds[DL_FOUND_AMBIGUOUS], 0);
    assert_true(f.all > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(clocks_of_a_chip),         cmocka_unit_test(chip_lines_of_a_chip),
        cmocka_unit_test(an_end_in_another_launch), cmocka_unit_test(a_log_that_is_there_again_from_anywhere),
        cmocka_unit_test(the_last_stamp),           cmocka_unit_test(two_that_are_equal),
        cmocka_unit_test(hardly_less_than_2_32)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
