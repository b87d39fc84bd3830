/* Memory of host code: what devlog_host_alloc and devlog_host_free of devlog/host.h do. A table has the blocks that are allocated, because
 * a free does not say how large its block was; the bytes of a pool go into the row "memory", in the order in which they changed: so
 * one lock is around all of it. Not an allocator. */
#include <stdlib.h>

#include "zones/zones_internal.h"

enum { MOST_POOLS = 64, MOST_BLOCKS = 1 << 20, NAME = 256 };

typedef struct pool {
    devlog_host_site *site; /* its curve, and its name */
    uint64_t live;          /* bytes */
} pool;

/* A place of the table. */
typedef struct block {
    const void *address;
    uint64_t bytes;
    uint32_t pool;
    uint8_t state;
    uint8_t sent; /* OUTLET_* */
} block;
enum { EMPTY, LIVE, FREED };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
/* Under it: */
static pool pools[MOST_POOLS];
static block *table;
static size_t cap, used, n_live; /* used: places that are not empty */
static uint64_t untracked;       /* blocks that found no room in it */
static zones_thread *row;
static uint32_t start;
static bool keep; /* over the next start: the blocks of a forked child are its parent's */

void zones_memory_lock(void)
{
    pthread_mutex_lock(&lock);
}

void zones_memory_unlock(void)
{
    pthread_mutex_unlock(&lock);
}

void zones_memory_in_child(bool recorded)
{
    row = NULL;
    keep = recorded;
}

/* What came and went while nothing was recorded is not known. */
static void forget_all(void)
{
    free(table);
    table = NULL;
    cap = used = n_live = 0;
    untracked = 0;
    for (int i = 0; i < MOST_POOLS; i++)
        pools[i].live = 0;
}

/* The row, with the lock; NULL: there is none. */
static zones_thread *our_row(void)
{
    if (!row && !(row = zones_row("memory"))) return NULL;
    const uint32_t now = __atomic_load_n(&zones.starts, __ATOMIC_RELAXED);
    if (start != now && !keep) forget_all();
    start = now;
    keep = false;
    return row;
}

/* ---- The table ----------------------------------------------------------------------------------------- */

static size_t first_place(const void *address, uint32_t of)
{
    const uint64_t hash = ((uint64_t)(uintptr_t)address ^ (uint64_t)of << 56) * UINT64_C(0x9E3779B97F4A7C15);
    return (size_t)(hash >> 20) & (cap - 1);
}

/* Where a block is or was, or an empty place. */
static block *place_of(const void *address, uint32_t of)
{
    for (size_t i = first_place(address, of);; i = (i + 1) & (cap - 1)) {
        block *b = &table[i];
        if (b->state == EMPTY || (b->address == address && b->pool == of)) return b;
    }
}

/* Makes room for one more; what was freed is forgotten when it does not fit. False: there is none. */
static bool room_for_block(void)
{
    if (n_live >= MOST_BLOCKS) return false;
    if (4 * (used + 1) <= 3 * cap) return true;
    block *old = table;
    const size_t before = cap, more = 2 * n_live + 2 > cap ? 2 * cap : cap;
    block *grown = calloc(more ? more : 1024, sizeof *grown);
    if (!grown) return false;
    table = grown;
    cap = more ? more : 1024;
    used = n_live;
    for (size_t i = 0; i < before; i++)
        if (old[i].state == LIVE) *place_of(old[i].address, old[i].pool) = old[i];
    free(old);
    return true;
}

/* The number of a pool; MOST_POOLS: there is no room. */
static uint32_t pool_of(const char *name)
{
    uint32_t i = 0;
    if (!name) name = "heap";
    for (; i < MOST_POOLS && pools[i].site; i++)
        if (!strncmp(pools[i].site->name, name, NAME) && !name[strlen(pools[i].site->name)]) return i;
    if (i < MOST_POOLS) pools[i].site = devlog_host_named(name, strnlen(name, NAME), "", "", 0);
    return i < MOST_POOLS && pools[i].site ? i : MOST_POOLS;
}

/* ---- What the macros call ------------------------------------------------------------------------------ */

static void one_more(_Atomic uint64_t *count)
{
    atomic_fetch_add_explicit(count, 1, memory_order_relaxed);
}

static void let_go(pool *p, block *b)
{
    p->live -= b->bytes;
    b->state = FREED;
    n_live--;
    if (outlets()) outlets_free(p->site->number, p->site->name, b->address, p->live, b->sent);
}

static void allocated(zones_thread *t, const void *address, size_t bytes, const char *name)
{
    const uint32_t of = pool_of(name);
    if (of == MOST_POOLS || !room_for_block()) {
        untracked++;
        zones_lose(t);
        return;
    }
    pool *p = &pools[of];
    block *b = place_of(address, of);
    if (b->state == LIVE) {
        one_more(&zones.over);
        let_go(p, b);
    }
    used += b->state == EMPTY;
    n_live++;
    *b = (block){.address = address, .bytes = bytes, .pool = of, .state = LIVE};
    p->live += bytes;
    (void)zones_put_value(t, p->site, p->live);
    if (outlets()) b->sent = (uint8_t)outlets_alloc(p->site->number, p->site->name, address, bytes, p->live);
}

static void freed(zones_thread *t, const void *address, const char *name)
{
    const uint32_t of = pool_of(name);
    block *b = of < MOST_POOLS && cap ? place_of(address, of) : NULL;
    if (b && b->state == LIVE) {
        let_go(&pools[of], b);
        (void)zones_put_value(t, pools[of].site, pools[of].live);
    } else if (b && b->state == FREED) {
        one_more(&zones.twice);
    } else if (untracked) { /* it is taken for one of them */
        untracked--;
    } else {
        one_more(&zones.unknown);
    }
}

void devlog_host_alloc(const void *address, size_t bytes, const char *name)
{
    if (!address) return;
    pthread_mutex_lock(&lock);
    zones_thread *t = our_row();
    if (t) allocated(t, address, bytes, name);
    if (!t) one_more(&zones.refused);
    pthread_mutex_unlock(&lock);
}

void devlog_host_free(const void *address, const char *name)
{
    if (!address) return;
    pthread_mutex_lock(&lock);
    zones_thread *t = our_row();
    if (t) freed(t, address, name);
    if (!t) one_more(&zones.refused);
    pthread_mutex_unlock(&lock);
}
