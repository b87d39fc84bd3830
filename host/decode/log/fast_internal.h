/* What the fast path remembers, and its arithmetic without vector instructions. Included by fast.c and
 * fast_body.h, and fast_new.c, only. */
#ifndef DEVLOG_DECODE_FAST_INTERNAL_H
#define DEVLOG_DECODE_FAST_INTERNAL_H

#include <string.h>

#include "base/digits.h"
#include "decode/log/fast.h"
#include "decode/log/number.h"
#include "decode/log/parser_internal.h"

/* Kept out of the loops, whose registers are scarce. */
#define FAST_COLD __attribute__((noinline, unused))

enum {
    FAST_PLACE = 32, /* bytes of a place's text at most */
    FAST_ZONE = 256, /* bytes of a zone's text at most */
    FAST_IDS = 32,   /* bytes of remembered ids at most */
    FAST_MAX_PLACES = DL_MAX_STREAMS > 1024 ? DL_MAX_STREAMS : 1024,
    FAST_MAX_ZONES = DL_MAX_SITES > 1024 ? DL_MAX_SITES : 1024,
    FAST_PLACE_SLOTS = 2 * FAST_MAX_PLACES,
    FAST_ZONE_SLOTS = FAST_MAX_ZONES / 4,
    FAST_PLACES_PER_BLOCK = 256,
    FAST_ZONES_PER_BLOCK = 64,
    FAST_MARKERS = 1024,
    FAST_CHAIN = 16, /* zones at most in one slot */
    FAST_DIGITS = 16,
    FAST_RISCS = 8,
};

/* The beginning of a line up to the timer id: "0,1,1,BRISC," or "0, 1, 1, BRISC, ". */
typedef struct fast_place {
    char text[FAST_PLACE];
    uint32_t len;
    uint32_t stream;
    uint32_t risc_name;
    uint32_t risc;           /* kind of RISC: index into fast_zone.next */
    struct fast_place *next; /* the place that came after this one last time */
    uint64_t hash;
} fast_place;

/* The timer id with its comma, and the end of a line from the zone name on: "BRISC-FW,ZONE_START,...\n". When
 * meta data follow, the text ends with the comma before them. */
typedef struct fast_zone {
    char timer[16]; /* "22845," or "2284 ," */
    uint32_t timer_len, len;
    struct fast_zone *next[FAST_RISCS]; /* what came after this one last time, by kind of RISC */
    char text[FAST_ZONE];
    struct fast_zone *same_slot; /* the next zone in its slot */
    uint64_t code;               /* of its marks: dl_mark_code */
    uint8_t type, meta_follows;
    uint8_t has_data; /* its data are wanted */
    uint8_t padding[5];
} fast_zone;

/* The launch ids of a line as text, up to the zone name: "1024,,,". */
typedef struct fast_ids {
    char text[FAST_IDS];
    uint32_t len;
    dl_ids ids;
} fast_ids;

/* Logs without zone names: a timer id on a kind of RISC, "1, ". */
typedef struct fast_marker {
    uint64_t text, mask; /* as fast_load64 gives them */
    uint32_t len;
    uint32_t risc_name;
    struct fast_marker *next; /* that came after this one last time */
    uint64_t code;            /* of its marks: dl_mark_code */
} fast_marker;

typedef const char *fast_function(dl_parser *p, const char *at, const char *end);

struct dl_fast {
    fast_function *marks;
    bool usable; /* the header's columns are in an order that writers use */
    dl_columns columns;
    bool named, meta; /* zones by name; the last column is meta data */
    uint8_t n_cells, zone_at;
    uint8_t n_ids, ids[8]; /* what the cells between data and zone name are: dl_column */
    uint32_t n_places, n_zones, n_markers;
    /* Of the mark before. */
    fast_place *place;
    fast_zone *zone;
    fast_marker *marker;
    uint32_t time_len;          /* digits of the stamp */
    uint32_t riscs[FAST_RISCS]; /* names of the kinds of RISC; the last one serves all others too */
    fast_ids last_ids;
    /* In blocks, which are made when they are needed and do not move. */
    fast_place *places[FAST_MAX_PLACES / FAST_PLACES_PER_BLOCK];
    fast_zone *zones[FAST_MAX_ZONES / FAST_ZONES_PER_BLOCK];
    fast_marker *markers;   /* hash table by RISC and timer id; mask 0: free */
    uint32_t *place_slots;  /* hash table: number + 1 */
    fast_zone **zone_slots; /* the first in each chain */
};

static inline uint64_t fast_load64(const char *at)
{
    uint64_t word;
    memcpy(&word, at, sizeof word);
    return word;
}

/* As fast_load64, with the first byte in the lowest bits on every machine. */
static inline uint64_t fast_load64_little(const char *at)
{
    uint64_t word = fast_load64(at);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    word = __builtin_bswap64(word);
#endif
    return word;
}

/* The first n bytes of a word as loaded, the others cleared; n <= 8. */
static inline uint64_t fast_first_bytes(const char *at, size_t n)
{
    uint64_t word = fast_load64_little(at);
    return n >= 8 ? word : word & ((UINT64_C(1) << (8 * n)) - 1);
}

/* Where marks go: behind those that are there, from this line on. */
typedef struct fast_output {
    dl_mark *marks;
    uint32_t room, line;
} fast_output;

static inline fast_output fast_begin(const dl_parser *p)
{
    const dl_marks *m = p->marks;
    return (fast_output){m->items + m->n, m->cap - m->n, (uint32_t)p->line + 1};
}

/* n of them have been made. */
static inline void fast_end(dl_parser *p, uint32_t n)
{
    p->line += n;
    p->marks->n += n;
}

/* The frame from mark i on; false when out of memory. */
FAST_COLD static bool fast_frame(dl_parser *p, const fast_output *out, const dl_ids *ids, uint32_t i,
                                 uint64_t *code)
{
    return dl_marks_frame(p->marks, ids, p->marks->n + i, out->line + i, code);
}

/* A line of which all is known but the zone. */
typedef struct fast_line {
    const char *at, *end;     /* where it begins; of the block */
    const char *timer, *tail; /* its timer id; behind the launch ids */
    uint32_t stream;
    uint64_t time, data;
} fast_line;

/* fast_new.c: the mark of a zone by its cells, which are trimmed. False: it is no zone's, or it is not new. */
bool fast_new_mark(dl_parser *p, const fast_line *line, const dl_cell *cells, const dl_columns *c,
                   uint64_t frame, dl_mark *mark);

/* Whether meta data name the marker, which its line then does not. */
static inline bool fast_tells_counter(const char *meta, size_t n)
{
    static const char head[] = "{\"counter type\"";
    return n >= sizeof head - 1 && memcmp(meta, head, sizeof head - 1) == 0;
}

static inline fast_place *fast_place_at(const struct dl_fast *f, uint32_t i)
{
    return &f->places[i / FAST_PLACES_PER_BLOCK][i % FAST_PLACES_PER_BLOCK];
}

/* Hash of the first n <= FAST_PLACE bytes at `at`. */
static inline uint64_t fast_place_hash(const char *at, size_t n)
{
    uint64_t h = n;
    for (size_t i = 0; i < n; i += 8)
        h = (h ^ fast_first_bytes(at + i, n - i)) * UINT64_C(0x9E3779B97F4A7C15), h ^= h >> 32;
    return h;
}

/* Where zones with this timer id, and a name that begins as `tail` does, are kept. */
static inline uint32_t fast_zone_slot(uint32_t timer_id, const char *tail)
{
    /* A text of less than eight bytes is hashed with what follows it, and then may not be found again. */
    uint64_t h = fast_load64_little(tail) * UINT64_C(0x9E3779B97F4A7C15) ^ timer_id;
    return (uint32_t)((h ^ h >> 29) * UINT64_C(0xBF58476D1CE4E5B9) >> 40) & (FAST_ZONE_SLOTS - 1);
}

static inline uint32_t fast_marker_slot(uint32_t risc_name, uint32_t timer_id)
{
    return (risc_name * 37 + timer_id) & (FAST_MARKERS - 1);
}

/* The number of n <= 16 digits that end before `end`; false when they are not all digits. Reads 16 bytes. */
static inline bool fast_digits_scalar(const char *end, uint32_t n, uint64_t *value)
{
    const uint64_t zeros = UINT64_C(0x3030303030303030), tops = UINT64_C(0x8080808080808080);
    uint64_t low = fast_load64_little(end - 8) ^ zeros, high = fast_load64_little(end - 16) ^ zeros;
    low = n >= 8 ? low : n ? low >> (64 - 8 * n) << (64 - 8 * n) : 0;
    high = n >= 16 ? high : n > 8 ? high >> (128 - 8 * n) << (128 - 8 * n) : 0;
    const uint64_t over = UINT64_C(0x7676767676767676); /* carries into the top bit from 10 on */
    if (((low + over) | low | (high + over) | high) & tops) return false;
    *value = dl_eight_digits(high) * 100000000 + dl_eight_digits(low);
    return true;
}

/* A number at the beginning of a cell, and what is behind the cell's comma: NULL when the cell is no number
 * or is above the maximum. */
typedef struct fast_number {
    const char *next;
    uint64_t value;
} fast_number;

FAST_COLD static fast_number fast_number_cell(const char *at, uint64_t max)
{
    fast_number number = {NULL, 0};
    size_t n = 0;
    while (n < 21 && (unsigned char)(at[n] - '0') <= 9)
        n++;
    if (at[n] == ',' && dl_number((dl_cell){at, n}, max, &number.value) == DL_SKIP_NONE)
        number.next = at + n + 1;
    return number;
}

#endif
