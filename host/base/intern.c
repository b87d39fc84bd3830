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

struct dl_intern {
    entry *entries;
    uint32_t count, cap, max;
    uint32_t *slots; /* number + 1; 0: free; always a power of two, at most half full */
    uint32_t n_slots;
    size_t bytes, max_bytes;
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

static uint32_t find_slot(const dl_intern *in, const char *text, size_t n, uint64_t hash)
{
    uint32_t mask = in->n_slots - 1;
    uint32_t at = (uint32_t)hash & mask;
    for (;; at = (at + 1) & mask) {
        if (!in->slots[at]) return at;
        const entry *e = &in->entries[in->slots[at] - 1];
        if (e->hash == hash && e->len == n && (n == 0 || memcmp(e->text, text, n) == 0)) return at;
    }
}

static bool grow(dl_intern *in)
{
    uint32_t cap = in->cap ? in->cap * 2 : 64;
    entry *entries = realloc(in->entries, cap * sizeof *entries);
    if (!entries) return false;
    in->entries = entries;
    uint32_t *slots = calloc(cap * 2, sizeof *slots);
    if (!slots) return false;
    free(in->slots);
    in->slots = slots;
    in->n_slots = cap * 2;
    in->cap = cap;
    for (uint32_t i = 0; i < in->count; i++) {
        uint32_t at = (uint32_t)entries[i].hash & (in->n_slots - 1);
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
    if (dl_intern_add(in, "", 0) == DL_NO_STRING) {
        dl_intern_free(in);
        return NULL;
    }
    return in;
}

void dl_intern_free(dl_intern *in)
{
    if (!in) return;
    for (uint32_t i = 0; i < in->count; i++)
        free(in->entries[i].text);
    free(in->entries);
    free(in->slots);
    free(in);
}

uint32_t dl_intern_add(dl_intern *in, const char *text, size_t n)
{
    if (in->count == in->cap && in->count < in->max && !grow(in)) return DL_NO_STRING;
    uint64_t hash = dl_hash_bytes(text, n);
    uint32_t slot = find_slot(in, text, n, hash);
    if (in->slots[slot]) return in->slots[slot] - 1;
    if (in->count >= in->max || n > in->max_bytes - in->bytes) return DL_NO_STRING;
    char *copy = malloc(n + 1);
    if (!copy) return DL_NO_STRING;
    if (n) memcpy(copy, text, n);
    copy[n] = 0;
    in->entries[in->count] = (entry){copy, n, hash};
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
    if (n) *n = known ? in->entries[id].len : 1;
    return known ? in->entries[id].text : "?";
}

uint32_t dl_intern_count(const dl_intern *in)
{
    return in->count;
}
