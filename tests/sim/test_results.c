/* Results by call are those of the files, to the digit: every device column of `devlog ops` and every zone of
 * `devlog decode -f json` of the capture as it stands at that moment, of the last launch and of all; with drops,
 * values, several cores and RISCs, ops, a launch that hangs, and logs that move in between. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cJSON.h>

#include "devlog/results.h"
#include "support/cli.h"
#include "support/files.h"
#include "support/fixture.h"

static const devlog_cores four = {0, 0, 1, 1};

typedef struct rig {
    devlog_device *device;
    devlog_program *program;
    devlog_kernel *kernels[3];
    char folder[64];
} rig;

/* Kernels of zones within zones, of more zones than there is room for, and of values, on four cores. */
static void begin(rig *r, devlog_device_options options)
{
    static const struct {
        const char *source, *risc, *flags;
    } kernels[] = {{"tests/sim/kernels/iterations.c", "BRISC", NULL},
                   {"tests/sim/kernels/many.c", "NCRISC", NULL},
                   {"tests/sim/kernels/many.c", "TRISC1", "-DVALUES"}};
    devlog_error err = {0};
    if (!options.ops) snprintf(r->folder, sizeof r->folder, "%s", test_folder());
    options.log_folder = r->folder;
    options.profile = DEVLOG_ON;
    check_ok(devlog_device_open(&options, &r->device, &err), &err);
    check_ok(devlog_program_create(r->device, &r->program, &err), &err);
    for (int i = 0; i < 3; i++)
        r->kernels[i] = add_kernel(r->program, kernels[i].source, kernels[i].risc, four, kernels[i].flags);
}

/* A launch that differs from others, and from core to core. */
static void launch_with(rig *r, uint32_t n)
{
    devlog_error err = {0};
    for (uint32_t i = 0; i < 3; i++)
        for (uint32_t x = 0; x < 2; x++)
            for (uint32_t y = 0; y < 2; y++) {
                const uint32_t args[] = {n * (i + 1) + 7 * x + 3 * y, 100 * n * (y + 1)};
                check_ok(devlog_kernel_set_args(r->kernels[i], (devlog_core){x, y}, args, 2, &err), &err);
            }
    prepare(r->device, r->program);
    check_ok(devlog_launch_program(r->device, r->program, &err), &err);
}

static void end(rig *r)
{
    devlog_error err = {0};
    devlog_program_free(r->program);
    check_ok(devlog_device_close(r->device, &err), &err);
}

/* What the command prints, or leaves in a file; its exit status may be that of findings. */
static cJSON *json_of(const char *line, const char *file)
{
    char *out, *said;
    size_t size;
    int status = devlog(line, &out, &said);
    if (status != 0 && status != 3) fail_msg("%s: exit status %d: %s", line, status, said);
    char *text = file ? read_bytes(file, &size) : out;
    cJSON *json = cJSON_Parse(text);
    if (!json) fail_msg("%s: %s%s", line, text, said);
    if (file) free(text);
    free(out);
    free(said);
    return json;
}

static double number(const cJSON *object, const char *key)
{
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, key);
    if (!cJSON_IsNumber(item)) fail_msg("no number %s", key);
    return item->valuedouble;
}

/* The zones of `devlog decode -f json` are the statistics, one by one. */
static void same_zones(const cJSON *json, devlog_log *log)
{
    devlog_error err = {0};
    const devlog_statistics *rows;
    size_t n;
    check_ok(devlog_log_statistics(log, DEVLOG_BY_RISC, &rows, &n, &err), &err);
    const cJSON *zones = cJSON_GetObjectItemCaseSensitive(json, "zones"), *zone;
    assert_int_equal(cJSON_GetArraySize(zones), n);
    assert_true(n >= 10);
    size_t i = 0;
    cJSON_ArrayForEach(zone, zones)
    {
        const devlog_statistics *s = &rows[i++];
        assert_string_equal(cJSON_GetObjectItemCaseSensitive(zone, "zone")->valuestring, s->zone);
        assert_string_equal(cJSON_GetObjectItemCaseSensitive(zone, "risc")->valuestring, s->risc);
        assert_true(number(zone, "chip") == s->chip && number(zone, "count") == (double)s->count);
        assert_true(number(zone, "sum") == (double)s->total_low && number(zone, "min") == (double)s->min);
        assert_true(number(zone, "max") == (double)s->max && number(zone, "median") == s->median);
        assert_true(number(zone, "average") == s->average);
        assert_true(number(zone, "p90") == (double)s->p90 && number(zone, "p95") == (double)s->p95);
        assert_true(number(zone, "p99") == (double)s->p99);
    }
}

/* What was found, but for what a file has that is still being written. */
static void same_findings(const cJSON *json, devlog_log *log)
{
    const cJSON *found = cJSON_GetObjectItemCaseSensitive(cJSON_GetObjectItemCaseSensitive(json, "losses"),
                                                          "found"),
                *of;
    size_t n = 0;
    cJSON_ArrayForEach(of, found) n += strcmp(of->string, "not_closed") != 0;
    assert_int_equal(devlog_log_findings(log), n);
    for (size_t i = 0; i < n; i++) {
        const devlog_finding f = devlog_log_finding(log, i);
        assert_true(number(found, f.key) == (double)f.count);
    }
}

/* Every device column of the report's rows, which are JSON objects. */
static void same_measures(const cJSON *rows, const devlog_results *r, size_t first)
{
    size_t i = 0, known = 0;
    const cJSON *row;
    assert_int_equal(cJSON_GetArraySize(rows), first + r->n_launches);
    cJSON_ArrayForEach(row, rows)
    {
        if (i++ < first) continue;
        const devlog_launch_results *l = &r->launches[i - 1 - first];
        assert_true(l->n_measures > 15);
        assert_true(number(row, "CORE COUNT") == l->cores);
        for (size_t k = 0; k < l->n_measures; k++) {
            const cJSON *cell = cJSON_GetObjectItemCaseSensitive(row, l->measures[k].name);
            if (!cell) fail_msg("the report has no column %s", l->measures[k].name);
            if (cJSON_IsNull(cell) == l->measures[k].known ||
                (l->measures[k].known && cell->valuedouble != (double)l->measures[k].value))
                fail_msg("launch %zu, %s: %s %lld instead of %f", i, l->measures[k].name,
                         l->measures[k].known ? "" : "not known", (long long)l->measures[k].value,
                         cell->valuedouble);
            known += l->measures[k].known;
        }
    }
    assert_true(known >= 10 * r->n_launches);
}

static void compare(const rig *r, uint64_t launches, bool all)
{
    devlog_error err = {0};
    devlog_results *got;
    char line[600], report[300];
    check_ok(all ? devlog_results_all(r->device, &got, &err) : devlog_results_latest(r->device, &got, &err),
             &err);
    assert_int_equal(got->n_launches, all ? launches : 1);
    for (size_t i = 0; i < got->n_launches; i++) {
        const devlog_launch_results *l = &got->launches[i];
        assert_int_equal(l->number, all ? i + 1 : launches);
        assert_int_equal(devlog_log_launch(got->log, l->launch).run_host_id, l->number);
    }
    snprintf(line, sizeof line, "decode --no-files -f json --launches %u-%u %s/capture.devlog",
             all ? 1 : (unsigned)launches, (unsigned)launches, r->folder);
    cJSON *json = json_of(line, NULL);
    same_zones(json, got->log);
    if (all) same_findings(json, got->log);
    cJSON_Delete(json);

    snprintf(line, sizeof line,
             "ops -i %s --device-log %s/capture.devlog --format json --no-tar -o %s/report", r->folder,
             r->folder, r->folder);
    snprintf(report, sizeof report, "%s/report/ops_perf_results.json", r->folder);
    json = json_of(line, report);
    same_measures(json, got, all ? 0 : launches - 1);
    cJSON_Delete(json);
    devlog_results_free(got);
}

static void of_the_latest_and_of_all(void **state)
{
    (void)state;
    rig r;
    begin(&r, (devlog_device_options)DEVLOG_DEVICE_OPTIONS(.results = DEVLOG_KEEP_ALL));
    for (uint32_t i = 1; i <= 4; i++) {
        launch_with(&r, i == 3 ? 700 : 40 * i); /* too many for the room that there is, and some again */
        compare(&r, i, false);
        compare(&r, i, true);
    }
    end(&r);
}

static void keeping_the_latest_only(void **state)
{
    (void)state;
    rig r;
    devlog_error err = {0};
    devlog_results *got;
    begin(&r, (devlog_device_options)DEVLOG_DEVICE_OPTIONS(.results = DEVLOG_KEEP_LATEST));
    check_ok(devlog_results_latest(r.device, &got, &err), &err); /* nothing has been launched */
    assert_int_equal(got->n_launches, 0);
    assert_int_equal(devlog_log_launches(got->log), 0);
    devlog_results_free(got);
    for (uint32_t i = 1; i <= 5; i++) {
        launch_with(&r, 30 * i);
        if (i % 2) compare(&r, i, false); /* asked for after two launches, too */
        assert_int_equal(devlog_results_all(r.device, &got, &err), DEVLOG_ERR_STATE);
        assert_null(got);
    }
    end(&r);
}

/* The report joins rows with ops; what was measured is the same. */
static void of_ops(void **state)
{
    (void)state;
    rig r;
    devlog_error err = {0};
    devlog_ops *ops;
    devlog_results *got;
    snprintf(r.folder, sizeof r.folder, "%s", test_folder());
    check_ok(
        devlog_ops_open(&(devlog_ops_options)DEVLOG_OPS_OPTIONS(.log_folder = r.folder, .profile = DEVLOG_ON),
                        &ops, &err),
        &err);
    begin(&r, (devlog_device_options)DEVLOG_DEVICE_OPTIONS(.results = DEVLOG_KEEP_ALL, .ops = ops));
    for (uint32_t i = 1; i <= 3; i++) {
        uint32_t op = devlog_op_start(ops, &(devlog_op){.name = "an op", .type = DEVLOG_OP_TT_DNN_DEVICE});
        launch_with(&r, 15 * i);
        devlog_op_end(ops, op);
        check_ok(devlog_results_latest(r.device, &got, &err), &err);
        assert_int_equal(got->launches[0].op, op);
        devlog_results_free(got);
        compare(&r, i, true);
    }
    end(&r);
    check_ok(devlog_ops_close(ops, &err), &err);
}

/* Results do not need the file, and end with a log that can be asked as any other. */
static void without_a_capture(void **state)
{
    (void)state;
    rig r;
    devlog_error err = {0};
    devlog_results *got;
    devlog_batch batch;
    begin(&r,
          (devlog_device_options)DEVLOG_DEVICE_OPTIONS(.results = DEVLOG_KEEP_ALL, .capture = DEVLOG_OFF));
    launch_with(&r, 20);
    launch_with(&r, 30);
    check_ok(devlog_results_all(r.device, &got, &err), &err);
    assert_int_equal(got->n_launches, 2);
    assert_int_equal(devlog_log_streams(got->log), 20);
    assert_true(devlog_log_complete(got->log));
    check_ok(devlog_log_next(got->log, &batch, &err), &err);
    assert_true(batch.last);
    assert_string_equal(devlog_log_chip(got->log, 0).arch, "wormhole_b0");
    devlog_results_free(got);
    end(&r);
}

/* The log moves to another folder, where kernels are numbered anew: names and latencies stay right. */
static void after_the_log_has_moved(void **state)
{
    (void)state;
    for (int keep = DEVLOG_KEEP_LATEST; keep <= DEVLOG_KEEP_ALL; keep++) {
        rig r;
        devlog_error err = {0};
        devlog_results *got;
        const devlog_statistics *rows;
        size_t n;
        begin(&r, (devlog_device_options)DEVLOG_DEVICE_OPTIONS(.results = (devlog_keep)keep));
        launch_with(&r, 10);
        check_ok(devlog_set_profiler_location(r.device, test_folder(), &err), &err);
        for (int launches = 1; launches <= 2; launches++) {
            check_ok(devlog_results_latest(r.device, &got, &err), &err);
            assert_int_equal(got->launches[0].number, launches);
            assert_true(devlog_log_complete(got->log));
            check_ok(devlog_log_statistics(got->log, DEVLOG_BY_RISC, &rows, &n, &err), &err);
            uint64_t iterations = 0, passes = 0;
            for (size_t i = 0; i < n; i++) {
                if (!strcmp(rows[i].zone, "iteration")) iterations += rows[i].count;
                if (!strcmp(rows[i].zone, "pass")) passes += rows[i].count;
            }
            uint32_t each = launches * 10;
            assert_int_equal(iterations, 4 * each + 2 * 7 + 2 * 3);
            assert_int_equal(passes, 4 * 2 * each + 2 * 7 + 2 * 3);
            for (size_t i = 0; i < got->launches[0].n_measures; i++)
                if (!strcmp(got->launches[0].measures[i].name, "OP TO OP LATENCY [ns]"))
                    assert_true(launches == 1 ? got->launches[0].measures[i].value == 0
                                              : got->launches[0].measures[i].value > 0);
            devlog_results_free(got);
            if (launches == 1) launch_with(&r, 20);
        }
        end(&r);
    }
}

/* The records of a launch that failed are pulled, and so are its results. */
static void of_a_launch_that_hangs(void **state)
{
    (void)state;
    rig r;
    devlog_error err = {0};
    devlog_results *got;
    begin(&r, (devlog_device_options)DEVLOG_DEVICE_OPTIONS(.results = DEVLOG_KEEP_LATEST, .timeout_ms = 300));
    launch_with(&r, 10);
    devlog_program *hangs;
    check_ok(devlog_program_create(r.device, &hangs, &err), &err);
    devlog_kernel *k = add_kernel(hangs, "tests/sim/kernels/hang.c", "BRISC", four, NULL);
    const uint32_t forever = UINT32_MAX;
    check_ok(devlog_kernel_set_args(k, zero, &forever, 1, &err), &err);
    prepare(r.device, hangs);
    assert_int_equal(devlog_launch_program(r.device, hangs, &err), DEVLOG_ERR_TIMEOUT);
    check_ok(devlog_results_latest(r.device, &got, &err), &err);
    assert_int_equal(got->launches[0].number, 2);
    assert_false(devlog_log_complete(got->log)); /* zones that did not end */
    devlog_results_free(got);
    devlog_program_free(hangs);
    end(&r);
}

static void what_is_not_kept(void **state)
{
    (void)state;
    devlog_error err = {0};
    devlog_results *got;
    rig r;
    begin(&r, (devlog_device_options)DEVLOG_DEVICE_OPTIONS());
    launch_with(&r, 10);
    assert_int_equal(devlog_results_latest(r.device, &got, &err), DEVLOG_ERR_STATE);
    assert_non_null(strstr(err.text, "devlog_device_options.results"));
    end(&r);
    const devlog_device_options o = DEVLOG_DEVICE_OPTIONS(.profile = DEVLOG_OFF, .results = DEVLOG_KEEP_ALL);
    check_ok(devlog_device_open(&o, &r.device, &err), &err);
    assert_int_equal(devlog_results_all(r.device, &got, &err), DEVLOG_ERR_STATE);
    check_ok(devlog_device_close(r.device, &err), &err);
    const devlog_device_options wrong = DEVLOG_DEVICE_OPTIONS(.results = (devlog_keep)3);
    assert_int_equal(devlog_device_open(&wrong, &r.device, &err), DEVLOG_ERR_ARGUMENT);
    devlog_results_free(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(of_the_latest_and_of_all),
        cmocka_unit_test(keeping_the_latest_only),
        cmocka_unit_test(of_ops),
        cmocka_unit_test(without_a_capture),
        cmocka_unit_test(after_the_log_has_moved),
        cmocka_unit_test(of_a_launch_that_hangs),
        cmocka_unit_test(what_is_not_kept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
