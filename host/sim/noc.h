/* The NoC: each tile's two network interface units (NIUs) and what travels between them.
 *
 * What it is for: requests that software makes through the registers of an NIU - reads, writes, multicast
 * writes, atomics - and the counters that it polls. What it is not: a model of routers, virtual channels or
 * congestion. A packet takes SIM_NOC_BASE cycles, SIM_NOC_HOP for each hop, and one cycle for each flit of 32
 * bytes that leaves the NIU; docs/simulator.md says what of that is documented. */
#ifndef DEVLOG_SIM_NOC_H
#define DEVLOG_SIM_NOC_H

#include "sim/chip.h"

enum {
    SIM_NIU_SIZE = 0x10000,
    SIM_NOC_BASE =
        SIM_QUANTUM,    /* NIU to router and router to NIU (about 5 cycles each), and the NIUs' own work */
    SIM_NOC_HOP = 9,    /* WormholeB0/NoC/README.md, "Performance" */
    SIM_NOC_ACCEPT = 4, /* cycles for which NOC_CMD_CTRL stays busy at least */
    SIM_NOC_FLIT = 32,  /* bytes */
    SIM_NOC_MAX_BYTES = 8192,
};

typedef enum sim_packet_kind {
    SIM_PACKET_WRITE,
    SIM_PACKET_READ,
    SIM_PACKET_ATOMIC,
    SIM_PACKET_ACK,
    SIM_PACKET_DATA,   /* response to a read */
    SIM_PACKET_RESULT, /* response to an atomic */
} sim_packet_kind;

/* Inclusive; it wraps around where start > end (WormholeB0/NoC/MemoryMap.md, "NOC_TARG_ADDR and
 * NOC_RET_ADDR"). */
typedef struct sim_rect {
    uint8_t x_start, y_start, x_end, y_end;
} sim_rect;

struct sim_packet {
    uint64_t at;     /* arrives at the start of this cycle */
    uint64_t issued; /* these three order what arrives in the same cycle */
    uint32_t source, order;
    sim_packet_kind kind;
    uint8_t noc, hart, transaction;
    bool answer; /* not posted */
    bool multicast, include_source;
    bool by_mask;         /* an inline write: 16 bytes, `mask` says which */
    bool late;            /* a write whose data leave their memory as late as they can: from return_addr */
    uint32_t pc;          /* of the command, for messages */
    uint32_t target;      /* tile index, if not multicast */
    sim_rect rect;        /* if multicast, in coordinates of this NoC */
    uint64_t addr;        /* at the target */
    uint64_t return_addr; /* at the source */
    uint32_t size, value, mask, acks;
    uint8_t bytes[]; /* `size` of them for WRITE, READ and DATA */
};

const char *sim_niu_read(sim_tile *t, uint32_t noc, sim_by by, uint32_t offset, uint32_t *value);
const char *sim_niu_write(sim_tile *t, uint32_t noc, sim_by by, uint32_t offset, uint32_t value);

/* Tile at coordinates of a NoC, or NULL. */
sim_tile *sim_noc_tile(sim *s, uint32_t noc, uint32_t x, uint32_t y);
/* Compute tiles only: others opt out of broadcasts. */
bool sim_noc_in_rect(const sim_tile *t, uint32_t noc, sim_rect rect);
uint32_t sim_noc_flits(uint32_t size);

/* fabric.c */
sim_packet *sim_packet_new(uint32_t size);
/* Takes the packet, which arrives after the way from `from` to its target once `from` can send it. False: no
 * memory. */
const char *sim_packet_send(sim_tile *from, sim_packet *p, uint64_t now);
/* When the next packet arrives, or SIM_NEVER. */
uint64_t sim_packets_next(const sim *s);
/* Everything that arrives at the start of cycle s->clock. */
void sim_packets_deliver(sim *s);
void sim_packets_free(sim *s);

#endif
