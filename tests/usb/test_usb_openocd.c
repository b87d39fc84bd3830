/* OpenOCD, which knows nothing of us, on the same device model through the same libusb: it examines the chip,
 * its dump of the profiler region is what our driver pulled, and our driver reads what it wrote. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/process.h"
#include "devlog/record.h"
#include "support/device.h"
#include "support/files.h"
#include "usb/rig.h"

enum { USER = 0x48000, BYTES = 2048 };

/* Runs OpenOCD with these commands after its init; false when there is no OpenOCD. */
static bool openocd(rig *r, const char *commands, char **text)
{
    char path[300], config[2048];
    snprintf(path, sizeof path, "%s/openocd.cfg", test_folder());
    snprintf(config, sizeof config,
             "adapter driver cmsis-dap\ncmsis_dap_backend usb_bulk\ncmsis_dap_vid_pid 0x1209 0xde01\n"
             "adapter serial DEVLOG0001\ntransport select jtag\nadapter speed 10000\n"
             "jtag newtap chip cpu -irlen 5 -expected-id 0x%08x\n"
             "target create chip.cpu riscv -chain-position chip.cpu -coreid 0\n"
             "gdb_port disabled\ntcl_port disabled\ntelnet_port disabled\ninit\n%s\nshutdown\n",
             r->b.usb_idcode, commands);
    write_text(path, config);
    const char *argv[] = {"openocd", "-f", path, NULL};
    dl_output out;
    devlog_error err = {0};
    model_bus_env(r->bus);
    devlog_status status = dl_process_run(argv, &out, &err);
    unsetenv("LD_PRELOAD");
    if (status == DEVLOG_ERR_NOT_FOUND) return false;
    check_ok(status, &err);
    if (out.exit != 0) fail_msg("OpenOCD: %s", out.text);
    *text = out.text;
    return true;
}

/* Lets the chip record something by our own driver. */
static devlog_device *record_something(devlog_program **program)
{
    devlog_error err = {0};
    devlog_device *d;
    const devlog_device_options options =
        DEVLOG_DEVICE_OPTIONS(.board = "usb_tile", .transport = "usb", .profile = DEVLOG_ON,
                              .log_folder = test_folder());
    check_ok(devlog_device_open(&options, &d, &err), &err);
    check_ok(devlog_program_create(d, program, &err), &err);
    devlog_kernel *k =
        add_kernel(*program, "tests/sim/kernels/events.c", "BRISC", (devlog_cores){0, 0, 0, 0}, NULL);
    const uint32_t rounds = 40;
    check_ok(devlog_kernel_set_args(k, (devlog_core){0, 0}, &rounds, 1, &err), &err);
    prepare(d, *program);
    d->profile = false; /* so that the records stay where they are */
    check_ok(devlog_launch_program(d, *program, &err), &err);
    return d;
}

static void says(const char *text, const char *what)
{
    if (!strstr(text, what)) fail_msg("OpenOCD does not say '%s': %s", what, text);
}

static void same_dump(void **state)
{
    (void)state;
    setenv("DEVLOG_CLOCK_SYNC", "0", 1);
    rig r;
    model_options o = rig_options("usb_tile");
    rig_plug(&r, "usb_tile", &o);
    devlog_program *program;
    devlog_device *d = record_something(&program);
    board_region region = d->board.profiler;
    region.size =
        2 * DEVLOG_REGION_BYTES(d->board.segment_bits); /* of the RISC that recorded, and the next */
    uint8_t *ours = malloc(region.size);
    devlog_error err = {0};
    check_ok(dl_core_read(d, (devlog_core){0, 0}, region.base, ours, region.size, &err), &err);
    devlog_program_free(program);
    check_ok(devlog_device_close(d, &err), &err);

    char dump[300], load[300], commands[1500], *text = NULL;
    snprintf(dump, sizeof dump, "%s/dump.bin", test_folder());
    snprintf(load, sizeof load, "%s/load.bin", test_folder());
    uint8_t bytes[BYTES];
    for (uint32_t i = 0; i < BYTES; i++)
        bytes[i] = (uint8_t)(i * 2654435761u >> 24);
    FILE *f = fopen(load, "wb");
    assert_int_equal(fwrite(bytes, 1, BYTES, f), BYTES);
    fclose(f);
    snprintf(commands, sizeof commands,
             "halt\ndump_image %s 0x%x %u\nload_image %s 0x%x bin\nmwb 0x%x 0x5a\nreg pc\nresume", dump,
             region.base, region.size, load, USER, USER + BYTES);
    if (!openocd(&r, commands, &text)) {
        puts("skipped: there is no openocd");
        free(ours);
        rig_close(&r);
        skip();
    }
    says(text, "Using CMSIS-DAPv2 interface with VID:PID=0x1209:0xde01, serial=DEVLOG0001");
    says(text, "tap/device found: 0x1de51001");
    says(text, "Examined RISC-V core; found 5 harts");
    says(text, "XLEN=32, misa=0x40001100");
    free(text);
    size_t size;
    char *theirs = read_bytes(dump, &size);
    assert_int_equal(size, region.size);
    assert_memory_equal(theirs, ours, size);
    free(theirs);
    free(ours);

    uint8_t back[BYTES + 1];
    rig_ok(&r, rig_connect(&r, NULL));
    rig_ok(&r, dl_read(&r.t, r.at, USER, back, sizeof back, &r.err));
    assert_memory_equal(back, bytes, BYTES);
    assert_int_equal(back[BYTES], 0x5A);
    rig_close(&r);
}

/* The other ways to memory, from both sides. */
static void through_a_hart(void **state)
{
    (void)state;
    for (int way = 0; way < 2; way++) {
        rig r;
        model_options o = rig_options("usb_tile");
        o.no_bus = true;
        o.progbuf = way == 0 ? 8 : 0;
        o.abstract_memory = way == 1;
        o.version_1 = way == 1;
        rig_open(&r, "usb_tile", &o);
        const uint32_t words[4] = {1, 0x80000000, 0xFFFFFFFF, 0x12345678};
        rig_ok(&r, dl_write(&r.t, r.at, USER, words, sizeof words, &r.err));
        dl_transport_close(&r.t);
        char *text;
        if (!openocd(&r, "halt\nputs [format \"got %s\" [mdw 0x48000 4]]\nmww 0x48000 0xcafe0001", &text)) {
            puts("skipped: there is no openocd");
            rig_close(&r);
            skip();
        }
        says(text, "00000001 80000000 ffffffff 12345678");
        free(text);
        uint32_t back;
        rig_ok(&r, rig_connect(&r, NULL));
        rig_ok(&r, dl_read(&r.t, r.at, USER, &back, 4, &r.err));
        assert_int_equal(back, 0xCAFE0001);
        rig_close(&r);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(same_dump), cmocka_unit_test(through_a_hart)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
