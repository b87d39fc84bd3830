/* Exact averages, medians and percentiles of sets of samples: many values by counting digits of them, few by buckets. Not for
 * keeping samples (samples.c), and not for sets of which a part is in other processes (far.c). */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/sort.h"
#include "decode/far.h"
#include "decode/samples.h"

enum {
    DIGIT_BITS = 12,
    FIRST_DIGIT_BITS = 14,
    DIGITS = 1 << DIGIT_BITS, /* MAX_RANKS of them are more than one first digit has */
    MAX_RANKS = 6,
    FEW = 1024,
    BUCKETS = 256,
};

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
        dl_sample_walk w;
        dl_sample_walk_start(&w, sets[i]);
        if (first && !sets[i]->n_wide && pass->shift < 32) {
            for (; dl_sample_walk_on(&w); w.at = w.end)
                count_all(pass, w.at, (size_t)(w.end - w.at));
            continue;
        }
        uint64_t value;
        while (dl_sample_walk_next(&w, &value))
            count_one(pass, value);
    }
}

/* The values of all sets, of which none is wide, one behind the other, no more than FEW. Returns how many. */
static size_t gather_few(const dl_samples *const *sets, size_t n, uint32_t *all)
{
    size_t count = 0;
    for (size_t i = 0; i < n; i++) {
        dl_sample_walk w;
        dl_sample_walk_start(&w, sets[i]);
        for (; dl_sample_walk_on(&w); w.at = w.end) {
            const size_t there = (size_t)(w.end - w.at), here = there < FEW - count ? there : FEW - count;
            memcpy(all + count, w.at, here * sizeof *all);
            count += here;
        }
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

/* The digit, of those from `digit` on, of the value that has this rank; *below is how many values have lesser digits. */
static uint32_t digit_of_rank(const uint32_t *counts, uint32_t digit, uint32_t n, uint64_t rank,
                              uint64_t *below)
{
    enum { AT_ONCE = 32 }; /* most counts are 0 where values are few */
    while (n - digit > AT_ONCE) {
        uint64_t sum = 0;
        for (uint32_t i = 0; i < AT_ONCE; i++)
            sum += counts[digit + i];
        if (*below + sum > rank) break;
        *below += sum;
        digit += AT_ONCE;
    }
    while (digit + 1 < n && *below + counts[digit] <= rank)
        *below += counts[digit++];
    return digit;
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
            digit = digit_of_rank(b->counts, digit, 1u << bits, ranks[r], &below);
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
