/* The view: one ordered stream of intervals, made from the decoder's events, that every timeline writer and
 * the page are written from. It knows the tracks (chip > core > RISC), gives every zone a place where it
 * nests (a lane of its track), and puts cycles on one time axis. It writes nothing itself.
 *
 *     dl_view_new(&view, decode, &options, err);
 *     dl_decode_run_sink(decode, dl_view_runs(view), err);   before the first input
 *     ... dl_decode_file, dl_decode_finish ...
 *     dl_view_ready(view, err);                              builds the tracks
 *     dl_view_run(view, DL_VIEW_BY_TRACK, sink, err);        as often as wanted, in either order
 *     dl_view_free(view);
 *
 * Memory is bounded by the options, whatever the length of the log: events that do not fit wait in an
 * unlinked temporary file, sorted in parts and merged. The decoder may have no_samples set, and must
 * outlive the view. */
#ifndef DEVLOG_REPORT_VIEW_H
#define DEVLOG_REPORT_VIEW_H

#include "decode/decode.h"
#include "report/view_runs.h"

typedef enum dl_view_kind {
    DL_VIEW_ZONE,    /* start..end */
    DL_VIEW_POINT,   /* start == end in this and those that follow, except launches */
    DL_VIEW_VALUE,   /* `data` is the program's */
    DL_VIEW_SUM,     /* `data` is a sum of cycles over the launch */
    DL_VIEW_DROPPED, /* `data` counts markers that the device had no room for */
    DL_VIEW_LAUNCH,  /* on the chip's launch track: first firmware start to last firmware end */
} dl_view_kind;

typedef struct dl_view_item {
    uint64_t start, end;       /* on the time axis: see dl_view_chip.has_ns; start <= end */
    uint64_t cycle, end_cycle; /* of the chip's own counter */
    uint64_t data;             /* of zones: the data cell of their end or start */
    uint32_t track;            /* index into tracks */
    uint32_t site;             /* index into the decoder's sites; DL_NONE for launches */
    uint32_t launch;           /* index into the decoder's launches, or DL_NONE */
    uint32_t meta;             /* text of the decoder's tables; 0: none */
    uint32_t timer_id, line;
    uint16_t lane;  /* items of one lane of a track nest; 0 unless zones of a track overlap */
    uint16_t depth; /* zones around it in its lane */
    uint8_t kind;   /* dl_view_kind */
    uint8_t flags;  /* DL_EVENT_... */
    uint8_t padding[2];
} dl_view_item;

/* Chips are in order of their ids, cores of y and then x, tracks in the order of reports: BRISC, NCRISC,
 * TRISC0, ... The first track of a chip is its launch track; captures have a second, of what the host called:
 * zones by the names of the API, with the number of their launch. */
typedef struct dl_view_chip {
    uint32_t chip; /* index into the decoder's chips */
    uint32_t id;
    uint32_t first_core, n_cores;
    uint32_t first_track, n_tracks;
    uint32_t host_track;  /* DL_NONE: it is not known when the host called */
    bool has_ns;          /* start and end are nanoseconds; otherwise cycles, because the clock is unknown */
    bool aligned;         /* the time axis is the host's clock; otherwise the chip's own, from its reset */
    uint64_t residual_ns; /* when aligned: how far off it may be */
    char name[192];       /* "chip 0 (wormhole_b0, 1000 MHz, AICLK 1000 MHz)" */
} dl_view_chip;

typedef struct dl_view_core {
    uint32_t chip; /* index into the view's chips */
    uint16_t x, y;
    uint32_t first_track, n_tracks;
} dl_view_core;

typedef struct dl_view_track {
    uint32_t chip;   /* index into the view's chips */
    uint32_t core;   /* index into the view's cores; DL_NONE: the launches of the chip, or its host's calls */
    uint32_t stream; /* index into the decoder's streams, or DL_NONE */
    const char *name; /* "BRISC", "launches"; UTF-8 */
} dl_view_track;

/* The clock of a timeline. Unless told, the host's, as far as a capture's samples allow; where they do not,
 * nanoseconds are cycles * 1000 / MHz since the chip's reset, and chips are not aligned with one another. */
typedef struct dl_view_clock {
    void *ctx;
    /* The reference clock's nanoseconds when this stream's counter (DL_NONE: the chip's) showed `cycles`.
     * Never decreasing in `cycles`. */
    uint64_t (*ns)(void *ctx, uint32_t chip_id, uint32_t stream, uint64_t cycles);
    /* False when this chip was not synchronised; then ns is not called for it. */
    bool (*known)(void *ctx, uint32_t chip_id, uint64_t *residual_ns);
} dl_view_clock;

typedef struct dl_view_options {
    size_t memory; /* bytes for sorting; 0: 64 MiB */
    /* Keep no more than so many events, of the first launches: dl_view_end. With this, a view does with fewer
     * where there is no room for temporary files. 0: all of them. */
    uint64_t most;
    /* The name of the op that asked for a launch (by its fields `run` and `op`), borrowed until the view is
     * freed; NULL: unknown. May be NULL itself. */
    const char *(*op_name)(void *ctx, const dl_launch *launch);
    void *op_ctx;
    dl_view_clock clock; /* zero: the decoder's */
    bool cycles;         /* items of chips whose clock is not synchronised have cycles for times */
} dl_view_options;

/* By track: track after track, in it lane after lane, in it by start and then longer first.
 * By time: chip after chip, in it by start and then longer first, the tracks mixed. */
typedef enum dl_view_order { DL_VIEW_BY_TRACK, DL_VIEW_BY_TIME } dl_view_order;

struct view_window;

/* `items` are valid during the call only. A status other than DEVLOG_OK ends the run. `window`, where it is not NULL, is called
 * by time instead for many items at once where that is less work (view_window.h). `run`, where it is not NULL, is called by
 * track instead for what closed in a run of a known shape, all of it in the track's first lane, each as deep as its shape
 * says (view_runs.h), with neither data nor text. */
typedef struct dl_view_sink {
    void *ctx;
    devlog_status (*items)(void *ctx, const dl_view_item *items, size_t n, devlog_error *err);
    devlog_status (*run)(void *ctx, const view_run *run, uint32_t track, devlog_error *err);
    devlog_status (*window)(void *ctx, const struct view_window *window, devlog_error *err);
} dl_view_sink;

typedef struct dl_view dl_view;

devlog_status dl_view_new(dl_view **view, dl_decode *d, const dl_view_options *options, devlog_error *err);
void dl_view_free(dl_view *v);
dl_run_sink dl_view_runs(dl_view *v);
/* After dl_decode_finish. Call once. */
devlog_status dl_view_ready(dl_view *v, devlog_error *err);
devlog_status dl_view_run(dl_view *v, dl_view_order order, dl_view_sink sink, devlog_error *err);
/* While dl_view_run runs: the time of a track's stamp, as items have it. */
uint64_t dl_view_time(const dl_view *v, uint32_t track, uint64_t cycle);
/* The same of all marks of a run. */
void dl_view_times(const dl_view *v, uint32_t track, const view_run *run, uint64_t times[VIEW_RUN_MARKS]);
/* An item of a run of a track, as it is without a sink of runs. */
static inline dl_view_item dl_view_run_item(const view_run *run, uint32_t track, const view_shape_item *item,
                                            const uint64_t *times)
{
    const uint64_t start = times[item->start], end = times[item->end];
    return (dl_view_item){.start = start,
                          .end = end < start ? start : end,
                          .cycle = view_run_stamp(run, item->start),
                          .end_cycle = view_run_stamp(run, item->end),
                          .track = track,
                          .site = item->site,
                          .launch = run->launch,
                          .timer_id = item->timer_id,
                          .line = run->line + run->line_step * item->line,
                          .depth = item->depth,
                          .kind = item->kind}; /* which are numbered alike */
}
_Static_assert((int)DL_EVENT_ZONE == DL_VIEW_ZONE && (int)DL_EVENT_POINT == DL_VIEW_POINT &&
                   (int)DL_EVENT_VALUE == DL_VIEW_VALUE && (int)DL_EVENT_SUM == DL_VIEW_SUM &&
                   (int)DL_EVENT_DROPPED == DL_VIEW_DROPPED,
               "kinds of events are kinds of items");

/* Owned by the view. */
const dl_view_chip *dl_view_chips(const dl_view *v, uint32_t *n);
const dl_view_core *dl_view_cores(const dl_view *v, uint32_t *n);
const dl_view_track *dl_view_tracks(const dl_view *v, uint32_t *n);
dl_decode *dl_view_decode(const dl_view *v);

/* Events taken, launches included. */
uint64_t dl_view_count(const dl_view *v);
/* No more items than these come that are no launches. */
uint64_t dl_view_most(const dl_view *v);
/* Launches from this one on are left out; DL_NONE: none is. How many events that are no launches were left
 * out, and whether it was for lack of room. */
uint32_t dl_view_end(const dl_view *v);
uint64_t dl_view_unwanted(const dl_view *v);
bool dl_view_is_cramped(const dl_view *v);
/* When a launch was, as its item on the launch track says it: times, cycles and track are filled in. False: it has no item,
 * because filters left nothing of it, or no firmware zone of it was seen whole. */
bool dl_view_launch(const dl_view *v, uint32_t launch, dl_view_item *item);
/* Zones that no lane could hold in the last run: more than DL_VIEW_LANES overlapped on one track. */
uint64_t dl_view_left_out(const dl_view *v);
enum { DL_VIEW_LANES = 1024 };

/* The name of a zone or marker, always UTF-8 and never empty: bytes that are not UTF-8 are U+FFFD, a zone
 * without a name is "(no name)", a marker without one is called by its timer id. `buffer` holds 32 bytes. */
const char *dl_view_name(const dl_view *v, const dl_view_item *item, char buffer[32]);
/* What a kernel printed (DEVLOG_PRINTF), as UTF-8, until the next call; NULL: the item is no text. `most`
 * bytes of it, 0: all. */
const char *dl_view_text(dl_view *v, const dl_view_item *item, size_t most);
/* A site's name and file as UTF-8; the name is empty for markers without one. */
const char *dl_view_site_name(const dl_view *v, uint32_t site);
const char *dl_view_site_file(const dl_view *v, uint32_t site);
/* The name of the op that asked for a launch (dl_launch.op); NULL: unknown. */
const char *dl_view_launch_op_name(const dl_view *v, uint32_t launch);
/* Whether an item is a call of the host, and which. */
typedef enum dl_view_call { DL_VIEW_NO_CALL, DL_VIEW_LAUNCH_CALL, DL_VIEW_PULL_CALL } dl_view_call;
dl_view_call dl_view_call_of(const dl_view *v, const dl_view_item *item);
/* The number by which people know a launch: its run host id or run id, or its place in the log. */
uint64_t dl_view_launch_id(const dl_view *v, uint32_t launch);
/* The op's name, or "launch 1024", "launch 1024 trace 3.7", "launch #5": UTF-8, cut at 255 bytes. */
void dl_view_launch_name(const dl_view *v, uint32_t launch, char out[256]);

#endif
