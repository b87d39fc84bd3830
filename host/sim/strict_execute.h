/* What instructions compute, without memory and without time: for strict.c, whose instructions wait in other places than those of
 * run.c. test_sim_strict.c compares the two. */
#ifndef DEVLOG_SIM_STRICT_EXECUTE_H
#define DEVLOG_SIM_STRICT_EXECUTE_H

#include <stdbool.h>

#include "sim/rv32.h"

/* Bytes of a load or a store; 0: it is neither. */
static inline uint32_t sim_op_bytes(uint8_t code)
{
    switch (code) {
    case SIM_OP_LB:
    case SIM_OP_LBU:
    case SIM_OP_SB: return 1;
    case SIM_OP_LH:
    case SIM_OP_LHU:
    case SIM_OP_SH: return 2;
    case SIM_OP_LW:
    case SIM_OP_SW: return 4;
    }
    return 0;
}

/* A jump or a branch: *next is where it goes, if it goes somewhere. */
static inline bool sim_op_jumps(const sim_op *op, uint32_t pc, uint32_t a, uint32_t b, uint32_t *next)
{
    bool taken = false;
    switch (op->code) {
    case SIM_OP_JAL: *next = op->imm; return true;
    case SIM_OP_JALR: *next = (a + op->imm) & ~1u; return true;
    case SIM_OP_BEQ: taken = a == b; break;
    case SIM_OP_BNE: taken = a != b; break;
    case SIM_OP_BLT: taken = (int32_t)a < (int32_t)b; break;
    case SIM_OP_BGE: taken = (int32_t)a >= (int32_t)b; break;
    case SIM_OP_BLTU: taken = a < b; break;
    case SIM_OP_BGEU: taken = a >= b; break;
    default: return false;
    }
    *next = taken ? op->imm : pc + 4;
    return true;
}

/* Arithmetic. */
static inline bool sim_op_computes(const sim_op *op, uint32_t a, uint32_t b, uint32_t *result)
{
    uint32_t i = op->imm;
    switch (op->code) {
    case SIM_OP_LI: *result = i; return true;
    case SIM_OP_ADDI: *result = a + i; return true;
    case SIM_OP_SLTI: *result = (int32_t)a < (int32_t)i; return true;
    case SIM_OP_SLTIU: *result = a < i; return true;
    case SIM_OP_XORI: *result = a ^ i; return true;
    case SIM_OP_ORI: *result = a | i; return true;
    case SIM_OP_ANDI: *result = a & i; return true;
    case SIM_OP_SLLI: *result = a << i; return true;
    case SIM_OP_SRLI: *result = a >> i; return true;
    case SIM_OP_SRAI: *result = (uint32_t)((int32_t)a >> i); return true;
    case SIM_OP_ADD: *result = a + b; return true;
    case SIM_OP_SUB: *result = a - b; return true;
    case SIM_OP_SLL: *result = a << (b & 31); return true;
    case SIM_OP_SLT: *result = (int32_t)a < (int32_t)b; return true;
    case SIM_OP_SLTU: *result = a < b; return true;
    case SIM_OP_XOR: *result = a ^ b; return true;
    case SIM_OP_SRL: *result = a >> (b & 31); return true;
    case SIM_OP_SRA: *result = (uint32_t)((int32_t)a >> (b & 31)); return true;
    case SIM_OP_OR: *result = a | b; return true;
    case SIM_OP_AND: *result = a & b; return true;
    default:
        if (op->code < SIM_OP_MUL || op->code > SIM_OP_REMU) return false;
        *result = sim_muldiv((sim_opcode)op->code, a, b);
        return true;
    }
}

#endif
