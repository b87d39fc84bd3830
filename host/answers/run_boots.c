/* Rows of a chip whose counter began anew: another program of the same run, or a device that was opened again. Times of two of its starts
 * have nothing in common, so they are laid one behind the other. See run_parts.h.
 *
 * An op report does not say which rows are of one start, but for OP TO OP LATENCY (docs/op-reports.md): it is 0 for the row with which a
 * counter begins, and otherwise leads from a row's start to the last end before it. So each row but the first of a start hangs on
 * what came before it, in whatever order the report has them, and whichever programs took turns. */
#include <stdlib.h>
#include <string.h>

#include "answers/run_parts.h"

#define NONE UINT32_MAX

/* A row with its times, in cycles. */
typedef struct timed {
    double start, end;
    double before; /* the last end before it, as its latency says; NAN: it does not say */
    uint32_t row, chip;
    bool begins;
} timed;

/* One start of a chip's counter. */
typedef struct boot {
    double first, last; /* least start and greatest end of its rows so far */
    double shift;
} boot;

typedef struct chip_boots {
    boot *items;
    uint32_t n, *by_end; /* by_end: in the order of their ends so far */
} chip_boots;

static int by_chip_and_start(const void *a, const void *b)
{
    const timed *x = a, *y = b;
    if (x->chip != y->chip) return x->chip < y->chip ? -1 : 1;
    if (x->start < y->start || x->start > y->start) return x->start < y->start ? -1 : 1;
    return x->row < y->row ? -1 : x->row > y->row;
}

/* The place of the first in by_end whose end is not less. */
static uint32_t place_of(const chip_boots *c, uint32_t n, double end)
{
    uint32_t from = 0, to = n;
    while (from < to) {
        const uint32_t middle = from + (to - from) / 2;
        if (c->items[c->by_end[middle]].last < end)
            from = middle + 1;
        else
            to = middle;
    }
    return from;
}

/* The start that ends nearest to this, if it is no further off; taken out of by_end. NONE: there is none. */
static uint32_t take(chip_boots *c, uint32_t n, double end, double off)
{
    uint32_t at = place_of(c, n, end);
    if (!n) return NONE;
    if (at == n || (at && end - c->items[c->by_end[at - 1]].last < c->items[c->by_end[at]].last - end)) at--;
    if (fabs(c->items[c->by_end[at]].last - end) > off) return NONE;
    const uint32_t found = c->by_end[at];
    memmove(c->by_end + at, c->by_end + at + 1, (n - 1 - at) * sizeof *c->by_end);
    return found;
}

/* Which start each row of a chip is of; NONE: nothing that is there came before it. They are in the order of their own starts. `off`: by
 * how much of itself a latency may be wrong, in cycles; `least`: by how many cycles at least. `trusted`: some latency is not 0; in a
 * report where none is, they say nothing, and only what began before all others had ended is of another start. */
static void follow(chip_boots *c, const timed *rows, size_t n, double least, double off, bool trusted,
                   uint32_t *boots)
{
    double greatest = -INFINITY;
    for (size_t i = 0; i < n; i++) {
        const double gap = fabs(rows[i].start - rows[i].before);
        uint32_t at = isnan(gap) ? NONE : take(c, c->n, rows[i].before, least + off * gap);
        const uint32_t others = at == NONE ? c->n : c->n - 1;
        if (at == NONE && rows[i].begins && (trusted || !i || rows[i].start < greatest)) {
            at = c->n++;
            c->items[at] = (boot){.first = rows[i].start, .last = rows[i].end};
        }
        boots[rows[i].row] = at;
        greatest = rows[i].end > greatest ? rows[i].end : greatest;
        if (at == NONE) continue;
        if (rows[i].end > c->items[at].last) c->items[at].last = rows[i].end;
        const uint32_t place = place_of(c, others, c->items[at].last);
        memmove(c->by_end + place + 1, c->by_end + place, (others - place) * sizeof *c->by_end);
        c->by_end[place] = at;
    }
}

static int by_row(const void *a, const void *b)
{
    const timed *x = a, *y = b;
    return x->row < y->row ? -1 : x->row > y->row;
}

/* Rows of which that is not known, as others are missing from the report, are of the start of the row above them. */
static void fill_in(chip_boots *c, timed *rows, size_t n, uint32_t *boots)
{
    uint32_t last = 0;
    if (!c->n) c->items[c->n++] = (boot){.first = rows[0].start, .last = rows[0].end};
    qsort(rows, n, sizeof *rows, by_row);
    for (size_t i = 0; i < n; i++) {
        uint32_t *of = &boots[rows[i].row];
        if (*of == NONE) *of = last;
        boot *b = &c->items[last = *of];
        if (rows[i].start < b->first) b->first = rows[i].start;
        if (rows[i].end > b->last) b->last = rows[i].end;
    }
}

static bool add_shifts(answer_run *r, chip_boots *c, const timed *rows, size_t n, const uint32_t *boots)
{
    double at = c->items[0].first;
    if (!r->shifts) r->shifts = calloc(r->table->n + 1, sizeof *r->shifts);
    for (uint32_t k = 0; k < c->n && r->shifts; k++) {
        c->items[k].shift = at - c->items[k].first;
        at += c->items[k].last - c->items[k].first;
    }
    for (size_t i = 0; i < n && r->shifts; i++)
        r->shifts[rows[i].row] = c->items[boots[rows[i].row]].shift;
    return r->shifts != NULL;
}

static bool one_chip(answer_run *r, timed *rows, size_t n, uint32_t *boots)
{
    double cycles = 0, ns = 0;
    size_t begins = 1;
    bool trusted = false;
    for (size_t i = 0; i < n; i++) {
        const op_table_row *row = &r->table->rows[rows[i].row];
        cycles += rows[i].end - rows[i].start;
        ns += (double)row->fw_ns + (row->has & OP_HAS_IDLE ? (double)row->idle_ns : 0);
        rows[i].begins = row->has & OP_HAS_GAP && row->gap_ns == 0;
        begins += rows[i].begins;
        trusted |= row->has & OP_HAS_GAP && row->gap_ns != 0;
    }
    const bool clocked = cycles > 0 && ns > 0;
    const double per_ns = clocked ? cycles / ns : 1;
    for (size_t i = 0; i < n; i++) {
        const op_table_row *row = &r->table->rows[rows[i].row];
        rows[i].before = row->has & OP_HAS_GAP ? rows[i].start - (double)row->gap_ns * per_ns : NAN;
    }
    chip_boots c = {.items = malloc(begins * sizeof *c.items), .by_end = malloc(begins * sizeof *c.by_end)};
    bool good = c.items && c.by_end;
    /* Every duration is rounded to a nanosecond, and so is the latency. */
    if (good) follow(&c, rows, n, 0.5 * per_ns, clocked ? 0.5 * (double)n / ns : 0, trusted, boots);
    if (good) fill_in(&c, rows, n, boots);
    if (good && c.n > 1) good = add_shifts(r, &c, rows, n, boots);
    for (size_t i = 0; i < r->n_chips; i++)
        if (r->chips[i].chip == rows[0].chip) r->chips[i].boots = c.n;
    free(c.items);
    free(c.by_end);
    return good;
}

bool run_find_boots(answer_run *r)
{
    const op_table *t = r->table;
    timed *all = malloc((t->n + 1) * sizeof *all);
    uint32_t *boots = malloc((t->n + 1) * sizeof *boots);
    size_t n = 0;
    bool good = all && boots;
    for (size_t i = 0; i < t->n && good; i++) {
        const double *w = t->wide[i].numbers;
        if (t->rows[i].has & OP_IS_POINT || !(t->rows[i].has & OP_HAS_FW) || !(w[OP_FW_START] >= 0) ||
            !(w[OP_FW_END] >= w[OP_FW_START]))
            continue;
        all[n++] = (timed){
            .start = w[OP_FW_START], .end = w[OP_FW_END], .row = (uint32_t)i, .chip = t->rows[i].chip};
    }
    if (n) qsort(all, n, sizeof *all, by_chip_and_start);
    for (size_t from = 0, to; from < n && good; from = to) {
        for (to = from; to < n && all[to].chip == all[from].chip;)
            to++;
        good = one_chip(r, all + from, to - from, boots);
    }
    free(all);
    free(boots);
    return good;
}
