/* Data movement: transposes a matrix. Arguments: address of the matrix, of the result. */
#include <devlog/kernel.h>
#include <devlog/profile.h>

#include "nn.h"

void kernel_main(void)
{
    const int32_t *from = (const int32_t *)(uintptr_t)devlog_arg(0);
    int32_t *to = (int32_t *)(uintptr_t)devlog_arg(1);
    DEVLOG_ZONE("move");
    for (uint32_t row = 0; row < NN_N; row++)
        for (uint32_t column = 0; column < NN_N; column++)
            to[column * NN_N + row] = from[row * NN_N + column];
}
