/* devlog/order.h: the places in device code where the order of accesses, or a cache that is not coherent, matters. Not for
 * kernels: kernel.h has what they need.
 *
 * Each place has a number, so that a test can leave out one at a time (-DDEVLOG_WITHOUT_FENCE=number) and see a failure on the
 * simulator's strict model (docs/simulator.md). Documents: TensixTile/BabyRISCV/MemoryOrdering.md of WormholeB0, where `fence` does
 * nothing, and of BlackholeA0, where loads from L1 may come from a data cache that nobody else's stores reach, and `fence` empties
 * it. What needs no place, and why:
 *
 * - Markers: a RISC's stores to L1 are processed in their order, its records are in front of its `done`, and only the host reads
 *   them, behind `done`. What it reads of them itself it has written itself.
 * - Handing a page over, and taking back its place: L1 again, so stores keep their order, and a load is in front of the store
 *   behind it.
 * - Events in the stream of the tile: the clock, which is in the same block of registers, is read behind them for the end of the
 *   firmware, and more stores than are queued lie between; that stamp is in front of `done`, and of the reading of the status.
 * - A value that was waited for: the branch that looked at it has consumed it, so nothing behind the branch has begun before.
 */
#ifndef DEVLOG_ORDER_H
#define DEVLOG_ORDER_H

#define DEVLOG_ORDER_START    1  /* lines in the data cache from before a reset */
#define DEVLOG_ORDER_UP       2  /* the manager waits for the workers' firmware */
#define DEVLOG_ORDER_GO       3  /* the manager waits for the host */
#define DEVLOG_ORDER_WORK     4  /* a worker waits for the manager */
#define DEVLOG_ORDER_DONE     5  /* the manager waits for the workers */
#define DEVLOG_ORDER_CODE     6  /* instruction caches are invalidated before workers start */
#define DEVLOG_ORDER_PIPELINE 7  /* instructions that were fetched before the invalidation */
#define DEVLOG_ORDER_SOURCE   8  /* data are in L1 before the NoC is told to take them */
#define DEVLOG_ORDER_COMMAND  9  /* a command has reached the NoC before its counter is read */
#define DEVLOG_ORDER_ANSWER   10 /* the manager waits for another core's clock */
#define DEVLOG_ORDER_RESERVE  11 /* the producer waits for a free page */
#define DEVLOG_ORDER_FRONT    12 /* the consumer waits for a page, and reads it */
#define DEVLOG_ORDER_FROZEN   13 /* the host stops recording in mid-launch */
#define DEVLOG_ORDER_EVENTS   14 /* the tile's event stream is set up before workers use it */
#define DEVLOG_ORDER_PLACES   14

#if !defined(DEVLOG_WITHOUT_FENCE)
#define DEVLOG_WITHOUT_FENCE 0
#endif

#if !defined(__ASSEMBLER__)

#include <stdint.h>

#if defined(DEVLOG_RISC) /* device code */
#include "devlog_board.h"
#endif

/* By name, so that a file changes only with a place that it has. */
#define DEVLOG_ORDERS_(place)  DEVLOG_ORDERS__(place)
#define DEVLOG_ORDERS__(place) DEVLOG_HAS_PLACE_##place
#define DEVLOG_HAS_PLACE_1     1
#define DEVLOG_HAS_PLACE_2     1
#define DEVLOG_HAS_PLACE_3     1
#define DEVLOG_HAS_PLACE_4     1
#define DEVLOG_HAS_PLACE_5     1
#define DEVLOG_HAS_PLACE_6     1
#define DEVLOG_HAS_PLACE_7     1
#define DEVLOG_HAS_PLACE_8     1
#define DEVLOG_HAS_PLACE_9     1
#define DEVLOG_HAS_PLACE_10    1
#define DEVLOG_HAS_PLACE_11    1
#define DEVLOG_HAS_PLACE_12    1
#define DEVLOG_HAS_PLACE_13    1
#define DEVLOG_HAS_PLACE_14    1
#if DEVLOG_WITHOUT_FENCE == 1
#undef DEVLOG_HAS_PLACE_1
#define DEVLOG_HAS_PLACE_1 0
#endif
#if DEVLOG_WITHOUT_FENCE == 2
#undef DEVLOG_HAS_PLACE_2
#define DEVLOG_HAS_PLACE_2 0
#endif
#if DEVLOG_WITHOUT_FENCE == 3
#undef DEVLOG_HAS_PLACE_3
#define DEVLOG_HAS_PLACE_3 0
#endif
#if DEVLOG_WITHOUT_FENCE == 4
#undef DEVLOG_HAS_PLACE_4
#define DEVLOG_HAS_PLACE_4 0
#endif
#if DEVLOG_WITHOUT_FENCE == 5
#undef DEVLOG_HAS_PLACE_5
#define DEVLOG_HAS_PLACE_5 0
#endif
#if DEVLOG_WITHOUT_FENCE == 6
#undef DEVLOG_HAS_PLACE_6
#define DEVLOG_HAS_PLACE_6 0
#endif
#if DEVLOG_WITHOUT_FENCE == 7
#undef DEVLOG_HAS_PLACE_7
#define DEVLOG_HAS_PLACE_7 0
#endif
#if DEVLOG_WITHOUT_FENCE == 8
#undef DEVLOG_HAS_PLACE_8
#define DEVLOG_HAS_PLACE_8 0
#endif
#if DEVLOG_WITHOUT_FENCE == 9
#undef DEVLOG_HAS_PLACE_9
#define DEVLOG_HAS_PLACE_9 0
#endif
#if DEVLOG_WITHOUT_FENCE == 10
#undef DEVLOG_HAS_PLACE_10
#define DEVLOG_HAS_PLACE_10 0
#endif
#if DEVLOG_WITHOUT_FENCE == 11
#undef DEVLOG_HAS_PLACE_11
#define DEVLOG_HAS_PLACE_11 0
#endif
#if DEVLOG_WITHOUT_FENCE == 12
#undef DEVLOG_HAS_PLACE_12
#define DEVLOG_HAS_PLACE_12 0
#endif
#if DEVLOG_WITHOUT_FENCE == 13
#undef DEVLOG_HAS_PLACE_13
#define DEVLOG_HAS_PLACE_13 0
#endif
#if DEVLOG_WITHOUT_FENCE == 14
#undef DEVLOG_HAS_PLACE_14
#define DEVLOG_HAS_PLACE_14 0
#endif

/* The compiler keeps the order in any case. */
#define DEVLOG_ORDER_COMPILER_() __asm__ __volatile__("" ::: "memory")

/* What others have written to L1 is seen by loads behind this, and what is behind it begins after what is in front of it. */
#if defined(DEVLOG_DATA_CACHE)
#define DEVLOG_FENCE(place)                                                                                  \
    do {                                                                                                     \
        if (DEVLOG_ORDERS_(place))                                                                           \
            __asm__ __volatile__("fence" ::: "memory");                                                      \
        else                                                                                                 \
            DEVLOG_ORDER_COMPILER_();                                                                        \
    } while (0)
#else
#define DEVLOG_FENCE(place) DEVLOG_ORDER_COMPILER_()
#endif

/* The last store was to this address: nothing behind this begins before that store has been processed, and with it all in front of
 * it to the same region. The value has to be consumed. */
#define DEVLOG_READ_BACK(place, address)                                                                     \
    do {                                                                                                     \
        if (DEVLOG_ORDERS_(place)) {                                                                         \
            uint32_t devlog_back_;                                                                           \
            __asm__ __volatile__("lw %0,0(%1)\n\taddi x0,%0,0"                                               \
                                 : "=&r"(devlog_back_)                                                       \
                                 : "r"((uint32_t)(uintptr_t)(address))                                       \
                                 : "memory");                                                                \
        } else {                                                                                             \
            DEVLOG_ORDER_COMPILER_();                                                                        \
        }                                                                                                    \
    } while (0)

#endif

#endif
