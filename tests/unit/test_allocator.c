/* The allocator of buffers against a plain model: a map of every unit of every bank, in which the first place that is free is
 * looked for unit by unit. After each of 10,000 random allocations and frees both have the same places, the same sums, and the
 * same largest free block. DEVLOG_TEST_CASES=50: of so many seeds. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device/allocator.h"
#include "support/cmocka_all.h"
#include "support/random.h"

enum { UNIT = 64, UNITS = 300, BANKS = 70, MOST_LIVE = 400, STEPS = 10000 };

typedef struct model {
    uint16_t taken[BANKS][UNITS]; /* number of the block + 1 */
    uint64_t used, peak;
} model;

static uint64_t state;
static uint32_t below(uint32_t n)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(state >> 33) % n;
}

static int is_free(const model *m, const alloc_banks *banks, uint32_t at, uint32_t units)
{
    for (uint32_t b = 0; b < BANKS; b++)
        for (uint32_t u = at; alloc_has_bank(banks, b) && u < at + units; u++)
            if (m->taken[b][u]) return 0;
    return 1;
}

static void set(model *m, const alloc_block *block, uint16_t to)
{
    for (uint32_t b = 0; b < BANKS; b++)
        for (uint64_t u = block->at / UNIT;
             alloc_has_bank(&block->banks, b) && u < (block->at + block->size) / UNIT; u++)
            m->taken[b][u] = to;
    const uint64_t bytes = block->size * block->n_banks;
    m->used += to ? bytes : -bytes;
    if (m->used > m->peak) m->peak = m->used;
}

/* The first place, in units; UNITS: none. */
static uint32_t first_place(const model *m, const alloc_block *block, uint32_t limit)
{
    const uint32_t units = (uint32_t)(block->size / UNIT);
    for (uint32_t at = 0; at + units <= limit; at++)
        if (is_free(m, &block->banks, at, units)) return at;
    return UNITS;
}

static uint64_t largest(const model *m, uint32_t limit)
{
    uint32_t run = 0, most = 0;
    for (uint32_t u = 0; u < limit; u++) {
        int any = 0;
        for (uint32_t b = 0; b < BANKS; b++)
            any |= m->taken[b][u];
        run = any ? 0 : run + 1;
        if (run > most) most = run;
    }
    return (uint64_t)most * UNIT;
}

static void random_banks(alloc_block *block)
{
    const uint32_t kind = below(4), first = below(BANKS),
                   n = kind == 0 ? BANKS : 1 + below(kind == 1 ? 3 : BANKS);
    memset(&block->banks, 0, sizeof block->banks);
    block->n_banks = 0;
    for (uint32_t i = 0; i < n; i++)
        alloc_add_bank(&block->banks, (first + i) % BANKS);
    for (uint32_t b = 0; b < BANKS; b++)
        block->n_banks += alloc_has_bank(&block->banks, b);
}

static void check_seed(uint64_t seed, bool downwards)
{
    static model m;
    static alloc_block blocks[MOST_LIVE];
    uint32_t live[MOST_LIVE], spare[MOST_LIVE], n_live = 0, n_spare = MOST_LIVE, refused = 0, made = 0;
    allocator a = {.base = 0x48000, .bytes = UNITS * UNIT, .n_banks = BANKS, .downwards = downwards};
    memset(&m, 0, sizeof m);
    state = seed;
    for (uint32_t i = 0; i < MOST_LIVE; i++)
        spare[i] = i;
    for (int step = 0; step < STEPS; step++) {
        /* Now it fills up, now it empties. */
        const bool fills = step / 500 % 2 == 0;
        const uint32_t limit = step / 1000 % 3 == 2 ? UNITS - below(40) : UNITS;
        if (n_spare && (n_live == 0 || below(10) < (fills ? 7u : 3u))) {
            const uint32_t which = spare[n_spare - 1];
            alloc_block *b = &blocks[which];
            b->size = UNIT * (1 + (uint64_t)below(below(8) ? 12 : UNITS));
            random_banks(b);
            const uint32_t at = first_place(&m, b, limit);
            const alloc_result got = allocator_take(&a, b, (uint64_t)limit * UNIT);
            if ((got == ALLOC_OK) != (at < UNITS))
                fail_msg("seed %llu, step %d: %d, the model says %u", (unsigned long long)seed, step, got,
                         at);
            if (got == ALLOC_OK) {
                assert_int_equal(b->at, (uint64_t)at * UNIT);
                const uint64_t address = allocator_address(&a, b);
                assert_int_equal(address, downwards ? a.base + a.bytes - b->at - b->size : a.base + b->at);
                assert_true(address >= a.base && address + b->size <= a.base + a.bytes);
                set(&m, b, (uint16_t)(which + 1));
                live[n_live++] = which;
                n_spare--;
                made++;
            }
            refused += got == ALLOC_NO_ROOM;
        } else if (n_live) {
            const uint32_t at = below(n_live);
            set(&m, &blocks[live[at]], 0);
            allocator_give(&a, &blocks[live[at]]);
            spare[n_spare++] = live[at];
            live[at] = live[--n_live];
        }
        assert_int_equal(a.used, m.used);
        assert_int_equal(a.peak, m.peak);
        assert_int_equal(a.n, n_live);
        if (step % 7 == 0)
            assert_int_equal(allocator_largest(&a, (uint64_t)limit * UNIT), largest(&m, limit));
    }
    assert_true(refused > 100 && made > 1000); /* otherwise nothing was tested */
    allocator_free(&a);
}

static void every_place_is_that_of_a_plain_model(void **state_)
{
    (void)state_;
    const uint64_t seeds = test_cases(2);
    for (uint64_t seed = 1; seed <= seeds; seed++)
        check_seed(seed, seed % 2);
}

/* By hand: four blocks of 100 units, and what is free between them. */
static void free_and_largest_block_by_hand(void **state_)
{
    (void)state_;
    alloc_block b[5] = {{0}};
    allocator a = {.base = 0, .bytes = 1000 * UNIT, .n_banks = 2};
    for (int i = 0; i < 5; i++) {
        b[i].size = 100 * UNIT;
        b[i].n_banks = 2;
        alloc_add_bank(&b[i].banks, 0);
        alloc_add_bank(&b[i].banks, 1);
        assert_int_equal(allocator_take(&a, &b[i], UINT64_MAX), ALLOC_OK);
        assert_int_equal(allocator_address(&a, &b[i]), (uint64_t)i * 100 * UNIT);
    }
    allocator_give(&a, &b[1]);
    allocator_give(&a, &b[3]);
    /* 700 of 1,000 units are free in each bank; the largest range is the 500 behind the last. */
    assert_int_equal(a.used, 2u * 300 * UNIT);
    assert_int_equal(a.peak, 2u * 500 * UNIT);
    assert_int_equal(allocator_largest(&a, UINT64_MAX), 500u * UNIT);
    assert_int_equal(allocator_largest(&a, 350u * UNIT), 100u * UNIT);
    assert_int_equal(allocator_extent(&a), 500u * UNIT);
    /* A block in one bank takes that range from an interleaved buffer, not from another single bank. */
    alloc_block one = {.size = 400 * UNIT, .n_banks = 1}, other = one,
                both = {.size = 100 * UNIT + 1, .n_banks = 2};
    alloc_add_bank(&one.banks, 0);
    alloc_add_bank(&other.banks, 1);
    both.banks = b[0].banks;
    assert_int_equal(allocator_take(&a, &one, UINT64_MAX), ALLOC_OK);
    assert_int_equal(allocator_largest(&a, UINT64_MAX), 100u * UNIT);
    assert_int_equal(allocator_take(&a, &both, UINT64_MAX), ALLOC_NO_ROOM);
    assert_int_equal(allocator_take(&a, &other, UINT64_MAX), ALLOC_OK);
    assert_int_equal(other.at, one.at);
    allocator_free(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_place_is_that_of_a_plain_model),
        cmocka_unit_test(free_and_largest_block_by_hand),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
