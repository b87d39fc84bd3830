/* What the files share that pair ordinary records as they were recorded (decode/recorded.h): pair_records.c, what they mean and
 * what is rare; pair_records_count.c, counting; pair_records_list.c, listing. */
#ifndef DEVLOG_DECODE_PAIR_RECORDS_H
#define DEVLOG_DECODE_PAIR_RECORDS_H

#include "decode/pair/pair_internal.h"

/* What a record of a code is on a stream, where it is not the start or the end of a zone. */
enum { TURN_RARE, TURN_COMPLETE, TURN_POINT, TURN_VALUE32, TURN_VALUE64 };

typedef struct record_turn {
    uint32_t series; /* of a value or a point in time */
    uint8_t what;    /* TURN_* */
} record_turn;

/* By their places (dl_record_codes), from 1; the first is of no code. */
typedef struct record_turns {
    struct record_turns *next;
    const dl_record_codes *codes;
    uint32_t cap;
    bool marks; /* somebody looks at marks of some of the codes */
    /* Statistics of its zone, or of one that ends the byte behind their beginning, so that an end is told from a start, and
     * compared with it, at once; NO_ZONE: it is no zone. */
    char **zones;
    record_turn *others; /* and of complete zones their statistics are in zones[] */
} record_turns;

enum { ENDS = 1, IS_OTHER = 2, KEY_ALIGNED = 64 };
extern _Alignas(KEY_ALIGNED) char dl_pair_no_zone[KEY_ALIGNED];
#define NO_ZONE (dl_pair_no_zone + IS_OTHER)

/* What is known of the launch in hand by the places of codes; there is one for all streams. */
typedef struct record_room {
    uint32_t cap, n_touched;
    uint64_t *prices; /* of a record (dl_pair_price); of complete zones that of the end */
    uint64_t *starts; /* of complete zones that of the start */
    dl_zone_sum *sums, *out;
    uint16_t *touched; /* places of zones that have been summed up */
    dl_run_sums run;
    uint64_t inside[DL_SUMS_DEEP];
} record_room;

/* The records of one launch in hand. */
typedef struct records_in_hand {
    dl_pair *p;
    dl_marks *batch;
    stream_state *s;
    const dl_recorded *of;
    const dl_frame *frame;
    record_turns *turns;     /* NULL: no memory */
    record_room *room;       /* NULL: not needed, or no memory */
    bool looked_at;          /* somebody looks at runs, and .. */
    bool lists, marks;       /* .. at events or marks of ordinary records; at marks */
    bool sums;               /* of events the sums will do */
    bool cut;                /* of what was listed last, more is to come */
    uint64_t spent, records; /* by rare ones, which have told so themselves */
} records_in_hand;

/* Where records go on: words, or planes. It is copied into variables where it goes on with every record: the processor would
 * wait for it to come back from memory. */
typedef struct record_feed {
    const uint32_t *w, *end; /* words; NULL: */
    const uint16_t *head, *heads_end, *more;
    const uint32_t *rest;
    uint32_t low; /* half of the stamp before */
} record_feed;

/* A record, but for its length. */
typedef struct record_read {
    uint32_t code, low;
    const uint32_t *third; /* word; of a complete zone in planes its cycles */
} record_read;

static inline bool feed_ends(const record_feed *f, const bool planes)
{
    return planes ? f->head == f->heads_end : f->w >= f->end;
}

static inline record_read feed_read(const record_feed *f, const bool planes)
{
    if (!planes) return (record_read){f->w[0] & 0xFFF, f->w[1], f->w + 2};
    const uint32_t head = *f->head, more = *f->more;
    const uint32_t *rest = f->rest + (head / RECORD_FAR);
    if (more != RECORD_LONG) return (record_read){head & 0xFFF, f->low + more, rest};
    return (record_read){head & 0xFFF, f->low + *rest, rest + 1};
}

/* Behind a record that has been read, of so many words. */
static inline void feed_on(record_feed *f, const bool planes, const record_read *r, uint32_t words)
{
    if (!planes) {
        f->w += words;
        return;
    }
    f->head++;
    f->more++;
    f->rest = r->third + words - 2;
    f->low = r->low;
}

/* Of a complete zone. */
static inline uint32_t feed_cycles(const record_read *r, const bool planes)
{
    return planes ? *r->third : r->low - *r->third;
}

/* Words that are no record, which a flush was filled up with. */
static inline bool feed_is_padding(const record_feed *f, const bool planes)
{
    return !planes && *f->w == 0;
}

/* A zone that has begun among them. */
typedef struct begun_zone {
    char *zone;   /* as in record_turns.zones */
    uint32_t low; /* half of its stamp */
    /* Where events are listed or summed up: what had been spent on recording, as in open_zone; cycles of the zones inside it that
     * have closed. */
    uint64_t spent, inside;
} begun_zone;

static inline dl_key *key_of(char *zone, int as)
{
    return (dl_key *)(void *)(zone - as);
}

/* The stamp of a record, all of whose neighbours are less than 2^32 cycles away, as its mark would have it. */
static inline uint64_t time_of(const dl_recorded *r, uint32_t low)
{
    return r->from + (uint32_t)(low - (uint32_t)r->from) - r->ahead;
}

/* Whether records that begin with this one go on where the stream is. */
static inline bool dl_pair_records_go_on(const records_in_hand *h, uint32_t low)
{
    const stream_state *s = h->s;
    return h->turns && s->limit == CLOCK_LIMIT && !s->too_deep && dl_same_ids(&h->frame->ids, &s->ids) &&
           time_of(h->of, low) + s->epoch - s->last < CLOCK_LIMIT;
}

/* The first zone at this place. */
static inline void dl_pair_begin_sum(const records_in_hand *h, uint32_t place, const dl_key *key,
                                     uint64_t start)
{
    record_room *room = h->room;
    if (!room->n_touched) room->run.start = start;
    room->touched[room->n_touched++] = (uint16_t)place;
    room->sums[place] = (dl_zone_sum){.site = key->site, .min = UINT64_MAX};
}

/* Opens for good the zones that have begun. There is room for them. */
static inline void keep_open(const records_in_hand *h, const begun_zone *zones, const begun_zone *end)
{
    stream_state *s = h->s;
    for (; zones < end; zones++)
        s->open[s->n_open++] = (open_zone){.start = time_of(h->of, zones->low) + s->epoch,
                                           .key = key_of(zones->zone, 0),
                                           .spent = h->lists ? zones->spent : s->spent,
                                           .site = key_of(zones->zone, 0)->site,
                                           .launch = s->launch,
                                           .line = h->frame->line};
}

/* pair_records_count.c: counts a zone of so many cycles that ends with this stamp, where there is no room for the sample. False:
 * out of memory. */
bool dl_pair_count_recorded(const records_in_hand *h, dl_key *key, uint32_t cycles, uint32_t low);
/* The same of a value or a point in time; returns its words, 0: it is rare. `place` is of its code. */
static inline uint32_t dl_pair_count_point_of(const records_in_hand *h, uint32_t place, const record_read *r)
{
    const record_turn *turn = &h->turns->others[place];
    if (turn->what <= TURN_COMPLETE) return 0;
    const uint64_t time = time_of(h->of, r->low) + h->s->epoch;
    uint64_t data = turn->what > TURN_POINT ? r->third[0] : 0;
    if (turn->what == TURN_VALUE64) data |= (uint64_t)r->third[1] << 32;
    dl_series_count(&h->p->series.items[turn->series], time, data, 0);
    return 2u + turn->what - TURN_POINT;
}

/* Counts records up to the first that is rare, where the feed is then, and opens for good what has begun and not ended. */
devlog_status dl_pair_take_recorded(const records_in_hand *h, record_feed *f, devlog_error *err);
/* The same, and hands on what they come to. */
devlog_status dl_pair_sum_recorded(const records_in_hand *h, record_feed *f, devlog_error *err);
/* pair_records_shape.c: counts all of them by their shape. False: something is rare among them, or there is no shape; or out of
 * memory, which *status says. */
bool dl_pair_take_shape(const records_in_hand *h, devlog_status *status, devlog_error *err);
/* pair_records_count.c: hands on what has been summed up of so many events; room->inside has `n_inside`. */
devlog_status dl_pair_hand_on_sums(const records_in_hand *h, uint32_t n_inside, uint32_t n_events,
                                   uint32_t depth, devlog_error *err);
/* pair_records.c: whether the records that follow need only be summed up. */
bool dl_pair_records_sum_up(const records_in_hand *h);
/* pair_records_list.c: the same, and lists some of them; h->cut: there are more. */
devlog_status dl_pair_list_recorded(records_in_hand *h, record_feed *f, devlog_error *err);

#endif
