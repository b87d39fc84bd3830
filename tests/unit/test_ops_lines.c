/* What lines of op logs may look like: damaged, of other writers, in any order, with ids, threads and texts of any kind. How they are stitched
 * with what the device did: test_ops_stitch.c. */
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(damaged_op_logs),
        cmocka_unit_test(ids_are_not_cut),
        cmocka_unit_test(threads_are_not_cut),
        cmocka_unit_test(two_runs_become_one_report),
        cmocka_unit_test(texts_survive),
        cmocka_unit_test(lines_may_come_in_any_order),
        cmocka_unit_test(members_may_come_in_any_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
