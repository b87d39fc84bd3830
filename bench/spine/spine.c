/* Bench of the spine: how fast the simulators run the same binary, what pulling costs, what the profiler adds
 * to a launch. Usage: spine HOME. A libttsim.so to compare with is given by DEVLOG_BENCH_LIBTTSIM. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/term.h"
#include "profiler/profiler.h"

static devlog_error err;

static void must(devlog_status status)
{
    if (status == DEVLOG_OK) return;
    fprintf(stderr, "bench: %s\n", err.text);
    exit(1);
}

static devlog_device *open_on(const char *transport, const char *path, const char *sim_options,
                              devlog_switch profile)
{
    devlog_device *device;
    const devlog_device_options options =
        DEVLOG_DEVICE_OPTIONS(.transport = transport, .path = path, .sim = sim_options, .profile = profile,
                              .log_folder = "/tmp/devlog-bench", .timeout_ms = 120000);
    must(devlog_device_open(&options, &device, &err));
    return device;
}

static devlog_program *program_of(devlog_device *device, const char *const sources[5], devlog_cores cores,
                                  const uint32_t *args, uint32_t n)
{
    devlog_program *program;
    must(devlog_program_create(device, &program, &err));
    for (uint32_t r = 0; r < device->board.n_riscs; r++) {
        if (!sources[r]) continue;
        const devlog_kernel_options o =
            DEVLOG_KERNEL_OPTIONS(.source = sources[r], .risc = device->board.riscs[r].name, .cores = cores);
        devlog_kernel *kernel;
        must(devlog_program_add_kernel(program, &o, &kernel, &err));
        for (uint32_t y = cores.y0; y <= cores.y1; y++)
            for (uint32_t x = cores.x0; x <= cores.x1; x++)
                must(devlog_kernel_set_args(kernel, (devlog_core){x, y}, args, n, &err));
    }
    must(devlog_compile_program(program, &err));
    must(devlog_configure_device_with_program(device, program, &err));
    return program;
}

/* Millions of instructions per second. Instructions: as the built-in simulator counts them in functional
 * mode, where it runs one per clock like ttsim, so that the same launch is the same number on both. */
static double speed(const char *transport, const char *path, const char *sim_options, const char *busy,
                    devlog_cores cores, uint32_t rounds, uint64_t *instructions)
{
    devlog_device *device = open_on(transport, path, sim_options, DEVLOG_OFF);
    const char *const sources[5] = {busy, busy, busy, busy, busy};
    devlog_program *program = program_of(device, sources, cores, &rounds, 1);
    sim *s = dl_transport_sim(&device->transport);
    uint64_t before = s ? sim_retired_total(s) : 0, start = dl_now_ns();
    must(devlog_launch_program(device, program, &err));
    double seconds = (double)(dl_now_ns() - start) / 1e9;
    if (s) *instructions = sim_retired_total(s) - before;
    devlog_program_free(program);
    must(devlog_device_close(device, &err));
    return (double)*instructions / seconds / 1e6;
}

static void simulators(const char *busy)
{
    const char *library = getenv("DEVLOG_BENCH_LIBTTSIM");
    static const struct {
        const char *name;
        devlog_cores cores;
        uint32_t rounds;
    } grids[] = {{"1 tile", {0, 0, 0, 0}, 2000000}, {"80 tiles", {0, 0, 7, 9}, 40000}};
    printf("Simulated instructions, five busy RISCs per tile, same binary [million/s]\n");
    printf("%-10s %22s %22s %22s\n", "", "built-in, with timing", "built-in, functional",
           library ? "ttsim" : "");
    for (size_t i = 0; i < 2; i++) {
        uint64_t n = 0;
        double timed = speed("sim", NULL, "", busy, grids[i].cores, grids[i].rounds, &n);
        double functional = speed("sim", NULL, "functional=1", busy, grids[i].cores, grids[i].rounds, &n);
        printf("%-10s %22.1f %22.1f", grids[i].name, timed, functional);
        if (library) {
            double other = speed("ttsim", library, NULL, busy, grids[i].cores, grids[i].rounds, &n);
            printf(" %22.1f   (functional is %.2f x ttsim)", other, functional / other);
        }
        printf("\n");
    }
    if (!library) printf("(ttsim not measured: DEVLOG_BENCH_LIBTTSIM is not set to a libttsim.so)\n");
}

static void launches(const char *vector_add)
{
    enum { LAUNCHES = 50, WORDS = 512 };
    const char *const sources[5] = {vector_add, NULL, NULL, NULL, NULL};
    double us[2];
    for (int profile = 0; profile < 2; profile++) {
        devlog_device *device = open_on("sim", NULL, "", profile ? DEVLOG_ON : DEVLOG_OFF);
        uint32_t at = devlog_device_user_l1(device, NULL);
        const uint32_t args[] = {at, at, at + 4 * WORDS, WORDS};
        devlog_program *program = program_of(device, sources, (devlog_cores){0, 0, 3, 3}, args, 4);
        must(devlog_launch_program(device, program, &err));
        uint64_t start = dl_now_ns();
        for (int i = 0; i < LAUNCHES; i++)
            must(devlog_launch_program(device, program, &err));
        us[profile] = (double)(dl_now_ns() - start) / 1e3 / LAUNCHES;
        if (profile) {
            const profiler_totals *t = profiler_totals_of(device);
            printf("\nPulling, 16 cores x 5 RISCs, 16 records on one of them [bytes per launch]\n");
            printf("%-32s %10.0f\n%-32s %10.0f\n", "written by markers",
                   (double)t->record_bytes / (double)t->launches, "read by the host",
                   (double)t->bytes_read / (double)t->launches);
            printf("%-32s %10.0f  (control words: %.0f per RISC)\n", "read besides records",
                   (double)(t->bytes_read - t->record_bytes) / (double)t->launches,
                   (double)(t->bytes_read - t->record_bytes) / (double)t->launches / 80);
        }
        devlog_program_free(program);
        must(devlog_device_close(device, &err));
    }
    printf("\nTime of a launch on the simulator [us]: %.0f without the profiler, %.0f with it (%.2f x)\n",
           us[0], us[1], us[1] / us[0]);
}

int main(int argc, char **argv)
{
    if (argc < 2) return 2;
    char busy[2048], vector_add[2048];
    snprintf(busy, sizeof busy, "%s/bench/spine/kernels/busy.c", argv[1]);
    snprintf(vector_add, sizeof vector_add, "%s/firmware/kernels/vector_add.c", argv[1]);
    simulators(busy);
    launches(vector_add);
    return 0;
}
