/* Real numbers as text. See the header. */
#include "base/real.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void dl_str_real(dl_str *s, double value)
{
    char text[40];
    if (value >= 0 && value < 1e15 && value == (double)(uint64_t)value &&
        !signbit(value)) { /* as below, at once */
        dl_str_u64(s, (uint64_t)value);
        dl_str_add(s, ".0");
        return;
    }
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, value);
        if (strtod(text, NULL) == value) break;
    }
    dl_str_add(s, text);
    if (!strpbrk(text, ".e")) dl_str_add(s, ".0");
}
