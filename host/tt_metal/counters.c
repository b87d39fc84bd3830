/* Hardware counters and sub-devices of programs. */
#include "tt_metal/counters.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/intern.h"
#include "base/varint.h"

enum {
    COUNTER_TIMER = 9090,
    WAITING = 128 * 1024,          /* records that are put away together */
    MOST_BYTES = 2 + 6 * DL_VARINT /* of one */
};

static const char *const names[] = {
#define NAME(name) #name,
    TT_COUNTERS(NAME) TT_NEWER_COUNTERS(NAME)
#undef NAME
};

static const struct {
    const char *name;
    unsigned kind;
} renamed[] = {
#define RENAMED(newer, older) {#newer, TT_##older},
    TT_RENAMED_COUNTERS(RENAMED)
#undef RENAMED
};

static bool is_dead(bool blackhole, unsigned kind)
{
    static const unsigned dead[] = {
#define DEAD(name) TT_##name,
        TT_DEAD_ON_BLACKHOLE(DEAD)
#undef DEAD
    };
    for (size_t i = 0; blackhole && i < sizeof dead / sizeof dead[0]; i++)
        if (dead[i] == kind) return true;
    return false;
}

void tt_counters_begin(tt_counters *c, const char *scratch)
{
    *c = (tt_counters){.pieces.folder = scratch};
}

void tt_counters_free(tt_counters *c)
{
    dl_big_free(&c->pieces);
    free(c->items);
    free(c->programs);
    free(c->slots);
    free(c->devices);
    *c = (tt_counters){0};
}

/* ---- Tables --- */

static size_t slot_of(const tt_counters *c, uint32_t device, uint64_t id, uint32_t session)
{
    size_t mask = c->n_slots - 1;
    size_t at = (size_t)dl_hash_u64(id ^ (uint64_t)session << 32 ^ (uint64_t)device << 50) & mask;
    for (; c->slots[at]; at = (at + 1) & mask) {
        const tt_counted *p = &c->programs[c->slots[at] - 1];
        if (p->id == id && p->device == device && p->session == session) break;
    }
    return at;
}

const tt_counted *tt_counters_of(const tt_counters *c, uint32_t device, uint64_t id, uint32_t session)
{
    if (!c->n_slots) return NULL;
    uint32_t found = c->slots[slot_of(c, device, id, session)];
    return found ? &c->programs[found - 1] : NULL;
}

const tt_counted_device *tt_counters_device(const tt_counters *c, uint32_t device)
{
    for (size_t i = 0; i < c->n_devices; i++)
        if (c->devices[i].device == device) return &c->devices[i];
    return NULL;
}

static tt_counted *program_of(tt_counters *c, uint32_t device, uint64_t id, uint32_t session)
{
    if (c->n_programs * 2 >= c->n_slots) {
        size_t n = c->n_slots ? c->n_slots * 2 : 1024;
        uint32_t *slots = calloc(n, sizeof *slots);
        if (!slots) return NULL;
        free(c->slots);
        c->slots = slots;
        c->n_slots = n;
        for (size_t i = 0; i < c->n_programs; i++) {
            const tt_counted *p = &c->programs[i];
            c->slots[slot_of(c, p->device, p->id, p->session)] = (uint32_t)i + 1;
        }
    }
    size_t slot = slot_of(c, device, id, session);
    if (c->slots[slot]) return &c->programs[c->slots[slot] - 1];
    if (c->n_programs == c->cap_programs) {
        size_t cap = c->cap_programs ? c->cap_programs * 2 : 256;
        tt_counted *grown = realloc(c->programs, cap * sizeof *grown);
        if (!grown) return NULL;
        c->programs = grown;
        c->cap_programs = cap;
    }
    c->programs[c->n_programs] = (tt_counted){.id = id, .device = device, .session = session};
    c->slots[slot] = (uint32_t)++c->n_programs;
    return &c->programs[c->n_programs - 1];
}

static tt_counted_device *device_of(tt_counters *c, uint32_t device)
{
    for (size_t i = 0; i < c->n_devices; i++)
        if (c->devices[i].device == device) return &c->devices[i];
    if (c->n_devices == 1024) return NULL;
    tt_counted_device *grown = realloc(c->devices, (c->n_devices + 1) * sizeof *grown);
    if (!grown) return NULL;
    c->devices = grown;
    memset(&grown[c->n_devices], 0, sizeof *grown);
    grown[c->n_devices].device = device;
    return &grown[c->n_devices++];
}

/* ---- Records ---
 *
 * A piece is what came of one program among those that were put away together: where the piece of it before begins (+ 1), how many
 * records, and these, the last first. A record's first byte says what it has in common with the one behind it. */

enum { SAME_CORE = 1, SAME_REF = 2, SAME_TIME = 4 };

static uint8_t *put_record(uint8_t *to, const tt_counter *r, const tt_counter *before)
{
    uint8_t *head = to++;
    *head = (uint8_t)((r->core == before->core ? SAME_CORE : 0) | (r->ref == before->ref ? SAME_REF : 0) |
                      (r->time == before->time ? SAME_TIME : 0));
    to = dl_varint_put(to, r->kind);
    to = dl_varint_put(to, r->value);
    if (r->core != before->core) to = dl_varint_put(dl_varint_put(to, r->core >> 16), r->core & 0xFFFF);
    if (r->ref != before->ref) to = dl_varint_put(to, r->ref);
    if (r->time != before->time) to = dl_varint_put(to, dl_zigzag(r->time - before->time));
    return to;
}

static void get_record(tt_counter_walk *w)
{
    tt_counter *r = &w->record;
    const uint8_t head = *w->at++;
    uint64_t value, low;
    w->at = dl_varint_get(w->at, &value);
    r->kind = (uint16_t)value;
    w->at = dl_varint_get(w->at, &value);
    r->value = (uint32_t)value;
    if (!(head & SAME_CORE)) {
        w->at = dl_varint_get(dl_varint_get(w->at, &value), &low);
        r->core = (uint32_t)value << 16 | (uint32_t)low;
    }
    if (!(head & SAME_REF)) {
        w->at = dl_varint_get(w->at, &value);
        r->ref = (uint32_t)value;
    }
    if (!(head & SAME_TIME)) {
        w->at = dl_varint_get(w->at, &value);
        r->time += dl_unzigzag(value);
    }
}

/* Makes a piece of one program's records: those with these numbers. */
static bool add_piece(tt_counters *c, const uint32_t *numbers, size_t n)
{
    const size_t wanted = c->n_bytes + 2 * DL_VARINT + n * MOST_BYTES;
    /* NOLINTNEXTLINE(clang-analyzer-core.uninitialized.ArraySubscript): n is 1 at least */
    tt_counted *p = &c->programs[c->items[numbers[0]].program];
    if (wanted > c->pieces.bytes && !dl_big_room(&c->pieces, wanted + 65536)) return false;
    uint8_t *from = (uint8_t *)c->pieces.data + c->n_bytes, *to = dl_varint_put(from, p->last);
    tt_counter before = {.core = TT_NONE};
    to = dl_varint_put(to, n);
    while (n-- > 0) {
        to = put_record(to, &c->items[numbers[n]], &before);
        before = c->items[numbers[n]];
    }
    p->last = c->n_bytes + 1;
    c->n_bytes += (size_t)(to - from);
    return true;
}

/* Puts what waits into pieces, a program's after the other's, in the order in which they came. */
static bool put_away(tt_counters *c)
{
    uint32_t least = UINT32_MAX, most = 0;
    for (size_t i = 0; i < c->n; i++) {
        least = c->items[i].program < least ? c->items[i].program : least;
        most = c->items[i].program > most ? c->items[i].program : most;
    }
    if (!c->n) return true;
    const size_t range = (size_t)most - least + 1;
    uint32_t *ends = calloc(range + 1, sizeof *ends), *order = malloc(c->n * sizeof *order);
    bool ok = ends && order;
    for (size_t i = 0; ok && i < c->n; i++)
        ends[c->items[i].program - least + 1]++;
    for (size_t k = 0; ok && k < range; k++)
        ends[k + 1] += ends[k];
    for (size_t i = 0; ok && i < c->n; i++)
        order[ends[c->items[i].program - least]++] = (uint32_t)i;
    for (size_t k = 0, from = 0; ok && k < range; from = ends[k++])
        if (ends[k] > from) ok = add_piece(c, order + from, ends[k] - from);
    free(ends);
    free(order);
    c->n = 0;
    dl_big_cool(&c->pieces);
    return ok;
}

tt_counter_walk tt_counters_walk(const tt_counters *c, const tt_counted *program)
{
    return (tt_counter_walk){.c = c, .piece = program->last};
}

const tt_counter *tt_counters_next(tt_counter_walk *w)
{
    while (!w->left) {
        uint64_t before;
        if (!w->piece) return NULL;
        w->at = dl_varint_get((const uint8_t *)w->c->pieces.data + w->piece - 1, &before);
        w->at = dl_varint_get(w->at, &w->left);
        w->piece = (size_t)before;
        w->record = (tt_counter){.core = TT_NONE};
    }
    w->left--;
    get_record(w);
    return &w->record;
}

void tt_counters_cool(tt_counters *c)
{
    dl_big_cool(&c->pieces);
}

/* ---- Rows --- */

static unsigned kind_of(tt_cell c)
{
    uint64_t value;
    if (tt_cell_number(c, &value)) return value < TT_COUNTERS_NUMBERED ? (unsigned)value : 0;
    for (unsigned i = 0; i < TT_COUNTERS_END; i++)
        if (tt_cell_is(c, names[i])) return i;
    for (size_t i = 0; i < sizeof renamed / sizeof renamed[0]; i++)
        if (tt_cell_is(c, renamed[i].name)) return renamed[i].kind;
    return 0;
}

static void sub_device(tt_counters *c, const tt_log_row *row, tt_counted *p)
{
    tt_cell part;
    uint64_t value;
    if (!tt_meta_member(row->meta, "sub_device_id", &part) || !tt_cell_number(part, &value) ||
        value >= TT_NONE)
        return;
    p->sub_device = (uint32_t)value + 1;
    c->sub_devices = true;
}

bool tt_counters_is_record(const tt_log_row *row)
{
    return row->timer == COUNTER_TIMER &&
           (!row->type.n || memcmp(row->type.text, "TS", row->type.n < 2 ? row->type.n : 2) == 0);
}

void tt_counters_forget(tt_counters *c)
{
    for (size_t i = 0; i < c->n_programs; i++)
        c->programs[i].last = 0;
    c->n = c->n_bytes = c->n_devices = 0;
    c->unknown = 0;
}

bool tt_counters_take(tt_counters *c, const tt_log_row *row)
{
    tt_cell part;
    uint64_t value = 0, ref = 0;
    unsigned kind = 0;
    if (!tt_counters_is_record(row)) {
        if (!tt_meta_member(row->meta, "sub_device_id", &part)) return true;
        tt_counted *p = program_of(c, row->device, row->program, row->session);
        if (p) sub_device(c, row, p);
        return p != NULL;
    }
    if (tt_meta_member(row->meta, "counter type", &part)) {
        kind = kind_of(part);
        if (tt_meta_member(row->meta, "value", &part)) tt_cell_number(part, &value);
        if (tt_meta_member(row->meta, "ref cnt", &part)) tt_cell_number(part, &ref);
    } else if (row->has_data) {
        /* The first form: value 32 bits, reference 28, counter 4. */
        value = row->data & UINT32_MAX;
        ref = row->data >> 32 & 0xFFFFFFF;
        kind = (unsigned)(row->data >> 60);
    }
    if (!kind) {
        c->unknown++;
        return true;
    }
    if (is_dead(row->head->blackhole, kind)) return true;
    tt_counted *p = program_of(c, row->device, row->program, row->session);
    tt_counted_device *d = device_of(c, row->device);
    if (!p || !d) return false;
    if (!c->items && !(c->items = malloc(WAITING * sizeof *c->items))) return false;
    if (c->n == WAITING && !put_away(c)) return false;
    c->items[c->n++] = (tt_counter){row->time,
                                    (uint32_t)value,
                                    (uint32_t)ref,
                                    (uint32_t)row->x << 16 | row->y,
                                    (uint32_t)(p - c->programs),
                                    (uint16_t)kind};
    d->wormhole = row->head->wormhole;
    d->max_cores = row->head->max_cores;
    d->seen[kind] = true;
    d->sums[kind] += value;
    return true;
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

/* Whether grants of the unpacker's port count what its requests do: on Blackhole they do not. */
static bool unpacker_ratio(tt_counters *c, tt_counted_device *d)
{
    size_t n = 0;
    size_t cap = 0;
    double *ratios = NULL;
    d->l1_grant_ratio = -1;
    for (size_t i = 0; i < c->n_programs; i++) {
        const tt_counted *p = &c->programs[i];
        if (p->device != d->device) continue;
        /* Records of one run on a core are neighbours: grant and request meet within it, and one that comes again is of
         * another run. */
        double req = 0, grant = 0;
        bool has_req = false, has_grant = false;
        uint32_t core = TT_NONE;
        tt_counter_walk w = tt_counters_walk(c, p);
        for (;;) {
            const tt_counter *r = tt_counters_next(&w);
            const bool is_req = r && r->kind == TT_L1_0_UNPACKER_0,
                       is_grant = r && r->kind == TT_L1_0_UNPACKER_0_GRANT;
            if (!r || r->core != core || (is_req && has_req) || (is_grant && has_grant)) {
                if (has_req && has_grant && req > 0) {
                    if (n == cap) {
                        cap = cap ? cap * 2 : 1024;
                        double *grown = realloc(ratios, cap * sizeof *grown);
                        if (!grown) goto no_memory;
                        ratios = grown;
                    }
                    ratios[n++] = grant / req;
                }
                has_req = has_grant = false;
                if (!r) break;
                core = r->core;
            }
            if (is_req) req = r->value;
            if (is_grant) grant = r->value;
            has_req |= is_req;
            has_grant |= is_grant;
        }
    }
    if (n) qsort(ratios, n, sizeof *ratios, by_value);
    if (n) d->l1_grant_ratio = n % 2 ? ratios[n / 2] : (ratios[n / 2 - 1] + ratios[n / 2]) / 2;
    free(ratios);
    return true;
no_memory:
    free(ratios);
    return false;
}

bool tt_counters_end(tt_counters *c)
{
    bool ok = put_away(c);
    free(c->items);
    c->items = NULL;
    for (size_t i = 0; i < c->n_devices && ok; i++)
        if (c->devices[i].seen[TT_L1_0_UNPACKER_0_GRANT]) ok = unpacker_ratio(c, &c->devices[i]);
    return ok;
}
