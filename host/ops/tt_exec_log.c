/* Programs that ran, from a device log: first and last stamps of each launch, gathered from the decoder's
 * events. A launch is what the log's ids and the firmware's starts tell (decode/launch.h); launches of one
 * host id that overlap are one whose RISCs disagree about its trace. */
#include <stdlib.h>
#include <string.h>

#include "ops/tt_exec.h"

#define CB_WAIT_ZONE    "CB-COMPUTE-WAIT-FRONT"
#define CB_RESERVE_ZONE "CB-COMPUTE-RESERVE-BACK"

#define PART_BIT UINT32_C(0x80000000) /* in gatherer.whole: others are parts of it */

enum { ROLE_UNKNOWN, ROLE_NONE, ROLE_FW, ROLE_KERNEL, ROLE_CB_WAIT, ROLE_CB_RESERVE };

typedef struct gatherer {
    tt_execs *e;
    uint32_t *whole; /* by launch: the launch that it is a part of, + 1; 0: itself. NULL: not known yet */
    uint32_t n_whole;
    uint32_t n_parts;
    uint8_t *roles; /* of sites, asked for once each */
    uint32_t n_roles;
} gatherer;

static void least(uint64_t *to, uint64_t value)
{
    if (value < *to) *to = value;
}

static void most(uint64_t *to, uint64_t value)
{
    if (value > *to) *to = value;
}

static void none(tt_cycles *c)
{
    *c = (tt_cycles){.fw_start = TT_NEVER,
                     .kernel_start = TT_NEVER,
                     .dm_start = TT_NEVER,
                     .core_min = TT_NEVER,
                     .lead_at = TT_NEVER};
    for (int i = 0; i < TT_RISCS; i++)
        c->risc_start[i] = TT_NEVER;
}

static uint8_t role_of(gatherer *g, const dl_tables *t, uint32_t site)
{
    if (site >= g->n_roles) {
        uint32_t n = site + 64;
        uint8_t *roles = realloc(g->roles, n);
        if (!roles) return ROLE_UNKNOWN;
        memset(roles + g->n_roles, ROLE_UNKNOWN, n - g->n_roles);
        g->roles = roles;
        g->n_roles = n;
    }
    if (g->roles[site] != ROLE_UNKNOWN) return g->roles[site];
    const dl_site *s = &t->sites[site];
    const char *name = dl_text(t, s->name);
    g->roles[site] = s->role == DL_ROLE_FW                ? ROLE_FW
                     : s->role == DL_ROLE_KERNEL          ? ROLE_KERNEL
                     : strcmp(name, CB_WAIT_ZONE) == 0    ? ROLE_CB_WAIT
                     : strcmp(name, CB_RESERVE_ZONE) == 0 ? ROLE_CB_RESERVE
                                                          : ROLE_NONE;
    return g->roles[site];
}

static tt_cycles *cycles_of(tt_execs *e, uint32_t launch)
{
    if (launch >= e->n_cycles) {
        size_t wanted = ((size_t)launch + 1) * sizeof *e->cycles;
        if (wanted > e->big_cycles.bytes && !dl_big_room(&e->big_cycles, wanted)) return NULL;
        e->cycles = e->big_cycles.data;
        for (; e->n_cycles <= launch; e->n_cycles++) {
            none(&e->cycles[e->n_cycles]);
            if (e->n_cycles % 16384 == 0) dl_big_cool(&e->big_cycles);
        }
    }
    return &e->cycles[launch];
}

/* What is known of the core in hand is complete. */
static void fold(tt_cycles *c)
{
    bool ran = c->core && c->core_start != TT_NEVER && c->core_end >= c->core_start;
    c->core = 0;
    if (!ran) return;
    uint64_t cycles = c->core_end - c->core_start;
    least(&c->core_min, cycles);
    most(&c->core_max, cycles);
    c->core_sum += cycles;
    c->core_n++;
    if (c->core_at < c->lead_at) {
        c->lead_at = c->core_at;
        c->lead = cycles;
    }
}

static bool take(gatherer *g, const dl_tables *t, const dl_event *event)
{
    uint8_t role = role_of(g, t, event->site);
    if (role == ROLE_NONE || event->launch == DL_NONE) return role != ROLE_UNKNOWN;
    const dl_stream *s = &t->streams[event->stream];
    uint32_t launch = event->launch;
    if (launch < g->n_whole && g->whole[launch] & ~PART_BIT) launch = (g->whole[launch] & ~PART_BIT) - 1;
    tt_cycles *c = cycles_of(g->e, launch);
    if (!c) return false;
    if (role == ROLE_CB_WAIT || role == ROLE_CB_RESERVE) {
        bool wait = role == ROLE_CB_WAIT;
        if (event->kind == DL_EVENT_SUM && s->risc == (wait ? DL_RISC_TRISC0 : DL_RISC_TRISC2))
            *(wait ? &c->cb_wait : &c->cb_reserve) += event->data;
        return true;
    }
    if (event->kind != DL_EVENT_ZONE) return true;
    uint32_t core = (uint32_t)s->core_x << 16 | s->core_y;
    if (c->core != core + 1) {
        fold(c);
        c->core = core + 1;
        c->core_at = c->core_start = TT_NEVER;
        c->core_end = 0;
        c->cores += role == ROLE_FW || role == ROLE_KERNEL;
    }
    c->zones++;
    least(&c->core_at, event->start);
    if (role == ROLE_FW) {
        least(&c->fw_start, event->start);
        most(&c->fw_end, event->end);
        c->brisc |= s->risc == DL_RISC_BRISC || s->risc == DL_RISC_ERISC;
        return true;
    }
    c->kernels++;
    least(&c->core_start, event->start);
    most(&c->core_end, event->end);
    least(&c->kernel_start, event->start);
    most(&c->last_start, event->start);
    most(&c->kernel_end, event->end);
    if (s->risc == DL_RISC_BRISC || s->risc == DL_RISC_NCRISC || s->risc == DL_RISC_ERISC)
        least(&c->dm_start, event->start);
    if ((int)s->risc < (int)TT_RISCS) {
        least(&c->risc_start[s->risc], event->start);
        most(&c->risc_end[s->risc], event->end);
    }
    return true;
}

static devlog_status on_runs(void *context, const dl_run *runs, size_t n, devlog_error *err)
{
    gatherer *g = context;
    const dl_tables *t = dl_decode_tables(g->e->decode);
    for (size_t i = 0; i < n; i++)
        for (uint32_t k = 0; k < runs[i].n_events; k++)
            if (!take(g, t, &runs[i].events[k])) return dl_fail(err, DEVLOG_ERR_MEMORY, "out of memory");
    return DEVLOG_OK;
}

static uint64_t begin_of(const tt_cycles *c)
{
    return c->fw_start != TT_NEVER ? c->fw_start : c->kernel_start;
}

static uint64_t end_of(const tt_cycles *c)
{
    return c->fw_end > c->kernel_end ? c->fw_end : c->kernel_end;
}

static int by_time(const void *a, const void *b)
{
    const tt_exec *x = a, *y = b;
    if (x->device != y->device) return x->device < y->device ? -1 : 1;
    if (x->id != y->id) return x->id < y->id ? -1 : 1;
    if (x->start != y->start) return x->start < y->start ? -1 : 1;
    return x->order < y->order ? -1 : x->order > y->order;
}

/* Launches of one id that overlap are one: the part with BRISC's firmware, of whose trace it is. */
static devlog_status find_parts(gatherer *g, devlog_error *err)
{
    tt_execs *e = g->e;
    const tt_exec *last = NULL;
    uint64_t end = 0;
    for (size_t i = 0; i < e->n; i++) {
        const tt_exec *x = &e->items[i];
        const tt_cycles *c = &e->cycles[x->cycles];
        if (!last || last->device != x->device || last->id != x->id || x->start > end) {
            last = x;
            end = end_of(c);
            continue;
        }
        if (!g->whole) g->whole = calloc(e->n_cycles, sizeof *g->whole);
        if (!g->whole) return dl_fail(err, DEVLOG_ERR_MEMORY, "out of memory");
        g->n_whole = (uint32_t)e->n_cycles;
        g->n_parts++;
        tt_found_add(e->found, TT_TRACE_IDS, "GLOBAL CALL COUNT %llu on device %u", (unsigned long long)x->id,
                     x->device);
        bool other = c->brisc && !e->cycles[last->cycles].brisc;
        const tt_exec *whole = other ? x : last, *part = other ? last : x;
        g->whole[part->cycles] = whole->cycles + 1;
        g->whole[whole->cycles] = PART_BIT;
        if (end_of(c) > end) end = end_of(c);
        last = whole;
    }
    /* A part of a part is one of the whole. */
    for (uint32_t i = 0; i < g->n_whole; i++)
        for (uint32_t k = 0; k < 8 && g->whole[i] & ~PART_BIT; k++) {
            uint32_t above = g->whole[(g->whole[i] & ~PART_BIT) - 1] & ~PART_BIT;
            if (!above) break;
            g->whole[i] = above;
        }
    return DEVLOG_OK;
}

static devlog_status gather(gatherer *g, devlog_error *err)
{
    tt_execs *e = g->e;
    const dl_launches *launches = dl_decode_launches(e->decode);
    const dl_tables *t = dl_decode_tables(e->decode);
    for (uint32_t i = 0; i < launches->count && i < e->n_cycles; i++) {
        const dl_launch *l = &launches->items[i];
        tt_cycles *c = &e->cycles[i];
        if (!c->zones) continue;
        fold(c);
        if (!l->run_host_id) {
            e->without_id++;
            continue;
        }
        tt_exec *x = tt_execs_add(e);
        if (!x) return dl_fail(err, DEVLOG_ERR_MEMORY, "out of memory");
        x->id = l->run_host_id;
        x->device = t->chips[l->chip].id;
        x->start = begin_of(c);
        x->trace = l->trace_id == DL_NO_ID ? TT_NONE : l->trace_id;
        x->session = l->trace_counter == DL_NO_ID || !l->trace_counter ? TT_NONE : l->trace_counter;
        x->counted = l->trace_counter == DL_NO_ID ? TT_NONE : l->trace_counter;
        x->cycles = i;
        x->trace_repaired = i < g->n_whole && g->whole[i] & PART_BIT;
    }
    if (e->n) qsort(e->items, e->n, sizeof *e->items, by_time);
    if (!g->whole) {
        devlog_status status = find_parts(g, err);
        if (status || g->n_parts) return status;
    }
    for (size_t i = 0; i < e->n; i++)
        e->items[i].order = (uint32_t)i;
    return DEVLOG_OK;
}

static devlog_status read_once(gatherer *g, const char *path, const void *bytes, size_t n,
                               const dl_decode_options *options, devlog_error *err)
{
    tt_execs *e = g->e;
    dl_decode_free(e->decode);
    e->decode = NULL;
    e->n = e->n_cycles = 0;
    e->without_id = 0;
    g->n_roles = 0;
    devlog_status status = dl_decode_new(&e->decode, options, err);
    if (status) return status;
    status = dl_decode_run_sink(e->decode, (dl_run_sink){g, DL_WANT_EVENTS, on_runs, false}, err);
    if (status) return status;
    status = path ? dl_decode_file(e->decode, path, err)
                  : dl_decode_memory(e->decode, "device log", bytes, n, err);
    if (!status) status = dl_decode_finish(e->decode, err);
    if (!status) status = gather(g, err);
    return status;
}

/* Twice when RISCs disagree about traces: what is per core is known only when it is known which launches are
 * one, and launches have the same numbers again. */
static devlog_status read_all(tt_execs *e, const char *path, const void *bytes, size_t n,
                              const dl_decode_options *options, devlog_error *err)
{
    gatherer g = {.e = e};
    devlog_status status = read_once(&g, path, bytes, n, options, err);
    if (!status && g.n_parts) status = read_once(&g, path, bytes, n, options, err);
    free(g.roles);
    free(g.whole);
    return status;
}

devlog_status tt_execs_read_log(tt_execs *e, const char *path, const dl_decode_options *options,
                                devlog_error *err)
{
    devlog_status status = read_all(e, path, NULL, 0, options, err);
    if (!status) status = tt_counters_read(&e->counters, path, NULL, err);
    if (e->counters.unknown)
        tt_found_add(e->found, TT_UNKNOWN_COUNTER, "%llu records", (unsigned long long)e->counters.unknown);
    return status;
}

devlog_status tt_execs_parse_log(tt_execs *e, const void *bytes, size_t n, devlog_error *err)
{
    const dl_decode_options options = {.no_samples = true, .threads = 1};
    devlog_status status = read_all(e, NULL, bytes, n, &options, err);
    return status ? status : tt_counters_parse(&e->counters, bytes, n, err);
}
