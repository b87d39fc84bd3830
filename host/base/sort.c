/* Sorting numbers: quicksort, with insertion sort for what is short and heap sort for what is hostile. Keys: bucket by
 * bucket, from the last digits that differ to the first. */
#include "base/sort.h"

#include <stdlib.h>
#include <string.h>

enum { SHORT = 24, BUCKET_BITS = 11, BUCKETS = 1 << BUCKET_BITS };

static void insertion(uint64_t *v, size_t n)
{
    for (size_t i = 1; i < n; i++) {
        uint64_t moved = v[i];
        size_t at = i;
        for (; at && v[at - 1] > moved; at--)
            v[at] = v[at - 1];
        v[at] = moved;
    }
}

static void sift(uint64_t *v, size_t root, size_t n)
{
    for (size_t child; (child = root * 2 + 1) < n; root = child) {
        if (child + 1 < n && v[child + 1] > v[child]) child++;
        if (v[root] >= v[child]) return;
        uint64_t swapped = v[root];
        v[root] = v[child];
        v[child] = swapped;
    }
}

static void heap(uint64_t *v, size_t n)
{
    for (size_t root = n / 2; root-- > 0;)
        sift(v, root, n);
    while (n-- > 1) {
        uint64_t swapped = v[0];
        v[0] = v[n];
        v[n] = swapped;
        sift(v, 0, n);
    }
}

static uint64_t middle(uint64_t a, uint64_t b, uint64_t c)
{
    if (a > b) {
        uint64_t swapped = a;
        a = b;
        b = swapped;
    }
    return c < a ? a : c > b ? b : c;
}

static void sort(uint64_t *v, size_t n, unsigned depth)
{
    while (n > SHORT) {
        if (depth-- == 0) {
            heap(v, n);
            return;
        }
        uint64_t pivot = middle(v[0], v[n / 2], v[n - 1]);
        size_t low = 0, high = n - 1;
        for (;;) {
            while (v[low] < pivot)
                low++;
            while (v[high] > pivot)
                high--;
            if (low >= high) break;
            uint64_t swapped = v[low];
            v[low++] = v[high];
            v[high--] = swapped;
        }
        /* Everything before `low` is at most the pivot, everything from it on at least. The smaller part by a
         * call, so that the stack stays small. */
        if (low < n - low) {
            sort(v, low, depth);
            v += low;
            n -= low;
        } else {
            sort(v + low, n - low, depth);
            n = low;
        }
    }
    insertion(v, n);
}

void dl_sort_u64(uint64_t *values, size_t n)
{
    unsigned depth = 0;
    for (size_t left = n; left; left >>= 1)
        depth += 2;
    sort(values, n, depth);
}

static void deal(const dl_keyed *from, dl_keyed *to, size_t n, unsigned shift)
{
    size_t starts[BUCKETS] = {0}, sum = 0;
    for (size_t i = 0; i < n; i++)
        starts[from[i].key >> shift & (BUCKETS - 1)]++;
    for (size_t b = 0; b < BUCKETS; b++) {
        const size_t count = starts[b];
        starts[b] = sum;
        sum += count;
    }
    for (size_t i = 0; i < n; i++)
        to[starts[from[i].key >> shift & (BUCKETS - 1)]++] = from[i];
}

bool dl_sort_keyed(dl_keyed *items, size_t n)
{
    uint64_t differ = 0;
    bool sorted = true;
    for (size_t i = 1; i < n; i++) {
        differ |= items[i].key ^ items[0].key;
        sorted &= items[i - 1].key <= items[i].key;
    }
    if (sorted) return true;
    dl_keyed *other = malloc(n * sizeof *other), *from = items, *to = other;
    if (!other) return false;
    while (differ) {
        const unsigned shift = (unsigned)__builtin_ctzll(differ);
        deal(from, to, n, shift);
        dl_keyed *swapped = from;
        from = to;
        to = swapped;
        differ &= ~((uint64_t)(BUCKETS - 1) << shift);
    }
    if (from != items) memcpy(items, from, n * sizeof *items);
    free(other);
    return true;
}
