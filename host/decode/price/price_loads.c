/* Loops that read L1 on Blackhole, whose data cache has four lines: which of their loads miss depends on which lines a change of
 * segments or the beginning of a loop left there, and no record shows it. For price_table.c, which says it of a kernel that went
 * around one together with markers. Not for the price of a load. */
#include <stdlib.h>
#include <string.h>

#include "decode/price/price_loops.h"

enum { SP = 2, SWEEPS = 32 };

#define LOCAL 0xFFB00000u /* the RAM of a core; what is above it is not cached either */

/* Which registers point elsewhere than to L1 behind an instruction, by those in front of it: what is made of the stack's pointer or
 * of constants above L1. Tables of a switch, in the code, are read where they were. */
static uint32_t behind(const price_code *c, uint32_t at, uint32_t elsewhere)
{
    enum { KEPT = 1u << SP | 3u << 8 | 0x3FFu << 18 /* by who is called: s0 to s11 */ };
    const sim_op op = c->ops[at];
    const bool a = elsewhere >> op.rs1 & 1, b = elsewhere >> op.rs2 & 1;
    if (c->marker_at[at] || op.code <= SIM_OP_ILLEGAL) return elsewhere;
    if (price_is_call(op)) return elsewhere & KEPT;
    bool made = false;
    if (op.code == SIM_OP_LI)
        made = op.imm >= LOCAL || op.imm - c->base < 4 * c->n;
    else if (op.code == SIM_OP_ADDI)
        made = a;
    else if (op.code == SIM_OP_ADD)
        made = a || b;
    const bool writes = !price_is_branch(op) && !(op.code >= SIM_OP_SB && op.code <= SIM_OP_SW);
    if (!writes || op.rd == SIM_SINK || op.rd == SP) return elsewhere;
    return (elsewhere & ~(UINT32_C(1) << op.rd)) | (uint32_t)made << op.rd;
}

/* The same in front of every word, whichever way one comes there. */
static void find_pointers(const price_code *c, uint32_t *elsewhere)
{
    const price_loops *loops = c->loops;
    memset(elsewhere, 0xFF, c->n * sizeof *elsewhere);
    for (uint32_t i = 0; i < loops->n_functions; i++)
        elsewhere[loops->functions[i]] = 1u << SP;
    bool more = true;
    for (int sweep = 0; sweep < SWEEPS && more; sweep++) {
        more = false;
        for (uint32_t at = 0; at < c->n; at++) {
            const uint32_t left = behind(c, at, elsewhere[at]);
            for (uint32_t i = 0, to; price_successor(c, at, &i, &to);) {
                more |= (elsewhere[to] & ~left) != 0;
                elsewhere[to] &= left;
            }
        }
    }
    for (uint32_t at = 0; at < c->n && more; at++)
        elsewhere[at] = 1u << SP; /* it is too much code for more */
}

/* A loop's loads come again and again where no marker is among them; otherwise they must be more than the cache has lines to go
 * around it. */
typedef struct loop {
    uint32_t loads, word; /* how many; the last of them */
    bool markers;
} loop;

bool price_find_loads(price_code *c)
{
    const price_loops *loops = c->loops;
    uint32_t *elsewhere = calloc(c->n, sizeof *elsewhere);
    loop *of = calloc(loops->n_loops, sizeof *of);
    c->loading = calloc(loops->n_loops, sizeof *c->loading);
    const bool good = elsewhere && of && c->loading;
    if (good) find_pointers(c, elsewhere);
    for (uint32_t at = 0; at < c->n && good; at++) {
        loop *l = &of[loops->inner[at]];
        const sim_op op = c->ops[at];
        const bool loads = op.code >= SIM_OP_LB && op.code <= SIM_OP_LHU && !c->marker_at[at] &&
                           !(elsewhere[at] >> op.rs1 & 1);
        l->markers |= c->marker_at[at] && c->markers[c->marker_at[at] - 1].part != PRICE_NONE;
        l->loads += loads;
        if (loads) l->word = at;
    }
    for (uint32_t i = PRICE_NO_LOOP + 1; i < loops->n_loops && good; i++)
        if (of[i].loads > (of[i].markers ? SIM_CACHE_LINES : 0u)) c->loading[c->n_loading++] = of[i].word;
    free(elsewhere);
    free(of);
    return good;
}

bool price_has_loads(const price_code *c)
{
    for (uint32_t i = 0; i < c->n_loading; i++)
        for (uint32_t k = 0; k < c->n_markers; k++) {
            const price_marker *m = &c->markers[k];
            if (m->part != PRICE_NONE && !m->unlikely &&
                price_go_around_together(c->loops, m->start, c->loading[i]))
                return true;
        }
    return false;
}
