/* The comparison of two op reports, as text, CSV and JSON. */
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "base/grid.h"
#include "base/real.h"
#include "decode/samples.h"
#include "ops/op_columns.h"
#include "ops/op_compare.h"

/* Nothing is rounded to whole nanoseconds: a reader may do that. */
static void exact_average(const op_compare_side *s, const char *none, dl_str *out)
{
    if (s->with_device)
        dl_str_real(out, dl_summary_average(&(dl_summary){.count = s->with_device, .sum = s->ns}));
    else
        dl_str_add(out, none);
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

static const struct {
    uint8_t bit;
    const char *key, *text;
} reasons[] = {
    {OP_WORSE_TIME, "time", "worse"},
    {OP_WORSE_COUNT, "count", "another count"},
    {OP_WORSE_DATA, "data", "data missing"},
    {OP_WORSE_GONE, "gone", "gone"},
    {OP_WORSE_NEW, "new", "new"},
    {OP_WORSE_HOST, "host", "host times longer"},
    {OP_WORSE_GAPS, "gaps", "gaps longer"},
    {OP_WORSE_OTHER, "other", "the other device duration longer"},
};
enum { N_REASONS = sizeof reasons / sizeof reasons[0] };

/* Whether the sum of a side's device times is known: of ops without any it is not, of no ops it is 0. */
static bool has_sum(const op_compare_side *s)
{
    return s->with_device || !s->count;
}

/* ---- Text --- */

static void reasons_text(uint8_t worse, const op_compare_options *o, dl_str *out)
{
    if (!worse) return;
    bool any = false;
    if (o->colour) dl_str_add(out, "\033[31m");
    for (int i = 0; i < N_REASONS; i++) {
        if (!(worse & reasons[i].bit)) continue;
        dl_str_fmt(out, "%s%s", any ? ", " : "", reasons[i].text);
        any = true;
    }
    if (o->colour) dl_str_add(out, "\033[0m");
}

static const char *sum_text(char out[DL_GROUPED_SIZE], bool known, uint64_t ns)
{
    return known ? dl_u64_grouped(out, ns) : "-";
}

static const dl_grid_column columns[] = {
    {"before [ns]", DL_GRID_RIGHT, 0}, {"after [ns]", DL_GRID_RIGHT, 0},
    {"difference", DL_GRID_RIGHT, 3},  {"% per op", DL_GRID_RIGHT, 0},
    {"before", DL_GRID_RIGHT, 2},      {"after", DL_GRID_RIGHT, 2},
    {"op", DL_GRID_NAME, 0},           {"", DL_GRID_RED, 0},
};

static void text_line(const op_compare_item *x, const char *name, bool list, dl_grid *grid)
{
    char digits[DL_GROUPED_SIZE];
    int64_t by = difference(x);
    bool known = has_sum(&x->before) && has_sum(&x->after);
    double percent;
    dl_str why = {0};
    dl_grid_text(grid, sum_text(digits, has_sum(&x->before), x->before.ns));
    dl_grid_text(grid, sum_text(digits, has_sum(&x->after), x->after.ns));
    dl_grid_fmt(grid, "%s%s",
                !known || !by ? ""
                : by < 0      ? "-"
                              : "+",
                sum_text(digits, known, by < 0 ? 0 - (uint64_t)by : (uint64_t)by));
    if (change(x, &percent))
        dl_grid_fmt(grid, "%+.2f", percent);
    else
        dl_grid_text(grid, "");
    for (int i = 0; i < 2; i++) {
        const op_compare_side *side = i ? &x->after : &x->before;
        if (list) /* as --ids wants it */
            dl_grid_fmt(grid, "%llu", (unsigned long long)side->id);
        else
            dl_grid_u64(grid, side->count);
    }
    dl_grid_text(grid, name);
    reasons_text(x->worse, &(op_compare_options){0}, &why);
    dl_grid_text(grid, why.text ? why.text : "");
    dl_str_free(&why);
}

/* Host times or gaps of all ops. */
static void other_times(const char *what, uint64_t with[2], uint64_t ns[2], dl_grid *grid)
{
    char digits[DL_GROUPED_SIZE];
    if (!with[0] && !with[1]) return;
    dl_grid_text(grid, sum_text(digits, with[0], ns[0]));
    dl_grid_text(grid, sum_text(digits, with[1], ns[1]));
    for (int i = 0; i < 4; i++)
        dl_grid_text(grid, "");
    dl_grid_text(grid, what);
    dl_grid_text(grid, "");
}

static void difference_text(const op_compare *c, bool markdown, dl_str *out)
{
    char n[DL_GROUPED_SIZE];
    const char *sides[] = {"before", "after"};
    dl_str_fmt(out, "The reports do not hold the same ops in the same order: op %s is",
               dl_u64_grouped(n, c->difference));
    for (int i = 0; i < 2; i++) {
        const char *code = c->here[i] ? c->here[i] : "(none)";
        dl_str_add(out, i ? " and '" : " '");
        dl_str_name(out, code, markdown);
        dl_str_fmt(out, "' %s", sides[i]);
    }
    dl_str_add(out, ".\n");
}

static void judgement_text(const op_compare *c, const op_compare_options *o, dl_str *out)
{
    char n[DL_GROUPED_SIZE];
    uint64_t lines = c->worse - (c->all.worse != 0);
    dl_str_fmt(out, "%s of %zu lines are worse by more than %g %%", dl_u64_grouped(n, lines), c->n,
               o->max_regression);
    if (c->all.worse) {
        dl_str_add(out, ", and in total: ");
        reasons_text(c->all.worse, o, out);
    }
    dl_str_add(out, ".\n");
    if (!c->all.after.with_device) dl_str_add(out, "The report after has no device data.\n");
}

static void print_text(const op_compare *c, const op_table *before, const op_table *after,
                       const op_compare_options *o, dl_str *out)
{
    const bool markdown = o->format == OP_COMPARE_MARKDOWN;
    const char *bold = markdown    ? "### "
                       : o->colour ? "\033[1m"
                                   : "",
               *plain = markdown    ? "\n"
                        : o->colour ? "\033[0m"
                                    : "";
    char n[DL_GROUPED_SIZE];
    dl_str_fmt(out, "%sDevice %s time, before: ", bold, o->by_fw ? "firmware" : "kernel");
    dl_str_name(out, before->name, markdown);
    dl_str_add(out, ", after: ");
    dl_str_name(out, after->name, markdown);
    dl_str_fmt(out, "%s\n", plain);
    dl_grid grid = DL_GRID(columns);
    grid.colour = o->colour;
    grid.columns[4].title = o->list ? "id before" : "count before";
    grid.columns[5].title = o->list ? "id after" : "count after";
    size_t shown = 0;
    for (size_t i = 0; i < c->n; i++) {
        if (o->top && i >= o->top && !c->items[i].worse) continue; /* what is worse is always shown */
        text_line(&c->items[i], c->items[i].code, o->list, &grid);
        shown++;
    }
    if (shown < c->n) {
        char line[100];
        snprintf(line, sizeof line, "... and %s more (--top N shows more, --top 0 all)",
                 dl_u64_grouped(n, c->n - shown));
        dl_grid_note(&grid, line);
    }
    text_line(&c->all, c->all.code, false, &grid);
    const op_compare_side *x = &c->all.before, *y = &c->all.after;
    other_times("gaps between and inside ops [ns]", (uint64_t[]){x->with_gap, y->with_gap},
                (uint64_t[]){x->gap_ns, y->gap_ns}, &grid);
    other_times("host time inside ops [ns]", (uint64_t[]){x->with_host, y->with_host},
                (uint64_t[]){x->host_ns, y->host_ns}, &grid);
    dl_grid_print(&grid, markdown ? DL_GRID_MARKDOWN : o->width, out);
    if (before->instructions || after->instructions) dl_str_add(out, OP_INSTRUCTIONS_TEXT);
    if (before->aiclk.high || after->aiclk.high) {
        dl_str_add(out, "AICLK: ");
        op_aiclk_text(&before->aiclk, out);
        dl_str_add(out, " before, ");
        op_aiclk_text(&after->aiclk, out);
        dl_str_add(out, " after.\n");
    }
    if (!c->same) difference_text(c, markdown, out);
    uint64_t without = x->count - x->with_device + y->count - y->with_device;
    if (without) dl_str_fmt(out, "%s ops have no device data.\n", dl_u64_grouped(n, without));
    if (c->below)
        dl_str_fmt(out, "%s lines are below the share asked for, and not judged.\n",
                   dl_u64_grouped(n, c->below));
    if (c->left_out)
        dl_str_fmt(out, "%s ops were left out by the filters.\n", dl_u64_grouped(n, c->left_out));
    if (o->judged) judgement_text(c, o, out);
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

static void reasons_keys(uint8_t worse, const char *quote, const char *between, dl_str *out)
{
    bool any = false;
    for (int i = 0; i < N_REASONS; i++) {
        if (!(worse & reasons[i].bit)) continue;
        dl_str_fmt(out, "%s%s%s%s", any ? between : "", quote, reasons[i].key, quote);
        any = true;
    }
}

static bool is_known(const op_compare_item *x, bool after, int side)
{
    return sides[side].at != offsetof(op_compare_side, ns) || has_sum(after ? &x->after : &x->before);
}

static void csv_number(bool known, uint64_t value, dl_str *out)
{
    dl_str_char(out, ',');
    if (known) dl_str_u64(out, value);
}

static void print_csv(const op_compare *c, const op_compare_options *o, dl_str *out)
{
    dl_str_add(out, "op_code");
    for (int i = 0; i < N_SIDES; i++)
        if (o->list || !sides[i].list) dl_str_fmt(out, ",before_%s,after_%s", sides[i].name, sides[i].name);
    dl_str_add(out, ",before_avg_ns,after_avg_ns,difference_ns,change_percent,worse,why\n");
    for (size_t k = 0; k < c->n; k++) {
        const op_compare_item *x = &c->items[k];
        double percent;
        dl_str_csv(out, x->code, strlen(x->code));
        for (int i = 0; i < N_SIDES; i++) {
            if (!o->list && sides[i].list) continue;
            for (int after = 0; after < 2; after++)
                csv_number(is_known(x, after, i), value_of(x, after, i), out);
        }
        dl_str_char(out, ',');
        exact_average(&x->before, "", out);
        dl_str_char(out, ',');
        exact_average(&x->after, "", out);
        dl_str_char(out, ',');
        if (has_sum(&x->before) && has_sum(&x->after)) dl_str_fmt(out, "%lld", (long long)difference(x));
        dl_str_char(out, ',');
        if (change(x, &percent)) dl_str_real(out, percent);
        dl_str_add(out, x->worse ? ",1," : ",0,");
        reasons_keys(x->worse, "", " ", out);
        dl_str_char(out, '\n');
    }
}

static void json_number(bool known, uint64_t value, dl_str *out)
{
    if (known)
        dl_str_u64(out, value);
    else
        dl_str_add(out, "null");
}

static void json_total(const op_compare_side *s, dl_str *out)
{
    dl_str_add(out, ",\"gap_ns\":");
    json_number(s->with_gap, s->gap_ns, out);
    dl_str_add(out, ",\"host_ns\":");
    json_number(s->with_host, s->host_ns, out);
}

static void json_item(const op_compare_item *x, bool list, bool total, dl_str *out)
{
    double percent;
    dl_str_add(out, "{\"op_code\":");
    dl_str_json(out, x->code, strlen(x->code));
    for (int after = 0; after < 2; after++) {
        const op_compare_side *s = after ? &x->after : &x->before;
        dl_str_add(out, after ? ",\"after\":{" : ",\"before\":{");
        for (int i = 0; i < N_SIDES; i++) {
            if (!list && sides[i].list) continue;
            dl_str_fmt(out, "\"%s\":", sides[i].name);
            json_number(is_known(x, after, i), value_of(x, after, i), out);
            dl_str_char(out, ',');
        }
        dl_str_add(out, "\"avg_ns\":");
        exact_average(s, "null", out);
        if (total) json_total(s, out);
        dl_str_char(out, '}');
    }
    dl_str_add(out, ",\"difference_ns\":");
    if (has_sum(&x->before) && has_sum(&x->after))
        dl_str_fmt(out, "%lld", (long long)difference(x));
    else
        dl_str_add(out, "null");
    dl_str_add(out, ",\"change_percent\":");
    if (change(x, &percent))
        dl_str_real(out, percent);
    else
        dl_str_add(out, "null");
    dl_str_fmt(out, ",\"worse\":%s,\"why\":[", x->worse ? "true" : "false");
    reasons_keys(x->worse, "\"", ",", out);
    dl_str_add(out, "]}");
}

static void print_json(const op_compare *c, const op_table *before, const op_table *after,
                       const op_compare_options *o, dl_str *out)
{
    dl_str_add(out, "{\"format\":\"devlog-ops-compare-1\",\"before\":");
    dl_str_json(out, before->name, strlen(before->name));
    dl_str_add(out, ",\"after\":");
    dl_str_json(out, after->name, strlen(after->name));
    dl_str_fmt(out, ",\"time\":\"%s\",\"same_ops\":%s,%s", o->by_fw ? "fw" : "kernel",
               c->same ? "true" : "false",
               before->instructions || after->instructions ? "\"cycles_are_instructions\":true," : "");
    op_aiclk_json(&before->aiclk, "aiclk_mhz_before", out);
    op_aiclk_json(&after->aiclk, "aiclk_mhz_after", out);
    dl_str_add(out, "\"ops\":[");
    for (size_t k = 0; k < c->n; k++) {
        dl_str_add(out, k ? ",\n" : "\n");
        json_item(&c->items[k], o->list, false, out);
    }
    dl_str_add(out, "],\n\"total\":");
    json_item(&c->all, false, true, out);
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
