/* Running another program and keeping what it prints. Not for programs that run for long or read input. */
#include "base/process.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

/* One end of a pipe and what came out of it so far. */
typedef struct stream {
    int fd; /* -1: it has ended */
    char *text;
    size_t size, capacity;
} stream;

static devlog_status read_some(stream *s, devlog_error *err)
{
    if (s->size + 4096 + 1 > s->capacity) {
        size_t capacity = s->capacity ? 2 * s->capacity : 16384;
        char *bigger = realloc(s->text, capacity);
        if (!bigger) return dl_fail(err, DEVLOG_ERR_MEMORY, "no memory for the output of a program");
        s->text = bigger;
        s->capacity = capacity;
    }
    ssize_t n = read(s->fd, s->text + s->size, s->capacity - s->size - 1);
    if (n < 0 && errno == EINTR) return DEVLOG_OK;
    if (n < 0) return dl_fail_errno(err, errno, "cannot read the output of a program");
    s->size += (size_t)n;
    s->text[s->size] = 0;
    if (n > 0) return DEVLOG_OK;
    close(s->fd);
    s->fd = -1;
    return DEVLOG_OK;
}

/* Both at once: a program that fills one pipe while the other is read would wait for ever. */
static devlog_status read_all(stream streams[2], devlog_error *err)
{
    devlog_status status = DEVLOG_OK;
    while (status == DEVLOG_OK && (streams[0].fd >= 0 || streams[1].fd >= 0)) {
        struct pollfd fds[2] = {{streams[0].fd, POLLIN, 0}, {streams[1].fd, POLLIN, 0}};
        if (poll(fds, 2, -1) < 0 && errno != EINTR)
            return dl_fail_errno(err, errno, "cannot read the output of a program");
        for (int i = 0; i < 2 && status == DEVLOG_OK; i++)
            if (streams[i].fd >= 0 && fds[i].revents) status = read_some(&streams[i], err);
    }
    return status;
}

static devlog_status start(const char *const *argv, int out, int errors, pid_t *pid, devlog_error *err)
{
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&actions, out, 1);
    posix_spawn_file_actions_adddup2(&actions, errors, 2);
    /* posix_spawnp takes char *const[] for historical reasons and does not write. */
    int failed = posix_spawnp(pid, argv[0], &actions, NULL, (char *const *)(uintptr_t)argv, environ);
    posix_spawn_file_actions_destroy(&actions);
    if (failed == ENOENT) return dl_fail(err, DEVLOG_ERR_NOT_FOUND, "there is no program '%s'", argv[0]);
    return failed ? dl_fail_errno(err, failed, "cannot run '%s'", argv[0]) : DEVLOG_OK;
}

/* Its end was for whoever waits for children: to take 0 for it would make a success of what may have failed. */
static devlog_status is_unknown(const char *program, devlog_error *err)
{
    return dl_fail(
        err, DEVLOG_ERR_STATE,
        "how '%s' ended is not known: this process ignores SIGCHLD, or something in it waits for all children; "
        "signal(SIGCHLD, SIG_DFL) helps, and so does to start it with `env --default-signal=CHLD`",
        program);
}

/* errors is NULL: standard error goes where standard output goes. */
static devlog_status run(const char *const *argv, dl_output *out, char **errors, devlog_error *err)
{
    *out = (dl_output){0};
    int ends[2][2] = {{-1, -1}, {-1, -1}};
    stream streams[2] = {{.fd = -1}, {.fd = -1}};
    pid_t pid = -1;
    devlog_status status = DEVLOG_OK;
    for (int i = 0; i < (errors ? 2 : 1) && status == DEVLOG_OK; i++)
        if (pipe2(ends[i], O_CLOEXEC) != 0) status = dl_fail_errno(err, errno, "cannot make a pipe");
    if (status == DEVLOG_OK) status = start(argv, ends[0][1], ends[errors ? 1 : 0][1], &pid, err);
    for (int i = 0; i < 2; i++) {
        if (ends[i][1] >= 0) close(ends[i][1]);
        streams[i].fd = ends[i][0];
    }
    if (status == DEVLOG_OK) status = read_all(streams, err);
    for (int i = 0; i < 2; i++)
        if (streams[i].fd >= 0) close(streams[i].fd);
    int code = 0;
    pid_t ended = 0;
    while (pid > 0 && (ended = waitpid(pid, &code, 0)) < 0 && errno == EINTR) {
    }
    if (ended < 0 && status == DEVLOG_OK) status = is_unknown(argv[0], err);
    out->exit = WIFEXITED(code) ? WEXITSTATUS(code) : 128 + WTERMSIG(code);
    if (status != DEVLOG_OK) {
        free(streams[0].text);
        free(streams[1].text);
        return status;
    }
    out->text = streams[0].text;
    out->size = streams[0].size;
    if (errors) *errors = streams[1].text;
    return DEVLOG_OK;
}

devlog_status dl_process_run(const char *const *argv, dl_output *out, devlog_error *err)
{
    return run(argv, out, NULL, err);
}

devlog_status dl_run_apart(const char *const *argv, dl_output *out, char **errors, devlog_error *err)
{
    *errors = NULL;
    return run(argv, out, errors, err);
}
