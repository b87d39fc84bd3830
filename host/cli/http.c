/* The web server; see http.h. */
#include "cli/http.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/settings.h"
#include "cli/http_guard.h"
#include "cli/http_library.h"

struct http {
    struct MHD_Daemon *daemon;
    http_guard *guard;
    http_options options;
    uint16_t port;
    char url[80];
};

/* The name in a Host header, without port and without the brackets of IPv6; false when it is none. */
static bool host_name(const char *host, char out[256])
{
    size_t n;
    if (host[0] == '[') {
        const char *end = strchr(host, ']');
        if (!end || (end[1] && end[1] != ':')) return false;
        n = (size_t)(end - host - 1);
        host++;
    } else {
        n = strcspn(host, ":");
        if (host[n] == ':' && strchr(host + n + 1, ':')) return false;
    }
    if (n == 0 || n > 255) return false;
    memcpy(out, host, n);
    out[n] = '\0';
    return true;
}

bool http_host_allowed(const char *host, const char *const *names, size_t n)
{
    char name[256];
    struct in6_addr address;
    if (!host || !host_name(host, name)) return false;
    if (strcasecmp(name, "localhost") == 0) return true;
    if (inet_pton(AF_INET, name, &address) == 1 || inet_pton(AF_INET6, name, &address) == 1) return true;
    for (size_t i = 0; i < n; i++)
        if (strcasecmp(name, names[i]) == 0) return true;
    return false;
}

static void plain(http_reply *reply, unsigned status, const char *text)
{
    reply->status = status;
    reply->type = "text/plain; charset=utf-8";
    dl_str_add(&reply->body, text);
}

static void add_headers(const http *s, const http_reply *reply, struct MHD_Response *r)
{
    const char *policy = reply->policy ? reply->policy : "default-src 'none'";
    MHD_add_response_header(r, "Content-Type", reply->type ? reply->type : "text/plain; charset=utf-8");
    MHD_add_response_header(r, "Content-Security-Policy", policy);
    MHD_add_response_header(r, "X-Content-Type-Options", "nosniff");
    MHD_add_response_header(r, "X-Frame-Options", "DENY");
    MHD_add_response_header(r, "Referrer-Policy", "no-referrer");
    MHD_add_response_header(r, "Cache-Control", "no-store");
    if (reply->status == MHD_HTTP_METHOD_NOT_ALLOWED) MHD_add_response_header(r, "Allow", "GET, HEAD");
    if (reply->download) {
        char value[200];
        snprintf(value, sizeof value, "attachment; filename=\"%s\"", reply->download);
        MHD_add_response_header(r, "Content-Disposition", value);
    }
    if (s->options.origin) {
        MHD_add_response_header(r, "Access-Control-Allow-Origin", s->options.origin);
        MHD_add_response_header(r, "Access-Control-Allow-Private-Network", "true");
    } else {
        MHD_add_response_header(r, "Cross-Origin-Resource-Policy", "same-origin");
    }
}

/* Takes over the reply's body or file. */
static enum MHD_Result answer(const http *s, struct MHD_Connection *connection, http_reply *reply)
{
    struct MHD_Response *r = NULL;
    struct stat st;
    if (reply->fd >= 0) {
        if (fstat(reply->fd, &st) == 0) r = MHD_create_response_from_fd64((uint64_t)st.st_size, reply->fd);
        if (!r) close(reply->fd);
        dl_str_free(&reply->body);
    } else {
        r = MHD_create_response_from_buffer(reply->body.len, reply->body.text, MHD_RESPMEM_MUST_FREE);
        if (!r) dl_str_free(&reply->body);
    }
    if (!r) return MHD_NO;
    add_headers(s, reply, r);
    enum MHD_Result result = MHD_queue_response(connection, reply->status, r);
    MHD_destroy_response(r);
    return result;
}

static http_guest *guest_of(struct MHD_Connection *connection)
{
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
    return info ? info->socket_context : NULL;
}

static void on_connection(void *ctx, struct MHD_Connection *connection, void **socket_context,
                          enum MHD_ConnectionNotificationCode what)
{
    http *s = ctx;
    if (what == MHD_CONNECTION_NOTIFY_CLOSED) {
        http_guest_leaves(*socket_context);
        *socket_context = NULL;
        return;
    }
    const union MHD_ConnectionInfo *fd =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    int number = fd ? fd->connect_fd : -1;
    const union MHD_ConnectionInfo *from =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
    *socket_context = number < 0 ? NULL : http_guest_comes(s->guard, number, from ? from->client_addr : NULL);
}

/* What is known of a request between the calls for it: the address of one of these. */
static const char headers_seen, given_200, given_other;

static enum MHD_Result on_request(void *ctx, struct MHD_Connection *connection, const char *url,
                                  const char *method, const char *version, const char *upload,
                                  size_t *upload_size, void **state)
{
    const http *s = ctx;
    http_reply reply = {.status = MHD_HTTP_OK, .fd = -1};
    (void)version, (void)upload;
    bool get = strcmp(method, MHD_HTTP_METHOD_GET) == 0 || strcmp(method, MHD_HTTP_METHOD_HEAD) == 0;
    const char *host = MHD_lookup_connection_value(connection, MHD_HEADER_KIND, MHD_HTTP_HEADER_HOST);
    if (!http_host_allowed(host, s->options.host_names, s->options.n_host_names)) {
        plain(&reply, MHD_HTTP_FORBIDDEN,
              "This server is not known by that name. Open it by its address, or name it with "
              "--host-name.\n");
    } else if (s->options.origin && strcmp(method, MHD_HTTP_METHOD_OPTIONS) == 0) {
        reply.status = MHD_HTTP_NO_CONTENT; /* a browser asks whether the other site may read */
    } else if (!get) {
        plain(&reply, MHD_HTTP_METHOD_NOT_ALLOWED, "Only GET and HEAD are answered here.\n");
    } else if (*upload_size) {
        plain(&reply, MHD_HTTP_BAD_REQUEST, "A request here has no body.\n");
    } else if (*state != (void *)&headers_seen) {
        *state = (void *)&headers_seen;
        return MHD_YES;
    } else {
        http_guest_does(guest_of(connection), HTTP_IS_WAITING);
        s->options.handler(s->options.ctx, url, &reply);
        bool whole = reply.status == MHD_HTTP_OK && strcmp(method, MHD_HTTP_METHOD_GET) == 0;
        *state = (void *)(whole ? &given_200 : &given_other);
    }
    http_guest_does(guest_of(connection), HTTP_IS_TAKING);
    return answer(s, connection, &reply);
}

static void on_completed(void *ctx, struct MHD_Connection *connection, void **state,
                         enum MHD_RequestTerminationCode how)
{
    const http *s = ctx;
    http_guest_does(guest_of(connection), HTTP_IS_ASKING); /* the next, if there is one */
    if (how == MHD_REQUEST_TERMINATED_COMPLETED_OK && *state == (void *)&given_200 && s->options.done)
        s->options.done(s->options.ctx, MHD_HTTP_OK);
}

/* Paths are compared as they come: nothing in a route needs an escape. */
static size_t keep_escapes(void *ctx, struct MHD_Connection *connection, char *text)
{
    (void)ctx, (void)connection;
    return strlen(text);
}

static void no_log(void *ctx, const char *fmt, va_list ap)
{
    (void)ctx, (void)fmt, (void)ap; /* what clients do wrong is no concern of the terminal's */
}

/* A listening socket; -1 and *err on failure. Sets s->port and s->url. */
static int listen_on(http *s, devlog_error *err)
{
    const char *address = s->options.address ? s->options.address : "127.0.0.1";
    struct sockaddr_in v4 = {.sin_family = AF_INET, .sin_port = htons(s->options.port)};
    struct sockaddr_in6 v6 = {.sin6_family = AF_INET6, .sin6_port = htons(s->options.port)};
    bool six = inet_pton(AF_INET6, address, &v6.sin6_addr) == 1;
    if (!six && inet_pton(AF_INET, address, &v4.sin_addr) != 1) {
        dl_fail(err, DEVLOG_ERR_ARGUMENT, "'%s' is not an address; 127.0.0.1, ::1 and 0.0.0.0 are", address);
        return -1;
    }
    const struct sockaddr *sa = six ? (const struct sockaddr *)&v6 : (const struct sockaddr *)&v4;
    socklen_t size = six ? sizeof v6 : sizeof v4;
    int one = 1, fd = socket(sa->sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd >= 0) setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
    if (fd < 0 || bind(fd, sa, size) != 0 || listen(fd, SOMAXCONN) != 0) {
        int errnum = errno;
        if (errnum == EADDRINUSE)
            dl_fail(err, DEVLOG_ERR_STATE,
                    "port %u of %s is in use; choose another with -p, or 0 for any that is free",
                    s->options.port, address);
        else
            dl_fail_errno(err, errnum, "cannot listen on port %u of %s", s->options.port, address);
        if (fd >= 0) close(fd);
        return -1;
    }
    getsockname(fd, six ? (struct sockaddr *)&v6 : (struct sockaddr *)&v4, &size);
    s->port = ntohs(six ? v6.sin6_port : v4.sin_port);
    bool any = strcmp(address, "0.0.0.0") == 0 || strcmp(address, "::") == 0;
    snprintf(s->url, sizeof s->url, "http://%s%s%s:%u", six && !any ? "[" : "", any ? "127.0.0.1" : address,
             six && !any ? "]" : "", s->port);
    return fd;
}

devlog_status http_start(http **server, const http_options *options, devlog_error *err)
{
    http *s = calloc(1, sizeof *s);
    *server = NULL;
    if (!s) return dl_fail(err, DEVLOG_ERR_MEMORY, "out of memory");
    devlog_status status = load_mhd(err);
    if (status) {
        free(s);
        return status;
    }
    s->options = *options;
    int fd = listen_on(s, err);
    if (fd < 0) {
        free(s);
        return err->status;
    }
    status = http_guard_start(&s->guard, HTTP_CONNECTIONS, err);
    if (status) {
        close(fd);
        free(s);
        return status;
    }
    /* A thread for each connection: one that waits for a log to be decoded holds up no other. */
    s->daemon = MHD_start_daemon(
        MHD_USE_INTERNAL_POLLING_THREAD | MHD_USE_THREAD_PER_CONNECTION | MHD_USE_ERROR_LOG, 0, NULL, NULL,
        on_request, s, MHD_OPTION_EXTERNAL_LOGGER, no_log, NULL, MHD_OPTION_LISTEN_SOCKET, fd,
        MHD_OPTION_CONNECTION_LIMIT, (unsigned)HTTP_CONNECTIONS, MHD_OPTION_CONNECTION_MEMORY_LIMIT,
        (size_t)HTTP_REQUEST_BYTES, MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)HTTP_IDLE_SECONDS,
        MHD_OPTION_UNESCAPE_CALLBACK, keep_escapes, NULL, MHD_OPTION_NOTIFY_COMPLETED, on_completed, s,
        MHD_OPTION_NOTIFY_CONNECTION, on_connection, s, MHD_OPTION_STRICT_FOR_CLIENT, 1, MHD_OPTION_END);
    if (!s->daemon) {
        close(fd);
        http_guard_stop(s->guard);
        free(s);
        return dl_fail(err, DEVLOG_ERR_IO, "the web server did not start");
    }
    *server = s;
    return DEVLOG_OK;
}

const char *http_url(const http *server)
{
    return server->url;
}

uint16_t http_port(const http *server)
{
    return server->port;
}

void http_stop(http *server)
{
    if (!server) return;
    MHD_stop_daemon(server->daemon);
    http_guard_stop(server->guard);
    free(server);
}

void http_say_windows(uint16_t port)
{
    if (!dl_setting_text(DL_SET_WSL_DISTRO_NAME)) return;
    fprintf(stderr,
            "In Windows the address is the same. If its browser does not find it there, type\n"
            "  here:   devlog serve --address 0.0.0.0 -p %u FOLDER\n"
            "  and open http://ADDRESS:%u/ there, ADDRESS being what hostname -I says here\n",
            port, port);
}
