/* Zones of host code: macros that write down when a part of a C or C++ program runs, beside what its kernels record on
 * the device. Not for kernels (profile.h), nor for ops (devlog.h), which are written down without it.
 *
 *     #include <devlog/host.h>                 // cc -DPROFILE_HOST app.c -ldevlog
 *
 *     void step(void)
 *     {
 *         DEVLOG_HOST_FUNCTION();              // until the function returns, however it does
 *         DEVLOG_HOST_ZONE("prepare");         // until the end of the block
 *         DEVLOG_HOST_VALUE("queue", n);
 *         DEVLOG_HOST_MESSAGE("begins");
 *     }
 *
 * Without -DPROFILE_HOST nothing of this is in the program, and arguments are not evaluated. With it, and without
 * DEVLOG_HOST=1 in the environment or devlog_host_start(), each macro is one load and one branch that is not taken.
 * While recording, a zone takes two reads of the clock and two records of 16 bytes in a ring of its thread, without a
 * lock; a thread of the library takes them out and writes host_<pid>.devlog in the log folder, which is a capture
 * (docs/file-formats.md). What finds no room in a ring is counted and reported; the ends of zones always find room.
 *
 * Names and texts: a name of a macro is a literal, or lives as long as the program. Names and texts longer than
 * DEVLOG_HOST_TEXT_MAX bytes are cut, NUL bytes end them.
 *
 * Forked children record into files of their own. A zone has to end on the thread on which it began: otherwise it is
 * reported as one that never ended. */
#ifndef DEVLOG_HOST_H
#define DEVLOG_HOST_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "devlog/devlog.h"

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

enum { DEVLOG_HOST_TEXT_MAX = 16 * 1024 };

/* A place in a program. Static; the library numbers it when it is first passed. */
typedef struct devlog_host_site {
    const char *name, *function, *file;
    uint32_t line;
    uint32_t number; /* the library's; 0 at first */
} devlog_host_site;

/* A zone that is open: a variable of the block it is in. All zero: it was not recorded. */
typedef struct devlog_host_zone {
    void *thread;
    uint32_t number, start;
} devlog_host_zone;

/* A lock of the program: a variable beside it, which DEVLOG_HOST_LOCK_ANNOUNCE or DEVLOG_HOST_LOCK_INIT fills. */
typedef struct devlog_host_lock {
    const char *name, *function, *file;
    uint32_t line;
    uint32_t unused;
    void *known; /* the library's; NULL at first */
} devlog_host_lock;

/* Not 0 while zones are recorded. Read by the macros, and by programs that want to know; written by the library alone. */
extern int devlog_host_on;

typedef struct devlog_host_options {
    size_t size; /* DEVLOG_HOST_OPTIONS() sets it */
    const char
        *folder; /* where the file goes, which is made; NULL: the log folder of devices (DEVLOG_LOG_FOLDER) */
    uint32_t
        ring; /* records of 16 bytes per thread, a power of two from 64 to 1 << 22; 0: 256 Ki, of which only what is used takes memory */
    uint32_t threads; /* whose rings may exist at a time; others are counted and not recorded; 0: 256 */
    uint64_t
        wait_ms; /* how long a record may wait for room in a full ring before it is lost; 0: not at all. For who counts calls rather than time */
} devlog_host_options;
#define DEVLOG_HOST_OPTIONS(...) DEVLOG_OPTIONS_(devlog_host_options, __VA_ARGS__)

/* Starts to record; does nothing when that is going on. options may be NULL. DEVLOG_ERR_ARGUMENT: an option that cannot
 * be; DEVLOG_ERR_IO: the file cannot be written. */
devlog_status devlog_host_start(const devlog_host_options *options, devlog_error *err);
/* Writes what was recorded, and ends the file; the library does it when the program exits. DEVLOG_ERR_IO: not all of it
 * could be written. DEVLOG_OK when nothing was going on. */
devlog_status devlog_host_stop(devlog_error *err);

/* ---- What the macros call --------------------------------------------------------------------------- */

/* Begins a zone at a site, which is recorded if there is room for it. */
void devlog_host_begin(devlog_host_zone *zone, devlog_host_site *site);
/* Ends it; does nothing for a zone that is not open. */
void devlog_host_end(devlog_host_zone *zone);
/* A value as of now. */
void devlog_host_value(devlog_host_site *site, uint64_t value);
/* A point in time with a text of n bytes, which may be none. */
void devlog_host_message(devlog_host_site *site, const char *text, size_t n);
/* A site whose name is made at run time, for the calls above: the same one for the same name, file and line. It belongs to the
 * library, and stays. n: bytes of the name; function and file may be NULL. NULL: out of memory. */
devlog_host_site *devlog_host_named(const char *name, size_t n, const char *function, const char *file,
                                    uint32_t line);
/* Locks: a thread waits from `before` to `after`, and holds from `after`, or from `tried` with acquired != 0, to `released`, which
 * comes when it has let go. Zones "wait NAME" and "hold NAME" of the thread. One that lets go what another thread took is counted. */
void devlog_host_lock_before(devlog_host_lock *lock);
void devlog_host_lock_after(devlog_host_lock *lock);
void devlog_host_lock_tried(devlog_host_lock *lock, int acquired);
void devlog_host_lock_released(devlog_host_lock *lock);
/* The lock is gone; `lock` may be filled anew. */
void devlog_host_lock_end(devlog_host_lock *lock);
/* Memory: a block of a pool comes and goes. The row "memory" of the process has a value per pool, the bytes that are allocated, in
 * order. What is freed and was not allocated, or twice, is counted. NULL is nothing; a pool's name is a text that is copied. */
void devlog_host_alloc(const void *block, size_t bytes, const char *pool);
void devlog_host_free(const void *block, const char *pool);
/* Names the calling thread in reports, unless it recorded something some milliseconds ago already; its name for the system (pthread_setname_np) otherwise. */
void devlog_host_thread(const char *name);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

/* ---- The macros ------------------------------------------------------------------------------------- */

#ifdef PROFILE_HOST

#define DEVLOG_HOST_IS_ON()     __builtin_expect(__atomic_load_n(&devlog_host_on, __ATOMIC_RELAXED), 0)
#define DEVLOG_HOST_JOIN2(a, b) a##b
#define DEVLOG_HOST_JOIN(a, b)  DEVLOG_HOST_JOIN2(a, b)
#define DEVLOG_HOST_SITE(variable, name_)                                                                    \
    static devlog_host_site variable = {name_, __func__, __FILE__, __LINE__, 0}

#ifdef __cplusplus
struct dl_host_scope {
    devlog_host_zone zone;
    explicit dl_host_scope(devlog_host_site *site) : zone()
    {
        if (DEVLOG_HOST_IS_ON()) devlog_host_begin(&zone, site);
    }
    ~dl_host_scope()
    {
        if (__builtin_expect(zone.thread != nullptr, 0)) devlog_host_end(&zone);
    }
    dl_host_scope(const dl_host_scope &) = delete;
    dl_host_scope &operator=(const dl_host_scope &) = delete;
};
#define DEVLOG_HOST_ZONE_IN(site, zone) dl_host_scope zone(&(site))
#else
static inline void dl_host_leave(devlog_host_zone *zone)
{
    if (__builtin_expect(zone->thread != NULL, 0)) devlog_host_end(zone);
}
#define DEVLOG_HOST_ZONE_IN(site, zone)                                                                      \
    __attribute__((cleanup(dl_host_leave))) devlog_host_zone zone = {0};                                     \
    if (DEVLOG_HOST_IS_ON()) devlog_host_begin(&zone, &(site))
#endif

/* A zone from here to the end of the block. */
#define DEVLOG_HOST_ZONE(name)                                                                               \
    DEVLOG_HOST_SITE(DEVLOG_HOST_JOIN(devlog_host_site_, __LINE__), name);                                   \
    DEVLOG_HOST_ZONE_IN(DEVLOG_HOST_JOIN(devlog_host_site_, __LINE__),                                       \
                        DEVLOG_HOST_JOIN(devlog_host_zone_, __LINE__))
/* The same, with the name of the function. */
#define DEVLOG_HOST_FUNCTION() DEVLOG_HOST_ZONE(__func__)

/* A zone from one macro to the other, in one block or in several: DEVLOG_HOST_BEGIN declares `zone`. */
#define DEVLOG_HOST_BEGIN(zone, name)                                                                        \
    DEVLOG_HOST_SITE(DEVLOG_HOST_JOIN(zone, _site), name);                                                   \
    devlog_host_zone zone = {0, 0, 0};                                                                       \
    if (DEVLOG_HOST_IS_ON()) devlog_host_begin(&zone, &DEVLOG_HOST_JOIN(zone, _site))
#define DEVLOG_HOST_END(zone)                                                                                \
    do {                                                                                                     \
        if (__builtin_expect((zone).thread != 0, 0)) devlog_host_end(&(zone));                               \
    } while (0)

#define DEVLOG_HOST_CALL(name, ...)                                                                          \
    do {                                                                                                     \
        if (DEVLOG_HOST_IS_ON()) {                                                                           \
            DEVLOG_HOST_SITE(devlog_host_here, name);                                                        \
            __VA_ARGS__;                                                                                     \
        }                                                                                                    \
    } while (0)
/* An unsigned integer as of now: a curve. */
#define DEVLOG_HOST_VALUE(name, value)                                                                       \
    DEVLOG_HOST_CALL(name, devlog_host_value(&devlog_host_here, (uint64_t)(value)))
/* A text at a point in time. */
#define DEVLOG_HOST_MESSAGE_N(text, n)                                                                       \
    DEVLOG_HOST_CALL("message", devlog_host_message(&devlog_host_here, text, n))
#define DEVLOG_HOST_MESSAGE(text)                                                                            \
    DEVLOG_HOST_CALL("message", const char *devlog_said = (text);                                            \
                     devlog_host_message(&devlog_host_here, devlog_said, strlen(devlog_said)))
/* The end of one round of the program's main loop. */
#define DEVLOG_HOST_FRAME(name) DEVLOG_HOST_CALL(name, devlog_host_message(&devlog_host_here, "", 0))
#define DEVLOG_HOST_THREAD(name)                                                                             \
    do {                                                                                                     \
        if (DEVLOG_HOST_IS_ON()) devlog_host_thread(name);                                                   \
    } while (0)
/* Takes a lock by `call`, in a zone "wait NAME". */
#define DEVLOG_HOST_LOCK(name, call)                                                                         \
    do {                                                                                                     \
        DEVLOG_HOST_BEGIN(devlog_host_wait, "wait " name);                                                   \
        call;                                                                                                \
        DEVLOG_HOST_END(devlog_host_wait);                                                                   \
    } while (0)

/* Locks as of TracyC.h: `lock` is a devlog_host_lock beside the lock itself. */
static inline void dl_host_lock_fill(devlog_host_lock *lock, const char *name, const char *function,
                                     const char *file, uint32_t line)
{
    const devlog_host_lock filled = {name, function, file, line, 0, 0};
    *lock = filled;
}
#define DEVLOG_HOST_LOCK_INIT(name)                                                                          \
    {                                                                                                        \
        name, "", __FILE__, __LINE__, 0, 0                                                                   \
    }
#define DEVLOG_HOST_LOCK_ANNOUNCE(lock, name) dl_host_lock_fill(&(lock), name, __func__, __FILE__, __LINE__)
#define DEVLOG_HOST_LOCK_CALL(call)                                                                          \
    do {                                                                                                     \
        if (DEVLOG_HOST_IS_ON()) call;                                                                       \
    } while (0)
#define DEVLOG_HOST_LOCK_BEFORE(lock) DEVLOG_HOST_LOCK_CALL(devlog_host_lock_before(&(lock)))
#define DEVLOG_HOST_LOCK_AFTER(lock)  DEVLOG_HOST_LOCK_CALL(devlog_host_lock_after(&(lock)))
#define DEVLOG_HOST_LOCK_TRIED(lock, taken)                                                                  \
    DEVLOG_HOST_LOCK_CALL(devlog_host_lock_tried(&(lock), (taken) ? 1 : 0))
#define DEVLOG_HOST_LOCK_RELEASED(lock) DEVLOG_HOST_LOCK_CALL(devlog_host_lock_released(&(lock)))
#define DEVLOG_HOST_LOCK_TERMINATE(lock)                                                                     \
    do {                                                                                                     \
        if (__builtin_expect((lock).known != 0, 0)) devlog_host_lock_end(&(lock));                           \
    } while (0)

/* Memory as of TracyC.h: behind the call that allocates, and before the one that frees. */
#define DEVLOG_HOST_ALLOC_N(block, bytes, pool)                                                              \
    do {                                                                                                     \
        if (DEVLOG_HOST_IS_ON()) devlog_host_alloc(block, bytes, pool);                                      \
    } while (0)
#define DEVLOG_HOST_FREE_N(block, pool)                                                                      \
    do {                                                                                                     \
        if (DEVLOG_HOST_IS_ON()) devlog_host_free(block, pool);                                              \
    } while (0)
#define DEVLOG_HOST_ALLOC(block, bytes) DEVLOG_HOST_ALLOC_N(block, bytes, "heap")
#define DEVLOG_HOST_FREE(block)         DEVLOG_HOST_FREE_N(block, "heap")

#ifdef __cplusplus
/* A block that is allocated until the end of the C++ block it is declared in. */
class devlog_host_block {
    const void *block;
    const char *pool;

  public:
    devlog_host_block(const void *block_, size_t bytes, const char *pool_) : block(block_), pool(pool_)
    {
        DEVLOG_HOST_ALLOC_N(block, bytes, pool);
    }
    ~devlog_host_block()
    {
        DEVLOG_HOST_FREE_N(block, pool);
    }
    devlog_host_block(const devlog_host_block &) = delete;
    devlog_host_block &operator=(const devlog_host_block &) = delete;
};
#define DEVLOG_HOST_BLOCK(block, bytes, pool)                                                                \
    devlog_host_block DEVLOG_HOST_JOIN(devlog_host_block_, __LINE__)(block, bytes, pool)
/* A mutex that tells: std::lock_guard and its like take it as they take a std::mutex. */
template <class mutex> class devlog_host_mutex {
    mutex m;
    devlog_host_lock told;

  public:
    devlog_host_mutex(const char *name, const char *file, uint32_t line) : m(), told()
    {
        dl_host_lock_fill(&told, name, "", file, line);
    }
    ~devlog_host_mutex()
    {
        DEVLOG_HOST_LOCK_TERMINATE(told);
    }
    devlog_host_mutex(const devlog_host_mutex &) = delete;
    devlog_host_mutex &operator=(const devlog_host_mutex &) = delete;
    void lock()
    {
        DEVLOG_HOST_LOCK_BEFORE(told);
        m.lock();
        DEVLOG_HOST_LOCK_AFTER(told);
    }
    bool try_lock()
    {
        const bool taken = m.try_lock();
        DEVLOG_HOST_LOCK_TRIED(told, taken);
        return taken;
    }
    void unlock()
    {
        m.unlock();
        DEVLOG_HOST_LOCK_RELEASED(told);
    }
};
#define DEVLOG_HOST_MUTEX_TYPE(type) devlog_host_mutex<type>
#define DEVLOG_HOST_MUTEX(type, variable, name)                                                              \
    devlog_host_mutex<type> variable                                                                         \
    {                                                                                                        \
        name, __FILE__, __LINE__                                                                             \
    }
#endif

#else /* nothing is left, and what is named counts as used */

#define DEVLOG_HOST_IS_ON()            0
#define DEVLOG_HOST_ZONE(name)         ((void)0)
#define DEVLOG_HOST_FUNCTION()         ((void)0)
#define DEVLOG_HOST_BEGIN(zone, name)  ((void)0)
#define DEVLOG_HOST_END(zone)          ((void)0)
#define DEVLOG_HOST_VALUE(name, value) ((void)sizeof(value))
#define DEVLOG_HOST_MESSAGE(text)      ((void)sizeof(text))
#define DEVLOG_HOST_MESSAGE_N(text, n) ((void)sizeof(text), (void)sizeof(n))
#define DEVLOG_HOST_FRAME(name)        ((void)0)
#define DEVLOG_HOST_THREAD(name)       ((void)sizeof(name))
#define DEVLOG_HOST_LOCK(name, call)                                                                         \
    do {                                                                                                     \
        call;                                                                                                \
    } while (0)
#define DEVLOG_HOST_LOCK_INIT(name)                                                                          \
    {                                                                                                        \
        name, "", __FILE__, __LINE__, 0, 0                                                                   \
    }
#define DEVLOG_HOST_LOCK_ANNOUNCE(lock, name)   ((void)sizeof(lock), (void)sizeof(name))
#define DEVLOG_HOST_LOCK_BEFORE(lock)           ((void)sizeof(lock))
#define DEVLOG_HOST_LOCK_AFTER(lock)            ((void)sizeof(lock))
#define DEVLOG_HOST_LOCK_TRIED(lock, taken)     ((void)sizeof(lock), (void)sizeof(taken))
#define DEVLOG_HOST_LOCK_RELEASED(lock)         ((void)sizeof(lock))
#define DEVLOG_HOST_LOCK_TERMINATE(lock)        ((void)sizeof(lock))
#define DEVLOG_HOST_ALLOC_N(block, bytes, pool) ((void)sizeof(block), (void)sizeof(bytes), (void)sizeof(pool))
#define DEVLOG_HOST_FREE_N(block, pool)         ((void)sizeof(block), (void)sizeof(pool))
#define DEVLOG_HOST_ALLOC(block, bytes)         ((void)sizeof(block), (void)sizeof(bytes))
#define DEVLOG_HOST_FREE(block)                 ((void)sizeof(block))
#ifdef __cplusplus
#define DEVLOG_HOST_BLOCK(block, bytes, pool)   ((void)sizeof(block), (void)sizeof(bytes), (void)sizeof(pool))
#define DEVLOG_HOST_MUTEX_TYPE(type)            type
#define DEVLOG_HOST_MUTEX(type, variable, name) type variable
#endif

#endif

#endif
