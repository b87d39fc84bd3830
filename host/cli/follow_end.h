/* How a command that follows a growing log is told to end: by SIGINT or SIGTERM, after which it prints what it has. Not for commands
 * that start a child (child.h). */
#ifndef DEVLOG_CLI_FOLLOW_END_H
#define DEVLOG_CLI_FOLLOW_END_H

#include <stdbool.h>

/* From here on both signals only ask to end. */
void cli_follow_catch(void);

/* Whether one of them came. `ctx` is not used: it has the shape that followers ask for. */
bool cli_follow_ended(void *ctx);

#endif
