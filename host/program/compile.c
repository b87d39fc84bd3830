/* Compiling device code with the cross compiler, cached by content. Not for loading what comes out. */
#include "program/compile.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <xxhash.h>

#include "base/file.h"
#include "base/paths.h"
#include "device/board_gen.h"
#include "program/compile_library.h"
#include "program/compile_memo.h"
#include "program/compile_words.h"

enum { MANY_SITES = 1000, SCRIPT_MAX_BYTES = 1 << 20, OBJECT_MAX_BYTES = 64 << 20 };

/* What is linked into every firmware. */
static const char *const manager_sources[] = {"crt0.S", "restart.c", "manager.c", "clock_sync.c", "records.c",
                                              "cost.c", "segment.S", "segment.c", "mem.c",        NULL};
static const char *const worker_sources[] = {"crt0.S",    "restart.c", "worker.c", "records.c", "cost.c",
                                             "segment.S", "segment.c", "mem.c",    NULL};

static const char *const *sources_of(const compile_job *job)
{
    if (job->source) return compile_library_sources;
    return job->board->riscs[job->risc].role == BOARD_MANAGER ? manager_sources : worker_sources;
}

/* A file of the cache: written when it is not there yet, and never half. */
static devlog_status write_once(const char *folder, const char *name, const char *text, size_t size,
                                devlog_error *err)
{
    char path[COMPILE_PATH];
    dl_file_writer w;
    devlog_status status = dl_join(path, sizeof path, folder, name, err);
    if (status != DEVLOG_OK || access(path, R_OK) == 0) return status;
    status = dl_file_create(&w, path, err);
    if (status != DEVLOG_OK) return status;
    w.sync =
        true; /* a file that is there is never written again, so it must be whole after a power cut too */
    dl_str_add_n(&w.buffer, text, size);
    return dl_file_commit(&w, err);
}

/* Writes the generated files of a board for a RISC into the cache and returns their folder. */
static devlog_status board_files(const compile_job *job, board_region code, const char *cache, char *folder,
                                 size_t size, XXH64_hash_t *id, devlog_error *err)
{
    char *header = NULL, *constants = NULL;
    size_t header_size = 0, constants_size = 0;
    FILE *h = open_memstream(&header, &header_size);
    FILE *c = open_memstream(&constants, &constants_size);
    if (h) board_write_header(job->board, h);
    if (c) board_write_linker(job->board, job->risc, code, c);
    if (h) fclose(h);
    if (c) fclose(c);
    devlog_status status =
        header && constants ? DEVLOG_OK : dl_fail(err, DEVLOG_ERR_MEMORY, "no memory to compile");
    if (status == DEVLOG_OK) {
        *id = XXH3_64bits_withSeed(header, header_size, XXH3_64bits(constants, constants_size));
        if (snprintf(folder, size, "%s/board-%016llx", cache, (unsigned long long)*id) >= (int)size)
            status = dl_fail(err, DEVLOG_ERR_ARGUMENT, "the path of the cache is too long");
    }
    if (status == DEVLOG_OK) status = dl_folder_make(folder, err);
    if (status == DEVLOG_OK) status = write_once(folder, "devlog_board.h", header, header_size, err);
    if (status == DEVLOG_OK) status = write_once(folder, "devlog_board.ld", constants, constants_size, err);
    free(header);
    free(constants);
    return status;
}

devlog_status compile_flags(const compile_job *job, dl_str *out, devlog_error *err)
{
    char cache[2048], board_folder[2200];
    XXH64_hash_t id;
    command c = {0};
    devlog_status status = dl_cache_folder(cache, sizeof cache, err);
    if (!status)
        status = board_files(job, job->board->riscs[job->risc].kernel, cache, board_folder,
                             sizeof board_folder, &id, err);
    if (status) return status;
    command_begin(&c, job, board_folder, false);
    command_text(&c, out);
    status = c.failed ? dl_fail(err, DEVLOG_ERR_MEMORY, "out of memory") : dl_str_status(out, err);
    command_free(&c);
    return status;
}

/* The content of an object file, which the preprocessor does not see. Link-time optimisation is refused: it
 * puts the functions of several files into one, and a file knows its markers by number. */
static devlog_status hash_object(const char *path, XXH3_state_t *hash, devlog_error *err)
{
    dl_str object = {0};
    devlog_status status = dl_file_read(path, OBJECT_MAX_BYTES, &object, err);
    if (status == DEVLOG_OK) XXH3_128bits_update(hash, object.text, object.len);
    if (status == DEVLOG_OK && memmem(object.text, object.len, ".gnu.lto_", 9))
        status =
            dl_fail(err, DEVLOG_ERR_COMPILE,
                    "%s was compiled with -flto, by which markers of one file get the names of another's: "
                    "compile it without",
                    path);
    dl_str_free(&object);
    return status;
}

static devlog_status check_flags(const compile_job *job, const command *c, XXH3_state_t *hash,
                                 devlog_error *err)
{
    for (uint32_t i = 0; i < c->n; i++) {
        if (strncmp(c->argv[i], "-flto", 5) == 0)
            return dl_fail(
                err, DEVLOG_ERR_COMPILE,
                "%s: markers of one file get the names of another's by %s: take it out of the flags",
                job->source ? job->source : "firmware", c->argv[i]);
        if (!command_is_object(c->argv[i]) || access(c->argv[i], R_OK) != 0) continue;
        devlog_status status = hash_object(c->argv[i], hash, err);
        if (status != DEVLOG_OK) return status;
    }
    return DEVLOG_OK;
}

/* The command line, the content of objects and of linker scripts: what the preprocessor does not see. */
static devlog_status hash_command(const compile_job *job, const command *c, XXH3_state_t *hash,
                                  devlog_error *err)
{
    for (uint32_t i = 0; i < c->n; i++)
        XXH3_128bits_update(hash, c->argv[i], strlen(c->argv[i]) + 1);
    devlog_status status = check_flags(job, c, hash, err);
    if (status == DEVLOG_OK && command_is_object(job->source)) status = hash_object(job->source, hash, err);
    const char *const scripts[] = {"linker/firmware.ld", "linker/kernel.ld", "linker/devlog_sites.ld"};
    for (size_t i = 0; i < 3 && status == DEVLOG_OK; i++) {
        char path[COMPILE_PATH];
        dl_str text = {0};
        status = dl_join(path, sizeof path, dl_home(), scripts[i], err);
        if (status == DEVLOG_OK) status = dl_file_read(path, SCRIPT_MAX_BYTES, &text, err);
        if (status == DEVLOG_OK) XXH3_128bits_update(hash, text.text, text.len);
        dl_str_free(&text);
    }
    return status;
}

/* How a kernel is built. */
typedef struct manner {
    const char *cache;
    char board_folder[2200];
    char path[COMPILE_PATH];
    char library[COMPILE_PATH]; /* of compile_library; empty: it is compiled with the kernel */
    board_region code;
    bool wide;
    bool many_sites;
} manner;

/* The library of a kernel that is built in this manner, where it is not compiled with it. */
static devlog_status find_library(const compile_job *job, manner *m, devlog_error *err)
{
    if (!compile_library_is_apart(job)) return DEVLOG_OK;
    return compile_library(job, m->cache, m->board_folder, m->wide, m->many_sites, m->library, err);
}

/* *said is what the compiler had to say, whatever became of it. */
static devlog_status link_program(const compile_job *job, manner *m, const char *part, char **said,
                                  bool *linked, devlog_error *err)
{
    command c = {0};
    devlog_status status = find_library(job, m, err);
    if (status != DEVLOG_OK) return status;
    command_begin(&c, job, m->board_folder, m->many_sites);
    if (m->wide) command_add(&c, "-DDEVLOG_WIDE_IDS=1");
    command_add(&c, "-nostdlib");
    command_add(&c, "-nostartfiles");
    command_addf(&c, "-L%s/linker", dl_home());
    command_addf(&c, "-L%s", m->board_folder);
    command_addf(&c, "-Wl,-T,%s/linker/%s", dl_home(), job->source ? "kernel.ld" : "firmware.ld");
    if (job->source) command_add(&c, job->source);
    if (m->library[0])
        compile_library_add(&c, m->library);
    else
        for (const char *const *sources = sources_of(job); *sources; sources++)
            command_addf(&c, "%s/firmware/%s", dl_home(), *sources);
    command_add(&c, "-lgcc");
    command_add(&c, "-o");
    command_add(&c, part);
    dl_output out = {0};
    status = command_run(&c, &out, said, err);
    *linked = status == DEVLOG_OK && out.exit == 0;
    free(out.text);
    command_free(&c);
    return status;
}

static bool remarks_path(char out[COMPILE_PATH], const char *path)
{
    return snprintf(out, COMPILE_PATH, "%.*s.said", (int)(strlen(path) - strlen(".elf")), path) <
           COMPILE_PATH;
}

/* The firmware's C files are compiled with the flags of a C++ kernel, on which the compiler remarks. */
static void add_remarks(dl_str *out, const char *said)
{
    static const char of_flags[] = "cc1: warning: command-line option ";
    for (const char *line = said, *next; *line; line = next) {
        next = line + strcspn(line, "\n");
        next += *next == '\n';
        if (strncmp(line, of_flags, strlen(of_flags)) != 0) dl_str_add_n(out, line, (size_t)(next - line));
    }
}

/* Beside the ELF file, before it is there itself. */
static devlog_status keep_remarks(const compile_job *job, const manner *m, const char *said,
                                  devlog_error *err)
{
    char path[COMPILE_PATH];
    dl_file_writer w;
    if (!remarks_path(path, m->path))
        return dl_fail(err, DEVLOG_ERR_ARGUMENT, "the path of the cache is too long");
    unlink(path);
    dl_str remarks = {0}, of_library = {0};
    add_remarks(&remarks, said);
    if (m->library[0] && dl_file_read(m->library, SCRIPT_MAX_BYTES, &of_library, NULL) == DEVLOG_OK &&
        of_library.len)
        add_remarks(&remarks, of_library.text);
    dl_str_free(&of_library);
    if (m->wide)
        dl_str_fmt(
            &remarks,
            "devlog: %s for %s has more markers of a kind than there are short ids: it was compiled with "
            "-DDEVLOG_WIDE_IDS, which costs 3 instructions and 4 bytes for every record\n",
            job->source, job->board->riscs[job->risc].name);
    devlog_status status = dl_str_status(&remarks, err);
    if (status == DEVLOG_OK && remarks.len) {
        status = dl_file_create(&w, path, err);
        if (status == DEVLOG_OK) {
            w.sync = true;
            dl_str_add_n(&w.buffer, remarks.text, remarks.len);
            status = dl_file_commit(&w, err);
        }
    }
    dl_str_free(&remarks);
    return status;
}

/* Of programs that compile the same at once, the first one's file stays: its build id, which the folder of the compiler is part of, is
 * in that one's captures already. */
static devlog_status put(const char *part, const char *path, devlog_error *err)
{
    if (link(part, path) == 0 || errno == EEXIST) return DEVLOG_OK;
    /* A file system without hard links. */
    return rename(part, path) == 0 ? DEVLOG_OK : dl_fail_errno(err, errno, "cannot write %s", path);
}

static devlog_status accept_program(const compile_job *job, const manner *m, const char *part,
                                    const char *said, devlog_error *err)
{
    dl_elf elf;
    devlog_status status = dl_elf_read(part, &elf, err);
    if (status != DEVLOG_OK) return status;
    if (job->source) status = compile_check_sites(job, &elf, err);
    dl_elf_free(&elf);
    if (status == DEVLOG_OK) status = keep_remarks(job, m, said, err);
    return status == DEVLOG_OK ? put(part, m->path, err) : status;
}

/* Wide ids cannot be asked of what is compiled already. */
static bool may_be_wide(const compile_job *job)
{
    return job->source && !command_is_object(job->source) &&
           !(job->flags && strstr(job->flags, "-DDEVLOG_WIDE_IDS"));
}

/* Builds in the manner `m`, and when something is full in those that follow: with wide ids, with all the
 * room. */
static devlog_status build(const compile_job *job, manner *m, const manner *roomy, devlog_error *err)
{
    for (;;) {
        char part[COMPILE_PATH], *said = NULL;
        bool linked = false;
        if (!compile_part_path(part, m->path))
            return dl_fail(err, DEVLOG_ERR_ARGUMENT, "the path of the cache is too long");
        devlog_status status = link_program(job, m, part, &said, &linked, err);
        link_full full =
            status == DEVLOG_OK && !linked && job->source ? compile_what_is_full(said) : (link_full){0};
        bool widen = full.ids && !m->wide && may_be_wide(job),
             more = full.code && m->code.size < roomy->code.size;
        if (status == DEVLOG_OK && linked) status = accept_program(job, m, part, said, err);
        if (status == DEVLOG_OK && !linked && !widen && !more)
            status = compile_failed(job, m->code, said, err);
        free(said);
        unlink(part);
        if (!widen && !more) return status;
        bool wide = m->wide || widen, many_sites = m->many_sites;
        if (more) *m = *roomy;
        m->wide = wide;
        m->many_sites = many_sites;
    }
}

/* Where an ELF file of the cache is, or is to be, when its code may lie in m->code: its key goes on from that of the one
 * before. */
static devlog_status roomy_manner(const compile_job *job, const char *cache, XXH3_state_t *hash, manner *m,
                                  devlog_error *err)
{
    XXH64_hash_t id = 0;
    devlog_status status =
        board_files(job, m->code, cache, m->board_folder, sizeof m->board_folder, &id, err);
    if (status == DEVLOG_OK) XXH3_128bits_update(hash, &id, sizeof id);
    if (status == DEVLOG_OK) compile_cache_path(m->path, cache, hash, ".elf");
    return status;
}

/* How many markers a preprocessed text has; more than MANY_SITES are not counted. */
static uint32_t count_sites(const dl_output *text)
{
    static const char site[] = ".pushsection .devlog.sites";
    uint32_t n = 0;
    for (const char *at = text->text, *end = at + text->size; n <= MANY_SITES && at; n++) {
        at = memmem(at, (size_t)(end - at), site, sizeof site - 1);
        if (!at) break;
        at += sizeof site - 1;
    }
    return n;
}

/* The answer is not remembered: the preprocessor tells whether it is in the cache, and if not it is made. */
static devlog_status find_or_build(const compile_job *job, const char *cache, XXH3_state_t *hash, command *c,
                                   manner *m, dl_output *seen, devlog_error *err)
{
    static const char *const nothing[] = {NULL};
    manner roomy = {.cache = cache, .code = job->room};
    bool has_room = job->source && job->room.size > m->code.size;
    devlog_status status = command_preprocess(c, job, command_is_object(job->source) ? NULL : job->source,
                                              m->library[0] ? nothing : sources_of(job), hash, seen, err);
    if (status != DEVLOG_OK) return status;
    compile_cache_path(m->path, cache, hash, ".elf");
    if (access(m->path, R_OK) == 0) return DEVLOG_OK;
    m->many_sites = job->source && count_sites(seen) > MANY_SITES;
    if (has_room) status = roomy_manner(job, cache, hash, &roomy, err);
    if (status != DEVLOG_OK) return status;
    if (!has_room || access(roomy.path, R_OK) != 0) return build(job, m, &roomy, err);
    *m = roomy;
    return DEVLOG_OK;
}

devlog_status compile(const compile_job *job, char path[COMPILE_PATH], devlog_error *err)
{
    if (job->source && access(job->source, R_OK) != 0)
        return dl_fail(err, DEVLOG_ERR_NOT_FOUND, "there is no kernel source %s", job->source);
    char cache[2048];
    XXH64_hash_t id = 0;
    dl_output seen = {0};
    command c = {0}, asked;
    compile_memo memo = {0};
    manner m = {.cache = cache, .code = job->board->riscs[job->risc].kernel};
    XXH3_state_t *hash = XXH3_createState();
    if (!hash) return dl_fail(err, DEVLOG_ERR_MEMORY, "no memory to compile");
    XXH3_128bits_reset(hash);
    devlog_status status = dl_cache_folder(cache, sizeof cache, err);
    if (status == DEVLOG_OK)
        status = board_files(job, m.code, cache, m.board_folder, sizeof m.board_folder, &id, err);
    if (status != DEVLOG_OK) goto done;
    XXH3_128bits_update(hash, &id, sizeof id);
    command_begin(&c, job, m.board_folder, false);
    if (c.failed)
        status = dl_fail(err, DEVLOG_ERR_ARGUMENT, "too many compiler flags");
    else
        status = hash_command(job, &c, hash, err);
    if (status == DEVLOG_OK) status = find_library(job, &m, err);
    if (status != DEVLOG_OK) goto done;
    if (m.library[0]) {
        const char *name = strrchr(m.library, '/') + 1; /* it tells the content */
        XXH3_128bits_update(hash, name, strlen(name));
    }
    c.argv[c.n] = NULL;
    asked = c; /* before -E and the sources are added */
    const XXH64_hash_t more[] = {XXH3_128bits_digest(hash).low64, job->room.base, job->room.size,
                                 (XXH64_hash_t)(job->source != NULL), job->risc};
    compile_memo_ask(&memo, cache, asked.argv, job->source, XXH3_64bits(more, sizeof more));
    if (compile_memo_find(&memo, cache, path)) goto done;
    status = find_or_build(job, cache, hash, &c, &m, &seen, err);
    if (status != DEVLOG_OK) goto done;
    memcpy(path, m.path, COMPILE_PATH);
    compile_memo_keep(&memo, seen.text, seen.size, path);
done:
    free(seen.text);
    command_free(&c);
    XXH3_freeState(hash);
    return status;
}

devlog_status compile_remarks(const char *path, dl_str *out, devlog_error *err)
{
    char at[COMPILE_PATH];
    if (!remarks_path(at, path) || access(at, R_OK) != 0) return DEVLOG_OK;
    return dl_file_read(at, SCRIPT_MAX_BYTES, out, err);
}
