/* What decoding packed logs without their text keeps of a block. Included by packed.c and packed_rows.c only. */
#ifndef DEVLOG_DECODE_PACKED_INTERNAL_H
#define DEVLOG_DECODE_PACKED_INTERNAL_H

#include "decode/log/packed.h"
#include "decode/log/parser_internal.h"
#include "pack/rows.h"

enum {
    NO_CELL = PK_CELLS, /* the log has no such column among the cells */
    FIRST_CELLS = 6,    /* place, timer id and stamp: where every writer has them */
    NO_SHAPE = 1 << 16, /* no frame is in hand */
    TEXT_AT_ONCE = 65536,
    CHAIN = 24, /* templates of a chain at most */
    CALM = 3,   /* rows of a RISC without a change before a chain is made */
};

#define DL_PACKED_MOST_TIME UINT64_C(9999999999999999)

/* What a template's rows become: unknown as yet, marks, or always text. */
typedef enum fate { UNKNOWN, DIRECT, TEXT } fate;

typedef struct meaning {
    uint64_t code;  /* of its marks, without stream and frame */
    uint32_t shape; /* which of the launch ids it has, a bit each */
    uint8_t fate;
    bool ready;   /* its rows are marks without data */
    bool leads;   /* chains count on it that the same template follows it, on the same place, .. */
    bool member;  /* .. and that its numbers are still and its stamps in order */
    uint8_t data; /* the cell of its data, or NO_CELL: nobody wants them, or there are none */
    uint8_t run_id, run_host_id, trace_id, trace_counter; /* the cells of its ids, or NO_CELL */
} meaning;

/* The templates that follow one, as long as they are of one RISC and nothing in their rows but the stamp differs from
 * the row before: what is in the middle of a launch. Good while its RISC's version is. */
typedef struct chain {
    uint32_t version, n;
    uint16_t templates[CHAIN];
    uint64_t codes[CHAIN]; /* of their marks, without stream and frame */
} chain;

struct dl_packed {
    pk_unpacker *unpacker;
    chain *chains;                                        /* by the template before them */
    uint32_t version, versions[PK_RISCS], calm[PK_RISCS]; /* no version comes twice */
    meaning meanings[PK_MAX_TEMPLATES];
    uint32_t n_meanings, n_streams;   /* that the block in hand may have used */
    uint32_t streams[UINT16_MAX + 1]; /* of the block's: number + 1 in dl_tables; 0: unknown */
    dl_header header;                 /* for which the meanings hold */
    bool fits;                        /* rows under it can become marks */
    char *room, *text;                /* lines for the parser, not yet shown */
    size_t n, cap;
    bool skipping; /* the rest of a line that was too long */
    /* The frame in hand, and of what it is. */
    uint64_t frame;
    uint32_t shape, stream;
};

/* Chains of a RISC may be wrong: they are made anew. */
static inline void dl_packed_break_chains(dl_packed *k, uint32_t risc)
{
    k->versions[risc] = ++k->version;
    k->calm[risc] = 0;
}

/* The launch ids of a row, which are in these cells, become those of the frame in hand; false: they are for the parser to
 * judge, or there is no memory. */
bool dl_packed_frame(dl_packed *k, dl_parser *p, const meaning *m, const uint64_t *cells, uint32_t stream);
/* Rows as long as they come as foretold, of RISCs and templates that are known, while there is room for marks: nearly
 * all of a log. They do what pk_rows_step and making a mark of its row do. */
void dl_packed_foretold(dl_packed *k, dl_parser *p, pk_rows *rows);

#endif
