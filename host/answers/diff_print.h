/* What a diff says, for people (diff_text.c) and for programs (diff_data.c). */
#ifndef DEVLOG_ANSWERS_DIFF_PRINT_H
#define DEVLOG_ANSWERS_DIFF_PRINT_H

#include "answers/gate.h"

enum { DIFF_FORMAT_VERSION = 1 }; /* of the JSON */

typedef struct diff_shown {
    const diff *d;
    const gate *gates;
    size_t n_gates;
    bool colour;
    unsigned width; /* of the terminal; 0: none, nothing is shortened */
    size_t top;     /* lines of each table; 0: all */
} diff_shown;

typedef void diff_printer(const diff_shown *s, dl_str *out);
diff_printer diff_print_text, diff_print_markdown, diff_print_csv, diff_print_json, diff_print_junit;

/* Words for what became of a line, and of a gate: "slower", "failed". */
extern const char *const diff_verdicts[DIFF_VERDICTS];
extern const char *const gate_results[GATE_RESULTS];
extern const char *const diff_kinds[DIFF_KINDS];

/* The causes of an op: those of its lines whose time changed in the direction of the op's, the greatest first. The
 * numbers of up to `most` lines; returns how many. */
size_t diff_causes(const diff *d, uint32_t op, uint32_t *lines, size_t most);

/* All gates together; GATE_PASSED also when there is none. */
gate_result diff_result(const gate *gates, size_t n);

#endif
