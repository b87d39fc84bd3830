/* Inputs that grow. See input_follow.h. */
#include "decode/input_follow.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/term.h"

enum {
    TAIL = 4096, /* bytes that are compared to know the file again */
    POLL_MS = 50,
};

struct dl_follower {
    const dl_follow *options;
    const char *path;
    int fd;
    uint64_t taken;
    char tail[TAIL]; /* the last bytes that were taken */
    size_t n_tail;
    char changed[160];
};

static ssize_t read_at(int fd, void *bytes, size_t n, uint64_t at)
{
    size_t have = 0;
    while (have < n) {
        ssize_t got = pread(fd, (char *)bytes + have, n - have, (off_t)(at + have));
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return -1;
        if (got == 0) break;
        have += (size_t)got;
    }
    return (ssize_t)have;
}

dl_follower *dl_follower_new(const dl_follow *options, const char *path, int fd, uint64_t taken)
{
    dl_follower *f = calloc(1, sizeof *f);
    if (!f) return NULL;
    *f = (dl_follower){.options = options, .path = path, .fd = fd, .taken = taken};
    f->n_tail = taken < TAIL ? (size_t)taken : TAIL;
    if (read_at(fd, f->tail, f->n_tail, taken - f->n_tail) == (ssize_t)f->n_tail) return f;
    free(f);
    return NULL;
}

void dl_follower_free(dl_follower *f)
{
    free(f);
}

const char *dl_follower_changed(const dl_follower *f)
{
    return f->changed[0] ? f->changed : NULL;
}

static void take(dl_follower *f, const char *bytes, size_t n)
{
    const size_t taken = n < TAIL ? n : TAIL, keep = f->n_tail < TAIL - taken ? f->n_tail : TAIL - taken;
    memmove(f->tail, f->tail + f->n_tail - keep, keep);
    memcpy(f->tail + keep, bytes + n - taken, taken);
    f->n_tail = keep + taken;
    f->taken += n;
}

/* Whether the file still has what was taken last. */
static bool is_the_same(dl_follower *f)
{
    char now[TAIL];
    const ssize_t n = read_at(f->fd, now, f->n_tail, f->taken - f->n_tail);
    return n == (ssize_t)f->n_tail && memcmp(now, f->tail, f->n_tail) == 0;
}

/* At the end: whether there is another file in its place; *ended: it was removed, and all of it has been read. */
static bool look_after_it(dl_follower *f, bool *ended)
{
    struct stat st, named;
    if (fstat(f->fd, &st) != 0) return false;
    if ((uint64_t)st.st_size < f->taken)
        snprintf(f->changed, sizeof f->changed,
                 "was truncated to %" PRIu64 " bytes after %" PRIu64 " had been read", (uint64_t)st.st_size,
                 f->taken);
    else if (stat(f->path, &named) != 0)
        *ended = true;
    else if (named.st_ino != st.st_ino || named.st_dev != st.st_dev)
        snprintf(f->changed, sizeof f->changed, "was replaced by another file after %" PRIu64 " bytes",
                 f->taken);
    return true;
}

ssize_t dl_follower_read(dl_follower *f, void *bytes, size_t cap)
{
    const dl_follow *o = f->options;
    const uint64_t since = dl_now_ns();
    for (bool ended = false;;) {
        ssize_t n = read(f->fd, bytes, cap);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) return -1;
        /* Looked at after reading, so that what is taken is of the same file as what was before it. */
        if (!is_the_same(f))
            snprintf(f->changed, sizeof f->changed,
                     "was truncated or written anew after %" PRIu64 " bytes had been read", f->taken);
        else if (n > 0)
            take(f, bytes, (size_t)n);
        if (n > 0 && !f->changed[0]) return n;
        if (!f->changed[0] && !look_after_it(f, &ended)) return -1;
        if (f->changed[0]) {
            errno = 0;
            return -1;
        }
        if (ended || (o->stop && o->stop(o->ctx))) return 0;
        if (o->idle_ms && (dl_now_ns() - since) / 1000000 >= o->idle_ms) return 0;
        nanosleep(&(struct timespec){0, (o->poll_ms ? o->poll_ms : POLL_MS) * 1000000L}, NULL);
    }
}
