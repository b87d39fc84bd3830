/* devlog-mpi decode: what is to be done, which rank 0 finds out and tells the others: which files, where they are cut, which analyses. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/intern.h"
#include "cli/cli.h"
#include "cli/decode_print.h"
#include "cli/logs.h"
#include "decode/wire.h"
#include "decode_job.h"

devlog_status decode_no_memory(devlog_error *err)
{
    return dl_fail(err, DEVLOG_ERR_MEMORY, "out of memory");
}

static uint32_t wanted_parts(const decode_job *j)
{
    enum {
        OF_A_RANK = 8
    }; /* where they are kept: what a rank loses when it dies is a part of its own at most */
    return j->a.parts ? (uint32_t)j->a.parts : (uint32_t)j->r->n * (j->a.resume ? OF_A_RANK : 1);
}

/* Rank 0, --resume: as they were cut before; or they are cut now. */
static devlog_status plan_resumed(decode_job *j, devlog_error *err)
{
    const char *why;
    uint64_t analyses = dl_hash_u64(j->defaults + 1 + 2 * j->stamps);
    if (j->own.len) analyses ^= dl_hash_bytes(j->own.text, j->own.len);
    devlog_status status = kept_begin(&j->kept_files, j->a.resume, j->paths, j->n_paths, analyses, err);
    if (status ||
        kept_plan(&j->kept_files, &j->parts, j->paths, j->n_paths, (uint32_t)j->a.parts, j->a.least, &why))
        return status;
    if (why)
        fprintf(stderr, "devlog-mpi decode: %s/devlog-plan %s: all parts are decoded again\n", j->a.resume,
                why);
    status = dl_parts_plan(&j->parts, j->paths, j->n_paths, wanted_parts(j), j->a.least, err);
    if (status || j->parts.n == 1) return status;
    return kept_plan_write(&j->kept_files, &j->parts, (uint32_t)j->a.parts, j->a.least, err);
}

/* Rank 0: which files, and where they are cut. */
static devlog_status plan(decode_job *j, devlog_error *err)
{
    devlog_status status = cli_logs_of_folders(&(cli_logs_wanted){"decode", false, false}, &j->rest, err);
    if (status) return status;
    j->paths = j->rest.items;
    j->n_paths = (uint32_t)j->rest.n;
    status = j->a.resume ? plan_resumed(j, err)
                         : dl_parts_plan(&j->parts, j->paths, j->n_paths, wanted_parts(j), j->a.least, err);
    if (!status && j->a.resume && j->parts.n == 1 && !j->parts.why[0])
        fprintf(stderr, "devlog-mpi decode: there is one part only, which is not kept in %s\n", j->a.resume);
    if (!status && j->parts.why[0])
        fprintf(stderr, "devlog-mpi decode: %s: rank 0 decodes it as a whole%s\n", j->parts.why,
                j->a.resume ? ", and keeps nothing of it" : "");
    return status;
}

static devlog_status list_analyses(decode_job *j, const char *name, devlog_error *err)
{
    devlog_status status = j->defaults ? dl_analyses_defaults(&j->list, err) : DEVLOG_OK;
    return status || !j->own.len ? status : dl_analyses_parse(&j->list, name, j->own.text, err);
}

/* Rank 0: those that are printed. */
static devlog_status read_analyses(decode_job *j, devlog_error *err)
{
    enum { MOST = 1024 * 1024 };
    const char *name = j->a.analyses;
    devlog_status status = name ? dl_file_read(name, MOST, &j->own, err) : DEVLOG_OK;
    if (!status && j->own.len && memchr(j->own.text, 0, j->own.len))
        status = dl_fail(err, DEVLOG_ERR_FORMAT, "%s: not JSON: it has NUL bytes", name);
    if (!status && name && !j->own.len) status = dl_analyses_parse(&j->list, name, "", err);
    j->defaults = j->a.defaults &&
                  (name || decode_wants_runs(j->a.format) || (j->a.folder && j->a.wanted[DL_ARTIFACT_STATS]));
    return status ? status : list_analyses(j, name, err);
}

/* Rank 0 tells the others; `goes` is whether there is anything to do. */
devlog_status decode_tell(decode_job *j, bool goes, dl_str *said, devlog_error *err)
{
    dl_wire w = {.out = said};
    dl_wire_flag(&w, &goes);
    if (!goes) return DEVLOG_OK;
    uint32_t leaves = j->leaves;
    dl_wire_below(&w, &leaves, DL_WIRE_TOTALS + 1);
    const char *own = j->own.len ? j->own.text : "";
    dl_wire_flag(&w, &j->defaults);
    dl_wire_flag(&w, &j->stamps);
    dl_wire_bytes(&w, &own, &j->own.len);
    const char *folder = j->a.resume ? j->a.resume : "";
    size_t n_folder = strlen(folder) + 1;
    dl_wire_bytes(&w, &folder, &n_folder);
    const char *key = j->kept_files.key.len ? j->kept_files.key.text : "";
    dl_wire_bytes(&w, &key, &j->kept_files.key.len);
    dl_wire_u32(&w, &j->n_paths);
    for (uint32_t i = 0; i < j->n_paths; i++) {
        const char *path = j->paths[i];
        size_t n = strlen(path) + 1;
        dl_wire_bytes(&w, &path, &n);
    }
    return dl_parts_plan_write(&j->parts, said, err);
}

devlog_status decode_listen(decode_job *j, const dl_str *said, bool *goes, devlog_error *err)
{
    dl_wire w = {.at = (const uint8_t *)said->text, .end = (const uint8_t *)said->text + said->len};
    *goes = false;
    dl_wire_flag(&w, goes);
    if (!*goes && !w.bad) return DEVLOG_OK;
    uint32_t leaves = 0;
    dl_wire_below(&w, &leaves, DL_WIRE_TOTALS + 1);
    j->leaves = (uint8_t)leaves;
    const char *own = NULL;
    size_t n_own = 0;
    dl_wire_flag(&w, &j->defaults);
    dl_wire_flag(&w, &j->stamps);
    dl_wire_bytes(&w, &own, &n_own);
    if (n_own) dl_str_add_n(&j->own, own, n_own);
    devlog_status status = j->own.failed ? decode_no_memory(err) : list_analyses(j, "--analyses", err);
    if (status) return status;
    const char *folder = NULL, *key = NULL;
    size_t n_folder = 0, n_key = 0;
    dl_wire_bytes(&w, &folder, &n_folder);
    dl_wire_bytes(&w, &key, &n_key);
    dl_wire_count(&w, &j->n_paths, UINT32_MAX, 2);
    j->names = malloc(said->len + 1);
    j->paths = calloc((size_t)j->n_paths + 1, sizeof *j->paths);
    if (!j->names || !j->paths) return decode_no_memory(err);
    memcpy(j->names, said->text, said->len);
    if (n_folder > 1) j->kept_files.folder = j->names + (folder - said->text);
    if (n_key) dl_str_add_n(&j->kept_files.key, key, n_key);
    if (j->kept_files.key.failed) return decode_no_memory(err);
    for (uint32_t i = 0; i < j->n_paths && !w.bad; i++) {
        const char *path = NULL;
        size_t n = 0;
        dl_wire_bytes(&w, &path, &n);
        w.bad |= n == 0 || path[n - 1] != 0;
        if (!w.bad) j->paths[i] = j->names + (path - said->text);
    }
    if (w.bad) return dl_fail(err, DEVLOG_ERR_FORMAT, "what rank 0 said is damaged");
    return dl_parts_plan_read(&j->parts, j->paths, j->n_paths, w.at, (size_t)(w.end - w.at), err);
}

/* Durations of launches are handed on where all, or very many of them are shown; of a few they are asked for in the end. */
static uint8_t what_leaves(const cli_mpi_decode *a)
{
    enum { FEW = 10000 };
    if (decode_wants_runs(a->format)) return DL_WIRE_LAUNCHES;
    if (!a->print || !a->max_launches) return DL_WIRE_TOTALS;
    return a->max_launches <= FEW ? DL_WIRE_KEPT : DL_WIRE_LAUNCHES;
}

/* Rank 0 reads the command line, whose mistakes are told once. */
bool decode_begin(decode_job *j, int argc, char **argv, int *exit_status)
{
    devlog_error err = {0};
    cli_mpi_decode *a = &j->a;
    *a = (cli_mpi_decode){.print = true,
                          .defaults = true,
                          .files = true,
                          .tar = true,
                          .max_launches = 20,
                          .top = 50,
                          .least = DL_PARTS_LEAST};
    memset(a->wanted, true, sizeof a->wanted);
    if (!cli_parse(&cmd_mpi_decode, argc, argv, a, &j->rest, exit_status)) return false;
    if ((!a->files || !a->folder) && (a->folder || a->suffix || a->date)) {
        *exit_status =
            cli_wrong(&cmd_mpi_decode,
                      a->files ? "--name and --date are for files, which are written only with --output"
                               : "--output, --name and --date are for files: not with --no-files");
        return false;
    }
    if (a->suffix && strchr(a->suffix, '/')) {
        *exit_status = cli_wrong(&cmd_mpi_decode, "--name is part of a file's name and has no '/'");
        return false;
    }
    a->wanted[DL_ARTIFACT_PAGE] = false;
    j->stamps = a->folder && a->wanted[DL_ARTIFACT_REARRANGED];
    j->leaves = what_leaves(a);
    if (read_analyses(j, &err) == DEVLOG_OK && plan(j, &err) == DEVLOG_OK) return true;
    fprintf(stderr, "devlog-mpi decode: %s\n", err.text);
    *exit_status = CLI_FAILED;
    return false;
}
