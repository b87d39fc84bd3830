/* Names and formats of markers: what the source says is what reports say, by every compiler; what cannot be
 * shown as it is meant is refused when the kernel is built, with its line. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "decode/series.h"
#include "support/cli.h"
#include "support/files.h"
#include "support/fixture.h"
#include "support/kernels.h"

#define HEAD "#include <devlog/kernel.h>\n#include <devlog/profile.h>\n"

typedef struct name_case {
    const char *literal, *name;
    bool only_cpp;
} name_case;

static const name_case names[] = {
    {"\"a,b\"", "a,b", false},
    {"\"a;b\"", "a;b", false},
    {"\"caf\\u00e9 \\U0001F600\"", "caf\xc3\xa9 \xf0\x9f\x98\x80", false},
    {"\"caf\xc3\xa9s\"", "caf\xc3\xa9s", false},
    {"\"say \\\"hi\\\"\"", "say \"hi\"", false},
    {"\"\\\"quoted\\\"\"", "\"quoted\"", false},
    {"\"back\\\\slash\"", "back\\slash", false},
    {"\"100 % {x|y} $1 #; //\"", "100 % {x|y} $1 #; //", false},
    {"\"two\" \" parts\"", "two parts", false},
    {"\"\\x41\\102\\?\"", "AB?", false},
    {"MACRO", "of a macro", false},
    {"u8\"utf\"", "utf", false},
    {"\"MY-KERNEL\"", "MY-KERNEL", false},
    {"R\"(raw \"text\" \\n)\"", "raw \"text\" \\n", true},
    {"R\"x(a)\" b)x\"", "a)\" b", true},
};
enum { N_NAMES = sizeof names / sizeof names[0] };

static void write_kernel(const char *path, bool cpp)
{
    dl_str s = {0};
    dl_str_add(&s, HEAD "#define MACRO \"of a \" \"macro\"\n"
                        "static const char *const words[] = {\"none\", \"some, and more; really\"};\n"
                        "volatile uint32_t one = 1;\nvolatile char local[] = \"local\";\n");
    dl_str_add(&s, cpp ? "extern \"C\" void kernel_main(void)\n{\n" : "void kernel_main(void)\n{\n");
    for (size_t i = 0; i < N_NAMES; i++) {
        if (names[i].only_cpp && !cpp) continue;
        dl_str_fmt(&s, "    { DEVLOG_ZONE(%s); }\n    { DEVLOG_ZONE_COMPLETE(%s); }\n    DEVLOG_EVENT(%s);\n",
                   names[i].literal, names[i].literal, names[i].literal);
        dl_str_fmt(&s, "    DEVLOG_VALUE(%s, one);\n    { DEVLOG_ZONE_SUM(%s); }\n", names[i].literal,
                   names[i].literal);
    }
    dl_str_add(
        &s,
        "    DEVLOG_PRINTF(\"%s: %.4s|%7s|%u%%, \\\"%c\\\"\\n\", words[one], \"literal\", \"x\", one, 65);\n"
        "    DEVLOG_PRINTF(\"%s\", &local[0]);\n}\n");
    write_text(path, s.text);
    dl_str_free(&s);
}

static void expect_text(const test_rows *rows, size_t k, const char *text)
{
    dl_str found = {0};
    const dl_row *row = row_at(rows, DL_ROW_TS_EVENT, "print", k);
    assert_true(dl_meta_text(dl_text(&rows->tables, row->meta), &found));
    if (strncmp(found.text, text, strlen(text)) != 0) fail_msg("'%s' is not '%s'", found.text, text);
    dl_str_free(&found);
}

static void run_names(const char *source, const char *flags, bool cpp)
{
    devlog_error err = {0};
    fixture f = {.device = open_device(NULL, NULL)};
    check_ok(devlog_program_create(f.device, &f.program, &err), &err);
    const devlog_kernel_options o =
        DEVLOG_KERNEL_OPTIONS(.source = source, .risc = "BRISC", .cores = one, .flags = flags);
    check_ok(devlog_program_add_kernel(f.program, &o, &f.kernel, &err), &err);
    prepare(f.device, f.program);
    launch(f.device, f.program);
    test_rows rows;
    read_rows(f.device, f.program, zero, 0, &rows);
    for (size_t i = 0; i < N_NAMES; i++) {
        size_t n = names[i].only_cpp && !cpp ? 0 : 1;
        if (count_rows(&rows, DL_ROW_ZONE_END, names[i].name) != 2 * n ||
            count_rows(&rows, DL_ROW_TS_EVENT, names[i].name) != n ||
            count_rows(&rows, DL_ROW_TS_DATA, names[i].name) != n ||
            count_rows(&rows, DL_ROW_ZONE_TOTAL, names[i].name) != n)
            fail_msg("%s %s: '%s' is not there", source, flags ? flags : "", names[i].name);
    }
    for (uint32_t i = 0; i < rows.tables.n_sites; i++)
        if (strcmp(dl_site_text(&rows.tables, i), "MY-KERNEL") == 0)
            assert_int_equal(rows.tables.sites[i].role, DL_ROLE_USER);
    expect_text(&rows, 0, "some, and more; really: lite|      x|1%, \"A\"\n");
    expect_text(&rows, 1, "<no literal: 0xffb0");
    free_rows(&rows);
    stop(&f);
}

static void names_are_what_the_source_says(void **state)
{
    (void)state;
    const char *folder = test_folder();
    bool clang = can_compile(BY_CLANG);
    for (int cpp = 0; cpp < 2; cpp++) {
        char source[128], object[128];
        snprintf(source, sizeof source, "%s/names.%s", folder, cpp ? "cpp" : "c");
        snprintf(object, sizeof object, "%s/names%d.o", folder, cpp);
        write_kernel(source, cpp);
        run_names(source, "-Wall -Wextra -Werror", cpp);
        run_names(source, "-O0", cpp);
        run_names(source, cpp ? "-std=c++17" : "-std=c11 -Wno-pedantic", cpp);
        static const char *const levels[] = {"-O0 -Wall -Wextra -Werror", "-O2 -Wall -Wextra -Werror"};
        for (size_t i = 0; i < 2 && clang; i++) {
            free(build_object(BY_CLANG, levels[i], source, object, 0));
            run_names(object, NULL, cpp);
        }
    }
    if (!clang) skip();
}

/* Log and capture have the same names, and two names are two in what is made of either. */
static void outputs_keep_names_apart(void **state)
{
    (void)state;
    devlog_error err = {0};
    char source[128], line[400], *out, *tables[2];
    snprintf(source, sizeof source, "%s/names.cpp", test_folder());
    write_kernel(source, true);
    fixture f = {.device = open_device(NULL, NULL)};
    check_ok(devlog_program_create(f.device, &f.program, &err), &err);
    const devlog_kernel_options o = DEVLOG_KERNEL_OPTIONS(.source = source, .risc = "BRISC", .cores = one);
    check_ok(devlog_program_add_kernel(f.program, &o, &f.kernel, &err), &err);
    prepare(f.device, f.program);
    check_ok(devlog_launch_program(f.device, f.program, &err), &err);
    char folder[200], log[300];
    snprintf(folder, sizeof folder, "%s", f.device->log_folder);
    stop(&f);

    size_t size;
    snprintf(log, sizeof log, "%s/profile_log_device.csv", folder);
    char *csv = read_bytes(log, &size);
    assert_non_null(strstr(csv, ",\"a,b\",ZONE_START,"));
    assert_non_null(strstr(csv, ",a;b,ZONE_START,"));
    assert_non_null(strstr(csv, "{\"text\":\"some\\u002c and more\\u003b really: lite|"));
    free(csv);
    for (int capture = 0; capture < 2; capture++) {
        snprintf(log, sizeof log, "%s/%s", folder, capture ? "capture.devlog" : "profile_log_device.csv");
        static const char *const formats[] = {"json", "csv"};
        for (size_t i = 0; i < 2; i++) {
            snprintf(line, sizeof line, "decode --format %s %s", formats[i], log);
            out = devlog_ok(line, 0);
            for (size_t k = 0; k < N_NAMES; k++) {
                dl_str cell = {0};
                if (i == 0)
                    dl_str_json(&cell, names[k].name, strlen(names[k].name));
                else
                    dl_str_csv(&cell, names[k].name, strlen(names[k].name));
                if (!strstr(out, cell.text)) fail_msg("%s: no %s in %s", line, cell.text, out);
                dl_str_free(&cell);
            }
            if (i == 0) assert_non_null(strstr(out, "\"text\": \"some, and more; really: lite|"));
            free(out);
        }
        snprintf(line, sizeof line, "decode --no-files %s", log);
        tables[capture] = devlog_ok(line, 0);
        char *end = strstr(tables[capture], " rows"); /* behind the tables a capture says more */
        assert_non_null(strstr(tables[capture], "some, and more; really: lite|"));
        assert_non_null(end);
        *end = 0;
        snprintf(line, sizeof line, "export -f collapsed -o - %s", log);
        out = devlog_ok(line, 0);
        assert_non_null(strstr(out, ";a,b "));
        assert_non_null(strstr(out, ";a\xEF\xBC\x9B"
                                    "b "));
        free(out);
    }
    assert_string_equal(tables[0], tables[1]);
    free(tables[0]);
    free(tables[1]);
}

/* Line 4 of each is wrong. */
static void what_cannot_be_shown_is_refused(void **state)
{
    (void)state;
    static const struct {
        const char *marker, *says;
    } wrong[] = {
        {"DEVLOG_EVENT(variable);", "must be a string literal"},
        {"{ DEVLOG_ZONE(variable); }", "must be a string literal"},
        {"{ DEVLOG_ZONE_SUM(L\"wide\"); }", "must be a string literal"},
        {"DEVLOG_PRINTF(variable);", "must be a string literal"},
        {"DEVLOG_EVENT(\"ring\\a\");", "the name of this marker has a control character: byte 5 is 0x07"},
        {"DEVLOG_EVENT(\"two\\nlines\");", "the name of this marker has a control character: byte 4 is 0x0a"},
        {"DEVLOG_EVENT(\"a\\0b\");", "has a zero in it, behind 'a'"},
        {"DEVLOG_EVENT(\"\\xff\");", "is not UTF-8: byte 1 is 0xff"},
        {"DEVLOG_EVENT(\"\");", "has an empty name"},
        {"{ DEVLOG_ZONE(\"BRISC-KERNEL\"); }", "another is needed for 'BRISC-KERNEL'"},
        {"{ DEVLOG_ZONE_COMPLETE(\"TRISC_0-FW\"); }", "another is needed for 'TRISC_0-FW'"},
        {"DEVLOG_VALUE(\"DEVLOG-DROPPED\", 1);", "another is needed for 'DEVLOG-DROPPED'"},
        {"DEVLOG_PRINTF(\"%u and %u\", n);", "needs 2 arguments and has 1: \"%u and %u\""},
        {"DEVLOG_PRINTF(\"%u\", n, n);", "needs 1 argument and has 2"},
        {"DEVLOG_PRINTF(\"none\", n);", "needs 0 arguments and has 1"},
        {"DEVLOG_PRINTF(\"%f\", n);", "does not know '%f'"},
        {"DEVLOG_PRINTF(\"%*d\", n, n);", "does not know '%*'"},
        {"DEVLOG_PRINTF(\"%llu\", n);", "not '%llu'"},
        {"DEVLOG_PRINTF(\"50%\");", "ends in the middle of '%'"},
        {"DEVLOG_EVENT_(1, 32, \"a class of its own\");", "a number from 0 to 31"},
        {"DEVLOG_EVENT_(2, 256, \"a class of its own\");", "a number from 0 to 31"},
        {"DEVLOG_PRINTF(\"%u\", 1ull);", "a number of at most 32 bits or a pointer"},
        {"DEVLOG_PRINTF(\"%d\", 1.5);", "a number of at most 32 bits or a pointer"},
        {"DEVLOG_PRINTF(\"%d%d%d%d%d%d%d%d%d\", n, n, n, n, n, n, n, n, n);", "more_than_8_arguments"},
    };
    const char *folder = test_folder();
    bool clang = can_compile(BY_CLANG);
    devlog_device *device = open_device(NULL, NULL);
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        for (int way = 0; way < 3; way++) {
            devlog_error err = {0};
            bool cpp = way == 1;
            char source[128], object[128], text[1000], place[32];
            snprintf(source, sizeof source, "%s/wrong.%s", folder, cpp ? "cpp" : "c");
            snprintf(object, sizeof object, "%s/wrong.o", folder);
            snprintf(text, sizeof text,
                     HEAD
                     "%s const char *const variable = \"v\"; uint32_t n; %s kernel_main(void) {\n%s\n}\n",
                     cpp ? "constexpr" : "extern const char *const variable;",
                     cpp ? "extern \"C\" void" : "void", wrong[i].marker);
            write_text(source, text);
            const char *said = err.text;
            char *by_compiler = NULL;
            if ((way == 2 && !clang) || (way && way != 1 + (int)i % 2)) continue;
            /* What clang itself refuses is refused as well; the rest is when its object file is linked. */
            if (way == 2 && strstr(wrong[i].says, "32 bits or") == NULL &&
                strstr(wrong[i].says, "_8_") == NULL && strstr(wrong[i].says, "0 to 31") == NULL)
                free(build_object(BY_CLANG, "-O2 -w", source, object, 0));
            else if (way == 2)
                said = by_compiler = build_object(BY_CLANG, "-O2 -w", source, object, 1);
            if (!by_compiler) {
                fixture f = {.device = device};
                check_ok(devlog_program_create(f.device, &f.program, &err), &err);
                const devlog_kernel_options o = DEVLOG_KERNEL_OPTIONS(.source = way == 2 ? object : source,
                                                                      .risc = "BRISC", .cores = one);
                check_ok(devlog_program_add_kernel(f.program, &o, &f.kernel, &err), &err);
                if (devlog_compile_program(f.program, &err) != DEVLOG_ERR_COMPILE)
                    fail_msg("accepted: %s", wrong[i].marker);
                devlog_program_free(f.program);
            }
            snprintf(place, sizeof place, "wrong.%s:4:", cpp ? "cpp" : "c");
            if (!strstr(said, wrong[i].says) || !strstr(said, place))
                fail_msg("%s: '%s' does not say '%s' of %s", wrong[i].marker, said, wrong[i].says, place);
            free(by_compiler);
        }
    }
    devlog_error err = {0};
    check_ok(devlog_device_close(device, &err), &err);
    if (!clang) skip();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_are_what_the_source_says),
        cmocka_unit_test(outputs_keep_names_apart),
        cmocka_unit_test(what_cannot_be_shown_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
