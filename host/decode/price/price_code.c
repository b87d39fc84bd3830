/* Code on its documented pipeline: see the header. */
#include "decode/price/price_code.h"

#include <stdlib.h>

#include "base/sort.h"
#include "decode/price/price_loops.h"

enum {
    RA = 1,
    SP = 2,
    TP = 4,
    T0 = 5,
    MOST_WORDS = 1 << 18,
    MOST_IN_MARKER = 64,
    SOME_DIVISION = 20, /* cycles: as good as any */
    /* The bits of a cursor that may say "full" are 9 to 16; of one that counts drops two lower ones are set
     * too (devlog/record.h, "Counting drops"). */
    CURSOR = 0x20000,
    CURSOR_FULL = 0x1FF80,
};

/* Memory map of a Tensix tile: TensixTile/BabyRISCV/README.md. */
#define LOCAL     0xFFB00000u
#define REGISTERS 0xFFB10000u
#define CLOCK     0xFFB121F0u
#define STAMPER   0xFFB121FCu /* in the same page */
/* Anywhere in these: nobody is near. */
#define STACK     (LOCAL + 0x700u)
#define SUM       (LOCAL + 0x200u)
#define SOMEWHERE 0x100000u

/* ---- Reading --------------------------------------------------------------------------------------- */

static int by_start(const void *a, const void *b)
{
    const price_marker *x = a, *y = b;
    return x->start < y->start ? -1 : x->start > y->start;
}

static price_part part_of(const price_code *c, const price_marker *m)
{
    bool branches = false, records = false;
    for (uint32_t i = m->start; i < m->end; i++) {
        branches |= price_is_branch(c->ops[i]);
        records |= c->ops[i].code == SIM_OP_SW && c->ops[i].rs1 == TP;
    }
    sim_op first = c->ops[m->start], last = c->ops[m->end - 1];
    if (records) return PRICE_RECORD;
    if (m->end - m->start == 1 && first.code == SIM_OP_LW) return PRICE_START;
    if (m->end - m->start == 3 && last.code == SIM_OP_SW) return PRICE_EVENT;
    return branches && first.code == SIM_OP_LW ? PRICE_PASS : PRICE_NONE;
}

static int by_value(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

static bool read_markers(const dl_elf *elf, price_code *c)
{
    c->markers = calloc(elf->n_patches, sizeof *c->markers);
    if (!c->markers) return false;
    for (uint32_t i = 0; i < elf->n_patches; i++) {
        const dl_elf_patch *p = &elf->patches[i];
        uint32_t start = (p->start - c->base) / 4, end = (p->end - c->base) / 4;
        if ((p->start | p->end) % 4 || start >= end || end > c->n) return false;
        c->markers[c->n_markers++] = (price_marker){.start = start, .end = end};
    }
    qsort(c->markers, c->n_markers, sizeof *c->markers, by_start);
    for (uint32_t i = 0; i < c->n_markers; i++) {
        price_marker *m = &c->markers[i];
        m->part = part_of(c, m);
        for (uint32_t at = m->start; at < m->end; at++)
            c->marker_at[at] = i + 1;
    }
    return true;
}

static bool read_jumps(price_code *c)
{
    for (int pass = 0; pass < 2; pass++) {
        uint32_t n = 0;
        for (uint32_t i = 0; i < c->n; i++) {
            if (c->marker_at[i] || !(price_is_branch(c->ops[i]) || c->ops[i].code == SIM_OP_JAL)) continue;
            uint32_t target = (c->ops[i].imm - c->base) / 4;
            if (target >= c->n) continue;
            if (pass) c->jumps[n] = (uint64_t)target << 32 | i;
            n++;
        }
        if (!pass && !(c->jumps = calloc(n ? n : 1, sizeof *c->jumps))) return false;
        c->n_jumps = n;
    }
    qsort(c->jumps, c->n_jumps, sizeof *c->jumps, by_value);
    return true;
}

/* An address is no instruction of 32 bits: its lowest bits are 0. */
static bool read_tables(price_code *c)
{
    for (int pass = 0; pass < 2; pass++) {
        uint32_t n = 0;
        for (uint32_t i = 0; i < c->n; i++) {
            uint32_t word = c->ops[i].imm, target = (word - c->base) / 4;
            if (c->ops[i].code != SIM_OP_ILLEGAL || word % 4 || target >= c->n) continue;
            if (c->ops[target].code == SIM_OP_ILLEGAL) continue;
            if (pass) c->tables[n] = target;
            n++;
        }
        if (!pass && !(c->tables = calloc(n ? n : 1, sizeof *c->tables))) return false;
        c->n_tables = n;
    }
    return true;
}

/* Whether an instruction jumps to where a register says, and is no return. */
static bool is_switch(sim_op op)
{
    return op.code == SIM_OP_JALR && op.rd == SIM_SINK && op.rs1 != RA && op.rs1 != T0;
}

/* The cases of a switch stand behind its jump. */
static bool read_switches(price_code *c)
{
    c->switch_at = calloc(c->n, sizeof *c->switch_at);
    if (!c->switch_at) return false;
    for (uint32_t i = 0; i < c->n_tables; i++)
        c->switch_at[c->tables[i]] = 1;
    uint32_t last = 0;
    for (uint32_t i = 0; i < c->n; i++) {
        if (c->switch_at[i]) c->switch_at[i] = last;
        if (is_switch(c->ops[i])) last = i + 1;
    }
    return true;
}

bool price_code_read(const dl_elf *elf, price_code *out)
{
    price_code c = {0};
    for (uint32_t i = 0; i < elf->n_segments && elf->n_patches && !c.n; i++) {
        const dl_elf_segment *s = &elf->segments[i];
        if (elf->patches[0].start - s->address >= s->size || s->address % 4) continue;
        c.base = s->address;
        c.n = s->size / 4 < MOST_WORDS ? s->size / 4 : MOST_WORDS;
        c.ops = calloc(c.n, sizeof *c.ops);
        c.marker_at = calloc(c.n, sizeof *c.marker_at);
        if (!c.ops || !c.marker_at) break;
        for (uint32_t w = 0; w < c.n; w++) {
            const uint8_t *b = s->data + 4 * (size_t)w;
            uint32_t word =
                (uint32_t)b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 | (uint32_t)b[3] << 24;
            c.ops[w] = sim_decode(word, c.base + 4 * w);
        }
        if (read_markers(elf, &c) && read_jumps(&c) && read_tables(&c) && read_switches(&c) &&
            (c.loops = price_loops_find(&c)) && price_guess(&c) && price_find_loads(&c)) {
            *out = c;
            return true;
        }
    }
    price_code_free(&c);
    return false;
}

void price_code_free(price_code *c)
{
    free(c->ops);
    free(c->marker_at);
    free(c->markers);
    free(c->jumps);
    free(c->tables);
    free(c->switch_at);
    free(c->rivals);
    free(c->goes_on);
    free(c->wrong);
    free(c->loading);
    price_loops_free(c->loops);
    *c = (price_code){0};
}

/* ---- Running --------------------------------------------------------------------------------------- */

void price_hart_begin(price_hart *h, sim_cores cores, bool full)
{
    *h = (price_hart){.cores = cores, .known = 1u | 1u << SP | 1u << TP};
    h->now = 1000; /* later than anything that is zero */
    h->x[SP] = STACK;
    h->x[TP] = full ? CURSOR_FULL : CURSOR;
}

static bool knows(const price_hart *h, uint8_t reg)
{
    return h->known >> reg & 1;
}

static void set(price_hart *h, uint8_t rd, bool known, uint32_t value)
{
    if (rd == SIM_SINK) return;
    h->x[rd] = value;
    h->known = (h->known & ~(UINT64_C(1) << rd)) | (uint64_t)known << rd;
}

/* What arithmetic makes of constants; what addresses are not made of is not known. */
static void compute(price_hart *h, sim_op op)
{
    uint32_t a = h->x[op.rs1], b = h->x[op.rs2];
    bool one = knows(h, op.rs1), both = one && knows(h, op.rs2);
    switch (op.code) {
    case SIM_OP_LI: set(h, op.rd, true, op.imm); return;
    case SIM_OP_ADDI: set(h, op.rd, one, a + op.imm); return;
    case SIM_OP_SLLI: set(h, op.rd, one, a << (op.imm & 31)); return;
    case SIM_OP_SRLI: set(h, op.rd, one, a >> (op.imm & 31)); return;
    case SIM_OP_ANDI: set(h, op.rd, one, a & op.imm); return;
    case SIM_OP_ORI: set(h, op.rd, one, a | op.imm); return;
    case SIM_OP_ADD: set(h, op.rd, both, a + b); return;
    case SIM_OP_SUB: set(h, op.rd, both, a - b); return;
    default: set(h, op.rd, false, 0);
    }
}

static bool decide(const price_hart *h, sim_op op)
{
    uint32_t a = h->x[op.rs1], b = h->x[op.rs2];
    switch (op.code) {
    case SIM_OP_BEQ: return a == b;
    case SIM_OP_BNE: return a != b;
    case SIM_OP_BLT: return (int32_t)a < (int32_t)b;
    case SIM_OP_BGE: return (int32_t)a >= (int32_t)b;
    case SIM_OP_BLTU: return a < b;
    default: return a >= b;
    }
}

static uint32_t address_of(const price_hart *h, sim_op op, uint32_t base)
{
    if (knows(h, op.rs1)) return h->x[op.rs1] + op.imm;
    return (base ? base : SOMEWHERE + 64u * op.rs1) + op.imm;
}

static sim_region region_of(uint32_t address)
{
    return address >= REGISTERS ? SIM_REGION_REGISTER : address >= LOCAL ? SIM_REGION_LOCAL : SIM_REGION_RAM;
}

static uint32_t size_of(sim_op op)
{
    bool byte = op.code == SIM_OP_LB || op.code == SIM_OP_LBU || op.code == SIM_OP_SB;
    return byte ? 1 : op.code == SIM_OP_LW || op.code == SIM_OP_SW ? 4 : 2;
}

static void load(price_hart *h, sim_op op, uint32_t base)
{
    uint32_t address = address_of(h, op, base);
    sim_region region = region_of(address);
    /* What is read in a loop is in Blackhole's data cache more often than not. */
    if (h->cores == SIM_CORES_BLACKHOLE && region == SIM_REGION_RAM) region = SIM_REGION_LOCAL;
    h->now = sim_pipe_load(h->cores, &h->pipe, op.rd, h->now, region, address, size_of(op));
    set(h, op.rd, address - CLOCK < 8, 0); /* a stamp of 0 leaves the code of a record */
}

static void store(price_hart *h, sim_op op, uint32_t base)
{
    uint32_t address = address_of(h, op, base);
    h->now = sim_pipe_store(h->cores, &h->pipe, h->now, region_of(address), address, size_of(op));
    if (op.rs1 == TP && op.imm == 0) {
        h->record = h->x[op.rs2];
        h->has_record = knows(h, op.rs2);
        h->has_third = false;
    } else if (op.rs1 == TP && op.imm == 8) {
        h->third = h->x[op.rs2];
        h->has_third = knows(h, op.rs2);
    } else if (address == STAMPER) {
        h->event = h->x[op.rs2];
        h->has_event = knows(h, op.rs2);
    }
}

/* What a marker's branch does of which nobody knows: what is rare in the end of a pass through a sum is out of line,
 * or behind a branch that is taken over it. */
static bool skips_what_is_rare(sim_op op)
{
    return op.code == SIM_OP_BGEU;
}

/* By how many cycles wrong guesses of the frontend make a marker's branch longer, on average: each of the loops
 * that have a counter with it is the one that came last as often as the marker itself. */
static uint32_t wrong_guesses(const price_code *c, const price_hart *h, sim_op op)
{
    if (!price_is_branch(op)) return 0;
    const bool taken = knows(h, op.rs1) && knows(h, op.rs2) ? decide(h, op) : skips_what_is_rare(op);
    const uint32_t n = c->wrong[2 * h->at + taken], each = sim_mispredict_cycles(h->cores) - 1;
    if (!n) return 0;
    if (n >= PRICE_WRONG) return n == PRICE_WRONG ? each : 2 * each;
    return (2 * each * n + n + 1) / (2 * (n + 1));
}

price_step price_hart_step(const price_code *c, price_hart *h, uint32_t base)
{
    if (h->at >= c->n || c->ops[h->at].code <= SIM_OP_ILLEGAL || c->ops[h->at].code >= SIM_OP_CSR_READ)
        return PRICE_LEAVES;
    const sim_op op = c->ops[h->at];
    const uint32_t next = c->base + 4 * (h->at + 1);
    if (h->now < h->pipe.quiet) h->now = sim_pipe_operands(h->cores, &h->pipe, op, h->now);
    if (op.code >= SIM_OP_LB && op.code <= SIM_OP_LHU) {
        load(h, op, base);
        h->at++;
        return PRICE_GOES_ON;
    }
    if (op.code >= SIM_OP_SB && op.code <= SIM_OP_SW) {
        store(h, op, base);
        h->at++;
        return PRICE_GOES_ON;
    }
    bool multiplies = op.code >= SIM_OP_MUL && op.code <= SIM_OP_MULHU,
         divides = op.code >= SIM_OP_DIV && op.code <= SIM_OP_REMU;
    uint32_t cycles = multiplies ? sim_multiply_cycles(h->cores)
                      : divides  ? SOME_DIVISION
                                 : 1 + wrong_guesses(c, h, op),
             latency = multiplies ? SIM_LATENCY_MUL : cycles;
    if (op.code == SIM_OP_FENCE)
        h->now = sim_pipe_fence(h->cores, &h->pipe, h->now, true);
    else if (h->now < h->pipe.quiet || latency > cycles)
        h->now = sim_pipe_pass(h->cores, &h->pipe, op.rd, h->now, cycles, latency);
    else
        h->now += cycles;
    if (price_is_branch(op)) {
        if (!knows(h, op.rs1) || !knows(h, op.rs2)) return PRICE_BRANCH;
        h->at = decide(h, op) ? (op.imm - c->base) / 4 : h->at + 1;
        return PRICE_GOES_ON;
    }
    if (op.code == SIM_OP_JAL || op.code == SIM_OP_JALR) {
        bool known = op.code == SIM_OP_JAL || knows(h, op.rs1);
        uint32_t target = op.code == SIM_OP_JAL ? op.imm : h->x[op.rs1] + op.imm;
        set(h, op.rd, true, next);
        h->at = (target - c->base) / 4;
        return known ? PRICE_GOES_ON : PRICE_LEAVES;
    }
    compute(h, op);
    h->at++;
    return PRICE_GOES_ON;
}

bool price_hart_marker(const price_code *c, price_hart *h, const price_marker *m)
{
    h->at = m->start;
    for (int i = 0; i < MOST_IN_MARKER && h->at != m->end; i++) {
        /* Pointers that the compiler has made long before: the first load is of the clock. */
        bool of_sum = m->part == PRICE_PASS && h->at != m->start;
        price_step step = price_hart_step(c, h, of_sum ? SUM : CLOCK & 0xFFFFF000);
        if (step == PRICE_LEAVES) return false;
        if (step == PRICE_BRANCH)
            h->at = skips_what_is_rare(c->ops[h->at]) ? (c->ops[h->at].imm - c->base) / 4 : h->at + 1;
    }
    return h->at == m->end;
}

/* ---- Functions --------------------------------------------------------------------------------------- */

uint32_t price_find_functions(const price_code *c, uint32_t *to)
{
    uint32_t n = 0;
    to[n++] = 0;
    for (uint32_t i = 0; i < c->n_jumps; i++) { /* ascending */
        const uint32_t target = (uint32_t)(c->jumps[i] >> 32);
        if (price_is_call(c->ops[(uint32_t)c->jumps[i]]) && target != to[n - 1]) to[n++] = target;
    }
    return n;
}

uint32_t price_function_of(const uint32_t *functions, uint32_t n, uint32_t at)
{
    uint32_t low = 0, high = n;
    while (high - low > 1) {
        const uint32_t middle = low + (high - low) / 2;
        if (functions[middle] <= at)
            low = middle;
        else
            high = middle;
    }
    return low;
}
