/* One instruction of a hart: fetch, effects, and when the next can start.
 *
 * What it is for: run.c, which includes it alone and makes copies of step() for each model of cost. What it is not: the order of
 * the harts of a tile (run.c), decoding (rv32.c), the cost of things (timing.h), registers (tile.c). An instruction has all its
 * effects in the cycle in which it starts. */
#ifndef DEVLOG_SIM_STEP_H
#define DEVLOG_SIM_STEP_H

#include <stdio.h>
#include <string.h>

#include "sim/ahead.h"
#include "sim/tile.h"

#define ALWAYS_INLINE static inline __attribute__((always_inline))
#define LIKELY(x)     __builtin_expect(!!(x), 1)
#define UNLIKELY(x)   __builtin_expect(!!(x), 0)

/* What instructions cost: a cycle each, or what the pipeline of the chip says. */
typedef enum sim_model { FUNCTIONAL, WORMHOLE, BLACKHOLE } sim_model;

/* What an instruction does next, other than a time. */
#define STOPPED SIM_NEVER

static uint32_t number(const sim_tile *t, const sim_hart_core *h)
{
    return (uint32_t)(h - t->harts);
}

static sim_by by_hart(const sim_tile *t, const sim_hart_core *h, uint64_t now)
{
    return (sim_by){.now = now, .pc = h->pc, .hart = (uint8_t)number(t, h)};
}

/* Every refusal of a hart reads alike: what it did, and why that cannot be. */
SIM_COLD static uint64_t refuse(sim_tile *t, sim_hart_core *h, uint64_t now, const char *what,
                                const char *why)
{
    if (sim_ahead_abandon(t)) return STOPPED;
    uint8_t hart = (uint8_t)number(t, h);
    sim_refuse(t, hart, now, "%s of tile (%u,%u) at pc 0x%08x: %s: %s", sim_hart_name(t, hart), t->config->x,
               t->config->y, h->pc, what, why);
    return STOPPED;
}

/* ---- Memory access --------------------------------------------------------------------------------- */

typedef struct access {
    uint32_t addr, value, size;
    sim_region region;
} access;

static const char *misfit(const access *a)
{
    return a->addr & (a->size - 1) ? "the address is not aligned" : NULL;
}

SIM_COLD static bool refuse_access(sim_tile *t, sim_hart_core *h, uint64_t now, const access *a, bool store,
                                   const char *why)
{
    char what[80];
    if (store)
        snprintf(what, sizeof what, "store of %u byte%s, 0x%0*x to 0x%08x", a->size, a->size > 1 ? "s" : "",
                 (int)(2 * a->size), a->value, a->addr);
    else
        snprintf(what, sizeof what, "load of %u byte%s from 0x%08x", a->size, a->size > 1 ? "s" : "",
                 a->addr);
    refuse(t, h, now, what, why);
    return false;
}

/* Everything but L1 and the local RAM. */
__attribute__((noinline)) static bool load_elsewhere(sim_tile *t, sim_hart_core *h, uint64_t now, access *a)
{
    const char *why = misfit(a);
    const sim_bank *b = why ? NULL : sim_tile_bank(t, a->addr, a->size);
    if (b) {
        uint32_t offset = a->addr - b->base;
        if (t->ahead && !sim_ahead_claim(t, b, number(t, h), offset, false)) return false;
        memcpy(&a->value, b->bytes + offset, a->size);
        a->region = SIM_REGION_RAM;
        return true;
    }
    if (!why && a->size != 4) why = "only memory, or a register of 4 bytes, can be accessed";
    if (!why && t->ahead && !sim_ahead_can_read(t, now, a->addr)) return !sim_ahead_abandon(t);
    if (!why) why = sim_reg_read(t, by_hart(t, h, now), a->addr, &a->value);
    a->region = SIM_REGION_REGISTER;
    return why ? refuse_access(t, h, now, a, false, why) : true;
}

/* In memory; in a trial it is noted. False: the trial is abandoned. */
ALWAYS_INLINE bool store_to(sim_tile *t, sim_hart_core *h, uint64_t now, const sim_bank *b, const access *a,
                            bool ahead)
{
    uint32_t offset = a->addr - b->base;
    uint8_t flags = b->pages[offset >> SIM_PAGE_BITS];
    if (ahead) {
        if (flags & SIM_PAGE_CODE && b->ops[offset / 4].code != SIM_OP_UNDECODED)
            return !sim_ahead_abandon(t);
        if (!sim_ahead_claim(t, b, number(t, h), offset, true)) return false;
    }
    memcpy(b->bytes + offset, &a->value, a->size);
    if (UNLIKELY(flags)) sim_bank_stored(t, b, by_hart(t, h, now), offset, a->value, a->size);
    return true;
}

__attribute__((noinline)) static bool store_elsewhere(sim_tile *t, sim_hart_core *h, uint64_t now, access *a)
{
    const char *why = misfit(a);
    const sim_bank *b = why ? NULL : sim_tile_bank(t, a->addr, a->size);
    a->region = b ? SIM_REGION_RAM : SIM_REGION_REGISTER;
    if (b) return store_to(t, h, now, b, a, t->ahead);
    if (sim_ahead_abandon(t)) return false; /* a write to a register is for all to see */
    if (!why && a->size != 4) why = "only memory, or a register of 4 bytes, can be accessed";
    if (!why) why = sim_reg_write(t, by_hart(t, h, now), a->addr, a->value);
    return why ? refuse_access(t, h, now, a, true, why) : true;
}

ALWAYS_INLINE bool load(sim_tile *t, sim_hart_core *h, uint64_t now, access *a, const bool ahead)
{
    const sim_bank *l1 = &t->banks[0];
    uint32_t offset = a->addr - l1->base;
    if (LIKELY(offset < l1->size && !(offset & (a->size - 1)))) {
        if (ahead && UNLIKELY(!sim_ahead_claim(t, l1, number(t, h), offset, false))) return false;
        memcpy(&a->value, l1->bytes + offset, a->size);
        a->region = SIM_REGION_RAM;
        return true;
    }
    offset = a->addr - h->local_base;
    if (LIKELY(offset < h->local_size && !(offset & (a->size - 1)))) {
        memcpy(&a->value, h->local + offset, a->size);
        a->region = SIM_REGION_LOCAL;
        return true;
    }
    return load_elsewhere(t, h, now, a);
}

ALWAYS_INLINE bool store(sim_tile *t, sim_hart_core *h, uint64_t now, access *a, const bool ahead)
{
    const sim_bank *l1 = &t->banks[0];
    uint32_t offset = a->addr - l1->base;
    if (LIKELY(offset < l1->size && !(offset & (a->size - 1)))) {
        a->region = SIM_REGION_RAM;
        return store_to(t, h, now, l1, a, ahead);
    }
    offset = a->addr - h->local_base;
    if (LIKELY(offset < h->local_size && !(offset & (a->size - 1)))) {
        if (ahead) sim_ahead_store_local(t, h->local + offset);
        memcpy(h->local + offset, &a->value, a->size);
        a->region = SIM_REGION_LOCAL;
        return true;
    }
    return store_elsewhere(t, h, now, a);
}

/* ---- Fetch ----------------------------------------------------------------------------------------- */

/* The word's index in the bank, or something too large if pc is outside of it or not a multiple of four. */
ALWAYS_INLINE uint32_t word_index(const sim_bank *b, uint32_t pc)
{
    uint32_t offset = pc - b->base;
    return offset >> 2 | offset << 30;
}

/* pc is not in the bank where it was, or its word has not been decoded. False: refused. */
__attribute__((noinline)) static bool find_code(sim_tile *t, sim_hart_core *h, uint64_t now)
{
    sim_bank *b = h->pc & 3 ? NULL : sim_tile_bank(t, h->pc, 4);
    if (!b) {
        char what[48];
        snprintf(what, sizeof what, "fetch of 4 bytes from 0x%08x", h->pc);
        refuse(t, h, now, what,
               h->pc & 3 ? "the address is not aligned" : "there is no memory for code there");
        return false;
    }
    uint32_t offset = h->pc - b->base, word;
    if (t->ahead && !sim_ahead_claim(t, b, number(t, h), offset, false)) return false;
    memcpy(&word, b->bytes + offset, sizeof word);
    b->ops[offset / 4] = sim_decode(word, h->pc);
    b->pages[offset >> SIM_PAGE_BITS] |= SIM_PAGE_CODE;
    h->code = b;
    return true;
}

/* ---- Rare instructions ----------------------------------------------------------------------------- */

SIM_COLD static uint64_t refuse_illegal(sim_tile *t, sim_hart_core *h, uint64_t now, uint32_t word)
{
    char what[48];
    snprintf(what, sizeof what, "instruction 0x%08x", word);
    return refuse(t, h, now, what, "it is not an RV32IM instruction");
}

SIM_COLD static uint64_t trap(sim_tile *t, sim_hart_core *h, uint64_t now, bool is_ebreak)
{
    if (sim_ahead_abandon(t)) return STOPPED;
    if (is_ebreak && h->debugged) {
        sim_hart_pause(t, number(t, h), true, now);
        return STOPPED;
    }
    return refuse(t, h, now, is_ebreak ? "ebreak" : "ecall",
                  is_ebreak ? "no debugger is attached" : "not modelled");
}

__attribute__((noinline)) static bool read_csr(sim_tile *t, sim_hart_core *h, uint64_t now, uint32_t csr,
                                               uint32_t *value)
{
    const char *why = sim_csr_read(t, by_hart(t, h, now), csr, value);
    if (!why) return true;
    char what[48];
    snprintf(what, sizeof what, "read of CSR 0x%03x", csr);
    refuse(t, h, now, what, why);
    return false;
}

SIM_COLD static uint64_t refuse_csr_write(sim_tile *t, sim_hart_core *h, uint64_t now, uint32_t csr)
{
    char what[48];
    snprintf(what, sizeof what, "write of CSR 0x%03x", csr);
    return refuse(t, h, now, what, "writes of CSRs are not modelled");
}

/* ---- One instruction ------------------------------------------------------------------------------- */

/* Runs one instruction of h, which is ready, in cycle `now`. Returns when it is ready for the next. `model`
 * and `ahead` are constants, so that there is a copy of this for each combination. */
ALWAYS_INLINE uint64_t step(sim_tile *t, sim_hart_core *h, uint64_t now, const sim_model model,
                            const bool ahead)
{
    const bool timed = model != FUNCTIONAL;
    const sim_cores cores = model == BLACKHOLE ? SIM_CORES_BLACKHOLE : SIM_CORES_WORMHOLE;
    uint32_t index = word_index(h->code, h->pc);
    if (UNLIKELY(index >= h->code->size / 4 || h->code->ops[index].code == SIM_OP_UNDECODED)) {
        if (!find_code(t, h, now)) return STOPPED;
        index = word_index(h->code, h->pc);
    }
    const sim_op op = h->code->ops[index];
    /* Whether something in flight can delay this instruction. */
    const bool queued = timed && now < h->pipe.quiet;
    if (queued) {
        uint64_t ready = sim_pipe_operands(cores, &h->pipe, op, now);
        if (ready > now) return ready;
    }

    uint32_t *x = h->x, pc = h->pc, next = pc + 4, cycles = 1, latency = 1;
    const uint32_t a = x[op.rs1], b = x[op.rs2];
    access mem;
    bool taken;
    switch (op.code) {
    case SIM_OP_LI: x[op.rd] = op.imm; break;
    case SIM_OP_JAL:
        x[op.rd] = next;
        if (timed) sim_predict_call(&h->predictor, op.rd, next);
        next = op.imm;
        break;
    case SIM_OP_JALR: {
        uint32_t target = (a + op.imm) & ~1u;
        x[op.rd] = next;
        if (timed && !sim_predict_jump(&h->predictor, pc, target, op.rd, op.rs1))
            cycles = sim_mispredict_cycles(cores);
        next = target;
        break;
    }
    case SIM_OP_BEQ: taken = a == b; goto branch;
    case SIM_OP_BNE: taken = a != b; goto branch;
    case SIM_OP_BLT: taken = (int32_t)a < (int32_t)b; goto branch;
    case SIM_OP_BGE: taken = (int32_t)a >= (int32_t)b; goto branch;
    case SIM_OP_BLTU: taken = a < b; goto branch;
    case SIM_OP_BGEU:
        taken = a >= b;
    branch:
        if (timed && !sim_predict_branch(&h->predictor, pc, op.imm, taken))
            cycles = sim_mispredict_cycles(cores);
        if (taken) next = op.imm;
        break;
#define LOAD(bytes, type)                                                                                    \
    mem = (access){.addr = a + op.imm, .size = (bytes)};                                                     \
    if (!load(t, h, now, &mem, ahead)) return STOPPED;                                                       \
    x[op.rd] = (uint32_t)(type)mem.value;                                                                    \
    goto loaded
    case SIM_OP_LB: LOAD(1, int8_t);
    case SIM_OP_LH: LOAD(2, int16_t);
    case SIM_OP_LW: LOAD(4, int32_t);
    case SIM_OP_LBU: LOAD(1, uint8_t);
    case SIM_OP_LHU:
        LOAD(2, uint16_t);
    loaded:
        h->loads++;
        h->retired++;
        h->pc = next;
        return timed ? sim_pipe_load(cores, &h->pipe, op.rd, now, mem.region, mem.addr, mem.size) : now + 1;
#define STORE(bytes, type)                                                                                   \
    mem = (access){.addr = a + op.imm, .value = (type)b, .size = (bytes)};                                   \
    if (!store(t, h, now, &mem, ahead)) return STOPPED;                                                      \
    goto stored
    case SIM_OP_SB: STORE(1, uint8_t);
    case SIM_OP_SH: STORE(2, uint16_t);
    case SIM_OP_SW:
        STORE(4, uint32_t);
    stored:
        h->stores++;
        h->retired++;
        h->pc = next;
        if (!ahead && UNLIKELY(h->started == SIM_NEVER)) return STOPPED; /* it has reset itself */
        return timed ? sim_pipe_store(cores, &h->pipe, now, mem.region, mem.addr, mem.size) : now + 1;
    case SIM_OP_ADDI: x[op.rd] = a + op.imm; break;
    case SIM_OP_SLTI: x[op.rd] = (int32_t)a < (int32_t)op.imm; break;
    case SIM_OP_SLTIU: x[op.rd] = a < op.imm; break;
    case SIM_OP_XORI: x[op.rd] = a ^ op.imm; break;
    case SIM_OP_ORI: x[op.rd] = a | op.imm; break;
    case SIM_OP_ANDI: x[op.rd] = a & op.imm; break;
    case SIM_OP_SLLI: x[op.rd] = a << op.imm; break;
    case SIM_OP_SRLI: x[op.rd] = a >> op.imm; break;
    case SIM_OP_SRAI: x[op.rd] = (uint32_t)((int32_t)a >> op.imm); break;
    case SIM_OP_ADD: x[op.rd] = a + b; break;
    case SIM_OP_SUB: x[op.rd] = a - b; break;
    case SIM_OP_SLL: x[op.rd] = a << (b & 31); break;
    case SIM_OP_SLT: x[op.rd] = (int32_t)a < (int32_t)b; break;
    case SIM_OP_SLTU: x[op.rd] = a < b; break;
    case SIM_OP_XOR: x[op.rd] = a ^ b; break;
    case SIM_OP_SRL: x[op.rd] = a >> (b & 31); break;
    case SIM_OP_SRA: x[op.rd] = (uint32_t)((int32_t)a >> (b & 31)); break;
    case SIM_OP_OR: x[op.rd] = a | b; break;
    case SIM_OP_AND: x[op.rd] = a & b; break;
    case SIM_OP_MUL:
        x[op.rd] = a * b;
        if (timed) cycles = sim_multiply_cycles(cores), latency = SIM_LATENCY_MUL;
        break;
    case SIM_OP_MULH:
    case SIM_OP_MULHSU:
    case SIM_OP_MULHU:
        x[op.rd] = sim_muldiv(op.code, a, b);
        if (timed) cycles = sim_multiply_cycles(cores), latency = SIM_LATENCY_MUL;
        break;
    case SIM_OP_DIV:
    case SIM_OP_DIVU:
    case SIM_OP_REM:
    case SIM_OP_REMU:
        x[op.rd] = sim_muldiv(op.code, a, b);
        if (timed) cycles = latency = sim_divide_cycles(op.code, a, b);
        break;
    case SIM_OP_CSR_READ:
        if (!read_csr(t, h, now, op.imm, &x[op.rd])) return STOPPED;
        if (timed) h->pipe.ready[op.rd] = now + 1;
        /* fall through */
    case SIM_OP_FENCE:
        if (model != BLACKHOLE) break;
        h->retired++;
        h->pc = next;
        return sim_pipe_fence(cores, &h->pipe, now, op.code == SIM_OP_FENCE);
    case SIM_OP_CSR_WRITE: return refuse_csr_write(t, h, now, op.imm);
    case SIM_OP_ECALL: return trap(t, h, now, false);
    case SIM_OP_EBREAK: return trap(t, h, now, true);
    default: return refuse_illegal(t, h, now, op.imm);
    }
    h->retired++;
    h->pc = next;
    const bool late = model == BLACKHOLE && latency > cycles;
    return queued || late ? sim_pipe_pass(cores, &h->pipe, op.rd, now, cycles, latency) : now + cycles;
}

#endif
