/* Perfetto's trace format: a tree of tracks (chip > core > RISC), a slice for each zone, instants, counters,
 * source locations, the chip's cycles as arguments, and flows from each launch through the kernels of every
 * core. Format: proto/perfetto.proto.
 *
 * One packet sequence per chip, with the chip's own clock (64) as the default of its packets and interned
 * names. Slices and instants are encoded by hand (report/pb.h), everything else by protobuf-c. */
#include <stdio.h>
#include <stdlib.h>

#include "perfetto.pb-c.h"
#include "report/export.h"
#include "report/out.h"
#include "report/pb.h"

enum { BOOT_TIME = 6, CHIP_CLOCK = 64, STATE_CLEARED = 1, NEEDS_STATE = 2, EXPLICIT_ORDER = 3 };
enum { SLICE_BEGIN = 1, SLICE_END = 2, INSTANT = 3, COUNTER = 4 };
enum { ARG_CYCLE = 1, ARG_CYCLES, ARG_LAUNCH, ARG_DATA, ARG_SUM, ARG_DROPPED, ARG_OP, ARGS };
enum {
    CATEGORY_LAUNCH = DL_ROLE_DROPPED + 2,
    MOST_HOT = 512,
    MOST_END = 32, /* 6 for the sequence, 15 for the event, 2 for the flags */
    MOST_IDENTITY = 16,
    MOST_FLOWS = 1000,
    MOST_TEXT = 4096,
    MOST_UNNAMED = 64
};

/* A counter track: the values of one site on one track; of sites without a name, those of one timer id. */
typedef struct counter {
    uint32_t track, timer_id;
    uint64_t uuid; /* 0: not described yet */
} counter;

/* Category, name and source line of a site's events. */
typedef struct identity_bytes {
    uint8_t n; /* 0: the sequence in hand does not have its name yet */
    uint8_t bytes[MOST_IDENTITY];
} identity_bytes;

typedef struct perfetto {
    dl_view *view;
    dl_out out;
    const dl_view_chip *chips;
    const dl_view_core *cores;
    const dl_view_track *tracks;
    const dl_tables *tables;
    const dl_launches *launches;
    uint32_t n_chips, n_cores, n_tracks;
    uint64_t next_uuid;       /* of lanes and counters, behind those of the tree */
    uint32_t chip;            /* of the sequence in hand; DL_NONE: none yet */
    identity_bytes *interned; /* sites whose name the sequence in hand has */
    uint32_t track, lane;     /* in hand */
    uint64_t uuid;            /* of the lane in hand */
    uint8_t end[MOST_END];    /* of slices of the lane in hand: the fields behind the time */
    size_t n_end;
    uint64_t *open; /* ends of the slices that are open in it, from the outside in */
    uint32_t n_open, cap_open;
    counter *counters; /* by site: the last one described */
    counter unnamed[MOST_UNNAMED];
    uint32_t n_unnamed;
} perfetto;

typedef Devlog__Perfetto__TracePacket packet;
typedef Devlog__Perfetto__TrackDescriptor descriptor;
typedef Devlog__Perfetto__InternedString interned;

static devlog_status no_memory(devlog_error *err)
{
    return dl_fail(err, DEVLOG_ERR_MEMORY, "out of memory while writing a Perfetto trace");
}

/* Uuids of the tree: chips, cores, tracks, in this order, from 1. */
static uint64_t chip_uuid(uint32_t chip)
{
    return 1 + chip;
}
static uint64_t core_uuid(const perfetto *p, uint32_t core)
{
    return 1 + p->n_chips + core;
}
static uint64_t track_uuid(const perfetto *p, uint32_t track)
{
    return 1 + p->n_chips + p->n_cores + track;
}

static devlog_status write_packet(perfetto *p, const packet *message, devlog_error *err)
{
    size_t n = devlog__perfetto__trace_packet__get_packed_size(message);
    uint8_t *bytes = malloc(n + 16), *to = bytes;
    if (!bytes) return no_memory(err);
    to = pb_varint(pb_tag(to, 1, PB_BYTES), n);
    to += devlog__perfetto__trace_packet__pack(message, to);
    out_bytes(&p->out, bytes, (size_t)(to - bytes));
    free(bytes);
    return DEVLOG_OK;
}

static devlog_status describe(perfetto *p, uint64_t uuid, uint64_t parent, const char *name,
                              const char *description, int32_t rank, bool is_counter, devlog_error *err)
{
    packet message = DEVLOG__PERFETTO__TRACE_PACKET__INIT;
    descriptor d = DEVLOG__PERFETTO__TRACK_DESCRIPTOR__INIT;
    Devlog__Perfetto__CounterDescriptor c = DEVLOG__PERFETTO__COUNTER_DESCRIPTOR__INIT;
    message.has_trusted_packet_sequence_id = true;
    message.trusted_packet_sequence_id = p->chip + 1;
    message.track_descriptor = &d;
    d.has_uuid = true;
    d.uuid = uuid;
    d.name = (char *)name;
    d.description = (char *)description;
    d.has_parent_uuid = parent != 0;
    d.parent_uuid = parent;
    d.has_sibling_order_rank = d.has_child_ordering = true;
    d.sibling_order_rank = rank;
    d.child_ordering = EXPLICIT_ORDER;
    if (is_counter) d.counter = &c;
    return write_packet(p, &message, err);
}

/* What people must know of a chip's part of the trace, on its track. */
static void about(const perfetto *p, const dl_view_chip *chip, dl_str *s)
{
    const dl_losses *l = dl_decode_losses(dl_view_decode(p->view));
    if (!chip->has_ns)
        dl_str_add(s, "Times are cycles, shown as nanoseconds: the clock's frequency is unknown.");
    else if (chip->aligned)
        dl_str_fmt(s, "Times are the host's, at most %llu ns off.", (unsigned long long)chip->residual_ns);
    else
        dl_str_add(s, "Times are since the chip's reset, not aligned with other chips.");
    dl_str_add(s, dl_losses_any(l) ? " Lost in the whole log:" : " Nothing was lost.");
    if (dl_losses_skipped(l))
        dl_str_fmt(s, " lines skipped: %llu;", (unsigned long long)dl_losses_skipped(l));
    for (int i = 0; i < DL_FINDINGS; i++)
        if (l->found[i] && dl_finding_is_loss((dl_finding)i))
            dl_str_fmt(s, " %s: %llu;", dl_finding_text((dl_finding)i), (unsigned long long)l->found[i]);
}

static void intern(interned *to, uint64_t iid, const char *name)
{
    devlog__perfetto__interned_string__init(to);
    to->has_iid = true;
    to->iid = iid;
    to->name = (char *)name;
}

/* The first packet of a chip's sequence: clears, sets the default clock, and interns the names that do not
 * depend on the log. */
static devlog_status begin_sequence(perfetto *p, devlog_error *err)
{
    static const char *const categories[] = {"user", "firmware", "kernel", "dropped", "launch"};
    static const char *const arguments[ARGS] = {
        [ARG_CYCLE] = "cycle", [ARG_CYCLES] = "cycles",  [ARG_LAUNCH] = "launch",
        [ARG_DATA] = "data",   [ARG_SUM] = "sum_cycles", [ARG_DROPPED] = "dropped_markers",
        [ARG_OP] = "op"};
    interned names[ARGS + CATEGORY_LAUNCH], *category[CATEGORY_LAUNCH], *argument[ARGS - 1];
    packet message = DEVLOG__PERFETTO__TRACE_PACKET__INIT;
    Devlog__Perfetto__TracePacketDefaults defaults = DEVLOG__PERFETTO__TRACE_PACKET_DEFAULTS__INIT;
    Devlog__Perfetto__InternedData data = DEVLOG__PERFETTO__INTERNED_DATA__INIT;
    for (size_t i = 0; i < CATEGORY_LAUNCH; i++) {
        category[i] = &names[i];
        intern(category[i], i + 1, categories[i]);
    }
    for (size_t i = 1; i < ARGS; i++) {
        argument[i - 1] = &names[CATEGORY_LAUNCH + i];
        intern(argument[i - 1], i, arguments[i]);
    }
    data.event_categories = category;
    data.n_event_categories = CATEGORY_LAUNCH;
    data.debug_annotation_names = argument;
    data.n_debug_annotation_names = ARGS - 1;
    defaults.has_timestamp_clock_id = true;
    defaults.timestamp_clock_id = CHIP_CLOCK;
    message.has_trusted_packet_sequence_id = message.has_sequence_flags = true;
    message.trusted_packet_sequence_id = p->chip + 1;
    message.sequence_flags = STATE_CLEARED;
    message.trace_packet_defaults = &defaults;
    message.interned_data = &data;
    return write_packet(p, &message, err);
}

/* The chip's clock in terms of the trace's: they run together, from 0, which is the chip's reset unless the
 * chips are aligned. */
static devlog_status snapshot(perfetto *p, devlog_error *err)
{
    packet message = DEVLOG__PERFETTO__TRACE_PACKET__INIT;
    Devlog__Perfetto__ClockSnapshot s = DEVLOG__PERFETTO__CLOCK_SNAPSHOT__INIT;
    Devlog__Perfetto__ClockSnapshot__Clock boot = DEVLOG__PERFETTO__CLOCK_SNAPSHOT__CLOCK__INIT, chip = boot;
    Devlog__Perfetto__ClockSnapshot__Clock *clocks[] = {&boot, &chip};
    boot.has_clock_id = boot.has_timestamp = chip.has_clock_id = chip.has_timestamp = true;
    boot.clock_id = BOOT_TIME;
    chip.clock_id = CHIP_CLOCK;
    s.clocks = clocks;
    s.n_clocks = 2;
    s.has_primary_trace_clock = true;
    s.primary_trace_clock = BOOT_TIME;
    message.has_trusted_packet_sequence_id = true;
    message.trusted_packet_sequence_id = p->chip + 1;
    message.clock_snapshot = &s;
    return write_packet(p, &message, err);
}

static devlog_status begin_chip(perfetto *p, uint32_t chip_index, devlog_error *err)
{
    const dl_view_chip *chip = &p->chips[chip_index];
    dl_str text = {0};
    p->chip = chip_index;
    memset(p->interned, 0, p->tables->n_sites * sizeof *p->interned);
    about(p, chip, &text);
    devlog_status status = text.failed ? no_memory(err) : begin_sequence(p, err);
    if (!status) status = snapshot(p, err);
    if (!status)
        status =
            describe(p, chip_uuid(chip_index), 0, chip->name, text.text, (int32_t)chip_index, false, err);
    dl_str_free(&text);
    for (uint32_t i = chip->first_core; i < chip->first_core + chip->n_cores && !status; i++) {
        char name[48];
        snprintf(name, sizeof name, "core %u,%u", p->cores[i].x, p->cores[i].y);
        if (dl_is_process(chip->id)) snprintf(name, sizeof name, "threads");
        status = describe(p, core_uuid(p, i), chip_uuid(chip_index), name, NULL,
                          (int32_t)(i - chip->first_core) + 1, false, err);
    }
    for (uint32_t i = chip->first_track; i < chip->first_track + chip->n_tracks && !status; i++) {
        const dl_view_track *t = &p->tracks[i];
        uint64_t parent = t->core == DL_NONE ? chip_uuid(chip_index) : core_uuid(p, t->core);
        status = describe(p, track_uuid(p, i), parent, t->name, NULL, (int32_t)(i - chip->first_track), false,
                          err);
    }
    return status;
}

static devlog_status intern_site(perfetto *p, uint32_t site, devlog_error *err)
{
    interned name;
    Devlog__Perfetto__SourceLocation location = DEVLOG__PERFETTO__SOURCE_LOCATION__INIT;
    interned *names[] = {&name};
    Devlog__Perfetto__SourceLocation *locations[] = {&location};
    packet message = DEVLOG__PERFETTO__TRACE_PACKET__INIT;
    Devlog__Perfetto__InternedData data = DEVLOG__PERFETTO__INTERNED_DATA__INIT;
    const char *file = dl_view_site_file(p->view, site);
    intern(&name, (uint64_t)site + 1, dl_view_site_name(p->view, site));
    data.event_names = names;
    data.n_event_names = 1;
    if (file[0]) {
        location.has_iid = location.has_line_number = true;
        location.iid = (uint64_t)site + 1;
        location.file_name = (char *)file;
        location.line_number = p->tables->sites[site].line;
        data.source_locations = locations;
        data.n_source_locations = 1;
    }
    message.has_trusted_packet_sequence_id = message.has_sequence_flags = true;
    message.trusted_packet_sequence_id = p->chip + 1;
    message.sequence_flags = NEEDS_STATE;
    message.interned_data = &data;
    identity_bytes *const keep = &p->interned[site];
    uint8_t *to = pb_uint(keep->bytes, 3, p->tables->sites[site].role + 1u);
    to = pb_uint(to, 10, (uint64_t)site + 1);
    if (p->tables->sites[site].file) to = pb_uint(to, 34, (uint64_t)site + 1);
    keep->n = (uint8_t)(to - keep->bytes);
    return write_packet(p, &message, err);
}

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
    to = pb_uint(to, 13, NEEDS_STATE);
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

/* Ends of slices of a lane differ in their time alone: the fields behind it are made when the lane is entered. */
static void make_end(perfetto *p)
{
    uint8_t *body, *to = pb_uint(p->end, 10, p->chip + 1);
    to = body = pb_begin(to, 11);
    to = pb_uint(to, 9, SLICE_END);
    to = pb_end(body, pb_uint(to, 11, p->uuid));
    p->n_end = (size_t)(pb_uint(to, 13, NEEDS_STATE) - p->end);
}

static void end_slice(perfetto *p)
{
    uint8_t *const start = (uint8_t *)out_room(&p->out, MOST_HOT), *const body = pb_begin(start, 1);
    uint8_t *to = pb_uint(body, 8, p->open[--p->n_open]);
    memcpy(to, p->end, sizeof p->end);
    to = pb_end(body, to + p->n_end);
    p->out.len += (size_t)(to - start);
}

static bool push_open(perfetto *p, uint64_t end)
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

/* The uuid of a lane of the track in hand; lanes beyond the first are described when they appear. */
static devlog_status enter_lane(perfetto *p, uint32_t track, uint32_t lane, devlog_error *err)
{
    while (p->n_open)
        end_slice(p);
    if (track != p->track) p->n_unnamed = 0;
    p->track = track;
    p->lane = lane;
    p->uuid = track_uuid(p, track);
    make_end(p);
    if (lane == 0) return DEVLOG_OK;
    const dl_view_track *t = &p->tracks[track];
    char track_name[128], name[160];
    snprintf(track_name, sizeof track_name, "%s", t->name);
    out_cut_utf8(track_name);
    snprintf(name, sizeof name, "%s (overlap %u)", track_name, lane);
    p->uuid = p->next_uuid++;
    make_end(p);
    uint64_t parent = t->core == DL_NONE ? chip_uuid(t->chip) : core_uuid(p, t->core);
    return describe(p, p->uuid, parent, name, NULL, (int32_t)(track - p->chips[t->chip].first_track), false,
                    err);
}

static devlog_status slice(perfetto *p, const dl_view_item *item, devlog_error *err)
{
    hot h;
    while (p->n_open && p->open[p->n_open - 1] <= item->start)
        end_slice(p);
    bool is_interned = item->site < p->tables->n_sites && p->interned[item->site].n;
    size_t n = MOST_HOT + (item->kind == DL_VIEW_LAUNCH ? MOST_FLOWS * 10 : 0);
    uint8_t *to = hot_begin(p, &h, item->start, SLICE_BEGIN, p->uuid, n);
    to = identity(p, to, item, is_interned);
    to = flows(p, to, item);
    hot_end(p, &h, arguments(p, to, item));
    return push_open(p, item->end) ? DEVLOG_OK : no_memory(err);
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
        devlog_status status = describe(p, c->uuid, track_uuid(p, item->track),
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

static devlog_status items(void *ctx, const dl_view_item *all, size_t n, devlog_error *err)
{
    perfetto *p = ctx;
    devlog_status status = DEVLOG_OK;
    for (size_t i = 0; i < n && !status; i++) {
        const dl_view_item *item = &all[i];
        if (item->track != p->track || item->lane != p->lane) {
            uint32_t chip = p->tracks[item->track].chip;
            while (p->n_open)
                end_slice(p);
            while (p->chip != chip && !status)
                status = begin_chip(p, p->chip == DL_NONE ? 0 : p->chip + 1, err);
            if (!status) status = enter_lane(p, item->track, item->lane, err);
        }
        const dl_site *site = item->site < p->tables->n_sites ? &p->tables->sites[item->site] : NULL;
        if (!status && site && (site->name || site->file) && !p->interned[item->site].n)
            status = intern_site(p, item->site, err);
        if (status) break;
        bool is_slice = item->kind == DL_VIEW_ZONE || item->kind == DL_VIEW_LAUNCH;
        status = is_slice ? slice(p, item, err) : instant(p, item, err);
    }
    return status;
}

devlog_status dl_export_perfetto(dl_view *v, const char *path, devlog_error *err)
{
    perfetto p = {.view = v, .chip = DL_NONE, .track = DL_NONE};
    p.chips = dl_view_chips(v, &p.n_chips);
    p.cores = dl_view_cores(v, &p.n_cores);
    p.tracks = dl_view_tracks(v, &p.n_tracks);
    p.tables = dl_decode_tables(dl_view_decode(v));
    p.launches = dl_decode_launches(dl_view_decode(v));
    p.next_uuid = track_uuid(&p, p.n_tracks);
    devlog_status status = out_open(&p.out, path, err);
    if (status) return status;
    p.interned = calloc(p.tables->n_sites + 1u, sizeof *p.interned);
    p.counters = calloc(p.tables->n_sites + 1u, sizeof *p.counters);
    status = p.interned && p.counters
                 ? dl_view_run(v, DL_VIEW_BY_TRACK, (dl_view_sink){.ctx = &p, .items = items}, err)
                 : no_memory(err);
    while (p.n_open && !status)
        end_slice(&p);
    /* Chips of which nothing is in the log still show that they are there. */
    while (!status && p.n_chips && (p.chip == DL_NONE || p.chip + 1 < p.n_chips))
        status = begin_chip(&p, p.chip == DL_NONE ? 0 : p.chip + 1, err);
    free(p.interned);
    free(p.open);
    free(p.counters);
    return out_close(&p.out, status, err);
}
