/* Compiling kernels: what does not fit gets what room there is, and what is wrong or doubtful is said in
 * words that help, with its place. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/files.h"
#include "support/fixture.h"
#include "support/kernels.h"

#define HEAD "#include <devlog/kernel.h>\n#include <devlog/profile.h>\n"

static const char *write_source(const char *name, const char *text)
{
    static char path[128];
    snprintf(path, sizeof path, "%s/%s", test_folder(), name);
    write_text(path, text);
    return path;
}

static void add(devlog_program *program, const char *source, const char *risc, const char *flags)
{
    devlog_error err = {0};
    const devlog_kernel_options o =
        DEVLOG_KERNEL_OPTIONS(.source = source, .risc = risc, .cores = one, .flags = flags);
    check_ok(devlog_program_add_kernel(program, &o, NULL, &err), &err);
}

static devlog_status try_source(const char *source, const char *flags, devlog_error *err)
{
    devlog_error ignored = {0};
    fixture f = {.device = open_device(NULL, NULL)};
    check_ok(devlog_program_create(f.device, &f.program, &ignored), &ignored);
    add(f.program, source, "BRISC", flags);
    devlog_status status = devlog_compile_program(f.program, err);
    stop(&f);
    return status;
}

static void refused(const char *source, const char *flags, const char *says)
{
    devlog_error err = {0};
    assert_int_equal(try_source(source, flags, &err), DEVLOG_ERR_COMPILE);
    if (!strstr(err.text, says)) fail_msg("'%s' does not say '%s'", err.text, says);
}

/* What the process writes to stderr while `compile` runs. */
static char *stderr_of(devlog_program *program)
{
    char path[128];
    devlog_error err = {0};
    snprintf(path, sizeof path, "%s/stderr", test_folder());
    int before = dup(2), file = open(path, O_CREAT | O_RDWR | O_TRUNC, 0600);
    assert_true(before >= 0 && file >= 0);
    fflush(stderr);
    dup2(file, 2);
    devlog_status status = devlog_compile_program(program, &err);
    fflush(stderr);
    dup2(before, 2);
    close(before);
    close(file);
    check_ok(status, &err);
    size_t size;
    return read_bytes(path, &size);
}

/* ---- Room ---- */

/* `n` zones, each with a name of its own, ten in a function. */
static const char *many_zones(uint32_t n)
{
    static char text[1 << 20];
    size_t at = (size_t)snprintf(text, sizeof text, HEAD "volatile uint32_t sink;\n");
    for (uint32_t i = 0; i < n; i++) {
        if (i % 10 == 0)
            at += (size_t)snprintf(text + at, sizeof text - at,
                                   "%sstatic __attribute__((noinline)) void f%u(void)\n{\n", i ? "}\n" : "",
                                   i / 10);
        at += (size_t)snprintf(text + at, sizeof text - at, "    { DEVLOG_ZONE(\"zone %u\"); sink = %u; }\n",
                               i, i);
    }
    at += (size_t)snprintf(text + at, sizeof text - at, "}\nvoid kernel_main(void)\n{\n");
    for (uint32_t i = 0; i < (n + 9) / 10; i++)
        at += (size_t)snprintf(text + at, sizeof text - at, "    f%u();\n", i);
    snprintf(text + at, sizeof text - at, "}\n");
    return write_source("many.c", text);
}

static void all_zones_are_there(devlog_device *device, devlog_program *program, uint32_t risc, uint32_t n)
{
    devlog_error err = {0};
    test_rows rows;
    check_ok(devlog_set_recording(device, DEVLOG_RECORD_STREAM, 0, &err), &err);
    prepare(device, program);
    launch(device, program);
    read_rows(device, program, zero, risc, &rows);
    for (uint32_t i = 0; i < n; i++) {
        char name[32];
        snprintf(name, sizeof name, "zone %u", i);
        if (count_rows(&rows, DL_ROW_ZONE_END, name) != 1) fail_msg("'%s' is not there once", name);
    }
    assert_int_equal(rows.losses.damaged_words + rows.losses.unnamed + rows.control.dropped, 0);
    free_rows(&rows);
}

/* As many zones as there are codes, and more, of which devlog makes wide ids by itself; in the slots that no
 * other kernel of the program uses, behind and in front of the kernel's own. */
static void large_kernels_get_the_room(void **state)
{
    (void)state;
    static const struct {
        const char *risc, *name;
        uint32_t index, zones;
        bool wide;
    } cases[] = {
        {"BRISC", NULL, 0, 1016, false}, {"BRISC", NULL, 0, 1017, true}, {"TRISC2", NULL, 4, 600, false}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        devlog_error err = {0};
        fixture f = {.device = open_device(NULL, NULL)};
        check_ok(devlog_program_create(f.device, &f.program, &err), &err);
        add(f.program, many_zones(cases[i].zones), cases[i].risc, NULL);
        char *said = stderr_of(f.program);
        if ((strstr(said, "-DDEVLOG_WIDE_IDS") != NULL) != cases[i].wide) fail_msg("'%s'", said);
        free(said);
        all_zones_are_there(f.device, f.program, cases[i].index, cases[i].zones);
        stop(&f);
    }
}

/* A slot is taken from a kernel that had it when a kernel of its own comes. */
static void room_goes_to_whom_it_belongs(void **state)
{
    (void)state;
    devlog_error err = {0};
    fixture f = {.device = open_device(NULL, NULL)};
    check_ok(devlog_program_create(f.device, &f.program, &err), &err);
    char large[128];
    snprintf(large, sizeof large, "%s", many_zones(400));
    add(f.program, large, "NCRISC", NULL);
    all_zones_are_there(f.device, f.program, 1, 400);
    add(f.program, source_path("tests/sim/kernels/classes.c"), "BRISC", NULL);
    add(f.program, source_path("tests/sim/kernels/classes.c"), "TRISC1", NULL);
    all_zones_are_there(f.device, f.program, 1, 400); /* TRISC0's slot is left */
    add(f.program, source_path("tests/sim/kernels/classes.c"), "TRISC0", NULL);
    assert_int_equal(devlog_compile_program(f.program, &err), DEVLOG_ERR_COMPILE);
    if (!strstr(err.text, "for NCRISC does not fit") || !strstr(err.text, "its slot has 32,768 ("))
        fail_msg("%s", err.text);
    stop(&f);
}

static void what_is_full_is_said(void **state)
{
    (void)state;
    refused(many_zones(1700), NULL,
            "with the slots beside it that no kernel of the program uses, has 163,840 (");
    refused(
        write_source("sums.c", HEAD "volatile char large[4000];\nvoid kernel_main(void) { large[0] = 1; }\n"),
        NULL, "sums.c for BRISC does not fit: its variables take ");

    /* An object file is as it is. */
    char object[128];
    snprintf(object, sizeof object, "%s/many.o", test_folder());
    free(build_object(BY_GCC, "-O2", many_zones(1017), object, 0));
    refused(object, NULL,
            "many.o for BRISC has more than 1016 zones in one kernel: compile it with -DDEVLOG_WIDE_IDS");
}

/* Markers in functions of ten, so that compiling them takes no time. */
static const char *many_events(uint32_t n)
{
    static char text[200000];
    size_t at = (size_t)sprintf(text, HEAD);
    for (uint32_t i = 0; i < n; i++) {
        if (i % 10 == 0) at += (size_t)sprintf(text + at, "%svoid f%u(void) {", i ? "}\n" : "", i);
        at += (size_t)sprintf(text + at, "DEVLOG_EVENT(\"e%u\");", i);
    }
    sprintf(text + at, "}\nvoid kernel_main(void) { f0(); }\n");
    return write_source("events.c", text);
}

/* The pass whose time grows with the square of the markers in a function is left out for kernels of more than 1,000, and
 * for no others; and whoever asks for it has it. */
static void only_large_kernels_are_not_scheduled(void **state)
{
    (void)state;
    static const struct {
        uint32_t events;
        const char *flags, *last; /* of the two flags */
    } cases[] = {{1000, "-DDEVLOG_WIDE_IDS", ""},
                 {1001, "-DDEVLOG_WIDE_IDS", "-fno-schedule-insns"},
                 {1001, "-DDEVLOG_WIDE_IDS -fschedule-insns", "-fschedule-insns"}};
    char cc[160], log[160], text[400];
    snprintf(cc, sizeof cc, "%s/cc", test_folder());
    snprintf(log, sizeof log, "%s/flags", test_folder());
    snprintf(text, sizeof text,
             "#!/bin/sh\ncase \" $* \" in *' -E '*) ;; *events.c*) for i; do case $i in -f*schedule-insns) "
             "printf '%%s\\n' \"$i\" >>'%s';; esac; done; echo compiled >>'%s';; esac\n"
             "exec riscv64-unknown-elf-gcc \"$@\"\n",
             log, log);
    write_text(cc, text);
    assert_int_equal(chmod(cc, 0700), 0);
    setenv("DEVLOG_CC", cc, 1);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        devlog_error err = {0};
        size_t size;
        write_text(log, "");
        check_ok(try_source(many_events(cases[i].events), cases[i].flags, &err), &err);
        char *said = read_bytes(log, &size), *line = said, *last = "", *next;
        bool compiled = false;
        for (; (next = strchr(line, '\n')); line = next + 1) {
            *next = '\0';
            compiled |= strcmp(line, "compiled") == 0;
            if (*line == '-') last = line;
        }
        assert_true(compiled);
        assert_string_equal(last, cases[i].last);
        free(said);
    }
    unsetenv("DEVLOG_CC");
}

/* ---- What the compiler says ---- */

static void errors_are_the_compilers(void **state)
{
    (void)state;
    static char text[20000];
    size_t n = 0;
    for (int i = 0; i < 500; i++)
        n += (size_t)snprintf(text + n, sizeof text - n, "extern int line_%d;\n", i);
    snprintf(text + n, sizeof text - n, "#include \"not_there.h\"\nvoid kernel_main(void) {}\n");
    devlog_error err = {0};
    assert_int_equal(try_source(write_source("missing.c", text), NULL, &err), DEVLOG_ERR_COMPILE);
    if (!strstr(err.text, "missing.c:501:10: fatal error: not_there.h") || strstr(err.text, "line_499;") ||
        strlen(err.text) > 400)
        fail_msg("%s", err.text);

    /* An error behind many warnings. */
    n = 0;
    for (int i = 0; i < 300; i++)
        n += (size_t)snprintf(text + n, sizeof text - n, "#warning number %d\n", i);
    snprintf(text + n, sizeof text - n, "void kernel_main(void) { nonsense; }\n");
    assert_int_equal(try_source(write_source("warned.c", text), NULL, &err), DEVLOG_ERR_COMPILE);
    if (!strstr(err.text, "warned.c:301:26: error: 'nonsense'") ||
        !strstr(err.text, "(the compiler said more)"))
        fail_msg("%s", err.text);

    refused(write_source("undefined.c", "void nowhere(void);\nvoid kernel_main(void) { nowhere(); }\n"), NULL,
            "undefined reference to `nowhere'");
}

/* Shown by the program that compiles and by every later one, once. */
static void warnings_are_shown(void **state)
{
    (void)state;
    char source[128], text[200];
    snprintf(text, sizeof text, "/* %d */\n#warning look here\nvoid kernel_main(void) { int unused; }\n",
             (int)getpid());
    snprintf(source, sizeof source, "%s", write_source("warns.c", text));
    for (int run = 0; run < 2; run++) {
        devlog_error err = {0};
        devlog_device *device = open_device(NULL, NULL);
        for (int again = 0; again < 2; again++) {
            devlog_program *program;
            check_ok(devlog_program_create(device, &program, &err), &err);
            add(program, source, "BRISC", "-Wall");
            char *said = stderr_of(program);
            bool shown = strstr(said, "warns.c:2:2: warning: #warning look here") &&
                         strstr(said, "warns.c:3:30: warning: unused variable 'unused'");
            if (shown == again) fail_msg("run %d, program %d: '%s'", run, again, said);
            if (again && *said) fail_msg("'%s'", said);
            free(said);
            devlog_program_free(program);
        }
        check_ok(devlog_device_close(device, &err), &err);
    }
}

/* A kernel is not taken from the cache when an object file that its flags name has changed. */
static void objects_in_flags_count(void **state)
{
    (void)state;
    char object[128], main_c[128], was[4096] = "";
    snprintf(object, sizeof object, "%s/other.o", test_folder());
    snprintf(main_c, sizeof main_c, "%s",
             write_source("main.c",
                          "int other(void);\nvolatile int x;\nvoid kernel_main(void) { x = other(); }\n"));
    for (int i = 0; i < 2; i++) {
        char text[64];
        devlog_error err = {0};
        snprintf(text, sizeof text, "int other(void);\nint other(void) { return %d; }\n", i);
        free(build_object(BY_GCC, "-O2", write_source("other.c", text), object, 0));
        fixture f = {.device = open_device(NULL, NULL)};
        check_ok(devlog_program_create(f.device, &f.program, &err), &err);
        add(f.program, main_c, "BRISC", object);
        prepare(f.device, f.program);
        assert_string_not_equal(f.program->kernels->path, was);
        snprintf(was, sizeof was, "%s", f.program->kernels->path);
        stop(&f);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(large_kernels_get_the_room), cmocka_unit_test(room_goes_to_whom_it_belongs),
        cmocka_unit_test(what_is_full_is_said),       cmocka_unit_test(only_large_kernels_are_not_scheduled),
        cmocka_unit_test(errors_are_the_compilers),   cmocka_unit_test(warnings_are_shown),
        cmocka_unit_test(objects_in_flags_count),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
