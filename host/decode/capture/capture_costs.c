/* What recording took of a RISC in a launch. See capture_costs.h. */
#include "decode/capture/capture_costs.h"

#include <string.h>

static uint64_t stamp_of(const devlog_control *c, uint32_t id)
{
    return c->stamps[2 * (id - 1)] | (uint64_t)c->stamps[2 * (id - 1) + 1] << 32;
}

/* What only all records together show: whether the ring kept what it wrote over, and whether there is hardly anything
 * but markers, which then do not take what each takes among other code: then *most is set. */
static bool is_unknown(const dl_price_counts *counts, const dl_capture_risc *risc, const dl_elf *elf,
                       const dl_prices *prices, dl_costs *costs, bool *most)
{
    const devlog_control *c = &risc->control;
    const uint32_t both = 1u << (DEVLOG_ID_KERNEL_START - 1) | 1u << (DEVLOG_ID_KERNEL_END - 1);
    if ((c->marks & both) != both) return false;
    const dl_price_ring ring = {.from = stamp_of(c, DEVLOG_ID_KERNEL_START),
                                .until = stamp_of(c, DEVLOG_ID_KERNEL_END),
                                .overwritten = c->overwritten};
    const dl_price_sum kept = dl_price_of_records(prices, elf, costs, counts, risc->spans, risc->n_spans);
    uint64_t gone = kept.n ? ring.overwritten * kept.sum / kept.n : 0;
    if (prices) {
        if (!dl_price_of_ring(prices, elf, risc->spans, risc->n_spans, kept, ring, c, &gone)) return true;
        costs->elsewhere += gone;
        costs->overwritten = 0;
        gone = 0;
    }
    const uint64_t spent = kept.sum + costs->elsewhere + gone;
    *most = 2 * (spent / 16) > ring.until - ring.from;
    return *most;
}

dl_spent *capture_costs(const dl_price_counts *counts, const dl_capture_core *core,
                        const dl_capture_risc *risc, const capture_priced *of, dl_costs *out)
{
    const devlog_control *c = &risc->control;
    enum { KINDS = sizeof c->cost / sizeof c->cost[0], ARGUMENTS = DEVLOG_PRINT_MAX_ARGS };
    const dl_prices *prices = of->prices;
    const dl_elf *elf = of->elf;
    *out =
        (dl_costs){.overwritten = c->overwritten, .priced = prices != NULL, .loads = prices && prices->loads};
    uint64_t measured[KINDS];
    for (int i = 0; i < KINDS; i++)
        measured[i] = c->cost[i] < 1 << 20 ? c->cost[i] : 0; /* more is damage */
    for (int i = 0; i < KINDS; i++)
        out->marker[i] = i < (int)DEVLOG_COST_DROP ? (uint32_t)measured[i] : 0;
    for (uint32_t i = 0; i <= ARGUMENTS && measured[DEVLOG_KIND_PRINT]; i++)
        out->marker[DL_COST_TEXT + i] =
            (uint32_t)(measured[DEVLOG_KIND_PRINT] + i * measured[DEVLOG_COST_ARGUMENT]);
    static const uint32_t unknown[DL_COSTS];
    if (memcmp(out->marker, unknown, sizeof unknown) == 0) return NULL;
    uint64_t sites = 0;
    for (uint32_t i = 0; i < counts->n_codes; i++)
        sites += counts->codes[i] < DEVLOG_CODE_SPECIAL / 64 * 64;
    const dl_price_rest rest = {.dropped = c->dropped,
                                .sites = sites,
                                .complete = c->dropped_complete,
                                .passes = c->passes,
                                .drop = measured[DEVLOG_COST_DROP],
                                .pass = measured[DEVLOG_KIND_SUM]};
    out->elsewhere = UINT64_C(16) * c->stall_cycles;
    if (prices && (c->dropped || c->passes))
        out->elsewhere += dl_price_of_rest(prices, elf, risc->spans, risc->n_spans, rest);
    else
        out->elsewhere += rest.dropped * rest.drop + rest.passes * rest.pass;
    /* The sum does not go beyond its word; firmware of before did not measure drops; records that the kernel
     * has written over are not there to be counted. */
    out->unknown = c->passes == UINT32_MAX || (core->n_events && !prices) ||
                   (c->dropped && !measured[DEVLOG_COST_DROP]) || (c->damage & DEVLOG_DAMAGE_ANY) ||
                   DEVLOG_RESTARTS(c->damage) || is_unknown(counts, risc, elf, prices, out, &out->most);
    const dl_price_ring kernel = {.from = stamp_of(c, DEVLOG_ID_KERNEL_START),
                                  .until = stamp_of(c, DEVLOG_ID_KERNEL_END)};
    dl_spent *between = dl_price_moments(of->book, prices, elf, risc->spans, risc->n_spans, rest, kernel, c,
                                         of->ahead, &out->n_between);
    out->between = between;
    return between;
}
