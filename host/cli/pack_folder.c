/* Folders of logs, packed and unpacked. See pack_folder.h. */
#include "cli/pack_folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "cli/pack_output.h"

enum {
    LEAST = 64 * 1024, /* bytes of a log that is worth packing */
    MOST_DEEP = 64,    /* folders in folders */
    CHUNK = 1024 * 1024,
};

static bool ends(const char *name, const char *ending)
{
    const size_t n = strlen(name), m = strlen(ending);
    return n > m && strcmp(name + n - m, ending) == 0;
}

/* Logs that every command reads packed. What ends like a packed log is packed whatever it is, so that unpacking can tell
 * by names. Others are read from places in their middle. */
static bool is_packed_in_folders(const char *name, uint64_t size)
{
    static const char *const endings[] = {".csv", ".json", ".log"};
    bool log = false;
    for (size_t i = 0; i < sizeof endings / sizeof endings[0]; i++)
        log |= ends(name, endings[i]);
    return ends(name, PACK_SUFFIX) || (log && size >= LEAST);
}

static devlog_status copy(const char *from, const char *to, devlog_error *err)
{
    pack_output out = {0};
    int fd = open(from, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return dl_fail_errno(err, errno, "cannot read %s", from);
    char *bytes = malloc(CHUNK);
    devlog_status status =
        bytes ? pack_output_open(&out, to, err) : dl_fail(err, DEVLOG_ERR_MEMORY, "out of memory");
    for (ssize_t n = 1; n && !status;) {
        n = read(fd, bytes, CHUNK);
        if (n < 0 && errno == EINTR) continue;
        status = n < 0 ? dl_fail_errno(err, errno, "cannot read %s", from)
                       : pack_output_write(&out, bytes, (size_t)n, err);
    }
    free(bytes);
    close(fd);
    return pack_output_close(&out, status, err);
}

typedef struct walk {
    const pack_folder_way *way;
    pack_folder_counts *counts;
    struct stat made; /* the folder that is made, which may be inside of the other one */
} walk;

static devlog_status walk_folder(const walk *w, const char *from, const char *to, int deep,
                                 devlog_error *err);

/* One entry of a folder. */
static devlog_status entry(const walk *w, const char *from, const char *to, const char *name, int deep,
                           devlog_error *err)
{
    struct stat st;
    char *source = dl_path_join(from, name), *target = dl_path_join(to, name);
    devlog_status status = DEVLOG_OK;
    if (!source || !target)
        status = dl_fail(err, DEVLOG_ERR_MEMORY, "out of memory");
    else if (lstat(source, &st) != 0)
        status = dl_fail_errno(err, errno, "cannot read %s", source);
    else if (S_ISDIR(st.st_mode) && st.st_dev == w->made.st_dev && st.st_ino == w->made.st_ino)
        ; /* itself */
    else if (S_ISDIR(st.st_mode))
        status = walk_folder(w, source, target, deep + 1, err);
    else if (!S_ISREG(st.st_mode))
        w->counts->left_out++;
    else if (w->way->unpack ? ends(name, PACK_SUFFIX) : is_packed_in_folders(name, (uint64_t)st.st_size)) {
        char *named = w->way->unpack ? strndup(target, strlen(target) - strlen(PACK_SUFFIX))
                                     : pack_output_beside(target, PACK_SUFFIX);
        status = named ? w->way->file(w->way->ctx, source, named, err)
                       : dl_fail(err, DEVLOG_ERR_MEMORY, "out of memory");
        w->counts->files++;
        free(named);
    } else {
        status = copy(source, target, err);
        w->counts->copied++;
    }
    free(source);
    free(target);
    return status;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* In the order of names, so that what is said is the same everywhere. */
static devlog_status walk_folder(const walk *w, const char *from, const char *to, int deep, devlog_error *err)
{
    char **names = NULL;
    size_t n = 0;
    if (deep > MOST_DEEP) return dl_fail(err, DEVLOG_ERR_ARGUMENT, "%s: too many folders in folders", from);
    devlog_status status = dl_folder_make(to, err);
    if (status) return status;
    DIR *d = opendir(from);
    if (!d) return dl_fail_errno(err, errno, "cannot read %s", from);
    for (struct dirent *e; !status && (e = readdir(d)) != NULL;) {
        if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0) continue;
        char **grown = realloc(names, (n + 1) * sizeof *names);
        if (grown) names = grown;
        char *name = grown ? strdup(e->d_name) : NULL;
        if (name)
            names[n++] = name;
        else
            status = dl_fail(err, DEVLOG_ERR_MEMORY, "out of memory");
    }
    closedir(d);
    if (n) qsort(names, n, sizeof *names, by_name);
    for (size_t i = 0; i < n; i++) {
        if (!status) status = entry(w, from, to, names[i], deep, err);
        free(names[i]);
    }
    free(names);
    return status;
}

/* What is in the folder that was made: half of it is of no use to anybody. */
static int remove_one(const char *path, const struct stat *st, int type, struct FTW *where)
{
    (void)st, (void)type;
    if (where->level) (void)remove(path);
    return 0;
}

devlog_status pack_folder(const char *from, const char *to, const pack_folder_way *way,
                          pack_folder_counts *counts, devlog_error *err)
{
    walk w = {.way = way, .counts = counts};
    *counts = (pack_folder_counts){0};
    if (access(to, F_OK) == 0)
        return dl_fail(err, DEVLOG_ERR_ARGUMENT, "%s exists: remove it, or say where to with --output FOLDER",
                       to);
    const size_t there = dl_folder_there(to);
    devlog_status status = dl_folder_make(to, err);
    if (!status && stat(to, &w.made) != 0) status = dl_fail_errno(err, errno, "cannot read %s", to);
    if (!status) status = walk_folder(&w, from, to, 0, err);
    if (status) {
        (void)nftw(to, remove_one, MOST_DEEP, FTW_DEPTH | FTW_PHYS);
        dl_folder_unmake(to, there);
    }
    return status;
}
