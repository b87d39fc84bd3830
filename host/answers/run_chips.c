/* Chips of a run: clocks, the time in which they ran anything, and ops that ran on several of them. See run_parts.h. */
#include <stdlib.h>

#include "answers/busy.h"
#include "answers/run_parts.h"

static const op_table_row *row_at(const answer_run *r, size_t i)
{
    return &r->table->rows[i];
}

static bool on_device(const op_table_row *row)
{
    return !(row->has & OP_IS_POINT) && (row->has & (OP_HAS_FW | OP_HAS_KERNEL));
}

static answer_chip *chip_of(answer_run *r, uint32_t chip)
{
    for (size_t i = 0; i < r->n_chips; i++)
        if (r->chips[i].chip == chip) return &r->chips[i];
    return NULL;
}

static int by_number(const void *a, const void *b)
{
    const answer_chip *x = a, *y = b;
    return x->chip < y->chip ? -1 : x->chip > y->chip;
}

bool run_find_chips(answer_run *r, const uint8_t *wanted)
{
    for (size_t i = r->first; i < r->last; i++) {
        if (!wanted[i] || !on_device(row_at(r, i)) || chip_of(r, row_at(r, i)->chip)) continue;
        answer_chip *grown = realloc(r->chips, (r->n_chips + 1) * sizeof *grown);
        if (!grown) return false;
        r->chips = grown;
        grown[r->n_chips++] = (answer_chip){.chip = row_at(r, i)->chip,
                                            .arch = "",
                                            .mhz_source = "",
                                            .mhz = NAN,
                                            .report_mhz = NAN,
                                            .available = NAN,
                                            .span = NAN,
                                            .busy = NAN,
                                            .core_error_cycles = NAN,
                                            .host_error_ns = NAN};
    }
    if (r->n_chips) qsort(r->chips, r->n_chips, sizeof *r->chips, by_number);
    return true;
}

/* ---- Clocks and busy time --- */

typedef struct working {
    busy_span *items; /* cycles */
    size_t n, cap;
    double cycles, ns; /* of all rows that say both: the clock */
    double overlap, idle, first, last;
    bool says_overlap, unclear; /* a row has a time and no cycles */
} working;

static bool add_interval(working *w, double start, double end)
{
    if (w->n == w->cap) {
        const size_t cap = w->cap ? w->cap * 2 : 256;
        busy_span *grown = realloc(w->items, cap * sizeof *grown);
        if (!grown) return false;
        w->items = grown;
        w->cap = cap;
    }
    w->items[w->n++] = (busy_span){start, end};
    return true;
}

static bool add_row(answer_run *r, size_t i, answer_chip *c, working *w)
{
    const op_table_row *row = row_at(r, i);
    const op_wide *wide = &r->table->wide[i];
    const double start = answer_start(r, i), end = answer_end(r, i);
    const double ns = row->has & OP_HAS_FW ? (double)row->fw_ns : (double)row->kernel_ns;
    const double idle = row->has & OP_HAS_IDLE ? (double)row->idle_ns : 0;
    if (!c->rows++ || (w->n && start >= 0 && start < w->first)) c->first_row = (uint32_t)i;
    c->sum += ns;
    w->idle += idle;
    if (!*c->arch) c->arch = dl_intern_text(r->table->texts, wide->texts[OP_ARCH], NULL);
    const double available = wide->numbers[OP_AVAILABLE];
    if (available > 0 && !(c->available >= available)) c->available = available;
    w->says_overlap |= isfinite(wide->numbers[OP_OVERLAP]);
    if (isfinite(wide->numbers[OP_OVERLAP])) w->overlap += wide->numbers[OP_OVERLAP];
    if (!(start >= 0) || !(end >= start)) {
        w->unclear = true;
        return true;
    }
    if (!w->n || start < w->first) w->first = start;
    if (!w->n || end > w->last) w->last = end;
    if (row->has & OP_HAS_FW) {
        /* Launches of one row: its cycles hold what lies between them, its time does not. */
        w->cycles += end - start;
        w->ns += ns + idle;
    }
    return add_interval(w, start, end);
}

/* MHz by what the report says in cycles and in ns. Each duration is rounded to a nanosecond, so their sums know it best. */
static void find_clock(const answer_run *r, answer_chip *c, const working *w)
{
    if (r->cycles || !(w->ns > 0) || !(w->cycles > 0)) return;
    c->mhz = w->cycles * 1000 / w->ns;
    c->mhz_source = "cycles and ns of the report";
}

static void finish_chip(const answer_run *r, answer_chip *c, working *w)
{
    find_clock(r, c, w);
    const double per_cycle = r->cycles ? 1 : 1000 / c->mhz;
    if (w->n && !w->unclear) c->span = (w->last - w->first) * per_cycle;
    /* Where a row holds several launches, or says how much of it was beside another, the report's own arithmetic is exact
     * (docs/op-reports.md); else rows are one launch each, and their union is. */
    if (w->says_overlap || w->idle > 0)
        c->busy = c->sum - w->overlap;
    else if (w->n && !w->unclear && isfinite(per_cycle))
        c->busy = busy_union(w->items, w->n) * per_cycle;
    else
        c->busy = c->sum;
}

bool run_add_chips(answer_run *r, const uint8_t *wanted)
{
    bool good = true;
    for (size_t k = 0; k < r->n_chips && good; k++) {
        answer_chip *c = &r->chips[k];
        working w = {0};
        for (size_t i = r->first; i < r->last && good; i++)
            if (wanted[i] && on_device(row_at(r, i)) && row_at(r, i)->chip == c->chip)
                good = add_row(r, i, c, &w);
        if (good) finish_chip(r, c, &w);
        free(w.items);
    }
    return good;
}

/* ---- Ops on several chips --- */

bool answer_is_collective(const char *code)
{
    /* tt-perf-report's, and the other ops in which chips exchange data. */
    static const char *const names[] = {"AllGather", "ReduceScatter", "AllReduce", "AllToAll",
                                        "AllBroadcast"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strstr(code, names[i])) return true;
    return false;
}

typedef struct member {
    uint64_t key;
    double start;             /* cycles of its chip; where nobody knows, the place in the report */
    uint32_t chip, at, place; /* at: in ops; place: the how manieth of the key on its chip */
} member;

static int by_chip(const void *a, const void *b)
{
    const member *x = a, *y = b;
    if (x->chip != y->chip) return x->chip < y->chip ? -1 : 1;
    if (x->key != y->key) return x->key < y->key ? -1 : 1;
    if (x->start < y->start || x->start > y->start) return x->start < y->start ? -1 : 1;
    return x->at < y->at ? -1 : x->at > y->at;
}

static int by_key(const void *a, const void *b)
{
    const member *x = a, *y = b;
    if (x->key != y->key) return x->key < y->key ? -1 : 1;
    if (x->place != y->place) return x->place < y->place ? -1 : 1;
    return x->at < y->at ? -1 : x->at > y->at;
}

/* How ops of several chips are found to be one: by ids that they share; by ids that have the chip in their last ten bits, as
 * tt-metal gives them; or by the order of ops of one name. */
typedef enum key_kind { KEY_ID, KEY_UPPER, KEY_ORDER } key_kind;

static uint64_t key_of(const answer_run *r, const answer_op *op, key_kind kind)
{
    const op_table_row *row = answer_row(r, op);
    return kind == KEY_ID ? row->id : kind == KEY_UPPER ? row->id >> 10 : row->code;
}

/* Puts members of one op behind one another. True: some op is on several chips. */
static bool arrange(const answer_run *r, member *members, size_t n, key_kind kind)
{
    bool shared = false;
    for (size_t i = 0; i < n; i++)
        members[i].key = key_of(r, &r->ops[members[i].at], kind);
    qsort(members, n, sizeof *members, by_chip);
    for (size_t i = 0; i < n; i++)
        members[i].place = i && members[i - 1].chip == members[i].chip && members[i - 1].key == members[i].key
                               ? members[i - 1].place + 1
                               : 0;
    qsort(members, n, sizeof *members, by_key);
    for (size_t i = 1; i < n && !shared; i++)
        shared = members[i].key == members[i - 1].key && members[i].place == members[i - 1].place;
    return shared;
}

static bool upper_ids(const answer_run *r)
{
    enum { CHIP_BITS = 10, CHIP_MASK = (1 << CHIP_BITS) - 1 };
    for (size_t i = 0; i < r->n_ops; i++) {
        const op_table_row *row = answer_row(r, &r->ops[i]);
        if (r->ops[i].chips && (!(row->has & OP_HAS_ID) || (row->id & CHIP_MASK) != row->chip)) return false;
    }
    return true;
}

/* members[0 .. n) are one op: the first of its rows stands for all. */
static void merge(answer_run *r, const member *members, size_t n)
{
    double sum = 0, longest = -1, host = NAN;
    size_t known = 0, best = 0;
    for (size_t i = 0; i < n; i++) {
        const double time = r->ops[members[i].at].time, own = r->ops[members[i].at].host;
        if (isfinite(own)) host = isfinite(host) ? host + own : own;
        if (!isfinite(time)) continue;
        known++;
        sum += time;
        if (time > longest) {
            longest = time;
            best = i;
        }
    }
    if (n < 2) return;
    const uint32_t first = members[0].at;
    const answer_op of = r->ops[members[best].at];
    for (size_t i = 0; i < n; i++)
        r->ops[members[i].at].chips = UINT32_MAX; /* is gone */
    r->ops[first] = of;
    r->ops[first].chips = (uint32_t)n;
    r->ops[first].host = host;
    if (!known) return;
    r->ops[first].spread = longest - sum / (double)known;
    if (answer_is_collective(answer_code(r, &of))) r->ops[first].time = sum / (double)known;
}

bool run_merge_chips(answer_run *r)
{
    if (r->n_chips < 2) return true;
    member *members = malloc((r->n_ops + 1) * sizeof *members);
    size_t n = 0;
    if (!members) return false;
    for (size_t i = 0; i < r->n_ops; i++) {
        const double start = answer_start(r, r->ops[i].row);
        if (r->ops[i].chips)
            members[n++] = (member){.start = isfinite(start) ? start : (double)i,
                                    .chip = answer_row(r, &r->ops[i])->chip,
                                    .at = (uint32_t)i};
    }
    if (!arrange(r, members, n, KEY_ID)) {
        r->by_order = !upper_ids(r);
        arrange(r, members, n, r->by_order ? KEY_ORDER : KEY_UPPER);
    }
    for (size_t i = 0, k; i < n; i = k) {
        for (k = i + 1; k < n && members[k].key == members[i].key && members[k].place == members[i].place;)
            k++;
        merge(r, &members[i], k - i);
    }
    free(members);
    size_t kept = 0;
    for (size_t i = 0; i < r->n_ops; i++)
        if (r->ops[i].chips != UINT32_MAX) r->ops[kept++] = r->ops[i];
    r->n_ops = kept;
    return true;
}
