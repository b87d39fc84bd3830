/* One look at the records of a RISC and launch: how many there are of each code, by which they are priced, and whether all
 * are such that no mark need be made of any. Not for what codes mean. */
#include <string.h>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "decode/capture/raw_marks.h"

/* A kernel may take so many cycles: every stamp is then the kernel's start and 32 bits. */
#define MOST_CYCLES ((UINT64_C(1) << 32) - (UINT64_C(1) << 28))
#define STAMP       ((UINT64_C(1) << 52) - 1)

static __attribute__((noinline)) void meet(dl_price_counts *c, uint32_t code)
{
    c->seen[code / 64] |= UINT64_C(1) << code % 64;
    c->codes[c->n_codes++] = (uint16_t)code;
}

/* Counts begin at -1 while they are made, so that the first one of a code is told by a flag of the addition. */
static inline void count(dl_price_counts *c, uint32_t code)
{
    if (++c->n[code] == 0) meet(c, code);
}

static void begin(dl_price_counts *c)
{
    if (!c->used) memset(c->n, 0xFF, sizeof c->n);
    c->used = true;
    for (uint32_t i = 0; i < c->n_codes; i++)
        c->n[c->codes[i]] = UINT32_MAX;
    memset(c->seen, 0, sizeof c->seen);
    c->n_codes = 0;
    c->others = false;
}

static void end(raw_look *look)
{
    dl_price_counts *c = &look->counts;
    for (uint32_t i = 0; i < look->n_taken; i++) {
        raw_quad *q = &look->quads[look->taken[i]];
        for (int k = 0; k < 64; k += 16)
            c->n[q->codes >> k & 0xFFF] += q->n;
        *q = (raw_quad){0};
    }
    look->n_taken = 0;
    for (uint32_t i = 0; i < c->n_codes; i++)
        c->n[c->codes[i]]++;
}

/* Four codes that are not those at their place: counted one by one, for the first time or always. */
static __attribute__((noinline)) void meet_quad(raw_look *look, uint32_t place, uint64_t codes)
{
    for (int k = 0; k < 64; k += 16)
        count(&look->counts, codes >> k & 0xFFF);
    if (look->quads[place].codes) return;
    look->quads[place].codes = codes;
    look->taken[look->n_taken++] = (uint8_t)place;
}

static inline void count_quad(raw_look *look, uint64_t codes)
{
    const uint32_t place = (uint32_t)(codes * UINT64_C(0x9E3779B97F4A7C15) >> (64 - RAW_QUAD_BITS));
    if (look->quads[place].codes == codes)
        look->quads[place].n++;
    else
        meet_quad(look, place, codes);
}

#if defined(__x86_64__)

/* As look_at_zones, eight at a time, and none that are fewer. */
__attribute__((target("avx2"))) static uint32_t look_at_eights(raw_look *look, const uint32_t *w, uint32_t n,
                                                               uint64_t last)
{
    const __m256i signs = _mm256_set1_epi32((int)(UINT32_C(1) << 31));
    const __m256i high = _mm256_set1_epi32((int)(uint32_t)(last >> 32 << 12));
    const __m256i least = _mm256_set1_epi32(DEVLOG_CODE_ZONE - 1),
                  most = _mm256_set1_epi32(DEVLOG_CODE_COMPLETE - 1);
    const __m256i window = _mm256_xor_si256(_mm256_set1_epi32(RECORD_TORN_WINDOW), signs);
    const __m256i before_each = _mm256_setr_epi32(7, 0, 1, 2, 3, 4, 5, 6);
    __m256i before = _mm256_xor_si256(_mm256_set1_epi32((int)(uint32_t)last), signs);
    uint32_t done = 0;
    for (; done + 16 <= n; done += 16) {
        const __m256 a = _mm256_loadu_ps((const float *)(const void *)(w + done));
        const __m256 b = _mm256_loadu_ps((const float *)(const void *)(w + done + 8));
        /* Two of a, two of b, two of a, two of b: in order afterwards. */
        const __m256i firsts = _mm256_castps_si256(_mm256_shuffle_ps(a, b, 0x88));
        const __m256i seconds = _mm256_castps_si256(_mm256_shuffle_ps(a, b, 0xDD));
        const __m256i codes = _mm256_xor_si256(_mm256_permute4x64_epi64(firsts, 0xD8), high);
        const __m256i lows = _mm256_xor_si256(_mm256_permute4x64_epi64(seconds, 0xD8), signs);
        const __m256i turned = _mm256_permutevar8x32_epi32(lows, before_each);
        const __m256i moved = _mm256_blend_epi32(turned, before, 1);
        __m256i bad = _mm256_or_si256(_mm256_cmpgt_epi32(moved, lows), _mm256_cmpgt_epi32(window, lows));
        bad = _mm256_or_si256(bad, _mm256_cmpgt_epi32(codes, most));
        bad = _mm256_andnot_si256(bad, _mm256_cmpgt_epi32(codes, least));
        if ((uint32_t)_mm256_movemask_epi8(bad) != UINT32_MAX) break;
        before = turned;
        const __m256i narrow = _mm256_packs_epi32(codes, codes);
        count_quad(look, (uint64_t)_mm256_extract_epi64(narrow, 0));
        count_quad(look, (uint64_t)_mm256_extract_epi64(narrow, 2));
    }
    return done;
}

static inline bool takes_eights(uint32_t n)
{
    return n >= 32 && __builtin_cpu_supports("avx2");
}

#endif

/* Records of zones in order of time, behind one with the stamp `last`, four at a time, as many as there are one after the
 * other; returns their words. */
static inline uint32_t look_at_zones(raw_look *look, const uint32_t *w, uint32_t n, uint64_t last)
{
    uint32_t done = 0;
#if defined(__x86_64__)
    if (look->in_a_row >= 48 && takes_eights(n)) done = look_at_eights(look, w, n, last);
    const __m128i signs = _mm_set1_epi32((int)(UINT32_C(1) << 31));
    const __m128i high = _mm_set1_epi32((int)(uint32_t)(last >> 32 << 12));
    const __m128i least = _mm_set1_epi32(DEVLOG_CODE_ZONE - 1),
                  most = _mm_set1_epi32(DEVLOG_CODE_COMPLETE - 1);
    const __m128i window = _mm_xor_si128(_mm_set1_epi32(RECORD_TORN_WINDOW), signs);
    const uint32_t behind = done ? w[done - 1] : (uint32_t)last;
    __m128i before = _mm_xor_si128(_mm_set1_epi32((int)behind), signs);
    for (; done + 8 <= n; done += 8) {
        const __m128 a = _mm_loadu_ps((const float *)(const void *)(w + done));
        const __m128 b = _mm_loadu_ps((const float *)(const void *)(w + done + 4));
        const __m128i codes = _mm_xor_si128(_mm_castps_si128(_mm_shuffle_ps(a, b, 0x88)), high);
        const __m128i lows = _mm_xor_si128(_mm_castps_si128(_mm_shuffle_ps(a, b, 0xDD)), signs);
        /* The low half before each of them. */
        const __m128i moved = _mm_or_si128(_mm_slli_si128(lows, 4), _mm_srli_si128(before, 12));
        __m128i bad = _mm_or_si128(_mm_cmpgt_epi32(moved, lows), _mm_cmpgt_epi32(window, lows));
        bad = _mm_or_si128(bad, _mm_cmpgt_epi32(codes, most));
        bad = _mm_andnot_si128(bad, _mm_cmpgt_epi32(codes, least));
        const uint32_t good = (uint32_t)_mm_movemask_epi8(bad);
        if (good != 0xFFFF) {
            for (uint32_t left = good; left & 1; left >>= 4, done += 2)
                count(&look->counts, w[done] & 0xFFF);
            break;
        }
        before = lows;
        count_quad(look, (uint64_t)_mm_cvtsi128_si64(_mm_packs_epi32(codes, codes)));
    }
    look->in_a_row = done; /* a few are not worth the beginning of the above */
#else
    (void)look, (void)w, (void)n, (void)last;
#endif
    return done;
}

static inline bool is_zone(uint32_t code)
{
    return code - DEVLOG_CODE_ZONE < DEVLOG_CODE_COMPLETE - DEVLOG_CODE_ZONE;
}

/* Looks at the records of a span; returns whether they are ordinary. */
static bool look_at_span(const record_input *in, uint32_t number, raw_look *look)
{
    /* By the upper four bits of a narrow code: words. What is not as long everywhere is 0. */
    static const uint8_t words_of[16] = {2, 2, 2, 2, 2, 2, 2, 2, 3, 3, 3, 3, 2, 2, 3, 0};
    const record_span *span = &in->spans[number];
    const uint64_t top = in->from & ~STAMP;
    const uint32_t *w = span->words, *const stop = w + span->n;
    dl_price_counts *const c = &look->counts;
    uint64_t last = look->last;
    uint32_t n = 0, completes = 0;
    bool ordinary = true;
    while (stop - w >= 2) {
        uint32_t code = w[0] & 0xFFF;
        const bool zones_follow = stop - w >= 8 && is_zone(code) && is_zone(w[2] & 0xFFF);
        if (zones_follow) {
            const uint32_t zones = look_at_zones(look, w, (uint32_t)(stop - w), last);
            w += zones;
            n += zones / 2;
            if (zones) last = (last & ~(uint64_t)UINT32_MAX) | w[-1];
            if (stop - w < 2) break;
            code = w[0] & 0xFFF;
        }
        if (w[0] == 0 && in->padded && number == 0) {
            const uint32_t padding = record_padding(span, (uint32_t)(w - span->words));
            w += padding;
            if (padding) continue;
        }
        uint32_t words = words_of[code >> 8];
        count(c, code);
        if (!words) {
            words = record_words(w, (uint32_t)(stop - w));
            c->others |= code >= DEVLOG_CODE_SPECIAL;
        }
        const uint64_t time = top | record_stamp(w), before = last;
        last = time;
        n++;
        if (!words || words > stop - w || time < before || w[1] < RECORD_TORN_WINDOW) {
            ordinary = false;
            words = words && words <= stop - w ? words : words ? (uint32_t)(stop - w) : 1;
        } else if (code >= DEVLOG_CODE_COMPLETE && code < DEVLOG_CODE_EVENT) {
            completes++;
            if (w[1] - w[2] > time - before) ordinary = false; /* around other records */
        }
        w += words;
    }
    look->last = last;
    look->n += n;
    look->marks += n + completes;
    return ordinary && w == stop;
}

/* ---- Planes ------------------------------------------------------------------------------------------------ */

static inline uint64_t four(const uint16_t *p)
{
    uint64_t four;
    memcpy(&four, p, sizeof four);
    return four;
}

/* Records of zones whose stamps have the upper half of the one before, as many as there are one after the other; returns how
 * many. *cycles: what they are behind the one before. */
static inline uint32_t look_at_near(raw_look *look, const uint16_t *heads, const uint16_t *lows,
                                    uint32_t words, uint64_t *cycles)
{
    enum { MOST = 1 << 16 }; /* of which sums have 32 bits */
    const uint64_t ones = UINT64_C(0x0001000100010001), low_of_each = UINT64_C(0x0000FFFF0000FFFF);
    uint64_t sums = 0; /* two of them */
    const uint32_t most = words / 2 < MOST ? words / 2 : MOST, fours = look->in_a_row >= 48 ? most & ~3u : 0;
    uint32_t n = 0;
    for (; n < fours; n += 4) {
        const uint64_t codes = four(heads + n), more = four(lows + n), none = ~more;
        if (codes & ones * (RECORD_FAR | DEVLOG_CODE_COMPLETE)) break;
        if ((none - ones) & more & ones << 15) break; /* one of them is RECORD_LONG */
        sums += (more & low_of_each) + (more >> 16 & low_of_each);
        count_quad(look, codes);
    }
    uint64_t sum = (uint32_t)sums + (sums >> 32);
    uint32_t *const counts = look->counts.n;
    const uint16_t *head = heads + n, *low = lows + n, *const end = heads + most;
    for (; head < end; head++, low++) {
        const uint32_t code = *head, more = *low;
        if (code & (RECORD_FAR | DEVLOG_CODE_COMPLETE) || more == RECORD_LONG) break;
        sum += more;
        if (++counts[code] == 0) meet(&look->counts, code);
    }
    n = (uint32_t)(head - heads);
    look->in_a_row = 2 * n;
    *cycles = sum;
    return n;
}

/* Looks at the records of a span, which begin at *place; returns whether they are ordinary. */
static bool look_at_planes(const record_input *in, uint32_t number, raw_place *place, raw_look *look)
{
    static const uint8_t words_of[16] = {2, 2, 2, 2, 2, 2, 2, 2, 3, 3, 3, 3, 2, 2, 3, 4};
    const uint64_t top = in->from & ~STAMP;
    raw_place at = *place;
    uint32_t left = in->spans[number].n, completes = 0;
    uint64_t last = look->last;
    bool ordinary = true;
    while (left) {
        const uint32_t code = *at.heads & 0xFFF, words = words_of[code >> 8];
        if (words > left) break;
        if (*at.heads & RECORD_FAR) at.high = *at.rest++ & 0xFFFFF;
        uint32_t more = *at.lows;
        if (more == RECORD_LONG) more = *at.rest++;
        at.last += more;
        count(&look->counts, code);
        const uint64_t high = (at.high + (code >> 11)) & 0xFFFFF; /* a negative code borrowed */
        const uint64_t time = top | high << 32 | at.last, before = last;
        if (time < before || at.last < RECORD_TORN_WINDOW) ordinary = false;
        if (code >= DEVLOG_CODE_COMPLETE && code < DEVLOG_CODE_EVENT) {
            completes++;
            if (*at.rest > time - before) ordinary = false; /* around other records */
        }
        last = time;
        at.heads++;
        at.lows++;
        at.rest += words - 2;
        left -= words;
        if (left < 4 || (at.heads[0] | at.heads[1]) & (RECORD_FAR | DEVLOG_CODE_COMPLETE) || high != at.high)
            continue;
        uint64_t cycles;
        const uint32_t zones = look_at_near(look, at.heads, at.lows, left, &cycles);
        ordinary &= (last ^ (last + cycles)) >> 32 == 0;
        last += cycles;
        at.last += (uint32_t)cycles;
        at.heads += zones;
        at.lows += zones;
        left -= 2 * zones;
    }
    const uint32_t n = (uint32_t)(at.heads - place->heads);
    look->planes[number] = (record_planes){place->heads, place->lows, place->rest, n, place->last};
    at.lost = left != 0;
    *place = at;
    look->last = last;
    look->n += n;
    look->marks += n + completes;
    return ordinary && !left;
}

static void begin_look(const record_input *records, raw_look *look)
{
    begin(&look->counts);
    look->shape = look->counted = NULL;
    look->n = look->marks = 0;
    look->last = records->from;
}

static void end_look(const record_input *records, raw_look *look, bool ordinary)
{
    look->ordinary = ordinary && records->until >= look->last &&
                     records->until - records->from < MOST_CYCLES &&
                     ((records->until ^ records->from) & ~STAMP) == 0;
}

void raw_look_at(const record_input *records, raw_look *look)
{
    bool ordinary = true;
    begin_look(records, look);
    for (uint32_t i = 0; i < records->n_spans; i++)
        ordinary &= look_at_span(records, i, look);
    end(look);
    end_look(records, look, ordinary);
}

/* Whether they have a shape; then there is nothing else to look at. False also when they are not ordinary. */
static bool look_at_shape(const record_input *in, raw_place *place, const record_shape *shape, raw_look *look)
{
    dl_price_counts *c = &look->counts;
    raw_place at = *place;
    const uint32_t n = in->spans[0].n / 2;
    if (!shape || shape->n != n || in->spans[0].n % 2) return false;
    if (*at.heads & RECORD_FAR) at.high = *at.rest++ & 0xFFFFF;
    at.last += *at.lows == RECORD_LONG ? *at.rest++ : *at.lows;
    const uint64_t first = (in->from & ~STAMP) | (uint64_t)at.high << 32 | at.last;
    uint64_t cycles = 0;
    if (first < in->from || at.last < RECORD_TORN_WINDOW ||
        !raw_shape_fits(&look->shapes, shape, at.heads, at.lows, n, at.last, &cycles) ||
        (first ^ (first + cycles)) >> 32)
        return false;
    if (look->counted != shape) begin(c);
    for (uint32_t i = 0; i < shape->n_codes && look->counted != shape; i++) {
        c->codes[c->n_codes++] = shape->codes[i];
        c->n[shape->codes[i]] = shape->counts[i];
        c->seen[shape->codes[i] / 64] |= UINT64_C(1) << shape->codes[i] % 64;
    }
    look->shape = look->counted = shape;
    look->planes[0] = (record_planes){place->heads, place->lows, place->rest, n, place->last};
    look->n = look->marks = n;
    look->last = first + cycles;
    at.last += (uint32_t)cycles;
    at.heads += n;
    at.lows += n;
    *place = at;
    return true;
}

/* Looks at the one span of a RISC by the shapes that it may have; false: it has another one. */
static bool look_at_known(const record_input *in, raw_place *place, raw_known *known, raw_look *look)
{
    record_shape *last = known->shape;
    if (!last || in->n_spans != 1 || place->lost) return false;
    if (look_at_shape(in, place, last, look)) return true;
    if (!look_at_shape(in, place, last->then, look)) return false;
    known->shape = last->then;
    return true;
}

/* Remembers the shape of records that had none. */
static void learn_shape(const record_input *in, const raw_place *place, raw_known *known, raw_look *look)
{
    if (!look->ordinary || in->n_spans != 1) return;
    for (uint32_t i = 0; i < look->counts.n_codes; i++)
        if (look->counts.codes[i] >= DEVLOG_CODE_COMPLETE) return;
    /* Of the first both may be elsewhere. */
    const record_planes *p = &look->planes[0];
    if (place->rest - p->rest != (*p->heads / RECORD_FAR) + (*p->lows == RECORD_LONG)) return;
    record_shape *shape = raw_shape_of(&look->shapes, p->heads, p->n, &look->counts);
    if (!shape) return;
    if (known->shape) known->shape->then = shape;
    known->shape = shape;
}

void raw_look_free(raw_look *look)
{
    raw_shapes_free(&look->shapes);
}

void raw_look_at_planes(const record_input *records, raw_place *place, raw_known *known, raw_look *look)
{
    bool ordinary = true;
    if (look_at_known(records, place, known, look)) {
        end_look(records, look, true);
        return;
    }
    begin_look(records, look);
    if (records->n_spans > RAW_SPANS) place->lost = true;
    for (uint32_t i = 0; i < records->n_spans && !place->lost; i++)
        ordinary &= look_at_planes(records, i, place, look);
    end(look);
    end_look(records, look, ordinary && !place->lost);
    learn_shape(records, place, known, look);
}
