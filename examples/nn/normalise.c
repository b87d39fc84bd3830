/* Second half of a softmax: exponentials that sum up to 1 in each row. Argument: address of the matrix. */
#include <devlog/kernel.h>
#include <devlog/profile.h>

#include "nn.h"

void kernel_main(void)
{
    int32_t *a = (int32_t *)(uintptr_t)devlog_arg(0);
    for (uint32_t row = 0; row < NN_N; row++) {
        DEVLOG_ZONE("normalise row");
        int32_t sum = 0;
        for (uint32_t k = 0; k < NN_N; k++)
            sum += a[row * NN_N + k] = nn_exp(a[row * NN_N + k]);
        for (uint32_t k = 0; k < NN_N; k++)
            a[row * NN_N + k] = (a[row * NN_N + k] << NN_SHIFT) / sum;
    }
}
