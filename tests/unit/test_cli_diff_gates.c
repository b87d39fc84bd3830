/* Conditions of devlog diff (--fail-on): what passes, what fails, and what is undecided. What is compared otherwise: test_cli_diff.c. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/cli.h"
#include "support/diff_runs.h"
#include "support/files.h"

/* A condition on what neither side has could not be true, and does not pass. */
static void a_gate_on_nothing_is_undecided(void **state)
{
    (void)state;
    static const struct {
        const char *condition, *input, *says;
    } cases[] = {
        {"host>+5%", "log.csv", "no host time is known before and after"},
        {"host>+5%", "none.csv", "no host time is known before and after"},
        {"gaps>+5%", "none.csv", "no time of gaps on the device is known before and after"},
        {"gaps>+5%", "one.csv", "no time of gaps on the device is known before and after"},
        {"zone_p95>+5%", "none.csv", "no zone's time is known before and after"},
        {"op>+5%", "none.csv", "no op's time is known before and after"},
        {"op<-5%", "none.csv", "no op's time is known before and after"},
        {"total>+5%", "none.csv", "no time on the device is known before and after"},
    };
    report_of none = plain_report;
    none.no_host = none.no_device = none.no_gap = true;
    write_report("none.csv", &none);
    log_of log = plain_log;
    write_log("log.csv", &log);
    log.launches = 1;
    write_log("one.csv", &log);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char line[200];
        for (int exact = 0; exact < 2; exact++) {
            snprintf(line, sizeof line, "diff %s --fail-on '%s' %s %s", exact ? "--exact" : "",
                     cases[i].condition, cases[i].input, cases[i].input);
            says(line, 5, cases[i].says);
        }
    }
    /* all that was asked for is left alone */
    report_of slower = plain_report;
    slower.device = 2;
    write_report("old.csv", &plain_report);
    write_report("new.csv", &slower);
    says("diff --min-share 90 --fail-on 'op>+5%' old.csv new.csv", 5,
         "no op's time is known before and after that --min-share leaves");
    /* one condition of two that has nothing to look at */
    says("diff --exact --fail-on 'op>+5%' --fail-on 'zone>+5%' old.csv old.csv", 5, "passed    op>+5%");
    says("diff --exact --fail-on 'op>+5%' --fail-on 'zone>+5%' old.csv new.csv", 4, "undecided zone>+5%");
}

/* The ways in which a gate on means of op codes is passed wrongly. */
static void a_gate_is_not_passed_wrongly(void **state)
{
    (void)state;
    static const struct {
        const char *what, *options;
        report_of r;
        int status;
        const char *says;
    } cases[] = {
        {"the same", "all>+5%", {"", 1, 1, 1, 1, 0, 0, 0, 0, 0, 0}, 0, "passed    all>+5%"},
        {"slower", "all>+5%", {"", 1, 1.06, 1, 1, 0, 0, 0, 0, 0, 0}, 4, "+6.00 %"},
        {"less slower", "all>+5%", {"", 1, 1.04, 1, 1, 0, 0, 0, 0, 0, 0}, 0, "passed"},
        {"faster", "op<-5%", {"", 1, 0.9, 1, 1, 0, 0, 0, 0, 0, 0}, 4, "-10.00 %"},
        {"no device data", "all>+5%", {"", 1, 1, 1, 1, 1, 0, 0, 0, 0, 0}, 4, "has no time any more"},
        {"no device data", "op>+5%", {"", 1, 1, 1, 1, 1, 0, 0, 0, 0, 0}, 4, "has no time any more"},
        {"no device data", "op_p95>+5%", {"", 1, 1, 1, 1, 1, 0, 0, 0, 0, 0}, 4, "has no time any more"},
        {"no device data", "total>+5%", {"", 1, 1, 1, 1, 1, 0, 0, 0, 0, 0}, 4, "has no time any more"},
        {"half of the device data", "missing", {"", 1, 1, 1, 1, 0, 0, 0, 1, 0, 0}, 4, "has no time any more"},
        {"ten times as many", "all>+5%", {"", 10, 1, 1, 1, 0, 0, 0, 0, 0, 0}, 4, "3 a run before, 30 now"},
        {"ten times as many, each a tenth",
         "all>+5%",
         {"", 10, 0.1, 0.1, 0.1, 0, 0, 0, 0, 0, 0},
         4,
         "30 now"},
        {"ten times as many", "total>+5%", {"", 10, 1, 1, 1, 0, 0, 0, 0, 0, 0}, 4, "time on the device"},
        {"ten times as many", "count>+0%", {"", 10, 1, 1, 1, 0, 0, 0, 0, 0, 0}, 4, "30 now"},
        {"long gaps", "all>+5%", {"", 1, 1, 1, 100, 0, 0, 0, 0, 0, 0}, 4, "gaps on the device"},
        {"long gaps", "gaps>+20%", {"", 1, 1, 1, 1.5, 0, 0, 0, 0, 0, 0}, 4, "gaps on the device"},
        {"long host times", "all>+5%", {"", 1, 1, 100, 1, 0, 0, 0, 0, 0, 0}, 4, "host time in ops"},
        {"long host times", "host>+10%", {"", 1, 1, 1.2, 1, 0, 0, 0, 0, 0, 0}, 4, "+20.00 %"},
        {"no host times", "missing", {"", 1, 1, 1, 1, 0, 1, 0, 0, 0, 0}, 4, "host time in ops: has no time"},
        {"no host times",
         "host>+10%",
         {"", 1, 1, 1, 1, 0, 1, 0, 0, 0, 0},
         4,
         "host time in ops: has no time"},
        {"no gaps", "missing", {"", 1, 1, 1, 1, 0, 0, 1, 0, 0, 0}, 4, "gaps on the device: has no time"},
        {"another shape", "new", {"", 1, 1, 1, 1, 0, 0, 0, 0, 0, 96}, 4, "x96 > 1x1x32[30]x32: is new"},
        {"another shape", "missing", {"", 1, 1, 1, 1, 0, 0, 0, 0, 0, 96}, 4, "is gone"},
        {"another shape", "all>+5%", {"", 1, 1, 1, 1, 0, 0, 0, 0, 0, 96}, 4, "is gone"},
        {"fewer", "count<-10%", {"", 1, 1, 1, 1, 0, 0, 0, 0, 0, 0}, 0, "passed"},
    };
    write_report("old.csv", &plain_report);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char line[200], *out, *err;
        write_report("new.csv", &cases[i].r);
        snprintf(line, sizeof line, "diff --exact --fail-on '%s' old.csv new.csv", cases[i].options);
        int status = devlog(line, &out, &err);
        if (status != cases[i].status || !strstr(out, cases[i].says))
            fail_msg("%s, %s: status %d, %s%s", cases[i].what, cases[i].options, status, out, err);
        free(out);
        free(err);
        /* Without --exact one run each decides less, and lets none of them through. */
        snprintf(line, sizeof line, "diff --fail-on '%s' old.csv new.csv", cases[i].options);
        status = devlog(line, NULL, NULL);
        if (cases[i].status == 4 ? status != 4 && status != 5 : status != 0 && status != 5)
            fail_msg("%s, %s: status %d without --exact", cases[i].what, cases[i].options, status);
    }
    /* An op that lacks data on one side, in all its repeats or in one. */
    report_of less = plain_report;
    less.half_device = true;
    write_report("half.csv", &less);
    write_report("new.csv", &plain_report);
    says("diff --exact --fail-on 'op>+5%' half.csv new.csv", 4, "had no time before");
    says("diff --exact --fail-on 'op>+5%' new.csv half.csv", 4, "has no time any more");
    less.half_device = false;
    less.one_less = true;
    write_report("less.csv", &less);
    says("diff --exact --fail-on 'op_p95>+5%' new.csv less.csv", 4, "1 of 3 have no time, before 0 of 3");
    says("diff --exact --fail-on 'op<-5%' new.csv less.csv", 4, "1 of 3 have no time, before 0 of 3");
    says("diff --exact --fail-on 'op>+5%' less.csv new.csv", 0, "passed");
    says("diff --exact --fail-on 'op>+5%' less.csv less.csv", 0, "passed");
    report_of renamed = plain_report;
    renamed.suffix = "2";
    renamed.device = 10;
    write_report("new.csv", &renamed);
    devlog_fails("diff --fail-on 'all>+5%' old.csv new.csv", 1, "nothing in common that could be compared");
    write_report("new.csv", &plain_report);
    free(devlog_ok("diff --exact --fail-on missing --fail-on 'op>+1%' --fail-on new old.csv new.csv", 0));
    renamed.suffix = "";
    write_report("new.csv", &renamed);
    char *text = devlog_ok("diff --exact --fail-on missing --fail-on 'op>+1%' old.csv new.csv", 4);
    has(text, "passed    missing\nfailed    op>+1%\n");
    free(text);
}

/* ---- Outputs --- */

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_gate_on_nothing_is_undecided),
        cmocka_unit_test(a_gate_is_not_passed_wrongly),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
