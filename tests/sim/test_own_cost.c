/* Subtracting the markers' own cost: zones of a kernel full of markers come out as those of the same kernel
 * without them. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "decode/decode.h"
#include "report/decode_table.h"
#include "support/device.h"

static double average(dl_decode *d, const char *zone, uint64_t *count)
{
    for (size_t i = 0; i < dl_decode_n_keys(d); i++) {
        const dl_key *k = dl_decode_key(d, i);
        if (strcmp(dl_site_text(dl_decode_tables(d), k->site), zone) != 0) continue;
        if (count) *count = k->count;
        return (double)k->sum / (double)k->count;
    }
    fail_msg("no zone '%s'", zone);
    return 0;
}

static dl_decode *decoded(const char *path, bool subtract)
{
    devlog_error err = {0};
    dl_decode *d;
    const dl_decode_options options = {.subtract_cost = subtract};
    check_ok(dl_decode_new(&d, &options, &err), &err);
    check_ok(dl_decode_file(d, path, &err), &err);
    check_ok(dl_decode_finish(d, &err), &err);
    return d;
}

/* Runs the kernel three times on one RISC; returns the path of its capture. */
static char *run(const char *risc, const char *flags)
{
    devlog_error err = {0};
    devlog_device *d;
    devlog_program *p;
    const char *folder = test_folder();
    const devlog_device_options options = DEVLOG_DEVICE_OPTIONS(.log_folder = folder, .profile = DEVLOG_ON);
    check_ok(devlog_device_open(&options, &d, &err), &err);
    check_ok(devlog_program_create(d, &p, &err), &err);
    add_kernel(p, "tests/sim/kernels/nested.c", risc, (devlog_cores){0, 0, 0, 0}, flags);
    prepare(d, p);
    for (int i = 0; i < 3; i++)
        check_ok(devlog_launch_program(d, p, &err), &err);
    devlog_program_free(p);
    check_ok(devlog_device_close(d, &err), &err);
    char *path;
    assert_true(asprintf(&path, "%s/capture.devlog", folder) > 0);
    return path;
}

static void comes_out_as_without_markers(void **state)
{
    (void)state;
    static const char *const riscs[] = {"BRISC", "NCRISC", "TRISC1"};
    for (size_t i = 0; i < 3; i++) {
        char *full = run(riscs[i], NULL), *plain = run(riscs[i], "-DPLAIN");
        dl_decode *with = decoded(full, true), *raw = decoded(full, false), *without = decoded(plain, true);
        double before = average(raw, "outer", NULL), after = average(with, "outer", NULL);
        double truth = average(without, "outer", NULL);
        /* Where markers stand between the loops the compiler moves an instruction or two per pass. */
        double left = fabs(after - truth) / (before - truth);
        printf("%s: %.0f cycles with markers, %.0f when their cost is subtracted, %.0f without them: %.1f %% "
               "left\n",
               riscs[i], before, after, truth, 100 * left);
        assert_true(before > 1.5 * truth);
        assert_true(left < 0.1);
        /* The innermost zones too, which hold nothing but the work. */
        uint64_t count;
        double complete = average(with, "complete", &count);
        assert_int_equal(count, 30);
        double work = truth / 30;
        assert_true(fabs(complete - work) < 8);
        assert_true(fabs(average(with, "inner", NULL) - work) < 8);
        assert_true(fabs(average(with, "middle", NULL) - 3 * work) < 12);
        const dl_losses *l = dl_decode_losses(with);
        assert_true(l->cost_known && l->cost_subtracted);
        assert_true(l->cost_of_kernels > 0 && l->cost_of_kernels < l->cycles_of_kernels);
        /* An eighth of it, and 12 cycles in each of three kernels. */
        assert_int_equal(l->kernels_unpriced, 0);
        assert_in_range(l->cost_off_of_kernels, l->cost_of_kernels / 8 + 33, l->cost_of_kernels / 8 + 36);
        dl_str text = {0};
        char off[100];
        snprintf(off, sizeof off, "%% of the time, give or take %.2f %%, subtracted.",
                 100.0 * (double)l->cost_off_of_kernels / (double)l->cycles_of_kernels);
        dl_report_losses(l, false, &text);
        assert_non_null(strstr(text.text, off));
        dl_str_free(&text);
        dl_decode_free(with);
        dl_decode_free(raw);
        dl_decode_free(without);
        free(full);
        free(plain);
    }
}

/* Where no share is stated, zones stay as long as they were. */
static void nothing_unknown_is_subtracted(void **state)
{
    (void)state;
    char *path = run("BRISC", "-DNO_WORK");
    dl_decode *with = decoded(path, true), *raw = decoded(path, false);
    const dl_losses *l = dl_decode_losses(with);
    assert_int_equal(l->kernels_unknown_cost, 3);
    assert_int_equal(l->kernels_most_cost, 3);
    assert_int_equal(l->cycles_of_kernels, 0);
    static const char *const zones[] = {"outer", "middle", "inner", "complete", "BRISC-KERNEL"};
    for (size_t i = 0; i < 5; i++)
        assert_true(average(with, zones[i], NULL) == average(raw, zones[i], NULL));
    dl_str text = {0};
    dl_report_losses(l, false, &text);
    assert_non_null(
        strstr(text.text, "not known, and not subtracted, of 3 kernels of which they take more than half."));
    dl_str_free(&text);
    dl_decode_free(with);
    dl_decode_free(raw);
    free(path);
}

/* Without the code nobody knows where markers stand, and what was measured holds for all of them. */
static void no_bound_without_code(void **state)
{
    (void)state;
    char folder[200], command[300];
    snprintf(folder, sizeof folder, "%s", test_folder());
    setenv("DEVLOG_CACHE", folder, 1);
    char *path = run("BRISC", NULL);
    unsetenv("DEVLOG_CACHE");
    snprintf(command, sizeof command, "find '%s' -name '*.elf' -delete", folder);
    assert_int_equal(system(command), 0);
    dl_decode *d = decoded(path, false);
    const dl_losses *l = dl_decode_losses(d);
    assert_int_equal(l->kernels_unpriced, 3);
    assert_int_equal(l->cost_off_of_kernels, 0);
    dl_str text = {0};
    dl_report_losses(l, false, &text);
    assert_non_null(strstr(text.text,
                           "% of the time (as the device measured them elsewhere: how far off is not "
                           "known), not subtracted"));
    assert_null(strstr(text.text, "give or take"));
    dl_str_free(&text);
    dl_decode_free(d);
    free(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(comes_out_as_without_markers),
                                       cmocka_unit_test(nothing_unknown_is_subtracted),
                                       cmocka_unit_test(no_bound_without_code)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
