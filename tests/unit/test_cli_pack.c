/* devlog pack and devlog unpack as programs, and packed logs as the input of other commands. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "support/cli.h"
#include "support/files.h"
#include "support/logs.h"

static void make_log(const char *name, int kind, unsigned launches)
{
    dl_str log = {0};
    test_log(&log, kind, launches, 9);
    write_bytes(in_scratch(name), log.text, log.len);
    dl_str_free(&log);
}

static void is_same(const char *a, const char *b)
{
    size_t n, m;
    char *one = read_bytes(in_scratch(a), &n), *two = read_bytes(in_scratch(b), &m);
    assert_true(n == m);
    assert_memory_equal(one, two, n);
    free(one);
    free(two);
}

static int system_in_scratch(const char *line)
{
    char whole[600];
    snprintf(whole, sizeof whole, "cd '%s' && { %s; }", scratch(), line);
    return system(whole);
}

static void a_log_is_packed_and_unpacked(void **state)
{
    (void)state;
    make_log("a.csv", 9, 20);
    char *said = devlog_ok("pack a.csv", 0);
    assert_non_null(strstr(said, "a.csv.pack: "));
    assert_non_null(strstr(said, "times smaller"));
    free(said);
    free(devlog_ok("unpack a.csv.pack -o a.back", 0));
    is_same("a.csv", "a.back");
    free(devlog_ok("pack - -o - --threads 1 <a.csv", 0));
    is_same("a.csv.pack", "stdout.txt");
    assert_int_equal(rename(in_scratch("stdout.txt"), in_scratch("b.pack")), 0);
    free(devlog_ok("unpack - -o - --threads 1 <b.pack", 0));
    is_same("a.csv", "stdout.txt");
    free(devlog_ok("unpack b.pack", 0));
    is_same("a.csv", "b");
}

static void names_that_nobody_told_are_not_overwritten(void **state)
{
    (void)state;
    make_log("c.csv", 2, 3);
    free(devlog_ok("pack c.csv", 0));
    devlog_fails("pack c.csv", 1, "c.csv.pack exists");
    devlog_fails("unpack c.csv.pack", 1, "c.csv exists");
    devlog_fails("pack - <c.csv", 2, "--output");
    devlog_fails("unpack c.csv -o c.back", 1, "no packed log");
    devlog_fails("unpack c.csv", 2, "--output");
    devlog_fails("pack no.csv", 1, "no.csv");
    devlog_fails("unpack no.csv.pack", 1, "no.csv.pack");
    assert_int_not_equal(access(in_scratch("c.back"), F_OK), 0);
    assert_int_not_equal(access(in_scratch("no.csv.pack"), F_OK), 0);
}

/* What a command prints for a log and for the same log packed, under the same name. */
static void says_the_same(const char *command, const char *log)
{
    char line[256], *one, *two;
    snprintf(line, sizeof line, command, log);
    const int exit_status = devlog(line, &one, NULL);
    assert_int_equal(rename(in_scratch(log), in_scratch("aside")), 0);
    free(devlog_ok("pack aside -o packed", 0));
    assert_int_equal(rename(in_scratch("packed"), in_scratch(log)), 0);
    assert_int_equal(devlog(line, &two, NULL), exit_status);
    assert_int_equal(rename(in_scratch("aside"), in_scratch(log)), 0);
    assert_string_equal(one, two);
    if (strlen(one) <= 100) fail_msg("%s: %s", line, one);
    free(one);
    free(two);
}

static void commands_read_packed_logs(void **state)
{
    (void)state;
    static const char *const commands[] = {
        "decode %s --no-files --format json",
        "decode %s --no-files --skip-launches 2",
        "decode - --no-files --format csv <%s",
        "export %s -f chrome -o -",
    };
    for (int kind = 0; kind < TEST_LOG_KINDS; kind++) {
        char name[32];
        snprintf(name, sizeof name, "l%d.csv", kind);
        make_log(name, kind, 30);
        for (size_t i = 0; i < sizeof commands / sizeof commands[0]; i++)
            says_the_same(commands[i], name);
    }
}

/* Packed logs, others as they are, whatever they are called; and what it says. */
static void a_folder_is_packed_and_unpacked(void **state)
{
    (void)state;
    assert_int_equal(system_in_scratch("mkdir -p run/deep/er run/empty"), 0);
    make_log("run/profile_log_device.csv", 9, 200);
    make_log("run/deep/er/small.csv", 9, 1);
    make_log("run/deep/l2.csv", 2, 900);
    make_log("run/deep/odd name.log", 5, 200);
    assert_int_equal(
        system_in_scratch(
            "cd run && touch nothing.csv .hidden deep/x.pack && cp profile_log_device.csv y.pack && "
            "head -c 100000 /dev/urandom >noise.bin && head -c 100000 /dev/urandom >noise.json && "
            "ln -s noise.bin link"),
        0);
    char *said = devlog_ok("pack run/", 0);
    assert_non_null(strstr(said, "run.pack: 6 logs are packed, 4 other files are as they were"));
    assert_non_null(strstr(said, "run.pack: 1 that are neither files nor folders are left out"));
    free(said);
    assert_int_equal(access(in_scratch("run.pack/deep/l2.csv.pack"), F_OK), 0);
    assert_int_equal(access(in_scratch("run.pack/deep/x.pack.pack"), F_OK), 0);
    free(devlog_ok("unpack run.pack -o back", 0));
    assert_int_equal(system_in_scratch("rm run/link && diff -r run back"), 0);
    /* As a command reads the one, it reads the other. */
    char *one = devlog_ok("decode run/profile_log_device.csv -f json", 0);
    char *two = devlog_ok("decode run.pack/profile_log_device.csv.pack -f json", 0);
    assert_string_equal(one, two);
    free(one);
    free(two);
    devlog_fails("pack run", 1, "run.pack exists");
    devlog_fails("unpack run.pack", 1, "run exists");
    devlog_fails("pack run -o -", 2, "a folder is packed into a folder");
    devlog_fails("pack run --follow -o other", 2, "a folder is packed into a folder");
    /* Into itself: what is made is not taken. */
    free(devlog_ok("pack run -o run/inside", 0));
    assert_int_not_equal(access(in_scratch("run/inside/inside"), F_OK), 0);
    /* What is damaged is said, and the others are there. */
    assert_int_equal(system_in_scratch("truncate -s -30 run.pack/deep/l2.csv.pack && rm -r back"), 0);
    char *err;
    assert_int_equal(devlog("unpack run.pack -o back", NULL, &err), 3);
    assert_non_null(strstr(err, "back/deep/l2.csv holds"));
    free(err);
    assert_int_equal(system_in_scratch("rm -r run/inside && diff -r run back"),
                     0); /* its end was cut, no text */
}

static void what_is_wrong_is_said(void **state)
{
    (void)state;
    size_t n;
    char *out, *err;
    make_log("d.csv", 2, 3500); /* two blocks */
    free(devlog_ok("pack d.csv", 0));
    char *bytes = read_bytes(in_scratch("d.csv.pack"), &n);
    write_bytes(in_scratch("cut.pack"), bytes, n - 1);
    size_t second = 100;
    while (second + 4 < n && memcmp(bytes + second, "DLP1\1", 5) != 0)
        second++;
    bytes[second + 60] ^= 4;
    write_bytes(in_scratch("flipped.pack"), bytes, n);
    free(bytes);
    assert_int_equal(devlog("unpack cut.pack", &out, &err), 3);
    assert_non_null(strstr(err, "it has no end"));
    is_same("d.csv", "cut");
    free(out);
    free(err);
    assert_int_equal(devlog("unpack flipped.pack -o -", &out, &err), 3);
    assert_non_null(strstr(err, "of the log are lost: there is damage before byte"));
    assert_true(strlen(out) > 4000000);
    free(out);
    free(err);
    assert_int_equal(devlog("decode cut.pack --no-files", &out, &err), 3);
    assert_non_null(strstr(out, "it has no end"));
    free(out);
    free(err);
    assert_int_equal(devlog("decode flipped.pack --no-files", &out, &err), 3);
    assert_non_null(strstr(out, "of the log are lost"));
    free(out);
    free(err);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_log_is_packed_and_unpacked),
        cmocka_unit_test(a_folder_is_packed_and_unpacked),
        cmocka_unit_test(names_that_nobody_told_are_not_overwritten),
        cmocka_unit_test(commands_read_packed_logs),
        cmocka_unit_test(what_is_wrong_is_said),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
