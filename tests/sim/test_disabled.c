/* Without -DPROFILE_DEVICE a source that uses every marker gives the same object file, to the byte, as the
 * same source without the header and without the markers; in C and C++, at every level of optimisation. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/process.h"
#include "support/device.h"
#include "support/files.h"

/* MARK(x) is the marker in one version and nothing in the other; the lines are the same. */
static const char source[] = "#include <stdint.h>\n"
                             "%s\n"
                             "extern volatile uint32_t sink;\n"
                             "uint32_t work(uint32_t n)\n"
                             "{\n"
                             "    uint32_t sum = 0;\n"
                             "    MARK(DEVLOG_ZONE(\"outer\");)\n"
                             "    MARK(DEVLOG_ZONE_BEGIN(tag, \"by hand\");)\n"
                             "    for (uint32_t i = 0; i < n; i++) {\n"
                             "        MARK(DEVLOG_ZONE_COMPLETE(\"complete\");)\n"
                             "        MARK(DEVLOG_ZONE_SUM(\"sum\");)\n"
                             "        MARK(DEVLOG_VALUE(\"value\", i * 3);)\n"
                             "        MARK(DEVLOG_VALUE64(\"wide\", (uint64_t)i << 20);)\n"
                             "        MARK(DEVLOG_COUNTER(\"counter\", sum);)\n"
                             "        sum += sink * i;\n"
                             "    }\n"
                             "    MARK(DEVLOG_ZONE_END(tag);)\n"
                             "    MARK(DEVLOG_EVENT(\"event\");)\n"
                             "    MARK(DEVLOG_PRINTF(\"sum %%u\", sum);)\n"
                             "    MARK(DEVLOG_FREEZE();)\n"
                             "    MARK(DEVLOG_EXPECT_CYCLES(\"outer\", 1, 900);)\n"
                             "    MARK(DEVLOG_EXPECT_COUNT(\"event\", 1, DEVLOG_ANY);)\n"
                             "    MARK(DEVLOG_EXPECT_VALUE(\"value\", 0, sizeof(uint64_t));)\n"
                             "    MARK(DEVLOG_EXPECT_ORDER(\"event\", \"outer\");)\n"
                             "    return sum;\n"
                             "}\n";

/* Variables that only markers use: no warning of them, and no code. USED(x) is what keeps the compiler quiet
 * in the version without markers. */
static const char only_in_markers[] =
    "#include <stdint.h>\n"
    "%s\n"
    "extern volatile uint32_t sink;\n"
    "uint32_t other(uint32_t n);\n"
    "struct bits { uint32_t low : 3; };\n"
    "uint32_t work(uint32_t n, struct bits b);\n"
    "uint32_t work(uint32_t n, struct bits b)\n"
    "{\n"
    "    uint32_t a = sink, c;\n"
    "    uint64_t wide = (uint64_t)n << 3;\n"
    "    const char *text = \"text\";\n"
    "    int d = (int)n - 1;\n"
    "    c = n + 1;\n"
    "    MARK(DEVLOG_VALUE(\"a\", a), USED(a));\n"
    "    MARK(DEVLOG_COUNTER(\"c\", c), USED(c));\n"
    "    MARK(DEVLOG_VALUE64(\"wide\", wide), USED(wide));\n"
    "    MARK(DEVLOG_VALUE(\"bits\", b.low), USED(b));\n"
    "    MARK(DEVLOG_VALUE(\"call\", other(n)), USED(n));\n"
    "    MARK(DEVLOG_PRINTF(\"%%s: %%d\", text, d), USED(text); USED(d));\n"
    "    if (n) MARK(DEVLOG_VALUE(\"if\", n), USED(n)); else MARK(DEVLOG_PRINTF(\"else\"), USED(n));\n"
    "    return n;\n"
    "}\n";

static void compile_object(const char *folder, const char *file, const char *program, bool markers,
                           const char *level, const char *object)
{
    char path[512], include[512], text[4096];
    bool all = program == source;
    snprintf(text, sizeof text, program,
             all       ? markers ? "#include <devlog/profile.h>\n#define MARK(x) x" : "\n#define MARK(x)"
             : markers ? "#include <devlog/profile.h>\n#define MARK(x, y) x"
                       : "#define USED(x) (void)x\n#define MARK(x, y) do { y; } while (0)");
    snprintf(path, sizeof path, "%s/%s", folder, file);
    write_text(path, text);
    snprintf(include, sizeof include, "-I%s", source_path("include"));
    bool cpp = strstr(file, ".cpp") != NULL;
    const char *argv[] = {cpp ? "riscv64-unknown-elf-g++" : "riscv64-unknown-elf-gcc",
                          "-march=rv32im",
                          "-mabi=ilp32",
                          "-ffreestanding",
                          "-Wall",
                          "-Wextra",
                          "-Wpedantic",
                          "-Werror",
                          cpp ? "-std=c++17" : "-std=c11",
                          level,
                          include,
                          "-c",
                          path,
                          "-o",
                          object,
                          NULL};
    dl_output out;
    devlog_error err = {0};
    check_ok(dl_process_run(argv, &out, &err), &err);
    if (out.exit != 0) fail_msg("%s", out.text);
    free(out.text);
}

static void nothing_is_left(void **state)
{
    (void)state;
    const char *folder = test_folder();
    const char *const levels[] = {"-O0", "-O1", "-O2", "-O3", "-Os"};
    const char *const files[] = {"kernel.c", "kernel.cpp"};
    for (size_t i = 0; i < 5; i++) {
        for (size_t k = 0; k < 4; k++) {
            char with[512], without[512];
            const char *program = k < 2 ? source : only_in_markers;
            snprintf(with, sizeof with, "%s/with.o", folder);
            snprintf(without, sizeof without, "%s/without.o", folder);
            compile_object(folder, files[k % 2], program, true, levels[i], with);
            compile_object(folder, files[k % 2], program, false, levels[i], without);
            size_t a_size, b_size;
            char *a = read_bytes(with, &a_size), *b = read_bytes(without, &b_size);
            assert_int_equal(a_size, b_size);
            assert_memory_equal(a, b, a_size);
            free(a);
            free(b);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(nothing_is_left)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
