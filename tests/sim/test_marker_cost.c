/* The cost of every kind of marker, counted on the simulator instruction by instruction, in C and C++. */
#include <stdio.h>

#include "support/cost.h"
#include "support/device.h"

static const struct goal {
    const char *name, *marker, *flags;
    uint32_t classes;
    double instructions, bytes; /* at most */
} goals[] = {
    {"event", "DEVLOG_EVENT(\"e\")", NULL, 1, 12, 8},
    {"zone", "DEVLOG_ZONE(\"z\")", NULL, 1, 24, 16},
    {"zone by hand", "{DEVLOG_ZONE_BEGIN(t,\"z\");DEVLOG_ZONE_END(t);}", NULL, 1, 24, 16},
    {"complete zone", "DEVLOG_ZONE_COMPLETE(\"c\")", NULL, 1, 12, 12},
    {"value of 32 bits", "DEVLOG_VALUE(\"v\",v)", NULL, 1, 13, 12},
    {"counter", "DEVLOG_COUNTER(\"v\",v)", NULL, 1, 13, 12},
    {"value of 64 bits", "DEVLOG_VALUE64(\"v\",v)", NULL, 1, 15, 16},
    {"event, 32-bit stamp", "DEVLOG_EVENT(\"e\")", "-DDEVLOG_STAMP32", 1, 9, 8},
    {"zone, 32-bit stamp", "DEVLOG_ZONE(\"z\")", "-DDEVLOG_STAMP32", 1, 18, 16},
    {"complete zone, 32-bit stamp", "DEVLOG_ZONE_COMPLETE(\"c\")", "-DDEVLOG_STAMP32", 1, 12, 12},
    {"hardware event", "DEVLOG_EVENT(\"e\")", "-DDEVLOG_HW_STREAM", 1, 4, 0},
    {"hardware zone", "DEVLOG_ZONE(\"z\")", "-DDEVLOG_HW_STREAM", 1, 8, 0},
    {"event, class off", "DEVLOG_EVENT(\"e\")", NULL, 0, 2, 0},
    {"zone, class off", "DEVLOG_ZONE(\"z\")", NULL, 0, 3, 0},
    {"sum", "DEVLOG_ZONE_SUM(\"s\")", NULL, 1, 24, 0},
};

static void costs(void **state)
{
    (void)state;
    devlog_error err = {0};
    devlog_device *device = open_device("wormhole_b0", NULL);
    static const char *const sources[] = {"tests/sim/kernels/cost.c", "tests/sim/kernels/cost.cpp"};
    for (size_t i = 0; i < sizeof goals / sizeof goals[0]; i++) {
        for (size_t k = 0; k < 2; k++) {
            const struct goal *g = &goals[i];
            cost_case c = {.source = source_path(sources[k]),
                           .flags = g->flags,
                           .marker = g->marker,
                           .classes = g->classes};
            cost got;
            check_ok(cost_measure(device, &c, &got, &err), &err);
            printf("%-28s %-4s %5.1f instructions (at most %2.0f), %5.1f cycles, %4.1f loads, %4.1f stores, "
                   "%4.1f bytes\n",
                   g->name, k ? "C++" : "C", got.instructions, g->instructions, got.cycles, got.loads,
                   got.stores, got.record_bytes);
            assert_true(got.instructions <= g->instructions);
            assert_true(got.instructions > 0.9);
            assert_true(got.record_bytes == g->bytes);
        }
    }
    check_ok(devlog_device_close(device, &err), &err);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(costs)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
