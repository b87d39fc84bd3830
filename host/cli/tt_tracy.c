/* Tracy's exporter, run for its two files. */
#include "cli/tt_tracy.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "cli/child.h"
#include "tt_metal/host.h"

extern char **environ;

/* Runs a program with its output in a file; ENOENT when there is no such program, -1 when it failed. */
static int run_into(char *const *argv, const char *path)
{
    posix_spawn_file_actions_t actions;
    pid_t child;
    int status = 0, errnum = posix_spawn_file_actions_init(&actions);
    if (errnum) return errnum;
    errnum =
        posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, path, O_WRONLY | O_CREAT | O_TRUNC, 0666);
    if (!errnum) errnum = posix_spawnp(&child, argv[0], &actions, NULL, argv, environ);
    posix_spawn_file_actions_destroy(&actions);
    if (errnum) return cli_no_program(errnum, argv[0]) ? ENOENT : errnum;
    while (waitpid(child, &status, 0) < 0)
        if (errno != EINTR) return errno;
    return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? 0 : -1;
}

devlog_status cli_tracy_export(const char *tracy, const char *folder, devlog_error *err)
{
    /* Upstream's chooses zones by a filter, tt-metal's by a beginning. */
    static const struct {
        const char *program, *choose;
    } exporters[] = {{"csvexport-release", "-t"}, {"tracy-csvexport", "-f"}};
    devlog_status status = dl_folder_make(folder, err);
    char *data = dl_path_join(folder, TT_OPS_DATA_NAME), *times = dl_path_join(folder, TT_OPS_TIMES_NAME);
    if (!status && (!data || !times)) status = dl_fail(err, DEVLOG_ERR_MEMORY, "out of memory");
    int errnum = ENOENT;
    for (size_t i = 0; i < sizeof exporters / sizeof exporters[0] && !status && errnum == ENOENT; i++) {
        char *program = strdup(exporters[i].program), *choose = strdup(exporters[i].choose),
             *file = strdup(tracy);
        char message[] = "-m", separator[] = "-s", semicolon[] = ";", unwrap[] = "-u", prefix[] = "TT_";
        char *const messages[] = {program, message, separator, semicolon, file, NULL};
        char *const zones[] = {program, unwrap, choose, prefix, file, NULL};
        if (!program || !choose || !file)
            status = dl_fail(err, DEVLOG_ERR_MEMORY, "out of memory");
        else if ((errnum = run_into(messages, data)) == 0)
            errnum = run_into(zones, times);
        free(program);
        free(choose);
        free(file);
    }
    if (!status && errnum == ENOENT)
        status = dl_fail(err, DEVLOG_ERR_NOT_FOUND, "no exporter of Tracy's is on the PATH");
    else if (!status && errnum)
        status = dl_fail(err, DEVLOG_ERR_IO, "Tracy's exporter failed for %s", tracy);
    if (status && data && times) {
        unlink(data);
        unlink(times);
    }
    free(data);
    free(times);
    return status;
}
