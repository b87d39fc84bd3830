/* Start of the firmware of every RISC: stack, global pointer, variables, then firmware_main, which does not
 * return. Linked first, at the reset pc. Who comes here a second time is stopped before anything is written:
 * a reset in mid-launch, or a call of a null pointer where this is address 0. */
#include "devlog/order.h"
#include "devlog_board.h"

    .section .text.start, "ax"
    .globl _start
_start:
#if defined(DEVLOG_DATA_CACHE) && DEVLOG_WITHOUT_FENCE != DEVLOG_ORDER_START
    fence
#endif
    .option push
    .option norelax
    la gp, __global_pointer$
    .option pop
    la sp, devlog_stack_top
    mv a0, ra
    call firmware_see_restart

    la a0, devlog_data_start
    la a1, devlog_data_end
    la a2, devlog_data_image
1:  bgeu a0, a1, 2f
    lw t0, 0(a2)
    sw t0, 0(a0)
    addi a0, a0, 4
    addi a2, a2, 4
    j 1b
2:  la a0, devlog_bss_start
    la a1, devlog_bss_end
3:  bgeu a0, a1, 4f
    sw zero, 0(a0)
    addi a0, a0, 4
    j 3b
4:  call firmware_main
5:  j 5b
