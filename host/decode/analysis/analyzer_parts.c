/* Analyzer: a log in parts. What the analyses of a part have come to is put behind what those of all before it have, as if its
 * runs had come behind theirs. Not how it becomes bytes (analyzer_wire.c). */
#include <stdlib.h>
#include <string.h>

#include "decode/analysis/analyzer_internal.h"

/* Where a part's cores and cells are among those that it is put behind. */
typedef struct places {
    const dl_absorb_map *map;
    uint32_t *cores, *cells[2];
} places;

static bool is_time(uint64_t edge)
{
    return edge < EDGE_BOTH;
}

/* A slot that may not have been asked for yet. */
static uint64_t slot_at(const dl_analyzer *a, scope of, uint32_t index, uint16_t slot)
{
    const blocks *b = &a->blocks[of];
    return index < b->n ? block_at(b, index)[slot * TILE] : NO_STAMP;
}

const char *dl_analyzer_follows(dl_analyzer *a, dl_analyzer *part, const dl_absorb_map *map)
{
    if (!dl_analyzer_settle_all(a) || !dl_analyzer_settle_all(part)) return "there is no memory for analyses";
    for (size_t i = 0; i < a->list->n; i++) {
        const job *j = &a->jobs[i];
        if (j->plan != PLAN_ADJACENT) continue;
        for (uint32_t s = 0; s < map->from->n_streams; s++) {
            const uint64_t open = slot_at(a, SCOPE_STREAM, map->streams[s], j->first);
            const uint64_t edge = slot_at(part, SCOPE_STREAM, s, j->last);
            if (open == NO_STAMP || edge == NO_STAMP || edge == EDGE_START) continue;
            if (edge == EDGE_BOTH) return "a mark that is start and end of an analysis is behind the cut";
            if (edge < open) return "an analysis ends behind the cut before it has begun";
        }
    }
    return NULL;
}

static void places_free(places *p)
{
    free(p->cores);
    free(p->cells[0]);
    free(p->cells[1]);
}

/* False: out of memory. */
static bool find_places(dl_analyzer *a, dl_analyzer *part, places *p)
{
    if (!dl_analyzer_learn_streams(a) || !dl_analyzer_learn_streams(part)) return false;
    p->cores = malloc((part->cores.n + 1) * sizeof *p->cores);
    bool ok = p->cores != NULL;
    for (uint32_t i = 0, hint = 0; i < part->cores.n && ok; i++) {
        const cell *c = &part->cores.items[i];
        p->cores[i] = dl_analyzer_cell(&a->cores, c->launch, p->map->chips[c->leaf], &hint);
        ok = p->cores[i] != DL_NONE;
    }
    for (int kind = 0; kind < 2 && ok; kind++) {
        const cells *from = &part->cells[kind];
        const uint32_t *leaves = kind == LEAF_STREAM ? p->map->streams : p->cores;
        p->cells[kind] = malloc((from->n + 1) * sizeof *p->cells[kind]);
        ok = p->cells[kind] != NULL;
        for (uint32_t i = 0, hint = 0; i < from->n && ok; i++) {
            const cell *c = &from->items[i];
            p->cells[kind][i] =
                dl_analyzer_cell(&a->cells[kind], p->map->launches[c->launch], leaves[c->leaf], &hint);
            ok = p->cells[kind][i] != DL_NONE;
        }
    }
    return ok;
}

/* Numbers of the part in a scope, here. */
static const uint32_t *numbers_here(const places *p, scope of)
{
    switch (of) {
    case SCOPE_STREAM: return p->map->streams;
    case SCOPE_CORE: return p->cores;
    case SCOPE_CHIP: return p->map->chips;
    case SCOPE_LAUNCH_STREAM: return p->cells[LEAF_STREAM];
    case SCOPE_LAUNCH_CORE: return p->cells[LEAF_CORE];
    case SCOPE_LAUNCH:
    case SCOPES: break;
    }
    return p->map->launches;
}

uint32_t dl_analyzer_scope_n(const dl_analyzer *a, scope of)
{
    switch (of) {
    case SCOPE_STREAM: return a->n_streams;
    case SCOPE_CORE: return a->cores.n;
    case SCOPE_CHIP: return dl_decode_tables(a->decode)->n_chips;
    case SCOPE_LAUNCH_STREAM: return a->cells[LEAF_STREAM].n;
    case SCOPE_LAUNCH_CORE: return a->cells[LEAF_CORE].n;
    case SCOPE_LAUNCH:
    case SCOPES: break;
    }
    return dl_decode_launches(a->decode)->count;
}

uint32_t dl_analyzer_leaf_n(const dl_analyzer *a, const job *j)
{
    return dl_analyzer_scope_n(a, (scope)j->leaf);
}

/* Which slots of streams are no least ones: what is open, and the edge of it. */
static bool is_least(const dl_analyzer *a, scope of, uint32_t slot)
{
    for (size_t i = 0; of == SCOPE_STREAM && i < a->list->n; i++) {
        const job *j = &a->jobs[i];
        if (j->plan == PLAN_ADJACENT && (slot == j->first || slot == j->last)) return false;
    }
    return true;
}

/* What is open at the cut on a stream goes on with what the part has begun with. */
static bool take_open(job *j, uint32_t leaf, uint64_t *here, const uint64_t *from)
{
    const uint64_t edge = from[j->last * TILE], open = here[j->first * TILE];
    if (edge == NO_STAMP) return true; /* nothing of it is in the part */
    here[j->first * TILE] = from[j->first * TILE];
    if (here[j->last * TILE] == NO_STAMP) here[j->last * TILE] = edge;
    return open == NO_STAMP || !is_time(edge) || dl_analyzer_count(j, leaf, open, edge - open);
}

static bool take_slots(dl_analyzer *a, const dl_analyzer *part, scope of, const places *p)
{
    const blocks *b = &part->blocks[of];
    const uint32_t *numbers = numbers_here(p, of), n = dl_analyzer_scope_n(part, of);
    bool least[2 * DL_MAX_ANALYSES];
    for (uint32_t k = 0; k < b->width; k++)
        least[k] = is_least(a, of, k);
    for (uint32_t i = 0; i < b->n && i < n; i++) {
        const uint64_t *from = block_at(b, i);
        uint64_t *to = NULL;
        for (uint32_t k = 0; k < b->width; k++) {
            const uint64_t value = from[k * TILE];
            if (value == NO_STAMP) continue;
            if (!to && !(to = dl_analyzer_block(a, of, numbers[i]))) return false;
            if (least[k] && value < to[k * TILE]) to[k * TILE] = value;
        }
        for (size_t k = 0; to && of == SCOPE_STREAM && k < a->list->n; k++) {
            const stream_info *s = &a->streams[numbers[i]];
            job *j = &a->jobs[k];
            const uint32_t leaf = j->leaf == LEAF_STREAM ? numbers[i]
                                  : j->leaf == LEAF_CORE ? s->core
                                                         : s->chip;
            if (j->plan == PLAN_ADJACENT && !take_open(j, leaf, to, from)) return false;
        }
    }
    return true;
}

static bool take_accounts(job *j, const job *part, const uint32_t *leaves)
{
    for (uint32_t i = 0; i < part->n_accounts; i++) {
        const account *from = part->accounts[i];
        account *to = from ? dl_analyzer_account(j, leaves[i]) : NULL;
        dl_sample_walk w;
        uint64_t value;
        if (!from) continue;
        if (!to) return false;
        if (!dl_samples_count(&to->samples) || from->first_start < to->first_start) {
            to->first_start = from->first_start;
            to->first = from->first;
        }
        dl_sample_walk_start(&w, &from->samples);
        while (dl_sample_walk_next(&w, &value))
            if (!dl_samples_add(&to->samples, value)) return false;
    }
    return true;
}

/* Marks that are kept: each is what it is more than the one before it, and the first behind the cut is so, too. */
static bool take_kept(job *j, const job *part, const uint32_t *streams)
{
    for (uint32_t i = 0; i < part->n_kept; i++) {
        const kept *from = part->kept[i];
        kept *to = from ? dl_analyzer_kept(j, streams[i]) : NULL;
        dl_sample_walk w;
        uint64_t value;
        bool first = true;
        if (!from) continue;
        if (!to) return false;
        dl_sample_walk_start(&w, &from->steps);
        for (; dl_sample_walk_next(&w, &value); first = false) {
            if (first) value = ((value >> 2) - to->last) << 2 | (value & 3);
            if (!dl_samples_add(&to->steps, value)) return false;
        }
        to->last = from->last;
    }
    return true;
}

static bool take_sums(job *j, const job *part, const uint32_t *numbers)
{
    for (uint32_t i = 0; i < part->n_sums; i++) {
        if (!part->sums[i].n) continue;
        if (!dl_analyzer_room(&j->sums, &j->n_sums, numbers[i], sizeof *j->sums)) return false;
        j->sums[numbers[i]].value += part->sums[i].value;
        j->sums[numbers[i]].n += part->sums[i].n;
    }
    return true;
}

static bool take_events(job *j, const job *part, const dl_absorb_map *map)
{
    for (size_t i = 0; i < part->n_events; i++) {
        dl_analysis_event e = part->events[i];
        e.stream = map->streams[e.stream];
        e.site = map->sites[e.site];
        if (e.launch != DL_NONE) e.launch = map->launches[e.launch];
        e.meta = dl_absorb_text(map, e.meta);
        if (e.meta == DL_NONE || !dl_analyzer_list_event(j, &e)) return false;
    }
    return true;
}

devlog_status dl_analyzer_absorb(dl_analyzer *a, dl_analyzer *part, const dl_absorb_map *map,
                                 devlog_error *err)
{
    places p = {.map = map};
    bool ok = dl_analyzer_settle_all(a) && dl_analyzer_settle_all(part) && find_places(a, part, &p);
    for (int of = 0; of < SCOPES && ok; of++)
        ok = take_slots(a, part, (scope)of, &p);
    for (uint32_t i = 0; i < map->from->n_chips && ok; i++)
        if (part->t0[i] < a->t0[map->chips[i]]) a->t0[map->chips[i]] = part->t0[i];
    for (size_t i = 0; i < a->list->n && ok; i++) {
        job *j = &a->jobs[i];
        const job *from = &part->jobs[i];
        ok = take_accounts(j, from, numbers_here(&p, (scope)j->leaf)) && take_kept(j, from, map->streams) &&
             take_sums(j, from, numbers_here(&p, j->scope)) && take_events(j, from, map);
    }
    places_free(&p);
    /* The next run is none that was in hand. */
    memset(a->here, 0, sizeof a->here);
    a->stream = a->launch = a->core = a->chip = DL_NONE;
    return ok ? DEVLOG_OK : dl_analyzer_no_memory(err);
}
