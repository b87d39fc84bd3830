/* Running a user's command as if devlog were not there. */
#include "cli/child.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/term.h"

extern char **environ;

static const int handed_on[] = {SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2};
enum { N_SIGNALS = sizeof handed_on / sizeof handed_on[0] };

/* A signal handler knows nothing but what is global. */
static volatile sig_atomic_t child;

static void hand_on(int signal, siginfo_t *info, void *context)
{
    (void)context;
    /* What the terminal sends, the child has got already. */
    if (child && info->si_code != SI_KERNEL) kill(child, signal);
}

/* The environment with the settings instead of what it had by their names; freed by the caller. */
static char **environment(const char *const *settings, size_t n)
{
    size_t have = 0, at = 0;
    while (environ[have])
        have++;
    char **all = malloc((have + n + 1) * sizeof *all);
    if (!all) return NULL;
    for (size_t i = 0; i < n; i++)
        all[at++] = (char *)(uintptr_t)settings[i]; /* posix_spawn does not write to it */
    for (size_t i = 0; i < have; i++) {
        bool replaced = false;
        for (size_t k = 0; k < n && !replaced; k++)
            replaced = strncmp(environ[i], settings[k], strcspn(settings[k], "=") + 1) == 0;
        if (!replaced) all[at++] = environ[i];
    }
    all[at] = NULL;
    return all;
}

bool cli_no_program(int failed, const char *name)
{
    return failed == ENOENT || (failed == EACCES && !strchr(name, '/'));
}

static uint64_t ns_of(struct timeval t)
{
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_usec * 1000u;
}

static devlog_status await(pid_t pid, uint64_t started, cli_child_result *out, devlog_error *err)
{
    int code = 0;
    struct rusage used = {0};
    pid_t ended;
    while ((ended = wait4(pid, &code, 0, &used)) < 0 && errno == EINTR) {
    }
    if (ended < 0) return dl_fail_errno(err, errno, "how the command ended is not known");
    out->wall_ns = dl_now_ns() - started;
    out->cpu_ns = ns_of(used.ru_utime) + ns_of(used.ru_stime);
    out->peak_bytes = (uint64_t)used.ru_maxrss * 1024;
    out->signal = WIFSIGNALED(code) ? WTERMSIG(code) : 0;
    out->exit = WIFEXITED(code) ? WEXITSTATUS(code) : 128 + out->signal;
    return DEVLOG_OK;
}

devlog_status cli_child(char *const *argv, const char *const *settings, size_t n, bool quiet,
                        cli_child_result *out, devlog_error *err)
{
    sigset_t blocked, before;
    struct sigaction old[N_SIGNALS], action = {.sa_sigaction = hand_on, .sa_flags = SA_SIGINFO | SA_RESTART};
    posix_spawnattr_t attributes;
    posix_spawn_file_actions_t files;
    char **env = environment(settings, n);
    if (!env) return dl_fail(err, DEVLOG_ERR_MEMORY, "out of memory");
    /* No signal between starting the child and knowing its id. */
    sigemptyset(&blocked);
    for (int i = 0; i < N_SIGNALS; i++)
        sigaddset(&blocked, handed_on[i]);
    sigprocmask(SIG_BLOCK, &blocked, &before);
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    posix_spawnattr_setsigmask(&attributes, &before);
    sigset_t usual; /* main ignores it for devlog itself; what is ignored stays so in a child */
    sigemptyset(&usual);
    sigaddset(&usual, SIGXFSZ);
    posix_spawnattr_setsigdefault(&attributes, &usual);
    posix_spawn_file_actions_init(&files);
    if (quiet) posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    pid_t pid;
    const uint64_t started = dl_now_ns();
    int failed = posix_spawnp(&pid, argv[0], &files, &attributes, argv, env);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&files);
    free(env);
    if (failed) {
        sigprocmask(SIG_SETMASK, &before, NULL);
        if (cli_no_program(failed, argv[0]))
            return dl_fail(err, DEVLOG_ERR_NOT_FOUND, "there is no program '%s'", argv[0]);
        return dl_fail_errno(err, failed, "cannot run '%s'", argv[0]);
    }
    child = pid;
    for (int i = 0; i < N_SIGNALS; i++)
        sigaction(handed_on[i], &action, &old[i]);
    sigprocmask(SIG_SETMASK, &before, NULL);
    devlog_status status = await(pid, started, out, err);
    child = 0;
    for (int i = 0; i < N_SIGNALS; i++)
        sigaction(handed_on[i], &old[i], NULL);
    return status;
}
