/* Bench of clock synchronisation: what it adds to opening, to each launch and to closing, in bytes and in
 * time of the transport, for transports from a register behind PCIe to a slow probe; and what bound it buys.
 * The simulator's transport has latency and time of its own, so the figures are those of the driver's
 * accesses and not of this machine. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "decode/clock/chip_clock.h"
#include "profiler/clock_sync.h"
#include "profiler/profiler.h"

enum { LAUNCHES = 20 };

static devlog_error err;

static void must(devlog_status status)
{
    if (status == DEVLOG_OK) return;
    fprintf(stderr, "bench: %s\n", err.text);
    exit(1);
}

typedef struct figures {
    uint64_t ns, bytes, open_ns, open_bytes, all_ns, all_bytes;
    double residual;
} figures;

static figures measure(const char *sim_options, uint32_t columns, uint32_t rows)
{
    devlog_device *d;
    devlog_program *p;
    devlog_kernel *k;
    const devlog_device_options options =
        DEVLOG_DEVICE_OPTIONS(.sim = sim_options, .profile = DEVLOG_ON, .log_folder = "/tmp/devlog-bench",
                              .timeout_ms = 120000);
    const devlog_kernel_options add =
        DEVLOG_KERNEL_OPTIONS(.source = "bench/spine/kernels/busy.c", .risc = "BRISC",
                              .cores = {0, 0, columns - 1, rows - 1});
    must(devlog_device_open(&options, &d, &err));
    must(devlog_program_create(d, &p, &err));
    must(devlog_program_add_kernel(p, &add, &k, &err));
    const uint32_t rounds = 1000;
    for (uint32_t y = 0; y < rows; y++)
        for (uint32_t x = 0; x < columns; x++)
            must(devlog_kernel_set_args(k, (devlog_core){x, y}, &rounds, 1, &err));
    must(devlog_compile_program(p, &err));
    must(devlog_configure_device_with_program(d, p, &err));
    const dl_clocks *c = d->clocks;
    figures f = {.open_ns = c->cost_ns, .open_bytes = c->bytes};
    uint64_t start = dl_transport_now(&d->transport);
    uint64_t moved = d->transport.bytes_read + d->transport.bytes_written;
    for (int i = 0; i < LAUNCHES; i++)
        must(devlog_launch_program(d, p, &err));
    f.all_ns = (dl_transport_now(&d->transport) - start) / LAUNCHES;
    f.all_bytes = (d->transport.bytes_read + d->transport.bytes_written - moved) / LAUNCHES;
    f.ns = (c->cost_ns - f.open_ns) / LAUNCHES;
    f.bytes = (c->bytes - f.open_bytes) / LAUNCHES;
    must(clocks_close(d, &err));
    dl_clock_fit fit;
    must(dl_clock_fit_make(&fit, c->samples, c->n_samples, DL_CLOCK_QUIET, DL_CLOCK_STEERED, &err));
    f.residual = fit.residual;
    dl_clock_fit_free(&fit);
    devlog_program_free(p);
    must(devlog_device_close(d, &err));
    return f;
}

int main(void)
{
    static const struct {
        const char *name, *options;
    } transports[] = {
        {"0.3 us", "latency=300,jitter=50,seed=1"},
        {"1.5 us (PCIe)", "latency=1500,jitter=300,seed=2"},
        {"10 us", "latency=10000,jitter=2000,seed=3"},
        {"125 us (USB)", "latency=125000,jitter=20000,seed=4,functional"},
    };
    static const uint32_t grids[][2] = {{1, 1}, {4, 4}};
    printf("Clock synchronisation, %d launches of a short kernel; times of the simulated transport\n\n",
           LAUNCHES);
    printf("%-14s %5s | %10s %9s | %9s %7s %7s | %10s\n", "a read takes", "cores", "open [us]", "bytes",
           "launch us", "share", "bytes", "bound [us]");
    for (size_t t = 0; t < sizeof transports / sizeof transports[0]; t++) {
        bool slow = t == 3; /* many idle cores for a long simulated time */
        for (size_t g = 0; g < (slow ? 1 : 2); g++) {
            figures f = measure(transports[t].options, grids[g][0], grids[g][1]);
            printf("%-14s %5u | %10.0f %9llu | %9.2f %6.2f%% %7llu | %10.2f\n", transports[t].name,
                   grids[g][0] * grids[g][1], (double)f.open_ns / 1e3, (unsigned long long)f.open_bytes,
                   (double)f.ns / 1e3, 100.0 * (double)f.ns / (double)f.all_ns, (unsigned long long)f.bytes,
                   f.residual / 1e3);
            fflush(stdout);
        }
    }
    printf(
        "\nopen: bursts, and the offsets of every core, once. launch: a burst of reads before it, when eight "
        "reads take\nless than 100 us; otherwise one burst a second. share: of the whole launch with its "
        "pull. "
        "bound: of the error\nagainst the host's clock.\n");
    return 0;
}
