/* Folders as tt-metal writes them. See generate.h. */
#include "generate.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    CHIPS = 4,
    CORES = 64,
    RISCS = 5,
    PROGRAMS = 200,
    TRACE_OPS = 50,
    DUMP = 1000, /* launches of a chip between two reads of its buffers */
    MHZ = 1000,
};

static const char *const riscs[RISCS] = {"BRISC", "NCRISC", "TRISC_0", "TRISC_1", "TRISC_2"};
static const char *const zones[RISCS] = {"BRISC", "NCRISC", "TRISC", "TRISC", "TRISC"};

static uint64_t next_random(uint64_t *seed)
{
    *seed ^= *seed << 13;
    *seed ^= *seed >> 7;
    *seed ^= *seed << 17;
    return *seed;
}

/* One program that ran. */
typedef struct launch {
    uint64_t id, start, length;
    uint32_t program;
    int32_t trace;    /* -1: none */
    uint32_t session; /* from 1 */
} launch;

typedef struct run {
    const run_options *o;
    FILE *data, *times;
    launch *launches[CHIPS];
    size_t n[CHIPS], cap[CHIPS];
    uint64_t clock[CHIPS], base, now, seed;
    bool said[CHIPS][PROGRAMS];
    bool no_memory;
} run;

static void add_launch(run *r, uint32_t chip, uint64_t id, uint32_t program, int32_t trace, uint32_t session)
{
    if (r->n[chip] == r->cap[chip]) {
        const size_t cap = r->cap[chip] ? 2 * r->cap[chip] : 1024;
        launch *grown = realloc(r->launches[chip], cap * sizeof *grown);
        r->no_memory |= !grown;
        if (!grown) return;
        r->launches[chip] = grown;
        r->cap[chip] = cap;
    }
    const uint64_t length = 2000 + 40 * program + next_random(&r->seed) % 500;
    r->clock[chip] += 300 + next_random(&r->seed) % 400;
    r->launches[chip][r->n[chip]++] = (launch){id, r->clock[chip], length, program, trace, session};
    r->clock[chip] += length;
}

static void tensors(FILE *f, const char *what, unsigned n, uint32_t chip, uint32_t program)
{
    fprintf(f, "\"%s\":[", what);
    for (unsigned i = 0; i < n; i++)
        fprintf(
            f,
            "%s{\"dtype\":\"BFLOAT16\",\"layout\":\"TILE\",\"shape\":{\"W\":\"1[1]\",\"X\":\"%u[%u]\",\"Y\":\"%u[%u]\",\"Z\":"
            "\"1[1]\"},\"storage_type\":{\"device_id\":%u,\"memory_config\":{\"buffer_type\":\"L1\",\"memory_layout\":"
            "\"HEIGHT_SHARDED\"}}}",
            i ? "," : "", 32 * (program + 1), 32 * (program + 1), 64 + i, 64 + i, chip);
    fprintf(f, "]");
}

static void message(run *r, uint32_t chip, uint64_t id, uint32_t program)
{
    const bool cached = r->said[chip][program];
    const uint64_t hash = UINT64_C(0x9E3779B97F4A7C15) * (program + 1);
    r->said[chip][program] = !r->o->full;
    fprintf(r->data, "`TT_DNN_DEVICE_OP: \"ttnn::Program%u\", %" PRIu64 ", %u, %s, %" PRIu64, program, hash,
            chip, cached ? "true" : "false", id);
    if (cached) {
        fprintf(r->data, "`;%" PRIu64 "\n", r->now);
        return;
    }
    fprintf(
        r->data,
        " ->\n{\"attributes\":{\"program_config\":\"MatmulMultiCoreReuseProgramConfig(compute_with_storage_grid_size=8-8;"
        "in0_block_w=%u;out_subblock_h=1;per_core_M=%u)\",\"compute_kernel_config\":\"WormholeComputeKernelConfig("
        "math_fidelity=HiFi2;math_approx_mode=1;fp32_dest_acc_en=0)\",\"transpose\":\"false\"},\"device_id\":%u,"
        "\"global_call_count\":%" PRIu64 ",",
        program % 8, program, chip, id);
    tensors(r->data, "input_tensors", 2, chip, program);
    fprintf(
        r->data,
        ",\"kernel_info\":{\"compute_kernels\":[{\"math_fidelity\":\"HiFi2\",\"name\":\"bmm_large_block/%u\",\"source\":"
        "\"ttnn/cpp/ttnn/operations/matmul/device/kernels/compute/bmm_large_block.cpp\"}],\"datamovement_kernels\":["
        "{\"name\":\"reader/%u\",\"source\":\"ttnn/cpp/ttnn/operations/matmul/device/kernels/dataflow/reader.cpp\"},"
        "{\"name\":\"writer/%u\",\"source\":\"ttnn/cpp/ttnn/operations/matmul/device/kernels/dataflow/writer.cpp\"}],\"kernel_sizes\":{}},"
        "\"op_code\":\"ttnn::Program%u\",\"op_hash\":%" PRIu64 ",\"op_type\":\"tt_dnn_device\",",
        program, program, program, program, hash);
    tensors(r->data, "output_tensors", 1, chip, program);
    fprintf(
        r->data,
        ",\"performance_model\":{\"bandwidth_ns\":1,\"compute_ns\":%u,\"ideal_ns\":1,\"input_bws\":[1.0,2.5],"
        "\"output_bws\":[1.5]},\"program_cache_hit\":false}`;%" PRIu64 "\n",
        100 + program, r->now);
}

/* An op of the host: its message and its zones. */
static uint64_t host_op(run *r, uint32_t chip, uint32_t program)
{
    const uint64_t id = ++r->base << 10 | chip, start = r->now;
    for (unsigned i = 0; i < r->o->zones; i++) {
        r->now += 200;
        if (i % 2)
            fprintf(r->times,
                    "TT_call_of_something_else,/home/user/tt-metal/tt_metal/impl/buffer.cpp,%u,zone,,%" PRIu64
                    ",150,7,\n",
                    100 + i, r->now);
        else
            fprintf(r->times,
                    "CompileProgram,/home/user/tt-metal/tt_metal/impl/program.cpp,%u,,,%" PRIu64
                    ",120,7,id:%" PRIu64 "\n",
                    300 + i, r->now, id);
    }
    message(r, chip, id, program);
    r->now += 500;
    fprintf(r->times,
            "TT_DNN_DEVICE_OP,/home/user/tt-metal/ttnn/api/ttnn/device_operation.hpp,454,,id:%" PRIu64
            ",%" PRIu64 ",%" PRIu64 ",1,\n",
            id, start, r->now - start);
    return id;
}

static void trace_messages(run *r, const char *what, uint32_t trace)
{
    for (uint32_t chip = 0; chip < CHIPS; chip++)
        fprintf(r->data, "`TT_METAL_TRACE_%s: %u, %u`;%" PRIu64 "\n", what, chip, trace, r->now += 50);
}

static void happen(run *r)
{
    uint64_t done = 0, posts = 0;
    uint64_t captured[CHIPS][TRACE_OPS];
    fprintf(r->data, "MessageName;total_ns\n");
    fprintf(
        r->times,
        "name,src_file,src_line,zone_name,zone_text,ns_since_start,exec_time_ns,thread,special_parent_text\n");
    trace_messages(r, "BEGIN", 1);
    for (uint32_t i = 0; i < TRACE_OPS; i++)
        for (uint32_t chip = 0; chip < CHIPS; chip++)
            captured[chip][i] = host_op(r, chip, i);
    trace_messages(r, "END", 1);
    for (uint32_t session = 1; done < r->o->ops; session++) {
        for (uint32_t i = 0; i < 2 * TRACE_OPS; i++, done += CHIPS)
            for (uint32_t chip = 0; chip < CHIPS; chip++) {
                const uint32_t program = (uint32_t)(next_random(&r->seed) % PROGRAMS);
                add_launch(r, chip, host_op(r, chip, program), program, -1, 0);
            }
        trace_messages(r, "REPLAY", 1);
        for (uint32_t i = 0; i < TRACE_OPS; i++, done += CHIPS)
            for (uint32_t chip = 0; chip < CHIPS; chip++)
                add_launch(r, chip, captured[chip][i], i, 1, session);
        if (done / 1000 > posts) {
            posts = done / 1000;
            fprintf(r->data, "`TT_SIGNPOST: step %" PRIu64 "\nof the bench`;%" PRIu64 "\n", posts,
                    r->now += 50);
        }
    }
}

/* Trace id and counter, as cells. */
static void trace_cells(char out[32], const launch *l)
{
    if (l->trace < 0)
        snprintf(out, 32, ",");
    else
        snprintf(out, 32, "%d,%u", l->trace, l->session);
}

/* The rows of one RISC of a core in a launch: STAGES of them, and in the third counters. */
typedef enum stage { FW_START, KERNEL_START, KERNEL_END, FW_END, STAGES } stage;

static void write_rows(const launch *l, uint32_t chip, uint32_t core, uint32_t risc, uint64_t noise,
                       stage from, stage to, FILE *f)
{
    static const char *const counters[] = {"FPU_COUNTER", "SFPU_COUNTER", "MATH_COUNTER"};
    static const char *const kinds[STAGES] = {"FW,ZONE_START,450", "KERNEL,ZONE_START,52",
                                              "KERNEL,ZONE_END,52", "FW,ZONE_END,450"};
    char at[64], ids[64], trace[32];
    /* BRISC waits for the others: its firmware's end is the last of a launch, by which tt-metal's script tells launches of
     * one op apart. */
    const uint64_t start = l->start + core + 3 * risc, end = l->start + l->length - (risc ? 64 : 0) - noise;
    const uint64_t times[STAGES] = {start, start + 40, end - 40, end};
    trace_cells(trace, l);
    snprintf(at, sizeof at, "%u,%u,%u,%s", chip, 1 + core % 8, 1 + core / 8, riscs[risc]);
    snprintf(ids, sizeof ids, "%" PRIu64 ",%s", l->id, trace);
    for (stage s = from; s < to; s++) {
        for (int k = 0; s == FW_END && risc == 0 && k < 3; k++)
            fprintf(f,
                    "%s,9090,%" PRIu64 ",%" PRIu64
                    ",%s,,TS_DATA_16B,0,,{\"counter type\":\"%s\";\"ref cnt\":%" PRIu64 ";\"value\":%" PRIu64
                    "}\n",
                    at, end - 30, (end - start) << 32 | (end - start) / (uint64_t)(k + 2), ids, counters[k],
                    end - start, (end - start) / (uint64_t)(k + 2));
        fprintf(f,
                "%s,%u,%" PRIu64 ",0,%s,%s-%s,/home/user/tt-metal/tt_metal/hw/firmware/src/tt-1xx/risc.cc,\n",
                at, 1000 * (s + 1) + risc, times[s], ids, zones[risc], kinds[s]);
    }
}

static void write_header(FILE *f)
{
    fprintf(
        f,
        "ARCH: wormhole_b0, CHIP_FREQ[MHz]: %d, Max Compute Cores: 64\n"
        "PCIe slot, core_x, core_y, RISC processor type, timer_id, time[cycles since reset], data, run host ID, trace id, "
        "trace id counter, zone name, type, source line, source file, meta data\n",
        MHZ);
}

/* As tt-metal writes it: core by core and RISC by RISC. */
static void write_log(const run *r, FILE *f)
{
    uint64_t seed = 99;
    write_header(f);
    for (uint32_t chip = 0; chip < CHIPS; chip++)
        for (size_t from = 0; from < r->n[chip]; from += DUMP)
            for (uint32_t core = 0; core < CORES; core++)
                for (uint32_t risc = 0; risc < RISCS; risc++)
                    for (size_t i = from; i < r->n[chip] && i < from + DUMP; i++)
                        write_rows(&r->launches[chip][i], chip, core, risc, next_random(&seed) % 64, FW_START,
                                   STAGES, f);
}

/* As tools that sort it leave it: launch by launch, what begins before what ends, all cores of all chips in between. */
static void write_log_by_time(const run *r, FILE *f)
{
    size_t most = 0;
    write_header(f);
    for (uint32_t chip = 0; chip < CHIPS; chip++)
        most = r->n[chip] > most ? r->n[chip] : most;
    for (size_t i = 0; i < most; i++)
        for (stage s = FW_START; s < STAGES; s++)
            for (uint32_t risc = 0; risc < RISCS; risc++)
                for (uint32_t chip = 0; chip < CHIPS; chip++)
                    for (uint32_t core = 0; i < r->n[chip] && core < CORES; core++) {
                        uint64_t seed = (i * CORES + core) * RISCS + risc + 99;
                        write_rows(&r->launches[chip][i], chip, core, risc, next_random(&seed) % 64, s, s + 1,
                                   f);
                    }
}

static void write_report(const run *r, FILE *f)
{
    fprintf(
        f,
        "GLOBAL CALL COUNT,METAL TRACE ID,METAL TRACE REPLAY SESSION ID,DEVICE ID,DEVICE ARCH,OP NAME,CORE COUNT,AVAILABLE "
        "WORKER CORE COUNT,DEVICE TRACE FIRMWARE DURATION [ns],DEVICE TRACE KERNEL DURATION [ns],DEVICE KERNEL FIRST TO LAST "
        "START [ns],DEVICE FW DURATION [ns],DEVICE FW START CYCLE,DEVICE FW END CYCLE,DEVICE KERNEL DURATION [ns],DEVICE "
        "KERNEL START CYCLE,DEVICE KERNEL END CYCLE,DEVICE KERNEL DURATION DM START [ns],DEVICE KERNEL DM START CYCLE,DEVICE "
        "KERNEL DM END CYCLE,DEVICE BRISC KERNEL DURATION [ns],DEVICE NCRISC KERNEL DURATION [ns],DEVICE TRISC0 KERNEL "
        "DURATION [ns],DEVICE TRISC1 KERNEL DURATION [ns],DEVICE TRISC2 KERNEL DURATION [ns],DEVICE ERISC KERNEL DURATION "
        "[ns],OP TO OP LATENCY [ns],OP TO OP LATENCY BR/NRISC START [ns]\n");
    for (uint32_t chip = 0; chip < CHIPS; chip++) {
        uint64_t last = 0;
        for (size_t i = 0; i < r->n[chip]; i++) {
            const launch *l = &r->launches[chip][i];
            char trace[32];
            const uint64_t from = l->start + 40, to = l->start + l->length - 40, ns = to - from;
            trace_cells(trace, l);
            fprintf(f,
                    "%" PRIu64 ",%s,%u,wormhole_b0,ttnn::Program%u,64,64,,,63,%" PRIu64 ",%" PRIu64
                    ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64
                    ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",,%" PRIu64 ",%" PRIu64 "\n",
                    l->id, trace, chip, l->program, l->length, l->start, l->start + l->length, ns, from, to,
                    ns, from, to, ns, ns, ns, ns, ns, i ? from - last : 0, i ? from - last : 0);
            last = to;
        }
    }
}

static FILE *open_in(const char *folder, const char *name)
{
    char path[1024];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *f = fopen(path, "w");
    if (f) setvbuf(f, NULL, _IOFBF, 1 << 20);
    return f;
}

static bool close_file(FILE *f)
{
    if (!f) return false;
    const bool good = !ferror(f);
    return fclose(f) == 0 && good;
}

bool generate_run(const char *folder, const run_options *o)
{
    run r = {.o = o,
             .now = 1000,
             .seed = 7,
             .data = open_in(folder, "tracy_ops_data.csv"),
             .times = open_in(folder, "tracy_ops_times.csv")};
    for (uint32_t chip = 0; chip < CHIPS; chip++)
        r.clock[chip] = 1000000 * (chip + 1);
    if (r.data && r.times) happen(&r);
    bool good = close_file(r.data);
    good = close_file(r.times) && good;
    FILE *f = good ? open_in(folder, o->log ? "profile_log_device.csv" : "cpp_device_perf_report.csv") : NULL;
    if (f && o->log)
        (o->by_time ? write_log_by_time : write_log)(&r, f);
    else if (f)
        write_report(&r, f);
    good = close_file(f) && good;
    for (uint32_t chip = 0; chip < CHIPS; chip++)
        free(r.launches[chip]);
    if (r.no_memory) errno = ENOMEM;
    return good && !r.no_memory;
}
