/* The store: results of logs, made when they are first asked for and kept in a temporary folder for as long
 * as the log does not change. For `devlog serve`; safe to call from several threads. */
#ifndef DEVLOG_CLI_STORE_H
#define DEVLOG_CLI_STORE_H

#include "cli/logs.h"

typedef struct cli_store cli_store;

enum { CLI_STORE_KEPT = 16 }; /* logs whose results are kept; the longest unused go first */

/* Writes the results of a log into a folder. */
typedef devlog_status cli_store_maker(void *ctx, const char *log, const char *folder, devlog_error *err);

/* `make` may be called on several threads at once. */
devlog_status cli_store_new(cli_store **store, cli_store_maker *make, void *ctx, devlog_error *err);
/* Removes everything. */
void cli_store_free(cli_store *store);

/* Opens the result `file` of a log, decoding it first if need be; other logs are not held up meanwhile.
 * Returns a file descriptor of the caller's, or -1 and *err. */
int cli_store_open(cli_store *store, const cli_log *log, const char *file, devlog_error *err);

#endif
