/* Analyzer: runs of one shape. Runs with the same number (dl_run.shape) have the same kinds of marks in the same order of
 * time, so what their marks mean for the analyses is put together once for each class of streams: of several marks for the least
 * of a slot only the first counts, and of those for the last only the last; a start and the end that follows it are one
 * duration. What a single mark means: analyzer_steps.c. */
#include <stdlib.h>
#include <string.h>

#include "decode/analysis/analyzer_internal.h"

/* A step into a slot, or a step of another kind, of one mark. */
typedef struct found {
    step step;
    uint32_t mark, end; /* end: of STEP_PAIR */
} found;

typedef struct finding {
    found *slots, *others;
    uint32_t n_slots, cap_slots, n_others, cap_others;
} finding;

static bool add(found **items, uint32_t *n, uint32_t *cap, const found *what)
{
    if (!dl_analyzer_room(items, cap, *n, sizeof **items)) return false;
    (*items)[(*n)++] = *what;
    return true;
}

static bool add_slot(finding *f, const step *s, uint32_t mark)
{
    const found here = {*s, mark, 0};
    for (uint32_t i = 0; i < f->n_slots; i++) {
        found *there = &f->slots[i];
        if (there->step.what != s->what || there->step.scope != s->scope || there->step.slot != s->slot)
            continue;
        if (s->what == STEP_LAST) there->mark = mark;
        return true;
    }
    return add(&f->slots, &f->n_slots, &f->cap_slots, &here);
}

/* The last step of a job so far; NULL: there is none. */
static found *last_of(const finding *f, uint8_t number)
{
    for (uint32_t i = f->n_others; i-- > 0;)
        if (f->others[i].step.job == number) return &f->others[i];
    return NULL;
}

static bool add_other(finding *f, const step *s, uint32_t mark)
{
    found here = {*s, mark, 0};
    found *before = s->what == STEP_ADJACENT && s->bits == IS_END ? last_of(f, s->job) : NULL;
    if (before && before->step.what == STEP_ADJACENT && before->step.bits == IS_START) {
        before->step.what = STEP_PAIR;
        before->end = mark;
        return true;
    }
    return add(&f->others, &f->n_others, &f->cap_others, &here);
}

/* One block of memory: the made, its slots, its others. */
static shape_steps *make(const finding *f)
{
    const size_t slots = f->n_slots * sizeof(shape_slot), others = f->n_others * sizeof(shape_other);
    shape_steps *made = calloc(1, sizeof *made + slots + others);
    if (!made) return NULL;
    shape_slot *to = (shape_slot *)(void *)(made + 1);
    made->slots = to;
    for (int of = 0; of < SCOPES; of++) {
        const shape_slot *first = to;
        for (uint32_t i = 0; i < f->n_slots; i++) {
            const found *at = &f->slots[i];
            const uint64_t flip = at->step.what == STEP_LAST ? UINT64_MAX : 0;
            if (at->step.scope == of)
                *to++ = (shape_slot){flip, at->mark * (uint32_t)sizeof(dl_mark),
                                     at->step.slot * (uint32_t)sizeof(uint64_t)};
        }
        if (to > first)
            made->scopes[made->n_scopes++] = (shape_scope){(scope)of, (uint32_t)(to - made->slots)};
    }
    shape_other *other = (shape_other *)(void *)to;
    made->others = other;
    made->n_others = f->n_others;
    for (uint32_t i = 0; i < f->n_others; i++)
        other[i] = (shape_other){f->others[i].step, f->others[i].mark, f->others[i].end};
    return made;
}

const shape_steps *dl_analyzer_shape(dl_analyzer *a, uint32_t class, const dl_run *run)
{
    stream_class *c = &a->classes[class];
    if (!dl_analyzer_room(&c->shapes, &c->n_shapes, run->shape, sizeof *c->shapes)) return NULL;
    finding f = {0};
    bool good = true;
    for (uint32_t i = 0; i < run->n_marks && good; i++) {
        uint32_t at = dl_analyzer_steps(a, class, dl_mark_kind(run->marks[i].code));
        good = at != 0;
        for (; good && a->steps[at].what != STEP_END; at++) {
            const step s = a->steps[at];
            good = s.what <= STEP_LAST ? add_slot(&f, &s, i) : add_other(&f, &s, i);
        }
    }
    shape_steps *made = good ? make(&f) : NULL;
    a->classes[class].shapes[run->shape] = made;
    free(f.slots);
    free(f.others);
    return made;
}
