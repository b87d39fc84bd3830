/* Medians of ops and zones. See medians.h. */
#include "answers/medians.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/settings.h"
#include "decode/decode.h"

static devlog_status no_memory(devlog_error *err)
{
    return dl_fail(err, DEVLOG_ERR_MEMORY, "out of memory for medians");
}

void run_medians_free(run_medians *m)
{
    for (size_t i = 0; i < m->n; i++)
        free(m->items[i].name);
    free(m->items);
    *m = (run_medians){0};
}

static int by_name(const void *a, const void *b)
{
    const run_median *x = a, *y = b;
    return strcmp(x->name, y->name);
}

double run_median_of(const run_medians *m, const char *name, double count, double total)
{
    enum { EXACT = 1000000000 }; /* sums in another order */
    const run_median wanted = {.name = (char *)name};
    const run_median *found = m->n ? bsearch(&wanted, m->items, m->n, sizeof *m->items, by_name) : NULL;
    if (!found || found->count != count || !(fabs(found->total - total) <= fabs(total) / EXACT)) return NAN;
    return found->median;
}

/* ---- Ops ------------------------------------------------------------------------------------------------ */

typedef struct timed {
    uint64_t key; /* code and shapes */
    const answer_op *op;
} timed;

static int by_key_and_time(const void *a, const void *b)
{
    const timed *x = a, *y = b;
    if (x->key != y->key) return x->key < y->key ? -1 : 1;
    return (x->op->time > y->op->time) - (x->op->time < y->op->time);
}

/* Of ops with one code and shapes, the shortest first. */
static bool add_ops(report_job *j, const timed *ops, size_t n, run_medians *out)
{
    run_median *m = &out->items[out->n];
    const char *name = answer_op_name(&j->a, &j->run, ops[0].op, GROUP_SHAPE);
    *m = (run_median){name ? strdup(name) : NULL, (ops[(n - 1) / 2].op->time + ops[n / 2].op->time) / 2,
                      (double)n, 0};
    for (size_t i = 0; i < n; i++)
        m->total += ops[i].op->time;
    out->n += m->name != NULL;
    return m->name != NULL;
}

devlog_status run_medians_of_ops(report_job *j, run_medians *out, devlog_error *err)
{
    const answer_run *r = &j->run;
    timed *all = malloc((r->n_ops + 1) * sizeof *all);
    size_t n = 0;
    out->items = calloc(r->n_ops + 1, sizeof *out->items);
    bool good = all && out->items;
    for (size_t i = 0; i < r->n_ops && good; i++) {
        const answer_op *op = &r->ops[i];
        const uint64_t code = answer_row(r, op)->code;
        if (isfinite(op->time)) all[n++] = (timed){code << 32 | answer_wide(r, op)->texts[OP_SHAPES], op};
    }
    if (n) qsort(all, n, sizeof *all, by_key_and_time);
    for (size_t i = 0, end; i < n && good; i = end) {
        for (end = i + 1; end < n && all[end].key == all[i].key;)
            end++;
        good = add_ops(j, all + i, end - i, out);
    }
    if (good && out->n) qsort(out->items, out->n, sizeof *out->items, by_name);
    free(all);
    return good ? DEVLOG_OK : no_memory(err);
}

/* ---- Zones ----------------------------------------------------------------------------------------------- */

/* A zone on one RISC of one core. */
typedef struct zone {
    char *name;
    const dl_samples *samples;
    dl_summary totals;
} zone;

static int by_zone(const void *a, const void *b)
{
    const zone *x = a, *y = b;
    return strcmp(x->name, y->name);
}

static devlog_status find_zones(dl_decode *d, zone *zones, size_t *n, devlog_error *err)
{
    const dl_tables *t = dl_decode_tables(d);
    for (size_t i = 0; i < dl_decode_n_keys(d); i++) {
        const dl_key *k = dl_decode_key(d, i);
        zone *z = &zones[*n];
        if (!k->samples.first || dl_is_process(t->chips[t->streams[k->stream].chip].id)) continue;
        dl_str name = {0};
        dl_str_fmt(&name, "%s %s", dl_risc_text(t, k->stream), dl_text(t, t->sites[k->site].name));
        if (name.failed) return no_memory(err);
        z->name = name.text;
        z->samples = &k->samples;
        dl_samples_totals(&k->samples, &z->totals);
        (*n)++;
    }
    if (*n) qsort(zones, *n, sizeof *zones, by_zone);
    return DEVLOG_OK;
}

/* Zones [from, to) are one on all cores. */
static devlog_status add_zone(const zone *zones, size_t n, double scale, run_medians *out, devlog_error *err)
{
    const dl_samples **sets = malloc(n * sizeof *sets);
    dl_summary s = {.min = UINT64_MAX};
    if (!sets) return no_memory(err);
    for (size_t i = 0; i < n; i++) {
        const dl_summary *one = &zones[i].totals;
        sets[i] = zones[i].samples;
        s.count += one->count;
        s.sum += one->sum;
        if (one->min < s.min) s.min = one->min;
        if (one->max > s.max) s.max = one->max;
    }
    devlog_status status = dl_summary_quantiles(&s, sets, n, err);
    free(sets);
    run_median *m = &out->items[out->n];
    *m = (run_median){strdup(zones->name), dl_summary_median(&s) * scale, (double)s.count,
                      (double)s.sum * scale};
    if (!m->name) return no_memory(err);
    out->n++;
    return status;
}

/* The clock of all chips; 0: they have several. */
static double clock_of(const dl_tables *t)
{
    double mhz = 0;
    for (uint32_t i = 0; i < t->n_chips; i++) {
        const double of_chip = (double)t->chips[i].freq_khz / 1000;
        if (dl_is_process(t->chips[i].id)) continue;
        if (mhz > 0 && (of_chip > mhz || of_chip < mhz)) return 0;
        mhz = of_chip;
    }
    return mhz;
}

devlog_status run_medians_of_zones(const report_job *j, run_medians *out, devlog_error *err)
{
    const run_input *in = &j->in.items[0];
    const char *tmp = dl_setting_text(DL_SET_TMPDIR);
    const dl_decode_options how = {.scratch = tmp ? tmp : "/tmp"};
    dl_decode *d = NULL;
    zone *zones = NULL;
    size_t n = 0;
    if (!in->log) return DEVLOG_OK;
    char *paths[] = {in->log};
    devlog_status status = dl_decode_new(&d, &how, err);
    if (!status) status = dl_decode_prepare(d, paths, 1, err);
    if (!status) status = dl_decode_file(d, in->log, err);
    if (!status) status = dl_decode_finish(d, err);
    if (!status) {
        zones = calloc(dl_decode_n_keys(d) + 1, sizeof *zones);
        out->items = calloc(dl_decode_n_keys(d) + 1, sizeof *out->items);
        status = zones && out->items ? find_zones(d, zones, &n, err) : no_memory(err);
    }
    const double mhz = status ? 0 : clock_of(dl_decode_tables(d));
    const double scale = j->a.cycles ? 1 : mhz > 0 ? 1000 / mhz : 0;
    for (size_t i = 0, end; i < n && !status && scale > 0; i = end) {
        for (end = i + 1; end < n && strcmp(zones[end].name, zones[i].name) == 0;)
            end++;
        status = add_zone(zones + i, end - i, scale, out, err);
    }
    for (size_t i = 0; zones && i < n; i++)
        free(zones[i].name);
    free(zones);
    dl_decode_free(d);
    return status;
}
