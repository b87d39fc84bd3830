/* devlog/decode.h: device logs and captures in; batches of zones and values, launches and exact statistics
 * out.
 *
 *     devlog_log *log;
 *     devlog_batch batch;
 *     if (devlog_log_open(paths, n, NULL, &log, &err)) ...
 *     while (!(status = devlog_log_next(log, &batch, &err)) && !batch.last)
 *         for (size_t i = 0; i < batch.zones.count; i++)
 *             use(batch.zones.start[i], batch.zones.end[i], devlog_log_zone(log, batch.zones.zone[i]).name);
 *     devlog_log_statistics(log, DEVLOG_BY_RISC, &rows, &n_rows, &err);
 *     devlog_log_close(log);
 *
 * What is read: profile_log_device.csv in every form that there has been, capture.devlog, plain or compressed
 * (.gz, .zst, .xz); docs/file-formats.md. Several files are one log, in the order given. A damaged file is
 * not a failure: what could be read is decoded, and devlog_log_findings says what could not.
 *
 * A log is used by one thread at a time; reading goes on only inside devlog_log_next. No global state. A forked child
 * cannot go on reading (DEVLOG_ERR_STATE): it opens the log itself. What has been read to its end it may use.
 * Everything that is returned by pointer is owned by the log. Errors are as in devlog/devlog.h. */
#ifndef DEVLOG_DECODE_H
#define DEVLOG_DECODE_H

#include "devlog/devlog.h"

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

typedef struct devlog_log devlog_log;

/* ---- Opening ------------------------------------------------------------------------------------------ */

/* A range of numbers, both ends included. */
typedef struct devlog_range {
    uint64_t low, high;
} devlog_range;

/* What is wanted; members that are 0: everything. Arrays are borrowed until the log is closed; an empty one
 * means all. A filter that matches nothing is not an error here: batches are empty then, and
 * devlog_log_streams and the like tell what there was. */
typedef struct devlog_log_options {
    size_t size; /* DEVLOG_LOG_OPTIONS() sets it; see devlog/devlog.h */
    const devlog_range *chips;
    size_t n_chips;
    const devlog_core *cores;
    size_t n_cores;
    const char *const *riscs; /* names; TRISC0 and TRISC_0 are the same; a '*' at the end: what begins so */
    size_t n_riscs;
    const char *const *zones; /* names; a '*' at the end: what begins so */
    size_t n_zones;
    const devlog_range *launches; /* run host ids, or numbers from 0 in logs without ids */
    size_t n_launches;
    uint64_t from, until;   /* cycles: what touches this window; until == 0: no end */
    uint64_t min_cycles;    /* zones shorter than this are left out */
    uint64_t skip_launches; /* of each chip, those that began first (pipes: came first); reads files twice */
    bool subtract_cost;     /* captures: statistics are without what markers inside a zone took (own_cost) */
    bool no_quantiles;      /* statistics without median and percentiles, in less memory */
    unsigned threads;       /* for reading; 0: as many as are useful here */
    const char *elf_folder; /* captures: where to look for ELF files of kernels that have moved; or NULL */
} devlog_log_options;
#define DEVLOG_LOG_OPTIONS(...) DEVLOG_OPTIONS_(devlog_log_options, __VA_ARGS__)

/* Opens a log of n files; "-" is standard input. Fails when the first byte of one cannot be read; pipes are
 * not looked at before devlog_log_next. */
devlog_status devlog_log_open(const char *const *paths, size_t n, const devlog_log_options *options,
                              devlog_log **out, devlog_error *err);
/* Closes it, also in the middle. NULL is allowed. */
void devlog_log_close(devlog_log *log);

/* ---- Batches ------------------------------------------------------------------------------------------ */

/* Closed zones. Within a stream they are in the order in which they ended, so that a nested zone comes before
 * the one around it; streams are in the order of the input. */
typedef struct devlog_zones {
    size_t count;
    const uint64_t *start, *end; /* cycles of the chip's clock, continued over wraps */
    const uint32_t *stream;      /* devlog_log_stream */
    const uint32_t *zone;        /* devlog_log_zone */
    const uint32_t *launch;      /* devlog_log_launch; DEVLOG_NO_LAUNCH */
    const uint32_t *depth;       /* zones around it on its RISC, that of the firmware included */
    const uint32_t *own_cost; /* captures: cycles between start and end that the markers inside took; 0 where
                                  * nobody knows (docs/markers.md) */
} devlog_zones;

typedef enum devlog_value_kind {
    DEVLOG_VALUE_EVENT,   /* a point in time, no data */
    DEVLOG_VALUE_DATA,    /* data is a value of the program */
    DEVLOG_VALUE_SUM,     /* data is a sum of cycles over the launch */
    DEVLOG_VALUE_DROPPED, /* data counts the markers that the device had no room for until then */
} devlog_value_kind;

/* What is recorded at a point in time. */
typedef struct devlog_values {
    size_t count;
    const uint64_t *time; /* cycles */
    const uint64_t *data;
    const uint32_t *kind; /* devlog_value_kind */
    const uint32_t *stream, *zone, *launch;
    const uint32_t *text; /* devlog_log_text: its meta data, of DEVLOG_PRINTF the text; 0: none */
} devlog_values;

#define DEVLOG_NO_LAUNCH UINT32_MAX

typedef struct devlog_batch {
    devlog_zones zones;
    devlog_values values;
    bool last; /* nothing more comes; both are empty */
} devlog_batch;

/* The next batch, of some ten thousand zones and values; valid until the next call. Numbers in it may be
 * looked up at once. After the last one statistics and findings are complete. */
devlog_status devlog_log_next(devlog_log *log, devlog_batch *batch, devlog_error *err);

/* Reads what is left without looking at it: for who wants statistics only. */
devlog_status devlog_log_finish(devlog_log *log, devlog_error *err);

/* ---- What numbers stand for ------------------------------------------------------------------------------
 */

/* One RISC of one core. */
typedef struct devlog_stream {
    uint32_t chip; /* as the log numbers it ("PCIe slot") */
    devlog_core core;
    const char *risc;
} devlog_stream;

typedef enum devlog_zone_role {
    DEVLOG_ZONE_USER,
    DEVLOG_ZONE_FIRMWARE, /* a RISC's whole part of a launch */
    DEVLOG_ZONE_KERNEL,
} devlog_zone_role;

typedef struct devlog_zone {
    const char *name, *file; /* "" when the log does not say */
    uint32_t line;           /* 0: unknown */
    devlog_zone_role role;
} devlog_zone;

typedef struct devlog_launch {
    uint32_t chip;
    uint32_t number;      /* 0, 1, ... on its chip, as the log names them first: perhaps not by time */
    uint64_t run_host_id; /* 0: the log has none */
    uint64_t trace_id, trace_counter; /* UINT64_MAX: none */
    uint64_t first_start,
        last_end; /* of firmware over all RISCs, cycles; UINT64_MAX and 0 when there was none */
} devlog_launch;

typedef struct devlog_chip {
    uint32_t chip;
    const char *arch;         /* "" when the log does not say */
    double mhz;               /* 0: unknown */
    double core_error_cycles; /* bound of the error between markers of two cores; 0: one core, or unknown */
    double host_error_ns;     /* bound of the error against the host's clock; 0: unknown */
} devlog_chip;

/* How many there are so far. */
size_t devlog_log_streams(const devlog_log *log);
size_t devlog_log_zones(const devlog_log *log);
size_t devlog_log_launches(const devlog_log *log);
size_t devlog_log_chips(const devlog_log *log);
/* Each is all zero, with empty texts, for a number that there is not. */
devlog_stream devlog_log_stream(const devlog_log *log, uint32_t number);
devlog_zone devlog_log_zone(const devlog_log *log, uint32_t number);
devlog_launch devlog_log_launch(const devlog_log *log, uint32_t number);
devlog_chip devlog_log_chip(const devlog_log *log, uint32_t number);
const char *devlog_log_text(const devlog_log *log, uint32_t number);

/* When a chip's clock showed `cycles`: nanoseconds of the host's CLOCK_MONOTONIC, and the bound of the error.
 * `chip` is the log's number. False when that is not known: then nothing is written. */
bool devlog_log_host_ns(const devlog_log *log, uint32_t chip, uint64_t cycles, double *ns, double *error_ns);

/* ---- Statistics ------------------------------------------------------------------------------------------
 */

typedef enum devlog_grouping {
    DEVLOG_BY_RISC,   /* per chip, RISC and zone name, over all cores and launches */
    DEVLOG_BY_CORE,   /* the same for every core */
    DEVLOG_BY_LAUNCH, /* firmware and kernel zones per chip, launch and RISC */
} devlog_grouping;

/* Durations of the zones of one group, in cycles; exact. */
typedef struct devlog_statistics {
    uint32_t chip;   /* as the log numbers it */
    uint32_t launch; /* DEVLOG_BY_LAUNCH; otherwise DEVLOG_NO_LAUNCH */
    uint32_t stream; /* DEVLOG_BY_CORE; otherwise UINT32_MAX */
    const char *risc, *zone;
    devlog_zone_role role;
    uint64_t count, min, max;
    uint64_t total_low, total_high; /* 128 bits */
    double average, median;         /* the mean of the two in the middle */
    uint64_t p90, p95, p99;         /* nearest rank: durations that occurred; 0 with no_quantiles */
} devlog_statistics;

/* After the last batch: every group, firmware first, then kernels, then the program's zones by name. *rows is
 * valid until the next call. DEVLOG_ERR_STATE before the last batch. */
devlog_status devlog_log_statistics(devlog_log *log, devlog_grouping grouping, const devlog_statistics **rows,
                                    size_t *n, devlog_error *err);

/* ---- What was lost ---------------------------------------------------------------------------------------
 */

typedef struct devlog_finding {
    const char *key;   /* as in `devlog decode --format json`: "unpaired_start", "dropped", ... */
    const char *text;  /* for people */
    const char *first; /* where it was met first, or "" */
    uint64_t count;
    bool loss; /* something that was recorded is not in the result; otherwise repaired, or noticed */
} devlog_finding;

/* How many kinds of finding there have been so far; 0: everything is there. */
size_t devlog_log_findings(const devlog_log *log);
devlog_finding devlog_log_finding(const devlog_log *log, size_t number);
/* Whether everything that was in the files, and on the device, is in the result, as far as the files can
 * tell. What a filter left out counts as there; of a log with nothing but its head, which has no row
 * (devlog_log_rows), nothing is missing. */
bool devlog_log_complete(const devlog_log *log);
/* Rows, or records of captures, that were read so far. */
uint64_t devlog_log_rows(const devlog_log *log);

/* ---- Arrow -----------------------------------------------------------------------------------------------
 */

/* The Arrow C data and stream interface, as published (arrow.apache.org, "The Arrow C data interface" and
 * "The Arrow C stream interface", structure definitions): pandas, Polars, DuckDB and others take such a
 * stream without copying. */
#ifndef ARROW_C_DATA_INTERFACE
#define ARROW_C_DATA_INTERFACE

#define ARROW_FLAG_DICTIONARY_ORDERED 1
#define ARROW_FLAG_NULLABLE           2
#define ARROW_FLAG_MAP_KEYS_SORTED    4

struct ArrowSchema {
    const char *format;
    const char *name;
    const char *metadata;
    int64_t flags;
    int64_t n_children;
    struct ArrowSchema **children;
    struct ArrowSchema *dictionary;
    void (*release)(struct ArrowSchema *);
    void *private_data;
};

struct ArrowArray {
    int64_t length;
    int64_t null_count;
    int64_t offset;
    int64_t n_buffers;
    int64_t n_children;
    const void **buffers;
    struct ArrowArray **children;
    struct ArrowArray *dictionary;
    void (*release)(struct ArrowArray *);
    void *private_data;
};

#endif
#ifndef ARROW_C_STREAM_INTERFACE
#define ARROW_C_STREAM_INTERFACE

struct ArrowArrayStream {
    int (*get_schema)(struct ArrowArrayStream *, struct ArrowSchema *out);
    int (*get_next)(struct ArrowArrayStream *, struct ArrowArray *out);
    const char *(*get_last_error)(struct ArrowArrayStream *);
    void (*release)(struct ArrowArrayStream *);
    void *private_data;
};

#endif

/* The zones that devlog_log_next would give, as record batches with the columns
 *     chip uint32, core_x uint16, core_y uint16, risc and zone (dictionaries of utf8, int32 indices), launch
 * uint64 (run host id, or the launch's number in logs without ids; null: belongs to none), start and end
 * uint64 (cycles), depth and own_cost uint32. Texts are UTF-8: bytes of a name that are none become U+FFFD.
 * Values are passed over. The stream borrows the log, which must outlive it; its arrays live on their own. */
devlog_status devlog_log_arrow(devlog_log *log, struct ArrowArrayStream *out, devlog_error *err);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
