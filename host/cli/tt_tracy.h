/* Exporting a saved capture of Tracy's into the files that an op report is made of. */
#ifndef DEVLOG_CLI_TT_TRACY_H
#define DEVLOG_CLI_TT_TRACY_H

#include "base/error.h"

/* Runs tracy-csvexport (or tt-metal's csvexport-release) for the messages and the zones of `tracy`; both files
 * are in `folder` then. NOT_FOUND when neither program is on the PATH. */
devlog_status cli_tracy_export(const char *tracy, const char *folder, devlog_error *err);

#endif
