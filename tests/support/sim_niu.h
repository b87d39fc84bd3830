/* The NoC as software sees it, for tests: fields of a request initiator, where the tiles of the rig are, and
 * commands given through the registers. What it is not: any part of the model. */
#ifndef DEVLOG_TESTS_SUPPORT_SIM_NIU_H
#define DEVLOG_TESTS_SUPPORT_SIM_NIU_H

#include "support/sim_rig.h"

/* Offsets and NOC_CTRL values, WormholeB0/NoC/MemoryMap.md. */
enum {
    TARG_LO = 0,
    TARG_MID = 4,
    RET_LO = 0xC,
    RET_MID = 0x10,
    TAG = 0x18,
    CTRL = 0x1C,
    LEN = 0x20,
    DATA = 0x24,
    CMD = 0x28
};
enum {
    READ = 0,
    ATOMIC = 1,
    WRITE = 2,
    WITH_BE = 4,
    INLINE = 8,
    MARKED = 0x10,
    MCAST = 0x20,
    INCLUDE = 0x20000
};

typedef struct request {
    uint32_t noc, initiator;
    uint32_t targ, targ_mid, ret, ret_mid, tag, ctrl, len, data;
} request;

/* Coordinates of tile `index` of the rig, on NoC 0 and NoC 1; `niu_mid` as NOC_TARG_ADDR_MID holds them. */
uint32_t niu_x(uint32_t noc, uint32_t index);
uint32_t niu_y(uint32_t noc, uint32_t index);
uint32_t niu_mid(uint32_t noc, uint32_t index);

/* Address of an initiator's registers. */
uint32_t niu_base(uint32_t noc, uint32_t initiator);
/* A counter by its index in WormholeB0/NoC/Counters.md. */
uint32_t niu_counter(sim *s, uint32_t tile, uint32_t noc, uint32_t index);

/* Fills in the fields; `niu_issue` also gives the command, and says whether it was accepted. */
void niu_fill(sim *s, uint32_t tile, const request *r);
bool niu_issue(sim *s, uint32_t tile, request r);

#endif
