/* Analyzer: numbers for pairs of numbers. Mostly they follow each other in the order in which they came before, or are
 * new for certain: then nothing is looked up. */
#include <stdlib.h>

#include "decode/analysis/analyzer_internal.h"

static uint64_t hash_of(const cell *c)
{
    return dl_hash_u64((uint64_t)c->launch << 32 | c->leaf);
}

/* The slot of a cell, or the free one where it belongs. */
static uint32_t slot_of(const cells *c, const cell *wanted)
{
    for (uint32_t at = (uint32_t)hash_of(wanted) & (c->n_slots - 1);; at = (at + 1) & (c->n_slots - 1)) {
        if (!c->slots[at]) return at;
        const cell *known = &c->items[c->slots[at] - 1];
        if (known->launch == wanted->launch && known->leaf == wanted->leaf) return at;
    }
}

/* Enters the cells that are not in the hash table yet, with room for one more. */
static bool enter(cells *c)
{
    if ((c->n + 1) * UINT64_C(2) > c->n_slots) {
        uint64_t n = c->n_slots ? c->n_slots : 256;
        while ((c->n + 1) * UINT64_C(2) > n)
            n *= 2;
        uint32_t *slots = n <= UINT32_MAX ? calloc(n, sizeof *slots) : NULL;
        if (!slots) return false;
        free(c->slots);
        c->slots = slots;
        c->n_slots = (uint32_t)n;
        c->n_hashed = 0;
    }
    for (; c->n_hashed < c->n; c->n_hashed++)
        c->slots[slot_of(c, &c->items[c->n_hashed])] = c->n_hashed + 1;
    return true;
}

/* Room for n more. */
static inline bool room(cells *c, uint32_t n)
{
    const size_t want = ((size_t)c->n + n) * sizeof *c->items;
    if (want <= c->big.bytes) return true;
    if (want > UINT32_MAX || !dl_big_room(&c->big, want + want / 2)) return false;
    c->items = c->big.data;
    dl_big_cool(&c->big);
    return true;
}

uint32_t dl_analyzer_cell(cells *c, uint32_t launch, uint32_t leaf, uint32_t *hint)
{
    const cell wanted = {launch, leaf};
    if (*hint < c->n && c->items[*hint].launch == launch && c->items[*hint].leaf == leaf) return (*hint)++;
    if (!dl_analyzer_room(&c->leaves, &c->n_leaves, leaf, sizeof *c->leaves)) return DL_NONE;
    leaf_cells *of = &c->leaves[leaf];
    if (launch < of->next) { /* there may be one, in the last row mostly */
        const uint32_t guess = of->row + (launch - c->items[of->row].launch);
        if (guess < c->n && c->items[guess].launch == launch && c->items[guess].leaf == leaf) {
            *hint = guess + 1;
            return guess;
        }
        if (!enter(c)) return DL_NONE;
        uint32_t slot = slot_of(c, &wanted);
        if (c->slots[slot]) {
            *hint = c->slots[slot];
            return *hint - 1;
        }
    } else {
        of->next = launch + 1;
    }
    if (!room(c, 1)) return DL_NONE;
    const cell *before = c->n ? &c->items[c->n - 1] : NULL;
    if (!before || before->leaf != leaf || before->launch + 1 != launch) of->row = c->n;
    /* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): room has made room */
    c->items[c->n] = wanted;
    *hint = ++c->n;
    return c->n - 1;
}

uint32_t dl_analyzer_cells_of(cells *c, const uint32_t *launches, uint32_t n, uint32_t leaf, uint32_t *hint,
                              uint32_t *number)
{
    const uint32_t first = *number = dl_analyzer_cell(c, launches[0], leaf, hint);
    uint32_t i = 1;
    if (first == DL_NONE || !room(c, n)) return 0;
    const uint32_t there = c->n - first < n ? c->n - first : n;
    const cell *at = c->items + first;
    while (i < there && at[i].launch == launches[i] && at[i].leaf == leaf)
        i++;
    if (first + i == c->n) { /* behind the last one: those that are new for certain */
        uint32_t next = c->leaves[leaf].next;
        for (; i < n && launches[i] >= next && launches[i] != DL_NONE; i++) {
            c->items[first + i] = (cell){launches[i], leaf};
            next = launches[i] + 1;
        }
        c->leaves[leaf].next = next;
        c->n = first + i;
    }
    *hint = first + i;
    return i;
}

void dl_analyzer_cells_free(cells *c)
{
    dl_big_free(&c->big);
    free(c->slots);
    free(c->leaves);
    *c = (cells){0};
}
