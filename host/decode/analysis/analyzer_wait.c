/* Analyzer: runs that wait. What each stamp of a run is for is the same for nearly all runs of a stream (its recipe), so their
 * stamps are collected until there are some tens, and then each slot, each kept mark and each duration is done for all of them in
 * one loop: blocks of launches that follow each other are neighbours, slot by slot. What single marks mean: analyzer_steps.c;
 * which shapes have recipes: analyzer_shapes.c. */
#include <stdlib.h>
#include <string.h>

#include "decode/analysis/analyzer_internal.h"

enum { FEW = 8, MANY = 32 }; /* runs that wait at most: on a stream with few, and on others */

/* ---- Slots ----------------------------------------------------------------------------------------------- */

/* Ways to do the same: with AVX2, four at a time, or one by one. */
typedef struct ways {
    /* Lowers each slot to its stamp, if that is less. */
    void (*lower)(uint64_t *slots, const uint64_t *stamps, uint32_t n, uint64_t flip);
    /* The least of the stamps and `least`. */
    uint64_t (*least)(uint64_t least, const uint64_t *stamps, uint32_t n, uint64_t flip);
    /* What each stamp is more than the one before it, from `last` on, shifted by two, with bits; of one column, or of two in
     * turn. False, and nothing is true, where that is much. */
    bool (*steps)(uint32_t *to, uint64_t last, const uint64_t *a, uint32_t bits, uint32_t n);
    bool (*steps_of_two)(uint32_t *to, uint64_t last, const uint64_t *a, uint32_t a_bits, const uint64_t *b,
                         uint32_t b_bits, uint32_t n);
} ways;

static void lower(uint64_t *slots, const uint64_t *stamps, uint32_t n, uint64_t flip)
{
    for (uint32_t i = 0; i < n; i++) {
        const uint64_t value = (stamps[i] ^ flip) + flip;
        if (value < slots[i]) slots[i] = value;
    }
}

static uint64_t least_of(uint64_t least, const uint64_t *stamps, uint32_t n, uint64_t flip)
{
    for (uint32_t i = 0; i < n; i++) {
        const uint64_t value = (stamps[i] ^ flip) + flip;
        if (value < least) least = value;
    }
    return least;
}

static const ways one_by_one = {.lower = lower, .least = least_of};

#if defined(__x86_64__)

#include <immintrin.h>

#define AVX2 __attribute__((target("avx2")))

AVX2 static inline __m256i four_at(const uint64_t *from)
{
    return _mm256_loadu_si256((const __m256i *)(const void *)from);
}

/* The lesser of numbers without sign. */
AVX2 static inline __m256i lesser(__m256i a, __m256i b)
{
    const __m256i top = _mm256_set1_epi64x(INT64_MIN);
    return _mm256_blendv_epi8(b, a, _mm256_cmpgt_epi64(_mm256_xor_si256(b, top), _mm256_xor_si256(a, top)));
}

AVX2 static void lower_avx2(uint64_t *slots, const uint64_t *stamps, uint32_t n, uint64_t flip)
{
    const __m256i flips = _mm256_set1_epi64x((long long)flip);
    uint32_t i = 0;
    for (; i + 4 <= n; i += 4) {
        const __m256i value = _mm256_add_epi64(_mm256_xor_si256(four_at(stamps + i), flips), flips);
        _mm256_storeu_si256((__m256i *)(void *)(slots + i), lesser(value, four_at(slots + i)));
    }
    lower(slots + i, stamps + i, n - i, flip);
}

AVX2 static uint64_t least_avx2(uint64_t least, const uint64_t *stamps, uint32_t n, uint64_t flip)
{
    const __m256i flips = _mm256_set1_epi64x((long long)flip);
    __m256i all = _mm256_set1_epi64x((long long)least);
    uint64_t four[4];
    uint32_t i = 0;
    for (; i + 4 <= n; i += 4)
        all = lesser(_mm256_add_epi64(_mm256_xor_si256(four_at(stamps + i), flips), flips), all);
    _mm256_storeu_si256((__m256i *)(void *)four, all);
    return least_of(least_of(least, four, 4, 0), stamps + i, n - i, flip);
}

enum { NEAR_BITS = 29 }; /* of a difference, which is not much */

AVX2 static inline bool are_near(__m256i four, uint64_t one)
{
    return one >> NEAR_BITS == 0 &&
           _mm256_testz_si256(four, _mm256_set1_epi64x((long long)(UINT64_MAX << NEAR_BITS)));
}

AVX2 static bool steps_avx2(uint32_t *to, uint64_t last, const uint64_t *a, uint32_t bits, uint32_t n)
{
    const __m256i low_halves = _mm256_setr_epi32(0, 2, 4, 6, 0, 2, 4, 6), of_mark = _mm256_set1_epi64x(bits);
    __m256i all = _mm256_setzero_si256();
    uint64_t one = a[0] - last, others = one;
    uint32_t i = 1;
    to[0] = (uint32_t)(one << 2 | bits);
    for (; i + 4 <= n; i += 4) {
        const __m256i more = _mm256_sub_epi64(four_at(a + i), four_at(a + i - 1));
        const __m256i four = _mm256_or_si256(_mm256_slli_epi64(more, 2), of_mark);
        all = _mm256_or_si256(all, more);
        _mm_storeu_si128((__m128i *)(void *)(to + i),
                         _mm256_castsi256_si128(_mm256_permutevar8x32_epi32(four, low_halves)));
    }
    for (; i < n; i++) {
        others |= one = a[i] - a[i - 1];
        to[i] = (uint32_t)(one << 2 | bits);
    }
    return are_near(all, others);
}

AVX2 static bool steps_of_two_avx2(uint32_t *to, uint64_t last, const uint64_t *a, uint32_t a_bits,
                                   const uint64_t *b, uint32_t b_bits, uint32_t n)
{
    const __m256i of_marks = _mm256_set1_epi64x((long long)((uint64_t)b_bits << 32 | a_bits));
    __m256i all = _mm256_setzero_si256();
    uint64_t one = a[0] - last, two = b[0] - a[0], others = one | two;
    uint32_t i = 1;
    to[0] = (uint32_t)(one << 2 | a_bits);
    to[1] = (uint32_t)(two << 2 | b_bits);
    for (; i + 4 <= n; i += 4) {
        const __m256i at = four_at(a + i), first = _mm256_sub_epi64(at, four_at(b + i - 1)),
                      second = _mm256_sub_epi64(four_at(b + i), at);
        all = _mm256_or_si256(all, _mm256_or_si256(first, second));
        const __m256i both = _mm256_or_si256(_mm256_slli_epi64(first, 2), _mm256_slli_epi64(second, 34));
        _mm256_storeu_si256((__m256i *)(void *)(to + (size_t)i * 2), _mm256_or_si256(both, of_marks));
    }
    for (; i < n; i++) {
        others |= (one = a[i] - b[i - 1]) | (two = b[i] - a[i]);
        to[(size_t)i * 2] = (uint32_t)(one << 2 | a_bits);
        to[(size_t)i * 2 + 1] = (uint32_t)(two << 2 | b_bits);
    }
    return are_near(all, others);
}

static const ways with_avx2 = {lower_avx2, least_avx2, steps_avx2, steps_of_two_avx2};

static const ways *best_ways(void)
{
    return __builtin_cpu_supports("avx2") ? &with_avx2 : &one_by_one;
}

#else

static const ways *best_ways(void)
{
    return &one_by_one;
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
static bool lower_one(dl_analyzer *a, const ways *how, scope of, uint32_t number, const waiting *w,
                      uint32_t n, const recipe_slot *s, const recipe_slot *end)
{
    uint64_t *block = dl_analyzer_block(a, of, number);
    for (; block && s < end; s++)
        block[s->slot] = how->least(block[s->slot], w->stamps + (size_t)s->stamp * w->cap, n, s->flip);
    return block != NULL;
}

static bool lower_slots(dl_analyzer *a, const ways *how, uint32_t stream, const waiting *w, uint32_t n)
{
    const recipe *r = w->of;
    const recipe_slot *const slots = recipe_slots(r);
    stream_info *info = &a->streams[stream];
    for (uint32_t k = 0; k < r->n_scopes; k++) {
        const scope of = (scope)r->scopes[k];
        const recipe_slot *s = slots + (k ? r->ends[k - 1] : 0), *const end = slots + r->ends[k];
        const uint32_t leaf = of == SCOPE_STREAM || of == SCOPE_LAUNCH_STREAM ? stream
                              : of == SCOPE_CHIP                              ? info->chip
                                                                              : info->core;
        if (of <= SCOPE_CHIP) {
            if (!lower_one(a, how, of, leaf, w, n, s, end)) return false;
            continue;
        }
        piece pieces[MANY];
        uint32_t *hint = &info->cell[of == SCOPE_LAUNCH_STREAM ? LEAF_STREAM : LEAF_CORE];
        const uint32_t n_pieces = find_pieces(a, of, w, n, leaf, hint, pieces);
        if (n_pieces == DL_NONE) return false;
        for (const piece *p = pieces; p < pieces + n_pieces; p++) {
            uint64_t *block = block_at(&a->blocks[of], p->number);
            for (const recipe_slot *at = s; at < end; at++)
                how->lower(block + at->slot, w->stamps + (size_t)at->stamp * w->cap + p->run, p->n, at->flip);
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
static bool keep_marks(job *j, const ways *how, uint32_t stream, const waiting *w, uint32_t runs,
                       const recipe_keep *keeps, uint32_t n)
{
    uint64_t moments[MANY * RECIPE_STAMPS];
    kept *k = dl_analyzer_kept(j, stream);
    const uint64_t *stamps = NULL;
    if (!k) return false;
    if (n <= 2 && how->steps && (size_t)(k->steps.limit - k->steps.at) >= (size_t)runs * n) {
        const uint64_t *first = w->stamps + (size_t)keeps[0].stamp * w->cap;
        stamps = w->stamps + (size_t)keeps[n - 1].stamp * w->cap;
        if (n == 1 ? how->steps(k->steps.at, k->last, first, keeps[0].bits, runs)
                   : how->steps_of_two(k->steps.at, k->last, first, keeps[0].bits, stamps, keeps[1].bits,
                                       runs)) {
            k->steps.at += (size_t)runs * n;
            k->last = stamps[runs - 1];
            return true;
        }
    }
    for (uint32_t e = 0; e < n; e++) {
        stamps = w->stamps + (size_t)keeps[e].stamp * w->cap;
        for (uint32_t i = 0; i < runs; i++)
            moments[i * n + e] = stamps[i] << 2 | keeps[e].bits;
    }
    if (!keep_moments(k, moments, (size_t)runs * n)) return false;
    /* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): n is 1 or more */
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
    block[j->first * TILE] = NO_STAMP; /* the edge is known: a run like these came mark by mark before */
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
    const ways *how = best_ways();
    const uint32_t n = w->n;
    w->n = 0;
    if (!n) return true;
    uint64_t *first = &a->t0[a->streams[stream].chip];
    for (uint32_t i = 0; i < n; i++)
        if (w->stamps[i] < *first) *first = w->stamps[i];
    bool good = lower_slots(a, how, stream, w, n);
    const recipe_keep *keep = recipe_keeps(r), *const keeps_end = keep + r->n_keeps;
    while (good && keep < keeps_end) {
        const recipe_keep *next = keep;
        while (next < keeps_end && next->job == keep->job)
            next++;
        good = keep_marks(&a->jobs[keep->job], how, stream, w, n, keep, (uint32_t)(next - keep));
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
