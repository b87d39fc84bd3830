/* Kept: parts of logs in files. A file is three things: what it is of (a text, compared as a whole), the bytes that ranks send
 * one another (decode/wire.h), and a hash of them. It is read by the program that has written it only: its own hash is in the text. */
#include "kept.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "base/intern.h"
#include "decode/wire.h"
#include "devlog/version.h"

enum { NAME = 32 };
static const char plan_name[] = "devlog-plan", plan_key[] = "plan\n";

static devlog_status no_memory(devlog_error *err)
{
    return dl_fail(err, DEVLOG_ERR_MEMORY, "out of memory");
}

/* ---- Files ----------------------------------------------------------------------------------------------- */

typedef enum found { FOUND, FOUND_NONE, FOUND_DAMAGED, FOUND_STRANGE } found;

/* `what`: the last line of its text. */
static devlog_status write_file(const kept_parts *k, const char *name, const char *what,
                                const dl_str *content, devlog_error *err)
{
    dl_file_writer file;
    char *path = dl_path_join(k->folder, name);
    devlog_status status = path ? dl_file_create(&file, path, err) : no_memory(err);
    free(path);
    if (status) return status;
    dl_str all = {0};
    dl_wire w = {.out = &all};
    dl_str_add_n(&all, k->key.text, k->key.len);
    dl_str_add(&all, what);
    dl_str_char(&all, 0);
    const char *bytes = content->text;
    size_t n = content->len;
    uint64_t hash = dl_hash_bytes(bytes, n);
    dl_wire_u64(&w, &hash);
    dl_wire_bytes(&w, &bytes, &n);
    dl_file_put(&file, all.text, all.len);
    status = dl_str_status(&all, err);
    if (status)
        dl_file_abandon(&file);
    else
        status = dl_file_commit(&file, err);
    dl_str_free(&all);
    return status;
}

/* *content points into *all, which the caller frees. */
static found read_file(const kept_parts *k, const char *name, const char *what, dl_str *all,
                       const char **content, size_t *n)
{
    devlog_error err;
    char *path = dl_path_join(k->folder, name);
    const devlog_status status = path ? dl_file_read(path, SIZE_MAX / 2, all, &err) : no_memory(&err);
    free(path);
    if (status == DEVLOG_ERR_NOT_FOUND) return FOUND_NONE;
    if (status) return FOUND_DAMAGED;
    const size_t n_what = strlen(what);
    const char *text = all->len ? all->text : "", *end = memchr(text, 0, all->len);
    static const char first[] = "devlog-mpi decode ";
    if (!end || strncmp(text, first, sizeof first - 1) != 0) return FOUND_DAMAGED;
    if ((size_t)(end - text) != k->key.len + n_what || memcmp(text, k->key.text, k->key.len) != 0 ||
        memcmp(text + k->key.len, what, n_what) != 0)
        return FOUND_STRANGE;
    dl_wire w = {.at = (const uint8_t *)end + 1, .end = (const uint8_t *)text + all->len};
    uint64_t hash = 0;
    dl_wire_u64(&w, &hash);
    dl_wire_bytes(&w, content, n);
    return w.bad || w.at != w.end || dl_hash_bytes(*content, *n) != hash ? FOUND_DAMAGED : FOUND;
}

/* ---- What it is of --------------------------------------------------------------------------------------- */

/* What is read is no format, and may be of another shape in each build. */
static devlog_status hash_of_program(uint64_t *hash, devlog_error *err)
{
    enum { BLOCK = 1 << 16 };
    char *block = malloc(BLOCK);
    FILE *in = fopen("/proc/self/exe", "rb");
    size_t n = 0;
    *hash = 0;
    while (in && block && (n = fread(block, 1, BLOCK, in)) > 0)
        *hash = dl_hash_u64(*hash ^ dl_hash_bytes(block, n));
    const bool read = in && block && !ferror(in);
    if (in) fclose(in);
    free(block);
    return read ? DEVLOG_OK : dl_fail(err, DEVLOG_ERR_IO, "cannot read /proc/self/exe, which --resume does");
}

static devlog_status add_input(dl_str *key, const char *path, devlog_error *err)
{
    struct stat st;
    if (stat(path, &st) != 0) return dl_fail_errno(err, errno, "cannot read %s", path);
    char *full = realpath(path, NULL);
    dl_str_fmt(key, "%llu bytes of %lld.%09ld: %s\n", (unsigned long long)st.st_size,
               (long long)st.st_mtim.tv_sec, st.st_mtim.tv_nsec, full ? full : path);
    free(full);
    return DEVLOG_OK;
}

devlog_status kept_begin(kept_parts *k, const char *folder, char *const *paths, uint32_t n, uint64_t analyses,
                         devlog_error *err)
{
    uint64_t program;
    *k = (kept_parts){.folder = folder};
    devlog_status status = dl_folder_make(folder, err);
    if (!status) status = hash_of_program(&program, err);
    if (status) return status;
    dl_str_fmt(&k->key, "devlog-mpi decode %d.%d, build %016llx, analyses %016llx\n", DEVLOG_VERSION_MAJOR,
               DEVLOG_VERSION_MINOR, (unsigned long long)program, (unsigned long long)analyses);
    for (uint32_t i = 0; i < n && !status; i++)
        status = add_input(&k->key, paths[i], err);
    return status ? status : dl_str_status(&k->key, err);
}

/* ---- The plan -------------------------------------------------------------------------------------------- */

bool kept_plan(const kept_parts *k, dl_parts *parts, char *const *paths, uint32_t n, uint32_t wanted,
               uint64_t least, const char **why)
{
    dl_str all = {0};
    const char *content = NULL;
    size_t size = 0;
    uint32_t was_wanted = 0;
    uint64_t was_least = 0;
    const found how = read_file(k, plan_name, plan_key, &all, &content, &size);
    *why = how == FOUND_DAMAGED   ? "is damaged, or none of devlog-mpi"
           : how == FOUND_STRANGE ? "is of other inputs, or of another devlog-mpi"
                                  : NULL;
    bool read = how == FOUND;
    if (read) {
        dl_wire w = {.at = (const uint8_t *)content, .end = (const uint8_t *)content + size};
        dl_wire_u32(&w, &was_wanted);
        dl_wire_u64(&w, &was_least);
        const bool same = was_least == least && (!wanted || was_wanted == wanted);
        read = same && !w.bad &&
               dl_parts_plan_read(parts, paths, n, w.at, (size_t)(w.end - w.at), NULL) == DEVLOG_OK;
        if (!read) *why = same ? "is damaged" : "has other --parts or --least";
    }
    dl_str_free(&all);
    return read;
}

devlog_status kept_plan_write(const kept_parts *k, dl_parts *parts, uint32_t wanted, uint64_t least,
                              devlog_error *err)
{
    dl_str content = {0};
    dl_wire w = {.out = &content};
    dl_wire_u32(&w, &wanted);
    dl_wire_u64(&w, &least);
    devlog_status status = dl_parts_plan_write(parts, &content, err);
    if (!status) status = write_file(k, plan_name, plan_key, &content, err);
    dl_str_free(&content);
    return status;
}

/* ---- Parts ----------------------------------------------------------------------------------------------- */

static void names_of(const dl_parts *p, uint32_t i, char name[NAME], char what[128])
{
    const dl_cut *from = &p->cuts[i], *to = from + 1;
    snprintf(name, NAME, "devlog-part-%u", i);
    snprintf(what, 128, "part from byte %llu of input %u to byte %llu of input %u\n",
             (unsigned long long)from->at, from->file, (unsigned long long)to->at, to->file);
}

bool kept_read(kept_parts *k, const dl_parts *parts, uint32_t i, dl_decode *d)
{
    dl_str all = {0};
    char name[NAME], what[128];
    const char *content = NULL;
    size_t n = 0;
    names_of(parts, i, name, what);
    found how = read_file(k, name, what, &all, &content, &n);
    if (how == FOUND && dl_parts_read(d, content, n, NULL) != DEVLOG_OK) how = FOUND_DAMAGED;
    dl_str_free(&all);
    k->known += how == FOUND;
    k->damaged += how == FOUND_DAMAGED;
    k->strange += how == FOUND_STRANGE;
    return how == FOUND;
}

devlog_status kept_write(kept_parts *k, const dl_parts *parts, uint32_t i, dl_decode *d, devlog_error *err)
{
    dl_str content = {0};
    char name[NAME], what[128];
    if (k->full) return DEVLOG_OK;
    names_of(parts, i, name, what);
    devlog_status status = dl_parts_write(d, DL_WIRE_ALL, 0, &content, err);
    if (!status) status = write_file(k, name, what, &content, err);
    k->full = status != DEVLOG_OK;
    dl_str_free(&content);
    return status;
}
