// A kernel as it would be written for tt-metal: without an include for its markers.
#include <cstdint>

#define TAG "BR"

namespace {
template <typename T> inline T spin(T n)
{
    DeviceZoneScopedN("spin");
    for (volatile T i = 0; i < n; i++) {
    }
    return n;
}
} // namespace

void kernel_main()
{
    DeviceZoneScopedMainChildN("MY-KERNEL");
    bool once = true;
    for (uint32_t i = 0; i < 3; i++) {
        DeviceZoneScopedN("TEST-FULL");
        DeviceZoneScopedSumN1("SUM");
        DeviceTimestampedData("TEST", i + ((uint64_t)1 << 32));
        DeviceTimestampedData(TAG "_Data", i + 7);
        DeviceTimestampedData(12345, i);
        DeviceFlag(TAG "_Flag");
        DeviceRecordEvent(i);
        kernel_profiler::mark_time(5 + i);
        kernel_profiler::mark_time_once(9, &once);
        spin<uint32_t>(i);
        spin<uint16_t>(3);
    }
    DeviceValidateProfiler(true);
}
