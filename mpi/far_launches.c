/* Far samples of launches: rank 0 says which it shows, as the numbers that parts know them by, and each rank finds the durations that it
 * has of them. What is sent depends on how many launches are shown, not on how many there are. */
#include "far_launches.h"

#include <stdlib.h>

static void lacks_memory(const far_samples *f)
{
    team_die(f->r, "out of memory for the durations of launches");
}

static void wire_wanted(dl_wire *w, dl_far_launch *one, const dl_far_launch *before)
{
    uint64_t launch = one->launch, place = one->place;
    dl_wire_u32(w, &one->part);
    dl_wire_more(w, &launch, before->launch);
    dl_wire_more(w, &place, before->place);
    if (launch >= DL_NONE || place >= DL_NONE) w->bad = true;
    one->launch = (uint32_t)launch;
    one->place = (uint32_t)place;
}

void far_say_launches(dl_wire *w, const dl_far_launch *wanted, size_t n)
{
    const dl_far_launch none = {0};
    uint32_t count = (uint32_t)n;
    dl_wire_u32(w, &count);
    for (uint32_t i = 0; i < count; i++) {
        dl_far_launch one = wanted[i];
        wire_wanted(w, &one, i ? &wanted[i - 1] : &none);
    }
}

/* In the order of their parts, and of their numbers there. */
static int by_launch(const void *pa, const void *pb)
{
    const dl_far_launch *a = pa, *b = pb;
    if (a->part != b->part) return a->part < b->part ? -1 : 1;
    return (a->launch > b->launch) - (a->launch < b->launch);
}

static dl_far_launch *hear_wanted(const far_samples *f, dl_wire *w, size_t *n)
{
    const dl_far_launch none = {0};
    uint32_t count = 0;
    dl_wire_count(w, &count, UINT32_MAX, 3);
    dl_far_launch *wanted = calloc((size_t)count + 1, sizeof *wanted);
    if (!wanted) lacks_memory(f);
    for (uint32_t i = 0; i < count; i++)
        wire_wanted(w, &wanted[i], i ? &wanted[i - 1] : &none);
    if (w->bad) team_die(f->r, "what rank 0 said of launches is damaged");
    if (count) qsort(wanted, count, sizeof *wanted, by_launch);
    *n = count;
    return wanted;
}

/* The first one that does not come before this launch of this part. */
static size_t first_wanted(const dl_far_launch *wanted, size_t n, uint32_t part, int64_t launch)
{
    size_t low = 0, high = n;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        const dl_far_launch *one = &wanted[middle];
        if (one->part < part || (one->part == part && one->launch < launch))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Where a key's samples are that are wanted. */
typedef struct find {
    uint32_t sample, place;
} find;

typedef struct finds {
    find *items;
    size_t n, cap;
} finds;

static void add_find(const far_samples *f, finds *found, uint32_t sample, uint32_t place)
{
    if (found->n == found->cap) {
        const size_t cap = found->cap ? found->cap * 2 : 64;
        find *items = realloc(found->items, cap * sizeof *items);
        if (!items) lacks_memory(f);
        found->items = items;
        found->cap = cap;
    }
    found->items[found->n++] = (find){sample, place};
}

/* Launches of a run go up, or down, evenly. */
static void find_in_run(const far_samples *f, const far_set *set, uint32_t r, const dl_far_launch *wanted,
                        size_t n, finds *found)
{
    const dl_launch_run *run = &set->key->runs[r];
    const int64_t samples = (int64_t)dl_key_run_end(set->key, r) - run->sample, step = (int32_t)run->step,
                  first = (int32_t)run->launch, last = first + (samples - 1) * step;
    const int64_t least = first < last ? first : last, most = first < last ? last : first;
    for (size_t i = first_wanted(wanted, n, set->part, least);
         i < n && wanted[i].part == set->part && wanted[i].launch <= most; i++) {
        const int64_t more = (int64_t)wanted[i].launch - first;
        if (step && more % step) continue;
        for (int64_t s = step ? more / step : 0, end = step ? s + 1 : samples; s < end; s++)
            add_find(f, found, run->sample + (uint32_t)s, wanted[i].place);
    }
}

static int by_sample(const void *pa, const void *pb)
{
    const find *a = pa, *b = pb;
    return (a->sample > b->sample) - (a->sample < b->sample);
}

/* Samples of a key, as bytes: how many, and each with its launch. */
static void tell_set(const far_samples *f, const far_set *set, const dl_far_launch *wanted, size_t n,
                     finds *found, dl_wire *w)
{
    found->n = 0;
    for (uint32_t r = 0; r < set->key->n_runs; r++)
        find_in_run(f, set, r, wanted, n, found);
    if (!found->n) return;
    qsort(found->items, found->n, sizeof *found->items, by_sample);
    uint32_t id = set->id, count = (uint32_t)found->n, at = 0;
    uint64_t cycles = 0, before = 0;
    dl_sample_walk walk;
    dl_wire_u32(w, &id);
    dl_wire_u32(w, &count);
    dl_sample_walk_start(&walk, &set->key->samples);
    for (uint32_t i = 0; i < count; i++) {
        while (at <= found->items[i].sample && dl_sample_walk_next(&walk, &cycles))
            at++;
        dl_wire_u32(w, &found->items[i].place);
        dl_wire_more(w, &cycles, before);
        before = cycles;
    }
}

void far_answer_launches(far_samples *f, dl_wire *w, dl_str *all)
{
    size_t n;
    dl_str mine = {0};
    finds found = {0};
    dl_wire answer = {.out = &mine};
    dl_far_launch *wanted = hear_wanted(f, w, &n);
    for (size_t i = 0; i < f->n_sets; i++)
        tell_set(f, &f->sets[i], wanted, n, &found, &answer);
    if (mine.failed) lacks_memory(f);
    team_collect(f->r, &mine, all);
    dl_str_free(&mine);
    free(found.items);
    free(wanted);
}

devlog_status far_read_samples(const far_samples *f, const dl_str *said, uint32_t end,
                               dl_far_sample **samples, size_t *n_samples, devlog_error *err)
{
    dl_wire w = {.at = (const uint8_t *)said->text, .end = (const uint8_t *)said->text + said->len};
    while (w.at < w.end && !w.bad) {
        uint32_t id = 0, count = 0;
        uint64_t cycles = 0, before = 0;
        dl_wire_below(&w, &id, f->n_keys);
        dl_wire_count(&w, &count, UINT32_MAX, 2);
        dl_far_sample *grown = realloc(*samples, (*n_samples + count + 1) * sizeof *grown);
        if (!grown) return dl_fail(err, DEVLOG_ERR_MEMORY, "out of memory for the durations of launches");
        *samples = grown;
        for (uint32_t i = 0; i < count && !w.bad; i++) {
            uint32_t place = 0;
            dl_wire_below(&w, &place, end);
            dl_wire_more(&w, &cycles, before);
            before = cycles;
            grown[(*n_samples)++] = (dl_far_sample){cycles, id, place};
        }
    }
    return w.bad ? dl_fail(err, DEVLOG_ERR_FORMAT, "what a rank said of launches is damaged") : DEVLOG_OK;
}
