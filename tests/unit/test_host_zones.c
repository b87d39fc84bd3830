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
#include "support/host_child.h"

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
    host_start(0, 0);
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
    const pid_t p = host_run(everything, &how);
    assert_int_equal(how, 0);
    host_found f = host_look(p, "work");
    assert_int_equal(f.zones, 20000);
    assert_int_equal(f.streams, 4);
    assert_int_equal(f.most_depth, 0);
    assert_non_null(strstr(f.file, "test_host_zones.c"));
    f = host_look(p, "leaf");
    assert_int_equal(f.zones, 20000);
    assert_int_equal(f.least_depth, 1);
    f = host_look(p, "i");
    assert_int_equal(f.values, 20000);
    assert_int_equal(f.total, 4u * 5000 * 4999 / 2);
    f = host_look(p, "sleeps");
    assert_int_equal(f.zones, 1);
    assert_true(f.shortest >= 2990000); /* the two clocks may differ a little */
    assert_int_equal(host_look(p, "BRISC-FW (host)").zones, 1);
    f = host_look(p, "explicit");
    assert_int_equal(f.zones, 1);
    assert_int_equal(f.most_depth, 1);
    f = host_look(p, "direct");
    assert_int_equal(f.zones, 1);
    assert_int_equal(f.values, 1);
    assert_string_equal(f.file, "file.py");
    assert_int_equal(f.line, 12);
    f = host_look(p, "step");
    assert_int_equal(f.values, 7);
    assert_int_equal(host_look(p, "all, \"of\" it; \xff").zones, 1);
    f = host_look(p, "message");
    assert_int_equal(f.values, 2);
    assert_int_equal(host_findings(p, NULL), 0);
}

static void nothing_is_left_when_it_is_off(void **state)
{
    (void)state;
    char path[128];
    devlog_host_zone zone = {0};
    DEVLOG_HOST_ZONE("never");
    devlog_host_end(&zone);
    assert_int_equal(DEVLOG_HOST_IS_ON(), 0);
    snprintf(path, sizeof path, "%s/host_%ld.devlog", host_folder, (long)getpid());
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
    host_start(64, 0);
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
    const pid_t p = host_run(too_fast, &how);
    assert_int_equal(how, 0);
    const uint64_t kept = host_look(p, "tight").zones + host_look(p, "in it").zones,
                   lost = host_findings(p, "host_lost");
    assert_true(lost > 0);
    assert_int_equal(kept + lost, 2 * TIGHT); /* a zone that finds no room is one record that is lost */
    assert_int_equal(host_look(p, "outer").zones, 1);
    assert_int_equal(host_findings(p, "unpaired_start") + host_findings(p, "unpaired_end"), 0);
}

static void patient(void)
{
    devlog_error err = {0};
    const devlog_host_options o = DEVLOG_HOST_OPTIONS(.folder = host_folder, .ring = 64, .wait_ms = 60000);
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
    const pid_t p = host_run(patient, &how);
    assert_int_equal(how, 0);
    assert_int_equal(host_look(p, "patient").zones, 5000);
    assert_int_equal(host_look(p, "number").total, 5000u * 4999 / 2);
    assert_int_equal(host_findings(p, NULL), 0);
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
    host_start(64, 100);
    for (int i = 0; i < N; i++)
        if (pthread_create(&threads[i], NULL, one_zone, NULL)) _exit(7);
    for (int i = 0; i < N; i++)
        pthread_join(threads[i], NULL);
}

static void threads_beyond_the_limit_are_counted(void **state)
{
    (void)state;
    int how;
    const pid_t p = host_run(many_threads, &how);
    assert_int_equal(how, 0);
    const host_found f = host_look(p, "one");
    assert_true(f.zones >= 100);
    assert_int_equal(f.zones + host_findings(p, "host_lost"), 300);
    assert_int_equal(f.streams, f.zones);
}

static void killed(void)
{
    host_start(0, 0);
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
    const pid_t p = host_run(killed, &how);
    assert_true(WIFSIGNALED(how));
    assert_int_equal(host_look(p, "before").zones, 100);
    assert_int_equal(host_findings(p, "not_closed"), 1);
    assert_int_equal(host_findings(p, "unpaired_start"), 1);
}

static void talks(void)
{
    host_start(0, 0);
    DEVLOG_HOST_ZONE("says");
    DEVLOG_HOST_MESSAGE("ready, \"set\"");
    DEVLOG_HOST_MESSAGE("go");
}

/* Texts are where the program prints what it decoded, not in exports alone. */
static void texts_are_in_tables(void **state)
{
    (void)state;
    int how;
    char line[256];
    const pid_t p = host_run(talks, &how);
    assert_int_equal(how, 0);
    static const struct {
        const char *format, *first, *second;
    } shown[] = {{"text", "ready, \"set\"\n", "go\n"},
                 {"json", "\"text\": \"ready, \\\"set\\\"\"}", "\"text\": \"go\"}"},
                 {"csv", "\"ready, \"\"set\"\"\"", ",go"}};
    for (size_t i = 0; i < sizeof shown / sizeof shown[0]; i++) {
        snprintf(line, sizeof line, "decode --no-files --format %s %s/host_%ld.devlog", shown[i].format,
                 host_folder, (long)p);
        char *said = devlog_ok(line, 0);
        const char *first = strstr(said, shown[i].first);
        assert_non_null(first);
        assert_non_null(strstr(first, shown[i].second));
        if (i == 0) assert_non_null(strstr(said, ": stamps are comparable with the host to "));
        if (i == 1) assert_non_null(strstr(said, "\"core_error_cycles\": null, \"host_error_ns\": "));
        free(said);
    }
}

static void full_disk(void)
{
    devlog_error err = {0};
    signal(SIGXFSZ, SIG_IGN);
    setrlimit(RLIMIT_FSIZE, &(struct rlimit){5000, 5000});
    host_start(0, 0);
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
    const pid_t p = host_run(full_disk, &how);
    assert_int_equal(how, 0);
    assert_true(host_look(p, "zone").zones > 0);
    assert_int_equal(host_findings(p, "not_closed"), 1);
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
    host_start(0, 0);
    DEVLOG_HOST_BEGIN(zone, "handed on");
    pthread_create(&thread, NULL, ends, &zone);
    pthread_join(thread, NULL);
}

static void zones_that_end_on_another_thread_are_told(void **state)
{
    (void)state;
    int how;
    const pid_t p = host_run(elsewhere, &how);
    assert_int_equal(how, 0);
    assert_int_equal(host_look(p, "handed on").zones, 0);
    assert_int_equal(host_findings(p, "unpaired_start"), 1);
    assert_int_equal(host_findings(p, "unpaired_end"), 1);
}

static void stops_and_starts(void)
{
    devlog_error err = {0};
    host_start(0, 0);
    DEVLOG_HOST_BEGIN(over, "over the stop");
    {
        DEVLOG_HOST_ZONE("first");
    }
    if (devlog_host_stop(&err)) _exit(5);
    {
        DEVLOG_HOST_ZONE("between");
    }
    host_start(0, 0);
    DEVLOG_HOST_END(over);
    {
        DEVLOG_HOST_ZONE("second");
    }
}

static void recording_may_stop_and_go_on(void **state)
{
    (void)state;
    int how;
    const pid_t p = host_run(stops_and_starts, &how);
    assert_int_equal(how, 0);
    assert_int_equal(host_look(p, "first").zones, 1);
    assert_int_equal(host_look(p, "second").zones, 1);
    assert_int_equal(host_look(p, "between").zones, 0);
    assert_int_equal(host_findings(p, "unpaired_start"), 1); /* over the stop */
    assert_int_equal(host_findings(p, NULL), 1);
}

/* ---- The tables ------------------------------------------------------------------------------------------ */

static void the_program_shows_processes_and_threads(void **state)
{
    (void)state;
    int how;
    char path[128], title[64], line[256];
    const pid_t p = host_run(everything, &how);
    snprintf(path, sizeof path, "%s/host_%ld.devlog", host_folder, (long)p);
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
        cmocka_unit_test(texts_are_in_tables),
        cmocka_unit_test(a_full_disk_is_told),
        cmocka_unit_test(zones_that_end_on_another_thread_are_told),
        cmocka_unit_test(recording_may_stop_and_go_on),
        cmocka_unit_test(the_program_shows_processes_and_threads),
    };
    return cmocka_run_group_tests(tests, host_make_folder, host_remove_folder);
}
