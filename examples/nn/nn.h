/* What the kernels of the neural network and their host share: square matrices of fixed-point words in L1. */
#ifndef DEVLOG_EXAMPLES_NN_H
#define DEVLOG_EXAMPLES_NN_H

#include <stdint.h>

enum { NN_N = 12, NN_WORDS = NN_N * NN_N, NN_SHIFT = 8, NN_COMPUTE_RISCS = 3 };

/* One element of a product, scaled back. */
static inline int32_t nn_dot(const int32_t *a, const int32_t *b, uint32_t row, uint32_t column)
{
    int32_t sum = 0;
    for (uint32_t k = 0; k < NN_N; k++)
        sum += a[row * NN_N + k] * b[k * NN_N + column];
    return sum >> NN_SHIFT;
}

static inline int32_t nn_row_max(const int32_t *a, uint32_t row)
{
    int32_t most = a[row * NN_N];
    for (uint32_t k = 1; k < NN_N; k++)
        if (a[row * NN_N + k] > most) most = a[row * NN_N + k];
    return most;
}

/* 2^(x / 16) in fixed point, for x up to 0. */
static inline int32_t nn_exp(int32_t x)
{
    uint32_t halvings = (uint32_t)-x / 16;
    return halvings < 16 ? (int32_t)(65536u >> halvings) : 0;
}

#endif
