/* Real numbers as text. See the header. */
#include "base/real.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

__extension__ typedef unsigned __int128 u128;

static const uint64_t powers[] = {1,
                                  10,
                                  100,
                                  1000,
                                  10000,
                                  100000,
                                  1000000,
                                  10000000,
                                  100000000,
                                  1000000000,
                                  10000000000,
                                  100000000000,
                                  1000000000000,
                                  10000000000000,
                                  100000000000000,
                                  1000000000000000,
                                  10000000000000000};

/* What is no whole number, from 1 up to 10^15. Its fraction is f / 2^k, of which p digits are f * 10^p / 2^k, rounded, and in
 * the middle to the even one, as printf does. They say this double and no other when what they are off is less than half of
 * the distance to the next, 2^-k. Exactly half of it they are never off, as p is less than k. */
static void put_fraction(dl_str *s, double value)
{
    const uint64_t whole = (uint64_t)value;
    const unsigned whole_bits = 64 - (unsigned)__builtin_clzll(whole), k = 53 - whole_bits;
    const uint64_t f = (uint64_t)((value - (double)whole) * (double)(UINT64_C(1) << k));
    const uint64_t half = UINT64_C(1) << (k - 1);
    if (!dl_str_reserve(s, 2 * DL_U64_DIGITS)) return;
    char *to = dl_digits(s->text + s->len, whole);
    const unsigned n = (unsigned)(to - (s->text + s->len));
    uint64_t digits = 0;
    unsigned p = 0;
    for (unsigned all = 15; all <= 17; all++) {
        p = all - n;
        const u128 scaled = (u128)f * powers[p];
        const uint64_t rest = (uint64_t)scaled & (2 * half - 1);
        digits = (uint64_t)(scaled >> k);
        const bool up = rest > half || (rest == half && digits & 1);
        digits += up;
        if (2 * (up ? 2 * half - rest : rest) < powers[p]) break;
    }
    for (; digits % 10 == 0 && p > 1; p--)
        digits /= 10;
    *to++ = '.';
    for (unsigned left = p; left; left -= left < 9 ? left : 9) {
        const unsigned some = left < 9 ? left : 9;
        to = dl_digits_fixed(to, (uint32_t)(digits / powers[left - some] % 1000000000), some);
    }
    *to = '\0';
    s->len = (size_t)(to - s->text);
}

void dl_str_real(dl_str *s, double value)
{
    char text[40];
    if (value >= 0 && value < 1e15 && value == (double)(uint64_t)value &&
        !signbit(value)) { /* as below, at once */
        dl_str_u64(s, (uint64_t)value);
        dl_str_add(s, ".0");
        return;
    }
    if (value >= 1 && value < 1e15) {
        put_fraction(s, value);
        return;
    }
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, value);
        if (strtod(text, NULL) == value) break;
    }
    dl_str_add(s, text);
    if (!strpbrk(text, ".e")) dl_str_add(s, ".0");
}
