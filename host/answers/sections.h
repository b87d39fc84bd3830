/* The sections of an answer, one line for each subject: who makes it is named behind. Their order here is that in which they
 * are shown. */
#ifndef DEVLOG_ANSWERS_SECTIONS_H
#define DEVLOG_ANSWERS_SECTIONS_H

#include "answers/answer_run.h"
#include "answers/flops.h"
#include "answers/rules.h"

typedef enum answer_group {
    GROUP_CODE,
    GROUP_SHAPE,
    GROUP_MEMORY,
    GROUP_CATEGORY,
    GROUP_NONE,
    GROUP_STACK,
    GROUPS
} answer_group;
typedef enum answer_sort {
    SORT_TIME, /* the greatest first, by what it is named */
    SORT_GAP,
    SORT_COUNT,
    SORT_AVERAGE,
    SORT_MAX,
    SORT_HOST,
    SORT_NAME,
    SORT_ORDER, /* as they came first */
    SORT_MIN,
    SORT_SHARE,
    SORT_CORES,
    SORT_FLOP_RATE,
    SORT_BANDWIDTH,
    SORT_BOUND_BY,
    SORT_IDEAL,
    SORT_RUNS_ON,
    SORT_TOTAL, /* SORT_TIME and SORT_NAME by the names of their columns */
    SORT_OP,
    SORT_SLOWEST,
    SORTS
} answer_sort;

typedef struct answer_wishes {
    answer_group group;
    answer_sort sort;
    size_t top;               /* rows of each table; 0: all */
    const flops_peaks *peaks; /* NULL: flops_apply has not been called */
    const rules *rules;       /* NULL: no advice, no indicators */
} answer_wishes;

/* What could be saved. For savings.c and those who know more (advice). */
typedef struct saving {
    double time;                                    /* at most */
    const char *kind;                               /* of programs: "gaps", "unused_cores", ... */
    const char *what, *op, *core, *line, *evidence; /* NULL: unknown */
    double op_id;                                   /* GLOBAL CALL COUNT of the op that shows it best */
    bool by_op;                                     /* it is of the time of op's code */
    bool behind;                                    /* it is told behind the others, however great it is */
} saving;

void answer_add_verdict(answer *a, const answer_run *r);                          /* verdict.c */
bool answer_add_savings(answer *a, const answer_run *r);                          /* savings.c */
bool answer_add_ops(answer *a, const answer_run *r, const answer_wishes *w);      /* op_stats.c */
bool answer_add_kernels(answer *a, const answer_run *r, const answer_wishes *w);  /* kernel_stats.c */
bool answer_add_roofline(answer *a, const answer_run *r, const answer_wishes *w); /* roofline.c */
void answer_add_zones(answer *a, const answer_run *r, const answer_wishes *w);    /* zone_stats.c */
bool answer_add_ranges(answer *a, const answer_run *r, const answer_wishes *w);   /* ranges.c */
void answer_add_chips(answer *a, const answer_run *r);                            /* verdict.c */
void answer_add_summary(answer *a, const answer_run *r);                          /* verdict.c */
void answer_add_losses(answer *a, const answer_run *r);                           /* verdict.c */

/* What an op is called in a table of ops that are put together like this; kept by the answer. (op_stats.c) */
const char *answer_op_name(answer *a, const answer_run *r, const answer_op *op, answer_group group);

/* All of them. MEMORY when there is none. (sections.c) */
devlog_status answer_make(answer *a, const answer_run *r, const answer_wishes *w, devlog_error *err);

/* From the first launch to the last on the chip that was at work longest; without cycles that of the host; NAN. (verdict.c) */
double answer_wall(const answer_run *r);

/* What kind of work an op of this code does: "matmul", "convolution", ...; "other". (op_category.c) */
const char *op_category(const char *code);

#endif
