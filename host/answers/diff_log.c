/* A device log or capture as a run of a diff: launches, and zones of each RISC. See diff.h. A zone's value is
 * what it took on average in a launch, over the cores; in an op it is what it took itself, without the zones
 * inside it, added up over its passes and averaged over the cores. Logs of one launch give every zone by
 * itself, but those that were summed up. */
#include <stdlib.h>
#include <string.h>

#include "answers/busy.h"
#include "answers/diff.h"
#include "decode/door.h"
#include "decode/event.h"

enum {
    MOST_OPEN = 64,          /* zones inside one another whose own times are told apart */
    MOST_INSTANCES = 100000, /* of the first launch that are kept, for when there is no other */
};

/* What a zone of one RISC took in a launch, by numbers of the log. */
typedef struct zone_of {
    uint32_t risc, zone, launch;
    uint64_t own, whole; /* cycles, in the chip's clock */
    uint32_t n, cores;
    uint32_t met;      /* of one core: the launch that it was last met in, and 1 */
    bool used, summed; /* summed: passes through a sum, which has no instances */
} zone_of;

/* By risc, zone and launch: open addressing. */
typedef struct zone_table {
    zone_of *items;
    size_t n, cap; /* cap: a power of two */
} zone_table;

typedef struct stream_of {
    uint32_t risc, chip; /* risc: text of diff.texts */
    uint64_t inside[MOST_OPEN];
} stream_of;

typedef struct instance {
    uint32_t risc, zone;
    uint64_t cycles;
} instance;

typedef struct adding {
    diff *d;
    uint32_t run, side;
    const launch_rows *rows;
    devlog_log *log;
    stream_of *streams;
    size_t n_streams;
    zone_table zones;
    zone_table cores; /* the same of one core, its stream in place of the RISC: a log has cores in turn */
    instance *first;  /* zones of the first launch, one by one */
    size_t n_first, cap_first;
    uint32_t *ops; /* by launch: its op's line */
    size_t n_ops;
    double *scale; /* by chip, in the order of the log: to the clock of the first chip */
    size_t n_chips;
    dl_str key;
} adding;

static bool grow_streams(adding *a)
{
    const size_t n = devlog_log_streams(a->log);
    if (n <= a->n_streams) return true;
    stream_of *grown = realloc(a->streams, n * sizeof *grown);
    if (!grown) return false;
    a->streams = grown;
    for (size_t i = a->n_streams; i < n; i++) {
        const devlog_stream s = devlog_log_stream(a->log, (uint32_t)i);
        memset(&grown[i], 0, sizeof grown[i]);
        grown[i].chip = s.chip;
        grown[i].risc = dl_intern_add(a->d->texts, s.risc, strlen(s.risc));
        if (grown[i].risc == DL_NO_STRING) return false;
    }
    a->n_streams = n;
    return true;
}

static size_t place_of(const zone_table *t, uint32_t risc, uint32_t zone, uint32_t launch)
{
    uint64_t key = ((uint64_t)zone << 32 | launch) ^ dl_hash_u64(risc + UINT64_C(1));
    size_t at = (size_t)dl_hash_u64(key) & (t->cap - 1);
    while (t->items[at].used &&
           (t->items[at].risc != risc || t->items[at].zone != zone || t->items[at].launch != launch))
        at = (at + 1) & (t->cap - 1);
    return at;
}

static bool grow_table(zone_table *t)
{
    if (t->n * 2 < t->cap) return true;
    const zone_table old = *t;
    t->cap = old.cap ? old.cap * 2 : 1024;
    t->items = calloc(t->cap, sizeof *t->items);
    if (!t->items) {
        *t = old;
        return false;
    }
    for (size_t i = 0; i < old.cap; i++) {
        const zone_of *z = &old.items[i];
        if (z->used) t->items[place_of(t, z->risc, z->zone, z->launch)] = *z;
    }
    free(old.items);
    return true;
}

/* NULL: no memory. */
static zone_of *zone_at(zone_table *t, uint32_t risc, uint32_t zone, uint32_t launch)
{
    if (!grow_table(t)) return NULL;
    zone_of *z = &t->items[place_of(t, risc, zone, launch)];
    if (z->used) return z;
    *z = (zone_of){.risc = risc, .zone = zone, .launch = launch, .used = true};
    t->n++;
    return z;
}

/* Cycles of a chip in those of the first. */
static double scale_of(const adding *a, uint32_t chip)
{
    for (size_t i = 0; i < a->n_chips; i++)
        if (devlog_log_chip(a->log, (uint32_t)i).chip == chip) return a->scale[i];
    return 1;
}

/* With one run on both sides, and one launch in it, every zone counts by itself. */
static bool keep_instance(adding *a, uint32_t risc, uint32_t zone, uint32_t launch, uint64_t cycles)
{
    if (a->d->several || launch != 0 || a->n_first > MOST_INSTANCES) return true;
    if (a->n_first == a->cap_first) {
        size_t cap = a->cap_first ? a->cap_first * 2 : 256;
        instance *grown = realloc(a->first, cap * sizeof *grown);
        if (!grown) return false;
        a->first = grown;
        a->cap_first = cap;
    }
    a->first[a->n_first++] = (instance){risc, zone, cycles};
    return true;
}

typedef struct passes {
    uint64_t own, whole;
    uint32_t n;
    bool summed;
} passes;

static bool add_passes(adding *a, uint32_t stream, uint32_t zone, uint32_t launch, const passes *p)
{
    zone_of *to = zone_at(&a->zones, a->streams[stream].risc, zone, launch);
    zone_of *core = zone_at(&a->cores, stream, zone, 0);
    if (!to || !core) return false;
    to->own += p->own;
    to->whole += p->whole;
    to->n += p->n;
    to->summed |= p->summed;
    to->cores += core->met != launch + 1;
    core->met = launch + 1;
    return true;
}

static bool add_zone(adding *a, const devlog_zones *z, size_t i)
{
    stream_of *s = &a->streams[z->stream[i]];
    const uint64_t whole = z->end[i] - z->start[i];
    uint64_t own = whole;
    const uint32_t depth = z->depth[i];
    if (depth + 1 < MOST_OPEN) {
        own = s->inside[depth + 1] < whole ? whole - s->inside[depth + 1] : 0;
        s->inside[depth + 1] = 0;
    }
    if (depth < MOST_OPEN) s->inside[depth] += whole;
    if (depth == 0) s->inside[0] = 0;
    return keep_instance(a, s->risc, z->zone[i], z->launch[i], whole) &&
           add_passes(a, z->stream[i], z->zone[i], z->launch[i], &(passes){own, whole, 1, false});
}

static bool add_sum(adding *a, const devlog_values *v, size_t i)
{
    const dl_sum_passes p = dl_sum_passes_of(devlog_log_text(a->log, v->text[i]), v->data[i]);
    return !p.count || add_passes(a, v->stream[i], v->zone[i], v->launch[i],
                                  &(passes){v->data[i], v->data[i], (uint32_t)p.count, true});
}

/* ---- What the numbers are --- */

static void read_chips(adding *a)
{
    diff_run *r = &a->d->runs[a->run];
    a->n_chips = devlog_log_chips(a->log);
    a->scale = calloc(a->n_chips + 1, sizeof *a->scale);
    if (!a->scale) {
        a->d->no_memory = true;
        a->n_chips = 0;
        return;
    }
    bool all = a->n_chips > 0;
    for (size_t i = 0; i < a->n_chips; i++) {
        const devlog_chip c = devlog_log_chip(a->log, (uint32_t)i);
        all &= c.mhz > 0;
        if (i == 0) {
            r->mhz = c.mhz;
            r->arch = *c.arch ? strdup(c.arch) : NULL;
        } else if (c.mhz < r->mhz || c.mhz > r->mhz) {
            r->clocks = true;
        }
        op_aiclk_add(&r->aiclk, (door_aiclk_khz(a->log, (uint32_t)i) + 500) / 1000);
        a->scale[i] = c.mhz > 0 && r->mhz > 0 ? r->mhz / c.mhz : 1;
    }
    if (!all) r->mhz = 0;
    r->instructions |= door_counts_instructions(a->log);
}

static const char *base_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* The line of a zone, of the whole run or (op not UINT32_MAX) in an op. */
static uint32_t line_of(adding *a, const zone_of *z, uint32_t op)
{
    diff *d = a->d;
    const devlog_zone zone = devlog_log_zone(a->log, z->zone);
    dl_str where = {0};
    if (zone.line) dl_str_fmt(&where, "%s:%u", base_of(zone.file), zone.line);
    dl_str_clear(&a->key);
    dl_str_fmt(&a->key, "%u %u %s\x1f%s", op, z->risc, zone.name, where.text ? where.text : "");
    const uint32_t line =
        a->key.failed || where.failed
            ? UINT32_MAX
            : diff_find(d, op == UINT32_MAX ? DIFF_ZONE : DIFF_CAUSE, a->key.text, a->key.len);
    if (line != UINT32_MAX && !*d->lines[line].risc) {
        const char *text = diff_text(d, where.text ? where.text : "", where.len);
        d->lines[line].risc = dl_intern_text(d->texts, z->risc, NULL);
        d->lines[line].where = text;
        d->lines[line].name = diff_text(d, zone.name, strlen(zone.name));
        d->lines[line].parent = op;
        d->lines[line].by_clock = true;
        d->lines[line].marked = zone.role == DEVLOG_ZONE_USER;
    }
    d->no_memory |= where.failed || a->key.failed;
    dl_str_free(&where);
    return line;
}

/* In the order of launches, so that nothing depends on where a hash put it. */
static int by_launch(const void *a, const void *b)
{
    const zone_of *x = a, *y = b;
    if (x->used != y->used) return x->used ? -1 : 1;
    if (x->launch != y->launch) return x->launch < y->launch ? -1 : 1;
    if (x->zone != y->zone) return x->zone < y->zone ? -1 : 1;
    return x->risc < y->risc ? -1 : x->risc > y->risc;
}

static bool has_run(const devlog_launch *l)
{
    return l->last_end > l->first_start && l->first_start != UINT64_MAX;
}

typedef struct work {
    busy_span span;
    uint32_t chip, boot; /* chip: its place in the log */
} work;

static int by_boot(const void *a, const void *b)
{
    const work *x = a, *y = b;
    if (x->chip != y->chip) return x->chip < y->chip ? -1 : 1;
    return x->boot < y->boot ? -1 : x->boot > y->boot;
}

static uint32_t place_of_chip(const adding *a, uint32_t chip)
{
    uint32_t c = 0;
    while (c + 1 < a->n_chips && devlog_log_chip(a->log, c).chip != chip)
        c++;
    return c;
}

/* What no launch of a chip fills, from its first to its last, of each start of its counter. A log has launches in any order, and those of
 * several chips in turn. */
static void add_gaps(adding *a, const uint32_t *boots)
{
    busy_span *spans = malloc((a->n_ops + 1) * sizeof *spans);
    work *all = malloc((a->n_ops + 1) * sizeof *all);
    double gaps = 0;
    bool any = false;
    size_t n_all = 0;
    a->d->no_memory |= !spans || !all;
    for (size_t i = 0; !a->d->no_memory && i < a->n_ops; i++) {
        const devlog_launch l = devlog_log_launch(a->log, (uint32_t)i);
        if (has_run(&l))
            all[n_all++] =
                (work){{(double)l.first_start, (double)l.last_end}, place_of_chip(a, l.chip), boots[i]};
    }
    if (n_all) qsort(all, n_all, sizeof *all, by_boot);
    for (size_t from = 0, to; from < n_all; from = to) {
        double end = 0;
        for (to = from; to < n_all && by_boot(&all[to], &all[from]) == 0; to++) {
            spans[to - from] = all[to].span;
            if (all[to].span.end > end) end = all[to].span.end;
        }
        if (to - from < 2) continue;
        const double busy = busy_union(spans, to - from); /* which sorts them */
        gaps += (end - spans[0].start - busy) * a->scale[all[from].chip];
        any = true;
    }
    free(spans);
    free(all);
    if (any) diff_add(a->d, DIFF_GAPS, a->side, a->run, gaps, 1);
}

typedef struct placed {
    uint64_t start;
    uint32_t chip, boot, launch;
} placed;

static int by_chip_and_start(const void *a, const void *b)
{
    const placed *x = a, *y = b;
    if (x->chip != y->chip) return x->chip < y->chip ? -1 : 1;
    if (x->boot != y->boot) return x->boot < y->boot ? -1 : 1;
    if (x->start != y->start) return x->start < y->start ? -1 : 1;
    return x->launch < y->launch ? -1 : x->launch > y->launch;
}

/* By launch: the how manieth of its chip it was. The log's own numbers are those in which it has them, core by core perhaps. NULL: no
 * memory. */
static uint32_t *places_of(const adding *a, const uint32_t *boots)
{
    uint32_t *places = malloc((a->n_ops + 1) * sizeof *places);
    placed *all = malloc((a->n_ops + 1) * sizeof *all);
    for (size_t i = 0; places && all && i < a->n_ops; i++) {
        const devlog_launch l = devlog_log_launch(a->log, (uint32_t)i);
        all[i] = (placed){l.first_start, l.chip, boots[i], (uint32_t)i};
    }
    if (places && all && a->n_ops) qsort(all, a->n_ops, sizeof *all, by_chip_and_start);
    uint32_t place = 0;
    for (size_t i = 0; places && all && i < a->n_ops; i++) {
        place = i && all[i].chip == all[i - 1].chip ? place + 1 : 0;
        places[all[i].launch] = place;
    }
    if (!all) {
        free(places);
        places = NULL;
    }
    free(all);
    return places;
}

static void add_launches(adding *a)
{
    diff *d = a->d;
    a->n_ops = devlog_log_launches(a->log);
    a->ops = malloc((a->n_ops + 1) * sizeof *a->ops);
    uint32_t *boots = d->ops ? NULL : door_boots(a->log);
    uint32_t *places = d->several && boots ? places_of(a, boots) : NULL;
    if (!a->ops || (!d->ops && (!boots || (d->several && !places)))) d->no_memory = true;
    double device = 0;
    diff_chips chips = {0};
    bool any = false;
    for (size_t i = 0; a->ops && !d->no_memory && i < a->n_ops; i++) {
        const devlog_launch l = devlog_log_launch(a->log, (uint32_t)i);
        d->runs[a->run].launches++;
        a->ops[i] = UINT32_MAX;
        if (d->ops) {
            const launch_key key = launch_key_of(a->log, (uint32_t)i, l.first_start);
            a->ops[i] = launch_rows_find(a->rows, &key);
            continue;
        }
        dl_str_clear(&a->key);
        dl_str_fmt(&a->key, "launch %u %u", d->several ? l.chip : 0, places ? places[i] : 0);
        const uint32_t line = a->key.failed ? UINT32_MAX : diff_find(d, DIFF_OP, a->key.text, a->key.len);
        if (line == UINT32_MAX) continue;
        const bool ran = has_run(&l);
        const double ns = ran ? (double)(l.last_end - l.first_start) * scale_of(a, l.chip) : -1;
        if (!*d->lines[line].name) {
            d->lines[line].name = diff_text(d, "launch", 6);
            d->lines[line].group = l.chip;
            d->lines[line].place = places ? places[i] : 0;
        }
        d->lines[line].by_clock = true;
        diff_add(d, line, a->side, a->run, ns, 1);
        a->ops[i] = line;
        if (!ran) continue;
        device += ns;
        diff_chip_took(d, &chips, l.chip, ns);
        any = true;
    }
    free(places);
    if (d->ops || d->no_memory) {
        free(boots);
        return;
    }
    d->lines[DIFF_DEVICE].by_clock = d->lines[DIFF_GAPS].by_clock = d->lines[DIFF_BUSIEST].by_clock = true;
    diff_chips_end(d, &chips, a->side, a->run);
    diff_add(d, DIFF_DEVICE, a->side, a->run, any ? device : -1, 1);
    add_gaps(a, boots);
    free(boots);
}

static bool one_by_one(const adding *a)
{
    return !a->d->several && a->n_ops == 1 && a->n_first && a->n_first <= MOST_INSTANCES;
}

static void add_instances(adding *a)
{
    const double scale = scale_of(a, devlog_log_launch(a->log, 0).chip);
    for (size_t i = 0; i < a->n_first; i++) {
        const zone_of z = {.risc = a->first[i].risc, .zone = a->first[i].zone};
        diff_add(a->d, line_of(a, &z, UINT32_MAX), a->side, a->run, (double)a->first[i].cycles * scale, 1);
    }
}

static void add_zones(adding *a)
{
    const bool instances = one_by_one(a);
    if (instances) add_instances(a);
    if (a->zones.cap) qsort(a->zones.items, a->zones.cap, sizeof *a->zones.items, by_launch);
    for (size_t i = 0; i < a->zones.n && !a->d->no_memory; i++) {
        const zone_of *z = &a->zones.items[i];
        const bool in_launch = z->launch < a->n_ops;
        const double scale = in_launch ? scale_of(a, devlog_log_launch(a->log, z->launch).chip) : 1;
        if (!instances || z->launch || z->summed)
            diff_add(a->d, line_of(a, z, UINT32_MAX), a->side, a->run, (double)z->whole * scale, z->n);
        if (in_launch && a->ops && a->ops[z->launch] != UINT32_MAX)
            diff_add(a->d, line_of(a, z, a->ops[z->launch]), a->side, a->run,
                     (double)z->own / z->cores * scale, 1);
    }
}

static devlog_status add_batches(adding *a, devlog_error *err)
{
    devlog_batch b = {0};
    devlog_status status;
    while (!(status = devlog_log_next(a->log, &b, err)) && !b.last) {
        bool good = grow_streams(a);
        for (size_t i = 0; good && i < b.zones.count; i++)
            good = add_zone(a, &b.zones, i);
        for (size_t i = 0; good && i < b.values.count; i++)
            if (b.values.kind[i] == DEVLOG_VALUE_SUM) good = add_sum(a, &b.values, i);
        if (!good) return dl_fail(err, DEVLOG_ERR_MEMORY, "out of memory");
    }
    return status;
}

devlog_status diff_add_logs(diff *d, uint32_t run, const char *const *logs, size_t n_logs,
                            const launch_rows *rows, devlog_error *err)
{
    adding a = {.d = d, .run = run, .side = d->runs[run].side, .rows = rows};
    const devlog_log_options o = DEVLOG_LOG_OPTIONS(.no_quantiles = true);
    devlog_status status = devlog_log_open(logs, n_logs, &o, &a.log, err);
    if (!status) status = add_batches(&a, err);
    /* Beside a report a log that holds nothing is a loss; alone it is no run. */
    if (!status && !d->ops) status = door_no_rows(a.log, err);
    if (!status) {
        for (size_t i = 0; i < devlog_log_findings(a.log); i++)
            d->runs[run].lost += devlog_log_finding(a.log, i).loss;
        read_chips(&a);
        add_launches(&a);
        add_zones(&a);
        if (d->no_memory || a.key.failed) status = dl_fail(err, DEVLOG_ERR_MEMORY, "out of memory");
    }
    if (a.log) devlog_log_close(a.log);
    free(a.streams);
    free(a.zones.items);
    free(a.cores.items);
    free(a.first);
    free(a.ops);
    free(a.scale);
    dl_str_free(&a.key);
    return status;
}
