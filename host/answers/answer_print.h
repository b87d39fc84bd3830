/* An answer's outputs: for people on a terminal (answer_text.c) and in Markdown, for programs JSON and CSV (answer_data.c).
 * Nothing is worked out here. */
#ifndef DEVLOG_ANSWERS_ANSWER_PRINT_H
#define DEVLOG_ANSWERS_ANSWER_PRINT_H

#include "answers/answer.h"

typedef struct answer_shown {
    const answer *a;
    const char *kind; /* what it answers: "report"; JSON's format and schema are devlog-KIND-VERSION */
    int version;      /* of that schema */
    const char *const *sections; /* keys of those that are wanted, in the answer's order; n 0: all */
    size_t n_sections;
    bool colour;
    unsigned width; /* of the terminal; 0: none */
} answer_shown;

typedef void answer_printer(const answer_shown *s, dl_str *out);

answer_printer answer_print_text, answer_print_markdown, answer_print_json, answer_print_csv;

/* Whether a section is shown. */
bool answer_shows(const answer_shown *s, const answer_section *section);

#endif
