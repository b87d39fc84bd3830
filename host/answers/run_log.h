/* What a device log or capture says of a run beyond what an op report has: zones of each op, and which core was last. One
 * pass over the log. Not for what follows from it. */
#ifndef DEVLOG_ANSWERS_RUN_LOG_H
#define DEVLOG_ANSWERS_RUN_LOG_H

#include "devlog/decode.h"

typedef struct run_log run_log;

#endif
