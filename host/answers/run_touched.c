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

/* Bits of launches by their numbers, as long as needed. */
typedef struct marks {
    uint8_t *of;
    size_t cap;
} marks;

static bool mark(marks *m, const uint32_t *launches, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (launches[i] == DEVLOG_NO_LAUNCH) continue;
        if (launches[i] >= m->cap) {
            const size_t cap = ((size_t)launches[i] + 64) * 2;
            uint8_t *grown = realloc(m->of, cap);
            if (!grown) return false;
            memset(grown + m->cap, 0, cap - m->cap);
            m->of = grown;
            m->cap = cap;
        }
        m->of[launches[i]] = 1;
    }
    return true;
}

static devlog_status read_marks(devlog_log *log, marks *m, devlog_error *err)
{
    devlog_batch b = {0};
    devlog_status status;
    while (!(status = devlog_log_next(log, &b, err)) && !b.last)
        if (!mark(m, b.zones.launch, b.zones.count) || !mark(m, b.values.launch, b.values.count))
            return dl_fail(err, DEVLOG_ERR_MEMORY, "out of memory");
    return status;
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

devlog_status run_touched_read(run_touched *t, const char *path, const dl_filter *f, bool has_report,
                               devlog_error *err)
{
    devlog_log *log = NULL;
    devlog_log_options o;
    devlog_core *cores = NULL;
    marks m = {0};
    size_t n = 0;
    *t = (run_touched){0};
    devlog_status status = run_parts_options(f, &o, &cores, err);
    if (!status) status = devlog_log_open(&path, 1, &o, &log, err);
    if (!status) status = read_marks(log, &m, err);
    t->rows = malloc((m.cap + 1) * sizeof *t->rows);
    t->launches = malloc((m.cap + 1) * sizeof *t->launches);
    if (!status && (!t->rows || !t->launches)) status = dl_fail(err, DEVLOG_ERR_MEMORY, "out of memory");
    for (size_t i = 0; i < m.cap && !status; i++) {
        if (!m.of[i]) continue;
        const devlog_launch l = devlog_log_launch(log, (uint32_t)i);
        const uint64_t own = l.run_host_id ? l.run_host_id : l.number;
        const uint64_t asked = has_report ? door_asked_by(log, (uint32_t)i) : own;
        t->rows[n] = (dl_filter_range){asked, asked};
        t->launches[n++] = (dl_filter_range){own, own};
    }
    if (!status && !n)
        status = dl_fail(err, DEVLOG_ERR_NOT_FOUND,
                         "no launch of %s has anything that the filters let through", path);
    t->n_rows = put_together(t->rows, n);
    t->n_launches = put_together(t->launches, n);
    devlog_log_close(log);
    free(cores);
    free(m.of);
    return status;
}

void run_touched_free(run_touched *t)
{
    free(t->rows);
    free(t->launches);
}
