/* Parts of a test about outlets (DEVLOG_HOST=tracy and others): each is the test's own program run again, because the recorder reads its
 * environment when a program begins; and what the library that stands for Tracy's (sim/library/fake_tracy.c, FAKE_TRACY) wrote down. */
#ifndef DEVLOG_TESTS_OUTLET_RUN_H
#define DEVLOG_TESTS_OUTLET_RUN_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/files.h"
#include "support/fixture.h"
#include "support/text.h"

typedef struct outcome {
    char folder[64];
    char *calls, *said;
    int status; /* with which it exited */
} outcome;

static inline outcome run_any(const char *part, const char *environment)
{
    outcome o;
    char line[1024], path[128];
    size_t n;
    snprintf(o.folder, sizeof o.folder, "%s", test_folder());
    snprintf(
        line, sizeof line,
        "DEVLOG_LOG_FOLDER=%s DEVLOG_TRACY=%s DEVLOG_TEST_TRACY=%s/calls DEVLOG_TEST_ITT=%s/itt %s /proc/%ld/exe %s %s "
        "2> %s/said",
        o.folder, FAKE_TRACY, o.folder, o.folder, environment, (long)getpid(), part, o.folder, o.folder);
    const int status = system(line); /* NOLINT(cert-env33-c) */
    snprintf(path, sizeof path, "%s/said", o.folder);
    o.said = read_bytes(path, &n);
    o.status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    snprintf(path, sizeof path, "%s/calls", o.folder);
    o.calls = access(path, R_OK) ? strdup("") : read_bytes(path, &n);
    return o;
}

static inline outcome run_with(const char *part, const char *environment)
{
    outcome o = run_any(part, environment);
    if (o.status) fail_msg("%s: %d: %s", part, o.status, o.said);
    return o;
}

static inline void drop(outcome *o)
{
    free(o->calls);
    free(o->said);
}

#endif
