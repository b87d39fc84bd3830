/* What the parser's files share: the parser itself. Included by parser.c, cells.c, csvline.c and the fast
 * path only. */
#ifndef DEVLOG_DECODE_PARSER_INTERNAL_H
#define DEVLOG_DECODE_PARSER_INTERNAL_H

#include <csv.h>

#include "decode/log/parser.h"
#include "decode/row.h"

/* Marks handed on at a time: they stay in the first-level cache. */
enum { DL_PARSER_MARKS = 1024 };

struct dl_fast;

struct dl_parser {
    dl_tables *tables;
    dl_losses *losses;
    const char *source;
    uint64_t line; /* number of the line in hand; lines read so far between blocks */
    dl_header header;
    dl_parse_path path;
    bool keep_data, keep_meta;
    struct dl_fast *fast; /* NULL: no fast path */

    struct csv_parser csv;
    bool csv_ready;
    dl_cell *csv_cells; /* offsets into csv_text until the row is complete */
    dl_str csv_text;
    size_t n_csv_cells;
    dl_str names; /* of the row in hand, whose names have commas */

    dl_marks *marks;    /* where they go */
    dl_row row;         /* of the line in hand */
    uint64_t ends_from; /* line of a chip line that promises a last row; 0: none does */
    uint64_t end_line;  /* of the last such row */
    uint64_t last_time; /* of the last mark handed on, to judge a cut last line */
    uint64_t
        head_line; /* of the last line of the head or behind it that is blank, until something else comes; 0: none was */
    bool in_last_line; /* the line in hand has no line end */
    bool by_before;    /* whether such a line is whole has been judged by what was above it */
};

/* parser.c: hands the marks on, keeps those that are not taken, and makes room for more. */
devlog_status dl_parser_flush(dl_parser *p, const dl_parse_sink *sink, devlog_error *err);
/* parser.c: whether a line begins with a number; then it is no header. */
bool dl_starts_like_row(const dl_cell *cells);
/* cells.c: splits a line at commas and trims blanks. Returns the number of cells (at most DL_MAX_CELLS are
 * stored), or -1 when a cell is quoted and libcsv must read the line. */
int dl_split(const char *line, size_t n, dl_cell cells[DL_MAX_CELLS]);
/* cells.c: makes a row of the cells; DL_SKIP_NONE when it is one. */
dl_skip dl_row_of_cells(dl_parser *p, const dl_cell *cells, size_t n, dl_row *row);
/* cells.c: the hardware counter that meta data of tt-metal tell of ({"counter type":"X";"ref
 * cnt":N;"value":N}): its name and value; false: they do not. */
bool dl_meta_counter(dl_cell meta, dl_cell *name, uint64_t *value);
/* cells.c: N of {"count":N;...}, the meta data of a ZONE_TOTAL; 0 otherwise. They are kept besides. */
uint32_t dl_meta_passes(dl_cell meta);
/* Findings about the clock, from the row that ends a run; 0: none. */
uint64_t dl_meta_clock(dl_cell meta);
/* cells.c: N of meta data that is {"op":N} and nothing else; 0 otherwise. Such meta data becomes dl_row.op
 * and is not kept as a text: there is one for every launch. */
uint32_t dl_meta_op(dl_cell meta);
/* cells.c: whether meta data of a row are kept: when they were asked for, and where statistics need them. */
bool dl_meta_is_kept(const dl_parser *p, dl_row_type type, dl_cell meta);
/* cells.c: stream and site for cells, DL_NONE when the tables are full. */
dl_skip dl_stream_of_cells(dl_parser *p, const dl_cell cells[4], uint32_t *stream);
bool dl_row_type_of(dl_cell cell, dl_row_type *type);
/* cells.c: fills type and site from a timer id (logs without zone names); false when the tables are full. */
bool dl_row_by_timer(dl_parser *p, dl_row *row);

/* csvline.c: reads one line by libcsv and calls `row` for each of its rows (a lone CR ends a row too). */
devlog_status dl_csv_line(dl_parser *p, const char *line, size_t n,
                          devlog_status (*row)(dl_parser *p, const dl_cell *cells, size_t n, void *ctx),
                          void *ctx, devlog_error *err);

#endif
