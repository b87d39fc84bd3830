/* Out of line of every marker: the segment is full, or recording is frozen.
 *
 * Called by `jal t0` from the middle of a marker. The marker has no use for t0 and t1 behind its call; every
 * other register must survive. Returns to t0 when its record is dropped, and to t0 + 4 when it is to start
 * again, with a new stamp: there is a new place. What to do with a full segment is decided in C (segment.c);
 * that a record is dropped, and counted, when there is no place any more, takes six instructions here
 * (devlog/record.h, "Counting drops"). */
#include "devlog_board.h"

/* devlog_drops_low() of devlog/record.h */
#if DEVLOG_SEGMENT_BITS < 11
#define DROPS_LOW (DEVLOG_SEGMENT_BITS - 2)
#else
#define DROPS_LOW 9
#endif

    .macro READ_CLOCK /* its low half, to t1 */
#if defined(DEVLOG_CLOCK_CSR)
    .insn i 0x73, 2, t1, x0, -1280 /* csrr t1, mcycle */
#else
    lui t1, %hi(devlog_clock_low)
    lw t1, %lo(devlog_clock_low)(t1)
#endif
    .endm

    .section .text.devlog_machine, "ax"
/* A complete zone's place to call; it costs more, and so is counted. */
    .globl devlog_segment_full_complete
devlog_segment_full_complete:
    slli t1, tp, 31 - DROPS_LOW
    bltz t1, 2f

    .globl devlog_segment_full
devlog_segment_full:
    slli t1, tp, 31 - DROPS_LOW
    bltz t1, 1f

    READ_CLOCK
    addi sp, sp, -64
    sw ra, 0(sp)
    sw t0, 4(sp)
    sw t2, 8(sp)
    sw a0, 12(sp)
    sw a1, 16(sp)
    mv a1, t1
    sw a2, 20(sp)
    sw a3, 24(sp)
    sw a4, 28(sp)
    sw a5, 32(sp)
    sw a6, 36(sp)
    sw a7, 40(sp)
    sw t3, 44(sp)
    sw t4, 48(sp)
    sw t5, 52(sp)
    sw t6, 56(sp)
    mv a0, tp
    call devlog_next_segment
    mv tp, a0
    lw t0, 4(sp)
    slli t1, tp, 31 - DEVLOG_SEGMENT_BITS
    bltz t1, 3f
    addi t0, t0, 4
3:  lw ra, 0(sp)
    lw t2, 8(sp)
    lw a0, 12(sp)
    lw a1, 16(sp)
    lw a2, 20(sp)
    lw a3, 24(sp)
    lw a4, 28(sp)
    lw a5, 32(sp)
    lw a6, 36(sp)
    lw a7, 40(sp)
    lw t3, 44(sp)
    lw t4, 48(sp)
    lw t5, 52(sp)
    lw t6, 56(sp)
    addi sp, sp, 64
    jr t0

/* Who counts on already. One comes here by branches that are taken, as those of markers that come to segment_full
 * are: branches that share a counter of the frontend then agree. */
1:  lui t1, %hi(devlog_dropping)
    sw tp, %lo(devlog_dropping)(t1)
    addi tp, tp, 1
    jr t0

2:  lui t1, %hi(devlog_dropping)
    sw tp, %lo(devlog_dropping)(t1)
    lui t1, 1 << (19 - DROPS_LOW)
    addi t1, t1, 1
    add tp, tp, t1
    jr t0

/* DEVLOG_FREEZE: from here on every marker finds its segment full. */
    .globl devlog_segment_freeze
devlog_segment_freeze:
    READ_CLOCK
    addi sp, sp, -64
    sw ra, 0(sp)
    sw t0, 4(sp)
    sw t2, 8(sp)
    sw a0, 12(sp)
    sw a1, 16(sp)
    mv a1, t1
    sw a2, 20(sp)
    sw a3, 24(sp)
    sw a4, 28(sp)
    sw a5, 32(sp)
    sw a6, 36(sp)
    sw a7, 40(sp)
    sw t3, 44(sp)
    sw t4, 48(sp)
    sw t5, 52(sp)
    sw t6, 56(sp)
    mv a0, tp
    call devlog_freeze_at
    mv tp, a0
    lw t0, 4(sp)
    j 3b

#if defined(PROFILE_DEVICE)
/* Where all of this is, as for every marker (devlog/record.h): it cannot be switched off. */
    .pushsection .devlog.patch, "", @progbits
    .4byte devlog_machine_start, devlog_machine_end, 255
    .popsection
#endif
