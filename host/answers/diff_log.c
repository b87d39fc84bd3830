/* A device log or capture as a run of a diff: launches, and zones of each RISC. See diff.h. A zone's value is
 * what it took on average in a launch, over the cores; in an op it is what it took itself, without the zones
 * inside it, added up over its passes and averaged over the cores. Logs of one launch give every zone by
 * itself. */
#include <stdlib.h>
#include <string.h>

#include "answers/diff.h"
#include "decode/door.h"

enum {
    MOST_OPEN = 64,          /* zones inside one another whose own times are told apart */
    MOST_INSTANCES = 100000, /* of the first launch that are kept, for when there is no other */
};

/* What a zone of one RISC is: its line, by numbers of the log. */
typedef struct zone_of {
    uint32_t risc, zone, line, launch;
    uint64_t own, whole; /* cycles, in the chip's clock */
    uint32_t n, cores, last_core;
    bool used;
} zone_of;

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
    zone_of *table;  /* by risc, zone and launch: open addressing */
    size_t n, cap;   /* cap: a power of two */
    instance *first; /* zones of the first launch, one by one */
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

static size_t place_of(const adding *a, uint32_t risc, uint32_t zone, uint32_t launch)
{
    uint64_t key = ((uint64_t)zone << 32 | launch) ^ dl_hash_u64(risc + UINT64_C(1));
    size_t at = (size_t)dl_hash_u64(key) & (a->cap - 1);
    while (a->table[at].used &&
           (a->table[at].risc != risc || a->table[at].zone != zone || a->table[at].launch != launch))
        at = (at + 1) & (a->cap - 1);
    return at;
}

static bool grow_table(adding *a)
{
    if (a->n * 2 < a->cap) return true;
    zone_of *old = a->table;
    const size_t n = a->cap;
    a->cap = n ? n * 2 : 1024;
    a->table = calloc(a->cap, sizeof *a->table);
    if (!a->table) {
        a->table = old;
        a->cap = n;
        return false;
    }
    for (size_t i = 0; i < n; i++)
        if (old[i].used) a->table[place_of(a, old[i].risc, old[i].zone, old[i].launch)] = old[i];
    free(old);
    return true;
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
    if (!grow_table(a) || !keep_instance(a, s->risc, z->zone[i], z->launch[i], whole)) return false;
    zone_of *to = &a->table[place_of(a, s->risc, z->zone[i], z->launch[i])];
    if (!to->used) {
        *to = (zone_of){.risc = s->risc, .zone = z->zone[i], .launch = z->launch[i], .used = true};
        to->last_core = UINT32_MAX;
        a->n++;
    }
    to->own += own;
    to->whole += whole;
    to->n++;
    to->cores += to->last_core != z->stream[i];
    to->last_core = z->stream[i];
    return true;
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

static void add_launches(adding *a)
{
    diff *d = a->d;
    a->n_ops = devlog_log_launches(a->log);
    a->ops = malloc((a->n_ops + 1) * sizeof *a->ops);
    if (!a->ops) d->no_memory = true;
    double device = 0, gaps = 0;
    diff_chips chips = {0};
    bool any = false, any_gap = false;
    uint64_t last = 0;
    uint32_t chip = 0;
    for (size_t i = 0; a->ops && i < a->n_ops; i++) {
        const devlog_launch l = devlog_log_launch(a->log, (uint32_t)i);
        d->runs[a->run].launches++;
        a->ops[i] = UINT32_MAX;
        if (d->ops) {
            const launch_key key = launch_key_of(a->log, (uint32_t)i, l.first_start);
            a->ops[i] = launch_rows_find(a->rows, &key);
            continue;
        }
        dl_str_clear(&a->key);
        dl_str_fmt(&a->key, "launch %u %u", d->several ? l.chip : 0, d->several ? l.number : 0);
        const uint32_t line = a->key.failed ? UINT32_MAX : diff_find(d, DIFF_OP, a->key.text, a->key.len);
        if (line == UINT32_MAX) continue;
        const bool ran = l.last_end > l.first_start && l.first_start != UINT64_MAX;
        const double ns = ran ? (double)(l.last_end - l.first_start) * scale_of(a, l.chip) : -1;
        if (!*d->lines[line].name) {
            d->lines[line].name = diff_text(d, "launch", 6);
            d->lines[line].group = l.chip;
            d->lines[line].place = d->several ? l.number : 0;
        }
        d->lines[line].by_clock = true;
        diff_add(d, line, a->side, a->run, ns, 1);
        a->ops[i] = line;
        if (!ran) continue;
        if (any && chip == l.chip && l.first_start > last)
            gaps += (double)(l.first_start - last) * scale_of(a, l.chip);
        any_gap |= any && chip == l.chip;
        device += ns;
        diff_chip_took(d, &chips, l.chip, ns);
        any = true;
        chip = l.chip;
        last = l.last_end;
    }
    if (d->ops) return;
    d->lines[DIFF_DEVICE].by_clock = d->lines[DIFF_GAPS].by_clock = d->lines[DIFF_BUSIEST].by_clock = true;
    diff_chips_end(d, &chips, a->side, a->run);
    diff_add(d, DIFF_DEVICE, a->side, a->run, any ? device : -1, 1);
    if (any_gap) diff_add(d, DIFF_GAPS, a->side, a->run, gaps, 1);
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
    if (a->cap) qsort(a->table, a->cap, sizeof *a->table, by_launch);
    for (size_t i = 0; i < a->n && !a->d->no_memory; i++) {
        const zone_of *z = &a->table[i];
        const bool in_launch = z->launch < a->n_ops;
        const double scale = in_launch ? scale_of(a, devlog_log_launch(a->log, z->launch).chip) : 1;
        if (!instances || z->launch)
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
    free(a.table);
    free(a.first);
    free(a.ops);
    free(a.scale);
    dl_str_free(&a.key);
    return status;
}
