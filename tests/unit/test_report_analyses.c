/* Every default analysis compared with one that computes it by definition, in another language
 * (tests/golden/analyses.py): on the golden logs, and on made-up ones with two chips, cores that lack RISCs,
 * and launches that overlap. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/paths.h"
#include "base/process.h"
#include "base/str.h"
#include "support/cli.h"
#include "support/files.h"

enum { LOGS = 4 };

static uint32_t below(uint64_t *seed, uint32_t n)
{
    *seed ^= *seed << 13;
    *seed ^= *seed >> 7;
    *seed ^= *seed << 17;
    return (uint32_t)(*seed % n);
}

static void row(dl_str *log, bool old, unsigned chip, unsigned core, const char *risc, int id, uint64_t time,
                unsigned launch)
{
    static const char *const ends[] = {"", "START", "START", "END", "END"};
    dl_str_fmt(log, "%u,%u,%u,%s,%d,%llu", chip, core % 3, core / 3, risc, id, (unsigned long long)time);
    bool trisc = strncmp(risc, "TRISC", 5) == 0;
    if (!old)
        dl_str_fmt(log, ",0,%u,,,%s-%s,ZONE_%s,1,x.c,", launch, trisc ? "TRISC" : risc,
                   id == 1 || id == 4 ? "FW" : "KERNEL", ends[id]);
    dl_str_char(log, '\n');
}

/* One launch of one RISC; now and then it has no kernel. Returns when its firmware ended. */
static uint64_t launch_rows(dl_str *log, bool old, unsigned chip, unsigned core, const char *risc,
                            uint64_t time, unsigned launch, uint64_t *seed)
{
    bool kernel = below(seed, 5) != 0;
    row(log, old, chip, core, risc, 1, time, launch);
    if (kernel) row(log, old, chip, core, risc, 2, time += 1 + below(seed, 40), launch);
    if (kernel) row(log, old, chip, core, risc, 3, time += 1 + below(seed, 4000), launch);
    row(log, old, chip, core, risc, 4, time += 1 + below(seed, 40), launch);
    return time;
}

static char *made_up(bool old, uint64_t seed)
{
    static const char *const riscs[] = {"BRISC", "NCRISC", "TRISC_0", "TRISC_1", "TRISC_2", "ERISC"};
    dl_str log = {0};
    dl_str_add(
        &log,
        "ARCH: wormhole_b0, CHIP_FREQ[MHz]: 1000\nPCIe slot, core_x, core_y, RISC processor type, timer_id, "
        "time[cycles since reset]");
    if (!old)
        dl_str_add(
            &log,
            ", data, run host ID, trace id, trace id counter, zone name, type, source line, source file, "
            "meta data");
    dl_str_char(&log, '\n');
    for (unsigned chip = 0; chip < 2; chip++) {
        for (unsigned core = 0; core < 7; core++) {
            for (unsigned r = 0; r < 6; r++) {
                uint64_t time = 1000000 + chip * 5000000 + below(&seed, 500);
                if (below(&seed, 4) == 0) continue;
                for (unsigned launch = 1; launch <= 12; launch++)
                    time = launch_rows(&log, old, chip, core, riscs[r], time + 1 + below(&seed, 900), launch,
                                       &seed);
            }
        }
    }
    return log.text;
}

static void analyses_are_as_defined(void **state)
{
    (void)state;
    devlog_error err;
    dl_output out;
    char script[600], golden[3][600];
    const char *argv[4 + 3 + LOGS] = {"python3", script, getenv("DEVLOG_BIN")};
    const char *version[] = {"python3", "--version", NULL};
    if (dl_process_run(version, &out, &err)) {
        print_message("skipped: there is no python3\n");
        skip();
    }
    free(out.text);
    snprintf(script, sizeof script, "%s/tests/golden/analyses.py", dl_home());
    int n = 3;
    for (int i = 0; i < 3; i++, n++) {
        static const char *const names[] = {"reference", "l2", "l9"};
        snprintf(golden[i], sizeof golden[0], "%s/tests/golden/%s/log.csv", dl_home(), names[i]);
        argv[n] = golden[i];
    }
    for (int i = 0; i < LOGS; i++, n++) {
        char name[20];
        snprintf(name, sizeof name, "log%d.csv", i);
        char *text = made_up(i % 2 == 0, 88172645463325252u + (uint64_t)i);
        argv[n] = in_scratch(name);
        write_text(argv[n], text);
        free(text);
    }
    assert_int_equal(dl_process_run(argv, &out, &err), DEVLOG_OK);
    if (out.exit != 0) fail_msg("%s", out.text);
    free(out.text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(analyses_are_as_defined)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
