/* The columns of tt-metal's op report by name. */
#include "tt_metal/columns.h"

#include <stdbool.h>
#include <string.h>

#define HEADER(name, header) [TT_COL_##name] = (header),
static const char *const headers[TT_COL_FIXED] = {TT_COLUMNS_FRONT(HEADER) TT_COLUMNS_BACK(HEADER)
                                                      TT_COLUMNS_OWN(HEADER)};
#undef HEADER

const char *tt_column_header(size_t column)
{
    return headers[column];
}

static char upper(char c)
{
    return c == '_' ? ' ' : c >= 'a' && c <= 'z' ? (char)(c - 32) : c;
}

int tt_column_find(const char *name, size_t n)
{
    for (int i = 0; i < TT_COL_BACK_END; i++) {
        const char *h = headers[i];
        size_t k = 0;
        while (k < n && h[k] && upper(name[k]) == upper(h[k]))
            k++;
        if (k == n && !h[k]) return i;
    }
    return -1;
}
