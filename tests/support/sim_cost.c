/* The cycles of a sequence: see the header. */
#include "support/sim_cost.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "support/sim_asm.h"
#include "support/sim_rig.h"

void cost_trace(sim_cores cores, const uint32_t *code, uint32_t n_words, uint32_t a, uint32_t b,
                bool functional, uint32_t *at, uint32_t count)
{
    sim_config c = rig_config();
    c.n_tiles = 1;
    c.functional = functional;
    c.cores = cores;
    sim *s = rig_create(&c);
    uint32_t image[COST_MOST + 8] = {RV_LI(A0, a), RV_LI(A1, b), RV_LUI(T0, 0x20),
                                     RV_LUI(T1, RIG_LOCAL >> 12), RV_LI(T2, RIG_CLOCK)};
    memcpy(&image[8], code, n_words * 4);
    rig_load(s, 0, BRISC, image, n_words + 8);
    rig_release(s, 0, 1 << BRISC);
    sim_hart_state h = {0};
    uint64_t retired = 0, first = 0;
    for (uint32_t seen = 0; seen < count;) {
        assert_true(sim_clock(s, 1));
        assert_true(sim_hart(s, 0, BRISC, &h));
        if (h.retired == retired) continue;
        retired = h.retired;
        if (retired <= 8) continue;
        if (retired == 9) first = sim_chip_clock(s);
        at[seen++] = (uint32_t)(sim_chip_clock(s) - first);
    }
    sim_destroy(s);
}

void cost_check(sim_cores cores, const char *what, const cost_sequence *q, uint32_t a, uint32_t b)
{
    uint32_t at[COST_MOST];
    cost_trace(cores, q->code, q->n_words, a, b, false, at, q->n_expected);
    for (uint32_t i = 0; i < q->n_expected; i++)
        if (at[i] != q->expected[i])
            fail_msg("%s: instruction %u starts at %u, not at %u", what, i, at[i], q->expected[i]);
}
