/* Zones of host code (devlog/host.h): what programs of several threads record is what the decoder says, and what is not in
 * the file is counted. Each program is a child of this one, because a process has one recorder. Not for what zones cost
 * (bench/host_zones). */
#define PROFILE_HOST 1
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "devlog/decode.h"
#include "devlog/host.h"

#include "support/cli.h"
#include "support/files.h"

static char folder[64];

static int make_folder(void **state)
{
    (void)state;
    strcpy(folder, "/tmp/host_zones_XXXXXX");
    return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state)
{
    (void)state;
    char line[128];
    snprintf(line, sizeof line, "rm -rf '%s'", folder);
    return system(line); /* NOLINT(cert-env33-c) */
}

static void start(uint32_t ring, uint32_t threads)
{
    devlog_error err = {0};
    const devlog_host_options o = DEVLOG_HOST_OPTIONS(.folder = folder, .ring = ring, .threads = threads);
    if (devlog_host_start(&o, &err)) {
        fprintf(stderr, "%s\n", err.text);
        _exit(9);
    }
}

/* Runs a program in a child, which may end as it likes; returns its number, and how it ended. */
static pid_t run(void (*program)(void), int *how)
{
    pid_t child = fork();
    if (child == 0) {
        program();
        exit(0);
    }
    assert_true(child > 0);
    assert_int_equal(waitpid(child, how, 0), child);
    return child;
}

static devlog_log *open_log(pid_t process)
{
    char path[128];
    const char *paths[] = {path};
    devlog_error err = {0};
    devlog_log *log;
    snprintf(path, sizeof path, "%s/host_%ld.devlog", folder, (long)process);
    if (devlog_log_open(paths, 1, NULL, &log, &err)) fail_msg("%s", err.text);
    return log;
}

/* What a log holds of one name. */
typedef struct found {
    uint64_t zones, values, total, least_depth, most_depth, shortest;
    char text[64], file[64];
    uint32_t line, streams;
} found;

static found look(pid_t process, const char *name)
{
    devlog_error err = {0};
    devlog_batch b;
    found f = {.least_depth = UINT64_MAX, .shortest = UINT64_MAX};
    bool seen[2048] = {false};
    devlog_log *log = open_log(process);
    for (;;) {
        if (devlog_log_next(log, &b, &err)) fail_msg("%s", err.text);
        if (b.last) break;
        for (size_t i = 0; i < b.zones.count; i++) {
            const devlog_zone z = devlog_log_zone(log, b.zones.zone[i]);
            if (strcmp(z.name, name) != 0) continue;
            const uint64_t took = b.zones.end[i] - b.zones.start[i], depth = b.zones.depth[i];
            assert_true(b.zones.end[i] >= b.zones.start[i] && b.zones.launch[i] == DEVLOG_NO_LAUNCH);
            f.zones++;
            f.line = z.line;
            snprintf(f.file, sizeof f.file, "%s", z.file);
            if (took < f.shortest) f.shortest = took;
            if (depth < f.least_depth) f.least_depth = depth;
            if (depth > f.most_depth) f.most_depth = depth;
            f.streams += !seen[b.zones.stream[i]];
            seen[b.zones.stream[i]] = true;
        }
        for (size_t i = 0; i < b.values.count; i++) {
            if (strcmp(devlog_log_zone(log, b.values.zone[i]).name, name) != 0) continue;
            f.values++;
            f.total += b.values.data[i];
            snprintf(f.text, sizeof f.text, "%s", devlog_log_text(log, b.values.text[i]));
        }
    }
    devlog_log_close(log);
    return f;
}

/* How often a finding is met; all of them without a key. */
static uint64_t findings(pid_t process, const char *key)
{
    devlog_error err = {0};
    uint64_t n = 0;
    devlog_log *log = open_log(process);
    if (devlog_log_finish(log, &err)) fail_msg("%s", err.text);
    for (size_t i = 0; i < devlog_log_findings(log); i++) {
        const devlog_finding f = devlog_log_finding(log, i);
        if (!key || strcmp(f.key, key) == 0) n += f.count;
    }
    assert_true(key || devlog_log_complete(log) == (n == 0));
    devlog_log_close(log);
    return n;
}

/* ---- What is recorded ---------------------------------------------------------------------------------- */

static void leaf(int i)
{
    DEVLOG_HOST_FUNCTION();
    DEVLOG_HOST_VALUE("i", i);
}

static void *work(void *nothing)
{
    DEVLOG_HOST_THREAD("worker, one of four");
    for (int i = 0; i < 5000; i++) {
        DEVLOG_HOST_ZONE("work");
        leaf(i);
    }
    return nothing;
}

static void wait_ns(long ns)
{
    nanosleep(&(struct timespec){.tv_nsec = ns}, NULL);
}

static void everything(void)
{
    pthread_t threads[4];
    start(0, 0);
    DEVLOG_HOST_ZONE("all, \"of\" it; \xff");
    for (int i = 0; i < 4; i++)
        pthread_create(&threads[i], NULL, work, NULL);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    {
        DEVLOG_HOST_ZONE("BRISC-FW");
        DEVLOG_HOST_ZONE("sleeps");
        wait_ns(3000000);
    }
    DEVLOG_HOST_BEGIN(zone, "explicit");
    DEVLOG_HOST_MESSAGE("a, b; \"c\"\n");
    DEVLOG_HOST_END(zone);
    for (int i = 0; i < 7; i++)
        DEVLOG_HOST_FRAME("step");
    static char name[10 << 20];
    memset(name, 'n', sizeof name - 1);
    devlog_host_site *long_one = devlog_host_named(name, sizeof name, NULL, __FILE__, 1);
    devlog_host_value(long_one, 1);
    if (devlog_host_named(name, sizeof name, NULL, __FILE__, 1) != long_one) _exit(8);
    if (devlog_host_named(name, sizeof name, NULL, __FILE__, 2) == long_one) _exit(8);
    DEVLOG_HOST_MESSAGE(name);
    /* Without the macros, as another language would. */
    devlog_host_site *direct = devlog_host_named("direct", 6, "f", "file.py", 12);
    devlog_host_zone open = {0};
    devlog_host_thread("renamed");
    devlog_host_begin(&open, direct);
    devlog_host_message(direct, "within", 6);
    devlog_host_end(&open);
    devlog_host_end(&open);
}

static void what_is_recorded_is_what_is_decoded(void **state)
{
    (void)state;
    int how;
    const pid_t p = run(everything, &how);
    assert_int_equal(how, 0);
    found f = look(p, "work");
    assert_int_equal(f.zones, 20000);
    assert_int_equal(f.streams, 4);
    assert_int_equal(f.most_depth, 0);
    assert_non_null(strstr(f.file, "test_host_zones.c"));
    f = look(p, "leaf");
    assert_int_equal(f.zones, 20000);
    assert_int_equal(f.least_depth, 1);
    f = look(p, "i");
    assert_int_equal(f.values, 20000);
    assert_int_equal(f.total, 4u * 5000 * 4999 / 2);
    f = look(p, "sleeps");
    assert_int_equal(f.zones, 1);
    assert_true(f.shortest >= 2990000); /* the two clocks may differ a little */
    assert_int_equal(look(p, "BRISC-FW (host)").zones, 1);
    f = look(p, "explicit");
    assert_int_equal(f.zones, 1);
    assert_int_equal(f.most_depth, 1);
    f = look(p, "direct");
    assert_int_equal(f.zones, 1);
    assert_int_equal(f.values, 1);
    assert_string_equal(f.file, "file.py");
    assert_int_equal(f.line, 12);
    f = look(p, "step");
    assert_int_equal(f.values, 7);
    assert_int_equal(look(p, "all, \"of\" it; \xff").zones, 1);
    f = look(p, "message");
    assert_int_equal(f.values, 2);
    assert_int_equal(findings(p, NULL), 0);
}

static void nothing_is_left_when_it_is_off(void **state)
{
    (void)state;
    char path[128];
    devlog_host_zone zone = {0};
    DEVLOG_HOST_ZONE("never");
    devlog_host_end(&zone);
    assert_int_equal(DEVLOG_HOST_IS_ON(), 0);
    snprintf(path, sizeof path, "%s/host_%ld.devlog", folder, (long)getpid());
    assert_int_equal(access(path, F_OK), -1);
    devlog_error err = {0};
    assert_int_equal(devlog_host_stop(&err), DEVLOG_OK);
    assert_int_equal(
        devlog_host_start(&(devlog_host_options){.size = sizeof(devlog_host_options), .ring = 100}, &err),
        DEVLOG_ERR_ARGUMENT);
    assert_non_null(strstr(err.text, "power of two"));
    assert_int_equal(devlog_host_start(&(devlog_host_options){.ring = 128}, &err), DEVLOG_ERR_ARGUMENT);
}

/* ---- What is lost --------------------------------------------------------------------------------------- */

enum { TIGHT = 200000 };

static void too_fast(void)
{
    start(64, 0);
    DEVLOG_HOST_ZONE("outer");
    for (int i = 0; i < TIGHT; i++) {
        DEVLOG_HOST_ZONE("tight");
        DEVLOG_HOST_ZONE("in it");
    }
}

static void what_finds_no_room_is_counted(void **state)
{
    (void)state;
    int how;
    const pid_t p = run(too_fast, &how);
    assert_int_equal(how, 0);
    const uint64_t kept = look(p, "tight").zones + look(p, "in it").zones, lost = findings(p, "host_lost");
    assert_true(lost > 0);
    assert_int_equal(kept + lost, 2 * TIGHT); /* a zone that finds no room is one record that is lost */
    assert_int_equal(look(p, "outer").zones, 1);
    assert_int_equal(findings(p, "unpaired_start") + findings(p, "unpaired_end"), 0);
}

static void patient(void)
{
    devlog_error err = {0};
    const devlog_host_options o = DEVLOG_HOST_OPTIONS(.folder = folder, .ring = 64, .wait_ms = 60000);
    if (devlog_host_start(&o, &err)) _exit(9);
    for (int i = 0; i < 5000; i++) {
        DEVLOG_HOST_ZONE("patient");
        DEVLOG_HOST_VALUE("number", i);
    }
}

static void who_waits_for_room_loses_nothing(void **state)
{
    (void)state;
    int how;
    const pid_t p = run(patient, &how);
    assert_int_equal(how, 0);
    assert_int_equal(look(p, "patient").zones, 5000);
    assert_int_equal(look(p, "number").total, 5000u * 4999 / 2);
    assert_int_equal(findings(p, NULL), 0);
}

static void *one_zone(void *nothing)
{
    DEVLOG_HOST_ZONE("one");
    wait_ns(1000000);
    return nothing;
}

static void many_threads(void)
{
    enum { N = 300 };
    static pthread_t threads[N];
    start(64, 100);
    for (int i = 0; i < N; i++)
        if (pthread_create(&threads[i], NULL, one_zone, NULL)) _exit(7);
    for (int i = 0; i < N; i++)
        pthread_join(threads[i], NULL);
}

static void threads_beyond_the_limit_are_counted(void **state)
{
    (void)state;
    int how;
    const pid_t p = run(many_threads, &how);
    assert_int_equal(how, 0);
    const found f = look(p, "one");
    assert_true(f.zones >= 100);
    assert_int_equal(f.zones + findings(p, "host_lost"), 300);
    assert_int_equal(f.streams, f.zones);
}

static void killed(void)
{
    start(0, 0);
    DEVLOG_HOST_ZONE("never ends");
    for (int i = 0; i < 100; i++) {
        DEVLOG_HOST_ZONE("before");
    }
    wait_ns(300000000);
    kill(getpid(), SIGKILL);
}

static void a_killed_program_leaves_what_it_wrote(void **state)
{
    (void)state;
    int how;
    const pid_t p = run(killed, &how);
    assert_true(WIFSIGNALED(how));
    assert_int_equal(look(p, "before").zones, 100);
    assert_int_equal(findings(p, "not_closed"), 1);
    assert_int_equal(findings(p, "unpaired_start"), 1);
}

static void full_disk(void)
{
    devlog_error err = {0};
    signal(SIGXFSZ, SIG_IGN);
    setrlimit(RLIMIT_FSIZE, &(struct rlimit){5000, 5000});
    start(0, 0);
    for (int i = 0; i < 400; i++) {
        char name[64];
        DEVLOG_HOST_ZONE("zone");
        snprintf(name, sizeof name, "%d", i * 7919);
        DEVLOG_HOST_MESSAGE(name);
        wait_ns(1000000);
    }
    devlog_status status = devlog_host_stop(&err);
    fprintf(stderr, "%s\n", err.text);
    _exit(status == DEVLOG_ERR_IO && strstr(err.text, "recording stopped there") ? 0 : 6);
}

static void a_full_disk_is_told(void **state)
{
    (void)state;
    int how;
    const pid_t p = run(full_disk, &how);
    assert_int_equal(how, 0);
    assert_true(look(p, "zone").zones > 0);
    assert_int_equal(findings(p, "not_closed"), 1);
}

/* ---- Zones on the wrong thread, forks ------------------------------------------------------------------- */

static void *ends(void *zone)
{
    devlog_host_end(zone);
    return NULL;
}

static void elsewhere(void)
{
    pthread_t thread;
    start(0, 0);
    DEVLOG_HOST_BEGIN(zone, "handed on");
    pthread_create(&thread, NULL, ends, &zone);
    pthread_join(thread, NULL);
}

static void zones_that_end_on_another_thread_are_told(void **state)
{
    (void)state;
    int how;
    const pid_t p = run(elsewhere, &how);
    assert_int_equal(how, 0);
    assert_int_equal(look(p, "handed on").zones, 0);
    assert_int_equal(findings(p, "unpaired_start"), 1);
    assert_int_equal(findings(p, "unpaired_end"), 1);
}

static void forks(void)
{
    char path[128], text[32];
    start(0, 0);
    DEVLOG_HOST_ZONE("of both");
    {
        DEVLOG_HOST_ZONE("before");
    }
    pid_t child = fork();
    if (child == 0) {
        {
            DEVLOG_HOST_ZONE("of the child");
        }
        exit(0);
    }
    waitpid(child, NULL, 0);
    snprintf(path, sizeof path, "%s/child", folder);
    snprintf(text, sizeof text, "%ld", (long)child);
    write_text(path, text);
}

static void a_forked_child_has_a_file_of_its_own(void **state)
{
    (void)state;
    int how;
    char path[128];
    size_t n;
    const pid_t parent = run(forks, &how);
    assert_int_equal(how, 0);
    snprintf(path, sizeof path, "%s/child", folder);
    char *text = read_bytes(path, &n);
    const pid_t child = (pid_t)strtol(text, NULL, 10);
    free(text);
    assert_int_equal(look(parent, "before").zones, 1);
    assert_int_equal(look(parent, "of both").zones, 1);
    assert_int_equal(look(parent, "of the child").zones, 0);
    assert_int_equal(look(child, "of the child").zones, 1);
    assert_int_equal(look(child, "before").zones + look(child, "of both").zones, 0);
    assert_int_equal(findings(parent, NULL) + findings(child, NULL), 0);
}

static void forks_of_forks(void)
{
    int how;
    start(0, 0);
    {
        DEVLOG_HOST_ZONE("first");
    }
    if (fork() == 0) {
        {
            DEVLOG_HOST_ZONE("second");
        }
        if (fork() == 0) {
            {
                DEVLOG_HOST_ZONE("third");
            }
            exit(0); /* what leaks is looked for */
        }
        if (wait(&how) < 0) _exit(7);
        exit(how ? 8 : 0);
    }
    if (wait(&how) < 0) _exit(7);
    exit(how ? 8 : 0);
}

static void rings_of_all_ancestors_stay_known(void **state)
{
    (void)state;
    int how;
    const pid_t p = run(forks_of_forks, &how);
    assert_int_equal(how, 0);
    assert_int_equal(look(p, "first").zones, 1);
}

static void stops_and_starts(void)
{
    devlog_error err = {0};
    start(0, 0);
    DEVLOG_HOST_BEGIN(over, "over the stop");
    {
        DEVLOG_HOST_ZONE("first");
    }
    if (devlog_host_stop(&err)) _exit(5);
    {
        DEVLOG_HOST_ZONE("between");
    }
    start(0, 0);
    DEVLOG_HOST_END(over);
    {
        DEVLOG_HOST_ZONE("second");
    }
}

static void recording_may_stop_and_go_on(void **state)
{
    (void)state;
    int how;
    const pid_t p = run(stops_and_starts, &how);
    assert_int_equal(how, 0);
    assert_int_equal(look(p, "first").zones, 1);
    assert_int_equal(look(p, "second").zones, 1);
    assert_int_equal(look(p, "between").zones, 0);
    assert_int_equal(findings(p, "unpaired_start"), 1); /* over the stop */
    assert_int_equal(findings(p, NULL), 1);
}

/* ---- The tables ------------------------------------------------------------------------------------------ */

static void the_program_shows_processes_and_threads(void **state)
{
    (void)state;
    int how;
    char path[128], title[64], line[256];
    const pid_t p = run(everything, &how);
    snprintf(path, sizeof path, "%s/host_%ld.devlog", folder, (long)p);
    snprintf(title, sizeof title, ", process %ld (host", (long)p);
    snprintf(line, sizeof line, "decode --no-files %s", path);
    char *text = devlog_ok(line, 0);
    assert_non_null(strstr(text, title));
    assert_non_null(strstr(text, "worker_ one of"));
    assert_non_null(strstr(text, "Nothing was lost."));
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_recorded_is_what_is_decoded),
        cmocka_unit_test(nothing_is_left_when_it_is_off),
        cmocka_unit_test(what_finds_no_room_is_counted),
        cmocka_unit_test(who_waits_for_room_loses_nothing),
        cmocka_unit_test(threads_beyond_the_limit_are_counted),
        cmocka_unit_test(a_killed_program_leaves_what_it_wrote),
        cmocka_unit_test(a_full_disk_is_told),
        cmocka_unit_test(zones_that_end_on_another_thread_are_told),
        cmocka_unit_test(a_forked_child_has_a_file_of_its_own),
        cmocka_unit_test(rings_of_all_ancestors_stay_known),
        cmocka_unit_test(recording_may_stop_and_go_on),
        cmocka_unit_test(the_program_shows_processes_and_threads),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
