/* Refusals: one line that names the access, the tile, the hart and the pc; sticky. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "support/sim_asm.h"
#include "support/sim_rig.h"

enum { TILE = 6 }; /* (3,2) */

typedef struct refusal {
    uint32_t word; /* executed with a0 = address, a1 = 0x89ABCDEF */
    uint32_t addr;
    const char *text;
} refusal;

static void check(const refusal *r, bool functional)
{
    sim_config c = rig_config();
    c.functional = functional;
    sim *s = rig_create(&c);
    RIG_LOAD(s, TILE, TRISC1, RV_LI(A0, r->addr), RV_LI(A1, 0x89ABCDEF), r->word, RV_HERE);
    rig_release(s, TILE, 1 << TRISC1);
    assert_null(sim_fault(s));
    if (sim_clock(s, 100)) fail_msg("not refused: %s", r->text);
    char expected[300];
    snprintf(expected, sizeof expected, "TRISC1 of tile (3,2) at pc 0x0000a010: %s", r->text);
    assert_string_equal(sim_fault(s), expected);
    assert_null(strchr(sim_fault(s), '\n'));
    uint64_t clock = sim_chip_clock(s);
    assert_false(sim_clock(s, 100)); /* sticky, and time stands still */
    assert_int_equal(sim_chip_clock(s), clock);
    assert_string_equal(sim_fault(s), expected);
    sim_hart_state h;
    assert_true(sim_hart(s, TILE, TRISC1, &h));
    assert_int_equal(h.pc, 0xA010);
    assert_int_equal(h.retired, 4); /* the refused instruction has not happened */
    sim_destroy(s);
}

static void what_a_hart_cannot_do(void **state)
{
    (void)state;
    const refusal cases[] = {
        {RV_LW(A2, A0, 0), 0x16E000, "load of 4 bytes from 0x0016e000: nothing is mapped there"},
        {RV_LW(A2, A0, 0), 0x1002, "load of 4 bytes from 0x00001002: the address is not aligned"},
        {RV_LH(A2, A0, 1), 0x1000, "load of 2 bytes from 0x00001001: the address is not aligned"},
        {RV_LB(A2, A0, 0), 0x20000000,
         "load of 1 byte from 0x20000000: only memory, or a register of 4 bytes, can be accessed"},
        {RV_SW(A1, A0, 0), 0x16E000, "store of 4 bytes, 0x89abcdef to 0x0016e000: nothing is mapped there"},
        {RV_SH(A1, A0, 0), 0x1001, "store of 2 bytes, 0xcdef to 0x00001001: the address is not aligned"},
        {RV_SB(A1, A0, 0), RIG_SOFT_RESET,
         "store of 1 byte, 0xef to 0xffb121b0: only memory, or a register of 4 bytes, can be accessed"},
        {RV_SW(A1, A0, 0), RIG_SOFT_RESET,
         "store of 4 bytes, 0x89abcdef to 0xffb121b0: soft-reset bits 0x89ab85ef are not modelled"},
        {RV_LW(A2, A0, 0), RIG_LOCAL + 0x800, "load of 4 bytes from 0xffb00800: nothing is mapped there"},
        {RV_SW(A1, A0, 0), 0xFFE40000, "store of 4 bytes, 0x89abcdef to 0xffe40000: nothing is mapped there"},
        {RV_LW(A2, A0, 0), RIG_ICACHE,
         "load of 4 bytes from 0xffef0274: this register is not modelled for reading"},
        {RV_SW(A1, A0, 0), RIG_ICACHE,
         "store of 4 bytes, 0x89abcdef to 0xffef0274: a mask of caches must be 1 to 31"},
        {RV_SW(ZERO, A0, 0), RIG_ICACHE,
         "store of 4 bytes, 0x00000000 to 0xffef0274: a mask of caches must be 1 to 31"},
        {RV_LW(A2, A0, 0), 0xFFB12218, "load of 4 bytes from 0xffb12218: nothing is mapped there"},
        {RV_SW(A0, A0, 0), RIG_TIMESTAMP - 7,
         "store of 4 bytes, 0xffb121f5 to 0xffb121f5: the address is not aligned"},
        {0, 0, "instruction 0x00000000: it is not an RV32IM instruction"},
        {0xFFFFFFFF, 0, "instruction 0xffffffff: it is not an RV32IM instruction"},
        {0x00008082, 0, "instruction 0x00008082: it is not an RV32IM instruction"}, /* c.ret */
        {0x1005200F, 0, "instruction 0x1005200f: it is not an RV32IM instruction"}, /* cbo */
        {0x10500073, 0, "instruction 0x10500073: it is not an RV32IM instruction"}, /* wfi */
        {0x02051513 | 1u << 30, 0,
         "instruction 0x42051513: it is not an RV32IM instruction"}, /* slli by 32 */
        {RV_EBREAK, 0, "ebreak: no debugger is attached"},
        {RV_ECALL, 0, "ecall: not modelled"},
        {RV_CSRRS(A2, 0xC00, ZERO), 0, "read of CSR 0xc00: CSR 0xc00 is not modelled"},
        {RV_CSRRW(ZERO, 0x340, A0), 0, "write of CSR 0x340: writes of CSRs are not modelled"},
        {RV_CSRRS(A2, 0x300, A0), 0, "write of CSR 0x300: writes of CSRs are not modelled"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (int functional = 0; functional < 2; functional++)
            check(&cases[i], functional);
}

/* A jump succeeds; the fetch is what is refused. */
static void fetches(void **state)
{
    (void)state;
    const struct {
        uint32_t target;
        const char *text;
    } cases[] = {
        {0x16E000, "BRISC of tile (1,1) at pc 0x0016e000: fetch of 4 bytes from 0x0016e000: there is no "
                   "memory for code there"},
        {RIG_LOCAL, "BRISC of tile (1,1) at pc 0xffb00000: fetch of 4 bytes from 0xffb00000: there is no "
                    "memory for code there"},
        {0x1002, "BRISC of tile (1,1) at pc 0x00001002: fetch of 4 bytes from 0x00001002: the address is not "
                 "aligned"},
    };
    for (size_t i = 0; i < 3; i++) {
        sim_config c = rig_config();
        sim *s = rig_create(&c);
        RIG_LOAD(s, 0, BRISC, RV_LI(A0, cases[i].target), RV_JALR(ZERO, A0, 0));
        rig_release(s, 0, 1 << BRISC);
        assert_false(sim_clock(s, 100));
        assert_string_equal(sim_fault(s), cases[i].text);
        sim_destroy(s);
    }
}

static void ncrisc_has_no_backend_configuration(void **state)
{
    (void)state;
    for (enum rig_hart hart = BRISC; hart <= NCRISC; hart++) {
        sim_config c = rig_config();
        sim *s = rig_create(&c);
        RIG_LOAD(s, 0, hart, RV_LI(A0, RIG_ICACHE), RV_ADDI(A1, ZERO, 31), RV_SW(A1, A0, 0), RV_HERE);
        rig_release(s, 0, 1u << hart);
        assert_int_equal(sim_clock(s, 100), hart != NCRISC);
        if (hart == NCRISC)
            assert_string_equal(sim_fault(s),
                                "NCRISC of tile (1,1) at pc 0x0001200c: store of 4 bytes, 0x0000001f to "
                                "0xffef0274: nothing is mapped there");
        sim_destroy(s);
    }
}

/* With several at once, the first in time counts; in the same cycle, the tile with the lower number. */
static void the_first_refusal_counts(void **state)
{
    (void)state;
    for (uint32_t delay = 0; delay < 3; delay++) {
        sim_config c = rig_config();
        sim *s = rig_create(&c);
        RIG_LOAD(s, 1, BRISC, RV_NOP, RV_EBREAK);
        RIG_LOAD(s, 8, BRISC, delay > 0 ? RV_NOP : RV_EBREAK, delay > 1 ? RV_NOP : RV_EBREAK, RV_EBREAK);
        rig_release(s, 8, 1 << BRISC);
        rig_release(s, 1, 1 << BRISC);
        assert_false(sim_clock(s, 100));
        assert_non_null(strstr(sim_fault(s), delay == 0 ? "tile (1,3)" : "tile (2,1)"));
        sim_destroy(s);
    }
}

/* The tile of the refusal stands still at once; the others finish the quantum of 32 cycles; then all stop. */
static void others_finish_the_quantum(void **state)
{
    (void)state;
    const uint32_t chunks[] = {1, 7, 32, 1000};
    for (size_t i = 0; i < 4; i++) {
        sim_config c = rig_config();
        sim *s = rig_create(&c);
        RIG_LOAD(s, 5, BRISC, RV_NOP, RV_NOP, RV_EBREAK);
        for (uint32_t tile = 0; tile < 16; tile += 15)
            RIG_LOAD(s, tile, BRISC, RV_ADDI(A0, A0, 1), RV_JAL(ZERO, -4));
        RIG_LOAD(s, 5, TRISC0, RV_ADDI(A0, A0, 1), RV_JAL(ZERO, -4));
        for (uint32_t tile = 0; tile < 16; tile += 5)
            rig_release(s, tile, tile == 5 ? 1 << BRISC | 1 << TRISC0 : tile == 10 ? 0 : 1 << BRISC);
        while (sim_clock(s, chunks[i]))
            ;
        assert_int_equal(sim_chip_clock(s), 32);
        assert_int_equal(rig_x(s, 0, BRISC, A0), 16);
        assert_int_equal(rig_x(s, 15, BRISC, A0), 16);
        assert_int_equal(rig_x(s, 5, TRISC0, A0), 1); /* after BRISC in the same cycle: it had no turn */
        sim_destroy(s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_a_hart_cannot_do),
        cmocka_unit_test(fetches),
        cmocka_unit_test(ncrisc_has_no_backend_configuration),
        cmocka_unit_test(the_first_refusal_counts),
        cmocka_unit_test(others_finish_the_quantum),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
