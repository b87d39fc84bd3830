/* Cores in launches. */
#include "tt_metal/places.h"

#include <stdlib.h>

#include "base/intern.h"

static size_t slot_of(const tt_places *p, uint64_t core, uint32_t launch)
{
    size_t mask = p->n_slots - 1, at = (size_t)dl_hash_u64(core ^ dl_hash_u64(launch)) & mask;
    for (; p->slots[at]; at = (at + 1) & mask) {
        const tt_place *x = &p->items[p->slots[at] - 1];
        if (x->core == core && x->launch == launch) break;
    }
    return at;
}

static bool grow(tt_places *p)
{
    size_t n = p->n_slots ? p->n_slots * 2 : 4096;
    uint32_t *slots = calloc(n, sizeof *slots);
    if (!slots) return false;
    free(p->slots);
    p->slots = slots;
    p->n_slots = n;
    for (size_t i = 0; i < p->n; i++)
        slots[slot_of(p, p->items[i].core, p->items[i].launch)] = (uint32_t)i + 1;
    return true;
}

tt_place *tt_places_at(tt_places *p, uint64_t core, uint32_t launch)
{
    if (p->n * 2 >= p->n_slots && !grow(p)) return NULL;
    size_t at = slot_of(p, core, launch), wanted = (p->n + 1) * sizeof *p->items;
    if (p->slots[at]) return &p->items[p->slots[at] - 1];
    if (p->n >= UINT32_MAX - 1 ||
        (wanted > p->big_items.bytes && !dl_big_room(&p->big_items, wanted + 65536)))
        return NULL;
    p->items = p->big_items.data;
    p->items[p->n] = (tt_place){.core = core,
                                .begin = UINT64_MAX,
                                .fw_start = UINT64_MAX,
                                .mover = UINT64_MAX,
                                .start = UINT64_MAX,
                                .launch = launch};
    p->slots[at] = (uint32_t)++p->n;
    return &p->items[p->n - 1];
}

static int in_order(const void *a, const void *b)
{
    const tt_place *x = a, *y = b;
    if (x->core != y->core) return x->core < y->core ? -1 : 1;
    return x->launch < y->launch ? -1 : x->launch > y->launch;
}

void tt_places_sort(tt_places *p)
{
    if (p->n) qsort(p->items, p->n, sizeof *p->items, in_order);
    free(p->slots);
    p->slots = NULL;
    p->n_slots = 0;
}

void tt_places_free(tt_places *p)
{
    dl_big_free(&p->big_items);
    free(p->slots);
    *p = (tt_places){.big_items.folder = p->big_items.folder};
}
