/* What the chips of a report or log said of their own clocks (AICLK), as summaries and comparisons tell it. Not for the clock that
 * durations are made of, which is measured. */
#ifndef DEVLOG_OPS_OP_AICLK_H
#define DEVLOG_OPS_OP_AICLK_H

#include "base/str.h"

/* What chips said of their clocks, MHz: the least and the most; 0: nothing. */
typedef struct op_aiclk {
    uint64_t low, high;
} op_aiclk;

void op_aiclk_add(op_aiclk *a, uint64_t mhz);
/* "1000 MHz", "800 to 1000 MHz"; "unknown". */
void op_aiclk_text(const op_aiclk *a, dl_str *out);
/* "name":[low,high], and a comma behind it; nothing when it is unknown. */
void op_aiclk_json(const op_aiclk *a, const char *name, dl_str *out);

#endif
