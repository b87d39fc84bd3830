/* Why it waited, against the simulator: a stage of a pipeline is made shorter as the path says it should be, the program is run
 * again, and the launch is shorter by what was predicted; made shorter off the path, nothing is gained. And that waits cost
 * nothing where they are not recorded. The arithmetic by itself: tests/unit/test_causes.c. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "answers/causes_parts.h"
#include "answers/causes_run.h"
#include "support/cost.h"
#include "support/device.h"
#include "support/files.h"

enum { CORES = 2, RISCS = 5, CB_BYTES = 64, STREAM_BYTES = 65536, CASES = 12 };

/* BRISC reads; TRISC0 and TRISC1 work beside one another, or TRISC1 behind TRISC0; TRISC2 takes both; NCRISC writes. */
static const char *const riscs[RISCS] = {"BRISC", "NCRISC", "TRISC0", "TRISC1", "TRISC2"};

typedef struct trial {
    const char *name;
    bool fork, semaphore;
    uint32_t rounds[CORES][RISCS];
    uint32_t core, risc, less; /* the second time this stage has so many rounds less */
    /* what came of it */
    uint64_t cycles[2], predicted;
} trial;

static trial trials[CASES] = {
    {.name = "the slowest of a chain",
     .rounds = {{50, 50, 80, 400, 80}, {9, 9, 9, 9, 9}},
     .risc = 3,
     .less = 200},
    {.name = "the slowest, past the next",
     .rounds = {{50, 50, 300, 400, 80}, {9, 9, 9, 9, 9}},
     .risc = 3,
     .less = 300},
    {.name = "the first of a chain",
     .rounds = {{500, 90, 90, 90, 90}, {9, 9, 9, 9, 9}},
     .risc = 0,
     .less = 250},
    {.name = "the last of a chain",
     .rounds = {{90, 500, 90, 90, 90}, {9, 9, 9, 9, 9}},
     .risc = 1,
     .less = 250},
    {.name = "one that others wait for",
     .rounds = {{90, 90, 200, 500, 90}, {9, 9, 9, 9, 9}},
     .risc = 2,
     .less = 150},
    {.name = "the longer of two ways",
     .fork = true,
     .rounds = {{60, 60, 500, 300, 60}, {9, 9, 9, 9, 9}},
     .risc = 2,
     .less = 150},
    {.name = "the longer, past the shorter",
     .fork = true,
     .rounds = {{60, 60, 500, 400, 60}, {9, 9, 9, 9, 9}},
     .risc = 2,
     .less = 300},
    {.name = "the shorter of two ways",
     .fork = true,
     .rounds = {{60, 60, 500, 300, 60}, {9, 9, 9, 9, 9}},
     .risc = 3,
     .less = 200},
    {.name = "a core that is early",
     .rounds = {{90, 90, 90, 500, 90}, {50, 50, 50, 300, 50}},
     .core = 1,
     .risc = 3,
     .less = 200},
    {.name = "past another core",
     .rounds = {{90, 90, 90, 500, 90}, {90, 90, 90, 450, 90}},
     .risc = 3,
     .less = 200},
    {.name = "by a semaphore",
     .semaphore = true,
     .rounds = {{60, 400, 90, 200, 60}, {9, 9, 9, 9, 9}},
     .risc = 1,
     .less = 150},
    {.name = "all alike", .rounds = {{200, 200, 200, 200, 200}, {9, 9, 9, 9, 9}}, .risc = 4, .less = 150},
};

/* Buffers: 0 BRISC to TRISC0, 1 TRISC0 to TRISC2 or TRISC1, 2 TRISC1 to TRISC2, 3 TRISC2 to NCRISC, 4 BRISC to TRISC1. */
static uint32_t pages = 16, user_l1;

static void arguments(const trial *t, uint32_t base, uint32_t core, uint32_t risc, bool again,
                      uint32_t args[7])
{
    const uint32_t cb[] = {base, base + CB_BYTES, base + 2 * CB_BYTES, base + 3 * CB_BYTES,
                           base + 4 * CB_BYTES};
    const uint32_t fork[RISCS][4] = {{0, 0, cb[0], cb[4]},
                                     {cb[3], 0, 0, 0},
                                     {cb[0], 0, cb[1], 0},
                                     {cb[4], 0, cb[2], 0},
                                     {cb[1], cb[2], cb[3], 0}};
    const uint32_t chain[RISCS][4] = {
        {0, 0, cb[0], 0}, {cb[3], 0, 0, 0}, {cb[0], 0, cb[1], 0}, {cb[1], 0, cb[2], 0}, {cb[2], 0, cb[3], 0}};
    const bool less = again && core == t->core && risc == t->risc;
    args[0] = pages;
    args[1] = t->rounds[core][risc] - (less ? t->less : 0);
    memcpy(args + 2, t->fork ? fork[risc] : chain[risc], 4 * sizeof *args);
    args[6] = 0;
    /* TRISC2 gives its pages to NCRISC by a semaphore only */
    if (t->semaphore && risc == 4) args[4] = 0, args[6] = base + 5 * CB_BYTES + 1;
    if (t->semaphore && risc == 1) args[2] = 0, args[6] = base + 5 * CB_BYTES;
}

/* Which trial each launch is of, and whether for the second time: 2 * trial + again; NULL: all of them, one after the other. */
static const size_t *plan;

static size_t planned(size_t launch)
{
    return plan ? plan[launch] : launch;
}

static void run_all(const char *folder, size_t launches, devlog_recording recording)
{
    devlog_error err = {0};
    devlog_device *device = NULL;
    const devlog_device_options options = DEVLOG_DEVICE_OPTIONS(.board = "wormhole_b0", .transport = "sim",
                                                                .profile = DEVLOG_ON, .log_folder = folder);
    check_ok(devlog_device_open(&options, &device, &err), &err);
    check_ok(devlog_set_recording(device, recording, STREAM_BYTES, &err), &err);
    const uint32_t base = user_l1 = devlog_device_user_l1(device, NULL);
    devlog_program *program = NULL;
    devlog_kernel *kernels[RISCS];
    check_ok(devlog_program_create(device, &program, &err), &err);
    for (uint32_t r = 0; r < RISCS; r++)
        kernels[r] = add_kernel(program, "tests/sim/kernels/causes.c", riscs[r],
                                (devlog_cores){0, 0, CORES - 1, 0}, NULL);
    for (size_t i = 0; i < launches; i++) {
        static const uint8_t zeros[6 * CB_BYTES];
        for (uint32_t c = 0; c < CORES; c++) {
            const devlog_core core = {c, 0};
            for (uint32_t r = 0; r < RISCS; r++) {
                uint32_t args[7];
                arguments(&trials[planned(i) / 2], base, c, r, planned(i) & 1, args);
                check_ok(devlog_kernel_set_args(kernels[r], core, args, 7, &err), &err);
            }
            check_ok(devlog_write_to_device(device, core, base, zeros, sizeof zeros, &err), &err);
        }
        prepare(device, program);
        check_ok(devlog_launch_program(device, program, &err), &err);
    }
    devlog_program_free(program);
    check_ok(devlog_device_close(device, &err), &err);
}

/* Who has to have ended every wait follows from who was given which buffer. */
static size_t check_enders(const causes_launch *l, const trial *t)
{
    const causes *c = l->causes;
    const dl_tables *tables = dl_decode_tables((dl_decode *)(uintptr_t)l->decode);
    static const dl_risc of[RISCS] = {DL_RISC_BRISC, DL_RISC_NCRISC, DL_RISC_TRISC0, DL_RISC_TRISC1,
                                      DL_RISC_TRISC2};
    size_t n = 0;
    for (size_t i = 0; i < c->group_0; i++) {
        const causes_node *node = &c->nodes[i];
        if (node->state != CAUSES_ENDED) continue;
        const dl_stream *by = &tables->streams[l->riscs[c->nodes[node->give].lane].stream];
        const uint32_t at =
            causes_address(c->graph->lanes[node->lane].events[i - c->first[node->lane] - 1].counter) -
            user_l1;
        uint32_t args[7], risc = 0;
        while (of[risc] != by->risc)
            risc++;
        arguments(t, 0x100000, by->core_x, risc, false, args); /* no buffer is at 0 */
        const uint32_t cb = 0x100000 + at / CB_BYTES * CB_BYTES;
        const bool pushed = at % CB_BYTES == 0, semaphore = at == 5 * CB_BYTES;
        assert_int_equal(tables->streams[l->riscs[node->lane].stream].core_x, by->core_x);
        assert_true(semaphore ? args[6] == cb + 1
                    : pushed  ? args[4] == cb || args[5] == cb
                              : args[2] == cb || args[3] == cb);
        n++;
    }
    return n;
}

/* When the launch would end if the trial's stage had as many rounds as the second time. */
static devlog_status end_with_less(const causes_launch *l, const trial *t, uint64_t *end, devlog_error *err)
{
    const causes *c = l->causes;
    const dl_tables *tables = dl_decode_tables((dl_decode *)(uintptr_t)l->decode);
    static const dl_risc of[] = {DL_RISC_BRISC, DL_RISC_NCRISC, DL_RISC_TRISC0, DL_RISC_TRISC1,
                                 DL_RISC_TRISC2};
    uint64_t *less = calloc(c->n, sizeof *less);
    assert_non_null(less);
    for (uint32_t lane = 0; lane < c->graph->n_lanes; lane++) {
        const dl_stream *s = &tables->streams[l->riscs[lane].stream];
        const uint32_t rounds = t->rounds[t->core][t->risc];
        if (s->core_x != t->core || s->risc != of[t->risc]) continue;
        for (size_t i = 0; i < l->riscs[lane].n; i++) {
            const causes_zone *z = &l->riscs[lane].zones[i];
            if (strcmp(dl_site_text(tables, z->site), "work") != 0) continue;
            causes_take_out(c, lane, z->start, z->start + (z->end - z->start) * t->less / rounds, less);
        }
    }
    devlog_status status = causes_end_if(c, less, end, err);
    free(less);
    return status;
}

/* The launch as it was, and what is predicted when the stage's work takes so much less. */
static devlog_status look(void *ctx, const causes_launch *l, devlog_error *err)
{
    size_t *number = ctx;
    trial *t = &trials[*number / 2];
    const bool again = *number & 1;
    const causes *c = l->causes;
    assert_true(*number < CASES * 2);
    assert_true(c->exact);
    assert_int_equal(c->path[0].by, CAUSES_BY_START);
    assert_int_equal(c->graph->n_lanes, CORES * RISCS);
    t->cycles[again] = c->end - c->start;
    ++*number;
    assert_true(check_enders(l, t) > 0);
    if (again) return DEVLOG_OK;
    uint64_t end = 0;
    devlog_status status = end_with_less(l, t, &end, err);
    t->predicted = c->end - end;
    return status;
}

/* Runs the first launches, recording waits, and decodes what they left. */
static dl_decode *decode_run(size_t launches, devlog_recording recording, causes_log **log)
{
    devlog_error err = {0};
    dl_decode *d = NULL;
    char path[400];
    const char *folder = test_folder();
    setenv("DEVLOG_WAITS", "1", 1);
    run_all(folder, launches, recording);
    unsetenv("DEVLOG_WAITS");
    snprintf(path, sizeof path, "%s/capture.devlog", folder);
    check_ok(dl_decode_new(&d, &(dl_decode_options){.no_samples = true}, &err), &err);
    check_ok(causes_log_new(log, d, &err), &err);
    check_ok(dl_decode_run_sink(d, causes_log_sink(*log), &err), &err);
    check_ok(dl_decode_file(d, path, &err), &err);
    check_ok(dl_decode_finish(d, &err), &err);
    return d;
}

/* Records that found no place, or were overwritten: what is told of waits is right, and the path ends where records do. */
static devlog_status look_at_lost(void *ctx, const causes_launch *l, devlog_error *err)
{
    size_t *known = ctx;
    (void)err;
    assert_false(l->causes->exact);
    assert_int_equal(l->causes->path[0].by, CAUSES_BY_UNKNOWN);
    *known += check_enders(l, &trials[0]);
    return DEVLOG_OK;
}

static void losses_on_the_device_are_unknown(void **state)
{
    (void)state;
    static const devlog_recording modes[] = {DEVLOG_RECORD_STOP, DEVLOG_RECORD_RING};
    pages = 90;
    for (int i = 0; i < 2; i++) {
        devlog_error err = {0};
        causes_log *log = NULL;
        size_t known = 0;
        dl_decode *d = decode_run(1, modes[i], &log);
        assert_true(dl_decode_losses(d)->found[DL_FOUND_DROPPED] > 0);
        check_ok(causes_log_each(log, look_at_lost, &known, &err), &err);
        printf("%s: %zu waits are known\n", i ? "ring" : "stop", known);
        assert_true(known > 0);
        causes_log_free(log);
        dl_decode_free(d);
    }
    pages = 16;
}

/* On the strict model of both chips, where accesses overtake each other and caches keep what is old. */
static void semaphores_order_what_they_guard(void **state)
{
    (void)state;
    static const char *const boards[] = {"wormhole_b0", "blackhole"};
    for (int i = 0; i < 12; i++) {
        devlog_error err = {0};
        char strict[40];
        uint32_t want = 0, got = 0;
        snprintf(strict, sizeof strict, "strict=%d", i / 4);
        devlog_device *device = open_device(boards[i % 2], strict);
        devlog_program *program = NULL;
        const devlog_core core = {0, 0};
        const uint32_t at = devlog_device_user_l1(device, NULL), zeros[4] = {0};
        check_ok(devlog_program_create(device, &program, &err), &err);
        for (uint32_t r = 0; r < 2; r++) {
            devlog_kernel *k = add_kernel(program, "tests/sim/kernels/semaphore.c", r ? "TRISC1" : "BRISC",
                                          (devlog_cores){0, 0, 0, 0}, i % 4 < 2 ? NULL : "-DDEVLOG_WAITS");
            check_ok(devlog_kernel_set_args(k, core, (uint32_t[]){r, at}, 2, &err), &err);
        }
        check_ok(devlog_write_to_device(device, core, at, zeros, sizeof zeros, &err), &err);
        prepare(device, program);
        check_ok(devlog_launch_program(device, program, &err), &err);
        check_ok(devlog_read_from_device(device, core, at + 8, &got, 4, &err), &err);
        for (uint32_t k = 0; k < 200; k++)
            want = want * 31 + k * 2654435761u;
        assert_int_equal(got, want);
        devlog_program_free(program);
        check_ok(devlog_device_close(device, &err), &err);
    }
}

static void what_is_predicted_is_gained(void **state)
{
    (void)state;
    devlog_error err = {0};
    causes_log *log = NULL;
    size_t n = 0;
    dl_decode *d = decode_run(CASES * 2, DEVLOG_RECORD_STREAM, &log);
    check_ok(causes_log_each(log, look, &n, &err), &err);
    assert_int_equal(n, CASES * 2);
    int wrong = 0;
    for (size_t i = 0; i < CASES; i++) {
        const trial *t = &trials[i];
        const double gained = (double)t->cycles[0] - (double)t->cycles[1];
        const double off = t->predicted ? 100 * (gained - (double)t->predicted) / (double)t->predicted : 0;
        printf("%-30s %7llu cycles, predicted gain %6llu, gained %6.0f, %+5.1f %%\n", t->name,
               (unsigned long long)t->cycles[0], (unsigned long long)t->predicted, gained, off);
        wrong += t->predicted ? fabs(off) > 5 : fabs(gained) > (double)t->cycles[0] * 0.005;
    }
    assert_int_equal(wrong, 0);
    assert_int_equal(trials[7].predicted, 0);
    assert_int_equal(trials[8].predicted, 0);
    causes_log_free(log);
    dl_decode_free(d);
}

/* ---- Runs of two launches: the first as it was, or with less work on the path, or with less off it --- */

enum { RUN_CASES = 6 };
static const size_t two_launches[1 + 2 * RUN_CASES] = {
    8,            /* the first of all has what comes once */
    0,  2, 1,  2, /* less on the path */
    14, 4, 15, 4, /* less off the path, on the shorter of two ways */
    4,  9, 5,  9, /* less at the first of a chain */
};

typedef struct two_launch_runs {
    size_t seen;
    causes_run_launch launches[2 * RUN_CASES];
    int64_t less[2 * RUN_CASES]; /* predicted of the launch, for the second time */
} two_launch_runs;

static devlog_status look_at_runs(void *ctx, const causes_launch *l, devlog_error *err)
{
    two_launch_runs *r = ctx;
    const causes *c = l->causes;
    uint64_t end = c->end;
    assert_true(c->exact);
    if (r->seen++ == 0) return DEVLOG_OK;
    const size_t i = r->seen - 2;
    assert_true(i < 2 * RUN_CASES);
    const dl_launch *of = &dl_decode_launches((dl_decode *)(uintptr_t)l->decode)->items[l->launch];
    const dl_chip_clocks *clocks = dl_decode_clocks(l->decode);
    double start, stop, error;
    assert_true(dl_chip_clocks_ns(clocks, 0, c->start, &start, &error));
    assert_true(dl_chip_clocks_ns(clocks, 0, c->end, &stop, &error));
    r->launches[i] = (causes_run_launch){.number = (uint32_t)i,
                                         .start = (int64_t)start,
                                         .end = (int64_t)stop,
                                         .call_start = (int64_t)(of->call_start - clocks->origin),
                                         .call_end = (int64_t)(of->call_end - clocks->origin),
                                         .pull_start = (int64_t)(of->pull_start - clocks->origin),
                                         .pull_end = (int64_t)(of->pull_end - clocks->origin)};
    if (planned(i + 1) & 1) return DEVLOG_OK;
    devlog_status status = end_with_less(l, &trials[planned(i + 1) / 2], &end, err);
    r->less[i] = (int64_t)(c->end - end);
    return status;
}

static void two_launches_gain_what_is_predicted(void **state)
{
    (void)state;
    devlog_error err = {0};
    causes_log *log = NULL;
    two_launch_runs t = {0};
    int wrong = 0;
    plan = two_launches;
    dl_decode *d = decode_run(1 + 2 * RUN_CASES, DEVLOG_RECORD_STOP, &log);
    check_ok(causes_log_each(log, look_at_runs, &t, &err), &err);
    assert_int_equal(t.seen, 1 + 2 * RUN_CASES);
    for (size_t i = 0; i < 2 * RUN_CASES; i += 4) {
        causes_run before, after;
        check_ok(causes_run_make(&before, t.launches + i, 2, &err), &err);
        check_ok(causes_run_make(&after, t.launches + i + 2, 2, &err), &err);
        const causes_run_launch *first = &before.launches[0];
        assert_true(first->on_path && before.launches[1].on_path && before.launches[1].before == 0);
        const int64_t predicted = t.less[i] < first->most ? t.less[i] : first->most;
        /* The host looks again and again whether a launch is done, the later the more seldom: what of the gap is that, is no
         * part of what is compared. */
        const causes_run_gap gaps[] = {causes_run_gap_of(&before, 1), causes_run_gap_of(&after, 1)};
        assert_true(before.by_host && gaps[0].known && gaps[1].known);
        const int64_t whole = before.end - before.start - gaps[0].back;
        const int64_t gained = whole - (after.end - after.start - gaps[1].back);
        printf("a run of two launches, %s: %lld cycles, predicted gain %lld, gained %lld\n",
               trials[planned(i + 1) / 2].name, (long long)whole, (long long)predicted, (long long)gained);
        wrong += predicted ? llabs(gained - predicted) * 20 > predicted : llabs(gained) * 200 > whole;
    }
    plan = NULL;
    assert_int_equal(wrong, 0);
    assert_int_equal(t.less[4], 0);
    assert_true(t.less[0] > 0 && t.less[8] > 0);
    causes_log_free(log);
    dl_decode_free(d);
}

/* ---- What recording costs, and that it is nothing where it is not wanted --- */

static const char kernel_path[] = "firmware/kernels/pipeline_compute.c";

static bool same_code(devlog_switch profile, const char *flags, const char *other)
{
    devlog_error err = {0};
    devlog_device *device = NULL;
    const devlog_device_options options =
        DEVLOG_DEVICE_OPTIONS(.board = "wormhole_b0", .transport = "sim", .profile = profile,
                              .log_folder = test_folder());
    devlog_program *programs[2];
    devlog_kernel *k[2];
    check_ok(devlog_device_open(&options, &device, &err), &err);
    for (int i = 0; i < 2; i++) {
        check_ok(devlog_program_create(device, &programs[i], &err), &err);
        k[i] = add_kernel(programs[i], kernel_path, "TRISC1", (devlog_cores){0, 0, 0, 0}, i ? other : flags);
        check_ok(devlog_compile_program(programs[i], &err), &err);
    }
    bool same = k[0]->elf.n_segments == k[1]->elf.n_segments && k[0]->elf.n_sites == k[1]->elf.n_sites;
    for (uint32_t i = 0; i < k[0]->elf.n_segments && same; i++)
        same =
            k[0]->elf.segments[i].size == k[1]->elf.segments[i].size &&
            memcmp(k[0]->elf.segments[i].data, k[1]->elf.segments[i].data, k[0]->elf.segments[i].size) == 0;
    devlog_program_free(programs[0]);
    devlog_program_free(programs[1]);
    check_ok(devlog_device_close(device, &err), &err);
    return same;
}

static void nothing_is_left_of_what_is_not_wanted(void **state)
{
    (void)state;
    assert_true(same_code(DEVLOG_OFF, NULL, "-DDEVLOG_WAITS"));
    assert_false(same_code(DEVLOG_ON, NULL, "-DDEVLOG_WAITS"));
}

/* A give is a value of 64 bits; off, in class 31, it is a jump. */
static void prices(void **state)
{
    (void)state;
    devlog_error err = {0};
    devlog_device *device = open_device("wormhole_b0", NULL);
    cost got[3];
    for (int i = 0; i < 3; i++) {
        const cost_case c = {.source = source_path("tests/sim/kernels/cost.c"),
                             .flags = i ? "-DDEVLOG_WAITS" : NULL,
                             .marker = "devlog_semaphore_post(0x48000u,v)",
                             .classes = i < 2 ? UINT32_MAX : ~(UINT32_C(1) << 31)};
        check_ok(cost_measure(device, &c, &got[i], &err), &err);
        printf("a post, %s: %.1f instructions, %.1f cycles, %.0f bytes\n",
               (const char *const[]){"not recorded", "recorded", "class off"}[i], got[i].instructions,
               got[i].cycles, got[i].record_bytes);
    }
    assert_true(got[1].instructions - got[0].instructions <= 13);
    assert_true(got[2].instructions - got[0].instructions <= 2);
    assert_true(got[0].record_bytes == 0 && got[1].record_bytes == 16 && got[2].record_bytes == 0);
    check_ok(devlog_device_close(device, &err), &err);
}

/* Options that come too late would hold for some markers only. */
static void options_come_before(void **state)
{
    (void)state;
    char path[400];
    devlog_error err = {0};
    devlog_device *device = open_device("wormhole_b0", NULL);
    devlog_program *program = NULL;
    snprintf(path, sizeof path, "%s/late.c", test_folder());
    write_text(path, "#include <devlog/kernel.h>\n#define DEVLOG_STAMP32\n#include <devlog/profile.h>\n"
                     "void kernel_main(void) { devlog_cb_push(0x40000); }\n");
    check_ok(devlog_program_create(device, &program, &err), &err);
    devlog_kernel *kernel = NULL;
    const devlog_kernel_options o =
        DEVLOG_KERNEL_OPTIONS(.source = path, .risc = "BRISC", .flags = "-DDEVLOG_WAITS");
    check_ok(devlog_program_add_kernel(program, &o, &kernel, &err), &err);
    assert_int_equal(devlog_compile_program(program, &err), DEVLOG_ERR_COMPILE);
    assert_non_null(strstr(err.text, "are given with -D"));
    devlog_program_free(program);
    check_ok(devlog_device_close(device, &err), &err);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_predicted_is_gained),
        cmocka_unit_test(two_launches_gain_what_is_predicted),
        cmocka_unit_test(losses_on_the_device_are_unknown),
        cmocka_unit_test(semaphores_order_what_they_guard),
        cmocka_unit_test(nothing_is_left_of_what_is_not_wanted),
        cmocka_unit_test(prices),
        cmocka_unit_test(options_come_before),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
