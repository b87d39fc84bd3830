/* OP STATISTICS: what ops took on the device and on the host, grouped as asked. */
#include <stdlib.h>
#include <string.h>

#include "answers/sections.h"

static const answer_column columns[] = {
    {"op", "op", ANSWER_TEXT, 0},
    {"runs_on", "on", ANSWER_TEXT, 9},
    {"count", "count", ANSWER_COUNT, 0},
    {"total", "total", ANSWER_TIME, 0},
    {"average", "avg", ANSWER_TIME, 1},
    {"min", "min", ANSWER_TIME, 12},
    {"max", "max", ANSWER_TIME, 11},
    {"share", "%", ANSWER_PERCENT, 0},
    {"gap", "gap", ANSWER_TIME, 2},
    {"cores", "cores", ANSWER_TEXT, 5},
    {"host", "host", ANSWER_TIME, 6},
    {"flop_rate", "FLOP rate", ANSWER_FLOPS_PER_S, 4},
    {"bandwidth", "bandwidth", ANSWER_BYTES_PER_S, 4},
    {"bound_by", "bound by", ANSWER_TEXT, 3},
    {"ideal", "ideal", ANSWER_TIME, 10},
    {"slowest", "slowest", ANSWER_COUNT, 13},
};

typedef struct row {
    const char *name;
    size_t at; /* as they came */
    uint64_t count, timed;
    uint64_t slowest; /* id of the op that took `max` */
    double total, min, max, gap, host, flops, bytes, ideal, with_flops, with_bytes;
    bool has_gap, has_host, has_ideal, on_device;
    uint32_t cores_min, cores_max;
    const char *bound;
    bool mixed;          /* bound by different things */
    double by;           /* what it is sorted by, and by total behind it; NAN: unknown */
    const char *by_text; /* before that, or NULL */
} row;

/* A row's key beside its code: shapes, memory with types, or who called. */
static uint64_t key_of(const answer_run *r, const answer_op *op, answer_group group)
{
    const op_wide *w = answer_wide(r, op);
    const uint64_t code = answer_row(r, op)->code;
    switch (group) {
    case GROUP_SHAPE: return code << 32 | w->texts[OP_SHAPES];
    case GROUP_MEMORY: return code << 32 | w->texts[OP_MEMORY];
    case GROUP_STACK: return code << 32 | w->texts[OP_STACK];
    case GROUP_CATEGORY:
        return dl_hash_bytes(op_category(answer_code(r, op)), strlen(op_category(answer_code(r, op))));
    case GROUP_NONE: return op->row;
    case GROUPS:
    case GROUP_CODE: break;
    }
    return code;
}

const char *answer_op_name(answer *a, const answer_run *r, const answer_op *op, answer_group group)
{
    const char *code = answer_code(r, op);
    if (group == GROUP_CATEGORY) return op_category(code);
    if (group == GROUP_NONE)
        return answer_keepf(a, "%llu %s", (unsigned long long)answer_row(r, op)->id, code);
    if (group == GROUP_CODE) return code;
    const op_wide_text what = group == GROUP_SHAPE ? OP_SHAPES : group == GROUP_STACK ? OP_STACK : OP_MEMORY;
    const char *more = answer_wide_text(r, op, what);
    return *more ? answer_keepf(a, "%s %s", code, more) : code;
}

typedef struct slot {
    uint64_t key;
    uint32_t row; /* + 1 */
} slot;

static uint32_t *find(slot *slots, size_t n, uint64_t key)
{
    size_t at = (size_t)dl_hash_u64(key + 1) & (n - 1);
    while (slots[at].row && slots[at].key != key)
        at = (at + 1) & (n - 1);
    slots[at].key = key;
    return &slots[at].row;
}

static void add(row *to, const answer_run *r, const answer_op *op)
{
    const op_table_row *of = answer_row(r, op);
    const op_wide *w = answer_wide(r, op);
    /* NOLINTNEXTLINE(clang-analyzer-core.uninitialized.Assign): the caller's slots are zeroed, and larger than what is put there */
    to->count++;
    to->on_device |= !answer_on_host(r, op);
    if (isfinite(op->host)) to->host += op->host;
    to->has_host |= isfinite(op->host) != 0;
    if (isfinite(op->gap)) to->gap += op->gap;
    to->has_gap |= isfinite(op->gap) != 0;
    if ((of->has & OP_HAS_CORES) && of->cores) {
        if (!to->cores_min || of->cores < to->cores_min) to->cores_min = of->cores;
        if (of->cores > to->cores_max) to->cores_max = of->cores;
    }
    if (!isfinite(op->time)) return;
    to->total += op->time;
    if (!to->timed || op->time < to->min) to->min = op->time;
    if (!to->timed++ || op->time > to->max) {
        to->max = op->time;
        to->slowest = of->id;
    }
    if (isfinite(op->flops)) {
        to->flops += op->flops;
        to->with_flops += op->time;
    }
    if (isfinite(op->bytes)) {
        to->bytes += op->bytes;
        to->with_bytes += op->time;
    }
    if (isfinite(w->numbers[OP_PM_IDEAL])) {
        to->ideal += w->numbers[OP_PM_IDEAL];
        to->has_ideal = true;
    }
    if (op->bound && !to->bound) to->bound = op->bound;
    if (op->bound && to->bound && strcmp(op->bound, to->bound) != 0) to->mixed = true;
}

/* Rates per second of ops that say both. */
static double rate(const answer *a, double sum, double time)
{
    return time > 0 && !a->cycles ? sum / time * 1e9 : NAN;
}

static const char *bound_of(const row *x)
{
    return x->mixed ? "several" : x->bound;
}

static const char *place_of(const row *x)
{
    return x->on_device ? "device" : "host";
}

/* What a row is sorted by: a text, or else a number, the greatest first. */
static void set_sort(const answer *a, row *x, answer_sort sort)
{
    const double total = x->timed ? x->total : NAN;
    x->by = total;
    x->by_text = NULL;
    switch (sort) {
    case SORT_TIME:
    case SORT_TOTAL:
    case SORT_SHARE: break;
    case SORT_GAP: x->by = x->has_gap ? x->gap : NAN; break;
    case SORT_COUNT: x->by = (double)x->count; break;
    case SORT_AVERAGE: x->by = total / (double)x->timed; break;
    case SORT_MIN: x->by = x->timed ? x->min : NAN; break;
    case SORT_MAX: x->by = x->timed ? x->max : NAN; break;
    case SORT_HOST: x->by = x->has_host ? x->host : NAN; break;
    case SORT_CORES: x->by = x->cores_max ? x->cores_max : NAN; break;
    case SORT_FLOP_RATE: x->by = rate(a, x->flops, x->with_flops); break;
    case SORT_BANDWIDTH: x->by = rate(a, x->bytes, x->with_bytes); break;
    case SORT_IDEAL: x->by = x->has_ideal ? x->ideal : NAN; break;
    case SORT_BOUND_BY: x->by_text = bound_of(x) ? bound_of(x) : "\xff"; break;
    case SORT_RUNS_ON: x->by_text = place_of(x); break;
    case SORT_NAME:
    case SORT_OP: x->by_text = x->name; break;
    case SORT_SLOWEST: x->by = x->timed ? (double)x->slowest : NAN; break;
    case SORT_ORDER: x->by = -(double)x->at; break;
    case SORTS: break;
    }
}

static int compare(const void *a, const void *b)
{
    const row *x = a, *y = b;
    const int text = x->by_text && y->by_text ? strcmp(x->by_text, y->by_text) : 0;
    if (text) return text;
    const bool known = isfinite(x->by);
    if (known != (isfinite(y->by) != 0)) return known ? -1 : 1;
    if (known && (x->by < y->by || x->by > y->by)) return x->by > y->by ? -1 : 1;
    if (x->total < y->total || x->total > y->total) return x->total > y->total ? -1 : 1;
    return x->at < y->at ? -1 : x->at > y->at;
}

static const char *cores_of(answer *a, const row *x)
{
    if (!x->cores_max) return NULL;
    if (x->cores_min == x->cores_max) return answer_keepf(a, "%u", x->cores_max);
    return answer_keepf(a, "%u-%u", x->cores_min, x->cores_max);
}

static void print(answer *a, answer_section *s, const row *x, double all)
{
    answer_text(s, x->name);
    answer_text(s, place_of(x));
    answer_number(s, (double)x->count);
    answer_number(s, x->timed ? x->total : NAN);
    answer_number(s, x->timed ? x->total / (double)x->timed : NAN);
    answer_number(s, x->timed ? x->min : NAN);
    answer_number(s, x->timed ? x->max : NAN);
    answer_number(s, x->timed && all > 0 ? 100 * x->total / all : NAN);
    answer_number(s, x->has_gap ? x->gap : NAN);
    answer_text(s, cores_of(a, x));
    answer_number(s, x->has_host ? x->host : NAN);
    answer_number(s, rate(a, x->flops, x->with_flops));
    answer_number(s, rate(a, x->bytes, x->with_bytes));
    answer_text(s, bound_of(x));
    answer_number(s, x->has_ideal ? x->ideal : NAN);
    answer_number(s, x->timed ? (double)x->slowest : NAN);
}

bool answer_add_ops(answer *a, const answer_run *r, const answer_wishes *w)
{
    answer_section *s =
        answer_table(a, "op_statistics", "OP STATISTICS", columns, sizeof columns / sizeof columns[0]);
    size_t n_slots = 1024, n = 0;
    while (n_slots < r->n_ops * 2)
        n_slots *= 2;
    slot *slots = calloc(n_slots, sizeof *slots);
    row *rows = malloc((r->n_ops + 1) * sizeof *rows);
    double all = 0;
    for (size_t i = 0; slots && rows && i < r->n_ops; i++) {
        const answer_op *op = &r->ops[i];
        uint32_t *at = find(slots, n_slots, key_of(r, op, w->group));
        if (!*at) {
            rows[n] = (row){.name = answer_op_name(a, r, op, w->group), .at = n};
            *at = (uint32_t)++n;
        }
        add(&rows[*at - 1], r, op);
        if (isfinite(op->time)) all += op->time;
    }
    const bool good = slots && rows;
    for (size_t i = 0; good && i < n; i++)
        set_sort(a, &rows[i], w->sort);
    if (good && n) qsort(rows, n, sizeof *rows, compare);
    for (size_t i = 0; good && i < n && (!w->top || i < w->top); i++)
        print(a, s, &rows[i], all);
    if (good && w->top && n > w->top) s->more = n - w->top;
    free(slots);
    free(rows);
    answer_note(a, s,
                r->by_fw ? "Times on the device are those of firmware (DEVICE FW DURATION)."
                         : "Times on the device are those of kernels (DEVICE KERNEL DURATION).");
    answer_note(a, s,
                "gap: how long the device ran nothing before the op. host: time inside the op on the host, "
                "without that of ops inside it.");
    if (r->n_chips > 1)
        answer_note(a, s,
                    r->by_order
                        ? "Several chips: the longest of them counts, of collective ops the mean; ops of "
                          "chips were matched by their order, as their ids have nothing in common."
                        : "Several chips: the longest of them counts, of collective ops the mean.");
    return good;
}
