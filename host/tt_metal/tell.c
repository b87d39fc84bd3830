/* Findings of rows. Not for making rows (join.c), and not for files that cannot be read, which their readers tell. */
#include "tt_metal/tell.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define CLOCK_TOLERANCE 0.01 /* of a clock's frequency */

typedef struct teller {
    const tt_join *j;
    tt_found *found;
    bool selected, part;
    uint8_t *ops;     /* by op: whether a row of it stays; NULL: not wanted */
    uint8_t *devices; /* the same by number in j->devices */
    uint32_t last;    /* device of the launch before that no op asked for */
} teller;

static void about(teller *t, tt_trouble what, const tt_op *op, const char *more)
{
    dl_str name = {0};
    if (t->found->n[what] < TT_DETAILS) tt_host_name(t->j->host, op, &name);
    tt_found_add(t->found, what, "GLOBAL CALL COUNT %llu, device %u, %.80s%s", (unsigned long long)op->id,
                 op->device, name.text ? name.text : "(no name)", more);
    dl_str_free(&name);
}

static bool device_is_there(const tt_execs *e, uint32_t device)
{
    size_t from, to;
    tt_execs_range(e, device, 0, &from, &to);
    return from < e->n && tt_execs_at(e, from)->device == device;
}

static size_t rank_of(const tt_join *j, uint32_t device)
{
    size_t i = 0;
    while (i < j->n_devices && j->devices[i] != device)
        i++;
    return i;
}

static void tell_missing(teller *t, const tt_row *r, const tt_op *op)
{
    if (r->session != TT_NONE) {
        char more[48];
        snprintf(more, sizeof more, ", replay %u of trace %u", r->session, op->trace);
        about(t, TT_MISSING_REPLAY, op, more);
        return;
    }
    /* Of a device without any data that is told once. Where only a part was read, nobody knows. */
    if (t->part || device_is_there(t->j->execs, op->device))
        about(t, r->notes & TT_NOTE_MISSING_REPLAY ? TT_MISSING_REPLAY : TT_NO_DEVICE, op, "");
}

static void tell_launch(teller *t, const tt_exec *x)
{
    if (!t->j->host->has_data) return;
    /* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): a row without an op has a launch */
    tt_found_add(t->found, TT_NO_OP, "GLOBAL CALL COUNT %llu, device %u", (unsigned long long)x->id,
                 x->device);
    if (x->device == t->last) return;
    t->last = x->device;
    if (rank_of(t->j, x->device) == t->j->n_devices)
        tt_found_add(t->found, TT_NO_HOST_DEVICE, "device %u", x->device);
}

static void tell_row(teller *t, const tt_row *r)
{
    const tt_exec *x = r->exec == TT_NONE ? NULL : &t->j->execs->items[r->exec];
    if (x && x->disagree && r->notes & (TT_NOTE_TRACE_IDS | TT_NOTE_NO_OP)) {
        char text[80];
        snprintf(text, sizeof text, "GLOBAL CALL COUNT %llu on device %u", (unsigned long long)x->id,
                 x->device);
        tt_found_amount(t->found, TT_TRACE_IDS, x->disagree, text);
    }
    if (r->op == TT_NONE) {
        tell_launch(t, x);
        return;
    }
    const tt_op *op = &t->j->host->ops[r->op];
    if (r->notes & TT_NOTE_EXTRA_REPLAY) about(t, TT_EXTRA_REPLAY, op, "");
    if (r->notes & TT_NOTE_TWICE) about(t, TT_TWICE_ON_DEVICE, op, "");
    if (r->notes & TT_NOTE_NEVER_REPLAYED) about(t, TT_NEVER_REPLAYED, op, "");
    if (r->notes & (TT_NOTE_MISSING_REPLAY | TT_NOTE_NO_DEVICE)) tell_missing(t, r, op);
    if (r->notes & TT_NOTE_NO_ZONE) about(t, TT_NO_ZONE, op, "");
}

/* Whether anything of a device ran: not only traces that were never replayed. */
static bool has_run(const tt_host *h, uint32_t device)
{
    for (size_t i = 0; i < h->n_ops; i++) {
        const tt_op *o = &h->ops[i];
        if (o->device == device && !(o->flags & TT_OP_SHADOW) &&
            (o->trace == TT_NONE || tt_host_trace(h, device, o->trace)))
            return true;
    }
    return false;
}

static void tell_devices(teller *t)
{
    const tt_join *j = t->j;
    if (t->part || (!j->execs->from_report && !j->execs->decode)) return;
    for (size_t i = 0; i < j->n_devices; i++)
        if (t->devices[i] && !device_is_there(j->execs, j->devices[i]) && has_run(j->host, j->devices[i]))
            tt_found_add(t->found, TT_WHOLE_DEVICE, "device %u", j->devices[i]);
}

/* Programs that were dispatched, and no worker's data tell of. */
static void tell_dispatched(teller *t)
{
    const tt_dispatch *d = &t->j->execs->dispatch;
    for (size_t i = 0; i < d->n; i++) {
        size_t from, to;
        const uint32_t op = t->selected ? tt_host_find(t->j->host, d->items[i].id) : TT_NONE;
        if (t->selected && (op == TT_NONE || !t->ops[op])) continue;
        tt_execs_range(t->j->execs, d->items[i].device, d->items[i].id, &from, &to);
        if (from == to)
            tt_found_add(t->found, TT_DISPATCH, "GLOBAL CALL COUNT %llu, device %u",
                         (unsigned long long)d->items[i].id, d->items[i].device);
    }
    if (d->left_out)
        tt_found_add(t->found, TT_DISPATCH, "%llu rows of more dispatch cores than there can be",
                     (unsigned long long)d->left_out);
}

/* Files of different runs lie in one folder when ids are in none of both. */
static void tell_runs(teller *t)
{
    const tt_join *j = t->j;
    const tt_execs *e = j->execs;
    for (size_t i = 0; i < j->n; i++)
        if (j->rows[i].exec != TT_NONE && j->rows[i].op != TT_NONE) return;
    if (!t->part && e->n && j->n_devices)
        tt_found_add(t->found, TT_FILE_OF_ANOTHER, "%llu ops of the host, %llu programs on devices",
                     (unsigned long long)j->host->n_ops, (unsigned long long)e->n);
}

/* Clocks that are not what the device log says. */
static void tell_clocks(teller *t)
{
    const tt_execs *e = t->j->execs;
    const dl_tables *tables = e->decode ? dl_decode_tables(e->decode) : NULL;
    for (size_t i = 0; tables && i < e->sync.n; i++) {
        const tt_sync_device *d = &e->sync.items[i];
        for (uint32_t k = 0; k < tables->n_chips && d->by_host; k++) {
            double mhz = (double)tables->chips[k].freq_khz / 1000;
            const size_t rank = rank_of(t->j, d->device);
            if (tables->chips[k].id != d->device || mhz <= 0 ||
                fabs(d->frequency * 1000 / mhz - 1) < CLOCK_TOLERANCE ||
                (t->selected && (rank == t->j->n_devices || !t->devices[rank])))
                continue;
            tt_found_add(t->found, TT_SYNC_FREQUENCY, "device %u: %.3f MHz; the log says %.0f", d->device,
                         d->frequency * 1000, mhz);
        }
    }
}

void tt_tell_rows(const tt_join *j, bool selected, bool part)
{
    teller t = {.j = j, .found = j->execs->found, .selected = selected, .part = part, .last = TT_NONE};
    t.ops = calloc(j->host->n_ops + 1, 1);
    t.devices = calloc(j->n_devices + 1, 1);
    for (size_t i = 0; i < j->n && t.ops && t.devices; i++) {
        const tt_row *r = &j->rows[i];
        tt_join_passed((tt_join *)j, i);
        if (r->left_out || r->point != TT_NONE) continue;
        if (r->op != TT_NONE) {
            t.ops[r->op] = 1;
            t.devices[rank_of(j, j->host->ops[r->op].device)] = 1;
        }
        if (r->notes) tell_row(&t, r);
    }
    if (t.ops && t.devices) {
        tell_devices(&t);
        tell_dispatched(&t);
        tell_runs(&t);
        tell_clocks(&t);
    }
    free(t.ops);
    free(t.devices);
}
