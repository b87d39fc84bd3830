/* The simulator as a whole: code is written through the PCIe window, harts are released, they run and are
 * seen. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "support/sim_asm.h"
#include "support/sim_rig.h"

static void five_harts_run_from_their_reset_pcs(void **state)
{
    (void)state;
    sim_config c = rig_config();
    sim *s = rig_create(&c);
    for (uint32_t hart = BRISC; hart <= NCRISC; hart++)
        RIG_LOAD(s, 0, hart, RV_ADDI(A0, ZERO, (int32_t)hart + 1), RV_SW(A0, ZERO, 0x100 + 4 * (int32_t)hart),
                 RV_HERE);
    rig_release(s, 0, 0x1f);
    assert_true(sim_clock(s, 100));
    for (uint32_t hart = BRISC; hart <= NCRISC; hart++) {
        assert_int_equal(rig_word(s, 0, 0x100 + 4 * hart), hart + 1);
        assert_int_equal(rig_word(s, 1, 0x100 + 4 * hart), 0);
    }
    assert_null(sim_fault(s));
    sim_destroy(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(five_harts_run_from_their_reset_pcs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
