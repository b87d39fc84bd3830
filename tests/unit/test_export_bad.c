/* Exports of logs that nobody should have: nothing in them, no zones, more tracks than devlog keeps, a
 * million zones that overlap; and outputs that cannot be written. Everything is counted, nothing crashes. */
#include "support/cmocka_all.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "report/export.h"
#include "report/out.h"

#define HEAD                                                                                                 \
    "ARCH: wormhole_b0, CHIP_FREQ[MHz]: 1000\n"                                                              \
    "PCIe slot, core_x, core_y, RISC processor type, timer_id, time[cycles since reset], data, run host ID," \
    "trace id, trace id counter, zone name, type, source line, source file, meta data\n"

typedef struct fixture {
    char folder[64];
    dl_decode *decode;
    dl_view *view;
} fixture;

static void begin(fixture *f, const char *log, size_t n)
{
    devlog_error err;
    static const dl_decode_options decoding = {.no_samples = true, .keep_meta = true};
    strcpy(f->folder, "/tmp/devlog-export-XXXXXX");
    assert_non_null(mkdtemp(f->folder));
    assert_int_equal(dl_decode_new(&f->decode, &decoding, &err), DEVLOG_OK);
    assert_int_equal(dl_view_new(&f->view, f->decode, NULL, &err), DEVLOG_OK);
    assert_int_equal(dl_decode_run_sink(f->decode, dl_view_runs(f->view), &err), DEVLOG_OK);
    assert_int_equal(dl_decode_memory(f->decode, "log", log, n, &err), DEVLOG_OK);
    assert_int_equal(dl_decode_finish(f->decode, &err), DEVLOG_OK);
    assert_int_equal(dl_view_ready(f->view, &err), DEVLOG_OK);
}

static void end(fixture *f)
{
    char command[128];
    dl_view_free(f->view);
    dl_decode_free(f->decode);
    snprintf(command, sizeof command, "rm -rf %s", f->folder);
    assert_int_equal(system(command), 0);
}

enum { FORMATS = 10 };

/* Writes every format and returns how many there are. */
static size_t write_all(const fixture *f, const char *name)
{
    devlog_error err;
    size_t n;
    const dl_export_format *formats = dl_export_formats(&n);
    for (size_t i = 0; i < n; i++) {
        char path[160];
        snprintf(path, sizeof path, "%s/%s%s", f->folder, name, formats[i].suffix);
        if (formats[i].write(f->view, path, &err) != DEVLOG_OK) fail_msg("%s: %s", formats[i].name, err.text);
        assert_int_equal(access(path, R_OK), 0);
    }
    return n;
}

static void logs_without_zones(void **state)
{
    (void)state;
    static const char *const logs[] = {"", "\n", HEAD,
                                       HEAD "0,1,2,BRISC,5,1000,42,7,,,value,TS_DATA,1,f.c,\n",
                                       HEAD "0,1,2,BRISC,5,1000,0,7,,,open,ZONE_START,1,f.c,\n",
                                       /* A zone that ends before it starts. */
                                       HEAD "0,1,2,BRISC,5,9000000000,0,7,,,back,ZONE_START,1,f.c,\n"
                                            "0,1,2,BRISC,5,8990000000,0,7,,,back,ZONE_END,1,f.c,\n",
                                       "no log at all\n"};
    for (size_t i = 0; i < sizeof logs / sizeof logs[0]; i++) {
        fixture f;
        begin(&f, logs[i], strlen(logs[i]));
        assert_int_equal(write_all(&f, "a"), FORMATS);
        end(&f);
    }
}

/* A core for every row: what is beyond the decoder's tables is counted there. */
static void a_hundred_thousand_tracks(void **state)
{
    (void)state;
    enum { TRACKS = 100000 };
    dl_str s = {0};
    dl_str_add(&s, HEAD);
    for (unsigned i = 0; i < TRACKS; i++)
        dl_str_fmt(
            &s, "0,%u,%u,BRISC,1,%u,0,7,,,a,ZONE_START,1,f.c,\n0,%u,%u,BRISC,1,%u,0,7,,,a,ZONE_END,1,f.c,\n",
            i % 1000, i / 1000, 1000 + i, i % 1000, i / 1000, 1010 + i);
    assert_false(s.failed);
    fixture f;
    begin(&f, s.text, s.len);
    dl_str_free(&s);
    uint32_t n;
    dl_view_tracks(f.view, &n);
    assert_int_equal(n, 1 + DL_MAX_STREAMS);
    assert_int_equal(dl_decode_losses(f.decode)->skipped[DL_SKIP_TABLE_FULL], 2 * (TRACKS - DL_MAX_STREAMS));
    devlog_error err;
    char path[128];
    static const char *const formats[] = {"chrome", "perfetto", "csv"};
    for (size_t i = 0; i < 3; i++) {
        snprintf(path, sizeof path, "%s/%s", f.folder, formats[i]);
        assert_int_equal(dl_export_find(formats[i])->write(f.view, path, &err), DEVLOG_OK);
    }
    end(&f);
}

static devlog_status count(void *ctx, const dl_view_item *items, size_t n, devlog_error *err)
{
    (void)err;
    size_t *counts = ctx;
    for (size_t i = 0; i < n; i++)
        counts[items[i].lane]++;
    return DEVLOG_OK;
}

/* Runs that each begin anew at the same cycle: all their zones overlap. What no lane can hold is counted. */
static void more_overlaps_than_lanes(void **state)
{
    (void)state;
    enum { RUNS = DL_VIEW_LANES + 500 };
    dl_str s = {0};
    dl_str_add(&s, HEAD);
    for (unsigned i = 0; i < RUNS; i++)
        dl_str_fmt(&s,
                   "0,0,0,BRISC,1,%u,0,%u,,,BRISC-FW,ZONE_START,1,f.c,\n"
                   "0,0,0,BRISC,1,%u,0,%u,,,BRISC-FW,ZONE_END,1,f.c,\n",
                   1000 + i, i, 100000000 + i, i);
    assert_false(s.failed);
    fixture f;
    begin(&f, s.text, s.len);
    dl_str_free(&s);
    static const dl_view_order orders[] = {DL_VIEW_BY_TRACK, DL_VIEW_BY_TIME};
    for (size_t o = 0; o < 2; o++) {
        static size_t counts[DL_VIEW_LANES];
        devlog_error err;
        memset(counts, 0, sizeof counts);
        assert_int_equal(dl_view_run(f.view, orders[o], (dl_view_sink){.ctx = counts, .items = count}, &err),
                         DEVLOG_OK);
        size_t all = 0;
        for (size_t i = 0; i < DL_VIEW_LANES; i++)
            all += counts[i];
        assert_true(dl_view_left_out(f.view) >= 500);
        assert_int_equal(all + dl_view_left_out(f.view), dl_view_count(f.view));
    }
    assert_int_equal(write_all(&f, "a"), FORMATS);
    end(&f);
}

static void what_cannot_be_written_is_said(void **state)
{
    (void)state;
    static const char log[] = HEAD "0,1,2,BRISC,5,1000,42,7,,,value,TS_DATA,1,f.c,\n";
    devlog_error err;
    fixture f;
    size_t n;
    begin(&f, log, strlen(log));
    const dl_export_format *formats = dl_export_formats(&n);
    char occupied[128];
    snprintf(occupied, sizeof occupied, "%s/there", f.folder);
    assert_int_equal(mkdir(occupied, 0777), 0);
    char inside[160];
    snprintf(inside, sizeof inside, "%s/something", occupied);
    assert_int_equal(mkdir(inside, 0777), 0);
    for (size_t i = 0; i < n; i++) {
        char path[160];
        snprintf(path, sizeof path, "/proc/devlog/x%s", formats[i].suffix);
        assert_int_not_equal(formats[i].write(f.view, path, &err), DEVLOG_OK);
        assert_non_null(strstr(err.text, "/proc"));
        /* A folder is in the way of a file, and a full folder in that of a trace that is one. */
        if (strcmp(formats[i].name, "xplane") == 0) continue;
        assert_int_not_equal(formats[i].write(f.view, occupied, &err), DEVLOG_OK);
        assert_non_null(strstr(err.text, occupied));
    }
    end(&f);
}

static void a_writer_that_fails_leaves_nothing(void **state)
{
    (void)state;
    devlog_error err;
    dl_out o;
    char folder[] = "/tmp/devlog-export-XXXXXX", path[64];
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/a", folder);
    assert_int_equal(out_open(&o, path, &err), DEVLOG_OK);
    out_text(&o, "half");
    dl_fail(&err, DEVLOG_ERR_MEMORY, "no memory");
    assert_int_equal(out_close(&o, DEVLOG_ERR_MEMORY, &err), DEVLOG_ERR_MEMORY);
    assert_string_equal(err.text, "no memory");
    assert_int_equal(rmdir(folder), 0);
}

static void texts_are_cut_between_characters(void **state)
{
    (void)state;
    static const struct {
        const char *text, *cut;
    } cases[] = {{"", ""},
                 {"abc", "abc"},
                 {"\xC3\xBC", "\xC3\xBC"},
                 {"a\xC3", "a"},
                 {"a\xF0\x9F\xA6\x8A", "a\xF0\x9F\xA6\x8A"},
                 {"a\xF0\x9F\xA6", "a"},
                 {"a\xF0\x9F", "a"},
                 {"a\xF0", "a"}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char text[16];
        strcpy(text, cases[i].text);
        out_cut_utf8(text);
        assert_string_equal(text, cases[i].cut);
    }
}

/* A clock of 1 kHz and stamps near the last: nanoseconds end at 2^64, and no conversion goes beyond. */
static void times_that_have_no_end(void **state)
{
    (void)state;
    static const char log[] =
        "ARCH: wormhole_b0, CHIP_FREQ[MHz]: 0.001\n"
        "PCIe slot, core_x, core_y, RISC processor type, timer_id, time[cycles since reset], data, run host "
        "ID,"
        "trace id, trace id counter, zone name, type, source line, source file, meta data\n"
        "0,1,2,BRISC,5,1000,0,7,,,long,ZONE_START,1,f.c,\n"
        "0,1,2,BRISC,5,4600000000000000000,0,7,,,long,ZONE_END,1,f.c,\n";
    fixture f;
    char path[160];
    devlog_error err;
    begin(&f, log, sizeof log - 1);
    assert_int_equal(write_all(&f, "a"), FORMATS);
    snprintf(path, sizeof path, "%s/a.trace.json", f.folder);
    assert_int_equal(dl_export_find("chrome")->write(f.view, path, &err), DEVLOG_OK);
    dl_str text = {0};
    assert_int_equal(dl_file_read(path, 1 << 20, &text, &err), DEVLOG_OK);
    assert_non_null(strstr(text.text, "\"dur\":18446744072709551.6150,"));
    dl_str_free(&text);
    end(&f);
}

/* What was lost stands in every format that has a place for it (docs/views.md). */
static void losses_are_in_the_files(void **state)
{
    (void)state;
    static const char log[] = HEAD "0,1,2,BRISC,1,1000,0,7,,,BRISC-FW,ZONE_START,1,f.c,\n"
                                   "0,1,2,BRISC,5,1030,4321,7,,,DEVLOG-DROPPED,ZONE_TOTAL,1,f.c,\n"
                                   "this is no row\n"
                                   "0,1,2,BRISC,1,1200,0,7,,,BRISC-FW,ZONE_END,1,f.c,\n";
    static const struct {
        const char *file, *dropped, *skipped;
    } files[] = {
        {"a.perfetto-trace", "leave markers out: 4321;", "lines skipped: 1;"},
        {"a.json", "\"dropped_on_device\":\"4321\"", "\"lines skipped\":\"1\""},
        {"a.csv", "DEVLOG-DROPPED,f.c,1,7,,,,1030,,1030,,4321,", ""},
        {"a.zones.json", "\"dropped_on_device\":4321", "\"skipped_not_a_row\":1"},
        {"a.xplane/plugins/profile/devlog/devlog.xplane.pb", "4321 markers dropped on the device",
         "1 lines of the log were skipped"},
        {"a.ctf/metadata", "dropped_on_device = 4321;", "lines_skipped = 1;"},
        {"a.speedscope.json", "4321 markers dropped on the device", "1 lines skipped"},
    };
    devlog_error err;
    fixture f;
    begin(&f, log, sizeof log - 1);
    assert_int_equal(write_all(&f, "a"), FORMATS);
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        char path[160];
        dl_str text = {0};
        snprintf(path, sizeof path, "%s/%s", f.folder, files[i].file);
        if (dl_file_read(path, 1 << 20, &text, &err)) fail_msg("%s", err.text);
        if (!memmem(text.text, text.len, files[i].dropped, strlen(files[i].dropped)) ||
            !memmem(text.text, text.len, files[i].skipped, strlen(files[i].skipped)))
            fail_msg("%s does not say what was lost", files[i].file);
        dl_str_free(&text);
    }
    end(&f);
}

/* 0 is what a kernel recorded, and not that it recorded nothing. */
static void a_value_of_zero_is_a_value(void **state)
{
    (void)state;
    static const char log[] = HEAD "0,1,2,BRISC,1,1000,0,7,,,BRISC-FW,ZONE_START,1,f.c,\n"
                                   "0,1,2,BRISC,5,1030,0,7,,,zero,TS_DATA,2,f.c,\n"
                                   "0,1,2,BRISC,6,1031,0,7,,,nil,ZONE_TOTAL,3,f.c,\n"
                                   "0,1,2,BRISC,1,1200,0,7,,,BRISC-FW,ZONE_END,1,f.c,\n";
    static const struct {
        const char *file, *value, *sum;
    } files[] = {
        {"a.csv", "value,0,1,2,BRISC,zero,f.c,2,7,,,,1030,,1030,,0,",
         "sum,0,1,2,BRISC,nil,f.c,3,7,,,,1031,,1031,,0,"},
        {"a.zones.json", "\"start_cycle\":1030,\"start_ns\":1030,\"data\":\"0\"",
         "\"start_cycle\":1031,\"start_ns\":1031,\"data\":\"0\""},
        {"a.json", "\"1,2 BRISC zero\":0", "\"0\""},
    };
    devlog_error err;
    fixture f;
    begin(&f, log, sizeof log - 1);
    assert_int_equal(write_all(&f, "a"), FORMATS);
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        char path[160];
        dl_str text = {0};
        snprintf(path, sizeof path, "%s/%s", f.folder, files[i].file);
        if (dl_file_read(path, 1 << 20, &text, &err)) fail_msg("%s", err.text);
        if (!strstr(text.text, files[i].value) || !strstr(text.text, files[i].sum))
            fail_msg("%s: %s", files[i].file, text.text);
        dl_str_free(&text);
    }
    end(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(losses_are_in_the_files),
        cmocka_unit_test(a_value_of_zero_is_a_value),
        cmocka_unit_test(logs_without_zones),
        cmocka_unit_test(times_that_have_no_end),
        cmocka_unit_test(a_hundred_thousand_tracks),
        cmocka_unit_test(more_overlaps_than_lanes),
        cmocka_unit_test(what_cannot_be_written_is_said),
        cmocka_unit_test(a_writer_that_fails_leaves_nothing),
        cmocka_unit_test(texts_are_cut_between_characters),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
