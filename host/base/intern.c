/* Interning: equal texts get equal small numbers, in bounded memory. Not a general hash map. */
#include "base/intern.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

typedef struct entry {
    char *text;
    size_t len;
    uint64_t hash;
} entry;

enum { PER_BLOCK = 1024, PIECE = 16 * 1024 }; /* PIECE: bytes of texts that are allocated at once */

typedef struct piece {
    struct piece *next;
    char text[];
} piece;

struct dl_intern {
    entry **blocks; /* of PER_BLOCK entries, which do not move; one for every `max` entries is reserved */
    _Atomic uint32_t count;
    uint32_t cap, max;
    uint32_t *slots; /* number + 1; 0: free; always a power of two, at most half full */
    uint32_t n_slots;
    size_t bytes, max_bytes;
    piece *pieces; /* of the texts; the first has room from `at` on */
    size_t at, room;
};

uint64_t dl_hash_bytes(const void *bytes, size_t n)
{
    const unsigned char *p = bytes;
    uint64_t h = UINT64_C(0x9AE16A3B2F90404F) ^ n;
    for (; n >= 8; p += 8, n -= 8) {
        uint64_t word;
        memcpy(&word, p, 8);
        h = dl_hash_u64(h ^ word);
    }
    uint64_t last = 0;
    if (n) memcpy(&last, p, n);
    return dl_hash_u64(h ^ last);
}

static entry *entry_at(const dl_intern *in, uint32_t id)
{
    return &in->blocks[id / PER_BLOCK][id % PER_BLOCK];
}

static uint32_t find_slot(const dl_intern *in, const char *text, size_t n, uint64_t hash)
{
    uint32_t mask = in->n_slots - 1;
    uint32_t at = (uint32_t)hash & mask;
    for (;; at = (at + 1) & mask) {
        if (!in->slots[at]) return at;
        const entry *e = entry_at(in, in->slots[at] - 1);
        if (e->hash == hash && e->len == n && (n == 0 || memcmp(e->text, text, n) == 0)) return at;
    }
}

/* Room for more slots; the entries are entered again. */
static bool grow(dl_intern *in)
{
    uint32_t cap = in->cap ? in->cap * 2 : 64;
    uint32_t *slots = calloc(cap * 2, sizeof *slots);
    if (!slots) return false;
    free(in->slots);
    in->slots = slots;
    in->n_slots = cap * 2;
    in->cap = cap;
    for (uint32_t i = 0; i < in->count; i++) {
        uint32_t at = (uint32_t)entry_at(in, i)->hash & (in->n_slots - 1);
        while (slots[at])
            at = (at + 1) & (in->n_slots - 1);
        slots[at] = i + 1;
    }
    return true;
}

dl_intern *dl_intern_new(uint32_t max_strings, size_t max_bytes)
{
    dl_intern *in = calloc(1, sizeof *in);
    if (!in) return NULL;
    in->max = max_strings < UINT32_MAX / 8 ? max_strings : UINT32_MAX / 8;
    in->max_bytes = max_bytes;
    in->blocks = calloc(in->max / PER_BLOCK + 1, sizeof *in->blocks);
    if (!in->blocks || dl_intern_add(in, "", 0) == DL_NO_STRING) {
        dl_intern_free(in);
        return NULL;
    }
    return in;
}

void dl_intern_free(dl_intern *in)
{
    if (!in) return;
    for (piece *p = in->pieces, *next; p; p = next) {
        next = p->next;
        free(p);
    }
    for (uint32_t i = 0; in->blocks && i <= in->count / PER_BLOCK; i++)
        free(in->blocks[i]);
    free(in->blocks);
    free(in->slots);
    free(in);
}

/* A copy of a text, which does not move. */
static char *keep(dl_intern *in, const char *text, size_t n)
{
    if (n >= in->room - in->at) {
        const size_t room = n + 1 > PIECE ? n + 1
                            : in->pieces  ? PIECE
                                          : PIECE / 16; /* most tables are small */
        piece *more = malloc(sizeof *more + room);
        if (!more) return NULL;
        more->next = in->pieces;
        in->pieces = more;
        in->room = room;
        in->at = 0;
    }
    char *copy = in->pieces->text + in->at;
    in->at += n + 1;
    if (n) memcpy(copy, text, n);
    copy[n] = 0;
    return copy;
}

uint32_t dl_intern_add(dl_intern *in, const char *text, size_t n)
{
    if (in->count == in->cap && in->count < in->max && !grow(in)) return DL_NO_STRING;
    if (!in->slots) return DL_NO_STRING;
    uint64_t hash = dl_hash_bytes(text, n);
    uint32_t slot = find_slot(in, text, n, hash);
    if (in->slots[slot]) return in->slots[slot] - 1;
    if (in->count >= in->max || n > in->max_bytes - in->bytes) return DL_NO_STRING;
    entry **block = &in->blocks[in->count / PER_BLOCK];
    if (!*block) *block = malloc(PER_BLOCK * sizeof **block);
    char *copy = *block ? keep(in, text, n) : NULL;
    if (!copy) return DL_NO_STRING;
    *entry_at(in, in->count) = (entry){copy, n, hash};
    in->slots[slot] = ++in->count;
    in->bytes += n;
    return in->count - 1;
}

uint32_t dl_intern_find(const dl_intern *in, const char *text, size_t n)
{
    uint32_t slot = find_slot(in, text, n, dl_hash_bytes(text, n));
    return in->slots[slot] ? in->slots[slot] - 1 : DL_NO_STRING;
}

const char *dl_intern_text(const dl_intern *in, uint32_t id, size_t *n)
{
    bool known = id < in->count;
    if (n) *n = known ? entry_at(in, id)->len : 1;
    return known ? entry_at(in, id)->text : "?";
}

uint32_t dl_intern_count(const dl_intern *in)
{
    return in->count;
}
