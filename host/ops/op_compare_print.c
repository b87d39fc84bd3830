/* The comparison of two op reports, as text, CSV and JSON. */
#include <stddef.h>
#include <string.h>

#include "ops/op_compare.h"

static uint64_t average(const op_compare_side *s)
{
    return s->with_device ? (s->ns + s->with_device / 2) / s->with_device : 0;
}

static int64_t difference(const op_compare_item *x)
{
    return (int64_t)(x->after.ns - x->before.ns);
}

/* Percent by which one op takes more; false when one of them is not known. */
static bool change(const op_compare_item *x, double *percent)
{
    if (!x->before.with_device || !x->after.with_device || !x->before.ns) return false;
    double before = (double)x->before.ns / (double)x->before.with_device;
    *percent = 100 * ((double)x->after.ns / (double)x->after.with_device / before - 1);
    return true;
}

/* ---- Text --- */

static void text_line(const op_compare_item *x, bool list, const op_compare_options *o, dl_str *out)
{
    char a[DL_GROUPED_SIZE], b[DL_GROUPED_SIZE], d[DL_GROUPED_SIZE];
    int64_t by = difference(x);
    double percent;
    dl_str_fmt(out, "%17s %17s ", dl_u64_grouped(a, x->before.ns), dl_u64_grouped(b, x->after.ns));
    dl_str_fmt(out, "%c%16s ",
               by < 0 ? '-'
               : by   ? '+'
                      : ' ',
               dl_u64_grouped(d, by < 0 ? 0 - (uint64_t)by : (uint64_t)by));
    if (change(x, &percent))
        dl_str_fmt(out, "%+9.2f ", percent);
    else
        dl_str_fmt(out, "%9s ", "");
    if (list)
        dl_str_fmt(out, "%8llu %8llu", (unsigned long long)x->before.id, (unsigned long long)x->after.id);
    else
        dl_str_fmt(out, "%8llu %8llu", (unsigned long long)x->before.count,
                   (unsigned long long)x->after.count);
    dl_str_fmt(out, "  %s", x->code);
    if (x->worse) dl_str_add(out, o->colour ? "  \033[31mworse\033[0m" : "  worse");
    dl_str_char(out, '\n');
}

static void print_text(const op_compare *c, const op_table *before, const op_table *after,
                       const op_compare_options *o, dl_str *out)
{
    const char *bold = o->colour ? "\033[1m" : "", *plain = o->colour ? "\033[0m" : "";
    char n[DL_GROUPED_SIZE];
    dl_str_fmt(out, "%sDevice %s time, before: %s, after: %s%s\n", bold, o->by_fw ? "firmware" : "kernel",
               before->name, after->name, plain);
    dl_str_fmt(out, "%17s %17s %17s %9s %8s %8s  %s\n", "before [ns]", "after [ns]", "difference", "% per op",
               o->list ? "id" : "count", o->list ? "id" : "count", "op");
    for (size_t i = 0; i < c->n; i++)
        text_line(&c->items[i], o->list, o, out);
    text_line(&c->all, false, o, out);
    if (!c->same)
        dl_str_fmt(
            out,
            "The reports do not hold the same ops in the same order: op %s is '%s' before and '%s' after.\n",
            dl_u64_grouped(n, c->difference), c->here[0] ? c->here[0] : "(none)",
            c->here[1] ? c->here[1] : "(none)");
    const op_compare_side *a = &c->all.before, *b = &c->all.after;
    uint64_t without = a->count - a->with_device + b->count - b->with_device;
    if (without) dl_str_fmt(out, "%s ops have no device data.\n", dl_u64_grouped(n, without));
    if (c->below)
        dl_str_fmt(out, "%s lines are below the share asked for, and not judged.\n",
                   dl_u64_grouped(n, c->below));
    if (c->left_out)
        dl_str_fmt(out, "%s ops were left out by the filters.\n", dl_u64_grouped(n, c->left_out));
    if (o->judged)
        dl_str_fmt(out, "%s of %zu lines are worse by more than %g %%.\n", dl_u64_grouped(n, c->worse), c->n,
                   o->max_regression);
}

/* ---- For programs --- */

static const struct {
    const char *name;
    size_t at;
    bool list; /* of one op each: a number of its own instead of how many there are */
} sides[] = {
    {"id", offsetof(op_compare_side, id), true},
    {"count", offsetof(op_compare_side, count), false},
    {"with_device", offsetof(op_compare_side, with_device), false},
    {"ns", offsetof(op_compare_side, ns), false},
};
enum { N_SIDES = sizeof sides / sizeof sides[0] };

static uint64_t value_of(const op_compare_item *x, bool after, int side)
{
    return *(const uint64_t *)((const char *)(after ? &x->after : &x->before) + sides[side].at);
}

static void print_csv(const op_compare *c, const op_compare_options *o, dl_str *out)
{
    dl_str_add(out, "op_code");
    for (int i = 0; i < N_SIDES; i++)
        if (o->list || !sides[i].list) dl_str_fmt(out, ",before_%s,after_%s", sides[i].name, sides[i].name);
    dl_str_add(out, ",before_avg_ns,after_avg_ns,difference_ns,change_percent,worse\n");
    for (size_t k = 0; k < c->n; k++) {
        const op_compare_item *x = &c->items[k];
        double percent;
        dl_str_csv(out, x->code, strlen(x->code));
        for (int i = 0; i < N_SIDES; i++)
            if (o->list || !sides[i].list)
                dl_str_fmt(out, ",%llu,%llu", (unsigned long long)value_of(x, false, i),
                           (unsigned long long)value_of(x, true, i));
        dl_str_fmt(out, ",%llu,%llu,%lld,", (unsigned long long)average(&x->before),
                   (unsigned long long)average(&x->after), (long long)difference(x));
        if (change(x, &percent)) dl_str_fmt(out, "%.2f", percent);
        dl_str_add(out, x->worse ? ",1\n" : ",0\n");
    }
}

static void json_item(const op_compare_item *x, bool list, dl_str *out)
{
    double percent;
    dl_str_add(out, "{\"op_code\":");
    dl_str_json(out, x->code, strlen(x->code));
    for (int after = 0; after < 2; after++) {
        dl_str_add(out, after ? ",\"after\":{" : ",\"before\":{");
        for (int i = 0; i < N_SIDES; i++)
            if (list || !sides[i].list)
                dl_str_fmt(out, "\"%s\":%llu,", sides[i].name, (unsigned long long)value_of(x, after, i));
        dl_str_fmt(out, "\"avg_ns\":%llu}", (unsigned long long)average(after ? &x->after : &x->before));
    }
    dl_str_fmt(out, ",\"difference_ns\":%lld,\"change_percent\":", (long long)difference(x));
    if (change(x, &percent))
        dl_str_fmt(out, "%.2f", percent);
    else
        dl_str_add(out, "null");
    dl_str_fmt(out, ",\"worse\":%s}", x->worse ? "true" : "false");
}

static void print_json(const op_compare *c, const op_table *before, const op_table *after,
                       const op_compare_options *o, dl_str *out)
{
    dl_str_add(out, "{\"before\":");
    dl_str_json(out, before->name, strlen(before->name));
    dl_str_add(out, ",\"after\":");
    dl_str_json(out, after->name, strlen(after->name));
    dl_str_fmt(out, ",\"time\":\"%s\",\"same_ops\":%s,\"ops\":[", o->by_fw ? "fw" : "kernel",
               c->same ? "true" : "false");
    for (size_t k = 0; k < c->n; k++) {
        dl_str_add(out, k ? ",\n" : "\n");
        json_item(&c->items[k], o->list, out);
    }
    dl_str_add(out, "],\n\"total\":");
    json_item(&c->all, false, out);
    dl_str_fmt(out, ",\"worse\":%llu,\"below_share\":%llu,\"left_out\":%llu}\n", (unsigned long long)c->worse,
               (unsigned long long)c->below, (unsigned long long)c->left_out);
}

void op_compare_print(const op_compare *c, const op_table *before, const op_table *after,
                      const op_compare_options *o, dl_str *out)
{
    if (o->format == OP_COMPARE_CSV)
        print_csv(c, o, out);
    else if (o->format == OP_COMPARE_JSON)
        print_json(c, before, after, o, out);
    else
        print_text(c, before, after, o, out);
}
