/* What devlog decode prints of a log that has been decoded, by whomever: one process, or many (mpi/decode.c). */
#ifndef DEVLOG_CLI_DECODE_PRINT_H
#define DEVLOG_CLI_DECODE_PRINT_H

#include "decode/analysis/analyzer.h"

/* Words of the options, and the numbers of the formats. */
#define DECODE_FORMATS "text|json|csv|md"
#define DECODE_SORTS   "total|average|max|count|name"
enum { DECODE_TEXT, DECODE_JSON, DECODE_CSV, DECODE_MARKDOWN };

typedef struct decode_shown {
    int format, sort;            /* DECODE_*, dl_table_sort */
    bool tables, analyses;       /* for people: tables, and analyses behind them */
    uint64_t max_launches, top;  /* of tables */
    bool plain;                  /* what it is printed on is nobody's terminal: mpirun makes one for rank 0 */
    const dl_analyzer *analyzer; /* NULL: there are no analyses */
    const char *const *files;    /* that are written; ends with NULL; may be NULL */
} decode_shown;

/* Whether a format holds the analyses, which are made of runs in their order. */
bool decode_wants_runs(int format);
devlog_status decode_print(dl_decode *d, const decode_shown *s, devlog_error *err);

#endif
