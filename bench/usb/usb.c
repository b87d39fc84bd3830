/* Bench of the transport usb on the device model: packets against the fewest that CMSIS-DAP allows, and bytes
 * per second. Usage: usb HOME.
 *
 * The fewest packets: a word is one scan of the debug module's register, nine bytes of DAP_JTAG_Sequence, two
 * bytes of which a packet spends on its head. Bytes per second depend on the model and on libumockdev, which
 * are slower than a probe; what a probe can do at most follows from the clocks of JTAG. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/term.h"
#include "device/device.h"
#include "profiler/profiler.h"
#include "profiler/pull.h"
#include "usb/model/model_usb.h"

enum { SCAN_BYTES = 9, HEAD_BYTES = 2, REPEATS = 5, RISCS = 5, ROUNDS = 20 };

static devlog_error err;

static void must(devlog_status status)
{
    if (status == DEVLOG_OK) return;
    fprintf(stderr, "bench usb: %s\n", err.text);
    exit(1);
}

static uint32_t fewest(uint32_t packet_bytes, uint32_t words)
{
    uint32_t scans = (packet_bytes - HEAD_BYTES) / SCAN_BYTES;
    return (words + scans - 1) / scans;
}

static void measure(devlog_device *d, model *m, uint32_t packet_bytes, uint32_t bytes, bool write)
{
    uint8_t *buffer = calloc(1, bytes);
    uint32_t at = devlog_device_user_l1(d, NULL);
    uint64_t best = UINT64_MAX, packets = model_packets(m), clocks = model_clocks(m);
    for (int i = 0; i < REPEATS; i++) {
        uint64_t start = dl_now_ns();
        must(write ? dl_core_write(d, (devlog_core){0, 0}, at, buffer, bytes, &err)
                   : dl_core_read(d, (devlog_core){0, 0}, at, buffer, bytes, &err));
        uint64_t took = dl_now_ns() - start;
        if (took < best) best = took;
    }
    double per = (double)(model_packets(m) - packets) / REPEATS, min = fewest(packet_bytes, bytes / 4);
    double clocks_per_byte = (double)(model_clocks(m) - clocks) / REPEATS / bytes;
    printf("%-6s %7u %11u %10.1f %8.0f %7.2f %14.1f %16.0f %20.0f\n", write ? "write" : "read", packet_bytes,
           bytes, per, min, per / min, per * 1024 / bytes, (double)bytes * 1e6 / (double)best,
           1e4 / clocks_per_byte);
    free(buffer);
}

/* What a pull reads, against what is there to be read. */
static void measure_pull(devlog_device *d, model *m, const char *home)
{
    static const char *const riscs[RISCS] = {"BRISC", "NCRISC", "TRISC0", "TRISC1", "TRISC2"};
    devlog_program *p;
    char path[2048];
    snprintf(path, sizeof path, "%s/tests/sim/kernels/events.c", home);
    must(devlog_program_create(d, &p, &err));
    const uint32_t rounds = ROUNDS;
    for (int i = 0; i < RISCS; i++) {
        devlog_kernel *k;
        const devlog_kernel_options o =
            DEVLOG_KERNEL_OPTIONS(.source = path, .risc = riscs[i], .cores = {0, 0, 0, 0});
        must(devlog_program_add_kernel(p, &o, &k, &err));
        must(devlog_kernel_set_args(k, (devlog_core){0, 0}, &rounds, 1, &err));
    }
    must(devlog_compile_program(p, &err));
    must(devlog_configure_device_with_program(d, p, &err));
    d->profile = false;
    must(devlog_launch_program(d, p, &err));
    uint64_t words = 0, reads = model_bus_reads(m), packets = model_packets(m),
             bytes = d->transport.bytes_read;
    uint64_t start = dl_now_ns();
    for (uint32_t i = 0; i < RISCS; i++) {
        pulled got;
        must(pull_risc(d, (devlog_core){0, 0}, i, d->launches, false, &got, &err));
        words += got.n_words;
        pulled_free(&got);
    }
    printf("\npull of %d RISCs: %llu words of records; %llu words asked for, %llu read on the bus; %llu "
           "packets; "
           "%.1f ms\n",
           RISCS, (unsigned long long)words, (unsigned long long)(d->transport.bytes_read - bytes) / 4,
           (unsigned long long)(model_bus_reads(m) - reads), (unsigned long long)(model_packets(m) - packets),
           (double)(dl_now_ns() - start) * 1e-6);
    devlog_program_free(p);
}

static void bench(const char *home, uint32_t packet_bytes, bool pull)
{
    board b;
    devlog_device *d;
    must(board_load("usb_tile", &b, &err));
    model_options o = model_defaults(&b);
    o.packet_bytes = packet_bytes;
    o.cycles_per_tck = pull ? 4 : 0;
    model *m = model_create(&b, &o);
    model_bus *bus = model_bus_new();
    model_bus_plug(bus, m, false);
    const devlog_device_options options =
        DEVLOG_DEVICE_OPTIONS(.board = "usb_tile", .transport = "usb", .profile = DEVLOG_ON,
                              .log_folder = "build/bench-usb");
    must(devlog_device_open(&options, &d, &err));
    if (pull) {
        measure_pull(d, m, home);
    } else {
        static const uint32_t sizes[] = {64, 1024, 4096, 65536};
        for (int i = 0; i < 8; i++)
            measure(d, m, packet_bytes, sizes[i % 4], i >= 4);
    }
    must(devlog_device_close(d, &err));
    model_bus_free(bus);
    model_destroy(m);
}

int main(int argc, char **argv)
{
    if (argc < 2) return 2;
    printf("%-6s %7s %11s %10s %8s %7s %14s %16s %20s\n", "", "packet", "bytes", "packets", "fewest", "ratio",
           "packets per KB", "model [kB/s]", "10 MHz JTAG [kB/s]");
    bench(argv[1], 512, false);
    bench(argv[1], 64, false);
    bench(argv[1], 512, true);
    return 0;
}
