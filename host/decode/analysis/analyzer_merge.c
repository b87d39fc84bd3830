/* Analyzer: from one mark to the next of several RISCs (PLAN_MERGED). Marks that have been kept, stream by stream, are put together
 * when all have come, and the durations between them counted. */
#include <stdlib.h>
#include <string.h>

#include "decode/analysis/analyzer_internal.h"

enum { FEW_PARTS = 16 }; /* parts that are in order, of which not all are put in order together */

/* A kept mark in one number: its stamp, shifted by two, and its bits. In order of time, and of the marks of one
 * stamp starts first; otherwise as they were kept, for merging keeps the order of what is alike. */
static uint64_t rank_of(uint64_t moment)
{
    return moment >> 1; /* IS_START alone is less than what has IS_END */
}

typedef struct moments {
    uint64_t *items, *other; /* other: as many, for merging */
    size_t n, cap;
    size_t *ends; /* of the parts that are sorted, as those of a stream mostly are */
    size_t n_ends, cap_ends;
} moments;

static bool moments_room(moments *m, size_t n)
{
    if (n <= m->cap) return true;
    size_t cap = m->cap ? m->cap : 1024;
    while (cap < n)
        cap *= 2;
    uint64_t *items = realloc(m->items, cap * sizeof *items);
    if (items) m->items = items;
    uint64_t *other = items ? realloc(m->other, cap * sizeof *other) : NULL;
    if (!other) return false;
    m->other = other;
    m->cap = cap;
    return true;
}

static bool end_part(moments *m)
{
    if (m->n == (m->n_ends ? m->ends[m->n_ends - 1] : 0)) return true; /* of nothing */
    if (m->n_ends == m->cap_ends) {
        size_t cap = m->cap_ends ? m->cap_ends * 2 : 64;
        size_t *ends = realloc(m->ends, cap * sizeof *ends);
        if (!ends) return false;
        m->ends = ends;
        m->cap_ends = cap;
    }
    m->ends[m->n_ends++] = m->n;
    return true;
}

/* Those of one stream, behind what is there, starts and ends apart if the lists are; false when out of memory. A step is what time
 * has passed, shifted by two, with the bits of its mark: if it is not wide, time does not go back. */
static bool add_moments(const kept *k, moments *starts, moments *ends)
{
    dl_sample_walk w;
    const size_t n = dl_samples_count(&k->steps);
    uint64_t value, time = 0, before = 0; /* time: shifted by two */
    if (!moments_room(starts, starts->n + n) || !moments_room(ends, ends->n + n)) return false;
    dl_sample_walk_start(&w, &k->steps);
    while (dl_sample_walk_on(&w)) {
        const uint32_t *at = w.at;
        if (starts !=
            ends) { /* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): moments_room has made room */
            uint64_t *start = starts->items + starts->n, *end = ends->items + ends->n;
            for (; at < w.end && *at - 4 < DL_WIDE - 4; at++) { /* time has passed */
                before = time + *at;
                time = before & ~UINT64_C(3);
                if (*at & IS_START)
                    *start++ = before;
                else
                    *end++ = before;
            }
            starts->n = (size_t)(start - starts->items);
            ends->n = (size_t)(end - ends->items);
        }
        w.at = at;
        if (at == w.end) continue;
        dl_sample_walk_next(&w, &value);
        const uint64_t moment = time + value;
        if (rank_of(moment) < rank_of(before) && !(end_part(starts) && end_part(ends))) return false;
        moments *to = moment & IS_START ? starts : ends;
        /* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): moments_room has made room */
        to->items[to->n++] = before = moment;
        time = before & ~UINT64_C(3);
    }
    return end_part(starts) && end_part(ends);
}

static uint64_t *merge(uint64_t *to, const uint64_t *a, const uint64_t *a_end, const uint64_t *b,
                       const uint64_t *b_end)
{
    while (a < a_end && b < b_end) {
        uint64_t x = *a, y = *b;
        bool second = rank_of(y) < rank_of(x);
        *to++ = second ? y : x;
        b += second;
        a += !second;
    }
    memcpy(to, a, (size_t)(a_end - a) * sizeof *to);
    to += a_end - a;
    memcpy(to, b, (size_t)(b_end - b) * sizeof *to);
    return to + (b_end - b);
}

/* Parts are merged two by two until there is one. */
static void sort_moments(moments *m)
{
    while (m->n_ends > 1) {
        uint64_t *to = m->other;
        size_t from = 0, n = 0;
        for (size_t i = 0; i < m->n_ends; i += 2) {
            size_t middle = m->ends[i], end = i + 1 < m->n_ends ? m->ends[i + 1] : middle;
            to = merge(to, m->items + from, m->items + middle, m->items + middle, m->items + end);
            m->ends[n++] = from = end;
        }
        m->n_ends = n;
        uint64_t *merged = m->other;
        m->other = m->items;
        m->items = merged;
    }
}

/* What is in one list, as some may be both, and in order. */
static bool count_moments(dl_analyzer *a, job *j, uint32_t leaf, const moments *m)
{
    uint64_t start = NO_STAMP;
    for (size_t i = 0; i < m->n; i++) {
        uint64_t time = m->items[i] >> 2;
        if (start != NO_STAMP && (m->items[i] & IS_END)) {
            if (!dl_analyzer_count(j, leaf, start, time - start)) return false;
            start = NO_STAMP;
        } else if (m->items[i] & IS_START) {
            start = time;
        }
    }
    return start == NO_STAMP || dl_analyzer_is_gap(j) ||
           dl_analyzer_incomplete(j, dl_analyzer_chip_of(a, j, leaf));
}

typedef struct part {
    const uint64_t *at, *end;
} part;

/* The parts of a list, of which there are no more than FEW_PARTS then. */
static size_t few_parts(moments *m, part *parts)
{
    if (m->n_ends > FEW_PARTS) sort_moments(m);
    for (size_t i = 0; i < m->n_ends; i++)
        parts[i] = (part){m->items + (i ? m->ends[i - 1] : 0), m->items + m->ends[i]};
    return m->n_ends;
}

/* For each end the last start before it, if that is behind the end before it. */
static bool count_ends(dl_analyzer *a, job *j, uint32_t leaf, moments *starts, moments *ends)
{
    part of_starts[FEW_PARTS], of_ends[FEW_PARTS];
    const part *const starts_end = of_starts + few_parts(starts, of_starts);
    const part *const ends_end = of_ends + few_parts(ends, of_ends);
    for (;;) {
        part *next = NULL;
        uint64_t until = UINT64_MAX, last = 0;
        for (part *p = of_ends; p < ends_end; p++)
            if (p->at < p->end && rank_of(*p->at) < until) {
                next = p;
                until = rank_of(*p->at);
            }
        if (!next) break;
        for (part *p = of_starts; p < starts_end; p++) {
            const uint64_t *at = p->at, *const end = p->end;
            if (at == end || *at >= until << 1) continue; /* by their ranks, shifted back */
            do
                at++;
            while (at < end && *at < until << 1);
            if (at[-1] > last) last = at[-1];
            p->at = at;
        }
        const uint64_t start = last >> 2, time = *next->at++ >> 2;
        if (last && !dl_analyzer_count(j, leaf, start, time - start)) return false;
    }
    bool open = false;
    for (const part *p = of_starts; p < starts_end; p++)
        open |= p->at < p->end;
    return !open || dl_analyzer_is_gap(j) || dl_analyzer_incomplete(j, dl_analyzer_chip_of(a, j, leaf));
}

static void moments_free(moments *m)
{
    free(m->items);
    free(m->other);
    free(m->ends);
}

typedef struct home {
    uint32_t leaf, stream;
} home;

static int by_leaf(const void *pa, const void *pb)
{
    const home *a = pa, *b = pb;
    if (a->leaf != b->leaf) return a->leaf < b->leaf ? -1 : 1;
    return a->stream < b->stream ? -1 : a->stream > b->stream;
}

bool dl_analyzer_merge(dl_analyzer *a, job *j)
{
    const bool apart = !(j->analysis->start.types & j->analysis->end.types); /* no mark is both */
    moments starts = {0}, ends = {0};
    size_t n_homes = 0;
    home *homes = malloc((j->n_kept + 1) * sizeof *homes);
    bool good = homes != NULL;
    for (uint32_t i = 0; good && i < j->n_kept; i++)
        if (j->kept[i])
            homes[n_homes++] = (home){j->leaf == LEAF_CORE ? a->streams[i].core : a->streams[i].chip, i};
    if (good && n_homes) qsort(homes, n_homes, sizeof *homes, by_leaf);
    for (size_t from = 0, to; good && from < n_homes; from = to) {
        starts.n = starts.n_ends = ends.n = ends.n_ends = 0;
        for (to = from; good && to < n_homes && homes[to].leaf == homes[from].leaf; to++) {
            kept *k = j->kept[homes[to].stream];
            good = add_moments(k, &starts, apart ? &ends : &starts);
            dl_samples_free(&k->steps);
        }
        if (!good) break;
        if (!apart) sort_moments(&starts);
        good = apart ? count_ends(a, j, homes[from].leaf, &starts, &ends)
                     : count_moments(a, j, homes[from].leaf, &starts);
    }
    free(homes);
    moments_free(&starts);
    moments_free(&ends);
    return good;
}
