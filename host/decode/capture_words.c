/* The words of a core as a frame stores them. See capture_words.h. */
#include "decode/capture_words.h"

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

static void planes(const uint32_t *words, size_t n, uint8_t *out)
{
    for (int plane = 0; plane < 4; plane++, out += n)
        for (size_t i = 0; i < n; i++)
            out[i] = (uint8_t)(words[i] >> (8 * plane));
}

static void unite(const uint8_t *restrict p, size_t n, uint32_t *restrict words)
{
    const uint8_t *restrict a = p, *restrict b = p + n, *restrict c = p + 2 * n, *restrict d = p + 3 * n;
    for (size_t i = 0; i < n; i++)
        words[i] = a[i] | (uint32_t)b[i] << 8 | (uint32_t)c[i] << 16 | (uint32_t)d[i] << 24;
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

void dl_words_split(const uint32_t *words, size_t n, uint8_t *out, uint32_t *room)
{
    uint32_t *heads = room, *lows = room + n, *rest = room + 2 * n, last = 0;
    size_t n_heads = 0, n_lows = 0, n_rest = 0;
    for (size_t at = 0; at < n;) {
        uint32_t code = words[at] & 0xFFF;
        size_t left = n - at, size = length(code, left > 2 ? words[at + 2] : 0);
        if (size > left) size = left;
        heads[n_heads++] = words[at];
        if (size > 1) {
            lows[n_lows++] = words[at + 1] - last;
            last = words[at + 1];
        }
        for (size_t i = 2; i < size; i++)
            rest[n_rest++] = is_complete(code) ? last - words[at + i] : words[at + i];
        at += size;
    }
    put32(out, (uint32_t)n_heads);
    put32(out + 4, (uint32_t)n_lows);
    put32(out + 8, (uint32_t)n_rest);
    out += DL_WORDS_HEADER_BYTES;
    planes(heads, n_heads, out);
    planes(lows, n_lows, out + 4 * n_heads);
    planes(rest, n_rest, out + 4 * (n_heads + n_lows));
}

size_t dl_words_count(const uint8_t *bytes, size_t size)
{
    if (size < DL_WORDS_HEADER_BYTES) return SIZE_MAX;
    uint64_t n = (uint64_t)get32(bytes) + get32(bytes + 4) + get32(bytes + 8);
    return n == (size - DL_WORDS_HEADER_BYTES) / 4 && size % 4 == 0 ? (size_t)n : SIZE_MAX;
}

bool dl_words_join(const uint8_t *bytes, uint32_t *words, size_t n, uint32_t *room)
{
    size_t n_heads = get32(bytes), n_lows = get32(bytes + 4), n_rest = get32(bytes + 8);
    const uint8_t *from = bytes + DL_WORDS_HEADER_BYTES;
    if (n == 0) return true;
    const uint32_t *head = room, *low = room + n_heads, *rest = low + n_lows;
    const uint32_t *const heads_end = low, *const lows_end = rest, *const rest_end = rest + n_rest;
    uint32_t last = 0, *to = words, *const end = words + n;
    unite(from, n_heads, room);
    unite(from + 4 * n_heads, n_lows, room + n_heads);
    unite(from + 4 * (n_heads + n_lows), n_rest, room + n_heads + n_lows);
    while (to < end) {
        if (head == heads_end) return false;
        uint32_t code = *head & 0xFFF;
        if (code - DEVLOG_CODE_ZONE < DEVLOG_CODE_COMPLETE - DEVLOG_CODE_ZONE && low < lows_end) {
            *to++ = *head++;
            *to++ = last += *low++;
            continue;
        }
        size_t left = (size_t)(end - to), size = length(code, rest < rest_end ? *rest : 0);
        if (size > left) size = left;
        *to++ = *head++;
        if (size > 1) {
            if (low == lows_end) return false;
            *to++ = last += *low++;
        }
        if (size > 2 && size - 2 > (size_t)(rest_end - rest)) return false;
        for (size_t i = 2; i < size; i++, rest++)
            *to++ = is_complete(code) ? last - *rest : *rest;
    }
    return true;
}
