/* `devlog serve` as a process of its own, and raw requests to it. */
#ifndef DEVLOG_TESTS_SERVE_H
#define DEVLOG_TESTS_SERVE_H

#include <stddef.h>
#include <sys/types.h>

typedef struct served {
    pid_t pid;
    int port, out;
} served;

/* Starts it on a port that is free; NULL-terminated further arguments may be NULL. Fails the test when it
 * does not come up. */
served serve_start(const char *folder, const char *const *more);
/* Ends it by SIGTERM; returns its exit status. */
int serve_stop(served *s);

/* A connection to it. */
int serve_connect(const served *s);
/* Sends a whole request and reads until the server closes or the answer is whole. Zero-terminated, freed by
 * the caller; *n, which may be NULL, is its size. */
char *serve_ask(const served *s, const char *request, size_t *n);
/* GET with an ordinary Host. */
char *serve_get(const served *s, const char *path, size_t *n);
/* 200 of "HTTP/1.1 200 OK"; 0 when there was no answer. */
int serve_status(const char *answer);
/* Behind the headers. */
const char *serve_body(const char *answer);
/* The id of the first log in /logs.json; freed by the caller. */
char *serve_first_id(const served *s);

#endif
