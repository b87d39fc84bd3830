/* Printing an answer as a command's options ask: its format, its tables, to standard output or a file. Not for what is in it
 * (answers/), nor for how it looks (answers/answer_print.h). */
#ifndef DEVLOG_CLI_ANSWER_OUT_H
#define DEVLOG_CLI_ANSWER_OUT_H

#include "answers/answer.h"
#include "cli/options.h"

#define CLI_ANSWER_FORMATS "text|json|csv|md"
enum { CLI_ANSWER_TEXT, CLI_ANSWER_JSON, CLI_ANSWER_CSV, CLI_ANSWER_MARKDOWN };

typedef struct cli_answer_out {
    const char *kind; /* the schema of its JSON is devlog-KIND-VERSION */
    int version;
    int format;             /* of CLI_ANSWER_FORMATS */
    bool plain;             /* standard output is nobody's terminal: mpirun makes one for rank 0 */
    const cli_list *tables; /* only these; NULL: all */
    const char *output;     /* a file; NULL: standard output */
} cli_answer_out;

devlog_status cli_answer_print(const answer *a, const cli_answer_out *o, devlog_error *err);

/* Lines of a table when nobody says how many: 20 for people, all (0) for programs. */
size_t cli_answer_top(int format, uint64_t asked);

#endif
