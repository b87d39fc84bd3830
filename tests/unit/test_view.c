/* devlog view: choosing a log, writing what each viewer reads, and lending a trace to a web viewer once. */
#include "support/cmocka_all.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "base/process.h"
#include "support/device.h"
#include "support/files.h"
#include "support/serve.h"

static const char log_text[] =
    "ARCH: wormhole_b0, CHIP_FREQ[MHz]: 1000\n"
    "PCIe slot, core_x, core_y, RISC processor type, timer_id, time[cycles since reset]\n"
    "0, 1, 2, BRISC, 1, 1000\n0, 1, 2, BRISC, 2, 1100\n0, 1, 2, BRISC, 3, 1200\n0, 1, 2, BRISC, 4, 1400\n";

static char home[64];

/* Two logs below home; run2's is newer. */
static int setup(void **state)
{
    (void)state;
    char path[200];
    devlog_error err;
    snprintf(home, sizeof home, "%s", test_folder());
    for (int i = 1; i <= 2; i++) {
        const struct timespec times[2] = {{.tv_sec = 1000000000 + i}, {.tv_sec = 1000000000 + i}};
        snprintf(path, sizeof path, "%s/run%d", home, i);
        check_ok(dl_folder_make(path, &err), &err);
        snprintf(path, sizeof path, "%s/run%d/profile_log_device.csv", home, i);
        write_text(path, log_text);
        if (utimensat(AT_FDCWD, path, times, 0) != 0) return -1;
    }
    unsetenv("DISPLAY");
    unsetenv("WAYLAND_DISPLAY");
    snprintf(path, sizeof path, "%s/cache", home);
    return setenv("DEVLOG_CACHE", path, 1);
}

/* Runs devlog view with up to six further arguments; returns what it printed, freed by the caller. */
static char *view(int exit_status, const char *a, const char *b, const char *c, const char *d, const char *e)
{
    const char *argv[] = {getenv("DEVLOG_BIN"), "view", a, b, c, d, e, NULL};
    devlog_error err;
    dl_output out;
    check_ok(dl_process_run(argv, &out, &err), &err);
    if (out.exit != exit_status) print_message("%s\n", out.text);
    assert_int_equal(out.exit, exit_status);
    return out.text;
}

static void expect_in(char *text, const char *what)
{
    if (!strstr(text, what)) print_message("'%s' is not in:\n%s\n", what, text);
    assert_non_null(strstr(text, what));
    free(text);
}

static void lists_the_newest_first(void **state)
{
    (void)state;
    char *text = view(0, "--list-only", home, NULL, NULL, NULL);
    const char *newer = strstr(text, "run2/"), *older = strstr(text, "run1/");
    assert_true(newer && older && newer < older);
    free(text);
    expect_in(view(0, "--list-only", "--format", "csv", home, NULL),
              "time_ns,bytes,kind,path\n1000000002000000000,");
    expect_in(view(0, "--list-only", "--format", "json", home, NULL), "\"kind\": \"device log\"");
}

static void says_what_it_cannot_choose(void **state)
{
    (void)state;
    char empty[100];
    devlog_error err;
    expect_in(view(1, home, NULL, NULL, NULL, NULL), "2 logs are in");
    expect_in(view(1, "/nowhere", NULL, NULL, NULL, NULL), "there is no such file or folder");
    snprintf(empty, sizeof empty, "%s/run3", home);
    check_ok(dl_folder_make(empty, &err), &err);
    expect_in(view(1, empty, NULL, NULL, NULL, NULL), "there is no log in");
    expect_in(view(2, "--ui", "netscape", NULL, NULL, NULL), "--ui");
}

/* Runs a shell line in `folder`, with devlog's path in $D; returns what it printed, freed by the caller. */
static char *shell(const char *folder, int exit_status, const char *line)
{
    dl_str whole = {0};
    devlog_error err;
    dl_output out;
    dl_str_fmt(&whole, "unset DEVLOG_LOG_FOLDER SSH_CONNECTION; D='%s'; cd '%s' && %s", getenv("DEVLOG_BIN"),
               folder, line);
    const char *argv[] = {"/bin/sh", "-c", whole.text, NULL};
    check_ok(dl_process_run(argv, &out, &err), &err);
    if (out.exit != exit_status) print_message("%s\n%s\n", whole.text, out.text);
    assert_int_equal(out.exit, exit_status);
    dl_str_free(&whole);
    return out.text;
}

/* A log in home/FOLDER, changed last at this second; a capture is empty, as nothing reads it here. */
static void put(const char *folder, const char *name, long second)
{
    char path[300];
    devlog_error err;
    const struct timespec times[2] = {{.tv_sec = second}, {.tv_sec = second}};
    snprintf(path, sizeof path, "%s/%s", home, folder);
    check_ok(dl_folder_make(path, &err), &err);
    snprintf(path, sizeof path, "%s/%s/%s", home, folder, name);
    write_text(path, log_text);
    assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
}

/* The run is the capture, unless its neighbour is of another time. */
static void a_capture_and_its_csv_are_one_run(void **state)
{
    (void)state;
    char path[200];
    put("one/generated/profiler/logs", "profile_log_device.csv", 1000000000);
    put("one/generated/profiler/logs", "capture.devlog", 1000000003);
    snprintf(path, sizeof path, "%s/one", home);
    expect_in(shell(path, 0, "$D view"), "file:///");
    expect_in(shell(path, 0, "$D view generated"), "file:///");
    expect_in(shell(path, 0, "$D view --list-only --format csv | wc -l"), "2\n"); /* with its heading */
    expect_in(shell(path, 0, "$D view --list-only"), "capture.devlog");
    expect_in(shell(path, 0, "$D decode --no-files"), "logs/capture.devlog\n");
    expect_in(shell(path, 0, "$D decode --no-files generated"), "FW");
    /* The CSV alone is still what it was. */
    expect_in(shell(path, 0, "$D view generated/profiler/logs/profile_log_device.csv"), "file:///");
    /* A device log that is an hour younger is of another run. */
    put("one/generated/profiler/logs", "profile_log_device.csv", 1000003600);
    expect_in(shell(path, 1, "$D view generated"), "2 logs are in generated: name one");
    expect_in(shell(path, 1, "$D decode --no-files generated"),
              "2 logs are in generated: name those to decode");
    expect_in(shell(path, 0, "$D view"), "profile_log_device.csv is the newest of 2 logs");
    expect_in(shell(path, 0, "$D decode --no-files"), "profile_log_device.csv, the newest of 2 logs");
}

/* tt-metal writes into a folder whose name begins with a point, below where it is or where it is told. */
static void looks_where_tt_metal_writes(void **state)
{
    (void)state;
    char path[200];
    devlog_error err;
    put("here/generated/profiler/.logs", "profile_log_device.csv", 1000000000);
    snprintf(path, sizeof path, "%s/here", home);
    expect_in(shell(path, 0, "$D decode --no-files"), "generated/profiler/.logs/profile_log_device.csv");
    expect_in(shell(path, 0, "$D view --list-only"), ".logs/profile_log_device.csv");
    put("tt/generated/profiler/.logs", "profile_log_device.csv", 1000000000);
    put("own/.logs", "profile_log_device.csv", 1000000000);
    snprintf(path, sizeof path, "%s/empty", home);
    check_ok(dl_folder_make(path, &err), &err);
    expect_in(shell(path, 1, "$D decode --no-files"), "there is no log in generated/profiler");
    expect_in(shell(path, 0, "TT_METAL_HOME=$PWD/../tt $D decode --no-files"),
              "../tt/generated/profiler/.logs/profile_log_device.csv");
    expect_in(shell(path, 0, "TT_METAL_HOME=$PWD/../tt $D view"), "file:///");
    expect_in(shell(path, 0, "TT_METAL_PROFILER_DIR=../own $D view --list-only"),
              "../own/.logs/profile_log_device.csv");
    expect_in(shell(path, 0, "DEVLOG_LOG_FOLDER=../own $D decode --no-files"),
              "../own/.logs/profile_log_device.csv");
    /* A folder that is named twice is looked through once. */
    expect_in(shell(path, 0,
                    "cd ../tt; TT_METAL_HOME=$PWD DEVLOG_LOG_FOLDER=generated/profiler/.logs $D view "
                    "--list-only | wc -l"),
              "1\n");
}

/* Each log has an address of its own, by whatever path it is named. */
static void logs_of_one_name_have_pages_of_their_own(void **state)
{
    (void)state;
    char *first = shell(home, 0, "$D view run1/profile_log_device.csv 2>/dev/null"),
         *second = shell(home, 0, "$D view run2/profile_log_device.csv 2>/dev/null"),
         *again = shell(home, 0, "cd run1 && $D view . 2>/dev/null");
    assert_string_equal(first, again);
    assert_string_not_equal(first, second);
    free(first);
    free(second);
    free(again);
}

/* Of more logs than are listed the newest are, in whatever order the folder has them; that there are more is said. */
static void keeps_the_newest_of_many(void **state)
{
    (void)state;
    enum { LOGS = 1020, NEWEST = 1000000000 + LOGS };
    char folder[64], line[400];
    for (long i = 1; i <= LOGS; i++) {
        snprintf(folder, sizeof folder, "many/%ld", i * 7919 % 10007);
        put(folder, "profile_log_device.csv", 1000000000 + i);
    }
    snprintf(line, sizeof line, "%d000000000", NEWEST);
    expect_in(shell(home, 0, "$D view --list-only --format csv many 2>/dev/null | sed -n 2p"), line);
    snprintf(line, sizeof line, "%d000000000", NEWEST - 999);
    expect_in(shell(home, 0, "$D view --list-only --format csv many 2>/dev/null | tail -1"), line);
    expect_in(shell(home, 0, "$D view --list-only --format csv many | wc -l"),
              "there are more than are listed here\n1001\n");
    expect_in(shell(home, 0, "$D view --list-only --format json many 2>/dev/null | tail -1"),
              "\"more\": true}");
    expect_in(shell(home, 0, "$D view --list-only --format json run1"), "\"more\": false}");
    snprintf(line, sizeof line, "many/%ld/profile_log_device.csv", LOGS * 7919L % 10007);
    expect_in(shell(home, 0, "$D decode --no-files --latest many"), line);
}

static void options_that_would_not_be_obeyed_are_refused(void **state)
{
    (void)state;
    expect_in(view(2, "--format", "json", home, NULL, NULL), "--format is for --list-only");
    expect_in(view(2, "--list-only", "-x", "out", home, NULL), "--list-only shows no log");
    expect_in(view(2, "--list-only", "--riscs", "BRISC", home, NULL), "--list-only shows no log");
    expect_in(view(2, "--port", "80", home, NULL, NULL), "--port is for --ui perfetto and speedscope");
}

static void says_what_to_type_over_ssh(void **state)
{
    (void)state;
    char path[200];
    snprintf(path, sizeof path, "%s/run1", home);
    char *text = shell(path, 0, "USER=me SSH_CONNECTION='10.0.0.9 5000 10.0.0.1 2222' $D view .");
    assert_non_null(strstr(text, "devlog serve '.'"));
    assert_non_null(strstr(text, "ssh -L 8050:127.0.0.1:8050 -p 2222 me@10.0.0.1\n"));
    expect_in(text, "open http://127.0.0.1:8050/");
    expect_in(shell(path, 0, "USER=me SSH_CONNECTION='10.0.0.9 5000 10.0.0.1 22' $D view -u tensorboard ."),
              "ssh -L 6006:127.0.0.1:6006 me@10.0.0.1\n");
    /* The trace is fetched through the tunnel, from the port that is said. */
    text = shell(path, 0,
                 "export USER=me SSH_CONNECTION='10.0.0.9 5000 10.0.0.1 22'; $D view -p 0 -u perfetto . >o "
                 "2>&1 & p=$!; "
                 "until grep -q '^  and open' o; do sleep 0.1; done; kill $p; cat o");
    const char *port = strstr(text, "127.0.0.1:"), *tunnel = strstr(text, "ssh -L ");
    assert_true(port && tunnel);
    assert_int_equal(atoi(tunnel + 7), atoi(port + 10));
    free(text);
    text = shell(path, 0, "$D view .");
    assert_null(strstr(text, "ssh"));
    free(text);
}

static void prints_where_the_page_is(void **state)
{
    (void)state;
    char *text = view(0, "--latest", home, NULL, NULL, NULL), *end = strchr(text, '\n');
    assert_true(strncmp(text, "file:///", 8) == 0 && end);
    *end = '\0';
    size_t n;
    char *page = read_bytes(text + 7, &n);
    assert_non_null(strstr(page, "globalThis.devlog="));
    free(page);
    free(text);
}

static void extracts_for_every_viewer(void **state)
{
    (void)state;
    static const struct {
        const char *ui, *file;
    } uis[] = {{"html", "device_perf.html"},
               {"perfetto", "trace.perfetto-trace"},
               {"speedscope", "trace.speedscope.json"},
               {"tensorboard", "tensorboard/plugins/profile"}};
    char out[100], path[200];
    snprintf(out, sizeof out, "%s/out", home);
    for (size_t i = 0; i < sizeof uis / sizeof uis[0]; i++) {
        struct stat st;
        snprintf(path, sizeof path, "%s/run1", home);
        free(view(0, "--ui", uis[i].ui, "-x", out, path));
        snprintf(path, sizeof path, "%s/%s", out, uis[i].file);
        assert_int_equal(stat(path, &st), 0);
        assert_true(st.st_size > 0);
    }
}

/* The trace is handed to one site, once; then the command ends. */
static void lends_a_trace_once(const char *ui, const char *file, const char *link, const char *origin)
{
    char log[100], out[100], line[600] = "", request[400], path[200];
    int pipes[2], status;
    snprintf(log, sizeof log, "%s/run1", home);
    assert_int_equal(pipe(pipes), 0);
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        const char *argv[] = {getenv("DEVLOG_BIN"), "view", "--ui", ui, "-p", "0", log, NULL};
        dup2(pipes[1], STDOUT_FILENO);
        close(pipes[0]);
        close(pipes[1]);
        execv(argv[0], (char *const *)argv);
        _exit(127);
    }
    close(pipes[1]);
    for (size_t at = 0; at + 1 < sizeof line && !strchr(line, '\n'); at++)
        if (read(pipes[0], line + at, 1) != 1) break;
    assert_non_null(strstr(line, link));
    const char *port = strstr(line, "127.0.0.1");
    assert_non_null(port);
    port += strlen("127.0.0.1") + (port[9] == '%' ? 3 : 1);
    served s = {.port = atoi(port)};
    char *answer = serve_get(&s, "/", NULL);
    assert_int_equal(serve_status(answer), 404);
    free(answer);
    snprintf(
        request, sizeof request,
        "OPTIONS /%s HTTP/1.1\r\nHost: 127.0.0.1\r\nOrigin: %s\r\nAccess-Control-Request-Private-Network: "
        "true\r\nConnection: close\r\n\r\n",
        file, origin);
    answer = serve_ask(&s, request, NULL);
    assert_int_equal(serve_status(answer), 204);
    assert_non_null(strstr(answer, "Access-Control-Allow-Private-Network: true"));
    free(answer);
    size_t n, expected;
    snprintf(request, sizeof request, "/%s", file);
    answer = serve_get(&s, request, &n);
    assert_int_equal(serve_status(answer), 200);
    snprintf(path, sizeof path, "Access-Control-Allow-Origin: %s\r\n", origin);
    assert_non_null(strstr(answer, path));
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
    close(pipes[0]);
    snprintf(out, sizeof out, "%s/out", home);
    snprintf(path, sizeof path, "%s/%s", out, file);
    free(view(0, "--ui", ui, "-x", out, log));
    char *trace = read_bytes(path, &expected);
    assert_int_equal(n - (size_t)(serve_body(answer) - answer), expected);
    assert_memory_equal(serve_body(answer), trace, expected);
    free(trace);
    free(answer);
}

static void perfetto_fetches_the_trace_once(void **state)
{
    (void)state;
    lends_a_trace_once("perfetto", "trace.perfetto-trace",
                       "https://ui.perfetto.dev/#!/?url=http://127.0.0.1:", "https://ui.perfetto.dev");
}

static void speedscope_fetches_the_trace_once(void **state)
{
    (void)state;
    lends_a_trace_once("speedscope", "trace.speedscope.json",
                       "https://www.speedscope.app/#profileURL=http%3A%2F%2F127.0.0.1%3A",
                       "https://www.speedscope.app");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lists_the_newest_first),
        cmocka_unit_test(says_what_it_cannot_choose),
        cmocka_unit_test(a_capture_and_its_csv_are_one_run),
        cmocka_unit_test(looks_where_tt_metal_writes),
        cmocka_unit_test(logs_of_one_name_have_pages_of_their_own),
        cmocka_unit_test(keeps_the_newest_of_many),
        cmocka_unit_test(options_that_would_not_be_obeyed_are_refused),
        cmocka_unit_test(says_what_to_type_over_ssh),
        cmocka_unit_test(prints_where_the_page_is),
        cmocka_unit_test(extracts_for_every_viewer),
        cmocka_unit_test(perfetto_fetches_the_trace_once),
        cmocka_unit_test(speedscope_fetches_the_trace_once),
    };
    signal(SIGPIPE, SIG_IGN);
    return cmocka_run_group_tests(tests, setup, NULL);
}
