/* The pipeline of one of Wormhole's harts: what each instruction has to wait for.
 *
 * What it is for: WormholeB0/TensixTile/BabyRISCV/README.md ("Integer Unit", "Load/Store Unit") and
 * MemoryOrdering.md ("Mechanical description"). What it is not: to be included by anybody but timing.h, which
 * says what the functions are for.
 *
 * Every instruction enters the load/store unit after the integer unit and leaves it in order, at most one per
 * cycle. The result of anything but a load can be used at the moment when it enters (by the very next
 * instruction) or from the cycle on in which it leaves; the result of a load from when it leaves. */
#ifndef DEVLOG_SIM_TIMING_WORMHOLE_H
#define DEVLOG_SIM_TIMING_WORMHOLE_H

#include "sim/timing.h"

/* When the operands of op can be read; `now` if they can be read now. */
static inline uint64_t sim_wormhole_operands(const sim_pipe *p, sim_op op, uint64_t now)
{
    uint64_t r1 = p->ready[op.rs1], r2 = p->ready[op.rs2];
    uint64_t ready = sim_later(r1, r2);
    if (ready <= now) return now;
    if (p->bypass_at != now) return ready;
    if (op.rs1 == p->bypass) r1 = 0;
    if (op.rs2 == p->bypass) r2 = 0;
    return sim_later(r1, r2) <= now ? now : ready;
}

/* When an instruction that could leave the integer unit at `done` enters the load/store unit. */
static inline uint64_t sim_wormhole_enter(const sim_pipe *p, uint64_t done)
{
    return sim_later(done, sim_later(p->leave[p->entered % SIM_RETIRE_QUEUE], p->store_space));
}

/* An instruction enters at `enter` and can leave at `done` at the earliest. Returns when it leaves. */
static inline uint64_t sim_wormhole_leave(sim_pipe *p, uint64_t enter, uint64_t done)
{
    uint64_t leave = sim_later(sim_later(enter + 1, done), p->last_leave + 1);
    p->leave[p->entered++ % SIM_RETIRE_QUEUE] = leave;
    p->last_leave = leave;
    if (leave > enter + 1) p->quiet = sim_later(p->quiet, leave);
    return leave;
}

/* Anything but a load or store: starts at `now`, takes `cycles` in the integer unit. All three functions
 * return when the next instruction can enter the integer unit. */
static inline uint64_t sim_wormhole_pass(sim_pipe *p, uint8_t rd, uint64_t now, uint32_t cycles)
{
    uint64_t enter = sim_wormhole_enter(p, now + cycles);
    uint64_t leave = sim_wormhole_leave(p, enter, 0);
    p->ready[rd] = leave > enter + 1 ? leave : enter;
    p->bypass = rd;
    p->bypass_at = enter;
    return enter;
}

static inline uint64_t sim_wormhole_load(sim_pipe *p, uint8_t rd, uint64_t now, sim_region region,
                                         uint32_t addr)
{
    const uint32_t latency = region == SIM_REGION_LOCAL      ? SIM_LATENCY_LOCAL
                             : region == SIM_REGION_REGISTER ? SIM_LATENCY_REGISTER
                                                             : SIM_LATENCY_RAM;
    uint64_t enter = sim_wormhole_enter(p, now + 1);
    if (latency >= SIM_SLOW_LATENCY) enter = sim_later(enter, p->response[p->loads % SIM_LOADS_IN_FLIGHT]);
    if (p->drain_free > enter) {
        /* A store to exactly this address that is still queued has to leave first. */
        for (uint32_t i = 0; i < SIM_STORE_QUEUE; i++)
            if (p->store_addr[i] == addr) enter = sim_later(enter, p->drained[i]);
    }
    uint64_t response = enter + latency - 1;
    if (latency >= SIM_SLOW_LATENCY) p->response[p->loads++ % SIM_LOADS_IN_FLIGHT] = response;
    uint64_t leave = sim_wormhole_leave(p, enter, response);
    p->ready[rd] = leave;
    p->quiet = sim_later(p->quiet, leave);
    return enter;
}

static inline uint64_t sim_wormhole_store(sim_pipe *p, uint64_t now, sim_region region, uint32_t addr)
{
    const uint32_t gap = region == SIM_REGION_RAM ? SIM_STORE_GAP_RAM : SIM_STORE_GAP_OTHER;
    uint64_t enter = sim_wormhole_enter(p, now + 1);
    sim_wormhole_leave(p, enter, 0);
    uint64_t drained = sim_later(enter + 1, p->drain_free);
    p->drain_free = drained + gap;
    p->store_addr[p->stores % SIM_STORE_QUEUE] = addr;
    p->drained[p->stores++ % SIM_STORE_QUEUE] = drained;
    p->store_space = p->drained[p->stores % SIM_STORE_QUEUE];
    if (p->store_space > enter + 1) p->quiet = sim_later(p->quiet, p->store_space);
    return enter;
}

#endif
