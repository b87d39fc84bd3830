/* Recorded: the ordinary records of one RISC and launch, as the device wrote them (devlog/record.h). Where
 * statistics are all that is wanted they are counted as they are (pair/pair_records.c), and no mark is made of
 * any. Not for records of other kinds, nor for damage: of those there are marks (capture/raw_marks.h). */
#ifndef DEVLOG_DECODE_RECORDED_H
#define DEVLOG_DECODE_RECORDED_H

#include <stdbool.h>
#include <stdint.h>

#include "devlog/record.h"

/* One run of words: a segment, or what was streamed. */
typedef struct record_span {
    const uint32_t *words;
    uint32_t n;
} record_span;

/* Whole records as a frame of a capture has them (capture/capture_words.h): a head and a low half each, and the rest. */
typedef struct record_planes {
    const uint16_t *heads, *lows;
    const uint32_t *rest;
    uint32_t n;    /* records */
    uint32_t last; /* low half of the stamp before them */
} record_planes;

enum { RECORD_FAR = 0x8000, RECORD_LONG = 0xFFFF }; /* a head, a low half, of which more is in the rest */

/* Records of zones alone, all of which begin and end among them, by their heads: the same kernel leaves the same again and again. */
typedef struct record_shape {
    struct record_shape *then; /* came behind this one last time */
    uint64_t hash;             /* of the heads but the first */
    uint32_t n, n_codes, depth;
    const uint16_t *heads;
    const uint16_t *codes;  /* in the order in which they come */
    const uint32_t *counts; /* how many there are of each */
    const struct record_zone {
        uint16_t start, end; /* places of its records */
    } * zones;               /* those of one code one behind the other, in order of their ends */
    const struct record_group {
        uint32_t code, n; /* of the start; zones */
        uint32_t around;  /* number of the group in whose zones they are; n_groups: in none */
    } * groups;
    uint32_t n_groups;
    bool uneven; /* zones of one code are in those of several */
} record_shape;

/* Records that have a short way. */
enum {
    DL_RECORD_UNKNOWN, /* the code has not been met yet */
    DL_RECORD_ZONE,    /* the start or the end of a zone: two words, a stamp of 52 bits */
    DL_RECORD_EVENT,   /* the same, but any code */
    DL_RECORD_COMPLETE,
    DL_RECORD_VALUE,
    DL_RECORD_OTHER, /* whatever else: no short way */
};

/* What is known about a narrow code. */
typedef struct dl_record_code {
    uint64_t code;  /* of its mark (mark.h), but for stream and frame; of a complete zone that of the end */
    uint64_t start; /* of a complete zone that of the start */
    uint32_t meta;  /* a text that all its marks have, 0: none */
    uint8_t way;    /* DL_RECORD_* */
    uint8_t words;  /* of the record */
} dl_record_code;

/* The narrow codes of one ELF file, or of none, filled as they are met, so that the ordinary record costs one
 * look. For one pair of ELF file and tables; zero to begin with. */
typedef struct dl_record_codes {
    dl_record_code of[DEVLOG_CODE_END];
    /* Of those that have a short way, from 1, in the order in which they were met; 0: it has none. */
    uint16_t place[DEVLOG_CODE_END];
    uint32_t n; /* of those */
} dl_record_codes;

/* Whole, of codes that have a short way, in order of time, between the start and the end of the kernel, which
 * are less than 2^32 - 2^28 cycles apart; no stamp may be torn, and no complete zone is around other records. */
typedef struct dl_recorded {
    uint32_t at; /* they are behind so many marks of the batch */
    uint32_t n;  /* marks that they are; 0: there are none */
    const record_span *spans;
    uint32_t n_spans;
    const record_planes
        *planes; /* one for each span, whose words then need not be there; NULL: the words are read */
    const record_shape *shape; /* of all of them, when it is known, ..*/
    const uint32_t *stamps;    /* .. and then the low half of the stamp of each */
    const dl_record_codes *codes;
    const uint16_t *seen; /* codes among them, .. */
    uint32_t n_seen;
    const uint32_t *counts; /* .. and by code how many there are of each */
    uint64_t common;        /* what the codes of all marks have in common: stream and frame */
    uint64_t from;          /* when the kernel began, as it was recorded */
    uint64_t ahead;         /* cycles that are taken from all stamps */
    bool no_meta;           /* nobody wants meta data */
} dl_recorded;

#endif
