/* Launches: which launch a marker belongs to. By the ids in the log where it has any (run id, run host id,
 * trace id and counter); where it has none, and where an id comes back, by counting firmware starts: the n-th
 * firmware start of a RISC belongs to the n-th launch with that id. */
#ifndef DEVLOG_DECODE_LAUNCH_H
#define DEVLOG_DECODE_LAUNCH_H

#include "base/big.h"
#include "decode/event.h"
#include "decode/mark.h"
#include "decode/wire.h"

enum {
    DL_MAX_LAUNCHES = 4 * 1024 * 1024,
    DL_LAUNCHES_WARM = 16 * 1024 * 1024,     /* bytes of each array that are in memory in any case */
    DL_MAX_LAUNCH_BYTES = 256 * 1024 * 1024, /* for which streams have begun which launch */
};

/* The launches with the same ids, in order of appearance, and how many of them each stream has begun: the
 * next firmware start with these ids on a stream belongs to the next of them. Nearly always there is one
 * launch and a bit per stream is enough; only when ids come back is there a counter per stream. */
typedef struct dl_launch_chain {
    uint32_t first;      /* launch */
    uint32_t n, cap;     /* of launches */
    bool unstarted;      /* a stream was in one of them before it had begun any */
    uint32_t *launches;  /* NULL while n == 1 */
    uint64_t bits[2];    /* while n == 1: the streams that have begun it */
    uint64_t *more_bits; /* from bit 128 on */
    uint32_t n_words;
    uint32_t n_counts;
    uint32_t *counts; /* once n > 1 */
} dl_launch_chain;

/* Launches [first, first + n) of a part that was decoded elsewhere, and whose samples are there still, are the ones from `launch` on here. */
typedef struct dl_launch_origin {
    uint32_t part, first, n, launch;
} dl_launch_origin;

typedef struct dl_launches {
    dl_launch *items;
    uint32_t count;
    dl_launch_chain *chains; /* one for each set of ids: the launches that have them */
    uint32_t n_chains;
    dl_big big_items, big_chains; /* where they are */
    /* Where a launch is. Ids mostly ascend, and streams mostly begin the launches that others have begun, in their order: then the
     * one found last is wanted again, or the one behind it; it is new, as it is beyond all; or a stream begins where the one
     * before it began. What is not so is looked up in a hash table, which is filled only then. */
    uint32_t last; /* the chain found last, + 1 */
    uint32_t walk; /* the chain with which a stream has begun what others then begin, too */
    bool grows;    /* the one found last was new */
    bool mixed;    /* they are of several chips, or their ids did not always ascend */
    uint32_t *slots, n_slots, n_filled;
    uint32_t greatest[DL_MAX_CHIPS]; /* launch with the greatest ids, + 1 */
    size_t bytes;                    /* of bits and counts in chains */
    uint32_t per_chip[DL_MAX_CHIPS];
    uint32_t next_bit[DL_MAX_CHIPS];
    dl_launch_origin *origins;
    uint32_t n_origins, cap_origins;
    uint32_t looks; /* of dl_launches_began_at, which hostile logs could make many */
} dl_launches;

void dl_launches_free(dl_launches *l);
/* Nothing of them is wanted at once (base/big.h). */
void dl_launches_cool(const dl_launches *l);

/* The bit that stands for a new stream of this chip. */
uint32_t dl_launches_new_stream(dl_launches *l, uint32_t chip);

/* The launch of a mark with these ids, of run `run`, on the stream with `bit`. `starts`: the mark begins a
 * launch on that stream (a firmware start, or what stands for a lost one); otherwise it belongs to the last
 * launch with these ids. DL_NONE when there are more than DL_MAX_LAUNCHES, or memory runs out. */
uint32_t dl_launches_find(dl_launches *l, uint32_t chip, uint32_t bit, uint64_t run, const dl_ids *ids,
                          bool starts);

/* Whether a stream has begun a launch with these ids. */
bool dl_launches_has_begun(dl_launches *l, uint32_t chip, uint32_t bit, uint64_t run, const dl_ids *ids);

/* Whether one of them began (on whichever stream was first) at this stamp, or whole rounds of the clock from it. */
bool dl_launches_began_at(dl_launches *l, uint32_t chip, uint32_t bit, uint64_t run, const dl_ids *ids,
                          uint64_t time, uint64_t round);

/* Where a stream's bit is when the launches of one part of a log are put behind those of the part before it. */
typedef struct dl_launch_bit {
    uint32_t chip, bit;       /* in the later part */
    uint32_t to_chip, to_bit; /* in the earlier part; to_bit DL_NONE: it has no mark there */
} dl_launch_bit;

/* What is known of the chains of a part before it is put behind. */
typedef struct dl_launch_join {
    uint32_t *known;  /* the chain with the same ids, + 1; 0: there is none */
    uint32_t *before; /* how many launches of the chain there have been before the part */
} dl_launch_join;

/* Where launches of one chain have not been as often before the part for all streams which begin them in it, nobody knows
 * which of its launches are one: *follows is false; so it is where a stream is in one that it may have begun before. The bits
 * are in the order of `chip`. False: out of memory. */
bool dl_launches_join(dl_launches *l, const dl_launches *part, const dl_launch_bit *bits, uint32_t n,
                      dl_launch_join *join, bool *follows);
/* Puts the launches of `part` behind those that are there; map[i] is then the number of launch i. Every bit has its place by
 * now, and no launch has been added since `join`, which is used up. False: out of memory, or there are too many. */
bool dl_launches_absorb(dl_launches *l, const dl_launches *part, const dl_launch_bit *bits, uint32_t n,
                        dl_launch_join *join, uint32_t *map);
void dl_launch_join_free(dl_launch_join *join);

/* All launches as bytes, or new ones from bytes: of chips less than n_chips, and of these streams, whose bits are in the order
 * of `chip`. */
void dl_launches_wire(dl_launches *l, dl_wire *w, const dl_launch_bit *bits, uint32_t n, uint32_t n_chips);

/* Whether the launches found last have these ids. */
static inline bool dl_launches_are_last(const dl_launches *l, uint32_t chip, uint64_t run, const dl_ids *ids)
{
    if (!l->last) return false;
    const dl_launch *k = &l->items[l->chains[l->last - 1].first];
    return ((k->run_host_id ^ ids->run_host_id) | (k->run ^ run) | (k->chip ^ chip) |
            (k->run_id ^ ids->run_id) | (k->trace_id ^ ids->trace_id) |
            (k->trace_counter ^ ids->trace_counter)) == 0;
}

/* Whether those behind the ones found last have these ids, as mostly where a stream begins what another has begun: they are the
 * ones found last then. */
static inline bool dl_launches_go_on(dl_launches *l, uint32_t chip, uint64_t run, const dl_ids *ids)
{
    if (!l->last || l->last >= l->n_chains) return false;
    l->last++;
    const bool same = dl_launches_are_last(l, chip, run, ids);
    if (same)
        l->grows = false;
    else
        l->last--;
    return same;
}

/* Of the launches found last the next that the stream begins, when that is known already; DL_NONE: it is for
 * dl_launches_find. */
static inline uint32_t dl_launches_next_of_last(dl_launches *l, uint32_t bit)
{
    dl_launch_chain *c = &l->chains[l->last - 1];
    if (c->n > 1) return bit < c->n_counts && c->counts[bit] < c->n ? c->launches[c->counts[bit]++] : DL_NONE;
    bool more = bit >= 128;
    if (more && bit / 64 - 2 >= c->n_words) return DL_NONE;
    uint64_t *word = more ? &c->more_bits[bit / 64 - 2] : &c->bits[bit / 64];
    uint64_t mask = UINT64_C(1) << (bit % 64);
    if (*word & mask) return DL_NONE;
    *word |= mask;
    return c->first;
}

/* dl_launches_find for a mark that starts, when it is as usual: another stream begins the launch that was
 * found last. */
static inline uint32_t dl_launches_next(dl_launches *l, uint32_t chip, uint32_t bit, uint64_t run,
                                        const dl_ids *ids)
{
    uint32_t launch = dl_launches_are_last(l, chip, run, ids) ? dl_launches_next_of_last(l, bit) : DL_NONE;
    return launch != DL_NONE ? launch : dl_launches_find(l, chip, bit, run, ids, true);
}

#endif
