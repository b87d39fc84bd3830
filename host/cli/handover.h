/* Handing one file to a web viewer, once: a server on the loopback interface that one site may read from, and
 * that is done when the file has been fetched. */
#ifndef DEVLOG_CLI_HANDOVER_H
#define DEVLOG_CLI_HANDOVER_H

#include "base/error.h"

typedef struct cli_handover cli_handover;

/* Serves `file` as `name` ("/trace.json") to pages of `origin`. Strings are borrowed. */
devlog_status cli_handover_start(cli_handover **h, const char *file, const char *name, const char *origin,
                                 uint16_t port, devlog_error *err);
/* "http://127.0.0.1:9001" */
const char *cli_handover_url(const cli_handover *h);
uint16_t cli_handover_port(const cli_handover *h);
/* Until the file has been fetched whole. */
void cli_handover_wait(cli_handover *h);
void cli_handover_stop(cli_handover *h);

#endif
