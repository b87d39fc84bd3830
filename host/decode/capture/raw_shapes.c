/* Shapes of records: a kernel that does the same again leaves records with the same codes, whose zones are known then. Not for
 * what is no zone, nor for records of more than one span. */
#include <stdlib.h>
#include <string.h>

#include <xxhash.h>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#include "decode/capture/raw_marks.h"

enum {
    LEAST = 32,                    /* records; fewer are not worth it */
    MOST = 1 << 16,                /* their places have 16 bits */
    MOST_BYTES = 16 * 1024 * 1024, /* of all shapes */
    MOST_DEPTH = 64,
};

/* Stamps of records that are near to the one before each; returns whether all were, and *cycles that of the last behind `first`,
 * which has its place. */
static bool add_up(const uint16_t *lows, uint32_t n, uint32_t first, uint32_t *stamps, uint64_t *cycles)
{
    uint64_t sum = 0;
    uint32_t i = 1;
    stamps[0] = first;
#if defined(__SSE2__)
    const __m128i zero = _mm_setzero_si128(), ones = _mm_set1_epi16(-1);
    __m128i far = zero, last = _mm_set1_epi32((int)first);
    for (; i + 8 <= n; i += 8) {
        const __m128i more = _mm_loadu_si128((const __m128i *)(const void *)(lows + i));
        far = _mm_or_si128(far, _mm_cmpeq_epi16(more, ones));
        __m128i a = _mm_unpacklo_epi16(more, zero), b = _mm_unpackhi_epi16(more, zero);
        a = _mm_add_epi32(a, _mm_slli_si128(a, 4));
        b = _mm_add_epi32(b, _mm_slli_si128(b, 4));
        a = _mm_add_epi32(_mm_add_epi32(a, _mm_slli_si128(a, 8)), last);
        b = _mm_add_epi32(_mm_add_epi32(b, _mm_slli_si128(b, 8)), _mm_shuffle_epi32(a, 0xFF));
        last = _mm_shuffle_epi32(b, 0xFF);
        _mm_storeu_si128((__m128i *)(void *)(stamps + i), a);
        _mm_storeu_si128((__m128i *)(void *)(stamps + i + 4), b);
    }
    if (_mm_movemask_epi8(far)) return false;
    sum = (uint32_t)_mm_cvtsi128_si32(last) - first; /* less than 2^32: there are less than 2^16 */
#endif
    for (; i < n; i++) {
        if (lows[i] == RECORD_LONG) return false;
        sum += lows[i];
        stamps[i] = first + (uint32_t)sum;
    }
    *cycles = sum;
    return true;
}

bool raw_shape_fits(raw_shapes *all, const record_shape *shape, const uint16_t *heads, const uint16_t *lows,
                    uint32_t n, uint32_t first, uint64_t *cycles)
{
    return shape && shape->n == n && (heads[0] & 0xFFF) == shape->heads[0] &&
           memcmp(heads + 1, shape->heads + 1, (n - 1) * sizeof *heads) == 0 &&
           add_up(lows, n, first, all->stamps, cycles);
}

/* What is found out about records before their shape is made. */
typedef struct finding {
    uint32_t group_of[DEVLOG_CODE_COMPLETE]; /* by code: 1 + its number */
    struct record_group groups[DEVLOG_CODE_COMPLETE];
    uint32_t at[DEVLOG_CODE_COMPLETE]; /* of the group's next zone */
    uint32_t n_groups, depth;
    bool uneven;
    struct record_zone zones[];
} finding;

/* Zones within one another, all of which end. */
static bool find_zones(const uint16_t *heads, uint32_t n, finding *f)
{
    uint32_t open[MOST_DEPTH], n_open = 0, n_zones = 0;
    for (uint32_t i = 0; i < n; i++) {
        const uint32_t code = heads[i] & 0xFFF;
        if (!(code & 1)) {
            if (n_open == MOST_DEPTH) return false;
            open[n_open++] = i;
            if (n_open > f->depth) f->depth = n_open;
            continue;
        }
        if (!n_open || (heads[open[n_open - 1]] & 0xFFF) != code - 1) return false;
        f->zones[n_zones++] = (struct record_zone){(uint16_t)open[--n_open], (uint16_t)i};
        const uint32_t around = n_open ? (heads[open[n_open - 1]] & 0xFFF) + 1 : 0;
        if (!f->group_of[code]) {
            f->groups[f->n_groups] = (struct record_group){code - 1, 0, around};
            f->group_of[code] = ++f->n_groups;
        }
        struct record_group *group = &f->groups[f->group_of[code] - 1];
        f->uneven |= group->around != around;
        group->n++;
    }
    for (uint32_t i = 0; i < f->n_groups; i++) { /* by its number, which is known when it has ended */
        struct record_group *group = &f->groups[i];
        group->around = group->around ? f->group_of[group->around] - 1 : f->n_groups;
    }
    return n_open == 0;
}

static record_shape *make(const uint16_t *heads, uint32_t n, const dl_price_counts *counts,
                          const finding *found, uint32_t *at)
{
    const uint32_t n_zones = n / 2;
    record_shape *s =
        malloc(sizeof *s + found->n_groups * sizeof *s->groups + counts->n_codes * sizeof *s->counts +
               n_zones * sizeof *s->zones + (n + counts->n_codes) * sizeof *s->heads);
    if (!s) return NULL;
    struct record_group *groups = (struct record_group *)(s + 1);
    uint32_t *how_many = (uint32_t *)(groups + found->n_groups);
    struct record_zone *zones = (struct record_zone *)(how_many + counts->n_codes);
    uint16_t *copy = (uint16_t *)(zones + n_zones), *codes = copy + n;
    for (uint32_t g = 0, before = 0; g < found->n_groups; g++) {
        groups[g] = found->groups[g];
        at[g] = before;
        before += groups[g].n;
    }
    for (uint32_t i = 0; i < n_zones; i++)
        zones[at[found->group_of[heads[found->zones[i].end] & 0xFFF] - 1]++] = found->zones[i];
    for (uint32_t i = 0; i < n; i++)
        copy[i] = heads[i] & 0xFFF;
    for (uint32_t i = 0; i < counts->n_codes; i++) {
        codes[i] = counts->codes[i];
        how_many[i] = counts->n[codes[i]];
    }
    *s = (record_shape){.n = n,
                        .n_codes = counts->n_codes,
                        .depth = found->depth,
                        .heads = copy,
                        .codes = codes,
                        .counts = how_many,
                        .zones = zones,
                        .groups = groups,
                        .n_groups = found->n_groups,
                        .uneven = found->uneven};
    return s;
}

/* Where there are stamps of so many. */
static bool make_room(raw_shapes *all, uint32_t n)
{
    if (n <= all->cap) return true;
    uint32_t *grown = malloc(n * sizeof *grown);
    if (!grown) return false;
    free(all->stamps);
    all->stamps = grown;
    all->cap = n;
    return true;
}

record_shape *raw_shape_of(raw_shapes *all, const uint16_t *heads, uint32_t n, const dl_price_counts *counts)
{
    const size_t bytes = (size_t)n * (sizeof *heads + sizeof(struct record_zone) / 2);
    if (n < LEAST || n >= MOST || n % 2) return NULL;
    const uint64_t hash = XXH64(heads + 1, (n - 1) * sizeof *heads, heads[0] & 0xFFF);
    record_shape **place = &all->all[hash % RAW_SHAPES];
    if (*place && (*place)->hash == hash && (*place)->n == n) return *place;
    if (*place || all->met[hash % RAW_SHAPES] != hash || all->bytes + bytes > MOST_BYTES) {
        all->met[hash % RAW_SHAPES] = hash;
        return NULL;
    }
    finding *found = calloc(1, sizeof *found + n / 2 * sizeof *found->zones);
    if (found && find_zones(heads, n, found) && make_room(all, n))
        *place = make(heads, n, counts, found, found->at);
    free(found);
    if (*place) {
        (*place)->hash = hash;
        all->bytes += bytes;
    }
    return *place;
}

void raw_shapes_free(raw_shapes *all)
{
    for (uint32_t i = 0; i < RAW_SHAPES; i++)
        free(all->all[i]);
    free(all->stamps);
}
