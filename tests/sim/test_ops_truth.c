/* Op rows against the ground truth of the simulator: the test knows which launches, cores and RISCs each op
 * had, takes the cycles from the stores that the simulator saw, and compares the report. Two devices that
 * write to one log, ops on two threads, nested ops, an op with two programs, a launch without an op. */
#include <cJSON.h>
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "devlog/record.h"
#include "ops/op_job.h"
#include "support/device.h"
#include "support/files.h"

enum { MAX_EXPECTED = 32, STAMPS = 8 };

/* What an op must have done on a chip, from the stores. */
typedef struct expected {
    uint32_t op, chip, launches, cores;
    uint64_t fw_start, fw_end;                  /* of the first and the last launch */
    uint64_t fw, kernel, risc[BOARD_MAX_RISCS]; /* cycles, added up over launches */
} expected;

/* What one launch did. */
typedef struct times {
    uint64_t fw_start, fw_end, kernel_start, kernel_end, risc_start[BOARD_MAX_RISCS],
        risc_end[BOARD_MAX_RISCS];
} times;

typedef struct rig {
    devlog_ops *ops;
    devlog_device *devices[2];
    expected all[MAX_EXPECTED];
    uint32_t n;
    pthread_mutex_t lock; /* a device is used by one thread at a time */
} rig;

static void least(uint64_t *to, uint64_t value)
{
    if (*to == 0 || value < *to) *to = value;
}

static void most(uint64_t *to, uint64_t value)
{
    if (value > *to) *to = value;
}

/* Default markers of a RISC as it stored them: FW start, kernel start, kernel end, FW end. */
static void stored_stamps(devlog_device *device, uint32_t tile, uint32_t risc, uint64_t out[4])
{
    size_t n;
    const sim_store *store = sim_truth(dl_transport_sim(&device->transport), &n);
    uint32_t base = board_profiler_base(&device->board, risc) +
                    DEVLOG_CONTROL_OFFSET(device->board.segment_bits) +
                    (uint32_t)offsetof(devlog_control, stamps);
    uint32_t words[STAMPS] = {0};
    for (size_t i = 0; i < n; i++)
        if (store[i].tile == tile && store[i].addr >= base && store[i].addr < base + 4 * STAMPS)
            words[(store[i].addr - base) / 4] = store[i].value;
    for (int i = 0; i < 4; i++)
        out[i] = words[2 * i] | (uint64_t)words[2 * i + 1] << 32;
}

/* The row of an op on a chip: as long as no other launches there, it is the same. */
static expected *expect(rig *r, uint32_t op, uint32_t chip)
{
    for (uint32_t i = r->n; i-- > 0;) {
        if (r->all[i].chip != chip) continue;
        if (r->all[i].op == op && op) return &r->all[i];
        break;
    }
    assert_true(r->n < MAX_EXPECTED);
    r->all[r->n] = (expected){.op = op, .chip = chip};
    return &r->all[r->n++];
}

/* Launches, and notes what the simulator saw. */
static void launch(rig *r, uint32_t chip, devlog_program *program, devlog_cores cores)
{
    devlog_error err = {0};
    devlog_device *device = r->devices[chip];
    pthread_mutex_lock(&r->lock);
    sim_truth_clear(dl_transport_sim(&device->transport));
    prepare(device, program);
    check_ok(devlog_launch_program(device, program, &err), &err);
    expected *e = expect(r, devlog_op_current(r->ops), chip);
    uint32_t n = (cores.x1 - cores.x0 + 1) * (cores.y1 - cores.y0 + 1);
    if (n > e->cores) e->cores = n; /* the rectangles of one op lie inside each other here */
    e->launches++;
    times t = {0};
    for (uint32_t y = cores.y0; y <= cores.y1; y++) {
        for (uint32_t x = cores.x0; x <= cores.x1; x++) {
            for (uint32_t risc = 0; risc < device->board.n_riscs; risc++) {
                uint64_t s[4];
                stored_stamps(device, y * device->board.n_columns + x, risc, s);
                assert_true(s[0] && s[3] > s[0]);
                least(&t.fw_start, s[0]);
                most(&t.fw_end, s[3]);
                if (s[1] == 0) continue;
                least(&t.kernel_start, s[1]);
                most(&t.kernel_end, s[2]);
                least(&t.risc_start[risc], s[1]);
                most(&t.risc_end[risc], s[2]);
            }
        }
    }
    least(&e->fw_start, t.fw_start);
    most(&e->fw_end, t.fw_end);
    e->fw += t.fw_end - t.fw_start;
    e->kernel += t.kernel_end - t.kernel_start;
    for (uint32_t risc = 0; risc < device->board.n_riscs; risc++)
        e->risc[risc] += t.risc_end[risc] - t.risc_start[risc];
    pthread_mutex_unlock(&r->lock);
}

static devlog_program *make(devlog_device *device, const char *risc, devlog_cores cores, uint32_t passes)
{
    devlog_error err = {0};
    devlog_program *program;
    check_ok(devlog_program_create(device, &program, &err), &err);
    devlog_kernel *kernel = add_kernel(program, "tests/sim/kernels/many.c", risc, cores, NULL);
    for (uint32_t y = cores.y0; y <= cores.y1; y++)
        for (uint32_t x = cores.x0; x <= cores.x1; x++) {
            uint32_t args[] = {passes + 7 * x + 3 * y};
            check_ok(devlog_kernel_set_args(kernel, (devlog_core){x, y}, args, 1, &err), &err);
        }
    return program;
}

static const devlog_cores four = {1, 1, 2, 2}, one = {1, 1, 1, 1}, row = {0, 0, 4, 0};

static uint32_t start(rig *r, const char *name)
{
    return devlog_op_start(r->ops, &(devlog_op){.name = name, .type = DEVLOG_OP_TT_DNN_DEVICE});
}

static void *second_thread(void *context)
{
    rig *r = context;
    devlog_program *p = make(r->devices[1], "TRISC1", row, 9);
    for (int i = 0; i < 3; i++) {
        uint32_t op = start(r, "threaded");
        launch(r, 1, p, row);
        devlog_op_end(r->ops, op);
    }
    devlog_program_free(p);
    return NULL;
}

static void run_ops(rig *r)
{
    devlog_program *a = make(r->devices[0], "BRISC", four, 5), *b = make(r->devices[0], "NCRISC", one, 11);
    devlog_program *c = make(r->devices[1], "TRISC2", four, 3);
    pthread_t thread;
    launch(r, 0, b, one); /* of no op */
    uint32_t outer = start(r, "outer");
    launch(r, 0, a, four);
    uint32_t inner = start(r, "two programs, two chips");
    launch(r, 0, a, four);
    launch(r, 0, b, one);
    launch(r, 1, c, four);
    devlog_op_end(r->ops, inner);
    launch(r, 0, b, one);
    devlog_op_end(r->ops, outer);
    /* Turns taken at random, programs not shared. */
    assert_int_equal(pthread_create(&thread, NULL, second_thread, r), 0);
    for (int i = 0; i < 4; i++) {
        uint32_t op = start(r, "main");
        launch(r, 0, a, four);
        devlog_op_end(r->ops, op);
    }
    pthread_join(thread, NULL);
    devlog_program_free(a);
    devlog_program_free(b);
    devlog_program_free(c);
}

static void is(const cJSON *r, const char *column, double value)
{
    const cJSON *c = cJSON_GetObjectItemCaseSensitive(r, column);
    if (!c || !cJSON_IsNumber(c) || c->valuedouble != value)
        fail_msg("%s: %s instead of %.0f in %s", column, cJSON_PrintUnformatted(c), value, cJSON_Print(r));
}

static void compare(const cJSON *r, const expected *e)
{
    static const char *const columns[] = {
        "DEVICE BRISC KERNEL DURATION [ns]", "DEVICE NCRISC KERNEL DURATION [ns]",
        "DEVICE TRISC0 KERNEL DURATION [ns]", "DEVICE TRISC1 KERNEL DURATION [ns]",
        "DEVICE TRISC2 KERNEL DURATION [ns]"};
    is(r, "DEVICE LAUNCHES", e->launches);
    is(r, "CORE COUNT", e->cores);
    is(r, "DEVICE FW START CYCLE", (double)e->fw_start);
    is(r, "DEVICE FW END CYCLE", (double)e->fw_end);
    is(r, "DEVICE FW DURATION [ns]", (double)e->fw); /* 1,000 MHz */
    is(r, "DEVICE KERNEL DURATION [ns]", (double)e->kernel);
    for (int i = 0; i < 5; i++) {
        if (e->risc[i])
            is(r, columns[i], (double)e->risc[i]);
        else
            assert_true(cJSON_IsNull(cJSON_GetObjectItemCaseSensitive(r, columns[i])));
    }
}

static void rows_are_what_the_simulator_saw(void **state)
{
    (void)state;
    devlog_error err = {0};
    static rig r;
    char folder[300];
    snprintf(folder, sizeof folder, "%s", test_folder());
    pthread_mutex_init(&r.lock, NULL);
    check_ok(
        devlog_ops_open(&(devlog_ops_options)DEVLOG_OPS_OPTIONS(.log_folder = folder, .profile = DEVLOG_ON),
                        &r.ops, &err),
        &err);
    for (uint32_t i = 0; i < 2; i++) {
        const devlog_device_options options =
            DEVLOG_DEVICE_OPTIONS(.board = "wormhole_b0", .transport = "sim", .profile = DEVLOG_ON,
                                  .log_folder = folder, .slot = i, .ops = r.ops);
        check_ok(devlog_device_open(&options, &r.devices[i], &err), &err);
    }
    run_ops(&r);
    for (int i = 0; i < 2; i++)
        check_ok(devlog_device_close(r.devices[i], &err), &err);
    check_ok(devlog_ops_close(r.ops, &err), &err);

    static op_job job;
    const op_job_options o = {.logs = folder, .output = folder, .name = "out", .report = {.json = true}};
    check_ok(op_job_run(&job, &o, &err), &err);
    size_t size;
    char *json = read_bytes(job.report_path, &size);
    cJSON *rows = cJSON_Parse(json);
    assert_non_null(rows);
    uint32_t n = 0;
    const cJSON *item;
    cJSON_ArrayForEach(item, rows)
    {
        uint32_t id = (uint32_t)cJSON_GetObjectItemCaseSensitive(item, "GLOBAL CALL COUNT")->valuedouble;
        uint32_t chip = (uint32_t)cJSON_GetObjectItemCaseSensitive(item, "DEVICE ID")->valuedouble;
        bool none = strcmp(cJSON_GetObjectItemCaseSensitive(item, "OP CODE")->valuestring,
                           "(launch without op)") == 0;
        const expected *e = NULL;
        for (uint32_t i = 0; i < r.n; i++)
            if (r.all[i].op == (none ? 0 : id) && r.all[i].chip == chip &&
                cJSON_GetObjectItemCaseSensitive(item, "DEVICE FW START CYCLE")->valuedouble ==
                    (double)r.all[i].fw_start)
                e = &r.all[i];
        if (!e) fail_msg("a row that nobody launched: %s", cJSON_Print(item));
        compare(item, e);
        n++;
    }
    assert_int_equal(n, r.n);
    assert_false(op_stitch_lost(&job.stitch));
    cJSON_Delete(rows);
    free(json);
    op_job_free(&job);
    pthread_mutex_destroy(&r.lock);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(rows_are_what_the_simulator_saw)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
