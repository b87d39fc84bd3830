/* Far samples: selection by counting. */
#include "decode/far.h"

#include <stdlib.h>
#include <string.h>

void dl_far_count(const dl_samples *set, const dl_far_pass *pass, uint64_t *counts)
{
    dl_sample_walk w;
    uint64_t value;
    const uint64_t mask = (UINT64_C(1) << pass->bits) - 1;
    dl_sample_walk_start(&w, set);
    while (dl_sample_walk_next(&w, &value)) {
        const uint64_t top = (value - pass->min) >> pass->shift, prefix = top >> pass->bits;
        for (uint32_t i = 0; i < pass->n; i++) {
            if (pass->prefixes[i] != prefix) continue;
            counts[(uint64_t)i << pass->bits | (top & mask)]++;
            break;
        }
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
    search s = {.pass = {.min = min, .n = 1}};
    uint64_t *counts = malloc(DL_FAR_COUNTS * sizeof *counts);
    if (!counts) return dl_fail(err, DEVLOG_ERR_MEMORY, "out of memory for medians");
    while (s.pass.shift < 64 && (max - min) >> s.pass.shift)
        s.pass.shift++;
    devlog_status status = far->begin(far->ctx, sets, n_sets, err);
    while (s.pass.shift && !status) {
        s.pass.bits = s.pass.shift < DL_FAR_BITS ? s.pass.shift : DL_FAR_BITS;
        s.pass.shift -= s.pass.bits;
        memset(counts, 0, DL_FAR_COUNTS * sizeof *counts);
        status = far->count(far->ctx, &s.pass, counts, err);
        if (!status && !narrow(&s, counts, ranks, n))
            status = dl_fail(err, DEVLOG_ERR_FORMAT, "durations are not where they were counted");
    }
    for (uint32_t r = 0; r < n && !status; r++)
        values[r] = min + s.pass.prefixes[s.range[r]];
    free(counts);
    return status;
}
