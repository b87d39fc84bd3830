/* Advice taken: a program with a flaw, for which its rule of tables/rules.json fires; the same without it, for which the rule does
 * not; and devlog_diff, which shows the gain. Each case is an op that devlog runs on the simulator, whose log of ops and capture
 * are the run. Rules that want what the simulator does not have: tests/unit/test_advice.c. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "devlog/answers.h"
#include "support/advised.h"
#include "support/device.h"
#include "support/files.h"

enum { RISCS = 5, CORES = 4, CB_BYTES = 64, MOST_CHIPS = 2, LANDING = 1024 };

static const char *const riscs[RISCS] = {"BRISC", "NCRISC", "TRISC0", "TRISC1", "TRISC2"};

/* A run: kernels of each RISC work for some rounds a page, on its cores; `chain`: BRISC fills a buffer that TRISC0 empties. */
typedef struct work {
    uint32_t pages, rounds[RISCS], more_on_core_0, launches;
    bool chain, waits;
    /* or: a zone so often, and work without any (iterations.c on BRISC) */
    uint32_t zones, plain;
    devlog_recording recording;
    const char *nested; /* or: nested.c on BRISC with these flags */
    /* or: transfers.c on BRISC of all cores, from one tile of the DRAM or from one each; and a buffer there */
    uint32_t reads, bytes, step;
    bool own_tile;
    uint64_t buffer, buffer_page;
    /* Of the host: each op of it compiles its program anew, in a cache that has nothing; or has it compiled before the first. */
    bool compiles, compiled_before;
    uint32_t set_ups; /* how often an op sets its program up before it launches it; 0: once */
    const char *sim;  /* options of the simulator: what an access by the host takes */
    uint32_t chips;   /* 0: one */
    uint32_t more_on_chip_1;
} work;

typedef struct advised {
    const char *rule;
    work flawed, mended;
    const char *total; /* of the diff: what is less; NULL: something else than time is won */
    double least;      /* by how many per cent, at the least */
    const char *says;  /* of the evidence, where the flaw is; or NULL */
} advised;

static const advised cases[] = {
    {"core_imbalance",
     {.pages = 1, .rounds = {4000}, .more_on_core_0 = 16000, .launches = 2},
     {.pages = 1, .rounds = {8000}, .launches = 2},
     "time on the device",
     40},
    {"risc_imbalance",
     {.pages = 1, .rounds = {20000, 0, 0, 4000}, .launches = 2},
     {.pages = 1, .rounds = {12000, 0, 0, 12000}, .launches = 2},
     "time on the device",
     30},
    {"unpack_waits",
     {.pages = 16, .rounds = {900, 0, 300}, .chain = true, .waits = true, .launches = 2},
     {.pages = 16, .rounds = {280, 0, 300}, .chain = true, .waits = true, .launches = 2},
     "time on the device",
     50},
    {"launch",
     {.pages = 1, .rounds = {20}, .launches = 16},
     {.pages = 1, .rounds = {320}, .launches = 1},
     "time on the device",
     50},
    {"markers",
     {.nested = "-DWORK", .launches = 2},
     {.nested = "-DPLAIN", .launches = 2},
     "time on the device",
     20},
    {"stream_stalls",
     {.zones = 3000, .launches = 2, .recording = DEVLOG_RECORD_STREAM},
     {.zones = 100, .plain = 2900, .launches = 2, .recording = DEVLOG_RECORD_STREAM},
     "time on the device",
     50},
    {"gap",
     {.pages = 1, .rounds = {2000}, .launches = 6, .set_ups = 20, .sim = "latency=10"},
     {.pages = 1, .rounds = {2000}, .launches = 6, .sim = "latency=10"},
     "gaps on the device",
     50},
    {"straggler",
     {.pages = 1, .rounds = {8000}, .launches = 2, .chips = 2, .more_on_chip_1 = 8000},
     {.pages = 1, .rounds = {12000}, .launches = 2, .chips = 2},
     "time on the busiest chip",
     20},
    {"compile",
     {.pages = 1, .rounds = {200, 200, 200, 200, 200}, .launches = 1, .compiles = true},
     {.pages = 1, .rounds = {200, 200, 200, 200, 200}, .launches = 1, .compiled_before = true},
     "host time in ops",
     20},
    {"transfers_uneven",
     {.reads = 32, .bytes = 24, .step = 24, .waits = true, .launches = 6},
     {.reads = 4, .bytes = 256, .step = 256, .waits = true, .launches = 6},
     "time on the device",
     50,
     "run.uneven 100, run.uneven_at 192 of 192 on core 0: 0-0, BRISC, fetch, transfers.c:12, run.transfers 768"},
    {"transfers_small",
     {.reads = 32, .bytes = 64, .step = 64, .waits = true, .launches = 6},
     {.reads = 4, .bytes = 512, .step = 512, .waits = true, .launches = 6},
     "time on the device",
     50,
     "run.transfer_bytes 64, run.small_at 192 of 64 bytes on core 0: 0-0, BRISC, fetch, transfers.c:12, run.transfers 768, "},
    {"transfers_one_tile",
     {.reads = 32, .bytes = 512, .step = 512, .waits = true, .launches = 2},
     {.reads = 16, .bytes = 512, .step = 512, .own_tile = true, .waits = true, .launches = 2},
     "time on the device",
     30,
     "run.one_tile 100, run.one_tile_at 0: 0-0 on NoC 0, most on core 0: 0-0, BRISC, fetch, transfers.c:12, run.one_tile_cores 4, "},
    /* The simulator's DRAM serves any number of readers at once: what is won is room in the bank. */
    {"dram_one_bank",
     {.reads = 4, .bytes = 512, .step = 512, .launches = 1, .buffer = 1 << 21, .buffer_page = 1 << 21},
     {.reads = 4, .bytes = 512, .step = 512, .launches = 1, .buffer = 1 << 21, .own_tile = true},
     NULL,
     0,
     "run.dram_bank_peak 2097152, run.dram_peak 2097152, run.dram_banks 6, run.dram_by weights of test_advice_gain.c:"},
    {"lost",
     {.zones = 3000, .launches = 1},
     {.zones = 3000, .launches = 1, .recording = DEVLOG_RECORD_STREAM},
     NULL,
     0},
};

static void add_work(devlog_device *device, devlog_program *program, const work *w, uint32_t base,
                     bool second)
{
    devlog_error err = {0};
    const devlog_cores one = {0, 0, 0, 0}, all = {0, 0, CORES - 1, 0};
    if (w->nested) {
        devlog_kernel *kernel = add_kernel(program, "tests/sim/kernels/nested.c", "BRISC", one, w->nested);
        const uint32_t args[] = {0, 0};
        check_ok(devlog_kernel_set_args(kernel, (devlog_core){0, 0}, args, 2, &err), &err);
        return;
    }
    if (w->zones) {
        devlog_kernel *kernel = add_kernel(program, "tests/sim/kernels/iterations.c", "BRISC", one, NULL);
        const uint32_t args[] = {w->zones, w->plain};
        check_ok(devlog_kernel_set_args(kernel, (devlog_core){0, 0}, args, 2, &err), &err);
        return;
    }
    if (w->reads) {
        devlog_kernel *kernel = add_kernel(program, "tests/sim/kernels/transfers.c", "BRISC", all, NULL);
        for (uint32_t c = 0; c < CORES; c++) {
            const board_xy *tile = &device->board.dram[w->own_tile ? c : 0];
            const uint32_t args[] = {
                tile->x | tile->y << 6, 0, base + LANDING, w->reads, w->bytes, w->step, 1};
            check_ok(devlog_kernel_set_args(kernel, (devlog_core){c, 0}, args, 7, &err), &err);
        }
        return;
    }
    for (uint32_t r = 0; r < RISCS; r++) {
        if (!w->rounds[r]) continue;
        devlog_kernel *kernel = add_kernel(program, "tests/sim/kernels/causes.c", riscs[r], all, NULL);
        for (uint32_t c = 0; c < CORES; c++) {
            const uint32_t in = w->chain && r == 2 ? base : 0, out = w->chain && r == 0 ? base : 0;
            const uint32_t rounds =
                w->rounds[r] + (c == 0 ? w->more_on_core_0 : 0) + (second ? w->more_on_chip_1 : 0);
            const uint32_t args[7] = {w->pages, rounds, in, 0, out, 0, 0};
            check_ok(devlog_kernel_set_args(kernel, (devlog_core){c, 0}, args, 7, &err), &err);
        }
    }
}

/* A device, and the program that its ops run. */
typedef struct part {
    devlog_device *device;
    devlog_program *program;
    devlog_buffer buffer;
    uint32_t base;
} part;

static part open_part(const char *folder, const work *w, devlog_ops *ops, uint32_t slot)
{
    devlog_error err = {0};
    part p = {0};
    const devlog_device_options options =
        DEVLOG_DEVICE_OPTIONS(.board = "wormhole_b0", .transport = "sim", .profile = DEVLOG_ON,
                              .log_folder = folder, .ops = ops, .slot = slot, .sim = w->sim);
    check_ok(devlog_device_open(&options, &p.device, &err), &err);
    check_ok(devlog_set_recording(p.device, w->recording, w->recording == DEVLOG_RECORD_STREAM ? 1 << 20 : 0,
                                  &err),
             &err);
    p.base = (devlog_device_user_l1(p.device, NULL) + 63) & ~63u;
    if (w->buffer)
        check_ok(
            devlog_buffer_create(p.device,
                                 &(devlog_buffer_options)DEVLOG_BUFFER_OPTIONS(.bytes = w->buffer,
                                                                               .page_bytes = w->buffer_page,
                                                                               .memory = DEVLOG_MEMORY_DRAM,
                                                                               .name = "weights"),
                                 &p.buffer, &err),
            &err);
    check_ok(devlog_program_create(p.device, &p.program, &err), &err);
    add_work(p.device, p.program, w, p.base, slot > 0);
    if (w->compiled_before) check_ok(devlog_compile_program(p.program, &err), &err);
    return p;
}

static void run_part(const part *p, const work *w, bool set_up)
{
    static const uint8_t zeros[CB_BYTES];
    devlog_error err = {0};
    for (uint32_t c = 0; c < CORES && w->chain; c++)
        check_ok(devlog_write_to_device(p->device, (devlog_core){c, 0}, p->base, zeros, sizeof zeros, &err),
                 &err);
    for (uint32_t i = 0; i < (w->set_ups ? w->set_ups : set_up); i++)
        prepare(p->device, p->program);
    check_ok(devlog_launch_program(p->device, p->program, &err), &err);
}

static void run_work(const char *folder, const work *w)
{
    devlog_error err = {0};
    devlog_ops *ops = NULL;
    part parts[MOST_CHIPS];
    const uint32_t chips = w->chips ? w->chips : 1;
    char cache[300];
    const char *of_tests = getenv("DEVLOG_CACHE");
    char *usual = of_tests ? strdup(of_tests) : NULL;
    snprintf(cache, sizeof cache, "%s-cache", folder);
    if (w->compiles) setenv("DEVLOG_CACHE", cache, 1);
    setenv("DEVLOG_WAITS", w->waits ? "1" : "0", 1);
    check_ok(
        devlog_ops_open(&(devlog_ops_options)DEVLOG_OPS_OPTIONS(.log_folder = folder, .profile = DEVLOG_ON),
                        &ops, &err),
        &err);
    for (uint32_t i = 0; i < chips; i++)
        parts[i] = open_part(folder, w, ops, i);
    for (uint32_t i = 0; i < w->launches; i++) {
        const uint32_t op =
            devlog_op_start(ops, &(devlog_op){.name = "work", .type = DEVLOG_OP_TT_DNN_DEVICE});
        for (uint32_t k = 0; k < chips; k++)
            run_part(&parts[k], w, i == 0);
        devlog_op_end(ops, op);
    }
    for (uint32_t i = 0; i < chips; i++) {
        devlog_program_free(parts[i].program);
        check_ok(devlog_buffer_free(parts[i].device, parts[i].buffer, &err), &err);
        check_ok(devlog_device_close(parts[i].device, &err), &err);
    }
    check_ok(devlog_ops_close(ops, &err), &err);
    if (usual)
        setenv("DEVLOG_CACHE", usual, 1);
    else
        unsetenv("DEVLOG_CACHE");
    free(usual);
}

/* `says`: of the evidence; or NULL. */
static bool fires(const char *folder, const char *rule, const char *says)
{
    devlog_answer *a;
    devlog_error err = {0};
    bool found = false;
    check_ok(devlog_report(folder, NULL, &a, &err), &err);
    const size_t advice = devlog_answer_find(a, "advice"),
                 column = devlog_answer_find_column(a, advice, "rule"),
                 evidence = devlog_answer_find_column(a, advice, "evidence");
    for (size_t i = 0; i < devlog_answer_table(a, advice).rows; i++) {
        if (strcmp(devlog_answer_cell(a, advice, i, column).text, rule) != 0) continue;
        found = true;
        const char *text = devlog_answer_cell(a, advice, i, evidence).text;
        if (says && !strstr(text, says)) fail_msg("%s: '%s' has no '%s'", rule, text, says);
    }
    devlog_answer_free(a);
    return found;
}

/* By how many per cent a total of the diff is less. */
static double gain(const char *before, const char *after, const char *total)
{
    devlog_answer *a;
    devlog_error err = {0};
    const devlog_diff_options o = DEVLOG_DIFF_OPTIONS(.exact = true);
    check_ok(devlog_diff(&before, 1, &after, 1, &o, &a, &err), &err);
    const size_t lines = devlog_answer_find(a, "lines");
    const size_t name = devlog_answer_find_column(a, lines, "name");
    const size_t sides[] = {devlog_answer_find_column(a, lines, "old_per_run"),
                            devlog_answer_find_column(a, lines, "new_per_run")};
    double values[2] = {0, 0};
    for (size_t i = 0; i < devlog_answer_table(a, lines).rows; i++)
        for (int side = 0; side < 2 && strcmp(devlog_answer_cell(a, lines, i, name).text, total) == 0; side++)
            values[side] = devlog_answer_cell(a, lines, i, sides[side]).number;
    devlog_answer_free(a);
    assert_true(values[0] > 0 && values[1] > 0);
    return 100 * (1 - values[1] / values[0]);
}

static void advice_that_is_taken_gains(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const advised *c = &cases[i];
        char flawed[300], mended[300];
        snprintf(flawed, sizeof flawed, "%s/%s-flawed", test_folder(), c->rule);
        snprintf(mended, sizeof mended, "%s/%s-mended", test_folder(), c->rule);
        run_work(flawed, &c->flawed);
        run_work(mended, &c->mended);
        if (!fires(flawed, c->rule, c->says)) fail_msg("%s does not fire where the flaw is", c->rule);
        if (fires(mended, c->rule, NULL)) fail_msg("%s fires where it is mended", c->rule);
        const double won = c->total ? gain(flawed, mended, c->total) : 0;
        print_message("%-16s %5.1f %%\n", c->rule, won);
        if (won < c->least) fail_msg("%s: %.1f %% less, not %.0f %%", c->rule, won, c->least);
    }
    unsetenv("DEVLOG_WAITS");
}

/* What is said to be tested here is. */
static void the_list_is_that_of_the_cases(void **state)
{
    (void)state;
    assert_int_equal(sizeof cases / sizeof cases[0], ADVISED_ON_SIMULATOR);
    for (size_t i = 0; i < ADVISED_ON_SIMULATOR; i++)
        assert_string_equal(cases[i].rule, advised_on_simulator[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(advice_that_is_taken_gains),
                                       cmocka_unit_test(the_list_is_that_of_the_cases)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
