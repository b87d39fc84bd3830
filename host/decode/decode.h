/* The decoder: logs in, events and exact statistics out. This is the door that reports, op stitching and
 * exporters use:
 *
 *     dl_decode *d;
 *     dl_decode_new(&d, &options, err);
 *     dl_decode_run_sink(d, sink, err);       if more than statistics is wanted
 *     dl_decode_file(d, "log.csv", err);      as often as there are inputs
 *     dl_decode_finish(d, err);
 *     ... dl_decode_tables, _launches, _key, _losses ...
 *     dl_decode_free(d);
 *
 * Several inputs are one log in the order given. A damaged input is not a failure: what could be read is
 * decoded, and dl_decode_losses tells what could not. The result does not depend on the number of threads. */
#ifndef DEVLOG_DECODE_DECODE_H
#define DEVLOG_DECODE_DECODE_H

#include "base/chip_grid.h"
#include "decode/clock/chip_clock.h"
#include "decode/input_follow.h"
#include "decode/log/parser.h"
#include "decode/pair/pair.h"
#include "decode/warm_up.h"

typedef struct dl_decode dl_decode;

typedef struct dl_decode_options {
    dl_filter filter;        /* zero: everything; its arrays are borrowed */
    dl_parse_path path;      /* DL_PARSE_BEST unless a test wants another */
    unsigned threads;        /* 0: as many as are useful here (at most two) */
    size_t block;            /* bytes read at a time, also the longest line; 0: 256 KiB */
    bool keep_meta;          /* keep meta data for the consumer of runs */
    bool no_samples;         /* no medians and percentiles, less memory */
    bool no_counts;          /* nobody asks what zones and markers come to: pair.h */
    bool no_shapes;          /* pair every run mark by mark: for tests */
    bool subtract_cost;      /* zones are shorter by what markers cost inside them; captures only */
    const char *scratch;     /* folder in which tables may take room that should not fill memory (base/big.h);
                               borrowed; or NULL */
    const dl_follow *follow; /* device logs: wait for more at their end; borrowed; NULL: do not */
    bool only_input; /* there will be one: of a packed log only the blocks that the filter wants are read */
    const char *elf_folder; /* captures: where ELF files are looked for that have moved; borrowed; or NULL */
    /* Called now and then with the bytes read of the input's size (0: unknown) and the rows so far. */
    void (*progress)(void *ctx, const char *input, uint64_t taken, uint64_t size, uint64_t rows);
    void *progress_ctx;
} dl_decode_options;

devlog_status dl_decode_new(dl_decode **decode, const dl_decode_options *options, devlog_error *err);
void dl_decode_free(dl_decode *d);

/* The folder of its options in which large tables may be; or NULL. */
const char *dl_decode_scratch(const dl_decode *d);

/* Before the first input; one, see decode/run.h. Unless it is apart it is called on the thread that calls the decoder,
 * and may read the tables, whose counts do not change meanwhile, but not add to them: another thread may be doing that. */
devlog_status dl_decode_run_sink(dl_decode *d, dl_run_sink sink, devlog_error *err);

/* Reads ahead what the captures among these files know about their clocks, so that events can be aligned
 * while they come (dl_decode_clocks). Before the first of them is decoded; who has one input need not call
 * it. */
devlog_status dl_decode_prepare(dl_decode *d, char *const *paths, size_t n, devlog_error *err);
/* Decodes these files for their launches and nothing else; *d is to be freed, also after a failure. */
devlog_status dl_decode_for_launches(dl_decode **d, char *const *paths, size_t n, devlog_error *err);
/* Decodes the files of d anew, with the same filter: all of them, where d has read a part of a packed log. `progress` as in
 * dl_decode_options. *whole is to be freed, also after a failure. */
devlog_status dl_decode_whole(dl_decode **whole, const dl_decode *d,
                              void (*progress)(void *ctx, const char *input, uint64_t taken, uint64_t size,
                                               uint64_t rows),
                              void *progress_ctx, devlog_error *err);
/* Which launches are the first ones of their chips, in the order in which they began, and, with w->by_rule, which are warm-up: reads
 * the files for it. */
devlog_status dl_decode_warm_up(dl_warm_up *w, char *const *paths, size_t n, uint64_t first,
                                devlog_error *err);
/* Leaves these launches out instead of the first that the log has (dl_filter.skip_launches). Before the first input; borrowed. */
void dl_decode_skip(dl_decode *d, const dl_warm_up *w);

/* Decodes one more input, a device log or a capture: a file ("-": standard input), or memory. Fails only when
 * it cannot be read at all, when memory runs out, or when a sink fails; an input that breaks off in its
 * middle is a loss. */
devlog_status dl_decode_file(dl_decode *d, const char *path, devlog_error *err);
devlog_status dl_decode_memory(dl_decode *d, const char *name, const void *bytes, size_t n,
                               devlog_error *err);
/* Decodes rows that never were in a file; their numbers are of dl_decode_tables. */
devlog_status dl_decode_rows(dl_decode *d, const dl_row *rows, size_t n, devlog_error *err);
/* Tells the clock and name of the chips of the rows that follow, as a chip line in a log does. */
devlog_status dl_decode_chip_line(dl_decode *d, const dl_chip_line *chip, devlog_error *err);
/* No more inputs: closes the books. Call once. */
devlog_status dl_decode_finish(dl_decode *d, devlog_error *err);

/* Results, complete after dl_decode_finish; owned by the decoder. */
dl_tables *dl_decode_tables(dl_decode *d);
const dl_launches *dl_decode_launches(const dl_decode *d);
/* The op of a launch, where the log does not say it and the files of the run's host do. When filters have been checked: they tell ops that
 * a log says from ids. */
void dl_decode_tell_op(dl_decode *d, uint32_t launch, uint32_t op);
/* Whether the filter's chips and launches let a launch through. */
bool dl_decode_wants(dl_decode *d, const dl_launch *l);
/* Nothing of the launches is wanted at once: for who walks over very many. */
void dl_decode_cool(dl_decode *d);
const dl_losses *dl_decode_losses(const dl_decode *d);
size_t dl_decode_n_keys(const dl_decode *d);
const dl_key *dl_decode_key(const dl_decode *d, size_t i);
/* Values, sums and points in time, by name and RISC. */
size_t dl_decode_n_series(const dl_decode *d);
const dl_series *dl_decode_series(const dl_decode *d, size_t i);
const dl_series_table *dl_decode_series_table(const dl_decode *d);
/* Hardware counters by the zones that they were recorded in. */
const dl_zone_counters *dl_decode_zone_counters(const dl_decode *d);
/* Of a log whose parts were decoded by several processes: dl_pair_far. */
uint32_t dl_decode_far(dl_decode *d, const struct dl_far *far);
size_t dl_decode_sample_bytes(const dl_decode *d);
/* Of them those that are in files. */
uint64_t dl_decode_samples_filed(const dl_decode *d);
/* The clocks of the chips: complete when the events of a file begin to come, and of a pipe at the end. Events
 * of a capture have stamps of their chip's reference core. */
const dl_chip_clocks *dl_decode_clocks(const dl_decode *d);
/* Where the cores of a chip are, which its capture has said; NULL: it did not, or there is none. Stamps' cores (dl_stream) are logical
 * then. The pointer is good until another input is read. */
const chip_grid *dl_decode_grid(const dl_decode *d, uint32_t slot);

#endif
