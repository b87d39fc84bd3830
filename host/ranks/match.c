/* Which op of one lane is which of another. By their ids, when what has the same id is the same op everywhere; otherwise by the
 * order of ops: each lane is laid beside the ops that are known by the shortest edit (Myers 1986, An O(ND) Difference Algorithm
 * and Its Variations), and what it has more is put in where it stands. */
#include <stdlib.h>
#include <string.h>

#include "ranks/ranks.h"

enum {
    CHIP_BITS = 10,   /* of tt-metal's ids: base << 10 | chip */
    MOST_EDITS = 2000 /* beyond, ops are matched by how manieth of their kind they are */
};

static devlog_status no_memory(devlog_error *err)
{
    return dl_fail(err, DEVLOG_ERR_MEMORY, "out of memory");
}

/* A new op behind another one (RANKS_NONE: at the beginning). RANKS_NONE: no memory. */
static uint32_t insert(ranks *r, uint32_t after, const rank_item *item)
{
    if (r->n_ops == r->cap_ops) {
        const size_t cap = r->cap_ops ? r->cap_ops * 2 : 1024;
        rank_op *grown = realloc(r->ops, cap * sizeof *grown);
        if (!grown) return RANKS_NONE;
        r->ops = grown;
        r->cap_ops = cap;
    }
    const uint32_t at = (uint32_t)r->n_ops++;
    uint32_t *before = after == RANKS_NONE ? &r->head : &r->ops[after].next;
    r->ops[at] = (rank_op){.code = item->code, .shape = item->shape, .next = *before};
    *before = at;
    return at;
}

/* ---- By a key --------------------------------------------------------------------------------------------- */

typedef struct slot {
    uint64_t key;
    uint32_t times; /* how manieth of its key on the lane */
    uint32_t op;    /* + 1; 0: empty */
} slot;

typedef struct keys {
    slot *slots;
    size_t n;        /* a power of two */
    uint32_t *count; /* of each key slot, on the lane in hand; by the slot of times 0 */
    uint32_t *lane;  /* that the count is of, + 1 */
} keys;

static slot *slot_of(const keys *k, uint64_t key, uint32_t times)
{
    size_t at = (size_t)dl_hash_u64(key * 31 + times) & (k->n - 1);
    while (k->slots[at].op && (k->slots[at].key != key || k->slots[at].times != times))
        at = (at + 1) & (k->n - 1);
    return &k->slots[at];
}

/* How manieth op of this key it is on the lane, and counts it. */
static uint32_t times_of(keys *k, uint64_t key, uint32_t lane)
{
    const slot *first = slot_of(k, key, 0);
    if (!first->op) return 0;
    const size_t at = (size_t)(first - k->slots);
    if (k->lane[at] != lane + 1) {
        k->lane[at] = lane + 1;
        k->count[at] = 0;
    }
    return k->count[at];
}

typedef uint64_t key_function(const rank_item *item, bool upper);

static uint64_t by_id(const rank_item *item, bool upper)
{
    return upper ? item->id >> CHIP_BITS : item->id;
}

static uint64_t by_kind(const rank_item *item, bool upper)
{
    (void)upper;
    return (uint64_t)item->code << 32 | item->shape;
}

/* *good: what has one key is one kind of op, and lanes have most of their ops in common; `any`: that is not asked. */
static bool match_by(ranks *r, key_function *key_of, bool upper, bool any, bool *good)
{
    keys k = {.n = 64};
    while (k.n < 2 * r->n_items)
        k.n *= 2;
    k.slots = calloc(k.n, sizeof *k.slots);
    k.count = calloc(k.n, sizeof *k.count);
    k.lane = calloc(k.n, sizeof *k.lane);
    bool memory = k.slots && k.count && k.lane;
    *good = true;
    for (size_t l = 0; l < r->n_lanes && memory && *good; l++) {
        const rank_lane *lane = &r->lanes[l];
        uint32_t before = RANKS_NONE;
        size_t known = 0;
        for (size_t i = lane->first; i < lane->first + lane->n && memory && *good; i++) {
            rank_item *item = &r->ops_of_lanes[i];
            const uint64_t key = key_of(item, upper);
            const uint32_t times = times_of(&k, key, (uint32_t)l);
            slot *s = slot_of(&k, key, times);
            if (s->op) {
                item->op = s->op - 1;
                *good = r->ops[item->op].code == item->code && r->ops[item->op].shape == item->shape;
                known++;
            } else {
                item->op = insert(r, before, item);
                memory = item->op != RANKS_NONE;
                *s = (slot){key, times, item->op + 1};
            }
            const size_t first = (size_t)(slot_of(&k, key, 0) - k.slots);
            if (k.lane[first] != l + 1) k.count[first] = 0;
            k.lane[first] = (uint32_t)l + 1;
            k.count[first]++;
            before = item->op;
        }
        if (!any && l && known * 2 < (lane->n < r->lanes[0].n ? lane->n : r->lanes[0].n)) *good = false;
    }
    free(k.slots);
    free(k.count);
    free(k.lane);
    return memory;
}

static void forget(ranks *r)
{
    r->n_ops = 0;
    r->head = RANKS_NONE;
}

/* ---- By order --------------------------------------------------------------------------------------------- */

static bool same(const ranks *r, uint32_t op, const rank_item *item)
{
    return r->ops[op].code == item->code && r->ops[op].shape == item->shape;
}

/* The diagonals' furthest places after some edits: of[k] for k = -edits, -edits + 2, ... edits. */
typedef struct front {
    int32_t *values;
    long edits;
} front;

static long at(const front *f, long k)
{
    return k < -f->edits || k > f->edits ? -1 : f->values[k + f->edits];
}

/* Whether the next edit on diagonal k takes an item that no op is, rather than passing over an op. */
static bool takes_item(const front *f, long k)
{
    const long d = f->edits + 1;
    return k == -d || (k != d && at(f, k - 1) < at(f, k + 1));
}

/* Gives each item that is one its op. */
static void walk_back(rank_item *items, long n, const uint32_t *ops, long m, const front *fronts, long edits)
{
    long x = m, y = n; /* x: of ops, y: of items */
    for (long d = edits; d > 0; d--) {
        const front *f = &fronts[d - 1];
        const bool item = takes_item(f, x - y);
        const long k = item ? x - y + 1 : x - y - 1, from_x = at(f, k), from_y = from_x - k;
        while (x > from_x + !item && y > from_y + item)
            /* NOLINTNEXTLINE(clang-analyzer-core.uninitialized.Assign): fronts that were walked are whole */
            items[--y].op = ops[--x];
        x = from_x;
        y = from_y;
    }
    while (x > 0 && y > 0)
        items[--y].op = ops[--x];
}

/* False: no memory. *found: within MOST_EDITS. Ops behind the last item are no edits: a rank may have died early. */
static bool edit(const ranks *r, rank_item *items, long n, const uint32_t *ops, long m, bool *found)
{
    const long most = n + m < MOST_EDITS ? n + m : MOST_EDITS;
    front *fronts = calloc((size_t)most + 1, sizeof *fronts);
    bool memory = fronts != NULL;
    long edits = -1, end = 0;
    for (long d = 0; d <= most && memory && edits < 0; d++) {
        front *f = &fronts[d];
        *f = (front){calloc((size_t)(2 * d + 1), sizeof *f->values), d};
        memory = f->values != NULL;
        for (long k = -d; k <= d && memory && edits < 0; k += 2) {
            const front *before = d ? &fronts[d - 1] : NULL;
            long x = !before ? 0 : takes_item(before, k) ? at(before, k + 1) : at(before, k - 1) + 1;
            while (x < m && x - k < n && same(r, ops[x], &items[x - k]))
                x++;
            f->values[k + d] = (int32_t)x;
            if (x - k != n || x > m) continue;
            edits = d;
            end = x;
        }
    }
    *found = edits >= 0;
    if (memory && *found) walk_back(items, n, ops, end, fronts, edits);
    for (long d = 0; fronts && d <= most; d++)
        free(fronts[d].values);
    free(fronts);
    return memory;
}

/* Lays one lane beside the ops that are known. */
static bool match_lane(ranks *r, const rank_lane *lane, uint32_t *ops, bool *found)
{
    rank_item *items = &r->ops_of_lanes[lane->first];
    long m = 0, first = 0;
    const long n = (long)lane->n;
    for (uint32_t op = r->head; op != RANKS_NONE; op = r->ops[op].next)
        ops[m++] = op;
    for (long i = 0; i < n; i++)
        items[i].op = RANKS_NONE;
    while (first < n && first < m && same(r, ops[first], &items[first])) {
        items[first].op = ops[first];
        first++;
    }
    /* Not from the end, too: the end of what a rank did that died early would be taken for that of the others. */
    if (!edit(r, items + first, n - first, ops + first, m - first, found)) return false;
    if (!*found) return true;
    uint32_t before = RANKS_NONE;
    for (size_t i = 0; i < lane->n; i++) {
        if (items[i].op == RANKS_NONE) items[i].op = insert(r, before, &items[i]);
        if (items[i].op == RANKS_NONE) return false;
        before = items[i].op;
    }
    return true;
}

static bool match_by_order(ranks *r, bool *found)
{
    uint32_t *ops = malloc((r->n_items + 1) * sizeof *ops);
    bool memory = ops != NULL;
    *found = true;
    for (size_t l = 0; l < r->n_lanes && memory && *found; l++)
        memory = match_lane(r, &r->lanes[l], ops, found);
    free(ops);
    return memory;
}

/* ---- All of it -------------------------------------------------------------------------------------------- */

/* Whether ids end with the chip, as tt-metal gives them. */
static bool ids_have_chips(const ranks *r)
{
    for (size_t i = 0; i < r->n_items; i++)
        if ((r->ops_of_lanes[i].id & ((1 << CHIP_BITS) - 1)) != r->lanes[r->lane_of[i]].chip) return false;
    return true;
}

/* Items without data have said where they stand, and go, with ops of which there is nothing else. False: no memory. */
static bool drop_blank(ranks *r)
{
    uint32_t *to = calloc(r->n_ops + 1, sizeof *to);
    rank_op *ops = malloc((r->n_ops + 1) * sizeof *ops);
    rank_item *items = malloc((r->n_items + 1) * sizeof *items);
    size_t kept = 0, n_ops = 0;
    if (!to || !ops || !items) {
        free(to);
        free(ops);
        free(items);
        return false;
    }
    for (size_t l = 0; l < r->n_lanes; l++) {
        rank_lane *lane = &r->lanes[l];
        const size_t first = kept;
        for (size_t i = lane->first; i < lane->first + lane->n; i++) {
            if (r->ops_of_lanes[i].blank) continue;
            to[r->ops_of_lanes[i].op] = 1;
            r->lane_of[kept] = (uint32_t)l;
            items[kept++] = r->ops_of_lanes[i];
        }
        lane->first = first;
        lane->n = kept - first;
    }
    r->n_items = kept;
    uint32_t *last = &r->head;
    for (uint32_t op = r->head; op != RANKS_NONE; op = r->ops[op].next) {
        if (!to[op]) continue;
        ops[n_ops] = r->ops[op];
        to[op] = (uint32_t)n_ops;
        *last = (uint32_t)n_ops;
        last = &ops[n_ops++].next;
    }
    *last = RANKS_NONE;
    for (size_t i = 0; i < kept; i++)
        items[i].op = to[items[i].op];
    free(to);
    free(r->ops);
    free(r->ops_of_lanes);
    r->ops = ops;
    r->ops_of_lanes = items;
    r->n_ops = n_ops;
    r->cap_ops = n_ops + 1;
    return true;
}

/* Ops in their order, and the items of each. */
static devlog_status number(ranks *r, devlog_error *err)
{
    r->order = malloc((r->n_ops + 1) * sizeof *r->order);
    r->by_op = malloc((r->n_items + 1) * sizeof *r->by_op);
    if (!r->order || !r->by_op) return no_memory(err);
    uint32_t place = 0;
    for (size_t i = 0; i < r->n_items; i++)
        r->ops[r->ops_of_lanes[i].op].lanes++;
    size_t at = 0;
    for (uint32_t op = r->head; op != RANKS_NONE; op = r->ops[op].next) {
        r->ops[op].place = place;
        r->ops[op].first = at;
        at += r->ops[op].lanes;
        r->ops[op].lanes = 0;
        r->order[place++] = op;
    }
    for (size_t i = 0; i < r->n_items;
         i++) { /* by lane, as items are read rank by rank; chips are put in order below */
        rank_op *op = &r->ops[r->ops_of_lanes[i].op];
        size_t to = op->first + op->lanes++;
        for (; to > op->first && r->lane_of[r->by_op[to - 1]] > r->lane_of[i]; to--)
            r->by_op[to] = r->by_op[to - 1];
        r->by_op[to] = (uint32_t)i;
    }
    return DEVLOG_OK;
}

/* Ranks that share nothing with any other. */
static void find_apart(ranks *r)
{
    if (r->n - r->n_silent < 2) return;
    for (size_t i = 0; i < r->n; i++)
        r->items[i].apart = !r->items[i].silent;
    for (size_t i = 0; i < r->n_ops; i++) {
        const rank_op *op = &r->ops[i];
        /* NOLINTNEXTLINE(clang-analyzer-core.uninitialized.ArraySubscript): every op has the lanes that it says */
        const uint32_t first = r->lanes[r->lane_of[r->by_op[op->first]]].rank;
        const uint32_t last = r->lanes[r->lane_of[r->by_op[op->first + op->lanes - 1]]].rank;
        for (size_t k = 0; first != last && k < op->lanes; k++)
            r->items[r->lanes[r->lane_of[r->by_op[op->first + k]]].rank].apart = false;
    }
}

devlog_status ranks_match(ranks *r, devlog_error *err)
{
    bool ids = true, good = false;
    for (size_t i = 0; i < r->n_items && ids; i++)
        ids = r->ops_of_lanes[i].has_id;
    if (ids && !match_by(r, by_id, ids_have_chips(r), false, &good)) return no_memory(err);
    r->by = RANKS_BY_ID;
    if (!good) {
        forget(r);
        r->by = RANKS_BY_ORDER;
        if (!match_by_order(r, &good)) return no_memory(err);
    }
    if (!good) {
        forget(r);
        r->by = RANKS_BY_KIND;
        if (!match_by(r, by_kind, false, true, &good)) return no_memory(err);
    }
    if (!drop_blank(r)) return no_memory(err);
    const devlog_status status = number(r, err);
    if (!status) find_apart(r);
    return status;
}
