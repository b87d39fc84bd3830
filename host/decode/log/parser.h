/* Parser: lines of a device log into marks. It knows every version of the format (columns.h), takes the fast
 * path where a line is as the writers write it (fast.h), and libcsv where a line is quoted. A line that gives
 * no mark is counted with its reason and is never fatal. It does not pair, filter or repair. */
#ifndef DEVLOG_DECODE_PARSER_H
#define DEVLOG_DECODE_PARSER_H

#include "decode/log/columns.h"
#include "decode/loss.h"
#include "decode/mark.h"
#include "decode/tables.h"

typedef struct dl_parser dl_parser;

/* Where a parser's findings go, in the order of the input. A status other than DEVLOG_OK stops it. */
typedef struct dl_parse_sink {
    void *ctx;
    /* *taken says how many marks, from the first, it is done with: the others come again, with more behind
     * them. When `all` is set it must take all. */
    devlog_status (*marks)(void *ctx, dl_marks *marks, bool all, uint32_t *taken, devlog_error *err);
    /* A chip line: the clock and name of the chips in the marks that follow. */
    devlog_status (*chip_line)(void *ctx, const dl_chip_line *chip, devlog_error *err);
} dl_parse_sink;

/* How the lines are read. */
typedef enum dl_parse_path {
    DL_PARSE_BEST,   /* the fastest that this processor has, libcsv for what it declines */
    DL_PARSE_SCALAR, /* no vector instructions */
    DL_PARSE_SSE2,   /* no better ones than every x86-64 has; elsewhere as DL_PARSE_SCALAR */
    DL_PARSE_SLOW,   /* no fast path, of captures neither */
    DL_PARSE_CSV,    /* libcsv for every line */
} dl_parse_path;

/* What the header lines have established so far; plain data, so that it can be handed on. */
typedef struct dl_header {
    enum { DL_HEADER_NONE, DL_HEADER_GOOD, DL_HEADER_BAD } state;
    dl_columns columns;
} dl_header;

/* `tables` and `losses` are borrowed. Returns NULL when out of memory. */
dl_parser *dl_parser_new(dl_tables *tables, dl_losses *losses, dl_parse_path path);
void dl_parser_free(dl_parser *p);

/* Starts an input: forgets its predecessor's header. `source` names it in messages and is borrowed. */
void dl_parser_begin(dl_parser *p, const char *source);
void dl_parser_at_line(dl_parser *p, uint64_t line); /* so many lines are before what comes next */
uint64_t dl_parser_lines(const dl_parser *p);

/* Whether the data and meta data of all marks are kept, or only what statistics need: data of what is no zone,
 * and few meta data. Meta data are often unique and cost memory. */
void dl_parser_keep(dl_parser *p, bool data, bool meta);

/* Where marks go from now on; nothing may wait to be taken. Before the first block. */
void dl_parser_marks(dl_parser *p, dl_marks *marks);

enum { DL_PARSE_BEFORE = 64, DL_PARSE_AFTER = 320 };
/* Parses whole lines: text[n-1] is a line feed. DL_PARSE_BEFORE bytes before the text and DL_PARSE_AFTER
 * bytes behind it must be readable, whatever they hold. */
devlog_status dl_parser_block(dl_parser *p, const char *text, size_t n, const dl_parse_sink *sink,
                              devlog_error *err);
/* The end of an input, with its last line when that has no line end (n may be 0): such a line is kept when
 * it is whole, otherwise counted as cut. The same margins. */
devlog_status dl_parser_last(dl_parser *p, const char *text, size_t n, const dl_parse_sink *sink,
                             devlog_error *err);
/* Marks that have waited for more behind them are handed on: nothing more of their run comes. */
devlog_status dl_parser_end_run(dl_parser *p, const dl_parse_sink *sink, devlog_error *err);
/* What a parser has learned of its input, but for names. */
typedef struct dl_parser_state {
    dl_header header;
    uint64_t lines, ends_from, end_line, last_time;
    bool by_before; /* whether a last line without a line end is whole has been judged by what was above it */
} dl_parser_state;
dl_parser_state dl_parser_save(const dl_parser *p);
void dl_parser_restore(dl_parser *p, const char *source, const dl_parser_state *state);
/* Counts a line that was too long to be looked at. */
void dl_parser_too_long(dl_parser *p);

#endif
