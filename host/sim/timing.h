/* The cost of instructions: the pipeline of one hart.
 *
 * What it is for: saying in which cycle each instruction can start, from the latencies and queues that the
 * documents of the two chips give (timing_wormhole.h, timing_blackhole.h). What it is not: the order of effects
 * on memory. An instruction has all its effects in the cycle in which it starts (enters the first unit behind
 * the frontend), so memory is sequentially consistent.
 *
 * `quiet` is the first cycle from which nothing in flight can delay an instruction that is no load or store:
 * from then on none of this has to be looked at, which is what makes the simulator fast. */
#ifndef DEVLOG_SIM_TIMING_H
#define DEVLOG_SIM_TIMING_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/rv32.h"
#include "sim/sim.h"

enum {
    SIM_LATENCY_LOCAL = 2,    /* core-local data RAM */
    SIM_LATENCY_REGISTER = 7, /* tile control / debug / status, NoC configuration and command */
    SIM_LATENCY_RAM = 8,      /* L1 */
    SIM_SLOW_LATENCY = 5,     /* loads at least this slow share the limit on loads in flight */
    SIM_STORE_GAP_RAM = 5,    /* cycles from one store to L1 to the next */
    SIM_STORE_GAP_OTHER = 1,
    SIM_LATENCY_MUL = 2,
    SIM_RETIRE_QUEUE = 8,
    SIM_LOADS_IN_FLIGHT = 4,
    SIM_STORE_QUEUE = 4,
    SIM_BRANCH_COUNTERS = 64,
    SIM_JUMP_TARGETS = 16,
    SIM_RETURN_STACK = 4,
    SIM_CACHE_LINES = 4, /* of the data cache */
    SIM_CACHE_LINE = 16,
    SIM_CACHE_FLUSH_HITS = 128, /* every so many hits empty it: 0.8 % */
    SIM_COALESCE = 4,           /* bytes between the beginnings of two stores that share a place */
};

/* What an access goes to, as far as its cost is concerned. */
typedef enum sim_region { SIM_REGION_LOCAL, SIM_REGION_REGISTER, SIM_REGION_RAM } sim_region;

typedef struct sim_pipe {
    uint64_t quiet;
    uint64_t last_leave;                    /* when the youngest instruction leaves the load/store unit */
    uint64_t store_space;                   /* from when on the store queue has room */
    uint64_t drain_free;                    /* when the next store can leave the store queue */
    uint64_t bypass_at;                     /* when the last result can be used directly ... */
    uint8_t bypass;                         /* ... and its register */
    uint64_t ready[SIM_REGS];               /* when the value of a register leaves the load/store unit */
    uint64_t leave[SIM_RETIRE_QUEUE];       /* of the last instructions: when they leave */
    uint64_t response[SIM_LOADS_IN_FLIGHT]; /* of the last slow loads: when the response comes */
    uint64_t drained[SIM_STORE_QUEUE];      /* of the last stores: when they leave the store queue */
    uint32_t store_addr[SIM_STORE_QUEUE];   /* Blackhole: of 16 bytes */
    uint32_t entered, loads, stores;        /* next places in the rings */
    /* Blackhole alone: */
    uint16_t store_bytes[SIM_STORE_QUEUE]; /* which of the 16 */
    bool rear_in_ram;                      /* the store that came last is one to L1 */
    uint32_t last_store;                   /* its address */
    uint64_t loaded;                       /* when all loads have their results */
    uint32_t line[SIM_CACHE_LINES];        /* of the data cache: number + 1 of 16 bytes; 0: empty .. */
    uint64_t line_at[SIM_CACHE_LINES];     /* .. and when it is there */
    uint32_t hits, misses;
} sim_pipe;

/* Guesses of the frontend. The document does not say how it predicts: this is our assumption. */
typedef struct sim_predictor {
    uint8_t branch[SIM_BRANCH_COUNTERS]; /* 0: never seen; 1, 2: not taken; 3, 4: taken (2, 3 are weak) */
    uint32_t target[SIM_JUMP_TARGETS];
    uint32_t return_to[SIM_RETURN_STACK];
    uint8_t return_depth;
} sim_predictor;

static inline uint64_t sim_later(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

/* The pipelines. All functions but the first return when the next instruction can start. */
#include "sim/timing_blackhole.h"
#include "sim/timing_wormhole.h"

/* When the operands of op can be read; `now` if they can be read now. */
static inline uint64_t sim_pipe_operands(sim_cores cores, const sim_pipe *p, sim_op op, uint64_t now)
{
    return cores == SIM_CORES_BLACKHOLE ? sim_blackhole_operands(p, op, now)
                                        : sim_wormhole_operands(p, op, now);
}

/* Anything but a load or store: starts at `now`, keeps the next one from starting for `cycles`, and has its
 * result after `latency`, where the two differ at all. */
static inline uint64_t sim_pipe_pass(sim_cores cores, sim_pipe *p, uint8_t rd, uint64_t now, uint32_t cycles,
                                     uint32_t latency)
{
    return cores == SIM_CORES_BLACKHOLE ? sim_blackhole_pass(p, rd, now, cycles, latency)
                                        : sim_wormhole_pass(p, rd, now, cycles);
}

/* fence (`drains`), and what else the next instruction has to see retired. */
static inline uint64_t sim_pipe_fence(sim_cores cores, sim_pipe *p, uint64_t now, bool drains)
{
    return cores == SIM_CORES_BLACKHOLE ? sim_blackhole_fence(p, now, drains)
                                        : sim_wormhole_pass(p, SIM_SINK, now, 1);
}

static inline uint64_t sim_pipe_load(sim_cores cores, sim_pipe *p, uint8_t rd, uint64_t now,
                                     sim_region region, uint32_t addr, uint32_t size)
{
    return cores == SIM_CORES_BLACKHOLE ? sim_blackhole_load(p, rd, now, region, addr, size)
                                        : sim_wormhole_load(p, rd, now, region, addr);
}

static inline uint64_t sim_pipe_store(sim_cores cores, sim_pipe *p, uint64_t now, sim_region region,
                                      uint32_t addr, uint32_t size)
{
    return cores == SIM_CORES_BLACKHOLE ? sim_blackhole_store(p, now, region, addr, size)
                                        : sim_wormhole_store(p, now, region, addr);
}

/* From when on the queue of stores is empty, and one to L1 would not wait. */
static inline uint64_t sim_pipe_drained(sim_cores cores, const sim_pipe *p)
{
    return cores == SIM_CORES_BLACKHOLE ? sim_blackhole_drained(p) + SIM_STORE_GAP_RAM : p->drain_free;
}

/* How long a mispredicted branch or jump, or a multiplication, keeps the next instruction from starting. */
static inline uint32_t sim_mispredict_cycles(sim_cores cores)
{
    return cores == SIM_CORES_BLACKHOLE ? 5 : 3;
}

static inline uint32_t sim_multiply_cycles(sim_cores cores)
{
    return cores == SIM_CORES_BLACKHOLE ? 1 : SIM_LATENCY_MUL;
}

/* Each says whether the frontend guessed right, and learns. */
bool sim_predict_branch(sim_predictor *p, uint32_t pc, uint32_t target, bool taken);
bool sim_predict_jump(sim_predictor *p, uint32_t pc, uint32_t target, uint8_t rd, uint8_t rs1);
void sim_predict_call(sim_predictor *p, uint8_t rd, uint32_t link);

/* Cycles in the integer unit of div, divu, rem, remu. */
uint32_t sim_divide_cycles(sim_opcode code, uint32_t dividend, uint32_t divisor);

#endif
