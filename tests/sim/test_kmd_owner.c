/* Transport "kmd": a card belongs to one program at a time. Against the fake driver, with several processes on it. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/fake_kmd.h"
#include "transport/cards.h"

static devlog_status open_card(fake_kmd *f, uint32_t process, bool attach, devlog_device **out,
                               devlog_error *err)
{
    static kmd_system systems[FAKE_MAX_PROCESSES];
    systems[process] = fake_kmd_system(f, process);
    const devlog_device_options options =
        DEVLOG_DEVICE_OPTIONS(.board = f->b.name, .transport = "kmd:3", .attach = attach,
                              .profile = DEVLOG_ON, .log_folder = test_folder());
    *out = NULL;
    return dl_device_open(&options, &systems[process], out, err);
}

static void refused(fake_kmd *f, uint32_t process, bool attach, const char *says)
{
    devlog_error err = {0};
    devlog_device *device;
    const uint64_t accesses = f->loads + f->stores;
    assert_int_equal(open_card(f, process, attach, &device, &err), DEVLOG_ERR_TRANSPORT);
    if (!strstr(err.text, says) || strchr(err.text, '\n')) fail_msg("'%s' does not say '%s'", err.text, says);
    assert_int_equal(f->loads + f->stores, accesses); /* nothing of the card was touched */
}

static void close_card(devlog_device *device)
{
    devlog_error err = {0};
    check_ok(devlog_device_close(device, &err), &err);
}

/* Of two devlogs the second is refused, and told by whom; it may look. After the first has ended, even by kill -9, it may
 * have the card. */
static void the_second_is_refused(void **state)
{
    (void)state;
    static const int versions[] = {134, 204, 205, 209, 210};
    for (size_t i = 0; i < 5; i++) {
        fake_kmd f;
        devlog_error err = {0};
        devlog_device *first, *second, *looking;
        fake_kmd_start(&f, "wormhole_b0", versions[i], NULL);
        uint32_t b = fake_kmd_process(&f, 12, "python3");
        check_ok(open_card(&f, 0, false, &first, &err), &err);
        /* Drivers before 2.5 do not say who. */
        refused(&f, b, false,
                versions[i] >= 205 ? "/dev/tenstorrent/3 is used by program (pid 4711): " : "is used by");
        check_ok(open_card(&f, b, true, &looking, &err), &err);
        close_card(looking);
        close_card(first);
        check_ok(open_card(&f, b, false, &second, &err), &err);
        refused(&f, 0, false, "is used by");
        refused(&f, b, false, "this program itself");
        close_card(second);
        fake_kmd_nothing_kept(&f);
        fake_kmd_end(&f);
    }
}

static void killed(void **state)
{
    (void)state;
    fake_kmd f;
    devlog_error err = {0};
    devlog_device *device;
    fake_kmd_start(&f, "blackhole", 210, NULL);
    uint32_t b = fake_kmd_process(&f, 12, "python3");
    const kmd_system other = fake_kmd_system(&f, b);
    int fd = other.open(other.context, f.node, O_RDWR);
    kmd_lock l = {.size_in = 4, .what = KMD_LOCK_ACQUIRE, .index = 63};
    assert_int_equal(other.ioctl(other.context, fd, KMD_LOCK_CTL, &l), 0);
    assert_int_equal(l.value, 1);
    refused(&f, 0, false, "python3 (pid 12)");
    fake_kmd_kill(&f, b);
    check_ok(open_card(&f, 0, false, &device, &err), &err);
    close_card(device);
    fake_kmd_nothing_kept(&f);
    fake_kmd_end(&f);
}

/* Programs that know nothing of devlog's lock: those that have the card open keep it, and so do those that have it
 * exclusively, who cannot even be looked at. Whoever only looks, as devlog's own commands do, is in nobody's way. */
static void programs_of_others(void **state)
{
    (void)state;
    fake_kmd f;
    devlog_error err = {0};
    devlog_device *device;
    fake_kmd_start(&f, "wormhole_b0", 210, NULL);
    uint32_t metal = fake_kmd_process(&f, 7, "test_matmul"), looks = fake_kmd_process(&f, 8, "devlog"),
             elsewhere = fake_kmd_process(&f, 0, "unseen");
    int fd = fake_kmd_open(&f, metal, O_RDWR), again = fake_kmd_open(&f, metal, O_RDWR);
    refused(&f, 0, false, "is used by test_matmul (pid 7): two programs");
    check_ok(open_card(&f, 0, true, &device, &err), &err);
    close_card(device);
    fake_kmd_close(&f, fd);
    fake_kmd_close(&f, again);

    fd = fake_kmd_open(&f, metal, O_RDWR | O_EXCL);
    refused(&f, 0, false, "is used by test_matmul (pid 7)");
    refused(&f, 0, true, "is used by test_matmul (pid 7)");
    fake_kmd_close(&f, fd);

    fd = fake_kmd_open(&f, elsewhere, O_RDWR);
    refused(&f, 0, false, "is used by a program of another container: ");
    fake_kmd_close(&f, fd);

    fd = fake_kmd_open(&f, looks, O_RDWR);
    check_ok(open_card(&f, 0, false, &device, &err), &err);
    close_card(device);
    fake_kmd_close(&f, fd);
    fake_kmd_nothing_kept(&f);
    fake_kmd_end(&f);
}

/* ---- Waiting ---- */

static int holder;

static void ends_later(fake_kmd *f, uint64_t accesses)
{
    (void)accesses;
    if (holder && f->waited_ms >= 700) {
        fake_kmd_close(f, holder);
        holder = 0;
    }
}

/* Waiting is said, and ends when the card is free, or in time. */
static void waiting(void **state)
{
    (void)state;
    for (int i = 0; i < 2; i++) {
        fake_kmd f;
        devlog_error err = {0};
        devlog_device *device;
        fake_kmd_start(&f, "wormhole_b0", 210, NULL);
        uint32_t metal = fake_kmd_process(&f, 7, "test_matmul");
        holder = fake_kmd_open(&f, metal, O_RDWR | (i ? O_EXCL : 0));
        setenv("DEVLOG_CARD_WAIT", "3", 1);
        refused(&f, 0, false, "is used by test_matmul (pid 7), still");
        assert_in_range(f.waited_ms, 3000, 7000);
        f.waited_ms = 0;
        f.meanwhile = ends_later;
        check_ok(open_card(&f, 0, false, &device, &err), &err);
        assert_int_equal(holder, 0);
        unsetenv("DEVLOG_CARD_WAIT");
        close_card(device);
        fake_kmd_nothing_kept(&f);
        fake_kmd_end(&f);
    }
}

/* One that was refused has the node open for a moment: that is no reason to refuse. */
static void a_passer_by(void **state)
{
    (void)state;
    fake_kmd f;
    devlog_error err = {0};
    devlog_device *device;
    fake_kmd_start(&f, "wormhole_b0", 210, NULL);
    uint32_t metal = fake_kmd_process(&f, 7, "test_matmul");
    holder = fake_kmd_open(&f, metal, O_RDWR);
    f.waited_ms = 690;
    f.meanwhile = ends_later;
    check_ok(open_card(&f, 0, false, &device, &err), &err);
    close_card(device);
    fake_kmd_nothing_kept(&f);
    fake_kmd_end(&f);
}

/* ---- devlog devices ---- */

static void listed(fake_kmd *f, bool in_use, const char *says)
{
    const kmd_system system = fake_kmd_system(f, 0);
    devlog_error err = {0};
    card_info *cards;
    size_t n;
    const uint32_t requests = f->power_requests;
    const uint64_t waited = f->waited_ms, accesses = f->loads + f->stores;
    check_ok(cards_list(&system, &cards, &n, &err), &err);
    assert_int_equal(n, 3);
    assert_string_equal(cards[0].path, "/dev/tenstorrent/0");
    assert_string_equal(cards[1].path, "/dev/tenstorrent/3");
    assert_string_equal(cards[2].path, "/dev/tenstorrent/10");
    assert_int_equal(cards[1].vendor, f->b.pci_vendor);
    assert_int_equal(cards[1].device, f->b.pci_device);
    assert_int_equal(cards[1].in_use, in_use);
    if (!*says) assert_string_equal(cards[1].wrong, "");
    if (!strstr(cards[1].wrong, says)) fail_msg("'%s' does not say '%s'", cards[1].wrong, says);
    assert_int_equal(f->power_requests, requests); /* no clock was changed */
    assert_int_equal(f->waited_ms, waited);
    assert_int_equal(f->loads + f->stores, accesses);
    free(cards);
}

static void listing(void **state)
{
    (void)state;
    fake_kmd f;
    devlog_error err = {0};
    devlog_device *device;
    fake_kmd_start(&f, "blackhole", 210, NULL);
    uint32_t metal = fake_kmd_process(&f, 7, "test_matmul");
    listed(&f, false, "");
    int fd = fake_kmd_open(&f, metal, O_RDWR | O_EXCL);
    listed(&f, true, "used by test_matmul (pid 7)");
    fake_kmd_close(&f, fd);
    fd = fake_kmd_open(&f, metal, O_RDWR);
    listed(&f, true, "used by test_matmul (pid 7)");
    fake_kmd_close(&f, fd);
    check_ok(open_card(&f, metal, false, &device, &err), &err);
    listed(&f, true, "used by test_matmul (pid 7)");
    close_card(device);
    f.link_dead = true;
    listed(&f, false, "its PCIe link is dead");
    f.link_dead = false;
    f.version = 133;
    listed(&f, false, "its driver is tt-kmd 1.33");
    f.version = 210;
    f.open_failure = EACCES;
    listed(&f, false, "no permission");
    f.open_failure = ENODEV;
    listed(&f, false, "its driver has lost it");
    f.open_failure = 0;
    fake_kmd_nothing_kept(&f);
    fake_kmd_end(&f);
}

/* ---- The clock ---- */

/* While a program has the card it runs at its full clock, and idles again when the program has ended. A driver that cannot be
 * asked leaves it as it is: then that is measured, and said. */
static void full_clock(void **state)
{
    (void)state;
    static const char *const boards[] = {"wormhole_b0", "blackhole"};
    for (size_t i = 0; i < 4; i++) {
        fake_kmd f;
        devlog_error err = {0};
        devlog_device *device;
        const bool can = i < 2;
        fake_kmd_start(&f, boards[i % 2], can ? 206 : 205, NULL);
        const uint32_t mhz = can ? f.busy_mhz : f.idle_mhz;
        check_ok(open_card(&f, 0, false, &device, &err), &err);
        assert_int_equal(device->aiclk_khz, mhz * 1000);
        assert_in_range(device->measured_khz, mhz * 998, mhz * 1002);
        assert_int_equal(devlog_device_mhz(device), mhz);
        assert_int_equal(strstr(device->transport.note, "could not be asked for its full clock") == NULL,
                         can);
        /* Looking changes nothing. */
        devlog_device *looking;
        uint32_t b = fake_kmd_process(&f, 12, "devlog");
        check_ok(open_card(&f, b, true, &looking, &err), &err);
        close_card(looking);
        assert_int_equal(f.mhz, mhz);
        close_card(device);
        const kmd_system system = fake_kmd_system(&f, 0);
        system.wait_ms(system.context, 500);
        assert_int_equal(f.mhz, f.idle_mhz);
        fake_kmd_nothing_kept(&f);
        fake_kmd_end(&f);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_second_is_refused),
        cmocka_unit_test(killed),
        cmocka_unit_test(programs_of_others),
        cmocka_unit_test(waiting),
        cmocka_unit_test(a_passer_by),
        cmocka_unit_test(listing),
        cmocka_unit_test(full_clock),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
