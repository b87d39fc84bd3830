/* Zones nested deeper than the decoder follows: those that it follows have their exact durations, the others
 * are counted, by every way through pairing. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "support/cli.h"
#include "support/files.h"

enum { MOST = 256, DEEP = 300 };

static void row(dl_str *out, int launch, const char *zone, uint64_t time, const char *phase)
{
    dl_str_fmt(out, "0,1,1,BRISC,1,%llu,0,0,%d,%s,%s,1,k.cc\n", (unsigned long long)time, launch, zone,
               phase);
}

/* Launches of one firmware zone around DEEP zones one inside the other, one with the name of all, or each
 * with its own. */
static void write_nest(const char *name, bool one_name, int launches)
{
    dl_str log = {0};
    dl_str_add(
        &log,
        "ARCH: wormhole_b0, CHIP_FREQ[MHz]: 1000\n"
        "PCIe slot, core_x, core_y, RISC processor type, timer_id, time[cycles since reset], stat value, "
        "run ID, run host ID, zone name, zone phase, source line, source file\n");
    for (int l = 1; l <= launches; l++) {
        uint64_t time = 100000 * (uint64_t)l;
        char zone[32];
        row(&log, l, "BRISC-FW", time++, "begin");
        for (int i = 1; i < DEEP; i++) {
            snprintf(zone, sizeof zone, one_name ? "z" : "z%d", i);
            row(&log, l, zone, time++, "begin");
        }
        for (int i = DEEP - 1; i >= 1; i--) {
            snprintf(zone, sizeof zone, one_name ? "z" : "z%d", i);
            row(&log, l, zone, time++, "end");
        }
        row(&log, l, "BRISC-FW", time, "end");
    }
    write_text(in_scratch(name), log.text);
    dl_str_free(&log);
}

/* Zone i of 1 .. DEEP-1 lasts 2 * (DEEP - i) - 1 cycles, firmware 2 * DEEP - 1. */
static void what_is_followed_is_exact(void **state)
{
    (void)state;
    static const char *const ways[] = {"", "--skip-launches 0 --riscs BRISC", "-o out"};
    write_nest("one.csv", true, 3);
    write_nest("own.csv", false, 3);
    for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++) {
        char line[200], expected[200], *out;
        snprintf(line, sizeof line, "decode one.csv -f csv %s", ways[i]);
        out = devlog_ok(line, 3);
        /* count, average, min, max of "z": 255 followed zones a launch, the innermost of them of 89 cycles */
        snprintf(expected, sizeof expected, ",BRISC,z,%d,%d.0,%d,%d,", 3 * (MOST - 1),
                 2 * DEEP - 3 - (MOST - 2), 2 * (DEEP - MOST) + 1, 2 * DEEP - 3);
        if (!strstr(out, expected)) fail_msg("%s: no '%s': %.600s", line, expected, out);
        if (!strstr(out, ",BRISC,BRISC-FW,3,599.0,599,599,")) fail_msg("%s: %.600s", line, out);
        free(out);
        snprintf(line, sizeof line, "decode own.csv -f csv %s", ways[i]);
        out = devlog_ok(line, 3);
        assert_non_null(strstr(out, ",BRISC,z1,3,597.0,597,597,"));
        assert_non_null(strstr(out, ",BRISC,z255,3,89.0,89,89,"));
        assert_null(strstr(out, ",BRISC,z256,"));
        free(out);
    }
    for (int own = 0; own < 2; own++) {
        char *out = devlog_ok(own ? "decode own.csv --no-files" : "decode one.csv --no-files", 3);
        assert_non_null(strstr(out, " 132  zones nested more than 256 deep, left out\n"));
        assert_non_null(strstr(out, "256 zones are open on this RISC; '"));
        assert_null(strstr(out, "zone ends without a start"));
        assert_null(strstr(out, "never ended"));
        free(out);
    }
}

/* What is too deep and never ends does not take the ends of what comes after it. */
static void a_new_launch_begins_anew(void **state)
{
    (void)state;
    dl_str log = {0};
    dl_str_add(
        &log,
        "ARCH: wormhole_b0, CHIP_FREQ[MHz]: 1000\n"
        "PCIe slot, core_x, core_y, RISC processor type, timer_id, time[cycles since reset], stat value, "
        "run ID, run host ID, zone name, zone phase, source line, source file\n");
    row(&log, 1, "BRISC-FW", 1000, "begin");
    for (int i = 1; i < DEEP; i++)
        row(&log, 1, "z", 1000 + (uint64_t)i, "begin");
    row(&log, 2, "BRISC-FW", 5000, "begin");
    row(&log, 2, "after", 5100, "begin");
    row(&log, 2, "after", 5107, "end");
    row(&log, 2, "BRISC-FW", 5200, "end");
    write_text(in_scratch("hung.csv"), log.text);
    dl_str_free(&log);
    char *out = devlog_ok("decode hung.csv -f csv", 3);
    assert_non_null(strstr(out, ",BRISC,after,1,7.0,7,7,"));
    assert_non_null(strstr(out, ",BRISC,BRISC-FW,1,200.0,200,200,"));
    free(out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_followed_is_exact),
        cmocka_unit_test(a_new_launch_begins_anew),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
