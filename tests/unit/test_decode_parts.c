/* A log decoded in parts says what it says as a whole, to the last sample: for any number of parts, wherever they are cut,
 * and whatever is in the log. Logs of every version, damaged ones, such with drops, several chips, values, several runs and
 * clocks that wrap; one file or several. With DEVLOG_TEST_CASES=N, N random ones. */
#include "support/cmocka_all.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "decode/parts/parts.h"
#include "decode/wire.h"
#include "support/logs.h"
#include "support/packed.h"
#include "support/random.h"
#include "support/runs.h"
#include "support/told.h"

enum { CASES = 30, MOST_FILES = 3 };

static char folder[256];

static void whole(char *const *paths, size_t n, const dl_decode_options *options, dl_str *out)
{
    dl_decode *d;
    devlog_error err;
    assert_int_equal(told_new(&d, options, &err), DEVLOG_OK);
    for (size_t i = 0; i < n; i++)
        assert_int_equal(dl_decode_file(d, paths[i], &err), DEVLOG_OK);
    assert_int_equal(dl_decode_finish(d, &err), DEVLOG_OK);
    told_all(d, out);
    dl_decode_free(d);
}

static void same(const dl_str *got, const dl_str *expected, const char *what)
{
    if (strcmp(got->text, expected->text) == 0) return;
    size_t at = 0;
    while (got->text[at] == expected->text[at])
        at++;
    while (at && expected->text[at - 1] != '\n')
        at--;
    fail_msg("%s, in %s:\n%.300s\ninstead of\n%.300s", what, folder, got->text + at, expected->text + at);
}

/* How many parts were decoded once. */
typedef struct tally {
    uint64_t parts, again;
} tally;

static void compare(char *const *paths, size_t n, const dl_decode_options *options, uint32_t wanted,
                    const dl_str *expected, tally *sum)
{
    dl_parts parts;
    dl_decode *d;
    devlog_error err;
    uint32_t again;
    const char *why;
    char what[200];
    dl_str got = {0};
    assert_int_equal(dl_parts_plan(&parts, paths, n, wanted, 0, &err), DEVLOG_OK);
    assert_int_equal(told_new(&d, options, &err), DEVLOG_OK);
    if (parts.why[0]) {
        for (size_t i = 0; i < n; i++)
            assert_int_equal(dl_decode_file(d, paths[i], &err), DEVLOG_OK);
        again = 0;
        why = parts.why;
    } else {
        if (dl_parts_run(&parts, d, options, &again, &why, &err)) fail_msg("%s", err.text);
        sum->parts += parts.n - 1;
        sum->again += again;
    }
    assert_int_equal(dl_decode_finish(d, &err), DEVLOG_OK);
    told_all(d, &got);
    snprintf(what, sizeof what, "%u parts of %u wanted, %u again (%s)", parts.n, wanted, again,
             why ? why : "");
    same(&got, expected, what);
    dl_str_free(&got);
    dl_decode_free(d);
    dl_parts_free(&parts);
}

/* What one process hands to another: as bytes, and from them; and no beginning of them is taken for all. */
static dl_decode *over_the_wire(dl_decode *d, const dl_decode_options *options, uint64_t *seed)
{
    dl_str bytes = {0}, again = {0};
    dl_decode *got, *cut;
    devlog_error err;
    if (dl_parts_write(d, DL_WIRE_ALL, 0, &bytes, &err)) fail_msg("%s", err.text);
    assert_int_equal(told_new(&got, options, &err), DEVLOG_OK);
    if (dl_parts_read(got, bytes.text, bytes.len, &err)) fail_msg("%s, in %s", err.text, folder);
    assert_int_equal(dl_parts_write(got, DL_WIRE_ALL, 0, &again, &err), DEVLOG_OK);
    assert_int_equal(again.len, bytes.len);
    assert_memory_equal(again.text, bytes.text, bytes.len);
    assert_int_equal(told_new(&cut, options, &err), DEVLOG_OK);
    assert_int_equal(dl_parts_read(cut, bytes.text, test_random(seed) % bytes.len, &err), DEVLOG_ERR_FORMAT);
    dl_decode_free(cut);
    dl_decode_free(d);
    dl_str_free(&bytes);
    dl_str_free(&again);
    return got;
}

/* Parts that have become one. */
typedef struct piece {
    dl_decode *decode;
    uint32_t first, n;
    bool stays; /* what is behind it does not follow */
} piece;

/* Decoded apart, handed on, and put together in any order: what follows exactly, and the rest is decoded again. */
static void in_processes(char *const *paths, size_t n, const dl_decode_options *options, uint32_t wanted,
                         const dl_str *expected, uint64_t *seed, tally *sum)
{
    dl_parts parts;
    devlog_error err;
    piece pieces[64];
    const char *why;
    dl_str got = {0};
    char what[200];
    assert_int_equal(dl_parts_plan(&parts, paths, n, wanted, 0, &err), DEVLOG_OK);
    if (parts.why[0] || parts.n > 64) {
        dl_parts_free(&parts);
        return;
    }
    uint32_t left = parts.n, again = 0;
    for (uint32_t i = 0; i < left; i++) {
        pieces[i] = (piece){.first = i, .n = 1};
        assert_int_equal(told_new(&pieces[i].decode, options, &err), DEVLOG_OK);
        if (dl_parts_decode(&parts, i, pieces[i].decode, &err)) fail_msg("%s", err.text);
        if (test_random(seed) % 4) pieces[i].decode = over_the_wire(pieces[i].decode, options, seed);
    }
    for (uint32_t tries = left * 3; tries && left > 1; tries--) {
        const uint32_t i = (uint32_t)(test_random(seed) % (left - 1));
        piece *a = &pieces[i], *b = &pieces[i + 1];
        if (a->stays || !dl_parts_may_add(a->decode, b->decode)) continue;
        if (dl_parts_add(a->decode, b->decode, true, &why, &err)) fail_msg("%s", err.text);
        if (why) {
            a->stays = true;
            continue;
        }
        a->n += b->n;
        a->stays = b->stays;
        dl_decode_free(b->decode);
        memmove(b, b + 1, (--left - i - 1) * sizeof *b);
        if (test_random(seed) % 2) a->decode = over_the_wire(a->decode, options, seed);
    }
    dl_decode *d = pieces[0].decode;
    for (uint32_t i = 1; i < left; i++) {
        why = "";
        if (dl_parts_add(d, pieces[i].decode, true, &why, &err)) fail_msg("%s", err.text);
        dl_decode_free(pieces[i].decode);
        for (uint32_t k = 0; why && k < pieces[i].n; k++, again++)
            if (dl_parts_go_on(&parts, pieces[i].first + k, d, &err)) fail_msg("%s", err.text);
    }
    sum->parts += parts.n - 1;
    sum->again += again;
    assert_int_equal(dl_decode_finish(d, &err), DEVLOG_OK);
    told_all(d, &got);
    snprintf(what, sizeof what, "%u parts of %u wanted by processes, %u again", parts.n, wanted, again);
    same(&got, expected, what);
    dl_str_free(&got);
    dl_decode_free(d);
    dl_parts_free(&parts);
}

/* As it is, or packed, in blocks that end anywhere. */
static void write_file(FILE *out, const char *text, size_t n, bool packed, uint64_t *seed)
{
    dl_str bytes = {0};
    if (packed)
        assert_int_equal(test_pack(text, n, 300 + test_random(seed) % 20000, 1, &bytes), DEVLOG_OK);
    else
        dl_str_add_n(&bytes, text, n);
    assert_int_equal(fwrite(bytes.text ? bytes.text : "", 1, bytes.len, out), bytes.len);
    dl_str_free(&bytes);
    assert_int_equal(fclose(out), 0);
}

/* Writes the log as one file or several, cut behind any line; some are packed. */
static size_t write_files(const char *text, size_t n, size_t wanted, char *paths[MOST_FILES], uint64_t *seed)
{
    size_t from = 0, files = 0;
    while (files < wanted && (from < n || !files)) {
        size_t to = files + 1 == wanted ? n : from + test_random(seed) % (n - from + 1);
        while (to < n && to && text[to - 1] != '\n')
            to++;
        assert_true(asprintf(&paths[files], "%s/%zu.csv", folder, files) > 0);
        FILE *out = fopen(paths[files++], "w");
        assert_non_null(out);
        write_file(out, text + from, to - from, to > from && test_random(seed) % 2, seed);
        from = to;
    }
    return files;
}

static void try_log(const char *text, size_t n, size_t files, uint64_t *seed, tally *sum)
{
    char *paths[MOST_FILES];
    const dl_decode_options options = {
        .threads = 1, .keep_meta = test_random(seed) % 2, .no_samples = test_random(seed) % 5 == 0};
    dl_str expected = {0};
    const size_t n_files = write_files(text, n, files, paths, seed);
    whole(paths, n_files, &options, &expected);
    compare(paths, n_files, &options, 2 + (uint32_t)(test_random(seed) % 9), &expected, sum);
    compare(paths, n_files, &options, 2 + (uint32_t)(test_random(seed) % 3), &expected, sum);
    in_processes(paths, n_files, &options, 2 + (uint32_t)(test_random(seed) % 7), &expected, seed, sum);
    dl_str_free(&expected);
    for (size_t i = 0; i < n_files; i++) {
        unlink(paths[i]);
        free(paths[i]);
    }
}

static void logs_of_every_version(void **state)
{
    (void)state;
    uint64_t seed = 1;
    tally sum = {0};
    for (int kind = 0; kind < TEST_LOG_KINDS; kind++) {
        for (unsigned i = 0; i < 2; i++) {
            dl_str log = {0};
            test_log(&log, kind, 6 + 5 * i, (uint64_t)kind + 100 * i);
            try_log(log.text, log.len, 1 + i % 2, &seed, &sum);
            dl_str_free(&log);
        }
    }
    print_message("%llu cuts, %llu of which had to be decoded again\n", (unsigned long long)sum.parts,
                  (unsigned long long)sum.again);
    assert_true(sum.parts > 50);
}

/* Rows that begin with a name, and above them nothing that begins with a digit: what a part is told of the lines above it has rows
 * among it. Then rows of six columns. */
static void names_in_front(dl_str *out)
{
    dl_str_add(
        out,
        "ARCH: wormhole_b0, CHIP_FREQ[MHz]: 1000\n"
        "type, core_x, core_y, RISC processor type, timer_id, time[cycles since reset], data, run host ID, "
        "zone name, PCIe slot, source line, source file, meta data\n");
    for (unsigned core = 1; core <= 3; core++)
        for (unsigned i = 0; i < 30; i++)
            dl_str_fmt(out, "ZONE_%s, 1, %u, ERISC, 10, %u, 0, %u, ERISC-FW, 0, 10, k.cc,\n",
                       i % 2 ? "END" : "START", core, 1000 + 50 * i, 1 + i / 2);
    dl_str_add(out, "ARCH: wormhole_b0, CHIP_FREQ[MHz]: 1000\n");
    for (unsigned core = 1; core <= 40; core++)
        for (unsigned i = 0; i < 8; i++)
            dl_str_fmt(out, "0, 1, %u, BRISC, %u, %u\n", core, 1 + i % 4, 5000 + 50 * i);
}

static void rows_in_the_head(void **state)
{
    (void)state;
    tally sum = {0};
    dl_str log = {0};
    names_in_front(&log);
    for (uint64_t i = 1; i <= 60; i++) {
        uint64_t seed = i;
        try_log(log.text, log.len, 1 + i % 2, &seed, &sum);
    }
    dl_str_free(&log);
}

/* Two runs with the same launch ids, the second without the firmware start of a launch: it counts to what the RISC has begun with
 * these ids last, which is in the first. */
static void a_start_that_is_gone(void **state)
{
    (void)state;
    enum { GONE = 4 };
    tally sum = {0};
    dl_str log = {0};
    for (unsigned run = 0; run < 2; run++) {
        dl_str_add(
            &log, "ARCH: wormhole_b0, CHIP_FREQ[MHz]: 1000\n"
                  "PCIe slot, core_x, core_y, RISC processor type, timer_id, time[cycles since reset], data, "
                  "run host ID, zone name, type, source line, source file, meta data\n");
        for (unsigned launch = 1; launch <= 9; launch++)
            for (unsigned core = 1; core <= 3; core++)
                for (unsigned i = 0; i < 4; i++)
                    if (!(run == 1 && launch == GONE && core == 2 && i == 0))
                        dl_str_fmt(&log, "0, 1, %u, ERISC, %u, %u, 0, %u, %s, ZONE_%s, 10, k.cc,\n", core,
                                   i == 0 || i == 3 ? 10 : 11, 5000000 * run + 1000 * launch + 50 * i, launch,
                                   i == 0 || i == 3 ? "ERISC-FW" : "WAIT", i < 2 ? "START" : "END");
    }
    for (uint64_t i = 1; i <= 60; i++) {
        uint64_t seed = i;
        try_log(log.text, log.len, 1 + i % 2, &seed, &sum);
    }
    dl_str_free(&log);
}

static void put_file(const char *path, const char *bytes, size_t n)
{
    uint64_t unused = 0;
    FILE *out = fopen(path, "w");
    assert_non_null(out);
    write_file(out, bytes, n, false, &unused);
}

/* A packed log with a damaged block is an error that says where; one without its index is not cut; one that has another size is told. */
static void damaged_packed_logs(void **state)
{
    (void)state;
    char path[300], *paths[1] = {path};
    uint64_t seed = 5;
    dl_str log = {0}, packed = {0};
    devlog_error err;
    dl_parts parts;
    test_runs(&log, 30, 0, 3);
    snprintf(path, sizeof path, "%s/packed", folder);
    FILE *out = fopen(path, "w");
    assert_non_null(out);
    write_file(out, log.text, log.len, true, &seed);
    assert_int_equal(dl_file_read(path, 1 << 24, &packed, &err), DEVLOG_OK);
    assert_int_equal(dl_parts_plan(&parts, paths, 1, 6, 0, &err), DEVLOG_OK);
    assert_true(parts.n > 3);
    assert_int_equal(parts.sizes[0], log.len);
    assert_int_equal(parts.stored[0], packed.len);
    uint32_t told = 0;
    for (size_t at = 60; at < packed.len / 2; at += packed.len / 20) {
        packed.text[at] ^= 0x10;
        put_file(path, packed.text, packed.len);
        for (uint32_t i = 0; i < parts.n; i++) {
            dl_decode *d;
            assert_int_equal(told_new(&d, &(dl_decode_options){.threads = 1}, &err), DEVLOG_OK);
            if (dl_parts_decode(&parts, i, d, &err)) {
                assert_non_null(strstr(err.text, "the block at byte "));
                told++;
            }
            dl_decode_free(d);
        }
        packed.text[at] ^= 0x10;
    }
    assert_true(told >= 9);
    dl_parts_free(&parts);
    /* Cut: */
    put_file(path, packed.text, packed.len - 30);
    assert_int_equal(dl_parts_plan(&parts, paths, 1, 6, 0, &err), DEVLOG_OK);
    assert_int_equal(parts.n, 1);
    assert_non_null(strstr(parts.why, "is packed without a whole index"));
    dl_parts_free(&parts);
    /* Grown since: */
    put_file(path, packed.text, packed.len);
    assert_int_equal(dl_parts_plan(&parts, paths, 1, 6, 0, &err), DEVLOG_OK);
    assert_int_equal(dl_parts_unchanged(&parts, 0, &err), DEVLOG_OK);
    put_file(path, packed.text, packed.len - 1);
    assert_int_equal(dl_parts_unchanged(&parts, 0, &err), DEVLOG_ERR_IO);
    dl_parts_free(&parts);
    unlink(path);
    dl_str_free(&packed);
    dl_str_free(&log);
}

static void random_logs(void **state)
{
    (void)state;
    const unsigned long cases = test_cases(CASES);
    uint64_t seed = 2;
    tally sum = {0};
    for (unsigned long i = 0; i < cases; i++) {
        dl_str log = {0};
        if (i % 2)
            test_runs(&log, 4 + (unsigned)(test_random(&seed) % 30),
                      i % 3 ? (unsigned)(test_random(&seed) % 9) : 0, i);
        else
            test_log(&log, (int)(i / 2 % TEST_LOG_KINDS), 1 + (unsigned)(test_random(&seed) % 5), i);
        size_t n = log.len;
        char *text = malloc(n + 4096);
        assert_non_null(text);
        memcpy(text, log.text, n);
        for (uint64_t hits = test_random(&seed) % 3; i % 4 == 0 && hits; hits--)
            test_damage(text, &n, n + 4096, &seed);
        told_with_both = i % 2;
        try_log(text, n, 1 + test_random(&seed) % MOST_FILES, &seed, &sum);
        told_with_both = false;
        free(text);
        dl_str_free(&log);
    }
    print_message("%llu cuts, %llu of which had to be decoded again\n", (unsigned long long)sum.parts,
                  (unsigned long long)sum.again);
}

/* A log as devlog's runs leave it, with all that makes trouble: drops, zones without an end, values, sums, two chips, two
 * runs, a launch that goes on behind another RISC's, a wrap of the clock. */
typedef struct rich {
    unsigned launches, wrap_at, run_at;
    bool drops, torn_apart, ends;
} rich;

static void rich_log(dl_str *out, const rich *r, uint64_t *seed)
{
    static const char *const riscs[] = {"BRISC", "NCRISC", "TRISC_0", "TRISC_1", "TRISC_2"};
    uint64_t clock = 1000000;
    for (unsigned launch = 0; launch < r->launches; launch++) {
        if (launch == 0 || launch == r->run_at) {
            dl_str_fmt(out, "ARCH: wormhole_b0, CHIP_FREQ[MHz]: 1000, Max Compute Cores: 64, Run: %x%s\n",
                       77 + launch, r->ends ? ", Ends" : "");
            dl_str_add(
                out,
                "PCIe slot, core_x, core_y, RISC processor type, timer_id, time[cycles since reset], "
                "data, run host ID, trace id, trace id count, zone name, type, source line, source file, "
                "meta data\n");
            if (launch) clock = 500000;
        }
        clock += 100000 + test_random(seed) % 1000;
        if (launch == r->wrap_at) clock = (UINT64_C(1) << 44) - 40000;
        for (unsigned place = 0; place < 2 * 3 * 5; place++) {
            const unsigned chip = place / 15, core = place / 5 % 3;
            const char *risc = riscs[place % 5];
            uint64_t at = clock + test_random(seed) % 500;
            const uint64_t mask = (UINT64_C(1) << 44) - 1;
            const bool trisc = risc[0] == 'T';
            char name[32];
            snprintf(name, sizeof name, "%s", trisc ? "TRISC" : risc);
#define ROW(timer, data, zone, type, line, file, meta)                                                       \
    dl_str_fmt(out, "%u,%u,%u,%s,%u,%llu,%llu,%u,,,%s,%s,%u,%s,%s\n", chip, core, 1 + core % 2, risc, timer, \
               (unsigned long long)((at += 20 + test_random(seed) % 90) & mask), (unsigned long long)(data), \
               1024 * (1 + launch), zone, type, line, file, meta)
            char zone[64];
            snprintf(zone, sizeof zone, "%s-FW", name);
            ROW(1, 0, zone, "ZONE_START", 10, "firmware/run.h", "");
            snprintf(zone, sizeof zone, "%s-KERNEL", name);
            ROW(2, 0, zone, "ZONE_START", 11, "firmware/run.h", "");
            for (unsigned k = 0, n = 1 + (unsigned)(test_random(seed) % 4); k < n; k++) {
                ROW(100 + k, 0, k % 2 ? "READ" : "WRITE", "ZONE_START", 20 + k, "kernel.c", "");
                if (test_random(seed) % 3 == 0)
                    ROW(200, test_random(seed) % 1000, "LEVEL", "TS_DATA", 30, "kernel.c", "");
                if (!r->drops || test_random(seed) % 12)
                    ROW(100 + k, 0, k % 2 ? "READ" : "WRITE", "ZONE_END", 20 + k, "kernel.c", "");
            }
            if (test_random(seed) % 4 == 0)
                ROW(201, 0, "POINT", "TS_EVENT", 31, "kernel.c", "{\"text\":\"a point\"}");
            ROW(203, 500 + launch, "SUM", "ZONE_TOTAL", 33, "kernel.c",
                "{\"count\":3;\"min\":1;\"max\":400}");
            if (r->torn_apart && place % 7 == 3) continue; /* its rest is behind the others */
            ROW(2, 0, zone, "ZONE_END", 11, "firmware/run.h", "");
            snprintf(zone, sizeof zone, "%s-FW", name);
            if (!r->drops || test_random(seed) % 40) ROW(1, 0, zone, "ZONE_END", 10, "firmware/run.h", "");
            if (r->drops && test_random(seed) % 9 == 0)
                ROW(300, 5, "DEVLOG-DROPPED", "ZONE_TOTAL", 0, "", "");
        }
        for (unsigned place = 0; place < 30 && r->torn_apart; place++) {
            const unsigned chip = place / 15, core = place / 5 % 3;
            const char *risc = riscs[place % 5];
            uint64_t at = clock + 5000;
            const uint64_t mask = (UINT64_C(1) << 44) - 1;
            if (place % 7 != 3) continue;
            char zone[64];
            snprintf(zone, sizeof zone, "%s-KERNEL", risc[0] == 'T' ? "TRISC" : risc);
            ROW(2, 0, zone, "ZONE_END", 11, "firmware/run.h", "");
            snprintf(zone, sizeof zone, "%s-FW", risc[0] == 'T' ? "TRISC" : risc);
            ROW(1, 0, zone, "ZONE_END", 10, "firmware/run.h", "");
        }
#undef ROW
    }
}

static void rich_logs(void **state)
{
    (void)state;
    uint64_t seed = 3;
    tally plain = {0}, hard = {0};
    for (unsigned i = 0; i < 20; i++) {
        const rich r = {.launches = 6 + (unsigned)(test_random(&seed) % 10),
                        .wrap_at = i % 5 == 1 ? 3 : UINT32_MAX,
                        .run_at = i % 5 == 2 ? 4 : UINT32_MAX,
                        .drops = i % 2,
                        .torn_apart = i % 5 == 3,
                        .ends = i % 3 == 0};
        dl_str log = {0};
        rich_log(&log, &r, &seed);
        const bool is_hard = r.wrap_at != UINT32_MAX || r.run_at != UINT32_MAX || r.torn_apart;
        try_log(log.text, log.len, 1, &seed, is_hard ? &hard : &plain);
        dl_str_free(&log);
    }
    print_message(
        "%llu cuts, %llu decoded again; of logs with wraps, runs and launches in pieces %llu and %llu\n",
        (unsigned long long)plain.parts, (unsigned long long)plain.again, (unsigned long long)hard.parts,
        (unsigned long long)hard.again);
    /* Cuts between launches and between RISCs of one launch are exact; zones that are open there are no reason. */
    assert_true(plain.parts > 20);
    assert_int_equal(plain.again, 0);
    assert_true(hard.again > 0);
}

static int make_folder(void **state)
{
    (void)state;
    snprintf(folder, sizeof folder, "/tmp/test_decode_parts.XXXXXX");
    return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state)
{
    (void)state;
    return rmdir(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(logs_of_every_version), cmocka_unit_test(rows_in_the_head),
        cmocka_unit_test(a_start_that_is_gone),  cmocka_unit_test(damaged_packed_logs),
        cmocka_unit_test(random_logs),           cmocka_unit_test(rich_logs),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
