/* What the files of the view share: view.c (what it is given), view_items.c (what it gives), view_time.c (by time), view_tracks.c (tracks), view_names.c (names). */
#ifndef DEVLOG_REPORT_VIEW_INTERNAL_H
#define DEVLOG_REPORT_VIEW_INTERNAL_H

#include "report/view.h"
#include "report/view_choice.h"
#include "report/view_lanes.h"
#include "report/view_spool.h"

/* Called with constants, of which there is a body each. */
#define ALWAYS_INLINE static inline __attribute__((always_inline))

/* Events of the spool that are launches, and calls of the host; their stream is an index into the view's
 * chips. */
enum { VIEW_EVENT_LAUNCH = 255, VIEW_EVENT_HOST = 254, VIEW_BATCH = 256 };

/* How cycles of a track become times. */
typedef struct view_axis {
    bool by_clock;     /* by the clock that was given, or is known */
    uint64_t freq_khz; /* or by this; 0: times are cycles */
} view_axis;

struct dl_view {
    dl_view_options options;
    dl_decode *decode;
    const dl_tables *tables;
    view_choice choice;
    _Atomic uint32_t wanted_end; /* choice.end, for those who list events */
    view_spool spool, overflow;  /* overflow: zones of the track in hand that lane 0 cannot hold */

    uint8_t *shown; /* a bit for each launch that has events */
    uint32_t n_shown, last_launch;

    dl_view_chip *chips;
    dl_view_core *cores;
    dl_view_track *tracks;
    uint32_t n_chips, n_cores, n_tracks;
    uint32_t call_sites[2];                /* of the host's calls: launch, pull; 0: none */
    uint64_t n_calls;                      /* zones of calls of the host, beside the choice */
    uint32_t *track_of_stream, *chip_rank; /* by the decoder's numbers */

    char **site_names, **site_files; /* NULL where the decoder's own text is UTF-8 */
    char **track_names;              /* the same, by stream */

    dl_str text; /* dl_view_text */
    /* Of the run in hand. */
    dl_view_sink sink;
    view_axis *axes;   /* by track */
    view_lanes *lanes; /* by track, or one for the track in hand */
    uint32_t n_lanes, track;
    uint64_t left_out;
    dl_view_item batch[VIEW_BATCH];
    size_t n_batch;
};

devlog_status view_make_tracks(dl_view *v, devlog_error *err);
void view_free_tracks(dl_view *v);
devlog_status view_make_names(dl_view *v, devlog_error *err);
void view_free_names(dl_view *v);

/* view_items.c: how an event is an item. */
uint32_t view_track_of(const dl_view *v, const dl_event *e);
/* Its lane, which may be VIEW_NO_LANE, and how deep it is there. False: out of memory. */
bool view_place_event(dl_view *v, const dl_event *e, view_lanes *lanes, uint16_t *lane, uint16_t *depth);
void view_item(const dl_view *v, const dl_event *e, uint32_t track, uint16_t lane, uint16_t depth,
               dl_view_item *item);
/* Whether all of a run nests in the first lane as its shape says, as it begins behind all that is there; its zones are open there
 * then. */
static inline bool view_run_nests(const view_run *run, view_lanes *lanes)
{
    const view_shape *const shape = run->shape;
    if (!run->is_plain || !view_lanes_first_is_free(lanes, run->start, shape->n_open)) return false;
    uint64_t *const ends = view_lanes_open_in_first(lanes, shape->n_open);
    for (uint32_t i = 0; i < shape->n_open; i++)
        ends[i] = view_run_stamp(run, shape->items[shape->open[i]].end);
    return true;
}
/* Hands items on that have gathered. */
devlog_status view_flush(dl_view *v, devlog_error *err);
static inline devlog_status view_give(dl_view *v, const dl_view_item *item, devlog_error *err)
{
    v->batch[v->n_batch++] = *item;
    return v->n_batch == VIEW_BATCH ? view_flush(v, err) : DEVLOG_OK;
}

/* view_time.c: items of a chip, of sequences in order; view_spool_order.merge. */
devlog_status view_merge_by_time(void *view, struct view_reader *readers, size_t n, devlog_error *err);

/* view_items.c: forgets where intervals of the run in hand are. */
void view_free_lanes(dl_view *v);

/* On the time axis. */
uint64_t view_time(const dl_view *v, const dl_view_chip *chip, uint32_t stream, uint64_t cycles);

/* view_clock.c: what a chip's counter showed at a moment of the host's clock. */
uint64_t view_cycle_at(const dl_decode *d, uint32_t chip_id, uint64_t host_ns);
/* view_clock.c: the clock that a decoder's captures know. */
dl_view_clock view_host_clock(const dl_decode *d);

#endif
