/* Events: what pairing makes of rows, in one ordered stream. Everything behind the decoder (statistics, op
 * stitching, trace exporters, pages) is built on these.
 *
 * Order: within one stream (a RISC) events come in the order in which they closed, so a nested zone comes
 * before the zone around it and ends are in time order. Between streams the order is that of the input, by
 * core or by time; who needs one order over all RISCs sorts (decode/sorter.h). The same input gives
 * the same order, whatever the number of threads. */
#ifndef DEVLOG_DECODE_EVENT_H
#define DEVLOG_DECODE_EVENT_H

#include <stdio.h>

#include "decode/loss.h"
#include "decode/tables.h"

typedef enum dl_event_kind {
    DL_EVENT_ZONE,  /* start..end, a closed zone */
    DL_EVENT_POINT, /* a point in time; start == end */
    DL_EVENT_VALUE, /* a point in time with data */
    DL_EVENT_SUM, /* data is a sum of cycles over the launch (ZONE_TOTAL); start == end == when it was written
                   */
    DL_EVENT_DROPPED, /* data counts markers that the device had no room for, from this point in time on */
} dl_event_kind;

/* Passes through a sum, and the shortest and the longest of them in cycles. */
typedef struct dl_sum_passes {
    uint64_t count, shortest, longest;
    bool told; /* false: the log does not tell them (tt-metal's do not), and all of the sum stands for one */
} dl_sum_passes;

/* `meta`: of the event, as capture/raw_marks.c writes it; in device logs with ';' for ','. */
static inline dl_sum_passes dl_sum_passes_of(const char *meta, uint64_t sum)
{
    unsigned long long count, shortest, longest;
    if (sscanf(meta, "{\"count\":%llu%*1[,;]\"min\":%llu%*1[,;]\"max\":%llu}", &count, &shortest, &longest) !=
        3)
        return (dl_sum_passes){1, sum, sum, false};
    return (dl_sum_passes){count, shortest, longest, true};
}

enum {
    DL_EVENT_OVERLAPS = 2, /* a zone that does not nest: one that began inside it was still open at its end */
    DL_EVENT_TORN = 4,     /* a stamp of it was 2^32 off and has been repaired */
    DL_EVENT_NO_COST = 8,  /* what markers took of it is not known, and own_cost is 0 */
    DL_EVENT_MOST_COST = 16,  /* and the only reason is that they took more than half of the kernel */
    DL_EVENT_COST_LOADS = 32, /* what else the kernel does may take more or less time for the markers' sake */
};

typedef struct dl_event {
    uint64_t start, end; /* cycles of the chip's clock; repaired, and continued over wraps */
    uint64_t data;       /* of values and sums; of zones, the data cell of their end or start */
    uint32_t stream;     /* chip, core, RISC */
    uint32_t site;       /* zone name, source file and line */
    uint32_t launch;     /* index into dl_launches; DL_NONE: belongs to no launch */
    uint32_t timer_id;   /* of the row that closed it */
    uint32_t meta;       /* text, 0: none */
    uint32_t line;       /* of the input, of the row that closed it */
    uint16_t depth; /* zones around it on the same RISC, the firmware zone included; of the first 65535 */
    uint8_t kind, flags;
    uint32_t own_cost; /* cycles of start..end that are the markers' own; zones of captures only */
    uint8_t padding[8];
} dl_event;

_Static_assert(sizeof(dl_event) == 64, "an event is one cache line");

/* One launch of one chip. */
typedef struct dl_launch {
    uint64_t run_host_id; /* 0: none */
    uint32_t chip;        /* index into chips */
    uint32_t run_id;
    uint32_t trace_id, trace_counter; /* DL_NO_ID: none */
    uint32_t number;                  /* 0, 1, ... on this chip, in order of first appearance in the input */
    uint32_t op;                      /* that asked for the launch; 0: none, or the log does not say */
    uint64_t run;                     /* of the chip line above its rows; 0: none */
    bool sampled;                     /* durations of it stayed in another process (far.h) */
    bool has_ids;                     /* otherwise told apart by firmware starts */
    uint32_t repeat;                  /* the how manieth launch with these ids it is, from 1 */
    uint64_t first_fw_start, last_fw_end; /* over all cores and RISCs; UINT64_MAX and 0 when there was none */
    /* From captures: when the host called for the launch and pulled it, in ns of its monotonic clock; 0:
     * unknown. dl_chip_clocks.origin is of the same clock. */
    uint64_t call_start, call_end, pull_start, pull_end;
} dl_launch;

#endif
