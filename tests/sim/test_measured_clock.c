/* Nanoseconds are of the clock that was measured, where host time is the chip's own; what the board file, the chip and the
 * measurement say is compared, and more than 1 % between them is a finding. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/process.h"
#include "decode/decode.h"
#include "profiler/clock_sync.h"
#include "profiler/selftest.h"
#include "support/fake_kmd.h"
#include "support/files.h"

enum { LAUNCHES = 12 };

static void run(devlog_device *device)
{
    devlog_error err = {0};
    devlog_program *program;
    const devlog_cores four = {0, 0, 1, 1};
    check_ok(devlog_program_create(device, &program, &err), &err);
    devlog_kernel *kernel = add_kernel(program, "firmware/kernels/vector_add.c", "NCRISC", four, NULL);
    uint32_t user = devlog_device_user_l1(device, NULL);
    for (uint32_t c = 0; c < 4; c++) {
        const uint32_t args[] = {user, user + 8, user + 16, 2};
        check_ok(devlog_kernel_set_args(kernel, (devlog_core){c % 2, c / 2}, args, 4, &err), &err);
    }
    prepare(device, program);
    for (int i = 0; i < LAUNCHES; i++)
        check_ok(devlog_launch_program(device, program, &err), &err);
    devlog_program_free(program);
    check_ok(devlog_device_close(device, &err), &err);
}

/* Frequency of chip 0 in kHz, and whether something was found about its clock. */
static uint64_t decoded(const char *folder, const char *name, bool *found, char *what, size_t size)
{
    devlog_error err = {0};
    dl_decode *d;
    char path[128];
    const dl_decode_options options = {.keep_meta = true};
    snprintf(path, sizeof path, "%s/%s", folder, name);
    check_ok(dl_decode_new(&d, &options, &err), &err);
    check_ok(dl_decode_file(d, path, &err), &err);
    check_ok(dl_decode_finish(d, &err), &err);
    const dl_losses *l = dl_decode_losses(d);
    *found = l->found[DL_FOUND_CLOCK] > 0;
    what[0] = 0;
    if (*found && l->details[DL_SKIPS + DL_FOUND_CLOCK][0])
        snprintf(what, size, "%s", l->details[DL_SKIPS + DL_FOUND_CLOCK][0]);
    uint64_t khz = dl_decode_tables(d)->chips[0].freq_khz;
    dl_decode_free(d);
    return khz;
}

static void simulated(void **state)
{
    (void)state;
    static const struct {
        const char *board, *sim;
        uint64_t khz;
        bool found;
    } cases[] = {
        {"wormhole_b0", "change=1,to=500,latency=700", 500000, true},
        {"blackhole", "change=1,to=800,latency=700", 800000, true},
        {"wormhole_b0", "latency=700", 1000000, false},
        {"blackhole", "", 1350000, false},
        {"wormhole_b0", "ppm=-50000,latency=700,jitter=100", 950000, true},
        {"wormhole_b0", "ppm=5000,latency=700", 1005000, false}, /* less than 1 %: used, and no finding */
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        devlog_device *device = open_device(cases[i].board, cases[i].sim);
        char folder[256], what[300];
        bool found;
        snprintf(folder, sizeof folder, "%s", device->log_folder);
        run(device);
        uint64_t khz = decoded(folder, "capture.devlog", &found, what, sizeof what);
        assert_in_range(khz, cases[i].khz - cases[i].khz / 1000, cases[i].khz + cases[i].khz / 1000);
        if (!cases[i].found) assert_true(khz == cases[i].khz || strstr(cases[i].sim, "ppm"));
        if (found != cases[i].found) fail_msg("%s: found %d: %s", cases[i].sim, found, what);
        if (found) assert_non_null(strstr(what, "(measured), its board file says"));
        /* The device log of the run has no samples, and finds the same. */
        bool in_log;
        decoded(folder, "profile_log_device.csv", &in_log, what, sizeof what);
        if (in_log != found) fail_msg("%s: the device log says %d: %s", cases[i].sim, in_log, what);
        if (found) assert_non_null(strstr(what, "the capture of the run says more"));
    }
}

static void command_says(const char *const *argv, const char *words)
{
    devlog_error err = {0};
    dl_output out;
    check_ok(dl_process_run(argv, &out, &err), &err);
    if (!strstr(out.text, words)) fail_msg("%s: '%s' is not in: %s", argv[1], words, out.text);
    free(out.text);
}

/* The heads of decode's tables say AICLK, as decode's CSV, chips in exports, and the page do. */
static void heads_say(const char *log, uint64_t mhz)
{
    const char *bin = getenv("DEVLOG_BIN"), *out = test_folder();
    char words[64], page[300];
    size_t size;
    snprintf(words, sizeof words, " MHz, AICLK %llu MHz)", (unsigned long long)mhz);
    command_says((const char *[]){bin, "decode", "-o", out, log, NULL}, words);
    command_says((const char *[]){bin, "export", "-f", "chrome", "-o", "-", log, NULL}, words);
    snprintf(words, sizeof words, "clocks,aiclk_khz,0,,,,,,,,,%llu,", (unsigned long long)mhz * 1000);
    command_says((const char *[]){bin, "decode", "-f", "csv", "--no-files", log, NULL}, words);
    snprintf(words, sizeof words, "\"aiclk_khz\":%llu", (unsigned long long)mhz * 1000);
    command_says((const char *[]){bin, "export", "-f", "json", "-o", "-", log, NULL}, words);
    snprintf(words, sizeof words, "\"aiclk\":%llu", (unsigned long long)mhz * 1000);
    snprintf(page, sizeof page, "%s/device_perf.html", out);
    char *text = read_bytes(page, &size);
    if (!strstr(text, words)) fail_msg("the page does not say %s", words);
    free(text);
}

/* So do op reports, by a column, and what is made of them. */
static void op_reports_say(const char *folder, uint64_t mhz)
{
    const char *bin = getenv("DEVLOG_BIN");
    char out[300], report[340], words[100];
    snprintf(out, sizeof out, "%s/report", folder);
    snprintf(report, sizeof report, "%s/ops_perf_results.csv", out);
    command_says((const char *[]){bin, "ops", "-i", folder, "-o", out, "--no-tar", NULL}, "");
    snprintf(words, sizeof words, "AICLK: %llu MHz.\n", (unsigned long long)mhz);
    command_says((const char *[]){bin, "ops", "summary", report, NULL}, words);
    command_says((const char *[]){bin, "ops", "summary", "--format", "md", report, NULL}, words);
    snprintf(words, sizeof words, "\"aiclk_mhz\":[%llu,%llu],", (unsigned long long)mhz,
             (unsigned long long)mhz);
    command_says((const char *[]){bin, "ops", "summary", "--format", "json", report, NULL}, words);
    command_says((const char *[]){bin, "diff", "--exact", "--format", "json", report, report, NULL}, words);
    snprintf(words, sizeof words, "AICLK: %llu MHz before, %llu MHz after.\n", (unsigned long long)mhz,
             (unsigned long long)mhz);
    command_says((const char *[]){bin, "ops", "compare", report, report, NULL}, words);
    snprintf(words, sizeof words, "AICLK: %llu MHz before, %llu MHz now.\n", (unsigned long long)mhz,
             (unsigned long long)mhz);
    snprintf(report, sizeof report, "%s/capture.devlog", folder);
    command_says((const char *[]){bin, "diff", "--exact", report, report, NULL}, words);
}

/* A card that idles, since its driver cannot be asked for more: log and capture say how fast it ran. */
static void an_idle_card(void **state)
{
    (void)state;
    for (int i = 0; i < 4; i++) {
        fake_kmd f;
        devlog_error err = {0};
        devlog_device *device;
        char folder[64], path[100], line[64], what[300];
        bool found;
        size_t size;
        fake_kmd_start(&f, i % 2 ? "blackhole" : "wormhole_b0", i < 2 ? 205 : 210, NULL);
        const kmd_system system = fake_kmd_system(&f, 0);
        snprintf(folder, sizeof folder, "%s", test_folder());
        devlog_ops *ops;
        const devlog_ops_options log = DEVLOG_OPS_OPTIONS(.log_folder = folder, .profile = DEVLOG_ON);
        check_ok(devlog_ops_open(&log, &ops, &err), &err);
        const devlog_device_options options =
            DEVLOG_DEVICE_OPTIONS(.board = f.b.name, .transport = "kmd:3", .profile = DEVLOG_ON,
                                  .log_folder = folder, .ops = ops);
        check_ok(dl_device_open(&options, &system, &device, &err), &err);
        const uint64_t mhz = f.mhz;
        assert_int_equal(mhz, i < 2 ? f.idle_mhz : f.busy_mhz);
        run(device);
        check_ok(devlog_ops_close(ops, &err), &err);
        uint64_t khz = decoded(folder, "capture.devlog", &found, what, sizeof what);
        assert_in_range(khz, mhz * 999, mhz * 1001);
        assert_int_equal(found, i < 2);
        snprintf(line, sizeof line, "and the chip itself %llu MHz", (unsigned long long)mhz);
        if (found && !strstr(what, line)) fail_msg("'%s' does not say '%s'", what, line);
        khz = decoded(folder, "profile_log_device.csv", &found, what, sizeof what);
        assert_in_range(khz, mhz * 998, mhz * 1002);
        snprintf(path, sizeof path, "%s/profile_log_device.csv", folder);
        char *text = read_bytes(path, &size);
        if (i >= 2) {
            snprintf(line, sizeof line, "CHIP_FREQ[MHz]: %u,", f.b.mhz);
            assert_non_null(strstr(text, line));
        }
        snprintf(line, sizeof line, ", AICLK[MHz]: %llu,", (unsigned long long)mhz);
        assert_non_null(strstr(text, line));
        free(text);
        heads_say(path, mhz);
        snprintf(path, sizeof path, "%s/capture.devlog", folder);
        heads_say(path, mhz);
        op_reports_say(folder, mhz);
        fake_kmd_nothing_kept(&f);
        fake_kmd_end(&f);
    }
}

/* ---- A card's time passes by itself ---- */

typedef struct clock_line {
    bool seen, ok;
    char found[256];
} clock_line;

static devlog_status on_line(void *context, const selftest_line *line, devlog_error *err)
{
    clock_line *c = context;
    (void)err;
    if (strcmp(line->check, "clock") != 0) return DEVLOG_OK;
    c->seen = true;
    c->ok = line->ok;
    snprintf(c->found, sizeof c->found, "%s", line->found);
    return DEVLOG_OK;
}

/* The self test waits between its two readings, so that it can tell an idle card from one at its full clock; the last readings of a
 * run are apart, too; and captures of one boot of the machine can be aligned. */
static void a_card_is_no_simulator(void **state)
{
    (void)state;
    for (int i = 0; i < 4; i++) {
        fake_kmd f;
        devlog_error err = {0};
        devlog_device *device;
        uint32_t failures;
        clock_line line = {0};
        char boot[64] = "";
        const bool idle = i < 2;
        const selftest_options options = {.cores = 2};
        fake_kmd_start(&f, i % 2 ? "blackhole" : "wormhole_b0", idle ? 205 : 210, NULL);
        const kmd_system system = fake_kmd_system(&f, 0);
        const devlog_device_options open =
            DEVLOG_DEVICE_OPTIONS(.board = f.b.name, .transport = "kmd:3", .profile = DEVLOG_ON,
                                  .log_folder = test_folder());
        check_ok(dl_device_open(&open, &system, &device, &err), &err);
        check_ok(selftest_run(device, &options, on_line, &line, &failures, &err), &err);
        assert_true(line.seen);
        if (line.ok == idle) fail_msg("%s: %s", idle ? "idle" : "full clock", line.found);
        FILE *file = fopen("/proc/sys/kernel/random/boot_id", "r");
        assert_non_null(file);
        assert_non_null(fgets(boot, sizeof boot, file));
        fclose(file);
        boot[strcspn(boot, "\n")] = 0;
        assert_string_equal(device->clocks->boot, boot);
        const uint64_t waited = f.waited_ms;
        check_ok(devlog_device_close(device, &err), &err);
        assert_true(f.waited_ms > waited);
        fake_kmd_nothing_kept(&f);
        fake_kmd_end(&f);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(simulated), cmocka_unit_test(an_idle_card),
                                       cmocka_unit_test(a_card_is_no_simulator)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
