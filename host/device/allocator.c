/* Which addresses of a memory's banks are taken; see allocator.h. Blocks are in an array by their place, which one pass finds
 * the first gap in: live buffers are at most some thousands. */
#include "device/allocator.h"

#include <stdlib.h>
#include <string.h>

static bool meet(const alloc_banks *a, const alloc_banks *b)
{
    for (int i = 0; i < ALLOC_BANK_WORDS; i++)
        if (a->bits[i] & b->bits[i]) return true;
    return false;
}

static bool make_room(allocator *a)
{
    if (a->n < a->cap) return true;
    size_t cap = a->cap ? a->cap * 2 : 64;
    alloc_block **grown = realloc(a->blocks, cap * sizeof *grown);
    if (!grown) return false;
    a->blocks = grown;
    a->cap = cap;
    return true;
}

alloc_result allocator_take(allocator *a, alloc_block *block, uint64_t limit)
{
    uint64_t at = 0;
    size_t place = 0;
    if (limit > a->bytes) limit = a->bytes;
    if (block->size > limit) return ALLOC_NO_ROOM;
    if (!make_room(a)) return ALLOC_NO_MEMORY;
    for (size_t i = 0; i < a->n; i++) {
        const alloc_block *b = a->blocks[i];
        if (b->at >= at + block->size) break;
        if (b->at + b->size > at && meet(&b->banks, &block->banks)) at = b->at + b->size;
    }
    if (at > limit - block->size) return ALLOC_NO_ROOM;
    while (place < a->n && a->blocks[place]->at < at)
        place++;
    memmove(a->blocks + place + 1, a->blocks + place, (a->n - place) * sizeof *a->blocks);
    a->blocks[place] = block;
    a->n++;
    block->at = at;
    a->used += block->size * block->n_banks;
    if (a->used > a->peak) a->peak = a->used;
    if (a->used > a->recent) a->recent = a->used;
    return ALLOC_OK;
}

void allocator_give(allocator *a, const alloc_block *block)
{
    size_t place = 0;
    while (place < a->n && a->blocks[place] != block)
        place++;
    if (place == a->n) return;
    a->n--;
    memmove(a->blocks + place, a->blocks + place + 1, (a->n - place) * sizeof *a->blocks);
    a->used -= block->size * block->n_banks;
}

uint64_t allocator_address(const allocator *a, const alloc_block *block)
{
    return a->downwards ? a->base + a->bytes - block->at - block->size : a->base + block->at;
}

uint64_t allocator_largest(const allocator *a, uint64_t limit)
{
    uint64_t end = 0, largest = 0;
    if (limit > a->bytes) limit = a->bytes;
    for (size_t i = 0; i < a->n && end < limit; i++) {
        const alloc_block *b = a->blocks[i];
        const uint64_t from = b->at < limit ? b->at : limit;
        if (from > end && from - end > largest) largest = from - end;
        if (b->at + b->size > end) end = b->at + b->size;
    }
    return end < limit && limit - end > largest ? limit - end : largest;
}

uint64_t allocator_extent(const allocator *a)
{
    uint64_t end = 0;
    for (size_t i = 0; i < a->n; i++)
        if (a->blocks[i]->at + a->blocks[i]->size > end) end = a->blocks[i]->at + a->blocks[i]->size;
    return end;
}

void allocator_free(allocator *a)
{
    free(a->blocks);
    *a = (allocator){0};
}
