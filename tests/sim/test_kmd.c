/* Transport "kmd" against a fake of the kernel driver: its requests are answered here, with the windows of
 * the simulated chip behind them, and a whole program runs through it. The fake encodes the configuration of
 * a window by itself, from the same documents as the simulator, and refuses what the driver refuses. What
 * this cannot show is that the real driver answers alike. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device/board_sim.h"
#include "support/rows.h"
#include "transport/kmd.h"

enum { FD = 42, MAX_IDS = 256, STEP = 64 };

typedef struct fake {
    board b;
    sim *s;
    uint64_t bar0;
    bool open, taken[MAX_IDS], mapped[MAX_IDS], configured[MAX_IDS];
    uint64_t offset[MAX_IDS]; /* of each window in BAR0 */
    uint8_t bits[MAX_IDS];
    char *pointers; /* where windows are "mapped": BAR0 as addresses that are never touched */
    uint32_t ids, free_requests, multicasts;
    int fail_request, fail_with, fail_open; /* a request that fails, with this errno */
    uint32_t fail_at;                       /* the how many-th of them, counted from 1; 0: each */
    uint32_t seen;
} fake;

static int fake_open(void *context, const char *path)
{
    fake *f = context;
    if (f->fail_open) return -f->fail_open;
    assert_string_equal(path, "/dev/tenstorrent/3");
    assert_false(f->open);
    f->open = true;
    return FD;
}

static int fake_close(void *context, int fd)
{
    fake *f = context;
    assert_int_equal(fd, FD);
    f->open = false;
    return 0;
}

static int allocate(fake *f, kmd_allocate_tlb *a)
{
    for (uint32_t id = 0; id < f->ids; id++) {
        if (f->taken[id] || a->size != UINT64_C(1) << f->bits[id]) continue;
        /* The last one is the driver's. */
        if (id + f->b.reserved_windows >= f->ids) break;
        f->taken[id] = true;
        a->id = id;
        a->offset_uncached = (UINT64_C(6) << 36) + f->offset[id];
        a->offset_combining = (UINT64_C(7) << 36) + f->offset[id];
        return 0;
    }
    return -ENOMEM;
}

/* Wormhole: one number of 64 bits; Blackhole: 96. Fields from the lowest bit, as in the documents. */
static int configure(fake *f, const kmd_configure_tlb *c)
{
    uint64_t low = c->address >> f->bits[c->id], high = 0;
    unsigned at = f->b.window_format == BOARD_WINDOWS_WORMHOLE ? 36 - f->bits[c->id] : 43;
    const struct {
        unsigned bits;
        uint64_t value;
    } fields[] = {{6, c->x_end},
                  {6, c->y_end},
                  {6, c->x_start},
                  {6, c->y_start},
                  {f->b.window_format == BOARD_WINDOWS_WORMHOLE ? 1 : 2, c->noc},
                  {1, c->multicast},
                  {2, c->ordering}};
    if (c->address & ((UINT64_C(1) << f->bits[c->id]) - 1)) return -EINVAL;
    for (size_t i = 0; i < sizeof fields / sizeof fields[0]; at += fields[i++].bits) {
        if (at < 64) low |= fields[i].value << at;
        if (at + fields[i].bits > 64)
            high |= at < 64 ? fields[i].value >> (64 - at) : fields[i].value << (at - 64);
    }
    f->multicasts += c->multicast;
    f->configured[c->id] = true;
    if (f->b.window_format == BOARD_WINDOWS_WORMHOLE)
        return sim_bus_write(f->s, f->bar0 + f->b.window_config_offset + 8ull * c->id, &low, 8) ? 0 : -EIO;
    const uint32_t words[3] = {(uint32_t)low, (uint32_t)(low >> 32), (uint32_t)high};
    for (uint32_t i = 0; i < 3; i++)
        if (!sim_bus_write(f->s, f->bar0 + f->b.window_config_offset + 12ull * c->id + 4 * i, &words[i], 4))
            return -EIO;
    return 0;
}

static int fake_ioctl(void *context, int fd, uint32_t request, void *argument)
{
    fake *f = context;
    assert_int_equal(fd, FD);
    assert_true(f->open);
    if ((int)request == f->fail_request && (f->fail_at == 0 || ++f->seen == f->fail_at)) return -f->fail_with;
    if (request == KMD_GET_DEVICE_INFO) {
        kmd_device_info *info = argument;
        assert_int_equal(info->size_in, 20);
        info->vendor = (uint16_t)f->b.pci_vendor;
        info->device = (uint16_t)f->b.pci_device;
        return 0;
    }
    if (request == KMD_ALLOCATE_TLB) return allocate(f, argument);
    const uint32_t id = *(const uint32_t *)argument;
    if (id >= f->ids || !f->taken[id]) return -EPERM;
    if (request == KMD_CONFIGURE_TLB) return configure(f, argument);
    if (request != KMD_FREE_TLB) return -ENOTTY;
    if (f->mapped[id]) return -EBUSY;
    f->taken[id] = false;
    f->free_requests++;
    return 0;
}

static int fake_map(void *context, int fd, uint64_t offset, size_t size, void **at)
{
    fake *f = context;
    assert_int_equal(fd, FD);
    assert_int_equal(offset >> 36, 6); /* uncached: the order of stores matters */
    for (uint32_t id = 0; id < f->ids; id++) {
        if (!f->taken[id] || f->offset[id] != (offset & 0xFFFFFFFFFu)) continue;
        if (size != (size_t)1 << f->bits[id]) return -EINVAL;
        f->mapped[id] = true;
        *at = f->pointers + f->offset[id];
        return 0;
    }
    return -EINVAL;
}

static void fake_unmap(void *context, void *at, size_t size)
{
    fake *f = context;
    for (uint32_t id = 0; id < f->ids; id++) {
        if (!f->mapped[id] || f->offset[id] != (uint64_t)((char *)at - f->pointers)) continue;
        assert_int_equal(size, (size_t)1 << f->bits[id]);
        f->mapped[id] = false;
        return;
    }
    fail_msg("unmaps what is not mapped");
}

/* An access through a window that is ours and shows something; the chip's time passes meanwhile. */
static uint64_t bus_address(fake *f, const void *at, size_t size)
{
    uint64_t offset = (uint64_t)((const char *)at - f->pointers);
    for (uint32_t id = 0; id < f->ids; id++) {
        if (!f->mapped[id] || offset < f->offset[id] ||
            offset + size > f->offset[id] + (UINT64_C(1) << f->bits[id]))
            continue;
        assert_true(f->configured[id]);
        assert_true(sim_clock(f->s, STEP));
        return f->bar0 + offset;
    }
    fail_msg("an access outside of every mapped window");
    return 0;
}

static void fake_load(void *context, const void *from, void *to, size_t size)
{
    fake *f = context;
    if (!sim_bus_read(f->s, bus_address(f, from, size), to, (uint32_t)size)) fail_msg("%s", sim_fault(f->s));
}

static void fake_store(void *context, void *to, const void *from, size_t size)
{
    fake *f = context;
    if (!sim_bus_write(f->s, bus_address(f, to, size), from, (uint32_t)size)) fail_msg("%s", sim_fault(f->s));
}

static kmd_system system_of(fake *f, const char *board_name)
{
    static sim_config config;
    sim_world_options world;
    devlog_error err = {0};
    char why[256];
    memset(f, 0, sizeof *f);
    check_ok(board_load(board_name, &f->b, &err), &err);
    board_to_sim(&f->b, &config, &world);
    f->s = sim_create(&config, why, sizeof why);
    assert_non_null(f->s);
    f->bar0 = f->b.bar0_base;
    f->pointers = (char *)(uintptr_t)0x100000000000;
    uint64_t offset = 0;
    for (uint32_t k = 0; k < f->b.n_classes; k++) {
        for (uint32_t i = 0; i < f->b.classes[k].count && f->ids < MAX_IDS; i++) {
            f->bits[f->ids] = f->b.classes[k].bits;
            f->offset[f->ids++] = offset;
            offset += UINT64_C(1) << f->b.classes[k].bits;
        }
    }
    return (kmd_system){f, fake_open, fake_close, fake_ioctl, fake_map, fake_unmap, fake_load, fake_store};
}

static devlog_status open_card(const fake *f, const kmd_system *system, devlog_device **out,
                               devlog_error *err)
{
    const devlog_device_options options =
        DEVLOG_DEVICE_OPTIONS(.board = f->b.name, .transport = "kmd:3", .profile = DEVLOG_ON,
                              .log_folder = test_folder());
    return dl_device_open(&options, system, out, err);
}

static void nothing_is_kept(const fake *f)
{
    assert_false(f->open);
    for (uint32_t id = 0; id < f->ids; id++)
        assert_false(f->taken[id] || f->mapped[id]);
}

/* A program on more tiles than there are windows, its records pulled, and every window given back. */
static void a_program_runs(void **state)
{
    (void)state;
    static const char *const boards[] = {"wormhole_b0", "blackhole"};
    for (size_t i = 0; i < 2; i++) {
        fake f;
        const kmd_system system = system_of(&f, boards[i]);
        devlog_error err = {0};
        devlog_device *device;
        devlog_program *program;
        const devlog_cores six = {0, 0, 2, 1};
        check_ok(open_card(&f, &system, &device, &err), &err);
        assert_true(f.multicasts > 0); /* all cores held in reset by one store */
        check_ok(devlog_program_create(device, &program, &err), &err);
        devlog_kernel *kernel = add_kernel(program, "firmware/kernels/vector_add.c", "NCRISC", six, NULL);
        uint32_t user = devlog_device_user_l1(device, NULL);
        for (uint32_t c = 0; c < 6; c++) {
            const devlog_core core = {c % 3, c / 3};
            const uint32_t words[4] = {10 * c, 1, 2, 3}, args[] = {user, user + 8, user + 16, 2};
            check_ok(devlog_kernel_set_args(kernel, core, args, 4, &err), &err);
            check_ok(devlog_write_to_device(device, core, user, words, sizeof words, &err), &err);
        }
        prepare(device, program);
        launch(device, program);
        for (uint32_t c = 0; c < 6; c++) {
            const devlog_core core = {c % 3, c / 3};
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
        check_ok(devlog_device_close(device, &err), &err);
        nothing_is_kept(&f);
        assert_int_equal(f.free_requests, 4);
        sim_destroy(f.s);
    }
}

/* Every request that may fail, at every time that it is made while opening: one line, and nothing is kept. */
static void every_failure_is_clean(void **state)
{
    (void)state;
    static const struct {
        int request, errnum;
        uint32_t times;
        const char *says;
    } cases[] = {
        {KMD_GET_DEVICE_INFO, EIO, 1, "/dev/tenstorrent/3: cannot ask which device it is"},
        {KMD_ALLOCATE_TLB, ENOTTY, 1, "install tt-kmd 2.0 or newer"},
        {KMD_ALLOCATE_TLB, ENOMEM, 4, "other programs use all TLB windows of 16 MiB"},
        {KMD_CONFIGURE_TLB, EINVAL, 1, "cannot configure a TLB window: Invalid argument"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        for (uint32_t at = 1; at <= cases[i].times; at++) {
            fake f;
            const kmd_system system = system_of(&f, "wormhole_b0");
            devlog_error err = {0};
            devlog_device *device;
            f.fail_request = cases[i].request;
            f.fail_with = cases[i].errnum;
            f.fail_at = at;
            assert_int_not_equal(open_card(&f, &system, &device, &err), DEVLOG_OK);
            if (!strstr(err.text, cases[i].says)) fail_msg("'%s' does not say '%s'", err.text, cases[i].says);
            nothing_is_kept(&f);
            sim_destroy(f.s);
        }
    }
    fake f;
    const kmd_system system = system_of(&f, "wormhole_b0");
    devlog_error err = {0};
    devlog_device *device;
    f.fail_open = ENOENT;
    assert_int_equal(open_card(&f, &system, &device, &err), DEVLOG_ERR_NOT_FOUND);
    assert_non_null(strstr(err.text, "tt-kmd loaded"));
    f.fail_open = EACCES;
    assert_int_equal(open_card(&f, &system, &device, &err), DEVLOG_ERR_TRANSPORT);
    assert_non_null(strstr(err.text, "may not be opened by this user"));
    f.fail_open = 0;
    f.b.pci_device = 0xB140; /* the card is another one than the board file describes */
    assert_int_equal(open_card(&f, &system, &device, &err), DEVLOG_ERR_DEVICE);
    assert_non_null(strstr(err.text, "choose the board that fits"));
    nothing_is_kept(&f);
    sim_destroy(f.s);
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
        cmocka_unit_test(every_failure_is_clean),
        cmocka_unit_test(no_card_is_one_line),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
