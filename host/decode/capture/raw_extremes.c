/* The least and the greatest passes of sums: in tables only those of all records of a site are, so of one record they are told where
 * they are beyond those of the records before. */
#include <stdlib.h>

#include "base/intern.h"
#include "decode/capture/raw_marks.h"

typedef struct raw_extreme {
    uint32_t stream, site, least, greatest;
    bool used;
} raw_extreme;

/* Where those of a stream and site are, or will be. */
static raw_extreme *place_of(raw_extreme *slots, uint32_t n_slots, uint32_t stream, uint32_t site)
{
    uint32_t at = (uint32_t)dl_hash_u64((uint64_t)stream << 32 | site) & (n_slots - 1);
    while (slots[at].used && (slots[at].stream != stream || slots[at].site != site))
        at = (at + 1) & (n_slots - 1);
    return &slots[at];
}

static bool grow(raw_extremes *all)
{
    const uint32_t n_slots = all->n_slots ? all->n_slots * 2 : 64;
    raw_extreme *slots = calloc(n_slots, sizeof *slots);
    if (!slots) return false;
    for (uint32_t i = 0; i < all->n_slots; i++)
        if (all->slots[i].used)
            *place_of(slots, n_slots, all->slots[i].stream, all->slots[i].site) = all->slots[i];
    free(all->slots);
    all->slots = slots;
    all->n_slots = n_slots;
    return true;
}

bool raw_extremes_widen(raw_extremes *all, uint32_t stream, uint32_t site, uint32_t least, uint32_t greatest)
{
    if (2 * (all->n + 1) > all->n_slots && !grow(all)) return true; /* without, all are told */
    raw_extreme *e = place_of(all->slots, all->n_slots, stream, site);
    if (!e->used) {
        all->n++;
        *e = (raw_extreme){stream, site, least, greatest, true};
        return true;
    }
    if (least >= e->least && greatest <= e->greatest) return false;
    if (least < e->least) e->least = least;
    if (greatest > e->greatest) e->greatest = greatest;
    return true;
}

void raw_extremes_free(raw_extremes *all)
{
    free(all->slots);
}
