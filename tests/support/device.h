/* A device on the built-in simulator for tests, and shorthand for programs on it. */
#ifndef DEVLOG_TESTS_DEVICE_H
#define DEVLOG_TESTS_DEVICE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "device/device.h"
#include "program/program.h"

/* Fails the test with the text of the error. */
void check_ok(devlog_status status, const devlog_error *err);

/* Opens a profiled device on the simulator; `sim` are its options, may be NULL. */
devlog_device *open_device(const char *board, const char *sim);

/* A folder for this test that did not exist before; removed by the system's cleaning of /tmp. */
const char *test_folder(void);

/* Path of a source under the repository. */
const char *source_path(const char *name);

/* One kernel on a rectangle of cores. */
devlog_kernel *add_kernel(devlog_program *program, const char *source, const char *risc, devlog_cores cores,
                          const char *flags);

/* Compiles and configures. */
void prepare(devlog_device *device, devlog_program *program);

#endif
