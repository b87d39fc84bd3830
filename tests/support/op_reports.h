/* Op reports for tests of what is said of them: an op that has nothing wrong with it, and others that differ from it in some
 * columns. */
#ifndef DEVLOG_TESTS_OP_REPORTS_H
#define DEVLOG_TESTS_OP_REPORTS_H

#include "base/str.h"

/* The line of column names. */
void op_report_begin(dl_str *out);

/* Where the next launch begins, by chip; zero-initialised for a report. */
typedef struct op_report_clock {
    double now[2];
} op_report_clock;

/* A row of the usual op, but for what `cells` say: "NAME=value|NAME=value". Chips run at 1,000 MHz, and each op begins when its gap
 * behind the one before is over. Firmware takes 1,040 ns more than a kernel whose time is among the cells, unless they say. */
void op_report_add(dl_str *out, op_report_clock *clock, const char *cells, unsigned id);

#endif
