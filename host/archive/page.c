/* The runs and figures of an archive as a page. Not for what has changed in them: page/history_levels.js works that out as change.h
 * does, of the runs that the page's reader chooses.
 *
 * Its data are a JSON object: title, of (what values are: average or median), without (figures that are left out, as they have no
 * median), confidence, least (per cent), runs: [[id, date, commit, board, host, name, labels, lost], ...], and
 * series: [[kind, name, unit, [places of runs], [values], [counts], [least], [most]], ...]. What is unknown is null. */
#include <math.h>
#include <string.h>

#include "archive/archive.h"
#include "base/real.h"
#include "report/page_history.h"

enum { VALUES, COUNTS, LEAST, MOST, COLUMNS };

typedef struct writer {
    dl_str *out, runs, columns[COLUMNS];
    dl_str key; /* kind, name and unit of the series in hand, as JSON; empty: none */
    bool medians;
    size_t without; /* a median */
} writer;

static void text(dl_str *out, const char *value)
{
    if (value)
        dl_str_json(out, value, strlen(value));
    else
        dl_str_add(out, "null");
}

static void number(dl_str *out, double value)
{
    if (isfinite(value))
        dl_str_real(out, value);
    else
        dl_str_add(out, "null");
}

static void end_series(writer *w)
{
    if (!w->key.len) return;
    if (w->out->text[w->out->len - 1] != '[') dl_str_add(w->out, ",\n");
    dl_str_fmt(w->out, "[");
    dl_str_add_n(w->out, w->key.text, w->key.len);
    dl_str *const all[] = {&w->runs, &w->columns[VALUES], &w->columns[COUNTS], &w->columns[LEAST],
                           &w->columns[MOST]};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        dl_str_add(w->out, ",[");
        dl_str_add_n(w->out, all[i]->text, all[i]->len);
        dl_str_add(w->out, "]");
        all[i]->len = 0;
    }
    dl_str_add(w->out, "]");
    w->key.len = 0;
}

static devlog_status take(void *ctx, const archive_figure *f, size_t run, devlog_error *err)
{
    writer *w = ctx;
    dl_str key = {0};
    const double value = w->medians ? f->median : f->value;
    if (!f->kind || !f->name || !f->unit || !isfinite(value)) {
        w->without += w->medians && isfinite(f->value);
        return DEVLOG_OK;
    }
    text(&key, f->kind);
    dl_str_add(&key, ",");
    text(&key, f->name);
    dl_str_add(&key, ",");
    text(&key, f->unit);
    const devlog_status status = dl_str_status(&key, err);
    if (!status && (key.len != w->key.len || memcmp(key.text, w->key.text, key.len) != 0)) {
        end_series(w);
        dl_str_add_n(&w->key, key.text, key.len);
    }
    dl_str_free(&key);
    const char *between = w->runs.len ? "," : "";
    const double values[COLUMNS] = {value, f->count, f->least, f->most};
    dl_str_fmt(&w->runs, "%s%zu", between, run);
    for (size_t i = 0; i < COLUMNS; i++) {
        dl_str_add(&w->columns[i], between);
        number(&w->columns[i], values[i]);
    }
    return status;
}

static void add_runs(dl_str *out, const archive_runs *runs)
{
    for (size_t i = 0; i < runs->n; i++) {
        const archive_run *r = &runs->items[i];
        const char *const texts[] = {r->commit, r->board, r->host, r->name, r->labels};
        dl_str_fmt(out, "%s[%lld,%lld", i ? ",\n" : "", (long long)r->id, (long long)r->date);
        for (size_t k = 0; k < sizeof texts / sizeof texts[0]; k++) {
            dl_str_add(out, ",");
            text(out, texts[k]);
        }
        dl_str_add(out, r->lost ? ",true]" : ",false]");
    }
}

devlog_status archive_page(archive *a, const char *title, const archive_runs *runs,
                           const archive_history_options *o, dl_str *out, devlog_error *err)
{
    dl_str json = {0};
    writer w = {.out = &json, .medians = o->medians};
    dl_str_add(&json, "{\"title\":");
    text(&json, title);
    dl_str_fmt(&json, ",\"of\":\"%s\",\"confidence\":", o->medians ? "median" : "average");
    number(&json, o->confidence);
    dl_str_add(&json, ",\"least\":");
    number(&json, o->least);
    dl_str_add(&json, ",\"runs\":[");
    add_runs(&json, runs);
    dl_str_add(&json, "],\"series\":[");
    devlog_status status = dl_str_status(&json, err);
    if (!status) status = archive_figures(a, runs, take, &w, err);
    if (!status) status = dl_str_status(&w.runs, err);
    for (size_t i = 0; i < COLUMNS && !status; i++)
        status = dl_str_status(&w.columns[i], err);
    if (!status) end_series(&w);
    dl_str_fmt(&json, "],\"without\":%zu}", w.without);
    if (!status) status = dl_str_status(&json, err);
    if (!status) status = dl_page_history_text(&json, out, err);
    for (size_t i = 0; i < COLUMNS; i++)
        dl_str_free(&w.columns[i]);
    dl_str_free(&w.runs);
    dl_str_free(&w.key);
    dl_str_free(&json);
    return status;
}
