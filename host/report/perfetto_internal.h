/* What the files of Perfetto's format share: perfetto.c (tracks, names and clocks, by protobuf-c), perfetto_events.c (slices,
 * instants and counters, by hand). */
#ifndef DEVLOG_REPORT_PERFETTO_INTERNAL_H
#define DEVLOG_REPORT_PERFETTO_INTERNAL_H

#include "report/out.h"
#include "report/pb.h"
#include "report/view.h"

enum { PERFETTO_NEEDS_STATE = 2 };
enum { ARG_CYCLE = 1, ARG_CYCLES, ARG_LAUNCH, ARG_DATA, ARG_SUM, ARG_DROPPED, ARG_OP, ARGS };
enum {
    CATEGORY_LAUNCH = DL_ROLE_DROPPED + 2,
    MOST_LANE = 32, /* 6 for the sequence, 15 for the event, 2 for the flags */
    MOST_LAUNCH = 16,
    MOST_IDENTITY = 16,
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
    bool has_name, is_kernel;
    uint8_t bytes[MOST_IDENTITY];
} identity_bytes;

/* What slices of the lane in hand have in common: copied as a whole. */
typedef struct lane_bytes {
    uint8_t begin[MOST_LANE],
        end[MOST_LANE]; /* the fields behind the time; of the beginning, up to the name */
    uint8_t n_begin, n_end;
    uint8_t event; /* where the fields of the event are in `begin` */
} lane_bytes;

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
    identity_bytes *interned; /* by site */
    uint32_t track, lane;     /* in hand */
    uint64_t uuid;            /* of the lane in hand */
    lane_bytes of_lane;
    pb_near times, cycles; /* stamps */
    uint32_t launch;       /* whose argument `of_launch` is */
    uint8_t n_launch, of_launch[MOST_LAUNCH];
    uint64_t *open; /* ends of the slices that are open in the lane in hand, from the outside in */
    uint32_t n_open, cap_open;
    counter *counters; /* by site: the last one described */
    counter unnamed[MOST_UNNAMED];
    uint32_t n_unnamed;
} perfetto;

/* Uuids of the tree: chips, cores, tracks, in this order, from 1. */
static inline uint64_t chip_uuid(uint32_t chip)
{
    return 1 + chip;
}
static inline uint64_t core_uuid(const perfetto *p, uint32_t core)
{
    return 1 + p->n_chips + core;
}
static inline uint64_t track_uuid(const perfetto *p, uint32_t track)
{
    return 1 + p->n_chips + p->n_cores + track;
}

devlog_status perfetto_no_memory(devlog_error *err);
devlog_status perfetto_describe(perfetto *p, uint64_t uuid, uint64_t parent, const char *name,
                                const char *description, int32_t rank, bool is_counter, devlog_error *err);
/* Begins the sequences of the next chips, up to this one. */
devlog_status perfetto_begin_chips(perfetto *p, uint32_t chip, devlog_error *err);
/* Gives the sequence in hand the name and the source line of a site that has either. */
devlog_status perfetto_intern_site(perfetto *p, uint32_t site, devlog_error *err);

/* perfetto_events.c: what the view is asked to give to. */
dl_view_sink perfetto_sink(perfetto *p);
/* Ends what is open in the lane in hand. */
void perfetto_end_slices(perfetto *p);

#endif
