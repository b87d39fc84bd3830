/* Runs: what pairing hands to its consumers. A run is the marks of one stream (a RISC) that came one after
 * the other under one launch, in order of time, with the zones, points and values that closed among them.
 * Runs come in batches, in the order of the input; the runs of one stream are in order of time.
 *
 * A run may come in pieces: a zone that goes on in the next run of its stream closes there, and what is long
 * is cut. So several runs in a row may be of one launch and stream; their default stamps add up: the first of
 * the starts, the last of the ends.
 *
 * Filters: a run of which nothing is let through is not handed on. Zones, values and points are dropped from
 * the list by all filters; marks, and the default stamps, only by those of chips, cores, RISCs, launches and
 * time. */
#ifndef DEVLOG_DECODE_RUN_H
#define DEVLOG_DECODE_RUN_H

#include "decode/event.h"
#include "decode/mark.h"

enum { /* dl_run.has */
       DL_RUN_FW_START = 1,
       DL_RUN_KERNEL_START = 2,
       DL_RUN_KERNEL_END = 4,
       DL_RUN_FW_END = 8,
};

enum { DL_RUN_SHAPES = 1 << 16 };

/* What zones of one site come to. */
typedef struct dl_zone_sum {
    uint64_t count, total, min, max;
    uint64_t own;  /* without the zones that closed directly inside them */
    uint64_t cost; /* the markers' own: dl_event.own_cost */
    uint32_t site;
} dl_zone_sum;

enum { DL_SUMS_DEEP = 64 }; /* zones as deep as this are always listed */

/* What the zones of a run come to whose events are not listed. */
typedef struct dl_run_sums {
    const dl_zone_sum *zones; /* in the order in which the first of each closed */
    uint32_t n_zones;
    /* By depth, from `depth` on: cycles of zones of this depth that closed, and the one around them did not. What had closed
     * deeper than `depth` is inside of zones that closed too. */
    uint32_t n_inside, depth;
    const uint64_t *inside;
    uint64_t start; /* of the zone that closed first */
    uint8_t flags;  /* of all their events */
} dl_run_sums;

/* What closes in a run of a known shape, by the places of its marks in the run: a zone; or what is no zone, and has one place.
 */
typedef struct dl_run_item {
    uint8_t start, end;
    uint8_t kind;  /* dl_event_kind */
    uint8_t depth; /* zones around it */
    uint8_t line;  /* how many lines, in dl_run.line_step, that of its end is behind dl_run.line */
} dl_run_item;

typedef struct dl_run {
    uint32_t stream; /* chip, core, RISC */
    uint32_t launch; /* index into dl_launches; DL_NONE: it belongs to none */
    uint32_t n_marks, n_events;
    const dl_mark *marks; /* in order of time, stamps repaired and continued over wraps; NULL unless wanted */
    const dl_marks *batch; /* frames and rare data of the marks (dl_mark_frame, dl_mark_data); NULL without */
    const dl_run_sums *sums; /* of events that are not listed; NULL: nobody knows */
    const dl_event *events;  /* in the order in which they closed; NULL unless wanted and listed */
    /* The same, n_events of them, as what is the same in each run of the shape, where who takes runs wants it so and none of
     * the events has data or meta data; dl_run_event makes events of them. NULL: events are listed. */
    const dl_run_item *items;
    uint32_t line, line_step; /* of items */
    /* The first start and the last end of the firmware's and the kernel's zone among the marks. Not with items for who
     * wants no marks. */
    uint64_t fw_start, kernel_start, kernel_end, fw_end;
    uint8_t has;   /* which of these there are: DL_RUN_* */
    bool unlisted; /* its events are counted, but not listed (dl_run_sink.events_end) */
    bool once;     /* no mark of firmware and kernel but these; false: there may be */
    /* Runs with the same number, which is less than DL_RUN_SHAPES, have marks of the same kinds in the same order; 0: nobody
     * knows. */
    uint32_t shape;
} dl_run;

enum {
    DL_WANT_EVENTS = 1,
    DL_WANT_MARKS = 2,
    DL_WANT_ITEMS = 4, /* events of a run that has a shape may be dl_run.items, with the run's marks */
};

/* A consumer of runs. What it is handed is valid during the call only. A status other than DEVLOG_OK stops
 * the decoder. */
typedef struct dl_run_sink {
    void *ctx;
    unsigned wants; /* DL_WANT_* */
    devlog_status (*runs)(void *ctx, const dl_run *runs, size_t n, devlog_error *err);
    /* It may be called on another thread while pairing goes on (one call after the other, in order): until the
     * input has been decoded it reads nothing of the decoder but streams, sites, kinds and texts, by the numbers
     * that runs name, and their counts. */
    bool apart;
    /* Events of launches from this one on are counted and need not be listed. It may become less at any time; NULL: all
     * are listed. */
    const _Atomic uint32_t *events_end;
    bool sums; /* what these come to is wanted (dl_run.sums): where that is not known, they are listed */
    /* Whether marks of a kind are wanted of a stream; NULL: those of all. It is asked on the decoder's thread, at any time, and
     * always says the same. Others may be handed on as well. */
    bool (*marks_of)(const void *ctx, uint32_t stream, const dl_kind *kind);
} dl_run_sink;

static inline bool dl_run_sink_wants(const dl_run_sink *s, uint32_t stream, const dl_kind *kind)
{
    return s->wants & DL_WANT_MARKS && (!s->marks_of || s->marks_of(s->ctx, stream, kind));
}

/* An event of those that a run has as items. */
static inline dl_event dl_run_event(const dl_run *run, const dl_tables *t, uint32_t i)
{
    const dl_run_item *item = &run->items[i];
    const dl_mark *last = &run->marks[item->end];
    const dl_kind *kind = &t->kinds[dl_mark_kind(last->code)];
    return (dl_event){.start = run->marks[item->start].time,
                      .end = last->time,
                      .stream = run->stream,
                      .site = kind->site,
                      .launch = run->launch,
                      .timer_id = kind->timer_id,
                      .line = run->line + run->line_step * item->line,
                      .depth = item->depth,
                      .kind = item->kind};
}

/* Runs that wait to be handed on. Zero-initialised is empty. Events and marks of all runs are one after the
 * other in the order of the runs, which point to them only when they are handed on. */
typedef struct dl_outbox {
    dl_run *runs;
    dl_event *events;
    dl_mark *marks;
    uint32_t n_runs, cap_runs, n_events, cap_events, n_marks, cap_marks;
    dl_marks *extra; /* batch of marks that have waited for longer than theirs; or NULL */
} dl_outbox;

void dl_outbox_free(dl_outbox *o);
/* Hands all runs to the sink, and is empty then. */
devlog_status dl_outbox_hand_on(dl_outbox *o, const dl_run_sink *sink, devlog_error *err);

#endif
