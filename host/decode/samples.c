/* Samples: every duration of a zone in 4 bytes, and exact quantiles by counting digits from the top. */
#include "decode/samples.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <sys/mman.h>
#include <unistd.h>

#include "base/big.h"
#include "base/sort.h"
#include "decode/far.h"

enum {
    FIRST_CHUNK = 12,
    LAST_CHUNK = 1020,
    DIGIT_BITS = 12,
    FIRST_DIGIT_BITS = 14,
    DIGITS = 1 << DIGIT_BITS, /* MAX_RANKS of them are more than one first digit has */
    MAX_RANKS = 6,
    FEW = 1024,
    BUCKETS = 256,
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
    if (!p->folder || p->n_pieces < IN_MEMORY) return NULL;
    p->filed.folder = p->folder;
    if (p->filed.n % COOL_EVERY == COOL_EVERY - 1)
        dl_big_pieces_cool(&p->filed); /* what is full is not wanted before the end */
    void *piece = dl_big_piece(&p->filed);
    if (!piece) p->folder = NULL; /* what follows is in memory */
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

/* The double nearest to the quotient: both numbers may be larger than a double holds. */
double dl_summary_average(const dl_summary *s)
{
    const uint64_t n = s->count;
    if (!n || !s->sum) return 0;
    /* Both are what they are as doubles: then dividing these rounds once, too. */
    if (s->sum >> 53 == 0 && n >> 53 == 0) return (double)(uint64_t)s->sum / (double)n;
    /* 63 bits or more of the quotient, and one that tells of the rest: rounded once, by the conversion. */
    dl_u128 quotient = s->sum / n, rest = s->sum % n;
    int bits = 0;
    for (; quotient >> 62 == 0; bits++) {
        rest *= 2;
        quotient = quotient * 2 + (rest >= n);
        if (rest >= n) rest -= n;
    }
    return ldexp((double)(quotient | (rest != 0)), -bits);
}

double dl_summary_median(const dl_summary *s)
{
    return ((double)s->median_low + (double)s->median_high) / 2;
}

/* One of the value ranges in which a wanted rank lies: all values v with (v - min) >> shift == prefix. */
typedef struct bracket {
    uint64_t prefix;
    uint64_t before; /* values below the bracket */
    uint32_t *counts;
} bracket;

/* What is counted in one pass: the digit of `bits` bits above bit `shift` of every value in a bracket. */
typedef struct digit_pass {
    uint64_t min;
    unsigned shift, bits;
    bracket *brackets;
    size_t n_brackets;
} digit_pass;

static inline void count_one(const digit_pass *pass, uint64_t value)
{
    uint64_t top = (value - pass->min) >> pass->shift, prefix = top >> pass->bits;
    for (size_t b = 0; b < pass->n_brackets; b++) {
        if (pass->brackets[b].prefix != prefix) continue;
        pass->brackets[b].counts[top & ((UINT64_C(1) << pass->bits) - 1)]++;
        return;
    }
}

/* All values lie in the only bracket, and none is wide. */
static void count_all(const digit_pass *pass, const uint32_t *values, size_t n)
{
    uint32_t *counts = pass->brackets[0].counts;
    const uint32_t min = (uint32_t)pass->min;
    const unsigned shift = pass->shift;
    for (size_t i = 0; i < n; i++)
        counts[(values[i] - min) >> shift]++;
}

static void count_digits(const dl_samples *const *sets, size_t n, const digit_pass *pass, bool first)
{
    for (size_t i = 0; i < n; i++) {
        if (first && !sets[i]->n_wide && pass->shift < 32) {
            for (const dl_sample_chunk *c = sets[i]->first; c; c = c->next) {
                count_all(pass, c->values, (size_t)(chunk_end(sets[i], c) - c->values));
                see(sets[i]);
            }
            continue;
        }
        dl_sample_walk w;
        uint64_t value;
        dl_sample_walk_start(&w, sets[i]);
        while (dl_sample_walk_next(&w, &value))
            count_one(pass, value);
    }
}

/* The values of all sets, of which none is wide, one behind the other, no more than FEW. Returns how many. */
static size_t gather_few(const dl_samples *const *sets, size_t n, uint32_t *all)
{
    size_t count = 0;
    for (size_t i = 0; i < n; i++)
        for (const dl_sample_chunk *c = sets[i]->first; c; c = c->next) {
            const size_t there = (size_t)(chunk_end(sets[i], c) - c->values),
                         here = there < FEW - count ? there : FEW - count;
            memcpy(all + count, c->values, here * sizeof *all);
            count += here;
            see(sets[i]);
        }
    return count;
}

static bool any_wide(const dl_samples *const *sets, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (sets[i]->n_wide) return true;
    return false;
}

/* The same as select_ranks for few values: they are min and what `all` are more than base, up to `range`. They are counted in
 * buckets of one width, and those of the buckets in which ranks are, which are few, are sorted. */
static void select_few(const uint32_t *all, size_t count, uint32_t base, uint64_t min, uint32_t range,
                       const uint64_t *ranks, uint64_t *values, size_t n_ranks)
{
    uint32_t counts[BUCKETS] = {0};
    uint8_t wanted[BUCKETS] = {0};
    uint64_t sorted[FEW];
    size_t place[MAX_RANKS], below = 0, kept = 0, n_kept = 0, bucket = 0;
    const uint32_t last = count < BUCKETS ? BUCKETS / 4 - 1 : BUCKETS - 1;
    unsigned shift = 0;
    while (range >> shift > last)
        shift++;
    for (size_t i = 0; i < count; i++)
        counts[(all[i] - base) >> shift &
               last]++; /* (values are from min to max: only an error is cut off) */
    for (size_t r = 0; r < n_ranks; r++) {
        for (; bucket < last && below + counts[bucket] <= ranks[r]; bucket++) {
            below += counts[bucket];
            if (wanted[bucket]) kept += counts[bucket];
        }
        wanted[bucket] = 1;
        place[r] = kept + (ranks[r] - below);
        values[r] = min + bucket;
    }
    if (!shift) return; /* values of a bucket are alike */
    for (size_t i = 0; i < count; i++) {
        const uint32_t more = all[i] - base;
        sorted[n_kept] = more;
        n_kept += wanted[more >> shift & last];
    }
    dl_sort_u64(sorted, n_kept);
    for (size_t r = 0; r < n_ranks; r++)
        values[r] = place[r] < n_kept ? min + sorted[place[r]] : 0;
}

/* ranks[] are ascending and count from 0; values[] receives the value of each. */
static bool select_ranks(const dl_samples *const *sets, size_t n, uint64_t min, uint64_t max,
                         const uint64_t *ranks, uint64_t *values, size_t n_ranks)
{
    bracket brackets[MAX_RANKS] = {{0}};
    size_t of_rank[MAX_RANKS] = {0}, n_brackets = 1;
    uint32_t *counts = malloc((size_t)MAX_RANKS * DIGITS * sizeof *counts);
    if (!counts) return false;
    unsigned shift = 0;
    for (uint64_t range = max - min; shift < 64 && range >> shift; shift++)
        ;
    bool first = true;
    do {
        /* There is one bracket at first, so its digit may have more bits. */
        unsigned most = first ? FIRST_DIGIT_BITS : DIGIT_BITS, bits = shift < most ? shift : most;
        if (bits == 0) bits = 1; /* a single value */
        shift = shift > bits ? shift - bits : 0;
        memset(counts, 0, (n_brackets << bits) * sizeof *counts);
        for (size_t b = 0; b < n_brackets; b++)
            brackets[b].counts = counts + (b << bits);
        const digit_pass pass = {min, shift, bits, brackets, n_brackets};
        count_digits(sets, n, &pass, first);
        first = false;
        bracket next[MAX_RANKS];
        size_t n_next = 0;
        uint64_t below = 0;
        uint32_t digit = 0;
        for (size_t r = 0, last = MAX_RANKS; r < n_ranks; r++) {
            const bracket *b = &brackets[of_rank[r]];
            if (of_rank[r] != last) {
                below = b->before;
                digit = 0;
            }
            last = of_rank[r];
            while (digit + 1 < (1u << bits) && below + b->counts[digit] <= ranks[r])
                below += b->counts[digit++];
            uint64_t prefix = b->prefix << bits | digit;
            if (!n_next || next[n_next - 1].prefix != prefix) next[n_next++] = (bracket){prefix, below, NULL};
            of_rank[r] = n_next - 1;
        }
        memcpy(brackets, next, sizeof next[0] * n_next);
        n_brackets = n_next;
    } while (shift);
    for (size_t r = 0; r < n_ranks; r++)
        values[r] = min + brackets[of_rank[r]].prefix;
    free(counts);
    return true;
}

/* The rank, from 0, of the smallest value that is not less than `percent` of them. */
static uint64_t nearest_rank(uint64_t count, unsigned percent)
{
    uint64_t rank = count / 100 * percent + (count % 100 * percent + 99) / 100;
    return rank ? rank - 1 : 0;
}

enum { QUANTILES = 5 };

static void find_ranks(uint64_t count, uint64_t ranks[QUANTILES])
{
    const uint64_t wanted[QUANTILES] = {(count - 1) / 2, count / 2, nearest_rank(count, 90),
                                        nearest_rank(count, 95), nearest_rank(count, 99)};
    memcpy(ranks, wanted, sizeof wanted);
}

static void set_quantiles(dl_summary *s, const uint64_t values[QUANTILES])
{
    s->median_low = s->p50 = values[0]; /* the nearest rank of 50 % is the lower median */
    s->median_high = values[1];
    s->p90 = values[2];
    s->p95 = values[3];
    s->p99 = values[4];
}

void dl_summary_quantiles_of(dl_summary *s, uint64_t *all)
{
    enum { AT_ONCE = 24 };
    uint64_t ranks[QUANTILES], values[QUANTILES];
    if (s->count == 0) return;
    find_ranks(s->count, ranks);
    if (s->count > AT_ONCE && s->count <= FEW && s->max - s->min <= UINT32_MAX) {
        uint32_t more[FEW];
        for (size_t i = 0; i < s->count; i++)
            more[i] = (uint32_t)(all[i] - s->min);
        select_few(more, s->count, 0, s->min, (uint32_t)(s->max - s->min), ranks, values, QUANTILES);
    } else {
        dl_sort_u64(all, s->count);
        for (int r = 0; r < QUANTILES; r++)
            values[r] = all[ranks[r]];
    }
    set_quantiles(s, values);
}

devlog_status dl_summary_quantiles(dl_summary *s, const dl_samples *const *sets, size_t n, devlog_error *err)
{
    if (s->count == 0) return DEVLOG_OK;
    uint64_t ranks[MAX_RANKS], values[MAX_RANKS];
    const dl_far *far = NULL;
    find_ranks(s->count, ranks);
    for (size_t i = 0; i < n && !far; i++)
        far = sets[i]->far;
    if (far) {
        devlog_status status = dl_far_select(far, sets, n, s->min, s->max, ranks, values, DL_FAR_RANKS, err);
        if (status) return status;
    } else if (s->count <= 2 || s->min == s->max) {
        for (size_t r = 0; r < QUANTILES; r++)
            values[r] = ranks[r] ? s->max : s->min;
    } else if (s->count <= FEW && !any_wide(sets, n)) {
        uint32_t all[FEW];
        const size_t count = gather_few(sets, n, all);
        select_few(all, count, (uint32_t)s->min, s->min, (uint32_t)(s->max - s->min), ranks, values,
                   QUANTILES);
    } else if (!select_ranks(sets, n, s->min, s->max, ranks, values, QUANTILES))
        return dl_fail(err, DEVLOG_ERR_MEMORY, "out of memory for the quantiles of %llu values",
                       (unsigned long long)s->count);
    set_quantiles(s, values);
    return DEVLOG_OK;
}
