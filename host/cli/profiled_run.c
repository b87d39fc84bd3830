/* One run of a user's command with profiling; see profiled_run.h. */
#include "cli/profiled_run.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "base/file.h"
#include "base/paths.h"
#include "base/run_file.h"
#include "base/settings.h"
#include "decode/capture/capture.h"
#include "decode/log/log_write.h"
#include "ops/op_log.h"

/* host_<pid>.devlog */
static bool is_of_host(const char *name)
{
    const char *digits = name + 5;
    return strncmp(name, "host_", 5) == 0 && strspn(digits, "0123456789") > 0 &&
           strcmp(digits + strspn(digits, "0123456789"), ".devlog") == 0;
}

static devlog_status clear_hosts(const char *folder, devlog_error *err)
{
    devlog_status status = DEVLOG_OK;
    DIR *dir = opendir(folder);
    for (struct dirent *e; dir && !status && (e = readdir(dir));)
        if (is_of_host(e->d_name) && unlinkat(dirfd(dir), e->d_name, 0) != 0 && errno != ENOENT)
            status = dl_fail_errno(err, errno, "cannot remove the log of an earlier run, %s/%s", folder,
                                   e->d_name);
    if (dir) closedir(dir);
    return status;
}

/* What an earlier run left would be taken for this one's. */
static devlog_status clear_logs(const char *folder, devlog_error *err)
{
    static const char *const names[] = {OP_LOG_NAME, DL_DEVICE_LOG_NAME, DL_CAPTURE_NAME, DL_RUN_FILE_NAME};
    devlog_status status = DEVLOG_OK;
    for (size_t i = 0; i < sizeof names / sizeof names[0] && !status; i++) {
        char path[CLI_PATH_SIZE];
        status = dl_join(path, sizeof path, folder, names[i], err);
        if (!status && unlink(path) != 0 && errno != ENOENT && errno != ENOTDIR)
            status = dl_fail_errno(err, errno, "cannot remove the log of an earlier run, %s", path);
    }
    return status ? status : clear_hosts(folder, err);
}

devlog_status cli_profiled_alone(const char *folder, devlog_error *err)
{
    devlog_status status = dl_folder_make(folder, err);
    if (status) return status;
    const int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC); /* never closed */
    if (fd < 0 || flock(fd, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK)
        return DEVLOG_OK; /* some file systems have no locks */
    close(fd);
    return dl_fail(
        err, DEVLOG_ERR_STATE,
        "another devlog run or devlog time is at work in %s: wait until it ends, or choose another folder (-o)",
        folder);
}

devlog_status cli_profiled_forget(const char *folder, devlog_error *err)
{
    const devlog_status status = clear_logs(folder, err);
    if (!status) (void)rmdir(folder); /* which stays when it holds anything else */
    return status;
}

devlog_status cli_profiled_run(const cli_profiled *run, cli_child_result *out, devlog_error *err)
{
    char log_folder[CLI_PATH_SIZE + 32], absolute[CLI_PATH_SIZE], run_id[40], stacks[40];
    devlog_status status = dl_folder_make(run->folder, err);
    if (!status) status = clear_logs(run->folder, err);
    if (!status && !realpath(run->folder, absolute))
        status = dl_fail_errno(err, errno, "cannot use the folder %s", run->folder);
    const uint64_t id = dl_run_file_new_id();
    if (!status) status = dl_run_file_begin(run->folder, id, err);
    if (status) return status;
    /* Absolute, as the command may go elsewhere. */
    snprintf(log_folder, sizeof log_folder, "DEVLOG_LOG_FOLDER=%s", absolute);
    snprintf(run_id, sizeof run_id, DL_RUN_VARIABLE "=%016llx", (unsigned long long)id);
    static const char *const recordings[] = {"DEVLOG_RECORDING=stop", "DEVLOG_RECORDING=ring",
                                             "DEVLOG_RECORDING=stream"};
    const char *settings[9] = {log_folder, run_id, "DEVLOG_OPS=1", "DEVLOG_CAPTURE_EVERY=",
                               run->device ? "TT_METAL_DEVICE_PROFILER=1" : "TT_METAL_DEVICE_PROFILER=0"};
    size_t n = 5;
    if (!dl_setting_text(DL_SET_HOST)) settings[n++] = "DEVLOG_HOST=1";
    if (run->recording >= 0) settings[n++] = recordings[run->recording];
    if (run->waits) settings[n++] = "DEVLOG_WAITS=1";
    snprintf(stacks, sizeof stacks, "DEVLOG_OP_STACKS=%u", run->stacks);
    if (run->stacks) settings[n++] = stacks;
    return cli_child(run->command, settings, n, run->quiet, out, err);
}

bool cli_folder_holds(const char *folder, const char *name)
{
    char path[CLI_PATH_SIZE];
    devlog_error err;
    return dl_join(path, sizeof path, folder, name, &err) == DEVLOG_OK && access(path, R_OK) == 0;
}
