/* Bench of results by call: what keeping them adds to a launch, and what asking for them costs, for launches of
 * few and of many markers. Usage: results HOME. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "devlog/results.h"

enum { LAUNCHES = 100, ASKED = 20 };

static devlog_error err;

static void must(devlog_status status)
{
    if (status == DEVLOG_OK) return;
    fprintf(stderr, "bench: %s\n", err.text);
    exit(1);
}

/* Time of the processor, which a busy machine does not stretch. */
static uint64_t cpu_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static double us_since(uint64_t start)
{
    return (double)(cpu_ns() - start) / 1e3;
}

/* The quickest of several calls. */
static double asked(devlog_device *device,
                    devlog_status (*results)(devlog_device *, devlog_results **, devlog_error *),
                    uint64_t *records)
{
    double best = 1e12;
    for (int i = 0; i < ASKED; i++) {
        devlog_results *r;
        uint64_t start = cpu_ns();
        must(results(device, &r, &err));
        double us = us_since(start);
        if (us < best) best = us;
        *records = devlog_log_rows(r->log);
        devlog_results_free(r);
    }
    return best;
}

/* Median processor time of a launch in us; what asking costs is printed when results are kept. */
static double launches(const char *kernel, devlog_cores cores, uint32_t zones, devlog_keep keep)
{
    devlog_device *device;
    devlog_program *program;
    devlog_kernel *k;
    double us[LAUNCHES];
    const devlog_device_options options =
        DEVLOG_DEVICE_OPTIONS(.sim = "functional=1", .profile = DEVLOG_ON, .results = keep,
                              .log_folder = "/tmp/devlog-bench");
    const devlog_kernel_options where =
        DEVLOG_KERNEL_OPTIONS(.source = kernel, .risc = "BRISC", .cores = cores);
    must(devlog_device_open(&options, &device, &err));
    must(devlog_program_create(device, &program, &err));
    must(devlog_program_add_kernel(program, &where, &k, &err));
    const uint32_t args[] = {zones, 0};
    for (uint32_t y = cores.y0; y <= cores.y1; y++)
        for (uint32_t x = cores.x0; x <= cores.x1; x++)
            must(devlog_kernel_set_args(k, (devlog_core){x, y}, args, 2, &err));
    must(devlog_compile_program(program, &err));
    must(devlog_configure_device_with_program(device, program, &err));
    for (int i = 0; i < LAUNCHES; i++) {
        uint64_t start = cpu_ns();
        must(devlog_launch_program(device, program, &err));
        double took = us_since(start);
        int at = i;
        for (; at > 0 && us[at - 1] > took; at--)
            us[at] = us[at - 1];
        us[at] = took;
    }
    if (keep == DEVLOG_KEEP_ALL) {
        uint64_t latest, all;
        double us_latest = asked(device, devlog_results_latest, &latest);
        double us_all = asked(device, devlog_results_all, &all);
        printf("%10.0f %14.0f %14.0f %16.2f", (double)latest, us_latest, us_all, us_all * 1e3 / (double)all);
    }
    devlog_program_free(program);
    must(devlog_device_close(device, &err));
    return us[LAUNCHES / 2];
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        devlog_cores cores;
        uint32_t zones;
    } cases[] = {{"1 core, 10 zones", {0, 0, 0, 0}, 10},
                 {"16 cores, 10 zones", {0, 0, 3, 3}, 10},
                 {"16 cores, 500 zones", {0, 0, 3, 3}, 500},
                 {"80 cores, 500 zones", {0, 0, 7, 9}, 500}};
    char kernel[2048];
    if (argc < 2) return 2;
    snprintf(kernel, sizeof kernel, "%s/tests/sim/kernels/iterations.c", argv[1]);
    printf("Results by call, %d launches on the built-in simulator, functional; processor time\n", LAUNCHES);
    printf("%-20s %10s %14s %14s %16s %14s %14s\n", "a launch of", "rows", "latest [us]", "all [us]",
           "all [ns/row]", "kept none [us]", "kept all [us]");
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        double none = launches(kernel, cases[i].cores, cases[i].zones, DEVLOG_KEEP_NONE);
        printf("%-20s ", cases[i].name);
        double kept = launches(kernel, cases[i].cores, cases[i].zones, DEVLOG_KEEP_ALL);
        printf(" %14.0f %14.0f\n", none, kept);
    }
    return 0;
}
