/* devlog/waits.h: records of what a kernel waits for, and of what others wait for that it gives. kernel.h has them in its
 * own calls; not to be included by itself. docs/causes.md says what they are for.
 *
 * With -DDEVLOG_WAITS (DEVLOG_WAITS=1 in the environment) and -DPROFILE_DEVICE there are, all in class 31:
 *
 *     DEVLOG-WANTS             a value of 64 bits, when a RISC comes to a wait: address of the counter that it waits for,
 *                              and above it, from bit 32 on, what the counter has to reach
 *     DEVLOG-WAIT-FULL, ...    a zone, when it does have to wait
 *     DEVLOG-GIVES             a value of 64 bits, before a counter is raised: its address, and what it will be
 *     DEVLOG-NOC-READ, -WRITE  a value of 64 bits, before a transfer is commanded (devlog/transfers.h): the address there, from bit
 *                              32 on how many bytes, from bit 48 on the tile, x | y << 6
 *     DEVLOG-WAIT-NOC          a zone, in which a RISC waits for its transfers
 *
 * Otherwise they are nothing, to the byte. A want, a give and a transfer are 13 instructions and 16 bytes each, a wait 19 and 16 more. */
#ifndef DEVLOG_WAITS_H
#define DEVLOG_WAITS_H

#if defined(PROFILE_DEVICE) && defined(DEVLOG_WAITS)

#include "devlog/profile_impl.h"

/* With which options of markers; profile.h compares. */
#define DEVLOG_WAITS_MADE_
#if defined(DEVLOG_STAMP32)
#define DEVLOG_WAITS_STAMP32_
#endif
#if defined(DEVLOG_HW_STREAM)
#define DEVLOG_WAITS_HW_STREAM_
#endif

#define DEVLOG_WAITS_CLASS 31

#define DEVLOG_COUNTER_AT_(counter, value) ((uint64_t)(value) << 32 | (counter))
#define DEVLOG_GIVES_(counter, value)                                                                        \
    DEVLOG_VALUE64_(__COUNTER__, DEVLOG_WAITS_CLASS, "DEVLOG-GIVES", DEVLOG_COUNTER_AT_(counter, value))

/* What a wait begins with: until `waits` is false, in a zone. The loop of the wait follows, and finds that it need not. */
#define DEVLOG_WANTS_(name, counter, value, waits, place)                                                    \
    do {                                                                                                     \
        DEVLOG_VALUE64_(__COUNTER__, DEVLOG_WAITS_CLASS, "DEVLOG-WANTS",                                     \
                        DEVLOG_COUNTER_AT_(counter, value));                                                 \
        DEVLOG_FENCE(place);                                                                                 \
        if (waits) {                                                                                         \
            DEVLOG_ZONE_BEGIN_(devlog_wait_, __COUNTER__, DEVLOG_WAITS_CLASS, name);                         \
            while (waits)                                                                                    \
                DEVLOG_FENCE(place);                                                                         \
            DEVLOG_ZONE_END_(devlog_wait_);                                                                  \
        }                                                                                                    \
    } while (0)

#define DEVLOG_TRANSFERS_(name, what) DEVLOG_VALUE64_(__COUNTER__, DEVLOG_WAITS_CLASS, name, what)
#define DEVLOG_WAITS_FOR_NOC_()                                                                              \
    do {                                                                                                     \
        DEVLOG_ZONE_BEGIN_(devlog_wait_, __COUNTER__, DEVLOG_WAITS_CLASS, "DEVLOG-WAIT-NOC");                \
        noc_wait();                                                                                          \
        DEVLOG_ZONE_END_(devlog_wait_);                                                                      \
    } while (0)

#else
#define DEVLOG_TRANSFERS_(name, what)                     ((void)0)
#define DEVLOG_WAITS_FOR_NOC_()                           ((void)0)
#define DEVLOG_GIVES_(counter, value)                     ((void)0)
#define DEVLOG_WANTS_(name, counter, value, waits, place) ((void)0)
#endif

#endif
