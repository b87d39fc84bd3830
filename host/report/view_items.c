/* The view's items: events and runs of its spool in one order or the other, each with its track, its lane and its times. By
 * time of tracks that are in order: view_time.c. */
#include <stdlib.h>

#include "report/view_internal.h"

void view_free_lanes(dl_view *v)
{
    for (uint32_t i = 0; i < v->n_lanes; i++)
        view_lanes_free(&v->lanes[i]);
    free(v->lanes);
    v->lanes = NULL;
    v->n_lanes = 0;
}

uint32_t view_track_of(const dl_view *v, const dl_event *e)
{
    if (e->kind == VIEW_EVENT_LAUNCH) return v->chips[e->stream].first_track;
    if (e->kind == VIEW_EVENT_HOST) return v->chips[e->stream].host_track;
    return v->track_of_stream[e->stream];
}

static void key_by_track(void *ctx, const dl_event *e, view_key *out)
{
    const dl_view *v = ctx;
    *out = (view_key){e->start, e->end, (uint64_t)e->depth << 32 | e->line, view_track_of(v, e)};
}

/* Cycles order like the time axis, unless every stream has a clock of its own. */
static void key_by_time(void *ctx, const dl_event *e, view_key *out)
{
    const dl_view *v = ctx;
    uint32_t track = view_track_of(v, e);
    const dl_view_chip *chip = &v->chips[v->tracks[track].chip];
    uint64_t start = e->start, end = e->end;
    if (chip->aligned) {
        uint32_t stream = v->tracks[track].stream;
        start = view_time(v, chip, stream, start);
        end = view_time(v, chip, stream, end);
    }
    uint64_t minor = (uint64_t)track << 41 | (uint64_t)(e->depth & 511) << 32 | e->line;
    *out = (view_key){start, end, minor, v->tracks[track].chip};
}

/* Of a zone that waits in `overflow` the stream is its lane. */
static void key_by_lane(void *ctx, const dl_event *e, view_key *out)
{
    (void)ctx;
    *out = (view_key){e->start, e->end, (uint64_t)e->depth << 32 | e->line, e->stream};
}

devlog_status view_flush(dl_view *v, devlog_error *err)
{
    size_t n = v->n_batch;
    v->n_batch = 0;
    return n ? v->sink.items(v->sink.ctx, v->batch, n, err) : DEVLOG_OK;
}

static inline uint64_t time_of(const dl_view *v, const view_axis *axis, uint32_t track, uint64_t cycles)
{
    if (axis->by_clock) {
        const dl_view_track *t = &v->tracks[track];
        return view_time(v, &v->chips[t->chip], t->stream, cycles);
    }
    return axis->freq_khz ? dl_cycles_to_ns(cycles, axis->freq_khz) : cycles;
}

uint64_t dl_view_time(const dl_view *v, uint32_t track, uint64_t cycle)
{
    return time_of(v, &v->axes[track], track, cycle);
}

void dl_view_times(const dl_view *v, uint32_t track, const view_run *run, uint64_t times[VIEW_RUN_MARKS])
{
    const view_axis axis = v->axes[track];
    const uint32_t n = run->shape->n_marks;
    const uint64_t most = (UINT64_C(1) << 43) - 1;
    if (axis.by_clock || !axis.freq_khz || axis.freq_khz > most || run->start > most - UINT32_MAX) {
        for (uint32_t i = 0; i < n; i++)
            times[i] = time_of(v, &axis, track, view_run_stamp(run, (uint8_t)i));
        return;
    }
    const uint8_t *at = run->stamps, *const end = at + n * sizeof(uint32_t);
    uint32_t behind;
    if (axis.freq_khz == 1000000) { /* as Wormhole's */
        for (; at < end; at += sizeof behind) {
            memcpy(&behind, at, sizeof behind);
            *times++ = run->start + behind;
        }
        return;
    }
    const uint64_t first = run->start * 1000000 + axis.freq_khz / 2;
    for (; at < end; at += sizeof behind) { /* dl_cycles_to_ns of few cycles */
        memcpy(&behind, at, sizeof behind);
        *times++ = (first + behind * UINT64_C(1000000)) / axis.freq_khz;
    }
}

static const uint8_t item_kinds[UINT8_MAX + 1] = {
    [DL_EVENT_ZONE] = DL_VIEW_ZONE,       [DL_EVENT_POINT] = DL_VIEW_POINT,
    [DL_EVENT_VALUE] = DL_VIEW_VALUE,     [DL_EVENT_SUM] = DL_VIEW_SUM,
    [DL_EVENT_DROPPED] = DL_VIEW_DROPPED, [VIEW_EVENT_LAUNCH] = DL_VIEW_LAUNCH,
    [VIEW_EVENT_HOST] = DL_VIEW_ZONE,
};

ALWAYS_INLINE dl_view_item item_of(const dl_view *v, const dl_event *e, uint32_t track, uint16_t lane,
                                   uint16_t depth)
{
    const view_axis *axis = &v->axes[track];
    const uint64_t start = time_of(v, axis, track, e->start),
                   end = e->end == e->start ? start : time_of(v, axis, track, e->end);
    return (dl_view_item){
        .start = start,
        .end = end < start ? start : end,
        .cycle = e->start,
        .end_cycle = e->end,
        .data = e->data,
        .track = track,
        .site = e->site,
        .launch = e->launch,
        .meta = e->meta,
        .timer_id = e->timer_id,
        .line = e->line,
        .lane = lane,
        .depth = depth,
        .kind = item_kinds[e->kind],
        .flags = e->flags,
    };
}

void view_item(const dl_view *v, const dl_event *e, uint32_t track, uint16_t lane, uint16_t depth,
               dl_view_item *item)
{
    *item = item_of(v, e, track, lane, depth);
}

ALWAYS_INLINE devlog_status emit(dl_view *v, const dl_event *e, uint32_t track, uint16_t lane, uint16_t depth,
                                 devlog_error *err)
{
    v->batch[v->n_batch++] = item_of(v, e, track, lane, depth);
    return v->n_batch == VIEW_BATCH ? view_flush(v, err) : DEVLOG_OK;
}

static devlog_status each_overflow(void *ctx, const dl_event *e, devlog_error *err)
{
    dl_view *v = ctx;
    return emit(v, e, v->track, (uint16_t)e->stream, e->depth, err);
}

/* What lane 0 of the track in hand could not hold comes after it, lane by lane. */
static devlog_status end_track(dl_view *v, devlog_error *err)
{
    if (v->overflow.total == 0) return DEVLOG_OK;
    const view_spool_order by_lane = {key_by_lane, v, true, NULL};
    const view_spool_sink sink = {v, each_overflow, NULL};
    devlog_status status = view_spool_run(&v->overflow, &by_lane, &sink, err);
    view_spool_clear(&v->overflow);
    return status;
}

bool view_place_event(dl_view *v, const dl_event *e, view_lanes *lanes, uint16_t *lane, uint16_t *depth)
{
    *lane = 0;
    *depth = e->depth;
    if (e->kind != DL_EVENT_ZONE && e->kind != VIEW_EVENT_LAUNCH && e->kind != VIEW_EVENT_HOST) return true;
    if (view_lanes_place_first(lanes, e->start, e->end, depth)) return true;
    if (!view_lanes_place(lanes, e->start, e->end, DL_VIEW_LANES, lane, depth)) return false;
    v->left_out += *lane == VIEW_NO_LANE;
    return true;
}

/* Gives an event its lane. `by_track`: the order of the run. */
ALWAYS_INLINE devlog_status place(dl_view *v, const dl_event *e, uint32_t track, bool by_track,
                                  devlog_error *err)
{
    uint16_t lane, depth;
    if (!view_place_event(v, e, by_track ? v->lanes : &v->lanes[track], &lane, &depth))
        return dl_fail(err, DEVLOG_ERR_MEMORY, "out of memory while ordering zones");
    if (lane == VIEW_NO_LANE) return DEVLOG_OK;
    if (lane == 0 || !by_track) return emit(v, e, track, lane, depth, err);
    dl_event kept = *e;
    kept.stream = lane;
    kept.depth = depth;
    return view_spool_add(&v->overflow, lane, &kept, 1, err);
}

static devlog_status enter_track(dl_view *v, uint32_t track, devlog_error *err)
{
    devlog_status status = end_track(v, err);
    if (status) return status;
    view_lanes_clear(v->lanes);
    v->track = track;
    return DEVLOG_OK;
}

static devlog_status each_by_track(void *ctx, const dl_event *e, devlog_error *err)
{
    dl_view *v = ctx;
    if (!view_choice_keeps(&v->choice, e->launch)) return DEVLOG_OK;
    const uint32_t track = view_track_of(v, e);
    devlog_status status = track != v->track ? enter_track(v, track, err) : DEVLOG_OK;
    return status ? status : place(v, e, track, true, err);
}

static devlog_status each_run_by_track(void *ctx, const view_run *run, uint32_t stream, devlog_error *err)
{
    dl_view *v = ctx;
    if (!view_choice_keeps(&v->choice, run->launch)) return DEVLOG_OK;
    const uint32_t track = v->track_of_stream[stream];
    devlog_status status = track != v->track ? enter_track(v, track, err) : DEVLOG_OK;
    if (status) return status;
    const bool nests = view_run_nests(run, v->lanes);
    if (nests && v->sink.run) {
        if (v->n_batch) status = view_flush(v, err);
        return status ? status : v->sink.run(v->sink.ctx, run, track, err);
    }
    for (uint32_t i = 0; i < run->shape->n && !status; i++) {
        dl_event e;
        view_run_event(run, i, &e);
        status = nests ? emit(v, &e, track, 0, e.depth, err) : place(v, &e, track, true, err);
    }
    return status;
}

static devlog_status each_by_time(void *ctx, const dl_event *e, devlog_error *err)
{
    dl_view *v = ctx;
    return view_choice_keeps(&v->choice, e->launch) ? place(v, e, view_track_of(v, e), false, err)
                                                    : DEVLOG_OK;
}

static bool make_axes(dl_view *v)
{
    free(v->axes);
    v->axes = calloc(v->n_tracks + 1u, sizeof *v->axes);
    for (uint32_t i = 0; v->axes && i < v->n_tracks; i++) {
        const dl_view_chip *chip = &v->chips[v->tracks[i].chip];
        const bool has_ns = chip->has_ns && !v->options.cycles;
        v->axes[i] = (view_axis){chip->aligned, has_ns ? v->tables->chips[chip->chip].freq_khz : 0};
    }
    return v->axes != NULL;
}

devlog_status dl_view_run(dl_view *v, dl_view_order order, dl_view_sink sink, devlog_error *err)
{
    bool by_track = order == DL_VIEW_BY_TRACK;
    view_spool_order of_spool = {by_track ? key_by_track : key_by_time, v, true,
                                 by_track ? NULL : view_merge_by_time};
    for (uint32_t i = 0; i < v->n_chips && !by_track; i++)
        of_spool.exact = of_spool.exact && !v->chips[i].aligned;
    v->sink = sink;
    v->left_out = 0;
    v->n_batch = 0;
    v->track = DL_NONE;
    v->n_lanes = by_track || !v->n_tracks ? 1 : v->n_tracks;
    v->lanes = calloc(v->n_lanes, sizeof *v->lanes);
    devlog_status status = DEVLOG_OK;
    if (!v->lanes || !make_axes(v)) {
        if (!v->lanes) v->n_lanes = 0;
        view_free_lanes(v);
        return dl_fail(err, DEVLOG_ERR_MEMORY, "out of memory");
    }
    const view_spool_sink by = {v, by_track ? each_by_track : each_by_time,
                                by_track ? each_run_by_track : NULL};
    status = view_spool_run(&v->spool, &of_spool, &by, err);
    if (!status && by_track) status = end_track(v, err);
    if (!status) status = view_flush(v, err);
    view_spool_clear(&v->overflow);
    view_free_lanes(v);
    return status;
}
