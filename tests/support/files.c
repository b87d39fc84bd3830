/* Small files for tests. */
#include "support/files.h"

#include <string.h>

#include "base/paths.h"
#include "support/device.h"

void write_text(const char *path, const char *text)
{
    devlog_error err = {0};
    check_ok(dl_write_file(path, text, strlen(text), &err), &err);
}

char *read_bytes(const char *path, size_t *size)
{
    devlog_error err = {0};
    char *text = NULL;
    check_ok(dl_read_file(path, &text, size, &err), &err);
    return text;
}
