/* Analyzer: runs of one shape. Runs with the same number (dl_run.shape) have the same kinds of marks in the same order of
 * time, so what their marks mean for the analyses is put together once for each class of streams: of several marks for the least
 * of a slot only the first counts, and of those for the last only the last; a start and the end that follows it are one
 * duration. What a single mark means: analyzer_steps.c. */
#include <stddef.h>
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

/* ---- Recipes --------------------------------------------------------------------------------------------- */

/* Which marks have stamps in a recipe. */
typedef struct stamped {
    uint32_t marks[RECIPE_STAMPS], n;
} stamped;

/* The place of a mark among them; RECIPE_STAMPS: there are too many. */
static uint32_t stamp_of(stamped *s, uint32_t mark)
{
    for (uint32_t i = 0; i < s->n; i++)
        if (s->marks[i] == mark) return i;
    if (s->n == RECIPE_STAMPS) return RECIPE_STAMPS;
    s->marks[s->n] = mark;
    return s->n++;
}

/* The recipe of the class that is like this one, which it becomes if there is none. */
static const recipe *share(stream_class *c, recipe *made)
{
    for (recipe *r = c->recipes; r; r = r->next)
        if (r->size == made->size && memcmp(&r->size, &made->size, made->size) == 0) {
            free(made);
            return r;
        }
    made->next = c->recipes;
    return c->recipes = made;
}

/* NULL: some steps are such that each mark is for itself, or there are too many stamps, or no memory. */
static const recipe *recipe_of(stream_class *c, const finding *f, stamped *s)
{
    uint32_t n_keeps = 0;
    for (uint32_t i = 0; i < f->n_others; i++) {
        if (f->others[i].step.what != STEP_KEEP && f->others[i].step.what != STEP_PAIR) return NULL;
        n_keeps += f->others[i].step.what == STEP_KEEP;
    }
    const uint32_t n_pairs = f->n_others - n_keeps;
    const size_t size =
        f->n_slots * sizeof(recipe_slot) + n_keeps * sizeof(recipe_keep) + n_pairs * sizeof(recipe_pair);
    recipe *made = calloc(1, sizeof *made + size);
    if (!made) return NULL;
    recipe_slot *slot = (recipe_slot *)(void *)(made + 1);
    recipe_keep *keep = (recipe_keep *)(void *)(slot + f->n_slots);
    recipe_pair *pair = (recipe_pair *)(void *)(keep + n_keeps);
    bool fits = stamp_of(s, 0) == 0;
    for (uint32_t of = 0, n = 0; of < SCOPES; of++) {
        const uint32_t before = n;
        for (uint32_t i = 0; i < f->n_slots; i++) {
            const found *at = &f->slots[i];
            if (at->step.scope != of) continue;
            slot[n] = (recipe_slot){at->step.what == STEP_LAST ? UINT64_MAX : 0, stamp_of(s, at->mark),
                                    at->step.slot * (uint32_t)TILE};
            fits &= slot[n++].stamp < RECIPE_STAMPS;
        }
        if (n == before) continue;
        made->scopes[made->n_scopes] = of;
        made->ends[made->n_scopes++] = n;
    }
    for (uint32_t number = 0; number < DL_MAX_ANALYSES; number++)
        for (uint32_t i = 0; i < f->n_others; i++) {
            const found *at = &f->others[i];
            if (at->step.job != number) continue;
            const uint32_t start = stamp_of(s, at->mark);
            const uint32_t end = at->step.what == STEP_PAIR ? stamp_of(s, at->end) : start;
            fits &= start < RECIPE_STAMPS && end < RECIPE_STAMPS;
            if (at->step.what == STEP_PAIR)
                *pair++ = (recipe_pair){number, start, end};
            else
                *keep++ = (recipe_keep){number, start, at->step.bits};
        }
    made->size = sizeof *made - offsetof(recipe, size) + size;
    while (s->n % 4)
        s->marks[s->n++] = 0;
    made->n_stamps = s->n;
    made->n_keeps = n_keeps;
    made->n_pairs = n_pairs;
    if (fits) return share(c, made);
    free(made);
    return NULL;
}

void dl_analyzer_shapes_free(stream_class *c)
{
    for (uint32_t k = 0; k < c->n_shapes; k++)
        free(c->shapes[k]);
    free(c->shapes);
    for (recipe *r = c->recipes, *next; r; r = next) {
        next = r->next;
        free(r);
    }
}

/* ---- Shapes ---------------------------------------------------------------------------------------------- */

/* One block of memory: the made, its slots, its others, its marks. */
static shape_steps *make(stream_class *c, const finding *f)
{
    const size_t slots = f->n_slots * sizeof(shape_slot), others = f->n_others * sizeof(shape_other);
    stamped stamps = {.n = 0};
    const recipe *r = recipe_of(c, f, &stamps);
    shape_steps *made = calloc(1, sizeof *made + slots + others + stamps.n * sizeof *made->marks);
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
                                     at->step.slot * (uint32_t)(TILE * sizeof(uint64_t))};
        }
        if (to > first)
            made->scopes[made->n_scopes++] = (shape_scope){(scope)of, (uint32_t)(to - made->slots)};
    }
    shape_other *other = (shape_other *)(void *)to;
    made->others = other;
    made->n_others = f->n_others;
    for (uint32_t i = 0; i < f->n_others; i++)
        other[i] = (shape_other){f->others[i].step, f->others[i].mark, f->others[i].end};
    uint32_t *mark = (uint32_t *)(void *)(other + f->n_others);
    made->recipe = r;
    made->marks = mark;
    for (uint32_t i = 0; i < stamps.n; i++)
        mark[i] = stamps.marks[i] * (uint32_t)sizeof(dl_mark);
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
    shape_steps *made = good ? make(&a->classes[class], &f) : NULL;
    a->classes[class].shapes[run->shape] = made;
    free(f.slots);
    free(f.others);
    return made;
}
