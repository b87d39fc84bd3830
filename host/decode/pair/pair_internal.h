/* What the pairing's files share: the state of a stream. Included by pair*.c only. */
#ifndef DEVLOG_DECODE_PAIR_INTERNAL_H
#define DEVLOG_DECODE_PAIR_INTERNAL_H

#include "decode/pair/pair.h"
#include "devlog/record.h"

enum {
    EVENT_BATCH = 128,
    INLINE_OPEN = 4,
    KEYS_PER_BLOCK = 256,
    MAX_OPEN_BYTES = 64 * 1024 * 1024, /* of zones open beyond INLINE_OPEN, on all streams */
};

typedef struct open_zone {
    uint64_t start, data;
    dl_key *key;
    uint64_t spent; /* own cost of markers on the stream before it, 1/16 cycle */
    uint32_t site, launch, line, meta;
    uint8_t flags;  /* of the event that it will be */
    uint8_t orphan; /* a zone around it has closed already */
} open_zone;

typedef struct key_slot {
    dl_key *key;   /* NULL: free */
    uint32_t site; /* the key's, so that a miss does not touch it */
} key_slot;

/* What every row needs comes first, then what every start needs. */
typedef struct stream_state {
    /* The clock: a row is as expected when its time is at most `limit` after `last`. */
    uint64_t last, limit;
    uint64_t epoch; /* added to every stamp: wraps so far */
    /* The launch in hand, and the ids that mean it. */
    uint64_t run_host_id;
    uint32_t run_id, trace_id, trace_counter;
    uint32_t launch;
    /* Open zones, outermost first. */
    uint16_t n_open, cap_open;
    bool known, wanted, held, kernel_seen;
    uint32_t bit, chip;
    /* Pairing of hits: */
    struct stream_shape *shape; /* of the last run that had one; NULL: none is known */
    struct stream_state
        *next;              /* the stream whose run of a known shape came after that of this one last time */
    struct dl_key *started; /* by the last start */
    open_zone *open;
    key_slot *keys;
    uint32_t n_keys, n_key_slots;
    dl_costs *costs;                    /* of the launch in hand; NULL: not known */
    uint64_t spent;                     /* own cost of its markers so far, 1/16 cycle */
    uint64_t stalls;                    /* and what of that was stalls, in the launch in hand */
    uint64_t records, spent_on_records; /* of the launch in hand */
    uint32_t too_deep; /* zones that began behind the open ones and were left out: the next ends are theirs */
    uint64_t stall_start;
    uint64_t first, fw_start; /* stamps of the first row, and of the firmware's last start */
    dl_row *held_row;         /* a suspicious row that waits for its successor's stamp */
    struct stream_shape **shapes;
    uint32_t n_shapes;
    open_zone inline_open[INLINE_OPEN];
} stream_state;

typedef struct chip_state {
    uint64_t last, epoch;
    uint32_t header; /* number of the chip line that it has been given */
} chip_state;

enum { OUT_RUNS = 128, OUT_EVENTS = 512, OUT_MARKS = 2048 };

/* What waits to be handed on. */
typedef struct pair_out {
    dl_run_sink sink; /* runs: NULL: nobody wants them */
    dl_run runs[OUT_RUNS];
    dl_event *events; /* of all runs, one after the other */
    dl_mark *marks;
    uint32_t n_runs, n_events, n_marks;
    dl_marks batch; /* frames of the marks */
} pair_out;

struct dl_pair {
    dl_tables *tables;
    dl_losses *losses;
    const char *source;
    const dl_filter *filter;
    bool no_samples, subtract_cost;
    size_t open_bytes;
    dl_event_sink events;
    dl_marker_sink markers;
    stream_state **streams; /* one allocation each: pointers stay valid */
    uint32_t n_streams;
    chip_state chips[DL_MAX_CHIPS];
    dl_launches launches;
    dl_chip_line chip_line;
    uint32_t header; /* chip lines so far */
    dl_key **key_blocks;
    uint32_t n_keys, n_blocks;
    dl_event batch[EVENT_BATCH];
    size_t n_batch;
    pair_out out;
    dl_row *run; /* pair_run.c: rows of a run that is not ordinary */
    size_t cap_run;
    struct pair_shape *shapes;
    size_t shape_bytes;
    dl_sample_pool pool;
    dl_series_table series;
};

/* pair.c: one row whose stamp has been accepted; `time` is repaired. */
devlog_status dl_pair_accept(dl_pair *p, stream_state *s, const dl_row *row, uint64_t time, uint8_t flags,
                             devlog_error *err);
/* pair.c: one row of any kind. */
devlog_status dl_pair_row(dl_pair *p, const dl_row *row, devlog_error *err);
/* pair.c: a start that may begin a launch: of firmware, of a kernel, or with other ids than the row before.
 */
void dl_pair_begin(dl_pair *p, stream_state *s, dl_role role, const dl_row *row);
/* pair_keys.c: counts a value, a sum or a point in time; `passes` of a sum. */
void dl_pair_count_point(dl_pair *p, const dl_row *row, uint64_t time, uint32_t launch);
/* pair_out.c: hands waiting runs to the sink. */
devlog_status dl_pair_out_flush(dl_pair *p, devlog_error *err);
void dl_pair_out_free(pair_out *o);
/* pair_out.c: the run of this stream and launch that is being made, with room for one more event and mark. */
dl_run *dl_pair_out_run(dl_pair *p, uint32_t stream, uint32_t launch, devlog_status *status,
                        devlog_error *err);
/* pair_out.c: adds the start or the end of a default zone. */
void dl_pair_out_default(dl_run *run, dl_role role, bool start, uint64_t time);
devlog_status dl_pair_out_row(dl_pair *p, const dl_row *row, uint32_t launch, uint64_t time,
                              devlog_error *err);
devlog_status dl_pair_out_event(dl_pair *p, const dl_event *e, devlog_error *err);
/* The kind of the event that a row other than the start or end of a zone is. */
extern const uint8_t dl_pair_kinds[DL_ROW_TYPES];
/* Whether only statistics are wanted: no filter, no consumer of each event. */
/* Whether somebody wants the zones that close, and what else becomes an event. */
static inline bool dl_pair_makes_events(const dl_pair *p)
{
    return p->events.events || p->out.sink.wants & DL_WANT_EVENTS;
}
static inline bool dl_pair_is_quick(const dl_pair *p)
{
    return !p->filter && !p->events.events && !p->markers.marker && !p->out.sink.runs && !p->no_samples;
}
/* pair_quick.c: rows of which only statistics are wanted: no filter, no consumer of each event. */
devlog_status dl_pair_quick_rows(dl_pair *p, const dl_row *rows, size_t n, devlog_error *err);
/* pair.c: the state of a stream, made when it is new; NULL: out of memory. */
stream_state *dl_pair_stream(dl_pair *p, uint32_t stream);
/* pair_cost.c: adds what the marker of a row cost; only where s->costs is known. */
void dl_pair_spend(stream_state *s, const dl_row *row);
/* pair_cost.c: cycles of a zone that were the markers' own. */
uint32_t dl_pair_own_cost(dl_pair *p, stream_state *s, uint64_t spent_at_start, uint64_t cycles,
                          dl_role role);
/* pair_losses.c: everything open on the stream is without an end. */
void dl_pair_abandon_open(dl_pair *p, stream_state *s);
/* pair_losses.c: the same of what is open from place `first` on; of the zones of one site. */
void dl_pair_abandon_from(dl_pair *p, stream_state *s, int first);
void dl_pair_abandon_site(dl_pair *p, stream_state *s, uint32_t site);
/* pair_losses.c: an end without a start (`of_another`: but there is one of another launch); an end before its
 * start; a zone too deep inside others; one zone or launch more than are kept apart. */
void dl_pair_lose_end(dl_pair *p, const dl_row *row, uint64_t time, bool of_another);
void dl_pair_lose_negative(dl_pair *p, const dl_row *row, const open_zone *z, uint64_t time);
void dl_pair_lose_deep(dl_pair *p, const stream_state *s, const dl_row *row);
void dl_pair_lose_key(dl_pair *p, const dl_row *row);
void dl_pair_lose_launch(dl_pair *p, const dl_row *row);
/* pair_losses.c: markers that the device had no room for. */
/* What a row of a loss zone says is added to the losses; returns which it is. */
dl_loss_zone dl_pair_note_loss(dl_pair *p, const dl_row *row);
/* pair_clock.c: a row whose stamp is not as expected, or the first of its stream. */
devlog_status dl_pair_suspicious(dl_pair *p, stream_state *s, const dl_row *row, devlog_error *err);
/* pair_clock.c: a row whose stamp has been repaired already. */
void dl_pair_note_torn(dl_pair *p, const dl_row *row);
/* pair_clock.c: decides about a row that still waits at the end. */
devlog_status dl_pair_settle(dl_pair *p, stream_state *s, devlog_error *err);
/* pair_keys.c: new statistics of a site on a stream, or NULL when there are too many. */
dl_key *dl_pair_add_key(dl_pair *p, stream_state *s, uint32_t stream, uint32_t site);
/* pair_keys.c: notes that the next sample is of `launch`. */
bool dl_key_note_launch(dl_key *k, uint32_t launch);
/* pair_keys.c: adds a zone to the samples when their chunk is full or the zone is long. */
bool dl_key_add_sample(dl_key *k, uint64_t start, uint64_t cycles);
/* pair_keys.c: completes the statistics from the samples. */
void dl_key_settle(dl_key *k);
/* "chip 0 core 1,1 BRISC" */
void dl_pair_where(const dl_pair *p, uint32_t stream, char out[128]);

/* Adds a zone to statistics without samples. */
static inline void dl_key_count(dl_key *k, uint64_t start, uint64_t cycles)
{
    if (k->count++ == 0) {
        k->first = cycles;
        k->first_start = start;
    }
    k->sum += cycles;
    if (cycles < k->min) k->min = cycles;
    if (cycles > k->max) k->max = cycles;
}

static inline uint32_t dl_key_slot(uint32_t site, uint32_t n_slots)
{
    return site * 0x9E3779B1u & (n_slots - 1);
}

/* The statistics of a site on a stream, or NULL when there are none yet. */
static inline dl_key *dl_pair_known_key(const stream_state *s, uint32_t site)
{
    if (!s->n_key_slots) return NULL;
    for (uint32_t at = dl_key_slot(site, s->n_key_slots);; at = (at + 1) & (s->n_key_slots - 1)) {
        const key_slot *slot = &s->keys[at];
        if (!slot->key || slot->site == site) return slot->key;
    }
}

static inline void dl_pair_note_fw_start(dl_pair *p, stream_state *s, uint64_t time)
{
    s->fw_start = time;
    if (s->launch == DL_NONE) return;
    dl_launch *l = &p->launches.items[s->launch];
    if (time < l->first_fw_start) l->first_fw_start = time;
}

static inline void dl_pair_note_fw_end(dl_pair *p, const stream_state *s, uint64_t time)
{
    if (s->launch == DL_NONE) return;
    dl_launch *l = &p->launches.items[s->launch];
    if (time > l->last_fw_end) l->last_fw_end = time;
}

static inline bool dl_pair_has_ids(const dl_row *row, const stream_state *s)
{
    return ((row->run_host_id ^ s->run_host_id) | (row->run_id ^ s->run_id) | (row->trace_id ^ s->trace_id) |
            (row->trace_counter ^ s->trace_counter)) == 0;
}

/* A zone of a row begins: there is room for it. */
static inline void dl_pair_open(dl_pair *p, stream_state *s, dl_key *key, const dl_row *row, uint64_t time,
                                uint8_t flags)
{
    s->open[s->n_open++] = (open_zone){.start = time,
                                       .data = row->data,
                                       .key = key,
                                       .spent = s->spent,
                                       .site = row->site,
                                       .launch = s->launch,
                                       .line = row->line,
                                       .meta = row->meta,
                                       .flags = flags};
    if (key->role == DL_ROLE_FW) dl_pair_note_fw_start(p, s, time);
}

/* Stamps may step forward this far without a second look; a step of 2^32 or nearly may be a torn read. */
#define CLOCK_LIMIT ((UINT64_C(1) << 32) - (UINT64_C(1) << 28))

#endif
