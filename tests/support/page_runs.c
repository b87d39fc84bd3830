/* Runs of the examples, made once, for tests of the page. See page.h. */
#define PROFILE_HOST 1
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "devlog/host.h"

#include "support/cli.h"
#include "support/files.h"
#include "support/page.h"

/* `devlog run ARGUMENTS -o FOLDER` of an example; where its capture is. */
static void make(const char *arguments, const char *folder, const char *program, char log[600])
{
    char line[1024], name[200];
    const char *own = getenv("DEVLOG_BIN");
    const int n = own ? (int)(strlen(own) - strlen("devlog")) : 0;
    snprintf(line, sizeof line, "run %s -o %s -- %.*s%s", arguments, folder, n, own ? own : "", program);
    free(devlog_ok(line, 0));
    snprintf(name, sizeof name, "%s/logs_device/capture.devlog", folder);
    snprintf(log, 600, "%s", in_scratch(name));
}

const char *page_network(void)
{
    static char log[600];
    if (!log[0]) make("", "network", "nn 2", log);
    return log;
}

void page_open_waits(browser *b)
{
    static char log[600];
    if (!log[0]) make("--waits", "waits", "demo 1", log);
    page_open(b, log, in_scratch("out"), 0);
}

void page_run(browser *b, const char *script)
{
    char *text = browser_js(b, "%s", script);
    if (strncmp(text, "exception", 9) == 0) fail_msg("%s: %s", script, text);
    free(text);
    page_settle(b);
}

static void *work(void *name)
{
    DEVLOG_HOST_THREAD(name);
    for (int i = 0; i < 20; i++) {
        DEVLOG_HOST_ZONE("prepare");
        DEVLOG_HOST_VALUE("queue", i);
        {
            DEVLOG_HOST_ZONE("copy");
            usleep(200);
        }
        DEVLOG_HOST_MESSAGE("prepared");
    }
    return NULL;
}

pid_t page_host_program(const char *folder)
{
    int how;
    const pid_t child = fork();
    if (child == 0) {
        const devlog_host_options o = DEVLOG_HOST_OPTIONS(.folder = folder);
        devlog_error err;
        pthread_t other;
        if (devlog_host_start(&o, &err) || pthread_create(&other, NULL, work, "loader")) _exit(9);
        work("main");
        pthread_join(other, NULL);
        exit(devlog_host_stop(&err) ? 9 : 0);
    }
    assert_true(child > 0);
    assert_int_equal(waitpid(child, &how, 0), child);
    assert_true(WIFEXITED(how) && WEXITSTATUS(how) == 0);
    return child;
}
