/* Names of the files that a run leaves. */
#include "cli/log_names.h"

#include <stddef.h>
#include <string.h>

static bool ends_with(const char *name, size_t n, const char *end)
{
    size_t m = strlen(end);
    return n >= m && memcmp(name + n - m, end, m) == 0;
}

bool cli_is_log_name(const char *name, bool *capture)
{
    static const char *const packed[] = {".gz", ".zst", ".xz", ".pack"};
    size_t n = strlen(name);
    *capture = ends_with(name, n, ".devlog");
    if (*capture) return true;
    for (size_t i = 0; i < sizeof packed / sizeof packed[0]; i++)
        if (ends_with(name, n, packed[i])) n -= strlen(packed[i]);
    return ends_with(name, n, ".csv") && strstr(name, "profile_log_device");
}

bool cli_is_report_name(const char *name)
{
    const size_t n = strlen(name);
    return strncmp(name, "ops_perf_results", 16) == 0 && ends_with(name, n, ".csv");
}

bool cli_is_run_name(const char *name)
{
    static const char *const names[] = {"profile_log_ops.jsonl", "tracy_ops_data.csv", "tracy_ops_times.csv",
                                        "cpp_device_perf_report.csv"};
    bool capture;
    if (cli_is_log_name(name, &capture) || cli_is_report_name(name)) return true;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        const size_t n = strlen(names[i]);
        if (strncmp(name, names[i], n) == 0 && (!name[n] || name[n] == '.')) return true;
    }
    return false;
}
