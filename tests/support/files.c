/* Small files for tests. */
#include "support/files.h"

#include <string.h>

#include "base/file.h"
#include "support/device.h"

void write_bytes(const char *path, const void *bytes, size_t n)
{
    devlog_error err = {0};
    dl_file_writer w;
    check_ok(dl_file_create(&w, path, &err), &err);
    dl_str_add_n(&w.buffer, bytes, n);
    check_ok(dl_file_commit(&w, &err), &err);
}

void write_text(const char *path, const char *text)
{
    write_bytes(path, text, strlen(text));
}

char *read_bytes(const char *path, size_t *size)
{
    devlog_error err = {0};
    dl_str text = {0};
    check_ok(dl_file_read(path, 1u << 30, &text, &err), &err);
    if (size) *size = text.len;
    return text.text;
}
