/* The device model: a CMSIS-DAP v2 probe, a JTAG TAP, a RISC-V debug transport and debug module, and a tile
 * of our own simulator behind it. Faults on demand. model_usb.h attaches it to the real libusb.
 *
 * Its time is its own: the tile runs cycles_per_tck cycles for every clock of JTAG, and not otherwise, so
 * that every run is the same. Sources: CMSIS-DAP 2.1; IEEE 1149.1; RISC-V External Debug Support 0.13.2. */
#ifndef DEVLOG_TESTS_USB_MODEL_H
#define DEVLOG_TESTS_USB_MODEL_H

#include "device/board.h"
#include "sim/sim.h"

typedef enum model_fault {
    MODEL_NO_FAULT,
    MODEL_STALL_OUT,    /* the packet is refused: the endpoint stalls until it is cleared */
    MODEL_STALL_IN,     /* the packet is executed, the answer stalls */
    MODEL_SHORT,        /* half of the answer comes */
    MODEL_EMPTY,        /* an answer of no bytes */
    MODEL_WRONG_ANSWER, /* an answer to another command */
    MODEL_TIMEOUT,      /* executed, but the answer never comes */
    MODEL_LATE,         /* the answer comes when nobody waits any more */
    MODEL_DMI_BUSY,     /* the first access to the debug module finds it busy */
    MODEL_SLOW,         /* from here on more idle clocks are needed than dtmcs says */
    MODEL_SB_BUSY,      /* the next access to the bus comes too soon */
    MODEL_SB_ERROR,     /* the next access to the bus fails */
    MODEL_UNPLUG,
    MODEL_FAULTS
} model_fault;

extern const char *const model_fault_names[MODEL_FAULTS];

typedef struct model_options {
    const char *serial;
    uint32_t idcode;
    uint32_t abits, idle; /* as dtmcs tells them */
    uint32_t dmi_clocks;  /* idle clocks that an access to the debug module really needs */
    uint32_t bus_clocks;  /* clocks that an access to the bus takes */
    uint32_t packet_bytes, packet_count;
    uint32_t cycles_per_tck;
    uint32_t answer_us; /* what a packet takes besides */
    bool real_time;     /* the tile's counter follows the host's monotonic clock */
    bool version_1;     /* of the debug specification: 1.0 rather than 0.13 */
    bool no_bus;        /* no system bus access */
    bool no_narrow;     /* the bus takes only words */
    uint32_t progbuf;   /* words of the program buffer */
    bool abstract_memory;
    int stuck;     /* TDO: -1 stays low, 1 stays high, 0 follows the chip */
    bool no_jtag;  /* the probe cannot drive JTAG */
    int other_tap; /* another TAP: -1 nearer to TDO, 1 further away, 0 none */
} model_options;

/* Everything at its default for a board. */
model_options model_defaults(const board *b);

typedef struct model model;

/* NULL when the board cannot be simulated. */
model *model_create(const board *b, const model_options *options);
void model_destroy(model *m);

/* The tile, for checks. */
const char *model_serial(const model *m);
sim *model_sim(model *m);
uint32_t model_tile(const model *m);
/* The tile's counter at a time of the host's monotonic clock, with real_time. */
double model_clock_at(const model *m, uint64_t ns);

/* Arms a fault for packet number `packet` from now (0: the next). */
void model_arm(model *m, model_fault fault, uint32_t packet);
/* The same for every packet from now on. */
void model_arm_all(model *m, model_fault fault);
/* Cycles of the tile per clock of JTAG from now on. */
void model_speed(model *m, uint32_t cycles_per_tck);
/* What a packet takes besides, from now on. */
void model_delay(model *m, uint32_t answer_us);
/* Words of the program buffer from now on. */
void model_set_progbuf(model *m, uint32_t words);
/* Takes MODEL_SLOW back. */
void model_quick(model *m);
/* True when the armed fault has happened. */
bool model_happened(const model *m);
/* Packets and clocks of JTAG since it was made. */
uint64_t model_packets(const model *m);
uint64_t model_clocks(const model *m);
/* Words that the bus has read and written. */
uint64_t model_bus_reads(const model *m);
uint64_t model_bus_writes(const model *m);

/* Probe and debug module as after power-on; the tile stays as it is, its harts running. */
void model_restart(model *m);

/* What the probe does with a command packet. */
typedef enum model_reply {
    MODEL_ANSWERS,
    MODEL_STALLS,
    MODEL_STALLS_IN,
    MODEL_SILENT,
    MODEL_ANSWERS_LATE,
    MODEL_GONE
} model_reply;
model_reply model_packet(model *m, const uint8_t *out, uint32_t n, uint8_t *in, uint32_t *n_in);

#endif
