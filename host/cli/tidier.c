/* A process that tidies when this one has ended. See tidier.h. */
#include "cli/tidier.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "base/settings.h"

/* What ends the command's group does not end this process, and whoever reads what the command prints need not wait for it. */
static void leave(void)
{
    setsid();
    const int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    for (int fd = 0; fd <= STDERR_FILENO && null >= 0; fd++)
        dup2(null, fd);
}

/* Where a standard stream is closed a pipe could take its place. */
static int above_standard(int fd)
{
    if (fd > STDERR_FILENO) return fd;
    const int up = fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    close(fd);
    return up;
}

void cli_tidier_begin(cli_tidier *t, void (*tidy)(void *ctx), void *ctx)
{
    int ends[2];
    sigset_t all, before;
    *t = (cli_tidier){tidy, ctx, .process = -1, .end = -1};
    if (pipe2(ends, O_CLOEXEC) != 0) return;
    for (int i = 0; i < 2; i++)
        ends[i] = above_standard(ends[i]);
    if (ends[0] < 0 || ends[1] < 0) {
        close(ends[0]);
        close(ends[1]);
        return;
    }
    /* No signal ends the other process, not even at its beginning. */
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, &before);
    t->process = fork();
    if (t->process == 0) {
        char none;
        close(ends[1]);
        leave();
        while (read(ends[0], &none, 1) < 0 && errno == EINTR) {
        }
        tidy(ctx);
        _exit(0);
    }
    sigprocmask(SIG_SETMASK, &before, NULL);
    close(ends[0]);
    t->end = ends[1];
}

void cli_tidier_end(cli_tidier *t)
{
    if (t->end >= 0) close(t->end);
    if (t->process > 0)
        while (waitpid(t->process, NULL, 0) < 0 && errno == EINTR) {
        }
    else
        t->tidy(t->ctx);
}

static int remove_entry(const char *path, const struct stat *st, int type, struct FTW *at)
{
    (void)st;
    (void)type;
    (void)at;
    (void)remove(path);
    return 0;
}

static void remove_folder(void *folder)
{
    nftw(folder, remove_entry, 8, FTW_DEPTH | FTW_PHYS);
}

void cli_temporary_begin(cli_temporary *t)
{
    const char *variable = dl_setting_of(DL_SET_TMPDIR)->name, *before = dl_setting_text(DL_SET_TMPDIR);
    char *folder = dl_path_join(before ? before : "/tmp", "devlog-XXXXXX");
    *t = (cli_temporary){.before = before ? strdup(before) : NULL};
    /* Who makes a folder in one that cannot be made says what is wrong. */
    if (folder && (!before || t->before) && mkdtemp(folder)) {
        cli_tidier_begin(&t->tidier, remove_folder, folder);
        setenv(variable, folder, 1);
        t->folder = folder;
        return;
    }
    free(folder);
}

void cli_temporary_end(cli_temporary *t)
{
    const char *variable = dl_setting_of(DL_SET_TMPDIR)->name;
    if (t->folder && t->before) setenv(variable, t->before, 1);
    if (t->folder && !t->before) unsetenv(variable);
    if (t->folder) cli_tidier_end(&t->tidier);
    free(t->folder);
    free(t->before);
}
