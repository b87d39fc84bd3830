/* Pairing: marks into runs. Per stream it follows the clock (repairs torn stamps, continues over wraps,
 * notices restarts), tells launches apart, and closes zones; it keeps exact statistics for every zone of
 * every stream. Memory grows with streams, zones and launches, all of them capped, never with marks, except
 * for four bytes per closed zone when exact medians are wanted. */
#ifndef DEVLOG_DECODE_PAIR_H
#define DEVLOG_DECODE_PAIR_H

#include "decode/event.h"
#include "decode/filter.h"
#include "decode/pair/launch.h"
#include "decode/row.h"
#include "decode/run.h"
#include "decode/samples.h"
#include "decode/series.h"
#include "decode/zone_counters.h"

enum { DL_MAX_KEYS = 512 * 1024, DL_MAX_OPEN = 256 };

/* Runs of samples whose launches go up by a constant step: sample i of a run is of launch + i * step. */
typedef struct dl_launch_run {
    uint32_t sample, launch, step;
} dl_launch_run;

/* The statistics of one zone (site) on one stream. What a closed zone needs comes first: one cache line. */
typedef struct dl_key {
    /* Launch of each sample, for firmware and kernel zones: of the next one, if it is as the last ones. */
    _Alignas(64) uint32_t next_launch;
    uint32_t step, run_samples;
    dl_role role;
    uint32_t stream, site;
    struct dl_key *follows; /* the zone that began after this one last time, on the same stream; or NULL */
    dl_samples samples;
    dl_launch_run *runs;
    uint32_t n_runs, cap_runs;
    bool wanted; /* by the zone filter */
    bool away;   /* samples of it are in other processes; count .. sum are of those, until it is finished */
    uint64_t first_start;
    /* Complete after dl_pair_finish; until then they may be still in the samples. */
    uint64_t count, min, max, first;
    dl_u128 sum;
} dl_key;

/* Behind the last sample of a run of launches. */
static inline uint32_t dl_key_run_end(const dl_key *k, uint32_t run)
{
    return run + 1 < k->n_runs ? k->runs[run + 1].sample : (uint32_t)dl_samples_count(&k->samples);
}

typedef struct dl_pair dl_pair;

typedef struct dl_pair_options {
    const dl_filter *filter; /* NULL: everything */
    bool no_samples;         /* no medians and percentiles */
    bool no_counts;          /* of runs that are handed on as items nothing is counted */
    bool no_shapes;          /* every run is paired mark by mark: for tests */
    bool subtract_cost;      /* count zones without the markers' own cost inside them */
    const char *scratch;     /* folder in which launches may take room instead of memory; borrowed; or NULL */
} dl_pair_options;

/* Tables and losses are borrowed, and so is what the options point to. NULL: out of memory. */
dl_pair *dl_pair_new(dl_tables *tables, dl_losses *losses, const dl_pair_options *options);
void dl_pair_free(dl_pair *p);

/* At most one consumer; several share one by a sink that hands on. Set before the first mark. */
devlog_status dl_pair_run_sink(dl_pair *p, dl_run_sink sink, devlog_error *err);

/* From now on runs are put into this box instead, which is lent; until dl_pair_collected gives it back. They are
 * to be handed on before the marks that they were made of are gone. */
void dl_pair_collect(dl_pair *p, dl_outbox *box);
void dl_pair_collected(dl_pair *p, dl_outbox *box);

/* Findings go to `losses` from now on. */
void dl_pair_losses(dl_pair *p, dl_losses *losses);
/* Names the input in messages; borrowed until the next call. */
void dl_pair_source(dl_pair *p, const char *name);
devlog_status dl_pair_chip_line(dl_pair *p, const dl_chip_line *chip, devlog_error *err);
/* Pairs marks [from, to) of a batch; *taken says how many are done with. Unless `all`, the last run may go on in
 * marks that are not here yet, and is left alone. `ordered`: the marks of each stream are in order of time as
 * they are; otherwise they are put in order, run by run (order.h). */
devlog_status dl_pair_marks(dl_pair *p, const dl_marks *m, uint32_t from, uint32_t to, bool all, bool ordered,
                            uint32_t *taken, devlog_error *err);
/* Whether records need not become marks: nothing is filtered, and no cost subtracted. */
bool dl_pair_takes_records(const dl_pair *p);
/* Pairs the records of a batch (dl_marks.recorded), whose marks before them have been paired. Data of records that are listed
 * become part of the batch. */
devlog_status dl_pair_records(dl_pair *p, dl_marks *m, devlog_error *err);
/* A capture has ended: the codes of its records are gone. */
void dl_pair_forget_records(dl_pair *p);
/* The same for rows, all of them and in order. */
devlog_status dl_pair_rows(dl_pair *p, const dl_row *rows, size_t n, devlog_error *err);
/* No more marks: what is still open is unpaired. Call once. */
devlog_status dl_pair_finish(dl_pair *p, devlog_error *err);

/* What markers cost the RISC of a stream, by DL_COST_*, in 1/16 cycle; all 0 when it is not known. From the
 * next mark on. */
devlog_status dl_pair_costs(dl_pair *p, uint32_t stream, const dl_costs *costs, devlog_error *err);
/* Says when a launch that has been seen was called and pulled. */
void dl_pair_launch_times(dl_pair *p, uint32_t chip_id, uint64_t run_host_id, const uint64_t times[4]);

const dl_launches *dl_pair_launches(const dl_pair *p);
void dl_pair_cool(dl_pair *p);
size_t dl_pair_n_keys(const dl_pair *p);
const dl_key *dl_pair_key(const dl_pair *p, size_t i);
/* Values, sums and points in time, in the order in which the first of each came. */
const dl_series_table *dl_pair_series(const dl_pair *p);
const dl_zone_counters *dl_pair_counters(const dl_pair *p);
/* After the end: samples that are away are asked of `far`, which is borrowed, by their numbers in the order of keys; how many there
 * are. */
uint32_t dl_pair_far(dl_pair *p, const struct dl_far *far);
/* Bytes held by samples: the storage of the exact medians. */
size_t dl_pair_sample_bytes(const dl_pair *p);
uint64_t dl_pair_samples_filed(const dl_pair *p);
/* Forgets all launches: for who wants nothing but samples any more. */
void dl_pair_forget_launches(dl_pair *p);

#endif
