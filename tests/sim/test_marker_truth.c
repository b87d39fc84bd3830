/* Property: for random programs of markers on every RISC of several cores, in every recording mode and build,
 * the words that are pulled are the words that the simulator saw stored, in order; emitted = decoded +
 * counted as lost, for each RISC; and every stamp is the clock at the time of its store, over wraps of the
 * low half of the clock too. DEVLOG_TEST_PROGRAMS sets the number of programs (default 12,000). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "profiler/control.h"
#include "profiler/pull.h"
#include "support/device.h"
#include "support/vm.h"

enum { COLUMNS = 4, ROWS = 2, MAX_WORDS = 16384 };

static const struct setup {
    const char *name, *flags, *sim;
    devlog_recording recording;
    uint32_t stream_bytes;
} setups[] = {
    {"stop", NULL, "functional=1", DEVLOG_RECORD_STOP, 0},
    {"stop, timed, over a wrap", NULL, "clock=0xfffffff000", DEVLOG_RECORD_STOP, 0},
    {"stop, 32-bit stamps", "-DDEVLOG_STAMP32", "functional=1,clock=0xffff0000", DEVLOG_RECORD_STOP, 0},
    {"stop, wide ids", "-DDEVLOG_WIDE_IDS", "functional=1", DEVLOG_RECORD_STOP, 0},
    {"stop, -O1", "-O1", "functional=1", DEVLOG_RECORD_STOP, 0},
    {"ring", NULL, "functional=1", DEVLOG_RECORD_RING, 0},
    {"ring, records alike", "-DMARKER_VM_SMALL", "functional=1", DEVLOG_RECORD_RING, 0},
    {"ring, timed, wide, 32-bit stamps", "-DDEVLOG_WIDE_IDS -DDEVLOG_STAMP32", "", DEVLOG_RECORD_RING, 0},
    {"stream", NULL, "clock=0xffffe000", DEVLOG_RECORD_STREAM, 65536},
    {"stream, wide ids", "-DDEVLOG_WIDE_IDS -Os", "", DEVLOG_RECORD_STREAM, 65536},
    {"stream without room", NULL, "functional=1", DEVLOG_RECORD_STREAM, 2112},
};
enum { SETUPS = sizeof setups / sizeof setups[0] };

typedef struct truth {
    uint32_t words[MAX_WORDS];
    uint64_t cycles[MAX_WORDS];
    uint32_t n;
} truth;

/* The words that one hart stored into its segments, in order. */
static void read_truth(devlog_device *device, uint32_t tile, uint32_t risc, truth *t)
{
    size_t n;
    const sim_store *store = sim_truth(dl_transport_sim(&device->transport), &n);
    uint32_t bits = device->board.segment_bits, base = board_profiler_base(&device->board, risc);
    t->n = 0;
    for (size_t i = 0; i < n; i++, store++) {
        if (store->tile != tile || store->addr < base || store->addr >= base + DEVLOG_REGION_BYTES(bits))
            continue;
        uint32_t offset = (store->addr - base) % DEVLOG_SEGMENT_STRIDE(bits);
        if (offset >= DEVLOG_CONTROL_OFFSET(bits)) continue;
        assert_int_equal(store->hart, risc);
        assert_int_equal(store->size, 4);
        assert_true(t->n < MAX_WORDS);
        t->words[t->n] = store->value;
        t->cycles[t->n++] = store->cycle;
    }
}

typedef struct check {
    const truth *t;
    const uint32_t *words; /* that were pulled */
    uint32_t n_words, decoded;
} check;

static devlog_status check_event(void *context, const record_event *e, devlog_error *err)
{
    (void)err;
    check *c = context;
    if (!e->stall) {
        assert_non_null(e->site);
        c->decoded++;
    }
    /* What was pulled is the end of what was stored; the stamp was taken shortly before. */
    uint64_t stored = c->t->cycles[c->t->n - c->n_words + (uint32_t)(e->words - c->words)];
    if (e->time >= stored || stored - e->time > 100)
        fail_msg("stamp %llu, stored at %llu", (unsigned long long)e->time, (unsigned long long)stored);
    if (e->kind == DEVLOG_KIND_COMPLETE) assert_true(e->start < e->time && e->time - e->start < 5000);
    return DEVLOG_OK;
}

typedef struct counts {
    uint64_t decoded, lost, streamed;
} counts;

static void check_risc(devlog_device *device, const devlog_program *program, devlog_core core, uint32_t risc,
                       const vm_program *p, counts *sum)
{
    static truth t;
    devlog_error err = {0};
    pulled got;
    uint32_t tile = core.y * device->board.n_columns + core.x;
    check_ok(pull_risc(device, core, risc, device->launches, true, &got, &err), &err);
    assert_true(got.alive && got.finished && !got.damaged);
    assert_int_equal(got.control.marks, 15);
    read_truth(device, tile, risc, &t);
    if (device->recording != DEVLOG_RECORD_RING) assert_int_equal(got.n_words, t.n);
    assert_true(got.n_words <= t.n);
    if (got.n_words) assert_memory_equal(got.words, t.words + (t.n - got.n_words), 4 * got.n_words);

    const devlog_kernel *kernel = program_kernel_at(program, core, risc);
    record_losses losses = {0};
    check c = {.t = &t, .words = got.words, .n_words = got.n_words};
    record_input in = {
        .spans = got.spans,
        .n_spans = got.n_spans,
        .padded = got.control.streamed != 0,
        .elf = &kernel->elf,
        .from = got.control.stamps[0] | (uint64_t)got.control.stamps[1] << 32,
        .until = got.control.stamps[6] | (uint64_t)got.control.stamps[7] << 32,
    };
    check_ok(records_decode(&in, check_event, &c, &losses, &err), &err);
    assert_int_equal(losses.damaged_words + losses.cut + losses.unnamed + losses.ambiguous, 0);
    uint32_t lost = got.control.dropped + got.control.overwritten;
    assert_int_equal(c.decoded + lost, p->records);
    sum->decoded += c.decoded;
    sum->lost += lost;
    sum->streamed += got.control.streamed;
    pulled_free(&got);
}

static void run_setup(const struct setup *s, uint32_t programs)
{
    devlog_error err = {0};
    devlog_device *device = open_device("wormhole_b0", s->sim);
    check_ok(devlog_set_recording(device, s->recording, s->stream_bytes, &err), &err);
    devlog_program *program;
    check_ok(devlog_program_create(device, &program, &err), &err);
    devlog_cores cores = {0, 0, COLUMNS - 1, ROWS - 1};
    devlog_kernel *kernels[BOARD_MAX_RISCS];
    uint32_t riscs = device->board.n_riscs, user = device->board.user.base;
    for (uint32_t r = 0; r < riscs; r++)
        kernels[r] = add_kernel(program, "tests/sim/kernels/marker_vm.c", device->board.riscs[r].name, cores,
                                s->flags);

    static vm_program made[ROWS][COLUMNS][BOARD_MAX_RISCS];
    counts sum = {0};
    uint32_t done = 0;
    while (done < programs) {
        for (uint32_t y = 0; y < ROWS; y++) {
            for (uint32_t x = 0; x < COLUMNS; x++) {
                for (uint32_t r = 0; r < riscs; r++) {
                    vm_program *p = &made[y][x][r];
                    vm_make(p);
                    uint32_t args[2] = {user + r * VM_PROGRAM_BYTES, p->n};
                    devlog_core core = {x, y};
                    check_ok(devlog_kernel_set_args(kernels[r], core, args, 2, &err), &err);
                    if (p->n) check_ok(dl_core_write(device, core, args[0], p->steps, 4 * p->n, &err), &err);
                }
            }
        }
        prepare(device, program);
        check_ok(control_arm(device, program, &err), &err);
        sim_truth_clear(dl_transport_sim(&device->transport));
        check_ok(program_launch(device, program, &err), &err);
        for (uint32_t y = 0; y < ROWS; y++)
            for (uint32_t x = 0; x < COLUMNS; x++)
                for (uint32_t r = 0; r < riscs; r++, done++)
                    check_risc(device, program, (devlog_core){x, y}, r, &made[y][x][r], &sum);
    }
    assert_true(sum.lost > 0 || s->stream_bytes > 10000); /* some programs filled what there is */
    assert_int_equal(sum.streamed > 0, s->recording == DEVLOG_RECORD_STREAM);
    printf("%-34s %6u programs: %8llu records decoded + %7llu lost and counted = emitted\n", s->name, done,
           (unsigned long long)sum.decoded, (unsigned long long)sum.lost);
    devlog_program_free(program);
    check_ok(devlog_device_close(device, &err), &err);
}

static void pulled_is_what_was_stored(void **state)
{
    (void)state;
    const char *wanted = getenv("DEVLOG_TEST_PROGRAMS");
    uint32_t programs = wanted ? (uint32_t)strtoul(wanted, NULL, 10) : 12000;
    for (uint32_t i = 0; i < SETUPS; i++)
        run_setup(&setups[i], programs / SETUPS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(pulled_is_what_was_stored)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
