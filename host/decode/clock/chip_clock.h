/* Chip clocks: what a capture knows about time. One counter per chip (that of its reference core), the other
 * cores' counters by their offset from it, and each chip's counter by a fit to the host's clock. Every answer
 * comes with a bound of its error. docs/time.md says what may be concluded from it.
 *
 * A log without samples (profile_log_device.csv) has a frequency at best: then cores are taken to agree and
 * chips and host cannot be compared, which dl_chip_clock.why says. */
#ifndef DEVLOG_DECODE_CHIP_CLOCK_H
#define DEVLOG_DECODE_CHIP_CLOCK_H

#include "decode/clock/clockfit.h"

/* ---- What was measured ---- */

/* Samples of the clock of a chip. `peer` is the slot of the linked chip whose counter is the reference, or
 * DL_CLOCK_HOST: the host's monotonic clock, ns. */
#define DL_CLOCK_HOST UINT32_MAX
typedef struct dl_clock_samples {
    uint32_t slot, peer;
    const dl_clock_sample *items;
    size_t n;
} dl_clock_samples;

typedef struct dl_clock_offset {
    uint16_t x, y;
    uint32_t moved; /* not 0: two measurements did not agree */
    int64_t lo, hi; /* cycles that this core's counter is ahead of the reference's */
} dl_clock_offset;

/* Offsets of the cores of a chip. Later ones of the same chip replace earlier ones. */
typedef struct dl_clock_offsets {
    uint32_t slot;
    uint16_t reference_x, reference_y;
    const dl_clock_offset *items;
    size_t n;
} dl_clock_offsets;

/* ---- What follows from it ---- */

typedef struct dl_core_clock {
    uint16_t x, y;
    int64_t ahead; /* cycles to subtract from this core's stamps */
    double error;  /* cycles */
} dl_core_clock;

typedef struct dl_chip_clock {
    uint32_t slot;
    uint64_t freq_khz;  /* that the board file says; 0: unknown */
    uint64_t aiclk_khz; /* that the chip says; 0: unknown */
    bool timed; /* host time is the chip's: not for those whose clock runs as fast as a host simulates it */
    bool together; /* the board claims that counters start together */
    bool refuted;  /* and a measurement says that they do not */
    uint32_t refuted_x, refuted_y;
    bool moved; /* two measurements of a core did not agree: counters do not run alike */
    dl_core_clock *cores;
    size_t n_cores;
    double core_error; /* of the worst core, cycles; 0 when there is one core */
    uint32_t offsets_given;
    char boot[64];
    bool boots_differ; /* of several captures put together: not fitted */
    dl_clock_sample *samples;
    size_t n_samples, cap_samples;
    uint32_t bursts;
    bool fitted;
    dl_clock_fit fit;
    char why[200]; /* not fitted: why */
    uint32_t peer; /* slot of the linked chip, or DL_CLOCK_HOST */
    dl_clock_sample *link_samples;
    size_t n_link_samples, cap_link_samples;
    bool linked;
    dl_clock_fit link; /* this chip's counter to the peer's */
} dl_chip_clock;

typedef struct dl_chip_clocks {
    dl_chip_clock *items;
    size_t n;
    uint64_t origin; /* the earliest moment of all fits, host ns: what dl_chip_clocks_ns counts from */
    bool any;        /* a chip is fitted */
    bool made;
} dl_chip_clocks;

void dl_chip_clocks_free(dl_chip_clocks *c);

/* Take in what was measured: a chip is named before its samples and offsets. `boot` is what one boot of host
 * and chip has in common. */
devlog_status dl_chip_clocks_chip(dl_chip_clocks *c, uint32_t slot, uint64_t freq_khz, bool together,
                                  const char *boot, devlog_error *err);
/* What else its capture says of a chip that has been named: how it was reached, and AICLK. */
void dl_chip_clocks_reached(dl_chip_clocks *c, uint32_t slot, const char *transport, uint64_t aiclk_khz);
devlog_status dl_chip_clocks_samples(dl_chip_clocks *c, const dl_clock_samples *samples, devlog_error *err);
devlog_status dl_chip_clocks_offsets(dl_chip_clocks *c, const dl_clock_offsets *offsets, devlog_error *err);
/* Makes the fits of all samples so far. What cannot be fitted says why; only lack of memory is a failure. */
devlog_status dl_chip_clocks_make(dl_chip_clocks *c, devlog_error *err);

/* The frequency of a chip's counter, with which cycles become nanoseconds: as measured, if host time is the chip's and the
 * measurement is finer than what it differs by from the board file's; else the board file's. 0: unknown. */
uint64_t dl_chip_clock_khz(const dl_chip_clock *c);

/* NULL: the capture did not speak of it. */
const dl_chip_clock *dl_chip_clocks_of(const dl_chip_clocks *c, uint32_t slot);
/* What to subtract from a core's stamps to have the reference's; 0 for the reference and for unknown cores.
 */
const dl_core_clock *dl_chip_clock_core(const dl_chip_clock *c, uint16_t x, uint16_t y);

/* When a chip's (reference) counter showed `cycles`: host ns since `origin`, and the bound of the error in
 * ns, cores' offsets not included. False when the chip is not fitted. */
bool dl_chip_clocks_ns(const dl_chip_clocks *c, uint32_t slot, uint64_t cycles, double *ns, double *error);

/* The bound of the error between two markers of different cores of one chip (cycles), and of a marker against
 * the host (ns); 0 when unknown. */
double dl_chip_clock_core_residual(const dl_chip_clock *c);
double dl_chip_clock_host_residual(const dl_chip_clock *c);

#endif
