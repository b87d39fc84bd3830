/* The records of this RISC as the firmware sees them: control block, default markers, beginning and end of a
 * launch. See include/devlog/record.h for the layout. Not for markers (include/devlog/profile_impl.h) and not
 * for what happens when a segment is full (segment.c). */
#include "records.h"
#include "devlog/order.h"
#include "noc.h"

#if defined(PROFILE_DEVICE)

#include "devlog/profile_impl.h"

void records_boot(void)
{
    volatile devlog_control *control = records_control();
    control->state = DEVLOG_STATE_IDLE;
    control->marks = 0;
    records_measure_cost();
    control->magic = DEVLOG_MAGIC;
}

static void mark(volatile devlog_control *control, uint32_t id, uint64_t clock, uint32_t state)
{
    control->stamps[2 * (id - 1)] = (uint32_t)clock;
    control->stamps[2 * (id - 1) + 1] = (uint32_t)(clock >> 32);
    control->marks = control->marks | 1u << (id - 1);
    control->state = state;
}

/* The tile's event stream is started and stopped by the manager, for the five RISCs together
 * (WormholeB0/TensixTile/DebugTimestamper.md, "Memory map"). */
#if defined(DEVLOG_TIMESTAMP) && DEVLOG_RISC == 0
enum { STAMPER_CONTROL = 4, STAMPER_STATUS = 8, STAMPER_START = 12, STAMPER_END = 16 };

static volatile uint32_t *stamper(uint32_t offset)
{
    return (volatile uint32_t *)(uintptr_t)(DEVLOG_TIMESTAMP + offset);
}

static void events_begin(volatile devlog_control *control)
{
    if (control->events_base == 0) return;
    *stamper(STAMPER_CONTROL) = 0x80000001u; /* reset; the first buffer only */
    *stamper(STAMPER_CONTROL) = 1u;
    *stamper(STAMPER_STATUS) = 0x33u; /* clears full and overflow, and so the positions */
    *stamper(STAMPER_START) = control->events_base / 16u;
    *stamper(STAMPER_END) = (control->events_base + control->events_size) / 16u - 1u;
    /* Workers, which are started by way of L1, find it set up. */
    DEVLOG_READ_BACK(DEVLOG_ORDER_EVENTS, DEVLOG_TIMESTAMP + STAMPER_END);
}

/* Events have 128 bits each, so nothing is left to be flushed; all of them are there (devlog/order.h). */
static void events_end(volatile devlog_control *control)
{
    if (control->events_base) control->events_status = *stamper(STAMPER_STATUS);
}
#else
static void events_begin(volatile devlog_control *control)
{
    (void)control;
}

static void events_end(volatile devlog_control *control)
{
    (void)control;
}
#endif

void records_begin(uint32_t launch, uint32_t host_id)
{
    uint64_t clock = devlog_clock();
    volatile devlog_control *control = records_control();
    control->launch = launch;
    control->host_id = host_id;
    control->marks = 0;
    control->tail = 0;
    control->segment = 0;
    for (uint32_t i = 0; i < DEVLOG_SEGMENTS; i++)
        control->segment_end[i] = 0;
    control->switches = 0;
    control->dropping = 0;
    control->dropped = 0;
    control->overwritten = 0;
    control->streamed = 0;
    control->stall_cycles = 0;
    control->dropped_complete = 0;
    control->passes = 0;
    control->events_status = 0;
    control->damage = 0;
    if (control->frozen == DEVLOG_FROZEN_BY_KERNEL) control->frozen = 0;
    /* A launch that begins frozen records nothing: its cursor starts where the segment is full. */
    records_set_cursor(records_segment(0) +
                       (control->frozen ? DEVLOG_SEGMENT_BYTES(DEVLOG_SEGMENT_BITS) : 0));
    if (control->frozen) control->segment_end[0] = records_segment(0);
    events_begin(control);
    mark(control, DEVLOG_ID_FW_START, clock, DEVLOG_STATE_FW);
}

void records_mark(uint32_t id, uint32_t state)
{
    uint64_t clock = devlog_clock();
    volatile devlog_control *control = records_control();
    /* The manager's FW end is when every worker is done. */
    if (id == DEVLOG_ID_FW_END) events_end(control);
    mark(control, id, clock, state);
}

void records_finish(void)
{
    volatile devlog_control *control = records_control();
    uint32_t tail = records_cursor();
    /* A segment that was left full or frozen has its end already, and the cursor behind it says nothing. */
    uint32_t full = control->segment_end[control->segment & 1u];
    if (control->streamed) noc_wait();
    control->tail = full ? full : tail;
}

#endif
