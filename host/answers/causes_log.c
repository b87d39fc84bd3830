/* From runs of the decoder to graphs of causes. See causes_log.h. */
#include "answers/causes_log.h"

#include <stdlib.h>
#include <string.h>

#include "decode/mark.h"

/* What a run of a RISC left, in the order in which it came. */
typedef struct piece {
    uint32_t launch, stream;
    uint64_t core;   /* chip, y, x */
    size_t first, n; /* of the zones */
    size_t number;   /* of the piece, so that those of a RISC stay in their order */
    uint64_t fw_start, fw_end, kernel_end;
    uint64_t from, until; /* its first mark and its last; from CAUSES_NEVER: it has none */
    uint64_t lost_until, lost_from;
    int64_t open; /* zones that began in it and did not end, or the other way round */
    uint8_t has, risc;
} piece;

struct causes_log {
    dl_decode *decode;
    causes_zone *zones;
    size_t n_zones, cap_zones;
    piece *pieces;
    size_t n_pieces, cap_pieces;
    uint8_t *records; /* by site: causes_record, and the reason of a wait */
    size_t n_records;
};

enum { UNSEEN = 255, WHY_SHIFT = 4, RECORD_MASK = (1 << WHY_SHIFT) - 1 };

/* ---- What records mean --- */

static uint8_t record_of(const char *name)
{
    static const struct {
        const char *name;
        uint8_t record, why;
    } names[] = {
        {"DEVLOG-WANTS", CAUSES_WANTS, 0},
        {"DEVLOG-GIVES", CAUSES_GIVES, 0},
        {"DEVLOG-WAIT-FULL", CAUSES_WAITS, CAUSES_FULL},
        {"DEVLOG-WAIT-EMPTY", CAUSES_WAITS, CAUSES_EMPTY},
        {"DEVLOG-WAIT-SEMAPHORE", CAUSES_WAITS, CAUSES_SEMAPHORE},
        {"DEVLOG-WAIT-NOC", CAUSES_NOC_WAITS, CAUSES_NOC},
        {"DEVLOG-NOC-READ", CAUSES_READS, CAUSES_NOC},
        {"DEVLOG-NOC-WRITE", CAUSES_WRITES, CAUSES_NOC},
    };
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strcmp(name, names[i].name) == 0) return (uint8_t)(names[i].record | names[i].why << WHY_SHIFT);
    return CAUSES_PLAIN;
}

static bool look_up(causes_log *l, uint32_t site, uint8_t *record)
{
    if (site >= l->n_records) {
        const size_t n = (size_t)site * 2 + 64;
        uint8_t *grown = realloc(l->records, n);
        if (!grown) return false;
        memset(grown + l->n_records, UNSEEN, n - l->n_records);
        l->records = grown;
        l->n_records = n;
    }
    if (l->records[site] == UNSEEN)
        l->records[site] = record_of(dl_site_text(dl_decode_tables(l->decode), site));
    *record = l->records[site];
    return true;
}

/* Of a want that did not wait: its record is on the line of the zone of its wait, which somebody else came to. */
static uint8_t why_of_want(causes_log *l, uint32_t site)
{
    const dl_tables *t = dl_decode_tables(l->decode);
    uint8_t why = CAUSES_OTHER;
    for (uint32_t i = 0; i < t->n_sites && i < l->n_records; i++) {
        if (l->records[i] == UNSEEN || (l->records[i] & RECORD_MASK) != CAUSES_WAITS ||
            t->sites[i].line != t->sites[site].line || t->sites[i].file != t->sites[site].file)
            continue;
        if (why != CAUSES_OTHER && why != l->records[i] >> WHY_SHIFT) return CAUSES_OTHER;
        why = l->records[i] >> WHY_SHIFT;
    }
    return why;
}

/* ---- Taking in --- */

static bool take_event(causes_log *l, const dl_event *e)
{
    uint8_t record;
    if (e->site == DL_NONE || !look_up(l, e->site, &record)) return e->site == DL_NONE;
    const int kind = record & RECORD_MASK;
    const bool counter =
        kind == CAUSES_WANTS || kind == CAUSES_GIVES || kind == CAUSES_READS || kind == CAUSES_WRITES;
    if (e->kind != (counter ? DL_EVENT_VALUE : DL_EVENT_ZONE)) return true;
    if (l->n_zones == l->cap_zones) {
        const size_t cap = l->cap_zones ? l->cap_zones * 2 : 1024;
        causes_zone *grown = realloc(l->zones, cap * sizeof *grown);
        if (!grown) return false;
        l->zones = grown;
        l->cap_zones = cap;
    }
    l->zones[l->n_zones++] =
        (causes_zone){e->start, e->end, counter ? e->data : 0, e->site, e->depth, (uint8_t)kind};
    return true;
}

/* When the first record of a run was made that is no default marker's; CAUSES_NEVER: there is none. */
static uint64_t first_record(const dl_run *run, const dl_tables *t)
{
    for (uint32_t i = 0; i < run->n_marks; i++) {
        const dl_kind *kind = &t->kinds[dl_mark_kind(run->marks[i].code)];
        if (kind->role == DL_ROLE_USER) return run->marks[i].time;
    }
    return CAUSES_NEVER;
}

/* Where records of it are missing: before the first, when the ring overwrote them; behind the last, when there was no room;
 * or nobody knows. */
static void take_losses(const causes_log *l, const dl_run *run, piece *p)
{
    const dl_tables *t = dl_decode_tables(l->decode);
    for (uint32_t i = 0; i < run->n_marks; i++) {
        const dl_kind *kind = &t->kinds[dl_mark_kind(run->marks[i].code)];
        p->open += (kind->type == DL_ROW_ZONE_START) - (kind->type == DL_ROW_ZONE_END);
        if (kind->role != DL_ROLE_DROPPED || !dl_mark_data(run->batch, run->marks[i].code)) continue;
        const char *name = dl_site_text(t, kind->site);
        const dl_loss_zone what = dl_loss_of_zone(name, strlen(name));
        const uint64_t first = first_record(run, t), time = run->marks[i].time;
        if (what == DL_LOSS_TORN) continue; /* repaired */
        if (what == DL_LOSS_DROPPED && time < first && first != CAUSES_NEVER)
            p->lost_until = first;
        else if (what == DL_LOSS_DROPPED)
            p->lost_from = time < p->lost_from ? time : p->lost_from;
        else
            p->lost_from = 0;
    }
}

static bool take_run(causes_log *l, const dl_run *run)
{
    if (run->launch == DL_NONE) return true;
    if (l->n_pieces == l->cap_pieces) {
        const size_t cap = l->cap_pieces ? l->cap_pieces * 2 : 256;
        piece *grown = realloc(l->pieces, cap * sizeof *grown);
        if (!grown) return false;
        l->pieces = grown;
        l->cap_pieces = cap;
    }
    piece *p = &l->pieces[l->n_pieces];
    const dl_stream *s = &dl_decode_tables(l->decode)->streams[run->stream];
    *p = (piece){.launch = run->launch,
                 .stream = run->stream,
                 .core = (uint64_t)s->chip << 32 | (uint64_t)s->core_y << 16 | s->core_x,
                 .first = l->n_zones,
                 .number = l->n_pieces,
                 .fw_start = run->fw_start,
                 .fw_end = run->fw_end,
                 .kernel_end = run->kernel_end,
                 .from = run->n_marks ? run->marks[0].time : CAUSES_NEVER,
                 .until = run->n_marks ? run->marks[run->n_marks - 1].time : 0,
                 .lost_from = run->unlisted ? 0 : CAUSES_NEVER,
                 .has = run->has,
                 .risc = (uint8_t)s->risc};
    l->n_pieces++;
    take_losses(l, run, p);
    for (uint32_t i = 0; i < run->n_events; i++)
        if (!take_event(l, &run->events[i])) return false;
    p->n = l->n_zones - p->first;
    return true;
}

static devlog_status take_runs(void *ctx, const dl_run *runs, size_t n, devlog_error *err)
{
    for (size_t i = 0; i < n; i++)
        if (!take_run(ctx, &runs[i])) return dl_fail(err, DEVLOG_ERR_MEMORY, "out of memory");
    return DEVLOG_OK;
}

dl_run_sink causes_log_sink(causes_log *log)
{
    return (dl_run_sink){.ctx = log, .wants = DL_WANT_EVENTS | DL_WANT_MARKS, .runs = take_runs};
}

bool causes_log_incomplete(const causes_log *log)
{
    static const dl_finding nowhere[] = {
        DL_FOUND_TOO_DEEP,     DL_FOUND_TABLE_FULL, DL_FOUND_CORRUPT,  DL_FOUND_CUT_CAPTURE,
        DL_FOUND_OUT_OF_ORDER, DL_FOUND_NEGATIVE,   DL_FOUND_REPEATED, DL_FOUND_OTHER_LAUNCH,
        DL_FOUND_NO_ELF,       DL_FOUND_UNNAMED,    DL_FOUND_NEWER,
    };
    const dl_losses *lost = dl_decode_losses(log->decode);
    bool any = lost->stopped || dl_losses_skipped(lost);
    for (size_t i = 0; i < sizeof nowhere / sizeof nowhere[0]; i++)
        any |= lost->found[nowhere[i]] != 0;
    return any;
}

/* ---- Graphs --- */

typedef struct maker {
    causes_log *log;
    causes_risc *riscs;
    causes_lane *lanes;
    causes_zone *zones; /* of the launch, RISC by RISC */
    causes_event *events;
    uint64_t *ends;
    size_t n_riscs, n_groups;
    bool incomplete;
} maker;

static int by_launch(const void *a, const void *b)
{
    const piece *x = a, *y = b;
    if (x->launch != y->launch) return x->launch < y->launch ? -1 : 1;
    if (x->core != y->core) return x->core < y->core ? -1 : 1;
    if (x->risc != y->risc)
        return x->risc < y->risc ? -1 : 1; /* not in the order in which the log has them */
    if (x->stream != y->stream) return x->stream < y->stream ? -1 : 1;
    return x->number < y->number ? -1 : x->number > y->number;
}

/* A want says what a RISC is about to wait for; the zone of the wait, if there is one, follows directly. */
static void make_events(maker *m, causes_risc *r, causes_lane *lane, uint32_t group)
{
    causes_event *e = &m->events[r->zones - m->zones];
    bool open = false; /* the last event is a want that nothing has followed */
    lane->events = e;
    for (size_t i = 0; i < r->n; i++) {
        const causes_zone *z = &r->zones[i];
        const uint8_t why = (uint8_t)(m->log->records[z->site] >> WHY_SHIFT);
        if (z->record == CAUSES_PLAIN || z->record > CAUSES_GIVES) continue;
        if (z->record == CAUSES_WAITS) {
            if (open && e[lane->n - 1].at <=
                            z->start) { /* what lies between is the price of looking, waited for or not */
                e[lane->n - 1].at = z->start;
                e[lane->n - 1].until = z->end;
            } else
                e[lane->n++] = (causes_event){z->start, z->end, CAUSES_NO_COUNTER, 0, CAUSES_WANT, why};
            e[lane->n - 1].why = why;
            open = false;
            continue;
        }
        const uint32_t value = (uint32_t)(z->data >> 32);
        const uint8_t kind = z->record == CAUSES_WANTS ? CAUSES_WANT : CAUSES_GIVE;
        open = kind == CAUSES_WANT;
        r->waits += open;
        e[lane->n++] =
            (causes_event){z->start, z->start, (uint64_t)group << 32 | (uint32_t)z->data,
                           value,    kind,     open ? m->log->records[z->site] >> WHY_SHIFT : CAUSES_OTHER};
    }
    /* What a counter has before anybody gives anything needs no cause, and waits for none. */
    size_t kept = 0;
    for (size_t i = 0; i < lane->n; i++)
        if (e[i].kind == CAUSES_GIVE || e[i].until > e[i].at || (int32_t)e[i].value > 0) e[kept++] = e[i];
    lane->n = kept;
}

/* A counter is raised by one each time: a RISC that leaves a number out has records that are missing, nobody knows where. */
static bool leaves_out(const causes_lane *l)
{
    enum { COUNTERS = 32 }; /* of a RISC that are looked at */
    uint64_t counters[COUNTERS];
    uint32_t last[COUNTERS];
    size_t n = 0;
    for (size_t i = 0; i < l->n; i++) {
        const causes_event *e = &l->events[i];
        size_t k = 0;
        if (e->kind != CAUSES_GIVE) continue;
        while (k < n && counters[k] != e->counter)
            k++;
        if (k == COUNTERS) continue;
        if (k < n && e->value != last[k] + 1) return true;
        if (k == n) counters[n++] = e->counter;
        last[k] = e->value;
    }
    return false;
}

/* When each core ends. Its manager waits for the other RISCs before it ends: then its own part ends with its kernel. */
static void find_ends(maker *m, const piece *of_lane)
{
    const dl_tables *t = dl_decode_tables(m->log->decode);
    for (size_t g = 0, from = 0, to; g < m->n_groups; g++, from = to) {
        size_t manager = from;
        for (to = from; to < m->n_riscs && m->lanes[to].group == g; to++) {
            if (m->lanes[to].end > m->ends[g]) m->ends[g] = m->lanes[to].end;
            if (t->streams[m->riscs[to].stream].risc == DL_RISC_BRISC) manager = to;
        }
        /* Of a RISC that nobody knows the end of, what it did until the core's end is missing; where its last record is that end,
         * nobody knows when the core ended, nor by what. */
        for (size_t i = from; i < to; i++) {
            if (of_lane[i].has & DL_RUN_FW_END) continue;
            if (m->lanes[i].end == m->ends[g]) m->lanes[i].lost_from = m->lanes[i].start;
            m->lanes[i].end = m->ends[g];
        }
        causes_lane *l = &m->lanes[manager];
        if (to - from < 2 || l->end < m->ends[g] ||
            t->streams[m->riscs[manager].stream].risc != DL_RISC_BRISC ||
            !(of_lane[manager].has & DL_RUN_FW_END))
            continue;
        l->end = of_lane[manager].has & DL_RUN_KERNEL_END ? of_lane[manager].kernel_end : l->start;
        if (l->n && l->events[l->n - 1].until > l->end) l->end = l->events[l->n - 1].until;
    }
}

static double clock_error(const causes_log *log, const dl_stream *s)
{
    const dl_tables *t = dl_decode_tables(log->decode);
    const dl_chip_clock *c = dl_chip_clocks_of(dl_decode_clocks(log->decode), t->chips[s->chip].id);
    return c ? dl_chip_clock_core(c, s->core_x, s->core_y)->error : 0;
}

static devlog_status no_memory(devlog_error *err)
{
    return dl_fail(err, DEVLOG_ERR_MEMORY, "out of memory");
}

static void add_piece(piece *to, const piece *p)
{
    if ((p->has & DL_RUN_FW_START) && !(to->has & DL_RUN_FW_START)) to->fw_start = p->fw_start;
    if (p->has & DL_RUN_FW_END) to->fw_end = p->fw_end;
    if (p->has & DL_RUN_KERNEL_END) to->kernel_end = p->kernel_end;
    to->has |= p->has;
    to->open += p->open;
    if (p->from < to->from) to->from = p->from;
    if (p->until > to->until) to->until = p->until;
    if (p->lost_from < to->lost_from) to->lost_from = p->lost_from;
    if (p->lost_until > to->lost_until) to->lost_until = p->lost_until;
}

/* When the first RISC of a launch began. */
static uint64_t first_of(const piece *lanes, size_t n)
{
    uint64_t first = CAUSES_NEVER;
    for (size_t i = 0; i < n; i++) {
        const uint64_t from = lanes[i].has & DL_RUN_FW_START ? lanes[i].fw_start : lanes[i].from;
        if (from < first) first = from;
    }
    return first;
}

/* One launch: pieces[0..n). Lanes are ordered by streams; cores are put together before. */
static devlog_status make_launch(maker *m, const piece *pieces, size_t n, causes_use *use, void *ctx,
                                 devlog_error *err)
{
    const dl_tables *t = dl_decode_tables(m->log->decode);
    size_t n_zones = 0;
    for (size_t i = 0; i < n; i++)
        n_zones += pieces[i].n;
    piece *of_lane = malloc(n * sizeof *of_lane);
    m->riscs = calloc(n, sizeof *m->riscs);
    m->lanes = calloc(n, sizeof *m->lanes);
    m->zones = malloc((n_zones + 1) * sizeof *m->zones);
    m->events = malloc((n_zones + 1) * sizeof *m->events);
    m->ends = calloc(n + 1, sizeof *m->ends);
    m->n_riscs = m->n_groups = 0;
    causes c = {0};
    devlog_status status =
        of_lane && m->riscs && m->lanes && m->zones && m->events && m->ends ? DEVLOG_OK : no_memory(err);
    n_zones = 0;
    for (size_t i = 0; i < n && !status; i++) {
        const piece *p = &pieces[i];
        if (i == 0 || p->stream != pieces[i - 1].stream) {
            of_lane[m->n_riscs] = *p;
            m->riscs[m->n_riscs++] = (causes_risc){.stream = p->stream, .zones = m->zones + n_zones};
        } else {
            add_piece(&of_lane[m->n_riscs - 1], p);
        }
        if (p->n) memcpy(m->zones + n_zones, m->log->zones + p->first, p->n * sizeof *m->zones);
        n_zones += p->n;
        m->riscs[m->n_riscs - 1].n += p->n;
    }
    const uint64_t begin = status ? 0 : first_of(of_lane, m->n_riscs);
    for (size_t i = 0; i < m->n_riscs && !status; i++) {
        causes_risc *r = &m->riscs[i];
        causes_lane *l = &m->lanes[i];
        const dl_stream *s = &t->streams[r->stream];
        const piece *p = &of_lane[i];
        if (i == 0 || p->core != of_lane[i - 1].core) m->n_groups++;
        l->group = l->clock = (uint32_t)m->n_groups - 1;
        l->error = clock_error(m->log, s);
        l->lost_until = p->lost_until;
        l->lost_from = p->lost_from;
        make_events(m, r, l, l->group);
        l->start = begin;
        if (p->has & DL_RUN_FW_START)
            l->start = p->fw_start;
        else if (p->from > l->lost_until) /* what it did since the launch began is missing */
            l->lost_until = p->from;
        l->end = p->has & DL_RUN_FW_END ? p->fw_end : p->until > l->start ? p->until : l->start;
        if (!(p->has & DL_RUN_FW_END) && p->until < l->lost_from)
            l->lost_from = p->until; /* it never ended */
        /* Something is missing, and nothing says so. */
        const bool told = l->lost_until || l->lost_from != CAUSES_NEVER;
        if ((p->open && !told) || leaves_out(l)) l->lost_from = l->start;
        r->lost = m->incomplete || l->lost_until || l->lost_from != CAUSES_NEVER;
    }
    if (!status) find_ends(m, of_lane);
    const causes_graph graph = {.lanes = m->lanes,
                                .n_lanes = m->n_riscs,
                                .group_ends = m->ends,
                                .n_groups = m->n_groups,
                                .hand_over = -1,
                                .incomplete = m->incomplete};
    if (!status) status = causes_make(&c, &graph, err);
    const causes_launch made = {m->log->decode, pieces[0].launch, m->riscs, &c};
    if (!status) status = use(ctx, &made, err);
    causes_free(&c);
    free(of_lane);
    free(m->riscs);
    free(m->lanes);
    free(m->zones);
    free(m->events);
    free(m->ends);
    return status;
}

devlog_status causes_log_each(causes_log *log, causes_use *use, void *ctx, devlog_error *err)
{
    maker m = {.log = log, .incomplete = causes_log_incomplete(log)};
    devlog_status status = DEVLOG_OK;
    for (uint32_t i = 0; i < log->n_records; i++)
        if (log->records[i] != UNSEEN && (log->records[i] & RECORD_MASK) == CAUSES_WANTS)
            log->records[i] = (uint8_t)(CAUSES_WANTS | why_of_want(log, i) << WHY_SHIFT);
    if (log->n_pieces) qsort(log->pieces, log->n_pieces, sizeof *log->pieces, by_launch);
    for (size_t i = 0, end; i < log->n_pieces && !status; i = end) {
        bool any = false;
        for (end = i; end < log->n_pieces && log->pieces[end].launch == log->pieces[i].launch; end++)
            any |= (log->pieces[end].has & DL_RUN_FW_START) != 0;
        if (any) status = make_launch(&m, log->pieces + i, end - i, use, ctx, err);
    }
    return status;
}

devlog_status causes_log_new(causes_log **log, dl_decode *d, devlog_error *err)
{
    *log = calloc(1, sizeof **log);
    if (!*log) return no_memory(err);
    (*log)->decode = d;
    return DEVLOG_OK;
}

void causes_log_free(causes_log *log)
{
    if (!log) return;
    free(log->zones);
    free(log->pieces);
    free(log->records);
    free(log);
}
