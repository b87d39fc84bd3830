/* The monitor of QEMU. Every message is one line of JSON; of the answers only a number behind a known word is
 * wanted, so that they are searched and not parsed. Not for starting QEMU (qemu.c). */
#include "transport/qmp.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

enum { ANSWER_S = 5, START_TRIES = 200, START_GAP_NS = 10000000 };

void qmp_init(qmp *m)
{
    m->fd = -1;
    m->filled = 0;
}

void qmp_close(qmp *m)
{
    if (m->fd >= 0) close(m->fd);
    qmp_init(m);
}

static devlog_status broken(qmp *m, const char *what, devlog_error *err)
{
    qmp_close(m);
    return dl_fail(err, DEVLOG_ERR_TRANSPORT, "the monitor of QEMU %s", what);
}

/* The next line, zero-terminated, in the buffer; *next is where the one behind it begins. NULL: *err says
 * why. */
static const char *read_line(qmp *m, size_t *next, devlog_error *err)
{
    for (;;) {
        char *end = memchr(m->buffer, '\n', m->filled);
        if (end) {
            *end = 0;
            *next = (size_t)(end - m->buffer) + 1;
            return m->buffer;
        }
        if (m->filled == sizeof m->buffer) return broken(m, "sent a line that is too long", err), NULL;
        ssize_t n = recv(m->fd, m->buffer + m->filled, sizeof m->buffer - m->filled, 0);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return broken(m, n < 0 ? "does not answer" : "has hung up", err), NULL;
        m->filled += (size_t)n;
    }
}

static void drop_line(qmp *m, size_t next)
{
    m->filled -= next;
    memmove(m->buffer, m->buffer + next, m->filled);
}

/* Sends a command; its answer is left in `answer`, cut to size. Lines in between are events. */
static devlog_status ask(qmp *m, const char *command, char *answer, size_t size, devlog_error *err)
{
    size_t n = strlen(command), next;
    if (send(m->fd, command, n, MSG_NOSIGNAL) != (ssize_t)n) return broken(m, "has hung up", err);
    for (;;) {
        const char *line = read_line(m, &next, err);
        if (!line) return DEVLOG_ERR_TRANSPORT;
        bool failed = strncmp(line, "{\"error\"", 8) == 0;
        bool done = failed || strncmp(line, "{\"return\"", 9) == 0;
        if (done) snprintf(answer, size, "%s", line);
        drop_line(m, next);
        if (failed) return dl_fail(err, DEVLOG_ERR_TRANSPORT, "QEMU refused %s: %.300s", command, answer);
        if (done) return DEVLOG_OK;
    }
}

devlog_status qmp_open(qmp *m, const char *path, devlog_error *err)
{
    struct sockaddr_un to = {.sun_family = AF_UNIX};
    struct timeval patience = {.tv_sec = ANSWER_S};
    char answer[256];
    size_t next;
    if (m->fd >= 0) return DEVLOG_OK;
    if (strlen(path) >= sizeof to.sun_path)
        return dl_fail(err, DEVLOG_ERR_ARGUMENT, "the path of QEMU's monitor is too long for a socket: %s",
                       path);
    snprintf(to.sun_path, sizeof to.sun_path, "%s", path);
    qmp_init(m);
    m->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (m->fd < 0) return dl_fail_errno(err, errno, "cannot make a socket");
    int tries = 0;
    while (connect(m->fd, (struct sockaddr *)&to, sizeof to) != 0) {
        int errnum = errno;
        if ((errnum == ENOENT || errnum == ECONNREFUSED) && tries++ < START_TRIES &&
            access(path, F_OK) != 0) {
            nanosleep(&(struct timespec){.tv_nsec = START_GAP_NS}, NULL);
            continue;
        }
        qmp_close(m);
        return dl_fail_errno(err, errnum, "cannot reach the monitor of QEMU, %s", path);
    }
    setsockopt(m->fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    if (!read_line(m, &next, err)) return DEVLOG_ERR_TRANSPORT;
    drop_line(m, next);
    return ask(m, "{\"execute\":\"qmp_capabilities\"}\n", answer, sizeof answer, err);
}

/* The hexadecimal number behind `word` in the answer of a command for people. */
static devlog_status ask_number(qmp *m, const char *command, uint32_t hart, const char *word, uint32_t *value,
                                devlog_error *err)
{
    char text[256], answer[8192];
    snprintf(
        text, sizeof text,
        "{\"execute\":\"human-monitor-command\",\"arguments\":{\"command-line\":\"%s\",\"cpu-index\":%u}}\n",
        command, hart);
    devlog_status status = ask(m, text, answer, sizeof answer, err);
    if (status != DEVLOG_OK) return status;
    const char *at = strstr(answer, word);
    char *end = NULL;
    if (at) *value = (uint32_t)strtoul(at + strlen(word), &end, 16);
    if (!at || end == at + strlen(word))
        return dl_fail(err, DEVLOG_ERR_TRANSPORT, "QEMU's answer to '%s' is not understood: %.200s", command,
                       answer);
    return DEVLOG_OK;
}

devlog_status qmp_read_word(qmp *m, uint32_t address, uint32_t *value, devlog_error *err)
{
    char command[64];
    snprintf(command, sizeof command, "xp /1wx 0x%x", address);
    return ask_number(m, command, 0, ": 0x", value, err);
}

devlog_status qmp_hart_pc(qmp *m, uint32_t hart, uint32_t *pc, devlog_error *err)
{
    return ask_number(m, "info registers", hart, " pc ", pc, err);
}
