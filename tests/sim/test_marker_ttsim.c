/* The same random programs of markers on the built-in simulator and on another libttsim.so
 * (DEVLOG_TEST_LIBTTSIM, say tenstorrent/ttsim): every RISC records the same, but for the times. Skipped when
 * there is no such library. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "profiler/control.h"
#include "profiler/pull.h"
#include "support/device.h"
#include "support/vm.h"

enum { COLUMNS = 4, ROWS = 2, RISCS = 5, MAX_EVENTS = 4096 };

static const struct setup {
    const char *name, *flags;
    devlog_recording recording;
    uint32_t stream_bytes;
} setups[] = {
    {"stop", NULL, DEVLOG_RECORD_STOP, 0},
    {"stop, 32-bit stamps", "-DDEVLOG_STAMP32", DEVLOG_RECORD_STOP, 0},
    {"ring, wide ids", "-DDEVLOG_WIDE_IDS", DEVLOG_RECORD_RING, 0},
    {"stream", NULL, DEVLOG_RECORD_STREAM, 65536},
    {"stream without room", NULL, DEVLOG_RECORD_STREAM, 2112},
};

/* What a RISC recorded, without times. */
typedef struct recorded {
    uint32_t n, dropped, overwritten;
    struct {
        uint32_t kind, code;
        uint64_t value;
    } events[MAX_EVENTS];
} recorded;

static devlog_status keep(void *context, const record_event *e, devlog_error *err)
{
    (void)err;
    recorded *r = context;
    if (e->stall) return DEVLOG_OK;
    assert_true(r->n < MAX_EVENTS);
    r->events[r->n].kind = e->kind;
    r->events[r->n].code = e->code;
    r->events[r->n].value = e->kind == DEVLOG_KIND_SUM ? e->passes : e->n_args ? e->args[0] : e->value;
    r->n++;
    return DEVLOG_OK;
}

typedef struct side {
    devlog_device *device;
    devlog_program *program;
    devlog_kernel *kernels[RISCS];
} side;

static void add_program(side *s, const struct setup *setup)
{
    devlog_error err = {0};
    check_ok(devlog_set_recording(s->device, setup->recording, setup->stream_bytes, &err), &err);
    check_ok(devlog_program_create(s->device, &s->program, &err), &err);
    for (uint32_t r = 0; r < RISCS; r++)
        s->kernels[r] =
            add_kernel(s->program, "tests/sim/kernels/marker_vm.c", s->device->board.riscs[r].name,
                       (devlog_cores){0, 0, COLUMNS - 1, ROWS - 1}, setup->flags);
}

static void run(side *s, vm_program made[ROWS][COLUMNS][RISCS])
{
    devlog_error err = {0};
    for (uint32_t y = 0; y < ROWS; y++) {
        for (uint32_t x = 0; x < COLUMNS; x++) {
            for (uint32_t r = 0; r < RISCS; r++) {
                const vm_program *p = &made[y][x][r];
                uint32_t args[2] = {s->device->board.user.base + r * VM_PROGRAM_BYTES, p->n};
                check_ok(devlog_kernel_set_args(s->kernels[r], (devlog_core){x, y}, args, 2, &err), &err);
                if (p->n)
                    check_ok(dl_core_write(s->device, (devlog_core){x, y}, args[0], p->steps, 4 * p->n, &err),
                             &err);
            }
        }
    }
    prepare(s->device, s->program);
    check_ok(control_arm(s->device, s->program, &err), &err);
    check_ok(program_launch(s->device, s->program, &err), &err);
}

static void read_recorded(side *s, devlog_core core, uint32_t risc, recorded *out)
{
    devlog_error err = {0};
    pulled got;
    record_losses losses = {0};
    check_ok(pull_risc(s->device, core, risc, s->device->launches, true, &got, &err), &err);
    const record_input in = {
        .spans = got.spans,
        .n_spans = got.n_spans,
        .padded = got.control.streamed != 0,
        .elf = &program_kernel_at(s->program, core, risc)->elf,
        .from = got.control.stamps[0] | (uint64_t)got.control.stamps[1] << 32,
    };
    out->n = 0;
    check_ok(records_decode(&in, keep, out, &losses, &err), &err);
    assert_int_equal(losses.damaged_words + losses.cut + losses.unnamed, 0);
    out->dropped = got.control.dropped;
    out->overwritten = got.control.overwritten;
    pulled_free(&got);
}

static void both_record_the_same(void **state)
{
    (void)state;
    const char *library = getenv("DEVLOG_TEST_LIBTTSIM"), *wanted = getenv("DEVLOG_TEST_PROGRAMS");
    if (!library) {
        printf("skipped: DEVLOG_TEST_LIBTTSIM is not set to a libttsim.so\n");
        skip();
    }
    uint32_t programs = wanted ? (uint32_t)strtoul(wanted, NULL, 10) : 2000;
    devlog_error err = {0};
    side sides[2];
    sides[0].device = open_device("wormhole_b0", "functional=1");
    const devlog_device_options options =
        DEVLOG_DEVICE_OPTIONS(.board = "wormhole_b0", .transport = "ttsim", .path = library,
                              .profile = DEVLOG_ON, .log_folder = test_folder());
    check_ok(devlog_device_open(&options, &sides[1].device, &err), &err);
    static vm_program made[ROWS][COLUMNS][RISCS];
    static recorded a, b;
    for (size_t i = 0; i < sizeof setups / sizeof setups[0]; i++) {
        uint64_t records = 0, lost = 0;
        uint32_t done = 0;
        for (int k = 0; k < 2; k++)
            add_program(&sides[k], &setups[i]);
        while (done < programs / 5) {
            for (uint32_t n = 0; n < ROWS * COLUMNS * RISCS; n++)
                vm_make(&made[0][0][0] + n);
            for (int k = 0; k < 2; k++)
                run(&sides[k], made);
            for (uint32_t n = 0; n < ROWS * COLUMNS * RISCS; n++, done++) {
                devlog_core core = {n / RISCS % COLUMNS, n / RISCS / COLUMNS};
                read_recorded(&sides[0], core, n % RISCS, &a);
                read_recorded(&sides[1], core, n % RISCS, &b);
                assert_int_equal(a.n, b.n);
                assert_int_equal(a.dropped, b.dropped);
                assert_int_equal(a.overwritten, b.overwritten);
                assert_memory_equal(a.events, b.events, a.n * sizeof a.events[0]);
                records += a.n;
                lost += a.dropped + a.overwritten;
            }
        }
        printf("%-22s %6u programs: %8llu records the same, %7llu lost on both\n", setups[i].name, done,
               (unsigned long long)records, (unsigned long long)lost);
        for (int k = 0; k < 2; k++)
            devlog_program_free(sides[k].program);
    }
    for (int k = 0; k < 2; k++)
        check_ok(devlog_device_close(sides[k].device, &err), &err);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(both_record_the_same)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
