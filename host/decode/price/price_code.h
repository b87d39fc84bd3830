/* The code of an ELF file, instruction by instruction, on the pipeline that Tenstorrent documents
 * (sim/timing.h): in which cycle each one of a path starts. Values are followed as far as they are constants:
 * the cursor, the stack, the clock, addresses. For price.c; not for running programs (sim/). */
#ifndef DEVLOG_DECODE_PRICE_CODE_H
#define DEVLOG_DECODE_PRICE_CODE_H

#include "base/elf.h"
#include "sim/timing.h"

typedef enum price_part {
    PRICE_RECORD, /* a marker that writes a record */
    PRICE_EVENT,  /* one store to the tile's event stream */
    PRICE_START,  /* reads the clock, for a complete zone or a sum */
    PRICE_PASS,   /* the end of a pass through a sum */
    PRICE_NONE,   /* what markers have out of line */
} price_part;

typedef struct price_marker {
    uint32_t start, end; /* words of the code: [start, end) */
    price_part part;
    uint32_t
        site; /* of the ELF file, two each (price.h), + 1; 0: not known. What begins has that of its end */
    bool unlikely; /* nothing of it was recorded */
} price_marker;

typedef struct price_code {
    sim_cores cores;  /* whose pipeline the code runs on */
    uint32_t base, n; /* of the segment of the file that holds the markers: address, words */
    sim_op *ops;
    uint32_t *marker_at; /* of every word: index + 1 of the marker that it belongs to */
    price_marker *markers;
    uint32_t n_markers;
    uint64_t *jumps; /* jumps within the code that do not belong to markers: target << 32 | source, sorted */
    uint32_t n_jumps;
    uint32_t *tables; /* words that tables in the file's data name: where a switch may lead to */
    uint32_t n_tables;
    uint32_t *switch_at; /* of every word that tables name: index + 1 of the jump that may lead there */
    struct price_rival *rivals; /* price_guess.c */
    uint32_t n_rivals;
    uint8_t *goes_on; /* of every word, a branch by which a loop goes on: PRICE_TAKEN, or not; or 0 */
    /* Two of every word, a marker's branch that is not taken, or taken: how many loops make the frontend guess it
     * wrong. */
    uint8_t *wrong;
    struct price_loops *loops;
    uint32_t *loading; /* of loops that read L1: a load's word */
    uint32_t n_loading;
} price_code;

/* A marker's branch that shares the frontend's counter with one that decides whether a loop goes on. */
typedef struct price_rival {
    uint32_t at, first, last; /* words: of the marker's branch; of the loop */
    bool taken;               /* what the loop's branch does while the loop goes on */
    bool near;                /* the loop is gone around between any two passes */
    bool around;              /* the marker is in it */
} price_rival;

enum { PRICE_WRONG = 254, PRICE_TWICE_WRONG = 255 };
enum { PRICE_TAKEN = 1, PRICE_NOT_TAKEN = 2 };

/* False: no memory, or nothing of it can be priced: no markers, or instructions of 16 bits among them. */
bool price_code_read(const dl_elf *elf, price_code *out);
void price_code_free(price_code *c);

/* price_guess.c: finds what loops go on by, and the rivals. False: no memory. */
bool price_guess(price_code *c);

/* price_loads.c: finds the loops that read L1. False: no memory. And whether one of them was gone around together with a marker that
 * was passed. */
bool price_find_loads(price_code *c);
bool price_has_loads(const price_code *c);

/* A hart on its way through the code. */
typedef struct price_hart {
    sim_cores cores;
    sim_pipe pipe;
    uint64_t now;
    uint64_t known; /* bit i: the value of register i is */
    uint32_t x[SIM_REGS];
    uint32_t at;     /* word */
    uint32_t record; /* the first word of the record that was stored last, without the clock .. */
    uint32_t third;  /* .. its third word .. */
    uint32_t event;  /* .. and what was stored to the event stream */
    bool has_record, has_third, has_event;
} price_hart;

/* At the beginning of a path, with nothing in flight; its records find a place, or they do not. */
void price_hart_begin(price_hart *h, sim_cores cores, bool full);

typedef enum price_step {
    PRICE_GOES_ON,
    PRICE_BRANCH, /* nobody knows which way: h->at is the instruction still, and it has taken its time */
    PRICE_LEAVES  /* for somewhere unknown */
} price_step;

/* One instruction. A pointer that is not known is taken for `base`; 0: for one to L1. */
price_step price_hart_step(const price_code *c, price_hart *h, uint32_t base);

/* The whole marker that h stands at, to its end. False: it does not come there. */
bool price_hart_marker(const price_code *c, price_hart *h, const price_marker *m);

static inline bool price_is_branch(sim_op op)
{
    return op.code >= SIM_OP_BEQ && op.code <= SIM_OP_BGEU;
}

static inline bool price_is_call(sim_op op)
{
    const uint32_t link = 1;
    return (op.code == SIM_OP_JAL || op.code == SIM_OP_JALR) && op.rd == link;
}

/* The words where calls lead to, ascending, the first is 0; to[] has room for n_jumps + 1. Returns how many. */
uint32_t price_find_functions(const price_code *c, uint32_t *to);

/* Which of them, by index, a word belongs to. */
uint32_t price_function_of(const uint32_t *functions, uint32_t n, uint32_t at);

#endif
