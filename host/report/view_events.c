/* Events as bytes. */
#include "report/view_events.h"

#include <stdlib.h>
#include <string.h>

#include "report/pb.h"

enum { MOST_FORMS = 1 << 20 };

/* Bits below a form's number: what the event has besides. */
enum { HAS_DATA = 1, HAS_META = 2, HAS_COST = 4, HAS_BITS = 3 };

void view_forms_free(view_forms *f)
{
    free(f->items);
    free(f->slots);
    *f = (view_forms){0};
}

static inline bool is_form(const view_form *f, const dl_event *e)
{
    return f->site == e->site && f->timer_id == e->timer_id && f->depth == e->depth && f->kind == e->kind &&
           f->flags == e->flags;
}

static uint32_t slot_of(const view_forms *f, const dl_event *e)
{
    const uint64_t rest = (uint64_t)e->depth << 16 | (uint64_t)e->kind << 8 | e->flags;
    uint32_t at = (uint32_t)dl_hash_u64(((uint64_t)e->site << 32 | e->timer_id) ^ dl_hash_u64(rest));
    while (f->slots[at & (f->n_slots - 1)] && !is_form(&f->items[f->slots[at & (f->n_slots - 1)]], e))
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

uint32_t view_forms_add(view_forms *f, const dl_event *e)
{
    if (f->n == f->cap && !grow(f) && !f->n) return 0;
    const uint32_t expected = f->items[f->last].follows;
    if (expected && is_form(&f->items[expected], e)) return f->last = expected;
    const uint32_t slot = slot_of(f, e);
    uint32_t number = f->slots[slot];
    if (!number) {
        if (f->n == f->cap) return 0;
        number = f->slots[slot] = f->n++;
        f->items[number] = (view_form){e->site, e->timer_id, e->depth, e->kind, e->flags, 0};
    }
    f->items[f->last].follows = number;
    return f->last = number;
}

static inline uint64_t zigzag(uint32_t value, uint32_t before)
{
    const int64_t more = (int64_t)value - before;
    return more < 0 ? (uint64_t)-more * 2 - 1 : (uint64_t)more * 2;
}

static inline uint32_t unzigzag(uint64_t more, uint32_t before)
{
    return more & 1 ? before - (uint32_t)((more + 1) / 2) : before + (uint32_t)(more / 2);
}

uint8_t *view_event_put(uint8_t *to, const dl_event *e, uint32_t form, view_before *before)
{
    const uint32_t has = (e->data ? HAS_DATA : 0) | (e->meta ? HAS_META : 0) | (e->own_cost ? HAS_COST : 0);
    to = pb_varint(to, form << HAS_BITS | has);
    if (!form) {
        to = pb_varint(to, e->site);
        to = pb_varint(to, e->timer_id);
        to = pb_varint(to, e->depth);
        *to++ = e->kind;
        *to++ = e->flags;
    }
    to = pb_varint(to, e->start - before->start);
    to = pb_varint(to, e->end - e->start);
    to = pb_varint(to, zigzag(e->launch, before->launch));
    to = pb_varint(to, zigzag(e->line, before->line));
    if (e->data) to = pb_varint(to, e->data);
    if (e->meta) to = pb_varint(to, e->meta);
    if (e->own_cost) to = pb_varint(to, e->own_cost);
    *before = (view_before){e->start, e->launch, e->line};
    return to;
}

static inline uint64_t get(const uint8_t **from)
{
    const uint8_t *at = *from;
    uint64_t value = *at & 127;
    for (unsigned shift = 7; *at++ & 128; shift += 7)
        value |= (uint64_t)(*at & 127) << shift;
    *from = at;
    return value;
}

const uint8_t *view_event_get(const uint8_t *from, const view_forms *f, view_before *before, dl_event *e)
{
    const uint64_t first = get(&from);
    view_form explicit_form, *form = &explicit_form;
    if (first >> HAS_BITS) {
        form = &f->items[first >> HAS_BITS];
    } else {
        form->site = (uint32_t)get(&from);
        form->timer_id = (uint32_t)get(&from);
        form->depth = (uint16_t)get(&from);
        form->kind = *from++;
        form->flags = *from++;
    }
    const uint64_t start = before->start + get(&from), end = start + get(&from);
    const uint32_t launch = unzigzag(get(&from), before->launch);
    const uint32_t line = unzigzag(get(&from), before->line);
    *before = (view_before){start, launch, line};
    *e = (dl_event){.start = start,
                    .end = end,
                    .data = first & HAS_DATA ? get(&from) : 0,
                    .site = form->site,
                    .launch = launch,
                    .timer_id = form->timer_id,
                    .line = line,
                    .depth = form->depth,
                    .kind = form->kind,
                    .flags = form->flags};
    if (first & HAS_META) e->meta = (uint32_t)get(&from);
    if (first & HAS_COST) e->own_cost = (uint32_t)get(&from);
    return from;
}
