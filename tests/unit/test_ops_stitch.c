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
#include "support/stitched.h"

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
        cmocka_unit_test(logs_without_ids_are_not_guessed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
