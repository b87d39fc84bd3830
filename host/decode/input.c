/* Inputs: the bytes of a log, from wherever they come. */
#include "decode/input.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "decode/gunzip.h"
#include "decode/log/packed_range.h"
#include "decode/unpack.h"
#include "pack/unpack.h"

enum { PEEK = PK_FIRST_TEXT };

struct dl_input {
    char *name;
    int fd; /* -1: memory */
    const char *memory;
    size_t memory_left;
    uint64_t taken, size;
    uint64_t end;      /* nothing behind it is read; 0: to the end of the file */
    char peeked[PEEK]; /* read already, not yet given */
    size_t n_peeked, at_peeked;
    bool comes_again; /* what was peeked is of a packed log, and comes from there too */
    dl_gunzip *gzip;  /* at most one of these; none: plain */
    dl_unpack *packed;
    pk_unpack *log;
    dl_follower *follower; /* it grows; NULL: it does not */
    int read_errno;
};

const char *dl_input_name(const dl_input *input)
{
    return input->name;
}

uint64_t dl_input_taken(const dl_input *input)
{
    return input->taken;
}

uint64_t dl_input_size(const dl_input *input)
{
    return input->size;
}

/* Bytes as they are in the file: -1 with input->read_errno on failure. */
static ssize_t read_raw(dl_input *in, void *bytes, size_t cap)
{
    if (in->fd < 0) {
        size_t n = cap < in->memory_left ? cap : in->memory_left;
        if (n) memcpy(bytes, in->memory, n);
        in->memory += n;
        in->memory_left -= n;
        return (ssize_t)n;
    }
    if (in->end && in->end - in->taken < cap) cap = (size_t)(in->end - in->taken);
    for (;;) {
        ssize_t n = in->follower ? dl_follower_read(in->follower, bytes, cap) : read(in->fd, bytes, cap);
        if (n >= 0) {
            in->taken += (uint64_t)n;
            return n;
        }
        if (errno == EINTR) continue;
        in->read_errno = errno;
        return -1;
    }
}

/* Peeked bytes first, then the file's. */
static ssize_t read_plain(dl_input *in, void *bytes, size_t cap)
{
    size_t left = in->n_peeked - in->at_peeked;
    if (!left) return read_raw(in, bytes, cap);
    size_t n = left < cap ? left : cap;
    memcpy(bytes, in->peeked + in->at_peeked, n);
    in->at_peeked += n;
    return (ssize_t)n;
}

static ssize_t on_packed_read(void *ctx, void *bytes, size_t cap)
{
    return read_plain(ctx, bytes, cap);
}

static bool is_plain(const dl_input *in)
{
    return !in->gzip && !in->packed && !in->log;
}

bool dl_input_is_plain(const dl_input *input)
{
    return is_plain(input);
}

static ssize_t read_packed(dl_input *in, void *bytes, size_t cap)
{
    if (in->log) return pk_unpack_read(in->log, bytes, cap);
    return in->gzip ? dl_gunzip_read(in->gzip, bytes, cap) : dl_unpack_read(in->packed, bytes, cap);
}

static const char *why_packed(const dl_input *in)
{
    const char *why = in->log    ? pk_unpack_why(in->log)
                      : in->gzip ? dl_gunzip_why(in->gzip)
                                 : dl_unpack_why(in->packed);
    return why ? why : "damaged";
}

static bool begins(const dl_input *in, const char *magic, size_t n)
{
    return in->n_peeked >= n && memcmp(in->peeked, magic, n) == 0;
}

/* Sets up unpacking when the first bytes say that it is packed. */
static devlog_status open_packed(dl_input *in, devlog_error *err)
{
    static const char zstd[] = {'\x28', '\xB5', '\x2F', '\xFD'}, xz[] = {'\xFD', '7', 'z', 'X', 'Z'};
    bool is_gzip = begins(in, "\x1F\x8B", 2), is_zstd = begins(in, zstd, sizeof zstd);
    if (is_gzip)
        in->gzip = dl_gunzip_new(on_packed_read, in);
    else if (is_zstd || begins(in, xz, sizeof xz))
        in->packed = dl_unpack_new(is_zstd ? DL_UNPACK_ZSTD : DL_UNPACK_XZ, on_packed_read, in);
    else if (pk_is_packed(in->peeked, in->n_peeked))
        in->log = pk_unpack_new(on_packed_read, in);
    else
        return DEVLOG_OK;
    return in->gzip || in->packed || in->log ? DEVLOG_OK : dl_fail(err, DEVLOG_ERR_MEMORY, "out of memory");
}

/* Looks at the first bytes and sets up unpacking. */
static devlog_status look(dl_input *in, devlog_error *err)
{
    while (in->n_peeked < PEEK) {
        ssize_t n = read_raw(in, in->peeked + in->n_peeked, PEEK - in->n_peeked);
        if (n < 0) {
            const char *hint = in->read_errno == EISDIR ? " (give the log file in it)" : "";
            return dl_fail(err, DEVLOG_ERR_IO, "cannot read %s: %s%s", in->name, strerror(in->read_errno),
                           hint);
        }
        if (n == 0) break;
        in->n_peeked += (size_t)n;
    }
    devlog_status status = open_packed(in, err);
    if (status || is_plain(in)) return status;
    in->comes_again = in->log && pk_unpack_first(in->log, in->peeked);
    if (in->comes_again) {
        in->n_peeked = PK_FIRST_TEXT;
        in->at_peeked = 0;
        return DEVLOG_OK;
    }
    /* A second peek, of what was packed. */
    char first[PEEK];
    size_t have = 0;
    while (have < PEEK) {
        ssize_t n = read_packed(in, first + have, PEEK - have);
        if (n <= 0) break; /* a failure shows again at the next read */
        have += (size_t)n;
    }
    memcpy(in->peeked, first, have);
    in->n_peeked = have;
    in->at_peeked = 0;
    return DEVLOG_OK;
}

static dl_input *new_input(const char *name)
{
    dl_input *in = calloc(1, sizeof *in);
    if (!in) return NULL;
    in->fd = -1;
    in->name = strdup(name);
    if (!in->name) {
        free(in);
        return NULL;
    }
    return in;
}

devlog_status dl_input_open(dl_input **input, const char *path, devlog_error *err)
{
    bool is_stdin = strcmp(path, "-") == 0;
    dl_input *in = new_input(is_stdin ? "standard input" : path);
    if (!in) return dl_fail(err, DEVLOG_ERR_MEMORY, "out of memory");
    devlog_status status;
    in->fd = is_stdin ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
    if (in->fd < 0) {
        status = errno == ENOENT ? dl_fail(err, DEVLOG_ERR_NOT_FOUND, DL_NOT_THERE, path)
                                 : dl_fail_errno(err, errno, "cannot read %s", path);
        dl_input_close(in);
        return status;
    }
    struct stat st;
    if (fstat(in->fd, &st) == 0 && S_ISREG(st.st_mode)) in->size = (uint64_t)st.st_size;
    status = look(in, err);
    if (status) {
        dl_input_close(in);
        return status;
    }
    *input = in;
    return DEVLOG_OK;
}

devlog_status dl_input_range(dl_input **input, const char *path, uint64_t from, uint64_t to,
                             devlog_error *err)
{
    dl_input *in = new_input(path);
    if (!in) return dl_fail(err, DEVLOG_ERR_MEMORY, "out of memory");
    in->fd = open(path, O_RDONLY | O_CLOEXEC);
    in->taken = from;
    in->end = in->size = to;
    if (in->fd < 0 || lseek(in->fd, (off_t)from, SEEK_SET) < 0) {
        devlog_status status = dl_fail_errno(err, errno, "cannot read %s", path);
        dl_input_close(in);
        return status;
    }
    *input = in;
    return DEVLOG_OK;
}

devlog_status dl_input_follow(dl_input *in, const dl_follow *follow, devlog_error *err)
{
    struct stat st;
    if (in->fd < 0 || !is_plain(in) || fstat(in->fd, &st) != 0 || !S_ISREG(st.st_mode))
        return dl_fail(err, DEVLOG_ERR_ARGUMENT, "%s cannot be followed: it is no plain file that can grow",
                       in->name);
    in->follower = dl_follower_new(follow, in->name, in->fd, in->taken);
    in->size = 0; /* nobody knows */
    return in->follower ? DEVLOG_OK : dl_fail(err, DEVLOG_ERR_IO, "cannot read %s again", in->name);
}

devlog_status dl_input_memory(dl_input **input, const char *name, const void *bytes, size_t n,
                              devlog_error *err)
{
    dl_input *in = new_input(name);
    if (!in) return dl_fail(err, DEVLOG_ERR_MEMORY, "out of memory");
    in->memory = bytes;
    in->size = n;
    in->memory_left = n;
    devlog_status status = look(in, err);
    if (status) {
        dl_input_close(in);
        return status;
    }
    *input = in;
    return DEVLOG_OK;
}

pk_unpack *dl_input_packed(dl_input *input)
{
    if (!input->log || input->at_peeked || !pk_unpack_again(input->log)) return NULL;
    input->at_peeked = input->n_peeked; /* what was peeked is text, and comes again in its block */
    return input->log;
}

int dl_input_plain_file(const dl_input *input)
{
    return is_plain(input) && !input->follower && input->fd != STDIN_FILENO ? input->fd : -1;
}

bool dl_input_is_untouched(const dl_input *input)
{
    return input->log && input->comes_again && !input->at_peeked;
}

void dl_input_few(dl_input *input, size_t n)
{
    if (input->log) pk_unpack_few(input->log, n);
}

devlog_status dl_input_blocks(const dl_input *in, dl_packed_range *range, devlog_error *err)
{
    const bool is = in->log && in->fd >= 0 && in->size;
    return dl_packed_range_take(range, in->name, is ? fcntl(in->fd, F_DUPFD_CLOEXEC, 0) : -1, err);
}

static bool seek(void *ctx, uint64_t offset)
{
    dl_input *in = ctx;
    in->taken = offset;
    return lseek(in->fd, (off_t)offset, SEEK_SET) >= 0;
}

void dl_input_choose(dl_input *in, const pk_index *index, const bool *wanted)
{
    pk_unpack_choose(in->log, &(pk_choice){.entries = index->entries,
                                           .wanted = wanted,
                                           .n = index->n,
                                           .index_at = index->index_at,
                                           .end_at = index->end_at,
                                           .size = in->size,
                                           .seek = seek});
}

void dl_input_close(dl_input *input)
{
    if (!input) return;
    dl_unpack_free(input->packed);
    dl_follower_free(input->follower);
    pk_unpack_free(input->log);
    dl_gunzip_free(input->gzip);
    if (input->fd > STDIN_FILENO) close(input->fd);
    free(input->name);
    free(input);
}

devlog_status dl_input_peek(dl_input *input, const void **bytes, size_t *n, devlog_error *err)
{
    (void)err;
    size_t have = input->n_peeked - input->at_peeked;
    *bytes = input->peeked + input->at_peeked;
    if (*n > have) *n = have;
    return DEVLOG_OK;
}

devlog_status dl_input_read(dl_input *input, void *bytes, size_t cap, size_t *n, devlog_error *err)
{
    *n = 0;
    if (input->comes_again) input->at_peeked = input->n_peeked;
    bool peeked = input->at_peeked < input->n_peeked;
    if (is_plain(input) || peeked) {
        ssize_t got = read_plain(input, bytes, cap);
        const char *changed = got < 0 && input->follower ? dl_follower_changed(input->follower) : NULL;
        if (changed) return dl_fail(err, DEVLOG_ERR_STATE, "%s %s", input->name, changed);
        if (got < 0) return dl_fail_errno(err, input->read_errno, "cannot read %s", input->name);
        *n = (size_t)got;
        return DEVLOG_OK;
    }
    ssize_t got = read_packed(input, bytes, cap);
    if (got < 0) {
        if (input->read_errno) return dl_fail_errno(err, input->read_errno, "cannot read %s", input->name);
        return dl_fail(
            err, DEVLOG_ERR_FORMAT,
            "cannot unpack %s: %s; if a whole one is elsewhere, copy it again, else run the program again",
            input->name, why_packed(input));
    }
    *n = (size_t)got;
    return DEVLOG_OK;
}
