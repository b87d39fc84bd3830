/* Stitching: op logs and device logs made here, and the rows that must come of them. */
#include <cJSON.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "decode/capture/capture.h"
#include "ops/op_job.h"
#include "support/cmocka_all.h"
#include "support/device.h"
#include "support/files.h"

#define HEADER                                                                                               \
    "PCIe slot, core_x, core_y, RISC processor type, timer_id, time[cycles since reset], data, run host "    \
    "ID, "                                                                                                   \
    "trace id, trace id counter, zone name, type, source line, source file, meta data\n"
#define CHIP(run) "ARCH: wormhole_b0, CHIP_FREQ[MHz]: 500, Max Compute Cores: 80, Run: " run "\n" HEADER

typedef struct fixture {
    const char *folder;
    op_job job;
    devlog_status status;
    devlog_error err;
    cJSON *rows;
    dl_str text; /* what is said to people */
} fixture;

static void put(const char *folder, const char *name, const char *text)
{
    char path[400];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    write_text(path, text);
}

static void run_job(fixture *f, const op_job_options *more)
{
    op_job_options o = {.logs = f->folder, .output = f->folder, .name = "out"};
    if (more) {
        o = *more;
        o.logs = o.logs ? o.logs : f->folder;
        o.output = f->folder;
        o.name = "out";
    }
    o.report.json = true;
    f->status = op_job_run(&f->job, &o, &f->err);
    if (f->status) return;
    size_t size;
    char *json = read_bytes(f->job.report_path, &size);
    f->rows = cJSON_Parse(json);
    if (!f->rows) fail_msg("the report is no JSON: %s", json);
    free(json);
    op_job_describe(&f->job, false, &f->text);
}

static fixture stitched(const char *ops, const char *device)
{
    fixture f = {.folder = test_folder()};
    char *folder = strdup(f.folder);
    f.folder = folder;
    if (ops) put(folder, "profile_log_ops.jsonl", ops);
    if (device) put(folder, "profile_log_device.csv", device);
    run_job(&f, NULL);
    return f;
}

static void done(fixture *f)
{
    cJSON_Delete(f->rows);
    dl_str_free(&f->text);
    op_job_free(&f->job);
    char other[400];
    snprintf(other, sizeof other, "%s_device", f->folder);
    dl_folder_remove(other);
    free((char *)f->folder);
}

static const cJSON *cell(const fixture *f, int row, const char *column)
{
    const cJSON *r = cJSON_GetArrayItem(f->rows, row);
    const cJSON *c = cJSON_GetObjectItemCaseSensitive(r, column);
    if (!c) fail_msg("row %d has no column %s", row, column);
    return c;
}

static void number_is(const fixture *f, int row, const char *column, double value)
{
    const cJSON *c = cell(f, row, column);
    if (!cJSON_IsNumber(c) || c->valuedouble != value)
        fail_msg("row %d, %s: %s instead of %.0f", row, column, cJSON_PrintUnformatted(c), value);
}

static void text_is(const fixture *f, int row, const char *column, const char *value)
{
    const cJSON *c = cell(f, row, column);
    bool same = value ? cJSON_IsString(c) && strcmp(c->valuestring, value) == 0 : cJSON_IsNull(c);
    if (!same) fail_msg("row %d, %s: %s instead of %s", row, column, cJSON_PrintUnformatted(c), value);
}

static void says(const fixture *f, const char *text)
{
    if (!strstr(f->text.text, text)) fail_msg("'%s' does not say '%s'", f->text.text, text);
}

#define RUN(id) "{\"e\":\"run\",\"t\":1,\"version\":1,\"run\":\"" id "\",\"pid\":1}\n"
#define CLOSE   "{\"e\":\"close\",\"t\":9,\"ops\":1,\"lost\":0}\n"
#define OP(id, name, start, end)                                                                             \
    "{\"e\":\"start\",\"id\":" #id ",\"t\":" #start ",\"thread\":0,\"depth\":1,\"name\":\"" name             \
    "\",\"type\":\"tt_dnn_device\"}\n"                                                                       \
    "{\"e\":\"end\",\"id\":" #id ",\"t\":" #end ",\"thread\":0,\"own\":5}\n"
#define LAUNCH(id, chip, number)                                                                             \
    "{\"e\":\"launch\",\"id\":" #id ",\"t\":3,\"chip\":" #chip ",\"launch\":" #number                        \
    ",\"program\":1,\"cached\":0,\"cores\":1}\n"
#define DEVICE(chip)                                                                                         \
    "{\"e\":\"device\",\"chip\":" #chip                                                                      \
    ",\"t\":2,\"arch\":\"wormhole_b0\",\"mhz\":500,\"cores\":64,\"profiled\":1}\n"
/* A zone on a RISC; `meta` as in the log. */
#define ZONE(chip, x, risc, launch, zone, from, to, meta)                                                    \
#chip "," #x ",0," risc ",1," #from ",0," #launch ",,," zone ",ZONE_START,0,," meta "\n" #chip "," #x    \
          ",0," risc ",4," #to ",0," #launch ",,," zone ",ZONE_END,0,,\n"

/* Two cores with two RISCs: every formula by hand; 500 MHz, so ns = 2 * cycles. */
static void formulas(void **state)
{
    (void)state;
    fixture f = stitched(RUN("ab") DEVICE(0) OP(1, "First", 1000, 5000) LAUNCH(1, 0, 7)
                             OP(2, "Second", 6000, 9000) LAUNCH(2, 0, 8) CLOSE,
                         CHIP("ab")
                         /* core 0: kernel zones close before the firmware around them */
                         "0,0,0,BRISC,1,100,0,7,,,BRISC-FW,ZONE_START,0,,{\"op\":1}\n"
                         "0,0,0,BRISC,2,110,0,7,,,BRISC-KERNEL,ZONE_START,0,,\n"
                         "0,0,0,BRISC,3,150,0,7,,,BRISC-KERNEL,ZONE_END,0,,\n"
                         "0,0,0,BRISC,4,160,0,7,,,BRISC-FW,ZONE_END,0,,\n"
                         "0,0,0,TRISC_0,1,101,0,7,,,TRISC-FW,ZONE_START,0,,{\"op\":1}\n"
                         "0,0,0,TRISC_0,2,105,0,7,,,TRISC-KERNEL,ZONE_START,0,,\n"
                         "0,0,0,TRISC_0,9,140,30,7,,,CB-COMPUTE-WAIT-FRONT,ZONE_TOTAL,0,,\n"
                         "0,0,0,TRISC_0,3,180,0,7,,,TRISC-KERNEL,ZONE_END,0,,\n"
                         "0,0,0,TRISC_0,4,190,0,7,,,TRISC-FW,ZONE_END,0,,\n"
                         "0,1,0,BRISC,1,95,0,7,,,BRISC-FW,ZONE_START,0,,{\"op\":1}\n"
                         "0,1,0,BRISC,2,125,0,7,,,BRISC-KERNEL,ZONE_START,0,,\n"
                         "0,1,0,BRISC,3,155,0,7,,,BRISC-KERNEL,ZONE_END,0,,\n"
                         "0,1,0,BRISC,4,200,0,7,,,BRISC-FW,ZONE_END,0,,\n"
                         "0,0,0,BRISC,1,300,0,8,,,BRISC-FW,ZONE_START,0,,{\"op\":2}\n"
                         "0,0,0,BRISC,2,310,0,8,,,BRISC-KERNEL,ZONE_START,0,,\n"
                         "0,0,0,BRISC,3,320,0,8,,,BRISC-KERNEL,ZONE_END,0,,\n"
                         "0,0,0,BRISC,4,330,0,8,,,BRISC-FW,ZONE_END,0,,\n");
    check_ok(f.status, &f.err);
    assert_int_equal(cJSON_GetArraySize(f.rows), 2);
    static const struct {
        const char *column;
        double value;
    } first[] = {
        {"GLOBAL CALL COUNT", 1},
        {"DEVICE ID", 0},
        {"HOST START TS", 1000},
        {"HOST END TS", 5000},
        {"HOST DURATION [ns]", 4000},
        {"DEVICE FW START CYCLE", 95},
        {"DEVICE FW END CYCLE", 200},
        {"OP TO OP LATENCY [ns]", 0},
        {"DEVICE FW DURATION [ns]", 210},
        {"DEVICE KERNEL DURATION [ns]", 150},
        {"DEVICE KERNEL DURATION DM START [ns]", 140},
        {"DEVICE KERNEL DURATION PER CORE MIN [ns]", 60},
        {"DEVICE KERNEL DURATION PER CORE MAX [ns]", 150},
        {"DEVICE KERNEL DURATION PER CORE AVG [ns]", 106},
        {"DEVICE KERNEL FIRST TO LAST START [ns]", 40},
        {"DEVICE BRISC KERNEL DURATION [ns]", 90},
        {"DEVICE TRISC0 KERNEL DURATION [ns]", 150},
        {"DEVICE COMPUTE CB WAIT FRONT [ns]", 60},
        {"CORE COUNT", 2},
        {"AVAILABLE WORKER CORE COUNT", 64},
        {"CALL DEPTH", 1},
        {"DEVICE LAUNCHES", 1},
        {"HOST PROFILER COST [ns]", 5},
    };
    for (size_t i = 0; i < sizeof first / sizeof first[0]; i++)
        number_is(&f, 0, first[i].column, first[i].value);
    text_is(&f, 0, "DEVICE ARCH", "wormhole_b0");
    text_is(&f, 0, "DEVICE NCRISC KERNEL DURATION [ns]", NULL);
    text_is(&f, 0, "DEVICE COMPUTE CB RESERVE BACK [ns]", NULL);
    number_is(&f, 1, "OP TO OP LATENCY [ns]", 200);                /* 300 - 200 */
    number_is(&f, 1, "OP TO OP LATENCY BR/NRISC START [ns]", 260); /* 310 - 180 */
    assert_true(f.job.counts.kernel_ns == 150 + 20 && f.job.counts.fw_ns == 210 + 60);
    done(&f);
}

/* An op with two launches, two chips, and an order of the device log that is not that of the ops. */
static void launches_find_their_op(void **state)
{
    (void)state;
    fixture f = stitched(RUN("ab") DEVICE(0) DEVICE(3) OP(1, "A", 1, 2) OP(2, "B", 3, 4) OP(3, "C", 5, 6)
                             LAUNCH(2, 0, 1) LAUNCH(2, 0, 2) LAUNCH(3, 0, 3) LAUNCH(3, 3, 1) CLOSE,
                         CHIP("ab") ZONE(0, 0, "BRISC", 3, "BRISC-FW", 900, 950, "{\"op\":3}")
                             ZONE(3, 0, "BRISC", 1, "BRISC-FW", 100, 150, "{\"op\":3}")
                                 ZONE(0, 0, "NCRISC", 2, "NCRISC-FW", 500, 600, "{\"op\":2}")
                         /* this launch has lost its first row: the op log knows whose it is */
                         ZONE(0, 0, "ERISC", 1, "ERISC-FW", 200, 300, ""));
    check_ok(f.status, &f.err);
    assert_int_equal(cJSON_GetArraySize(f.rows), 4);
    text_is(&f, 0, "OP CODE", "A");
    text_is(&f, 0, "DEVICE FW DURATION [ns]", NULL);
    text_is(&f, 1, "OP CODE", "B");
    number_is(&f, 1, "DEVICE LAUNCHES", 2);
    number_is(&f, 1, "DEVICE FW DURATION [ns]", 400); /* the time in which they ran */
    number_is(&f, 1, "DEVICE IDLE BETWEEN LAUNCHES [ns]", 400);
    for (int row = 2; row < 4; row++) {
        text_is(&f, row, "OP CODE", "C");
        number_is(&f, row, "GLOBAL CALL COUNT", 3);
        number_is(&f, row, "DEVICE ID", row == 2 ? 0 : 3);
        number_is(&f, row, "CALL COUNT", 1);
    }
    number_is(&f, 2, "OP TO OP LATENCY [ns]", 600);
    number_is(&f, 3, "OP TO OP LATENCY [ns]", 0);
    assert_true(f.job.counts.ops == 3 && f.job.stitch.launches_stitched == 4);
    assert_false(op_job_lost(&f.job));
    done(&f);
}

static void what_cannot_be_joined_is_kept_and_said(void **state)
{
    (void)state;
    fixture f = stitched(RUN("ab") DEVICE(0) OP(1, "Lost", 1, 2) LAUNCH(1, 0, 1) OP(2, "Half", 3, 4)
                             LAUNCH(2, 0, 2) LAUNCH(2, 0, 3),
                         CHIP("ab") ZONE(0, 0, "BRISC", 2, "BRISC-FW", 200, 300, "{\"op\":2}")
                             ZONE(0, 0, "BRISC", 8, "BRISC-FW", 400, 500, "")
                                 ZONE(0, 0, "BRISC", 9, "BRISC-FW", 600, 700, "{\"op\":77}"));
    check_ok(f.status, &f.err);
    assert_int_equal(cJSON_GetArraySize(f.rows), 4);
    text_is(&f, 0, "NOTE", "no device data");
    text_is(&f, 1, "NOTE", "device data of some launches only");
    text_is(&f, 2, "OP CODE", "(launch without op)");
    text_is(&f, 2, "NOTE", "a launch without an op");
    number_is(&f, 2, "GLOBAL CALL COUNT", 3);
    text_is(&f, 3, "NOTE", "a launch of an op that is not in the op log");
    number_is(&f, 3, "OP TO OP LATENCY [ns]", 200);
    says(&f, "2  launches that the op log has and the device log has not");
    says(&f, "1  launches that no op asked for; kept, marked");
    says(&f, "1  launches of ops that are not in the op log; kept, marked");
    assert_true(op_job_lost(&f.job));
    done(&f);
}

/* A launch of no op, and one on the only chip of two that is profiled, are missed as well. */
static void every_launch_of_a_profiled_chip_is_missed(void **state)
{
    (void)state;
#define ONE_THERE CHIP("ab") ZONE(0, 0, "BRISC", 3, "BRISC-FW", 200, 300, "{\"op\":1}")
    fixture f =
        stitched(RUN("ab") DEVICE(0) OP(1, "A", 1, 2) LAUNCH(1, 0, 3) LAUNCH(0, 0, 4) CLOSE, ONE_THERE);
    check_ok(f.status, &f.err);
    says(&f, "1  launches that the op log has and the device log has not");
    assert_true(op_job_lost(&f.job));
    done(&f);

    /* In a device log that does not number it, it is there. */
    f = stitched(RUN("ab") DEVICE(0) OP(1, "A", 1, 2) LAUNCH(1, 0, 3) LAUNCH(0, 0, 4) CLOSE,
                 ONE_THERE ZONE(0, 0, "BRISC", 9, "BRISC-FW", 400, 500, ""));
    check_ok(f.status, &f.err);
    assert_false(op_job_lost(&f.job));
    done(&f);

#define UNPROFILED "{\"e\":\"device\",\"chip\":0,\"arch\":\"wormhole_b0\",\"profiled\":false}\n"
#define PROFILED   "{\"e\":\"device\",\"chip\":1,\"arch\":\"wormhole_b0\",\"profiled\":true}\n"
    f = stitched(RUN("ab") UNPROFILED PROFILED OP(1, "A", 1, 2) LAUNCH(1, 0, 3) LAUNCH(1, 1, 4) CLOSE,
                 CHIP("ab"));
    check_ok(f.status, &f.err);
    says(&f, "1  launches that the op log has and the device log has not");
    text_is(&f, 0, "NOTE", "no device data");
    assert_true(op_job_lost(&f.job));
    done(&f);

    /* Opened first without profiling, then with it: of two launches the second is missed. */
    f = stitched(RUN("ab") UNPROFILED OP(1, "A", 1, 2) LAUNCH(1, 0, 3) DEVICE(0) LAUNCH(1, 0, 4) CLOSE,
                 CHIP("ab"));
    check_ok(f.status, &f.err);
    says(&f, "1  launches that the op log has and the device log has not");
    assert_true(op_job_lost(&f.job));
    done(&f);
}

static void data_of_another_run_is_not_stitched(void **state)
{
    (void)state;
    fixture f = stitched(RUN("ab") DEVICE(0) OP(1, "A", 1, 2) LAUNCH(1, 0, 1),
                         CHIP("cd") ZONE(0, 0, "BRISC", 1, "BRISC-FW", 200, 300, "{\"op\":1}"));
    check_ok(f.status, &f.err);
    assert_int_equal(cJSON_GetArraySize(f.rows), 1);
    text_is(&f, 0, "DEVICE FW DURATION [ns]", NULL);
    text_is(&f, 0, "NOTE", "no device data");
    says(&f, "1 launches in the device log are of another run (00000000000000cd, the op log is of "
             "00000000000000ab)");
    done(&f);
}

/* A capture with one launch of a run. */
static void put_capture(const char *folder, uint64_t run)
{
    devlog_error err = {0};
    dl_capture *c;
    check_ok(dl_capture_open(&c, folder, DL_CAPTURE_NAME, false, &err), &err);
    const dl_capture_chip chip = {.freq_khz = 500000,
                                  .max_cores = 80,
                                  .arch = "wormhole_b0",
                                  .board = "",
                                  .transport = "",
                                  .boot = "",
                                  .run = run};
    check_ok(dl_capture_put_chip(c, &chip, &err), &err);
    dl_capture_risc risc = {.name = "BRISC"};
    devlog_control *k = &risc.control;
    k->launch = 1;
    k->host_id = 1;
    k->marks = 1 | 8;
    k->stamps[0] = 200;
    k->stamps[6] = 300;
    check_ok(dl_capture_put_core(c, &(dl_capture_core){.n_riscs = 1, .riscs = &risc}, &err), &err);
    check_ok(dl_capture_put_end(c, 0, &err), &err);
    check_ok(dl_capture_commit(c, &err), &err);
    dl_capture_close(c);
}

static void captures_say_their_run(void **state)
{
    (void)state;
    for (uint64_t run = 0xab; run <= 0xac; run++) {
        fixture f = {.folder = strdup(test_folder())};
        put(f.folder, "profile_log_ops.jsonl", RUN("ab") DEVICE(0) OP(1, "A", 1, 2) LAUNCH(1, 0, 1) CLOSE);
        put_capture(f.folder, run);
        run_job(&f, NULL);
        check_ok(f.status, &f.err);
        assert_int_equal(cJSON_GetArraySize(f.rows), 1);
        if (run == 0xab)
            number_is(&f, 0, "DEVICE FW DURATION [ns]", 200);
        else
            says(&f, "1 launches in the device log are of another run (00000000000000ac, the op log is of");
        done(&f);
    }
}

/* Of a periodic capture: launches before it and behind it were not recorded, one that is missing from its middle is lost. */
static void periodic_captures(void **state)
{
    (void)state;
    static const char ops[] = RUN("ab") DEVICE(0) DEVICE(1) OP(1, "A", 1, 2) LAUNCH(1, 0, 1) OP(2, "B", 3, 4)
        LAUNCH(2, 0, 2) LAUNCH(2, 1, 2) OP(3, "C", 5, 6) LAUNCH(3, 0, 3) OP(4, "D", 7, 8) LAUNCH(4, 0, 4)
            LAUNCH(4, 0, 5) LAUNCH(0, 0, 6) OP(5, "E", 9, 10) CLOSE;
    static const char *const missing[] = {"A", "B", "C", "D", "E"};
    fixture f = {.folder = strdup(test_folder())};
    char capture[400], log[450];
    snprintf(capture, sizeof capture, "%s/capture-000007", f.folder);
    snprintf(log, sizeof log, "%s/profile_log_device.csv", capture);
    check_ok(dl_folder_make(capture, &f.err), &f.err);
    put(f.folder, "profile_log_ops.jsonl", ops);
    put(capture, "profile_log_device.csv",
        CHIP("ab") ZONE(0, 0, "BRISC", 2, "BRISC-FW", 200, 300, "{\"op\":2}")
            ZONE(0, 0, "BRISC", 4, "BRISC-FW", 400, 450, "{\"op\":4}"));
    const op_job_options ways[] = {{.logs = capture}, {.device_log = log}};
    for (int i = 0; i < 2; i++) {
        run_job(&f, &ways[i]);
        check_ok(f.status, &f.err);
        assert_int_equal(cJSON_GetArraySize(f.rows), 3);
        text_is(&f, 0, "OP CODE", "B");
        text_is(
            &f, 0, "NOTE",
            "device data of some launches only"); /* those of the other chip have a capture of their own */
        number_is(&f, 0, "DEVICE FW DURATION [ns]", 200);
        text_is(&f, 1, "OP CODE", "C");
        text_is(&f, 1, "DEVICE FW DURATION [ns]", NULL);
        text_is(&f, 2, "OP CODE", "D");
        number_is(&f, 2, "DEVICE FW DURATION [ns]", 100);
        text_is(&f, 2, "NOTE", "device data of some launches only");
        says(&f, "1  launches that the op log has and the device log has not");
        says(&f, "2  ops that launched nothing in this periodic capture, left out");
        assert_true(op_job_lost(&f.job));
        assert_int_equal(f.job.stitch.launches_missing, 1);
        cJSON_Delete(f.rows);
        dl_str_clear(&f.text);
        op_job_free(&f.job);
    }
    put(capture, "profile_log_device.csv",
        CHIP("cd") ZONE(0, 0, "BRISC", 2, "BRISC-FW", 200, 300, "{\"op\":2}"));
    run_job(&f, &ways[0]);
    check_ok(f.status, &f.err);
    assert_int_equal(cJSON_GetArraySize(f.rows), 1);
    says(&f, "No op log was found");
    for (size_t i = 0; i < sizeof missing / sizeof missing[0]; i++)
        assert_string_not_equal(cell(&f, 0, "OP CODE")->valuestring, missing[i]);
    assert_false(op_job_lost(&f.job));
    done(&f);
}

static void one_log_is_enough(void **state)
{
    (void)state;
    fixture f = stitched(NULL, CHIP("ab") ZONE(0, 0, "BRISC", 1, "BRISC-FW", 200, 300, "{\"op\":1}"));
    check_ok(f.status, &f.err);
    assert_int_equal(cJSON_GetArraySize(f.rows), 1);
    number_is(&f, 0, "DEVICE FW DURATION [ns]", 200);
    says(&f, "No op log was found");
    done(&f);
    f = stitched(RUN("ab") OP(1, "A", 1, 2), NULL);
    check_ok(f.status, &f.err);
    number_is(&f, 0, "HOST DURATION [ns]", 1);
    text_is(&f, 0, "DEVICE FW DURATION [ns]", NULL);
    says(&f, "No device log was found");
    done(&f);
    f = stitched("", NULL);
    check_ok(f.status, &f.err);
    assert_int_equal(cJSON_GetArraySize(f.rows), 0);
    done(&f);
    f = stitched(NULL, NULL);
    assert_int_equal(f.status, DEVLOG_ERR_NOT_FOUND);
    assert_non_null(strstr(f.err.text, "run the program with DEVLOG_OPS=1"));
    done(&f);
}

static void damaged_op_logs(void **state)
{
    (void)state;
    fixture f = stitched(
        RUN("aa") OP(1, "Old", 1, 2) RUN(
            "bb") "garbage\n{\"e\":\"what\"}\n{\"e\":\"start\",\"id\":}\n\n"
                  "{\"e\":\"end\",\"id\":44,\"t\":5,\"thread\":0}\n{\"e\":\"meta\",\"id\":45,\"text\":\"x\"}"
                  "\n" OP(1, "Good", 100, 200) "{\"e\":\"end\",\"id\":1,\"t\":300,\"thread\":0}\n" OP(
                      1, "Again", 210, 220) "{\"e\":\"start\",\"id\":2,\"t\":400,\"thread\":0,\"depth\":1,"
                                            "\"name\":\"Elsewhere\"}\n"
                                            "{\"e\":\"end\",\"id\":2,\"t\":500,\"thread\":1}\n" OP(
                                                3, "Backwards", 700,
                                                600) "{\"e\":\"start\",\"id\":4,\"t\":800,\"thread\":0,"
                                                     "\"depth\":1,\"name\":\"Open\"}\n"
                                                     "{\"e\":\"close\",\"t\":9,\"ops\":4,\"lost\":7}\n"
                                                     "{\"e\":\"start\",\"id\":5,\"t\":900,\"thr",
        NULL);
    check_ok(f.status, &f.err);
    assert_int_equal(cJSON_GetArraySize(f.rows), 5);
    text_is(&f, 0, "OP CODE", "Good");
    number_is(&f, 0, "HOST END TS", 200);
    text_is(&f, 1, "OP CODE", "Again");
    text_is(&f, 1, "NOTE", "never ended; id used twice");
    text_is(&f, 2, "NOTE", "ended on another thread");
    text_is(&f, 3, "NOTE", "ends before it begins");
    text_is(&f, 3, "HOST DURATION [ns]", NULL);
    text_is(&f, 4, "NOTE", "never ended");
    text_is(&f, 4, "HOST END TS", NULL);
    static const char *const said[] = {
        "3  lines that are not of an op log",
        "2  events of ops that never started",
        "2  ops that ended twice",
        "1  ops with the id of an earlier one",
        "1  ops of earlier runs in the same log",
        "7  events that the run could not",
        "2  ops that never ended",
        "1  ops that another thread ended",
        "1  ops that end before they begin",
        "1  a last line that was cut off",
    };
    for (size_t i = 0; i < sizeof said / sizeof said[0]; i++)
        says(&f, said[i]);
    assert_true(op_job_lost(&f.job));
    done(&f);
}

/* Two runs of one program: host times of the first, device data of the second. */
static fixture two_runs(const char *first, const char *second, const char *device)
{
    fixture f = {.folder = strdup(test_folder())};
    char other[400];
    snprintf(other, sizeof other, "%s_device", f.folder);
    check_ok(dl_folder_make(other, &f.err), &f.err);
    put(f.folder, "profile_log_ops.jsonl", first);
    put(other, "profile_log_ops.jsonl", second);
    put(other, "profile_log_device.csv", device);
    run_job(&f, NULL);
    return f;
}

/* Ids are numbers of 32 bits: a greater one is no other op's. */
static void ids_are_not_cut(void **state)
{
    (void)state;
    fixture f = stitched(RUN("bb") OP(1, "First", 100, 200) OP(4294967295, "Last", 300, 400)
                             OP(4294967296, "None", 500,
                                600) "{\"e\":\"end\",\"id\":4294967297,\"t\":700,\"thread\":0}\n" CLOSE,
                         NULL);
    check_ok(f.status, &f.err);
    assert_int_equal(cJSON_GetArraySize(f.rows), 2);
    text_is(&f, 0, "OP CODE", "First");
    number_is(&f, 0, "HOST END TS", 200);
    text_is(&f, 1, "OP CODE", "Last");
    number_is(&f, 1, "HOST END TS", 400);
    says(&f, "1  lines that are not of an op log");
    says(&f, "2  events of ops that never started");
    assert_true(op_job_lost(&f.job));
    done(&f);
}

#define THREADED(id, thread, start, end)                                                                     \
    "{\"e\":\"start\",\"id\":" #id ",\"t\":" #start ",\"thread\":" #thread                                   \
    ",\"depth\":1,\"name\":\"Op\"}\n{\"e\":\"end\",\"id\":" #id ",\"t\":" #end ",\"thread\":" #thread "}\n"

/* Numbers of threads have 20 bits: two that are alike in fewer are two, and what has more is refused, not cut. */
static void threads_are_not_cut(void **state)
{
    (void)state;
    fixture f = stitched(RUN("bb") THREADED(1, 1, 100, 200) THREADED(2, 65537, 110, 190)
                             THREADED(3, 1048575, 120, 180) THREADED(4, 1048576, 130, 170)
                                 THREADED(5, 1048577, 140, 160) CLOSE,
                         NULL);
    check_ok(f.status, &f.err);
    assert_int_equal(cJSON_GetArraySize(f.rows), 3);
    number_is(&f, 0, "HOST THREAD", 1);
    number_is(&f, 1, "HOST THREAD", 65537);
    number_is(&f, 2, "HOST THREAD", 1048575);
    assert_int_equal(f.job.counts.host_ns, 100 + 80 + 60); /* none is inside of another */
    says(&f, "2  lines that are not of an op log");
    says(&f, "op 4 on thread 1048576, at depth 1: more than 1048575, or 65535");
    assert_true(op_job_lost(&f.job));
    done(&f);
}

static void two_runs_become_one_report(void **state)
{
    (void)state;
    static const char device[] = CHIP("22") ZONE(0, 0, "BRISC", 1, "BRISC-FW", 200, 300, "{\"op\":2}");
    fixture f = two_runs(
        RUN("11") OP(1, "A", 10, 20) OP(2, "B", 30, 40) CLOSE,
        RUN("22") DEVICE(0) OP(1, "A", 1000, 2000) OP(2, "B", 3000, 4000) LAUNCH(2, 0, 1) CLOSE, device);
    check_ok(f.status, &f.err);
    number_is(&f, 0, "HOST DURATION [ns]", 10);
    number_is(&f, 1, "HOST START TS", 30);
    number_is(&f, 1, "DEVICE FW DURATION [ns]", 200);
    assert_false(op_job_lost(&f.job));
    done(&f);
    /* Threads that were given ids in another order. */
#define ON_THREAD(id, thread, name)                                                                          \
    "{\"e\":\"start\",\"id\":" #id ",\"t\":" #id "0,\"thread\":" #thread ",\"depth\":1,\"name\":\"" name     \
    "\"}\n"
    f = two_runs(RUN("11") ON_THREAD(1, 0, "A") ON_THREAD(2, 1, "B"),
                 RUN("22") DEVICE(0) ON_THREAD(1, 1, "B") LAUNCH(1, 0, 1) ON_THREAD(2, 0, "A"),
                 CHIP("22") ZONE(0, 0, "BRISC", 1, "BRISC-FW", 200, 300, "{\"op\":1}"));
    check_ok(f.status, &f.err);
    text_is(&f, 1, "OP CODE", "B");
    number_is(&f, 1, "GLOBAL CALL COUNT", 2);
    number_is(&f, 1, "DEVICE FW DURATION [ns]", 200);
    done(&f);
    /* Threads whose numbers have the low 16 bits in common are two. */
    f = two_runs(RUN("11") ON_THREAD(1, 65537, "A") ON_THREAD(2, 1, "B"),
                 RUN("22") DEVICE(0) ON_THREAD(1, 1, "B") LAUNCH(1, 0, 1) ON_THREAD(2, 65537, "A"),
                 CHIP("22") ZONE(0, 0, "BRISC", 1, "BRISC-FW", 200, 300, "{\"op\":1}"));
    check_ok(f.status, &f.err);
    text_is(&f, 1, "OP CODE", "B");
    number_is(&f, 0, "HOST THREAD", 65537);
    number_is(&f, 1, "HOST THREAD", 1);
    number_is(&f, 1, "DEVICE FW DURATION [ns]", 200);
    done(&f);
    /* Runs that differ: said where, and the second is reported alone. */
    f = two_runs(RUN("11") OP(1, "A", 10, 20) OP(2, "B", 30, 40),
                 RUN("22") DEVICE(0) OP(1, "A", 1000, 2000) OP(2, "X", 3000, 4000) LAUNCH(2, 0, 1), device);
    check_ok(f.status, &f.err);
    number_is(&f, 1, "HOST DURATION [ns]", 1000);
    number_is(&f, 1, "DEVICE FW DURATION [ns]", 200);
    says(&f, "The two runs did not do the same: op 2 is 'B' at depth 1 in the first run and 'X' at depth 1 "
             "in the second");
    assert_true(op_job_lost(&f.job));
    done(&f);
}

/* Commas, quotes, line feeds and UTF-8, all the way from the log to a CSV that libcsv reads back. */
static void texts_survive(void **state)
{
    (void)state;
    fixture f = stitched(RUN("ab") "{\"e\":\"start\",\"id\":1,\"t\":1,\"thread\":0,\"depth\":1,\"name\":\"a,"
                                   "\\\"b\\\"\\n\\u00e4\\ud83d\\ude00\"}\n"
                                   "{\"e\":\"meta\",\"id\":1,\"text\":\"{\\\"k\\\":\\\"v, "
                                   "w\\\",\\\"n\\\":18446744073709551615,\\\"l\\\":[1,2]}\"}\n"
                                   "{\"e\":\"meta\",\"id\":1,\"text\":\"plain\\ttext\"}\n"
                                   "{\"e\":\"set\",\"id\":1,\"strategy\":\"X\",\"cores\":3}\n"
                                   "{\"e\":\"in\",\"id\":1,\"shape\":[1,2,32,64],\"logical\":[1,2,30,60],"
                                   "\"layout\":\"TILE\",\"dtype\":\"BFLOAT16\"}\n",
                         NULL);
    check_ok(f.status, &f.err);
    text_is(&f, 0, "OP CODE", "a,\"b\"\n\xC3\xA4\xF0\x9F\x98\x80");
    text_is(&f, 0, "ATTRIBUTES", "{'k': 'v, w'; 'n': '18446744073709551615'; 'l': '[1,2]'; plain\ttext}");
    text_is(&f, 0, "PARALLELIZATION STRATEGY", "X");
    number_is(&f, 0, "CORE COUNT", 3);
    text_is(&f, 0, "INPUT_0_Y_PAD[LOGICAL]", "32[30]");
    text_is(&f, 0, "INPUT_0_MEMORY", NULL);
    done(&f);
}

/* Ids in no order, and lines of an op that stand between those of others. */
static void lines_may_come_in_any_order(void **state)
{
    (void)state;
#define START(id, name)                                                                                      \
    "{\"e\":\"start\",\"id\":" #id ",\"t\":10,\"thread\":0,\"depth\":1,\"name\":\"" name "\"}\n"
#define IN(id, layout) "{\"e\":\"in\",\"id\":" #id ",\"shape\":[1,1,1,1],\"layout\":\"" layout "\"}\n"
#define END(id)        "{\"e\":\"end\",\"id\":" #id ",\"t\":20,\"thread\":0}\n"
    fixture f =
        stitched(RUN("ab") DEVICE(0) START(7, "B") IN(7, "b0") LAUNCH(7, 0, 2) IN(7, "b1")
                     START(4000000000, "C") IN(7, "b2") IN(4000000000, "c0") START(3, "A") END(7) IN(3, "a0")
                         END(4000000000) IN(4000000000, "c1") END(3) LAUNCH(3, 0, 1) CLOSE,
                 CHIP("ab") ZONE(0, 0, "BRISC", 1, "BRISC-FW", 100, 110, "{\"op\":3}")
                     ZONE(0, 0, "BRISC", 2, "BRISC-FW", 200, 220, "{\"op\":7}"));
    check_ok(f.status, &f.err);
    assert_int_equal(cJSON_GetArraySize(f.rows), 3);
    static const struct {
        const char *code, *layouts[3];
        double fw;
    } expected[] = {
        {"A", {"a0", NULL, NULL}, 20}, {"B", {"b0", "b1", "b2"}, 40}, {"C", {"c0", "c1", NULL}, 0}};
    for (int row = 0; row < 3; row++) {
        text_is(&f, row, "OP CODE", expected[row].code);
        text_is(&f, row, "INPUT_0_LAYOUT", expected[row].layouts[0]);
        text_is(&f, row, "INPUT_1_LAYOUT", expected[row].layouts[1]);
        text_is(&f, row, "INPUT_2_LAYOUT", expected[row].layouts[2]);
        if (expected[row].fw) number_is(&f, row, "DEVICE FW DURATION [ns]", expected[row].fw);
    }
    assert_false(op_job_lost(&f.job));
    done(&f);
}

/* What another program may write: members in another order, blanks, members that nobody knows. */
static void members_may_come_in_any_order(void **state)
{
    (void)state;
    fixture f = stitched(
        "{\"e\": \"start\", \"name\": \"A\", \"type\": \"python_fallback\", \"new\": {\"a\": [1, \"]\"]}, "
        "\"depth\": 2, \"id\": 5, \"t\": 10}\n"
        "{\"e\": \"in\", \"layout\": \"TILE\", \"shape\": [1, 2, 3, 4], \"id\": 5}\n"
        " {\"e\": \"meta\", \"text\": \"x\", \"id\": 5} \r\n"
        "{\"e\": \"end\", \"own\": 3, \"t\": 30, \"thread\": 0, \"id\": 5}\n",
        NULL);
    check_ok(f.status, &f.err);
    text_is(&f, 0, "OP CODE", "A");
    text_is(&f, 0, "OP TYPE", "python_fallback");
    number_is(&f, 0, "HOST DURATION [ns]", 20);
    number_is(&f, 0, "CALL DEPTH", 2);
    number_is(&f, 0, "HOST PROFILER COST [ns]", 3);
    text_is(&f, 0, "INPUT_0_LAYOUT", "TILE");
    text_is(&f, 0, "INPUT_0_Z_PAD[LOGICAL]", "2[2]");
    text_is(&f, 0, "ATTRIBUTES", "x");
    assert_false(op_job_lost(&f.job));
    done(&f);
}

/* A log without ids is not joined by order. */
static void logs_without_ids_are_not_guessed(void **state)
{
    (void)state;
    fixture f = stitched(RUN("ab") DEVICE(0) OP(1, "A", 1, 2) LAUNCH(1, 0, 1),
                         "0, 0, 0, BRISC, 1, 100\n0, 0, 0, BRISC, 4, 200\n");
    check_ok(f.status, &f.err);
    assert_int_equal(cJSON_GetArraySize(f.rows), 2);
    text_is(&f, 0, "NOTE", "no device data");
    text_is(&f, 1, "OP CODE", "(launch without op)");
    number_is(&f, 1, "DEVICE FW START CYCLE", 100);
    text_is(&f, 1, "DEVICE FW DURATION [ns]", NULL); /* the clock's frequency is not known */
    says(&f, "1  of them in a log that carries no ids");
    done(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(formulas),
        cmocka_unit_test(launches_find_their_op),
        cmocka_unit_test(what_cannot_be_joined_is_kept_and_said),
        cmocka_unit_test(every_launch_of_a_profiled_chip_is_missed),
        cmocka_unit_test(data_of_another_run_is_not_stitched),
        cmocka_unit_test(captures_say_their_run),
        cmocka_unit_test(periodic_captures),
        cmocka_unit_test(one_log_is_enough),
        cmocka_unit_test(damaged_op_logs),
        cmocka_unit_test(ids_are_not_cut),
        cmocka_unit_test(threads_are_not_cut),
        cmocka_unit_test(two_runs_become_one_report),
        cmocka_unit_test(texts_survive),
        cmocka_unit_test(lines_may_come_in_any_order),
        cmocka_unit_test(members_may_come_in_any_order),
        cmocka_unit_test(logs_without_ids_are_not_guessed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
