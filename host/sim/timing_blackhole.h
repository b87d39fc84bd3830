/* The pipeline of one of Blackhole's harts: what each instruction has to wait for.
 *
 * What it is for: BlackholeA0/TensixTile/BabyRISCV/README.md ("EX1", "EX2", "Load/Store Unit", "Retire Unit",
 * "L0 Data Cache") and MemoryOrdering.md ("Mechanical description"). What it is not: to be included by anybody
 * but timing.h, which says what the functions are for; what a data cache that is not coherent returns
 * (strict.h).
 *
 * An instruction takes a place in the retire-order queue when it starts, and gives it up in order, at most one
 * per cycle, once its result is there. Results can be used from then on, whatever is in front of them. Stores
 * retire when the queue of stores has taken them; adjacent ones to L1 share a place there. */
#ifndef DEVLOG_SIM_TIMING_BLACKHOLE_H
#define DEVLOG_SIM_TIMING_BLACKHOLE_H

#include "sim/timing.h"

static inline uint64_t sim_blackhole_operands(const sim_pipe *p, sim_op op, uint64_t now)
{
    return sim_later(now, sim_later(p->ready[op.rs1], p->ready[op.rs2]));
}

/* An instruction has its result at `done`, and the next could start at `next`. Returns when it can: the place
 * of the eighth before it must be free. */
static inline uint64_t sim_blackhole_retire(sim_pipe *p, uint64_t done, uint64_t next)
{
    uint64_t leave = sim_later(done, p->last_leave + 1);
    p->leave[p->entered++ % SIM_RETIRE_QUEUE] = leave;
    p->last_leave = leave;
    if (leave > next) p->quiet = sim_later(p->quiet, leave);
    return sim_later(next, p->leave[p->entered % SIM_RETIRE_QUEUE]);
}

static inline uint64_t sim_blackhole_pass(sim_pipe *p, uint8_t rd, uint64_t now, uint32_t cycles,
                                          uint32_t latency)
{
    p->ready[rd] = now + latency;
    return sim_blackhole_retire(p, now + latency, now + cycles);
}

/* When the last store leaves the queue. */
static inline uint64_t sim_blackhole_drained(const sim_pipe *p)
{
    return p->stores ? p->drained[(p->stores - 1) % SIM_STORE_QUEUE] : 0;
}

/* fence, and whatever else has to retire before the next instruction starts. */
static inline uint64_t sim_blackhole_fence(sim_pipe *p, uint64_t now, bool drains)
{
    uint64_t done = now + 1;
    if (drains) {
        done = sim_later(done, sim_later(sim_blackhole_drained(p), p->loaded)) + 1;
        for (uint32_t i = 0; i < SIM_CACHE_LINES; i++)
            p->line[i] = 0;
    }
    sim_blackhole_retire(p, done, now + 1);
    p->quiet = sim_later(p->quiet, p->last_leave);
    return p->last_leave;
}

/* Bytes of the 16 that an access touches. */
static inline uint16_t sim_blackhole_bytes(uint32_t addr, uint32_t size)
{
    return (uint16_t)(((1u << size) - 1) << addr % SIM_CACHE_LINE);
}

/* In which cycle a load of L1 that is sent out in `enter` has its result. */
static inline uint64_t sim_blackhole_fetch(sim_pipe *p, uint64_t enter, uint32_t addr)
{
    const uint32_t line = addr / SIM_CACHE_LINE + 1;
    for (uint32_t i = 0; i < SIM_CACHE_LINES; i++) {
        if (p->line[i] != line) continue;
        uint64_t response = sim_later(enter + 1, p->line_at[i]);
        if (++p->hits % SIM_CACHE_FLUSH_HITS == 0)
            for (uint32_t k = 0; k < SIM_CACHE_LINES; k++)
                p->line[k] = 0;
        return response;
    }
    const uint32_t at = p->misses++ % SIM_CACHE_LINES;
    p->line[at] = line;
    p->line_at[at] = enter + SIM_LATENCY_RAM - 1;
    return p->line_at[at];
}

static inline uint64_t sim_blackhole_load(sim_pipe *p, uint8_t rd, uint64_t now, sim_region region,
                                          uint32_t addr, uint32_t size)
{
    uint64_t enter = now + 1;
    if (sim_blackhole_drained(p) > enter) {
        const uint16_t bytes = sim_blackhole_bytes(addr, size);
        for (uint32_t i = 0; i < SIM_STORE_QUEUE; i++)
            if (p->store_addr[i] == addr / SIM_CACHE_LINE && p->store_bytes[i] & bytes)
                enter = sim_later(enter, p->drained[i]);
    }
    uint64_t response = region == SIM_REGION_LOCAL      ? enter + SIM_LATENCY_LOCAL - 1
                        : region == SIM_REGION_REGISTER ? enter + SIM_LATENCY_REGISTER - 1
                                                        : sim_blackhole_fetch(p, enter, addr);
    p->ready[rd] = response;
    p->loaded = sim_later(p->loaded, response);
    p->quiet = sim_later(p->quiet, response);
    return sim_blackhole_retire(p, response, enter);
}

static inline uint64_t sim_blackhole_store(sim_pipe *p, uint64_t now, sim_region region, uint32_t addr,
                                           uint32_t size)
{
    const uint16_t bytes = sim_blackhole_bytes(addr, size);
    const uint32_t line = addr / SIM_CACHE_LINE, rear = (p->stores - 1) % SIM_STORE_QUEUE,
                   apart = addr - p->last_store + SIM_COALESCE;
    uint64_t enter = now + 1;
    if (p->stores && p->store_addr[rear] == line && p->drained[rear] > enter && apart <= 2 * SIM_COALESCE &&
        region == SIM_REGION_RAM) {
        p->store_bytes[rear] |= bytes;
    } else {
        const uint32_t place = p->stores % SIM_STORE_QUEUE;
        enter = sim_later(enter, p->drained[place]);
        uint64_t drained = enter + 1;
        if (p->stores) {
            bool slow = p->rear_in_ram && p->store_bytes[rear] != UINT16_MAX;
            drained = sim_later(drained, p->drained[rear] + (slow ? SIM_STORE_GAP_RAM : SIM_STORE_GAP_OTHER));
        }
        p->store_addr[place] = line;
        p->store_bytes[place] = bytes;
        p->drained[place] = drained;
        p->rear_in_ram = region == SIM_REGION_RAM;
        p->stores++;
    }
    p->last_store = addr;
    if (region == SIM_REGION_RAM)
        for (uint32_t i = 0; i < SIM_CACHE_LINES; i++)
            if (p->line[i] == line + 1) p->line[i] = 0;
    return sim_blackhole_retire(p, enter + 1, enter);
}

#endif
