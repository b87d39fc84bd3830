/* Real numbers as text that loses nothing, for machine-readable reports. Tables for people round (base/grid.h). */
#ifndef DEVLOG_BASE_REAL_H
#define DEVLOG_BASE_REAL_H

#include "base/str.h"

/* A finite number: the shortest text of 15 digits or more that reads back as the same double, with decimals or an
 * exponent, as JSON has them. */
void dl_str_real(dl_str *s, double value);

#endif
