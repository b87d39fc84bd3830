/* devlog time: what a command takes, over several runs: the host's time and processor time, compiling, the device, memory. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "answers/run_figures.h"
#include "answers/spread.h"
#include "base/paths.h"
#include "base/settings.h"
#include "base/term.h"
#include "cli/answer_out.h"
#include "cli/cli.h"
#include "cli/profiled_run.h"
#include "decode/capture/capture.h"
#include "decode/log/log_write.h"
#include "ops/op_log.h"

enum { SCHEMA_VERSION = 1, MOST_RUNS = 100000 };

typedef struct time_args {
    uint64_t n, warm_up, device;
    bool each, show_output;
    const char *output;
    int format;
} time_args;

static const cli_option options[] = {
    CLI_TITLE("Runs"),
    {CLI_NUMBER, "repeat", 'n', "N", "runs that count; 5 unless told", offsetof(time_args, n), 1, MOST_RUNS},
    {CLI_NUMBER, "warm-up", 'w', "N", "runs before them that do not: caches are cold; 1 unless told",
     offsetof(time_args, warm_up), 0, MOST_RUNS},
    {CLI_NUMBER, "device", 'd', "N",
     "further runs with device profiling, from which the device's time comes; as many as --repeat unless told, "
     "0: none",
     offsetof(time_args, device), 0, MOST_RUNS},
    {CLI_FLAG, "show-output", 0, NULL, "let the command print in every run; otherwise in none",
     offsetof(time_args, show_output)},
    CLI_TITLE("Output"),
    {CLI_FLAG, "each", 'e', NULL, "a line for each run, too", offsetof(time_args, each)},
    {CLI_CHOICE, "format", 'f', CLI_ANSWER_FORMATS, "json has a schema (share/devlog/schema)",
     offsetof(time_args, format)},
    {CLI_STRING, "output", 'o', "FOLDER",
     "for the logs of the last runs; generated/profiler/time unless told", offsetof(time_args, output)},
    {0},
};

/* What one run took; NAN: nobody knows. Times are ns. */
typedef enum measure { WALL, CPU, COMPILE, DEVICE, MEMORY, DEVICE_MEMORY, FLOPS, MEASURES } measure;
/* Whether it is known of the further runs with device profiling. */
static bool is_of_device(measure m)
{
    return m == DEVICE || m == DEVICE_MEMORY || m == FLOPS;
}
typedef struct sample {
    double of[MEASURES];
} sample;

typedef struct job {
    const time_args *args;
    char *const *command;
    sample *samples; /* args->n of the host */
    sample *device;  /* args->device of the device */
    size_t n, n_device;
    bool lost; /* device data, or an op log that was not closed */
    int exit;  /* of a run that failed; no more are made */
} job;

static void say(const char *fmt, ...) DL_PRINTF(1, 2);
static void say(const char *fmt, ...)
{
    va_list ap;
    char text[2200];
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    dl_shown_in_place(text);
    fprintf(stderr, "devlog time: %s\n", text);
}

/* ---- What a run left ------------------------------------------------------------------------------------ */

/* Inside CompileProgram, by the op log; NAN when the run wrote none, or did not close it. */
static double compile_ns(job *j, const char *folder)
{
    op_log log;
    devlog_error err;
    char path[CLI_PATH_SIZE];
    double ns = NAN;
    if (!cli_folder_holds(folder, OP_LOG_NAME) || dl_join(path, sizeof path, folder, OP_LOG_NAME, &err))
        return NAN;
    if (op_log_read(&log, path, &err) == DEVLOG_OK) {
        if (log.opens && log.found[OP_NOT_CLOSED] == 0)
            ns = (double)log.compile_ns;
        else
            j->lost = true;
    }
    op_log_free(&log);
    return ns;
}

/* By the device data of a run, as devlog report has it; NAN when there is none. */
static devlog_status look_at_device(job *j, const char *folder, sample *s, devlog_error *err)
{
    static const char *const names[] = {DL_CAPTURE_NAME, DL_DEVICE_LOG_NAME};
    run_figures facts;
    s->of[DEVICE] = s->of[DEVICE_MEMORY] = s->of[FLOPS] = NAN;
    if (!cli_folder_holds(folder, names[0]) && !cli_folder_holds(folder, names[1])) return DEVLOG_OK;
    devlog_status status = run_figures_of(&facts, folder, err);
    if (status) return status;
    s->of[DEVICE] = facts.busy;
    s->of[DEVICE_MEMORY] = facts.memory;
    s->of[FLOPS] = facts.flops;
    j->lost |= facts.lost;
    return DEVLOG_OK;
}

/* ---- Runs ----------------------------------------------------------------------------------------------- */

/* One run; false when no more are wanted. */
static bool run_once(job *j, const char *folder, bool device, sample *out, devlog_error *err)
{
    const cli_profiled run = {.command = j->command,
                              .folder = folder,
                              .device = device,
                              .recording = -1,
                              .quiet = !j->args->show_output};
    cli_child_result result = {0};
    if (cli_profiled_run(&run, &result, err)) return false;
    if (result.exit) {
        j->exit = result.exit;
        if (result.signal)
            say("a run was ended by signal %d (%s); no more are made", result.signal,
                strsignal(result.signal));
        else
            say("a run ended with status %d; no more are made", result.exit);
        return false;
    }
    *out = (sample){{[WALL] = (double)result.wall_ns,
                     [CPU] = (double)result.cpu_ns,
                     [COMPILE] = NAN,
                     [DEVICE] = NAN,
                     [MEMORY] = (double)result.peak_bytes,
                     [DEVICE_MEMORY] = NAN,
                     [FLOPS] = NAN}};
    return true;
}

static devlog_status run_all(job *j, const char *logs, const char *device_logs, devlog_error *err)
{
    sample s;
    err->status = DEVLOG_OK;
    for (uint64_t i = 0; i < j->args->warm_up; i++)
        if (!run_once(j, logs, false, &s, err)) return err->status;
    for (uint64_t i = 0; i < j->args->n; i++) {
        if (!run_once(j, logs, false, &s, err)) return err->status;
        s.of[COMPILE] = compile_ns(j, logs);
        j->samples[j->n++] = s;
    }
    for (uint64_t i = 0; i < j->args->device; i++) {
        if (!run_once(j, device_logs, true, &s, err)) return err->status;
        devlog_status status = look_at_device(j, device_logs, &s, err);
        if (status) return status;
        if (isnan(s.of[DEVICE])) break; /* the next would not know better */
        j->device[j->n_device++] = s;
    }
    return DEVLOG_OK;
}

/* ---- The answer ----------------------------------------------------------------------------------------- */

/* The values of a measure, sorted; returns how many are known. */
static size_t values_of(const job *j, measure m, double *out)
{
    const sample *from = is_of_device(m) ? j->device : j->samples;
    const size_t n = is_of_device(m) ? j->n_device : j->n;
    for (size_t i = 0; i < n; i++)
        out[i] = from[i].of[m];
    return spread_sort(out, n);
}

static const answer_column columns[] = {
    {"row", "", ANSWER_TEXT, 0},
    {"wall", "wall", ANSWER_TIME, 0},
    {"cpu", "CPU", ANSWER_TIME, 0},
    {"compile", "compile", ANSWER_TIME, 0},
    {"device", "device", ANSWER_TIME, 0},
    {"memory", "peak memory", ANSWER_BYTES, 0},
    {"device_memory", "buffers", ANSWER_BYTES, 0},
    {"flops", "FLOPs", ANSWER_FLOPS, 0},
};
enum { COLUMNS = sizeof columns / sizeof columns[0] };

static devlog_status tell(const job *j, answer *a, devlog_error *err)
{
    static const struct {
        const char *name;
        double q;
    } rows[] = {{"median", 0.5}, {"minimum", 0}, {"quarter", 0.25}, {"three quarters", 0.75}, {"maximum", 1}};
    const size_t most = j->n > j->n_device ? j->n : j->n_device;
    double *values[MEASURES] = {0};
    size_t counts[MEASURES] = {0};
    devlog_status status = answer_begin(a, err);
    if (status) return status;
    for (int m = 0; m < MEASURES; m++) {
        if (!(values[m] = calloc(most + 1, sizeof(double)))) {
            status = dl_fail(err, DEVLOG_ERR_MEMORY, "out of memory");
            goto out;
        }
        counts[m] = values_of(j, (measure)m, values[m]);
    }
    answer_section *s = answer_table(a, "time", "TIME", columns, COLUMNS);
    for (size_t r = 0; r < sizeof rows / sizeof rows[0]; r++) {
        answer_text(s, rows[r].name);
        for (int m = 0; m < MEASURES; m++)
            answer_number(s, spread_quantile(values[m], counts[m], rows[r].q));
    }
    answer_note(
        a, s,
        answer_keepf(
            a,
            "%zu runs after %llu that warm up; device: %zu further runs with device profiling, the time in "
            "which the busiest chip ran anything, the most that buffers held in L1 and DRAM of a chip, FLOPs of ops "
            "whose shapes and kind are known.",
            j->n, (unsigned long long)j->args->warm_up, j->n_device));
    if (counts[COMPILE] == 0)
        answer_note(a, s, "compile: the command wrote no op log that says it (devlog_ops_open).");
    if (j->args->each) {
        s = answer_table(a, "runs", "RUNS", columns, COLUMNS);
        for (size_t i = 0; i < most; i++) {
            answer_text(s, answer_keepf(a, "%zu", i + 1));
            for (int m = 0; m < MEASURES; m++)
                answer_number(s, is_of_device((measure)m) ? i < j->n_device ? j->device[i].of[m] : NAN
                                 : i < j->n               ? j->samples[i].of[m]
                                                          : NAN);
        }
    }
    status = answer_status(a, err);
out:
    for (int m = 0; m < MEASURES; m++)
        free(values[m]);
    return status;
}

static devlog_status print(const job *j, devlog_error *err)
{
    answer a = {0};
    devlog_status status = tell(j, &a, err);
    if (!status)
        status = cli_answer_print(
            &a, &(cli_answer_out){.kind = "time", .version = SCHEMA_VERSION, .format = j->args->format}, err);
    answer_free(&a);
    return status;
}

static int run(int argc, char **argv)
{
    time_args a = {.n = 5, .warm_up = 1, .device = UINT64_MAX, .output = "generated/profiler/time"};
    cli_args rest;
    int exit_status;
    if (!cli_parse(&cmd_time, argc, argv, &a, &rest, &exit_status)) return exit_status;
    if (a.device == UINT64_MAX) a.device = a.n;
    char logs[CLI_PATH_SIZE], device_logs[CLI_PATH_SIZE];
    devlog_error err = {0};
    char **command = calloc((size_t)rest.n + 1, sizeof *command);
    job j = {.args = &a,
             .command = command,
             .samples = calloc(a.n, sizeof(sample)),
             .device = calloc(a.device + 1, sizeof(sample))};
    devlog_status status = command && j.samples && j.device
                               ? dl_settings_check(&err)
                               : dl_fail(&err, DEVLOG_ERR_MEMORY, "out of memory");
    if (!status) status = dl_join(logs, sizeof logs, a.output, "logs", &err);
    if (!status) status = dl_join(device_logs, sizeof device_logs, a.output, "logs_device", &err);
    if (!status) status = cli_profiled_alone(a.output, &err);
    if (!status) {
        memcpy(command, rest.items, (size_t)rest.n * sizeof *command);
        if (!a.device) status = cli_profiled_forget(device_logs, &err);
        if (!status) status = run_all(&j, logs, device_logs, &err);
    }
    if (!status && !j.exit) status = print(&j, &err);
    exit_status = status ? CLI_FAILED : j.exit;
    if (status) say("%s", err.text);
    if (exit_status == CLI_OK && a.device && j.n_device == 0) {
        say("no device data: the command launched no program through devlog that was built to profile; --device 0 asks for none");
        exit_status = CLI_PARTIAL;
    } else if (exit_status == CLI_OK && j.lost) {
        say("something was lost in a run; devlog decode %s says what", device_logs);
        exit_status = CLI_PARTIAL;
    }
    free(j.samples);
    free(j.device);
    free(command);
    cli_args_free(&rest);
    return exit_status;
}

const cli_command cmd_time = {
    .name = "time",
    .summary =
        "What a command takes: wall and processor time, compiling, the device, memory, FLOPs; median of several runs",
    .arguments = "COMMAND...",
    .min_arguments = 1,
    .max_arguments = CLI_ANY,
    .stops = true,
    .description =
        "Runs the command several times without device profiling, so that the host's times are not those of downloading "
        "device data, and several times with it, for the device's time. Runs that warm up are not counted. The "
        "command's output goes nowhere unless asked for; what it says on standard error stays.\n\n"
        "wall and CPU are of the whole command; compile is the time inside devlog_compile_program, known when the command opens an "
        "op log; device is the time in which the chip that was busy longest ran anything; buffers is the most that a chip's L1 and DRAM held together, FLOPs "
        "are of ops whose shapes and kind are known (docs/roofline.md), both known when the command opens an op log; peak memory is that of the command, or "
        "of the greatest of its children (the system counts at least what devlog itself has: some MiB). What nobody knows is \"-\", null in JSON.\n\n"
        "A run that fails ends everything: the exit status is then its own. 3: there is no device data, or some was lost.",
    .options = options,
    .examples = "  devlog time -n 10 -- build/release/bin/nn 4\n"
                "  devlog time --device 0 --format json -- ./app\n",
    .files =
        "FOLDER/logs, FOLDER/logs_device: the logs of the last run without and with device profiling. A second command in a FOLDER in which one is at work is refused.",
    .see_also = "devlog-run(1), devlog-report(1)",
    .run = run,
};
