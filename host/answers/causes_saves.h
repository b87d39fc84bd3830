/* What would make the launches of ops shorter: by op, the zone that others wait for, and the buffer that wants one page more. From
 * causes_log.h; for savings.c. Sums over all ops: causes_sums.h. */
#ifndef DEVLOG_ANSWERS_CAUSES_SAVES_H
#define DEVLOG_ANSWERS_CAUSES_SAVES_H

#include "answers/causes_log.h"

/* Which op a launch (of dl_decode_launches) is of, as the caller numbers ops; UINT32_MAX: of none that is wanted. */
typedef uint32_t causes_op_of(const void *ctx, uint32_t launch);

typedef struct causes_save {
    uint32_t code; /* the op's number */
    bool buffer;   /* what is gained by one page more in each buffer, and this is waited for most; else by a
                      zone that takes no time */
    uint32_t risc; /* text: whose zone it is; of a buffer, who waited for room */
    uint32_t site; /* the zone, or the one in which room was waited for; DL_NONE: in none */
    uint32_t by;   /* text: who made room */
    uint32_t address; /* of the buffer's counter of pages that were popped */
    uint64_t cycles;  /* of zones on the paths; of waits for room */
    uint64_t launches;
    uint64_t waited; /* by others, for this RISC; of a buffer `cycles` */
    uint64_t gain;   /* of all its launches; zones: no more than what others waited */
    uint32_t stream; /* where most of `cycles` was */
    uint64_t there;
    bool exact;
    /* What the zone moved over the NoC itself, in all launches. */
    uint64_t transfers, bytes, barriers, noc_waited;
    uint32_t least_bytes; /* of one transfer */
} causes_save;

typedef struct causes_saves {
    causes_save *items; /* by op; of an op the greatest gain first */
    size_t n, cap;
} causes_saves;

/* `saves` is zero-initialised; free it in any case. */
devlog_status causes_find_saves(causes_saves *saves, causes_log *log, const dl_decode *d, causes_op_of *op_of,
                                const void *ctx, devlog_error *err);
void causes_saves_free(causes_saves *s);

#endif
