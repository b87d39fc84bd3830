/* Unpacking tt-metal's files. Members of a zip that are deflated become .gz files: the packed bytes are the
 * same, and the reader of logs unpacks them. */
#include "ops/tt_archive.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "decode/input.h"
#include "ops/tt_exec.h"

enum { BLOCK = 512, PIECE = 256 * 1024, NAME = 256 };

/* ---- Which members, and where they go --- */

/* The place of a member below the folder, "rank3/tracy_ops_data.csv.gz"; false: it is not wanted. */
static bool place_of(const char *name, size_t n, char place[NAME])
{
    static const char *const names[] = {TT_OPS_DATA_NAME, TT_OPS_TIMES_NAME, TT_PERF_NAME,
                                        "profile_log_device.csv", "tracy_profile_log_host.tracy"};
    static const char *const endings[] = {"", ".gz", ".zst", ".xz"};
    const char *slash = memrchr(name, '/', n), *base = slash ? slash + 1 : name;
    size_t length = (size_t)(name + n - base);
    bool wanted = false;
    for (size_t i = 0; i < sizeof names / sizeof names[0] && !wanted; i++)
        for (size_t k = 0; k < sizeof endings / sizeof endings[0] && !wanted; k++) {
            char known[128];
            int size = snprintf(known, sizeof known, "%s%s", names[i], endings[k]);
            wanted = (size_t)size == length && memcmp(known, base, length) == 0;
        }
    if (!wanted) return false;
    unsigned rank = 0;
    bool ranked = false;
    for (const char *p = name; p < base; p++) {
        char number[16] = "";
        int end = 0;
        if (p > name && p[-1] != '/') continue;
        snprintf(number, sizeof number, "%.*s", (int)(base - p < 15 ? base - p : 15), p);
        if (sscanf(number, "rank%5u/%n", &rank, &end) == 1 && end) ranked = true;
        if (ranked) break;
    }
    int size = ranked ? snprintf(place, NAME, "rank%u/%.*s", rank, (int)length, base)
                      : snprintf(place, NAME, "%.*s", (int)length, base);
    return size > 0 && size < NAME;
}

/* Opens a file below the folder, making the one it is in. -1: errno. */
static int create(const char *folder, const char *place, const char *ending)
{
    char path[4096];
    const char *slash = strchr(place, '/');
    if (slash) {
        snprintf(path, sizeof path, "%s/%.*s", folder, (int)(slash - place), place);
        if (mkdir(path, 0777) != 0 && errno != EEXIST) return -1;
    }
    if (snprintf(path, sizeof path, "%s/%s%s", folder, place, ending) >= (int)sizeof path) {
        errno = ENAMETOOLONG;
        return -1;
    }
    return open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0666);
}

static void remove_in(const char *folder, bool deep)
{
    DIR *d = opendir(folder);
    for (struct dirent *e; d && (e = readdir(d)) != NULL;) {
        char *path = e->d_name[0] == '.' ? NULL : dl_path_join(folder, e->d_name);
        if (path && unlink(path) != 0 && deep && strncmp(e->d_name, "rank", 4) == 0) remove_in(path, false);
        free(path);
    }
    if (d) closedir(d);
    rmdir(folder);
}

void tt_unpacked_remove(const char *folder)
{
    remove_in(folder, true);
}

/* ---- tar --- */

static bool is_tar(const void *bytes, size_t n)
{
    return n >= BLOCK && memcmp((const char *)bytes + 257, "ustar", 5) == 0;
}

/* Octal, or binary when the first bit is set. False: neither. */
static bool tar_number(const char *field, size_t n, uint64_t *out)
{
    *out = 0;
    if ((unsigned char)field[0] & 0x80) {
        for (size_t i = 1; i < n; i++)
            *out = *out << 8 | (unsigned char)field[i];
        return *out < UINT64_C(1) << 62;
    }
    for (size_t i = 0; i < n && field[i] && field[i] != ' '; i++) {
        if (field[i] < '0' || field[i] > '7') return false;
        *out = *out * 8 + (uint64_t)(field[i] - '0');
    }
    return true;
}

/* Fills `bytes` whole; false: the input ends before. */
static bool read_whole(dl_input *in, char *bytes, size_t n, devlog_error *err)
{
    while (n) {
        size_t got = 0;
        if (dl_input_read(in, bytes, n, &got, err) || !got) return false;
        bytes += got;
        n -= got;
    }
    return true;
}

/* The next `n` bytes into a file, or nowhere. */
static devlog_status copy(dl_input *in, uint64_t n, int fd, char *piece, devlog_error *err)
{
    while (n) {
        size_t want = n < PIECE ? (size_t)n : PIECE;
        if (!read_whole(in, piece, want, err))
            return dl_fail(err, DEVLOG_ERR_FORMAT, "%s ends in the middle of a file", dl_input_name(in));
        int errnum = fd >= 0 ? dl_write_all(fd, piece, want) : 0;
        if (errnum) return dl_fail_errno(err, errnum, "cannot unpack %s", dl_input_name(in));
        n -= want;
    }
    return DEVLOG_OK;
}

/* "NN path=NAME\n" of a pax header. */
static size_t pax_path(const char *text, size_t n, char *name, size_t cap)
{
    const char *at = memmem(text, n, " path=", 6), *end = text + n;
    if (!at) return 0;
    at += 6;
    const char *feed = memchr(at, '\n', (size_t)(end - at));
    size_t length = (size_t)((feed ? feed : end) - at);
    if (length >= cap) return 0;
    memcpy(name, at, length);
    return length;
}

static devlog_status unpack_tar(const char *path, const char *folder, unsigned *found, devlog_error *err)
{
    dl_input *in;
    devlog_status status = dl_input_open(&in, path, err);
    if (status) return status;
    char header[BLOCK], name[4096], *piece = malloc(PIECE);
    size_t long_name = 0; /* of the next member, as a header before it says */
    if (!piece) status = dl_fail(err, DEVLOG_ERR_MEMORY, "out of memory");
    while (!status && read_whole(in, header, BLOCK, err)) {
        uint64_t size;
        if (!header[0]) break; /* the end */
        if (!is_tar(header, BLOCK) || !tar_number(header + 124, 12, &size)) {
            status = dl_fail(err, DEVLOG_ERR_FORMAT, "%s is damaged: a header is none", path);
            break;
        }
        uint64_t padding = (BLOCK - size % BLOCK) % BLOCK;
        char type = header[156], place[NAME];
        if ((type == 'L' || type == 'x') && size < sizeof name) {
            if (!read_whole(in, piece, (size_t)(size + padding), err)) break;
            long_name =
                type == 'x' ? pax_path(piece, (size_t)size, name, sizeof name) : strnlen(piece, (size_t)size);
            if (type == 'L') memcpy(name, piece, long_name);
            continue;
        }
        if (!long_name) {
            size_t prefix =
                header[345] && memcmp(header + 257, "ustar\0", 6) == 0 ? strnlen(header + 345, 155) : 0;
            memcpy(name, header + 345, prefix);
            if (prefix) name[prefix++] = '/';
            size_t n = strnlen(header, 100);
            memcpy(name + prefix, header, n);
            long_name = prefix + n;
        }
        int fd = -1;
        bool wanted = (type == '0' || type == 0) && place_of(name, long_name, place);
        long_name = 0;
        if (wanted) {
            fd = create(folder, place, "");
            if (fd < 0) status = dl_fail_errno(err, errno, "cannot unpack %s into %s", path, folder);
            ++*found;
        }
        if (!status) status = copy(in, size, fd, piece, err);
        if (!status) status = copy(in, padding, -1, piece, err);
        if (fd >= 0) close(fd);
    }
    free(piece);
    dl_input_close(in);
    return status;
}

/* ---- zip --- */

static uint64_t little(const unsigned char *p, int n)
{
    uint64_t value = 0;
    for (int i = n; i-- > 0;)
        value = value << 8 | p[i];
    return value;
}

static bool pread_whole(int fd, void *bytes, size_t n, uint64_t at)
{
    for (char *p = bytes; n;) {
        ssize_t got = pread(fd, p, n, (off_t)at);
        if (got <= 0) return false;
        p += got;
        at += (uint64_t)got;
        n -= (size_t)got;
    }
    return true;
}

typedef struct zip_member {
    uint64_t packed, size, at;
    uint32_t crc;
    unsigned method;
} zip_member;

/* Sizes beyond 32 bits stand behind the name. */
static void zip64(const unsigned char *extra, size_t n, zip_member *m)
{
    for (size_t i = 0; i + 4 <= n;) {
        unsigned id = (unsigned)little(extra + i, 2), length = (unsigned)little(extra + i + 2, 2);
        const unsigned char *p = extra + i + 4, *end = p + length;
        i += 4 + length;
        if (id != 1 || i > n) continue;
        uint64_t *const wide[] = {&m->size, &m->packed, &m->at};
        for (int k = 0; k < 3; k++)
            if (*wide[k] == UINT32_MAX && end - p >= 8) {
                *wide[k] = little(p, 8);
                p += 8;
            }
    }
}

static devlog_status unpack_member(int fd, const char *path, const char *folder, const char *place,
                                   const zip_member *m, char *piece, devlog_error *err)
{
    static const unsigned char gzip[10] = {0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 255};
    unsigned char local[30], tail[8];
    if (m->method != 0 && m->method != 8)
        return dl_fail(err, DEVLOG_ERR_FORMAT, "%s: %s is packed in a way that devlog does not know (%u)",
                       path, place, m->method);
    if (!pread_whole(fd, local, sizeof local, m->at) || little(local, 4) != 0x04034b50)
        return dl_fail(err, DEVLOG_ERR_FORMAT, "%s is damaged: %s is not where it should be", path, place);
    uint64_t at = m->at + 30 + little(local + 26, 2) + little(local + 28, 2), left = m->packed;
    int to = create(folder, place, m->method == 8 ? ".gz" : "");
    if (to < 0) return dl_fail_errno(err, errno, "cannot unpack %s into %s", path, folder);
    int errnum = m->method == 8 ? dl_write_all(to, gzip, sizeof gzip) : 0;
    bool whole = true;
    while (left && !errnum && whole) {
        size_t n = left < PIECE ? (size_t)left : PIECE;
        whole = pread_whole(fd, piece, n, at);
        if (whole) errnum = dl_write_all(to, piece, n);
        at += n;
        left -= n;
    }
    for (int i = 0; i < 4; i++) {
        tail[i] = (unsigned char)(m->crc >> 8 * i);
        tail[4 + i] = (unsigned char)(m->size >> 8 * i);
    }
    if (!errnum && whole && m->method == 8) errnum = dl_write_all(to, tail, sizeof tail);
    close(to);
    if (errnum) return dl_fail_errno(err, errnum, "cannot unpack %s", path);
    return whole ? DEVLOG_OK : dl_fail(err, DEVLOG_ERR_FORMAT, "%s ends in the middle of %s", path, place);
}

/* Where the directory is: the record at the end, or the wide one before it. */
static bool zip_directory(int fd, uint64_t size, uint64_t *at, uint64_t *entries)
{
    unsigned char end[66000], wide[56];
    size_t n = size < sizeof end ? (size_t)size : sizeof end;
    if (n < 22 || !pread_whole(fd, end, n, size - n)) return false;
    for (size_t i = n - 22 + 1; i-- > 0;) {
        if (little(end + i, 4) != 0x06054b50) continue;
        *entries = little(end + i + 10, 2);
        *at = little(end + i + 16, 4);
        if ((*entries == UINT16_MAX || *at == UINT32_MAX) && i >= 20 &&
            little(end + i - 20, 4) == 0x07064b50) {
            uint64_t where = little(end + i - 12, 8);
            if (!pread_whole(fd, wide, sizeof wide, where) || little(wide, 4) != 0x06064b50) return false;
            *entries = little(wide + 32, 8);
            *at = little(wide + 48, 8);
        }
        return true;
    }
    return false;
}

static devlog_status unpack_zip(const char *path, const char *folder, unsigned *found, devlog_error *err)
{
    struct stat st;
    uint64_t at = 0, entries = 0;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &st) != 0) {
        devlog_status status = dl_fail_errno(err, errno, "cannot read %s", path);
        if (fd >= 0) close(fd);
        return status;
    }
    devlog_status status = DEVLOG_OK;
    char *piece = malloc(PIECE);
    if (!piece)
        status = dl_fail(err, DEVLOG_ERR_MEMORY, "out of memory");
    else if (!zip_directory(fd, (uint64_t)st.st_size, &at, &entries))
        status = dl_fail(err, DEVLOG_ERR_FORMAT, "%s is damaged: it has no directory at its end", path);
    for (uint64_t i = 0; !status && i < entries; i++) {
        unsigned char head[46], extra[4096];
        char name[4096], place[NAME];
        if (!pread_whole(fd, head, sizeof head, at) || little(head, 4) != 0x02014b50) {
            status = dl_fail(err, DEVLOG_ERR_FORMAT, "%s is damaged: its directory ends early", path);
            break;
        }
        size_t n = (size_t)little(head + 28, 2), n_extra = (size_t)little(head + 30, 2);
        zip_member m = {little(head + 20, 4), little(head + 24, 4), little(head + 42, 4),
                        (uint32_t)little(head + 16, 4), (unsigned)little(head + 10, 2)};
        bool short_names = n < sizeof name && n_extra < sizeof extra;
        if (short_names && pread_whole(fd, name, n, at + 46) && place_of(name, n, place)) {
            if (pread_whole(fd, extra, n_extra, at + 46 + n)) zip64(extra, n_extra, &m);
            status = unpack_member(fd, path, folder, place, &m, piece, err);
            ++*found;
        }
        at += 46 + n + n_extra + little(head + 32, 2);
    }
    free(piece);
    close(fd);
    return status;
}

/* ---- Either --- */

static bool is_zip(const char *path)
{
    unsigned char magic[4] = {0};
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    bool zip = fd >= 0 && pread_whole(fd, magic, 4, 0) && little(magic, 4) == 0x04034b50;
    if (fd >= 0) close(fd);
    return zip;
}

bool tt_is_archive(const char *path)
{
    struct stat st;
    dl_input *in;
    if (stat(path, &st) != 0 || !S_ISREG(st.st_mode)) return false;
    if (is_zip(path)) return true;
    if (dl_input_open(&in, path, NULL)) return false;
    const void *bytes = NULL;
    size_t n = BLOCK;
    bool tar = dl_input_peek(in, &bytes, &n, NULL) == DEVLOG_OK && is_tar(bytes, n);
    dl_input_close(in);
    return tar;
}

devlog_status tt_unpack(const char *path, const char *folder, devlog_error *err)
{
    unsigned found = 0;
    devlog_status status = dl_folder_make(folder, err);
    if (!status)
        status = is_zip(path) ? unpack_zip(path, folder, &found, err) : unpack_tar(path, folder, &found, err);
    if (!status && !found)
        status = dl_fail(err, DEVLOG_ERR_NOT_FOUND, "no file of tt-metal's profiler in %s", path);
    return status;
}
