/* The reports of all ranks, as far as matching and aligning want them: one after the other, so that only one is in memory whole. */
#include <ctype.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/file.h"
#include "ops/op_table.h"
#include "ranks/ranks.h"

static devlog_status no_memory(devlog_error *err)
{
    return dl_fail(err, DEVLOG_ERR_MEMORY, "out of memory");
}

/* tt-metal's launcher leaves reports/<time>/ in a rank's folder: the last of them, by its name. NULL: none. */
static char *last_report_folder(const char *folder)
{
    char *reports = dl_path_join(folder, "reports"), *last = NULL;
    DIR *d = reports ? opendir(reports) : NULL;
    for (struct dirent *e; d && (e = readdir(d)) != NULL;) {
        if (e->d_name[0] == '.' || (last && strcmp(e->d_name, last) < 0)) continue;
        free(last);
        last = strdup(e->d_name);
    }
    if (d) closedir(d);
    char *path = last ? dl_path_join(reports, last) : NULL;
    free(reports);
    free(last);
    return path;
}

char *ranks_source(const rank_entry *e)
{
    char *inner = last_report_folder(e->folder);
    return inner ? inner : strdup(e->folder);
}

/* Its report: the one that is there, or one that is made of what is. */
devlog_status ranks_find_report(ranks *r, rank_entry *e, devlog_error *err)
{
    const size_t before = r->inputs.n;
    if (e->found && e->found->status) return dl_fail(err, e->found->status, "%s", e->found->why);
    if (e->found) {
        e->incomplete = e->found->incomplete;
        e->report = strdup(e->found->report);
        return e->report ? DEVLOG_OK : no_memory(err);
    }
    char *inner = last_report_folder(e->folder);
    devlog_status status = DEVLOG_ERR_NOT_FOUND;
    if (inner) status = run_inputs_add(&r->inputs, inner, 0, err);
    if (status == DEVLOG_ERR_NOT_FOUND) status = run_inputs_add(&r->inputs, e->folder, 0, err);
    free(inner);
    if (status) return status;
    const run_input *in = &r->inputs.items[before];
    if (r->inputs.n != before + 1)
        return dl_fail(err, DEVLOG_ERR_ARGUMENT,
                       "%s, rank %u, holds %zu runs (%s, %s, ...): name one of them", e->folder, e->number,
                       r->inputs.n - before, in[0].name, in[1].name);
    if (!in->report)
        return dl_fail(err, DEVLOG_ERR_UNSUPPORTED,
                       "%s, rank %u: no op report, and nothing that one could be made of", e->folder,
                       e->number);
    e->incomplete = in->lost;
    e->report = strdup(in->report);
    return e->report ? DEVLOG_OK : no_memory(err);
}

/* When a report was made, by the last "2026_01_31_12_59_59" in its path; 0: there is none. */
static int64_t stamp_of(const char *path)
{
    int64_t stamp = 0;
    for (const char *at = path; *at; at++) {
        struct tm tm = {0};
        int n = 0;
        if (sscanf(at, "%4d_%2d_%2d_%2d_%2d_%2d%n", &tm.tm_year, &tm.tm_mon, &tm.tm_mday, &tm.tm_hour,
                   &tm.tm_min, &tm.tm_sec, &n) != 6 ||
            n != 19)
            continue;
        tm.tm_year -= 1900;
        tm.tm_mon--;
        stamp = (int64_t)timegm(&tm);
    }
    return stamp;
}

static bool on_device(const op_table_row *row)
{
    return !(row->has & OP_IS_POINT) && (row->has & (OP_HAS_FW | OP_HAS_KERNEL));
}

/* An op that was to run on a device, whether its data came or not. */
static bool was_on_device(const op_table_row *row)
{
    return on_device(row) || (!(row->has & OP_IS_POINT) && row->has & OP_HAS_CHIP);
}

static rank_lane *lane_of(ranks *r, uint32_t rank, uint32_t chip, size_t from)
{
    for (size_t i = from; i < r->n_lanes; i++)
        if (r->lanes[i].chip == chip) return &r->lanes[i];
    rank_lane *grown = realloc(r->lanes, (r->n_lanes + 1) * sizeof *grown);
    if (!grown) return NULL;
    r->lanes = grown;
    grown[r->n_lanes] = (rank_lane){.rank = rank, .chip = chip, .mhz = NAN, .offset = NAN, .residual = NAN};
    return &grown[r->n_lanes++];
}

static uint32_t text_in(ranks *r, const op_table *t, uint32_t text)
{
    size_t n;
    const char *s = dl_intern_text(t->texts, text, &n);
    return dl_intern_add(r->texts, s, n);
}

/* Shapes as they are stored: reports of 2024 have no logical ones, "[30]" behind them, and are of the same ops all the same. */
static uint32_t shapes_in(ranks *r, const op_table *t, uint32_t text)
{
    size_t n, kept = 0;
    const char *s = dl_intern_text(t->texts, text, &n);
    char *stored = malloc(n + 1);
    bool logical = false;
    if (!stored) return DL_NO_STRING;
    for (size_t i = 0; i < n; i++) {
        logical |= s[i] == '[';
        if (!logical) stored[kept++] = s[i];
        logical &= s[i] != ']';
    }
    const uint32_t found = dl_intern_add(r->texts, stored, kept);
    free(stored);
    return found;
}

/* The clock of a chip: durations are rounded to a nanosecond each, so the sums know it best. */
static double clock_of(const op_table *t, uint32_t chip)
{
    double cycles = 0, ns = 0;
    for (size_t i = 0; i < t->n; i++) {
        const op_table_row *row = &t->rows[i];
        const double start = t->wide[i].numbers[OP_FW_START], end = t->wide[i].numbers[OP_FW_END];
        if (!on_device(row) || row->chip != chip || !(row->has & OP_HAS_FW) || !(end >= start)) continue;
        cycles += end - start;
        ns += (double)row->fw_ns + (row->has & OP_HAS_IDLE ? (double)row->idle_ns : 0);
    }
    return cycles > 0 && ns > 0 ? cycles * 1000 / ns : NAN;
}

static rank_item item_of(ranks *r, const op_table *t, size_t i, double mhz, uint32_t step)
{
    const op_table_row *row = &t->rows[i];
    const op_wide *wide = &t->wide[i];
    return (rank_item){
        .id = row->id,
        .has_id = row->has & OP_HAS_ID,
        .start = wide->numbers[OP_FW_START] * 1000 / mhz,
        .end = wide->numbers[OP_FW_END] * 1000 / mhz,
        .time = on_device(row) ? (double)(row->has & OP_HAS_KERNEL ? row->kernel_ns : row->fw_ns) : NAN,
        .row = (uint32_t)(row->line - 1),
        .code = text_in(r, t, row->code),
        .shape = shapes_in(r, t, wide->texts[OP_SHAPES]),
        .step = step,
        .op = RANKS_NONE,
        .blank = !on_device(row),
    };
}

/* As devlog_step writes them: "step 3", and a name behind it. */
static bool is_step(const char *name)
{
    return strncmp(name, "step ", 5) == 0 && isdigit((unsigned char)name[5]);
}

/* By row the step, or where a program has none the signpost, that came before it. */
static uint32_t *steps_of(ranks *r, const op_table *t)
{
    uint32_t *step = calloc(t->n + 1, sizeof *step), now = 0;
    bool steps = false;
    for (size_t i = 0; i < t->n && !steps; i++)
        steps = t->rows[i].has & OP_IS_POINT && is_step(dl_intern_text(t->texts, t->rows[i].code, NULL));
    for (size_t i = 0; i < t->n && step; i++) {
        const op_table_row *row = &t->rows[i];
        if (row->has & OP_IS_POINT && (!steps || is_step(dl_intern_text(t->texts, row->code, NULL))))
            now = text_in(r, t, row->code);
        step[i] = now;
    }
    return step;
}

typedef struct ran {
    double start; /* NAN: it has no data */
    uint64_t id;
    size_t place; /* in the report */
} ran;

static int by_id(const void *a, const void *b)
{
    const ran *x = a, *y = b;
    if (x->id != y->id) return x->id < y->id ? -1 : 1;
    if (isnan(x->start) != isnan(y->start)) return isnan(x->start) ? 1 : -1;
    if (x->start != y->start && !isnan(x->start)) return x->start < y->start ? -1 : 1;
    return x->place < y->place ? -1 : x->place > y->place;
}

static int by_start(const void *a, const void *b)
{
    const ran *x = a, *y = b;
    if (x->start != y->start) return x->start < y->start ? -1 : 1;
    return by_id(a, b);
}

/* A report that was sorted, in a spreadsheet for one, has neither ids nor starts in order: its ops go back to the order in which they
 * ran, one without data behind the one that its id follows. Starts alone fall where a chip was reset, ids alone where a trace is
 * replayed: that is the order in which they ran. False: no memory. */
static bool put_in_order(rank_item *items, size_t n)
{
    bool starts_fall = false, ids_fall = false;
    double before = -INFINITY;
    for (size_t i = 0; i < n; i++) {
        starts_fall |= items[i].start < before;
        if (!isnan(items[i].start)) before = items[i].start;
        ids_fall |= i && items[i].has_id && items[i].id < items[i - 1].id;
    }
    if (!starts_fall || !ids_fall) return true;
    ran *order = malloc(n * sizeof *order);
    rank_item *copy = malloc(n * sizeof *copy);
    const bool memory = order && copy;
    for (size_t i = 0; i < n && memory; i++) {
        order[i] = (ran){items[i].start, items[i].id, i};
        copy[i] = items[i];
    }
    if (memory) {
        qsort(order, n, sizeof *order, by_id);
        before = -INFINITY;
        for (size_t i = 0; i < n; i++) {
            if (isnan(order[i].start)) order[i].start = before;
            before = order[i].start;
        }
        qsort(order, n, sizeof *order, by_start);
        for (size_t i = 0; i < n; i++)
            items[i] = copy[order[i].place];
    }
    free(order);
    free(copy);
    return memory;
}

static devlog_status take(ranks *r, uint32_t rank, const op_table *t, devlog_error *err)
{
    rank_entry *e = &r->items[rank];
    const size_t first_lane = r->n_lanes;
    size_t n = 0;
    e->rows = t->n;
    e->incomplete |= t->cut || t->short_rows || t->bad_cells;
    for (size_t i = 0; i < t->n; i++) {
        const op_table_row *row = &t->rows[i];
        if (on_device(row)) {
            if (!lane_of(r, rank, row->chip, first_lane)) return no_memory(err);
            n++;
        } else if (!(row->has & OP_IS_POINT) && row->has & OP_HAS_CHIP) {
            e->lost++;
        }
    }
    if (!n) {
        e->silent =
            strdup(t->n ? "no op of its report has device data; did it run with TT_METAL_DEVICE_PROFILER=1?"
                        : "its report has no op");
        return e->silent ? DEVLOG_OK : no_memory(err);
    }
    for (size_t i = 0; i < t->n && !e->arch; i++)
        if (on_device(&t->rows[i])) e->arch = text_in(r, t, t->wide[i].texts[OP_ARCH]);
    rank_item *grown = realloc(r->ops_of_lanes, (r->n_items + n + e->lost) * sizeof *grown);
    if (!grown) return no_memory(err);
    r->ops_of_lanes = grown;
    uint32_t *step = steps_of(r, t);
    bool memory = step != NULL;
    for (size_t k = first_lane; k < r->n_lanes && memory; k++) {
        rank_lane *l = &r->lanes[k];
        l->first = r->n_items;
        l->mhz = clock_of(t, l->chip);
        for (size_t i = 0; i < t->n; i++)
            if (was_on_device(&t->rows[i]) && t->rows[i].chip == l->chip)
                grown[r->n_items++] = item_of(r, t, i, l->mhz, step[i]);
        l->n = r->n_items - l->first;
        memory = put_in_order(&grown[l->first], l->n);
    }
    free(step);
    return memory ? DEVLOG_OK : no_memory(err);
}

static int by_chip(const void *a, const void *b)
{
    const rank_lane *x = a, *y = b;
    if (x->rank != y->rank) return x->rank < y->rank ? -1 : 1;
    return x->chip < y->chip ? -1 : x->chip > y->chip;
}

devlog_status ranks_read(ranks *r, devlog_error *err)
{
    devlog_status status = DEVLOG_OK;
    devlog_error first = {0};
    for (size_t i = 0; i < r->n && !status; i++) {
        rank_entry *e = &r->items[i];
        op_table t = {0};
        status = ranks_find_report(r, e, err);
        if (!status) status = op_table_read_wide(&t, e->report, err);
        if (!status) {
            e->stamp = stamp_of(e->found ? e->found->name : e->report);
            status = take(r, (uint32_t)i, &t, err);
        } else if (status != DEVLOG_ERR_MEMORY && status != DEVLOG_ERR_ARGUMENT) {
            /* One rank that died is no reason to know nothing of the others. */
            if (!first.status) first = *err;
            e->silent = strdup(err->text);
            free(e->report);
            e->report = NULL;
            status = e->silent ? DEVLOG_OK : no_memory(err);
        }
        op_table_free(&t);
        r->n_silent += e->silent != NULL;
    }
    if (status) return status;
    if (!r->n_items && first.status) {
        *err = first;
        return first.status;
    }
    if (!r->n_items)
        return dl_fail(
            err, DEVLOG_ERR_NOT_FOUND,
            "no rank's report has an op with device data; were they run with TT_METAL_DEVICE_PROFILER=1?");
    if (r->n_lanes) qsort(r->lanes, r->n_lanes, sizeof *r->lanes, by_chip);
    r->lane_of = malloc(r->n_items * sizeof *r->lane_of);
    if (!r->lane_of) return no_memory(err);
    for (size_t k = 0; k < r->n_lanes; k++)
        for (size_t i = 0; i < r->lanes[k].n; i++)
            r->lane_of[r->lanes[k].first + i] = (uint32_t)k;
    return DEVLOG_OK;
}
