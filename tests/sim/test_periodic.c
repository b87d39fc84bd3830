/* Periodic captures: which launches are in which folder, by options and by the environment; that a capture holds what a log of
 * all launches holds of the same ones; folders that rotate, and those that stay; launches that fail between captures; kernels
 * whose markers cannot be switched off. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cJSON.h>

#include "support/cli.h"
#include "support/files.h"
#include "support/fixture.h"

enum { LAUNCHES = 12 };

typedef struct run {
    devlog_device_options options;
    const char *flags;
    uint32_t n;      /* launches; 0: LAUNCHES */
    uint32_t levels; /* of this launch on values are not as expected; 0: they always are */
    char folder[100];
} run;

static void run_in(const run *r)
{
    devlog_error err = {0};
    devlog_device *device;
    devlog_program *program;
    devlog_device_options options = r->options;
    options.size = sizeof options;
    options.log_folder = r->folder;
    options.profile = DEVLOG_ON;
    check_ok(devlog_device_open(&options, &device, &err), &err);
    check_ok(devlog_program_create(device, &program, &err), &err);
    devlog_kernel *k =
        add_kernel(program, "tests/sim/kernels/expect.c", "NCRISC", (devlog_cores){0, 0, 1, 0}, r->flags);
    for (uint32_t i = 1; i <= (r->n ? r->n : LAUNCHES); i++) {
        const uint32_t args[] = {3, 20 + i, r->levels && i >= r->levels ? 20 : 0, 0};
        for (uint32_t x = 0; x < 2; x++)
            check_ok(devlog_kernel_set_args(k, (devlog_core){x, 0}, args, 4, &err), &err);
        prepare(device, program);
        check_ok(devlog_launch_program(device, program, &err), &err);
    }
    devlog_program_free(program);
    check_ok(devlog_device_close(device, &err), &err);
}

static run fresh(void)
{
    run r = {.flags = NULL};
    snprintf(r.folder, sizeof r.folder, "%s", test_folder());
    return r;
}

static bool is_there(const run *r, const char *name)
{
    char path[300];
    snprintf(path, sizeof path, "%s/%s", r->folder, name);
    return access(path, F_OK) == 0;
}

static cJSON *decoded(const run *r, const char *name, const char *filter, int exit_status)
{
    char line[500];
    snprintf(line, sizeof line, "decode --no-files -f json %s %s/%s/capture.devlog", filter, r->folder, name);
    char *text = devlog_ok(line, exit_status);
    cJSON *json = cJSON_Parse(text);
    assert_non_null(json);
    free(text);
    return json;
}

/* The launches of a capture, "5 6", each once. */
static void launches_are(const run *r, const char *name, const char *wanted)
{
    char found[200] = "";
    cJSON *json = decoded(r, name, "", 0);
    const cJSON *launch;
    cJSON_ArrayForEach(launch, cJSON_GetObjectItem(json, "launches"))
    {
        const cJSON *id = cJSON_GetObjectItem(launch, "run_host_id");
        assert_non_null(id);
        snprintf(found + strlen(found), sizeof found - strlen(found), "%s%d", *found ? " " : "",
                 id->valueint);
    }
    assert_string_equal(found, wanted);
    cJSON_Delete(json);
}

static void of_every_nth(void **state)
{
    (void)state;
    run r = fresh();
    r.options.capture_every = 5;
    run_in(&r);
    launches_are(&r, "capture-000001", "5");
    launches_are(&r, "capture-000002", "10");
    assert_false(is_there(&r, "capture-000003"));
    assert_false(is_there(&r, "capture.devlog"));
    assert_false(is_there(&r, "profile_log_device.csv"));
    assert_true(is_there(&r, "capture-000001/profile_log_device.csv"));
    /* A later run goes on counting. */
    r.options.capture_launches = 2;
    r.options.capture_most = 2;
    r.n = 16;
    run_in(&r);
    launches_are(&r, "capture-000003", "5 6");
    launches_are(&r, "capture-000004", "10 11");
    assert_false(is_there(&r, "capture-000005"));

    /* The newest of them is found by every command that reads logs, and those of runs take its folder. */
    static const char *const commands[] = {"decode --no-files", "export -o - -f chrome", "report", "causes"};
    for (size_t i = 0; i < 4; i++) {
        char line[300], *out, *said;
        snprintf(line, sizeof line, "%s --latest %s", commands[i], r.folder);
        const int status = devlog(line, &out, &said);
        if (!strstr(said, i < 2 ? "/capture-000004/capture.devlog, the newest of 4 logs"
                                : "/capture-000004, the newest of 4 logs"))
            fail_msg("%s: %s", line, said);
        if (strcmp(commands[i], "causes") != 0) assert_int_equal(status, 0);
        free(out);
        free(said);
    }

    /* For some time, which is longer than all of it; and one that begins where another ends. */
    r = fresh();
    r.options.capture_every = 5;
    r.options.capture_ms = 1000000;
    run_in(&r);
    launches_are(&r, "capture-000001", "5 6 7 8 9 10 11 12");
    assert_false(is_there(&r, "capture-000002"));
    r = fresh();
    r.options.capture_every = 1;
    r.options.capture_ms = 1000000;
    r.options.capture_launches = 5;
    run_in(&r);
    launches_are(&r, "capture-000001", "1 2 3 4 5");
    launches_are(&r, "capture-000002", "6 7 8 9 10");
    launches_are(&r, "capture-000003", "11 12");
}

static void by_the_environment(void **state)
{
    (void)state;
    run r = fresh();
    setenv("DEVLOG_CAPTURE_EVERY", "4", 1);
    setenv("DEVLOG_CAPTURE_LAUNCHES", "3", 1);
    setenv("DEVLOG_CAPTURE_MOST", "2", 1);
    setenv("DEVLOG_CAPTURE_KEEP", "1", 1);
    run_in(&r);
    assert_false(is_there(&r, "capture-000001"));
    launches_are(&r, "capture-000002", "8 9 10");
    /* What the program says goes before. */
    r.options.capture_keep = 7;
    r.options.capture_launches = 1;
    run_in(&r);
    launches_are(&r, "capture-000003", "4");
    launches_are(&r, "capture-000004", "8");
    setenv("DEVLOG_CAPTURE_EVERY", "0", 1);
    devlog_error err = {0};
    devlog_device *device;
    assert_int_equal(devlog_device_open(NULL, &device, &err), DEVLOG_ERR_ARGUMENT);
    assert_non_null(strstr(err.text, "DEVLOG_CAPTURE_EVERY=0: it is a number from 1"));
    unsetenv("DEVLOG_CAPTURE_EVERY");
    unsetenv("DEVLOG_CAPTURE_LAUNCHES");
    unsetenv("DEVLOG_CAPTURE_MOST");
    unsetenv("DEVLOG_CAPTURE_KEEP");
    const devlog_device_options vague = DEVLOG_DEVICE_OPTIONS(.capture_most = 3);
    assert_int_equal(devlog_device_open(&vague, &device, &err), DEVLOG_ERR_ARGUMENT);
    assert_non_null(strstr(err.text, "captures are periodic when capture_every"));
}

/* How often each zone of the kernel was passed, and all that is said of its values, sums and events but their cycles, as one text.
 * Cycles depend on what launches before have left in the caches. */
static char *kernel_of(const run *r, const char *name, const char *filter)
{
    cJSON *json = decoded(r, name, filter, 0), *kernel = cJSON_CreateArray();
    const cJSON *of;
    cJSON_ArrayForEach(of, cJSON_GetObjectItem(json, "zones"))
    {
        cJSON_AddItemToArray(kernel, cJSON_CreateString(cJSON_GetObjectItem(of, "zone")->valuestring));
        cJSON_AddItemToArray(kernel, cJSON_CreateNumber(cJSON_GetObjectItem(of, "count")->valuedouble));
    }
    const cJSON *markers = cJSON_GetObjectItem(json, "markers");
    for (int i = 0; i < cJSON_GetArraySize(markers); i++) {
        cJSON *copy = cJSON_Duplicate(cJSON_GetArrayItem(markers, i), 1);
        cJSON_DeleteItemFromObject(copy, "last_cycle");
        if (strcmp(cJSON_GetObjectItem(copy, "kind")->valuestring, "sum") == 0)
            cJSON_Delete(copy);
        else
            cJSON_AddItemToArray(kernel, copy);
    }
    assert_true(cJSON_GetArraySize(kernel) >= 2 * 8 + 2);
    char *text = cJSON_PrintUnformatted(kernel);
    cJSON_Delete(kernel);
    cJSON_Delete(json);
    return text;
}

static void holds_what_a_full_log_holds(void **state)
{
    (void)state;
    static const char *const flags[] = {NULL, "-O0"}; /* without optimisation markers cannot be off */
    for (size_t f = 0; f < 2; f++) {
        run all = fresh(), some = fresh();
        all.flags = some.flags = flags[f];
        some.options.capture_every = 6;
        run_in(&all);
        run_in(&some);
        char *wanted = kernel_of(&all, ".", "--launches 12"), *found = kernel_of(&some, "capture-000002", "");
        assert_string_equal(found, wanted);
        cJSON_free(wanted);
        cJSON_free(found);
    }
}

static void folders_rotate(void **state)
{
    (void)state;
    run r = fresh();
    char path[300];
    r.options.capture_every = 2;
    r.options.capture_most = 2;
    run_in(&r);
    snprintf(path, sizeof path, "%s/capture-000001/notes.txt", r.folder);
    write_text(path, "mine");
    r.options.capture_most = 0;
    r.options.capture_keep = 2;
    r.levels = 5; /* launches 6, 8, 10, 12 are not as expected */
    run_in(&r);
    /* What a user has put there stays, without the logs. */
    assert_true(is_there(&r, "capture-000001/notes.txt"));
    assert_false(is_there(&r, "capture-000001/capture.devlog"));
    assert_false(is_there(&r, "capture-000002"));
    assert_true(is_there(&r, "capture-000003") && is_there(&r, "capture-000004")); /* 2, 4 */
    static const char *const stay[] = {"capture-000005", "capture-000006", "capture-000007",
                                       "capture-000008"};
    for (size_t i = 0; i < 4; i++) {
        size_t size;
        cJSON *json = decoded(&r, stay[i], "", 3);
        cJSON_Delete(json);
        snprintf(path, sizeof path, "%s/%s/violations.txt", r.folder, stay[i]);
        char *text = read_bytes(path, &size);
        assert_non_null(
            strstr(text, "NCRISC: expected of level: at most 9 as value, and 3 times not so, the worst 22"));
        free(text);
    }
    /* Only those. */
    r = fresh();
    r.options.capture_every = 3;
    r.options.capture_keep = DEVLOG_KEEP_VIOLATED;
    r.levels = 9;
    run_in(&r);
    assert_false(is_there(&r, "capture-000001"));
    assert_false(is_there(&r, "capture-000002"));
    assert_true(is_there(&r, "capture-000003/violations.txt") &&
                is_there(&r, "capture-000004/capture.devlog"));
}

static void a_launch_that_fails(void **state)
{
    (void)state;
    run r = fresh();
    devlog_error err = {0};
    devlog_device *device;
    devlog_program *program;
    const devlog_device_options options = DEVLOG_DEVICE_OPTIONS(.log_folder = r.folder, .profile = DEVLOG_ON,
                                                                .timeout_ms = 300, .capture_every = 100);
    check_ok(devlog_device_open(&options, &device, &err), &err);
    check_ok(devlog_program_create(device, &program, &err), &err);
    const uint32_t forever = UINT32_MAX;
    devlog_kernel *k = add_kernel(program, "tests/sim/kernels/hang.c", "BRISC", one, NULL);
    check_ok(devlog_kernel_set_args(k, zero, &forever, 1, &err), &err);
    prepare(device, program);
    assert_int_equal(devlog_launch_program(device, program, &err), DEVLOG_ERR_TIMEOUT);
    devlog_program_free(program);
    (void)devlog_device_close(device, &err);
    cJSON *json = decoded(&r, "capture-000001", "", 3);
    const cJSON *open = cJSON_GetObjectItem(cJSON_GetObjectItem(cJSON_GetObjectItem(json, "losses"), "found"),
                                            "unpaired_start");
    assert_true(cJSON_IsNumber(open) && open->valuedouble >= 2); /* firmware and kernel */
    cJSON_Delete(json);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(of_every_nth),
        cmocka_unit_test(by_the_environment),
        cmocka_unit_test(holds_what_a_full_log_holds),
        cmocka_unit_test(folders_rotate),
        cmocka_unit_test(a_launch_that_fails),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
