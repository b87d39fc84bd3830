/* A look over instructions: see the header. RV32 with all of its standard extensions, as far as they write
 * registers or jump. */
#include "base/elf_code.h"

#include <gelf.h>
#include <libelf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TP = 4, MOST_FUNCTIONS = 64 * 1024, MOST_CODE = 1 << 20, MRET = 0x30200073, SRET = 0x10200073 };

typedef struct function {
    const char *name;
    uint32_t start, size;
    bool compiled; /* nothing but instructions is between its start and its end */
    bool returns_from_interrupt, records, seen;
    uint32_t callees; /* index of the first call in calls; they are together */
    uint32_t n_callees;
} function;

typedef struct code {
    const dl_elf *elf;
    function *functions; /* by address */
    uint32_t n;
    uint32_t *calls; /* addresses that functions jump to, outside of themselves */
    uint32_t n_calls, cap_calls;
} code;

typedef struct instruction {
    uint32_t length; /* bytes; 0: there is no code */
    uint32_t rd;     /* register that it writes; 0: none */
    bool jumps;      /* to `target`, always or not */
    bool from_stack; /* loads rd relative to sp */
    bool returns;    /* from an interrupt */
    uint32_t target;
} instruction;

static uint32_t bits(uint32_t word, int high, int low)
{
    return word >> low & ((2u << (high - low)) - 1);
}

static uint32_t sign_extend(uint32_t value, int n_bits)
{
    uint32_t sign = 1u << (n_bits - 1);
    return (value ^ sign) - sign;
}

/* Instructions of 16 bits: those that name a full register, and jumps. */
static instruction decode_short(uint32_t w, uint32_t at)
{
    instruction in = {.length = 2};
    uint32_t quadrant = w & 3, f = bits(w, 15, 13), rd = bits(w, 11, 7);
    if (quadrant == 1 && (f == 1 || f == 5)) { /* c.jal, c.j */
        uint32_t offset = bits(w, 12, 12) << 11 | bits(w, 11, 11) << 4 | bits(w, 10, 9) << 8 |
                          bits(w, 8, 8) << 10 | bits(w, 7, 7) << 6 | bits(w, 6, 6) << 7 | bits(w, 5, 3) << 1 |
                          bits(w, 2, 2) << 5;
        in.jumps = true;
        in.target = at + sign_extend(offset, 12);
    } else if (quadrant == 1 && (f == 0 || f == 2 || f == 3)) { /* c.addi, c.li, c.lui */
        in.rd = rd;
    } else if (quadrant == 2 && (f == 0 || f == 2)) { /* c.slli, c.lwsp */
        in.rd = rd;
        in.from_stack = f == 2;
    } else if (quadrant == 2 && f == 4 && bits(w, 6, 2) != 0) { /* c.mv, c.add */
        in.rd = rd;
    }
    return in;
}

static instruction decode(const code *c, uint32_t at)
{
    /* Bit i: opcode i (of five bits) writes a register of integers. */
    static const uint32_t writes = 1u << 0x00 | 1u << 0x04 | 1u << 0x05 | 1u << 0x0B | 1u << 0x0C |
                                   1u << 0x0D | 1u << 0x19 | 1u << 0x1B | 1u << 0x1C;
    const uint8_t *p = dl_elf_code_at(c->elf, at);
    if (!p) return (instruction){0};
    uint32_t w = (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
    if ((w & 3) != 3) return decode_short(w & 0xFFFF, at);
    instruction in = {.length = 4, .returns = w == MRET || w == SRET};
    uint32_t opcode = bits(w, 6, 2);
    if (writes >> opcode & 1) in.rd = bits(w, 11, 7);
    in.from_stack = opcode == 0x00 && bits(w, 19, 15) == 2;
    if (opcode == 0x1B) { /* jal */
        uint32_t offset =
            bits(w, 31, 31) << 20 | bits(w, 19, 12) << 12 | bits(w, 20, 20) << 11 | bits(w, 30, 21) << 1;
        in.jumps = true;
        in.target = at + sign_extend(offset, 21);
    }
    return in;
}

static int by_start(const void *a, const void *b)
{
    const function *x = a, *y = b;
    if (x->start != y->start) return x->start < y->start ? -1 : 1;
    return x->size > y->size ? -1 : x->size < y->size;
}

/* Functions, and labels in code, which end where the next one begins. */
static devlog_status read_functions(code *c, Elf *e, devlog_error *err)
{
    for (Elf_Scn *section = elf_nextscn(e, NULL); section; section = elf_nextscn(e, section)) {
        GElf_Shdr sh;
        Elf_Data *data = elf_getdata(section, NULL);
        if (!gelf_getshdr(section, &sh) || sh.sh_type != SHT_SYMTAB || !data || sh.sh_entsize == 0) continue;
        size_t n = sh.sh_size / sh.sh_entsize;
        if (n > MOST_FUNCTIONS) n = MOST_FUNCTIONS;
        function *all = calloc(n ? n : 1, sizeof *all);
        if (!all) return dl_fail(err, DEVLOG_ERR_MEMORY, "no memory to look at code");
        free(c->functions);
        c->functions = all;
        c->n = 0;
        for (size_t i = 0; i < n; i++) {
            GElf_Sym symbol;
            GElf_Shdr in;
            if (!gelf_getsym(data, (int)i, &symbol)) continue;
            int type = GELF_ST_TYPE(symbol.st_info);
            const char *name = elf_strptr(e, sh.sh_link, symbol.st_name);
            Elf_Scn *of = elf_getscn(e, symbol.st_shndx);
            if (!name || !*name || (type != STT_FUNC && type != STT_NOTYPE)) continue;
            if (!of || !gelf_getshdr(of, &in) || !(in.sh_flags & SHF_EXECINSTR)) continue;
            bool local = GELF_ST_BIND(symbol.st_info) == STB_LOCAL;
            if (type == STT_NOTYPE && local && (name[0] == '$' || name[0] == '.')) continue;
            if (symbol.st_size > MOST_CODE) continue;
            c->functions[c->n++] = (function){.name = name,
                                              .start = (uint32_t)symbol.st_value,
                                              .size = (uint32_t)symbol.st_size,
                                              .compiled = type == STT_FUNC && symbol.st_size};
        }
        if (c->n) qsort(c->functions, c->n, sizeof *c->functions, by_start);
    }
    for (uint32_t i = 0; i < c->n; i++)
        if (c->functions[i].size == 0 && i + 1 < c->n &&
            c->functions[i + 1].start - c->functions[i].start <= MOST_CODE)
            c->functions[i].size = c->functions[i + 1].start - c->functions[i].start;
    return DEVLOG_OK;
}

static function *function_at(const code *c, uint32_t address)
{
    uint32_t low = 0, high = c->n;
    while (low < high) {
        uint32_t middle = (low + high) / 2;
        if (c->functions[middle].start <= address)
            low = middle + 1;
        else
            high = middle;
    }
    while (low > 0) {
        function *f = &c->functions[--low];
        if (address - f->start < f->size) return f;
        if (address - f->start > MOST_CODE) break;
    }
    return NULL;
}

/* Ours: what records, and what keeps the cursor. */
static bool is_ours(const function *f)
{
    return strncmp(f->name, "devlog_", 7) == 0 || strncmp(f->name, "records_", 8) == 0;
}

static bool in_marker(const dl_elf *elf, uint32_t address)
{
    for (uint32_t i = 0; i < elf->n_patches; i++)
        if (address >= elf->patches[i].start && address < elf->patches[i].end) return true;
    return false;
}

static devlog_status add_call(code *c, uint32_t target, devlog_error *err)
{
    if (c->n_calls == c->cap_calls) {
        uint32_t cap = c->cap_calls ? 2 * c->cap_calls : 256;
        uint32_t *bigger = realloc(c->calls, cap * sizeof *bigger);
        if (!bigger) return dl_fail(err, DEVLOG_ERR_MEMORY, "no memory to look at code");
        c->calls = bigger;
        c->cap_calls = cap;
    }
    c->calls[c->n_calls++] = target;
    return DEVLOG_OK;
}

static devlog_status look_at(code *c, function *f, dl_elf_code *out, devlog_error *err)
{
    uint32_t stray = 0; /* address of a write of tp outside of markers */
    bool found = false;
    devlog_status status = DEVLOG_OK;
    f->callees = c->n_calls;
    for (uint32_t at = f->start; at - f->start < f->size && !status;) {
        instruction in = decode(c, at);
        if (in.length == 0) break;
        f->returns_from_interrupt |= in.returns;
        if (in.rd == TP && (is_ours(f) || in_marker(c->elf, at))) {
            f->records = true;
        } else if (in.rd == TP && !found && !in.from_stack) {
            found = true;
            stray = at;
        } else if (in.rd == TP && in.from_stack && !found) {
            found = true; /* what an interrupt handler puts back is as it was */
            stray = at;
            for (uint32_t rest = at; rest - f->start < f->size; rest += 4)
                if (decode(c, rest).returns) found = false;
        }
        if (in.jumps && in.target - f->start >= f->size) status = add_call(c, in.target, err);
        at += in.length;
    }
    f->n_callees = c->n_calls - f->callees;
    if (found && f->compiled && !out->writes_cursor) {
        out->writes_cursor = true;
        out->cursor_at = stray;
        snprintf(out->cursor_in, sizeof out->cursor_in, "%s", f->name);
    }
    return status;
}

/* The first function that records among f and what it calls. */
static const function *who_records(code *c, function *f)
{
    if (f->seen) return NULL;
    f->seen = true;
    if (f->records) return f;
    for (uint32_t i = 0; i < f->n_callees; i++) {
        function *callee = function_at(c, c->calls[f->callees + i]);
        const function *one = callee ? who_records(c, callee) : NULL;
        if (one) return one;
    }
    return NULL;
}

devlog_status dl_elf_look_at_code(const dl_elf *elf, dl_elf_code *out, devlog_error *err)
{
    memset(out, 0, sizeof *out);
    if (!elf->profiled || elf_version(EV_CURRENT) == EV_NONE) return DEVLOG_OK;
    Elf *e = elf_memory((char *)elf->file, elf->file_size);
    if (!e) return DEVLOG_OK;
    code c = {.elf = elf};
    devlog_status status = read_functions(&c, e, err);
    for (uint32_t i = 0; i < c.n && !status; i++)
        status = look_at(&c, &c.functions[i], out, err);
    for (uint32_t i = 0; i < c.n && !status && !out->marked_handler; i++) {
        function *f = &c.functions[i];
        if (!f->returns_from_interrupt) continue;
        for (uint32_t k = 0; k < c.n; k++)
            c.functions[k].seen = false;
        const function *one = who_records(&c, f);
        if (!one) continue;
        out->marked_handler = true;
        snprintf(out->handler, sizeof out->handler, "%s", f->name);
        snprintf(out->records, sizeof out->records, "%s", one->name);
    }
    free(c.functions);
    free(c.calls);
    elf_end(e);
    return status;
}
