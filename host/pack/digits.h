/* Decimal numbers eight digits at a time, for packing's templates: reading the one at the beginning of a text
 * and writing one. Only numbers as they are written without signs and leading zeros. */
#ifndef DEVLOG_PACK_DIGITS_H
#define DEVLOG_PACK_DIGITS_H

#include "base/digits.h"

enum { PK_DIGITS = 19 }; /* what surely fits 64 bits */

/* How many of eight bytes, from the first on, are digits; *value is their number. */
static inline uint32_t pk_eight(const char *at, uint64_t *value)
{
    uint64_t d = dl_load_little(at) ^ UINT64_C(0x3030303030303030);
    const uint64_t over = ((d + UINT64_C(0x7676767676767676)) | d) & UINT64_C(0x8080808080808080);
    const uint32_t n = over ? (uint32_t)__builtin_ctzll(over) / 8 : 8;
    if (n == 0) {
        *value = 0;
        return 0;
    }
    d <<= 64 - 8 * n;
    *value = dl_eight_digits(d);
    return n;
}

/* The number at `at`, of PK_DIGITS digits at most, and what is behind it; NULL: none, or it begins with a 0
 * that could be left out. Reads 24 bytes. */
static inline const char *pk_read_number(const char *at, uint64_t *value)
{
    static const uint64_t tens[9] = {1, 10, 100, 1000, 10000, 100000, 1000000, 10000000, 100000000};
    uint64_t v, more;
    uint32_t n = pk_eight(at, &v);
    if (n == 8) {
        const uint32_t k = pk_eight(at + 8, &more);
        v = v * tens[k] + more;
        n += k;
        for (; n >= 16 && n < PK_DIGITS && (unsigned char)(at[n] - '0') <= 9; n++)
            v = v * 10 + (unsigned char)(at[n] - '0');
    }
    if (n == 0 || (n > 1 && at[0] == '0')) return NULL;
    *value = v;
    return at + n;
}

/* Writes a number and returns what is behind it: 20 bytes at most. */
static inline char *pk_write_number(char *to, uint64_t value)
{
    static const char pairs[] =
        "0001020304050607080910111213141516171819202122232425262728293031323334353637383940"
        "4142434445464748495051525354555657585960616263646566676869707172737475767778798081"
        "828384858687888990919293949596979899";
    if (value < 10) {
        *to = (char)('0' + value);
        return to + 1;
    }
    char digits[20];
    uint32_t at = 20;
    while (value >= 100) {
        const uint64_t rest = value / 100;
        memcpy(digits + (at -= 2), pairs + 2 * (value - 100 * rest), 2);
        value = rest;
    }
    if (value >= 10)
        memcpy(digits + (at -= 2), pairs + 2 * value, 2);
    else
        digits[--at] = (char)('0' + value);
    memcpy(to, digits + at, 20 - at);
    return to + (20 - at);
}

#endif
