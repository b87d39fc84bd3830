/* Hardware counters by zone. See zone_counters.h. */
#include "decode/zone_counters.h"

#include <stdlib.h>
#include <string.h>

#include "base/intern.h"
#include "decode/counter_names.h"

const char *dl_counter_name(uint64_t number)
{
    static const char *const names[] = {
#define NAME(name) #name,
        TT_COUNTERS(NAME)
#undef NAME
    };
    return number && number < sizeof names / sizeof names[0] ? names[number] : NULL;
}

bool dl_counter_is_lacking(const char *arch, const char *counter)
{
    static const char *const dead[] = {
#define NAME(name) #name,
        TT_DEAD_ON_BLACKHOLE(NAME)
#undef NAME
    };
    for (size_t i = 0; strstr(arch, "blackhole") && i < sizeof dead / sizeof dead[0]; i++)
        if (strcmp(dead[i], counter) == 0) return true;
    return false;
}

void dl_zone_counters_free(dl_zone_counters *c)
{
    free(c->items);
    free(c->slots);
    *c = (dl_zone_counters){0};
}

static uint32_t slot_of(const dl_zone_counters *c, const dl_zone_counter *r)
{
    const uint64_t hash = dl_hash_u64(dl_hash_u64((uint64_t)r->stream << 32 | r->zone) ^ r->counter);
    uint32_t at = (uint32_t)hash & (c->n_slots - 1);
    for (; c->slots[at]; at = (at + 1) & (c->n_slots - 1)) {
        const dl_zone_counter *known = &c->items[c->slots[at] - 1];
        if (known->stream == r->stream && known->zone == r->zone && known->counter == r->counter) break;
    }
    return at;
}

static bool grow(dl_zone_counters *c)
{
    if (c->n >= DL_MAX_ZONE_COUNTERS) return false;
    if (c->n == c->cap) {
        const uint32_t cap = c->cap ? c->cap * 2 : 64;
        dl_zone_counter *items = realloc(c->items, cap * sizeof *items);
        if (!items) return false;
        c->items = items;
        c->cap = cap;
    }
    if ((c->n + 1) * 2 <= c->n_slots) return true;
    const uint32_t n_slots = c->n_slots ? c->n_slots * 2 : 256;
    uint32_t *slots = calloc(n_slots, sizeof *slots);
    if (!slots) return false;
    free(c->slots);
    c->slots = slots;
    c->n_slots = n_slots;
    for (uint32_t i = 0; i < c->n; i++)
        c->slots[slot_of(c, &c->items[i])] = i + 1;
    return true;
}

bool dl_zone_counters_add(dl_zone_counters *c, const dl_zone_counter *record)
{
    uint32_t slot = c->n_slots ? slot_of(c, record) : 0;
    if (!c->n_slots || !c->slots[slot]) {
        if (!grow(c)) return false;
        c->items[c->n] =
            (dl_zone_counter){.stream = record->stream, .zone = record->zone, .counter = record->counter};
        c->slots[slot = slot_of(c, record)] = ++c->n;
    }
    dl_zone_counter *to = &c->items[c->slots[slot] - 1];
    to->records += record->records;
    to->value += record->value;
    to->reference += record->reference;
    return true;
}
