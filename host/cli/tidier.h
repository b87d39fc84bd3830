/* What a command has on a disk only while it works is removed however the command ends, also when it is killed: by a
 * process that waits for that. Not for files that have no name until they are whole (base/file.h). */
#ifndef DEVLOG_CLI_TIDIER_H
#define DEVLOG_CLI_TIDIER_H

#include <sys/types.h>

typedef struct cli_tidier {
    void (*tidy)(void *ctx);
    void *ctx;
    pid_t process; /* that tidies; -1: none could be started */
    int end;       /* of a pipe, which closes with this process */
} cli_tidier;

/* From now on `tidy` is called when this process has ended, with what it has now. */
void cli_tidier_begin(cli_tidier *t, void (*tidy)(void *ctx), void *ctx);
/* Calls it now: what it removes is gone when this returns. */
void cli_tidier_end(cli_tidier *t);

/* A folder in TMPDIR (else /tmp) that is TMPDIR from now on; it is removed with all that is in it. */
typedef struct cli_temporary {
    cli_tidier tidier;
    char *folder, *before; /* NULL: none could be made, or none was set */
} cli_temporary;

void cli_temporary_begin(cli_temporary *t);
void cli_temporary_end(cli_temporary *t);

#endif
