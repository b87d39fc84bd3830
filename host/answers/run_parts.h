/* Parts of the making of answer_run: chips, ops on several of them, and the host's own time in each. For answer_run.c. */
#ifndef DEVLOG_ANSWERS_RUN_PARTS_H
#define DEVLOG_ANSWERS_RUN_PARTS_H

#include "answers/answer_run.h"

/* Which chips the wanted rows are of. All: false is no memory. */
bool run_find_chips(answer_run *r, const uint8_t *wanted);
/* How often the counter of each began, and what that shifts. */
bool run_find_boots(answer_run *r);
/* What they did, once it is known which rows are wanted. */
bool run_add_chips(answer_run *r, const uint8_t *wanted);
/* What the host did, and its time in each op without the ops inside it. While there is an op for each row: rows of one op on
 * several chips may have times of their own on the host. */
bool run_add_host(answer_run *r);
/* One op for the rows of one op on several chips. */
bool run_merge_chips(answer_run *r);

#endif
