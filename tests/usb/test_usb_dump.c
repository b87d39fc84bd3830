/* A hung kernel behind a probe: after the program that launched it has ended, another looks at the chip,
 * without disturbing it, and names RISC and open zone. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/process.h"
#include "profiler/look.h"
#include "support/device.h"
#include "usb/rig.h"

typedef struct seen {
    char stuck[32], zones[256], last[64];
    uint32_t riscs, busy;
} seen;

static devlog_status see(void *context, const look_risc *risc, devlog_error *err)
{
    (void)err;
    seen *s = context;
    s->riscs++;
    if (risc->state != LOOK_KERNEL) return DEVLOG_OK;
    s->busy++;
    snprintf(s->stuck, sizeof s->stuck, "%s", risc->name);
    snprintf(s->last, sizeof s->last, "%s", risc->last.name);
    for (uint32_t i = 0; i < risc->n_open; i++)
        snprintf(s->zones + strlen(s->zones), sizeof s->zones - strlen(s->zones), "%s;", risc->open[i].name);
    return DEVLOG_OK;
}

/* What a user types. */
static void by_command(rig *r, const char *board_name, const char *risc)
{
    devlog_error err = {0};
    dl_output out;
    const char *bin = getenv("DEVLOG_BIN");
    const char *argv[] = {bin, "dump", "--device", "usb", "--board", board_name, NULL};
    if (!bin) return;
    model_bus_env(r->bus);
    check_ok(dl_process_run(argv, &out, &err), &err);
    unsetenv("LD_PRELOAD");
    bool told = strstr(out.text, risc) && strstr(out.text, "stuck here");
    if (out.exit != 0 || !told) fail_msg("exit %d: %s", out.exit, out.text);
    free(out.text);
}

static void hang_and_look(const char *board_name, const char *risc)
{
    rig r;
    devlog_error err = {0};
    devlog_device *device;
    devlog_program *program;
    const devlog_cores one = {0, 0, 0, 0};
    const uint32_t forever = UINT32_MAX;
    model_options o = rig_options(board_name);
    rig_plug(&r, board_name, &o);
    devlog_device_options options = DEVLOG_DEVICE_OPTIONS(.board = board_name, .transport = "usb",
                                                          .profile = DEVLOG_ON, .log_folder = test_folder());
    check_ok(devlog_device_open(&options, &device, &err), &err);
    check_ok(devlog_program_create(device, &program, &err), &err);
    devlog_kernel *kernel = add_kernel(program, "tests/sim/kernels/hang.c", risc, one, NULL);
    check_ok(devlog_kernel_set_args(kernel, (devlog_core){0, 0}, &forever, 1, &err), &err);
    prepare(device, program);
    device->timeout_ms = 1500;
    assert_int_equal(devlog_launch_program(device, program, &err), DEVLOG_ERR_TIMEOUT);
    if (!strstr(err.text, risc)) fail_msg("%s", err.text);
    devlog_program_free(program);
    check_ok(devlog_device_close(device, &err), &err);

    seen s = {.riscs = 0};
    uint32_t cores = 0;
    static const look_options nothing;
    options.attach = true;
    options.profile = DEVLOG_OFF;
    check_ok(devlog_device_open(&options, &device, &err), &err);
    uint64_t before = sim_retired_total(model_sim(r.m));
    check_ok(look_at_device(device, &nothing, see, &s, &cores, &err), &err);
    assert_true(sim_retired_total(model_sim(r.m)) > before); /* it runs on meanwhile */
    assert_int_equal(cores, 1);
    assert_int_equal(s.riscs, r.b.n_riscs);
    assert_int_equal(s.busy, 1);
    assert_string_equal(s.stuck, risc);
    if (!strstr(s.zones, "-KERNEL;outer;stuck here;")) fail_msg("%s", s.zones);
    assert_string_equal(s.last, "stuck here");
    check_ok(devlog_device_close(device, &err), &err);
    by_command(&r, board_name, risc);
    model_bus_free(r.bus);
    model_destroy(r.m);
}

static void on_a_tile(void **state)
{
    (void)state;
    hang_and_look("usb_tile", "TRISC1");
}

static void on_microcontrollers(void **state)
{
    (void)state;
    hang_and_look("fe310", "HART0");
    hang_and_look("gd32vf103", "HART0");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(on_a_tile),
        cmocka_unit_test(on_microcontrollers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
