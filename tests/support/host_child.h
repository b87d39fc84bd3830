/* Programs that record host code (devlog/host.h), each a child of the test, because a process has one recorder; and what is in their
 * files. */
#ifndef DEVLOG_TEST_HOST_CHILD_H
#define DEVLOG_TEST_HOST_CHILD_H

#include <stdint.h>
#include <sys/types.h>

#include "support/cmocka_all.h"

/* Where their files go; cmocka's fixtures make and remove it. */
extern char host_folder[64];
int host_make_folder(void **state);
int host_remove_folder(void **state);

/* In a child: begins to record. */
void host_start(uint32_t ring, uint32_t threads);
/* Runs a program in a child, which may end as it likes; returns its number, and how it ended. */
pid_t host_run(void (*program)(void), int *how);

/* What a log holds of one name. */
typedef struct host_found {
    uint64_t zones, values, total, last, least_depth, most_depth, shortest;
    char text[64], file[64];
    uint32_t line, streams;
} host_found;
host_found host_look(pid_t process, const char *name);
/* How often a finding is met; all of them without a key. */
uint64_t host_findings(pid_t process, const char *key);

#endif
