/* Host zones to Tracy, and how its library is found. See the header. */
#include "outlets/tracy.h"

#include <dlfcn.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "base/settings.h"

enum {
    MOST_WAITING =
        1 << 20,       /* events that may wait in the library for somebody who connects; some 64 bytes each */
    MOST_TEXT = 65000, /* bytes: Tracy counts them in 16 bits */
    INFO = 2           /* severity of a message */
};

/* Tracy's struct of a zone has 8 bytes, and 16 where the library was built with TRACY_ON_DEMAND. As 16 bytes it travels in two
 * registers on x86-64 and AArch64, of which such a library looks at the first, so that one form serves both. */
typedef struct tracy_zone {
    uint64_t words[2];
} tracy_zone;

static struct {
    tracy_zone (*begin)(const outlet_site *, int32_t);
    void (*end)(tracy_zone);
    void (*plot)(const char *, int64_t);
    void (*log)(int8_t, int32_t, int32_t, size_t, const char *);
    void (*message)(const char *, size_t, int32_t); /* of libraries before 0.14 */
    void (*frame)(const char *);
    void (*thread)(const char *);
    void (*alloc)(const void *, size_t, const char *);
    void (*free)(const void *, const char *);
    struct {
        void *(*announce)(const outlet_site *);
        void (*terminate)(void *);
        int32_t (*before)(void *);
        void (*after)(void *);
        void (*unlocked)(void *);
        void (*tried)(void *, int32_t);
        void (*named)(void *, const char *, size_t);
    } lock;
    bool has_lock;
    int32_t (*connected)(void);
    int32_t (*started)(void);
    tracy_gpu gpu;
    bool has_gpu;
} tracy;

static atomic_ullong waiting, unsent;

static void *find(void *library, const char *name)
{
    return dlsym(library ? library : RTLD_DEFAULT, name);
}

/* ISO C has no way from void * to a function; POSIX has this one (dlsym). */
#define FIND(to, name)                                                                                       \
    do {                                                                                                     \
        void *found = find(library, name);                                                                   \
        memcpy(&(to), &found, sizeof found);                                                                 \
    } while (0)

static void find_all(void *library)
{
    FIND(tracy.begin, "___tracy_emit_zone_begin");
    FIND(tracy.end, "___tracy_emit_zone_end");
    FIND(tracy.plot, "___tracy_emit_plot_int");
    FIND(tracy.log, "___tracy_emit_logString");
    FIND(tracy.message, "___tracy_emit_message");
    FIND(tracy.frame, "___tracy_emit_frame_mark");
    FIND(tracy.thread, "___tracy_set_thread_name");
    FIND(tracy.alloc, "___tracy_emit_memory_alloc_named");
    FIND(tracy.free, "___tracy_emit_memory_free_named");
    FIND(tracy.lock.announce, "___tracy_announce_lockable_ctx");
    FIND(tracy.lock.terminate, "___tracy_terminate_lockable_ctx");
    FIND(tracy.lock.before, "___tracy_before_lock_lockable_ctx");
    FIND(tracy.lock.after, "___tracy_after_lock_lockable_ctx");
    FIND(tracy.lock.unlocked, "___tracy_after_unlock_lockable_ctx");
    FIND(tracy.lock.tried, "___tracy_after_try_lock_lockable_ctx");
    FIND(tracy.lock.named, "___tracy_custom_name_lockable_ctx");
    tracy.has_lock = tracy.lock.announce && tracy.lock.terminate && tracy.lock.before && tracy.lock.after &&
                     tracy.lock.unlocked && tracy.lock.tried;
    FIND(tracy.connected, "___tracy_connected");
    FIND(tracy.started, "___tracy_profiler_started");
    FIND(tracy.gpu.new_context, "___tracy_emit_gpu_new_context_serial");
    FIND(tracy.gpu.name, "___tracy_emit_gpu_context_name_serial");
    FIND(tracy.gpu.begin, "___tracy_emit_gpu_zone_begin_serial");
    FIND(tracy.gpu.end, "___tracy_emit_gpu_zone_end_serial");
    FIND(tracy.gpu.time, "___tracy_emit_gpu_time_serial");
    tracy.has_gpu =
        tracy.gpu.new_context && tracy.gpu.name && tracy.gpu.begin && tracy.gpu.end && tracy.gpu.time;
}

devlog_status tracy_open(devlog_error *err)
{
    const char *named = dl_setting_text(DL_SET_TRACY);
    const char *path = named ? named : "libTracyClient.so";
    find_all(NULL);
    if (!tracy.begin || !tracy.end) {
        void *library = dlopen(path, RTLD_NOW | RTLD_GLOBAL | RTLD_NODELETE);
        if (!library)
            return dl_fail(err, DEVLOG_ERR_NOT_FOUND,
                           "there is no Tracy client library in the process, nor %s; DEVLOG_TRACY names one",
                           path);
        find_all(library);
        if (!tracy.begin || !tracy.end)
            return dl_fail(err, DEVLOG_ERR_NOT_FOUND, "%s has no ___tracy_emit_zone_begin", path);
    }
    if (tracy.started && !tracy.started())
        return dl_fail(err, DEVLOG_ERR_STATE,
                       "its client was built with TRACY_MANUAL_LIFETIME, and has not been started");
    return DEVLOG_OK;
}

bool tracy_may_send(uint64_t events)
{
    if (!tracy.connected || tracy.connected()) return true;
    if (atomic_fetch_add_explicit(&waiting, events, memory_order_relaxed) + events <= MOST_WAITING)
        return true;
    tracy_unsent(events);
    return false;
}

void tracy_unsent(uint64_t events)
{
    atomic_fetch_add_explicit(&unsent, events, memory_order_relaxed);
}

unsigned long long tracy_take_unsent(void)
{
    return atomic_exchange(&unsent, 0);
}

bool tracy_begin(const outlet_site *site, uint64_t zone[2])
{
    if (!tracy_may_send(2)) return false;
    const tracy_zone z = tracy.begin(site, 1);
    memcpy(zone, z.words, sizeof z.words);
    return true;
}

void tracy_end(const uint64_t zone[2])
{
    tracy.end((tracy_zone){{zone[0], zone[1]}});
}

void tracy_value(const outlet_site *site, uint64_t value)
{
    if (tracy.plot && tracy_may_send(1))
        tracy.plot(site->name, value > INT64_MAX ? INT64_MAX : (int64_t)value);
}

void tracy_message(const outlet_site *site, const char *text, size_t n)
{
    if (n > MOST_TEXT) n = MOST_TEXT;
    if (!tracy_may_send(1)) return;
    if (!n && strcmp(site->name, "message") != 0) {
        if (tracy.frame) tracy.frame(site->name);
    } else if (tracy.log) {
        tracy.log(INFO, 0, 0, n, text);
    } else if (tracy.message) {
        tracy.message(text, n, 0);
    }
}

void tracy_thread(const char *name)
{
    if (tracy.thread) tracy.thread(name);
}

bool tracy_alloc(const void *block, size_t bytes, const char *pool)
{
    if (!tracy.alloc || !tracy.free || !tracy_may_send(2)) return false;
    tracy.alloc(block, bytes, pool);
    return true;
}

void tracy_free(const void *block, const char *pool)
{
    tracy.free(block, pool);
}

void *tracy_lock(const outlet_site *site, const char *name)
{
    if (!tracy.has_lock || !tracy_may_send(3)) return NULL; /* announced, named, terminated */
    void *lock = tracy.lock.announce(site);
    const size_t n = strlen(name);
    if (lock && tracy.lock.named) tracy.lock.named(lock, name, n < MOST_TEXT ? n : MOST_TEXT);
    return lock;
}

bool tracy_lock_wait(void *lock)
{
    if (!tracy_may_send(3)) return false; /* with those that it has and gives it up */
    (void)tracy.lock.before(lock);
    return true;
}

bool tracy_lock_tried(void *lock)
{
    if (!tracy_may_send(2)) return false;
    tracy.lock.tried(lock, 1);
    return true;
}

void tracy_lock_held(void *lock)
{
    tracy.lock.after(lock);
}

void tracy_lock_released(void *lock)
{
    tracy.lock.unlocked(lock);
}

void tracy_lock_end(void *lock)
{
    tracy.lock.terminate(lock);
}

const tracy_gpu *tracy_gpu_calls(void)
{
    return outlets() & OUTLET_TRACY && tracy.has_gpu ? &tracy.gpu : NULL;
}
