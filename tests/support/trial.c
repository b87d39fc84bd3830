/* Programs on the strict model, and whether what they did is right: see the header. */
#include "support/trial.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "profiler/clock_sync.h"
#include "profiler/control.h"
#include "support/cli.h"
#include "support/files.h"
#include "support/text.h"

#include "../../firmware/kernels/pipeline.h"

enum {
    PAGES = 24,
    ZONES = 150,
    BLOCKS = TRIAL_BLOCKS,
    ROUNDS = 5,
    BLOCK_WORDS = 32,
    SEED = 12345,
    STREAM_BYTES = 65536
};

static const devlog_core first = {0, 0}, second = {1, 0};

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

bool trial_open(trial *t, const char *on, unsigned seed, const char *folder, devlog_recording recording,
                devlog_switch profile)
{
    char options_of[80];
    snprintf(options_of, sizeof options_of, "strict=%u,limit=%d", seed, TRIAL_LIMIT);
    const devlog_device_options options =
        DEVLOG_DEVICE_OPTIONS(.board = on, .transport = "sim", .sim = options_of, .profile = profile,
                              .log_folder = folder, .timeout_ms = 600000);
    return good(t, devlog_device_open(&options, &t->device, &t->err)) &&
           good(t, devlog_set_recording(t->device, recording,
                                        recording == DEVLOG_RECORD_STREAM ? STREAM_BYTES : 0, &t->err));
}

bool trial_close(trial *t)
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

bool trial_begin(trial *t)
{
    devlog_program_free(t->program);
    t->program = NULL;
    return good(t, devlog_program_create(t->device, &t->program, &t->err));
}

bool trial_kernel(trial *t, const char *source, uint32_t risc, devlog_core core, const char *flags,
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

bool trial_run(trial *t)
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

/* Five kernels on one core, connected by circular buffers of two pages, in the second turn with records of their waits; on the
 * other core zones on every RISC. */
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
    if (!trial_begin(t)) return false;
    for (uint32_t risc = 0; risc < 5; risc++) {
        char source[80];
        snprintf(source, sizeof source, "firmware/kernels/%s.c", stages[risc]);
        const uint32_t args[] = {PAGES, user + 1024, risc == 1 ? out : in};
        const uint32_t zones[] = {ZONES, result + 4 * risc, SEED + turn + risc};
        if (!trial_kernel(t, source, risc, first, turn % 2 ? NULL : "-DDEVLOG_WAITS", args, 3) ||
            !trial_kernel(t, "firmware/kernels/selftest.c", risc, second, NULL, zones, 3))
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
    static const char *const flags[] = {"-DSTEP=3", "-DSTEP=7", "-DSTEP=3"};
    uint32_t want = 0;
    const uint32_t zeros[5] = {0};
    if (!put(t, first, at, zeros, sizeof zeros)) return false;
    for (uint32_t i = 0; i < sizeof flags / sizeof flags[0]; i++) {
        if (!trial_begin(t)) return false;
        for (uint32_t risc = 0; risc < 5; risc++) {
            const uint32_t arg = at + 4 * risc;
            if (!trial_kernel(t, "tests/sim/kernels/step.c", risc, first, flags[i], &arg, 1)) return false;
        }
        want = want * 16 + (uint32_t)(flags[i][7] - '0');
        const uint32_t all[5] = {want, want, want, want, want};
        if (!trial_run(t) || !same(t, first, at, all, sizeof all, "a RISC has run code that was replaced"))
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
    if (!trial_begin(t)) return false;
    for (uint32_t i = 0; i < 2; i++) {
        const board_xy tile = b->dram[tiles[i]];
        const uint32_t args[] = {BLOCKS, tile.x | (uint32_t)tile.y << 6, 0x10000,
                                 b->user.base + 8192 + 512 * i};
        if (!trial_kernel(t, "tests/sim/kernels/noc.c", i ? 4 : 1, first, NULL, args, 4)) return false;
    }
    if (!trial_run(t)) return false;
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
    const uint32_t zero = 0, want = 7;
    t->device->booted[first.x] = t->device->booted[second.x] = false;
    if (!trial_begin(t) || !trial_kernel(t, "tests/sim/kernels/step.c", 2, first, "-DSTEP=7", &at, 1))
        return false;
    return put(t, first, at, &zero, 4) && trial_run(t) &&
           same(t, first, at, &want, 4, "nothing ran on a core that was started again");
}

/* Zones and events of all RISCs of a core in the event stream of their tile. */
static bool events(trial *t)
{
    const uint32_t rounds = ROUNDS;
    if (!trial_begin(t)) return false;
    for (uint32_t risc = 0; risc < 5; risc++)
        if (!trial_kernel(t, "tests/sim/kernels/events.c", risc, first, "-DDEVLOG_HW_STREAM", &rounds, 1))
            return false;
    return trial_run(t);
}

static bool whole_stream(trial *t, const char *text)
{
    return (text_count(text, "all rounds,ZONE_END") == 5 &&
            text_count(text, ",round,ZONE_END") == 5 * ROUNDS) ||
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
    bool ok = whole_stream(t, text) &&
              (text_count(text, "selftest step,ZONE_END") == 5 * ZONES * launches ||
               bad(t, "zones are missing in the log")) &&
              (text_count(text, "compute page,ZONE_END") == PAGES * launches ||
               bad(t, "pages are missing in the log")) &&
              (text_count(text, "block,ZONE_END") == 2 * BLOCKS || bad(t, "blocks are missing in the log"));
    free(text);
    return ok;
}

static bool clocks_are_right(trial *t)
{
    const dl_clocks *c = t->device->clocks;
    if (c->n_offsets != 1) return bad(t, "the clocks of two cores were not compared");
    return (c->offsets[0].lo <= 0 && c->offsets[0].hi >= 0) || bad(t, "the offset of two clocks is wrong");
}

bool trial_everything(trial *t, const char *on, unsigned seed)
{
    char folder[256];
    memset(t, 0, sizeof *t);
    snprintf(folder, sizeof folder, "%s", in_scratch("logs"));
    bool ok =
        trial_open(t, on, seed, folder, seed % 2 ? DEVLOG_RECORD_STREAM : DEVLOG_RECORD_STOP, DEVLOG_ON) &&
        pipeline(t, 1) && clocks_are_right(t) && replaced_code(t) && dram_writes(t) && events(t) &&
        pipeline(t, 2) && started_again(t) && pipeline(t, 3);
    ok = trial_close(t) && ok;
    ok = ok && all_is_logged(t, folder, 3);
    remove_folder(t, folder);
    return ok;
}

bool trial_replaced(trial *t, const char *on, unsigned seed)
{
    memset(t, 0, sizeof *t);
    bool ok = trial_open(t, on, seed, in_scratch("none"), DEVLOG_RECORD_STOP, DEVLOG_OFF) &&
              replaced_code(t) && started_again(t);
    return trial_close(t) && ok;
}

bool trial_pipeline(trial *t, const char *on, unsigned seed)
{
    memset(t, 0, sizeof *t);
    bool ok = trial_open(t, on, seed, in_scratch("none"), DEVLOG_RECORD_STOP, DEVLOG_OFF) && pipeline(t, 1);
    return trial_close(t) && ok;
}

bool trial_noc_and_clocks(trial *t, const char *on, unsigned seed)
{
    memset(t, 0, sizeof *t);
    bool ok = trial_open(t, on, seed, in_scratch("noc"), DEVLOG_RECORD_STOP, DEVLOG_ON) && dram_writes(t) &&
              trial_begin(t);
    for (uint32_t i = 0; i < 2 && ok; i++) {
        const uint32_t at = t->device->board.user.base;
        ok = trial_kernel(t, "tests/sim/kernels/step.c", 0, i ? second : first, NULL, &at, 1);
    }
    ok = ok && trial_run(t) && clocks_are_right(t);
    ok = trial_close(t) && ok;
    remove_folder(t, in_scratch("noc"));
    return ok && !t->wrong[0];
}

bool trial_events(trial *t, const char *on, unsigned seed)
{
    char folder[256], path[300];
    size_t size;
    memset(t, 0, sizeof *t);
    snprintf(folder, sizeof folder, "%s", in_scratch("stream"));
    bool ok = trial_open(t, on, seed, folder, DEVLOG_RECORD_STOP, DEVLOG_ON) && events(t);
    ok = trial_close(t) && ok;
    if (!ok) return false;
    snprintf(path, sizeof path, "%s/profile_log_device.csv", folder);
    char *text = read_bytes(path, &size);
    ok = whole_stream(t, text);
    free(text);
    remove_folder(t, folder);
    return ok && !t->wrong[0];
}

bool trial_frozen(trial *t, const char *on, unsigned seed)
{
    memset(t, 0, sizeof *t);
    if (!trial_open(t, on, seed, in_scratch("frozen"), DEVLOG_RECORD_RING, DEVLOG_ON) || !trial_begin(t))
        return trial_close(t);
    const board_region *user = &t->device->board.user;
    const uint32_t args[] = {4000, user->base, SEED},
                   at = t->device->board.mailbox.base + (uint32_t)offsetof(devlog_mailbox, go);
    const uint32_t number = 1;
    const uint32_t block =
        board_profiler_base(&t->device->board, 1) + DEVLOG_CONTROL_OFFSET(t->device->board.segment_bits);
    uint32_t before = 0, after = 0, done = 0;
    bool ok = trial_kernel(t, "firmware/kernels/selftest.c", 1, first, NULL, args, 3) && configure(t) &&
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
    return trial_close(t);
}
