/* Kinds: what all marks of one place in one program have in common, said once: which site, what it does there
 * (a zone begins or ends, a value, a sum, a point in time), under which number the device knows it, and what
 * it cost the RISC. A mark (mark.h) names its kind by number; the numbers are of dl_tables.kinds. */
#ifndef DEVLOG_DECODE_KINDS_H
#define DEVLOG_DECODE_KINDS_H

#include <stdbool.h>
#include <stdint.h>

typedef enum dl_row_type {
    DL_ROW_ZONE_START,
    DL_ROW_ZONE_END,
    DL_ROW_ZONE_TOTAL,  /* data is a sum over the launch, in cycles */
    DL_ROW_TS_DATA,     /* data is a value of the program */
    DL_ROW_TS_EVENT,    /* a point in time */
    DL_ROW_TS_DATA_16B, /* as TS_DATA; data holds the low 64 bits */
    DL_ROW_TYPES
} dl_row_type;

/* "ZONE_START" and so on, as the logs of 2025 write it. */
const char *dl_row_type_text(dl_row_type type);

/* The own cost of a marker, as its RISC's firmware measured it: DEVLOG_KIND_* of devlog/record.h; and what is
 * no kind. */
enum {
    DL_COST_NONE = 0,   /* a default marker, or a log that does not say */
    DL_COST_STALL = 14, /* a zone that is all cost: the RISC waited for a flush */
    DL_COST_TEXT = 16,  /* and how many arguments it has */
    DL_COSTS = 32
};

/* What no record tells of: 1/16 cycle that had been spent at a moment, and not at the mark before it. */
typedef struct dl_spent {
    uint64_t at, cost;
} dl_spent;

/* What recording cost a RISC in a launch. */
typedef struct dl_costs {
    uint32_t marker[DL_COSTS]; /* by DL_COST_*, 1/16 cycle; all 0: not measured */
    uint32_t overwritten;      /* records of the kernel that are gone, and cost what the others did */
    uint64_t elsewhere;        /* 1/16 cycle of the kernel: drops, changes of segments, sums */
    const dl_spent *between;   /* part of `elsewhere`: the last change of segments, and passes; ascending */
    uint32_t n_between;
    bool priced;  /* by where markers stand in the code, so that it is known by how much it may be off */
    bool loads;   /* price.h */
    bool unknown; /* not all of it was measured, or it is too much: nothing is stated or subtracted */
    bool most;    /* unknown for no other reason than that it is more than half of the kernel */
} dl_costs;

/* By how many cycles the own cost of a kernel may be off, of which markers took `cost` of `cycles` (docs/markers.md). Of priced ones
 * only. */
uint64_t dl_cost_off(uint64_t cost, uint64_t cycles, bool loads);

typedef struct dl_kind {
    uint32_t site;     /* zone name, source file and line: dl_tables.sites */
    uint32_t timer_id; /* of the marker; 0: none, or not kept (the table was half full) */
    uint8_t type;      /* dl_row_type */
    uint8_t role;      /* dl_role of the site */
    uint8_t cost;      /* DL_COST_* */
    uint8_t words;     /* of its record in a capture; 0: it is of a log */
    uint16_t price;    /* where it stands in the code, 1/16 cycle; 0: not known, `cost` says it */
} dl_kind;

#endif
