/* Memory of host code (DEVLOG_HOST_ALLOC and its like of devlog/host.h): the curve of each pool is what was allocated, in order, whoever
 * did it; and what is freed wrongly is counted. What a Tracy library is told of it is test_outlets'. */
#define PROFILE_HOST 1
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "devlog/decode.h"
#include "devlog/host.h"

#include "support/cli.h"
#include "support/files.h"
#include "support/host_child.h"

enum { THREADS = 4, BLOCKS = 2000, STEP = 16 };

static char room[THREADS][BLOCKS * STEP]; /* whose addresses are the blocks */

static void *work(void *at)
{
    char *mine = at;
    for (int i = 0; i < BLOCKS; i++) {
        DEVLOG_HOST_ALLOC_N(mine + i * STEP, 16, "shared");
        if (i % 2) DEVLOG_HOST_FREE_N(mine + (i - 1) * STEP, "shared");
    }
    return NULL;
}

static void several_threads(void)
{
    pthread_t threads[THREADS];
    host_start(0, 0);
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, work, room[i]);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    for (int i = 0; i < THREADS; i++) /* by another thread, in another order */
        for (int k = BLOCKS - 1; k > 0; k -= 2)
            DEVLOG_HOST_FREE_N(&room[i][k * STEP], "shared");
    devlog_host_alloc(room[0], 1000, "heap"); /* by the functions, without a macro */
    devlog_host_alloc(room[1], 0, "heap");
    DEVLOG_HOST_ALLOC(NULL, 5);
    devlog_host_free(NULL, "heap");
    DEVLOG_HOST_FREE(room[1]);
}

/* Every step of a curve is one block up or down. */
static void check_steps(pid_t process, const char *name, uint64_t step)
{
    char path[128];
    const char *paths[] = {path};
    devlog_error err = {0};
    devlog_log *log;
    devlog_batch b;
    uint64_t live = 0, time = 0;
    snprintf(path, sizeof path, "%s/host_%ld.devlog", host_folder, (long)process);
    if (devlog_log_open(paths, 1, NULL, &log, &err)) fail_msg("%s", err.text);
    for (;;) {
        if (devlog_log_next(log, &b, &err)) fail_msg("%s", err.text);
        if (b.last) break;
        for (size_t i = 0; i < b.values.count; i++) {
            if (strcmp(devlog_log_zone(log, b.values.zone[i]).name, name) != 0) continue;
            if (b.values.data[i] != live + step && b.values.data[i] + step != live)
                fail_msg("%llu comes behind %llu", (unsigned long long)b.values.data[i],
                         (unsigned long long)live);
            assert_true(b.values.time[i] >= time);
            live = b.values.data[i];
            time = b.values.time[i];
        }
    }
    assert_int_equal(live, 0);
    devlog_log_close(log);
}

static void curves_are_what_is_allocated(void **state)
{
    (void)state;
    int how;
    char line[256];
    const pid_t p = host_run(several_threads, &how);
    assert_int_equal(how, 0);
    const host_found f = host_look(p, "shared");
    assert_int_equal(f.values, 2 * THREADS * BLOCKS);
    check_steps(p, "shared", 16);
    assert_int_equal(host_look(p, "heap").values, 3);
    assert_int_equal(host_look(p, "heap").last, 1000);
    assert_int_equal(host_findings(p, NULL), 0);
    static const char *const formats[] = {"chrome", "fxt", "perfetto", "sqlite", "csv"};
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
        size_t n;
        snprintf(line, sizeof line, "export -f %s -o %s/out %s/host_%ld.devlog", formats[i], host_folder,
                 host_folder, (long)p);
        free(devlog_ok(line, 0));
        snprintf(line, sizeof line, "%s/out", host_folder);
        char *text = read_bytes(line, &n);
        if (!memmem(text, n, "shared", 6) || !memmem(text, n, "memory", 6))
            fail_msg("%s has no memory", formats[i]);
        free(text);
        unlink(line);
    }
}

/* ---- What is done wrong --------------------------------------------------------------------------------- */

static void wrong(void)
{
    host_start(0, 0);
    for (int i = 0; i < 3; i++)
        DEVLOG_HOST_FREE(&room[0][i]); /* never allocated */
    DEVLOG_HOST_ALLOC(room[0], 100);
    DEVLOG_HOST_FREE_N(room[0], "another pool");
    DEVLOG_HOST_FREE(room[0]);
    for (int i = 0; i < 5; i++)
        DEVLOG_HOST_FREE(room[0]); /* free already */
    DEVLOG_HOST_ALLOC(room[0], 100);
    DEVLOG_HOST_ALLOC(room[0], 30); /* in its place */
    DEVLOG_HOST_ALLOC(room[0], 20);
}

static void wrong_frees_are_counted(void **state)
{
    (void)state;
    int how;
    char line[256];
    const pid_t p = host_run(wrong, &how);
    assert_int_equal(how, 0);
    assert_int_equal(host_findings(p, "host_memory"), 4 + 5 + 2);
    assert_int_equal(host_findings(p, NULL), 4 + 5 + 2);
    assert_int_equal(host_look(p, "heap").last, 20);
    snprintf(line, sizeof line, "decode --no-files %s/host_%ld.devlog", host_folder, (long)p);
    char *text = devlog_ok(line, 3);
    if (!strstr(text, "11  frees of host memory that was not allocated")) fail_msg("%s", text);
    assert_non_null(strstr(text, "frees of what was not allocated while it was recorded"));
    assert_non_null(strstr(text, "frees of what was free already"));
    assert_non_null(strstr(text, "blocks where another one was"));
    free(text);
}

static void many_blocks(void)
{
    enum { N = (1 << 20) + 1000 };
    devlog_error err = {0};
    const devlog_host_options o = DEVLOG_HOST_OPTIONS(.folder = host_folder, .wait_ms = 60000);
    char *base = NULL;
    if (devlog_host_start(&o, &err)) _exit(9);
    for (uintptr_t i = 1; i <= N; i++)
        DEVLOG_HOST_ALLOC(base + 16 * i, 1);
    for (uintptr_t i = 1; i <= N; i++)
        DEVLOG_HOST_FREE(base + 16 * i);
    for (int i = 0; i < 100; i++) {
        char name[16];
        snprintf(name, sizeof name, "pool %d", i);
        DEVLOG_HOST_ALLOC_N(room[0], 1, name);
    }
}

static void there_are_bounds(void **state)
{
    (void)state;
    int how;
    const pid_t p = host_run(many_blocks, &how);
    assert_int_equal(how, 0);
    assert_int_equal(host_look(p, "heap").values, 2 << 20);
    assert_int_equal(host_look(p, "heap").last, 0);
    assert_int_equal(host_look(p, "pool 62").values, 1); /* "heap" is one of 64 */
    assert_int_equal(host_look(p, "pool 63").values, 0);
    assert_int_equal(host_findings(p, "host_lost"), 1000 + 37);
    assert_int_equal(host_findings(p, NULL), 1000 + 37);
}

/* ---- Starts, stops, forks ------------------------------------------------------------------------------- */

static void goes_on(void)
{
    devlog_error err;
    int how;
    char path[128], text[32];
    host_start(0, 0);
    DEVLOG_HOST_ALLOC(room[0], 70);
    const pid_t child = fork();
    if (child == 0) {
        DEVLOG_HOST_FREE(room[0]); /* the child has it, too */
        DEVLOG_HOST_ALLOC(room[1], 7);
        exit(0);
    }
    if (waitpid(child, &how, 0) < 0 || how) _exit(3);
    snprintf(path, sizeof path, "%s/child", host_folder);
    snprintf(text, sizeof text, "%ld", (long)child);
    write_text(path, text);
    if (devlog_host_stop(&err)) _exit(2);
    DEVLOG_HOST_FREE(room[0]); /* nobody sees it */
    host_start(0, 0);
    DEVLOG_HOST_ALLOC(room[0], 9);
}

static void memory_goes_over_forks_and_not_over_stops(void **state)
{
    (void)state;
    int how;
    char path[128];
    size_t n;
    const pid_t p = host_run(goes_on, &how);
    assert_int_equal(how, 0);
    snprintf(path, sizeof path, "%s/child", host_folder);
    char *text = read_bytes(path, &n);
    const pid_t child = (pid_t)strtol(text, NULL, 10);
    free(text);
    assert_int_equal(host_look(p, "heap").total, 70 + 9);
    assert_int_equal(host_look(child, "heap").values, 2);
    assert_int_equal(host_look(child, "heap").total, 7);
    assert_int_equal(host_findings(p, NULL) + host_findings(child, NULL), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(curves_are_what_is_allocated),
        cmocka_unit_test(wrong_frees_are_counted),
        cmocka_unit_test(there_are_bounds),
        cmocka_unit_test(memory_goes_over_forks_and_not_over_stops),
    };
    return cmocka_run_group_tests(tests, host_make_folder, host_remove_folder);
}
