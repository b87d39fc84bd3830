/* Host time of ops, counted once: nested ones, threads, rows that do not say when they began, groups. Not for reports
 * (test_ops_summary.c). */
#include "ops/op_host_time.h"
#include "support/cmocka_all.h"

typedef struct given {
    uint32_t has, group;
    uint64_t start, end, ns, id;
    uint32_t thread;
} given;

enum {
    WHEN = OP_HAS_HOST | OP_HAS_HOST_START | OP_HAS_HOST_END,
    BARE = OP_HAS_HOST,
    ALL = WHEN | OP_HAS_ID,
    GROUPS = 3
};

static void adds_up_to(const given *rows, size_t n, const uint64_t expected[GROUPS])
{
    uint64_t sums[GROUPS] = {0};
    op_host_times *times = op_host_times_new();
    assert_non_null(times);
    for (size_t i = 0; i < n; i++) {
        op_table_row r = {0};
        r.has = (uint16_t)rows[i].has;
        r.host_start = rows[i].start;
        r.host_end = rows[i].end;
        r.host_ns = rows[i].ns;
        r.id = rows[i].id;
        r.thread = rows[i].thread;
        assert_true(op_host_times_add(times, &r, rows[i].group));
    }
    op_host_times_sum(times, sums);
    op_host_times_free(times);
    for (int g = 0; g < GROUPS; g++)
        assert_int_equal(sums[g], expected[g]);
}
#define ADDS_UP_TO(a, b, c, ...)                                                                             \
    do {                                                                                                     \
        const given rows[] = {__VA_ARGS__};                                                                  \
        adds_up_to(rows, sizeof rows / sizeof rows[0], (const uint64_t[GROUPS]){a, b, c});                   \
    } while (0)

static void nested_ones_are_counted_once(void **state)
{
    (void)state;
    ADDS_UP_TO(100, 0, 0, {ALL, 0, 1000, 1100, 100, 1, 0}, {ALL, 0, 1010, 1030, 20, 2, 0},
               {ALL, 0, 1090, 1100, 10, 3, 0});
    /* One that ends behind the one around it counts as far as it goes on, and one beside it as a whole. */
    ADDS_UP_TO(160, 0, 0, {ALL, 0, 1000, 1100, 100, 1, 0}, {ALL, 0, 1050, 1150, 100, 2, 0},
               {ALL, 0, 1150, 1160, 10, 3, 0});
}

static void threads_are_counted_each(void **state)
{
    (void)state;
    /* In the order of their starts another thread's op stands between an op and one inside it. */
    ADDS_UP_TO(110, 0, 0, {ALL, 0, 0, 100, 100, 1, 0}, {ALL, 0, 10, 20, 10, 2, 1},
               {ALL, 0, 20, 30, 10, 3, 0});
    ADDS_UP_TO(110, 0, 0, {ALL, 0, 20, 30, 10, 3, 0}, {ALL, 0, 10, 20, 10, 2, 1},
               {ALL, 0, 0, 100, 100, 1, 0});
}

static void groups_are_apart(void **state)
{
    (void)state;
    ADDS_UP_TO(100, 10, 5, {ALL, 0, 0, 100, 100, 1, 0}, {ALL, 1, 10, 20, 10, 2, 0},
               {ALL, 0, 20, 30, 10, 3, 0}, {ALL, 2, 25, 30, 5, 4, 0});
    ADDS_UP_TO(100, 10, 5, {ALL, 2, 25, 30, 5, 4, 0}, {ALL, 0, 20, 30, 10, 3, 0}, {ALL, 1, 10, 20, 10, 2, 0},
               {ALL, 0, 0, 100, 100, 1, 0});
}

/* A duration that is not the time from start to end is what counts, as the row has it. */
static void durations_go_before_stamps(void **state)
{
    (void)state;
    ADDS_UP_TO(50, 0, 0, {ALL, 0, 100, 300, 50, 1, 0});
    ADDS_UP_TO(350, 0, 0, {ALL, 0, 100, 300, 50, 1, 0}, {ALL, 0, 300, 100, 300, 2, 0});
    ADDS_UP_TO(50, 0, 0, {BARE | OP_HAS_HOST_START, 0, 100, 0, 50, 0, 0});
    ADDS_UP_TO(0, 0, 0, {OP_HAS_HOST_START | OP_HAS_HOST_END, 0, 100, 300, 200, 0, 0});
}

static void rows_without_stamps_follow_one_another(void **state)
{
    (void)state;
    /* Op 0 comes first, and is an op; rows of one op on several chips are one. */
    ADDS_UP_TO(100, 0, 0, {BARE | OP_HAS_ID, 0, 0, 0, 100, 0, 0}, {BARE | OP_HAS_ID, 0, 0, 0, 100, 0, 0});
    ADDS_UP_TO(170, 0, 0, {BARE | OP_HAS_ID, 0, 0, 0, 100, 0, 0}, {BARE | OP_HAS_ID, 0, 0, 0, 70, 1, 0});
    /* Those of replays of a trace stand apart. */
    ADDS_UP_TO(170, 0, 0, {BARE | OP_HAS_ID, 0, 0, 0, 100, 7, 0}, {BARE | OP_HAS_ID, 0, 0, 0, 70, 1, 0},
               {BARE | OP_HAS_ID, 0, 0, 0, 100, 7, 0}, {BARE | OP_HAS_ID, 0, 0, 0, 70, 1, 0});
    /* Without ids nothing says that two rows are one op. */
    ADDS_UP_TO(200, 0, 0, {BARE, 0, 0, 0, 100, 0, 0}, {BARE, 0, 0, 0, 100, 0, 0});
    /* They lie in no op of a thread that says when. */
    ADDS_UP_TO(150, 0, 0, {ALL, 0, 0, 100, 100, 1, 0}, {BARE, 0, 0, 0, 50, 0, 0});
}

/* More than there is room for at first. */
static void many_rows(void **state)
{
    (void)state;
    uint64_t sums[1] = {0};
    op_host_times *times = op_host_times_new();
    for (uint64_t i = 0; i < 5000; i++) {
        const uint64_t at = i * 7919 % 5000 * 10; /* in no order */
        op_table_row r = {0};
        r.has = ALL;
        r.host_start = at;
        r.host_end = at + 5;
        r.host_ns = 5;
        r.id = (uint32_t)i;
        assert_true(op_host_times_add(times, &r, 0));
    }
    op_host_times_sum(times, sums);
    op_host_times_free(times);
    assert_int_equal(sums[0], 25000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nested_ones_are_counted_once),
        cmocka_unit_test(threads_are_counted_each),
        cmocka_unit_test(groups_are_apart),
        cmocka_unit_test(durations_go_before_stamps),
        cmocka_unit_test(rows_without_stamps_follow_one_another),
        cmocka_unit_test(many_rows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
