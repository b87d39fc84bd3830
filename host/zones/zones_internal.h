/* What the files of this room share: the recorder of this process. Not for others. */
#ifndef DEVLOG_ZONES_INTERNAL_H
#define DEVLOG_ZONES_INTERNAL_H

#include <pthread.h>
#include <semaphore.h>
#include <sys/types.h>
#if defined(__x86_64__)
#include <x86intrin.h>
#endif

#include "decode/capture/capture.h"
#include "decode/capture/host_records.h"
#include "devlog/host.h"
#include "outlets/outlets.h"
#include "zones/ring.h"

enum { ZONES_NAME = 64, ZONES_NAP_NS = 50 * 1000 /* between two looks at what another thread does */ };

/* A thread that records. Its ring stays when it ends, for another. */
typedef struct zones_thread {
    ring ring;
    struct zones_thread *next;
    atomic_bool ended;     /* whoever put in will not any more */
    outlet_thread outlets; /* of whoever puts in */
    /* Under the recorder's lock: */
    uint32_t number; /* 0: nobody's */
    char name[ZONES_NAME];
    bool named; /* it is in the file under this name, which it keeps: a thread is one row */
    /* Under the file's lock: */
    uint64_t until;                     /* of the ring, this time */
    uint64_t last;                      /* ns of the last record that was taken out */
    uint64_t told_lost, told_elsewhere; /* that are in the file */
} zones_thread;

/* A moment on both clocks. */
typedef struct zones_moment {
    uint64_t ticks, ns, half; /* half: ns by which it may be off */
} zones_moment;

/* The recorder of a process: there is one, because macros have nothing to name another by. */
typedef struct zones_recorder {
    pthread_mutex_t file; /* of what the file is made of; taken before `lock` */
    pthread_mutex_t lock; /* of the rest, but for what is atomic */
    /* Under `lock`: */
    bool running;
    pid_t pid;
    char folder[4096];    /* absolute: a child may have another current folder */
    uint32_t ring, limit; /* cells of a ring; threads */
    uint64_t wait_ns;     /* for room in a ring; read without the lock */
    uint32_t starts;      /* how often it was begun; read without the lock */
    zones_thread *threads;
    zones_thread *of_parents; /* whose records are not for this process; kept for who looks for leaks */
    uint32_t n_threads, next_number;
    devlog_host_site **sites; /* copies; number - 1 is the place */
    uint32_t n_sites, cap_sites;
    uint32_t *named; /* hash table of numbers, of sites whose names were made at run time */
    uint32_t n_named, cap_named;
    _Atomic uint64_t unknown, twice, over; /* of memory (dl_host_memory) */
    _Atomic uint64_t refused;              /* records of threads that got no ring */
    /* Under `file`: */
    dl_capture *capture;
    uint32_t number, slot, put_sites;
    uint64_t told_refused;
    dl_host_memory told_memory;
    zones_moment from; /* the file's clock began */
    zones_moment last; /* the last time that records were taken out */
    uint64_t sampled;  /* ns of the last sample in the file */
    uint32_t bursts;
    dl_str bytes;
    uint64_t unwritten; /* records that did not get into the file */
    devlog_error error; /* the first of them */
    pthread_t drainer;
    sem_t work;
    atomic_bool asked, stop, begun; /* begun: the drainer runs */
} zones_recorder;

extern zones_recorder zones;

/* The time of records: cycles of the processor's own counter where that runs evenly, else ns. */
extern bool zones_by_tsc;
void zones_find_clock(void);
uint64_t zones_ns(void);
static inline uint64_t zones_ticks(void)
{
#if defined(__x86_64__)
    if (__builtin_expect(zones_by_tsc, 1)) return __rdtsc();
#endif
    return zones_ns();
}

/* zones.c. All of the recorder, for who takes both locks. */
void zones_lock_all(void);
void zones_unlock_all(void);
/* The thread that calls; NULL: it has no ring, which is counted. */
zones_thread *zones_this_thread(void);
void zones_lose(zones_thread *t); /* a record that found no room */
/* A zone that goes into the file and to no outlet. The end is the calling thread's, or of a recording that is over. */
void zones_begin(zones_thread *t, devlog_host_zone *zone, devlog_host_site *site);
void zones_end(devlog_host_zone *zone, uint64_t now);

/* The number of the site; 0: the value found no room, which is counted. */
uint32_t zones_put_value(zones_thread *t, devlog_host_site *site, uint64_t value);
/* A row that is no thread's. Whoever puts in has it alone. NULL: there is none, or recording is not possible. */
zones_thread *zones_row(const char *name);

/* memory.c. Around a fork, of which the child goes on with the parent's blocks if the parent recorded; taken before the locks. */
void zones_memory_lock(void);
void zones_memory_unlock(void);
void zones_memory_in_child(bool recorded);

/* own_file.c. Opens host_<number>.devlog, whose number is the process's. What would be lost with that file has another process's records,
 * of another container, or this one's of a program that it was before exec(): then the number is ten millions more, which no process has.
 * `again`: this program has written to it before. */
devlog_status zones_open_named(const char *folder, bool again, devlog_error *err);

/* drain.c. The file, and the thread that fills it; the first two with both locks. */
/* `again`: the process has written to it before. */
devlog_status zones_file_begin(bool again, devlog_error *err);
/* With both locks. Puts exchanges with another rank into the file; while none is open it is opened for it, in this folder. */
devlog_status zones_file_exchanges(const char *folder, dl_capture_exchanges *put, devlog_error *err);
/* With both locks. Waits until the thread that writes runs: while a thread begins, libraries may hold locks that nobody would give back
 * in the child, as the allocator of GCC 12's AddressSanitizer does. */
void zones_file_before_fork(void);
void zones_file_forget(void); /* in a forked child: it is the parent's */
/* Ends the file; takes the locks itself. */
devlog_status zones_file_end(devlog_error *err);

#endif
