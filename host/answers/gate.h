/* Gates: conditions under which a diff fails, such as "op_p95>+5%". docs/diff.md has the grammar. */
#ifndef DEVLOG_ANSWERS_GATE_H
#define DEVLOG_ANSWERS_GATE_H

#include "answers/diff.h"

typedef enum gate_result { GATE_PASSED, GATE_FAILED, GATE_UNDECIDED, GATE_RESULTS } gate_result;

enum { GATE_REASONS = 20 }; /* that are kept as text; all are counted */

typedef struct gate {
    const char *text; /* as it was given; borrowed */
    uint8_t what, stat, unit;
    bool below; /* "<" */
    double limit;
    /* by gate_judge */
    gate_result result;
    size_t failed, undecided, judged; /* judged: lines whose times were held against the limit */
    char *reasons[GATE_REASONS];      /* those that failed first */
    size_t n_reasons;
} gate;

/* ARGUMENT when the text is no gate: one line that says what is wrong and what is allowed. */
devlog_status gate_parse(gate *g, const char *text, devlog_error *err);
/* Judges a finished diff. Free the gate with gate_free. */
devlog_status gate_judge(gate *g, const diff *d, devlog_error *err);
void gate_free(gate *g);

#endif
