/* devlog_timed: how often the function runs, what it took against what the log of the same launches says, compiling, memory of
 * buffers and FLOPs against what the function did by hand; a function that fails; without a device, a profile, a log of ops. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "devlog/results.h"
#include "support/comma.h"
#include "support/files.h"
#include "support/fixture.h"

enum { WARM_UP = 2, REPEATS = 4, MATMUL_FLOPS = 2 * 32 * 64 * 96, PAGE = 512 };

typedef struct work {
    devlog_device *device;
    devlog_program *program;
    devlog_kernel *kernel;
    devlog_ops *ops;
    uint32_t runs, fails_at;
    uint64_t held; /* bytes of L1 in the last run, at most */
} work;

static uint64_t used(const work *w)
{
    devlog_error err = {0};
    devlog_memory_facts facts;
    check_ok(devlog_memory_info(w->device, DEVLOG_MEMORY_L1, &facts, &err), &err);
    return facts.used;
}

/* Run n launches n + 1 times with other arguments each time, holds n buffers, and starts one op of known work. */
static devlog_status run(void *context, devlog_error *err)
{
    work *w = context;
    devlog_buffer buffers[8];
    const devlog_buffer_options one_page = DEVLOG_BUFFER_OPTIONS(.bytes = PAGE, .page_bytes = PAGE);
    const devlog_op op = {
        .name = "Matmul", .type = DEVLOG_OP_TT_DNN_DEVICE, .fidelity = DEVLOG_FIDELITY_HIFI4};
    const devlog_tensor a = {1, 1, 32, 64, {0}, "TILE", "BFLOAT16", "DEV_0_DRAM"},
                        b = {1, 1, 64, 96, {0}, "TILE", "BFLOAT16", "DEV_0_DRAM"};
    const uint32_t n = ++w->runs;
    if (n == w->fails_at) {
        err->status = DEVLOG_ERR_STATE;
        strcpy(err->text, "enough");
        return DEVLOG_ERR_STATE;
    }
    for (uint32_t i = 0; i < n; i++)
        check_ok(devlog_buffer_create(w->device, &one_page, &buffers[i], err), err);
    w->held = used(w);
    const uint32_t id = devlog_op_start(w->ops, &op);
    devlog_op_input(w->ops, id, &a);
    devlog_op_input(w->ops, id, &b);
    const uint32_t args[] = {n, 10};
    check_ok(devlog_kernel_set_args(w->kernel, zero, args, 2, err), err);
    prepare(w->device, w->program);
    for (uint32_t i = 0; i <= n; i++)
        check_ok(devlog_launch_program(w->device, w->program, err), err);
    devlog_op_end(w->ops, id);
    for (uint32_t i = 0; i < n; i++)
        check_ok(devlog_buffer_free(w->device, buffers[i], err), err);
    return DEVLOG_OK;
}

static work begin(devlog_switch profile, devlog_ops *ops, const char *folder)
{
    devlog_error err = {0};
    work w = {.ops = ops};
    const devlog_device_options options = DEVLOG_DEVICE_OPTIONS(.profile = profile, .log_folder = folder,
                                                                .ops = ops, .results = DEVLOG_KEEP_ALL);
    check_ok(devlog_device_open(&options, &w.device, &err), &err);
    check_ok(devlog_program_create(w.device, &w.program, &err), &err);
    w.kernel = add_kernel(w.program, "tests/sim/kernels/iterations.c", "BRISC", one, NULL);
    return w;
}

static void end(work *w)
{
    devlog_error err = {0};
    devlog_program_free(w->program);
    check_ok(devlog_device_close(w->device, &err), &err);
}

static bool is(double value, double wanted)
{
    return fabs(value - wanted) <= 1e-9 * fabs(wanted);
}

static void all_of_it(void **state)
{
    (void)state;
    devlog_error err = {0};
    devlog_ops *ops;
    devlog_timing t;
    char folder[200];
    snprintf(folder, sizeof folder, "%s", test_folder());
    const devlog_ops_options logged = DEVLOG_OPS_OPTIONS(.log_folder = folder, .profile = DEVLOG_ON);
    check_ok(devlog_ops_open(&logged, &ops, &err), &err);
    work w = begin(DEVLOG_ON, ops, folder);
    /* What was held before does not count. */
    devlog_buffer before;
    const devlog_buffer_options large = DEVLOG_BUFFER_OPTIONS(.bytes = 64 * PAGE, .page_bytes = PAGE);
    check_ok(devlog_buffer_create(w.device, &large, &before, &err), &err);
    const uint64_t most_before = used(&w);
    check_ok(devlog_buffer_free(w.device, before, &err), &err);

    const devlog_timed_options o = DEVLOG_TIMED_OPTIONS(.repeats = REPEATS, .warm_up = WARM_UP, .ops = ops);
    check_ok(devlog_timed(w.device, run, &w, &o, &t, &err), &err);
    assert_true(t.repeats == REPEATS && t.warm_up == WARM_UP && w.runs == REPEATS + WARM_UP);
    for (int what = 0; what < DEVLOG_TIMED_WHATS; what++) {
        const devlog_spread *s = &t.of[what];
        if (what == DEVLOG_TIMED_DRAM) continue;
        assert_int_equal(s->n, REPEATS);
        assert_true(s->min <= s->quarter && s->quarter <= s->median);
        assert_true(s->median <= s->three_quarters && s->three_quarters <= s->max);
    }
    /* Runs 3 to 6 launched 4 to 7 times, one after the other: the log says how long. */
    devlog_results *r;
    check_ok(devlog_results_all(w.device, &r, &err), &err);
    assert_int_equal(r->n_launches, 2 + 3 + 4 + 5 + 6 + 7);
    double took[REPEATS];
    size_t at = 2 + 3;
    const double mhz = devlog_log_chip(r->log, 0).mhz;
    for (uint32_t i = 0; i < REPEATS; i++) {
        took[i] = 0;
        for (uint32_t k = 0; k <= i + 1 + WARM_UP; k++, at++) {
            const devlog_launch l = devlog_log_launch(r->log, r->launches[at].launch);
            took[i] += (double)(l.last_end - l.first_start) * 1000 / mhz;
        }
    }
    devlog_results_free(r);
    assert_true(is(t.of[DEVLOG_TIMED_DEVICE].min, took[0]) && is(t.of[DEVLOG_TIMED_DEVICE].max, took[3]));
    assert_true(is(t.of[DEVLOG_TIMED_DEVICE].median, (took[1] + took[2]) / 2));
    assert_true(t.of[DEVLOG_TIMED_WALL].min > 0 && t.of[DEVLOG_TIMED_CPU].min > 0);
    assert_true(t.of[DEVLOG_TIMED_COMPILE].max < t.of[DEVLOG_TIMED_WALL].max);
    assert_true(t.of[DEVLOG_TIMED_HOST_MEMORY].min > 1 << 20);
    assert_true(is(t.of[DEVLOG_TIMED_L1].max, (double)w.held) && w.held < most_before);
    assert_true(is(t.of[DEVLOG_TIMED_L1].min, (double)w.held * (1 + WARM_UP) / (REPEATS + WARM_UP)));
    assert_true(t.of[DEVLOG_TIMED_FLOPS].min == MATMUL_FLOPS && t.of[DEVLOG_TIMED_FLOPS].max == MATMUL_FLOPS);
    /* The peak since the device was opened is another thing. */
    devlog_memory_facts facts;
    check_ok(devlog_memory_info(w.device, DEVLOG_MEMORY_L1, &facts, &err), &err);
    assert_int_equal(facts.peak, most_before);
    end(&w);
    check_ok(devlog_ops_close(ops, &err), &err);
}

static void what_is_not_known(void **state)
{
    (void)state;
    devlog_error err = {0};
    devlog_timing t;
    work w = begin(DEVLOG_OFF, NULL, test_folder());
    const devlog_timed_options o = DEVLOG_TIMED_OPTIONS(.repeats = 2, .warm_up = DEVLOG_NO_WARM_UP);
    check_ok(devlog_timed(w.device, run, &w, &o, &t, &err), &err);
    assert_true(w.runs == 2 && t.warm_up == 0);
    assert_int_equal(t.of[DEVLOG_TIMED_DEVICE].n, 0);
    assert_true(isnan(t.of[DEVLOG_TIMED_DEVICE].median));
    assert_int_equal(t.of[DEVLOG_TIMED_FLOPS].n, 0);
    assert_int_equal(t.of[DEVLOG_TIMED_COMPILE].n, 2);
    /* A run that fails ends it, with its own error. */
    w.runs = 0;
    w.fails_at = 3;
    assert_int_equal(devlog_timed(w.device, run, &w, NULL, &t, &err), DEVLOG_ERR_STATE);
    assert_string_equal(err.text, "enough");
    assert_int_equal(w.runs, 3);
    end(&w);
}

static devlog_status nothing(void *context, devlog_error *err)
{
    (void)err;
    ++*(uint32_t *)context;
    return DEVLOG_OK;
}

static void without_a_device(void **state)
{
    (void)state;
    devlog_error err = {0};
    devlog_timing t;
    uint32_t runs = 0;
    check_ok(devlog_timed(NULL, nothing, &runs, NULL, &t, &err), &err);
    assert_true(runs == 6 && t.repeats == 5 && t.warm_up == 1);
    assert_int_equal(t.of[DEVLOG_TIMED_WALL].n, 5);
    assert_int_equal(t.of[DEVLOG_TIMED_COMPILE].n, 0);
    assert_int_equal(t.of[DEVLOG_TIMED_L1].n, 0);
    devlog_timed_options o = DEVLOG_TIMED_OPTIONS(.repeats = 2000000);
    assert_int_equal(devlog_timed(NULL, nothing, &runs, &o, &t, &err), DEVLOG_ERR_ARGUMENT);
    o = (devlog_timed_options){.repeats = 1};
    assert_int_equal(devlog_timed(NULL, nothing, &runs, &o, &t, &err),
                     DEVLOG_ERR_ARGUMENT); /* without its size */
    assert_int_equal(runs, 6);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(all_of_it), cmocka_unit_test(what_is_not_known),
                                       cmocka_unit_test(without_a_device)};
    return cmocka_run_group_tests(tests, comma_set_up, NULL);
}
