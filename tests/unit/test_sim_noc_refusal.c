/* NoC commands and registers that are refused. WormholeB0/NoC/MemoryMap.md, NoC/Atomics.md. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "support/sim_asm.h"
#include "support/sim_niu.h"

static sim *make(void)
{
    sim_config c = rig_config();
    return rig_create(&c);
}

static void bad_commands_are_refused(void **state)
{
    (void)state;
    uint32_t here = niu_mid(0, 0), there = niu_mid(0, 1);
    const struct {
        request r;
        const char *text;
    } cases[] = {
        {{.targ = 0, .targ_mid = there, .ret = 0, .ret_mid = here, .ctrl = READ, .len = 0},
         "a length of 0 bytes is not in 1 to 8192"},
        {{.targ = 0, .targ_mid = there, .ret = 0, .ret_mid = here, .ctrl = READ, .len = 8193},
         "a length of 8193 bytes is not in 1 to 8192"},
        {{.targ = 0, .targ_mid = there, .ret = 8, .ret_mid = here, .ctrl = READ, .len = 4},
         "addresses 0x0 and 0x8 differ modulo 16"},
        {{.targ = 16, .targ_mid = niu_mid(0, 16), .ret = 0, .ret_mid = here, .ctrl = READ, .len = 4},
         "addresses 0x10 and 0x0 differ modulo 32"},
        {{.targ = 0, .targ_mid = there, .ret = 0, .ret_mid = there, .ctrl = READ, .len = 4},
         "a read must return to the tile itself"},
        {{.targ = 0, .targ_mid = there, .ret = RIG_L1_SIZE, .ret_mid = here, .ctrl = READ, .len = 4},
         "a read must return to memory"},
        {{.targ = 0, .targ_mid = there, .ret = 0, .ret_mid = here, .ctrl = READ | MCAST, .len = 4},
         "a read cannot be a broadcast"},
        {{.targ = RIG_L1_SIZE - 4, .targ_mid = there, .ret = 12, .ret_mid = here, .ctrl = READ, .len = 8},
         "a register takes 4 aligned bytes"},
        {{.targ = 0, .targ_mid = 9 << 4, .ret = 0, .ret_mid = here, .ctrl = READ, .len = 4},
         "there is no tile at the coordinates"},
        {{.targ = 0, .targ_mid = 18 << 4 | 18 << 10, .ret = 0, .ret_mid = here, .ctrl = READ, .len = 4},
         "there is no tile at the coordinates"},
        {{.targ = 0, .targ_mid = there, .ret = 0, .ret_mid = there, .ctrl = WRITE, .len = 4},
         "the data of a write must come from the tile itself"},
        {{.targ = RIG_SOFT_RESET, .targ_mid = here, .ret = 0, .ret_mid = there, .ctrl = WRITE, .len = 4},
         "the data of a write must come from memory"},
        {{.targ = 0, .targ_mid = here, .ret = 0x40000000, .ret_mid = niu_mid(0, 16), .ctrl = WRITE, .len = 4},
         "outside of the DRAM"},
        {{.targ = 0, .targ_mid = here, .ret = 0, .ret_mid = there, .ctrl = WRITE | WITH_BE, .len = 4},
         "a write with byte enables is not modelled"},
        {{.targ = 0,
          .targ_mid = here,
          .ret = 0,
          .ret_mid = 8 << 4 | 8 << 10 | 6 << 16 | 6 << 22,
          .ctrl = WRITE | MCAST,
          .len = 4},
         "the rectangle holds no compute tile"},
        {{.targ = 0, .targ_mid = here, .ret = 0, .ret_mid = 10 << 4, .ctrl = WRITE | MCAST, .len = 4},
         "the rectangle is not on the chip"},
        {{.targ = 0, .targ_mid = niu_mid(0, 16), .ctrl = WRITE | INLINE, .len = 15},
         "an inline write to DRAM is not modelled"},
        {{.targ = 0, .targ_mid = there, .ctrl = ATOMIC, .len = 2 << 12}, "this atomic is not documented"},
        {{.targ = 2, .targ_mid = there, .ctrl = ATOMIC, .len = 1 << 12},
         "an atomic must aim at an aligned word"},
        {{.targ = RIG_SOFT_RESET, .targ_mid = there, .ctrl = ATOMIC, .len = 1 << 12},
         "an atomic must aim at L1"},
        {{.targ = 0, .targ_mid = there, .ctrl = ATOMIC | MCAST, .len = 1 << 12},
         "a broadcast of an atomic is not modelled"},
        {{.targ = 0, .targ_mid = there, .ret_mid = there, .ctrl = ATOMIC | MARKED, .len = 1 << 12},
         "an atomic must return to the tile itself"},
        {{.ctrl = 3}, "request type 3 is reserved"},
        {{.ctrl = 1 << 20}, "reserved bits of NOC_CTRL are set"},
        {{.tag = 1 << 9, .ctrl = READ}, "this NOC_PACKET_TAG is not modelled"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        sim *s = make();
        request r = cases[i].r;
        r.initiator = 3;
        /* The fields from here, the command by a hart: so that there is a refusal with a text. */
        niu_fill(s, 0, &r);
        RIG_LOAD(s, 0, BRISC, RV_LUI(T0, RIG_NOC0 >> 12), RV_LI(A0, 0xC00), RV_ADD(T0, T0, A0),
                 RV_ADDI(A0, ZERO, 1), RV_SW(A0, T0, CMD), RV_HERE);
        rig_release(s, 0, 1 << BRISC);
        if (sim_clock(s, 500)) fail_msg("case %zu (%s) is not refused", i, cases[i].text);
        char expected[300] =
            "BRISC of tile (1,1) at pc 0x00000014: store of 4 bytes, 0x00000001 to 0xffb20c28: NoC 0 "
            "command of initiator 3: ";
        if (!strstr(sim_fault(s), expected) || !strstr(sim_fault(s), cases[i].text))
            fail_msg("case %zu: %s", i, sim_fault(s));
        sim_destroy(s);
    }
}

/* A request that fails only when it arrives names who made it. */
static void late_refusals_name_the_sender(void **state)
{
    (void)state;
    sim *s = make();
    rig_put(s, 0, 0x1000, 0x7);
    assert_true(niu_issue(s, 0,
                          (request){.targ = 0x1000,
                                    .targ_mid = niu_mid(0, 0),
                                    .ret = RIG_SOFT_RESET,
                                    .ret_mid = niu_mid(0, 7),
                                    .ctrl = WRITE,
                                    .len = 4}));
    assert_false(sim_clock(s, 500));
    assert_string_equal(
        sim_fault(s),
        "NoC 0 request of host at tile (1,1), pc 0x00000000, to 0xffb121b0 of tile (4,2): soft-reset bits "
        "0x00000007 are not modelled");
    sim_destroy(s);
}

static void other_registers_are_refused(void **state)
{
    (void)state;
    const uint32_t unknown[] = {0x08,  0x14,  0x30,      0x34,   0x100, 0x118,
                                0x2F8, 0x300, 0x42C + 4, 0x1000, 0xFFFC};
    for (size_t i = 0; i < sizeof unknown / sizeof *unknown; i++) {
        sim *s = make();
        uint32_t value = 0;
        assert_false(sim_tile_read(s, 0, RIG_NOC0 + unknown[i], &value, 4));
        assert_false(sim_tile_write(s, 0, RIG_NOC0 + unknown[i], &value, 4));
        assert_null(sim_fault(s)); /* a debugger's access is not a fault of the program */
        sim_destroy(s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bad_commands_are_refused),
        cmocka_unit_test(late_refusals_name_the_sender),
        cmocka_unit_test(other_registers_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
