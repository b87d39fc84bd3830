/* Zones of host code: what the macros of devlog/host.h call, the sites and the threads that record. The file that it becomes
 * is drain.c's. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>
#include <xxhash.h>

#include "base/absolute.h"
#include "base/options.h"
#include "base/settings.h"
#include "decode/capture/host_records.h"
#include "zones/zones_internal.h"

enum {
    RING = 256 * 1024,
    THREADS = 256,
    MOST_THREADS = 64 * 1024,
    MOST_SITES = 1 << 20,
    MOST_WAIT_MS = 60 * 1000
};

int devlog_host_on;
zones_recorder zones = {.file = PTHREAD_MUTEX_INITIALIZER, .lock = PTHREAD_MUTEX_INITIALIZER};
bool zones_by_tsc;

static __thread zones_thread *self; /* NULL: not known yet */
static zones_thread refused;        /* of threads that have no ring */
static pthread_key_t at_thread_end;
static pthread_once_t once = PTHREAD_ONCE_INIT;

/* ---- The process ------------------------------------------------------------------------------------- */

static void thread_ends(void *thread)
{
    self = NULL;
    atomic_store_explicit(&((zones_thread *)thread)->ended, true, memory_order_release);
}

void zones_lock_all(void)
{
    pthread_mutex_lock(&zones.file);
    pthread_mutex_lock(&zones.lock);
}

void zones_unlock_all(void)
{
    pthread_mutex_unlock(&zones.lock);
    pthread_mutex_unlock(&zones.file);
}

static void before_fork(void)
{
    zones_memory_lock();
    zones_lock_all();
    zones_file_before_fork();
    outlets_lock();
}

static void in_parent(void)
{
    outlets_unlock();
    zones_unlock_all();
    zones_memory_unlock();
}

/* The file, the thread that writes it and the rings are the parent's. */
static void in_child(void)
{
    self = NULL;
    (void)pthread_setspecific(at_thread_end, NULL);
    zones_memory_in_child(zones.running);
    if (zones.running) zones_file_forget();
    zones.running = false;
    zones.starts++;
    outlets_in_child();
    zones_thread **last = &zones.threads;
    while (*last)
        last = &(*last)->next;
    *last = zones.of_parents;
    zones.of_parents = zones.threads;
    zones.threads = NULL;
    zones.n_threads = zones.next_number = 0;
    in_parent();
}

static void first_time(void)
{
    zones_find_clock();
    (void)pthread_key_create(&at_thread_end, thread_ends);
    (void)pthread_atfork(before_fork, in_parent, in_child);
}

/* What the caller of devlog_host_start wants, for now and for the children of the process. */
static devlog_status configure(const devlog_host_options *given, devlog_error *err)
{
    devlog_host_options o;
    devlog_status status = dl_options_take(&o, sizeof o, given, "devlog_host_options", err);
    if (status) return status;
    const char *folder = o.folder ? o.folder : dl_setting_text(DL_SET_LOG_FOLDER);
    if (!folder) folder = "generated/profiler/logs";
    if (!o.ring) o.ring = RING;
    if (!o.threads) o.threads = THREADS;
    if (o.ring < RING_LEAST || o.ring > RING_MOST || o.ring & (o.ring - 1))
        return dl_fail(err, DEVLOG_ERR_ARGUMENT, "a ring of %u records: it is a power of two from %d to %d",
                       o.ring, RING_LEAST, RING_MOST);
    if (o.wait_ms > MOST_WAIT_MS)
        return dl_fail(err, DEVLOG_ERR_ARGUMENT, "wait_ms = %llu: %d at most", (unsigned long long)o.wait_ms,
                       MOST_WAIT_MS);
    if (o.threads > MOST_THREADS)
        return dl_fail(err, DEVLOG_ERR_ARGUMENT, "rings for %u threads: %d at most", o.threads, MOST_THREADS);
    status = dl_absolute(zones.folder, sizeof zones.folder, folder, err);
    if (status) return status;
    zones.ring = o.ring;
    zones.limit = o.threads;
    __atomic_store_n(&zones.wait_ns, o.wait_ms * 1000000, __ATOMIC_RELAXED);
    return DEVLOG_OK;
}

/* With both locks; options NULL: as before. */
static devlog_status start(const devlog_host_options *options, devlog_error *err)
{
    if (zones.running) return DEVLOG_OK;
    outlets_open();
    devlog_status status = options || !zones.ring ? configure(options, err) : DEVLOG_OK;
    if (status) return status;
    const bool again = zones.pid == getpid();
    zones.pid = getpid();
    for (zones_thread *t = zones.threads; t; t = t->next) /* what came after the last stop */
        atomic_store(&t->ring.tail, atomic_load(&t->ring.head));
    status = zones_file_begin(again, err);
    zones.running = status == DEVLOG_OK;
    __atomic_store_n(&zones.starts, zones.starts + 1, __ATOMIC_RELAXED);
    return status;
}

devlog_status devlog_host_start(const devlog_host_options *options, devlog_error *err)
{
    (void)pthread_once(&once, first_time);
    zones_lock_all();
    devlog_status status = start(options, err);
    zones_unlock_all();
    if (!status) __atomic_store_n(&devlog_host_on, 1, __ATOMIC_RELAXED);
    return status;
}

devlog_status devlog_host_stop(devlog_error *err)
{
    __atomic_store_n(&devlog_host_on, 0, __ATOMIC_RELAXED);
    return zones_file_end(err);
}

/* The environment is asked when the library is loaded; the file begins with the first zone, so that a program without one
 * leaves none. */
__attribute__((constructor)) static void loaded(void)
{
    devlog_error err;
    bool on;
    if (outlets_read(&on, &err))
        fprintf(stderr, "devlog: %s; host zones are not recorded\n", err.text);
    else if (on)
        devlog_host_on = 1;
}

/* Rings stay: other threads may still put something in. */
__attribute__((destructor)) static void unloaded(void)
{
    devlog_error err;
    if (devlog_host_stop(&err)) fprintf(stderr, "devlog: host zones: %s\n", err.text);
    outlets_close();
}

/* ---- Threads ------------------------------------------------------------------------------------------ */

/* With the lock: a ring that nobody has any more, or a new one. NULL: there is none. */
static zones_thread *take_ring(void)
{
    for (zones_thread *t = zones.threads; t; t = t->next)
        if (!t->number && t->ring.mask + 1 == zones.ring) return t;
    if (zones.n_threads >= zones.limit) return NULL;
    zones_thread *t = aligned_alloc(_Alignof(zones_thread), sizeof *t);
    if (!t) return NULL;
    *t = (zones_thread){.ring.mask = zones.ring - 1, .next = zones.threads};
    t->ring.cells = calloc(zones.ring, sizeof *t->ring.cells);
    if (!t->ring.cells) {
        free(t);
        return NULL;
    }
    zones.threads = t;
    zones.n_threads++;
    return t;
}

zones_thread *zones_row(const char *name)
{
    const int error_before = errno; /* a zone may begin between a call that failed and who looks why */
    (void)pthread_once(&once, first_time);
    devlog_error err;
    zones_lock_all();
    devlog_status status = DEVLOG_OK;
    if (!zones.running) status = start(NULL, &err);
    zones_thread *t = status ? NULL : take_ring();
    if (t) {
        t->number = ++zones.next_number;
        t->last = t->told_lost = t->told_elsewhere = 0;
        t->named = false;
        t->ring.open = 0;
        t->outlets.n = t->outlets.deeper = 0;
        t->ring.tail_seen = atomic_load(&t->ring.tail);
        atomic_store(&t->ring.lost, 0);
        atomic_store(&t->ring.elsewhere, 0);
        atomic_store(&t->ended, false);
        snprintf(t->name, sizeof t->name, "%s", name);
    }
    zones_unlock_all();
    if (status) {
        __atomic_store_n(&devlog_host_on, 0, __ATOMIC_RELAXED);
        fprintf(stderr, "devlog: host zones are not recorded: %s\n", err.text);
    }
    errno = error_before;
    return t;
}

/* The calling thread, which has not recorded before. */
static zones_thread *adopt(void)
{
    char name[ZONES_NAME];
    if (prctl(PR_GET_NAME, name)) name[0] = 0;
    zones_thread *t = zones_row(name);
    self = t ? t : &refused;
    if (t) (void)pthread_setspecific(at_thread_end, t);
    return self;
}

zones_thread *zones_this_thread(void)
{
    zones_thread *t = self;
    if (__builtin_expect(!t, 0)) t = adopt();
    if (__builtin_expect(t == &refused, 0)) {
        atomic_fetch_add_explicit(&zones.refused, 1, memory_order_relaxed);
        return NULL;
    }
    return t;
}

void devlog_host_thread(const char *name)
{
    zones_thread *t = name ? zones_this_thread() : NULL;
    if (!t) return;
    pthread_mutex_lock(&zones.lock);
    if (!t->named) snprintf(t->name, sizeof t->name, "%s", name);
    pthread_mutex_unlock(&zones.lock);
    if (outlets()) outlets_thread(name);
}

/* ---- Sites -------------------------------------------------------------------------------------------- */

/* A copy that stays, cut to what a file holds. */
static devlog_host_site *copy_of(const char *name, size_t n, const char *function, const char *file,
                                 uint32_t line)
{
    const char *texts[3] = {name, function ? function : "", file ? file : ""};
    size_t sizes[3] = {n, strlen(texts[1]), strlen(texts[2])};
    for (int i = 0; i < 3; i++)
        if (sizes[i] > DEVLOG_HOST_TEXT_MAX) sizes[i] = DEVLOG_HOST_TEXT_MAX;
    devlog_host_site *site = malloc(sizeof *site + sizes[0] + sizes[1] + sizes[2] + 3);
    if (!site) return NULL;
    char *at = (char *)(site + 1);
    const char *copies[3];
    for (int i = 0; i < 3; i++) {
        memcpy(at, texts[i], sizes[i]);
        at[sizes[i]] = 0;
        copies[i] = at;
        at += sizes[i] + 1;
    }
    *site = (devlog_host_site){copies[0], copies[1], copies[2], line, 0};
    return site;
}

/* With the lock: gives a copy its number. NULL: there is no room; the copy is gone. */
static devlog_host_site *enlist(devlog_host_site *copy)
{
    if (copy && zones.n_sites == zones.cap_sites && zones.n_sites < MOST_SITES) {
        const uint32_t cap = zones.cap_sites ? 2 * zones.cap_sites : 64;
        devlog_host_site **grown = realloc(zones.sites, cap * sizeof *grown);
        if (grown) {
            zones.sites = grown;
            zones.cap_sites = cap;
        }
    }
    if (!copy || zones.n_sites == zones.cap_sites) {
        free(copy);
        return NULL;
    }
    zones.sites[zones.n_sites++] = copy;
    copy->number = zones.n_sites;
    if (outlets()) outlets_site(copy->number, copy->name, copy->function, copy->file, copy->line);
    return copy;
}

/* The number of a site that is passed for the first time; 0: there is no room. */
static uint32_t number_of(devlog_host_site *site)
{
    pthread_mutex_lock(&zones.lock);
    uint32_t number = __atomic_load_n(&site->number, __ATOMIC_RELAXED);
    if (!number) {
        const devlog_host_site *copy =
            enlist(copy_of(site->name, strlen(site->name), site->function, site->file, site->line));
        number = copy ? copy->number : 0;
        __atomic_store_n(&site->number, number, __ATOMIC_RELEASE);
    }
    pthread_mutex_unlock(&zones.lock);
    return number;
}

static uint64_t hash_of(const char *name, size_t n, const char *file, uint32_t line)
{
    return XXH64(name, n, XXH64(file, strlen(file), line));
}

/* With the lock: where a name is in the table, or would be. */
static uint32_t *place_of(uint64_t hash, const char *name, size_t n, const char *file, uint32_t line)
{
    for (uint64_t i = hash;; i++) {
        uint32_t *place = &zones.named[i & (zones.cap_named - 1)];
        const devlog_host_site *s = *place ? zones.sites[*place - 1] : NULL;
        if (!s ||
            (s->line == line && strlen(s->name) == n && !memcmp(s->name, name, n) && !strcmp(s->file, file)))
            return place;
    }
}

/* With the lock. False: out of memory. */
static bool room_for_name(void)
{
    if (2 * (zones.n_named + 1) <= zones.cap_named) return true;
    const uint32_t before = zones.cap_named, cap = before ? 2 * before : 64;
    uint32_t *table = calloc(cap, sizeof *table), *old = zones.named;
    if (!table) return false;
    zones.named = table;
    zones.cap_named = cap;
    for (uint32_t i = 0; i < before; i++) {
        const devlog_host_site *s = old[i] ? zones.sites[old[i] - 1] : NULL;
        if (!s) continue;
        const size_t n = strlen(s->name);
        *place_of(hash_of(s->name, n, s->file, s->line), s->name, n, s->file, s->line) = old[i];
    }
    free(old);
    return true;
}

devlog_host_site *devlog_host_named(const char *name, size_t n, const char *function, const char *file,
                                    uint32_t line)
{
    devlog_host_site *site = NULL;
    n = strnlen(name, n < DEVLOG_HOST_TEXT_MAX ? n : DEVLOG_HOST_TEXT_MAX);
    char cut[DEVLOG_HOST_TEXT_MAX + 1];
    snprintf(cut, sizeof cut, "%s", file ? file : "");
    pthread_mutex_lock(&zones.lock);
    if (room_for_name()) {
        uint32_t *place = place_of(hash_of(name, n, cut, line), name, n, cut, line);
        if (*place) {
            site = zones.sites[*place - 1];
        } else if ((site = enlist(copy_of(name, n, function, cut, line)))) {
            *place = site->number;
            zones.n_named++;
        }
    }
    pthread_mutex_unlock(&zones.lock);
    return site;
}

/* ---- Records ------------------------------------------------------------------------------------------ */

static uint32_t number_in(devlog_host_site *site)
{
    const uint32_t number = __atomic_load_n(&site->number, __ATOMIC_ACQUIRE);
    return __builtin_expect(number != 0, 1) ? number : number_of(site);
}

void zones_lose(zones_thread *t)
{
    atomic_fetch_add_explicit(&t->ring.lost, 1, memory_order_relaxed);
}

/* The thread that empties rings need not wait until its time comes. */
static void look_at_room(const zones_thread *t, uint64_t used)
{
    if (__builtin_expect(used <= t->ring.mask / 2, 1) ||
        atomic_load_explicit(&zones.asked, memory_order_relaxed))
        return;
    if (!atomic_exchange(&zones.asked, true)) (void)sem_post(&zones.work);
}

/* Waits until the thread that empties rings has made room, for as long as a record may. */
static bool wait_for_room(zones_thread *t, uint64_t cells, uint64_t kept)
{
    const uint64_t may = __atomic_load_n(&zones.wait_ns, __ATOMIC_RELAXED);
    if (!may || cells + kept > t->ring.mask + 1) return false;
    const int error_before = errno;
    bool has = false;
    for (const uint64_t from = zones_ns(); !has && zones_ns() - from < may;) {
        if (!__atomic_load_n(&devlog_host_on, __ATOMIC_RELAXED)) break;
        if (!atomic_exchange(&zones.asked, true)) (void)sem_post(&zones.work);
        nanosleep(&(struct timespec){.tv_nsec = ZONES_NAP_NS}, NULL);
        has = ring_has_room(&t->ring, cells, kept);
    }
    errno = error_before;
    return has;
}

static bool has_room(zones_thread *t, uint64_t cells, uint64_t kept)
{
    return __builtin_expect(ring_has_room(&t->ring, cells, kept), 1) || wait_for_room(t, cells, kept);
}

static inline uint32_t begin(zones_thread *t, devlog_host_zone *zone, devlog_host_site *site)
{
    const uint32_t number = number_in(site);
    if (!number || !has_room(t, 1, t->ring.open + 1)) {
        zones_lose(t);
        return 0;
    }
    t->ring.open++;
    zone->thread = t;
    zone->number = number;
    zone->start = __atomic_load_n(&zones.starts, __ATOMIC_RELAXED);
    look_at_room(
        t, ring_put(&t->ring, zones_ticks(), number | (uint64_t)DL_HOST_BEGIN << RING_KIND_SHIFT, NULL, 0));
    return number;
}

void devlog_host_begin(devlog_host_zone *zone, devlog_host_site *site)
{
    zone->thread = NULL;
    zones_thread *t = zones_this_thread();
    const uint32_t number = t ? begin(t, zone, site) : 0;
    if (outlets() && number) outlets_begin(&t->outlets, number);
}

void zones_begin(zones_thread *t, devlog_host_zone *zone, devlog_host_site *site)
{
    zone->thread = NULL;
    (void)begin(t, zone, site);
}

static inline void end(zones_thread *t, devlog_host_zone *zone, uint64_t now)
{
    zone->thread = NULL;
    const bool now_open = zone->start == __atomic_load_n(&zones.starts, __ATOMIC_RELAXED);
    if (__builtin_expect(t != self || !t->ring.open || !now_open, 0)) {
        if (t == self && t->ring.open) t->ring.open--;
        /* A zone of before a fork ends in the parent, too, and one of before a stop has no file. */
        zones_thread *mine = now_open ? zones_this_thread() : NULL;
        if (mine) atomic_fetch_add_explicit(&mine->ring.elsewhere, 1, memory_order_relaxed);
        return;
    }
    ring_put(&t->ring, now, zone->number | (uint64_t)DL_HOST_END << RING_KIND_SHIFT, NULL, 0);
    t->ring.open--;
}

void devlog_host_end(devlog_host_zone *zone)
{
    const uint64_t now = zones_ticks();
    zones_thread *t = zone->thread;
    if (!t) return;
    if (outlets() && t == self) outlets_end(&t->outlets, zone->number);
    end(t, zone, now);
}

void zones_end(devlog_host_zone *zone, uint64_t now)
{
    if (zone->thread) end(zone->thread, zone, now);
}

/* The site's number; 0: it found no room. */
static uint32_t put_bytes(zones_thread *t, devlog_host_site *site, dl_host_kind kind, const void *bytes,
                          size_t n)
{
    const uint32_t number = t ? number_in(site) : 0;
    if (!t) return 0;
    if (!number || !has_room(t, ring_cells_of(n), t->ring.open)) {
        zones_lose(t);
        return 0;
    }
    look_at_room(t, ring_put(&t->ring, zones_ticks(), number | (uint64_t)kind << RING_KIND_SHIFT, bytes, n));
    return number;
}

uint32_t zones_put_value(zones_thread *t, devlog_host_site *site, uint64_t value)
{
    return put_bytes(t, site, DL_HOST_VALUE, &value, sizeof value);
}

void devlog_host_value(devlog_host_site *site, uint64_t value)
{
    const uint32_t number = put_bytes(zones_this_thread(), site, DL_HOST_VALUE, &value, sizeof value);
    if (outlets() && number) outlets_value(number, value);
}

void devlog_host_message(devlog_host_site *site, const char *text, size_t n)
{
    const size_t most = n < DEVLOG_HOST_TEXT_MAX ? n : DEVLOG_HOST_TEXT_MAX,
                 size = text ? strnlen(text, most) : 0;
    const uint32_t number = put_bytes(zones_this_thread(), site, DL_HOST_TEXT, text ? text : "", size);
    if (outlets() && number) outlets_message(number, text ? text : "", size);
}
