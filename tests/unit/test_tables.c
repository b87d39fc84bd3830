/* The tables that devlog decode prints, on a terminal and into a pipe, for logs that are hard on them: long
 * durations, long names, names without end. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "base/grid.h"
#include "base/paths.h"
#include "support/cli.h"
#include "support/files.h"

#define HEADER                                                                                               \
    "ARCH: wormhole_b0, CHIP_FREQ[MHz]: 1000, Max Compute Cores: 64\n"                                       \
    "PCIe slot, core_x, core_y, RISC processor type, timer_id, time[cycles since reset], data, "             \
    "run host ID, trace id, trace id counter, zone name, type, source line, source file, "                   \
    "meta data\n"

static void row(dl_str *s, unsigned chip, const char *zone, const char *type, uint64_t time)
{
    dl_str_fmt(s, "%u,1,2,BRISC,1,%llu,0,7,,,%s,%s,1,k.cc,\n", chip, (unsigned long long)time, zone, type);
}

static void zone(dl_str *s, unsigned chip, const char *name, uint64_t from, uint64_t cycles)
{
    row(s, chip, name, "ZONE_START", from);
    row(s, chip, name, "ZONE_END", from + cycles);
}

/* Runs "devlog LINE" on a terminal of so many columns and returns what it shows there. */
static char *on_terminal(unsigned short columns, const char *line)
{
    char command[1200], name[100];
    struct winsize size = {.ws_row = 50, .ws_col = columns};
    int master = posix_openpt(O_RDWR | O_NOCTTY);
    assert_true(master >= 0 && grantpt(master) == 0 && unlockpt(master) == 0);
    assert_int_equal(ptsname_r(master, name, sizeof name), 0);
    assert_int_equal(ioctl(master, TIOCSWINSZ, &size), 0);
    snprintf(command, sizeof command, "cd '%s' && exec '%s' %s", scratch(), getenv("DEVLOG_BIN"), line);
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        int terminal = open(name, O_RDWR | O_NOCTTY);
        if (terminal < 0 || dup2(terminal, STDOUT_FILENO) < 0) _exit(99);
        setenv("NO_COLOR", "1", 1);
        execl("/bin/sh", "sh", "-c", command, (char *)NULL);
        _exit(99);
    }
    dl_str text = {0};
    char piece[4096];
    ssize_t n;
    int slave = open(name, O_RDWR | O_NOCTTY),
        status; /* held, so that nothing is lost when the program ends */
    assert_true(slave >= 0);
    fcntl(master, F_SETFL, O_NONBLOCK);
    for (bool ended = false;;) {
        while ((n = read(master, piece, sizeof piece)) > 0)
            for (ssize_t i = 0; i < n; i++)
                if (piece[i] != '\r') dl_str_char(&text, piece[i]);
        if (ended) break;
        ended = waitpid(pid, &status, WNOHANG) == pid;
        if (!ended) usleep(1000);
    }
    close(slave);
    close(master);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    return text.text;
}

/* 0.1 s and more in a zone, on two chips, with a name of 60 and one of 5,000 characters. */
static void write_hard_log(void)
{
    dl_str s = {0};
    char name[5001];
    memset(name, 'x', 5000);
    memcpy(name, "begin", 5);
    memcpy(name + 4997, "end", 4);
    dl_str_add(&s, HEADER);
    for (unsigned chip = 0; chip < 2; chip++) {
        row(&s, chip, "BRISC-FW", "ZONE_START", 1000);
        row(&s, chip, "BRISC-KERNEL", "ZONE_START", 2000);
        zone(&s, chip, "a_zone_with_a_name_of_sixty_characters_which_some_kernels_do_have", 3000, 100000000);
        zone(&s, chip, name, 200000000000, 123456789012);
        zone(&s, chip, "short", 400000000000, 7);
        for (int i = 0; i < 2; i++)
            dl_str_fmt(&s, "%u,1,2,BRISC,9,%llu,%llu,7,,,a value of %s,TS_DATA,1,k.cc,\n", chip,
                       400000000100ull + (unsigned)i, 18446744073709551615ull - (unsigned)i, name);
        row(&s, chip, "BRISC-KERNEL", "ZONE_END", 900000000000);
        row(&s, chip, "BRISC-FW", "ZONE_END", 900000001000);
    }
    write_text(in_scratch("hard.csv"), s.text);
    dl_str_free(&s);
}

static void a_terminal_of_80_columns_is_enough(void **state)
{
    (void)state;
    write_hard_log();
    static const unsigned short widths[] = {80, 100, 200};
    for (size_t i = 0; i < 3; i++) {
        char *text = on_terminal(widths[i], "decode --no-files hard.csv");
        char *end = strstr(text, " rows in ");
        assert_non_null(end);
        assert_non_null(strstr(text, "123,456,789,012 "));
        assert_non_null(strstr(text, "beg"));
        assert_null(strstr(text, "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"
                                 "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"
                                 "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"));
        for (char *line = text; line < end; line += strcspn(line, "\n") + 1)
            if (dl_text_columns(line, strcspn(line, "\n")) > widths[i])
                fail_msg("more than %u columns: %.*s", widths[i], (int)strcspn(line, "\n"), line);
        free(text);
    }
}

/* The same of the other commands that show names of zones. */
static void other_tables_fit_the_terminal(void **state)
{
    (void)state;
    static const char *const commands[] = {"report hard.csv", "causes hard.csv",
                                           "budget --log hard.csv hard.txt"};
    dl_str budgets = {0};
    char name[5001];
    memset(name, 'x', 5000);
    memcpy(name, "begin", 5);
    memcpy(name + 4997, "end", 4);
    write_hard_log();
    dl_str_fmt(&budgets, "999999999999 BRISC %s\n999999999999 * short\n", name);
    write_text(in_scratch("hard.txt"), budgets.text);
    dl_str_free(&budgets);
    for (size_t i = 0; i < sizeof commands / sizeof commands[0]; i++) {
        char *text = on_terminal(80, commands[i]);
        assert_non_null(strstr(text, "beg"));
        for (char *line = text; *line; line += strcspn(line, "\n") + (line[strcspn(line, "\n")] != 0)) {
            const size_t n = strcspn(line, "\n");
            /* Sentences below a table are cut by the terminal where it likes. */
            const bool prose = n && line[n - 1] == '.';
            if (!prose && dl_text_columns(line, n) > 80) fail_msg("%s: %.*s", commands[i], (int)n, line);
        }
        free(text);
    }
}

static void a_pipe_has_whole_names_and_all_columns(void **state)
{
    (void)state;
    write_hard_log();
    char name[5001];
    memset(name, 'x', 5000);
    memcpy(name, "begin", 5);
    memcpy(name + 4997, "end", 4);
    char *text = devlog_ok("decode --no-files hard.csv", 0);
    assert_non_null(strstr(text, name));
    assert_non_null(strstr(text, "median [ns]"));
    assert_null(strstr(text, "no room for"));
    free(text);
}

/* Where the first of these stands before the second in a text. */
static bool before(const char *text, const char *a, const char *b)
{
    const char *x = strstr(text, a), *y = strstr(text, b);
    return x && y && x < y;
}

static void rows_are_sorted_by_total_unless_told(void **state)
{
    (void)state;
    dl_str s = {0};
    dl_str_add(&s, HEADER);
    row(&s, 0, "BRISC-FW", "ZONE_START", 1000);
    for (unsigned i = 0; i < 10; i++)
        zone(&s, 0, "aa_often", 2000 + i * 100, 50); /* 500 together */
    zone(&s, 0, "bb_largest", 10000, 2000);
    zone(&s, 0, "cc_long", 20000, 600);
    row(&s, 0, "BRISC-FW", "ZONE_END", 101000);
    write_text(in_scratch("sorted.csv"), s.text);
    dl_str_free(&s);
    char *text = devlog_ok("decode --no-files --max-launches 0 sorted.csv", 0);
    assert_true(before(text, "BRISC-FW", "bb_largest") && before(text, "bb_largest", "cc_long") &&
                before(text, "cc_long", "aa_often"));
    assert_non_null(strstr(text, "bb_largest      1        2,000      2.0      2,000"));
    assert_non_null(strstr(text, "aa_often       10          500      0.5         50"));
    free(text);
    text = devlog_ok("decode --no-files --max-launches 0 --sort name sorted.csv", 0);
    assert_true(before(text, "aa_often", "bb_largest") && before(text, "bb_largest", "cc_long"));
    free(text);
    text = devlog_ok("decode --no-files --max-launches 0 --sort count sorted.csv", 0);
    assert_true(before(text, "aa_often", "BRISC-FW"));
    free(text);
    text = devlog_ok("decode --no-files --max-launches 0 --top 2 sorted.csv", 0);
    assert_non_null(
        strstr(text, "\n... and 2 more, 1,100 cycles together (--top N shows more, --top 0 all)\n"));
    assert_null(strstr(text, "cc_long"));
    free(text);
}

/* The share of a zone that is shown with a total, of the table over all launches. */
static void expect_share(const char *log, const char *name, const char *share)
{
    char line[100], found[100];
    snprintf(line, sizeof line, "decode --no-files --max-launches 0 %s", log);
    char *text = devlog_ok(line, strcmp(log, "whole.csv") ? 3 : 0), *at = strstr(text, name);
    assert_non_null(at);
    assert_int_equal(sscanf(at + strlen(name), "%*s %*s %99s", found), 1);
    assert_string_equal(found, share);
    free(text);
}

static void shares_are_of_firmware_or_of_kernels_where_that_was_lost(void **state)
{
    (void)state;
    static const char *const logs[] = {"whole.csv", "some.csv", "none.csv", "short.csv"};
    for (size_t log = 0; log < 4; log++) {
        dl_str s = {0};
        dl_str_add(&s, HEADER);
        for (unsigned i = 0; i < 4; i++) {
            const uint64_t t = 10000 * (i + 1);
            const bool lost = log == 1 ? i == 3 : log == 2;
            row(&s, 0, "BRISC-FW", "ZONE_START", t);
            row(&s, 0, "BRISC-KERNEL", "ZONE_START", t + 100);
            zone(&s, 0, "inner", t + 200, 500);
            row(&s, 0, "BRISC-KERNEL", "ZONE_END", t + 1100);
            if (!lost) row(&s, 0, "BRISC-FW", "ZONE_END", log == 3 ? t + 1100 : t + 2000);
            /* a launch without a kernel, so that there are as many firmware zones as kernels */
            if (log == 3 && i == 3) zone(&s, 0, "BRISC-FW", t + 5000, 10);
        }
        char *text = s.text;
        if (log ==
            3) { /* the first firmware zone is gone, and with it as many as there are kernels are left, but shorter */
            char *first = strstr(text, "BRISC-FW,ZONE_START");
            assert_non_null(first);
            while (first > text && first[-1] != '\n')
                first--;
            const char *next = strchr(first, '\n') + 1;
            memmove(first, next, strlen(next) + 1);
        }
        write_text(in_scratch(logs[log]), text);
        dl_str_free(&s);
    }
    expect_share("whole.csv", "BRISC-KERNEL", "50.0");
    expect_share("whole.csv", "inner", "25.0");
    expect_share("some.csv", "BRISC-KERNEL", "100.0");
    expect_share("some.csv", "inner", "50.0");
    expect_share("none.csv", "inner", "50.0");
    expect_share("short.csv", "BRISC-KERNEL", "100.0");
    expect_share("short.csv", "inner", "50.0");
}

static void many_names_are_a_short_table(void **state)
{
    (void)state;
    enum { NAMES = 30000 };
    dl_str s = {0};
    char name[40];
    dl_str_add(&s, HEADER);
    row(&s, 0, "BRISC-FW", "ZONE_START", 1000);
    for (unsigned i = 0; i < NAMES; i++) {
        snprintf(name, sizeof name, "zone_%u", i);
        zone(&s, 0, name, 2000 + i * 100, i == 777 ? 99 : 10);
    }
    row(&s, 0, "BRISC-FW", "ZONE_END", 100000000);
    write_text(in_scratch("names.csv"), s.text);
    dl_str_free(&s);
    char *text = devlog_ok("decode --no-files names.csv", 0);
    assert_true(strlen(text) < 10000);
    assert_true(before(text, "BRISC-FW", "zone_777 "));
    assert_non_null(strstr(text, "... and 29,951 more, 299,510 cycles together"));
    free(text);
    text = devlog_ok("decode --no-files --top 0 names.csv", 0);
    assert_non_null(strstr(text, "zone_29999 "));
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_terminal_of_80_columns_is_enough),
        cmocka_unit_test(other_tables_fit_the_terminal),
        cmocka_unit_test(a_pipe_has_whole_names_and_all_columns),
        cmocka_unit_test(rows_are_sorted_by_total_unless_told),
        cmocka_unit_test(shares_are_of_firmware_or_of_kernels_where_that_was_lost),
        cmocka_unit_test(many_names_are_a_short_table),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
