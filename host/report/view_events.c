/* Events as bytes: their forms. */
#include "report/view_events.h"

#include <stdlib.h>

enum { MOST_FORMS = 1 << 20 };

void view_forms_free(view_forms *f)
{
    free(f->items);
    free(f->slots);
    *f = (view_forms){0};
}

static uint32_t slot_of(const view_forms *f, const dl_event *e)
{
    const uint64_t rest = (uint64_t)e->depth << 16 | (uint64_t)e->kind << 8 | e->flags;
    uint32_t at = (uint32_t)dl_hash_u64(((uint64_t)e->site << 32 | e->timer_id) ^ dl_hash_u64(rest));
    while (f->slots[at & (f->n_slots - 1)] && !view_is_form(&f->items[f->slots[at & (f->n_slots - 1)]], e))
        at++;
    return at & (f->n_slots - 1);
}

static bool grow(view_forms *f)
{
    const uint32_t cap = f->cap ? f->cap * 2 : 64;
    view_form *items = cap <= MOST_FORMS ? realloc(f->items, cap * sizeof *items) : NULL;
    if (!items) return false;
    f->items = items;
    uint32_t *slots = calloc(cap * 2, sizeof *slots);
    if (!slots) return false;
    if (!f->n) f->items[f->n++] = (view_form){0};
    free(f->slots);
    f->slots = slots;
    f->n_slots = cap * 2;
    f->cap = cap;
    for (uint32_t i = 1; i < f->n; i++) {
        const view_form *form = &f->items[i];
        const dl_event e = {.site = form->site,
                            .timer_id = form->timer_id,
                            .depth = form->depth,
                            .kind = form->kind,
                            .flags = form->flags};
        f->slots[slot_of(f, &e)] = i;
    }
    return true;
}

uint32_t view_forms_find(view_forms *f, const dl_event *e, uint32_t before)
{
    if (f->n == f->cap && !grow(f) && !f->n) return 0;
    const uint32_t slot = slot_of(f, e);
    uint32_t number = f->slots[slot];
    if (!number) {
        if (f->n == f->cap) return 0;
        number = f->slots[slot] = f->n++;
        f->items[number] = (view_form){e->site, e->timer_id, e->depth, e->kind, e->flags, 0};
    }
    f->items[before].follows = number;
    return number;
}
