/* marker_vm.c with steps that damage what it records: stores into its own region, a cursor that is moved, a
 * call of a null pointer, a hang. The host finds none of the instructions that move the cursor: they are no
 * function to the linker. */
#include "devlog_board.h"
#include "marker_vm.h"

#include <devlog/record.h>

#define REGION (DEVLOG_PROFILER + DEVLOG_RISC * DEVLOG_REGION_BYTES(DEVLOG_SEGMENT_BITS))

void damage_move_cursor(uint32_t to);
uint32_t damage_cursor(void);
__asm__(".pushsection .text,\"ax\"\n"
        "damage_move_cursor: mv tp,a0\n\tret\n"
        "damage_cursor: mv a0,tp\n\tret\n"
        ".popsection");

/* Words of a pattern over the region from `word` on. */
static void overwrite(uint32_t how, uint32_t word)
{
    static const uint8_t lengths[] = {1, 2, 3, 6, 12, 24, 48, 100};
    uint32_t n = lengths[how & 7], random = word * 2654435761u + how;
    volatile uint32_t *to = (volatile uint32_t *)(uintptr_t)(REGION + 4 * word);
    for (uint32_t i = 0; i < n && word + i < DEVLOG_REGION_BYTES(DEVLOG_SEGMENT_BITS) / 4; i++) {
        random = random * 1664525u + 1013904223u;
        switch (how >> 3) {
        case 0: to[i] = 0; break;
        case 1: to[i] = 0xDEADBEEFu; break;
        case 2: to[i] = i; break;
        case 3: to[i] = random; break;
        case 4: to[i] = ~to[i]; break;
        case 5: to[i] = to[i] ^ 1u << (random >> 27); break;
        case 6: to[i] = ((volatile uint32_t *)(uintptr_t)REGION)[i]; break; /* older records again */
        default: to[i] = random >> 20; break;
        }
    }
}

static void move_cursor(uint32_t how, uint32_t operand)
{
    uint32_t tp = damage_cursor();
    switch (how & 7) {
    case 0: tp -= operand & 0xFC; break;
    case 1: tp += operand & 0xFC; break;
    case 2: tp = REGION + (operand & 0x1FFC); break;
    case 3: tp = REGION; break;
    case 4: tp = DEVLOG_USER_BASE + 0x8000 + (operand & 0x7FFC); break;
    case 5: tp = tp - 8; break;
    default: tp = REGION + ((tp - REGION) ^ DEVLOG_SEGMENT_STRIDE(DEVLOG_SEGMENT_BITS)); break;
    }
    damage_move_cursor(tp & ~3u); /* while records are dropped it counts, and is odd */
}

#define MARKER_VM_MORE                                                                                       \
    case VM_OVERWRITE: overwrite(*step >> 8 & 63, operand & 0x7FF); break;                                   \
    case VM_MOVE_CURSOR: move_cursor(site, operand); break;                                                  \
    case VM_CALL_NULL: ((void (*)(void))(uintptr_t)operand)(); break;                                        \
    case VM_HANG:                                                                                            \
        for (;;) {                                                                                           \
        }

#include "marker_vm.c"
