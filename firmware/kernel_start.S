/* Start of a kernel: called by the firmware. Sets the kernel's own global pointer, copies and clears its
 * variables, runs kernel_main, records the sums, and returns. tp is the cursor of the records and passes
 * through. */
    .section .text.start, "ax"
    .globl devlog_kernel_start
devlog_kernel_start:
    addi sp, sp, -16
    sw ra, 12(sp)
    sw gp, 8(sp)
    .option push
    .option norelax
    la gp, __global_pointer$
    .option pop

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
4:  call kernel_main
    call devlog_record_sums
    lw gp, 8(sp)
    lw ra, 12(sp)
    addi sp, sp, 16
    ret
