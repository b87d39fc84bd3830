/* Analyzer: runs that wait. What each stamp of a run is for is the same for nearly all runs of a stream (its recipe), so their
 * stamps are collected until there are some tens, and then each slot, each kept mark and each duration is done for all of them in
 * one loop: blocks of launches that follow each other are neighbours, slot by slot. What single marks mean: analyzer_steps.c;
 * which shapes have recipes: analyzer_shapes.c. */
#include <stdlib.h>
#include <string.h>

#include "decode/analysis/analyzer_internal.h"

enum { FEW = 8, MANY = 32 }; /* runs that wait at most: on a stream with few, and on others */

/* ---- Slots ----------------------------------------------------------------------------------------------- */

typedef void lower_by(uint64_t *slots, const uint64_t *stamps, uint32_t n, uint64_t flip);

static void lower(uint64_t *slots, const uint64_t *stamps, uint32_t n, uint64_t flip)
{
    for (uint32_t i = 0; i < n; i++) {
        const uint64_t value = (stamps[i] ^ flip) + flip;
        if (value < slots[i]) slots[i] = value;
    }
}

#if defined(__x86_64__)

#include <immintrin.h>

/* Four at a time. */
__attribute__((target("avx2"))) static void lower_avx2(uint64_t *slots, const uint64_t *stamps, uint32_t n,
                                                       uint64_t flip)
{
    const __m256i flips = _mm256_set1_epi64x((long long)flip), top = _mm256_set1_epi64x(INT64_MIN);
    uint32_t i = 0;
    for (; i + 4 <= n; i += 4) {
        __m256i *at = (__m256i *)(void *)(slots + i);
        const __m256i stamp = _mm256_loadu_si256((const __m256i *)(const void *)(stamps + i));
        const __m256i value = _mm256_add_epi64(_mm256_xor_si256(stamp, flips), flips);
        const __m256i known = _mm256_loadu_si256(at);
        const __m256i less = _mm256_cmpgt_epi64(_mm256_xor_si256(known, top), _mm256_xor_si256(value, top));
        _mm256_storeu_si256(at, _mm256_blendv_epi8(known, value, less));
    }
    lower(slots + i, stamps + i, n - i, flip);
}

static lower_by *best_lower(void)
{
    return __builtin_cpu_supports("avx2") ? lower_avx2 : lower;
}

#else

static lower_by *best_lower(void)
{
    return lower;
}

#endif

/* Runs behind each other whose blocks are, too, within a tile. */
typedef struct piece {
    uint32_t number, run, n; /* number: of the first block */
} piece;

/* How many launches from the first on follow each other. */
static uint32_t in_a_row(const uint32_t *launches, uint32_t n)
{
    uint32_t i = 1;
    while (i < n && launches[i] == launches[0] + i)
        i++;
    return i;
}

/* Those of n runs that are of a launch; `leaf` and `hint` are of cells. Returns how many; DL_NONE: out of memory. */
static uint32_t find_pieces(dl_analyzer *a, scope of, const waiting *w, uint32_t n, uint32_t leaf,
                            uint32_t *hint, piece *pieces)
{
    const uint32_t *launches = w->launches;
    uint32_t n_pieces = 0;
    for (uint32_t i = 0; i < n;) {
        uint32_t number = launches[i], left = 1;
        if (number == DL_NONE) {
            i++;
            continue;
        }
        if (of == SCOPE_LAUNCH)
            left = in_a_row(launches + i, n - i);
        else
            left = dl_analyzer_cells_of(&a->cells[of == SCOPE_LAUNCH_STREAM ? LEAF_STREAM : LEAF_CORE],
                                        launches + i, n - i, leaf, hint, &number);
        if (!left || !dl_analyzer_block(a, of, number + left - 1)) return DL_NONE;
        for (uint32_t here; left; left -= here, number += here, i += here) {
            here = TILE - number % TILE;
            if (here > left) here = left;
            pieces[n_pieces++] = (piece){number, i, here};
        }
    }
    return n_pieces;
}

/* Of a scope that is of no launch: one block for all. */
static bool lower_one(dl_analyzer *a, scope of, uint32_t number, const waiting *w, uint32_t n,
                      const recipe_slot *s, const recipe_slot *end)
{
    uint64_t *block = dl_analyzer_block(a, of, number);
    for (; block && s < end; s++) {
        const uint64_t *stamps = w->stamps + (size_t)s->stamp * w->cap;
        uint64_t least = block[s->slot];
        for (uint32_t i = 0; i < n; i++) {
            const uint64_t value = (stamps[i] ^ s->flip) + s->flip;
            if (value < least) least = value;
        }
        block[s->slot] = least;
    }
    return block != NULL;
}

static bool lower_slots(dl_analyzer *a, uint32_t stream, const waiting *w, uint32_t n)
{
    const recipe *r = w->of;
    const recipe_slot *const slots = recipe_slots(r);
    stream_info *info = &a->streams[stream];
    lower_by *const lower_here = best_lower();
    for (uint32_t k = 0; k < r->n_scopes; k++) {
        const scope of = (scope)r->scopes[k];
        const recipe_slot *s = slots + (k ? r->ends[k - 1] : 0), *const end = slots + r->ends[k];
        const uint32_t leaf = of == SCOPE_STREAM || of == SCOPE_LAUNCH_STREAM ? stream
                              : of == SCOPE_CHIP                              ? info->chip
                                                                              : info->core;
        if (of <= SCOPE_CHIP) {
            if (!lower_one(a, of, leaf, w, n, s, end)) return false;
            continue;
        }
        piece pieces[MANY];
        uint32_t *hint = &info->cell[of == SCOPE_LAUNCH_STREAM ? LEAF_STREAM : LEAF_CORE];
        const uint32_t n_pieces = find_pieces(a, of, w, n, leaf, hint, pieces);
        if (n_pieces == DL_NONE) return false;
        for (const piece *p = pieces; p < pieces + n_pieces; p++) {
            uint64_t *block = block_at(&a->blocks[of], p->number);
            for (const recipe_slot *at = s; at < end; at++)
                lower_here(block + at->slot, w->stamps + (size_t)at->stamp * w->cap + p->run, p->n, at->flip);
        }
    }
    return true;
}

/* ---- Kept marks and durations ---------------------------------------------------------------------------- */

/* Marks behind those that are kept: their stamps, shifted by two, with their bits. */
static bool keep_moments(kept *k, const uint64_t *moments, size_t n)
{
    dl_samples *steps = &k->steps;
    uint64_t before = k->last << 2;
    for (size_t i = 0; i < n;) {
        if (steps->at == steps->limit && !dl_samples_grow(steps)) return false;
        const size_t room = (size_t)(steps->limit - steps->at), end = n - i < room ? n : i + room;
        uint32_t *at = steps->at;
        uint64_t more = 0;
        for (; i < end && (more = moments[i] - before) < DL_WIDE; i++) {
            *at++ = (uint32_t)more;
            before = moments[i] & ~UINT64_C(3);
        }
        steps->at = at;
        if (i == end) continue;
        before = moments[i++] & ~UINT64_C(3);
        if (!dl_samples_add_wide(steps, more)) return false;
    }
    return true;
}

/* Those of one job, n of each run. */
static bool keep_marks(job *j, uint32_t stream, const waiting *w, uint32_t runs, const recipe_keep *keeps,
                       uint32_t n)
{
    uint64_t moments[MANY * RECIPE_STAMPS];
    kept *k = dl_analyzer_kept(j, stream);
    const uint64_t *stamps = NULL;
    if (!k) return false;
    for (uint32_t e = 0; e < n; e++) {
        stamps = w->stamps + (size_t)keeps[e].stamp * w->cap;
        for (uint32_t i = 0; i < runs; i++)
            moments[i * n + e] = stamps[i] << 2 | keeps[e].bits;
    }
    if (!keep_moments(k, moments, (size_t)runs * n)) return false;
    k->last = stamps[runs - 1];
    return true;
}

/* A start and its end in each run: nothing is open behind them. */
static bool take_pairs(dl_analyzer *a, job *j, uint32_t stream, const waiting *w, uint32_t runs,
                       const recipe_pair *pair)
{
    const stream_info *s = &a->streams[stream];
    const uint32_t leaf = j->leaf == LEAF_STREAM ? stream : j->leaf == LEAF_CORE ? s->core : s->chip;
    const uint64_t *starts = w->stamps + (size_t)pair->start * w->cap,
                   *ends = w->stamps + (size_t)pair->end * w->cap;
    uint64_t *block = dl_analyzer_block(a, SCOPE_STREAM, stream);
    account *of = block ? dl_analyzer_account(j, leaf) : NULL;
    if (!of) return false;
    block[j->first * TILE] = NO_STAMP;
    if (block[j->last * TILE] == NO_STAMP) block[j->last * TILE] = EDGE_START;
    for (uint32_t i = 0; i < runs; i++) {
        const uint64_t duration = ends[i] - starts[i];
        if (starts[i] < of->first_start) {
            of->first_start = starts[i];
            of->first = duration;
        }
        if (!dl_samples_add(&of->samples, duration)) return false;
    }
    return true;
}

/* ---- Waiting --------------------------------------------------------------------------------------------- */

bool dl_analyzer_settle(dl_analyzer *a, uint32_t stream)
{
    waiting *w = &a->streams[stream].waiting;
    const recipe *r = w->of;
    const uint32_t n = w->n;
    w->n = 0;
    if (!n) return true;
    uint64_t *first = &a->t0[a->streams[stream].chip];
    for (uint32_t i = 0; i < n; i++)
        if (w->stamps[i] < *first) *first = w->stamps[i];
    bool good = lower_slots(a, stream, w, n);
    const recipe_keep *keep = recipe_keeps(r), *const keeps_end = keep + r->n_keeps;
    while (good && keep < keeps_end) {
        const recipe_keep *next = keep;
        while (next < keeps_end && next->job == keep->job)
            next++;
        good = keep_marks(&a->jobs[keep->job], stream, w, n, keep, (uint32_t)(next - keep));
        keep = next;
    }
    const recipe_pair *pair = recipe_pairs(r);
    for (uint32_t i = 0; good && i < r->n_pairs; i++)
        good = take_pairs(a, &a->jobs[pair[i].job], stream, w, n, &pair[i]);
    /* Blocks may be elsewhere now. */
    memset(a->here, 0, sizeof a->here);
    a->stream = a->launch = a->core = a->chip = DL_NONE;
    return good;
}

bool dl_analyzer_settle_all(dl_analyzer *a)
{
    for (uint32_t i = 0; i < a->n_streams; i++)
        if (a->streams[i].waiting.n && !dl_analyzer_settle(a, i)) return false;
    return true;
}

/* Makes the recipe the one of which runs wait; there are none. */
static bool begin(waiting *w, const recipe *r)
{
    const uint32_t cap = w->cap ? MANY : FEW,
                   n_stamps = r->n_stamps > w->n_stamps ? r->n_stamps : w->n_stamps;
    w->of = r;
    if (w->cap == MANY && n_stamps == w->n_stamps) return true;
    free(w->stamps);
    w->stamps = malloc(cap * (n_stamps * sizeof *w->stamps + sizeof *w->launches));
    if (!w->stamps) {
        w->cap = 0;
        return false;
    }
    w->launches = (uint32_t *)(void *)(w->stamps + (size_t)n_stamps * cap);
    w->cap = cap;
    w->n_stamps = n_stamps;
    return true;
}

bool dl_analyzer_wait(dl_analyzer *a, const shape_steps *of_shape, const dl_run *run)
{
    waiting *w = &a->streams[run->stream].waiting;
    const recipe *r = of_shape->recipe;
    if (w->n && (w->of != r || w->n == w->cap) && !dl_analyzer_settle(a, run->stream)) return false;
    if (!w->n && !begin(w, r)) return false;
    w->shape = run->shape;
    w->marks = of_shape->marks;
    dl_analyzer_put(w, run);
    return true;
}
