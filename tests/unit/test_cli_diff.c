/* devlog diff as a command: every kind of input, what is matched with what, causes, outputs, and how it ends. Its
 * statistics: test_diff.c. */
#include <cjson/cJSON.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/str.h"
#include "support/cli.h"
#include "support/device.h"
#include "support/diff_runs.h"
#include "support/files.h"

/* ---- Ops --- */

static void ops_are_matched(void **state)
{
    (void)state;
    write_report("old.csv", &plain_report);
    report_of r = plain_report;
    r.width = 96; /* the first of the eight has another shape */
    write_report("new.csv", &r);
    char *text = devlog_ok("diff --exact old.csv new.csv", 0);
    has(text, "gone  Matmul 1x1x32[30]x32 > 1x1x32[30]x32");
    has(text, "new   Matmul 1x1x32[30]x96 > 1x1x32[30]x32");
    has(text, "Ops: 7 same, 1 gone, 1 new.");
    free(text);
    r = plain_report;
    r.device = 1.1;
    write_report("new.csv", &r);
    text = devlog_ok("diff --exact old.csv new.csv", 0);
    has(text, "Ops: 8 slower.");
    has(text, " +24,000  slower  Copy 1x1x32[30]x64 > 1x1x32[30]x32\n"); /* three of them, 80,000 each */
    has(text, "    +8,000 ns in TRISC1 kernel\n    +4,000 ns in BRISC kernel\n");
    free(text);
    /* the greatest difference first */
    text = devlog_ok("diff --exact --top 1 old.csv new.csv", 0);
    has(text, "Copy 1x1x32[30]x64");
    has(text, "... and 7 more ops");
    free(text);
    says("diff --exact --time fw old.csv new.csv", 0, "\n80,100  88,100  +9.99");
}

/* Equal ops of a run are told apart by their order when there are several runs. */
static void equal_ops_have_places(void **state)
{
    (void)state;
    dl_str line = {0};
    for (int i = 0; i < 20; i++) {
        char name[64];
        report_of r = plain_report;
        r.noise = (unsigned)i + 1;
        snprintf(name, sizeof name, "%s%d.csv", i < 10 ? "o" : "n", i);
        write_report(name, &r);
        dl_str_fmt(&line, " --%s %s", i < 10 ? "old" : "new", name);
    }
    char with[1000];
    snprintf(with, sizeof with, "diff%s --top 0 --fail-on 'op>+1%%'", line.text);
    char *text = devlog_ok(with, 0);
    has(text, "Old: o0.csv and 9 more runs, 240 ops");
    has(text, "Softmax 1x1x32[30]x32 > 1x1x32[30]x32 #3");
    has(text, "Ops: 24 same.");
    has(text, "passed    op>+1%");
    free(text);
    /* one run has another number of them: then they are one */
    report_of r = plain_report;
    r.copies = 2;
    write_report("n15.csv", &r);
    text = devlog_ok(with, 0);
    has_not(text, " #3");
    has(text, "Ops: 8 same.");
    free(text);
    dl_str_free(&line);
}

/* ---- Zones --- */

static void zones_and_their_lines(void **state)
{
    (void)state;
    log_of l = plain_log;
    write_log("old.csv", &l);
    l.loop += 50;
    l.load += 50;
    l.load_line = 41;
    l.loop_line = 45;
    l.extra = "store";
    write_log("new.csv", &l);
    char *text = devlog_ok("diff old.csv new.csv", 0);
    has(text, "TRISC_1 loop (matmul.cc:44, now matmul.cc:45)");
    has(text, "new     TRISC_1 store (matmul.cc:77)");
    has(text, "Ops: 1 slower.");
    /* the launch is slower by 50 ns, as the loop is; what is around the loop took no longer itself */
    has(text, " slower  launch\n    +50 ns in TRISC_1 loop (matmul.cc:45)\n");
    has_not(text, "in TRISC_1 load");
    free(text);
    says("diff --fail-on 'zone>+5%' old.csv new.csv", 4, "failed    zone>+5%");
    says("diff --fail-on 'zone>+15%' old.csv new.csv", 0, "passed    zone>+15%");
    says("diff --fail-on new old.csv new.csv", 4, "TRISC_1 store: is new");
    says("diff --fail-on missing old.csv new.csv", 0, "passed    missing");
    says("diff --fail-on missing new.csv old.csv", 4, "TRISC_1 store: is gone");
    /* a name that stands in two places: a line that moved is another zone */
    l = plain_log;
    l.extra = "loop";
    write_log("old.csv", &l);
    l.loop_line = 46;
    write_log("new.csv", &l);
    text = devlog_ok("diff old.csv new.csv", 0);
    has(text, "gone");
    has(text, "TRISC_1 loop (matmul.cc:46)");
    has_not(text, "now matmul.cc");
    free(text);
}

static void clocks_and_boards(void **state)
{
    (void)state;
    log_of l = plain_log;
    write_log("old.csv", &l);
    l.mhz = 500;
    l.arch = "blackhole";
    write_log("new.csv", &l);
    char *text = devlog_ok("diff --exact old.csv new.csv", 0);
    has(text, "Different boards: the old log is of wormhole_b0, the new one of blackhole.");
    has(text, "Different clocks: 1000 MHz before, 500 MHz now; times are nanoseconds.");
    has(text, "+100.00"); /* the same cycles at half the clock */
    free(text);
    l.mhz = 0;
    write_log("new.csv", &l);
    text = devlog_ok("diff --exact old.csv new.csv", 0);
    has(text, "The clock of a log is unknown: times of logs are cycles.");
    has(text, "Times are cycles of one");
    has_not(text, "+100.00");
    free(text);
    says("diff --exact --fail-on 'zone>+10cycles' old.csv new.csv", 0, "passed");
    devlog_fails("diff --exact --fail-on 'zone>+10ns' old.csv new.csv", 1,
                 "as the clock of a log is unknown");
}

/* Several runs of logs; one zone is 3 % slower. */
static void repeats_of_logs(void **state)
{
    (void)state;
    for (int i = 0; i < 24; i++) {
        char name[64];
        log_of l = plain_log;
        snprintf(name, sizeof name, "%s/run%d", i < 12 ? "logs_a" : "logs_b", i % 12);
        char folder[600];
        snprintf(folder, sizeof folder, "mkdir -p %s", in_scratch(name));
        assert_int_equal(system(folder), 0);
        l.loop += (unsigned)(i * 7 % 12) + (i < 12 ? 0 : 15);
        l.load += 400;
        strncat(name, "/profile_log_device.csv", sizeof name - strlen(name) - 1);
        write_log(name, &l);
    }
    char *text = devlog_ok("diff --fail-on 'zone>+2%' logs_a logs_b", 4);
    has(text, "/run0 and 11 more runs, 240 launches");
    has(text, "slower  TRISC_1 loop (matmul.cc:44)");
    has(text, "Zones: 1 slower, 5 same.");
    free(text);
    says("diff --old logs_a/run0 --old logs_a/run1 --new logs_b/run0 --new logs_b/run1 --fail-on 'zone>+2%'",
         5, "undecided zone>+2%");
}

/* A folder of a run: zones by the op that they ran for. */
static void zones_of_ops(void **state)
{
    (void)state;
    for (int side = 0; side < 2; side++) {
        char name[64], folder[600];
        log_of l = plain_log;
        report_of r = plain_report;
        l.launches = 24;
        l.loop += side ? 20 : 0;
        r.device = side ? 1.02 : 1;
        snprintf(name, sizeof name, "whole%d", side);
        snprintf(folder, sizeof folder, "mkdir -p %s/logs_device", in_scratch(name));
        assert_int_equal(system(folder), 0);
        snprintf(name, sizeof name, "whole%d/ops_perf_results.csv", side);
        write_report(name, &r);
        snprintf(name, sizeof name, "whole%d/logs_device/profile_log_device.csv", side);
        write_log(name, &l);
    }
    char *text = devlog_ok("diff --exact --format json whole0 whole1", 0);
    cJSON *json = cJSON_Parse(text);
    const cJSON *lines = cJSON_GetObjectItem(json, "lines"), *line;
    size_t met = 0;
    cJSON_ArrayForEach(line, lines)
    {
        if (strcmp(cJSON_GetObjectItem(line, "kind")->valuestring, "op") != 0) continue;
        const cJSON *cause;
        cJSON_ArrayForEach(cause, cJSON_GetObjectItem(line, "causes"))
        {
            if (strcmp(cJSON_GetObjectItem(cause, "name")->valuestring, "loop") != 0) continue;
            assert_true(cJSON_GetObjectItem(cJSON_GetObjectItem(cause, "old"), "samples")->valueint == 3);
            assert_true(cJSON_GetObjectItem(cause, "difference_per_run")->valuedouble == 60); /* 3 x 20 ns */
            met++;
        }
    }
    assert_int_equal(met, 8);
    cJSON_Delete(json);
    free(text);
    /* the log of one of them is gone */
    assert_int_equal(remove(in_scratch("whole1/logs_device/profile_log_device.csv")), 0);
    says("diff --exact --fail-on missing whole0 whole1", 4, "there is no device log any more");
}

/* Rows of cores and chips in turn, as tt-metal writes them by time, or core by core: the same run. */
static void order_of_rows(void **state)
{
    (void)state;
    char *said[2];
    for (int by = 0; by < 2; by++) {
        log_of l = plain_log;
        l.chips = 2;
        l.by_time = by;
        write_log("old.csv", &l);
        l.load += 30;
        l.loop += 30;
        write_log("new.csv", &l);
        said[by] = devlog_ok("diff --exact --format json old.csv new.csv", 0);
    }
    assert_string_equal(said[0], said[1]);
    cJSON *json = cJSON_Parse(said[1]);
    const cJSON *line, *cause;
    unsigned met = 0, gaps = 0;
    cJSON_ArrayForEach(line, cJSON_GetObjectItem(json, "lines"))
    {
        const double old = cJSON_GetObjectItem(cJSON_GetObjectItem(line, "old"), "per_run")->valuedouble;
        /* 19 of a chip, each 100,000 less a launch of 1,120 to 1,122 (18 more of all), on two chips */
        if (!strcmp(cJSON_GetObjectItem(line, "name")->valuestring, "gaps on the device")) {
            assert_true(old == 2 * (19 * (100000.0 - 1120) - 18));
            gaps++;
        }
        cJSON_ArrayForEach(cause, cJSON_GetObjectItem(line, "causes"))
        {
            if (strcmp(cJSON_GetObjectItem(cause, "name")->valuestring, "loop") != 0) continue;
            assert_true(cJSON_GetObjectItem(cause, "difference_per_run")->valuedouble == 40 * 30);
            met++;
        }
    }
    assert_int_equal(met, 1);
    assert_int_equal(gaps, 1);
    cJSON_Delete(json);
    free(said[0]);
    free(said[1]);
}

/* Sums are zones of so many passes, and of one a launch where the log does not say of how many. */
static void sums_are_zones(void **state)
{
    (void)state;
    for (int told = 0; told < 2; told++) {
        for (unsigned sum = 1000; sum <= 1500; sum += 500) {
            log_of l = plain_log;
            char path[600];
            l.launches = 3;
            l.by_time = true;
            write_log(sum == 1000 ? "old.csv" : "new.csv", &l);
            snprintf(path, sizeof path, "%s", in_scratch(sum == 1000 ? "old.csv" : "new.csv"));
            FILE *f = fopen(path, "a");
            assert_non_null(f);
            for (unsigned i = 0; i < 6; i++) /* in all launches of both cores */
                fprintf(f, "0,%u,1,TRISC_1,901,%u,%u,%u,inner,ZONE_TOTAL,55,/src/matmul.cc,%s\n", i % 2 + 1,
                        1000150 + i / 2 * 100000, sum, l.id + i / 2,
                        told ? "{\"count\":10;\"min\":50;\"max\":200}" : "");
            fclose(f);
        }
        char *text = devlog_ok("diff --exact --format json --fail-on 'zone>+5%' old.csv new.csv", 4);
        cJSON *json = cJSON_Parse(text);
        const cJSON *line;
        unsigned met = 0;
        cJSON_ArrayForEach(line, cJSON_GetObjectItem(json, "lines"))
        {
            if (strcmp(cJSON_GetObjectItem(line, "name")->valuestring, "inner") != 0) continue;
            const cJSON *old = cJSON_GetObjectItem(line, "old"), *new = cJSON_GetObjectItem(line, "new");
            assert_int_equal(cJSON_GetObjectItem(old, "count")->valueint, told ? 60 : 6);
            assert_true(cJSON_GetObjectItem(old, "mean")->valuedouble == (told ? 100 : 1000));
            assert_true(cJSON_GetObjectItem(new, "mean")->valuedouble == (told ? 150 : 1500));
            met++;
        }
        assert_int_equal(met, 1);
        has(text, "TRISC_1 inner: mean");
        cJSON_Delete(json);
        free(text);
        text = devlog_ok("report --format csv --tables zones old.csv", 0);
        has(text, told ? "inner,TRISC_1,,matmul.cc:55,60,6000," : "inner,TRISC_1,,matmul.cc:55,6,6000,");
        has(text, told ? ",6000,50,200," : ",6000,1000,1000,");
        free(text);
    }
}

/* ---- Gates --- */

static void outputs(void **state)
{
    (void)state;
    report_of r = plain_report;
    write_report("old.csv", &r);
    r.device = 1.5;
    r.suffix = "<&>|\"";
    write_report("new.csv", &r);
    write_report("odd.csv", &(report_of){"<&>|\"", 1, 1, 1, 1, 0, 0, 0, 0, 0, 0});
    const char *const with = "--exact --fail-on 'op>+5%' --fail-on missing odd.csv new.csv";
    char line[300], *text;
    snprintf(line, sizeof line, "diff --format json %s", with);
    text = devlog_ok(line, 4);
    cJSON *json = cJSON_Parse(text);
    assert_non_null(json);
    assert_int_equal(cJSON_GetObjectItem(json, "version")->valueint, 1);
    assert_string_equal(cJSON_GetObjectItem(json, "result")->valuestring, "failed");
    assert_int_equal(cJSON_GetArraySize(cJSON_GetObjectItem(json, "gates")), 2);
    assert_int_equal(cJSON_GetArraySize(cJSON_GetObjectItem(json, "lines")), 11);
    cJSON_Delete(json);
    char *again = devlog_ok(line, 4);
    assert_string_equal(text, again); /* the same input, the same bytes */
    free(again);
    free(text);
    snprintf(line, sizeof line, "diff --format junit %s", with);
    text = devlog_ok(line, 4);
    has(text, "tests=\"2\" failures=\"1\" errors=\"0\"");
    has(text, "name=\"op&gt;+5%\">\n<failure message=\"failed: Copy&lt;&amp;&gt;|&quot; 1x1");
    has(text, "name=\"missing\"/>");
    write_text(in_scratch("out.xml"), text);
    free(text);
    char check[700];
    snprintf(check, sizeof check, "python3 -c \"import xml.dom.minidom; xml.dom.minidom.parse('%s')\"",
             in_scratch("out.xml"));
    assert_int_equal(system(check), 0);
    snprintf(line, sizeof line, "diff --format md %s", with);
    text = devlog_ok(line, 4);
    has(text, "### devlog diff: **failed**\n");
    has(text,
        "| Copy\\<\\&\\>\\|\" 1x1x32\\[30\\]x64 \\> 1x1x32\\[30\\]x32 | 80,000 | 120,000 | +50.00 | +120,000 |");
    free(text);
    snprintf(line, sizeof line, "diff --format csv %s", with);
    text = devlog_ok(line, 4);
    has(text, "kind,name,place,risc,where,op,verdict,unit,old_count");
    has(text, "\nop,\"Copy<&>|\"\" 1x1x32[30]x64 > 1x1x32[30]x32\",0,,,,slower,ns,3,0,3,80000.0,80000.0,");
    has(text, "\ncause,,0,TRISC1,,\"Copy<&>|\"\" 1x1");
    free(text);
    says("diff --format junit old.csv old.csv", 0, "tests=\"0\"");
}

/* ---- Bad input --- */

static void bad_input(void **state)
{
    (void)state;
    write_report("old.csv", &plain_report);
    log_of l = plain_log;
    write_log("log.csv", &l);
    write_text(in_scratch("empty.csv"), "");
    write_text(in_scratch("head.csv"), OP_REPORT_HEAD);
    char folder[600];
    snprintf(folder, sizeof folder, "mkdir -p %s", in_scratch("nothing"));
    assert_int_equal(system(folder), 0);
    devlog_fails("diff old.csv gone.csv", 1, "cannot read gone.csv");
    devlog_fails("diff old.csv empty.csv", 1, "empty.csv: the file is empty");
    devlog_fails("diff old.csv head.csv", 1, "the new one is an op report and has nothing");
    devlog_fails("diff nothing old.csv", 1, "nothing holds no run");
    devlog_fails("diff old.csv log.csv", 1, "the old one is an op report and has 'Matmul 1x1");
    devlog_fails("diff old.csv", 2, "wants an old and a new input");
    devlog_fails("diff --old old.csv", 2, "wants an old and a new input");
    devlog_fails("diff --old old.csv old.csv", 2, "say the same");
    devlog_fails("diff --fail-on 'op>5%' old.csv old.csv", 2, "begins with + or -");
    devlog_fails("diff --fail-on missing --fail-on typo old.csv old.csv", 2, "'typo' speaks of nothing");
    devlog_fails("diff --confidence 100 old.csv old.csv", 2, "less than 100");
    /* cells that are no numbers */
    size_t n;
    char *text = read_bytes(in_scratch("old.csv"), &n), *cell = strstr(text, ",10000,5000,");
    assert_non_null(cell);
    memcpy(cell, ",1x000,5000,", 12);
    write_text(in_scratch("odd.csv"), text);
    free(text);
    free(devlog_ok("diff --exact odd.csv odd.csv 2>/dev/null", 3));
    /* no colour, no terminal: no escapes */
    text = devlog_ok("diff --exact --fail-on 'op>+1%' old.csv old.csv", 0);
    has_not(text, "\033");
    free(text);
}

/* Packed and compressed inputs say the same. */
static void packed_inputs(void **state)
{
    (void)state;
    log_of l = plain_log;
    write_log("old.csv", &l);
    l.loop += 50;
    write_log("new.csv", &l);
    write_report("report.csv", &plain_report);
    char line[1500];
    snprintf(line, sizeof line, "cd %s && gzip -k -f new.csv report.csv", scratch());
    assert_int_equal(system(line), 0);
    free(devlog_ok("pack -o old.csv.pack old.csv", 0));
    char *text = devlog_ok("diff --format csv old.csv new.csv", 0), *packed;
    packed = devlog_ok("diff --format csv old.csv.pack new.csv.gz", 0);
    assert_string_equal(text, packed);
    free(text);
    free(packed);
    says("diff --exact report.csv report.csv.gz", 0, "Ops: 8 same.");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ops_are_matched),
        cmocka_unit_test(equal_ops_have_places),
        cmocka_unit_test(zones_and_their_lines),
        cmocka_unit_test(clocks_and_boards),
        cmocka_unit_test(repeats_of_logs),
        cmocka_unit_test(zones_of_ops),
        cmocka_unit_test(order_of_rows),
        cmocka_unit_test(sums_are_zones),
        cmocka_unit_test(outputs),
        cmocka_unit_test(bad_input),
        cmocka_unit_test(packed_inputs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
