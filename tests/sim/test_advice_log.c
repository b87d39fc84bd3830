/* Rules that only a log can fire (tables/rules.json: markers, stream_stalls, lost): kernels with the flaw, and the same
 * without it; and advice that is taken takes time off. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/cli.h"
#include "support/fixture.h"

/* What `devlog report` advises of a run. */
static char *advice_of(const char *source, const char *flags, devlog_recording recording, uint32_t a,
                       uint32_t b)
{
    devlog_error err = {0};
    char line[300];
    fixture f = start(source, "BRISC", flags, NULL);
    check_ok(devlog_set_recording(f.device, recording, recording == DEVLOG_RECORD_STREAM ? 1 << 20 : 0, &err),
             &err);
    set_args(&f, a, b);
    check_ok(devlog_launch_program(f.device, f.program, &err), &err);
    snprintf(line, sizeof line, "report --format csv --tables advice %s/capture.devlog",
             f.device->log_folder);
    stop(&f);
    char *out;
    const int status = devlog(line, &out, NULL);
    assert_true(status == 0 || status == 3);
    return out;
}

static void expect(const char *rule, bool fires, char *advice)
{
    char begins[64];
    snprintf(begins, sizeof begins, "\n%s,", rule);
    if ((strstr(advice, begins) != NULL) != fires) fail_msg("%s: %s", rule, advice);
    free(advice);
}

static void markers_that_cost_much(void **state)
{
    (void)state;
    expect("markers", true, advice_of("tests/sim/kernels/nested.c", NULL, DEVLOG_RECORD_STOP, 0, 0));
    expect("markers", false, advice_of("tests/sim/kernels/iterations.c", NULL, DEVLOG_RECORD_STOP, 2, 5000));
}

/* Where they take more than half, their exact share is not stated; that is no reason to be silent. */
static void markers_that_cost_most(void **state)
{
    (void)state;
    char *advice = advice_of("tests/sim/kernels/nested.c", "-DNO_WORK", DEVLOG_RECORD_STOP, 0, 0);
    const char *says = strstr(advice, "\nmarkers,");
    if (!says ||
        !strstr(says,
                "run.markers_why more than half of 1 kernel (100 % of the kernels' time); the exact share "
                "cannot be stated"))
        fail_msg("%s", advice);
    assert_null(strstr(advice, "run.markers 0"));
    free(advice);
}

static void streaming_that_holds_up(void **state)
{
    (void)state;
    expect("stream_stalls", true,
           advice_of("tests/sim/kernels/iterations.c", NULL, DEVLOG_RECORD_STREAM, 3000, 0));
    expect("stream_stalls", false,
           advice_of("tests/sim/kernels/iterations.c", NULL, DEVLOG_RECORD_STREAM, 100, 0));
}

static void records_that_are_missing(void **state)
{
    (void)state;
    expect("lost", true, advice_of("tests/sim/kernels/iterations.c", NULL, DEVLOG_RECORD_STOP, 3000, 0));
    expect("lost", false, advice_of("tests/sim/kernels/iterations.c", NULL, DEVLOG_RECORD_STOP, 100, 0));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(markers_that_cost_much),
        cmocka_unit_test(markers_that_cost_most),
        cmocka_unit_test(streaming_that_holds_up),
        cmocka_unit_test(records_that_are_missing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
