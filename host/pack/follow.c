/* Packing a log that grows. See pack/follow.h. */
#include "pack/follow.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/file.h"
#include "base/term.h"
#include "pack/unpack.h"

enum {
    TAIL = 4096, /* bytes that are compared to know the log again */
    PAGE = 4096,
    POLL_MS = 50,
};

typedef struct follower {
    const char *log, *file;
    const pk_follow_options *options;
    pk_followed *result;
    int fd, out;
    pk_packer *packer;
    pk_unpacker *unpacker;
    pk_writer writer;
    char *text, *back;
    uint8_t *stored;
    size_t cap, have; /* bytes of the log behind what is packed, read but not packed */
    char tail[TAIL];  /* the last bytes that are packed */
    size_t n_tail;
    uint64_t synced, dropped; /* bytes of the log */
    bool named;               /* the file's name is on the disk */
} follower;

static devlog_status no_memory(devlog_error *err)
{
    return dl_fail(err, DEVLOG_ERR_MEMORY, "out of memory");
}

static devlog_status write_file(void *ctx, const void *bytes, size_t n, devlog_error *err)
{
    const follower *f = ctx;
    int errnum = dl_write_all(f->out, bytes, n);
    if (!errnum) return DEVLOG_OK;
    if (errnum != ENOSPC && errnum != EDQUOT) return dl_fail_errno(err, errnum, "cannot write %s", f->file);
    /* It is good up to its last block. */
    return dl_fail(err, DEVLOG_ERR_IO,
                   "cannot write %s: %s: make room there, and the same command goes on where it ended",
                   f->file, strerror(errnum));
}

/* What is at this place of the log; fewer bytes at its end. */
static devlog_status read_log(const follower *f, uint64_t at, char *bytes, size_t cap, size_t *n,
                              devlog_error *err)
{
    *n = 0;
    while (*n < cap) {
        ssize_t got = pread(f->fd, bytes + *n, cap - *n, (off_t)(at + *n));
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return dl_fail_errno(err, errno, "cannot read %s", f->log);
        if (got == 0) break;
        *n += (size_t)got;
    }
    return DEVLOG_OK;
}

static void remember_tail(follower *f, const char *text, size_t n)
{
    const size_t taken = n < TAIL ? n : TAIL, keep = f->n_tail < TAIL - taken ? f->n_tail : TAIL - taken;
    memmove(f->tail, f->tail + f->n_tail - keep, keep);
    memcpy(f->tail + keep, text + n - taken, taken);
    f->n_tail = keep + taken;
}

/* Whether the log still has what was read last. */
static devlog_status log_is_the_same(const follower *f, bool *same, devlog_error *err)
{
    char was[TAIL], now[TAIL];
    size_t of_text = f->have < TAIL ? f->have : TAIL, n;
    const size_t of_tail = f->n_tail < TAIL - of_text ? f->n_tail : TAIL - of_text, all = of_tail + of_text;
    memcpy(was, f->tail + f->n_tail - of_tail, of_tail);
    memcpy(was + of_tail, f->text + f->have - of_text, of_text);
    devlog_status status = read_log(f, f->writer.text + f->have - all, now, all, &n, err);
    *same = !status && n == all && memcmp(now, was, n) == 0;
    return status;
}

/* Takes the blocks over that the file has. */
static devlog_status take_over(follower *f, pk_reader *reader, devlog_error *err)
{
    pk_frame frame;
    int there;
    while ((there = pk_reader_next(reader, &frame)) > 0) {
        const pk_header *h = &frame.header;
        if (h->kind == PK_INDEX || h->kind == PK_END) continue; /* they are written anew */
        if (frame.skipped || h->kind != PK_BLOCK || h->version != PK_VERSION || h->at != f->writer.text ||
            h->stored < PK_INFO_BYTES)
            return dl_fail(err, DEVLOG_ERR_FORMAT,
                           "%s is damaged before byte %" PRIu64
                           ": devlog unpack gets out of it what there is; "
                           "name another file",
                           f->file, frame.offset);
        const char *why = pk_unpack_block(f->unpacker, h, frame.stored, f->back);
        if (why)
            return dl_fail(err, DEVLOG_ERR_FORMAT, "%s: the block at byte %" PRIu64 ": %s", f->file,
                           frame.offset, why);
        remember_tail(f, f->back, h->size);
        pk_row_ids ids = {0};
        if (!h->plain && !pk_unpacker_ids(f->unpacker, frame.stored, h->stored, h->size, &ids))
            ids = (pk_row_ids){0};
        devlog_status status = pk_writer_had(&f->writer, h, frame.stored, &ids, err);
        if (status) return status;
        pk_info info;
        pk_info_get(frame.stored, &info);
        f->result->totals.raw += info.raw;
    }
    if (there < 0) return dl_fail_errno(err, errno, "cannot read %s", f->file);
    return DEVLOG_OK;
}

static ssize_t read_own(void *ctx, void *bytes, size_t cap)
{
    ssize_t n;
    do
        n = read(((follower *)ctx)->out, bytes, cap);
    while (n < 0 && errno == EINTR);
    return n;
}

/* A file that is there already: this log's beginning, or nothing that could be overwritten. */
static devlog_status resume(follower *f, devlog_error *err)
{
    char magic[PK_MAGIC_BYTES];
    ssize_t n = pread(f->out, magic, sizeof magic, 0);
    if (n < 0) return dl_fail_errno(err, errno, "cannot read %s", f->file);
    if (memcmp(magic, PK_MAGIC, (size_t)n) != 0)
        return dl_fail(err, DEVLOG_ERR_ARGUMENT, "%s is there and is no packed log: name another file",
                       f->file);
    if (n == PK_MAGIC_BYTES) {
        pk_reader *reader = pk_reader_new(read_own, f);
        devlog_status status = reader ? take_over(f, reader, err) : no_memory(err);
        pk_reader_free(reader);
        if (status) return status;
    }
    bool same = true;
    devlog_status status = log_is_the_same(f, &same, err);
    if (!status && !same)
        status = dl_fail(err, DEVLOG_ERR_ARGUMENT,
                         "%s holds %" PRIu64
                         " bytes of another log, or of %s before it was written anew: name another "
                         "file",
                         f->file, f->writer.text, f->log);
    if (status) return status;
    /* A hole where the log should go on: the packed file that holds what was there is another one. */
    struct stat st;
    const off_t at = (off_t)f->writer.text;
    if (fstat(f->fd, &st) == 0 && st.st_size > at && lseek(f->fd, at, SEEK_DATA) > at)
        return dl_fail(err, DEVLOG_ERR_ARGUMENT,
                       "%s has been taken out by --drop-read from byte %" PRIu64
                       " on, and %s does not hold it",
                       f->log, f->writer.text, f->file);
    f->result->before = f->writer.text;
    /* What is behind the last block - a part of one, index, end - is written anew. */
    if (ftruncate(f->out, (off_t)f->writer.offset) != 0 ||
        lseek(f->out, (off_t)f->writer.offset, SEEK_SET) < 0)
        return dl_fail_errno(err, errno, "cannot write %s", f->file);
    return DEVLOG_OK;
}

static devlog_status sync_folder(const follower *f, devlog_error *err)
{
    const char *slash = strrchr(f->file, '/');
    char *folder = slash ? strndup(f->file, (size_t)(slash - f->file) + 1) : strdup(".");
    if (!folder) return no_memory(err);
    int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int errnum = fd < 0 || fsync(fd) != 0 ? errno : 0;
    if (fd >= 0) close(fd);
    free(folder);
    return errnum ? dl_fail_errno(err, errnum, "cannot sync the folder of %s", f->file) : DEVLOG_OK;
}

/* Brings the packed part to the disk, and then takes it out of the log. */
static devlog_status sync_and_drop(follower *f, devlog_error *err)
{
    if (fsync(f->out) != 0) return dl_fail_errno(err, errno, "cannot sync %s", f->file);
    devlog_status status = f->named ? DEVLOG_OK : sync_folder(f, err);
    if (status) return status;
    f->named = true;
    f->synced = f->writer.text;
    if (!f->options->drop_read || f->synced < PK_KEPT + PAGE) return DEVLOG_OK;
    const uint64_t to = (f->synced - PK_KEPT) / PAGE * PAGE;
    if (to <= f->dropped) return DEVLOG_OK;
    if (fallocate(f->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)f->dropped,
                  (off_t)(to - f->dropped)) != 0)
        return dl_fail_errno(err, errno, "cannot take the packed part out of %s", f->log);
    f->dropped = f->result->dropped = to;
    return DEVLOG_OK;
}

/* Packs the first n bytes that have been read. */
static devlog_status pack_some(follower *f, size_t n, devlog_error *err)
{
    pk_packed b;
    char behind[PK_PADDING];
    memcpy(behind, f->text + n, PK_PADDING);
    memset(f->text + n, 0, PK_PADDING);
    devlog_status status = pk_pack_block(f->packer, f->text, n, f->stored, &b, err);
    if (!status && f->options->drop_read) {
        /* The original goes: what is written must give it back. */
        const char *why = pk_unpacker_block(f->unpacker, b.stored, b.n_stored, b.plain, f->back, n);
        if (why || memcmp(f->back, f->text, n) != 0) {
            memcpy(f->stored + PK_INFO_BYTES, f->text, n);
            b.n_stored = PK_INFO_BYTES + n;
            b.plain = true;
        }
    }
    if (!status) status = pk_writer_block(&f->writer, &b, err);
    f->result->totals.raw += b.info.raw;
    remember_tail(f, f->text, n);
    memcpy(f->text + n, behind, PK_PADDING);
    f->have -= n;
    memmove(f->text, f->text + n, f->have);
    const size_t step = f->options->drop_step ? f->options->drop_step : PK_DROP_STEP;
    if (!status && f->options->drop_read && f->writer.text - f->synced >= step)
        status = sync_and_drop(f, err);
    return status;
}

static void DL_PRINTF(2, 3) log_changed(follower *f, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    vsnprintf(f->result->changed, sizeof f->result->changed, fmt, args);
    va_end(args);
}

/* At the end of the log: whether there is another one in its place. */
static devlog_status look_after_log(follower *f, bool *ended, devlog_error *err)
{
    struct stat st, named;
    if (fstat(f->fd, &st) != 0) return dl_fail_errno(err, errno, "cannot read %s", f->log);
    const uint64_t read = f->writer.text + f->have;
    if ((uint64_t)st.st_size < read)
        log_changed(f, "was truncated to %" PRIu64 " bytes after %" PRIu64 " had been read",
                    (uint64_t)st.st_size, read);
    else if (stat(f->log, &named) != 0)
        *ended = true; /* removed, and all of it is read */
    else if (named.st_ino != st.st_ino || named.st_dev != st.st_dev)
        log_changed(f, "was replaced by another file after %" PRIu64 " bytes", read);
    return DEVLOG_OK;
}

static bool must_stop(const follower *f)
{
    return f->options->stop && f->options->stop(f->options->ctx);
}

static devlog_status follow(follower *f, devlog_error *err)
{
    uint64_t last_ns = dl_now_ns();
    bool ended = false;
    while (!ended && !f->result->changed[0]) {
        size_t n;
        bool same;
        devlog_status status =
            read_log(f, f->writer.text + f->have, f->text + f->have, f->cap - f->have, &n, err);
        /* Looked at after reading, so that what is taken is of the same log as what was before it. */
        if (!status) status = log_is_the_same(f, &same, err);
        if (status) return status;
        if (!same) {
            log_changed(f, "was truncated or written anew after %" PRIu64 " bytes had been read",
                        f->writer.text + f->have);
            break;
        }
        f->have += n;
        if (n) last_ns = dl_now_ns();
        if (f->have == f->cap) status = pack_some(f, pk_cut(f->text, f->have), err);
        if (!status && n == 0) status = look_after_log(f, &ended, err);
        if (status) return status;
        const uint64_t idle_ms = (dl_now_ns() - last_ns) / 1000000;
        ended |= (n == 0 && (!f->options->follow || must_stop(f))) ||
                 (f->options->idle_ms && idle_ms >= f->options->idle_ms);
        const unsigned poll_ms = f->options->poll_ms ? f->options->poll_ms : POLL_MS;
        if (n == 0 && !ended) nanosleep(&(struct timespec){0, poll_ms * 1000000L}, NULL);
    }
    devlog_status status = f->have ? pack_some(f, f->have, err) : DEVLOG_OK;
    if (!status) status = pk_writer_end(&f->writer, err);
    return status ? status : sync_and_drop(f, err);
}

static devlog_status open_both(follower *f, devlog_error *err)
{
    struct stat st;
    f->fd = open(f->log, (f->options->drop_read ? O_RDWR : O_RDONLY) | O_CLOEXEC);
    if (f->fd < 0) return dl_fail_errno(err, errno, "cannot read %s", f->log);
    if (fstat(f->fd, &st) != 0 || !S_ISREG(st.st_mode))
        return dl_fail(err, DEVLOG_ERR_ARGUMENT, "%s is no file that can grow", f->log);
    f->out = open(f->file, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (f->out < 0) return dl_fail_errno(err, errno, "cannot write %s", f->file);
    if (!dl_file_alone(f->out))
        return dl_fail(err, DEVLOG_ERR_STATE, "%s is being written by another devlog pack", f->file);
    return DEVLOG_OK;
}

devlog_status pk_follow(const char *log, const char *file, const pk_follow_options *options,
                        pk_followed *followed, devlog_error *err)
{
    follower f = {.log = log, .file = file, .options = options, .result = followed, .fd = -1, .out = -1};
    *followed = (pk_followed){0};
    f.cap = options->text ? options->text : PK_TEXT;
    f.packer = pk_packer_new(f.cap);
    f.unpacker = pk_unpacker_new();
    f.text = calloc(1, f.cap + PK_PADDING);
    f.back = malloc(PK_MAX_TEXT + PK_LONGEST_ROW);
    f.stored = malloc(pk_block_bound(f.cap));
    devlog_status status = pk_writer_begin(&f.writer, write_file, &f, err);
    if (!status && (!f.packer || !f.unpacker || !f.text || !f.back || !f.stored)) status = no_memory(err);
    if (!status) status = open_both(&f, err);
    if (!status) status = resume(&f, err);
    if (!status) status = follow(&f, err);
    followed->totals.text = f.writer.text;
    followed->totals.lines = f.writer.lines;
    followed->totals.blocks = f.writer.n_entries;
    followed->totals.packed = f.writer.offset;
    if (f.out >= 0) close(f.out);
    if (f.fd >= 0) close(f.fd);
    pk_writer_free(&f.writer);
    pk_packer_free(f.packer);
    pk_unpacker_free(f.unpacker);
    free(f.text);
    free(f.back);
    free(f.stored);
    return status;
}
