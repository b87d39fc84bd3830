/* Causes over the launches of a log: whose work is on their paths and what shortening it would save, who ended which waits,
 * and what has slack; and the path of one launch, segment by segment. From causes_log.h; as sections of an answer:
 * causes_answer.h. */
#ifndef DEVLOG_ANSWERS_CAUSES_SUMS_H
#define DEVLOG_ANSWERS_CAUSES_SUMS_H

#include "answers/causes_log.h"

/* What a part of a path, or of a RISC's time, is. */
typedef enum causes_what {
    CAUSES_IN_ZONE,  /* work in a zone: site */
    CAUSES_NO_ZONE,  /* work in none */
    CAUSES_STARTING, /* before the RISC was started */
    CAUSES_HANDING,  /* from a give to where the other goes on */
    CAUSES_ENDING,   /* from the last RISC's end to that of its core */
    CAUSES_NOBODY,   /* what nobody knows */
    CAUSES_WHATS
} causes_what;

typedef struct causes_segment {
    uint32_t stream; /* DL_NONE: nobody's */
    uint32_t site;   /* CAUSES_IN_ZONE */
    uint32_t lane;
    uint8_t what;
    uint64_t from, until; /* cycles since the launch began */
    /* Why the next segment's RISC waited for this one. */
    bool ends_wait;
    uint8_t why;
    uint32_t address, value;
    uint64_t waited; /* how long */
    uint64_t gain;   /* if it took no time; CAUSES_NEVER: not computed */
} causes_segment;

typedef struct causes_zone_sum { /* of a RISC by name and a zone */
    uint32_t risc, site;
    uint8_t what;
    uint64_t passes, on_path; /* cycles on paths, and in how many parts */
    uint64_t launches;        /* on whose path it is; `last` is the last of them */
    uint32_t last;
    uint64_t gain; /* of all launches together, if it took no time; CAUSES_NEVER: not computed */
    uint64_t count,
        least_slack; /* how often it was there, and the least slack; CAUSES_NEVER: none is known */
    uint64_t own;    /* cycles, without zones inside */
} causes_zone_sum;

typedef struct causes_wait_sum {
    uint32_t risc, by; /* texts: who waited, and who ended it; 0: unknown */
    uint32_t address;
    uint8_t why, state;
    uint64_t count, cycles, longest;
    uint32_t longest_stream, longest_launch; /* where that was */
    uint64_t on_path;                        /* how often it is on a path */
} causes_wait_sum;

/* Barriers in a zone whose last transfer had so many bytes: that ended the wait, or one before it that came later. */
typedef struct causes_noc_sum {
    uint32_t risc, site; /* DL_NONE: in no zone */
    uint8_t last;        /* CAUSES_READS, CAUSES_WRITES; CAUSES_PLAIN: none was recorded */
    bool several_tiles;
    uint32_t last_bytes, tile; /* tile: x | y << 6, the first of them */
    uint64_t barriers, transfers, bytes, cycles, longest;
} causes_noc_sum;

/* What a RISC of a core moved in a zone to or from a tile. */
typedef struct causes_flow {
    uint32_t stream, site, tile; /* site: DL_NONE: in no zone; tile: x | y << 6 */
    uint64_t transfers, bytes;
    uint64_t uneven; /* of the transfers: they begin or end inside of CAUSES_UNIT bytes */
} causes_flow;

/* In which L1 is read and written for the NoC (tt-isa-documentation, WormholeB0/NoC/Ordering.md: "aligned 16 byte units"; writes of
 * Blackhole: tt-metal #8706). */
enum { CAUSES_UNIT = 16 };

typedef struct causes_launch_sum {
    uint32_t launch, stream; /* the RISC that ended last; DL_NONE */
    uint64_t start;          /* by its chip's clock */
    uint64_t cycles, known;  /* of the path */
    uint64_t waits, waited, unknown;
} causes_launch_sum;

typedef struct causes_sums {
    dl_decode *decode;
    causes_launch_sum *launches;
    size_t n_launches, cap_launches;
    causes_zone_sum *zones; /* the most on paths first */
    size_t n_zones, cap_zones;
    causes_wait_sum *waits; /* the most cycles first */
    size_t n_waits, cap_waits;
    causes_noc_sum *noc; /* the most cycles first */
    size_t n_noc, cap_noc;
    dl_intern *flow_keys;
    causes_flow *flows; /* [1, n_flows): by number of the key */
    size_t n_flows, cap_flows;
    causes_segment *path; /* of the launch `shown` */
    size_t n_path, cap_path;
    size_t shown; /* place in launches: the longest */
    uint64_t cycles, known;
    uint64_t wants;  /* recorded; 0: what RISCs waited for was not recorded */
    bool exact;      /* in all launches */
    bool incomplete; /* causes_log_incomplete */
    uint32_t *slots; /* of zones and waits: number + 1 */
    size_t n_slots, used_slots;
} causes_sums;

/* `sums` is zero-initialised; free it in any case. */
devlog_status causes_sum(causes_sums *sums, causes_log *log, dl_decode *d, devlog_error *err);
void causes_sums_free(causes_sums *sums);

/* The same of a log that is read for nothing else. Zero-initialised; free it in any case. */
typedef struct causes_reading {
    dl_decode *d;
    causes_log *log;
    causes_sums sums;
} causes_reading;
devlog_status causes_read(causes_reading *r, const char *path, devlog_error *err);
/* The same of what a filter lets through. `elf_folder`: where to look for ELF files of kernels that have moved; or NULL. */
devlog_status causes_read_some(causes_reading *r, const char *path, const dl_filter *filter,
                               const char *elf_folder, devlog_error *err);
void causes_reading_free(causes_reading *r);

/* "buffer empty", ... */
extern const char *const causes_why_text[CAUSES_WHYS];
/* Why a wait has no ender. */
extern const char *const causes_state_text[CAUSES_STATES];
/* What a part is called: the zone's name, or what it is. */
const char *causes_part_name(const dl_decode *d, uint8_t what, uint32_t site);

#endif
