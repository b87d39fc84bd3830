/* The world of simulated chips: time that they share, clocks that run fast or slow against it, transports
 * that take a while, and a link between two chips. What a lone chip without any of these needs is time.
 *
 * Time is counted in femtoseconds; a chip is never ahead of it and behind by less than one of its cycles. */
#ifndef DEVLOG_TRANSPORT_SIM_WORLD_H
#define DEVLOG_TRANSPORT_SIM_WORLD_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/sim.h"

enum { SIM_WORLD_MAX_CHANGES = 4, SIM_WORLD_MAX_CHIPS = 4 };

/* How the time of a simulated chip differs from a perfect one's (docs/simulator.md, "Options"). */
typedef struct sim_world_options {
    double mhz; /* of the chip's clock */
    double ppm; /* it runs faster by so many millionths */
    uint32_t n_changes;
    struct {
        uint64_t cycle; /* of the chip's clock since it was made */
        double mhz;
    } changes[SIM_WORLD_MAX_CHANGES]; /* ascending */
    uint64_t latency_ns;              /* of every access by the host, half of it before */
    uint64_t jitter_ns;               /* at most so much is added, before and after, at random */
    uint64_t seed;
    uint64_t link_ns; /* what a message of the link takes; 0: not linked */
    /* The link: 16 bytes at link_out of the first tile of each chip appear at link_in of the other's. */
    uint32_t link_out, link_in;
} sim_world_options;

typedef struct sim_world sim_world;

/* Puts a chip into a world of its own, or into the world that `other`, a chip's place in it, is in. Returns
 * its place, or NULL: no memory or no room. The chip is borrowed, and left alone after sim_world_leave. */
typedef struct sim_place sim_place;
sim_place *sim_world_enter(sim *s, const sim_world_options *options, sim_place *other);
void sim_world_leave(sim_place *place);

/* Lets time pass until this chip has done so many more cycles; false when a chip refused something. */
bool sim_world_cycles(sim_place *place, uint64_t cycles);
/* Lets half of an access' time pass, with its share of jitter. */
bool sim_world_access(sim_place *place);
/* Nanoseconds since the world began, plus a second. */
uint64_t sim_world_ns(const sim_place *place);
/* The chip in the world that has stopped, or this one. */
sim *sim_world_stopped(const sim_place *place);

#endif
