/* Clocks of the host: see the header. */
#include "base/host_clock.h"

#include <sys/stat.h>
#include <sys/timex.h>
#include <time.h>

static uint64_t ns_of(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

void dl_clock_read(dl_clock_reading *out)
{
    enum { READS = 5 };
    struct timex said = {0}; /* modes 0: nothing is changed */
    out->after = UINT64_MAX;
    out->before = 0;
    for (int i = 0; i < READS; i++) { /* the closest of some */
        const uint64_t before = ns_of(CLOCK_MONOTONIC), real = ns_of(CLOCK_REALTIME),
                       after = ns_of(CLOCK_MONOTONIC);
        if (after - before >= out->after - out->before) continue;
        out->before = before;
        out->after = after;
        out->real = real;
    }
    const int state = adjtimex(&said);
    const int known = state >= 0 && state != TIME_ERROR && !(said.status & STA_UNSYNC) && said.maxerror >= 0;
    out->most = known ? (uint64_t)said.maxerror * 1000 : DL_CLOCK_UNKNOWN; /* us */
    out->likely = known && said.esterror >= 0 ? (uint64_t)said.esterror * 1000 : DL_CLOCK_UNKNOWN;
}

uint64_t dl_clock_namespace(void)
{
    struct stat st;
    return stat("/proc/self/ns/time", &st) == 0 ? (uint64_t)st.st_ino : 0;
}
