/* Numbers in as many bytes as they need, seven bits in each, the lowest first: for tables that would be too large in words. Not
 * for files that others write, whose readers look at each byte. */
#ifndef DEVLOG_BASE_VARINT_H
#define DEVLOG_BASE_VARINT_H

#include <stdint.h>

enum { DL_VARINT = 10 }; /* bytes at most */

/* Returns what is behind it. */
static inline uint8_t *dl_varint_put(uint8_t *to, uint64_t value)
{
    while (value >= 0x80) {
        *to++ = (uint8_t)(value | 0x80);
        value >>= 7;
    }
    *to++ = (uint8_t)value;
    return to;
}

static inline const uint8_t *dl_varint_get(const uint8_t *from, uint64_t *value)
{
    uint64_t v = 0;
    for (unsigned shift = 0;; shift += 7) {
        const uint8_t byte = *from++;
        v |= (uint64_t)(byte & 0x7F) << (shift & 63);
        if (byte < 0x80) break;
    }
    *value = v;
    return from;
}

/* How much more than another a number is, or how much less. */
static inline uint64_t dl_zigzag(uint64_t more)
{
    return more << 1 ^ (0 - (more >> 63));
}

static inline uint64_t dl_unzigzag(uint64_t value)
{
    return value >> 1 ^ (0 - (value & 1));
}

#endif
