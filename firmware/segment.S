/* Out of line of every marker: the segment is full, or recording is frozen.
 *
 * Called by `jal t0` from the middle of a marker, so every register but t0 must survive. Returns to t0 when
 * there is a new place (the marker starts again, with a new stamp), and to t0 + 4 when its record is
 * dropped; what to do is decided in C (records.c). */
    .section .text.devlog_segment, "ax"
    .globl devlog_segment_full
devlog_segment_full:
    addi sp, sp, -64
    sw ra, 0(sp)
    sw t0, 4(sp)
    sw t1, 8(sp)
    sw t2, 12(sp)
    sw a0, 16(sp)
    sw a1, 20(sp)
    sw a2, 24(sp)
    sw a3, 28(sp)
    sw a4, 32(sp)
    sw a5, 36(sp)
    sw a6, 40(sp)
    sw a7, 44(sp)
    sw t3, 48(sp)
    sw t4, 52(sp)
    sw t5, 56(sp)
    sw t6, 60(sp)
    mv a0, tp
    call devlog_next_segment
    lw t0, 4(sp)
    bnez a0, 1f
    addi t0, t0, 4
    j 2f
1:  mv tp, a0
2:  lw ra, 0(sp)
    lw t1, 8(sp)
    lw t2, 12(sp)
    lw a0, 16(sp)
    lw a1, 20(sp)
    lw a2, 24(sp)
    lw a3, 28(sp)
    lw a4, 32(sp)
    lw a5, 36(sp)
    lw a6, 40(sp)
    lw a7, 44(sp)
    lw t3, 48(sp)
    lw t4, 52(sp)
    lw t5, 56(sp)
    lw t6, 60(sp)
    addi sp, sp, 64
    jr t0

/* DEVLOG_FREEZE: from here on every marker finds its segment full. */
    .globl devlog_segment_freeze
devlog_segment_freeze:
    addi sp, sp, -64
    sw ra, 0(sp)
    sw t0, 4(sp)
    sw t1, 8(sp)
    sw t2, 12(sp)
    sw a0, 16(sp)
    sw a1, 20(sp)
    sw a2, 24(sp)
    sw a3, 28(sp)
    sw a4, 32(sp)
    sw a5, 36(sp)
    sw a6, 40(sp)
    sw a7, 44(sp)
    sw t3, 48(sp)
    sw t4, 52(sp)
    sw t5, 56(sp)
    sw t6, 60(sp)
    mv a0, tp
    call devlog_freeze_at
    lw t0, 4(sp)
    j 1b
