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
static inline uint32_t dl_pair_count_point_of(const records_in_hand *h, uint32_t place, const uint32_t *w)
{
    const record_turn *turn = &h->turns->others[place];
    if (turn->what <= TURN_COMPLETE) return 0;
    const uint64_t time = time_of(h->of, w[1]) + h->s->epoch;
    uint64_t data = turn->what > TURN_POINT ? w[2] : 0;
    if (turn->what == TURN_VALUE64) data |= (uint64_t)w[3] << 32;
    dl_series_count(&h->p->series.items[turn->series], time, data, 0);
    return 2u + turn->what - TURN_POINT;
}

/* Counts records up to the first that is rare, and opens for good what has begun and not ended; returns where that is. NULL:
 * out of memory. */
const uint32_t *dl_pair_take_recorded(const records_in_hand *h, const uint32_t *w, const uint32_t *end);
/* The same, and hands on what they come to; NULL: *status. */
const uint32_t *dl_pair_sum_recorded(const records_in_hand *h, const uint32_t *w, const uint32_t *end,
                                     devlog_status *status, devlog_error *err);
/* pair_records_list.c: the same, and lists some of them; h->cut: there are more. */
const uint32_t *dl_pair_list_recorded(records_in_hand *h, const uint32_t *w, const uint32_t *end,
                                      devlog_status *status, devlog_error *err);

#endif
