/* Two op reports beside one another. Not for how it is printed (op_compare_print.c). */
#include "ops/op_compare.h"

#include <stdlib.h>
#include <string.h>

#include "decode/filter.h"

static bool wanted(const op_compare_options *o, const char *code)
{
    for (size_t i = 0; i < o->n_ops; i++)
        if (dl_filter_match(o->ops[i], code)) return true;
    return o->n_ops == 0;
}

/* The next row at or behind *at that is an op; NULL: there is none. */
static const op_table_row *next_op(const op_table *t, size_t *at)
{
    while (*at < t->n && (t->rows[*at].has & OP_IS_POINT))
        ++*at;
    return *at < t->n ? &t->rows[(*at)++] : NULL;
}

static const char *code_of(const op_table *t, const op_table_row *r)
{
    return r ? dl_intern_text(t->texts, r->code, NULL) : NULL;
}

static void add(op_compare_side *to, const op_table_row *r, bool by_fw)
{
    if (to->count++ == 0) to->id = r->id;
    if (!(r->has & (by_fw ? OP_HAS_FW : OP_HAS_KERNEL))) return;
    to->with_device++;
    to->ns += by_fw ? r->fw_ns : r->kernel_ns;
}

/* Where the sequences of op codes part. */
static void find_difference(op_compare *c, const op_table *before, const op_table *after)
{
    size_t x = 0, y = 0;
    for (uint64_t position = 1;; position++) {
        const char *a = code_of(before, next_op(before, &x)), *b = code_of(after, next_op(after, &y));
        c->same = !a && !b;
        if (c->same) return;
        if (a && b && strcmp(a, b) == 0) continue;
        c->difference = position;
        c->here[0] = a;
        c->here[1] = b;
        return;
    }
}

static op_compare_item *add_item(op_compare *c, size_t *cap, const char *code)
{
    if (c->n == *cap) {
        size_t more = *cap ? *cap * 2 : 256;
        op_compare_item *grown = realloc(c->items, more * sizeof *grown);
        if (!grown) return NULL;
        c->items = grown;
        *cap = more;
    }
    c->items[c->n] = (op_compare_item){.code = code};
    return &c->items[c->n++];
}

static bool compare_ops(op_compare *c, const op_table *before, const op_table *after,
                        const op_compare_options *o)
{
    size_t cap = 0, x = 0, y = 0;
    for (const op_table_row *a, *b; (a = next_op(before, &x)) && (b = next_op(after, &y));) {
        const char *code = code_of(before, a);
        if (!wanted(o, code)) {
            c->left_out += 2;
            continue;
        }
        op_compare_item *item = add_item(c, &cap, code);
        if (!item) return false;
        add(&item->before, a, o->by_fw);
        add(&item->after, b, o->by_fw);
    }
    return true;
}

/* Adds the ops of one report to the items of their codes; `item_of`: by text of `t`, number of the item + 1.
 */
static bool add_codes(op_compare *c, size_t *cap, const op_table *t, bool after, uint32_t *item_of,
                      const op_compare_options *o)
{
    size_t at = 0;
    for (const op_table_row *r; (r = next_op(t, &at));) {
        const char *code = code_of(t, r);
        if (!wanted(o, code)) {
            c->left_out++;
            continue;
        }
        if (!item_of[r->code]) {
            if (!add_item(c, cap, code)) return false;
            item_of[r->code] = (uint32_t)c->n;
        }
        op_compare_item *item = &c->items[item_of[r->code] - 1];
        add(after ? &item->after : &item->before, r, o->by_fw);
    }
    return true;
}

static bool compare_codes(op_compare *c, const op_table *before, const op_table *after,
                          const op_compare_options *o)
{
    uint32_t n_before = dl_intern_count(before->texts), n_after = dl_intern_count(after->texts);
    uint32_t *first = calloc(n_before + 1, sizeof *first), *second = calloc(n_after + 1, sizeof *second);
    size_t cap = 0;
    bool good = first && second && add_codes(c, &cap, before, false, first, o);
    for (uint32_t i = 0; i < n_after && good; i++) {
        size_t n;
        const char *text = dl_intern_text(after->texts, i, &n);
        uint32_t there = dl_intern_find(before->texts, text, n);
        if (there != DL_NO_STRING) second[i] = first[there];
    }
    good = good && add_codes(c, &cap, after, true, second, o);
    free(first);
    free(second);
    return good;
}

static uint64_t apart(const op_compare_item *x)
{
    return x->before.ns > x->after.ns ? x->before.ns - x->after.ns : x->after.ns - x->before.ns;
}

static int by_difference(const void *a, const void *b)
{
    const op_compare_item *x = a, *y = b;
    uint64_t p = apart(x), q = apart(y);
    return p != q ? (p > q ? -1 : 1) : strcmp(x->code, y->code);
}

static double share(uint64_t part, uint64_t whole)
{
    return whole ? 100.0 * (double)part / (double)whole : 0;
}

/* Whether one op takes more than allowed; what is in one report only is not judged. */
static bool is_worse(const op_compare_item *x, double allowed)
{
    if (!x->before.with_device || !x->after.with_device) return false;
    double before = (double)x->before.ns / (double)x->before.with_device;
    double after = (double)x->after.ns / (double)x->after.with_device;
    return after > before * (1 + allowed / 100);
}

static void add_side(op_compare_side *to, const op_compare_side *from)
{
    to->count += from->count;
    to->with_device += from->with_device;
    to->ns += from->ns;
}

static void finish(op_compare *c, const op_compare_options *o)
{
    for (size_t i = 0; i < c->n; i++) {
        add_side(&c->all.before, &c->items[i].before);
        add_side(&c->all.after, &c->items[i].after);
    }
    size_t n = c->n;
    c->n = 0;
    for (size_t i = 0; i < n; i++) {
        op_compare_item x = c->items[i];
        if (share(x.before.ns, c->all.before.ns) < o->min_share &&
            share(x.after.ns, c->all.after.ns) < o->min_share) {
            c->below++;
            continue;
        }
        x.worse = o->judged && is_worse(&x, o->max_regression);
        c->worse += x.worse;
        c->items[c->n++] = x;
    }
    if (!o->list && c->n) qsort(c->items, c->n, sizeof *c->items, by_difference);
}

devlog_status op_compare_make(op_compare *c, const op_table *before, const op_table *after,
                              const op_compare_options *o, devlog_error *err)
{
    *c = (op_compare){.all = {.code = "in total"}};
    find_difference(c, before, after);
    if (o->list && !c->same)
        return dl_fail(
            err, DEVLOG_ERR_FORMAT,
            "the reports do not hold the same ops in the same order: op %llu is '%s' in %s and '%s' in %s; "
            "without --list they are compared by op code",
            (unsigned long long)c->difference, c->here[0] ? c->here[0] : "(none)", before->name,
            c->here[1] ? c->here[1] : "(none)", after->name);
    if (!(o->list ? compare_ops : compare_codes)(c, before, after, o)) {
        op_compare_free(c);
        return dl_fail(err, DEVLOG_ERR_MEMORY, "out of memory");
    }
    finish(c, o);
    return DEVLOG_OK;
}

void op_compare_free(op_compare *c)
{
    free(c->items);
    *c = (op_compare){0};
}
