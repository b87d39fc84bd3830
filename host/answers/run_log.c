/* Zones, cores and clocks of a run from its device logs. See run_log.h. */
#include "answers/run_log_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "answers/answer_run.h"
#include "answers/run_touched.h"
#include "decode/door.h"
#include "decode/event.h"

#define NOT_WANTED UINT32_MAX

/* What a report's whole nanoseconds make of a clock may be off by so much of it. */
static const double CLOCKS_AGREE = 0.01;

/* ---- Which op a launch is of --- */

typedef struct id_of {
    uint64_t id;
    uint32_t chip, code;
} id_of;

typedef struct asked {
    id_of *ids;
    size_t n;
    bool all, made;
    bool whole;       /* nothing is left out of the run: then its host zones are asked for, too */
    uint32_t *by_row; /* made tables: code + 1 by row */
    size_t n_rows;
} asked;

static int by_id(const void *a, const void *b)
{
    const id_of *x = a, *y = b;
    if (x->id != y->id) return x->id < y->id ? -1 : 1;
    return x->chip < y->chip ? -1 : x->chip > y->chip;
}

static bool ask(asked *a, const answer_run *r, bool made)
{
    *a = (asked){.all = !r, .made = made, .whole = r && !r->left_out};
    if (!r) return true;
    const op_table *t = r->table;
    a->n_rows = made ? t->n : 0;
    a->by_row = calloc(a->n_rows + 1, sizeof *a->by_row);
    a->ids = malloc((t->n + 1) * sizeof *a->ids);
    if (!a->by_row || !a->ids) return false;
    for (size_t i = r->first; i < r->last; i++) {
        const op_table_row *row = &t->rows[i];
        if (!answer_run_wants(r, i) || (row->has & OP_IS_POINT)) continue;
        if (made)
            a->by_row[i] = row->code + 1;
        else if (row->has & OP_HAS_ID)
            a->ids[a->n++] = (id_of){row->id, row->chip, row->code};
    }
    if (a->n) qsort(a->ids, a->n, sizeof *a->ids, by_id);
    return true;
}

static uint32_t code_of(const asked *a, const devlog_log *log, uint32_t number)
{
    if (a->all) return 1;
    if (a->made) return number < a->n_rows && a->by_row[number] ? a->by_row[number] : NOT_WANTED;
    const id_of key = {.id = door_asked_by(log, number), .chip = devlog_log_launch(log, number).chip};
    const id_of *found = a->n ? bsearch(&key, a->ids, a->n, sizeof key, by_id) : NULL;
    return found ? found->code + 1 : NOT_WANTED;
}

/* ---- One pass --- */

static uint8_t risc_of(const char *name)
{
    for (uint8_t i = 0; i < RISCS; i++)
        if (strcmp(name, op_table_riscs[i]) == 0) return i;
    for (uint8_t i = 2; i < 5; i++)
        if (strncmp(name, "TRISC_", 6) == 0 && name[6] == (char)('0' + i - 2) && !name[7]) return i;
    return RISCS;
}

static bool grow_streams(run_log *l)
{
    const size_t n = devlog_log_streams(l->log);
    if (n <= l->n_streams) return true;
    stream_of *grown = realloc(l->streams, n * sizeof *grown);
    if (!grown) return false;
    l->streams = grown;
    for (size_t i = l->n_streams; i < n; i++) {
        memset(&grown[i], 0, sizeof grown[i]);
        grown[i].risc = risc_of(devlog_log_stream(l->log, (uint32_t)i).risc);
        grown[i].of_host = dl_is_process(devlog_log_stream(l->log, (uint32_t)i).chip);
    }
    l->n_streams = n;
    return true;
}

static bool grow_launches(run_log *l)
{
    const size_t n = devlog_log_launches(l->log);
    if (n <= l->n_launches) return true;
    size_t cap = l->n_launches ? l->n_launches : 64;
    while (cap < n)
        cap *= 2;
    launch_of *grown = realloc(l->launches, cap * sizeof *grown);
    if (grown) l->launches = grown;
    uint32_t *codes = grown ? realloc(l->codes, cap * sizeof *codes) : NULL;
    if (!codes) return false;
    l->codes = codes;
    memset(&grown[l->n_launches], 0, (cap - l->n_launches) * sizeof *grown);
    memset(&codes[l->n_launches], 0, (cap - l->n_launches) * sizeof *codes);
    l->n_launches = cap;
    return true;
}

static size_t place_of(const run_log *l, uint32_t stream, uint32_t zone, uint32_t code)
{
    const uint64_t key = ((uint64_t)zone << 32 | stream) ^ dl_hash_u64(code + UINT64_C(1));
    size_t at = (size_t)dl_hash_u64(key) & (l->cap_parts - 1);
    while (l->parts[at].used &&
           (l->parts[at].stream != stream || l->parts[at].zone != zone || l->parts[at].code != code))
        at = (at + 1) & (l->cap_parts - 1);
    return at;
}

static bool grow_parts(run_log *l)
{
    if (l->n_parts * 2 < l->cap_parts) return true;
    part *old = l->parts;
    const size_t n = l->cap_parts;
    part *grown = calloc(n ? n * 2 : 1024, sizeof *grown);
    if (!grown) return false;
    l->parts = grown;
    l->cap_parts = n ? n * 2 : 1024;
    for (size_t i = 0; i < n; i++)
        if (old[i].used) l->parts[place_of(l, old[i].stream, old[i].zone, old[i].code)] = old[i];
    free(old);
    return true;
}

static void add_kernel(launch_of *to, uint8_t risc, uint32_t stream, uint64_t start, uint64_t end)
{
    if (risc >= RISCS) return;
    kernels *k = &to->riscs[risc];
    if (!k->n || start < k->start) k->start = start;
    if (!k->n || end > k->end) {
        k->end = end;
        k->last = stream;
    }
    k->ends += end;
    k->n++;
}

static bool add_zone(run_log *l, const asked *a, const devlog_zones *z, const uint32_t *flags, size_t i)
{
    stream_of *s = &l->streams[z->stream[i]];
    const uint64_t whole = z->end[i] - z->start[i];
    uint64_t own = whole;
    const uint32_t depth = z->depth[i], launch = z->launch[i];
    if (depth + 1 < MOST_OPEN) {
        own = s->inside[depth + 1] < whole ? whole - s->inside[depth + 1] : 0;
        s->inside[depth + 1] = 0;
    }
    if (depth < MOST_OPEN) s->inside[depth] += whole;
    if (depth == 0) s->inside[0] = 0;
    uint32_t code = a->all || (s->of_host && a->whole) ? 1 : NOT_WANTED;
    if (launch != DEVLOG_NO_LAUNCH) {
        if (!l->codes[launch]) l->codes[launch] = code_of(a, l->log, launch);
        code = l->codes[launch];
    }
    if (code == NOT_WANTED) return true;
    if (!grow_parts(l)) return false;
    part *to = &l->parts[place_of(l, z->stream[i], z->zone[i], code)];
    if (!to->used) {
        *to = (part){z->stream[i], z->zone[i], code, .used = true, .min = UINT64_MAX};
        l->n_parts++;
    }
    to->own += own;
    to->total += whole;
    to->markers += z->own_cost[i];
    if (flags[i] & DL_EVENT_NO_COST) to->unpriced += whole;
    if (flags[i] & DL_EVENT_MOST_COST) {
        to->mostly += whole;
        to->times_mostly++;
    }
    to->count++;
    if (whole < to->min) to->min = whole;
    if (whole > to->max) to->max = whole;
    if (launch != DEVLOG_NO_LAUNCH && devlog_log_zone(l->log, z->zone[i]).role == DEVLOG_ZONE_KERNEL)
        add_kernel(&l->launches[launch], s->risc, z->stream[i], z->start[i], z->end[i]);
    return true;
}

static devlog_status read_all(run_log *l, const asked *a, devlog_error *err)
{
    devlog_batch b = {0};
    devlog_status status;
    while (!(status = devlog_log_next(l->log, &b, err)) && !b.last) {
        bool good = grow_streams(l) && grow_launches(l);
        for (size_t i = 0; good && i < b.zones.count; i++)
            good = add_zone(l, a, &b.zones, door_zone_flags(l->log), i);
        if (!good) return dl_fail(err, DEVLOG_ERR_MEMORY, "out of memory");
    }
    if (!status && !grow_launches(l)) status = dl_fail(err, DEVLOG_ERR_MEMORY, "out of memory");
    return status;
}

/* ---- What came of it --- */

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
static bool find_zones(run_log *l)
{
    l->zones = malloc((l->n_parts + 1) * sizeof *l->zones);
    if (!l->zones) return false;
    size_t n = 0;
    for (size_t i = 0; i < l->cap_parts; i++)
        if (l->parts[i].used) l->zones[n++] = zone_of(l, &l->parts[i]);
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
    for (size_t i = 0, k; i < n; i = k) {
        for (k = i; k < n && items[k].stream == items[i].stream; k++)
            late.cycles += items[k].late;
        if (k - i <= late.times) continue;
        const devlog_stream s = devlog_log_stream(l->log, items[i].stream);
        late.times = k - i;
        late.risc = s.risc;
        late.chip = s.chip;
        late.core = s.core;
    }
    l->lates[l->n_lates++] = late;
}

static bool find_late(run_log *l)
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

devlog_status run_log_read(run_log **out, const char *const *paths, size_t n, const struct answer_run *r,
                           bool made, const dl_filter *parts, devlog_error *err)
{
    run_log *l = *out = calloc(1, sizeof *l);
    asked a = {0};
    devlog_log_options o;
    devlog_core *cores = NULL;
    const dl_filter of_parts = parts ? run_parts_only(parts) : (dl_filter){0};
    if (!l) return dl_fail(err, DEVLOG_ERR_MEMORY, "out of memory");
    devlog_status status = run_parts_options(&of_parts, &o, &cores, err);
    if (!status) status = devlog_log_open(paths, n, &o, &l->log, err);
    if (!status && !ask(&a, r, made)) status = dl_fail(err, DEVLOG_ERR_MEMORY, "out of memory");
    if (!status) status = read_all(l, &a, err);
    if (!status && (!find_zones(l) || !find_late(l)))
        status = dl_fail(err, DEVLOG_ERR_MEMORY, "out of memory");
    free(cores);
    free(a.ids);
    free(a.by_row);
    return status;
}

void run_log_free(run_log *l)
{
    if (!l) return;
    devlog_log_close(l->log);
    free(l->streams);
    free(l->parts);
    free(l->launches);
    free(l->codes);
    free(l->zones);
    free(l->lates);
    free(l);
}

bool run_log_has_waits(const run_log *l)
{
    static const char *const records[] = {"DEVLOG-WANTS", "DEVLOG-NOC-READ", "DEVLOG-NOC-WRITE"};
    for (size_t i = 0; i < devlog_log_zones(l->log); i++)
        for (size_t k = 0; k < sizeof records / sizeof records[0]; k++)
            if (strcmp(devlog_log_zone(l->log, (uint32_t)i).name, records[k]) == 0) return true;
    return false;
}

uint32_t run_log_op_of(const void *log, uint32_t launch)
{
    const run_log *l = log;
    const uint32_t code = launch < devlog_log_launches(l->log) ? l->codes[launch] : 0;
    return code && code != NOT_WANTED ? code - 1 : UINT32_MAX;
}

double run_log_mhz(const run_log *l)
{
    return devlog_log_chips(l->log) ? devlog_log_chip(l->log, 0).mhz : 0;
}

void run_log_chip(const run_log *l, struct answer_chip *c)
{
    for (size_t i = 0; i < devlog_log_chips(l->log); i++) {
        const devlog_chip of = devlog_log_chip(l->log, (uint32_t)i);
        if (of.chip != c->chip) continue;
        if (*of.arch) c->arch = of.arch;
        if (of.mhz > 0) {
            if (isfinite(c->mhz) && fabs(c->mhz - of.mhz) > CLOCKS_AGREE * of.mhz) c->report_mhz = c->mhz;
            c->mhz = of.mhz;
            c->mhz_source = "device log";
        }
        if (of.core_error_cycles > 0) c->core_error_cycles = of.core_error_cycles;
        if (of.host_error_ns > 0) c->host_error_ns = of.host_error_ns;
    }
}

const run_zone *run_log_zones(const run_log *l, size_t *n)
{
    *n = l->n_zones;
    return l->zones;
}

const run_late *run_log_lates(const run_log *l, size_t *n)
{
    *n = l->n_lates;
    return l->lates;
}

devlog_status run_log_no_rows(const run_log *l, devlog_error *err)
{
    return door_no_rows(l->log, err);
}

size_t run_log_findings(const run_log *l)
{
    return devlog_log_findings(l->log);
}

devlog_finding run_log_finding(const run_log *l, size_t i)
{
    return devlog_log_finding(l->log, i);
}

uint64_t run_log_lost(const run_log *l)
{
    uint64_t lost = 0;
    for (size_t i = 0; i < devlog_log_findings(l->log); i++)
        lost += devlog_log_finding(l->log, i).loss;
    return lost;
}

uint64_t run_log_violated(const run_log *l)
{
    uint64_t violated = 0;
    for (size_t i = 0; i < devlog_log_findings(l->log); i++) {
        const devlog_finding f = devlog_log_finding(l->log, i);
        if (strcmp(f.key, dl_finding_key(DL_FOUND_VIOLATED)) == 0) violated += f.count;
    }
    return violated;
}
