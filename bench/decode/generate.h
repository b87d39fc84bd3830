/* Device logs as tt-metal writes them, made up: the same bytes for the same arguments. For the bench and for
 * developers who want a large log. */
#ifndef DEVLOG_BENCH_GENERATE_H
#define DEVLOG_BENCH_GENERATE_H

#include <stdint.h>
#include <stdio.h>

/* `version`: 2 (six cells, 2023), 8 or 9 (all columns, 2025 and 2026). Returns the bytes written, 0 when
 * writing failed.
 *
 * Rows of that many cores, 64 at most, with five RISCs each. L2: launch after launch, four rows per RISC and launch, the default
 * markers, with every sixteenth launch eight user markers between them. L8: launch after launch, firmware
 * start and end, kernel start and end (from their fixed slots, so not in the order of time), then three user
 * zones. L9: the same rows in order of time, RISC by RISC, a thousand launches at a time. */
uint64_t generate_log(FILE *out, int version, uint64_t rows, uint32_t cores);

#endif
