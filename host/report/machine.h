/* A decoded log for programs: one JSON object, or one CSV table. Both hold every zone per RISC, per core and
 * per launch, every analysis, and what was lost; docs/file-formats.md describes them. All durations are in
 * cycles. */
#ifndef DEVLOG_REPORT_MACHINE_H
#define DEVLOG_REPORT_MACHINE_H

#include "base/file.h"
#include "decode/analysis/analyzer.h"

typedef struct dl_machine_options {
    const dl_analyzer *analyzer; /* NULL: no analyses */
    const char *const *files;    /* that were written; ends with NULL; may be NULL; JSON only */
} dl_machine_options;

/* Appends to out->buffer and flushes now and then. */
devlog_status dl_report_json(dl_decode *d, const dl_machine_options *options, dl_file_writer *out,
                             devlog_error *err);
devlog_status dl_report_csv(dl_decode *d, const dl_machine_options *options, dl_file_writer *out,
                            devlog_error *err);

#endif
