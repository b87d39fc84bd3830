/* The cost of every kind of marker, counted on the simulator instruction by instruction, in C and C++. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "decode/analysis/groups.h"
#include "decode/capture/raw_marks.h"
#include "decode/decode.h"
#include "support/cost.h"
#include "support/device.h"
#include "support/files.h"

static const struct goal {
    const char *name, *marker, *flags;
    uint32_t classes;
    double instructions, bytes; /* at most */
    const char *row;            /* of the table in docs/markers.md, which must say what is measured for C */
} goals[] = {
    {"event", "DEVLOG_EVENT(\"e\")", NULL, 1, 10, 8, "`DEVLOG_EVENT`"},
    {"zone", "DEVLOG_ZONE(\"z\")", NULL, 1, 19, 16, "`DEVLOG_ZONE`, begin and end"},
    {"zone by hand", "{DEVLOG_ZONE_BEGIN(t,\"z\");DEVLOG_ZONE_END(t);}", NULL, 1, 19, 16},
    {"complete zone", "DEVLOG_ZONE_COMPLETE(\"c\")", NULL, 1, 12, 12, "`DEVLOG_ZONE_COMPLETE`"},
    {"value of 32 bits", "DEVLOG_VALUE(\"v\",v)", NULL, 1, 11, 12, "`DEVLOG_VALUE`, `DEVLOG_COUNTER`"},
    {"counter", "DEVLOG_COUNTER(\"v\",v)", NULL, 1, 11, 12},
    {"value of 64 bits", "DEVLOG_VALUE64(\"v\",v)", NULL, 1, 13, 16, "`DEVLOG_VALUE64`"},
    {"event, 32-bit stamp", "DEVLOG_EVENT(\"e\")", "-DDEVLOG_STAMP32", 1, 8, 8},
    {"zone, 32-bit stamp", "DEVLOG_ZONE(\"z\")", "-DDEVLOG_STAMP32", 1, 15, 16},
    {"complete zone, 32-bit stamp", "DEVLOG_ZONE_COMPLETE(\"c\")", "-DDEVLOG_STAMP32", 1, 10, 12},
    {"hardware event", "DEVLOG_EVENT(\"e\")", "-DDEVLOG_HW_STREAM", 1, 3, 0},
    {"hardware zone", "DEVLOG_ZONE(\"z\")", "-DDEVLOG_HW_STREAM", 1, 5, 0},
    {"event, class off", "DEVLOG_EVENT(\"e\")", NULL, 0, 2, 0},
    {"zone, class off", "DEVLOG_ZONE(\"z\")", NULL, 0, 3, 0},
    {"zone, not optimised", "DEVLOG_ZONE(\"z\")", "-O0", 1, 33, 16},
    {"complete zone, not optimised", "DEVLOG_ZONE_COMPLETE(\"c\")", "-O0", 1, 29, 12},
    {"text", "DEVLOG_PRINTF(\"%u,%u\",v,v)", NULL, 1, 14, 20, "`DEVLOG_PRINTF`, two arguments"},
    {"sum", "DEVLOG_ZONE_SUM(\"s\")", NULL, 1, 16, 0, "`DEVLOG_ZONE_SUM`, per pass"},
};

static void documents_say(const char *path, const char *what)
{
    size_t size;
    char *text = read_bytes(source_path(path), &size);
    if (!strstr(text, what)) fail_msg("%s does not say '%s'", path, what);
    free(text);
}

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
            char row[200];
            snprintf(row, sizeof row, "| %s | %.0f | %.0f | %.0f |", g->row, got.instructions, got.cycles,
                     g->bytes);
            if (g->row && k == 0) documents_say("docs/markers.md", row);
            snprintf(row, sizeof row, "that is %.0f instructions", got.instructions);
            if (k == 0 && strcmp(g->name, "zone") == 0) documents_say("README.md", row);
            snprintf(row, sizeof row, "2 x %.0f + 1 ", (got.instructions - 1) / 2);
            if (k == 0 && strcmp(g->name, "zone") == 0) documents_say("include/devlog/profile.h", row);
        }
    }
    check_ok(devlog_device_close(device, &err), &err);
}

/* A marker that finds no place costs no more than one that does, on average over many and in each mode. */
static void lost_is_no_dearer_than_recorded(void **state)
{
    (void)state;
    static const struct {
        const char *name, *marker;
        double ring; /* in the ring at most so many times what a recorded one costs */
    } markers[] = {
        {"event", "DEVLOG_EVENT(\"e\")", 1.1},
        {"zone", "DEVLOG_ZONE(\"z\")", 1.1},
        {"complete zone", "DEVLOG_ZONE_COMPLETE(\"c\")", 1.1},
        {"value", "DEVLOG_VALUE(\"v\",v)", 1.1},
        /* The ring has to walk over what it overwrites, because records differ in size: */
        {"text", "DEVLOG_PRINTF(\"%u\",v)", 3},
        {"zone, value", "{DEVLOG_ZONE(\"z\");DEVLOG_VALUE(\"v\",v);}", 2.5},
    };
    static const struct {
        const char *name;
        devlog_recording mode;
        uint32_t stream_bytes;
    } modes[] = {
        {"stop", DEVLOG_RECORD_STOP, 0},
        {"stream without room", DEVLOG_RECORD_STREAM, 64},
        {"ring", DEVLOG_RECORD_RING, 0},
    };
    devlog_error err = {0};
    for (size_t m = 0; m < sizeof modes / sizeof modes[0]; m++) {
        devlog_device *device = open_device("wormhole_b0", NULL);
        check_ok(devlog_set_recording(device, modes[m].mode, modes[m].stream_bytes, &err), &err);
        for (size_t i = 0; i < sizeof markers / sizeof markers[0]; i++) {
            cost_case c = {
                .source = source_path("tests/sim/kernels/cost.c"), .marker = markers[i].marker, .classes = 1};
            cost recorded, lost;
            check_ok(cost_measure(device, &c, &recorded, &err), &err);
            c.few = 1000;
            c.many = 4000;
            check_ok(cost_measure(device, &c, &lost, &err), &err);
            printf("%-20s %-14s %5.1f cycles recorded, %5.1f lost\n", modes[m].name, markers[i].name,
                   recorded.cycles, lost.cycles);
            double most = modes[m].mode == DEVLOG_RECORD_RING ? markers[i].ring : 1;
            assert_true(lost.cycles <= most * recorded.cycles);
        }
        check_ok(devlog_device_close(device, &err), &err);
    }
}

/* How long a flush of a segment holds a RISC up, to ten cycles, as docs/markers.md says. */
static double flush_cycles(const char *name)
{
    devlog_error err = {0};
    const char *folder = test_folder();
    const devlog_device_options options =
        DEVLOG_DEVICE_OPTIONS(.board = name, .profile = DEVLOG_ON, .log_folder = folder);
    devlog_device *device;
    devlog_program *program;
    char path[300];
    snprintf(path, sizeof path, "%s/kernel.c", folder);
    write_text(path, "#include <devlog/kernel.h>\n#include <devlog/profile.h>\nvoid kernel_main(void)\n{\n"
                     "    for (uint32_t i = 0; i < 3000; i++) DEVLOG_EVENT(\"event\");\n}\n");
    check_ok(devlog_device_open(&options, &device, &err), &err);
    check_ok(devlog_set_recording(device, DEVLOG_RECORD_STREAM, 65536, &err), &err);
    check_ok(devlog_program_create(device, &program, &err), &err);
    const devlog_kernel_options kernel = DEVLOG_KERNEL_OPTIONS(.source = path, .risc = "BRISC");
    check_ok(devlog_program_add_kernel(program, &kernel, NULL, &err), &err);
    prepare(device, program);
    check_ok(devlog_launch_program(device, program, &err), &err);
    devlog_program_free(program);
    check_ok(devlog_device_close(device, &err), &err);

    dl_decode *d;
    dl_groups groups;
    double cycles = 0;
    snprintf(path, sizeof path, "%s/capture.devlog", folder);
    check_ok(dl_decode_new(&d, NULL, &err), &err);
    check_ok(dl_decode_file(d, path, &err), &err);
    check_ok(dl_decode_finish(d, &err), &err);
    check_ok(dl_groups_by_risc(d, &groups, &err), &err);
    for (size_t i = 0; i < groups.n; i++) {
        const dl_group *g = &groups.items[i];
        if (strcmp(dl_text(dl_decode_tables(d), g->site_name), RAW_STALL_ZONE) != 0) continue;
        assert_true(g->summary.count >= 11);
        cycles = dl_summary_average(&g->summary);
    }
    dl_groups_free(&groups);
    dl_decode_free(d);
    printf("%s: a flush holds a RISC up for %.1f cycles\n", name, cycles);
    return 10 * round(cycles / 10);
}

static void flushes_take_what_is_documented(void **state)
{
    (void)state;
    char text[100];
    snprintf(text, sizeof text, "(about %.0f cycles per 2 KiB on the simulated Wormhole, %.0f on Blackhole",
             flush_cycles("wormhole_b0"), flush_cycles("blackhole"));
    documents_say("docs/markers.md", text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(flushes_take_what_is_documented),
        cmocka_unit_test(costs),
        cmocka_unit_test(lost_is_no_dearer_than_recorded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
