/* Who ended a wait, the path and slack, of events that are written by hand: what is unknown, circles, numbers that cannot be, and many of
 * them. Against generated pipelines: test_causes.c. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "answers/causes.h"
#include "base/term.h"
#include "support/cmocka_all.h"
#include "support/device.h"
#include "support/random.h"

enum { LANES = 8 };

static causes_lane lanes[LANES];
static uint64_t ends[1];
static causes_graph graph;

static void make(causes *c)
{
    devlog_error err = {0};
    check_ok(causes_make(c, &graph, &err), &err);
}

static uint32_t dice(uint64_t *seed, uint32_t n)
{
    return (uint32_t)((test_random(seed) >> 33) % n);
}

static void by_hand(causes_event *a, size_t n_a, causes_event *b, size_t n_b)
{
    lanes[0] = (causes_lane){.start = 100, .end = 1000, .events = a, .n = n_a, .lost_from = CAUSES_NEVER};
    lanes[1] = (causes_lane){.start = 100, .end = 900, .events = b, .n = n_b, .lost_from = CAUSES_NEVER};
    ends[0] = 1000;
    graph = (causes_graph){.lanes = lanes, .n_lanes = 2, .group_ends = ends, .n_groups = 1, .hand_over = -1};
}

static int state_of(causes_event *a, size_t n_a, causes_event *b, size_t n_b, size_t node, bool exact)
{
    causes c;
    by_hand(a, n_a, b, n_b);
    make(&c);
    const int state = c.nodes[node].state;
    assert_int_equal(c.exact, exact);
    causes_free(&c);
    return state;
}

#define WANT(from, to, count, number)                                                                        \
    {                                                                                                        \
        .at = from, .until = to, .counter = count, .value = number, .kind = CAUSES_WANT                      \
    }
#define GIVE(time, count, number)                                                                            \
    {                                                                                                        \
        .at = time, .until = time, .counter = count, .value = number, .kind = CAUSES_GIVE                    \
    }

static void what_is_unknown_is_said(void **state)
{
    (void)state;
    causes_event want = WANT(200, 500, 7, 1), none = WANT(200, 500, CAUSES_NO_COUNTER, 0);
    causes_event give[] = {GIVE(450, 7, 1), GIVE(460, 7, 1)}, other = GIVE(450, 8, 1), late = GIVE(501, 7, 1);
    causes_event early[] = {GIVE(110, 7, 1), GIVE(450, 7, 2)};
    causes_event both[] = {WANT(200, 500, 7, 1), WANT(520, 600, 7, 2)};
    assert_int_equal(state_of(&want, 1, give, 1, 1, true), CAUSES_ENDED);
    assert_int_equal(state_of(&want, 1, give, 2, 1, false), CAUSES_TWICE);
    assert_int_equal(state_of(&want, 1, &other, 1, 1, false), CAUSES_UNGIVEN);
    assert_int_equal(state_of(&want, 1, &late, 1, 1, false), CAUSES_TOO_LATE);
    assert_int_equal(state_of(&none, 1, give, 1, 1, false), CAUSES_UNNAMED);
    /* 300 cycles for what had been given long before: it was not that. */
    causes_event wait[] = {WANT(200, 500, 7, 1), WANT(520, 600, 9, 1)},
                 gave[] = {GIVE(110, 7, 1), GIVE(580, 9, 1)};
    assert_int_equal(state_of(wait, 2, gave, 2, 1, true), CAUSES_OWN);
    assert_int_equal(state_of(both, 2, early, 2, 1, true), CAUSES_OWN);
    /* met when it looked, by nobody who was recorded: it was so before */
    causes_event met = WANT(200, 200, 7, 1);
    assert_int_equal(state_of(&met, 1, &other, 1, 1, true), CAUSES_UNGIVEN);
}

/* Records that cannot be: each waits for the other, in the same cycle. */
static void circles_end(void **state)
{
    (void)state;
    causes_event a[] = {WANT(200, 300, 1, 1), GIVE(300, 2, 1)}, b[] = {WANT(200, 300, 2, 1), GIVE(300, 1, 1)};
    assert_int_equal(state_of(a, 2, b, 2, 1, false), CAUSES_TOO_LATE);
    causes_event self[] = {WANT(200, 300, 1, 1), GIVE(300, 1, 1)};
    assert_int_equal(state_of(self, 2, b, 0, 1, false), CAUSES_TOO_LATE);
    causes c; /* nothing at all */
    graph = (causes_graph){.hand_over = -1};
    make(&c);
    assert_int_equal(c.n_path, 1);
    causes_free(&c);
}

/* Numbers that no clock shows, in any order: an answer, whatever it is. */
static void any_numbers_are_survived(void **state)
{
    (void)state;
    uint64_t seed = 5;
    static const uint64_t times[] = {0, 1, 100, 101, UINT64_MAX, UINT64_MAX - 1, UINT64_C(1) << 63, 1u << 31};
    for (size_t i = 0; i < test_cases(2000); i++) {
        causes c;
        causes_event any[2][6];
        uint64_t less[20];
        for (size_t k = 0; k < 12; k++)
            any[k / 6][k % 6] = (causes_event){times[dice(&seed, 8)],   times[dice(&seed, 8)],
                                               dice(&seed, 3),          dice(&seed, 3),
                                               (uint8_t)dice(&seed, 2), (uint8_t)dice(&seed, CAUSES_WHYS)};
        by_hand(any[0], dice(&seed, 7), any[1], dice(&seed, 7));
        lanes[0].start = times[dice(&seed, 8)];
        lanes[1].end = times[dice(&seed, 8)];
        lanes[1].clock = dice(&seed, 2);
        lanes[1].error = 1e30;
        make(&c);
        devlog_error err = {0};
        for (size_t k = 0; k < 20; k++)
            less[k] = times[dice(&seed, 8)];
        for (size_t k = 0; k < c.group_0; k++)
            if (k != c.first[0] && k != c.first[1]) (void)causes_slack(&c, k);
        (void)causes_slack_of(&c, 0, times[dice(&seed, 8)], times[dice(&seed, 8)]);
        uint64_t end;
        check_ok(causes_end_if(&c, less, &end, &err), &err);
        causes_free(&c);
    }
}

/* Many events: printed, not judged. */
static void many_events(void **state)
{
    (void)state;
    enum { PAGES = 1 << 13 }; /* 0.35 s for four times as many, optimised */
    static causes_event *all[8];
    memset(&graph, 0, sizeof graph);
    for (uint32_t i = 0; i < 8; i++) {
        all[i] = calloc((size_t)4 * PAGES, sizeof **all);
        assert_non_null(all[i]);
        size_t n = 0;
        uint64_t t = 1000 + 60 * i;
        for (uint32_t k = 0; k < PAGES; k++, t += 97) {
            if (i) /* the first reads what is there */
                all[i][n++] = (causes_event){t, t + 40, 2 * i, k + 1, CAUSES_WANT, CAUSES_EMPTY};
            all[i][n++] =
                (causes_event){t + 50, t + 50, 2 * i + 3, k > 1 ? k - 1 : 0, CAUSES_WANT, CAUSES_FULL};
            all[i][n++] = (causes_event){t + 60, t + 60, 2 * i + 1, k + 1, CAUSES_GIVE, 0};
            all[i][n++] = (causes_event){t + 70, t + 70, 2 * i + 2, k + 1, CAUSES_GIVE, 0};
        }
        lanes[i] =
            (causes_lane){.start = 900, .end = t + 10, .events = all[i], .n = n, .lost_from = CAUSES_NEVER};
    }
    ends[0] = lanes[7].end + 5;
    graph = (causes_graph){.lanes = lanes, .n_lanes = 8, .group_ends = ends, .n_groups = 1, .hand_over = -1};
    causes c;
    const uint64_t before = dl_now_ns();
    make(&c);
    printf("%d events: %.0f ms, a path of %zu steps\n", 8 * 4 * PAGES, (double)(dl_now_ns() - before) / 1e6,
           c.n_path);
    assert_true(c.n_path > PAGES);
    causes_free(&c);
    for (uint32_t i = 0; i < 8; i++)
        free(all[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_unknown_is_said),
        cmocka_unit_test(circles_end),
        cmocka_unit_test(any_numbers_are_survived),
        cmocka_unit_test(many_events),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
