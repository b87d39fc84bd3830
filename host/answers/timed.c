/* devlog_timed: a function of the user's, run several times and measured from outside. `devlog time` does the same to programs. */
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "answers/busy.h"
#include "answers/run_figures.h"
#include "answers/spread.h"
#include "base/c_locale.h"
#include "base/options.h"
#include "base/term.h"
#include "devlog/results.h"
#include "ops/op_log_write.h"
#include "profiler/profiler.h"

enum { REPEATS = 5, WARM_UP = 1, MOST_RUNS = 1000000 };

/* What runs took, one behind the other: `n` of each. */
typedef struct timed {
    devlog_device *device;
    devlog_timed_function function;
    void *context;
    devlog_ops *ops;
    uint32_t n;
    double *of[DEVLOG_TIMED_WHATS];
    uint64_t *first_op; /* of each run, and behind them the first that none of them has */
} timed;

static uint64_t cpu_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* From now on the system counts the most memory of the process anew (proc(5), "clear_refs"); where it cannot, the most is that of
 * the whole process. */
static void restart_memory(void)
{
    const int fd = open("/proc/self/clear_refs", O_WRONLY | O_CLOEXEC);
    if (fd < 0) return;
    (void)!write(fd, "5", 1);
    close(fd);
}

static double most_memory(void)
{
    char line[256];
    unsigned long long kib;
    double bytes = NAN;
    FILE *f = fopen("/proc/self/status", "re");
    while (f && fgets(line, sizeof line, f))
        if (sscanf(line, "VmHWM: %llu kB", &kib) == 1) bytes = 1024.0 * (double)kib;
    if (f) fclose(f);
    struct rusage used;
    if (isnan(bytes) && getrusage(RUSAGE_SELF, &used) == 0) bytes = 1024.0 * (double)used.ru_maxrss;
    return bytes;
}

static double api_ns(const devlog_device *device, devlog_api api)
{
    return device ? (double)devlog_device_api_stats(device, api).total_ns : NAN;
}

/* ns in which the device ran any of the launches. */
static double device_ns(const devlog_device *device, const profiler_metered *m)
{
    const uint64_t khz = dl_device_khz(device);
    busy_span *spans = malloc((m->n + 1) * sizeof *spans);
    if (!spans || m->missing || !khz) {
        free(spans);
        return NAN;
    }
    for (size_t i = 0; i < m->n; i++)
        spans[i] = (busy_span){(double)(m->spans[i].start - m->spans[0].start),
                               (double)(m->spans[i].end - m->spans[0].start)};
    const double ns = busy_union(spans, m->n) * 1e6 / (double)khz;
    free(spans);
    return ns;
}

static uint64_t next_op(devlog_ops *ops)
{
    return ops ? atomic_load(&ops->run.shared->next_op) : 0;
}

/* One run; NULL for `out`: nobody wants to know what it took. */
static devlog_status run_once(timed *t, double out[DEVLOG_TIMED_WHATS], devlog_error *err)
{
    profiler_metered metered = {0};
    devlog_status status = t->device ? profiler_meter_begin(t->device, err) : DEVLOG_OK;
    if (status) return status;
    restart_memory();
    const double compiling = api_ns(t->device, DEVLOG_API_COMPILE_PROGRAM);
    const double pulling = api_ns(t->device, DEVLOG_API_DUMP_DEVICE_PROFILE_RESULTS);
    const uint64_t cpu = cpu_ns(), start = dl_now_ns();
    status = t->function(t->context, err);
    const uint64_t wall = dl_now_ns() - start, used = cpu_ns() - cpu;
    if (t->device) profiler_meter_end(t->device, &metered);
    if (out) {
        const double gone = api_ns(t->device, DEVLOG_API_DUMP_DEVICE_PROFILE_RESULTS) - pulling;
        out[DEVLOG_TIMED_WALL] = (double)wall - (t->device ? gone : 0);
        out[DEVLOG_TIMED_CPU] = (double)used;
        out[DEVLOG_TIMED_COMPILE] = api_ns(t->device, DEVLOG_API_COMPILE_PROGRAM) - compiling;
        out[DEVLOG_TIMED_DEVICE] = t->device ? device_ns(t->device, &metered) : NAN;
        out[DEVLOG_TIMED_HOST_MEMORY] = most_memory();
        out[DEVLOG_TIMED_L1] = metered.has[DEVLOG_MEMORY_L1] ? (double)metered.peak[DEVLOG_MEMORY_L1] : NAN;
        out[DEVLOG_TIMED_DRAM] =
            metered.has[DEVLOG_MEMORY_DRAM] ? (double)metered.peak[DEVLOG_MEMORY_DRAM] : NAN;
        out[DEVLOG_TIMED_FLOPS] = NAN;
    }
    free(metered.spans);
    return status;
}

/* FLOPs of each run, by the ops that it started. */
static devlog_status count_flops(timed *t, devlog_error *err)
{
    DL_IN_C_LOCALE();
    const char *path = devlog_ops_log(t->ops), *slash = strrchr(path, '/');
    if (!t->ops) return DEVLOG_OK;
    char *folder = slash ? strndup(path, (size_t)(slash - path)) : strdup(".");
    devlog_status status = folder ? DEVLOG_OK : dl_fail(err, DEVLOG_ERR_MEMORY, "out of memory");
    if (!status) status = run_figures_flops(folder, t->first_op, t->n, t->of[DEVLOG_TIMED_FLOPS], err);
    free(folder);
    return status;
}

static devlog_status run_all(timed *t, uint32_t warm_up, devlog_error *err)
{
    devlog_status status = DEVLOG_OK;
    for (uint32_t i = 0; i < warm_up && !status; i++)
        status = run_once(t, NULL, err);
    for (uint32_t i = 0; i < t->n && !status; i++) {
        double took[DEVLOG_TIMED_WHATS];
        t->first_op[i] = next_op(t->ops);
        status = run_once(t, took, err);
        for (int w = 0; w < DEVLOG_TIMED_WHATS && !status; w++)
            t->of[w][i] = took[w];
    }
    t->first_op[t->n] = next_op(t->ops);
    return status ? status : count_flops(t, err);
}

static devlog_spread spread_of(double *values, uint32_t n)
{
    const size_t known = spread_sort(values, n);
    return (devlog_spread){.n = (uint32_t)known,
                           .median = spread_quantile(values, known, 0.5),
                           .min = spread_quantile(values, known, 0),
                           .quarter = spread_quantile(values, known, 0.25),
                           .three_quarters = spread_quantile(values, known, 0.75),
                           .max = spread_quantile(values, known, 1)};
}

devlog_status devlog_timed(devlog_device *device, devlog_timed_function function, void *context,
                           const devlog_timed_options *options, devlog_timing *out, devlog_error *err)
{
    devlog_timed_options o;
    devlog_status status = dl_options_take(&o, sizeof o, options, "devlog_timed_options", err);
    if (status) return status;
    const uint32_t warm_up = o.warm_up == DEVLOG_NO_WARM_UP ? 0 : o.warm_up ? o.warm_up : WARM_UP;
    timed t = {device, function, context, o.ops, .n = o.repeats ? o.repeats : REPEATS};
    if (t.n > MOST_RUNS || warm_up > MOST_RUNS)
        return dl_fail(err, DEVLOG_ERR_ARGUMENT, "a function is timed in at most %d runs", MOST_RUNS);
    double *all = calloc((size_t)t.n * DEVLOG_TIMED_WHATS, sizeof *all);
    t.first_op = calloc((size_t)t.n + 1, sizeof *t.first_op);
    status = all && t.first_op ? DEVLOG_OK : dl_fail(err, DEVLOG_ERR_MEMORY, "out of memory");
    for (int w = 0; w < DEVLOG_TIMED_WHATS && all; w++)
        t.of[w] = all + (size_t)w * t.n;
    if (!status) status = run_all(&t, warm_up, err);
    if (!status) {
        memset(out, 0, sizeof *out);
        out->repeats = t.n;
        out->warm_up = warm_up;
        for (int w = 0; w < DEVLOG_TIMED_WHATS; w++)
            out->of[w] = spread_of(t.of[w], t.n);
    }
    free(all);
    free(t.first_op);
    return status;
}
