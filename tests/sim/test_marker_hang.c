/* Kernels that hang or are stopped: what they dropped is counted to the marker whenever one looks, and gaps
 * of any length are exact although nothing comes behind them. */
#include <stdlib.h>
#include <string.h>

#include "profiler/control.h"
#include "profiler/pull.h"
#include "support/fixture.h"

/* Starts the kernel and does not wait for it. */
static void go(fixture *f)
{
    devlog_error err = {0};
    check_ok(control_arm(f->device, f->program, &err), &err);
    const uint32_t number = ++f->device->launches;
    f->device->last = f->program;
    check_ok(dl_core_write(f->device, zero, f->device->board.mailbox.base + 4, &number, 4, &err), &err);
}

static uint32_t word_at(fixture *f, uint32_t address)
{
    uint32_t word;
    memcpy(&word, sim_ram_bytes(dl_transport_sim(&f->device->transport), 0, 0) + address, 4);
    return word;
}

/* The kernel stores how far it has come in front of every marker. Stopped after any number of cycles, records
 * and drops together are that many markers, or one less: over the first drop, and where the lower bits of the
 * cursor run over. */
static void drops_are_exact_at_any_time(void **state)
{
    (void)state;
    static const uint32_t first[] = {0, 500, 1000, 1530};
    devlog_error err = {0};
    fixture f = start("tests/sim/kernels/drops.c", "NCRISC", NULL, NULL);
    uint32_t at = devlog_device_user_l1(f.device, NULL), nothing = 0;
    check_ok(dl_core_write(f.device, zero, at, &nothing, 4, &err), &err);
    set_args(&f, at, 0);
    go(&f);
    sim *s = dl_transport_sim(&f.device->transport);
    uint64_t dropped = 0;
    for (size_t i = 0; i < sizeof first / sizeof first[0]; i++) {
        while (word_at(&f, at) < first[i])
            assert_true(sim_clock(s, 16));
        for (uint32_t k = 0; k < 300; k++) {
            assert_true(sim_clock(s, 3));
            uint32_t begun = word_at(&f, at);
            if (begun == 0) continue;
            pulled got;
            check_ok(pull_risc(f.device, zero, 1, f.device->launches, false, &got, &err), &err);
            uint64_t counted = got.n_words / 2 + (uint64_t)got.control.dropped;
            if (counted != begun && counted + 1 != begun)
                fail_msg("%u markers begun: %u words, %u dropped", begun, got.n_words, got.control.dropped);
            dropped = got.control.dropped;
            pulled_free(&got);
        }
    }
    assert_true(dropped > 1024);
    stop(&f);
}

/* A kernel that waits ten seconds, goes on, and then hangs for good: no record comes behind the last one, and
 * there is no end of the launch. */
static void gaps_in_front_of_a_hang_are_exact(void **state)
{
    (void)state;
    const uint64_t ten_seconds = UINT64_C(10000000000);
    devlog_error err = {0};
    fixture f = start("tests/sim/kernels/wait.c", "TRISC0", NULL, "clock=0xffffff00");
    sim *s = dl_transport_sim(&f.device->transport);
    uint32_t word = devlog_device_user_l1(f.device, NULL), value = 0;
    check_ok(dl_core_write(f.device, zero, word, &value, 4, &err), &err);
    set_args(&f, word, 2);
    go(&f);
    check_ok(dl_device_advance(f.device, 4000, &err), &err);
    sim_skip(s, ten_seconds);
    value = 1;
    check_ok(dl_core_write(f.device, zero, word, &value, 4, &err), &err);
    check_ok(dl_device_advance(f.device, 2000, &err), &err);
    sim_skip(s, ten_seconds); /* it hangs */
    test_rows rows;
    read_rows(f.device, f.program, zero, 2, &rows);
    assert_int_equal(rows.losses.damaged_words + rows.losses.ambiguous + rows.losses.cut, 0);
    assert_int_equal(count_rows(&rows, DL_ROW_ZONE_START, "wait"), 2);
    assert_int_equal(count_rows(&rows, DL_ROW_ZONE_END, "wait"), 1);
    uint64_t length =
        row_at(&rows, DL_ROW_ZONE_END, "wait", 0)->time - row_at(&rows, DL_ROW_ZONE_START, "wait", 0)->time;
    assert_true(length >= ten_seconds && length < ten_seconds + 4200);
    free_rows(&rows);
    stop(&f);
}

/* The cure for lost records, without a change of the program. */
static void recording_is_chosen_by_the_environment(void **state)
{
    (void)state;
    static const struct {
        const char *mode;
        bool dropped, overwritten;
    } cases[] = {{"stop", true, false}, {"ring", false, true}, {"stream", false, false}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        assert_int_equal(setenv("DEVLOG_RECORDING", cases[i].mode, 1), 0);
        fixture f = start("tests/sim/kernels/many.c", "BRISC", NULL, "functional=1");
        set_args(&f, 1000, 0);
        launch(f.device, f.program);
        test_rows rows;
        read_rows(f.device, f.program, zero, 0, &rows);
        assert_int_equal(rows.control.dropped > 0, cases[i].dropped);
        assert_int_equal(rows.control.overwritten > 0, cases[i].overwritten);
        assert_int_equal(count_rows(&rows, DL_ROW_ZONE_END, "pass") + rows.control.dropped +
                             rows.control.overwritten,
                         1000);
        free_rows(&rows);
        stop(&f);
    }
    devlog_error err = {0};
    devlog_device *device;
    setenv("DEVLOG_RECORDING", "rign", 1);
    assert_int_not_equal(devlog_device_open(NULL, &device, &err), DEVLOG_OK);
    assert_non_null(strstr(err.text, "DEVLOG_RECORDING"));
    unsetenv("DEVLOG_RECORDING");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(drops_are_exact_at_any_time),
        cmocka_unit_test(gaps_in_front_of_a_hang_are_exact),
        cmocka_unit_test(recording_is_chosen_by_the_environment),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
