/* Which launches of a chip come first, and how many of them are warm-up: come before its launches take the time that they
 * keep taking. Order is that of their first firmware start, whatever order the log has. Not for leaving them out
 * (decode/filter.h).
 *
 * The rule is MSER (White 1997, "An effective truncation heuristic"), which has no parameter: of all places in the
 * first half of the launches, warm-up ends where the mean duration of the launches behind it is known best, that is
 * where their variance divided by their number is least; the first place of several. A duration is the time from the
 * first firmware start to the last firmware end. Where the best place is the end of the first half, durations have not
 * settled, and nothing is left out; nor of fewer than DL_WARM_UP_FEWEST. */
#ifndef DEVLOG_DECODE_WARM_UP_H
#define DEVLOG_DECODE_WARM_UP_H

#include "decode/filter.h"
#include "decode/pair/launch.h"

enum { DL_WARM_UP_FEWEST = 4 };

#define DL_WARM_UP_NONE UINT64_MAX /* a duration that is not known */

typedef struct dl_warm_launch {
    uint64_t start, duration;
    uint32_t number; /* as dl_launch has it */
} dl_warm_launch;

typedef struct dl_warm_up {
    dl_filter_skip *skips; /* for each chip that has launches */
    uint32_t *left_out;    /* how many of each */
    size_t n, cap;
    bool by_rule;
} dl_warm_up;

/* How many of n launches, in order of time, are warm-up. */
size_t dl_warm_up_of(const dl_warm_launch *launches, size_t n);
/* Adds a chip, whose launches it puts in order: the first `first` of them, and, with w->by_rule, what is warm-up. False:
 * out of memory. */
bool dl_warm_up_add(dl_warm_up *w, uint32_t chip, dl_warm_launch *launches, size_t n, uint64_t first);
/* All chips of decoded launches. */
devlog_status dl_warm_up_find(dl_warm_up *w, const dl_launches *launches, const dl_tables *t, uint64_t first,
                              devlog_error *err);
/* A line for each chip, for a person; none when the rule was not asked for. */
void dl_warm_up_describe(const dl_warm_up *w, const char *before, dl_str *out);
void dl_warm_up_free(dl_warm_up *w);

#endif
