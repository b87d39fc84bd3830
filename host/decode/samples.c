/* Samples: every duration of a zone in 4 bytes, in pieces of memory and of a file, and their least, greatest and sum. Not for quantiles
 * (quantiles.c). */
#include "decode/samples.h"

#include <stdlib.h>
#include <string.h>

#include <sys/mman.h>

#include "base/big.h"

enum {
    FIRST_CHUNK = 12,
    LAST_CHUNK = 1020,
    SMALL_PIECE = 64 * 1024, /* of a pool, at first */
    SMALL_PIECES = 16,
    IN_MEMORY = 24,               /* pieces: of a pool that may go to a file */
    LARGE_PIECE = 2 * 1024 * 1024 /* what Linux calls a huge page: one fault in place of 512 */
};

/* A chunk is read. Sets are read one after the other and lie all over the file, of which the system maps the
 * neighbours of each page, too: so it is let go every few chunks. */
static void see(const dl_samples *s)
{
    enum { SEEN_MOST = 64 };
    dl_sample_pool *p = s->pool;
    if (!p || !p->filed.n) return;
    if (atomic_fetch_add_explicit(&p->seen, 1, memory_order_relaxed) % SEEN_MOST == SEEN_MOST - 1)
        dl_big_pieces_cool(&p->filed);
}

/* NULL: it is full, or there is none. */
static void *new_filed_piece(dl_sample_pool *p)
{
    enum { COOL_EVERY = 4 };
    if (!p->filed.folder || p->n_pieces < IN_MEMORY) return NULL;
    if (p->filed.n % COOL_EVERY == COOL_EVERY - 1)
        dl_big_pieces_cool(&p->filed); /* what is full is not wanted before the end */
    void *piece = dl_big_piece(&p->filed);
    if (!piece) p->filed.folder = NULL; /* what follows is in memory */
    return piece;
}

static void *new_piece_in_memory(dl_sample_pool *p, size_t *size)
{
    if (p->n_pieces == p->cap_pieces) {
        uint32_t cap = p->cap_pieces ? p->cap_pieces * 2 : 16;
        void **pieces = realloc(p->pieces, cap * sizeof *pieces);
        if (!pieces) return NULL;
        p->pieces = pieces;
        p->cap_pieces = cap;
    }
    const bool small = p->n_pieces < SMALL_PIECES;
    *size = small ? SMALL_PIECE : LARGE_PIECE;
    void *piece = small ? malloc(SMALL_PIECE) : aligned_alloc(LARGE_PIECE, LARGE_PIECE);
#ifdef MADV_HUGEPAGE
    if (piece && !small)
        madvise(piece, LARGE_PIECE, MADV_HUGEPAGE); /* a wish: without it there are more faults */
#endif
    if (piece) p->pieces[p->n_pieces++] = piece;
    return piece;
}

/* `bytes` are less than a small piece. */
static void *take(dl_sample_pool *p, size_t bytes)
{
    bytes = (bytes + 15) & ~(size_t)15;
    if (bytes > (size_t)(p->end - p->at)) {
        size_t size = DL_BIG_PIECE;
        char *piece = new_filed_piece(p);
        if (!piece) piece = new_piece_in_memory(p, &size);
        if (!piece) return NULL;
        p->at = piece;
        p->end = piece + size;
    }
    void *taken = p->at;
    p->at += bytes;
    return taken;
}

void dl_sample_pool_free(dl_sample_pool *p)
{
    for (uint32_t i = 0; i < p->n_pieces; i++)
        free(p->pieces[i]);
    free(p->pieces);
    dl_big_pieces_free(&p->filed);
    *p = (dl_sample_pool){0};
}

uint64_t dl_sample_pool_filed(const dl_sample_pool *p)
{
    return (uint64_t)p->filed.n * DL_BIG_PIECE;
}

bool dl_samples_grow(dl_samples *s)
{
    uint32_t size = s->next_size ? s->next_size : FIRST_CHUNK;
    size_t bytes = sizeof(dl_sample_chunk) + size * sizeof(uint32_t);
    dl_sample_chunk *chunk = s->pool ? take(s->pool, bytes) : malloc(bytes);
    if (!chunk) return false;
    chunk->next = NULL;
    if (s->last) {
        s->before += (uint64_t)(s->at - s->last->values);
        s->last->end = s->at;
        s->last->next = chunk;
    } else {
        s->first = chunk;
    }
    s->last = chunk;
    s->at = chunk->values;
    s->limit = chunk->values + size;
    s->next_size = size * 2 < LAST_CHUNK ? size * 2 : LAST_CHUNK;
    return true;
}

bool dl_samples_add_wide(dl_samples *s, uint64_t value)
{
    if (s->at == s->limit && !dl_samples_grow(s)) return false;
    if (s->n_wide == s->cap_wide) {
        uint32_t cap = s->cap_wide ? s->cap_wide * 2 : 8;
        uint64_t *wide = realloc(s->wide, cap * sizeof *wide);
        if (!wide) return false;
        s->wide = wide;
        s->cap_wide = cap;
    }
    s->wide[s->n_wide++] = value;
    *s->at++ = DL_WIDE;
    return true;
}

void dl_samples_free(dl_samples *s)
{
    for (dl_sample_chunk *c = s->pool ? NULL : s->first; c;) {
        dl_sample_chunk *next = c->next;
        free(c);
        c = next;
    }
    free(s->wide);
    *s = (dl_samples){0};
}

bool dl_samples_take(dl_samples *to, dl_samples *from)
{
    if (!from->first) return true;
    if (from->n_wide) {
        uint64_t *wide = realloc(to->wide, ((size_t)to->n_wide + from->n_wide) * sizeof *wide);
        if (!wide) return false;
        memcpy(wide + to->n_wide, from->wide, from->n_wide * sizeof *wide);
        to->wide = wide;
        to->n_wide += from->n_wide;
        to->cap_wide = to->n_wide;
    }
    to->before = dl_samples_count(to) + from->before;
    if (to->last) {
        to->last->end = to->at;
        to->last->next = from->first;
    } else {
        to->first = from->first;
    }
    to->last = from->last;
    to->at = from->at;
    to->limit = from->limit;
    to->next_size = from->next_size;
    free(from->wide);
    *from = (dl_samples){.pool = from->pool};
    return true;
}

size_t dl_samples_bytes(const dl_samples *s)
{
    size_t bytes = s->cap_wide * sizeof *s->wide;
    for (const dl_sample_chunk *c = s->first; c; c = c->next) {
        const uint32_t *end = c->next ? c->end : s->limit;
        bytes += sizeof *c + (size_t)(end - c->values) * sizeof c->values[0];
    }
    return bytes;
}

static void enter_chunk(dl_sample_walk *w, const dl_sample_chunk *c)
{
    w->chunk = c;
    w->at = c ? c->values : NULL;
    w->end = !c ? NULL : c->next ? c->end : w->samples->at;
    if (c) see(w->samples);
}

void dl_sample_walk_start(dl_sample_walk *w, const dl_samples *s)
{
    *w = (dl_sample_walk){.samples = s};
    enter_chunk(w, s->first);
}

bool dl_sample_walk_on(dl_sample_walk *w)
{
    while (w->at == w->end) {
        if (!w->chunk || !w->chunk->next) return false;
        enter_chunk(w, w->chunk->next);
    }
    return true;
}

static const uint32_t *chunk_end(const dl_samples *s, const dl_sample_chunk *c)
{
    return c->next ? c->end : s->at;
}

/* The least, the greatest and the sum of values. */
typedef struct extent {
    uint32_t min, max;
    uint64_t sum;
} extent;

static void widen(extent *e, const uint32_t *v, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        e->min = v[i] < e->min ? v[i] : e->min;
        e->max = v[i] > e->max ? v[i] : e->max;
        e->sum += v[i];
    }
}

#if defined(__x86_64__)

#include <immintrin.h>

/* Eight at a time; what is left over with lanes that change nothing. */
__attribute__((target("avx2"))) static void widen_avx2(extent *e, const uint32_t *v, size_t n)
{
    const __m256i zero = _mm256_setzero_si256(), lanes = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
    __m256i min = _mm256_set1_epi32((int)e->min), max = _mm256_set1_epi32((int)e->max), sum = zero;
    for (size_t i = 0; i < n; i += 8) {
        const __m256i there = _mm256_cmpgt_epi32(_mm256_set1_epi32(n - i < 8 ? (int)(n - i) : 8), lanes);
        const __m256i eight = _mm256_maskload_epi32((const int *)(const void *)(v + i), there);
        min = _mm256_min_epu32(
            min, _mm256_or_si256(eight, _mm256_xor_si256(there, _mm256_cmpeq_epi32(zero, zero))));
        max = _mm256_max_epu32(max, eight);
        sum = _mm256_add_epi64(sum, _mm256_srli_epi64(eight, 32));
        sum = _mm256_add_epi64(sum, _mm256_blend_epi32(eight, zero, 0xAA));
    }
    __m128i least = _mm_min_epu32(_mm256_castsi256_si128(min), _mm256_extracti128_si256(min, 1));
    __m128i most = _mm_max_epu32(_mm256_castsi256_si128(max), _mm256_extracti128_si256(max, 1));
    __m128i all = _mm_add_epi64(_mm256_castsi256_si128(sum), _mm256_extracti128_si256(sum, 1));
    least = _mm_min_epu32(least, _mm_shuffle_epi32(least, 0x4E));
    most = _mm_max_epu32(most, _mm_shuffle_epi32(most, 0x4E));
    e->min = (uint32_t)_mm_cvtsi128_si32(_mm_min_epu32(least, _mm_shuffle_epi32(least, 0xB1)));
    e->max = (uint32_t)_mm_cvtsi128_si32(_mm_max_epu32(most, _mm_shuffle_epi32(most, 0xB1)));
    e->sum += (uint64_t)_mm_cvtsi128_si64(_mm_add_epi64(all, _mm_unpackhi_epi64(all, all)));
}

static void widen_best(extent *e, const uint32_t *v, size_t n)
{
    if (n >= 4 && __builtin_cpu_supports("avx2"))
        widen_avx2(e, v, n);
    else
        widen(e, v, n);
}

#else
#define widen_best widen
#endif

void dl_samples_totals(const dl_samples *s, dl_summary *totals)
{
    *totals = (dl_summary){.count = dl_samples_count(s), .min = UINT64_MAX};
    if (!totals->count) return;
    if (s->n_wide) {
        dl_sample_walk w;
        uint64_t value;
        dl_sample_walk_start(&w, s);
        for (uint64_t i = 0; dl_sample_walk_next(&w, &value); i++) {
            if (i == 0) totals->first = value;
            if (value < totals->min) totals->min = value;
            if (value > totals->max) totals->max = value;
            totals->sum += value;
        }
        return;
    }
    extent of_all = {.min = UINT32_MAX};
    for (const dl_sample_chunk *c = s->first; c; c = c->next) {
        widen_best(&of_all, c->values, (size_t)(chunk_end(s, c) - c->values));
        see(s);
    }
    /* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): empty samples have returned */
    totals->first = s->first->values[0];
    totals->min = of_all.min;
    totals->max = of_all.max;
    totals->sum = of_all.sum;
}
