/* Where logs are cut into parts: each cut is behind the one before it, whatever is between, and no row is in two parts. Long runs of one RISC,
 * in which a cut is looked for in vain. What parts come to: test_decode_parts.c. */
#include "support/cmocka_all.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "decode/parts/parts.h"
#include "support/cli.h"
#include "support/files.h"
#include "support/packed.h"

static const char header[] =
    "ARCH: wormhole_b0, CHIP_FREQ[MHz]: 1000\n"
    "PCIe slot, core_x, core_y, RISC processor type, timer_id, time[cycles since reset], data, run host ID, trace id, trace "
    "id counter, zone name, type, source line, source file, meta data\n";

/* So many bytes of zones of one RISC, and a row more at most. */
static void add_zones(dl_str *log, const char *risc, uint64_t from, size_t bytes)
{
    const size_t end = log->len + bytes;
    for (uint64_t t = from; log->len < end; t += 100)
        for (unsigned i = 0; i < 2; i++)
            dl_str_fmt(log, "0,1,1,%s,%u,%llu,0,1,,,work,ZONE_%s,10,/a/f.cc,\n", risc, 1 + i,
                       (unsigned long long)t + 50 * i, i ? "END" : "START");
}

/* A long run of one RISC, and behind it others that take turns. */
static void make_log(dl_str *log, size_t alone, size_t turn, unsigned turns)
{
    dl_str_add(log, header);
    add_zones(log, "BRISC", 1000, alone);
    for (unsigned i = 0; i < turns; i++)
        add_zones(log, i % 2 ? "NCRISC" : "TRISC_0", 1000 + i * UINT64_C(100000), turn);
    assert_int_equal(log->failed, false);
}

static char *write_log(const char *name, const dl_str *log, size_t block)
{
    char *path;
    dl_str packed = {0};
    if (block) assert_int_equal(test_pack(log->text, log->len, block, 1, &packed), DEVLOG_OK);
    assert_true(asprintf(&path, "%s/%s", scratch(), name) > 0);
    write_bytes(path, block ? packed.text : log->text, block ? packed.len : log->len);
    dl_str_free(&packed);
    return path;
}

static uint64_t rows_of(const dl_parts *parts, char *const *paths, size_t n)
{
    const dl_decode_options options = {.threads = 1};
    dl_decode *d;
    uint32_t again;
    const char *why;
    devlog_error err;
    assert_int_equal(dl_decode_new(&d, &options, &err), DEVLOG_OK);
    for (size_t i = 0; i < n && !parts; i++)
        assert_int_equal(dl_decode_file(d, paths[i], &err), DEVLOG_OK);
    if (parts && dl_parts_run(parts, d, &options, &again, &why, &err)) fail_msg("%s", err.text);
    assert_int_equal(dl_decode_finish(d, &err), DEVLOG_OK);
    const uint64_t rows = dl_decode_losses(d)->rows;
    dl_decode_free(d);
    return rows;
}

/* Wherever it is wanted: the run may be cut in front of it and behind it, and what is cut there is there once. */
static void is_cut_once(char *const *paths, size_t n, uint64_t behind, bool decode)
{
    const uint64_t rows = decode ? rows_of(NULL, paths, n) : 0;
    uint32_t most = 0;
    for (uint32_t wanted = 2; wanted <= 24; wanted += decode ? 1 : 11) {
        dl_parts parts;
        devlog_error err;
        assert_int_equal(dl_parts_plan(&parts, paths, n, wanted, 0, &err), DEVLOG_OK);
        assert_string_equal(parts.why, "");
        assert_true(parts.n <= wanted * 2);
        uint32_t cuts = 0;
        for (uint32_t i = 0; i <= parts.n; i++) {
            const dl_cut *c = &parts.cuts[i], *before = i ? c - 1 : NULL;
            if (before && !(c->file > before->file || (c->file == before->file && c->at > before->at)))
                fail_msg("%u parts wanted: cut %u, file %u at %llu, is not behind file %u at %llu", wanted, i,
                         c->file, (unsigned long long)c->at, before->file, (unsigned long long)before->at);
            cuts += c->file == 0 && c->at > behind;
            assert_true(c->file || !c->at || c->at >= behind);
        }
        if (cuts > most) most = cuts;
        if (decode) assert_int_equal(rows_of(&parts, paths, n), rows);
        dl_parts_free(&parts);
    }
    assert_true(most > 2);
}

static void both_files(size_t alone, size_t turn, unsigned turns, size_t block, bool decode)
{
    dl_str log = {0};
    make_log(&log, alone, turn, turns);
    char *paths[] = {write_log("first.csv", &log, block), NULL};
    dl_str_free(&log);
    make_log(&log, turn, turn, 6);
    paths[1] = write_log("second.csv", &log, block);
    is_cut_once(paths, 2, alone, decode);
    for (size_t i = 0; i < 2; i++) {
        unlink(paths[i]);
        free(paths[i]);
    }
    dl_str_free(&log);
}

static void plain_logs(void **state)
{
    (void)state;
    both_files(18 << 20, 300 << 10, 20, 0, false);
}

static void packed_logs(void **state)
{
    (void)state;
    both_files(20000, 700, 20, 400, true);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plain_logs),
        cmocka_unit_test(packed_logs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
