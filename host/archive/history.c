/* What has changed over all runs of an archive: which figure, with which run, by how much, and how sure that is. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "archive/archive.h"
#include "archive/change.h"

#define COLUMNS(a) (a), sizeof(a) / sizeof((a)[0])

typedef struct series {
    char *kind, *name;
    double *values, *counts;
    size_t *runs; /* places */
    size_t n;
    double p;        /* of its likeliest change, corrected for all series */
    change *changes; /* that are told */
    size_t n_changes;
} series;

typedef struct all {
    series *items;
    size_t n;
    const char *only;
    bool cycles, set;
    bool medians;
    size_t other_unit;
    size_t without; /* a median */
} all;

static devlog_status no_memory(devlog_error *err)
{
    return dl_fail(err, DEVLOG_ERR_MEMORY, "out of memory");
}

static devlog_status take(void *ctx, const archive_figure *f, size_t run, devlog_error *err)
{
    all *h = ctx;
    const char *kind = f->kind, *name = f->name, *unit = f->unit;
    if (!kind || !name || !unit || (h->only && strcmp(name, h->only) != 0)) return DEVLOG_OK;
    const double value = h->medians ? f->median : f->value;
    if (!isfinite(value)) {
        h->without += h->medians;
        return DEVLOG_OK;
    }
    const bool cycles = strcmp(unit, "cycles") == 0;
    if (!h->set) h->cycles = cycles;
    h->set = true;
    h->other_unit += cycles != h->cycles;
    if (cycles != h->cycles) return DEVLOG_OK;
    series *s = h->n ? &h->items[h->n - 1] : NULL;
    if (!s || strcmp(s->kind, kind) != 0 || strcmp(s->name, name) != 0) {
        if ((h->n & (h->n - 1)) == 0) {
            series *grown = realloc(h->items, (h->n ? h->n * 2 : 1) * sizeof *grown);
            if (!grown) return no_memory(err);
            h->items = grown;
        }
        s = &h->items[h->n++];
        /* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): without a series one was made above */
        *s = (series){.kind = strdup(kind), .name = strdup(name), .p = 1};
        if (!s->kind || !s->name) return no_memory(err);
    }
    if ((s->n & (s->n - 1)) == 0) {
        const size_t cap = s->n ? s->n * 2 : 1;
        double *values = realloc(s->values, cap * sizeof *values);
        if (values) s->values = values;
        double *counts = realloc(s->counts, cap * sizeof *counts);
        if (counts) s->counts = counts;
        size_t *runs = realloc(s->runs, cap * sizeof *runs);
        if (runs) s->runs = runs;
        if (!values || !counts || !runs) return no_memory(err);
    }
    s->values[s->n] = value;
    s->counts[s->n] = f->count == f->count ? f->count : 0;
    s->runs[s->n++] = run;
    return DEVLOG_OK;
}

static void free_all(all *h)
{
    for (size_t i = 0; i < h->n; i++) {
        series *s = &h->items[i];
        free(s->kind);
        free(s->name);
        free(s->values);
        free(s->counts);
        free(s->runs);
        free(s->changes);
    }
    free(h->items);
}

static double percent(const change *c)
{
    return c->before > 0 ? 100 * (c->behind - c->before) / c->before : NAN;
}

/* Holm over all series says which have changed; where else these did is asked as strictly. */
static bool judge(all *h, double alpha, double least)
{
    rank_test t = {0};
    double *p = malloc((h->n + 1) * sizeof *p), *raw = malloc((h->n + 1) * sizeof *raw), most = 0;
    bool good = p && raw;
    for (size_t i = 0; i < h->n && good; i++) {
        change c;
        good = change_likeliest(&t, h->items[i].values, h->items[i].n, &c);
        p[i] = raw[i] = c.p;
    }
    if (good) good = rank_test_holm(p, h->n);
    for (size_t i = 0; i < h->n && good; i++)
        if (p[i] <= alpha && raw[i] > most) most = raw[i];
    for (size_t i = 0; i < h->n && good; i++) {
        series *s = &h->items[i];
        s->p = p[i];
        s->changes = calloc(s->n + 1, sizeof *s->changes);
        good = s->changes != NULL;
        if (good && p[i] <= alpha) good = change_find(&t, s->values, s->n, most, s->changes, &s->n_changes);
        size_t kept = 0;
        for (size_t k = 0; k < s->n_changes && good; k++)
            if (!(fabs(percent(&s->changes[k])) < least)) s->changes[kept++] = s->changes[k];
        s->n_changes = kept;
    }
    rank_test_free(&t);
    free(p);
    free(raw);
    return good;
}

static const char *date_of(answer *a, int64_t seconds)
{
    char text[32];
    struct tm tm;
    const time_t t = (time_t)seconds;
    if (!gmtime_r(&t, &tm) || !strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S", &tm)) return NULL;
    return answer_keep(a, text, strlen(text));
}

static int by_size(const void *a, const void *b)
{
    const series *const *x = a, *const *y = b;
    const change *c = &(*x)->changes[(*x)->n_changes - 1], *d = &(*y)->changes[(*y)->n_changes - 1];
    const double of_x = fabs(percent(c)), of_y = fabs(percent(d));
    if (of_x > of_y || of_x < of_y) return of_x > of_y ? -1 : 1;
    return *x < *y ? -1 : *x > *y;
}

static bool add_changes(answer *a, const all *h, const archive_runs *runs, size_t top, size_t *slower)
{
    static const answer_column columns[] = {
        {"kind", "of", ANSWER_TEXT, 3},
        {"name", "figure", ANSWER_TEXT, 0},
        {"run", "with run", ANSWER_COUNT, 0},
        {"commit", "commit", ANSWER_TEXT, 2},
        {"date", "date", ANSWER_TEXT, 4},
        {"before", "before", ANSWER_TIME, 0},
        {"behind", "since", ANSWER_TIME, 0},
        {"change", "change %", ANSWER_PERCENT, 0},
        {"newest", "newest", ANSWER_TEXT, ANSWER_HIDDEN},
        {"p", "p", ANSWER_RATIO, ANSWER_HIDDEN},
    };
    answer_section *t = answer_table(a, "changes", "WHAT HAS CHANGED", COLUMNS(columns));
    const series **order = malloc((h->n + 1) * sizeof *order);
    size_t n = 0;
    if (!order) return false;
    for (size_t i = 0; i < h->n; i++)
        if (h->items[i].n_changes) order[n++] = &h->items[i];
    if (n) qsort(order, n, sizeof *order, by_size);
    for (size_t i = 0; i < n; i++) {
        const series *s = order[i];
        *slower += percent(&s->changes[s->n_changes - 1]) > 0;
        for (size_t k = s->n_changes; k-- > 0;) {
            const change *c = &s->changes[k];
            const archive_run *run = &runs->items[s->runs[c->at]];
            answer_text(t, answer_keep(a, s->kind, strlen(s->kind)));
            answer_text(t, answer_keep(a, s->name, strlen(s->name)));
            answer_number(t, (double)run->id);
            answer_text(t, run->commit);
            answer_text(t, date_of(a, run->date));
            answer_number(t, c->before);
            answer_number(t, c->behind);
            answer_number(t, percent(c));
            answer_text(t, k + 1 == s->n_changes ? "yes" : "no");
            answer_number(t, c->p);
        }
    }
    answer_top(t, top);
    answer_note(
        a, t,
        h->medians
            ? "with run: the first run of the new level. before, since: medians of the runs up to the changes "
              "beside it. Medians of an op or a zone in a run are compared."
            : "with run: the first run of the new level. before, since: medians of the runs up to the changes "
              "beside it. Averages of an op or a zone in a run are compared.");
    free(order);
    return true;
}

/* Every run of one figure. */
static void add_runs(answer *a, const series *s, const archive_runs *runs, size_t top)
{
    static const answer_column columns[] = {
        {"run", "run", ANSWER_COUNT, 0},
        {"date", "date", ANSWER_TEXT, 2},
        {"commit", "commit", ANSWER_TEXT, 1},
        {"value", "value", ANSWER_TIME, 0},
        {"count", "count", ANSWER_COUNT, 3},
        {"level", "level", ANSWER_TIME, 0},
        {"changed", "change %", ANSWER_PERCENT, 0},
    };
    answer_section *t = answer_table(a, "runs", "ITS RUNS", COLUMNS(columns));
    size_t k = 0;
    for (size_t i = 0; i < s->n; i++) {
        const archive_run *run = &runs->items[s->runs[i]];
        const bool here = k < s->n_changes && s->changes[k].at == i;
        k += here;
        answer_number(t, (double)run->id);
        answer_text(t, date_of(a, run->date));
        answer_text(t, run->commit);
        answer_number(t, s->values[i]);
        answer_number(t, s->counts[i]);
        answer_number(t, !s->n_changes ? NAN : k ? s->changes[k - 1].behind : s->changes[0].before);
        answer_number(t, here ? percent(&s->changes[k - 1]) : NAN);
    }
    answer_top(t, top);
}

devlog_status archive_history(archive *a, const archive_runs *runs, const archive_history_options *o,
                              answer *out, archive_verdict *verdict, devlog_error *err)
{
    all h = {.only = o->name, .medians = o->medians};
    const double alpha = 1 - o->confidence / 100;
    *verdict = (archive_verdict){0};
    devlog_status status = archive_figures(a, runs, take, &h, err);
    if (!status && !h.n && h.without)
        status = dl_fail(
            err, DEVLOG_ERR_NOT_FOUND,
            "no figure of these runs has a median: a devlog added them that kept none; add their files "
            "again (devlog archive get has them), or compare averages");
    if (!status && !h.n)
        status = dl_fail(err, DEVLOG_ERR_NOT_FOUND,
                         "no run of the archive has a figure%s%s%s; devlog archive history without a "
                         "name lists what has changed, --format csv all",
                         o->name ? " '" : "", o->name ? o->name : "", o->name ? "'" : "");
    if (!status && !judge(&h, alpha, o->least)) status = no_memory(err);
    if (!status) {
        size_t changed = 0;
        for (size_t i = 0; i < h.n; i++)
            changed += h.items[i].n_changes != 0;
        out->cycles = h.cycles;
        answer_section *f = answer_facts(out, "verdict", "HISTORY");
        answer_fact(out, f, "runs", "runs", ANSWER_COUNT, (double)runs->n, NULL);
        answer_fact(out, f, "figures", "figures", ANSWER_COUNT, (double)h.n,
                    "ops with their shapes, zones, and whole runs");
        answer_fact(
            out, f, "changed", "changed", ANSWER_COUNT, (double)changed,
            answer_keepf(
                out,
                "Mann-Whitney's U at every place, corrected for places (Bonferroni) and figures (Holm): "
                "when nothing changes, it says so of any with a probability of at most %g %%",
                100 - o->confidence));
        if (!add_changes(out, &h, runs, o->top, &verdict->slower)) status = no_memory(err);
        answer_fact(out, f, "slower", "slower now", ANSWER_COUNT, (double)verdict->slower,
                    "their last change was for the worse");
        const double least =
            runs->n > 1
                ? rank_test_least(runs->n < RANK_TEST_EXACT ? runs->n / 2 : RANK_TEST_EXACT / 2,
                                  runs->n < RANK_TEST_EXACT ? runs->n - runs->n / 2 : RANK_TEST_EXACT / 2) *
                      (double)(runs->n - 1) * (double)h.n
                : 1;
        verdict->too_few = least > alpha;
        if (verdict->too_few)
            answer_note(
                out, f,
                "These are too few runs for so many figures: nothing could be told from chance. Add runs, name a "
                "figure, or lower --confidence.");
        if (h.other_unit)
            answer_note(out, f,
                        answer_keepf(out, "%zu figures are in another unit than the first, and were left out",
                                     h.other_unit));
        if (h.without)
            answer_note(
                out, f,
                answer_keepf(out,
                             "%zu figures of runs have no median and were left out: they were added by a "
                             "devlog that kept none (adding their files again fills them in), or it is "
                             "not known",
                             h.without));
        for (size_t i = 0; o->name && i < h.n && i < 1; i++)
            add_runs(out, &h.items[i], runs, o->top);
    }
    if (!status) status = answer_status(out, err);
    free_all(&h);
    return status;
}
