/* Grids: tables for people. Columns are as wide as what is in them; on a terminal a line is no longer than
 * the terminal: long names are shortened in their middle, and columns that can be spared are left out and
 * named below. Into anything else all is written in full. For the comment of a pull request the same is Markdown. Not for programs: they have CSV and JSON.
 *
 *     static const dl_grid_column columns[] = {{"zone", DL_GRID_NAME, 0}, {"count", DL_GRID_RIGHT, 0}};
 *     dl_grid g = DL_GRID(columns);
 *     dl_grid_text(&g, "loop"); dl_grid_u64(&g, 1234);       cell by cell, row after row
 *     dl_grid_print(&g, dl_term_width(stdout), &out);        and frees it */
#ifndef DEVLOG_BASE_GRID_H
#define DEVLOG_BASE_GRID_H

#include <limits.h>

#include "base/str.h"

enum {
    DL_GRID_LEFT = 0,
    DL_GRID_RIGHT = 1, /* numbers */
    DL_GRID_NAME = 2,  /* may be shortened, but keeps its two ends */
    DL_GRID_RULE = 4,  /* a '|' stands before the column */
    DL_GRID_RED = 16,  /* where there is colour */
    DL_GRID_GONE = 8,  /* this table has no such column: its cells are given all the same */
};

enum { DL_GRID_COLUMNS = 16, DL_GRID_LEAST_NAME = 20 };
#define DL_GRID_MARKDOWN UINT_MAX /* a width: a table of Markdown, with all columns and names in full */

typedef struct dl_grid_column {
    const char *title; /* NULL in all columns: no head */
    uint8_t flags;     /* DL_GRID_* */
    uint8_t spare;     /* 0: is always shown; otherwise the greatest goes first */
} dl_grid_column;

typedef struct dl_grid {
    dl_grid_column columns[DL_GRID_COLUMNS];
    bool colour;
    unsigned n_columns, at; /* at: column of the next cell */
    dl_str text;            /* the cells, each with a NUL; a note begins with '\1' */
    size_t cells;           /* notes included */
} dl_grid;

#define DL_GRID(list) dl_grid_of(list, sizeof(list) / sizeof((list)[0]))

dl_grid dl_grid_of(const dl_grid_column *columns, size_t n);
/* The next cell. What a terminal would take for a command (ESC, a newline) is written as an escape. */
void dl_grid_text(dl_grid *g, const char *text);
void dl_grid_fmt(dl_grid *g, const char *fmt, ...) DL_PRINTF(2, 3);
void dl_grid_u64(dl_grid *g, uint64_t value);
/* Rounded, thousands apart; negative numbers and what is not finite are empty. */
void dl_grid_number(dl_grid *g, double value);
/* A line of its own below the row; between rows only. */
void dl_grid_note(dl_grid *g, const char *text);
/* Appends the table to *out; width 0: as wide as it likes; DL_GRID_MARKDOWN. *g is empty again. */
void dl_grid_print(dl_grid *g, unsigned width, dl_str *out);

/* A name above a table: as Markdown, or as a terminal may show it. */
static inline void dl_str_name(dl_str *s, const char *text, bool markdown)
{
    if (markdown)
        dl_str_markdown(s, text);
    else
        dl_str_shown(s, text, strlen(text));
}

/* The text as a terminal may show it (dl_str_shown), shortened in the middle to `most` columns. */
void dl_str_short(dl_str *s, const char *text, unsigned most);
/* Columns of a terminal that the text takes. */
unsigned dl_text_columns(const char *text, size_t n);

#endif
