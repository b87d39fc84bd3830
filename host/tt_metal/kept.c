/* Lines that are wanted again: read where they stand, stream by stream, as long as most are found in what was read ahead;
 * where they are not, the file is copied once, and from then on lines are in the copy. */
#include "tt_metal/kept.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { WINDOW = 16 * 1024, LOOK_EVERY = 1024, COPY_AT_ONCE = 1024 * 1024 };

static bool note_state(tt_kept *k, int fd)
{
    struct stat st;
    if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode)) return false;
    k->size = (uint64_t)st.st_size;
    k->seconds = (uint64_t)st.st_mtim.tv_sec;
    k->nanoseconds = (uint64_t)st.st_mtim.tv_nsec;
    return true;
}

void tt_kept_begin(tt_kept *k, const dl_input *input)
{
    const int plain = dl_input_plain_file(input), fd = plain < 0 ? -1 : dup(plain);
    k->file = 0;
    if (fd < 0) return;
    if (!k->windows) k->windows = malloc((size_t)TT_KEPT_STREAMS * WINDOW);
    if (k->windows && note_state(k, fd))
        k->file = fd + 1;
    else
        close(fd);
}

bool tt_kept_add(tt_kept *k, const char *line, size_t n, uint64_t place, uint64_t *at)
{
    *at = place;
    if (k->file) return true;
    if (k->n + n + 1 > k->copy.bytes && !dl_big_room(&k->copy, k->n + n + 65536)) return false;
    memcpy((char *)k->copy.data + k->n, line, n);
    *at = k->n;
    k->n += n;
    return true;
}

/* Bytes of the file from `at` on; fewer at its end. */
static size_t read_at(const tt_kept *k, uint64_t at, char *to, size_t n)
{
    size_t got = 0;
    while (got < n) {
        const ssize_t more = pread(k->file - 1, to + got, n - got, (off_t)(at + got));
        if (more < 0 && errno == EINTR) continue;
        if (more <= 0) break;
        got += (size_t)more;
    }
    return got;
}

/* False: there is no room. Windows go on serving then. */
static bool copy_all(tt_kept *k)
{
    if (!dl_big_room(&k->copy, k->size + 1)) return false;
    for (uint64_t at = 0; at < k->size;) {
        const size_t left = (size_t)(k->size - at), wanted = left < COPY_AT_ONCE ? left : COPY_AT_ONCE;
        const size_t got = read_at(k, at, (char *)k->copy.data + at, wanted);
        at += got;
        k->n = (size_t)at;
        if (got < wanted) break;
    }
    return true;
}

/* From time to time: whether lines are asked for in an order in which reading ahead is of no use. */
static void look_at_order(tt_kept *k)
{
    if (k->missed * 8 > k->asked) k->all = copy_all(k);
    k->asked = k->missed = 0;
}

const char *tt_kept_line(tt_kept *k, uint64_t at, size_t n, uint32_t stream)
{
    if (!k->file) return (const char *)k->copy.data + at;
    if (!k->all && ++k->asked == LOOK_EVERY) look_at_order(k);
    if (k->all) return at + n <= k->n ? (const char *)k->copy.data + at : NULL;
    tt_kept_window *w = &k->about[stream % TT_KEPT_STREAMS];
    char *const text = k->windows + (size_t)(stream % TT_KEPT_STREAMS) * WINDOW;
    if (at >= w->at && at + n <= w->at + w->n) return text + (at - w->at);
    k->missed++;
    if (n > WINDOW) {
        k->all = copy_all(k);
        return k->all && at + n <= k->n ? (const char *)k->copy.data + at : NULL;
    }
    *w = (tt_kept_window){at, read_at(k, at, text, WINDOW)};
    return n <= w->n ? text : NULL;
}

bool tt_kept_changed(const tt_kept *k)
{
    tt_kept now = {0};
    return k->file && (!note_state(&now, k->file - 1) || now.size != k->size || now.seconds != k->seconds ||
                       now.nanoseconds != k->nanoseconds);
}

void tt_kept_cool(tt_kept *k)
{
    dl_big_cool(&k->copy);
}

void tt_kept_free(tt_kept *k)
{
    dl_big_free(&k->copy);
    if (k->file) close(k->file - 1);
    free(k->windows);
    *k = (tt_kept){0};
}
