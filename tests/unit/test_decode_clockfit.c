/* Clock fit against a truth that the test makes up: the error never exceeds the stated bound. */
#include "support/cmocka_all.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "decode/clock/clock_findings.h"
#include "decode/clock/clockfit.h"
#include "support/random.h"

enum { MAX_PIECES = 512, MAX_BURSTS = 64, MAX_READS = 16 };

static uint64_t seed;

/* A counter: its value at a time is the start plus the cycles of every piece up to there. */
typedef struct truth {
    uint64_t start; /* cycles at time 0 */
    uint32_t n;
    long double from[MAX_PIECES]; /* ns */
    long double mhz[MAX_PIECES];
} truth;

static long double cycles_at(const truth *t, long double ns)
{
    long double cycles = 0;
    for (uint32_t i = 0; i < t->n; i++) {
        long double end = i + 1 < t->n && t->from[i + 1] < ns ? t->from[i + 1] : ns;
        if (end > t->from[i]) cycles += (end - t->from[i]) * t->mhz[i] / 1000;
    }
    return cycles;
}

static long double ns_of(const truth *t, long double cycles)
{
    for (uint32_t i = 0;; i++) {
        long double piece = i + 1 < t->n ? (t->from[i + 1] - t->from[i]) * t->mhz[i] / 1000 : INFINITY;
        if (cycles <= piece) return t->from[i] + cycles * 1000 / t->mhz[i];
        cycles -= piece;
    }
}

typedef struct world {
    truth t;
    uint64_t epoch; /* the reference clock at time 0 */
    uint32_t n_bursts;
    long double at[MAX_BURSTS]; /* ns */
    double request, answer, jitter, quiet;
    size_t n;
    dl_clock_sample samples[MAX_BURSTS * MAX_READS];
    double best;       /* of all round trips, by the host's clock */
    double worst_best; /* the best of each burst; the worst of these */
} world;

static void sample(world *w)
{
    w->n = 0;
    w->best = INFINITY;
    w->worst_best = 0;
    uint32_t reads = 3 + (uint32_t)(test_random(&seed) % (MAX_READS - 2));
    for (uint32_t b = 0; b < w->n_bursts; b++) {
        long double now = w->at[b];
        double best = INFINITY;
        for (uint32_t r = 0; r < reads; r++) {
            /* Now and then the host is interrupted. */
            double slow = test_random(&seed) % 16 ? 1 : 20;
            long double before = now, moment = before + w->request + test_uniform(&seed, 0, w->jitter) * slow;
            now = moment + w->answer + test_uniform(&seed, 0, w->jitter) * slow;
            w->samples[w->n++] = (dl_clock_sample){.before = w->epoch + (uint64_t)before,
                                                   .after = w->epoch + (uint64_t)now,
                                                   .cycles = w->t.start + (uint64_t)cycles_at(&w->t, moment),
                                                   .burst = b};
            best = fmin(best, (double)(w->samples[w->n - 1].after - w->samples[w->n - 1].before));
            now += test_uniform(&seed, 10, 100);
        }
        w->best = fmin(w->best, best);
        w->worst_best = fmax(w->worst_best, best);
    }
}

static void make_world(world *w, uint32_t changes)
{
    w->t.start = test_random(&seed) >> (20 + test_random(&seed) % 20);
    w->t.n = 1;
    w->t.from[0] = 0;
    w->t.mhz[0] = test_uniform(&seed, 100, 2000) * (1 + test_uniform(&seed, -200e-6, 200e-6));
    w->epoch = test_random(&seed) >> 10;
    w->request = test_log_uniform(&seed, 50, 5e4);
    w->answer = w->request * test_uniform(&seed, 0.2, 5);
    w->jitter = test_random(&seed) % 4 ? w->request * test_uniform(&seed, 0, 2) : 0;
    /* Bursts must not overlap. */
    double least = 40 * MAX_READS * (w->request + w->answer + w->jitter);
    double length = least + test_log_uniform(&seed, 2e4, 1e8);
    w->n_bursts = 11 + (uint32_t)(test_random(&seed) % (MAX_BURSTS - 10));
    long double at = test_uniform(&seed, 0, 1e6);
    for (uint32_t b = 0; b < w->n_bursts; b++) {
        w->at[b] = at;
        at += least + length * test_uniform(&seed, 0.2, 1);
    }
    /* Changes of frequency: ten intervals apart and twice the quiet time, not in the first and last four. */
    w->quiet = test_random(&seed) % 2 ? 0 : test_log_uniform(&seed, 1e5, 1e8);
    uint32_t slot = 5 + (uint32_t)(test_random(&seed) % 6);
    for (uint32_t i = 0; i < changes && slot + 5 < w->n_bursts; i++, slot += 10) {
        while (slot + 5 < w->n_bursts && w->t.n > 1 && w->at[slot] - w->t.from[w->t.n - 1] < 2.2 * w->quiet)
            slot++;
        if (slot + 5 >= w->n_bursts) break;
        uint32_t n = w->t.n++;
        w->t.from[n] = w->at[slot] + (w->at[slot + 1] - w->at[slot]) * test_uniform(&seed, 0, 1);
        double factor =
            test_random(&seed) % 2 ? test_uniform(&seed, 0.4, 2.2) : 1 + test_uniform(&seed, -300e-6, 300e-6);
        w->t.mhz[n] = w->t.mhz[n - 1] * factor;
    }
    sample(w);
}

/* The largest error, as a part of the bound. Compared at random cycles and at the knots' sides. */
static double check(const world *w, const dl_clock_fit *fit)
{
    double worst = 0;
    uint64_t first = w->samples[0].cycles, last = w->samples[w->n - 1].cycles;
    uint64_t span = last - first;
    for (uint32_t i = 0; i < 300; i++) {
        uint64_t cycles = first + test_random(&seed) % span;
        if (i < w->t.n && i > 0) cycles = w->t.start + (uint64_t)cycles_at(&w->t, w->t.from[i]);
        double ticks, error;
        dl_clock_fit_at(fit, cycles, &ticks, &error);
        long double real =
            ns_of(&w->t, (long double)(cycles - w->t.start)) + (long double)(int64_t)(w->epoch - fit->ticks);
        double off = (double)fabsl(real - ticks);
        if (off > error) {
            print_error("at cycle %" PRIu64 " of %" PRIu64 ": off by %.3f, bound %.3f\n", cycles - first,
                        span, off, error);
        }
        assert_true(off <= error);
        worst = fmax(worst, off / error);
    }
    return worst;
}

static void errors_stay_within_the_bound(void **state)
{
    (void)state;
    double worst = 0, widest = 0;
    uint32_t found = 0, made = 0;
    world *w = malloc(sizeof *w);
    const uint32_t cases = test_cases(12000); /* by hand: a million */
    for (uint32_t i = 0; i < cases; i++) {
        seed = i;
        uint32_t changes = i % 4;
        make_world(w, changes);
        dl_clock_fit fit;
        devlog_error err = {0};
        assert_int_equal(dl_clock_fit_make(&fit, w->samples, w->n, w->quiet, 0, &err), DEVLOG_OK);
        assert_int_equal(fit.n_knots, w->n_bursts);
        assert_true(fit.best_round_trip == w->best);
        worst = fmax(worst, check(w, &fit));
        if (changes == 0) {
            /* In the middle of the run, where four intervals on each side tell the slope: half the round
             * trip, a tick, a period; and what the clock may have drifted in the interval without leaving
             * the room that the bursts around it have, which is `drift` of the half, and some for jitter. */
            double half = w->worst_best / 2 + 1 + 1000 / (double)w->t.mhz[0];
            for (uint32_t k = 4; k + 5 < fit.n_knots; k++) {
                const dl_clock_knot *here = &fit.knots[k];
                double bound = fmax(here[0].half, here[1].half) + here[0].deviation;
                double interval = here[1].cycles - here[0].cycles;
                double drift = interval / (here[0].cycles - here[-4].cycles) / 2 +
                               interval / (here[5].cycles - here[1].cycles) / 2;
                widest = fmax(widest, bound / (half * (1 + drift)));
                assert_true(bound <= half * (1 + 1.1 * drift));
            }
            assert_int_equal(fit.n_changes, 0);
        }
        made += w->t.n - 1;
        found += fit.n_changes;
        dl_clock_fit_free(&fit);
    }
    free(w);
    printf("%u cases: largest error %.3f of its bound; bound at most %.3f of half a round trip and drift; "
           "%u of %u changes seen\n",
           cases, worst, widest, found, made);
    assert_true(found > made / 3);
}

/* A host whose clock is steered (NTP): it may run anew each second, some ppm off its mean, while bursts are milliseconds to seconds apart. Where
 * they are seconds apart that is not told as changes of the chip's frequency. */
static void a_host_clock_that_is_steered(void **state)
{
    (void)state;
    enum { SECOND = 1000000000 };
    double worst = 0;
    uint32_t far = 0;
    world *w = malloc(sizeof *w);
    const uint32_t cases = test_cases(6000);
    for (uint32_t i = 0; i < cases; i++) {
        seed = 7000000 + i;
        memset(w, 0, sizeof *w);
        w->request = test_log_uniform(&seed, 50, 5e4);
        w->answer = w->request * test_uniform(&seed, 0.2, 5);
        w->jitter = test_random(&seed) % 4 ? w->request * test_uniform(&seed, 0, 2) : 0;
        w->quiet = DL_CLOCK_QUIET;
        w->epoch = test_random(&seed) >> 10;
        const double least = 40 * MAX_READS * (w->request + w->answer + w->jitter);
        const double length = least + test_log_uniform(&seed, 2e6, 4e9);
        w->n_bursts = 11 + (uint32_t)(test_random(&seed) % (MAX_BURSTS - 10));
        long double at = test_uniform(&seed, 0, 1e6);
        for (uint32_t b = 0; b < w->n_bursts; b++, at += least + length * test_uniform(&seed, 0.2, 1))
            w->at[b] = at;
        /* It is steered by up to 10 ppm off its mean, wherever it likes; where bursts are close together at whole seconds. */
        const double mhz = test_uniform(&seed, 100, 2000), most = test_uniform(&seed, 0, 10e-6);
        const bool extreme = i % 2;
        long double from = 0;
        const uint32_t last = w->n_bursts - 1;
        const bool head = w->at[9] - w->at[0] >= DL_CLOCK_STEERS,
                   tail = w->at[last] - w->at[last - 9] >= DL_CLOCK_STEERS;
        for (uint32_t k = 0; w->t.n < MAX_PIECES && from < at; k++) {
            const double off = extreme ? (k % 2 ? most : -most) : test_uniform(&seed, -most, most);
            /* Where bursts are close together it does not run anew at the ends. */
            if (!k || ((head || from > w->at[5]) && (tail || from < w->at[last - 5]))) {
                w->t.from[w->t.n] = from;
                w->t.mhz[w->t.n++] = mhz * (1 + off);
            }
            from += SECOND * (test_random(&seed) % 3 ? 1 : test_uniform(&seed, 1, 4));
        }
        sample(w);
        dl_clock_fit fit;
        devlog_error err = {0};
        assert_int_equal(dl_clock_fit_make(&fit, w->samples, w->n, w->quiet, DL_CLOCK_STEERED, &err),
                         DEVLOG_OK);
        worst = fmax(worst, check(w, &fit));
        bool apart = true;
        for (uint32_t b = 0; b + 9 < w->n_bursts; b++)
            apart &= w->at[b + 9] - w->at[b] >= 1.1 * DL_CLOCK_STEERS;
        far += apart;
        if (apart) assert_int_equal(fit.n_changes, 0);
        dl_clock_fit_free(&fit);
    }
    free(w);
    assert_true(far > cases / 10);
    printf("%u cases of a clock that is steered: largest error %.3f of its bound\n", cases, worst);
}

/* Samples of a counter that runs at 1 cycle per ns, 100 ns round trip, one per burst, 1 ms apart. */
static size_t plain(dl_clock_sample *s, size_t n)
{
    for (size_t i = 0; i < n; i++)
        s[i] = (dl_clock_sample){1000000 * i, 1000000 * i + 100, 5000 + 1000000 * i + 50, (uint32_t)i};
    return n;
}

static void refused(const dl_clock_sample *s, size_t n, devlog_status status, const char *text)
{
    dl_clock_fit fit;
    devlog_error err = {0};
    assert_int_equal(dl_clock_fit_make(&fit, s, n, 0, DL_CLOCK_STEERED, &err), status);
    if (!strstr(err.text, text)) print_error("%s\n", err.text);
    assert_non_null(strstr(err.text, text));
    assert_null(fit.knots);
}

static void too_few_samples(void **state)
{
    (void)state;
    dl_clock_sample s[4];
    plain(s, 4);
    refused(s, 0, DEVLOG_ERR_NOT_FOUND, "0 clock samples");
    refused(s, 1, DEVLOG_ERR_NOT_FOUND, "1 clock samples");
    for (int i = 0; i < 4; i++)
        s[i].burst = 7;
    refused(s, 4, DEVLOG_ERR_NOT_FOUND, "sampled once");
}

static void counters_that_do_not_count(void **state)
{
    (void)state;
    dl_clock_sample s[8];
    plain(s, 8);
    s[5].cycles = s[4].cycles;
    refused(s, 8, DEVLOG_ERR_FORMAT, "sample 5: the chip's counter stands still");
    plain(s, 8);
    s[6].cycles = 12;
    refused(s, 8, DEVLOG_ERR_FORMAT, "sample 6: the chip's counter ran backwards");
    /* Another boot of the host: its clock starts again. */
    plain(s, 8);
    s[4].before = 7;
    s[4].after = 9;
    refused(s, 8, DEVLOG_ERR_FORMAT, "sample 4: the reference clock ran backwards");
    /* One reading whose end is before its beginning does not count. */
    plain(s, 8);
    s[3].after = s[3].before - 1;
    dl_clock_fit fit;
    devlog_error err = {0};
    assert_int_equal(dl_clock_fit_make(&fit, s, 8, 0, DL_CLOCK_STEERED, &err), DEVLOG_OK);
    assert_int_equal(fit.n_ignored, 1);
    assert_int_equal(fit.n_knots, 7);
    dl_clock_fit_free(&fit);
}

/* A counter that jumps ahead is no change of frequency: in that interval only the order is known. */
static void a_counter_that_jumps(void **state)
{
    (void)state;
    dl_clock_sample s[20];
    plain(s, 20);
    for (int i = 10; i < 20; i++)
        s[i].cycles += 700000000;
    dl_clock_fit fit;
    devlog_error err = {0};
    double ticks, error;
    assert_int_equal(dl_clock_fit_make(&fit, s, 20, 0, DL_CLOCK_STEERED, &err), DEVLOG_OK);
    assert_true(dl_clock_fit_at(&fit, s[9].cycles + 1000, &ticks, &error));
    assert_true(error > 900000);
    for (int i = 1; i < 17; i++) {
        if (i == 9) continue;
        assert_true(dl_clock_fit_at(&fit, s[i].cycles + 1000, &ticks, &error));
        assert_true(error < 250);
        assert_true(fabs(ticks - (1000000 * i + 50 + 1000)) < error);
    }
    assert_false(dl_clock_fit_at(&fit, s[0].cycles - 1000000, &ticks, &error));
    assert_true(error > 50 && error < 250);
    assert_false(dl_clock_fit_at(&fit, s[19].cycles + 100000000, &ticks, &error));
    assert_true(error > 1000);
    dl_clock_fit_free(&fit);
}

/* A burst in which the host was interrupted at every read does not loosen the bound: its neighbours help. */
static void a_slow_burst_among_quick_ones(void **state)
{
    (void)state;
    dl_clock_sample s[20];
    plain(s, 20);
    s[9].before -= 40000;
    s[9].after += 90000;
    dl_clock_fit fit;
    devlog_error err = {0};
    assert_int_equal(dl_clock_fit_make(&fit, s, 20, 0, DL_CLOCK_STEERED, &err), DEVLOG_OK);
    assert_true(fit.residual < 100);
    double ticks, error;
    assert_true(dl_clock_fit_at(&fit, s[9].cycles, &ticks, &error));
    assert_true(fabs(ticks - 9000050) <= error);
    dl_clock_fit_free(&fit);
}

/* A chip that slows to half its clock: said, with both frequencies and where. */
static void a_chip_that_slows_down(void **state)
{
    (void)state;
    dl_clock_sample s[20];
    plain(s, 20);
    for (uint64_t i = 10; i < 20; i++)
        s[i].cycles = 5000 + 9400000 + 50 + (i * 1000000 - 9400000) / 2;
    dl_clock_fit fit;
    devlog_error err = {0};
    assert_int_equal(dl_clock_fit_make(&fit, s, 20, 0, DL_CLOCK_STEERED, &err), DEVLOG_OK);
    assert_int_equal(fit.n_changes, 1);
    assert_int_equal(fit.changes[0].knot, 9);
    assert_true(fabs(fit.changes[0].before - 1) < 1e-3);
    assert_true(fabs(fit.changes[0].after - 0.5) < 1e-3);
    double ticks, error;
    assert_true(dl_clock_fit_at(&fit, 5000 + 9400000 + 50, &ticks, &error));
    assert_true(fabs(ticks - 9400000 - 50) <= error);
    dl_clock_fit_free(&fit);
}

/* Where host time is the chip's, nanoseconds are of the measured clock, and 1 % off is a finding. On ttsim and QEMU the rate is that
 * of the host which simulates: it is not used, and nothing is found. */
static void whose_rate_is_used(void **state)
{
    (void)state;
    static const struct {
        const char *transport;
        bool used;
    } cases[] = {{"kmd", true}, {"usb", true}, {"sim", true}, {"ttsim", false}, {"qemu", false}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        dl_clock_sample s[20];
        dl_chip_clocks c = {0};
        dl_losses l = {0};
        devlog_error err = {0};
        plain(s, 20);
        const dl_clock_samples samples = {.peer = DL_CLOCK_HOST, .items = s, .n = 20};
        /* Of plain() the counter runs at 1 GHz; the board file says half of it. */
        assert_int_equal(dl_chip_clocks_chip(&c, 0, 500000, true, "boot", &err), DEVLOG_OK);
        dl_chip_clocks_reached(&c, 0, cases[i].transport, 0);
        assert_int_equal(dl_chip_clocks_samples(&c, &samples, &err), DEVLOG_OK);
        assert_int_equal(dl_chip_clocks_make(&c, &err), DEVLOG_OK);
        const dl_chip_clock *chip = dl_chip_clocks_of(&c, 0);
        assert_true(chip->fitted);
        const uint64_t khz = dl_chip_clock_khz(chip);
        if (cases[i].used)
            assert_in_range(khz, 999000, 1001000);
        else
            assert_int_equal(khz, 500000);
        dl_clock_findings(chip, &l);
        assert_int_equal(l.found[DL_FOUND_CLOCK], cases[i].used);
        dl_losses_free(&l);
        dl_chip_clocks_free(&c);
    }
}

/* A chip that another one cannot be aligned with: why. */
static void whose_boot_is_another(void **state)
{
    (void)state;
    static const struct {
        const char *boots[2], *why;
    } cases[] = {
        {{"a", "a"}, ""},
        {{"a", "b"}, "it is of another boot than chip 0"},
        {{"sim-1", "sim-2"}, "it is of another boot than chip 0"},
        {{"sim-1", "b"}, "chip 0 is simulated, in a time of its own"},
        {{"a", "sim-2"}, "it is simulated, in a time of its own"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        dl_chip_clocks c = {0};
        devlog_error err = {0};
        for (uint32_t chip = 0; chip < 2; chip++) {
            dl_clock_sample s[20];
            plain(s, 20);
            const dl_clock_samples samples = {.slot = chip, .peer = DL_CLOCK_HOST, .items = s, .n = 20};
            assert_int_equal(dl_chip_clocks_chip(&c, chip, 1000000, true, cases[i].boots[chip], &err),
                             DEVLOG_OK);
            assert_int_equal(dl_chip_clocks_samples(&c, &samples, &err), DEVLOG_OK);
        }
        assert_int_equal(dl_chip_clocks_make(&c, &err), DEVLOG_OK);
        assert_true(dl_chip_clocks_of(&c, 0)->fitted);
        assert_int_equal(dl_chip_clocks_of(&c, 1)->fitted, cases[i].why[0] == 0);
        assert_string_equal(dl_chip_clocks_of(&c, 1)->why, cases[i].why);
        dl_chip_clocks_free(&c);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(errors_stay_within_the_bound),
        cmocka_unit_test(a_host_clock_that_is_steered),
        cmocka_unit_test(too_few_samples),
        cmocka_unit_test(counters_that_do_not_count),
        cmocka_unit_test(a_counter_that_jumps),
        cmocka_unit_test(a_slow_burst_among_quick_ones),
        cmocka_unit_test(a_chip_that_slows_down),
        cmocka_unit_test(whose_rate_is_used),
        cmocka_unit_test(whose_boot_is_another),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
