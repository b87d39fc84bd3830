/* Launches in which something gets past filters by core, RISC, zone and time. See run_touched.h. */
#include "answers/run_touched.h"

#include <stdlib.h>
#include <string.h>

#include "decode/door.h"

_Static_assert(sizeof(devlog_range) == sizeof(dl_filter_range), "ranges are handed on as they are");

bool run_has_parts(const dl_filter *f)
{
    return f->n_cores || f->n_riscs || f->n_zones || f->from || f->to || f->min_cycles;
}

dl_filter run_parts_only(const dl_filter *f)
{
    return (dl_filter){.cores = f->cores,
                       .n_cores = f->n_cores,
                       .riscs = f->riscs,
                       .n_riscs = f->n_riscs,
                       .zones = f->zones,
                       .n_zones = f->n_zones,
                       .from = f->from,
                       .to = f->to,
                       .min_cycles = f->min_cycles};
}

devlog_status run_parts_options(const dl_filter *f, devlog_log_options *out, devlog_core **cores,
                                devlog_error *err)
{
    *cores = malloc((f->n_cores + 1) * sizeof **cores);
    if (!*cores) return dl_fail(err, DEVLOG_ERR_MEMORY, "out of memory");
    for (size_t i = 0; i < f->n_cores; i++)
        (*cores)[i] = (devlog_core){f->cores[i].x, f->cores[i].y};
    *out =
        (devlog_log_options)DEVLOG_LOG_OPTIONS(.chips = (const devlog_range *)f->chips, .n_chips = f->n_chips,
                                               .cores = *cores, .n_cores = f->n_cores, .riscs = f->riscs,
                                               .n_riscs = f->n_riscs, .zones = f->zones,
                                               .n_zones = f->n_zones,
                                               .launches = (const devlog_range *)f->launches,
                                               .n_launches = f->n_launches, .from = f->from, .until = f->to,
                                               .min_cycles = f->min_cycles, .skip_launches = f->skip_launches,
                                               .no_quantiles = true);
    return DEVLOG_OK;
}

/* When something that got past the filters began first, by launches' numbers, as long as needed; UINT64_MAX: nothing did. */
typedef struct marks {
    uint64_t *of;
    size_t cap;
} marks;

static bool mark(marks *m, const uint32_t *launches, const uint64_t *times, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (launches[i] == DEVLOG_NO_LAUNCH) continue;
        if (launches[i] >= m->cap) {
            const size_t cap = ((size_t)launches[i] + 64) * 2;
            uint64_t *grown = realloc(m->of, cap * sizeof *grown);
            if (!grown) return false;
            memset(grown + m->cap, 0xff, (cap - m->cap) * sizeof *grown);
            m->of = grown;
            m->cap = cap;
        }
        if (times[i] < m->of[launches[i]]) m->of[launches[i]] = times[i];
    }
    return true;
}

static devlog_status read_marks(devlog_log *log, marks *m, devlog_error *err)
{
    devlog_batch b = {0};
    devlog_status status;
    while (!(status = devlog_log_next(log, &b, err)) && !b.last)
        if (!mark(m, b.zones.launch, b.zones.start, b.zones.count) ||
            !mark(m, b.values.launch, b.values.time, b.values.count))
            return dl_fail(err, DEVLOG_ERR_MEMORY, "out of memory");
    return status;
}

static int by_id(const void *a, const void *b)
{
    return dl_filter_by_id(a, b);
}

static int by_low(const void *a, const void *b)
{
    const dl_filter_range *x = a, *y = b;
    return x->low < y->low ? -1 : x->low > y->low;
}

/* In order, neighbours as one. */
static size_t put_together(dl_filter_range *ranges, size_t n)
{
    size_t to = 0;
    if (n) qsort(ranges, n, sizeof *ranges, by_low);
    for (size_t i = 0; i < n; i++) {
        if (to && ranges[i].low <= ranges[to - 1].high + 1)
            ranges[to - 1].high = ranges[i].high;
        else
            ranges[to++] = ranges[i];
    }
    return to;
}

/* A filter knows launches of ops by their ops. */
static dl_filter_id filter_id(const launch_key *key)
{
    /* NOLINTNEXTLINE(clang-analyzer-core.NullDereference,clang-analyzer-core.uninitialized.Branch): as many keys as n says */
    if (key->told) return (dl_filter_id){key->op, DL_FILTER_OP, 0};
    return (dl_filter_id){key->own, key->chip, DL_FILTER_ANY};
}

devlog_status run_touched_read(run_touched *t, const char *path, const dl_filter *f, devlog_error *err)
{
    devlog_log *log = NULL;
    devlog_log_options o;
    devlog_core *cores = NULL;
    marks m = {0};
    *t = (run_touched){0};
    devlog_status status = run_parts_options(f, &o, &cores, err);
    if (!status) status = devlog_log_open(&path, 1, &o, &log, err);
    if (!status) status = read_marks(log, &m, err);
    t->keys = malloc((m.cap + 1) * sizeof *t->keys);
    t->ids = malloc((m.cap + 1) * sizeof *t->ids);
    t->launches = malloc((m.cap + 1) * sizeof *t->launches);
    if (!status && (!t->keys || !t->ids || !t->launches))
        status = dl_fail(err, DEVLOG_ERR_MEMORY, "out of memory");
    for (size_t i = 0; i < m.cap && !status; i++)
        if (m.of[i] != UINT64_MAX) t->keys[t->n++] = launch_key_of(log, (uint32_t)i, m.of[i]);
    if (!status && !t->n)
        status = dl_fail(err, DEVLOG_ERR_NOT_FOUND,
                         "no launch of %s has anything that the filters let through", path);
    for (size_t i = 0; i < t->n; i++) {
        t->ids[t->n_ids++] = filter_id(&t->keys[i]);
        t->launches[i] = (dl_filter_range){t->keys[i].own, t->keys[i].own};
    }
    t->n_launches = put_together(t->launches, t->n);
    /* NOLINTNEXTLINE(clang-analyzer-core.NonNullParamChecker): there are launches when there was no error */
    if (t->n_ids) qsort(t->ids, t->n_ids, sizeof *t->ids, by_id);
    devlog_log_close(log);
    free(cores);
    free(m.of);
    return status;
}

uint8_t *run_touched_rows(const run_touched *t, const op_table *table, bool made)
{
    launch_rows rows = {.made = made};
    uint8_t *wanted = calloc(table->n + 1, 1);
    bool good = wanted != NULL;
    for (size_t i = 0; i < table->n && good; i++) {
        const double *wide = table->wide[i].numbers;
        if (table->rows[i].has & OP_IS_POINT) continue;
        good = launch_rows_add(&rows, &table->rows[i], wide[OP_FW_START], wide[OP_FW_END], (uint32_t)i);
    }
    good = good && launch_rows_end(&rows, table);
    for (size_t i = 0; i < t->n && good; i++) {
        const uint32_t row = launch_rows_find(&rows, &t->keys[i]);
        if (row != UINT32_MAX) wanted[row] = 1;
    }
    launch_rows_free(&rows);
    if (good) return wanted;
    free(wanted);
    return NULL;
}

void run_touched_free(run_touched *t)
{
    free(t->keys);
    free(t->ids);
    free(t->launches);
    *t = (run_touched){0};
}
