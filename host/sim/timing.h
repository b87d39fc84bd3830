/* The cost of instructions: the pipeline of one hart.
 *
 * What it is for: saying in which cycle each instruction can start, from the latencies and queues that
 * WormholeB0/TensixTile/BabyRISCV/README.md ("Integer Unit", "Load/Store Unit") and MemoryOrdering.md
 * ("Mechanical description") give. What it is not: the order of effects on memory. An instruction has all its
 * effects in the cycle in which it starts (enters the Integer Unit), so memory is sequentially consistent.
 *
 * How it works: every instruction enters the load/store unit after the integer unit and leaves it in order,
 * at most one per cycle. The result of anything but a load can be used at the moment when it enters (by the
 * very next instruction) or from the cycle on in which it leaves; the result of a load from when it leaves.
 * `quiet` is the first cycle from which nothing in flight can delay an instruction: from then on none of this
 * has to be looked at, which is what makes the simulator fast. */
#ifndef DEVLOG_SIM_TIMING_H
#define DEVLOG_SIM_TIMING_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/rv32.h"

enum {
    SIM_LATENCY_LOCAL = 2,    /* core-local data RAM */
    SIM_LATENCY_REGISTER = 7, /* tile control / debug / status, NoC configuration and command */
    SIM_LATENCY_RAM = 8,      /* L1 */
    SIM_SLOW_LATENCY = 5,     /* loads at least this slow share the limit on loads in flight */
    SIM_STORE_GAP_RAM = 5,    /* cycles from one store to L1 to the next */
    SIM_STORE_GAP_OTHER = 1,
    SIM_CYCLES_MUL = 2,
    SIM_CYCLES_MISPREDICT = 3, /* a mispredicted branch looks as if it took three cycles */
    SIM_RETIRE_QUEUE = 8,
    SIM_LOADS_IN_FLIGHT = 4,
    SIM_STORE_QUEUE = 4,
    SIM_BRANCH_COUNTERS = 64,
    SIM_JUMP_TARGETS = 16,
    SIM_RETURN_STACK = 4,
};

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
    uint32_t store_addr[SIM_STORE_QUEUE];
    uint32_t entered, loads, stores; /* next places in the rings */
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

/* When the operands of op can be read; `now` if they can be read now. */
static inline uint64_t sim_pipe_operands(const sim_pipe *p, sim_op op, uint64_t now)
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
static inline uint64_t sim_pipe_enter(const sim_pipe *p, uint64_t done)
{
    return sim_later(done, sim_later(p->leave[p->entered % SIM_RETIRE_QUEUE], p->store_space));
}

/* An instruction enters at `enter` and can leave at `done` at the earliest. Returns when it leaves. */
static inline uint64_t sim_pipe_leave(sim_pipe *p, uint64_t enter, uint64_t done)
{
    uint64_t leave = sim_later(sim_later(enter + 1, done), p->last_leave + 1);
    p->leave[p->entered++ % SIM_RETIRE_QUEUE] = leave;
    p->last_leave = leave;
    if (leave > enter + 1) p->quiet = sim_later(p->quiet, leave);
    return leave;
}

/* Anything but a load or store: starts at `now`, takes `cycles` in the integer unit. All three functions
 * return when the next instruction can enter the integer unit. */
static inline uint64_t sim_pipe_pass(sim_pipe *p, uint8_t rd, uint64_t now, uint32_t cycles)
{
    uint64_t enter = sim_pipe_enter(p, now + cycles);
    uint64_t leave = sim_pipe_leave(p, enter, 0);
    p->ready[rd] = leave > enter + 1 ? leave : enter;
    p->bypass = rd;
    p->bypass_at = enter;
    return enter;
}

static inline uint64_t sim_pipe_load(sim_pipe *p, uint8_t rd, uint64_t now, uint32_t latency, uint32_t addr)
{
    uint64_t enter = sim_pipe_enter(p, now + 1);
    if (latency >= SIM_SLOW_LATENCY) enter = sim_later(enter, p->response[p->loads % SIM_LOADS_IN_FLIGHT]);
    if (p->drain_free > enter) {
        /* A store to exactly this address that is still queued has to leave first. */
        for (uint32_t i = 0; i < SIM_STORE_QUEUE; i++)
            if (p->store_addr[i] == addr) enter = sim_later(enter, p->drained[i]);
    }
    uint64_t response = enter + latency - 1;
    if (latency >= SIM_SLOW_LATENCY) p->response[p->loads++ % SIM_LOADS_IN_FLIGHT] = response;
    uint64_t leave = sim_pipe_leave(p, enter, response);
    p->ready[rd] = leave;
    p->quiet = sim_later(p->quiet, leave);
    return enter;
}

static inline uint64_t sim_pipe_store(sim_pipe *p, uint64_t now, uint32_t gap, uint32_t addr)
{
    uint64_t enter = sim_pipe_enter(p, now + 1);
    sim_pipe_leave(p, enter, 0);
    uint64_t drained = sim_later(enter + 1, p->drain_free);
    p->drain_free = drained + gap;
    p->store_addr[p->stores % SIM_STORE_QUEUE] = addr;
    p->drained[p->stores++ % SIM_STORE_QUEUE] = drained;
    p->store_space = p->drained[p->stores % SIM_STORE_QUEUE];
    if (p->store_space > enter + 1) p->quiet = sim_later(p->quiet, p->store_space);
    return enter;
}

/* Each says whether the frontend guessed right, and learns. */
bool sim_predict_branch(sim_predictor *p, uint32_t pc, uint32_t target, bool taken);
bool sim_predict_jump(sim_predictor *p, uint32_t pc, uint32_t target, uint8_t rd, uint8_t rs1);
void sim_predict_call(sim_predictor *p, uint8_t rd, uint32_t link);

/* Cycles in the integer unit of div, divu, rem, remu. */
uint32_t sim_divide_cycles(sim_opcode code, uint32_t dividend, uint32_t divisor);

#endif
