/* Decimal digits to numbers, eight at a time. Not for writing them (str.h), and not for signs or blanks. */
#ifndef DEVLOG_BASE_DIGITS_H
#define DEVLOG_BASE_DIGITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum { DL_DIGITS_MOST = 19 }; /* what surely fits 64 bits */

/* Bytes in memory as a word, the first lowest. */
static inline uint64_t dl_load_little(const char *at)
{
    uint64_t word;
    memcpy(&word, at, sizeof word);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    word = __builtin_bswap64(word);
#endif
    return word;
}

static inline uint32_t dl_load_little4(const char *at)
{
    uint32_t word;
    memcpy(&word, at, sizeof word);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    word = __builtin_bswap32(word);
#endif
    return word;
}

/* A word of eight digits, the first in the lowest byte, each already without its '0'. */
static inline uint64_t dl_eight_digits(uint64_t d)
{
    d = d * 10 + (d >> 8);
    return ((d & UINT64_C(0x000000FF000000FF)) * UINT64_C(0x000F424000000064) +
            ((d >> 16 & UINT64_C(0x000000FF000000FF)) * UINT64_C(0x0000271000000001))) >>
           32;
}

/* Whether every byte of a word, already without its '0', is a digit. */
static inline bool dl_all_digits(uint64_t d)
{
    return !(((d + UINT64_C(0x7676767676767676)) | d) & UINT64_C(0x8080808080808080));
}

/* The number that `text` is, when it is 1 to DL_DIGITS_MOST digits and nothing else. Reads no byte outside of it. */
static inline bool dl_digits_value(const char *text, size_t n, uint64_t *out)
{
    static const uint32_t tens[8] = {1, 10, 100, 1000, 10000, 100000, 1000000, 10000000};
    const uint64_t zeros = UINT64_C(0x3030303030303030);
    uint64_t value = 0;
    if (n == 0 || n > DL_DIGITS_MOST) return false;
    for (; n >= 8; text += 8, n -= 8) {
        const uint64_t d = dl_load_little(text) ^ zeros;
        if (!dl_all_digits(d)) return false;
        value = value * 100000000 + dl_eight_digits(d);
    }
    if (n == 0) {
        *out = value;
        return true;
    }
    uint64_t rest; /* parts that may overlap: they agree where they do */
    if (n >= 4)
        rest = dl_load_little4(text) | (uint64_t)dl_load_little4(text + n - 4) << (8 * (n - 4));
    else
        rest = (unsigned char)text[0] | (uint64_t)(unsigned char)text[n / 2] << (8 * (n / 2)) |
               (uint64_t)(unsigned char)text[n - 1] << (8 * (n - 1));
    const uint64_t d = (rest ^ (zeros >> (64 - 8 * n))) << (64 - 8 * n);
    if (!dl_all_digits(d)) return false;
    *out = value * tens[n] + dl_eight_digits(d);
    return true;
}

#endif
