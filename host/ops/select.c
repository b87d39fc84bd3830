/* Selection by what only the host knows. See select.h. */
#include "ops/select.h"

#include <stdlib.h>
#include <unistd.h>

#include "base/file.h"
#include "ops/op_text.h"
#include "ops/tt_folder.h"

enum { MOST_SHOWN = 12 };

bool op_selection_any(const op_selection *s)
{
    return s->filter.n_chips || dl_filter_of_launches(&s->filter) || s->skip_warm_up ||
           op_select_by_host(&s->host);
}

void op_selected_free(op_selected *s)
{
    free(s->ids);
    dl_warm_up_free(&s->warm_up);
    *s = (op_selected){0};
}

void op_selected_apply(const op_selected *s, bool by_host, dl_filter *filter)
{
    filter->picks = by_host;
    if (s->warm_up.n) filter->skip_launches = 0;
    filter->picked = s->ids;
    filter->n_picked = s->n;
    filter->skips = s->warm_up.skips;
    filter->n_skips = s->warm_up.n;
}

static devlog_status no_memory(devlog_error *err)
{
    return dl_fail(err, DEVLOG_ERR_MEMORY, "out of memory");
}

static bool add(op_selected *s, uint64_t id, uint32_t chip, uint32_t session)
{
    if (s->n == s->cap) {
        const size_t cap = s->cap ? s->cap * 2 : 256;
        dl_filter_id *grown = realloc(s->ids, cap * sizeof *grown);
        if (!grown) return false;
        s->ids = grown;
        s->cap = cap;
    }
    s->ids[s->n++] = (dl_filter_id){id, chip, session};
    return true;
}

static void put_in_order(op_selected *s)
{
    if (s->n) qsort(s->ids, s->n, sizeof *s->ids, dl_filter_by_id);
}

/* ---- Names, with what there is when one is missing --- */

typedef struct listed {
    dl_intern *names; /* each once */
    dl_str out;
} listed;

static void list_name(listed *l, const char *name, size_t n)
{
    if (!l->names) l->names = dl_intern_new(64 * 1024, 4 * 1024 * 1024);
    if (!l->names || n == 0) return;
    const size_t before = dl_intern_count(l->names);
    dl_intern_add(l->names, name, n);
    const size_t now = dl_intern_count(l->names);
    if (now == before || now > MOST_SHOWN + 1) return; /* the first is the empty text */
    dl_str_fmt(&l->out, "%s'", l->out.len ? ", " : "");
    dl_str_shown(&l->out, name, n < 60 ? n : 60);
    dl_str_char(&l->out, '\'');
}

static devlog_status missing(listed *l, const char *option, const char *value, const char *what,
                             const char *where, devlog_error *err)
{
    const size_t n = l->names ? dl_intern_count(l->names) : 0;
    if (n > MOST_SHOWN + 1) dl_str_fmt(&l->out, " and %zu more", n - MOST_SHOWN - 1);
    dl_fail(err, DEVLOG_ERR_NOT_FOUND, "--%s %s: no such %s; %s has %s", option, value, what, where,
            l->out.len && !l->out.failed ? l->out.text : "none");
    dl_intern_free(l->names);
    dl_str_free(&l->out);
    return DEVLOG_ERR_NOT_FOUND;
}

/* Which of the wanted ops have been met. */
typedef struct asked {
    const op_select_options *o;
    bool *met;
} asked;

static bool is_wanted(asked *w, const char *name)
{
    bool any = w->o->n_ops == 0;
    for (size_t i = 0; i < w->o->n_ops; i++) {
        if (!dl_filter_match(w->o->ops[i], name)) continue;
        any = w->met[i] = true;
    }
    return any;
}

static const char *not_met(const asked *w)
{
    for (size_t i = 0; i < w->o->n_ops; i++)
        if (!w->met[i]) return w->o->ops[i];
    return NULL;
}

/* ---- devlog's own op log --- */

static void point_name(op_text *text, op_log *log, const op_point *p, dl_str *out)
{
    uint64_t number;
    op_text_point(text, log, p, &number);
    dl_str_clear(out);
    if (p->step) dl_str_fmt(out, "step %llu%s", (unsigned long long)number, text->name.len ? " " : "");
    dl_str_add_n(out, op_piece_text(text, text->name), text->name.len);
}

/* The first signpost of this name from *at on, which moves there. */
static bool find_point(op_log *log, op_text *text, const char *wanted, size_t *at)
{
    dl_str name = {0};
    bool found = false;
    for (; *at < log->n_points && !found; ++*at) {
        point_name(text, log, &log->points[*at], &name);
        found = dl_filter_match(wanted, name.text ? name.text : "");
    }
    *at -= found;
    dl_str_free(&name);
    return found;
}

static devlog_status no_point(op_log *log, op_text *text, const char *option, const char *wanted,
                              devlog_error *err)
{
    listed l = {0};
    dl_str name = {0};
    for (size_t i = 0; i < log->n_points; i++) {
        point_name(text, log, &log->points[i], &name);
        list_name(&l, name.text ? name.text : "", name.len);
    }
    dl_str_free(&name);
    return missing(&l, option, wanted, "signpost", log->path, err);
}

static devlog_status no_op(op_log *log, op_text *text, const char *name, devlog_error *err)
{
    listed l = {0};
    for (size_t i = 0; i < log->n_ops; i++) {
        op_text_read(text, log, &log->ops[i]);
        list_name(&l, op_piece_text(text, text->name), text->name.len);
    }
    return missing(&l, "op", name, "op", log->path, err);
}

static devlog_status window_of_log(op_selected *s, op_log *log, op_text *text, const op_select_options *o,
                                   devlog_error *err)
{
    size_t at = 0;
    s->from = 0;
    s->to = UINT64_MAX;
    if (o->from) {
        if (!find_point(log, text, o->from, &at)) return no_point(log, text, "from-signpost", o->from, err);
        s->from = log->points[at].after;
        at++;
    }
    if (!o->to) return DEVLOG_OK;
    if (!find_point(log, text, o->to, &at)) return no_point(log, text, "to-signpost", o->to, err);
    s->to = log->points[at].after;
    return DEVLOG_OK;
}

/* Launches whose log does not say which op asked for them. */
static bool add_launches(op_selected *s, const op_log *log, const op_entry *op)
{
    bool ok = true;
    for (uint32_t at = op->launch; at && ok; at = log->launches[at - 1].next)
        ok = add(s, log->launches[at - 1].launch, log->launches[at - 1].chip, DL_FILTER_ANY);
    return ok;
}

devlog_status op_select_log(op_selected *s, op_log *log, const op_select_options *o, devlog_error *err)
{
    op_text text = {0};
    dl_str name = {0};
    asked w = {o, calloc(o->n_ops + 1, sizeof(bool))};
    devlog_status status = w.met ? window_of_log(s, log, &text, o, err) : no_memory(err);
    for (size_t i = 0; i < log->n_ops && !status; i++) {
        const op_entry *op = &log->ops[i];
        if (i % OP_LOG_PASSED == 0) op_log_cool(log);
        bool in = true;
        if (o->n_ops) {
            op_text_read(&text, log, op);
            dl_str_clear(&name);
            dl_str_add_n(&name, op_piece_text(&text, text.name), text.name.len);
            in = is_wanted(&w, name.text ? name.text : "");
        }
        if (!in || !op_selected_time(s, op->id)) continue;
        if (!add(s, op->id, DL_FILTER_OP, DL_FILTER_ANY) || !add_launches(s, log, op))
            status = no_memory(err);
    }
    if (!status && not_met(&w)) status = no_op(log, &text, not_met(&w), err);
    put_in_order(s);
    dl_str_free(&name);
    op_text_free(&text);
    free(w.met);
    return status;
}

/* ---- tt-metal's host --- */

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
    listed l = {0};
    for (size_t i = 0; i < h->n_signposts; i++) {
        const char *name;
        size_t n;
        signpost_name(h, &h->signposts[i], &name, &n);
        list_name(&l, name, n);
    }
    return missing(&l, option, wanted, "signpost", TT_OPS_DATA_NAME, err);
}

static devlog_status no_tt_op(const tt_host *h, const char *wanted, devlog_error *err)
{
    listed l = {0};
    dl_str name = {0};
    for (size_t i = 0; i < h->n_ops; i++) {
        dl_str_clear(&name);
        tt_host_name(h, &h->ops[i], &name);
        list_name(&l, name.text ? name.text : "", name.len);
    }
    dl_str_free(&name);
    return missing(&l, "op", wanted, "op", TT_OPS_DATA_NAME, err);
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

uint64_t op_select_tt_time(const tt_host *h, const tt_op *op, uint32_t session)
{
    const tt_replay *replay =
        session && op->trace != TT_NONE ? tt_host_replay(h, op->device, op->trace, session) : NULL;
    if (session) return replay ? replay->ns : op->sent;
    return op->flags & TT_OP_ZONE ? op->start : op->sent;
}

/* An op itself, and each replay of the trace in which it was captured; an op of which only its zone is left may be of the
 * device that its id names, or of the first one, as in tt_join.c. */
static bool add_op(op_selected *s, const tt_host *h, const tt_op *op)
{
    const tt_trace *t = op->trace == TT_NONE ? NULL : tt_host_trace(h, op->device, op->trace);
    bool ok = !op_selected_time(s, op_select_tt_time(h, op, 0)) || add(s, op->id, op->device, 0);
    if (ok && op->device == TT_NONE && op->flags & TT_OP_LOST &&
        op_selected_time(s, op_select_tt_time(h, op, 0)))
        ok = add(s, op->id, (uint32_t)(op->id & 1023), DL_FILTER_ANY) && add(s, op->id, 0, DL_FILTER_ANY);
    for (uint32_t session = 1; t && session <= t->replays && ok; session++)
        if (op_selected_time(s, op_select_tt_time(h, op, session))) ok = add(s, op->id, op->device, session);
    return ok;
}

devlog_status op_select_tt(op_selected *s, const tt_host *h, const op_select_options *o, devlog_error *err)
{
    dl_str name = {0};
    asked w = {o, calloc(o->n_ops + 1, sizeof(bool))};
    devlog_status status = w.met ? window_of_tt(s, h, o, err) : no_memory(err);
    for (size_t i = 0; i < h->n_ops && !status; i++) {
        const tt_op *op = &h->ops[i];
        bool in = !(op->flags & TT_OP_SHADOW);
        if (in && o->n_ops) {
            dl_str_clear(&name);
            tt_host_name(h, op, &name);
            in = is_wanted(&w, name.text ? name.text : "");
        }
        if (in && !add_op(s, h, op)) status = no_memory(err);
    }
    if (!status && not_met(&w)) status = no_tt_op(h, not_met(&w), err);
    put_in_order(s);
    dl_str_free(&name);
    free(w.met);
    return status;
}

/* ---- Whichever there is --- */

static devlog_status select_own(op_selected *s, const char *path, const char *scratch,
                                const op_select_options *o, devlog_error *err)
{
    op_log log;
    devlog_status status = op_log_read_large(&log, path, scratch, err);
    if (!status) status = op_select_log(s, &log, o, err);
    op_log_free(&log);
    return status;
}

static devlog_status select_tt(op_selected *s, const tt_files *f, const char *scratch,
                               const op_select_options *o, devlog_error *err)
{
    tt_found found = {0};
    tt_host host;
    devlog_status status = tt_host_begin(&host, &found, scratch, err);
    if (!status) status = tt_host_read_data(&host, f->data, NULL, err);
    if (!status && f->times) status = tt_host_read_times(&host, f->times, NULL, err);
    if (!status) status = op_select_tt(s, &host, o, err);
    tt_host_free(&host);
    tt_found_free(&found);
    return status;
}

devlog_status op_select_beside(op_selected *s, const char *device_log, const char *scratch,
                               const op_select_options *o, devlog_error *err)
{
    const char *slash = strrchr(device_log, '/');
    char *folder = slash ? strndup(device_log, (size_t)(slash - device_log) + 1) : strdup(".");
    char *own = folder ? dl_path_join(folder, OP_LOG_NAME) : NULL;
    tt_files files = {0};
    devlog_status status = DEVLOG_OK;
    if (!own || !tt_files_find(&files, folder))
        status = no_memory(err);
    else if (access(own, R_OK) == 0)
        status = select_own(s, own, scratch, o, err);
    else if (files.data)
        status = select_tt(s, &files, scratch, o, err);
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
