/* The loops of an ELF file's code, and what goes around together in one: for what markers and other instructions do to each other
 * (price_guess.c, price_loads.c). Not for ways through the code (price_table.c, price_around.c). */
#ifndef DEVLOG_DECODE_PRICE_LOOPS_H
#define DEVLOG_DECODE_PRICE_LOOPS_H

#include "decode/price/price_code.h"

enum {
    PRICE_LOOPS_AROUND = 8, /* around a function, by way of its callers */
    PRICE_NO_LOOP = 1       /* of a word that is in none */
};

typedef struct price_around_loops {
    uint32_t n, of[PRICE_LOOPS_AROUND];
} price_around_loops;

typedef struct price_loops {
    uint32_t *loop_of;                /* of every word: number of the outermost loop that it is in */
    uint32_t *inner, n_loops;         /* .. and of the innermost; all are less than that */
    uint32_t *functions, n_functions; /* words where calls lead to, ascending; the first is 0 */
    price_around_loops *around;       /* of every function: the loops that call it */
} price_loops;

/* NULL: no memory. */
price_loops *price_loops_find(const price_code *c);
void price_loops_free(price_loops *l);

/* The next word that may follow one within its function, and *i moves on from 0; false: there are no more. */
bool price_successor(const price_code *c, uint32_t at, uint32_t *i, uint32_t *to);

/* Whether one loop goes through both words. */
bool price_go_around_together(const price_loops *l, uint32_t a, uint32_t b);

#endif
