/* The NoC over the launches of a log: what each barrier waited for, and who moved what. See causes_sums.h. */
#include <stdlib.h>

#include "answers/causes_parts.h"

/* The innermost zone of a lane at a time. */
static uint32_t zone_at(const causes_parts *p, uint32_t lane, uint64_t time)
{
    const size_t at = causes_part_at(p, lane, time);
    return at < p->first[lane + 1] ? p->items[at].site : DL_NONE;
}

static causes_noc_sum *sum_of(causes_sums *s, const causes_noc_sum *key)
{
    for (size_t i = s->n_noc; i-- > 0;) {
        causes_noc_sum *x = &s->noc[i];
        if (x->risc == key->risc && x->site == key->site && x->last == key->last &&
            x->last_bytes == key->last_bytes)
            return x;
    }
    if (s->n_noc == s->cap_noc) {
        const size_t cap = s->cap_noc ? s->cap_noc * 2 : 32;
        causes_noc_sum *grown = realloc(s->noc, cap * sizeof *grown);
        if (!grown) return NULL;
        s->noc = grown;
        s->cap_noc = cap;
    }
    s->noc[s->n_noc] = *key;
    return &s->noc[s->n_noc++];
}

static bool add_transfer(causes_sums *s, const causes_parts *parts, uint32_t lane, uint32_t stream,
                         const causes_zone *z)
{
    const causes_flow key = {
        .stream = stream, .site = zone_at(parts, lane, z->start), .tile = causes_transfer_tile(z)};
    const uint32_t numbers[] = {key.stream, key.site, key.tile}, bytes = causes_transfer_bytes(z);
    if (!s->flow_keys) s->flow_keys = dl_intern_new(UINT32_MAX / 2, SIZE_MAX / 2);
    if (!s->flow_keys) return false;
    const uint32_t at = dl_intern_add(s->flow_keys, (const char *)numbers, sizeof numbers);
    if (at == DL_NO_STRING) return false;
    if (at >= s->cap_flows) {
        const size_t cap = (size_t)at * 2 + 64;
        causes_flow *grown = realloc(s->flows, cap * sizeof *grown);
        if (!grown) return false;
        s->flows = grown;
        s->cap_flows = cap;
    }
    causes_flow *to = &s->flows[at];
    if (at >= s->n_flows) {
        *to = key;
        s->n_flows = (size_t)at + 1;
    }
    to->transfers++;
    to->bytes += bytes;
    to->uneven += causes_transfer_address(z) % CAUSES_UNIT || bytes % CAUSES_UNIT;
    return true;
}

bool causes_sum_noc(causes_sums *s, const causes_parts *parts, const causes_launch *l)
{
    for (uint32_t lane = 0; lane < l->causes->graph->n_lanes; lane++) {
        const causes_risc *r = &l->riscs[lane];
        uint64_t transfers = 0, bytes = 0;
        const causes_zone *last = NULL;
        for (size_t i = 0; i < r->n; i++) {
            const causes_zone *z = &r->zones[i];
            if (z->record == CAUSES_READS || z->record == CAUSES_WRITES) {
                if (!add_transfer(s, parts, lane, r->stream, z)) return false;
                last = z;
                transfers++;
                bytes += causes_transfer_bytes(z);
            }
            if (z->record != CAUSES_NOC_WAITS) continue;
            const causes_noc_sum key = {.risc = dl_decode_tables(s->decode)->streams[r->stream].risc_name,
                                        .site = zone_at(parts, lane, z->start),
                                        .last = last ? last->record : CAUSES_PLAIN,
                                        .last_bytes = last ? causes_transfer_bytes(last) : 0,
                                        .tile = last ? causes_transfer_tile(last) : 0};
            causes_noc_sum *to = sum_of(s, &key);
            if (!to) return false;
            const uint64_t cycles = z->end - z->start;
            to->several_tiles |= to->tile != key.tile;
            to->barriers++;
            to->transfers += transfers;
            to->bytes += bytes;
            to->cycles += cycles;
            if (cycles > to->longest) to->longest = cycles;
            transfers = bytes = 0;
            last = NULL;
        }
    }
    return true;
}
