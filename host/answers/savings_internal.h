/* What savings.c and savings_gaps.c share: savings that were found, before the greatest are told. */
#ifndef DEVLOG_ANSWERS_SAVINGS_INTERNAL_H
#define DEVLOG_ANSWERS_SAVINGS_INTERNAL_H

#include "answers/sections.h"

typedef struct savings {
    saving *items;
    size_t n, cap;
    bool failed; /* no memory */
} savings;

/* NULL: it saves nothing, or there is no memory. (savings.c) */
saving *savings_add(savings *all, const saving *s);
/* Gaps between launches, shared out. (savings_gaps.c) */
void savings_find_gaps(answer *a, const answer_run *r, savings *all);

#endif
