/* The markers' own cost: how many cycles of a zone were spent on recording. A marker takes its stamp at one
 * moment of its run, so between the stamps of two markers of a RISC lies the cost of one of them and of all
 * markers between. */
#include <stdlib.h>
#include <string.h>

#include "decode/pair_internal.h"

devlog_status dl_pair_costs(dl_pair *p, uint32_t stream, const uint32_t costs[DL_COSTS], devlog_error *err)
{
    static const uint32_t unknown[DL_COSTS];
    stream_state *s = dl_pair_stream(p, stream);
    if (!s) return dl_fail(err, DEVLOG_ERR_MEMORY, "out of memory while pairing markers");
    if (memcmp(costs, unknown, sizeof unknown) == 0) {
        free(s->costs);
        s->costs = NULL;
        return DEVLOG_OK;
    }
    if (!s->costs) s->costs = malloc(sizeof unknown);
    if (!s->costs) return dl_fail(err, DEVLOG_ERR_MEMORY, "out of memory while pairing markers");
    memcpy(s->costs, costs, sizeof unknown);
    s->shape = NULL; /* shapes know nothing of costs */
    dl_losses *l = p->losses;
    l->cost_known = true;
    for (int i = 0; i < DL_COSTS; i++)
        if (costs[i] > l->cost_sixteenths[i]) l->cost_sixteenths[i] = costs[i];
    return DEVLOG_OK;
}

void dl_pair_spend(stream_state *s, const dl_row *row)
{
    bool start = row->type == DL_ROW_ZONE_START;
    switch (row->cost) {
    case DL_COST_NONE: return;
    case DL_COST_STALL:
        if (!start) s->spent += (row->time - s->stall_start) * 16;
        s->stall_start = row->time;
        return;
    case DEVLOG_KIND_COMPLETE: /* what its record shows of itself, and the rest behind its end */
        s->spent += start ? s->costs[0] : s->costs[DEVLOG_KIND_COMPLETE] - s->costs[0];
        return;
    default: s->spent += s->costs[row->cost % DL_COSTS];
    }
}

uint32_t dl_pair_own_cost(dl_pair *p, const stream_state *s, uint64_t spent_at_start, uint64_t cycles,
                          dl_role role)
{
    uint64_t cost = (s->spent - spent_at_start + 8) / 16;
    if (cost > cycles) cost = cycles; /* measured for the common case; one zone may have been quicker */
    if (role == DL_ROLE_KERNEL) {
        p->losses->cost_of_kernels += cost;
        p->losses->cycles_of_kernels += cycles;
    }
    return cost < UINT32_MAX ? (uint32_t)cost : UINT32_MAX;
}
