/* What is found about the clock of a chip: that it could not be aligned, or does not do what its board claims. For the
 * reader of a capture, and for the run that closes a device log, which has no samples of clocks. */
#ifndef DEVLOG_DECODE_CLOCK_FINDINGS_H
#define DEVLOG_DECODE_CLOCK_FINDINGS_H

#include "decode/clock/chip_clock.h"
#include "decode/loss.h"

/* Adds DL_FOUND_CLOCK for each; fits have been made. */
void dl_clock_findings(const dl_chip_clock *c, dl_losses *l);

#endif
