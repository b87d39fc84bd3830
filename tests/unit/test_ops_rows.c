/* Which launches are one row of an op report, in which order rows are, and what a row of several launches holds: by hand, in the
 * cases that random runs (test_ops_busy.c) do not come to. */
#include <cJSON.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ops/op_job.h"
#include "support/cmocka_all.h"
#include "support/device.h"
#include "support/files.h"

#define HEADER                                                                                               \
    "ARCH: wormhole_b0, CHIP_FREQ[MHz]: 1000, Max Compute Cores: 80, Run: ab\nPCIe slot, core_x, core_y, "   \
    "RISC "                                                                                                  \
    "processor type, timer_id, time[cycles since reset], data, run host ID, trace id, trace id counter, "    \
    "zone "                                                                                                  \
    "name, type, source line, source file, meta data\n"
#define RUN   "{\"e\":\"run\",\"t\":1,\"version\":1,\"run\":\"ab\",\"pid\":1}\n"
#define CLOSE "{\"e\":\"close\",\"t\":9,\"ops\":1,\"lost\":0}\n"
#define START(id, depth, name)                                                                               \
    "{\"e\":\"start\",\"id\":" #id ",\"t\":" #id "0,\"thread\":0,\"depth\":" #depth ",\"name\":\"" name      \
    "\"}\n"
#define END(id) "{\"e\":\"end\",\"id\":" #id ",\"t\":" #id "5,\"thread\":0}\n"
#define LAUNCH(id, n, cores)                                                                                 \
    "{\"e\":\"launch\",\"id\":" #id ",\"t\":3,\"chip\":0,\"launch\":" #n ",\"cores\":" #cores "}\n"
#define FW(x, n, trace, from, to)                                                                            \
    "0," #x ",0,BRISC,1," #from ",0," #n "," trace ",BRISC-FW,ZONE_START,0,,\n0," #x ",0,BRISC,4," #to       \
    ",0," #n "," trace ",BRISC-FW,ZONE_END,0,,\n"

#define KERNEL(x, n, from, to)                                                                               \
    "0," #x ",0,BRISC,2," #from ",0," #n ",,,BRISC-KERNEL,ZONE_START,0,,\n0," #x ",0,BRISC,3," #to ",0," #n  \
    ",,,BRISC-KERNEL,ZONE_END,0,,\n"
#define BOOT(id, n, number)                                                                                  \
    "{\"e\":\"launch\",\"id\":" #id ",\"t\":3,\"chip\":0,\"launch\":" #n ",\"boot\":" #number "}\n"

static double number(const cJSON *row, const char *column)
{
    const cJSON *c = cJSON_GetObjectItemCaseSensitive(row, column);
    return cJSON_IsNumber(c) ? c->valuedouble : 0;
}

/* The rows of an op log ("": none) and a device log. */
static cJSON *report(const char *ops, const char *device, op_job *job)
{
    char folder[100], path[200];
    devlog_error err = {0};
    snprintf(folder, sizeof folder, "%s", test_folder());
    snprintf(path, sizeof path, "%s/profile_log_ops.jsonl", folder);
    if (*ops) write_text(path, ops);
    snprintf(path, sizeof path, "%s/profile_log_device.csv", folder);
    write_text(path, device);
    const op_job_options o = {
        .logs = folder, .output = folder, .name = "out", .no_tar = true, .report = {.json = true}};
    check_ok(op_job_run(job, &o, &err), &err);
    char *text = read_bytes(job->report_path, NULL);
    cJSON *rows = cJSON_Parse(text);
    assert_non_null(rows);
    free(text);
    return rows;
}

static void says(const op_job *job, const char *what)
{
    dl_str text = {0};
    op_job_describe(job, false, &text);
    assert_true(op_job_lost(job));
    if (!strstr(text.text, what)) fail_msg("'%s' does not say '%s'", text.text, what);
    dl_str_free(&text);
}

#define FW_OF(op, n, from, to)                                                                               \
    "0,0,0,BRISC,1," #from ",0," #n ",,,BRISC-FW,ZONE_START,0,,{\"op\":" #op "}\n0,0,0,BRISC,4," #to         \
    ",0," #n ",,,BRISC-FW,ZONE_END,0,,\n"

static void rows_are_told_apart(void **state)
{
    (void)state;
    static const struct {
        const char *name, *ops, *device;
        double rows[4][2]; /* duration of the firmware, gap before it; until a duration of 0 */
        uint64_t overlap;
        const char *says; /* NULL: nothing is lost */
    } cases[] = {
        {"launches of one start are as the log has them",
         "",
         HEADER FW(0, 1, ",", 1000, 1100) FW(0, 2, ",", 1000, 1050),
         {{100, 0}, {50, -100}},
         50,
         NULL},
        {"a number that was left behind is of the same program",
         "",
         HEADER FW(0, 5, ",", 1000, 1100) FW(0, 3, ",", 500, 600) FW(0, 4, ",", 400, 450),
         {{50, 0}, {100, 50}, {100, 400}},
         0,
         NULL},
        {"numbers of a trace are not those of launches",
         "",
         HEADER FW(0, 1, ",", 1000, 1100) FW(0, 7, "4,1", 500, 600),
         {{100, 0}, {100, 400}},
         0,
         NULL},
        {"two runs that are equal to the cycle",
         "",
         HEADER FW(0, 1, ",", 1000, 1100) "ARCH: wormhole_b0, CHIP_FREQ[MHz]: 1000, Run: cd\n" FW(0, 1, ",",
                                                                                                  1000, 1100),
         {{100, 0}, {100, 0}},
         0,
         NULL},
        {"launches inside the first of their op",
         RUN START(1, 1, "A") LAUNCH(1, 1, 1) LAUNCH(1, 2, 1) LAUNCH(1, 3, 1) END(1) CLOSE,
         HEADER FW(0, 1, ",", 1000, 1100) FW(0, 2, ",", 1010, 1020) FW(0, 3, ",", 1050, 1060),
         {{100, 0}},
         0,
         NULL},
        {"an op around two boots of a device",
         RUN START(1, 1, "A") BOOT(1, 1, 1) BOOT(1, 2, 2) END(1) CLOSE,
         HEADER FW(0, 1, ",", 1000, 1100) FW(0, 2, ",", 1000, 1100),
         {{100, 0}, {100, 0}},
         0,
         NULL},
        {"launches of ops that nobody knows",
         RUN LAUNCH(77, 1, 1) LAUNCH(77, 2, 1) CLOSE,
         HEADER FW(0, 1, ",", 1000, 1100) FW(0, 2, ",", 1200, 1300),
         {{100, 0}, {100, 100}},
         0,
         "never started"},
        {"launches of an op that the log of ops does not have",
         RUN START(1, 1, "A") END(1) CLOSE,
         HEADER FW_OF(77, 1, 1000, 1100) FW_OF(77, 2, 1200, 1300),
         {{100, 0}, {100, 100}},
         0,
         "launches of ops"},
        {"a launch without a firmware zone",
         RUN START(1, 1, "A") LAUNCH(1, 1, 2) END(1) START(2, 1, "B") LAUNCH(2, 2, 1) END(2) CLOSE,
         HEADER "0,0,0,BRISC,9,900,0,1,,,e,TS_EVENT,0,,\n" FW(0, 2, ",", 1200, 1300),
         {{0, 0}},
         0,
         "1  launches with other cores in the device log than were launched"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        static op_job job;
        cJSON *rows = report(cases[i].ops, cases[i].device, &job), *row;
        int n = 0;
        cJSON_ArrayForEach(row, rows)
        {
            double fw = number(row, "DEVICE FW DURATION [ns]");
            if (!fw || !cases[i].rows[0][0]) continue;
            if (fw != cases[i].rows[n][0] || number(row, "OP TO OP LATENCY [ns]") != cases[i].rows[n][1])
                fail_msg("%s: row %d: %s", cases[i].name, n, cJSON_PrintUnformatted(row));
            n++;
        }
        if (cases[i].rows[n][0]) fail_msg("%s: %d rows", cases[i].name, n);
        assert_int_equal(job.counts.overlap_ns, cases[i].overlap);
        if (cases[i].says)
            says(&job, cases[i].says);
        else if (op_job_lost(&job))
            fail_msg("%s: something is lost", cases[i].name);
        cJSON_Delete(rows);
        op_job_free(&job);
    }
}

/* Of several launches as one row: what is measured of each is added up, and the time between them is no part of it. */
static void launches_of_a_row_add_up(void **state)
{
    (void)state;
    static op_job job;
    cJSON *rows = report(RUN START(1, 1, "A") LAUNCH(1, 1, 2) LAUNCH(1, 2, 2) END(1) CLOSE,
                         HEADER FW(0, 1, ",", 1000, 1100) KERNEL(0, 1, 1010, 1090) FW(1, 1, ",", 1000, 1100)
                             KERNEL(1, 1, 1020, 1090) FW(0, 2, ",", 1200, 1300) KERNEL(0, 2, 1210, 1280)
                                 FW(1, 2, ",", 1200, 1300) KERNEL(1, 2, 1230, 1280),
                         &job);
    assert_int_equal(cJSON_GetArraySize(rows), 1);
    const cJSON *row = cJSON_GetArrayItem(rows, 0);
    assert_true(number(row, "DEVICE KERNEL DURATION [ns]") == 150);
    assert_true(number(row, "DEVICE KERNEL DURATION DM START [ns]") == 150);
    assert_true(number(row, "DEVICE KERNEL FIRST TO LAST START [ns]") == 30);
    assert_false(op_job_lost(&job));
    cJSON_Delete(rows);
    op_job_free(&job);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_are_told_apart),
        cmocka_unit_test(launches_of_a_row_add_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
