/* What kernels expect of their markers (DEVLOG_EXPECT_* of devlog/profile.h), held against the records of one RISC and launch. Not
 * for what follows from a violation (violations.h). */
#ifndef DEVLOG_PROFILER_EXPECT_H
#define DEVLOG_PROFILER_EXPECT_H

#include "base/elf.h"
#include "decode/mark.h"

/* What was not as expected in a launch. */
typedef struct expect_violation {
    const dl_elf_expect *of;
    uint64_t times;
    uint64_t worst; /* what was farthest outside: cycles, count, value; of an order the how manieth `other` */
} expect_violation;

/* `complete`: no record of the launch is missing. Where some are, only what those that are there show for certain is judged:
 * passes of zones, values, and too many of something. Calls `found` for every expectation that was not met. */
devlog_status expect_check(const dl_elf *elf, dl_tables *tables, const dl_marks *marks, bool complete,
                           devlog_status (*found)(void *ctx, const expect_violation *v, devlog_error *err),
                           void *ctx, devlog_error *err);

/* The expectation in words, "mul: 100 to 200 cycles": the same for each of its violations. */
void expect_text(const dl_elf_expect *e, char *out, size_t size);

#endif
