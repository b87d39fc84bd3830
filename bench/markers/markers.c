/* Bench of the markers: what each kind costs on the device, counted on the simulator instruction by
 * instruction. Usage: markers HOME. Peers are measured beside ours when DEVLOG_BENCH_PEERS names a folder of
 * kernels like tests/sim/kernels/cost.c, each with a macro PEER that is its marker. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/process.h"
#include "base/str.h"
#include "device/board_gen.h"
#include "support/cost.h"

static devlog_error err;

static const struct kind {
    const char *name, *marker, *flags;
    uint32_t classes;
} kinds[] = {
    {"event", "DEVLOG_EVENT(\"e\")", "", 1},
    {"zone (begin and end)", "DEVLOG_ZONE(\"z\")", "", 1},
    {"complete zone", "DEVLOG_ZONE_COMPLETE(\"c\")", "", 1},
    {"value of 32 bits, counter", "DEVLOG_VALUE(\"v\",v)", "", 1},
    {"value of 64 bits", "DEVLOG_VALUE64(\"v\",v)", "", 1},
    {"text with 2 arguments", "DEVLOG_PRINTF(\"%u,%u\",v,v)", "", 1},
    {"sum (no record per pass)", "DEVLOG_ZONE_SUM(\"s\")", "", 1},
    {"event, 32-bit stamp", "DEVLOG_EVENT(\"e\")", "-DDEVLOG_STAMP32", 1},
    {"zone, 32-bit stamp", "DEVLOG_ZONE(\"z\")", "-DDEVLOG_STAMP32", 1},
    {"complete zone, 32-bit stamp", "DEVLOG_ZONE_COMPLETE(\"c\")", "-DDEVLOG_STAMP32", 1},
    {"event, wide id", "DEVLOG_EVENT(\"e\")", "-DDEVLOG_WIDE_IDS", 1},
    {"event, class off", "DEVLOG_EVENT(\"e\")", "", 0},
    {"zone, class off", "DEVLOG_ZONE(\"z\")", "", 0},
    {"hardware event", "DEVLOG_EVENT(\"e\")", "-DDEVLOG_HW_STREAM", 1},
    {"hardware zone", "DEVLOG_ZONE(\"z\")", "-DDEVLOG_HW_STREAM", 1},
};

static void print_cost(const char *name, const cost *c)
{
    printf("%-34s %12.1f %8.1f %7.1f %7.1f %9.1f %10u\n", name, c->instructions, c->cycles, c->loads,
           c->stores, c->record_bytes, c->code_bytes);
}

static void heading(const char *title)
{
    printf("\n%-34s %12s %8s %7s %7s %9s %10s\n", title, "instructions", "cycles", "loads", "stores",
           "L1 bytes", "code bytes");
}

/* The object file of a kernel by clang, with or without the marker; false when clang cannot. */
static bool clang_object(const devlog_device *device, const char *home, const struct kind *k,
                         bool with_marker, const char *path)
{
    char include[1100], define[300], header[64];
    snprintf(header, sizeof header, "/tmp/devlog_board.h");
    FILE *out = fopen(header, "w");
    if (!out) return false;
    board_write_header(&device->board, out);
    fclose(out);
    char source[1100];
    snprintf(source, sizeof source, "%s/tests/sim/kernels/cost.c", home);
    snprintf(include, sizeof include, "-I%s/include", home);
    snprintf(define, sizeof define, "-DMARKER=%s", with_marker ? k->marker : "");
    const char *argv[] = {"clang",
                          "--target=riscv32",
                          "-march=rv32im",
                          "-mabi=ilp32",
                          "-O2",
                          "-ffreestanding",
                          "-DPROFILE_DEVICE",
                          "-DDEVLOG_RISC=0",
                          "-DDEVLOG_KERNEL=1",
                          include,
                          "-I/tmp",
                          define,
                          k->flags[0] ? k->flags : "-DNOTHING",
                          "-c",
                          source,
                          "-o",
                          path,
                          NULL};
    dl_output output;
    bool done = dl_process_run(argv, &output, NULL) == DEVLOG_OK && output.exit == 0;
    free(output.text);
    return done;
}

static void ours(devlog_device *device, const char *home, const char *file, const char *title)
{
    char source[1100];
    snprintf(source, sizeof source, "%s/tests/sim/kernels/%s", home, file);
    heading(title);
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        cost_case c = {.source = source,
                       .flags = kinds[i].flags,
                       .marker = kinds[i].marker,
                       .classes = kinds[i].classes};
        cost got;
        if (cost_measure(device, &c, &got, &err) != DEVLOG_OK)
            fprintf(stderr, "bench: %s: %s\n", kinds[i].name, err.text);
        else
            print_cost(kinds[i].name, &got);
    }
}

static void by_clang(devlog_device *device, const char *home)
{
    heading("clang, -O2");
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        const char *with = "/tmp/devlog-bench-with.o", *without = "/tmp/devlog-bench-without.o";
        if (!clang_object(device, home, &kinds[i], true, with) ||
            !clang_object(device, home, &kinds[i], false, without)) {
            printf("(not measured: clang cannot compile for riscv32 here)\n");
            return;
        }
        cost_case c = {.source = with, .baseline = without, .classes = kinds[i].classes};
        cost got;
        if (cost_measure(device, &c, &got, &err) != DEVLOG_OK)
            fprintf(stderr, "bench: %s: %s\n", kinds[i].name, err.text);
        else
            print_cost(kinds[i].name, &got);
    }
}

static void peers(devlog_device *device)
{
    const char *folder = getenv("DEVLOG_BENCH_PEERS");
    heading("peers, gcc -O2");
    DIR *dir = folder ? opendir(folder) : NULL;
    if (!dir) {
        printf("(not measured: DEVLOG_BENCH_PEERS is not set to a folder of kernels)\n");
        return;
    }
    for (struct dirent *e = readdir(dir); e; e = readdir(dir)) {
        char source[1100];
        const char *dot = strrchr(e->d_name, '.');
        if (!dot || (strcmp(dot, ".c") != 0 && strcmp(dot, ".cpp") != 0)) continue;
        snprintf(source, sizeof source, "%s/%s", folder, e->d_name);
        cost_case c = {.source = source, .marker = "PEER", .classes = 1};
        cost got;
        if (cost_measure(device, &c, &got, &err) != DEVLOG_OK)
            fprintf(stderr, "bench: %s: %s\n", e->d_name, err.text);
        else
            print_cost(e->d_name, &got);
    }
    closedir(dir);
}

int main(int argc, char **argv)
{
    if (argc < 2) return 2;
    devlog_device *device;
    const devlog_device_options options =
        DEVLOG_DEVICE_OPTIONS(.transport = "sim", .profile = DEVLOG_ON, .log_folder = "/tmp/devlog-bench");
    if (devlog_device_open(&options, &device, &err) != DEVLOG_OK) {
        fprintf(stderr, "bench: %s\n", err.text);
        return 1;
    }
    printf("Cost of a marker alone in a function, per pass, Wormhole timing; stop when full, exact count of "
           "drops\n");
    ours(device, argv[1], "cost.c", "gcc, C, -O2");
    ours(device, argv[1], "cost.cpp", "gcc, C++, -O2");
    by_clang(device, argv[1]);
    peers(device);
    return devlog_device_close(device, &err) == DEVLOG_OK ? 0 : 1;
}
