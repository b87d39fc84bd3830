/* The cache of compiled kernels: a hit runs no compiler, whatever changes the answer is no hit, and of a kernel that is none what others
 * have, too, is found; of two programs at once the first one's file stays. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/files.h"
#include "support/fixture.h"

#define HEAD "#include <devlog/kernel.h>\n#include <devlog/profile.h>\n"

static void add(devlog_program *program, const char *source, const char *flags)
{
    devlog_error err = {0};
    const devlog_kernel_options o =
        DEVLOG_KERNEL_OPTIONS(.source = source, .risc = "BRISC", .cores = one, .flags = flags);
    check_ok(devlog_program_add_kernel(program, &o, NULL, &err), &err);
}

/* Compiles; returns how often the compiler was run for it. */
static size_t runs_of(const char *source, const char *flags, const char *log, char path[COMPILE_PATH])
{
    devlog_error err = {0};
    fixture f = {.device = open_device(NULL, NULL)};
    unlink(log);
    check_ok(devlog_program_create(f.device, &f.program, &err), &err);
    add(f.program, source, flags);
    prepare(f.device, f.program); /* the firmware, too */
    snprintf(path, COMPILE_PATH, "%s", f.program->kernels->path);
    stop(&f);
    if (access(log, R_OK) != 0) return 0;
    size_t size;
    char *text = read_bytes(log, &size);
    size_t lines = 0;
    for (const char *p = text; *p; p++)
        lines += *p == '\n';
    free(text);
    return lines;
}

/* A hit runs no compiler, whatever the working directory is; whatever changes the answer is no hit. */
static void a_hit_runs_no_compiler(void **state)
{
    (void)state;
    char cc[160], log[160], source[160], header[160], include[160], other[160], later[200], was[4096],
        flags[400], text[512], first[COMPILE_PATH], path[COMPILE_PATH];
    const char *folder = test_folder();
    snprintf(cc, sizeof cc, "%s/cc", folder);
    snprintf(log, sizeof log, "%s/log", folder);
    snprintf(source, sizeof source, "%s/src/k.c", folder);
    snprintf(later, sizeof later, "%s/src", folder);
    assert_int_equal(mkdir(later, 0700), 0);
    snprintf(include, sizeof include, "%s/inc", folder);
    snprintf(other, sizeof other, "%s/inc/first", folder);
    snprintf(header, sizeof header, "%s/inc/h.h", folder);
    snprintf(later, sizeof later, "%s/inc/first/h.h", folder);
    snprintf(flags, sizeof flags, "-I%s -I%s", other, include);
    snprintf(text, sizeof text, "#!/bin/sh\necho run >>'%s'\nexec riscv64-unknown-elf-gcc \"$@\"\n", log);
    assert_int_equal(mkdir(include, 0700) | mkdir(other, 0700), 0);
    write_text(cc, text);
    assert_int_equal(chmod(cc, 0700), 0);
    write_text(header, "enum { X = 1 };\n");
    snprintf(text, sizeof text,
             HEAD "#include \"h.h\"\nvolatile int x;\nvoid kernel_main(void) { x = X; } /* %s */\n", folder);
    write_text(source, text);
    assert_non_null(getcwd(was, sizeof was));
    setenv("DEVLOG_CC", cc, 1);

    assert_true(runs_of(source, flags, log, first) > 0);
    static const char *const folders[] = {"/", "/tmp", "/usr"};
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(chdir(folders[i]), 0);
        assert_int_equal(runs_of(source, flags, log, path), 0);
        assert_string_equal(path, first);
    }
    assert_int_equal(chdir(was), 0);
    /* A header that has changed; one that is found before it; another compiler; other flags; a variable of the compiler. */
    write_text(header, "enum { X = 2 };\n");
    assert_true(runs_of(source, flags, log, path) > 0);
    assert_string_not_equal(path, first);
    write_text(later, "enum { X = 3 };\n");
    char second[COMPILE_PATH];
    assert_true(runs_of(source, flags, log, second) > 0);
    assert_string_not_equal(path, second);
    snprintf(flags, sizeof flags, "-I%s -I%s -DY", other, include);
    assert_true(runs_of(source, flags, log, path) > 0);
    assert_int_equal(runs_of(source, flags, log, path), 0);
    setenv("CPATH", "/usr/lib:.", 1);
    assert_true(runs_of(source, flags, log, path) > 0);
    unsetenv("CPATH");
    assert_int_equal(runs_of(source, flags, log, path), 0);
    snprintf(text, sizeof text, "#!/bin/sh\n# \necho run >>'%s'\nexec riscv64-unknown-elf-gcc \"$@\"\n", log);
    write_text(cc, text);
    assert_int_equal(chmod(cc, 0700), 0);
    assert_true(runs_of(source, flags, log, path) > 0);
    /* The ELF file is gone. */
    assert_int_equal(runs_of(source, flags, log, path), 0);
    assert_int_equal(unlink(path), 0);
    assert_true(runs_of(source, flags, log, path) > 0);
    assert_int_equal(access(path, R_OK), 0);
    unsetenv("DEVLOG_CC");
}

/* How often a line of the log has the text. */
static unsigned lines_with(const char *log, const char *text)
{
    size_t size;
    unsigned n = 0;
    char *const all = read_bytes(log, &size);
    for (char *line = strtok(all, "\n"); line; line = strtok(NULL, "\n"))
        n += strstr(line, text) != NULL;
    free(all);
    return n;
}

/* What every kernel has besides its own source is compiled for the first one, and again where its text or the flags differ; what the
 * compiler remarks on it is remarked on each kernel. */
static void the_library_is_compiled_once(void **state)
{
    (void)state;
    enum { NOTHING, ALL };
    static const struct {
        const char *flags;
        int compiled;
    } kernels[] = {
        {NULL, ALL},  {NULL, NOTHING},  {"-DMINE=1", NOTHING},         {"-DMINE=2 -UMINE", NOTHING},
        {"-O1", ALL}, {"-O1", NOTHING}, {"-DDEVLOG_WIDE_IDS=1", ALL},  {"-O1 -DMINE", NOTHING},
        {"-O2", ALL}, {"", NOTHING},    {"  -DMINE=3\t-O1 ", NOTHING},
    };
    char cc[160], log[160], cache[160], text[700], path[COMPILE_PATH];
    const char *folder = test_folder(), *was = getenv("DEVLOG_CACHE");
    char *const before = was ? strdup(was) : NULL;
    snprintf(cc, sizeof cc, "%s/cc2", folder);
    snprintf(log, sizeof log, "%s/log2", folder);
    snprintf(cache, sizeof cache, "%s/cache", folder);
    snprintf(text, sizeof text,
             "#!/bin/sh\necho \" $* \" >>'%s'\ncase \" $* \" in *' -E '*) ;; *segment.c*) echo "
             "'segment.c:1: warning: look' >&2;; esac\nexec riscv64-unknown-elf-gcc \"$@\"\n",
             log);
    write_text(cc, text);
    assert_int_equal(chmod(cc, 0700), 0);
    setenv("DEVLOG_CC", cc, 1);
    setenv("DEVLOG_CACHE", cache, 1);
    for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++) {
        char source[160];
        dl_str remarks = {0};
        devlog_error err = {0};
        snprintf(source, sizeof source, "%s/k%zu.c", folder, i);
        snprintf(text, sizeof text, HEAD "void kernel_main(void) { DEVLOG_ZONE(\"%zu\"); }\n", i);
        write_text(source, text);
        assert_true(runs_of(source, kernels[i].flags, log, path) > 0);
        /* The firmware is compiled with the kernel that is the first of its flags. */
        const unsigned compiled = lines_with(log, " -c "), linked = lines_with(log, source);
        if (compiled != (kernels[i].compiled ? 5 : 0) || linked != 2)
            fail_msg("kernel %zu, '%s': %u files compiled, %u runs for the kernel", i, kernels[i].flags,
                     compiled, linked);
        check_ok(compile_remarks(path, &remarks, &err), &err);
        if (!remarks.len || !strstr(remarks.text, "segment.c:1: warning: look"))
            fail_msg("kernel %zu: no remark", i);
        dl_str_free(&remarks);
    }
    /* An object that is not there, or that a power cut has emptied. */
    for (int way = 0; way < 2; way++) {
        char found[COMPILE_PATH];
        snprintf(text, sizeof text, "ls %s/*-segment.c.o", cache);
        FILE *const list = popen(text, "r");
        assert_non_null(list);
        while (fgets(found, sizeof found, list)) {
            found[strcspn(found, "\n")] = 0;
            if (way)
                write_text(found, "");
            else
                unlink(found);
        }
        pclose(list);
        snprintf(text, sizeof text, HEAD "void kernel_main(void) { DEVLOG_ZONE(\"way %d\"); }\n", way);
        snprintf(found, sizeof found, "%s/way.c", folder);
        write_text(found, text);
        assert_true(runs_of(found, NULL, log, path) > 0);
        assert_int_equal(lines_with(log, " -c "), 5);
    }
    unsetenv("DEVLOG_CC");
    if (before)
        setenv("DEVLOG_CACHE", before, 1);
    else
        unsetenv("DEVLOG_CACHE");
    free(before);
}

/* Two programs in different folders compile the same kernel at once: the ELF file of the one that is ready first stays, as its build
 * id stands in that one's capture. */
static void the_first_elf_stays(void **state)
{
    (void)state;
    char cc[160], log[160], began[160], source[160], first[160], text[900], path[COMPILE_PATH];
    const char *folder = test_folder();
    snprintf(cc, sizeof cc, "%s/cc3", folder);
    snprintf(log, sizeof log, "%s/log3", folder);
    snprintf(began, sizeof began, "%s/began", folder);
    snprintf(first, sizeof first, "%s/first.elf", folder);
    snprintf(source, sizeof source, "%s/both.c", folder);
    snprintf(text, sizeof text, HEAD "void kernel_main(void) { DEVLOG_ZONE(\"%s\"); }\n", folder);
    write_text(source, text);
    /* Here the compiler waits, once it links the kernel, for the other program to be through. */
    snprintf(
        text, sizeof text,
        "#!/bin/sh\ncase \"$PWD $* \" in '/ '*|*' -E '*) ;; *%s*) touch '%s'; n=0; while [ ! -e '%s' ] && "
        "[ $n -lt 6000 ]; do sleep 0.1; n=$((n+1)); done;; esac\nexec riscv64-unknown-elf-gcc \"$@\"\n",
        source, began, first);
    write_text(cc, text);
    assert_int_equal(chmod(cc, 0700), 0);
    setenv("DEVLOG_CC", cc, 1);
    const pid_t other = fork();
    assert_true(other >= 0);
    if (!other) {
        for (int n = 0; n < 6000 && access(began, F_OK) != 0; n++)
            usleep(100000);
        size_t size = 0;
        char *elf = NULL;
        if (chdir("/") == 0) {
            runs_of(source, NULL, log, path);
            elf = read_bytes(path, &size);
        }
        snprintf(text, sizeof text, "%s.tmp", first);
        FILE *const f = fopen(text, "w");
        const bool good =
            f && size && fwrite(elf, 1, size, f) == size && fclose(f) == 0 && rename(text, first) == 0;
        free(elf);
        _exit(good ? 0 : 1);
    }
    runs_of(source, NULL, log, path);
    unsetenv("DEVLOG_CC");
    int status;
    assert_int_equal(waitpid(other, &status, 0), other);
    assert_int_equal(status, 0);
    size_t n, n_first;
    char *const elf = read_bytes(path, &n), *const of_first = read_bytes(first, &n_first);
    assert_int_equal(n, n_first);
    assert_memory_equal(elf, of_first, n);
    free(elf);
    free(of_first);
    /* Nothing half made is left beside it. */
    snprintf(text, sizeof text, "ls '%s'*.tmp 2>/dev/null", path);
    FILE *const list = popen(text, "r");
    assert_non_null(list);
    assert_int_equal(fgetc(list), EOF);
    pclose(list);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_hit_runs_no_compiler),
                                       cmocka_unit_test(the_library_is_compiled_once),
                                       cmocka_unit_test(the_first_elf_stays)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
