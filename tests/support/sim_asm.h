/* A small RV32IM encoder, so that simulator tests need no cross compiler. What it is not: an assembler; there
 * are no labels (branch offsets are in bytes, relative to the branch). */
#ifndef DEVLOG_TESTS_SUPPORT_SIM_ASM_H
#define DEVLOG_TESTS_SUPPORT_SIM_ASM_H

#include <stdint.h>

enum rv_reg {
    ZERO,
    RA,
    SP,
    GP,
    TP,
    T0,
    T1,
    T2,
    S0,
    S1,
    A0,
    A1,
    A2,
    A3,
    A4,
    A5,
    A6,
    A7,
    S2,
    S3,
    S4,
    S5,
    S6,
    S7,
    S8,
    S9,
    S10,
    S11,
    T3,
    T4,
    T5,
    T6,
};

static inline uint32_t rv_r(uint32_t f7, uint32_t f3, uint32_t rd, uint32_t rs1, uint32_t rs2)
{
    return f7 << 25 | rs2 << 20 | rs1 << 15 | f3 << 12 | rd << 7 | 0x33;
}

static inline uint32_t rv_i(uint32_t opcode, uint32_t f3, uint32_t rd, uint32_t rs1, int32_t imm)
{
    return (uint32_t)imm << 20 | rs1 << 15 | f3 << 12 | rd << 7 | opcode;
}

static inline uint32_t rv_s(uint32_t f3, uint32_t rs2, uint32_t rs1, int32_t imm)
{
    uint32_t u = (uint32_t)imm;
    return (u >> 5 & 0x7f) << 25 | rs2 << 20 | rs1 << 15 | f3 << 12 | (u & 31) << 7 | 0x23;
}

static inline uint32_t rv_b(uint32_t f3, uint32_t rs1, uint32_t rs2, int32_t offset)
{
    uint32_t u = (uint32_t)offset;
    return (u >> 12 & 1) << 31 | (u >> 5 & 0x3f) << 25 | rs2 << 20 | rs1 << 15 | f3 << 12 |
           (u >> 1 & 15) << 8 | (u >> 11 & 1) << 7 | 0x63;
}

#define RV_LUI(rd, imm20)   ((uint32_t)(imm20) << 12 | (uint32_t)(rd) << 7 | 0x37)
#define RV_AUIPC(rd, imm20) ((uint32_t)(imm20) << 12 | (uint32_t)(rd) << 7 | 0x17)

static inline uint32_t RV_JAL(uint32_t rd, int32_t offset)
{
    uint32_t u = (uint32_t)offset;
    return (u >> 20 & 1) << 31 | (u >> 1 & 0x3ff) << 21 | (u >> 11 & 1) << 20 | (u >> 12 & 0xff) << 12 |
           rd << 7 | 0x6f;
}

#define RV_JALR(rd, rs1, imm)  rv_i(0x67, 0, rd, rs1, imm)
#define RV_BEQ(a, b, offset)   rv_b(0, a, b, offset)
#define RV_BNE(a, b, offset)   rv_b(1, a, b, offset)
#define RV_BLT(a, b, offset)   rv_b(4, a, b, offset)
#define RV_BGE(a, b, offset)   rv_b(5, a, b, offset)
#define RV_BLTU(a, b, offset)  rv_b(6, a, b, offset)
#define RV_BGEU(a, b, offset)  rv_b(7, a, b, offset)
#define RV_LB(rd, rs1, imm)    rv_i(0x03, 0, rd, rs1, imm)
#define RV_LH(rd, rs1, imm)    rv_i(0x03, 1, rd, rs1, imm)
#define RV_LW(rd, rs1, imm)    rv_i(0x03, 2, rd, rs1, imm)
#define RV_LBU(rd, rs1, imm)   rv_i(0x03, 4, rd, rs1, imm)
#define RV_LHU(rd, rs1, imm)   rv_i(0x03, 5, rd, rs1, imm)
#define RV_SB(rs2, rs1, imm)   rv_s(0, rs2, rs1, imm)
#define RV_SH(rs2, rs1, imm)   rv_s(1, rs2, rs1, imm)
#define RV_SW(rs2, rs1, imm)   rv_s(2, rs2, rs1, imm)
#define RV_ADDI(rd, rs1, imm)  rv_i(0x13, 0, rd, rs1, imm)
#define RV_SLTI(rd, rs1, imm)  rv_i(0x13, 2, rd, rs1, imm)
#define RV_SLTIU(rd, rs1, imm) rv_i(0x13, 3, rd, rs1, imm)
#define RV_XORI(rd, rs1, imm)  rv_i(0x13, 4, rd, rs1, imm)
#define RV_ORI(rd, rs1, imm)   rv_i(0x13, 6, rd, rs1, imm)
#define RV_ANDI(rd, rs1, imm)  rv_i(0x13, 7, rd, rs1, imm)
#define RV_SLLI(rd, rs1, n)    rv_i(0x13, 1, rd, rs1, n)
#define RV_SRLI(rd, rs1, n)    rv_i(0x13, 5, rd, rs1, n)
#define RV_SRAI(rd, rs1, n)    rv_i(0x13, 5, rd, rs1, (n) | 0x400)
#define RV_ADD(rd, a, b)       rv_r(0x00, 0, rd, a, b)
#define RV_SUB(rd, a, b)       rv_r(0x20, 0, rd, a, b)
#define RV_SLL(rd, a, b)       rv_r(0x00, 1, rd, a, b)
#define RV_SLT(rd, a, b)       rv_r(0x00, 2, rd, a, b)
#define RV_SLTU(rd, a, b)      rv_r(0x00, 3, rd, a, b)
#define RV_XOR(rd, a, b)       rv_r(0x00, 4, rd, a, b)
#define RV_SRL(rd, a, b)       rv_r(0x00, 5, rd, a, b)
#define RV_SRA(rd, a, b)       rv_r(0x20, 5, rd, a, b)
#define RV_OR(rd, a, b)        rv_r(0x00, 6, rd, a, b)
#define RV_AND(rd, a, b)       rv_r(0x00, 7, rd, a, b)
#define RV_MUL(rd, a, b)       rv_r(0x01, 0, rd, a, b)
#define RV_MULH(rd, a, b)      rv_r(0x01, 1, rd, a, b)
#define RV_MULHSU(rd, a, b)    rv_r(0x01, 2, rd, a, b)
#define RV_MULHU(rd, a, b)     rv_r(0x01, 3, rd, a, b)
#define RV_DIV(rd, a, b)       rv_r(0x01, 4, rd, a, b)
#define RV_DIVU(rd, a, b)      rv_r(0x01, 5, rd, a, b)
#define RV_REM(rd, a, b)       rv_r(0x01, 6, rd, a, b)
#define RV_REMU(rd, a, b)      rv_r(0x01, 7, rd, a, b)
#define RV_CSRRS(rd, csr, rs1) rv_i(0x73, 2, rd, rs1, csr)
#define RV_CSRRW(rd, csr, rs1) rv_i(0x73, 1, rd, rs1, csr)
#define RV_NOP                 RV_ADDI(ZERO, ZERO, 0)
#define RV_FENCE               0x0ff0000fu
#define RV_FENCE_I             0x0000100fu
#define RV_ECALL               0x00000073u
#define RV_EBREAK              0x00100073u
#define RV_HERE                RV_JAL(ZERO, 0) /* an endless loop */

/* Two words that load any constant. */
#define RV_LI(rd, value)                                                                                     \
    RV_LUI(rd, ((uint32_t)(value) + 0x800u) >> 12),                                                          \
        RV_ADDI(rd, rd, (int32_t)(((uint32_t)(value)&0xfffu) ^ 0x800u) - 0x800)

#endif
