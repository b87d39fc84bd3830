/* The demo: two programs on a grid of cores, their results checked against the host's own computation.
 *
 *   vector add   BRISC adds two vectors in L1
 *   pipeline     BRISC reads, TRISC0-2 compute, NCRISC writes; circular buffers in L1 between them
 *
 * Usage: demo [--device TRANSPORT[:PATH]] [LAUNCHES [COLUMNS ROWS]]
 * Default: 10 launches on 4x4 cores, or on as many as the board has. Without --device, the device is chosen
 * by the environment: DEVLOG_BOARD, DEVLOG_TRANSPORT, TT_METAL_SIMULATOR; it is profiled when
 * TT_METAL_DEVICE_PROFILER=1. A board with one RISC per core runs the vector add only. The checksum is of all
 * results: equal on every device for the same launches and cores. Ends with status 1 when a result is wrong.
 */
#include <devlog/devlog.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../firmware/kernels/pipeline.h"

enum { VECTOR_WORDS = 256, PAGES = 8, STREAM_WORDS = PAGES * PIPELINE_PAGE_WORDS };

static devlog_error err;
static uint32_t checksum;

static int fail(void)
{
    fprintf(stderr, "demo: %s\n", err.text);
    return 1;
}

static const char *kernel_path(const char *name)
{
    static char path[2048];
    const char *home = getenv("DEVLOG_HOME");
    snprintf(path, sizeof path, "%s/firmware/kernels/%s", home ? home : ".", name);
    return path;
}

/* Every result goes into one number, so that runs on different devices can be compared. */
static void add_to_checksum(uint32_t word)
{
    checksum = (checksum << 5 | checksum >> 27) ^ word;
}

/* Words that look random and depend only on where and when they are used. */
static void fill(uint32_t *words, uint32_t n, uint32_t launch, devlog_core core, uint32_t salt)
{
    uint32_t x = launch * 2654435761u + core.x * 40503u + core.y * 65599u + salt;
    for (uint32_t i = 0; i < n; i++)
        words[i] = x = x * 1664525u + 1013904223u;
}

/* ---- Vector add ------------------------------------------------------------------------------------------
 */

typedef struct addresses {
    uint32_t a, b, sum, cbs, in, out;
} addresses;

static addresses layout(devlog_device *device)
{
    uint32_t at = devlog_device_user_l1(device, NULL);
    addresses where;
    where.a = at;
    where.b = where.a + 4 * VECTOR_WORDS;
    where.sum = where.b + 4 * VECTOR_WORDS;
    where.cbs = where.sum + 4 * VECTOR_WORDS;
    where.in = where.cbs + 4 * PIPELINE_CB_BYTES;
    where.out = where.in + 4 * STREAM_WORDS;
    return where;
}

static int add_once(devlog_device *device, devlog_program *program, devlog_cores cores, uint32_t launch)
{
    addresses at = layout(device);
    uint32_t a[VECTOR_WORDS], b[VECTOR_WORDS], sum[VECTOR_WORDS];
    for (uint32_t y = cores.y0; y <= cores.y1; y++) {
        for (uint32_t x = cores.x0; x <= cores.x1; x++) {
            devlog_core core = {x, y};
            fill(a, VECTOR_WORDS, launch, core, 1);
            fill(b, VECTOR_WORDS, launch, core, 2);
            if (devlog_write_to_device(device, core, at.a, a, sizeof a, &err) != DEVLOG_OK ||
                devlog_write_to_device(device, core, at.b, b, sizeof b, &err) != DEVLOG_OK)
                return fail();
        }
    }
    if (devlog_launch_program(device, program, &err) != DEVLOG_OK) return fail();
    for (uint32_t y = cores.y0; y <= cores.y1; y++) {
        for (uint32_t x = cores.x0; x <= cores.x1; x++) {
            devlog_core core = {x, y};
            fill(a, VECTOR_WORDS, launch, core, 1);
            fill(b, VECTOR_WORDS, launch, core, 2);
            if (devlog_read_from_device(device, core, at.sum, sum, sizeof sum, &err) != DEVLOG_OK)
                return fail();
            for (uint32_t i = 0; i < VECTOR_WORDS; i++) {
                add_to_checksum(sum[i]);
                if (sum[i] == a[i] + b[i]) continue;
                fprintf(stderr, "demo: core (%u,%u), launch %u: sum[%u] is 0x%x, expected 0x%x\n", x, y,
                        launch, i, sum[i], a[i] + b[i]);
                return 1;
            }
        }
    }
    return 0;
}

/* ---- Pipeline ---------------------------------------------------------------------------------------------
 */

static int pipeline_once(devlog_device *device, devlog_program *program, devlog_cores cores, uint32_t launch)
{
    addresses at = layout(device);
    uint32_t in[STREAM_WORDS], out[STREAM_WORDS];
    static const uint8_t empty[4 * PIPELINE_CB_BYTES];
    for (uint32_t y = cores.y0; y <= cores.y1; y++) {
        for (uint32_t x = cores.x0; x <= cores.x1; x++) {
            devlog_core core = {x, y};
            fill(in, STREAM_WORDS, launch, core, 3);
            if (devlog_write_to_device(device, core, at.in, in, sizeof in, &err) != DEVLOG_OK ||
                devlog_write_to_device(device, core, at.cbs, empty, sizeof empty, &err) != DEVLOG_OK)
                return fail();
        }
    }
    if (devlog_launch_program(device, program, &err) != DEVLOG_OK) return fail();
    for (uint32_t y = cores.y0; y <= cores.y1; y++) {
        for (uint32_t x = cores.x0; x <= cores.x1; x++) {
            devlog_core core = {x, y};
            fill(in, STREAM_WORDS, launch, core, 3);
            if (devlog_read_from_device(device, core, at.out, out, sizeof out, &err) != DEVLOG_OK)
                return fail();
            for (uint32_t i = 0; i < STREAM_WORDS; i++) {
                uint32_t unpacked = PIPELINE_UNPACK(in[i]), computed = PIPELINE_COMPUTE(unpacked);
                add_to_checksum(out[i]);
                if (out[i] == PIPELINE_PACK(computed)) continue;
                fprintf(stderr, "demo: core (%u,%u), launch %u: out[%u] is 0x%x, expected 0x%x\n", x, y,
                        launch, i, out[i], PIPELINE_PACK(computed));
                return 1;
            }
        }
    }
    return 0;
}

/* ---- Programs
 * ---------------------------------------------------------------------------------------------- */

static devlog_status add_kernel(devlog_program *program, const char *source, const char *risc,
                                devlog_cores cores, const uint32_t *args, uint32_t n)
{
    devlog_kernel_options options =
        DEVLOG_KERNEL_OPTIONS(.source = kernel_path(source), .risc = risc, .cores = cores);
    devlog_kernel *kernel;
    devlog_status status = devlog_program_add_kernel(program, &options, &kernel, &err);
    for (uint32_t y = cores.y0; y <= cores.y1 && status == DEVLOG_OK; y++)
        for (uint32_t x = cores.x0; x <= cores.x1 && status == DEVLOG_OK; x++)
            status = devlog_kernel_set_args(kernel, (devlog_core){x, y}, args, n, &err);
    return status;
}

static devlog_status make_vector_add(devlog_device *device, devlog_cores cores, devlog_program **out)
{
    addresses at = layout(device);
    const uint32_t args[] = {at.a, at.b, at.sum, VECTOR_WORDS};
    devlog_status status = devlog_program_create(device, out, &err);
    return status == DEVLOG_OK
               ? add_kernel(*out, "vector_add.c", devlog_device_risc(device, 0), cores, args, 4)
               : status;
}

static devlog_status make_pipeline(devlog_device *device, devlog_cores cores, devlog_program **out)
{
    static const struct {
        const char *source, *risc;
    } stages[] = {
        {"pipeline_read.c", "BRISC"},  {"pipeline_unpack.c", "TRISC0"}, {"pipeline_compute.c", "TRISC1"},
        {"pipeline_pack.c", "TRISC2"}, {"pipeline_write.c", "NCRISC"},
    };
    addresses at = layout(device);
    devlog_status status = devlog_program_create(device, out, &err);
    for (size_t i = 0; i < sizeof stages / sizeof stages[0] && status == DEVLOG_OK; i++) {
        const uint32_t args[] = {PAGES, at.cbs, i == 0 ? at.in : at.out};
        status = add_kernel(*out, stages[i].source, stages[i].risc, cores, args, 3);
    }
    return status;
}

static uint32_t at_most(uint32_t n, uint32_t most)
{
    return n < most ? n : most;
}

/* A number from 1 on; 0: it is none. */
static uint32_t count(const char *text)
{
    char *end;
    unsigned long n = strtoul(text, &end, 10);
    return *text >= '0' && *text <= '9' && *end == 0 && n <= UINT32_MAX ? (uint32_t)n : 0;
}

int main(int argc, char **argv)
{
    static const char usage[] = "usage: demo [--device TRANSPORT[:PATH]] [LAUNCHES [COLUMNS ROWS]]\n";
    devlog_device_options options = DEVLOG_DEVICE_OPTIONS();
    if (argc == 2 && (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0)) {
        fputs(usage, stdout);
        return 0;
    }
    if (argc > 2 && strcmp(argv[1], "--device") == 0) {
        options.transport = argv[2];
        argc -= 2;
        argv += 2;
    }
    const uint32_t launches = argc > 1 ? count(argv[1]) : 10;
    const uint32_t columns = argc > 3 ? count(argv[2]) : 4, rows = argc > 3 ? count(argv[3]) : 4;
    if (!launches || !columns || !rows || argc == 3 || argc > 4) {
        fprintf(stderr, "demo: all of them are numbers from 1 on; %s", usage);
        return 2;
    }
    devlog_cores cores = {0, 0, columns - 1, rows - 1};
    devlog_device *device = NULL;
    devlog_program *programs[2] = {NULL, NULL};
    int wrong = 1;
    if (devlog_device_open(&options, &device, &err) != DEVLOG_OK) return fail();
    if (argc <= 3) {
        devlog_core grid = devlog_device_grid(device);
        cores.x1 = at_most(cores.x1, grid.x - 1);
        cores.y1 = at_most(cores.y1, grid.y - 1);
    }
    int n_programs = devlog_device_risc(device, 4) ? 2 : 1;
    if (make_vector_add(device, cores, &programs[0]) != DEVLOG_OK ||
        (n_programs == 2 && make_pipeline(device, cores, &programs[1]) != DEVLOG_OK)) {
        fail();
        goto out;
    }
    for (int p = 0; p < n_programs; p++) {
        if (devlog_compile_program(programs[p], &err) != DEVLOG_OK ||
            devlog_configure_device_with_program(device, programs[p], &err) != DEVLOG_OK) {
            fail();
            goto out;
        }
        wrong = 0;
        for (uint32_t launch = 0; launch < launches && !wrong; launch++)
            wrong = p == 0 ? add_once(device, programs[0], cores, launch)
                           : pipeline_once(device, programs[1], cores, launch);
        if (wrong) goto out;
        printf("%-10s %u launches on %ux%u cores of %s (%s): results correct\n",
               p == 0 ? "vector add" : "pipeline", launches, cores.x1 - cores.x0 + 1, cores.y1 - cores.y0 + 1,
               devlog_device_board(device), devlog_device_transport(device));
    }
    printf("checksum   %08x\n", checksum);
    printf("\n%-28s %8s %14s\n", "API call", "calls", "average [ns]");
    for (int api = 0; api < DEVLOG_API_COUNT; api++) {
        devlog_api_stats s = devlog_device_api_stats(device, (devlog_api)api);
        printf("%-28s %8llu %14llu\n", devlog_api_name((devlog_api)api), (unsigned long long)s.calls,
               (unsigned long long)(s.calls ? s.total_ns / s.calls : 0));
    }
    if (devlog_device_profiles(device)) printf("\nlog: %s\n", devlog_profiler_log(device));
out:
    devlog_program_free(programs[0]);
    devlog_program_free(programs[1]);
    if (devlog_device_close(device, &err) != DEVLOG_OK) return fail();
    return wrong;
}
