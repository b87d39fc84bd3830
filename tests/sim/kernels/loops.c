/* Loops with markers in them, as programs have them: one of many, around one of several kinds of work.
 * Arguments: which loop, how often it goes around, how much work is in it, address of 64 words. */
#include <devlog/kernel.h>
#include <devlog/profile.h>

#include "loops.h"

static volatile uint32_t result;

/* Work that takes little and much of what markers take too: the pipeline alone, variables on the stack, L1.
 */
#define REGISTERS                                                                                            \
    for (uint32_t i = 0; i < work; i++)                                                                      \
        __asm__ __volatile__("addi %0,%0,3\n\tslli %0,%0,1\n\txori %0,%0,21" : "+r"(x));
#define STACK                                                                                                \
    for (uint32_t i = 0; i < work; i++)                                                                      \
        own[i & 15] += x;
#define LOADS                                                                                                \
    for (uint32_t i = 0; i < work; i++)                                                                      \
        x += shared[(i + x) & 63];
#define STORES                                                                                               \
    for (uint32_t i = 0; i < work; i++)                                                                      \
        shared[i & 63] = x + i;
#define DIVIDES                                                                                              \
    for (uint32_t i = 0; i < work; i++)                                                                      \
        x = x * 77u / (i + 3u) + 1u;

#define AROUND(marker, WORK)                                                                                 \
    {                                                                                                        \
        marker;                                                                                              \
        WORK                                                                                                 \
    }
/* Every kind of marker with one kind of work. */
#define KINDS(first, name, WORK)                                                                             \
    LOOP(first + 0, AROUND(DEVLOG_ZONE(name " zone"), WORK))                                                 \
    LOOP(first + 1, AROUND(DEVLOG_ZONE_COMPLETE(name " complete"), WORK))                                    \
    LOOP(first + 2, AROUND(DEVLOG_ZONE_SUM(name " sum"), WORK))                                              \
    LOOP(first + 3, AROUND(DEVLOG_EVENT(name " event"), WORK))                                               \
    LOOP(first + 4, AROUND(DEVLOG_VALUE(name " value", x), WORK))                                            \
    LOOP(first + 5, AROUND(DEVLOG_VALUE64(name " value 64", (uint64_t)x * 5u), WORK))                        \
    LOOP(first + 6, AROUND(DEVLOG_PRINTF(name " %u %u", x, n), WORK))                                        \
    LOOP(first + 7, {                                                                                        \
        DEVLOG_ZONE_COMPLETE(name " outer");                                                                 \
        WORK if (x & 1)                                                                                      \
        {                                                                                                    \
            DEVLOG_ZONE_SUM(name " odd");                                                                    \
            WORK                                                                                             \
        }                                                                                                    \
        else                                                                                                 \
        {                                                                                                    \
            DEVLOG_ZONE(name " even");                                                                       \
            WORK DEVLOG_COUNTER(name " counter", x);                                                         \
        }                                                                                                    \
    })                                                                                                       \
    /* What is recorded first is not like what is dropped later. */                                          \
    LOOP(first + 8, {                                                                                        \
        WORK if (n > often - often / 4)                                                                      \
        {                                                                                                    \
            DEVLOG_EVENT(name " first");                                                                     \
            DEVLOG_EVENT(name " second");                                                                    \
        }                                                                                                    \
        else                                                                                                 \
        {                                                                                                    \
            DEVLOG_ZONE_COMPLETE(name " later");                                                             \
            WORK                                                                                             \
        }                                                                                                    \
    })

#define LOOP(number, ...)                                                                                    \
    case number:                                                                                             \
        for (uint32_t n = often; n > 0; n--)                                                                 \
            __VA_ARGS__                                                                                      \
        break;

void kernel_main(void)
{
    uint32_t which = devlog_arg(0), often = devlog_arg(1), work = devlog_arg(2), x = often;
    uint32_t own[16] = {0};
    uint32_t *shared = (uint32_t *)(uintptr_t)devlog_arg(3);
    switch (which) {
        KINDS(0, "registers", REGISTERS)
        KINDS(9, "stack", STACK)
        KINDS(18, "loads", LOADS)
        KINDS(27, "stores", STORES)
        KINDS(36, "divides", DIVIDES)
    default: break;
    }
    result = x + own[x & 15];
}
