/* Exports: the table of formats. */
#include "report/export.h"

#include <string.h>

static const dl_export_format formats[] = {
    {"chrome", "Chrome Trace JSON: chrome://tracing, ui.perfetto.dev, Tracy's importer", ".json", false,
     dl_export_chrome},
    {"collapsed", "collapsed stacks: flamegraph.pl, inferno, speedscope", ".folded", false,
     dl_export_collapsed},
    {"csv", "a line per zone, marker and launch", ".csv", false, dl_export_csv},
    {"ctf", "Common Trace Format 1.8, a folder: babeltrace2, Trace Compass", ".ctf", true, dl_export_ctf},
    {"fxt", "Fuchsia trace: Tracy's importer, ui.perfetto.dev; ns exact", ".fxt", false, dl_export_fxt},
    {"json", "an object per zone, marker and launch", ".zones.json", false, dl_export_json},
    {"perfetto", "Perfetto trace: ui.perfetto.dev, trace_processor", ".perfetto-trace", false,
     dl_export_perfetto},
    {"speedscope", "speedscope.app: flame graph of each RISC", ".speedscope.json", false,
     dl_export_speedscope},
    {"sqlite", "database: tables of zones, markers, launches; views zone_sum, core_sum, op_sum, gap_sum",
     ".sqlite", false, dl_export_sqlite},
    {"xplane", "XPlane, a log folder: TensorBoard's profiler", ".xplane", true, dl_export_xplane},
};

const dl_export_format *dl_export_formats(size_t *n)
{
    *n = sizeof formats / sizeof formats[0];
    return formats;
}

const dl_export_format *dl_export_find(const char *name)
{
    for (size_t i = 0; i < sizeof formats / sizeof formats[0]; i++)
        if (strcmp(formats[i].name, name) == 0) return &formats[i];
    return NULL;
}

const char *dl_export_too_large(const dl_export_format *format, uint64_t bytes)
{
    /* Browsers give a page about 2 GB, and Perfetto takes 2 to 4 times the size of a trace
     * (perfetto.dev/docs/visualization/large-traces); chrome://tracing takes 256 MB of JSON (trace-viewer, issue 627). */
    static const struct {
        const char *format;
        uint64_t most;
        const char *text;
    } limits[] = {
        {"perfetto", UINT64_C(512) << 20,
         "ui.perfetto.dev will hardly load a trace of more than 512 MiB: choose launches (--launches, --op, --skip-launches) or zones "
         "(--zone, --min-cycles), or open it with trace_processor --httpd"},
        {"chrome", UINT64_C(256) << 20,
         "chrome://tracing will not load a trace of more than 256 MiB: choose launches (--launches, --op, --skip-launches) or zones "
         "(--zone, --min-cycles), or write it as perfetto, which takes a tenth of that"},
        {"speedscope", UINT64_C(512) << 20,
         "speedscope will hardly load a file of more than 512 MiB: choose launches (--launches, --op, --skip-launches) or zones (--zone, "
         "--min-cycles)"},
    };
    for (size_t i = 0; i < sizeof limits / sizeof limits[0]; i++)
        if (strcmp(limits[i].format, format->name) == 0 && bytes > limits[i].most) return limits[i].text;
    return NULL;
}
