/* The inside of the simulator: what a chip, a tile and a hart consist of.
 *
 * What it is for: the types that the files of this folder share. What it is not: for anybody else; users
 * include sim.h.
 *
 * Time. The chip's clock counts cycles. sim_clock runs in quanta: within a quantum one tile after the other
 * is run for all its cycles, which gives the same result as running all tiles cycle by cycle, because no tile
 * can reach another in less than SIM_QUANTUM cycles: everything that travels (fabric.c) arrives at least that
 * much later, at the start of a cycle, and a quantum never crosses an arrival. A tile that has nothing to do with
 * others may have run further than that (ahead.h); sim_tile_settle puts it back to the chip's clock. */
#ifndef DEVLOG_SIM_CHIP_H
#define DEVLOG_SIM_CHIP_H

#include "sim/rv32.h"
#include "sim/sim.h"
#include "sim/timing.h"

enum {
    SIM_QUANTUM = 32,
    SIM_PAGE_BITS = 12,
    SIM_TAG_BITS = 4,            /* log2 of the bytes that one tag of ahead.h stands for */
    SIM_PAGE_CODE = 1,           /* some word of the page has been decoded */
    SIM_PAGE_TRUTH = 2,          /* some byte of the page is watched */
    SIM_MOST_IN_NO_TIME = 16384, /* instructions of one hart: whoever makes more waits for somebody */
    SIM_NO_HART = 0xff,          /* a store that the tile makes by itself */
    SIM_NOC_COUNTERS = 62,
    SIM_NOC_INITIATORS = 4,
    SIM_NOC_FIELDS = 11,
};

#define SIM_NEVER UINT64_MAX
#define SIM_COLD  __attribute__((cold, noinline))

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "memory is copied to and from registers as it is");

typedef struct sim_tile sim_tile;
typedef struct sim_journal sim_journal;
struct sim_strict;
struct sim_counter;

/* Memory with the decoded form of what has been executed from it. */
typedef struct sim_bank {
    uint32_t base, size;
    uint8_t *bytes;
    sim_op *ops;    /* one per word */
    uint8_t *pages; /* SIM_PAGE_* of each page */
    uint32_t *tags; /* who has accessed what in a trial (ahead.h) */
} sim_bank;

typedef struct sim_hart_core {
    uint64_t ready; /* the cycle in which it can next start an instruction; SIM_NEVER while it does not run */
    uint32_t pc;
    uint32_t x[SIM_REGS];
    const sim_bank *code; /* where pc was last found */
    uint8_t *local;
    uint32_t local_base, local_size;
    bool held, halted, debugged; /* held: in reset */
    uint64_t retired, loads, stores;
    uint64_t live;    /* cycles spent running, without the current run */
    uint64_t started; /* of the current run; SIM_NEVER if there is none */
    uint64_t waited;
    uint32_t in_no_time;         /* instructions in a row that took none */
    struct sim_counter *counter; /* where its cycles go (counted.h); NULL: nobody asks */
    sim_pipe pipe;
    sim_predictor predictor;
} sim_hart_core;

/* Debug timestamper, WormholeB0/TensixTile/DebugTimestamper.md, "Functional specification". */
typedef struct sim_stamper {
    struct {
        bool valid, full, overflow;
        uint32_t start, end, position; /* in units of 16 bytes */
    } bufs[2];
    uint32_t accum[4];
    uint32_t accum_position, event_size;
    uint8_t writer; /* the hart that has appended last */
    bool reset_streams;
    uint32_t control;
} sim_stamper;

/* Network interface unit, WormholeB0/NoC/MemoryMap.md. */
typedef struct sim_niu {
    uint32_t field[SIM_NOC_INITIATORS][SIM_NOC_FIELDS]; /* by offset / 4 */
    uint64_t busy_until[SIM_NOC_INITIATORS];
    uint64_t link_free;  /* when the next flit can leave */
    uint64_t inbox_free; /* when the next flit of a read response can arrive */
    uint32_t counter[SIM_NOC_COUNTERS];
} sim_niu;

struct sim_tile {
    sim *chip;
    const sim_tile_config *config;
    uint32_t index;
    uint64_t clock_offset;
    sim_bank banks[SIM_MAX_RAMS]; /* of a compute tile */
    uint8_t *dram;                /* of a DRAM tile */
    uint64_t dram_used[2];        /* of a DRAM tile, by NoC: when a core has accessed it last; 0: not yet */
    sim_hart_core harts[SIM_MAX_HARTS];
    bool frozen;            /* by a refusal */
    bool rescan;            /* a hart has been released in this cycle, or a packet sent */
    bool ahead, abandoned;  /* a trial is on; it has failed (ahead.h) */
    bool idle;              /* its harts have mostly been waiting in the last quantum */
    uint8_t wait, patience; /* quanta until the next trial; what `wait` becomes when it fails */
    uint8_t rested;         /* quanta without a trial because it is idle */
    uint16_t reach;         /* cycles of the next trial */
    uint16_t epoch;         /* of the tags */
    sim_journal *journal;   /* of its last trial */
    uint32_t soft_reset;
    uint32_t clock_latched;
    sim_stamper stamper;
    sim_niu niu[2];
    struct sim_strict *strict; /* NULL: accesses keep their order */
    uint32_t packets;          /* sent so far: orders those of one cycle */
    char why[160];             /* text of the last refusal of a register */
};

typedef struct sim_packet sim_packet;

struct sim {
    sim_config config;
    uint32_t n_tiles;
    sim_tile *tiles;
    uint64_t clock;
    uint16_t by_place[64][64]; /* index + 1 of the tile at NoC 0 coordinates [y][x] */
    uint64_t *windows;         /* configuration: two words of 64 bits per window */
    uint32_t n_windows;

    uint16_t active[SIM_MAX_TILES]; /* tiles in which a hart runs ... */
    uint32_t n_active;
    bool stale; /* ... or ran: harts have been started or stopped since */

    uint64_t ran_to[SIM_MAX_TILES];       /* of each tile: where it is, if it is ahead of the clock */
    uint32_t arc_scratch[8], arc_control; /* registers of the management core (arc.c) */
    sim_packet **packets;                 /* heap by arrival */
    size_t n_packets, packets_room;

    uint8_t *free_code; /* of each word of a tile's first RAM: takes no time; NULL: none does */

    sim_store *truth;
    size_t n_truth, truth_room, truth_sorted;

    bool faulted, looked_at; /* looked_at: its memory can be read all the same */
    uint64_t fault_cycle;
    uint32_t fault_tile;
    uint8_t fault_hart; /* SIM_NO_HART: none of them */
    uint64_t stop_at;   /* where the clock stops after a refusal by a tile */
    char fault[320];
};

/* Who makes an access to a register: a hart, or something outside (hart SIM_NO_HART). */
typedef struct sim_by {
    uint64_t now;
    uint32_t pc;
    uint8_t hart;
} sim_by;

/* chip.c: refusals and truth. The first refusal in order of time, then of tiles, is the one that counts. It
 * freezes its tile in the middle of `cycle`, in which the harts before `hart` have had their turn. */
SIM_COLD __attribute__((format(printf, 4, 5))) void sim_refuse(sim_tile *t, uint8_t hart, uint64_t cycle,
                                                               const char *format, ...);
SIM_COLD __attribute__((format(printf, 2, 3))) bool sim_refuse_host(sim *s, const char *format, ...);
void sim_truth_add(sim_tile *t, sim_by by, uint32_t addr, uint32_t value, uint32_t size);
const char *sim_hart_name(const sim_tile *t, uint32_t hart);

/* run.c: a tile from the chip's clock until `to`, and further if that makes no difference, but not beyond `end`. Returns the
 * cycle until which it has run. */
uint64_t sim_tile_run(sim_tile *t, uint64_t from, uint64_t to, uint64_t end);
/* Somebody else wants to see or change a tile: it is put back to the chip's clock. */
void sim_tile_settle(sim_tile *t);
/* For the only tile in which harts run: if it is one hart, it runs until `to`, or until it has started another
 * one or sent something. Returns the cycle until which that holds; `from` if it is more than one hart. */
uint64_t sim_tile_run_far(sim_tile *t, uint64_t from, uint64_t to);

#endif
