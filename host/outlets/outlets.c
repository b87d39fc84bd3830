/* The switch of outlets, the sites they know, and the zones that are open. See the header. */
#include "outlets/outlets.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/settings.h"
#include "outlets/itt.h"
#include "outlets/tracy.h"
#include "outlets/usdt.h"

enum {
    DEEPEST = 4096, /* zones in zones that are forwarded */
    CHUNK = 1024,   /* sites */
    MOST_SITES =
        24000 /* Tracy has room for 32K source locations, those of devices included (tracy_device.c) */
};

unsigned outlets_on;
static _Atomic(outlet_site *) chunks[MOST_SITES / CHUNK + 1];
/* Of all that there are more. */
static outlet_site others = {.name = "zones beyond the first 24000 names", .function = "", .file = ""};
static atomic_ullong unnamed, too_deep, unclear;
static pthread_once_t opened = PTHREAD_ONCE_INIT;
static bool was_read;

/* ---- The switch --------------------------------------------------------------------------------------- */

devlog_status outlets_read(bool *record, devlog_error *err)
{
    enum { OFF = 1, ON = 2, TRACY = 4, ITT = 8, USDT = 16 }; /* the words of the table */
    unsigned words;
    *record = false;
    was_read = true;
    devlog_status status = dl_setting_words(DL_SET_HOST, &words, err);
    if (status) return status;
    if (words & ITT && !itt_built_in())
        return dl_fail(err, DEVLOG_ERR_ARGUMENT,
                       "DEVLOG_HOST: this devlog was built without ittnotify.h, and knows no itt");
    if (words & USDT && !usdt_built_in())
        return dl_fail(err, DEVLOG_ERR_ARGUMENT,
                       "DEVLOG_HOST: this devlog was built without sys/sdt.h, and knows no usdt");
    *record = (words & ~(unsigned)OFF) != 0;
    outlets_on = (words & TRACY ? OUTLET_TRACY : 0) | (words & ITT ? OUTLET_ITT : 0) |
                 (words & USDT ? OUTLET_USDT : 0);
    return DEVLOG_OK;
}

static void off(unsigned outlet)
{
    __atomic_fetch_and(&outlets_on, ~outlet, __ATOMIC_RELAXED);
}

/* Libraries are taken down after this (they were loaded before it was registered), and nothing may go there any more. */
static void at_the_end(void)
{
    off(OUTLET_TRACY | OUTLET_ITT);
}

static void open_all(void)
{
    devlog_error err;
    bool record;
    /* A program without zones of its own may be linked without the recorder, which reads it when it is loaded. */
    if (!was_read && outlets_read(&record, &err)) fprintf(stderr, "devlog: %s\n", err.text);
    if (outlets_on & OUTLET_TRACY && tracy_open(&err)) {
        fprintf(stderr, "devlog: nothing is sent to Tracy: %s\n", err.text);
        off(OUTLET_TRACY);
    }
    if (outlets_on) (void)atexit(at_the_end);
}

void outlets_open(void)
{
    (void)pthread_once(&opened, open_all);
}

void outlets_in_child(void)
{
    off(OUTLET_TRACY | OUTLET_ITT);
}

void outlets_close(void)
{
    const unsigned long long names = atomic_exchange(&unnamed, 0), deep = atomic_exchange(&too_deep, 0),
                             unsent = tracy_take_unsent(), locks = atomic_exchange(&unclear, 0);
    if (names)
        fprintf(stderr, "devlog: %llu zones went out without their names: there are more than %d\n", names,
                MOST_SITES);
    if (deep)
        fprintf(stderr, "devlog: %llu zones did not go out: they are inside of more than %d others\n", deep,
                DEEPEST);
    if (locks)
        fprintf(stderr,
                "devlog: Tracy heard no more of %llu locks: a thread let them go that had not taken them\n",
                locks);
    if (unsent)
        fprintf(
            stderr,
            "devlog: %llu events did not go to Tracy: nobody was connected to it, and it keeps in memory what waits\n",
            unsent);
}

/* ---- Sites -------------------------------------------------------------------------------------------- */

void outlets_site(uint32_t number, const char *name, const char *function, const char *file, uint32_t line)
{
    if (!others.itt && outlets() & OUTLET_ITT)
        others.itt = itt_name(others.name); /* before anything is numbered */
    if (!number || number > MOST_SITES) return;
    _Atomic(outlet_site *) *chunk = &chunks[(number - 1) / CHUNK];
    outlet_site *sites = atomic_load(chunk);
    const bool fresh = !sites;
    if (fresh) sites = calloc(CHUNK, sizeof *sites);
    if (!sites) return;
    sites[(number - 1) % CHUNK] =
        (outlet_site){.name = name, .function = function, .file = file, .line = line, .itt = itt_name(name)};
    if (fresh) atomic_store_explicit(chunk, sites, memory_order_release);
}

static outlet_site *site_of(uint32_t number)
{
    outlet_site *sites = number - 1 < MOST_SITES
                             ? atomic_load_explicit(&chunks[(number - 1) / CHUNK], memory_order_acquire)
                             : NULL;
    outlet_site *site = sites ? &sites[(number - 1) % CHUNK] : &others;
    if (site->name && site != &others) return site;
    atomic_fetch_add_explicit(&unnamed, 1, memory_order_relaxed);
    return &others;
}

/* ---- What happens ------------------------------------------------------------------------------------- */

static outlet_zone *push(outlet_thread *t)
{
    if (t->n == t->cap && t->cap < DEEPEST) {
        const uint32_t cap = t->cap ? 2 * t->cap : 64;
        outlet_zone *grown = realloc(t->open, cap * sizeof *grown);
        if (grown) {
            t->open = grown;
            t->cap = cap;
        }
    }
    if (t->n < t->cap) return &t->open[t->n++];
    t->deeper++;
    atomic_fetch_add_explicit(&too_deep, 1, memory_order_relaxed);
    return NULL;
}

void outlets_begin(outlet_thread *t, uint32_t number)
{
    outlet_zone *zone = push(t);
    if (!zone) return;
    const unsigned on = outlets();
    outlet_site *site = site_of(number);
    *zone = (outlet_zone){.site = number, .sent = on};
    if (on & OUTLET_USDT) usdt_begin(site->name, site->file, site->line);
    if (on & OUTLET_ITT && !itt_begin(site)) zone->sent &= ~(unsigned)OUTLET_ITT;
    if (on & OUTLET_TRACY && !tracy_begin(site, zone->tracy)) zone->sent &= ~(unsigned)OUTLET_TRACY;
}

static void end(const outlet_zone *zone)
{
    const unsigned on = outlets() & zone->sent;
    if (on & OUTLET_TRACY) tracy_end(zone->tracy);
    if (on & OUTLET_ITT) itt_end();
    if (on & OUTLET_USDT) usdt_end(site_of(zone->site)->name);
}

void outlets_end(outlet_thread *t, uint32_t number)
{
    if (t->deeper) {
        t->deeper--;
        return;
    }
    uint32_t at = t->n;
    while (at && t->open[at - 1].site != number)
        at--;
    if (!at) return; /* it ended with one around it */
    while (t->n >= at)
        end(&t->open[--t->n]);
}

void outlets_value(uint32_t number, uint64_t value)
{
    const unsigned on = outlets();
    const outlet_site *site = site_of(number);
    if (on & OUTLET_USDT) usdt_value(site->name, value);
    if (on & OUTLET_ITT) itt_value(site, value);
    if (on & OUTLET_TRACY) tracy_value(site, value);
}

void outlets_message(uint32_t number, const char *text, size_t n)
{
    const unsigned on = outlets();
    const outlet_site *site = site_of(number);
    if (on & OUTLET_USDT) usdt_message(site->name, text, n);
    if (on & OUTLET_ITT) itt_message(site, text, n);
    if (on & OUTLET_TRACY) tracy_message(site, text, n);
}

void outlets_thread(const char *name)
{
    const unsigned on = outlets();
    if (on & OUTLET_ITT) itt_thread(name);
    if (on & OUTLET_TRACY) tracy_thread(name);
}

/* ---- Memory ------------------------------------------------------------------------------------------- */

unsigned outlets_alloc(uint32_t number, const char *pool, const void *block, size_t bytes, uint64_t live)
{
    const unsigned on = outlets();
    if (on & OUTLET_USDT) usdt_alloc(pool, block, bytes);
    if (on & OUTLET_ITT) itt_value(site_of(number), live);
    return on & OUTLET_TRACY && !tracy_alloc(block, bytes, pool) ? on & ~(unsigned)OUTLET_TRACY : on;
}

void outlets_free(uint32_t number, const char *pool, const void *block, uint64_t live, unsigned told)
{
    const unsigned on = outlets();
    if (on & OUTLET_USDT) usdt_free(pool, block);
    if (on & OUTLET_ITT) itt_value(site_of(number), live);
    if (on & told & OUTLET_TRACY) tracy_free(block, pool);
}

/* ---- Locks -------------------------------------------------------------------------------------------- */

static pthread_mutex_t announcing = PTHREAD_MUTEX_INITIALIZER;

void outlets_lock(void)
{
    pthread_mutex_lock(&announcing);
}

void outlets_unlock(void)
{
    pthread_mutex_unlock(&announcing);
}

void outlets_lock_is(outlet_lock *lock, uint32_t site, const char *name)
{
    if (__atomic_load_n(&lock->known, __ATOMIC_ACQUIRE) || lock->broken) return;
    const unsigned on = outlets();
    pthread_mutex_lock(&announcing);
    if (!lock->known && on) {
        lock->name = name;
        if (on & OUTLET_TRACY) lock->tracy = tracy_lock(site_of(site), name);
        if (on & OUTLET_ITT) itt_lock(lock, name);
        __atomic_store_n(&lock->known, on, __ATOMIC_RELEASE);
    }
    pthread_mutex_unlock(&announcing);
}

static unsigned hears(const outlet_lock *lock)
{
    const unsigned on = outlets() & lock->known & ~__atomic_load_n(&lock->broken, __ATOMIC_RELAXED);
    return lock->tracy ? on : on & ~(unsigned)OUTLET_TRACY;
}

unsigned outlets_lock_wait(outlet_lock *lock)
{
    unsigned told = hears(lock);
    if (told & OUTLET_USDT) usdt_lock_wait(lock->name);
    if (told & OUTLET_ITT) itt_lock_wait(lock);
    if (told & OUTLET_TRACY && !tracy_lock_wait(lock->tracy)) told &= ~(unsigned)OUTLET_TRACY;
    return told;
}

unsigned outlets_lock_tried(outlet_lock *lock)
{
    unsigned told = hears(lock);
    if (told & OUTLET_USDT) usdt_lock_held(lock->name);
    if (told & OUTLET_ITT) itt_lock_held(lock);
    if (told & OUTLET_TRACY && !tracy_lock_tried(lock->tracy)) told &= ~(unsigned)OUTLET_TRACY;
    return told;
}

void outlets_lock_held(outlet_lock *lock, unsigned told)
{
    told &= hears(lock);
    if (told & OUTLET_TRACY) tracy_lock_held(lock->tracy);
    if (told & OUTLET_ITT) itt_lock_held(lock);
    if (told & OUTLET_USDT) usdt_lock_held(lock->name);
}

void outlets_lock_released(outlet_lock *lock, unsigned told)
{
    told &= hears(lock);
    if (told & OUTLET_TRACY) tracy_lock_released(lock->tracy);
    if (told & OUTLET_ITT) itt_lock_released(lock);
    if (told & OUTLET_USDT) usdt_lock_released(lock->name);
}

void outlets_lock_is_unclear(outlet_lock *lock)
{
    if (!(hears(lock) & OUTLET_TRACY)) return;
    const unsigned before = __atomic_fetch_or(&lock->broken, OUTLET_TRACY, __ATOMIC_RELAXED);
    if (!(before & OUTLET_TRACY)) atomic_fetch_add_explicit(&unclear, 1, memory_order_relaxed);
}

void outlets_lock_end(outlet_lock *lock)
{
    const unsigned on = hears(lock);
    if (on & OUTLET_TRACY) tracy_lock_end(lock->tracy);
    if (on & OUTLET_ITT) itt_lock_end(lock);
}
