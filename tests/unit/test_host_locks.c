/* Locks of host code (DEVLOG_HOST_LOCK_* of devlog/host.h): who waited and who held is what the decoder, the report and exports say, and
 * what is done wrong with a lock is counted. What a Tracy library is told of them is test_outlets'. */
#define PROFILE_HOST 1
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "devlog/host.h"

#include "support/cli.h"
#include "support/files.h"
#include "support/host_child.h"

enum { THREADS = 4, ROUNDS = 500, MANY = 100 };

typedef struct guarded {
    pthread_mutex_t mutex;
    devlog_host_lock told;
} guarded;

static void take(guarded *g)
{
    DEVLOG_HOST_LOCK_BEFORE(g->told);
    pthread_mutex_lock(&g->mutex);
    DEVLOG_HOST_LOCK_AFTER(g->told);
}

static void give(guarded *g)
{
    pthread_mutex_unlock(&g->mutex);
    DEVLOG_HOST_LOCK_RELEASED(g->told);
}

static int try(guarded *g)
{
    const int taken = !pthread_mutex_trylock(&g->mutex);
    DEVLOG_HOST_LOCK_TRIED(g->told, taken);
    return taken;
}

static guarded jobs = {PTHREAD_MUTEX_INITIALIZER, DEVLOG_HOST_LOCK_INIT("jobs")};

static void *work(void *nothing)
{
    for (int i = 0; i < ROUNDS; i++) {
        take(&jobs);
        DEVLOG_HOST_BEGIN(longer, "longer than the lock is held");
        give(&jobs);
        DEVLOG_HOST_END(longer);
    }
    return nothing;
}

static void contended(void)
{
    pthread_t threads[THREADS];
    host_start(0, 0);
    /* By the functions, without a macro. */
    assert_int_equal(pthread_mutex_trylock(&jobs.mutex), 0);
    devlog_host_lock_tried(&jobs.told, 1);
    pthread_mutex_unlock(&jobs.mutex);
    devlog_host_lock_released(&jobs.told);
    devlog_host_lock_before(&jobs.told);
    pthread_mutex_lock(&jobs.mutex);
    devlog_host_lock_after(&jobs.told); /* all of them wait for it */
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, work, NULL);
    usleep(20000);
    give(&jobs);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    devlog_host_lock_end(&jobs.told);
    DEVLOG_HOST_LOCK_TERMINATE(jobs.told);
}

static void who_waits_and_who_holds_is_shown(void **state)
{
    (void)state;
    int how;
    char line[256], *text;
    const pid_t p = host_run(contended, &how);
    assert_int_equal(how, 0);
    host_found f = host_look(p, "hold jobs");
    assert_int_equal(f.zones, THREADS * ROUNDS + 2);
    assert_int_equal(f.streams, THREADS + 1);
    assert_non_null(strstr(f.file, "test_host_locks.c"));
    f = host_look(p, "wait jobs");
    assert_int_equal(f.zones, THREADS * ROUNDS + 1);
    assert_int_equal(host_look(p, "longer than the lock is held").zones, THREADS * ROUNDS);
    assert_int_equal(host_findings(p, NULL), 0);
    snprintf(line, sizeof line, "decode --no-files %s/host_%ld.devlog", host_folder, (long)p);
    text = devlog_ok(line, 0);
    assert_non_null(strstr(text, "wait jobs"));
    assert_non_null(strstr(text, "hold jobs"));
    free(text);
    static const char *const formats[] = {"chrome", "fxt", "perfetto", "sqlite"};
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
        size_t n;
        snprintf(line, sizeof line, "export -f %s -o %s/out %s/host_%ld.devlog", formats[i], host_folder,
                 host_folder, (long)p);
        free(devlog_ok(line, 0));
        snprintf(line, sizeof line, "%s/out", host_folder);
        text = read_bytes(line, &n);
        if (!memmem(text, n, "wait jobs", 9) || !memmem(text, n, "hold jobs", 9))
            fail_msg("%s has no locks", formats[i]);
        free(text);
        unlink(line);
    }
}

/* ---- Tries, locks in themselves, several -------------------------------------------------------------- */

static void *tries(void *g)
{
    if (try(g)) _exit(4);
    return NULL;
}

static void several(void)
{
    pthread_mutexattr_t attributes;
    guarded again = {.told = DEVLOG_HOST_LOCK_INIT("again")}, b = {.told = {0}};
    pthread_t thread;
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_RECURSIVE);
    pthread_mutex_init(&again.mutex, &attributes);
    pthread_mutex_init(&b.mutex, NULL);
    host_start(0, 0);
    DEVLOG_HOST_LOCK_ANNOUNCE(b.told, "b");
    take(&again);
    if (!try(&again)) _exit(5);
    take(&b);
    pthread_create(&thread, NULL, tries, &b);
    pthread_join(thread, NULL);
    give(&again); /* not the order in which they were taken */
    give(&b);
    give(&again);
    DEVLOG_HOST_LOCK_TERMINATE(b.told);
    DEVLOG_HOST_LOCK_ANNOUNCE(b.told, "another name");
    take(&b);
    give(&b);
    DEVLOG_HOST_LOCK_TERMINATE(b.told);
    DEVLOG_HOST_LOCK_TERMINATE(again.told);
}

static void locks_are_tried_and_taken_again(void **state)
{
    (void)state;
    int how;
    const pid_t p = host_run(several, &how);
    assert_int_equal(how, 0);
    assert_int_equal(host_look(p, "wait again").zones, 1);
    assert_int_equal(host_look(p, "hold again").zones, 2);
    assert_int_equal(host_look(p, "hold b").zones, 1); /* the try that failed is none */
    assert_int_equal(host_look(p, "hold another name").zones, 1);
    assert_int_equal(host_findings(p, NULL), 0);
}

/* ---- What is done wrong --------------------------------------------------------------------------------- */

static void *gives(void *g)
{
    give(g);
    return NULL;
}

static void elsewhere(void)
{
    pthread_t thread;
    guarded g = {PTHREAD_MUTEX_INITIALIZER, DEVLOG_HOST_LOCK_INIT("handed on")};
    host_start(0, 0);
    for (int i = 0; i < MANY; i++) { /* more often than a thread may hold locks */
        take(&g);
        pthread_create(&thread, NULL, gives, &g);
        pthread_join(thread, NULL);
    }
    take(&g);
    give(&g);
}

static void locks_that_another_thread_lets_go_are_counted(void **state)
{
    (void)state;
    int how;
    const pid_t p = host_run(elsewhere, &how);
    assert_int_equal(how, 0);
    assert_int_equal(host_look(p, "wait handed on").zones, MANY + 1);
    assert_int_equal(host_look(p, "hold handed on").zones, 1);
    assert_int_equal(host_findings(p, "unpaired_start"), MANY);
    assert_int_equal(host_findings(p, "unpaired_end"), MANY);
    assert_int_equal(host_findings(p, NULL), 2 * MANY);
}

static void too_many(void)
{
    static guarded all[MANY];
    host_start(0, 0);
    for (int i = 0; i < MANY; i++) {
        pthread_mutex_init(&all[i].mutex, NULL);
        DEVLOG_HOST_LOCK_ANNOUNCE(all[i].told, "one of many");
        take(&all[i]);
    }
    for (int i = 0; i < MANY; i++)
        give(&all[i]);
    for (int i = 0; i < MANY; i++)
        DEVLOG_HOST_LOCK_TERMINATE(all[i].told);
}

static void more_locks_than_a_thread_may_hold_are_counted(void **state)
{
    (void)state;
    int how;
    const pid_t p = host_run(too_many, &how);
    assert_int_equal(how, 0);
    const uint64_t held = host_look(p, "hold one of many").zones,
                   waited = host_look(p, "wait one of many").zones;
    assert_int_equal(held, 64);
    assert_int_equal(held + waited + host_findings(p, "host_lost"), 2 * MANY);
    assert_int_equal(host_findings(p, NULL), host_findings(p, "host_lost"));
}

static void over_the_ends(void)
{
    devlog_error err;
    guarded g = {PTHREAD_MUTEX_INITIALIZER, DEVLOG_HOST_LOCK_INIT("over")};
    pthread_mutex_lock(&g.mutex);
    host_start(0, 0);
    give(&g); /* it was taken before */
    take(&g);
    if (fork() == 0) {
        give(&g); /* of the parent's zone */
        take(&g);
        give(&g);
        DEVLOG_HOST_LOCK_TERMINATE(g.told);
        exit(0);
    }
    int how;
    if (wait(&how) < 0 || how) _exit(3);
    if (devlog_host_stop(&err)) _exit(2);
    give(&g);
    host_start(0, 0);
    take(&g);
    give(&g);
    take(&g);
    DEVLOG_HOST_LOCK_TERMINATE(g.told); /* it is held */
    give(&g);
    DEVLOG_HOST_LOCK_TERMINATE(g.told);
}

static void locks_go_over_starts_stops_and_forks(void **state)
{
    (void)state;
    int how;
    const pid_t p = host_run(over_the_ends, &how);
    assert_int_equal(how, 0);
    assert_int_equal(host_look(p, "hold over").zones, 1);
    assert_int_equal(host_findings(p, "unpaired_start"), 2); /* over the stop, and when the lock went */
    assert_int_equal(host_findings(p, NULL), 2);
}

/* Two threads meet a lock for the first time at once. */
static pthread_barrier_t gate;
static guarded fresh[200];

static void *meets(void *nothing)
{
    for (int i = 0; i < 200; i++) {
        pthread_barrier_wait(&gate);
        take(&fresh[i]);
        give(&fresh[i]);
    }
    return nothing;
}

static void at_once(void)
{
    pthread_t threads[THREADS];
    host_start(0, 0);
    pthread_barrier_init(&gate, NULL, THREADS);
    for (int i = 0; i < 200; i++) {
        pthread_mutex_init(&fresh[i].mutex, NULL);
        DEVLOG_HOST_LOCK_ANNOUNCE(fresh[i].told, "fresh");
    }
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, meets, NULL);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    for (int i = 0; i < 200; i++)
        DEVLOG_HOST_LOCK_TERMINATE(fresh[i].told);
}

static void locks_are_met_by_many_at_once(void **state)
{
    (void)state;
    int how;
    const pid_t p = host_run(at_once, &how);
    assert_int_equal(how, 0);
    assert_int_equal(host_look(p, "hold fresh").zones, 200 * THREADS);
    assert_int_equal(host_look(p, "wait fresh").zones, 200 * THREADS);
    assert_int_equal(host_findings(p, NULL), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(who_waits_and_who_holds_is_shown),
        cmocka_unit_test(locks_are_tried_and_taken_again),
        cmocka_unit_test(locks_that_another_thread_lets_go_are_counted),
        cmocka_unit_test(more_locks_than_a_thread_may_hold_are_counted),
        cmocka_unit_test(locks_go_over_starts_stops_and_forks),
        cmocka_unit_test(locks_are_met_by_many_at_once),
    };
    return cmocka_run_group_tests(tests, host_make_folder, host_remove_folder);
}
