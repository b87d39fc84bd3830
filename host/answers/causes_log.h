/* The launches of logs as graphs of causes: which RISC is which lane, and what records say of its waits. What a record means
 * is in include/devlog/waits.h; the arithmetic in causes.h; sums over launches in causes_sums.h.
 *
 *     causes_log_new(&log, decode, err);
 *     dl_decode_run_sink(decode, causes_log_sink(log), err);     before the first input
 *     ... dl_decode_file, dl_decode_finish ...
 *     causes_log_each(log, use, ctx, err);
 *
 * Memory: 40 bytes for each zone and for each record of a wait, of what the decoder's filter lets through. */
#ifndef DEVLOG_ANSWERS_CAUSES_LOG_H
#define DEVLOG_ANSWERS_CAUSES_LOG_H

#include "answers/causes.h"
#include "decode/decode.h"

/* What a zone of these records is, and what is no zone. */
typedef enum causes_record {
    CAUSES_PLAIN, /* a zone of a program or its firmware */
    CAUSES_WAITS, /* DEVLOG-WAIT-...: a RISC waits */
    CAUSES_WANTS,
    CAUSES_GIVES,
    CAUSES_NOC_WAITS, /* DEVLOG-WAIT-NOC: a RISC waits for its own transfers: work of the zone around it */
    CAUSES_READS,     /* it commands one over the NoC */
    CAUSES_WRITES,
} causes_record;

typedef struct causes_zone {
    uint64_t start, end;
    uint64_t data; /* of wants, gives, reads and writes */
    uint32_t site; /* of the decoder's tables */
    uint16_t depth;
    uint8_t record; /* causes_record */
} causes_zone;

typedef struct causes_risc {
    uint32_t stream;          /* of the decoder's tables */
    const causes_zone *zones; /* in the order in which they closed, wants and gives among them */
    size_t n;
    size_t waits; /* wants that it recorded */
    bool lost;    /* of some of its records nobody knows what they said */
} causes_risc;

/* One launch; valid during the call only. */
typedef struct causes_launch {
    const dl_decode *decode;
    uint32_t launch;          /* of dl_decode_launches */
    const causes_risc *riscs; /* lane by lane */
    const causes *causes;
} causes_launch;

typedef struct causes_log causes_log;

devlog_status causes_log_new(causes_log **log, dl_decode *d, devlog_error *err);
void causes_log_free(causes_log *log);
dl_run_sink causes_log_sink(causes_log *log);
/* Every launch of which firmware was seen, in their order. A status other than DEVLOG_OK ends it. */
typedef devlog_status causes_use(void *ctx, const causes_launch *launch, devlog_error *err);
devlog_status causes_log_each(causes_log *log, causes_use *use, void *ctx, devlog_error *err);
/* Whether the log lost something of which nobody knows where it was: then no absence of a record means anything. */
bool causes_log_incomplete(const causes_log *log);

/* Zones of a program, and of waits for others: what a RISC's time is cut into. */
static inline bool causes_is_zone(const causes_zone *z)
{
    return z->record == CAUSES_PLAIN || z->record == CAUSES_WAITS;
}

/* Of a read or a write (devlog/transfers.h). */
static inline uint32_t causes_transfer_bytes(const causes_zone *z)
{
    return (uint32_t)(z->data >> 32) & 0xFFFFu;
}
static inline uint32_t causes_transfer_address(const causes_zone *z)
{
    return (uint32_t)z->data;
}
static inline uint32_t causes_transfer_tile(const causes_zone *z)
{
    return (uint32_t)(z->data >> 48);
}

/* The counter of an event of kind want or give: where it is in its core's memory. */
static inline uint32_t causes_address(uint64_t counter)
{
    return (uint32_t)counter;
}

#endif
