/* Locks of host code: what the macros DEVLOG_HOST_LOCK_* of devlog/host.h call. A thread waits for a lock and holds it in zones, "wait
 * NAME" and "hold NAME", of its row; a list of its own says which end is which. Not locks of this library. */
#include <stdio.h>
#include <stdlib.h>

#include "zones/zones_internal.h"

enum { MOST_HELD = 64 /* by a thread at a time */, MOST_LOCKS = 64 * 1024, NAME = 256 };

/* What is known of a lock. */
typedef struct zones_lock {
    uint64_t number; /* no other lock has it, also when this place is used again */
    devlog_host_site *wait, *hold;
    outlet_lock outlets;
    _Atomic uint64_t taken, given; /* how often */
    _Atomic uint64_t given_elsewhere,
        unseen;              /* by a thread that had not taken it; of these, what its holder has not seen */
    struct zones_lock *next; /* of those that are free */
    struct zones_lock *made_before;
} zones_lock;

/* A lock that a thread waits for or holds. */
typedef struct held {
    uint64_t number;
    devlog_host_zone zone; /* whose thread is NULL when it found no room */
    uint32_t start;        /* the recording it is of */
    unsigned sent;         /* OUTLET_* that were told */
    bool waits;
} held;

static __thread struct {
    held items[MOST_HELD];
    uint32_t n;
} mine;

/* Under zones.lock: */
static zones_lock *unused, *all; /* all: also those of locks that nobody ended, for who looks for leaks */
static uint64_t n_locks, last_number;

static zones_lock *room_for_lock(void)
{
    pthread_mutex_lock(&zones.lock);
    zones_lock *l = unused;
    if (l) unused = l->next;
    const bool made = !l && n_locks < MOST_LOCKS && (l = malloc(sizeof *l));
    if (l) *l = (zones_lock){.number = ++last_number, .made_before = made ? all : l->made_before};
    if (made) {
        all = l;
        n_locks++;
    }
    pthread_mutex_unlock(&zones.lock);
    return l;
}

static void give_back(zones_lock *l)
{
    pthread_mutex_lock(&zones.lock);
    l->next = unused;
    unused = l;
    pthread_mutex_unlock(&zones.lock);
}

static devlog_host_site *site_of(const devlog_host_lock *lock, const char *what, const char *name)
{
    char text[NAME];
    snprintf(text, sizeof text, "%s %s", what, name);
    return devlog_host_named(text, strlen(text), lock->function, lock->file, lock->line);
}

/* NULL: there is no room. Two threads may come at once. */
static zones_lock *known(devlog_host_lock *lock)
{
    zones_lock *l = __atomic_load_n(&lock->known, __ATOMIC_ACQUIRE);
    if (__builtin_expect(l != NULL, 1)) return l;
    const char *name = lock->name ? lock->name : "lock";
    if (!(l = room_for_lock())) return NULL;
    l->wait = site_of(lock, "wait", name);
    l->hold = site_of(lock, "hold", name);
    if (!l->wait || !l->hold) {
        give_back(l);
        return NULL;
    }
    void *before = NULL;
    if (!__atomic_compare_exchange_n(&lock->known, &before, l, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
        give_back(l);
        return before;
    }
    return l;
}

/* ---- The list of a thread ------------------------------------------------------------------------------ */

static void take_off(uint32_t at)
{
    memmove(&mine.items[at], &mine.items[at + 1], (mine.n - at - 1) * sizeof *mine.items);
    mine.n--;
}

/* The latest of a lock; NULL: none. */
static held *latest(uint64_t number, bool waits)
{
    for (uint32_t i = mine.n; i-- > 0;)
        if (mine.items[i].number == number && mine.items[i].waits == waits) return &mine.items[i];
    return NULL;
}

/* What began before recording did is of another file. */
static void forget_what_is_over(uint32_t start)
{
    for (uint32_t i = mine.n; i-- > 0;)
        if (mine.items[i].start != start) take_off(i);
}

static held *put(zones_thread *t, const zones_lock *l, bool waits)
{
    const uint32_t start = __atomic_load_n(&zones.starts, __ATOMIC_RELAXED);
    forget_what_is_over(start);
    if (mine.n == MOST_HELD) {
        zones_lose(t);
        return NULL;
    }
    held *h = &mine.items[mine.n++];
    *h = (held){.number = l->number, .start = start, .waits = waits};
    zones_begin(t, &h->zone, waits ? l->wait : l->hold);
    return h;
}

/* ---- What the macros call ------------------------------------------------------------------------------ */

static zones_lock *seen(devlog_host_lock *lock, zones_thread **t)
{
    *t = zones_this_thread();
    zones_lock *l = *t ? known(lock) : NULL;
    if (*t && !l) zones_lose(*t);
    if (l && outlets()) outlets_lock_is(&l->outlets, l->hold->number, l->hold->name + strlen("hold "));
    return l;
}

void devlog_host_lock_before(devlog_host_lock *lock)
{
    zones_thread *t;
    zones_lock *l = seen(lock, &t);
    held *h = l ? put(t, l, true) : NULL;
    if (h && h->zone.thread && outlets()) h->sent = outlets_lock_wait(&l->outlets);
}

/* A thread that holds what another has let go meanwhile holds it no more: its zone never ended. */
static void drop_what_was_given(zones_thread *t, zones_lock *l)
{
    held *h = atomic_load_explicit(&l->unseen, memory_order_relaxed) ? latest(l->number, false) : NULL;
    if (!h) return;
    atomic_fetch_sub_explicit(&l->unseen, 1, memory_order_relaxed);
    if (h->zone.thread == t && t->ring.open) t->ring.open--;
    take_off((uint32_t)(h - mine.items));
}

static void hold(zones_thread *t, zones_lock *l, unsigned sent, bool waited)
{
    drop_what_was_given(t, l);
    held *h = put(t, l, false);
    if (!h) return;
    atomic_fetch_add_explicit(&l->taken, 1, memory_order_relaxed);
    if (outlets() && !waited && h->zone.thread)
        sent = outlets_lock_tried(&l->outlets);
    else if (sent)
        outlets_lock_held(&l->outlets, sent);
    h->sent = sent;
}

void devlog_host_lock_after(devlog_host_lock *lock)
{
    zones_thread *t;
    const uint64_t now = zones_ticks();
    zones_lock *l = seen(lock, &t);
    held *h = l ? latest(l->number, true) : NULL;
    if (!l) return;
    const unsigned sent = h ? h->sent : 0;
    if (h) {
        zones_end(&h->zone, now);
        take_off((uint32_t)(h - mine.items));
    }
    hold(t, l, sent, h != NULL);
}

void devlog_host_lock_tried(devlog_host_lock *lock, int acquired)
{
    zones_thread *t;
    zones_lock *l = acquired ? seen(lock, &t) : NULL;
    if (l) hold(t, l, 0, false);
}

void devlog_host_lock_released(devlog_host_lock *lock)
{
    zones_thread *t;
    const uint64_t now = zones_ticks();
    zones_lock *l = seen(lock, &t);
    if (!l) return;
    held *h = latest(l->number, false);
    if (h) {
        zones_end(&h->zone, now);
        if (h->sent) outlets_lock_released(&l->outlets, h->sent);
        take_off((uint32_t)(h - mine.items));
        atomic_fetch_add_explicit(&l->given, 1, memory_order_relaxed);
        return;
    }
    /* Somebody else took it, or it was taken before recording began. */
    const uint64_t given = atomic_load_explicit(&l->given, memory_order_relaxed) +
                           atomic_load_explicit(&l->given_elsewhere, memory_order_relaxed);
    if (atomic_load_explicit(&l->taken, memory_order_relaxed) <= given) return;
    atomic_fetch_add_explicit(&l->given_elsewhere, 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&l->unseen, 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&t->ring.elsewhere, 1, memory_order_relaxed);
    outlets_lock_is_unclear(&l->outlets);
}

void devlog_host_lock_end(devlog_host_lock *lock)
{
    zones_lock *l = __atomic_exchange_n(&lock->known, NULL, __ATOMIC_ACQ_REL);
    if (!l) return;
    outlets_lock_end(&l->outlets);
    give_back(l);
}
