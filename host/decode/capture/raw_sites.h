/* What is known about the narrow codes of one ELF file, or of none: a table by code, filled as codes are met,
 * so that the ordinary record costs one look. For one pair of ELF file and tables; zero to begin with. */
#ifndef DEVLOG_DECODE_RAW_SITES_H
#define DEVLOG_DECODE_RAW_SITES_H

#include "decode/capture/records.h"

/* The shapes of records that have a short way to statistics. */
enum {
    RAW_UNKNOWN,  /* not looked at yet */
    RAW_START,    /* of a zone: two words, a stamp of 52 bits */
    RAW_END,      /* of the same */
    RAW_COMPLETE, /* a complete zone: three words, a stamp of 52 bits */
    RAW_EVENT,    /* these are nothing but their stamps, and what they cost */
    RAW_VALUE32,
    RAW_COUNTER,
    RAW_VALUE64,
    RAW_OTHER, /* whatever else: no short way */
    RAW_SHAPES,
    RAW_SHAPE = 0x7F,
    RAW_UNNAMED = 0x80, /* besides the shape: the ELF file does not have the code */
};

typedef struct raw_sites {
    uint32_t of_code[DEVLOG_CODE_END]; /* number + 1 in the tables, 0: not yet; of a zone by its even code */
    uint8_t shape[DEVLOG_CODE_END];    /* of the records with this code */
} raw_sites;

/* Words of a record by its shape; 0: has no short way. */
static const uint8_t raw_words[RAW_SHAPES] = {
    [RAW_START] = 2,   [RAW_END] = 2,     [RAW_COMPLETE] = 3, [RAW_EVENT] = 2,
    [RAW_VALUE32] = 3, [RAW_COUNTER] = 3, [RAW_VALUE64] = 4,
};

/* Timer ids of a site's rows, from 16 on: two per site, so that both ends of a zone have one. */
static inline uint32_t raw_timer_id(uint32_t site)
{
    return 16 + 2 * site;
}

#endif
