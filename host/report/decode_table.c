/* The terminal's tables of a decoded log, and the list of what was lost that ends every report. */
#include "report/decode_table.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/grid.h"
#include "base/round.h"
#include "base/sort.h"
#include "report/launch_text.h"
#include "report/series_table.h"

static const char bold[] = "\033[1m", red[] = "\033[31m", yellow[] = "\033[33m", plain[] = "\033[0m";

static void coloured(dl_str *out, bool colour, const char *code, const char *text)
{
    if (colour) dl_str_add(out, code);
    dl_str_add(out, text);
    if (colour) dl_str_add(out, plain);
}

/* One row of a table, and what it is sorted by. */
typedef struct ranked {
    const dl_group *group;
    double total, average;
    double share; /* percent; negative: of nothing that is known */
    size_t at;    /* its place by RISC and name */
} ranked;

/* The columns of every table of durations. A narrow terminal does without nanoseconds first. */
enum { COLUMNS = 14, FIRST_NS = 10 };
static const dl_grid_column all_columns[COLUMNS] = {
    {"launch", DL_GRID_LEFT, 0},
    {"RISC", DL_GRID_LEFT, 0},
    {"zone", DL_GRID_NAME, 0},
    {"count", DL_GRID_RIGHT, 0},
    {"total [cyc]", DL_GRID_RIGHT, 0},
    {"share %", DL_GRID_RIGHT, 0},
    {"avg [cyc]", DL_GRID_RIGHT, 0},
    {"min", DL_GRID_RIGHT, 4},
    {"max", DL_GRID_RIGHT, 3},
    {"median", DL_GRID_RIGHT, 5},
    {"avg [ns]", DL_GRID_RIGHT | DL_GRID_RULE, 2},
    {"min [ns]", DL_GRID_RIGHT, 8},
    {"max [ns]", DL_GRID_RIGHT, 7},
    {"median [ns]", DL_GRID_RIGHT, 9},
};

static dl_grid grid_of(bool launches, bool ns)
{
    dl_grid g = DL_GRID(all_columns);
    if (!launches) g.columns[0].flags |= DL_GRID_GONE;
    for (int i = FIRST_NS; !ns && i < COLUMNS; i++)
        g.columns[i].flags |= DL_GRID_GONE;
    return g;
}

/* The four durations of a row, in cycles or nanoseconds. */
static void durations(dl_grid *grid, const dl_summary *s, double scale)
{
    dl_grid_number(grid, dl_summary_average(s) * scale);
    dl_grid_number(grid, (double)s->min * scale);
    dl_grid_number(grid, (double)s->max * scale);
    dl_grid_number(grid, dl_summary_median(s) * scale);
}

static void row(const dl_tables *t, const ranked *r, const char *launch, dl_grid *grid)
{
    const dl_group *g = r->group;
    uint64_t khz = t->chips[g->chip].freq_khz;
    const char *name = dl_text(t, g->site_name);
    dl_grid_text(grid, launch);
    dl_grid_text(grid, dl_text(t, g->risc_name));
    dl_grid_text(grid, name[0] ? name : "(no name)");
    dl_grid_u64(grid, g->summary.count);
    if (g->summary.sum <= UINT64_MAX)
        dl_grid_u64(grid, (uint64_t)g->summary.sum);
    else
        dl_grid_number(grid, r->total);
    if (r->share < 0)
        dl_grid_text(grid, "");
    else
        dl_grid_fmt(grid, "%.1f", r->share);
    durations(grid, &g->summary, 1);
    if (khz)
        durations(grid, &g->summary, 1e6 / (double)khz);
    else
        for (int i = FIRST_NS; i < COLUMNS; i++)
            dl_grid_text(grid, "");
}

static double sort_key(const ranked *r, dl_table_sort by)
{
    switch (by) {
    case DL_SORT_TOTAL: return r->total;
    case DL_SORT_AVERAGE: return r->average;
    case DL_SORT_MAX: return (double)r->group->summary.max;
    case DL_SORT_COUNT: return (double)r->group->summary.count;
    default: return 0;
    }
}

static int by_key(const void *pa, const void *pb, void *ctx)
{
    const ranked *a = pa, *b = pb;
    const dl_table_sort by = *(const dl_table_sort *)ctx;
    double x = sort_key(a, by), y = sort_key(b, by);
    if (x != y) return x > y ? -1 : 1;
    return a->at < b->at ? -1 : a->at > b->at;
}

/* The same for many rows, in time proportional to their number; false: no memory. Of numbers that are not negative,
 * the bits are in the order of the numbers. */
static bool sort_many(ranked *rows, size_t n, dl_table_sort by)
{
    dl_keyed *items = malloc(n * sizeof *items);
    ranked *sorted = malloc(n * sizeof *sorted);
    for (size_t i = 0; items && i < n; i++) {
        const double key = sort_key(&rows[i], by);
        uint64_t bits;
        memcpy(&bits, &key, sizeof bits);
        items[i] = (dl_keyed){~bits, i};
    }
    const bool ok = items && sorted && dl_sort_keyed(items, n);
    for (size_t i = 0; ok && i < n; i++)
        sorted[i] = rows[items[i].at];
    if (ok) memcpy(rows, sorted, n * sizeof *sorted);
    free(items);
    free(sorted);
    return ok;
}

/* What shares of a RISC's zones are of: the time in its firmware zones, or in its kernel zones where some of the firmware's
 * were lost: where there are fewer of them than of kernels, or all together are shorter. 0: neither is there. */
static double base_of(const dl_group *g, size_t n)
{
    double firmware = 0, kernel = 0;
    uint64_t firmwares = 0, kernels = 0;
    for (size_t i = 0; i < n && g[i].risc_name == g[0].risc_name; i++) {
        const dl_summary *s = &g[i].summary;
        if (g[i].role == DL_ROLE_FW) firmware += (double)s->sum, firmwares += s->count;
        if (g[i].role == DL_ROLE_KERNEL) kernel += (double)s->sum, kernels += s->count;
    }
    return firmwares < kernels || firmware < kernel ? kernel : firmware;
}

/* Groups of one chip, or of one launch of it, sorted as was asked for. */
static void rank(const dl_group *g, size_t n, dl_table_sort by, ranked *out)
{
    double base = 0;
    for (size_t i = 0; i < n; i++) {
        if (i == 0 || g[i].risc_name != g[i - 1].risc_name) base = base_of(&g[i], n - i);
        const dl_summary *s = &g[i].summary;
        out[i] = (ranked){.group = &g[i],
                          .total = (double)s->sum,
                          .average = dl_summary_average(s),
                          .share = base > 0 ? 100 * (double)s->sum / base : -1,
                          .at = i};
    }
    enum { MANY = 1000 };
    if (n < MANY || !sort_many(out, n, by)) qsort_r(out, n, sizeof *out, by_key, &by);
}

/* The first `top` of n rows, and how many more there are. */
static void rows(const dl_tables *t, const ranked *r, size_t n, const dl_table_options *o, const char *launch,
                 dl_grid *grid)
{
    size_t shown = o->top && o->top < n ? o->top : n;
    double left = 0;
    for (size_t i = 0; i < shown; i++)
        row(t, &r[i], i ? "" : launch, grid);
    for (size_t i = shown; i < n; i++)
        left += r[i].total;
    if (shown == n) return;
    char line[200], more[DL_GROUPED_SIZE], cycles[DL_GROUPED_SIZE];
    snprintf(line, sizeof line, "... and %s more, %s cycles together (--top N shows more, --top 0 all)",
             dl_u64_grouped(more, n - shown), dl_u64_grouped(cycles, dl_u64_of(left)));
    dl_grid_note(grid, line);
}

void dl_report_head(const dl_tables *t, const dl_chip *chip, const dl_table_options *o, const char *title,
                    dl_str *out)
{
    char mhz[DL_GROUPED_SIZE];
    const bool markdown = o->width == DL_GRID_MARKDOWN;
    dl_str_add(out, markdown ? "\n### " : "\n");
    coloured(out, o->colour, bold, title);
    char which[DL_CHIP_TITLE];
    dl_str_fmt(out, ", %s (", dl_chip_title(which, chip->id));
    dl_str_short(out, chip->arch ? dl_text(t, chip->arch) : "unknown chip", 40);
    if (chip->freq_khz)
        dl_str_fmt(out, ", %s MHz", dl_mhz_text(mhz, chip->freq_khz));
    else
        dl_str_add(out, ", clock unknown: no nanoseconds");
    if (chip->aiclk_khz) dl_str_fmt(out, ", AICLK %s MHz", dl_mhz_text(mhz, chip->aiclk_khz));
    dl_str_add(out, chip->instructions ? "; cycles are instructions)\n" : ")\n");
    if (markdown) dl_str_char(out, '\n');
}

static devlog_status per_risc(dl_decode *d, const dl_groups *groups, const dl_table_options *o, dl_str *out,
                              devlog_error *err)
{
    const dl_groups g = *groups;
    const dl_tables *t = dl_decode_tables(d);
    devlog_status status = DEVLOG_OK;
    ranked *r = malloc((g.n + 1) * sizeof *r);
    if (!r) status = dl_fail(err, DEVLOG_ERR_MEMORY, "out of memory for the table");
    for (size_t from = 0, to; from < g.n && !status; from = to) {
        const dl_chip *chip = &t->chips[g.items[from].chip];
        for (to = from; to < g.n && g.items[to].chip == g.items[from].chip; to++)
            ;
        dl_grid grid = grid_of(false, chip->freq_khz > 0);
        rank(g.items + from, to - from, o->sort, r);
        rows(t, r, to - from, o, "", &grid);
        dl_report_head(t, chip, o, "Durations per RISC, over all cores and launches", out);
        dl_grid_print(&grid, o->width, out);
    }
    if (g.n == 0) dl_str_add(out, "No zone was closed in this log: there are no durations to show.\n");
    free(r);
    return status;
}

void dl_launch_text(const dl_launch *l, char out[64])
{
    if (!l->has_ids) {
        snprintf(out, 64, "#%u", l->number);
        return;
    }
    int n = snprintf(out, 64, "%llu", (unsigned long long)(l->run_host_id ? l->run_host_id : l->run_id));
    if (l->trace_id != UINT32_MAX && n > 0 && n < 40)
        n += snprintf(out + n, 64 - (size_t)n, " t%u", l->trace_id);
    if (l->trace_counter != UINT32_MAX && n > 0 && n < 50)
        snprintf(out + n, 64 - (size_t)n, ".%u", l->trace_counter);
}

static devlog_status per_launch(dl_decode *d, const dl_groups *groups, const dl_table_options *o, dl_str *out,
                                devlog_error *err)
{
    const dl_groups g = *groups;
    const dl_tables *t = dl_decode_tables(d);
    const dl_launches *launches = dl_decode_launches(d);
    devlog_status status = DEVLOG_OK;
    ranked *r = malloc((g.n + 1) * sizeof *r);
    if (!r) status = dl_fail(err, DEVLOG_ERR_MEMORY, "out of memory for the table");
    for (size_t from = 0, to, end; from < g.n && !status; from = end) {
        const dl_chip *chip = &t->chips[g.items[from].chip];
        dl_grid grid = grid_of(true, chip->freq_khz > 0);
        for (end = from; end < g.n && g.items[end].chip == g.items[from].chip; end = to) {
            char name[64];
            for (to = end; to < g.n && g.items[to].launch == g.items[end].launch; to++)
                ;
            dl_launch_text(&launches->items[g.items[end].launch], name);
            rank(g.items + end, to - end, o->sort, r);
            rows(t, r, to - end, o, name, &grid);
        }
        dl_report_head(t, chip, o, "Durations per launch and RISC, over all cores", out);
        dl_grid_print(&grid, o->width, out);
    }
    if (g.launches_left)
        dl_str_fmt(out, "... and %u more launches (--max-launches shows more; --format csv has all)\n",
                   g.launches_left);
    free(r);
    return status;
}

enum { ANALYSIS_NS = 6 };
static const dl_grid_column analysis_columns[] = {
    {"analysis", DL_GRID_NAME, 0},
    {"count", DL_GRID_RIGHT, 0},
    {"avg [cyc]", DL_GRID_RIGHT, 0},
    {"min", DL_GRID_RIGHT, 4},
    {"max", DL_GRID_RIGHT, 3},
    {"median", DL_GRID_RIGHT, 5},
    {"avg [ns]", DL_GRID_RIGHT | DL_GRID_RULE, 2},
};

/* An analysis of type `event` lists points and values: there is no duration in it. */
static void analysis_row(const dl_tables *t, const dl_analysis *of, const dl_analysis_result *r,
                         dl_grid *grid)
{
    uint64_t khz = t->chips[r->chip].freq_khz;
    dl_grid_text(grid, of->name);
    dl_grid_u64(grid, r->summary.count);
    if (of->type == DL_ANALYSIS_EVENT) {
        for (int i = 0; i < 5; i++)
            dl_grid_text(grid, "");
        return;
    }
    durations(grid, &r->summary, 1);
    if (khz)
        dl_grid_number(grid, dl_summary_average(&r->summary) * 1e6 / (double)khz);
    else
        dl_grid_text(grid, "");
}

void dl_report_analyses(dl_decode *d, const dl_analyzer *a, const dl_table_options *o, dl_str *out)
{
    const dl_tables *t = dl_decode_tables(d);
    for (uint32_t chip = 0; chip < t->n_chips; chip++) {
        dl_grid grid = DL_GRID(analysis_columns);
        bool begun = false;
        if (!t->chips[chip].freq_khz) grid.columns[ANALYSIS_NS].flags |= DL_GRID_GONE;
        for (size_t i = 0; i < dl_analyzer_list(a)->n; i++) {
            size_t n, at = 0;
            const dl_analysis_result *r = dl_analyzer_results(a, i, &n);
            while (at < n && r[at].chip != chip)
                at++;
            if (at == n) continue;
            begun = true;
            analysis_row(t, &dl_analyzer_list(a)->items[i], &r[at], &grid);
        }
        if (begun) dl_report_head(t, &t->chips[chip], o, "Analyses, over all cores", out);
        if (begun) dl_grid_print(&grid, o->width, out);
    }
}

devlog_status dl_report_table(dl_decode *d, const dl_table_options *options, dl_str *out, devlog_error *err)
{
    const uint32_t most = options->max_launches;
    dl_groups riscs, launches = {0};
    devlog_status status = most ? dl_groups_by_risc_and_launch(d, most, &riscs, &launches, err)
                                : dl_groups_by_risc(d, &riscs, err);
    if (status) return status;
    status = per_risc(d, &riscs, options, out, err);
    if (!status) status = dl_report_series(d, options, out, err);
    if (!status && most) status = per_launch(d, &launches, options, out, err);
    dl_groups_free(&riscs);
    dl_groups_free(&launches);
    return status ? status : dl_str_status(out, err);
}

static void item(dl_str *out, bool colour, bool loss, uint64_t n, const char *text, char *const *details)
{
    char digits[DL_GROUPED_SIZE], line[64];
    snprintf(line, sizeof line, "%10s", dl_u64_grouped(digits, n));
    dl_str_add(out, "  ");
    coloured(out, colour, loss ? red : yellow, line);
    dl_str_fmt(out, "  %s\n", text);
    for (int i = 0; i < DL_DETAILS_PER_KIND && details[i]; i++) {
        dl_str_add(out, "              ");
        dl_str_shown(out, details[i], strlen(details[i]));
        dl_str_char(out, '\n');
    }
}

static void what_was_lost(const dl_losses *l, bool colour, dl_str *out)
{
    coloured(out, colour, dl_losses_any(l) ? red : bold, dl_losses_any(l) ? "Lost:" : "Nothing was lost.");
    if (l->end_unknown && !dl_losses_any(l)) dl_str_add(out, "\nThe log does not say whether its run ended.");
    dl_str_char(out, '\n');
    for (int i = DL_SKIP_NONE + 1; i < DL_SKIPS; i++) {
        char text[128];
        snprintf(text, sizeof text, "lines skipped: %s", dl_skip_text((dl_skip)i));
        if (l->skipped[i]) item(out, colour, true, l->skipped[i], text, l->details[i]);
    }
    for (int pass = 0; pass < 2; pass++) {
        for (int i = 0; i < DL_FINDINGS; i++) {
            bool loss = dl_finding_is_loss((dl_finding)i);
            if (l->found[i] && loss == (pass == 0))
                item(out, colour, loss || i == DL_FOUND_VIOLATED, l->found[i], dl_finding_text((dl_finding)i),
                     l->details[DL_SKIPS + i]);
        }
    }
}

void dl_report_losses_of_part(const dl_losses *l, bool colour, dl_str *out)
{
    what_was_lost(l, colour, out);
}

/* What markers took of the kernels' time, with what that may be off. */
static void share_of_kernels(const dl_losses *l, dl_str *out)
{
    const double all = (double)l->cycles_of_kernels;
    dl_str_fmt(out, "in kernels %.2f %% of the time", 100.0 * (double)l->cost_of_kernels / all);
    if (l->kernels_unpriced)
        dl_str_add(out, " (as the device measured them elsewhere: how far off is not known)");
    else
        dl_str_fmt(out, ", give or take %.2f %%", 100.0 * (double)l->cost_off_of_kernels / all);
    dl_str_add(out, l->cost_subtracted ? ", subtracted" : ", not subtracted (--subtract-cost)");
}

void dl_report_losses(const dl_losses *l, bool colour, dl_str *out)
{
    char rows[DL_GROUPED_SIZE], lines[DL_GROUPED_SIZE];
    dl_str_fmt(out, "%s rows", dl_u64_grouped(rows, l->rows));
    if (l->lines) dl_str_fmt(out, " in %s lines", dl_u64_grouped(lines, l->lines)); /* a capture has none */
    dl_str_add(out, ". ");
    what_was_lost(l, colour, out);
    if (l->instructions)
        dl_str_add(
            out,
            "Cycles are instructions: the simulator that ran this has no timing, so times say nothing of a chip.\n");
    for (uint32_t i = 0; i < l->n_clocks; i++) {
        const dl_clock_note *c = &l->clocks[i];
        char title[DL_CHIP_TITLE];
        dl_str_fmt(out, "Clock of %s: ", dl_chip_title(title, c->slot));
        if (c->core_cycles > 0)
            dl_str_fmt(out, "stamps of two cores are comparable to %.0f cycles, ", c->core_cycles);
        else
            dl_str_add(out, c->host_ns > 0 ? "stamps are comparable "
                                           : "how far stamps of two cores are apart was not measured; ");
        if (c->host_ns > 0)
            dl_str_fmt(out, "with the host to %.0f ns.\n", c->host_ns);
        else
            dl_str_add(out, "not aligned with the host.\n");
    }
    if (l->cost_known) {
        dl_str_fmt(out, "Markers cost %.1f cycles a zone's end, %.1f a complete zone, %.1f an event; ",
                   l->cost_sixteenths[1] / 16.0, l->cost_sixteenths[2] / 16.0, l->cost_sixteenths[3] / 16.0);
        if (l->cycles_of_kernels)
            share_of_kernels(l, out);
        else
            dl_str_add(out, "their share of kernels cannot be stated");
        const uint64_t others = l->kernels_unknown_cost - l->kernels_most_cost;
        const char *not_known = l->cost_subtracted ? "not known, and not subtracted," : "not known";
        if (l->kernels_most_cost)
            dl_str_fmt(out, "; %s of %llu kernel%s of which they take more than half", not_known,
                       (unsigned long long)l->kernels_most_cost, l->kernels_most_cost == 1 ? "" : "s");
        if (others)
            dl_str_fmt(
                out,
                "; %s of %llu kernel%s: the ring kept other records than it wrote over, or records are damaged",
                not_known, (unsigned long long)others, others == 1 ? "" : "s");
        dl_str_add(out, ".\n");
    } else if (l->cost_subtracted)
        dl_str_add(out, "Markers' own cost is not in this log and was not subtracted; decode the capture.\n");
    char digits[DL_GROUPED_SIZE];
    if (l->blocks)
        dl_str_fmt(
            out,
            "  %10s  of %llu blocks of the packed log were read, as its index says; what is wrong in others is not told\n",
            dl_u64_grouped(digits, l->blocks_read), (unsigned long long)l->blocks);
    if (l->rows_filtered)
        dl_str_fmt(out, "  %10s  rows left out by the filters\n", dl_u64_grouped(digits, l->rows_filtered));
    if (l->zones_filtered)
        dl_str_fmt(out, "  %10s  zones left out by the filters\n", dl_u64_grouped(digits, l->zones_filtered));
}
