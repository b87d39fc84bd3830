/* Programs that ran, from a device log: first and last stamps of each launch, gathered from the decoder's
 * events. A launch is what the log's ids and the firmware's starts tell (decode/launch.h); launches of one
 * host id that overlap are one whose RISCs disagree about its trace. */
#include <stdlib.h>
#include <string.h>

#include "tt_metal/exec.h"
#include "tt_metal/part.h"

#define CB_WAIT_ZONE    "CB-COMPUTE-WAIT-FRONT"
#define CB_RESERVE_ZONE "CB-COMPUTE-RESERVE-BACK"
/* Of a whole replay, from the pseudo RISC TENSIX_RISC_AGG (TT_METAL_TRACE_PROFILER=1). */
#define TRACE_FW_ZONE     "TRACE-FW"
#define TRACE_KERNEL_ZONE "TRACE-KERNEL"
/* The streaming profiler's zones: their source file, and the program's id where traces have theirs. */
#define STREAMING_FILE "streaming"

#define PART_BIT UINT32_C(0x80000000) /* in gatherer.whole: others are parts of it */

enum {
    ROLE_UNKNOWN,
    ROLE_NONE,
    ROLE_FW,
    ROLE_KERNEL,
    ROLE_CB_WAIT,
    ROLE_CB_RESERVE,
    ROLE_TRACE_FW,
    ROLE_TRACE_KERNEL
};
enum { MAX_RISCS = 64 };

typedef struct gatherer {
    tt_execs *e;
    uint32_t *whole;    /* by launch: the launch that it is a part of, + 1; 0: itself. NULL: not known yet */
    uint16_t *disagree; /* beside it: how many parts have another trace */
    uint32_t n_whole;
    uint32_t n_parts;
    bool streaming; /* zones are the streaming profiler's */
    enum {
        IN_TURN,
        OPEN,
        ALL
    } way;            /* cores of a launch come one after the other; some launches are open; all are */
    bool again;       /* the way is not that of this log */
    tt_places places; /* but IN_TURN */
    uint8_t *roles;   /* of sites, asked for once each */
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
                     .trace_fw_start = TT_NEVER,
                     .trace_kernel_start = TT_NEVER,
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
    g->streaming |= strcmp(dl_text(t, s->file), STREAMING_FILE) == 0;
    g->roles[site] = strcmp(name, TRACE_FW_ZONE) == 0       ? ROLE_TRACE_FW
                     : strcmp(name, TRACE_KERNEL_ZONE) == 0 ? ROLE_TRACE_KERNEL
                     : s->role == DL_ROLE_FW                ? ROLE_FW
                     : s->role == DL_ROLE_KERNEL            ? ROLE_KERNEL
                     : strcmp(name, CB_WAIT_ZONE) == 0      ? ROLE_CB_WAIT
                     : strcmp(name, CB_RESERVE_ZONE) == 0   ? ROLE_CB_RESERVE
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

/* Quasar's QUASAR_DM0 to 7. */
static bool is_data_mover(const dl_tables *t, const dl_stream *s)
{
    return s->risc == DL_RISC_OTHER && strncmp(dl_text(t, s->risc_name), "QUASAR_DM", 9) == 0;
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

/* "DM0", "NEO1 TRISC2": Quasar's RISCs as columns name them. MAX_RISCS: too many. */
static uint32_t risc_number(tt_execs *e, const char *name)
{
    static const char prefix[] = "QUASAR_";
    char column[64];
    size_t n = 0;
    if (strncmp(name, prefix, sizeof prefix - 1) == 0) name += sizeof prefix - 1;
    for (; name[n] && n + 1 < sizeof column; n++)
        column[n] = (char)(name[n] == '_' || (unsigned char)name[n] < 32 ? ' ' : name[n]);
    column[n] = 0;
    for (uint32_t i = 0; i < e->n_riscs; i++)
        if (strcmp(e->riscs[i], column) == 0) return i;
    if (e->n_riscs == MAX_RISCS) return MAX_RISCS;
    char **grown = realloc(e->riscs, (e->n_riscs + 1) * sizeof *grown);
    if (!grown) return TT_NONE;
    e->riscs = grown;
    grown[e->n_riscs] = strdup(column);
    return grown[e->n_riscs] ? (uint32_t)e->n_riscs++ : TT_NONE;
}

static bool other_risc(tt_execs *e, tt_cycles *c, const char *name, const dl_event *event)
{
    uint32_t risc = risc_number(e, name);
    if (risc >= MAX_RISCS) return risc == MAX_RISCS;
    for (uint32_t at = c->others; at; at = e->others[at - 1].next) {
        tt_other *o = &e->others[at - 1];
        if (o->risc != risc) continue;
        least(&o->start, event->start);
        most(&o->end, event->end);
        return true;
    }
    if (e->n_others == e->cap_others) {
        size_t cap = e->cap_others ? e->cap_others * 2 : 256;
        tt_other *grown = realloc(e->others, cap * sizeof *grown);
        if (!grown) return false;
        e->others = grown;
        e->cap_others = cap;
    }
    e->others[e->n_others] = (tt_other){event->start, event->end, risc, c->others};
    c->others = (uint32_t)++e->n_others;
    return true;
}

/* A whole trace as one program. */
static void take_trace(tt_cycles *c, const dl_event *event, bool firmware)
{
    least(firmware ? &c->trace_fw_start : &c->trace_kernel_start, event->start);
    most(firmware ? &c->trace_fw_end : &c->trace_kernel_end, event->end);
    c->brisc |= firmware;
}

/* Whether the core was in the launch before; places are coordinates of one chip. */
static bool is_seen(tt_cycles *c, uint32_t core)
{
    unsigned bit = (core >> 16 & 15) << 4 | (core & 15);
    uint64_t *word = &c->seen[bit / 64], mask = UINT64_C(1) << bit % 64;
    bool seen = *word & mask;
    *word |= mask;
    return seen;
}

static bool take_place(gatherer *g, const dl_tables *t, const dl_event *event, uint32_t launch, uint8_t role)
{
    const dl_stream *s = &t->streams[event->stream];
    uint64_t core = (uint64_t)t->chips[s->chip].id << 32 | (uint64_t)s->core_x << 16 | s->core_y;
    tt_place *p = tt_places_at(&g->places, core, launch);
    if (!p) return false;
    if (role != ROLE_FW && role != ROLE_KERNEL) return true;
    least(&p->begin, event->start);
    if (role == ROLE_FW) {
        if (s->risc == DL_RISC_BRISC) least(&p->fw_start, event->start);
        return true;
    }
    if (s->risc == DL_RISC_BRISC || s->risc == DL_RISC_NCRISC) least(&p->mover, event->start);
    least(&p->start, event->start);
    most(&p->end, event->end);
    return true;
}

/* What is per core, out of a place that is complete. */
static bool fold_place(void *ctx, const tt_place *x)
{
    gatherer *g = ctx;
    tt_cycles *c = &g->e->cycles[x->launch];
    c->cores++;
    c->core = 1;
    c->core_at = x->begin;
    c->core_start = x->start;
    c->core_end = x->end;
    fold(c);
    return x->begin == TT_NEVER || tt_gaps_place(&g->e->gaps, x);
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
    if (g->way != IN_TURN) {
        if (!take_place(g, t, event, launch, role)) return false;
    } else if (c->core != core + 1) {
        fold(c);
        g->again |= is_seen(c, core);
        c->core = core + 1;
        c->core_at = c->core_start = TT_NEVER;
        c->core_end = 0;
        c->cores++;
    }
    c->zones++;
    if (role == ROLE_TRACE_FW || role == ROLE_TRACE_KERNEL) {
        take_trace(c, event, role == ROLE_TRACE_FW);
        return true;
    }
    if (g->way == IN_TURN && !tt_gaps_zone(&g->e->gaps, t, event, launch, role == ROLE_KERNEL)) return false;
    least(&c->core_at, event->start);
    if (role == ROLE_FW) {
        least(&c->fw_start, event->start);
        most(&c->fw_end, event->end);
        c->brisc |= s->risc == DL_RISC_BRISC || s->risc == DL_RISC_ERISC || is_data_mover(t, s);
        return true;
    }
    c->kernels++;
    least(&c->core_start, event->start);
    most(&c->core_end, event->end);
    least(&c->kernel_start, event->start);
    most(&c->last_start, event->start);
    most(&c->kernel_end, event->end);
    if (s->risc == DL_RISC_BRISC || s->risc == DL_RISC_NCRISC || s->risc == DL_RISC_ERISC ||
        is_data_mover(t, s))
        least(&c->dm_start, event->start);
    if ((int)s->risc < (int)TT_RISCS) {
        least(&c->risc_start[s->risc], event->start);
        most(&c->risc_end[s->risc], event->end);
        return true;
    }
    return other_risc(g->e, c, dl_text(t, s->risc_name), event);
}

static devlog_status on_runs(void *context, const dl_run *runs, size_t n, devlog_error *err)
{
    gatherer *g = context;
    const dl_tables *t = dl_decode_tables(g->e->decode);
    for (size_t i = 0; i < n; i++)
        for (uint32_t k = 0; k < runs[i].n_events; k++)
            if (!take(g, t, &runs[i].events[k]) && !g->places.late)
                return dl_fail(err, DEVLOG_ERR_MEMORY, "out of memory");
    g->again |= g->places.late;
    return g->again ? dl_fail(err, DEVLOG_ERR_STATE, "the log is read again") : DEVLOG_OK;
}

static uint64_t begin_of(const tt_cycles *c)
{
    return c->fw_start != TT_NEVER         ? c->fw_start
           : c->kernel_start != TT_NEVER   ? c->kernel_start
           : c->trace_fw_start != TT_NEVER ? c->trace_fw_start
                                           : c->trace_kernel_start;
}

static uint64_t end_of(const tt_cycles *c)
{
    uint64_t end = c->fw_end > c->kernel_end ? c->fw_end : c->kernel_end;
    return end ? end : c->trace_fw_end;
}

static int by_time(const tt_exec *x, const tt_exec *y)
{
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
        const tt_exec *x = tt_execs_at(e, i);
        const tt_cycles *c = &e->cycles[x->cycles];
        if (!last || last->device != x->device || last->id != x->id || x->start > end) {
            last = x;
            end = end_of(c);
            continue;
        }
        if (!g->whole) g->whole = calloc(e->n_cycles, sizeof *g->whole);
        if (!g->disagree) g->disagree = calloc(e->n_cycles, sizeof *g->disagree);
        if (!g->whole || !g->disagree) return dl_fail(err, DEVLOG_ERR_MEMORY, "out of memory");
        g->n_whole = (uint32_t)e->n_cycles;
        g->n_parts++;
        bool other = c->brisc && !e->cycles[last->cycles].brisc;
        const tt_exec *whole = other ? x : last, *part = other ? last : x;
        g->whole[part->cycles] = whole->cycles + 1;
        g->whole[whole->cycles] = PART_BIT;
        /* Otherwise rows are there twice, which the decoder says. */
        g->disagree[whole->cycles] =
            (uint16_t)(g->disagree[last->cycles] + (x->trace != last->trace || x->session != last->session));
        if (end_of(c) > end) end = end_of(c);
        last = whole;
    }
    /* A part of a part is one of the whole. */
    for (uint32_t i = 0; i < g->n_whole; i++)
        /* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): as many as n_whole says */
        for (uint32_t k = 0; k < 8 && g->whole[i] & ~PART_BIT; k++) {
            uint32_t above = g->whole[(g->whole[i] & ~PART_BIT) - 1] & ~PART_BIT;
            if (!above) break;
            g->whole[i] = above;
        }
    return DEVLOG_OK;
}

/* Of the program; 0: the runtime's own launch. */
static uint64_t id_of(const gatherer *g, const dl_launch *l)
{
    if (!g->streaming) return l->run_host_id;
    return l->trace_id == DL_NO_ID ? 0 : l->trace_id;
}

static bool end_gaps(gatherer *g, const dl_launches *launches)
{
    uint64_t *ids = malloc((launches->count + 1) * sizeof *ids);
    for (uint32_t i = 0; ids && i < launches->count; i++)
        ids[i] = id_of(g, &launches->items[i]);
    return ids && tt_gaps_end(&g->e->gaps, dl_decode_tables(g->e->decode), ids, launches->count);
}

static devlog_status gather(gatherer *g, devlog_error *err)
{
    tt_execs *e = g->e;
    if (g->way != IN_TURN && !tt_places_end(&g->places))
        return dl_fail(err, DEVLOG_ERR_MEMORY, "out of memory");
    const dl_launches *launches = dl_decode_launches(e->decode);
    const dl_tables *t = dl_decode_tables(e->decode);
    for (uint32_t i = 0; i < launches->count && i < e->n_cycles; i++) {
        const dl_launch *l = &launches->items[i];
        tt_cycles *c = &e->cycles[i];
        if (!c->zones) continue;
        fold(c);
        uint64_t id = id_of(g, l);
        if (!id) {
            e->without_id++;
            continue;
        }
        tt_exec *x = tt_execs_add(e);
        if (!x) return dl_fail(err, DEVLOG_ERR_MEMORY, "out of memory");
        x->id = id;
        x->device = t->chips[l->chip].id;
        x->start = begin_of(c);
        bool untold = g->streaming; /* no trace ids are told then */
        x->trace = l->trace_id == DL_NO_ID || untold ? TT_NONE : l->trace_id;
        x->session = l->trace_counter == DL_NO_ID || !l->trace_counter || untold ? TT_NONE : l->trace_counter;
        x->counted = l->trace_counter == DL_NO_ID || untold ? TT_NONE : l->trace_counter;
        x->cycles = i;
        x->trace_repaired = i < g->n_whole && g->whole[i] & PART_BIT;
        x->disagree = x->trace_repaired ? g->disagree[i] : 0;
    }
    if (!end_gaps(g, launches)) return dl_fail(err, DEVLOG_ERR_MEMORY, "out of memory");
    g->again |= g->way == OPEN && e->gaps.backwards;
    if (!tt_execs_sort(e, by_time)) return dl_fail(err, DEVLOG_ERR_MEMORY, "out of memory");
    if (!g->whole) {
        devlog_status status = find_parts(g, err);
        if (status || g->n_parts) return status;
    }
    for (size_t i = 0; i < e->n; i++)
        tt_execs_at(e, i)->order = (uint32_t)i;
    return DEVLOG_OK;
}

static devlog_status read_once(gatherer *g, const char *path, const void *bytes, size_t n,
                               const dl_decode_options *options, devlog_error *err)
{
    tt_execs *e = g->e;
    dl_decode_free(e->decode);
    e->decode = NULL;
    e->n = e->n_items = e->n_cycles = e->n_others = 0;
    e->without_id = 0;
    const char *scratch = e->gaps.big.folder;
    tt_gaps_free(&e->gaps);
    tt_gaps_begin(&e->gaps, scratch);
    g->n_roles = 0;
    g->again = false;
    tt_places_free(&g->places);
    g->places.most = g->way == OPEN ? e->most_places : 0;
    devlog_status status = dl_decode_new(&e->decode, options, err);
    if (status) return status;
    status =
        dl_decode_run_sink(e->decode, (dl_run_sink){.ctx = g, .wants = DL_WANT_EVENTS, .runs = on_runs}, err);
    if (status) return status;
    status = path ? dl_decode_file(e->decode, path, err)
                  : dl_decode_memory(e->decode, "device log", bytes, n, err);
    if (!status) status = dl_decode_finish(e->decode, err);
    if (!status) status = gather(g, err);
    return status;
}

/* Again when the log is not told in the way in which it was taken, which is mostly found soon. And when RISCs disagree about
 * traces: what is per core is known only when it is known which launches are one, and launches have the same numbers again. */
static devlog_status read_all(tt_execs *e, const char *path, const void *bytes, size_t n,
                              const dl_decode_options *options, devlog_error *err)
{
    gatherer g = {.e = e, .places = {.take = fold_place, .ctx = &g, .big_items.folder = options->scratch}};
    devlog_status status = DEVLOG_OK;
    e->from_report = false;
    for (bool known = false, done = false; !done;) {
        status = read_once(&g, path, bytes, n, options, err);
        if (!status && g.n_parts && !known)
            known = true;
        else if (g.again)
            g.way = g.way == IN_TURN ? OPEN : ALL;
        else
            done = true;
    }
    if (g.way != IN_TURN && !g.places.big_items.file) e->scattered = g.places.big_items.bytes;
    e->all_places = g.way == ALL;
    tt_places_free(&g.places);
    free(g.roles);
    free(g.whole);
    free(g.disagree);
    e->streaming = g.streaming;
    return status;
}

devlog_status tt_execs_read_log(tt_execs *e, const char *path, const dl_decode_options *options,
                                devlog_error *err)
{
    dl_decode_options o = *options;
    if (e->part && e->part->any) {
        o.filter = e->part->filter;
        o.only_input = true;
    }
    devlog_status status = read_all(e, path, NULL, 0, &o, err);
    e->replays_by_time = true;
    return status ? status : tt_execs_read_rows(e, path, NULL, err);
}

devlog_status tt_execs_parse_log(tt_execs *e, const void *bytes, size_t n, devlog_error *err)
{
    const dl_decode_options options = {.no_samples = true, .threads = 1};
    dl_input *input;
    devlog_status status = read_all(e, NULL, bytes, n, &options, err);
    e->replays_by_time = true;
    if (!status) status = dl_input_memory(&input, "device log", bytes, n, err);
    return status ? status : tt_execs_take_rows(e, input, err);
}
