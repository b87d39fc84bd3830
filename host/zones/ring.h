/* Rings of host zones: what one thread has recorded and the library has not taken out yet. One thread puts in, one takes
 * out, without a lock. Not for what records mean in a file (decode/capture/host_records.h).
 *
 * A cell is 16 bytes: when, and the number of the site, what it is, and how many bytes follow in further cells. Room for the
 * end of every zone that is open is kept free, so that only whole zones are lost. */
#ifndef DEVLOG_ZONES_RING_H
#define DEVLOG_ZONES_RING_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

typedef struct ring_cell {
    uint64_t time; /* ticks */
    uint64_t what; /* from the lowest bit: site 32, kind 2 (dl_host_kind), bytes that follow 30 */
} ring_cell;

enum { RING_KIND_SHIFT = 32, RING_BYTES_SHIFT = 34, RING_LEAST = 64, RING_MOST = 1 << 22 };

typedef struct ring {
    ring_cell *cells; /* a power of two of them */
    uint64_t mask;
    /* Of who puts in: */
    _Alignas(64) _Atomic uint64_t head;
    uint64_t tail_seen; /* it is there at least */
    uint64_t open;      /* zones: as many cells are kept free */
    _Atomic uint64_t lost, elsewhere;
    /* Of who takes out: */
    _Alignas(64) _Atomic uint64_t tail;
} ring;

static inline uint64_t ring_cells_of(uint64_t bytes)
{
    return 1 + (bytes + sizeof(ring_cell) - 1) / sizeof(ring_cell);
}

/* Whether `cells` more find room beside `kept` that are kept free. */
static inline bool ring_has_room(ring *r, uint64_t cells, uint64_t kept)
{
    const uint64_t head = atomic_load_explicit(&r->head, memory_order_relaxed);
    if (head - r->tail_seen + cells + kept <= r->mask + 1) return true;
    r->tail_seen = atomic_load_explicit(&r->tail, memory_order_acquire);
    return head - r->tail_seen + cells + kept <= r->mask + 1;
}

/* Puts a record with n bytes behind it, for which there is room. Returns how many cells are taken. */
static inline uint64_t ring_put(ring *r, uint64_t time, uint64_t what, const void *bytes, uint64_t n)
{
    const uint64_t head = atomic_load_explicit(&r->head, memory_order_relaxed), cells = ring_cells_of(n);
    r->cells[head & r->mask] = (ring_cell){time, what | n << RING_BYTES_SHIFT};
    for (uint64_t at = 0; at < n; at += sizeof(ring_cell)) {
        const uint64_t left = n - at;
        memcpy(&r->cells[(head + 1 + at / sizeof(ring_cell)) & r->mask], (const char *)bytes + at,
               left < sizeof(ring_cell) ? left : sizeof(ring_cell));
    }
    atomic_store_explicit(&r->head, head + cells, memory_order_release);
    return head + cells - r->tail_seen;
}

#endif
