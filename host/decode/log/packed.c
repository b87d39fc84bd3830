/* Packed logs into marks without their text. See packed.h. */
#include <stdlib.h>
#include <string.h>

#include "decode/log/packed_internal.h"

dl_packed *dl_packed_new(size_t cap)
{
    dl_packed *k = calloc(1, sizeof *k);
    if (!k) return NULL;
    k->cap = cap;
    k->unpacker = pk_unpacker_new();
    k->chains = calloc(PK_MAX_TEMPLATES, sizeof *k->chains);
    k->room = calloc(1, DL_PARSE_BEFORE + cap + PK_LONGEST_ROW + DL_PARSE_AFTER);
    k->text = k->room + DL_PARSE_BEFORE;
    if (k->unpacker && k->chains && k->room) return k;
    dl_packed_free(k);
    return NULL;
}

void dl_packed_free(dl_packed *k)
{
    if (!k) return;
    pk_unpacker_free(k->unpacker);
    free(k->chains);
    free(k->room);
    free(k);
}

void dl_packed_begin(dl_packed *k)
{
    k->n = 0;
    k->skipping = false;
}

/* Whether all columns are where a template's places, stamp and cells are taken from. */
static bool columns_fit(const dl_columns *c)
{
    for (int i = DL_COL_CHIP; i <= DL_COL_TIME; i++)
        if (c->at[i] != i) return false;
    return true;
}

/* Another block, or another header: nothing is known. */
static void forget(dl_packed *k, const dl_header *header)
{
    k->header = *header;
    k->fits = header->state == DL_HEADER_GOOD && columns_fit(&header->columns);
    k->shape = NO_SHAPE;
    memset(k->meanings, 0, k->n_meanings * sizeof *k->meanings);
    for (uint32_t i = 0; i < PK_RISCS; i++)
        dl_packed_break_chains(k, i);
}

/* Shows the parser the whole lines that have gathered. */
static devlog_status show(dl_packed *k, dl_parser *p, const dl_parse_sink *sink, devlog_error *err)
{
    const char *feed = k->n ? memrchr(k->text, '\n', k->n) : NULL;
    if (!feed) return DEVLOG_OK;
    const size_t n = (size_t)(feed - k->text) + 1;
    devlog_status status = dl_parser_block(p, k->text, n, sink, err);
    k->n -= n;
    memmove(k->text, k->text + n, k->n);
    k->shape = NO_SHAPE;
    /* NOLINTNEXTLINE(bugprone-suspicious-memory-comparison): padding that differs costs a look, no more */
    if (memcmp(&k->header, &p->header, sizeof k->header) != 0) forget(k, &p->header);
    return status;
}

/* Adds text, of any length. */
static devlog_status add_text(dl_packed *k, dl_parser *p, const char *text, size_t n,
                              const dl_parse_sink *sink, devlog_error *err)
{
    devlog_status status = DEVLOG_OK;
    while (n && !status) {
        if (k->skipping) {
            const char *feed = memchr(text, '\n', n);
            const size_t rest = feed ? (size_t)(feed - text) + 1 : n;
            k->skipping = !feed;
            text += rest;
            n -= rest;
            continue;
        }
        const size_t room = k->cap - k->n, some = n < room ? n : room;
        memcpy(k->text + k->n, text, some);
        k->n += some;
        text += some;
        n -= some;
        if (k->n == k->cap || k->n > TEXT_AT_ONCE) status = show(k, p, sink, err);
        if (k->n == k->cap) { /* a line longer than a block: it has no row that anybody wrote */
            dl_parser_too_long(p);
            k->n = 0;
            k->skipping = true;
        }
    }
    return status;
}

/* The cell of a column behind the stamp, or NO_CELL. */
static uint8_t cell_of(const dl_columns *c, dl_column column)
{
    const int at = c->at[column] - FIRST_CELLS;
    return at >= 0 && at < PK_CELLS ? (uint8_t)at : NO_CELL;
}

static bool has_cell(const pk_template *t, uint8_t cell)
{
    for (uint32_t i = 1; i < t->n && cell != NO_CELL; i++)
        if (t->cells[i] == cell) return true;
    return false;
}

static bool is_border(char c)
{
    return c == ',' || c == ' ' || c == '\r' || c == '\n';
}

/* Whether the template's numbers are all of their cells: one with zeros in front, or with more digits than a
 * number of a template has, is not. */
static bool numbers_fill_cells(const pk_template *t)
{
    const char *at = t->text;
    for (uint32_t i = 0; i < t->n; i++) {
        at += t->lengths[i];
        if (!is_border(at[1]) || t->lengths[i] == 0 || !is_border(at[-1])) return false;
        at++;
    }
    return true;
}

/* Whether a row has no ids but those of these cells: behind a cell that is no number, numbers are the template's own text. */
static bool other_ids_absent(const dl_ids *ids, const uint8_t cells[5])
{
    return (cells[1] != NO_CELL || !ids->run_id) && (cells[2] != NO_CELL || !ids->run_host_id) &&
           (cells[3] != NO_CELL || ids->trace_id == DL_NO_ID) &&
           (cells[4] != NO_CELL || ids->trace_counter == DL_NO_ID);
}

/* What the template means, of whose row the parser has made this mark. */
static void learn(dl_packed *k, const dl_parser *p, const pk_template *t, uint32_t number,
                  const dl_mark *mark)
{
    meaning *m = &k->meanings[number];
    const dl_columns *c = &p->header.columns;
    const dl_kind *kind = &p->tables->kinds[dl_mark_kind(mark->code)];
    const dl_rare *rare = dl_mark_rare(p->marks, mark->code);
    const uint8_t cells[] = {cell_of(c, DL_COL_DATA), cell_of(c, DL_COL_RUN_ID),
                             cell_of(c, DL_COL_RUN_HOST_ID), cell_of(c, DL_COL_TRACE_ID),
                             cell_of(c, DL_COL_TRACE_COUNTER)};
    uint8_t has[sizeof cells];
    uint32_t numbers = 1, shape = 0;
    for (uint32_t i = 0; i < sizeof cells; i++) {
        const bool there = has_cell(t, cells[i]);
        has[i] = there ? cells[i] : NO_CELL;
        numbers += there;
        if (i) shape |= (uint32_t)there << i;
    }
    m->fate = TEXT;
    /* Other numbers (a zone's name, meta data) are no matter of a mark; risc_of counts the last name for all
     * that follow. */
    if (numbers != t->n || !numbers_fill_cells(t) || t->risc == PK_RISCS - 1) return;
    if (rare && (rare->meta || rare->op || (rare->data && has[0] == NO_CELL))) return;
    if (!other_ids_absent(&dl_mark_frame(p->marks, mark->code)->ids, has)) return;
    const uint64_t of_kind = DL_MARK_KIND | DL_MARK_FW_START | DL_MARK_FW_END;
    const bool wanted = kind->type > DL_ROW_ZONE_END || p->keep_data || kind->role == DL_ROLE_DROPPED;
    *m = (meaning){.code = mark->code & of_kind,
                   .shape = shape,
                   .fate = DIRECT,
                   .ready = !wanted || has[0] == NO_CELL,
                   .data = wanted ? has[0] : NO_CELL,
                   .run_id = has[1],
                   .run_host_id = has[2],
                   .trace_id = has[3],
                   .trace_counter = has[4]};
}

/* A row as text; and when the parser makes one mark of it, what its template and RISC are. */
static devlog_status row_as_text(dl_packed *k, dl_parser *p, const pk_rows *rows, const pk_row *row,
                                 const dl_parse_sink *sink, devlog_error *err)
{
    char text[PK_LONGEST_ROW];
    const pk_template *t = &rows->model->templates[row->template];
    const size_t n = (size_t)(pk_row_write(rows->model, row, text) - text);
    if (!k->fits || k->meanings[row->template].fate == TEXT) return add_text(k, p, text, n, sink, err);
    devlog_status status = show(k, p, sink, err);
    const bool apart = !status && k->n == 0 && !k->skipping;
    const uint64_t before = p->losses->rows + p->marks->n, extra = p->losses->found[DL_FOUND_EXTRA_CELLS];
    if (!status) status = add_text(k, p, text, n, sink, err);
    if (!status) status = show(k, p, sink, err);
    const bool one = p->losses->rows + p->marks->n == before + 1 && p->marks->n;
    if (status || !apart || !one || !k->fits) return status;
    const char *const end = memchr(text, '\r', n);
    if (p->losses->found[DL_FOUND_EXTRA_CELLS] != extra || (end && end + 2 < text + n)) {
        /* Each such row is counted; and a line that ends within itself may be a row and something else. */
        k->meanings[row->template].fate = TEXT;
        return DEVLOG_OK;
    }
    const dl_mark *mark = &p->marks->items[p->marks->n - 1];
    const pk_place *place = &rows->model->places[row->place];
    if (k->meanings[row->template].fate == UNKNOWN) learn(k, p, t, row->template, mark);
    if (t->risc != PK_RISCS - 1 && place->streams[t->risc])
        k->streams[row->stream] = dl_mark_stream(mark->code) + 1;
    return DEVLOG_OK;
}

/* A row as a mark, for which there is room; false: it must be text. */
static inline bool row_as_mark(dl_packed *k, dl_parser *p, const meaning *m, const pk_stream *s,
                               uint32_t stream, bool still, uint64_t time)
{
    if (m->fate != DIRECT || !k->streams[stream] || time > DL_PACKED_MOST_TIME) return false;
    const bool same = m->shape == k->shape && (m->shape == 0 || (stream == k->stream && still));
    if (!same && !dl_packed_frame(k, p, m, s->cells, stream)) return false;
    uint64_t code = k->frame;
    if (m->data != NO_CELL && s->cells[m->data]) {
        const dl_rare rare = {.data = s->cells[m->data]};
        if (!dl_marks_rare(p->marks, &rare, k->frame, &code)) return false;
    }
    p->marks->items[p->marks->n++] = (dl_mark){time, (k->streams[stream] - 1) | m->code | code};
    p->line++;
    return true;
}

static devlog_status plain_block(dl_packed *k, dl_parser *p, const pk_header *h, const uint8_t *stored,
                                 const dl_parse_sink *sink, const char **damage, devlog_error *err)
{
    if (h->stored < PK_INFO_BYTES || h->stored - PK_INFO_BYTES != h->size) {
        *damage = "its text has another length";
        return DEVLOG_OK;
    }
    devlog_status status = add_text(k, p, (const char *)stored + PK_INFO_BYTES, h->size, sink, err);
    return status ? status : show(k, p, sink, err);
}

/* Room for one mark at least. */
static devlog_status make_room(dl_packed *k, dl_parser *p, const dl_parse_sink *sink, devlog_error *err)
{
    if (p->marks->n < p->marks->cap) return DEVLOG_OK;
    k->shape = NO_SHAPE; /* frames are numbered anew */
    return dl_parser_flush(p, sink, err);
}

devlog_status dl_packed_block(dl_packed *k, dl_parser *p, const pk_header *h, const uint8_t *stored,
                              const dl_parse_sink *sink, const char **damage, devlog_error *err)
{
    pk_rows *rows;
    devlog_status status = DEVLOG_OK;
    *damage = NULL;
    if (h->plain) return plain_block(k, p, h, stored, sink, damage, err);
    if ((*damage = pk_unpacker_open(k->unpacker, stored, h->stored, h->size, &rows))) return DEVLOG_OK;
    memset(k->streams, 0, k->n_streams * sizeof *k->streams);
    if (k->n_meanings < rows->model->n_templates) k->n_meanings = rows->model->n_templates;
    forget(k, &p->header);
    pk_part *codes = &rows->sections[PK_S_CODES];
    while (codes->at < codes->n && !status && !*damage) {
        pk_row row;
        const char *raw;
        size_t n;
        if (k->n == 0 && !k->skipping) {
            status = make_room(k, p, sink, err);
            if (status) break;
            dl_packed_foretold(k, p, rows);
            if (codes->at == codes->n) break;
            if (p->marks->n == p->marks->cap) continue;
        }
        const uint32_t code = codes->bytes[codes->at++];
        if (code == PK_RAW) {
            if (pk_rows_raw(rows, &raw, &n))
                status = add_text(k, p, raw, n, sink, err);
            else
                *damage = "its raw rows are wrong";
            continue;
        }
        const uint32_t before = rows->model->template;
        if (!pk_rows_step(rows, code, &row)) {
            *damage = "its rows are wrong";
            break;
        }
        const pk_model *m = rows->model;
        const pk_template *t = &m->templates[row.template];
        const bool direct = k->meanings[row.template].fate == DIRECT;
        if (direct && k->n) status = show(k, p, sink, err); /* what has gathered comes before it */
        if (!status) status = make_room(k, p, sink, err);
        if (status) break;
        const bool known = k->n == 0 && !k->skipping && m->places[row.place].streams[t->risc];
        if (!known || !row_as_mark(k, p, &k->meanings[row.template], &m->streams[row.stream], row.stream,
                                   t->still && !(code & PK_WRONG), row.values[0]))
            status = row_as_text(k, p, rows, &row, sink, err);
        if (code & (PK_TEMPLATE | PK_PLACE) && k->meanings[before].leads)
            dl_packed_break_chains(k, m->templates[before].risc);
        if (k->meanings[row.template].member && (t->older || !t->still)) dl_packed_break_chains(k, t->risc);
    }
    k->n_streams = rows->model->n_streams;
    if (!status) status = show(k, p, sink, err);
    if (!status && !*damage && !pk_rows_used_up(rows)) *damage = "its numbers are not used up";
    return status ? status : dl_parser_flush(p, sink, err);
}

devlog_status dl_packed_last(dl_packed *k, dl_parser *p, const dl_parse_sink *sink, devlog_error *err)
{
    devlog_status status = dl_parser_last(p, k->text, k->n, sink, err);
    k->n = 0;
    return status;
}
