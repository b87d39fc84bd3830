/* BAR0: TLB windows and their configuration, WormholeB0/PCIExpressTile/TLBs.md, and Blackhole's format. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "support/sim_asm.h"
#include "support/sim_rig.h"

enum { MCAST = 1, STATIC_VC = 2, LINKED = 4 };

static uint64_t entry(uint32_t n, uint64_t addr, uint32_t x, uint32_t y, uint32_t x0, uint32_t y0,
                      uint32_t noc, uint32_t flags)
{
    return addr >> (36 - n) | (uint64_t)x << n | (uint64_t)y << (n + 6) | (uint64_t)x0 << (n + 12) |
           (uint64_t)y0 << (n + 18) | (uint64_t)noc << (n + 24) | (uint64_t)(flags & MCAST) << (n + 25) |
           (uint64_t)(flags >> 2 & 1) << (n + 28) | (uint64_t)(flags >> 1 & 1) << (n + 29);
}

static void configure(sim *s, uint32_t window, uint64_t config)
{
    assert_true(sim_bus_write(s, RIG_BAR0 + RIG_WINDOW_CONFIG + 8 * window, &config, 8));
}

static uint64_t window_base(uint32_t window)
{
    if (window < 156) return RIG_BAR0 + (uint64_t)window * 0x100000;
    if (window < 166) return RIG_BAR0 + 156 * UINT64_C(0x100000) + (window - 156) * UINT64_C(0x200000);
    return RIG_BAR0 + 156 * UINT64_C(0x100000) + 10 * UINT64_C(0x200000) +
           (window - 166) * UINT64_C(0x1000000);
}

static sim *make(void)
{
    sim_config c = rig_config();
    return rig_create(&c);
}

static void config_space(void **state)
{
    (void)state;
    sim *s = make();
    assert_int_equal(sim_config_read(s, 0), 0x401E1E52);
    uint64_t bar0 = sim_config_read(s, 0x10) | (uint64_t)sim_config_read(s, 0x14) << 32;
    assert_int_equal(bar0 & ~UINT64_C(15), RIG_BAR0);
    assert_int_equal(bar0 & 6, 4); /* a 64-bit BAR */
    assert_int_equal(sim_config_read(s, 0x18), 0xFFFFFFFF);
    sim_destroy(s);
}

static void configuration_reads_back(void **state)
{
    (void)state;
    sim *s = make();
    for (uint32_t w = 0; w < 186; w += 5) {
        uint64_t value = UINT64_C(0x0123456789ABCDEF) * (w + 1), back = 0;
        configure(s, w, value);
        assert_true(sim_bus_read(s, RIG_BAR0 + RIG_WINDOW_CONFIG + 8 * w, &back, 8));
        assert_int_equal(back, value);
        uint32_t half = 0xFEEDF00D, halves[2];
        assert_true(sim_bus_write(s, RIG_BAR0 + RIG_WINDOW_CONFIG + 8 * w + 4, &half, 4));
        assert_true(sim_bus_read(s, RIG_BAR0 + RIG_WINDOW_CONFIG + 8 * w, &halves[0], 4));
        assert_true(sim_bus_read(s, RIG_BAR0 + RIG_WINDOW_CONFIG + 8 * w + 4, &halves[1], 4));
        assert_int_equal(halves[0], (uint32_t)value);
        assert_int_equal(halves[1], half);
    }
    sim_destroy(s);
}

/* A window of each class on another tile; the first and last of each class. */
static void windows_of_every_size(void **state)
{
    (void)state;
    const struct {
        uint32_t window, n;
    } cases[] = {{0, 16}, {155, 16}, {156, 15}, {165, 15}, {166, 12}, {185, 12}};
    for (size_t i = 0; i < 6; i++) {
        sim *s = make();
        uint32_t n = cases[i].n, tile = (uint32_t)i + 3, value = 0x1000 + (uint32_t)i, back = 0;
        uint32_t x = 1 + tile % 4, y = 1 + tile / 4;
        uint64_t base = window_base(cases[i].window);
        configure(s, cases[i].window, entry(n, 0, x, y, 0, 0, 0, STATIC_VC));
        assert_true(sim_bus_write(s, base + 0x1230, &value, 4));
        assert_int_equal(rig_word(s, tile, 0x1230), value);
        assert_true(sim_bus_read(s, base + 0x1230, &back, 4));
        assert_int_equal(back, value);
        /* registers of the tile: a window's base is a multiple of its size */
        uint64_t size = UINT64_C(1) << (36 - n), reg = RIG_SOFT_RESET;
        configure(s, cases[i].window, entry(n, reg & ~(size - 1), x, y, 0, 0, 0, 0));
        assert_true(sim_bus_read(s, base + (reg & (size - 1)), &back, 4));
        assert_int_equal(back, RIG_RESET_ALL);
        sim_destroy(s);
    }
}

static void any_size_and_alignment_in_memory(void **state)
{
    (void)state;
    sim *s = make();
    configure(s, 0, entry(16, 0, 1, 1, 0, 0, 0, 0));
    uint8_t out[777], in[777];
    for (size_t i = 0; i < sizeof out; i++)
        out[i] = (uint8_t)(i * 7);
    for (uint32_t start = 0x1FFD; start < 0x2004; start++) {
        assert_true(sim_bus_write(s, RIG_BAR0 + start, out, sizeof out));
        memset(in, 0, sizeof in);
        assert_true(sim_bus_read(s, RIG_BAR0 + start, in, sizeof in));
        assert_memory_equal(in, out, sizeof in);
        assert_memory_equal(sim_ram_bytes(s, 0, 0) + start, out, sizeof out);
    }
    sim_destroy(s);
}

static void local_offset_moves_the_window(void **state)
{
    (void)state;
    sim *s = make();
    uint32_t value = 0x5A5A;
    configure(s, 3, entry(16, 0x100000, 2, 2, 0, 0, 0, 0));
    assert_true(sim_bus_write(s, window_base(3) + 0x40, &value, 4));
    assert_int_equal(rig_word(s, 5, 0x100040), value);
    sim_destroy(s);
}

static void multicast_reaches_compute_tiles_only(void **state)
{
    (void)state;
    sim *s = make();
    uint32_t value = 0xCAFE;
    configure(s, 0, entry(16, 0, 9, 3, 0, 0, 0, MCAST)); /* (0,0) to (9,3): holds both DRAM tiles too */
    assert_true(sim_bus_write(s, RIG_BAR0 + 0x2000, &value, 4));
    for (uint32_t tile = 0; tile < 16; tile++)
        assert_int_equal(rig_word(s, tile, 0x2000), tile < 12 ? value : 0);
    assert_int_equal(rig_word(s, 16, 0x2000), 0);
    assert_int_equal(rig_word(s, 17, 0x2000), 0);
    /* registers too: all harts of a part of the grid leave reset together */
    configure(s, 1, entry(16, 0xFFB00000, 2, 2, 1, 1, 0, MCAST));
    uint32_t held = RIG_RESET_ALL & ~0x800u;
    assert_true(sim_bus_write(s, window_base(1) + 0x121B0, &held, 4));
    for (uint32_t tile = 0; tile < 16; tile++)
        assert_int_equal(rig_word(s, tile, RIG_SOFT_RESET),
                         tile == 0 || tile == 1 || tile == 4 || tile == 5 ? held : RIG_RESET_ALL);
    sim_destroy(s);
}

/* "When StartX > EndX, the X span is all x such that x <= EndX || StartX <= x" (NoC/MemoryMap.md) */
static void multicast_wraps_around(void **state)
{
    (void)state;
    sim *s = make();
    uint32_t value = 1;
    configure(s, 0, entry(16, 0, 1, 1, 4, 1, 0, MCAST));
    assert_true(sim_bus_write(s, RIG_BAR0 + 0x2000, &value, 4));
    for (uint32_t tile = 0; tile < 16; tile++)
        assert_int_equal(rig_word(s, tile, 0x2000), tile == 0 || tile == 3);
    sim_destroy(s);
}

/* NoC 1 counts from the other corner (NoC/Coordinates.md). */
static void noc_1_has_its_own_coordinates(void **state)
{
    (void)state;
    sim *s = make();
    uint32_t value = 0x77;
    configure(s, 0, entry(16, 0, 9 - 2, 11 - 3, 0, 0, 1, 0));
    assert_true(sim_bus_write(s, RIG_BAR0 + 0x2000, &value, 4));
    assert_int_equal(rig_word(s, 9, 0x2000), value);                       /* (2,3) */
    configure(s, 0, entry(16, 0, 9 - 1, 11 - 1, 9 - 2, 11 - 1, 1, MCAST)); /* from (2,1) to (1,1) */
    assert_true(sim_bus_write(s, RIG_BAR0 + 0x2000, &value, 4));
    for (uint32_t tile = 0; tile < 8; tile++)
        assert_int_equal(rig_word(s, tile, 0x2000), tile < 2 ? value : 0);
    sim_destroy(s);
}

static void dram_through_a_window(void **state)
{
    (void)state;
    sim *s = make();
    uint32_t value = 0xD4A3, back = 0;
    configure(s, 184, entry(12, 0x3F000000, 5, 0, 0, 0, 0, 0));
    assert_true(sim_bus_write(s, window_base(184) + 0xFFFFFC, &value, 4)); /* the last word of the GiB */
    assert_true(sim_bus_read(s, window_base(184) + 0xFFFFFC, &back, 4));
    assert_int_equal(back, value);
    assert_int_equal(rig_word(s, 17, 0x3FFFFFFC), value);
    assert_int_equal(rig_word(s, 16, 0x3FFFFFFC), 0);
    sim_destroy(s);
}

typedef struct refusal {
    uint64_t config;
    uint64_t offset;
    uint32_t size;
    bool write;
    const char *text;
} refusal;

static void refusals_name_the_bus_address(void **state)
{
    (void)state;
    const refusal cases[] = {
        {entry(16, 0, 1, 1, 0, 0, 0, 0), 0xFFFFE, 4, false,
         "host read of 4 bytes at bus address 0x1000ffffe: TLB window 0: the access crosses the end of the "
         "window"},
        {entry(16, 0, 7, 7, 0, 0, 0, 0), 0x10, 4, true,
         "host write of 4 bytes at bus address 0x100000010: there is no tile at (7,7) of NoC 0"},
        {entry(16, 0, 63, 1, 0, 0, 0, 0), 0x10, 4, true,
         "host write of 4 bytes at bus address 0x100000010: there is no tile at (63,1) of NoC 0"},
        {entry(16, 0x100000, 1, 1, 0, 0, 0, 0), 0x6E000, 4, false,
         "host read of 4 bytes at bus address 0x10006e000: tile (1,1) at 0x16e000: nothing is mapped there"},
        {entry(16, 0x100000, 1, 1, 0, 0, 0, 0), 0x6DFFE, 4, true,
         "host write of 4 bytes at bus address 0x10006dffe: tile (1,1) at 0x16dffe: only memory, or one "
         "aligned register "
         "of 4 bytes, can be accessed"},
        {entry(16, 0xFFB00000, 1, 1, 0, 0, 0, 0), 0x121B0, 8, false,
         "host read of 8 bytes at bus address 0x1000121b0: tile (1,1) at 0xffb121b0: only memory, or one "
         "aligned register "
         "of 4 bytes, can be accessed"},
        {entry(16, 0xFFB00000, 1, 1, 0, 0, 0, 0), 0x0, 4, false,
         "host read of 4 bytes at bus address 0x100000000: tile (1,1) at 0xffb00000: nothing is mapped "
         "there"},
        {entry(16, 0xFFE00000, 1, 1, 0, 0, 0, 0), 0xF0274, 4, true,
         "host write of 4 bytes at bus address 0x1000f0274: tile (1,1) at 0xffef0274: nothing is mapped "
         "there"},
        {entry(16, UINT64_C(0x100000000), 1, 1, 0, 0, 0, 0), 0, 4, false,
         "host read of 4 bytes at bus address 0x100000000: tile (1,1) at 0x100000000: nothing is mapped "
         "there"},
        {entry(16, 0x40000000, 0, 0, 0, 0, 0, 0), 0, 4, false,
         "host read of 4 bytes at bus address 0x100000000: tile (0,0) at 0x40000000: this is outside of the "
         "tile's DRAM"},
        {entry(16, 0, 2, 2, 1, 1, 0, MCAST), 0x40, 4, false,
         "host read of 4 bytes at bus address 0x100000040: a multicast window cannot be read"},
        {entry(16, 0, 9, 11, 5, 5, 0, MCAST), 0x40, 4, true,
         "host write of 4 bytes at bus address 0x100000040: no compute tile is in the rectangle (5,5) to "
         "(9,11)"},
        {entry(16, 0, 1, 1, 0, 0, 0, LINKED), 0x40, 4, true,
         "host write of 4 bytes at bus address 0x100000040: TLB window 0: linked transactions are not "
         "modelled"},
        {entry(16, 0, 1, 1, 0, 0, 0, 0) | UINT64_C(3) << 42, 0x40, 4, true,
         "host write of 4 bytes at bus address 0x100000040: TLB window 0: ordering mode 3 does not exist"},
        {0, 0x1F000000, 4, false,
         "host read of 4 bytes at bus address 0x11f000000: nothing is mapped there in BAR0"},
        {0, 0x20000000, 4, false, "host read of 4 bytes at bus address 0x120000000: this is outside of BAR0"},
        {0, 0x1FFFFFFE, 4, true, "host write of 4 bytes at bus address 0x11ffffffe: this is outside of BAR0"},
        {0, RIG_WINDOW_CONFIG + 4, 8, true,
         "host write of 8 bytes at bus address 0x11fc00004: window configuration takes aligned 4 or 8 bytes"},
        {0, RIG_WINDOW_CONFIG + 8, 2, false,
         "host read of 2 bytes at bus address 0x11fc00008: window configuration takes aligned 4 or 8 bytes"},
        {entry(16, 0xFFB00000, 1, 1, 0, 0, 0, 0), 0x121B0, 4, true,
         "host write of 4 bytes at bus address 0x1000121b0: tile (1,1) at 0xffb121b0: soft-reset bits "
         "0x00000001 are not "
         "modelled"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        sim *s = make();
        uint8_t bytes[8] = {1};
        configure(s, 0, cases[i].config);
        bool ok = cases[i].write ? sim_bus_write(s, RIG_BAR0 + cases[i].offset, bytes, cases[i].size)
                                 : sim_bus_read(s, RIG_BAR0 + cases[i].offset, bytes, cases[i].size);
        assert_false(ok);
        assert_string_equal(sim_fault(s), cases[i].text);
        assert_false(sim_clock(s, 1)); /* sticky */
        assert_false(sim_bus_read(s, RIG_BAR0 + RIG_WINDOW_CONFIG, bytes, 4));
        assert_string_equal(sim_fault(s), cases[i].text);
        sim_destroy(s);
    }
}

/* 96 bits: local_offset 43, x_end, y_end, x_start, y_start 6 each, NoC 2, multicast 1, ordering 2. */
static void blackhole_configure(sim *s, uint32_t window, uint64_t addr, uint32_t x, uint32_t y, uint32_t x0,
                                uint32_t y0, bool multicast)
{
    uint64_t low =
        addr >> 21 | (uint64_t)x << 43 | (uint64_t)y << 49 | (uint64_t)x0 << 55 | (uint64_t)y0 << 61;
    uint32_t words[3] = {(uint32_t)low, (uint32_t)(low >> 32), y0 >> 3 | (uint32_t)multicast << 5};
    for (uint32_t i = 0; i < 3; i++) {
        uint32_t back = 0;
        uint64_t at = RIG_BAR0 + RIG_WINDOW_CONFIG + 12 * window + 4 * i;
        assert_true(sim_bus_write(s, at, &words[i], 4));
        assert_true(sim_bus_read(s, at, &back, 4));
        assert_int_equal(back, words[i]);
    }
}

static void blackhole_windows(void **state)
{
    (void)state;
    sim_config c = rig_config();
    c.window_format = SIM_WINDOW_BLACKHOLE;
    c.n_window_classes = 1;
    c.windows[0] = (sim_window_class){202, 21};
    c.noc_width = 17;
    c.noc_height = 16;
    c.tiles[2].x = 16, c.tiles[2].y = 15;
    sim *s = rig_create(&c);
    uint32_t value = 0xB1AC, back = 0;
    blackhole_configure(s, 5, 0, 16, 15, 0, 0, false);
    assert_true(sim_bus_write(s, RIG_BAR0 + 5 * 0x200000 + 0x120, &value, 4));
    assert_int_equal(rig_word(s, 2, 0x120), value);
    blackhole_configure(s, 5, 0xFFA00000, 16, 15, 0, 0, false);
    assert_true(sim_bus_read(s, RIG_BAR0 + 5 * 0x200000 + 0x1121B0, &back, 4));
    assert_int_equal(back, RIG_RESET_ALL);
    blackhole_configure(s, 201, 0, 16, 15, 4, 4, true);
    assert_true(sim_bus_write(s, RIG_BAR0 + 201 * UINT64_C(0x200000) + 0x200, &value, 4));
    for (uint32_t tile = 0; tile < 16; tile++)
        assert_int_equal(rig_word(s, tile, 0x200), tile == 2 || tile == 15 ? value : 0);
    blackhole_configure(s, 201, 0, 0, 0, 0, 9, true); /* y_start is in two words */
    assert_true(sim_bus_write(s, RIG_BAR0 + 201 * UINT64_C(0x200000) + 0x200, &value, 4) == false);
    assert_non_null(strstr(sim_fault(s), "rectangle (0,9) to (0,0)"));
    sim_destroy(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(config_space),
        cmocka_unit_test(configuration_reads_back),
        cmocka_unit_test(windows_of_every_size),
        cmocka_unit_test(any_size_and_alignment_in_memory),
        cmocka_unit_test(local_offset_moves_the_window),
        cmocka_unit_test(multicast_reaches_compute_tiles_only),
        cmocka_unit_test(multicast_wraps_around),
        cmocka_unit_test(noc_1_has_its_own_coordinates),
        cmocka_unit_test(dram_through_a_window),
        cmocka_unit_test(refusals_name_the_bus_address),
        cmocka_unit_test(blackhole_windows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
