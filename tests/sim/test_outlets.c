/* What DEVLOG_HOST=tracy hands to a Tracy client library, here one of our own that writes down its calls (library/fake_tracy.c):
 * order, pairs, threads, GPU contexts, and that sums are those of the files. The recorder reads its environment when a program begins, so
 * each part is this program run again. And USDT probes as readelf sees them. Not Tracy itself. */
#define PROFILE_HOST 1
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "devlog/decode.h"
#include "devlog/host.h"
#include "outlets/tracy.h"
#include "outlets/usdt.h"

#include "support/cli.h"
#include "support/files.h"
#include "support/fixture.h"
#include "support/outlet_run.h"
#include "support/serve.h"

enum { THREADS = 4, ROUNDS = 25, ROWS = 300, NAMES = 9000 };

/* ---- The parts, each a program of its own --- */

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
        DEVLOG_HOST_FRAME("step");
    }
    return nothing;
}

static void *end_it(void *zone)
{
    devlog_host_end(zone);
    return NULL;
}

static void part_host(void)
{
    pthread_t threads[THREADS], other;
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, work, NULL);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    DEVLOG_HOST_ZONE("around");
    DEVLOG_HOST_BEGIN(moved, "moved");
    pthread_create(&other, NULL, end_it, &moved);
    pthread_join(other, NULL);
    for (int i = 0; i < 10; i++) { /* one in another of the same name */
        DEVLOG_HOST_BEGIN(a, "same");
        DEVLOG_HOST_BEGIN(b, "same");
        DEVLOG_HOST_END(b);
        DEVLOG_HOST_END(a);
    }
    if (fork() == 0) {
        {
            DEVLOG_HOST_ZONE("child");
        }
        exit(0);
    }
    wait(NULL);
}

static devlog_host_lock told = DEVLOG_HOST_LOCK_INIT("jobs"), odd = DEVLOG_HOST_LOCK_INIT("odd");
static pthread_mutex_t jobs = PTHREAD_MUTEX_INITIALIZER;

static void *locks(void *nothing)
{
    for (int i = 0; i < ROUNDS; i++) {
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

static void part_locks(void)
{
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, locks, NULL);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    DEVLOG_HOST_LOCK_TRIED(told, 0);
    DEVLOG_HOST_LOCK_TRIED(told, 1);
    DEVLOG_HOST_LOCK_RELEASED(told);
    DEVLOG_HOST_LOCK_TERMINATE(told);
    for (int i = 0; i < 3; i++) {
        DEVLOG_HOST_LOCK_BEFORE(odd);
        DEVLOG_HOST_LOCK_AFTER(odd);
        pthread_create(&threads[0], NULL, releases, NULL);
        pthread_join(threads[0], NULL);
    }
}

static void part_memory(void)
{
    static char block[3];
    DEVLOG_HOST_ALLOC(&block[0], 100);
    DEVLOG_HOST_ALLOC_N(&block[1], 200, "pool");
    DEVLOG_HOST_FREE(&block[0]);
    DEVLOG_HOST_FREE(&block[0]);
    DEVLOG_HOST_FREE(&block[2]);
    DEVLOG_HOST_ALLOC_N(&block[1], 300, "pool");
    DEVLOG_HOST_FREE_N(&block[1], "pool");
}

static void part_many(const char *folder)
{
    devlog_error err = {0};
    const devlog_host_options o = DEVLOG_HOST_OPTIONS(.folder = folder, .wait_ms = 60000);
    check_ok(devlog_host_start(&o, &err), &err);
    for (int i = 0; i < 530000; i++) {
        DEVLOG_HOST_ZONE("many");
    }
}

static void part_device(const char *folder)
{
    static const devlog_cores four = {0, 0, 1, 1};
    devlog_error err = {0};
    devlog_device *device;
    devlog_program *program;
    const devlog_device_options options = DEVLOG_DEVICE_OPTIONS(.profile = DEVLOG_ON, .log_folder = folder);
    check_ok(devlog_device_open(&options, &device, &err), &err);
    check_ok(devlog_program_create(device, &program, &err), &err);
    devlog_kernel *kernels[] = {add_kernel(program, "tests/sim/kernels/iterations.c", "BRISC", four, NULL),
                                add_kernel(program, "tests/sim/kernels/many.c", "NCRISC", four, NULL),
                                add_kernel(program, "tests/sim/kernels/many.c", "TRISC1", four, "-DVALUES")};
    for (uint32_t n = 1; n < 4; n++) {
        for (uint32_t i = 0; i < 3; i++)
            for (uint32_t x = 0; x < 2; x++)
                for (uint32_t y = 0; y < 2; y++) {
                    const uint32_t args[] = {n * (i + 1) + 7 * x + 3 * y, 100 * n * (y + 1)};
                    check_ok(devlog_kernel_set_args(kernels[i], (devlog_core){x, y}, args, 2, &err), &err);
                }
        DEVLOG_HOST_ZONE("launching");
        prepare(device, program);
        check_ok(devlog_launch_program(device, program, &err), &err);
    }
    devlog_program_free(program);
    check_ok(devlog_device_close(device, &err), &err);
}

/* More rows than there are contexts, more names than locations, and a clock that begins anew. */
static void part_bounds(void)
{
    static tracy_device_zone zones[NAMES];
    static char names[NAMES][16];
    outlets_open();
    for (uint32_t i = 0; i < ROWS; i++)
        zones[i] = (tracy_device_zone){
            .start = 1000 + i, .end = 2000 + i, .name = "row", .file = "", .row = i, .row_name = "RISC"};
    tracy_device_zones(zones, ROWS, 5000, 0);
    for (uint32_t i = 0; i < NAMES; i++) {
        snprintf(names[i], sizeof names[i], "n%u", i);
        zones[i] = (tracy_device_zone){
            .start = 10000 + i, .end = 10001 + i, .name = names[i], .file = "f.c", .line = i, .row_name = ""};
    }
    tracy_device_zones(zones, NAMES, 5000, 0);
    zones[0] = (tracy_device_zone){.start = 5, .end = 6, .name = "back", .file = "", .row_name = ""};
    tracy_device_zones(zones, 1, 5000, 0);
    fprintf(stderr, "unsent %llu\n", tracy_take_unsent());
}

/* ---- What the library was told --- */

/* Every end is of the zone that began last on its thread and goes on; all end. */
static void check_stacks(char *calls)
{
    enum { MOST = 64 };
    struct {
        long thread;
        uint32_t open[16], n;
    } threads[MOST] = {{0}};
    for (char *save = NULL, *line = strtok_r(calls, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
        long thread;
        unsigned id, t = 0;
        const int begins = sscanf(line, "begin %ld %u", &thread, &id) == 2;
        if (!begins && sscanf(line, "end %ld %u 1", &thread, &id) != 2) continue;
        while (threads[t].thread && threads[t].thread != thread)
            assert_true(++t < MOST);
        threads[t].thread = thread;
        if (begins) {
            assert_true(threads[t].n < 16);
            threads[t].open[threads[t].n++] = id;
        } else {
            assert_true(threads[t].n > 0);
            assert_int_equal(threads[t].open[--threads[t].n], id);
        }
    }
    for (unsigned t = 0; t < MOST; t++)
        assert_int_equal(threads[t].n, 0);
}

static void host_zones_are_told(void **state)
{
    (void)state;
    outcome o = run_with("host", "DEVLOG_HOST=tracy");
    static const struct {
        const char *what;
        uint32_t n;
    } wanted[] = {{" outer work ", THREADS * ROUNDS},
                  {" inner work ", THREADS * ROUNDS},
                  {" first work ", THREADS * ROUNDS},
                  {" second work ", THREADS * ROUNDS},
                  {" around part_host ", 1},
                  {" moved part_host ", 1},
                  {" same part_host ", 20},
                  {" child ", 0},
                  {" 2 0 0 said\n", THREADS * ROUNDS},
                  {" queue 24\n", THREADS},
                  {" step\n", THREADS * ROUNDS},
                  {" worker\n", THREADS}};
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++)
        if (text_count(o.calls, wanted[i].what) != wanted[i].n)
            fail_msg("'%s' came %u times, not %u", wanted[i].what, text_count(o.calls, wanted[i].what),
                     wanted[i].n);
    assert_int_equal(text_count(o.calls, "begin "), 4 * THREADS * ROUNDS + 22);
    assert_int_equal(text_count(o.calls, "end "), 4 * THREADS * ROUNDS + 22);
    assert_null(strstr(o.said, "devlog:"));
    check_stacks(o.calls);
    drop(&o);
}

static void locks_are_told(void **state)
{
    (void)state;
    outcome o = run_with("locks", "DEVLOG_HOST=tracy");
    static const struct {
        const char *what;
        uint32_t n;
    } wanted[] = {{"lock 1 announced hold jobs ", 1},
                  {"lock 1 named jobs\n", 1},
                  {"lock 1 wait ", THREADS * ROUNDS},
                  {"lock 1 held ", THREADS * ROUNDS},
                  {"lock 1 tried 1\n", 1},
                  {"lock 1 tried 0\n", 0},
                  {"lock 1 released ", THREADS * ROUNDS + 1},
                  {"lock 1 terminated\n", 1},
                  {"lock 2 wait ", 1}, /* and no more of it */
                  {"lock 2 held ", 1},
                  {"lock 2 released ", 0},
                  {"begin ", 0}}; /* they are not zones, too */
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++)
        if (text_count(o.calls, wanted[i].what) != wanted[i].n)
            fail_msg("'%s' came %u times, not %u: %s", wanted[i].what, text_count(o.calls, wanted[i].what),
                     wanted[i].n, o.said);
    assert_non_null(strstr(
        o.said, "devlog: Tracy heard no more of 1 locks: a thread let them go that had not taken them\n"));
    drop(&o);
}

/* What Tracy takes for a fault of the program, which ends its capture, is not sent: blocks come once and go once. */
static void memory_is_told(void **state)
{
    (void)state;
    outcome o = run_with("memory", "DEVLOG_HOST=tracy");
    char *at = o.calls;
    static const struct {
        const char *what, *rest;
    } wanted[] = {{"alloc ", " 100 heap\n"}, {"alloc ", " 200 pool\n"}, {"free ", " heap\n"},
                  {"free ", " pool\n"},      {"alloc ", " 300 pool\n"}, {"free ", " pool\n"}};
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
        const size_t n = strcspn(at, "\n") + 1, m = strlen(wanted[i].rest);
        if (strncmp(at, wanted[i].what, strlen(wanted[i].what)) != 0 || n < m ||
            strncmp(at + n - m, wanted[i].rest, m) != 0)
            fail_msg("call %zu: %s", i, o.calls);
        at += n;
    }
    assert_string_equal(at, "");
    drop(&o);
}

/* Per GPU context: queries in pairs with their times, which do not go back; sums by name as the capture has them. */
static void device_zones_are_told(void **state)
{
    (void)state;
    outcome o = run_with("device", "DEVLOG_HOST=tracy");
    static struct {
        char names[16][64];
        uint64_t starts[16], last;
        uint32_t open, query;
        bool begins;
        char name[64];
    } contexts[256];
    static struct {
        char name[64];
        uint64_t n, total;
    } sums[256];
    size_t n_sums = 0;
    uint32_t n_contexts = 0;
    for (char *save = NULL, *line = strtok_r(o.calls, "\n", &save); line;
         line = strtok_r(NULL, "\n", &save)) {
        unsigned c, q, flags, type;
        long long time;
        double period;
        char name[64];
        if (sscanf(line, "gpu_context %u %lld %lg %u %u", &c, &time, &period, &flags, &type) == 5) {
            assert_int_equal(c, n_contexts++);
            assert_true(period == 1 && flags == 0 && type != 0);
        } else if (sscanf(line, "gpu_begin %u %u %*s %63[^\n]", &c, &q, name) == 3) {
            contexts[c].query = q;
            contexts[c].begins = true;
            strcpy(contexts[c].name, name);
        } else if (sscanf(line, "gpu_end %u %u", &c, &q) == 2) {
            contexts[c].query = q;
            contexts[c].begins = false;
        } else if (sscanf(line, "gpu_time %u %u %lld", &c, &q, &time) == 3) {
            assert_int_equal(contexts[c].query, q);
            assert_true((uint64_t)time >= contexts[c].last);
            contexts[c].last = (uint64_t)time;
            if (contexts[c].begins) {
                assert_true(contexts[c].open < 16);
                strcpy(contexts[c].names[contexts[c].open], contexts[c].name);
                contexts[c].starts[contexts[c].open++] = (uint64_t)time;
            } else {
                assert_true(contexts[c].open > 0);
                const uint32_t at = --contexts[c].open;
                size_t s = 0;
                while (s < n_sums && strcmp(sums[s].name, contexts[c].names[at]) != 0)
                    s++;
                if (s == n_sums) strcpy(sums[n_sums++].name, contexts[c].names[at]);
                sums[s].n++;
                sums[s].total += (uint64_t)time - contexts[c].starts[at];
            }
        }
    }
    /* The chip runs at 1,000 MHz: a cycle is a ns. */
    devlog_error err = {0};
    devlog_log *log;
    const devlog_statistics *rows;
    size_t n_rows;
    char path[128];
    const char *paths[] = {path};
    snprintf(path, sizeof path, "%s/capture.devlog", o.folder);
    check_ok(devlog_log_open(paths, 1, NULL, &log, &err), &err);
    check_ok(devlog_log_finish(log, &err), &err);
    assert_true(devlog_log_chip(log, 0).mhz == 1000);
    assert_int_equal(n_contexts, devlog_log_streams(log));
    check_ok(devlog_log_statistics(log, DEVLOG_BY_RISC, &rows, &n_rows, &err), &err);
    uint64_t zones = 0;
    for (size_t i = 0; i < n_rows; i++) {
        uint64_t n = 0, total = 0;
        zones += rows[i].count;
        for (size_t k = 0; k < n_rows; k++)
            if (!strcmp(rows[k].zone, rows[i].zone)) n += rows[k].count, total += rows[k].total_low;
        size_t s = 0;
        while (s < n_sums && strcmp(sums[s].name, rows[i].zone) != 0)
            s++;
        if (s == n_sums) fail_msg("%s was not told", rows[i].zone);
        assert_int_equal(sums[s].n, n);
        assert_int_equal(sums[s].total, total);
    }
    if (zones < 100 || n_sums < 4) fail_msg("%llu zones of %zu names", (unsigned long long)zones, n_sums);
    devlog_log_close(log);
    /* A folder stands for its run, also where it is looked at. */
    static const char *const looks[] = {"speedscope", "html"};
    for (int i = 0; i < 2; i++) {
        char line[400], *out, *said;
        snprintf(line, sizeof line, "view --ui %s -x %s/look %s", looks[i], o.folder, o.folder);
        if (devlog(line, &out, &said) == 2) fail_msg("%s: %s", line, said);
        snprintf(line, sizeof line, "cat %s/look/* | grep -c launching > %s/found", o.folder, o.folder);
        if (system(line)) fail_msg("%s: no host zones", looks[i]); /* NOLINT(cert-env33-c) */
        snprintf(line, sizeof line, "rm -rf %s/look", o.folder);
        assert_int_equal(system(line), 0); /* NOLINT(cert-env33-c) */
        free(out);
        free(said);
    }
    served s = serve_start(o.folder, NULL);
    char *id = serve_first_id(&s);
    static const char *const routes[] = {"device_perf.html", "trace.perfetto-trace"};
    for (int i = 0; i < 2; i++) {
        char route[100];
        size_t size;
        snprintf(route, sizeof route, "/log/%s/%s", id, routes[i]);
        char *answer = serve_get(&s, route, &size);
        if (serve_status(answer) != 200 || !memmem(answer, size, "launching", 9))
            fail_msg("%s: %.200s", route, answer);
        free(answer);
    }
    free(id);
    assert_int_equal(serve_stop(&s), 0);
    drop(&o);
}

/* A program without zones of host code, whose linker left the recorder out. */
static void the_demo_tells_its_zones(void **state)
{
    (void)state;
    char line[512], folder[128], path[160];
    snprintf(folder, sizeof folder, "%s", test_folder());
    snprintf(path, sizeof path, "%s/calls", folder);
    const char *bin = getenv("DEVLOG_BIN");
    assert_non_null(bin);
    snprintf(line, sizeof line,
             "TT_METAL_DEVICE_PROFILER=1 DEVLOG_HOST=tracy DEVLOG_LOG_FOLDER=%s DEVLOG_TRACY=%s "
             "DEVLOG_TEST_TRACY=%s $(dirname %s)/demo > /dev/null",
             folder, FAKE_TRACY, path, bin);
    assert_int_equal(system(line), 0); /* NOLINT(cert-env33-c) */
    size_t n;
    char *calls = read_bytes(path, &n);
    const uint32_t begins = text_count(calls, "gpu_begin ");
    assert_true(begins > 5);
    assert_int_equal(text_count(calls, "gpu_end "), begins);
    assert_int_equal(text_count(calls, "gpu_time "), 2 * begins);
    free(calls);
}

static void there_are_bounds(void **state)
{
    (void)state;
    outcome o = run_with("bounds", "DEVLOG_HOST=tracy");
    assert_int_equal(text_count(o.calls, "gpu_context "), 255);
    assert_int_equal(text_count(o.calls, " row\n"), 255);
    assert_int_equal(text_count(o.calls, " n7"), 1110); /* n7, n70 to n79, n700 to n799, n7000 to n7998 */
    assert_int_equal(text_count(o.calls, " zones of devices beyond the first 8000 names\n"), NAMES - 7999);
    assert_int_equal(text_count(o.calls, " back\n"), 0);
    assert_non_null(strstr(o.said, "unsent 92\n")); /* 45 rows and what went back, begins and ends */
    drop(&o);
    o = run_with("many", "DEVLOG_HOST=tracy DEVLOG_TEST_ALONE=1");
    assert_string_equal(o.calls, "calls 1048576\n");
    assert_non_null(strstr(o.said, "devlog: 11424 events did not go to Tracy: nobody was connected"));
    drop(&o);
}

static void what_is_not_there_is_said(void **state)
{
    (void)state;
    outcome o = run_with("host", "DEVLOG_HOST=tracy DEVLOG_TRACY=/nothing/libTracyClient.so");
    assert_string_equal(o.calls, "");
    assert_non_null(
        strstr(o.said, "devlog: nothing is sent to Tracy: there is no Tracy client library in the process, "
                       "nor /nothing/libTracyClient.so; DEVLOG_TRACY names one\n"));
    drop(&o);
    o = run_with("host", "DEVLOG_HOST=tracey");
    assert_string_equal(o.calls, "");
    assert_non_null(
        strstr(o.said, "DEVLOG_HOST=tracey: it is some, with commas between them, of 0|1|tracy|itt|usdt"));
    drop(&o);
    o = run_with("host", "DEVLOG_HOST=1");
    assert_string_equal(o.calls, "");
    assert_null(strstr(o.said, "devlog:"));
    drop(&o);
}

static void probes_are_in_the_program(void **state)
{
    (void)state;
    char line[256], folder[128];
    if (!usdt_built_in()) skip();
    outcome o = run_with("host", "DEVLOG_HOST=tracy,usdt");
    assert_int_equal(text_count(o.calls, "begin "), 4 * THREADS * ROUNDS + 22);
    assert_null(strstr(o.said, "devlog:"));
    drop(&o);
    snprintf(folder, sizeof folder, "%s", test_folder());
    snprintf(line, sizeof line, "readelf -n /proc/%ld/exe > %s/notes", (long)getpid(), folder);
    assert_int_equal(system(line), 0); /* NOLINT(cert-env33-c) */
    snprintf(line, sizeof line, "%s/notes", folder);
    size_t n;
    char *notes = read_bytes(line, &n);
    assert_true(text_count(notes, "Provider: devlog") >= 9);
    static const char *const names[] = {"Name: zone_begin",    "Name: zone_end",  "Name: value",
                                        "Name: message",       "Name: lock_wait", "Name: lock_held",
                                        "Name: lock_released", "Name: alloc",     "Name: free"};
    for (int i = 0; i < 9; i++)
        assert_int_equal(text_count(notes, names[i]), 1);
    free(notes);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(host_zones_are_told),
        cmocka_unit_test(device_zones_are_told),
        cmocka_unit_test(locks_are_told),
        cmocka_unit_test(memory_is_told),
        cmocka_unit_test(the_demo_tells_its_zones),
        cmocka_unit_test(there_are_bounds),
        cmocka_unit_test(what_is_not_there_is_said),
        cmocka_unit_test(probes_are_in_the_program),
    };
    if (argc < 3) return cmocka_run_group_tests(tests, NULL, NULL);
    if (!strcmp(argv[1], "host")) part_host();
    if (!strcmp(argv[1], "locks")) part_locks();
    if (!strcmp(argv[1], "memory")) part_memory();
    if (!strcmp(argv[1], "many")) part_many(argv[2]);
    if (!strcmp(argv[1], "device")) part_device(argv[2]);
    if (!strcmp(argv[1], "bounds")) part_bounds();
    return 0;
}
