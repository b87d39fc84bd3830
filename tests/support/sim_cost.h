/* In which cycle each instruction of a short sequence starts: for the tests of the two cost tables. */
#ifndef DEVLOG_TESTS_SUPPORT_SIM_COST_H
#define DEVLOG_TESTS_SUPPORT_SIM_COST_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/sim.h"

enum { COST_MOST = 160 };

typedef struct cost_sequence {
    uint32_t code[COST_MOST];
    uint32_t n_words;
    uint32_t expected[COST_MOST]; /* start of each instruction */
    uint32_t n_expected;
} cost_sequence;

/* Runs `code` on BRISC, after a0 = a, a1 = b, t0 = L1 data, t1 = local RAM, t2 = registers and enough cycles
 * for these to be out of the way. Fills in, for each instruction that starts, the cycle relative to the
 * first. */
void cost_trace(sim_cores cores, const uint32_t *code, uint32_t n_words, uint32_t a, uint32_t b,
                bool functional, uint32_t *at, uint32_t count);
void cost_check(sim_cores cores, const char *what, const cost_sequence *q, uint32_t a, uint32_t b);

#define WORDS(...)  .code = {__VA_ARGS__}, .n_words = sizeof((uint32_t[]){__VA_ARGS__}) / 4
#define STARTS(...) .expected = {__VA_ARGS__}, .n_expected = sizeof((uint32_t[]){__VA_ARGS__}) / 4
#define COST_CHECK_AB(cores, what, a, b, ...)                                                                \
    do {                                                                                                     \
        const cost_sequence q_ = {__VA_ARGS__};                                                              \
        cost_check(cores, what, &q_, a, b);                                                                  \
    } while (0)

#endif
