/* Structs of options of the public headers: one of an older header is taken, of a newer one what this library
 * knows, and what it does not know or was not initialised is refused with the reason. */
#include <stdio.h>
#include <string.h>

#include "base/options.h"
#include "devlog/decode.h"
#include "support/cli.h"
#include "support/device.h"
#include "support/files.h"

/* The struct as three headers know it. */
typedef struct shorter {
    size_t size;
    const char *name;
} shorter;
typedef struct known {
    size_t size;
    const char *name;
    uint64_t number;
} known;
typedef struct longer {
    size_t size;
    const char *name;
    uint64_t number;
    uint64_t news[2];
} longer;

static devlog_status take(known *out, const void *given, devlog_error *err)
{
    memset(out, 0xAB, sizeof *out);
    return dl_options_take(out, sizeof *out, given, "devlog_some_options", err);
}

static void none(void **state)
{
    (void)state;
    known out;
    devlog_error err = {0};
    assert_int_equal(take(&out, NULL, &err), DEVLOG_OK);
    assert_int_equal(out.size, sizeof out);
    assert_null(out.name);
    assert_int_equal(out.number, 0);
}

static void as_known(void **state)
{
    (void)state;
    known out;
    devlog_error err = {0};
    const known given = {sizeof given, "name", 7};
    assert_int_equal(take(&out, &given, &err), DEVLOG_OK);
    assert_memory_equal(&out, &given, sizeof out);
}

static void of_an_older_header(void **state)
{
    (void)state;
    known out;
    devlog_error err = {0};
    const shorter given = {sizeof given, "name"};
    assert_int_equal(take(&out, &given, &err), DEVLOG_OK);
    assert_int_equal(out.size, sizeof out);
    assert_string_equal(out.name, "name");
    assert_int_equal(out.number, 0);
}

static void of_a_newer_header(void **state)
{
    (void)state;
    known out;
    devlog_error err = {0};
    longer given = {sizeof given, "name", 7, {0, 0}};
    assert_int_equal(take(&out, &given, &err), DEVLOG_OK);
    assert_int_equal(out.number, 7);
    for (int i = 0; i < 2; i++) {
        given.news[i] = (uint64_t)1 << 56;
        assert_int_equal(take(&out, &given, &err), DEVLOG_ERR_UNSUPPORTED);
        assert_non_null(strstr(err.text, "devlog_some_options: byte "));
        assert_non_null(strstr(err.text, "newer"));
        given.news[i] = 0;
    }
}

static void not_initialised(void **state)
{
    (void)state;
    static const size_t sizes[] = {0, 1, 8, sizeof(known) + 1, SIZE_MAX, SIZE_MAX - 7, 1 << 20};
    known out;
    devlog_error err = {0};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        const known given = {sizes[i], "name", 7};
        assert_int_equal(take(&out, &given, &err), DEVLOG_ERR_ARGUMENT);
        assert_non_null(strstr(err.text, "initialise it with DEVLOG_SOME_OPTIONS()"));
    }
}

/* Every call of the library that takes options looks at their size. */
static void every_call(void **state)
{
    (void)state;
    devlog_error err = {0};
    devlog_device *device = NULL;
    devlog_ops *ops = NULL;
    devlog_log *log = NULL;
    devlog_program *program = NULL;
    const char *path = in_scratch("empty.csv");
    write_text(path, "\n");
    assert_int_equal(devlog_device_open(&(devlog_device_options){.profile = DEVLOG_ON}, &device, &err),
                     DEVLOG_ERR_ARGUMENT);
    assert_non_null(strstr(err.text, "DEVLOG_DEVICE_OPTIONS()"));
    assert_int_equal(devlog_ops_open(&(devlog_ops_options){.profile = DEVLOG_OFF}, &ops, &err),
                     DEVLOG_ERR_ARGUMENT);
    assert_non_null(strstr(err.text, "DEVLOG_OPS_OPTIONS()"));
    assert_int_equal(devlog_log_open(&path, 1, &(devlog_log_options){.threads = 1}, &log, &err),
                     DEVLOG_ERR_ARGUMENT);
    assert_non_null(strstr(err.text, "DEVLOG_LOG_OPTIONS()"));

    device = open_device(NULL, NULL);
    check_ok(devlog_program_create(device, &program, &err), &err);
    assert_int_equal(devlog_program_add_kernel(
                         program, &(devlog_kernel_options){.source = "k.c", .risc = "BRISC"}, NULL, &err),
                     DEVLOG_ERR_ARGUMENT);
    assert_non_null(strstr(err.text, "DEVLOG_KERNEL_OPTIONS()"));
    assert_int_equal(devlog_program_add_kernel(program, NULL, NULL, &err), DEVLOG_ERR_ARGUMENT);
    assert_non_null(strstr(err.text, "no source file"));
    devlog_program_free(program);
    check_ok(devlog_device_close(device, &err), &err);

    /* A program of the next devlog. */
    struct {
        devlog_device_options options;
        uint64_t news;
    } newer = {DEVLOG_DEVICE_OPTIONS(.log_folder = in_scratch("logs")), 0};
    newer.options.size = sizeof newer;
    check_ok(devlog_device_open(&newer.options, &device, &err), &err);
    check_ok(devlog_device_close(device, &err), &err);
    newer.news = 1;
    assert_int_equal(devlog_device_open(&newer.options, &device, &err), DEVLOG_ERR_UNSUPPORTED);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(none),
        cmocka_unit_test(as_known),
        cmocka_unit_test(of_an_older_header),
        cmocka_unit_test(of_a_newer_header),
        cmocka_unit_test(not_initialised),
        cmocka_unit_test(every_call),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
