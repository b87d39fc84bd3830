/* What a decoder says, as text. See told.h. */
#include "support/told.h"

#include "decode/parts/parts.h"
#include "report/decode_table.h"
#include "report/stats.h"
#include "support/cmocka_all.h"

static void hash_in(uint64_t *h, const void *bytes, size_t n)
{
    *h = dl_hash_u64(*h ^ dl_hash_bytes(bytes, n));
}

/* Samples with the launches that they are of, which may be written down in several ways. */
static void take_samples(uint64_t *h, const dl_key *k)
{
    dl_sample_walk w;
    uint64_t value;
    uint32_t at = 0, run = 0;
    dl_sample_walk_start(&w, &k->samples);
    for (; dl_sample_walk_next(&w, &value); at++) {
        while (run + 1 < k->n_runs && k->runs[run + 1].sample <= at)
            run++;
        const uint32_t launch =
            k->n_runs ? k->runs[run].launch + (at - k->runs[run].sample) * k->runs[run].step : 0;
        const uint64_t sample[] = {value, launch};
        hash_in(h, sample, sizeof sample);
    }
}

bool told_with_both;

static const dl_analysis_list *analyses(void)
{
    static dl_analysis_list lists[2];
    static const char more[] =
        "{\"risc\": {\"across\": \"risc\", \"type\": \"adjacent\", \"start\": {\"zone_name\": \"READ\"}, "
        "\"end\": {\"zone_name\": [\"WRITE\", \"READ\"]}},"
        "\"gap\": {\"across\": \"risc\", \"type\": \"adjacent\", \"start\": {\"role\": \"FW\", \"zone_phase\": \"ZONE_END\"}, "
        "\"end\": {\"role\": \"FW\", \"zone_phase\": \"ZONE_START\"}},"
        "\"chip\": {\"across\": \"device\", \"type\": \"adjacent\", \"start\": {\"role\": \"KERNEL\", \"zone_phase\": \"ZONE_END\"}, "
        "\"end\": {\"role\": \"FW\", \"zone_phase\": \"ZONE_START\"}},"
        "\"session\": {\"across\": \"risc\", \"type\": \"session_first_last\", \"start\": {\"role\": \"KERNEL\"}, "
        "\"end\": {\"role\": \"KERNEL\"}},"
        "\"launch\": {\"across\": \"risc\", \"type\": \"op_first_last\", \"start\": {\"role\": \"FW\"}, "
        "\"end\": {\"role\": \"FW\"}},"
        "\"sum\": {\"across\": \"core\", \"type\": \"sum\", \"marker\": {\"zone_name\": \"S*\"}},"
        "\"sum of launches\": {\"across\": \"ops\", \"type\": \"sum\", \"marker\": {\"zone_name\": \"S*\"}},"
        "\"points\": {\"across\": \"risc\", \"type\": \"event\", \"marker\": {\"zone_name\": \"*\"}}}";
    /* Behind a cut it follows nothing that is open. */
    static const char also[] =
        "{\"both\": {\"across\": \"risc\", \"type\": \"adjacent\", \"start\": {\"role\": \"FW\", \"zone_phase\": \"ZONE_START\"}, "
        "\"end\": {\"role\": \"FW\", \"zone_phase\": \"ZONE_START\"}}}";
    devlog_error err;
    dl_analysis_list *of = &lists[told_with_both];
    if (of->n) return of;
    assert_int_equal(dl_analyses_defaults(of, &err), DEVLOG_OK);
    if (told_with_both && dl_analyses_parse(of, "also", also, &err)) fail_msg("%s", err.text);
    if (dl_analyses_parse(of, "more", more, &err)) fail_msg("%s", err.text);
    return of;
}

devlog_status told_new(dl_decode **d, const dl_decode_options *options, devlog_error *err)
{
    const devlog_status status = dl_decode_new(d, options, err);
    return status ? status : dl_parts_collect(*d, analyses(), true, err);
}

/* Analyses, with all that they have listed. */
static void tell_analyses(dl_decode *d, dl_str *out)
{
    dl_analyzer *a = dl_parts_analyzer_of(d);
    devlog_error err;
    if (dl_analyzer_finish(a, &err)) fail_msg("%s", err.text);
    for (size_t i = 0; i < analyses()->n; i++) {
        size_t n;
        const dl_analysis_result *r = dl_analyzer_results(a, i, &n);
        for (size_t k = 0; k < n; k++) {
            const dl_summary *s = &r[k].summary;
            dl_str_fmt(
                out,
                "%s: chip %u core %u,%u stream %u: %llu, %llu to %llu, first %llu, sum %llu, median %llu %llu, %llu %llu %llu, open %llu\n",
                analyses()->items[i].name, r[k].chip, r[k].core_x, r[k].core_y, r[k].stream,
                (unsigned long long)s->count, (unsigned long long)s->min, (unsigned long long)s->max,
                (unsigned long long)s->first, (unsigned long long)s->sum, (unsigned long long)s->median_low,
                (unsigned long long)s->median_high, (unsigned long long)s->p90, (unsigned long long)s->p95,
                (unsigned long long)s->p99, (unsigned long long)r[k].incomplete);
        }
        const dl_analysis_event *e = dl_analyzer_events(a, i, &n);
        for (size_t k = 0; k < n; k++)
            dl_str_fmt(out, "%s: %llu %llu stream %u site %u launch %u %s %d\n", analyses()->items[i].name,
                       (unsigned long long)e[k].time, (unsigned long long)e[k].data, e[k].stream, e[k].site,
                       e[k].launch, dl_text(dl_decode_tables(d), e[k].meta), (int)e[k].type);
    }
}

/* Stamps of default markers, one by one. */
static void tell_stamps(dl_decode *d, dl_str *out)
{
    const dl_stamps *stamps = dl_parts_stamps_of(d);
    for (uint32_t i = 0; i < dl_stamps_n(stamps); i++) {
        const dl_stamp_row *row = dl_stamps_row(stamps, i);
        for (int c = 0; row && c < DL_STAMP_COLUMNS; c++) {
            dl_stamp_walk w;
            uint64_t time, n = 0, hash = 0;
            dl_stamp_walk_start(&w, &row->columns[c]);
            for (; dl_stamp_walk_next(&w, &time); n++)
                hash_in(&hash, &time, sizeof time);
            assert_int_equal(row->columns[c].n_far, 0);
            dl_str_fmt(out, "stamps of stream %u, %d: %llu, %llx\n", i, c, (unsigned long long)n,
                       (unsigned long long)hash);
        }
    }
}

void told_all(dl_decode *d, dl_str *out)
{
    const dl_tables *t = dl_decode_tables(d);
    const dl_table_options all = {.sort = DL_SORT_NAME, .width = 400};
    const dl_losses *l = dl_decode_losses(d);
    devlog_error err;
    assert_int_equal(dl_report_stats(d, NULL, out, &err), DEVLOG_OK);
    assert_int_equal(
        dl_report_table(d, &(dl_table_options){.sort = all.sort, .width = 400, .max_launches = 100000}, out,
                        &err),
        DEVLOG_OK);
    dl_str_fmt(out, "end unknown %d, stopped %d, empty %llu\n", l->end_unknown, l->stopped,
               (unsigned long long)l->empty);
    for (uint32_t i = 0; i < t->n_streams; i++)
        dl_str_fmt(out, "stream %u: %u %u,%u %s\n", i, t->streams[i].chip, t->streams[i].core_x,
                   t->streams[i].core_y, dl_risc_text(t, i));
    for (uint32_t i = 0; i < t->n_sites; i++)
        dl_str_fmt(out, "site %u: %s %s:%u %d\n", i, dl_site_text(t, i), dl_text(t, t->sites[i].file),
                   t->sites[i].line, (int)t->sites[i].role);
    for (size_t i = 0; i < dl_decode_n_keys(d); i++) {
        const dl_key *k = dl_decode_key(d, i);
        uint64_t samples = 0;
        take_samples(&samples, k);
        dl_str_fmt(out, "key %zu: %u %u first %llu at %llu, %llu, samples %llx\n", i, k->stream, k->site,
                   (unsigned long long)k->first, (unsigned long long)k->first_start,
                   (unsigned long long)k->count, (unsigned long long)samples);
    }
    for (size_t i = 0; i < dl_decode_n_series(d); i++) {
        const dl_series *s = dl_decode_series(d, i);
        dl_str_fmt(out, "series %zu: %u %u %d: %llu last %llu at %llu, %llu to %llu\n", i, s->stream, s->site,
                   (int)s->kind, (unsigned long long)s->count, (unsigned long long)s->last,
                   (unsigned long long)s->last_time, (unsigned long long)s->shortest,
                   (unsigned long long)s->longest);
    }
    const dl_launches *launches = dl_decode_launches(d);
    for (uint32_t i = 0; i < launches->count; i++) {
        const dl_launch *k = &launches->items[i];
        dl_str_fmt(out, "launch %u: chip %u number %u, %llu %u, repeat %u, run %llx, op %u, %llu to %llu\n",
                   i, k->chip, k->number, (unsigned long long)k->run_host_id, k->run_id, k->repeat,
                   (unsigned long long)k->run, k->op, (unsigned long long)k->first_fw_start,
                   (unsigned long long)k->last_fw_end);
    }
    for (uint32_t i = 0; i < t->n_chips; i++)
        dl_str_fmt(out, "chip %u: %u, %llu kHz, %u cores\n", i, t->chips[i].id,
                   (unsigned long long)t->chips[i].freq_khz, t->chips[i].max_cores);
    tell_analyses(d, out);
    tell_stamps(d, out);
}
