/* Answers: what a run says, as sections of cells that every output prints in the same way (answer_print.h). A section is
 * made by one file for its subject (verdict.c, op_stats.c, ...) from the model of a run (answer_run.h). Not for what is
 * true of a run, nor for how it looks: a cell holds a number with its unit, and what nobody knows is unknown, never 0.
 *
 *     answer_section *s = answer_table(a, "chips", "CHIPS", columns, n_columns);
 *     answer_text(s, name); answer_number(s, busy_ns); answer_unknown(s);        cell by cell, row after row
 *     answer_note(a, s, "Busy: union of its launches.");
 *
 *     answer_section *f = answer_facts(a, "verdict", "VERDICT");
 *     answer_fact(a, f, "busy", "device busy", ANSWER_PERCENT, 0.53, "of the wall time; chip 0");
 *
 * Memory that runs out is remembered in the answer and told once, by answer_status. */
#ifndef DEVLOG_ANSWERS_ANSWER_H
#define DEVLOG_ANSWERS_ANSWER_H

#include <math.h>

#include "base/intern.h"
#include "base/str.h"

typedef enum answer_unit {
    ANSWER_TEXT,
    ANSWER_COUNT,
    ANSWER_TIME, /* ns, or cycles in a run whose clock nobody knows: answer.cycles */
    ANSWER_CYCLES,
    ANSWER_PERCENT,
    ANSWER_RATIO, /* 1 is the same */
    ANSWER_BYTES,
    ANSWER_BYTES_PER_S,
    ANSWER_FLOPS,
    ANSWER_FLOPS_PER_S,
    ANSWER_MHZ,
    ANSWER_UNITS
} answer_unit;

typedef struct answer_cell {
    answer_unit unit;
    bool known;
    double number;    /* whole ones are exact up to 2^53 */
    const char *text; /* ANSWER_TEXT */
} answer_cell;

typedef struct answer_column {
    const char *key;   /* of programs: JSON, CSV; [a-z0-9_] */
    const char *title; /* for people */
    answer_unit unit;
    uint8_t
        spare; /* as dl_grid_column has it: 0 is always shown, the greatest is left out first; ANSWER_BELOW ... */
} answer_column;

enum {
    ANSWER_BELOW = 254,  /* people see it on a line below the row */
    ANSWER_HIDDEN = 255, /* programs only */
};

typedef struct answer_section {
    const char *key, *title;
    bool facts;                   /* a row is one fact: its columns are key, title, value, note */
    const answer_column *columns; /* of a constant table */
    size_t n_columns;
    answer_cell *cells; /* row by row */
    size_t n, cap;
    size_t more;        /* rows that are there and were not asked for: --top */
    const char **notes; /* below it: what a term means here, what was left out and why */
    size_t n_notes, cap_notes;
    bool failed;
} answer_section;

enum { ANSWER_SECTIONS = 32 };

typedef struct answer {
    answer_section
        sections[ANSWER_SECTIONS]; /* in the order in which they are shown; their places do not move */
    size_t n;
    dl_intern *texts;
    bool cycles; /* times are cycles */
    bool no_memory;
} answer;

devlog_status answer_begin(answer *a, devlog_error *err);
void answer_free(answer *a);
devlog_status answer_status(const answer *a, devlog_error *err);

/* A table. `key` is what programs call it. Never NULL: past ANSWER_SECTIONS the last one fails. */
answer_section *answer_table(answer *a, const char *key, const char *title, const answer_column *columns,
                             size_t n_columns);
answer_section *answer_facts(answer *a, const char *key, const char *title);
/* NULL: there is none of this key. */
const answer_section *answer_find(const answer *a, const char *key);

/* The next cell of a table, in the unit of its column. A number that is not finite is unknown, and so is a text that is NULL;
 * texts are borrowed: answer_keep gives one that lives as long as the answer. */
void answer_number(answer_section *s, double value);
void answer_text(answer_section *s, const char *text);
void answer_unknown(answer_section *s);
const char *answer_keep(answer *a, const char *text, size_t n);
const char *answer_keepf(answer *a, const char *fmt, ...) DL_PRINTF(2, 3);

/* A fact; `note` says how it is known, and is kept; NULL: nothing to say. */
void answer_fact(answer *a, answer_section *s, const char *key, const char *title, answer_unit unit,
                 double value, const char *note);
void answer_fact_text(answer *a, answer_section *s, const char *key, const char *title, const char *text,
                      const char *note);
/* A line below the section; kept. */
void answer_note(answer *a, answer_section *s, const char *text);

/* Rows of a table, or facts. */
static inline size_t answer_rows(const answer_section *s)
{
    return s->n_columns ? s->n / s->n_columns : 0;
}
/* Keeps the first `most` rows; 0: all. The others are counted in `more`. */
void answer_top(answer_section *s, size_t most);

/* "ns", "percent", "bytes/s", ...: as JSON and CSV name it; "" for texts and counts. */
const char *answer_unit_name(const answer *a, answer_unit unit);

#endif
