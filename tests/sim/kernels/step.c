/* One number, and as many variables: all that two builds of this differ in, for code that is replaced. The first instructions of a
 * kernel, which copy its variables, differ with their number. Argument 0: where the result goes. */
#include <devlog/kernel.h>

#ifndef STEP
#define STEP 1
#endif

static volatile uint32_t table[STEP] = {[STEP - 1] = STEP};

void kernel_main(void)
{
    volatile uint32_t *word = (volatile uint32_t *)(uintptr_t)devlog_arg(0);
    *word = *word * 16 + table[STEP - 1];
}
