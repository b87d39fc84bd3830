/* Connections of the web server that take room without asking for anything: a client that sends its request a
 * byte at a time, or takes its answer so. Knows who is connected, since when, and who must go; http.c tells
 * it, and a thread of its own shuts their sockets down. */
#ifndef DEVLOG_CLI_HTTP_GUARD_H
#define DEVLOG_CLI_HTTP_GUARD_H

#include <sys/socket.h>

#include "base/error.h"

typedef struct http_guard http_guard;
typedef struct http_guest http_guest; /* a connection */

/* A request is whole after HTTP_ASKING seconds, or its connection ends; the same for one that is idle between
 * two requests. When no more than HTTP_KEPT connections are free, those go that have been asking for more
 * than HTTP_ASKING_FULL, then those that have been taking their answer for more than HTTP_SENDING_FULL: of
 * the address that has most of them, the oldest. Connections whose answer is being made stay. */
enum { HTTP_ASKING = 10, HTTP_ASKING_FULL = 1, HTTP_SENDING_FULL = 30, HTTP_KEPT = 8 };

typedef enum http_doing { HTTP_IS_ASKING, HTTP_IS_WAITING, HTTP_IS_TAKING } http_doing;

/* For at most `max` connections. */
devlog_status http_guard_start(http_guard **guard, unsigned max, devlog_error *err);
/* After the server has ended. */
void http_guard_stop(http_guard *guard);

/* NULL when there are too many. The socket is open until http_guest_leaves. */
http_guest *http_guest_comes(http_guard *guard, int fd, const struct sockaddr *from);
void http_guest_does(http_guest *guest, http_doing what);
void http_guest_leaves(http_guest *guest);

#endif
