/* Selection by what only the host knows, in devlog's own op log. See select.h. */
#include "ops/select.h"

#include <stdlib.h>

#include "ops/op_text.h"
#include "ops/select_asked.h"

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
    if (by_host) { /* otherwise what the caller picks stays */
        filter->picks = true;
        filter->picked = s->ids;
        filter->n_picked = s->n;
    }
    if (s->warm_up.n) filter->skip_launches = 0;
    filter->skips = s->warm_up.skips;
    filter->n_skips = s->warm_up.n;
}

static devlog_status no_memory(devlog_error *err)
{
    return dl_fail(err, DEVLOG_ERR_MEMORY, "out of memory");
}

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
    op_listed l = {0};
    dl_str name = {0};
    for (size_t i = 0; i < log->n_points; i++) {
        point_name(text, log, &log->points[i], &name);
        op_listed_add(&l, name.text ? name.text : "", name.len);
    }
    dl_str_free(&name);
    return op_listed_missing(&l, option, wanted, "signpost", log->path, err);
}

static devlog_status no_op(op_log *log, op_text *text, const char *name, devlog_error *err)
{
    op_listed l = {0};
    for (size_t i = 0; i < log->n_ops; i++) {
        op_text_read(text, log, &log->ops[i]);
        op_listed_add(&l, op_piece_text(text, text->name), text->name.len);
    }
    return op_listed_missing(&l, "op", name, "op", log->path, err);
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
        ok = op_selected_add(s, log->launches[at - 1].launch, log->launches[at - 1].chip, DL_FILTER_ANY);
    return ok;
}

devlog_status op_select_log(op_selected *s, op_log *log, const op_select_options *o, devlog_error *err)
{
    op_text text = {0};
    dl_str name = {0};
    op_asked w = {o, calloc(o->n_ops + 1, sizeof(bool))};
    devlog_status status = w.met ? window_of_log(s, log, &text, o, err) : no_memory(err);
    for (size_t i = 0; i < log->n_ops && !status; i++) {
        const op_entry *op = &log->ops[i];
        if (i % OP_LOG_PASSED == 0) op_log_cool(log);
        bool in = true;
        if (o->n_ops) {
            op_text_read(&text, log, op);
            dl_str_clear(&name);
            dl_str_add_n(&name, op_piece_text(&text, text.name), text.name.len);
            in = op_asked_wants(&w, name.text ? name.text : "");
        }
        if (!in || !op_selected_time(s, op->id)) continue;
        if (!op_selected_add(s, op->id, DL_FILTER_OP, DL_FILTER_ANY) || !add_launches(s, log, op))
            status = no_memory(err);
    }
    if (!status && op_asked_not_met(&w)) status = no_op(log, &text, op_asked_not_met(&w), err);
    op_selected_order(s);
    dl_str_free(&name);
    op_text_free(&text);
    free(w.met);
    return status;
}
