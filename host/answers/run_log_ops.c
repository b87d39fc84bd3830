/* Which op of a report a launch of its log is of; see run_log_internal.h. A log that says ops settles it. Where it does not, ops and
 * launches may be numbered together (tt-metal's are), or each on their own: then another op has the launch's number. A report with
 * rows of launches without op is of the second kind, and only the device's time tells whose a launch is. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "answers/answer_run.h"
#include "answers/run_log_internal.h"
#include "decode/door.h"

enum { MOST_BESIDE = 64 }; /* ops of a chip that run beside one another */

static int by_id(const void *a, const void *b)
{
    const id_of *x = a, *y = b;
    if (x->id != y->id) return x->id < y->id ? -1 : 1;
    return x->chip < y->chip ? -1 : x->chip > y->chip;
}

static int by_start(const void *a, const void *b)
{
    const id_of *x = a, *y = b;
    if (x->chip != y->chip) return x->chip < y->chip ? -1 : 1;
    if (x->start < y->start || x->start > y->start) return x->start < y->start ? -1 : 1;
    return 0;
}

/* Whether ops and launches of the report have numbers of their own; then its ops are put in the order of their times. */
static void number_apart(asked *a, const op_table *t)
{
    size_t n = 0;
    for (size_t i = 0; i < t->n && !a->apart; i++)
        a->apart = strcmp(dl_intern_text(t->texts, t->rows[i].code, NULL), OP_CODE_NO_OP) == 0;
    if (!a->apart) return;
    for (size_t i = 0; i < a->n; i++)
        if (isfinite(a->ids[i].start) && isfinite(a->ids[i].end)) a->by_start[n++] = a->ids[i];
    a->n_by_start = n;
    if (n) qsort(a->by_start, n, sizeof *a->by_start, by_start);
}

bool run_log_ask(asked *a, const answer_run *r, bool made)
{
    *a = (asked){.all = !r, .made = made, .whole = r && !r->left_out};
    if (!r) return true;
    const op_table *t = r->table;
    a->n_rows = made ? t->n : 0;
    a->by_row = calloc(a->n_rows + 1, sizeof *a->by_row);
    a->ids = malloc((t->n + 1) * sizeof *a->ids);
    a->by_start = malloc((t->n + 1) * sizeof *a->by_start);
    if (!a->by_row || !a->ids || !a->by_start) return false;
    for (size_t i = r->first; i < r->last; i++) {
        const op_table_row *row = &t->rows[i];
        if (!answer_run_wants(r, i) || (row->has & OP_IS_POINT)) continue;
        if (made) {
            a->by_row[i] = row->code + 1;
            continue;
        }
        if (!(row->has & OP_HAS_ID)) continue;
        const double *wide = t->wide[i].numbers;
        const bool ran = (row->has & (OP_HAS_FW | OP_HAS_KERNEL)) != 0;
        a->device_times |= ran;
        a->ids[a->n++] = (id_of){row->id, row->chip, row->code, ran, wide[OP_FW_START], wide[OP_FW_END]};
    }
    if (a->n) qsort(a->ids, a->n, sizeof *a->ids, by_id);
    number_apart(a, t);
    return true;
}

/* Whether an op whose number is the launch's may have run what began at `start`. */
static bool may_be(const asked *a, const id_of *op, uint64_t start)
{
    if (a->device_times && !op->ran) return false; /* the report has device times, and none for this op */
    if (!isfinite(op->start) || !isfinite(op->end)) return true;
    const double room =
        op->end - op->start; /* clocks of cores may have been laid beside one another otherwise */
    return (double)start >= op->start - room && (double)start <= op->end + room;
}

/* The code of the one op whose time has `start` in it, as text + 1; of several only if they agree. */
static uint32_t code_at(const asked *a, uint32_t chip, uint64_t start)
{
    uint32_t code = NOT_WANTED;
    const double at = (double)start;
    size_t from = 0, to = a->n_by_start;
    while (from < to) { /* the first that begins later */
        const size_t middle = from + (to - from) / 2;
        const id_of *m = &a->by_start[middle];
        if (m->chip < chip || (m->chip == chip && m->start <= at))
            from = middle + 1;
        else
            to = middle;
    }
    for (size_t i = from, looked = 0; i-- > 0 && a->by_start[i].chip == chip && looked < MOST_BESIDE;
         looked++) {
        if (a->by_start[i].end < at) continue;
        if (code != NOT_WANTED && code != a->by_start[i].code + 1) return NOT_WANTED;
        code = a->by_start[i].code + 1;
    }
    return code;
}

uint32_t run_log_code_of(const asked *a, const devlog_log *log, uint32_t number, uint64_t start)
{
    if (a->all) return 1;
    if (a->made) return number < a->n_rows && a->by_row[number] ? a->by_row[number] : NOT_WANTED;
    const bool told = door_told_op(log, number);
    const id_of key = {.id = door_asked_by(log, number), .chip = devlog_log_launch(log, number).chip};
    if (a->apart && !told) return code_at(a, key.chip, start);
    const id_of *found = a->n ? bsearch(&key, a->ids, a->n, sizeof key, by_id) : NULL;
    if (!found) return NOT_WANTED;
    if (told) return found->code + 1;
    while (found > a->ids && by_id(found - 1, &key) == 0)
        found--;
    for (; found < a->ids + a->n && by_id(found, &key) == 0; found++)
        if (may_be(a, found, start)) return found->code + 1;
    return NOT_WANTED;
}
