/* The index of a packed log: what it says, and what is read where it says too little, is of an older version, or where the log is not
 * what its rows' places say. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <xxhash.h>
#include <zstd.h>

#include "pack/frame.h"
#include "support/cli.h"
#include "support/files.h"
#include "support/logs.h"
#include "support/packed.h"
#include "support/parts.h"
#include "support/random.h"

/* Every id that was added is met, and what is met is not much more. */
static void ranges_of_ids(void **state)
{
    (void)state;
    uint64_t seed = 11;
    for (int k = 0; k < 2000; k++) {
        pk_ids ids = {0}, back;
        uint8_t bytes[PK_IDS_BYTES];
        uint64_t added[40];
        const size_t n = 1 + test_random(&seed) % 40, groups = 1 + test_random(&seed) % 12;
        for (size_t i = 0; i < n; i++) {
            added[i] = 1000 * (test_random(&seed) % groups) + test_random(&seed) % 50;
            if (k % 10 == 0 && i == 3) added[i] = UINT64_MAX - test_random(&seed) % 2;
            pk_ids_add(&ids, added[i]);
        }
        pk_ids_put(bytes, &ids);
        pk_ids_get(bytes, &back);
        assert_int_equal(back.n, ids.n);
        assert_true(ids.n > 0 && ids.n <= PK_ID_RANGES);
        for (size_t i = 0; i < n; i++)
            assert_true(pk_ids_meet(&back, added[i], added[i]));
        for (size_t i = 1; i < ids.n; i++)
            assert_true(ids.low[i] > ids.high[i - 1] + 1);
        if (groups <= 2) assert_false(pk_ids_meet(&back, 5000, 6000));
    }
    /* Far groups stay apart, whatever comes between them. */
    pk_ids ids = {0};
    for (uint64_t i = 0; i < 600; i++) {
        pk_ids_add(&ids, 100000 + 1024 * i);
        pk_ids_add(&ids, 5 + i % 6);
    }
    assert_false(pk_ids_meet(&ids, 11, 99999));
}

/* The packed file with an index as it was written before it had ids (1), or told those of traces apart (2). */
enum { KNOWN_AT = 24 + 12 };

static void make_old(const uint8_t *bytes, size_t n, uint8_t version, dl_str *out)
{
    const size_t one = version == 1 ? PK_OLD_ENTRY_BYTES : PK_OLD_ENTRY_BYTES + PK_IDS_BYTES;
    uint8_t head[PK_HEADER_BYTES], end[PK_END_BYTES];
    pk_header h;
    const size_t end_at = n - PK_HEADER_BYTES - PK_END_BYTES;
    memcpy(end, bytes + end_at + PK_HEADER_BYTES, sizeof end);
    const uint64_t index_at = pk_get64(end + 32);
    assert_true(pk_header_get(bytes + index_at, &h) && h.kind == PK_INDEX && h.version == PK_INDEX_VERSION);
    uint8_t *entries = malloc(h.size), *old = malloc(h.size);
    assert_int_equal(ZSTD_decompress(entries, h.size, bytes + index_at + PK_HEADER_BYTES, h.stored), h.size);
    const size_t blocks = h.size / PK_ENTRY_BYTES;
    for (size_t i = 0; i < blocks; i++)
        memcpy(old + i * one, entries + i * PK_ENTRY_BYTES, one);
    for (size_t i = 0; i < blocks; i++)
        memset(old + i * one + KNOWN_AT, 0, 4);
    h.version = version;
    h.plain = true;
    h.size = h.stored = (uint32_t)(blocks * one);
    h.text_check = XXH64(old, h.size, 0);
    dl_str_add_n(out, (const char *)bytes, index_at);
    pk_header_put(head, &h, old);
    dl_str_add_n(out, (const char *)head, sizeof head);
    dl_str_add_n(out, (const char *)old, h.stored);
    dl_str_add_n(out, (const char *)bytes + end_at, n - end_at);
    free(entries);
    free(old);
}

/* Of these the least and the greatest id of a block are known. */
static void an_index_without_ids(void **state)
{
    (void)state;
    dl_str log = {0}, old = {0};
    size_t n;
    const dl_filter_range one = {1140, 1143};
    const dl_filter of_one = {.launches = &one, .n_launches = 1};
    for (int k = 0; k < 3; k++) {
        const bool replays = k == 1; /* of these an index of version 2 had ranges that one of now has not */
        log.len = old.len = 0;
        if (replays)
            make_replays(&log);
        else
            make_dumps(&log, 4, true, false);
        pack_log(&log);
        char *packed = read_bytes(in_scratch("log.pack"), &n);
        make_old((const uint8_t *)packed, n, k == 2 ? 2 : 1, &old);
        write_bytes(in_scratch("log.pack"), old.text, old.len);
        free(packed);
        assert_true(part_is_the_same("an old index", &of_one, replays ? 0 : 220));
        free(devlog_ok("unpack log.pack -o back.csv", 0));
        char *back = read_bytes(in_scratch("back.csv"), &n);
        assert_int_equal(n, log.len);
        assert_memory_equal(back, log.text, n);
        free(back);
        unlink(in_scratch("back.csv"));
    }
    dl_str_free(&log);
    dl_str_free(&old);
}

/* Where the index does not say enough, all is read. */
static void what_the_index_does_not_know(void **state)
{
    (void)state;
    dl_str log = {0};
    const dl_filter_range launches = {3, 5};
    make_dumps(&log, 4, false, false);
    pack_log(&log);
    assert_true(part_is_the_same("without ids", &(dl_filter){.launches = &launches, .n_launches = 1}, 0));
    dl_str_free(&log);
    make_dumps(&log, 4, true, false);
    pack_log(&log);
    char *err;
    assert_int_equal(devlog("decode log.pack --launches 1030,5000 -f json", NULL, &err), 1);
    assert_non_null(strstr(err, "--launches 5000: no such launch; the log has 1024-1623"));
    free(err);
    assert_int_equal(devlog("decode log.pack --from 90000000 -f json", NULL, &err), 1);
    assert_non_null(strstr(err, "nothing lies between --from and --until"));
    free(err);
    /* A packed log without its end has no index. */
    size_t n;
    char *packed = read_bytes(in_scratch("log.pack"), &n);
    write_bytes(in_scratch("cut.pack"), packed, n - 20);
    char *one = devlog_ok("decode log.csv --launches 1100-1103 --no-files --max-launches 0", 3);
    assert_int_equal(devlog("decode cut.pack --launches 1100-1103 --no-files --max-launches 0", NULL, &err),
                     3);
    free(err);
    free(one);
    /* A block of the part that is damaged is told; one that is not wanted is not read. */
    uint64_t seed = 9;
    unsigned told = 0;
    for (int i = 0; i < 30; i++) {
        const size_t at = 2000 + test_random(&seed) % (n / 2);
        packed[at] ^= 0x10;
        write_bytes(in_scratch("bad.pack"), packed, n);
        packed[at] ^= 0x10;
        char *said;
        const int status = devlog("decode bad.pack --launches 1100-1103 --no-files", &said, &err);
        assert_true(status == 0 || status == 3);
        told += strstr(said, "are lost") != NULL || strstr(said, "cannot unpack") != NULL;
        free(said);
        free(err);
    }
    assert_true(told > 0 && told < 30);
    free(packed);
    dl_str_free(&log);
}

/* Launches 1 to 300 as a writer of this kind writes them: of 2024, of now, and one whose columns stand in another order. */
static void rows_of_a_writer(dl_str *log, unsigned writer, unsigned from)
{
    static const char *const headers[] = {
        "timer_id, time[cycles since reset], stat value, run ID, run host ID, zone name, zone phase, source line, "
        "source file",
        "timer_id, time[cycles since reset], data, run host ID, trace id, trace id counter, zone name, type, source "
        "line, source file, meta data",
        "time[cycles since reset], timer_id, data, run host ID, trace id, trace id counter, zone name, type, source "
        "line, source file, meta data"};
    dl_str_fmt(
        log, "ARCH: wormhole_b0, CHIP_FREQ[MHz]: 1000\nPCIe slot, core_x, core_y, RISC processor type, %s\n",
        headers[writer]);
    for (unsigned i = 0; i < 600; i++) {
        const unsigned at = from + 100 * i, id = i / 2 + 1, replay = 301 - id;
        const char *const type = i % 2 ? "END" : "START";
        dl_str_add(log, "0,1,1,BRISC,");
        if (writer == 0)
            dl_str_fmt(log, "7,%u,0,0,%u,BRISC-FW,%s,10,k.cc\n", at, id, i % 2 ? "end" : "begin");
        else
            dl_str_fmt(log, "%u,%u,0,%u,1,%u,BRISC-FW,ZONE_%s,10,k.cc,\n", writer == 1 ? 7 : at,
                       writer == 1 ? at : 200000 - at, id, replay, type);
    }
}

/* Where the index has an id or a stamp the log may have something else, when its columns are not the same all along. */
static void columns_that_move(void **state)
{
    (void)state;
    static const dl_filter_range launch = {100, 100}, replay = {2, 2};
    static const dl_filter_id picked[] = {{100, 0, 201}, {250, 0, DL_FILTER_ANY}};
    static const dl_filter filters[] = {{.launches = &launch, .n_launches = 1},
                                        {.sessions = &replay, .n_sessions = 1},
                                        {.from = 20000, .to = 20550},
                                        {.from = 80000, .to = 80550},
                                        {.picks = true, .picked = picked, .n_picked = 2}};
    for (unsigned way = 0; way < 14; way++) {
        dl_str log = {0};
        if (way < 9) {
            rows_of_a_writer(&log, way / 3, 1000);
            rows_of_a_writer(&log, way % 3, 70000);
        } else {
            rows_of_a_writer(&log, 1, 1000);
            char *const header = strchr(log.text, '\n') + 1, *const rows = strchr(header, '\n') + 1;
            if (way == 9) memcpy(header, "0,1,1,", 6); /* where a row would be, and the columns are guessed */
            if (way == 10) memcpy(strstr(header, "run host"), "rum", 3); /* an id without a name */
            if (way == 12) {                                             /* a header within a row's line */
                char *const at = strchr(log.text + log.len / 2, '\n');
                const size_t n = (size_t)(at - log.text);
                dl_str odd = {0};
                dl_str_fmt(
                    &odd,
                    "%.*s\rPCIe slot, core_x, core_y, RISC processor type, timer_id, time[cycles since "
                    "reset], data, trace id, run host ID, trace id counter, zone name, type, source line, "
                    "source file, meta data%s",
                    (int)n, log.text, at);
                dl_str_free(&log);
                log = odd;
            }
            if (way == 11) { /* a chip line is no header, whatever else it has */
                dl_str odd = {0};
                dl_str_fmt(
                    &odd,
                    "ARCH: wormhole_b0, core_x, core_y, RISC processor type, timer_id, time[cycles since "
                    "reset], data, trace id, trace id counter, run host ID, zone name, type, source line, "
                    "source file, meta data, PCIe slot, CHIP_FREQ[MHz]: 1000\n%s",
                    rows);
                dl_str_free(&log);
                log = odd;
            }
        }
        pack_log(&log);
        for (size_t i = 0; i < sizeof filters / sizeof filters[0]; i++) {
            char what[60];
            snprintf(what, sizeof what, "way %u, filter %zu", way, i);
            /* Of now a part is enough; but of a window of time not where the same launches come twice: one of them may last from
             * here to there. */
            const bool of_time = filters[i].from != 0;
            part_is_the_same(what, &filters[i], (way == 13 && i != 3) || (way == 4 && !of_time) ? 8 : 0);
        }
        dl_str_free(&log);
    }
}

/* Two runs in one file without a line between them, and the second one's firmware is lost but for its first launch: a part does not
 * see that the clock begins anew. It cannot pair what is earlier then, and says so. */
static void a_restart_that_is_not_read(void **state)
{
    (void)state;
    static const dl_filter_range launch = {150, 150};
    const dl_filter filter = {.launches = &launch, .n_launches = 1};
    dl_str log = {0};
    part_outcome whole, part;
    rows_of_a_writer(&log, 1, 1000); /* for its head */
    log.len = (size_t)(strstr(log.text, "0,1,1,") - log.text);
    for (unsigned i = 0; i < 600; i++) {
        static const char *const rows[] = {"FW,ZONE_START,10", "KERNEL,ZONE_START,11", "KERNEL,ZONE_END,11",
                                           "FW,ZONE_END,10"};
        for (unsigned k = 0; k < 4; k++)
            if (i <= 300 || k == 1 || k == 2)
                dl_str_fmt(&log, "0,1,1,BRISC,%u,%u,0,%u,,,BRISC-%s,k.cc,\n", 7 + k % 2,
                           1000 + 100 * (i % 300) + 10 * k, 1 + i % 300, rows[k]);
    }
    pack_log(&log);
    decode_as_text(&whole, in_scratch("log.csv"), &filter, 1);
    decode_as_text(&part, in_scratch("log.pack"), &filter, 1);
    assert_non_null(strstr(whole.text.text, "BRISC-KERNEL: 2 20 10 10"));
    assert_non_null(strstr(part.text.text, "BRISC-KERNEL: 1 10 10 10"));
    assert_true(part.blocks_read < part.blocks && part.lost);
    dl_str_free(&whole.text);
    dl_str_free(&part.text);
    dl_str_free(&log);
}

/* Whatever a log is, or two of several writers in one file, its parts are as they are in the whole. */
static void damaged_logs(void **state)
{
    (void)state;
    const unsigned long cases = test_cases(40);
    uint64_t seed = 31;
    for (unsigned long i = 0; i < cases; i++) {
        dl_str log = {0}, packed = {0};
        char what[60];
        rows_of_a_writer(&log, i % 3, 1000);
        if (i % 4) rows_of_a_writer(&log, test_random(&seed) % 3, test_random(&seed) % 100000);
        const size_t cap = 2 * log.len;
        size_t n = log.len;
        assert_true(dl_str_reserve(&log, cap));
        for (uint64_t k = test_random(&seed) % 4; k-- > 0;)
            test_damage(log.text, &n, cap, &seed);
        const uint64_t low = 1 + test_random(&seed) % 300, time = test_random(&seed) % 130000;
        const dl_filter_range some = {low, low + test_random(&seed) % 3};
        const dl_filter_id picked[] = {{low, 0, DL_FILTER_ANY}, {301 - low, 0, low}};
        const dl_filter filters[] = {{.launches = &some, .n_launches = 1},
                                     {.sessions = &some, .n_sessions = 1},
                                     {.from = time, .to = time + 500},
                                     {.picks = true, .picked = picked, .n_picked = 2}};
        assert_int_equal(test_pack(log.text, n, 200 + test_random(&seed) % 8000, 1, &packed), DEVLOG_OK);
        write_bytes(in_scratch("log.csv"), log.text, n);
        write_bytes(in_scratch("log.pack"), packed.text, packed.len);
        for (size_t k = 0; k < sizeof filters / sizeof filters[0]; k++) {
            snprintf(what, sizeof what, "case %lu, filter %zu", i, k);
            part_is_the_same(what, &filters[k], 0);
        }
        dl_str_free(&packed);
        dl_str_free(&log);
    }
}
int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_the_index_does_not_know),
        cmocka_unit_test(columns_that_move),
        cmocka_unit_test(damaged_logs),
        cmocka_unit_test(a_restart_that_is_not_read),
        cmocka_unit_test(an_index_without_ids),
        cmocka_unit_test(ranges_of_ids),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
