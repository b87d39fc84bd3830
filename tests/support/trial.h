/* Trials of order: whole programs on the simulator's strict model (host/sim/strict.h), with a look at everything that they did. For
 * test_ordering.c, which wants all to be right, and test_ordering_places.c, which wants something to be wrong. */
#ifndef DEVLOG_TESTS_TRIAL_H
#define DEVLOG_TESTS_TRIAL_H

#include "support/device.h"

enum { TRIAL_LIMIT = 600000 /* cycles */, TRIAL_BLOCKS = 12 /* that noc.c writes */ };

typedef struct trial {
    devlog_device *device;
    devlog_program *program;
    devlog_error err;
    devlog_status status; /* of what went wrong; DEVLOG_OK: a result */
    char wrong[600];      /* empty: nothing was */
    uint64_t cycles;
} trial;

/* False when something is wrong, which t->wrong says then. */
bool trial_open(trial *t, const char *on, unsigned seed, const char *folder, devlog_recording recording,
                devlog_switch profile);
bool trial_close(trial *t);
bool trial_begin(trial *t);
bool trial_kernel(trial *t, const char *source, uint32_t risc, devlog_core core, const char *flags,
                  const uint32_t *args, uint32_t n);
bool trial_run(trial *t);

/* Whole programs, from opening to closing. */
typedef bool trial_fn(trial *t, const char *on, unsigned seed);
/* All there is, several times, so that there is something old in every cache. */
trial_fn trial_everything;
/* Without markers the firmware has hardly an instruction between the message and the kernel. */
trial_fn trial_replaced;
trial_fn trial_pipeline;
/* The NoC, and another core's clock. */
trial_fn trial_noc_and_clocks;
/* The event stream alone. */
trial_fn trial_events;
/* Recording is frozen in mid-launch. */
trial_fn trial_frozen;

#endif
