/* Logs whose parts are asked for, packed and not, and what is decoded of a part beside what is decoded of the whole. */
#ifndef DEVLOG_TESTS_PARTS_H
#define DEVLOG_TESTS_PARTS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"
#include "decode/filter.h"

enum { PART_CORES = 8, PART_RISCS = 3, PART_LAUNCHES = 600, PART_DUMP = 200, PART_BLOCK = 6000 };

typedef struct part_outcome {
    dl_str text; /* zones with their statistics, and launches that have some */
    uint64_t blocks, blocks_read, bytes;
    bool lost;
} part_outcome;

/* Logs of PART_LAUNCHES launches, dump by dump, core by core and RISC by RISC. */
void make_dumps(dl_str *log, uint64_t seed, bool ids, bool counters); /* on two chips, with losses */
void make_replays(dl_str *log);                                       /* of traces, between launches */
/* Some rows of make_replays say the same in other words, or another thing: kind 1 to 6. */
void reword_rows(dl_str *log, uint64_t *seed, unsigned kind);

/* The log becomes log.csv and, in blocks of PART_BLOCK bytes, log.pack of the test's folder. */
void pack_log(const dl_str *log);
uint64_t bytes_read_so_far(void); /* by this process, 0 where that is not told */
void decode_as_text(part_outcome *out, const char *path, const dl_filter *filter, unsigned threads);
/* Fails where the filter leaves something else of log.pack than of log.csv, or more than most_blocks (0: any) were read.
 * Returns 0 where it leaves nothing. */
size_t part_is_the_same(const char *what, const dl_filter *f, uint64_t most_blocks);

#endif
