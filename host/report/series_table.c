/* Tables of what is no zone: sums, values and counters, events, and the messages of kernels. */
#include "report/series_table.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/grid.h"
#include "decode/analysis/counter_groups.h"
#include "decode/analysis/series_groups.h"
#include "report/launch_text.h"

enum { SUMS, VALUES, EVENTS, TABLES };

static int table_of(const dl_series *s)
{
    return s->kind == DL_EVENT_SUM ? SUMS : s->kind == DL_EVENT_VALUE ? VALUES : EVENTS;
}

static const char *const titles[TABLES] = {
    "Sums, over all cores and launches",
    "Values and counters, over all cores and launches",
    "Events, over all cores and launches",
};

static const dl_grid_column columns[TABLES][10] = {
    [SUMS] = {{"RISC", DL_GRID_LEFT, 0},
              {"sum", DL_GRID_NAME, 0},
              {"launches", DL_GRID_RIGHT, 2},
              {"passes", DL_GRID_RIGHT, 0},
              {"total [cyc]", DL_GRID_RIGHT, 0},
              {"avg [cyc]", DL_GRID_RIGHT, 0},
              {"min", DL_GRID_RIGHT, 4},
              {"max", DL_GRID_RIGHT, 3},
              {"of", DL_GRID_LEFT, 0},
              {"avg [ns]", DL_GRID_RIGHT | DL_GRID_RULE, 5}},
    [VALUES] = {{"RISC", DL_GRID_LEFT, 0},
                {"value", DL_GRID_NAME, 0},
                {"kind", DL_GRID_LEFT, 5},
                {"count", DL_GRID_RIGHT, 0},
                {"last", DL_GRID_RIGHT, 0},
                {"min", DL_GRID_RIGHT, 4},
                {"max", DL_GRID_RIGHT, 3},
                {"mean", DL_GRID_RIGHT, 0}},
    [EVENTS] = {{"RISC", DL_GRID_LEFT, 0},
                {"event", DL_GRID_NAME, 0},
                {"kind", DL_GRID_LEFT, 1},
                {"count", DL_GRID_RIGHT, 0},
                {"last at cycle", DL_GRID_RIGHT, 2}},
};
static const size_t n_columns[TABLES] = {10, 8, 5};

/* What sums are of: of one pass of the code, or of all passes in a launch where the log does not count them.
 */
static void sum_row(dl_grid *grid, const dl_series *s, uint64_t khz)
{
    double average = dl_series_average(s);
    bool by_pass = s->passes && s->longest >= s->shortest;
    dl_grid_u64(grid, s->count);
    if (s->passes)
        dl_grid_u64(grid, s->passes);
    else
        dl_grid_text(grid, "?");
    if (s->sum <= UINT64_MAX)
        dl_grid_u64(grid, (uint64_t)s->sum);
    else
        dl_grid_number(grid, (double)s->sum);
    dl_grid_number(grid, average);
    dl_grid_u64(grid, by_pass ? s->shortest : s->min);
    dl_grid_u64(grid, by_pass ? s->longest : s->max);
    dl_grid_text(grid, by_pass ? "a pass" : s->passes ? "a pass (min, max: a launch)" : "a launch");
    if (khz)
        dl_grid_number(grid, average * 1e6 / (double)khz);
    else
        dl_grid_text(grid, "");
}

static void mean(dl_grid *grid, const dl_series *s)
{
    double value = dl_series_average(s);
    if (value < 1e15)
        dl_grid_fmt(grid, "%.1f", value);
    else
        dl_grid_number(grid, value);
}

static void row(dl_grid *grid, int table, const dl_tables *t, const dl_series_group *g)
{
    const dl_series *s = &g->series;
    const char *name = dl_site_text(t, s->site);
    dl_grid_text(grid, dl_risc_text(t, s->stream));
    dl_grid_text(grid, name[0] ? name : "(no name)");
    if (table == SUMS) {
        sum_row(grid, s, t->chips[g->chip].freq_khz);
        return;
    }
    dl_grid_text(grid, dl_series_kind_text(s));
    dl_grid_u64(grid, s->count);
    if (table == EVENTS) {
        dl_grid_u64(grid, s->last_time);
        return;
    }
    dl_grid_u64(grid, s->last);
    dl_grid_u64(grid, s->min);
    dl_grid_u64(grid, s->max);
    mean(grid, s);
}

typedef struct ranked {
    const dl_series_group *group;
    double key;
    size_t at;
} ranked;

static int by_key(const void *pa, const void *pb)
{
    const ranked *a = pa, *b = pb;
    if (a->key != b->key) return a->key > b->key ? -1 : 1;
    return a->at < b->at ? -1 : a->at > b->at;
}

/* Sums are cycles, and sorted as zones are. A total of values means nothing: they go by name, or by count. */
static double key_of(const dl_series *s, dl_table_sort sort)
{
    bool sum = s->kind == DL_EVENT_SUM;
    switch (sort) {
    case DL_SORT_TOTAL: return sum ? (double)s->sum : 0;
    case DL_SORT_AVERAGE: return sum ? dl_series_average(s) : 0;
    case DL_SORT_MAX: return sum ? (double)(s->longest ? s->longest : s->max) : 0;
    case DL_SORT_COUNT: return (double)s->count;
    default: return 0;
    }
}

static void print_rows(const dl_tables *t, int table, ranked *r, size_t n, const dl_table_options *o,
                       dl_str *out)
{
    dl_grid grid = dl_grid_of(columns[table], n_columns[table]);
    const dl_chip *chip = &t->chips[r[0].group->chip];
    size_t shown = o->top && o->top < n ? o->top : n;
    if (table == SUMS && !chip->freq_khz) grid.columns[n_columns[SUMS] - 1].flags |= DL_GRID_GONE;
    qsort(r, n, sizeof *r, by_key);
    for (size_t i = 0; i < shown; i++)
        row(&grid, table, t, r[i].group);
    if (shown < n) {
        char line[100], more[DL_GROUPED_SIZE];
        snprintf(line, sizeof line, "... and %s more (--top N shows more, --top 0 all)",
                 dl_u64_grouped(more, n - shown));
        dl_grid_note(&grid, line);
    }
    dl_report_head(t, chip, o, titles[table], out);
    dl_grid_print(&grid, o->width, out);
}

static devlog_status groups(dl_decode *d, const dl_table_options *o, dl_str *out, devlog_error *err)
{
    dl_series_groups g;
    const dl_tables *t = dl_decode_tables(d);
    devlog_status status = dl_series_groups_of(d, false, &g, err);
    if (status) return status;
    ranked *r = malloc((g.n + 1) * sizeof *r);
    if (!r) status = dl_fail(err, DEVLOG_ERR_MEMORY, "out of memory for the table");
    for (size_t from = 0, to; from < g.n && !status; from = to) {
        for (to = from; to < g.n && g.items[to].chip == g.items[from].chip; to++)
            ;
        for (int table = 0; table < TABLES; table++) {
            size_t n = 0;
            for (size_t i = from; i < to; i++)
                if (table_of(&g.items[i].series) == table)
                    r[n++] = (ranked){&g.items[i], key_of(&g.items[i].series, o->sort), i};
            if (n) print_rows(t, table, r, n, o, out);
        }
    }
    if (g.wait_records && !status) {
        char digits[DL_GROUPED_SIZE];
        dl_str_fmt(out, "\n%s record%s of waits: in no table here, devlog causes reads them\n",
                   dl_u64_grouped(digits, g.wait_records), g.wait_records == 1 ? "" : "s");
    }
    free(r);
    dl_series_groups_free(&g);
    return status;
}

static const dl_grid_column message_columns[] = {
    {"cycle", DL_GRID_RIGHT, 0}, {"core", DL_GRID_LEFT, 0}, {"RISC", DL_GRID_LEFT, 0},
    {"launch", DL_GRID_LEFT, 1}, {"text", DL_GRID_NAME, 0},
};

static void messages(dl_decode *d, const dl_table_options *o, dl_str *out)
{
    size_t n, from = 0, to;
    uint64_t more;
    const dl_tables *t = dl_decode_tables(d);
    const dl_launches *launches = dl_decode_launches(d);
    dl_message *list = dl_messages_of(d, &n, &more);
    char digits[DL_GROUPED_SIZE];
    for (; from < n; from = to) {
        const uint32_t chip = t->streams[list[from].stream].chip;
        dl_grid grid = DL_GRID(message_columns);
        size_t shown = 0;
        for (to = from; to < n && t->streams[list[to].stream].chip == chip; to++) {
            const dl_message *m = &list[to];
            const dl_stream *s = &t->streams[m->stream];
            char launch[64] = "";
            dl_str text = {0};
            if (o->top && shown == o->top) continue;
            shown++;
            dl_meta_text(dl_text(t, m->meta), &text);
            if (m->launch != DL_NONE) dl_launch_text(&launches->items[m->launch], launch);
            dl_grid_u64(&grid, m->time);
            dl_grid_fmt(&grid, "%u,%u", s->core_x, s->core_y);
            dl_grid_text(&grid, dl_text(t, s->risc_name));
            dl_grid_text(&grid, launch);
            dl_grid_text(&grid, text.text ? text.text : "");
            dl_str_free(&text);
        }
        if (shown < to - from) {
            char line[100];
            snprintf(line, sizeof line, "... and %s more (--top N shows more, --top 0 all)",
                     dl_u64_grouped(digits, to - from - shown));
            dl_grid_note(&grid, line);
        }
        dl_report_head(t, &t->chips[chip], o, "Text", out);
        dl_grid_print(&grid, o->width, out);
    }
    if (more)
        dl_str_fmt(out, "... and %s more messages, which are in an export only (devlog export)\n",
                   dl_u64_grouped(digits, more));
    free(list);
}

static const dl_grid_column counter_columns[] = {
    {"RISC", DL_GRID_LEFT, 0},           {"zone", DL_GRID_NAME, 0},   {"counter", DL_GRID_LEFT, 0},
    {"records", DL_GRID_RIGHT, 2},       {"value", DL_GRID_RIGHT, 0}, {"ref [cyc]", DL_GRID_RIGHT, 1},
    {"value/ref [%]", DL_GRID_RIGHT, 0},
};

static void sum_cell(dl_grid *grid, bool lacking, dl_u128 sum)
{
    if (lacking)
        dl_grid_text(grid, "N/A");
    else if (sum <= UINT64_MAX)
        dl_grid_u64(grid, (uint64_t)sum);
    else
        dl_grid_number(grid, (double)sum);
}

static devlog_status counters(dl_decode *d, const dl_table_options *o, dl_str *out, devlog_error *err)
{
    dl_counter_groups g;
    const dl_tables *t = dl_decode_tables(d);
    devlog_status status = dl_counter_groups_of(d, &g, err);
    for (size_t from = 0, to; from < g.n && !status; from = to) {
        dl_grid grid = DL_GRID(counter_columns);
        const dl_chip *chip = &t->chips[g.items[from].chip];
        for (to = from; to < g.n && g.items[to].chip == g.items[from].chip; to++) {
            const dl_counter_group *c = &g.items[to];
            const char *zone = dl_counter_zone(t, c);
            double percent;
            if (o->top && to - from >= o->top) continue;
            dl_grid_text(&grid, dl_risc_text(t, c->sums.stream));
            dl_grid_text(&grid, zone[0] ? zone : "(no zone)");
            dl_grid_text(&grid, dl_site_text(t, c->sums.counter));
            dl_grid_u64(&grid, c->sums.records);
            sum_cell(&grid, c->lacking, c->sums.value);
            sum_cell(&grid, c->lacking, c->sums.reference);
            if (dl_counter_percent(c, &percent))
                dl_grid_fmt(&grid, "%.2f", percent);
            else
                dl_grid_text(&grid, "N/A");
        }
        if (o->top && to - from > o->top) {
            char line[100], more[DL_GROUPED_SIZE];
            snprintf(line, sizeof line, "... and %s more (--top N shows more, --top 0 all)",
                     dl_u64_grouped(more, to - from - o->top));
            dl_grid_note(&grid, line);
        }
        dl_report_head(t, chip, o, "Hardware counters by zone, over all cores and launches", out);
        dl_grid_print(&grid, o->width, out);
    }
    dl_counter_groups_free(&g);
    return status;
}

devlog_status dl_report_series(dl_decode *d, const dl_table_options *o, dl_str *out, devlog_error *err)
{
    devlog_status status = groups(d, o, out, err);
    if (!status) status = counters(d, o, out, err);
    if (!status) messages(d, o, out);
    return status;
}
