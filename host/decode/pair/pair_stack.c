/* Pairing of a run, mark by mark: a start opens a zone, an end closes the innermost one. The ordinary mark is
 * taken in the loop of dl_pair_by_stack; what is rare (another launch, a stamp that jumps, an end that belongs to
 * no zone or to one further out) goes through dl_pair_accept, and the loop goes on behind it. */
#include <stdlib.h>
#include <string.h>

#include "decode/pair/pair_internal.h"

/* ---- Zones that close -------------------------------------------------------------------------------- */

static devlog_status add_event(dl_pair *p, const dl_event *e, devlog_error *err)
{
    devlog_status status = DEVLOG_OK;
    dl_run *run = dl_pair_out_run(p, e->stream, e->launch, &status, err);
    if (!run) return status;
    p->out.box.events[p->out.box.n_events++] = *e;
    run->n_events++;
    return DEVLOG_OK;
}

/* A zone that has been taken from the open ones. */
static inline devlog_status close_zone(dl_pair *p, stream_state *s, const open_zone *z, uint16_t depth,
                                       const pair_mark *m, uint64_t time, uint8_t flags, devlog_error *err)
{
    dl_key *k = z->key;
    const uint64_t cycles = time - z->start;
    if (p->filter && !dl_pair_zone_is_kept(p, k, z->start, time, dl_pair_launch_is_kept(p, z->launch)))
        return DEVLOG_OK;
    uint32_t cost = 0;
    flags |= dl_pair_no_cost(s->costs);
    if (s->costs && (dl_pair_lists_events(p) || p->subtract_cost || k->role == DL_ROLE_KERNEL))
        cost = dl_pair_own_cost(p, s, z->spent, cycles, k->role);
    bool tells_launch = k->role == DL_ROLE_FW || k->role == DL_ROLE_KERNEL;
    if (!dl_pair_count_zone(p->no_samples, k, z->start, cycles - (p->subtract_cost ? cost : 0), z->launch,
                            tells_launch))
        return dl_pair_no_memory(err);
    if (!dl_pair_lists_events(p)) return DEVLOG_OK;
    const dl_event e = {.start = z->start,
                        .end = time,
                        .data = m->rare->data ? m->rare->data : z->data,
                        .stream = m->stream,
                        .site = z->site,
                        .launch = z->launch,
                        .timer_id = m->kind->timer_id,
                        .meta = m->rare->meta ? m->rare->meta : z->meta,
                        .line = m->line,
                        .depth = depth,
                        .kind = DL_EVENT_ZONE,
                        .flags = flags | z->flags,
                        .own_cost = cost};
    return add_event(p, &e, err);
}

/* An end that does not match the innermost open zone: a zone further out, or none. */
static devlog_status end_elsewhere(dl_pair *p, stream_state *s, const pair_mark *m, uint64_t time,
                                   uint8_t flags, devlog_error *err)
{
    int at = s->n_open - 1;
    bool of_another = false;
    for (; at >= 0; at--) {
        if (s->open[at].site != m->kind->site) continue;
        if (s->open[at].launch == s->launch) break;
        of_another = true;
    }
    if (at < 0) {
        dl_pair_lose_end(p, m, time, of_another);
        return DEVLOG_OK;
    }
    open_zone z = s->open[at];
    s->uneven = true;
    if (!z.orphan) z.flags |= DL_EVENT_OVERLAPS;
    /* Nothing outlasts the firmware's part of a launch: the ends of these are lost, or their stamps are
     * wrong. */
    if (z.key->role == DL_ROLE_FW) dl_pair_abandon_from(p, s, at + 1);
    uint16_t depth = 0;
    for (int i = 0; i < at; i++)
        depth += !s->open[i].orphan;
    /* What began inside stays open: its end may still come, or its loss is told when the launch is over. */
    for (int i = at + 1; i < s->n_open; i++) {
        s->open[i - 1] = s->open[i];
        s->open[i - 1].orphan = 1;
    }
    s->n_open--;
    if (time >= z.start) return close_zone(p, s, &z, depth, m, time, flags, err);
    dl_pair_lose_negative(p, m, &z, time);
    return DEVLOG_OK;
}

static devlog_status zone_end(dl_pair *p, stream_state *s, const pair_mark *m, uint64_t time, uint8_t flags,
                              devlog_error *err)
{
    if (s->too_deep && m->kind->role == DL_ROLE_USER) {
        s->too_deep--;
        return DEVLOG_OK;
    }
    if (m->kind->role == DL_ROLE_FW) dl_pair_note_fw_end(p, s, time);
    if (s->n_open == 0) return end_elsewhere(p, s, m, time, flags, err);
    const open_zone *z = &s->open[s->n_open - 1];
    if (z->site != m->kind->site || z->orphan || z->launch != s->launch)
        return end_elsewhere(p, s, m, time, flags, err);
    s->n_open--;
    if (time >= z->start) return close_zone(p, s, z, s->n_open, m, time, flags, err);
    s->uneven = true;
    dl_pair_lose_negative(p, m, z, time);
    return DEVLOG_OK;
}

/* ---- Zones that begin, and launches ------------------------------------------------------------------ */

static bool grow_open(dl_pair *p, stream_state *s)
{
    uint16_t cap = (uint16_t)(s->cap_open * 2);
    if (cap > DL_MAX_OPEN || p->open_bytes > MAX_OPEN_BYTES) return false;
    p->open_bytes += cap * sizeof(open_zone);
    open_zone *open = malloc(cap * sizeof *open);
    if (!open) return false;
    memcpy(open, s->open, s->n_open * sizeof *open);
    if (s->open != s->inline_open) free(s->open);
    s->open = open;
    s->cap_open = cap;
    return true;
}

static inline open_zone opened(const stream_state *s, dl_key *key, const pair_mark *m, uint64_t time,
                               uint8_t flags)
{
    return (open_zone){.start = time,
                       .data = m->rare->data,
                       .key = key,
                       .spent = s->spent,
                       .site = m->kind->site,
                       .launch = s->launch,
                       .line = m->line,
                       .meta = m->rare->meta,
                       .flags = flags};
}

static void zone_start(dl_pair *p, stream_state *s, dl_key *key, const pair_mark *m, uint64_t time,
                       uint8_t flags)
{
    if (s->n_open == s->cap_open && !grow_open(p, s)) {
        dl_pair_lose_deep(p, s, m);
        s->too_deep++;
        return;
    }
    if (!key) key = dl_pair_add_key(p, s, m->stream, m->kind->site);
    if (!key) {
        dl_pair_lose_key(p, m);
        return;
    }
    s->open[s->n_open++] = opened(s, key, m, time, flags);
    if (key->role == DL_ROLE_FW) dl_pair_note_fw_start(p, s, time);
}

static inline void change_launch(dl_pair *p, stream_state *s, const pair_mark *m, bool starts)
{
    s->ids = *m->ids;
    s->launch = DL_NONE;
    if (m->ids->outside) return;
    uint64_t run = p->chip_line.run;
    s->launch = starts ? dl_launches_next(&p->launches, s->chip, s->bit, run, m->ids)
                       : dl_launches_find(&p->launches, s->chip, s->bit, run, m->ids, false);
    if (s->launch == DL_NONE) dl_pair_lose_launch(p, m->line);
    if (starts) s->kernel_seen = false;
}

/* A start that may begin a launch: of firmware, of a kernel, or with other ids than the mark before. */
static void begin(dl_pair *p, stream_state *s, const pair_mark *m)
{
    bool starts = false;
    const dl_role role = (dl_role)m->kind->role;
    if (role == DL_ROLE_FW) {
        if (s->n_open) dl_pair_abandon_open(p, s);
        starts = true;
    } else if (role == DL_ROLE_KERNEL) {
        starts = s->kernel_seen && s->n_open == 0; /* the firmware start between them was lost */
    }
    if (starts || !dl_same_ids(m->ids, &s->ids)) change_launch(p, s, m, starts || s->launch == DL_NONE);
    if (m->rare->op && s->launch != DL_NONE && p->launches.items[s->launch].op == 0)
        p->launches.items[s->launch].op = m->rare->op;
    if (role == DL_ROLE_KERNEL) s->kernel_seen = true;
}

/* ---- Values, sums and points in time ----------------------------------------------------------------- */

/* A hardware counter is of the innermost zone that is open. */
static void count_in_zone(dl_pair *p, const stream_state *s, const pair_mark *m)
{
    int at = s->n_open - 1;
    while (at >= 0 && s->open[at].orphan)
        at--;
    const dl_zone_counter record = {.stream = m->stream,
                                    .zone = at < 0 ? DL_NONE : s->open[at].site,
                                    .counter = m->kind->site,
                                    .records = 1,
                                    .value = m->rare->data,
                                    .reference = m->rare->op - 1};
    if (!dl_zone_counters_add(&p->counters, &record)) dl_pair_lose_key(p, m);
}

static devlog_status point(dl_pair *p, stream_state *s, const pair_mark *m, uint64_t time, uint8_t flags,
                           devlog_error *err)
{
    const bool dropped = m->kind->role == DL_ROLE_DROPPED;
    if (dropped) {
        if (!m->rare->data) return DEVLOG_OK;
        /* What a launch did not do as expected is of no interest without it; what is lost may be of any. */
        if (p->filter && dl_pair_is_violation(p, m) && !dl_pair_launch_is_kept(p, s->launch))
            return DEVLOG_OK;
        /* Only markers that found no room have a place in time. */
        if (dl_pair_note_loss(p, m) != DL_LOSS_DROPPED) return DEVLOG_OK;
    }
    if (p->filter && !dropped) {
        bool kept = dl_pair_launch_is_kept(p, s->launch) && dl_filter_time(p->filter, time, time);
        if (!kept || !dl_filter_site(p->filter, p->tables, &p->tables->sites[m->kind->site])) {
            p->losses->rows_filtered++;
            return DEVLOG_OK;
        }
    }
    if (!dropped) dl_pair_count_point(p, m, time, s->launch);
    if (m->kind->timer_id == DL_COUNTER_TIMER && m->kind->type > DL_ROW_ZONE_TOTAL && m->rare->op)
        count_in_zone(p, s, m);
    if (!dl_pair_lists_events(p)) return DEVLOG_OK;
    const dl_event e = {.start = time,
                        .end = time,
                        .data = m->rare->data,
                        .stream = m->stream,
                        .site = m->kind->site,
                        .launch = s->launch,
                        .timer_id = m->kind->timer_id,
                        .meta = m->rare->meta,
                        .line = m->line,
                        .depth = s->n_open,
                        .kind = dropped ? (uint8_t)DL_EVENT_DROPPED : dl_pair_kinds[m->kind->type],
                        .flags = flags};
    return add_event(p, &e, err);
}

/* ---- One mark ---------------------------------------------------------------------------------------- */

static bool mark_is_kept(const dl_pair *p, const stream_state *s, uint64_t time)
{
    return !p->filter || (dl_filter_time(p->filter, time, time) && dl_pair_launch_is_kept(p, s->launch));
}

/* Remembers what the filters meet: a filter that lets nothing through is a mistake of who asked. */
static void see(dl_pair *p, const stream_state *s, const pair_mark *m, uint64_t time)
{
    dl_filter_seen *seen = &p->losses->seen;
    if (!seen->any || time < seen->first) seen->first = time;
    if (!seen->any || time > seen->last) seen->last = time;
    seen->any = true;
    if (!seen->rows)
        seen->rows = mark_is_kept(p, s, time) &&
                     dl_filter_site(p->filter, p->tables, &p->tables->sites[m->kind->site]);
}

/* Hands a mark on, in the launch that it belongs to. */
static inline devlog_status hand_on(dl_pair *p, const stream_state *s, const dl_kind *kind, uint64_t code,
                                    uint64_t time, devlog_error *err)
{
    devlog_status status = DEVLOG_OK;
    if (!p->out.sink.runs || !mark_is_kept(p, s, time)) return DEVLOG_OK;
    dl_run *run = dl_pair_out_run(p, dl_mark_stream(code), s->launch, &status, err);
    if (!run) return status;
    const dl_role role = (dl_role)kind->role;
    if (kind->type <= DL_ROW_ZONE_END && (role == DL_ROLE_FW || role == DL_ROLE_KERNEL))
        dl_pair_out_default(run, role, kind->type == DL_ROW_ZONE_START, time);
    if (!dl_pair_lists_marks(p)) return DEVLOG_OK;
    p->out.box.marks[p->out.box.n_marks++] = (dl_mark){time, code};
    run->n_marks++;
    return DEVLOG_OK;
}

devlog_status dl_pair_accept(dl_pair *p, stream_state *s, const pair_mark *m, uint64_t time, uint8_t flags,
                             devlog_error *err)
{
    const dl_kind *kind = m->kind;
    dl_key *key = NULL;
    s->last = time;
    if (s->costs && time >= s->change_at) dl_pair_spend_between(s, time);
    if (kind->type == DL_ROW_ZONE_START) {
        key = dl_pair_known_key(s, kind->site);
        if (kind->role != DL_ROLE_USER || m->rare->op || !dl_same_ids(m->ids, &s->ids)) begin(p, s, m);
    } else if (!dl_same_ids(m->ids, &s->ids)) {
        change_launch(p, s, m, false);
    }
    if (p->filter) see(p, s, m, time);
    devlog_status status = hand_on(p, s, kind, m->code, time, err);
    if (status) return status;
    switch (kind->type) {
    case DL_ROW_ZONE_START: zone_start(p, s, key, m, time, flags); break;
    case DL_ROW_ZONE_END: status = zone_end(p, s, m, time, flags, err); break;
    default: status = point(p, s, m, time, flags, err); break;
    }
    dl_pair_spend(s, kind, time);
    return status;
}

devlog_status dl_pair_take(dl_pair *p, stream_state *s, const pair_mark *m, bool torn, devlog_error *err)
{
    if (torn) dl_pair_note_torn(p, m);
    uint64_t time = m->time + s->epoch;
    return time - s->last < s->limit ? dl_pair_accept(p, s, m, time, torn * DL_EVENT_TORN, err)
                                     : dl_pair_suspicious(p, s, m, err);
}

/* The statistics of a zone that begins: mostly those of the zone that followed the last one last time. */
static inline dl_key *key_of(stream_state *s, uint32_t site)
{
    dl_key *started = s->started, *key = started ? started->follows : NULL;
    if (!key || key->site != site) {
        key = dl_pair_known_key(s, site);
        if (key && started) started->follows = key;
    }
    if (key) s->started = key;
    return key;
}

/* Whether a mark that is rare, or has another frame, is a point in time or a value of the same launch. */
static inline bool is_point_of(const dl_pair *p, const dl_kind *kind, uint64_t code, uint64_t common)
{
    if (kind->type <= DL_ROW_ZONE_END || (code ^ common) & DL_MARK_STREAM) return false;
    return dl_mark_frame(p->batch, code) == dl_mark_frame(p->batch, common);
}

/* Takes what is ordinary of user's zones, values and points in time, from place i on up to the first mark that
 * is not; returns its place. What changes with every mark is in variables: the processor would wait for it to come back from memory. */
ALWAYS_INLINE uint32_t take_ordinary(dl_pair *p, stream_state *s, const pair_run *run, uint32_t i,
                                     const bool costly, devlog_status *status, devlog_error *err)
{
    const uint64_t of_run = DL_MARK_STREAM | DL_MARK_FRAME | DL_MARK_RARE,
                   common = run->sorted[i].code & of_run;
    const dl_frame *frame = dl_mark_frame(p->batch, common);
    const stream_costs *costs = s->costs;
    const dl_kind *const kinds = p->tables->kinds;
    const uint64_t epoch = s->epoch, limit = s->limit, change_at = costly ? s->change_at : UINT64_MAX;
    const uint8_t no_cost = costly ? dl_pair_no_cost(costs) : 0;
    const uint32_t launch = s->launch;
    dl_outbox *o = &p->out.box;
    dl_run *out = NULL;
    const bool lists_events = dl_pair_lists_events(p), lists_marks = dl_pair_lists_marks(p);
    if (common & DL_MARK_RARE || p->filter || s->too_deep || !dl_same_ids(&frame->ids, &s->ids)) return i;
    if (p->out.sink.runs && !(out = dl_pair_out_in_hand(p, dl_mark_stream(common), launch))) return i;
    open_zone *const bottom = s->open, *const limit_open = bottom + s->cap_open, *top = bottom + s->n_open;
    uint64_t last = s->last, spent = 0; /* and in its upper bits how many records */
    for (; i < run->n; i++) {
        const uint64_t code = run->sorted[i].code, time = run->sorted[i].time + epoch;
        const uint32_t place = run->places ? run->places[i] : i;
        const dl_kind *kind = &kinds[dl_mark_kind(code)];
        const bool end = kind->type == DL_ROW_ZONE_END;
        if (time - last >= limit || place & DL_TORN) break;
        if (costly && time >= change_at) break;
        if (kind->role != DL_ROLE_USER || kind->cost == DL_COST_STALL) break;
        if ((code ^ common) & of_run && !is_point_of(p, kind, code, common)) break;
        if (out && (o->n_events == o->cap_events || o->n_marks == o->cap_marks)) break;
        if (kind->type > DL_ROW_ZONE_END) {
            const pair_mark m = dl_pair_look(p, &run->sorted[i], run->at + place);
            s->n_open = (uint16_t)(top - bottom);
            *status = point(p, s, &m, time, 0, err);
            if (*status) break;
        } else if (!end) {
            dl_key *key = top < limit_open ? key_of(s, kind->site) : NULL;
            if (!key) break;
            *top++ = (open_zone){.start = time,
                                 .key = key,
                                 .spent = costly ? s->spent + (spent & SPENT) : 0,
                                 .site = kind->site,
                                 .launch = launch,
                                 .line = dl_frame_line(frame, run->at + place)};
        } else {
            const open_zone *z = top - 1;
            if (top == bottom || z->site != kind->site || z->orphan || z->launch != launch || time < z->start)
                break;
            const uint64_t cycles = time - z->start;
            uint64_t cost = !costly ? 0 : (s->spent + (spent & SPENT) - z->spent + 8) / 16;
            if (cost > cycles) cost = cycles;
            if (!dl_pair_count_zone(p->no_samples, z->key, z->start, cycles - (p->subtract_cost ? cost : 0),
                                    launch, false)) {
                *status = dl_pair_no_memory(err);
                break;
            }
            top--;
            if (out && lists_events) {
                o->events[o->n_events++] =
                    (dl_event){.start = z->start,
                               .end = time,
                               .data = z->data,
                               .stream = dl_mark_stream(code),
                               .site = kind->site,
                               .launch = launch,
                               .timer_id = kind->timer_id,
                               .meta = z->meta,
                               .line = dl_frame_line(frame, run->at + place),
                               .depth = (uint16_t)(top - bottom),
                               .kind = DL_EVENT_ZONE,
                               .flags = z->flags | no_cost,
                               .own_cost = cost < UINT32_MAX ? (uint32_t)cost : UINT32_MAX};
                out->n_events++;
            }
        }
        if (out && lists_marks) {
            o->marks[o->n_marks++] = (dl_mark){time, code};
            out->n_marks++;
        }
        last = time;
        if (costly) spent += dl_pair_price(costs, kind);
    }
    s->last = last;
    s->n_open = (uint16_t)(top - bottom);
    s->spent += spent & SPENT;
    s->spent_on_records += spent & SPENT;
    s->records += spent >> RECORDS_SHIFT;
    return i;
}

devlog_status dl_pair_by_stack(dl_pair *p, stream_state *s, const pair_run *run, devlog_error *err)
{
    devlog_status status = DEVLOG_OK;
    for (uint32_t i = 0; i < run->n && !status; i++) {
        i = s->costs ? take_ordinary(p, s, run, i, true, &status, err)
                     : take_ordinary(p, s, run, i, false, &status, err);
        if (i == run->n || status) break;
        const uint32_t place = run->places ? run->places[i] : i;
        const pair_mark m = dl_pair_look(p, &run->sorted[i], run->at + (place & ~DL_TORN));
        status = dl_pair_take(p, s, &m, place & DL_TORN, err);
    }
    return status;
}
