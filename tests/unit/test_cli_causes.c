/* devlog causes as a command: a launch whose path is known by hand, what is lost, what cannot be read, and how it is printed.
 * Its arithmetic: test_causes.c; on the simulator: tests/sim/test_causes_run.c. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "support/cli.h"
#include "support/device.h"
#include "support/files.h"

/* Two RISCs of a core: BRISC reads three pages into a buffer for two at 0x1000, TRISC_1 computes with them for longer. */
typedef struct line {
    const char *risc;
    unsigned at;
    const char *name, *type;
    unsigned value, counter; /* of wants and gives */
} line;

#define HEAD                                                                                                                \
    "ARCH: wormhole_b0, CHIP_FREQ[MHz]: 1000\nPCIe slot, core_x, core_y, RISC processor type, timer_id, time[cycles since " \
    "reset], data, run host ID, trace id, trace id counter, zone name, type, source line, source file, meta data\n"
#define ZONE_START "ZONE_START"
#define ZONE_END   "ZONE_END"
#define DATA       "TS_DATA"

static const line lines[] = {
    {"BRISC", 1000, "BRISC-FW", ZONE_START},
    {"BRISC", 1100, "BRISC-KERNEL", ZONE_START},
    {"BRISC", 1200, "read", ZONE_START},
    {"BRISC", 1300, "read", ZONE_END},
    {"BRISC", 1310, "DEVLOG-GIVES", DATA, 1, 0x1000},
    {"BRISC", 1320, "read", ZONE_START},
    {"BRISC", 1420, "read", ZONE_END},
    {"BRISC", 1430, "DEVLOG-GIVES", DATA, 2, 0x1000},
    {"BRISC", 1450, "DEVLOG-WANTS", DATA, 1, 0x1004},
    {"BRISC", 1460, "DEVLOG-WAIT-FULL", ZONE_START},
    {"BRISC", 1880, "DEVLOG-WAIT-FULL", ZONE_END},
    {"BRISC", 1900, "read", ZONE_START},
    {"BRISC", 2000, "read", ZONE_END},
    {"BRISC", 2010, "DEVLOG-GIVES", DATA, 3, 0x1000},
    {"BRISC", 2100, "BRISC-KERNEL", ZONE_END},
    {"BRISC", 3500, "BRISC-FW", ZONE_END},
    {"TRISC_1", 1050, "TRISC-FW", ZONE_START},
    {"TRISC_1", 1150, "TRISC-KERNEL", ZONE_START},
    {"TRISC_1", 1160, "DEVLOG-WANTS", DATA, 1, 0x1000},
    {"TRISC_1", 1170, "DEVLOG-WAIT-EMPTY", ZONE_START},
    {"TRISC_1", 1340, "DEVLOG-WAIT-EMPTY", ZONE_END},
    {"TRISC_1", 1350, "compute", ZONE_START},
    {"TRISC_1", 1850, "compute", ZONE_END},
    {"TRISC_1", 1860, "DEVLOG-GIVES", DATA, 1, 0x1004},
    {"TRISC_1", 1870, "DEVLOG-WANTS", DATA, 2, 0x1000},
    {"TRISC_1", 1880, "compute", ZONE_START},
    {"TRISC_1", 2380, "compute", ZONE_END},
    {"TRISC_1", 2390, "DEVLOG-GIVES", DATA, 2, 0x1004},
    {"TRISC_1", 2400, "DEVLOG-WANTS", DATA, 3, 0x1000},
    {"TRISC_1", 2410, "compute", ZONE_START},
    {"TRISC_1", 3310, "compute", ZONE_END},
    {"TRISC_1", 3320, "DEVLOG-GIVES", DATA, 3, 0x1004},
    {"TRISC_1", 3350, "TRISC-KERNEL", ZONE_END},
    {"TRISC_1", 3400, "TRISC-FW", ZONE_END},
};
enum { LINES = sizeof lines / sizeof lines[0] };

typedef struct change {
    size_t without;  /* line that is missing; LINES: none */
    const char *add; /* lines at the end */
    bool plain;      /* without all records of waits */
} change;

static void write_log(const char *name, change c)
{
    dl_str out = {0};
    dl_str_add(&out, HEAD);
    for (size_t i = 0; i < LINES; i++) {
        const line *l = &lines[i];
        if (i == c.without || (c.plain && strncmp(l->name, "DEVLOG-", 7) == 0)) continue;
        dl_str_fmt(&out, "0,1,2,%s,%zu,%u,%llu,7,,,%s,%s,5,a.c,\n", l->risc, 10 + i, l->at,
                   (unsigned long long)l->value << 32 | l->counter, l->name, l->type);
    }
    if (c.add) dl_str_add(&out, c.add);
    write_text(in_scratch(name), out.text);
    dl_str_free(&out);
}

static void the_path_is_that_by_hand(void **state)
{
    (void)state;
    write_log("hand.csv", (change){.without = LINES});
    char *out = devlog_ok("causes --format csv --tables path hand.csv", 0);
    /* The first compute less 500: TRISC_1 comes to the second page at 1370, which was given at 1430 and is there 20 later, as
     * quickly as any was: 1870 - 1450 are gained. All three: BRISC gives the third at 1590, and 1690 are. */
    static const char *const rows[] = {
        "0,100,4,\"1,2\",BRISC,BRISC-FW,100,",
        "200,100,4,\"1,2\",BRISC,read,100,",
        "300,10,0.4,\"1,2\",BRISC,BRISC-KERNEL,10,TRISC_1 170: buffer empty,170,buffer empty,0x1000,1",
        "310,30,1.2,\"1,2\",TRISC_1,(hand-over),,",
        "350,500,20,\"1,2\",TRISC_1,compute,420,",
        "1410,900,36,\"1,2\",TRISC_1,compute,900,",
        "2350,50,2,\"1,2\",TRISC_1,TRISC-FW,50,",
        "2400,100,4,\"1,2\",TRISC_1,(core ends),,",
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (!strstr(out, rows[i])) fail_msg("no '%s' in:\n%s", rows[i], out);
    uint64_t sum = 0;
    for (char *at = strchr(out, '\n'); at && at[1] && at[1] != '\n'; at = strchr(at + 1, '\n')) {
        unsigned long long from = 0, cycles = 0;
        if (sscanf(at + 1, "%llu,%llu", &from, &cycles) != 2) continue;
        assert_int_equal(from, sum);
        sum += cycles;
    }
    assert_int_equal(sum, 2500);
    free(out);
    out = devlog_ok("causes --format csv --tables waits hand.csv", 0);
    assert_non_null(strstr(out, "BRISC,buffer full,0x1004,TRISC_1,1,420,420,0,\"1,2\",7\n"));
    assert_non_null(strstr(out, "TRISC_1,buffer empty,0x1000,BRISC,1,170,170,1,\"1,2\",7\n"));
    free(out);
    out = devlog_ok("causes --format csv --tables path_zones hand.csv", 0);
    assert_non_null(strstr(out, "TRISC_1,compute,3,1,1900,76,1690,67.6"));
    assert_non_null(strstr(out, "BRISC,read,1,1,100,4,100,4"));
    free(out);
}

static void every_output_is_whole(void **state)
{
    (void)state;
    write_log("hand.csv", (change){.without = LINES});
    char *out = devlog_ok("causes --format json hand.csv", 0);
    assert_true(is_json(out));
    static const char *const keys[] = {"causes", "path",     "path_zones", "waits",
                                       "slack",  "launches", "run",        "run_path"};
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++)
        assert_non_null(strstr(out, keys[i]));
    free(out);
    free(devlog_ok("causes --format md --top 2 hand.csv", 0));
    out = devlog_ok("causes --launches 7 hand.csv", 0);
    assert_non_null(strstr(out, "PATH OF LAUNCH 7"));
    free(out);
    devlog_fails("causes --launches 8 hand.csv", 1, "8");
}

/* devlog report says it too: what would save most is the zone without which the launch would be shortest. */
static void a_report_says_it(void **state)
{
    (void)state;
    write_log("hand.csv", (change){.without = LINES});
    char *out = devlog_ok("report --format csv --tables savings,path_zones,waits hand.csv", 0);
    assert_non_null(strstr(out, "1690,"));
    assert_non_null(strstr(out, "TRISC_1: its compute is what launches wait for"));
    assert_non_null(strstr(out, "TRISC_1,compute,3,1,1900,76,1690,67.6"));
    assert_non_null(strstr(out, "BRISC,buffer full,0x1004,TRISC_1,1,420,420,0,\"1,2\",7\n"));
    free(out);
    write_log("plain.csv", (change){.without = LINES, .plain = true});
    out = devlog_ok("report --format csv plain.csv", 0);
    assert_null(strstr(out, "is what launches wait for"));
    free(out);
    free(devlog_ok("report hand.csv", 0));
}

/* Without records of waits the path is that of zones, and it is said that waits are unknown. */
/* Addresses and page numbers are no values to sum up: decode counts them, and keeps the values of the program itself. */
static void decode_has_no_records_of_waits(void **state)
{
    (void)state;
    static const char own[] = "0,1,2,BRISC,90,1950,77,7,,,pages,TS_DATA,5,a.c,\n"
                              "0,1,2,BRISC,91,1960,4096,7,,,DEVLOG-NOC-READ,TS_DATA,5,a.c,\n";
    static const struct {
        const char *command, *told, *own;
    } forms[] = {
        {"decode waits.csv", "\n11 records of waits: in no table here, devlog causes reads them\n", "pages"},
        {"decode --format json waits.csv", "\n  \"wait_records\": 11,\n", "\"name\": \"pages\""},
        {"decode --format csv waits.csv", "\nwait_records,,,,,,,,,,,11,", "BRISC,pages,1,"},
    };
    /* By hand: 4 wants and 6 gives above, and one transfer. */
    write_log("waits.csv", (change){.without = LINES, .add = own});
    for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++) {
        char *out = devlog_ok(forms[i].command, 0);
        if (!strstr(out, forms[i].told) || !strstr(out, forms[i].own))
            fail_msg("no '%s' or '%s' in:\n%s", forms[i].told, forms[i].own, out);
        if (strstr(out, "DEVLOG-WANTS") || strstr(out, "DEVLOG-GIVES") || strstr(out, "DEVLOG-NOC"))
            fail_msg("a record of a wait in:\n%s", out);
        free(out);
    }
    write_log("plain.csv", (change){.without = LINES, .plain = true});
    char *out = devlog_ok("decode plain.csv", 0);
    assert_null(strstr(out, "of waits"));
    free(out);
}

static void what_was_not_recorded_is_said(void **state)
{
    (void)state;
    write_log("plain.csv", (change){.without = LINES, .plain = true});
    char *out = devlog_ok("causes plain.csv", 0);
    assert_non_null(strstr(out, "none was recorded"));
    assert_null(strstr(out, "buffer full"));
    free(out);
}

/* Each line that is missing, one at a time: who ended a wait is the truth or unknown. */
static void a_missing_line_is_never_a_wrong_cause(void **state)
{
    (void)state;
    size_t unknown = 0;
    for (size_t i = 0; i < LINES; i++) {
        char *out = NULL, *err = NULL;
        write_log("less.csv", (change){.without = i});
        const int status = devlog("causes --format csv --tables waits less.csv", &out, &err);
        assert_true(status == 0 || status == 3 || status == 1);
        for (char *at = strchr(out, '\n'); at && at[1]; at = strchr(at + 1, '\n')) {
            char row[200] = "";
            sscanf(at + 1, "%199[^\n]", row);
            const bool known = strstr(row, "BRISC,buffer full,0x1004,TRISC_1,") ||
                               strstr(row, "TRISC_1,buffer empty,0x1000,BRISC,") || !*row;
            unknown += strstr(row, "unknown") != NULL;
            if (!known && !strstr(row, "unknown") && !strstr(row, "nothing"))
                fail_msg("without line %zu (%s): %s", i, lines[i].name, row);
        }
        free(out);
        free(err);
        /* A part of a path that is told is of the whole one, but where the line's own zone is gone. */
        const int again = devlog("causes --format csv --tables causes less.csv", &out, &err);
        if (again != 1 && strncmp(lines[i].name, "DEVLOG-", 7) == 0 &&
            strstr(out, "the path is known from end to start") && strcmp(lines[i].type, DATA) != 0)
            fail_msg("without line %zu (%s) the path is known from end to start", i, lines[i].name);
        free(out);
        free(err);
    }
    assert_true(unknown >= 3);
}

/* Its last record is not its end. */
static void a_launch_that_never_ended_is_not_explained(void **state)
{
    (void)state;
    dl_str out = {0};
    dl_str_add(&out, HEAD);
    for (unsigned launch = 7; launch <= 8; launch++) {
        const unsigned at = launch * 10000;
        dl_str_fmt(&out, "0,1,2,BRISC,10,%u,0,%u,,,BRISC-FW,ZONE_START,5,a.c,\n", at, launch);
        dl_str_fmt(&out, "0,1,2,BRISC,11,%u,0,%u,,,read,ZONE_START,5,a.c,\n", at + 100, launch);
        dl_str_fmt(&out, "0,1,2,BRISC,11,%u,0,%u,,,read,ZONE_END,5,a.c,\n", at + 200, launch);
        if (launch == 7)
            dl_str_fmt(&out, "0,1,2,BRISC,10,%u,0,%u,,,BRISC-FW,ZONE_END,5,a.c,\n", at + 300, launch);
    }
    write_text(in_scratch("hung.csv"), out.text);
    dl_str_free(&out);
    char *text = devlog_ok("causes --format csv --tables launches hung.csv", 3);
    assert_non_null(strstr(text, "\n7,0,300,100,"));
    assert_non_null(strstr(text, "\n8,0,200,0,"));
    free(text);
}

/* Nor does it make the launch longer, with records of waits and without: a RISC whose start is missing has not run since the
 * chip was reset. What lies between the launch's start and its first record is unknown. */
static void a_missing_line_makes_no_launch_longer(void **state)
{
    (void)state;
    for (size_t i = 0; i < 2 * LINES; i++) {
        const change c = {.without = i / 2, .plain = i % 2};
        char *out = NULL, *err = NULL;
        write_log("less.csv", c);
        const int status = devlog("causes --format csv --tables launches less.csv", &out, &err);
        const char *row = strstr(out, "\n7,0,");
        unsigned cycles = 0;
        double explained = 0;
        if (status != 1 && (!row || sscanf(row, "\n7,0,%u,%lf,", &cycles, &explained) != 2 || cycles > 2500))
            fail_msg("without line %zu (%s): %s", c.without, lines[c.without].name, out);
        if (c.plain && strcmp(lines[c.without].name, "TRISC-FW") == 0 && explained > 99)
            fail_msg("without %s of TRISC-FW %g %% are explained", lines[c.without].type, explained);
        free(out);
        free(err);
    }
}

static void losses_are_said(void **state)
{
    (void)state;
    write_log("lost.csv", (change){.without = LINES,
                                   .add = "0,1,2,TRISC_1,90,3340,5,7,,,DEVLOG-DROPPED,ZONE_TOTAL,0,,\n"});
    char *out = NULL, *err = NULL;
    assert_int_equal(devlog("causes --format csv --tables path lost.csv", &out, &err), 3);
    assert_non_null(strstr(out, "(unknown)"));
    assert_null(strstr(out, "compute"));
    assert_non_null(strstr(err, "5"));
    free(out);
    free(err);
}

static void bad_input_is_said(void **state)
{
    (void)state;
    devlog_fails("causes nowhere.csv", 1, "nowhere.csv");
    write_text(in_scratch("empty.csv"), "");
    devlog_fails("causes empty.csv", 1, "empty.csv");
    write_text(in_scratch("ops.csv"),
               "OP CODE,OP TYPE,GLOBAL CALL COUNT,DEVICE ID,DEVICE KERNEL DURATION [ns]\na,b,1,0,5\n");
    devlog_fails("causes ops.csv", 1, "says nothing of waits");
    write_log("hand.csv", (change){.without = LINES});
    devlog_fails("causes --tables waits,none hand.csv", 1, "none");
    devlog_fails("causes", 1, "there is no log in generated/profiler");
}

/* tt-metal sums up what compute waits for pages, and writes one number a launch. */
static void a_report_sees_waits_that_are_sums(void **state)
{
    (void)state;
    for (unsigned waited = 200; waited <= 300; waited += 100) {
        dl_str add = {0};
        dl_str_add(
            &add,
            "0,1,2,TRISC_0,90,1050,0,7,,,TRISC-FW,ZONE_START,5,a.c,\n0,1,2,TRISC_0,91,1100,0,7,,,TRISC-KERNEL,ZONE_START,5,a.c,\n");
        dl_str_fmt(&add, "0,1,2,TRISC_0,92,2090,%u,7,,,CB-COMPUTE-WAIT-FRONT,ZONE_TOTAL,5,a.c,\n", waited);
        dl_str_add(&add, "0,1,2,TRISC_0,91,2100,0,7,,,TRISC-KERNEL,ZONE_END,5,a.c,\n"
                         "0,1,2,TRISC_0,90,2200,0,7,,,TRISC-FW,ZONE_END,5,a.c,\n");
        write_log("sums.csv", (change){.without = LINES, .plain = true, .add = add.text});
        dl_str_free(&add);
        char *out = devlog_ok("report --format csv --tables advice sums.csv", 0);
        const bool told = strstr(out, "\nunpack_waits,") != NULL;
        if (told != (waited == 300)) fail_msg("%u of 1000 cycles: %s", waited, out);
        free(out);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_path_is_that_by_hand),
        cmocka_unit_test(every_output_is_whole),
        cmocka_unit_test(decode_has_no_records_of_waits),
        cmocka_unit_test(what_was_not_recorded_is_said),
        cmocka_unit_test(a_missing_line_is_never_a_wrong_cause),
        cmocka_unit_test(a_missing_line_makes_no_launch_longer),
        cmocka_unit_test(a_launch_that_never_ended_is_not_explained),
        cmocka_unit_test(losses_are_said),
        cmocka_unit_test(bad_input_is_said),
        cmocka_unit_test(a_report_says_it),
        cmocka_unit_test(a_report_sees_waits_that_are_sums),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
