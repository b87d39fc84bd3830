/* Captures in parts whose launches passed the markers of one ELF file in many ways: up to a number of them all is as one process has it, beyond
 * that it is said that prices would depend on the order, as no part by itself can know. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "decode/parts/parts.h"
#include "decode/price/price.h"
#include "report/decode_table.h"
#include "support/fixture.h"

/* A capture of so many launches, each of which passes other markers; its path. */
static char *capture_of(uint32_t ways)
{
    devlog_error err = {0};
    const char *folder = test_folder();
    const devlog_device_options options = DEVLOG_DEVICE_OPTIONS(.log_folder = folder, .profile = DEVLOG_ON);
    fixture f = {0};
    check_ok(devlog_device_open(&options, &f.device, &err), &err);
    check_ok(devlog_program_create(f.device, &f.program, &err), &err);
    f.kernel = add_kernel(f.program, "tests/sim/kernels/ways.c", "BRISC", one, NULL);
    for (uint32_t i = 0; i < ways; i++) {
        set_args(&f, i + 1, 0);
        check_ok(devlog_launch_program(f.device, f.program, &err), &err);
    }
    stop(&f);
    char *path;
    assert_true(asprintf(&path, "%s/capture.devlog", folder) > 0);
    return path;
}

/* What is known of markers' cost and of every zone. */
static char *said_of(dl_decode *d)
{
    dl_str text = {0};
    dl_report_losses(dl_decode_losses(d), false, &text);
    for (size_t i = 0; i < dl_decode_n_keys(d); i++) {
        const dl_key *k = dl_decode_key(d, i);
        dl_str_fmt(&text, "%s %llu %llu %llu\n", dl_site_text(dl_decode_tables(d), k->site),
                   (unsigned long long)k->count, (unsigned long long)k->sum, (unsigned long long)k->min);
    }
    assert_false(text.failed);
    return text.text;
}

static devlog_status decode_in_parts(char *path, uint32_t n, bool subtract, char **said, devlog_error *err)
{
    const dl_decode_options how = {.threads = n ? 1 : 0, .subtract_cost = subtract};
    const char *why = NULL;
    dl_parts parts = {0};
    dl_decode *d;
    uint32_t again = 0;
    check_ok(dl_decode_new(&d, &how, err), err);
    devlog_status status = n ? dl_parts_plan(&parts, &path, 1, n, 1, err) : dl_decode_file(d, path, err);
    if (n && !status) {
        assert_int_equal(parts.n, n);
        status = dl_parts_prepare(&parts, d, err);
        if (!status) status = dl_parts_run(&parts, d, &how, &again, &why, err);
    }
    assert_int_equal(again, 0);
    if (!status) status = dl_decode_finish(d, err);
    if (!status) *said = said_of(d);
    dl_decode_free(d);
    dl_parts_free(&parts);
    return status;
}

static void as_many_as_there_are_tables(void **state)
{
    (void)state;
    char *path = capture_of(DL_PRICE_TABLES - 1), *alone, *parts;
    devlog_error err = {0};
    for (int subtract = 0; subtract < 2; subtract++) {
        check_ok(decode_in_parts(path, 0, subtract, &alone, &err), &err);
        for (uint32_t n = 2; n < 6; n++) {
            check_ok(decode_in_parts(path, n, subtract, &parts, &err), &err);
            assert_string_equal(alone, parts);
            free(parts);
        }
        free(alone);
    }
    free(path);
}

static void one_more(void **state)
{
    (void)state;
    char *path = capture_of(DL_PRICE_TABLES), *said;
    char told[100];
    devlog_error err = {0};
    snprintf(told, sizeof told, "in more than %d ways", DL_PRICE_TABLES - 1);
    check_ok(decode_in_parts(path, 0, false, &said, &err), &err);
    free(said);
    for (uint32_t n = 2; n < 6; n++) {
        assert_int_equal(decode_in_parts(path, n, false, &said, &err), DEVLOG_ERR_UNSUPPORTED);
        assert_non_null(strstr(err.text, told));
        assert_non_null(strstr(err.text, "decode it without -j"));
    }
    free(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(as_many_as_there_are_tables),
                                       cmocka_unit_test(one_more)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
