/* Why it waited, as sections of an answer. Not the arithmetic (causes_sums.h) and not how it looks (answer.h). */
#ifndef DEVLOG_ANSWERS_CAUSES_ANSWER_H
#define DEVLOG_ANSWERS_CAUSES_ANSWER_H

#include "answers/answer.h"
#include "answers/causes_sums.h"

/* Adds the sections "causes" (what is known), "path" (of the longest launch), "path_zones", "waits", "noc" (where
 * transfers were recorded), "slack", "launches", "run" and "run_path". The last two come from causes_answer_run.
 * `top`: rows of each table that are kept; 0: all. */
devlog_status causes_answer(answer *a, const causes_sums *s, size_t top, devlog_error *err);
devlog_status causes_answer_run(answer *a, const causes_sums *s, size_t top, devlog_error *err);
/* Of these "path_zones" and "waits", for an answer about the whole run. */
void causes_answer_short(answer *a, const causes_sums *s, size_t top);

#endif
