/* A transport: how the host reaches the memory of a device. One struct of functions per kind, one file each.
 *
 *     sim      the built-in simulator, in this process
 *     ttsim    any libttsim.so with the C ABI of ttsim_abi.h
 *     usb      a debug probe on USB and the debug module of a RISC-V chip
 *     qemu     qemu-system-riscv32 with its RAM shared
 *     kmd      a card on PCIe, by its kernel driver
 *     saved    a file with the state of a device, for looking at it only
 *
 * A transport knows nothing of programs or profiling. Targets are NoC 0 coordinates; addresses are those that
 * the cores use. To add one: a new file with its struct, one line in transports.c, a board file that names
 * it.
 */
#ifndef DEVLOG_TRANSPORT_TRANSPORT_H
#define DEVLOG_TRANSPORT_TRANSPORT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/settings.h"
#include "sim/sim.h"
#include "transport/sim_world.h"

/* One tile (x0 == x1, y0 == y1), or, for writes only, a rectangle of compute tiles. */
typedef struct dl_target {
    uint8_t x0, y0, x1, y1;
} dl_target;

enum { DL_MAX_WINDOW_CLASSES = 4, DL_MAX_HARTS = 8 };

typedef enum dl_window_format { DL_WINDOWS_WORMHOLE, DL_WINDOWS_BLACKHOLE } dl_window_format;

/* The layout of BAR0, from the board file. */
typedef struct dl_window_layout {
    dl_window_format format;
    uint32_t n_classes;
    struct {
        uint32_t count;
        uint8_t bits;
    } classes[DL_MAX_WINDOW_CLASSES];
    uint32_t reserved; /* windows at the end of the last class that are not ours */
    uint32_t config_offset;
    uint32_t pci_vendor, pci_device;
} dl_window_layout;

/* For the transport "usb"; 0: its default, or any. */
typedef struct dl_usb_setup {
    uint32_t khz;        /* of JTAG */
    uint32_t idcode;     /* that the chip must have */
    uint32_t timeout_ms; /* of an answer of the probe */
} dl_usb_setup;
/* One hart of a tile, as far as starting it is concerned. */
typedef struct dl_hart {
    uint32_t reset_pc;
    int reset_bit; /* of the soft-reset register; -1: none */
} dl_hart;

typedef struct dl_memory {
    uint32_t base, size;
} dl_memory;

/* What a transport needs to open; borrowed for the call. */
typedef struct dl_transport dl_transport;

typedef struct dl_transport_setup {
    const char *path;               /* what to open: a library, a device node, a serial number; or NULL */
    const sim_config *sim;          /* for the built-in simulator */
    const sim_world_options *world; /* for the built-in simulator */
    dl_transport *peer;             /* a simulated chip in whose world this one is to be; or NULL */
    const dl_window_layout *layout; /* for PCIe transports */
    const dl_usb_setup *usb;        /* for the transport "usb"; or NULL */
    uint32_t mhz;                   /* of the chip's clock */
    const dl_hart *harts;
    uint32_t n_harts;
    uint32_t soft_reset, soft_reset_mask; /* address of the register that holds harts in reset; 0: none */
    const dl_memory *rams;                /* of a tile; the first is the largest that holds programs */
    uint32_t n_rams;
    dl_memory boot;               /* memory of a tile that belongs to the transport; size 0: none */
    const struct kmd_system *kmd; /* for the transport "kmd": the calls of the system; NULL: those of Linux */
    /* A register that never reads as all ones, to tell a dead link by; size 0: none is known. */
    struct {
        uint8_t x, y;
        uint64_t at;
        uint32_t size;
    } alive;
    bool attach; /* only look at a device that runs, or has run: nothing is started or stopped */
} dl_transport_setup;

typedef struct dl_transport_ops {
    const char *name;
    const char *summary;
    dl_setting path_setting; /* what to open when nothing else says so; or DL_SET_NONE */
    devlog_status (*open)(dl_transport *t, const dl_transport_setup *setup, devlog_error *err);
    void (*close)(dl_transport *t);
    /* Reads or writes `size` bytes; any size and alignment in memory, aligned words in register space. */
    devlog_status (*read)(dl_transport *t, dl_target at, uint64_t addr, void *dst, size_t size,
                          devlog_error *err);
    devlog_status (*write)(dl_transport *t, dl_target at, uint64_t addr, const void *src, size_t size,
                           devlog_error *err);
    /* For boards without a register that does it: holds the harts of a tile whose bit is set in reset, and
     * lets the others go, from their reset pc if they were held. NULL where it cannot. */
    devlog_status (*hold)(dl_transport *t, dl_target at, uint32_t held, devlog_error *err);
    /* The board of a state that was saved from it; then the board file need not list the transport. */
    devlog_status (*board_of)(const char *path, char *name, size_t size, devlog_error *err);
    /* Lets simulated time pass (cycles), or waits a little where that spares the device; NULL where time
     * passes by itself. */
    devlog_status (*advance)(dl_transport *t, uint32_t cycles, devlog_error *err);
    /* The time on the host as far as the device is concerned, in ns; NULL where that is the monotonic clock.
     * A simulator's time passes only with its cycles. */
    uint64_t (*now_ns)(dl_transport *t);
    /* Lets time pass for a chip that is slow to do what it was asked; NULL: the caller sleeps. */
    void (*wait_ms)(dl_transport *t, uint32_t ms);
    /* A chip of its own, which may have tiles that are switched off: harvest.c finds out before any is
     * touched.
     */
    bool card;
    /* Columns and rows, by coordinate, that the device of a saved state had not got; NULL: it had all. */
    void (*dead)(const dl_transport *t, uint64_t *columns, uint64_t *rows);
    /* The pc of a hart, where the transport can tell without stopping it; NULL where it cannot. */
    bool (*hart_pc)(dl_transport *t, dl_target at, uint32_t hart, uint32_t *pc);
    /* Where the cycles of a hart have gone since this was asked last (sim/sim.h); *out is freed by the caller. False, or
     * NULL: it does not know. */
    bool (*cycles)(dl_transport *t, dl_target at, uint32_t hart, sim_cycles **out, size_t *n);
    /* Whose doing it was that the device has stopped; false, or NULL: not known. */
    bool (*stopped_by)(dl_transport *t, dl_target *at, uint32_t *hart);
} dl_transport_ops;

struct dl_transport {
    const dl_transport_ops *ops;
    void *state;
    /* Counted here for every transport: calls and bytes. */
    uint64_t reads, writes, bytes_read, bytes_written;
    bool instructions; /* a simulator without timing: its cycles are instructions */
    char note[160];    /* what its user should know of how it was opened; "": nothing */
    /* Bytes that the last read got, and that are right, before it failed: what is worth keeping. */
    size_t partial;
};

/* The transport called `name`, or NULL. */
const dl_transport_ops *dl_transport_find(const char *name);
/* Number i of all transports, or NULL behind the last. */
const dl_transport_ops *dl_transport_at(uint32_t i);

devlog_status dl_transport_open(dl_transport *t, const dl_transport_ops *ops, const dl_transport_setup *setup,
                                devlog_error *err);
void dl_transport_close(dl_transport *t);
devlog_status dl_read(dl_transport *t, dl_target at, uint64_t addr, void *dst, size_t size,
                      devlog_error *err);
devlog_status dl_write(dl_transport *t, dl_target at, uint64_t addr, const void *src, size_t size,
                       devlog_error *err);

/* Time stands still but for the cycles that the device is told to do (advance): a simulator, and no card. */
bool dl_transport_time_is_cycles(const dl_transport *t);

/* Waits, in the time of the device. */
void dl_transport_wait_ms(dl_transport *t, uint32_t ms);

/* The host's clock that belongs to the device's, in ns. */
uint64_t dl_transport_now(dl_transport *t);

/* The built-in simulator behind an open transport of kind "sim"; NULL for any other. For tests and benches.
 */
sim *dl_transport_sim(dl_transport *t);

#endif
