/* Transport "kmd" against a fake of the kernel driver with a simulated chip behind it: whole programs, the
 * tiles that a chip has not got, and the versions of the driver. Not for two programs (test_kmd_owner.c) and
 * not for cards that go away (test_kmd_lost.c). */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "profiler/profiler.h"
#include "support/fake_kmd.h"
#include "support/rows.h"

static const char *const boards[] = {"wormhole_b0", "blackhole"};

static devlog_status open_card(const fake_kmd *f, const kmd_system *system, devlog_device **out,
                               devlog_error *err)
{
    const devlog_device_options options =
        DEVLOG_DEVICE_OPTIONS(.board = f->b.name, .transport = "kmd:3", .profile = DEVLOG_ON,
                              .log_folder = test_folder());
    return dl_device_open(&options, system, out, err);
}

static void run_adder(devlog_device *device, devlog_cores where)
{
    devlog_error err = {0};
    devlog_program *program;
    const uint32_t wide = where.x1 - where.x0 + 1, n = wide * (where.y1 - where.y0 + 1);
    check_ok(devlog_program_create(device, &program, &err), &err);
    devlog_kernel *kernel = add_kernel(program, "firmware/kernels/vector_add.c", "NCRISC", where, NULL);
    uint32_t user = devlog_device_user_l1(device, NULL);
    for (uint32_t c = 0; c < n; c++) {
        const devlog_core core = {where.x0 + c % wide, where.y0 + c / wide};
        const uint32_t words[4] = {10 * c, 1, 2, 3}, args[] = {user, user + 8, user + 16, 2};
        check_ok(devlog_kernel_set_args(kernel, core, args, 4, &err), &err);
        check_ok(devlog_write_to_device(device, core, user, words, sizeof words, &err), &err);
    }
    prepare(device, program);
    launch(device, program);
    for (uint32_t c = 0; c < n; c++) {
        const devlog_core core = {where.x0 + c % wide, where.y0 + c / wide};
        uint32_t sum[2];
        test_rows rows;
        check_ok(devlog_read_from_device(device, core, user + 16, sum, sizeof sum, &err), &err);
        assert_int_equal(sum[0], 10 * c + 2);
        assert_int_equal(sum[1], 1 + 3);
        read_rows(device, program, core, 1, &rows);
        assert_int_equal(count_rows(&rows, DL_ROW_ZONE_START, "add block"), 1);
        free_rows(&rows);
    }
    devlog_program_free(program);
}

/* A program on more tiles than there are windows, its records pulled, and every window given back. */
static void a_program_runs(void **state)
{
    (void)state;
    static const int versions[] = {134, 200, 205, 206, 210};
    for (size_t i = 0; i < 10; i++) {
        fake_kmd f;
        fake_kmd_start(&f, boards[i % 2], versions[i / 2], NULL);
        const kmd_system system = fake_kmd_system(&f, 0);
        devlog_error err = {0};
        devlog_device *device;
        check_ok(open_card(&f, &system, &device, &err), &err);
        assert_true(f.multicasts > 0); /* all cores held in reset by one store */
        run_adder(device, (devlog_cores){0, 0, 2, 1});
        check_ok(devlog_device_close(device, &err), &err);
        fake_kmd_nothing_kept(&f);
        assert_int_equal(f.frees, 4);
        fake_kmd_end(&f);
    }
}

/* ---- Tiles that are switched off ---- */

static uint64_t dead; /* of the next chip; the fake takes no argument */
static uint32_t version_of_table;
static bool without_firmware, without_masks;

static void switch_off(fake_kmd *f)
{
    fake_kmd_harvest(f, dead);
    if (without_masks) {
        f->config.arc.n_tags = 1; /* HARVESTING_STATE is left */
        f->config.arc.harvested = UINT32_MAX;
    }
    if (without_firmware) f->config.arc.silent = true;
    if (version_of_table) f->config.arc.version = version_of_table;
}

static uint32_t seed;

static uint32_t below(uint32_t n)
{
    seed = seed * 1664525u + 1013904223u;
    return (uint32_t)(((uint64_t)(seed >> 8) * n) >> 24);
}

/* As many lines of the board as a chip of this kind can lose, at random. */
static uint64_t random_lines(const char *board_name)
{
    board b;
    uint64_t mask = 0;
    check_ok(board_load(board_name, &b, NULL), &(devlog_error){0});
    for (uint32_t n = below(b.arc.columns ? 5 : 3); n > 0; n--)
        mask |= UINT64_C(1) << b.arc.fuses[below(b.arc.n_fuses)];
    return mask;
}

/* The grid is what is there, everything runs on it, and no dead tile is ever touched (the chip would hang,
 * and the fake would fail the test). */
static void dead_tiles_are_never_touched(void **state)
{
    (void)state;
    for (seed = 1; seed <= 6; seed += 1) {
        const char *name = boards[seed % 2];
        fake_kmd f;
        devlog_error err = {0};
        devlog_device *device;
        uint32_t start = seed;
        dead = random_lines(name);
        fake_kmd_start(&f, name, 210, switch_off);
        const kmd_system system = fake_kmd_system(&f, 0);
        check_ok(open_card(&f, &system, &device, &err), &err);
        const devlog_core grid = devlog_device_grid(device);
        uint32_t lost = (uint32_t)__builtin_popcountll(dead);
        assert_int_equal(grid.x, f.b.n_columns - (f.b.arc.columns ? lost : 0));
        assert_int_equal(grid.y, f.b.n_rows - (f.b.arc.columns ? 0 : lost));
        /* The last corner, and a rectangle somewhere. */
        run_adder(device, (devlog_cores){grid.x - 1, grid.y - 1, grid.x - 1, grid.y - 1});
        const uint32_t x = below(grid.x - 1), y = below(grid.y - 1);
        run_adder(device, (devlog_cores){x, y, x + 1, y + 1});
        uint32_t word;
        assert_int_equal(devlog_read_from_device(device, (devlog_core){grid.x, 0}, 0x48000, &word, 4, &err),
                         DEVLOG_ERR_ARGUMENT);
        char path[256];
        snprintf(path, sizeof path, "%s/state", test_folder());
        check_ok(devlog_save_state(device, path, &err), &err);
        check_ok(devlog_device_close(device, &err), &err);
        fake_kmd_nothing_kept(&f);
        fake_kmd_end(&f);
        /* A saved state has the grid of the chip, so that its cores have the same names. */
        char transport[300];
        snprintf(transport, sizeof transport, "saved:%s", path);
        const devlog_device_options look = DEVLOG_DEVICE_OPTIONS(.transport = transport, .attach = true);
        check_ok(dl_device_open(&look, NULL, &device, &err), &err);
        assert_int_equal(devlog_device_grid(device).x, grid.x);
        assert_int_equal(devlog_device_grid(device).y, grid.y);
        check_ok(devlog_device_close(device, &err), &err);
        seed = start;
    }
    dead = 0;
}

/* A card that does not say what it has is not touched, but for its management core; with the grid that the
 * user names it is used. */
static void unknown_masks_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *board, *grid, *named_dead;
        uint64_t dead;
    } cases[] = {
        {"wormhole_b0", "rows=1-4+8-11", "rows=1-5", UINT64_C(1) << 5 | UINT64_C(1) << 7},
        {"blackhole", "columns=1-7+10-14", "columns=14-15", UINT64_C(1) << 3 | UINT64_C(1) << 12},
    };
    for (size_t i = 0; i < 6; i++) {
        fake_kmd f;
        devlog_error err = {0};
        devlog_device *device;
        dead = cases[i % 2].dead;
        without_firmware = i / 2 == 0;
        without_masks = i / 2 == 1;
        version_of_table = i / 2 == 2 ? 0x20000 : 0;
        fake_kmd_start(&f, cases[i % 2].board, 210, switch_off);
        const kmd_system system = fake_kmd_system(&f, 0);
        const bool known = i == 4; /* Wormhole is asked by message, and has no need of the table */
        if (!known) {
            assert_int_equal(open_card(&f, &system, &device, &err), DEVLOG_ERR_DEVICE);
            assert_non_null(strstr(err.text, "does not say which of its tiles are switched off"));
            assert_non_null(strstr(err.text, "DEVLOG_GRID=columns="));
        }
        fake_kmd_nothing_kept(&f);
        setenv("DEVLOG_GRID", cases[i % 2].grid, 1);
        check_ok(open_card(&f, &system, &device, &err), &err);
        run_adder(device, (devlog_cores){1, 3, 1, 5});
        check_ok(devlog_device_close(device, &err), &err);
        fake_kmd_end(&f);
        unsetenv("DEVLOG_GRID");
    }
    without_firmware = without_masks = false;
    version_of_table = 0;
    /* What the user names is checked against what the chip says, when it does. */
    for (size_t i = 0; i < 2; i++) {
        fake_kmd f;
        devlog_error err = {0};
        devlog_device *device;
        dead = cases[i].dead;
        fake_kmd_start(&f, cases[i].board, 210, switch_off);
        const kmd_system system = fake_kmd_system(&f, 0);
        static const char *const wrong[] = {"rows=",    "columns=1-", "x=1",    "columns=5-3",
                                            "rows=1,2", "columns=9",  "rows=64"};
        for (size_t k = 0; k < sizeof wrong / sizeof wrong[0]; k++) {
            setenv("DEVLOG_GRID", wrong[k], 1);
            if (strcmp(wrong[k], "columns=9") == 0 && i == 0) continue; /* Wormhole has a column 9 */
            assert_int_equal(open_card(&f, &system, &device, &err), DEVLOG_ERR_ARGUMENT);
            assert_non_null(strstr(err.text, wrong[k]));
        }
        setenv("DEVLOG_GRID", cases[i].named_dead, 1);
        assert_int_equal(open_card(&f, &system, &device, &err), DEVLOG_ERR_ARGUMENT);
        assert_non_null(strstr(err.text, "switched off"));
        unsetenv("DEVLOG_GRID");
        fake_kmd_nothing_kept(&f);
        fake_kmd_end(&f);
    }
    dead = 0;
}

/* ---- Drivers ---- */

/* Every request that may fail, at every time that it is made while opening: one line, and nothing is kept. */
static void every_failure_is_clean(void **state)
{
    (void)state;
    static const struct {
        uint32_t request;
        int errnum;
        uint32_t times;
        const char *says;
    } cases[] = {
        {KMD_GET_DEVICE_INFO, EIO, 1, "/dev/tenstorrent/3 (tt-kmd 2.9.0): cannot ask which device it is"},
        {KMD_GET_DRIVER_INFO, EINVAL, 1, "this is no tt-kmd, or one before 1.34"},
        {KMD_GET_DRIVER_INFO, EIO, 1, "cannot ask which driver it has"},
        {KMD_LOCK_CTL, EIO, 1, "cannot lock the card"},
        {KMD_ALLOCATE_TLB, EINVAL, 0, "hands out no TLB windows"},
        {KMD_ALLOCATE_TLB, ENOMEM, 0, "no TLB window is free"},
        {KMD_ALLOCATE_TLB, ENODEV, 4, "the card was reset or removed"},
        {KMD_CONFIGURE_TLB, EINVAL, 2, "cannot configure a TLB window: Invalid argument"},
        {KMD_CONFIGURE_TLB, ENODEV, 2, "the card was reset or removed"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        for (uint32_t at = cases[i].times ? 1 : 0; at <= cases[i].times; at++) {
            fake_kmd f;
            fake_kmd_start(&f, "wormhole_b0", 209, NULL);
            const kmd_system system = fake_kmd_system(&f, 0);
            devlog_error err = {0};
            devlog_device *device;
            f.failure.request = cases[i].request;
            f.failure.errnum = cases[i].errnum;
            f.failure.at = at;
            assert_int_not_equal(open_card(&f, &system, &device, &err), DEVLOG_OK);
            if (!strstr(err.text, cases[i].says)) fail_msg("'%s' does not say '%s'", err.text, cases[i].says);
            fake_kmd_nothing_kept(&f);
            fake_kmd_end(&f);
        }
    }
    fake_kmd f;
    fake_kmd_start(&f, "wormhole_b0", 210, NULL);
    const kmd_system system = fake_kmd_system(&f, 0);
    devlog_error err = {0};
    devlog_device *device;
    f.open_failure = ENOENT;
    assert_int_equal(open_card(&f, &system, &device, &err), DEVLOG_ERR_NOT_FOUND);
    assert_non_null(strstr(err.text, "tt-kmd loaded"));
    f.open_failure = EACCES;
    assert_int_equal(open_card(&f, &system, &device, &err), DEVLOG_ERR_TRANSPORT);
    assert_non_null(strstr(err.text, "MODE=\"0666\""));
    assert_null(strstr(err.text, "group"));
    f.open_failure = ENODEV;
    assert_int_equal(open_card(&f, &system, &device, &err), DEVLOG_ERR_DEVICE);
    assert_non_null(strstr(err.text, "removed, or is being reset"));
    f.open_failure = 0;
    f.b.pci_device = 0xB140; /* the card is another one than the board file describes */
    assert_int_equal(open_card(&f, &system, &device, &err), DEVLOG_ERR_DEVICE);
    assert_non_null(strstr(err.text, "choose the board that fits"));
    fake_kmd_nothing_kept(&f);
    fake_kmd_end(&f);
}

/* 1.32 and 1.33 take another struct under the same number, and call themselves what 1.34 does: a window would
 * show another tile. 1.31 has no windows. */
static void old_drivers_are_refused(void **state)
{
    (void)state;
    for (int version = 131; version <= 133; version++) {
        for (size_t i = 0; i < 2; i++) {
            fake_kmd f;
            fake_kmd_start(&f, boards[i], version, NULL);
            const kmd_system system = fake_kmd_system(&f, 0);
            devlog_error err = {0};
            devlog_device *device;
            assert_int_equal(open_card(&f, &system, &device, &err), DEVLOG_ERR_UNSUPPORTED);
            assert_non_null(strstr(err.text, "install tt-kmd 2.0 or newer"));
            assert_int_equal(f.configures, 0);
            assert_int_equal(f.loads + f.stores, 0);
            fake_kmd_nothing_kept(&f);
            fake_kmd_end(&f);
        }
    }
}

/* One window is enough, of whatever size; it takes more requests. */
static void one_window_is_enough(void **state)
{
    (void)state;
    for (size_t i = 0; i < 4; i++) {
        fake_kmd f;
        devlog_error err = {0};
        devlog_device *device;
        fake_kmd_start(&f, boards[i % 2], 210, NULL);
        const kmd_system system = fake_kmd_system(&f, 0);
        uint32_t other = fake_kmd_process(&f, 99, "devlog"), left = i < 2 ? 1 : 2;
        (void)other;
        for (uint32_t id = 0; id < f.ids; id++) {
            /* All but one (or two) of the largest; or all but the smallest ones. */
            bool largest = f.bits[id] == f.bits[f.ids - 1];
            f.taken[id] = i < 2 ? largest && id + 1 + left < f.ids : f.b.n_classes > 1 && largest;
        }
        bool taken[FAKE_MAX_IDS];
        memcpy(taken, f.taken, sizeof taken);
        check_ok(open_card(&f, &system, &device, &err), &err);
        run_adder(device, (devlog_cores){0, 0, 1, 1});
        check_ok(devlog_device_close(device, &err), &err);
        assert_memory_equal(taken, f.taken, sizeof taken);
        fake_kmd_end(&f);
    }
}

/* Over PCIe a load takes about a microsecond. Besides polling and clocks, a launch loads a line for each 16 bytes of records,
 * and 25 times for each core. The stamps of the default markers are records, too: 32 bytes of each RISC. */
static void accesses_are_few(void **state)
{
    (void)state;
    for (size_t i = 0; i < 4; i++) {
        fake_kmd f;
        devlog_error err = {0};
        devlog_device *device;
        devlog_program *program;
        const devlog_cores four = {0, 0, 1, 1};
        const uint32_t launches = 3, cores = 4, rounds = i < 2 ? 1 : 300;
        fake_kmd_start(&f, boards[i % 2], 210, NULL);
        const kmd_system system = fake_kmd_system(&f, 0);
        check_ok(open_card(&f, &system, &device, &err), &err);
        check_ok(devlog_program_create(device, &program, &err), &err);
        devlog_kernel *kernel = add_kernel(program, "tests/sim/kernels/events.c", "NCRISC", four, NULL);
        for (uint32_t c = 0; c < cores; c++) {
            const uint32_t args[2] = {rounds, 3};
            check_ok(devlog_kernel_set_args(kernel, (devlog_core){c % 2, c / 2}, args, 2, &err), &err);
        }
        prepare(device, program);
        check_ok(devlog_launch_program(device, program, &err), &err); /* what is read once is read */
        const uint64_t loads = f.loads, polls = f.polls, registers = f.registers, stores = f.stores,
                       bytes = profiler_totals_of(device)->record_bytes;
        for (uint32_t k = 0; k < launches; k++)
            check_ok(devlog_launch_program(device, program, &err), &err);
        const uint64_t records = profiler_totals_of(device)->record_bytes - bytes,
                       some = f.loads - loads - (f.polls - polls) - (f.registers - registers);
        printf(
            "%s: %u launches of %u cores, %llu bytes of records: %llu loads besides polling and clocks (%llu), %llu "
            "stores\n",
            boards[i % 2], launches, cores, (unsigned long long)records, (unsigned long long)some,
            (unsigned long long)(f.polls - polls + f.registers - registers),
            (unsigned long long)(f.stores - stores));
        const uint64_t stamps = UINT64_C(32) * f.b.n_riscs * cores * launches;
        if (some > (records + stamps) / 16 + UINT64_C(25) * cores * launches)
            fail_msg("%llu loads for %llu bytes", (unsigned long long)some, (unsigned long long)records);
        devlog_program_free(program);
        check_ok(devlog_device_close(device, &err), &err);
        fake_kmd_end(&f);
    }
}

/* Without a card, on the real system. */
static void no_card_is_one_line(void **state)
{
    (void)state;
    devlog_error err = {0};
    devlog_device *device;
    const devlog_device_options options = DEVLOG_DEVICE_OPTIONS(.transport = "kmd:/dev/devlog-no-such-card");
    assert_int_equal(devlog_device_open(&options, &device, &err), DEVLOG_ERR_NOT_FOUND);
    assert_non_null(strstr(err.text, "there is no /dev/devlog-no-such-card: is a card in this machine"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_program_runs),
        cmocka_unit_test(dead_tiles_are_never_touched),
        cmocka_unit_test(unknown_masks_are_refused),
        cmocka_unit_test(every_failure_is_clean),
        cmocka_unit_test(old_drivers_are_refused),
        cmocka_unit_test(one_window_is_enough),
        cmocka_unit_test(no_card_is_one_line),
        cmocka_unit_test(accesses_are_few),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
