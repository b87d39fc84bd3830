/* The page's JSON block: what its numbers mean, and the results that are of the whole log. 64-bit numbers
 * that may pass 2^53 are strings. Read by page/data.js. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/real.h"
#include "decode/analysis/groups.h"
#include "decode/analysis/series_groups.h"
#include "report/page_internal.h"
#include "report/summary_text.h"

enum {
    MAX_STATISTICS = 20000,
    MAX_MARKERS = 2000
}; /* rows of the statistics; more would only be scrolled over */

static void text(dl_str *out, const char *s)
{
    size_t n = strlen(s);
    dl_str_json(out, s, n);
}

static void comma(dl_str *out, bool needed)
{
    if (needed) dl_str_char(out, ',');
}

static void chips(const page_pack *p, const dl_tables *t, dl_str *out)
{
    uint32_t n;
    const dl_view_chip *chips = dl_view_chips(p->view, &n);
    dl_str_add(out, ",\"chips\":[");
    for (uint32_t i = 0; i < n; i++) {
        const dl_chip *c = &t->chips[chips[i].chip];
        comma(out, i);
        dl_str_fmt(out, "{\"id\":%u,\"index\":%u,\"arch\":", c->id, chips[i].chip);
        text(out, c->arch ? dl_text(t, c->arch) : "");
        dl_str_fmt(out, ",\"khz\":%llu,\"aligned\":%s,\"residual\":%llu", (unsigned long long)c->freq_khz,
                   chips[i].aligned ? "true" : "false", (unsigned long long)chips[i].residual_ns);
        if (c->aiclk_khz) dl_str_fmt(out, ",\"aiclk\":%llu", (unsigned long long)c->aiclk_khz);
        const chip_grid *grid = dl_decode_grid(dl_view_decode(p->view), c->id);
        if (grid) {
            dl_str_add(out, ",\"grid\":");
            chip_grid_json(grid, out);
        }
        dl_str_add(out, c->instructions ? ",\"instructions\":true}" : "}");
    }
    dl_str_char(out, ']');
}

static void sites(const page_pack *p, const dl_tables *t, dl_str *out)
{
    dl_str_add(out, ",\"sites\":[");
    for (uint32_t i = 0; i < p->n_sites; i++) {
        comma(out, i);
        dl_str_char(out, '[');
        text(out, dl_view_site_name(p->view, p->sites[i]));
        dl_str_char(out, ',');
        text(out, dl_view_site_file(p->view, p->sites[i]));
        dl_str_fmt(out, ",%u,%d]", t->sites[p->sites[i]].line, (int)t->sites[p->sites[i]].role);
    }
    dl_str_char(out, ']');
}

/* [chip, number, run id, trace id, trace counter, op, number of the op]; what is missing at the end is not known, and an id that there is not is -1. */
static void launches(const page_pack *p, const dl_launches *launches, dl_str *out)
{
    uint32_t n = launches->count < p->launch_end ? launches->count : p->launch_end;
    dl_str_fmt(out, ",\"all_launches\":%u,\"launches\":[", launches->count);
    for (uint32_t i = 0; i < n; i++) {
        const dl_launch *l = &launches->items[i];
        const char *op = dl_view_launch_op_name(p->view, i);
        comma(out, i);
        dl_str_fmt(out, "[%u,%u,", l->chip, l->number);
        if (l->has_ids)
            dl_str_fmt(out, "%llu", (unsigned long long)(l->run_host_id ? l->run_host_id : l->run_id));
        else
            dl_str_add(out, "-1");
        dl_str_fmt(out, ",%lld,%lld", l->trace_id == UINT32_MAX ? -1LL : (long long)l->trace_id,
                   l->trace_counter == UINT32_MAX ? -1LL : (long long)l->trace_counter);
        if (op || l->op) {
            dl_str_char(out, ',');
            text(out, op ? op : "");
        }
        if (l->op) dl_str_fmt(out, ",%llu", (unsigned long long)l->op);
        dl_str_char(out, ']');
    }
    dl_str_char(out, ']');
}

/* JSON knows no infinity. */
static void decimal(dl_str *out, double value)
{
    dl_str_char(out, ',');
    dl_str_real(out, isfinite(value) ? value : 0.0);
}

/* [chip, RISC, zone, role, count, sum, min, max, average, median, p95, p99], exact, of the whole log. */
static devlog_status statistics(const page_pack *p, dl_decode *d, dl_str *out, devlog_error *err)
{
    const dl_tables *t = dl_decode_tables(d);
    uint32_t n_chips, rank = 0;
    const dl_view_chip *order = dl_view_chips(p->view, &n_chips);
    dl_groups g;
    devlog_status status = dl_groups_by_risc(d, &g, err);
    if (status) return status;
    dl_str_fmt(out, ",\"all_statistics\":%zu,\"statistics\":[", g.n);
    for (size_t i = 0; i < g.n && i < MAX_STATISTICS; i++) {
        const dl_group *group = &g.items[i];
        const dl_summary *s = &group->summary;
        comma(out, i > 0);
        for (rank = 0; rank + 1 < n_chips && order[rank].chip != group->chip;)
            rank++;
        dl_str_fmt(out, "[%u,", rank);
        text(out, dl_text(t, group->risc_name));
        dl_str_char(out, ',');
        const char *name = dl_text(t, group->site_name);
        text(out, name[0] ? name : "(no name)"); /* as in the timeline */
        dl_str_fmt(out, ",%d,%llu", (int)group->role, (unsigned long long)s->count);
        dl_str_fmt(out, ",%.0f,%llu,%llu", (double)s->sum, (unsigned long long)s->min,
                   (unsigned long long)s->max);
        decimal(out, dl_summary_average(s));
        decimal(out, dl_summary_median(s));
        dl_str_fmt(out, ",%llu,%llu]", (unsigned long long)s->p95, (unsigned long long)s->p99);
    }
    dl_str_char(out, ']');
    dl_groups_free(&g);
    return DEVLOG_OK;
}

static void quoted(dl_str *out, bool known, uint64_t value)
{
    if (known)
        dl_str_fmt(out, ",\"%llu\"", (unsigned long long)value);
    else
        dl_str_add(out, ",\"\"");
}

/* [chip, RISC, name, kind, count, passes, last, min, max, mean, total], of the whole log: what is no zone.
 * What a kind has not is "". */
static devlog_status markers(const page_pack *p, dl_decode *d, dl_str *out, devlog_error *err)
{
    const dl_tables *t = dl_decode_tables(d);
    uint32_t n_chips, rank = 0;
    const dl_view_chip *order = dl_view_chips(p->view, &n_chips);
    dl_series_groups g;
    devlog_status status = dl_series_groups_of(d, false, &g, err);
    if (status) return status;
    dl_str_fmt(out, ",\"all_markers\":%zu,\"markers\":[", g.n);
    for (size_t i = 0; i < g.n && i < MAX_MARKERS; i++) {
        const dl_series *s = &g.items[i].series;
        bool sum = s->kind == DL_EVENT_SUM, valued = sum || s->kind == DL_EVENT_VALUE;
        bool by_pass = sum && s->passes && s->longest >= s->shortest;
        comma(out, i > 0);
        for (rank = 0; rank + 1 < n_chips && order[rank].chip != g.items[i].chip;)
            rank++;
        dl_str_fmt(out, "[%u,", rank);
        text(out, dl_risc_text(t, s->stream));
        dl_str_char(out, ',');
        text(out, dl_site_text(t, s->site));
        dl_str_fmt(out, ",\"%s\",%llu", dl_series_kind_text(s), (unsigned long long)s->count);
        quoted(out, sum && s->passes, s->passes);
        quoted(out, valued && !sum, s->last);
        quoted(out, valued, by_pass ? s->shortest : s->min);
        quoted(out, valued, by_pass ? s->longest : s->max);
        /* Where a double has no unit any more, the mean is a whole number, or it might pass the greatest
         * value. */
        uint64_t n = s->passes ? s->passes : s->count;
        double mean = valued ? dl_series_average(s) : 0;
        if (!valued || mean >= 9007199254740992.0)
            quoted(out, valued, n ? (uint64_t)((s->sum + n / 2) / n) : 0);
        else
            decimal(out, mean);
        dl_str_add(out, ",\"");
        if (sum) dl_sum_text(out, s->sum);
        dl_str_add(out, "\"]");
    }
    dl_str_fmt(out, "],\"wait_records\":\"%llu\"", (unsigned long long)g.wait_records);
    dl_series_groups_free(&g);
    return DEVLOG_OK;
}

static void loss(dl_str *out, bool *more, bool lost, uint64_t n, const char *before, const char *what,
                 char *const *details)
{
    if (n == 0) return;
    comma(out, *more);
    *more = true;
    dl_str_fmt(out, "[%d,\"%llu\",", lost, (unsigned long long)n);
    dl_str line = {0};
    dl_str_fmt(&line, "%s%s", before, what);
    text(out, line.text ? line.text : "");
    dl_str_free(&line);
    dl_str_add(out, ",[");
    for (int i = 0; i < DL_DETAILS_PER_KIND && details && details[i]; i++) {
        comma(out, i);
        text(out, details[i]);
    }
    dl_str_add(out, "]]");
}

/* How far the figures can be trusted: captures say it, device logs do not. */
static void trust(const dl_losses *l, dl_str *out)
{
    dl_str_add(out, ",\"clocks\":[");
    for (uint32_t i = 0; i < l->n_clocks; i++)
        dl_str_fmt(out, "%s[%u,%.1f,%.1f]", i ? "," : "", l->clocks[i].slot, l->clocks[i].core_cycles,
                   l->clocks[i].host_ns);
    dl_str_char(out, ']');
    char off[DL_U64_DIGITS + 1] = "null"; /* nobody knows */
    if (!l->kernels_unpriced) snprintf(off, sizeof off, "%llu", (unsigned long long)l->cost_off_of_kernels);
    if (l->cost_known && (l->cycles_of_kernels || l->kernels_unknown_cost))
        dl_str_fmt(
            out,
            ",\"cost\":{\"subtracted\":%s,\"within\":%llu,\"off\":%s,\"of\":%llu,\"unknown\":%llu,\"most\":%llu}",
            l->cost_subtracted ? "true" : "false", (unsigned long long)l->cost_of_kernels, off,
            (unsigned long long)l->cycles_of_kernels, (unsigned long long)l->kernels_unknown_cost,
            (unsigned long long)l->kernels_most_cost);
}

/* [lost?, count, what, [details]]: losses first, then what was repaired or noticed. */
static void losses(const dl_losses *l, dl_str *out)
{
    bool more = false;
    dl_str_fmt(out, ",\"lost\":%s,\"log_lines\":%llu,\"log_rows\":%llu,\"findings\":[",
               dl_losses_any(l) ? "true" : "false", (unsigned long long)l->lines,
               (unsigned long long)l->rows);
    for (int i = DL_SKIP_NONE + 1; i < DL_SKIPS; i++)
        loss(out, &more, true, l->skipped[i], "lines skipped: ", dl_skip_text((dl_skip)i), l->details[i]);
    for (int pass = 0; pass < 2; pass++)
        for (int i = 0; i < DL_FINDINGS; i++)
            if (dl_finding_is_loss((dl_finding)i) == (pass == 0))
                loss(out, &more, pass == 0, l->found[i], "", dl_finding_text((dl_finding)i),
                     l->details[DL_SKIPS + i]);
    loss(out, &more, false, l->rows_filtered, "", "rows left out by the filters", NULL);
    loss(out, &more, false, l->zones_filtered, "", "zones left out by the filters", NULL);
    dl_str_char(out, ']');
}

void page_without_angle(dl_str *out, size_t from)
{
    size_t n = 0;
    for (size_t i = from; i < out->len; i++)
        n += out->text[i] == '<';
    if (n == 0 || !dl_str_reserve(out, n * 5)) return;
    size_t to = out->len + n * 5;
    out->text[to] = '\0';
    for (size_t i = out->len; i-- > from;) {
        if (out->text[i] == '<')
            memcpy(out->text + (to -= 6), "\\u003c", 6);
        else
            out->text[--to] = out->text[i];
    }
    out->len += n * 5;
}

devlog_status page_meta(const page_pack *p, const char *title, dl_str *out, devlog_error *err)
{
    dl_decode *d = dl_view_decode(p->view);
    const dl_tables *t = dl_decode_tables(d);
    size_t from = out->len;
    dl_str_add(out, "{\"title\":");
    text(out, title ? title : "");
    dl_str_fmt(out, ",\"left_out\":%llu,\"columns\":[", (unsigned long long)p->left_out);
    for (int i = 0; i < PAGE_COLUMNS; i++)
        dl_str_fmt(out, "%s%zu", i ? "," : "", p->columns[i].len);
    dl_str_char(out, ']');
    chips(p, t, out);
    dl_str_add(out, ",\"rows\":[");
    dl_str_add(out, p->rows.text ? p->rows.text : "");
    dl_str_char(out, ']');
    sites(p, t, out);
    launches(p, dl_decode_launches(d), out);
    devlog_status status = statistics(p, d, out, err);
    if (!status) status = markers(p, d, out, err);
    if (status) return status;
    dl_str_fmt(out, ",\"texts\":[%s]", p->texts.text ? p->texts.text : "");
    trust(dl_decode_losses(d), out);
    losses(dl_decode_losses(d), out);
    dl_str_char(out, '}');
    page_without_angle(out, from);
    return p->rows.failed ? dl_str_status(&p->rows, err) : dl_str_status(out, err);
}
