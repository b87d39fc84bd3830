/* Memory over USB: the real libusb, our driver, and the device model with every way to memory that a debug
 * module may have. */
#include <stdlib.h>
#include <string.h>

#include "support/cmocka_all.h"
#include "usb/rig.h"

static void fill(uint8_t *bytes, size_t n, uint32_t salt)
{
    uint32_t x = salt;
    for (size_t i = 0; i < n; i++)
        bytes[i] = (uint8_t)((x = x * 1664525u + 1013904223u) >> 24);
}

/* Any size and alignment, compared with the simulator's own memory. */
static void check_memory(const model_options *o)
{
    rig r;
    rig_open(&r, "usb_tile", o);
    uint8_t *ram = sim_ram_bytes(model_sim(r.m), model_tile(r.m), 0);
    static uint8_t out[20000], in[20000];
    const struct {
        uint32_t address, size;
    } cases[] = {{0x48000, 4}, {0x48004, 20000}, {0x48001, 1}, {0x48002, 3},
                 {0x48003, 6}, {0x48005, 1001},  {0xFFFFC, 4}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        uint32_t at = cases[i].address, size = cases[i].size;
        fill(out, size, (uint32_t)i + 1);
        fill(ram + at - (at > 0x48000 ? 1 : 0), 1, 99);
        uint8_t before = ram[at - 1];
        rig_ok(&r, dl_write(&r.t, r.at, at, out, size, &r.err));
        assert_memory_equal(ram + at, out, size);
        assert_int_equal(ram[at - 1], before);
        memset(in, 0, size);
        rig_ok(&r, dl_read(&r.t, r.at, at, in, size, &r.err));
        assert_memory_equal(in, out, size);
    }
    rig_close(&r);
}

static void by_bus(void **state)
{
    (void)state;
    model_options o = rig_options("usb_tile");
    check_memory(&o);
    o.no_narrow = true;
    check_memory(&o);
}

static void slower_than_it_says(void **state)
{
    (void)state;
    model_options o = rig_options("usb_tile");
    o.dmi_clocks = 5;
    o.bus_clocks = 70;
    check_memory(&o);
    o.packet_bytes = 64;
    o.packet_count = 1;
    o.abits = 9;
    o.version_1 = true;
    check_memory(&o);
}

static void by_program_buffer(void **state)
{
    (void)state;
    model_options o = rig_options("usb_tile");
    o.no_bus = true;
    o.progbuf = 3;
    check_memory(&o);
}

static void by_abstract_command(void **state)
{
    (void)state;
    model_options o = rig_options("usb_tile");
    o.no_bus = true;
    o.progbuf = 0;
    o.abstract_memory = true;
    check_memory(&o);
}

static void beside_another_tap(void **state)
{
    (void)state;
    model_options o = rig_options("usb_tile");
    o.other_tap = -1;
    check_memory(&o);
    o.other_tap = 1;
    check_memory(&o);
}

/* Not more than 1.1 times the packets that DAP_JTAG_Sequence allows: nine bytes a word, two bytes of head. */
static void fewest_packets(void **state)
{
    (void)state;
    rig r;
    model_options o = rig_options("usb_tile");
    o.cycles_per_tck = 0;
    rig_open(&r, "usb_tile", &o);
    static uint32_t words[2048];
    for (uint32_t n = 256; n <= 2048; n *= 2) {
        uint32_t fewest = (n + 55) / 56;
        uint64_t packets = model_packets(r.m), reads = model_bus_reads(r.m), writes = model_bus_writes(r.m);
        rig_ok(&r, dl_read(&r.t, r.at, 0x48000, words, 4 * n, &r.err));
        uint64_t used = model_packets(r.m) - packets;
        rig_ok(&r, dl_write(&r.t, r.at, 0x48000, words, 4 * n, &r.err));
        uint64_t used_too = model_packets(r.m) - packets - used;
        if (10 * used > 11 * fewest || 10 * used_too > 11 * fewest)
            fail_msg("%u words: %u packets to read, %u to write, %u do", n, (unsigned)used,
                     (unsigned)used_too, fewest);
        assert_int_equal(model_bus_reads(r.m) - reads, n);
        assert_int_equal(model_bus_writes(r.m) - writes, n);
    }
    rig_close(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(by_bus),
        cmocka_unit_test(slower_than_it_says),
        cmocka_unit_test(by_program_buffer),
        cmocka_unit_test(by_abstract_command),
        cmocka_unit_test(beside_another_tap),
        cmocka_unit_test(fewest_packets),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
