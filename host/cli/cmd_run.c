/* devlog run: runs a command without and with device profiling, and makes one op report of both runs. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/paths.h"
#include "base/settings.h"
#include "cli/cli.h"
#include "cli/date.h"
#include "cli/op_report.h"
#include "cli/profiled_run.h"
#include "decode/capture/capture.h"
#include "decode/log/log_write.h"

typedef struct run_args {
    const char *output, *suffix;
    bool once, device_only, host_only, date, tar, waits;
    int format, columns, recording;
    uint64_t stacks;
} run_args;

static const cli_option options[] = {
    CLI_TITLE("Runs"),
    {CLI_FLAG, "once", 0, NULL, "run it once, with device profiling: host times then include the download",
     offsetof(run_args, once)},
    {CLI_FLAG, "device-only", 0, NULL, "as --once, and leave the host's times out of the report",
     offsetof(run_args, device_only)},
    {CLI_FLAG, "host-only", 0, NULL, "run it once, without device profiling", offsetof(run_args, host_only)},
    {CLI_CHOICE, "recording", 0, "stop|ring|stream",
     "what happens when the records of a RISC are full: the first are kept (unless the program says "
     "otherwise), "
     "the last are kept, or all go to the device's DRAM and nothing is lost",
     offsetof(run_args, recording)},
    {CLI_FLAG, "waits", 0, NULL,
     "kernels record what they wait for and what they give to others, for devlog causes (DEVLOG_WAITS=1)",
     offsetof(run_args, waits)},
    {CLI_NUMBER, "op-stacks", 0, "FRAMES",
     "Python's call stack with each op, of so many frames: the report has a column CALL STACK (DEVLOG_OP_STACKS)",
     offsetof(run_args, stacks), 1, 64},
    CLI_TITLE("Output"),
    {CLI_STRING, "output", 'o', "FOLDER",
     "where the report goes, and the logs, into FOLDER/logs and FOLDER/logs_device; generated/profiler/run "
     "unless "
     "told",
     offsetof(run_args, output)},
    {CLI_FLAG, "date", 0, NULL, "put date and time in front of the report's name", offsetof(run_args, date)},
    {CLI_STRING, "name", 'n', "SUFFIX", "add _SUFFIX to the report's name", offsetof(run_args, suffix)},
    {CLI_CHOICE, "format", 'f', "csv|json|md", "of the report, as devlog ops has it",
     offsetof(run_args, format)},
    {CLI_CHOICE, "columns", 0, "current|reference", "as of devlog ops", offsetof(run_args, columns)},
    {CLI_OFF, "no-tar", 0, NULL, "do not pack the logs into a tar beside the report",
     offsetof(run_args, tar)},
    {0},
};

static void say(const char *fmt, ...) DL_PRINTF(1, 2);
static void say(const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    char *text = NULL;
    if (vasprintf(&text, fmt, ap) < 0) text = NULL;
    va_end(ap);
    if (text) dl_shown_in_place(text);
    fprintf(stderr, "devlog run: %s\n", text ? text : "out of memory");
    free(text);
}

/* One run. False when it cannot be started. */
static bool run_once(const run_args *a, char *const *command, const char *folder, bool device,
                     cli_child_result *result)
{
    devlog_error err = {0};
    const cli_profiled run = {.command = command,
                              .folder = folder,
                              .device = device,
                              .recording = a->recording,
                              .waits = a->waits,
                              .stacks = (unsigned)a->stacks};
    const devlog_status status = cli_profiled_run(&run, result, &err);
    if (status) say("%s", err.text);
    return status == DEVLOG_OK;
}

static void say_end(const char *which, const cli_child_result *result)
{
    if (result->signal)
        say("%s was ended by signal %d (%s); the report is of what it left", which, result->signal,
            strsignal(result->signal));
    else
        say("%s ended with status %d; the report is of what it left", which, result->exit);
}

/* Whether the run with device profiling gave device data; says why not. */
static bool was_profiled(const char *command, const char *folder)
{
    op_log log;
    devlog_error err;
    char path[CLI_PATH_SIZE];
    if (cli_folder_holds(folder, DL_DEVICE_LOG_NAME) || cli_folder_holds(folder, DL_CAPTURE_NAME))
        return true;
    bool off = false;
    if (dl_join(path, sizeof path, folder, OP_LOG_NAME, &err) == DEVLOG_OK) {
        if (op_log_read(&log, path, &err) == DEVLOG_OK)
            for (size_t i = 0; i < log.n_chips; i++)
                off |= !log.chips[i].profiled;
        op_log_free(&log);
    }
    if (off)
        say("%s opens its device with profiling off (devlog_device_options.profile): its programs are not "
            "built to "
            "profile",
            command);
    else
        say("%s gave no device data: it launched no program through devlog, or none that was built to "
            "profile "
            "(-DPROFILE_DEVICE)",
            command);
    return false;
}

/* The runs that the options ask for. *device tells whether there is device data; -1: nothing to report. */
static int do_runs(const run_args *a, char *const *command, const char *logs, const char *device_logs,
                   bool *device)
{
    cli_child_result result = {0};
    const bool two = !a->once && !a->device_only && !a->host_only;
    *device = false;
    if (two || a->host_only) {
        if (!run_once(a, command, logs, false, &result)) return -1;
        if (result.exit) say_end(two ? "the run without device profiling" : "the run", &result);
        if (!cli_folder_holds(logs, OP_LOG_NAME))
            say("%s wrote no op log: does it open one (devlog_ops_open), and tell its devices "
                "(devlog_device_options.ops)?",
                command[0]);
        if (result.exit || a->host_only) return result.exit;
    }
    if (!run_once(a, command, device_logs, true, &result)) return -1;
    if (result.exit) say_end("the run with device profiling", &result);
    *device = was_profiled(command[0], device_logs);
    return result.exit;
}

static void add_name(dl_str *name, const run_args *a, const char *prefix)
{
    dl_str_fmt(name, "%sops_perf_results%s%s", prefix, a->suffix ? "_" : "", a->suffix ? a->suffix : "");
}

/* A report of the run before, in the place of this one's, would be taken for it where this run comes to none. */
static devlog_status forget_report(const run_args *a, devlog_error *err)
{
    static const char *const endings[] = {".csv", ".json", ".md", ".tar"};
    devlog_status status = DEVLOG_OK;
    for (size_t i = 0; i < sizeof endings / sizeof endings[0] && !status && !a->date; i++) {
        dl_str path = {0};
        dl_str_fmt(&path, "%s/", a->output);
        add_name(&path, a, "");
        dl_str_add(&path, endings[i]);
        status = dl_str_status(&path, err);
        if (!status && unlink(path.text) != 0 && errno != ENOENT && errno != ENOTDIR)
            status = dl_fail_errno(err, errno, "cannot remove the report of an earlier run, %s", path.text);
        dl_str_free(&path);
    }
    return status;
}

static int report(const run_args *a, const char *logs, const char *device_logs, bool device)
{
    char prefix[32] = "";
    dl_str name = {0};
    devlog_error err = {0};
    if (cli_date_prefix(a->date, prefix, &err)) {
        say("%s", err.text);
        return CLI_FAILED;
    }
    add_name(&name, a, prefix);
    if (name.failed) return CLI_FAILED;
    op_job_options o = {
        .logs = logs,
        .device_logs = device ? device_logs : NULL,
        .no_device = !device,
        .output = a->output,
        .name = name.text,
        .report = {.columns = a->columns ? OP_COLUMNS_REFERENCE : OP_COLUMNS_CURRENT,
                   .json = a->format == 1,
                   .no_host_times = a->device_only},
        .markdown = a->format == 2,
        .no_tar = !a->tar,
    };
    int status = cli_op_report("run", &o, STDERR_FILENO);
    dl_str_free(&name);
    return status;
}

static int run(int argc, char **argv)
{
    run_args a = {.output = "generated/profiler/run", .tar = true, .recording = -1};
    cli_args rest;
    int exit_status;
    if (!cli_parse(&cmd_run, argc, argv, &a, &rest, &exit_status)) return exit_status;
    char logs[CLI_PATH_SIZE], device_logs[CLI_PATH_SIZE];
    devlog_error err = {0};
    char **command = calloc((size_t)rest.n + 1, sizeof *command);
    exit_status = CLI_USAGE;
    if (a.once + a.device_only + a.host_only > 1) {
        cli_wrong(&cmd_run, "--once, --device-only and --host-only exclude each other");
        goto done;
    }
    if (a.suffix && strchr(a.suffix, '/')) {
        cli_wrong(&cmd_run, "--name is part of a file's name and has no '/'");
        goto done;
    }
    exit_status = CLI_FAILED;
    char unused[32]; /* what is wrong with a setting is said before anything runs */
    if (cli_date_prefix(a.date, unused, &err) || dl_settings_check(&err)) {
        say("%s", err.text);
        goto done;
    }
    bool one = a.once || a.device_only;
    if (!command || dl_join(logs, sizeof logs, a.output, "logs", &err) != DEVLOG_OK ||
        dl_join(device_logs, sizeof device_logs, a.output, one ? "logs" : "logs_device", &err) != DEVLOG_OK) {
        say("%s", command ? err.text : "out of memory");
        goto done;
    }
    if (cli_profiled_alone(a.output, &err)) {
        say("%s", err.text);
        goto done;
    }
    memcpy(command, rest.items, (size_t)rest.n * sizeof *command);
    /* Of a run of another kind before: what reads the folder would take its device data for those of this one. */
    char other[CLI_PATH_SIZE];
    if ((one || a.host_only) && (dl_join(other, sizeof other, a.output, "logs_device", &err) != DEVLOG_OK ||
                                 cli_profiled_forget(other, &err) != DEVLOG_OK)) {
        say("%s", err.text);
        goto done;
    }
    if (forget_report(&a, &err)) {
        say("%s", err.text);
        goto done;
    }
    bool device;
    int child_status = do_runs(&a, command, logs, device_logs, &device);
    if (child_status < 0) goto done;
    bool anything = cli_folder_holds(logs, OP_LOG_NAME) || device;
    if (anything)
        exit_status = report(&a, logs, device_logs, device);
    else
        say("there is nothing to report");
    if (!device && !a.host_only) exit_status = CLI_FAILED;
    if (child_status) exit_status = child_status; /* as if devlog were not there */
done:
    free(command);
    cli_args_free(&rest);
    return exit_status;
}

const cli_command cmd_run = {
    .name = "run",
    .summary = "Run a command without and with device profiling, and make one op report of both",
    .arguments = "COMMAND...",
    .min_arguments = 1,
    .max_arguments = CLI_ANY,
    .stops = true,
    .description =
        "Runs the command twice: first with the op log only, so that the host's times are not those of "
        "downloading "
        "device data, then with device profiling too. Checks that both runs did the same ops, and stitches "
        "host "
        "times of the first with device data of the second, op by op. The command's input, output, signals "
        "and exit "
        "status are its own; what devlog says goes to standard error. Logs of both runs are kept, and zones of host code "
        "beside them (DEVLOG_HOST=1).\n\n"
        "The exit status is the command's when that is not 0; else 0, 3 when something is missing from the "
        "report, "
        "1 when there is no device data.",
    .options = options,
    .examples = "  devlog run -- build/release/bin/nn 4\n"
                "  devlog run -o out --once ./app --its options\n",
    .files =
        "FOLDER/ops_perf_results.csv: the report, as of devlog ops.\n\n"
        "FOLDER/logs, FOLDER/logs_device: the logs of the first and of the second run.\n\n"
        "What a run before has left under these names is removed first; a second command in a FOLDER in which one is at work is refused.",
    .see_also = "devlog-ops(1)",
    .run = run,
};
