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
#include <time.h>
#include <unistd.h>

#include "base/file.h"
#include "base/library.h"
#include "base/run_file.h"
#include "base/str.h"
#include "decode/capture/capture.h"
#include "ops/op_log.h"
#include "tt_metal/exec.h"
#include "tt_metal/folder.h"
#include "tt_metal/zones.h"

enum { BLOCK = 512, PIECE = 256 * 1024, NAME = 512 };

/* clang-format off */
#define FUNCTIONS(X) \
    X(archive_entry_filetype) X(archive_entry_mtime) X(archive_entry_pathname) X(archive_error_string) X(archive_read_data) \
    X(archive_read_free) X(archive_read_new) X(archive_read_next_header) X(archive_read_open_filename) \
    X(archive_read_support_filter_bzip2) X(archive_read_support_filter_gzip) X(archive_read_support_filter_xz) \
    X(archive_read_support_filter_zstd) X(archive_read_support_format_tar) X(archive_read_support_format_zip)
/* clang-format on */

static struct {
    FUNCTIONS(DL_LIBRARY_FIELD)
} lib;
static const char *const function_names[] = {FUNCTIONS(DL_LIBRARY_NAME)};

/* ---- Which members, and where they go --- */

/* How a file's name goes on when it is packed. */
static const char *const packed[] = {"", ".gz", ".zst", ".xz", ".pack"};
enum { N_PACKED = sizeof packed / sizeof packed[0] };

/* Whether text[0..n) is `begin`, anything, `end`, and perhaps the ending of a packed file. */
static bool is_named(const char *text, size_t n, const char *begin, const char *end)
{
    size_t n_begin = strlen(begin), n_end = strlen(end);
    for (size_t i = 0; i < N_PACKED; i++) {
        size_t n_packed = strlen(packed[i]);
        if (n < n_begin + n_end + n_packed || memcmp(text, begin, n_begin) != 0) continue;
        const char *tail = text + n - n_packed;
        if (memcmp(tail, packed[i], n_packed) == 0 && memcmp(tail - n_end, end, n_end) == 0) return true;
    }
    return false;
}

static bool is_wanted(const char *base, size_t n, tt_unpack_what what)
{
    static const char *const names[] = {TT_OPS_DATA_NAME,
                                        TT_OPS_TIMES_NAME,
                                        TT_PERF_NAME,
                                        TT_SYNC_NAME,
                                        "profile_log_device.csv",
                                        "tracy_profile_log_host.tracy",
                                        TT_ZONES_NAME,
                                        TT_NEW_ZONES_NAME,
                                        "topology.json",
                                        DL_CAPTURE_NAME,
                                        OP_LOG_NAME,
                                        DL_RUN_FILE_NAME};
    enum { N_NAMES = sizeof names / sizeof names[0], OF_OPS = 2 };
    for (size_t i = what == TT_UNPACK_OP_LOG ? N_NAMES - OF_OPS : 0; i < N_NAMES; i++) {
        size_t length = strlen(names[i]);
        if (n >= length && memcmp(base, names[i], length) == 0 && is_named(base + length, n - length, "", ""))
            if (n == length || base[length] == '.') return true;
    }
    return what == TT_UNPACK_ALL &&
           (is_named(base, n, "noc_trace_dev", ".json") || is_named(base, n, "ops_perf_results", ".csv") ||
            is_named(base, n, "host_", ".devlog"));
}

typedef enum member { MEMBER_NOT, MEMBER_WANTED, MEMBER_PERHAPS } member;

/* Its name tells; of what may be the streaming profiler's only its beginning does. */
static member member_of(const char *base, tt_unpack_what what)
{
    if (is_wanted(base, strlen(base), what)) return MEMBER_WANTED;
    return what == TT_UNPACK_ALL && strstr(base, ".csv") && base[0] != '.' ? MEMBER_PERHAPS : MEMBER_NOT;
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
static member place_of(const char *name, tt_unpack_what what, char place[NAME])
{
    const char *slash = strrchr(name, '/'), *base = slash ? slash + 1 : name;
    unsigned rank = 0;
    bool ranked = false;
    const member kind = member_of(base, what);
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

/* What has been unpacked: of each file its place, and the name that it had in the archive. */
typedef struct unpacked {
    char *place, *name;
    char *twin; /* a file of another folder that was the same; NULL: none */
} unpacked;

typedef struct unpacking {
    const char *path, *folder;
    tt_unpack_what what;
    struct archive *a;
    time_t changed; /* the member in hand, last; 0: the archive does not say */
    char *piece;    /* PIECE bytes */
    unpacked *files;
    size_t n, cap;
    char *runs[2];   /* two files of different runs; NULL: there are none, or .logs says which is wanted */
    bool logs_there; /* a folder .logs has some of them */
    bool logs_only;  /* only these are wanted */
} unpacking;

/* Beside the places of files: where a file is until it is known whether it is wanted. */
#define ANOTHER "another"

static devlog_status no_memory(devlog_error *err)
{
    return dl_fail(err, DEVLOG_ERR_MEMORY, "out of memory");
}

static devlog_status keep(unpacking *u, const char *place, const char *name, devlog_error *err)
{
    if (u->n == u->cap) {
        const size_t cap = u->cap ? u->cap * 2 : 64;
        unpacked *grown = realloc(u->files, cap * sizeof *grown);
        if (!grown) return no_memory(err);
        u->files = grown;
        u->cap = cap;
    }
    unpacked *file = &u->files[u->n];
    *file = (unpacked){strdup(place), strdup(name), NULL};
    if (file->place && file->name) {
        u->n++;
        return DEVLOG_OK;
    }
    free(file->place);
    free(file->name);
    return no_memory(err);
}

static unpacked *find(const unpacking *u, const char *place)
{
    for (size_t i = 0; i < u->n; i++)
        if (strcmp(u->files[i].place, place) == 0) return &u->files[i];
    return NULL;
}

static void forget(unpacking *u, unpacked *file)
{
    free(file->place);
    free(file->name);
    free(file->twin);
    *file = u->files[--u->n];
}

static void remove_at(const unpacking *u, const char *place)
{
    char *there = dl_path_join(u->folder, place);
    if (there) unlink(there);
    free(there);
}

static bool is_at(const unpacking *u, const char *place)
{
    char *there = dl_path_join(u->folder, place);
    const bool is = there && access(there, F_OK) == 0;
    free(there);
    return is;
}

/* ---- Archives with files of several runs --- */

static devlog_status several_runs(const unpacking *u, const char *one, const char *other, devlog_error *err)
{
    char names[2][200];
    snprintf(names[0], sizeof names[0], "%s", one);
    snprintf(names[1], sizeof names[1], "%s", other);
    dl_shown_line_in_place(names[0]);
    dl_shown_line_in_place(names[1]);
    return dl_fail(
        err, DEVLOG_ERR_ARGUMENT,
        "%s has the files of several runs, %s and %s among them: unpack it, and name the folder of one",
        u->path, names[0], names[1]);
}

/* The folder that tt-metal writes the last run to, and copies those from that it keeps. */
static bool lies_in_logs(const char *name)
{
    return strncmp(name, ".logs/", 6) == 0 || strstr(name, "/.logs/");
}

/* There are several runs: what lies elsewhere may be of another one than what is in .logs. */
static void take_logs_only(unpacking *u)
{
    u->logs_only = true;
    for (int i = 0; i < 2; i++) {
        free(u->runs[i]);
        u->runs[i] = NULL;
    }
    for (size_t i = u->n; i-- > 0;) {
        if (lies_in_logs(u->files[i].name)) continue;
        remove_at(u, u->files[i].place);
        forget(u, &u->files[i]);
    }
}

static bool in_one_folder(const char *name, const char *other)
{
    const char *slash = strrchr(name, '/'), *end = strrchr(other, '/');
    const size_t n = slash ? (size_t)(slash - name) : 0;
    return n == (end ? (size_t)(end - other) : 0) && memcmp(name, other, n) == 0;
}

static bool are_the_same(const unpacking *u, const char *place, const char *other)
{
    char *paths[2] = {dl_path_join(u->folder, place), dl_path_join(u->folder, other)};
    FILE *files[2] = {paths[0] ? fopen(paths[0], "re") : NULL, paths[1] ? fopen(paths[1], "re") : NULL};
    bool same = files[0] && files[1];
    for (int c = 0; same && c != EOF;) {
        c = getc_unlocked(files[0]);
        same = c == getc_unlocked(files[1]);
    }
    for (int i = 0; i < 2; i++) {
        same = same && !ferror(files[i]);
        if (files[i]) fclose(files[i]);
        free(paths[i]);
    }
    return same;
}

/* The file in hand and one that is there are of different runs. */
static devlog_status conflict(unpacking *u, const char *there, const char *name, devlog_error *err)
{
    const bool in_logs = lies_in_logs(name);
    if (in_logs && lies_in_logs(there)) return several_runs(u, there, name, err);
    if (in_logs || u->logs_there) {
        take_logs_only(u);
    } else if (!u->runs[0]) {
        u->runs[0] = strdup(there);
        u->runs[1] = strdup(name);
        if (!u->runs[0] || !u->runs[1]) return no_memory(err);
    }
    return DEVLOG_OK;
}

/* A file of this name is the same: of the two the one in .logs is the one that stays. */
static bool take_twin(unpacked *there, const char *name)
{
    const bool instead = lies_in_logs(name) && !lies_in_logs(there->name);
    if (there->twin && !instead) return true;
    char *twin = strdup(name);
    if (!twin) return false;
    free(there->twin);
    there->twin = instead ? there->name : twin;
    if (instead) there->name = twin;
    return true;
}

/* Whether the file in hand goes to its place. Whoever reads the folder would take it for one that is there, packed or not,
 * which is the same, or an older one of the same name, or of another run. */
static devlog_status settle(unpacking *u, const char *name, const char *place, bool *goes, devlog_error *err)
{
    const char *ending = strrchr(place, '.');
    size_t stem = strlen(place);
    for (size_t i = 1; i < N_PACKED; i++)
        if (ending && strcmp(ending, packed[i]) == 0) stem = (size_t)(ending - place);
    *goes = true;
    for (size_t i = 0; i < N_PACKED; i++) {
        char form[NAME + 8];
        snprintf(form, sizeof form, "%.*s%s", (int)stem, place, packed[i]);
        unpacked *there = is_at(u, form) ? find(u, form) : NULL;
        const bool same_place = strcmp(form, place) == 0;
        if (!there || (!same_place && in_one_folder(there->name, name))) continue;
        const bool older = same_place && strcmp(there->name, name) == 0;
        if (older && !there->twin) continue;
        if (same_place && are_the_same(u, ANOTHER, place)) {
            *goes = false;
            if (!take_twin(there, name)) return no_memory(err);
            continue;
        }
        devlog_status status = conflict(u, older ? there->twin : there->name, name, err);
        if (status) return status;
        *goes &= lies_in_logs(name);
    }
    return DEVLOG_OK;
}

/* ---- Members --- */

static devlog_status not_unpacked(const unpacking *u, int errnum, devlog_error *err)
{
    return dl_fail_errno(err, errnum, "cannot unpack %s into %s", u->path, u->folder);
}

/* The member in hand, of which n bytes have been read. */
static devlog_status write_member(unpacking *u, la_ssize_t n, devlog_error *err)
{
    char *path = dl_path_join(u->folder, ANOTHER);
    const int to = path ? open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0666) : -1;
    devlog_status status = !path ? no_memory(err) : to < 0 ? not_unpacked(u, errno, err) : DEVLOG_OK;
    for (; n > 0 && !status; n = status ? n : lib.archive_read_data(u->a, u->piece, PIECE)) {
        int errnum = dl_write_all(to, u->piece, (size_t)n);
        if (errnum) status = not_unpacked(u, errnum, err);
    }
    if (n < 0 && !status) status = damaged(u->a, u->path, err);
    /* Runs are dated by when their logs were written, and zones of host code are those of a log's time. */
    const struct timespec times[2] = {{.tv_sec = u->changed}, {.tv_sec = u->changed}};
    if (to >= 0 && u->changed > 0) (void)futimens(to, times);
    if (to >= 0 && close(to) != 0 && !status) status = not_unpacked(u, errno, err);
    free(path);
    return status;
}

/* Into its place, making the folder that it is in. */
static devlog_status move_to(unpacking *u, const char *name, const char *place, devlog_error *err)
{
    char *from = dl_path_join(u->folder, ANOTHER), *to = dl_path_join(u->folder, place);
    char *slash = to && strchr(place, '/') ? strrchr(to, '/') : NULL;
    int errnum = 0;
    if (slash) {
        *slash = 0;
        if (mkdir(to, 0777) != 0 && errno != EEXIST) errnum = errno;
        *slash = '/';
    }
    const bool again = is_at(u, place);
    if (from && to && !errnum && rename(from, to) != 0) errnum = errno;
    devlog_status status = !from || !to ? no_memory(err) : errnum ? not_unpacked(u, errnum, err) : DEVLOG_OK;
    free(from);
    free(to);
    unpacked *older = again ? find(u, place) : NULL;
    if (older) forget(u, older);
    return status ? status : keep(u, place, name, err);
}

/* The log of ops of `devlog run --once` lies in logs/ beside the device's, which has gone to the top: there are no two runs then, and
 * it goes there, too, unless another one is there. */
static devlog_status join_one_run(unpacking *u, devlog_error *err)
{
    static const char device[] = "logs_device/", of_ops[] = "logs/";
    const size_t n = strlen(of_ops);
    for (size_t i = 0; i < u->n; i++)
        if (strncmp(u->files[i].place, device, strlen(device)) == 0) return DEVLOG_OK;
    for (size_t i = 0; i < u->n; i++) {
        char *place = u->files[i].place, *top;
        if (strncmp(place, of_ops, n) != 0 || find(u, place + n)) continue;
        if (!(top = strdup(place + n))) return no_memory(err);
        char *from = dl_path_join(u->folder, place), *to = dl_path_join(u->folder, top);
        const int errnum = from && to && rename(from, to) != 0 ? errno : 0;
        const bool memory = from && to;
        free(from);
        free(to);
        free(place);
        u->files[i].place = top;
        if (!memory) return no_memory(err);
        if (errnum) return not_unpacked(u, errnum, err);
    }
    char *empty = dl_path_join(u->folder, of_ops);
    if (empty) (void)rmdir(empty);
    free(empty);
    return DEVLOG_OK;
}

/* `perhaps`: only what turns out to be the streaming profiler's; a packed one is looked at when it is there. */
static devlog_status unpack_member(unpacking *u, const char *name, const char *place, bool perhaps,
                                   devlog_error *err)
{
    la_ssize_t n = lib.archive_read_data(u->a, u->piece, PIECE);
    const bool plain = strcmp(place + strlen(place) - 4, ".csv") == 0;
    if (perhaps && plain && n >= 0 && !tt_streamed_begins(u->piece, (size_t)n)) return DEVLOG_OK;
    devlog_status status = write_member(u, n, err);
    char *there = perhaps && !status ? dl_path_join(u->folder, ANOTHER) : NULL;
    bool goes = !perhaps || (there && tt_streamed_is(there));
    free(there);
    if (!status && goes) status = settle(u, name, place, &goes, err);
    if (!status && goes) return move_to(u, name, place, err);
    remove_at(u, ANOTHER);
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

static devlog_status unpack_all(unpacking *u, devlog_error *err)
{
    struct archive_entry *entry;
    char place[NAME];
    if (lib.archive_read_open_filename(u->a, u->path, PIECE) != ARCHIVE_OK)
        return damaged(u->a, u->path, err);
    for (;;) {
        int got = lib.archive_read_next_header(u->a, &entry);
        if (got == ARCHIVE_EOF) break;
        if (got != ARCHIVE_OK && got != ARCHIVE_WARN) return damaged(u->a, u->path, err);
        const char *name = lib.archive_entry_pathname(entry);
        if (!name || lib.archive_entry_filetype(entry) != AE_IFREG) continue;
        u->changed = lib.archive_entry_mtime(entry);
        const bool in_logs = lies_in_logs(name);
        const member kind = u->logs_only && !in_logs ? MEMBER_NOT : place_of(name, u->what, place);
        u->logs_there |= in_logs && kind == MEMBER_WANTED;
        if (u->logs_there && u->runs[0]) take_logs_only(u);
        devlog_status status = kind ? unpack_member(u, name, place, kind == MEMBER_PERHAPS, err) : DEVLOG_OK;
        if (status) return status;
    }
    if (u->runs[0]) return several_runs(u, u->runs[0], u->runs[1], err);
    devlog_status status = join_one_run(u, err);
    if (status) return status;
    if (u->n) return DEVLOG_OK;
    return dl_fail(err, DEVLOG_ERR_NOT_FOUND, "no %s in %s",
                   u->what == TT_UNPACK_OP_LOG ? OP_LOG_NAME : "file of a profiler", u->path);
}

static devlog_status unpack(const char *path, const char *folder, tt_unpack_what what, devlog_error *err)
{
    unpacking u = {path, folder, what, .a = reader(), .piece = malloc(PIECE)};
    devlog_status status = u.a && u.piece ? unpack_all(&u, err) : no_memory(err);
    if (u.a) lib.archive_read_free(u.a);
    while (u.n)
        forget(&u, &u.files[u.n - 1]);
    free(u.files);
    free(u.runs[0]);
    free(u.runs[1]);
    free(u.piece);
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

devlog_status tt_unpack(const char *path, const char *folder, tt_unpack_what what, devlog_error *err)
{
    /* Names in UTF-8, as zips have them, have no form in the "C" locale unless they are ASCII. */
    const locale_t utf8 = newlocale(LC_CTYPE_MASK, "C.UTF-8", (locale_t)0), before = uselocale(utf8);
    devlog_status status = dl_library_load(DEVLOG_LIBARCHIVE, function_names,
                                           sizeof function_names / sizeof function_names[0], &lib, err);
    if (!status) status = dl_folder_make(folder, err);
    if (!status) status = unpack(path, folder, what, err);
    uselocale(before);
    if (utf8) freelocale(utf8);
    return status;
}
