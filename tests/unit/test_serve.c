/* devlog serve over real sockets: what it answers, and what it does about requests that it should not get. */
#include "support/cmocka_all.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/file.h"
#include "base/process.h"
#include "base/str.h"
#include "cli/http.h"
#include "cli/logs.h"
#include "support/device.h"
#include "support/files.h"
#include "support/serve.h"

static const char log_text[] =
    "ARCH: wormhole_b0, CHIP_FREQ[MHz]: 1000\n"
    "PCIe slot, core_x, core_y, RISC processor type, timer_id, time[cycles since reset]\n"
    "0, 1, 2, BRISC, 1, 1000\n0, 1, 2, BRISC, 2, 1100\n0, 1, 2, BRISC, 3, 1200\n0, 1, 2, BRISC, 4, 1400\n";

static char folder[256];

/* A folder with one log, one secret beside it, and the server. */
static served start(const char *const *more)
{
    char path[400];
    devlog_error err;
    snprintf(folder, sizeof folder, "%s/runs", test_folder());
    check_ok(dl_folder_make(folder, &err), &err);
    snprintf(path, sizeof path, "%s/profile_log_device.csv", folder);
    write_text(path, log_text);
    snprintf(path, sizeof path, "%s/../secret.txt", folder);
    write_text(path, "the secret");
    return serve_start(folder, more);
}

static void expect(const served *s, const char *request, int status)
{
    char *answer = serve_ask(s, request, NULL);
    if (serve_status(answer) != status) print_message("%.60s -> %.200s\n", request, answer);
    assert_int_equal(serve_status(answer), status);
    assert_null(strstr(answer, "the secret"));
    free(answer);
}

static void answers_have_types_and_policies(void **state)
{
    (void)state;
    served s = start(NULL);
    char path[100], *id = serve_first_id(&s);
    static const struct {
        const char *file, *type, *holds;
    } files[] = {
        {"device_perf.html", "text/html", "globalThis.devlog="},
        {"device_stats.txt", "text/plain", "Count"},
        {"device_rearranged_timestamps.csv", "text/csv", "core x,core y"},
        {"device_perf_results.tar", "application/x-tar", "device_perf.html"},
    };
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        size_t n;
        snprintf(path, sizeof path, "/log/%s/%s", id, files[i].file);
        char *answer = serve_get(&s, path, &n);
        assert_int_equal(serve_status(answer), 200);
        assert_non_null(strstr(answer, files[i].type));
        assert_non_null(strstr(answer, "Content-Security-Policy: default-src 'none'"));
        assert_non_null(strstr(answer, "X-Content-Type-Options: nosniff"));
        assert_non_null(memmem(answer, n, files[i].holds, strlen(files[i].holds)));
        free(answer);
    }
    char *list = serve_get(&s, "/", NULL);
    assert_int_equal(serve_status(list), 200);
    assert_non_null(strstr(list, "connect-src 'self'"));
    free(list);
    free(id);
    assert_int_equal(serve_stop(&s), 0);
}

/* Temporary files are where TMPDIR says, however long its name is, and go with a server that is killed. */
static void temporary_files(void **state)
{
    (void)state;
    char deep[300], path[100];
    devlog_error err;
    snprintf(deep, sizeof deep, "%s/%0120d", test_folder(), 0);
    check_ok(dl_folder_make(deep, &err), &err);
    setenv("TMPDIR", deep, 1);
    served s = start(NULL);
    unsetenv("TMPDIR");
    char *id = serve_first_id(&s);
    snprintf(path, sizeof path, "/log/%s/device_stats.txt", id);
    char *answer = serve_get(&s, path, NULL);
    assert_int_equal(serve_status(answer), 200);
    free(answer);
    free(id);
    assert_int_equal(kill(s.pid, SIGKILL), 0);
    assert_int_equal(serve_stop(&s), 128 + SIGKILL);
    for (int i = 0; i < 6000 && rmdir(deep) != 0; i++)
        nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
    assert_int_not_equal(access(deep, F_OK), 0);
}

static void the_tar_is_that_of_decode(void **state)
{
    (void)state;
    served s = start(NULL);
    char path[300], log[300], out[300], *id = serve_first_id(&s);
    size_t n, expected;
    snprintf(path, sizeof path, "/log/%s/device_perf_results.tar", id);
    char *answer = serve_get(&s, path, &n);
    snprintf(log, sizeof log, "%s/profile_log_device.csv", folder);
    snprintf(out, sizeof out, "%s/out", test_folder());
    devlog_error err;
    dl_output printed;
    const char *argv[] = {getenv("DEVLOG_BIN"), "decode", log, "-o", out, NULL};
    check_ok(dl_process_run(argv, &printed, &err), &err);
    assert_int_equal(printed.exit, 0);
    free(printed.text);
    snprintf(path, sizeof path, "%s/device_perf_results.tar", out);
    char *tar = read_bytes(path, &expected);
    assert_int_equal(n - (size_t)(serve_body(answer) - answer), expected);
    assert_memory_equal(serve_body(answer), tar, expected);
    free(tar);
    free(answer);
    free(id);
    assert_int_equal(serve_stop(&s), 0);
}

/* Two chips, six launches of ops with signposts between them, the first two launches slow. */
static void write_run(void)
{
    char path[400];
    dl_str log = {0}, ops = {0};
    dl_str_add(
        &log,
        "ARCH: wormhole_b0, CHIP_FREQ[MHz]: 1000\nPCIe slot, core_x, core_y, RISC processor type, timer_id, "
        "time[cycles since reset], data, run host ID, trace id, trace id counter, zone name, type, source "
        "line, source file, meta data\n");
    dl_str_add(&ops, "MessageName;total_ns\n");
    for (unsigned l = 1; l < 7; l++) {
        static const char *const zones[] = {"BRISC-FW,ZONE_START", "BRISC-KERNEL,ZONE_START",
                                            "BRISC-KERNEL,ZONE_END", "BRISC-FW,ZONE_END"};
        const unsigned at = 100000 * l, took = l > 2 ? 1000 : 5000 * (3 - l);
        const unsigned times[] = {at, at + 10, at + took - 10, at + took};
        for (unsigned chip = 0; chip < 2; chip++)
            for (int i = 0; i < 4; i++)
                dl_str_fmt(&log, "%u,1,1,BRISC,%d,%u,0,%u,,,%s,9,k.cc,\n", chip, i == 1 || i == 2, times[i],
                           l, zones[i]);
        if (l == 3 || l == 5) dl_str_fmt(&ops, "`TT_SIGNPOST: step %u`;%u\n", l, 100 * l - 50);
        dl_str_fmt(&ops, "`TT_DNN_DEVICE_OP: \"Op%u\", 7, 0, true, %u`;%u\n", l % 2, l, 100 * l);
    }
    snprintf(path, sizeof path, "%s/profile_log_device.csv", folder);
    write_text(path, log.text);
    snprintf(path, sizeof path, "%s/tracy_ops_data.csv", folder);
    write_text(path, ops.text);
    dl_str_free(&log);
    dl_str_free(&ops);
}

/* The same options as decode has, to the same bytes; and a choice that leaves nothing is said. */
static void it_shows_what_was_chosen(void **state)
{
    (void)state;
    static const struct {
        const char *options[6];
        const char *says;
    } choices[] = {
        {{NULL}, NULL},
        {{"--chips", "1", NULL}, NULL},
        {{"--launches", "2-4", "--core", "1,1", NULL}, NULL},
        {{"--skip-warm-up", "--chips", "0", NULL}, NULL},
        {{"--from-signpost", "step 3", "--to-signpost", "step 5", NULL}, NULL},
        {{"--op", "Op1", "--skip-launches", "1", NULL}, NULL},
        {{"--from-signpost", "nowhere", NULL}, "--from-signpost nowhere: no such signpost"},
        {{"--chips", "7", NULL}, "--chips 7: no such chip"},
    };
    served s = start(NULL);
    serve_stop(&s);
    write_run();
    size_t whole = 0;
    char *whole_tar = NULL;
    for (size_t i = 0; i < sizeof choices / sizeof choices[0]; i++) {
        char path[300], log[300], out[300];
        s = serve_start(folder, choices[i].options);
        char *id = serve_first_id(&s);
        size_t n, expected;
        snprintf(path, sizeof path, "/log/%s/device_perf_results.tar", id);
        char *answer = serve_get(&s, path, &n);
        if (choices[i].says) {
            assert_int_not_equal(serve_status(answer), 200);
            if (!strstr(answer, choices[i].says)) fail_msg("not '%s': %s", choices[i].says, answer);
        } else {
            snprintf(log, sizeof log, "%s/profile_log_device.csv", folder);
            snprintf(out, sizeof out, "%s/chosen%zu", test_folder(), i);
            const char *argv[12] = {getenv("DEVLOG_BIN"), "decode", log, "-o", out};
            for (int k = 0; choices[i].options[k]; k++)
                argv[5 + k] = choices[i].options[k];
            devlog_error err;
            dl_output printed;
            check_ok(dl_process_run(argv, &printed, &err), &err);
            assert_int_equal(printed.exit, 0);
            free(printed.text);
            snprintf(path, sizeof path, "%s/device_perf_results.tar", out);
            char *tar = read_bytes(path, &expected);
            assert_int_equal(n - (size_t)(serve_body(answer) - answer), expected);
            assert_memory_equal(serve_body(answer), tar, expected);
            if (i == 0) whole = expected, whole_tar = tar;
            if (i) assert_false(expected == whole && memcmp(tar, whole_tar, whole) == 0);
            if (i) free(tar);
        }
        free(answer);
        free(id);
        assert_int_equal(serve_stop(&s), 0);
    }
    free(whole_tar);
}

static void only_routes_are_answered(void **state)
{
    (void)state;
    served s = start(NULL);
    char request[512], *id = serve_first_id(&s);
    static const char *const paths[] = {
        "/../secret.txt",
        "/log/../../secret.txt",
        "/log/%s/../../../secret.txt",
        "/log/%s/..%%2f..%%2fsecret.txt",
        "/log/%s/%%2e%%2e/secret.txt",
        "/log/%s/",
        "/log/%s",
        "/log//device_perf.html",
        "/log/0000000000000000/device_stats.txt",
        "/log/%s/profile_log_device.csv",
        "/log/%s/device_stats.txt/",
        "/log/%s//device_stats.txt",
        "//",
        "/logs.json/",
        "/etc/passwd",
        "/log/%s%%00/device_stats.txt",
        "/LOG/%s/device_stats.txt",
    };
    for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++) {
        int n = snprintf(request, sizeof request, "GET ");
        n += snprintf(request + n, sizeof request - (size_t)n, paths[i], id); /* NOLINT: ours */
        snprintf(request + n, sizeof request - (size_t)n,
                 " HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
        expect(&s, request, 404);
    }
    free(id);
    assert_int_equal(serve_stop(&s), 0);
}

static void foreign_names_and_methods_are_refused(void **state)
{
    (void)state;
    const char *const more[] = {"--host-name", "lab.example", NULL};
    served s = start(more);
    expect(&s, "GET / HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n", 403);
    expect(&s, "GET / HTTP/1.1\r\nHost: localhost.evil.example\r\nConnection: close\r\n\r\n", 403);
    expect(&s, "GET / HTTP/1.0\r\n\r\n", 403);
    expect(&s, "GET / HTTP/1.1\r\nHost: lab.example:8050\r\nConnection: close\r\n\r\n", 200);
    expect(&s, "GET / HTTP/1.1\r\nHost: [::1]:8050\r\nConnection: close\r\n\r\n", 200);
    expect(&s, "HEAD / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n", 200);
    static const char *const methods[] = {"POST",  "PUT",     "DELETE", "OPTIONS",
                                          "TRACE", "CONNECT", "FOO",    "get"};
    char request[200];
    for (size_t i = 0; i < sizeof methods / sizeof methods[0]; i++) {
        snprintf(request, sizeof request,
                 "%s / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 3\r\nConnection: close\r\n\r\nabc",
                 methods[i]);
        expect(&s, request, 405);
    }
    assert_int_equal(serve_stop(&s), 0);
}

static void huge_and_broken_requests_do_no_harm(void **state)
{
    (void)state;
    served s = start(NULL);
    dl_str request = {0};
    dl_str_add(&request, "GET / HTTP/1.1\r\nHost: localhost\r\nX: ");
    for (int i = 0; i < 200000; i++)
        dl_str_char(&request, 'a');
    dl_str_add(&request, "\r\n\r\n");
    char *answer = serve_ask(&s, request.text, NULL);
    assert_int_not_equal(serve_status(answer), 200);
    free(answer);
    dl_str_clear(&request);
    dl_str_add(&request, "GET /");
    for (int i = 0; i < 200000; i++)
        dl_str_char(&request, 'a');
    dl_str_add(&request, " HTTP/1.1\r\nHost: localhost\r\n\r\n");
    answer = serve_ask(&s, request.text, NULL);
    assert_int_not_equal(serve_status(answer), 200);
    free(answer);
    dl_str_free(&request);
    static const char *const cut[] = {
        "", "G", "GET / HT", "GET / HTTP/1.1\r\nHost: loc", "\r\n\r\n\r\n", "\x16\x03\x01\x02"};
    for (size_t i = 0; i < sizeof cut / sizeof cut[0]; i++) { /* begun, and broken off */
        int fd = serve_connect(&s);
        assert_int_equal(send(fd, cut[i], strlen(cut[i]), MSG_NOSIGNAL), strlen(cut[i]));
        close(fd);
    }
    char path[100], *id = serve_first_id(&s);
    for (int i = 0; i < 8; i++) { /* asked for, and not read */
        int fd = serve_connect(&s);
        int n = snprintf(path, sizeof path,
                         "GET /log/%s/device_perf.html HTTP/1.1\r\nHost: localhost\r\n\r\n", id);
        assert_int_equal(send(fd, path, (size_t)n, MSG_NOSIGNAL), n);
        close(fd);
    }
    free(id);
    answer = serve_get(&s, "/", NULL);
    assert_int_equal(serve_status(answer), 200);
    free(answer);
    assert_int_equal(serve_stop(&s), 0);
}

static void many_at_once(void **state)
{
    (void)state;
    enum { MANY = HTTP_CONNECTIONS + 40 }; /* those that are not taken wait in the listening socket's queue */
    served s = start(NULL);
    int fds[MANY], answered = 0;
    for (int i = 0; i < MANY; i++)
        fds[i] = serve_connect(&s); /* open and silent */
    for (int i = 0; i < 32; i++) {
        const char *request = "GET /logs.json HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
        char text[64] = "";
        send(fds[i], request, strlen(request), MSG_NOSIGNAL);
        ssize_t got = recv(fds[i], text, sizeof text - 1, 0);
        answered += serve_status(text) == 200;
        if (got > 0) continue;
        assert_false(got < 0 && errno == EAGAIN); /* was it silent for too long, it is told, and asks again */
        char *again = serve_get(&s, "/logs.json", NULL);
        answered += serve_status(again) == 200;
        free(again);
    }
    assert_int_equal(answered, 32);
    for (int i = 0; i < MANY; i++)
        close(fds[i]);
    char *answer = NULL;
    for (int i = 0; i < 50; i++) { /* the closed ones make room */
        answer = serve_get(&s, "/", NULL);
        if (serve_status(answer) == 200) break;
        free(answer);
        answer = NULL;
        usleep(100000);
    }
    assert_non_null(answer);
    free(answer);
    assert_int_equal(serve_stop(&s), 0);
}

/* Clients that send their requests a byte at a time, and come again when they are sent away. */
enum { DRIPPING = HTTP_CONNECTIONS + 16 };
typedef struct dripper {
    const served *server;
    pthread_t thread;
    atomic_bool end;
    int sent_away;
} dripper;

static void *drip(void *ctx)
{
    dripper *d = ctx;
    int fds[DRIPPING];
    static const char start[] = "GET /logs.json HTTP/1.1\r\nHost: localhost\r\nX-Slow: ";
    for (int i = 0; i < DRIPPING; i++)
        fds[i] = -1;
    while (!d->end) {
        for (int i = 0; i < DRIPPING; i++) {
            if (fds[i] < 0) {
                fds[i] = serve_connect(d->server);
                send(fds[i], start, sizeof start - 1, MSG_NOSIGNAL | MSG_DONTWAIT);
            } else if (send(fds[i], "a", 1, MSG_NOSIGNAL | MSG_DONTWAIT) < 0) {
                close(fds[i]);
                fds[i] = -1;
                d->sent_away++;
            }
        }
        usleep(100000);
    }
    for (int i = 0; i < DRIPPING; i++)
        if (fds[i] >= 0) close(fds[i]);
    return NULL;
}

static void dripping_clients_do_not_starve_others(void **state)
{
    (void)state;
    served s = start(NULL);
    dripper d = {.server = &s};
    assert_int_equal(pthread_create(&d.thread, NULL, drip, &d), 0);
    usleep(300000); /* so that they are there first */
    int answered = 0;
    for (int i = 0; i < 5; i++) {
        char *answer = serve_get(&s, i % 2 ? "/" : "/logs.json", NULL);
        answered += serve_status(answer) == 200;
        free(answer);
        if (answered <= i) break; /* each would wait for a minute */
    }
    d.end = true;
    assert_int_equal(pthread_join(d.thread, NULL), 0);
    assert_int_equal(answered, 5);
    assert_true(d.sent_away > 0);
    assert_int_equal(serve_stop(&s), 0);
}

/* A connection that is used again after a rest, and one whose log takes long, are left alone. */
static void a_connection_is_used_again(void **state)
{
    (void)state;
    served s = start(NULL);
    int fd = serve_connect(&s);
    static const char request[] = "GET /logs.json HTTP/1.1\r\nHost: localhost\r\n\r\n";
    for (int i = 0; i < 3; i++) {
        char text[4096];
        assert_int_equal(send(fd, request, sizeof request - 1, MSG_NOSIGNAL), sizeof request - 1);
        ssize_t n = recv(fd, text, sizeof text - 1, 0);
        assert_true(n > 0);
        text[n] = '\0';
        assert_int_equal(serve_status(text), 200);
        usleep(1200000);
    }
    close(fd);
    assert_int_equal(serve_stop(&s), 0);
}

static void a_port_in_use_is_said(void **state)
{
    (void)state;
    served s = start(NULL);
    char port[16];
    devlog_error err;
    dl_output out;
    snprintf(port, sizeof port, "%d", s.port);
    const char *argv[] = {getenv("DEVLOG_BIN"), "serve", "-p", port, folder, NULL};
    check_ok(dl_process_run(argv, &out, &err), &err);
    assert_int_equal(out.exit, 1);
    assert_non_null(strstr(out.text, "is in use; choose another with -p"));
    free(out.text);
    const char *missing[] = {getenv("DEVLOG_BIN"), "serve", "-p", "0", "/nowhere/at/all", NULL};
    check_ok(dl_process_run(missing, &out, &err), &err);
    assert_int_equal(out.exit, 1);
    assert_non_null(strstr(out.text, "there is no such file or folder"));
    free(out.text);
    assert_int_equal(serve_stop(&s), 0);
}

static void logs_come_and_go(void **state)
{
    (void)state;
    served s = start(NULL);
    char path[400], route[100], *id = serve_first_id(&s);
    snprintf(path, sizeof path, "%s/later", folder);
    assert_int_equal(mkdir(path, 0777), 0);
    snprintf(path, sizeof path, "%s/later/profile_log_device.csv", folder);
    write_text(path, log_text);
    const struct timespec times[2] = {{.tv_sec = 4000000000}, {.tv_sec = 4000000000}};
    assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
    char *answer = serve_get(&s, "/logs.json", NULL);
    const char *newer = strstr(answer, "later/profile"), *older = strstr(answer, "\"name\":\"profile");
    assert_true(newer && older && newer < older);
    free(answer);

    /* One that grew is decoded anew. */
    snprintf(path, sizeof path, "%s/profile_log_device.csv", folder);
    snprintf(route, sizeof route, "/log/%s/device_perf.html", id);
    answer = serve_get(&s, route, NULL);
    assert_non_null(strstr(answer, "\"all_launches\":1,"));
    free(answer);
    FILE *f = fopen(path, "a");
    assert_non_null(f);
    fputs("0, 1, 2, BRISC, 1, 2000\n0, 1, 2, BRISC, 4, 2400\n", f);
    assert_int_equal(fclose(f), 0);
    answer = serve_get(&s, route, NULL);
    assert_non_null(strstr(answer, "\"all_launches\":2,"));
    free(answer);

    /* One that is gone is said to be. */
    assert_int_equal(unlink(path), 0);
    answer = serve_get(&s, route, NULL);
    assert_int_equal(serve_status(answer), 404);
    assert_non_null(strstr(answer, "This log is gone"));
    free(answer);
    free(id);
    assert_int_equal(serve_stop(&s), 0);
}

static void links_lead_nowhere(void **state)
{
    (void)state;
    char path[400];
    served s = start(NULL);
    snprintf(path, sizeof path, "%s/other_profile_log_device.csv", folder);
    assert_int_equal(symlink("/etc/passwd", path), 0);
    snprintf(path, sizeof path, "%s/loop", folder);
    assert_int_equal(symlink("..", path), 0);
    char *answer = serve_get(&s, "/logs.json", NULL);
    assert_null(strstr(answer, "other_profile"));
    assert_null(strstr(answer, "loop"));
    free(answer);
    assert_int_equal(serve_stop(&s), 0);
}

static void an_empty_log_has_a_page_that_says_so(void **state)
{
    (void)state;
    char path[400], route[100];
    served s = start(NULL);
    snprintf(path, sizeof path, "%s/profile_log_device.csv", folder);
    write_text(path, "");
    char *id = serve_first_id(&s);
    snprintf(route, sizeof route, "/log/%s/device_perf.html", id);
    char *answer = serve_get(&s, route, NULL);
    assert_int_equal(serve_status(answer), 200);
    assert_non_null(strstr(answer, "\"rows\":[]"));
    free(answer);
    free(id);
    assert_int_equal(serve_stop(&s), 0);
}

static void names_of_hosts(void **state)
{
    (void)state;
    const char *const names[] = {"lab.example"};
    static const struct {
        const char *host;
        bool allowed;
    } cases[] = {
        {"localhost", true},
        {"LocalHost:80", true},
        {"127.0.0.1:8050", true},
        {"10.1.2.3", true},
        {"[::1]:8050", true},
        {"[::1]", true},
        {"lab.example:1", true},
        {"LAB.example", true},
        {"evil.example", false},
        {"localhost.evil", false},
        {"", false},
        {"[::1", false},
        {"::1:1", false},
        {"127.0.0.1.evil", false},
        {"[evil]", false},
        {"localhost:1:2", false},
        {"lab.example.evil", false},
        {"[::1]x", false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        assert_int_equal(http_host_allowed(cases[i].host, names, 1), cases[i].allowed);
    assert_false(http_host_allowed(NULL, names, 1));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(answers_have_types_and_policies),
        cmocka_unit_test(temporary_files),
        cmocka_unit_test(the_tar_is_that_of_decode),
        cmocka_unit_test(it_shows_what_was_chosen),
        cmocka_unit_test(only_routes_are_answered),
        cmocka_unit_test(foreign_names_and_methods_are_refused),
        cmocka_unit_test(huge_and_broken_requests_do_no_harm),
        cmocka_unit_test(many_at_once),
        cmocka_unit_test(dripping_clients_do_not_starve_others),
        cmocka_unit_test(a_connection_is_used_again),
        cmocka_unit_test(a_port_in_use_is_said),
        cmocka_unit_test(logs_come_and_go),
        cmocka_unit_test(links_lead_nowhere),
        cmocka_unit_test(an_empty_log_has_a_page_that_says_so),
        cmocka_unit_test(names_of_hosts),
    };
    signal(SIGPIPE, SIG_IGN);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
