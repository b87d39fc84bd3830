/* KERNEL STATISTICS: what each RISC's kernel took in ops of one code, in how much of the op, and how full the chip was. */
#include <stdlib.h>

#include "answers/memory.h"
#include "answers/sections.h"

static const answer_column columns[] = {
    {"kernel", "kernel", ANSWER_TEXT, 0},    {"op", "op", ANSWER_TEXT, 8},
    {"risc", "RISC", ANSWER_TEXT, 0},        {"count", "count", ANSWER_COUNT, 0},
    {"total", "total", ANSWER_TIME, 0},      {"average", "avg", ANSWER_TIME, 1},
    {"min", "min", ANSWER_TIME, 10},         {"max", "max", ANSWER_TIME, 9},
    {"split", "% of op", ANSWER_PERCENT, 2}, {"cores", "cores", ANSWER_COUNT, 3},
    {"code_bytes", "code", ANSWER_BYTES, 6}, {"occupancy", "occupancy", ANSWER_PERCENT, 4},
    {"l1_used", "L1 used", ANSWER_BYTES, 5}, {"l1_of", "L1 of", ANSWER_TEXT, ANSWER_HIDDEN},
};

typedef struct row {
    uint32_t code, compute, movement; /* texts; of the sources those of the first op, 0: they differ */
    uint32_t risc;
    size_t at;
    uint64_t count;
    double total, min, max, op_time, used, offered, bytes;
    double l1;         /* of the op in which it was most; NAN: unknown */
    const char *l1_of; /* what of it is known */
    uint32_t cores;
    bool sources;
} row;

static const uint8_t sizes[OP_TABLE_RISCS] = {OP_CODE_DM0,      OP_CODE_DM1,      OP_CODE_COMPUTE0,
                                              OP_CODE_COMPUTE1, OP_CODE_COMPUTE2, OP_WIDE_NUMBERS};

/* What is known of L1 in a core while the op is open: the code of its kernels, with their data, and buffers. */
static double l1_of_op(const answer_run *r, const answer_op *op, const char **of)
{
    static const char *const parts[] = {NULL, "code", "buffers", "code, buffers"};
    const op_table_row *of_op = answer_row(r, op);
    double code = 0;
    for (int i = 0; i < OP_TABLE_RISCS; i++) {
        const double bytes = sizes[i] < OP_WIDE_NUMBERS ? answer_wide(r, op)->numbers[sizes[i]] : NAN;
        if (isfinite(bytes)) code += bytes;
    }
    const double buffers =
        r->memory && (of_op->has & OP_HAS_ID) && (of_op->has & OP_HAS_CHIP) && of_op->id <= UINT32_MAX
            ? memory_l1_of_op(r->memory, of_op->chip, (uint32_t)of_op->id)
            : NAN;
    const bool known = isfinite(buffers);
    *of = parts[(code > 0) + 2 * known];
    return *of ? code + (known ? buffers : 0) : NAN;
}

static void add(row *to, const answer_run *r, const answer_op *op, double time)
{
    const op_table_row *of = answer_row(r, op);
    const op_wide *w = answer_wide(r, op);
    const answer_chip *chip = answer_chip_of(r, of->chip);
    if (!to->count++ || time < to->min) to->min = time;
    if (time > to->max) to->max = time;
    to->total += time;
    /* Its share is of the same chip's kernels, whatever several chips together took. */
    to->op_time += (double)of->kernel_ns;
    if ((of->has & OP_HAS_CORES) && of->cores > to->cores) to->cores = of->cores;
    const double bytes = sizes[to->risc] < OP_WIDE_NUMBERS ? w->numbers[sizes[to->risc]] : NAN;
    if (bytes > to->bytes) to->bytes = bytes;
    const double average = w->numbers[OP_CORE_AVG];
    if (isfinite(average) && (of->has & OP_HAS_CORES) && chip && chip->available > 0) {
        to->used += average * of->cores;
        to->offered += (double)of->kernel_ns * chip->available;
    }
    const char *l1_of;
    const double l1 = l1_of_op(r, op, &l1_of);
    if (!(to->l1 >= l1) && isfinite(l1)) {
        to->l1 = l1;
        to->l1_of = l1_of;
    }
    if (!to->sources) {
        to->compute = w->texts[OP_COMPUTE_SOURCE];
        to->movement = w->texts[OP_DM_SOURCE];
        to->sources = true;
    }
    if (to->compute != w->texts[OP_COMPUTE_SOURCE]) to->compute = 0;
    if (to->movement != w->texts[OP_DM_SOURCE]) to->movement = 0;
}

/* The next path of "['a/b.cpp'; 'c/d.cpp']": its last part. */
static const char *next_source(const char *at, const char **text, size_t *n)
{
    const char *from = strchr(at, '\'');
    const char *to = from ? strchr(from + 1, '\'') : NULL;
    if (!to) return NULL;
    *text = from + 1;
    *n = (size_t)(to - from - 1);
    for (const char *c = from + 1; c < to; c++) {
        if (*c != '/') continue;
        *text = c + 1;
        *n = (size_t)(to - c - 1);
    }
    return to + 1;
}

/* The source of a kernel, where the report leaves no doubt which it is: all that it names for this kind of RISC are the same.
 * With two different sources of data movement it does not say which of them ran on which RISC. */
static const char *source_of(answer *a, const answer_run *r, const row *x)
{
    const char *text = NULL, *first = NULL;
    size_t n = 0, length = 0;
    const uint32_t id = x->risc < 2 ? x->movement : x->risc < 5 ? x->compute : 0;
    const char *at = id ? dl_intern_text(r->table->texts, id, NULL) : "";
    while ((at = next_source(at, &text, &n))) {
        if (!first) {
            first = text;
            length = n;
        }
        if (n != length || memcmp(first, text, n) != 0) return NULL;
    }
    return first ? answer_keep(a, first, length) : NULL;
}

static int by_total(const void *a, const void *b)
{
    const row *x = a, *y = b;
    if (x->total < y->total || x->total > y->total) return x->total > y->total ? -1 : 1;
    return x->at < y->at ? -1 : x->at > y->at;
}

static void print(answer *a, answer_section *s, const answer_run *r, const row *x)
{
    answer_text(s, source_of(a, r, x));
    answer_text(s, dl_intern_text(r->table->texts, x->code, NULL));
    answer_text(s, op_table_riscs[x->risc]);
    answer_number(s, (double)x->count);
    answer_number(s, x->total);
    answer_number(s, x->total / (double)x->count);
    answer_number(s, x->min);
    answer_number(s, x->max);
    answer_number(s, x->op_time > 0 ? 100 * x->total / x->op_time : NAN);
    answer_number(s, x->cores ? (double)x->cores : NAN);
    answer_number(s, x->bytes > 0 ? x->bytes : NAN);
    answer_number(s, x->offered > 0 ? 100 * x->used / x->offered : NAN);
    answer_number(s, x->l1);
    answer_text(s, x->l1_of);
}

bool answer_add_kernels(answer *a, const answer_run *r, const answer_wishes *w)
{
    answer_section *s = answer_table(a, "kernel_statistics", "KERNEL STATISTICS", columns,
                                     sizeof columns / sizeof columns[0]);
    const size_t codes = dl_intern_count(r->table->texts);
    uint32_t *places = calloc(codes + 1, sizeof *places); /* of a code's rows: number + 1 */
    row *rows = NULL;
    size_t n = 0, cap = 0;
    bool good = places != NULL;
    for (size_t i = 0; good && i < r->n_ops; i++) {
        const answer_op *op = &r->ops[i];
        const op_wide *wide = answer_wide(r, op);
        uint32_t *place = &places[answer_row(r, op)->code];
        if (!op->chips) continue;
        if (!*place) {
            if (n + OP_TABLE_RISCS > cap) {
                row *grown = realloc(rows, (cap * 2 + 64) * sizeof *rows);
                good = grown != NULL;
                if (!good) break;
                rows = grown;
                cap = cap * 2 + 64;
            }
            for (uint32_t k = 0; k < OP_TABLE_RISCS; k++)
                rows[n + k] = (row){.code = answer_row(r, op)->code, .risc = k, .at = n + k, .l1 = NAN};
            *place = (uint32_t)n + 1;
            n += OP_TABLE_RISCS;
        }
        for (uint32_t k = 0; k < OP_TABLE_RISCS; k++)
            if (isfinite(wide->numbers[OP_RISC + k]))
                add(&rows[*place - 1 + k], r, op, wide->numbers[OP_RISC + k]);
    }
    if (good && n) qsort(rows, n, sizeof *rows, by_total);
    for (size_t i = 0; good && i < n; i++)
        if (rows[i].count) print(a, s, r, &rows[i]);
    answer_top(s, w->top);
    answer_note(a, s,
                "A kernel is what one RISC runs in ops of one code; its time is from its first start to its "
                "last end over all cores. % of op: of the op's time on the device.");
    answer_note(a, s,
                "occupancy: of what all cores that the chip has could have run in that time, how much cores "
                "did run the op. code: bytes of the kernel in L1.");
    answer_note(
        a, s,
        r->memory
            ? "L1 used: in one core while such an op was open: the code of its kernels, and the most that buffers "
              "held, whoever made them (devlog memory)."
            : "L1 used: the code of the op's kernels; no log of ops tells of buffers.");
    free(places);
    free(rows);
    return good;
}
