/* ./dev bench host_zones: what a zone of host code costs while it is recorded and while it is not, beside what it cannot
 * do without, two reads of the processor's counter; what a lock and a block of memory cost beside a zone; and all three with each outlet
 * of DEVLOG_HOST, which is read when a program begins: so this one runs itself again. The best of several rounds, each small enough
 * for a ring. */
#define PROFILE_HOST 1
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "devlog/host.h"
#include "outlets/itt.h"
#include "outlets/usdt.h"

#if defined(__x86_64__)
#include <x86intrin.h>
#endif

enum { ZONES = 50000, ROUNDS = 40 };

static uint64_t clock_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static volatile uint64_t sink;

static void nothing(void)
{
    __asm__ volatile("");
}

static void zone(void)
{
    DEVLOG_HOST_ZONE("zone");
    __asm__ volatile("");
}

static void two_reads(void)
{
#if defined(__x86_64__)
    sink = __rdtsc();
    sink = __rdtsc();
#else
    sink = clock_ns();
    sink = clock_ns();
#endif
}

static void two_calls(void)
{
    sink = clock_ns();
    sink = clock_ns();
}

static void value(void)
{
    DEVLOG_HOST_VALUE("value", 1);
}

/* Taken and let go, without the lock itself: two zones, "wait" and "hold". */
static void lock(void)
{
    static devlog_host_lock told = DEVLOG_HOST_LOCK_INIT("lock");
    DEVLOG_HOST_LOCK_BEFORE(told);
    __asm__ volatile("");
    DEVLOG_HOST_LOCK_AFTER(told);
    __asm__ volatile("");
    DEVLOG_HOST_LOCK_RELEASED(told);
}

/* A block that comes and goes: two values. */
static void memory(void)
{
    static char block;
    DEVLOG_HOST_ALLOC(&block, 64);
    __asm__ volatile("");
    DEVLOG_HOST_FREE(&block);
}

/* ns of one pass. */
static double best(void (*what)(void))
{
    double found = 1e9;
    for (int round = 0; round < ROUNDS; round++) {
        nanosleep(&(struct timespec){.tv_nsec = 30000000}, NULL); /* rings are emptied meanwhile */
        const uint64_t from = clock_ns();
        for (int i = 0; i < ZONES; i++)
            what();
        const double took = (double)(clock_ns() - from) / ZONES;
        if (took < found) found = took;
    }
    return found;
}

/* What three things cost; without a recording in the environment, while nothing is recorded. */
static int three(const char *what)
{
    const double loop = best(nothing), z = best(zone) - loop, l = best(lock) - loop, m = best(memory) - loop;
    printf("%-32s %8.1f ns %10.1f ns %10.1f ns", what, z, l, m);
    if (DEVLOG_HOST_IS_ON()) printf(" %14.1f %16.1f", l / z, m / z);
    printf("\n");
    return 0;
}

/* This program again, as three(). */
static int again(const char *program, const char *folder, const char *host, const char *what)
{
    char line[4400];
    snprintf(line, sizeof line, "DEVLOG_LOG_FOLDER=%s DEVLOG_HOST=%s '%s' '%s' 2> /dev/null", folder, host,
             program, what);
    fflush(stdout);
    return system(line); /* NOLINT(cert-env33-c) */
}

int main(int argc, char **argv)
{
    char folder[] = "/tmp/bench_host_zones_XXXXXX", line[128];
    devlog_error err;
    if (argc > 1) return three(argv[1]);
    if (!mkdtemp(folder)) return 1;
    const double loop = best(nothing), off = best(zone) - loop, reads = best(two_reads) - loop,
                 calls = best(two_calls) - loop;
    const devlog_host_options options = DEVLOG_HOST_OPTIONS(.folder = folder);
    devlog_status status = devlog_host_start(&options, &err);
    const double on = best(zone) - loop, of_value = best(value) - loop;
    if (!status) status = devlog_host_stop(&err);
    if (status) fprintf(stderr, "%s\n", err.text);
    printf(
        "%-44s %6.1f ns\n%-44s %6.1f ns\n%-44s %6.1f ns, %.1f more than the two reads\n%-44s %6.1f ns\n%-44s %6.1f ns\n\n",
        "two reads of the counter", reads, "two calls of clock_gettime", calls, "a zone, recorded", on,
        on - reads, "a value, recorded", of_value, "a zone while nothing is recorded", off);
    printf("%-32s %11s %13s %13s %14s %16s\n", "DEVLOG_HOST=", "zone", "lock", "memory", "lock / zone",
           "memory / zone");
    int failed = status || again(argv[0], folder, "0", "0") || again(argv[0], folder, "1", "1");
    if (!failed && usdt_built_in()) failed = again(argv[0], folder, "usdt", "usdt, nobody listens");
    if (!failed && itt_built_in())
        failed = again(argv[0], folder, "itt", "itt, as INTEL_LIBITTNOTIFY64 says");
    if (!failed) failed = again(argv[0], folder, "tracy", "tracy, as DEVLOG_TRACY says");
    snprintf(line, sizeof line, "rm -rf %s", folder);
    if (system(line)) return 1; /* NOLINT(cert-env33-c) */
    return failed != 0;
}
