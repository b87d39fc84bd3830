/* What the pairing's files share: the state of a stream. Included by pair*.c only. */
#ifndef DEVLOG_DECODE_PAIR_INTERNAL_H
#define DEVLOG_DECODE_PAIR_INTERNAL_H

#include <stdatomic.h>

#include "decode/pair/order.h"
#include "decode/pair/pair.h"
#include "devlog/record.h"

enum { RECORDS_SHIFT = 48 };
#define SPENT ((UINT64_C(1) << RECORDS_SHIFT) - 1)

/* Called with constants, of which there is a body each. */
#define ALWAYS_INLINE static inline __attribute__((always_inline))

enum {
    INLINE_OPEN = 4,
    KEYS_PER_BLOCK = 256,
    MAX_OPEN_BYTES = 64 * 1024 * 1024, /* of zones open beyond INLINE_OPEN, on all streams */
};

/* A mark with all that is known about it. */
typedef struct pair_mark {
    uint64_t time; /* as recorded */
    uint64_t code;
    const dl_kind *kind;
    const dl_ids *ids;
    const dl_rare *rare; /* zeros when it is not rare */
    uint32_t stream, line;
} pair_mark;

typedef struct open_zone {
    uint64_t start, data;
    dl_key *key;
    uint64_t spent; /* own cost of markers on the stream before it, 1/16 cycle */
    uint32_t site, launch, line, meta;
    uint8_t flags;  /* of the event that it will be */
    uint8_t orphan; /* a zone around it has closed already */
} open_zone;

/* A mark that waits for its successor's stamp, with what its batch says of it. */
typedef struct held_mark {
    dl_mark mark;
    uint32_t line;
    dl_ids ids;
    dl_rare rare;
    bool is_rare;
} held_mark;

/* What markers cost a RISC. */
typedef struct stream_costs {
    dl_costs given;
    dl_spent *between; /* a copy of given.between */
    uint32_t next;     /* of them */
    /* By whether it is the end of a zone, and DL_COST_*: what an ordinary mark adds to what was spent, 1/16 cycle,
     * and, from RECORDS_SHIFT on, to the records. A run has less than 2^16 marks of less than 2^32 each. */
    uint64_t spent[2][DL_COSTS];
} stream_costs;

typedef struct key_slot {
    dl_key *key;   /* NULL: free */
    uint32_t site; /* the key's, so that a miss does not touch it */
} key_slot;

/* What every mark needs comes first, then what every start needs. */
typedef struct stream_state {
    /* The clock: a mark is as expected when its time is at most `limit` after `last`. */
    uint64_t last, limit;
    uint64_t epoch; /* added to every stamp: wraps so far */
    /* The launch in hand, and the ids that mean it. */
    dl_ids ids;
    uint32_t launch;
    /* Open zones, outermost first. */
    uint16_t n_open, cap_open;
    bool known, wanted, held, kernel_seen;
    uint32_t bit, chip;
    /* Pairing by shapes: */
    struct stream_shape *shape; /* of the last run that had one; NULL: none is known */
    struct stream_state
        *next;              /* the stream whose run of a known shape came after that of this one last time */
    struct dl_key *started; /* by the last start */
    open_zone *open;
    key_slot *keys;
    uint32_t n_keys, n_key_slots;
    stream_costs *costs;                /* of the launch in hand; NULL: not known */
    uint64_t spent;                     /* own cost of its markers so far, 1/16 cycle */
    uint64_t stalls;                    /* and what of that was stalls, in the launch in hand */
    uint64_t records, spent_on_records; /* of the launch in hand */
    uint64_t change_at; /* of dl_costs.between the next that is not yet spent; UINT64_MAX: there is none */
    bool uneven;        /* zones that are around others, or were, have been lost */
    uint32_t too_deep; /* zones that began behind the open ones and were left out: the next ends are theirs */
    uint64_t stall_start;
    uint64_t first, fw_start; /* stamps of the first mark, and of the firmware's last start */
    held_mark *waiting;       /* what `held` says; or NULL */
    struct record_turns
        *turns; /* what records mean here (pair_records.c), of the codes that came last first */
    struct stream_shape *shapes;  /* a list, by `others` */
    uint16_t n_shapes, fruitless; /* runs since the last of these that were looked at in vain */
    bool first_starts;            /* the first mark of all began the firmware */
    uint64_t first_run;           /* line with which its run begins, in the input .. */
    uint32_t first_source;        /* .. with this name, a text; 0: nobody asks */
    uint64_t first_raw;           /* its stamp as it was recorded */
    open_zone inline_open[INLINE_OPEN];
} stream_state;

typedef struct chip_state {
    uint64_t last, epoch;
    uint32_t header; /* number of the chip line that it has been given */
} chip_state;

/* What waits to be handed on: at most so much before it is, or, when it is collected, of the marks of a call of
 * dl_pair_marks to begin with. */
enum { OUT_RUNS = 128, OUT_EVENTS = 512, OUT_MARKS = 2048 };

typedef struct pair_out {
    dl_run_sink sink; /* runs: NULL: nobody wants them */
    dl_outbox box;    /* which is full, or grows: */
    bool collects;
} pair_out;

struct dl_pair {
    dl_tables *tables;
    dl_losses *losses;
    const char *source;
    const dl_filter *filter;
    bool no_samples, no_counts, no_shapes, subtract_cost;
    size_t open_bytes;
    const dl_marks *batch; /* in hand */
    pair_out out;
    stream_state **streams; /* one allocation each: pointers stay valid */
    uint32_t n_streams;
    chip_state chips[DL_MAX_CHIPS];
    dl_launches launches;
    dl_chip_line chip_line;
    uint32_t header; /* chip lines so far */
    dl_key **key_blocks;
    uint32_t n_keys, n_blocks;
    /* A run that had to be put in order: */
    dl_mark *sorted;
    uint32_t *places, cap_sorted;
    struct pair_shape **shapes; /* lists by hash; NULL: none yet */
    size_t shape_bytes, turn_bytes;
    struct record_room *record_room; /* pair_records.h; NULL: not needed yet */
    uint32_t n_shapes;               /* that have numbers */
    dl_sample_pool pool;
    dl_series_table series;
    dl_zone_counters counters;
    dl_marks rows; /* of dl_pair_rows */
    /* For who puts parts of a log together (pair_absorb.c): */
    uint32_t source_text;                      /* name of the input, when it is asked for; or 0 */
    uint32_t first_stream, last_stream;        /* of all marks; DL_NONE: there was none */
    uint64_t run_line;                         /* with which the run in hand begins, and .. */
    uint64_t lines_before;                     /* .. what of that were lines of files before this one */
    uint64_t unpaired_at[DL_DETAILS_PER_KIND]; /* that of the runs in which zones without an end were told */
    bool times_lost;                           /* of a launch that is not known here (dl_pair_launch_times) */
    dl_sample_pool *pools;                     /* of the parts that have been added */
    uint32_t n_pools;
};

/* A run of marks of one stream, under one set of ids. */
typedef struct pair_run {
    const dl_mark *sorted;  /* in order of time */
    const uint32_t *places; /* of each in the run as it is in the batch, with DL_TORN; NULL: as they are */
    uint32_t at, n;         /* in the batch */
} pair_run;

/* pair_stack.c: pairs a run, mark by mark. */
devlog_status dl_pair_by_stack(dl_pair *p, stream_state *s, const pair_run *run, devlog_error *err);
/* pair_stack.c: one mark, whatever it is. */
devlog_status dl_pair_take(dl_pair *p, stream_state *s, const pair_mark *m, bool torn, devlog_error *err);
/* pair_stack.c: one mark whose stamp has been accepted; `time` is repaired. */
devlog_status dl_pair_accept(dl_pair *p, stream_state *s, const pair_mark *m, uint64_t time, uint8_t flags,
                             devlog_error *err);
/* pair_keys.c: counts a value, a sum or a point in time. */
void dl_pair_count_point(dl_pair *p, const pair_mark *m, uint64_t time, uint32_t launch);
/* The kind of the event that a mark other than the start or end of a zone is. */
extern const uint8_t dl_pair_kinds[DL_ROW_TYPES];
/* pair.c: the state of a stream, made when it is new; NULL: out of memory. */
stream_state *dl_pair_stream(dl_pair *p, uint32_t stream);
devlog_status dl_pair_no_memory(devlog_error *err);
/* pair_cost.c: adds what had been spent until a moment and no mark tells of; only where s->costs is known. */
void dl_pair_spend_between(stream_state *s, uint64_t time);
void dl_pair_free_costs(stream_costs *c);
/* pair_cost.c: adds what a marker cost; only where s->costs is known. */
void dl_pair_spend_rarely(stream_state *s, const dl_kind *kind, uint64_t time);
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
void dl_pair_lose_end(dl_pair *p, const pair_mark *m, uint64_t time, bool of_another);
void dl_pair_lose_negative(dl_pair *p, const pair_mark *m, const open_zone *z, uint64_t time);
void dl_pair_lose_deep(dl_pair *p, const stream_state *s, const pair_mark *m);
void dl_pair_lose_key(dl_pair *p, const pair_mark *m);
void dl_pair_lose_launch(dl_pair *p, uint32_t line);
/* pair_losses.c: what a mark of a loss zone says is added to the losses; returns which it is. */
dl_loss_zone dl_pair_note_loss(dl_pair *p, const pair_mark *m);
bool dl_pair_is_violation(const dl_pair *p, const pair_mark *m);
/* pair_clock.c: a mark whose stamp is not as expected, or the first of its stream. */
devlog_status dl_pair_suspicious(dl_pair *p, stream_state *s, const pair_mark *m, devlog_error *err);
/* pair_clock.c: a mark whose stamp has been repaired already. */
void dl_pair_note_torn(dl_pair *p, const pair_mark *m);
/* pair_clock.c: decides about a mark that still waits at the end. */
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
/* Whether what is wrong at a RISC's mark is told: it is not where only a part of a log is wanted, and read, and this is not of
 * it. */
bool dl_pair_is_told(const dl_pair *p, uint32_t stream, uint64_t time);
/* The same of a mark that is of no launch as yet, by its own ids. */
bool dl_pair_mark_is_told(const dl_pair *p, const pair_mark *m);
void dl_pair_where(const dl_pair *p, uint32_t stream, char out[128]);
/* pair_out.c: hands waiting runs to the sink. */
devlog_status dl_pair_out_flush(dl_pair *p, devlog_error *err);
/* pair_out.c: has a mark that has waited, which is of no batch any more, in a batch of its own, and this in hand;
 * false when out of memory. */
bool dl_pair_out_take_held(dl_pair *p, const held_mark *held, dl_mark *mark);
/* pair_out.c: makes room for one run more with so many events and marks; hands on what is full. */
bool dl_pair_out_room(dl_pair *p, bool full, uint32_t n_events, uint32_t n_marks, devlog_status *status,
                      devlog_error *err);
/* Begins a run with room for so many events and marks; NULL: *status. */
static inline dl_run *dl_pair_out_begin(dl_pair *p, uint32_t stream, uint32_t launch, uint32_t n_events,
                                        uint32_t n_marks, devlog_status *status, devlog_error *err)
{
    dl_outbox *o = &p->out.box;
    bool full = !p->out.collects && (o->n_runs >= OUT_RUNS || o->n_events + n_events > OUT_EVENTS ||
                                     o->n_marks + n_marks > OUT_MARKS);
    const bool fits = !full && o->n_runs < o->cap_runs && n_events <= o->cap_events - o->n_events &&
                      n_marks <= o->cap_marks - o->n_marks;
    if (!fits && !dl_pair_out_room(p, full, n_events, n_marks, status, err)) return NULL;
    dl_run *run = &o->runs[o->n_runs++];
    /* Member by member: for a struct of this size gcc zeroes all of it in a loop first. */
    run->stream = stream;
    run->launch = launch;
    run->n_marks = run->n_events = 0;
    run->marks = NULL;
    run->batch = p->batch;
    run->events = NULL;
    run->items = NULL;
    run->line = run->line_step = 0;
    run->fw_start = run->kernel_start = run->kernel_end = run->fw_end = 0;
    run->has = 0;
    run->unlisted = run->once = false;
    run->shape = 0;
    run->sums = NULL;
    return run;
}
/* pair_out.c: adds the start or the end of a default zone. */
void dl_pair_out_default(dl_run *run, dl_role role, bool start, uint64_t time);

/* A mark of the batch in hand, with what is known about it; `place` there. */
static inline pair_mark dl_pair_look(const dl_pair *p, const dl_mark *mark, uint32_t place)
{
    static const dl_rare nothing;
    const uint64_t code = mark->code;
    const dl_rare *rare = dl_mark_rare(p->batch, code);
    const dl_frame *frame = dl_mark_frame(p->batch, code);
    return (pair_mark){.time = mark->time,
                       .code = code,
                       .kind = &p->tables->kinds[dl_mark_kind(code)],
                       .ids = &frame->ids,
                       .rare = rare ? rare : &nothing,
                       .stream = dl_mark_stream(code),
                       .line = dl_frame_line(frame, place)};
}

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

/* Adds a zone that has closed to its statistics; false when out of memory. */
static inline bool dl_pair_count_zone(bool no_samples, dl_key *k, uint64_t start, uint64_t cycles,
                                      uint32_t launch, bool tells_launch)
{
    if (no_samples) {
        dl_key_count(k, start, cycles);
        return true;
    }
    if (tells_launch) {
        if (launch == k->next_launch && k->run_samples > 1)
            k->next_launch += k->step;
        else if (!dl_key_note_launch(k, launch))
            return false;
    }
    if (cycles >= DL_WIDE || k->samples.at == k->samples.limit) return dl_key_add_sample(k, start, cycles);
    *k->samples.at++ = (uint32_t)cycles;
    return true;
}

/* Whether the filters let a zone through that has closed in a launch which they do, or do not; counted when
 * not. */
static inline bool dl_pair_zone_is_kept(dl_pair *p, const dl_key *k, uint64_t start, uint64_t end,
                                        bool launch_is_kept)
{
    const dl_filter *f = p->filter;
    dl_filter_seen *seen = &p->losses->seen;
    if (k->wanted && launch_is_kept && dl_filter_time(f, start, end)) {
        seen->closed = true;
        if (end - start > seen->longest) seen->longest = end - start;
        if (end - start >= f->min_cycles) return seen->zones = true;
    }
    p->losses->zones_filtered++;
    return false;
}

static inline bool dl_pair_launch_is_kept(const dl_pair *p, uint32_t launch)
{
    return !p->filter || launch == DL_NONE ||
           dl_filter_launch(p->filter, p->tables, &p->launches.items[launch]);
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

/* What the marker of an ordinary mark cost, where it stands, if that is known, or else by what it is; and from
 * RECORDS_SHIFT on whether it is a record. */
static inline uint64_t dl_pair_price(const stream_costs *c, const dl_kind *kind)
{
    const bool end = kind->type == DL_ROW_ZONE_END;
    const uint8_t what = kind->cost % DL_COSTS;
    const uint64_t spent = c->spent[end][what];
    if (c->given.unknown) return spent & ~SPENT; /* nothing is stated or subtracted then */
    if (!kind->price || what == DEVLOG_KIND_SUM) return spent;
    uint32_t by_itself = c->given.marker[0] < kind->price ? c->given.marker[0] : kind->price;
    uint32_t cost = what != DEVLOG_KIND_COMPLETE ? kind->price : end ? kind->price - by_itself : by_itself;
    return (spent & ~SPENT) | cost;
}

/* What a zone under these costs, or none, says of them. */
static inline uint8_t dl_pair_no_cost(const stream_costs *c)
{
    if (!c) return 0;
    if (!c->given.unknown) return c->given.loads ? DL_EVENT_COST_LOADS : 0;
    return c->given.most ? DL_EVENT_NO_COST | DL_EVENT_MOST_COST : DL_EVENT_NO_COST;
}

/* Adds what the marker of a mark cost. */
static inline void dl_pair_spend(stream_state *s, const dl_kind *kind, uint64_t time)
{
    if (s->costs && kind->cost != DL_COST_NONE) dl_pair_spend_rarely(s, kind, time);
}

static inline bool dl_pair_lists_events(const dl_pair *p)
{
    return p->out.sink.wants & DL_WANT_EVENTS;
}

/* Whether runs of a shape may have items instead of events; never when there are filters, which leave some out. */
static inline bool dl_pair_lists_items(const dl_pair *p)
{
    return p->out.sink.wants & DL_WANT_ITEMS && !p->filter;
}

/* Whether nobody looks at single events of a launch; never when there are filters, which leave some out. */
static inline bool dl_pair_needs_no_list(const dl_pair *p, uint32_t launch)
{
    const _Atomic uint32_t *end = p->out.sink.events_end;
    return end && !p->filter && launch != DL_NONE &&
           launch >= atomic_load_explicit(end, memory_order_relaxed);
}

/* The same, and nobody at what they come to. */
static inline bool dl_pair_only_counts(const dl_pair *p, uint32_t launch)
{
    return !p->out.sink.sums && dl_pair_needs_no_list(p, launch);
}

static inline bool dl_pair_lists_marks(const dl_pair *p)
{
    return p->out.sink.wants & DL_WANT_MARKS;
}

/* The run that is being made of this stream and launch, to which more events and marks may be added; NULL: none. A run of a known
 * shape is whole: what closes in it, and its marks, may be lists of the shape and of the batch. */
static inline dl_run *dl_pair_out_in_hand(const dl_pair *p, uint32_t stream, uint32_t launch)
{
    const dl_outbox *o = &p->out.box;
    dl_run *run = o->n_runs ? &o->runs[o->n_runs - 1] : NULL;
    const bool is_of = run && run->stream == stream && run->launch == launch && run->batch == p->batch;
    return is_of && !run->unlisted && !run->shape && !run->items && !run->marks ? run : NULL;
}

/* The same, with room for one more event and one more mark; a new one if there is none. */
static inline dl_run *dl_pair_out_run(dl_pair *p, uint32_t stream, uint32_t launch, devlog_status *status,
                                      devlog_error *err)
{
    const dl_outbox *o = &p->out.box;
    dl_run *run = dl_pair_out_in_hand(p, stream, launch);
    if (run && o->n_events < o->cap_events && o->n_marks < o->cap_marks) return run;
    return dl_pair_out_begin(p, stream, launch, 1, 1, status, err);
}

/* Stamps may step forward this far without a second look; a step of 2^32 or nearly may be a torn read. */
#define CLOCK_LIMIT ((UINT64_C(1) << 32) - (UINT64_C(1) << 28))

#endif
