/* The diff's statistics against tables and by counting all cases; that noise raises no alarm and a slow-down is
 * found; and gates that are seen to shut. The command itself: test_cli_diff.c. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "answers/diff_print.h"
#include "base/grid.h"
#include "support/cmocka_all.h"
#include "support/device.h"
#include "support/random.h"

static uint64_t seed;

static double uniform(void) /* (0, 1) */
{
    seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return ((double)(seed >> 11) + 0.5) / 9007199254740992.0;
}

static bool near(double a, double b)
{
    return fabs(a - b) <= 1e-9 * (fabs(b) > 1e-3 ? fabs(b) : 1e-3);
}

/* ---- The tests --- */

static double u_of(const double *x, size_t n_x, const double *y, size_t n_y)
{
    rank_test t = {0};
    double p = rank_test_u(&t, x, n_x, y, n_y, NULL);
    rank_test_free(&t);
    return p;
}

/* Exact probabilities of the null distribution of U. Cases of tables: the critical values of Mann and Whitney's
 * own tables (n = 4: U = 0 has 1 of 70; n = 5: U <= 2 has 4 of 252; n = 8: U <= 13 has 321 of 12870). */
static void u_is_that_of_tables(void **state)
{
    (void)state;
    const double low4[] = {1, 2, 3, 4}, high4[] = {5, 6, 7, 8};
    assert_true(near(u_of(low4, 4, high4, 4), 2.0 / 70));
    assert_true(near(u_of(high4, 4, low4, 4), 2.0 / 70));
    /* x has ranks 1 2 3 4 7: U = 2 */
    const double x5[] = {1, 2, 3, 4, 7}, y5[] = {5, 6, 8, 9, 10};
    assert_true(near(u_of(x5, 5, y5, 5), 2 * 4.0 / 252));
    /* the example of a textbook: U = 3 of 20, 5 and 4 samples: 7 of 126 */
    const double males[] = {19, 22, 16, 29, 24}, females[] = {20, 11, 17, 12};
    assert_true(near(u_of(males, 5, females, 4), 2 * 7.0 / 126));
    /* x has ranks that add up to 36 + 13 */
    const double x8[] = {1, 2, 3, 4, 5, 6, 13, 15}, y8[] = {7, 8, 9, 10, 11, 12, 14, 16};
    assert_true(near(u_of(x8, 8, y8, 8), 2 * 321.0 / 12870));
    assert_true(near(rank_test_least(20, 20), 2 / 137846528820.0));
    assert_true(near(rank_test_least(1, 1), 1));
    const double same[] = {5, 5, 5};
    assert_true(near(u_of(same, 3, same, 3), 1));
    assert_true(near(u_of(same, 0, same, 3), 1));
}

/* All ways to divide the samples, one by one. */
static double u_by_counting(const double *all, size_t n, size_t n_y)
{
    double twice[16], sum = 0;
    for (size_t i = 0; i < n; i++) {
        double below = 0, equal = 0;
        for (size_t k = 0; k < n; k++) {
            below += all[k] < all[i];
            equal += all[k] <= all[i] && all[k] >= all[i];
        }
        twice[i] = 2 * below + equal + 1;
        if (i >= n - n_y) sum += twice[i];
    }
    const double mean = (double)n_y * (double)(n + 1), apart = fabs(sum - mean);
    double ways = 0, as_far = 0;
    for (unsigned set = 0; set < 1u << n; set++) {
        double other = 0;
        size_t members = 0;
        for (size_t i = 0; i < n; i++)
            if (set >> i & 1) {
                members++;
                other += twice[i];
            }
        if (members != n_y) continue;
        ways++;
        as_far += fabs(other - mean) >= apart;
    }
    return as_far / ways;
}

static void u_is_exact_with_ties(void **state)
{
    (void)state;
    seed = 7;
    for (int round = 0; round < 300; round++) {
        double all[10];
        const size_t n = 3 + (size_t)(uniform() * 8), n_y = 1 + (size_t)(uniform() * (double)(n - 1));
        const int values = 1 + (int)(uniform() * 12);
        for (size_t i = 0; i < n; i++)
            all[i] = floor(uniform() * values);
        double wanted = u_by_counting(all, n, n_y), got = u_of(all, n - n_y, all + n - n_y, n_y);
        if (!near(got, wanted)) fail_msg("round %d: %g instead of %g", round, got, wanted);
    }
}

/* Above what is counted: the approximation is near the exact one where both can be had. */
static void u_of_many_samples(void **state)
{
    (void)state;
    double x[40], y[40];
    for (int i = 0; i < 40; i++) {
        x[i] = 2 * i;
        y[i] = 2 * i + 17;
    }
    double p = u_of(x, 40, y, 40); /* U = 1104: 304 above the mean, of a standard deviation of 103.9 */
    assert_true(p > 0.0034 && p < 0.0036);
    /* 25 and 25 are counted, 26 and 25 are not; the one more lies in the middle and changes
     * little. Far out the approximation is the greater one. */
    double more[26];
    memcpy(more, x, 25 * sizeof *x);
    more[25] = 32.5;
    const double exact = u_of(x, 25, y, 25), about = u_of(more, 26, y, 25);
    if (!(about / exact > 0.9 && about / exact < 2)) fail_msg("%g instead of %g", about, exact);
}

static void tails(void **state)
{
    (void)state;
    double x[10], y[10], least;
    rank_test t = {0};
    for (int i = 0; i < 10; i++) {
        x[i] = i;
        y[i] = i + 0.5;
    }
    y[0] = 100;
    y[9] = 101;
    /* both of the upper tenth are in y: 10 over 2 of 20 over 2 */
    assert_true(near(rank_test_tail(&t, x, 10, y, 10, 0.9, &least), 45.0 / 190));
    assert_true(near(least, 45.0 / 190));
    /* none is in x; one or more in it is sure */
    assert_true(near(rank_test_tail(&t, y, 10, x, 10, 0.9, &least), 1));
    rank_test_free(&t);
}

static void holm(void **state)
{
    (void)state;
    double p[] = {0.04, 0.01, 0.03, 0.005}, wanted[] = {0.06, 0.03, 0.06, 0.02};
    assert_true(rank_test_holm(p, 4));
    for (int i = 0; i < 4; i++)
        assert_true(near(p[i], wanted[i]));
    double one[] = {0.5}, many[] = {0.9, 0.8, 0.7};
    assert_true(rank_test_holm(one, 1) && near(one[0], 0.5));
    assert_true(rank_test_holm(many, 3) && near(many[0], 1) && near(many[2], 1));
}

static void quantiles(void **state)
{
    (void)state;
    double v[20];
    for (int i = 0; i < 20; i++)
        v[i] = 20 - i;
    rank_test_sort(v, 20);
    assert_true(near(v[0], 1) && near(v[19], 20));
    assert_true(near(rank_test_quantile(v, 20, 0.95), 19));
    assert_true(near(rank_test_quantile(v, 20, 0.99), 20));
    assert_true(near(rank_test_quantile(v, 1, 0.5), 1));
    assert_true(near(rank_test_median(v, 20), 10.5));
    assert_true(near(rank_test_quantile(v, 0, 0.5), 0));
}

/* ---- Runs of one program --- */

enum { OPS = 30, RUNS = 20 };

typedef enum noise { GAUSS, EVEN, SKEWED, COARSE, NOISES } noise;

/* Around 1, with a standard deviation of 1 %. */
static double around(noise kind)
{
    switch (kind) {
    case EVEN: return 1 + 0.01 * sqrt(12) * (uniform() - 0.5);
    case SKEWED: return 1 + 0.01 * (-log(uniform()) - 1); /* exponential: now and then much slower */
    case COARSE:                                          /* many ties */
        return 1 + 0.005 * floor(0.5 + 2 * sqrt(-2 * log(uniform())) * cos(6.283185307179586 * uniform()));
    case GAUSS:
    default: return 1 + 0.01 * sqrt(-2 * log(uniform())) * cos(6.283185307179586 * uniform());
    }
}

/* An op report: 30 ops in 10 codes, the slow one by a factor. */
static void make_table(op_table *t, noise kind, int slow, double factor)
{
    dl_str text = {0};
    devlog_error err = {0};
    dl_str_add(&text,
               "OP CODE,GLOBAL CALL COUNT,DEVICE ID,HOST DURATION [ns],OP TO OP LATENCY [ns],DEVICE KERNEL "
               "DURATION [ns]\n");
    for (int i = 0; i < OPS; i++)
        dl_str_fmt(&text, "Op%d,%d,0,%.0f,%.0f,%.0f\n", i % 10, i + 1, 50000 * around(kind),
                   3000 * around(kind), 10000 * (i + 1) * around(kind) * (i == slow ? factor : 1));
    check_ok(op_table_parse(t, "made.csv", text.text, text.len, &err), &err);
    dl_str_free(&text);
}

static void make_diff(diff *d, uint32_t runs, noise kind, int slow, double factor, bool exact)
{
    devlog_error err = {0};
    const diff_options o = {.runs = {runs, runs}, .ops = true, .exact = exact};
    check_ok(diff_begin(d, &o, &err), &err);
    for (uint32_t i = 0; i < 2 * runs; i++) {
        const uint32_t side = i < runs ? DIFF_OLD : DIFF_NEW;
        op_table t;
        make_table(&t, kind, slow, side == DIFF_NEW ? factor : 1);
        check_ok(diff_add_run(d, side, "made.csv", &t, NULL, 0, &err), &err);
        op_table_free(&t);
    }
    check_ok(diff_finish(d, &err), &err);
}

static size_t alarms(const diff *d)
{
    size_t n = 0;
    for (int kind = 0; kind < DIFF_CAUSE; kind++)
        n += d->counted[kind][DIFF_SLOWER] + d->counted[kind][DIFF_FASTER];
    return n;
}

static gate_result gate_of(const diff *d, const char *text, char said[400])
{
    gate g;
    devlog_error err = {0};
    check_ok(gate_parse(&g, text, &err), &err);
    check_ok(gate_judge(&g, d, &err), &err);
    const gate_result result = g.result;
    if (said) snprintf(said, 400, "%s", g.n_reasons ? g.reasons[0] : "");
    gate_free(&g);
    return result;
}

/* How many pairs of 20 runs for a kind of noise. */
static unsigned pairs(int kind)
{
    return test_cases(kind == GAUSS ? 100 : 15); /* by hand: thousands, for each kind of noise */
}

/* 20 repeats with noise of 1 %: at most one alarm in 100 pairs. */
static void noise_raises_no_alarm(void **state)
{
    (void)state;
    seed = 1;
    for (int kind = 0; kind < NOISES; kind++) {
        const unsigned n = pairs(kind);
        unsigned wrong = 0, shut = 0;
        for (unsigned i = 0; i < n; i++) {
            diff d;
            make_diff(&d, RUNS, (noise)kind, -1, 1, false);
            wrong += alarms(&d) > 0;
            assert_int_equal(d.undecided, 0);
            shut += gate_of(&d, "op>+0%", NULL) != GATE_PASSED;
            diff_free(&d);
        }
        print_message("noise %d: %u of %u pairs raised an alarm, %u gates shut\n", kind, wrong, n, shut);
        if (wrong * 100 > n || shut * 100 > n)
            fail_msg("noise %d: %u of %u pairs, %u gates", kind, wrong, n, shut);
    }
}

/* And one op that is 3 % slower is found in 99 of 100, and no other. */
static void a_slow_op_is_found(void **state)
{
    (void)state;
    seed = 2;
    for (int kind = 0; kind < NOISES; kind++) {
        const unsigned n = pairs(kind);
        unsigned found = 0, others = 0;
        for (unsigned i = 0; i < n; i++) {
            diff d;
            const int slow = (int)(uniform() * OPS);
            char name[40];
            make_diff(&d, RUNS, (noise)kind, slow, 1.03, false);
            snprintf(name, sizeof name, "Op%d #%d", slow % 10, slow / 10 + 1);
            for (size_t k = 0; k < d.n; k++) {
                dl_str is = {0};
                if (d.lines[k].kind != DIFF_OP) continue;
                diff_line_name(&d.lines[k], &is);
                const bool it = strcmp(is.text, name) == 0, slower = d.lines[k].verdict == DIFF_SLOWER;
                found += it && slower;
                others += !it && (slower || d.lines[k].verdict == DIFF_FASTER);
                dl_str_free(&is);
            }
            diff_free(&d);
        }
        print_message("noise %d: found in %u of %u, others %u\n", kind, found, n, others);
        if (found * 100 < n * 99 || others * 100 > n)
            fail_msg("noise %d: %u of %u, %u others", kind, found, n, others);
    }
}

static void gates_shut(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        gate_result slower, same; /* with an op 5 % slower, and with none */
    } cases[] = {
        {"op>+2%", GATE_FAILED, GATE_PASSED},     {"op_mean>+4%", GATE_FAILED, GATE_PASSED},
        {"op>+9%", GATE_PASSED, GATE_PASSED},     {"op_median>+2%", GATE_FAILED, GATE_PASSED},
        {"op_p95>+2%", GATE_FAILED, GATE_PASSED}, {"op_p90>+2%", GATE_FAILED, GATE_PASSED},
        {"op>+2us", GATE_FAILED, GATE_PASSED},    {"op>+2000ns", GATE_FAILED, GATE_PASSED},
        {"op>+1ms", GATE_PASSED, GATE_PASSED},    {"op<-1%", GATE_PASSED, GATE_PASSED},
        {"host>+10%", GATE_PASSED, GATE_PASSED},  {"gaps>+10%", GATE_PASSED, GATE_PASSED},
        {"missing", GATE_PASSED, GATE_PASSED},    {"new", GATE_PASSED, GATE_PASSED},
        {"count>+0%", GATE_PASSED, GATE_PASSED},  {"all>+2%", GATE_FAILED, GATE_PASSED},
        {"total>+2%", GATE_PASSED, GATE_PASSED},  {"zone>+1%", GATE_UNDECIDED, GATE_UNDECIDED},
    };
    seed = 3;
    diff slow, same;
    make_diff(&slow, RUNS, GAUSS, 20, 1.05, false);
    make_diff(&same, RUNS, GAUSS, -1, 1, false);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char said[400];
        gate_result got = gate_of(&slow, cases[i].text, said);
        if (got != cases[i].slower) fail_msg("%s: %s, %s", cases[i].text, gate_results[got], said);
        if (got == GATE_FAILED && !strstr(said, "Op0 #3")) fail_msg("%s says '%s'", cases[i].text, said);
        got = gate_of(&same, cases[i].text, said);
        if (got != cases[i].same) fail_msg("%s of the same: %s, %s", cases[i].text, gate_results[got], said);
    }
    assert_int_equal(gate_of(&slow, "op_p99>+0.5%", NULL), GATE_FAILED);
    diff_free(&slow);
    diff_free(&same);
}

/* A tail alone: one run in twenty is twice as slow. Ranks as a whole do not show it, and 20 runs are too few for
 * the tail: that is no pass. */
static void too_few_for_a_tail(void **state)
{
    (void)state;
    devlog_error err = {0};
    diff d;
    const diff_options o = {.runs = {RUNS, RUNS}, .ops = true};
    seed = 4;
    check_ok(diff_begin(&d, &o, &err), &err);
    for (uint32_t i = 0; i < 2 * RUNS; i++) {
        op_table t;
        make_table(&t, GAUSS, 5, i >= RUNS && i % 7 == 0 ? 2 : 1);
        check_ok(diff_add_run(&d, i / RUNS, "made.csv", &t, NULL, 0, &err), &err);
        op_table_free(&t);
    }
    check_ok(diff_finish(&d, &err), &err);
    assert_int_equal(gate_of(&d, "op>+3%", NULL), GATE_PASSED); /* three of twenty may be chance */
    assert_int_equal(gate_of(&d, "op_p95>+5%", NULL), GATE_UNDECIDED);
    diff_free(&d);
}

static void too_few_runs_are_undecided(void **state)
{
    (void)state;
    diff d;
    seed = 5;
    for (uint32_t runs = 1; runs <= 9; runs++) {
        make_diff(&d, runs, GAUSS, 20, 2, false);
        const gate_result got = gate_of(&d, "op>+5%", NULL);
        /* 33 lines: with 9 runs 33 times 2/48620 is above 1 in 1000, with 10 runs it is below. */
        if (got != GATE_UNDECIDED) fail_msg("%u runs: %s", runs, gate_results[got]);
        assert_int_equal(alarms(&d), 0);
        assert_true(d.undecided > 0);
        diff_free(&d);
    }
    make_diff(&d, 10, GAUSS, 20, 2, false);
    assert_int_equal(gate_of(&d, "op>+5%", NULL), GATE_FAILED);
    diff_free(&d);
    make_diff(&d, 1, GAUSS, 20, 2, true); /* said to be exact; Op0 is there three times: 330 us become 540 */
    assert_int_equal(gate_of(&d, "op>+60%", NULL), GATE_FAILED);
    assert_int_equal(gate_of(&d, "op>+70%", NULL), GATE_PASSED);
    assert_int_equal(gate_of(&d, "total>+2%", NULL), GATE_FAILED);
    diff_free(&d);
}

/* More are undecided than are told: what failed is told first all the same. Lines stand by their difference, this one last. */
static void what_failed_is_told(void **state)
{
    (void)state;
    enum { OTHERS = GATE_REASONS + 10 };
    devlog_error err = {0};
    const diff_options o = {.runs = {3, 3}, .ops = true};
    diff d;
    check_ok(diff_begin(&d, &o, &err), &err);
    for (int run = 0; run < 6; run++) {
        dl_str text = {0};
        op_table t;
        dl_str_add(&text, "OP CODE,GLOBAL CALL COUNT,DEVICE ID,DEVICE KERNEL DURATION [ns]\n");
        for (int i = 1; i <= OTHERS; i++)
            dl_str_fmt(&text, "Op%d,%d,0,%d\n", i, i, 100000 + run * 1000 * i);
        dl_str_fmt(&text, "Gone,%d,0,%s\n", OTHERS + 1, run < 3 ? "10" : "");
        check_ok(op_table_parse(&t, "made.csv", text.text, text.len, &err), &err);
        check_ok(diff_add_run(&d, run / 3, "made.csv", &t, NULL, 0, &err), &err);
        op_table_free(&t);
        dl_str_free(&text);
    }
    check_ok(diff_finish(&d, &err), &err);
    gate g;
    check_ok(gate_parse(&g, "op>+1%", &err), &err);
    check_ok(gate_judge(&g, &d, &err), &err);
    assert_int_equal(g.result, GATE_FAILED);
    assert_int_equal(g.failed, 1);
    assert_int_equal(g.undecided, OTHERS);
    assert_int_equal(g.n_reasons, GATE_REASONS);
    assert_string_equal(g.reasons[0], "Gone: has no time any more");
    for (size_t i = 1; i < g.n_reasons; i++)
        if (!strstr(g.reasons[i], "; too few samples to tell")) fail_msg("reason %zu: %s", i, g.reasons[i]);
    gate_free(&g);
    diff_free(&d);
}

static void wrong_conditions_say_so(void **state)
{
    (void)state;
    static const struct {
        const char *text, *says;
    } cases[] = {
        {"", "speaks of nothing"},
        {"opp>+5%", "speaks of nothing"},
        {"op", "no limit"},
        {"op>5%", "begins with + or -"},
        {"op>+5", "no unit"},
        {"op>+%", "no number"},
        {"op>+5s", "unit that is none"},
        {"op>-5%", "wants >+"},
        {"op<+5%", "wants >+"},
        {"op_p42>+5%", "ending"},
        {"total_p95>+5%", "ending"},
        {"missing>+5%", "takes no limit"},
        {"new>", "takes no limit"},
        {"all<-5%", "takes > only"},
        {"count>+5ns", "in %"},
        {"op>+1.2.3%", "unit that is none"},
        {"op>=+5%", "begins with + or -"},
        {"op_>+5%", "ending"},
        {"op>+12345678901234567%", "no number"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        gate g;
        devlog_error err = {0};
        assert_int_equal(gate_parse(&g, cases[i].text, &err), DEVLOG_ERR_ARGUMENT);
        if (!strstr(err.text, cases[i].says) || strchr(err.text, '\n'))
            fail_msg("%s: '%s'", cases[i].text, err.text);
    }
}

/* No line of the tables is wider than the terminal, whatever names there are. */
static void tables_fit(void **state)
{
    (void)state;
    devlog_error err = {0};
    diff d;
    const diff_options o = {.runs = {1, 1}, .ops = true, .exact = true};
    check_ok(diff_begin(&d, &o, &err), &err);
    for (uint32_t side = 0; side < DIFF_SIDES; side++) {
        dl_str text = {0};
        op_table t;
        dl_str_add(&text, "OP CODE,GLOBAL CALL COUNT,DEVICE KERNEL DURATION [ns],HOST DURATION [ns]\n");
        for (int i = 0; i < 25; i++) {
            for (int k = 0; k <= i * 9; k++)
                dl_str_add(&text, "\xc3\xa4");
            dl_str_fmt(&text, "Op\x1b[2J%d,%d,%llu,5\n", i, i, (i + 1) * (side + 1) * 12345678901ull);
        }
        check_ok(op_table_parse(&t, "a report of a long name.csv", text.text, text.len, &err), &err);
        check_ok(diff_add_run(&d, side, "a report of a long name.csv", &t, NULL, 0, &err), &err);
        op_table_free(&t);
        dl_str_free(&text);
    }
    check_ok(diff_finish(&d, &err), &err);
    gate g;
    check_ok(gate_parse(&g, "op>+5%", &err), &err);
    check_ok(gate_judge(&g, &d, &err), &err);
    for (int colour = 0; colour < 2; colour++) {
        dl_str out = {0};
        const diff_shown s = {.d = &d, .gates = &g, .n_gates = 1, .width = 80, .top = 20, .colour = colour};
        diff_print_text(&s, &out);
        for (char *line = strtok(out.text, "\n"); line && !colour; line = strtok(NULL, "\n"))
            if (dl_text_columns(line, strlen(line)) > 80) fail_msg("'%s'", line);
        dl_str_free(&out);
    }
    gate_free(&g);
    diff_free(&d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(u_is_that_of_tables),
        cmocka_unit_test(u_is_exact_with_ties),
        cmocka_unit_test(u_of_many_samples),
        cmocka_unit_test(tails),
        cmocka_unit_test(holm),
        cmocka_unit_test(quantiles),
        cmocka_unit_test(noise_raises_no_alarm),
        cmocka_unit_test(a_slow_op_is_found),
        cmocka_unit_test(gates_shut),
        cmocka_unit_test(too_few_for_a_tail),
        cmocka_unit_test(too_few_runs_are_undecided),
        cmocka_unit_test(what_failed_is_told),
        cmocka_unit_test(wrong_conditions_say_so),
        cmocka_unit_test(tables_fit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
