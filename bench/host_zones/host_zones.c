/* ./dev bench host_zones: what a zone of host code costs while it is recorded and while it is not, beside what it cannot
 * do without, two reads of the processor's counter; the best of several rounds, each small enough for a ring. */
#define PROFILE_HOST 1
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "devlog/host.h"

#if defined(__x86_64__)
#include <x86intrin.h>
#endif

enum { ZONES = 100000, ROUNDS = 40 };

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

int main(void)
{
    char folder[] = "/tmp/bench_host_zones_XXXXXX", line[128];
    devlog_error err;
    if (!mkdtemp(folder)) return 1;
    const double loop = best(nothing), off = best(zone) - loop, reads = best(two_reads) - loop,
                 calls = best(two_calls) - loop;
    const devlog_host_options options = DEVLOG_HOST_OPTIONS(.folder = folder);
    devlog_status status = devlog_host_start(&options, &err);
    const double on = best(zone) - loop, of_value = best(value) - loop;
    if (!status) status = devlog_host_stop(&err);
    snprintf(line, sizeof line, "rm -rf %s", folder);
    if (system(line)) return 1; /* NOLINT(cert-env33-c) */
    if (status) {
        fprintf(stderr, "%s\n", err.text);
        return 1;
    }
    printf(
        "%-44s %6.1f ns\n%-44s %6.1f ns\n%-44s %6.1f ns, %.1f more than the two reads\n%-44s %6.1f ns\n%-44s %6.1f ns\n",
        "two reads of the counter", reads, "two calls of clock_gettime", calls, "a zone, recorded", on,
        on - reads, "a value, recorded", of_value, "a zone while nothing is recorded", off);
    return 0;
}
