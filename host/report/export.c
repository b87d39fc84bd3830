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
