/* Runs of the examples, made once, for tests of the page. See page.h. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
