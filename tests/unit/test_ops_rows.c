/* Which launches are one row of an op report, in which order rows are, and what a row of several launches holds: by hand, in the
 * cases that random runs (test_ops_busy.c) do not come to. */
#include "support/cmocka_all.h"
#include "support/device.h"
#include "support/op_rows.h"

static void rows_are_told_apart(void **state)
{
    (void)state;
    static const struct {
        const char *name, *ops, *device;
        double rows[5][2]; /* duration of the firmware, gap before it; until a duration of 0 */
        uint64_t overlap;
        const char *says; /* NULL: nothing is lost */
    } cases[] = {
        {"launches of one start are as the log has them",
         NULL,
         HEADER FW(0, 1, ",", 1000, 1100) FW(0, 2, ",", 1000, 1050),
         {{100, 0}, {50, -100}},
         50,
         NULL},
        {"a number that was left behind is of the same program",
         NULL,
         HEADER FW(0, 5, ",", 1000, 1100) FW(0, 3, ",", 500, 600) FW(0, 4, ",", 400, 450),
         {{50, 0}, {100, 50}, {100, 400}},
         0,
         NULL},
        {"numbers of a trace are not those of launches",
         NULL,
         HEADER FW(0, 1, ",", 1000, 1100) FW(0, 7, "4,1", 500, 600),
         {{100, 0}, {100, 400}},
         0,
         NULL},
        {"two runs that are equal to the cycle",
         NULL,
         HEADER FW(0, 1, ",", 1000, 1100) "ARCH: wormhole_b0, CHIP_FREQ[MHz]: 1000, Run: cd\n" FW(0, 1, ",",
                                                                                                  1000, 1100),
         {{100, 0}, {100, 0}},
         0,
         NULL},
        {"launches that no op asked for, of a device that was opened twice",
         RUN START(1, 1, "A") END(1) CLOSE,
         HEADER FW(0, 1, ",", 1000, 1100) FW(0, 2, ",", 1200, 1300) FW(0, 3, ",", 1000, 1100)
             FW(0, 4, ",", 1250, 1350),
         {{100, 0}, {100, 100}, {100, 0}, {100, 150}},
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
        cJSON *rows = op_rows(test_folder(), cases[i].ops, cases[i].device, &job), *row;
        int n = 0;
        cJSON_ArrayForEach(row, rows)
        {
            double fw = op_rows_number(row, "DEVICE FW DURATION [ns]");
            if (!fw || !cases[i].rows[0][0]) continue;
            if (fw != cases[i].rows[n][0] ||
                op_rows_number(row, "OP TO OP LATENCY [ns]") != cases[i].rows[n][1])
                fail_msg("%s: row %d: %s", cases[i].name, n, cJSON_PrintUnformatted(row));
            n++;
        }
        if (cases[i].rows[n][0]) fail_msg("%s: %d rows", cases[i].name, n);
        assert_int_equal(job.counts.overlap_ns, cases[i].overlap);
        if (cases[i].says)
            op_rows_say(&job, cases[i].says);
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
    cJSON *rows = op_rows(test_folder(), RUN START(1, 1, "A") LAUNCH(1, 1, 2) LAUNCH(1, 2, 2) END(1) CLOSE,
                          HEADER FW(0, 1, ",", 1000, 1100) KERNEL(0, 1, 1010, 1090) FW(1, 1, ",", 1000, 1100)
                              KERNEL(1, 1, 1020, 1090) FW(0, 2, ",", 1200, 1300) KERNEL(0, 2, 1210, 1280)
                                  FW(1, 2, ",", 1200, 1300) KERNEL(1, 2, 1230, 1280),
                          &job);
    assert_int_equal(cJSON_GetArraySize(rows), 1);
    const cJSON *row = cJSON_GetArrayItem(rows, 0);
    assert_true(op_rows_number(row, "DEVICE KERNEL DURATION [ns]") == 150);
    assert_true(op_rows_number(row, "DEVICE KERNEL DURATION DM START [ns]") == 150);
    assert_true(op_rows_number(row, "DEVICE KERNEL FIRST TO LAST START [ns]") == 30);
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
