/* Which op of the host ran when on which device. Not for what rows say (report.c). */
#include "tt_metal/join.h"

#include <stdlib.h>
#include <string.h>

#include "base/sort.h"

/* exec_of an op whose runs have rows of their own. */
#define RUNS_APART (TT_NONE - 1)

enum { GROUP_OP, GROUP_REPLAY, GROUP_POINT, GROUP_LAUNCH };

static tt_row *new_row(tt_join *j, uint8_t group)
{
    size_t wanted = (j->n + 1) * sizeof *j->rows;
    if (j->n >= TT_NONE - 1) return NULL;
    if (wanted > j->big_rows.bytes && !dl_big_room(&j->big_rows, wanted + 4096)) return NULL;
    j->rows = j->big_rows.data;
    tt_row *r = &j->rows[j->n];
    *r = (tt_row){.op = TT_NONE,
                  .exec = TT_NONE,
                  .point = TT_NONE,
                  .trace = TT_NONE,
                  .session = TT_NONE,
                  .order = (uint32_t)j->n,
                  .group = group};
    if (j->n++ % 16384 == 0) dl_big_cool(&j->big_rows);
    return r;
}

static uint16_t notes_of(const tt_op *op)
{
    uint16_t notes = 0;
    if (op->flags & TT_OP_LOST) notes |= TT_NOTE_LOST;
    if (op->flags & TT_OP_CUT) notes |= TT_NOTE_CUT;
    if (op->flags & TT_OP_SHADOW) notes |= TT_NOTE_SHADOW;
    if (op->flags & TT_OP_ORPHAN) notes |= TT_NOTE_ORPHAN;
    return notes;
}

static size_t device_rank(tt_join *j, uint32_t device)
{
    for (size_t i = 0; i < j->n_devices; i++)
        if (j->devices[i] == device) return i;
    if (j->n_devices == j->cap_devices) {
        size_t cap = j->cap_devices ? j->cap_devices * 2 : 16;
        uint32_t *grown = realloc(j->devices, cap * sizeof *grown);
        if (!grown) return TT_NONE;
        j->devices = grown;
        j->cap_devices = cap;
    }
    j->devices[j->n_devices] = device;
    return j->n_devices++;
}

/* ---- Replays --- */

typedef struct timed {
    uint64_t start;
    uint32_t exec, device; /* exec: for tt_execs_at */
} timed;

static int by_start(const void *a, const void *b)
{
    const timed *x = a, *y = b;
    if (x->device != y->device) return x->device < y->device ? -1 : 1;
    if (x->start != y->start) return x->start < y->start ? -1 : 1;
    return x->exec < y->exec ? -1 : x->exec > y->exec;
}

/* Which replay of its trace each run of an op was. The log's count of replays says it; where there is none
 * the next replay begins when an op of the trace comes again. */
static devlog_status number_replays(tt_join *j, tt_host *h, devlog_error *err)
{
    tt_execs *e = j->execs;
    timed *order = malloc((e->n + 1) * sizeof *order);
    uint32_t *seen = calloc(h->n_ops + 1, sizeof *seen);
    devlog_status status = order && seen ? DEVLOG_OK : dl_fail(err, DEVLOG_ERR_MEMORY, "out of memory");
    for (size_t i = 0; i < e->n && !status; i++)
        order[i] = (timed){tt_execs_at(e, i)->start, (uint32_t)i, tt_execs_at(e, i)->device};
    if (!status && e->n) qsort(order, e->n, sizeof *order, by_start);
    for (size_t i = 0; i < e->n && !status; i++) {
        tt_exec *x = tt_execs_at(e, order[i].exec);
        uint32_t op = tt_host_find(h, x->id);
        if (op == TT_NONE || h->ops[op].device != x->device || h->ops[op].trace == TT_NONE) continue;
        tt_trace *t = tt_host_trace(h, x->device, h->ops[op].trace);
        if (!t) continue;
        if (!t->session) t->session = 1;
        if (x->session != TT_NONE && x->session > t->session)
            t->session = x->session;
        else if (x->session == TT_NONE && seen[op] == t->session)
            t->session++;
        if (x->session == TT_NONE) x->session = t->session;
        x->trace = h->ops[op].trace;
        seen[op] = t->session;
    }
    free(order);
    free(seen);
    return status;
}

/* Ops that only their zones tell of: the last ten bits of an id are the device (EncodePerDeviceProgramID);
 * before 2024 there was the first one only. */
static void find_devices(const tt_join *j, tt_host *h)
{
    for (size_t i = 0; i < h->n_ops; i++) {
        tt_op *o = &h->ops[i];
        if (!(o->flags & TT_OP_LOST) || o->device != TT_NONE) continue;
        const uint32_t devices[] = {(uint32_t)(o->id & 1023), 0};
        for (size_t k = 0; k < 2 && o->device == TT_NONE; k++) {
            size_t from, to;
            tt_execs_range(j->execs, devices[k], o->id, &from, &to);
            if (from < to) o->device = devices[k];
        }
    }
}

/* ---- Rows of ops --- */

/* A row of a replay. False: no memory. */
static bool replay_row(tt_join *j, uint32_t op, uint32_t exec, uint32_t trace, uint32_t session,
                       uint16_t notes)
{
    const tt_op *o = &j->host->ops[op];
    const tt_replay *replay = trace == TT_NONE ? NULL : tt_host_replay(j->host, o->device, trace, session);
    tt_row *r = new_row(j, GROUP_REPLAY);
    if (!r) return false;
    r->op = op;
    r->exec = exec;
    r->trace = trace;
    r->session = session;
    r->time = replay ? replay->ns : o->sent;
    r->notes = notes | notes_of(o);
    if (!replay) r->notes |= TT_NOTE_EXTRA_REPLAY;
    j->replays++;
    return true;
}

/* Replays that the host told of and that an op with data of others has none of. */
static bool missing_replays(tt_join *j, uint32_t op, size_t from, size_t to)
{
    const tt_op *o = &j->host->ops[op];
    const tt_trace *t = o->trace == TT_NONE ? NULL : tt_host_trace(j->host, o->device, o->trace);
    uint32_t there = 0;
    for (size_t i = from; i < to; i++)
        there += tt_execs_at(j->execs, i)->session != TT_NONE;
    if (!t || there == 0 || there >= t->replays) return true;
    for (uint32_t session = 1; session <= t->replays; session++) {
        bool found = false;
        for (size_t i = from; i < to && !found; i++)
            found = tt_execs_at(j->execs, i)->session == session;
        if (!found && !replay_row(j, op, TT_NONE, o->trace, session, TT_NOTE_MISSING_REPLAY)) return false;
    }
    return true;
}

/* *near: as of tt_execs_range_near. */
static bool rows_of_device_op(tt_join *j, uint32_t op, size_t *near)
{
    const tt_op *o = &j->host->ops[op];
    size_t from, to, plain = 0;
    tt_execs_range_near(j->execs, o->device, o->id, near, &from, &to);
    /* Lines of the C++ report: those of the op's trace, or all where none is of it. */
    bool of_trace = false;
    for (size_t i = from; i < to && j->execs->from_report && !of_trace; i++)
        of_trace = tt_execs_at(j->execs, i)->trace == o->trace;
    uint32_t single = from < to ? RUNS_APART : TT_NONE;
    for (size_t i = from; i < to; i++) {
        const uint32_t exec = j->execs->sorted[i];
        const tt_exec *x = tt_execs_at(j->execs, i);
        if (j->joined[i] || (of_trace && x->trace != o->trace)) continue;
        j->joined[i] = true;
        uint16_t notes = x->trace_repaired ? TT_NOTE_TRACE_IDS : 0;
        j->with_device++;
        if (x->session != TT_NONE) {
            if (!replay_row(j, op, exec, x->trace, x->session, notes)) return false;
            continue;
        }
        if (plain++) {
            tt_row *r = new_row(j, GROUP_OP);
            if (!r) return false;
            r->op = op;
            r->exec = exec;
            r->time = o->flags & TT_OP_ZONE ? o->start : o->sent;
            r->notes = notes | notes_of(o) | TT_NOTE_TWICE;
            continue;
        }
        single = exec;
    }
    j->exec_of[op] = single;
    return missing_replays(j, op, from, to);
}

static uint16_t why_no_device(const tt_join *j, const tt_op *o)
{
    const tt_trace *t = o->trace == TT_NONE ? NULL : tt_host_trace(j->host, o->device, o->trace);
    if (o->trace != TT_NONE && !t) return TT_NOTE_NEVER_REPLAYED;
    return t ? TT_NOTE_MISSING_REPLAY : TT_NOTE_NO_DEVICE;
}

static bool op_rows(tt_join *j, bool has_device_data)
{
    const tt_host *h = j->host;
    for (uint32_t i = 0; i < h->n_ops; i++) {
        tt_join_passed(j, i);
        const tt_op *o = &h->ops[i];
        bool of_device = o->device != TT_NONE && !(o->flags & TT_OP_SHADOW) && has_device_data;
        const uint32_t exec = j->exec_of[i];
        tt_row *r = new_row(j, GROUP_OP);
        if (!r) return false;
        r->op = i;
        r->exec = exec == RUNS_APART ? TT_NONE : exec;
        r->order = i;
        r->time = o->flags & TT_OP_ZONE ? o->start : o->sent;
        r->notes = notes_of(o);
        j->ops++;
        if (r->exec != TT_NONE && j->execs->items[r->exec].trace_repaired) r->notes |= TT_NOTE_TRACE_IDS;
        if (of_device && exec == TT_NONE) r->notes |= why_no_device(j, o);
        if (!(o->flags & (TT_OP_ZONE | TT_OP_SHADOW)) && h->has_times) r->notes |= TT_NOTE_NO_ZONE;
    }
    return true;
}

static bool device_rows(tt_join *j)
{
    const tt_host *h = j->host;
    size_t n = 0, near = 0;
    dl_keyed *order = malloc((h->n_ops + 1) * sizeof *order);
    if (!order) return false;
    for (uint32_t i = 0; i < h->n_ops; i++)
        if (h->ops[i].device != TT_NONE && !(h->ops[i].flags & TT_OP_SHADOW))
            order[n++] = (dl_keyed){h->ops[i].id, i};
    for (size_t i = 0; i < n; i++) /* devices are ranked as their ops come */
        device_rank(j, h->ops[order[i].at].device);
    bool ok = dl_sort_keyed(order, n);
    for (size_t i = 0; i < n && ok; i++)
        order[i].key = device_rank(j, h->ops[order[i].at].device);
    ok = ok && dl_sort_keyed(order, n);
    for (size_t i = 0; i < n && ok; i++) {
        tt_join_passed(j, i);
        ok = rows_of_device_op(j, (uint32_t)order[i].at, &near);
    }
    free(order);
    return ok;
}

/* Launches that no op asked for stand at the end, device by device in their order there. */
static bool launch_rows(tt_join *j)
{
    tt_execs *e = j->execs;
    size_t n = 0;
    for (size_t i = 0; i < e->n; i++) {
        tt_join_passed(j, i);
        n += !j->joined[i];
    }
    timed *order = malloc((n + 1) * sizeof *order);
    if (!order) return false;
    n = 0;
    uint64_t first = 0; /* alone, runs of one program stand together, as in tt-metal's script */
    for (size_t i = 0; i < e->n; i++) {
        const tt_exec *x = tt_execs_at(e, i);
        bool again = i && tt_same_program(x, tt_execs_at(e, i - 1));
        if (!again || x->start < first) first = x->start;
        if (!j->joined[i]) order[n++] = (timed){j->alone ? first : x->start, (uint32_t)i, x->device};
    }
    if (n) qsort(order, n, sizeof *order, by_start);
    bool ok = true;
    for (size_t i = 0; i < n && ok; i++) {
        const tt_exec *x = tt_execs_at(e, order[i].exec);
        tt_row *r = new_row(j, GROUP_LAUNCH);
        ok = r != NULL;
        if (!ok) break;
        r->exec = e->sorted[order[i].exec];
        r->trace = x->trace;
        r->session = x->session;
        r->time = UINT64_MAX;
        r->notes = TT_NOTE_NO_OP;
    }
    free(order);
    return ok;
}

static int by_time(const void *a, const void *b, void *rows)
{
    const tt_row *x = (const tt_row *)rows + *(const uint32_t *)a,
                 *y = (const tt_row *)rows + *(const uint32_t *)b;
    if (x->time != y->time) return x->time < y->time ? -1 : 1;
    if (x->group != y->group) return x->group < y->group ? -1 : 1;
    return x->order < y->order ? -1 : x->order > y->order;
}

/* The rows by time; those of one time by their groups. */
static bool order_rows(tt_join *j)
{
    dl_keyed *keys = malloc((j->n + 1) * sizeof *keys);
    j->order = malloc((j->n + 1) * sizeof *j->order);
    bool ok = keys && j->order;
    for (size_t i = 0; i < j->n && ok; i++)
        keys[i] = (dl_keyed){j->rows[i].time, i};
    ok = ok && dl_sort_keyed(keys, j->n);
    for (size_t from = 0, to; from < j->n && ok; from = to) {
        bool sorted = true;
        for (to = from; to < j->n && keys[to].key == keys[from].key; to++) {
            j->order[to] = (uint32_t)keys[to].at;
            sorted = sorted && (to == from || by_time(&j->order[to - 1], &j->order[to], j->rows) < 0);
        }
        if (!sorted) qsort_r(&j->order[from], to - from, sizeof *j->order, by_time, j->rows);
    }
    free(keys);
    return ok;
}

devlog_status tt_join_make(tt_join *j, tt_host *host, tt_execs *execs, const char *scratch, devlog_error *err)
{
    *j = (tt_join){.host = host, .execs = execs, .big_rows.folder = scratch};
    j->alone = !host->has_data && !host->has_times;
    bool has_device_data = execs->from_report || execs->decode;
    j->exec_of = malloc((host->n_ops + 1) * sizeof *j->exec_of);
    j->joined = calloc(execs->n + 1, sizeof *j->joined);
    bool ok = j->exec_of && j->joined;
    if (ok) find_devices(j, host);
    for (size_t i = 0; i < host->n_ops && ok; i++)
        j->exec_of[i] = TT_NONE;
    devlog_status status = DEVLOG_OK;
    if (ok && execs->replays_by_time) status = number_replays(j, host, err);
    if (status) return status;
    if (ok && has_device_data) ok = device_rows(j);
    if (ok) ok = op_rows(j, has_device_data);
    for (uint32_t i = 0; i < host->n_signposts && ok; i++) {
        tt_row *r = new_row(j, GROUP_POINT);
        ok = r != NULL;
        if (!ok) break;
        r->point = i;
        r->time = host->signposts[i].ns;
        r->order = i;
    }
    if (ok) ok = launch_rows(j);
    free(j->exec_of);
    free(j->joined);
    j->exec_of = NULL;
    j->joined = NULL;
    if (!ok || !order_rows(j)) return dl_fail(err, DEVLOG_ERR_MEMORY, "out of memory");
    tt_join_passed(j, 0);
    dl_big_cool(&j->big_rows);
    return DEVLOG_OK;
}

void tt_join_passed(tt_join *j, size_t row)
{
    if (row % TT_PASSED) return;
    tt_host_cool(j->host);
    dl_big_cool(&j->execs->big_items);
    tt_kept_cool(&j->execs->lines);
    dl_big_cool(&j->execs->big_cycles);
    dl_big_cool(&j->big_rows);
    tt_counters_cool(&j->execs->counters);
}

void tt_join_free(tt_join *j)
{
    dl_big_free(&j->big_rows);
    free(j->devices);
    free(j->exec_of);
    free(j->joined);
    free(j->order);
    memset(j, 0, sizeof *j);
}
