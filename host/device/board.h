/* A board: every number that depends on a chip, read from boards/NAME.json, the single source of them.
 *
 * The device header and the linker constants (board_gen.h) and the simulator's configuration (board_sim.h)
 * are made from this struct. Addresses and sizes are bytes; coordinates are NoC 0 coordinates, except for
 * "logical" ones, which count compute tiles from (0, 0) at the top left. */
#ifndef DEVLOG_DEVICE_BOARD_H
#define DEVLOG_DEVICE_BOARD_H

#include <stdbool.h>
#include <stdint.h>

#include "base/chip_grid.h"
#include "devlog/devlog.h"

enum {
    BOARD_MAX_RISCS = 8,
    BOARD_MAX_LINE = 32, /* columns or rows of the grid */
    BOARD_MAX_DRAM = 32,
    BOARD_MAX_CLASSES = 4,
    BOARD_MAX_RAMS = 4,
    BOARD_MAX_TRANSPORTS = 8,
};

typedef struct board_region {
    uint32_t base, size;
} board_region;

typedef enum board_clock_kind {
    BOARD_CLOCK_MMIO, /* two 32-bit registers, low and high */
    BOARD_CLOCK_CSR,  /* mcycle and mcycleh */
} board_clock_kind;

/* How a RISC comes to see code that was written by the host. */
typedef enum board_icache {
    BOARD_ICACHE_REGISTER, /* by a register, if the board names one */
    BOARD_ICACHE_FENCE,    /* each RISC executes fence.i before it runs a kernel */
    BOARD_ICACHE_REWRITE,  /* each RISC stores the code of its kernel once more: an emulator that translates
                              code  does not see what is stored from outside */
} board_icache;

enum { BOARD_ANY_NOC = 2 };

typedef enum board_role { BOARD_MANAGER, BOARD_WORKER } board_role;

typedef struct board_risc {
    char name[16];     /* BRISC, NCRISC, TRISC0.. */
    char log_name[17]; /* in device logs, as tt-metal's writers and readers have it: TRISC_0 for TRISC0 */
    board_role role;   /* the manager takes launch messages and starts the workers */
    int reset_bit;     /* of the soft-reset register; -1: none */
    uint32_t reset_pc;
    board_region local;    /* local data RAM: stack and variables */
    board_region firmware; /* code */
    board_region kernel;   /* code, constants and the initial values of data */
    bool backend_config;   /* may write the backend configuration */
    uint32_t local_window; /* where others see its local data RAM while it is not in reset; 0: nowhere */
} board_risc;

typedef struct board_xy {
    uint8_t x, y;
} board_xy;

typedef struct board_window_class {
    uint32_t count;
    uint8_t bits;
} board_window_class;

typedef enum board_window_format {
    BOARD_WINDOWS_NONE, /* not a PCIe board */
    BOARD_WINDOWS_WORMHOLE,
    BOARD_WINDOWS_BLACKHOLE,
} board_window_format;

/* The management core, which knows what the chip has: where its tile is, and its telemetry table in it. */
typedef struct board_arc {
    uint8_t x, y;
    uint64_t space; /* what the NoC adds to the core's own addresses */
    uint64_t table,
        data;          /* addresses of the pointers to the table of tags and to the values; 0: no such core */
    uint64_t messages; /* registers that take messages; 0: harvesting is in the table */
    uint32_t n_fuses;  /* columns, or rows, in the order of the bits that say which are there */
    uint8_t fuses[BOARD_MAX_LINE];
    bool columns; /* columns are harvested; otherwise rows */
} board_arc;

typedef struct board {
    char name[32], title[96], arch[32], march[32], mabi[16];
    char linker[1024]; /* path of a linker fragment that all device code is linked with; empty: none */
    uint32_t n_transports;
    char transports[BOARD_MAX_TRANSPORTS][16];

    uint32_t mhz;
    board_clock_kind clock_kind;
    uint32_t clock_low, clock_high, clock_latched;
    bool clocks_start_together; /* claimed by the board file; checked, never believed */

    uint32_t soft_reset, soft_reset_init, soft_reset_mask;
    uint32_t timestamp, icache_invalidate, mtime;
    uint32_t noc_regs[2];

    uint32_t n_rams;
    board_region rams[BOARD_MAX_RAMS];
    uint32_t n_riscs;
    board_risc riscs[BOARD_MAX_RISCS];
    board_region mailbox, profiler, user;
    board_region events; /* buffer of the tile's event stream; size 0: none */
    board_region boot;   /* memory that belongs to the transport: what starts the harts; size 0: none */
    board_icache icache;
    bool
        data_cache; /* loads may come from a cache of the RISC that nobody else's stores reach; fence empties it */
    uint32_t segment_bits; /* log2 of the size of one segment of records; see devlog/record.h */

    uint8_t noc_width, noc_height;
    uint32_t n_columns, n_rows;
    uint8_t columns[BOARD_MAX_LINE], rows[BOARD_MAX_LINE];
    uint64_t dead_columns, dead_rows; /* by coordinate: those that an open card has not got */
    board_arc arc;
    uint32_t n_dram;
    board_xy dram[BOARD_MAX_DRAM];
    uint8_t dram_noc[BOARD_MAX_DRAM]; /* the NoC that alone may be used to reach it, or BOARD_ANY_NOC */
    uint64_t dram_size;
    uint32_t n_tiles; /* what stands where no compute tile is, for pictures: nothing is done with them */
    chip_tile tiles[CHIP_GRID_TILES];

    uint32_t pci_vendor, pci_device;
    board_window_format window_format;
    uint32_t n_classes;
    board_window_class classes[BOARD_MAX_CLASSES];
    uint32_t reserved_windows; /* at the end of the last class, for the kernel driver */
    uint32_t window_config_offset;
    uint64_t bar0_base, bar0_size;

    uint32_t usb_khz, usb_idcode; /* JTAG behind a debug probe: clock, and IDCODE of the chip (0: any) */
} board;

/* Reads the board file `name`: a name in the boards folder (see base/paths.h) or a path that ends in .json.
 * Checks that every region lies in RAM and that no two overlap. */
devlog_status board_load(const char *name, board *out, devlog_error *err);

/* The same from text; `origin` is what messages call it. */
devlog_status board_parse(const char *json, const char *origin, board *out, devlog_error *err);

/* NoC coordinates of a logical core. False when it is outside the grid. */
bool board_core_noc(const board *b, uint32_t x, uint32_t y, board_xy *out);

/* The NoC that a RISC's firmware writes to DRAM by (firmware/noc.h). */
static inline uint32_t board_noc_of_risc(uint32_t risc)
{
    return risc < 4 ? 0 : 1;
}

/* Index of a RISC by name (any letter case, with or without the underscore of TRISC_0), or -1. */
int board_risc_index(const board *b, const char *name);

/* True when the whole region lies in one of the RAMs that the RISCs of a tile share. */
bool board_in_ram(const board *b, board_region at);

/* Base address of the profiler region of a RISC. */
uint32_t board_profiler_base(const board *b, uint32_t risc);

#endif
