/* devlog/budget.h: how many cycles a zone may take, as a test. The built-in simulator gives the same cycles in every
 * run, so one instruction more is a failure; and it knows where the cycles went, so the failure says in which source lines
 * and instructions.
 *
 *     devlog_device_options options =
 *         DEVLOG_DEVICE_OPTIONS(.transport = "sim", .sim = "annotate", .profile = DEVLOG_ON, .log_folder = "out");
 *     ...
 *     devlog_launch_program(device, program, &err);
 *     DEVLOG_ASSERT_BUDGET(device, "wait for page", "TRISC1", 1200);
 *
 * The macro is for cmocka's tests when its header comes first. Elsewhere it prints why and aborts; define
 * DEVLOG_BUDGET_FAIL(file, line) before this header for another test library. Not for times of hardware: they differ from
 * run to run, and `devlog diff` tells chance from change. */
#ifndef DEVLOG_BUDGET_H
#define DEVLOG_BUDGET_H

#include <stdlib.h>

#include "devlog/devlog.h"

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/* Whether a zone, in every one of the device's launches so far and on every core, took at most so many cycles. Markers
 * inside the zone count as they do in logs. `risc` NULL: on every RISC. *most, if not NULL, is the longest time that it
 * took. *report is NULL when it kept its budget; otherwise lines that say by how much not, where and in which launch, and
 * where the cycles of that kernel went: freed by the caller. It has not kept it when it never ran, or when records were
 * lost. The device is profiled and writes a capture (devlog_device_options). DEVLOG_ERR_STATE when it does not. */
devlog_status devlog_budget_judge(devlog_device *device, const char *zone, const char *risc, uint64_t cycles,
                                  uint64_t *most, char **report, devlog_error *err);

/* The same for a test: false, with the report or the error on stderr behind FILE:LINE, when it has not kept it. */
bool devlog_budget_kept(devlog_device *device, const char *zone, const char *risc, uint64_t cycles,
                        const char *file, int line);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#ifndef DEVLOG_BUDGET_FAIL
#ifdef CMOCKA_H_
#define DEVLOG_BUDGET_FAIL(file, line) _fail(file, line)
#else
#define DEVLOG_BUDGET_FAIL(file, line) abort()
#endif
#endif

/* Fails the test unless the zone keeps its budget. */
#define DEVLOG_ASSERT_BUDGET(device, zone, risc, cycles)                                                     \
    do {                                                                                                     \
        if (!devlog_budget_kept(device, zone, risc, cycles, __FILE__, __LINE__))                             \
            DEVLOG_BUDGET_FAIL(__FILE__, __LINE__);                                                          \
    } while (0)

#endif
