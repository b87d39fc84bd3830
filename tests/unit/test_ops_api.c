/* The op profiler's API: what each call writes to the log, from one thread and from several. */
#include <cJSON.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "base/process.h"
#include "support/cmocka_all.h"
#include "support/device.h"
#include "support/files.h"

enum { MAX_LINES = 4096 };

typedef struct log_lines {
    cJSON *items[MAX_LINES];
    int n;
} log_lines;

static devlog_ops *open_log(const char *folder)
{
    devlog_error err = {0};
    devlog_ops *ops = NULL;
    const devlog_ops_options options = DEVLOG_OPS_OPTIONS(.log_folder = folder, .profile = DEVLOG_ON);
    check_ok(devlog_ops_open(&options, &ops, &err), &err);
    assert_non_null(ops);
    return ops;
}

static void close_log(devlog_ops *ops, log_lines *lines)
{
    devlog_error err = {0};
    char path[512], *text, *save = NULL;
    size_t size;
    snprintf(path, sizeof path, "%s", devlog_ops_log(ops));
    check_ok(devlog_ops_close(ops, &err), &err);
    text = read_bytes(path, &size);
    lines->n = 0;
    for (char *line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
        assert_true(lines->n < MAX_LINES);
        lines->items[lines->n] = cJSON_Parse(line);
        if (!lines->items[lines->n]) fail_msg("not JSON: %s", line);
        lines->n++;
    }
    free(text);
}

static void free_lines(log_lines *lines)
{
    for (int i = 0; i < lines->n; i++)
        cJSON_Delete(lines->items[i]);
}

static const char *text_of(const cJSON *line, const char *key)
{
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(line, key);
    return item && cJSON_IsString(item) ? item->valuestring : "";
}

static double number_of(const cJSON *line, const char *key)
{
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(line, key);
    return item && cJSON_IsNumber(item) ? item->valuedouble : -1;
}

/* The n-th line of an event about an op (0: any). */
static const cJSON *find(const log_lines *lines, const char *event, uint32_t id)
{
    for (int i = 0; i < lines->n; i++)
        if (strcmp(text_of(lines->items[i], "e"), event) == 0 &&
            (id == 0 || number_of(lines->items[i], "id") == id))
            return lines->items[i];
    fail_msg("no '%s' of op %u", event, id);
    return NULL;
}

static void a_nested_op_is_written_whole(void **state)
{
    (void)state;
    log_lines lines;
    devlog_ops *ops = open_log(test_folder());
    assert_int_not_equal(devlog_ops_run(ops), 0);
    const devlog_op outer = {.name = "Attention", .type = DEVLOG_OP_TT_DNN_CPU};
    const devlog_op inner = {.name = "Matmul, \"fast\"\n\xC3\xA4\xFF",
                             .type = DEVLOG_OP_TT_DNN_DEVICE,
                             .fidelity = DEVLOG_FIDELITY_HIFI3,
                             .strategy = "MULTI_CORE",
                             .cores = 12};
    devlog_step(ops, 7, NULL);
    uint32_t a = devlog_op_start(ops, &outer);
    uint32_t b = devlog_op_start(ops, &inner);
    assert_int_equal(devlog_op_current(ops), b);
    const devlog_tensor t = {.w = 1,
                             .z = 2,
                             .y = 32,
                             .x = 64,
                             .logical = {1, 2, 30, 60},
                             .layout = "TILE",
                             .data_type = "BFLOAT16",
                             .memory = "DEV_0_DRAM"};
    devlog_op_input(ops, 0, &t);
    devlog_op_output(ops, a, &t);
    devlog_op_append_meta_data(ops, 0, "{\"transpose\":true}");
    devlog_op_set(ops, 0, &(devlog_op){.cores = 16});
    devlog_op_end(ops, b);
    devlog_signpost(ops, "middle", "of the test");
    devlog_op_end(ops, a);
    assert_int_equal(devlog_op_current(ops), 0);
    close_log(ops, &lines);

    assert_string_equal(text_of(lines.items[0], "e"), "run");
    const cJSON *start = find(&lines, "start", b);
    assert_string_equal(text_of(start, "name"), "Matmul, \"fast\"\n\xC3\xA4\xEF\xBF\xBD");
    assert_string_equal(text_of(start, "type"), "tt_dnn_device");
    assert_string_equal(text_of(start, "fidelity"), "HiFi3");
    assert_int_equal(number_of(start, "parent"), a);
    assert_int_equal(number_of(start, "depth"), 2);
    assert_int_equal(number_of(find(&lines, "start", a), "depth"), 1);
    assert_int_equal(number_of(find(&lines, "set", b), "cores"), 16);
    assert_string_equal(text_of(find(&lines, "in", b), "layout"), "TILE");
    assert_non_null(find(&lines, "out", a));
    assert_string_equal(text_of(find(&lines, "meta", b), "text"), "{\"transpose\":true}");
    assert_int_equal(number_of(find(&lines, "step", 0), "after"), 0);
    assert_int_equal(number_of(find(&lines, "signpost", 0), "after"), b);
    /* Time goes on, and an op's own cost lies within it. */
    double began = number_of(start, "t"), ended = number_of(find(&lines, "end", b), "t");
    double own = number_of(find(&lines, "end", b), "own"),
           outer_own = number_of(find(&lines, "end", a), "own");
    assert_true(number_of(find(&lines, "start", a), "t") <= began && began < ended);
    assert_true(own > 0 && own <= ended - began);
    assert_true(outer_own > own && outer_own <= number_of(find(&lines, "end", a), "t") -
                                                    number_of(find(&lines, "start", a), "t"));
    assert_int_equal(number_of(find(&lines, "close", 0), "ops"), 2);
    free_lines(&lines);
}

/* Ends in the wrong order, ends of ops that are not open, and ops that are never ended. */
static void wrong_ends_do_no_harm(void **state)
{
    (void)state;
    log_lines lines;
    devlog_ops *ops = open_log(test_folder());
    const devlog_op op = {.name = "op"};
    uint32_t a = devlog_op_start(ops, &op), b = devlog_op_start(ops, &op), c = devlog_op_start(ops, &op);
    devlog_op_end(ops, b);
    assert_int_equal(devlog_op_current(ops), c);
    devlog_op_end(ops, b);
    devlog_op_end(ops, 12345);
    devlog_op_end(ops, 0);
    devlog_op_end(ops, c);
    assert_int_equal(devlog_op_current(ops), a);
    for (uint32_t i = 0; i < 200; i++)
        devlog_op_end(ops, 1000 + i);
    assert_int_equal(devlog_op_current(ops), a);
    close_log(ops, &lines);
    assert_int_equal(lines.n, 1 + 3 + 204 + 1);
    free_lines(&lines);
}

enum { THREADS = 4, OPS_EACH = 100 };

typedef struct shared {
    devlog_ops *ops;
    uint32_t handed_over[THREADS];
    pthread_barrier_t barrier;
} shared;

typedef struct worker {
    shared *all;
    int index;
} worker;

static void *work(void *context)
{
    worker *w = context;
    devlog_ops *ops = w->all->ops;
    const devlog_op op = {.name = "threaded"};
    for (int i = 0; i < OPS_EACH; i++) {
        uint32_t a = devlog_op_start(ops, &op), b = devlog_op_start(ops, &op);
        if (devlog_op_current(ops) != b) return "the current op is another thread's";
        devlog_op_end(ops, b);
        devlog_op_end(ops, a);
    }
    w->all->handed_over[w->index] = devlog_op_start(ops, &op);
    pthread_barrier_wait(&w->all->barrier);
    devlog_op_end(ops, w->all->handed_over[(w->index + 1) % THREADS]); /* the neighbour's */
    pthread_barrier_wait(&w->all->barrier);
    return devlog_op_current(ops) == 0 ? NULL : "an op that another thread ended is still open";
}

static void threads_do_not_mix(void **state)
{
    (void)state;
    log_lines lines;
    shared all = {.ops = open_log(test_folder())};
    pthread_t threads[THREADS];
    worker workers[THREADS];
    pthread_barrier_init(&all.barrier, NULL, THREADS);
    for (int i = 0; i < THREADS; i++) {
        workers[i] = (worker){&all, i};
        assert_int_equal(pthread_create(&threads[i], NULL, work, &workers[i]), 0);
    }
    for (int i = 0; i < THREADS; i++) {
        void *wrong;
        pthread_join(threads[i], &wrong);
        if (wrong) fail_msg("%s", (char *)wrong);
    }
    pthread_barrier_destroy(&all.barrier);
    close_log(all.ops, &lines);
    /* Every line is whole (they were parsed), every op is there once, and nests within its thread only. */
    static bool seen[THREADS * (2 * OPS_EACH + 1) + 1];
    double thread_of[sizeof seen];
    int starts = 0;
    memset(seen, 0, sizeof seen);
    for (int i = 0; i < lines.n; i++) {
        if (strcmp(text_of(lines.items[i], "e"), "start") != 0) continue;
        uint32_t id = (uint32_t)number_of(lines.items[i], "id");
        assert_in_range(id, 1, sizeof seen - 1);
        assert_false(seen[id]);
        seen[id] = true;
        thread_of[id] = number_of(lines.items[i], "thread");
        double parent = number_of(lines.items[i], "parent");
        if (parent > 0) assert_true(thread_of[(uint32_t)parent] == thread_of[id]);
        starts++;
    }
    assert_int_equal(starts, sizeof seen - 1);
    free_lines(&lines);
}

static void off_is_nothing(void **state)
{
    (void)state;
    devlog_error err = {0};
    devlog_ops *ops = (devlog_ops *)&err;
    const char *folder = test_folder();
    char path[300];
    unsetenv("DEVLOG_OPS");
    unsetenv("TT_METAL_DEVICE_PROFILER");
    check_ok(devlog_ops_open(&(devlog_ops_options)DEVLOG_OPS_OPTIONS(.log_folder = folder), &ops, &err),
             &err);
    assert_null(ops);
    assert_int_equal(devlog_op_start(ops, &(devlog_op){.name = "op"}), 0);
    devlog_op_end(ops, 0);
    devlog_op_input(ops, 0, &(devlog_tensor){.w = 1});
    devlog_op_append_meta_data(ops, 0, "x");
    devlog_op_set(ops, 0, &(devlog_op){.name = "op"});
    devlog_signpost(ops, "a", "b");
    devlog_step(ops, 1, NULL);
    assert_int_equal(devlog_op_current(ops), 0);
    assert_int_equal(devlog_ops_run(ops), 0);
    assert_string_equal(devlog_ops_log(ops), "");
    check_ok(devlog_ops_close(ops, &err), &err);
    snprintf(path, sizeof path, "%s/profile_log_ops.jsonl", folder);
    assert_int_equal(open(path, O_RDONLY), -1);

    static const struct {
        const char *ops, *device;
        bool on;
    } cases[] = {{"1", NULL, true}, {"0", "1", false}, {NULL, "1", true}, {"", "0", false}};
    for (size_t i = 0; i < 4; i++) {
        unsetenv("DEVLOG_OPS");
        unsetenv("TT_METAL_DEVICE_PROFILER");
        if (cases[i].ops) setenv("DEVLOG_OPS", cases[i].ops, 1);
        if (cases[i].device) setenv("TT_METAL_DEVICE_PROFILER", cases[i].device, 1);
        check_ok(devlog_ops_open(&(devlog_ops_options)DEVLOG_OPS_OPTIONS(.log_folder = folder), &ops, &err),
                 &err);
        assert_int_equal(ops != NULL, cases[i].on);
        check_ok(devlog_ops_close(ops, &err), &err);
    }
    unsetenv("DEVLOG_OPS");
    unsetenv("TT_METAL_DEVICE_PROFILER");
}

static void what_cannot_be_written_is_counted(void **state)
{
    (void)state;
    devlog_error err = {0};
    devlog_ops *ops = NULL;
    assert_int_equal(devlog_ops_open(&(devlog_ops_options)DEVLOG_OPS_OPTIONS(.log_folder = "/dev/null/x",
                                                                             .profile = DEVLOG_ON),
                                     &ops, &err),
                     DEVLOG_ERR_IO);
    /* A full disk: the file may grow to 4 KiB. */
    const char *folder = test_folder();
    ops = open_log(folder);
    struct rlimit old, small = {4096, RLIM_INFINITY};
    getrlimit(RLIMIT_FSIZE, &old);
    small.rlim_max = old.rlim_max;
    sighandler_t handler = signal(SIGXFSZ, SIG_IGN);
    setrlimit(RLIMIT_FSIZE, &small);
    for (int i = 0; i < 100; i++)
        devlog_op_end(ops, devlog_op_start(ops, &(devlog_op){.name = "until the disk is full"}));
    setrlimit(RLIMIT_FSIZE, &old);
    signal(SIGXFSZ, handler);
    devlog_op_start(ops, &(devlog_op){.name = "there is room again"});
    char path[300];
    snprintf(path, sizeof path, "%s", devlog_ops_log(ops));
    assert_int_equal(devlog_ops_close(ops, &err), DEVLOG_ERR_PARTIAL);
    assert_non_null(strstr(err.text, "events of ops could not be written"));
    size_t size;
    char *text = read_bytes(path, &size);
    char *last = strstr(text, "there is room again"); /* on a line of its own, behind the cut one */
    assert_non_null(last);
    while (last > text && last[-1] != '\n')
        last--;
    assert_memory_equal(last, "{\"e\":\"start\"", 12);
    free(text);
}

/* The scoped guard, with all warnings, in every standard that its users may have. */
static void usable_from_cpp(void **state)
{
    (void)state;
    static const char program[] = "#include <devlog/devlog.h>\n"
                                  "int main() {\n"
                                  "  devlog::scoped_op outer(nullptr, \"outer\", DEVLOG_OP_TT_DNN_CPU);\n"
                                  "  devlog_op op = devlog_op(); op.name = \"inner\";\n"
                                  "  devlog::scoped_op inner(nullptr, op);\n"
                                  "  devlog_tensor t = devlog_tensor();\n"
                                  "  inner.input(t); inner.output(t); inner.append_meta_data(\"x\");\n"
                                  "  return static_cast<int>(inner.id());\n"
                                  "}\n";
    char source[300], include[600];
    snprintf(source, sizeof source, "%s/guard.cpp", test_folder());
    snprintf(include, sizeof include, "-I%s", source_path("include"));
    write_text(source, program);
    static const char *const standards[] = {"-std=c++11", "-std=c++17", "-std=c++20"};
    for (size_t i = 0; i < 3; i++) {
        const char *const argv[] = {"g++",        standards[i], "-fsyntax-only", "-Wall", "-Wextra",
                                    "-Wpedantic", "-Werror",    include,         source,  NULL};
        dl_output out;
        devlog_error err = {0};
        check_ok(dl_process_run(argv, &out, &err), &err);
        if (out.exit != 0) fail_msg("%s", out.text);
        free(out.text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_nested_op_is_written_whole),
        cmocka_unit_test(wrong_ends_do_no_harm),
        cmocka_unit_test(threads_do_not_mix),
        cmocka_unit_test(off_is_nothing),
        cmocka_unit_test(what_cannot_be_written_is_counted),
        cmocka_unit_test(usable_from_cpp),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
