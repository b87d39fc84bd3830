/* Two op reports beside one another. Not for how it is printed (op_compare_print.c). */
#include "ops/op_compare.h"

#include <stdlib.h>
#include <string.h>

#include "ops/op_host_time.h"

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
    const uint64_t fw = r->has & OP_HAS_FW ? r->fw_ns : 0, kernel = r->has & OP_HAS_KERNEL ? r->kernel_ns : 0;
    const uint64_t ns = by_fw ? fw : kernel, other = by_fw ? kernel : fw;
    to->with_device += ns != 0;
    to->ns += ns;
    to->with_other += other != 0;
    to->other_ns += other;
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
        if (!op_filter_lets(&o->filter, code)) {
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
        if (!op_filter_lets(&o->filter, code)) {
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

/* ---- The judgement --- */

static bool grew(double before, double after, double percent)
{
    return after > before * (1 + percent / 100);
}

static uint8_t judge_counts(const op_compare_side *before, const op_compare_side *after,
                            const op_compare_options *o)
{
    double x = (double)before->count, y = (double)after->count;
    uint8_t worse = 0;
    if (!before->count || !after->count) {
        if (!o->other_ops) worse |= before->count ? OP_WORSE_GONE : OP_WORSE_NEW;
        return worse;
    }
    if (!o->other_ops && (grew(x, y, o->max_regression) || grew(y, x, o->max_regression)))
        worse |= OP_WORSE_COUNT;
    if ((double)after->with_device * x < (double)before->with_device * y ||
        (double)after->with_other * x < (double)before->with_other * y)
        worse |= OP_WORSE_DATA;
    return worse;
}

/* One op of a line against one before. */
static uint8_t judge_item(const op_compare_item *x, const op_compare_options *o)
{
    uint8_t worse = judge_counts(&x->before, &x->after, o);
    const op_compare_side *b = &x->before, *a = &x->after;
    if (b->with_device && a->with_device &&
        grew((double)b->ns / (double)b->with_device, (double)a->ns / (double)a->with_device,
             o->max_regression))
        worse |= OP_WORSE_TIME;
    if (b->with_other && a->with_other &&
        grew((double)b->other_ns / (double)b->with_other, (double)a->other_ns / (double)a->with_other,
             o->max_regression))
        worse |= OP_WORSE_OTHER;
    return worse;
}

/* All ops together, with their host times and the gaps between them. */
static uint8_t judge_total(const op_compare_item *all, const op_compare_options *o)
{
    const op_compare_side *x = &all->before, *y = &all->after;
    double host = o->host_told ? o->max_host : OP_COMPARE_HOST;
    if (!o->host_told && host < o->max_regression) host = o->max_regression;
    uint8_t worse = judge_counts(x, y, o);
    if (!y->with_device || (x->with_host && !y->with_host) || (x->with_gap && !y->with_gap))
        worse |= OP_WORSE_DATA;
    if (grew((double)x->ns, (double)y->ns, o->max_regression)) worse |= OP_WORSE_TIME;
    if (x->with_other && grew((double)x->other_ns, (double)y->other_ns, o->max_regression))
        worse |= OP_WORSE_OTHER;
    if (x->with_host && grew((double)x->host_ns, (double)y->host_ns, host)) worse |= OP_WORSE_HOST;
    if (x->with_gap && grew((double)x->gap_ns, (double)y->gap_ns, host)) worse |= OP_WORSE_GAPS;
    return worse;
}

static void add_side(op_compare_side *to, const op_compare_side *from)
{
    to->count += from->count;
    to->with_device += from->with_device;
    to->ns += from->ns;
    to->with_other += from->with_other;
    to->other_ns += from->other_ns;
}

/* Gaps and host times of one report. False: no memory. */
static bool add_total(op_compare_side *to, const op_table *t, const op_compare_options *o)
{
    op_host_times *times = op_host_times_new();
    size_t at = 0;
    bool good = times != NULL;
    for (const op_table_row *r; good && (r = next_op(t, &at));) {
        if (!op_filter_lets(&o->filter, code_of(t, r))) continue;
        to->with_host += (r->has & OP_HAS_HOST) != 0;
        to->with_gap += (r->has & OP_HAS_GAP) != 0;
        if ((r->has & OP_HAS_GAP) && r->gap_ns > 0) to->gap_ns += (uint64_t)r->gap_ns;
        if (r->has & OP_HAS_IDLE) to->gap_ns += r->idle_ns;
        good = op_host_times_add(times, r, 0);
    }
    if (good) op_host_times_sum(times, &to->host_ns);
    op_host_times_free(times);
    return good;
}

/* ---- All of it --- */

static void finish(op_compare *c, const op_compare_options *o)
{
    for (size_t i = 0; i < c->n; i++) {
        add_side(&c->all.before, &c->items[i].before);
        add_side(&c->all.after, &c->items[i].after);
    }
    c->all.worse = o->judged ? judge_total(&c->all, o) : 0;
    c->worse += c->all.worse != 0;
    size_t n = c->n;
    c->n = 0;
    for (size_t i = 0; i < n; i++) {
        op_compare_item x = c->items[i];
        if (share(x.before.ns, c->all.before.ns) < o->min_share &&
            share(x.after.ns, c->all.after.ns) < o->min_share) {
            c->below++;
            continue;
        }
        x.worse = o->judged ? judge_item(&x, o) : 0;
        c->worse += x.worse != 0;
        c->items[c->n++] = x;
    }
    if (!o->list && c->n) qsort(c->items, c->n, sizeof *c->items, by_difference);
}

devlog_status op_compare_make(op_compare *c, const op_table *before, const op_table *after,
                              const op_compare_options *o, devlog_error *err)
{
    *c = (op_compare){.all = {.code = "in total"}};
    const op_table *both[] = {before, after};
    devlog_status status = op_filter_check(&o->filter, both, 2, err);
    if (status) return status;
    find_difference(c, before, after);
    if (o->list && !c->same)
        return dl_fail(
            err, DEVLOG_ERR_FORMAT,
            "the reports do not hold the same ops in the same order: op %llu is '%s' in %s and '%s' in %s; "
            "without --list they are compared by op code",
            (unsigned long long)c->difference, c->here[0] ? c->here[0] : "(none)", before->name,
            c->here[1] ? c->here[1] : "(none)", after->name);
    if (!(o->list ? compare_ops : compare_codes)(c, before, after, o) ||
        !add_total(&c->all.before, before, o) || !add_total(&c->all.after, after, o)) {
        op_compare_free(c);
        return dl_fail(err, DEVLOG_ERR_MEMORY, "out of memory");
    }
    finish(c, o);
    if (o->judged && !c->all.before.with_device) {
        op_compare_free(c);
        return dl_fail(err, DEVLOG_ERR_NOT_FOUND,
                       "%s has no device data%s: there is nothing that another report could be judged by",
                       before->name, o->filter.n ? " of these ops" : "");
    }
    return DEVLOG_OK;
}

void op_compare_free(op_compare *c)
{
    free(c->items);
    *c = (op_compare){0};
}
