/* Packing a block: its lines to rows of numbers, these to planes of bytes, and zstd over each. See
 * pack/block.h. */
#include <stdlib.h>
#include <zstd.h>

#include "base/intern.h"
#include "pack/block.h"
#include "pack/digits.h"

enum {
    SHORTEST_ROW = 7, /* ",,,,,5\n" */
    MOST_TRIES = 8,   /* templates that begin alike, before a line is taken apart */
    LEVEL = 1,
};

/* Numbers as they are told: two planes, and what does not fit there. */
typedef struct numbers {
    uint8_t *low, *high;
    uint64_t *far;
    size_t n, n_far;
} numbers;

/* What pk_row_ids has. */
typedef enum noted { NOTED_PLAIN, NOTED_TRACED, NOTED_COUNT, NOTED } noted;

struct pk_packer {
    pk_model *model;
    ZSTD_CCtx *zstd;
    uint8_t *codes;
    numbers stamps, others;
    uint16_t *picks, *wrong;
    char *raw;
    uint8_t *planes; /* of a section, before zstd */
    size_t cap_planes, n_rows, n_picks, n_wrong, n_raw;
    pk_info info;
    uint64_t last[NOTED];
    uint16_t heads[PK_SLOTS]; /* number + 1 of the first template that begins so */
    uint16_t texts[PK_SLOTS]; /* the same by its whole text, open hash table */
    uint16_t places[PK_SLOTS];
};

static bool numbers_new(numbers *s, size_t cap)
{
    s->low = malloc(cap);
    s->high = malloc(cap);
    s->far = malloc(cap * sizeof *s->far);
    return s->low && s->high && s->far;
}

static void numbers_free(numbers *s)
{
    free(s->low);
    free(s->high);
    free(s->far);
}

pk_packer *pk_packer_new(size_t cap)
{
    pk_packer *p = calloc(1, sizeof *p);
    if (!p) return NULL;
    const size_t rows = cap / SHORTEST_ROW + 1, others = cap / 2 + 1;
    p->cap_planes = others * 8 > PK_MAX_DICTIONARY ? others * 8 : PK_MAX_DICTIONARY;
    p->model = pk_model_new();
    p->zstd = ZSTD_createCCtx();
    p->codes = malloc(cap + 1);
    p->picks = malloc(rows * 2 * sizeof *p->picks);
    p->wrong = malloc(rows * sizeof *p->wrong);
    p->raw = malloc(cap + 1);
    p->planes = malloc(p->cap_planes);
    const bool some = numbers_new(&p->stamps, rows), all = numbers_new(&p->others, others);
    if (some && all && p->model && p->zstd && p->codes && p->picks && p->wrong && p->raw && p->planes)
        return p;
    pk_packer_free(p);
    return NULL;
}

void pk_packer_free(pk_packer *p)
{
    if (!p) return;
    pk_model_free(p->model);
    ZSTD_freeCCtx(p->zstd);
    free(p->codes);
    numbers_free(&p->stamps);
    numbers_free(&p->others);
    free(p->picks);
    free(p->wrong);
    free(p->raw);
    free(p->planes);
    free(p);
}

static inline void tell(numbers *s, uint64_t more)
{
    const uint64_t near = more + PK_BIAS;
    const uint32_t told = near < PK_IS_FAR ? (uint32_t)near : PK_IS_FAR;
    s->low[s->n] = (uint8_t)told;
    s->high[s->n++] = (uint8_t)(told >> 8);
    if (told == PK_IS_FAR) s->far[s->n_far++] = more;
}

/* n bytes are equal; eight can be read of both. */
static inline bool equal(const char *a, const char *b, uint32_t n)
{
    static const uint64_t masks[9] = {0,
                                      0xFF,
                                      0xFFFF,
                                      0xFFFFFF,
                                      0xFFFFFFFF,
                                      UINT64_C(0xFFFFFFFFFF),
                                      UINT64_C(0xFFFFFFFFFFFF),
                                      UINT64_C(0xFFFFFFFFFFFFFF),
                                      UINT64_MAX};
    if (n <= 8) return ((dl_load_little(a) ^ dl_load_little(b)) & masks[n]) == 0;
    return memcmp(a, b, n) == 0;
}

/* The line at `at` has this template: returns what is behind it, with its numbers; otherwise NULL. */
static inline const char *match(const pk_template *t, const char *at, const char *end, uint64_t *values)
{
    const char *text = t->text;
    for (uint32_t i = 0;; i++) {
        const uint32_t n = t->lengths[i];
        if ((size_t)(end - at) < n || !equal(at, text, n)) return NULL;
        at += n;
        if (i == t->n) return at;
        text += n + 1;
        if (!(at = pk_read_number(at, &values[i]))) return NULL;
    }
}

static uint32_t hash_slot(const char *text, size_t n)
{
    return (uint32_t)dl_hash_u64(dl_hash_bytes(text, n)) & (PK_SLOTS - 1);
}

/* The number of the place text[0..n), a new one if need be; PK_MAX_PLACES: it can be none. */
static uint32_t find_place(pk_packer *p, const char *text, uint32_t n)
{
    pk_model *m = p->model;
    uint32_t slot = hash_slot(text, n);
    for (; p->places[slot]; slot = (slot + 1) & (PK_SLOTS - 1)) {
        const pk_place *known = &m->places[p->places[slot] - 1];
        if (known->len == n && memcmp(known->text, text, n) == 0) return p->places[slot] - 1u;
    }
    if (memchr(text, 0, n) || memchr(text, '\r', n) || !pk_model_add_place(m, text, n)) return PK_MAX_PLACES;
    p->places[slot] = (uint16_t)m->n_places;
    return m->n_places - 1;
}

/* Bytes from `at` behind the n-th comma on this line; 0: it has fewer. */
static uint32_t behind_commas(const char *at, const char *end, int n, uint32_t most)
{
    if ((size_t)(end - at) > most) end = at + most;
    for (const char *c = at; c < end && *c != '\n'; c++)
        if (*c == ',' && --n == 0) return (uint32_t)(c - at) + 1;
    return 0;
}

/* Takes digits apart: a number goes into `text` as NUL. Returns what is behind. */
static const char *take_digits(const char *at, char *text, uint32_t *n, uint32_t *n_numbers)
{
    uint64_t value;
    while (*at == '0' && (unsigned char)(at[1] - '0') <= 9)
        text[(*n)++] = *at++; /* zeros in front are no part of a number */
    const char *next = pk_read_number(at, &value);
    if (!next || *n_numbers == PK_NUMBERS) {
        text[(*n)++] = *at;
        return at + 1;
    }
    text[(*n)++] = 0;
    ++*n_numbers;
    return next;
}

static bool is_digit(char c)
{
    return (unsigned char)(c - '0') <= 9;
}

/* The template of the line at `at`, from behind its place: its texts with a NUL for each number, into `text`,
 * which has room for PK_MAX_TEMPLATE and some. Returns how long it is; 0: it can have none. A line that ends within itself (CR) may be
 * a row and a header: its block must say that it has raw rows. */
static uint32_t take_apart(const char *at, const char *end, char *text)
{
    const uint32_t head = behind_commas(at, end, 2, PK_MAX_TEMPLATE / 2);
    uint32_t n = head, taken = 0;
    if (!head || memchr(at, 0, head) || memchr(at, '\r', head)) return 0;
    memcpy(text, at, head);
    at += head;
    bool cells = true, begins = true, meta = false; /* cells: all so far are numbers or empty */
    while (at < end && n < PK_MAX_TEMPLATE - 32) {
        const char c = *at;
        if (c == 0 || (c == '\r' && (at + 1 == end || at[1] != '\n'))) return 0;
        if (is_digit(c) && ((cells && begins) || meta)) {
            at = take_digits(at, text, &n, &taken);
            begins = false;
            continue;
        }
        if (!taken && c != ' ') return 0; /* the stamp is no number */
        if (c == ',')
            begins = true;
        else if (c != ' ')
            cells = false;
        meta |= c == '{';
        text[n++] = c;
        at++;
        if (c == '\n') return taken ? n : 0;
    }
    return 0;
}

/* The template of the line at `at`, known or new; PK_MAX_TEMPLATES: none. */
static uint32_t learn(pk_packer *p, const char *at, const char *end, uint32_t head)
{
    char text[PK_MAX_TEMPLATE + 64];
    pk_model *m = p->model;
    const uint32_t n = take_apart(at, end, text);
    if (!n) return PK_MAX_TEMPLATES;
    uint32_t slot = hash_slot(text, n);
    for (; p->texts[slot]; slot = (slot + 1) & (PK_SLOTS - 1)) {
        const pk_template *known = &m->templates[p->texts[slot] - 1];
        if (known->size == n && memcmp(known->text, text, n) == 0) return p->texts[slot] - 1u;
    }
    if (!pk_model_add_template(m, text, n)) return PK_MAX_TEMPLATES;
    const uint32_t number = m->n_templates - 1;
    const pk_template *t = &m->templates[number];
    if (!t->has_id) p->info.known &= ~(uint32_t)PK_ALL_IDS;
    if (t->odd_trace) p->info.known &= ~(uint32_t)PK_TRACES;
    if (t->traced && !t->counted) p->info.known &= ~(uint32_t)PK_COUNTED;
    m->templates[number].same_slot = p->heads[head];
    p->heads[head] = p->texts[slot] = (uint16_t)(number + 1);
    return number;
}

/* The template of a line that has not the one foretold, its numbers, and what is behind it, or NULL. */
static const char *find_template(pk_packer *p, const char *at, const char *end, uint32_t *template,
                                 uint64_t *values)
{
    pk_model *m = p->model;
    const uint32_t n = behind_commas(at, end, 2, PK_MAX_TEMPLATE / 2);
    if (!n) return NULL;
    const uint32_t head = hash_slot(at, n);
    int tries = 0;
    for (uint32_t i = p->heads[head]; i && tries < MOST_TRIES; i = m->templates[i - 1].same_slot, tries++) {
        const char *next = match(&m->templates[i - 1], at, end, values);
        if (!next) continue;
        *template = i - 1;
        return next;
    }
    *template = learn(p, at, end, head);
    return *template == PK_MAX_TEMPLATES ? NULL : match(&m->templates[*template], at, end, values);
}

static inline void widen(pk_info *info, uint32_t range, uint64_t value)
{
    if (value < info->least[range]) info->least[range] = value;
    if (value > info->most[range]) info->most[range] = value;
}

/* Most rows have what the one before had. */
static inline void note_id(pk_packer *p, noted what, uint64_t id)
{
    if (id == p->last[what] && id) return;
    p->last[what] = id;
    pk_ids_add(what == NOTED_PLAIN    ? &p->info.ids.plain
               : what == NOTED_TRACED ? &p->info.ids.traced
                                      : &p->info.ids.counts,
               id);
}

/* Tells the row's numbers; its code so far is `code`. False: no memory. */
static inline bool add_row(pk_packer *p, uint32_t place, uint32_t template, uint32_t code,
                           const uint64_t *values)
{
    pk_model *m = p->model;
    pk_template *t = &m->templates[template];
    if (!pk_model_stream(m, place, t->risc, &m->stream)) return false;
    pk_stream *s = &m->streams[m->stream];
    /* NOLINTNEXTLINE(clang-analyzer-core.UndefinedBinaryOperatorResult): every row has a stamp */
    tell(&p->stamps, values[0] - pk_stamp_from(t, s));
    pk_stamp_is(t, s, values[0]);
    widen(&p->info, 0, values[0]);
    uint32_t wrong = 0;
    for (uint32_t i = 1; i < t->n; i++) {
        const uint64_t foretold = pk_number_from(t, s, i);
        if (values[i] != foretold) {
            wrong |= 1u << (i - 1);
            tell(&p->others, values[i] - foretold);
        }
        /* What a RISC has had before is known, but for the 0 with which it begins. */
        if (t->cells[i] < PK_CELLS && (values[i] != s->cells[t->cells[i]] || !values[i]))
            widen(&p->info, 1u + t->cells[i], values[i]);
        if (t->cells[i] == PK_ID_CELL)
            note_id(p, t->traced ? NOTED_TRACED : NOTED_PLAIN, values[i]);
        else if (t->cells[i] == PK_COUNT_CELL)
            note_id(p, NOTED_COUNT, values[i]);
        pk_number_is(t, s, i, values[i]);
    }
    if (wrong) p->wrong[p->n_wrong++] = (uint16_t)wrong;
    p->codes[p->n_rows++] = (uint8_t)(code | (wrong ? PK_WRONG : 0));
    return true;
}

/* Packs the row at `at`, when it has a place and a template. Returns what is behind it, or NULL. */
static inline const char *pack_row(pk_packer *p, const char *at, const char *end)
{
    pk_model *m = p->model;
    uint64_t values[PK_NUMBERS];
    uint32_t place = pk_model_place(m), code = PK_FIRST;
    uint32_t n = m->places[place].len;
    if (n == 0 || (size_t)(end - at) < n || !equal(at, m->places[place].text, n)) {
        n = behind_commas(at, end, 3, PK_MAX_PLACE);
        const uint32_t other = n ? find_place(p, at, n) : PK_MAX_PLACES;
        if (other == PK_MAX_PLACES) return NULL;
        if (other != place) code = PK_PLACE;
        place = other;
    }
    at += n;
    const pk_template *before = &m->templates[m->template];
    uint32_t template = before->first, choice = PK_FIRST;
    const char *next = m->n_templates ? match(&m->templates[template], at, end, values) : NULL;
    if (!next) {
        template = before->second;
        choice = PK_SECOND;
        next = m->n_templates ? match(&m->templates[template], at, end, values) : NULL;
    }
    if (!next) {
        choice = PK_OTHER;
        if (!(next = find_template(p, at, end, &template, values))) return NULL;
    }
    if (!add_row(p, place, template, code | choice, values)) return NULL;
    if (code & PK_PLACE) p->picks[p->n_picks++] = (uint16_t)place;
    if (choice == PK_OTHER) p->picks[p->n_picks++] = (uint16_t) template;
    pk_model_go(m, place, template, choice);
    return next;
}

static void pack_rows(pk_packer *p, const char *text, size_t n)
{
    const char *at = text, *const end = text + n;
    while (at < end) {
        const char *next = pack_row(p, at, end);
        if (!next) {
            next = memchr(at, '\n', (size_t)(end - at));
            next = next ? next + 1 : end;
            memcpy(p->raw + p->n_raw, at, (size_t)(next - at));
            p->n_raw += (size_t)(next - at);
            p->codes[p->n_rows++] = PK_RAW;
            p->info.raw++;
        }
        at = next;
    }
    p->info.rows = (uint32_t)p->n_rows;
    p->info.lines = p->info.rows - (n && end[-1] != '\n');
}

static void put32(uint8_t *to, uint32_t value)
{
    for (int i = 0; i < 4; i++)
        to[i] = (uint8_t)(value >> (8 * i));
}

/* The output of a block in the making; `out` NULL: there is no room for more. */
typedef struct output {
    uint8_t *table, *to, *end;
} output;

static void put_section(pk_packer *p, output *out, pk_section section, const void *bytes, size_t n)
{
    if (!out->to) return;
    const size_t room = (size_t)(out->end - out->to);
    size_t stored = 0;
    if (n > 16) {
        stored = ZSTD_compressCCtx(p->zstd, out->to, room < n ? room : n, bytes, n, LEVEL);
        if (ZSTD_isError(stored) || stored >= n) stored = 0;
    }
    if (n && !stored) {
        if (n > room) {
            out->to = NULL;
            return;
        }
        memcpy(out->to, bytes, n);
        stored = n;
    }
    put32(out->table + 8 * section, (uint32_t)n);
    put32(out->table + 8 * section + 4, (uint32_t)stored);
    out->to += stored;
}

static void put_planes16(pk_packer *p, output *out, pk_section section, const uint16_t *values, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        p->planes[i] = (uint8_t)values[i];
        p->planes[n + i] = (uint8_t)(values[i] >> 8);
    }
    put_section(p, out, section, p->planes, 2 * n);
}

static void put_numbers(pk_packer *p, output *out, pk_section first, const numbers *s)
{
    put_section(p, out, first, s->low, s->n);
    put_section(p, out, first + 1, s->high, s->n);
    for (size_t plane = 0; plane < 8; plane++)
        for (size_t i = 0; i < s->n_far; i++)
            p->planes[plane * s->n_far + i] = (uint8_t)(s->far[i] >> (8 * plane));
    put_section(p, out, first + 2, p->planes, 8 * s->n_far);
}

static void put_places(pk_packer *p, output *out)
{
    uint8_t *to = p->planes;
    for (uint32_t i = 0; i < p->model->n_places; i++) {
        memcpy(to, p->model->places[i].text, p->model->places[i].len);
        to += p->model->places[i].len;
        *to++ = '\n';
    }
    put_section(p, out, PK_S_PLACES, p->planes, (size_t)(to - p->planes));
}

static void begin(pk_packer *p)
{
    pk_model_begin(p->model);
    p->n_rows = p->n_picks = p->n_wrong = p->n_raw = 0;
    p->stamps.n = p->stamps.n_far = p->others.n = p->others.n_far = 0;
    p->info = (pk_info){.known = PK_KNOWN | PK_ALL_IDS | PK_TRACES | PK_COUNTED};
    memset(p->last, 0, sizeof p->last);
    memset(p->info.least, 0xFF, sizeof p->info.least);
    memset(p->heads, 0, sizeof p->heads);
    memset(p->texts, 0, sizeof p->texts);
    memset(p->places, 0, sizeof p->places);
}

size_t pk_packer_block(pk_packer *p, const char *text, size_t n, uint8_t *out, bool *plain, pk_info *info)
{
    begin(p);
    pack_rows(p, text, n);
    pk_info_put(out, &p->info);
    *info = p->info;
    /* One byte less than a plain block, or it is one. */
    const size_t head = PK_INFO_BYTES + 8 * PK_SECTIONS;
    if (n + PK_INFO_BYTES > head) {
        output o = {out + PK_INFO_BYTES, out + head, out + pk_block_bound(n) - 1};
        put_places(p, &o);
        put_section(p, &o, PK_S_TEMPLATES, p->model->dictionary, p->model->n_dictionary);
        put_section(p, &o, PK_S_CODES, p->codes, p->n_rows);
        put_planes16(p, &o, PK_S_PICKS, p->picks, p->n_picks);
        put_numbers(p, &o, PK_S_STAMP_LOW, &p->stamps);
        put_planes16(p, &o, PK_S_WRONG, p->wrong, p->n_wrong);
        put_numbers(p, &o, PK_S_NUMBER_LOW, &p->others);
        put_section(p, &o, PK_S_RAW, p->raw, p->n_raw);
        *plain = false;
        if (o.to) return (size_t)(o.to - out);
    }
    *plain = true;
    memcpy(out + PK_INFO_BYTES, text, n);
    return PK_INFO_BYTES + n;
}
