/* Cores in launches. */
#include "tt_metal/places.h"

#include <stdlib.h>
#include <string.h>

#include "base/intern.h"

#define COMPLETE UINT32_MAX /* of tt_open.first */

/* ---- Places by core and launch --- */

static size_t home_of(const tt_places *p, uint64_t core, uint32_t launch)
{
    return (size_t)dl_hash_u64(core ^ dl_hash_u64(launch)) & (p->n_slots - 1);
}

static size_t slot_of(const tt_places *p, uint64_t core, uint32_t launch)
{
    size_t at = home_of(p, core, launch);
    for (; p->slots[at]; at = (at + 1) & (p->n_slots - 1)) {
        const tt_place *x = &p->items[p->slots[at] - 1];
        if (x->core == core && x->launch == launch) break;
    }
    return at;
}

static bool grow_slots(tt_places *p)
{
    size_t n = p->n_slots ? p->n_slots * 2 : 4096;
    uint32_t *slots = calloc(n, sizeof *slots);
    if (!slots) return false;
    free(p->slots);
    p->slots = slots;
    p->n_slots = n;
    for (size_t i = 0; i < p->n; i++)
        if (p->items[i].launch != UINT32_MAX)
            slots[slot_of(p, p->items[i].core, p->items[i].launch)] = (uint32_t)i + 1;
    return true;
}

/* What stands behind an empty slot, and would be looked for before it, moves into it. */
static void empty_slot(tt_places *p, size_t at)
{
    const size_t mask = p->n_slots - 1;
    for (size_t k = (at + 1) & mask; p->slots[k]; k = (k + 1) & mask) {
        const tt_place *x = &p->items[p->slots[k] - 1];
        if (((k - home_of(p, x->core, x->launch)) & mask) < ((k - at) & mask)) continue;
        p->slots[at] = p->slots[k];
        at = k;
    }
    p->slots[at] = 0;
}

/* Room for one more: its number + 1, or 0. */
static uint32_t new_place(tt_places *p)
{
    const uint32_t again = p->free;
    if (again) {
        p->free = p->items[again - 1].next;
        return again;
    }
    const size_t wanted = (p->n + 1) * sizeof *p->items;
    if (p->n >= UINT32_MAX - 1) return 0;
    if (wanted > p->big_items.bytes && !dl_big_room(&p->big_items, wanted + 65536)) return 0;
    p->items = p->big_items.data;
    return (uint32_t)++p->n;
}

static void free_place(tt_places *p, uint32_t number)
{
    tt_place *x = &p->items[number - 1];
    empty_slot(p, slot_of(p, x->core, x->launch));
    x->launch = UINT32_MAX;
    x->next = p->free;
    p->free = number;
    p->n_open--;
}

/* ---- Launches that are open --- */

static void unlink_launch(tt_places *p, uint32_t launch)
{
    const tt_open *o = &p->launches[launch];
    *(o->older ? &p->launches[o->older - 1].newer : &p->oldest) = o->newer;
    *(o->newer ? &p->launches[o->newer - 1].older : &p->newest) = o->older;
}

/* Is the newest from now on. False: no memory. */
static bool touch(tt_places *p, uint32_t launch)
{
    if (launch >= p->n_launches) {
        const size_t n = launch < 512 ? 1024 : (size_t)launch * 2;
        tt_open *grown = realloc(p->launches, n * sizeof *grown);
        if (!grown) return false;
        memset(grown + p->n_launches, 0, (n - p->n_launches) * sizeof *grown);
        p->launches = grown;
        p->n_launches = n;
    }
    if (p->newest == launch + 1) return true;
    if (p->launches[launch].first) unlink_launch(p, launch);
    p->launches[launch].older = p->newest;
    p->launches[launch].newer = 0;
    *(p->newest ? &p->launches[p->newest - 1].newer : &p->oldest) = launch + 1;
    p->newest = launch + 1;
    return true;
}

static int by_core(const void *a, const void *b, void *items)
{
    const tt_place *of = items, *x = &of[*(const uint32_t *)a - 1], *y = &of[*(const uint32_t *)b - 1];
    if (x->core != y->core) return x->core < y->core ? -1 : 1;
    return x->launch < y->launch ? -1 : x->launch > y->launch;
}

static bool hand_on(tt_places *p, uint32_t *numbers, size_t n)
{
    bool ok = true;
    if (n) qsort_r(numbers, n, sizeof *numbers, by_core, p->items);
    for (size_t i = 0; i < n && ok; i++)
        ok = p->take(p->ctx, &p->items[numbers[i] - 1]);
    return ok;
}

static bool complete(tt_places *p, uint32_t launch)
{
    tt_open *o = &p->launches[launch];
    size_t n = 0;
    for (uint32_t at = o->first; at; at = p->items[at - 1].next)
        n++;
    uint32_t *numbers = malloc((n + 1) * sizeof *numbers);
    if (!numbers) return false;
    n = 0;
    for (uint32_t at = o->first; at; at = p->items[at - 1].next)
        numbers[n++] = at;
    unlink_launch(p, launch);
    o->first = COMPLETE;
    const bool ok = hand_on(p, numbers, n);
    for (size_t i = 0; i < n; i++)
        free_place(p, numbers[i]);
    free(numbers);
    return ok;
}

tt_place *tt_places_at(tt_places *p, uint64_t core, uint32_t launch)
{
    if (p->most) {
        if (launch < p->n_launches && p->launches[launch].first == COMPLETE) {
            p->late = true;
            return NULL;
        }
        if (!touch(p, launch)) return NULL;
    }
    if (p->n_open * 2 >= p->n_slots && !grow_slots(p)) return NULL;
    const size_t at = slot_of(p, core, launch);
    if (p->slots[at]) return &p->items[p->slots[at] - 1];
    if (p->most && p->n_open >= p->most && p->oldest != p->newest) {
        /* Some more, so that this is seldom. */
        while (p->n_open > p->most - p->most / 8 && p->oldest != p->newest)
            if (!complete(p, p->oldest - 1)) return NULL;
    }
    const uint32_t number = new_place(p);
    if (!number) return NULL;
    tt_place *x = &p->items[number - 1];
    *x = (tt_place){.core = core,
                    .begin = UINT64_MAX,
                    .fw_start = UINT64_MAX,
                    .mover = UINT64_MAX,
                    .start = UINT64_MAX,
                    .launch = launch};
    if (p->most) {
        x->next = p->launches[launch].first;
        p->launches[launch].first = number;
    }
    p->slots[slot_of(p, core, launch)] = number;
    p->n_open++;
    return x;
}

bool tt_places_end(tt_places *p)
{
    uint32_t *numbers = malloc((p->n_open + 1) * sizeof *numbers);
    size_t n = 0;
    if (!numbers) return false;
    free(p->slots); /* not wanted any more */
    p->slots = NULL;
    p->n_slots = 0;
    for (size_t i = 0; i < p->n; i++)
        if (p->items[i].launch != UINT32_MAX) numbers[n++] = (uint32_t)i + 1;
    const bool ok = hand_on(p, numbers, n);
    free(numbers);
    return ok;
}

void tt_places_free(tt_places *p)
{
    const tt_places set = {
        .big_items.folder = p->big_items.folder, .most = p->most, .take = p->take, .ctx = p->ctx};
    dl_big_free(&p->big_items);
    free(p->slots);
    free(p->launches);
    *p = set;
}
