/* Op codes that a user asked for. See op_filter.h. */
#include "ops/op_filter.h"

#include <stdlib.h>

#include "decode/filter.h"

bool op_filter_lets(const op_filter *f, const char *code)
{
    for (size_t i = 0; i < f->n; i++)
        if (dl_filter_match(f->ops[i], code)) return true;
    return f->n == 0;
}

/* The op codes of a report, or its signposts: the first few of them, each once. */
static void list_codes(const op_table *t, bool points, dl_str *out)
{
    enum { MOST = 12 };
    size_t n = 0;
    bool *met = calloc(dl_intern_count(t->texts) + 1, sizeof *met);
    for (size_t i = 0; met && i < t->n; i++) {
        const op_table_row *r = &t->rows[i];
        if (!(r->has & OP_IS_POINT) == points || met[r->code]) continue;
        met[r->code] = true;
        if (n++ < MOST)
            dl_str_fmt(out, "%s'%.60s'", n > 1 ? ", " : "", dl_intern_text(t->texts, r->code, NULL));
    }
    if (n > MOST) dl_str_fmt(out, " and %zu more", n - MOST);
    if (n == 0) dl_str_add(out, points ? "none" : "no ops");
    free(met);
}

static bool has_code(const op_table *t, const char *pattern)
{
    for (size_t i = 0; i < t->n; i++)
        if (!(t->rows[i].has & OP_IS_POINT) &&
            dl_filter_match(pattern, dl_intern_text(t->texts, t->rows[i].code, NULL)))
            return true;
    return false;
}

devlog_status op_filter_check(const op_filter *f, const op_table *const *tables, size_t n, devlog_error *err)
{
    for (size_t k = 0; k < f->n; k++) {
        bool met = false;
        for (size_t i = 0; i < n && !met; i++)
            met = has_code(tables[i], f->ops[k]);
        if (met) continue;
        dl_str codes = {0};
        for (size_t i = 0; i < n; i++) {
            dl_str_fmt(&codes, "%s%s has ", i ? "; " : "", tables[i]->name);
            list_codes(tables[i], false, &codes);
        }
        dl_fail(err, DEVLOG_ERR_NOT_FOUND, "--%s %s: no such op; %s", f->option ? f->option : "ops",
                f->ops[k], codes.failed ? "there are others" : codes.text);
        dl_str_free(&codes);
        return DEVLOG_ERR_NOT_FOUND;
    }
    return DEVLOG_OK;
}

devlog_status op_filter_no_point(const op_table *t, const char *name, const char *behind, devlog_error *err)
{
    dl_str points = {0};
    list_codes(t, true, &points);
    dl_fail(err, DEVLOG_ERR_NOT_FOUND, "%s has no signpost '%s'%s%s; it has %s", t->name, name,
            behind ? " behind " : "", behind ? behind : "", points.failed ? "others" : points.text);
    dl_str_free(&points);
    return DEVLOG_ERR_NOT_FOUND;
}
