/* Where zones of host code go as they happen, beside the file: Tracy, ITT and USDT probes, as DEVLOG_HOST says. Not for the file
 * (zones/drain.c), nor for files that other tools open (report/). */
#ifndef DEVLOG_OUTLETS_H
#define DEVLOG_OUTLETS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

enum { OUTLET_TRACY = 1, OUTLET_ITT = 2, OUTLET_USDT = 4 };

/* OUTLET_* that zones go to; 0: none, and nothing below need be called. */
extern unsigned outlets_on;
static inline unsigned outlets(void)
{
    return __builtin_expect(__atomic_load_n(&outlets_on, __ATOMIC_RELAXED), 0);
}

/* Zones that are open on a thread, of what is forwarded. All zero at first. */
typedef struct outlet_zone {
    uint32_t site;
    unsigned sent;     /* OUTLET_* that were told of its begin */
    uint64_t tracy[2]; /* Tracy's name for it (tracy.h) */
} outlet_zone;

typedef struct outlet_thread {
    outlet_zone *open;
    uint32_t n, cap;
    uint32_t deeper; /* zones that found no room in it */
} outlet_thread;

/* What DEVLOG_HOST says: whether host zones are recorded, and OUTLET_* that are wanted, which are on from then on. A word that
 * there is not, and an outlet that was not built in, are DEVLOG_ERR_ARGUMENT. */
devlog_status outlets_read(bool *record, devlog_error *err);
/* Opens what is wanted; the first call does. What cannot be had is said on stderr, and is off. */
void outlets_open(void);
/* Around a fork, in the process that forks; the second in its child as well. */
void outlets_lock(void);
void outlets_unlock(void);
/* In a forked child: libraries with threads of their own stay the parent's. */
void outlets_in_child(void);
/* Says on stderr what did not go out, once. */
void outlets_close(void);

/* What is numbered, before it is used: texts live as long as the process. One caller at a time. */
void outlets_site(uint32_t number, const char *name, const char *function, const char *file, uint32_t line);

/* A zone of the calling thread; ends are told in the order that the outlets need: zones that began inside of it and have not ended
 * end with it. */
void outlets_begin(outlet_thread *t, uint32_t site);
void outlets_end(outlet_thread *t, uint32_t site);
void outlets_value(uint32_t site, uint64_t value);
/* A text; none: the end of a frame. */
void outlets_message(uint32_t site, const char *text, size_t n);
void outlets_thread(const char *name);

/* A block of a pool, whose name stays and whose curve is `site`, and how many bytes of the pool are allocated now. One caller at a time,
 * and only of blocks that are allocated once. outlets_alloc returns OUTLET_* that have to be told of its end. */
unsigned outlets_alloc(uint32_t site, const char *pool, const void *block, size_t bytes, uint64_t live);
void outlets_free(uint32_t site, const char *pool, const void *block, uint64_t live, unsigned told);

/* A lock, as the outlets know it. All zero at first. */
typedef struct outlet_lock {
    const char *name;
    unsigned known;  /* OUTLET_* that it was announced to */
    unsigned broken; /* and those that hear no more of it */
    void *tracy;
} outlet_lock;

/* Announces it, once; threads may come at once. `site` is where it is. The name stays as long as the process. */
void outlets_lock_is(outlet_lock *lock, uint32_t site, const char *name);
/* A thread waits for it, or got it without waiting. Returns OUTLET_* that were told, of which it has to be told the rest. */
unsigned outlets_lock_wait(outlet_lock *lock);
unsigned outlets_lock_tried(outlet_lock *lock);
void outlets_lock_held(outlet_lock *lock, unsigned told);
void outlets_lock_released(outlet_lock *lock, unsigned told);
/* A thread let it go that had not taken it: Tracy has no event for that, and hears no more of this lock. */
void outlets_lock_is_unclear(outlet_lock *lock);
void outlets_lock_end(outlet_lock *lock);

#endif
