/* The records of this RISC: its control block and the default markers. Without -DPROFILE_DEVICE all of it is
 * empty. */
#ifndef DEVLOG_FIRMWARE_RECORDS_H
#define DEVLOG_FIRMWARE_RECORDS_H

#include <stdint.h>

#include "devlog/record.h"
#include "devlog_board.h"

#if defined(PROFILE_DEVICE)

#define RECORDS_REGION (DEVLOG_PROFILER + DEVLOG_RISC * DEVLOG_REGION_BYTES(DEVLOG_SEGMENT_BITS))

static inline volatile devlog_control *records_control(void)
{
    return (volatile devlog_control *)(uintptr_t)(RECORDS_REGION +
                                                  DEVLOG_CONTROL_OFFSET(DEVLOG_SEGMENT_BITS));
}

static inline uint32_t records_segment(uint32_t segment)
{
    return RECORDS_REGION + segment * DEVLOG_SEGMENT_STRIDE(DEVLOG_SEGMENT_BITS);
}

/* The cursor is register tp, everywhere. */
static inline uint32_t records_cursor(void)
{
    uint32_t tp;
    __asm__ __volatile__("mv %0,tp" : "=r"(tp));
    return tp;
}

static inline void records_set_cursor(uint32_t tp)
{
    __asm__ __volatile__("mv tp,%0" ::"r"(tp));
}

/* Measures what each kind of marker costs and leaves it in the control block (cost.c). */
void records_measure_cost(void);

/* At power-on: marks the block as initialised. */
void records_boot(void);

/* The firmware was started again: counts it. Uses no stack. */
static inline void records_restarted(void)
{
    volatile devlog_control *control = records_control();
    control->damage = control->damage + DEVLOG_DAMAGE_RESTART;
}

/* Begins a launch: takes the stamp of FW start, resets the block and the cursor. */
void records_begin(uint32_t launch, uint32_t host_id);

/* Takes the stamp of a default marker (DEVLOG_ID_*) and notes the state that it leads to. */
void records_mark(uint32_t id, uint32_t state);

/* After the kernel: publishes where its records end. */
void records_finish(void);

#else

#define records_boot()                 ((void)0)
#define records_restarted()            ((void)0)
#define records_begin(launch, host_id) ((void)(launch), (void)(host_id))
#define records_mark(id, state)        ((void)0)
#define records_finish()               ((void)0)

#endif

#endif
