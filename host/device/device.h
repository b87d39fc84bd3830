/* A device inside the host library: its board, its transport, and access to its cores by logical coordinates.
 */
#ifndef DEVLOG_DEVICE_DEVICE_H
#define DEVLOG_DEVICE_DEVICE_H

#include "base/str.h"
#include "device/board.h"
#include "devlog/devlog.h"
#include "transport/transport.h"

/* Attached by the profiler, so that the rooms below it need not know it. */
typedef struct dl_profiler dl_profiler;

/* Of which launches captures are made (profiler/periodic.h). */
typedef struct device_periodic {
    uint32_t every; /* 0: of all, and in one log */
    uint32_t launches, ms, most;
    uint32_t keep; /* folders; PERIODIC_KEEP_ALL */
} device_periodic;
#define PERIODIC_KEEP_ALL UINT32_MAX

/* What was asked for when the device was opened, by its options or else by the environment. */
typedef struct device_wishes {
    devlog_recording recording;
    uint32_t stream_bytes;
    bool capture, clock_sync;
    bool waits; /* kernels record what they wait for */
    devlog_keep results;
    device_periodic periodic;
    devlog_log_style log_style;
    char *postmortem; /* NULL: none */
} device_wishes;

struct devlog_device {
    board board;
    dl_transport transport;
    sim_config *sim; /* configuration of the built-in simulator; NULL for others */
    uint32_t slot;
    uint32_t timeout_ms;
    bool profile;
    char log_folder[2048];   /* absolute: the program may change its folder */
    char board_origin[4096]; /* by which board_load finds the board again */
    bool attached;           /* only looked at */
    bool failed;             /* in its last launch */

    uint64_t aiclk_khz;    /* what a card says of its clock, once it has settled; 0: it does not say */
    uint64_t measured_khz; /* of a card when it was opened; 0: not measured */

    bool *booted; /* one per core, row by row: its firmware runs */
    uint8_t
        *record_bytes; /* one per RISC of each core, as told to it: bytes of its records if they are alike */
    devlog_recording recording;
    uint32_t stream_bytes; /* DRAM per RISC when recording streams */
    bool recording_chosen; /* by a call, or else as the wishes say when profiling begins */
    device_wishes wishes;
    uint32_t recording_version; /* counts changes, so that programs know when their cores must be told */
    uint32_t classes;           /* bit i: markers of class i are on */
    bool frozen;
    bool paused; /* between periodic captures: all markers are off, whatever `classes` says */
    struct dl_periodic *periodic; /* of the profiler; NULL: captures are not periodic */
    devlog_violated violated;     /* the user's function; NULL: none */
    void *violated_context;

    devlog_ops *ops;         /* borrowed; NULL: ops are not logged */
    struct dl_run_file *run; /* the profiler's: without ops, the run that DEVLOG_RUN names; NULL: none */
    bool ops_told;           /* this device is in that log */
    uint64_t memory_told[2]; /* so is each of its memories, with so many bytes for buffers; 0: not yet */
    uint32_t boot;     /* which of the devices that the run opened: their clocks have nothing in common */
    uint32_t launches; /* number of the last launch */
    uint32_t
        ended; /* number of the last launch that was waited for: its cores that are still booted ended it */
    uint32_t host_id;     /* op on behalf of which programs are launched; 0: none */
    devlog_program *last; /* program of the last launch; NULL after it is freed */
    dl_str remarked; /* paths of the ELF files whose remarks by the compiler have been shown, a line each */

    dl_profiler *profiler;
    struct device_buffers *buffers; /* NULL: none was made (buffers.h) */
    struct dl_clocks *clocks;       /* of the profiler */
    struct devlog_device *linked;   /* simulated together with this one; it points back */
    bool asks_linked;               /* this one was opened later */
    devlog_api_stats api[DEVLOG_API_COUNT];
};

/* devlog_device_open with the calls of the system that the transport "kmd" makes answered by a test. */
devlog_status dl_device_open(const devlog_device_options *options, const struct kmd_system *kmd,
                             devlog_device **out, devlog_error *err);

/* The frequency of the chip's clock: as measured when a card was opened, else as its board file says. */
uint64_t dl_device_khz(const devlog_device *device);

/* The PCIe windows of a board, as transports want them. */
void device_window_layout(const board *b, dl_window_layout *out);

/* Coordinates for the transport. DEVLOG_ERR_ARGUMENT when the core is outside the grid. */
devlog_status dl_device_target(const devlog_device *device, devlog_core core, dl_target *out,
                               devlog_error *err);

/* Memory and registers of a core, and a write to every core of a rectangle. */
devlog_status dl_core_read(devlog_device *device, devlog_core core, uint32_t address, void *dst, size_t size,
                           devlog_error *err);
devlog_status dl_core_write(devlog_device *device, devlog_core core, uint32_t address, const void *src,
                            size_t size, devlog_error *err);
devlog_status dl_cores_write(devlog_device *device, devlog_cores cores, uint32_t address, const void *src,
                             size_t size, devlog_error *err);

/* Holds the RISCs of a core whose bit is set, and lets the others go; for boards without a reset register. */
devlog_status dl_core_hold(devlog_device *device, devlog_core core, uint32_t held, devlog_error *err);

/* DEVLOG_ERR_STATE for a device that is only looked at; `what` cannot be done to it. */
devlog_status dl_device_runs(const devlog_device *device, const char *what, devlog_error *err);

/* Lets simulated time pass; does nothing on hardware. */
devlog_status dl_device_advance(devlog_device *device, uint32_t cycles, devlog_error *err);

/* Closes the transport and frees the device; what the profiler attached is freed before. */
void dl_device_free(devlog_device *device);

#endif
