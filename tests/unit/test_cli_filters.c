/* A filter that lets nothing of a log through is a mistake, in every command that has filters: one line that
 * says what there is, and no result. Not for what filters leave (test_cli_decode.c). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/paths.h"
#include "base/str.h"
#include "support/cli.h"
#include "support/files.h"

/* tests/golden/l9/log.csv: chips 0 and 1, cores 1,1 and 2,1, launches 7 and 8, cycles 5,000 and up. */
static const struct {
    const char *options, *says;
} nothing[] = {
    {"--chips 9", "--chips 9: no such chip; the log has 0-1"},
    {"--chips 0,7-8", "--chips 7-8: no such chip; the log has 0-1"},
    {"--core 9,9", "--core 9,9: no such core; the log has 1,1, 2,1"},
    {"--core 1,1 --core 3,0-9,9", "--core 3,0-9,9: no such core; the log has 1,1, 2,1"},
    {"--riscs FOO", "--riscs FOO: no such RISC; the log has 'BRISC', 'TRISC_0'"},
    {"--riscs BRISC,NCRISC", "--riscs NCRISC: no such RISC; the log has 'BRISC', 'TRISC_0'"},
    {"--riscs N*", "--riscs N*: no such RISC"},
    {"-z typo",
     "--zone typo: no zone or marker of this name; the log has 'BRISC-FW', 'BRISC-KERNEL', 'BLOCK 1'"},
    {"-z 'BLOCK 1' -z 'BLOCK 1x*'", "--zone BLOCK 1x*: no zone"},
    {"--launches 100", "--launches 100: no such launch; the log has 7-8"},
    {"--launches 7,0-6", "--launches 0-6: no such launch; the log has 7-8"},
    {"--chips 1 --launches 8", "--launches 8: no such launch; the chips that are wanted have 7"},
    {"--core 2,1 --launches 7-9,3",
     "--launches 3: no such launch; the chips, cores and RISCs that are wanted have"},
    {"--skip-launches 2", "--skip-launches 2: no chip has more than 2 launches"},
    {"--skip-launches 18446744073709551615", "no chip has more than 2 launches"},
    {"--from 10000000", "nothing lies between --from and --until; the rows are of cycles 100 to 9600"},
    {"--until 99", "the rows are of cycles 100 to 9600"},
    {"--min-cycles 1000000",
     "--min-cycles 1000000: no zone is as long that the other filters leave; the longest"},
    {"--chips 1 --core 2,1", "no row of this log is of the chips, cores and RISCs"},
    {"--launches 8 --until 5500", "all of them together leave nothing"},
    {"--core 2,1 -z 'BLOCK 1'", "all of them together leave nothing"},
};

static void copy_log(void)
{
    char path[600];
    snprintf(path, sizeof path, "%s/tests/golden/l9/log.csv", dl_home());
    char *log = read_bytes(path, NULL);
    write_text(in_scratch("l9.csv"), log);
    free(log);
}

static void what_matches_nothing_is_an_error(void **state)
{
    static const char *const commands[] = {"decode l9.csv -o out", "decode l9.csv -f json",
                                           "decode l9.csv -f csv", "export l9.csv -o out.json -f chrome"};
    (void)state;
    copy_log();
    for (size_t i = 0; i < sizeof nothing / sizeof nothing[0]; i++) {
        for (size_t k = 0; k < sizeof commands / sizeof commands[0]; k++) {
            char line[300];
            snprintf(line, sizeof line, "%s %s", commands[k], nothing[i].options);
            devlog_fails(line, 1, nothing[i].says);
        }
        assert_int_not_equal(access(in_scratch("out"), F_OK), 0);
        assert_int_not_equal(access(in_scratch("out.json"), F_OK), 0);
    }
}

/* A folder of ELF files that is not there cannot be what was meant. */
static void a_folder_that_is_not_there(void **state)
{
    (void)state;
    copy_log();
    devlog_fails("decode l9.csv --no-files --elf nowhere", 1, "--elf: nowhere: No such file or directory");
    devlog_fails("decode l9.csv --no-files --elf l9.csv", 1, "--elf wants a folder: l9.csv is none");
}

/* What there is may be much. */
static void long_lists_are_cut(void **state)
{
    (void)state;
    dl_str log = {0};
    dl_str_add(&log, "ARCH: wormhole_b0, CHIP_FREQ[MHz]: 1000\n"
                     "PCIe slot, core_x, core_y, RISC processor type, timer_id, time[cycles since reset], "
                     "stat value, run ID, run host ID, zone name, zone phase, source line, source file\n");
    for (int i = 0; i < 40; i++)
        dl_str_fmt(
            &log,
            "%d,%d,1,R%d,1,%d,0,0,%d,zone %d,begin,1,k.cc\n%d,%d,1,R%d,1,%d,0,0,%d,zone %d,end,1,k.cc\n",
            2 * i, i, i, 100 * i, 3 * i, i, 2 * i, i, i, 100 * i + 50, 3 * i, i);
    write_text(in_scratch("many.csv"), log.text);
    dl_str_free(&log);
    devlog_fails("decode many.csv --chips 1", 1,
                 "the log has 0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22 and 28 more");
    devlog_fails("decode many.csv --core 0,0", 1, "the log has 0,1, 1,1, 2,1,");
    devlog_fails("decode many.csv --riscs X", 1, "'R11' and 28 more");
    devlog_fails("decode many.csv -z X", 1, "'zone 11' and 28 more");
    devlog_fails("decode many.csv --launches 1", 1, "the log has 0, 3, 6, 9,");
}

/* And so may a name: it is cut between characters, and says so. */
static void long_names_are_cut(void **state)
{
    (void)state;
    dl_str log = {0}, says = {0};
    const char *const letters[] = {"y", "z", "é"}; /* behind an x */
    const int times[] = {60, 59, 40}, shown[] = {59, 59, 29};
    dl_str_add(&log, "ARCH: wormhole_b0, CHIP_FREQ[MHz]: 1000\n"
                     "PCIe slot, core_x, core_y, RISC processor type, timer_id, time[cycles since reset], "
                     "stat value, run ID, run host ID, zone name, zone phase, source line, source file\n");
    dl_str_add(&says, "the log has ");
    for (int i = 0; i < 3; i++) {
        for (int end = 0; end < 2; end++) {
            dl_str_fmt(&log, "0,1,1,BRISC,%d,%d,0,0,1,x", i, 100 * i + 50 * end);
            for (int k = 0; k < times[i]; k++)
                dl_str_add(&log, letters[i]);
            dl_str_fmt(&log, ",%s,1,k.cc\n", end ? "end" : "begin");
        }
        dl_str_add(&says, i ? ", 'x" : "'x");
        for (int k = 0; k < shown[i]; k++)
            dl_str_add(&says, letters[i]);
        dl_str_add(&says, i == 1 ? "'" : "...'");
    }
    write_text(in_scratch("long.csv"), log.text);
    devlog_fails("decode long.csv -z X", 1, says.text);
    dl_str_free(&log);
    dl_str_free(&says);
}

/* A core that hangs has no closed zone, and a wish for it is met: by what is told of it. */
static void what_never_ended_is_something(void **state)
{
    (void)state;
    write_text(
        in_scratch("hung.csv"),
        "ARCH: wormhole_b0, CHIP_FREQ[MHz]: 1000\n"
        "PCIe slot, core_x, core_y, RISC processor type, timer_id, time[cycles since reset], stat value, "
        "run ID, run host ID, zone name, zone phase, source line, source file\n"
        "0,1,1,BRISC,1,100,0,0,1,hangs,begin,1,k.cc\n"
        "0,1,2,BRISC,1,100,0,0,1,ends,begin,1,k.cc\n0,1,2,BRISC,1,200,0,0,1,ends,end,1,k.cc\n");
    char *out = devlog_ok("decode hung.csv --no-files --core 1,1", 3);
    assert_non_null(strstr(out, "zone 'hangs' began at cycle 100 and never ended"));
    free(out);
    free(devlog_ok("decode hung.csv --no-files -z hangs", 3));
    /* A window inside a zone has no row in it, and the zone. */
    free(devlog_ok("decode hung.csv --no-files --core 1,2 --from 120 --until 130", 0));
}

/* What is wrong in the log is told whatever a filter leaves: nobody knows whether it would have been left. */
static void losses_are_those_of_the_whole_log(void **state)
{
    (void)state;
    write_text(
        in_scratch("lost.csv"),
        "ARCH: wormhole_b0, CHIP_FREQ[MHz]: 1000\n"
        "PCIe slot, core_x, core_y, RISC processor type, timer_id, time[cycles since reset], stat value, "
        "run ID, run host ID, zone name, zone phase, source line, source file\n"
        "0,1,1,BRISC,1,100,0,0,1,FW,begin,1,k.cc\n0,1,1,BRISC,2,110,0,0,1,hangs,begin,1,k.cc\n"
        "0,1,1,BRISC,1,1000,0,0,2,FW,begin,1,k.cc\n0,1,1,BRISC,1,1100,0,0,2,FW,end,1,k.cc\n"
        "0,1,1,BRISC,2,1200,0,0,2,lonely,end,1,k.cc\n");
    static const char *const options[] = {
        "", "--from 1050", "--until 500", "--launches 1", "--launches 2", "-z FW", "--skip-launches 1"};
    for (size_t i = 0; i < sizeof options / sizeof options[0]; i++) {
        char line[100];
        snprintf(line, sizeof line, "decode lost.csv --no-files %s", options[i]);
        char *out = devlog_ok(line, 3);
        if (!strstr(out, " 2  zones that never ended") || !strstr(out, " 1  zone ends without a start"))
            fail_msg("%s: %s", line, out);
        free(out);
    }
}

/* The names that are listed are those of the program, not of what devlog counts. */
static void what_was_dropped_is_no_zone(void **state)
{
    (void)state;
    char *err;
    write_text(
        in_scratch("dropped.csv"),
        "ARCH: wormhole_b0, CHIP_FREQ[MHz]: 1000, Max Compute Cores: 80\n"
        "PCIe slot, core_x, core_y, RISC processor type, timer_id, time[cycles since reset], data, run host "
        "ID, trace id, trace id counter, zone name, type, source line, source file, meta data\n"
        "0,1,2,BRISC,1,1000,0,7,,,BRISC-FW,ZONE_START,1,f.c,\n"
        "0,1,2,BRISC,5,1030,43,7,,,DEVLOG-DROPPED,ZONE_TOTAL,1,f.c,\n"
        "0,1,2,BRISC,1,1200,0,7,,,BRISC-FW,ZONE_END,1,f.c,\n");
    assert_int_equal(devlog("decode dropped.csv --no-files -z typo", NULL, &err), 1);
    if (!strstr(err, "no zone or marker of this name; the log has 'BRISC-FW'\n")) fail_msg("%s", err);
    free(err);
}

/* --launches and --max-launches: the table of launches counts what the filter leaves. */
static void filtered_launches_are_no_more_launches(void **state)
{
    (void)state;
    dl_str log = {0};
    dl_str_add(&log, "ARCH: wormhole_b0, CHIP_FREQ[MHz]: 1000\n"
                     "PCIe slot, core_x, core_y, RISC processor type, timer_id, time[cycles since reset], "
                     "stat value, run ID, run host ID, zone name, zone phase, source line, source file\n");
    for (int i = 1; i <= 120; i++)
        dl_str_fmt(
            &log,
            "0,1,1,BRISC,1,%d,0,0,%d,BRISC-FW,begin,1,k.cc\n0,1,1,BRISC,1,%d,0,0,%d,BRISC-FW,end,1,k.cc\n",
            1000 * i, i, 1000 * i + 2 * i, i);
    write_text(in_scratch("launches.csv"), log.text);
    dl_str_free(&log);
    static const struct {
        const char *options, *says, *says_not;
    } cases[] = {
        {"--launches 100", "\n100     BRISC  BRISC-FW      1          200 ", "more launches"},
        {"--skip-launches 115", "\n116     BRISC  BRISC-FW ", "more launches"},
        {"--launches 30-60 --max-launches 2", "... and 29 more launches", NULL},
        {"--from 100000 --max-launches 5", "... and 16 more launches", NULL},
        {"--min-cycles 238 --max-launches 1", "... and 1 more launches", NULL},
        {"", "... and 100 more launches", NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char line[200];
        snprintf(line, sizeof line, "decode launches.csv --no-files %s", cases[i].options);
        char *out = devlog_ok(line, 0);
        if (!strstr(out, cases[i].says)) fail_msg("%s: %s", line, out);
        if (cases[i].says_not && strstr(out, cases[i].says_not)) fail_msg("%s: %s", line, out);
        free(out);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_matches_nothing_is_an_error),
        cmocka_unit_test(a_folder_that_is_not_there),
        cmocka_unit_test(long_lists_are_cut),
        cmocka_unit_test(long_names_are_cut),
        cmocka_unit_test(what_never_ended_is_something),
        cmocka_unit_test(losses_are_those_of_the_whole_log),
        cmocka_unit_test(what_was_dropped_is_no_zone),
        cmocka_unit_test(filtered_launches_are_no_more_launches),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
