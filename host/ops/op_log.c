/* Reading an op log: its file, block by block and again line by line, and what was wrong with it. Not for
 * what the lines say (op_log_lines.c, op_text.c). */
#include "ops/op_log.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/run_file.h"
#include "base/settings.h"
#include "decode/input.h"
#include "ops/op_log_internal.h"

enum { BLOCK = 256 * 1024, WINDOW = 256 * 1024 };

static const struct {
    const char *text;
    bool loss;
} troubles[OP_TROUBLES] = {
    [OP_BAD_LINE] = {"lines that are not of an op log, skipped", true},
    [OP_CUT_LINE] = {"a last line that was cut off", true},
    [OP_NOT_CLOSED] = {"programs that did not close the log: killed, or still at work", true},
    [OP_NO_OP] = {"events of ops that never started, skipped", true},
    [OP_ENDED_TWICE] = {"ops that ended twice; the first end is used", true},
    [OP_DUPLICATE] = {"ops with the id of an earlier one; kept, without device data", true},
    [OP_OTHER_RUN] = {"ops of earlier runs in the same log, left out", true},
    [OP_NOT_WRITTEN] = {"events that the run could not write", true},
    [OP_OPEN] = {"ops that never ended; kept, without a duration", true},
    [OP_ENDED_ELSEWHERE] = {"ops that another thread ended than began them; kept", false},
    [OP_BACKWARDS] = {"ops that end before they begin; kept, without a duration", true},
};

const char *op_trouble_text(op_trouble what)
{
    return (unsigned)what < OP_TROUBLES ? troubles[what].text : "";
}

bool op_trouble_is_loss(op_trouble what)
{
    return (unsigned)what < OP_TROUBLES && troubles[what].loss;
}

void op_log_found(op_log *log, op_trouble what, uint64_t amount, uint64_t line, const char *fmt, ...)
{
    log->found[what] += amount;
    int at = 0;
    while (at < OP_DETAILS && log->details[what][at])
        at++;
    if (at == OP_DETAILS) return;
    char text[512];
    int n = line ? snprintf(text, sizeof text, "%s:%llu: ", log->path, (unsigned long long)line)
                 : snprintf(text, sizeof text, "%s: ", log->path);
    if (n < 0 || (size_t)n >= sizeof text) n = 0;
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text + n, sizeof text - (size_t)n, fmt, ap);
    va_end(ap);
    log->details[what][at] = strdup(text);
}

static devlog_status no_memory(const op_log *log, devlog_error *err)
{
    return dl_fail(err, DEVLOG_ERR_MEMORY, "%s: no memory for more than %zu ops", log->path, log->n_ops);
}

/* The part of the file in hand. */
typedef struct lines {
    char *block;
    size_t room, have;
    size_t searched;        /* as far as there is no line end in it */
    uint64_t at;            /* of block[0] in the file */
    bool skipping, has_nul; /* has_nul: the line that is not whole yet */
} lines;

/* Takes the whole lines in hand; what is left of the last one comes to the front. */
static bool take_lines(op_log *log, lines *l)
{
    char *from = l->block, *end = l->block + l->have, *search = from + l->searched, *line_end;
    bool has_nul = l->has_nul || memchr(search, 0, l->have - l->searched) != NULL;
    for (; (line_end = memchr(search, '\n', (size_t)(end - search))) != NULL; search = from) {
        log->lines++;
        const op_place p = {from, l->at + (uint64_t)(from - l->block), log->lines,
                            (uint32_t)(line_end - from), has_nul};
        if (l->skipping)
            l->skipping = false;
        else if (!op_log_take(log, &p))
            return false;
        from = line_end + 1;
    }
    size_t left = (size_t)(end - from);
    if (left >= OP_MAX_LINE) {
        if (!l->skipping)
            op_log_found(log, OP_BAD_LINE, 1, log->lines + 1, "longer than %d bytes", OP_MAX_LINE);
        l->skipping = true;
        from = end;
        left = 0;
    }
    l->at += (uint64_t)(from - l->block);
    l->has_nul = has_nul && from == l->block;
    memmove(l->block, from, left);
    l->have = l->searched = left;
    return true;
}

static devlog_status read_lines(op_log *log, lines *l, devlog_error *err)
{
    for (;;) {
        if (l->room - l->have < BLOCK / 2) { /* a line that is longer than the block */
            char *grown = realloc(l->block, l->room * 2);
            if (!grown) return no_memory(log, err);
            l->block = grown;
            l->room *= 2;
        }
        size_t want = l->room - l->have < BLOCK ? l->room - l->have : BLOCK;
        ssize_t n = pread(log->fd, l->block + l->have, want, (off_t)(l->at + l->have));
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) return dl_fail_errno(err, errno, "cannot read %s", log->path);
        if (n == 0) return DEVLOG_OK;
        l->have += (size_t)n;
        if (!take_lines(log, l)) return no_memory(log, err);
    }
}

/* ---- Packed logs: their lines are read again when texts are wanted, so they go into a file without a name --- */

static int nameless_file(const char *folder)
{
    const char *tmp = dl_setting_text(DL_SET_TMPDIR);
    if (!folder) folder = tmp ? tmp : "/tmp";
    int fd = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (fd >= 0) return fd;
    char *path = dl_path_join(folder, "devlog-ops-XXXXXX"); /* file systems without */
    fd = path ? mkostemp(path, O_CLOEXEC) : -1;
    if (fd >= 0) unlink(path);
    free(path);
    return fd;
}

/* What can be unpacked is kept. */
static devlog_status unpack(op_log *log, dl_input *in, const char *folder, devlog_error *err)
{
    devlog_error why;
    size_t got = 1;
    int errnum = 0;
    char *block = malloc(BLOCK);
    const int fd = block ? nameless_file(folder) : -1;
    devlog_status status = !block   ? no_memory(log, err)
                           : fd < 0 ? dl_fail_errno(err, errno, "no room for what is in %s", log->path)
                                    : DEVLOG_OK;
    while (!status && got && !errnum) {
        if (dl_input_read(in, block, BLOCK, &got, &why)) {
            op_log_found(log, OP_CUT_LINE, 1, 0, "%s", why.text);
            break;
        }
        errnum = dl_write_all(fd, block, got);
    }
    if (errnum) status = dl_fail_errno(err, errnum, "no room for what is in %s", log->path);
    free(block);
    close(log->fd);
    log->fd = fd;
    return status;
}

static devlog_status unpack_if_packed(op_log *log, const char *folder, devlog_error *err)
{
    dl_input *in;
    devlog_status status = dl_input_open(&in, log->path, err);
    if (status) return status;
    if (!dl_input_is_plain(in)) status = unpack(log, in, folder, err);
    dl_input_close(in);
    return status;
}

char *op_log_in(const char *folder)
{
    static const char *const names[] = {OP_LOG_NAME, OP_LOG_NAME ".zst", OP_LOG_NAME ".gz", OP_LOG_NAME ".xz",
                                        OP_LOG_NAME ".pack"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        struct stat st;
        char *path = dl_path_join(folder, names[i]);
        if (path && stat(path, &st) == 0 && S_ISREG(st.st_mode) && access(path, R_OK) == 0) return path;
        free(path);
    }
    return NULL;
}

char *op_log_of(const char *folder, bool *above)
{
    static const char periodic[] = "capture-";
    char *found = op_log_in(folder), *whole = found ? NULL : realpath(folder, NULL),
         *slash = whole ? strrchr(whole, '/') : NULL;
    if (slash > whole && strncmp(slash + 1, periodic, sizeof periodic - 1) == 0) {
        *slash = '\0';
        found = op_log_in(whole);
    }
    *above = whole && found;
    free(whole);
    return found;
}

/* What the file beside the log knows, which could still be written when the log could not. */
static bool look_beside(const op_log *log, dl_run_file_state *out)
{
    const char *slash = strrchr(log->path, '/');
    char *folder = slash ? strndup(log->path, (size_t)(slash + 1 - log->path)) : strdup(".");
    bool good = log->run && folder && dl_run_file_look(folder, log->run, out);
    free(folder);
    return good;
}

/* How the log ends: whole or not, closed or not, and with everything in it or not. */
static void look_at_end(op_log *log, const lines *l)
{
    dl_run_file_state state = {0};
    bool known = look_beside(log, &state);
    if (l->have && !l->skipping)
        op_log_found(log, OP_CUT_LINE, 1, log->lines + 1, "%s: %.*s",
                     !known       ? "the run was killed while it wrote, or its disk was full"
                     : state.lost ? strerror(state.errnum)
                                  : "the run was killed while it wrote",
                     (int)(l->have < 60 ? l->have : 60), l->block);
    if (known && state.lost > log->found[OP_NOT_WRITTEN])
        op_log_found(log, OP_NOT_WRITTEN, state.lost - log->found[OP_NOT_WRITTEN], 0, "%s",
                     strerror(state.errnum));
    uint32_t opens = known && state.opens > log->opens ? state.opens : log->opens;
    uint32_t closes = known && state.closes > log->closes ? state.closes : log->closes;
    if (opens > closes)
        op_log_found(log, OP_NOT_CLOSED, opens - closes, 0, "opened %u times, closed %u times", opens,
                     closes);
}

devlog_status op_log_read(op_log *log, const char *path, devlog_error *err)
{
    return op_log_read_large(log, path, NULL, err);
}

devlog_status op_log_read_large(op_log *log, const char *path, const char *scratch, devlog_error *err)
{
    *log = (op_log){
        .fd = -1, .in_order = true, .big_ops = {.folder = scratch}, .big_launches = {.folder = scratch}};
    struct stat st;
    log->path = strdup(path);
    lines l = {0};
    devlog_status status = log->path ? DEVLOG_OK : dl_fail(err, DEVLOG_ERR_MEMORY, "out of memory");
    if (status) goto done;
    log->fd = open(path, O_RDONLY | O_CLOEXEC);
    if (log->fd < 0) {
        int errnum = errno;
        status = dl_fail_errno(err, errnum, "cannot read the op log %s", path);
        if (errnum == ENOENT || errnum == ENOTDIR) status = DEVLOG_ERR_NOT_FOUND;
        if (err) err->status = status;
        goto done;
    }
    if (fstat(log->fd, &st) != 0 || !S_ISREG(st.st_mode)) {
        status = dl_fail(err, DEVLOG_ERR_ARGUMENT, "%s is no plain file", path);
        goto done;
    }
    if ((status = unpack_if_packed(log, scratch, err))) goto done;
    l.room = 2 * BLOCK;
    l.block = malloc(l.room);
    status = l.block ? read_lines(log, &l, err) : dl_fail(err, DEVLOG_ERR_MEMORY, "out of memory");
    if (!status) look_at_end(log, &l);
    for (size_t i = 0; i < log->n_ops && !status; i++) {
        if (i % OP_LOG_PASSED == 0) op_log_cool(log);
        if (!(log->ops[i].flags & OP_ENDED)) log->found[OP_OPEN]++;
    }
done:
    free(l.block);
    return status;
}

void op_log_free(op_log *log)
{
    if (log->path && log->fd >= 0) close(log->fd);
    for (int i = 0; i < OP_TROUBLES; i++)
        for (int k = 0; k < OP_DETAILS; k++)
            free(log->details[i][k]);
    free(log->path);
    dl_big_free(&log->big_ops);
    dl_big_free(&log->big_launches);
    free(log->extras);
    free(log->points);
    free(log->programs);
    free(log->chips);
    free(log->memory);
    free(log->slots);
    free(log->windows[0].text);
    free(log->windows[1].text);
    *log = (op_log){.fd = -1};
}

void op_log_cool(op_log *log)
{
    dl_big_cool(&log->big_ops);
    dl_big_cool(&log->big_launches);
}

const char *op_log_line(op_log *log, int window, uint64_t at, uint32_t len)
{
    struct op_window *w = &log->windows[window];
    if (at >= w->at && at + len <= w->at + w->n) return w->text + (at - w->at);
    size_t want = len > WINDOW / 2 ? (size_t)len + WINDOW : WINDOW;
    if (want > w->cap) {
        free(w->text);
        w->text = malloc(want);
        w->cap = w->text ? want : 0;
    }
    w->n = 0;
    w->at = at;
    while (w->n < w->cap) {
        ssize_t n = pread(log->fd, w->text + w->n, w->cap - w->n, (off_t)(at + w->n));
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) break;
        w->n += (size_t)n;
    }
    return w->n >= len ? w->text : NULL;
}
