/* The parts of the cost model that depend on values: prediction and division. What it is not: the queues of
 * the load/store unit (timing.h). */
#include "sim/timing.h"

enum { REG_RA = 1, REG_T0 = 5, STRONG_NOT = 1, WEAK_NOT = 2, WEAK_TAKEN = 3, STRONG_TAKEN = 4 };

bool sim_predict_branch(sim_predictor *p, uint32_t pc, uint32_t target, bool taken)
{
    uint8_t *counter = &p->branch[(pc >> 2) % SIM_BRANCH_COUNTERS];
    bool guess = *counter ? *counter >= WEAK_TAKEN : target <= pc;
    if (*counter == 0)
        *counter = taken ? WEAK_TAKEN : WEAK_NOT;
    else if (taken && *counter < STRONG_TAKEN)
        (*counter)++;
    else if (!taken && *counter > STRONG_NOT)
        (*counter)--;
    return guess == taken;
}

/* Registers that hold a return address by the unprivileged ISA's table of hints for a stack of them. */
static bool is_link(uint8_t reg)
{
    return reg == REG_RA || reg == REG_T0;
}

void sim_predict_call(sim_predictor *p, uint8_t rd, uint32_t link)
{
    if (is_link(rd)) p->return_to[p->return_depth++ % SIM_RETURN_STACK] = link;
}

bool sim_predict_jump(sim_predictor *p, uint32_t pc, uint32_t target, uint8_t rd, uint8_t rs1)
{
    if (rd == SIM_SINK && is_link(rs1)) return p->return_to[--p->return_depth % SIM_RETURN_STACK] == target;
    uint32_t *last = &p->target[(pc >> 2) % SIM_JUMP_TARGETS];
    bool right = *last == target;
    *last = target;
    sim_predict_call(p, rd, pc + 4);
    return right;
}

uint32_t sim_divide_cycles(sim_opcode code, uint32_t dividend, uint32_t divisor)
{
    bool is_signed = code == SIM_OP_DIV || code == SIM_OP_REM;
    if (divisor <= 1) return 2;
    if (is_signed && dividend == 0x80000000u && divisor == UINT32_MAX) return 2;
    uint32_t magnitude = is_signed && dividend >> 31 ? -dividend : dividend;
    uint32_t bits = magnitude ? 32 - (uint32_t)__builtin_clz(magnitude) : 0;
    uint32_t cycles = 5 + bits;
    return cycles < 6 ? 6 : cycles > 33 ? 33 : cycles;
}
