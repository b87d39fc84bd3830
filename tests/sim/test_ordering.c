/* Firmware, kernel.h and what the host does, on the simulator's strict model of both chips: accesses overtake each other and caches
 * keep what is old wherever the documents allow it, and everything is right all the same. Without each single fence
 * (devlog/order.h) something is wrong. What it is not: a test of the model (test_sim_strict.c). DEVLOG_TEST_SEEDS: how many seeds. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/process.h"
#include "devlog/order.h"
#include "profiler/clock_sync.h"
#include "profiler/control.h"
#include "support/cli.h"
#include "support/device.h"
#include "support/files.h"

#include "../../firmware/kernels/pipeline.h"

enum {
    PAGES = 24,
    ZONES = 150,
    BLOCKS = 12,
    ROUNDS = 5,
    BLOCK_WORDS = 32,
    SEED = 12345,
    LIMIT = 600000,
    STREAM_BYTES = 65536
};

static const devlog_core first = {0, 0}, second = {1, 0};

typedef struct trial {
    devlog_device *device;
    devlog_program *program;
    devlog_error err;
    devlog_status status; /* of what went wrong; DEVLOG_OK: a result */
    char wrong[600];      /* empty: nothing was */
    uint64_t cycles;
} trial;

static bool bad(trial *t, const char *what)
{
    if (!t->wrong[0]) snprintf(t->wrong, sizeof t->wrong, "%s", what);
    return false;
}

static bool good(trial *t, devlog_status status)
{
    if (status != DEVLOG_OK && !t->wrong[0]) t->status = status;
    return status == DEVLOG_OK || bad(t, t->err.text);
}

static bool open_it(trial *t, const char *on, unsigned seed, const char *folder, devlog_recording recording,
                    devlog_switch profile)
{
    char options_of[80];
    snprintf(options_of, sizeof options_of, "strict=%u,limit=%d", seed, LIMIT);
    const devlog_device_options options =
        DEVLOG_DEVICE_OPTIONS(.board = on, .transport = "sim", .sim = options_of, .profile = profile,
                              .log_folder = folder, .timeout_ms = 600000);
    return good(t, devlog_device_open(&options, &t->device, &t->err)) &&
           good(t, devlog_set_recording(t->device, recording,
                                        recording == DEVLOG_RECORD_STREAM ? STREAM_BYTES : 0, &t->err));
}

static bool close_it(trial *t)
{
    devlog_error err = {0};
    if (t->device && dl_transport_sim(&t->device->transport))
        t->cycles = sim_chip_clock(dl_transport_sim(&t->device->transport));
    devlog_program_free(t->program);
    t->program = NULL;
    bool ok = !t->device || devlog_device_close(t->device, &err) == DEVLOG_OK || bad(t, err.text);
    t->device = NULL;
    return ok && !t->wrong[0];
}

static bool begin(trial *t)
{
    devlog_program_free(t->program);
    t->program = NULL;
    return good(t, devlog_program_create(t->device, &t->program, &t->err));
}

static bool kernel(trial *t, const char *source, uint32_t risc, devlog_core core, const char *flags,
                   const uint32_t *args, uint32_t n)
{
    devlog_kernel *k = NULL;
    const devlog_kernel_options o =
        DEVLOG_KERNEL_OPTIONS(.source = source_path(source), .risc = t->device->board.riscs[risc].name,
                              .cores = {core.x, core.y, core.x, core.y}, .flags = flags);
    return good(t, devlog_program_add_kernel(t->program, &o, &k, &t->err)) &&
           good(t, devlog_kernel_set_args(k, core, args, n, &t->err));
}

static bool configure(trial *t)
{
    return good(t, devlog_compile_program(t->program, &t->err)) &&
           good(t, devlog_configure_device_with_program(t->device, t->program, &t->err));
}

static bool run(trial *t)
{
    return configure(t) && good(t, devlog_launch_program(t->device, t->program, &t->err));
}

static bool put(trial *t, devlog_core core, uint32_t at, const void *from, uint32_t size)
{
    return good(t, dl_core_write(t->device, core, at, from, size, &t->err));
}

static bool same(trial *t, devlog_core core, uint32_t at, const void *want, uint32_t size, const char *what)
{
    uint8_t got[PAGES * PIPELINE_PAGE_BYTES];
    if (!good(t, dl_core_read(t->device, core, at, got, size, &t->err))) return false;
    return memcmp(got, want, size) == 0 || bad(t, what);
}

/* ---- What is run ---- */

/* Five kernels on one core, connected by circular buffers of two pages; on the other one zones on every RISC. */
static bool pipeline(trial *t, uint32_t turn)
{
    static const char *const stages[] = {"pipeline_read", "pipeline_write", "pipeline_unpack",
                                         "pipeline_compute", "pipeline_pack"};
    const uint32_t user = t->device->board.user.base, in = user + 4096, out = in + 16384, result = user + 512;
    uint32_t input[PAGES * PIPELINE_PAGE_WORDS], want[PAGES * PIPELINE_PAGE_WORDS], steps[5];
    static const uint8_t zeros[4 * PIPELINE_CB_BYTES];
    for (uint32_t i = 0; i < PAGES * PIPELINE_PAGE_WORDS; i++) {
        input[i] = i * 2654435761u + turn;
        uint32_t unpacked = PIPELINE_UNPACK(input[i]), computed = PIPELINE_COMPUTE(unpacked);
        want[i] = PIPELINE_PACK(computed);
    }
    if (!begin(t)) return false;
    for (uint32_t risc = 0; risc < 5; risc++) {
        char source[80];
        snprintf(source, sizeof source, "firmware/kernels/%s.c", stages[risc]);
        const uint32_t args[] = {PAGES, user + 1024, risc == 1 ? out : in};
        const uint32_t zones[] = {ZONES, result + 4 * risc, SEED + turn + risc};
        if (!kernel(t, source, risc, first, NULL, args, 3) ||
            !kernel(t, "firmware/kernels/selftest.c", risc, second, NULL, zones, 3))
            return false;
        steps[risc] = SEED + turn + risc;
        for (uint32_t i = 0; i < ZONES; i++)
            steps[risc] = steps[risc] * 1664525u + 1013904223u + steps[risc] / (i + 3u);
    }
    return configure(t) && put(t, first, in, input, sizeof input) &&
           put(t, first, user + 1024, zeros, sizeof zeros) &&
           good(t, devlog_launch_program(t->device, t->program, &t->err)) &&
           same(t, first, out, want, sizeof want, "the pipeline's output is wrong") &&
           same(t, second, result, steps, sizeof steps, "the result of zones is wrong");
}

/* The same place in memory holds one program after the other. */
static bool replaced_code(trial *t)
{
    const uint32_t at = t->device->board.user.base;
    static const char *const flags[] = {"-DSTEP=3", "-DSTEP=7", "-DSTEP=3", "-DSTEP=5"};
    uint32_t want = 0;
    const uint32_t zeros[5] = {0};
    if (!put(t, first, at, zeros, sizeof zeros)) return false;
    for (uint32_t i = 0; i < 4; i++) {
        if (!begin(t)) return false;
        for (uint32_t risc = 0; risc < 5; risc++) {
            const uint32_t arg = at + 4 * risc;
            if (!kernel(t, "tests/sim/kernels/step.c", risc, first, flags[i], &arg, 1)) return false;
        }
        want = want * 16 + (uint32_t)(flags[i][7] - '0');
        const uint32_t all[5] = {want, want, want, want, want};
        if (!run(t) || !same(t, first, at, all, sizeof all, "a RISC has run code that was replaced"))
            return false;
    }
    return true;
}

static bool dram_writes(trial *t)
{
    const board *b = &t->device->board;
    uint32_t tiles[2] = {UINT32_MAX, UINT32_MAX};
    for (uint32_t i = 0; i < b->n_dram; i++)
        for (uint32_t noc = 0; noc < 2; noc++)
            if (b->dram_noc[i] == noc || (b->dram_noc[i] == BOARD_ANY_NOC && i == noc)) tiles[noc] = i;
    if (!begin(t)) return false;
    for (uint32_t i = 0; i < 2; i++) {
        const board_xy tile = b->dram[tiles[i]];
        const uint32_t args[] = {BLOCKS, tile.x | (uint32_t)tile.y << 6, 0x10000,
                                 b->user.base + 8192 + 512 * i};
        if (!kernel(t, "tests/sim/kernels/noc.c", i ? 4 : 1, first, NULL, args, 4)) return false;
    }
    if (!run(t)) return false;
    for (uint32_t i = 0; i < 2; i++) {
        const board_xy tile = b->dram[tiles[i]];
        uint32_t got[BLOCKS * BLOCK_WORDS];
        if (!good(t, dl_read(&t->device->transport, (dl_target){tile.x, tile.y, tile.x, tile.y}, 0x10000, got,
                             sizeof got, &t->err)))
            return false;
        for (uint32_t k = 0; k < BLOCKS * BLOCK_WORDS; k++)
            if (got[k] != k / BLOCK_WORDS * 0x10001u + k % BLOCK_WORDS * 0x1000000u)
                return bad(t, "a block in DRAM is wrong");
    }
    return true;
}

/* Cores that are started anew find nothing of what was. */
static bool started_again(trial *t)
{
    const uint32_t at = t->device->board.user.base;
    const uint32_t zero = 0, want = 9;
    t->device->booted[first.x] = t->device->booted[second.x] = false;
    if (!begin(t) || !kernel(t, "tests/sim/kernels/step.c", 2, first, "-DSTEP=9", &at, 1)) return false;
    return put(t, first, at, &zero, 4) && run(t) &&
           same(t, first, at, &want, 4, "nothing ran on a core that was started again");
}

/* Zones and events of all RISCs of a core in the event stream of their tile: an odd number, so that one is left
 * to be flushed. */
static bool events(trial *t)
{
    const uint32_t rounds = ROUNDS;
    if (!begin(t)) return false;
    for (uint32_t risc = 0; risc < 5; risc++)
        if (!kernel(t, "tests/sim/kernels/events.c", risc, first, "-DDEVLOG_HW_STREAM", &rounds, 1))
            return false;
    return run(t);
}

static uint32_t count(const char *text, const char *what)
{
    uint32_t n = 0;
    for (const char *p = text; (p = strstr(p, what)); p += strlen(what))
        n++;
    return n;
}

static bool whole_stream(trial *t, const char *text)
{
    return (count(text, "all rounds,ZONE_END") == 5 && count(text, ",round,ZONE_END") == 5 * ROUNDS) ||
           bad(t, "the event stream is not whole in the log");
}

static void remove_folder(trial *t, const char *folder)
{
    char command[400];
    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    if (system(command) != 0) bad(t, "cannot remove the logs");
}

/* Every zone of every RISC is in the log. */
static bool all_is_logged(trial *t, const char *folder, uint32_t launches)
{
    char path[400];
    size_t size;
    snprintf(path, sizeof path, "%s/profile_log_device.csv", folder);
    char *text = read_bytes(path, &size);
    bool ok = (count(text, "selftest step,ZONE_END") == 5 * ZONES * launches ||
               bad(t, "zones are missing in the log")) &&
              (count(text, "compute page,ZONE_END") == PAGES * launches ||
               bad(t, "pages are missing in the log")) &&
              (count(text, "block,ZONE_END") == 2 * BLOCKS || bad(t, "blocks are missing in the log"));
    free(text);
    return ok;
}

static bool clocks_are_right(trial *t)
{
    const dl_clocks *c = t->device->clocks;
    if (c->n_offsets != 1) return bad(t, "the clocks of two cores were not compared");
    return (c->offsets[0].lo <= 0 && c->offsets[0].hi >= 0) || bad(t, "the offset of two clocks is wrong");
}

/* Everything, twice, so that there is something old in every cache. */
static bool everything(trial *t, const char *on, unsigned seed)
{
    char folder[256];
    memset(t, 0, sizeof *t);
    snprintf(folder, sizeof folder, "%s", in_scratch("logs"));
    bool ok = open_it(t, on, seed, folder, seed % 2 ? DEVLOG_RECORD_STREAM : DEVLOG_RECORD_STOP, DEVLOG_ON) &&
              pipeline(t, 1) && clocks_are_right(t) && replaced_code(t) && dram_writes(t) && events(t) &&
              pipeline(t, 2) && started_again(t) && pipeline(t, 3);
    ok = close_it(t) && ok;
    ok = ok && all_is_logged(t, folder, 3);
    remove_folder(t, folder);
    return ok;
}

/* Without markers the firmware has hardly an instruction between the message and the kernel. */
static bool unprofiled(trial *t, const char *on, unsigned seed)
{
    memset(t, 0, sizeof *t);
    bool ok = open_it(t, on, seed, in_scratch("none"), DEVLOG_RECORD_STOP, DEVLOG_OFF) && replaced_code(t) &&
              started_again(t) && pipeline(t, 1);
    return close_it(t) && ok;
}

/* The NoC, and another core's clock. */
static bool noc_and_clocks(trial *t, const char *on, unsigned seed)
{
    memset(t, 0, sizeof *t);
    bool ok =
        open_it(t, on, seed, in_scratch("noc"), DEVLOG_RECORD_STOP, DEVLOG_ON) && dram_writes(t) && begin(t);
    for (uint32_t i = 0; i < 2 && ok; i++) {
        const uint32_t at = t->device->board.user.base;
        ok = kernel(t, "tests/sim/kernels/step.c", 0, i ? second : first, NULL, &at, 1);
    }
    ok = ok && run(t) && clocks_are_right(t);
    ok = close_it(t) && ok;
    remove_folder(t, in_scratch("noc"));
    return ok && !t->wrong[0];
}

/* The event stream alone. */
static bool only_events(trial *t, const char *on, unsigned seed)
{
    char folder[256], path[300];
    size_t size;
    memset(t, 0, sizeof *t);
    snprintf(folder, sizeof folder, "%s", in_scratch("stream"));
    bool ok = open_it(t, on, seed, folder, DEVLOG_RECORD_STOP, DEVLOG_ON) && events(t);
    ok = close_it(t) && ok;
    if (!ok) return false;
    snprintf(path, sizeof path, "%s/profile_log_device.csv", folder);
    char *text = read_bytes(path, &size);
    ok = whole_stream(t, text);
    free(text);
    remove_folder(t, folder);
    return ok && !t->wrong[0];
}

/* ---- Recording is frozen in mid-launch ---- */

static bool frozen(trial *t, const char *on, unsigned seed)
{
    memset(t, 0, sizeof *t);
    if (!open_it(t, on, seed, in_scratch("frozen"), DEVLOG_RECORD_RING, DEVLOG_ON) || !begin(t))
        return close_it(t);
    const board_region *user = &t->device->board.user;
    const uint32_t args[] = {4000, user->base, SEED},
                   at = t->device->board.mailbox.base + (uint32_t)offsetof(devlog_mailbox, go);
    const uint32_t number = 1;
    const uint32_t block =
        board_profiler_base(&t->device->board, 1) + DEVLOG_CONTROL_OFFSET(t->device->board.segment_bits);
    uint32_t before = 0, after = 0, done = 0;
    bool ok = kernel(t, "firmware/kernels/selftest.c", 1, first, NULL, args, 3) && configure(t) &&
              good(t, control_arm(t->device, t->program, &t->err)) && put(t, first, at, &number, 4) &&
              good(t, dl_device_advance(t->device, 30000, &t->err)) &&
              good(t, devlog_freeze(t->device, true, &t->err)) &&
              good(t, dl_core_read(t->device, first, block + (uint32_t)offsetof(devlog_control, switches),
                                   &before, 4, &t->err));
    while (ok && done != number)
        ok = good(t, dl_device_advance(t->device, 10000, &t->err)) &&
             good(t, dl_core_read(t->device, first, at + 4, &done, 4, &t->err));
    ok = ok && good(t, dl_core_read(t->device, first, block + (uint32_t)offsetof(devlog_control, switches),
                                    &after, 4, &t->err));
    /* One change of segments may be under way. */
    if (ok && (before == 0 || after > before + 1)) bad(t, "a RISC has not seen that its records are frozen");
    return close_it(t);
}

/* ---- Tests ---- */

static const char *const boards[] = {"wormhole_b0", "blackhole"};

static unsigned seeds(unsigned few)
{
    const char *n = getenv("DEVLOG_TEST_SEEDS");
    return n ? (unsigned)strtoul(n, NULL, 10) : few;
}

static void everything_is_right(void **state)
{
    (void)state;
    const unsigned n = seeds(3);
    for (size_t b = 0; b < 2; b++) {
        uint64_t most = 0;
        for (unsigned seed = 0; seed < n; seed++) {
            trial t;
            bool ok = everything(&t, boards[b], seed);
            if (t.cycles > most) most = t.cycles;
            if (!ok || !unprofiled(&t, boards[b], seed) || !frozen(&t, boards[b], seed))
                fail_msg("%s, DEVLOG_SIM=strict=%u: %s", boards[b], seed, t.wrong);
            if (seed % 100 == 99) printf("%s: %u seeds are right\n", boards[b], seed + 1), fflush(stdout);
        }
        printf("%s: %u seeds, at most %llu cycles\n", boards[b], n, (unsigned long long)most);
        fflush(stdout);
        assert_true(most < LIMIT * 3 / 4);
    }
}

/* The compiler, by which all is compiled without the fence of a place. */
static void leave_out(unsigned place)
{
    char path[300], text[300];
    snprintf(path, sizeof path, "%s", in_scratch("cc"));
    snprintf(text, sizeof text, "#!/bin/sh\nexec riscv64-unknown-elf-gcc -DDEVLOG_WITHOUT_FENCE=%u \"$@\"\n",
             place);
    write_text(path, text);
    assert_int_equal(chmod(path, 0755), 0);
    setenv("DEVLOG_CC", path, 1);
}

static void every_place_is_needed(void **state)
{
    (void)state;
    enum { WORMHOLE = 1, BLACKHOLE = 2, BOTH = 3, MOST_SEEDS = 60 };
    typedef bool scenario(trial * t, const char *on, unsigned seed);
    static scenario *const where[DEVLOG_ORDER_PLACES + 1] = {
        [DEVLOG_ORDER_SOURCE] = noc_and_clocks, [DEVLOG_ORDER_COMMAND] = noc_and_clocks,
        [DEVLOG_ORDER_ANSWER] = noc_and_clocks, [DEVLOG_ORDER_EVENTS] = only_events,
        [DEVLOG_ORDER_STATUS] = only_events,    [DEVLOG_ORDER_FROZEN] = frozen,
    };
    static const uint8_t chips[DEVLOG_ORDER_PLACES + 1] = {
        [DEVLOG_ORDER_START] = BLACKHOLE,   [DEVLOG_ORDER_UP] = BLACKHOLE,
        [DEVLOG_ORDER_GO] = BLACKHOLE,      [DEVLOG_ORDER_WORK] = BLACKHOLE,
        [DEVLOG_ORDER_DONE] = BLACKHOLE,    [DEVLOG_ORDER_CODE] = BOTH,
        [DEVLOG_ORDER_PIPELINE] = BOTH,     [DEVLOG_ORDER_SOURCE] = BOTH,
        [DEVLOG_ORDER_COMMAND] = BOTH,      [DEVLOG_ORDER_ANSWER] = BLACKHOLE,
        [DEVLOG_ORDER_RESERVE] = BLACKHOLE, [DEVLOG_ORDER_FRONT] = BLACKHOLE,
        [DEVLOG_ORDER_FROZEN] = BLACKHOLE,  [DEVLOG_ORDER_EVENTS] = BOTH,
        [DEVLOG_ORDER_STATUS] = BOTH,
    };
    const bool many = getenv("DEVLOG_TEST_SEEDS"); /* otherwise a place of both chips is left out on one */
    for (unsigned place = 1; place <= DEVLOG_ORDER_PLACES; place++) {
        leave_out(place);
        for (unsigned b = 0; b < 2; b++) {
            if (!(chips[place] >> b & 1) || (!many && chips[place] == BOTH && place % 2 == b)) continue;
            trial t = {0};
            unsigned seed = 0;
            scenario *run_it = where[place] ? where[place] : unprofiled;
            while (seed < MOST_SEEDS && run_it(&t, boards[b], seed))
                seed++;
            if (seed == MOST_SEEDS)
                fail_msg("%s: without place %u of devlog/order.h nothing is wrong in %u seeds", boards[b],
                         place, seed);
            /* By the missing fence, and not because nothing could be compiled. */
            if (t.status != DEVLOG_OK && t.status != DEVLOG_ERR_DEVICE) fail_msg("%s", t.wrong);
            printf("%s without place %u: strict=%u: %.100s\n", boards[b], place, seed, t.wrong);
            fflush(stdout);
        }
    }
    unsetenv("DEVLOG_CC");
}

/* ---- What the simulator does not let pass ---- */

/* One kernel that the chip would not survive: the error names the core, the RISC and the kernel. */
static void is_refused(const char *on, const char *source, uint32_t risc, const uint32_t *args, uint32_t n,
                       const char *says)
{
    trial t = {0};
    assert_true(open_it(&t, on, 1, in_scratch("refused"), DEVLOG_RECORD_STOP, DEVLOG_ON) && begin(&t) &&
                kernel(&t, source, risc, second, NULL, args, n));
    bool ran = run(&t);
    if (says == NULL && !ran) fail_msg("%s", t.wrong);
    if (says && (ran || !strstr(t.wrong, says) || !strstr(t.wrong, "core (1,0)") ||
                 !strstr(t.wrong, source) || !strstr(t.wrong, t.device->board.riscs[risc].name)))
        fail_msg("%s", t.wrong);
    close_it(&t);
}

static void reads_agree_modulo_64_on_blackhole(void **state)
{
    (void)state;
    for (uint32_t b = 0; b < 2; b++)
        for (uint32_t off = 0; off < 64; off += 32) {
            const uint32_t args[] = {0, 0x1000 + off, 0x60000};
            is_refused(boards[b], "tests/sim/kernels/noc_read.c", 1, args, 3,
                       b && off ? "differ modulo 64" : NULL);
        }
}

/* By the data of two RISCs, one on each NoC, that go to one DRAM tile. */
static void a_dram_endpoint_has_one_noc_on_blackhole(void **state)
{
    (void)state;
    for (uint32_t b = 0; b < 2; b++) {
        trial t = {0};
        assert_true(open_it(&t, boards[b], 3, in_scratch("endpoint"), DEVLOG_RECORD_STOP, DEVLOG_ON) &&
                    begin(&t));
        for (uint32_t i = 0; i < 2; i++) {
            const uint32_t args[] = {BLOCKS, 0, 0x10000 + 0x8000 * i,
                                     t.device->board.user.base + 8192 + 512 * i};
            assert_true(kernel(&t, "tests/sim/kernels/noc.c", i ? 4 : 1, first, NULL, args, 4));
        }
        assert_true(run(&t) == (b == 0));
        if (b && (!strstr(t.wrong, "both NoCs use this DRAM endpoint") ||
                  !strstr(t.wrong, "tests/sim/kernels/noc.c")))
            fail_msg("%s", t.wrong);
        close_it(&t);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_agree_modulo_64_on_blackhole),
        cmocka_unit_test(a_dram_endpoint_has_one_noc_on_blackhole),
        cmocka_unit_test(everything_is_right),
        cmocka_unit_test(every_place_is_needed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
