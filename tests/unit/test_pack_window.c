/* A part of a packed log, launches, replays or a window of time: what is decoded of it is what is decoded of the whole log, and the
 * rest is not read. What its index cannot say is in test_pack_index.c, op reports of parts are in test_pack_ops.c. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "decode/decode.h"
#include "pack/follow.h"
#include "support/cli.h"
#include "support/files.h"
#include "support/logs.h"
#include "support/parts.h"
#include "support/random.h"

enum { FIRST_LOOKS = 640 * 1024 };

static void a_part_is_as_of_the_whole(void **state)
{
    (void)state;
    const unsigned cases = test_cases(40);
    unsigned full = 0;
    uint64_t seed = 5;
    dl_str log = {0};
    make_dumps(&log, 3, true, false);
    pack_log(&log);
    for (unsigned i = 0; i < cases; i++) {
        char what[120];
        const uint64_t first = 1024 + test_random(&seed) % PART_LAUNCHES, n = test_random(&seed) % 30;
        const dl_filter_range launches = {first, first + n < 1024 + PART_LAUNCHES ? first + n
                                                                                  : 1023 + PART_LAUNCHES};
        const uint64_t from = 100000 + test_random(&seed) % (5000 * PART_LAUNCHES),
                       to = from + test_random(&seed) % 90000;
        const dl_filter_range chip = {1, 1};
        dl_filter f = {.n_chips = i % 5 == 0, .chips = &chip};
        if (i % 2) {
            f.launches = &launches;
            f.n_launches = 1;
        }
        if (i % 2 == 0 || i % 7 == 0) {
            f.from = from;
            f.to = to;
        }
        snprintf(what, sizeof what, "case %u: launches %llu-%llu, cycles %llu-%llu", i,
                 (unsigned long long)launches.low, (unsigned long long)launches.high,
                 (unsigned long long)f.from, (unsigned long long)f.to);
        full += part_is_the_same(what, &f, 0) > 0;
    }
    assert_true(full * 2 > cases); /* a window of time may be between two launches */
    /* Ids that the host's files name. */
    const dl_filter_id picked[] = {
        {1030, 0, DL_FILTER_ANY}, {1330, 0, DL_FILTER_ANY}, {1030, 1, DL_FILTER_ANY}};
    assert_true(
        part_is_the_same("picked", &(dl_filter){.picks = true, .picked = picked, .n_picked = 3}, 220));
    dl_str_free(&log);
}

/* In proportion to the window, by blocks and by the bytes that the process has read. */
static void the_rest_is_not_read(void **state)
{
    (void)state;
    dl_str log = {0};
    part_outcome all, part;
    make_dumps(&log, 4, true, false);
    pack_log(&log);
    const dl_filter_range launches = {1040, 1043};
    const dl_filter of_launches = {.launches = &launches, .n_launches = 1},
                    of_time = {.from = 150000, .to = 160000};
    decode_as_text(&all, in_scratch("log.pack"), &(dl_filter){.n_cores = 0}, 1);
    assert_int_equal(all.blocks, 0);
    const dl_filter *const filters[] = {&of_launches, &of_time};
    for (int i = 0; i < 2; i++) {
        decode_as_text(&part, in_scratch("log.pack"), filters[i], 1);
        /* 4 of 200 launches of a dump, one of three dumps: a block or two of each RISC of a core of each chip. */
        if (!part.blocks || part.blocks_read * 4 > part.blocks)
            fail_msg("%llu of %llu blocks", (unsigned long long)part.blocks_read,
                     (unsigned long long)part.blocks);
        /* The log's beginning is looked at, and the index read, whatever is wanted. */
        if (all.bytes && part.bytes > FIRST_LOOKS + all.bytes / 4)
            fail_msg("%llu bytes of %llu", (unsigned long long)part.bytes, (unsigned long long)all.bytes);
        dl_str_free(&part.text);
    }
    dl_str_free(&all.text);
    dl_str_free(&log);
}

static int by_stamp(const void *a, const void *b)
{
    const char *const *x = a, *const *y = b;
    const long long at = atoll(*x), other = atoll(*y);
    return (at > other) - (at < other);
}

/* In the order of time, as a log of many cores is that was sorted: some launches last longer than many blocks are, with nothing
 * between their beginning and their end. */
static void make_long_launches(dl_str *log, uint64_t *seed)
{
    enum { N = 2800 };
    static char rows[2 * N][160];
    char *order[2 * N];
    dl_str_add(
        log,
        "ARCH: wormhole_b0, CHIP_FREQ[MHz]: 1000, Max Compute Cores: 64\n"
        "PCIe slot, core_x, core_y, RISC processor type, timer_id, time[cycles since reset], data, run host "
        "ID, trace id, trace id counter, zone name, type, source line, source file, meta data\n");
    uint64_t at[6] = {0};
    for (unsigned i = 0; i < N; i++) {
        const unsigned core = (unsigned)(test_random(seed) % 6);
        const bool traced = i % 3 == 0, is_long = test_random(seed) % 300 == 0;
        const uint64_t start = 1000 + 100 * i > at[core] ? 1000 + 100 * i : at[core],
                       end = start + 1 + test_random(seed) % (is_long ? 30000 : 90);
        char ids[40];
        if (traced)
            snprintf(ids, sizeof ids, "%u,1,%u", 5 + i / 3 % 4, 1 + i / 12);
        else
            snprintf(ids, sizeof ids, "%u,,", 1024 + i);
        at[core] = end + 1;
        for (unsigned k = 0; k < 2; k++) {
            order[2 * i + k] = rows[2 * i + k];
            snprintf(rows[2 * i + k], sizeof rows[0],
                     "%llu:%u,%u,1,BRISC,7,%llu,0,%s,BRISC-FW,ZONE_%s,10,k.cc,\n",
                     (unsigned long long)(k ? end : start), core % 2, core,
                     (unsigned long long)(k ? end : start), ids, k ? "END" : "START");
        }
    }
    qsort(order, sizeof order / sizeof *order, sizeof *order, by_stamp);
    for (unsigned i = 0; i < 2 * N; i++)
        dl_str_add(log, strchr(order[i], ':') + 1);
}

static void launches_longer_than_blocks(void **state)
{
    (void)state;
    uint64_t seed = 77;
    unsigned any = 0, fewer = 0;
    for (unsigned i = 0; i < 3; i++) {
        dl_str log = {0};
        make_long_launches(&log, &seed);
        pack_log(&log);
        for (unsigned k = 0; k < 8; k++) {
            const uint64_t from = 1000 + test_random(&seed) % 250000, to = from + test_random(&seed) % 2000;
            const dl_filter f = {.from = from, .to = k % 4 ? to : 0};
            char what[80];
            snprintf(what, sizeof what, "log %u, from %llu to %llu", i, (unsigned long long)f.from,
                     (unsigned long long)f.to);
            any += part_is_the_same(what, &f, 0) > 0;
            part_outcome part;
            decode_as_text(&part, in_scratch("log.pack"), &f, 1);
            fewer += part.blocks > 2 * part.blocks_read;
            dl_str_free(&part.text);
        }
        dl_str_free(&log);
    }
    assert_true(any > 20 && fewer > 14);
}

/* Ids of replays come in every block, and a window of other launches is read without the blocks that have none of it. */
static void replays_hide_nothing(void **state)
{
    (void)state;
    dl_str log = {0};
    const dl_filter_range one = {1140, 1143}, two[] = {{1030, 1031}, {1500, 1500}}, replayed = {6, 6},
                          seldom = {900000, 900000}, session = {3, 4}, sessions = {77, 79}, trace = {2, 2};
    const dl_filter_id picked[] = {{1030, 0, DL_FILTER_ANY}, {1330, 0, DL_FILTER_ANY}},
                       replay[] = {{6, 0, 77}, {1030, 0, DL_FILTER_ANY}};
    const dl_filter
        of_one = {.launches = &one, .n_launches = 1},
        of_two = {.launches = two, .n_launches = 2},
        of_picked = {.picks = true, .picked = picked, .n_picked = 2},
        of_seldom = {.launches = &seldom, .n_launches = 1},
        of_replayed = {.launches = &replayed, .n_launches = 1},
        of_replay = {.picks = true, .picked = replay, .n_picked = 2},
        of_session = {.launches = &seldom, .n_launches = 1, .sessions = &session, .n_sessions = 1},
        of_window = {.launches = &replayed, .n_launches = 1, .sessions = &sessions, .n_sessions = 1},
        of_sessions = {.sessions = &sessions, .n_sessions = 1}, of_trace = {.traces = &trace, .n_traces = 1},
        of_both = {.traces = &trace, .n_traces = 1, .sessions = &session, .n_sessions = 1};
    make_replays(&log);
    pack_log(&log);
    part_outcome part;
    decode_as_text(&part, in_scratch("log.pack"), &of_one, 1);
    const uint64_t blocks = part.blocks;
    dl_str_free(&part.text);
    assert_true(blocks > 100);
    /* One of three dumps, and of it a block or two of each RISC of a core. */
    const uint64_t of_a_launch = 2 * PART_CORES * PART_RISCS + 2;
    assert_true(of_a_launch * 3 < blocks);
    assert_true(part_is_the_same("a launch between replays", &of_one, of_a_launch));
    assert_true(part_is_the_same("two windows", &of_two, 2 * of_a_launch));
    assert_true(part_is_the_same("picked", &of_picked, 2 * of_a_launch));
    assert_true(part_is_the_same("a trace that is seldom replayed", &of_seldom, blocks * 2 / 3));
    assert_true(part_is_the_same("some of its replays", &of_session, blocks * 2 / 3));
    assert_true(part_is_the_same("a trace that is replayed everywhere", &of_replayed, 0));
    assert_true(part_is_the_same("one replay", &of_replay, 2 * of_a_launch));
    assert_true(part_is_the_same("three replays of a launch", &of_window, of_a_launch));
    assert_true(part_is_the_same("three replays", &of_sessions, of_a_launch));
    assert_true(part_is_the_same("a trace", &of_trace, blocks * 2 / 3));
    assert_true(part_is_the_same("a trace and two of its replays", &of_both, blocks / 2));
    /* A launch that is not there, where the least and the greatest would let it be. */
    char *err;
    assert_int_equal(devlog("decode log.pack --launches 1030,5000 -f json", NULL, &err), 1);
    assert_non_null(strstr(err, "--launches 5000: no such launch"));
    free(err);
    dl_str_free(&log);
}

static void parts_of_replays(void **state)
{
    (void)state;
    uint64_t seed = 23;
    unsigned any = 0, fewer = 0;
    for (unsigned kind = 0; kind < 7; kind++) {
        dl_str log = {0};
        make_replays(&log);
        if (kind) reword_rows(&log, &seed, kind);
        pack_log(&log);
        for (unsigned i = kind % 4; i < 8; i += kind ? 4 : 1) {
            char what[80];
            const uint64_t a = test_random(&seed) % PART_LAUNCHES, b = test_random(&seed) % 3,
                           one = test_random(&seed) % 4;
            const dl_filter_range launches = {one ? 4 + one : 1024 + a, one ? 4 + one : 1025 + a},
                                  sessions = {a, a + b}, traces = {1 + b % 2, 2};
            const dl_filter_id picked[] = {
                {5, 0, (uint32_t)a}, {6, 0, (uint32_t)a + 1}, {1024 + a, 0, DL_FILTER_ANY}};
            dl_filter f = {.n_launches = i & 1, .launches = &launches};
            f.sessions = &sessions;
            f.n_sessions = i >> 1 & 1;
            f.traces = &traces;
            f.n_traces = i >> 2 & 1;
            if (i == 0) f.picks = true, f.picked = picked, f.n_picked = 3;
            snprintf(what, sizeof what, "kind %u, case %u", kind, i);
            any += part_is_the_same(what, &f, 0) > 0;
            part_outcome part;
            decode_as_text(&part, in_scratch("log.pack"), &f, 1);
            fewer += part.blocks > 0;
            dl_str_free(&part.text);
        }
        dl_str_free(&log);
    }
    assert_true(any > 6 && fewer > 6);
}

/* Where nothing is left, the same is said of the log and of a part of it that was read: what there is in all of it. */
static void nothing_is_left_of_a_part(void **state)
{
    (void)state;
    static const struct {
        const char *options, *says;
    } ways[] = {
        {"--launches 1100-1103 --zone CHIP0", "each filter leaves something"},
        {"--launches 1100-1103 --zone typo",
         "; the log has 'BRISC-FW', 'BRISC-KERNEL', 'BRISC-INNER', 'NCRISC-FW', "},
        {"--launches 1100-1103 --core 7,1 --riscs IDLE",
         "no such RISC; the log has 'BRISC', 'NCRISC', 'TRISC_0', 'ERISC'"},
        {"--launches 1100-1103 --min-cycles 100000", "the longest has 4"},
        {"--launches 1100-1103 --zone CHIP0 --min-cycles 1", "the other filters leave no zone"},
        {"--launches 1600 --zone CHIP0 --min-cycles 300", "the longest has 1 cycles"},
        {"--launches 1100-1103 --from 4000000", "the rows are of cycles 100002 to 3100039"},
        {"--from 150000 --until 160000 --launches 1600-1601", "each filter leaves something"},
        {"--from 150000 --until 160000 --chips 3", "no such chip; the log has 0-1"},
    };
    dl_str log = {0};
    make_dumps(&log, 6, true, false);
    /* On one core, at the end of the log. */
    for (unsigned i = 0; i < 40; i++)
        dl_str_fmt(&log, "1,7,9,ERISC,99,%u,0,1600,,,CHIP0,ZONE_%s,3,k.cc,\n", 3100000 + i,
                   i % 2 ? "END" : "START");
    pack_log(&log);
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        char line[200], *of_log, *of_part;
        snprintf(line, sizeof line, "decode log.csv -f json %s", ways[i].options);
        assert_int_equal(devlog(line, NULL, &of_log), 1);
        snprintf(line, sizeof line, "decode log.pack -f json %s", ways[i].options);
        assert_int_equal(devlog(line, NULL, &of_part), 1);
        if (!strstr(of_log, ways[i].says)) fail_msg("%s: %s", ways[i].options, of_log);
        assert_string_equal(of_part, of_log);
        free(of_log);
        free(of_part);
    }
    /* A RISC that only others have is no mistake. */
    char *of_log = devlog_ok(
             "decode log.csv --launches 1100-1103 --riscs BRISC,ERISC --no-files --max-launches 0", 3),
         *of_part = devlog_ok(
             "decode log.pack --launches 1100-1103 --riscs BRISC,ERISC --no-files --max-launches 0", 0);
    const size_t tables = (size_t)(strstr(of_log, " rows in ") - of_log);
    assert_true(tables > 200);
    assert_memory_equal(of_log, of_part, tables - 20);
    free(of_log);
    free(of_part);
    dl_str_free(&log);
}

/* A run that goes on with a file tells the ids of the blocks that it finds. */
static void a_file_that_goes_on(void **state)
{
    (void)state;
    dl_str log = {0};
    devlog_error err = {0};
    pk_followed followed;
    const dl_filter_range one = {1140, 1143};
    const dl_filter of_one = {.launches = &one, .n_launches = 1};
    const pk_follow_options o = {.text = PART_BLOCK};
    char *csv = strdup(in_scratch("log.csv")), *packed = strdup(in_scratch("log.pack"));
    make_replays(&log);
    unlink(packed);
    for (int part = 1; part <= 2; part++) {
        write_bytes(csv, log.text, part == 1 ? log.len * 2 / 3 : log.len);
        assert_int_equal(pk_follow(csv, packed, &o, &followed, &err), DEVLOG_OK);
    }
    assert_true(followed.before > 0);
    assert_true(
        part_is_the_same("a launch of the part that was there", &of_one, 2 * PART_CORES * PART_RISCS + 2));
    free(csv);
    free(packed);
    dl_str_free(&log);
}
int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_part_is_as_of_the_whole),
        cmocka_unit_test(the_rest_is_not_read),
        cmocka_unit_test(launches_longer_than_blocks),
        cmocka_unit_test(nothing_is_left_of_a_part),
        cmocka_unit_test(replays_hide_nothing),
        cmocka_unit_test(a_file_that_goes_on),
        cmocka_unit_test(parts_of_replays),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
