/* The markers' own cost: how many cycles of a zone were spent on recording. A marker takes its stamp at one
 * moment of its run, so between the stamps of two markers of a RISC lies the cost of one of them and of all
 * markers between. */
#include <stdlib.h>
#include <string.h>

#include "decode/pair/pair_internal.h"

void dl_pair_free_costs(stream_costs *c)
{
    if (c) free(c->between);
    free(c);
}

/* False: no memory. */
static bool set_costs(stream_costs *c, const dl_costs *costs)
{
    const uint64_t record = UINT64_C(1) << RECORDS_SHIFT;
    free(c->between);
    *c = (stream_costs){.given = *costs};
    c->given.between = NULL; /* is the sender's */
    if (costs->n_between && !(c->between = malloc(costs->n_between * sizeof *c->between))) {
        c->given.n_between = 0;
        return false;
    }
    if (costs->n_between) memcpy(c->between, costs->between, costs->n_between * sizeof *c->between);
    for (int end = 0; end < 2; end++) {
        for (int i = 1; i < DL_COSTS; i++)
            c->spent[end][i] = costs->marker[i] + record;
        /* These are with what was spent elsewhere. */
        c->spent[end][DEVLOG_KIND_SUM] = c->spent[end][DL_COST_STALL] = 0;
    }
    /* What the record of a complete zone shows of itself, and the rest behind its end. */
    c->spent[0][DEVLOG_KIND_COMPLETE] = costs->marker[0];
    c->spent[1][DEVLOG_KIND_COMPLETE] =
        (uint32_t)(costs->marker[DEVLOG_KIND_COMPLETE] - costs->marker[0]) + record;
    return true;
}

devlog_status dl_pair_costs(dl_pair *p, uint32_t stream, const dl_costs *costs, devlog_error *err)
{
    static const uint32_t unknown[DL_COSTS];
    stream_state *s = dl_pair_stream(p, stream);
    if (!s) return dl_pair_no_memory(err);
    if (memcmp(costs->marker, unknown, sizeof unknown) == 0) {
        dl_pair_free_costs(s->costs);
        s->costs = NULL;
        return DEVLOG_OK;
    }
    if (!s->costs) s->costs = calloc(1, sizeof *s->costs);
    if (!s->costs || !set_costs(s->costs, costs)) return dl_pair_no_memory(err);
    s->stalls = s->records = s->spent_on_records = 0;
    s->change_at = costs->n_between ? costs->between[0].at : UINT64_MAX;
    s->shape = NULL; /* shapes know nothing of costs */
    dl_losses *l = p->losses;
    l->cost_known = true;
    for (int i = 0; i < DL_COSTS; i++)
        if (costs->marker[i] > l->cost_sixteenths[i]) l->cost_sixteenths[i] = costs->marker[i];
    return DEVLOG_OK;
}

void dl_pair_spend_rarely(stream_state *s, const dl_kind *kind, uint64_t time)
{
    const bool end = kind->type == DL_ROW_ZONE_END;
    const uint8_t what = kind->cost % DL_COSTS;
    if (what == DL_COST_STALL) {
        if (end) s->stalls += (time - s->stall_start) * 16;
        if (end) s->spent += (time - s->stall_start) * 16;
        s->stall_start = time;
        return;
    }
    const uint64_t spent = dl_pair_price(s->costs, kind);
    s->spent += spent & SPENT;
    s->spent_on_records += spent & SPENT;
    s->records += spent >> RECORDS_SHIFT;
}

void dl_pair_spend_between(stream_state *s, uint64_t time)
{
    stream_costs *c = s->costs;
    for (; c->next < c->given.n_between && c->between[c->next].at <= time; c->next++) {
        s->spent += c->between[c->next].cost;
        s->stalls += c->between[c->next].cost; /* not once more at the end of the kernel */
    }
    s->change_at = c->next < c->given.n_between ? c->between[c->next].at : UINT64_MAX;
}

/* What the kernel spent where no record tells of it. Overwritten records cost what those cost that are kept.
 */
static void spend_elsewhere(stream_state *s)
{
    const dl_costs *c = &s->costs->given;
    s->spent += c->elsewhere > s->stalls ? c->elsewhere - s->stalls : 0;
    if (s->records) s->spent += c->overwritten * s->spent_on_records / s->records;
    s->stalls = 0;
}

/* More than was ever found in random programs (tests/sim/test_stated_cost.c). */
uint64_t dl_cost_off(uint64_t cost, uint64_t cycles, bool loads)
{
    enum { PART = 8, CYCLES = 12, LOADS = 10 };
    return cost / PART + CYCLES + (loads && cycles > cost ? (cycles - cost) / LOADS : 0);
}

uint32_t dl_pair_own_cost(dl_pair *p, stream_state *s, uint64_t spent_at_start, uint64_t cycles, dl_role role)
{
    if (role == DL_ROLE_KERNEL) spend_elsewhere(s);
    uint64_t cost = s->costs->given.unknown ? 0 : (s->spent - spent_at_start + 8) / 16;
    if (cost > cycles) cost = cycles; /* measured for the common case; one zone may have been quicker */
    if (role == DL_ROLE_KERNEL) {
        const bool unknown = s->costs->given.unknown;
        p->losses->kernels_unknown_cost += unknown;
        p->losses->kernels_most_cost += s->costs->given.most;
        if (!unknown) p->losses->cost_of_kernels += cost;
        if (!unknown) p->losses->cycles_of_kernels += cycles;
        if (!unknown && s->costs->given.priced)
            p->losses->cost_off_of_kernels += dl_cost_off(cost, cycles, s->costs->given.loads);
        p->losses->kernels_unpriced += !unknown && !s->costs->given.priced;
    }
    return cost < UINT32_MAX ? (uint32_t)cost : UINT32_MAX;
}
