/* Multiplies two matrices; the compute RISCs of a core share the rows. Arguments: address of a, of b, of the
 * product, which of the RISCs this is. */
#include <devlog/kernel.h>
#include <devlog/profile.h>

#include "nn.h"

void kernel_main(void)
{
    const int32_t *a = (const int32_t *)(uintptr_t)devlog_arg(0);
    const int32_t *b = (const int32_t *)(uintptr_t)devlog_arg(1);
    int32_t *product = (int32_t *)(uintptr_t)devlog_arg(2);
    for (uint32_t row = devlog_arg(3); row < NN_N; row += NN_COMPUTE_RISCS) {
        DEVLOG_ZONE("row of product");
        for (uint32_t column = 0; column < NN_N; column++)
            product[row * NN_N + column] = nn_dot(a, b, row, column);
    }
}
