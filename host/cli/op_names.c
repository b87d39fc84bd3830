/* Names of ops for timelines. See op_names.h. */
#include "cli/op_names.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The op log beside a device log, if there is one; the caller frees. */
static char *beside(const char *device_log)
{
    const char *slash = strrchr(device_log, '/');
    char *folder = slash ? strndup(device_log, (size_t)(slash + 1 - device_log)) : strdup(".");
    char *found = folder ? op_log_in(folder) : NULL;
    free(folder);
    return found;
}

devlog_status cli_op_names_read(cli_op_names *names, const char *path, const char *device_log,
                                devlog_error *err)
{
    char *found = path ? strdup(path) : beside(device_log);
    if (!found) return path ? dl_fail(err, DEVLOG_ERR_MEMORY, "out of memory") : DEVLOG_OK;
    names->open = true;
    devlog_status status = op_log_read(&names->log, found, err);
    free(found);
    if (status) return status;
    if (path && names->log.n_ops == 0)
        return dl_fail(err, DEVLOG_ERR_NOT_FOUND,
                       "%s has no op: launches would have no names; --ops takes the run's " OP_LOG_NAME,
                       path);
    names->names = calloc(names->log.n_ops + 1, sizeof *names->names);
    return names->names ? DEVLOG_OK : dl_fail(err, DEVLOG_ERR_MEMORY, "out of memory");
}

void cli_op_names_free(cli_op_names *names)
{
    for (size_t i = 0; names->names && i < names->log.n_ops; i++)
        free(names->names[i]);
    free(names->names);
    op_text_free(&names->text);
    if (names->open) op_log_free(&names->log);
    *names = (cli_op_names){0};
}

const char *cli_op_name(void *ctx, const dl_launch *launch)
{
    cli_op_names *names = ctx;
    bool other_run = launch->run && names->log.run && launch->run != names->log.run;
    if (!names->names || !launch->op || other_run) return NULL;
    const op_entry *op = op_log_find(&names->log, launch->op);
    if (!op) return NULL;
    char **name = &names->names[op - names->log.ops];
    if (*name) return *name;
    op_text_read(&names->text, &names->log, op);
    /* A piece of the texts has a length and no end of its own. */
    op_piece piece = names->text.name;
    *name = strndup(op_piece_text(&names->text, piece), piece.len);
    return *name;
}
