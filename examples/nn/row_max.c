/* First half of a softmax: subtracts from each row its largest element. Argument: address of the matrix. */
#include <devlog/kernel.h>
#include <devlog/profile.h>

#include "nn.h"

void kernel_main(void)
{
    int32_t *a = (int32_t *)(uintptr_t)devlog_arg(0);
    for (uint32_t row = 0; row < NN_N; row++) {
        DEVLOG_ZONE("reduce row");
        int32_t most = nn_row_max(a, row);
        for (uint32_t k = 0; k < NN_N; k++)
            a[row * NN_N + k] -= most;
    }
}
