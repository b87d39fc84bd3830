/* The chip's clock against the host's over USB, where a read takes as long as a packet: every sample holds
 * the truth, the fit holds it within its own bound, and slow reads do not slow launches down. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "profiler/clock_sync.h"
#include "support/device.h"
#include "usb/rig.h"

static devlog_program *program_on(devlog_device *d)
{
    devlog_error err = {0};
    devlog_program *p;
    check_ok(devlog_program_create(d, &p, &err), &err);
    devlog_kernel *k = add_kernel(p, "tests/sim/kernels/events.c", "BRISC", (devlog_cores){0, 0, 0, 0}, NULL);
    const uint32_t rounds = 3;
    check_ok(devlog_kernel_set_args(k, (devlog_core){0, 0}, &rounds, 1, &err), &err);
    prepare(d, p);
    return p;
}

static void check_samples(const dl_clocks *c, const model *m)
{
    assert_true(c->n_samples >= 10);
    for (size_t i = 0; i < c->n_samples; i++) {
        const dl_clock_sample *s = &c->samples[i];
        double lo = model_clock_at(m, s->before) - 2, hi = model_clock_at(m, s->after) + 2;
        if ((double)s->cycles < lo || (double)s->cycles > hi)
            fail_msg("sample %zu: %llu cycles are not between %.0f and %.0f", i,
                     (unsigned long long)s->cycles, lo, hi);
    }
}

static void check_fit(const dl_clocks *c, const model *m, double mhz)
{
    dl_clock_fit fit;
    devlog_error err = {0};
    check_ok(dl_clock_fit_make(&fit, c->samples, c->n_samples, DL_CLOCK_QUIET, DL_CLOCK_STEERED, &err), &err);
    const dl_clock_sample *first = &c->samples[0], *last = &c->samples[c->n_samples - 1];
    double worst = 0;
    for (int i = 0; i <= 20; i++) {
        uint64_t cycles = first->cycles + (last->cycles - first->cycles) / 20 * (uint64_t)i;
        double ticks, error;
        dl_clock_fit_at(&fit, cycles, &ticks, &error);
        double off = fabs(model_clock_at(m, fit.ticks) + ticks * mhz * 1e-3 - (double)cycles) / mhz * 1e3;
        if (off > error + 20) fail_msg("%.0f ns off, the bound is %.0f ns", off, error);
        worst = fmax(worst, off);
    }
    printf("round trip %.0f us, at most %.1f us off\n", (double)c->round_trip_ns * 1e-3, worst * 1e-3);
    dl_clock_fit_free(&fit);
}

static void samples_and_fit(uint32_t answer_us, int launches)
{
    model_options o = rig_options("usb_tile");
    o.real_time = true;
    rig r;
    rig_plug(&r, "usb_tile", &o);
    devlog_device *d;
    devlog_error err = {0};
    const devlog_device_options options =
        DEVLOG_DEVICE_OPTIONS(.board = "usb_tile", .transport = "usb", .profile = DEVLOG_ON,
                              .log_folder = test_folder());
    check_ok(devlog_device_open(&options, &d, &err), &err);
    devlog_program *p = program_on(d);
    model_bus_lock(r.bus);
    model_delay(r.m, answer_us);
    model_bus_unlock(r.bus);
    size_t before = d->clocks ? d->clocks->n_samples : 0;
    for (int i = 0; i < launches; i++)
        check_ok(devlog_launch_program(d, p, &err), &err);
    /* Slow reads: at most one burst a second. */
    if (answer_us >= 1000) assert_true(d->clocks->n_samples - before <= 16);
    devlog_program_free(p);
    check_ok(clocks_close(d, &err), &err);
    check_samples(d->clocks, r.m);
    check_fit(d->clocks, r.m, d->board.mhz);
    check_ok(devlog_device_close(d, &err), &err);
    rig_close(&r);
}

static void quick_probe(void **state)
{
    (void)state;
    samples_and_fit(0, 3);
}

static void slow_probe(void **state)
{
    (void)state;
    samples_and_fit(2000, 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(quick_probe), cmocka_unit_test(slow_probe)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
