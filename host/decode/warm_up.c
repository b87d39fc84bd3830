/* Warm-up. See warm_up.h. */
#include "decode/warm_up.h"

#include <stdlib.h>

size_t dl_warm_up_of(const dl_warm_launch *launches, size_t n)
{
    /* From the last launch to the first: mean and sum of squared differences (Welford), which are exact where all
     * durations are the same. */
    double mean = 0, squares = 0, least = 0;
    size_t known = 0, best = n;
    if (n < DL_WARM_UP_FEWEST) return 0;
    for (size_t i = n; i-- > 0;) {
        if (launches[i].duration == DL_WARM_UP_NONE) continue;
        const double value = (double)launches[i].duration, before = value - mean;
        known++;
        mean += before / (double)known;
        squares += before * (value - mean);
        if (i > n / 2 || known < 2) continue;
        const double error = squares / ((double)known * (double)known);
        if (best == n || error <= least) {
            best = i;
            least = error;
        }
    }
    return best >= n / 2 ? 0 : best;
}

static int by_start(const void *a, const void *b)
{
    const dl_warm_launch *x = a, *y = b;
    if (x->start != y->start) return x->start < y->start ? -1 : 1;
    return x->number < y->number ? -1 : x->number > y->number;
}

static bool make_room(dl_warm_up *w)
{
    if (w->n < w->cap) return true;
    const size_t cap = w->cap ? w->cap * 2 : 8;
    dl_filter_skip *skips = realloc(w->skips, cap * sizeof *skips);
    if (skips) w->skips = skips;
    uint32_t *left_out = realloc(w->left_out, cap * sizeof *left_out);
    if (left_out) w->left_out = left_out;
    if (!skips || !left_out) return false;
    w->cap = cap;
    return true;
}

bool dl_warm_up_add(dl_warm_up *w, uint32_t chip, dl_warm_launch *launches, size_t n, uint64_t first)
{
    uint32_t numbers = 0;
    for (size_t i = 0; i < n; i++)
        if (launches[i].number >= numbers) numbers = launches[i].number + 1;
    uint64_t *bits = calloc(numbers / 64 + 1, sizeof *bits);
    if (!bits || !make_room(w)) {
        free(bits);
        return false;
    }
    if (n) qsort(launches, n, sizeof *launches, by_start);
    const size_t warm = w->by_rule ? dl_warm_up_of(launches, n) : 0;
    size_t left_out = first < n ? (size_t)first : n;
    if (warm > left_out) left_out = warm;
    for (size_t i = 0; i < left_out; i++)
        bits[launches[i].number / 64] |= UINT64_C(1) << (launches[i].number % 64);
    w->left_out[w->n] = (uint32_t)warm;
    w->skips[w->n++] = (dl_filter_skip){chip, numbers, bits};
    return true;
}

devlog_status dl_warm_up_find(dl_warm_up *w, const dl_launches *launches, const dl_tables *t, uint64_t first,
                              devlog_error *err)
{
    dl_warm_launch *all = malloc((launches->count + (size_t)1) * sizeof *all);
    bool ok = all != NULL;
    for (uint32_t chip = 0; chip < t->n_chips && ok; chip++) {
        size_t n = 0;
        for (uint32_t i = 0; i < launches->count; i++) {
            const dl_launch *l = &launches->items[i];
            if (l->chip != chip) continue;
            const bool whole = l->first_fw_start != UINT64_MAX && l->last_fw_end >= l->first_fw_start;
            all[n++] = (dl_warm_launch){
                l->first_fw_start, whole ? l->last_fw_end - l->first_fw_start : DL_WARM_UP_NONE, l->number};
        }
        if (n) ok = dl_warm_up_add(w, t->chips[chip].id, all, n, first);
    }
    free(all);
    return ok ? DEVLOG_OK : dl_fail(err, DEVLOG_ERR_MEMORY, "out of memory");
}

void dl_warm_up_describe(const dl_warm_up *w, const char *before, dl_str *out)
{
    for (size_t i = 0; i < w->n && w->by_rule; i++) {
        const uint32_t chip = w->skips[i].chip, n = w->left_out[i];
        if (n)
            dl_str_fmt(out, "%schip %u: its first %u launches are warm-up and left out\n", before, chip, n);
        else
            dl_str_fmt(out, "%schip %u: no warm-up is to be seen, and no launch is left out for it\n", before,
                       chip);
    }
}

void dl_warm_up_free(dl_warm_up *w)
{
    for (size_t i = 0; i < w->n; i++)
        free(w->skips[i].bits);
    free(w->skips);
    free(w->left_out);
    *w = (dl_warm_up){0};
}
