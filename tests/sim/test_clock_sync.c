/* Clock synchronisation on simulated chips whose true clocks are known: the host's clock, the cores of a
 * chip, two linked chips. */
#include <inttypes.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "profiler/clock_sync.h"
#include "support/comma.h"
#include "support/device.h"

static devlog_program *program_on(devlog_device *d, devlog_cores cores)
{
    devlog_error err = {0};
    devlog_program *p;
    check_ok(devlog_program_create(d, &p, &err), &err);
    devlog_kernel *k = add_kernel(p, "tests/sim/kernels/events.c", "NCRISC", cores, NULL);
    const uint32_t rounds = 5;
    for (uint32_t y = cores.y0; y <= cores.y1; y++)
        for (uint32_t x = cores.x0; x <= cores.x1; x++)
            check_ok(devlog_kernel_set_args(k, (devlog_core){x, y}, &rounds, 1, &err), &err);
    prepare(d, p);
    return p;
}

static void launch_times(devlog_device *d, devlog_program *p, int n, uint32_t gap)
{
    devlog_error err = {0};
    for (int i = 0; i < n; i++) {
        check_ok(devlog_launch_program(d, p, &err), &err);
        check_ok(dl_device_advance(d, gap, &err), &err);
    }
}

static void finish(devlog_device *d, devlog_program *p)
{
    devlog_error err = {0};
    devlog_program_free(p);
    check_ok(devlog_device_close(d, &err), &err);
}

/* ---- Cores ---- */

/* How far the counter of a core is ahead of that of the reference. */
static int64_t true_offset(const devlog_device *d, devlog_core core)
{
    const sim_config *c = d->sim;
    uint32_t columns = d->board.n_columns;
    return (int64_t)(c->tiles[core.y * columns + core.x].clock_offset -
                     c->tiles[d->clocks->reference.y * columns + d->clocks->reference.x].clock_offset);
}

static double check_offsets(const devlog_device *d, size_t n)
{
    const dl_clocks *c = d->clocks;
    double widest = 0;
    assert_int_equal(c->n_offsets, n);
    for (size_t i = 0; i < c->n_offsets; i++) {
        const dl_core_offset *o = &c->offsets[i];
        int64_t real = true_offset(d, o->core);
        if (real < o->lo || real > o->hi)
            fail_msg("core (%u,%u): %" PRId64 " is not in %" PRId64 " to %" PRId64, o->core.x, o->core.y,
                     real, o->lo, o->hi);
        assert_false(o->moved);
        widest = fmax(widest, (double)(o->hi - o->lo) / 2);
    }
    return widest;
}

static void offsets_of_all_cores(void **state)
{
    (void)state;
    static const char *const boards[] = {"wormhole_b0", "blackhole", "grayskull"};
    for (size_t i = 0; i < 3; i++) {
        devlog_device *d = open_device(boards[i], "offsets=7");
        devlog_core grid = devlog_device_grid(d);
        devlog_cores all = {0, 0, grid.x - 1, grid.y - 1};
        devlog_program *p = program_on(d, all);
        launch_times(d, p, 1, 0);
        double widest = check_offsets(d, (size_t)grid.x * grid.y - 1);
        printf("%s: offsets of %u cores, at most %.0f cycles off; %" PRIu64 " bytes\n", boards[i],
               grid.x * grid.y, widest, d->clocks->bytes);
        assert_true(widest < 600);
        finish(d, p);
    }
}

/* A board without a NoC: the host reads the counters in turn, and its round trips tell how well. */
static void offsets_through_the_host(void **state)
{
    (void)state;
    devlog_device *d = open_device("wormhole_b0", "offsets=9,latency=900,jitter=300,seed=3");
    d->board.noc_regs[0] = 0;
    devlog_program *p = program_on(d, (devlog_cores){1, 2, 3, 4});
    double widest = check_offsets(d, 8);
    assert_true(widest > 400 && widest < 2500);
    finish(d, p);
}

/* A board file may claim that counters start together. */
static void counters_that_start_together_are_checked(void **state)
{
    (void)state;
    devlog_device *d = open_device("wormhole_b0", NULL);
    devlog_program *p = program_on(d, (devlog_cores){0, 0, 2, 0});
    check_offsets(d, 2);
    for (size_t i = 0; i < 2; i++)
        assert_true(d->clocks->offsets[i].lo <= 0 && d->clocks->offsets[i].hi >= 0);
    finish(d, p);
}

/* ---- The host ---- */

static uint64_t period_fs(double mhz)
{
    return (uint64_t)(1e9 / mhz + 0.5);
}

typedef struct host_case {
    const char *options;
    double mhz, ppm; /* truth */
    uint64_t change; /* at this cycle.. */
    double to;       /* ..to this frequency; 0: none */
} host_case;

static double true_ns(const host_case *c, uint64_t cycles)
{
    uint64_t before = c->to && cycles > c->change ? c->change : cycles;
    double fs = (double)before * (double)period_fs(c->mhz * (1 + c->ppm * 1e-6));
    if (c->to) fs += (double)(cycles - before) * (double)period_fs(c->to);
    return 1e9 + fs / 1e6;
}

/* Counter values between which the fit is no extrapolation. */
static void ends(const dl_clock_fit *fit, uint64_t *first, uint64_t *last)
{
    *first = fit->cycles + (uint64_t)fit->knots[0].cycles;
    *last = fit->cycles + (uint64_t)fit->knots[fit->n_knots - 1].cycles;
}

static void host_time(void **state)
{
    (void)state;
    static const host_case cases[] = {
        {"", 1000, 0, 0, 0},
        {"latency=1500,jitter=400,seed=5", 1000, 0, 0, 0},
        {"latency=1500,jitter=400,seed=6,ppm=137", 1000, 137, 0, 0},
        {"latency=1500,jitter=2000,seed=7,ppm=-200", 1000, -200, 0, 0},
        {"latency=200000,jitter=30000,seed=8,ppm=20,functional", 1000, 20, 0, 0},
        {"latency=1500,jitter=400,seed=9,change=900000,to=500", 1000, 0, 900000, 500},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const host_case *hc = &cases[i];
        devlog_error err = {0};
        devlog_device *d = open_device("wormhole_b0", hc->options);
        devlog_program *p = program_on(d, (devlog_cores){0, 0, 0, 0});
        launch_times(d, p, 16, 50000);
        check_ok(clocks_close(d, &err), &err);
        const dl_clocks *c = d->clocks;
        dl_clock_fit fit;
        check_ok(dl_clock_fit_make(&fit, c->samples, c->n_samples, DL_CLOCK_QUIET, DL_CLOCK_STEERED, &err),
                 &err);
        uint64_t first, last;
        ends(&fit, &first, &last);
        double worst = 0;
        for (int k = 0; k <= 2000; k++) {
            uint64_t cycles = first + (last - first) * (uint64_t)k / 2000;
            double ticks, error;
            assert_true(dl_clock_fit_at(&fit, cycles, &ticks, &error));
            double off = fabs(true_ns(hc, cycles) - (double)fit.ticks - ticks);
            if (off > error)
                fail_msg("'%s': cycle %" PRIu64 " is off by %.1f ns, bound %.1f", hc->options, cycles, off,
                         error);
            worst = fmax(worst, off);
        }
        printf("'%s': %u bursts, round trip %.0f ns, residual %.1f ns, largest error %.1f ns, %.6f MHz\n",
               hc->options, fit.n_knots, fit.best_round_trip, fit.residual, worst, fit.rate * 1000);
        if (hc->to) {
            assert_int_equal(fit.n_changes, 1);
            assert_true(fabs(fit.changes[0].after * 1000 - hc->to) < 1);
        } else {
            double span = fit.knots[fit.n_knots - 1].ticks - fit.knots[0].ticks;
            double off = fabs(fit.rate * 1000 / hc->mhz / (1 + hc->ppm * 1e-6) - 1);
            assert_true(off < 2 * fit.residual / span);
            assert_int_equal(fit.n_changes, 0);
        }
        dl_clock_fit_free(&fit);
        finish(d, p);
    }
}

/* A clock that is a register of the core: its manager is asked. */
static void host_time_by_messages(void **state)
{
    (void)state;
    devlog_error err = {0};
    const host_case hc = {.mhz = 1000};
    devlog_device *d = open_device("wormhole_b0", "latency=1500,jitter=400,seed=5");
    devlog_program *p = program_on(d, (devlog_cores){0, 0, 0, 0});
    d->board.clock_kind = BOARD_CLOCK_CSR;
    d->clocks->n_samples = 0;
    launch_times(d, p, 3, 1000);
    check_ok(clocks_close(d, &err), &err);
    assert_int_equal(d->clocks->n_samples, (3 + 5) * 8);
    dl_clock_fit fit;
    check_ok(dl_clock_fit_make(&fit, d->clocks->samples, d->clocks->n_samples, DL_CLOCK_QUIET,
                               DL_CLOCK_STEERED, &err),
             &err);
    uint64_t first, last;
    ends(&fit, &first, &last);
    for (uint64_t k = 0; k <= 1000; k++) {
        double ticks, error;
        uint64_t cycles = first + (last - first) * k / 1000;
        assert_true(dl_clock_fit_at(&fit, cycles, &ticks, &error));
        assert_true(fabs(true_ns(&hc, cycles) - (double)fit.ticks - ticks) <= error);
    }
    printf("by messages: round trip %.0f ns, residual %.1f ns\n", fit.best_round_trip, fit.residual);
    dl_clock_fit_free(&fit);
    d->board.clock_kind = BOARD_CLOCK_MMIO;
    finish(d, p);
}

static void switched_off(void **state)
{
    (void)state;
    setenv("DEVLOG_CLOCK_SYNC", "0", 1);
    devlog_device *d = open_device(NULL, NULL);
    unsetenv("DEVLOG_CLOCK_SYNC");
    devlog_program *p = program_on(d, (devlog_cores){0, 0, 1, 0});
    launch_times(d, p, 2, 0);
    assert_int_equal(d->clocks->n_samples + d->clocks->n_offsets, 0);
    finish(d, p);
}

/* ---- Two chips ---- */

static void two_linked_chips(void **state)
{
    (void)state;
    devlog_error err = {0};
    devlog_device *a =
        open_device("wormhole_b0", "offsets=21,ppm=60,link=700,latency=1200,jitter=500,seed=2");
    devlog_device *b = NULL;
    const devlog_device_options options =
        DEVLOG_DEVICE_OPTIONS(.board = "wormhole_b0", .transport = "sim",
                              .sim = "offsets=22,ppm=-110,link=700,latency=1200,jitter=500",
                              .profile = DEVLOG_ON, .log_folder = test_folder(), .slot = 1, .together = a);
    check_ok(devlog_device_open(&options, &b, &err), &err);
    devlog_program *pa = program_on(a, (devlog_cores){0, 0, 0, 0});
    devlog_program *pb = program_on(b, (devlog_cores){0, 0, 0, 0});
    for (int i = 0; i < 8; i++) {
        launch_times(a, pa, 1, 20000);
        launch_times(b, pb, 1, 20000);
    }
    check_ok(clocks_close(b, &err), &err);
    /* Both counters as times since the world began. */
    uint64_t fs_a = period_fs(1000 * (1 + 60e-6)), fs_b = period_fs(1000 * (1 - 110e-6));
    uint64_t start_a = a->sim->tiles[0].clock_offset, start_b = b->sim->tiles[0].clock_offset;
    /* The second was made later: its counter began when the first's showed so much. */
    double later = (double)sim_chip_clock(dl_transport_sim(&a->transport)) * (double)fs_a -
                   (double)sim_chip_clock(dl_transport_sim(&b->transport)) * (double)fs_b;
    const dl_clocks *c = b->clocks;
    assert_true(c->n_link_samples >= 14);
    assert_int_equal(c->link_to, 0);
    dl_clock_fit fit;
    check_ok(dl_clock_fit_make(&fit, c->link_samples, c->n_link_samples, DL_CLOCK_QUIET, 0, &err), &err);
    double worst = 0;
    uint64_t first, last;
    ends(&fit, &first, &last);
    for (uint64_t k = 0; k <= 1000; k++) {
        uint64_t cycles = first + (last - first) * k / 1000; /* of a */
        double ticks, error;                                 /* of b */
        assert_true(dl_clock_fit_at(&fit, cycles, &ticks, &error));
        double real = ((double)(cycles - start_a) * (double)fs_a - later) / (double)fs_b -
                      (double)(int64_t)(fit.ticks - start_b);
        worst = fmax(worst, fabs(real - ticks));
        assert_true(fabs(real - ticks) <= error + 1); /* `later` is known to one cycle */
    }
    printf("two chips: round trip %.0f cycles, residual %.0f, largest error %.0f, rate %.6f\n",
           fit.best_round_trip, fit.residual, worst, fit.rate);
    assert_true(fabs(fit.rate - (double)fs_b / (double)fs_a) <
                2 * fit.residual / (fit.knots[fit.n_knots - 1].ticks - fit.knots[0].ticks));
    dl_clock_fit_free(&fit);
    finish(a, pa);
    finish(b, pb); /* goes on alone */
}

static void only_simulated_devices_are_together(void **state)
{
    (void)state;
    devlog_error err = {0};
    devlog_device *a = open_device(NULL, NULL), *b = open_device(NULL, NULL), *c = NULL;
    devlog_device_options options =
        DEVLOG_DEVICE_OPTIONS(.transport = "sim", .log_folder = test_folder(), .together = a);
    check_ok(devlog_device_open(&options, &c, &err), &err);
    devlog_device *d = NULL;
    assert_int_equal(devlog_device_open(&options, &d, &err), DEVLOG_ERR_ARGUMENT);
    options.sim = "change=5";
    options.together = NULL;
    assert_int_equal(devlog_device_open(&options, &d, &err), DEVLOG_ERR_ARGUMENT);
    options.sim = "ppm=x";
    assert_int_equal(devlog_device_open(&options, &d, &err), DEVLOG_ERR_ARGUMENT);
    options.sim = "ppm=1e9";
    assert_int_equal(devlog_device_open(&options, &d, &err), DEVLOG_ERR_ARGUMENT);
    check_ok(devlog_device_close(a, &err), &err);
    check_ok(devlog_device_close(b, &err), &err);
    check_ok(devlog_device_close(c, &err), &err);
}

static void fractions_have_a_point_whatever_the_program_writes(void **state)
{
    (void)state;
    devlog_error err = {0};
    devlog_device *d;
    const devlog_device_options options =
        DEVLOG_DEVICE_OPTIONS(.transport = "sim", .sim = "ppm=1.5", .log_folder = test_folder());
    comma_locale();
    check_ok(devlog_device_open(&options, &d, &err), &err);
    check_ok(devlog_device_close(d, &err), &err);
    setlocale(LC_ALL, "C");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(offsets_of_all_cores),
        cmocka_unit_test(offsets_through_the_host),
        cmocka_unit_test(counters_that_start_together_are_checked),
        cmocka_unit_test(host_time),
        cmocka_unit_test(host_time_by_messages),
        cmocka_unit_test(switched_off),
        cmocka_unit_test(two_linked_chips),
        cmocka_unit_test(only_simulated_devices_are_together),
        cmocka_unit_test(fractions_have_a_point_whatever_the_program_writes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
