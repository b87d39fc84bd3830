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
    for (const char *next; (next = strstr(at, from)); at = next + strlen(from)) {
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

static void runs_and_events_are_the_same_bytes(void **state)
{
    (void)state;
    size_t known = 0;
    for (unsigned i = 0; i < LOGS; i++) {
        dl_str log = {0};
        make_log(&log, i);
        for (size_t f = 0; f < sizeof formats / sizeof *formats; f++) {
            size_t n_events, n_runs, none = 0;
            char *by_event = export(&log, formats[f], true, i, &n_events, &none),
                 *by_run = export(&log, formats[f], false, i, &n_runs, &known);
            assert_int_equal(none, 0);
            if (n_events != n_runs || memcmp(by_event, by_run, n_runs) != 0)
                fail_msg("log %u as %s: %zu bytes by runs, %zu by events, or others", i, formats[f], n_runs,
                         n_events);
            free(by_event);
            free(by_run);
        }
        dl_str_free(&log);
    }
    assert_true(known > LOGS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(runs_and_events_are_the_same_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
