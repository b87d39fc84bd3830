/* What the page draws of causes over its time line: each wait with who ended it, the path of each launch, and the slack of each
 * RISC at its end. Not for their tables (page_answers.c). */
#ifndef DEVLOG_CLI_PAGE_CAUSES_H
#define DEVLOG_CLI_PAGE_CAUSES_H

#include "answers/causes_sums.h"

/* Appends a JSON object: {"whys":[...],"streams":[[chip,x,y,"RISC"],...],"launches":[{"chip":..,"start":"..","waits":[stream,from,
 * cycles,stream that ended it or -1,why,...],"path":[stream,from,cycles,...],"slack":[stream,end,cycles,...]},...],"left_out":n}.
 * Times are cycles since the launch's start. Of very many waits those of later launches are left out. */
devlog_status cli_page_causes(const causes_reading *r, dl_str *out, devlog_error *err);

#endif
