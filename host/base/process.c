/* Running another program and keeping what it prints. Not for programs that run for long or read input. */
#include "base/process.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static devlog_status read_all(int fd, dl_output *out, devlog_error *err)
{
    size_t capacity = 0;
    for (;;) {
        if (out->size + 4096 + 1 > capacity) {
            capacity = capacity ? 2 * capacity : 16384;
            char *bigger = realloc(out->text, capacity);
            if (!bigger) return dl_fail(err, DEVLOG_ERR_MEMORY, "no memory for the output of a program");
            out->text = bigger;
        }
        ssize_t n = read(fd, out->text + out->size, capacity - out->size - 1);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) return dl_fail_errno(err, errno, "cannot read the output of a program");
        if (n == 0) break;
        out->size += (size_t)n;
    }
    out->text[out->size] = 0;
    return DEVLOG_OK;
}

devlog_status dl_run(const char *const *argv, dl_output *out, devlog_error *err)
{
    *out = (dl_output){0};
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) return dl_fail_errno(err, errno, "cannot make a pipe");
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&actions, ends[1], 1);
    posix_spawn_file_actions_adddup2(&actions, ends[1], 2);
    pid_t pid;
    /* posix_spawnp takes char *const[] for historical reasons and does not write. */
    int failed = posix_spawnp(&pid, argv[0], &actions, NULL, (char *const *)(uintptr_t)argv, environ);
    posix_spawn_file_actions_destroy(&actions);
    close(ends[1]);
    if (failed) {
        close(ends[0]);
        if (failed == ENOENT) return dl_fail(err, DEVLOG_ERR_NOT_FOUND, "there is no program '%s'", argv[0]);
        return dl_fail_errno(err, failed, "cannot run '%s'", argv[0]);
    }
    devlog_status status = read_all(ends[0], out, err);
    close(ends[0]);
    int code = 0;
    while (waitpid(pid, &code, 0) < 0 && errno == EINTR) {
    }
    out->exit = WIFEXITED(code) ? WEXITSTATUS(code) : 128 + WTERMSIG(code);
    if (status != DEVLOG_OK) {
        free(out->text);
        *out = (dl_output){0};
    }
    return status;
}
