/* Series: what values, sums and points in time come to. */
#include "decode/series.h"

#include <stdlib.h>

#include "base/intern.h"

void dl_series_free(dl_series_table *t)
{
    free(t->items);
    free(t->slots);
    *t = (dl_series_table){0};
}

static uint32_t slot_of(const dl_series_table *t, uint32_t stream, uint32_t site, dl_event_kind kind)
{
    uint64_t hash = dl_hash_u64((uint64_t)stream << 32 | site << 3 | (uint32_t)kind);
    for (uint32_t at = (uint32_t)hash & (t->n_slots - 1);; at = (at + 1) & (t->n_slots - 1)) {
        if (!t->slots[at]) return at;
        const dl_series *s = &t->items[t->slots[at] - 1];
        if (s->stream == stream && s->site == site && s->kind == kind) return at;
    }
}

static bool grow(dl_series_table *t)
{
    if (t->n >= DL_MAX_SERIES) return false;
    if (t->n == t->cap) {
        uint32_t cap = t->cap ? t->cap * 2 : 64;
        dl_series *items = realloc(t->items, cap * sizeof *items);
        if (!items) return false;
        t->items = items;
        t->cap = cap;
    }
    if ((t->n + 1) * 2 <= t->n_slots) return true;
    uint32_t n_slots = t->n_slots ? t->n_slots * 2 : 256;
    uint32_t *slots = calloc(n_slots, sizeof *slots);
    if (!slots) return false;
    free(t->slots);
    t->slots = slots;
    t->n_slots = n_slots;
    for (uint32_t i = 0; i < t->n; i++)
        t->slots[slot_of(t, t->items[i].stream, t->items[i].site, t->items[i].kind)] = i + 1;
    return true;
}

uint32_t dl_series_number(const dl_series_table *t, uint32_t stream, uint32_t site, dl_event_kind kind)
{
    return t->slots[slot_of(t, stream, site, kind)] - 1;
}

bool dl_series_add(dl_series_table *t, uint32_t stream, uint32_t site, dl_event_kind kind, uint64_t time,
                   uint64_t data, uint64_t passes)
{
    uint32_t slot = t->n_slots ? slot_of(t, stream, site, kind) : 0;
    if (!t->n_slots || !t->slots[slot]) {
        if (!grow(t)) return false;
        t->items[t->n++] =
            (dl_series){.stream = stream, .site = site, .kind = kind, .min = data, .max = data};
        slot = slot_of(t, stream, site, kind);
        t->slots[slot] = t->n;
    }
    dl_series *s = &t->items[t->slots[slot] - 1];
    if (data < s->min) s->min = data;
    if (data > s->max) s->max = data;
    if (time >= s->last_time) {
        s->last = data;
        s->last_time = time;
    }
    s->count++;
    s->sum += data;
    s->passes += passes;
    return true;
}
