/* Zones, cores and clocks of a run from its device logs. See run_log.h. */
#include "answers/run_log_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "answers/answer_run.h"
#include "answers/run_touched.h"
#include "decode/door.h"
#include "decode/event.h"

/* What a report's whole nanoseconds make of a clock may be off by so much of it. */
static const double CLOCKS_AGREE = 0.01;

/* ---- One pass --- */

static uint8_t risc_of(const char *name)
{
    for (unsigned i = 0; i < RISCS; i++)
        if (strcmp(name, op_table_riscs[i]) == 0) return (uint8_t)i;
    for (uint8_t i = 2; i < 5; i++)
        if (strncmp(name, "TRISC_", 6) == 0 && name[6] == (char)('0' + i - 2) && !name[7]) return i;
    return RISCS;
}

/* NULL: out of memory. */
static stream_of *stream_at(run_log *l, uint32_t number)
{
    if (number >= l->n_streams) {
        const size_t n = ((size_t)number + 64) * 2;
        stream_of *grown = realloc(l->streams, n * sizeof *grown);
        if (!grown) return NULL;
        memset(&grown[l->n_streams], 0, (n - l->n_streams) * sizeof *grown);
        l->streams = grown;
        l->n_streams = n;
    }
    stream_of *s = &l->streams[number];
    if (!s->known) {
        const devlog_stream of = devlog_log_stream(l->log, number);
        s->known = true;
        s->risc = risc_of(of.risc);
        s->of_host = dl_is_process(of.chip);
    }
    return s;
}

static bool grow_launches(run_log *l, size_t n)
{
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

/* The slot of a part, or where it would be. */
static size_t place_of(const run_log *l, uint32_t stream, uint32_t zone, uint32_t code)
{
    const uint64_t key = ((uint64_t)zone << 32 | stream) ^ dl_hash_u64(code + UINT64_C(1));
    size_t at = (size_t)dl_hash_u64(key) & (l->n_slots - 1);
    for (; l->slots[at]; at = (at + 1) & (l->n_slots - 1)) {
        const part *p = &l->parts[l->slots[at] - 1];
        if (p->stream == stream && p->zone == zone && p->code == code) break;
    }
    return at;
}

static bool grow_parts(run_log *l)
{
    if (l->n_parts == l->cap_parts) {
        const size_t cap = l->cap_parts ? l->cap_parts + l->cap_parts / 2 : 1024;
        part *grown = cap < UINT32_MAX ? realloc(l->parts, cap * sizeof *grown) : NULL;
        if (!grown) return false;
        l->parts = grown;
        l->cap_parts = cap;
    }
    if (l->n_parts * 2 < l->n_slots) return true;
    const size_t n = l->n_slots ? l->n_slots * 2 : 2048;
    uint32_t *slots = calloc(n, sizeof *slots);
    if (!slots) return false;
    free(l->slots);
    l->slots = slots;
    l->n_slots = n;
    for (size_t i = 0; i < l->n_parts; i++)
        slots[place_of(l, l->parts[i].stream, l->parts[i].zone, l->parts[i].code)] = (uint32_t)i + 1;
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

/* What a zone of a stream counts into; NULL: out of memory. */
static part *find_part(run_log *l, stream_of *s, uint32_t stream, uint32_t zone, uint32_t code)
{
    if (!grow_parts(l)) return NULL;
    const size_t slot = place_of(l, stream, zone, code);
    if (!l->slots[slot]) {
        l->parts[l->n_parts] = (part){stream, zone, code, .min = UINT64_MAX};
        l->slots[slot] = (uint32_t)++l->n_parts;
    }
    l->parts[s->last].next = l->slots[slot] - 1;
    s->last = l->slots[slot] - 1;
    return &l->parts[s->last];
}

/* The same; a stream's zones mostly come as they did the last time. */
static inline part *part_of(run_log *l, stream_of *s, uint32_t stream, uint32_t zone, uint32_t code)
{
    if (!l->n_parts) return find_part(l, s, stream, zone, code);
    const size_t next = l->parts[s->last].next;
    part *guess = &l->parts[next];
    if (guess->stream != stream || guess->zone != zone || guess->code != code)
        return find_part(l, s, stream, zone, code);
    s->last = next;
    return guess;
}

/* A zone without those inside it, of which the ones around it will know that it is inside them. */
static inline uint64_t own_of(stream_of *s, uint32_t depth, uint64_t whole)
{
    uint64_t own = whole;
    if (depth + 1 < MOST_OPEN) {
        own = s->inside[depth + 1] < whole ? whole - s->inside[depth + 1] : 0;
        s->inside[depth + 1] = 0;
    }
    if (depth < MOST_OPEN) s->inside[depth] += whole;
    if (depth == 0) s->inside[0] = 0;
    return own;
}

/* Which op's code the launch is of, in which something begins at `start`; 0: out of memory. */
static inline uint32_t code_at(run_log *l, uint32_t launch, uint64_t start)
{
    if (launch >= l->n_launches && !grow_launches(l, (size_t)launch + 1)) return 0;
    if (!l->codes[launch]) l->codes[launch] = run_log_code_of(&l->asked, l->log, launch, start);
    return l->codes[launch];
}

/* A zone of an op's code; NULL: out of memory. */
static inline __attribute__((always_inline)) part *add_zone(run_log *l, stream_of *s, uint32_t stream,
                                                            uint32_t site, uint32_t launch, uint64_t start,
                                                            uint64_t end, uint64_t own, uint32_t code)
{
    const uint64_t whole = end - start;
    part *to = part_of(l, s, stream, site, code);
    if (!to) return NULL;
    if (to->count == 0) to->of_kernel = dl_decode_tables(l->decode)->sites[site].role == DL_ROLE_KERNEL;
    to->own += own;
    to->total += whole;
    to->count++;
    if (whole < to->min) to->min = whole;
    if (whole > to->max) to->max = whole;
    if (to->of_kernel && launch != DL_NONE) add_kernel(&l->launches[launch], s->risc, stream, start, end);
    return to;
}

/* The code of what belongs to no launch. */
static uint32_t code_without(const run_log *l, const stream_of *s)
{
    return l->asked.all || (s->of_host && l->asked.whole) ? 1 : NOT_WANTED;
}

/* A zone that is summed up over a launch is one like others, but that nobody knows around what it is. Where the log does not tell
 * its passes (tt-metal's do not), each launch is one. */
static bool add_sum(run_log *l, stream_of *s, const dl_event *e, uint32_t code)
{
    const dl_sum_passes p = dl_sum_passes_of(dl_text(dl_decode_tables(l->decode), e->meta), e->data);
    if (!p.count) return true;
    part *to = part_of(l, s, e->stream, e->site, code);
    if (!to) return false;
    to->own += e->data;
    to->total += e->data;
    to->count += p.count;
    if (p.shortest < to->min) to->min = p.shortest;
    if (p.longest > to->max) to->max = p.longest;
    return true;
}

static bool add_zones(run_log *l, stream_of *s, const dl_run *run)
{
    uint32_t launch = DL_NONE, code = code_without(l, s);
    for (const dl_event *z = run->events, *end = z + run->n_events; z < end; z++) {
        if (z->kind != DL_EVENT_ZONE && z->kind != DL_EVENT_SUM) continue;
        const uint64_t own = z->kind == DL_EVENT_ZONE ? own_of(s, z->depth, z->end - z->start) : 0;
        if (z->launch != launch) {
            launch = z->launch;
            code = launch == DL_NONE ? code_without(l, s) : code_at(l, launch, z->start);
            if (!code) return false;
        }
        if (code == NOT_WANTED) continue;
        if (z->kind == DL_EVENT_SUM) {
            if (!add_sum(l, s, z, code)) return false;
            continue;
        }
        part *to = add_zone(l, s, z->stream, z->site, launch, z->start, z->end, own, code);
        if (!to) return false;
        if (!(z->own_cost | z->flags)) continue;
        to->markers += z->own_cost;
        if (z->flags & DL_EVENT_NO_COST) to->unpriced += z->end - z->start;
        if (z->flags & DL_EVENT_MOST_COST) {
            to->mostly += z->end - z->start;
            to->times_mostly++;
        }
    }
    return true;
}

/* The same of zones that are not listed, which are of no kernel. */
static bool add_sums(run_log *l, stream_of *s, const dl_run *run)
{
    const dl_run_sums *sums = run->sums;
    for (uint32_t i = 0; i < sums->n_inside; i++)
        if (sums->depth + i > 0) s->inside[sums->depth + i] += sums->inside[i];
    if (!sums->n_zones) return true;
    const uint32_t code = run->launch != DL_NONE ? code_at(l, run->launch, sums->start)
                          : l->asked.all         ? 1
                                                 : NOT_WANTED;
    for (uint32_t i = 0; i < sums->n_zones && code != NOT_WANTED; i++) {
        const dl_zone_sum *z = &sums->zones[i];
        part *to = code ? part_of(l, s, run->stream, z->site, code) : NULL;
        if (!to) return false;
        to->own += z->own;
        to->total += z->total;
        to->count += z->count;
        if (z->min < to->min) to->min = z->min;
        if (z->max > to->max) to->max = z->max;
        to->markers += z->cost;
        if (sums->flags & DL_EVENT_NO_COST) to->unpriced += z->total;
        if (!(sums->flags & DL_EVENT_MOST_COST)) continue;
        to->mostly += z->total;
        to->times_mostly += z->count;
    }
    return code != 0;
}

/* The same of a run that has items, which are all of one launch. */
static bool add_items(run_log *l, stream_of *s, const dl_run *run)
{
    const dl_kind *kinds = dl_decode_tables(l->decode)->kinds;
    const dl_mark *marks = run->marks;
    const uint32_t launch = run->launch, stream = run->stream;
    uint32_t code = launch == DL_NONE ? code_without(l, s) : 0;
    for (const dl_run_item *item = run->items, *behind = item + run->n_events; item < behind; item++) {
        if (item->kind != DL_EVENT_ZONE) continue;
        const uint64_t start = marks[item->start].time, end = marks[item->end].time,
                       own = own_of(s, item->depth, end - start);
        const uint32_t site = kinds[dl_mark_kind(marks[item->end].code)].site;
        if (!code && !(code = code_at(l, launch, start))) return false;
        if (code != NOT_WANTED && !add_zone(l, s, stream, site, launch, start, end, own, code)) return false;
    }
    return true;
}

static devlog_status on_runs(void *ctx, const dl_run *runs, size_t n, devlog_error *err)
{
    run_log *l = ctx;
    for (size_t i = 0; i < n; i++) {
        const dl_run *run = &runs[i];
        if (!run->n_events) continue;
        const uint32_t stream = run->stream;
        const bool known = stream < l->n_streams && l->streams[stream].known;
        stream_of *s = known ? &l->streams[stream] : stream_at(l, stream);
        const bool added = s && (run->items ? add_items : run->sums ? add_sums : add_zones)(l, s, run);
        if (!added) return dl_fail(err, DEVLOG_ERR_MEMORY, "out of memory");
    }
    return DEVLOG_OK;
}

static devlog_status begin(run_log *l, const answer_run *r, bool made, devlog_error *err)
{
    if (!run_log_ask(&l->asked, r, made)) return dl_fail(err, DEVLOG_ERR_MEMORY, "out of memory");
    return door_beside(l->decode, &l->log, err);
}

devlog_status run_log_begin(run_log **out, dl_decode *decode, const struct answer_run *r, devlog_error *err)
{
    run_log *l = *out = calloc(1, sizeof *l);
    if (!l) return dl_fail(err, DEVLOG_ERR_MEMORY, "out of memory");
    l->decode = decode;
    return begin(l, r, false, err);
}

/* Ids of launches, which tell their ops, are not to be looked up apart. */
dl_run_sink run_log_runs(run_log *l)
{
    static const _Atomic uint32_t none = 0;
    return (dl_run_sink){.ctx = l,
                         .wants = DL_WANT_EVENTS | DL_WANT_ITEMS,
                         .runs = on_runs,
                         .apart = l->asked.all,
                         .events_end = &none,
                         .sums = true};
}

devlog_status run_log_end(run_log *l, devlog_error *err)
{
    if (grow_launches(l, devlog_log_launches(l->log)) && run_log_find_zones(l) && run_log_find_late(l))
        return DEVLOG_OK;
    return dl_fail(err, DEVLOG_ERR_MEMORY, "out of memory");
}

devlog_status run_log_read(run_log **out, const char *const *paths, size_t n, const struct answer_run *r,
                           bool made, const dl_filter *parts, devlog_error *err)
{
    run_log *l = *out = calloc(1, sizeof *l);
    if (!l) return dl_fail(err, DEVLOG_ERR_MEMORY, "out of memory");
    const dl_decode_options how = {.filter = parts ? run_parts_only(parts) : (dl_filter){0},
                                   .no_samples = true};
    devlog_status status = dl_decode_new(&l->own, &how, err);
    l->decode = l->own;
    if (!status) status = begin(l, r, made, err);
    if (!status) status = dl_decode_run_sink(l->decode, run_log_runs(l), err);
    if (!status) status = dl_decode_prepare(l->decode, (char *const *)paths, n, err);
    for (size_t i = 0; i < n && !status; i++)
        status = dl_decode_file(l->decode, paths[i], err);
    if (!status) status = dl_decode_finish(l->decode, err);
    return status ? status : run_log_end(l, err);
}

void run_log_free(run_log *l)
{
    if (!l) return;
    devlog_log_close(l->log);
    dl_decode_free(l->own);
    launch_rows_free(&l->asked.rows);
    free(l->asked.by_row);
    free(l->streams);
    free(l->parts);
    free(l->slots);
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

devlog_status run_log_no_rows(const run_log *l, const char *first, size_t n, devlog_error *err)
{
    return dl_losses_no_rows(dl_decode_losses(l->decode), first, n, err);
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
