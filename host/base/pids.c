/* Processes by number; see pids.h. */
#include "base/pids.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PARENT = 4, STARTED = 22 };

/* A field of /proc/PID/stat from the third on; 0: there is no such process, or it has ended. */
static uint64_t field_of(uint64_t pid, int wanted)
{
    char path[64], text[1024];
    snprintf(path, sizeof path, "/proc/%llu/stat", (unsigned long long)pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return 0;
    ssize_t n = read(fd, text, sizeof text - 1);
    close(fd);
    text[n > 0 ? n : 0] = 0;
    /* The name in parentheses may hold anything. */
    const char *at = strrchr(text, ')');
    if (at && (at[1] != ' ' || at[2] == 'Z' || at[2] == 'X')) return 0;
    for (int field = 2; at && field < wanted; field++)
        at = strchr(at + 1, ' ');
    return at ? strtoull(at, NULL, 10) : 0;
}

uint64_t dl_process_started(uint64_t pid)
{
    return field_of(pid, STARTED);
}

uint64_t dl_process_parent(uint64_t pid)
{
    return field_of(pid, PARENT);
}
