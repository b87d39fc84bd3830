/* The terminal's tables of a decoded log, and the list of what was lost that ends every report. */
#include "report/decode_table.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const char bold[] = "\033[1m", red[] = "\033[31m", yellow[] = "\033[33m", plain[] = "\033[0m";

static void coloured(dl_str *out, bool colour, const char *code, const char *text)
{
    if (colour) dl_str_add(out, code);
    dl_str_add(out, text);
    if (colour) dl_str_add(out, plain);
}

static void number(dl_str *out, int width, double value)
{
    char digits[DL_GROUPED_SIZE];
    uint64_t rounded = value < 0 ? 0 : value > 1.8e19 ? UINT64_MAX : (uint64_t)llround(value);
    dl_str_fmt(out, "%*s", width, dl_u64_grouped(digits, rounded));
}

/* The four durations of a row, in cycles or nanoseconds. */
static void durations(dl_str *out, const dl_summary *s, double scale)
{
    number(out, 13, dl_summary_average(s) * scale);
    number(out, 11, (double)s->min * scale);
    number(out, 11, (double)s->max * scale);
    number(out, 11, dl_summary_median(s) * scale);
}

static void row(const dl_tables *t, const dl_group *g, dl_str *out)
{
    char digits[DL_GROUPED_SIZE];
    dl_str_fmt(out, "%-8s %-16s %10s", dl_text(t, g->risc_name), dl_text(t, g->site_name),
               dl_u64_grouped(digits, g->summary.count));
    durations(out, &g->summary, 1);
    uint64_t khz = t->chips[g->chip].freq_khz;
    if (khz) {
        dl_str_add(out, " |");
        durations(out, &g->summary, 1e6 / (double)khz);
    }
    dl_str_char(out, '\n');
}

static void head(const dl_tables *t, const dl_chip *chip, const dl_table_options *o, const char *title,
                 dl_str *out)
{
    char line[256], mhz[DL_GROUPED_SIZE];
    const char *arch = chip->arch ? dl_text(t, chip->arch) : "unknown chip";
    snprintf(line, sizeof line, "chip %u (%s", chip->id, arch);
    dl_str_char(out, '\n');
    coloured(out, o->colour, bold, title);
    dl_str_fmt(out, ", %s", line);
    if (chip->freq_khz)
        dl_str_fmt(out, ", %s MHz)\n", dl_mhz_text(mhz, chip->freq_khz));
    else
        dl_str_add(out, ", clock unknown: no nanoseconds)\n");
}

static void columns(dl_str *out, const char *first, bool ns)
{
    dl_str_fmt(out, "%s%-8s %-16s %10s%13s%11s%11s%11s", first, "RISC", "zone", "count", "avg [cyc]", "min",
               "max", "median");
    if (ns) dl_str_fmt(out, " |%13s%11s%11s%11s", "avg [ns]", "min", "max", "median");
    dl_str_char(out, '\n');
}

static devlog_status per_risc(dl_decode *d, const dl_table_options *o, dl_str *out, devlog_error *err)
{
    dl_groups g;
    const dl_tables *t = dl_decode_tables(d);
    devlog_status status = dl_groups_by_risc(d, &g, err);
    if (status) return status;
    for (size_t i = 0; i < g.n; i++) {
        const dl_chip *chip = &t->chips[g.items[i].chip];
        if (i == 0 || g.items[i].chip != g.items[i - 1].chip) {
            head(t, chip, o, "Durations per RISC, over all cores and launches", out);
            columns(out, "", chip->freq_khz > 0);
        }
        row(t, &g.items[i], out);
    }
    if (g.n == 0) dl_str_add(out, "No zone was closed in this log: there are no durations to show.\n");
    dl_groups_free(&g);
    return DEVLOG_OK;
}

static void launch_name(const dl_launch *l, char out[64])
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

static devlog_status per_launch(dl_decode *d, const dl_table_options *o, dl_str *out, devlog_error *err)
{
    dl_groups g;
    const dl_tables *t = dl_decode_tables(d);
    const dl_launches *launches = dl_decode_launches(d);
    devlog_status status = dl_groups_by_launch(d, o->max_launches, &g, err);
    if (status) return status;
    for (size_t i = 0; i < g.n; i++) {
        const dl_group *item = &g.items[i];
        const dl_chip *chip = &t->chips[item->chip];
        bool new_launch = i == 0 || item->launch != g.items[i - 1].launch;
        bool new_chip = i == 0 || item->chip != g.items[i - 1].chip;
        if (new_chip) {
            head(t, chip, o, "Durations per launch and RISC, over all cores", out);
            columns(out, "launch       ", chip->freq_khz > 0);
        }
        char name[64] = "";
        if (new_launch) launch_name(&launches->items[item->launch], name);
        dl_str_fmt(out, "%-12s ", name);
        row(t, item, out);
    }
    if (g.launches_left)
        dl_str_fmt(out, "... and %u more launches (--max-launches shows more; --format csv has all)\n",
                   g.launches_left);
    dl_groups_free(&g);
    return DEVLOG_OK;
}

static void analysis_row(const dl_tables *t, const char *name, const dl_analysis_result *r, dl_str *out)
{
    char digits[DL_GROUPED_SIZE];
    dl_str_fmt(out, "%-42.42s %8s", name, dl_u64_grouped(digits, r->summary.count));
    durations(out, &r->summary, 1);
    uint64_t khz = t->chips[r->chip].freq_khz;
    if (khz) {
        dl_str_add(out, " |");
        number(out, 13, dl_summary_average(&r->summary) * 1e6 / (double)khz);
    }
    dl_str_char(out, '\n');
}

void dl_report_analyses(dl_decode *d, const dl_analyzer *a, bool colour, dl_str *out)
{
    const dl_tables *t = dl_decode_tables(d);
    const dl_table_options o = {.colour = colour};
    for (uint32_t chip = 0; chip < t->n_chips; chip++) {
        bool begun = false;
        for (size_t i = 0; i < dl_analyzer_list(a)->n; i++) {
            size_t n, at = 0;
            const dl_analysis_result *r = dl_analyzer_results(a, i, &n);
            while (at < n && r[at].chip != chip)
                at++;
            if (at == n) continue;
            if (!begun) {
                head(t, &t->chips[chip], &o, "Analyses, over all cores", out);
                dl_str_fmt(out, "%-42s %8s%13s%11s%11s%11s%s\n", "analysis", "count", "avg [cyc]", "min",
                           "max", "median", t->chips[chip].freq_khz ? " |     avg [ns]" : "");
            }
            begun = true;
            analysis_row(t, dl_analyzer_list(a)->items[i].name, &r[at], out);
        }
    }
}

devlog_status dl_report_table(dl_decode *d, const dl_table_options *options, dl_str *out, devlog_error *err)
{
    devlog_status status = per_risc(d, options, out, err);
    if (!status && options->max_launches) status = per_launch(d, options, out, err);
    return status ? status : dl_str_status(out, err);
}

static void item(dl_str *out, bool colour, bool loss, uint64_t n, const char *text, char *const *details)
{
    char digits[DL_GROUPED_SIZE], line[64];
    snprintf(line, sizeof line, "%10s", dl_u64_grouped(digits, n));
    dl_str_add(out, "  ");
    coloured(out, colour, loss ? red : yellow, line);
    dl_str_fmt(out, "  %s\n", text);
    for (int i = 0; i < DL_DETAILS_PER_KIND && details[i]; i++)
        dl_str_fmt(out, "              %s\n", details[i]);
}

void dl_report_losses(const dl_losses *l, bool colour, dl_str *out)
{
    char rows[DL_GROUPED_SIZE], lines[DL_GROUPED_SIZE];
    dl_str_fmt(out, "%s rows in %s lines. ", dl_u64_grouped(rows, l->rows), dl_u64_grouped(lines, l->lines));
    coloured(out, colour, dl_losses_any(l) ? red : bold, dl_losses_any(l) ? "Lost:" : "Nothing was lost.");
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
                item(out, colour, loss, l->found[i], dl_finding_text((dl_finding)i),
                     l->details[DL_SKIPS + i]);
        }
    }
    for (uint32_t i = 0; i < l->n_clocks; i++) {
        const dl_clock_note *c = &l->clocks[i];
        dl_str_fmt(out, "Clock of chip %u: stamps of two cores are comparable to %.0f cycles", c->slot,
                   c->core_cycles);
        if (c->host_ns > 0)
            dl_str_fmt(out, ", with the host to %.0f ns.\n", c->host_ns);
        else
            dl_str_add(out, "; not aligned with the host.\n");
    }
    if (l->cost_known)
        dl_str_fmt(out,
                   "Markers cost %.1f cycles a zone's end, %.1f a complete zone, %.1f an event; in kernels "
                   "%.2f %% of "
                   "the time, %s.\n",
                   l->cost_sixteenths[1] / 16.0, l->cost_sixteenths[2] / 16.0, l->cost_sixteenths[3] / 16.0,
                   l->cycles_of_kernels ? 100.0 * (double)l->cost_of_kernels / (double)l->cycles_of_kernels
                                        : 0.0,
                   l->cost_subtracted ? "subtracted" : "not subtracted (--subtract-cost)");
    else if (l->cost_subtracted)
        dl_str_add(out, "Markers' own cost is not in this log and was not subtracted; decode the capture.\n");
    char digits[DL_GROUPED_SIZE];
    if (l->rows_filtered)
        dl_str_fmt(out, "  %10s  rows left out by the filters\n", dl_u64_grouped(digits, l->rows_filtered));
    if (l->zones_filtered)
        dl_str_fmt(out, "  %10s  zones left out by the filters\n", dl_u64_grouped(digits, l->zones_filtered));
}
