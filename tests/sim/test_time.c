/* devlog time: what runs of a command took, against what its logs say; runs that fail; a command that knows no devlog. */
#include <cjson/cJSON.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "support/cli.h"
#include "support/files.h"

static cJSON *section(const cJSON *all, const char *name)
{
    return cJSON_GetObjectItem(cJSON_GetObjectItem(cJSON_GetObjectItem(all, "sections"), name), "rows");
}

/* NULL in JSON is -1. */
static double cell(const cJSON *rows, int row, const char *name)
{
    const cJSON *value = cJSON_GetObjectItem(cJSON_GetArrayItem(rows, row), name);
    assert_non_null(value);
    return cJSON_IsNumber(value) ? value->valuedouble : -1;
}

static cJSON *timed(const char *line, int exit_status)
{
    char *text = devlog_ok(line, exit_status);
    cJSON *json = cJSON_Parse(text);
    if (!json) fail_msg("no JSON: %s", text);
    free(text);
    return json;
}

enum { MEDIAN, MINIMUM, QUARTER, THREE_QUARTERS, MAXIMUM, ROWS };

static const char *nn(void)
{
    static char path[600];
    const char *slash = strrchr(getenv("DEVLOG_BIN"), '/');
    snprintf(path, sizeof path, "%.*s/nn", (int)(slash - getenv("DEVLOG_BIN")), getenv("DEVLOG_BIN"));
    return path;
}

static void agrees_with_its_logs(void **state)
{
    char line[900];
    (void)state;
    snprintf(line, sizeof line, "time -n 3 --each -f json -o t -- %s 1 1", nn());
    cJSON *json = timed(line, 0);
    const cJSON *rows = section(json, "time"), *runs = section(json, "runs");
    assert_int_equal(cJSON_GetArraySize(rows), ROWS);
    assert_int_equal(cJSON_GetArraySize(runs), 3);
    static const char *const measures[] = {"wall",   "cpu",           "compile", "device",
                                           "memory", "device_memory", "flops"};
    for (int m = 0; m < 7; m++) {
        double of[3], low, high, sum = 0;
        for (int i = 0; i < 3; i++)
            sum += of[i] = cell(runs, i, measures[m]);
        low = of[0] < of[1] ? of[0] : of[1];
        low = of[2] < low ? of[2] : low;
        high = of[0] > of[1] ? of[0] : of[1];
        high = of[2] > high ? of[2] : high;
        assert_true(low > 0);
        assert_true(cell(rows, MINIMUM, measures[m]) == low && cell(rows, MAXIMUM, measures[m]) == high);
        assert_true(cell(rows, MEDIAN, measures[m]) == sum - low - high);
        assert_true(cell(rows, QUARTER, measures[m]) == (low + cell(rows, MEDIAN, measures[m])) / 2);
    }
    assert_true(cell(rows, MAXIMUM, "compile") < cell(rows, MAXIMUM, "wall"));
    /* The simulator's launches take the same in each run, and one at a time. */
    char *text = devlog_ok("decode --no-files -f json t/logs_device/profile_log_device.csv", 0);
    cJSON *decoded = cJSON_Parse(text);
    const cJSON *launch;
    double busy = 0;
    cJSON_ArrayForEach(launch, cJSON_GetObjectItem(decoded, "launches")) busy +=
        cJSON_GetObjectItem(launch, "last_fw_end")->valuedouble -
        cJSON_GetObjectItem(launch, "first_fw_start")->valuedouble;
    assert_true(busy > 0);
    assert_true(cell(rows, MINIMUM, "device") == busy && cell(rows, MAXIMUM, "device") == busy); /* 1 GHz */
    /* FLOPs are those of devlog report, and the same in each run; so is what buffers held. */
    char *report = devlog_ok("report --format json --tables summary t/logs_device", 0);
    cJSON *summary = cJSON_Parse(report);
    const cJSON *facts = cJSON_GetObjectItem(
        cJSON_GetObjectItem(cJSON_GetObjectItem(summary, "sections"), "summary"), "facts");
    static const char *const same[][2] = {{"flops", "flops"}, {"device_memory", "peak_memory"}};
    for (size_t i = 0; i < 2; i++) {
        const cJSON *value = cJSON_GetObjectItem(cJSON_GetObjectItem(facts, same[i][1]), "value");
        assert_true(cJSON_IsNumber(value) && cell(rows, MINIMUM, same[i][0]) == value->valuedouble &&
                    cell(rows, MAXIMUM, same[i][0]) == value->valuedouble);
    }
    cJSON_Delete(summary);
    free(report);
    free(text);
    cJSON_Delete(decoded);
    cJSON_Delete(json);
}

static void others_have_no_device(void **state)
{
    (void)state;
    cJSON *json = timed("time -n 2 -w 0 -f json -- sleep 0.05", 3);
    const cJSON *rows = section(json, "time");
    assert_true(cell(rows, MINIMUM, "wall") >= 50e6);
    assert_true(cell(rows, MAXIMUM, "cpu") < 50e6);
    assert_true(cell(rows, MEDIAN, "device") == -1 && cell(rows, MEDIAN, "compile") == -1);
    cJSON_Delete(json);
    json = timed("time -n 2 --device 0 -f json -- true", 0);
    cJSON_Delete(json);
    char *text = devlog_ok("time -n 2 -d 0 --show-output -- echo shown", 0);
    assert_memory_equal(text, "shown\nshown\nshown\n", 18); /* one run warms up */
    free(text);
    text = devlog_ok("time -n 2 -d 0 -- echo hidden", 0);
    assert_null(strstr(text, "hidden"));
    free(text);
}

static void a_run_that_fails(void **state)
{
    (void)state;
    devlog_fails("time -d 0 -- sh -c 'exit 7'", 7, "status 7");
    /* Also when whoever starts devlog had it ignore the end of children. */
    char line[1024];
    snprintf(line, sizeof line, "env --ignore-signal=CHLD '%s' time -d 0 -- sh -c 'exit 7' 2>'%s'",
             getenv("DEVLOG_BIN"), in_scratch("ignored"));
    const int how = system(line);
    assert_true(WIFEXITED(how));
    assert_int_equal(WEXITSTATUS(how), 7);
    devlog_fails("time -d 0 -- sh -c 'kill -9 $$'", 137, "signal 9");
    /* The third of them, counted in a file. */
    write_text(in_scratch("third.sh"), "echo x >>count\n[ $(wc -l <count) -lt 3 ]\n");
    devlog_fails("time -n 5 -d 0 -- sh third.sh", 1, "status 1");
    devlog_fails("time -- ./no-such-program", 1, "no program");
    devlog_fails("time", 2, "COMMAND");
    devlog_fails("time -n 0 -- true", 2, "repeat");
    devlog_fails("time -o third.sh/x -d 0 -- true", 1, "third.sh");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(agrees_with_its_logs),
        cmocka_unit_test(others_have_no_device),
        cmocka_unit_test(a_run_that_fails),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
