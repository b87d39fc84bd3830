/* Series: what values, sums and points in time come to, by name, on each RISC. Zones have keys (pair.h); what
 * is no zone is counted here, so that nothing that a program recorded is in no table. Not for single values:
 * those are events (event.h). */
#ifndef DEVLOG_DECODE_SERIES_H
#define DEVLOG_DECODE_SERIES_H

#include "base/str.h"
#include "decode/event.h"
#include "decode/samples.h"

enum { DL_MAX_SERIES = 256 * 1024, DL_MAX_MESSAGES = 64 * 1024 };

/* What meta data say of a series, or the record of a capture. */
typedef enum dl_series_what {
    DL_SERIES_PLAIN,
    DL_SERIES_COUNTER, /* values that are levels: {"counter":1} */
    DL_SERIES_TEXT,    /* points in time with text: {"text":"..."} */
} dl_series_what;

typedef struct dl_series {
    uint32_t stream, site;
    dl_event_kind kind;      /* DL_EVENT_VALUE, DL_EVENT_SUM or DL_EVENT_POINT */
    uint64_t count;          /* rows: values, points, and of sums one for each launch */
    uint64_t last, min, max; /* of their data; 0 for points. The last is the last in time. */
    uint64_t last_time;
    dl_u128 sum;                /* of their data */
    uint64_t passes;            /* of sums: how often what is summed up was passed; 0: the log does not say */
    uint64_t shortest, longest; /* of sums with passes: in meta data; otherwise UINT64_MAX and 0 */
    dl_series_what what;
} dl_series;

/* One message of a kernel. */
typedef struct dl_message {
    uint64_t time; /* cycles */
    uint32_t stream, site, launch;
    uint32_t meta; /* text: {"text":"..."} */
} dl_message;

/* Zero-initialised is empty. */
typedef struct dl_series_table {
    dl_series *items;
    uint32_t n, cap;
    uint32_t *slots, n_slots; /* hash table by stream, site and kind: number + 1 */
    dl_message *messages;     /* the first DL_MAX_MESSAGES, in the order in which they came */
    uint32_t n_messages, cap_messages;
    uint64_t more_messages; /* that are not kept */
} dl_series_table;

void dl_series_free(dl_series_table *t);
/* Adds one row: its series, or NULL when out of memory, or when there are too many to keep apart. */
dl_series *dl_series_add(dl_series_table *t, uint32_t stream, uint32_t site, dl_event_kind kind,
                         uint64_t time, uint64_t data, uint64_t passes);

/* Adds what a later part of the log has come to: a series of its table, on this stream and site. False: out of memory, or
 * there are too many to keep apart. */
bool dl_series_absorb(dl_series_table *t, const dl_series *later, uint32_t stream, uint32_t site);
/* Keeps a message, or counts it when there are too many. */
void dl_series_keep(dl_series_table *t, const dl_message *message);

/* Whether meta data (n bytes) is one of those that a series is told by. */
bool dl_series_meta(const char *meta, size_t n);
/* What they say of the series that the last row was of: `meta` is a text of the tables, `text` is itself. */
void dl_series_tell(dl_series_table *t, dl_series *s, const char *text, const dl_message *message);
/* The text of a message, or of any meta data that holds one: appended to *out. False: it holds none. */
bool dl_meta_text(const char *meta, dl_str *out);

/* The same for a series that is there. */
static inline void dl_series_count(dl_series *s, uint64_t time, uint64_t data, uint64_t passes)
{
    if (data < s->min) s->min = data;
    if (data > s->max) s->max = data;
    if (time >= s->last_time) {
        s->last = data;
        s->last_time = time;
    }
    s->count++;
    s->sum += data;
    s->passes += passes;
}
/* The number of a series in its table; DL_NONE: it is not there. */
uint32_t dl_series_number(const dl_series_table *t, uint32_t stream, uint32_t site, dl_event_kind kind);

#endif
