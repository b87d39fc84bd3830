/* ./dev bench ops: how fast ops are logged, stitched with device data, and summed up again.
 *
 * Usage: bench_ops FOLDER [OPS]    (default: 1,000,000 ops with two inputs, an output, a launch, and the
 * firmware and kernel zones of two RISCs). Leaves the logs and the report in FOLDER. On one core: where there
 * are two, device logs are read on both, which takes less time and more of the processors. */
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "base/file.h"
#include "devlog/devlog.h"
#include "ops/op_job.h"
#include "ops/op_summary.h"

/* Of stitching: what other work, and a virtual machine that hands out memory for the first time, add to the
 * processor time is not devlog's. */
enum { RUNS = 4 };

static devlog_error err;

static int fail(void)
{
    fprintf(stderr, "bench_ops: %s\n", err.text);
    return 1;
}

/* Seconds of processor time so far: what is measured, as other work on the machine does not count in it. */
static double cpu(void)
{
    struct rusage u;
    getrusage(RUSAGE_SELF, &u);
    return (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) +
           (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec) / 1e6;
}

static void one_core(void)
{
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET((size_t)sched_getcpu(), &set);
    sched_setaffinity(0, sizeof set, &set);
}

static long peak_mib(void)
{
    struct rusage u;
    getrusage(RUSAGE_SELF, &u);
    return u.ru_maxrss / 1024;
}

static double mib(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 ? (double)st.st_size / (1 << 20) : 0;
}

static const char *const names[] = {"Matmul", "Add", "Softmax", "LayerNorm", "Transpose", "Reshard"};

static devlog_status write_op_log(const char *folder, uint64_t n)
{
    dl_file_writer w;
    char *path = dl_path_join(folder, OP_LOG_NAME);
    devlog_status status = dl_file_create(&w, path, &err);
    free(path);
    if (status) return status;
    static const char tensor[] = ",\"shape\":[1,1,1024,4096],\"layout\":\"TILE\",\"dtype\":\"BFLOAT16\","
                                 "\"memory\":\"DEV_0_DRAM_INTERLEAVED\"}\n";
    dl_str_add(&w.buffer,
               "{\"e\":\"run\",\"t\":1,\"version\":1,\"run\":\"00000000000000aa\",\"pid\":1}\n"
               "{\"e\":\"device\",\"chip\":0,\"t\":1,\"arch\":\"wormhole_b0\",\"mhz\":1000,\"cores\":80,"
               "\"profiled\":1}\n");
    for (uint64_t i = 1; i <= n; i++) {
        unsigned long long id = i, t = 1000 * i;
        dl_str_fmt(
            &w.buffer,
            "{\"e\":\"start\",\"id\":%llu,\"t\":%llu,\"thread\":0,\"depth\":1,\"name\":\"%s\",\"type\":"
            "\"tt_dnn_device\",\"fidelity\":\"HiFi4\",\"cores\":1,\"strategy\":\"MULTI_CORE\"}\n"
            "{\"e\":\"in\",\"id\":%llu%s{\"e\":\"in\",\"id\":%llu%s{\"e\":\"out\",\"id\":%llu%s"
            "{\"e\":\"launch\",\"id\":%llu,\"t\":%llu,\"chip\":0,\"launch\":%llu,\"program\":1,\"cached\":1,"
            "\"cores\":1}\n"
            "{\"e\":\"end\",\"id\":%llu,\"t\":%llu,\"thread\":0,\"own\":900,\"api\":{\"LaunchProgram\":[1,"
            "500]}}\n",
            id, t, names[i % 6], id, tensor, id, tensor, id, tensor, id, t + 100, id, id, t + 800);
        dl_file_flush(&w);
    }
    return dl_file_commit(&w, &err);
}

static devlog_status write_device_log(const char *folder, uint64_t n)
{
    dl_file_writer w;
    char *path = dl_path_join(folder, "profile_log_device.csv");
    devlog_status status = dl_file_create(&w, path, &err);
    free(path);
    if (status) return status;
    dl_str_add(&w.buffer,
               "ARCH: wormhole_b0, CHIP_FREQ[MHz]: 1000, Max Compute Cores: 80, Run: 00000000000000aa\n"
               "PCIe slot, core_x, core_y, RISC processor type, timer_id, time[cycles since reset], data, "
               "run host ID, "
               "trace id, trace id counter, zone name, type, source line, source file, meta data\n");
    static const char *const riscs[] = {"BRISC", "NCRISC"};
    for (uint64_t i = 1; i <= n; i++) {
        for (int r = 0; r < 2; r++) {
            unsigned long long t = 5000 * i + 10 * (uint64_t)r, l = i;
            dl_str_fmt(&w.buffer,
                       "0,1,1,%s,1,%llu,0,%llu,,,%s-FW,ZONE_START,0,firmware/run.h,{\"op\":%llu}\n"
                       "0,1,1,%s,2,%llu,0,%llu,,,%s-KERNEL,ZONE_START,0,firmware/run.h,\n"
                       "0,1,1,%s,3,%llu,0,%llu,,,%s-KERNEL,ZONE_END,0,firmware/run.h,\n"
                       "0,1,1,%s,4,%llu,0,%llu,,,%s-FW,ZONE_END,0,firmware/run.h,\n",
                       riscs[r], t, l, riscs[r], l, riscs[r], t + 100, l, riscs[r], riscs[r],
                       t + 3000 + i % 100, l, riscs[r], riscs[r], t + 3200, l, riscs[r]);
        }
        dl_file_flush(&w);
    }
    return dl_file_commit(&w, &err);
}

static int log_cost(const char *folder)
{
    enum { OPS = 100000 };
    const devlog_op op = {
        .name = "Matmul", .type = DEVLOG_OP_TT_DNN_DEVICE, .cores = 8, .strategy = "MULTI_CORE"};
    devlog_ops *ops = NULL;
    for (int on = 0; on < 2; on++) {
        if (on && devlog_ops_open(
                      &(devlog_ops_options)DEVLOG_OPS_OPTIONS(.log_folder = folder, .profile = DEVLOG_ON),
                      &ops, &err))
            return fail();
        double start = cpu();
        for (int i = 0; i < OPS; i++)
            devlog_op_end(ops, devlog_op_start(ops, &op));
        printf("op log %-4s %10.1f ns per op (start and end)\n",
               on ? "on:" : "off:", (cpu() - start) * 1e9 / OPS);
    }
    return devlog_ops_close(ops, &err) ? fail() : 0;
}

int main(int argc, char **argv)
{
    if (argc < 2) {
        fprintf(stderr, "usage: bench_ops FOLDER [OPS]\n");
        return 2;
    }
    const char *folder = argv[1];
    one_core();
    uint64_t n = argc > 2 ? strtoull(argv[2], NULL, 10) : 1000000;
    if (dl_folder_make(folder, &err) || log_cost(folder)) return fail();
    if (write_op_log(folder, n) || write_device_log(folder, n)) return fail();
    static op_job job;
    const op_job_options o = {.logs = folder, .output = folder, .name = "ops_perf_results", .no_tar = true};
    double took = 0, start;
    for (int i = 0; i < RUNS; i++) {
        if (i) op_job_free(&job);
        start = cpu();
        if (op_job_run(&job, &o, &err)) return fail();
        double this = cpu() - start;
        if (i == 0 || this < took) took = this;
    }
    printf("stitched %llu ops with %llu device rows in %.2f CPU s, the best of %d runs: %.0f ops/s, peak "
           "memory %ld MiB (%.0f MiB of "
           "logs, "
           "%.0f MiB report)\n",
           (unsigned long long)job.counts.ops_with_device,
           (unsigned long long)dl_decode_losses(job.decode)->rows, took, RUNS, (double)n / took, peak_mib(),
           mib(job.op_log_path) + mib(job.device_log_path), mib(job.report_path));
    op_table t;
    op_summary s;
    const op_summary_options so = {0};
    start = cpu();
    if (op_table_read(&t, job.report_path, &err) || op_summary_make(&s, &t, &so, &err)) return fail();
    took = cpu() - start;
    printf("summary of that report: %llu ops in %.2f CPU s: %.0f ops/s\n", (unsigned long long)s.all.count,
           took, (double)n / took);
    bool equal = s.all.kernel_ns == job.counts.kernel_ns && s.all.fw_ns == job.counts.fw_ns;
    printf("totals of both: %s\n", equal ? "equal" : "DIFFERENT");
    op_summary_free(&s);
    op_table_free(&t);
    op_job_free(&job);
    return equal ? 0 : 1;
}
