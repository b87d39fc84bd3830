/* A Tracy client library that writes down what it was called with: the functions of Tracy's C API that devlog looks up, with their
 * types of its header (wolfpld/tracy, public/tracy/TracyC.h at aa53e37). Not Tracy: nothing is sent. A line per call goes to the file that
 * DEVLOG_TEST_TRACY names; with DEVLOG_TEST_ALONE=1 nobody is connected, and calls are only counted. */
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

typedef struct place {
    const char *name, *function, *file;
    uint32_t line, color;
} place;
typedef struct zone {
    uint32_t id;
    int32_t active;
} zone;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int file =
    -1; /* a line is one write: what a buffer holds when another thread forks would be written by the child, too */
static int alone;
static unsigned long calls, zones;

__attribute__((constructor)) static void loaded(void)
{
    const char *path = getenv("DEVLOG_TEST_TRACY");
    file = path ? open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644) : -1;
    alone = getenv("DEVLOG_TEST_ALONE") != NULL;
}

__attribute__((destructor)) static void unloaded(void)
{
    if (file >= 0 && alone) dprintf(file, "calls %lu\n", calls);
    if (file >= 0) close(file);
}

#define SAY(...)                                                                                             \
    do {                                                                                                     \
        pthread_mutex_lock(&lock);                                                                           \
        calls++;                                                                                             \
        if (file >= 0 && !alone) dprintf(file, __VA_ARGS__);                                                 \
        pthread_mutex_unlock(&lock);                                                                         \
    } while (0)
#define THREAD (long)syscall(SYS_gettid)

#pragma GCC visibility push(default)
zone ___tracy_emit_zone_begin(const place *at, int32_t active);
zone ___tracy_emit_zone_begin(const place *at, int32_t active)
{
    const zone z = {(uint32_t)__atomic_add_fetch(&zones, 1, __ATOMIC_RELAXED), active};
    SAY("begin %ld %u %s %s %u %u\n", THREAD, z.id, at->name, at->function, at->line, at->color);
    return z;
}
void ___tracy_emit_zone_end(zone z);
void ___tracy_emit_zone_end(zone z)
{
    SAY("end %ld %u %d\n", THREAD, z.id, z.active);
}
void ___tracy_emit_plot_int(const char *name, int64_t value);
void ___tracy_emit_plot_int(const char *name, int64_t value)
{
    SAY("plot %ld %s %lld\n", THREAD, name, (long long)value);
}
void ___tracy_emit_logString(int8_t severity, int32_t color, int32_t depth, size_t n, const char *text);
void ___tracy_emit_logString(int8_t severity, int32_t color, int32_t depth, size_t n, const char *text)
{
    SAY("message %ld %d %d %d %.*s\n", THREAD, severity, color, depth, (int)n, text);
}
void ___tracy_emit_frame_mark(const char *name);
void ___tracy_emit_frame_mark(const char *name)
{
    SAY("frame %ld %s\n", THREAD, name);
}
void ___tracy_set_thread_name(const char *name);
void ___tracy_set_thread_name(const char *name)
{
    SAY("thread %ld %s\n", THREAD, name);
}
typedef struct lock_told {
    unsigned number;
} lock_told;
lock_told *___tracy_announce_lockable_ctx(const place *at);
lock_told *___tracy_announce_lockable_ctx(const place *at)
{
    static lock_told locks[64];
    static unsigned n;
    lock_told *l = &locks[__atomic_fetch_add(&n, 1, __ATOMIC_RELAXED) % 64];
    l->number = n;
    SAY("lock %u announced %s %u\n", l->number, at->name, at->line);
    return l;
}
void ___tracy_terminate_lockable_ctx(lock_told *l);
void ___tracy_terminate_lockable_ctx(lock_told *l)
{
    SAY("lock %u terminated\n", l->number);
}
void ___tracy_custom_name_lockable_ctx(lock_told *l, const char *name, size_t n);
void ___tracy_custom_name_lockable_ctx(lock_told *l, const char *name, size_t n)
{
    SAY("lock %u named %.*s\n", l->number, (int)n, name);
}
int32_t ___tracy_before_lock_lockable_ctx(lock_told *l);
int32_t ___tracy_before_lock_lockable_ctx(lock_told *l)
{
    SAY("lock %u wait %ld\n", l->number, THREAD);
    return 1;
}
void ___tracy_after_lock_lockable_ctx(lock_told *l);
void ___tracy_after_lock_lockable_ctx(lock_told *l)
{
    SAY("lock %u held %ld\n", l->number, THREAD);
}
void ___tracy_after_unlock_lockable_ctx(lock_told *l);
void ___tracy_after_unlock_lockable_ctx(lock_told *l)
{
    SAY("lock %u released %ld\n", l->number, THREAD);
}
void ___tracy_after_try_lock_lockable_ctx(lock_told *l, int32_t acquired);
void ___tracy_after_try_lock_lockable_ctx(lock_told *l, int32_t acquired)
{
    SAY("lock %u tried %d\n", l->number, acquired);
}

/* Memory, which Tracy takes apart by address: a free of what it does not know ends its capture. */
void ___tracy_emit_memory_alloc_named(const void *p, size_t n, const char *pool);
void ___tracy_emit_memory_alloc_named(const void *p, size_t n, const char *pool)
{
    SAY("alloc %p %zu %s\n", p, n, pool);
}
void ___tracy_emit_memory_free_named(const void *p, const char *pool);
void ___tracy_emit_memory_free_named(const void *p, const char *pool)
{
    SAY("free %p %s\n", p, pool);
}
int32_t ___tracy_connected(void);
int32_t ___tracy_connected(void)
{
    return !alone;
}

typedef struct gpu_context {
    int64_t time;
    float period;
    uint8_t context, flags, type;
} gpu_context;
typedef struct gpu_name {
    uint8_t context;
    const char *name;
    uint16_t n;
} gpu_name;
typedef struct gpu_begin {
    uint64_t place;
    uint16_t query;
    uint8_t context;
} gpu_begin;
typedef struct gpu_end {
    uint16_t query;
    uint8_t context;
} gpu_end;
typedef struct gpu_time {
    int64_t time;
    uint16_t query;
    uint8_t context;
} gpu_time;

void ___tracy_emit_gpu_new_context_serial(gpu_context c);
void ___tracy_emit_gpu_new_context_serial(gpu_context c)
{
    SAY("gpu_context %u %lld %g %u %u\n", c.context, (long long)c.time, (double)c.period, c.flags, c.type);
}
void ___tracy_emit_gpu_context_name_serial(gpu_name c);
void ___tracy_emit_gpu_context_name_serial(gpu_name c)
{
    SAY("gpu_name %u %.*s\n", c.context, (int)c.n, c.name);
}
void ___tracy_emit_gpu_zone_begin_serial(gpu_begin z);
void ___tracy_emit_gpu_zone_begin_serial(gpu_begin z)
{
    const place *at = (const place *)(uintptr_t)z.place;
    SAY("gpu_begin %u %u %p %s\n", z.context, z.query, (const void *)at, at->name);
}
void ___tracy_emit_gpu_zone_end_serial(gpu_end z);
void ___tracy_emit_gpu_zone_end_serial(gpu_end z)
{
    SAY("gpu_end %u %u\n", z.context, z.query);
}
void ___tracy_emit_gpu_time_serial(gpu_time t);
void ___tracy_emit_gpu_time_serial(gpu_time t)
{
    SAY("gpu_time %u %u %lld\n", t.context, t.query, (long long)t.time);
}
#pragma GCC visibility pop
