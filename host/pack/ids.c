/* Which ids a block holds. See ids.h. */
#include "pack/ids.h"

#include <string.h>

#include "pack/frame.h"

static void remove_range(pk_ids *s, size_t i)
{
    s->n--;
    memmove(s->low + i, s->low + i + 1, (s->n - i) * sizeof *s->low);
    memmove(s->high + i, s->high + i + 1, (s->n - i) * sizeof *s->high);
}

static void merge_with_next(pk_ids *s, size_t i)
{
    s->high[i] = s->high[i + 1];
    remove_range(s, i + 1);
}

static void merge_nearest(pk_ids *s)
{
    size_t best = 0;
    for (size_t i = 1; i + 1 < s->n; i++)
        if (s->low[i + 1] - s->high[i] < s->low[best + 1] - s->high[best]) best = i;
    merge_with_next(s, best);
}

void pk_ids_add(pk_ids *s, uint64_t id)
{
    size_t i = 0;
    while (i < s->n && s->high[i] < id)
        i++;
    if (i < s->n && s->low[i] <= id) return;
    const bool before = i > 0 && s->high[i - 1] + 1 == id, behind = i < s->n && s->low[i] - 1 == id;
    if (before) s->high[i - 1] = id;
    if (behind) s->low[i] = id;
    if (before && behind) merge_with_next(s, i - 1);
    if (before || behind) return;
    memmove(s->low + i + 1, s->low + i, (s->n - i) * sizeof *s->low);
    memmove(s->high + i + 1, s->high + i, (s->n - i) * sizeof *s->high);
    s->low[i] = s->high[i] = id;
    if (++s->n > PK_ID_RANGES) merge_nearest(s);
}

bool pk_ids_meet(const pk_ids *s, uint64_t low, uint64_t high)
{
    for (size_t i = 0; i < s->n; i++)
        if (s->low[i] <= high && s->high[i] >= low) return true;
    return false;
}

void pk_ids_put(uint8_t out[PK_IDS_BYTES], const pk_ids *s)
{
    for (size_t i = 0; i < PK_ID_RANGES; i++) {
        pk_put64(out + 16 * i, i < s->n ? s->low[i] : UINT64_MAX);
        pk_put64(out + 16 * i + 8, i < s->n ? s->high[i] : 0);
    }
}

void pk_ids_get(const uint8_t bytes[PK_IDS_BYTES], pk_ids *s)
{
    *s = (pk_ids){0};
    for (; s->n < PK_ID_RANGES; s->n++) {
        s->low[s->n] = pk_get64(bytes + 16 * s->n);
        s->high[s->n] = pk_get64(bytes + 16 * s->n + 8);
        if (s->low[s->n] > s->high[s->n]) break;
    }
}
