/* Pairing of a part of a log as bytes, and back: what pair_absorb.h puts behind another part, and what it puts it behind. */
#ifndef DEVLOG_DECODE_PAIR_WIRE_H
#define DEVLOG_DECODE_PAIR_WIRE_H

#include "decode/pair/pair.h"
#include "decode/wire.h"

/* Writes the pairing; or reads it, into a new one, whose tables have been read. */
void dl_pair_wire(dl_pair *p, dl_wire *w);
/* The same of marks that wait for more of their run. */
void dl_marks_wire(dl_marks *m, dl_wire *w);
void dl_chip_line_wire(dl_chip_line *line, dl_wire *w);

#endif
