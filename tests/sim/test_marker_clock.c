/* Stamps: waits longer than a wrap of the low half of the clock, wraps in the middle of a marker, and the
 * cost of markers as the firmware measures it. */
#include <stdio.h>

#include "profiler/control.h"
#include "support/fixture.h"

/* ---- The clock ---- */

static void gaps_longer_than_a_wrap_are_exact(void **state)
{
    (void)state;
    static const uint64_t skips[] = {1000, 1ull << 32, (1ull << 32) - 7, 5ull << 32, 1ull << 40, 3};
    enum { SKIPS = sizeof skips / sizeof skips[0] };
    devlog_error err = {0};
    fixture f = start("tests/sim/kernels/wait.c", "TRISC0", NULL, "clock=0xffffff00");
    sim *s = dl_transport_sim(&f.device->transport);
    uint32_t word = devlog_device_user_l1(f.device, NULL), value = 0;
    check_ok(dl_core_write(f.device, zero, word, &value, 4, &err), &err);
    set_args(&f, word, SKIPS);
    check_ok(control_arm(f.device, f.program, &err), &err);
    /* The launch by hand: the host lets the kernel go on, and the clock jumps while it waits. */
    uint32_t go = ++f.device->launches;
    f.device->last = f.program;
    check_ok(dl_core_write(f.device, zero, f.device->board.mailbox.base + 4, &go, 4, &err), &err);
    for (uint32_t i = 0; i < SKIPS; i++) {
        check_ok(dl_device_advance(f.device, 2000, &err), &err);
        sim_skip(s, skips[i]);
        value = i + 1;
        check_ok(dl_core_write(f.device, zero, word, &value, 4, &err), &err);
    }
    check_ok(dl_device_advance(f.device, 4000, &err), &err);
    test_rows rows;
    read_rows(f.device, f.program, zero, 2, &rows);
    assert_int_equal(rows.losses.damaged_words + rows.losses.ambiguous, 0);
    for (uint32_t i = 0; i < SKIPS; i++) {
        uint64_t length = row_at(&rows, DL_ROW_ZONE_END, "wait", i)->time -
                          row_at(&rows, DL_ROW_ZONE_START, "wait", i)->time;
        if (length < skips[i] || length > skips[i] + 2200)
            fail_msg("wait %u: %llu cycles, skipped %llu", i, (unsigned long long)length,
                     (unsigned long long)skips[i]);
    }
    free_rows(&rows);
    stop(&f);
}

/* Launches whose markers come while the low half of the clock wraps, at every distance: no stamp is off by
 * 2^32, and complete zones, whose two halves are read without a check, are repaired. */
static void no_stamp_is_torn(void **state)
{
    (void)state;
    fixture f = start("tests/sim/kernels/events.c", "NCRISC", NULL, NULL);
    devlog_error err = {0};
    devlog_kernel *complete = add_kernel(f.program, "tests/sim/kernels/many.c", "TRISC1", one, NULL);
    const uint32_t rounds = 40;
    check_ok(devlog_kernel_set_args(complete, zero, &rounds, 1, &err), &err);
    set_args(&f, 12, 0);
    sim *s = dl_transport_sim(&f.device->transport);
    uint64_t skipped = 0, repaired = 0;
    for (uint32_t i = 0; i < 700; i++) {
        uint64_t now = sim_chip_clock(s) + skipped, next = (now | 0xFFFFFFFF) + 1;
        sim_skip(s, next - 300 - 2 * i - now);
        skipped += next - 300 - 2 * i - now;
        launch(f.device, f.program);
        static const uint32_t riscs[] = {1, 3};
        for (uint32_t k = 0; k < 2; k++) {
            test_rows rows;
            read_rows(f.device, f.program, zero, riscs[k], &rows);
            uint64_t from = rows.control.stamps[0] | (uint64_t)rows.control.stamps[1] << 32;
            uint64_t until = rows.control.stamps[6] | (uint64_t)rows.control.stamps[7] << 32;
            assert_true(until - from < 20000);
            for (size_t r = 0; r < rows.n; r++)
                assert_true(rows.rows[r].time >= from && rows.rows[r].time <= until);
            assert_int_equal(rows.losses.damaged_words + rows.losses.ambiguous, 0);
            repaired += rows.losses.torn;
            free_rows(&rows);
        }
    }
    printf("%llu torn stamps of complete zones repaired\n", (unsigned long long)repaired);
    assert_true(repaired > 0);
    stop(&f);
}

/* What the firmware measured at start is what a marker takes. */
static void own_cost_is_measured(void **state)
{
    (void)state;
    fixture f = start("tests/sim/kernels/many.c", "BRISC", NULL, NULL);
    set_args(&f, 1, 0);
    devlog_control control;
    devlog_error err = {0};
    uint32_t at =
        board_profiler_base(&f.device->board, 0) + DEVLOG_CONTROL_OFFSET(f.device->board.segment_bits);
    check_ok(dl_core_read(f.device, zero, at, &control, sizeof control, &err), &err);
    static const uint32_t kinds[] = {DEVLOG_KIND_ZONE,    DEVLOG_KIND_COMPLETE, DEVLOG_KIND_EVENT,
                                     DEVLOG_KIND_VALUE32, DEVLOG_KIND_VALUE64,  DEVLOG_KIND_COUNTER,
                                     DEVLOG_KIND_PRINT,   DEVLOG_KIND_ZONE_END};
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        double cycles = control.cost[kinds[i]] / 16.0;
        printf("kind %u: %.2f cycles\n", kinds[i], cycles);
        assert_true(cycles > 8 && cycles < 40);
    }
    double complete = control.cost[0] / 16.0;
    printf("a complete zone by its own record: %.2f cycles\n", complete);
    assert_true(complete > 0 && complete < control.cost[DEVLOG_KIND_COMPLETE] / 16.0);
    stop(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gaps_longer_than_a_wrap_are_exact),
        cmocka_unit_test(no_stamp_is_torn),
        cmocka_unit_test(own_cost_is_measured),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
