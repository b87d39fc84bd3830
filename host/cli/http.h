/* A small web server on libmicrohttpd, for `devlog serve` and `devlog view`: fixed routes, GET and HEAD only,
 * on the loopback interface unless told otherwise. What it answers is up to a handler; that nothing else can
 * be asked is checked here: method, Host header, size of the request, number of connections. */
#ifndef DEVLOG_CLI_HTTP_H
#define DEVLOG_CLI_HTTP_H

#include <stdbool.h>

#include "base/str.h"

/* What a handler answers. Zero but for status and type is an empty body. */
typedef struct http_reply {
    unsigned status;      /* 200 unless the handler says otherwise */
    const char *type;     /* of the content; static */
    const char *download; /* file name under which a browser saves it; static; NULL: it shows it */
    const char *policy;   /* content security policy; must outlive the server; NULL: nothing may run */
    dl_str body;          /* taken over */
    int fd;               /* a file instead of the body; taken over; -1: none */
} http_reply;

typedef struct http_options {
    const char *address;           /* to listen on: an IPv4 or IPv6 address; NULL: 127.0.0.1 */
    uint16_t port;                 /* 0: any that is free */
    const char *const *host_names; /* further names by which the server may be called, n_host_names of them;
                                      numbers and "localhost" always are */
    size_t n_host_names;
    const char *origin; /* one other site that may read the answers; NULL: none */
    /* `path` begins with '/' and has no query. Called from several threads at once. */
    void (*handler)(void *ctx, const char *path, http_reply *reply);
    /* When the answer to a GET has been sent whole; may be NULL. */
    void (*done)(void *ctx, unsigned status);
    void *ctx;
} http_options;

typedef struct http http;

enum { HTTP_CONNECTIONS = 64, HTTP_REQUEST_BYTES = 16 * 1024, HTTP_IDLE_SECONDS = 15 };

/* The options' arrays are borrowed. Fails with STATE when the port is taken, ARGUMENT for a bad address. */
devlog_status http_start(http **server, const http_options *options, devlog_error *err);
/* "http://127.0.0.1:8050"; owned by the server. */
const char *http_url(const http *server);
uint16_t http_port(const http *server);
/* Under WSL, on stderr: what to do when a browser of Windows does not find a server of this machine. */
void http_say_windows(uint16_t port);
/* Answers what is under way, then frees. */
void http_stop(http *server);

/* Whether a Host header's value names this machine in a way that another site cannot borrow by pointing its
 * name here: a number, "localhost", or one of the names. */
bool http_host_allowed(const char *host, const char *const *names, size_t n);

#endif
