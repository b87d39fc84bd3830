/* Selection by what only the host knows, in the log of tt-metal's host, or in whichever log of a host there is. See
 * select.h. */
#include "tt_metal/select.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "decode/capture/capture.h"
#include "decode/input.h"
#include "ops/select_asked.h"
#include "tt_metal/folder.h"

static devlog_status no_memory(devlog_error *err)
{
    return dl_fail(err, DEVLOG_ERR_MEMORY, "out of memory");
}

/* "TT_SIGNPOST: name\nmessage" */
static void signpost_name(const tt_host *h, const tt_signpost *p, const char **name, size_t *n)
{
    const char *text = h->texts + p->at, *end = text + p->len;
    for (const char *at = text; at + 1 < end; at++)
        if (at[0] == ':' && at[1] == ' ') text = at + 2;
    const char *feed = text < end ? memchr(text, '\n', (size_t)(end - text)) : NULL;
    *name = text;
    *n = (size_t)((feed ? feed : end) - text);
}

/* Of those at `from` or later the first of this name. */
static const tt_signpost *find_signpost(const tt_host *h, const char *wanted, uint64_t from)
{
    const tt_signpost *best = NULL;
    dl_str text = {0};
    for (size_t i = 0; i < h->n_signposts; i++) {
        const tt_signpost *p = &h->signposts[i];
        const char *name;
        size_t n;
        signpost_name(h, p, &name, &n);
        dl_str_clear(&text);
        dl_str_add_n(&text, name, n);
        if (p->ns < from || (best && best->ns <= p->ns)) continue;
        if (dl_filter_match(wanted, text.text ? text.text : "")) best = p;
    }
    dl_str_free(&text);
    return best;
}

static devlog_status no_signpost(const tt_host *h, const char *option, const char *wanted, devlog_error *err)
{
    op_listed l = {0};
    for (size_t i = 0; i < h->n_signposts; i++) {
        const char *name;
        size_t n;
        signpost_name(h, &h->signposts[i], &name, &n);
        op_listed_add(&l, name, n);
    }
    return op_listed_missing(&l, option, wanted, "signpost", TT_OPS_DATA_NAME, err);
}

static devlog_status no_tt_op(const tt_host *h, const char *wanted, devlog_error *err)
{
    op_listed l = {0};
    dl_str name = {0};
    for (size_t i = 0; i < h->n_ops; i++) {
        dl_str_clear(&name);
        tt_host_name(h, &h->ops[i], &name);
        op_listed_add(&l, name.text ? name.text : "", name.len);
    }
    dl_str_free(&name);
    return op_listed_missing(&l, "op", wanted, "op", TT_OPS_DATA_NAME, err);
}

static devlog_status window_of_tt(op_selected *s, const tt_host *h, const op_select_options *o,
                                  devlog_error *err)
{
    s->from = 0;
    s->to = UINT64_MAX;
    if (o->from) {
        const tt_signpost *p = find_signpost(h, o->from, 0);
        if (!p) return no_signpost(h, "from-signpost", o->from, err);
        s->from = p->ns;
    }
    if (!o->to) return DEVLOG_OK;
    const tt_signpost *p = find_signpost(h, o->to, o->from ? s->from + 1 : 0);
    if (!p) return no_signpost(h, "to-signpost", o->to, err);
    s->to = p->ns;
    return DEVLOG_OK;
}

uint64_t tt_select_time(const tt_host *h, const tt_op *op, uint32_t session)
{
    const tt_replay *replay =
        session && op->trace != TT_NONE ? tt_host_replay(h, op->device, op->trace, session) : NULL;
    if (session) return replay ? replay->ns : op->sent;
    return op->flags & TT_OP_ZONE ? op->start : op->sent;
}

/* An op itself, and each replay of the trace in which it was captured, when it ran on no device; where the host tells of no replay, its
 * launches in a log without traces are its own. An op of which only its zone is left may be of the device that its id names, or of the
 * first one, as in join.c. */
static bool add_op(op_selected *s, const tt_host *h, const tt_op *op, bool window)
{
    const tt_trace *t = op->trace == TT_NONE ? NULL : tt_host_trace(h, op->device, op->trace);
    const bool in = op_selected_time(s, tt_select_time(h, op, 0));
    /* Whatever a log has of it, also replays that the host does not tell of. */
    if (!window && op->device != TT_NONE) return op_selected_add(s, op->id, op->device, DL_FILTER_ANY);
    bool ok = !in || op_selected_add(s, op->id, op->device, t ? DL_FILTER_CAPTURE : 0);
    if (ok && in && op->device == TT_NONE && op->flags & TT_OP_LOST)
        ok = op_selected_add(s, op->id, (uint32_t)(op->id & 1023), DL_FILTER_ANY) &&
             op_selected_add(s, op->id, 0, DL_FILTER_ANY);
    for (uint32_t session = 1; t && session <= t->replays && ok; session++)
        if (op_selected_time(s, tt_select_time(h, op, session)))
            ok = op_selected_add(s, op->id, op->device, session);
    return ok;
}

devlog_status tt_select(op_selected *s, const tt_host *h, const op_select_options *o, devlog_error *err)
{
    dl_str name = {0};
    op_asked w = {o, calloc(o->n_ops + 1, sizeof(bool))};
    devlog_status status = w.met ? window_of_tt(s, h, o, err) : no_memory(err);
    for (size_t i = 0; i < h->n_ops && !status; i++) {
        const tt_op *op = &h->ops[i];
        bool in = !(op->flags & TT_OP_SHADOW);
        if (in && o->n_ops) {
            dl_str_clear(&name);
            tt_host_name(h, op, &name);
            in = op_asked_wants(&w, name.text ? name.text : "");
        }
        if (in && !add_op(s, h, op, o->from || o->to)) status = no_memory(err);
    }
    if (!status && op_asked_not_met(&w)) status = no_tt_op(h, op_asked_not_met(&w), err);
    op_selected_order(s);
    dl_str_free(&name);
    free(w.met);
    return status;
}

/* ---- Whichever there is --- */

static devlog_status on_chip(void *ctx, const dl_capture_chip *chip, devlog_error *err)
{
    uint64_t *run = ctx;
    *run = chip->run;
    return dl_fail(err, DEVLOG_ERR_STATE, "it is known");
}

uint64_t tt_run_of_log(const char *path)
{
    static const char says[] = ", Run: ";
    uint64_t run = 0;
    dl_input *in;
    devlog_error unheard;
    const void *bytes;
    size_t n = 1024;
    struct stat st;
    if (stat(path, &st) != 0 || !S_ISREG(st.st_mode) || dl_input_open(&in, path, &unheard)) return 0;
    if (dl_input_peek(in, &bytes, &n, &unheard)) n = 0;
    if (dl_capture_is(bytes, n)) {
        const dl_capture_sink sink = {.ctx = &run, .chip = on_chip};
        dl_capture_state state = {0};
        (void)dl_capture_read(in, &sink, false, &state, &unheard);
    } else if (n) {
        const char *end = memchr(bytes, '\n', n), *text = bytes;
        const char *at = memmem(text, end ? (size_t)(end - text) : n, says, sizeof says - 1);
        for (at = at ? at + sizeof says - 1 : NULL; at && at < text + n && isxdigit((unsigned char)*at); at++)
            run = run << 4 | (uint64_t)(*at <= '9' ? *at - '0' : (*at | 32) - 'a' + 10);
    }
    dl_input_close(in);
    return run;
}

static devlog_status select_own(op_selected *s, const char *path, const char *device_log, const char *scratch,
                                const op_select_options *o, devlog_error *err)
{
    op_log log;
    devlog_status status = op_log_read_large(&log, path, scratch, err);
    const uint64_t run = status ? 0 : tt_run_of_log(device_log);
    if (!status && run && log.run && run != log.run)
        status = dl_fail(err, DEVLOG_ERR_ARGUMENT,
                         "%s is of run %016llx, and %s of another one: nobody knows its ops and signposts; "
                         "choose by --launches",
                         device_log, (unsigned long long)run, path);
    if (!status) status = op_select_log(s, &log, o, err);
    op_log_free(&log);
    return status;
}

static devlog_status select_folder(op_selected *s, const tt_files *f, const char *scratch,
                                   const op_select_options *o, devlog_error *err)
{
    tt_found found = {0};
    tt_host host;
    devlog_status status = tt_host_begin(&host, &found, scratch, err);
    if (!status) status = tt_host_read_data(&host, f->data, NULL, err);
    if (!status && f->times) status = tt_host_read_times(&host, f->times, NULL, err);
    if (!status) status = tt_select(s, &host, o, err);
    tt_host_free(&host);
    tt_found_free(&found);
    return status;
}

devlog_status tt_select_beside(op_selected *s, const char *device_log, const char *scratch,
                               const op_select_options *o, devlog_error *err)
{
    const char *slash = strrchr(device_log, '/');
    char *folder = slash ? strndup(device_log, (size_t)(slash - device_log) + 1) : strdup(".");
    bool above;
    char *own = folder ? op_log_of(folder, &above) : NULL;
    tt_files files = {0};
    devlog_status status = DEVLOG_OK;
    if (!folder || !tt_files_find(&files, folder))
        status = no_memory(err);
    else if (own)
        status = select_own(s, own, device_log, scratch, o, err);
    else if (files.data)
        status = select_folder(s, &files, scratch, o, err);
    else
        status = dl_fail(err, DEVLOG_ERR_NOT_FOUND,
                         "%s: ops and signposts are the host's, and neither " OP_LOG_NAME
                         " nor " TT_OPS_DATA_NAME " is beside it",
                         device_log);
    tt_files_free(&files);
    free(own);
    free(folder);
    return status;
}
