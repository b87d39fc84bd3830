/* Budgets (devlog/budget.h, `devlog budget`): the cycles that a zone takes are kept, one less is not, and neither are they by
 * a kernel with one instruction more; the report says where, by source line and instruction. Files of budgets, wrong ones
 * with line and cure; zones that never ran; records that were lost. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cJSON.h>

#include "support/cli.h"
#include "support/comma.h"
#include "support/files.h"
#include "support/fixture.h"

#include "devlog/budget.h"

static fixture launched(const char *flags, const char *sim_options)
{
    devlog_error err = {0};
    fixture f = start("tests/sim/kernels/annotated.c", "TRISC1", flags, sim_options);
    set_args(&f, 20, 5);
    for (int i = 0; i < 2; i++)
        check_ok(devlog_launch_program(f.device, f.program, &err), &err);
    return f;
}

static char *judge(const fixture *f, const char *zone, const char *risc, uint64_t cycles, uint64_t *most)
{
    devlog_error err = {0};
    char *report = NULL;
    check_ok(devlog_budget_judge(f->device, zone, risc, cycles, most, &report, &err), &err);
    return report;
}

static uint64_t most_of(const char *flags)
{
    fixture f = launched(flags, "annotate");
    uint64_t most = 0;
    assert_null(judge(&f, "work", "TRISC1", UINT64_MAX, &most));
    stop(&f);
    return most;
}

/* The simulator is deterministic: a budget of what a zone takes is the tightest there is. */
static void one_instruction_more_fails(void **state)
{
    (void)state;
    const uint64_t budget = most_of(NULL);
    assert_true(budget > 100);
    assert_int_equal(most_of(NULL), budget);
    fixture f = launched(NULL, "annotate");
    DEVLOG_ASSERT_BUDGET(f.device, "work", "TRISC_1", budget);
    DEVLOG_ASSERT_BUDGET(f.device, "work", NULL, budget);
    char *report = judge(&f, "work", "TRISC1", budget - 1, NULL);
    assert_non_null(report);
    free(report);
    stop(&f);

    f = launched("-DMORE", "annotate");
    uint64_t most = 0;
    report = judge(&f, "work", "TRISC1", budget, &most);
    assert_true(most > budget); /* by more than 1 where code that moved is predicted otherwise */
    assert_non_null(report);
    char over[64];
    snprintf(over, sizeof over, " cycles, %u more than its budget of %u, ", (unsigned)(most - budget),
             (unsigned)budget);
    assert_non_null(strstr(report, over));
    assert_non_null(strstr(report, "zone 'work' on TRISC1: "));
    assert_non_null(strstr(report, "on TRISC_1 of core 0,0 in launch "));
    assert_non_null(strstr(report, "annotated.c on TRISC_1: "));
    assert_non_null(strstr(report, "1 core, 1 launch"));
    assert_non_null(strstr(report, "  __asm__ __volatile__(\"divu"));
    assert_non_null(strstr(report, ": divu "));
    const char *share = strchr(report, '%');
    assert_non_null(share);
    assert_int_equal(share[-2], '.'); /* whatever the program's fractions have */
    free(report);
    stop(&f);
}

/* The macro with a test library of one's own. */
static int failures;
#undef DEVLOG_BUDGET_FAIL
#define DEVLOG_BUDGET_FAIL(file, line) (failures += (line) > 0 && strstr(file, "test_budget.c") != NULL)

static void the_macro_fails(void **state)
{
    (void)state;
    fixture f = launched(NULL, "annotate");
    DEVLOG_ASSERT_BUDGET(f.device, "work", "TRISC1", 1000000);
    assert_int_equal(failures, 0);
    DEVLOG_ASSERT_BUDGET(f.device, "work", "TRISC1", 10);
    DEVLOG_ASSERT_BUDGET(f.device, "work", "BRISC", 1000000); /* it never ran there */
    assert_int_equal(failures, 2);
    assert_true(devlog_budget_kept(f.device, "work", "TRISC1", 1000000, __FILE__, __LINE__));
    stop(&f);
}

static void without_counts_it_says_how_to_get_them(void **state)
{
    (void)state;
    fixture f = launched(NULL, NULL);
    char *report = judge(&f, "work", NULL, 1, NULL);
    assert_non_null(strstr(report, "DEVLOG_ANNOTATE=1"));
    free(report);
    report = judge(&f, "Work", NULL, 1, NULL);
    assert_non_null(strstr(report, "it never ran"));
    free(report);
    stop(&f);
}

/* Of a sum the longest pass counts, which is what it records. */
static void a_sum_has_a_budget(void **state)
{
    (void)state;
    devlog_error err = {0};
    fixture f = start("tests/sim/kernels/kinds.c", "TRISC1", NULL, "annotate");
    set_args(&f, 0, 0);
    check_ok(devlog_launch_program(f.device, f.program, &err), &err);
    uint64_t most = 0;
    assert_null(judge(&f, "sum", "TRISC1", UINT64_MAX, &most));
    assert_true(most > 0 && most < 1000);
    assert_null(judge(&f, "sum", NULL, most, NULL));
    char *report = judge(&f, "sum", NULL, most - 1, NULL);
    assert_non_null(strstr(report, "1 more than its budget of"));
    free(report);
    char log[500], line[700], row[100];
    snprintf(log, sizeof log, "%s", devlog_profiler_log(f.device));
    stop(&f);
    /* Reports have it among the zones, of the capture and of the device log. */
    snprintf(row, sizeof row, "\nsum,TRISC_1,,kinds.c:26,1,%llu,", (unsigned long long)most);
    for (int capture = 0; capture < 2; capture++) {
        if (capture) strcpy(strrchr(log, '/') + 1, "capture.devlog");
        snprintf(line, sizeof line, "report --format csv --tables zones %s", log);
        char *text = devlog_ok(line, 0);
        char *found = strstr(text, "\nsum,TRISC_1,");
        if (!found || strncmp(found, row, strlen(row)) != 0) fail_msg("no %s in:\n%s", row, text);
        free(text);
    }
}

static void a_device_without_a_capture(void **state)
{
    (void)state;
    devlog_error err = {0};
    devlog_device *device = NULL;
    char *report = NULL;
    const devlog_device_options options = DEVLOG_DEVICE_OPTIONS(.transport = "sim", .profile = DEVLOG_OFF);
    check_ok(devlog_device_open(&options, &device, &err), &err);
    assert_int_equal(devlog_budget_judge(device, "work", NULL, 1, NULL, &report, &err), DEVLOG_ERR_STATE);
    assert_non_null(strstr(err.text, "devlog_device_options.profile"));
    assert_null(report);
    check_ok(devlog_device_close(device, &err), &err);
}

/* Lost records could have been longer ones. */
static void lost_records_are_not_within_a_budget(void **state)
{
    (void)state;
    devlog_error err = {0};
    fixture f = start("tests/sim/kernels/iterations.c", "BRISC", NULL, "annotate");
    set_args(&f, 1000, 0);
    check_ok(devlog_launch_program(f.device, f.program, &err), &err);
    char *report = judge(&f, "iteration", NULL, 100000, NULL);
    assert_non_null(strstr(report, "records were lost"));
    free(report);
    char line[512];
    write_text(in_scratch("lost.txt"), "100000 BRISC iteration\n");
    snprintf(line, sizeof line, "budget --log %s lost.txt", f.device->log_folder);
    stop(&f);
    free(devlog_ok(line, 3));
}

/* A capture of a run that was killed is all that its own program would have read, but nobody knows what came next. */
static void a_killed_run_keeps_no_budget(void **state)
{
    (void)state;
    fixture f = launched(NULL, "annotate");
    char line[512], *bytes;
    size_t n;
    snprintf(line, sizeof line, "%s/capture.devlog", f.device->log_folder);
    bytes = read_bytes(line, &n);
    write_bytes(in_scratch("killed.devlog"), bytes, n);
    free(bytes);
    char *report = judge(&f, "work", "TRISC1", 1000000, NULL); /* of a run that still goes on it is kept */
    assert_null(report);
    stop(&f);
    write_text(in_scratch("killed.txt"), "1000000 TRISC1 work\n1 * no such zone\n");
    char *out = devlog_ok("budget --log killed.devlog killed.txt", 3);
    assert_non_null(strstr(out, "work  (records lost)\n"));
    assert_non_null(strstr(out, "no such zone  (records lost)\n"));
    assert_non_null(
        strstr(out, "zone 'no such zone' on any RISC: records were lost, so it may have run or not"));
    free(out);
    write_text(in_scratch("killed.txt"), "10 TRISC1 work\n1 * no such zone\n");
    free(devlog_ok("budget --log killed.devlog killed.txt", 4));
}

static void the_command(void **state)
{
    (void)state;
    const uint64_t budget = most_of(NULL);
    fixture f = launched(NULL, "annotate");
    char line[512], file[512], *out;
    snprintf(file, sizeof file, "# what annotated.c does\n\n  %llu  TRISC1  work  \r\n",
             (unsigned long long)budget);
    write_text(in_scratch("budgets.txt"), file);
    snprintf(line, sizeof line, "budget --log %s budgets.txt", f.device->log_folder);
    stop(&f);
    out = devlog_ok(line, 0);
    assert_non_null(strstr(out, "0  TRISC1   work\n"));
    free(out);
    snprintf(file, sizeof file, "%llu * work\n1 * no such zone\n", (unsigned long long)budget - 1);
    write_text(in_scratch("budgets.txt"), file);
    out = devlog_ok(line, 4);
    assert_non_null(strstr(out, "-1  *        work  (exceeded)\n"));
    assert_non_null(strstr(out, "-  *        no such zone  (never ran)\n"));
    assert_non_null(strstr(out, "annotated.c:"));
    free(out);
    /* A device log has no counts of instructions; that the zone took too long stands. */
    write_text(in_scratch("log.csv"),
               "ARCH: wormhole_b0, CHIP_FREQ[MHz]: 1000, Max Compute Cores: 1\n"
               "PCIe slot, core_x, core_y, RISC processor type, timer_id, time[cycles since reset], "
               "data, run host ID, trace id, trace id counter, zone name, type, source line, source file, "
               "meta data\n"
               "0,0,0,TRISC_1,1,100,0,1,,,work,ZONE_START,1,a.c,\n"
               "0,0,0,TRISC_1,1,900,0,1,,,work,ZONE_END,1,a.c,\n");
    write_text(in_scratch("tight.txt"), "799 * work\n");
    out = devlog_ok("budget --log log.csv tight.txt", 4);
    assert_non_null(strstr(out, "-1  *        work  (exceeded)\n"));
    assert_non_null(strstr(out, "DEVLOG_ANNOTATE=1"));
    free(out);
    devlog_fails("budget --elf nowhere --log log.csv tight.txt", 1, "--elf: nowhere: No such file");
    char json_line[600];
    fixture g = launched(NULL, "annotate");
    snprintf(json_line, sizeof json_line, "budget --format json --log %s/capture.devlog budgets.txt",
             g.device->log_folder);
    stop(&g);
    out = devlog_ok(json_line, 4);
    cJSON *json = cJSON_Parse(out);
    assert_non_null(json);
    assert_true(cJSON_IsFalse(cJSON_GetObjectItem(json, "kept")));
    const cJSON *first = cJSON_GetArrayItem(cJSON_GetObjectItem(json, "budgets"), 0);
    assert_string_equal(cJSON_GetObjectItem(first, "result")->valuestring, "exceeded");
    assert_int_equal(cJSON_GetObjectItem(cJSON_GetObjectItem(first, "most"), "cycles")->valueint, budget);
    cJSON_Delete(json);
    free(out);
}

static void wrong_files_say_where_and_how(void **state)
{
    (void)state;
    static const struct {
        const char *text, *says;
    } files[] = {
        {"", "has no budget in it"},
        {"# only\n", "CYCLES RISC ZONE"},
        {"# one\nBRISC 12 work\n", "wrong.txt:2: it does not begin with a number of cycles: 'BRISC 12 work'"},
        {"12k BRISC work", "wrong.txt:1: it does not begin with a number"},
        {"-1 BRISC work", "wrong.txt:1: it does not begin with a number"},
        {"99999999999999999999999 BRISC work", "wrong.txt:1: it does not begin with a number"},
        {"1 BRISC work\n12\n", "wrong.txt:2: it names no RISC (or *) and zone"},
        {"12 BRISC \t \n", "wrong.txt:1: it names no RISC (or *) and zone"},
    };
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        write_text(in_scratch("wrong.txt"), files[i].text);
        devlog_fails("budget --log . wrong.txt", 1, files[i].says);
    }
    devlog_fails("budget none.txt true", 1, "none.txt");
    devlog_fails("budget wrong.txt", 2, "either a command or --log");
    write_text(in_scratch("right.txt"), "1 * work\n");
    devlog_fails("budget --log right.txt right.txt", 1, "right.txt: not one row of a device log in 1 lines");
    devlog_fails("budget -o nothing right.txt true", 1, "gave no capture");
    devlog_fails("budget -o nothing right.txt sh -c 'exit 7'", 7, "ended with status 7");
    devlog_fails("budget -o nothing right.txt ./no_such_program", 1, "no_such_program");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_instruction_more_fails),
        cmocka_unit_test(the_macro_fails),
        cmocka_unit_test(without_counts_it_says_how_to_get_them),
        cmocka_unit_test(a_sum_has_a_budget),
        cmocka_unit_test(a_device_without_a_capture),
        cmocka_unit_test(lost_records_are_not_within_a_budget),
        cmocka_unit_test(a_killed_run_keeps_no_budget),
        cmocka_unit_test(the_command),
        cmocka_unit_test(wrong_files_say_where_and_how),
    };
    return cmocka_run_group_tests(tests, comma_set_up, NULL);
}
