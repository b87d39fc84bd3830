/* Parser: what a line is (blank, chip line, header, row), and the loop over a block of lines. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "decode/log/fast.h"
#include "decode/log/parser_internal.h"

typedef struct line_sink {
    const dl_parse_sink *sink;
    devlog_error *err;
    const char *line; /* for messages */
    size_t n;
    size_t raw_n; /* with the line end; 0: a line that the fast path is not to learn */
} line_sink;

dl_parser *dl_parser_new(dl_tables *tables, dl_losses *losses, dl_parse_path path)
{
    dl_parser *p = calloc(1, sizeof *p);
    if (!p) return NULL;
    p->tables = tables;
    p->losses = losses;
    p->path = path;
    p->source = "";
    p->fast = dl_fast_new(path);
    return p;
}

void dl_parser_free(dl_parser *p)
{
    if (!p) return;
    if (p->csv_ready) csv_free(&p->csv);
    dl_fast_free(p->fast);
    free(p->csv_cells);
    dl_str_free(&p->csv_text);
    dl_str_free(&p->names);
    free(p);
}

void dl_parser_begin(dl_parser *p, const char *source)
{
    p->source = source;
    p->line = 0;
    p->last_time = p->ends_from = p->end_line = p->head_line = 0;
    p->header = (dl_header){.state = DL_HEADER_NONE};
    dl_fast_header(p->fast, &p->header);
}

uint64_t dl_parser_lines(const dl_parser *p)
{
    return p->line;
}

void dl_parser_at_line(dl_parser *p, uint64_t line)
{
    p->line = line;
}

void dl_parser_keep(dl_parser *p, bool data, bool meta)
{
    p->keep_data = data;
    p->keep_meta = meta;
}

void dl_parser_marks(dl_parser *p, dl_marks *marks)
{
    p->marks = marks;
}

static void set_header(dl_parser *p, int state, const dl_columns *columns)
{
    memset(&p->header, 0, sizeof p->header); /* padding too: headers are compared as bytes */
    p->header.state = state;
    if (columns) p->header.columns = *columns;
    dl_fast_header(p->fast, &p->header);
}

static void skip(dl_parser *p, dl_skip why, const char *text, size_t n)
{
    char where[512];
    if (p->in_last_line) why = DL_SKIP_CUT;
    if (!dl_losses_wants_skip(p->losses, why)) {
        p->losses->skipped[why]++;
        return;
    }
    snprintf(where, sizeof where, "%s:%llu", p->source, (unsigned long long)p->line);
    dl_losses_skip(p->losses, why, where, text, n);
}

static devlog_status no_memory(devlog_error *err)
{
    return dl_fail(err, DEVLOG_ERR_MEMORY, "out of memory");
}

/* Hands the marks on; keeps those that are not taken, and makes room for more. */
static devlog_status flush(dl_parser *p, const dl_parse_sink *sink, bool all, devlog_error *err)
{
    dl_marks *m = p->marks;
    uint32_t taken = 0;
    if (m->n) {
        p->last_time = m->items[m->n - 1].time;
        devlog_status status = sink->marks(sink->ctx, m, all, &taken, err);
        if (status) return status;
        p->losses->rows += taken;
        dl_marks_drop(m, taken);
    }
    uint32_t more = m->n > DL_PARSER_MARKS / 2 ? m->n : DL_PARSER_MARKS - m->n;
    return dl_marks_room(m, more) ? DEVLOG_OK : no_memory(err);
}

devlog_status dl_parser_flush(dl_parser *p, const dl_parse_sink *sink, devlog_error *err)
{
    return flush(p, sink, false, err);
}

static void read_header(dl_parser *p, const dl_cell *cells, size_t n)
{
    devlog_error why;
    dl_columns columns;
    const char *twice;
    if (n > DL_MAX_CELLS) n = DL_MAX_CELLS;
    if (dl_columns_read(&columns, cells, n, &twice, &why) != DEVLOG_OK) {
        set_header(p, DL_HEADER_BAD, NULL);
        dl_losses_found(p->losses, DL_FOUND_CORRUPT, 1, "%s:%llu: %s", p->source, (unsigned long long)p->line,
                        why.text);
        return;
    }
    if (twice)
        dl_losses_found(p->losses, DL_FOUND_COLUMN_TWICE, 1, "%s:%llu: '%s'", p->source,
                        (unsigned long long)p->line, twice);
    set_header(p, DL_HEADER_GOOD, &columns);
}

static void guess_header(dl_parser *p, const dl_cell *cells, size_t n)
{
    dl_columns columns;
    if (!dl_columns_guess(&columns, cells, n)) return;
    set_header(p, DL_HEADER_GOOD, &columns);
    if (n > 6) /* six columns without a header are the oldest format, not a defect */
        dl_losses_found(p->losses, DL_FOUND_NO_HEADER, 1, "%s:%llu: no header line; %zu columns", p->source,
                        (unsigned long long)p->line, n);
}

bool dl_starts_like_row(const dl_cell *cells)
{
    char c = cells[0].len ? cells[0].text[0] : 0;
    return (c >= '0' && c <= '9') || c == '-' || c == '+';
}

/* A log of devlog's ends with a row that says so: then it is whole. Others do not say it. `last` is the number of its last
 * line. */
static void check_end(dl_parser *p, uint64_t last)
{
    bool rows = last > p->ends_from + 1; /* more than the chip line and the header */
    if (p->ends_from && rows && p->end_line != last)
        dl_losses_found(p->losses, DL_FOUND_NOT_CLOSED, 1, "%s:%llu: not the last line of a run", p->source,
                        (unsigned long long)last);
    if (!p->ends_from && p->header.state == DL_HEADER_GOOD) p->losses->end_unknown = true;
    p->ends_from = 0;
}

/* The same at the end of the input; and one that has its head alone has lost whatever the run did, or the run did nothing. Of packed
 * logs not all blocks may be read. */
static void check_last(dl_parser *p)
{
    check_end(p, p->line);
    if (p->line && p->head_line == p->line && !p->losses->blocks)
        dl_losses_found(p->losses, DL_FOUND_EMPTY, 1, "%s: nothing but its head", p->source);
}

static bool is_end(const dl_columns *c, const dl_cell *cells, size_t n)
{
    const size_t len = sizeof DL_END_ZONE - 1;
    if (!c->named || n < c->n_needed) return false;
    const dl_cell zone = cells[c->at[DL_COL_ZONE]];
    return zone.len == len && memcmp(zone.text, DL_END_ZONE, len) == 0;
}

/* What the run that ends here found about its clock. */
static void note_clock(dl_parser *p, const dl_cell *cells, size_t n)
{
    const int at = p->header.columns.at[DL_COL_META];
    const uint64_t found = at >= 0 && (size_t)at < n ? dl_meta_clock(cells[at]) : 0;
    if (found)
        dl_losses_found(
            p->losses, DL_FOUND_CLOCK, found,
            "%s:%llu: the run found that its clock could not be aligned, or does not do what its board "
            "claims (%llu findings); nanoseconds are of the frequency in the log's first line, and the "
            "capture of the run says more",
            p->source, (unsigned long long)p->line, (unsigned long long)found);
}

static bool is_full(const dl_parser *p)
{
    return p->marks->n == p->marks->cap;
}

/* The row of a line as a mark, without what nobody wants. */
static bool add_mark(dl_parser *p)
{
    dl_row row = p->row;
    bool zone = row.type <= DL_ROW_ZONE_END;
    if (zone && !p->keep_meta) row.meta = 0;
    if (zone && !p->keep_data && p->tables->sites[row.site].role != DL_ROLE_DROPPED) row.data = 0;
    return dl_marks_add_row(p->marks, p->tables, &row);
}

static devlog_status take_cells(dl_parser *p, const dl_cell *cells, size_t n, void *ctx)
{
    line_sink *s = ctx;
    bool row_like = dl_starts_like_row(cells);
    if (!row_like && dl_columns_is_header(cells, n)) {
        read_header(p, cells, n);
        if (p->head_line == p->line - 1) p->head_line = p->line;
        return DEVLOG_OK;
    }
    if (p->header.state == DL_HEADER_NONE && row_like) guess_header(p, cells, n < DL_MAX_CELLS ? n : 0);
    if (p->header.state != DL_HEADER_GOOD) {
        bool bad = p->header.state == DL_HEADER_BAD;
        skip(p, bad ? DL_SKIP_BAD_HEADER : row_like ? DL_SKIP_NO_HEADER : DL_SKIP_NOT_A_ROW, s->line, s->n);
        return DEVLOG_OK;
    }
    if (is_end(&p->header.columns, cells, n)) {
        p->end_line = p->line;
        note_clock(p, cells, n);
        return DEVLOG_OK;
    }
    /* Before the mark rather than after it, so that the last one of an input is still here to be judged. */
    devlog_status status = is_full(p) ? flush(p, s->sink, false, s->err) : DEVLOG_OK;
    if (status) return status;
    dl_skip why = dl_row_of_cells(p, cells, n, &p->row);
    if (why) {
        if (!row_like && n < p->header.columns.n_needed) why = DL_SKIP_NOT_A_ROW;
        skip(p, why, s->line, s->n);
        return DEVLOG_OK;
    }
    if (!add_mark(p)) return no_memory(s->err);
    const uint64_t of_kind = DL_MARK_KIND | DL_MARK_FW_START | DL_MARK_FW_END;
    uint64_t code = p->marks->items[p->marks->n - 1].code & of_kind;
    if (s->raw_n) dl_fast_learn(p, s->line, s->raw_n, cells, n, &p->row, code);
    return DEVLOG_OK;
}

static devlog_status take_line(dl_parser *p, const char *line, size_t n, const dl_parse_sink *sink,
                               devlog_error *err)
{
    const char *raw_end = line + n + 1;
    p->line++;
    if (p->line == 1 && n >= 3 && memcmp(line, "\xEF\xBB\xBF", 3) == 0) {
        line += 3;
        n -= 3;
    }
    while (n && (line[n - 1] == '\r' || line[n - 1] == ' ' || line[n - 1] == '\t'))
        n--;
    if (n == 0) {
        if (p->head_line == p->line - 1) p->head_line = p->line;
        return DEVLOG_OK;
    }
    if (n > DL_MAX_LINE) {
        skip(p, DL_SKIP_TOO_LONG, line, n);
        return DEVLOG_OK;
    }
    dl_chip_line chip;
    if (dl_chip_line_read(&chip, line, n)) {
        if (!chip.beside) check_end(p, p->line - 1);
        if (chip.ends) p->ends_from = p->line;
        if (p->head_line == p->line - 1) p->head_line = p->line;
        devlog_status status = flush(p, sink, true, err);
        return status ? status : sink->chip_line(sink->ctx, &chip, err);
    }
    line_sink s = {sink, err, line, n, 0};
    dl_cell cells[DL_MAX_CELLS];
    int count = -1;
    if (p->path != DL_PARSE_CSV && !memchr(line, '\r', n)) count = dl_split(line, n, cells);
    if (count < 0) return dl_csv_line(p, line, n, take_cells, &s, err);
    if (p->fast && !p->in_last_line) s.raw_n = (size_t)(raw_end - line);
    return take_cells(p, cells, (size_t)count, &s);
}

devlog_status dl_parser_block(dl_parser *p, const char *text, size_t n, const dl_parse_sink *sink,
                              devlog_error *err)
{
    const char *at = text, *end = text + n;
    devlog_status status = DEVLOG_OK;
    while (at < end && !status) {
        if (p->fast && p->header.state == DL_HEADER_GOOD) {
            at = dl_fast_rows(p, at, end);
            if (is_full(p)) {
                status = flush(p, sink, false, err);
                continue;
            }
            if (at == end) break;
        }
        const char *line_end = memchr(at, '\n', (size_t)(end - at));
        if (!line_end) line_end = end;
        status = take_line(p, at, (size_t)(line_end - at), sink, err);
        at = line_end < end ? line_end + 1 : end;
    }
    return status ? status : flush(p, sink, false, err);
}

static size_t digits(uint64_t value)
{
    char text[DL_U64_DIGITS];
    return (size_t)(dl_digits(text, value) - text);
}

static bool ends_in_meta(const dl_columns *c)
{
    return c->named && c->at[DL_COL_META] == c->n_cells - 1;
}

/* Whether a row from a line without a line end can be trusted to be whole. A cut number or name is still a
 * number or a name, so it must look like what came before it, or end with empty or complete meta data. */
static bool is_whole(const dl_parser *p, const dl_row *row, uint32_t sites_before, const char *line, size_t n)
{
    const dl_columns *c = &p->header.columns;
    if (!c->named) return digits(row->time) >= digits(p->last_time);
    if (!ends_in_meta(c)) return row->site < sites_before;
    int commas = 0;
    for (size_t i = 0; i < n; i++)
        commas += line[i] == ',';
    return commas >= c->n_cells - 1 && (line[n - 1] == ',' || line[n - 1] == '}');
}

devlog_status dl_parser_last(dl_parser *p, const char *text, size_t n, const dl_parse_sink *sink,
                             devlog_error *err)
{
    uint32_t sites_before = p->tables->added.sites;
    dl_marks *m = p->marks;
    uint64_t before = p->losses->rows + m->n;
    if (m->n) p->last_time = m->items[m->n - 1].time;
    if (n == 0) {
        check_last(p);
        return flush(p, sink, true, err);
    }
    p->in_last_line = true;
    devlog_status status = take_line(p, text, n, sink, err);
    if (!status && p->losses->rows + m->n > before) {
        if (!ends_in_meta(&p->header.columns)) p->by_before = true;
        if (is_whole(p, &p->row, sites_before, text, n)) {
            dl_losses_found(p->losses, DL_FOUND_NO_LINE_END, 1, "%s:%llu", p->source,
                            (unsigned long long)p->line);
        } else {
            m->n--;
            skip(p, DL_SKIP_CUT, text, n);
        }
    }
    p->in_last_line = false;
    check_last(p);
    return status ? status : flush(p, sink, true, err);
}

devlog_status dl_parser_end_run(dl_parser *p, const dl_parse_sink *sink, devlog_error *err)
{
    return flush(p, sink, true, err);
}

dl_parser_state dl_parser_save(const dl_parser *p)
{
    return (dl_parser_state){p->header, p->line, p->ends_from, p->end_line, p->last_time, p->by_before};
}

void dl_parser_restore(dl_parser *p, const char *source, const dl_parser_state *state)
{
    p->source = source;
    p->header = state->header;
    p->line = state->lines;
    p->ends_from = state->ends_from;
    p->end_line = state->end_line;
    p->last_time = state->last_time;
    p->by_before = state->by_before;
    p->head_line = 0;
    dl_fast_header(p->fast, &p->header);
}

void dl_parser_too_long(dl_parser *p)
{
    p->line++;
    skip(p, DL_SKIP_TOO_LONG, NULL, 0);
}
