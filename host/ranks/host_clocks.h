/* Clocks of the hosts on which ranks ran: what captures say of them, and how lanes lie by them where no collective op says it, or besides.
 *
 *     host_clocks_read   what the captures in a rank's folder say     (host_read.c)
 *     host_ways_find     by what each host's clock is known           (host_way.c)
 *     host_ways_at       a moment of one host on the clock of all     (host_way.c)
 *     ranks_align_hosts  lanes, by these                              (align_hosts.c)
 *
 * Between files of ranks/. Not for how two clocks relate (pins.h). */
#ifndef DEVLOG_RANKS_HOST_CLOCKS_H
#define DEVLOG_RANKS_HOST_CLOCKS_H

#include "decode/capture/capture.h"
#include "ranks/pins.h"
#include "ranks/ranks.h"

enum { HOST_BOOT = 64 };
/* ns: 73 years. No clock shows more, and differences of differences of such are numbers. */
#define HOST_MOST_NS (UINT64_C(1) << 61)

/* An exchange with another rank, as this one's capture has it. */
typedef struct host_exchange {
    uint32_t peer;           /* by its launcher */
    char boot[HOST_BOOT];    /* the other's; "": unknown */
    uint64_t time_namespace; /* the other's; 0: unknown */
    devlog_clock_stamps stamps;
} host_exchange;

/* What a rank's captures say. */
typedef struct host_clocks {
    dl_chip_clocks chips; /* counters to CLOCK_MONOTONIC */
    char boot[HOST_BOOT]; /* "": they say none */
    uint64_t time_namespace;
    bool any;       /* there is a capture of a device */
    bool simulated; /* in a time of its own */
    /* CLOCK_REALTIME is ahead of CLOCK_MONOTONIC by so many ns. */
    size_t n_readings;
    int64_t real_low, real_high;
    bool set;      /* it was set while the rank ran: both bounds are of both times */
    uint64_t most; /* by how much CLOCK_REALTIME may be off: the worst reading; DL_CLOCK_UNKNOWN */
    uint64_t at;   /* CLOCK_MONOTONIC of a reading */
    host_exchange *items;
    size_t n, cap;
    size_t impossible, foreign; /* exchanges that cannot have been, or are of another boot: not among them */
} host_clocks;

/* A moment of a host's CLOCK_MONOTONIC: whole ns, and how much later. */
typedef struct host_moment {
    int64_t base;
    double rel;
} host_moment;
/* Captures may say anything: sums wrap. */
static inline int64_t host_plus(int64_t a, int64_t b)
{
    return (int64_t)((uint64_t)a + (uint64_t)b);
}
static inline int64_t host_minus(int64_t a, int64_t b)
{
    return (int64_t)((uint64_t)a - (uint64_t)b);
}
static inline double host_since(host_moment m, int64_t from)
{
    return (double)host_minus(m.base, from) + m.rel;
}

/* What two hosts, each by its place, know of one another. */
typedef struct host_edge {
    uint32_t a, b;
    ranks_way way;
    int64_t from;  /* of a: pins begin to count there */
    int64_t ahead; /* of b against a, by and large: what pins say comes on top */
    pins pins;
    double half;  /* at best; NAN: unknown */
    bool refused; /* it contradicts itself, or what goes before it */
} host_edge;

struct host_ways {
    host_clocks *clocks; /* of each rank */
    uint32_t *numbers; /* of each place, by its launcher; ranks first, then those that only others speak of */
    size_t n;
    host_edge *edges;
    size_t n_edges, cap_edges;
    uint32_t root;  /* whose clock is that of all */
    uint32_t *next; /* of each: the edge towards the root, + 1; 0: there is none, or it is the root */
    double *cost;   /* ns, at best */
    ranks_way *way; /* the weakest on the way to the root */
    bool *reached;
    /* What was found. */
    size_t absent;     /* exchanges with ranks that are not here */
    uint32_t absent_1; /* one of them */
    size_t impossible, foreign, set;
    size_t jumps; /* pairs whose exchanges contradict one another */
    uint32_t jumps_a, jumps_b;
    size_t disagree; /* ways that contradict one another */
    char disagrees[256];
};

devlog_status host_clocks_read(host_clocks *h, const char *folder, devlog_error *err);
void host_clocks_free(host_clocks *h);

/* Edges of all ranks, and the way of each to the root. */
devlog_status host_ways_find(struct host_ways *w, const ranks *r, uint32_t root, devlog_error *err);
/* A moment of a rank's host on the root's clock. *error: the bound, NAN: unknown. False: there is no way. */
bool host_ways_at(const struct host_ways *w, uint32_t rank, host_moment at, host_moment *out, double *error);
void host_ways_free(struct host_ways *w);

const char *ranks_way_name(ranks_way way);

#endif
