/* The commands that look at a card, on the fake driver: `devlog selftest` and `devlog dump`, and the post-mortem of a program on it.
 * The commands run in this process, since the fake is in it: what they take for Linux's calls is the fake's. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"
#include "support/fake_kmd.h"
#include "support/files.h"

/* In the place of transport/kmd_linux.c's, which the linker leaves out then. */
kmd_system the_system;
__asm__(".globl kmd_linux\n\t.set kmd_linux, the_system");

static const char *const boards[] = {"wormhole_b0", "blackhole"};

/* Runs a command as process `process` of the machine; what it prints is freed by the caller. */
static char *command(fake_kmd *f, uint32_t process, const cli_command *c, int want, const char *const *args)
{
    char path[300], *argv[8] = {0};
    int argc = 0;
    size_t size;
    while (args[argc] && argc < 7) {
        argv[argc] = strdup(args[argc]);
        argc++;
    }
    snprintf(path, sizeof path, "%s/printed", test_folder());
    the_system = fake_kmd_system(f, process);
    fflush(NULL);
    const int file = open(path, O_CREAT | O_TRUNC | O_WRONLY, 0600), out = dup(1), err = dup(2);
    dup2(file, 1);
    dup2(file, 2);
    const int status = c->run(argc, argv);
    fflush(NULL);
    dup2(out, 1);
    dup2(err, 2);
    close(file);
    close(out);
    close(err);
    while (argc)
        free(argv[--argc]);
    char *text = read_bytes(path, &size);
    if (status != want) fail_msg("%s: exit %d, not %d: %s", args[0], status, want, text);
    return text;
}

static void says(char *text, const char *const *words)
{
    for (; *words; words++)
        if (!strstr(text, *words)) fail_msg("'%s' is not in: %s", *words, text);
    free(text);
}

static void selftest(void **state)
{
    (void)state;
    for (int i = 0; i < 2; i++) {
        fake_kmd f;
        fake_kmd_start(&f, boards[i], 210, NULL);
        says(command(&f, 0, &cmd_selftest, 0,
                     (const char *[]){"selftest", boards[i], "--device", "kmd:3", "--cores", "2", NULL}),
             (const char *[]){" by kmd, ", "ok      memory    2 cores", "ok      start ",
                              "ok      results   10 ", "ok      clock ", " MHz measured", "ok      markers ",
                              "ok      drops ", NULL});
        fake_kmd_nothing_kept(&f);
        fake_kmd_end(&f);
    }
}

/* A program that hangs on a card: another one looks at it, which changes nothing; its launch ends with a post-mortem. After a reset
 * the program gets one line, and another one can look at the card. */
static void hang(void **state)
{
    (void)state;
    for (int i = 0; i < 2; i++) {
        fake_kmd f;
        devlog_error err = {0};
        devlog_device *device;
        devlog_program *program;
        char post[300];
        const uint32_t forever = UINT32_MAX;
        const char *const dump[] = {"dump", "--device", "kmd:3", NULL};
        snprintf(post, sizeof post, "%s/card.state", test_folder());
        setenv("DEVLOG_POSTMORTEM", post, 1);
        fake_kmd_start(&f, boards[i], 210, NULL);
        const kmd_system system = fake_kmd_system(&f, 0);
        const uint32_t other = fake_kmd_process(&f, 77, "devlog");
        const devlog_device_options options =
            DEVLOG_DEVICE_OPTIONS(.board = boards[i], .transport = "kmd:3", .profile = DEVLOG_ON,
                                  .log_folder = test_folder(), .timeout_ms = 300);
        check_ok(dl_device_open(&options, &system, &device, &err), &err);
        unsetenv("DEVLOG_POSTMORTEM");
        setenv("DEVLOG_BOARD", boards[i], 1);
        check_ok(devlog_program_create(device, &program, &err), &err);
        devlog_kernel *kernel =
            add_kernel(program, "tests/sim/kernels/hang.c", "NCRISC", (devlog_cores){1, 0, 1, 0}, NULL);
        check_ok(devlog_kernel_set_args(kernel, (devlog_core){1, 0}, &forever, 1, &err), &err);
        prepare(device, program);
        assert_int_equal(devlog_launch_program(device, program, &err), DEVLOG_ERR_TIMEOUT);
        if (!strstr(err.text, "; look at it with: devlog dump ")) fail_msg("%s", err.text);
        const uint32_t mhz = f.mhz;
        const uint64_t stores = f.stores;
        says(command(&f, other, &cmd_dump, 0, dump),
             (const char *[]){"core (1,0), launch 1\n", "  NCRISC   in kernel", NULL});
        assert_int_equal(f.stores - stores, i == 0 ? 3 : 0); /* Wormhole's grid is asked for by a message */
        assert_int_equal(f.mhz, mhz);
        says(command(&f, other, &cmd_dump, 0, (const char *[]){"dump", post, NULL}),
             (const char *[]){"core (1,0), launch 1\n", "  NCRISC   in kernel", NULL});
        /* The card is reset under the program. */
        assert_int_equal(unlink(post), 0);
        fake_kmd_reset(&f);
        fake_kmd_post_reset(&f);
        assert_int_not_equal(devlog_configure_device_with_program(device, program, &err), DEVLOG_OK);
        assert_null(strchr(err.text, '\n'));
        assert_non_null(strstr(err.text, "the card was reset or removed while this program used it"));
        devlog_program_free(program);
        check_ok(devlog_device_close(device, &err), &err); /* all was written before */
        free(command(&f, other, &cmd_dump, 0, dump));      /* another one looks at what the card holds now */
        fake_kmd_nothing_kept(&f);
        fake_kmd_end(&f);
    }
}

static void reset_soon(fake_kmd *f, uint64_t accesses)
{
    if (f->script[1] || accesses < f->script[0]) return;
    f->script[1] = 1;
    fake_kmd_reset(f);
}

/* A reset while a launch hangs: one line, which says that there is no post-mortem. */
static void reset_in_mid_launch(void **state)
{
    (void)state;
    for (int i = 0; i < 2; i++) {
        fake_kmd f;
        devlog_error err = {0};
        devlog_device *device;
        devlog_program *program;
        char post[300];
        const uint32_t forever = UINT32_MAX;
        snprintf(post, sizeof post, "%s/lost.state", test_folder());
        setenv("DEVLOG_POSTMORTEM", post, 1);
        fake_kmd_start(&f, boards[i], 210, NULL);
        const kmd_system system = fake_kmd_system(&f, 0);
        const devlog_device_options options =
            DEVLOG_DEVICE_OPTIONS(.board = boards[i], .transport = "kmd:3", .profile = DEVLOG_ON,
                                  .log_folder = test_folder(), .timeout_ms = 600000);
        check_ok(dl_device_open(&options, &system, &device, &err), &err);
        unsetenv("DEVLOG_POSTMORTEM");
        check_ok(devlog_program_create(device, &program, &err), &err);
        devlog_kernel *kernel =
            add_kernel(program, "tests/sim/kernels/hang.c", "NCRISC", (devlog_cores){0, 0, 0, 0}, NULL);
        check_ok(devlog_kernel_set_args(kernel, (devlog_core){0, 0}, &forever, 1, &err), &err);
        prepare(device, program);
        f.script[0] = f.loads + f.stores + 200;
        f.meanwhile = reset_soon;
        assert_int_not_equal(devlog_launch_program(device, program, &err), DEVLOG_OK);
        assert_null(strchr(err.text, '\n'));
        if (!strstr(err.text, "the card was reset or removed") || strstr(err.text, "look at it with") ||
            !strstr(err.text, "lost.state"))
            fail_msg("%s", err.text);
        assert_int_not_equal(access(post, F_OK), 0);
        devlog_program_free(program);
        devlog_device_close(device, &err);
        fake_kmd_nothing_kept(&f);
        fake_kmd_end(&f);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(selftest), cmocka_unit_test(hang),
                                       cmocka_unit_test(reset_in_mid_launch)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
