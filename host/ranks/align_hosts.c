/* Lanes by the clocks of their hosts: counter of the chip, CLOCK_MONOTONIC of its host, that of the root's host. It is for lanes that no
 * collective op aligns; those that are aligned are compared with it. Not for how hosts are known (host_way.c). */
#include <math.h>
#include <stdlib.h>

#include "ranks/host_clocks.h"

static devlog_status no_memory(devlog_error *err)
{
    return dl_fail(err, DEVLOG_ERR_MEMORY, "out of memory");
}

/* Why a lane's clock is not known beside its host's; NULL: it is. */
static const char *why_not(const host_clocks *h, const rank_lane *l)
{
    const dl_chip_clock *c = dl_chip_clocks_of(&h->chips, l->chip);
    if (!h->any)
        return "there is no capture beside its report, and a report says nothing of the host's clock";
    if (!isfinite(l->mhz)) return "its report does not say how fast its clock is";
    if (!c) return "its capture is of other chips";
    if (h->simulated) return "it is simulated, in a time of its own";
    return c->fitted ? NULL : c->why;
}

/* When a lane's clock showed t, by its host's. False: nobody knows. */
static bool on_host(const host_clocks *h, const rank_lane *l, double t, host_moment *out, double *error)
{
    const double cycles = t * l->mhz / 1000;
    const dl_chip_clock *c = dl_chip_clocks_of(&h->chips, l->chip);
    double ns;
    if (l->why || !(cycles >= 0) || !(cycles < 0x1p63)) return false;
    if (!dl_chip_clocks_ns(&h->chips, l->chip, (uint64_t)(cycles + 0.5), &ns, error)) return false;
    /* Stamps of an op are of any of its cores. */
    *error += dl_chip_clock_core_residual(c) * 1000 / l->mhz;
    *out = (host_moment){(int64_t)h->chips.origin, ns};
    return isfinite(ns) && isfinite(*error);
}

/* The same by the root's host. *error: the bound; NAN: nobody knows how far off it is. */
static bool on_root(const ranks *r, const rank_lane *l, double t, host_moment *out, double *error)
{
    host_moment here;
    double of_chip;
    if (!on_host(&r->hosts->clocks[l->rank], l, t, &here, &of_chip)) return false;
    if (!host_ways_at(r->hosts, l->rank, here, out, error)) return false;
    *error += of_chip;
    return true;
}

/* What the lane's clock showed at a moment of its host: straight lines that are nearly one are met in a few steps. */
static bool from_host(const ranks *r, const rank_lane *l, host_moment at, double *t, double *error)
{
    enum { STEPS = 12 };
    const host_clocks *h = &r->hosts->clocks[l->rank];
    const dl_chip_clock *c = dl_chip_clocks_of(&h->chips, l->chip);
    if (l->why || !c || !c->fitted) return false;
    double guess =
        ((double)c->fit.cycles + (host_since(at, (int64_t)c->fit.ticks)) * c->fit.rate) * 1000 / l->mhz;
    host_moment there;
    for (int i = 0; i < STEPS; i++) {
        if (!on_host(h, l, guess, &there, error)) return false;
        const double off = host_since(at, there.base) - there.rel;
        guess += off;
        if (fabs(off) * l->mhz < 1000) break; /* within a cycle, which is as fine as it gets */
    }
    if (!on_host(h, l, guess, &there, error)) return false;
    *error += 2 * (fabs(host_since(at, there.base) - there.rel) + 1000 / l->mhz);
    *t = guess;
    return true;
}

/* A time of a lane on the clock of all. */
static bool on_common(const ranks *r, const rank_lane *l, double t, double *out, double *error)
{
    host_moment at;
    double of_reference;
    if (!on_root(r, l, t, &at, error)) return false;
    if (r->by_hosts) {
        *out = host_since(at, (int64_t)r->hosts->clocks[r->hosts->root].chips.origin);
        return true;
    }
    if (!from_host(r, &r->lanes[r->reference], at, out, &of_reference)) return false;
    *error += of_reference;
    return true;
}

/* Puts a lane's items on the clock of all. */
static void lay(ranks *r, rank_lane *l)
{
    double worst = 0, first = NAN, first_common = NAN, last = NAN, last_common = NAN;
    bool unknown = false;
    /* All of it or nothing: a lane has one clock. */
    for (int store = 0; store < 2; store++)
        for (size_t i = l->first; i < l->first + l->n; i++) {
            rank_item *item = &r->ops_of_lanes[i];
            double *times[] = {&item->start, &item->end};
            for (int k = 0; k < 2; k++) {
                double common, error;
                if (!isfinite(*times[k])) continue;
                if (!on_common(r, l, *times[k], &common, &error)) return;
                unknown |= isnan(error);
                if (error > worst) worst = error;
                if (!store && isnan(first)) {
                    first = *times[k];
                    first_common = common;
                }
                if (!store) {
                    last = *times[k];
                    last_common = common;
                }
                if (store) *times[k] = common;
            }
            item->impossible = false;
        }
    if (isnan(first)) return;
    l->way = r->hosts->way[l->rank] == RANKS_WAY_NONE ? RANKS_WAY_SAME : r->hosts->way[l->rank];
    l->aligned = l->common = true;
    l->drift = last > first ? (last_common - first_common) / (last - first) - 1 : 0;
    l->offset = first_common - first - l->drift * first;
    l->residual = l->bound = unknown ? NAN : worst;
    l->anchors = 0;
}

/* Holds what collective ops say of a lane against what its host's clock says. */
static void compare(const ranks *r, rank_lane *l)
{
    enum { TIMES = 64 };
    const rank_lane *reference = &r->lanes[r->reference];
    const size_t step = l->n / TIMES + 1;
    bool any = false, unknown = false;
    double worst = -INFINITY;
    for (size_t i = l->first; i < l->first + l->n; i += step) {
        const double t = r->ops_of_lanes[i].end;
        host_moment by_host, by_ops;
        double error, of_reference;
        if (!isfinite(t) || !on_root(r, l, t, &by_host, &error) ||
            !on_host(&r->hosts->clocks[reference->rank], reference, ranks_common(l, t), &by_ops,
                     &of_reference))
            continue;
        const double apart = host_since(by_ops, by_host.base) - by_host.rel,
                     most = error + of_reference + l->bound + 1000 / reference->mhz;
        any = true;
        unknown |= isnan(most);
        if (!unknown && fabs(apart) - most <= worst) continue;
        worst = fabs(apart) - most;
        l->apart = apart;
        l->apart_most = most;
    }
    if (!any) return;
    l->other = r->hosts->way[l->rank] == RANKS_WAY_NONE ? RANKS_WAY_SAME : r->hosts->way[l->rank];
    if (unknown) l->apart_most = NAN;
}

static devlog_status read_all(ranks *r, bool *any, devlog_error *err)
{
    devlog_status status = DEVLOG_OK;
    r->hosts = calloc(1, sizeof *r->hosts);
    if (r->hosts) r->hosts->clocks = calloc(r->n + 1, sizeof *r->hosts->clocks);
    if (!r->hosts || !r->hosts->clocks) return no_memory(err);
    for (size_t i = 0; i < r->n && !status; i++) {
        status = host_clocks_read(&r->hosts->clocks[i], r->items[i].folder, err);
        *any |= r->hosts->clocks[i].any || r->hosts->clocks[i].boot[0];
    }
    for (size_t i = 0; i < r->n_lanes && !status; i++)
        r->lanes[i].why = why_not(&r->hosts->clocks[r->lanes[i].rank], &r->lanes[i]);
    return status;
}

/* The lane whose rank's host gives the clock of all: the first that is known by it. Else that of collective ops. */
static size_t choose(const ranks *r)
{
    for (size_t i = 0; i < r->n_lanes && r->by_hosts; i++)
        if (!r->lanes[i].why) return i;
    return r->reference;
}

devlog_status ranks_align_hosts(ranks *r, devlog_error *err)
{
    size_t aligned = 0, known = 0;
    bool any = false;
    devlog_status status = read_all(r, &any, err);
    if (status || !any || !r->n_lanes) return status;
    for (size_t i = 0; i < r->n_lanes; i++) {
        aligned += r->lanes[i].aligned;
        known += !r->lanes[i].why;
    }
    /* One lane that is aligned with itself says nothing. */
    r->by_hosts = aligned < 2 && known > 1;
    if (r->by_hosts) {
        r->reference = choose(r);
        for (size_t i = 0; i < r->n_lanes; i++) {
            r->lanes[i].aligned = false;
            r->lanes[i].way = RANKS_WAY_NONE;
        }
    }
    status = host_ways_find(r->hosts, r, r->lanes[r->reference].rank, err);
    for (size_t i = 0; i < r->n_lanes && !status; i++) {
        rank_lane *l = &r->lanes[i];
        if (l->why) continue;
        if (!l->aligned)
            lay(r, l);
        else if (i != r->reference)
            compare(r, l);
        if (!l->aligned || (l->aligned && !l->common && i != r->reference && !l->other))
            l->why = !r->hosts->reached[l->rank] ? "nothing that its host and the others both saw"
                     : r->by_hosts               ? "an op's time is none that its clock could show"
                     : r->lanes[r->reference].why != NULL
                         ? "the lane that the others are laid beside has no such clock"
                         : "an op's time is none that its clock could show";
    }
    return status;
}
