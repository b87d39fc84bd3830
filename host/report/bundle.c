/* A tar of files: libarchive's ustar with everything fixed that could differ between two runs. */
#include "report/bundle.h"

#include <archive.h>
#include <archive_entry.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static la_ssize_t take(struct archive *a, void *ctx, const void *bytes, size_t n)
{
    (void)a;
    dl_file_writer *out = ctx;
    dl_str_add_n(&out->buffer, bytes, n);
    dl_file_flush(out);
    return (la_ssize_t)n; /* failures are kept in the writer and told when it is committed */
}

static devlog_status pack_bytes(struct archive *a, int fd, uint64_t size, const char *path, devlog_error *err)
{
    char block[64 * 1024];
    while (size) {
        ssize_t n = read(fd, block, size < sizeof block ? (size_t)size : sizeof block);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) return dl_fail_errno(err, errno, "cannot read %s", path);
        if (n == 0) return dl_fail(err, DEVLOG_ERR_IO, "%s became shorter while it was packed", path);
        if (archive_write_data(a, block, (size_t)n) < 0)
            return dl_fail(err, DEVLOG_ERR_IO, "cannot pack %s: %s", path, archive_error_string(a));
        size -= (uint64_t)n;
    }
    return DEVLOG_OK;
}

static devlog_status pack(struct archive *a, const char *path, const char *name, devlog_error *err)
{
    struct stat st;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &st) != 0) {
        devlog_status status = dl_fail_errno(err, errno, "cannot read %s", path);
        if (fd >= 0) close(fd);
        return status;
    }
    struct archive_entry *entry = archive_entry_new();
    devlog_status status = DEVLOG_OK;
    if (!entry) {
        status = dl_fail(err, DEVLOG_ERR_MEMORY, "out of memory while packing %s", path);
    } else {
        archive_entry_set_pathname(entry, name);
        archive_entry_set_filetype(entry, AE_IFREG);
        archive_entry_set_perm(entry, 0644);
        archive_entry_set_size(entry, st.st_size);
        archive_entry_set_mtime(entry, 0, 0);
        archive_entry_set_uname(entry, "root");
        archive_entry_set_gname(entry, "root");
        if (archive_write_header(a, entry) != ARCHIVE_OK)
            status = dl_fail(err, DEVLOG_ERR_IO, "cannot pack %s: %s", path, archive_error_string(a));
        archive_entry_free(entry);
    }
    if (!status) status = pack_bytes(a, fd, (uint64_t)st.st_size, path, err);
    close(fd);
    return status;
}

devlog_status dl_bundle_as(const char *const *paths, const char *const *names, size_t n, dl_file_writer *out,
                           devlog_error *err)
{
    struct archive *a = archive_write_new();
    if (!a) return dl_fail(err, DEVLOG_ERR_MEMORY, "out of memory while packing");
    devlog_status status = DEVLOG_OK;
    archive_write_set_format_ustar(a);
    archive_write_add_filter_none(a);
    archive_write_set_bytes_in_last_block(a, 1);
    if (archive_write_open(a, out, NULL, take, NULL) != ARCHIVE_OK)
        status = dl_fail(err, DEVLOG_ERR_IO, "cannot pack: %s", archive_error_string(a));
    for (size_t i = 0; i < n && !status; i++) {
        status = pack(a, paths[i], names[i], err);
    }
    if (!status && archive_write_close(a) != ARCHIVE_OK)
        status = dl_fail(err, DEVLOG_ERR_IO, "cannot pack: %s", archive_error_string(a));
    archive_write_free(a);
    return status;
}
