/* Exports of runs of a known shape (report/view_runs.h), which writers take whole, are to the byte those of their events one by
 * one: on random logs with odd rows, several chips, drops, values, and names that are not short. */
#include "support/cmocka_all.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "report/export.h"
#include "report/view_internal.h"
#include "support/files.h"
#include "support/runs.h"
#include "support/text.h"

enum { LOGS = 40 };

static const char *const formats[] = {"chrome", "collapsed", "csv", "fxt", "json", "perfetto", "speedscope"};

/* The file's bytes; how many shapes the view knew. */
static char *export(const dl_str *log, const char *format, bool no_shapes, unsigned number, size_t *size,
                    size_t *shapes)
{
    char path[96];
    devlog_error err;
    dl_decode *d;
    dl_view *v;
    const dl_decode_options how = {
        .no_shapes = no_shapes, .no_samples = true, .no_counts = true, .keep_meta = true, .threads = 1};
    const dl_view_options options = {.memory = number % 3 ? 1 : 0, .cycles = number % 7 == 0};
    snprintf(path, sizeof path, "/tmp/test_export_runs_%d", (int)getpid());
    assert_int_equal(dl_decode_new(&d, &how, &err), DEVLOG_OK);
    assert_int_equal(dl_view_new(&v, d, &options, &err), DEVLOG_OK);
    assert_int_equal(dl_decode_run_sink(d, dl_view_runs(v), &err), DEVLOG_OK);
    assert_int_equal(dl_decode_memory(d, "log.csv", log->text, log->len, &err), DEVLOG_OK);
    assert_int_equal(dl_decode_finish(d, &err), DEVLOG_OK);
    assert_int_equal(dl_view_ready(v, &err), DEVLOG_OK);
    for (uint32_t i = 0; i < v->spool.shapes.n; i++)
        *shapes += v->spool.shapes.by_number[i] != NULL;
    assert_int_equal(dl_export_find(format)->write(v, path, &err), DEVLOG_OK);
    dl_view_free(v);
    dl_decode_free(d);
    char *bytes = read_bytes(path, size);
    unlink(path);
    return bytes;
}

/* A text in which each of some words is another. */
static void rename_zones(dl_str *log, const char *from, const char *to)
{
    dl_str out = {0};
    const char *at = log->text;
    for (const char *next; (next = text_find(at, from)); at = next + strlen(from)) {
        dl_str_add_n(&out, at, (size_t)(next - at));
        dl_str_add(&out, to);
    }
    dl_str_add(&out, at);
    dl_str_free(log);
    *log = out;
}

static void make_log(dl_str *log, unsigned number)
{
    char name[700];
    test_runs(log, 4 + number % 50, number % 4 * 2, number);
    if (number % 5 == 1) rename_zones(log, ",math,", ",a \\\\ and \xc3\xa9\xff,");
    if (number % 5 == 2) {
        memset(name, 'n', sizeof name);
        name[0] = name[sizeof name - 2] = ',';
        name[sizeof name - 1] = 0;
        rename_zones(log, ",read,", name);
    }
    if (number % 5 == 3) rename_zones(log, ",write,", ",,");
}

/* How many shapes were known. */
static size_t check_same_bytes(const dl_str *log, unsigned number)
{
    size_t known = 0;
    for (size_t f = 0; f < sizeof formats / sizeof *formats; f++) {
        size_t n_events, n_runs, none = 0;
        char *by_event = export(log, formats[f], true, number, &n_events, &none),
             *by_run = export(log, formats[f], false, number, &n_runs, &known);
        assert_int_equal(none, 0);
        if (n_events != n_runs || memcmp(by_event, by_run, n_runs) != 0)
            fail_msg("log %u as %s: %zu bytes by runs, %zu by events, or others", number, formats[f], n_runs,
                     n_events);
        free(by_event);
        free(by_run);
    }
    return known;
}

static void runs_and_events_are_the_same_bytes(void **state)
{
    (void)state;
    size_t known = 0;
    for (unsigned i = 0; i < LOGS; i++) {
        dl_str log = {0};
        make_log(&log, i);
        known += check_same_bytes(&log, i);
        dl_str_free(&log);
    }
    assert_true(known > LOGS);
}

static void row(dl_str *log, const char *risc, unsigned launch, uint64_t time, const char *name, bool starts)
{
    dl_str_fmt(log, "0,1,1,%s,%u,%llu,0,%u,,,%s,ZONE_%s,9,k.cc,\n", risc, name[0], (unsigned long long)time,
               launch, name, starts ? "START" : "END");
}

/* A run of a known shape, and behind it zones outside of the firmware in the same launch; another RISC's mark between them waits for
 * what comes behind it, since its clock has stepped on by more than 2^32. */
static void zones_behind_a_known_run_are_their_own(void **state)
{
    (void)state;
    const uint64_t late = UINT64_C(6) << 30;
    dl_str log = {0};
    dl_str_add(&log,
               "ARCH: wormhole_b0, CHIP_FREQ[MHz]: 1000\n"
               "PCIe slot, core_x, core_y, RISC processor type, timer_id, time[cycles since reset], data, "
               "run host ID,trace id, trace id counter, zone name, type, source line, source file, "
               "meta data\n");
    row(&log, "TRISC_0", 7, 900, "TRISC-FW", true);
    row(&log, "TRISC_0", 7, 990, "TRISC-FW", false);
    for (unsigned i = 0; i < 3; i++) {
        row(&log, "BRISC", 7 + i, 1000 + 100 * i, "BRISC-FW", true);
        row(&log, "BRISC", 7 + i, 1010 + 100 * i, "a", true);
        row(&log, "BRISC", 7 + i, 1020 + 100 * i, "a", false);
        row(&log, "BRISC", 7 + i, 1030 + 100 * i, "BRISC-FW", false);
    }
    row(&log, "TRISC_0", 9, late, "TRISC-FW", true);
    for (unsigned i = 0; i < 2; i++) {
        row(&log, "BRISC", 9, 1240 + 10 * i, "a", true);
        row(&log, "BRISC", 9, 1245 + 10 * i, "a", false);
    }
    row(&log, "TRISC_0", 9, late + 90, "TRISC-FW", false);
    assert_int_equal(dl_str_status(&log, NULL), DEVLOG_OK);
    assert_true(check_same_bytes(&log, 1) > 0);
    size_t size, known = 0;
    char *csv = export(&log, "csv", false, 1, &size, &known);
    assert_non_null(memmem(csv, size, ",1240,5,", 8));
    assert_non_null(memmem(csv, size, ",1250,5,", 8));
    free(csv);
    dl_str_free(&log);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(runs_and_events_are_the_same_bytes),
        cmocka_unit_test(zones_behind_a_known_run_are_their_own),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
