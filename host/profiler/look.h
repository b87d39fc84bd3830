/* Looking at a device without launching anything: where every RISC is, which zones are open on it, what it
 * recorded last. For a chip that hangs or has crashed, while its program runs or after it. */
#ifndef DEVLOG_PROFILER_LOOK_H
#define DEVLOG_PROFILER_LOOK_H

#include "device/device.h"
#include "devlog/record.h"

enum { LOOK_TEXT = 256 };

typedef enum look_state {
    LOOK_DOWN,      /* its firmware has not come up */
    LOOK_IDLE,      /* nothing is launched on the core */
    LOOK_DONE,      /* has ended its part of the launch; others of the core have not */
    LOOK_FIRMWARE,  /* in its firmware, before or behind the kernel */
    LOOK_KERNEL,    /* in its kernel */
    LOOK_RESTARTED, /* its firmware was started again in mid-launch, and has stopped */
    LOOK_RUNNING,   /* in one of them; without -DPROFILE_DEVICE it cannot be told in which */
} look_state;

/* A marker, or the beginning of a zone. */
typedef struct look_mark {
    char name[LOOK_TEXT], file[LOOK_TEXT];
    uint32_t line;
    uint64_t time; /* cycles of the core's clock */
} look_mark;

typedef struct look_risc {
    devlog_core core;
    const char *name; /* of the board */
    look_state state;
    uint32_t launch, host_id; /* 0: none */
    bool has_pc;
    uint32_t pc;
    char function[LOOK_TEXT], place[LOOK_TEXT]; /* of the pc; empty: unknown. place: "file:line" */
    bool has_clock;
    uint64_t clock;  /* of the core, now */
    look_mark *open; /* zones, the outermost first */
    uint32_t n_open;
    bool has_last;
    look_mark last;        /* the last marker, whatever its kind */
    const char *last_what; /* "zone begins", "zone ends", "event", "value" */
    uint32_t markers;      /* in memory, default markers included */
    uint64_t lost;         /* dropped or overwritten in this launch */
    bool damaged;          /* some words of its records or its control block make no sense */
    bool unnamed;          /* the ELF file of its kernel was not found: markers go by numbers */
} look_risc;

typedef struct look_options {
    const char *const *elfs; /* files in which names are looked up, besides the cache of compiled programs */
    uint32_t n_elfs;
} look_options;

const char *look_state_text(look_state state);

/* True when the firmware of any RISC of the core has come up since the memory was cleared. */
devlog_status look_started(devlog_device *device, devlog_core core, bool *started, devlog_error *err);

/* Calls fn for every RISC of every core that has been started, row by row; what it is given is valid during
 * the call. *cores: how many cores there were. */
typedef devlog_status look_fn(void *context, const look_risc *risc, devlog_error *err);
devlog_status look_at_device(devlog_device *device, const look_options *options, look_fn *fn, void *context,
                             uint32_t *cores, devlog_error *err);

#endif
