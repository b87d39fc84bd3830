/* Unpacking a block: its sections, and from them the text. Every number in a block may be wrong; what is wrong
 * is told, and nothing is read or written beside. See pack/block.h. */
#include <stdlib.h>
#include <zstd.h>

#include "pack/block.h"
#include "pack/digits.h"
#include "pack/rows.h"

static uint32_t get32(const uint8_t *p)
{
    return p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

static uint64_t get64(const uint8_t *p)
{
    return get32(p) | (uint64_t)get32(p + 4) << 32;
}

static void put32(uint8_t *to, uint32_t value)
{
    for (int i = 0; i < 4; i++)
        to[i] = (uint8_t)(value >> (8 * i));
}

void pk_info_put(uint8_t *out, const pk_info *info)
{
    put32(out, info->rows);
    put32(out + 4, info->lines);
    put32(out + 8, info->raw);
    put32(out + 12, info->known);
    for (int i = 0; i < PK_RANGES; i++) {
        put32(out + 16 + 16 * i, (uint32_t)info->least[i]);
        put32(out + 20 + 16 * i, (uint32_t)(info->least[i] >> 32));
        put32(out + 24 + 16 * i, (uint32_t)info->most[i]);
        put32(out + 28 + 16 * i, (uint32_t)(info->most[i] >> 32));
    }
}

void pk_info_get(const uint8_t *bytes, pk_info *info)
{
    *info = (pk_info){
        .rows = get32(bytes), .lines = get32(bytes + 4), .raw = get32(bytes + 8), .known = get32(bytes + 12)};
    for (int i = 0; i < PK_RANGES; i++) {
        info->least[i] = get64(bytes + 16 + 16 * i);
        info->most[i] = get64(bytes + 24 + 16 * i);
    }
}

struct pk_unpacker {
    pk_model *model;
    ZSTD_DCtx *zstd;
    uint8_t *room; /* for all sections */
    size_t cap;
    pk_rows rows;
};

pk_unpacker *pk_unpacker_new(void)
{
    pk_unpacker *u = calloc(1, sizeof *u);
    if (!u) return NULL;
    u->model = pk_model_new();
    u->zstd = ZSTD_createDCtx();
    if (u->model && u->zstd) return u;
    pk_unpacker_free(u);
    return NULL;
}

void pk_unpacker_free(pk_unpacker *u)
{
    if (!u) return;
    pk_model_free(u->model);
    ZSTD_freeDCtx(u->zstd);
    free(u->room);
    free(u);
}

static const char no_memory[] = "out of memory";

/* Unpacks all sections of a block with n bytes of text. */
static const char *open_sections(pk_unpacker *u, const uint8_t *bytes, size_t size, size_t n)
{
    static const uint8_t planes[PK_SECTIONS] = {1, 1, 1, 2, 1, 1, 8, 2, 1, 1, 8, 1};
    const uint8_t *table = bytes + PK_INFO_BYTES, *from = table + 8 * PK_SECTIONS;
    if (size < PK_INFO_BYTES + 8 * PK_SECTIONS) return "its table is cut";
    size_t all = 0, stored = 0;
    for (int i = 0; i < PK_SECTIONS; i++) {
        all += get32(table + 8 * i);
        stored += get32(table + 8 * i + 4);
    }
    /* No row needs more: 7 bytes of text are 17 at most, 2 for each further number are 10. */
    if (all > 10 * n + PK_MAX_DICTIONARY + PK_MAX_PLACES * (PK_MAX_PLACE + 1))
        return "its sections are too long";
    if (stored != size - PK_INFO_BYTES - 8 * PK_SECTIONS) return "its sections do not fill it";
    if (all > u->cap) {
        free(u->room);
        u->room = malloc(all);
        u->cap = u->room ? all : 0;
        if (!u->room) return no_memory;
    }
    uint8_t *to = u->room;
    for (int i = 0; i < PK_SECTIONS; i++) {
        const size_t raw = get32(table + 8 * i), packed = get32(table + 8 * i + 4);
        if (raw % planes[i]) return "a section has a wrong length";
        if (raw == packed) {
            u->rows.sections[i] = (pk_part){from, raw, 0, raw / planes[i]};
        } else {
            size_t got = ZSTD_decompressDCtx(u->zstd, to, raw, from, packed);
            if (ZSTD_isError(got) || got != raw) return "a section cannot be unpacked";
            u->rows.sections[i] = (pk_part){to, raw, 0, raw / planes[i]};
            to += raw;
        }
        from += packed;
    }
    return NULL;
}

/* Hands each line of a section to the model. */
static const char *read_lines(pk_model *m, const pk_part *s, bool (*add)(pk_model *, const char *, size_t),
                              bool with_end)
{
    const char *at = (const char *)s->bytes, *const end = at + s->size;
    while (at < end) {
        const char *feed = memchr(at, '\n', (size_t)(end - at));
        if (!feed || !add(m, at, (size_t)(feed - at) + with_end)) return "its dictionary is wrong";
        at = feed + 1;
    }
    return NULL;
}

static char *copy_text(char *to, const char *from, uint32_t n)
{
    memcpy(to, from, n);
    return to + n;
}

char *pk_row_write(const pk_model *m, const pk_row *row, char *to)
{
    const pk_template *t = &m->templates[row->template];
    const char *text = t->text;
    to = copy_text(to, m->places[row->place].text, m->places[row->place].len);
    for (uint32_t i = 0; i < t->n; i++) {
        to = copy_text(to, text, t->lengths[i]);
        text += t->lengths[i] + 1;
        to = pk_write_number(to, row->values[i]);
    }
    return copy_text(to, text, t->lengths[t->n]);
}

bool pk_rows_raw(pk_rows *r, const char **text, size_t *n)
{
    pk_part *raw = &r->sections[PK_S_RAW];
    const char *at = (const char *)raw->bytes + raw->at;
    const size_t left = raw->size - raw->at;
    const char *feed = left ? memchr(at, '\n', left) : NULL;
    *text = at;
    *n = feed ? (size_t)(feed - at) + 1 : left;
    raw->at += *n;
    return *n != 0;
}

bool pk_rows_used_up(const pk_rows *r)
{
    for (int i = PK_S_CODES; i < PK_SECTIONS; i++)
        if (r->sections[i].n != r->sections[i].at && i != PK_S_STAMP_HIGH && i != PK_S_NUMBER_HIGH)
            return false;
    return true;
}

/* Writes rows until there are `enough` bytes, or none are left; *to moves on, and never beyond `end` by more than a row. */
static const char *write_some(pk_rows *r, char **to, const char *enough, const char *end)
{
    pk_part *codes = &r->sections[PK_S_CODES];
    while (codes->at < codes->n && *to < enough) {
        const uint32_t code = codes->bytes[codes->at++];
        pk_row row;
        if (code != PK_RAW) {
            if (!pk_rows_step(r, code, &row)) return "its rows are wrong";
            *to = pk_row_write(r->model, &row, *to);
            continue;
        }
        const char *raw;
        size_t size;
        if (!pk_rows_raw(r, &raw, &size) || size > (size_t)(end - *to)) return "its raw rows are wrong";
        memcpy(*to, raw, size);
        *to += size;
    }
    return NULL;
}

static const char *write_rows(pk_unpacker *u, char *text, size_t n)
{
    char *to = text, *const end = text + n;
    const char *why = write_some(&u->rows, &to, end, end);
    if (why) return why;
    const pk_part *codes = &u->rows.sections[PK_S_CODES];
    if (to != end || codes->at < codes->n) return "its text has another length";
    return pk_rows_used_up(&u->rows) ? NULL : "its numbers are not used up";
}

const char *pk_unpacker_open(pk_unpacker *u, const uint8_t *bytes, size_t size, size_t n, pk_rows **rows)
{
    if (size < PK_INFO_BYTES || n > PK_MAX_TEXT) return "it is cut";
    const char *why = open_sections(u, bytes, size, n);
    if (why) return why;
    const pk_part *s = u->rows.sections;
    if (s[PK_S_STAMP_LOW].n != s[PK_S_STAMP_HIGH].n || s[PK_S_NUMBER_LOW].n != s[PK_S_NUMBER_HIGH].n)
        return "a section has a wrong length";
    pk_model_begin(u->model);
    u->rows.model = u->model;
    *rows = &u->rows;
    why = read_lines(u->model, &s[PK_S_PLACES], pk_model_add_place, false);
    return why ? why : read_lines(u->model, &s[PK_S_TEMPLATES], pk_model_add_template, true);
}

const char *pk_unpacker_block(pk_unpacker *u, const uint8_t *bytes, size_t size, bool plain, char *text,
                              size_t n)
{
    if (size < PK_INFO_BYTES || n > PK_MAX_TEXT) return "it is cut";
    if (plain) {
        if (size - PK_INFO_BYTES != n) return "its text has another length";
        memcpy(text, bytes + PK_INFO_BYTES, n);
        return NULL;
    }
    pk_rows *rows;
    const char *why = pk_unpacker_open(u, bytes, size, n, &rows);
    return why ? why : write_rows(u, text, n);
}

size_t pk_unpacker_begin(pk_unpacker *u, const uint8_t *bytes, size_t size, bool plain, char *text, size_t n,
                         size_t of)
{
    pk_rows *rows;
    if (size < PK_INFO_BYTES || n > of) return 0;
    if (plain) {
        if (size - PK_INFO_BYTES != of) return 0;
        memcpy(text, bytes + PK_INFO_BYTES, n);
        return n;
    }
    char *to = text;
    const char *end = text + n + PK_LONGEST_ROW;
    if (pk_unpacker_open(u, bytes, size, of, &rows) || write_some(rows, &to, text + n, end)) return 0;
    return to < text + n ? 0 : n;
}

bool pk_unpacker_ids(pk_unpacker *u, const uint8_t *bytes, size_t size, size_t n, pk_row_ids *ids)
{
    pk_rows *rows;
    *ids = (pk_row_ids){0};
    if (pk_unpacker_open(u, bytes, size, n, &rows)) return false;
    pk_part *codes = &rows->sections[PK_S_CODES];
    while (codes->at < codes->n) {
        const uint32_t code = codes->bytes[codes->at++];
        pk_row row;
        if (code == PK_RAW) continue;
        if (!pk_rows_step(rows, code, &row)) return false;
        const pk_template *t = &rows->model->templates[row.template];
        for (uint32_t i = 1; i < t->n; i++)
            if (t->cells[i] == PK_ID_CELL)
                /* NOLINTNEXTLINE(clang-analyzer-core.CallAndMessage): the step has read as many as the template has */
                pk_ids_add(t->traced ? &ids->traced : &ids->plain, row.values[i]);
            else if (t->cells[i] == PK_COUNT_CELL)
                /* NOLINTNEXTLINE(clang-analyzer-core.CallAndMessage): the same */
                pk_ids_add(&ids->counts, row.values[i]);
    }
    return true;
}
