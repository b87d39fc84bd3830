/* Runs a program of markers that the host wrote to L1: one word per step, so that one binary can make any
 * sequence. Arguments: address of the program, number of steps. Step: operation | site << 8 | operand << 16.
 */
#include <devlog/kernel.h>
#include <devlog/profile.h>

#include "marker_vm.h"

/* Eight sites of each kind; the macros need a place in the source each. */
#define EACH(M) M(0) M(1) M(2) M(3) M(4) M(5) M(6) M(7)
#define CASES(M)                                                                                             \
    switch (site) {                                                                                          \
        EACH(M)                                                                                              \
    }

/* A zone that is begun in one step and ended in another: BEGIN and END must share a site, so both are in one
 * function and the step says which to do. */
#define ZONE(i)                                                                                              \
    case i:                                                                                                  \
        DEVLOG_ZONE_SITE_(DEVLOG_CAT_(90, i), 0, "zone " #i);                                                \
        if (operation == VM_ZONE_BEGIN)                                                                      \
            DEVLOG_EMIT_BEGIN_(DEVLOG_CAT_(90, i), 0);                                                       \
        else                                                                                                 \
            DEVLOG_EMIT_END_(DEVLOG_CAT_(90, i), 0);                                                         \
        break;

static void zone(uint32_t operation, uint32_t site)
{
    CASES(ZONE)
}

static void delay(uint32_t cycles)
{
    for (volatile uint32_t i = 0; i < cycles; i++) {
    }
}

#define SCOPED(i)                                                                                            \
    case i: {                                                                                                \
        DEVLOG_ZONE("scoped " #i);                                                                           \
        delay(operand & 15);                                                                                 \
        break;                                                                                               \
    }
#define COMPLETE(i)                                                                                          \
    case i: {                                                                                                \
        DEVLOG_ZONE_COMPLETE("complete " #i);                                                                \
        delay(operand & 15);                                                                                 \
        break;                                                                                               \
    }
#define SUM(i)                                                                                               \
    case i: {                                                                                                \
        DEVLOG_ZONE_SUM("sum " #i);                                                                          \
        delay(operand & 15);                                                                                 \
        break;                                                                                               \
    }
#define EVENT(i)                                                                                             \
    case i:                                                                                                  \
        DEVLOG_EVENT("event " #i);                                                                           \
        break;
#define VALUE(i)                                                                                             \
    case i:                                                                                                  \
        DEVLOG_VALUE("value " #i, operand);                                                                  \
        break;
#define VALUE64(i)                                                                                           \
    case i:                                                                                                  \
        DEVLOG_VALUE64("value64 " #i, (uint64_t)operand << 32 | ~operand);                                   \
        break;
#define COUNTER(i)                                                                                           \
    case i: DEVLOG_COUNTER("counter " #i, operand); break;

static void print(uint32_t site, uint32_t operand)
{
    switch (site) {
    case 0: DEVLOG_PRINTF("print 0"); break;
    case 1: DEVLOG_PRINTF("print %u", operand); break;
    case 2: DEVLOG_PRINTF("print %u %u", operand, operand + 1u); break;
#if defined(MARKER_VM_SMALL) /* records of 20 bytes at most */
    default: DEVLOG_PRINTF("print no %u %u", operand, 7u); break;
#else
    default: DEVLOG_PRINTF("print %u %u %u %u %u %u %u %u", operand, 1u, 2u, 3u, 4u, 5u, 6u, 7u); break;
#endif
    }
}

void kernel_main(void)
{
    const uint32_t *step = (const uint32_t *)(uintptr_t)devlog_arg(0);
    for (uint32_t n = devlog_arg(1); n > 0; n--, step++) {
        uint32_t operation = *step & 0xFF, site = *step >> 8 & 7, operand = *step >> 16;
        switch (operation) {
        case VM_ZONE_BEGIN:
        case VM_ZONE_END: zone(operation, site); break;
        case VM_SCOPED: CASES(SCOPED) break;
        case VM_COMPLETE: CASES(COMPLETE) break;
        case VM_SUM: CASES(SUM) break;
        case VM_EVENT: CASES(EVENT) break;
        case VM_VALUE: CASES(VALUE) break;
        case VM_VALUE64: CASES(VALUE64) break;
        case VM_COUNTER: CASES(COUNTER) break;
        case VM_PRINT: print(site, operand); break;
        case VM_DELAY: delay(operand); break;
        case VM_FREEZE: DEVLOG_FREEZE(); break;
#if defined(MARKER_VM_MORE)
            MARKER_VM_MORE
#endif
        default: break;
        }
    }
}
