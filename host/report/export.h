/* Exports: a decoded log in the formats that timeline viewers and tools read. One writer per format, one
 * table of them; all are fed by the view (report/view.h), so that all hold the same zones. */
#ifndef DEVLOG_REPORT_EXPORT_H
#define DEVLOG_REPORT_EXPORT_H

#include "report/view.h"

typedef struct dl_export_format {
    const char *name, *summary;
    const char *suffix; /* of the file name when the user gives none */
    bool folder;        /* writes a folder, not a file */
    /* Writes `path` ("-": standard output, where the format is one stream). */
    devlog_status (*write)(dl_view *v, const char *path, devlog_error *err);
} dl_export_format;

/* What to do about a trace that its viewer will not load; NULL: it will, or nobody knows that it will not. */
const char *dl_export_too_large(const dl_export_format *format, uint64_t bytes);

/* All formats, alphabetical. */
const dl_export_format *dl_export_formats(size_t *n);
/* NULL when there is none of this name. */
const dl_export_format *dl_export_find(const char *name);

/* Chrome Trace Event JSON, as ui.perfetto.dev, chrome://tracing and Tracy's importer read it. */
devlog_status dl_export_chrome(dl_view *v, const char *path, devlog_error *err);
/* Fuchsia trace format, as Tracy's importer and ui.perfetto.dev read it. */
devlog_status dl_export_fxt(dl_view *v, const char *path, devlog_error *err);
/* A line per zone, marker and launch. */
devlog_status dl_export_csv(dl_view *v, const char *path, devlog_error *err);
devlog_status dl_export_json(dl_view *v, const char *path, devlog_error *err);
/* Flame graphs: speedscope's evented profiles, and collapsed stacks. */
devlog_status dl_export_speedscope(dl_view *v, const char *path, devlog_error *err);
devlog_status dl_export_collapsed(dl_view *v, const char *path, devlog_error *err);
/* A database: report/sqlite.c has the schema. */
devlog_status dl_export_sqlite(dl_view *v, const char *path, devlog_error *err);
/* A folder in Common Trace Format 1.8: babeltrace2, Trace Compass. */
devlog_status dl_export_ctf(dl_view *v, const char *path, devlog_error *err);
/* A log folder for TensorBoard's profiler plugin. */
devlog_status dl_export_xplane(dl_view *v, const char *path, devlog_error *err);
/* Perfetto's trace format, as ui.perfetto.dev and trace_processor read it. */
devlog_status dl_export_perfetto(dl_view *v, const char *path, devlog_error *err);

#endif
