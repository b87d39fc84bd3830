/* Harts through the debug module: halting, registers, resuming, reset, one among several; on both versions of
 * the specification. */
#include <stdlib.h>
#include <string.h>

#include "transport/usb_memory.h"
#include "transport/usb_probe.h"
#include "usb/rig.h"

enum {
    HARTS = 5,
    LOOP = 0x48000, /* "addi a0, a0, 1; j LOOP" */
    ADDI_A0 = 0x00150513,
    REG_A0 = USB_REG_X0 + 10,
};

typedef struct bench {
    rig r;
    usb_probe *probe;
    usb_dm dm;
    sim *s;
    uint32_t tile;
} bench;

static void open_bench(bench *b, bool version_1)
{
    model_options o = rig_options("usb_tile");
    o.version_1 = version_1;
    rig_plug(&b->r, "usb_tile", &o);
    b->s = model_sim(b->r.m);
    b->tile = model_tile(b->r.m);
    rig_ok(&b->r, usb_probe_open(NULL, RIG_TIMEOUT_MS, &b->probe, &b->r.err));
    rig_ok(&b->r, usb_dm_open(&b->dm, usb_probe_link(b->probe), 1000, 0, 1000, &b->r.err));
    assert_int_equal(b->dm.n_harts, HARTS);
    assert_int_equal(b->dm.version, version_1 ? 100 : 13);
}

static void close_bench(bench *b)
{
    usb_dm_close(&b->dm);
    usb_probe_close(b->probe);
    assert_int_equal(model_bus_in_flight(b->r.bus), 0);
    model_bus_free(b->r.bus);
    model_destroy(b->r.m);
}

static uint32_t get(bench *b, uint32_t hart, uint32_t reg)
{
    uint32_t value;
    rig_ok(&b->r, usb_dm_reg_get(&b->dm, hart, reg, &value, &b->r.err));
    return value;
}

/* Every hart counts in a loop of its own; they are stopped and looked at one by one. */
static void each_for_itself(void **state)
{
    (void)state;
    for (int version = 0; version < 2; version++) {
        bench b;
        open_bench(&b, version == 1);
        const uint32_t code[2] = {ADDI_A0, 0xFFDFF06F}, run = 0;
        rig_ok(&b.r, usb_memory_write(&b.dm, LOOP, code, sizeof code, &b.r.err));
        for (uint32_t i = 0; i < HARTS; i++)
            rig_ok(&b.r, usb_dm_halt(&b.dm, i, &b.r.err));
        rig_ok(&b.r, usb_memory_write(&b.dm, b.r.b.soft_reset, &run, 4, &b.r.err));
        for (uint32_t i = 0; i < HARTS; i++) {
            bool halted;
            rig_ok(&b.r, usb_dm_halted(&b.dm, i, &halted, &b.r.err));
            assert_true(halted);
            rig_ok(&b.r, usb_dm_reg_set(&b.dm, i, USB_REG_DPC, LOOP, &b.r.err));
            rig_ok(&b.r, usb_dm_reg_set(&b.dm, i, REG_A0, 1000000 * (i + 1), &b.r.err));
        }
        rig_ok(&b.r, usb_dm_resume(&b.dm, 2, &b.r.err));
        for (int turn = 0; turn < 2; turn++) {
            for (uint32_t i = 0; i < HARTS; i++) {
                if (i == 2) continue;
                assert_int_equal(get(&b, i, REG_A0), 1000000 * (i + 1));
                assert_int_equal(get(&b, i, USB_REG_DPC), LOOP);
            }
        }
        rig_ok(&b.r, usb_dm_halt(&b.dm, 2, &b.r.err));
        uint32_t counted = get(&b, 2, REG_A0), pc = get(&b, 2, USB_REG_DPC);
        assert_true(counted > 3000100 && counted < 3900000);
        assert_true(pc == LOOP || pc == LOOP + 4);
        sim_hart_state hs;
        assert_true(sim_hart(b.s, b.tile, 2, &hs));
        assert_int_equal(hs.x[10], counted);
        close_bench(&b);
    }
}

static void wrong_state_is_said(void **state)
{
    (void)state;
    bench b;
    uint32_t value;
    open_bench(&b, false);
    assert_int_equal(usb_dm_reg_get(&b.dm, 1, REG_A0, &value, &b.r.err), DEVLOG_ERR_DEVICE);
    assert_non_null(strstr(b.r.err.text, "register 0x100a of hart 1 cannot be read: wrong state of hart"));
    rig_ok(&b.r, usb_dm_halt(&b.dm, 1, &b.r.err));
    assert_int_equal(usb_dm_reg_get(&b.dm, 1, 0x7C0, &value, &b.r.err), DEVLOG_ERR_DEVICE);
    assert_non_null(strstr(b.r.err.text, "the access raised an exception"));
    get(&b, 1, REG_A0); /* and the error is gone */
    close_bench(&b);
}

static void reset(void **state)
{
    (void)state;
    bench b;
    open_bench(&b, false);
    rig_ok(&b.r, usb_dm_reset(&b.dm, true, &b.r.err));
    for (uint32_t i = 0; i < HARTS; i++) {
        bool halted;
        rig_ok(&b.r, usb_dm_halted(&b.dm, i, &halted, &b.r.err));
        assert_true(halted);
        assert_int_equal(get(&b, i, USB_REG_DPC), b.r.b.riscs[i].reset_pc);
    }
    close_bench(&b);
}

/* Memory through a hart leaves the hart as it was: running or halted, with its registers. */
static void guests_leave_no_trace(void **state)
{
    (void)state;
    bench b;
    open_bench(&b, false);
    b.dm.access = USB_ACCESS_PROGRAM;
    b.dm.progbuf_words = 3;
    model_set_progbuf(b.r.m, 3);
    rig_ok(&b.r, usb_dm_halt(&b.dm, 0, &b.r.err));
    rig_ok(&b.r, usb_dm_reg_set(&b.dm, 0, USB_REG_S0, 0x11111111, &b.r.err));
    rig_ok(&b.r, usb_dm_reg_set(&b.dm, 0, USB_REG_S1, 0x22222222, &b.r.err));
    for (int running = 0; running < 2; running++) {
        uint32_t words[9], back[9];
        size_t got;
        bool halted;
        if (running) rig_ok(&b.r, usb_dm_resume(&b.dm, 0, &b.r.err));
        for (uint32_t i = 0; i < 9; i++)
            words[i] = i * 0x01010101u + (uint32_t)running;
        rig_ok(&b.r, usb_memory_write(&b.dm, LOOP, words, sizeof words, &b.r.err));
        rig_ok(&b.r, usb_memory_read(&b.dm, LOOP, back, sizeof back, &got, &b.r.err));
        assert_memory_equal(words, back, sizeof words);
        rig_ok(&b.r, usb_dm_halted(&b.dm, 0, &halted, &b.r.err));
        assert_int_equal(halted, !running);
        rig_ok(&b.r, usb_dm_halt(&b.dm, 0, &b.r.err));
        assert_int_equal(get(&b, 0, USB_REG_S0), 0x11111111);
        assert_int_equal(get(&b, 0, USB_REG_S1), 0x22222222);
    }
    close_bench(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_for_itself),
        cmocka_unit_test(wrong_state_is_said),
        cmocka_unit_test(reset),
        cmocka_unit_test(guests_leave_no_trace),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
