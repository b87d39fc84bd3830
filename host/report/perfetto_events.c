/* Perfetto's format: slices, instants and counters, encoded by hand (report/pb.h), because there are millions of them. */
#include <stdio.h>
#include <stdlib.h>

#include "report/perfetto_internal.h"

enum { SLICE_BEGIN = 1, SLICE_END = 2, INSTANT = 3, COUNTER = 4 };
enum {
    MOST_HOT = 512,
    MOST_PLAIN = 160, /* bytes of an event without texts, and what is copied beyond */
    MOST_END = 64,
    MOST_FLOWS = 1000,
    MOST_TEXT = 4096
};

/* A packet by hand: begins, returns where the TrackEvent's fields go. */
typedef struct hot {
    uint8_t *start, *packet, *event;
} hot;

static inline uint8_t *hot_begin(perfetto *p, hot *h, uint64_t time, uint32_t type, uint64_t uuid, size_t n)
{
    uint8_t *to = h->start = (uint8_t *)out_room(&p->out, n);
    to = h->packet = pb_begin(to, 1);
    to = pb_uint(to, 8, time);
    to = pb_uint(to, 10, p->chip + 1);
    to = h->event = pb_begin(to, 11);
    to = pb_uint(to, 9, type);
    return pb_uint(to, 11, uuid);
}

static inline void hot_end(perfetto *p, const hot *h, uint8_t *to)
{
    to = pb_end(h->event, to);
    to = pb_uint(to, 13, PERFETTO_NEEDS_STATE);
    to = pb_end(h->packet, to);
    p->out.len += (size_t)(to - h->start);
}

/* All names are less than 128, so the message has fewer bytes than that. */
static inline uint8_t *argument(uint8_t *to, uint8_t name, uint64_t value)
{
    uint8_t *const body = pb_begin(to, 4);
    to = pb_uint(body, 1, name);
    to = pb_uint(to, 3, value);
    body[-1] = (uint8_t)(to - body);
    return to;
}

/* Slices of a lane differ in their times, names and arguments: the other fields are made when it is entered. */
static void make_lane(perfetto *p)
{
    lane_bytes *const l = &p->of_lane;
    uint8_t *event, *to = pb_uint(l->begin, 10, p->chip + 1);
    event = to = pb_begin(to, 11);
    to = pb_uint(pb_uint(to, 9, SLICE_BEGIN), 11, p->uuid);
    l->event = (uint8_t)(event - l->begin);
    l->n_begin = (uint8_t)(to - l->begin);
    event = to = pb_begin(pb_uint(l->end, 10, p->chip + 1), 11);
    to = pb_end(event, pb_uint(pb_uint(to, 9, SLICE_END), 11, p->uuid));
    l->n_end = (uint8_t)(pb_uint(to, 13, PERFETTO_NEEDS_STATE) - l->end);
}

/* It has less than 128 bytes. The caller has made room for MOST_END. */
static inline void end_slice(perfetto *p)
{
    uint8_t *const start = out_end(&p->out), *const body = pb_begin(start, 1);
    uint8_t *to = pb_uint_near(&p->times, body, 8, p->open[--p->n_open]);
    memcpy(to, p->of_lane.end, sizeof p->of_lane.end);
    to += p->of_lane.n_end;
    body[-1] = (uint8_t)(to - body);
    p->out.len += (size_t)(to - start);
}

void perfetto_end_slices(perfetto *p)
{
    while (p->n_open) {
        out_room(&p->out, MOST_END);
        end_slice(p);
    }
}

static void end_slices_before(perfetto *p, uint64_t start)
{
    while (p->n_open && p->open[p->n_open - 1] <= start) {
        out_room(&p->out, MOST_END);
        end_slice(p);
    }
}

static inline bool push_open(perfetto *p, uint64_t end)
{
    if (p->n_open == p->cap_open) {
        uint32_t cap = p->cap_open ? p->cap_open * 2 : 64;
        uint64_t *open = realloc(p->open, cap * sizeof *open);
        if (!open) return false;
        p->open = open;
        p->cap_open = cap;
    }
    p->open[p->n_open++] = end;
    return true;
}

/* Flows bind a launch to the kernels of each core, one flow for each. */
static uint64_t flow_id(const perfetto *p, uint32_t launch, uint32_t core)
{
    return 1 + core + (uint64_t)launch * p->n_cores;
}

/* And one binds the host's call, the launch, and the host's pull. */
static uint64_t host_flow_id(uint32_t launch)
{
    return (UINT64_C(1) << 62) + launch;
}

static uint8_t *flows(const perfetto *p, uint8_t *to, const dl_view_item *item)
{
    const dl_view_track *t = &p->tracks[item->track];
    if (item->launch >= p->launches->count) return to;
    if (t->core == DL_NONE && p->chips[t->chip].host_track != DL_NONE)
        to = pb_fixed64(to, 47, host_flow_id(item->launch));
    if (item->kind == DL_VIEW_ZONE) {
        bool kernel = p->tables->sites[item->site].role == DL_ROLE_KERNEL;
        return kernel ? pb_fixed64(to, 47, flow_id(p, item->launch, t->core)) : to;
    }
    const dl_view_chip *chip = &p->chips[t->chip];
    for (uint32_t i = 0; i < chip->n_cores && i < MOST_FLOWS - 1; i++)
        to = pb_fixed64(to, 47, flow_id(p, item->launch, chip->first_core + i));
    return to;
}

/* Name, category and source line. Names of sites are interned; texts, names of launches, and what stands for a name that a site has not,
 * are written out. */
static uint8_t *identity(const perfetto *p, uint8_t *to, const dl_view_item *item, bool is_interned)
{
    char buffer[32], launch[256];
    const char *text = item->meta ? dl_view_text(p->view, item, MOST_TEXT) : NULL;
    const dl_site *site = is_interned ? &p->tables->sites[item->site] : NULL;
    const bool has_text = text && text[0], is_launch = item->kind == DL_VIEW_LAUNCH;
    if (site && site->name && !has_text) {
        const identity_bytes *known = &p->interned[item->site];
        memcpy(to, known->bytes, sizeof known->bytes);
        return to + known->n;
    }
    if (is_launch) dl_view_launch_name(p->view, item->launch, launch);
    const char *name = has_text ? text : is_launch ? launch : dl_view_name(p->view, item, buffer);
    to = pb_uint(to, 3, is_launch ? CATEGORY_LAUNCH : (site ? site->role : DL_ROLE_USER) + 1u);
    to = pb_bytes(to, 23, name, strlen(name));
    return site && site->file ? pb_uint(to, 34, (uint64_t)item->site + 1) : to;
}

static uint8_t *arguments(const perfetto *p, uint8_t *to, const dl_view_item *item)
{
    static const uint8_t data[] = {[DL_VIEW_ZONE] = ARG_DATA,
                                   [DL_VIEW_VALUE] = ARG_DATA,
                                   [DL_VIEW_SUM] = ARG_SUM,
                                   [DL_VIEW_DROPPED] = ARG_DROPPED,
                                   [DL_VIEW_LAUNCH] = 0};
    to = argument(to, ARG_CYCLE, item->cycle);
    if (item->kind == DL_VIEW_ZONE || item->kind == DL_VIEW_LAUNCH)
        to = argument(to, ARG_CYCLES, item->end_cycle - item->cycle);
    if (item->launch < p->launches->count) {
        to = argument(to, ARG_LAUNCH, dl_view_launch_id(p->view, item->launch));
        uint32_t op = p->launches->items[item->launch].op;
        if (op && item->kind == DL_VIEW_LAUNCH) to = argument(to, ARG_OP, op);
    }
    if (data[item->kind] && (item->data || item->kind != DL_VIEW_ZONE) && item->kind != DL_VIEW_POINT)
        to = argument(to, data[item->kind], item->data);
    return to;
}

/* Lanes beyond the first are described when they appear. */
static devlog_status enter_lane(perfetto *p, uint32_t track, uint32_t lane, devlog_error *err)
{
    const dl_view_track *t = &p->tracks[track];
    perfetto_end_slices(p);
    devlog_status status = perfetto_begin_chips(p, t->chip, err);
    if (status) return status;
    if (track != p->track) p->n_unnamed = 0;
    p->track = track;
    p->lane = lane;
    p->uuid = lane ? p->next_uuid++ : track_uuid(p, track);
    make_lane(p);
    if (lane == 0) return DEVLOG_OK;
    char track_name[128], name[160];
    snprintf(track_name, sizeof track_name, "%s", t->name);
    out_cut_utf8(track_name);
    snprintf(name, sizeof name, "%s (overlap %u)", track_name, lane);
    uint64_t parent = t->core == DL_NONE ? chip_uuid(t->chip) : core_uuid(p, t->core);
    return perfetto_describe(p, p->uuid, parent, name, NULL, (int32_t)(track - p->chips[t->chip].first_track),
                             false, err);
}

static void make_launch(perfetto *p, uint32_t launch)
{
    p->launch = launch;
    p->n_launch = 0;
    if (launch >= p->launches->count) return;
    const uint64_t id = dl_view_launch_id(p->view, launch);
    p->n_launch = (uint8_t)(argument(p->of_launch, ARG_LAUNCH, id) - p->of_launch);
}

/* A zone or a point of a core, whose name is interned. */
typedef struct plain_event {
    uint64_t start, end, cycle, cycles, data;
    uint32_t site, launch;
} plain_event;

/* The same bytes as of slice() and instant(). The caller has made the launch's argument, and room for MOST_PLAIN, and MOST_END for each slice that is open. */
ALWAYS_INLINE devlog_status plain(perfetto *p, const plain_event e, const bool is_zone, devlog_error *err)
{
    hot h;
    const identity_bytes *const site = &p->interned[e.site];
    while (is_zone && p->n_open && p->open[p->n_open - 1] <= e.start)
        end_slice(p);
    h.start = out_end(&p->out);
    h.packet = pb_begin(h.start, 1);
    uint8_t *to = pb_uint_near(&p->times, h.packet, 8, e.start);
    memcpy(to, p->of_lane.begin, sizeof p->of_lane.begin);
    h.event = to + p->of_lane.event;
    if (!is_zone) h.event[1] = INSTANT;
    to += p->of_lane.n_begin;
    memcpy(to, site->bytes, sizeof site->bytes);
    to += site->n;
    if (is_zone && site->is_kernel && p->n_launch)
        to = pb_fixed64(to, 47, flow_id(p, e.launch, p->tracks[p->track].core));
    uint8_t *body = pb_begin(to, 4);
    to = pb_uint_near(&p->cycles, pb_uint(body, 1, ARG_CYCLE), 3, e.cycle);
    body[-1] = (uint8_t)(to - body);
    if (is_zone) to = argument(to, ARG_CYCLES, e.cycles);
    memcpy(to, p->of_launch, sizeof p->of_launch);
    to += p->n_launch;
    if (is_zone && e.data) to = argument(to, ARG_DATA, e.data);
    hot_end(p, &h, to);
    return !is_zone || push_open(p, e.end) ? DEVLOG_OK : perfetto_no_memory(err);
}

static devlog_status slice(perfetto *p, const dl_view_item *item, devlog_error *err)
{
    hot h;
    end_slices_before(p, item->start);
    bool is_interned = item->site < p->tables->n_sites && p->interned[item->site].n;
    size_t n = MOST_HOT + (item->kind == DL_VIEW_LAUNCH ? MOST_FLOWS * 10 : 0);
    uint8_t *to = hot_begin(p, &h, item->start, SLICE_BEGIN, p->uuid, n);
    to = identity(p, to, item, is_interned);
    to = flows(p, to, item);
    hot_end(p, &h, arguments(p, to, item));
    return push_open(p, item->end) ? DEVLOG_OK : perfetto_no_memory(err);
}

/* The counter that a value belongs to; NULL when there are too many without a name: the instants have them
 * all. */
static counter *find_counter(perfetto *p, const dl_view_item *item)
{
    if (p->tables->sites[item->site].name) return &p->counters[item->site];
    for (uint32_t i = 0; i < p->n_unnamed; i++)
        if (p->unnamed[i].timer_id == item->timer_id) return &p->unnamed[i];
    if (p->n_unnamed == MOST_UNNAMED) return NULL;
    p->unnamed[p->n_unnamed] = (counter){0};
    return &p->unnamed[p->n_unnamed++];
}

static devlog_status sample(perfetto *p, const dl_view_item *item, devlog_error *err)
{
    counter *c = find_counter(p, item);
    if (!c) return DEVLOG_OK;
    if (!c->uuid || c->track != item->track) {
        char buffer[32];
        *c = (counter){item->track, item->timer_id, p->next_uuid++};
        devlog_status status = perfetto_describe(p, c->uuid, track_uuid(p, item->track),
                                                 dl_view_name(p->view, item, buffer), NULL, 0, true, err);
        if (status) return status;
    }
    hot h;
    uint8_t *to = hot_begin(p, &h, item->start, COUNTER, c->uuid, MOST_HOT);
    if (item->data <= INT64_MAX) {
        to = pb_uint(to, 30, item->data);
    } else {
        double value = (double)item->data;
        uint64_t bits;
        memcpy(&bits, &value, sizeof bits);
        to = pb_fixed64(to, 44, bits);
    }
    hot_end(p, &h, to);
    return DEVLOG_OK;
}

static devlog_status instant(perfetto *p, const dl_view_item *item, devlog_error *err)
{
    hot h;
    bool is_interned = item->site < p->tables->n_sites && p->interned[item->site].n;
    size_t n = MOST_HOT + (item->meta ? MOST_TEXT : 0);
    uint8_t *to = hot_begin(p, &h, item->start, INSTANT, p->uuid, n);
    to = identity(p, to, item, is_interned);
    hot_end(p, &h, arguments(p, to, item));
    return item->kind == DL_VIEW_VALUE ? sample(p, item, err) : DEVLOG_OK;
}

/* One that has neither name nor file has nothing to be interned. */
static inline devlog_status know_site(perfetto *p, uint32_t site, devlog_error *err)
{
    if (site >= p->tables->n_sites || p->interned[site].n) return DEVLOG_OK;
    const dl_site *s = &p->tables->sites[site];
    return s->name || s->file ? perfetto_intern_site(p, site, err) : DEVLOG_OK;
}

static devlog_status event(perfetto *p, const dl_view_item *item, devlog_error *err)
{
    devlog_status status = know_site(p, item->site, err);
    if (status) return status;
    const bool is_zone = item->kind == DL_VIEW_ZONE;
    if (is_zone && p->tracks[item->track].core != DL_NONE && p->interned[item->site].has_name) {
        const plain_event e = {item->start, item->end,  item->cycle, item->end_cycle - item->cycle,
                               item->data,  item->site, item->launch};
        end_slices_before(p, item->start);
        if (item->launch != p->launch) make_launch(p, item->launch);
        out_room(&p->out, MOST_PLAIN);
        return plain(p, e, true, err);
    }
    return is_zone || item->kind == DL_VIEW_LAUNCH ? slice(p, item, err) : instant(p, item, err);
}

static devlog_status items(void *ctx, const dl_view_item *all, size_t n, devlog_error *err)
{
    perfetto *p = ctx;
    devlog_status status = DEVLOG_OK;
    for (size_t i = 0; i < n && !status; i++) {
        const dl_view_item *item = &all[i];
        if (item->track != p->track || item->lane != p->lane)
            status = enter_lane(p, item->track, item->lane, err);
        if (!status) status = event(p, item, err);
    }
    return status;
}

static devlog_status events_of_run(void *ctx, const view_run *run, uint32_t track, devlog_error *err)
{
    perfetto *p = ctx;
    uint64_t times[VIEW_RUN_MARKS];
    devlog_status status = track != p->track || p->lane ? enter_lane(p, track, 0, err) : DEVLOG_OK;
    dl_view_times(p->view, track, run, times);
    if (run->launch != p->launch) make_launch(p, run->launch);
    const size_t room = run->shape->n * (size_t)(MOST_PLAIN + MOST_END) + p->n_open * (size_t)MOST_END;
    const bool has_room = room <= OUT_MOST;
    if (has_room) out_room(&p->out, room);
    const view_run here = *run; /* so that what is written cannot be it */
    const uint32_t n_sites = p->tables->n_sites;
    const view_shape_item *item = here.shape->items, *const behind = item + here.shape->n;
    for (; item < behind && !status; item++) {
        const bool has_name = item->site < n_sites && p->interned[item->site].has_name;
        if (!has_name || item->kind > DL_EVENT_POINT || !has_room) {
            const dl_view_item whole = dl_view_run_item(run, track, item, times);
            status = event(p, &whole, err);
            if (has_room) out_room(&p->out, room);
            continue;
        }
        const uint64_t cycle = view_run_stamp(&here, item->start), start = times[item->start],
                       end = times[item->end];
        const plain_event e = {.start = start,
                               .end = end < start ? start : end,
                               .cycle = cycle,
                               .cycles = view_run_stamp(&here, item->end) - cycle,
                               .site = item->site,
                               .launch = here.launch};
        status = item->kind == DL_EVENT_ZONE ? plain(p, e, true, err) : plain(p, e, false, err);
    }
    return status;
}

dl_view_sink perfetto_sink(perfetto *p)
{
    return (dl_view_sink){.ctx = p, .items = items, .run = events_of_run};
}
