/* Unpacking tt-metal's files out of an archive, by libarchive, which is loaded for it (base/library.h). */
#include "tt_metal/archive.h"

#include <archive.h>
#include <archive_entry.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <locale.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/library.h"
#include "base/run_file.h"
#include "decode/capture/capture.h"
#include "ops/op_log.h"
#include "tt_metal/exec.h"
#include "tt_metal/folder.h"
#include "tt_metal/zones.h"

enum { BLOCK = 512, PIECE = 256 * 1024, NAME = 512 };

/* clang-format off */
#define FUNCTIONS(X) \
    X(archive_entry_filetype) X(archive_entry_pathname) X(archive_error_string) X(archive_read_data) \
    X(archive_read_free) X(archive_read_new) X(archive_read_next_header) X(archive_read_open_filename) \
    X(archive_read_support_filter_bzip2) X(archive_read_support_filter_gzip) X(archive_read_support_filter_xz) \
    X(archive_read_support_filter_zstd) X(archive_read_support_format_tar) X(archive_read_support_format_zip)
/* clang-format on */

static struct {
    FUNCTIONS(DL_LIBRARY_FIELD)
} lib;
static const char *const function_names[] = {FUNCTIONS(DL_LIBRARY_NAME)};

/* ---- Which members, and where they go --- */

/* Whether text[0..n) is `begin`, anything, `end`, and perhaps the ending of a packed file. */
static bool is_named(const char *text, size_t n, const char *begin, const char *end)
{
    static const char *const packed[] = {"", ".gz", ".zst", ".xz", ".pack"};
    size_t n_begin = strlen(begin), n_end = strlen(end);
    for (size_t i = 0; i < sizeof packed / sizeof packed[0]; i++) {
        size_t n_packed = strlen(packed[i]);
        if (n < n_begin + n_end + n_packed || memcmp(text, begin, n_begin) != 0) continue;
        const char *tail = text + n - n_packed;
        if (memcmp(tail, packed[i], n_packed) == 0 && memcmp(tail - n_end, end, n_end) == 0) return true;
    }
    return false;
}

static bool is_wanted(const char *base, size_t n)
{
    static const char *const names[] = {
        TT_OPS_DATA_NAME, TT_OPS_TIMES_NAME,        TT_PERF_NAME,
        TT_SYNC_NAME,     "profile_log_device.csv", "tracy_profile_log_host.tracy",
        TT_ZONES_NAME,    TT_NEW_ZONES_NAME,        "topology.json",
        OP_LOG_NAME,      DL_RUN_FILE_NAME,         DL_CAPTURE_NAME};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        size_t length = strlen(names[i]);
        if (n >= length && memcmp(base, names[i], length) == 0 && is_named(base + length, n - length, "", ""))
            if (n == length || base[length] == '.') return true;
    }
    return is_named(base, n, "noc_trace_dev", ".json") || is_named(base, n, "ops_perf_results", ".csv");
}

typedef enum member { MEMBER_NOT, MEMBER_WANTED, MEMBER_PERHAPS } member;

/* Its name tells; of what may be the streaming profiler's only its beginning does. */
static member member_of(const char *base)
{
    if (is_wanted(base, strlen(base))) return MEMBER_WANTED;
    return strstr(base, ".csv") && base[0] != '.' ? MEMBER_PERHAPS : MEMBER_NOT;
}

/* The two runs of `devlog run` have logs of the same names. */
static const char *folder_kept(const char *name, const char *base)
{
    static const char *const folders[] = {"logs_device/", "logs/"};
    const size_t n = (size_t)(base - name);
    for (size_t i = 0; i < 2; i++) {
        const size_t length = strlen(folders[i]);
        const bool is = n >= length && memcmp(base - length, folders[i], length) == 0 &&
                        (n == length || base[-(ptrdiff_t)length - 1] == '/');
        if (is && (i == 0 || strncmp(base, "profile_log_ops.", 16) == 0)) return folders[i];
    }
    return "";
}

/* The place of a member below the folder, "rank3/tracy_ops_data.csv.gz"; MEMBER_NOT: it is not wanted. */
static member place_of(const char *name, char place[NAME])
{
    const char *slash = strrchr(name, '/'), *base = slash ? slash + 1 : name;
    unsigned rank = 0;
    bool ranked = false;
    const member kind = member_of(base);
    for (const char *p = name; p < base && !ranked; p++) {
        char number[16] = "";
        int end = 0;
        if (p > name && p[-1] != '/') continue;
        snprintf(number, sizeof number, "%.*s", (int)(base - p < 15 ? base - p : 15), p);
        ranked = sscanf(number, "rank%5u/%n", &rank, &end) == 1 && end;
    }
    const char *folder = ranked ? "" : folder_kept(name, base);
    int size =
        ranked ? snprintf(place, NAME, "rank%u/%s", rank, base) : snprintf(place, NAME, "%s%s", folder, base);
    return size > 0 && size < NAME ? kind : MEMBER_NOT;
}

/* Opens a file below the folder, making the one it is in. -1: errno. */
static int create(const char *folder, const char *place)
{
    char path[4096];
    const char *slash = strchr(place, '/');
    if (slash) {
        snprintf(path, sizeof path, "%s/%.*s", folder, (int)(slash - place), place);
        if (mkdir(path, 0777) != 0 && errno != EEXIST) return -1;
    }
    if (snprintf(path, sizeof path, "%s/%s", folder, place) >= (int)sizeof path) {
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
        if (path && unlink(path) != 0 && deep &&
            (strncmp(e->d_name, "rank", 4) == 0 || strncmp(e->d_name, "logs", 4) == 0))
            remove_in(path, false);
        free(path);
    }
    if (d) closedir(d);
    rmdir(folder);
}

void tt_unpacked_remove(const char *folder)
{
    remove_in(folder, true);
}

/* ---- The archive --- */

static devlog_status damaged(struct archive *a, const char *path, devlog_error *err)
{
    const char *why = lib.archive_error_string(a);
    return dl_fail(err, DEVLOG_ERR_FORMAT, "%s is damaged: %s", path, why ? why : "it cannot be read on");
}

/* The member in hand into a file. `perhaps`: only what turns out to be the streaming profiler's; a packed one is looked
 * at when it is there. */
static devlog_status unpack_member(struct archive *a, const char *path, const char *folder, const char *place,
                                   bool perhaps, char *piece, unsigned *found, devlog_error *err)
{
    la_ssize_t n = lib.archive_read_data(a, piece, PIECE);
    const bool packed = strcmp(place + strlen(place) - 4, ".csv") != 0;
    if (perhaps && !packed && n >= 0 && !tt_streamed_begins(piece, (size_t)n)) return DEVLOG_OK;
    int to = create(folder, place);
    if (to < 0) return dl_fail_errno(err, errno, "cannot unpack %s into %s", path, folder);
    devlog_status status = DEVLOG_OK;
    for (; n > 0 && !status; n = status ? n : lib.archive_read_data(a, piece, PIECE)) {
        int errnum = dl_write_all(to, piece, (size_t)n);
        if (errnum) status = dl_fail_errno(err, errnum, "cannot unpack %s", path);
    }
    if (n < 0) status = damaged(a, path, err);
    close(to);
    char *there = status || !perhaps ? NULL : dl_path_join(folder, place);
    if (there && !tt_streamed_is(there))
        unlink(there);
    else
        ++*found;
    free(there);
    return status;
}

static struct archive *reader(void)
{
    struct archive *a = lib.archive_read_new();
    if (!a) return NULL;
    lib.archive_read_support_filter_gzip(a);
    lib.archive_read_support_filter_bzip2(a);
    lib.archive_read_support_filter_xz(a);
    lib.archive_read_support_filter_zstd(a);
    lib.archive_read_support_format_tar(a);
    lib.archive_read_support_format_zip(a);
    return a;
}

static devlog_status unpack_all(const char *path, const char *folder, unsigned *found, devlog_error *err)
{
    struct archive *a = reader();
    struct archive_entry *entry;
    char place[NAME], *piece = malloc(PIECE);
    devlog_status status = a && piece ? DEVLOG_OK : dl_fail(err, DEVLOG_ERR_MEMORY, "out of memory");
    if (!status && lib.archive_read_open_filename(a, path, PIECE) != ARCHIVE_OK)
        status = damaged(a, path, err);
    while (!status) {
        int got = lib.archive_read_next_header(a, &entry);
        if (got == ARCHIVE_EOF) break;
        if (got != ARCHIVE_OK && got != ARCHIVE_WARN) {
            status = damaged(a, path, err);
            break;
        }
        const char *name = lib.archive_entry_pathname(entry);
        if (!name || lib.archive_entry_filetype(entry) != AE_IFREG) continue;
        const member kind = place_of(name, place);
        if (kind) status = unpack_member(a, path, folder, place, kind == MEMBER_PERHAPS, piece, found, err);
    }
    if (a) lib.archive_read_free(a);
    free(piece);
    return status;
}

bool tt_is_archive(const char *path)
{
    struct stat st;
    dl_input *in;
    const void *bytes = NULL;
    size_t n = BLOCK;
    if (stat(path, &st) != 0 || !S_ISREG(st.st_mode) || dl_input_open(&in, path, NULL)) return false;
    bool ok = dl_input_peek(in, &bytes, &n, NULL) == DEVLOG_OK;
    bool zip = ok && n >= 4 && memcmp(bytes, "PK\3\4", 4) == 0;
    bool tar = ok && n >= BLOCK && memcmp((const char *)bytes + 257, "ustar", 5) == 0;
    dl_input_close(in);
    return zip || tar;
}

devlog_status tt_unpack(const char *path, const char *folder, devlog_error *err)
{
    unsigned found = 0;
    /* Names in UTF-8, as zips have them, have no form in the "C" locale unless they are ASCII. */
    const locale_t utf8 = newlocale(LC_CTYPE_MASK, "C.UTF-8", (locale_t)0), before = uselocale(utf8);
    devlog_status status = dl_library_load(DEVLOG_LIBARCHIVE, function_names,
                                           sizeof function_names / sizeof function_names[0], &lib, err);
    if (!status) status = dl_folder_make(folder, err);
    if (!status) status = unpack_all(path, folder, &found, err);
    if (!status && !found) status = dl_fail(err, DEVLOG_ERR_NOT_FOUND, "no file of a profiler in %s", path);
    uselocale(before);
    if (utf8) freelocale(utf8);
    return status;
}
