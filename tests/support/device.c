/* A device on the built-in simulator for tests. See device.h. */
#include "support/device.h"

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/paths.h"

void check_ok(devlog_status status, const devlog_error *err)
{
    if (status != DEVLOG_OK) fail_msg("%s: %s", devlog_status_text(status), err->text);
}

static int remove_one(const char *path, const struct stat *st, int what, struct FTW *where)
{
    (void)st, (void)what, (void)where;
    return remove(path);
}

/* Those of a test that fails stay, to be looked at; a forked child's parent needs its own. */
static void remove_folder(int status, void *path)
{
    const long made_by = strtol(path, NULL, 10);
    const bool passed = status == 0 || status == 77;
    if (passed && made_by == (long)getpid()) nftw(strchr(path, '/'), remove_one, 16, FTW_DEPTH | FTW_PHYS);
    free(path);
}

const char *test_folder(void)
{
    enum { SIZE = 64 };
    static char path[SIZE];
    char *const made = malloc(SIZE + 32);
    snprintf(path, sizeof path, "/tmp/devlog-test-XXXXXX");
    assert_non_null(mkdtemp(path));
    assert_non_null(made);
    snprintf(made, SIZE + 32, "%ld%s", (long)getpid(), path);
    assert_int_equal(on_exit(remove_folder, made), 0);
    return path;
}

devlog_device *open_device(const char *board_name, const char *sim_options)
{
    devlog_error err = {0};
    devlog_device *device = NULL;
    const devlog_device_options options =
        DEVLOG_DEVICE_OPTIONS(.board = board_name, .transport = "sim", .sim = sim_options,
                              .profile = DEVLOG_ON, .log_folder = test_folder());
    check_ok(devlog_device_open(&options, &device, &err), &err);
    return device;
}

const char *source_path(const char *name)
{
    static char paths[8][512];
    static int next;
    char *path = paths[next++ & 7];
    snprintf(path, sizeof paths[0], "%s/%s", dl_home(), name);
    return path;
}

devlog_kernel *add_kernel(devlog_program *program, const char *source, const char *risc, devlog_cores cores,
                          const char *flags)
{
    devlog_error err = {0};
    devlog_kernel *kernel = NULL;
    const devlog_kernel_options options =
        DEVLOG_KERNEL_OPTIONS(.source = source_path(source), .risc = risc, .cores = cores, .flags = flags);
    check_ok(devlog_program_add_kernel(program, &options, &kernel, &err), &err);
    return kernel;
}

void prepare(devlog_device *device, devlog_program *program)
{
    devlog_error err = {0};
    check_ok(devlog_compile_program(program, &err), &err);
    check_ok(devlog_configure_device_with_program(device, program, &err), &err);
}
