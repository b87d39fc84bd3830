/* Which records may come before and behind the passes through a sum, which leave none themselves: the code leads from
 * the one to the pass, and from there to the other, by no other record. For price_between.c. Not for when that was. */
#include "decode/price/price_around.h"

#include <stdlib.h>
#include <string.h>

#include "devlog/record.h"

enum { LINK = 1, MOST_EDGES = 1 << 22 };

/* ---- Ways ---------------------------------------------------------------------------------------------- */

/* From where to where the code leads, word by word; of a marker's words the first stands for it. */
typedef struct ways {
    const price_code *c;
    uint32_t *functions, *group,
        n_functions;         /* words where calls lead to, ascending; by jumps, one with another */
    uint32_t *first, *to, n; /* edges of a word: to[first[word]] on */
    uint32_t *queue;
    uint8_t *seen;
} ways;

static uint32_t function_of(const ways *w, uint32_t at)
{
    uint32_t at_group = price_function_of(w->functions, w->n_functions, at);
    while (w->group[at_group] != at_group)
        at_group = w->group[at_group];
    return at_group;
}

/* Who jumps into another function returns for it. */
static void find_functions(ways *w)
{
    const price_code *c = w->c;
    w->n_functions = price_find_functions(c, w->functions);
    for (uint32_t i = 0; i < w->n_functions; i++)
        w->group[i] = i;
    for (uint32_t i = 0; i < c->n_jumps; i++) {
        if (price_is_call(c->ops[(uint32_t)c->jumps[i]])) continue;
        uint32_t a = function_of(w, (uint32_t)(c->jumps[i] >> 32)), b = function_of(w, (uint32_t)c->jumps[i]);
        w->group[a > b ? a : b] = a > b ? b : a;
    }
}

static void add_edge(ways *w, uint32_t to)
{
    if (to >= w->c->n) return;
    if (w->to && w->n < MOST_EDGES) w->to[w->n] = to;
    w->n++;
}

static void add_edges(ways *w, uint32_t at)
{
    const price_code *c = w->c;
    const sim_op op = c->ops[at];
    const uint32_t marker = c->marker_at[at];
    if (marker) {
        const price_marker *m = &c->markers[marker - 1];
        if (m->start == at && m->part != PRICE_NONE) add_edge(w, m->end);
    } else if (op.code == SIM_OP_JAL) {
        const uint32_t target = (op.imm - c->base) / 4;
        add_edge(w, target < c->n ? target : at + 1);
    } else if (op.code == SIM_OP_JALR && op.rd == SIM_SINK && op.rs1 == LINK) {
        const uint32_t function = function_of(w, at);
        for (uint32_t i = 0; i < c->n_jumps && w->n < MOST_EDGES; i++)
            if (price_is_call(c->ops[(uint32_t)c->jumps[i]]) &&
                function_of(w, (uint32_t)(c->jumps[i] >> 32)) == function)
                add_edge(w, (uint32_t)c->jumps[i] + 1);
    } else if (op.code == SIM_OP_JALR && !price_is_call(op)) {
        for (uint32_t i = 0; i < c->n_tables; i++)
            if (c->switch_at[c->tables[i]] == at + 1) add_edge(w, c->tables[i]);
    } else if (op.code > SIM_OP_ILLEGAL) {
        add_edge(w, at + 1);
        if (price_is_branch(op)) add_edge(w, (op.imm - c->base) / 4);
    }
}

static void close_ways(ways *w)
{
    free(w->functions);
    free(w->group);
    free(w->first);
    free(w->to);
    free(w->queue);
    free(w->seen);
}

/* False: no memory, or too many. */
static bool find_ways(const price_code *c, ways *w)
{
    *w = (ways){.c = c,
                .functions = calloc(c->n_jumps + 1, sizeof *w->functions),
                .group = calloc(c->n_jumps + 1, sizeof *w->group),
                .first = calloc((size_t)c->n + 1, sizeof *w->first),
                .queue = calloc(c->n, sizeof *w->queue),
                .seen = calloc(c->n, 1)};
    if (!w->functions || !w->group || !w->first || !w->queue || !w->seen) return false;
    find_functions(w);
    for (int pass = 0; pass < 2; pass++) {
        w->n = 0;
        for (uint32_t at = 0; at < c->n; at++) {
            w->first[at] = w->n;
            add_edges(w, at);
        }
        w->first[c->n] = w->n;
        if (w->n >= MOST_EDGES) return false;
        if (!pass && !(w->to = calloc(w->n ? w->n : 1, sizeof *w->to))) return false;
    }
    return true;
}

/* The same ways from behind. */
static bool turn_ways(ways *w)
{
    const uint32_t words = w->c->n;
    uint32_t *first = calloc((size_t)words + 2, sizeof *first), *to = calloc(w->n ? w->n : 1, sizeof *to);
    if (first && to) {
        for (uint32_t i = 0; i < w->n; i++)
            first[w->to[i] + 2]++;
        for (uint32_t i = 0; i < words; i++)
            first[i + 2] += first[i + 1];
        for (uint32_t at = 0; at < words; at++)
            for (uint32_t i = w->first[at]; i < w->first[at + 1]; i++)
                to[first[w->to[i] + 1]++] = at;
        free(w->first);
        free(w->to);
        w->first = first;
        w->to = to;
        return true;
    }
    free(first);
    free(to);
    return false;
}

/* ---- What records come before and behind a pass -------------------------------------------------------- */

/* The place of a marker that a record tells of, as in price.h, + 1; what begins a complete zone has the place behind
 * its record's. 0: none does. */
static uint32_t told(const price_code *c, const dl_elf *elf, uint32_t at)
{
    const price_marker *m = c->marker_at[at] ? &c->markers[c->marker_at[at] - 1] : NULL;
    if (!m || !m->site || m->part == PRICE_PASS) return 0;
    const uint8_t kind = elf->sites[(m->site - 1) / 2].kind;
    if (m->part == PRICE_START) return kind == DEVLOG_KIND_COMPLETE ? m->site + 1 : 0;
    return m->site;
}

/* Marks the places of which a record comes next, from the passes through one site on. */
static void look_around(ways *w, const dl_elf *elf, uint32_t site, uint8_t *places, uint8_t bit)
{
    const price_code *c = w->c;
    uint32_t n = 0;
    memset(w->seen, 0, c->n);
    for (uint32_t i = 0; i < c->n_markers; i++) {
        const price_marker *m = &c->markers[i];
        if (m->part != PRICE_PASS || m->site != 2 * site + 1) continue;
        w->queue[n++] = m->start;
        w->seen[m->start] = 1;
    }
    for (uint32_t i = 0; i < n; i++) {
        const uint32_t at = w->queue[i], place = told(c, elf, at);
        if (place) {
            places[place - 1] |= bit;
            continue;
        }
        for (uint32_t k = w->first[at]; k < w->first[at + 1]; k++) {
            if (w->seen[w->to[k]]) continue;
            w->seen[w->to[k]] = 1;
            w->queue[n++] = w->to[k];
        }
    }
}

void price_around_free(price_around *a)
{
    if (a) free(a->places);
    free(a);
}

price_around *price_around_find(const price_code *c, const dl_elf *elf)
{
    uint32_t n_sums = 0;
    for (uint32_t i = 0; i < elf->n_sites; i++)
        n_sums += elf->sites[i].kind == DEVLOG_KIND_SUM;
    ways w = {0};
    price_around *a = calloc(1, sizeof *a);
    bool good = a && n_sums && n_sums < MOST_EDGES / (2 * elf->n_sites + 1);
    if (good) {
        a->n_places = 2 * elf->n_sites;
        a->n_sums = n_sums;
        a->places = calloc((size_t)n_sums * a->n_places, 1);
        good = a->places && find_ways(c, &w);
    }
    for (int back = 0; back < 2 && good; back++) {
        uint32_t sum = 0;
        for (uint32_t i = 0; i < elf->n_sites; i++)
            if (elf->sites[i].kind == DEVLOG_KIND_SUM)
                look_around(&w, elf, i, a->places + (size_t)sum++ * a->n_places,
                            back ? PRICE_BEFORE_PASS : PRICE_BEHIND_PASS);
        if (!back) good = turn_ways(&w);
    }
    close_ways(&w);
    if (good) return a;
    price_around_free(a);
    return NULL;
}
