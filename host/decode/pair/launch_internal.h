/* What the files of launches share: launch.c (the table), launch_parts.c (one behind the other), launch_origin.c (where their samples
 * are), launch_wire.c (as bytes). */
#ifndef DEVLOG_DECODE_LAUNCH_INTERNAL_H
#define DEVLOG_DECODE_LAUNCH_INTERNAL_H

#include "decode/pair/launch.h"

enum { LAUNCHES_COOL_EVERY = 16384 };

/* In loops over all of them. */
static inline void launches_cool_now_and_then(const dl_launches *l, uint32_t i)
{
    if (i % LAUNCHES_COOL_EVERY == LAUNCHES_COOL_EVERY - 1) dl_launches_cool(l);
}

static inline dl_ids launches_ids_of(const dl_launch *k)
{
    return (dl_ids){k->run_host_id, k->run_id, k->trace_id, k->trace_counter, k->has_ids, false};
}

/* Whether the chain's launches have these ids. */
static inline bool launches_is_of(const dl_launches *l, const dl_launch_chain *c, uint32_t chip, uint64_t run,
                                  const dl_ids *ids)
{
    const dl_launch *k = &l->items[c->first];
    return k->chip == chip && k->run == run && k->run_host_id == ids->run_host_id &&
           k->run_id == ids->run_id && k->trace_id == ids->trace_id && k->trace_counter == ids->trace_counter;
}

static inline uint64_t launches_word(const dl_launch_chain *c, uint32_t word)
{
    return word < 2 ? c->bits[word] : word - 2 < c->n_words ? c->more_bits[word - 2] : 0;
}

/* How many of the chain's launches the stream has begun. */
static inline uint32_t launches_begun(const dl_launch_chain *c, uint32_t bit)
{
    if (c->n == 1) return launches_word(c, bit / 64) >> (bit % 64) & 1;
    return bit < c->n_counts ? c->counts[bit] : 0;
}

/* Whether the same streams have begun the launch of both, each of which is the only one of its chain. */
static inline bool launches_same_bits(const dl_launch_chain *a, const dl_launch_chain *b)
{
    const uint32_t n = 2 + (a->n_words > b->n_words ? a->n_words : b->n_words);
    for (uint32_t i = 0; i < n; i++)
        if (launches_word(a, i) != launches_word(b, i)) return false;
    return true;
}

bool launches_set_begun(dl_launches *l, dl_launch_chain *c, uint32_t chip, uint32_t bit, uint32_t count);
/* To a chain that nobody has begun, from another; both have one launch. */
bool launches_copy_bits(dl_launches *l, dl_launch_chain *to, const dl_launch_chain *from);
/* Room for one more. */
bool launches_make_room(dl_launches *l);
static inline bool launches_grow(dl_launches *l)
{
    const size_t n = (size_t)l->count + 1;
    return (l->count % LAUNCHES_COOL_EVERY && n * sizeof *l->items <= l->big_items.bytes &&
            n * sizeof *l->chains <= l->big_chains.bytes) ||
           launches_make_room(l);
}
/* The chain with these ids, + 1, or 0; `near` is one that it may be. False: out of memory. */
bool launches_look(dl_launches *l, uint32_t chip, uint64_t run, const dl_ids *ids, uint32_t near,
                   uint32_t *chain);
/* The launch behind the last one, whose ids are not there, has a chain; the caller counts it. */
void launches_new_chain(dl_launches *l);
/* Adds a launch to a chain that has some; from the second on streams have counters instead of bits. */
bool launches_append(dl_launches *l, dl_launch_chain *c, uint32_t launch);
/* The number of a launch of another table, which is the `place`th of its chain here, from 0; `chain` is that chain, + 1, or 0, and is known
 * then. DL_NONE: out of memory. */
uint32_t launches_place(dl_launches *l, const dl_launch *k, uint32_t chip, uint32_t place, uint32_t *chain);
/* launch_origin.c: those of a part that is put behind, where map[i] is its launch i here; and as bytes. */
bool launches_absorb_origins(dl_launches *l, const dl_launches *part, const uint32_t *map);
void launches_wire_origins(dl_launches *l, dl_wire *w);
/* The first of the bits of this chip; of `bits`, which are in the order of their chips. */
uint32_t launches_first_bit(const dl_launch_bit *bits, uint32_t n, uint32_t chip);

#endif
