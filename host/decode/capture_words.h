/* The words of a core as a frame stores them since version 2 of its kinds: heads of records, low halves of
 * their stamps and the rest apart from one another, stamps as differences, and each as four planes of bytes,
 * so that what hardly changes lies together. zstd then makes them smaller, and faster, than as they were.
 *
 *     u32 heads, lows, rest     how many words of each there are
 *     heads, lows, rest         each: the lowest bytes of all its words, the next ones, .., the highest ones
 *
 * Words are taken for records one after the other by the code in their low 12 bits (devlog/record.h): the
 * first word of each is a head, the second a low half, less that of the record before; others are the rest,
 * of which the start of a complete zone is stored as its duration. A code that begins no record is a head
 * alone. All words come back, whether they are records or not. */
#ifndef DEVLOG_DECODE_CAPTURE_WORDS_H
#define DEVLOG_DECODE_CAPTURE_WORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { DL_WORDS_HEADER_BYTES = 12 };

/* Writes DL_WORDS_HEADER_BYTES + 4 * n bytes to `out`; `room` holds 3 * n words. */
void dl_words_split(const uint32_t *words, size_t n, uint8_t *out, uint32_t *room);
/* How many words are in these bytes; SIZE_MAX: they cannot be. */
size_t dl_words_count(const uint8_t *bytes, size_t size);
/* The other way, for bytes that have been counted: n words; `room` holds as many. False: they cannot be. */
bool dl_words_join(const uint8_t *bytes, uint32_t *words, size_t n, uint32_t *room);

#endif
