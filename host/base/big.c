/* Arrays that may become larger than memory should hold: memory first, then a shared mapping of a file
 * without a name. Room in the file is asked for before it is mapped, so that a full disk is a failure here
 * and no signal later; that promise is kept by the file systems below only. */
#include "base/big.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/statvfs.h>
#include <sys/uio.h>
#include <sys/vfs.h>
#include <unistd.h>

enum {
    STEP = 8 * 1024 * 1024,
    FILE_STEP = 2 * 1024 * 1024,
    LARGE_PAGE = 2 * 1024 * 1024,
    AT_ONCE = 256 * 1024,
    ZEROS = 32 * 1024,
    SPAN = 64 /* pieces */
};

static bool keeps_promises(int fd)
{
    static const uint32_t kinds[] = {0xEF53 /* ext2, 3, 4 */, 0x58465342 /* xfs */};
    struct statfs s;
    bool known = false;
    if (fstatfs(fd, &s) != 0) return false;
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        known |= (uint32_t)s.f_type == kinds[i];
    return known;
}

/* Whether as much stays free as the file takes then: what is made with the help of these arrays is to be written there, too. */
static bool leaves_room(int fd, size_t from, size_t to)
{
    struct statvfs s;
    return fstatvfs(fd, &s) != 0 || (uint64_t)s.f_bavail * s.f_frsize >= (uint64_t)(to - from) + to;
}

/* Makes the file longer by writing to it, in large pieces: the system then keeps it in large pieces too,
 * which makes the first touch of each page cost a tenth of what it costs after posix_fallocate. */
static bool lengthen(int fd, size_t from, size_t to)
{
    static const char zeros[ZEROS];
    struct iovec pieces[AT_ONCE / ZEROS];
    if (!leaves_room(fd, from, to)) return false;
    while (from < to) {
        size_t left = to - from;
        int n = 0;
        for (; left && n < AT_ONCE / ZEROS; n++) {
            pieces[n] = (struct iovec){(void *)zeros, left < ZEROS ? left : ZEROS};
            left -= pieces[n].iov_len;
        }
        ssize_t written = pwritev(fd, pieces, n, (off_t)from);
        if (written < 0 && errno == EINTR) continue;
        if (written <= 0) return false;
        from += (size_t)written;
    }
    return true;
}

/* Maps `bytes` of the file, which grows to them; NULL: no room. */
static void *map(dl_big *b, int fd, size_t bytes)
{
    if (!lengthen(fd, b->file ? b->bytes : 0, bytes)) return NULL;
    void *at = b->file ? mremap(b->data, b->bytes, bytes, MREMAP_MAYMOVE)
                       : mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    return at == MAP_FAILED ? NULL : at;
}

static bool move_to_file(dl_big *b, size_t bytes)
{
    int fd = open(b->folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    void *at = fd >= 0 && keeps_promises(fd) ? map(b, fd, bytes) : NULL;
    if (!at) {
        if (fd >= 0) close(fd);
        return false;
    }
    if (b->bytes) memcpy(at, b->data, b->bytes);
    free(b->data);
    b->data = at;
    b->bytes = bytes;
    b->file = fd + 1;
    return true;
}

/* Back into memory, as the file cannot grow. */
static bool move_to_memory(dl_big *b, size_t bytes)
{
    void *copy = malloc(bytes);
    if (!copy) return false;
    memcpy(copy, b->data, b->bytes);
    munmap(b->data, b->bytes);
    close(b->file - 1);
    b->file = 0;
    b->data = copy;
    b->bytes = bytes;
    b->stays = true;
    return true;
}

/* Room for n bytes in the file, which it is already in or moves to now, and a little more: all of it is written. */
static bool room_in_file(dl_big *b, size_t n)
{
    const size_t bytes = (n + FILE_STEP + 4095) & ~(size_t)4095;
    if (!b->file) return move_to_file(b, bytes);
    void *at = map(b, b->file - 1, bytes);
    if (!at) return false;
    b->data = at;
    b->bytes = bytes;
    return true;
}

/* In large pages, of which one fault gives 512 small ones; those that are not touched yet cost nothing, so there are plenty. */
static bool room_in_large_pages(dl_big *b, size_t n)
{
    enum { PLENTY = 4 };
    const size_t mask = LARGE_PAGE - 1, most = (b->warm + mask) & ~mask;
    size_t bytes = (n * PLENTY + mask) & ~mask;
    if (bytes > most) bytes = most;
    void *at = aligned_alloc(LARGE_PAGE, bytes);
    if (!at) return false;
#ifdef MADV_HUGEPAGE
    madvise(at, bytes, MADV_HUGEPAGE); /* a wish */
#endif
    if (b->bytes) memcpy(at, b->data, b->bytes);
    free(b->data);
    b->data = at;
    b->bytes = bytes;
    return true;
}

bool dl_big_room(dl_big *b, size_t n)
{
    if (n <= b->bytes) return true;
    size_t bytes = b->bytes < STEP ? b->bytes * 2 : b->bytes + STEP;
    if (bytes < n) bytes = n;
    bytes = (bytes + 4095) & ~(size_t)4095;
    if (b->file) return room_in_file(b, n) || move_to_memory(b, bytes);
    if (n >= LARGE_PAGE / 16 && n <= b->warm && room_in_large_pages(b, n)) return true;
    if (b->folder && !b->stays && (b->warm ? n > b->warm : bytes > DL_BIG_FROM)) {
        if (room_in_file(b, n)) return true;
        b->stays = true;
    }
    if (b->bytes >= STEP && bytes < b->bytes * 2) bytes = b->bytes * 2;
    void *grown = realloc(b->data, bytes);
    if (!grown) return false;
    b->data = grown;
    b->bytes = bytes;
    return true;
}

void dl_big_cool(const dl_big *b)
{
    if (b->file) madvise(b->data, b->bytes, MADV_DONTNEED);
}

void dl_big_free(dl_big *b)
{
    if (b->file) {
        munmap(b->data, b->bytes);
        close(b->file - 1);
    } else {
        free(b->data);
    }
    *b = (dl_big){0};
}

/* Address space for the next pieces. */
static bool new_span(dl_big_pieces *p)
{
    void **spans = realloc(p->spans, (p->n / SPAN + 1) * sizeof *spans);
    if (!spans) return false;
    p->spans = spans;
    spans[p->n / SPAN] = mmap(NULL, (size_t)SPAN * DL_BIG_PIECE, PROT_NONE,
                              MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return spans[p->n / SPAN] != MAP_FAILED;
}

void *dl_big_piece(dl_big_pieces *p)
{
    if (!p->file) {
        const int fd = open(p->folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
        if (fd < 0 || !keeps_promises(fd)) {
            if (fd >= 0) close(fd);
            return NULL;
        }
        p->file = fd + 1;
    }
    const size_t from = p->n * DL_BIG_PIECE;
    if (!lengthen(p->file - 1, from, from + DL_BIG_PIECE)) return NULL;
    if (p->n % SPAN == 0 && !new_span(p)) return NULL;
    char *at = (char *)p->spans[p->n / SPAN] + p->n % SPAN * DL_BIG_PIECE;
    if (mmap(at, DL_BIG_PIECE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, p->file - 1, (off_t)from) ==
        MAP_FAILED) {
        if (p->n % SPAN == 0) munmap(at, (size_t)SPAN * DL_BIG_PIECE);
        return NULL;
    }
    p->n++;
    return at;
}

void dl_big_pieces_cool(const dl_big_pieces *p)
{
    for (size_t i = 0; i < p->n; i += SPAN)
        madvise(p->spans[i / SPAN], (p->n - i < SPAN ? p->n - i : SPAN) * DL_BIG_PIECE, MADV_DONTNEED);
}

void dl_big_pieces_free(dl_big_pieces *p)
{
    for (size_t i = 0; i < p->n; i += SPAN)
        munmap(p->spans[i / SPAN], (size_t)SPAN * DL_BIG_PIECE);
    free(p->spans);
    if (p->file) close(p->file - 1);
    *p = (dl_big_pieces){0};
}

void *dl_big_reserve(size_t bytes)
{
    void *array =
        mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return array == MAP_FAILED ? NULL : array;
}

void dl_big_unreserve(void *array, size_t bytes)
{
    if (array) munmap(array, bytes);
}
