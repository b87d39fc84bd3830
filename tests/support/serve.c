/* `devlog serve` for tests. */
#include "support/serve.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/cmocka_all.h"

served serve_start(const char *folder, const char *const *more)
{
    const char *argv[16] = {getenv("DEVLOG_BIN"), "serve", "-p", "0", folder};
    int n = 5, pipes[2];
    served s = {0};
    for (; more && *more && n < 15; more++)
        argv[n++] = *more;
    assert_non_null(argv[0]);
    assert_int_equal(pipe(pipes), 0);
    s.pid = fork();
    assert_true(s.pid >= 0);
    if (s.pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL); /* it must not outlive a test that was ended */
        dup2(pipes[1], STDOUT_FILENO);
        close(pipes[0]);
        close(pipes[1]);
        execv(argv[0], (char *const *)argv);
        _exit(127);
    }
    close(pipes[1]);
    s.out = pipes[0];
    char line[512] = "";
    for (size_t at = 0; at + 1 < sizeof line && !strchr(line, '\n'); at++)
        if (read(s.out, line + at, 1) != 1) break;
    const char *colon = strrchr(line, ':');
    for (const char *p = line; *p; p++) /* http://127.0.0.1:PORT/ */
        if (strncmp(p, "127.0.0.1:", 10) == 0) colon = p + 9;
    assert_non_null(colon);
    s.port = atoi(colon + 1);
    assert_true(s.port > 0);
    return s;
}

int serve_stop(served *s)
{
    int status = 0;
    kill(s->pid, SIGTERM);
    waitpid(s->pid, &status, 0);
    close(s->out);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

int serve_connect(const served *s)
{
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons((uint16_t)s->port)};
    const struct timeval patience = {.tv_sec = 60};
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    assert_true(fd >= 0);
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    assert_int_equal(connect(fd, (const struct sockaddr *)&to, sizeof to), 0);
    return fd;
}

/* Whether an answer has as many bytes as it says. */
static int is_whole(const char *text, size_t n)
{
    const char *end = strstr(text, "\r\n\r\n"), *length = strcasestr(text, "\r\nContent-Length:");
    if (!end || !length || length > end) return 0;
    return n >= (size_t)(end + 4 - text) + (size_t)atoll(length + 17);
}

char *serve_ask(const served *s, const char *request, size_t *size)
{
    int fd = serve_connect(s);
    size_t n = 0, cap = 1 << 16, left = strlen(request);
    char *text = calloc(1, cap);
    assert_non_null(text);
    while (left) {
        ssize_t sent = send(fd, request, left, MSG_NOSIGNAL);
        if (sent <= 0) break; /* it has heard enough */
        request += sent;
        left -= (size_t)sent;
    }
    while (!is_whole(text, n)) {
        if (cap - n < 4096) {
            text = realloc(text, cap *= 2);
            assert_non_null(text);
        }
        ssize_t got = recv(fd, text + n, cap - n - 1, 0);
        if (got <= 0) break;
        n += (size_t)got;
        text[n] = '\0';
    }
    close(fd);
    if (size) *size = n;
    return text;
}

char *serve_get(const served *s, const char *path, size_t *n)
{
    char request[1024];
    snprintf(request, sizeof request, "GET %s HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nConnection: close\r\n\r\n",
             path, s->port);
    return serve_ask(s, request, n);
}

int serve_status(const char *answer)
{
    return strncmp(answer, "HTTP/1.", 7) == 0 ? atoi(answer + 9) : 0;
}

const char *serve_body(const char *answer)
{
    const char *end = strstr(answer, "\r\n\r\n");
    return end ? end + 4 : "";
}

char *serve_first_id(const served *s)
{
    char *answer = serve_get(s, "/logs.json", NULL), *id = strstr(answer, "\"id\":\"");
    assert_non_null(id);
    id = strndup(id + 6, 16);
    free(answer);
    return id;
}
