/* Raw records: the words that markers wrote to L1 (devlog/record.h) as events in the order of their time.
 *
 * Tolerates everything: cut records, words that were overwritten, codes without a name. What is not a whole
 * record is counted and the rest is kept. Not for pairing: an event is one end of a zone. */
#ifndef DEVLOG_DECODE_RECORDS_H
#define DEVLOG_DECODE_RECORDS_H

#include "base/elf.h"
#include "decode/recorded.h"

typedef struct record_event {
    uint8_t kind;                       /* DEVLOG_KIND_*; the end of a zone is DEVLOG_KIND_ZONE_END */
    bool stall;                         /* a flush held the RISC up: from start to time */
    bool wide;                          /* code is a wide id */
    uint16_t n_args;                    /* words of payload of a print */
    uint32_t code;                      /* of the site; for the end of a zone that of its beginning */
    const dl_elf_site *site;            /* NULL when the ELF file has none */
    uint64_t time;                      /* cycles; of a complete zone its end */
    uint64_t start;                     /* complete zones and stalls: where they begin */
    uint64_t value;                     /* values and counters; sums: total */
    uint32_t passes, shortest, longest; /* sums */
    const uint32_t *args;               /* prints; points into the words */
    const uint32_t *words;              /* the record itself */
} record_event;

/* What was found besides whole records. */
typedef struct record_losses {
    uint32_t damaged_words; /* words that belong to no plausible record; zeros where none should be */
    uint32_t cut;           /* a last record that lacks words */
    uint32_t torn;          /* stamps that were 2^32 off and repaired */
    uint32_t ambiguous;     /* stamps that may be 2^32 off: nothing near enough decides */
    uint32_t unnamed;       /* records whose site the ELF file does not have */
} record_losses;

typedef struct record_input {
    const record_span *spans; /* in the order in which they were written */
    uint32_t n_spans;
    bool padded;       /* the first span was streamed: zeros fill it up to whole flits */
    const dl_elf *elf; /* may be NULL */
    bool stamp32;      /* records without a site: whether their stamps have 32 bits */
    uint64_t from;     /* no record is older (kernel start), full width */
    uint64_t until;    /* none is younger (kernel end), or 0 when unknown */
} record_input;

typedef devlog_status record_fn(void *context, const record_event *event, devlog_error *err);

/* Words of zeros at `at` of a streamed span that fill a flush up to whole flits; 0: they are no padding. */
uint32_t record_padding(const record_span *span, uint32_t at);

/* Calls fn for every record, in the order in which they were written. *losses is added to. */
devlog_status records_decode(const record_input *in, record_fn *fn, void *context, record_losses *losses,
                             devlog_error *err);

/* Length in words of the record that begins at words[0], of n words: 0 when it is cut or no record. */
uint32_t record_words(const uint32_t *words, uint32_t n);

/* The record at words[0] when it is whole and plausible behind `last` and needs no repair: its length in
 * words; otherwise 0. For callers who have nothing else to do with damage than to leave all to
 * records_decode. */
uint32_t record_read(const record_input *in, const uint32_t *words, uint32_t n, uint64_t last,
                     record_event *event);

/* The 52-bit stamp of the record that begins at words[0]. */
static inline uint64_t record_stamp(const uint32_t words[2])
{
    uint32_t high = (words[0] >> 12) + (words[0] >> 11 & 1); /* a negative code borrowed */
    return (uint64_t)(high & 0xFFFFF) << 32 | words[1];
}

/* A marker reads the high half of the clock and then the low half. When that wraps in between, the stamp is
 * 2^32 too early, which shows where the record before has a later one, and its low half is small: */
enum { RECORD_TORN_WINDOW = 64 }; /* the longest documented load latency, with room */

static inline uint64_t record_untorn(uint64_t time, uint64_t last)
{
    uint64_t later = time + (UINT64_C(1) << 32);
    return time < last && (uint32_t)time < RECORD_TORN_WINDOW && later >= last ? later : time;
}

/* record_stamp() where the code is that of a zone, which is not negative. */
static inline uint64_t record_zone_stamp(const uint32_t words[2])
{
    return (uint64_t)(words[0] & ~0xFFFu) << 20 | words[1];
}

#endif
