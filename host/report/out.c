/* Output of the timeline writers: buffered, whole or not at all, compressed on demand. */
#include "report/out.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <zlib.h>

enum { BUFFER = 256 * 1024, PACKED = 64 * 1024, GZIP_WINDOW = 15 + 16 };

struct out_target {
    dl_file_writer file;
    char *path;
    int errnum;
    bool to_stdout, packs;
    z_stream z;
    unsigned char packed[PACKED];
};

static bool ends_with(const char *text, const char *end)
{
    size_t n = strlen(text), m = strlen(end);
    return n > m && strcmp(text + n - m, end) == 0;
}

static void target_free(struct out_target *t)
{
    if (t->packs) deflateEnd(&t->z);
    free(t->path);
    free(t);
}

devlog_status out_open(dl_out *o, const char *path, devlog_error *err)
{
    struct out_target *t = calloc(1, sizeof *t);
    *o = (dl_out){.target = t, .text = malloc(BUFFER), .cap = BUFFER};
    if (t) t->path = strdup(path);
    if (!t || !t->path || !o->text) goto no_memory;
    t->to_stdout = strcmp(path, "-") == 0;
    if (ends_with(path, ".gz")) {
        /* zlib's header has no time and no name unless they are set. */
        if (deflateInit2(&t->z, 6, Z_DEFLATED, GZIP_WINDOW, 8, Z_DEFAULT_STRATEGY) != Z_OK) goto no_memory;
        t->packs = true;
    }
    devlog_status status = t->to_stdout ? dl_file_stream(&t->file, STDOUT_FILENO, path, err)
                                        : dl_file_create(&t->file, path, err);
    if (status) {
        target_free(t);
        free(o->text);
        *o = (dl_out){.status = status};
    }
    return status;
no_memory:
    if (t) target_free(t);
    free(o->text);
    *o = (dl_out){.status = DEVLOG_ERR_MEMORY};
    return dl_fail(err, DEVLOG_ERR_MEMORY, "out of memory while opening %s", path);
}

static void fail(dl_out *o, int errnum)
{
    if (o->status || !errnum) return;
    o->status = DEVLOG_ERR_IO;
    o->target->errnum = errnum;
}

static void put(dl_out *o, const void *bytes, size_t n)
{
    struct out_target *t = o->target;
    if (o->status) return;
    if (t->file.terminal) dl_file_put(&t->file, bytes, n); /* which cleans it */
    fail(o, t->file.terminal ? t->file.errnum : dl_write_all(t->file.fd, bytes, n));
}

static void pack(dl_out *o, int how)
{
    struct out_target *t = o->target;
    int result;
    t->z.next_in = (unsigned char *)o->text;
    t->z.avail_in = (uInt)o->len;
    do {
        t->z.next_out = t->packed;
        t->z.avail_out = PACKED;
        result = deflate(&t->z, how);
        put(o, t->packed, PACKED - t->z.avail_out);
    } while (t->z.avail_out == 0 || (how == Z_FINISH && result == Z_OK));
}

void out_flush(dl_out *o)
{
    if (o->target && !o->status) {
        if (o->target->packs)
            pack(o, Z_NO_FLUSH);
        else
            put(o, o->text, o->len);
    }
    o->written += o->len;
    o->len = 0;
}

void out_patch(dl_out *o, uint64_t at, const void *bytes, size_t n)
{
    if (at >= o->written) {
        memcpy(o->text + (at - o->written), bytes, n);
        return;
    }
    out_flush(o);
    if (!o->status && pwrite(o->target->file.fd, bytes, n, (off_t)at) != (ssize_t)n)
        fail(o, errno ? errno : EIO);
}

devlog_status out_close(dl_out *o, devlog_status status, devlog_error *err)
{
    return out_close_into(o, NULL, status, err);
}

devlog_status out_close_into(dl_out *o, dl_file_set *set, devlog_status status, devlog_error *err)
{
    struct out_target *t = o->target;
    if (!t) return status ? status : o->status;
    if (!status && t->packs)
        pack(o, Z_FINISH);
    else if (!status)
        out_flush(o);
    if (!status && o->status)
        status = t->to_stdout ? dl_fail_errno(err, t->errnum, "cannot write standard output")
                              : dl_file_unwritten(t->path, t->errnum, err);
    if (status)
        dl_file_abandon(&t->file);
    else
        status = set && !t->to_stdout ? dl_file_set_take(set, &t->file, err) : dl_file_commit(&t->file, err);
    target_free(t);
    free(o->text);
    *o = (dl_out){.status = status};
    return status;
}

void out_bytes(dl_out *o, const void *bytes, size_t n)
{
    const char *p = bytes;
    while (n) {
        if (o->len == o->cap) out_flush(o);
        size_t some = o->cap - o->len < n ? o->cap - o->len : n;
        memcpy(o->text + o->len, p, some);
        o->len += some;
        p += some;
        n -= some;
    }
}

void out_fmt(dl_out *o, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    char *text;
    int n = vasprintf(&text, fmt, ap);
    va_end(ap);
    if (n < 0) {
        if (!o->status) fail(o, ENOMEM);
        return;
    }
    out_bytes(o, text, (size_t)n);
    free(text);
}

bool out_keep(out_fragment *f, dl_str *s)
{
    if (!s->text || !dl_str_reserve(s, OUT_WORD)) {
        dl_str_free(s);
        return false;
    }
    *f = (out_fragment){s->text, s->len};
    return true;
}

void out_free_fragments(out_fragment *fragments, size_t n)
{
    for (size_t i = 0; fragments && i < n; i++)
        free(fragments[i].text);
    free(fragments);
}

void out_cut_utf8(char *text)
{
    size_t n = strlen(text), at = n;
    while (at && n - at < 3 && ((unsigned char)text[at - 1] & 0xC0) == 0x80)
        at--;
    if (at && (unsigned char)text[at - 1] >= 0x80 && dl_utf8_length(text + at - 1, n - at + 1) != n - at + 1)
        text[at - 1] = 0;
}
