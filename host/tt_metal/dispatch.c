/* Dispatch cores' commands, by program. */
#include "tt_metal/dispatch.h"

#include <stdlib.h>
#include <string.h>

#include "base/intern.h"

enum {
    MARK_END = 1,
    MARK_PROGRAM = 2,
    MARK_COMMAND = 4,
    MARK_CQ = 8,
    MARK_GO = 16,
    MARK_SENDS = 32,
    MARK_LAST = 64
};
enum { MASTER, SUBORDINATE, SIDES };
enum { MAX_CORES = 1024 }; /* of all devices */

void tt_dispatch_begin(tt_dispatch *d, const char *scratch)
{
    *d = (tt_dispatch){.big_marks.folder = scratch};
}

void tt_dispatch_free(tt_dispatch *d)
{
    dl_big_free(&d->big_marks);
    free(d->cores);
    free(d->items);
    *d = (tt_dispatch){0};
}

static bool has(tt_cell c, const char *word)
{
    return c.n && memmem(c.text, c.n, word, strlen(word)) != NULL;
}

static bool core_of(tt_dispatch *d, const tt_log_row *row, uint32_t *out)
{
    uint64_t key = (uint64_t)row->device << 32 | (uint64_t)row->x << 16 | row->y;
    for (size_t i = d->n_cores; i-- > 0;)
        if (d->cores[i] == key) {
            *out = (uint32_t)i;
            return true;
        }
    *out = TT_NONE;
    if (d->n_cores == MAX_CORES) {
        d->left_out++;
        return true;
    }
    if (d->n_cores == d->cap_cores) {
        size_t cap = d->cap_cores ? d->cap_cores * 2 : 16;
        uint64_t *grown = realloc(d->cores, cap * sizeof *grown);
        if (!grown) return false;
        d->cores = grown;
        d->cap_cores = cap;
    }
    *out = (uint32_t)d->n_cores;
    d->cores[d->n_cores++] = key;
    return true;
}

bool tt_dispatch_take(tt_dispatch *d, const tt_log_row *row)
{
    tt_cell part;
    uint64_t program;
    tt_mark m = {.time = row->time};
    if (tt_cell_is(row->risc, "NCRISC"))
        m.risc = SUBORDINATE;
    else if (!tt_cell_is(row->risc, "BRISC"))
        return true; /* of Ethernet cores nothing is counted, as there */
    bool zone = has(row->zone, "CQ-DISPATCH") || has(row->zone, "CQ-PREFETCH");
    if (tt_meta_member(row->meta, "workers_runtime_id", &part) && tt_cell_number(part, &program) &&
        program < TT_NONE) {
        m.flags |= MARK_PROGRAM;
        m.program = (uint32_t)program;
    }
    if (tt_meta_member(row->meta, "dispatch_command_type", &part)) {
        m.flags |= MARK_COMMAND;
        if (has(part, "CQ_DISPATCH_")) m.flags |= MARK_CQ;
        if (tt_cell_is(part, "CQ_DISPATCH_CMD_SEND_GO_SIGNAL")) m.flags |= MARK_GO;
        if (has(part, "CQ_DISPATCH_CMD_SEND_GO_SIGNAL")) m.flags |= MARK_SENDS;
        if (has(part, "CQ_DISPATCH_NOTIFY_SUBORDINATE_GO_SIGNAL")) m.flags |= MARK_LAST;
    }
    if (!zone && !m.flags) return true;
    if (tt_cell_is(row->type, "ZONE_END")) m.flags |= MARK_END;
    if (d->n_marks >= TT_NONE || !core_of(d, row, &m.core)) return false;
    if (m.core == TT_NONE) return true;
    m.order = (uint32_t)d->n_marks;
    size_t wanted = (d->n_marks + 1) * sizeof *d->marks;
    if (wanted > d->big_marks.bytes && !dl_big_room(&d->big_marks, wanted + 65536)) return false;
    d->marks = d->big_marks.data;
    d->marks[d->n_marks++] = m;
    return true;
}

/* ---- What a RISC did for each program --- */

typedef struct share {
    uint64_t first;            /* time of its first row */
    uint64_t named, named_end; /* first and last row of commands of the kind that is asked for */
    uint64_t told_at;          /* when it first said which program it is */
    uint32_t key;              /* by which its commands are one; 0: of none */
    uint32_t told;
    uint32_t order;
    bool any_named, any_told;
} share;

typedef struct side {
    share *items;
    size_t n, cap;
    uint32_t *slots;
    size_t n_slots;
} side;

static share *find(side *s, uint32_t key, bool make)
{
    if (make && s->n * 2 >= s->n_slots) {
        size_t n = s->n_slots ? s->n_slots * 2 : 256;
        uint32_t *slots = calloc(n, sizeof *slots);
        if (!slots) return NULL;
        for (size_t i = 0; i < s->n; i++) {
            size_t at = (size_t)dl_hash_u64(s->items[i].key) & (n - 1);
            while (slots[at])
                at = (at + 1) & (n - 1);
            slots[at] = (uint32_t)i + 1;
        }
        free(s->slots);
        s->slots = slots;
        s->n_slots = n;
    }
    if (!s->n_slots) return NULL;
    size_t at = (size_t)dl_hash_u64(key) & (s->n_slots - 1);
    for (; s->slots[at]; at = (at + 1) & (s->n_slots - 1))
        if (s->items[s->slots[at] - 1].key == key) return &s->items[s->slots[at] - 1];
    if (!make) return NULL;
    if (s->n == s->cap) {
        size_t cap = s->cap ? s->cap * 2 : 128;
        share *grown = realloc(s->items, cap * sizeof *grown);
        if (!grown) return NULL;
        s->items = grown;
        s->cap = cap;
    }
    s->items[s->n] = (share){.key = key, .order = (uint32_t)s->n};
    s->slots[at] = (uint32_t)++s->n;
    return &s->items[s->n - 1];
}

/* A zone's rows belong to the program that is in hand at its end. */
static bool close_zone(side *s, const tt_mark *marks, size_t n, uint32_t key, bool named)
{
    size_t before = s->n;
    share *x = find(s, key, true);
    if (!x) return false;
    if (s->n > before) x->first = marks[0].time;
    if (named && !x->any_named) x->named = marks[0].time;
    if (named) x->named_end = marks[n - 1].time;
    x->any_named |= named;
    for (size_t i = 0; i < n && !x->any_told; i++) {
        if (!(marks[i].flags & MARK_PROGRAM)) continue;
        x->any_told = true;
        x->told = marks[i].program;
        x->told_at = marks[i].time;
    }
    return true;
}

/* The marks of one RISC in the order of time. */
static bool by_program(side *s, const tt_mark *marks, size_t n, uint8_t named)
{
    uint32_t key = 0;
    uint8_t command = 0;
    bool last = false;
    size_t from = 0;
    for (size_t i = 0; i < n; i++) {
        const tt_mark *m = &marks[i];
        if (m->flags & MARK_PROGRAM) {
            last = false;
            key = find(s, m->program, false) ? 0 : m->program; /* the first replay of a trace only */
        }
        if (m->flags & MARK_COMMAND) {
            command = m->flags;
            last |= (m->flags & MARK_LAST) != 0;
            key += (m->flags & MARK_SENDS) != 0;
        }
        if (!(m->flags & MARK_END)) continue;
        if (!close_zone(s, &marks[from], i + 1 - from, key, (command & named) != 0)) return false;
        from = i + 1;
        if (last) key = 0;
    }
    return true;
}

static int by_first(const void *a, const void *b)
{
    const share *x = a, *y = b;
    if (x->first != y->first) return x->first < y->first ? -1 : 1;
    return x->order < y->order ? -1 : x->order > y->order;
}

static tt_dispatched *new_item(tt_dispatch *d)
{
    if (d->n == d->cap) {
        size_t cap = d->cap ? d->cap * 2 : 256;
        tt_dispatched *grown = realloc(d->items, cap * sizeof *grown);
        if (!grown) return NULL;
        d->items = grown;
        d->cap = cap;
    }
    return &d->items[d->n++];
}

static uint64_t span(const share *s)
{
    return s && s->any_named && s->named_end > s->named ? s->named_end - s->named : TT_NO_SPAN;
}

/* One core: each program of the master with that of the subordinate which is as many from the beginning. */
static bool pair(tt_dispatch *d, uint32_t device, side sides[SIDES])
{
    for (int i = 0; i < SIDES; i++)
        if (sides[i].n) qsort(sides[i].items, sides[i].n, sizeof *sides[i].items, by_first);
    for (size_t i = 0; i < sides[MASTER].n; i++) {
        const share *a = &sides[MASTER].items[i],
                    *b = i < sides[SUBORDINATE].n ? &sides[SUBORDINATE].items[i] : NULL;
        if (!a->key) continue;
        const share *told = b && b->any_told && (!a->any_told || b->told_at < a->told_at) ? b : a;
        tt_dispatched *x = new_item(d);
        if (!x) return false;
        *x = (tt_dispatched){.id = told->any_told ? told->told : 0,
                             .start = b && b->first < a->first ? b->first : a->first,
                             .device = device,
                             .commands = span(a),
                             .go = span(b)};
    }
    return true;
}

static int by_time(const void *a, const void *b)
{
    const tt_mark *x = a, *y = b;
    if (x->core != y->core) return x->core < y->core ? -1 : 1;
    if (x->risc != y->risc) return x->risc < y->risc ? -1 : 1;
    if (x->time != y->time) return x->time < y->time ? -1 : 1;
    return x->order < y->order ? -1 : x->order > y->order;
}

static int by_id(const void *a, const void *b)
{
    const tt_dispatched *x = a, *y = b;
    if (x->device != y->device) return x->device < y->device ? -1 : 1;
    if (x->id != y->id) return x->id < y->id ? -1 : 1;
    return x->start < y->start ? -1 : x->start > y->start;
}

bool tt_dispatch_end(tt_dispatch *d)
{
    bool ok = true;
    if (d->n_marks) qsort(d->marks, d->n_marks, sizeof *d->marks, by_time);
    for (size_t at = 0; at < d->n_marks && ok;) {
        side sides[SIDES] = {{0}, {0}};
        uint32_t core = d->marks[at].core;
        for (uint8_t risc = MASTER; risc < SIDES && ok; risc++) {
            size_t from = at;
            while (at < d->n_marks && d->marks[at].core == core && d->marks[at].risc == risc)
                at++;
            ok = by_program(&sides[risc], &d->marks[from], at - from, risc == MASTER ? MARK_CQ : MARK_GO);
        }
        if (ok) ok = pair(d, (uint32_t)(d->cores[core] >> 32), sides);
        for (int i = 0; i < SIDES; i++) {
            free(sides[i].items);
            free(sides[i].slots);
        }
    }
    if (d->n) qsort(d->items, d->n, sizeof *d->items, by_id);
    /* Of several for one program the last counts, as in tt-metal's script. */
    size_t kept = 0;
    for (size_t i = 0; i < d->n && ok; i++) {
        bool same = kept && d->items[kept - 1].id == d->items[i].id &&
                    d->items[kept - 1].device == d->items[i].device;
        d->items[same ? kept - 1 : kept++] = d->items[i];
    }
    d->n = kept;
    dl_big_free(&d->big_marks);
    d->marks = NULL;
    d->n_marks = 0;
    return ok;
}

tt_dispatched *tt_dispatch_of(const tt_dispatch *d, uint32_t device, uint64_t id)
{
    size_t low = 0, high = d->n;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const tt_dispatched *x = &d->items[middle];
        if (x->device != device ? x->device < device : x->id < id)
            low = middle + 1;
        else
            high = middle;
    }
    return low < d->n && d->items[low].device == device && d->items[low].id == id ? &d->items[low] : NULL;
}
