/* Rows at the end of a table of an SQLite database, written as pages: through the library a row takes fifty times as many
 * instructions. The library makes the database and its small tables, closes it, and opens it again for the rest; in between
 * the large tables, which are empty, get their rows here. Rows have the numbers 1, 2, 3, ...: their tables begin with
 * `id INTEGER PRIMARY KEY`, and have no index. Source: "Database File Format", sqlite.org/fileformat2.html, which the
 * library keeps for good. It is no reader, and puts no rows into tables that have some. */
#ifndef DEVLOG_REPORT_SQLITE_ROWS_H
#define DEVLOG_REPORT_SQLITE_ROWS_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "devlog/devlog.h"

enum {
    SQLITE_ROWS_PAGE = 16384,   /* the page size that the database must have */
    SQLITE_ROWS_COLUMNS = 16,   /* of a table, at most */
    SQLITE_ROWS_TEXT = 1 << 24, /* bytes of a row's texts at most: what is longer is cut */
};

/* The file, to which pages are added. */
typedef struct sqlite_file {
    int fd;
    const char *path; /* for messages */
    uint32_t n_pages;
} sqlite_file;

typedef struct sqlite_child {
    uint32_t page;
    uint64_t last; /* the number of the last row in it and below it */
} sqlite_child;

typedef struct sqlite_table {
    sqlite_file *file;
    uint32_t root;
    uint64_t n_rows;
    uint8_t *page; /* the leaf in hand: cells from its end, their places from its beginning */
    uint32_t n_cells, free_end;
    sqlite_child *leaves; /* that have been written */
    size_t n_leaves, cap_leaves;
    /* The row in hand: the types of its columns, and what they hold. */
    uint8_t types[SQLITE_ROWS_COLUMNS * 5], *values;
    size_t n_types, n_values, cap_values;
} sqlite_table;

/* `fd` is of a database of this page size that no one has open. */
devlog_status sqlite_file_begin(sqlite_file *f, int fd, const char *path, devlog_error *err);
/* Behind the tables' ends: tells the file how long it is. */
devlog_status sqlite_file_end(sqlite_file *f, devlog_error *err);

/* `root`: the table's root page. To be freed by sqlite_table_free in any case. */
devlog_status sqlite_table_begin(sqlite_table *t, sqlite_file *f, uint32_t root, devlog_error *err);
/* The row whose columns, but for the first, have been added since the row before. */
devlog_status sqlite_table_row(sqlite_table *t, devlog_error *err);
/* Ties the pages together: from here on the library can read them. */
devlog_status sqlite_table_end(sqlite_table *t, devlog_error *err);
void sqlite_table_free(sqlite_table *t);

/* ---- Columns of a row -------------------------------------------------------------------------------- */

static inline void sqlite_add_null(sqlite_table *t)
{
    t->types[t->n_types++] = 0;
}

/* A number as it is stored: in one to four, six or eight bytes, the highest first; 0 and 1 in none. */
static inline void sqlite_add_number(sqlite_table *t, uint64_t value)
{
    static const uint8_t types[9] = {1, 1, 2, 3, 4, 5, 5, 6, 6}, widths[7] = {0, 1, 2, 3, 4, 6, 8};
    if (value <= 1) {
        t->types[t->n_types++] = (uint8_t)(8 + value);
        return;
    }
    uint8_t type = 7; /* the library makes it a floating point number, too, where it wants a whole one */
    uint64_t bits;
    unsigned width = 8;
    if (value <= INT64_MAX) {
        type = types[(64 - (unsigned)__builtin_clzll(value)) / 8 + 1];
        width = widths[type];
        bits = value;
    } else {
        const double real = (double)value;
        memcpy(&bits, &real, sizeof bits);
    }
    t->types[t->n_types++] = type;
    bits = __builtin_bswap64(bits << (64 - 8 * width));
    memcpy(t->values + t->n_values, &bits, sizeof bits); /* there is room for eight bytes of each column */
    t->n_values += width;
}

static inline void sqlite_add_known(sqlite_table *t, bool known, uint64_t value)
{
    if (known)
        sqlite_add_number(t, value);
    else
        sqlite_add_null(t);
}

/* False: out of memory. */
bool sqlite_add_text(sqlite_table *t, const char *text);

#endif
