/* One kernel on one RISC of core (0, 0), ready to launch: what most tests of markers need. */
#ifndef DEVLOG_TESTS_FIXTURE_H
#define DEVLOG_TESTS_FIXTURE_H

#include "support/rows.h"

static const devlog_cores one = {0, 0, 0, 0};
static const devlog_core zero = {0, 0};

typedef struct fixture {
    devlog_device *device;
    devlog_program *program;
    devlog_kernel *kernel;
} fixture;

/* Opens the default board on the simulator with a program of one kernel; flags and options may be NULL. */
fixture start(const char *source, const char *risc, const char *flags, const char *sim_options);

/* Sets two arguments, compiles, configures. */
void set_args(fixture *f, uint32_t a, uint32_t b);

void stop(fixture *f);

#endif
