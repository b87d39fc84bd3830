/* devlog selftest and devlog boards: what is good passes on every kind of board; a board file with a wrong
 * frequency, and memory that is not there, are found. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/process.h"
#include "support/device.h"
#include "support/files.h"

static char *devlog(int exit_status, const char *command, const char *a, const char *b, const char *c,
                    const char *d, const char *e)
{
    const char *bin = getenv("DEVLOG_BIN");
    assert_non_null(bin);
    const char *argv[] = {bin, command, a, b, c, d, e, NULL};
    dl_output out;
    devlog_error err = {0};
    check_ok(dl_process_run(argv, &out, &err), &err);
    if (out.exit != exit_status) fail_msg("exit status %d: %s", out.exit, out.text);
    return out.text;
}

static void says(const char *text, const char *part)
{
    if (!strstr(text, part)) fail_msg("'%s' is not in:\n%s", part, text);
}

/* The text of a board file with the first `from` replaced by `to`, as a file. */
static const char *edited(const char *name, const char *from, const char *to)
{
    static char path[256];
    char *text = read_bytes(source_path(name), NULL), *at = strstr(text, from);
    assert_non_null(at);
    char *out = malloc(strlen(text) + strlen(to) + 1);
    assert_non_null(out);
    sprintf(out, "%.*s%s%s", (int)(at - text), text, to, at + strlen(from));
    snprintf(path, sizeof path, "%s/edited.json", test_folder());
    write_text(path, out);
    free(text);
    free(out);
    return path;
}

static void good_boards_pass(void **state)
{
    (void)state;
    char *text = devlog(0, "selftest", "wormhole_b0", "--device", "sim", "--cores", "9");
    says(text, "Tenstorrent Wormhole B0 by sim, 80 cores of 5 RISCs\n");
    says(text, "ok      memory    8 cores, 2 x 4096 bytes each read as written\n"); /* whole rows */
    says(text, "ok      results   40 RISCs computed what they should\n");
    says(text, "ok      clock     1000.000 MHz measured, the board file says 1000\n");
    says(text, "ok      markers   800 markers: 800 recorded, 0 counted as dropped\n");
    says(text, "ok      drops     ");
    free(text);
    text = devlog(1, "selftest", "wormhole_b0", "--device", "sim", "--cores", "81");
    says(text, "devlog selftest: there are no 81 cores to test: Tenstorrent Wormhole B0 has 80\n");
    free(text);
    text = devlog(0, "selftest", "fe310", "--device", "sim", "-f", "csv");
    says(text, "check,ok,found\nmemory,1,");
    says(text, "\nclock,1,");
    says(text, "\ndrops,1,");
    free(text);
    text = devlog(0, "selftest", source_path("tests/boards/made_up.json"), "--format=json", NULL, NULL, NULL);
    says(text, "{\"check\":\"drops\",\"ok\":true");
    free(text);
}

static void qemu_passes(void **state)
{
    (void)state;
    const char *argv[] = {"qemu-system-riscv32", "--version", NULL};
    dl_output out;
    if (dl_process_run(argv, &out, NULL) != DEVLOG_OK) {
        print_message("qemu-system-riscv32 is not installed (Debian package qemu-system-misc)\n");
        skip();
    }
    free(out.text);
    char *text = devlog(0, "selftest", "--device", "qemu", NULL, NULL, NULL);
    says(text, "QEMU virt, five RV32 harts as one tile by qemu, 1 core of 5 RISCs\n");
    says(text, "ok      clock     ");
    says(text, "ok      drops     ");
    free(text);
}

static void bad_boards_fail(void **state)
{
    (void)state;
    /* A counter that does not count: an address of plain memory. */
    char *text = devlog(1, "selftest",
                        edited("boards/gd32vf103.json", "\"low\": \"0xD1000000\", \"high\": \"0xD1000004\"",
                               "\"low\": \"0x20007F00\", \"high\": \"0x20007F04\""),
                        "-d", "sim", NULL, NULL);
    says(text, "FAILED  clock     the counter stands still at ");
    free(text);
    text = devlog(1, "selftest", "no_such_board", NULL, NULL, NULL, NULL);
    says(text, "devlog selftest: unknown board 'no_such_board'");
    assert_ptr_equal(strchr(text, '\n'), strrchr(text, '\n'));
    free(text);
}

/* What the device writes goes where TMPDIR says, and nothing of it stays. */
static void nothing_is_left(void **state)
{
    (void)state;
    char tmp[256];
    devlog_error err;
    snprintf(tmp, sizeof tmp, "%s/tmp", test_folder());
    setenv("TMPDIR", tmp, 1);
    char *text = devlog(1, "selftest", "fe310", "--device", "sim", NULL, NULL);
    says(text, "devlog selftest: cannot make the temporary folder ");
    says(text, "/tmp/devlog-selftest-");
    free(text);
    check_ok(dl_folder_make(tmp, &err), &err);
    free(devlog(0, "selftest", "fe310", "--device", "sim", NULL, NULL));
    unsetenv("TMPDIR");
    assert_int_equal(rmdir(tmp), 0); /* which only an empty folder lets be done */
}

static void boards_are_listed(void **state)
{
    (void)state;
    char *text = devlog(0, "boards", NULL, NULL, NULL, NULL, NULL);
    says(text, "\nfe310 ");
    says(text, "\nwormhole_b0     80      5  1000  0xffb121f0  1499136     4096  sim ttsim kmd  Tenstorrent");
    free(text);
    text = devlog(0, "boards", "--format", "csv", NULL, NULL, NULL);
    says(text, "board,title,arch,transports,cores,riscs,mhz,clock,ram,record_bytes,user_bytes\nblackhole,");
    free(text);
    text = devlog(0, "boards", "--format=json", "fe310", NULL, NULL, NULL);
    says(text, "\"boards\":[\n {\"board\":\"fe310\",\"title\":\"SiFive FE310-G002 (HiFive1 Rev B, RED-V)\"");
    says(text, "\"clock\":\"mcycle\",\"ram\":24576,\"record_bytes\":2048,\"user_bytes\":3072}]}\n");
    free(text);
    text = devlog(0, "boards", "--transports", NULL, NULL, NULL, NULL);
    says(text, "qemu   qemu-system-riscv32");
    free(text);
    text = devlog(3, "boards", "fe310", edited("boards/fe310.json", "\"mhz\": 14", "\"mhz\": 0"), NULL, NULL,
                  NULL);
    says(text, "\"mhz\" must not be 0");
    free(text);
    free(devlog(1, "boards", "nothing", NULL, NULL, NULL, NULL));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(good_boards_pass),  cmocka_unit_test(qemu_passes),
        cmocka_unit_test(bad_boards_fail),   cmocka_unit_test(nothing_is_left),
        cmocka_unit_test(boards_are_listed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
