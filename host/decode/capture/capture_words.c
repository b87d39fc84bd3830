/* The words of a core as a frame stores them. See capture_words.h. */
#include "decode/capture/capture_words.h"

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#include "decode/recorded.h"
#include "devlog/record.h"

static void put32(uint8_t *to, uint32_t value)
{
    for (int i = 0; i < 4; i++)
        to[i] = (uint8_t)(value >> (8 * i));
}

static uint32_t get32(const uint8_t *p)
{
    return p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

enum { FAR = RECORD_FAR, LONG = RECORD_LONG };

static uint8_t *planes16(const uint16_t *values, size_t n, uint8_t *out)
{
    for (size_t i = 0; i < n; i++) {
        out[i] = (uint8_t)values[i];
        out[n + i] = (uint8_t)(values[i] >> 8);
    }
    return out + 2 * n;
}

static uint8_t *planes32(const uint32_t *values, size_t n, uint8_t *out)
{
    for (int plane = 0; plane < 4; plane++, out += n)
        for (size_t i = 0; i < n; i++)
            out[i] = (uint8_t)(values[i] >> (8 * plane));
    return out;
}

static const uint8_t *unite16(const uint8_t *restrict p, size_t n, uint16_t *restrict values)
{
    const uint8_t *restrict high = p + n;
    for (size_t i = 0; i < n; i++)
        values[i] = (uint16_t)(p[i] | high[i] << 8);
    return p + 2 * n;
}

static void unite32(const uint8_t *restrict p, size_t n, uint32_t *restrict values)
{
    const uint8_t *restrict b = p + n, *restrict c = p + 2 * n, *restrict d = p + 3 * n;
    for (size_t i = 0; i < n; i++)
        values[i] = p[i] | (uint32_t)b[i] << 8 | (uint32_t)c[i] << 16 | (uint32_t)d[i] << 24;
}

/* Words of a record with this code. `third` is its third word, where there is one. Part of the format: what
 * is no record has a length as well. */
static uint32_t length(uint32_t code, uint32_t third)
{
    static const uint8_t of_wide[16] = {[DEVLOG_KIND_COMPLETE] = 1,
                                        [DEVLOG_KIND_VALUE32] = 1,
                                        [DEVLOG_KIND_VALUE64] = 2,
                                        [DEVLOG_KIND_COUNTER] = 1};
    if (code < DEVLOG_CODE_ZONE) return 1;
    if (code < DEVLOG_CODE_COMPLETE) return 2;
    if (code < DEVLOG_CODE_EVENT) return 3;
    if (code < DEVLOG_CODE_VALUE32) return 2;
    if (code < DEVLOG_CODE_VALUE64) return 3;
    if (code < DEVLOG_CODE_PRINT) return 4;
    if (code < DEVLOG_CODE_SPECIAL) return 3 + (third <= DEVLOG_PRINT_MAX_ARGS ? third : 0);
    switch (code) {
    case DEVLOG_CODE_WIDE: return 3u + of_wide[third >> 28];
    case DEVLOG_CODE_SUM: return 8;
    case DEVLOG_CODE_STALL: return 3;
    default: return 1;
    }
}

static bool is_complete(uint32_t code)
{
    return code >= DEVLOG_CODE_COMPLETE && code < DEVLOG_CODE_EVENT;
}

size_t dl_words_split(const uint32_t *words, size_t n, uint8_t *out, uint32_t *room)
{
    uint16_t *heads = (uint16_t *)room, *lows = heads + n;
    uint32_t *rest = room + n, last = 0, high = 0;
    size_t n_heads = 0, n_lows = 0, n_rest = 0;
    for (size_t at = 0; at < n;) {
        uint32_t code = words[at] & 0xFFF;
        size_t left = n - at, size = length(code, left > 2 ? words[at + 2] : 0);
        if (size > left) size = left;
        bool far = words[at] >> 12 != high;
        heads[n_heads++] = (uint16_t)(code | (far ? FAR : 0));
        if (far) rest[n_rest++] = high = words[at] >> 12;
        if (size > 1) {
            uint32_t more = words[at + 1] - last;
            last = words[at + 1];
            lows[n_lows++] = (uint16_t)(more < LONG ? more : LONG);
            if (more >= LONG) rest[n_rest++] = more;
        }
        for (size_t i = 2; i < size; i++)
            rest[n_rest++] = is_complete(code) ? last - words[at + i] : words[at + i];
        at += size;
    }
    put32(out, (uint32_t)n);
    put32(out + 4, (uint32_t)n_heads);
    put32(out + 8, (uint32_t)n_lows);
    put32(out + 12, (uint32_t)n_rest);
    uint8_t *to = planes16(heads, n_heads, out + DL_WORDS_HEADER_BYTES);
    to = planes16(lows, n_lows, to);
    to = planes32(rest, n_rest, to);
    return (size_t)(to - out);
}

size_t dl_words_count(const uint8_t *bytes, size_t size)
{
    if (size < DL_WORDS_HEADER_BYTES) return SIZE_MAX;
    uint64_t n = get32(bytes), heads = get32(bytes + 4), lows = get32(bytes + 8), rest = get32(bytes + 12);
    if (heads > n || lows > heads || rest > n || n > heads + lows + rest) return SIZE_MAX;
    return 2 * (heads + lows) + 4 * rest == size - DL_WORDS_HEADER_BYTES ? (size_t)n : SIZE_MAX;
}

/* Records of zones near to the one before, four at a time, as many as there are one after the other; returns
 * how many. */
static size_t join_zones(const uint16_t *heads, const uint16_t *lows, size_t n, uint32_t high, uint32_t *last,
                         uint32_t *to)
{
    size_t done = 0;
#if defined(__SSE2__)
    const __m128i zero = _mm_setzero_si128(), ones = _mm_set1_epi16(-1);
    const __m128i first = _mm_set1_epi16(DEVLOG_CODE_ZONE);
    const __m128i most = _mm_set1_epi16(DEVLOG_CODE_COMPLETE - DEVLOG_CODE_ZONE - 1);
    const __m128i above = _mm_set1_epi32((int)high);
    __m128i sum = _mm_set1_epi32((int)*last);
    for (; done + 4 <= n; done += 4) {
        const __m128i codes = _mm_loadl_epi64((const __m128i *)(const void *)(heads + done));
        const __m128i more = _mm_loadl_epi64((const __m128i *)(const void *)(lows + done));
        const __m128i beyond = _mm_subs_epu16(_mm_sub_epi16(codes, first), most);
        const __m128i good = _mm_andnot_si128(_mm_cmpeq_epi16(more, ones), _mm_cmpeq_epi16(beyond, zero));
        if ((_mm_movemask_epi8(good) & 0xFF) != 0xFF) break;
        __m128i low = _mm_unpacklo_epi16(more, zero);
        low = _mm_add_epi32(low, _mm_slli_si128(low, 4));
        low = _mm_add_epi32(_mm_add_epi32(low, _mm_slli_si128(low, 8)), sum);
        const __m128i word = _mm_or_si128(_mm_unpacklo_epi16(codes, zero), above);
        _mm_storeu_si128((__m128i *)(void *)(to + 2 * done), _mm_unpacklo_epi32(word, low));
        _mm_storeu_si128((__m128i *)(void *)(to + 2 * done + 4), _mm_unpackhi_epi32(word, low));
        sum = _mm_shuffle_epi32(low, 0xFF);
    }
    *last = (uint32_t)_mm_cvtsi128_si32(sum);
#else
    (void)heads, (void)lows, (void)n, (void)high, (void)last, (void)to;
#endif
    return done;
}

static size_t words_for16(size_t n)
{
    return (n + 1) / 2;
}

size_t dl_words_planes_room(const uint8_t *bytes)
{
    return words_for16(get32(bytes + 4)) + words_for16(get32(bytes + 8)) + get32(bytes + 12);
}

dl_word_planes dl_words_planes_at(dl_word_planes p, uint32_t *room)
{
    p.heads = (uint16_t *)room;
    p.lows = (uint16_t *)(room + words_for16(p.n_heads));
    p.rest = room + words_for16(p.n_heads) + words_for16(p.n_lows);
    return p;
}

dl_word_planes dl_words_unite(const uint8_t *bytes, uint32_t *room)
{
    dl_word_planes p = {.n_heads = get32(bytes + 4), .n_lows = get32(bytes + 8), .n_rest = get32(bytes + 12)};
    p = dl_words_planes_at(p, room);
    const uint8_t *from = unite16(bytes + DL_WORDS_HEADER_BYTES, p.n_heads, p.heads);
    unite32(unite16(from, p.n_lows, p.lows), p.n_rest, p.rest);
    return p;
}

bool dl_words_are_plain(const dl_word_planes *p, size_t n)
{
    enum { SOME = 4096 }; /* of which sums have 16 bits */
    const int16_t first = DEVLOG_CODE_ZONE, complete = DEVLOG_CODE_COMPLETE, event = DEVLOG_CODE_EVENT,
                  value = DEVLOG_CODE_VALUE32, longer = DEVLOG_CODE_VALUE64, end_of = DEVLOG_CODE_PRINT;
    if (p->n_lows != p->n_heads) return false;
    size_t more = 0, elsewhere = 0; /* words beyond two; what of heads and low halves is in the rest */
    for (size_t i = 0; i < p->n_heads;) {
        const size_t end = p->n_heads - i < SOME ? p->n_heads : i + SOME;
        uint16_t bad = 0, third = 0, apart = 0;
        for (; i < end; i++) {
            const int16_t code = (int16_t)(p->heads[i] & ~FAR);
            bad |= (uint16_t)((code < first) | (code >= end_of));
            third = (uint16_t)(third + ((code >= complete) & (code < event)) + (code >= value) +
                               (code >= longer));
            apart = (uint16_t)(apart + (p->heads[i] >> 15) + (p->lows[i] == LONG));
        }
        if (bad) return false;
        more += third;
        elsewhere += apart;
    }
    return 2 * p->n_heads + more == n && more + elsewhere == p->n_rest;
}

bool dl_words_join(const uint8_t *bytes, uint32_t *words, size_t n, uint32_t *room)
{
    if (n == 0) return true;
    const dl_word_planes p = dl_words_unite(bytes, room);
    return dl_words_of_planes(&p, words, n);
}

bool dl_words_of_planes(const dl_word_planes *p, uint32_t *words, size_t n)
{
    const uint16_t *head = p->heads,
                   *low = p->lows, *const heads_end = head + p->n_heads, *const lows_end = low + p->n_lows;
    const uint32_t *rest = p->rest, *const rest_end = rest + p->n_rest;
    uint32_t last = 0, high = 0, *to = words, *const end = words + n;
    while (to < end) {
        if (head == heads_end) return false;
        size_t most = (size_t)(end - to) / 2;
        if (most > (size_t)(heads_end - head)) most = (size_t)(heads_end - head);
        if (most > (size_t)(lows_end - low)) most = (size_t)(lows_end - low);
        size_t zones = join_zones(head, low, most, high, &last, to);
        head += zones;
        low += zones;
        to += 2 * zones;
        if (zones) continue;
        uint32_t code = *head++;
        /* A zone's, not far from the one before: nearly always. */
        if (code - DEVLOG_CODE_ZONE < DEVLOG_CODE_COMPLETE - DEVLOG_CODE_ZONE && low < lows_end &&
            *low != LONG && end - to >= 2) {
            *to++ = high | code;
            *to++ = last += *low++;
            continue;
        }
        if (code & FAR) {
            if (rest == rest_end) return false;
            high = *rest++ << 12;
        }
        code &= 0xFFF;
        *to++ = high | code;
        /* The third word is behind the difference of the low half, where that is in the rest. */
        size_t third = low < lows_end && *low == LONG;
        size_t size = length(code, (size_t)(rest_end - rest) > third ? rest[third] : 0);
        if (size > (size_t)(end - to) + 1) size = (size_t)(end - to) + 1;
        if (size == 1) continue;
        if (low == lows_end) return false;
        uint32_t more = *low++;
        if (more == LONG) {
            if (rest == rest_end) return false;
            more = *rest++;
        }
        *to++ = last += more;
        if (size == 2) continue;
        if (size - 2 > (size_t)(rest_end - rest)) return false;
        for (size_t i = 2; i < size; i++, rest++)
            *to++ = is_complete(code) ? last - *rest : *rest;
    }
    return true;
}
