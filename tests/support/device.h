/* A device on the built-in simulator for tests, and shorthand for programs on it. */
#ifndef DEVLOG_TESTS_DEVICE_H
#define DEVLOG_TESTS_DEVICE_H

#include "device/device.h"
#include "program/program.h"
#include "support/cmocka_all.h"

/* Fails the test with the text of the error. */
void check_ok(devlog_status status, const devlog_error *err);

/* Opens a profiled device on the simulator; may be NULL: default board, no options. */
devlog_device *open_device(const char *board_name, const char *sim_options);

/* A folder for this test that did not exist before; removed when the program ends and no test of it failed. */
const char *test_folder(void);

/* Path of a source under the repository. */
const char *source_path(const char *name);

/* One kernel on a rectangle of cores. */
devlog_kernel *add_kernel(devlog_program *program, const char *source, const char *risc, devlog_cores cores,
                          const char *flags);

/* Compiles and configures. */
void prepare(devlog_device *device, devlog_program *program);

#endif
