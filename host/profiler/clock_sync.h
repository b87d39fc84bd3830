/* Clock synchronisation: samples of a device's clock against the host's, offsets of its cores' counters, and
 * samples against a linked chip's. What they mean is worked out by decode/clock/clockfit.h.
 *
 * The first core that boots is the reference: its counter is sampled against the host's clock in short
 * bursts, when the device opens, before launches and when it closes. Every other core is compared with the
 * reference by an exchange of messages over the NoC, answered by the managers while no program runs; without
 * a NoC by reading the counters through the host in turn. */
#ifndef DEVLOG_PROFILER_CLOCK_SYNC_H
#define DEVLOG_PROFILER_CLOCK_SYNC_H

#include "decode/clock/clockfit.h"
#include "device/device.h"
#include "program/program.h"

/* A core's counter is ahead of the reference's by lo to hi cycles. */
typedef struct dl_core_offset {
    devlog_core core;
    int64_t lo, hi;
    bool moved; /* a later measurement did not agree: lo and hi hold both */
} dl_core_offset;

typedef struct dl_clocks {
    bool on;
    bool has_reference;
    devlog_core reference;
    dl_clock_sample *samples; /* against the host's clock, ns */
    size_t n_samples, cap_samples;
    uint32_t bursts;
    uint64_t last_burst_ns, round_trip_ns; /* of the tightest sample so far */
    uint64_t first_launch_ns, last_launch_ns;
    uint32_t n_launches;
    dl_core_offset *offsets;
    size_t n_offsets, cap_offsets;
    uint32_t requests;             /* numbers of messages */
    uint64_t bytes, cost_ns;       /* what all of it has cost, pulling not included */
    dl_clock_sample *link_samples; /* cycles of this device against another device's */
    size_t n_link_samples, cap_link_samples;
    uint32_t link_to; /* slot of that device */
    char boot[64];    /* what captures of one boot have in common; empty until a capture is opened */
    uint64_t launch_start, launch_end; /* of the last call to launch, ns of the transport's clock */
} dl_clocks;

/* NULL: no memory. */
/* `on`: samples are taken. */
dl_clocks *clocks_new(bool on);
void clocks_free(dl_clocks *c);

/* After the cores of a program have been started: the first bursts, and the offsets of cores that are new. */
devlog_status clocks_open(devlog_device *device, const devlog_program *program, devlog_error *err);
/* Before a launch: a burst, when reads are quick or the last burst is a second ago. */
devlog_status clocks_before_launch(devlog_device *device, devlog_error *err);
/* Before the device closes: the last bursts, and the offsets once more. */
devlog_status clocks_close(devlog_device *device, devlog_error *err);

#endif
