/* Every fault at every packet of opening a probe and of a pull, one after the other: no crash, no leak, no
 * hang past the time-out; what can be recovered is recovered, with the same records; otherwise what was read
 * is kept, and one line names the probe and what to do. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/term.h"
#include "devlog/record.h"
#include "profiler/profiler.h"
#include "support/device.h"
#include "support/files.h"
#include "usb/rig.h"

enum { RISCS = 5 };
/* Nothing takes a second; a machine with other work is given all the time that it may need. */
#define LIMIT_NS UINT64_C(100000000000)

typedef struct scene {
    rig r;
    devlog_device *device;
    devlog_program *program;
    uint8_t *profiler,
        *snapshot; /* the profiler region in the simulator's memory, and as it was after the launch */
    pulled truth[RISCS];
    uint32_t packets; /* of a whole pull */
} scene;

static dl_usb_setup setup_of(const scene *s)
{
    return (dl_usb_setup){s->device->board.usb_khz, s->device->board.usb_idcode, RIG_TIMEOUT_MS};
}

/* Pulls every RISC of the only core; returns how many came whole. */
static uint32_t pull_all(scene *s, pulled got[RISCS], devlog_status *status, devlog_error *err)
{
    uint32_t whole = 0;
    memset(got, 0, RISCS * sizeof got[0]);
    *status = DEVLOG_OK;
    for (uint32_t i = 0; i < RISCS && *status == DEVLOG_OK; i++) {
        *status = pull_risc(s->device, (devlog_core){0, 0}, i, s->device->launches, true, &got[i], err);
        whole += *status == DEVLOG_OK;
    }
    return whole;
}

static void free_all(pulled got[RISCS])
{
    for (uint32_t i = 0; i < RISCS; i++)
        pulled_free(&got[i]);
}

static void launch_something(scene *s)
{
    static const char *const riscs[RISCS] = {"BRISC", "NCRISC", "TRISC0", "TRISC1", "TRISC2"};
    devlog_error err = {0};
    check_ok(devlog_program_create(s->device, &s->program, &err), &err);
    for (uint32_t i = 0; i < RISCS; i++) {
        const uint32_t rounds = 1 + 3 * i;
        devlog_kernel *k =
            add_kernel(s->program, "tests/sim/kernels/events.c", riscs[i], (devlog_cores){0, 0, 0, 0}, NULL);
        check_ok(devlog_kernel_set_args(k, (devlog_core){0, 0}, &rounds, 1, &err), &err);
    }
    prepare(s->device, s->program);
    s->device->profile = false; /* the pull is ours */
    check_ok(devlog_launch_program(s->device, s->program, &err), &err);
}

static int set_up(void **state)
{
    scene *s = calloc(1, sizeof *s);
    model_options o = rig_options("usb_tile");
    rig_plug(&s->r, "usb_tile", &o);
    setenv("DEVLOG_USB_TIMEOUT_MS", "30", 1);
    setenv("DEVLOG_CLOCK_SYNC", "0", 1);
    const devlog_device_options options =
        DEVLOG_DEVICE_OPTIONS(.board = "usb_tile", .transport = "usb", .profile = DEVLOG_ON,
                              .log_folder = test_folder());
    devlog_error err = {0};
    check_ok(devlog_device_open(&options, &s->device, &err), &err);
    launch_something(s);
    const board_region region = s->device->board.profiler;
    s->profiler = sim_ram_bytes(model_sim(s->r.m), model_tile(s->r.m), 0) + region.base;
    s->snapshot = malloc(region.size);
    memcpy(s->snapshot, s->profiler, region.size);
    model_speed(s->r.m, 0); /* nothing runs any more: spares time */
    uint64_t before = model_packets(s->r.m), reads = model_bus_reads(s->r.m);
    devlog_status status;
    assert_int_equal(pull_all(s, s->truth, &status, &err), RISCS);
    /* It reads control words and used words, four words behind them, and nothing else. */
    uint64_t words = 0;
    for (uint32_t i = 0; i < RISCS; i++)
        words += s->truth[i].n_words + 4 +
                 (offsetof(devlog_control, events_base) - offsetof(devlog_control, stream_size)) / 4;
    assert_int_equal(model_bus_reads(s->r.m) - reads, words);
    s->packets = (uint32_t)(model_packets(s->r.m) - before);
    *state = s;
    return 0;
}

static int tear_down(void **state)
{
    scene *s = *state;
    devlog_error err = {0};
    free_all(s->truth);
    devlog_program_free(s->program);
    check_ok(devlog_device_close(s->device, &err), &err);
    free(s->snapshot);
    rig_close(&s->r);
    free(s);
    return 0;
}

static void reopen(scene *s)
{
    dl_transport_close(&s->device->transport);
    model_bus_replug(s->r.bus);
    const dl_usb_setup usb = setup_of(s);
    const dl_transport_setup setup = {.usb = &usb};
    devlog_error err = {0};
    check_ok(dl_transport_open(&s->device->transport, dl_transport_find("usb"), &setup, &err), &err);
}

static void same(const pulled *a, const pulled *truth, const char *what, uint32_t packet)
{
    if (a->n_words != truth->n_words || memcmp(a->words, truth->words, 4ull * a->n_words) != 0 ||
        memcmp(&a->control, &truth->control, sizeof a->control) != 0)
        fail_msg("%s at packet %u: RISC %u has other records", what, packet, a->risc);
}

static void check_message(const char *text, const char *what, uint32_t packet)
{
    if (!strstr(text, "DEVLOG0001") || !strstr(text, ": ") || strchr(text, '\n'))
        fail_msg("%s at packet %u: '%s' does not name the probe, or what to do", what, packet, text);
}

static void pull_with(scene *s, model_fault fault, uint32_t packet)
{
    const char *what = model_fault_names[fault];
    pulled got[RISCS];
    devlog_status status;
    devlog_error err = {0};
    memcpy(s->profiler, s->snapshot, s->device->board.profiler.size);
    model_arm(s->r.m, fault, packet);
    uint64_t started = dl_now_ns();
    uint32_t whole = pull_all(s, got, &status, &err);
    if (dl_now_ns() - started > LIMIT_NS) fail_msg("%s at packet %u hangs", what, packet);
    if (!model_happened(s->r.m)) fail_msg("%s at packet %u did not happen", what, packet);
    for (uint32_t i = 0; i < whole; i++)
        same(&got[i], &s->truth[i], what, packet);
    bool hopeless = fault == MODEL_UNPLUG || fault == MODEL_SB_ERROR;
    if (!hopeless && whole < RISCS) fail_msg("%s at packet %u: %s", what, packet, err.text);
    if (whole < RISCS) {
        check_message(err.text, what, packet);
        /* What was read is the beginning of what there is. */
        const pulled *cut = &got[whole];
        if (cut->n_words) assert_memory_equal(cut->words, s->truth[whole].words, 4ull * cut->n_words);
    }
    free_all(got);
    if (fault == MODEL_UNPLUG) reopen(s);
    if (fault == MODEL_SLOW) {
        model_arm(s->r.m, MODEL_NO_FAULT, 0);
        model_quick(s->r.m);
        reopen(s); /* it has learned that the chip is slow */
    }
    assert_int_equal(model_bus_in_flight(s->r.bus), 0);
}

static void every_fault_at_every_packet(void **state)
{
    scene *s = *state;
    assert_true(s->packets > 10);
    for (int fault = MODEL_NO_FAULT + 1; fault < MODEL_FAULTS; fault++) {
        for (uint32_t packet = 0; packet < s->packets; packet++)
            pull_with(s, (model_fault)fault, packet);
        if (fault == MODEL_DMI_BUSY || fault == MODEL_SB_BUSY)
            reopen(s); /* it has become slow with caution */
    }
    printf("%u packets, %d faults\n", s->packets, MODEL_FAULTS - 1);
}

static void faults_while_opening(void **state)
{
    scene *s = *state;
    dl_transport_close(&s->device->transport);
    const dl_usb_setup usb = setup_of(s);
    const dl_transport_setup setup = {.usb = &usb};
    dl_transport t;
    devlog_error err = {0};
    uint64_t before = model_packets(s->r.m);
    check_ok(dl_transport_open(&t, dl_transport_find("usb"), &setup, &err), &err);
    uint32_t packets = (uint32_t)(model_packets(s->r.m) - before);
    dl_transport_close(&t);
    static const model_fault faults[] = {MODEL_STALL_OUT, MODEL_SHORT,    MODEL_WRONG_ANSWER,
                                         MODEL_TIMEOUT,   MODEL_DMI_BUSY, MODEL_UNPLUG};
    for (size_t i = 0; i < sizeof faults / sizeof faults[0]; i++) {
        model_fault fault = faults[i];
        for (uint32_t packet = 0; packet < packets; packet++) {
            model_arm(s->r.m, fault, packet);
            devlog_status status = dl_transport_open(&t, dl_transport_find("usb"), &setup, &err);
            if (status == DEVLOG_OK)
                dl_transport_close(&t);
            else
                check_message(err.text, model_fault_names[fault], packet);
            if (status != DEVLOG_OK && fault != MODEL_UNPLUG)
                fail_msg("%s at packet %u of opening: %s", model_fault_names[fault], packet, err.text);
            model_bus_replug(s->r.bus);
            model_arm(s->r.m, MODEL_NO_FAULT, 0);
            model_quick(s->r.m);
        }
    }
    check_ok(dl_transport_open(&s->device->transport, dl_transport_find("usb"), &setup, &err), &err);
}

/* A fault that stays: an end within a few time-outs, and one line. */
static void faults_that_stay(void **state)
{
    scene *s = *state;
    for (int fault = MODEL_NO_FAULT + 1; fault < MODEL_FAULTS; fault++) {
        if (fault == MODEL_SLOW) continue; /* that one is always so */
        pulled got[RISCS];
        devlog_status status;
        devlog_error err = {0};
        memcpy(s->profiler, s->snapshot, s->device->board.profiler.size);
        model_arm_all(s->r.m, (model_fault)fault);
        uint64_t started = dl_now_ns();
        pull_all(s, got, &status, &err);
        if (dl_now_ns() - started > LIMIT_NS) fail_msg("%s hangs", model_fault_names[fault]);
        if (status == DEVLOG_OK) fail_msg("%s stays, and the pull says nothing", model_fault_names[fault]);
        check_message(err.text, model_fault_names[fault], 0);
        free_all(got);
        model_arm(s->r.m, MODEL_NO_FAULT, 0);
        reopen(s);
    }
}

/* The same from the user's side: the log holds what came, and the error says what did not. */
static void unplugged_in_mid_pull(void **state)
{
    scene *s = *state;
    devlog_error err = {0};
    memcpy(s->profiler, s->snapshot, s->device->board.profiler.size);
    s->device->profile = true;
    model_arm(s->r.m, MODEL_UNPLUG, s->packets / 2);
    assert_int_equal(profiler_dump(s->device, &err), DEVLOG_ERR_PARTIAL);
    check_message(err.text, "unplug", s->packets / 2);
    if (!strstr(err.text, "the records of core (0,0) are missing from") || !strstr(err.text, "were kept"))
        fail_msg("%s", err.text);
    size_t size;
    char *log = read_bytes(devlog_profiler_log(s->device), &size);
    assert_non_null(strstr(log, ",BRISC,"));
    assert_null(strstr(log, ",TRISC2,"));
    free(log);
    model_arm(s->r.m, MODEL_NO_FAULT, 0);
    reopen(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_fault_at_every_packet),
        cmocka_unit_test(faults_while_opening),
        cmocka_unit_test(faults_that_stay),
        cmocka_unit_test(unplugged_in_mid_pull),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
