/* Transport "kmd": cards that are reset, pulled out, or stop answering under a running program. One line, nothing hangs, no
 * success that is none, and what was pulled before is in the logs. Against the fake driver; and SIGBUS on the real system,
 * by a file that is cut while it is mapped. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "decode/decode.h"
#include "support/events.h"
#include "support/fake_kmd.h"
#include "support/files.h"

enum { NOTHING, RESET, RESET_AND_BACK, UNPLUG, DEAD_LINK, HAPPENINGS };
enum { AT, WHAT, DONE };

static void happen(fake_kmd *f, uint64_t accesses)
{
    if (f->script[DONE] || accesses < f->script[AT]) return;
    f->script[DONE] = 1;
    switch (f->script[WHAT]) {
    case RESET_AND_BACK:
        fake_kmd_reset(f);
        fake_kmd_post_reset(f);
        return;
    case RESET: fake_kmd_reset(f); return;
    case UNPLUG: fake_kmd_unplug(f); return;
    case DEAD_LINK: f->link_dead = true; return;
    }
}

static const devlog_cores four = {0, 0, 1, 1};
enum { LAUNCHES = 3, ZONES = 4 /* a launch */ };

typedef struct outcome {
    devlog_status status; /* of the first call that failed, or DEVLOG_OK */
    uint32_t launched;    /* launches that were done and pulled */
    devlog_error err;
    char folder[64];
} outcome;

/* A program of three launches on four cores, as its author would write it. */
static void use_card(fake_kmd *f, uint32_t process, outcome *out)
{
    const kmd_system system = fake_kmd_system(f, process);
    devlog_device *device = NULL;
    devlog_program *program = NULL;
    devlog_kernel *kernel = NULL;
    memset(out, 0, sizeof *out);
    snprintf(out->folder, sizeof out->folder, "%s", test_folder());
    const devlog_device_options options =
        DEVLOG_DEVICE_OPTIONS(.board = f->b.name, .transport = "kmd:3", .profile = DEVLOG_ON,
                              .log_folder = out->folder, .timeout_ms = 60000);
    out->status = dl_device_open(&options, &system, &device, &out->err);
    if (out->status != DEVLOG_OK) return;
    const devlog_kernel_options k =
        DEVLOG_KERNEL_OPTIONS(.source = source_path("firmware/kernels/vector_add.c"), .risc = "NCRISC",
                              .cores = four);
    out->status = devlog_program_create(device, &program, &out->err);
    if (!out->status) out->status = devlog_program_add_kernel(program, &k, &kernel, &out->err);
    const uint32_t user = devlog_device_user_l1(device, NULL), args[] = {user, user + 8, user + 16, 2};
    for (uint32_t c = 0; c < 4 && !out->status; c++)
        out->status = devlog_kernel_set_args(kernel, (devlog_core){c % 2, c / 2}, args, 4, &out->err);
    for (uint32_t c = 0; c < 4 && !out->status; c++) {
        const uint32_t words[4] = {UINT32_MAX, UINT32_MAX, UINT32_MAX, UINT32_MAX}; /* data may look dead */
        out->status =
            devlog_write_to_device(device, (devlog_core){c % 2, c / 2}, user, words, sizeof words, &out->err);
    }
    if (!out->status) out->status = devlog_compile_program(program, &out->err);
    if (!out->status) out->status = devlog_configure_device_with_program(device, program, &out->err);
    for (int i = 0; i < LAUNCHES && !out->status; i++) {
        out->status = devlog_launch_program(device, program, &out->err);
        out->launched += !out->status;
        uint32_t words[4] = {0};
        if (!out->status)
            out->status =
                devlog_read_from_device(device, (devlog_core){0, 0}, user, words, sizeof words, &out->err);
        if (!out->status) assert_int_equal(words[3], UINT32_MAX);
    }
    devlog_program_free(program);
    devlog_error unheard;
    devlog_device_close(device, &unheard);
}

/* ---- What the logs hold ---- */

typedef struct counts {
    dl_decode *decode;
    uint32_t zones;
} counts;

static devlog_status on_events(void *ctx, const dl_event *events, size_t n, devlog_error *err)
{
    counts *c = ctx;
    (void)err;
    const dl_tables *t = dl_decode_tables(c->decode);
    for (size_t i = 0; i < n; i++)
        c->zones +=
            events[i].kind == DL_EVENT_ZONE && strcmp(dl_site_text(t, events[i].site), "add block") == 0;
    return DEVLOG_OK;
}

static uint32_t zones_in(const char *folder, const char *name)
{
    devlog_error err = {0};
    dl_decode *d;
    char path[128];
    const dl_decode_options options = {.keep_meta = true};
    snprintf(path, sizeof path, "%s/%s", folder, name);
    if (access(path, R_OK) != 0) return 0; /* it had not come so far */
    check_ok(dl_decode_new(&d, &options, &err), &err);
    counts c = {.decode = d};
    test_events_to(d, &c, on_events);
    check_ok(dl_decode_file(d, path, &err), &err);
    check_ok(dl_decode_finish(d, &err), &err);
    dl_decode_free(d);
    return c.zones;
}

static void one_header(const char *folder)
{
    char path[128];
    size_t size;
    snprintf(path, sizeof path, "%s/profile_log_device.csv", folder);
    if (access(path, R_OK) != 0) return;
    char *text = read_bytes(path, &size);
    const char *first = strstr(text, "ARCH:");
    assert_true(!first || (first == text && !strstr(first + 1, "ARCH:")));
    free(text);
}

static const char *expected(uint64_t what)
{
    return what == DEAD_LINK ? "its PCIe link is dead" : "the card was reset or removed while";
}

/* A thing that happens at the n-th access. Returns how many accesses the run made. */
static uint64_t run_until(const char *board_name, uint64_t what, uint64_t at)
{
    fake_kmd f;
    outcome o;
    fake_kmd_start(&f, board_name, 210, NULL);
    f.script[AT] = at;
    f.script[WHAT] = what;
    f.meanwhile = happen;
    use_card(&f, 0, &o);
    uint64_t accesses = f.loads + f.stores;
    if (what == NOTHING) {
        check_ok(o.status, &o.err);
    } else if (f.script[DONE] && o.status == DEVLOG_OK) {
        /* Only behind the last thing that anybody wanted to know: closing. */
        assert_int_equal(o.launched, LAUNCHES);
    } else if (f.script[DONE]) {
        if (!strstr(o.err.text, expected(what)))
            fail_msg("%llu at access %llu: '%s'", (unsigned long long)what, (unsigned long long)at,
                     o.err.text);
        assert_null(strchr(o.err.text, '\n'));
    }
    /* Every launch that was said to be done is in both logs; one that was not may be there in part. */
    uint32_t csv = zones_in(o.folder, "profile_log_device.csv"),
             capture = zones_in(o.folder, "capture.devlog");
    assert_in_range(csv, o.launched * ZONES, LAUNCHES * ZONES);
    assert_in_range(capture, o.launched * ZONES, LAUNCHES * ZONES);
    one_header(o.folder);
    fake_kmd_nothing_kept(&f);
    fake_kmd_end(&f);
    return accesses;
}

static void at_every_point(void **state)
{
    (void)state;
    const uint64_t wormhole = run_until("wormhole_b0", NOTHING, 0),
                   blackhole = run_until("blackhole", NOTHING, 0);
    for (uint64_t i = 0; i < 28; i++) {
        const bool w = i % 2;
        run_until(w ? "wormhole_b0" : "blackhole", 1 + i / 2 % 4, (w ? wormhole : blackhole) * i / 27);
    }
}

/* Looking at a card that is dead, or in the middle of a reset, is one line, too. */
static void looking(void **state)
{
    (void)state;
    for (int what = RESET; what < HAPPENINGS; what++) {
        fake_kmd f;
        devlog_error err = {0};
        devlog_device *device;
        fake_kmd_start(&f, "wormhole_b0", 210, NULL);
        const kmd_system system = fake_kmd_system(&f, 0);
        const devlog_device_options options =
            DEVLOG_DEVICE_OPTIONS(.board = f.b.name, .transport = "kmd:3", .attach = true);
        f.script[WHAT] = (uint64_t)what;
        happen(&f, 0);
        devlog_status status = dl_device_open(&options, &system, &device, &err);
        if (what == RESET_AND_BACK) {
            check_ok(status, &err);
            check_ok(devlog_device_close(device, &err), &err);
        } else if (what == UNPLUG) {
            assert_int_equal(status, DEVLOG_ERR_NOT_FOUND);
        } else {
            assert_int_equal(status, DEVLOG_ERR_DEVICE);
            assert_non_null(strstr(err.text, what == RESET ? "reset or removed" : "its PCIe link is dead"));
        }
        fake_kmd_nothing_kept(&f);
        fake_kmd_end(&f);
    }
}

/* ---- SIGBUS ---- */

enum { PAGE = 4096 };

static void a_window_that_goes_away(void **state)
{
    (void)state;
    char name[] = "/tmp/devlog-test-XXXXXX";
    void *at = NULL;
    uint8_t got[16], put[16] = {1, 2, 3};
    signal(SIGBUS, SIG_DFL); /* and not cmocka's, which the child would go on with */
    int fd = mkstemp(name);
    assert_true(fd >= 0);
    assert_int_equal(ftruncate(fd, PAGE), 0);
    assert_int_equal(kmd_linux.map(NULL, fd, 0, PAGE, &at), 0);
    assert_int_equal(kmd_linux.store(NULL, at, put, 16), 0);
    assert_int_equal(kmd_linux.load(NULL, at, got, 16), 0);
    assert_memory_equal(got, put, 16);
    assert_int_equal(kmd_linux.store(NULL, (char *)at + 20, put, 4), 0);
    assert_int_equal(kmd_linux.load(NULL, (char *)at + 21, got, 1), 0);
    assert_int_equal(got[0], 2);
    assert_int_equal(ftruncate(fd, 0), 0);
    for (int i = 0; i < 3; i++) { /* again and again: the signal is not blocked */
        assert_int_equal(kmd_linux.load(NULL, at, got, 4), -EIO);
        assert_int_equal(kmd_linux.store(NULL, at, put, 16), -EIO);
    }
    /* Another SIGBUS of this process does what it always did. */
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        *(volatile char *)at = 1;
        _exit(0);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGBUS);
    kmd_linux.unmap(NULL, at, PAGE);
    close(fd);
    unlink(name);
}

/* ---- Schedules ---- */

static uint64_t seed;

static uint64_t below(uint64_t n)
{
    seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (seed >> 33) % n;
}

static uint64_t random_dead(const board *b)
{
    uint64_t mask = 0;
    for (uint64_t n = below(b->arc.columns ? 5 : 3); n > 0; n--)
        mask |= UINT64_C(1) << b->arc.fuses[below(b->arc.n_fuses)];
    return mask;
}

static void harvest(fake_kmd *f)
{
    fake_kmd_harvest(f, random_dead(&f->b));
}

/* Opens, kills, resets, unplugging, two processes, dead links, masks and versions, in any order: never a hang, a touched dead
 * tile (the fake fails the test), a wrong row or a success that is none. DEVLOG_KMD_SCHEDULES says how many. */
static void schedules(void **state)
{
    (void)state;
    static const int versions[] = {131, 132, 133, 134, 200, 203, 205, 206, 209, 210};
    const char *wanted = getenv("DEVLOG_KMD_SCHEDULES"), *first = getenv("DEVLOG_KMD_FIRST");
    const uint64_t from = first ? strtoull(first, NULL, 10) : 1,
                   n = wanted ? strtoull(wanted, NULL, 10) : 200;
    uint32_t done = 0, lost = 0, taken = 0, old = 0;
    for (uint64_t i = from; i < from + n; i++) {
        fake_kmd f;
        outcome o;
        devlog_error err;
        seed = i * UINT64_C(0x9E3779B97F4A7C15);
        /* Most end before they run, so that many fit: whole runs are one in eight. */
        const bool whole = below(8) == 0;
        fake_kmd_start(&f, below(2) ? "wormhole_b0" : "blackhole", versions[below(10)], harvest);
        f.script[WHAT] = whole ? below(HAPPENINGS) : 1 + below(HAPPENINGS - 1);
        f.script[AT] = whole ? below(8000) : below(200);
        f.meanwhile = happen;
        const uint32_t other = fake_kmd_process(&f, 12, below(2) ? "python3" : "devlog");
        int held = below(4) == 0 ? fake_kmd_open(&f, other, O_RDWR | (below(2) ? O_EXCL : 0)) : -1;
        if (held >= 0 && below(3) == 0) fake_kmd_kill(&f, other), held = -1;
        const bool in_the_way = held >= 0 && (f.exclusive || strcmp(f.processes[other].comm, "devlog") != 0);
        use_card(&f, 0, &o);
        if (f.version < 134) {
            assert_int_not_equal(o.status, DEVLOG_OK);
            old++;
        } else if (in_the_way && (f.exclusive || f.version >= 205)) {
            /* What happens to the card while it is looked who has it counts for more. */
            const bool both = f.script[DONE] && o.status == DEVLOG_ERR_DEVICE &&
                              strstr(o.err.text, expected(f.script[WHAT]));
            if (o.status != DEVLOG_ERR_TRANSPORT && !both)
                fail_msg("schedule %llu: '%s' is not that somebody has the card", (unsigned long long)i,
                         o.err.text);
            assert_int_equal(f.loads + f.stores, 0);
            taken++;
        } else if (f.script[DONE] && o.status != DEVLOG_OK) {
            if (!strstr(o.err.text, expected(f.script[WHAT])))
                fail_msg("schedule %llu: '%s'", (unsigned long long)i, o.err.text);
            lost++;
        } else {
            check_ok(o.status, &o.err);
            assert_int_equal(o.launched, LAUNCHES);
            done++;
        }
        if (o.launched) {
            assert_in_range(zones_in(o.folder, "profile_log_device.csv"), o.launched * ZONES,
                            LAUNCHES * ZONES);
            assert_in_range(zones_in(o.folder, "capture.devlog"), o.launched * ZONES, LAUNCHES * ZONES);
        }
        if (held >= 0) fake_kmd_close(&f, held);
        fake_kmd_nothing_kept(&f);
        /* When it is back, it can be used. */
        if (f.version >= 134 && !f.detached && !f.link_dead && whole) {
            const kmd_system system = fake_kmd_system(&f, 0);
            devlog_device *device;
            const devlog_device_options options =
                DEVLOG_DEVICE_OPTIONS(.board = f.b.name, .transport = "kmd:3");
            f.meanwhile = NULL;
            fake_kmd_post_reset(&f);
            check_ok(dl_device_open(&options, &system, &device, &err), &err);
            check_ok(devlog_device_close(device, &err), &err);
        }
        fake_kmd_end(&f);
        char command[96];
        snprintf(command, sizeof command, "rm -rf '%s'", o.folder);
        assert_int_equal(system(command), 0);
    }
    printf("%u done, %u lost, %u taken by others, %u with old drivers\n", done, lost, taken, old);
    if (n >= 200) assert_true(done && lost && taken && old);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(at_every_point),
        cmocka_unit_test(looking),
        cmocka_unit_test(a_window_that_goes_away),
        cmocka_unit_test(schedules),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
