/* A diff as sections of an answer, for who reads it through the library. For printing it: diff_print.h. */
#ifndef DEVLOG_ANSWERS_DIFF_ANSWER_H
#define DEVLOG_ANSWERS_DIFF_ANSWER_H

#include "answers/answer.h"
#include "answers/diff_print.h"

/* Adds the sections "diff", "runs", "conditions", "lines" and "causes". The diff is borrowed. */
devlog_status diff_answer(answer *a, const diff *d, const gate *gates, size_t n_gates, devlog_error *err);

#endif
