/* RV32IM decoding, and the arithmetic of the M extension. What it is not: execution (run.c). */
#include "sim/rv32.h"

#include <stdbool.h>

enum { OPCODE_BITS = 0x7f };

static uint32_t bits(uint32_t word, unsigned first, unsigned count)
{
    return (word >> first) & ((1u << count) - 1);
}

/* Sign extension of the low `count` bits. */
static uint32_t extend(uint32_t value, unsigned count)
{
    uint32_t sign = 1u << (count - 1);
    return (value ^ sign) - sign;
}

static uint32_t imm_i(uint32_t w)
{
    return extend(bits(w, 20, 12), 12);
}

static uint32_t imm_s(uint32_t w)
{
    return extend(bits(w, 25, 7) << 5 | bits(w, 7, 5), 12);
}

static uint32_t imm_b(uint32_t w)
{
    return extend(bits(w, 31, 1) << 12 | bits(w, 7, 1) << 11 | bits(w, 25, 6) << 5 | bits(w, 8, 4) << 1, 13);
}

static uint32_t imm_j(uint32_t w)
{
    return extend(bits(w, 31, 1) << 20 | bits(w, 12, 8) << 12 | bits(w, 20, 1) << 11 | bits(w, 21, 10) << 1,
                  21);
}

/* By funct3. SIM_OP_ILLEGAL where there is no such instruction. */
static const uint8_t branch_codes[8] = {SIM_OP_BEQ, SIM_OP_BNE, SIM_OP_ILLEGAL, SIM_OP_ILLEGAL,
                                        SIM_OP_BLT, SIM_OP_BGE, SIM_OP_BLTU,    SIM_OP_BGEU};
static const uint8_t load_codes[8] = {SIM_OP_LB,  SIM_OP_LH,  SIM_OP_LW,      SIM_OP_ILLEGAL,
                                      SIM_OP_LBU, SIM_OP_LHU, SIM_OP_ILLEGAL, SIM_OP_ILLEGAL};
static const uint8_t store_codes[8] = {SIM_OP_SB,      SIM_OP_SH,      SIM_OP_SW,      SIM_OP_ILLEGAL,
                                       SIM_OP_ILLEGAL, SIM_OP_ILLEGAL, SIM_OP_ILLEGAL, SIM_OP_ILLEGAL};
static const uint8_t imm_codes[8] = {SIM_OP_ADDI, SIM_OP_SLLI, SIM_OP_SLTI, SIM_OP_SLTIU,
                                     SIM_OP_XORI, SIM_OP_SRLI, SIM_OP_ORI,  SIM_OP_ANDI};
static const uint8_t reg_codes[8] = {SIM_OP_ADD, SIM_OP_SLL, SIM_OP_SLT, SIM_OP_SLTU,
                                     SIM_OP_XOR, SIM_OP_SRL, SIM_OP_OR,  SIM_OP_AND};
static const uint8_t mul_codes[8] = {SIM_OP_MUL, SIM_OP_MULH, SIM_OP_MULHSU, SIM_OP_MULHU,
                                     SIM_OP_DIV, SIM_OP_DIVU, SIM_OP_REM,    SIM_OP_REMU};

static sim_op with_imm(uint8_t code, uint32_t word, uint32_t imm)
{
    return (sim_op){
        .code = code, .rd = (uint8_t)bits(word, 7, 5), .rs1 = (uint8_t)bits(word, 15, 5), .imm = imm};
}

static sim_op with_regs(uint8_t code, uint32_t word, uint32_t imm)
{
    return (sim_op){.code = code,
                    .rd = (uint8_t)bits(word, 7, 5),
                    .rs1 = (uint8_t)bits(word, 15, 5),
                    .rs2 = (uint8_t)bits(word, 20, 5),
                    .imm = imm};
}

static sim_op decode_imm(uint32_t word, unsigned funct3)
{
    uint8_t code = imm_codes[funct3];
    if (code != SIM_OP_SLLI && code != SIM_OP_SRLI) return with_imm(code, word, imm_i(word));
    unsigned funct7 = bits(word, 25, 7);
    if (code == SIM_OP_SRLI && funct7 == 0x20) return with_imm(SIM_OP_SRAI, word, bits(word, 20, 5));
    return with_imm(funct7 ? SIM_OP_ILLEGAL : code, word, bits(word, 20, 5));
}

static sim_op decode_reg(uint32_t word, unsigned funct3)
{
    switch (bits(word, 25, 7)) {
    case 0x00: return with_regs(reg_codes[funct3], word, 0);
    case 0x01: return with_regs(mul_codes[funct3], word, 0);
    case 0x20:
        if (funct3 == 0) return with_regs(SIM_OP_SUB, word, 0);
        if (funct3 == 5) return with_regs(SIM_OP_SRA, word, 0);
        break;
    }
    return (sim_op){.code = SIM_OP_ILLEGAL};
}

static sim_op decode_system(uint32_t word, unsigned funct3)
{
    if (word == 0x00000073) return (sim_op){.code = SIM_OP_ECALL};
    if (word == 0x00100073) return (sim_op){.code = SIM_OP_EBREAK};
    if (funct3 == 0 || funct3 == 4) return (sim_op){.code = SIM_OP_ILLEGAL};
    /* csrrs and csrrc (and their immediate forms) with x0 or 0 as the source read and do not write. */
    bool reads = (funct3 & 3) != 1 && bits(word, 15, 5) == 0;
    sim_op op = {.code = reads ? SIM_OP_CSR_READ : SIM_OP_CSR_WRITE, .rd = (uint8_t)bits(word, 7, 5)};
    op.imm = bits(word, 20, 12);
    return op;
}

static sim_op decode_any(uint32_t word, uint32_t pc)
{
    unsigned funct3 = bits(word, 12, 3);
    switch (word & OPCODE_BITS) {
    case 0x37: return (sim_op){.code = SIM_OP_LI, .rd = (uint8_t)bits(word, 7, 5), .imm = word & 0xfffff000};
    case 0x17:
        return (sim_op){.code = SIM_OP_LI, .rd = (uint8_t)bits(word, 7, 5), .imm = pc + (word & 0xfffff000)};
    case 0x6f: return (sim_op){.code = SIM_OP_JAL, .rd = (uint8_t)bits(word, 7, 5), .imm = pc + imm_j(word)};
    case 0x67: return with_imm(funct3 ? SIM_OP_ILLEGAL : SIM_OP_JALR, word, imm_i(word));
    case 0x63: return with_regs(branch_codes[funct3], word, pc + imm_b(word));
    case 0x03: return with_imm(load_codes[funct3], word, imm_i(word));
    case 0x23: return with_regs(store_codes[funct3], word, imm_s(word));
    case 0x13: return decode_imm(word, funct3);
    case 0x33: return decode_reg(word, funct3);
    case 0x0f: return (sim_op){.code = funct3 > 1 ? SIM_OP_ILLEGAL : SIM_OP_FENCE};
    case 0x73: return decode_system(word, funct3);
    }
    return (sim_op){.code = SIM_OP_ILLEGAL};
}

sim_op sim_decode(uint32_t word, uint32_t pc)
{
    sim_op op = decode_any(word, pc);
    if (op.code == SIM_OP_ILLEGAL) return (sim_op){.code = SIM_OP_ILLEGAL, .rd = SIM_SINK, .imm = word};
    /* Stores and branches have no destination: their rd field holds a part of the immediate. */
    bool has_rd =
        !(op.code >= SIM_OP_BEQ && op.code <= SIM_OP_BGEU) && !(op.code >= SIM_OP_SB && op.code <= SIM_OP_SW);
    if (!has_rd || op.rd == 0) op.rd = SIM_SINK;
    return op;
}

static uint32_t divide(int32_t a, int32_t b)
{
    if (b == 0) return UINT32_MAX;
    if (a == INT32_MIN && b == -1) return (uint32_t)a;
    return (uint32_t)(a / b);
}

static uint32_t remainder_of(int32_t a, int32_t b)
{
    if (b == 0) return (uint32_t)a;
    if (a == INT32_MIN && b == -1) return 0;
    return (uint32_t)(a % b);
}

uint32_t sim_muldiv(sim_opcode code, uint32_t a, uint32_t b)
{
    int64_t sa = (int32_t)a, sb = (int32_t)b;
    switch (code) {
    case SIM_OP_MUL: return a * b;
    case SIM_OP_MULH: return (uint32_t)((uint64_t)(sa * sb) >> 32);
    case SIM_OP_MULHSU: return (uint32_t)((uint64_t)(sa * (int64_t)(uint64_t)b) >> 32);
    case SIM_OP_MULHU: return (uint32_t)((uint64_t)a * b >> 32);
    case SIM_OP_DIV: return divide((int32_t)a, (int32_t)b);
    case SIM_OP_DIVU: return b ? a / b : UINT32_MAX;
    case SIM_OP_REM: return remainder_of((int32_t)a, (int32_t)b);
    default: return b ? a % b : a; /* remu */
    }
}
