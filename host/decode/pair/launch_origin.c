/* Launches whose samples stayed where they were decoded: which launch here is which one there. */
#include "decode/pair/launch_internal.h"

#include <stdlib.h>

static bool add_origin(dl_launches *l, const dl_launch_origin *o)
{
    if (l->n_origins == l->cap_origins) {
        const uint32_t cap = l->cap_origins ? l->cap_origins * 2 : 4;
        dl_launch_origin *grown = realloc(l->origins, cap * sizeof *grown);
        if (!grown) return false;
        l->origins = grown;
        l->cap_origins = cap;
    }
    l->origins[l->n_origins++] = *o;
    return true;
}

bool launches_absorb_origins(dl_launches *l, const dl_launches *part, const uint32_t *map)
{
    for (uint32_t k = 0; k < part->n_origins; k++) {
        const dl_launch_origin *o = &part->origins[k];
        const uint32_t *here = map + o->launch;
        for (uint32_t from = 0, to; from < o->n; from = to) {
            for (to = from + 1; to < o->n && here[to] == here[to - 1] + 1; to++)
                ;
            const dl_launch_origin one = {o->part, o->first + from, to - from, here[from]};
            if (!add_origin(l, &one)) return false;
        }
    }
    return true;
}

void launches_wire_origins(dl_launches *l, dl_wire *w)
{
    const dl_launch_origin all = {.part = w->part, .n = l->count};
    const bool stay = w->leaves == DL_WIRE_KEPT && !dl_wire_reads(w);
    uint32_t n = stay ? 1 : l->n_origins;
    dl_wire_count(w, &n, UINT32_MAX, 4);
    for (uint32_t i = 0; i < n && !w->bad; i++) {
        dl_launch_origin o = dl_wire_reads(w) ? (dl_launch_origin){0} : stay ? all : l->origins[i];
        dl_wire_u32(w, &o.part);
        dl_wire_u32(w, &o.first);
        dl_wire_below(w, &o.launch, l->count + 1);
        dl_wire_below(w, &o.n, l->count - o.launch + 1);
        if (o.n > UINT32_MAX - o.first) w->bad = true;
        if (dl_wire_reads(w) && !w->bad && !add_origin(l, &o)) w->bad = true;
    }
}
