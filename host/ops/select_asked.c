/* Names of ops and signposts that a selection asks for. See select_asked.h. */
#include "ops/select_asked.h"

#include <stdlib.h>

enum { MOST_SHOWN = 12 };

/* ---- Names, with what there is when one is op_listed_missing --- */

void op_listed_add(op_listed *l, const char *name, size_t n)
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

devlog_status op_listed_missing(op_listed *l, const char *option, const char *value, const char *what,
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

bool op_asked_wants(op_asked *w, const char *name)
{
    bool any = w->o->n_ops == 0;
    for (size_t i = 0; i < w->o->n_ops; i++) {
        if (!dl_filter_match(w->o->ops[i], name)) continue;
        any = w->met[i] = true;
    }
    return any;
}

const char *op_asked_not_met(const op_asked *w)
{
    for (size_t i = 0; i < w->o->n_ops; i++)
        if (!w->met[i]) return w->o->ops[i];
    return NULL;
}

void op_selected_order(op_selected *s)
{
    if (s->n) qsort(s->ids, s->n, sizeof *s->ids, dl_filter_by_id);
}

bool op_selected_add(op_selected *s, uint64_t id, uint32_t chip, uint32_t session)
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
