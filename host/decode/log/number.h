/* Numbers in cells: decimal, unsigned, complete. Says why a cell is none. */
#ifndef DEVLOG_DECODE_NUMBER_H
#define DEVLOG_DECODE_NUMBER_H

#include "decode/log/columns.h"
#include "decode/loss.h"

/* Reads a whole cell as a decimal number up to `max`; DL_SKIP_NONE when it is one. */
static inline dl_skip dl_number(dl_cell cell, uint64_t max, uint64_t *out)
{
    if (cell.len == 0) return DL_SKIP_NOT_A_NUMBER;
    if (cell.text[0] == '-') return DL_SKIP_NEGATIVE;
    uint64_t value = 0;
    for (size_t i = 0; i < cell.len; i++) {
        unsigned digit = (unsigned char)cell.text[i] - (unsigned)'0';
        if (digit > 9) return DL_SKIP_NOT_A_NUMBER;
        if (value > (UINT64_MAX - digit) / 10) {
            for (size_t k = i; k < cell.len; k++)
                if (cell.text[k] < '0' || cell.text[k] > '9') return DL_SKIP_NOT_A_NUMBER;
            return DL_SKIP_TOO_BIG;
        }
        value = value * 10 + digit;
    }
    if (value > max) return DL_SKIP_TOO_BIG;
    *out = value;
    return DL_SKIP_NONE;
}

#endif
