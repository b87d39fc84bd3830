/* What hardware counters say about a program: tt-metal's derived figures, each over the cores of a program as
 * least, median, greatest and mean (compute_perf_counter_metrics of tools/tracy/perf_counter_analysis.py at
 * 00761ba). A figure whose counters the architecture or the run lacks is not there. */
#ifndef DEVLOG_TT_METAL_METRICS_H
#define DEVLOG_TT_METAL_METRICS_H

#include "tt_metal/counters.h"

enum { TT_METRICS = 81, TT_METRIC_STATS = 4 };

/* "SFPU Util Min (%)"; the fourth of the first three figures is over the full grid. */
void tt_metric_header(size_t metric, size_t stat, dl_str *out);
/* Whether a device has the figure at all: its columns are there then. */
bool tt_metric_exists(const tt_counted_device *d, size_t metric);

typedef struct tt_metric_values {
    double stats[TT_METRICS]
                [TT_METRIC_STATS]; /* NaN: no core has it; the fourth of the first three: the sum of
                                                  the counter over all cores */
} tt_metric_values;

/* Records from `from` to `to` cycles only, when `to` is not 0. False: out of memory. */
bool tt_metrics_of(const tt_counters *c, const tt_counted *program, const tt_counted_device *d, uint64_t from,
                   uint64_t to, tt_metric_values *out);

#endif
