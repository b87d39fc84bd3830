/* The lines of an op log about buffers: what was allocated and freed on devices. Not for what follows from them
 * (answers/memory.h). */
#include <stddef.h>
#include <string.h>

#include "ops/op_log_internal.h"

/* What a line may say: banks of more than any chip has, so that sums of 2^18 buffers stay within 64 bits. */
enum { MOST_BANKS = 4096 };
#define MOST_BYTES (UINT64_C(1) << 48)
#define MOST_HELD  (UINT64_C(1) << 34)

typedef struct line {
    uint64_t id, t, chip, boot, buffer, address, held, banks, bytes, page, columns, line;
    jl_value kind;
} line;

/* Reads the members; false when the line is no JSON, or a number of ours is none. */
static bool read_line(jl_reader *r, line *out)
{
#define KEY(name)                                                                                            \
    {                                                                                                        \
#name, offsetof(line, name)                                                                          \
    }
    static const struct {
        const char *key;
        size_t at;
    } keys[] = {KEY(id),   KEY(t),     KEY(chip),  KEY(boot), KEY(buffer),  KEY(address),
                KEY(held), KEY(banks), KEY(bytes), KEY(page), KEY(columns), KEY(line)};
#undef KEY
    jl_value v;
    jl_kind kind;
    while ((kind = jl_next(r, &v)) > JL_BAD) {
        if (jl_key_is(&v, "kind") && kind == JL_TEXT) out->kind = v;
        for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
            if (!jl_key_is(&v, keys[i].key)) continue;
            if (kind != JL_NUMBER) return false;
            memcpy((char *)out + keys[i].at, &v.number, sizeof v.number);
        }
    }
    return kind == JL_END;
}

static bool is_memory(const line *l, bool *dram)
{
    *dram = l->kind.len == 4 && memcmp(l->kind.text, "DRAM", 4) == 0;
    return *dram || (l->kind.len == 2 && memcmp(l->kind.text, "L1", 2) == 0);
}

static bool in_range(const line *l)
{
    return l->id <= UINT32_MAX && l->chip <= UINT32_MAX && l->boot <= UINT32_MAX && l->buffer <= UINT32_MAX &&
           l->columns <= MOST_BANKS && l->line <= UINT32_MAX && l->banks <= MOST_BANKS &&
           l->held <= MOST_HELD && l->address <= MOST_BYTES && l->bytes <= MOST_BYTES &&
           l->page <= MOST_BYTES;
}

static bool take(op_log *log, jl_reader *r, const op_place *p, op_memory_what what)
{
    line l = {0};
    bool dram = false;
    const bool of_memory = what == OP_MEMORY_SIZE || what == OP_MEMORY_ALLOC;
    const bool of_buffer = what == OP_MEMORY_FREE || what == OP_MEMORY_ALLOC;
    if (!read_line(r, &l) || !in_range(&l) || l.t == 0 || (of_buffer && l.buffer == 0))
        return op_log_bad_line(log, p);
    if (of_memory && (!is_memory(&l, &dram) || l.banks == 0)) return op_log_bad_line(log, p);
    if (what == OP_MEMORY_ALLOC && (l.held == 0 || l.bytes == 0)) return op_log_bad_line(log, p);
    op_log_pass_over(log, p);
    if (l.id && !op_log_find(log, (uint32_t)l.id)) {
        op_log_found(log, OP_NO_OP, 1, p->line, "op %llu has not started", (unsigned long long)l.id);
        l.id = 0;
    }
    if (!OP_LOG_ROOM(log, memory)) return false;
    log->memory[log->n_memory++] = (op_memory){.t = l.t,
                                               .at = p->at,
                                               .address = l.address,
                                               .held = what == OP_MEMORY_SIZE ? l.bytes : l.held,
                                               .bytes = l.bytes,
                                               .page = l.page,
                                               .len = p->len,
                                               .op = (uint32_t)l.id,
                                               .chip = (uint32_t)l.chip,
                                               .boot = (uint32_t)l.boot,
                                               .buffer = (uint32_t)l.buffer,
                                               .banks = (uint32_t)l.banks,
                                               .line = (uint32_t)l.line,
                                               .columns = (uint32_t)l.columns,
                                               .what = (uint8_t)what,
                                               .dram = dram};
    return true;
}

bool op_log_take_size(op_log *log, jl_reader *r, const op_place *p)
{
    return take(log, r, p, OP_MEMORY_SIZE);
}

bool op_log_take_alloc(op_log *log, jl_reader *r, const op_place *p)
{
    return take(log, r, p, OP_MEMORY_ALLOC);
}

bool op_log_take_free(op_log *log, jl_reader *r, const op_place *p)
{
    return take(log, r, p, OP_MEMORY_FREE);
}

bool op_log_take_device_close(op_log *log, jl_reader *r, const op_place *p)
{
    return take(log, r, p, OP_MEMORY_CLOSE);
}

void op_log_member(op_log *log, uint64_t at, uint32_t len, const char *key, dl_str *out)
{
    const char *text = op_log_line(log, 0, at, len);
    jl_reader r;
    jl_value v;
    if (!text || !jl_line(&r, text, len)) return;
    while (jl_next(&r, &v) > JL_BAD)
        if (v.kind == JL_TEXT && jl_key_is(&v, key)) {
            jl_text(&v, out);
            return;
        }
}
