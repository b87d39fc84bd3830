/* devlog/profile.h: markers for device code (RISC-V; C11 and C++17; gcc and clang).
 *
 * A marker appends one record with a cycle stamp to the records of its RISC in L1. Compile with
 * -DPROFILE_DEVICE to have markers; without it every macro below is empty and the object code is the same
 * as without this header. Names, files and lines are kept in a section of the ELF file that is never loaded.
 *
 *   marker                       what it records                            instructions   bytes
 *   DEVLOG_ZONE("name");         from here to the end of the block           2 x 9 + 1      2 x 8
 *   DEVLOG_ZONE_BEGIN(t, "name"); ... DEVLOG_ZONE_END(t);   the same, by hand
 *   DEVLOG_ZONE_COMPLETE("name"); as DEVLOG_ZONE, one record at the end:     12             12
 *                                cheaper, but invisible while it is open and
 *                                only for zones shorter than 2^32 cycles
 *   DEVLOG_ZONE_SUM("name");     count, total, shortest and longest pass     no record per pass; one
 *                                through the block, summed on the device     of 32 bytes at kernel end
 *   DEVLOG_EVENT("name");        that it was here                            10             8
 *   DEVLOG_VALUE("name", v);     a value of 32 bits                          11             12
 *   DEVLOG_VALUE64("name", v);   a value of 64 bits                          13             16
 *   DEVLOG_COUNTER("name", v);   a value that viewers draw as a curve        11             12
 *   DEVLOG_PRINTF("a=%d", a);    text; the format stays in the ELF file      12 + n         12 + 4n
 *   DEVLOG_FREEZE();             stops recording: keeps what led to here
 *
 * What is expected of markers costs the device nothing: it is kept beside their names, and the host looks at it when it has
 * pulled the records of a launch (docs/markers.md, "Expectations"). Inside functions or outside, of each RISC that runs the kernel:
 *   DEVLOG_EXPECT_CYCLES("name", low, high);   each pass of the zone takes low to high cycles
 *   DEVLOG_EXPECT_COUNT("name", low, high);    the zone, event or value comes low to high times in a launch
 *   DEVLOG_EXPECT_VALUE("name", low, high);    each value or counter, unsigned, is low to high
 *   DEVLOG_EXPECT_ORDER("first", "then");      each "then" has a "first" of its own before it
 * low and high are constants, both included; DEVLOG_ANY is no limit.
 *
 * The counts are gcc 12, -O2, rv32im, with a stamp of 52 bits; one instruction of them loads the address of
 * the clock and is shared by neighbouring markers.
 *
 * Names are string literals (docs/markers.md). They may repeat: every place has its own identity. Stamps
 * count cycles of the tile's wall clock; a torn read of its two halves is repaired by the decoder.
 *
 * When a segment of records is full, what happens is chosen by the host before the launch (devlog/devlog.h):
 * stop (keep the first records), ring (keep the last), stream (flush to DRAM). What is lost is counted to
 * the record, per RISC. FW start, kernel start, kernel end and FW end have a place of their own.
 *
 * Every marker belongs to a class from 0 to 31 that the host can switch off before a launch without a new
 * build; a marker that is off costs one jump. DEVLOG_CLASS is the class of the markers that follow:
 *     #undef DEVLOG_CLASS
 *     #define DEVLOG_CLASS 3
 *
 * A marker is a barrier for the compiler: loads and stores of the code around it stay on their side.
 * Register tp (x4) is the cursor; neither compiler uses it by itself.
 */
#ifndef DEVLOG_PROFILE_H
#define DEVLOG_PROFILE_H

/* ---- Options: define before including, or with -D ------------------------------------------------- */

/* Class of the markers that follow, a literal from 0 to 31. */
#ifndef DEVLOG_CLASS
#define DEVLOG_CLASS 0
#endif

/* DEVLOG_STAMP32: stamps of 32 bits. A marker then takes 8 instructions instead of 10, but a gap of 2^32
 * cycles or more between two markers of a RISC is not seen between them (only at FW end, where it is said).
 */

/* DEVLOG_WIDE_IDS: records carry the id of their site in a word of their own. For kernels with more sites
 * than codes, which devlog compiles so by itself; costs three instructions and 4 bytes per record. */

/* DEVLOG_HW_STREAM: zones and events are recorded by the debug timestamper of the tile: 4 instructions each,
 * one of them shared by neighbours, in a buffer that the five RISCs share. Values, sums and text are recorded
 * as without it. What does not fit is noticed but cannot be counted: the hardware only says that there was
 * more. Tried on the simulator only, which models the block from its documentation. */

/* ---- Nothing to change below this line ------------------------------------------------------------- */

#define DEVLOG_ANY 0xFFFFFFFFFFFFFFFFull

#if defined(__cplusplus)
#define DEVLOG_HOLDS_(what, text) static_assert(what, text)
#else
#define DEVLOG_HOLDS_(what, text) _Static_assert(what, text)
#endif
#define DEVLOG_RANGE_(name, low, high)                                                                       \
    DEVLOG_HOLDS_(sizeof("" name) > 1 && (unsigned long long)(low) <= (unsigned long long)(high),            \
                  "devlog: an expectation has a name, and low is not above high")

#if !defined(PROFILE_DEVICE)

#define DEVLOG_EXPECT_CYCLES(name, low, high) DEVLOG_RANGE_(name, low, high)
#define DEVLOG_EXPECT_COUNT(name, low, high)  DEVLOG_RANGE_(name, low, high)
#define DEVLOG_EXPECT_VALUE(name, low, high)  DEVLOG_RANGE_(name, low, high)
#define DEVLOG_EXPECT_ORDER(first, then)      DEVLOG_RANGE_(first, sizeof("" then) == 1, 0)

#define DEVLOG_ZONE(name)
#define DEVLOG_ZONE_BEGIN(tag, name)
#define DEVLOG_ZONE_END(tag)
#define DEVLOG_ZONE_COMPLETE(name)
#define DEVLOG_ZONE_SUM(name)
#define DEVLOG_EVENT(name)      ((void)0)
#define DEVLOG_VALUE(name, v)   DEVLOG_UNUSED_(name, v)
#define DEVLOG_VALUE64(name, v) DEVLOG_UNUSED_(name, v)
#define DEVLOG_COUNTER(name, v) DEVLOG_UNUSED_(name, v)
#define DEVLOG_PRINTF(...)      DEVLOG_UNUSED_(__VA_ARGS__)
#define DEVLOG_FREEZE()         ((void)0)

/* What a marker would have recorded is looked at by the compiler and never evaluated, so that a variable that
 * only markers use is no unused one. The function is nowhere defined. */
#define DEVLOG_UNUSED_(...) ((void)sizeof(devlog_unused_(__VA_ARGS__)))
#ifdef __cplusplus
extern "C" int devlog_unused_(const char *name, ...);
#else
int devlog_unused_(const char *name, ...);
#endif

#else

#include "devlog/profile_impl.h"

/* kernel.h has made markers of waits before this file was read: an option that came between would hold for a part only. */
#if defined(DEVLOG_WAITS_MADE_) && (defined(DEVLOG_STAMP32) != defined(DEVLOG_WAITS_STAMP32_) ||             \
                                    defined(DEVLOG_HW_STREAM) != defined(DEVLOG_WAITS_HW_STREAM_))
#error                                                                                                       \
    "where waits are recorded, DEVLOG_STAMP32 and DEVLOG_HW_STREAM are given with -D, or stand above devlog/kernel.h"
#endif

#define DEVLOG_ZONE(name)            DEVLOG_ZONE_(__COUNTER__, DEVLOG_CLASS, name)
#define DEVLOG_ZONE_BEGIN(tag, name) DEVLOG_ZONE_BEGIN_(tag, __COUNTER__, DEVLOG_CLASS, name)
#define DEVLOG_ZONE_END(tag)         DEVLOG_ZONE_END_(tag)
#define DEVLOG_ZONE_COMPLETE(name)   DEVLOG_ZONE_COMPLETE_(__COUNTER__, DEVLOG_CLASS, name)
#define DEVLOG_ZONE_SUM(name)        DEVLOG_ZONE_SUM_(__COUNTER__, DEVLOG_CLASS, name)
#define DEVLOG_EVENT(name)           DEVLOG_EVENT_(__COUNTER__, DEVLOG_CLASS, name)
#define DEVLOG_VALUE(name, v)        DEVLOG_VALUE32_(__COUNTER__, DEVLOG_CLASS, name, VALUE32, v)
#define DEVLOG_COUNTER(name, v)      DEVLOG_VALUE32_(__COUNTER__, DEVLOG_CLASS, name, COUNTER, v)
#define DEVLOG_VALUE64(name, v)      DEVLOG_VALUE64_(__COUNTER__, DEVLOG_CLASS, name, v)
#define DEVLOG_PRINTF(...)           DEVLOG_PRINTF_(__COUNTER__, DEVLOG_CLASS, __VA_ARGS__)
#define DEVLOG_FREEZE()              devlog_freeze_()

#define DEVLOG_EXPECT_CYCLES(name, low, high)                                                                \
    DEVLOG_RANGE_(name, low, high);                                                                          \
    DEVLOG_EXPECT_(__COUNTER__, DEVLOG_EXPECTS_CYCLES, name, "", low, high)
#define DEVLOG_EXPECT_COUNT(name, low, high)                                                                 \
    DEVLOG_RANGE_(name, low, high);                                                                          \
    DEVLOG_EXPECT_(__COUNTER__, DEVLOG_EXPECTS_COUNT, name, "", low, high)
#define DEVLOG_EXPECT_VALUE(name, low, high)                                                                 \
    DEVLOG_RANGE_(name, low, high);                                                                          \
    DEVLOG_EXPECT_(__COUNTER__, DEVLOG_EXPECTS_VALUE, name, "", low, high)
#define DEVLOG_EXPECT_ORDER(first, then)                                                                     \
    DEVLOG_RANGE_(first, sizeof("" then) == 1, 0);                                                           \
    DEVLOG_EXPECT_(__COUNTER__, DEVLOG_EXPECTS_ORDER, first, then, 0, 0)

#endif

#endif
