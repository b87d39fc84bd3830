/* The words of a core as a frame stores them since version 2 of its kinds: heads of records, low halves of
 * their stamps and the rest apart from one another, what repeats left out, and what is left as planes of
 * bytes, so that what hardly changes lies together. zstd then makes them smaller, and faster, than as they
 * were.
 *
 *     u32 words, heads, lows, rest    how many there are
 *     heads                           16 bits each, as two planes: all low bytes, then all high bytes
 *     lows                            the same
 *     rest                            32 bits each, as four planes from the lowest bytes to the highest
 *
 * Words are taken for records one after the other by the code in their low 12 bits (devlog/record.h). The
 * first word of each is a head: its code, and where the other 20 bits are not those of the head before,
 * 0x8000 and these 20 bits in the rest. The second is a low half: how much more it is than the one before, or
 * 0xFFFF and that difference in the rest when it is 0xFFFF or more. Further words are in the rest; that of a
 * complete zone, its start, as how much less it is than the low half. A code that begins no record is a head
 * alone. All words come back, whether they are records or not. */
#ifndef DEVLOG_DECODE_CAPTURE_WORDS_H
#define DEVLOG_DECODE_CAPTURE_WORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Heads, low halves and the rest, as numbers. */
typedef struct dl_word_planes {
    uint16_t *heads, *lows;
    uint32_t *rest;
    size_t n_heads, n_lows, n_rest;
} dl_word_planes;

enum { DL_WORDS_HEADER_BYTES = 16 };

/* At most this many bytes for n words. */
static inline size_t dl_words_bound(size_t n)
{
    return DL_WORDS_HEADER_BYTES + 8 * n;
}

/* Writes to `out` and returns how many bytes; `room` holds 2 * n words. */
size_t dl_words_split(const uint32_t *words, size_t n, uint8_t *out, uint32_t *room);
/* How many words are in these bytes; SIZE_MAX: they cannot be. */
size_t dl_words_count(const uint8_t *bytes, size_t size);
/* The other way, for bytes that have been counted: n words; `room` holds 2 * n + 1. False: they cannot be. */
bool dl_words_join(const uint8_t *bytes, uint32_t *words, size_t n, uint32_t *room);
/* In two steps: bytes that have been counted as numbers, in so many words of room; .. */
size_t dl_words_planes_room(const uint8_t *bytes);
/* Planes of these sizes where they are. */
dl_word_planes dl_words_planes_at(dl_word_planes sizes, uint32_t *room);
dl_word_planes dl_words_unite(const uint8_t *bytes, uint32_t *room);
/* .. and n words of those. */
bool dl_words_of_planes(const dl_word_planes *p, uint32_t *words, size_t n);
/* Whether they are n words of whole records of two to four words with narrow codes, and nothing else: then they can be
 * put together, and each record has one head and one low half. */
bool dl_words_are_plain(const dl_word_planes *p, size_t n);

#endif
