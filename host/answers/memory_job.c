/* The memory of a run from a path to an answer; see memory_answer.h. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "answers/memory_answer.h"
#include "base/file.h"

static bool is_file(const char *path)
{
    struct stat st;
    return path && stat(path, &st) == 0 && S_ISREG(st.st_mode);
}

char *memory_log_in(const char *folder)
{
    /* Of the two runs of `devlog run` the one without device profiling first: its times are those of op reports. */
    static const char *const places[] = {"", "logs", "logs_device", ".logs"};
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        char *inner = *places[i] ? dl_path_join(folder, places[i]) : strdup(folder);
        char *path = inner ? dl_path_join(inner, OP_LOG_NAME) : NULL;
        free(inner);
        if (is_file(path)) return path;
        free(path);
    }
    return NULL;
}

bool memory_log_has_buffers(const char *path)
{
    static const char event[] = "{\"e\":\"alloc\"";
    enum { BLOCK = 1 << 18, OVERLAP = sizeof event };
    char *block = malloc(BLOCK + OVERLAP);
    const int fd = block ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    bool found = false;
    size_t kept = 0;
    ssize_t n;
    while (fd >= 0 && !found && ((n = read(fd, block + kept, BLOCK)) > 0 || (n < 0 && errno == EINTR))) {
        if (n < 0) continue;
        const size_t have = kept + (size_t)n;
        found = memmem(block, have, event, sizeof event - 1) != NULL;
        kept = have < OVERLAP ? have : OVERLAP;
        memmove(block, block + have - kept, kept);
    }
    if (fd >= 0) close(fd);
    free(block);
    return found;
}

devlog_status memory_job_read(memory_job *j, const char *path, devlog_error *err)
{
    struct stat st;
    if (stat(path, &st) != 0) return dl_fail_errno(err, errno, "cannot read %s", path);
    j->path = S_ISDIR(st.st_mode) ? memory_log_in(path) : strdup(path);
    if (!j->path)
        return dl_fail(
            err, DEVLOG_ERR_NOT_FOUND,
            "no " OP_LOG_NAME
            " in %s: run the program with DEVLOG_OPS=1, or by 'devlog run', and open an op log in it "
            "(devlog_ops_open)",
            path);
    j->has_log = true;
    devlog_status status = op_log_read(&j->log, j->path, err);
    if (!status && !j->log.n_memory && !j->log.n_ops && !j->log.opens)
        return dl_fail(err, DEVLOG_ERR_FORMAT, "%s is no log of ops", j->path);
    if (!status && !j->log.n_memory)
        return dl_fail(err, DEVLOG_ERR_NOT_FOUND,
                       "%s says nothing of memory: the program made no buffers (devlog_buffer_create)",
                       j->path);
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
            dl_str_fmt(out, "%s%s: %llu %s\n", before, j->path, (unsigned long long)j->run.found[i],
                       memory_trouble_text((memory_trouble)i));
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
    *j = (memory_job){0};
}
