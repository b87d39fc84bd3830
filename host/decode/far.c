/* Far samples: selection by counting. */
#include "decode/far.h"

#include <stdlib.h>
#include <string.h>

/* Counts one value; `guess`: the range that it is in, if it is in any. */
static inline void count_in(const dl_far_pass *pass, uint32_t guess, uint64_t top, uint64_t *counts)
{
    const uint64_t mask = (UINT64_C(1) << pass->bits) - 1;
    if (pass->prefixes[guess] == top >> pass->bits) counts[(uint64_t)guess << pass->bits | (top & mask)]++;
}

static void count_walk(const dl_samples *set, const dl_far_pass *pass, uint64_t *counts)
{
    dl_sample_walk w;
    uint64_t value;
    dl_sample_walk_start(&w, set);
    while (dl_sample_walk_next(&w, &value))
        for (uint32_t i = 0; i < pass->n; i++)
            count_in(pass, i, (value - pass->min) >> pass->shift, counts);
}

/* Ranges by the lowest bits of their prefixes; false: two have the same. */
enum { LOW = 256 };
static bool know_ranges(const dl_far_pass *pass, uint8_t ranges[LOW])
{
    bool known[LOW] = {false};
    memset(ranges, 0, LOW); /* a wrong guess is found out */
    for (uint32_t i = 0; i < pass->n; i++) {
        const uint64_t low = pass->prefixes[i] % LOW;
        if (known[low]) return false;
        known[low] = true;
        ranges[low] = (uint8_t)i;
    }
    return true;
}

static void count_all(const dl_far_pass *pass, const uint32_t *at, const uint32_t *end, uint64_t *counts)
{
    const uint64_t min = pass->min;
    const uint32_t shift = pass->shift;
    const uint64_t n = UINT64_C(1) << pass->bits;
    for (; at < end; at++) {
        const uint64_t top = (*at - min) >> shift;
        if (top < n) counts[top]++;
    }
}

static void count_some(const dl_far_pass *pass, const uint8_t ranges[LOW], const uint32_t *at,
                       const uint32_t *end, uint64_t *counts)
{
    const uint64_t min = pass->min;
    const uint32_t shift = pass->shift, bits = pass->bits;
    for (; at < end; at++) {
        const uint64_t top = (*at - min) >> shift;
        count_in(pass, ranges[(top >> bits) % LOW], top, counts);
    }
}

void dl_far_count(const dl_samples *set, const dl_far_pass *pass, uint64_t *counts)
{
    uint8_t ranges[LOW];
    dl_sample_walk w;
    if (set->n_wide || dl_samples_count(set) < LOW || !know_ranges(pass, ranges)) {
        count_walk(set, pass, counts);
        return;
    }
    dl_sample_walk_start(&w, set);
    for (; dl_sample_walk_on(&w); w.at = w.end) {
        if (pass->all)
            count_all(pass, w.at, w.end, counts);
        else
            count_some(pass, ranges, w.at, w.end, counts);
    }
}

/* Where the wanted ranks are so far. */
typedef struct search {
    dl_far_pass pass;
    uint64_t before[DL_FAR_RANKS]; /* values below each range */
    uint32_t range[DL_FAR_RANKS];  /* of each rank */
} search;

/* Each rank's range becomes the part of it, a `bits`th bit finer, that holds the rank. False: counts do not add up. */
static bool narrow(search *s, const uint64_t *counts, const uint64_t *ranks, uint32_t n)
{
    search next = {.pass = {.min = s->pass.min}};
    for (uint32_t r = 0; r < n; r++) {
        const uint32_t range = s->range[r];
        const uint64_t *of = counts + ((uint64_t)range << s->pass.bits);
        uint64_t below = s->before[range];
        uint32_t digit = 0;
        while (digit >> s->pass.bits == 0 && below + of[digit] <= ranks[r])
            below += of[digit++];
        if (digit >> s->pass.bits) return false;
        const uint64_t prefix = s->pass.prefixes[range] << s->pass.bits | digit;
        if (!next.pass.n || next.pass.prefixes[next.pass.n - 1] != prefix) {
            next.pass.prefixes[next.pass.n] = prefix;
            next.before[next.pass.n++] = below;
        }
        next.range[r] = next.pass.n - 1;
    }
    next.pass.shift = s->pass.shift;
    *s = next;
    return true;
}

devlog_status dl_far_select(const dl_far *far, const dl_samples *const *sets, size_t n_sets, uint64_t min,
                            uint64_t max, const uint64_t *ranks, uint64_t *values, uint32_t n,
                            devlog_error *err)
{
    search s = {.pass = {.min = min, .n = 1, .all = true}};
    uint64_t *counts = malloc(DL_FAR_COUNTS * sizeof *counts);
    if (!counts) return dl_fail(err, DEVLOG_ERR_MEMORY, "out of memory for medians");
    while (s.pass.shift < 64 && (max - min) >> s.pass.shift)
        s.pass.shift++;
    devlog_status status = far->begin(far->ctx, sets, n_sets, err);
    while (s.pass.shift && !status) {
        s.pass.bits = s.pass.shift < DL_FAR_BITS ? s.pass.shift : DL_FAR_BITS;
        s.pass.shift -= s.pass.bits;
        memset(counts, 0, ((size_t)s.pass.n << s.pass.bits) * sizeof *counts);
        status = far->count(far->ctx, &s.pass, counts, err);
        if (!status && !narrow(&s, counts, ranks, n))
            status = dl_fail(err, DEVLOG_ERR_FORMAT, "durations are not where they were counted");
    }
    for (uint32_t r = 0; r < n && !status; r++)
        values[r] = min + s.pass.prefixes[s.range[r]];
    free(counts);
    return status;
}
