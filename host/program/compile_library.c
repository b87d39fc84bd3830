/* What every kernel has besides its own source: see the header. Not the kernel (compile.c). */
#include "program/compile_library.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#include "base/file.h"
#include "base/paths.h"
#include "program/compile_memo.h"
#include "program/compile_words.h"

const char *const compile_library_sources[] = {"kernel_start.S", "segment.S", "segment.c",
                                               "sums.c",         "mem.c",     NULL};

static const char ending[] = ".library";
enum { QUESTION = 1 }; /* no other question of the cache has this number alone */

/* A word that is no option may be a file, which is linked, or read, with what it stands beside. */
bool compile_library_is_apart(const compile_job *job)
{
    if (!job->source || command_is_object(job->source)) return false;
    for (const char *at = job->flags ? job->flags : ""; *at; at += strcspn(at, " \t\n")) {
        at += strspn(at, " \t\n");
        if (*at && *at != '-') return false;
    }
    return true;
}

/* Where an object is: the path of the remarks, but for its ending, and the name of the source. */
static int object_path(char out[COMPILE_PATH], const char *path, const char *source)
{
    return snprintf(out, COMPILE_PATH, "%.*s-%s.o", (int)(strlen(path) - strlen(ending)), path, source);
}

void compile_library_add(command *c, const char *path)
{
    for (const char *const *s = compile_library_sources; *s; s++) {
        char object[COMPILE_PATH];
        object_path(object, path, *s);
        command_addf(c, "%s", object);
    }
}

/* An object of no size is what a power cut has left. */
static bool is_whole(const char *path)
{
    struct stat st;
    for (const char *const *s = compile_library_sources; *s; s++) {
        char object[COMPILE_PATH];
        if (object_path(object, path, *s) >= COMPILE_PATH || stat(object, &st) != 0 || st.st_size == 0)
            return false;
    }
    return access(path, R_OK) == 0;
}

static devlog_status make_object(const compile_job *job, const command *flags, const char *path,
                                 const char *source, dl_str *remarks, devlog_error *err)
{
    char object[COMPILE_PATH], part[COMPILE_PATH];
    char *said = NULL;
    dl_output out = {0};
    command c = {0};
    if (object_path(object, path, source) >= COMPILE_PATH || !compile_part_path(part, object))
        return dl_fail(err, DEVLOG_ERR_ARGUMENT, "the path of the cache is too long");
    for (uint32_t i = 0; i < flags->n; i++)
        command_add(&c, flags->argv[i]);
    command_add(&c, "-c");
    command_addf(&c, "%s/firmware/%s", dl_home(), source);
    command_add(&c, "-o");
    command_add(&c, part);
    devlog_status status = command_run(&c, &out, &said, err);
    if (!status && out.exit != 0)
        status = compile_failed(job, job->board->riscs[job->risc].kernel, said, err);
    if (!status && rename(part, object) != 0) status = dl_fail(err, DEVLOG_ERR_IO, "cannot write %s", object);
    if (!status && said) dl_str_add(remarks, said);
    if (status) unlink(part);
    free(out.text);
    free(said);
    command_free(&c);
    return status;
}

/* The remarks are written when all else is there. */
static devlog_status make(const compile_job *job, const command *flags, const char *path, devlog_error *err)
{
    dl_str remarks = {0};
    dl_file_writer w;
    devlog_status status = DEVLOG_OK;
    for (const char *const *s = compile_library_sources; *s && !status; s++)
        status = make_object(job, flags, path, *s, &remarks, err);
    if (!status) status = dl_str_status(&remarks, err);
    if (!status) status = dl_file_create(&w, path, err);
    if (!status) {
        dl_str_add_n(&w.buffer, remarks.text ? remarks.text : "", remarks.len);
        status = dl_file_commit(&w, err);
    }
    dl_str_free(&remarks);
    return status;
}

devlog_status compile_library(const compile_job *job, const char *cache, const char *board_folder, bool wide,
                              bool many_sites, char path[COMPILE_PATH], devlog_error *err)
{
    devlog_status status = DEVLOG_OK;
    dl_output seen = {0};
    command c = {0};
    compile_memo memo = {0};
    command_begin(&c, job, board_folder, many_sites);
    if (wide) command_add(&c, "-DDEVLOG_WIDE_IDS=1");
    XXH3_state_t *hash = XXH3_createState();
    if (!hash)
        status = dl_fail(err, DEVLOG_ERR_MEMORY, "no memory to compile");
    else if (c.failed)
        status = dl_fail(err, DEVLOG_ERR_ARGUMENT, "too many compiler flags");
    if (status) goto done;
    c.argv[c.n] = NULL;
    const command flags = c; /* before -E and the sources are added */
    compile_memo_ask(&memo, cache, flags.argv, NULL, QUESTION);
    if (compile_memo_find(&memo, cache, path) && is_whole(path)) goto done;
    XXH3_128bits_reset(hash);
    for (uint32_t i = 0; i < flags.n; i++) /* what macros do, the preprocessed text says */
        if (strncmp(flags.argv[i], "-D", 2) != 0 && strncmp(flags.argv[i], "-U", 2) != 0)
            XXH3_128bits_update(hash, flags.argv[i], strlen(flags.argv[i]) + 1);
    status = command_preprocess(&c, job, NULL, compile_library_sources, hash, &seen, err);
    if (status) goto done;
    if (!compile_cache_path(path, cache, hash, ending)) {
        status = dl_fail(err, DEVLOG_ERR_ARGUMENT, "the path of the cache is too long");
        goto done;
    }
    if (!is_whole(path)) status = make(job, &flags, path, err);
    if (!status) compile_memo_keep(&memo, seen.text, seen.size, path);
done:
    free(seen.text);
    command_free(&c);
    XXH3_freeState(hash);
    return status;
}
