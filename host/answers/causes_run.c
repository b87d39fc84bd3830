/* The path of a run through its launches. See causes_run.h. */
#include "answers/causes_run.h"

#include <stdlib.h>

static int by_start(const void *a, const void *b)
{
    const causes_run_launch *x = a, *y = b;
    if (x->start != y->start) return x->start < y->start ? -1 : 1;
    if (x->end != y->end) return x->end < y->end ? -1 : 1;
    if (x->chip != y->chip) return x->chip < y->chip ? -1 : 1;
    return x->number < y->number ? -1 : x->number > y->number;
}

static bool calls_known(const causes_run_launch *l)
{
    return l->call_start != CAUSES_RUN_UNKNOWN && l->call_end != CAUSES_RUN_UNKNOWN;
}

/* Every call is known, and each began when the one before had returned. */
static bool is_one_lane(const causes_run *r)
{
    for (size_t i = 0; i < r->n; i++) {
        if (!calls_known(&r->launches[i])) return false;
        if (i && r->launches[i].call_start < r->launches[i - 1].call_end) return false;
    }
    return r->n > 0;
}

/* The launch that ended last of those of its lane that had ended when it started: launches of a lane may overlap, by a little. */
static void find_before(causes_run *r)
{
    enum { NEAR = 4096, DEEP = 64 }; /* launches that are looked at, and those of the lane among them */
    for (size_t i = 0; i < r->n; i++) {
        causes_run_launch *l = &r->launches[i];
        l->before = SIZE_MAX;
        for (size_t k = i, near = 0, deep = 0; k-- > 0 && near < NEAR && deep < DEEP; near++) {
            const causes_run_launch *b = &r->launches[k];
            if (!r->by_host && b->chip != l->chip) continue;
            deep++;
            if (b->end <= l->start && (l->before == SIZE_MAX || b->end > r->launches[l->before].end))
                l->before = k;
        }
    }
}

/* The latest end behind each launch, itself among them. */
static void find_slack(causes_run *r, int64_t *latest)
{
    for (size_t i = 0; i < r->n; i++)
        latest[i] = r->launches[i].end;
    for (size_t i = r->n; i-- > 0;) {
        causes_run_launch *l = &r->launches[i];
        if (l->before != SIZE_MAX && latest[i] > latest[l->before]) latest[l->before] = latest[i];
        l->slack = r->end - latest[i];
    }
}

/* What is not behind a launch of the path ends at the latest then: of the launches that branch off before it, or from elsewhere. */
static void find_path(causes_run *r, const int64_t *latest)
{
    size_t last = SIZE_MAX;
    for (size_t i = 0; i < r->n; i++)
        if (last == SIZE_MAX || r->launches[i].end > r->launches[last].end) last = i;
    for (size_t i = last; i != SIZE_MAX; i = r->launches[i].before)
        r->launches[i].on_path = true;
    /* From the run's start along the path: the latest end that goes without launch i. */
    int64_t other = r->start;
    for (size_t i = 0; i < r->n; i++) {
        const causes_run_launch *l = &r->launches[i];
        if (!l->on_path && l->before == SIZE_MAX && latest[i] > other) other = latest[i];
    }
    for (size_t i = 0; i < r->n; i++) {
        causes_run_launch *l = &r->launches[i];
        if (!l->on_path) continue;
        l->most = r->end - other;
        /* Behind this one the path may be left by launches that wait for it. */
        if (l->end > other) other = l->end;
        for (size_t k = i + 1; k < r->n; k++)
            if (r->launches[k].before == i && !r->launches[k].on_path && latest[k] > other) other = latest[k];
    }
}

devlog_status causes_run_make(causes_run *r, causes_run_launch *launches, size_t n, devlog_error *err)
{
    int64_t *latest = malloc((n + 1) * sizeof *latest);
    *r = (causes_run){.launches = launches, .n = n};
    if (!latest) return dl_fail(err, DEVLOG_ERR_MEMORY, "out of memory");
    if (n > 1) qsort(launches, n, sizeof *launches, by_start);
    r->by_host = is_one_lane(r);
    for (size_t i = 0; i < n; i++) {
        launches[i].on_path = false;
        launches[i].most = 0;
        if (i == 0 || launches[i].start < r->start) r->start = launches[i].start;
        if (i == 0 || launches[i].end > r->end) r->end = launches[i].end;
    }
    find_before(r);
    find_slack(r, latest);
    find_path(r, latest);
    free(latest);
    return DEVLOG_OK;
}

causes_run_gap causes_run_gap_of(const causes_run *r, size_t i)
{
    const causes_run_launch *l = &r->launches[i];
    if (l->before == SIZE_MAX) return (causes_run_gap){.whole = l->start - r->start};
    const causes_run_launch *b = &r->launches[l->before];
    causes_run_gap g = {.whole = l->start - b->end};
    /* The clocks of chip and host agree to a bound only: what comes out in another order says nothing. */
    if (!calls_known(l) || !calls_known(b) || b->call_end < b->end || l->call_start < b->call_end ||
        l->start < l->call_start)
        return g;
    const bool pulled = b->pull_start != CAUSES_RUN_UNKNOWN && b->pull_end != CAUSES_RUN_UNKNOWN &&
                        b->pull_start >= b->end && b->pull_end <= l->call_start &&
                        b->pull_start <= b->pull_end;
    /* The call may have pulled before it returned. */
    g.known = true;
    g.pull = pulled ? b->pull_end - b->pull_start : 0;
    g.back = pulled && b->pull_start < b->call_end ? b->pull_start - b->end : b->call_end - b->end;
    g.forward = l->start - l->call_start;
    g.host = g.whole - g.back - g.pull - g.forward;
    return g;
}
