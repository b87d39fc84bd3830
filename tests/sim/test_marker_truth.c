/* Property: for random programs of markers on every RISC of several cores, the words that are pulled are the
 * words that the simulator saw stored, in order, and emitted = decoded + counted as dropped, for each RISC.
 * DEVLOG_TEST_PROGRAMS sets the number of programs (default 10,000). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "profiler/pull.h"
#include "sim/kernels/marker_vm.h"
#include "support/device.h"

enum { COLUMNS = 4, ROWS = 2, MAX_STEPS = 800, PROGRAM_BYTES = 4 * MAX_STEPS };

static uint64_t seed = 88172645463325252u;

static uint32_t random_below(uint32_t n)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return (uint32_t)(seed % n);
}

/* Records that a step emits. */
static uint32_t records_of(uint32_t operation)
{
    switch (operation) {
    case VM_DELAY:
    case VM_SUM:
    case VM_FREEZE: return 0;
    case VM_SCOPED: return 2;
    default: return 1;
    }
}

typedef struct vm_program {
    uint32_t steps[MAX_STEPS], n;
    uint32_t records; /* that it emits in all */
} vm_program;

static void make_program(vm_program *p)
{
    static const uint8_t operations[] = {VM_ZONE_BEGIN, VM_ZONE_END, VM_SCOPED,  VM_COMPLETE, VM_EVENT,
                                         VM_VALUE,      VM_VALUE64,  VM_COUNTER, VM_PRINT,    VM_DELAY};
    /* Mostly small programs; some overflow both segments. */
    p->n = random_below(8) == 0 ? random_below(MAX_STEPS) : random_below(60);
    p->records = 0;
    for (uint32_t i = 0; i < p->n; i++) {
        uint32_t operation = operations[random_below(sizeof operations)];
        uint32_t operand = operation == VM_DELAY ? random_below(30) : random_below(65536);
        p->steps[i] = operation | random_below(8) << 8 | operand << 16;
        p->records += records_of(operation);
    }
}

/* The words that one hart stored into its segments, in order. */
static uint32_t stored_words(const devlog_device *device, uint32_t tile, uint32_t risc, uint32_t *words,
                             uint32_t max)
{
    size_t n;
    const sim_store *store = sim_truth(dl_transport_sim((dl_transport *)(uintptr_t)&device->transport), &n);
    uint32_t bits = device->board.segment_bits, base = board_profiler_base(&device->board, risc), count = 0;
    for (size_t i = 0; i < n; i++, store++) {
        if (store->tile != tile || store->addr < base || store->addr >= base + DEVLOG_REGION_BYTES(bits))
            continue;
        uint32_t offset = (store->addr - base) % DEVLOG_SEGMENT_STRIDE(bits);
        if (offset >= DEVLOG_CONTROL_OFFSET(bits)) continue;
        assert_int_equal(store->hart, risc);
        assert_int_equal(store->size, 4);
        assert_true(count < max);
        words[count++] = store->value;
    }
    return count;
}

static devlog_status count_event(void *context, const record_event *event, devlog_error *err)
{
    (void)err;
    assert_non_null(event->site);
    ++*(uint32_t *)context;
    return DEVLOG_OK;
}

/* Returns how many records the RISC dropped. */
static uint32_t check_risc(devlog_device *device, const devlog_program *program, devlog_core core,
                           uint32_t risc, const vm_program *p)
{
    devlog_error err = {0};
    pulled got;
    static uint32_t truth[8192];
    uint32_t tile = core.y * device->board.n_columns + core.x;
    check_ok(pull_risc(device, core, risc, device->launches, true, &got, &err), &err);
    assert_true(got.alive && got.finished && !got.damaged);
    assert_int_equal(got.control.marks, 15);
    uint32_t n = stored_words(device, tile, risc, truth, 8192);
    assert_int_equal(got.n_words, n);
    if (n) assert_memory_equal(got.words, truth, 4 * n);

    const devlog_kernel *kernel = program_kernel_at(program, core, risc);
    record_losses losses = {0};
    uint32_t decoded = 0;
    record_input in = {
        .spans = got.spans,
        .n_spans = got.n_spans,
        .elf = &kernel->elf,
        .from = got.control.stamps[0] | (uint64_t)got.control.stamps[1] << 32,
        .until = got.control.stamps[6] | (uint64_t)got.control.stamps[7] << 32,
    };
    check_ok(records_decode(&in, count_event, &decoded, &losses, &err), &err);
    assert_int_equal(losses.damaged_words + losses.cut + losses.unnamed, 0);
    assert_int_equal(decoded + got.control.dropped, p->records);
    pulled_free(&got);
    return got.control.dropped;
}

static void pulled_is_what_was_stored(void **state)
{
    (void)state;
    const char *wanted = getenv("DEVLOG_TEST_PROGRAMS");
    uint32_t programs = wanted ? (uint32_t)strtoul(wanted, NULL, 10) : 10000, done = 0;
    devlog_error err = {0};
    devlog_device *device = open_device("wormhole_b0", "functional=1");
    devlog_program *program;
    check_ok(devlog_program_create(device, &program, &err), &err);
    devlog_cores cores = {0, 0, COLUMNS - 1, ROWS - 1};
    devlog_kernel *kernels[BOARD_MAX_RISCS];
    uint32_t riscs = device->board.n_riscs, user = device->board.user.base;
    for (uint32_t r = 0; r < riscs; r++)
        kernels[r] =
            add_kernel(program, "tests/sim/kernels/marker_vm.c", device->board.riscs[r].name, cores, NULL);

    static vm_program made[ROWS][COLUMNS][BOARD_MAX_RISCS];
    uint64_t dropped = 0;
    while (done < programs) {
        for (uint32_t y = 0; y < ROWS; y++) {
            for (uint32_t x = 0; x < COLUMNS; x++) {
                for (uint32_t r = 0; r < riscs; r++) {
                    vm_program *p = &made[y][x][r];
                    make_program(p);
                    uint32_t args[2] = {user + r * PROGRAM_BYTES, p->n};
                    devlog_core core = {x, y};
                    check_ok(devlog_kernel_set_args(kernels[r], core, args, 2, &err), &err);
                    if (p->n) check_ok(dl_core_write(device, core, args[0], p->steps, 4 * p->n, &err), &err);
                }
            }
        }
        prepare(device, program);
        sim_truth_clear(dl_transport_sim(&device->transport));
        check_ok(program_launch(device, program, &err), &err);
        for (uint32_t y = 0; y < ROWS; y++)
            for (uint32_t x = 0; x < COLUMNS; x++)
                for (uint32_t r = 0; r < riscs; r++, done++)
                    dropped += check_risc(device, program, (devlog_core){x, y}, r, &made[y][x][r]);
    }
    assert_true(dropped > 0); /* some programs reached the end of the segments */
    printf("%u programs, %llu records dropped and counted\n", done, (unsigned long long)dropped);
    devlog_program_free(program);
    check_ok(devlog_device_close(device, &err), &err);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(pulled_is_what_was_stored)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
