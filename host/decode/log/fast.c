/* The fast path: what it remembers of the lines that the general path has read, and which vector instructions
 * it uses. */
#include "decode/log/fast.h"

#include <stdlib.h>

#include "decode/log/fast_internal.h"
#include "decode/zone_counters.h"

/* Without vector instructions. */

#define FAST_TARGET
#define FAST(name) fast_##name##_plain

static inline bool fast_equal_plain(const char *at, const char *text, uint32_t n)
{
    uint64_t differ = 0;
    for (; n > 8; n -= 8, at += 8, text += 8)
        differ |= fast_load64(at) ^ fast_load64(text);
    return !(differ | (fast_first_bytes(at, n) ^ fast_first_bytes(text, n)));
}

static inline bool fast_equal_long_plain(const char *at, const char *text, uint32_t n)
{
    for (; n > 32; at += 32, text += 32, n -= 32)
        if (!fast_equal_plain(at, text, 32)) return false;
    return fast_equal_plain(at, text, n);
}

static inline uint32_t fast_commas_plain(const char *at)
{
    uint32_t commas = 0;
    for (uint32_t i = 0; i < 32; i++)
        commas |= (uint32_t)(at[i] == ',') << i;
    return commas;
}

static inline bool fast_digits_plain(const char *end, uint32_t n, uint64_t *value)
{
    return fast_digits_scalar(end, n, value);
}

static inline bool fast_digits_two_plain(const char *a, const char *b, uint32_t n, uint64_t *values)
{
    return fast_digits_scalar(a, n, &values[0]) && fast_digits_scalar(b, n, &values[1]);
}

static inline const char *fast_meta_end_plain(const char *at)
{
    while (*at != ',' && *at != '\n' && *at != '\r' && *at != 0)
        at++;
    return at;
}

#include "decode/log/fast_body.h"

#undef FAST
#undef FAST_TARGET

#if defined(__x86_64__)

#include <immintrin.h>

/* With SSE2, which every x86-64 has. */

#define FAST_TARGET
#define FAST(name) fast_##name##_sse2

static inline uint32_t fast_mask_sse2(__m128i a, __m128i b)
{
    return (uint32_t)_mm_movemask_epi8(a) | (uint32_t)_mm_movemask_epi8(b) << 16;
}

static inline __m128i fast_at_sse2(const char *at)
{
    return _mm_loadu_si128((const __m128i *)(const void *)at);
}

static inline bool fast_equal_sse2(const char *at, const char *text, uint32_t n)
{
    uint32_t same = fast_mask_sse2(_mm_cmpeq_epi8(fast_at_sse2(at), fast_at_sse2(text)),
                                   _mm_cmpeq_epi8(fast_at_sse2(at + 16), fast_at_sse2(text + 16)));
    return (uint64_t)~same << (64 - n) == 0;
}

static inline bool fast_equal_long_sse2(const char *at, const char *text, uint32_t n)
{
    for (; n > 32; at += 32, text += 32, n -= 32)
        if (!fast_equal_sse2(at, text, 32)) return false;
    return fast_equal_sse2(at, text, n);
}

static inline uint32_t fast_commas_sse2(const char *at)
{
    const __m128i comma = _mm_set1_epi8(',');
    return fast_mask_sse2(_mm_cmpeq_epi8(fast_at_sse2(at), comma),
                          _mm_cmpeq_epi8(fast_at_sse2(at + 16), comma));
}

static inline bool fast_digits_sse2(const char *end, uint32_t n, uint64_t *value)
{
    return fast_digits_scalar(end, n, value);
}

static inline bool fast_digits_two_sse2(const char *a, const char *b, uint32_t n, uint64_t *values)
{
    return fast_digits_scalar(a, n, &values[0]) && fast_digits_scalar(b, n, &values[1]);
}

static inline const char *fast_meta_end_sse2(const char *at)
{
    for (;; at += 16) {
        __m128i v = fast_at_sse2(at);
        __m128i hit = _mm_or_si128(
            _mm_or_si128(_mm_cmpeq_epi8(v, _mm_set1_epi8(',')), _mm_cmpeq_epi8(v, _mm_set1_epi8('\n'))),
            _mm_or_si128(_mm_cmpeq_epi8(v, _mm_set1_epi8('\r')), _mm_cmpeq_epi8(v, _mm_setzero_si128())));
        uint32_t mask = (uint32_t)_mm_movemask_epi8(hit);
        if (mask) return at + __builtin_ctz(mask);
    }
}

#include "decode/log/fast_body.h"

#undef FAST
#undef FAST_TARGET

/* With AVX2, when the processor has it. */

#define FAST_FF16                                                                                            \
    0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF
#define FAST_TARGET __attribute__((target("avx2,bmi,bmi2")))
#define FAST(name)  fast_##name##_avx2

FAST_TARGET static inline __m256i fast_at_avx2(const char *at)
{
    return _mm256_loadu_si256((const __m256i *)(const void *)at);
}

FAST_TARGET static inline bool fast_equal_avx2(const char *at, const char *text, uint32_t n)
{
    __m256i same = _mm256_cmpeq_epi8(fast_at_avx2(at), fast_at_avx2(text));
    return _bzhi_u32(~(uint32_t)_mm256_movemask_epi8(same), n) == 0;
}

FAST_TARGET static inline __m256i fast_differ_avx2(const char *at, const char *text, const char *mask)
{
    return _mm256_and_si256(_mm256_xor_si256(fast_at_avx2(at), fast_at_avx2(text)), fast_at_avx2(mask));
}

/* Up to 128 bytes without a branch: how long the texts are is hard to foretell, that they are equal is not.
 */
FAST_TARGET static inline bool fast_equal_long_avx2(const char *at, const char *text, uint32_t n)
{
    static const _Alignas(32) uint8_t ends[256] = {FAST_FF16, FAST_FF16, FAST_FF16, FAST_FF16,
                                                   FAST_FF16, FAST_FF16, FAST_FF16, FAST_FF16};
    __m256i differ = _mm256_setzero_si256();
    for (; n > 128; at += 32, text += 32, n -= 32)
        differ = _mm256_or_si256(differ, _mm256_xor_si256(fast_at_avx2(at), fast_at_avx2(text)));
    const char *mask = (const char *)ends + 128 - n;
    __m256i a = fast_differ_avx2(at, text, mask), b = fast_differ_avx2(at + 32, text + 32, mask + 32);
    __m256i c = fast_differ_avx2(at + 64, text + 64, mask + 64);
    __m256i d = fast_differ_avx2(at + 96, text + 96, mask + 96);
    differ = _mm256_or_si256(differ, _mm256_or_si256(_mm256_or_si256(a, b), _mm256_or_si256(c, d)));
    return _mm256_testz_si256(differ, differ);
}

FAST_TARGET static inline uint32_t fast_commas_avx2(const char *at)
{
    return (uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi8(fast_at_avx2(at), _mm256_set1_epi8(',')));
}

/* Of 16 bytes the last n are digits; those before them belong to something else. */
FAST_TARGET static inline __m128i fast_digits_mask(uint32_t n)
{
    static const uint8_t masks[32] = {[16] = FAST_FF16};
    return fast_at_sse2((const char *)masks + n);
}

FAST_TARGET static inline bool fast_digits_avx2(const char *end, uint32_t n, uint64_t *value)
{
    __m128i d = _mm_and_si128(_mm_sub_epi8(fast_at_sse2(end - 16), _mm_set1_epi8('0')), fast_digits_mask(n));
    if (_mm_movemask_epi8(_mm_cmpeq_epi8(_mm_min_epu8(d, _mm_set1_epi8(9)), d)) != 0xFFFF) return false;
    d = _mm_maddubs_epi16(d, _mm_set1_epi16(0x010A));  /* 10, 1: pairs */
    d = _mm_madd_epi16(d, _mm_set1_epi32(0x00010064)); /* 100, 1: fours */
    d = _mm_packus_epi32(d, d);
    d = _mm_madd_epi16(d, _mm_set1_epi32(0x00012710)); /* 10000, 1: eights */
    uint64_t halves = (uint64_t)_mm_cvtsi128_si64(d);
    *value = (halves & UINT32_MAX) * 100000000 + (halves >> 32);
    return true;
}

FAST_TARGET static inline bool fast_digits_two_avx2(const char *a, const char *b, uint32_t n,
                                                    uint64_t *values)
{
    const __m256i mask = _mm256_broadcastsi128_si256(fast_digits_mask(n));
    __m256i d = _mm256_set_m128i(fast_at_sse2(b - 16), fast_at_sse2(a - 16));
    d = _mm256_and_si256(_mm256_sub_epi8(d, _mm256_set1_epi8('0')), mask);
    if (_mm256_movemask_epi8(_mm256_cmpeq_epi8(_mm256_min_epu8(d, _mm256_set1_epi8(9)), d)) != -1)
        return false;
    d = _mm256_maddubs_epi16(d, _mm256_set1_epi16(0x010A));
    d = _mm256_madd_epi16(d, _mm256_set1_epi32(0x00010064));
    d = _mm256_packus_epi32(d, d);
    d = _mm256_madd_epi16(d, _mm256_set1_epi32(0x00012710));
    d = _mm256_add_epi64(_mm256_mul_epu32(d, _mm256_set1_epi64x(100000000)), _mm256_srli_epi64(d, 32));
    values[0] = (uint64_t)_mm256_extract_epi64(d, 0);
    values[1] = (uint64_t)_mm256_extract_epi64(d, 2);
    return true;
}

FAST_TARGET static inline const char *fast_meta_end_avx2(const char *at)
{
    for (;; at += 32) {
        __m256i v = fast_at_avx2(at);
        __m256i hit = _mm256_or_si256(_mm256_or_si256(_mm256_cmpeq_epi8(v, _mm256_set1_epi8(',')),
                                                      _mm256_cmpeq_epi8(v, _mm256_set1_epi8('\n'))),
                                      _mm256_or_si256(_mm256_cmpeq_epi8(v, _mm256_set1_epi8('\r')),
                                                      _mm256_cmpeq_epi8(v, _mm256_setzero_si256())));
        uint32_t mask = (uint32_t)_mm256_movemask_epi8(hit);
        if (mask) return at + __builtin_ctz(mask);
    }
}

#include "decode/log/fast_body.h"

#undef FAST
#undef FAST_TARGET

#endif

static void choose(struct dl_fast *f, dl_parse_path path)
{
    f->marks = fast_marks_plain;
    if (path == DL_PARSE_SCALAR) return;
#if defined(__x86_64__)
    f->marks = fast_marks_sse2;
    if (path == DL_PARSE_SSE2) return;
    __builtin_cpu_init();
    if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("bmi") || !__builtin_cpu_supports("bmi2"))
        return;
    f->marks = fast_marks_avx2;
#endif
}

/* Forgets everything: the columns that it was learned under are no more. */
static void forget(struct dl_fast *f)
{
    if (f->n_places) memset(f->place_slots, 0, FAST_PLACE_SLOTS * sizeof *f->place_slots);
    if (f->n_zones) memset(f->zone_slots, 0, FAST_ZONE_SLOTS * sizeof *f->zone_slots);
    if (f->n_markers) memset(f->markers, 0, FAST_MARKERS * sizeof *f->markers);
    f->n_places = f->n_zones = f->n_markers = 0;
    f->place = NULL;
    f->zone = NULL;
    f->marker = f->markers;
    f->last_ids = (fast_ids){.len = 0};
    memset(f->riscs, 0, sizeof f->riscs);
}

struct dl_fast *dl_fast_new(dl_parse_path path)
{
    if (path == DL_PARSE_SLOW || path == DL_PARSE_CSV) return NULL;
    struct dl_fast *f = calloc(1, sizeof *f);
    if (!f) return NULL;
    choose(f, path);
    f->time_len = 13;
    f->place_slots = calloc(FAST_PLACE_SLOTS, sizeof *f->place_slots);
    f->zone_slots = calloc(FAST_ZONE_SLOTS, sizeof *f->zone_slots);
    f->markers = calloc(FAST_MARKERS, sizeof *f->markers);
    if (!f->place_slots || !f->zone_slots || !f->markers) {
        dl_fast_free(f);
        return NULL;
    }
    forget(f);
    return f;
}

void dl_fast_free(struct dl_fast *f)
{
    if (!f) return;
    for (size_t i = 0; i < FAST_MAX_PLACES / FAST_PLACES_PER_BLOCK; i++)
        free(f->places[i]);
    for (size_t i = 0; i < FAST_MAX_ZONES / FAST_ZONES_PER_BLOCK; i++)
        free(f->zones[i]);
    free(f->place_slots);
    free(f->zone_slots);
    free(f->markers);
    free(f);
}

void dl_fast_header(struct dl_fast *f, const dl_header *header)
{
    if (!f) return;
    const dl_columns *c = &header->columns;
    /* The end of a line, too, was learned as what these columns made of it. */
    if (!f->usable || memcmp(&f->columns, c, sizeof *c) != 0) forget(f);
    f->columns = *c;
    f->usable = false;
    f->n_ids = 0;
    if (header->state != DL_HEADER_GOOD) return;
    for (int k = DL_COL_CHIP; k <= DL_COL_TIME; k++)
        if (c->at[k] != k) return;
    f->named = c->named;
    f->n_cells = c->n_cells;
    f->meta = c->at[DL_COL_META] >= 0;
    if (!c->named) {
        f->usable = c->n_cells == 6;
    } else {
        int zone = c->at[DL_COL_ZONE];
        if (c->at[DL_COL_DATA] != 6 || zone < 7 || zone > 7 + (int)sizeof f->ids) return;
        for (int i = 7; i < zone; i++) {
            int k = DL_COL_RUN_ID;
            while (k <= DL_COL_TRACE_COUNTER && c->at[k] != i)
                k++;
            if (k > DL_COL_TRACE_COUNTER) return; /* a column that nobody knows */
            f->ids[f->n_ids++] = (uint8_t)k;
        }
        for (int k = DL_COL_RUN_ID; k <= DL_COL_TRACE_COUNTER; k++)
            if (c->at[k] > zone) return; /* the end of a line stands for its zone alone */
        for (int k = DL_COL_TYPE; k <= DL_COL_FILE; k++)
            if (c->at[k] >= 0 && c->at[k] < zone) return;
        if (f->meta && c->at[DL_COL_META] != c->n_cells - 1) return;
        f->zone_at = (uint8_t)zone;
        f->usable = true;
    }
}

const char *dl_fast_rows(dl_parser *p, const char *at, const char *end)
{
    struct dl_fast *f = p->fast;
    if (!f->usable || !f->n_places || (f->named ? !f->n_zones : !f->n_markers)) return at;
    return p->marks->n == p->marks->cap ? at : f->marks(p, at, end);
}

static const fast_place *learn_place(dl_parser *p, const char *line, const dl_cell *timer, const dl_row *row)
{
    struct dl_fast *f = p->fast;
    size_t len = (size_t)(timer->text - line);
    if (len > FAST_PLACE || f->n_places == FAST_MAX_PLACES) return NULL;
    uint64_t hash = fast_place_hash(line, len);
    uint32_t slot = (uint32_t)hash & (FAST_PLACE_SLOTS - 1);
    for (; f->place_slots[slot]; slot = (slot + 1) & (FAST_PLACE_SLOTS - 1)) {
        const fast_place *known = fast_place_at(f, f->place_slots[slot] - 1);
        if (known->hash == hash && known->len == len && memcmp(known->text, line, len) == 0) return known;
    }
    fast_place **block = &f->places[f->n_places / FAST_PLACES_PER_BLOCK];
    if (!*block) *block = aligned_alloc(64, FAST_PLACES_PER_BLOCK * sizeof **block);
    if (!*block) return NULL;
    fast_place *place = fast_place_at(f, f->n_places);
    memset(place, 0, sizeof *place);
    memcpy(place->text, line, len);
    place->len = (uint32_t)len;
    place->stream = row->stream;
    place->risc_name = p->tables->streams[row->stream].risc_name;
    place->hash = hash;
    place->risc = 0;
    while (place->risc < FAST_RISCS - 1 && f->riscs[place->risc] != place->risc_name && f->riscs[place->risc])
        place->risc++;
    f->riscs[place->risc] = place->risc_name;
    f->place_slots[slot] = ++f->n_places;
    if (!f->place) f->place = place;
    return place;
}

static void learn_zone(dl_parser *p, const fast_place *place, const char *line, size_t raw_n,
                       const dl_cell *cells, const dl_row *row, uint64_t code)
{
    struct dl_fast *f = p->fast;
    const char *timer = cells[DL_COL_TIMER_ID].text, *end = line + raw_n;
    const char *timer_end = (const char *)memchr(timer, ',', (size_t)(end - timer)) + 1;
    const char *before = cells[f->zone_at - 1].text + cells[f->zone_at - 1].len;
    const char *from = (const char *)memchr(before, ',', (size_t)(end - before)) + 1;
    bool meta_follows = f->meta && cells[f->n_cells - 1].len;
    if (meta_follows) end = cells[f->n_cells - 1].text;
    size_t len = (size_t)(end - from), timer_len = (size_t)(timer_end - timer);
    if (f->n_zones == FAST_MAX_ZONES || len > FAST_ZONE || timer_len > sizeof f->zone->timer) return;
    if (cells[DL_COL_TIMER_ID].len == 0 || end[-1] == ' ' || end[-1] == '\t') return;
    fast_zone **slot = &f->zone_slots[fast_zone_slot(row->timer_id, from)];
    int in_slot = 0;
    for (const fast_zone *z = *slot; z; z = z->same_slot, in_slot++)
        if (z->len == len && memcmp(z->text, from, len) == 0 && z->timer_len == timer_len &&
            memcmp(z->timer, timer, timer_len) == 0)
            return;
    if (in_slot == FAST_CHAIN) return;
    fast_zone **block = &f->zones[f->n_zones / FAST_ZONES_PER_BLOCK];
    if (!*block) *block = malloc(FAST_ZONES_PER_BLOCK * sizeof **block);
    if (!*block) return;
    fast_zone *z = &(*block)[f->n_zones++ % FAST_ZONES_PER_BLOCK];
    memset(z, 0, sizeof *z);
    memcpy(z->text, from, len);
    memcpy(z->timer, timer, timer_len);
    z->len = (uint32_t)len;
    z->timer_len = (uint32_t)timer_len;
    z->type = row->type;
    z->code = code;
    z->meta_follows = meta_follows;
    z->has_data =
        p->keep_data || row->type > DL_ROW_ZONE_END || p->tables->sites[row->site].role == DL_ROLE_DROPPED;
    z->same_slot = *slot;
    for (size_t i = 0; i < FAST_RISCS; i++)
        z->next[i] = z;
    if (f->zone) f->zone->next[place->risc] = z;
    f->zone = *slot = z;
}

static void learn_marker(dl_parser *p, const dl_cell *cells, const dl_row *row, uint64_t code)
{
    struct dl_fast *f = p->fast;
    if (p->tables->sites[row->site].role == DL_ROLE_DROPPED) return; /* its timer id says an amount */
    uint32_t risc_name = p->tables->streams[row->stream].risc_name;
    const char *from = cells[DL_COL_TIMER_ID].text, *to = cells[DL_COL_TIME].text;
    size_t len = (size_t)(to - from);
    if (len > 8 || cells[DL_COL_TIMER_ID].len == 0) return;
    fast_marker *m = &f->markers[fast_marker_slot(risc_name, row->timer_id)];
    /* Another marker may have been here: what pointed to it is checked before it is used. */
    if (!m->mask) m->next = m;
    m->mask = 0;
    memset(&m->mask, 0xFF, len);
    m->text = fast_load64(from) & m->mask;
    m->len = (uint32_t)len;
    m->risc_name = risc_name;
    m->code = code;
    if (!f->marker->next) f->marker->next = m;
    f->marker = m;
    f->n_markers++;
}

void dl_fast_learn(dl_parser *p, const char *line, size_t raw_n, const dl_cell *cells, size_t n_cells,
                   const dl_row *row, uint64_t code)
{
    struct dl_fast *f = p->fast;
    if (!f || !f->usable || n_cells != f->n_cells) return;
    if (f->meta && fast_tells_counter(cells[n_cells - 1].text, cells[n_cells - 1].len)) return;
    if (row->timer_id == DL_COUNTER_TIMER && row->op) return; /* what it counts is in its data */
    const fast_place *place = learn_place(p, line, &cells[DL_COL_TIMER_ID], row);
    if (!place) return;
    if (f->named)
        learn_zone(p, place, line, raw_n, cells, row, code);
    else
        learn_marker(p, cells, row, code);
}
