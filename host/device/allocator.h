/* An allocator: which addresses of a memory's banks are taken. A block has the same address in each of its banks. First
 * fit, from one end. Pure: it knows no device and touches no memory of one. Not for who holds a block (buffers.h). */
#ifndef DEVLOG_DEVICE_ALLOCATOR_H
#define DEVLOG_DEVICE_ALLOCATOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { ALLOC_MAX_BANKS = 1024, ALLOC_BANK_WORDS = ALLOC_MAX_BANKS / 64 };

/* A set of banks. */
typedef struct alloc_banks {
    uint64_t bits[ALLOC_BANK_WORDS];
} alloc_banks;

typedef struct alloc_block {
    uint64_t at, size; /* at: distance from the end that is filled first */
    alloc_banks banks;
    uint32_t n_banks;
} alloc_block;

/* Zero-initialise it and set the first members; free it with allocator_free. */
typedef struct allocator {
    uint64_t base, bytes; /* of each bank */
    uint32_t n_banks;
    bool downwards;       /* from the end of it */
    alloc_block **blocks; /* borrowed; by `at` */
    size_t n, cap;
    uint64_t used, peak; /* over all banks */
    uint64_t recent;     /* the most that was used since somebody made it `used` */
} allocator;

typedef enum alloc_result { ALLOC_OK, ALLOC_NO_ROOM, ALLOC_NO_MEMORY } alloc_result;

static inline void alloc_add_bank(alloc_banks *to, uint32_t bank)
{
    to->bits[bank / 64] |= UINT64_C(1) << bank % 64;
}
static inline bool alloc_has_bank(const alloc_banks *of, uint32_t bank)
{
    return of->bits[bank / 64] >> bank % 64 & 1;
}

/* Finds a place for the block, whose size and banks are set, within the first `limit` bytes of each bank, counted from the
 * end that is filled first; sets block->at. The block stays the caller's, and where it is until it is given back. */
alloc_result allocator_take(allocator *a, alloc_block *block, uint64_t limit);
void allocator_give(allocator *a, const alloc_block *block);

/* The address where a block begins. */
uint64_t allocator_address(const allocator *a, const alloc_block *block);

/* The largest range of addresses that is free in all banks, within the limit. */
uint64_t allocator_largest(const allocator *a, uint64_t limit);
/* As far as blocks reach, from the end that is filled first. */
uint64_t allocator_extent(const allocator *a);

void allocator_free(allocator *a);

#endif
