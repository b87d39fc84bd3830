/* What the device did for each launch, gathered from the decoder's events: first and last firmware and kernel
 * cycle over all cores, for each kind of RISC and for each core. Memory, or room in a folder,
 * grows with launches by less than 300 bytes each, not with events. Which op a launch is of is decided
 * elsewhere (stitch.c). */
#ifndef DEVLOG_OPS_OP_DEVICE_H
#define DEVLOG_OPS_OP_DEVICE_H

#include "decode/decode.h"

enum { OP_RISCS = DL_RISC_OTHER, OP_CORE_WORDS = 4 };

#define OP_NEVER UINT64_MAX /* of starts: there was none */

/* Cycles. Starts are OP_NEVER and ends 0 where there was none. */
typedef struct op_cycles {
    uint64_t fw_start, fw_end;
    uint64_t kernel_start, kernel_end, kernel_last_start;
    uint64_t dm_start; /* first kernel start on BRISC, NCRISC or ERISC */
    uint64_t risc_start[OP_RISCS], risc_end[OP_RISCS];
    uint64_t cb_wait, cb_reserve; /* sums of the circular buffer waits */
    bool has_cb_wait, has_cb_reserve;
    bool cores_twice; /* a core came twice: what is per core is not known */
    /* Kernel durations per core, first kernel start to last kernel end. */
    uint64_t core_min, core_max, core_sum;
    uint32_t core_n;
    uint32_t cores; /* that ran firmware or a kernel */
    uint32_t zones; /* firmware and kernel zones seen */
    uint32_t core;  /* in hand: its index + 1; its kernels: */
    uint64_t core_start, core_end;
    uint64_t seen[OP_CORE_WORDS];
} op_cycles;

typedef struct op_device op_device;

/* Hands itself to the decoder as its event sink; before the first input. The decoder must outlive it.
 * `scratch`: a folder in which it may take room instead of memory (base/big.h), borrowed; or NULL. */
devlog_status op_device_new(op_device **out, dl_decode *decode, const char *scratch, devlog_error *err);
void op_device_free(op_device *d);
/* Nothing of it is wanted at once. */
void op_device_cool(op_device *d);
/* After dl_decode_finish, by number of the launch in dl_decode_launches; NULL: no default zone of it was
 * closed. Valid until the next call but one. */
const op_cycles *op_device_launch(op_device *d, uint32_t launch);

/* Adds what another launch did: for ops with several. */
void op_cycles_none(op_cycles *c);
void op_cycles_add(op_cycles *to, const op_cycles *from);

#endif
