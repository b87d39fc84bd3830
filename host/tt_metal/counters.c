/* Hardware counters and sub-devices of programs. */
#include "tt_metal/counters.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/intern.h"

enum { COOL_EVERY = 262144, COUNTER_TIMER = 9090 };

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
    *c = (tt_counters){.big_items.folder = scratch};
}

void tt_counters_free(tt_counters *c)
{
    dl_big_free(&c->big_items);
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

bool tt_counters_take(tt_counters *c, const tt_log_row *row)
{
    tt_cell part;
    uint64_t value = 0, ref = 0;
    unsigned kind = 0;
    if (row->timer != COUNTER_TIMER ||
        (row->type.n && memcmp(row->type.text, "TS", row->type.n < 2 ? row->type.n : 2) != 0)) {
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
    if (!p || !d || c->n >= TT_NONE - 1) return false;
    if ((c->n + 1) * sizeof *c->items > c->big_items.bytes &&
        !dl_big_room(&c->big_items, (c->n + 4096) * sizeof *c->items))
        return false;
    c->items = c->big_items.data;
    c->items[c->n] = (tt_counter){row->time, (uint32_t)value, (uint32_t)ref, (uint32_t)row->x << 16 | row->y,
                                  p->first,  (uint16_t)kind};
    if (++c->n % COOL_EVERY == 0) dl_big_cool(&c->big_items);
    p->first = (uint32_t)c->n;
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
    double *ratios = malloc((c->n + 1) * sizeof *ratios);
    d->l1_grant_ratio = -1;
    if (!ratios) return false;
    for (size_t i = 0; i < c->n_programs; i++) {
        const tt_counted *p = &c->programs[i];
        if (p->device != d->device) continue;
        /* Records of one run on a core are neighbours: grant and request meet within it, and one that comes again is of
         * another run. */
        double req = 0, grant = 0;
        bool has_req = false, has_grant = false;
        uint32_t core = TT_NONE;
        for (uint32_t at = p->first;; at = c->items[at - 1].next) {
            const tt_counter *r = at ? &c->items[at - 1] : NULL;
            const bool is_req = r && r->kind == TT_L1_0_UNPACKER_0,
                       is_grant = r && r->kind == TT_L1_0_UNPACKER_0_GRANT;
            if (!r || r->core != core || (is_req && has_req) || (is_grant && has_grant)) {
                if (has_req && has_grant && req > 0) ratios[n++] = grant / req;
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
}

bool tt_counters_end(tt_counters *c)
{
    bool ok = true;
    for (size_t i = 0; i < c->n_devices && ok; i++)
        if (c->devices[i].seen[TT_L1_0_UNPACKER_0_GRANT]) ok = unpacker_ratio(c, &c->devices[i]);
    return ok;
}
