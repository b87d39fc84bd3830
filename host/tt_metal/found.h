/* What can be wrong with a folder of tt-metal's profiler: each kind is counted, shown with the first few
 * cases, and said with its likely cause and the cure. Nothing of it stops the report. */
#ifndef DEVLOG_TT_METAL_FOUND_H
#define DEVLOG_TT_METAL_FOUND_H

#include "base/str.h"

typedef enum tt_trouble {
    TT_CUT_MESSAGE,     /* Tracy cut it; what is whole was kept */
    TT_LOST_MESSAGE,    /* an op that only its zone or its launch tells of */
    TT_NO_OPS_DATA,     /* no tracy_ops_data.csv */
    TT_NO_OPS_TIMES,    /* no tracy_ops_times.csv */
    TT_DEVICE_ONLY,     /* no file of the host's at all */
    TT_NO_DEVICE_FILE,  /* neither a device log nor the C++ report */
    TT_BAD_MESSAGE,     /* an op's or trace's message that says nothing that is understood */
    TT_UNKNOWN_CACHED,  /* a cached op of which the full message never came */
    TT_QUOTING,         /* backticks inside messages */
    TT_ID_TWICE,        /* two ops of the host with one GLOBAL CALL COUNT */
    TT_NO_ZONE,         /* an op whose host times are missing */
    TT_ZONE_WITHOUT_ID, /* a zone of an op that does not say whose it is */
    TT_BAD_TIMES_LINE,  /* a line of tracy_ops_times.csv that could not be read */
    TT_BAD_DEVICE_LINE, /* a line of cpp_device_perf_report.csv that could not be read */
    TT_NO_DEVICE,       /* an op of a device without device data */
    TT_NEVER_REPLAYED,  /* the same, in a trace that was captured and never replayed */
    TT_MISSING_REPLAY,  /* the same, in a replay that the host told of */
    TT_WHOLE_DEVICE,    /* a device of which no data are there at all */
    TT_NO_HOST_DEVICE,  /* a device that only the device data know */
    TT_NO_OP,           /* a launch that no op of the host asked for */
    TT_EXTRA_REPLAY,    /* a replay that the host does not tell of */
    TT_TWICE_ON_DEVICE, /* an op that ran more than once outside of a trace */
    TT_TRACE_IDS,       /* RISCs of one launch that disagree about its trace; put together */
    TT_TRACE_NESTING,   /* a trace that ends without having begun, or as another */
    TT_UNKNOWN_COUNTER, /* records of counters that have no name here */
    TT_NOC_BAD,         /* events of NoC traces that could not be read */
    TT_NOC_SATURATED,   /* NoC transfers at the recorder's limit */
    TT_NOC_DIFFERS,     /* bytes of a NoC trace that are not those of the C++ report */
    TT_DISPATCH,        /* programs that dispatch cores tell of and no worker ran */
    TT_BAD_SYNC,        /* lines of sync_device_info.csv that could not be read */
    TT_SYNC_FREQUENCY, /* a device whose clock was compared and runs at another frequency than the log says */
    TT_ZONE_NAMES,     /* names of zones that tt-metal's profiler cannot tell apart */
    TT_BAD_ZONE_SOURCE, /* lines of zone_src_locations.log that could not be read */
    TT_ENDS,            /* zones whose end is missing */
    TT_FILE_OF_ANOTHER, /* files of tt-metal's that are of another run */
    TT_STOPPED,         /* a file that could not be read to its end */
    TT_TROUBLES
} tt_trouble;

enum { TT_DETAILS = 3 };

typedef struct tt_found {
    uint64_t n[TT_TROUBLES];
    char *details[TT_TROUBLES][TT_DETAILS];
} tt_found;

void tt_found_add(tt_found *f, tt_trouble what, const char *fmt, ...) DL_PRINTF(3, 4);
/* The same `amount` times. */
void tt_found_amount(tt_found *f, tt_trouble what, uint64_t amount, const char *text);
void tt_found_free(tt_found *f);
/* Whether something is missing from the report, or doubtful. */
bool tt_found_any(const tt_found *f);
void tt_found_describe(const tt_found *f, dl_str *out);

#endif
