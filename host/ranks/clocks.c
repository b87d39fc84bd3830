/* How well the ranks' clocks are known, and by what: a table, and what of it belongs to the verdict. Not for how they are found (align.c,
 * align_hosts.c). */
#include <math.h>
#include <stdio.h>

#include "ranks/host_clocks.h"

#define COLUMNS(a) (a), sizeof(a) / sizeof((a)[0])

/* The lane of a rank that is known least. NULL: it has none. */
static const rank_lane *worst_of(const ranks *r, size_t rank)
{
    const rank_lane *worst = NULL;
    for (size_t k = 0; k < r->n_lanes; k++) {
        const rank_lane *l = &r->lanes[k];
        if (l->rank != rank) continue;
        const bool worse = !worst || (worst->aligned && (!l->aligned || !(l->residual <= worst->residual)));
        if (worse) worst = l;
    }
    return worst;
}

/* The lane of a rank whose two ways differ most, against by how much they may. NULL: none has two. */
static const rank_lane *most_apart(const ranks *r, size_t rank)
{
    const rank_lane *most = NULL;
    for (size_t k = 0; k < r->n_lanes; k++) {
        const rank_lane *l = &r->lanes[k];
        if (l->rank != rank || !l->other) continue;
        if (!most || fabs(l->apart) - l->apart_most > fabs(most->apart) - most->apart_most) most = l;
    }
    return most;
}

static bool contradicts(const rank_lane *l)
{
    return l->other && fabs(l->apart) > l->apart_most; /* NAN: nobody knows */
}

/* By how much the host of a rank is ahead of the root's. False: nobody knows. */
static bool host_ahead(const ranks *r, size_t rank, double *ahead, double *error)
{
    const host_clocks *h = &r->hosts->clocks[rank];
    host_moment at = {0}, there;
    if (h->n_readings)
        at.base = (int64_t)h->at;
    else if (h->n)
        at.base = (int64_t)h->items[0].stamps.sent;
    else if (h->chips.any)
        at.base = (int64_t)h->chips.origin;
    else
        return false;
    if (!host_ways_at(r->hosts, (uint32_t)rank, at, &there, error)) return false;
    *ahead = -host_since(there, at.base);
    return true;
}

void ranks_answer_doubts_of_clocks(answer *a, answer_section *f, const ranks *r)
{
    const rank_lane *worst = NULL;
    double n = 0;
    for (size_t i = 0; i < r->n_lanes; i++) {
        const rank_lane *l = &r->lanes[i];
        n += contradicts(l);
        if (contradicts(l) &&
            (!worst || fabs(l->apart) - l->apart_most > fabs(worst->apart) - worst->apart_most))
            worst = l;
    }
    if (worst)
        answer_fact(
            a, f, "clocks_disagree", "clocks disagree", ANSWER_COUNT, n,
            answer_keepf(
                a,
                "%s lies %.3f us elsewhere by %s between hosts than by collective ops, and both together can be "
                "%.3f us off: ends of collective ops lie apart in the same way each time, or a clock was set",
                ranks_lane_name(a, r, worst), fabs(worst->apart) / 1000, ranks_way_name(worst->other),
                worst->apart_most / 1000));
    const struct host_ways *w = r->hosts;
    if (!w) return;
    if (w->disagree)
        answer_fact(a, f, "hosts_disagree", "hosts' clocks disagree", ANSWER_COUNT, (double)w->disagree,
                    answer_keepf(a, "%s", w->disagrees));
    if (w->jumps)
        answer_fact(
            a, f, "exchanges_contradict", "exchanges contradict", ANSWER_COUNT, (double)w->jumps,
            answer_keepf(
                a,
                "those of ranks %u and %u%s contradict one another: a clock was set while they ran; not used",
                w->jumps_a, w->jumps_b, w->jumps > 1 ? " and others" : ""));
    if (w->absent)
        answer_fact(a, f, "exchanges_absent", "exchanges with nobody", ANSWER_COUNT, (double)w->absent,
                    answer_keepf(a, "with rank %u%s, of which there is no folder here", w->absent_1,
                                 w->absent > 1 ? " and others" : ""));
    if (w->impossible)
        answer_fact(a, f, "clocks_impossible", "stamps that cannot be", ANSWER_COUNT, (double)w->impossible,
                    "of exchanges and of CLOCK_REALTIME: times go backwards; not used");
    if (w->foreign)
        answer_fact(a, f, "exchanges_foreign", "of another boot", ANSWER_COUNT, (double)w->foreign,
                    "exchanges of an earlier run, or with a rank that is not of this one; not used");
    if (w->set)
        answer_fact(a, f, "realtime_set", "CLOCK_REALTIME set", ANSWER_COUNT, (double)w->set,
                    "ranks on whose hosts it was set while they ran");
}

static void add_lane(answer_section *t, const ranks *r, size_t rank)
{
    const rank_lane *l = worst_of(r, rank), *two = most_apart(r, rank);
    const bool aligned = l && l->aligned;
    answer_number(t, r->items[rank].number);
    answer_text(t, aligned ? ranks_way_name(l->way) : NULL);
    answer_number(t, aligned ? l->residual : NAN);
    answer_number(t, aligned ? l->bound : NAN);
    answer_number(t, aligned ? l->offset : NAN);
    answer_number(t, aligned ? l->drift : NAN);
    answer_text(t, two ? ranks_way_name(two->other) : NULL);
    answer_number(t, two ? fabs(two->apart) : NAN);
    answer_number(t, two ? two->apart_most : NAN);
}

static void add_host(answer_section *t, const ranks *r, size_t rank)
{
    const struct host_ways *w = r->hosts;
    double ahead = NAN, error = NAN;
    if (w && w->reached && host_ahead(r, rank, &ahead, &error))
        answer_text(t, rank == w->root ? "the reference" : ranks_way_name(w->way[rank]));
    else
        answer_text(t, NULL);
    answer_number(t, ahead);
    answer_number(t, error);
}

void ranks_answer_clocks(answer *a, const ranks *r, const ranks_wishes *wishes)
{
    static const answer_column columns[] = {
        {"rank", "rank", ANSWER_COUNT, 0},
        {"way", "laid by", ANSWER_TEXT, 0},
        {"residual", "known to", ANSWER_TIME, 0},
        {"bound", "in any case", ANSWER_TIME, 2},
        {"offset", "clock", ANSWER_TIME, ANSWER_HIDDEN},
        {"drift", "drift", ANSWER_RATIO, ANSWER_HIDDEN},
        {"other", "also by", ANSWER_TEXT, 1},
        {"apart", "apart", ANSWER_TIME, 1},
        {"apart_most", "may be", ANSWER_TIME, 1},
        {"host_way", "host's by", ANSWER_TEXT, 3},
        {"host_ahead", "host ahead", ANSWER_TIME, ANSWER_HIDDEN},
        {"host_residual", "host's to", ANSWER_TIME, 3},
        {"why", "why not by hosts", ANSWER_TEXT, ANSWER_HIDDEN},
    };
    answer_section *t = answer_table(a, "clocks", "CLOCKS", COLUMNS(columns));
    const char *why = NULL;
    size_t without = 0, first = 0;
    for (size_t i = 0; i < r->n; i++) {
        const rank_lane *l = worst_of(r, i);
        add_lane(t, r, i);
        add_host(t, r, i);
        answer_text(t, l ? l->why : NULL);
        if (!l || !l->why) continue;
        if (!without++) {
            why = l->why;
            first = i;
        }
    }
    answer_top(t, wishes->top);
    answer_note(
        a, t,
        "Of each rank the chip that is known least. laid by: ends of collective ops, else the clock of its host (one host: it is the "
        "same clock; exchanges: with other ranks; CLOCK_REALTIME: by the kernel's word, which may be wrong); nothing: it is not "
        "laid. also by: the second way, how far it lies apart from the first, and how far it may. host's: the host's clock alone, without the chip's.");
    if (without)
        answer_note(a, t,
                    answer_keepf(a, "The clocks of hosts say nothing of %zu of %zu ranks. Rank %u: %s.",
                                 without, r->n, r->items[first].number, why));
}
