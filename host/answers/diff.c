/* Lines of a diff: adding runs to them, and which lines are one. See diff.h. */
#include "answers/diff.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_LINES = 4 * 1024 * 1024, MAX_BYTES = 512 * 1024 * 1024 };

static const char *const totals[DIFF_TOTALS] = {
    [DIFF_DEVICE] = "time on the device",
    [DIFF_GAPS] = "gaps on the device",
    [DIFF_HOST] = "host time in ops",
    [DIFF_BUSIEST] = "time on the busiest chip",
};

devlog_status diff_begin(diff *d, const diff_options *o, devlog_error *err)
{
    *d = (diff){.ops = o->ops,
                .exact = o->exact,
                .by_fw = o->by_fw,
                .alpha = o->confidence > 0 ? 1 - o->confidence / 100 : 0.001,
                .min_share = o->min_share,
                .several = o->runs[DIFF_OLD] > 1 || o->runs[DIFF_NEW] > 1,
                .time_unit = "ns"};
    d->keys = dl_intern_new(MAX_LINES, MAX_BYTES);
    d->texts = dl_intern_new(MAX_LINES, MAX_BYTES);
    if (!d->keys || !d->texts) {
        diff_free(d);
        return dl_fail(err, DEVLOG_ERR_MEMORY, "out of memory");
    }
    for (int i = 0; i < DIFF_TOTALS; i++) {
        uint32_t line = diff_find(d, DIFF_TOTAL, totals[i], strlen(totals[i]));
        if (line == UINT32_MAX) continue;
        d->lines[line].name = totals[i];
        d->lines[line].place = (uint32_t)i;
    }
    return DEVLOG_OK;
}

void diff_free(diff *d)
{
    for (size_t i = 0; i < d->n; i++) {
        for (int side = 0; side < DIFF_SIDES; side++) {
            free(d->lines[i].part[side].samples);
            free(d->lines[i].part[side].sorted);
        }
    }
    for (size_t i = 0; i < d->n_runs; i++) {
        free(d->runs[i].name);
        free(d->runs[i].arch);
    }
    free(d->runs);
    free(d->lines);
    free(d->order);
    dl_intern_free(d->keys);
    dl_intern_free(d->texts);
    dl_str_free(&d->key);
    *d = (diff){0};
}

void diff_chip_took(diff *d, diff_chips *c, uint32_t chip, double time)
{
    if (!c->numbers) c->numbers = dl_intern_new(MAX_LINES, MAX_BYTES);
    const uint32_t at =
        c->numbers ? dl_intern_add(c->numbers, (const char *)&chip, sizeof chip) : DL_NO_STRING;
    if (at != DL_NO_STRING && at >= c->cap) {
        const size_t cap = (size_t)at * 2 + 16;
        double *grown = realloc(c->times, cap * sizeof *grown);
        if (grown) {
            memset(grown + c->cap, 0, (cap - c->cap) * sizeof *grown);
            c->times = grown;
            c->cap = cap;
        }
    }
    if (at < c->cap)
        c->times[at] += time;
    else
        d->no_memory = true;
}

void diff_chips_end(diff *d, diff_chips *c, uint32_t side, uint32_t run)
{
    const uint32_t n = c->numbers ? dl_intern_count(c->numbers) : 0; /* number 0 is none of them */
    double most = -1;
    for (uint32_t i = 1; i < n && i < c->cap; i++)
        if (c->times[i] > most) most = c->times[i];
    d->chips |= n > 2;
    diff_add(d, DIFF_BUSIEST, side, run, most, 1);
    dl_intern_free(c->numbers);
    free(c->times);
    *c = (diff_chips){0};
}

const char *diff_text(diff *d, const char *text, size_t n)
{
    uint32_t id = dl_intern_add(d->texts, text, n);
    if (id == DL_NO_STRING) d->no_memory = true;
    return id == DL_NO_STRING ? "" : dl_intern_text(d->texts, id, NULL);
}

uint32_t diff_find(diff *d, diff_kind kind, const char *key, size_t n)
{
    dl_str_clear(&d->key);
    dl_str_char(&d->key, (char)('0' + kind));
    dl_str_add_n(&d->key, key, n);
    uint32_t id = d->key.failed ? DL_NO_STRING : dl_intern_add(d->keys, d->key.text, d->key.len);
    if (id != DL_NO_STRING && id <= d->n) return id - 1;
    if (id != DL_NO_STRING && d->n == d->cap) {
        size_t cap = d->cap ? d->cap * 2 : 256;
        diff_line *grown = realloc(d->lines, cap * sizeof *grown);
        if (grown) d->lines = grown;
        if (grown) d->cap = cap;
    }
    if (id == DL_NO_STRING || d->n == d->cap) {
        d->no_memory = true;
        return UINT32_MAX;
    }
    d->lines[d->n++] = (diff_line){
        .kind = kind, .name = "", .risc = "", .where = "", .parent = UINT32_MAX, .p = 1, .corrected = 1};
    return id - 1;
}

void diff_line_name(const diff_line *l, dl_str *out)
{
    dl_str_add(out, l->risc);
    if (*l->risc && *l->name) dl_str_char(out, ' ');
    dl_str_add(out, l->name);
    if (l->numbered) dl_str_fmt(out, " #%u", l->place + 1);
    if (!*l->name && *l->risc) dl_str_add(out, " kernel");
}

static void add_sample(diff *d, diff_part *p, diff_sample s)
{
    diff_sample *last = p->n ? &p->samples[p->n - 1] : NULL;
    if (d->several && last && last->run == s.run) {
        last->sum += s.sum;
        last->n += s.n;
        return;
    }
    if (p->n == p->cap) {
        size_t cap = p->cap ? p->cap * 2 : 4;
        diff_sample *grown = realloc(p->samples, cap * sizeof *grown);
        if (!grown) {
            d->no_memory = true;
            return;
        }
        p->samples = grown;
        p->cap = cap;
    }
    p->samples[p->n++] = s;
}

void diff_add(diff *d, uint32_t line, uint32_t side, uint32_t run, double sum, uint64_t count)
{
    if (line == UINT32_MAX) return;
    diff_part *p = &d->lines[line].part[side];
    p->count += count;
    if (sum < 0)
        p->without += count;
    else
        add_sample(d, p, (diff_sample){sum, (uint32_t)count, run});
}

/* ---- Runs --- */

devlog_status diff_add_run(diff *d, uint32_t side, const char *name, const op_table *table,
                           const char *const *logs, size_t n_logs, devlog_error *err)
{
    if (d->n_runs == d->cap_runs) {
        size_t cap = d->cap_runs ? d->cap_runs * 2 : 8;
        diff_run *grown = realloc(d->runs, cap * sizeof *grown);
        if (!grown) return dl_fail(err, DEVLOG_ERR_MEMORY, "out of memory");
        d->runs = grown;
        d->cap_runs = cap;
    }
    uint32_t run = (uint32_t)d->n_runs;
    d->runs[d->n_runs++] =
        (diff_run){.side = side, .name = strdup(name), .has_ops = table != NULL, .has_log = n_logs > 0};
    d->side_runs[side]++;
    if (!d->runs[run].name) return dl_fail(err, DEVLOG_ERR_MEMORY, "out of memory");
    launch_rows rows = {0};
    devlog_status status = table ? diff_add_ops(d, run, table, &rows, err) : DEVLOG_OK;
    if (!status && n_logs) status = diff_add_logs(d, run, logs, n_logs, &rows, err);
    launch_rows_free(&rows);
    return status;
}

/* ---- Lines that are one --- */

static int by_run(const void *a, const void *b)
{
    const diff_sample *x = a, *y = b;
    return x->run < y->run ? -1 : x->run > y->run;
}

/* Everything of `from` becomes part of `to`. */
static void join_part(diff *d, diff_part *to, diff_part *from)
{
    to->count += from->count;
    to->without += from->without;
    diff_sample *all = malloc((to->n + from->n + 1) * sizeof *all);
    if (!all) {
        d->no_memory = true;
        return;
    }
    size_t n = to->n + from->n;
    if (to->n) memcpy(all, to->samples, to->n * sizeof *all);
    if (from->n) memcpy(all + to->n, from->samples, from->n * sizeof *all);
    if (to->n && from->n && d->several) qsort(all, n, sizeof *all, by_run);
    free(to->samples);
    free(from->samples);
    *from = (diff_part){0};
    to->samples = all;
    to->cap = n + 1;
    to->n = 0;
    for (size_t i = 0; i < n; i++)
        add_sample(d, to, all[i]); /* no sample is behind the one that is read */
}

static void join(diff *d, diff_line *to, diff_line *from)
{
    for (int side = 0; side < DIFF_SIDES; side++)
        join_part(d, &to->part[side], &from->part[side]);
    from->dead = true;
}

/* Equal ops of a run are told apart by their order only if every run has as many of them. */
static bool has_place_in_all(const diff *d, const diff_line *l)
{
    return l->part[DIFF_OLD].count == d->side_runs[DIFF_OLD] &&
           l->part[DIFF_NEW].count == d->side_runs[DIFF_NEW];
}

static void join_places(diff *d)
{
    uint32_t groups = 0;
    for (size_t i = 0; i < d->n; i++)
        if (d->lines[i].kind == DIFF_OP && d->lines[i].group >= groups) groups = d->lines[i].group + 1;
    uint32_t *first = malloc((groups + (size_t)1) * sizeof *first);
    bool *apart = malloc((groups + (size_t)1) * sizeof *apart), *many = calloc(groups + (size_t)1, 1);
    for (uint32_t g = 0; first && apart && many && g < groups; g++) {
        first[g] = UINT32_MAX;
        apart[g] = true;
    }
    for (size_t i = 0; first && apart && many && i < d->n; i++)
        if (d->lines[i].kind == DIFF_OP) {
            /* NOLINTNEXTLINE(clang-analyzer-core.uninitialized.Assign): groups are below the number that was counted */
            apart[d->lines[i].group] &= has_place_in_all(d, &d->lines[i]);
            many[d->lines[i].group] |= d->lines[i].place > 0;
        }
    for (uint32_t i = 0; first && apart && many && i < d->n; i++) {
        diff_line *l = &d->lines[i];
        if (l->kind == DIFF_OP) l->numbered = apart[l->group] && many[l->group];
        if (l->kind != DIFF_OP || apart[l->group]) continue;
        /* NOLINTNEXTLINE(clang-analyzer-core.UndefinedBinaryOperatorResult): groups are below the number that was counted */
        if (first[l->group] == UINT32_MAX) {
            first[l->group] = i;
            l->place = 0;
        } else {
            join(d, &d->lines[first[l->group]], l);
            l->parent = first[l->group];
        }
    }
    for (size_t i = 0; first && apart && many && i < d->n; i++) {
        diff_line *l = &d->lines[i];
        if (l->kind == DIFF_CAUSE && l->parent != UINT32_MAX && d->lines[l->parent].dead)
            l->parent = d->lines[l->parent].parent;
    }
    d->no_memory |= !first || !apart || !many;
    free(first);
    free(apart);
    free(many);
}

static uint32_t number_of(diff *d, dl_intern *in, const diff_line *l, bool with_place)
{
    dl_str_clear(&d->key);
    dl_str_fmt(&d->key, "%d\x1f%u\x1f%s\x1f%s\x1f%s", (int)l->kind, l->parent, l->risc, l->name,
               with_place ? l->where : "");
    uint32_t id = d->key.failed ? DL_NO_STRING : dl_intern_add(in, d->key.text, d->key.len);
    if (id == DL_NO_STRING) d->no_memory = true;
    return id;
}

static bool is_zone(const diff_line *l)
{
    return !l->dead && (l->kind == DIFF_ZONE || l->kind == DIFF_CAUSE);
}

/* Causes of ops that have become one line. */
static void join_causes(diff *d)
{
    dl_intern *in = dl_intern_new(MAX_LINES, MAX_BYTES);
    uint32_t *first = calloc(d->n + 1, sizeof *first);
    d->no_memory |= !in || !first;
    for (size_t i = 0; i < d->n && !d->no_memory; i++) {
        if (!is_zone(&d->lines[i])) continue;
        uint32_t id = number_of(d, in, &d->lines[i], true);
        if (id == DL_NO_STRING) break;
        if (first[id - 1])
            join(d, &d->lines[first[id - 1] - 1], &d->lines[i]);
        else
            first[id - 1] = (uint32_t)i + 1;
    }
    free(first);
    dl_intern_free(in);
}

/* A zone whose line in the source has moved is the same one if its name stands in one place before and after.
 */
static void join_moved(diff *d)
{
    typedef struct met {
        uint32_t lines[DIFF_SIDES], n[DIFF_SIDES];
    } met;
    dl_intern *in = dl_intern_new(MAX_LINES, MAX_BYTES);
    met *all = calloc(d->n + 1, sizeof *all);
    d->no_memory |= !in || !all;
    for (uint32_t i = 0; i < d->n && !d->no_memory; i++) {
        if (!is_zone(&d->lines[i])) continue;
        uint32_t id = number_of(d, in, &d->lines[i], false);
        for (int side = 0; side < DIFF_SIDES && id != DL_NO_STRING; side++) {
            if (!d->lines[i].part[side].count) continue;
            all[id - 1].lines[side] = i;
            all[id - 1].n[side]++;
        }
    }
    for (size_t k = 0; all && in && k + 1 < dl_intern_count(in) && !d->no_memory; k++) {
        const met *m = &all[k];
        if (m->n[DIFF_OLD] != 1 || m->n[DIFF_NEW] != 1 || m->lines[DIFF_OLD] == m->lines[DIFF_NEW]) continue;
        diff_line *to = &d->lines[m->lines[DIFF_OLD]], *from = &d->lines[m->lines[DIFF_NEW]];
        to->moved = from->where;
        join(d, to, from);
    }
    free(all);
    dl_intern_free(in);
}

/* ---- All of it --- */

/* Times of logs are counted by clocks: nanoseconds when all of these are known. */
static void to_ns(diff *d)
{
    bool any = false, ops = false;
    for (size_t i = 0; i < d->n_runs; i++) {
        any |= d->runs[i].has_log;
        ops |= d->runs[i].has_ops;
        if (d->runs[i].has_log && !(d->runs[i].mhz > 0)) d->cycles_unknown = true;
    }
    if (any && d->cycles_unknown && !ops) d->time_unit = "cycles";
    for (size_t i = 0; i < d->n && !d->cycles_unknown; i++) {
        diff_line *l = &d->lines[i];
        for (int side = 0; side < DIFF_SIDES && l->by_clock; side++)
            for (size_t k = 0; k < l->part[side].n; k++)
                l->part[side].samples[k].sum *= 1000 / d->runs[l->part[side].samples[k].run].mhz;
        l->by_clock = false;
    }
}

static void list_names(const diff *d, int side, dl_str *out)
{
    enum { MOST = 4 };
    size_t n = 0;
    for (size_t i = 0; i < d->n; i++) {
        const diff_line *l = &d->lines[i];
        if (l->dead || l->kind == DIFF_TOTAL || l->kind == DIFF_CAUSE || !l->part[side].count || l->place)
            continue;
        if (n < MOST) dl_str_fmt(out, "%s'%.60s%s%s'", n ? ", " : "", l->risc, *l->risc ? " " : "", l->name);
        n++;
    }
    if (n > MOST) dl_str_fmt(out, " and %zu more", n - MOST);
    if (!n) dl_str_add(out, "nothing");
}

static const char *kind_of(const diff *d, uint32_t side)
{
    bool ops = false, log = false;
    for (size_t i = 0; i < d->n_runs; i++) {
        ops |= d->runs[i].side == side && d->runs[i].has_ops;
        log |= d->runs[i].side == side && d->runs[i].has_log;
    }
    return ops && log ? "an op report with a device log" : ops ? "an op report" : "a device log";
}

static devlog_status check_common(const diff *d, devlog_error *err)
{
    for (size_t i = 0; i < d->n; i++) {
        const diff_line *l = &d->lines[i];
        bool counts = !l->dead && (l->kind == DIFF_OP || l->kind == DIFF_ZONE);
        if (counts && l->part[DIFF_OLD].count && l->part[DIFF_NEW].count) return DEVLOG_OK;
    }
    dl_str said = {0};
    dl_str_fmt(&said, "the old one is %s and has ", kind_of(d, DIFF_OLD));
    list_names(d, DIFF_OLD, &said);
    dl_str_fmt(&said, "; the new one is %s and has ", kind_of(d, DIFF_NEW));
    list_names(d, DIFF_NEW, &said);
    dl_fail(err, DEVLOG_ERR_NOT_FOUND, "nothing in common that could be compared: %s",
            said.failed ? "" : said.text);
    dl_str_free(&said);
    return DEVLOG_ERR_NOT_FOUND;
}

devlog_status diff_finish(diff *d, devlog_error *err)
{
    if (d->several) join_places(d);
    if (!d->no_memory) join_causes(d);
    if (!d->no_memory) join_moved(d);
    if (d->no_memory || d->key.failed) return dl_fail(err, DEVLOG_ERR_MEMORY, "out of memory");
    devlog_status status = check_common(d, err);
    if (status) return status;
    to_ns(d);
    return diff_judge(d, err);
}
