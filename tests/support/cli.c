/* The program itself, run by tests. See cli.h. */
#include "support/cli.h"

#include <cJSON.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/files.h"

static char folder[] = "/tmp/devlog-cli-XXXXXX";
static pid_t owner;

static void remove_folder(void)
{
    char command[64];
    snprintf(command, sizeof command, "rm -rf %s", folder);
    if (getpid() == owner && system(command) != 0) fprintf(stderr, "cannot remove %s\n", folder);
}

const char *scratch(void)
{
    if (!owner) {
        if (!mkdtemp(folder)) fail_msg("cannot make %s", folder);
        owner = getpid();
        atexit(remove_folder);
    }
    return folder;
}

const char *in_scratch(const char *name)
{
    static char paths[8][300];
    static int next;
    next = (next + 1) % 8;
    snprintf(paths[next], sizeof paths[0], "%s/%s", scratch(), name);
    return paths[next];
}

/* `before`: how the program is run; `quote`: what its line is between. */
static int run(const char *before, const char *quote, const char *line, char **out, char **err)
{
    char command[4000];
    assert_non_null(getenv("DEVLOG_BIN"));
    int n = snprintf(command, sizeof command, "cd %s && %s%s'%s' %s%s >stdout.txt 2>stderr.txt", scratch(),
                     before, quote, getenv("DEVLOG_BIN"), line, quote);
    assert_true(n > 0 && (size_t)n < sizeof command);
    int status = system(command);
    assert_true(WIFEXITED(status));
    if (out) *out = read_bytes(in_scratch("stdout.txt"), NULL);
    if (err) *err = read_bytes(in_scratch("stderr.txt"), NULL);
    return WEXITSTATUS(status);
}

int devlog(const char *line, char **out, char **err)
{
    return run("", "", line, out, err);
}

int devlog_as_user(const char *line, char **out, char **err)
{
    static const struct {
        const char *before, *quote;
    } ways[] = {{"setpriv --reuid=nobody --regid=nogroup --clear-groups ", ""},
                {"su -s /bin/sh nobody -c ", "\""}};
    if (geteuid() != 0) return devlog(line, out, err);
    chmod(scratch(), 0755);
    for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++)
        if (run(ways[i].before, ways[i].quote, "--version", NULL, NULL) == 0)
            return run(ways[i].before, ways[i].quote, line, out, err);
    return -1;
}

char *devlog_ok(const char *line, int exit_status)
{
    char *out, *err;
    int status = devlog(line, &out, &err);
    if (status != exit_status)
        fail_msg("'%s' ends with %d: %s%s", line, status, err ? err : "", out ? out : "");
    free(err);
    return out;
}

void devlog_fails(const char *line, int exit_status, const char *says)
{
    char *out, *err;
    int status = devlog(line, &out, &err);
    if (status != exit_status) fail_msg("'%s' ends with %d: %s", line, status, err ? err : "");
    if (!err || !strstr(err, says)) fail_msg("'%s' says '%s', not '%s'", line, err ? err : "", says);
    assert_int_equal(strncmp(err, "devlog", 6), 0);
    assert_ptr_equal(strchr(err, '\n'), strrchr(err, '\n'));
    if (out && *out) fail_msg("'%s' prints '%s'", line, out);
    free(out);
    free(err);
}

int is_json(const char *text)
{
    const char *end = NULL;
    cJSON *json = cJSON_ParseWithOpts(text, &end, 1);
    cJSON_Delete(json);
    return json != NULL;
}
