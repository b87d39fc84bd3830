/* Unpacking a block: its sections, and from them the text. Every number in a block may be wrong; what is wrong
 * is told, and nothing is read or written beside. See pack/block.h. */
#include <stdlib.h>
#include <zstd.h>

#include "pack/block.h"
#include "pack/digits.h"

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
    put32(out + 12, 0);
    for (int i = 0; i < PK_RANGES; i++) {
        put32(out + 16 + 16 * i, (uint32_t)info->least[i]);
        put32(out + 20 + 16 * i, (uint32_t)(info->least[i] >> 32));
        put32(out + 24 + 16 * i, (uint32_t)info->most[i]);
        put32(out + 28 + 16 * i, (uint32_t)(info->most[i] >> 32));
    }
}

void pk_info_get(const uint8_t *bytes, pk_info *info)
{
    *info = (pk_info){.rows = get32(bytes), .lines = get32(bytes + 4), .raw = get32(bytes + 8)};
    for (int i = 0; i < PK_RANGES; i++) {
        info->least[i] = get64(bytes + 16 + 16 * i);
        info->most[i] = get64(bytes + 24 + 16 * i);
    }
}

typedef struct section {
    const uint8_t *bytes;
    size_t size, at, n; /* at, n: of what is in it, however many planes that has */
} section;

struct pk_unpacker {
    pk_model *model;
    ZSTD_DCtx *zstd;
    uint8_t *room; /* for all sections */
    size_t cap;
    section sections[PK_SECTIONS];
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
            u->sections[i] = (section){from, raw, 0, raw / planes[i]};
        } else {
            size_t got = ZSTD_decompressDCtx(u->zstd, to, raw, from, packed);
            if (ZSTD_isError(got) || got != raw) return "a section cannot be unpacked";
            u->sections[i] = (section){to, raw, 0, raw / planes[i]};
            to += raw;
        }
        from += packed;
    }
    return NULL;
}

/* Hands each line of a section to the model. */
static const char *read_lines(pk_model *m, const section *s, bool (*add)(pk_model *, const char *, size_t),
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

static bool next16(section *s, uint32_t *value)
{
    if (s->at == s->n) return false;
    *value = s->bytes[s->at] | (uint32_t)s->bytes[s->n + s->at] << 8;
    s->at++;
    return true;
}

/* A number as it was told, from the first of its three sections on. */
static inline bool next_number(section *s, uint64_t *more)
{
    const size_t at = s->at;
    if (at == s->n) return false;
    const uint32_t told = s[0].bytes[at] | (uint32_t)s[1].bytes[at] << 8;
    s->at++;
    *more = (uint64_t)told - PK_BIAS;
    if (told != PK_IS_FAR) return true;
    section *far = &s[2];
    if (far->at == far->n) return false;
    *more = 0;
    for (size_t plane = 0; plane < 8; plane++)
        *more |= (uint64_t)far->bytes[plane * far->n + far->at] << (8 * plane);
    far->at++;
    return true;
}

static char *copy_text(char *to, const char *from, uint32_t n)
{
    memcpy(to, from, n);
    return to + n;
}

/* Writes a row with a template; NULL: it cannot be. PK_LONGEST_ROW bytes are there. */
static char *write_row(pk_unpacker *u, uint32_t code, char *to)
{
    pk_model *m = u->model;
    uint32_t place = pk_model_place(m), choice = code & PK_TEMPLATE;
    const pk_template *before = &m->templates[m->template];
    uint32_t template = choice == PK_FIRST ? before->first : before->second;
    if (code & PK_PLACE && !next16(&u->sections[PK_S_PICKS], &place)) return NULL;
    if (choice == PK_OTHER && !next16(&u->sections[PK_S_PICKS], &template)) return NULL;
    if (place >= m->n_places || template >= m->n_templates) return NULL;
    pk_template *t = &m->templates[template];
    if (!pk_model_stream(m, place, t->risc, &m->stream)) return NULL;
    pk_stream *s = &m->streams[m->stream];
    uint64_t more;
    uint32_t wrong = 0;
    if (!next_number(&u->sections[PK_S_STAMP_LOW], &more)) return NULL;
    if (code & PK_WRONG && !next16(&u->sections[PK_S_WRONG], &wrong)) return NULL;
    const uint64_t stamp = pk_stamp_from(t, s) + more;
    pk_stamp_is(t, s, stamp);
    to = copy_text(to, m->places[place].text, m->places[place].len);
    to = copy_text(to, t->text, t->lengths[0]);
    to = pk_write_number(to, stamp);
    const char *text = t->text + t->lengths[0] + 1;
    for (uint32_t i = 1; i < t->n; i++) {
        uint64_t value = pk_number_from(t, s, i);
        if (wrong >> (i - 1) & 1) {
            if (!next_number(&u->sections[PK_S_NUMBER_LOW], &more)) return NULL;
            value += more;
        }
        pk_number_is(t, s, i, value);
        to = copy_text(to, text, t->lengths[i]);
        text += t->lengths[i] + 1;
        to = pk_write_number(to, value);
    }
    to = copy_text(to, text, t->lengths[t->n]);
    pk_model_go(m, place, template, choice);
    return to;
}

static const char *write_rows(pk_unpacker *u, char *text, size_t n)
{
    const section codes = u->sections[PK_S_CODES];
    const char *raw = (const char *)u->sections[PK_S_RAW].bytes, *raw_end = raw + u->sections[PK_S_RAW].size;
    char *to = text, *const end = text + n;
    for (size_t i = 0; i < codes.size; i++) {
        const uint32_t code = codes.bytes[i];
        if (to >= end || code >= PK_CODE_END || ((code & PK_TEMPLATE) == PK_RAW && code != PK_RAW))
            return "its rows are wrong";
        if ((code & PK_TEMPLATE) != PK_RAW) {
            if (!(to = write_row(u, code, to))) return "its rows are wrong";
            continue;
        }
        const char *feed = raw < raw_end ? memchr(raw, '\n', (size_t)(raw_end - raw)) : NULL;
        const size_t size = (size_t)((feed ? feed + 1 : raw_end) - raw);
        if (size == 0 || size > (size_t)(end - to)) return "its raw rows are wrong";
        memcpy(to, raw, size);
        to += size;
        raw += size;
    }
    if (to != end || raw != raw_end) return "its text has another length";
    for (int i = 0; i < PK_SECTIONS; i++)
        if (i > PK_S_CODES && i < PK_S_RAW && u->sections[i].n != u->sections[i].at && i != PK_S_STAMP_HIGH &&
            i != PK_S_NUMBER_HIGH)
            return "its numbers are not used up";
    return NULL;
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
    const char *why = open_sections(u, bytes, size, n);
    if (why) return why;
    const section *s = u->sections;
    if (s[PK_S_STAMP_LOW].n != s[PK_S_STAMP_HIGH].n || s[PK_S_NUMBER_LOW].n != s[PK_S_NUMBER_HIGH].n)
        return "a section has a wrong length";
    pk_model_begin(u->model);
    why = read_lines(u->model, &s[PK_S_PLACES], pk_model_add_place, false);
    if (!why) why = read_lines(u->model, &s[PK_S_TEMPLATES], pk_model_add_template, true);
    return why ? why : write_rows(u, text, n);
}
