/* Where the device time of an op report went. */
#include "ops/op_summary.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/grid.h"
#include "base/real.h"
#include "decode/samples.h"
#include "ops/op_columns.h"
#include "ops/op_host_time.h"

static void add(op_summary_item *to, const op_table_row *r, bool by_fw)
{
    bool has = r->has & (by_fw ? OP_HAS_FW : OP_HAS_KERNEL);
    uint64_t ns = by_fw ? r->fw_ns : r->kernel_ns;
    to->count++;
    to->with_host += (r->has & OP_HAS_HOST) != 0; /* its time: op_host_time.h */
    to->with_fw += (r->has & OP_HAS_FW) != 0;
    to->with_kernel += (r->has & OP_HAS_KERNEL) != 0;
    to->with_gap += (r->has & OP_HAS_GAP) != 0;
    if (r->has & OP_HAS_FW) to->fw_ns += r->fw_ns;
    if (r->has & OP_HAS_KERNEL) to->kernel_ns += r->kernel_ns;
    if (r->has & OP_HAS_GAP) to->gap_ns += r->gap_ns;
    if ((r->has & OP_HAS_CORES) && r->cores) {
        if (to->cores_min == 0 || r->cores < to->cores_min) to->cores_min = r->cores;
        if (r->cores > to->cores_max) to->cores_max = r->cores;
    }
    if (!has) return;
    if (to->with_device++ == 0 || ns < to->min_ns) to->min_ns = ns;
    if (ns > to->max_ns) to->max_ns = ns;
    to->total_ns += ns;
}

static double percent_of(uint64_t part, uint64_t whole)
{
    return whole ? 100.0 * (double)part / (double)whole : 0;
}

typedef struct ranked {
    op_summary_item item;
    size_t at;
} ranked;

static int by_total(const void *a, const void *b)
{
    const ranked *x = a, *y = b;
    if (x->item.total_ns != y->item.total_ns) return x->item.total_ns > y->item.total_ns ? -1 : 1;
    return x->at < y->at ? -1 : x->at > y->at; /* as they first came */
}

static bool is_point(const op_table *t, size_t i, const char *name)
{
    return (t->rows[i].has & OP_IS_POINT) &&
           strcmp(dl_intern_text(t->texts, t->rows[i].code, NULL), name) == 0;
}

/* The rows between the two signposts. */
static devlog_status window(const op_table *t, const op_summary_options *o, size_t *from, size_t *to,
                            devlog_error *err)
{
    *from = 0;
    *to = t->n;
    if (o->from) {
        while (*from < t->n && !is_point(t, *from, o->from))
            ++*from;
        if (*from == t->n) return op_filter_no_point(t, o->from, NULL, err);
    }
    if (o->to) {
        *to = *from;
        while (*to < t->n && !is_point(t, *to, o->to))
            ++*to;
        if (*to == t->n) return op_filter_no_point(t, o->to, o->from, err);
    }
    return DEVLOG_OK;
}

/* Puts the items in order, and leaves those with a small share out. */
static bool finish(op_summary *s, const op_summary_options *o)
{
    ranked *order = malloc((s->n + 1) * sizeof *order);
    if (!order) return false;
    for (size_t i = 0; i < s->n; i++)
        order[i] = (ranked){s->items[i], i};
    if (!o->list) qsort(order, s->n, sizeof *order, by_total);
    size_t n = s->n;
    s->n = 0;
    for (size_t i = 0; i < n; i++) {
        if (percent_of(order[i].item.total_ns, s->all.total_ns) < o->min_share)
            s->below++;
        else
            s->items[s->n++] = order[i].item;
    }
    free(order);
    return true;
}

/* Filters that let nothing through are a mistake; says what there is. */
static devlog_status check_filters(const op_summary *s, const op_table *t, const op_summary_options *o,
                                   devlog_error *err)
{
    uint64_t first = UINT64_MAX, last = 0;
    devlog_status status = op_filter_check(&o->filter, &t, 1, err);
    if (status) return status;
    if (!s->left_out || s->all.count) return DEVLOG_OK;
    for (size_t i = 0; i < t->n; i++) {
        if (t->rows[i].has & OP_IS_POINT) continue;
        if (t->rows[i].id < first) first = t->rows[i].id;
        if (t->rows[i].id > last) last = t->rows[i].id;
    }
    if (o->first > last || (o->last && o->last < first))
        return dl_fail(err, DEVLOG_ERR_NOT_FOUND, "--ids: no such op; those of %s are %llu to %llu", t->name,
                       (unsigned long long)first, (unsigned long long)last);
    return dl_fail(err, DEVLOG_ERR_NOT_FOUND, "the filters together leave nothing of the ops of %s", t->name);
}

/* Host times of the lines and of all together. */
static void give_host_times(op_summary *s, op_host_times *lines, op_host_times *all, uint64_t *sums)
{
    memset(sums, 0, (s->n + 1) * sizeof *sums);
    op_host_times_sum(lines, sums);
    for (size_t i = 0; i < s->n; i++)
        s->items[i].host_ns = sums[i];
    op_host_times_sum(all, &s->all.host_ns);
}

devlog_status op_summary_make(op_summary *s, const op_table *t, const op_summary_options *o,
                              devlog_error *err)
{
    *s = (op_summary){0};
    size_t from, to;
    devlog_status status = window(t, o, &from, &to, err);
    if (status) return status;
    uint32_t n_texts = dl_intern_count(t->texts);
    size_t most = (o->list ? t->n : n_texts) + 1;
    uint32_t *group = calloc(n_texts + 1, sizeof *group); /* by op code: number of the item + 1 */
    uint64_t *sums = malloc(most * sizeof *sums);
    op_host_times *lines = op_host_times_new(), *all = op_host_times_new();
    s->items = malloc(most * sizeof *s->items);
    bool good = group && sums && lines && all && s->items;
    for (size_t i = 0; i < t->n && good; i++) {
        const op_table_row *r = &t->rows[i];
        if (r->has & OP_IS_POINT) continue;
        bool in = i >= from && i < to && r->id >= o->first && (o->last == 0 || r->id <= o->last);
        if (!in || !op_filter_lets(&o->filter, dl_intern_text(t->texts, r->code, NULL))) {
            s->left_out++;
            continue;
        }
        op_summary_item *item = !o->list && group[r->code] ? &s->items[group[r->code] - 1] : NULL;
        if (!item) {
            item = &s->items[s->n++];
            *item = (op_summary_item){.code = r->code, .type = r->type, .id = r->id};
            group[r->code] = (uint32_t)s->n;
        }
        add(item, r, o->by_fw);
        add(&s->all, r, o->by_fw);
        good = op_host_times_add(lines, r, (uint32_t)(item - s->items)) && op_host_times_add(all, r, 0);
    }
    if (good) give_host_times(s, lines, all, sums);
    op_host_times_free(lines);
    op_host_times_free(all);
    free(sums);
    free(group);
    if (good) status = check_filters(s, t, o, err);
    if (good && !status) good = finish(s, o);
    if (!good) status = dl_fail(err, DEVLOG_ERR_MEMORY, "out of memory");
    if (status) op_summary_free(s);
    return status;
}

void op_summary_free(op_summary *s)
{
    free(s->items);
    *s = (op_summary){0};
}

/* ---- Printing --- */

/* For people: two decimals. */
static void share(dl_str *out, uint64_t part, uint64_t whole)
{
    dl_str_fmt(out, "%.2f", percent_of(part, whole));
}

static uint64_t average(const op_summary_item *x)
{
    return x->with_device ? (x->total_ns + x->with_device / 2) / x->with_device : 0;
}

static void cores_text(const op_summary_item *x, char out[32])
{
    if (x->cores_max == 0)
        out[0] = 0;
    else if (x->cores_min == x->cores_max)
        snprintf(out, 32, "%u", x->cores_max);
    else
        snprintf(out, 32, "%u-%u", x->cores_min, x->cores_max);
}

static const char *name_of(const op_table *t, const op_summary_item *x, size_t *n)
{
    return dl_intern_text(t->texts, x->code, n);
}

/* A number with its thousands apart, or "-" when it is not known. */
static const char *known(char out[DL_GROUPED_SIZE], bool is_known, uint64_t value)
{
    return is_known ? dl_u64_grouped(out, value) : "-";
}

enum { COUNT, SHARE, TIME, AVERAGE, MIN, MAX, CORES, GAP, NAME };
static const dl_grid_column columns[] = {
    [COUNT] = {"count", DL_GRID_RIGHT, 0},     [SHARE] = {"share %", DL_GRID_RIGHT, 0},
    [TIME] = {"total [ns]", DL_GRID_RIGHT, 0}, [AVERAGE] = {"avg [ns]", DL_GRID_RIGHT, 1},
    [MIN] = {"min", DL_GRID_RIGHT, 4},         [MAX] = {"max", DL_GRID_RIGHT, 3},
    [CORES] = {"cores", DL_GRID_RIGHT, 5},     [GAP] = {"gap before", DL_GRID_RIGHT, 2},
    [NAME] = {"op", DL_GRID_NAME, 0},
};

static void text_line(const op_summary *s, const op_summary_item *x, const char *name, bool list,
                      dl_grid *grid)
{
    char digits[DL_GROUPED_SIZE], cores[32];
    dl_str percent = {0};
    if (x->with_device)
        share(&percent, x->total_ns, s->all.total_ns);
    else
        dl_str_char(&percent, '-');
    cores_text(x, cores);
    if (list) /* as --ids wants it */
        dl_grid_fmt(grid, "%llu", (unsigned long long)x->id);
    else
        dl_grid_u64(grid, x->count);
    dl_grid_text(grid, percent.text ? percent.text : "");
    dl_grid_text(grid, known(digits, x->with_device, x->total_ns));
    dl_grid_text(grid, known(digits, x->with_device, average(x)));
    dl_grid_text(grid, known(digits, x->with_device, x->min_ns));
    dl_grid_text(grid, known(digits, x->with_device, x->max_ns));
    dl_grid_text(grid, cores);
    uint64_t gap = x->gap_ns < 0 ? 0 - (uint64_t)x->gap_ns : (uint64_t)x->gap_ns;
    dl_grid_fmt(grid, "%s%s", x->gap_ns < 0 ? "-" : "", known(digits, x->with_gap, gap));
    dl_grid_text(grid, name);
    dl_str_free(&percent);
}

/* A line of what the chips said of their clocks. */
static void aiclk_text(const op_table *t, dl_str *out)
{
    if (t->aiclk.high == 0) return;
    dl_str_add(out, "AICLK: ");
    op_aiclk_text(&t->aiclk, out);
    dl_str_add(out, ".\n");
}

static void print_text(const op_summary *s, const op_table *t, const op_summary_options *o, dl_str *out)
{
    const bool markdown = o->format == OP_SUMMARY_MARKDOWN, colour = o->colour && !markdown;
    const char *bold = markdown ? "### "
                       : colour ? "\033[1m"
                                : "",
               *plain = markdown ? "\n"
                        : colour ? "\033[0m"
                                 : "";
    dl_str_fmt(out, "%sDevice %s time by op, ", bold, o->by_fw ? "firmware" : "kernel");
    dl_str_name(out, t->name, markdown);
    dl_str_fmt(out, "%s\n", plain);
    char a[DL_GROUPED_SIZE];
    dl_grid grid = DL_GRID(columns);
    if (o->list) {
        grid.columns[COUNT].title = "id";
        grid.columns[TIME].title = "time [ns]";
        for (int i = AVERAGE; i <= MAX; i++)
            grid.columns[i].flags |= DL_GRID_GONE;
    }
    size_t shown = o->top && o->top < s->n ? o->top : s->n;
    for (size_t i = 0; i < shown; i++)
        text_line(s, &s->items[i], name_of(t, &s->items[i], NULL), o->list, &grid);
    if (shown < s->n) {
        char line[100];
        snprintf(line, sizeof line, "... and %s more (--top N shows more, --top 0 all)",
                 dl_u64_grouped(a, s->n - shown));
        dl_grid_note(&grid, line);
    }
    op_summary_item all = s->all;
    all.id = s->all.count;
    text_line(s, &all, "in total", o->list, &grid);
    dl_grid_print(&grid, markdown ? DL_GRID_MARKDOWN : o->width, out);
    if (t->instructions) dl_str_add(out, OP_INSTRUCTIONS_TEXT);
    aiclk_text(t, out);
    uint64_t without = s->all.count - s->all.with_device;
    if (without) dl_str_fmt(out, "%s ops have no device data.\n", dl_u64_grouped(a, without));
    if (s->below) dl_str_fmt(out, "%s lines are below the share asked for.\n", dl_u64_grouped(a, s->below));
    if (s->left_out)
        dl_str_fmt(out, "%s ops were left out by the filters.\n", dl_u64_grouped(a, s->left_out));
}

static const struct {
    const char *name;
    size_t at, known; /* known: how many rows say it; no row, no number */
} numbers[] = {
#define NUMBER(name, known)                                                                                  \
    {                                                                                                        \
#name, offsetof(op_summary_item, name), offsetof(op_summary_item, known)                             \
    }
    NUMBER(count, count),        NUMBER(with_device, count),  NUMBER(total_ns, with_device),
    NUMBER(min_ns, with_device), NUMBER(max_ns, with_device), NUMBER(kernel_ns, with_kernel),
    NUMBER(fw_ns, with_fw),      NUMBER(host_ns, with_host),
#undef NUMBER
};
enum { N_NUMBERS = sizeof numbers / sizeof numbers[0] };

static uint64_t member(const op_summary_item *x, size_t at)
{
    return *(const uint64_t *)((const char *)x + at);
}

/* All numbers of a line, each behind `before` of its name; what is not known is `none`. */
static void print_numbers(const op_summary *s, const op_summary_item *x, bool json, dl_str *out)
{
    const char *none = json ? "null" : "";
#define BEGIN(name)                                                                                          \
    (json ? dl_str_fmt(out, "%s\"%s\":", first ? "" : ",", name) : dl_str_char(out, ','), first = false)
    bool first = true;
    for (int i = 0; i < N_NUMBERS; i++) {
        BEGIN(numbers[i].name);
        /* How many there are is known when there are none. */
        if (i < 2 || member(x, numbers[i].known))
            dl_str_u64(out, member(x, numbers[i].at));
        else
            dl_str_add(out, none);
    }
    BEGIN("avg_ns");
    if (x->with_device)
        dl_str_real(out, dl_summary_average(&(dl_summary){.count = x->with_device, .sum = x->total_ns}));
    else
        dl_str_add(out, none);
    BEGIN("gap_ns");
    if (x->with_gap)
        dl_str_fmt(out, "%lld", (long long)x->gap_ns);
    else
        dl_str_add(out, none);
    BEGIN("cores_min");
    if (x->cores_max)
        dl_str_u64(out, x->cores_min);
    else
        dl_str_add(out, none);
    BEGIN("cores_max");
    if (x->cores_max)
        dl_str_u64(out, x->cores_max);
    else
        dl_str_add(out, none);
    BEGIN("share_percent");
    if (x->with_device)
        dl_str_real(out, percent_of(x->total_ns, s->all.total_ns));
    else
        dl_str_add(out, none);
#undef BEGIN
}

static void print_csv(const op_summary *s, const op_table *t, const op_summary_options *o, dl_str *out)
{
    dl_str_add(out, o->list ? "id,op_code,op_type" : "op_code,op_type");
    for (int i = 0; i < N_NUMBERS; i++)
        dl_str_fmt(out, ",%s", numbers[i].name);
    dl_str_add(out, ",avg_ns,gap_ns,cores_min,cores_max,share_percent\n");
    for (size_t k = 0; k < s->n; k++) {
        const op_summary_item *x = &s->items[k];
        size_t n;
        const char *name = name_of(t, x, &n);
        if (o->list) dl_str_fmt(out, "%llu,", (unsigned long long)x->id);
        dl_str_csv(out, name, n);
        dl_str_char(out, ',');
        name = dl_intern_text(t->texts, x->type, &n);
        dl_str_csv(out, name, n);
        print_numbers(s, x, false, out);
        dl_str_char(out, '\n');
    }
}

static void print_json(const op_summary *s, const op_table *t, const op_summary_options *o, dl_str *out)
{
    dl_str_add(out, "{\"format\":\"devlog-ops-summary-1\",\"file\":");
    dl_str_json(out, t->name, strlen(t->name));
    dl_str_fmt(out, ",\"time\":\"%s\",%s", o->by_fw ? "fw" : "kernel",
               t->instructions ? "\"cycles_are_instructions\":true," : "");
    op_aiclk_json(&t->aiclk, "aiclk_mhz", out);
    dl_str_add(out, "\"ops\":[");
    for (size_t k = 0; k < s->n; k++) {
        const op_summary_item *x = &s->items[k];
        size_t n;
        const char *name = name_of(t, x, &n);
        dl_str_add(out, k ? ",\n{" : "\n{");
        if (o->list) dl_str_fmt(out, "\"id\":%llu,", (unsigned long long)x->id);
        dl_str_add(out, "\"op_code\":");
        dl_str_json(out, name, n);
        dl_str_add(out, ",\"op_type\":");
        name = dl_intern_text(t->texts, x->type, &n);
        dl_str_json(out, name, n);
        dl_str_char(out, ',');
        print_numbers(s, x, true, out);
        dl_str_char(out, '}');
    }
    dl_str_add(out, "],\n\"total\":{");
    print_numbers(s, &s->all, true, out);
    dl_str_fmt(out,
               "},\"left_out\":%llu,\"below_share\":%llu,\"bad_cells\":%llu,"
               "\"short_rows\":%llu}\n",
               (unsigned long long)s->left_out, (unsigned long long)s->below,
               (unsigned long long)t->bad_cells, (unsigned long long)t->short_rows);
}

void op_summary_print(const op_summary *s, const op_table *t, const op_summary_options *o, dl_str *out)
{
    if (o->format == OP_SUMMARY_CSV)
        print_csv(s, t, o, out);
    else if (o->format == OP_SUMMARY_JSON)
        print_json(s, t, o, out);
    else
        print_text(s, t, o, out);
}
