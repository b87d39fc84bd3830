/* Programs that end badly or ask too much while their host zones go out as they happen (DEVLOG_HOST=tracy,usdt): what a Tracy library is told
 * stays in pairs, what does not go out is said, and the file stays readable. What goes out of good programs is test_outlets'. */
#define PROFILE_HOST 1
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "devlog/host.h"
#include "outlets/usdt.h"

#include "support/cli.h"
#include "support/host_child.h"
#include "support/outlet_run.h"

enum { THREADS = 1000, NAMES = 24100, CAP = 24000 };

/* ---- The parts --- */

static void *tells(void *nothing)
{
    DEVLOG_HOST_ZONE("one of many");
    DEVLOG_HOST_MESSAGE("said");
    return nothing;
}

static void part_threads(void)
{
    static pthread_t threads[THREADS];
    pthread_attr_t small;
    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, 256 * 1024);
    for (int i = 0; i < THREADS; i++)
        if (pthread_create(&threads[i], &small, tells, NULL)) exit(7);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
}

static void part_exit(void)
{
    DEVLOG_HOST_ZONE("stays open");
    exit(5);
}

static void part_kill(void)
{
    DEVLOG_HOST_ZONE("stays open");
    for (int i = 0; i < 10; i++) {
        DEVLOG_HOST_ZONE("before");
    }
    usleep(300000);
    kill(getpid(), SIGKILL);
}

static void part_names(void)
{
    static char name[10 << 20], cut[] = "before\0behind", bad[] = "\xff\xfe bad \xc3";
    memset(name, 'n', sizeof name - 1);
    devlog_host_site *sites[] = {devlog_host_named(name, sizeof name, NULL, __FILE__, 1),
                                 devlog_host_named(cut, sizeof cut, NULL, __FILE__, 1),
                                 devlog_host_named(bad, sizeof bad, NULL, __FILE__, 1)};
    for (int i = 0; i < 3; i++) {
        devlog_host_zone zone = {0};
        devlog_host_begin(&zone, sites[i]);
        devlog_host_message(sites[i], name, sizeof name);
        devlog_host_end(&zone);
    }
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

static void part_full(void)
{
    signal(SIGXFSZ, SIG_IGN);
    uint32_t dice = 1;
    char text[200] = "";
    for (int i = 0; i < 100; i++) {
        /* Each another, so that they fill what little there is of a disk however few frames they are packed into. */
        for (size_t k = 0; k + 1 < sizeof text; k++)
            text[k] = (char)('0' + ((dice = dice * 1664525u + 1013904223u) >> 24) % 64);
        DEVLOG_HOST_ZONE("zone");
        DEVLOG_HOST_MESSAGE(text);
        if (i == 10) usleep(100000);
        if (i == 20) setrlimit(RLIMIT_FSIZE, &(struct rlimit){3000, 3000});
        if (i > 10) usleep(2000);
    }
}

/* ---- Forks in the middle --- */

enum { FORKERS = 3, KIDS = 40, PASSES = 200 };
/* So many children may hang in the sanitizer's allocator: its locks stay taken when another thread of the parent was in it (that of
 * the C library is not like that). */
#ifdef __SANITIZE_ADDRESS__
enum { SANITIZER = 3 };
#else
enum { SANITIZER = 0 };
#endif

static pthread_mutex_t shared = PTHREAD_MUTEX_INITIALIZER;
static devlog_host_lock shared_told = DEVLOG_HOST_LOCK_INIT("shared");
static atomic_bool enough;

/* Everything that takes a lock of the library, again and again: locks are announced, names are made, blocks come and go. */
static void busy_pass(const char *zone_name, const char *lock_name, const char *pool)
{
    static __thread char block;
    devlog_host_lock fresh = {0};
    devlog_host_zone zone = {0};
    devlog_host_begin(&zone, devlog_host_named(zone_name, strlen(zone_name), NULL, __FILE__, 1));
    DEVLOG_HOST_LOCK_ANNOUNCE(fresh, lock_name);
    DEVLOG_HOST_LOCK_BEFORE(fresh);
    DEVLOG_HOST_LOCK_AFTER(fresh);
    DEVLOG_HOST_ALLOC_N(&block, 100, pool);
    DEVLOG_HOST_FREE_N(&block, pool);
    DEVLOG_HOST_LOCK_RELEASED(fresh);
    DEVLOG_HOST_LOCK_TERMINATE(fresh);
    devlog_host_end(&zone);
}

static void *goes_on(void *passes)
{
    while (!atomic_load(&enough)) {
        DEVLOG_HOST_LOCK_BEFORE(shared_told);
        pthread_mutex_lock(&shared);
        DEVLOG_HOST_LOCK_AFTER(shared_told);
        busy_pass("parent's", "fresh", "parent's pool");
        ++*(long *)passes;
        pthread_mutex_unlock(&shared);
        DEVLOG_HOST_LOCK_RELEASED(shared_told);
    }
    return NULL;
}

/* The child of a process whose other threads were anywhere. What it does not finish in time hangs, and SIGALRM ends it. */
static void goes_on_in_child(void)
{
    alarm(10);
    pthread_mutex_unlock(&shared); /* taken by the parent's thread, which this one goes on as */
    DEVLOG_HOST_LOCK_RELEASED(shared_told);
    for (int i = 0; i < PASSES; i++)
        busy_pass("child's", "child's own", "child's pool");
    DEVLOG_HOST_LOCK_BEFORE(shared_told);
    pthread_mutex_lock(&shared);
    DEVLOG_HOST_LOCK_AFTER(shared_told);
    pthread_mutex_unlock(&shared);
    DEVLOG_HOST_LOCK_RELEASED(shared_told);
    exit(0);
}

static void part_forks(const char *folder)
{
    pthread_t threads[FORKERS];
    static long passes[FORKERS];
    char path[128];
    int how, hung = 0;
    snprintf(path, sizeof path, "%s/processes", folder);
    FILE *list = fopen(path, "w");
    if (!list) exit(6);
    setvbuf(list, NULL, _IONBF, 0);
    devlog_error err;
    const devlog_host_options patient = DEVLOG_HOST_OPTIONS(.wait_ms = 60000);
    if (devlog_host_start(&patient, &err)) exit(8);
    for (int i = 0; i < FORKERS; i++)
        pthread_create(&threads[i], NULL, goes_on, &passes[i]);
    DEVLOG_HOST_ZONE("open over forks");
    for (int i = 0; i < KIDS; i++) {
        DEVLOG_HOST_LOCK_BEFORE(shared_told);
        pthread_mutex_lock(&shared);
        DEVLOG_HOST_LOCK_AFTER(shared_told);
        if (i & 1) pthread_mutex_unlock(&shared); /* its threads are in the middle of something */
        const pid_t child = fork();
        if (child == 0) {
            if (i & 1) pthread_mutex_init(&shared, NULL), pthread_mutex_lock(&shared);
            goes_on_in_child();
        }
        if (!(i & 1)) pthread_mutex_unlock(&shared);
        DEVLOG_HOST_LOCK_RELEASED(shared_told);
        if (waitpid(child, &how, 0) != child) exit(3);
        if (WIFSIGNALED(how) && WTERMSIG(how) == SIGALRM && hung < SANITIZER) {
            hung++;
            i--;
            continue;
        }
        if (how) {
            fprintf(stderr, "child %d of %d ended with wait status 0x%x\n", i, KIDS, (unsigned)how);
            exit(3);
        }
        fprintf(list, "%ld\n", (long)child);
    }
    atomic_store(&enough, true);
    for (int i = 0; i < FORKERS; i++)
        pthread_join(threads[i], NULL);
    fprintf(list, "parent %ld %ld %d\n", (long)getpid(), passes[0] + passes[1] + passes[2], KIDS + hung);
    fclose(list);
}

/* ---- What came of them --- */

static const char outlets_wanted[] = "DEVLOG_HOST=tracy";

/* The log of the part, read with `status`; freed by the caller. */
static char *decoded(const outcome *o, int status)
{
    char line[300];
    snprintf(line, sizeof line, "decode --no-files %s", o->folder);
    return devlog_ok(line, status);
}

static void a_thousand_threads_are_told_or_counted(void **state)
{
    (void)state;
    outcome o = run_with("threads", usdt_built_in() ? "DEVLOG_HOST=tracy,usdt" : outlets_wanted);
    const uint32_t begins = text_count(o.calls, "begin ");
    assert_true(begins >= 256 && begins <= THREADS);
    assert_int_equal(text_count(o.calls, "end "), begins);
    assert_int_equal(text_count(o.calls, "message "), begins);
    char *text = decoded(&o, begins == THREADS ? 0 : 3);
    char lost[64];
    /* What is not in the file goes nowhere else: a zone and a text of each thread without a ring. */
    const uint32_t n = 2 * (THREADS - begins);
    snprintf(lost, sizeof lost, " %.*s%0*u  records of host zones", n < 1000 ? 0 : 2, "1,", n < 1000 ? 1 : 3,
             n % 1000);
    const char *end = strstr(text, "Lost");
    if (begins < THREADS && !strstr(text, lost)) fail_msg("not '%s': %s", lost, end ? end : text);
    free(text);
    drop(&o);
}

static void programs_that_end_in_the_middle(void **state)
{
    (void)state;
    outcome o = run_any("exit", outlets_wanted);
    assert_int_equal(o.status, 5);
    assert_int_equal(text_count(o.calls, "begin "), 1);
    char *text = decoded(&o, 3);
    assert_non_null(strstr(text, "zones that never ended"));
    free(text);
    drop(&o);
    o = run_any("kill", outlets_wanted);
    assert_true(o.status != 0);
    assert_int_equal(text_count(o.calls, "begin "), 11);
    assert_int_equal(text_count(o.calls, "end "), 10);
    text = decoded(&o, 3);
    assert_non_null(strstr(text, "before"));
    free(text);
    drop(&o);
}

static void names_of_every_kind(void **state)
{
    (void)state;
    outcome o = run_with("names", outlets_wanted);
    assert_int_equal(text_count(o.calls, "begin "), 3);
    assert_int_equal(text_count(o.calls, "end "), 3);
    assert_int_equal(text_count(o.calls, " before "), 1);
    assert_int_equal(text_count(o.calls, "behind"), 0);
    assert_int_equal(text_count(o.calls, "\xff\xfe bad \xc3"), 1);
    /* A name and three texts, each cut to what is kept. */
    assert_int_equal(text_count(o.calls, "nnnnnnnn"), 4 * DEVLOG_HOST_TEXT_MAX / 8);
    free(decoded(&o, 0));
    drop(&o);
}

static void names_beyond_tracys_locations_have_one(void **state)
{
    (void)state;
    outcome o = run_with("cap", outlets_wanted);
    assert_int_equal(text_count(o.calls, "begin "), NAMES);
    assert_int_equal(text_count(o.calls, "end "), NAMES);
    assert_int_equal(text_count(o.calls, " zones beyond the first 24000 names "), NAMES - CAP);
    assert_int_equal(text_count(o.calls, " name 23999 "), 1);
    assert_int_equal(text_count(o.calls, " name 24000 "), 0);
    assert_non_null(strstr(o.said, "100 zones went out without their names: there are more than 24000"));
    drop(&o);
}

static void full_disks_and_folders_without_permission(void **state)
{
    (void)state;
    /* The library only counts: its own file would be too large as well. */
    outcome o = run_any("full", "DEVLOG_HOST=tracy DEVLOG_TEST_ALONE=1");
    if (!strstr(o.said, "recording stopped there")) fail_msg("%s", o.said);
    unsigned long calls = 0; /* a begin, a text and an end of each zone */
    assert_int_equal(sscanf(o.calls, "calls %lu", &calls), 1);
    if (calls % 3 || calls <= 3 * 20) fail_msg("%lu calls", calls);
    char *text = decoded(&o, 3);
    assert_non_null(strstr(text, "zone"));
    free(text);
    drop(&o);
    /* /proc has no room for folders, whoever asks. */
    o = run_any("exit", "DEVLOG_HOST=tracy DEVLOG_LOG_FOLDER=/proc/no/such");
    assert_int_equal(o.status, 5);
    assert_non_null(strstr(o.said, "devlog: host zones are not recorded: "));
    assert_int_equal(text_count(o.calls, "begin "), 0);
    drop(&o);
}

/* No child hangs in what another thread of its parent had in hand, and each of the files has all that its process did. */
static void forks_in_the_middle(void **state)
{
    (void)state;
    /* Who looks for leaks stops all threads, and a forked child has but one. */
    outcome o = run_with("forks", usdt_built_in() ? "ASAN_OPTIONS=detect_leaks=0 DEVLOG_HOST=tracy,usdt"
                                                  : "ASAN_OPTIONS=detect_leaks=0 DEVLOG_HOST=tracy");
    char path[128], *save = NULL;
    size_t n;
    snprintf(path, sizeof path, "%s/processes", o.folder);
    char *list = read_bytes(path, &n);
    strcpy(host_folder, o.folder);
    long process = 0, passes = 0;
    int children = 0, forks = 0;
    for (char *line = strtok_r(list, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
        if (sscanf(line, "parent %ld %ld %d", &process, &passes, &forks) == 3) break;
        const pid_t child = (pid_t)strtol(line, NULL, 10);
        children++;
        assert_int_equal(host_look(child, "child's").zones, PASSES);
        assert_int_equal(host_look(child, "hold child's own").zones, PASSES);
        assert_int_equal(host_look(child, "wait child's own").zones, PASSES);
        assert_int_equal(host_look(child, "hold shared").zones, 1);
        assert_int_equal(host_look(child, "child's pool").values, 2 * PASSES);
        assert_int_equal(host_look(child, "child's pool").last, 0);
        assert_int_equal(host_look(child, "parent's").zones, 0);
        assert_int_equal(host_look(child, "open over forks").zones, 0);
        assert_int_equal(host_findings(child, NULL), 0);
    }
    assert_int_equal(children, KIDS);
    assert_true(passes > 0);
    assert_int_equal(host_look((pid_t)process, "parent's").zones, passes);
    assert_int_equal(host_look((pid_t)process, "hold fresh").zones, passes);
    assert_int_equal(host_look((pid_t)process, "wait shared").zones, passes + forks);
    assert_int_equal(host_look((pid_t)process, "parent's pool").values, 2 * passes);
    assert_int_equal(host_look((pid_t)process, "open over forks").zones, 1);
    assert_int_equal(host_look((pid_t)process, "child's").zones, 0);
    assert_int_equal(host_findings((pid_t)process, NULL), 0);
    /* And the library has the parent's alone. */
    assert_int_equal(text_count(o.calls, " parent's  "), passes);
    assert_int_equal(text_count(o.calls, "child's"), 0);
    free(list);
    drop(&o);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_thousand_threads_are_told_or_counted),
        cmocka_unit_test(programs_that_end_in_the_middle),
        cmocka_unit_test(names_of_every_kind),
        cmocka_unit_test(names_beyond_tracys_locations_have_one),
        cmocka_unit_test(full_disks_and_folders_without_permission),
        cmocka_unit_test(forks_in_the_middle),
    };
    static const struct {
        const char *name;
        void (*run)(void);
    } parts[] = {{"threads", part_threads}, {"exit", part_exit}, {"kill", part_kill},
                 {"names", part_names},     {"cap", part_cap},   {"full", part_full}};
    if (argc < 3) return cmocka_run_group_tests(tests, NULL, NULL);
    if (!strcmp(argv[1], "forks")) part_forks(argv[2]);
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (!strcmp(argv[1], parts[i].name)) parts[i].run();
    return 0;
}
