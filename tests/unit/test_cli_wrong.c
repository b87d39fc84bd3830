/* What an adversary, or a script with a variable that is not set, gives commands: names that are empty, too long or hold a
 * line end, inputs that are empty, an archive on a full disk. One line says what is wrong, or the report does, and the
 * exit status is not 0. Not for filters (test_cli_filters.c) and what terminals obey (test_shown.c). */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/cli.h"
#include "support/files.h"
#include "support/page.h"

static int setup(void **state)
{
    (void)state;
    const page_log log = {.chips = 1, .columns = 1, .rows = 1, .riscs = 2, .launches = 2, .zones = 2};
    page_log_write(in_scratch("log.csv"), &log);
    write_text(in_scratch("empty.csv"), "");
    return 0;
}

/* -o "" would write into the current folder, and -a "" into a database that is gone when the command ends. */
static void an_empty_name_is_no_place(void **state)
{
    (void)state;
    static const char *const lines[] = {
        "decode -o '' log.csv",      "decode --output= log.csv",  "export -f xplane -o '' log.csv",
        "archive add -a '' log.csv", "ops -i log.csv -o ''",      "run -o '' -- true",
        "view -x '' log.csv",        "decode -a '' log.csv",      "report -o '' log.csv",
        "export --ops '' log.csv",   "decode --elf '' log.csv",   "archive get 1 -o ''",
        "time -o '' -- true",        "budget -o '' log.csv true",
    };
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++)
        devlog_fails(lines[i], 2, ", not an empty text; see 'devlog ");
    /* Other texts may be empty. */
    free(devlog_ok("decode -o out -n '' log.csv", 0));
}

/* What a shell makes of a variable that is not set names nothing. */
static void an_empty_argument_is_refused(void **state)
{
    (void)state;
    static const char *const lines[] = {"decode ''",       "ops log.csv ''", "view ''",
                                        "diff log.csv ''", "dump ''",        "man ''"};
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++)
        devlog_fails(lines[i], 2, ": an argument is an empty text; usage: devlog ");
}

/* Who asks where a file goes, or what it is called, wants it. */
static void options_of_files_want_files(void **state)
{
    (void)state;
    static const char *const lines[][2] = {
        {"decode --no-files -o out2 log.csv", "not with --no-files"},
        {"decode --no-files -n x log.csv", "not with --no-files"},
        {"decode --no-files --date log.csv", "not with --no-files"},
        {"decode -f json -n x log.csv", "only with --output"},
        {"decode --follow --date log.csv", "only with --output"},
    };
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++)
        devlog_fails(lines[i][0], 2, lines[i][1]);
    assert_int_not_equal(access(in_scratch("out2"), F_OK), 0);
    free(devlog_ok("decode -f json -o out2 -n x log.csv", 0));
    assert_int_equal(access(in_scratch("out2/device_stats_x.txt"), F_OK), 0);
}

/* An option of another action of the command would be taken and not obeyed. */
static void an_option_of_another_action_is_refused(void **state)
{
    (void)state;
    static const char *const lines[][2] = {
        {"archive add -f json log.csv", "--format is not for add"},
        {"archive add --fail log.csv", "--fail is not for add"},
        {"archive add --since 2026-01-01 log.csv", "--since is not for add"},
        {"archive page -f csv", "--format is not for page"},
        {"archive page --top 3", "--top is not for page"},
        {"archive list --confidence 95", "--confidence is not for list"},
        {"archive get 1 --label a=b", "--label is not for get"},
        {"archive diff 1 2 -o page.html", "--output is not for diff"},
        {"archive history --most 3M", "--most is not for history"},
        {"archive page -a one.sqlite two.sqlite", "page is of one archive: one.sqlite or two.sqlite"},
    };
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++)
        devlog_fails(lines[i][0], 2, lines[i][1]);
    /* What it is unless told may be told. */
    free(devlog_ok("archive add -f text --most 256M -a one.sqlite log.csv", 0));
    free(devlog_ok("archive page -a one.sqlite -o one.html --of median", 0));
}

/* What is read is not written over: by its name, by another one of it, and through a link. */
static void an_output_is_no_input(void **state)
{
    (void)state;
    static const char *const lines[] = {
        "export -f csv -o log.csv log.csv",
        "export -f perfetto -o ./log.csv empty.csv log.csv",
        "report -f json -o log.csv log.csv",
        "report -o link.csv log.csv",
        "diff --page -o log.csv log.csv link.csv",
        "pack -o log.csv log.csv",
        "memory -o log.csv log.csv",
        "unpack -o packed packed",
        "ranks -o log.csv log.csv",
        "ranks --merge log.csv log.csv",
        "ranks --trace link.csv log.csv",
    };
    free(devlog_ok("pack -o packed log.csv", 0));
    struct stat before, after;
    assert_int_equal(stat(in_scratch("log.csv"), &before), 0);
    assert_int_equal(symlink("log.csv", in_scratch("link.csv")), 0);
    write_text(in_scratch("ops.jsonl"), "{}\n");
    assert_int_equal(mkdir(in_scratch("found"), 0777), 0);
    assert_int_equal(link(in_scratch("log.csv"), in_scratch("found/profile_log_device.csv")), 0);
    write_text(in_scratch("found/profile_log_ops.jsonl"), "{}\n");
    assert_int_equal(mkdir(in_scratch("zipped"), 0777), 0);
    write_text(in_scratch("zipped/profile_log_device.csv.pack"), "");
    assert_int_equal(mkdir(in_scratch("second"), 0777), 0);
    write_text(in_scratch("second/profile_log_device_2.csv"), "");
    write_text(in_scratch("second/run7_profile_log_device.csv.zst"), "");
    write_text(in_scratch("second/other.devlog"), "");
    assert_int_equal(symlink("second/profile_log_device_2.csv", in_scratch("alias.csv")), 0);
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++)
        devlog_fails(lines[i], 2,
                     " is the file that is read, and would be lost: name another one; see 'devlog ");
    /* Logs that options name, and those that are found in folders. */
    devlog_fails("export -f csv --ops ops.jsonl -o ops.jsonl log.csv", 2, " is the file that is read");
    devlog_fails("diff --page --old log.csv --new link.csv -o log.csv", 2, " is the file that is read");
    devlog_fails("diff --page --old other --old ops.jsonl --new link.csv -o ops.jsonl", 2,
                 " is the file that is read");
    static const char *const found[] = {
        "export -f csv -o found/profile_log_device.csv found",
        "export -f csv --latest -o found/profile_log_device.csv",
        "report -f json -o found/profile_log_device.csv found",
        "report -o found/profile_log_ops.jsonl found",
        "memory -o found/profile_log_device.csv",
        "diff --page -o found/profile_log_device.csv found found",
        "ranks -o found/profile_log_device.csv found",
        "ranks --merge found/profile_log_device.csv found",
        "ranks --trace alias.csv second",
        "export -f csv -o zipped/profile_log_device.csv.pack zipped",
        "export -f csv -o second/profile_log_device_2.csv second",
        "export -f csv -o second/run7_profile_log_device.csv.zst second",
        "export -f csv -o second/other.devlog second",
        "export -f csv -o alias.csv second",
    };
    for (size_t i = 0; i < sizeof found / sizeof found[0]; i++)
        devlog_fails(found[i], 2, " is a log that may be the one that is read, and would be lost");
    free(devlog_ok("export -f csv -o found/other.csv found", 0));
    assert_int_equal(stat(in_scratch("log.csv"), &after), 0);
    assert_true(after.st_ino == before.st_ino && after.st_size == before.st_size);
    free(devlog_ok("export -f csv -o other.csv log.csv", 0));
    free(devlog_ok("export -f json -o other.csv log.csv", 0)); /* an older output is written over */
}

static void a_name_of_several_lines_is_told_in_one(void **state)
{
    (void)state;
    static const char *const lines[] = {
        "decode 'a\nNothing was lost.\n'",       "report 'a\nNothing was lost.\n'",
        "boards 'a\nNothing was lost.\n'",       "ops -i 'a\nNothing was lost.\n'",
        "dump 'a\nNothing was lost.\n'",         "memory 'a\nNothing was lost.\n'",
        "diff log.csv 'a\nNothing was lost.\n'",
    };
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++)
        devlog_fails(lines[i], 1, "a?Nothing was lost.?");
    devlog_fails("unpack 'a\nNothing was lost.\n'", 2, "a?Nothing was lost.?");
    devlog_fails("'a\nNothing was lost.\n'", 2, "a?Nothing was lost.?");
    devlog_fails("help 'a\nNothing was lost.\n'", 2, "a?Nothing was lost.?");
}

/* Why it failed stands at the end. */
static void a_name_that_is_too_long_leaves_the_reason(void **state)
{
    (void)state;
    static const char *const commands[] = {"decode", "report", "ops",   "pack",
                                           "memory", "dump",   "ranks", "ops summary"};
    for (size_t i = 0; i < sizeof commands / sizeof commands[0]; i++) {
        char line[100];
        snprintf(line, sizeof line, "%s $(printf %%05000d 0)", commands[i]);
        devlog_fails(line, 1, "File name too long");
    }
}

/* "0 rows. Nothing was lost." of a log whose disk was full. */
static void an_empty_log_among_others_is_told(void **state)
{
    (void)state;
    static const char *const lines[] = {
        "decode --no-files log.csv empty.csv",
        "decode --no-files empty.csv log.csv",
        "decode --no-files --no-default-analyses -j 2 log.csv empty.csv",
        "decode --no-files log.csv head.csv",
        "decode --no-files head.csv log.csv",
        "decode --no-files --no-default-analyses -j 2 log.csv head.csv",
        "decode --no-files log.csv head.pack",
        "ops -i run -o out",
        "ops -i host --device-log empty.csv -o out",
    };
    mkdir(in_scratch("run"), 0777);
    mkdir(in_scratch("host"), 0777);
    static const char ops[] = "{\"e\":\"run\",\"t\":1,\"version\":1,\"run\":\"ab\",\"pid\":1}\n"
                              "{\"e\":\"start\",\"id\":1,\"t\":10,\"thread\":0,\"depth\":1,\"name\":\"op\"}\n"
                              "{\"e\":\"end\",\"id\":1,\"t\":20,\"thread\":0}\n";
    write_text(in_scratch("run/profile_log_ops.jsonl"), ops);
    write_text(in_scratch("host/profile_log_ops.jsonl"), ops);
    write_text(
        in_scratch("head.csv"),
        "ARCH: wormhole_b0, CHIP_FREQ[MHz]: 1000\nPCIe slot, core_x, core_y, RISC processor type, timer_id, "
        "time[cycles since reset]\n");
    free(devlog_ok("pack -o head.pack head.csv", 0));
    write_text(in_scratch("run/profile_log_device.csv"), "");
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
        char *out = devlog_ok(lines[i], 3);
        if (!strstr(out, "1  inputs without a row") || strstr(out, "Nothing was lost"))
            fail_msg("%s: %s", lines[i], out);
        free(out);
    }
    devlog_fails("decode --no-files empty.csv", 1, "empty.csv: the file is empty");
}

/* All files of a folder by name: a capture and its device log would count twice, as a file does that is named twice. */
static void a_run_is_read_once(void **state)
{
    (void)state;
    static const char *const lines[] = {
        "decode --no-files twins/capture.devlog twins/profile_log_device.csv",
        "decode --no-files log.csv twins/profile_log_device.csv.pack twins/capture.devlog",
        "export -f csv -o - twins/profile_log_device.csv twins/capture.devlog",
        "report twins/capture.devlog twins/profile_log_device.csv",
        "ranks twins/capture.devlog twins/profile_log_device.csv",
    };
    const struct timespec before[] = {{1000, 0}, {1000, 0}};
    mkdir(in_scratch("twins"), 0777);
    write_text(in_scratch("twins/profile_log_device.csv"), "");
    free(devlog_ok("pack -o twins/profile_log_device.csv.pack log.csv", 0));
    free(devlog_ok("pack -o twins/capture.devlog log.csv", 0)); /* by its name */
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++)
        devlog_fails(lines[i], 1, "are of one run, which would count twice");
    devlog_fails("decode --no-files log.csv ./log.csv", 1,
                 "log.csv and ./log.csv are one file, which would count twice");
    devlog_fails("export -f csv -o - log.csv log.csv", 1,
                 "log.csv and log.csv are one file, which would count twice");
    /* One that another run has left is another log. */
    assert_int_equal(utimensat(AT_FDCWD, in_scratch("twins/capture.devlog"), before, 0), 0);
    char *out = devlog_ok("decode --no-files twins/profile_log_device.csv.pack twins/capture.devlog", 3);
    assert_non_null(strstr(out, "to the cycle (a log given or appended twice)"));
    free(out);
}

static void names_of_ops_come_from_a_log_of_ops(void **state)
{
    (void)state;
    write_text(in_scratch("other.jsonl"), "{\"e\":\"zzz\"}\n");
    devlog_fails("export -f json -o out.json --ops empty.csv log.csv", 1, "empty.csv has no op: ");
    devlog_fails("export -f json -o out.json --ops other.jsonl log.csv", 1, "other.jsonl has no op: ");
    devlog_fails("export -f json -o out.json --ops log.csv log.csv", 1, "log.csv has no op: ");
    assert_int_not_equal(access(in_scratch("out.json"), F_OK), 0);
}

/* A limit on the size of files: SQLite takes it for a disk that is full. */
static void an_archive_without_room_says_so(void **state)
{
    (void)state;
    char line[500];
    snprintf(
        line, sizeof line,
        "cd '%s' && (trap '' XFSZ; ulimit -f 2; '%s' archive add -a small.sqlite log.csv 2>said; test $? = 1) && "
        "test $(wc -l <said) = 1 && grep -q 'small.sqlite: .*: is its disk full? make room there' said",
        scratch(), getenv("DEVLOG_BIN"));
    assert_int_equal(system(line), 0);
    /* What is left of it is in nobody's way. */
    free(devlog_ok("archive add -a small.sqlite log.csv", 0));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_empty_name_is_no_place),
        cmocka_unit_test(an_empty_argument_is_refused),
        cmocka_unit_test(options_of_files_want_files),
        cmocka_unit_test(an_option_of_another_action_is_refused),
        cmocka_unit_test(an_output_is_no_input),
        cmocka_unit_test(a_name_of_several_lines_is_told_in_one),
        cmocka_unit_test(a_name_that_is_too_long_leaves_the_reason),
        cmocka_unit_test(an_empty_log_among_others_is_told),
        cmocka_unit_test(names_of_ops_come_from_a_log_of_ops),
        cmocka_unit_test(a_run_is_read_once),
        cmocka_unit_test(an_archive_without_room_says_so),
    };
    return cmocka_run_group_tests(tests, setup, NULL);
}
