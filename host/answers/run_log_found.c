/* What came of a log that was read: zones of all cores put together, and which core was last. See run_log.h. */
#include <stdlib.h>
#include <string.h>

#include "answers/run_log_internal.h"
#include "decode/event.h"

/* Cycles of a chip in those of the first. */
static double to_first(const run_log *l, uint32_t chip)
{
    const double first = devlog_log_chips(l->log) ? devlog_log_chip(l->log, 0).mhz : 0;
    for (size_t i = 0; i < devlog_log_chips(l->log); i++) {
        const devlog_chip c = devlog_log_chip(l->log, (uint32_t)i);
        if (c.chip == chip && c.mhz > 0 && first > 0) return first / c.mhz;
    }
    return 1;
}

static run_zone zone_of(const run_log *l, const part *p)
{
    const devlog_stream s = devlog_log_stream(l->log, p->stream);
    const devlog_zone z = devlog_log_zone(l->log, p->zone);
    const double scale = to_first(l, s.chip);
    return (run_zone){.code = p->code - 1,
                      .risc = s.risc,
                      .name = z.name,
                      .file = z.file,
                      .line = z.line,
                      .role = z.role,
                      .count = p->count,
                      .total = (double)p->total * scale,
                      .own = (double)p->own * scale,
                      .markers = (double)p->markers * scale,
                      .unpriced = (double)p->unpriced * scale,
                      .mostly = (double)p->mostly * scale,
                      .times_mostly = p->times_mostly,
                      .min = (double)p->min * scale,
                      .max = (double)p->max * scale,
                      .cores = 1,
                      .chip = s.chip,
                      .worst = s.core,
                      .worst_total = (double)p->total * scale};
}

static int same_zone(const run_zone *x, const run_zone *y)
{
    if (x->code != y->code) return x->code < y->code ? -1 : 1;
    const int risc = strcmp(x->risc, y->risc), name = strcmp(x->name, y->name);
    if (risc || name) return risc ? risc : name;
    if (x->chip != y->chip &&
        (dl_is_process(x->chip) || dl_is_process(y->chip))) /* cores of chips, but no processes are one */
        return x->chip < y->chip ? -1 : 1;
    if (x->line != y->line) return x->line < y->line ? -1 : 1;
    return strcmp(x->file, y->file);
}

static int by_zone(const void *a, const void *b)
{
    const run_zone *x = a, *y = b;
    const int same = same_zone(x, y);
    if (same) return same;
    if (x->worst_total < y->worst_total || x->worst_total > y->worst_total)
        return x->worst_total > y->worst_total ? -1 : 1;
    if (x->chip != y->chip) return x->chip < y->chip ? -1 : 1;
    if (x->worst.x != y->worst.x) return x->worst.x < y->worst.x ? -1 : 1;
    return x->worst.y < y->worst.y ? -1 : x->worst.y > y->worst.y;
}

/* Streams of a zone put together: the first of them is the one where it took longest. */
bool run_log_find_zones(run_log *l)
{
    l->zones = malloc((l->n_parts + 1) * sizeof *l->zones);
    if (!l->zones) return false;
    size_t n = 0;
    for (; n < l->n_parts; n++)
        l->zones[n] = zone_of(l, &l->parts[n]);
    free(l->parts); /* no more zones come */
    l->parts = NULL;
    l->n_parts = l->cap_parts = 0;
    if (n) qsort(l->zones, n, sizeof *l->zones, by_zone);
    for (size_t i = 0; i < n; i++) {
        const run_zone *z = &l->zones[i];
        run_zone *to = l->n_zones ? &l->zones[l->n_zones - 1] : NULL;
        if (!to || same_zone(to, z)) {
            l->zones[l->n_zones++] = *z;
            continue;
        }
        to->count += z->count;
        to->total += z->total;
        to->own += z->own;
        to->markers += z->markers;
        to->unpriced += z->unpriced;
        to->mostly += z->mostly;
        to->times_mostly += z->times_mostly;
        to->cores++;
        if (z->min < to->min) to->min = z->min;
        if (z->max > to->max) to->max = z->max;
    }
    run_zone *less = realloc(l->zones, (l->n_zones + 1) * sizeof *less);
    if (less) l->zones = less;
    return true;
}

typedef struct last_core {
    uint32_t code, stream;
    double late;
} last_core;

static int by_code(const void *a, const void *b)
{
    const last_core *x = a, *y = b;
    if (x->code != y->code) return x->code < y->code ? -1 : 1;
    return x->stream < y->stream ? -1 : x->stream > y->stream;
}

/* The RISC that ended last in a launch. */
static const kernels *last_of(const launch_of *launch)
{
    const kernels *last = NULL;
    for (int i = 0; i < RISCS; i++)
        if (launch->riscs[i].n && (!last || launch->riscs[i].end > last->end)) last = &launch->riscs[i];
    return last;
}

static void add_late(run_log *l, const last_core *items, size_t n)
{
    run_late late = {.code = items[0].code - 1, .launches = n};
    double most = 0; /* cycles of the RISC that was last most often; of several, that which was latest */
    for (size_t i = 0, k; i < n; i = k) {
        uint64_t times = 0; /* nobody is last where all end together */
        double cycles = 0;
        for (k = i; k < n && items[k].stream == items[i].stream; k++) {
            cycles += items[k].late;
            times += items[k].late > 0;
        }
        late.cycles += cycles;
        if (times < late.times || (times == late.times && cycles <= most)) continue;
        most = cycles;
        const devlog_stream s = devlog_log_stream(l->log, items[i].stream);
        late.times = times;
        late.risc = s.risc;
        late.chip = s.chip;
        late.core = s.core;
    }
    l->lates[l->n_lates++] = late;
}

bool run_log_find_late(run_log *l)
{
    const size_t launches = devlog_log_launches(l->log);
    last_core *items = malloc((launches + 1) * sizeof *items);
    l->lates = malloc((launches + 1) * sizeof *l->lates);
    if (!items || !l->lates) {
        free(items);
        return false;
    }
    size_t n = 0;
    for (size_t i = 0; i < launches; i++) {
        const kernels *k = last_of(&l->launches[i]);
        if (!k || k->n < 2 || !l->codes[i] || l->codes[i] == NOT_WANTED) continue;
        items[n++] = (last_core){l->codes[i], k->last, (double)k->end - (double)k->ends / k->n};
    }
    if (n) qsort(items, n, sizeof *items, by_code);
    for (size_t i = 0, k; i < n; i = k) {
        for (k = i; k < n && items[k].code == items[i].code;)
            k++;
        add_late(l, &items[i], k - i);
    }
    free(items);
    return true;
}
