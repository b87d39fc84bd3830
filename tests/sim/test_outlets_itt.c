/* What DEVLOG_HOST=itt hands to an ITT collector, here one of our own that writes down its calls (itt/collector.c): tasks by name and in
 * pairs, values, texts, names of threads and locks, as many as the file has. Where Intel's header and library are not, the outlet stands on
 * our own declarations of them (itt/ittnotify.h). The recorder reads its environment when a program begins, so each part is this program run
 * again. Not VTune. */
#define PROFILE_HOST 1
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "devlog/host.h"

#include "support/cli.h"
#include "support/outlet_run.h"

enum { THREADS = 4, ROUNDS = 25, NAMES = 24100, CAP = 24000 };

/* ---- The parts --- */

static devlog_host_lock told = DEVLOG_HOST_LOCK_INIT("jobs"), odd = DEVLOG_HOST_LOCK_INIT("odd");
static pthread_mutex_t jobs = PTHREAD_MUTEX_INITIALIZER;

static void *work(void *nothing)
{
    DEVLOG_HOST_THREAD("worker");
    for (int i = 0; i < ROUNDS; i++) {
        DEVLOG_HOST_ZONE("outer");
        DEVLOG_HOST_VALUE("queue", i);
        {
            DEVLOG_HOST_ZONE("inner");
            DEVLOG_HOST_MESSAGE("said");
        }
        DEVLOG_HOST_BEGIN(first, "first"); /* these two overlap */
        DEVLOG_HOST_BEGIN(second, "second");
        DEVLOG_HOST_END(first);
        DEVLOG_HOST_END(second);
        DEVLOG_HOST_LOCK_BEFORE(told);
        pthread_mutex_lock(&jobs);
        DEVLOG_HOST_LOCK_AFTER(told);
        pthread_mutex_unlock(&jobs);
        DEVLOG_HOST_LOCK_RELEASED(told);
    }
    return nothing;
}

static void *releases(void *nothing)
{
    DEVLOG_HOST_LOCK_RELEASED(odd);
    return nothing;
}

static void part_all(void)
{
    static char block[2];
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, work, NULL);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    DEVLOG_HOST_LOCK_TRIED(told, 0);
    DEVLOG_HOST_LOCK_TRIED(told, 1);
    DEVLOG_HOST_LOCK_RELEASED(told);
    DEVLOG_HOST_LOCK_TERMINATE(told);
    DEVLOG_HOST_LOCK_BEFORE(odd);
    DEVLOG_HOST_LOCK_AFTER(odd);
    pthread_create(&threads[0], NULL, releases, NULL);
    pthread_join(threads[0], NULL);
    DEVLOG_HOST_ALLOC_N(&block[0], 100, "pool");
    DEVLOG_HOST_ALLOC_N(&block[1], 200, "pool");
    DEVLOG_HOST_FREE_N(&block[0], "pool");
    if (fork() == 0) { /* which tells the collector nothing */
        {
            DEVLOG_HOST_ZONE("child");
        }
        exit(0);
    }
    wait(NULL);
}

static void part_cap(void)
{
    for (int i = 0; i < NAMES; i++) {
        char name[16];
        snprintf(name, sizeof name, "name %d", i);
        devlog_host_zone zone = {0};
        devlog_host_begin(&zone, devlog_host_named(name, strlen(name), NULL, __FILE__, 1));
        devlog_host_end(&zone);
    }
}

/* ---- What the collector was told --- */

static outcome run_itt(const char *part, const char *outlets_wanted)
{
    char environment[400], path[128];
    snprintf(environment, sizeof environment, "%s INTEL_ITTNOTIFY_GROUPS=all INTEL_LIBITTNOTIFY64=%s",
             outlets_wanted, ITT_COLLECTOR);
    outcome o = run_with(part, environment);
    snprintf(path, sizeof path, "%s/itt", o.folder);
    size_t n;
    free(o.calls);
    o.calls = access(path, R_OK) ? strdup("") : read_bytes(path, &n);
    return o;
}

/* A task ends on the thread where it began, and no thread ends more than it began. */
static void check_pairs(const char *calls)
{
    enum { MOST = 64 };
    struct {
        long thread, open;
    } threads[MOST] = {{0, 0}};
    for (const char *line = calls; *line; line = strchr(line, '\n') + 1) {
        long thread;
        const int begins = sscanf(line, "begin %ld ", &thread) == 1;
        if (!begins && sscanf(line, "end %ld", &thread) != 1) continue;
        unsigned t = 0;
        while (threads[t].thread && threads[t].thread != thread)
            assert_true(++t < MOST);
        threads[t].thread = thread;
        threads[t].open += begins ? 1 : -1;
        assert_true(threads[t].open >= 0);
    }
    for (unsigned t = 0; t < MOST; t++)
        assert_int_equal(threads[t].open, 0);
}

static void all_is_told(void **state)
{
    (void)state;
    outcome o = run_itt("all", "DEVLOG_HOST=tracy,itt");
    enum { ALL = THREADS * ROUNDS };
    static const struct {
        const char *what;
        uint32_t n;
    } wanted[] = {{"domain devlog\n", 1},
                  {"begin ", 4 * ALL}, /* locks are not tasks, too */
                  {"end ", 4 * ALL},
                  {" outer\n", ALL},
                  {" inner\n", ALL},
                  {" first\n", ALL},
                  {" second\n", ALL},
                  {" queue 24\n", THREADS},
                  {"value ", ALL + 3},
                  {" pool 300\n", 1},
                  {" pool 200\n", 1},
                  {" message said\n", ALL},
                  {" worker\n", THREADS},
                  {" created lock jobs 2\n", 1},
                  {" created lock odd 2\n", 1},
                  {" prepare ", ALL + 1},
                  {" acquired ", ALL + 2},
                  {" releasing ", ALL + 1},
                  {" destroyed\n", 1},
                  {"child", 0},
                  {"(none)", 0},
                  {"(of what?)", 0}};
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++)
        if (text_count(o.calls, wanted[i].what) != wanted[i].n)
            fail_msg("'%s' came %u times, not %u: %s", wanted[i].what, text_count(o.calls, wanted[i].what),
                     wanted[i].n, o.said);
    check_pairs(o.calls);
    drop(&o);
}

/* Names beyond those that outlets know have one, and what the file has of each name the collector has, too. */
static void names_beyond_the_cap_have_one(void **state)
{
    (void)state;
    outcome o = run_itt("cap", "DEVLOG_HOST=itt");
    assert_int_equal(text_count(o.calls, "begin "), NAMES);
    assert_int_equal(text_count(o.calls, "end "), NAMES);
    assert_int_equal(text_count(o.calls, "(none)"), 0);
    assert_int_equal(text_count(o.calls, " name 23999\n"), 1);
    assert_int_equal(text_count(o.calls, " name 24000\n"), 0);
    assert_int_equal(text_count(o.calls, " zones beyond the first 24000 names\n"), NAMES - CAP);
    assert_non_null(strstr(o.said, "100 zones went out without their names: there are more than 24000"));
    check_pairs(o.calls);
    drop(&o);
}

static void without_a_collector_the_file_is_written(void **state)
{
    (void)state;
    outcome o = run_with("all", "DEVLOG_HOST=itt INTEL_LIBITTNOTIFY64=/nothing/collector.so");
    char line[300];
    snprintf(line, sizeof line, "decode --no-files %s/host_*.devlog", o.folder);
    char *text = devlog_ok(line, 3); /* the lock that was let go elsewhere */
    assert_non_null(strstr(text, "outer"));
    free(text);
    drop(&o);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_is_told),
        cmocka_unit_test(names_beyond_the_cap_have_one),
        cmocka_unit_test(without_a_collector_the_file_is_written),
    };
    if (argc < 3) return cmocka_run_group_tests(tests, NULL, NULL);
    if (!strcmp(argv[1], "all")) part_all();
    if (!strcmp(argv[1], "cap")) part_cap();
    return 0;
}
