/* Ground truth: the log of stores into the watched range, in the order in which they happened.
 *
 * Within a quantum the tiles run one after the other, so the log is first in order of tiles; it is put in
 * order of time when somebody asks. Stores of one tile in one cycle stay in order of the harts. */
#include <stdlib.h>
#include <string.h>

#include "sim/ahead.h"

void sim_truth_add(sim_tile *t, sim_by by, uint32_t addr, uint32_t value, uint32_t size)
{
    sim *s = t->chip;
    if (s->n_truth == s->truth_room && sim_ahead_abandon(t))
        return; /* so that a lack of memory comes in its time */
    if (s->n_truth == s->truth_room) {
        size_t room = s->truth_room ? 2 * s->truth_room : 1024;
        sim_store *grown = realloc(s->truth, room * sizeof *grown);
        if (!grown) {
            sim_refuse(t, by.hart, by.now, "out of memory for the log of stores");
            return;
        }
        s->truth = grown;
        s->truth_room = room;
    }
    s->truth[s->n_truth++] = (sim_store){.cycle = by.now,
                                         .addr = addr,
                                         .value = value,
                                         .pc = by.pc,
                                         .tile = (uint16_t)t->index,
                                         .hart = by.hart,
                                         .size = (uint8_t)size};
}

static bool after(const sim_store *a, const sim_store *b)
{
    if (a->cycle != b->cycle) return a->cycle > b->cycle;
    return a->tile != b->tile ? a->tile > b->tile : a->hart > b->hart;
}

/* Stable merge sort: runs are long, as each tile's stores are already in order. */
static void sort(sim_store *stores, sim_store *spare, size_t n)
{
    if (n < 2) return;
    size_t half = n / 2;
    sort(stores, spare, half);
    sort(stores + half, spare, n - half);
    if (!after(&stores[half - 1], &stores[half])) return;
    memcpy(spare, stores, half * sizeof *spare);
    size_t left = 0, right = half, out = 0;
    while (left < half)
        stores[out++] = right < n && after(&spare[left], &stores[right]) ? stores[right++] : spare[left++];
}

/* What a tile has undone has size 0. */
static void drop_undone(sim *s)
{
    size_t kept = s->truth_sorted;
    for (size_t i = kept; i < s->n_truth; i++)
        if (s->truth[i].size) s->truth[kept++] = s->truth[i];
    s->n_truth = kept;
}

const sim_store *sim_truth(const sim *s_const, size_t *count)
{
    sim *s = (sim *)s_const; /* the order in which the log is kept is not a part of the state */
    drop_undone(s);
    size_t unsorted = s->n_truth - s->truth_sorted;
    sim_store *spare = unsorted > 1 ? malloc((unsorted / 2) * sizeof *spare) : NULL;
    if (spare || unsorted < 2) {
        sort(s->truth + s->truth_sorted, spare, unsorted);
        s->truth_sorted = s->n_truth;
    }
    free(spare);
    *count = s->n_truth;
    return s->truth;
}

void sim_truth_clear(sim *s)
{
    s->n_truth = s->truth_sorted = 0;
}
