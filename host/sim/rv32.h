/* RV32IM instructions, decoded once per word of memory.
 *
 * What it is for: turning an instruction word at an address into a small record that run.c executes without
 * looking at the word again. What it is not: execution, timing, or any state.
 *
 * Encodings: The RISC-V Instruction Set Manual, volume I, "RV32I Base Integer Instruction Set", "M" and
 * "Zicsr". A destination x0 is replaced by the sink register SIM_SINK, so that execution needs no test for
 * it; targets of jumps and branches, and the results of lui and auipc, are computed here. */
#ifndef DEVLOG_SIM_RV32_H
#define DEVLOG_SIM_RV32_H

#include <stdint.h>

enum { SIM_SINK = 32, SIM_REGS = 33 };

typedef enum sim_opcode {
    SIM_OP_UNDECODED, /* zero, so that fresh memory is undecoded */
    SIM_OP_ILLEGAL,
    SIM_OP_LI, /* lui and auipc */
    SIM_OP_JAL,
    SIM_OP_JALR,
    SIM_OP_BEQ,
    SIM_OP_BNE,
    SIM_OP_BLT,
    SIM_OP_BGE,
    SIM_OP_BLTU,
    SIM_OP_BGEU,
    SIM_OP_LB,
    SIM_OP_LH,
    SIM_OP_LW,
    SIM_OP_LBU,
    SIM_OP_LHU,
    SIM_OP_SB,
    SIM_OP_SH,
    SIM_OP_SW,
    SIM_OP_ADDI,
    SIM_OP_SLTI,
    SIM_OP_SLTIU,
    SIM_OP_XORI,
    SIM_OP_ORI,
    SIM_OP_ANDI,
    SIM_OP_SLLI,
    SIM_OP_SRLI,
    SIM_OP_SRAI,
    SIM_OP_ADD,
    SIM_OP_SUB,
    SIM_OP_SLL,
    SIM_OP_SLT,
    SIM_OP_SLTU,
    SIM_OP_XOR,
    SIM_OP_SRL,
    SIM_OP_SRA,
    SIM_OP_OR,
    SIM_OP_AND,
    SIM_OP_MUL,
    SIM_OP_MULH,
    SIM_OP_MULHSU,
    SIM_OP_MULHU,
    SIM_OP_DIV,
    SIM_OP_DIVU,
    SIM_OP_REM,
    SIM_OP_REMU,
    SIM_OP_FENCE, /* fence and fence.i: nothing to do */
    SIM_OP_CSR_READ,
    SIM_OP_CSR_WRITE,
    SIM_OP_ECALL,
    SIM_OP_EBREAK,
} sim_opcode;

typedef struct sim_op {
    uint8_t code; /* sim_opcode */
    uint8_t rd;   /* SIM_SINK for x0 */
    uint8_t rs1, rs2;
    uint32_t imm; /* immediate; absolute target of jal and branches; number of a CSR; an illegal word */
} sim_op;

sim_op sim_decode(uint32_t word, uint32_t pc);

/* M extension, with the results that the specification gives for division by zero and overflow. */
uint32_t sim_muldiv(sim_opcode code, uint32_t a, uint32_t b);

#endif
