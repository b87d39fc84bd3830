/* Programs that record host code, each a child of the test, and what their files hold. See the header. */
#include "support/host_child.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "devlog/decode.h"
#include "devlog/host.h"

char host_folder[64];

int host_make_folder(void **state)
{
    (void)state;
    strcpy(host_folder, "/tmp/host_zones_XXXXXX");
    return mkdtemp(host_folder) ? 0 : -1;
}

int host_remove_folder(void **state)
{
    (void)state;
    char line[128];
    snprintf(line, sizeof line, "rm -rf '%s'", host_folder);
    return system(line); /* NOLINT(cert-env33-c) */
}

void host_start(uint32_t ring, uint32_t threads)
{
    devlog_error err = {0};
    const devlog_host_options o =
        DEVLOG_HOST_OPTIONS(.folder = host_folder, .ring = ring, .threads = threads);
    if (devlog_host_start(&o, &err)) {
        fprintf(stderr, "%s\n", err.text);
        _exit(9);
    }
}

/* Runs a program in a child, which may end as it likes; returns its number, and how it ended. */
pid_t host_run(void (*program)(void), int *how)
{
    pid_t child = fork();
    if (child == 0) {
        program();
        exit(0);
    }
    assert_true(child > 0);
    assert_int_equal(waitpid(child, how, 0), child);
    return child;
}

static devlog_log *open_log(pid_t process)
{
    char path[128];
    const char *paths[] = {path};
    devlog_error err = {0};
    devlog_log *log;
    snprintf(path, sizeof path, "%s/host_%ld.devlog", host_folder, (long)process);
    if (devlog_log_open(paths, 1, NULL, &log, &err)) fail_msg("%s", err.text);
    return log;
}

host_found host_look(pid_t process, const char *name)
{
    devlog_error err = {0};
    devlog_batch b;
    host_found f = {.least_depth = UINT64_MAX, .shortest = UINT64_MAX};
    bool seen[2048] = {false};
    devlog_log *log = open_log(process);
    for (;;) {
        if (devlog_log_next(log, &b, &err)) fail_msg("%s", err.text);
        if (b.last) break;
        for (size_t i = 0; i < b.zones.count; i++) {
            const devlog_zone z = devlog_log_zone(log, b.zones.zone[i]);
            if (strcmp(z.name, name) != 0) continue;
            const uint64_t took = b.zones.end[i] - b.zones.start[i], depth = b.zones.depth[i];
            assert_true(b.zones.end[i] >= b.zones.start[i] && b.zones.launch[i] == DEVLOG_NO_LAUNCH);
            f.zones++;
            f.line = z.line;
            snprintf(f.file, sizeof f.file, "%s", z.file);
            if (took < f.shortest) f.shortest = took;
            if (depth < f.least_depth) f.least_depth = depth;
            if (depth > f.most_depth) f.most_depth = depth;
            f.streams += !seen[b.zones.stream[i]];
            seen[b.zones.stream[i]] = true;
        }
        for (size_t i = 0; i < b.values.count; i++) {
            if (strcmp(devlog_log_zone(log, b.values.zone[i]).name, name) != 0) continue;
            f.values++;
            f.last = b.values.data[i];
            f.total += b.values.data[i];
            snprintf(f.text, sizeof f.text, "%s", devlog_log_text(log, b.values.text[i]));
        }
    }
    devlog_log_close(log);
    return f;
}

/* How often a finding is met; all of them without a key. */
uint64_t host_findings(pid_t process, const char *key)
{
    devlog_error err = {0};
    uint64_t n = 0;
    devlog_log *log = open_log(process);
    if (devlog_log_finish(log, &err)) fail_msg("%s", err.text);
    for (size_t i = 0; i < devlog_log_findings(log); i++) {
        const devlog_finding f = devlog_log_finding(log, i);
        if (!key || strcmp(f.key, key) == 0) n += f.count;
    }
    assert_true(key || devlog_log_complete(log) == (n == 0));
    devlog_log_close(log);
    return n;
}
