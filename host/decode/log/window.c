/* A part of a packed log. See window.h. */
#include "decode/log/window.h"

#include <stdlib.h>
#include <string.h>

#include "base/sort.h"

enum {
    TIME_CELL = 5,           /* of which a block's first range is */
    FIRST_CELLS = 6,         /* what stands before the cells of the others */
    MOST_TRIED = 4096,       /* replays that are looked at for a block: more of them have it read */
    MOST_PAIRS = 1000000000, /* of blocks that are compared for a window of time: with more all is read */
};

/* Stamps that are farther apart than that may have come round. */
#define MOST_APART (UINT64_C(1) << 43)

typedef struct planner {
    const pk_index *index;
    const dl_filter *f;
    size_t id, trace, counter; /* of these among a block's ranges */
    bool told;                 /* blocks tell ids of traced rows and of others; in their own cells */
    bool traces;               /* of which traces rows are, the ranges of their block say .. */
    bool counts;               /* .. and of which replays */
    bool *wanted;
} planner;

static const pk_info *info_of(const planner *p, size_t i)
{
    return &p->index->entries[i].info;
}

static uint64_t least(const planner *p, size_t i)
{
    return info_of(p, i)->least[p->id];
}

static uint64_t most(const planner *p, size_t i)
{
    return info_of(p, i)->most[p->id];
}

/* Whether the index has the ids of block i: one without is of before. */
static bool has_ids(const planner *p, size_t i)
{
    const pk_row_ids *ids = &info_of(p, i)->ids;
    return p->told && (ids->plain.n || ids->traced.n);
}

/* Whether block i may hold one of these ids. */
static bool may_hold(const planner *p, size_t i, uint64_t low, uint64_t high)
{
    const pk_row_ids *ids = &info_of(p, i)->ids;
    if (least(p, i) > high || most(p, i) < low) return false;
    return !has_ids(p, i) || pk_ids_meet(&ids->plain, low, high) || pk_ids_meet(&ids->traced, low, high);
}

static bool has_rows(const planner *p, size_t i)
{
    return info_of(p, i)->rows > info_of(p, i)->raw;
}

/* Every row has a launch with an id, and stamps have not come round. */
static bool is_regular(const planner *p)
{
    uint64_t first = UINT64_MAX, last = 0;
    for (size_t i = 0; i < p->index->n; i++) {
        const pk_info *info = info_of(p, i);
        if (!has_rows(p, i)) continue;
        if (info->least[0] > info->most[0] || least(p, i) > most(p, i) || least(p, i) == 0) return false;
        if (p->told && info->known & PK_KNOWN && !(info->known & PK_ALL_IDS)) return false;
        if (info->least[0] < first) first = info->least[0];
        if (info->most[0] > last) last = info->most[0];
    }
    return first <= last && last - first < MOST_APART;
}

/* Whether every block knows this of its rows, and no replay is number 0. */
static bool all_know(const planner *p, uint32_t what)
{
    for (size_t i = 0; i < p->index->n; i++) {
        const pk_info *info = info_of(p, i);
        if ((info->known & what) != what) return false;
        if (what & PK_COUNTED && info->least[p->counter] == 0) return false;
    }
    return true;
}

static bool any_meets(const dl_filter_range *r, size_t n, uint64_t low, uint64_t high)
{
    for (size_t k = 0; k < n; k++)
        if (r[k].low <= high && r[k].high >= low) return true;
    return false;
}

static bool begins_at_0(const dl_filter_range *r, size_t n)
{
    for (size_t k = 0; k < n; k++)
        if (r[k].low == 0) return true;
    return false;
}

static bool has_session(const pk_info *info, const dl_filter *f)
{
    for (size_t k = 0; k < f->n_sessions; k++)
        if (pk_ids_meet(&info->ids.counts, f->sessions[k].low, f->sessions[k].high)) return true;
    return false;
}

/* Whether block i may have something of the traces and of the replays that are asked for. */
static bool has_trace(const planner *p, size_t i)
{
    const dl_filter *f = p->f;
    const pk_info *info = info_of(p, i);
    if (f->n_traces && p->traces &&
        !any_meets(f->traces, f->n_traces, info->least[p->trace], info->most[p->trace]))
        return false;
    return !f->n_sessions || !p->counts || begins_at_0(f->sessions, f->n_sessions) || has_session(info, f);
}

/* Takes back the blocks that have nothing of them; false: nothing is left. */
static bool leave_traces(planner *p)
{
    bool any = false;
    for (size_t i = 0; i < p->index->n; i++) {
        p->wanted[i] &= has_trace(p, i);
        any |= p->wanted[i];
    }
    return any;
}

/* Wants the blocks that have something of them. */
static void want_traces(planner *p)
{
    for (size_t i = 0; i < p->index->n; i++)
        p->wanted[i] |= has_rows(p, i) && has_trace(p, i);
}

/* Wants the blocks in which one of the ranges may be; false: a range is in none. */
static bool want_ids(planner *p, const dl_filter_range *r, size_t n)
{
    for (size_t k = 0; k < n; k++) {
        bool any = false;
        for (size_t i = 0; i < p->index->n; i++) {
            if (!has_rows(p, i) || !may_hold(p, i, r[k].low, r[k].high)) continue;
            any = p->wanted[i] = true;
        }
        if (!any) return false;
    }
    return n > 0;
}

static int by_low(const void *a, const void *b)
{
    const dl_filter_range *x = a, *y = b;
    return x->low < y->low ? -1 : x->low > y->low;
}

/* Ranges that overlap or touch become one. */
static size_t merge(dl_filter_range *r, size_t n)
{
    size_t kept = 0;
    if (n) qsort(r, n, sizeof *r, by_low);
    for (size_t i = 0; i < n; i++) {
        if (kept && r[i].low <= r[kept - 1].high + (r[kept - 1].high < UINT64_MAX)) {
            if (r[i].high > r[kept - 1].high) r[kept - 1].high = r[i].high;
            continue;
        }
        r[kept++] = r[i];
    }
    return kept;
}

/* Whether one of the ranges, which are in order, has something of `from` to `to`. */
static bool meets(const dl_filter_range *r, size_t n, uint64_t from, uint64_t to)
{
    size_t low = 0, high = n;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (r[middle].high < from)
            low = middle + 1;
        else
            high = middle;
    }
    return low < n && r[low].low <= to;
}

static int by_id(const void *a, const void *b)
{
    const dl_filter_id *x = a, *y = b;
    return x->id < y->id ? -1 : x->id > y->id;
}

/* Whether one of the picked replays, by id, may be in block i. */
static bool has_replay(const planner *p, size_t i, const dl_filter_id *picked, size_t n)
{
    const pk_info *info = info_of(p, i);
    const pk_ids *ids = &info->ids.traced;
    for (size_t k = 0; k < ids->n; k++) {
        size_t low = 0, high = n;
        while (low < high) {
            const size_t middle = low + (high - low) / 2;
            if (picked[middle].id < ids->low[k])
                low = middle + 1;
            else
                high = middle;
        }
        for (size_t tried = 0; low < n && picked[low].id <= ids->high[k]; low++, tried++)
            if (tried == MOST_TRIED || picked[low].session == DL_FILTER_ANY ||
                pk_ids_meet(&info->ids.counts, picked[low].session, picked[low].session))
                return true;
    }
    return false;
}

static bool want_picked(planner *p)
{
    const dl_filter *f = p->f;
    dl_filter_range *r = malloc((f->n_picked + 1) * sizeof *r);
    dl_filter_id *picked = malloc((f->n_picked + 1) * sizeof *picked);
    bool good = r && picked;
    for (size_t i = 0; i < f->n_picked && good; i++) {
        r[i] = (dl_filter_range){f->picked[i].id, f->picked[i].id};
        picked[i] = f->picked[i];
        good = f->picked[i].chip != DL_FILTER_OP; /* which op a launch is of, its rows say */
    }
    if (good && f->n_picked) qsort(picked, f->n_picked, sizeof *picked, by_id);
    /* Neighbours are wanted together; ids of which nothing is there do not matter. */
    const size_t n = good ? merge(r, f->n_picked) : 0;
    bool any = false;
    for (size_t i = 0; i < p->index->n && good; i++) {
        const pk_row_ids *ids = &info_of(p, i)->ids;
        const bool told = has_ids(p, i);
        bool here = !told && meets(r, n, least(p, i), most(p, i));
        for (size_t k = 0; told && k < ids->plain.n && !here; k++)
            here = meets(r, n, ids->plain.low[k], ids->plain.high[k]);
        for (size_t k = 0; told && !p->counts && k < ids->traced.n && !here; k++)
            here = meets(r, n, ids->traced.low[k], ids->traced.high[k]);
        if (told && p->counts && !here) here = has_replay(p, i, picked, f->n_picked);
        if (here && has_rows(p, i)) any = p->wanted[i] = true;
    }
    free(r);
    free(picked);
    return good && any;
}

/* ---- Launches that nobody told of ------------------------------------------------------------------------- */

/* Of the ops of one number, which is an id without its last bits. */
typedef struct told_ops {
    uint64_t number;
    uint64_t behind;      /* the replay behind those that are told of; UINT64_MAX: of none */
    size_t here, devices; /* how many of the chips that are told of have them, and how many devices at all */
    bool all;             /* they have no launch but those that are told of */
    size_t next;          /* where numbers follow of which this is not so */
} told_ops;

/* In order, each number once. */
typedef struct told_list {
    told_ops *items;
    size_t n;
} told_list;

static int by_full_id(const void *a, const void *b)
{
    const dl_filter_id *x = a, *y = b;
    return x->id != y->id ? (x->id > y->id) - (x->id < y->id) : dl_filter_by_id(a, b);
}

/* The n entries of an id and a chip, in the order of replays. */
static void add_told(told_ops *t, const dl_filter_id *of, size_t n)
{
    const uint32_t last = of[n - 1].session;
    if (of->chip == DL_FILTER_OP) {
        t->devices += last == DL_FILTER_ANY;
        for (size_t i = 0; i < n; i++)
            t->all &= of[i].session != DL_FILTER_CAPTURE;
        return;
    }
    uint64_t replays = last;
    if (last == DL_FILTER_CAPTURE) replays = n > 1 ? of[n - 2].session : 0;
    if (replays + 1 < t->behind) t->behind = replays + 1;
    t->here++;
    t->devices++;
}

static bool list_told(told_list *t, const dl_filter *f)
{
    const size_t n = f->n_told;
    const uint32_t shift = f->told_shift;
    size_t chips = 0;
    bool shared = false;
    dl_filter_id *of = malloc((n + 1) * sizeof *of);
    *t = (told_list){.items = malloc((n + 1) * sizeof *t->items)};
    if (!t->items || !of) {
        free(of);
        return false;
    }
    for (size_t i = 0; i < n; i++) /* by chip */
        chips += f->told[i].chip != DL_FILTER_OP && (i == 0 || f->told[i - 1].chip != f->told[i].chip);
    memcpy(of, f->told, n * sizeof *of);
    qsort(of, n, sizeof *of, by_full_id);
    for (size_t i = 0, end; i < n; i = end) {
        for (end = i; end < n && of[end].id == of[i].id && of[end].chip == of[i].chip; end++) {
        }
        if (!t->n || t->items[t->n - 1].number != of[i].id >> shift)
            t->items[t->n++] = (told_ops){.number = of[i].id >> shift, .behind = UINT64_MAX, .all = true};
        add_told(&t->items[t->n - 1], of + i, end - i);
        shared |= t->items[t->n - 1].devices > 1;
    }
    for (size_t i = t->n; i-- > 0;) {
        told_ops *x = &t->items[i];
        /* Where chips have ops of one number, one of which nothing is told may be on those that have none. */
        if (shared && x->devices && x->here < chips) x->all = false;
        const bool same = i + 1 < t->n && x[1].behind == x->behind && x[1].all == x->all;
        x->next = same ? x[1].next : i + 1;
    }
    free(of);
    return true;
}

/* Whether launches of all numbers from `low` to `high` are told of, and of which replays they are; `counts`: NULL: of none. */
static bool is_told(const told_list *t, uint64_t low, uint64_t high, const pk_ids *counts)
{
    size_t at = 0;
    for (size_t end = t->n; at < end;) {
        const size_t middle = at + (end - at) / 2;
        if (t->items[middle].number < low)
            at = middle + 1;
        else
            end = middle;
    }
    if (high - low >= t->n - at || t->items[at].number != low || t->items[at + (high - low)].number != high)
        return false;
    const size_t end = at + (high - low) + 1;
    for (; at < end; at = t->items[at].next) {
        const told_ops *x = &t->items[at];
        if (!x->all || (counts && pk_ids_meet(counts, x->behind, x->behind))) return false;
    }
    return true;
}

/* Wants the blocks that may have a launch that nobody told of: its id is missing among those that were given, or it is the replay
 * behind the last one. False: no memory. */
static bool want_untold(planner *p)
{
    const uint32_t shift = p->f->told_shift;
    told_list t;
    const bool good = list_told(&t, p->f);
    for (size_t i = 0; i < p->index->n && good; i++) {
        const pk_row_ids *ids = &info_of(p, i)->ids;
        /* A block of before does not say which replays it has. */
        bool all = has_ids(p, i) && info_of(p, i)->known & PK_KNOWN;
        if (!has_rows(p, i)) continue;
        for (size_t k = 0; k < ids->plain.n && all; k++)
            all = is_told(&t, ids->plain.low[k] >> shift, ids->plain.high[k] >> shift, NULL);
        for (size_t k = 0; k < ids->traced.n && all; k++)
            all = is_told(&t, ids->traced.low[k] >> shift, ids->traced.high[k] >> shift, &ids->counts);
        p->wanted[i] |= !all;
    }
    free(t.items);
    return good;
}

/* ---- Time ------------------------------------------------------------------------------------------------- */

static bool any_shared(const pk_ids *a, const pk_ids *b)
{
    for (size_t k = 0; k < a->n; k++)
        if (pk_ids_meet(b, a->low[k], a->high[k])) return true;
    return false;
}

/* Whether blocks i and k may have rows of one launch. */
static bool share_launch(const planner *p, size_t i, size_t k)
{
    if (least(p, i) > most(p, k) || least(p, k) > most(p, i)) return false;
    if (!has_ids(p, i) || !has_ids(p, k)) return true;
    const pk_row_ids *a = &info_of(p, i)->ids, *b = &info_of(p, k)->ids;
    if (any_shared(&a->plain, &b->plain)) return true;
    return (!p->counts || any_shared(&a->counts, &b->counts)) && any_shared(&a->traced, &b->traced);
}

/* Wants the blocks of launches that may touch the window: a launch has rows in one that does, or in one before it and in one behind it.
 * False: none does, or there are too many blocks to look at. */
static bool want_time(planner *p)
{
    const uint64_t from = p->f->from, to = p->f->to ? p->f->to : UINT64_MAX;
    const size_t n = p->index->n;
    size_t *early = malloc((n + 1) * sizeof *early), *late = malloc((n + 1) * sizeof *late);
    size_t n_early = 0, n_late = 0;
    bool any = false;
    /* Those that touch it are in both. */
    for (size_t i = 0; i < n && early && late; i++) {
        if (!has_rows(p, i)) continue;
        const bool before = info_of(p, i)->least[0] <= to, behind = info_of(p, i)->most[0] >= from;
        if (before) early[n_early++] = i;
        if (behind) late[n_late++] = i;
        if (before && behind) p->wanted[i] = true;
    }
    const bool good = early && late && (!n_late || n_early <= MOST_PAIRS / n_late);
    for (size_t i = 0; i < n_early && good; i++)
        for (size_t k = 0; k < n_late; k++) {
            if ((p->wanted[early[i]] && p->wanted[late[k]]) || !share_launch(p, early[i], late[k])) continue;
            p->wanted[early[i]] = p->wanted[late[k]] = true;
        }
    for (size_t i = 0; i < n && good; i++)
        any |= p->wanted[i];
    free(early);
    free(late);
    return any;
}

bool dl_window_plan(dl_window *w, const pk_index *index, const dl_columns *columns, const dl_filter *f)
{
    const int cell = columns->at[DL_COL_RUN_HOST_ID] - FIRST_CELLS;
    planner p = {.index = index, .f = f, .id = (size_t)(1 + cell), .told = cell == PK_ID_CELL};
    const bool traces = columns->at[DL_COL_TRACE_ID] == FIRST_CELLS + PK_TRACE_CELL &&
                        columns->at[DL_COL_TRACE_COUNTER] == FIRST_CELLS + PK_COUNT_CELL;
    *w = (dl_window){0};
    if (columns->at[DL_COL_TIME] != TIME_CELL || columns->at[DL_COL_RUN_HOST_ID] < FIRST_CELLS ||
        cell >= PK_CELLS || f->skip_launches || f->n_skips || !is_regular(&p))
        return false;
    p.trace = 1 + PK_TRACE_CELL;
    p.counter = 1 + PK_COUNT_CELL;
    p.traces = traces && p.told && all_know(&p, PK_KNOWN | PK_TRACES);
    p.counts = p.traces && all_know(&p, PK_COUNTED);
    w->wanted = p.wanted = calloc(index->n + 1, sizeof *w->wanted);
    bool good = p.wanted != NULL;
    if (good && f->n_launches) {
        good = want_ids(&p, f->launches, f->n_launches);
    } else if (good && f->picks) {
        good = want_picked(&p);
        if (good && f->also) want_traces(&p);
    } else if (good && (f->from || f->to)) {
        good = want_time(&p);
    } else if (good) {
        for (size_t i = 0; i < index->n; i++)
            p.wanted[i] = has_rows(&p, i);
    }
    if (good && !f->also && (f->n_traces || f->n_sessions)) good = leave_traces(&p);
    if (good && f->n_told) good = want_untold(&p);
    for (size_t i = 0; i < index->n && good; i++) {
        /* Chip lines and headers are among the raw rows. */
        p.wanted[i] |= i == 0 || index->entries[i].info.raw || !has_rows(&p, i);
        w->n_wanted += p.wanted[i];
    }
    if (good && w->n_wanted < index->n) return true;
    dl_window_free(w);
    return false;
}

void dl_window_free(dl_window *w)
{
    free(w->wanted);
    *w = (dl_window){0};
}
