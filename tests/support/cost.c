/* What one marker costs, measured on the simulator. See cost.h. */
#include "support/cost.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "profiler/control.h"

enum { FEW = 10, MANY = 100, GIVE_UP = 1000000 };

typedef struct counts {
    uint64_t instructions, loads, stores, cycles, bytes;
    uint32_t code;
} counts;

static uint32_t control_word(devlog_device *device, size_t member)
{
    uint32_t word;
    uint32_t at = board_profiler_base(&device->board, 0) + DEVLOG_CONTROL_OFFSET(device->board.segment_bits) +
                  (uint32_t)member;
    memcpy(&word, sim_ram_bytes(dl_transport_sim(&device->transport), 0, 0) + at, 4);
    return word;
}

/* Clock by clock until the state of the manager is, or is no longer, KERNEL. */
static devlog_status run_while(devlog_device *device, bool in_kernel, devlog_error *err)
{
    sim *s = dl_transport_sim(&device->transport);
    for (uint32_t i = 0; i < GIVE_UP; i++) {
        if ((control_word(device, offsetof(devlog_control, state)) == DEVLOG_STATE_KERNEL) != in_kernel)
            return DEVLOG_OK;
        if (!sim_clock(s, 1))
            return dl_fail(err, DEVLOG_ERR_DEVICE, "the simulator stopped: %s", sim_fault(s));
    }
    return dl_fail(err, DEVLOG_ERR_TIMEOUT, "the kernel does not come to its end");
}

static devlog_status run_once(devlog_device *device, devlog_program *program, devlog_kernel *kernel,
                              uint32_t rounds, counts *out, devlog_error *err)
{
    const devlog_core core = {0, 0};
    sim *s = dl_transport_sim(&device->transport);
    devlog_status status = devlog_kernel_set_args(kernel, core, &rounds, 1, err);
    if (status == DEVLOG_OK) status = program_configure(device, program, err);
    if (status == DEVLOG_OK) status = control_arm(device, program, err);
    if (status != DEVLOG_OK) return status;
    uint32_t go = ++device->launches;
    status = dl_core_write(device, core, device->board.mailbox.base + (uint32_t)offsetof(devlog_mailbox, go),
                           &go, 4, err);
    sim_hart_state before, after;
    if (status == DEVLOG_OK) status = run_while(device, false, err);
    sim_hart(s, 0, 0, &before);
    uint64_t start = sim_chip_clock(s);
    if (status == DEVLOG_OK) status = run_while(device, true, err);
    sim_hart(s, 0, 0, &after);
    out->cycles = sim_chip_clock(s) - start;
    out->instructions = after.retired - before.retired;
    out->loads = after.loads - before.loads;
    out->stores = after.stores - before.stores;
    if (status == DEVLOG_OK) status = dl_device_advance(device, 4000, err);
    uint32_t tail = control_word(device, offsetof(devlog_control, tail));
    uint32_t base = board_profiler_base(&device->board, 0);
    out->bytes =
        control_word(device, offsetof(devlog_control, segment)) == 0 && tail >= base ? tail - base : 0;
    return status;
}

/* The kernel with the marker `times` times. */
static devlog_status make(devlog_device *device, const cost_case *c, int times, devlog_program **program,
                          devlog_kernel **kernel, devlog_error *err)
{
    char flags[1024];
    snprintf(flags, sizeof flags, "%s%s%s%s%s", c->flags ? c->flags : "",
             times && c->marker ? " -DMARKER=" : "", times && c->marker ? c->marker : "",
             times == 2 ? ";" : "", times == 2 ? c->marker : "");
    const devlog_kernel_options options =
        DEVLOG_KERNEL_OPTIONS(.source = times == 0 && c->baseline ? c->baseline : c->source,
                              .risc = device->board.riscs[0].name, .flags = flags);
    device->classes = c->classes;
    devlog_status status = devlog_program_create(device, program, err);
    if (status == DEVLOG_OK) status = devlog_program_add_kernel(*program, &options, kernel, err);
    return status == DEVLOG_OK ? program_compile(*program, err) : status;
}

static uint32_t few_of(const cost_case *c)
{
    return c->many ? c->few : FEW;
}

static uint32_t many_of(const cost_case *c)
{
    return c->many ? c->many : MANY;
}

static devlog_status run_both(devlog_device *device, const cost_case *c, bool with_marker, counts out[2],
                              devlog_error *err)
{
    devlog_program *program = NULL;
    devlog_kernel *kernel = NULL;
    devlog_status status = make(device, c, with_marker, &program, &kernel, err);
    for (int i = 0; i < 2 && status == DEVLOG_OK; i++)
        status = run_once(device, program, kernel, i ? many_of(c) : few_of(c), &out[i], err);
    if (status == DEVLOG_OK) out[0].code = kernel->elf.segments[0].size;
    devlog_program_free(program);
    return status;
}

static double per_round(const cost_case *c, const counts with[2], const counts without[2], size_t member)
{
    uint64_t w[2], o[2];
    for (int i = 0; i < 2; i++) {
        memcpy(&w[i], (const char *)&with[i] + member, 8);
        memcpy(&o[i], (const char *)&without[i] + member, 8);
    }
    return ((double)(w[1] - w[0]) - (double)(o[1] - o[0])) / (many_of(c) - few_of(c));
}

devlog_status cost_measure(devlog_device *device, const cost_case *c, cost *out, devlog_error *err)
{
    counts with[2], without[2];
    devlog_status status = run_both(device, c, true, with, err);
    if (status == DEVLOG_OK) status = run_both(device, c, false, without, err);
    uint32_t twice = with[0].code;
    if (status == DEVLOG_OK && c->marker) {
        devlog_program *program = NULL;
        devlog_kernel *kernel = NULL;
        status = make(device, c, 2, &program, &kernel, err);
        if (status == DEVLOG_OK) twice = kernel->elf.segments[0].size;
        devlog_program_free(program);
    }
    if (status != DEVLOG_OK) return status;
    *out = (cost){
        .instructions = per_round(c, with, without, offsetof(counts, instructions)),
        .loads = per_round(c, with, without, offsetof(counts, loads)),
        .stores = per_round(c, with, without, offsetof(counts, stores)),
        .cycles = per_round(c, with, without, offsetof(counts, cycles)),
        .record_bytes = per_round(c, with, without, offsetof(counts, bytes)),
        .code_bytes = twice - with[0].code,
    };
    return DEVLOG_OK;
}
