/* What is known of clocks as bytes, for another process; and back. */
#ifndef DEVLOG_DECODE_CLOCK_WIRE_H
#define DEVLOG_DECODE_CLOCK_WIRE_H

#include "decode/clock/chip_clock.h"
#include "decode/wire.h"

/* What was measured, into clocks that know nothing yet: dl_chip_clocks_make is the reader's. */
void dl_chip_clocks_wire(dl_chip_clocks *c, dl_wire *w);

#endif
