/* The built-in simulator: a chip of tiles with RV32IM harts, seen through a PCIe window.
 *
 * What it is for: running the same binaries as the hardware, deterministically to the bit, and knowing by
 * itself what they stored (ground truth for tests). What it is not: a model of the Tensix coprocessor or of
 * real NoC timing; docs/simulator.md says what is modelled and from which document.
 *
 * Everything that depends on a chip is in sim_config: the simulator knows no board. An access that it does
 * not model stops the simulation with a message that names the access, the tile, the hart and the pc
 * (sim_fault); nothing is guessed. One object per simulation; no global state; one thread at a time. */
#ifndef DEVLOG_SIM_SIM_H
#define DEVLOG_SIM_SIM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    SIM_MAX_HARTS = 8,
    SIM_MAX_TILES = 256,
    SIM_MAX_WINDOW_CLASSES = 4,
    SIM_MAX_RAMS = 4,
    SIM_MAX_TAGS = 16
};

/* What an instruction waited for before it started, or kept the next one waiting with (counted.h). */
typedef enum sim_stall {
    SIM_STALL_L1,       /* a value that is being loaded from a RAM of the tile */
    SIM_STALL_REGISTER, /* ... from a register of the tile or of the NoC */
    SIM_STALL_LOCAL,    /* ... from the local RAM */
    SIM_STALL_BEHIND,   /* a result that has to leave the pipeline behind a load */
    SIM_STALL_MULDIV,   /* a multiplication or division */
    SIM_STALL_JUMP,     /* a branch or jump that was mispredicted */
    SIM_STALL_STORES,   /* the queue of stores is full */
    SIM_STALL_LOADS,    /* so are the places for what has not left the pipeline yet, or for loads */
    SIM_STALL_ORDER,    /* a load behind a queued store of the same bytes */
    SIM_STALL_FENCE,    /* fence, or a read of a CSR */
    SIM_STALLS
} sim_stall;
extern const char *const sim_stall_names[SIM_STALLS]; /* "L1", .. */

typedef struct sim sim;

/* One RISC-V hart of a compute tile. */
typedef struct sim_hart_config {
    char name[16];       /* "BRISC", as messages print it */
    uint32_t reset_pc;   /* pc when released from reset */
    int8_t reset_bit;    /* bit of the soft-reset register; held in reset while it is set. -1: it has none */
    uint32_t local_size; /* bytes of local data RAM at local_base; 0: none */
    uint32_t
        local_window;    /* where everybody else sees that RAM, while the hart is not in reset; 0: nowhere */
    bool backend_config; /* may access the backend configuration space (icache invalidate) */
} sim_hart_config;

typedef enum sim_tile_kind { SIM_TILE_TENSIX, SIM_TILE_DRAM, SIM_TILE_ARC } sim_tile_kind;

typedef struct sim_tile_config {
    sim_tile_kind kind;
    uint8_t x, y;          /* NoC 0 coordinates */
    uint64_t clock_offset; /* added to the chip's clock to give this tile's wall clock (cycles) */
    bool dead;             /* switched off in this chip (harvested): whoever touches it hangs the chip */
} sim_tile_config;

/* What the tile of the management core shows of itself: its telemetry table and one message. */
typedef struct sim_arc_config {
    uint64_t space;       /* what the NoC adds to the core's own addresses */
    uint64_t table, data; /* addresses of the pointers to the table of tags and to the values */
    uint64_t messages;    /* base of the registers that take messages; 0: it takes none */
    bool silent;          /* its firmware does not run: the pointers are 0, messages are not answered */
    uint32_t version;     /* of the table */
    uint32_t harvested;   /* what the message that asks for harvesting is answered with */
    uint32_t n_tags;
    struct {
        uint32_t tag, value;
    } tags[SIM_MAX_TAGS];
} sim_arc_config;

/* Memory shared by the harts of a compute tile. The first is its L1. */
typedef struct sim_ram {
    uint32_t base, size; /* bytes */
} sim_ram;

/* A run of equally large TLB windows in BAR0, in address order. */
typedef struct sim_window_class {
    uint32_t count;
    uint8_t bits; /* log2 of the window's size */
} sim_window_class;

/* Whose pipeline the cores have (timing.h). */
typedef enum sim_cores { SIM_CORES_WORMHOLE, SIM_CORES_BLACKHOLE } sim_cores;

typedef enum sim_window_format {
    SIM_WINDOW_WORMHOLE,  /* 64-bit configuration (WormholeB0/PCIExpressTile/TLBs.md) */
    SIM_WINDOW_BLACKHOLE, /* 96-bit configuration, three 32-bit words per window */
} sim_window_format;

typedef struct sim_config {
    char name[32];
    uint32_t pci_id; /* config space offset 0: vendor | device << 16 */
    uint8_t noc_width, noc_height;

    uint32_t n_tiles;
    sim_tile_config tiles[SIM_MAX_TILES];

    uint32_t n_harts;
    sim_hart_config harts[SIM_MAX_HARTS];
    uint32_t n_rams;
    sim_ram rams[SIM_MAX_RAMS];
    uint32_t local_base; /* address of each hart's local data RAM */
    uint64_t dram_size;  /* bytes per DRAM tile; allocated lazily */

    /* Registers of a compute tile (absolute addresses); 0: the tile has no such register. */
    uint32_t soft_reset_addr;
    uint32_t soft_reset_init; /* value of the register at power-on */
    uint32_t soft_reset_mask; /* bits that may be set */
    uint32_t clock_low_addr, clock_high_addr, clock_latched_addr;
    uint32_t timestamp_addr;   /* event streams of the debug timestamper; 6 further registers follow */
    uint32_t icache_addr;      /* RISCV_IC_INVALIDATE in the backend configuration */
    uint32_t mtime_addr;       /* a 64-bit machine timer (low word first) that counts cycles */
    bool csr_cycle;            /* cycle, cycleh, mcycle, mcycleh, mhartid can be read as CSRs */
    uint32_t noc_regs_addr[2]; /* NIU register blocks of NoC 0 and NoC 1 */
    bool noc_wide; /* Blackhole's NIU: initiators 0x800 apart, coordinates in words of their own, and
                      both NoCs count them from the same corner */

    sim_arc_config arc; /* of the tile of kind SIM_TILE_ARC, if there is one */

    sim_window_format window_format;
    uint32_t n_window_classes;
    sim_window_class windows[SIM_MAX_WINDOW_CLASSES];
    uint64_t bar0_base, bar0_size;
    uint32_t window_config_offset; /* offset in BAR0 of the window configuration array */

    uint64_t clock_start; /* chip clock at sim_create (cycles) */
    bool functional;      /* true: every instruction takes one cycle (as ttsim); false: the cost table */
    sim_cores cores;      /* ... of which chip */
    bool data_cache; /* Blackhole's cores: a data cache that is not coherent, and a fence that empties it */
    bool strict;     /* accesses overtake each other wherever the documents allow it (strict.h) ... */
    uint64_t strict_seed; /* ... as this says */
    uint64_t limit;    /* cycles after which the simulation is stopped: for tests of what may hang; 0: none */
    bool count_cycles; /* keeps what sim_cycles_take hands out; not on the strict model */

    /* Stores by harts into [truth_base, truth_base + truth_size) of a tile's RAM are logged; size 0: none. */
    uint32_t truth_base, truth_size;
} sim_config;

/* Makes a simulator in the state of power-on: every hart held in reset, memories zero. The configuration is
 * copied. NULL on a bad configuration or no memory, with a reason in `why` (may be NULL). */
sim *sim_create(const sim_config *config, char *why, size_t why_size);
void sim_destroy(sim *s);

/* Config space of the simulated PCIe device: ids at 0, BAR0 at 0x10/0x14, all-ones where there is nothing. */
uint32_t sim_config_read(sim *s, uint32_t offset);

/* Access through BAR0 by bus address: TLB windows, their configuration. False after a refusal (sim_fault). */
bool sim_bus_read(sim *s, uint64_t addr, void *dst, uint32_t size);
bool sim_bus_write(sim *s, uint64_t addr, const void *src, uint32_t size);

/* Advances every tile by n cycles. False once the simulation has been stopped by a refusal. */
bool sim_clock(sim *s, uint32_t n);

/* The refusal that stopped the simulation, one line; NULL while it runs. Owned by s. */
const char *sim_fault(const sim *s);
/* Whose doing that was, by the index of the tile in the configuration; false: no hart's. */
bool sim_fault_by(const sim *s, uint32_t *tile, uint32_t *hart);

/* After a refusal: what can be read through the windows can be read again, and windows can be configured. */
void sim_look(sim *s);

/* ---- What only a simulator can tell (tests, benches, `devlog dump`) -------------------------------- */

/* One store by a hart into the watched region, in the order in which the stores happened: by cycle, then by
 * tile, then by hart. Stores that a tile makes by itself (event streams of the debug timestamper) have hart
 * 0xFF and come last. */
typedef struct sim_store {
    uint64_t cycle; /* chip clock (without the tile's offset) */
    uint32_t addr, value;
    uint32_t pc;
    uint16_t tile; /* index in sim_config.tiles */
    uint8_t hart, size;
} sim_store;

/* All stores logged since sim_create or sim_truth_clear; owned by s, valid until the next sim call. */
const sim_store *sim_truth(const sim *s, size_t *count);
void sim_truth_clear(sim *s);

typedef struct sim_hart_state {
    uint32_t pc;
    uint32_t x[32];
    bool in_reset;
    uint64_t retired; /* instructions since sim_create */
    uint64_t loads, stores;
    uint64_t stalled; /* cycles spent waiting, of the time out of reset */
    uint64_t waited;  /* cycles in which it went around in code that takes no time (sim_free_code) */
} sim_hart_state;

/* Index of the tile at NoC 0 coordinates, or -1. */
int sim_tile_at(const sim *s, uint32_t x, uint32_t y);
/* The other way. */
void sim_tile_place(const sim *s, uint32_t tile, uint8_t *x, uint8_t *y);
/* Gives a tag of the telemetry table another value, as the management core does all the time. */
void sim_arc_tell(sim *s, uint32_t tag, uint32_t value);
/* Lets the wall clock of every tile jump forward by so many cycles in which nothing happens: for tests of
 * long waits. The chip clock, which counts simulated cycles, stays. */
void sim_skip(sim *s, uint64_t cycles);
/* Code at [from, to) of the first RAM of every tile takes no time from now on: no cycle, no place in a queue,
 * no guess of the frontend; `to` 0: none does any more. Tells what a program would take without its markers.
 * Where such code waits for something outside of its hart time goes on, and sim_hart_state.waited counts it.
 * False: no memory, or there is no such RAM. */
bool sim_free_code(sim *s, uint32_t from, uint32_t to);
uint64_t sim_chip_clock(const sim *s);
uint64_t sim_retired_total(const sim *s);
/* False if there is no such compute tile or hart. Tiles are named by index in sim_config.tiles. */
bool sim_hart(const sim *s, uint32_t tile, uint32_t hart, sim_hart_state *out);
/* What a hart's time went to at one pc. */
typedef struct sim_cycles {
    uint32_t pc;
    uint64_t count;               /* instructions that were started */
    uint64_t cycles;              /* from when the instruction was next to when its successor was */
    uint64_t stalled[SIM_STALLS]; /* of these, all but the one that every instruction takes */
} sim_cycles;
/* Where the cycles of a hart have gone since this was asked last (or since sim_create), by ascending pc: their
 * sum is the time that it has been out of reset. *out is freed by the caller. False: no memory, no such hart, or
 * the configuration does not ask for it (count_cycles). */
bool sim_cycles_take(sim *s, uint32_t tile, uint32_t hart, sim_cycles **out, size_t *n);
/* Pointer to a compute tile's RAM number `ram` or NULL; for checks, not for drivers. */
uint8_t *sim_ram_bytes(sim *s, uint32_t tile, uint32_t ram);

/* ---- What a debug module does (the model of a debug probe uses these) ------------------------------ */

/* Memory and registers of a tile as a system bus sees them. False on a refusal, which does not stop the
 * simulation here: an access of a debugger to nothing is a bus error and not a fault of the program. */
bool sim_tile_read(sim *s, uint32_t tile, uint32_t addr, void *dst, uint32_t size);
bool sim_tile_write(sim *s, uint32_t tile, uint32_t addr, const void *src, uint32_t size);

/* Halts or resumes a hart; a halted hart keeps its state. ebreak halts by itself when `debugged` is set. */
void sim_hart_halt(sim *s, uint32_t tile, uint32_t hart, bool halted);
bool sim_hart_halted(const sim *s, uint32_t tile, uint32_t hart);
void sim_hart_debugged(sim *s, uint32_t tile, uint32_t hart, bool debugged);
/* Puts a hart into reset or releases it, as its bit in the soft-reset register does. The only way to start a
 * hart that has no such bit (reset_bit -1): a microcontroller's. */
void sim_hart_reset(sim *s, uint32_t tile, uint32_t hart, bool held);
/* Register 0-31, or 32 for the pc; the hart must be halted or in reset. */
void sim_hart_set(sim *s, uint32_t tile, uint32_t hart, uint32_t reg, uint32_t value);

#endif
