/* Without -DPROFILE_HOST a program that uses every macro of devlog/host.h - zones, values, messages, frames, locks, memory - gives the same
 * object file, to the byte, as one without the header and without the macros; in C and C++, at every level of optimisation. What kernels'
 * markers leave is test_disabled's. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/process.h"
#include "support/device.h"
#include "support/files.h"

/* MARK(x) is the macro in one version and nothing in the other; the lines are the same. */
static const char common[] = "#include <pthread.h>\n"
                             "#include <stddef.h>\n"
                             "#include <stdint.h>\n"
                             "#include <stdlib.h>\n"
                             "%s\n"
                             "int called(void);\n"
                             "extern pthread_mutex_t mutex;\n"
                             "extern volatile uint32_t sink;\n"
                             "uint32_t work(uint32_t n);\n"
                             "uint32_t work(uint32_t n)\n"
                             "{\n"
                             "    uint32_t sum = 0;\n"
                             "    MARK(DEVLOG_HOST_FUNCTION();)\n"
                             "    MARK(DEVLOG_HOST_THREAD(\"main\");)\n"
                             "    MARK(DEVLOG_HOST_BEGIN(zone, \"by hand\");)\n"
                             "    for (uint32_t i = 0; i < n; i++) {\n"
                             "        MARK(DEVLOG_HOST_ZONE(\"round\");)\n"
                             "        MARK(DEVLOG_HOST_VALUE(\"value\", called());)\n"
                             "        MARK(DEVLOG_HOST_MESSAGE(\"said\");)\n"
                             "        MARK(DEVLOG_HOST_MESSAGE_N(\"said\", 2);)\n"
                             "        MARK(DEVLOG_HOST_LOCK_ANNOUNCE(lock, \"lock\");)\n"
                             "        MARK(DEVLOG_HOST_LOCK_BEFORE(lock);)\n"
                             "        pthread_mutex_lock(&mutex);\n"
                             "        MARK(DEVLOG_HOST_LOCK_AFTER(lock);)\n"
                             "        sum += sink * i;\n"
                             "        pthread_mutex_unlock(&mutex);\n"
                             "        MARK(DEVLOG_HOST_LOCK_RELEASED(lock);)\n"
                             "        MARK(DEVLOG_HOST_LOCK_TRIED(lock, called());)\n"
                             "        MARK(DEVLOG_HOST_LOCK_TERMINATE(lock);)\n"
                             "        void *block = malloc(sum);\n"
                             "        MARK(DEVLOG_HOST_ALLOC(block, sum);)\n"
                             "        MARK(DEVLOG_HOST_ALLOC_N(block, called(), \"pool\");)\n"
                             "        MARK(DEVLOG_HOST_FREE_N(block, \"pool\");)\n"
                             "        MARK(DEVLOG_HOST_FREE(block);)\n"
                             "        free(block);\n"
                             "        MARK(DEVLOG_HOST_FRAME(\"round\");)\n"
                             "        if (sum == 7) return sum;\n"
                             "    }\n"
                             "    MARK(if (DEVLOG_HOST_IS_ON()) called();)\n"
                             "    MARK(DEVLOG_HOST_END(zone);)\n"
                             "    return sum;\n"
                             "}\n";
static const char cpp_alone[] = "#include <mutex>\n"
                                "#include <stdint.h>\n"
                                "%s\n"
                                "int called();\n"
                                "MUTEX(std::mutex, jobs, \"jobs\");\n"
                                "uint32_t work(char *block)\n"
                                "{\n"
                                "    std::lock_guard<TYPE(std::mutex)> held(jobs);\n"
                                "    MARK(DEVLOG_HOST_BLOCK(block, called(), \"pool\");)\n"
                                "    return block[0];\n"
                                "}\n";

static void compile_object(const char *folder, const char *program, bool cpp, bool macros, const char *level,
                           const char *object)
{
    static const char in_cpp[] =
        "#define MUTEX DEVLOG_HOST_MUTEX\n#define TYPE DEVLOG_HOST_MUTEX_TYPE\n#line 5\n",
                      instead[] =
                          "#define MUTEX(type, name, said) type name\n#define TYPE(type) type\n#line 5\n";
    char path[512], include[512], what[512], text[4096];
    snprintf(what, sizeof what, "%s%s",
             macros ? "#include <devlog/host.h>\n#define MARK(x) x\nextern devlog_host_lock lock;\n"
                    : "#define MARK(x)\n",
             macros ? in_cpp : instead);
    snprintf(text, sizeof text, program, what); /* NOLINT(clang-diagnostic-format-nonliteral) */
    snprintf(path, sizeof path, "%s/app.%s", folder, cpp ? "cpp" : "c");
    write_text(path, text);
    snprintf(include, sizeof include, "-I%s", source_path("include"));
    const char *argv[] = {cpp ? "c++" : "cc",
                          "-Wall",
                          "-Wextra",
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
    static const char *const levels[] = {"-O0", "-O1", "-O2", "-O3", "-Os"};
    static const struct {
        const char *text;
        bool cpp;
    } programs[] = {{common, false}, {common, true}, {cpp_alone, true}};
    for (size_t i = 0; i < sizeof levels / sizeof *levels; i++) {
        for (size_t k = 0; k < sizeof programs / sizeof *programs; k++) {
            char with[512], without[512];
            size_t a_size, b_size;
            snprintf(with, sizeof with, "%s/with.o", folder);
            snprintf(without, sizeof without, "%s/without.o", folder);
            compile_object(folder, programs[k].text, programs[k].cpp, true, levels[i], with);
            compile_object(folder, programs[k].text, programs[k].cpp, false, levels[i], without);
            char *a = read_bytes(with, &a_size), *b = read_bytes(without, &b_size);
            if (a_size != b_size || memcmp(a, b, a_size) != 0)
                fail_msg("program %zu, %s: %zu bytes with the macros, %zu without", k, levels[i], a_size,
                         b_size);
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
