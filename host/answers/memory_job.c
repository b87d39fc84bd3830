/* The memory of a run from a path to an answer; see memory_answer.h. */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "answers/inputs.h"
#include "answers/memory_answer.h"
#include "base/file.h"
#include "base/settings.h"
#include "decode/input.h"
#include "tt_metal/archive.h"
#include "tt_metal/select.h"

char *memory_log_in(const char *folder)
{
    /* Of the two runs of `devlog run` the one without device profiling first: its times are those of op reports. */
    static const char *const places[] = {"", "logs", "logs_device", ".logs"};
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        char *inner = *places[i] ? dl_path_join(folder, places[i]) : strdup(folder);
        char *path = inner ? op_log_in(inner) : NULL;
        free(inner);
        if (path) return path;
    }
    return NULL;
}

bool memory_log_has_buffers(const char *path)
{
    static const char event[] = "{\"e\":\"alloc\"";
    enum { BLOCK = 1 << 18, OVERLAP = sizeof event };
    char *block = malloc(BLOCK + OVERLAP);
    dl_input *in = NULL;
    devlog_error unheard;
    bool found = false;
    size_t kept = 0, n = 1;
    if (block && dl_input_open(&in, path, &unheard)) in = NULL;
    while (in && n && !found && !dl_input_read(in, block + kept, BLOCK, &n, &unheard)) {
        const size_t have = kept + n;
        found = memmem(block, have, event, sizeof event - 1) != NULL;
        kept = have < OVERLAP ? have : OVERLAP;
        memmove(block, block + have - kept, kept);
    }
    if (in) dl_input_close(in);
    free(block);
    return found;
}

/* ---- Where the log of an input is --- */

static devlog_status no_memory(devlog_error *err)
{
    return dl_fail(err, DEVLOG_ERR_MEMORY, "out of memory");
}

static int is_visible(const struct dirent *e)
{
    return e->d_name[0] != '.';
}

static int by_name(const struct dirent **a, const struct dirent **b)
{
    return strverscmp((*a)->d_name, (*b)->d_name);
}

/* The log of the only run in a folder of runs. */
static devlog_status find_in_runs(memory_job *j, const char *folder, devlog_error *err)
{
    struct dirent **entries;
    const int n = scandir(folder, &entries, is_visible, by_name);
    if (n < 0) return dl_fail_errno(err, errno, "cannot read the folder %s", folder);
    char first[256] = "";
    devlog_status status = DEVLOG_OK;
    for (int i = 0; i < n; i++) {
        char *inner = status ? NULL : dl_path_join(folder, entries[i]->d_name);
        char *path = inner ? memory_log_in(inner) : NULL;
        if (path && j->path)
            status =
                dl_fail(err, DEVLOG_ERR_ARGUMENT, "%s holds several runs (%s, %s, ...): name one of them",
                        folder, first, entries[i]->d_name);
        else if (path)
            snprintf(first, sizeof first, "%s", entries[i]->d_name);
        if (path && !j->path)
            j->path = path;
        else
            free(path);
        free(inner);
        free(entries[i]);
    }
    free(entries);
    return status;
}

devlog_status memory_job_call(memory_job *j, const char *name, devlog_error *err)
{
    j->called = strdup(name);
    return j->called ? DEVLOG_OK : no_memory(err);
}

/* A tar or zip is unpacked for as long as the job lives. */
static devlog_status find_in_archive(memory_job *j, const char *path, devlog_error *err)
{
    const char *tmp = dl_setting_text(DL_SET_TMPDIR);
    char *folder = dl_path_join(tmp ? tmp : "/tmp", "devlog-memory-XXXXXX");
    if (!folder) return no_memory(err);
    if (!mkdtemp(folder)) {
        dl_fail_errno(err, errno, "cannot make the temporary folder %s", folder);
        free(folder);
        return err->status;
    }
    j->unpacked = folder;
    devlog_status status = memory_job_call(j, path, err);
    if (!status) status = tt_unpack(path, folder, TT_UNPACK_OP_LOG, err);
    if (!status) j->path = memory_log_in(folder);
    return status;
}

/* A device log, a capture or an op report: the log of ops beside it, or else in the folder of its run. */
static devlog_status find_beside(memory_job *j, const char *path, devlog_error *err)
{
    const char *slash = strrchr(path, '/');
    char *own = slash ? strndup(path, (size_t)(slash - path) + 1) : strdup(".");
    char *run = run_folder_of_log(NULL, path);
    bool above = false;
    j->path = own ? op_log_in(own) : NULL;
    if (!j->path && (run || own)) j->path = memory_log_in(run ? run : own);
    if (!j->path && own) j->path = op_log_of(own, &above);
    free(own);
    free(run);
    return j->path ? DEVLOG_OK
                   : dl_fail(err, DEVLOG_ERR_NOT_FOUND,
                             "%s says nothing of memory, and no " OP_LOG_NAME
                             " is beside it: run the program with DEVLOG_OPS=1, or by 'devlog run'",
                             path);
}

static devlog_status find_log(memory_job *j, const char *path, devlog_error *err)
{
    struct stat st;
    devlog_status status = DEVLOG_OK;
    bool above;
    if (stat(path, &st) != 0) return dl_fail_errno(err, errno, "cannot read %s", path);
    if (!S_ISDIR(st.st_mode) && tt_is_archive(path)) {
        status = find_in_archive(j, path, err);
    } else if (!S_ISDIR(st.st_mode)) {
        const char *slash = strrchr(path, '/');
        const bool named = strncmp(slash ? slash + 1 : path, OP_LOG_NAME, strlen(OP_LOG_NAME)) == 0;
        if (!named && run_inputs_know(path)) return find_beside(j, path, err);
        j->path = strdup(path);
        return j->path ? DEVLOG_OK : no_memory(err);
    } else if (!(j->path = memory_log_in(path)) && !(j->path = op_log_of(path, &above))) {
        status = find_in_runs(j, path, err);
    }
    if (status || j->path) return status;
    return dl_fail(err, DEVLOG_ERR_NOT_FOUND,
                   "no " OP_LOG_NAME
                   " in %s: run the program with DEVLOG_OPS=1, or by 'devlog run', and open an op log in it "
                   "(devlog_ops_open)",
                   path);
}

devlog_status memory_job_read(memory_job *j, const char *path, devlog_error *err)
{
    devlog_status status = find_log(j, path, err);
    if (status) return status;
    const char *shown = j->called ? j->called : j->path;
    j->has_log = true;
    status = op_log_read(&j->log, j->path, err);
    const uint64_t run = status || j->unpacked || strcmp(path, j->path) == 0 ? 0 : tt_run_of_log(path);
    if (!status && run && j->log.run && run != j->log.run)
        return dl_fail(err, DEVLOG_ERR_NOT_FOUND,
                       "%s is of run %016llx, and %s of another one: nobody knows its buffers", path,
                       (unsigned long long)run, shown);
    if (!status && !j->log.n_memory && !j->log.n_ops && !j->log.opens)
        return dl_fail(err, DEVLOG_ERR_FORMAT, "%s is no log of ops", shown);
    if (!status && !j->log.n_memory)
        return dl_fail(err, DEVLOG_ERR_NOT_FOUND,
                       "%s says nothing of memory: the program made no buffers (devlog_buffer_create)",
                       shown);
    if (!status) status = memory_run_make(&j->run, &j->log, err);
    j->lost = memory_lost(&j->run);
    for (int i = 0; i < OP_TROUBLES; i++)
        j->lost |= j->log.found[i] && op_trouble_is_loss((op_trouble)i) && i != OP_OPEN;
    return status;
}

devlog_status memory_job_answer(memory_job *j, const memory_wishes *w, devlog_error *err)
{
    const devlog_status status = answer_begin(&j->a, err);
    return status ? status : memory_answer(&j->a, &j->run, w, err);
}

void memory_job_troubles(const memory_job *j, const char *before, dl_str *out)
{
    for (int i = 0; i < OP_TROUBLES; i++) {
        if (!j->log.found[i] || !op_trouble_is_loss((op_trouble)i) || i == OP_OPEN) continue;
        dl_str_fmt(out, "%s%llu %s", before, (unsigned long long)j->log.found[i],
                   op_trouble_text((op_trouble)i));
        if (j->log.details[i][0]) dl_str_fmt(out, " (%s)", j->log.details[i][0]);
        dl_str_char(out, '\n');
    }
    for (int i = 0; i < MEMORY_TROUBLES; i++)
        if (j->run.found[i])
            dl_str_fmt(out, "%s%s: %llu %s\n", before, j->called ? j->called : j->path,
                       (unsigned long long)j->run.found[i], memory_trouble_text((memory_trouble)i));
    uint64_t n = 0, bytes = 0;
    for (size_t i = 0; i < j->run.n_spaces; i++) {
        n += j->run.spaces[i].leaked;
        bytes += j->run.spaces[i].leaked_bytes;
    }
    if (n)
        dl_str_fmt(out, "%s%llu buffer%s of %llu bytes %s not freed before the device was closed\n", before,
                   (unsigned long long)n, n == 1 ? "" : "s", (unsigned long long)bytes,
                   n == 1 ? "was" : "were");
    for (char *c = out->text; c && *c; c++)
        if (*c != '\n' && (unsigned char)*c < ' ') *c = '?';
}

void memory_job_free(memory_job *j)
{
    answer_free(&j->a);
    dl_str_free(&j->troubles);
    memory_run_free(&j->run);
    if (j->has_log) op_log_free(&j->log);
    free(j->path);
    if (j->unpacked) tt_unpacked_remove(j->unpacked);
    free(j->unpacked);
    free(j->called);
    *j = (memory_job){0};
}
