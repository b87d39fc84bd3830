/* A decoded log as one CSV table: a row per zone, core, launch and analysis, and one per kind of loss. Cells
 * that a row has no use for are empty. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "decode/analysis/counter_groups.h"
#include "decode/analysis/groups.h"
#include "decode/analysis/series_groups.h"
#include "report/machine.h"
#include "report/summary_text.h"

static void cell(dl_str *b, const char *text)
{
    dl_str_csv(b, text, strlen(text));
    dl_str_char(b, ',');
}

static void number(dl_str *b, bool has, uint64_t value)
{
    if (has) dl_str_u64(b, value);
    dl_str_char(b, ',');
}

/* The columns last, cycle, passes, shortest_pass, longest_pass and text of what is no marker. */
static const char no_marker[] = ",,,,,,\n";

static void summary(dl_str *b, const dl_summary *s, bool has_first)
{
    for (int i = 0; i < DL_SUMMARY_FIELDS; i++) {
        if (i) dl_str_char(b, ',');
        if (i != DL_SUMMARY_FIRST || has_first) dl_summary_field(b, s, i);
    }
    dl_str_add(b, no_marker);
}

static void header(dl_str *b)
{
    dl_str_add(b, "table,name,chip,launch,run_host_id,trace_id,trace_counter,core_x,core_y,risc,zone");
    for (int i = 0; i < DL_SUMMARY_FIELDS; i++)
        dl_str_fmt(b, ",%s", dl_summary_names[i]);
    dl_str_add(b, ",last,cycle,passes,shortest_pass,longest_pass,text\n");
}

static void group(dl_decode *d, const char *table, const dl_group *g, dl_file_writer *out)
{
    const dl_tables *t = dl_decode_tables(d);
    const dl_launch *l = g->launch == DL_NONE ? NULL : &dl_decode_launches(d)->items[g->launch];
    const dl_stream *s = g->stream == DL_NONE ? NULL : &t->streams[g->stream];
    dl_str *b = &out->buffer;
    dl_file_flush(out);
    dl_str_fmt(b, "%s,,", table);
    number(b, true, t->chips[g->chip].id);
    number(b, l != NULL, l ? l->number : 0);
    number(b, l && l->has_ids, l ? l->run_host_id : 0);
    number(b, l && l->trace_id != DL_NO_ID, l ? l->trace_id : 0);
    number(b, l && l->trace_counter != DL_NO_ID, l ? l->trace_counter : 0);
    number(b, s != NULL, s ? s->core_x : 0);
    number(b, s != NULL, s ? s->core_y : 0);
    cell(b, dl_text(t, g->risc_name));
    cell(b, dl_text(t, g->site_name));
    summary(b, &g->summary, l == NULL);
}

static devlog_status all_launches(dl_decode *d, dl_groups *out, devlog_error *err)
{
    return dl_groups_by_launch(d, 0, out, err);
}

static devlog_status groups(dl_decode *d, const char *table,
                            devlog_status (*make)(dl_decode *, dl_groups *, devlog_error *),
                            dl_file_writer *out, devlog_error *err)
{
    dl_groups g;
    devlog_status status = make(d, &g, err);
    if (status) return status;
    for (size_t i = 0; i < g.n; i++)
        group(d, table, &g.items[i], out);
    dl_groups_free(&g);
    return DEVLOG_OK;
}

/* Markers that are no zones: `name` is their kind, `zone` their name. */
static devlog_status series(dl_decode *d, bool by_core, dl_file_writer *out, devlog_error *err)
{
    dl_series_groups g;
    const dl_tables *t = dl_decode_tables(d);
    dl_str *b = &out->buffer;
    devlog_status status = dl_series_groups_of(d, by_core, &g, err);
    for (size_t i = 0; i < g.n && !status; i++) {
        const dl_series *s = &g.items[i].series;
        const dl_stream *stream = &t->streams[s->stream];
        bool sum = s->kind == DL_EVENT_SUM, valued = sum || s->kind == DL_EVENT_VALUE;
        bool passes = sum && s->passes, extremes = passes && s->longest >= s->shortest;
        const dl_summary of = {
            .count = passes ? s->passes : s->count, .sum = s->sum, .min = s->min, .max = s->max};
        dl_file_flush(out);
        dl_str_fmt(b, "%s,%s,", by_core ? "core_markers" : "markers", dl_series_kind_text(s));
        number(b, true, t->chips[g.items[i].chip].id);
        dl_str_add(b, ",,,,");
        number(b, by_core, stream->core_x);
        number(b, by_core, stream->core_y);
        cell(b, dl_text(t, stream->risc_name));
        cell(b, dl_site_text(t, s->site));
        number(b, true, s->count);
        for (int k = 1; k < DL_SUMMARY_FIELDS; k++) {
            bool told = k == DL_SUMMARY_AVERAGE || k == DL_SUMMARY_SUM || k == 2 || k == 3 || k == 4;
            if (valued && told) dl_summary_field(b, &of, k);
            dl_str_char(b, ',');
        }
        number(b, valued, s->last);
        number(b, true, s->last_time);
        number(b, passes, s->passes);
        number(b, extremes, s->shortest);
        number(b, extremes, s->longest);
        dl_str_char(b, '\n');
    }
    if (!by_core && g.wait_records && !status)
        dl_str_fmt(b, "wait_records,,,,,,,,,,,%llu,,,,,,,,,,,%s", (unsigned long long)g.wait_records,
                   no_marker);
    dl_series_groups_free(&g);
    return status;
}

/* Hardware counters by zone: `name` is the counter's, `sum` and `average` are of its values, `cycle` the cycles that they
 * were counted over. */
static devlog_status counters(dl_decode *d, dl_file_writer *out, devlog_error *err)
{
    dl_counter_groups g;
    const dl_tables *t = dl_decode_tables(d);
    dl_str *b = &out->buffer;
    devlog_status status = dl_counter_groups_of(d, &g, err);
    for (size_t i = 0; i < g.n && !status; i++) {
        const dl_counter_group *c = &g.items[i];
        const dl_summary of = {.count = c->sums.records, .sum = c->sums.value};
        dl_file_flush(out);
        dl_str_add(b, "counters,");
        cell(b, dl_site_text(t, c->sums.counter));
        number(b, true, t->chips[c->chip].id);
        dl_str_add(b, ",,,,,,");
        cell(b, dl_text(t, t->streams[c->sums.stream].risc_name));
        cell(b, dl_counter_zone(t, c));
        number(b, true, c->sums.records);
        for (int k = 1; k < DL_SUMMARY_FIELDS; k++) {
            const bool told = k == DL_SUMMARY_AVERAGE || k == DL_SUMMARY_SUM;
            if (told && c->lacking) dl_str_add(b, "N/A");
            if (told && !c->lacking) dl_summary_field(b, &of, k);
            dl_str_char(b, ',');
        }
        dl_str_char(b, ',');
        if (c->lacking)
            dl_str_add(b, "N/A,");
        else
            number(b, true, (uint64_t)c->sums.reference);
        dl_str_add(b, ",,,\n");
    }
    dl_counter_groups_free(&g);
    return status;
}

static void messages(dl_decode *d, dl_file_writer *out)
{
    size_t n;
    uint64_t more;
    const dl_tables *t = dl_decode_tables(d);
    const dl_launches *launches = dl_decode_launches(d);
    dl_message *list = dl_messages_of(d, &n, &more);
    dl_str *b = &out->buffer;
    for (size_t i = 0; i < n; i++) {
        const dl_stream *s = &t->streams[list[i].stream];
        const dl_launch *l = list[i].launch < launches->count ? &launches->items[list[i].launch] : NULL;
        dl_str said = {0};
        dl_meta_text(dl_text(t, list[i].meta), &said);
        dl_file_flush(out);
        dl_str_add(b, "messages,text,");
        number(b, true, t->chips[s->chip].id);
        number(b, l != NULL, l ? l->number : 0);
        number(b, l && l->has_ids, l ? l->run_host_id : 0);
        number(b, l && l->trace_id != DL_NO_ID, l ? l->trace_id : 0);
        number(b, l && l->trace_counter != DL_NO_ID, l ? l->trace_counter : 0);
        number(b, true, s->core_x);
        number(b, true, s->core_y);
        cell(b, dl_text(t, s->risc_name));
        cell(b, dl_site_text(t, list[i].site));
        dl_str_add(b, "1,,,,,,,,,,,,,");
        number(b, true, list[i].time);
        dl_str_add(b, ",,,");
        dl_str_csv(b, said.text ? said.text : "", said.len);
        dl_str_char(b, '\n');
        dl_str_free(&said);
    }
    if (more) {
        dl_str_add(b, "messages,left_out,,,,,,,,,,");
        dl_str_fmt(b, "%llu,,,,,,,,,,,%s", (unsigned long long)more, no_marker);
    }
    free(list);
}

static void analyses(const dl_tables *t, const dl_analyzer *a, dl_file_writer *out)
{
    dl_str *b = &out->buffer;
    for (size_t i = 0; a && i < dl_analyzer_list(a)->n; i++) {
        size_t n;
        const dl_analysis_result *r = dl_analyzer_results(a, i, &n);
        for (size_t k = 0; k < n; k++) {
            dl_file_flush(out);
            dl_str_add(b, "analyses,");
            cell(b, dl_analyzer_list(a)->items[i].name);
            number(b, true, t->chips[r[k].chip].id);
            dl_str_add(b, ",,,,");
            number(b, r[k].core_x != DL_NONE, r[k].core_x);
            number(b, r[k].core_y != DL_NONE, r[k].core_y);
            cell(b, r[k].stream == DL_NONE ? "" : dl_risc_text(t, r[k].stream));
            dl_str_char(b, ',');
            if (dl_analyzer_list(a)->items[i].type == DL_ANALYSIS_EVENT) /* lists what is no duration */
                dl_str_fmt(b, "%llu,,,,,,,,,,,%s", (unsigned long long)r[k].summary.count, no_marker);
            else
                summary(b, &r[k].summary, true);
        }
    }
}

static void loss(dl_str *b, const char *name, uint64_t n)
{
    dl_str_fmt(b, "losses,%s,,,,,,,,,,%llu,,,,,,,,,,,%s", name, (unsigned long long)n, no_marker);
}

/* What cycles and nanoseconds of a chip are of, beside what the rows above say. */
static void clocks(const dl_tables *t, dl_str *b)
{
    for (uint32_t i = 0; i < t->n_chips; i++) {
        const dl_chip *c = &t->chips[i];
        if (c->aiclk_khz)
            dl_str_fmt(b, "clocks,aiclk_khz,%u,,,,,,,,,%llu,,,,,,,,,,,%s", c->id,
                       (unsigned long long)c->aiclk_khz, no_marker);
        if (c->instructions)
            dl_str_fmt(b, "clocks,cycles_are_instructions,%u,,,,,,,,,1,,,,,,,,,,,%s", c->id, no_marker);
    }
}

static void losses(const dl_losses *l, dl_str *b)
{
    loss(b, "lines", l->lines);
    loss(b, "rows", l->rows);
    if (l->rows_filtered) loss(b, "rows_filtered", l->rows_filtered);
    if (l->zones_filtered) loss(b, "zones_filtered", l->zones_filtered);
    for (int i = DL_SKIP_NONE + 1; i < DL_SKIPS; i++)
        if (l->skipped[i]) loss(b, dl_skip_key((dl_skip)i), l->skipped[i]);
    for (int i = 0; i < DL_FINDINGS; i++)
        if (l->found[i]) loss(b, dl_finding_key((dl_finding)i), l->found[i]);
}

devlog_status dl_report_csv(dl_decode *d, const dl_machine_options *o, dl_file_writer *out, devlog_error *err)
{
    header(&out->buffer);
    devlog_status status = groups(d, "zones", dl_groups_by_risc, out, err);
    if (!status) status = groups(d, "cores", dl_groups_by_core, out, err);
    if (!status) status = series(d, false, out, err);
    if (!status) status = series(d, true, out, err);
    if (!status) status = counters(d, out, err);
    if (!status) messages(d, out);
    if (!status) status = groups(d, "launches", all_launches, out, err);
    if (status) return status;
    analyses(dl_decode_tables(d), o->analyzer, out);
    clocks(dl_decode_tables(d), &out->buffer);
    losses(dl_decode_losses(d), &out->buffer);
    return DEVLOG_OK;
}
