/* Names of ops for timelines. See op_names.h. */
#include "cli/op_names.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tt_metal/folder.h"

static size_t folder_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? (size_t)(slash + 1 - path) : 0;
}

/* Of a pipe nothing says whose its launches are. */
static bool are_in_one_folder(char *const *logs, size_t n)
{
    const size_t length = folder_of(logs[0]);
    bool all = strcmp(logs[0], "-") != 0;
    for (size_t i = 1; i < n && all; i++)
        all = folder_of(logs[i]) == length && memcmp(logs[0], logs[i], length) == 0;
    return all;
}

/* What the host's side of a run says of its ops, beside the logs: devlog's own first. NULL: there is none. */
static devlog_status beside(cli_op_names *names, char *const *logs, size_t n, char **path, bool *metals,
                            devlog_error *err)
{
    const size_t length = folder_of(logs[0]);
    char *folder = length ? strndup(logs[0], length) : strdup(".");
    bool no_memory = !folder, above = false;
    *path = folder ? op_log_of(folder, &above) : NULL;
    *metals = folder && !*path && are_in_one_folder(logs, n);
    if (*metals) *path = tt_file_find(folder, TT_OPS_DATA_NAME, &no_memory);
    if (*metals && *path && tt_data_is_before(*path, logs[0])) {
        names->older = *path;
        dl_shown_line_in_place(names->older); /* it is only told */
        *path = NULL;
    }
    free(folder);
    return no_memory ? dl_fail(err, DEVLOG_ERR_MEMORY, "out of memory") : DEVLOG_OK;
}

/* By its name, packed or not. */
static bool is_of_tt_metal(const char *path)
{
    const char *slash = strrchr(path, '/');
    return strstr(slash ? slash : path, "tracy_ops_data") != NULL;
}

static devlog_status read_metals(cli_op_names *names, const char *path, devlog_error *err)
{
    names->metals = true;
    const devlog_status status = tt_host_begin(&names->host, &names->found, NULL, err);
    return status ? status : tt_host_read_data(&names->host, path, NULL, err);
}

static devlog_status read_log(cli_op_names *names, const char *path, devlog_error *err)
{
    names->open = true;
    return op_log_read(&names->log, path, err);
}

devlog_status cli_op_names_read(cli_op_names *names, const char *path, char *const *logs, size_t n,
                                devlog_error *err)
{
    char *found = path ? strdup(path) : NULL;
    bool metals = path && is_of_tt_metal(path);
    devlog_status status = path ? found ? DEVLOG_OK : dl_fail(err, DEVLOG_ERR_MEMORY, "out of memory")
                                : beside(names, logs, n, &found, &metals, err);
    if (status || !found) return status;
    status = metals ? read_metals(names, found, err) : read_log(names, found, err);
    free(found);
    if (status) return status;
    const size_t n_ops = metals ? names->host.n_ops : names->log.n_ops;
    if (path && n_ops == 0)
        return dl_fail(err, DEVLOG_ERR_NOT_FOUND,
                       "%s has no op: launches would have no names; --ops takes the run's " OP_LOG_NAME
                       ", or " TT_OPS_DATA_NAME " of tt-metal",
                       path);
    names->names = calloc(n_ops + 1, sizeof *names->names);
    return names->names ? DEVLOG_OK : dl_fail(err, DEVLOG_ERR_MEMORY, "out of memory");
}

void cli_op_names_free(cli_op_names *names)
{
    const size_t n = names->metals ? names->host.n_ops : names->log.n_ops;
    for (size_t i = 0; names->names && i < n; i++)
        free(names->names[i]);
    free(names->names);
    free(names->older);
    op_text_free(&names->text);
    if (names->open) op_log_free(&names->log);
    if (names->metals) tt_host_free(&names->host);
    if (names->metals) tt_found_free(&names->found);
    *names = (cli_op_names){0};
}

void cli_op_names_say(const cli_op_names *names, const char *command)
{
    if (names->older)
        fprintf(
            stderr,
            "devlog %s: %s is older than the device log, so maybe of a run before: launches have no names of ops "
            "(devlog export --ops takes it all the same)\n",
            command, names->older);
}

/* By the id of the op and its device, as tt-metal's own script joins them (tt_metal/join.c). */
void cli_op_names_tell(cli_op_names *names, dl_decode *d)
{
    const dl_launches *all = dl_decode_launches(d);
    const dl_chip *chips = dl_decode_tables(d)->chips;
    for (uint32_t i = 0; i < all->count && names->metals && names->names; i++) {
        const uint64_t id = all->items[i].run_host_id;
        const uint32_t at = id && id <= UINT32_MAX ? tt_host_find(&names->host, id) : TT_NONE;
        const uint32_t device = at == TT_NONE ? TT_NONE : names->host.ops[at].device;
        if (at != TT_NONE && (device == TT_NONE || device == chips[all->items[i].chip].id))
            dl_decode_tell_op(d, i, (uint32_t)id);
    }
}

static const char *name_of_metals(cli_op_names *names, const dl_launch *launch)
{
    const uint32_t at = launch->op ? tt_host_find(&names->host, launch->op) : TT_NONE;
    if (at == TT_NONE) return NULL;
    char **name = &names->names[at];
    if (!*name) {
        dl_str text = {0};
        dl_str_add(&text, "");
        tt_host_name(&names->host, &names->host.ops[at], &text);
        *name = text.failed ? NULL : text.text;
        if (text.failed) dl_str_free(&text);
    }
    return *name;
}

const char *cli_op_name(void *ctx, const dl_launch *launch)
{
    cli_op_names *names = ctx;
    bool other_run = launch->run && names->log.run && launch->run != names->log.run;
    if (names->names && names->metals) return name_of_metals(names, launch);
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
