/* Launches: which launch a marker belongs to. By the ids in the log where it has any (run id, run host id,
 * trace id and counter); where it has none, and where an id comes back, by counting firmware starts: the n-th
 * firmware start of a RISC belongs to the n-th launch with that id. */
#ifndef DEVLOG_DECODE_LAUNCH_H
#define DEVLOG_DECODE_LAUNCH_H

#include "decode/event.h"
#include "decode/row.h"

enum { DL_MAX_LAUNCHES = 4 * 1024 * 1024 };

typedef struct dl_launch_chain dl_launch_chain;

typedef struct dl_launches {
    dl_launch *items;
    uint32_t count, cap;
    dl_launch_chain *chains; /* one for each set of ids: the launches that have them */
    uint32_t n_chains, cap_chains;
    uint32_t *slots, n_slots; /* hash table of chains: number + 1 */
    uint32_t last;            /* the chain found last, + 1: mostly it is wanted again */
    uint32_t per_chip[DL_MAX_CHIPS];
    uint32_t next_bit[DL_MAX_CHIPS];
} dl_launches;

void dl_launches_free(dl_launches *l);

/* The bit that stands for a new stream of this chip. */
uint32_t dl_launches_new_stream(dl_launches *l, uint32_t chip);

/* The launch of a row with these ids, of run `run`, on the stream with `bit`. `starts`: the row begins a
 * launch on that stream (a firmware start, or what stands for a lost one); otherwise it belongs to the last
 * launch with these ids. DL_NONE when there are more than DL_MAX_LAUNCHES or memory runs out. */
uint32_t dl_launches_find(dl_launches *l, uint32_t chip, uint32_t bit, uint64_t run, const dl_row *row,
                          bool starts);

#endif
