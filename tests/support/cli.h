/* The program itself, run by tests: what it prints, what it leaves on disk, and how it ends. */
#ifndef DEVLOG_TESTS_CLI_H
#define DEVLOG_TESTS_CLI_H

#include "support/cmocka_all.h"

/* A fresh folder of this test program, removed when it ends; the same on every call. */
const char *scratch(void);
/* Path of `name` in it; one of a few buffers in turn. */
const char *in_scratch(const char *name);

/* Runs "devlog LINE" by the shell in the scratch folder and returns its exit status. *out and *err receive
 * what it printed; freed by the caller; each may be NULL. */
int devlog(const char *line, char **out, char **err);
/* The same as a user who may not write everywhere: root runs it as nobody. < 0: neither setpriv nor su can; nothing was
 * received then. */
int devlog_as_user(const char *line, char **out, char **err);

/* Runs and requires the exit status; returns what was printed on stdout, freed by the caller. */
char *devlog_ok(const char *line, int exit_status);
/* Runs and requires the exit status, nothing on stdout, and one line on stderr that has `says` in it. */
void devlog_fails(const char *line, int exit_status, const char *says);

/* Whether the text is well-formed JSON, by cJSON. */
int is_json(const char *text);

#endif
