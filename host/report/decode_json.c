/* A decoded log as one JSON object. Printed directly: a tree of it would not fit in memory for large logs. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/real.h"
#include "decode/analysis/counter_groups.h"
#include "decode/analysis/groups.h"
#include "decode/analysis/series_groups.h"
#include "report/machine.h"
#include "report/summary_text.h"

/* Keys are the program's own and need no escaping. */
static void put_key(dl_str *out, const char *key)
{
    dl_str_char(out, '"');
    dl_str_add(out, key);
    dl_str_add(out, "\": ");
}

static void text(dl_str *out, const char *key, const char *value)
{
    put_key(out, key);
    dl_str_json(out, value, strlen(value));
}

static void core(dl_str *out, uint32_t x, uint32_t y)
{
    dl_str_add(out, "\"core\": [");
    dl_str_u64(out, x);
    dl_str_add(out, ", ");
    dl_str_u64(out, y);
    dl_str_add(out, "], ");
}

static void number(dl_str *out, const char *key, uint64_t value)
{
    put_key(out, key);
    dl_str_u64(out, value);
}

static void number_or_null(dl_str *out, const char *key, bool has, uint64_t value)
{
    put_key(out, key);
    if (has)
        dl_str_u64(out, value);
    else
        dl_str_add(out, "null");
}

static void real_or_null(dl_str *out, const char *key, bool has, double value)
{
    put_key(out, key);
    if (has)
        dl_str_fmt(out, "%.17g", value);
    else
        dl_str_add(out, "null");
}

/* Begins item i of an array. */
static void item(dl_file_writer *out, size_t i, const char *indent)
{
    dl_file_flush(out);
    dl_str_add(&out->buffer, i ? ",\n" : "\n");
    dl_str_add(&out->buffer, indent);
}

static void chips(const dl_tables *t, dl_file_writer *out)
{
    dl_str *b = &out->buffer;
    dl_str_add(b, "  \"chips\": [");
    for (uint32_t i = 0; i < t->n_chips; i++) {
        const dl_chip *c = &t->chips[i];
        item(out, i, "    {");
        number(b, "id", c->id);
        dl_str_add(b, ", ");
        if (c->arch)
            text(b, "arch", dl_text(t, c->arch));
        else
            dl_str_add(b, "\"arch\": null");
        char mhz[DL_GROUPED_SIZE];
        if (c->freq_khz)
            dl_str_fmt(b, ", \"frequency_mhz\": %s", dl_mhz_text(mhz, c->freq_khz));
        else
            dl_str_add(b, ", \"frequency_mhz\": null");
        if (c->aiclk_khz) dl_str_fmt(b, ", \"aiclk_mhz\": %s", dl_mhz_text(mhz, c->aiclk_khz));
        dl_str_add(b, c->instructions ? ", \"cycles_are_instructions\": true}" : "}");
    }
    dl_str_add(b, "\n  ],\n");
}

/* One group without its braces; those of a core say which, those of a launch do not repeat it. */
static void group(dl_str *b, const dl_tables *t, const dl_group *g, bool with_chip)
{
    if (with_chip) {
        number(b, "chip", t->chips[g->chip].id);
        dl_str_add(b, ", ");
    }
    if (g->stream != DL_NONE) core(b, t->streams[g->stream].core_x, t->streams[g->stream].core_y);
    text(b, "risc", dl_text(t, g->risc_name));
    dl_str_add(b, ", ");
    text(b, "zone", dl_text(t, g->site_name));
    dl_str_add(b, ", ");
    dl_summary_json(b, &g->summary, g->launch == DL_NONE);
}

static devlog_status groups(dl_decode *d, const char *key,
                            devlog_status (*make)(dl_decode *, dl_groups *, devlog_error *),
                            dl_file_writer *out, devlog_error *err)
{
    dl_groups g;
    devlog_status status = make(d, &g, err);
    if (status) return status;
    dl_str_fmt(&out->buffer, "  \"%s\": [", key);
    for (size_t i = 0; i < g.n; i++) {
        item(out, i, "    {");
        group(&out->buffer, dl_decode_tables(d), &g.items[i], true);
        dl_str_char(&out->buffer, '}');
    }
    dl_str_add(&out->buffer, "\n  ],\n");
    dl_groups_free(&g);
    return DEVLOG_OK;
}

/* What is no zone. Numbers that a kind has no use for, or that the log does not tell, are null. */
static void series(dl_str *b, const dl_tables *t, const dl_series_group *g, bool by_core)
{
    const dl_series *s = &g->series;
    const dl_stream *stream = &t->streams[s->stream];
    bool sum = s->kind == DL_EVENT_SUM, valued = sum || s->kind == DL_EVENT_VALUE;
    bool passes = sum && s->passes, extremes = passes && s->longest >= s->shortest;
    const dl_summary of = {.count = passes ? s->passes : s->count, .sum = s->sum};
    number(b, "chip", t->chips[g->chip].id);
    dl_str_add(b, ", ");
    if (by_core) core(b, stream->core_x, stream->core_y);
    text(b, "risc", dl_text(t, stream->risc_name));
    dl_str_add(b, ", ");
    text(b, "name", dl_site_text(t, s->site));
    dl_str_fmt(b, ", \"kind\": \"%s\", ", dl_series_kind_text(s));
    number(b, "count", s->count);
    dl_str_add(b, ", ");
    number_or_null(b, "passes", passes, s->passes);
    dl_str_add(b, ", ");
    number_or_null(b, "last", valued, s->last);
    dl_str_add(b, ", ");
    number(b, "last_cycle", s->last_time);
    dl_str_add(b, ", ");
    number_or_null(b, "min", valued, s->min);
    dl_str_add(b, ", ");
    number_or_null(b, "max", valued, s->max);
    dl_str_add(b, ", ");
    number_or_null(b, "shortest_pass", extremes, s->shortest);
    dl_str_add(b, ", ");
    number_or_null(b, "longest_pass", extremes, s->longest);
    static const char *const names[] = {"sum", "average"};
    static const int fields[] = {DL_SUMMARY_SUM, DL_SUMMARY_AVERAGE};
    for (int i = 0; i < 2; i++) {
        dl_str_fmt(b, ", \"%s\": ", names[i]);
        if (valued)
            dl_summary_field(b, &of, fields[i]);
        else
            dl_str_add(b, "null");
    }
}

static devlog_status all_series(dl_decode *d, const char *key, bool by_core, dl_file_writer *out,
                                devlog_error *err)
{
    dl_series_groups g;
    devlog_status status = dl_series_groups_of(d, by_core, &g, err);
    if (status) return status;
    dl_str_fmt(&out->buffer, "  \"%s\": [", key);
    for (size_t i = 0; i < g.n; i++) {
        item(out, i, "    {");
        series(&out->buffer, dl_decode_tables(d), &g.items[i], by_core);
        dl_str_char(&out->buffer, '}');
    }
    dl_str_add(&out->buffer, "\n  ],\n");
    if (!by_core && g.wait_records)
        dl_str_fmt(&out->buffer, "  \"wait_records\": %llu,\n", (unsigned long long)g.wait_records);
    dl_series_groups_free(&g);
    return DEVLOG_OK;
}

/* Hardware counters by zone, where the log has any. What the chip has not is null. */
static devlog_status counters(dl_decode *d, dl_file_writer *out, devlog_error *err)
{
    dl_counter_groups g;
    const dl_tables *t = dl_decode_tables(d);
    dl_str *b = &out->buffer;
    devlog_status status = dl_counter_groups_of(d, &g, err);
    if (status || !g.n) return status;
    dl_str_add(b, "  \"zone_counters\": [");
    for (size_t i = 0; i < g.n; i++) {
        const dl_counter_group *c = &g.items[i];
        const dl_summary of = {.count = c->sums.records, .sum = c->sums.value},
                         over = {.sum = c->sums.reference};
        double percent;
        item(out, i, "    {");
        number(b, "chip", t->chips[c->chip].id);
        dl_str_add(b, ", ");
        text(b, "risc", dl_text(t, t->streams[c->sums.stream].risc_name));
        dl_str_add(b, ", \"zone\": ");
        if (c->sums.zone == DL_NONE)
            dl_str_add(b, "null");
        else
            dl_str_json(b, dl_counter_zone(t, c), strlen(dl_counter_zone(t, c)));
        dl_str_add(b, ", ");
        text(b, "counter", dl_site_text(t, c->sums.counter));
        dl_str_add(b, ", ");
        number(b, "records", c->sums.records);
        if (c->lacking) {
            dl_str_add(b,
                       ", \"sum\": null, \"average\": null, \"reference_cycles\": null, \"percent\": null}");
            continue;
        }
        dl_str_add(b, ", \"sum\": ");
        dl_summary_field(b, &of, DL_SUMMARY_SUM);
        dl_str_add(b, ", \"average\": ");
        dl_summary_field(b, &of, DL_SUMMARY_AVERAGE);
        dl_str_add(b, ", \"reference_cycles\": ");
        dl_summary_field(b, &over, DL_SUMMARY_SUM);
        dl_str_add(b, ", \"percent\": ");
        if (dl_counter_percent(c, &percent))
            dl_str_real(b, percent);
        else
            dl_str_add(b, "null");
        dl_str_char(b, '}');
    }
    dl_str_add(b, "\n  ],\n");
    dl_counter_groups_free(&g);
    return DEVLOG_OK;
}

static void messages(dl_decode *d, dl_file_writer *out)
{
    size_t n;
    uint64_t more;
    const dl_tables *t = dl_decode_tables(d);
    const dl_launches *l = dl_decode_launches(d);
    dl_message *list = dl_messages_of(d, &n, &more);
    dl_str *b = &out->buffer;
    dl_str_add(b, "  \"messages\": [");
    for (size_t i = 0; i < n; i++) {
        const dl_stream *s = &t->streams[list[i].stream];
        dl_str said = {0};
        dl_meta_text(dl_text(t, list[i].meta), &said);
        item(out, i, "    {");
        number(b, "chip", t->chips[s->chip].id);
        dl_str_add(b, ", ");
        core(b, s->core_x, s->core_y);
        text(b, "risc", dl_text(t, s->risc_name));
        dl_str_add(b, ", ");
        number_or_null(b, "launch", list[i].launch < l->count,
                       list[i].launch < l->count ? l->items[list[i].launch].number : 0);
        dl_str_add(b, ", ");
        number(b, "cycle", list[i].time);
        dl_str_add(b, ", ");
        text(b, "text", said.text ? said.text : "");
        dl_str_char(b, '}');
        dl_str_free(&said);
    }
    dl_str_add(b, "\n  ],\n  ");
    number(b, "messages_left_out", more);
    dl_str_add(b, ",\n");
    free(list);
}

static void launch(dl_str *b, const dl_tables *t, const dl_launch *l)
{
    number(b, "chip", t->chips[l->chip].id);
    dl_str_add(b, ", ");
    number(b, "launch", l->number);
    dl_str_add(b, ", ");
    number_or_null(b, "run_host_id", l->has_ids, l->run_host_id);
    dl_str_add(b, ", ");
    number_or_null(b, "trace_id", l->trace_id != DL_NO_ID, l->trace_id);
    dl_str_add(b, ", ");
    number_or_null(b, "trace_counter", l->trace_counter != DL_NO_ID, l->trace_counter);
    dl_str_add(b, ", ");
    number_or_null(b, "first_fw_start", l->first_fw_start != UINT64_MAX, l->first_fw_start);
    dl_str_add(b, ", ");
    number_or_null(b, "last_fw_end", l->last_fw_end != 0, l->last_fw_end);
}

static devlog_status launches(dl_decode *d, dl_file_writer *out, devlog_error *err)
{
    dl_groups g;
    dl_str *b = &out->buffer;
    const dl_tables *t = dl_decode_tables(d);
    devlog_status status = dl_groups_by_launch(d, 0, &g, err);
    if (status) return status;
    dl_str_add(b, "  \"launches\": [");
    for (size_t i = 0; i < g.n; i++) {
        bool begins = i == 0 || g.items[i].launch != g.items[i - 1].launch;
        bool ends = i + 1 == g.n || g.items[i].launch != g.items[i + 1].launch;
        if (begins) {
            item(out, i, "    {");
            launch(b, t, &dl_decode_launches(d)->items[g.items[i].launch]);
            dl_str_add(b, ", \"zones\": [");
        }
        item(out, !begins, "      {");
        group(b, t, &g.items[i], false);
        dl_str_add(b, ends ? "}]}" : "}");
    }
    dl_str_add(b, "\n  ],\n");
    dl_groups_free(&g);
    return DEVLOG_OK;
}

static void events(const dl_tables *t, const dl_analyzer *a, size_t i, uint32_t chip, dl_file_writer *out)
{
    size_t n, shown = 0;
    dl_str *b = &out->buffer;
    const dl_analysis_event *e = dl_analyzer_events(a, i, &n);
    dl_str_add(b, ", \"events\": [");
    for (size_t k = 0; k < n; k++) {
        const dl_stream *s = &t->streams[e[k].stream];
        if (s->chip != chip) continue;
        item(out, shown++, "      {");
        number(b, "cycle", e[k].time);
        dl_str_add(b, ", ");
        core(b, s->core_x, s->core_y);
        text(b, "risc", dl_text(t, s->risc_name));
        dl_str_add(b, ", ");
        text(b, "zone", dl_site_text(t, e[k].site));
        dl_str_add(b, ", ");
        number_or_null(b, "data", e[k].type != DL_ROW_TS_EVENT, e[k].data);
        dl_str said = {0};
        if (e[k].meta && dl_meta_text(dl_text(t, e[k].meta), &said)) {
            dl_str_add(b, ", ");
            text(b, "text", said.text ? said.text : "");
        }
        dl_str_free(&said);
        dl_str_char(b, '}');
    }
    dl_str_add(b, "]");
}

/* Results r[0 .. n) of one chip. */
static void analysis(const dl_tables *t, const dl_analyzer *a, size_t i, const dl_analysis_result *r,
                     size_t n, dl_file_writer *out)
{
    const dl_analysis *of = &dl_analyzer_list(a)->items[i];
    dl_str *b = &out->buffer;
    text(b, "name", of->name);
    dl_str_add(b, ", ");
    text(b, "across", dl_across_text(of->across));
    dl_str_add(b, ", ");
    text(b, "type", dl_analysis_type_text(of->type));
    dl_str_add(b, ", ");
    number(b, "chip", t->chips[r[0].chip].id);
    dl_str_add(b, ", ");
    if (of->type == DL_ANALYSIS_EVENT) /* lists points and values, which are no durations */
        number(b, "count", r[0].summary.count);
    else
        dl_summary_json(b, &r[0].summary, true);
    dl_str_add(b, ", ");
    number(b, "incomplete", r[0].incomplete);
    if (n > 1) dl_str_add(b, ", \"parts\": [");
    for (size_t k = 1; k < n; k++) {
        item(out, k - 1, "      {");
        core(b, r[k].core_x, r[k].core_y);
        if (r[k].stream != DL_NONE) {
            text(b, "risc", dl_risc_text(t, r[k].stream));
            dl_str_add(b, ", ");
        }
        if (of->type == DL_ANALYSIS_EVENT)
            number(b, "count", r[k].summary.count);
        else
            dl_summary_json(b, &r[k].summary, true);
        dl_str_add(b, k + 1 == n ? "}]" : "}");
    }
    if (of->type == DL_ANALYSIS_EVENT) events(t, a, i, r[0].chip, out);
}

static void analyses(const dl_tables *t, const dl_analyzer *a, dl_file_writer *out)
{
    size_t shown = 0;
    dl_str_add(&out->buffer, "  \"analyses\": [");
    for (size_t i = 0; a && i < dl_analyzer_list(a)->n; i++) {
        size_t n;
        const dl_analysis_result *r = dl_analyzer_results(a, i, &n);
        for (size_t from = 0, to; from < n; from = to) {
            for (to = from; to < n && r[to].chip == r[from].chip; to++)
                ;
            item(out, shown++, "    {");
            analysis(t, a, i, r + from, to - from, out);
            dl_str_char(&out->buffer, '}');
        }
    }
    dl_str_add(&out->buffer, "\n  ],\n");
}

/* How far the figures can be trusted: captures say it, logs do not. */
static void trust(const dl_losses *l, dl_file_writer *out)
{
    dl_str *b = &out->buffer;
    dl_str_add(b, "  \"clocks\": [");
    for (uint32_t i = 0; i < l->n_clocks; i++) {
        const dl_clock_note *c = &l->clocks[i];
        dl_str_fmt(b, "%s{\"chip\": %u, ", i ? ", " : "", c->slot);
        real_or_null(b, "core_error_cycles", c->core_cycles > 0, c->core_cycles);
        dl_str_add(b, ", ");
        real_or_null(b, "host_error_ns", c->host_ns > 0, c->host_ns);
        dl_str_char(b, '}');
    }
    dl_str_add(b, "],\n  \"markers_own_cost\": ");
    char off[DL_U64_DIGITS + 1] = "null"; /* nobody knows */
    if (!l->kernels_unpriced) snprintf(off, sizeof off, "%llu", (unsigned long long)l->cost_off_of_kernels);
    if (l->cost_known && (l->cycles_of_kernels || l->kernels_unknown_cost))
        dl_str_fmt(
            b,
            "{\"subtracted\": %s, \"cycles_within_kernels\": %llu, \"off_at_most\": %s, "
            "\"cycles_of_kernels\": %llu, \"kernels_of_unknown_cost\": %llu, \"kernels_of_more_than_half\": %llu},\n",
            l->cost_subtracted ? "true" : "false", (unsigned long long)l->cost_of_kernels, off,
            (unsigned long long)l->cycles_of_kernels, (unsigned long long)l->kernels_unknown_cost,
            (unsigned long long)l->kernels_most_cost);
    else
        dl_str_add(b, "null,\n");
}

static void losses(const dl_losses *l, dl_file_writer *out)
{
    dl_str *b = &out->buffer;
    dl_str_add(b, "  \"losses\": {\n    ");
    number(b, "lines", l->lines);
    dl_str_add(b, ", ");
    number(b, "rows", l->rows);
    dl_str_add(b, ", ");
    number(b, "rows_filtered", l->rows_filtered);
    dl_str_add(b, ", ");
    number(b, "zones_filtered", l->zones_filtered);
    if (l->end_unknown) dl_str_add(b, ", \"end_unknown\": true");
    dl_str_add(b, ",\n    \"skipped\": {");
    bool first = true;
    for (int i = DL_SKIP_NONE + 1; i < DL_SKIPS; i++) {
        if (!l->skipped[i]) continue;
        dl_str_add(b, first ? "" : ", ");
        number(b, dl_skip_key((dl_skip)i), l->skipped[i]);
        first = false;
    }
    dl_str_add(b, "},\n    \"found\": {");
    first = true;
    for (int i = 0; i < DL_FINDINGS; i++) {
        if (!l->found[i]) continue;
        dl_str_add(b, first ? "" : ", ");
        number(b, dl_finding_key((dl_finding)i), l->found[i]);
        first = false;
    }
    dl_str_add(b, "},\n    \"details\": [");
    size_t shown = 0;
    for (int i = 0; i < DL_SKIPS + DL_FINDINGS; i++) {
        for (int k = 0; k < DL_DETAILS_PER_KIND && l->details[i][k]; k++) {
            item(out, shown++, "      ");
            dl_str_json(b, l->details[i][k], strlen(l->details[i][k]));
        }
    }
    dl_str_add(b, "]\n  }\n");
}

devlog_status dl_report_json(dl_decode *d, const dl_machine_options *o, dl_file_writer *out,
                             devlog_error *err)
{
    const dl_tables *t = dl_decode_tables(d);
    const dl_losses *l = dl_decode_losses(d);
    dl_str *b = &out->buffer;
    dl_str_fmt(b, "{\n  \"format\": \"devlog-decode-1\",\n  \"unit\": \"cycles\",\n  \"complete\": %s,\n",
               dl_losses_any(l) ? "false" : "true");
    dl_str_add(b, "  \"files\": [");
    for (size_t i = 0; o->files && o->files[i]; i++) {
        if (i) dl_str_add(b, ", ");
        dl_str_json(b, o->files[i], strlen(o->files[i]));
    }
    dl_str_add(b, "],\n");
    chips(t, out);
    devlog_status status = groups(d, "zones", dl_groups_by_risc, out, err);
    if (!status) status = groups(d, "cores", dl_groups_by_core, out, err);
    if (!status) status = all_series(d, "markers", false, out, err);
    if (!status) status = all_series(d, "core_markers", true, out, err);
    if (!status) status = counters(d, out, err);
    if (!status) messages(d, out);
    if (!status) status = launches(d, out, err);
    if (status) return status;
    analyses(t, o->analyzer, out);
    trust(l, out);
    losses(l, out);
    dl_str_add(b, "}\n");
    return DEVLOG_OK;
}
