/* Which launches of a device log a selection needs. See part.h. */
#include "tt_metal/part.h"

#include <stdlib.h>

enum { MOST_ROWS = 4 * 1024 * 1024 }; /* more take more memory than a whole log does */

static bool add_row(tt_part *p, const tt_part_row *row)
{
    if (p->n == p->cap) {
        size_t cap = p->cap ? p->cap * 2 : 1024;
        tt_part_row *grown = realloc(p->rows, cap * sizeof *grown);
        if (!grown) return false;
        p->rows = grown;
        p->cap = cap;
    }
    p->rows[p->n++] = *row;
    return true;
}

static bool add_id(tt_part *p, const tt_part_row *r, uint32_t session)
{
    if (p->n_ids == p->cap_ids) {
        size_t cap = p->cap_ids ? p->cap_ids * 2 : 256;
        dl_filter_id *grown = realloc(p->ids, cap * sizeof *grown);
        if (!grown) return false;
        p->ids = grown;
        p->cap_ids = cap;
    }
    p->ids[p->n_ids++] = (dl_filter_id){r->id, r->device, session};
    return true;
}

static bool add_row_id(tt_part *p, const tt_part_row *r)
{
    return add_id(p, r, p->by_trace && r->replay ? r->session : DL_FILTER_ANY);
}

/* The rows that an op would have device data in, as join.c makes them. */
static bool add_op(tt_part *p, const tt_host *h, uint32_t number)
{
    const tt_op *o = &h->ops[number];
    const tt_trace *t = o->trace == TT_NONE ? NULL : tt_host_trace(h, o->device, o->trace);
    tt_part_row row = {.time = o->flags & TT_OP_ZONE ? o->start : o->sent,
                       .id = o->id,
                       .device = o->device,
                       .trace = TT_NONE,
                       .op = number};
    if (o->flags & TT_OP_SHADOW) return true;
    if (o->device == TT_NONE) {
        /* Only its zone tells of it: its device is that of its launch. */
        if (!(o->flags & TT_OP_LOST)) return true;
        row.device = (uint32_t)(o->id & 1023);
        if (row.device && !add_row(p, &row)) return false;
        row.device = 0;
        return add_row(p, &row);
    }
    if (!t) return add_row(p, &row); /* also of a trace of which the host tells no replay */
    row.replay = true;
    row.trace = o->trace;
    for (uint32_t session = 1; session <= t->replays && p->n <= MOST_ROWS; session++) {
        const tt_replay *replay = tt_host_replay(h, o->device, o->trace, session);
        row.session = session;
        row.time = replay ? replay->ns : o->sent;
        if (!add_row(p, &row)) return false;
    }
    return true;
}

/* As the rows of a report are ordered. */
static int by_order(const void *a, const void *b)
{
    const tt_part_row *x = a, *y = b;
    if (x->time != y->time) return x->time < y->time ? -1 : 1;
    if (x->replay != y->replay) return x->replay ? 1 : -1;
    if (x->replay && x->id != y->id) return x->id < y->id ? -1 : 1;
    return x->op < y->op ? -1 : x->op > y->op;
}

/* The rows that were last on each device. */
typedef struct lasts {
    size_t *items; /* numbers of rows */
    size_t n, cap;
} lasts;

/* The row before this one on its device, or SIZE_MAX; from now on this one is the last. False: no memory. */
static bool pass(lasts *l, const tt_part *p, size_t row, size_t *before)
{
    *before = SIZE_MAX;
    for (size_t i = 0; i < l->n; i++) {
        if (p->rows[l->items[i]].device != p->rows[row].device) continue;
        *before = l->items[i];
        l->items[i] = row;
        return true;
    }
    if (l->n == l->cap) {
        size_t cap = l->cap ? l->cap * 2 : 16;
        size_t *grown = realloc(l->items, cap * sizeof *grown);
        if (!grown) return false;
        l->items = grown;
        l->cap = cap;
    }
    l->items[l->n++] = row;
    return true;
}

/* No log has more devices. */
typedef struct devices {
    uint32_t items[DL_MAX_CHIPS];
    size_t n;
} devices;

static bool is_noted(const devices *d, uint32_t device)
{
    for (size_t i = 0; i < d->n; i++)
        if (d->items[i] == device) return true;
    return false;
}

static void note(devices *d, uint32_t device)
{
    if (d->n < DL_MAX_CHIPS && !is_noted(d, device)) d->items[d->n++] = device;
}

/* Marks the rows that stay, and notes their ids and those of the rows before them; of ops that stay for their capture that of the first
 * replay, which says that they ran; and on each device of which rows stay that of a replay, by which the log says whether it counts
 * them. */
static bool choose(tt_part *p, const dl_filter *wanted)
{
    lasts l = {0};
    devices with_rows = {.n = 0}, tried = {.n = 0};
    bool ok = true;
    for (size_t i = 0; i < p->n && ok; i++) {
        tt_part_row *r = &p->rows[i];
        size_t before;
        ok = pass(&l, p, i, &before);
        r->chosen = dl_filter_in(wanted->launches, wanted->n_launches, r->id) &&
                    dl_filter_picks(wanted, r->id, r->device, r->session) &&
                    dl_filter_trace(wanted, r->trace, r->session);
        r->captured = wanted->picks && r->session == 1 &&
                      dl_filter_in(wanted->launches, wanted->n_launches, r->id) &&
                      dl_filter_picks(wanted, r->id, r->device, DL_FILTER_CAPTURE);
        if (ok && r->captured && !r->chosen) ok = add_id(p, r, 1);
        if (!ok || !r->chosen) continue;
        note(&with_rows, r->device);
        ok = add_row_id(p, r) && (before == SIZE_MAX || add_row_id(p, &p->rows[before]));
    }
    for (size_t i = 0; i < p->n && ok; i++) {
        const tt_part_row *r = &p->rows[i];
        if (!r->replay || !is_noted(&with_rows, r->device) || is_noted(&tried, r->device)) continue;
        note(&tried, r->device);
        ok = add_row_id(p, r);
    }
    free(l.items);
    if (ok && p->n_ids) qsort(p->ids, p->n_ids, sizeof *p->ids, dl_filter_by_id);
    size_t kept = 0;
    for (size_t i = 0; i < p->n_ids && ok; i++)
        if (!kept || dl_filter_by_id(&p->ids[kept - 1], &p->ids[i]) != 0) p->ids[kept++] = p->ids[i];
    p->n_ids = kept;
    return ok;
}

static int by_device(const void *a, const void *b)
{
    const dl_filter_id *x = a, *y = b;
    return (x->chip > y->chip) - (x->chip < y->chip);
}

/* An op that may be of any device, as only its zone tells of it. */
static bool is_of_any(const tt_op *o)
{
    return o->device == TT_NONE && o->flags & TT_OP_LOST;
}

/* What is told of an op beside its rows: `here`: rows of its device stay. */
static dl_filter_id told_of(const tt_op *o, bool here)
{
    if (here) return (dl_filter_id){o->id, o->device, DL_FILTER_CAPTURE};
    return (dl_filter_id){o->id, DL_FILTER_OP,
                          is_of_any(o)           ? DL_FILTER_CAPTURE
                          : o->device == TT_NONE ? 0
                                                 : DL_FILTER_ANY};
}

/* Launches of no op are read, too, on devices of which rows stay: one that ran in between has a latency counted from it. Ids are the
 * number of the op, and behind it in the later versions its device in ten bits. */
static bool note_told(tt_part *p, const tt_host *h)
{
    size_t n = 0, n_chosen = 0;
    bool of_devices = p->n > 0;
    p->told = malloc((p->n + h->n_ops + 1) * sizeof *p->told);
    dl_filter_id *chosen = malloc((p->n + 1) * sizeof *chosen);
    if (!p->told || !chosen) {
        free(chosen);
        return false;
    }
    for (size_t i = 0; i < p->n; i++)
        if (p->rows[i].chosen) chosen[n_chosen++] = (dl_filter_id){.chip = p->rows[i].device};
    qsort(chosen, n_chosen, sizeof *chosen, by_device);
    for (size_t i = 0; i < p->n; i++) {
        const tt_part_row *r = &p->rows[i];
        const dl_filter_id id = {r->id, r->device, r->session};
        of_devices = of_devices && (is_of_any(&h->ops[r->op]) || (r->id & 1023) == r->device);
        if (bsearch(&id, chosen, n_chosen, sizeof *chosen, by_device)) p->told[n++] = id;
    }
    for (size_t i = 0; i < h->n_ops; i++) { /* those without a launch have ids, too */
        const dl_filter_id id = {.chip = h->ops[i].device};
        p->told[n++] = told_of(&h->ops[i], bsearch(&id, chosen, n_chosen, sizeof *chosen, by_device) != NULL);
    }
    free(chosen);
    qsort(p->told, n, sizeof *p->told, dl_filter_by_id);
    p->filter.told = p->told;
    p->filter.n_told = n;
    p->filter.told_shift = of_devices ? 10 : 0;
    return true;
}

/* Launches that were asked for by number may be of no op: their numbers stay, and the ids before them come with them. */
static bool take_ranges(tt_part *p, const dl_filter *f)
{
    p->ranges = malloc((f->n_launches + p->n_ids + 1) * sizeof *p->ranges);
    if (!p->ranges) return false;
    size_t n = 0;
    for (; n < f->n_launches; n++)
        p->ranges[n] = f->launches[n];
    for (size_t i = 0; i < p->n_ids; i++)
        if (!dl_filter_in(p->ranges, n, p->ids[i].id))
            p->ranges[n++] = (dl_filter_range){p->ids[i].id, p->ids[i].id};
    p->filter.launches = p->ranges;
    p->filter.n_launches = n;
    return true;
}

devlog_status tt_part_make(tt_part *p, const tt_host *h, const op_selection *s, const op_selected *selected,
                           devlog_error *err)
{
    const bool by_host = op_select_by_host(&s->host), of_traces = s->filter.n_traces || s->filter.n_sessions;
    dl_filter wanted = {.launches = s->filter.launches, .n_launches = s->filter.n_launches};
    bool ok = true;
    *p = (tt_part){0};
    /* What comes first on a chip is known only when all of it is. */
    if (op_select_by_order(s) || (!by_host && !s->filter.n_launches && !of_traces)) return DEVLOG_OK;
    p->by_trace = !by_host && !s->filter.n_launches;
    if (p->by_trace) {
        wanted.traces = s->filter.traces;
        wanted.n_traces = s->filter.n_traces;
        wanted.sessions = s->filter.sessions;
        wanted.n_sessions = s->filter.n_sessions;
        p->filter = wanted; /* the log may have launches of them that the host does not tell of */
        p->filter.also = true;
    }
    if (by_host) {
        wanted.picks = true;
        wanted.picked = selected->ids;
        wanted.n_picked = selected->n;
    }
    for (uint32_t i = 0; i < h->n_ops && ok && p->n <= MOST_ROWS; i++)
        ok = add_op(p, h, i);
    if (ok && p->n > MOST_ROWS) return DEVLOG_OK;
    if (ok && p->n) qsort(p->rows, p->n, sizeof *p->rows, by_order);
    ok = ok && choose(p, &wanted) && note_told(p, h);
    p->any = true;
    p->filter.partly = true;
    p->filter.picks = by_host || p->by_trace;
    p->filter.picked = p->ids;
    p->filter.n_picked = p->filter.picks ? p->n_ids : 0;
    if (ok && !p->filter.picks) ok = take_ranges(p, &s->filter);
    return ok ? DEVLOG_OK : dl_fail(err, DEVLOG_ERR_MEMORY, "out of memory");
}

bool tt_part_wants(const tt_part *p, const tt_log_row *row)
{
    const dl_filter *f = &p->filter;
    const uint32_t session = row->session == TT_NONE ? 0 : row->session;
    if (!p->any || !row->program) return true;
    if (f->also && dl_filter_trace(f, row->trace, session)) return true;
    return dl_filter_in(f->launches, f->n_launches, row->program) &&
           dl_filter_picks(f, row->program, row->device, session);
}

/* ---- Whether it was enough --- */

static bool has_run(const tt_execs *e, const tt_part_row *r)
{
    size_t from, to;
    tt_execs_range(e, r->device, r->id, &from, &to);
    for (; from < to; from++) {
        const uint32_t session = tt_execs_at(e, from)->session;
        if ((session == TT_NONE ? 0 : session) == r->session) return true;
    }
    return false;
}

/* Replays are told apart by the log, not by which ops came again: of those only some were read. */
static bool tells_replays(const tt_join *j)
{
    for (size_t i = 0; i < j->n; i++) {
        const tt_row *r = &j->rows[i];
        if (r->exec == TT_NONE || r->op == TT_NONE || j->host->ops[r->op].trace == TT_NONE) continue;
        if (j->execs->items[r->exec].counted == TT_NONE) return false;
    }
    return true;
}

/* Whether rows of this device stay. */
static bool keeps_rows_of(const tt_part *p, uint32_t device)
{
    const dl_filter_id of = {.chip = device};
    return bsearch(&of, p->told, p->filter.n_told, sizeof of, by_device) != NULL;
}

/* Whether the log is known to count replays on devices of which rows stay and on which some may have been: one that the host does
 * not tell of is known by its count only. */
static bool counts_replays(const tt_part *p, const tt_join *j)
{
    const tt_host *h = j->host;
    devices count = {.n = 0};
    for (size_t i = 0; i < j->execs->n; i++) {
        const tt_exec *x = tt_execs_at(j->execs, i);
        if (x->counted != TT_NONE) note(&count, x->device);
    }
    for (size_t i = 0; i < h->n_ops; i++)
        if (h->ops[i].trace != TT_NONE && keeps_rows_of(p, h->ops[i].device) &&
            !is_noted(&count, h->ops[i].device))
            return false;
    return true;
}

bool tt_part_is_enough(const tt_part *p, const tt_join *j)
{
    lasts l = {0};
    bool ok = !j->execs->streaming && j->execs->n &&
              (j->execs->from_report || (tells_replays(j) && counts_replays(p, j)));
    /* Launches that the host does not tell of have their places by what the log says. */
    for (size_t i = 0; i < j->n && ok; i++) {
        const tt_row *r = &j->rows[i];
        if (r->exec == TT_NONE) continue;
        if (r->left_out && !keeps_rows_of(p, j->execs->items[r->exec].device)) continue;
        ok = r->op != TT_NONE && !(r->notes & (TT_NOTE_EXTRA_REPLAY | TT_NOTE_TWICE)) &&
             !(j->host->ops[r->op].flags & TT_OP_LOST && r->session != TT_NONE);
        if (ok && !r->left_out && p->by_trace) ok = j->host->ops[r->op].trace == r->trace;
    }
    for (size_t i = 0; i < p->n && ok; i++) {
        size_t before;
        ok = pass(&l, p, i, &before);
        /* Which of its replays are missing is known of all of them, and so is whether any has run. */
        if (ok && ((p->by_trace && p->rows[i].chosen) || p->rows[i].captured))
            ok = has_run(j->execs, &p->rows[i]);
        if (ok && p->rows[i].chosen && before != SIZE_MAX && has_run(j->execs, &p->rows[i]))
            ok = has_run(j->execs, &p->rows[before]);
    }
    free(l.items);
    return ok;
}

void tt_part_free(tt_part *p)
{
    free(p->rows);
    free(p->ids);
    free(p->told);
    free(p->ranges);
    *p = (tt_part){0};
}
