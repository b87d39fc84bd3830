/* A packed block row by row, without its text: for who wants numbers (decode/log/packed.c) as well as for
 * unpacking. Whatever is in a block, nothing is read beside it. */
#ifndef DEVLOG_PACK_ROWS_H
#define DEVLOG_PACK_ROWS_H

#include "pack/block.h"

/* A section: n values in planes, of which `at` have been taken. */
typedef struct pk_part {
    const uint8_t *bytes;
    size_t size, at, n;
} pk_part;

typedef struct pk_rows {
    pk_model *model;
    pk_part sections[PK_SECTIONS];
} pk_rows;

/* A row that has a template. */
typedef struct pk_row {
    uint32_t place, template, stream;
    uint64_t values[PK_NUMBERS];
} pk_row;

/* Opens a block that is not plain, of n bytes of text; *rows is good until the next one. What is wrong, or
 * NULL. */
const char *pk_unpacker_open(pk_unpacker *u, const uint8_t *bytes, size_t size, size_t n, pk_rows **rows);
/* The next raw row; false: there is none. */
bool pk_rows_raw(pk_rows *r, const char **text, size_t *n);
/* The text of a row: PK_LONGEST_ROW bytes at most. Returns what is behind it. */
char *pk_row_write(const pk_model *m, const pk_row *row, char *to);
/* Whether everything in it has been taken. */
bool pk_rows_used_up(const pk_rows *r);

static inline bool pk_next16(pk_part *s, uint32_t *value)
{
    if (s->at == s->n) return false;
    *value = s->bytes[s->at] | (uint32_t)s->bytes[s->n + s->at] << 8;
    s->at++;
    return true;
}

/* A number as it was told, from the first of its three sections on. */
static inline bool pk_next_number(pk_part *s, uint64_t *more)
{
    const size_t at = s->at;
    if (at == s->n) return false;
    const uint32_t told = s[0].bytes[at] | (uint32_t)s[1].bytes[at] << 8;
    s->at++;
    *more = (uint64_t)told - PK_BIAS;
    if (told != PK_IS_FAR) return true;
    pk_part *far = &s[2];
    if (far->at == far->n) return false;
    *more = 0;
    for (size_t plane = 0; plane < 8; plane++)
        *more |= (uint64_t)far->bytes[plane * far->n + far->at] << (8 * plane);
    far->at++;
    return true;
}

/* The row with this code, which is not PK_RAW; false: it cannot be. */
static inline bool pk_rows_step(pk_rows *r, uint32_t code, pk_row *row)
{
    pk_model *m = r->model;
    const uint32_t choice = code & PK_TEMPLATE;
    const pk_template *before = &m->templates[m->template];
    uint64_t more;
    uint32_t wrong = 0;
    if (code >= PK_CODE_END || choice == PK_RAW) return false;
    row->place = pk_model_place(m);
    row->template = choice == PK_FIRST ? before->first : before->second;
    if (code & PK_PLACE && !pk_next16(&r->sections[PK_S_PICKS], &row->place)) return false;
    if (choice == PK_OTHER && !pk_next16(&r->sections[PK_S_PICKS], &row->template)) return false;
    if (row->place >= m->n_places || row->template >= m->n_templates) return false;
    pk_template *t = &m->templates[row->template];
    if (!pk_model_stream(m, row->place, t->risc, &m->stream)) return false;
    row->stream = m->stream;
    pk_stream *s = &m->streams[m->stream];
    if (!pk_next_number(&r->sections[PK_S_STAMP_LOW], &more)) return false;
    if (code & PK_WRONG && !pk_next16(&r->sections[PK_S_WRONG], &wrong)) return false;
    row->values[0] = pk_stamp_from(t, s) + more;
    pk_stamp_is(t, s, row->values[0]);
    t->still = true;
    for (uint32_t i = 1; i < t->n; i++) {
        uint64_t value = pk_number_from(t, s, i);
        if (wrong >> (i - 1) & 1) {
            if (!pk_next_number(&r->sections[PK_S_NUMBER_LOW], &more)) return false;
            value += more;
        }
        pk_number_is(t, s, i, value);
        t->still &= t->cells[i] < PK_CELLS && t->differences[i] == 0;
        row->values[i] = value;
    }
    pk_model_go(m, row->place, row->template, choice);
    return true;
}

#endif
