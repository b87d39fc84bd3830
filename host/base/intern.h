/* Interning: equal texts get equal small numbers. Bounded: after `max_strings` or `max_bytes` new texts are
 * refused, so that hostile input cannot make it grow. Texts do not move: while one thread adds, another may
 * ask for the texts of numbers that it has been handed. */
#ifndef DEVLOG_BASE_INTERN_H
#define DEVLOG_BASE_INTERN_H

#include "base/error.h"

typedef struct dl_intern dl_intern;

/* Returned when a text is not, or cannot be, in the table. */
#define DL_NO_STRING UINT32_MAX

/* Number 0 is always the empty text. Returns NULL when out of memory. */
dl_intern *dl_intern_new(uint32_t max_strings, size_t max_bytes);
void dl_intern_free(dl_intern *in);
/* The number of text[0..n), new or known; DL_NO_STRING when the table is full or memory runs out. */
uint32_t dl_intern_add(dl_intern *in, const char *text, size_t n);
/* The number of a known text, or DL_NO_STRING. */
uint32_t dl_intern_find(const dl_intern *in, const char *text, size_t n);
/* The text of a number: NUL-terminated, owned by the table, valid until it is freed. *n may be NULL. An
 * unknown number gives "?". */
const char *dl_intern_text(const dl_intern *in, uint32_t id, size_t *n);
uint32_t dl_intern_count(const dl_intern *in);

/* A 64-bit hash of bytes, the same on every run. */
uint64_t dl_hash_bytes(const void *bytes, size_t n);
/* Mixes a 64-bit number so that all of its bits matter in the low ones. */
static inline uint64_t dl_hash_u64(uint64_t x)
{
    x ^= x >> 32;
    x *= UINT64_C(0x9E3779B97F4A7C15);
    x ^= x >> 29;
    return x * UINT64_C(0xBF58476D1CE4E5B9) ^ x >> 32;
}

#endif
