/* Where devlog pack and devlog unpack write to. See pack_output.h. */
#include "cli/pack_output.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

devlog_status pack_output_open(pack_output *out, const char *path, devlog_error *err)
{
    devlog_status status = strcmp(path, "-") == 0
                               ? dl_file_stream(&out->file, STDOUT_FILENO, "standard output", err)
                               : dl_file_create(&out->file, path, err);
    out->open = !status;
    return status;
}

devlog_status pack_output_write(void *ctx, const void *bytes, size_t n, devlog_error *err)
{
    pack_output *out = ctx;
    dl_str_add_n(&out->file.buffer, bytes, n);
    dl_file_flush(&out->file);
    if (!out->file.status) return DEVLOG_OK;
    devlog_status status = dl_file_commit(&out->file, err); /* says what is wrong */
    out->open = false;
    return status;
}

devlog_status pack_output_close(pack_output *out, devlog_status status, devlog_error *err)
{
    if (!out->open) return status;
    out->open = false;
    if (!status) return dl_file_commit(&out->file, err);
    dl_file_abandon(&out->file);
    return status;
}

char *pack_output_beside(const char *path, const char *suffix)
{
    const size_t n = strlen(path) + strlen(suffix) + 1;
    char *name = malloc(n);
    if (!name) return NULL;
    strcpy(name, path);
    strcat(name, suffix);
    return name;
}

devlog_status pack_output_is_new(const char *path, devlog_error *err)
{
    if (access(path, F_OK) != 0) return DEVLOG_OK;
    return dl_fail(err, DEVLOG_ERR_ARGUMENT, "%s exists: remove it, or say where to with --output FILE",
                   path);
}
