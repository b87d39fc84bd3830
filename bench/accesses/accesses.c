/* Bench of what a launch costs on the bus of a card: loads and stores per launch of four cores, with few records and with full
 * buffers, counted by the tests' fake of the kernel driver. Over PCIe a load takes about a microsecond. Not for times: the chip
 * behind the fake is simulated. */
#include <stdio.h>
#include <stdlib.h>

#include "profiler/profiler.h"
#include "support/fake_kmd.h"

enum { CORES = 4, LAUNCHES = 10, FULL = 300 /* rounds: more than a buffer holds */ };

static devlog_error err;

static void must(devlog_status status)
{
    if (status == DEVLOG_OK) return;
    fprintf(stderr, "bench: %s\n", err.text);
    exit(1);
}

static void measure(const char *board_name, uint32_t rounds)
{
    static fake_kmd f;
    devlog_device *device;
    devlog_program *program;
    devlog_kernel *kernel;
    const devlog_cores four = {0, 0, 1, 1};
    const uint32_t args[2] = {rounds, 3};
    fake_kmd_start(&f, board_name, 210, NULL);
    const kmd_system system = fake_kmd_system(&f, 0);
    const devlog_device_options options =
        DEVLOG_DEVICE_OPTIONS(.board = board_name, .transport = "kmd:3", .profile = DEVLOG_ON,
                              .log_folder = "/tmp/devlog-bench");
    const devlog_kernel_options k =
        DEVLOG_KERNEL_OPTIONS(.source = "tests/sim/kernels/events.c", .risc = "NCRISC", .cores = four);
    must(dl_device_open(&options, &system, &device, &err));
    must(devlog_program_create(device, &program, &err));
    must(devlog_program_add_kernel(program, &k, &kernel, &err));
    for (uint32_t c = 0; c < CORES; c++)
        must(devlog_kernel_set_args(kernel, (devlog_core){c % 2, c / 2}, args, 2, &err));
    must(devlog_compile_program(program, &err));
    must(devlog_configure_device_with_program(device, program, &err));
    must(devlog_launch_program(device, program, &err)); /* what is read once is read */
    const uint64_t loads = f.loads, stores = f.stores, waits = f.polls + f.registers,
                   bytes = profiler_totals_of(device)->record_bytes;
    for (int i = 0; i < LAUNCHES; i++)
        must(devlog_launch_program(device, program, &err));
    const uint64_t waited = f.polls + f.registers - waits;
    printf("%-12s %18.0f %10.0f %28.0f %10.0f\n", board_name,
           (double)(profiler_totals_of(device)->record_bytes - bytes) / LAUNCHES,
           (double)(f.loads - loads - waited) / LAUNCHES, (double)waited / LAUNCHES,
           (double)(f.stores - stores) / LAUNCHES);
    devlog_program_free(program);
    must(devlog_device_close(device, &err));
    fake_kmd_end(&f);
}

int main(void)
{
    static const char *const boards[] = {"wormhole_b0", "blackhole"};
    printf("%-12s %18s %10s %28s %10s\n", "board", "bytes of records", "loads", "loads: polling and clocks",
           "stores");
    for (int i = 0; i < 4; i++)
        measure(boards[i % 2], i < 2 ? 1 : FULL);
    return 0;
}
