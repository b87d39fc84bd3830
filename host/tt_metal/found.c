/* Findings in a folder of tt-metal's profiler, and what to do about them. */
#include "tt_metal/found.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    const char *text; /* after a number */
    const char *cure; /* likely cause and cure */
    bool repaired;    /* nothing is missing */
} troubles[TT_TROUBLES] = {
    [TT_CUT_MESSAGE] = {"messages of ops were cut by Tracy; their whole members were kept",
                        "Tracy takes 64 KiB for a message: give the op shorter attributes", false},
    [TT_LOST_MESSAGE] =
        {"ops without a message: only their zone or launch tells of them",
         "the message was longer than Tracy takes, or the capture ended early (the program was "
         "killed, or capture-release lost the connection)",
         false},
    [TT_NO_OPS_DATA] = {"tracy_ops_data.csv is missing or empty: ops have no names, tensors and attributes",
                        "export it: csvexport-release -m -s \";\" FILE.tracy > tracy_ops_data.csv", false},
    [TT_NO_OPS_TIMES] = {"tracy_ops_times.csv is missing or empty: ops have no host times",
                         "export it: csvexport-release -u -t TT_ FILE.tracy > tracy_ops_times.csv", false},
    [TT_DEVICE_ONLY] = {"folder without files of the host: a row for each launch",
                        "run by python -m tracy -r, which saves what the host says of ops", true},
    [TT_NO_DEVICE_FILE] = {"no device data: neither cpp_device_perf_report.csv nor profile_log_device.csv",
                           "run with TT_METAL_DEVICE_PROFILER=1, and without "
                           "TT_METAL_PROFILER_DISABLE_DUMP_TO_FILES",
                           false},
    [TT_BAD_MESSAGE] =
        {"messages of ops or traces that say nothing that is understood",
         "the file is cut, or not of csvexport: export it anew: csvexport-release -m -s \";\" FILE.tracy > tracy_ops_data.csv",
         false},
    [TT_UNKNOWN_CACHED] = {"cached ops of which the full message never came; their names are known",
                           "set TT_METAL_PROFILER_NO_CACHE_OP_INFO=1, so that every op tells all", false},
    [TT_QUOTING] = {"messages with a backtick inside, which other readers end there",
                    "csvexport does not escape them; nothing is missing", true},
    [TT_ID_TWICE] = {"ops with the GLOBAL CALL COUNT of another; the last has the times and device data",
                     "two programs write one folder: give each its own TT_METAL_PROFILER_DIR", false},
    [TT_NO_ZONE] = {"ops without host times: their zone is missing",
                    "the capture ended early, or the file of times is of another run", false},
    [TT_ZONE_WITHOUT_ID] = {"zones of ops that do not say which op (id:N)",
                            "a program has zones of its own called TT_DNN or TT_METAL: give them other names",
                            false},
    [TT_BAD_TIMES_LINE] =
        {"lines of tracy_ops_times.csv that could not be read",
         "the file is cut, or damaged: export it anew: csvexport-release -u -t TT_ FILE.tracy > tracy_ops_times.csv",
         false},
    [TT_BAD_DEVICE_LINE] =
        {"lines of cpp_device_perf_report.csv that could not be read",
         "the program was killed, or two wrote one file: give each its own TT_METAL_PROFILER_DIR", false},
    [TT_NO_DEVICE] =
        {"ops without device data",
         "the profiler's buffer was full: raise TT_METAL_PROFILER_PROGRAM_SUPPORT_COUNT, or read "
         "more often (ttnn.ReadDeviceProfiler, TT_METAL_PROFILER_MID_RUN_DUMP=1); or the profiler "
         "was switched on late",
         false},
    [TT_NEVER_REPLAYED] = {"ops of traces that were captured and never replayed: they did not run",
                           "replay the trace (ttnn.execute_trace), or leave its capture out", false},
    [TT_MISSING_REPLAY] =
        {"ops of a replay that have no device data",
         "the profiler's buffer was full: read between replays (ttnn.ReadDeviceProfiler), or "
         "raise TT_METAL_PROFILER_PROGRAM_SUPPORT_COUNT",
         false},
    [TT_WHOLE_DEVICE] =
        {"devices with ops and without any device data",
         "profiling was on for other chips (TT_METAL_PROFILER_FILTER_CHIPS), or the device was "
         "not closed: its buffers are read when it is",
         false},
    [TT_NO_HOST_DEVICE] =
        {"devices that no op of the host is of",
         "programs were launched without ttnn, or the capture ended early; TT_METAL_PROFILER_FILTER_CHIPS leaves devices out",
         false},
    [TT_NO_OP] = {"launches that no op of the host asked for; rows at the end",
                  "programs launched without ttnn, or messages lost; trace dispatch entries are among them",
                  false},
    [TT_EXTRA_REPLAY] = {"replayed ops with no replay of the host to belong to",
                         "TT_METAL_TRACE_REPLAY messages are missing: the capture ended early", false},
    [TT_TWICE_ON_DEVICE] = {"ops that ran more than once outside of a trace; a row each",
                            "set TT_METAL_PROFILER_TRACE_TRACKING=1, so that replays are told apart", false},
    [TT_TRACE_IDS] = {"launches whose RISCs disagree about the trace; put together by their time",
                      "markers of NCRISC had the id of another trace in versions of 2025; nothing is missing",
                      true},
    [TT_TRACE_NESTING] =
        {"traces that end without having begun, or under another id",
         "the capture began in mid-run, or two programs write one folder: give each its own TT_METAL_PROFILER_DIR",
         false},
    [TT_UNKNOWN_COUNTER] =
        {"logs with records of hardware counters that devlog has no name for; left out",
         "the log is of a newer tt-metal; TT_METAL_PROFILE_PERF_COUNTERS chooses groups that are known",
         false},
    [TT_NOC_BAD] =
        {"NoC traces with events that could not be read",
         "the program was killed while it wrote them, or two write one folder: TT_METAL_DEVICE_PROFILER_NOC_EVENTS_RPT_PATH gives each its own",
         false},
    [TT_NOC_SATURATED] =
        {"NoC traces with transfers of 8160 bytes, the recorder's limit: they may have moved more",
         "the recorder has 8 bits for chunks of 32 bytes: transfers of at most 8128 bytes are told exactly",
         true},
    [TT_NOC_DIFFERS] =
        {"programs whose NoC bytes differ between trace and cpp_device_perf_report.csv",
         "traces of another run lie in the folder: TT_METAL_DEVICE_PROFILER_NOC_EVENTS_RPT_PATH gives each its own",
         false},
    [TT_DISPATCH] =
        {"programs that dispatch cores tell of and that no worker ran",
         "the profiler's buffers on workers were full: raise TT_METAL_PROFILER_PROGRAM_SUPPORT_COUNT, or read "
         "more often (ttnn.ReadDeviceProfiler)",
         false},
    [TT_BAD_SYNC] = {"lines of sync_device_info.csv that could not be read",
                     "two programs wrote it at once: give each its own TT_METAL_PROFILER_DIR", false},
    [TT_SYNC_FREQUENCY] =
        {"devices whose clock, compared with the host's, ran at another frequency than the log says: durations in ns are "
         "by the log's",
         "the clock moved with load: fix it while profiling (tt-smi), and compare again with TT_METAL_PROFILER_SYNC=1",
         false},
    [TT_ZONE_NAMES] =
        {"pairs of zones that tt-metal's profiler cannot tell apart, as their 16-bit hashes are the same: one of them "
         "stands under the other's name",
         "rename one of the two zones", false},
    [TT_BAD_ZONE_SOURCE] =
        {"lines of zone_src_locations.log that could not be read",
         "several compilers wrote it at once: remove it and the kernels' cache (~/.cache/tt-metal-cache), and run again",
         false},
    [TT_ENDS] =
        {"zones whose end is missing",
         "the profiler's buffer was full in mid-program: raise TT_METAL_PROFILER_PROGRAM_SUPPORT_COUNT, or read more "
         "often (ttnn.ReadDeviceProfiler, TT_METAL_PROFILER_MID_RUN_DUMP=1)",
         false},
    [TT_FILE_OF_ANOTHER] = {"files that are of another run than the rest: none of their ops are the same",
                            "remove .logs before each run, or give each its own TT_METAL_PROFILER_DIR",
                            false},
    [TT_STOPPED] = {"files that could not be read to their end", "it is cut, or damaged: copy it again",
                    false},
};

void tt_found_add(tt_found *f, tt_trouble what, const char *fmt, ...)
{
    uint64_t n = f->n[what]++;
    if (n >= TT_DETAILS) return;
    char text[512];
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    f->details[what][n] = strdup(text);
}

void tt_found_amount(tt_found *f, tt_trouble what, uint64_t amount, const char *text)
{
    if (!amount) return;
    tt_found_add(f, what, "%s", text);
    f->n[what] += amount - 1;
}

void tt_found_free(tt_found *f)
{
    for (int i = 0; i < TT_TROUBLES; i++)
        for (int k = 0; k < TT_DETAILS; k++)
            free(f->details[i][k]);
    memset(f, 0, sizeof *f);
}

bool tt_found_any(const tt_found *f)
{
    for (int i = 0; i < TT_TROUBLES; i++)
        if (f->n[i] && !troubles[i].repaired) return true;
    return false;
}

void tt_found_describe(const tt_found *f, dl_str *out)
{
    char digits[DL_GROUPED_SIZE];
    for (int i = 0; i < TT_TROUBLES; i++) {
        if (!f->n[i]) continue;
        dl_str_fmt(out, "  %12s  %s\n", dl_u64_grouped(digits, f->n[i]), troubles[i].text);
        for (int k = 0; k < TT_DETAILS && f->details[i][k]; k++) {
            dl_str_add(out, "                ");
            dl_str_shown(out, f->details[i][k], strlen(f->details[i][k]));
            dl_str_char(out, '\n');
        }
        dl_str_fmt(out, "                -> %s\n", troubles[i].cure);
    }
}
