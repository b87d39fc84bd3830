/* Inline functions and templates with markers in several files of one kernel: they link, whoever compiled
 * them and however, and a marker is one marker wherever its function came to lie. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/files.h"
#include "support/fixture.h"
#include "support/kernels.h"

/* What a run of the kernel records, by name and kind. */
static const struct {
    const char *name;
    dl_row_type type;
    size_t n;
} expected[] = {
    {"first", DL_ROW_ZONE_END, 1},           {"second", DL_ROW_ZONE_END, 1},
    {"shared", DL_ROW_ZONE_START, 2},        {"shared", DL_ROW_ZONE_END, 2},
    {"shared complete", DL_ROW_ZONE_END, 2}, {"shared value", DL_ROW_TS_DATA, 2},
    {"generic", DL_ROW_ZONE_START, 4},       {"generic", DL_ROW_ZONE_END, 4},
    {"generic inner", DL_ROW_ZONE_END, 4},   {"generic event", DL_ROW_TS_EVENT, 4},
    {"little", DL_ROW_ZONE_START, 4},        {"little", DL_ROW_ZONE_END, 4},
    {"constructed", DL_ROW_TS_EVENT, 2},     {"print", DL_ROW_TS_EVENT, 2},
    {"second's own", DL_ROW_TS_EVENT, 1},
};

static size_t sites_called(const test_rows *rows, const char *name)
{
    size_t n = 0;
    for (uint32_t i = 0; i < rows->tables.n_sites; i++)
        n += strcmp(dl_site_text(&rows->tables, i), name) == 0;
    return n;
}

static void run_units(const char *source, const char *flags, const char *what)
{
    devlog_error err = {0};
    fixture f = {.device = open_device(NULL, NULL)};
    check_ok(devlog_program_create(f.device, &f.program, &err), &err);
    const devlog_kernel_options o =
        DEVLOG_KERNEL_OPTIONS(.source = source, .risc = "BRISC", .cores = one, .flags = flags);
    check_ok(devlog_program_add_kernel(f.program, &o, &f.kernel, &err), &err);
    if (devlog_compile_program(f.program, &err) != DEVLOG_OK) fail_msg("%s: %s", what, err.text);
    prepare(f.device, f.program);
    launch(f.device, f.program);
    test_rows rows;
    read_rows(f.device, f.program, zero, 0, &rows);
    for (size_t i = 0; i < sizeof expected / sizeof expected[0]; i++) {
        size_t n = count_rows(&rows, expected[i].type, expected[i].name);
        if (n != expected[i].n) fail_msg("%s: %zu of '%s'", what, n, expected[i].name);
        if (sites_called(&rows, expected[i].name) != 1)
            fail_msg("%s: %zu sites '%s'", what, sites_called(&rows, expected[i].name), expected[i].name);
    }
    uint64_t passes = 0;
    for (size_t i = 0; i < count_rows(&rows, DL_ROW_ZONE_TOTAL, "shared sum"); i++) {
        const dl_row *row = row_at(&rows, DL_ROW_ZONE_TOTAL, "shared sum", i);
        const char *count = strstr(dl_text(&rows.tables, row->meta), "\"count\":");
        assert_non_null(count);
        passes += strtoul(count + strlen("\"count\":"), NULL, 10);
    }
    assert_int_equal(passes, 2);
    assert_int_equal(rows.losses.damaged_words + rows.losses.unnamed, 0);
    free_rows(&rows);

    /* Every marker can be switched off, in whichever copy of a function it is. */
    check_ok(devlog_set_classes(f.device, 0, &err), &err);
    launch(f.device, f.program);
    read_rows(f.device, f.program, zero, 0, &rows);
    for (size_t i = 0; i < sizeof expected / sizeof expected[0]; i++)
        if (count_rows(&rows, expected[i].type, expected[i].name))
            fail_msg("%s: on: %s", what, expected[i].name);
    free_rows(&rows);
    stop(&f);
}

/* Both files in one command, as flags can name a second one. */
static void two_files_by_devlog(void **state)
{
    (void)state;
    static const char *const levels[] = {"-O0",
                                         "-O1",
                                         "-O2",
                                         "-O3",
                                         "-Os",
                                         "-O2 -DDEVLOG_WIDE_IDS",
                                         "-O2 -fno-function-sections",
                                         "-O2 -DDEVLOG_STAMP32",
                                         "-O2 -DDEVLOG_HW_STREAM"};
    for (size_t i = 0; i < sizeof levels / sizeof levels[0]; i++) {
        char flags[700];
        snprintf(flags, sizeof flags, "%s -std=c++17 %s", levels[i],
                 source_path("tests/sim/kernels/units_second.cpp"));
        run_units(source_path("tests/sim/kernels/units.cpp"), flags, levels[i]);
    }
}

/* Object files of either compiler, and of both. */
static void two_objects(void **state)
{
    (void)state;
    static const char *const levels[] = {"-O0 -std=c++17", "-O2 -std=c++17", "-O3 -std=c++17",
                                         "-Os -std=c++17"};
    char first[2][100], second[2][100], what[200];
    if (!can_compile(BY_CLANG)) skip();
    const char *folder = test_folder();
    for (size_t i = 0; i < sizeof levels / sizeof levels[0]; i++) {
        for (object_compiler by = BY_GCC; by < OBJECT_COMPILERS; by++) {
            snprintf(first[by], sizeof first[by], "%s/first%d.o", folder, (int)by);
            snprintf(second[by], sizeof second[by], "%s/second%d.o", folder, (int)by);
            free(build_object(by, levels[i], source_path("tests/sim/kernels/units.cpp"), first[by], 0));
            free(build_object(by, levels[i], source_path("tests/sim/kernels/units_second.cpp"), second[by],
                              0));
        }
        for (int pair = 0; pair < 4; pair++) {
            snprintf(what, sizeof what, "%s, objects of compilers %d and %d", levels[i], pair & 1, pair >> 1);
            run_units(first[pair & 1], second[pair >> 1], what);
        }
    }
}

/* Files that are optimised together share the numbers of their markers: refused, wherever it is asked for. */
static void link_time_optimisation_is_refused(void **state)
{
    (void)state;
    devlog_error err = {0};
    char object[100];
    snprintf(object, sizeof object, "%s/lto.o", test_folder());
    free(build_object(BY_GCC, "-O2 -flto", source_path("tests/sim/kernels/units.cpp"), object, 0));
    const struct {
        const char *source, *flags;
    } wrong[] = {
        {source_path("tests/sim/kernels/units.cpp"), "-O2 -flto=auto"},
        {object, NULL},
        {source_path("tests/sim/kernels/classes.c"), object},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        fixture f = {.device = open_device(NULL, NULL)};
        const devlog_kernel_options o = DEVLOG_KERNEL_OPTIONS(.source = wrong[i].source, .risc = "BRISC",
                                                              .cores = one, .flags = wrong[i].flags);
        check_ok(devlog_program_create(f.device, &f.program, &err), &err);
        check_ok(devlog_program_add_kernel(f.program, &o, &f.kernel, &err), &err);
        assert_int_equal(devlog_compile_program(f.program, &err), DEVLOG_ERR_COMPILE);
        if (!strstr(err.text, "-flto")) fail_msg("%s", err.text);
        stop(&f);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(two_files_by_devlog),
        cmocka_unit_test(two_objects),
        cmocka_unit_test(link_time_optimisation_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
