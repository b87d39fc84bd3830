/* Expectations: each kind met and not met, and by how much, against the durations, counts and values that decoding the same log
 * gives; in the capture, in logs of every style, in decode and report with their exit status; the user's function and the frozen
 * ring; nothing judged that records do not show; no byte of a kernel more; what names no marker is refused. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cJSON.h>

#include "devlog/results.h"
#include "support/cli.h"
#include "support/files.h"
#include "support/fixture.h"

typedef struct said {
    uint32_t n, riscs;
    devlog_violation of[32];
    char texts[32][100];
} said;

static void note(void *context, devlog_device *device, const devlog_violation *v)
{
    said *s = context;
    assert_non_null(device);
    assert_true(s->n < 32);
    s->of[s->n] = *v;
    snprintf(s->texts[s->n++], sizeof s->texts[0], "%s", v->text);
}

typedef struct rig {
    devlog_device *device;
    devlog_program *program;
    devlog_kernel *kernels[2];
    char folder[200];
    said said;
} rig;

static void begin(rig *r, devlog_device_options options)
{
    devlog_error err = {0};
    memset(r, 0, sizeof *r);
    snprintf(r->folder, sizeof r->folder, "%s", test_folder());
    options.log_folder = r->folder;
    options.profile = DEVLOG_ON;
    check_ok(devlog_device_open(&options, &r->device, &err), &err);
    check_ok(devlog_on_violation(r->device, note, &r->said, &err), &err);
    check_ok(devlog_program_create(r->device, &r->program, &err), &err);
    r->kernels[0] = add_kernel(r->program, "tests/sim/kernels/expect.c", "NCRISC", one, NULL);
}

static void launch_with(rig *r, uint32_t steps, uint32_t last, uint32_t level, uint32_t late)
{
    devlog_error err = {0};
    const uint32_t args[] = {steps, last, level, late};
    r->said.n = 0;
    check_ok(devlog_kernel_set_args(r->kernels[0], zero, args, 4, &err), &err);
    prepare(r->device, r->program);
    check_ok(devlog_launch_program(r->device, r->program, &err), &err);
}

static void end(rig *r)
{
    devlog_error err = {0};
    devlog_program_free(r->program);
    check_ok(devlog_device_close(r->device, &err), &err);
}

static const devlog_violation *find(const rig *r, const char *text)
{
    for (uint32_t i = 0; i < r->said.n; i++)
        if (strcmp(r->said.texts[i], text) == 0) return &r->said.of[i];
    return NULL;
}

static void is(const rig *r, const char *text, uint64_t times, uint64_t worst)
{
    const devlog_violation *v = find(r, text);
    if (!v) fail_msg("nobody said '%s'; said were %u, the first '%s'", text, r->said.n, r->said.texts[0]);
    if (v->times != times || v->worst != worst)
        fail_msg("%s: %llu times, worst %llu", text, (unsigned long long)v->times,
                 (unsigned long long)v->worst);
    assert_string_equal(v->risc, "NCRISC");
    assert_true(v->core.x == 0 && v->core.y == 0 && v->line > 0);
    assert_non_null(strstr(v->file, "expect.c"));
}

/* The longest pass of a zone in the last launch. */
static uint64_t longest(const rig *r, const char *zone)
{
    devlog_error err = {0};
    devlog_results *results;
    const devlog_statistics *rows;
    size_t n;
    uint64_t most = 0;
    check_ok(devlog_results_latest(r->device, &results, &err), &err);
    check_ok(devlog_log_statistics(results->log, DEVLOG_BY_RISC, &rows, &n, &err), &err);
    for (size_t i = 0; i < n; i++)
        if (strcmp(rows[i].zone, zone) == 0) most = rows[i].max;
    devlog_results_free(results);
    return most;
}

static const char step_cycles[] = "step: 20 to 2000 cycles", step_count[] = "step: 2 to 6 times a launch",
                  level_value[] = "level: at most 9 as value", order[] = "load: one before each step",
                  sum_cycles[] = "sum, of \"passes\": at most 1000 cycles";

/* decode and report of what a run left; `path` is a log or capture. */
static cJSON *findings_of(const char *path, int exit_status)
{
    char line[600];
    snprintf(line, sizeof line, "decode --no-files -f json %s", path);
    char *text = devlog_ok(line, exit_status);
    cJSON *json = cJSON_Parse(text);
    assert_non_null(json);
    free(text);
    return json;
}

static double violated(const cJSON *json)
{
    const cJSON *found = cJSON_GetObjectItem(cJSON_GetObjectItem(json, "losses"), "found");
    const cJSON *count = cJSON_GetObjectItem(found, "violated");
    return count ? count->valuedouble : 0;
}

static void each_kind(void **state)
{
    (void)state;
    rig r;
    char path[300], line[400];
    begin(&r, (devlog_device_options)DEVLOG_DEVICE_OPTIONS(.results = DEVLOG_KEEP_LATEST));
    launch_with(&r, 4, 20, 5, 0);
    assert_int_equal(r.said.n, 0);
    snprintf(path, sizeof path, "%s/capture.devlog", r.folder);

    launch_with(&r, 3, 400, 0, 0);
    is(&r, step_cycles, 1, longest(&r, "step"));
    assert_true(longest(&r, "step") > 2000);
    assert_int_equal(r.said.n, 1);
    assert_true(r.said.of[0].launch == 2 && r.said.of[0].expectation == DEVLOG_EXPECTATION_CYCLES);

    launch_with(&r, 7, 20, 0, 0);
    is(&r, step_count, 1, 7);
    assert_int_equal(r.said.n, 1);
    launch_with(&r, 1, 20, 0, 0);
    is(&r, step_count, 1, 1);

    launch_with(&r, 4, 20, 8, 0); /* 8, 9, 10, 11 */
    is(&r, level_value, 2, 11);
    assert_int_equal(r.said.n, 1);

    launch_with(&r, 4, 20, 0, 1); /* each step before its load */
    is(&r, order, 4, 1);
    assert_int_equal(r.said.n, 1);
    assert_string_equal(r.said.of[0].other, "step");

    launch_with(&r, 7, 2000, 20, 1); /* all at once; also through the sum, which records no pass by itself */
    assert_int_equal(r.said.n, 5);
    is(&r, sum_cycles, 1, find(&r, sum_cycles)->worst);
    assert_true(find(&r, sum_cycles)->worst > 1000);
    is(&r, order, 7, 1);
    is(&r, level_value, 7, 26);
    is(&r, step_count, 1, 7);
    is(&r, step_cycles, 1, longest(&r, "step"));
    end(&r);

    /* 1 + 1 + 1 + 2 + 4 + (7 + 7 + 1 + 1 + 1), in both files and by the library. */
    cJSON *json = findings_of(path, 3);
    assert_true(violated(json) == 26);
    assert_true(cJSON_IsTrue(cJSON_GetObjectItem(json, "complete"))); /* nothing was lost */
    cJSON_Delete(json);
    snprintf(path, sizeof path, "%s/profile_log_device.csv", r.folder);
    json = findings_of(path, 3);
    assert_true(violated(json) == 26);
    cJSON_Delete(json);
    snprintf(line, sizeof line, "decode --no-files %s", path);
    char *text = devlog_ok(line, 3);
    assert_non_null(strstr(text, "Nothing was lost."));
    assert_non_null(strstr(text, "expectations of kernels that were not met"));
    assert_non_null(strstr(text, "launch 2: expected of step: 20 to 2000 cycles, and 1 times not so ("));
    free(text);
    snprintf(line, sizeof line, "report --tables verdict,losses %s", path);
    text = devlog_ok(line, 3);
    assert_non_null(strstr(text, "not as expected"));
    free(text);
    /* A launch in which all was well is no finding. */
    snprintf(line, sizeof line, "decode --no-files --launches 1 %s", path);
    free(devlog_ok(line, 0));
}

static void every_style(void **state)
{
    (void)state;
    static const devlog_log_style styles[] = {DEVLOG_STYLE_L9, DEVLOG_STYLE_L2, DEVLOG_STYLE_L0};
    for (size_t i = 0; i < 3; i++) {
        rig r;
        char path[300];
        begin(&r,
              (devlog_device_options)DEVLOG_DEVICE_OPTIONS(.log_style = styles[i], .capture = DEVLOG_OFF));
        launch_with(&r, 4, 20, 8, 0);
        launch_with(&r, 7, 400, 0, 0);
        end(&r);
        snprintf(path, sizeof path, "%s/profile_log_device.csv", r.folder);
        cJSON *json = findings_of(path, 3);
        assert_true(violated(json) == 2 + 2);
        cJSON_Delete(json);
    }
}

static void what_records_do_not_show(void **state)
{
    (void)state;
    rig r;
    devlog_error err = {0};
    begin(&r, (devlog_device_options)DEVLOG_DEVICE_OPTIONS(.profile = DEVLOG_ON));
    /* Far more steps than there is room for: too many is certain, order and what the last ones took is not. */
    launch_with(&r, 1000, 20, 0, 1);
    assert_non_null(find(&r, step_count));
    assert_null(find(&r, order));
    /* All records frozen: nothing is there, and nothing is expected of that. */
    check_ok(devlog_freeze(r.device, true, &err), &err);
    launch_with(&r, 1, 400, 20, 1);
    assert_int_equal(r.said.n, 0);
    check_ok(devlog_freeze(r.device, false, &err), &err);
    launch_with(&r, 1, 20, 0, 0);
    is(&r, step_count, 1, 1);
    end(&r);
}

static void the_ring_is_frozen(void **state)
{
    (void)state;
    rig r;
    devlog_error err = {0};
    begin(&r, (devlog_device_options)DEVLOG_DEVICE_OPTIONS(.recording = DEVLOG_RECORD_RING));
    launch_with(&r, 4, 20, 0, 0);
    assert_false(r.device->frozen);
    launch_with(&r, 4, 20, 8, 0);
    is(&r, level_value, 2, 11);
    assert_true(r.device->frozen);
    launch_with(&r, 4, 20, 8, 0); /* records nothing */
    assert_int_equal(r.said.n, 0);
    check_ok(devlog_freeze(r.device, false, &err), &err);
    launch_with(&r, 4, 20, 8, 0);
    is(&r, level_value, 2, 11);
    end(&r);
    begin(&r, (devlog_device_options)DEVLOG_DEVICE_OPTIONS(.recording = DEVLOG_RECORD_STOP));
    launch_with(&r, 4, 20, 8, 0);
    assert_false(r.device->frozen);
    end(&r);
}

static void costs_the_device_nothing(void **state)
{
    (void)state;
    static const char *const flags[] = {NULL, "-O0", "-Os", "-DDEVLOG_WIDE_IDS"};
    for (size_t f = 0; f < sizeof flags / sizeof flags[0]; f++) {
        devlog_error err = {0};
        devlog_device *device = open_device(NULL, NULL);
        devlog_program *program;
        char without[64];
        snprintf(without, sizeof without, "-DNO_EXPECTATIONS %s", flags[f] ? flags[f] : "");
        check_ok(devlog_program_create(device, &program, &err), &err);
        const devlog_kernel *a = add_kernel(program, "tests/sim/kernels/expect.c", "BRISC", one, flags[f]);
        const devlog_kernel *b = add_kernel(program, "tests/sim/kernels/expect.c", "NCRISC", one, flags[f]);
        check_ok(devlog_compile_program(program, &err), &err);
        assert_int_equal(a->elf.n_expects, 6);
        assert_int_equal(b->elf.n_expects, 6);
        devlog_program *bare;
        check_ok(devlog_program_create(device, &bare, &err), &err);
        b = add_kernel(bare, "tests/sim/kernels/expect.c", "BRISC", one, without);
        check_ok(devlog_compile_program(bare, &err), &err);
        assert_int_equal(b->elf.n_expects, 0);
        assert_int_equal(a->elf.n_segments, b->elf.n_segments);
        for (uint32_t i = 0; i < a->elf.n_segments; i++) {
            assert_int_equal(a->elf.segments[i].size, b->elf.segments[i].size);
            assert_memory_equal(a->elf.segments[i].data, b->elf.segments[i].data, a->elf.segments[i].size);
        }
        devlog_program_free(bare);
        devlog_program_free(program);
        check_ok(devlog_device_close(device, &err), &err);
    }
}

static void what_names_no_marker(void **state)
{
    (void)state;
    static const struct {
        const char *line, *says;
    } wrong[] = {
        {"DEVLOG_EXPECT_CYCLES(\"mull\", 1, 2);",
         "what is expected here is of 'mull', and this kernel has no zone"},
        {"DEVLOG_EXPECT_CYCLES(\"point\", 1, 2);", "of 'point', and this kernel has no zone"},
        {"DEVLOG_EXPECT_VALUE(\"mul\", 1, 2);", "of 'mul', and this kernel has no value or counter"},
        {"DEVLOG_EXPECT_ORDER(\"mul\", \"pont\");", "of 'pont', and this kernel has no zone, event or value"},
        {"DEVLOG_EXPECT_COUNT(\"mul\", 3, 2);", "low is not above high"},
        {"DEVLOG_EXPECT_COUNT(\"\", 1, 2);", "an expectation has a name"},
    };
    devlog_error err = {0};
    devlog_device *device = open_device(NULL, NULL);
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        char path[300], text[600];
        devlog_program *program;
        snprintf(path, sizeof path, "%s/wrong%zu.c", test_folder(), i);
        snprintf(text, sizeof text,
                 "#include <devlog/kernel.h>\n#include <devlog/profile.h>\n%s\n"
                 "void kernel_main(void)\n{\n    DEVLOG_ZONE(\"mul\");\n    DEVLOG_EVENT(\"point\");\n}\n",
                 wrong[i].line);
        write_text(path, text);
        check_ok(devlog_program_create(device, &program, &err), &err);
        const devlog_kernel_options k = DEVLOG_KERNEL_OPTIONS(.source = path, .risc = "BRISC", .cores = one);
        check_ok(devlog_program_add_kernel(program, &k, NULL, &err), &err);
        assert_int_equal(devlog_compile_program(program, &err), DEVLOG_ERR_COMPILE);
        if (!strstr(err.text, wrong[i].says)) fail_msg("%s", err.text);
        devlog_program_free(program);
    }
    check_ok(devlog_device_close(device, &err), &err);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_kind),
        cmocka_unit_test(every_style),
        cmocka_unit_test(what_records_do_not_show),
        cmocka_unit_test(the_ring_is_frozen),
        cmocka_unit_test(costs_the_device_nothing),
        cmocka_unit_test(what_names_no_marker),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
