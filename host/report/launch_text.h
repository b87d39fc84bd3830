/* How tables call a launch: by its run host id or run id with its trace, or by its place in the log. */
#ifndef DEVLOG_REPORT_LAUNCH_TEXT_H
#define DEVLOG_REPORT_LAUNCH_TEXT_H

#include "decode/event.h"

void dl_launch_text(const dl_launch *l, char out[64]);

#endif
