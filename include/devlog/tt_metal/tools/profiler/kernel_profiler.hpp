/* tools/profiler/kernel_profiler.hpp: the markers of tt-metal by their own names, so that kernels written for it
 * compile unchanged (C++). The compiler finds this file because devlog adds include/devlog/tt_metal to the includes.
 *
 *   tt-metal                                   here
 *   DeviceZoneScopedN("name")                  DEVLOG_ZONE
 *   DeviceZoneScopedMainN, ...MainChildN       DEVLOG_ZONE
 *   DeviceZoneScopedSumN1, ...SumN2            DEVLOG_ZONE_SUM
 *   DeviceTimestampedData(id or "name", data)  DEVLOG_VALUE64
 *   DeviceFlag("name")                         DEVLOG_EVENT
 *   DeviceRecordEvent(id)                      DEVLOG_VALUE with the name "DeviceRecordEvent"
 *   kernel_profiler::mark_time(id)             DEVLOG_VALUE with the name "mark_time"; in logs of six columns
 *                                              its id is the timer_id
 *
 * As in tt-metal, a C++ kernel has these names without including anything: devlog compiles it with this file in
 * front.
 *
 * What steers tt-metal's own buffers (DeviceProfilerInit, DeviceValidateProfiler, ...) is empty. Names: tt-metal,
 * tt_metal/tools/profiler/kernel_profiler.hpp. */
#ifndef DEVLOG_TT_METAL_KERNEL_PROFILER_HPP
#define DEVLOG_TT_METAL_KERNEL_PROFILER_HPP

#ifdef __cplusplus

#include <stdint.h>

#include "devlog/kernel.h"
#include "devlog/profile.h"

#define DeviceZoneScopedN(name)          DEVLOG_ZONE(name)
#define DeviceZoneScopedND(name, ...)    DEVLOG_ZONE(name)
#define DeviceZoneScopedMainN(name)      DEVLOG_ZONE(name)
#define DeviceZoneScopedMainChildN(name) DEVLOG_ZONE(name)
#define DeviceZoneScopedSumN1(name)      DEVLOG_ZONE_SUM(name)
#define DeviceZoneScopedSumN2(name)      DEVLOG_ZONE_SUM(name)

/* The first argument is a number or a text; with its macros replaced and made a token, it is a text in both
 * cases. The host takes off the quotes of a quoted text. */
#define DeviceTimestampedData(data_id, data) DEVLOG_VALUE64(DEVLOG_STR_(data_id), data)
#define DeviceFlag(name)                     DEVLOG_EVENT(name)
#define DeviceRecordEvent(event_id)          DEVLOG_VALUE("DeviceRecordEvent", event_id)

#define DeviceProfilerInit()
#define DeviceTraceOnlyProfilerInit()
#define DeviceIncrementTraceCount()
#define DeviceValidateProfiler(condition)
#define DeviceZoneSetCounter(counter)
#define DeviceZoneScopedPush()
#define DeviceZonesTimeoutPush()
#define RECORD_NOC_EVENT(...)
#define RECORD_NOC_EVENT_WITH_ID(...)
#define RECORD_NOC_EVENT_WITH_ADDR(...)

namespace kernel_profiler {

static inline __attribute__((always_inline)) void mark_time(uint32_t timer_id)
{
    (void)timer_id;
    DEVLOG_VALUE("mark_time", timer_id);
}

/* Marks the first time only. */
static inline __attribute__((always_inline)) void mark_time_once(uint32_t timer_id, bool *one_time)
{
    if (*one_time) mark_time(timer_id);
    *one_time = false;
}

} // namespace kernel_profiler

#endif
#endif
