/* Exports: the table of formats. */
#include "report/export.h"

#include <string.h>

static const dl_export_format formats[] = {
    {"chrome", "Chrome Trace JSON: chrome://tracing, ui.perfetto.dev, Tracy's importer", ".json", false,
     dl_export_chrome},
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
