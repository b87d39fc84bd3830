/* How far apart two clocks of hosts are (ranks/pins.h), against a truth that the test makes up: clocks that lie anywhere, run apart and are
 * steered, ways that take longer there than back, few exchanges and many. The error never exceeds the stated bound, and the bound is
 * not larger than it has to be. */
#include "support/cmocka_all.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "ranks/pins.h"
#include "support/random.h"

enum { CASES = 20000, PIECES = 12, MOST = 40 };

static uint64_t seed;

/* By how much the other clock is ahead: a mean rate, and pieces that are steered away from it. The mean is that between the first exchange and the
 * last, as the assumption has it, so what is too much of the pieces goes to it. */
typedef struct truth {
    double ahead, rate, length;
    double steered[PIECES];
} truth;

static double ahead_at(const truth *t, double x)
{
    double sum = t->ahead + t->rate * x;
    for (int i = 0; i < PIECES; i++) {
        const double from = t->length * i / PIECES,
                     to = i + 1 < PIECES ? t->length * (i + 1) / PIECES : INFINITY;
        if (x > from) sum += t->steered[i] * (fmin(x, to) - from);
        if (i == 0 && x < 0) sum += t->steered[0] * x;
    }
    return sum;
}

/* The moment x of the one clock; the other's stamps have whole numbers, as clocks have. */
static void exchange(pins *p, const truth *t, double x, double there, double back)
{
    const double sent = floor(x), received = floor(x + there + ahead_at(t, x + there)),
                 hold = test_uniform(&seed, 0, 300),
                 answered = floor(x + there + hold + ahead_at(t, x + there + hold)),
                 arrived = floor(x + there + hold + back);
    const double slack = 1 + PINS_FAST * (arrived - sent);
    assert_true(
        pins_add(p, (pin){(sent + arrived) / 2, answered - arrived - slack, received - sent + slack}));
}

static void the_bound_holds(void **state)
{
    (void)state;
    double widest = 0, sum = 0, sum_of_ways = 0;
    for (uint64_t c = 0; c < CASES; c++) {
        seed = c * 7919;
        truth t = {.ahead = test_uniform(&seed, -1e15, 1e15),
                   .rate = test_uniform(&seed, -200e-6, 200e-6),
                   .length = test_log_uniform(&seed, 1e6, 1e12)};
        const double most = test_uniform(&seed, 0, 1) < 0.3 ? 0 : PINS_STEERED / 2;
        double mean = 0;
        for (int i = 0; i < PIECES; i++)
            mean += (t.steered[i] = test_uniform(&seed, -most, most)) / PIECES;
        for (int i = 0; i < PIECES; i++)
            t.steered[i] -= mean;
        pins p = {0};
        const int times = 1 + (int)(test_random(&seed) % 5);
        double shortest = INFINITY;
        for (int k = 0; k < times; k++) {
            const double x = times > 1 ? t.length * k / (times - 1) : t.length / 2;
            for (int i = 0; i < 10; i++) {
                const double there = test_log_uniform(&seed, 200, 1e6),
                             back = there * test_log_uniform(&seed, 0.02, 50);
                exchange(&p, &t, x + 2e6 * i, there, back);
                shortest = fmin(shortest, there + back);
            }
        }
        assert_true(pins_make(&p));
        for (int i = 0; i < 40; i++) {
            const double x = test_uniform(&seed, -0.3, 1.3) * t.length;
            double ahead, error;
            pins_at(&p, x, &ahead, &error);
            const double off = fabs(ahead - ahead_at(&t, x));
            /* Numbers of 1e15 have eighths. */
            if (off > error + 0.5)
                fail_msg("case %" PRIu64
                         ", %d times: at %.0f of %.0f it is %.1f, not %.1f: %.1f off, %.1f stated",
                         c, times, x, t.length, ahead, ahead_at(&t, x), off, error);
        }
        if (times > 1) { /* at an exchange: half of the best way of that time, at most */
            double ahead, error;
            pins_at(&p, p.items[0].x, &ahead, &error);
            sum += error;
            sum_of_ways += shortest / 2;
            widest = fmax(widest, error);
        }
        pins_free(&p);
    }
    /* Not larger than has to be: at the first time half of the way of the shortest of ten, on average three times the shortest of all. */
    assert_true(sum < 4 * sum_of_ways);
    assert_true(widest < 1e6);
}

static void what_it_does_not_know_it_does_not_state(void **state)
{
    (void)state;
    double ahead, error;
    pins one = {0};
    assert_false(pins_make(&one));
    assert_true(pins_add(&one, (pin){1000, 40, 60}));
    assert_true(pins_make(&one));
    pins_at(&one, 1000, &ahead, &error);
    assert_true(ahead == 50 && error == 10);
    pins_at(&one, 1000 + 1e9, &ahead, &error); /* a second away anything to 500 ppm may have happened */
    assert_true(fabs(ahead - 50) < 1e-6 && fabs(error - (10 + 500e3)) < 1e-3);
    pins_free(&one);
    /* Between two times as much as 10 ppm make of half of it. */
    pins two = {0};
    assert_true(pins_add(&two, (pin){0, -1, 1}) && pins_add(&two, (pin){2e9, 1e5 - 1, 1e5 + 1}));
    assert_true(pins_make(&two));
    pins_at(&two, 1e9, &ahead, &error);
    assert_true(fabs(ahead - 5e4) < 1 && fabs(error - 1e4) < 10);
    pins_free(&two);
}

static void clocks_that_are_set_are_told(void **state)
{
    (void)state;
    pins p = {0};
    for (int i = 0; i < 20; i++)
        assert_true(pins_add(&p, (pin){i * 1e8, (i >= 11) * 5e6 - 100, (i >= 11) * 5e6 + 100}));
    assert_false(pins_make(&p)); /* by 5 ms within 100 ms */
    pins_free(&p);
    /* Steered by more than is assumed: what shows is taken, twice. */
    double ahead, error;
    for (int i = 0; i < 20; i++)
        assert_true(pins_add(&p, (pin){i * 1e8, (i >= 11) * 100e-6 * (i - 10) * 1e8 - 100,
                                       (i >= 11) * 100e-6 * (i - 10) * 1e8 + 100}));
    assert_true(pins_make(&p));
    assert_true(p.steered > 100e-6 && p.steered < 400e-6);
    pins_at(&p, 10.4e8, &ahead, &error);
    assert_true(fabs(ahead - 100e-6 * 0.4e8) <= error);
    pins_free(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_bound_holds),
        cmocka_unit_test(what_it_does_not_know_it_does_not_state),
        cmocka_unit_test(clocks_that_are_set_are_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
